//! `--ii K` on the command line: what is written, what is refused, and that K = 1 changes nothing.

use crate::common::{model, run};
use alir_testing::first_or_all;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
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

/// The counter begins in another phase, or the flag of the first phase with the other value, after a reset, or at
/// power-on where there is none: the first sample is lost or accepted in another clock.
#[test]
fn a_counter_that_begins_elsewhere_is_not_proved() {
    let folder = tempfile::tempdir().expect("a folder");
    let cases = [
        ("edge_kif", "--ii 2 --reset sync"),
        ("edge_kif", "--ii 2 --reset sync --enable --valid --ii-engine serial"),
        ("tiny_ops", "--ii 2 --reset sync --valid --ports split"),
        ("tiny_ops", "--ii 3 --reset async --reset-polarity low --enable --register-outputs"),
        ("sort_topk", "--ii 4 --reset sync --reset-data --valid --ii-engine fold"),
        ("tiny_ops", "--ii 2"),
        ("edge_kif", "--ii 3 --enable --valid"),
    ];
    let mut mutants = 0;
    let cases = first_or_all(&cases, 3);
    for &(name, options) in cases {
        let file = model(name);
        let mut all = vec![file.as_str(), "--verilog", "r.v", "-O1", "-q"];
        all.extend(options.split_whitespace());
        let (code, _, said) = run(folder.path(), &all);
        assert_eq!(code, 0, "{name} {options}: {said}");
        let (code, said, _) = run(folder.path(), &["prove", &file, "r.v"]);
        assert_eq!(code, 0, "{name} {options}: {said}");
        let text = fs::read_to_string(folder.path().join("r.v")).expect("r.v");
        // Assignments of a constant: a power-on value with `=`, a reset value with `<=`.
        let is_start = |line: &str, operator: &str| {
            let line = line.trim();
            let Some((register, value)) = line.trim_end_matches(';').split_once(&format!(" {operator} ")) else {
                return false;
            };
            let is_counter = register == "phase" && (value.contains("'d0") || value == "1'b0");
            is_counter || (["at_0", "phase_is_0"].contains(&register) && value == "1'b1")
        };
        let registers = ["phase", "at_0", "phase_is_0"];
        for register in registers.iter().filter(|register| text.contains(&format!(" {register} = "))) {
            // After a reset the power-on value does not matter.
            let operators = if options.contains("reset") { [&["<="][..], &["=", "<="]] } else { [&["="][..], &[]] };
            for operators in operators {
                let flip = |line: &str| {
                    let here = line.trim().starts_with(&format!("{register} "));
                    if here && operators.iter().any(|operator| is_start(line, operator)) {
                        let (start, digit) = line.trim_end_matches(';').split_at(line.len() - 2);
                        return format!("{start}{};\n", if digit == "0" { "1" } else { "0" });
                    }
                    format!("{line}\n")
                };
                let mutant: String = text.lines().map(flip).collect();
                if mutant == text {
                    assert!(operators.is_empty(), "{name} {options} {register}");
                    continue;
                }
                fs::write(folder.path().join("m.v"), &mutant).expect("a file");
                let (code, said, errors) = run(folder.path(), &["prove", &file, "m.v"]);
                let what = format!("{name} {options}: {register} {operators:?}: {said}{errors}");
                assert!(matches!(code, 1 | 5), "{what}");
                mutants += 1;
            }
        }
    }
    assert!(mutants >= 2 * cases.len(), "{mutants}");
}

#[test]
fn a_written_file_is_proved_and_a_wrong_interval_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = model("sort_topk");
    let ran = |arguments: &[&str]| run(folder.path(), arguments);
    let options = ["--ii", "5", "--ii-engine", "fold", "--valid", "--enable", "--reset", "sync", "--prove", "-q"];
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

/// RTL in which one operator or one digit is another one is proved by its header comment and the gates of all programs
/// only if it is by gates alone, which ask none of these.
#[test]
fn a_changed_text_is_proved_by_gates_alone_too_or_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let ran = |arguments: &[&str]| run(folder.path(), arguments).0;
    let (mut proved, mut differ) = (0, 0);
    for (name, interval) in [("sort_topk", "5"), ("tiny_ops", "4")] {
        let file = model(name);
        assert_eq!(ran(&[&file, "--verilog", "s.v", "--ii", interval, "--ii-engine", "fold", "-q"]), 0);
        let text = fs::read_to_string(folder.path().join("s.v")).expect("the text");
        let places: Vec<usize> = text
            .match_indices(['+', '-', '?', '1', '0'])
            .map(|(at, _)| at)
            .filter(|&at| {
                let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
                let before = &text[line..at];
                before.contains('=') && !before.contains("//")
            })
            .collect();
        for step in 0..24 {
            let at = places[step * places.len() / 24];
            let other = match &text[at..=at] {
                "+" => "-",
                "-" => "+",
                "0" => "1",
                "1" => "0",
                _ => continue,
            };
            fs::write(folder.path().join("w.v"), format!("{}{other}{}", &text[..at], &text[at + 1..]))
                .expect("written");
            match ran(&["prove", &file, "w.v"]) {
                0 => {
                    proved += 1;
                    assert_ne!(ran(&["prove", &file, "w.v", "--gates-only"]), 1, "{name}, {at}");
                }
                1 => differ += 1,
                _ => {}
            }
        }
    }
    assert!(differ > 12, "{differ} differ, {proved} proved");
}

