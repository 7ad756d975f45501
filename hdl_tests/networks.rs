//! Networks with golden outputs: what `run` says, and what simulators make of the hardware, combinational and with
//! three stages.

use crate::projects::tool;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A folder of cases instead of the own ones.
const FOLDER: &str = "ALIR2HDL_NETWORKS";

fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/network")
}

/// The folders below that have golden outputs.
fn cases(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for kind in ["ir", "matrix", "qonnx", "transformer"] {
        let entries = std::fs::read_dir(folder.join(kind)).unwrap_or_else(|e| panic!("{kind}: {e}"));
        found.extend(entries.map(|entry| entry.unwrap().path()).filter(|case| case.join("outputs.npy").is_file()));
    }
    found.sort();
    found
}

/// The arguments that name the source, as `meta.json` has them.
fn arguments(case: &Path) -> Vec<String> {
    let file = case.join("meta.json");
    let Ok(bytes) = std::fs::read(&file) else { return vec!["model.onnx".to_owned()] };
    let meta: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let all = meta["arguments"].as_array().expect("arguments");
    all.iter().map(|argument| argument.as_str().expect("a text").to_owned()).collect()
}

/// Runs a command on a case and expects that it succeeds.
fn expect(case: &Path, command: &str, more: &[&str]) -> String {
    let arguments = arguments(case);
    let mut program = Command::new(env!("CARGO_BIN_EXE_alir2hdl"));
    let output = program.current_dir(case).arg(command).args(&arguments).args(["--input", "inputs.npy"]).args(more);
    let output = output.output().expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{} {command} {more:?}: {said}", case.display());
    said
}

/// The numbers of an npy file, without its head.
fn numbers(file: &Path) -> Vec<u8> {
    let bytes = std::fs::read(file).unwrap();
    let head = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[10 + head..].to_vec()
}

fn run_says_what_is_expected(case: &Path) {
    let folder = TempDir::new().unwrap();
    let output = folder.path().join("y.npy");
    expect(case, "run", &["--output", output.to_str().unwrap()]);
    let (found, expected) = (numbers(&output), numbers(&case.join("outputs.npy")));
    assert!(!expected.is_empty() && found == expected, "{}", case.display());
}

fn simulators_say_what_is_expected(case: &Path, pipeline: &str, simulator: &str) {
    let more = ["--expect", "outputs.npy", "--pipeline", pipeline, "--sim", simulator];
    let said = expect(case, "verify", &more);
    assert!(said.contains("equal: "), "{}: {said}", case.display());
}

#[test]
fn networks_have_their_golden_outputs() {
    let cases = cases(&own());
    assert!(cases.len() >= 18, "{}", cases.len());
    cases.iter().for_each(|case| run_says_what_is_expected(case));
}

/// Modules of layers are simulated, proved, and replayed by the certificate checker, whose program is the lowered one.
#[test]
fn sim_layers_of_networks_are_modules() {
    for (case, file, simulator) in [("qonnx/bipolar", "out.v", "iverilog"), ("ir/tables", "out.vhd", "ghdl")] {
        let case = own().join(case);
        let folder = TempDir::new().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (file, program, proof) = (path(file), path("net.json"), path("proof"));
        let run = |program: &Path, words: &[&str]| {
            let output = Command::new(program).current_dir(&case).args(words).output().expect("the program runs");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(0), "{} {words:?}: {said}", case.display());
        };
        let own = Path::new(env!("CARGO_BIN_EXE_alir2hdl"));
        let arguments = arguments(&case);
        let with = |before: &[&str], more: &[&str]| {
            let words = before.iter().map(|word| (*word).to_owned()).chain(arguments.iter().cloned());
            words.chain(more.iter().map(|word| (*word).to_owned())).collect::<Vec<String>>()
        };
        let texts = |words: &[String]| run(own, &words.iter().map(String::as_str).collect::<Vec<_>>());
        texts(&with(&["generate"], &["-o", &file, "--hierarchy", "layers", "--pipeline", "3"]));
        let text = std::fs::read_to_string(&file).unwrap();
        // A flat file has headings of layers, too, but one module.
        let begins = if file.ends_with(".vhd") { "entity " } else { "module " };
        assert!(text.lines().filter(|line| line.contains("Layer ")).count() > 2, "{text}");
        assert!(text.lines().filter(|line| line.starts_with(begins)).count() > 2, "{text}");
        texts(&with(&["convert"], &["-o", &program]));
        run(own, &["prove", &program, &file, "--certificate", &proof]);
        run(Path::new(env!("CARGO_BIN_EXE_alir2hdl-check")), &[&program, &file, &proof]);
        if tool(simulator).is_some() {
            let more = ["--expect", "outputs.npy", "--pipeline", "3", "--sim", simulator, "--hierarchy", "layers"];
            assert!(expect(&case, "verify", &more).contains("equal: "));
        }
    }
}

