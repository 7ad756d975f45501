//! The program on stateful designs: every sub-command knows one from its content.

use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

fn design(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models/fsm").join(name).join("fsm.json.gz")
}

fn alir2hdl(arguments: &[&str]) -> Output {
    Command::cargo_bin("alir2hdl").unwrap().args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the stdout of a run that must succeed.
fn works(arguments: &[&str]) -> String {
    let output = alir2hdl(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the message of a run that must be refused.
fn refused(arguments: &[&str]) -> String {
    let output = alir2hdl(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", said(&output));
    said(&output)
}

#[test]
fn check_and_info_tell_ports_registers_and_schedule() {
    let (file, mlp) = (design("leaky_integrator"), design("mlp_pipeline"));
    let text = works(&["check", file.to_str().unwrap()]);
    assert_eq!(
        text,
        "valid: a state machine, 3 input ports, 1 output port, 1 block, 1 register of 17 bits (ALIRFSM JSON, version \
         4, gzip)\n"
    );
    let facts: serde_json::Value = serde_json::from_str(&works(&["info", "--json", file.to_str().unwrap()])).unwrap();
    assert_eq!(facts["registers"][0]["name"], "acc");
    assert_eq!(facts["registers"][0]["starts_as"][0], "24");
    assert_eq!(facts["inputs"][1]["types"][0], "s10.2");
    assert_eq!((&facts["blocks"][0]["name"], &facts["register_bits"]), (&"leak".into(), &17.into()));
    let text = works(&["info", mlp.to_str().unwrap()]);
    assert!(
        text.starts_with("ALIRFSM JSON, version 4, gzip\n")
            && text.contains("schedule")
            && text.lines().any(|l| l.starts_with("model_out ") && l.ends_with(" 5")),
        "{text}"
    );
}

#[test]
fn slack_of_a_pipeline_is_used_unless_that_is_switched_off() {
    let file = design("mlp_pipeline");
    let facts = |options: &[&str]| -> serde_json::Value {
        let all = [&["info", "--json", file.to_str().unwrap()], options].concat();
        serde_json::from_str(&works(&all)).unwrap()
    };
    let (usual, off, delay) = (facts(&[]), facts(&["--retime", "no"]), facts(&["--retime", "delay"]));
    let bits = |facts: &serde_json::Value| facts["register_bits"].as_u64().unwrap();
    assert_eq!((bits(&off), off["pipelines"].as_array().unwrap().len()), (651, 0));
    assert!(bits(&usual) <= 419 && bits(&delay) <= 651, "{} {}", bits(&usual), bits(&delay));
    assert_eq!(usual["register_bits_without_retiming"], 651);
    let pipeline = |facts: &serde_json::Value, key: &str| facts["pipelines"][0][key].clone();
    assert_eq!((pipeline(&usual, "stages"), pipeline(&usual, "moved")), (4.into(), true.into()));
    let number = |facts, key| pipeline(facts, key).as_f64().unwrap();
    assert!(number(&usual, "delay") <= number(&usual, "delay_before"));
    assert!(number(&delay, "delay") < number(&delay, "delay_before"));
    assert!(works(&["info", file.to_str().unwrap()]).contains("register bits 419, without retiming 651"));
    // A program has --pipeline for that.
    let program = design("mlp_pipeline").parent().unwrap().parent().unwrap().with_file_name("tiny_ops/model.json.gz");
    let said = refused(&["info", program.to_str().unwrap(), "--retime", "delay"]);
    assert!(said.contains("E0804") && said.contains("--pipeline"), "{said}");
}

#[test]
fn both_languages_and_the_interface_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let file = design("serial_matvec");
    let (v, vhd, json) = (path("mv.v"), path("mv.vhd"), path("mv.json"));
    works(&[file.to_str().unwrap(), "--verilog", &v, "--vhdl", &vhd, "--interface", &json]);
    let verilog = fs::read_to_string(v).unwrap();
    // Ports, registers and blocks have the file's names.
    for part in ["module mv (", "output wire [38:0] y\n", "reg [12:0] acc_1;", "wire is_last = ", "mac_v44"] {
        assert!(verilog.contains(part), "no {part:?} in\n{verilog}");
    }
    assert!(fs::read_to_string(vhd).unwrap().contains("y : out std_logic_vector(38 downto 0)"));
    let facts: serde_json::Value = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    assert_eq!((&facts["latency"], &facts["register_bits"]), (&serde_json::Value::Null, &80.into()));
    assert_eq!(facts["machine"]["registers"].as_array().unwrap().len(), 7);
    assert_eq!(facts["outputs"][2]["lsb"], 26);
}

#[test]
fn scripts_of_projects_prove_netlists_without_a_hint() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("p").display().to_string();
    let file = design("serial_matvec");
    let devices = ["--flow", "yosys,vivado,quartus", "--device", "ecp5,7series,agilex7"];
    works(&[&["project", file.to_str().unwrap(), "-o", &output], &devices[..]].concat());
    for (script, family) in [("ecp5.sh", "ecp5"), ("vivado.tcl", "xilinx"), ("quartus.tcl", "intel")] {
        let text = fs::read_to_string(dir.path().join("p/scripts").join(script)).unwrap();
        let line = text.lines().find(|line| line.contains(" prove ")).unwrap_or_else(|| panic!("{script}:\n{text}"));
        assert!(line.contains(&format!("--cells {family}")) && !line.contains("--rtl"), "{script}: {line}");
    }
}

/// Signals of several elements precede others here: each port is compared with the name of its own signal.
#[test]
fn ports_that_keep_their_names_are_not_noted() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["mlp_pipeline", "serial_matvec"] {
        let out = folder.path().join("dut.v");
        let output = alir2hdl(&[design(name).to_str().unwrap(), "-o", out.to_str().unwrap()]);
        assert!(output.status.success() && !said(&output).contains("N0601"), "{}", said(&output));
    }
}

#[test]
fn options_of_pipelines_are_refused_by_name() {
    let file = design("biquad");
    let file = file.to_str().unwrap();
    let text = refused(&[file, "--verilog", "-", "--pipeline", "2", "--valid", "--reset", "sync"]);
    for flag in ["--pipeline", "--valid", "--reset"] {
        assert!(text.contains(&format!("{flag} does not go with a state machine")), "{text}");
    }
    assert!(refused(&["info", file, "--pipeline", "2"]).contains("E0804"));
    assert!(refused(&["run", file, "-i", "x", "--trace", "0"]).contains("E0804"));
    let clash = refused(&[file, "--verilog", "-", "--top", "rst"]);
    assert!(clash.contains("E0602"), "{clash}");
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/jet_mlp.json.gz");
    let text = refused(&["run", model.to_str().unwrap(), "-i", "x.npy", "-o", "y.npy", "--cycles", "3"]);
    assert!(text.contains("E0804"), "{text}");
}

#[test]
fn run_reproduces_the_traces() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["biquad", "leaky_integrator", "mlp_pipeline", "register_file", "select_hold", "serial_matvec"] {
        let file = design(name);
        let folder = file.parent().unwrap();
        let (out, npz) = (dir.path().join(name), dir.path().join(format!("{name}.npz")));
        for target in [&out, &npz] {
            works(&["run", file.to_str().unwrap(), "-i", folder.to_str().unwrap(), "-o", target.to_str().unwrap()]);
        }
        let archive = fs::read(&npz).unwrap();
        let mut ports = 0;
        for entry in fs::read_dir(&out).unwrap() {
            let entry = entry.unwrap();
            ports += 1;
            let port = entry.file_name().into_string().unwrap();
            let found = fs::read(entry.path()).unwrap();
            assert!(archive.windows(found.len()).any(|part| part == found), "{name}: {port} in the npz");
            let trace = fs::read(folder.join(format!("before.{port}"))).unwrap();
            let numbers = |bytes: &[u8]| -> Vec<f64> {
                bytes[128..].chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
            };
            let (found, trace) = (numbers(&found), numbers(&trace));
            assert_eq!(found.len(), trace.len());
            // NaN is a register that was never loaded.
            assert!(trace.iter().zip(&found).all(|(t, f)| t.is_nan() || t == f), "{name}: {port}");
        }
        assert!(ports > 0);
    }
}

#[test]
fn arrays_that_do_not_fit_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let file = design("register_file");
    let file = file.to_str().unwrap();
    let text = refused(&["run", file, "-i", dir.path().to_str().unwrap(), "-o", &path("out")]);
    assert!(text.contains("E0711") && text.contains("din.npy"), "{text}");
    let folder = Path::new(file).parent().unwrap();
    let text = refused(&["run", file, "-i", folder.to_str().unwrap(), "-o", &path("q.npy")]);
    assert!(text.contains("has 2"), "{text}");
    // One port is shorter than the others.
    for port in ["din", "wa", "we", "ra"] {
        fs::copy(folder.join(format!("in.{port}.npy")), dir.path().join(format!("{port}.npy"))).unwrap();
    }
    let header = format!("{:<117}\n", "{'descr': '<f8', 'fortran_order': False, 'shape': (10, 1), }");
    let short = [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes(), &[0; 8 * 10]].concat();
    fs::write(path("wa.npy"), &short).unwrap();
    let text = refused(&["run", file, "-i", dir.path().to_str().unwrap(), "-o", &path("out")]);
    assert!(text.contains("\"wa\" has 10 rows"), "{text}");
    assert!(!dir.path().join("out").exists());
}
