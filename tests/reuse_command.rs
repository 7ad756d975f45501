//! `--ii K` on the command line: what is written, what is refused, and that K = 1 changes nothing.

mod common;

use common::{model, run};
use serde_json::Value;
use std::fs;
use std::path::Path;

#[test]
fn an_interval_of_one_is_the_text_without() {
    let folder = tempfile::tempdir().expect("a folder");
    let sorting = model("sort_topk");
    for extension in ["v", "vhd"] {
        let flag = if extension == "v" { "--verilog" } else { "--vhdl" };
        let write = |name: &str, more: &[&str]| {
            let file = format!("{name}/top.{extension}");
            fs::create_dir_all(folder.path().join(name)).expect("a folder");
            let arguments = [&[sorting.as_str(), flag, &file, "--pipeline", "2", "-q"], more].concat();
            assert_eq!(run(folder.path(), &arguments).0, 0);
            fs::read_to_string(folder.path().join(file)).expect("the text")
        };
        assert_eq!(write("with", &["--ii", "1"]), write("without", &[]));
    }
}

#[test]
fn the_interface_says_interval_latency_and_who_shares() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = model("conv_small");
    let arguments =
        [&file, "--ii", "8", "--verilog", "c.v", "--interface", "c.json", "--valid", "--port-style", "plain"];
    let (code, _, said) = run(folder.path(), &arguments);
    assert_eq!(code, 0, "{said}");
    let text = fs::read_to_string(folder.path().join("c.json")).expect("the interface");
    let facts: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&facts["initiation_interval"], &facts["hold"]), (&Value::from(8), &Value::from(8)));
    assert_eq!(facts["ready"], "in_ready");
    assert!(facts["reuse"]["shared_percent"].as_f64() > Some(50.0), "{facts}");
    for group in facts["reuse"]["groups"].as_array().expect("groups") {
        let (n, copies) = (group["instances"].as_u64().expect("n"), group["copies"].as_u64().expect("copies"));
        assert_eq!(copies, n.div_ceil(8), "{group}");
    }
    let ports: Vec<&str> =
        facts["ports"].as_array().expect("ports").iter().filter_map(|p| p["name"].as_str()).collect();
    assert_eq!(ports, ["clk", "in_valid", "in_data", "in_ready", "out_valid", "out_data"]);
    assert!(said.contains("sample every 8 clocks"), "{said}");
}

#[test]
fn a_written_file_is_proved_and_a_wrong_interval_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = model("sort_topk");
    let ran = |arguments: &[&str]| run(folder.path(), arguments);
    let options = ["--ii", "5", "--valid", "--enable", "--reset", "sync", "--prove", "-q"];
    let written = ran(&[&[file.as_str(), "--verilog", "s.v", "--vhdl", "s.vhd"], &options[..]].concat());
    assert_eq!(written.0, 0, "{}", written.2);
    let (code, said, _) = ran(&["prove", &file, "s.vhd"]);
    assert!(code == 0 && said.contains("a sample every 5 clocks"), "{said}");
    assert_eq!(ran(&["prove", &file, "s.v", "--ii", "5"]).0, 0);
    assert_eq!(ran(&["prove", &file, "s.v", "--ii", "4"]).0, 1);
    // A counter that is one too long, a result that is one clock late, a choice at another phase.
    let text = fs::read_to_string(folder.path().join("s.v")).expect("the text");
    let latency = text.split("latency ").nth(1).and_then(|t| t.split(' ').next()).expect("a latency");
    let more = (latency.parse::<u32>().expect("a number") + 1).to_string();
    let stated = text.replace(&format!("latency {latency} "), &format!("latency {more} "));
    let interval = text.replace("initiation interval 5", "initiation interval 6");
    for (name, wrong) in [("latency", stated), ("interval", interval)] {
        assert_ne!(wrong, text);
        let path = format!("{name}.v");
        fs::write(folder.path().join(&path), wrong).expect("written");
        let (code, said, _) = ran(&["prove", &file, &path]);
        assert_eq!(code, 1, "{name}: {said}");
    }
}