/// Instances that are shared over many cycles: back from the outputs the RTL has gates that no program has; cycle by
/// cycle all of them exist.
#[test]
fn a_convolution_over_few_units_is_proved_clock_by_clock() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/network/qonnx/conv2d/model.onnx");
    let ran = |arguments: &[&str]| run(folder.path(), arguments);
    assert_eq!(ran(&["convert", file, "c.json", "-q"]).0, 0);
    assert_eq!(ran(&["c.json", "--verilog", "c.v", "--ii", "16", "--ii-engine", "fold", "-O0", "-q"]).0, 0);
    let (code, said, _) = ran(&["prove", "c.json", "c.v"]);
    assert!(code == 0 && said.contains("unrolled cycle by cycle, as in alir2hdl-check"), "{said}");
    // A state or a choice that is another one.
    let text = fs::read_to_string(folder.path().join("c.v")).expect("the text");
    let at = text.find(" ? ").expect("a choice");
    fs::write(folder.path().join("w.v"), format!("{} ? ~{}", &text[..at], &text[at + 3..])).expect("written");
    let (code, said, _) = ran(&["prove", "c.json", "w.v", "--work", "400000000"]);
    assert_ne!(code, 0, "{said}");
}

/// A clock that hardware meets which takes a sample every clock is met with reuse too, multiplexers and all.
#[test]
fn a_clock_that_is_met_without_reuse_is_met_with_it() {
    let folder = tempfile::tempdir().expect("a folder");
    for &(name, period) in first_or_all(&[("sort_topk", "1.7"), ("conv_small", "1.25")], 1) {
        let file = model(name);
        let clock = ["--clock-period", period, "--device", "ultrascale+", "-O2", "--verilog", "m.v", "-q"];
        let ran = |more: &[&str]| run(folder.path(), &[&[file.as_str()], &clock[..], more].concat());
        assert_eq!(ran(&["--pipeline", "auto"]).0, 0);
        for interval in ["4", "16"] {
            let (code, _, said) = ran(&["--ii", interval, "--ii-engine", "fold"]);
            assert_eq!(code, 0, "{name}, K = {interval}: {said}");
            let (code, said, _) = run(folder.path(), &["prove", &file, "m.v"]);
            assert_eq!(code, 0, "{name}, K = {interval}: {said}");
        }
    }
}

/// `--ii-input held`: no register captures the sample, and the statement says that it has to stay.
#[test]
fn held_inputs_are_read_from_their_ports() {
    let folder = tempfile::tempdir().expect("a folder");
    let ran = |arguments: &[&str]| run(folder.path(), arguments);
    for (name, interval, engine) in
        [("sort_topk", "5", "fold"), ("sort_topk", "8", "mixed"), ("tiny_ops", "40", "serial")]
    {
        let file = model(name);
        let how = ["--ii", interval, "--ii-engine", engine, "--enable", "--reset", "sync", "-q"];
        let held = ["--ii-input", "held"];
        let captured = ran(&[&[file.as_str(), "--verilog", "c.v", "--interface", "c.json"], &how[..]].concat());
        let (code, _, said) = ran(&[
            &[file.as_str(), "--verilog", "h.v", "--vhdl", "h.vhd", "--interface", "h.json"],
            &how[..],
            &held[..],
        ]
        .concat());
        assert_eq!((captured.0, code), (0, 0), "{said}");
        let text = |path: &str| fs::read_to_string(folder.path().join(path)).expect("a file");
        let facts = |path: &str| serde_json::from_str::<Value>(&text(path)).expect("JSON");
        let (before, after) = (facts("c.json"), facts("h.json"));
        assert_eq!(after["input_hold"].as_u64(), interval.parse().ok());
        assert!(before.get("input_hold").is_none());
        let bits = |facts: &Value| facts["register_bits"].as_u64().expect("register bits");
        assert!(bits(&after) < bits(&before), "{name}: {} of {} register bits", bits(&after), bits(&before));
        assert!(after["latency"].as_u64() <= before["latency"].as_u64());
        for hdl in ["h.v", "h.vhd"] {
            let (code, said, _) = ran(&["prove", &file, hdl]);
            let says = format!("if it stays on its ports for {interval} clocks");
            assert!(code == 0 && said.contains(&says), "{said}");
        }
        assert_eq!(ran(&["prove", &file, "h.v", "--ii-input", "held"]).0, 0);
        let (code, said, _) = ran(&["prove", &file, "h.v", "--ii-input", "captured"]);
        assert!(code == 1 && said.contains("must stay for"), "{said}");
        // What reads its inputs at one edge does so too where they stay.
        assert_eq!(ran(&["prove", &file, "c.v", "--ii-input", "held"]).0, 0);
        // RTL that does not say it, or says less, is not the model; nor one that says more than exists.
        let says = format!("must stay for {interval} clocks");
        for other in ["are read", "must stay for 2 clocks", "must stay for 99 clocks"] {
            let wrong = text("h.v").replace(&says, other);
            assert_ne!(wrong, text("h.v"));
            fs::write(folder.path().join("w.v"), wrong).expect("written");
            let (code, said, _) = ran(&["prove", &file, "w.v"]);
            assert_eq!(code, 1, "{name}, {other}: {said}");
        }
    }
    let file = model("sort_topk");
    for with in [&["--register-inputs"][..], &["--wrapper", "axis"]] {
        let (code, _, said) =
            ran(&[&[file.as_str(), "--ii", "4", "--ii-input", "held", "--verilog", "n.v"], with].concat());
        assert!(code == 2 && said.contains("E0816"), "{said}");
        assert!(!folder.path().join("n.v").exists());
    }
}

