//! Files of every generation, written by the libraries of that time (`tests/data/generations/make.py` made them): each
//! is read and gives what that library's own interpreter gave, in every form in which it was written and in every form
//! that we write.

use alir2hdl::formats::{self, Format, Target};
use alir2hdl::interp::samples::{Values, input_ports, output_ports};
use alir2hdl::interp::{LookupMiss, golden};
use alir2hdl::ir::{Limits, Model};
use num_bigint::BigInt;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct Vectors {
    inputs: Vec<Vec<f64>>,
    outputs: Vec<Vec<f64>>,
}

/// A generation's folder, the version of its JSON opcodes, and the opcodes that its files must show.
const GENERATIONS: [(&str, &[i64]); 6] = [
    ("s", &[-3, -2, -1, 0, 1, 2, 3, 4, 5]),
    ("dpre", &[-6, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]),
    ("d0", &[-6, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8]),
    ("d1", &[-9, -6, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    ("a2", &[-2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    ("a4", &[-2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
];

fn folder(generation: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/generations").join(generation)
}

fn vectors(generation: &str) -> BTreeMap<String, Vectors> {
    let text = std::fs::read_to_string(folder(generation).join("golden.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The files of a program: JSON, and the byte code where the library writes one.
fn files(generation: &str, name: &str) -> Vec<PathBuf> {
    let mut files: Vec<_> = ["json", "json.gz", "bin"].map(|e| folder(generation).join(format!("{name}.{e}"))).into();
    files.retain(|path| path.exists());
    files
}

fn read(path: &Path) -> Model {
    formats::read_path(path, &Limits::default(), None).unwrap_or_else(|e| panic!("{}: {e}", path.display())).0
}

#[track_caller]
fn gives(model: &Model, vectors: &Vectors, what: &str) {
    let (in_ports, out_ports) = (input_ports(model), output_ports(model));
    for (row, (inputs, outputs)) in vectors.inputs.iter().zip(&vectors.outputs).enumerate() {
        let values = Values::Reals(inputs.clone());
        let codes: Vec<BigInt> = (0..inputs.len()).map(|k| values.code(k, in_ports[k], false).unwrap()).collect();
        let found = golden(model, &codes, LookupMiss::Error).unwrap_or_else(|e| panic!("{what}: {e}"));
        let found: Vec<f64> = found.iter().zip(&out_ports).map(|(code, port)| port.real_of_code(code).0).collect();
        assert_eq!(&found, outputs, "{what}, sample {row}: {inputs:?}");
    }
}

#[test]
fn every_file_gives_what_its_library_gave() {
    for (generation, _) in GENERATIONS {
        let programs = vectors(generation);
        assert!(programs.len() >= 6, "{generation}");
        for (name, vectors) in &programs {
            let files = files(generation, name);
            assert!(!files.is_empty(), "{generation}/{name}");
            for path in files {
                gives(&read(&path), vectors, &path.display().to_string());
            }
        }
    }
}

#[test]
fn every_target_keeps_the_outputs() {
    let targets = [Target::Alir2, Target::Alir3, Target::Alir4, Target::Bytecode2, Target::Bytecode4, Target::Dais1];
    for (generation, _) in GENERATIONS {
        for (name, vectors) in &vectors(generation) {
            for path in files(generation, name) {
                let model = read(&path);
                for target in targets {
                    let what = format!("{} as {target:?}", path.display());
                    let mut bytes = Vec::new();
                    let prepared = formats::prepare(&model, target).unwrap_or_else(|e| panic!("{what}: {e}"));
                    prepared.write(&mut bytes).unwrap();
                    let back = formats::read(bytes.as_slice(), &Limits::default(), None);
                    let (back, notes) = back.unwrap_or_else(|e| panic!("{what}: {e}"));
                    assert!(notes.0.is_empty(), "{what}: {notes}");
                    assert_eq!(back.input_kifs(), model.input_kifs(), "{what}");
                    assert!((0..model.outputs().len()).all(|j| back.output_kif(j) == model.output_kif(j)), "{what}");
                    gives(&back, vectors, &what);
                }
            }
        }
    }
}

/// Opcodes of the JSON files, negate flags of opcode 10 as 100 and above.
fn opcodes(generation: &str) -> BTreeSet<i64> {
    let mut found = BTreeSet::new();
    for name in vectors(generation).keys() {
        let path = &files(generation, name)[0];
        let bytes = std::fs::read(path).unwrap();
        let mut text = String::new();
        if bytes.starts_with(&[0x1f, 0x8b]) {
            std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(bytes.as_slice()), &mut text).unwrap();
        } else {
            text = String::from_utf8(bytes).unwrap();
        }
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut open = vec![&value];
        while let Some(value) = open.pop() {
            match value {
                serde_json::Value::Object(o) => open.extend(o.values()),
                serde_json::Value::Array(record) => {
                    let v2 = record.len() == 7 && record[4].is_array() && record[2].is_i64();
                    let v4 = record.len() == 6 && record[0].is_array() && record[1].is_i64();
                    if v2 || v4 {
                        let opcode = if v2 { &record[2] } else { &record[1] }.as_i64().unwrap();
                        found.insert(opcode);
                        let data = record[3].as_i64().unwrap_or(0);
                        if v2 && opcode == 10 && generation == "d1" {
                            found.insert(100 + (data >> 32 & 3));
                        }
                    } else {
                        open.extend(record);
                    }
                }
                _ => {}
            }
        }
    }
    found
}

#[test]
fn every_opcode_of_every_generation_is_among_them() {
    for (generation, wanted) in GENERATIONS {
        let found = opcodes(generation);
        for opcode in wanted {
            assert!(found.contains(opcode), "{generation} has no opcode {opcode}");
        }
    }
    assert!([100, 101, 102, 103].iter().all(|flags| opcodes("d1").contains(flags)));
}

#[test]
fn byte_code_is_the_library_s_byte_for_byte() {
    // What our writer makes of the JSON is what the library made of it.
    let mut compared = 0;
    for (generation, target) in [("a2", Target::Bytecode2), ("a4", Target::Bytecode4)] {
        for name in vectors(generation).keys() {
            let model = read(&files(generation, name)[0]);
            let theirs = std::fs::read(folder(generation).join(format!("{name}.bin"))).unwrap();
            if model.outputs().iter().any(|o| o.neg) {
                // A negated output can need an operation of its own to keep its type.
                continue;
            }
            let mut ours = Vec::new();
            formats::prepare(&model, target).unwrap().write(&mut ours).unwrap();
            assert!(ours == theirs, "{generation}/{name}");
            compared += 1;
        }
    }
    assert!(compared >= 20, "{compared}");
}

#[test]
fn what_two_meanings_has_is_noted_and_can_be_said() {
    let path = folder("s").join("negating.json");
    let (_, notes) = formats::read_path(&path, &Limits::default(), None).unwrap();
    assert_eq!(notes.0.iter().map(|n| n.code).collect::<Vec<_>>(), ["N0103"]);
    let text = r#"[[1,1],[0],[1],[0],[false],[[0,-1,-1,0,[-8,7,1],0,0],[0,-1,-2,0,[-7,8,1],1,1]],1,-1]"#;
    let run = |format, code: i32| {
        let (model, notes) = formats::read(text.as_bytes(), &Limits::default(), format).unwrap();
        // What was stated needs no note.
        assert_eq!(notes.0.len(), usize::from(format.is_none()));
        golden(&model, &[BigInt::from(code)], LookupMiss::Error).unwrap()[0].clone()
    };
    assert_eq!(run(None, 5), BigInt::from(0), "relu(-x)");
    assert_eq!(run(Some(Format::Dais), 5), BigInt::from(0));
    assert_eq!(run(Some(Format::Dais2), 5), BigInt::from(-5), "-x");
    assert_eq!(run(None, -5), BigInt::from(5));
}
