//! GHDL as a synthesiser (`ghdl --synth --out=verilog`, the front end of open flows): what it makes of our VHDL is
//! proved equal to the model. GHDL 2.0 loses `others` of a `case` of few choices, and writes constants of more than 32
//! bits as text; generated RTL has forms that it keeps.

use crate::harness::skip;
use crate::projects::{tool, works};
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Proves what GHDL makes of a model's VHDL.
fn proved_behind_ghdl(model: &Path, options: &[&str]) {
    let work = tempfile::tempdir().expect("a temporary folder");
    let here = work.path();
    let program = env!("CARGO_BIN_EXE_alir2hdl");
    let model = model.to_str().expect("text");
    works(program, here, &[&[model, "--vhdl", "design.vhd", "--top", "dut", "-q"], options].concat());
    let arguments = ["--synth", "--std=08", "--out=verilog", "design.vhd", "-e", "dut"];
    let output = Command::new("ghdl").current_dir(here).args(arguments).output().expect("ghdl starts");
    assert!(output.status.success(), "{model}: {}", String::from_utf8_lossy(&output.stderr));
    std::fs::write(here.join("design.v"), output.stdout).expect("written");
    let stages = options.iter().position(|option| *option == "--pipeline").map_or(&[][..], |at| &options[at..at + 2]);
    works(program, here, &[&["prove", model, "design.v", "--top", "dut", "-q"], stages].concat());
}

fn model(name: &str) -> PathBuf {
    Path::new(ROOT).join("tests/data/models").join(name).join("model.json.gz")
}

fn there() -> bool {
    if tool("ghdl").is_none() {
        return false;
    }
    let help = Command::new("ghdl").arg("--help").output().expect("ghdl starts");
    let synthesises = String::from_utf8_lossy(&help.stdout).contains("--synth");
    if !synthesises {
        skip("ghdl", "made without synthesis");
    }
    synthesises
}

#[test]
fn sim_tables_survive_ghdl_as_a_synthesiser() {
    if !there() {
        return;
    }
    proved_behind_ghdl(&model("tiny_ops"), &["-O0"]);
    proved_behind_ghdl(&model("tiny_ops"), &["--pipeline", "2"]);
    proved_behind_ghdl(&model("lut_heavy"), &["-O0"]);
}

#[test]
fn sim_wide_constants_survive_ghdl_as_a_synthesiser() {
    if !there() {
        return;
    }
    for name in ["wide_acc", "over64", "edge_kif", "bit_logic", "jet_mlp"] {
        proved_behind_ghdl(&model(name), &[]);
    }
}

#[test]
fn sim_random_models_survive_ghdl_as_a_synthesiser() {
    if !there() {
        return;
    }
    for number in 0..12 {
        let file = Path::new(ROOT).join(format!("tests/data/models/fuzz/{number:03}/model.json"));
        proved_behind_ghdl(&file, &[]);
    }
}
