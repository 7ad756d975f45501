//! Tests of pipeline options on the command line and in `info`.

use crate::common::{model, run};
use serde_json::Value;
use std::fs;
use std::path::Path;

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
    assert_eq!(written(&["--clock-period", &delay.to_string(), "--delay-unit", "1"]), by_delay);
    // One stage fewer would not do.
    let fewer = by_delay["latency"].as_u64().unwrap() - 1;
    let unit = ["--delay-unit", "1", "--pipeline", &fewer.to_string()];
    let said = refused(&[&["--clock-period", &delay.to_string()][..], &unit].concat());
    assert!(said.contains("E0504") && said.contains("--clock-period"), "{said}");
}

#[test]
fn a_clock_period_is_a_time_with_all_other_options() {
    let by_period = written(&["--clock-period", "4"]);
    assert_eq!(by_period, written(&["--clock-period", "4", "--pipeline", "auto"]));
    for same in [["--clock-period", "4ns"], ["--clock-period", "250MHz"], ["--freq", "250"], ["--freq", "0.25GHz"]] {
        assert_eq!(written(&same), by_period, "{same:?}");
    }
    assert!(longest(&by_period) < 4.0);
    // Units of the latency fields are another bound.
    assert_ne!(written(&["--max-stage-delay", "4"]), by_period);
    let said = |options: &[&str]| {
        let folder = tempfile::tempdir().expect("a folder");
        let sorting = model("sort_topk");
        let (code, _, said) = run(folder.path(), &[&[sorting.as_str(), "-o", "s.v"], options].concat());
        assert_eq!(code, 0, "{said}");
        said
    };
    for (options, note) in [
        (&["--freq", "250"][..], Some("take the times of generic")),
        (&["--clock-period", "4"], Some("take the times of generic")),
        (&["--clock-period", "40", "--delay-unit", "0.5"], Some("counts as 0.5 ns")),
        (&["--clock-period", "40", "--delay-model", "latency-fields"], Some("counts as 1 ns")),
        (&["--freq", "250", "--device", "xcku5p"], None),
        (&["--max-stage-delay", "4"], None),
    ] {
        let said = said(options);
        match note {
            Some(note) => assert!(said.contains("note[N0803]") && said.contains(note), "{options:?}: {said}"),
            None => assert!(!said.contains("N0803"), "{options:?}: {said}"),
        }
    }
    // Delays that are no times of the device that is named.
    for (delays, unit, is_warned) in [
        ("width", None, true),
        ("latency-fields", None, true),
        ("latency-fields", Some("0.5"), false),
        ("device", None, false),
    ] {
        let unit: Vec<&str> = unit.into_iter().flat_map(|unit| ["--delay-unit", unit]).collect();
        for clock in [["--clock-period", "40"], ["--freq", "25"]] {
            let said = said(&[&clock[..], &["--device", "7series", "--delay-model", delays], &unit].concat());
            let warning = format!("warning[W0811] at {}", clock[0]);
            assert_eq!(said.contains(&warning), is_warned, "{delays}: {said}");
        }
    }
    for wrong in [["--freq", "0"], ["--freq", "fast"], ["--clock-period", "5s"]] {
        assert!(refused(&wrong).contains("invalid value"), "{wrong:?}");
    }
    assert!(refused(&["--freq", "200", "--clock-period", "5"]).contains("cannot be used with"));
}

