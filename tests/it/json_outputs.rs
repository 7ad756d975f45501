//! Every JSON output names its schema and keeps to it, and `view --open` starts what opens pages.

use crate::schema::{broken, keeps_to};
use assert_cmd::Command;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

#[test]
fn the_validator_can_fail() {
    let schema = json!({
        "type": "object", "required": ["a"], "additionalProperties": false,
        "properties": { "a": { "type": "integer", "minimum": 0 }, "b": { "enum": ["x"] }, "c": { "const": 1 },
            "d": { "items": { "type": ["string", "null"] } },
            "e": { "oneOf": [{ "type": "number" }, { "type": "integer" }] } }
    });
    assert_eq!(broken(&schema, &json!({ "a": 1, "b": "x", "c": 1, "d": ["q", null], "e": 1.5 }), "$"), [""; 0]);
    let wrong = [
        json!([]),
        json!({}),
        json!({ "a": 1.0 }),
        json!({ "a": -1 }),
        json!({ "a": 1, "b": "y" }),
        json!({ "a": 1, "c": 2 }),
        json!({ "a": 1, "d": [1] }),
        json!({ "a": 1, "e": 1 }),
        json!({ "a": 1, "f": 1 }),
    ];
    for value in wrong {
        assert_eq!(broken(&schema, &value, "$").len(), 1, "{value}");
    }
}

fn data(name: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests/data", name].iter().collect();
    path.to_str().unwrap().to_owned()
}

