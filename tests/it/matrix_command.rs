//! A matrix in npy is a design like any other: every command takes it, its outputs are exact, and what is no matrix is
//! refused.

use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/network/matrix").join(name)
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

/// Refused with this code and these words, and no file is left.
#[track_caller]
fn refused(dir: &TempDir, args: &[&str], words: &[&str]) {
    let before = std::fs::read_dir(dir.path()).unwrap().count();
    let ran = alir2hdl(dir, args);
    assert_eq!(ran.code, 2, "{args:?}: {} {}", ran.out, ran.err);
    for word in words {
        assert!(ran.err.contains(word), "{args:?}: {word} is not in {}", ran.err);
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), before);
}

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend(data);
    bytes
}

/// 3 inputs, 2 outputs.
const SMALL: [i8; 6] = [7, -45, 3, 11, 0, 100];

fn small() -> TempDir {
    let dir = TempDir::new().unwrap();
    let data = SMALL.map(i8::cast_unsigned);
    std::fs::write(dir.path().join("matrix.npy"), npy("|i1", "(3, 2)", &data)).unwrap();
    std::fs::write(dir.path().join("x.csv"), "1,2,3\n-4,0.5,7.75\n").unwrap();
    dir
}

#[test]
fn golden_outputs() {
    for name in ["m8", "m20x7", "m16", "m32_fortran", "m64"] {
        let (dir, case) = (TempDir::new().unwrap(), case(name));
        let file = |f: &str| case.join(f).display().to_string();
        let meta: Value = serde_json::from_slice(&std::fs::read(case.join("meta.json")).unwrap()).unwrap();
        let input_type = meta["arguments"][2].as_str().unwrap();
        let args = [
            "run",
            &file("matrix.npy"),
            "--input-type",
            input_type,
            "--input",
            &file("inputs.npy"),
            "--output",
            "y.npy",
        ];
        fine(&dir, &args);
        let golden = std::fs::read(case.join("outputs.npy")).unwrap();
        let ours = std::fs::read(dir.path().join("y.npy")).unwrap();
        // Headers may differ in their padding; the numbers may not.
        let body = |bytes: &[u8]| bytes[10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))..].to_vec();
        let numbers = |bytes: &[u8]| -> Vec<f64> {
            body(bytes).chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
        };
        assert_eq!(numbers(&ours), numbers(&golden), "{name}");
    }
}

#[test]
fn every_command_takes_a_matrix() {
    let dir = small();
    let m = ["matrix.npy", "--input-type", "s8.2"];
    let with = |before: &[&'static str], after: &[&'static str]| [before, &m, after].concat();
    assert!(fine(&dir, &with(&["check"], &[])).contains("a matrix in npy"));
    assert!(fine(&dir, &with(&["info"], &["--pipeline", "2"])).contains("operations"));
    let out = fine(&dir, &with(&["run"], &["--input", "x.csv", "--output", "-"]));
    let rows: Vec<Vec<f64>> = out.lines().map(|l| l.split(',').map(|x| x.parse().unwrap()).collect()).collect();
    let sums = |x: [f64; 3]| -> Vec<f64> {
        (0..2).map(|o| (0..3).map(|i| x[i] * f64::from(SMALL[2 * i + o])).sum()).collect()
    };
    assert_eq!(rows, [sums([1.0, 2.0, 3.0]), sums([-4.0, 0.5, 7.75])]);
    fine(&dir, &with(&[], &["--verilog", "m.v", "--vhdl", "m.vhd", "--pipeline", "1", "--prove"]));
    fine(&dir, &with(&["view"], &["--output", "m.html"]));
    fine(&dir, &with(&["project", "--output", "folder"], &[]));
    for args in [vec!["convert", "matrix.npy", "a.json.gz"], vec!["convert", "matrix.npy", "-o", "b.json.gz"]] {
        fine(&dir, &[args.as_slice(), &["--input-type", "s8.2"]].concat());
    }
    let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    assert_eq!(read("a.json.gz"), read("b.json.gz"));
    let again = fine(&dir, &["run", "a.json.gz", "--input", "x.csv", "--output", "-"]);
    assert_eq!(again, out);
}

