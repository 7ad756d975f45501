//! `alir2hdl prove` as a user meets it.

use alir_testing::is_nightly;
use alir2hdl::formats;
use alir2hdl::ir::{Builder, Op, Output, Table};
use alir2hdl::num::{Code, Interval};
use assert_cmd::Command;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models").join(name).join("model.json.gz")
}

/// The exit code, and everything that was said.
fn alir2hdl(dir: &TempDir, args: &[&str]) -> (i32, String) {
    let output = Command::cargo_bin("alir2hdl").unwrap().current_dir(dir.path()).args(args).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8_lossy(&said).into_owned())
}

/// Writes both languages with these options and checks each with those.
#[track_caller]
fn written_and_proved(dir: &TempDir, model: &str, write: &str, prove: &str) -> Vec<(i32, String)> {
    let model = path(model);
    let model = model.to_str().unwrap();
    let mut args = vec![model];
    args.extend("--verilog m.v --vhdl m.vhd --top dut --effort fast".split(' '));
    args.extend(write.split_whitespace());
    let (code, said) = alir2hdl(dir, &args);
    assert_eq!(code, 0, "{args:?}: {said}");
    ["m.v", "m.vhd"]
        .map(|file| {
            let mut args = vec!["prove", model, file];
            args.extend(prove.split_whitespace());
            alir2hdl(dir, &args)
        })
        .into()
}

#[test]
fn control_ports_are_found_under_every_name() {
    let dir = tempfile::tempdir().unwrap();
    let controls = "--pipeline 2 --valid --enable --reset-data";
    for (names, prove) in [
        ("--reset sync", ""),
        ("--reset sync --port-style plain", ""),
        ("--reset async --port-style ap", ""),
        ("--reset async --port-style ap --reset-polarity low", "--port-style ap --reset-polarity low"),
        ("--reset sync --port-style ap --reset-polarity low", "--port-style ap"),
        ("--reset sync --reset-polarity low", "--reset-polarity low"),
        (
            "--reset sync --clk-name tick --rst-name chip_net --ce-name go --valid-in-name there --valid-out-name here",
            "--clk-name tick --rst-name chip_net --ce-name go --valid-in-name there --valid-out-name here",
        ),
        ("--reset async --rst-name clear --reset-polarity low", "--rst-name clear --reset-polarity low"),
    ] {
        for (code, said) in written_and_proved(&dir, "tiny_ops", &format!("{controls} {names}"), prove) {
            assert_eq!(code, 0, "{names}: {said}");
            let kind = if names.contains("async") { "is an asynchronous reset" } else { "is a synchronous reset" };
            assert!(said.starts_with("proved") && said.contains(kind), "{names}: {said}");
            assert!(said.contains("valid_out is valid_in of 2 clocks before"), "{names}: {said}");
        }
    }
}

#[test]
fn a_reset_of_the_other_polarity_differs() {
    let dir = tempfile::tempdir().unwrap();
    let write = "--pipeline 2 --valid --reset sync --rst-name clear";
    for (code, said) in written_and_proved(&dir, "tiny_ops", write, "--rst-name clear --reset-polarity low") {
        assert_eq!(code, 1, "{said}");
    }
}

#[test]
fn ports_that_nobody_named_are_no_control_ports() {
    let dir = tempfile::tempdir().unwrap();
    let write = "--pipeline 1 --enable --ce-name go";
    for (code, said) in written_and_proved(&dir, "tiny_ops", write, "") {
        assert!(code == 2 && said.contains("go (1 bit)"), "{said}");
    }
}

#[test]
fn what_is_proved_as_it_is_written_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let options = "--pipeline 3 --valid --enable --reset async --reset-polarity low --rst-name clear --clk-name tick";
    for model in ["tiny_ops", "edge_kif"] {
        for level in ["-O0 --prove", "-O1 --ports split --prove"] {
            for (code, said) in written_and_proved(
                &dir,
                model,
                &format!("{options} {level}"),
                "--rst-name clear --clk-name tick --reset-polarity low",
            ) {
                assert!(code == 0 && said.starts_with("proved"), "{model} {level}: {said}");
            }
        }
    }
}

#[test]
fn what_was_proved_before_it_is_written_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let (model, machine) = (path("tiny_ops"), path("fsm/biquad").with_file_name("fsm.json.gz"));
    let [model, machine] = [&model, &machine].map(|path| path.to_str().unwrap());
    let words = [model, "--verilog", "m.v", "--vhdl", "m.vhd", "--pipeline", "2"];
    let (code, said) = alir2hdl(&dir, &[&words, ["--prove"].as_slice()].concat());
    for file in ["m.v", "m.vhd"] {
        assert!(
            code == 0 && said.contains(&format!("proved: {file} is equal to the model for every input (")),
            "{said}"
        );
    }
    let (code, said) = alir2hdl(&dir, &[machine, "--verilog", "b.v", "--prove"]);
    assert!(
        code == 0 && said.contains("proved: b.v is equal to the machine for every input, in every cycle ("),
        "{said}"
    );
    let (_, said) = alir2hdl(&dir, &words);
    assert!(!said.contains("proved"), "{said}");
    assert_eq!(alir2hdl(&dir, &[&words, ["--prove", "--quiet"].as_slice()].concat()), (0, String::new()));
}

