//! Transformer blocks of IR v2: random ones against a reference in fractions, several layers and embeddings as one
//! model, and 60 wrong inputs, each refused with its place.

use crate::common::run;
use crate::network_ir::check_case;
use alir_testing::is_nightly;
use alir2hdl::network::graph::{Options, Structure};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Writes blocks by the reference and checks evaluator, lowered program and specification with each.
fn random_blocks(first: usize, count: usize) {
    let Some(python) = alir_testing::tools::tool("python3") else { return };
    let folder = TempDir::new().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("hdl_tests/transformer_reference.py");
    let numbers = [first.to_string(), count.to_string()];
    let output = Command::new(python).arg(script).arg(folder.path()).args(numbers).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for seed in first..first + count {
        check_case(&folder.path().join(format!("case{seed}")), 1);
    }
}

#[test]
fn random_blocks_are_those_of_the_reference() {
    random_blocks(1000, 6);
}

#[test]
#[ignore = "long: 300 random blocks (a minute)"]
fn nightly_many_random_blocks_are_those_of_the_reference() {
    if is_nightly() {
        random_blocks(1, 300);
    }
}

/// A whole model of one layer: embedding, norm, projections, rope, attention, residual, logits.
fn model() -> (Value, Value) {
    let shape = |dims: &[&str]| dims.iter().map(|dim| json!({ "dim": dim })).collect::<Vec<Value>>();
    let buffer = |name: &str, scope: &str, role: &str, dims: &[&str]| {
        json!({
            "name": name, "scope": scope, "role": role, "dtype": "fp32", "shape": shape(dims)
        })
    };
    let node = |layer: i64, op: &str, kernel: &str, args: &[(&str, &str)]| {
        let bindings: Vec<Value> = args.iter().map(|(arg, buffer)| json!({ "arg": arg, "buffer": buffer })).collect();
        json!({ "layer": layer, "op": op, "kernel": kernel, "bindings": bindings })
    };
    let dimensions =
        [("tokens", 16), ("embed", 4), ("head_dim", 2), ("num_heads", 2), ("num_kv_heads", 1), ("vocab", 5)];
    let dimensions: Vec<Value> =
        dimensions.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
    let net = json!({
        "version": 2,
        "config": { "rope_theta": 10000.0, "rms_norm_eps": 1e-5 },
        "dimensions": dimensions,
        "buffers": [
            buffer("tokens", "global", "input", &["tokens"]),
            buffer("token_emb", "global", "weight", &["vocab", "embed"]),
            buffer("pos_emb", "global", "weight", &["tokens", "embed"]),
            buffer("embedded_input", "global", "activation", &["tokens", "embed"]),
            buffer("input", "layer", "input", &["tokens", "embed"]),
            buffer("gamma", "layer", "weight", &["embed"]),
            buffer("ln1_out", "layer", "activation", &["tokens", "embed"]),
            buffer("wq", "layer", "weight", &["num_heads", "head_dim", "embed"]),
            buffer("wk", "layer", "weight", &["num_kv_heads", "head_dim", "embed"]),
            buffer("wv", "layer", "weight", &["num_kv_heads", "head_dim", "embed"]),
            buffer("q", "layer", "activation", &["num_heads", "tokens", "head_dim"]),
            buffer("k", "layer", "activation", &["num_kv_heads", "tokens", "head_dim"]),
            buffer("v", "layer", "activation", &["num_kv_heads", "tokens", "head_dim"]),
            buffer("attn_out", "layer", "activation", &["num_heads", "tokens", "head_dim"]),
            buffer("wo", "layer", "weight", &["num_heads", "embed", "head_dim"]),
            buffer("proj_tmp", "layer", "activation", &["tokens", "embed"]),
            buffer("output", "layer", "output", &["tokens", "embed"]),
            buffer("head", "global", "weight", &["vocab", "embed"]),
            buffer("logits", "global", "output", &["tokens", "vocab"]),
            buffer("p", "global", "output", &["tokens", "vocab"]),
        ],
        "nodes": [
            node(
                -1,
                "embedding",
                "embedding_forward",
                &[("tokens", "tokens"), ("weight", "token_emb"), ("out", "embedded_input")]
            ),
            node(0, "rmsnorm", "rmsnorm_forward", &[("input", "input"), ("gamma", "gamma"), ("out", "ln1_out")]),
            node(
                0,
                "qkv_project",
                "",
                &[("input", "ln1_out"), ("wq", "wq"), ("wk", "wk"), ("wv", "wv"), ("q", "q"), ("k", "k"), ("v", "v")]
            ),
            node(0, "rope", "rope_forward_qk", &[("q", "q"), ("k", "k")]),
            node(
                0,
                "attention",
                "attention_forward_causal",
                &[("q", "q"), ("k", "k"), ("v", "v"), ("attn_out", "attn_out")]
            ),
            node(0, "attn_proj", "", &[("attn_out", "attn_out"), ("wo", "wo"), ("proj_tmp", "proj_tmp")]),
            node(0, "residual_add", "", &[("a", "input"), ("b", "proj_tmp"), ("out", "output")]),
            node(-1, "lm_head", "gemm", &[("input", "output"), ("weight", "head"), ("out", "logits")]),
            node(-1, "softmax", "softmax_forward", &[("x", "logits"), ("y", "p")]),
        ],
    });
    let typed = |text: &str| json!({ "type": text });
    let softmax = json!({
        "difference": typed("s8.4"), "exp": typed("u8.7"), "sum": typed("u10.7"), "inverse": typed("u11.10"),
        "probability": typed("u8.7"),
    });
    let mut attention = softmax.clone();
    attention["scale"] = typed("u8.7");
    attention["score"] = typed("s10.6");
    let quant = json!({
        "format": "alir2hdl-quant",
        "version": 1,
        "default": {
            "weight": { "type": "s8.6" },
            "activation": { "type": "s8.4", "round": "RND", "overflow": "SAT" },
            "table": { "type": "s9.7" },
        },
        "nodes": {
            "rope": { "table": typed("s8.6") },
            "attention": attention,
            "softmax": softmax,
            "rmsnorm": { "rstd": { "mean_square": typed("u10.4"), "table": typed("u10.6") } },
        },
    });
    (net, quant)
}

