//! Files and places that other people bring along: names with control characters, folders in use, devices that are
//! full.

use crate::common::run;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// `y = x` of two 8-bit inputs as the byte-wide model of the examples below.
const MODEL: &str = include_str!("../data/foreign/pair.json");

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("m.json"), MODEL).expect("the model is written");
    folder
}

/// Runs the program with `input` on standard input and a changed environment.
fn run_with(folder: &Path, arguments: &[&str], input: &[u8], environment: &[(&str, &str)]) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_alir2hdl"))
        .current_dir(folder)
        .args(arguments)
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("a pipe").write_all(input).expect("the program reads");
    let output = child.wait_with_output().expect("the program ends");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

#[test]
fn names_of_onnx_nodes_cannot_forge_messages() {
    let folder = folder();
    let onnx = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/foreign/names.onnx");
    let evil = "bad\nerror[E9999]: forged.onnx";
    fs::copy(onnx, folder.path().join(evil)).expect("a copy");
    let (status, _, stderr) = run(folder.path(), &["check", evil]);
    assert_eq!(status, 2);
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.contains("bad\\nerror[E9999]: forged.onnx at node */ evil\\n\\u{1b}[31mred"), "{stderr}");
    let (status, stdout, stderr) = run(folder.path(), &["info", evil]);
    assert_eq!((status, stderr.as_str()), (0, ""));
    assert!(stdout.contains("\nnot supported: node */ evil\\n\\u{1b}[31mred"), "{stdout}");
}

#[test]
fn standard_output_and_input_are_called_by_their_names() {
    let folder = folder();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("the device");
    let output = Command::new(env!("CARGO_BIN_EXE_alir2hdl"))
        .current_dir(folder.path())
        .args(["m.json", "--verilog", "-"])
        .stdout(full)
        .output()
        .expect("the program runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr.starts_with("error[E0001] in stdout: cannot write"), "{stderr}");
    let (_, verilog, _) = run(folder.path(), &["m.json", "--verilog", "-"]);
    let (status, stdout, stderr) = run_with(folder.path(), &["prove", "m.json", "-"], verilog.as_bytes(), &[]);
    assert_eq!(status, 0, "{stderr}");
    assert!(stdout.starts_with("proved"), "{stdout}");
    let (status, _, stderr) = run_with(folder.path(), &["prove", "-", "-"], b"", &[]);
    assert_eq!(status, 2);
    assert!(stderr.contains("E0709"), "{stderr}");
}

#[test]
fn sim_temporary_folders_that_cannot_be_used_are_the_users_matter() {
    let folder = folder();
    for place in ["/nonexistent", "/dev/null", "/proc"] {
        let (status, _, stderr) =
            run_with(folder.path(), &["verify", "m.json", "--vectors", "5"], b"", &[("TMPDIR", place)]);
        assert_eq!(status, 2, "{place}: {stderr}");
        assert!(
            stderr.starts_with(&format!("error[E0001] in {place}: cannot use as the folder of temporary")),
            "{stderr}"
        );
    }
}

#[test]
fn sim_a_kept_folder_is_used_by_one_run_at_a_time() {
    let folder = folder();
    let kept = folder.path().join("kept");
    fs::create_dir(&kept).expect("a folder");
    let handle = fs::File::open(&kept).expect("the folder");
    handle.lock().expect("a lock");
    let verify = ["verify", "m.json", "--vectors", "5", "--sim", "iverilog", "--lang", "verilog", "--keep", "kept"];
    let (status, _, stderr) = run(folder.path(), &verify);
    assert_eq!(status, 2);
    assert!(stderr.starts_with("error[E1007] in kept: another run is using the folder"), "{stderr}");
    drop(handle);
    let (status, _, stderr) = run(folder.path(), &verify);
    assert_eq!(status, 0, "{stderr}");
}

#[test]
fn empty_folders_are_no_project_of_somebody_else() {
    let folder = folder();
    let project = ["project", "m.json", "--output", "p", "--flow", "yosys"];
    fs::create_dir_all(folder.path().join("p/rtl/deep")).expect("folders");
    let (status, _, stderr) = run(folder.path(), &project);
    assert_eq!(status, 0, "{stderr}");
    fs::remove_dir_all(folder.path().join("p")).expect("a folder");
    fs::create_dir_all(folder.path().join("p/rtl")).expect("folders");
    fs::write(folder.path().join("p/rtl/mine"), "").expect("a file");
    let (status, _, stderr) = run(folder.path(), &project);
    assert_eq!(status, 2);
    assert!(stderr.contains("E0805"), "{stderr}");
}

/// A model of one input and one output, both signed integers of 80 bits.
const WIDE: &str = r#"{"meta": "ALIRModel", "spec_version": 4, "model": [[1, 1], [0], [0], [0], [false],
    [[[], -1, [0], [-604462909807314587353088, 604462909807314587353087, 1], 0, 0]], -1, -1]}"#;