/// Blocks that were cut out of one block by the rows of their sums may each need some of the other one's:
/// `mixer_particles` every 16 clocks has such.
#[test]
fn plans_of_both_engines_are_built_and_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["mixer_particles", "conv_small", "sort_topk"] {
        for interval in ["2", "5", "16", "33"] {
            let how = ["--ii", interval, "--ii-engine", "mixed", "-O2", "--use-dsp", "no"];
            let (code, said, why) = run(folder.path(), &[&["info", &model(name)], &how[..]].concat());
            assert!(code == 0 && said.contains("units"), "{name}, K = {interval}: {why}");
        }
    }
}

/// `info` shows the core of a wrapper: where beats are read as they come, no registers capture a sample.
#[test]
fn info_shows_what_beats_save() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = model("conv_small");
    let info = |how: &[&str]| {
        let asked = ["info", file.as_str(), "--ii", "144", "--ii-engine", "fold", "--json"];
        run(folder.path(), &[&asked[..], how].concat())
    };
    let beats = ["--wrapper", "axis", "--axis-width", "8"];
    let bits = |how: &[&str]| {
        let (code, said, wrong) = info(how);
        assert_eq!(code, 0, "{wrong}");
        let facts: Value = serde_json::from_str(&said).expect("JSON");
        facts["intervals"][0]["register_bits"].as_u64().expect("bits")
    };
    let (captured, read) = (bits(&beats), bits(&[&beats[..], &["--ii-input", "beats"]].concat()));
    assert_eq!(captured, bits(&[]), "the wrapper is none of the core");
    assert!(2 * read < captured, "{read} {captured}");
    let (code, _, wrong) = info(&["--ii-input", "beats"]);
    assert!(code == 2 && wrong.contains("--wrapper axis"), "{wrong}");
    let (code, _, wrong) = info(&["--axis-width", "8"]);
    assert!(code == 2 && wrong.contains("E0803"), "{wrong}");
}

