//! The command line: options, their semantics, messages, and the exit code.
//!
//! One file per sub-command; this file has the common parts. Results are written to stdout or to files, messages to
//! stderr. A sub-command returns an [`ExitStatus`] or a [`Failure`], and does not end the process itself.

mod browser;
mod calibrate;
mod check;
mod complete;
mod convert;
mod device;
mod devices;
mod diff;
mod diff_proof;
mod diff_rtl;
mod earlier_names;
mod emit;
mod explain;
mod explore;
mod facts;
mod graphs;
mod hardware;
mod held;
mod help;
mod idle;
mod info;
mod input;
mod kernel;
mod machine;
mod machine_proof;
pub mod machine_run;
mod man;
mod matrix;
mod names;
mod netlist;
mod network;
mod onnx;
mod optimise;
mod own;
mod paths;
mod port_arrays;
mod progress;
mod project;
mod proof_effort;
mod prove;
mod provenance;
mod report;
mod rtl_files;
mod rtl_graph;
mod run;
mod schema;
mod slips;
mod source;
mod text;
mod usage;
mod verify;
mod view;
mod witness;
mod wrapper;

use crate::compile;
use crate::diag::{Diagnostic, Diagnostics, Place, Severity};
use crate::files::Batch;
use crate::options::near;
pub use calibrate::{CalibrationOptions, SampleFile, calibrate_network};
use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
pub use convert::ConversionOptions;
pub use explore::{ExplorationOptions, explore};
pub use facts::{HardwareFacts, PortElement, StageFacts, file_kind, hardware_facts, hardware_warnings, port_types};
pub use held::HeldProgram;
use help::Detail;
pub use input::ReadingOptions;
pub use report::read as read_reports;
use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

/// Exit code of the program. The numbers are documented in `--help` and do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Success.
    Ok = 0,
    /// A comparison found a difference.
    Mismatch = 1,
    /// The input or the request is wrong.
    Input = 2,
    /// A required tool is missing.
    MissingTool = 3,
    /// An internal error.
    Bug = 4,
    /// A proof reached its limits.
    Undecided = 5,
}

/// Failure of a sub-command, with its exit code.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The exit code.
    pub status: ExitStatus,
    /// Messages to print.
    pub diagnostics: Diagnostics,
}

impl Failure {
    /// Builds the failure for wrong input or a wrong request (exit code 2).
    pub fn input(diagnostics: impl Into<Diagnostics>) -> Failure {
        Failure { status: ExitStatus::Input, diagnostics: diagnostics.into() }
    }

    /// Builds the failure for a file that cannot be read or written (exit code 2).
    pub fn io(path: &std::path::Path, doing: &str, error: &std::io::Error) -> Failure {
        let diagnostic = Diagnostic::error("E0001", Place::Whole, format!("cannot {doing}: {error}"));
        let is_output = doing.starts_with("write");
        let help = match error.kind() {
            ErrorKind::NotFound => Some(missing_file(path)),
            ErrorKind::IsADirectory => Some("this is a folder: name a file in it".to_owned()),
            ErrorKind::AlreadyExists if is_output => Some("it exists already, and is not a folder".to_owned()),
            _ => None,
        };
        let diagnostic = help.into_iter().fold(diagnostic, Diagnostic::with_help);
        Failure::input(if is_output { diagnostic.in_output(path) } else { diagnostic.in_file(path) })
    }

    /// Builds the failure for an internal error (exit code 4).
    fn bug(message: impl Into<String>) -> Failure {
        let error = Diagnostic::error("E0000", Place::Whole, message);
        Failure { status: ExitStatus::Bug, diagnostics: Diagnostic { severity: Severity::Bug, ..error }.into() }
    }

    /// Builds the failure for an external tool: exit code 3 if it is missing, otherwise 2.
    pub fn external_tool(diagnostic: Diagnostic) -> Failure {
        let missing = diagnostic.code == crate::verify::MISSING_TOOL;
        if missing { Failure::missing_tool(diagnostic) } else { Failure::input(diagnostic) }
    }

    /// Builds the failure for a missing tool (exit code 3).
    pub fn missing_tool(diagnostics: impl Into<Diagnostics>) -> Failure {
        Failure { status: ExitStatus::MissingTool, diagnostics: diagnostics.into() }
    }
}