#[test]
fn integers_of_csv_files_keep_all_bits() {
    let folder = folder();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write("wide.json", WIDE);
    write("x.csv", "value\n9007199254740993\n-100000000000000000000000\n18446744073709551617.0\n-1e-400\n1e400\n");
    let codes = "9007199254740993\n-100000000000000000000000\n18446744073709551617\n-1\n0\n";
    write("y.csv", codes);
    let (status, stdout, stderr) = run(folder.path(), &["run", "wide.json", "--input", "x.csv", "--output", "-"]);
    assert_eq!((status, stdout.lines().count()), (0, 5), "{stderr}");
    assert!(
        stderr.contains("note[N0703] in x.csv at line 1, column 1: line 1 is taken for a heading: value"),
        "{stderr}"
    );
    let verify = ["verify", "wide.json", "--input", "x.csv", "--expect", "y.csv", "--lang", "verilog"];
    let project = ["project", "wide.json", "--output", "p", "--flow", "yosys", "--input", "x.csv", "--expect", "y.csv"];
    let (status, _, stderr) = run(folder.path(), &project);
    assert_eq!(status, 0, "{stderr}");
    assert!(stderr.contains("N0703"), "{stderr}");
    write("y.csv", &codes.replacen("993", "992", 1));
    let (status, stdout, stderr) = run(folder.path(), &verify);
    assert_eq!(status, 1, "{stderr}");
    assert!(stdout.contains("1 expected value is not the model's own"), "{stdout}");
}

#[test]
fn lines_that_are_no_heading_are_refused() {
    let folder = folder();
    for (line, field) in [("\"1.5\",\"2\"", 1), (",", 1), ("NA,NA", 1), ("1.5D0,2D0", 1), ("x,\u{2212}2", 2)] {
        fs::write(folder.path().join("x.csv"), format!("{line}\n1,2\n")).expect("a file");
        for command in [&["run", "m.json", "--output", "-"][..], &["verify", "m.json"]] {
            let (status, stdout, stderr) = run(folder.path(), &[command, &["--input", "x.csv"]].concat());
            assert_eq!((status, stdout.as_str()), (2, ""), "{line}");
            let expected = format!("error[E0703] in x.csv at line 1, column 1: field {field}: ");
            assert!(stderr.starts_with(&expected), "{line}: {stderr}");
        }
    }
}

#[test]
fn archives_arrays_and_packed_sources_are_called_what_they_are() {
    let folder = folder();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("a file");
    write("empty.npz", b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    write("w.npz", b"PK\x03\x04\x14\0\0\0\0\0\0\0");
    write("packed.v", b"\x1f\x8b\x08\0\0\0\0\0");
    let header = "{'descr': '<c16', 'fortran_order': False, 'shape': (1, 2), }\n";
    let npy = [b"\x93NUMPY\x01\0", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), &[0; 32]].concat();
    write("complex.npy", &npy);
    for (arguments, code, says) in [
        ("run m.json --input empty.npz --output -", "E0702", "the archive has no arrays"),
        ("w.npz --input-type s8.0 --verilog o.v", "E0115", "a zip archive (npz)"),
        ("check empty.npz", "E0115", "an empty zip archive (npz)"),
        ("complex.npy --input-type s8.0 --verilog o.v", "E1501", "complex numbers"),
        ("run m.json --input complex.npy --output -", "E0702", "complex numbers"),
        ("prove m.json packed.v", "E0913", "this is a gzip file"),
        ("verify m.json --rtl packed.v", "E0913", "this is a gzip file"),
        ("run m.json --input packed.v --output -", "E0702", "this is a gzip file"),
    ] {
        let words: Vec<&str> = arguments.split(' ').collect();
        let (status, stdout, stderr) = run(folder.path(), &words);
        assert_eq!((status, stdout.as_str()), (2, ""), "{arguments}: {stderr}");
        assert!(stderr.starts_with(&format!("error[{code}]")) && stderr.contains(says), "{arguments}: {stderr}");
    }
}

#[test]
fn the_largest_code_of_a_matrix_needs_no_float64() {
    let folder = folder();
    let header = format!("{:<69}\n", "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 1), }");
    let npy = [b"\x93NUMPY\x01\x00\x46\x00", header.as_bytes(), &[1]].concat();
    fs::write(folder.path().join("m.npy"), npy).expect("a file");
    fs::write(folder.path().join("large.csv"), "1e30\n-1e30\n4611686018427387905.5\n").expect("a file");
    fs::write(folder.path().join("y.csv"), "9223372036854775807\n-9223372036854775808\n4611686018427387906\n")
        .expect("a file");
    let project = "project m.npy --input-type s64.0,RND,SAT --input large.csv --expect y.csv --output p --flow yosys";
    let (status, _, stderr) = run(folder.path(), &project.split(' ').collect::<Vec<_>>());
    assert_eq!(status, 0, "{stderr}");
}

#[test]
fn conditions_of_real_graphs_are_known() {
    let folder = folder();
    let graph = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/network/ir/mlp_relu/net.json");
    let graph = fs::read_to_string(graph).expect("a graph");
    for (condition, config, status) in [
        ("rope_disabled", "{}", 0),
        ("rope_theta", "{\"rope_theta\": 10000.0}", 0),
        ("rope_theta>0", "{}", 0),
        ("has_pos_emb", "{}", 0),
        // Nothing that is selected depends on it (W2001).
        ("no_such_thing", "{}", 0),
    ] {
        let changed = graph.replacen("\"condition\": null", &format!("\"condition\": \"{condition}\""), 1);
        let changed = changed.replacen("\"config\": {}", &format!("\"config\": {config}"), 1);
        fs::write(folder.path().join("net.json"), changed).expect("written");
        let (found, _, stderr) = run(folder.path(), &["info", "net.json"]);
        assert_eq!(found, status, "{condition}: {stderr}");
        assert_eq!(stderr.contains("warning[W2001]"), condition == "no_such_thing", "{condition}: {stderr}");
    }
}