/// Sizes of the weights of [`model`], and of its positions.
const WEIGHTS: [(&str, &[usize]); 8] = [
    ("token_emb", &[5, 4]),
    ("gamma", &[4]),
    ("wq", &[2, 2, 4]),
    ("wk", &[1, 2, 4]),
    ("wv", &[1, 2, 4]),
    ("wo", &[2, 4, 2]),
    ("head", &[5, 4]),
    ("pos_emb", &[16, 4]),
];

fn write_npy(file: &Path, shape: &[usize], values: impl Iterator<Item = f64>) {
    let sizes: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let mut head = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({sizes}), }}");
    while (head.len() + 11) % 64 != 0 {
        head.push(' ');
    }
    head.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(head.len()).unwrap().to_le_bytes());
    bytes.extend(head.bytes());
    values.for_each(|value| bytes.extend(value.to_le_bytes()));
    fs::write(file, bytes).unwrap();
}

fn write_weights(folder: &Path) {
    for (name, shape) in WEIGHTS {
        let values = (0..shape.iter().product()).map(|k: usize| (k * 37 % 64) as f64 / 32.0 - 1.0);
        write_npy(&folder.join(format!("{name}.npy")), shape, values);
    }
}

#[test]
fn every_command_reports_axes_in_another_order() {
    let (mut net, quant) = model();
    net["buffers"][4]["shape"] = json!([{ "dim": "embed" }, { "dim": "tokens" }]);
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("net.json"), net.to_string()).unwrap();
    fs::write(folder.path().join("quant.json"), quant.to_string()).unwrap();
    write_npy(&folder.path().join("x.npy"), &[2, 4], [0.0, 1.0, 2.0, 3.0, 4.0, 0.0, 1.0, 1.0].into_iter());
    fs::create_dir(folder.path().join("weights")).unwrap();
    write_weights(&folder.path().join("weights"));
    for command in [
        "check net.json",
        "check net.json --quant quant.json",
        "info net.json",
        "info net.json --json",
        "info net.json --quant quant.json --weights weights",
        "calibrate net.json --quant quant.json --weights weights --samples x.npy --bits 8 -o q.json",
        "generate net.json --quant quant.json --weights weights -o net.v",
    ] {
        let arguments: Vec<&str> = command.split(' ').chain(["--tokens", "4"]).collect();
        let (code, _, errors) = run(folder.path(), &arguments);
        assert_eq!(code, 0, "{command}: {errors}");
        assert_eq!(errors.matches("W2002").count(), 1, "{command}: {errors}");
    }
}

