//! Networks at the command line: every broken input is refused with its place and reason, `info` lists what is there,
//! `calibrate` chooses types, and what is written is proved from the semantics of the network.

use crate::common::run;
use alir_testing::first_or_all;
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn data(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/network").join(folder)
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect()
}

/// The arguments of a case with one of them replaced by others.
fn with(arguments: &[String], more: &[&str]) -> Vec<String> {
    arguments.iter().cloned().chain(more.iter().map(|m| (*m).to_owned())).collect()
}

fn strs(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

/// Expected messages for broken inputs: the input, and words of its message.
const REASONS: [(&str, &str); 42] = [
    ("ir_version", "version 3 is not known"),
    ("ir_dim_unknown", "\"embedd\""),
    ("ir_dim_disagree", "dim_id 0 is \"tokens\""),
    ("ir_div_zero", "div is 0"),
    ("ir_resolved", "[3, 6], but the shape gives [3, 5]"),
    ("ir_buffer_twice", "given twice"),
    ("ir_alias_ring", "form a ring"),
    ("ir_binding_unknown", "no buffer \"acts\""),
    ("ir_arg_missing", "needs one of weight"),
    ("ir_attention", "--nodes"),
    ("ir_condition", "neither in config nor a dimension"),
    ("ir_size", "3 elements and \"down\" 5"),
    ("ir_truncated", "ends within a string"),
    ("ir_nothing", "nothing is selected"),
    ("ir_norm", "rstd"),
    ("q_type_long", "1049 bits"),
    ("q_round", "is not a rounding mode"),
    ("q_buffer", "no such buffer"),
    ("q_input_exact", "has no type"),
    ("q_key", "key is not known"),
    ("w_missing", "looked for layers.0.down_w"),
    ("w_shape", "[5, 3]"),
    ("w_nan", "NaN"),
    ("w_truncated", "125 bytes"),
    ("w_header_length", "1152921504606846976"),
    ("w_offsets", "4 bytes"),
    ("w_dtype", "Q4_0"),
    ("o_garbage", "no ONNX file"),
    ("o_lstm", "LSTM is not supported"),
    ("o_rounding", "NEAREST"),
    ("o_scale_zero", "scale is 0"),
    ("o_bits", "3.5"),
    ("o_zero_point", "0.5"),
    ("o_scale_variable", "must be constant"),
    ("o_no_input_type", "--input-type"),
    ("o_shapes", "do not go together"),
    ("o_sigmoid_bare", "sigmoid needs a Quant"),
    ("o_batch", "batch of 8"),
    ("o_dangling", "no node computes input ghost"),
    ("m_three_axes", "[2, 2, 2]"),
    ("m_nan", "NaN"),
    ("m_no_type", "does not say"),
];

#[test]
fn every_broken_input_is_refused_with_its_place_and_reason_and_leaves_no_file() {
    let folder = data("invalid");
    let cases = json(&folder.join("cases.json"));
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), REASONS.len());
    let out = TempDir::new().unwrap();
    let target = out.path().join("out.v");
    for (case, (name, reason)) in cases.iter().zip(REASONS) {
        assert_eq!(case["name"], name);
        let arguments = with(&texts(&case["arguments"]), &["--verilog", target.to_str().unwrap()]);
        let (code, _, said) = run(&folder, &strs(&arguments));
        assert_eq!(code, 2, "{name}: {said}");
        let place = case["where"].as_str().unwrap();
        // The place is one in a file, or the whole of it.
        let word = if folder.join(place).is_file() { "in" } else { "at" };
        assert!(said.contains(&format!(" {word} {place}")), "{name}: {place} is not in {said}");
        assert!(said.contains(reason), "{name}: {reason} is not in {said}");
        let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("error")).collect();
        assert!(lines.windows(2).all(|w| w[0] != w[1]), "{name}: said twice: {said}");
        assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 0, "{name} left a file");
    }
}

