//! The program and the models, for tests of the command line.

use alir2hdl::formats;
use alir2hdl::ir::{Builder, Op, Output, Table};
use alir2hdl::num::Interval;
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

/// Writes `table.json`: a look-up table of sixteen words of eight bits.
pub(crate) fn table_model(dir: &Path, entry: impl Fn(i32) -> i32) {
    let mut builder = Builder::new(vec![0]);
    let x = builder.op(Op::Input { input: 0 }, Interval::new(0, 15, 0));
    let out = Interval::new(0, 255, 0);
    let entries = (0..16).map(entry).collect();
    let table = builder.table(Table { entries, out: out.clone(), hash: String::new(), inp_width: 4 });
    let y = builder.op(Op::Lookup { x, table, base: 0.into() }, out);
    builder.output(Output { source: Some(y), shift: 0, neg: false });
    let mut text = Vec::new();
    formats::prepare(&builder.finish().unwrap(), formats::Target::Alir4).unwrap().write(&mut text).unwrap();
    std::fs::write(dir.join("table.json"), text).unwrap();
}