#[test]
fn the_pipeline_of_a_wrapper_is_proved() {
    let dir = tempfile::tempdir().unwrap();
    let model = path("tiny_ops");
    let model = model.to_str().unwrap();
    for flow in ["fifo", "stall"] {
        let files =
            ["--verilog", "w.v", "--vhdl", "w.vhd", "--pipeline", "2", "--wrapper", "axis", "--axis-flow", flow];
        let (code, said) = alir2hdl(&dir, &[&[model, "--prove"], files.as_slice()].concat());
        assert!(code == 0 && said.contains("the pipeline inside the wrapper"), "{said}");
        for file in ["w.v", "w.vhd"] {
            let (code, said) = alir2hdl(&dir, &["prove", model, file, "--top", "w_core"]);
            assert!(code == 0 && said.contains("proved"), "{said}");
            // Without a name the module with the ports of the model is taken, as from several files.
            let (code, said) = alir2hdl(&dir, &["prove", model, file, "--certificate", "proof"]);
            let note = "module w_core was compared; module w has other ports and is not part of the proof";
            assert!(code == 0 && said.contains("proved") && said.contains(note), "{said}");
            std::fs::remove_dir_all(dir.path().join("proof")).unwrap();
            let (code, said) = alir2hdl(&dir, &["prove", model, file, "--top", "w"]);
            assert!(code == 2 && said.contains("E0930") && said.contains("AXI4-Stream wrapper: --top"), "{said}");
        }
    }
}

#[test]
fn certificates_hold_a_graph_that_can_be_read_and_the_report() {
    let dir = tempfile::tempdir().unwrap();
    let machine = path("fsm/biquad").with_file_name("fsm.json.gz");
    for (model, graph) in [(path("tiny_ops"), "model.aig"), (machine, "product.aig")] {
        let model = model.to_str().unwrap();
        let (code, said) = alir2hdl(&dir, &[model, "--verilog", "m.v", "--top", "dut"]);
        assert_eq!(code, 0, "{said}");
        let (code, said) = alir2hdl(&dir, &["prove", model, "m.v", "--certificate", "proof"]);
        assert_eq!(code, 0, "{said}");
        let bytes = std::fs::read(dir.path().join("proof").join(graph)).unwrap();
        let read = flussab_aiger::binary::Parser::<u32>::from_read(&bytes[..], Default::default()).unwrap();
        let read = read.parse().unwrap();
        assert!(!read.outputs.is_empty() && !read.and_gates.is_empty(), "{graph} says nothing");
        let report = std::fs::read(dir.path().join("proof/report.json")).unwrap();
        let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
        assert!(report.to_string().contains("proved"), "{report}");
        std::fs::remove_dir_all(dir.path().join("proof")).unwrap();
    }
}

#[test]
fn a_file_that_assumes_intervals_says_so_and_is_not_proved() {
    let dir = tempfile::tempdir().unwrap();
    for (code, said) in written_and_proved(&dir, "lut_heavy", "--assume-intervals --pipeline 2", "") {
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("E0907") && said.contains("verify --assume-intervals"), "{said}");
    }
    let text = std::fs::read_to_string(dir.path().join("m.v")).unwrap();
    assert!(text.contains("// assumes that every input stays in its declared interval:"), "{text}");
    assert!(text.contains("//   inp[0]: codes -512 to 511, in steps of 2^-7"), "{text}");
    let model = path("lut_heavy");
    let args = [model.to_str().unwrap(), "--verilog", "n.v", "--assume-intervals", "--prove"];
    let (code, said) = alir2hdl(&dir, &args);
    assert!(code == 2 && said.contains("E0303") && !dir.path().join("n.v").exists(), "{said}");
}