impl From<compile::Error> for Failure {
    fn from(error: compile::Error) -> Failure {
        let status = match error.kind {
            compile::ErrorKind::Request => ExitStatus::Input,
            compile::ErrorKind::MissingTool => ExitStatus::MissingTool,
            compile::ErrorKind::Bug => ExitStatus::Bug,
            compile::ErrorKind::Undecided => ExitStatus::Undecided,
        };
        Failure { status, diagnostics: error.diagnostics }
    }
}

/// Format of diagnostics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ErrorFormat {
    /// Text.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

const ABOUT: &str = "Turns fixed-point models, networks and matrices into verified, pipelined Verilog and VHDL";

const AFTER_HELP: &str = "\
Examples:
  alir2hdl model.json.gz -o model.v --stages 3        Verilog, three stages
  alir2hdl info model.json.gz --stages 3              what it would cost
  alir2hdl prove model.json.gz model.v                is it the model, for every input?
  alir2hdl project model.json.gz -o build --flow vivado --device xcku5p --freq 200

`alir2hdl COMMAND -h` shows the common options of a command, --help all of them.
Exit codes: 0 fine, 1 mismatch found, 2 bad input or usage, 3 a needed tool is
missing, 4 internal error, 5 undecided.";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "alir2hdl",
    version,
    about = ABOUT,
    after_help = AFTER_HELP,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_flag = true,
    disable_help_subcommand = true,
    max_term_width = 110
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(flatten)]
    main_job: MainJob,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Options of `generate`; `None` without a model.
#[derive(Debug)]
struct MainJob(Option<Box<emit::Args>>);

// Not derived, as clap's derived code for an optional group ignores the options that are flattened into the group.
impl clap::FromArgMatches for MainJob {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<MainJob, clap::Error> {
        let given = matches.subcommand_name().is_none() && matches.contains_id("model");
        Ok(MainJob(match given {
            true => Some(Box::new(emit::Args::from_arg_matches(matches)?)),
            false => None,
        }))
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        *self = MainJob::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for MainJob {
    fn augment_args(command: clap::Command) -> clap::Command {
        emit::Args::augment_args(command)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        emit::Args::augment_args_for_update(command)
    }
}

/// Aliases of sub-commands, each with the name of the sub-command.
const ALIASES: &[(&str, &str)] = &[("simulate", "verify")];

/// Deprecated options of version 0.2, which still work, with their replacements.
const DEPRECATED: &[(&str, &str)] = &[
    ("--clk-name", "--port clk=NAME"),
    ("--rst-name", "--port rst=NAME"),
    ("--ce-name", "--port ce=NAME"),
    ("--valid-in-name", "--port valid_in=NAME"),
    ("--valid-out-name", "--port valid_out=NAME"),
    ("--ready-name", "--port ready=NAME"),
    ("--input-name", "--port in=NAME"),
    ("--output-name", "--port out=NAME"),
    ("--work", "--prove-effort fast, normal or max"),
    ("--sat-steps", "--prove-effort fast, normal or max"),
];

/// Returns warnings about deprecated options.
fn deprecations(words: &[OsString]) -> Diagnostics {
    let options = words.iter().take_while(|word| *word != "--").filter_map(|word| word.to_str());
    let names: Vec<&str> = options.map(|word| word.split('=').next().unwrap_or(word)).collect();
    let used = DEPRECATED.iter().filter(|(old, _)| names.contains(old));
    let warning = |(old, new): &(&str, &str)| {
        let message = format!("{old} is an option of version 0.2 and will be removed in the next version");
        Diagnostic::warning("W0803", Place::Flag((*old).into()), message).with_help(format!("use {new}"))
    };
    Diagnostics(used.map(warning).collect())
}

/// Options of every sub-command.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Global {
    /// Write messages to stderr as text or JSON
    #[arg(
        long,
        value_enum,
        default_value_t,
        global = true,
        value_name = "FORMAT",
        help_heading = "Output",
        hide_short_help = true
    )]
    pub error_format: ErrorFormat,
    /// Print errors only
    #[arg(short, long, global = true, help_heading = "Output")]
    pub quiet: bool,
    /// Print more: savings of optimisations, steps of proofs
    #[arg(short, long, global = true, help_heading = "Output", conflicts_with = "quiet")]
    pub verbose: bool,
    /// Colour messages; NO_COLOR is respected
    #[arg(
        long,
        value_enum,
        default_value_t,
        global = true,
        value_name = "WHEN",
        help_heading = "Output",
        hide_short_help = true
    )]
    pub color: ColorChoice,
}

