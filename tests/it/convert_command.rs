//! `alir2hdl convert` as a user meets it, and every form of file with every command.

use assert_cmd::Command;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Names of forms for `--to`, and a file name whose ending is right for each.
const FORMS: [(&str, &str); 6] = [
    ("alir2", "a2.json"),
    ("alir3", "a3.json.gz"),
    ("alir4", "a4.json"),
    ("bytecode2", "b2.bin"),
    ("bytecode4", "b4.bin.gz"),
    ("dais1", "d1.bin"),
];

fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(path)
}

struct Ran {
    code: i32,
    out: String,
    err: String,
}

fn alir2hdl(dir: &TempDir, args: &[&str]) -> Ran {
    let mut command = Command::cargo_bin("alir2hdl").unwrap();
    let output = command.current_dir(dir.path()).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

#[track_caller]
fn fine(dir: &TempDir, args: &[&str]) -> String {
    let ran = alir2hdl(dir, args);
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
    ran.out
}

/// Every command that reads a model, once. Gives what `run` makes of `x.csv`.
#[track_caller]
fn every_command(dir: &TempDir, file: &str) -> String {
    let said = fine(dir, &["check", file]);
    assert!(said.starts_with("valid: ") && said.ends_with(")\n"), "{file}: {said}");
    assert!(fine(dir, &["info", file, "--pipeline", "2"]).contains("operations"), "{file}");
    assert!(!fine(dir, &["info", file, "--format", form_of(dir, file)]).is_empty(), "{file}");
    fine(dir, &[file, "--verilog", "m.v", "--vhdl", "m.vhd", "--pipeline", "2", "--interface", "m.js"]);
    for (text, head) in [("m.v", "module"), ("m.vhd", "entity"), ("m.js", "{")] {
        assert!(std::fs::read_to_string(dir.path().join(text)).unwrap().contains(head), "{file}");
    }
    fine(dir, &["run", file, "--input", "x.csv", "--output", "-"])
}

/// Returns the name that `--format` has for the format of a file.
fn form_of(dir: &TempDir, file: &str) -> &'static str {
    let mut bytes = std::fs::read(dir.path().join(file)).unwrap();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let packed = std::mem::take(&mut bytes);
        std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(packed.as_slice()), &mut bytes).unwrap();
    }
    match bytes[..] {
        [b'{', ..] => "alir-json",
        [b'[', ..] => "dais-json",
        [b'A', b'L', b'I', b'R', ..] => "bytecode",
        _ if file.starts_with("dpre") => "words3",
        _ => "words",
    }
}

fn csv(rows: &[Vec<f64>]) -> String {
    let mut text = String::new();
    for row in rows {
        // Python's interpreters know a zero with a sign.
        let row: Vec<String> = row.iter().map(|v| format!("{:?}", v + 0.0)).collect();
        writeln!(text, "{}", row.join(",")).unwrap();
    }
    text
}

#[derive(Deserialize)]
struct Recorded {
    inputs: Vec<Vec<f64>>,
    outputs: Vec<Vec<f64>>,
}

/// The files of a generation with every command; `run` gives what the library of the time gave.
fn generation(generation: &str) {
    let text = std::fs::read_to_string(data("generations").join(generation).join("golden.json")).unwrap();
    let programs: BTreeMap<String, Recorded> = serde_json::from_str(&text).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut files = 0;
    for (name, recorded) in &programs {
        std::fs::write(dir.path().join("x.csv"), csv(&recorded.inputs)).unwrap();
        for extension in ["json", "json.gz", "bin"] {
            let path = data("generations").join(generation).join(format!("{name}.{extension}"));
            if path.exists() {
                let file = format!("{generation}_{name}.{extension}");
                std::fs::copy(&path, dir.path().join(&file)).unwrap();
                assert_eq!(every_command(&dir, &file), csv(&recorded.outputs), "{file}");
                files += 1;
            }
        }
    }
    assert!(files >= 8, "{generation}: {files}");
}

macro_rules! generations {
    ($($name:ident: $folder:literal;)*) => {$(
        #[test]
        fn $name() {
            generation($folder);
        }
    )*};
}