/// Widths beyond every machine word, by gates alone: proved, refuted where a bit is another, undecided without work.
#[test]
fn widths_of_thousands_of_bits_are_no_limit_for_gates() {
    let dir = tempfile::tempdir().unwrap();
    let wide = |min: i32, max: i32, step: i32| [-2f64.powi(min), 2f64.powi(max), 2f64.powi(step)];
    let (a, b) = (wide(1000, 999, -500), wide(60, 59, -20));
    let sum = wide(1001, 1000, -500);
    let op = |addr: &[u32], opcode: i32, data: &[i64], interval: [f64; 3]| {
        serde_json::json!([addr, opcode, data, interval, 0.0, 1.0])
    };
    let ops = [
        op(&[], -1, &[0], a),
        op(&[], -1, &[1], b),
        op(&[], -1, &[2], b),
        op(&[0, 1], 0, &[0], sum),
        op(&[0], 2, &[], [0.0, 2f64.powi(999), 2f64.powi(-500)]),
        op(&[1, 2], 7, &[], wide(119, 120, -40)),
        op(&[0, 3], 10, &[0, 0], sum),
    ];
    let model = serde_json::json!([[3, 4], [0, 0, 0], [3, 4, 5, 6], [0, 0, 0, 0], [0, 0, 0, 0], ops, -1, -1, null]);
    let file = serde_json::json!({ "meta": "ALIRModel", "spec_version": 4, "model": model });
    std::fs::write(dir.path().join("wide.json"), file.to_string()).unwrap();
    let (code, said) = alir2hdl(&dir, &["wide.json", "--verilog", "m.v", "--vhdl", "m.vhd", "--pipeline", "2"]);
    assert_eq!(code, 0, "{said}");
    for file in ["m.v", "m.vhd"] {
        let (code, said) = alir2hdl(&dir, &["prove", "wide.json", file, "--gates-only", "-v"]);
        assert!(code == 0 && said.contains("affine forms 0"), "{said}");
        let (code, said) = alir2hdl(&dir, &["prove", "wide.json", file, "--gates-only", "--work", "1000"]);
        assert!(code == 5 && said.contains("output 0 and 3 more"), "{said}");
    }
    let text = std::fs::read_to_string(dir.path().join("m.v")).unwrap();
    let other = text.replacen(" & ", " | ", 1);
    assert_ne!(text, other);
    std::fs::write(dir.path().join("m.v"), other).unwrap();
    let (code, said) = alir2hdl(&dir, &["prove", "wide.json", "m.v", "--gates-only"]);
    assert!(code == 1 && said.contains("differs"), "{said}");
}

#[test]
fn each_optimisation_is_proved_as_it_runs() {
    let dir = tempfile::tempdir().unwrap();
    for (name, options) in [("tiny_ops", "-O2 --pipeline 2"), ("edge_kif", "-O1"), ("bit_logic", "-O2 --ports split")] {
        let model = path(name);
        let mut args = vec![model.to_str().unwrap(), "--verilog", "m.v", "--vhdl", "m.vhd", "--prove", "-v"];
        args.extend(options.split(' '));
        let (code, said) = alir2hdl(&dir, &args);
        assert_eq!(code, 0, "{name}: {said}");
        for step in ["dce", "simplify", "netlist against the model as read", "Vhdl text against the model as read"] {
            assert!(said.contains(&format!("prove: {step}: ")), "{name}, {step}: {said}");
        }
        assert!(said.matches(": proved (").count() >= 4, "{name}: {said}");
        assert!(!said.contains("not decided"), "{name}: {said}");
        // Without -v only the summary.
        args.retain(|a| *a != "-v");
        let (code, said) = alir2hdl(&dir, &args);
        assert!(code == 0 && !said.contains("prove:"), "{name}: {said}");
    }
}

#[test]
fn a_state_machines_text_is_proved_as_it_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let machine = path("fsm/biquad").with_file_name("fsm.json.gz");
    let args = [machine.to_str().unwrap(), "--verilog", "m.v", "--vhdl", "m.vhd", "--prove", "-v"];
    let (code, said) = alir2hdl(&dir, &args);
    assert!(code == 0 && said.contains("Vhdl text against the machine as read: proved"), "{said}");
    assert!(dir.path().join("m.vhd").exists());
}

#[test]
fn sat_questions_come_with_clauses_and_proofs() {
    let dir = tempfile::tempdir().unwrap();
    let model = path("tiny_ops");
    let model = model.to_str().unwrap();
    let (code, said) = alir2hdl(&dir, &[model, "--verilog", "m.v", "-O0", "--pipeline", "2"]);
    assert_eq!(code, 0, "{said}");
    let (code, said) = alir2hdl(&dir, &["prove", model, "m.v", "--gates-only", "--certificate", "proof"]);
    assert_eq!(code, 0, "{said}");
    let read = |name: &str| std::fs::read(dir.path().join("proof").join(name));
    let report: serde_json::Value = serde_json::from_slice(&read("report.json").unwrap()).unwrap();
    let solved = report["bits"]["sat"].as_u64().unwrap() as usize;
    assert!(solved > 0, "no question went to the solver: {report}");
    for i in 0..solved {
        let clauses = String::from_utf8(read(&format!("question_{i:05}.cnf")).unwrap()).unwrap();
        let proof = String::from_utf8(read(&format!("question_{i:05}.drat")).unwrap()).unwrap();
        let counted: usize = clauses.lines().next().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
        assert!(clauses.starts_with("p cnf ") && clauses.lines().count() == counted + 1, "{clauses}");
        assert!(proof.ends_with("0\n") && proof.lines().last() == Some("0"), "{proof}");
        assert!(read(&format!("question_{i:05}.aig")).unwrap().starts_with(b"aig "));
    }
    assert!(read("statement.aig").unwrap().starts_with(b"aig "));
    for solver in ["no-such-solver", "./no-such-solver"] {
        let (code, said) = alir2hdl(&dir, &["prove", model, "m.v", "--solver", solver]);
        assert!(code == 3 && said.contains("E1001"), "{said}");
    }
    let (code, said) = alir2hdl(&dir, &["prove", model, "m.v", "--solver", "true"]);
    assert!(code == 2 && said.contains("E0908"), "{said}");
}