#[test]
fn a_language_model_is_listed_without_its_weights_and_its_mlp_refused_for_its_size() {
    let folder = data("ir/qwen2_0_5b");
    let (code, out, _) = run(&folder, &["info", "net.json", "--quant", "quant.json"]);
    assert_eq!(code, 0);
    for part in ["24 layers", "264 nodes", "37 buffers", "swiglu", "attention", "14 heads", "supported"] {
        assert!(out.contains(part), "{part} is not in {out}");
    }
    let listed: Value = serde_json::from_str(&run(&folder, &["info", "net.json", "--json"]).1).unwrap();
    assert_eq!((&listed["layers"], &listed["nodes"], &listed["buffers"]), (&24.into(), &264.into(), &37.into()));
    let meta = json(&folder.join("meta.json"));
    let out = TempDir::new().unwrap();
    let target = out.path().join("out.v");
    let arguments = with(&texts(&meta["arguments"]), &["--verilog", target.to_str().unwrap()]);
    let (code, _, said) = run(&folder, &strs(&arguments));
    assert_eq!(code, 2);
    for part in ["13074432 weights", "39223296 adders", "2000000", "--max-adders"] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    assert!(!target.exists());
}

/// Mean errors of the outputs as `run --float` prints them: those of the golden evaluator.
fn mean_errors(folder: &Path, arguments: &[String]) -> Vec<f64> {
    let arguments = with(arguments, &["--input", "inputs.npy", "--float"]);
    let (code, out, said) = run(folder, &[vec!["run"], strs(&arguments)].concat());
    assert_eq!(code, 0, "{said}");
    out.lines().skip(1).map(|line| line.split_whitespace().nth(1).unwrap().parse().unwrap()).collect()
}

