//! `alir2hdl diff --prove` as a user meets it.

use crate::common::run;
use serde_json::Value;
use std::fs;
use std::path::Path;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/");

/// The exit code and the object of a comparison.
fn told(folder: &Path, arguments: &[&str]) -> (i32, Value) {
    let (code, said, errors) = run(folder, &[&["diff"], arguments, &["--prove", "--json"]].concat());
    (code, serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}{errors}")))
}

/// A program of two inputs from -8 to 7, followed by these operations; its output is the last.
fn program(folder: &Path, name: &str, operations: &[&str]) {
    let input = |k: usize| format!("[[],-1,[{k}],[-8,7,1],0,0]");
    let all = [vec![input(0), input(1)], operations.iter().map(ToString::to_string).collect()].concat();
    let (last, all) = (all.len() - 1, all.join(","));
    let text = format!(
        r#"{{"meta":"ALIRModel","spec_version":4,"model":[[2,1],[0,0],[{last}],[0],[false],[{all}],1,1,null]}}"#
    );
    fs::write(folder.join(name), text).expect("written");
}

#[test]
fn programs_are_equal_whatever_they_are_made_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    program(folder, "sum.json", &["[[0,1],0,[0],[-16,14,1],0,0]"]);
    program(folder, "copied.json", &["[[1,0],0,[0],[-16,14,1],0,0]", "[[2],3,[0],[-16,14,1],0,0]"]);
    program(folder, "narrow.json", &["[[0,1],0,[0],[-8,7,1],0,0]"]);
    program(folder, "finer.json", &["[[0,1],0,[0],[-16,14,0.5],0,0]"]);
    let (code, found) = told(folder, &["sum.json", "copied.json"]);
    assert_eq!((code, &found["proof"]["verdict"], &found["equal"]), (0, &"proved".into(), &false.into()), "{found}");
    // The output has another type and shows the same numbers.
    let (code, found) = told(folder, &["sum.json", "finer.json"]);
    assert_eq!((code, &found["proof"]["verdict"]), (0, &"proved".into()), "{found}");
    assert_eq!(found["ports"][0]["port"], "output 0");
    let (code, found) = told(folder, &["sum.json", "narrow.json", "--samples", "1"]);
    let shown = &found["proof"]["counterexample"];
    assert_eq!((code, &found["proof"]["verdict"], &shown["output"]), (1, &"differs".into(), &"output 0".into()));
    let codes: Vec<i64> = shown["inputs"][0]
        .as_array()
        .expect("codes")
        .iter()
        .map(|code| code.as_str().and_then(|text| text.parse().ok()).expect("a number"))
        .collect();
    let sum = codes[0] + codes[1];
    assert!(!(-8..8).contains(&sum), "{found}");
    let wrapped = (sum + 8).rem_euclid(16) - 8;
    assert_eq!(shown["first"], format!("{sum} ({sum})"));
    assert_eq!(shown["second"], format!("{wrapped} ({wrapped})"));
    let (code, said, _) = run(folder, &["diff", "sum.json", "copied.json", "--prove"]);
    assert!(code == 0 && said.ends_with("proved: the same outputs for every input\n"), "{said}");
    let (code, said, _) = run(folder, &["diff", "sum.json", "narrow.json", "--prove"]);
    assert!(code == 1 && said.contains("inputs (codes): ") && said.contains("\ndiffers: output 0 is "), "{said}");
}