#[test]
fn tools_that_are_not_there_end_with_code_3() {
    let dir = tempfile::tempdir().unwrap();
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/models");
    let (model, machine) = (format!("{data}/tiny_ops/model.json.gz"), format!("{data}/fsm/biquad/fsm.json.gz"));
    for (input, stem) in [(&model, "m"), (&machine, "s")] {
        let texts = [format!("{stem}.v"), format!("{stem}.vhd")];
        assert_eq!(alir2hdl(&dir, &[input, "--verilog", &texts[0], "--vhdl", &texts[1]]).0, 0);
        let mut uses = vec![["--solver", "kissat"]];
        if stem == "m" {
            uses.push(["--via", "yosys"]);
        }
        for (text, options) in texts.iter().flat_map(|text| uses.iter().map(move |options| (text, options))) {
            let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_alir2hdl"));
            command.env_clear().current_dir(dir.path()).args(["prove", input, text]).args(options);
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code() == Some(3) && said.contains("E1001"), "{options:?}: {said}");
        }
    }
}

#[test]
fn what_depends_on_itself_without_a_register_is_never_proved() {
    let dir = tempfile::tempdir().unwrap();
    let model = path("tiny_ops");
    let model = model.to_str().unwrap();
    let (code, said) = alir2hdl(&dir, &[model, "--verilog", "m.v", "--vhdl", "m.vhd", "--top", "dut", "-O0"]);
    assert_eq!(code, 0, "{said}");
    for (file, from, to) in [
        ("m.v", "v43 = ~v0;", "v43 = v43;"),
        // The same value, were it not for the loop.
        ("m.v", "v43 = ~v0;", "v43 = ~v0 & (v43 | ~v43);"),
        ("m.v", "v43 = ~v0;", "a, v43; assign a = v43 & ~v0; assign v43 = a | ~v0;"),
        ("m.vhd", "v43 <= not v0;", "v43 <= (not v0) and (v43 or not v43);"),
    ] {
        let text = std::fs::read_to_string(dir.path().join(file)).unwrap();
        let looped = text.replacen(from, to, 1);
        assert_ne!(looped, text, "{from}");
        let name = format!("loop_{file}");
        std::fs::write(dir.path().join(&name), looped).unwrap();
        let (code, said) = alir2hdl(&dir, &["prove", model, &name]);
        assert!(code == 2 && said.contains("depends on itself without a register"), "{to}: {said}");
    }
}