/// `--ii-input beats`: the core reads its sample beat by beat; its text says so, and the statement is about that.
#[test]
fn beats_go_into_the_core_as_they_come() {
    let folder = tempfile::tempdir().expect("a folder");
    let ran = |arguments: &[&str]| run(folder.path(), arguments);
    let text = |path: &str| fs::read_to_string(folder.path().join(path)).expect("a file");
    let file = model("conv_small");
    // 144 pixels of six bits: four in a beat, or one.
    for &(width, interval, engine) in first_or_all(&[("32", "40", "mixed"), ("8", "144", "fold")], 1) {
        let how = ["--ii", interval, "--ii-engine", engine, "--wrapper", "axis", "--axis-width", width, "-q"];
        let beats = ["--ii-input", "beats", "--vhdl", "b.vhd"];
        let whole = ran(&[&[file.as_str(), "--verilog", "c.v", "--interface", "c.json"], &how[..]].concat());
        let (code, _, said) =
            ran(&[&[file.as_str(), "--verilog", "b.v", "--interface", "b.json"], &how[..], &beats[..]].concat());
        assert_eq!((whole.0, code), (0, 0), "{said}");
        let facts = |path: &str| serde_json::from_str::<Value>(&text(path)).expect("JSON");
        let (before, after) = (facts("c.json"), facts("b.json"));
        let count = 8 * 144 / width.parse::<u64>().expect("a width");
        assert_eq!(after["input_beats"].as_u64(), Some(count));
        assert_eq!(after["inputs"][143]["beat"].as_u64(), Some(count - 1));
        assert_eq!(after["core"]["input_beats"].as_u64(), Some(count));
        assert!(before["core"].get("input_beats").is_none() && before["core"]["inputs"][143].get("beat").is_none());
        let bits = |facts: &Value| facts["register_bits"].as_u64().expect("register bits");
        assert!(bits(&after) < bits(&before), "{} of {} register bits", bits(&after), bits(&before));
        // Small programs of both languages are proved in the tests of the crates.
        for hdl in first_or_all(&["b.vhd", "b.v"], 1) {
            let (code, said, _) = ran(&["prove", &file, hdl, "--top", "b_core", "--ii-input", "beats"]);
            assert!(code == 0 && said.contains(&format!("in {count} beats")), "{said}");
        }
        for (hdl, top, other) in [("b.v", "b_core", "captured"), ("b.v", "b_core", "held"), ("c.v", "c_core", "beats")]
        {
            let (code, said, _) = ran(&["prove", &file, hdl, "--top", top, "--ii-input", other]);
            assert!(code == 1 && said.contains("beats"), "{other}: {said}");
        }
        // RTL that says that an element comes in another beat, or at other bits, is not the model.
        let right = text("b.v");
        let second = if width == "8" { "[5:0] in beat 1," } else { "[11:6] in beat 1," };
        for other in [" in beat 2,", "[3:0] in beat 1,", " in beat 9999,", " in beat,"] {
            let line = second
                .rfind(" in")
                .map(|at| if other.starts_with('[') { other.into() } else { second[..at].to_owned() + other });
            let wrong = right.replacen(second, &line.expect("it says so"), 1);
            assert_ne!(wrong, right);
            fs::write(folder.path().join("w.v"), wrong).expect("written");
            let (code, said, err) = ran(&["prove", &file, "w.v", "--top", "b_core"]);
            // Bits of another width leave the element without a port (E0930); another beat gives another value.
            let expected = if other.starts_with('[') || other.contains("9999") { 2 } else { 1 };
            assert_eq!((code, err.contains("E0930")), (expected, expected == 2), "{other}: {said}{err}");
        }
    }
    for with in [
        &["--ii", "144"][..],
        &["--ii", "143", "--wrapper", "axis", "--axis-width", "8"],
        &["--ii", "144", "--wrapper", "axis"],
        &["--ii", "144", "--wrapper", "axis", "--axis-width", "8", "--packing", "dense"],
        &["--ii", "144", "--wrapper", "axis", "--axis-width", "8", "--ii-engine", "serial"],
        &["--ii", "144", "--wrapper", "axis", "--axis-width", "8", "--register-inputs"],
    ] {
        let (code, _, said) = ran(&[&[file.as_str(), "--ii-input", "beats", "--verilog", "n.v"], with].concat());
        assert!(code == 2 && said.contains("E0816"), "{said}");
        assert!(!folder.path().join("n.v").exists());
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
    for with in [&["--pipeline", "3"][..], &["--assume-intervals"]] {
        refused(&[&["--ii", "4"], with].concat(), "E0816");
    }
    refused(&["--ii", "4", "--clock-period", "0.5", "--device", "ultrascale+"], "E0506");
    refused(&["--ii", "4", "--ready-name", "clk"], "E0602");
    refused(&["--ii", "4", "--valid", "--ready-name", "1x"], "E0601");
    refused(&["--ii", "4", "--reset-data"], "E0801");
    refused(&["--ii", "2,4"], "E0810");
    for command in ["view", "project", "verify", "info"] {
        for (wrong, code) in [("0", "E0810"), ("5000", "E0810"), ("4,", "--ii"), ("a", "--ii")] {
            let out = ["--output", "made"];
            let out = if ["info", "verify"].contains(&command) { &[][..] } else { &out[..] };
            let (exit, _, said) = run(folder.path(), &[&[command, &sorting, "--ii", wrong], out].concat());
            assert!(exit == 2 && said.contains(code), "{command} --ii {wrong}: {said}");
            assert!(!Path::new(&folder.path().join("made")).exists());
        }
    }
    let (exit, _, said) = run(folder.path(), &["info", &sorting, "--ii", "4", "--sweep"]);
    assert!(exit == 2 && said.contains("E0816"), "{said}");
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
fn info_shows_who_shares_and_compares_intervals() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = model("sort_topk");
    let shown = |arguments: &[&str]| {
        let (code, said, wrong) = run(folder.path(), &[&["info", file.as_str()], arguments].concat());
        assert_eq!(code, 0, "{wrong}");
        said
    };
    let said = shown(&["--ii", "8", "--ii-engine", "fold"]);
    assert!(said.contains("latency") && said.contains("at least") && said.contains("mux bits"), "{said}");
    let facts: Value =
        serde_json::from_str(&shown(&["--ii", "1,4,16", "--ii-engine", "fold", "--json"])).expect("JSON");
    let rows = facts["intervals"].as_array().expect("rows");
    assert_eq!(rows.iter().map(|row| row["interval"].as_u64()).collect::<Vec<_>>(), [Some(4), Some(16)]);
    for row in rows {
        let number = |key: &str| row[key].as_u64().expect(key);
        assert!(number("latency") >= number("latency_at_least"), "{row}");
        assert!(number("planned_register_bits") >= number("planned_register_bits_at_least"), "{row}");
        assert_eq!(number("copies"), number("copies_at_least"));
        let groups = row["groups"].as_array().expect("groups");
        let sum = |key: &str| groups.iter().map(|group| group[key].as_u64().expect(key)).sum::<u64>();
        assert_eq!((sum("copies"), sum("instances")), (number("copies"), number("blocks")));
        assert_eq!(sum("multiplexer_bits"), number("multiplexer_bits"));
        let logic = |estimate: &Value| estimate["lut"].as_u64().expect("tables");
        assert!(logic(&row["estimate"]) < logic(&facts["every_clock"]));
    }
}

#[test]
fn the_same_latency_wherever_it_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = model("tiny_ops");
    let options = ["--ii", "4", "--register-outputs", "--register-inputs"];
    let (code, _, said) = run(
        folder.path(),
        &[&[file.as_str(), "--verilog", "s.v", "--interface", "s.json", "--prove"], &options[..]].concat(),
    );
    assert!(code == 0 && said.contains("W0801") && said.contains("--register-inputs"), "{said}");
    let text = fs::read_to_string(folder.path().join("s.json")).expect("the interface");
    let with: Value = serde_json::from_str(&text).expect("JSON");
    let (_, said, _) = run(folder.path(), &["info", &file, "--ii", "4", "--json"]);
    let without: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(with["latency"].as_u64(), without["intervals"][0]["latency"].as_u64().map(|latency| latency + 1));
}

#[test]
fn the_page_and_its_picture_show_units_and_phases() {
    let folder = tempfile::tempdir().expect("a folder");
    let fold = ["--ii-engine", "fold"];
    let file = model("sort_topk");
    let view = [&["view", &file, "--ii", "4", "-o", "p.html", "--svg", "p.svg"][..], &fold].concat();
    let (code, _, said) = run(folder.path(), &view);
    assert!(code == 0 && said.contains("a sample every 4 clocks"), "{said}");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("written");
    assert!(read("p.html").contains("phase 3"));
    let picture = read("p.svg");
    assert!(picture.contains("rows are group.unit") && picture.matches("<rect").count() > 50);
}