#[derive(Debug, Subcommand)]
enum Command {
    Calibrate(Box<calibrate::Args>),
    Check(check::Args),
    Convert(convert::Args),
    Devices(devices::Args),
    Diff(diff::Args),
    Explain(explain::Args),
    Explore(Box<explore::Args>),
    Generate(Box<emit::Args>),
    Info(Box<info::Args>),
    Report(report::Args),
    Run(run::Args),
    #[command(visible_alias = "simulate")]
    Verify(Box<verify::Args>),
    View(Box<view::Args>),
    Prove(Box<prove::Args>),
    Project(Box<project::Args>),
    /// List the optimisation passes
    Passes,
    Completions(complete::Args),
    Man(man::Args),
    /// Print the version
    Version,
    /// Print the help of a command
    #[command(after_help = "Examples:\n  alir2hdl help\n  alir2hdl help prove")]
    Help {
        /// The command; without one the overview
        command: Option<String>,
    },
}

/// Returns the parser of the whole command line.
fn command() -> clap::Command {
    command_for(|_| true, Detail::All)
}

/// Builds the parser. Sub-commands for which `is_needed` returns `false` stay incomplete, as completing all of them
/// takes longer than parsing.
fn command_for(is_needed: impl Fn(&str) -> bool, detail: Detail) -> clap::Command {
    let finished = |command: clap::Command| {
        let closing = command.get_after_help().map(|text| man::unbroken(&text.to_string()));
        // A negative value gets a specific error message; without this setting it would be an unknown option.
        let command = input::with_reading_options(command).mut_args(|arg| {
            match arg.get_long().is_some() && arg.get_action().takes_values() {
                true => arg.allow_negative_numbers(true),
                false => arg,
            }
        });
        let command = help::with_detail(command, detail);
        match closing.map(|text| help::closing(&text, detail, &command)) {
            Some(closing) => command.after_help(closing),
            None => command,
        }
    };
    let whole = finished(Cli::command()).mut_subcommands(|command| match is_needed(command.get_name()) {
        true => finished(command),
        false => command,
    });
    let overview = help::overview(&whole);
    whole.arg(help::flag()).override_help(overview)
}

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    ExitCode::from(main_with(std::env::args_os().collect()))
}

/// Runs the program with a command line that begins with the name of the program; returns the exit code. The process
/// must end afterwards: panics become diagnostics, Ctrl-C ends the process, and memory is not freed.
pub fn main_with(words: Vec<OsString>) -> u8 {
    std::panic::set_hook(Box::new(|info| {
        // A closed pipe downstream (`| head`) is not an error.
        let text = info.to_string();
        let diagnostic = Diagnostic {
            severity: Severity::Bug,
            ..Diagnostic::error("E0000", Place::Whole, text.lines().collect::<Vec<_>>().join(" "))
        };
        eprintln!("{diagnostic}");
    }));
    if complete::answer(&words) {
        return ExitStatus::Ok as u8;
    }
    if words.len() < 2 {
        let _ = write!(std::io::stderr(), "{}", command_for(|_| false, Detail::Common).render_help());
        return ExitStatus::Input as u8;
    }
    // An alias also needs the parser of its sub-command.
    let text: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let named =
        |name: &str| text.contains(&name) || ALIASES.iter().any(|(alias, of)| *of == name && text.contains(alias));
    let mut command = command_for(named, Detail::requested(text.iter().copied())).color(unparsed(&words).color);
    TYPED.set(typed_aliases(&words, &command));
    let words = match paths::arranged(words.clone(), &command) {
        Ok(words) => words,
        Err(problem) => {
            report(&problem.into(), unparsed(&words));
            return ExitStatus::Input as u8;
        }
    };
    let matches = command.try_get_matches_from_mut(&words);
    let parsed = matches.and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return not_parsed(&error.format(&mut command), &words, &command) as u8,
    };
    let global = cli.global;
    report(&deprecations(&words), global);
    let protected = paths::check(&matches, self::command);
    let words = provenance::command(&matches, &command);
    // The process ends after this call, and dropping the parser would take longer than building it.
    std::mem::forget((command, matches));
    let outcome = std::panic::catch_unwind(|| {
        let _protected = protected?;
        run(cli, words)
    });
    let status = match outcome {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => {
            report(&failure.diagnostics, global);
            failure.status
        }
        Err(_) => ExitStatus::Bug,
    };
    status as u8
}

