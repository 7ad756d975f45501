//! Every error that a user can bring about on the command line: exit code, code, and nothing written.
//!
//! What files can have wrong is in `formats_*.rs`, samples are in `run_command.rs`. The last test here knows which
//! codes no command line reaches, and why.

use assert_cmd::Command;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn model(name: &str) -> String {
    format!("{}/tests/data/models/{name}/model.json.gz", env!("CARGO_MANIFEST_DIR"))
}

/// Runs the program in a new folder; expects the exit code, only errors of this code, and no file.
#[track_caller]
fn refused(arguments: &[&str], status: i32, code: &str) {
    refused_with(&[], arguments, status, code);
}

#[track_caller]
fn refused_with(environment: &[(&str, &Path)], arguments: &[&str], status: i32, code: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_alir2hdl"));
    command.current_dir(folder.path()).args(arguments).arg("--error-format=json").envs(environment.iter().copied());
    let output = command.output().expect("the program runs");
    let said = String::from_utf8(output.stderr).expect("text");
    let errors: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).expect("JSON lines")).collect();
    assert_eq!(output.status.code(), Some(status), "{said}");
    let codes: BTreeSet<&str> = errors
        .iter()
        .filter(|error| error["severity"] != "note")
        .map(|error| error["code"].as_str().expect("a code"))
        .collect();
    assert_eq!(codes, BTreeSet::from([code]), "{said}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0, "a file was written");
}

#[test]
fn wrong_requests() {
    let tiny = model("tiny_ops");
    let cases: &[(&[&str], &str)] = &[
        // The command line itself, files.
        (&["--verilog", "x.v", "--no-such-option"], "E0002"),
        (&["--verilog", "x.v", "-O7"], "E0002"),
        (&["--verilog", "x.v", "--reset", "maybe"], "E0002"),
        (&["--verilog", "absent/x.v"], "E0001"),
        (&["--verilog", "."], "E0001"),
        // Limits.
        (&["--verilog", "x.v", "--max-ops", "3"], "E0201"),
        (&["--verilog", "x.v", "--max-bytes", "100"], "E0104"),
        (&["--verilog", "x.v", "--max-table-entries", "1"], "E0202"),
        // Optimisation and pipelines.
        (&["--verilog", "x.v", "--passes", "nonsense"], "E0301"),
        (&["--verilog", "x.v", "--max-stage-delay", "nan"], "E0501"),
        (&["--verilog", "x.v", "--max-stage-delay", "-1"], "E0501"),
        (&["--verilog", "x.v", "--pipeline", "1000000"], "E0502"),
        (&["--verilog", "x.v", "--max-stage-delay", "0"], "E0503"),
        // Hardware.
        (&["--verilog", "x.v", "--top", "module"], "E0601"),
        (&["--verilog", "x.v", "--top", "two words"], "E0601"),
        (&["--verilog", "x.v", "--pipeline", "2", "--reset-data"], "E0801"),
        (&["--verilog", "x.v", "--pipeline", "2", "--reset", "sync"], "E0801"),
        (&["--verilog", "x.v", "--axis-width", "8"], "E0803"),
        (&["--verilog", "x.v", "--wrapper", "axis", "--pipeline", "2", "--packing", "8"], "E0611"),
        (&[], "E0802"),
        (&["--verilog", "x", "--vhdl", "x"], "E0802"),
        (&["--verilog", "-", "--interface", "-"], "E0802"),
    ];
    for (options, code) in cases {
        refused(&[&[tiny.as_str()], *options].concat(), 2, code);
    }
}

#[test]
fn models_that_cannot_be_read() {
    let here = env!("CARGO_MANIFEST_DIR");
    for command in [["check"].as_slice(), &["info"], &["verify"], &["--verilog", "x.v"]] {
        refused(&[command, &["absent.json"]].concat(), 2, "E0001");
        refused(&[command, &[here]].concat(), 2, "E0001");
        refused(&[command, &[&format!("{here}/tests/data/models/tiny_ops/inputs.npy")]].concat(), 2, "E1505");
    }
}