#[test]
fn a_project_says_the_interval_and_a_wrapper_the_rate() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = |out: &str, options: &[&str]| {
        let file = model("sort_topk");
        let project = ["project", file.as_str(), "-o", out, "--ii", "6", "--flow", "vivado"];
        let (code, _, said) = run(folder.path(), &[&project[..], options].concat());
        assert_eq!(code, 0, "{said}");
        let read = |name: &str| fs::read_to_string(folder.path().join(out).join(name)).expect("written");
        for file in walk(&folder.path().join(out)) {
            let text = fs::read_to_string(&file).unwrap_or_default();
            assert!(!text.contains("multicycle"), "all paths are one clock: {}", file.display());
        }
        serde_json::from_str::<Value>(&read("metadata.json")).expect("JSON")
    };
    let plain = made("plain", &[]);
    assert_eq!((&plain["initiation_interval"], &plain["ready"]), (&Value::from(6), &Value::from("ready")));
    let axis = made("axis", &["--wrapper", "axis", "--axis-width", "8"]);
    let interval = axis["axis"]["initiation_interval"].as_u64().expect("an interval");
    let beats = |side: &str| axis["axis"][side]["beats"].as_u64().expect("beats");
    assert_eq!(interval, 6.max(beats("s_axis")).max(beats("m_axis")));
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").filter_map(Result::ok).map(|e| e.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

/// Every wrong use ends with code 2 and a message that names what is wrong, and leaves no files.
#[test]
fn a_hundred_wrong_uses() {
    let folder = tempfile::tempdir().expect("a folder");
    let sorting = model("sort_topk");
    let (mut uses, mut tried) = (Vec::<(Vec<&str>, &str)>::new(), 0);
    for wrong in ["0", "4097", "100000", "4294967295", "2,4", "1,1", "8,0", "0,8", "4096,4097"] {
        uses.push((vec!["--ii", wrong], "E0810"));
    }
    for wrong in [
        "",
        " ",
        "-1",
        "-4096",
        "+",
        "1.5",
        "2.0",
        "0x10",
        "1e3",
        "4294967296",
        "99999999999999999999",
        "two",
        "auto8",
        "8 ",
        " 8",
        "8;9",
        ",",
        ",8",
        "8,",
        "8,,16",
        "8,x",
        "\u{664}",
        "NaN",
        "inf",
        "*",
        "--",
        "4/2",
    ] {
        uses.push((vec!["--ii", wrong], "--ii"));
    }
    for stages in ["0", "1", "2", "17"] {
        uses.push((vec!["--ii", "4", "--pipeline", stages], "E0816"));
    }
    uses.push((vec!["--ii", "4", "--assume-intervals"], "E0816"));
    uses.push((vec!["--ii", "4", "--retime", "registers"], "E0804"));
    uses.push((vec!["--ii", "4", "--ii", "5"], "--ii"));
    for name in ["clk", "model_inp", "model_out"] {
        uses.push((vec!["--ii", "4", "--ready-name", name], "E0602"));
    }
    for name in ["1x", "a b", "", "module", "entity", "x-y", "\u{e4}"] {
        uses.push((vec!["--ii", "4", "--ready-name", name], "E0601"));
    }
    for (flag, name) in [("--valid", "valid_in"), ("--valid", "valid_out"), ("--enable", "ce")] {
        uses.push((vec!["--ii", "4", flag, "--ready-name", name], "E0602"));
    }
    uses.push((vec!["--ii", "4", "--reset", "sync", "--ready-name", "rst"], "E0602"));
    uses.push((vec!["--ii", "4", "--reset-data"], "E0801"));
    for period in ["0.1", "0.2", "0.3", "0.5"] {
        uses.push((vec!["--ii", "4", "--clock-period", period, "--device", "ultrascale+"], "E050"));
    }
    for period in ["-1", "NaN", "inf"] {
        uses.push((vec!["--ii", "4", "--clock-period", period, "--device", "ultrascale+"], "E050"));
    }
    uses.push((vec!["--ii", "4", "--max-stage-delay", "0"], "E050"));
    uses.push((vec!["--ii", "4", "--max-stage-delay", "-3"], "E050"));
    uses.push((vec!["--ii", "4", "--max-stage-delay", "NaN"], "E050"));
    uses.push((vec!["--ii", "4", "--max-stage-delay", "2", "--clock-period", "3"], "--clock-period"));
    uses.push((vec!["--ii", "4", "--use-dsp", "perhaps"], "--use-dsp"));
    uses.push((vec!["--ii", "auto"], "E0810"));
    for (flag, value) in [("--max-luts", "100"), ("--max-ffs", "100")] {
        uses.push((vec!["--ii", "4", flag, value], "E0810"));
        uses.push((vec![flag, value], "--ii"));
        uses.push((vec!["--ii", "auto", flag, "few"], flag));
        uses.push((vec!["--ii", "auto", flag, "-1"], flag));
    }
    for share in ["-1", "101", "NaN", "inf", "100"] {
        uses.push((vec!["--ii", "4", "--ii-share", share], "E0815"));
    }
    for latency in ["0", "1", "2"] {
        uses.push((vec!["--ii", "4", "--max-latency", latency], "E0819"));
    }
    uses.push((vec!["--max-latency", "9"], "--ii"));
    uses.push((vec!["--ii-engine", "serial"], "--ii"));
    for engine in ["", "other", "fold,serial", "Serial", "2"] {
        uses.push((vec!["--ii", "4", "--ii-engine", engine], "--ii-engine"));
    }
    uses.push((vec!["--ii-input", "held"], "--ii"));
    for input in ["", "kept", "Held", "1"] {
        uses.push((vec!["--ii", "4", "--ii-input", input], "--ii-input"));
    }
    uses.push((vec!["--ii", "4", "--ii-input", "held", "--register-inputs"], "E0816"));
    uses.push((vec!["--ii", "4", "--ii-input", "held", "--wrapper", "axis"], "E0816"));
    uses.push((vec!["--ii-input", "beats"], "--ii"));
    uses.push((vec!["--ii", "4", "--ii-input", "beats"], "E0816"));
    uses.push((vec!["--ii", "4", "--ii-input", "beats", "--wrapper", "axis"], "E0816"));
    uses.push((vec!["--ii", "4", "--ii-input", "beats", "--wrapper", "axis", "--axis-width", "9"], "E0611"));
    let serial = ["--ii", "32", "--ii-engine", "serial"];
    for (with, code) in [
        (["--max-latency", "2"], "E0819"),
        (["--ii-share", "100"], "E0815"),
        (["--pipeline", "3"], "E0816"),
        (["--ready-name", "clk"], "E0602"),
        (["--retime", "registers"], "E0804"),
        (["--max-stage-delay", "0"], "E050"),
    ] {
        uses.push(([&serial[..], &with].concat(), code));
    }
    uses.push(([&serial[..], &["--clock-period", "0.3", "--device", "ultrascale+"]].concat(), "E050"));
    uses.push((vec!["--ii", "0", "--ii-engine", "serial"], "E0810"));
    uses.push((vec!["--ii-share", "9"], "--ii"));
    uses.push((vec!["--ii", "4", "--passes", "nothing"], "E0301"));
    uses.push((vec!["--ii", "4", "--wrapper", "avalon"], "--wrapper"));
    for with in ["--valid", "--enable"] {
        uses.push((vec!["--ii", "4", "--wrapper", "axis", with], "E0803"));
    }
    uses.push((vec!["--ii", "4", "--wrapper", "axis", "--reset", "sync"], "E0803"));
    uses.push((vec!["--ii", "4", "--wrapper", "axis", "--ready-name", "go"], "E0803"));
    uses.push((vec!["--ii", "4", "--wrapper", "axis", "--ports", "split"], "E0803"));
    for (flag, value) in [("--axis-width", "12"), ("--axis-width", "0"), ("--axis-user", "5000"), ("--axis-depth", "0")]
    {
        uses.push((vec!["--ii", "4", "--wrapper", "axis", flag, value], flag));
    }
    for (text, file) in [("--verilog", "out.v"), ("--vhdl", "out.vhd")] {
        for (options, code) in &uses {
            let arguments = [&[sorting.as_str(), text, file], &options[..]].concat();
            let (exit, _, said) = run(folder.path(), &arguments);
            assert!(exit == 2 && said.contains(code), "{options:?}: {exit} {said}");
            assert!(said.len() < 4000 && said.lines().count() < 30, "{options:?}: {said}");
            assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "{options:?}");
            tried += 1;
        }
    }
    assert!(tried >= 100, "{tried}");
}