#[test]
fn sim_small_networks_have_their_golden_outputs() {
    for (case, pipeline, simulator) in [
        ("ir/modes", "0", "ghdl"),
        ("ir/tables", "3", "iverilog"),
        ("qonnx/branches", "0", "iverilog"),
        ("qonnx/branches", "3", "ghdl"),
        ("matrix/m20x7", "3", "iverilog"),
        ("transformer/case90606", "0", "ghdl"),
        ("transformer/case90909", "3", "iverilog"),
    ] {
        if tool(simulator).is_some() {
            simulators_say_what_is_expected(&own().join(case), pipeline, simulator);
        }
    }
}

#[test]
#[ignore = "long: every case in every simulator (half an hour); ALIR2HDL_NETWORKS names another folder of cases"]
fn sim_every_network_has_its_golden_outputs() {
    let folder = std::env::var_os(FOLDER).map_or_else(own, PathBuf::from);
    for case in cases(&folder) {
        run_says_what_is_expected(&case);
        for pipeline in ["0", "3"] {
            simulators_say_what_is_expected(&case, pipeline, "all");
            println!("{} --pipeline {pipeline}", case.display());
        }
    }
}

/// Decoders with random weights (embed, heads, key and value heads, layers, rows of the embedding, stages): equal to
/// the reference evaluator in the simulators, and proved from the network.
#[test]
#[ignore = "long: layers and whole models of several sizes (20 minutes)"]
fn nightly_decoders_are_simulated_and_proved() {
    if !alir_testing::is_nightly() {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("hdl_tests/transformer_models.py");
    for (sizes, level, stages, simulators) in [
        ([8, 2, 1, 1, 0], "-O2", "0", &["verilator", "iverilog", "ghdl"][..]),
        ([12, 3, 1, 1, 0], "-O1", "6", &["verilator", "iverilog", "ghdl"]),
        ([16, 4, 2, 1, 0], "-O1", "6", &["verilator", "iverilog", "ghdl"]),
        ([16, 2, 2, 2, 8], "-O1", "0", &["verilator", "ghdl"]),
        ([32, 4, 4, 1, 0], "-O1", "0", &["verilator", "ghdl"]),
    ] {
        let folder = TempDir::new().unwrap();
        let run = |mut command: Command| {
            let output = command.current_dir(folder.path()).output().expect("the program runs");
            let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{sizes:?} {command:?}: {said}");
            said
        };
        let mut writer = Command::new(tool("python3").expect("Python is installed"));
        writer.arg(&script).args([".", "--samples", "4"]);
        for (name, size) in ["--embed", "--heads", "--kv-heads", "--layers", "--vocab"].iter().zip(sizes) {
            writer.arg(name).arg(size.to_string());
        }
        run(writer);
        let alir2hdl = |words: &[&str], more: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_alir2hdl"));
            command.args(words).args(["net.json", "--weights", "weights", "--quant", "quant.json", "--tokens", "4"]);
            command.args(more);
            command
        };
        run(alir2hdl(&[], &[level, "--pipeline", stages, "--verilog", "net.v", "--quiet"]));
        let proof = run(alir2hdl(&["prove"], &["net.v"]));
        assert!(proof.contains("proved: ") && proof.contains("has the semantics of the network"), "{sizes:?}: {proof}");
        for simulator in simulators.iter().filter(|name| tool(name).is_some()) {
            let more = ["--input", "inputs.npy", level, "--pipeline", stages, "--sim", simulator];
            let said = run(alir2hdl(&["verify"], &more));
            assert!(said.contains("equal: 4 samples"), "{sizes:?} {simulator}: {said}");
        }
    }
}