/// Returns the result of [`Structure::read`] and of binding the weights for a changed model.
fn outcome(net: &Value, quant: &Value, tokens: u64, offset: u64, nodes: Option<&str>) -> Result<(), String> {
    let folder = TempDir::new().unwrap();
    let weights = folder.path().join("weights");
    fs::create_dir(&weights).unwrap();
    write_weights(&weights);
    let file = folder.path().join("quant.json");
    fs::write(&file, quant.to_string()).unwrap();
    let options = Options {
        weights: vec![weights],
        quant: Some(file),
        nodes: nodes.map(str::to_owned),
        tokens,
        position_offset: offset,
        ..Options::default()
    };
    let read = Structure::read(net.to_string().as_bytes(), "net.json", &options);
    let bound = read.and_then(|structure| structure.bind(&options));
    match bound {
        Ok(golden) => {
            let limits = alir2hdl::network::graph::lower::Limits::default();
            alir2hdl::network::graph::lower::lower(golden.program(), &limits).map(drop).map_err(|e| e.to_string())
        }
        Err(problems) => Err(problems.to_string()),
    }
}

#[test]
fn a_whole_model_is_accepted_for_several_tokens() {
    let (net, quant) = model();
    for (tokens, offset) in [(1, 0), (2, 14), (4, 3)] {
        assert_eq!(outcome(&net, &quant, tokens, offset, None), Ok(()));
    }
}

/// Returns the warnings about a changed model.
fn warnings(net: &Value, tokens: u64) -> Vec<String> {
    let options = Options { tokens, ..Options::default() };
    let structure = Structure::read_untyped(net.to_string().as_bytes(), "net.json", &options);
    structure.unwrap_or_else(|e| panic!("{e}")).warnings().0.iter().map(ToString::to_string).collect()
}

#[test]
fn axes_in_another_order_are_warnings() {
    let (net, _) = model();
    assert_eq!(warnings(&net, 1), warnings(&net, 4));
    assert!(warnings(&net, 4).is_empty());
    let axes = |names: &[&str]| names.iter().map(|name| json!({ "dim": name })).collect::<Value>();
    // Buffer, its axes, tokens, and what the only warning has to say.
    let cases: [(usize, &[&str], u64, &[&str]); 8] = [
        // A layer's input is the value of `embedded_input`; one token has no order.
        (
            4,
            &["embed", "tokens"],
            4,
            &["W2002", "nodes[1].bindings[0].buffer", "axes embed 4, tokens 4", "tokens 4, embed 4"],
        ),
        (4, &["embed", "tokens"], 1, &[]),
        // The same places of tokens by other names.
        (4, &["tokens", "num_heads", "head_dim"], 4, &[]),
        (4, &["num_heads", "tokens", "head_dim"], 4, &["W2002", "num_heads 2, tokens 4, head_dim 2"]),
        // The place of tokens does not matter to an operator, and this is no link.
        (15, &["embed", "tokens"], 4, &[]),
        // Queries and values whose heads and elements have changed places.
        (
            10,
            &["head_dim", "tokens", "num_heads"],
            4,
            &["W2002", "nodes[3].bindings[0].buffer", "heads before head_dim"],
        ),
        (10, &["head_dim", "tokens", "num_heads"], 1, &["W2002", "nodes[3].bindings[0].buffer"]),
        (10, &["tokens", "num_heads", "head_dim"], 4, &[]),
    ];
    for (buffer, names, tokens, says) in cases {
        let mut net = net.clone();
        net["buffers"][buffer]["shape"] = axes(names);
        let found = warnings(&net, tokens);
        assert_eq!(found.len(), usize::from(!says.is_empty()), "{names:?}: {found:?}");
        says.iter().for_each(|part| assert!(found[0].contains(part), "{names:?}: {found:?} lacks {part:?}"));
    }
    // Operands of a sum: paired in row-major order of the axes besides tokens.
    let mut sum = net.clone();
    sum["buffers"][4]["shape"] = axes(&["num_heads", "tokens", "embed"]);
    sum["buffers"][16]["shape"] = axes(&["tokens", "embed", "num_heads"]);
    sum["buffers"][15]["shape"] = sum["buffers"][4]["shape"].clone();
    sum["nodes"] = json!([sum["nodes"][6]]);
    let found = warnings(&sum, 4);
    assert!(found.len() == 1 && found[0].contains("\"input\", with which it is paired"), "{found:?}");
    // An alias is storage of another shape.
    let mut alias = net.clone();
    let mut view = alias["buffers"][6].clone();
    (view["name"], view["alias_of"], view["shape"]) = (json!("view"), json!("ln1_out"), axes(&["embed", "tokens"]));
    alias["buffers"].as_array_mut().unwrap().push(view);
    alias["nodes"][2]["bindings"][0]["buffer"] = json!("view");
    let found = warnings(&alias, 4);
    assert!(found.len() == 1 && found[0].contains("\"ln1_out\", whose value it is"), "{found:?}");
}

