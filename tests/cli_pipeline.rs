//! What can be asked of a pipeline on the command line, and how `info` shows it.

use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use std::path::Path;

fn model(name: &str) -> String {
    format!("{}/tests/data/models/{name}/model.json.gz", env!("CARGO_MANIFEST_DIR"))
}

fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_alir2hdl"));
    let output = command.current_dir(folder).args(arguments).output().expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

/// The interface of the sorting network with these options.
#[track_caller]
fn written(options: &[&str]) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let sorting = model("sort_topk");
    let (code, _, stderr) = run(folder.path(), &[&[sorting.as_str(), "--interface", "s.json"], options].concat());
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str(&fs::read_to_string(folder.path().join("s.json")).expect("the interface")).expect("JSON")
}

#[track_caller]
fn refused(options: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let sorting = model("sort_topk");
    let (code, _, stderr) = run(folder.path(), &[&[sorting.as_str(), "--verilog", "s.v"], options].concat());
    assert_eq!(code, 2, "{stderr}");
    assert!(!folder.path().join("s.v").exists());
    stderr
}

fn longest(interface: &Value) -> f64 {
    let stages = interface["stages"].as_array().expect("stages");
    stages.iter().map(|stage| stage["delay"].as_f64().expect("a delay")).fold(0.0, f64::max)
}

#[test]
fn a_clock_period_is_a_stage_delay_in_nanoseconds() {
    let best = written(&["--pipeline", "4"]);
    let delay = longest(&best);
    let by_delay = written(&["--max-stage-delay", &delay.to_string()]);
    let by_period = written(&["--clock-period", &(0.25 * delay).to_string(), "--delay-unit", "0.25"]);
    assert_eq!(by_delay, by_period);
    assert!(longest(&by_period) <= delay && by_period["latency"].as_u64() <= Some(4));
    assert_eq!(written(&["--clock-period", &delay.to_string()]), by_delay);
    // One stage fewer would not do.
    let fewer = by_delay["latency"].as_u64().unwrap() - 1;
    let said = refused(&["--clock-period", &delay.to_string(), "--pipeline", &fewer.to_string()]);
    assert!(said.contains("E0504") && said.contains("--clock-period"), "{said}");
}

#[test]
fn impossible_periods_name_the_operation_and_what_would_do() {
    let said = refused(&["--clock-period", "0.001", "--delay-unit", "2"]);
    assert!(said.contains("E0503") && said.contains("--clock-period"), "{said}");
    let least = said.split("ask for --clock-period ").nth(1).and_then(|s| s.split(' ').next()).expect("a period");
    let possible = written(&["--clock-period", least, "--delay-unit", "2"]);
    assert!(2.0 * longest(&possible) <= least.parse::<f64>().unwrap() * (1.0 + 1e-9));
    let place = said.split("operation ").nth(1).and_then(|s| s.split(' ').next()).expect("an operation");
    assert!(place.parse::<u32>().is_ok(), "{said}");
    for wrong in [["--clock-period", "nan"], ["--clock-period", "-1"]] {
        assert!(refused(&wrong).contains("E0505"));
    }
    assert!(refused(&["--clock-period", "1", "--delay-unit", "0"]).contains("E0505"));
    assert!(refused(&["--clock-period", "1", "--max-stage-delay", "1"]).contains("cannot be used with"));
}

#[test]
fn both_ends_can_be_registered() {
    let plain = written(&["--pipeline", "3"]);
    let both = written(&["--pipeline", "3", "--register-inputs", "--register-outputs"]);
    assert_eq!((&plain["latency"], &both["latency"]), (&Value::from(3), &Value::from(5)));
    let bits = |facts: &Value, name: &str| facts[name].as_u64().unwrap();
    assert_eq!(bits(&plain, "output_register_bits"), 0);
    let edges = bits(&both, "input_register_bits") + bits(&both, "output_register_bits");
    assert_eq!(bits(&both, "register_bits"), bits(&plain, "register_bits") + edges);
    // Without stages there is still a register at the end.
    let alone = written(&["--register-outputs"]);
    assert_eq!(alone["latency"], 1);
    assert_eq!(bits(&alone, "register_bits"), bits(&both, "output_register_bits"));
}

#[test]
fn the_objective_has_two_names() {
    let named = written(&["--pipeline", "4", "--pipeline-objective", "registers"]);
    assert_eq!(named, written(&["--pipeline", "4", "--objective", "registers"]));
    let short = written(&["--pipeline", "4"]);
    assert!(named["register_bits"].as_u64() < short["register_bits"].as_u64());
    assert!(longest(&named) > longest(&short) && longest(&named) <= 1.5 * longest(&short) * (1.0 + 1e-9));
}
