//! The program and the models, for tests of the command line.

use assert_cmd::Command;
use std::path::Path;

/// Where a model of the tests lies.
#[allow(dead_code, reason = "not every test that shares this file reads a model")]
pub(crate) fn model(name: &str) -> String {
    format!("{}/tests/data/models/{name}/model.json.gz", env!("CARGO_MANIFEST_DIR"))
}

/// Generated text without the lines of its head that say which command and model it comes from.
#[allow(dead_code, reason = "not every test that shares this file compares texts")]
pub(crate) fn body(text: &str) -> String {
    let is_origin = |line: &str| {
        let comment = line.strip_prefix("// ").or_else(|| line.strip_prefix("-- "));
        comment.is_some_and(|said| said.starts_with("command: ") || said.starts_with("model: SHA-256 "))
    };
    text.lines().filter(|line| !is_origin(line)).map(|line| format!("{line}\n")).collect()
}

/// Runs the program in a folder: exit code, standard output and standard error.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_alir2hdl"));
    let output = command.current_dir(folder).args(arguments).output().expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}