generations! {
    every_command_takes_da4ml_0_2: "s";
    every_command_takes_da4ml_0_3: "dpre";
    every_command_takes_da4ml_0_5: "d0";
    every_command_takes_da4ml_0_6: "d1";
    every_command_takes_alkaid_0_7: "a2";
    every_command_takes_alkaid_0_8: "a4";
}

#[test]
fn every_form_becomes_every_form_with_the_same_outputs() {
    let dir = tempfile::tempdir().unwrap();
    // Sums, relative shifts, tables, negated outputs: what older forms lack.
    for model in ["models/tiny_ops/model.json.gz", "models/edge_kif/model.json.gz", "models/lut_heavy/model.json.gz"] {
        let original = data(model);
        let original = original.to_str().unwrap();
        let rows = {
            let inputs = data(model).with_file_name("inputs.npy");
            let args = ["run", original, "--input", inputs.to_str().unwrap(), "--output", "-"];
            fine(&dir, &args)
        };
        let inputs = data(model).with_file_name("inputs.npy");
        let inputs = inputs.to_str().unwrap();
        let run = |file: &str| fine(&dir, &["run", file, "--input", inputs, "--output", "-"]);
        for (form, name) in FORMS {
            fine(&dir, &["convert", original, name, "--to", form]);
            assert_eq!(run(name), rows, "{model} as {form}");
            let packed = std::fs::read(dir.path().join(name)).unwrap().starts_with(&[0x1f, 0x8b]);
            assert_eq!(packed, name.ends_with(".gz"), "{name}");
        }
        for (_, from) in FORMS {
            for (form, name) in FORMS {
                let second = format!("again_{name}");
                fine(&dir, &["convert", from, &second, "--to", form]);
                if form != "bytecode2" && form != "dais1" || from == "a4.json" {
                    // All other cases are checked against the reference interpreter in tests/it/formats_binary.rs; here
                    // a choice is enough.
                    assert_eq!(run(&second), rows, "{model}: {from} as {form}");
                }
                if from == name && form != "dais1" {
                    // What a form has said once it says again in the same bytes.
                    let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
                    assert!(read(from) == read(&second), "{model}: {form} to {form}");
                }
            }
        }
    }
}

#[test]
fn the_name_of_the_output_says_the_form() {
    let dir = tempfile::tempdir().unwrap();
    let model = data("models/tiny_ops/model.json.gz");
    let model = model.to_str().unwrap();
    let starts = |name: &str| {
        fine(&dir, &["convert", model, name]);
        std::fs::read(dir.path().join(name)).unwrap()[..2].to_vec()
    };
    assert_eq!(starts("m.json"), b"{\"");
    assert_eq!(starts("m"), b"{\"");
    assert_eq!(starts("M.V4.JSON.GZ"), [0x1f, 0x8b]);
    assert_eq!(starts("m.gz"), [0x1f, 0x8b]);
    assert!(fine(&dir, &["convert", model, "-"]).starts_with("{\"meta\""));
    for (name, says) in [("m.bin", "bytecode2"), ("m.v", "--verilog"), ("m.vhd", "--vhdl"), ("m.npy", "bytecode4")] {
        let ran = alir2hdl(&dir, &["convert", model, name]);
        assert!(ran.code == 2 && ran.err.contains("E1106") && ran.err.contains(says), "{name}: {}", ran.err);
        assert!(!dir.path().join(name).exists());
    }
}

#[test]
fn what_a_target_cannot_say_is_refused_by_name_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    // 150 fractional bits: bytes hold 127, words hold them.
    let step = 2f64.powi(-150);
    let deep = format!(
        r#"{{"meta":"ALIRModel","spec_version":4,"model":[[1,1],[0],[1],[0],[0],[
        [[],-1,[0],[-1,0.5,0.5],0,0],[[0],3,[-150],[{:?},{step:?},{step:?}],0,0]],1,-1]}}"#,
        -2.0 * step
    );
    std::fs::write(dir.path().join("deep.json"), deep).unwrap();
    let ran = alir2hdl(&dir, &["convert", "deep.json", "out.bin", "--to", "bytecode4"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("E1105") && ran.err.contains("quantise of operation 1: 150 fractional"), "{}", ran.err);
    assert!(!dir.path().join("out.bin").exists());
    fine(&dir, &["convert", "deep.json", "out.bin", "--to", "bytecode2"]);
}