/// Model, level, stages, language and further options.
type Row = (&'static str, u8, u32, &'static str, &'static str);

/// Models as they are written and proved within the default limits: level, stages, language and further options. The
/// whole matrix takes minutes of a release program; these rows are here so that no change of the prover, of an
/// optimisation or of a writer loses a model unseen.
const MODELS: &[Row] = &[
    ("jet_mlp", 2, 3, "v", ""),
    ("jet_mlp", 1, 7, "vhd", ""),
    ("mlp_8bit", 2, 0, "vhd", ""),
    ("mlp_8bit", 1, 3, "v", ""),
    ("mixer_particles", 2, 3, "v", ""),
    ("mixer_particles", 2, 7, "vhd", ""),
    ("cmvm_64x64", 2, 3, "vhd", ""),
    ("cmvm_64x64", 1, 7, "v", ""),
    ("conv_small", 2, 0, "v", ""),
    ("conv_small", 2, 7, "vhd", ""),
    ("lut_heavy", 2, 7, "v", ""),
    ("lut_heavy", 0, 3, "vhd", ""),
    ("lut_heavy", 0, 0, "v", "--use-dsp no"),
    (
        "lut_heavy",
        2,
        3,
        "vhd",
        "--use-dsp no --passes \
         dce,simplify,ranges,compose,tables,mirror,split,split,cse,linear,polarity,demand,ranges,dce",
    ),
    ("lut_heavy", 2, 3, "v", "--use-dsp no --rom-style lut"),
    ("lut_heavy", 2, 0, "vhd", "--rom-style lut"),
    ("lut_heavy", 1, 3, "v", "--rom-style lut"),
    ("var_mul", 0, 3, "v", ""),
    ("var_mul", 2, 7, "vhd", ""),
    ("var_mul", 1, 0, "v", "--use-dsp no"),
    ("sort_topk", 1, 0, "vhd", ""),
    ("sort_topk", 2, 3, "v", "--use-dsp no"),
    ("anomaly_ae", 2, 0, "v", ""),
    ("anomaly_ae", 0, 7, "vhd", ""),
    ("anomaly_ae", 2, 3, "v", "--use-dsp no --delay-model device"),
    ("anomaly_ae", 2, 7, "vhd", "--use-dsp no --delay-model device --device ecp5"),
    ("over64", 2, 3, "v", "--use-dsp no --delay-model device"),
    ("over64", 2, 3, "vhd", "--use-dsp no --delay-model device --device ecp5"),
    ("fuzz/073", 2, 3, "v", ""),
    ("fuzz/084", 1, 7, "vhd", ""),
    ("dais/v1_jet_mlp", 1, 3, "v", ""),
    ("dais/v1_jet_mlp", 2, 7, "v", ""),
];

/// Rows that take most of a minute of a release program, longer than all others together.
const LONG: &[Row] = &[("lut_heavy", 2, 7, "vhd", "--use-dsp no --delay-model device")];

#[test]
fn every_model_is_among_the_rows_and_every_level_depth_and_language() {
    for level in 0..3 {
        for stages in [0, 3, 7] {
            let found = usual_rows().any(|r| r.1 == level && r.2 == stages);
            assert!(found, "-O{level} with {stages} stages");
        }
        for language in ["v", "vhd"] {
            assert!(usual_rows().any(|r| r.1 == level && r.3 == language), "-O{level} as {language}");
        }
    }
}

/// Proves the files of these rows.
fn rows_are_proved(rows: impl Iterator<Item = &'static Row>) {
    let dir = tempfile::tempdir().unwrap();
    for &(name, level, stages, language, options) in rows {
        let row = format!("{name} -O{level}, {stages} stages, {language} {options}");
        let packed = path(name);
        let model = if packed.exists() { packed } else { packed.with_extension("") };
        let model = model.to_str().unwrap();
        let (flag, file) = if language == "v" { ("--verilog", "m.v") } else { ("--vhdl", "m.vhd") };
        let (level, stages) = (format!("-O{level}"), stages.to_string());
        let mut args = vec![model, flag, file, "--top", "dut", "--pipeline", &stages];
        if !options.contains("--passes") {
            args.push(&level);
        }
        args.extend(options.split_whitespace());
        let (code, said) = alir2hdl(&dir, &args);
        assert_eq!(code, 0, "{row}: {said}");
        let (code, said) = alir2hdl(&dir, &["prove", model, file]);
        assert!(code == 0 && said.starts_with("proved"), "{row}: {said}");
    }
}

#[test]
fn models_are_proved_as_they_are_written() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["lut_heavy", "var_mul"] {
        let model = path(name);
        let args = [model.to_str().unwrap(), "--verilog", "m.v", "-O2", "--pipeline", "3", "--prove", "-v"];
        let (code, said) = alir2hdl(&dir, &args);
        assert_eq!(code, 0, "{name}: {said}");
        assert!(said.contains("Verilog text against the model as read: proved"), "{name}: {said}");
        assert!(!said.contains("not decided"), "{name}: {said}");
    }
}

/// Rows of the normal run: each level, depth and language; what takes longest is left to the nightly run.
fn usual_rows() -> impl Iterator<Item = &'static Row> {
    let is_slow = |row: &Row| {
        let &(name, level, stages, ..) = row;
        matches!((name, level, stages), ("mixer_particles" | "cmvm_64x64" | "conv_small", 2, 3 | 7) | ("over64", ..))
            || (name == "lut_heavy" && stages == 3)
    };
    MODELS.iter().filter(move |row| is_nightly() || !is_slow(row))
}

#[test]
fn real_models_are_proved() {
    rows_are_proved(usual_rows().step_by(2));
}

#[test]
fn more_real_models_are_proved() {
    rows_are_proved(usual_rows().skip(1).step_by(2));
}

#[test]
#[ignore = "minutes: one proof of forty seconds of a release program"]
fn models_that_take_long_are_proved() {
    rows_are_proved(LONG.iter());
}

#[test]
fn tables_of_straight_lines_that_became_sums_are_proved() {
    let dir = tempfile::tempdir().unwrap();
    for [a, b, drop] in [[5, 0, 2], [-5, 900, 3], [77, 32, 6]] {
        let mut builder = Builder::new(vec![0]);
        let (x, first) = (builder.op(Op::Input { input: 0 }, Interval::new(-2048, 2047, 3)), -2048);
        let entries: Vec<i32> = (first..-first).map(|x: i64| ((a * x + b) >> drop) as i32).collect();
        let out = Interval::new(-(1 << 13), (1 << 13) - 1, 1);
        let table = builder.table(Table { entries, out: out.clone(), hash: String::new(), inp_width: 12 });
        let y = builder.op(Op::Lookup { x, table, base: Code::from(first) }, out);
        builder.output(Output { source: Some(y), shift: 0, neg: false });
        let model = builder.finish().unwrap();
        let mut text = Vec::new();
        formats::prepare(&model, formats::Target::Alir4).unwrap().write(&mut text).unwrap();
        std::fs::write(dir.path().join("line.json"), text).unwrap();
        for pipeline in ["", "--pipeline 3"] {
            let args =
                format!("line.json --verilog m.v --vhdl m.vhd --top dut --passes tables,slope,simplify,dce {pipeline}");
            let (code, said) = alir2hdl(&dir, &args.split_whitespace().collect::<Vec<_>>());
            assert_eq!(code, 0, "{said}");
            let verilog = std::fs::read_to_string(dir.path().join("m.v")).unwrap();
            assert!(!verilog.contains("case"), "{verilog}");
            for file in ["m.v", "m.vhd"] {
                let (code, said) = alir2hdl(&dir, &["prove", "line.json", file]);
                assert!(code == 0 && said.starts_with("proved"), "{a} {b} {drop}: {said}");
            }
        }
    }
}