#[test]
fn the_smallest_interval_within_a_budget_is_chosen() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = model("sort_topk");
    let facts = |intervals: &str| -> Value {
        let (code, said, wrong) = run(folder.path(), &["info", &file, "--ii", intervals, "--json"]);
        assert_eq!(code, 0, "{wrong}");
        serde_json::from_str(&said).expect("JSON")
    };
    let some = facts("2,3,4,5,6,7,8");
    let luts = |row: &Value| row["estimate"]["lut"].as_u64().expect("tables");
    let rows = some["intervals"].as_array().expect("rows");
    let budget = luts(&rows[4]);
    let first = rows.iter().find(|row| luts(row) <= budget).expect("itself");
    let chosen = ["--ii", "auto", "--max-luts", &budget.to_string()];
    let arguments = [&[file.as_str(), "--verilog", "s.v", "--interface", "s.json", "-q"], &chosen[..]].concat();
    let (code, _, said) = run(folder.path(), &arguments);
    assert_eq!(code, 0, "{said}");
    let text = fs::read_to_string(folder.path().join("s.json")).expect("the interface");
    let made: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(made["initiation_interval"], first["interval"]);
    let (code, said, wrong) = run(folder.path(), &[&["info", file.as_str(), "--json"], &chosen[..]].concat());
    assert_eq!(code, 0, "{wrong}");
    let seen: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(seen["intervals"][0]["interval"], first["interval"]);
    // What everybody has room for takes a sample every clock.
    let (code, _, said) = run(folder.path(), &[&file, "--ii", "auto", "--max-luts", "1000000", "--verilog", "t.v"]);
    assert!(code == 0 && !said.contains("a sample every"), "{said}");
    let tiny = model("tiny_ops");
    let (code, _, said) = run(folder.path(), &[&tiny, "--ii", "auto", "--max-luts", "1", "--verilog", "none.v"]);
    assert!(code == 2 && said.contains("E0818") && !folder.path().join("none.v").exists(), "{said}");
}