/// Returns pairs of an option and the alias by which it was given on the command line.
fn typed_aliases(words: &[OsString], command: &clap::Command) -> Vec<(String, String)> {
    let options = words.iter().take_while(|word| *word != "--").filter_map(|word| word.to_str()?.strip_prefix("--"));
    let typed: Vec<&str> = options.map(|word| word.split('=').next().unwrap_or(word)).collect();
    let sub_command = words.iter().filter_map(|word| word.to_str()).find_map(|word| command.find_subcommand(word));
    let arguments = sub_command.unwrap_or(command).get_arguments();
    let mut found: Vec<(String, String)> = arguments
        .filter_map(|arg| {
            let name = arg.get_long().filter(|name| !typed.contains(name))?;
            let alias = arg.get_visible_aliases()?.into_iter().find(|alias| typed.contains(alias))?;
            Some((format!("--{name}"), format!("--{alias}")))
        })
        .collect();
    found.sort();
    found
}

/// Returns the global options of a command line that could not be parsed; they determine the format of the error.
fn unparsed(words: &[OsString]) -> Global {
    let json = words.iter().any(|word| word == "--error-format=json")
        || words.windows(2).any(|pair| pair[0] == "--error-format" && pair[1] == "json");
    let asked = |name: &str| {
        words.iter().any(|word| word.to_str() == Some(&format!("--color={name}")))
            || words.windows(2).any(|pair| pair[0] == "--color" && pair[1] == name)
    };
    let color = match (asked("always"), asked("never")) {
        (true, _) => ColorChoice::Always,
        (_, true) => ColorChoice::Never,
        _ => ColorChoice::Auto,
    };
    Global { error_format: if json { ErrorFormat::Json } else { ErrorFormat::Text }, color, ..Global::default() }
}

thread_local! {
    /// Pairs of an option and the alias by which it was given on the command line.
    static TYPED: RefCell<Vec<(String, String)>> = const { RefCell::new(Vec::new()) };
}

/// Prints the output of the parser if there is no parsed command line: help, version, or an error.
fn not_parsed(error: &clap::Error, words: &[OsString], command: &clap::Command) -> ExitStatus {
    if error.use_stderr() {
        report(&usage::diagnose(error, words, command).into(), unparsed(words));
        return ExitStatus::Input;
    }
    match error.print() {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            report(&Failure::io("stdout".as_ref(), "write", &e).diagnostics, Global::default());
            ExitStatus::Input
        }
        _ => ExitStatus::Ok,
    }
}

/// Parses words as a command line, for library callers that set options by name.
///
/// # Errors
/// `E0002` if a word is invalid.
fn parsed(words: &[String]) -> Result<(Cli, clap::ArgMatches), Diagnostic> {
    let whole = command();
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    let parsed = whole.clone().try_get_matches_from(&words);
    let parsed = parsed.and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    parsed.map_err(|error| usage::diagnose(&error.format(&mut whole.clone()), &words, &whole))
}

/// Returns `true` for the names that messages use for standard input and output.
fn is_stream(path: &Path) -> bool {
    ["-", "stdin", "stdout"].iter().any(|name| path.as_os_str() == *name)
}

/// Returns help for a missing file: reports a missing folder in its path, or suggests a file with a similar name.
fn missing_file(path: &Path) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return format!("the folder {} does not exist", folder.display());
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(1000).flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    // Short names are similar by chance, so at most one letter may be missing or added.
    let similar = |found: &&str| found.len() > 2 && (name.len().abs_diff(found.len()) < 2 || found.starts_with(name));
    match near(name, names.iter().map(String::as_str)).filter(similar) {
        Some(name) => {
            format!("did you mean {}?", folder.join(name).strip_prefix(".").unwrap_or(&folder.join(name)).display())
        }
        None => "give the path of a file".to_owned(),
    }
}