/// Runs the program in a folder: exit code, stdout, stderr.
fn run(dir: &TempDir, args: &str) -> (i32, String, String) {
    let words: Vec<String> = args.split_whitespace().map(|w| w.strip_prefix('@').map_or(w.to_owned(), data)).collect();
    let output = Command::cargo_bin("alir2hdl").unwrap().current_dir(dir.path()).args(&words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

const TINY: &str = "@models/tiny_ops/model.json.gz";
const BIQUAD: &str = "@models/fsm/biquad/fsm.json.gz";
const GRAPH: &str = "@network/ir/mlp_relu/net.json";
const WEIGHTS: &str = "--weights @network/ir/mlp_relu/weights.safetensors --quant @network/ir/mlp_relu/quant.json";

#[test]
fn documents_of_stdout_keep_to_their_schemas() {
    let dir = tempfile::tempdir().unwrap();
    for (kind, code, args) in [
        ("info", 0, format!("info --json {TINY}")),
        ("info", 0, format!("info --json {TINY} --pipeline 2 --device ultrascale+")),
        ("info", 0, format!("info --json {TINY} --sweep")),
        ("info", 0, "info --json @models/lut_heavy/model.json.gz --pipeline 3".to_owned()),
        ("info", 0, "info --json @network/matrix/m8/matrix.npy --input-type s8.5".to_owned()),
        ("info", 0, "info --json @llvlir/popcount_sort/program.llvlir".to_owned()),
        ("info-reuse", 0, "info --json @models/sort_topk/model.json.gz --ii 4".to_owned()),
        ("info-reuse", 0, "info --json @models/var_mul/model.json.gz --ii 2,8,16".to_owned()),
        ("info-reuse", 0, "info --json @models/sort_topk/model.json.gz --ii 4 --ii-engine fold".to_owned()),
        ("info-reuse", 0, "info --json @models/sort_topk/model.json.gz --ii 8 --ii-engine mixed".to_owned()),
        ("info-reuse", 0, "info --json @models/jet_mlp/model.json.gz --ii 16 --ii-engine serial".to_owned()),
        ("info-network", 0, format!("info --json {GRAPH}")),
        ("info-network", 0, "info --json @network/ir/qwen2_0_5b/net.json".to_owned()),
        ("info-onnx", 0, "info --json @foreign/names.onnx".to_owned()),
        (
            "calibrate",
            0,
            "calibrate --json @network/ir/mlp_relu/net.json --weights @network/ir/mlp_relu/weights.safetensors \
             --samples @network/ir/mlp_relu/inputs.npy --bits 8 -o q.json"
                .to_owned(),
        ),
        ("info-machine", 0, format!("info --json {BIQUAD}")),
        ("info-machine", 0, "info --json @models/fsm/mlp_pipeline/fsm.json.gz".to_owned()),
        ("diff", 0, format!("diff --json {TINY} {TINY}")),
        ("diff", 0, format!("diff --json --prove {TINY} {TINY}")),
        ("diff", 1, format!("diff --json --prove {TINY} {BIQUAD}")),
        ("diff", 1, format!("diff --json {TINY} @models/bit_logic/model.json.gz")),
        ("diff", 1, format!("diff --json {BIQUAD} @models/fsm/leaky_integrator/fsm.json.gz")),
        ("report", 0, "report --json @reports".to_owned()),
        ("timings", 0, format!("{TINY} --verilog t.v --timings --json")),
        ("timings", 0, "@network/matrix/m8/matrix.npy --input-type s8.5 --verilog m.v --timings --json".to_owned()),
        ("prove", 0, format!("prove --json {TINY} t.v")),
    ] {
        let (status, out, err) = run(&dir, &args);
        assert_eq!(status, code, "{args}: {err}");
        keeps_to(kind, &out);
    }
}

#[test]
fn documents_in_files_and_proofs_keep_to_their_schemas() {
    let dir = tempfile::tempdir().unwrap();
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    for options in [
        format!("{TINY} --pipeline 2 --valid --enable --reset sync --reset-data"),
        format!("{TINY} --pipeline 2 --wrapper axis"),
        format!("{TINY} --ii 40 --ii-input held"),
        format!("{TINY} --ii 40 --ii-input beats --wrapper axis --axis-width 8"),
        format!("{GRAPH} {WEIGHTS}"),
        "@network/qonnx/bipolar/model.onnx".to_owned(),
        BIQUAD.to_owned(),
    ] {
        let (status, _, err) = run(&dir, &format!("{options} --verilog m.v --interface i.json"));
        assert_eq!(status, 0, "{options}: {err}");
        keeps_to("interface", &read("i.json"));
    }
    for (how, says) in [("held", "input_hold"), ("beats --wrapper axis --axis-width 8 --top beats", "input_beats")] {
        let (status, _, err) = run(&dir, &format!("{TINY} --ii 40 --ii-input {how} --verilog h.v"));
        assert_eq!(status, 0, "{err}");
        let top = if how == "held" { "h" } else { "beats_core" };
        let (status, out, err) = run(&dir, &format!("prove --json {TINY} h.v --top {top}"));
        assert!(status == 0 && out.contains(says), "{err}");
        keeps_to("prove", &out);
    }
    let (status, _, err) = run(&dir, &format!("{TINY} -O2 --verilog t.v --witness w.json"));
    assert_eq!(status, 0, "{err}");
    keeps_to("witness", &read("w.json"));
    let (status, _, err) = run(&dir, &format!("prove {TINY} t.v --witness w.json --certificate d"));
    assert_eq!(status, 0, "{err}");
    keeps_to("prove", &read("d/report.json"));
    // The last was the machine: as it is, and with an addition that became a subtraction.
    let (status, out, err) = run(&dir, &format!("prove --json {BIQUAD} m.v --certificate c"));
    assert_eq!(status, 0, "{err}");
    keeps_to("prove-machine", &out);
    keeps_to("prove-machine", &read("c/report.json"));
    std::fs::write(dir.path().join("w.v"), read("m.v").replacen(" + ", " - ", 1)).unwrap();
    let (status, out, _) = run(&dir, &format!("prove --json {BIQUAD} w.v"));
    assert_eq!(status, 1);
    keeps_to("prove-machine", &out);
    for words in [format!("explore {TINY} --pipeline 1..2 -o x"), "explore --collect x".to_owned()] {
        let (status, _, err) = run(&dir, &words);
        assert_eq!(status, 0, "{err}");
    }
    keeps_to("explore", &read("x/results.json"));
    let (_, out, _) = run(&dir, "explore --collect x --json");
    assert_eq!(out, read("x/results.json"));
    let (status, _, err) = run(&dir, &format!("explore {TINY} --json -o y"));
    assert!(status == 2 && err.contains("at --json: there are no results yet"), "{err}");
    for (folder, design) in [("p", TINY), ("f", BIQUAD)] {
        let flow = if folder == "p" { "--flow vivado --clock-period 5 --pipeline 2" } else { "--flow plain" };
        let (status, _, err) = run(&dir, &format!("project {design} --output {folder} {flow}"));
        assert_eq!(status, 0, "{err}");
        keeps_to("project", &read(&format!("{folder}/metadata.json")));
    }
}

#[test]
fn info_is_one_screen_unless_all_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    for source in [
        TINY,
        "@models/jet_mlp/model.json.gz --pipeline 30",
        "@models/lut_heavy/model.json.gz --pipeline 3 --device ultrascale+",
        "@models/fsm/mlp_pipeline/fsm.json.gz",
        "@network/ir/qwen2_0_5b/net.json",
        "@network/matrix/m8/matrix.npy --input-type s8.5",
        "@llvlir/aes_round/program.llvlir",
    ] {
        let lines = |more: &str| {
            let (status, out, err) = run(&dir, &format!("info {source} {more}"));
            assert_eq!(status, 0, "{err}");
            out.lines().count()
        };
        let short = lines("");
        assert!((5..=40).contains(&short), "{source}: {short} lines");
        assert!(lines("-v") >= short, "{source}");
    }
    let (_, all, _) = run(&dir, "info @models/jet_mlp/model.json.gz --pipeline 30 -v");
    assert!(all.contains("critical path of stage 29,") && all.contains("\ndemand "), "{all}");
}

#[test]
fn diagnostics_keep_to_their_schema() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("b.json"), "{\"meta\": \"ALIRModel\", \"spec_version\": 4, \"model\": [1,").unwrap();
    for args in ["check b.json", "check nothing.json", "chek b.json", "info b.json --pipeline 3 --nonsense"] {
        let (status, _, err) = run(&dir, &format!("{args} --error-format json"));
        assert_eq!(status, 2, "{args}");
        assert!(!err.is_empty());
        err.lines().for_each(|line| keeps_to("diagnostic", line));
    }
}