/// Messages about networks, matrices and kernels where a program, or another file, is read.
#[test]
fn sources_that_are_something_else() {
    let tiny = model("tiny_ops");
    let here = env!("CARGO_MANIFEST_DIR");
    let net = format!("{here}/tests/data/network/ir/mlp_relu/net.json");
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("written");
        path.to_str().expect("text").to_owned()
    };
    let npy = |kind: &str, number: &[u8]| {
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': (1, 1), }}");
        [b"\x93NUMPY\x01\x00\x46\x00", format!("{header:<69}\n").as_bytes(), number].concat()
    };
    refused(&["check", &tiny, "--quant", "q.json"], 2, "E0811");
    refused(&["check", &tiny, "--input-type", "s8.0"], 2, "E0811");
    refused(&["check", &tiny, "--cmvm-latency", "3"], 2, "E1506");
    refused(&["check", &net, "--max-bytes", "10"], 2, "E0813");
    refused(&["check", &file("x.onnx", b"no protobuf")], 2, "E0820");
    let kernel = format!("{here}/examples/llvlir/hex_digit.llvlirs");
    refused(
        &["run", &kernel, "--input", &file("half.npy", &npy("<f8", &0.5f64.to_le_bytes())), "--output", "y.csv"],
        2,
        "E0713",
    );
    let (weights, quant) = (net.replace("net.json", "weights.safetensors"), net.replace("net.json", "quant.json"));
    let samples = file("nan.csv", format!("nan{}\n", ",0".repeat(15)).as_bytes());
    let run = ["run", &net, "--weights", &weights, "--quant", &quant, "--input", &samples, "--output", "y.csv"];
    refused(&run, 2, "E0812");
}

/// A copy of a file of float64 rows, the last of them left out.
fn few_rows(path: &str) -> tempfile::TempDir {
    let bytes = fs::read(path).expect("an npy file");
    let head = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8(bytes[10..head].to_vec()).expect("text");
    let (before, shape) = header.split_once("'shape': (").expect("a shape");
    let (rows, after) = shape.split_once(", ").expect("rows");
    let (columns, _) = after.split_once(')').expect("columns");
    let (rows, columns): (usize, usize) = (rows.parse().expect("a number"), columns.parse().expect("a number"));
    // As long as before: the length of the header precedes it.
    let mut header = format!("{before}'shape': ({}, {after}", rows - 1);
    while header.len() < head - 10 {
        header.insert(header.len() - 1, ' ');
    }
    let body = &bytes[head..bytes.len() - columns * 8];
    let folder = tempfile::tempdir().expect("a folder");
    let all = [&bytes[..10], header.as_bytes(), body].concat();
    fs::write(folder.path().join("few.npy"), all).expect("written");
    folder
}

#[test]
fn requests_of_other_commands() {
    let tiny = model("tiny_ops");
    let inputs = tiny.replace("model.json.gz", "inputs.npy");
    refused(&["run", &tiny, "--output", "y.npy", "--input", "absent.npy"], 2, "E0001");
    refused(&["run", &tiny, "--output", "y.unknown", "--input", &inputs], 2, "E0705");
    refused(&["run", &tiny, "--input", &inputs, "--trace", "100000000"], 2, "E0710");
    let machine = tiny.replace("tiny_ops/model", "fsm/biquad/fsm");
    refused(&["run", &machine, "--output", "y.npz", "--cycles", "3"], 2, "E0712");
    refused(&["run", &tiny, "--output", "y.npy", "--cycles", "5"], 2, "E0804");
    refused(&["project", &tiny, "--output", "build", "--part", "nonsense"], 2, "E0805");
    refused(&["project", &tiny, "--output", "build", "--core-version", "1"], 2, "E0805");
    refused(&["project", &machine, "--output", "build", "--pipeline", "2"], 2, "E0804");
    refused(&["view", &machine, "--output", "x.html", "--pipeline", "2"], 2, "E0804");
    refused(&["verify", &tiny, "--sim", "ghdl", "--lang", "verilog"], 2, "E1006");
    refused(&["project", &tiny, "-o", "build", "--input", &inputs, "--expect", &inputs], 2, "E0702");
    refused(&["project", &tiny, "-o", "build", "--expect", &inputs], 2, "E0712");
    refused(&["project", &tiny, "-o", "build", "--codes"], 2, "E1011");
    refused(&["project", &machine, "-o", "build", "--input", &inputs, "--array", "x"], 2, "E1011");
    let outputs = tiny.replace("model.json.gz", "outputs.npy");
    let few = few_rows(&outputs);
    let few = few.path().join("few.npy").display().to_string();
    refused(&["project", &tiny, "-o", "build", "--input", &inputs, "--expect", &few], 2, "E1008");
    refused(&["verify", &tiny, "--passes", "nonsense"], 2, "E0301");
    refused(&[&tiny, "--verilog", "x.v", "--assume-intervals", "--prove"], 2, "E0303");
    // Two readers of one input: its code is 0 to 2 for the one, 3 for the other.
    let torn = r#"{"meta": "ALIRModel", "spec_version": 4, "model": [[1, 2], [0], [0, 1], [0, 0], [false, false],
        [[[], -1, [0], [0, 2, 1], 0, 0], [[], -1, [0], [3, 3, 1], 0, 0]], 1, 1, null]}"#;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("torn.json");
    fs::write(&file, torn).expect("written");
    let file = file.to_str().expect("text");
    refused(&["project", file, "--output", "build", "--assume-intervals"], 2, "E0302");
    refused(&["info", &tiny, "--max-stage-delay", "0"], 2, "E0503");
    refused(&["explain", "E9999"], 2, "E0004");
}