/// Writes diagnostics to stderr in the requested format; with `--quiet` only errors.
pub fn report(diagnostics: &Diagnostics, global: Global) {
    let with_remedy = |diagnostic: &Diagnostic| {
        let mut diagnostic = diagnostic.clone();
        if diagnostic.severity == Severity::Error && diagnostic.help.is_none() {
            // Error numbers of operating systems for a missing file, and for a missing folder (Windows).
            let is_missing = ["(os error 2)", "(os error 3)"].iter().any(|end| diagnostic.message.ends_with(end));
            let file = diagnostic.file.as_deref().map(Path::new);
            let missing = file.filter(|path| diagnostic.code == "E0001" && is_missing && !path.exists());
            diagnostic.help = match missing.filter(|path| !is_stream(path)) {
                Some(path) => Some(missing_file(path)),
                None => explain::remedy(diagnostic.code),
            };
        }
        if let Place::Flag(flag) = &mut diagnostic.place {
            let known =
                TYPED.with_borrow(|all| all.iter().find(|(name, _)| name == flag).map(|(_, typed)| typed.clone()));
            if let Some(typed) = known {
                *flag = typed;
            }
        }
        if diagnostic.code == "E0002" {
            // Messages of the parser contain the name of an option; replace it with the alias that was typed.
            TYPED.with_borrow(|all| {
                for (name, typed) in all {
                    diagnostic.message = diagnostic.message.replace(&format!("'{name} "), &format!("'{typed} "));
                    if let Some(help) = &mut diagnostic.help {
                        *help = help.replace(&format!("{name} "), &format!("{typed} "));
                    }
                }
            });
        }
        diagnostic
    };
    let mut shown: Vec<_> = diagnostics
        .0
        .iter()
        .filter(|d| !global.quiet || matches!(d.severity, Severity::Error | Severity::Bug))
        .map(with_remedy)
        .collect();
    if shown.is_empty() {
        return;
    }
    if matches!(global.error_format, ErrorFormat::Text) {
        // Consecutive problems with equal help print it only once.
        for at in 1..shown.len() {
            if shown[at - 1].help == shown[at].help {
                shown[at - 1].help = None;
            }
        }
    }
    let shown = Diagnostics(shown);
    let text = match global.error_format {
        ErrorFormat::Text if is_coloured(global.color) => coloured(&format!("{shown}\n")),
        ErrorFormat::Text => format!("{shown}\n"),
        ErrorFormat::Json => shown.to_json_lines(),
    };
    // No output is possible if stderr is closed.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Returns `true` if output on stderr has colours.
fn is_coloured(choice: ColorChoice) -> bool {
    let is = |name, value: &str| std::env::var_os(name).is_some_and(|v| v == value);
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => !no_color && !is("TERM", "dumb") && std::io::stderr().is_terminal(),
    }
}

