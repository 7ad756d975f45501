//! No result goes into a file that the same command reads, whatever way its path is spelt; no two results go into one
//! file.

use assert_cmd::Command;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/models/");

/// A folder with a model, samples and RTL of the model, and links to them.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::copy(format!("{DATA}tiny_ops/model.json.gz"), at("m.json.gz")).expect("copied");
    fs::copy(format!("{DATA}tiny_ops/inputs.npy"), at("x.npy")).expect("copied");
    alir2hdl(folder.path(), &["m.json.gz", "--verilog", "t.v"]).assert().code(0);
    fs::create_dir(at("sub")).expect("made");
    #[cfg(unix)]
    {
        for name in ["m.json.gz", "x.npy", "t.v"] {
            std::os::unix::fs::symlink(at(name), at(&format!("link_{name}"))).expect("linked");
            fs::hard_link(at(name), at(&format!("hard_{name}"))).expect("linked");
        }
        std::os::unix::fs::symlink(folder.path(), at("here")).expect("linked");
    }
    folder
}

fn alir2hdl(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_alir2hdl"));
    command.current_dir(folder).args(arguments);
    command
}

/// All files below a folder.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        match fs::symlink_metadata(&entry).expect("there").is_dir() {
            true => files.extend(contents(&entry)),
            false => drop(files.insert(entry.clone(), fs::read(&entry).unwrap_or_default())),
        }
    }
    files
}

#[track_caller]
fn refused(folder: &Path, arguments: &[&str], code: &str) {
    let before = contents(folder);
    let output = alir2hdl(folder, arguments).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(said.starts_with(&format!("error[{code}]")), "{arguments:?}: {said}");
    assert!(contents(folder) == before, "{arguments:?} wrote something");
}

/// Ways to write the path of a file in the folder.
fn spellings(name: &str, folder: &Path) -> Vec<String> {
    let whole = folder.join(name).display().to_string();
    let mut all = vec![name.to_owned(), format!("./{name}"), format!("sub/../{name}"), whole];
    if cfg!(unix) {
        all.extend([format!("link_{name}"), format!("hard_{name}"), format!("here/{name}")]);
    }
    all
}

#[test]
fn no_result_replaces_what_the_command_reads() {
    let folder = folder();
    let folder = folder.path();
    for model in spellings("m.json.gz", folder) {
        for flag in ["--verilog", "--vhdl", "--interface"] {
            refused(folder, &["m.json.gz", flag, &model], "E0003");
        }
        refused(folder, &["view", "m.json.gz", "-o", &model], "E0003");
        refused(folder, &["view", "m.json.gz", "-o", "page.html", "--svg", &model], "E0003");
        refused(folder, &["info", "m.json.gz", "--sweep", "--svg", &model], "E0003");
        refused(folder, &["run", "m.json.gz", "--input", "x.npy", "--output", &model], "E0003");
        refused(folder, &["prove", "m.json.gz", "t.v", "--testbench", &model], "E0003");
    }
    for samples in spellings("x.npy", folder) {
        refused(folder, &["run", "m.json.gz", "--input", "x.npy", "--output", &samples], "E0003");
        refused(folder, &["run", "m.json.gz", "--input", &samples, "--output", "x.npy"], "E0003");
        refused(folder, &["view", "m.json.gz", "--input", "x.npy", "-o", &samples], "E0003");
    }
    for text in spellings("t.v", folder) {
        refused(folder, &["prove", "m.json.gz", "t.v", "--testbench", &text], "E0003");
    }
    // What is read from standard input is a file as well.
    let stdin = fs::File::open(folder.join("m.json.gz")).expect("there");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_alir2hdl"));
    let command = command.current_dir(folder).args(["-", "--verilog", "m.json.gz"]).stdin(stdin);
    if cfg!(unix) {
        assert_eq!(command.output().expect("it runs").status.code(), Some(2));
        assert!(fs::read(folder.join("m.json.gz")).expect("there").starts_with(&[0x1f, 0x8b]));
    }
    // In place is meant here.
    alir2hdl(folder, &["convert", "m.json.gz", "./m.json.gz"]).assert().code(0);
    alir2hdl(folder, &["check", "m.json.gz"]).assert().code(0);
}