#[test]
fn stages_that_compute_nothing_are_warned_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let tiny = model("tiny_ops");
    let said = |arguments: &[&str]| {
        let (code, _, said) = run(folder.path(), &[arguments, &[tiny.as_str()]].concat());
        assert_eq!(code, 0, "{said}");
        said
    };
    let warned = said(&["generate", "-o", "t.v", "--stages", "500"]);
    assert!(warned.contains("warning[W0804]") && warned.contains(" of 500 stages compute nothing"), "{warned}");
    let enough = warned.split("--stages ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a number");
    let fits = said(&["generate", "-o", "t.v", "--stages", enough]);
    assert!(!fits.contains("W0804"), "{fits}");
    let longest =
        |said: &str| said.split("critical stage delay ").nth(1).map(|s| s.split(',').next().unwrap().to_owned());
    let fits = fits.replace(" delay ", " critical stage delay ");
    assert!(longest(&fits).is_some() && longest(&fits) == longest(&warned), "{fits}{warned}");
    for look in [&["info", "--stages", "500"][..], &["view", "--stages", "500", "-o", "v.html"]] {
        assert!(said(look).contains("W0804"), "{look:?}");
    }
    assert!(!said(&["generate", "-o", "t.v"]).contains("W0804"));
    // Quantisations are wiring: only the last stage computes something. 12 of the register stages hold 15 bits each.
    let warned = said(&["generate", "-o", "t.v", "--stages", "13"]);
    assert!(warned.contains("12 of 13 stages compute nothing: they delay the results, with 180 register bits"));
    assert!(warned.contains("--stages 1 has results 12 clocks earlier"), "{warned}");
}

/// The stages that a warning suggests keep the period that was required; stages that the period needs have no warning.
#[test]
fn stages_that_the_clock_needs_are_not_warned_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut suggested = 0;
    for (name, delay, period) in [
        ("tiny_ops", "--input-delay", "1.9"),
        ("tiny_ops", "--input-delay", "2"),
        ("tiny_ops", "--output-delay", "2"),
        ("var_mul", "--input-delay", "3"),
    ] {
        let model = model(name);
        let clock = ["--device", "xcku5p", "-O2", "--use-dsp", "no", delay, "0.8", "--clock-period", period];
        let fixed = [&["generate", model.as_str(), "-o", "m.v"][..], &clock].concat();
        let (code, _, said) = run(folder.path(), &fixed);
        assert!(code == 0 && !said.contains("W0804"), "{name} {delay}: {said}");
        let (code, _, said) = run(folder.path(), &[&fixed[..], &["--stages", "24"]].concat());
        assert!(code == 0 && said.contains("W0804"), "{name} {delay}: {said}");
        if let Some(fewer) = said.split("--stages ").nth(1).and_then(|rest| rest.split(' ').next()) {
            let (code, _, said) = run(folder.path(), &[&fixed[..], &["--stages", fewer]].concat());
            assert_eq!(code, 0, "{name} {delay} --stages {fewer}: {said}");
            suggested += 1;
        }
    }
    assert!(suggested > 0);
}

