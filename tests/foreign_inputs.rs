//! Files and places that other people bring along: names with control characters, folders in use, devices that are full.

#[path = "common/mod.rs"]
mod common;

use common::run;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// `y = x` of two 8-bit inputs as the byte-wide model of the examples below.
const MODEL: &str = include_str!("data/foreign/pair.json");

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