/// Without the bound in the header, the proof of this file searches for minutes.
#[test]
fn the_latency_in_the_header_is_a_hint_for_the_proof() {
    let rows: [[i8; 6]; 8] = [
        [-3, -7, 3, -3, 5, -3],
        [2, -6, 0, -7, 4, -7],
        [3, 4, -1, 4, 1, 5],
        [3, 6, -7, -8, 2, 3],
        [3, 5, -2, 5, 0, -6],
        [-5, 4, 2, 5, 7, 4],
        [-4, 0, -1, -4, 6, 7],
        [0, -5, -2, -2, 2, 6],
    ];
    let dir = TempDir::new().unwrap();
    let data = rows.as_flattened().iter().map(|weight| weight.cast_unsigned()).collect::<Vec<_>>();
    std::fs::write(dir.path().join("w.npy"), npy("|i1", "(8, 6)", &data)).unwrap();
    let matrix = ["w.npy", "--input-type", "u3.0"];
    let bounded = [&matrix[..], &["--cmvm-latency", "5"]].concat();
    fine(&dir, &[&bounded[..], &["-O2", "--verilog", "w.v", "--vhdl", "w.vhd"]].concat());
    for file in ["w.v", "w.vhd"] {
        fine(&dir, &[&["prove"], &matrix[..], &[file]].concat());
    }
    // A model has no latency of matrices, whatever the header of the file states.
    fine(&dir, &[&["convert"], &bounded[..], &["-o", "w.json"]].concat());
    fine(&dir, &["prove", "w.json", "w.v"]);
    // Latencies that no graph has and that are none.
    let text = std::fs::read_to_string(dir.path().join("w.v")).unwrap();
    fine(&dir, &[&matrix[..], &["--verilog", "plain.v"]].concat());
    let plain = std::fs::read_to_string(dir.path().join("plain.v")).unwrap();
    let command = text.lines().find(|line| line.starts_with("// command: ")).unwrap();
    for latency in ["0.5", "-1", "nan", "x", ""] {
        let stated = command.replace("--cmvm-latency 5", &format!("--cmvm-latency {latency}"));
        let own = plain.lines().find(|line| line.starts_with("// command: ")).unwrap();
        std::fs::write(dir.path().join("plain.v"), plain.replace(own, &stated)).unwrap();
        fine(&dir, &[&["prove"], &matrix[..], &["plain.v"]].concat());
    }
}

/// A count of 16 bits: on Intel's devices a table of five bits and adders that add functions of four bits.
#[test]
fn adders_of_adaptive_logic_modules_absorb_functions_of_four_bits() {
    let dir = TempDir::new().unwrap();
    std::fs::write(dir.path().join("ones.npy"), npy("|i1", "(16, 1)", &[1; 16])).unwrap();
    let tables = |more: &[&str]| {
        let args = ["info", "ones.npy", "--input-type", "u1.0", "--device", "agilex", "--json"];
        let info: Value = serde_json::from_str(&fine(&dir, &[&args, more].concat())).unwrap();
        let tables = &info["estimate"]["tables"];
        let count = |kind: &str| tables[kind].as_u64().unwrap();
        (count("logic") + count("multiplexers"), count("carry"))
    };
    assert_eq!(tables(&["-O2"]), (3, 16));
    // A function of five bits does not fit in the adder; on AMD's devices it does.
    let (logic, _) = tables(&["--passes", "ranges,linear,ranges,bitsums,dce"]);
    assert!(logic > 3, "{logic}");
}

#[test]
fn only_plain_opcodes_are_written() {
    let dir = small();
    fine(&dir, &["convert", "matrix.npy", "-o", "m.json", "--input-type", "s8.2"]);
    let model: Value = serde_json::from_slice(&std::fs::read(dir.path().join("m.json")).unwrap()).unwrap();
    let ops = model["model"][5].as_array().unwrap();
    assert!(ops.len() > 3);
    for op in ops {
        let opcode = op[1].as_i64().unwrap();
        assert!([-1, -2, 0, 1, 3].contains(&opcode), "{opcode}");
    }
}