#[test]
fn calibrated_types_are_nearer_than_the_baseline_and_the_report_is_that_of_the_golden_evaluator() {
    for (name, norms) in [("mlp_relu", false), ("two_blocks", true)] {
        let folder = data("ir").join(name);
        let arguments = texts(&json(&folder.join("meta.json"))["arguments"]);
        // Only the constants of norms are taken from the case's own file.
        let at = arguments.iter().position(|a| a == "--quant").unwrap();
        let without = [&arguments[..at], &arguments[at + 2..]].concat();
        let given = if norms { arguments.clone() } else { without.clone() };
        for bits in first_or_all(&["6", "10", "8"], 2) {
            let dir = TempDir::new().unwrap();
            let [quant, svg] = ["q.json", "q.svg"].map(|f| dir.path().join(f).to_str().unwrap().to_owned());
            let more = ["--samples", "inputs.npy", "--bits", bits, "-o", &quant, "--svg", &svg, "--json"];
            let calibrate = with(&given, &more);
            let (code, out, said) = run(&folder, &[vec!["calibrate"], strs(&calibrate)].concat());
            assert_eq!(code, 0, "{said}");
            let report: Value = serde_json::from_str(&out).unwrap();
            let outputs: Vec<f64> = report["buffers"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|b| b["output"] == true)
                .map(|b| b["mean_error"].as_f64().unwrap())
                .collect();
            let baseline: Vec<f64> =
                report["baseline_mean_error"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
            assert!(
                outputs.iter().zip(&baseline).all(|(x, y)| x <= y),
                "{name}, {bits} bits: {outputs:?} {baseline:?}"
            );
            let exact = mean_errors(&folder, &with(&without, &["--quant", &quant]));
            for (x, y) in outputs.iter().zip(&exact) {
                assert!((x - y).abs() < 1e-6, "{name}, {bits} bits: the report says {x}, the golden evaluator {y}");
            }
            assert!(std::fs::read_to_string(&svg).unwrap().ends_with("</svg>\n"));
            // The same again, byte for byte.
            if *bits != "6" {
                continue;
            }
            let first = std::fs::read(&quant).unwrap();
            assert_eq!(run(&folder, &[vec!["calibrate"], strs(&calibrate)].concat()).0, 0);
            assert_eq!(first, std::fs::read(&quant).unwrap());
        }
    }
}

#[test]
fn samples_that_do_not_fit_are_refused() {
    let folder = data("ir/mlp_relu");
    let dir = TempDir::new().unwrap();
    let quant = dir.path().join("q.json");
    for (samples, words) in [
        ("y=inputs.npy", "none of the inputs: x"),
        ("outputs.npy", "a sample has 16 elements"),
        ("nothing.npy", "cannot read"),
        ("net.json", "E2010"),
    ] {
        let weights = ["calibrate", "net.json", "--weights", "weights.safetensors", "--samples", samples];
        let more = ["--bits", "8", "-o", quant.to_str().unwrap()];
        let (code, _, said) = run(&folder, &[&weights[..], &more].concat());
        assert_eq!(code, 2, "{samples}: {said}");
        assert!(said.contains(words), "{samples}: {words} is not in {said}");
        assert!(!quant.exists());
    }
    let (code, _, said) =
        run(&folder, &["calibrate", "inputs.npy", "--samples", "x.npy", "--bits", "8", "-o", "/dev/null"]);
    assert_eq!(code, 2);
    assert!(said.contains("no IR v2 graph"), "{said}");
}

/// Also where the network has a softmax over clipped differences to a maximum, whose sums saturate nowhere.
#[test]
fn what_is_written_is_proved_from_the_semantics_of_the_network() {
    let cases = [
        ("qonnx/bipolar", "source"),
        ("qonnx/bipolar", "index"),
        ("transformer/case90909", "source"),
        ("transformer/case90101", "index"),
        ("transformer/case90909", "index"),
        ("transformer/case90101", "source"),
    ];
    for &(case, names) in first_or_all(&cases, 4) {
        let folder = data(case);
        let arguments = match folder.join("meta.json") {
            meta if meta.exists() => texts(&json(&meta)["arguments"]),
            _ => vec!["model.onnx".to_owned()],
        };
        let (source, more) = (arguments[0].as_str(), strs(&arguments[1..]));
        let dir = TempDir::new().unwrap();
        let target = dir.path().join("out.v");
        let target = target.to_str().unwrap();
        let words = [source, "--pipeline", "3", "--verilog", target, "--names", names];
        let (code, _, said) = run(&folder, &[&words, &more[..]].concat());
        assert_eq!(code, 0, "{case}: {said}");
        // Operations are named with the layers that the headings state, or without any.
        let text = std::fs::read_to_string(target).unwrap();
        assert_eq!(text.contains("inputs_v0 = "), names == "source", "{case} {names}");
        // An earlier file keeps its names.
        let again = dir.path().join("again.v");
        let words =
            [source, "--pipeline", "3", "-o", again.to_str().unwrap(), "--names-from", target, "--names", names];
        let (code, _, said) = run(&folder, &[&words, &more[..]].concat());
        assert_eq!(code, 0, "{case}: {said}");
        let body =
            |text: &str| text.lines().filter(|line| !line.starts_with("// command")).collect::<Vec<_>>().join("\n");
        assert_eq!(
            body(&std::fs::read_to_string(&again).unwrap()).replace("module again", "module out"),
            body(&text).replace("// out:", "// again:"),
            "{case} {names}"
        );
        let (code, out, said) = run(&folder, &[&["prove", source, target], &more[..]].concat());
        assert_eq!(code, 0, "{case}: {out}{said}");
        assert!(out.contains("the lowered program has the semantics of the network"), "{case}: {out}");
    }
}

/// A limit that no matrix meets is answered with the least that all of them meet; under that limit the program still
/// has the network's golden outputs.
#[test]
fn the_least_latency_that_all_matrices_meet_is_told_and_taken() {
    let gated = texts(&json(&data("ir/swiglu_padded").join("meta.json"))["arguments"]);
    for (folder, arguments) in [("ir/swiglu_padded", gated), ("qonnx/conv1d", vec!["model.onnx".to_owned()])] {
        let (folder, dir) = (data(folder), TempDir::new().unwrap());
        let (source, more) = (arguments[0].as_str(), strs(&arguments[1..]));
        let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        let to = |limit: &str, file: &str| {
            let command =
                [&["convert", source, file, "--cmvm-latency", limit, "--cmvm-budget", "1"], &more[..]].concat();
            run(&folder, &command)
        };
        let (short, under) = (path("short.json"), path("under.json"));
        let (code, _, said) = to("0.5", &short);
        assert!(code == 2 && said.contains("E1503") && !Path::new(&short).exists(), "{said}");
        assert!(said.contains("for the matrix of node"), "{said}");
        let least = said.split("--cmvm-latency ").nth(1).unwrap().split(',').next().unwrap().to_owned();
        let below = (least.parse::<f64>().unwrap() - 0.001).to_string();
        let (code, _, said) = to(&below, &short);
        assert!(code == 2 && said.contains(&least), "one matrix needs {least}: {said}");
        let (code, _, said) = to(&least, &under);
        assert_eq!(code, 0, "{said}");
        let plain = path("plain.json");
        assert_eq!(run(&folder, &[&["convert", source, &plain], &more[..]].concat()).0, 0);
        let (code, out, said) = run(&folder, &["diff", &plain, &under, "--prove"]);
        assert_eq!(code, 0, "{out}{said}");
    }
}