/// Every interval that `E0818` lists has the estimate that `info` states for it.
#[test]
fn the_list_of_intervals_is_true() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, budget, options) in [
        ("tiny_ops", "--max-luts 1", ""),
        ("edge_kif", "--max-luts 1 --max-ffs 1", "--ii-engine fold"),
        ("edge_kif", "--max-luts 1", "--register-outputs"),
    ] {
        let file = model(name);
        let run = |command: &str, words: &str| {
            let words: Vec<&str> = [command, file.as_str()].into_iter().chain(words.split_whitespace()).collect();
            run(folder.path(), &words)
        };
        let (code, _, said) = run("generate", &format!("-o none.v --ii auto {budget} {options} --error-format json"));
        assert_eq!(code, 2, "{said}");
        let error: Value = serde_json::from_str(said.lines().next().expect("an error")).expect("JSON");
        assert_eq!((&error["code"], &error["place"]["flag"]), (&"E0818".into(), &"--ii".into()), "{said}");
        let number = |text: &str| text.parse::<u64>().unwrap_or_else(|_| panic!("{text:?} of {said}"));
        let (_, list) = error["message"].as_str().and_then(|text| text.split_once("; ")).expect("a list");
        let listed = list.split("; ").map(|entry| {
            let (interval, estimate) = entry.split_once(": ").expect("an interval");
            let (luts, ffs) = estimate.split_once(" LUT, ").expect("an estimate");
            (number(interval), (number(luts), number(ffs.strip_suffix(" FF").expect("FFs"))))
        });
        let listed: BTreeMap<u64, (u64, u64)> = listed.collect();
        let words: Vec<&str> = error["help"].as_str().expect("a help").split(' ').collect();
        let after = |word: &str| {
            let at = words.iter().position(|found| *found == word).expect("a word") + 1;
            number(words[at].trim_end_matches(':'))
        };
        let (smallest, best) = (after("is"), after("--ii"));
        let intervals: BTreeSet<u64> = listed.keys().copied().chain([best]).filter(|&interval| interval > 1).collect();
        let intervals: Vec<String> = intervals.iter().map(u64::to_string).collect();
        let (code, said, wrong) = run("info", &format!("--ii {} {options} --json", intervals.join(",")));
        assert_eq!(code, 0, "{wrong}");
        let facts: Value = serde_json::from_str(&said).expect("JSON");
        let figures = |estimate: &Value| {
            let [lut, ff] = ["lut", "ff"].map(|key| estimate[key].as_u64().expect("a number"));
            (lut, ff)
        };
        let rows = facts["intervals"].as_array().expect("rows").iter();
        let mut stated: BTreeMap<u64, (u64, u64)> =
            rows.map(|row| (row["interval"].as_u64().expect("a number"), figures(&row["estimate"]))).collect();
        stated.insert(1, figures(&facts["every_clock"]));
        assert!(listed.len() >= 10, "{list}");
        for (interval, figures) in &listed {
            assert_eq!(stated.get(interval), Some(figures), "{name} {options}: interval {interval}");
        }
        assert!(stated[&best].0 == smallest && listed.values().all(|(luts, _)| *luts >= smallest), "{name} {options}");
    }
}

#[test]
fn every_model_has_a_plan() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in [
        "anomaly_ae",
        "bit_logic",
        "conv_small",
        "edge_kif",
        "jet_mlp",
        "lut_heavy",
        "mixer_particles",
        "mlp_8bit",
        "sort_topk",
        "tiny_ops",
        "var_mul",
        "wide_acc",
    ] {
        for (interval, engine) in [("3", "fold"), ("18", "auto")] {
            let how = ["--ii", interval, "--ii-engine", engine, "--verilog", "m.v", "-q"];
            let (code, _, said) = run(folder.path(), &[&[model(name).as_str()], &how[..]].concat());
            assert_eq!(code, 0, "{name} --ii {interval}: {said}");
        }
    }
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
fn info_and_view_show_streams() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = model("jet_mlp");
    let serial = ["--ii", "16", "--ii-engine", "serial"];
    let (code, said, wrong) = run(folder.path(), &[&["info", file.as_str()], &serial[..]].concat());
    assert!(code == 0 && said.contains("full adders") && !wrong.contains("W0810"), "{said}{wrong}");
    let (_, said, _) = run(folder.path(), &[&["info", file.as_str(), "--json"], &serial[..]].concat());
    let facts: Value = serde_json::from_str(&said).expect("JSON");
    let row = &facts["intervals"][0];
    let number = |key: &str| row[key].as_u64().expect(key);
    assert_eq!(row["engine"], "serial");
    let planned = ["captured_bits", "result_bits", "delay_bits", "whole_bits", "streams", "full_adders"];
    assert!(planned.iter().map(|key| number(key)).sum::<u64>() <= number("register_bits"), "{row}");
    assert!(row["estimate"]["lut"].as_u64() < facts["every_clock"]["lut"].as_u64().map(|all| all / 2), "{facts}");
    let view = [&["view", file.as_str(), "-o", "p.html", "--svg", "p.svg"][..], &serial].concat();
    let (code, _, said) = run(folder.path(), &view);
    assert!(code == 0 && said.contains("full adders"), "{said}");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("written");
    assert!(read("p.html").contains("its bits are shown in clocks"));
    assert!(read("p.svg").contains("rows are streams"));
}