#[test]
fn bits_of_sums_that_cancel_to_constants_are_proved() {
    let dir = tempfile::tempdir().unwrap();
    for (constant, bit) in [(5, 7), (5, 0), (5, 3), (-1, 7), (96, 6), (0, 2)] {
        // Bit `bit` of (x + constant) - x.
        let text = format!(
            r#"{{"meta":"ALIRModel","spec_version":4,"model":[[1,1],[0],[0],[0],[false],[
            [[],-1,[0],[-128,127,1],0,0],[[0],4,[{constant},0],[-128,127,1],0,0],[[1,0],1,[0],[-128,127,1],0,0],
            [[2],3,[{}],[0,1,1],0,0]],1,-1,null]}}"#,
            -bit
        );
        std::fs::write(dir.path().join("sum.json"), text).unwrap();
        for level in ["-O0", "-O1"] {
            let (code, said) =
                alir2hdl(&dir, &["sum.json", "--verilog", "m.v", "--vhdl", "m.vhd", "--top", "m", level]);
            assert_eq!(code, 0, "{said}");
            for file in ["m.v", "m.vhd"] {
                let (code, said) = alir2hdl(&dir, &["prove", "sum.json", file]);
                assert!(code == 0 && said.starts_with("proved"), "{constant} {bit} {level}: {said}");
            }
        }
    }
}

/// The intermediate programs follow from the header comment of the RTL, and the last is the one that the RTL computes.
#[test]
fn the_head_of_a_text_tells_the_programs_between() {
    let dir = tempfile::tempdir().unwrap();
    let (model, _) = formats::read_path(&path("jet_mlp"), &alir2hdl::ir::Limits::default(), None).unwrap();
    for write in ["-O2 --pipeline 3", "-O1", "--passes linear,dce --pipeline 2"] {
        let file = path("jet_mlp");
        let mut args = vec![file.to_str().unwrap(), "--verilog", "m.v"];
        args.extend(write.split(' '));
        assert_eq!(alir2hdl(&dir, &args).0, 0, "{write}");
        let text = std::fs::read_to_string(dir.path().join("m.v")).unwrap();
        let rtl = alir2hdl::rtl::read(alir2hdl::rtl::Language::Verilog, &text, None).unwrap();
        let steps = alir2hdl::compile::recover_passes(&model, &rtl.head).and_then(|steps| steps()).expect(write);
        let last = steps.programs.last().expect(write);
        assert_ne!(last, &model, "{write}");
        assert_eq!(steps.names.len(), last.nodes().len(), "{write}");
        // A header comment without the number of operations, or with another number, gives no information.
        for other in ["", ": 3 operations,"] {
            let count = format!(": {} operations,", last.nodes().len());
            let changed: Vec<String> = rtl.head.iter().map(|line| line.replace(&count, other)).collect();
            assert_ne!(changed, rtl.head, "{write}");
            let told = alir2hdl::compile::recover_passes(&model, &changed).and_then(|steps| steps());
            assert!(told.is_none(), "{write}");
        }
    }
}

/// Threads prove steps side by side; verdict, method, counts and counterexample are those of one thread.
#[test]
fn no_verdict_depends_on_the_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    let file = path("jet_mlp");
    let model = file.to_str().unwrap();
    assert_eq!(alir2hdl(&dir, &[model, "--verilog", "m.v", "-O2", "--pipeline", "2"]).0, 0);
    let text = std::fs::read_to_string(dir.path().join("m.v")).unwrap();
    let wrong = text.replacen(" + ", " - ", 1);
    assert_ne!(text, wrong);
    std::fs::write(dir.path().join("w.v"), wrong).unwrap();
    for (rtl, code, verdict) in [("m.v", 0, "proved"), ("w.v", 1, "differs")] {
        let reports = ["1", "3"].map(|threads| {
            let (found, said) = alir2hdl(&dir, &["prove", model, rtl, "--json", "--threads", threads]);
            assert_eq!(found, code, "{said}");
            let mut report: serde_json::Value = serde_json::from_str(&said).unwrap();
            assert!(report.as_object_mut().unwrap().remove("seconds").is_some(), "{said}");
            assert_eq!(report["verdict"], verdict);
            report
        });
        assert_eq!(reports[0], reports[1], "{rtl}");
    }
    assert_eq!(alir2hdl(&dir, &["prove", model, "m.v", "--threads", "0"]).0, 2);
}