#[test]
fn conditions_and_entries_that_do_not_matter_are_no_errors() {
    let (mut net, mut quant) = model();
    // A cache and a scratch buffer of attention, over names that are unknown elsewhere.
    let condition = json!("some_flag>1");
    let scores =
        json!({ "name": "scores", "scope": "layer", "role": "activation", "shape": [], "condition": condition });
    net["buffers"].as_array_mut().unwrap().push(scores);
    net["nodes"][4]["bindings"].as_array_mut().unwrap().push(json!({ "arg": "scores", "buffer": "scores" }));
    assert_eq!(outcome(&net, &quant, 2, 0, None), Ok(()));
    // Nodes that are not selected may depend on them, and may have entries of their own.
    net["nodes"][8]["condition"] = condition;
    quant["nodes"]["softmax"]["score"] = json!({ "type": "s8.4" });
    assert_eq!(outcome(&net, &quant, 2, 0, Some("layer=0")), Ok(()));
    assert!(outcome(&net, &quant, 2, 0, None).unwrap_err().contains("some_flag"));
    // Conditions of real files.
    for condition in ["rope_theta", "rope_theta>0", "has_pos_emb", "inference_only", "mode==decode"] {
        let (mut net, quant) = model();
        net["nodes"][3]["condition"] = json!(condition);
        net["buffers"][2]["condition"] = json!("rope_disabled");
        assert_eq!(outcome(&net, &quant, 2, 0, None), Ok(()), "{condition}");
    }
}

