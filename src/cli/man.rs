//! `alir2hdl man`: manual pages of the program and of each sub-command. Also formats the closing sections of `--help`,
//! which the manual pages contain too.

use super::{ExitStatus, Failure, print};
use crate::diag::{Diagnostic, Place};
use crate::files::FileSet;
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::io;
use std::path::PathBuf;

/// Print a manual page, or write them all
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl man | man -l -
  alir2hdl man verify | man -l -
  alir2hdl man --output ~/.local/share/man/man1      alir2hdl.1, alir2hdl-check.1, ...")]
pub(super) struct Args {
    /// The sub-command [default: the page of alir2hdl itself]
    #[arg(value_name = "COMMAND")]
    page: Option<String>,
    /// Write all pages into this folder instead
    #[arg(short, long, value_name = "DIR", conflicts_with = "page")]
    output: Option<PathBuf>,
}

/// Exit codes and their descriptions, at the end of every page.
const EXIT_STATUS: &[(&str, &str)] = &[
    ("0", "All is well."),
    ("1", "A comparison found a difference."),
    ("2", "The input or the request is wrong. Nothing was written."),
    ("3", "A tool that is needed is not there."),
    ("4", "A mistake of alir2hdl itself."),
    ("5", "Undecided: a proof or a simulation reached its limits."),
    ("130", "Interrupted. Half-written files are gone."),
];

const ENVIRONMENT: &[(&str, &str)] = &[
    ("ALIR2HDL_TOOLS", "Folders in which simulators, yosys and solvers are looked for before those of PATH."),
    ("ALIR2HDL_VERILATOR, ALIR2HDL_IVERILOG, ALIR2HDL_GHDL, ALIR2HDL_YOSYS", "One such program directly."),
    ("TMPDIR", "Where temporary files go."),
    ("NO_COLOR", "If set and not empty: no colours."),
];

/// Runs the sub-command; `command` is the whole command line.
pub(super) fn run(args: &Args, mut command: Command) -> Result<ExitStatus, Failure> {
    command.build();
    let failed = |e: &io::Error| Failure::io("stdout".as_ref(), "write", e);
    if let Some(folder) = &args.output {
        let mut pages = FileSet::default();
        for page in std::iter::once(&command).chain(named(&command)) {
            pages.add(format!("{}.1", name(page)), page_of(page, &command).map_err(|e| failed(&e))?);
        }
        pages.write_to(folder).map_err(|e| Failure::io(folder, "write", &e))?;
        return Ok(ExitStatus::Ok);
    }
    let page = match &args.page {
        None => &command,
        Some(asked) => named(&command).find(|sub| sub.get_name() == asked).ok_or_else(|| no_page(asked, &command))?,
    };
    print(&page_of(page, &command).map_err(|e| failed(&e))?)
}

/// Returns the sub-commands that have a page.
fn named(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| sub.get_name() != "help")
}

fn no_page(asked: &str, command: &Command) -> Failure {
    let names: Vec<&str> = named(command).map(Command::get_name).collect();
    let error =
        Diagnostic::error("E0002", Place::Flag("COMMAND".into()), format!("no sub-command is called {asked:?}"));
    Failure::input(match super::near(asked, names.iter().copied()) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None => error.with_help(format!("sub-commands are {}", names.join(", "))),
    })
}

/// Returns the name of a page, without its section number.
fn name(page: &Command) -> String {
    page.get_display_name().unwrap_or_else(|| page.get_name()).to_owned()
}

fn page_of(page: &Command, whole: &Command) -> io::Result<Vec<u8>> {
    // The closing text is formatted separately as sections.
    let man = Man::new(page.clone().after_help("").after_long_help(""))
        .title(name(page))
        .manual("alir2hdl")
        .source(concat!("alir2hdl ", env!("CARGO_PKG_VERSION")));
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    let is_whole = page.get_name() == whole.get_name();
    if is_whole {
        let mut roff = Roff::new();
        roff.control("SH", ["SUBCOMMANDS"]);
        for sub in named(whole) {
            roff.control("TP", []);
            roff.text([bold(name(sub)), roman("(1)")]);
            roff.text([roman(sub.get_about().map(ToString::to_string).unwrap_or_default())]);
        }
        roff.to_writer(&mut out)?;
    }
    let mut roff = Roff::new();
    closing(&page.get_after_help().map(ToString::to_string).unwrap_or_default(), &mut roff);
    for (heading, rows) in [("EXIT STATUS", EXIT_STATUS), ("ENVIRONMENT", ENVIRONMENT)] {
        roff.control("SH", [heading]);
        for (term, meaning) in rows {
            roff.control("TP", []);
            roff.text([bold(*term)]);
            roff.text([roman(*meaning)]);
        }
    }
    roff.control("SH", ["SEE ALSO"]);
    let others = std::iter::once(whole).chain(named(whole)).filter(|other| other.get_name() != page.get_name());
    roff.text([roman(others.map(|other| format!("{}(1)", name(other))).collect::<Vec<_>>().join(", "))]);
    roff.to_writer(&mut out)?;
    Ok(out)
}

/// Appends a closing text: examples without changes, other paragraphs as flowing text.
fn closing(text: &str, roff: &mut Roff) {
    let mut in_notes = false;
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        let (first, rest) = paragraph.split_once('\n').unwrap_or((paragraph, ""));
        match first {
            "Example:" | "Examples:" => {
                roff.control("SH", ["EXAMPLES"]);
                roff.control("nf", []);
                rest.lines().for_each(|line| {
                    roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
                });
                roff.control("fi", []);
                in_notes = false;
            }
            // Every page already has a section about exit codes.
            "Exit codes:" => {}
            _ => {
                roff.control(if in_notes { "PP" } else { "SH" }, (!in_notes).then_some("NOTES"));
                in_notes = true;
                roff.text([roman(paragraph.lines().map(str::trim).collect::<Vec<_>>().join(" "))]);
            }
        }
    }
}

/// Returns a closing text with each paragraph on one line, for callers that wrap lines to the width of a terminal.
/// Paragraphs with indented lines are not changed.
pub(super) fn unbroken(text: &str) -> String {
    let one = |paragraph: &str| match paragraph.lines().any(|line| line.starts_with(' ')) {
        true => paragraph.to_owned(),
        false => paragraph.lines().collect::<Vec<_>>().join(" "),
    };
    text.split("\n\n").map(one).collect::<Vec<_>>().join("\n\n")
}