#[test]
fn checks_of_many_files_keep_to_their_schema() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("b.json"), "{").unwrap();
    let args = format!("check {TINY} @models/fsm/biquad/fsm.json.gz b.json absent.json --json");
    let (status, out, err) = run(&dir, &args);
    assert_eq!((status, err.as_str()), (2, ""));
    keeps_to("check", &out);
    let files: Value = serde_json::from_str(&out).unwrap();
    let valid: Vec<bool> = files["files"].as_array().unwrap().iter().map(|f| f["valid"] == true).collect();
    assert_eq!(valid, [true, true, false, false]);
}

#[test]
fn schemas_are_printed_without_the_network() {
    let dir = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema")).unwrap() {
        let path = file.unwrap().path();
        let kind = path.file_stem().unwrap().to_str().unwrap();
        let (status, out, err) = run(&dir, &format!("explain --schema {kind}"));
        assert_eq!((status, out), (0, std::fs::read_to_string(&path).unwrap()), "{err}");
        let docs = include_str!("../../docs/json.md");
        let schema: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let id = schema["$id"].as_str().unwrap();
        assert!(id.starts_with(&format!("alir2hdl.{kind}/")) && docs.contains(id), "docs/json.md does not list {id}");
    }
    assert_eq!(run(&dir, "explain --schema nothing").0, 2);
}

#[cfg(target_os = "linux")]
#[test]
fn view_opens_the_page_that_it_wrote() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let view = || {
        let mut command = Command::cargo_bin("alir2hdl").unwrap();
        command.current_dir(dir.path()).env("PATH", dir.path()).args([
            "view",
            &data(&TINY[1..]),
            "-o",
            "a b.html",
            "--open",
        ]);
        let output = command.output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (status, said) = view();
    assert_eq!(status, 3, "{said}");
    assert!(said.contains("--open needs one of xdg-open"), "{said}");
    assert!(!dir.path().join("a b.html").exists());
    let opener = |text: &str| {
        let path = dir.path().join("xdg-open");
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    opener("echo \"$#:$1\" > opened");
    assert_eq!(view().0, 0);
    let opened = std::fs::read_to_string(dir.path().join("opened")).unwrap();
    assert!(opened.starts_with("1:/") && opened.ends_with("/a b.html\n"), "{opened}");
    opener("exit 4");
    let (status, said) = view();
    assert!(status == 2 && said.contains("E0814") && said.contains("a b.html"), "{said}");
    assert!(dir.path().join("a b.html").exists());
}

#[test]
fn what_generate_and_devices_print_keeps_to_their_schemas() {
    let dir = tempfile::tempdir().unwrap();
    let (status, out, err) = run(&dir, &format!("generate {TINY} -o t.v -o t.vhd -o t.json --stages 2 --prove --json"));
    assert_eq!(status, 0, "{err}");
    keeps_to("generate", &out);
    let said: Value = serde_json::from_str(&out).unwrap();
    let proved: Vec<bool> = said["files"].as_array().unwrap().iter().map(|f| f["proved"] == true).collect();
    assert_eq!(proved, [true, true, false]);
    let written: Value = serde_json::from_str(&std::fs::read_to_string(dir.path().join("t.json")).unwrap()).unwrap();
    assert_eq!(said["interface"]["latency"], written["latency"]);
    assert_eq!(said["interface"]["ports"], written["ports"]);
    // Every other kind of file.
    let others = format!("generate {TINY} -o t.sv --cpp t.hpp --witness t.w --stages 2 --json");
    let (status, out, err) = run(&dir, &others);
    assert_eq!(status, 0, "{err}");
    keeps_to("generate", &out);
    let kinds: Value = serde_json::from_str(&out).unwrap();
    let kinds: Vec<_> = kinds["files"].as_array().unwrap().iter().map(|f| f["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["systemverilog", "cpp", "witness"]);
    // A bare form, and a state machine, say the same.
    keeps_to("generate", &run(&dir, &format!("{BIQUAD} --verilog b.v --json")).1);
    let (status, out, _) = run(&dir, "devices --json");
    assert_eq!(status, 0);
    keeps_to("devices", &out);
}