/// RTL and its witness with every internal signal renamed, and without comments.
fn renamed(text: &str, witness: &mut serde_json::Value) -> String {
    let mut names = std::collections::HashMap::new();
    for (k, signal) in witness["signals"].as_array_mut().unwrap().iter_mut().enumerate() {
        let new = format!("q{k}_x");
        names.insert(signal[0].as_str().unwrap().to_owned(), new.clone());
        signal[0] = new.into();
    }
    let mut out = String::new();
    for line in text.lines() {
        let code = line.split("//").next().unwrap();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut rest = code;
        while let Some(first) = rest.chars().next() {
            let same = is_word(first);
            let end = rest.find(|c| is_word(c) != same).unwrap_or(rest.len());
            out.push_str(names.get(&rest[..end]).map_or(&rest[..end], String::as_str));
            rest = &rest[end..];
        }
        out.push('\n');
    }
    out
}

/// The witness of an RTL file: parsed.
fn witness(dir: &TempDir) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(dir.path().join("w.json")).unwrap()).unwrap()
}

/// Returns the verdict without its time.
fn without_seconds(said: &str) -> String {
    said.lines().map(|line| line.rsplit_once(" (").map_or(line, |(before, _)| before)).collect::<Vec<_>>().join("\n")
}

/// With the renamed witness the proof of RTL with other names takes the same path as that of the RTL as it was written.
#[test]
fn with_a_witness_the_names_in_a_text_do_not_matter() {
    let dir = tempfile::tempdir().unwrap();
    for (model, options) in [("jet_mlp", "-O2 --pipeline 3"), ("lut_heavy", "-O1"), ("tiny_ops", "-O0 --pipeline 1")] {
        let model = path(model);
        let mut args = vec![model.to_str().unwrap(), "--verilog", "m.v", "--witness", "w.json"];
        args.extend(options.split(' '));
        assert_eq!(alir2hdl(&dir, &args), (0, args_said(&dir, &args)), "{args:?}");
        let (code, said) = alir2hdl(&dir, &["prove", args[0], "m.v", "--witness", "w.json"]);
        assert_eq!(code, 0, "{said}");
        let mut known = witness(&dir);
        let text = renamed(&std::fs::read_to_string(dir.path().join("m.v")).unwrap(), &mut known);
        std::fs::write(dir.path().join("r.v"), text).unwrap();
        std::fs::write(dir.path().join("r.json"), known.to_string()).unwrap();
        let latency = if options.contains("--pipeline") { options.rsplit(' ').next().unwrap() } else { "0" };
        let (code, other) = alir2hdl(&dir, &["prove", args[0], "r.v", "--pipeline", latency, "--witness", "r.json"]);
        assert_eq!(code, 0, "{other}");
        assert_eq!(without_seconds(&other), without_seconds(&said), "{options}");
    }
}

/// Returns the output of a command that was run before; it must write the same bytes of the witness.
fn args_said(dir: &TempDir, args: &[&str]) -> String {
    let before = std::fs::read(dir.path().join("w.json")).unwrap();
    let (_, said) = alir2hdl(dir, args);
    assert_eq!(std::fs::read(dir.path().join("w.json")).unwrap(), before, "the same input gives the same bytes");
    said
}

/// A witness with something wrong in it, by place and number.
fn corrupted(known: &serde_json::Value, rng: &mut alir2hdl::num::SplitMix) -> serde_json::Value {
    let mut known = known.clone();
    let mut pick = |n: usize| (rng.word() % n.max(1) as u64) as usize;
    for _ in 0..1 + pick(4) {
        let (signals, operations) =
            (known["signals"].as_array().unwrap().len(), known["operations"].as_array().unwrap().len());
        let programs = known["programs"].as_array().unwrap().len();
        match pick(8) {
            0 => known["signals"][pick(signals)][1] = pick(operations).into(),
            1 => known["signals"][pick(signals)][2] = ["", "_a", "_s1", "_2", "_s9"][pick(5)].into(),
            2 => {
                let other = known["signals"][pick(signals)][3].clone();
                known["signals"][pick(signals)][3] = other;
            }
            3 => {
                let other = known["operations"][pick(operations)].clone();
                known["operations"][pick(operations)] = other;
            }
            4 => drop(known["signals"].as_array_mut().unwrap().remove(pick(signals))),
            5 if programs > 1 => {
                known["programs"].as_array_mut().unwrap().swap(pick(programs), 0);
            }
            6 if programs > 1 => drop(known["programs"].as_array_mut().unwrap().remove(pick(programs))),
            _ if programs > 0 => {
                // A number somewhere in the operations of a program.
                let ops = known["programs"][pick(programs)]["model"][5].as_array_mut().unwrap();
                let at = pick(ops.len());
                let field = &mut ops[at][[0, 1, 2][pick(3)]];
                let number = if field.is_array() && !field.as_array().unwrap().is_empty() {
                    let n = field.as_array().unwrap().len();
                    &mut field[pick(n)]
                } else {
                    field
                };
                if let Some(old) = number.as_i64() {
                    *number = (old + [1, -1, 2, 7][pick(4)]).into();
                }
            }
            _ => {}
        }
    }
    known
}