#[test]
fn ports_of_other_types_are_compared_by_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let of = |name: &str, input: &str, rest: &str| {
        let text = format!(
            r#"{{"meta":"ALIRModel","spec_version":4,
            "model":[[1,1],[0],[1],[0],[false],[[[],-1,[0],{input},0,0],{rest}],1,1,null]}}"#
        );
        fs::write(folder.join(name), text).expect("written");
    };
    // Both keep bits 1 to 3 of the number: one of four bits of input, one of six with two of fraction.
    of("whole.json", "[0,15,1]", "[[0],3,[0],[0,14,2],0,0]");
    of("fine.json", "[0,15.75,0.25]", "[[0],3,[0],[0,14,2],0,0]");
    of("short.json", "[0,7,1]", "[[0],3,[0],[0,14,2],0,0]");
    let (code, found) = told(folder, &["whole.json", "fine.json"]);
    assert_eq!((code, &found["proof"]["verdict"]), (0, &"proved".into()), "{found}");
    let (code, found) = told(folder, &["fine.json", "short.json", "--samples", "1"]);
    let shown = &found["proof"]["counterexample"];
    assert_eq!((code, &found["proof"]["verdict"]), (1, &"differs".into()), "{found}");
    assert!(shown["inputs_of_second"].is_array(), "{found}");
}

#[test]
fn what_is_not_decided_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    // (a + b)^2 and a^2 + 2ab + b^2, without any work.
    let parts = ["[[0,0],7,[],[-56,64,1],0,0]", "[[0,1],7,[],[-56,64,1],0,0]", "[[1,1],7,[],[-56,64,1],0,0]"];
    let sums = ["[[2,3],0,[1],[-168,192,1],0,0]", "[[5,4],0,[0],[-224,256,1],0,0]"];
    program(folder, "parts.json", &[&parts[..], &sums].concat());
    program(folder, "square.json", &["[[0,1],0,[0],[-16,14,1],0,0]", "[[2,2],7,[],[-224,256,1],0,0]"]);
    let (code, found) = told(folder, &["parts.json", "square.json", "--work", "0"]);
    let reason = found["proof"]["reason"].as_str().expect("why");
    assert_eq!((code, &found["proof"]["verdict"]), (5, &"unknown".into()), "{found}");
    assert!(reason.contains("output 0") && reason.contains("--prove-effort"), "{reason}");
    let (code, found) = told(folder, &["parts.json", "square.json"]);
    assert_eq!((code, &found["proof"]["verdict"]), (0, &"proved".into()), "{found}");
    let (code, _, errors) = run(folder, &["diff", "parts.json", "square.json", "--work", "5"]);
    assert!(code == 2 && errors.contains("--prove"), "{errors}");
}

#[test]
fn kernels_machines_and_forms_are_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let model = format!("{DATA}models/tiny_ops/model.json.gz");
    assert_eq!(run(folder, &["convert", &model, "m.json"]).0, 0);
    let (code, found) = told(folder, &[&model, "m.json"]);
    assert_eq!((code, &found["proof"]["verdict"], &found["equal"]), (0, &"proved".into(), &true.into()), "{found}");
    let machine = format!("{DATA}models/fsm/biquad/fsm.json.gz");
    let (code, found) = told(folder, &[&machine, &machine]);
    assert_eq!((code, &found["proof"]["verdict"]), (0, &"proved".into()), "{found}");
    let (code, found) = told(folder, &[&machine, &model]);
    assert_eq!((code, &found["proof"]["verdict"]), (1, &"differs".into()), "{found}");
    let kernel = |name: &str, op: &str| {
        fs::write(folder.join(name), KERNEL.replace("OP", op)).expect("written");
    };
    kernel("xor.llvlirs", "xor");
    kernel("or.llvlirs", "or");
    let (code, found) = told(folder, &["xor.llvlirs", "xor.llvlirs"]);
    assert_eq!((code, &found["proof"]["verdict"]), (0, &"proved".into()), "{found}");
    assert_eq!(found["proof"]["notes"].as_array().map(Vec::len), Some(2), "{found}");
    let (code, found) = told(folder, &["xor.llvlirs", "or.llvlirs"]);
    assert_eq!((code, &found["proof"]["verdict"]), (1, &"differs".into()), "{found}");
}

const KERNEL: &str = r#"llvlir 0
in %0 "a": i16
in %1 "b": i16
%2 = OP.i16 %0, %1
out "c" = %2
"#;
