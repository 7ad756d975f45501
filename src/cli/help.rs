//! Help texts: the overview of the program with groups of sub-commands, and the options of a sub-command.
//!
//! `-h` lists common options, `--help` lists all options, both in the same compact layout. Rare options are marked with
//! `hide_short_help`. In the list of all options, a `long_help` replaces the help of an option.

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};
use std::fmt::Write;

/// Groups of sub-commands, in the order of typical use.
pub(super) const GROUPS: &[(&str, &[&str])] = &[
    ("Generate", &["generate", "convert", "calibrate", "explore"]),
    ("Inspect", &["check", "info", "view", "run", "diff"]),
    ("Verify", &["prove", "verify"]),
    ("Deliver", &["project", "report"]),
    ("Utilities", &["devices", "passes", "explain", "completions", "man", "version", "help"]),
];

/// Level of detail of a help text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// Options that most users need.
    Common,
    /// All options.
    All,
}

impl Detail {
    /// Returns the detail that a command line requests.
    pub(super) fn requested<'w>(mut words: impl Iterator<Item = &'w str>) -> Detail {
        if words.any(|word| word == "--help" || word == "help") { Detail::All } else { Detail::Common }
    }
}

/// Headings whose options `-h` omits for a sub-command, as they are not its main purpose.
const LEFT_OUT: &[(&str, &[&str])] = &[
    ("verify", &["Ports", "Optimisation and RTL", "Networks and matrices"]),
    ("project", &["Ports", "Optimisation and RTL", "Networks and matrices"]),
    ("info", &["Ports", "Networks and matrices"]),
    ("view", &["Networks and matrices"]),
];

/// Returns the options `-h` and `--help`, which use the same layout.
pub(super) fn flag() -> Arg {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::HelpShort).global(true);
    help.help("Print help; --help lists all options").help_heading("Output").display_order(1000)
}

/// Returns a command whose help lists options in this detail.
pub(super) fn with_detail(command: Command, detail: Detail) -> Command {
    match detail {
        Detail::Common => {
            let hidden = LEFT_OUT.iter().find(|(name, _)| *name == command.get_name()).map_or(&[][..], |(_, of)| of);
            command.mut_args(|arg| match arg.get_help_heading() {
                Some(heading) if hidden.contains(&heading) => arg.hide_short_help(true),
                _ => arg,
            })
        }
        Detail::All => command.mut_args(|arg| {
            let long = arg.get_long_help().cloned();
            let arg = arg.hide_short_help(false);
            match long {
                Some(long) => arg.help(long),
                None => arg,
            }
        }),
    }
}

/// Returns the closing part of the help: examples, and further documentation. The short help omits examples with
/// options that it does not list.
pub(super) fn closing(text: &str, detail: Detail, command: &Command) -> String {
    match detail {
        Detail::All => text.to_owned(),
        Detail::Common => {
            let examples = text.split("\n\n").next().unwrap_or_default();
            let global = <super::Global as clap::Args>::augment_args(Command::new("global"));
            let is_listed = |word: &str| {
                let Some(name) = word.strip_prefix('-').filter(|name| !name.is_empty()) else { return true };
                let (name, is_long) = name.strip_prefix('-').map_or((name, false), |name| (name, true));
                let name = name.split('=').next().unwrap_or(name);
                let is_option = |arg: &&clap::Arg| match is_long {
                    true => {
                        arg.get_long() == Some(name) || arg.get_all_aliases().is_some_and(|all| all.contains(&name))
                    }
                    false => arg.get_short().is_some_and(|short| name.starts_with(short)),
                };
                let mut options = command.get_arguments().chain(global.get_arguments());
                !options.any(|arg| is_option(&arg) && arg.is_hide_short_help_set())
            };
            let listed = |line: &&str| {
                let typed = line.trim_start().split("   ").next().unwrap_or_default();
                typed.split_whitespace().take_while(|&word| word != "|" && word != "--").all(is_listed)
            };
            examples.lines().filter(listed).collect::<Vec<_>>().join("\n")
        }
    }
}

const BOLD: &str = "\x1b[1m";
const HEADING: &str = "\x1b[1m\x1b[4m";
const PLAIN: &str = "\x1b[0m";

/// Returns the overview: usage, all sub-commands, and examples.
pub(super) fn overview(command: &Command) -> StyledStr {
    let mut text = String::new();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = writeln!(text, "{about}\n");
    let _ = writeln!(text, "{HEADING}Usage:{PLAIN} {BOLD}alir2hdl{PLAIN} <COMMAND> <MODEL> [OPTIONS]");
    let _ = writeln!(text, "       {BOLD}alir2hdl{PLAIN} <MODEL> -o <FILE> [OPTIONS]   the same as generate");
    for (group, names) in GROUPS {
        let _ = writeln!(text, "\n{HEADING}{group}:{PLAIN}");
        for name in *names {
            let sub = command.find_subcommand(name);
            let about = sub.and_then(Command::get_about).map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {BOLD}{name:<12}{PLAIN} {about}");
        }
    }
    let _ = writeln!(text, "\n{}", super::AFTER_HELP);
    StyledStr::from(text)
}