/// No witness makes a wrong text right, or a right one wrong.
fn corrupted_witnesses(seeds: std::ops::Range<u64>) -> [u32; 4] {
    let dir = tempfile::tempdir().unwrap();
    let mut codes = [0; 4];
    for (model, options) in [("tiny_ops", "-O2 --pipeline 2"), ("edge_kif", "-O1"), ("bit_logic", "-O2")] {
        let model = path(model);
        let mut args = vec![model.to_str().unwrap(), "--verilog", "m.v", "--witness", "w.json"];
        args.extend(options.split(' '));
        assert_eq!(alir2hdl(&dir, &args).0, 0);
        let (known, text) = (witness(&dir), std::fs::read_to_string(dir.path().join("m.v")).unwrap());
        // The last sum, or conjunction, of the RTL is another one.
        let (from, to) = if model.ends_with("bit_logic/model.json.gz") { (" & ", " | ") } else { (" + {", " - {") };
        let at = text.rfind(from).expect("an operator");
        let wrong = format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
        std::fs::write(dir.path().join("wrong.v"), wrong).unwrap();
        assert_eq!(alir2hdl(&dir, &["prove", args[0], "wrong.v"]).0, 1);
        for seed in seeds.clone() {
            let other = corrupted(&known, &mut alir2hdl::num::SplitMix::new(seed));
            std::fs::write(dir.path().join("c.json"), other.to_string()).unwrap();
            for (file, never) in [("m.v", 1), ("wrong.v", 0)] {
                let (code, said) =
                    alir2hdl(&dir, &["prove", args[0], file, "--witness", "c.json", "--work", "300000000"]);
                assert!([0, 1, 2, 5].contains(&code) && code != never, "{model:?} {seed} {file}: {code} {said}");
                codes[[0, 1, 2, 5].iter().position(|&c| c == code).unwrap()] += 1;
            }
        }
    }
    codes
}

#[test]
fn a_corrupted_witness_proves_nothing_wrong() {
    let [proved, differ, unreadable, _] = corrupted_witnesses(0..25);
    assert!(proved > 20 && differ > 20 && unreadable > 5, "{proved} proved, {differ} differ, {unreadable} unreadable");
}

#[test]
#[ignore = "long: 10,000 corrupted witnesses"]
fn ten_thousand_corrupted_witnesses_prove_nothing_wrong() {
    corrupted_witnesses(1000..4334);
}

#[test]
fn what_is_no_witness_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let model = path("tiny_ops");
    let model = model.to_str().unwrap();
    assert_eq!(alir2hdl(&dir, &[model, "--verilog", "m.v", "--witness", "w.json.gz"]).0, 0);
    assert_eq!(alir2hdl(&dir, &["prove", model, "m.v", "--witness", "w.json.gz"]).0, 0);
    for (text, code) in [
        ("", "E0912"),
        ("{}", "E0912"),
        ("{\"schema\": \"alir2hdl.witness/2\", \"programs\": [], \"operations\": [], \"signals\": []}", "E0912"),
        (
            "{\"schema\": \"alir2hdl.witness/1\", \"programs\": [], \"operations\": [], \
             \"signals\": [[\"v0\", 3, \"\", \"\"]]}",
            "E0912",
        ),
        ("{\"schema\": \"alir2hdl.witness/1\", \"programs\": [7], \"operations\": [], \"signals\": []}", "E01"),
    ] {
        std::fs::write(dir.path().join("c.json"), text).unwrap();
        let (status, said) = alir2hdl(&dir, &["prove", model, "m.v", "--witness", "c.json"]);
        assert!(status == 2 && said.contains(&format!("error[{code}")), "{text}: {status} {said}");
    }
    let machine = path("fsm/biquad").with_file_name("fsm.json.gz");
    let (status, said) = alir2hdl(&dir, &[machine.to_str().unwrap(), "--verilog", "m.v", "--witness", "w.json"]);
    assert!(status == 2 && said.contains("E0804"), "{said}");
}

#[test]
fn a_file_of_another_model_is_bad_input_and_its_ports_are_named() {
    let dir = TempDir::new().unwrap();
    let (tiny, jet) = (path("tiny_ops"), path("jet_mlp"));
    let (tiny, jet) = (tiny.to_str().unwrap(), jet.to_str().unwrap());
    assert_eq!(alir2hdl(&dir, &[jet, "--verilog", "a.v"]).0, 0);
    let (code, said) = alir2hdl(&dir, &["prove", tiny, "a.v"]);
    assert!(code == 2 && said.contains("E0930") && said.contains("15 bits: model_inp (111 bits)"), "{said}");
    // An input that fits and an output that does not.
    let module = "module a(input [14:0] model_inp, output [1:0] model_out); assign model_out = 0; endmodule";
    std::fs::write(dir.path().join("b.v"), module).unwrap();
    let (code, said) = alir2hdl(&dir, &["prove", tiny, "b.v"]);
    assert!(code == 2 && said.contains("E0930") && said.contains("model_out (2 bits)"), "{said}");
}