/// Adds the colours of the option parser to diagnostics: to the severity and to `help`.
fn coloured(text: &str) -> String {
    const KINDS: [(&str, u8); 4] = [("error[", 31), ("internal error[", 31), ("warning[", 33), ("note[", 36)];
    let line = |line: &str| {
        if let Some(rest) = line.strip_prefix("error:") {
            return format!("\x1b[1;31merror:\x1b[0m{rest}");
        }
        let kind = KINDS.iter().find(|(kind, _)| line.starts_with(kind));
        match (kind, line.find(']'), line.strip_prefix("  help:")) {
            (Some((_, colour)), Some(end), _) => {
                format!("\x1b[1;{colour}m{}\x1b[0m{}", &line[..=end], &line[end + 1..])
            }
            (_, _, Some(help)) => format!("  \x1b[32mhelp:\x1b[0m{help}"),
            _ => line.to_owned(),
        }
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

/// Prints a message that is not a diagnostic; with `--quiet` prints nothing.
fn say(text: &str, global: Global) {
    if !global.quiet {
        // No output is possible if stderr is closed.
        let _ = writeln!(std::io::stderr(), "{text}");
    }
}

/// Ends the process immediately on Ctrl-C or another termination signal, even during a blocking pipe operation. Before
/// exit it calls `last` and deletes temporary files.
fn on_interrupt(last: impl Fn() + Send + 'static) {
    let end = move || {
        last();
        crate::files::delete_unfinished();
        std::process::exit(130);
    };
    // Without a handler the signal also ends the process, but temporary files would remain.
    let _ = ctrlc::set_handler(end);
}

/// Runs a command; `words` is the command line for generated files.
fn run(cli: Cli, words: Vec<String>) -> Result<ExitStatus, Failure> {
    use Command::{Calibrate, Convert, Project, View};
    // `generate`, `run` and `verify` install their handlers later.
    if matches!(cli.command, Some(Calibrate(_) | Convert(_) | Project(_) | View(_))) {
        on_interrupt(|| {});
    }
    match cli.command {
        Some(Command::Calibrate(args)) => calibrate::run(&args, cli.global),
        Some(Command::Check(args)) => check::run(&args, cli.global),
        Some(Command::Convert(args)) => convert::run(&args, cli.global),
        Some(Command::Devices(args)) => devices::run(&args),
        Some(Command::Version) => print(format!("alir2hdl {}\n", env!("CARGO_PKG_VERSION")).as_bytes()),
        Some(Command::Diff(args)) => diff::run(&args, cli.global),
        Some(Command::Explain(args)) => explain::run(&args),
        Some(Command::Explore(args)) => explore::run(&args, cli.global),
        Some(Command::Generate(args)) => emit::run(&args, words, cli.global),
        Some(Command::Info(args)) => info::run(&args, cli.global),
        Some(Command::Prove(args)) => prove::run(&args, cli.global),
        Some(Command::Project(args)) => project::run(&args, words, cli.global),
        Some(Command::Report(args)) => report::run(&args, cli.global),
        Some(Command::Run(args)) => run::run(&args, cli.global),
        Some(Command::Verify(args)) => verify::run(&args, cli.global),
        Some(Command::View(args)) => view::run(&args, cli.global),
        Some(Command::Passes) => optimise::list(),
        Some(Command::Completions(args)) => complete::run(&args),
        Some(Command::Man(args)) => man::run(&args, command()),
        // `help` was replaced with `--help` before parsing.
        Some(Command::Help { .. }) => print(command().render_help().to_string().as_bytes()),
        None => match cli.main_job.0 {
            Some(args) => emit::run(&args, words, cli.global),
            None => Err(Failure::input(Diagnostic::error("E0002", Place::Whole, "there is no model"))),
        },
    }
}

/// Renames all files of a batch to their final names.
///
/// # Errors
/// If a file cannot be written (exit code 2).
fn commit(batch: Batch) -> Result<(), Failure> {
    batch.commit_each().map_err(|(path, error)| Failure::io(&path, "write", &error))
}

/// Writes a result to stdout. A closed pipe (`| head`) is not an error.
pub fn print(text: &[u8]) -> Result<ExitStatus, Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::io("stdout".as_ref(), "write", &e)),
        _ => Ok(ExitStatus::Ok),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_of_values_are_values() {
        let whole = command();
        let mut tried = 0;
        for command in whole.get_subcommands().chain([&whole]) {
            for arg in command.get_arguments() {
                let Some(example) = arg.get_long().and_then(|long| usage::example(long, arg)) else { continue };
                // An example may be followed by a comment in brackets.
                let value = example.split(" (").next().unwrap_or(example);
                let long = format!("--{}={value}", arg.get_long().unwrap_or_default());
                let invalid = [clap::error::ErrorKind::InvalidValue, clap::error::ErrorKind::ValueValidation];
                let found = command.clone().try_get_matches_from([command.get_name(), &long]).err().map(|e| e.kind());
                assert!(found.is_none_or(|kind| !invalid.contains(&kind)), "{} {long}", command.get_name());
                tried += 1;
            }
        }
        assert!(tried > 100, "{tried}");
    }

    #[test]
    fn options_by_name_are_those_of_the_parser() {
        use crate::options::{OptionFault, OptionValue};
        type Setter<'s> = &'s dyn Fn(&str) -> Result<(), OptionFault>;
        let given = OptionValue::List(Vec::new());
        fn parsed_names<T: clap::Args>() -> Vec<String> {
            let mut command = T::augment_args(clap::Command::new("options"));
            command.build();
            let names = command.get_arguments().filter_map(|arg| Some((arg.get_long()?, arg.get_all_aliases())));
            let mut names: Vec<String> = names
                .flat_map(|(name, aliases)| std::iter::once(name).chain(aliases.unwrap_or_default()))
                .filter(|name| *name != "help")
                .map(|name| name.replace('-', "_"))
                .collect();
            names.sort();
            names
        }
        let check = |mut known: Vec<&str>, parsed: Vec<String>, set: Setter<'_>| {
            known.sort_unstable();
            assert_eq!(known, parsed);
            assert_eq!(set("no_option"), Err(OptionFault::Unknown(None)));
            for name in known {
                assert!(!matches!(set(name), Err(OptionFault::Unknown(_))), "{name}");
            }
        };
        check(ReadingOptions::NAMES.to_vec(), parsed_names::<ReadingOptions>(), &|name| {
            ReadingOptions::default().set(name, &given)
        });
        check(ConversionOptions::NAMES.to_vec(), parsed_names::<ConversionOptions>(), &|name| {
            ConversionOptions::default().set(name, &given)
        });
        check(CalibrationOptions::NAMES.to_vec(), parsed_names::<CalibrationOptions>(), &|name| {
            CalibrationOptions::default().set(name, &given)
        });
        check(ExplorationOptions::NAMES.to_vec(), parsed_names::<ExplorationOptions>(), &|name| {
            ExplorationOptions::default().set(name, &given)
        });
    }

    #[test]
    fn rare_options_are_last_and_no_line_is_broken_twice() {
        let mut whole = command();
        whole.build();
        for command in std::iter::once(&whole).chain(whole.get_subcommands()) {
            let name = command.get_name();
            let closing = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in closing.lines().filter(|line| line.starts_with(' ')) {
                assert!(line.chars().count() <= 110, "{name}: an example is wider than the help: {line}");
            }
            for paragraph in
                closing.split("\n\n").filter(|p| !p.is_empty() && !p.lines().any(|line| line.starts_with(' ')))
            {
                assert_eq!(paragraph.lines().count(), 1, "{name}: {paragraph}");
            }
            let written = Cli::command();
            let written = written.find_subcommand(name).unwrap_or(&written);
            if name != "help" {
                assert_eq!(
                    command.get_about().map(ToString::to_string),
                    written.get_about().map(ToString::to_string),
                    "{name}"
                );
            }
            if command.get_arguments().any(|arg| arg.get_id() == "model") {
                let headings: Vec<_> = command.get_arguments().filter_map(|arg| arg.get_help_heading()).collect();
                let first = headings.iter().position(|h| *h == "Reading" || h.starts_with("Limits")).expect("there");
                let late = headings[first..].iter().all(|h| {
                    ["Reading", "Output", "Networks", "Matrices", "Limits"].iter().any(|late| h.starts_with(late))
                });
                assert!(late, "{name}: {headings:?}");
            }
        }
    }

    /// A derived group of options sets its heading for the options that follow it.
    #[test]
    fn an_option_has_the_same_heading_in_every_sub_command() {
        let mut whole = command();
        whole.build();
        let mut headings: std::collections::BTreeMap<String, (String, String)> = std::collections::BTreeMap::new();
        let mut wrong = Vec::new();
        for sub in std::iter::once(&whole).chain(whole.get_subcommands()) {
            for arg in sub.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set()) {
                // A paragraph without a heading describes the sub-command and comes first.
                let (Some(long), Some(heading)) = (arg.get_long(), arg.get_help_heading()) else { continue };
                let heading = heading.to_owned();
                let (first, name) =
                    headings.entry(long.to_owned()).or_insert_with(|| (heading.clone(), sub.get_name().to_owned()));
                if *first != heading {
                    wrong.push(format!("--{long}: {first:?} in {name}, {heading:?} in {}", sub.get_name()));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn sub_commands_are_in_groups() {
        let whole = command();
        let mut grouped: Vec<&str> = help::GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let mut names: Vec<&str> = whole.get_subcommands().map(clap::Command::get_name).collect();
        grouped.sort_unstable();
        names.sort_unstable();
        assert_eq!(grouped, names);
    }

    #[test]
    fn colours_are_those_of_the_parser() {
        let text = "error[E0104] in m.json: wrong\n  help: mend it\nnote[N0101]: [x]\n";
        let expected = "\x1b[1;31merror[E0104]\x1b[0m in m.json: wrong\n  \x1b[32mhelp:\x1b[0m mend \
                        it\n\x1b[1;36mnote[N0101]\x1b[0m: [x]\n";
        assert_eq!(coloured(text), expected);
        assert!(is_coloured(ColorChoice::Always) && !is_coloured(ColorChoice::Never));
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }
}
