//! The folders of `examples/`: each is run as its README says, and prints what lies beside it as the expected result.

use alir_testing::tools::{skip, tool};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The folders that have a script, in the order of their names.
fn folders() -> Vec<PathBuf> {
    let all = std::fs::read_dir(Path::new(ROOT).join("examples")).expect("the examples");
    let mut folders: Vec<PathBuf> = all.map(|entry| entry.expect("an entry").path()).collect();
    folders.retain(|folder| folder.join("run.sh").is_file());
    folders.sort();
    folders
}

/// Copies a folder with what is below it.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        match entry.file_type().expect("a type").is_dir() {
            // What an earlier run by hand left behind.
            true if entry.file_name() == "build" => {}
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).expect("the file is copied")),
        }
    }
}

/// The environment of a user: our program and the private tools are on the PATH.
fn as_user(command: &mut Command) -> &mut Command {
    let own = Path::new(env!("CARGO_BIN_EXE_alir2hdl")).parent().expect("a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let private = Path::new(ROOT).join(".venv/bin");
    let folders = std::iter::once(own).chain(std::env::split_paths(&path)).chain([private]);
    let path: OsString = std::env::join_paths(folders).expect("folders without colons");
    command.env("PATH", path).env_remove("ALIR2HDL").env_remove("MAKEFLAGS")
}

/// Runs the example of this name as its README says.
fn run(name: &str) {
    if tool("iverilog").is_none() {
        return;
    }
    let folder = Path::new(ROOT).join("examples").join(name);
    let readme = std::fs::read_to_string(folder.join("README.md")).expect("a README");
    let command = format!("    cd examples/{name} && ./run.sh\n");
    assert!(readme.contains(&command), "{name}: the README does not say how it is run");
    let copied = tempfile::tempdir().expect("a temporary folder");
    copy(&Path::new(ROOT).join("examples"), &copied.path().join("examples"));
    let mut shell = Command::new("sh");
    shell.current_dir(copied.path()).args(["-c", command.trim()]);
    let output = as_user(&mut shell).output().expect("the script starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {}\n{}{said}", output.status, String::from_utf8_lossy(&output.stdout));
    assert!(said.is_empty(), "{name} complains: {said}");
    let expected = folder.join("expected.txt");
    if std::env::var_os("ALIR2HDL_BLESS").is_some() {
        std::fs::write(&expected, &output.stdout).expect("the result is written");
    }
    let expected = std::fs::read_to_string(&expected).expect("an expected result");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{name}: see CONTRIBUTING.md for how to bless it");
}

/// A test for each folder.
macro_rules! examples {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            run(stringify!($name));
        })*

        #[test]
        fn every_example_has_a_test() {
            let named: Vec<String> =
                folders().iter().map(|f| f.file_name().expect("a name").to_string_lossy().into_owned()).collect();
            assert_eq!(named, [$(stringify!($name)),*]);
        }
    };
}

examples! { convolution_stream crc32 image_filter_axis jet_tagger_vivado moving_average quantised_network softmax_tables
transformer two_blocks }

#[test]
fn models_of_examples_are_what_their_scripts_write() {
    let python = Path::new(ROOT).join(".venv/bin/python");
    let has = |module: &str| {
        let import = Command::new(&python).args(["-c", &format!("import {module}")]).output();
        import.is_ok_and(|output| output.status.success())
    };
    if !has("alkaid.trace") {
        skip("alkaid", "not in .venv");
        return;
    }
    let made = tempfile::tempdir().expect("a temporary folder");
    for (folder, script) in [("moving_average", "make_design.py"), ("softmax_tables", "make_model.py")] {
        let script = Path::new(ROOT).join("examples").join(folder).join(script);
        let output = Command::new(&python).arg(script).arg(made.path()).output().expect("Python starts");
        assert!(output.status.success(), "{folder}: {}", String::from_utf8_lossy(&output.stderr));
    }
    for file in ["moving_average.json", "samples/x.npy", "samples/ce.npy", "samples/rst.npy"] {
        let delivered = std::fs::read(Path::new(ROOT).join("examples/moving_average").join(file)).expect("a file");
        assert!(delivered == std::fs::read(made.path().join(file)).expect("a file"), "{file} differs");
    }
    // alkaid's file may differ in costs and order; what it computes may not.
    let delivered = Path::new(ROOT).join("examples/softmax_tables/softmax.json.gz");
    let mut diff = Command::new(env!("CARGO_BIN_EXE_alir2hdl"));
    let output = diff.arg("diff").arg(delivered).arg(made.path().join("softmax.json.gz")).arg("--prove").output();
    let output = output.expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