#[test]
fn a_project_meets_its_clock_unless_stages_are_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let sorting = model("sort_topk");
    let project = |options: &[&str]| {
        let words = [&["project", sorting.as_str(), "-o", "p", "--vectors", "5"], options].concat();
        let (code, _, said) = run(folder.path(), &words);
        assert_eq!(code, 0, "{said}");
        let text = fs::read_to_string(folder.path().join("p/metadata.json")).expect("facts");
        let facts: Value = serde_json::from_str(&text).expect("JSON");
        (facts["latency"].as_u64().expect("a latency"), facts["project"]["parts"].clone(), said)
    };
    let (latency, _, said) = project(&[]);
    assert!(latency > 0 && said.contains("note[N0803]") && said.contains(" at 5 ns, latency "), "{said}");
    assert_eq!(project(&["--pipeline", "auto", "--clock-period", "5"]).0, latency);
    assert_eq!(project(&["--pipeline", "auto"]).0, latency);
    assert!(project(&["--freq", "400"]).0 > latency);
    for (said, expected) in [(&["--stages", "0"][..], 0), (&["--stages", "2"], 2), (&["--max-stage-delay", "100"], 1)] {
        assert_eq!(project(said).0, expected, "{said:?}");
    }
    // A family, a part, one of each vendor.
    for (device, flow, part) in [
        ("xcku5p", "vivado", "xcku5p-ffvb676-2-e"),
        ("7series", "vivado", "xc7k325tffg900-2"),
        ("xc7a35tcpg236-1", "vivado", "xc7a35tcpg236-1"),
        ("agilex", "quartus", "AGFB014R24A2E2V"),
    ] {
        for option in ["--device", "--part"] {
            let (_, parts, said) = project(&[option, device, "--flow", flow]);
            assert!(parts[flow] == part && !said.contains("no device") && said.contains(part), "{parts} {said}");
            assert!(
                said.contains("note[N0803] at --clock-period: no clock is given: the folder is for 5 ns"),
                "{said}"
            );
        }
    }
    let (_, _, said) = project(&["--device", "xcku5p", "--clock-period", "5"]);
    assert!(!said.contains("N0803"), "{said}");
    let (_, _, said) = project(&["--device", "lfe5u-25f", "--flow", "yosys", "--stages", "2"]);
    assert!(said.contains("for lfe5u-25f (--25k --package CABGA381 --speed 6) at 5 ns"), "{said}");
    let (_, _, said) = project(&["--device", "LFE5U-25F-7BG256C", "--flow", "yosys", "--stages", "2"]);
    assert!(said.contains("for LFE5U-25F-7BG256C at 5 ns"), "{said}");
    let (_, parts, _) = project(&["--device", "ecp5,xcku5p", "--flow", "vivado,yosys"]);
    assert_eq!((&parts["vivado"], &parts["yosys"]), (&"xcku5p-ffvb676-2-e".into(), &"LFE5U-25F".into()));
    let (code, _, said) =
        run(folder.path(), &["project", &sorting, "-o", "q", "--device", "xc7a35tcpg236-1,xcku5p-ffvb676-2-e"]);
    assert!(code == 2 && said.contains("of one vendor"), "{said}");
    // A board says what its streams add; the latency of the folder is theirs.
    let small = ["project", &model("bit_logic"), "-o", "b", "--flow", "vivado", "--board", "pynq-z2", "--freq", "260"];
    let (code, _, said) = run(folder.path(), &small);
    assert!(code == 0 && said.contains("[W0808] at --freq") && said.contains("--freq 250 or less"), "{said}");
    let (latency, _, said) = project(&["--flow", "vivado", "--board", "kv260"]);
    assert!(!said.contains("W0808"), "{said}");
    assert!(said.contains(&format!("latency {latency} with the AXI4-Stream wrapper, {} of", latency - 2)), "{said}");
}