#[test]
fn no_folder_of_results_replaces_or_deletes_what_the_command_reads() {
    let folder = folder();
    let folder = folder.path();
    // A project that is written again, with its model among its files.
    alir2hdl(folder, &["project", "m.json.gz", "--output", "p"]).assert().code(0);
    for name in ["metadata.json", "rtl/m.v"] {
        fs::copy(format!("{DATA}tiny_ops/model.json.gz"), folder.join("p").join(name)).expect("copied");
        refused(folder, &["project", &format!("p/{name}"), "--output", "p", "--top", "m"], "E0001");
    }
    // The statement of a proof.
    fs::create_dir(folder.join("proof")).expect("made");
    fs::copy(folder.join("t.v"), folder.join("proof/report.json")).expect("copied");
    refused(folder, &["prove", "m.json.gz", "proof/report.json", "--certificate", "proof"], "E0001");
    // A folder of a simulation is emptied first.
    if std::process::Command::new("iverilog").arg("-V").output().is_ok() {
        fs::create_dir_all(folder.join("kept/iverilog")).expect("made");
        fs::write(folder.join("kept/iverilog/run.sh"), "").expect("written");
        let model = folder.join("kept/iverilog/m.json.gz");
        fs::copy(folder.join("m.json.gz"), model).expect("copied");
        let arguments = ["verify", "kept/iverilog/m.json.gz", "--sim", "iverilog", "--keep", "kept"];
        refused(folder, &arguments, "E0001");
    }
    // Arrays of a state machine, one of which is a link to where a result goes.
    #[cfg(unix)]
    {
        let data = format!("{DATA}fsm/biquad/");
        let arrays = folder.join("arrays");
        fs::create_dir(&arrays).expect("made");
        fs::copy(format!("{data}in.rst.npy"), arrays.join("rst.npy")).expect("copied");
        fs::copy(format!("{data}in.x.npy"), arrays.join("y.npy")).expect("copied");
        std::os::unix::fs::symlink("y.npy", arrays.join("x.npy")).expect("linked");
        let machine = format!("{data}fsm.json.gz");
        refused(folder, &["run", &machine, "--input", "arrays", "--output", "arrays"], "E0001");
        alir2hdl(folder, &["run", &machine, "--input", "arrays", "--output", "other"]).assert().code(0);
    }
}

#[test]
fn no_two_results_share_a_file() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("out.v"), "old").expect("written");
    for (first, second) in [("out.v", "./out.v"), ("new.v", "sub/../new.v"), ("-", "-"), ("-", "/dev/stdout")] {
        refused(folder, &["m.json.gz", "--verilog", first, "--vhdl", second], "E0802");
        refused(folder, &["m.json.gz", "--interface", second, "--vhdl", first], "E0802");
    }
    refused(folder, &["view", "m.json.gz", "-o", "page.html", "--svg", "./page.html"], "E0802");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("out.v", folder.join("link.v")).expect("linked");
        refused(folder, &["m.json.gz", "--verilog", "out.v", "--vhdl", "link.v"], "E0802");
        refused(folder, &["m.json.gz", "--verilog", "new.v", "--vhdl", "here/new.v"], "E0802");
        // Two results that are not needed.
        alir2hdl(folder, &["m.json.gz", "--verilog", "/dev/null", "--vhdl", "/dev/null"]).assert().code(0);
    }
}

#[test]
fn no_folder_is_standard_output() {
    let dir = folder();
    for arguments in [
        &["project", "m.json.gz", "-o", "-"][..],
        &["explore", "m.json.gz", "-o", "-"],
        &["verify", "m.json.gz", "--keep", "-"],
        &["prove", "m.json.gz", "m.v", "--certificate", "-"],
        &["man", "-o", "-"],
    ] {
        refused(dir.path(), arguments, "E0802");
    }
}

#[test]
fn global_options_stand_before_and_behind_a_sub_command() {
    let folder = folder();
    let silent = |arguments: &[&str]| {
        let output = alir2hdl(folder.path(), arguments).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{arguments:?}");
    };
    silent(&["-q", "check", "m.json.gz"]);
    silent(&["check", "m.json.gz", "-q"]);
    silent(&["--quiet", "--error-format", "json", "check", "m.json.gz"]);
    for arguments in
        [["--error-format", "json", "check", "absent.json"], ["check", "--error-format", "json", "absent.json"]]
    {
        let said = alir2hdl(folder.path(), &arguments).assert().code(2).get_output().stderr.clone();
        let said: serde_json::Value = serde_json::from_slice(&said).expect("JSON");
        assert_eq!(said["code"], "E0001");
    }
    for (typed, meant) in [("chek", "check"), ("veiw", "view"), ("projct", "project"), ("verfy", "verify")] {
        let said = alir2hdl(folder.path(), &["-q", typed, "m.json.gz"]).assert().code(2).get_output().stderr.clone();
        let said = String::from_utf8(said).expect("text");
        assert!(said.contains(&format!("did you mean `{meant}`?")), "{said}");
    }
}

/// `-` is standard output for every result, and no file of that name is written.
#[test]
fn results_go_to_standard_output() {
    let folder = folder();
    let before = contents(folder.path());
    for (arguments, beginning) in [
        (&["m.json.gz", "--vhdl", "-"][..], "-- Generated by alir2hdl"),
        (&["m.json.gz", "--interface", "-"], "{"),
        (&["view", "m.json.gz", "--pipeline", "2", "-o", "-"], "<!DOCTYPE html>"),
        (&["convert", "m.json.gz", "-"], "{"),
    ] {
        let output = alir2hdl(folder.path(), arguments).output().expect("it runs");
        assert!(output.status.success() && output.stdout.starts_with(beginning.as_bytes()), "{arguments:?}");
    }
    assert!(contents(folder.path()) == before);
}

/// A device that cannot be written leaves no result of the same command.
#[cfg(target_os = "linux")]
#[test]
fn a_full_device_leaves_no_other_result() {
    let folder = folder();
    for arguments in [
        &["m.json.gz", "-o", "made.v", "--interface", "/dev/full"][..],
        &["m.json.gz", "-o", "made.v,made.vhd", "--cpp", "/dev/full"],
    ] {
        refused(folder.path(), arguments, "E0001");
    }
}