#[test]
fn reals_are_encoded_by_the_mode_of_the_type() {
    let dir = small();
    std::fs::write(dir.path().join("one.npy"), npy("|i1", "(1, 1)", &[1])).unwrap();
    std::fs::write(dir.path().join("x.csv"), "2.5\n3.5\n-2.5\n99\n-99\n").unwrap();
    let run =
        |input_type| fine(&dir, &["run", "one.npy", "--input-type", input_type, "--input", "x.csv", "--output", "-"]);
    assert_eq!(run("s4.0"), "2.0\n3.0\n-3.0\n3.0\n-3.0\n");
    assert_eq!(run("s4.0,RND_CONV,SAT"), "2.0\n4.0\n-2.0\n7.0\n-8.0\n");
    assert_eq!(run("s4.0,RND_INF,SAT_SYM"), "3.0\n4.0\n-3.0\n7.0\n-7.0\n");
    assert_eq!(run("u4.0,TRN_ZERO,SAT_ZERO"), "2.0\n3.0\n0.0\n0.0\n0.0\n");
}

#[test]
fn the_least_latency_is_told_and_taken() {
    let dir = small();
    let args = ["matrix.npy", "--input-type", "s8.0", "--verilog", "m.v"];
    let ran = alir2hdl(&dir, &[&args[..], &["--cmvm-latency", "0.5"]].concat());
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--cmvm-latency") && !dir.path().join("m.v").exists(), "{}", ran.err);
    let least = ran.err.split("possible is ").nth(1).unwrap().split_whitespace().next().unwrap();
    fine(&dir, &[&args[..], &["--cmvm-latency", least, "--cmvm-budget", "2"]].concat());
}

#[test]
fn timings_tell_the_solver_apart() {
    let dir = small();
    let out = fine(&dir, &["matrix.npy", "--input-type", "s8.0", "--verilog", "m.v", "--timings", "--json"]);
    let said: Value = serde_json::from_str(&out).unwrap();
    assert!(said["cmvm_solve"]["cpu_seconds"].as_f64().unwrap() > 0.0, "{said}");
}

#[test]
fn what_is_no_matrix_is_refused_with_its_place() {
    let dir = small();
    let write = |name: &str, bytes: Vec<u8>| std::fs::write(dir.path().join(name), bytes).unwrap();
    write("axes.npy", npy("|i1", "(2, 2, 2)", &[1; 8]));
    write("empty.npy", npy("|i1", "(0, 2)", &[]));
    write("complex.npy", npy("<c8", "(1, 1)", &[0; 8]));
    write("object.npy", npy("|O", "(1, 1)", &[0; 8]));
    write("nan.npy", npy("<f8", "(1, 2)", &[1.0f64.to_le_bytes(), f64::NAN.to_le_bytes()].concat()));
    write("short.npy", npy("<f8", "(2, 2)", &[0; 31]));
    write("large.npy", npy("|i1", "(1024, 1024)", &vec![1; 1 << 20]));
    for (file, word) in [
        ("axes.npy", "[2, 2, 2]"),
        ("empty.npy", "empty"),
        ("complex.npy", "c8"),
        ("object.npy", "O"),
        ("nan.npy", "row 0, column 1 is NaN"),
        ("short.npy", "ends"),
        ("large.npy", "--max-adders 3145728"),
    ] {
        refused(&dir, &["convert", file, "-o", "out.json", "--input-type", "s8.0"], &[file, word]);
        refused(&dir, &[file, "--verilog", "out.v", "--input-type", "s8.0"], &[file, word]);
    }
    refused(&dir, &["matrix.npy", "--verilog", "m.v"], &["--input-type"]);
    refused(&dir, &["matrix.npy", "--verilog", "m.v", "--input-type", "s8"], &["--input-type", "not a type"]);
    refused(&dir, &["matrix.npy", "--verilog", "m.v", "--input-type", "s8.0,FLOOR"], &["--input-type", "RND_CONV"]);
    refused(
        &dir,
        &["matrix.npy", "--verilog", "m.v", "--input-type", "s8.0", "--cmvm-latency=-1"],
        &["--cmvm-latency"],
    );
}