#[test]
fn impossible_periods_name_the_operation_and_what_would_do() {
    let said = refused(&["--clock-period", "0.001", "--delay-unit", "2"]);
    assert!(said.contains("E0503") && said.contains("--clock-period"), "{said}");
    let least = said.split("require --clock-period ").nth(1).and_then(|s| s.split(' ').next()).expect("a period");
    let possible = written(&["--clock-period", least, "--delay-unit", "2"]);
    assert!(2.0 * longest(&possible) <= least.parse::<f64>().unwrap() * (1.0 + 1e-9));
    let name = said.split("--clock-period: v").nth(1).and_then(|s| s.split(' ').next()).expect("an operation");
    assert!(name.parse::<u32>().is_ok() && said.contains(" ns, more than a stage's 0.001 ns"), "{said}");
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
fn the_objective_exchanges_delay_for_registers() {
    let named = written(&["--pipeline", "4", "--pipeline-objective", "registers"]);
    let short = written(&["--pipeline", "4"]);
    assert!(named["register_bits"].as_u64() < short["register_bits"].as_u64());
    assert!(longest(&named) > longest(&short) && longest(&named) <= 1.5 * longest(&short) * (1.0 + 1e-9));
}

#[test]
fn what_would_be_ignored_is_refused() {
    for bound in [["--max-stage-delay", "5"], ["--clock-period", "5"]] {
        let said = refused(&[&["--pipeline-objective", "registers"][..], &bound[..]].concat());
        assert!(said.contains("cannot be used with"), "{said}");
    }
    let said = refused(&["--pipeline", "10001"]);
    assert!(said.contains("E0502") && said.contains("10000 or fewer"), "{said}");
}

#[test]
fn the_summary_says_what_is_registered() {
    let folder = tempfile::tempdir().expect("a folder");
    let sorting = model("sort_topk");
    let said = |options: &[&str]| {
        let (code, _, stderr) = run(folder.path(), &[&[sorting.as_str(), "--verilog", "s.v"], options].concat());
        assert_eq!(code, 0, "{stderr}");
        let text = fs::read_to_string(folder.path().join("s.v")).expect("the text");
        let line = text.lines().find(|line| line.contains("registered")).unwrap_or_default();
        (stderr, line.to_owned())
    };
    let (summary, line) = said(&["--register-outputs"]);
    assert!(summary.contains(" outputs registered, delay"), "{summary}");
    assert_eq!(line, "// combinational, outputs registered");
    let (summary, _) = said(&["--register-outputs", "--register-inputs"]);
    assert!(summary.contains(" inputs and outputs registered, delay"), "{summary}");
    let (summary, line) = said(&["--register-inputs"]);
    assert!(summary.contains(" inputs registered, delay"), "{summary}");
    assert_eq!(line, "// combinational, inputs registered");
}

fn info(folder: &Path, name: &str, options: &[&str]) -> Value {
    let model = model(name);
    let (code, text, stderr) = run(folder, &[&["info", model.as_str(), "--json"], options].concat());
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn info_accounts_for_every_register_bit_and_every_stage() {
    let folder = tempfile::tempdir().unwrap();
    for (name, stages) in [("sort_topk", 4), ("jet_mlp", 3), ("tiny_ops", 2)] {
        let stages = stages.to_string();
        let ends = ["--pipeline", &stages, "--register-inputs", "--register-outputs", "--valid"];
        let pipeline = &info(folder.path(), name, &ends)["pipeline"];
        let bits = |of: &Value, field: &str| of[field].as_u64().unwrap();
        let mut total = bits(pipeline, "input_register_bits") + bits(pipeline, "output_register_bits");
        for stage in pipeline["stages"].as_array().unwrap() {
            let origin = stage["registers"].as_object().unwrap();
            let sum: u64 = origin.values().map(|bits| bits.as_u64().unwrap()).sum();
            assert_eq!((sum, origin["valid"].as_u64()), (bits(stage, "register_bits"), Some(1)), "{name}");
            total += sum;
            let path: f64 = stage["path"].as_array().unwrap().iter().map(|p| p["delay"].as_f64().unwrap()).sum();
            assert!((path - stage["delay"].as_f64().unwrap()).abs() < 1e-9, "{name}");
        }
        assert_eq!(total, bits(pipeline, "register_bits"), "{name}");
        let flags = stages.parse::<u64>().unwrap() + 2;
        assert_eq!(bits(pipeline, "register_bits_at_least") + flags, total, "{name}: not the fewest");
    }
}

#[test]
fn a_sweep_is_a_table_and_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = info(folder.path(), "sort_topk", &["--sweep=5", "--svg", "s.svg", "--register-inputs"]);
    let rows = sweep["sweep"].as_array().unwrap();
    assert_eq!(rows.len(), 5);
    for (row, stages) in rows.iter().zip(1..) {
        assert_eq!((row["stages"].as_u64(), row["latency"].as_u64()), (Some(stages), Some(stages + 1)));
        let single = written(&["--pipeline", &stages.to_string(), "--register-inputs"]);
        assert_eq!(row["register_bits"], single["register_bits"]);
        assert_eq!(row["stage_delay"].as_f64(), Some(longest(&single)));
    }
    let delays: Vec<f64> = rows.iter().map(|row| row["stage_delay"].as_f64().unwrap()).collect();
    assert!(delays.windows(2).all(|pair| pair[1] <= pair[0]), "{delays:?}");
    let drawn = fs::read_to_string(folder.path().join("s.svg")).unwrap();
    assert!(drawn.starts_with("<svg ") && drawn.contains("model.json.gz"), "{drawn}");
    let sorting = model("sort_topk");
    let (_, text, _) = run(folder.path(), &["info", &sorting, "--sweep", "--effort", "fast"]);
    assert_eq!(text.lines().skip_while(|line| !line.starts_with("stages")).count(), 13, "{text}");
    let (code, _, said) = run(folder.path(), &["info", &sorting, "--sweep", "--pipeline", "3"]);
    assert!(code == 2 && said.contains("cannot be used with"), "{said}");
}