#[test]
fn what_does_not_go_with_it_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let sorting = model("sort_topk");
    let refused = |options: &[&str], code: &str| {
        let (exit, _, said) = run(folder.path(), &[&[sorting.as_str(), "--verilog", "s.v"], options].concat());
        assert!(exit == 2 && said.contains(code), "{options:?}: {said}");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    };
    for wrong in ["0", "4097"] {
        refused(&["--ii", wrong], "E0810");
    }
    for wrong in ["-1", "x", "1.5", "99999999999"] {
        refused(&["--ii", wrong], "--ii");
    }
    for with in [
        &["--pipeline", "3"][..],
        &["--register-inputs"],
        &["--register-outputs"],
        &["--use-dsp", "no"],
        &["--wrapper", "axis"],
        &["--assume-intervals"],
    ] {
        refused(&[&["--ii", "4"], with].concat(), "E0816");
    }
    refused(&["--ii", "4", "--clock-period", "0.5", "--device", "ultrascale+"], "E0503");
    refused(&["--ii", "4", "--ready-name", "clk"], "E0602");
    refused(&["--ii", "4", "--valid", "--ready-name", "1x"], "E0601");
    refused(&["--ii", "4", "--reset-data"], "E0801");
    for command in ["info", "view", "project"] {
        let out = ["--output", "made"];
        let out = if command == "info" { &[][..] } else { &out[..] };
        let (exit, _, said) = run(folder.path(), &[&[command, &sorting, "--ii", "4"], out].concat());
        assert!(exit == 2 && said.contains("E0816"), "{command}: {said}");
        assert!(!Path::new(&folder.path().join("made")).exists());
    }
    let machine = format!("{}/tests/data/models/fsm", env!("CARGO_MANIFEST_DIR"));
    let design = fs::read_dir(machine).expect("designs").filter_map(Result::ok).map(|e| e.path());
    let design = design.flat_map(|p| fs::read_dir(p).into_iter().flatten().filter_map(Result::ok).map(|e| e.path()));
    let design = design.into_iter().find(|p| p.to_string_lossy().contains(".json")).expect("a design");
    let (exit, _, said) = run(folder.path(), &[&design.to_string_lossy(), "--ii", "4", "--verilog", "s.v"]);
    assert!(exit == 2 && said.contains("E0804"), "{said}");
}

#[test]
fn little_that_is_shared_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, _, said) =
        run(folder.path(), &[&model("jet_mlp"), "--ii", "4", "--ii-engine", "fold", "--verilog", "j.v"]);
    assert!(code == 0 && said.contains("W0810"), "{said}");
}

#[test]
fn bit_serial_files_are_proved_and_wrong_ones_are_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = model("tiny_ops");
    let ran = |arguments: &[&str]| run(folder.path(), arguments);
    let serial = ["--ii", "40", "--ii-engine", "serial"];
    let options = ["--valid", "--enable", "--reset", "async", "--interface", "t.json", "--prove", "-q"];
    let written = ran(&[&[file.as_str(), "--verilog", "t.v", "--vhdl", "t.vhd"], &serial[..], &options[..]].concat());
    assert_eq!(written.0, 0, "{}", written.2);
    let facts = fs::read_to_string(folder.path().join("t.json")).expect("the interface");
    let facts: Value = serde_json::from_str(&facts).expect("JSON");
    assert_eq!((&facts["initiation_interval"], &facts["reuse"]["engine"]), (&Value::from(40), &Value::from("serial")));
    for text in ["t.v", "t.vhd"] {
        let (code, said, _) = ran(&["prove", &file, text]);
        assert!(code == 0 && said.contains("a sample every 40 clocks"), "{text}: {said}");
    }
    // Gates that are others, and carries that begin with the other bit.
    let text = fs::read_to_string(folder.path().join("t.v")).expect("the text");
    let (mut differ, mut tried) = (0, 0);
    for (from, to) in [(" ^ ", " | "), (" & ", " | "), (" | ", " & "), ("~", ""), ("_carry", "")] {
        let places: Vec<usize> = text.match_indices(from).map(|(at, _)| at).collect();
        for k in 0..3 {
            let Some(&at) = places.get(places.len() * (k + 1) / 4) else { continue };
            let line = text[..at].rfind('\n').unwrap_or(0);
            if text[line..at].contains("//") {
                continue;
            }
            fs::write(folder.path().join("wrong.v"), format!("{}{to}{}", &text[..at], &text[at + from.len()..]))
                .expect("written");
            let (code, said, _) = ran(&["prove", &file, "wrong.v"]);
            assert!(code != 0 || said.contains("proved"), "{said}");
            tried += 1;
            differ += usize::from(code != 0);
        }
    }
    assert!(tried >= 8 && 2 * differ > tried, "{differ} of {tried}");
}

#[test]
fn the_smallest_interval_of_bit_serial_hardware_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = model("wide_acc");
    let write = |k: &str| run(folder.path(), &[&file, "--ii", k, "--ii-engine", "serial", "--verilog", "j.v"]);
    let (code, _, said) = write("3");
    assert!(
        code == 2 && said.contains("E0817") && fs::read_dir(folder.path()).expect("a folder").count() == 0,
        "{said}"
    );
    let from = said.split("ask for --ii ").nth(1).and_then(|t| t.split(' ').next()).expect("the smallest").to_owned();
    let less = (from.parse::<u32>().expect("a number") - 1).to_string();
    assert_eq!(write(&less).0, 2);
    assert_eq!(write(&from).0, 0);
    let (code, _, said) = run(folder.path(), &[&file, "--ii-engine", "serial", "--verilog", "k.v"]);
    assert!(code == 2 && said.contains("--ii"), "{said}");
}