/// A program that answers as Icarus does and then does what `then` says.
#[cfg(unix)]
fn icarus(folder: &Path, then: &str) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join("icarus");
    let text = format!("#!/bin/sh\n[ \"$1\" = -V ] && echo 'Icarus Verilog version 11.0' && exit 0\n{then}\n");
    fs::write(&path, text).expect("a script");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a script that runs");
    path
}

#[cfg(unix)]
#[test]
fn simulators_that_fail() {
    let tiny = model("tiny_ops");
    let tools = tempfile::tempdir().expect("a folder");
    let run = |then: &str, options: &[&str], status: i32, code: &str| {
        let tool = icarus(tools.path(), then);
        // Any program stands for vvp: it is looked for before the compiler runs.
        let environment = [("ALIR2HDL_IVERILOG", tool.as_path()), ("ALIR2HDL_VVP", Path::new("/bin/sh"))];
        let verify = ["verify", tiny.as_str(), "--sim", "iverilog"];
        refused_with(&environment, &[&verify, options].concat(), status, code);
    };
    run("echo 'model.v:3: syntax error'; exit 2", &[], 4, "E1002");
    run("kill -SEGV $$", &[], 5, "E1004");
    run("sleep 600", &["--timeout", "2"], 5, "E1003");
    let absent = [("ALIR2HDL_IVERILOG", Path::new("/nonexistent/iverilog"))];
    refused_with(&absent, &["verify", &tiny, "--sim", "iverilog"], 3, "E1001");
}

/// Codes that need something else than a command line.
const NOT_REACHED: &[(&str, &str)] = &[
    ("E0000", "a mistake of ours"),
    ("E0105", "a disk that fails"),
    ("E0205", "JSON cannot say it: E0113 and E0134 come first"),
    ("E0210", "JSON cannot say it: E0130 comes first"),
    ("E0590", "a mistake of ours"),
    ("E0591", "a mistake of ours"),
    ("E0690", "a mistake of ours"),
    ("E0708", "an interrupt at the right moment"),
    ("E0905", "memory that runs out"),
    ("E1005", "a disk that fills up"),
];

#[test]
fn every_error_of_the_main_road_has_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut tested = String::new();
    for folder in ["tests/it", "hdl_tests"] {
        for entry in fs::read_dir(root.join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "rs") {
                tested.push_str(&fs::read_to_string(path).expect("text"));
            }
        }
    }
    let document = fs::read_to_string(root.join("docs/errors.md")).expect("the document");
    let mut missing = Vec::new();
    let mut section = "";
    for line in document.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title;
        }
        let Some((code, _)) = line.strip_prefix("| ").and_then(|rest| rest.split_once(" | ")) else { continue };
        // Those are compared by message, together with their subjects.
        let of_another_road = matches!(
            section,
            "Stateful designs" | "Proofs" | "Writing a model file" | "LLVLIR programs" | "Networks" | "Matrices"
        );
        if code.starts_with('E') && !of_another_road && !tested.contains(&format!("\"{code}\"")) {
            missing.push(code.to_owned());
        }
    }
    assert_eq!(missing, Vec::<String>::new(), "errors without a test");
    for (code, why) in NOT_REACHED {
        assert!(document.contains(&format!("| {code} | ")) && !why.is_empty(), "{code}");
    }
}