/// A change of the model and its quantisation, and what the refusal has to say.
struct Wrong {
    place: &'static str,
    change: &'static str,
    to: Value,
    says: [&'static str; 2],
    tokens: u64,
    offset: u64,
}

fn wrong(change: &'static str, to: Value, place: &'static str, says: [&'static str; 2]) -> Wrong {
    Wrong { place, change, to, says, tokens: 2, offset: 0 }
}

/// Changes are JSON pointers into the graph (`/net/...`) or the quantisation file (`/quant/...`); null removes a
/// member.
fn wrong_inputs() -> Vec<Wrong> {
    let text = |text: &str| json!(text);
    let one = || json!([{ "dim": "tokens" }]);
    let mut all = vec![
        // Missing and wrong records.
        wrong("/quant/nodes/attention", json!({}), "nodes[4]", ["scale, score, difference", "missing: scale"]),
        wrong("/quant/nodes/attention/scale", Value::Null, "nodes[4]", ["missing: scale", "attention"]),
        wrong("/quant/nodes/attention/score", Value::Null, "nodes[4]", ["missing: score", "probability"]),
        wrong("/quant/nodes/attention/difference", Value::Null, "nodes[4]", ["missing: difference", "inverse"]),
        wrong("/quant/nodes/attention/sum", Value::Null, "nodes[4]", ["missing: sum", "exp"]),
        wrong("/quant/nodes/attention/probability", Value::Null, "nodes[4]", ["missing: probability", "sum"]),
        wrong("/quant/nodes/attention/difference/type", text("exact"), "attention.difference.type", ["exact", "table"]),
        wrong("/quant/nodes/attention/exp/type", text("exact"), "attention.exp.type", ["exact", "entries"]),
        wrong("/quant/nodes/attention/sum/type", text("exact"), "attention.sum.type", ["exact", "table"]),
        wrong("/quant/nodes/attention/scale/type", text("exact"), "nodes[4]", ["1/sqrt(2)", "binary"]),
        wrong("/quant/nodes/attention/score/type", text("x8.2"), "attention.score.type", ["x8.2", ""]),
        wrong("/quant/nodes/attention/score/round", text("UP"), "attention.score.round", ["UP", ""]),
        wrong("/quant/nodes/attention/score/overflow", text("CLIP"), "attention.score.overflow", ["CLIP", ""]),
        wrong("/quant/nodes/attention/score/scale", json!(2), "attention.score.scale", ["scale", ""]),
        wrong(
            "/quant/nodes/attention/table",
            json!({ "type": "s8.4" }),
            "quant.nodes.attention.table",
            ["no such key", ""],
        ),
        wrong("/quant/nodes/attention/rstd", json!(1), "quant.nodes.attention.rstd", ["no such key", ""]),
        wrong("/quant/nodes/attention/maximum", json!({}), "quant.nodes.attention.maximum", ["not known", ""]),
        wrong("/quant/nodes/rope/scale", json!({ "type": "u8.7" }), "quant.nodes.rope.scale", ["no such key", ""]),
        wrong("/quant/nodes/rope/table/type", text("exact"), "rope.table.type", ["exact", ""]),
        wrong("/quant/nodes/rope/table/type", text("s40.30"), "nodes[3]", ["32 bits", ""]),
        wrong(
            "/quant/nodes/softmax/scale",
            json!({ "type": "u8.7" }),
            "quant.nodes.softmax.scale",
            ["no such key", ""],
        ),
        wrong("/quant/nodes/softmax/sum", Value::Null, "nodes[8]", ["missing: sum", "softmax"]),
        wrong("/quant/nodes/rmsnorm/rstd/mean_square", Value::Null, "nodes[1]", ["missing: mean_square", "rstd"]),
        wrong("/quant/nodes/rmsnorm/rstd/mean_square/type", text("exact"), "rmsnorm.rstd.mean_square", ["exact", ""]),
        wrong("/quant/nodes/rmsnorm/rstd/sum", json!({}), "quant.nodes.rmsnorm.rstd.sum", ["not known", ""]),
        wrong("/quant/nodes/rmsnorm/rstd", json!([1]), "quant.nodes.rmsnorm.rstd", ["decimal", ""]),
        wrong("/quant/nodes/rmsnorm/rstd", Value::Null, "nodes[1]", ["root", "mean_square"]),
        wrong("/quant/nodes/rmsnorm/mean", json!(0), "quant.nodes.rmsnorm.mean", ["mean", "rstd"]),
        wrong(
            "/quant/nodes/rmsnorm/table",
            json!({ "type": "s8.4" }),
            "quant.nodes.rmsnorm.table",
            ["no such key", ""],
        ),
        wrong(
            "/quant/nodes/residual_add",
            json!({ "table": {} }),
            "quant.nodes.residual_add.table",
            ["no such key", ""],
        ),
        wrong("/quant/nodes/1:attention", json!({}), "quant.nodes.1:attention", ["no such node", ""]),
        wrong("/quant/buffers", json!({ "tokens": { "type": "u4.0" } }), "quant.buffers.tokens", ["ids", ""]),
        wrong(
            "/quant/buffers",
            json!({ "0:input": { "type": "s8.4" } }),
            "quant.buffers.0:input",
            ["embedded_input", ""],
        ),
        // Tables that are too wide.
        wrong("/quant/nodes/attention/difference/type", text("s20.8"), "nodes[4]", ["20 bits", "--max-table-bits"]),
        wrong("/quant/nodes/attention/sum/type", text("u17.8"), "nodes[4]", ["17 bits", "--max-table-bits"]),
        wrong("/quant/nodes/rmsnorm/rstd/mean_square/type", text("u24.8"), "nodes[1]", ["24 bits", ""]),
        wrong("/quant/nodes/attention/exp/type", text("u40.20"), "nodes[4]", ["32 bits", ""]),
        // Shapes.
        wrong("/net/dimensions/2/value", json!(3), "nodes[3]", ["3 elements", "pairs"]),
        wrong("/net/buffers/10/shape", one(), "nodes[2]", ["shape", ""]),
        wrong("/net/buffers/11/shape/2/dim", text("vocab"), "nodes[2]", ["shape", ""]),
        wrong("/net/buffers/13/shape/0/dim", text("num_kv_heads"), "nodes[4]", ["heads", "head_dim"]),
        wrong("/net/buffers/19/shape/1/dim", text("embed"), "nodes[8]", ["equal shapes", ""]),
        wrong(
            "/net/buffers/1/shape",
            json!([{ "dim": "embed" }, { "dim": "vocab" }]),
            "nodes[0]",
            ["rows", "token_emb"],
        ),
        wrong("/net/buffers/0/shape", json!([{ "dim": "tokens" }, { "dim": "embed" }]), "nodes[0]", ["id", ""]),
        // Tokens.
        wrong("/net/buffers/4/shape/0/mult", json!(2), "input", ["mult or div", "--tokens 1"]),
        wrong("/net/buffers/4/shape/0/div", json!(2), "input", ["mult or div", "--tokens 1"]),
        wrong("/net/buffers/6/shape/1/dim", text("tokens"), "ln1_out", ["second tokens entry", ""]),
        wrong("/net/buffers/15/shape", json!([{ "dim": "embed" }]), "proj_tmp", ["no tokens entry", ""]),
        wrong("/net/buffers/5/shape/0/dim", text("tokens"), "gamma", ["weight", "pos_emb"]),
        // Kernels, arguments, conditions, config.
        wrong("/net/nodes/4/kernel", text("attention_sliding_causal"), "nodes[4]", ["sliding", "--nodes"]),
        wrong("/net/nodes/4/kernel", text("attention_window"), "nodes[4]", ["window", "--nodes"]),
        wrong("/net/nodes/8/kernel", text("softmax_causal"), "nodes[8]", ["causal", ""]),
        wrong("/net/nodes/6/op", text("kv_cache"), "nodes[6]", ["state", "--nodes"]),
        wrong("/net/nodes/4/bindings/2/arg", text("values"), "nodes[4]", ["needs v", ""]),
        wrong("/net/nodes/0/bindings/0/buffer", text("token_emb"), "nodes[0]", ["weight", ""]),
        wrong("/net/nodes/0/bindings/1/buffer", text("input"), "nodes[0]", ["no weight", ""]),
        wrong("/net/nodes/4/condition", text("use_flash"), "nodes[4].condition", ["use_flash", "config"]),
        wrong("/net/buffers/12/condition", text("use_cache==1"), "buffers[12].condition", ["use_cache", ""]),
        wrong("/net/buffers/12/condition", text("training_enabled"), "nodes[2]", ["condition", "v"]),
        wrong("/net/nodes/1/condition", text("rope_theta > x"), "nodes[1].condition", ["number", ""]),
        wrong("/net/nodes/1/condition", text("= 3"), "nodes[1].condition", ["condition", ""]),
        wrong("/net/config/rope_theta", Value::Null, "nodes[3]", ["rope_theta", ""]),
        wrong("/net/config/rope_theta", json!(-1), "nodes[3]", ["rope_theta", ""]),
    ];
    let positions =
        Wrong { offset: 15, ..wrong("/net/version", json!(2), "nodes[0]", ["16 rows", "positions 15 to 16"]) };
    all.push(positions);
    all
}

fn change(value: &mut Value, pointer: &str, to: &Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = value.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer}"));
    match (parent, to) {
        (Value::Object(members), Value::Null) => drop(members.remove(key)),
        (Value::Object(members), to) => drop(members.insert(key.to_owned(), to.clone())),
        (Value::Array(elements), to) => elements[key.parse::<usize>().unwrap()] = to.clone(),
        _ => panic!("{pointer}"),
    }
}

#[test]
fn wrong_inputs_are_refused_with_their_place() {
    let all = wrong_inputs();
    assert!(all.len() >= 60, "{}", all.len());
    for Wrong { place, change: pointer, to, says, tokens, offset } in all {
        let (net, quant) = model();
        let mut both = json!({ "net": net, "quant": quant });
        change(&mut both, pointer, &to);
        let Err(said) = outcome(&both["net"], &both["quant"], tokens, offset, None) else {
            panic!("{pointer} {to} is accepted");
        };
        for part in [place, says[0], says[1]] {
            assert!(said.contains(part), "{pointer} {to}: {part:?} is not in {said}");
        }
    }
}

#[test]
fn sizes_of_attention_are_refused_before_weights_are_read() {
    let (net, _) = model();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("quant.json");
    fs::write(&file, model().1.to_string()).unwrap();
    let options = Options { quant: Some(file), tokens: 4096, ..Options::default() };
    let structure = Structure::read(net.to_string().as_bytes(), "net.json", &options).unwrap();
    let error = structure.bind(&options).err().unwrap().to_string();
    assert!(error.contains("attention (layer 0)") && error.contains("--max-adders"), "{error}");
    // q x k: 2 heads, 4096 * 4097 / 2 pairs, head_dim 2, 8 bits.
    let pairs = 2 * 4096 * 4097 / 2;
    assert!(error.contains(&format!("{} adders", pairs * 2 * 8 + pairs * 8 + pairs * 2 * 8)), "{error}");
}