#[test]
fn parts_that_stand_alone_go_through_bit_by_bit_beside_shared_units() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = model("conv_small");
    let (code, said, _) = run(folder.path(), &["info", &file, "--ii", "25", "--json"]);
    assert_eq!(code, 0);
    let facts: Value = serde_json::from_str(&said).expect("JSON");
    let row = &facts["intervals"][0];
    assert_eq!(row["engine"], "mixed", "{row}");
    assert_eq!(row["regions"].as_array().map(Vec::len), Some(1), "{row}");
    let (code, said, _) = run(folder.path(), &["info", &file, "--ii", "25", "--ii-engine", "fold", "--json"]);
    assert_eq!(code, 0);
    let fold: Value = serde_json::from_str(&said).expect("JSON");
    let tables = |facts: &Value| facts["intervals"][0]["estimate"]["lut"].as_u64().expect("tables");
    assert!(tables(&facts) < tables(&fold), "{facts}{fold}");
    let (_, said, _) = run(folder.path(), &["info", &file, "--ii", "25", "--ii-engine", "mixed"]);
    assert!(said.contains("region 0 goes through bit by bit, one bit a clock: "), "{said}");
    let view = ["view", &file, "--ii", "25", "-o", "p.html", "--svg", "p.svg"];
    let (code, _, said) = run(folder.path(), &view);
    assert!(code == 0 && said.contains("operations as bit-serial arithmetic"), "{said}");
    let page = fs::read_to_string(folder.path().join("p.html")).expect("written");
    assert!(page.contains("region 0, bit by bit in clocks"));
    // RTL by itself is proved too: its header comment records how its programs are built.
    let small = model("sort_topk");
    let how = ["--ii", "8", "--ii-engine", "mixed", "-O2"];
    let (code, _, said) =
        run(folder.path(), &[&[small.as_str()], &how[..], &["--verilog", "s.v", "--interface", "s.json"]].concat());
    assert_eq!(code, 0, "{said}");
    let interface = fs::read_to_string(folder.path().join("s.json")).expect("written");
    let interface: Value = serde_json::from_str(&interface).expect("JSON");
    assert_eq!(interface["reuse"]["engine"], "mixed");
    assert!(interface["reuse"]["regions"].as_array().is_some_and(|all| !all.is_empty()), "{interface}");
    let (code, said, _) = run(folder.path(), &["prove", &small, "s.v"]);
    assert!(code == 0 && said.contains("a sample every 8 clocks"), "{said}");
    let (code, said, wrong) =
        run(folder.path(), &[&["verify", &small], &how[..], &["--vectors", "40", "--sim", "iverilog"]].concat());
    assert_eq!(code, 0, "{said}{wrong}");
}

#[test]
fn by_default_the_engine_is_the_one_that_takes_fewer_tables() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut chosen = Vec::new();
    for (name, interval) in [("jet_mlp", "16"), ("sort_topk", "4"), ("var_mul", "8"), ("wide_acc", "3")] {
        let file = model(name);
        let made = |engine: &[&str]| {
            let (code, said, wrong) =
                run(folder.path(), &[&["info", &file, "--ii", interval, "--json"], engine].concat());
            (code == 0).then(|| serde_json::from_str::<Value>(&said).expect(&wrong)["intervals"][0].take())
        };
        let tables = |row: &Value| row["estimate"]["lut"].as_u64().expect("tables");
        let auto = made(&[]).expect("auto");
        let of = |engine: &str| made(&["--ii-engine", engine]).map(|row| tables(&row));
        let pure = ["fold", "serial"].into_iter().filter_map(of).min().expect("an engine");
        // Both together only where that saves a twentieth, and no values are multiplied.
        let both = of("mixed").filter(|mixed| name != "var_mul" && 21 * mixed < 20 * pure);
        assert_eq!(tables(&auto), both.unwrap_or(pure), "{name}");
        chosen.push(auto["engine"].as_str().expect("an engine").to_owned());
    }
    assert!(["fold", "serial", "mixed"].iter().all(|engine| chosen.iter().any(|e| e == engine)), "{chosen:?}");
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
    let from = said.split("use --ii ").nth(1).and_then(|t| t.split(' ').next()).expect("the smallest").to_owned();
    let less = (from.parse::<u32>().expect("a number") - 1).to_string();
    assert_eq!(write(&less).0, 2);
    assert_eq!(write(&from).0, 0);
    let (code, _, said) = run(folder.path(), &[&file, "--ii-engine", "serial", "--verilog", "k.v"]);
    assert!(code == 2 && said.contains("--ii"), "{said}");
}

/// Comments do not number the inputs of the shared logic, which the model does not have, and the header lists units
/// that several blocks share.
#[test]
fn comments_are_about_the_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = ["-o", "v.v", "--ii", "4", "--valid", "--enable", "--reset", "sync", "-q"];
    assert_eq!(run(folder.path(), &[&[model("var_mul").as_str()], &options[..]].concat()).0, 0);
    let rtl = fs::read_to_string(folder.path().join("v.v")).expect("RTL");
    assert!(!rtl.contains("  // input 1") && rtl.contains("  // input, s"), "inputs have numbers");
    // The heading names the signal of the condition in the source, and its factors.
    let heading = rtl.lines().find(|line| line.ends_with(" (phase_is_0 and ce) is 1")).expect("a heading");
    let enable = heading.split_once(", loaded while ").and_then(|(_, rest)| rest.split(' ').next()).expect("a signal");
    assert!(rtl.contains(&format!("if ({enable})")), "{heading}");
    assert!(!rtl.contains("1 words") && !rtl.contains("of 1 bits"), "plurals");
    let units: Vec<&str> = rtl.lines().filter(|line| line.starts_with("//   block ")).collect();
    assert!(!units.is_empty() && units.iter().all(|line| line.contains(", ") && line.matches(" v").count() > 1));
    assert!(rtl.lines().any(|line| line.starts_with("// not shared: ") && line.ends_with(" blocks")));
}
