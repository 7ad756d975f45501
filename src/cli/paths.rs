//! Roles of the options that name files, and checks for conflicts: no result may replace a file that the command reads,
//! and two results may not share a file.
//!
//! [`ROLES`] lists every option with a path; a test compares it with the command line. The check runs before anything
//! is read. Conflicts with files in a folder are known only later; [`crate::files`] rejects them before writing.

use super::Failure;
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::files::{Identity, Protected};
use clap::{Arg, ArgMatches, Command};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Use of the files that an option names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Read,
    Written,
    /// Folder into which files are written.
    Folder,
}

/// Options with a path, by their identifier in the parser; an identifier has the same role in all sub-commands.
const ROLES: &[(&str, Role)] = &[
    ("model", Role::Read),
    ("other", Role::Read),
    ("more", Role::Read),
    ("files", Role::Read),
    ("folders", Role::Read),
    ("input", Role::Read),
    ("samples", Role::Read),
    ("sample_files", Role::Read),
    ("weights", Role::Read),
    ("quant", Role::Read),
    ("weight_map", Role::Read),
    ("expect", Role::Read),
    ("rtl", Role::Read),
    ("lists", Role::Read),
    ("include_dirs", Role::Read),
    ("library_dirs", Role::Read),
    ("output", Role::Written),
    ("output_file", Role::Written),
    ("cpp", Role::Written),
    ("systemverilog", Role::Written),
    ("verilog", Role::Written),
    ("vhdl", Role::Written),
    ("interface", Role::Written),
    ("witness", Role::Written),
    ("witness_file", Role::Read),
    ("names_from", Role::Read),
    ("html", Role::Written),
    ("svg", Role::Written),
    ("testbench", Role::Written),
    ("certificate", Role::Folder),
    ("keep", Role::Folder),
    ("collect", Role::Folder),
];

/// Returns `true` if an option names a result.
pub(super) fn is_result(id: &str) -> bool {
    ROLES.iter().any(|(known, role)| *known == id && *role != Role::Read)
}

/// Sub-commands that may write the file that they read, as they read the whole file before they replace it.
const IN_PLACE: &[&str] = &["convert"];

/// Splits an option value into paths at commas, unless a file with a comma in its name exists. `is_path` returns `true`
/// for a valid single path.
pub(super) fn listed(value: &Path, is_path: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let whole = || vec![value.to_owned()];
    let Some(text) = value.to_str().filter(|text| text.contains(',')) else { return whole() };
    let parts: Vec<PathBuf> = text.split(',').map(PathBuf::from).collect();
    let is_list = !value.exists() && parts.iter().all(|part| !part.as_os_str().is_empty() && is_path(part));
    if is_list { parts } else { whole() }
}

/// Path on the command line.
struct Given {
    id: &'static str,
    role: Role,
    path: PathBuf,
    identity: Option<Identity>,
}

impl Given {
    /// Returns `true` if a result goes to stdout.
    fn is_stdout(&self) -> bool {
        self.role != Role::Read && self.path.as_os_str() == "-"
    }
}

/// Checks the paths of a command line that was parsed with `command`. While the returned value exists, files that are
/// read are protected against overwriting.
///
/// # Errors
/// `E0003` if a result would replace a file that is read. `E0802` if two results share a file, if a result shares
/// stdout with the document of `--json`, or if a folder is `-` (exit code 2).
pub(super) fn check(matches: &ArgMatches, command: impl Fn() -> Command) -> Result<Protected, Failure> {
    let (name, matches) = matches.subcommand().map_or((None, matches), |(name, inner)| (Some(name), inner));
    let works_in_place = name.is_some_and(|name| IN_PLACE.contains(&name));
    // New RTL may replace the RTL whose names it keeps.
    let in_place = |g: &Given| works_in_place || (g.id == "names_from" && super::rtl_files::is_rtl(&g.path));
    let mut given = Vec::new();
    for &(id, role) in ROLES {
        let Ok(Some(values)) = matches.try_get_raw(id) else { continue };
        let has_ending = |path: &Path| path.extension().is_some();
        let is_path: fn(&Path) -> bool = if role == Role::Read { Path::exists } else { has_ending };
        let all: Vec<PathBuf> = values.flat_map(|value| listed(Path::new(value), is_path)).collect();
        for path in all {
            let identity = if role == Role::Read { Identity::from_input(&path) } else { Identity::from_output(&path) };
            given.push(Given { id, role, path, identity });
        }
    }
    let mut problems = Vec::new();
    for (at, output) in given.iter().enumerate().filter(|(_, g)| g.role == Role::Written && g.identity.is_some()) {
        let same = |other: &&Given| other.identity == output.identity;
        let flag = |id| flag(&command(), name, id);
        let shown = output.path.display();
        // Built only for errors, as building the parser takes as long as parsing.
        let place = || Place::Flag(flag(output.id));
        if let Some(read) = given.iter().filter(|g| g.role == Role::Read && !in_place(g)).find(same) {
            let message = format!("{shown} is a file that this command reads ({})", flag(read.id));
            problems.push(Diagnostic::error("E0003", place(), message).with_help("give the result a file of its own"));
        } else if let Some(other) = given[..at].iter().filter(|g| g.role == Role::Written).find(same) {
            let message = format!("{} goes to {shown} too", flag(other.id));
            problems.push(Diagnostic::error("E0802", place(), message).with_help("give each result a file of its own"));
        }
    }
    let may_be_folder = |g: &&Given| g.is_stdout() && (g.role == Role::Folder || g.id == "output");
    // Built only for these results, as building the parser takes as long as parsing.
    problems.extend(given.iter().filter(may_be_folder).filter_map(|g| no_folder(&command(), name, g)));
    let json = matches.try_get_one::<bool>("json").is_ok_and(|json| json == Some(&true));
    if let Some(result) = given.iter().find(|g| json && g.role == Role::Written && g.is_stdout()) {
        let (flag, message) = (flag(&command(), name, result.id), "the JSON document goes to stdout too");
        problems
            .push(Diagnostic::error("E0802", Place::Flag(flag), message).with_help("name a file, or leave out --json"));
    }
    if !problems.is_empty() {
        return Err(Failure::input(Diagnostics(problems)));
    }
    let read = given.iter().filter(|g| g.role == Role::Read && !in_place(g)).map(|g| g.path.as_path());
    Ok(Protected::new(read))
}

/// Returns the argument with an identifier.
fn argument<'a>(command: &'a Command, sub_command: Option<&str>, id: &str) -> Option<&'a Arg> {
    let command = sub_command.and_then(|name| command.find_subcommand(name)).unwrap_or(command);
    command.get_arguments().find(|arg| arg.get_id() == id)
}

/// Returns the problem of a result that goes to stdout although the value of its option is a folder.
fn no_folder(command: &Command, sub_command: Option<&str>, result: &Given) -> Option<Diagnostic> {
    let names = argument(command, sub_command, result.id)?.get_value_names()?;
    names.iter().find(|name| **name == "DIR")?;
    let place = Place::Flag(flag(command, sub_command, result.id));
    let error = Diagnostic::error("E0802", place, "- is stdout, and this option names a folder");
    Some(error.with_help("give a name; ./- is the folder called -"))
}

/// Returns an option as the user types it.
fn flag(command: &Command, sub_command: Option<&str>, id: &str) -> String {
    let Some(arg) = argument(command, sub_command, id) else { return id.to_owned() };
    match arg.get_long() {
        Some(long) => format!("--{long}"),
        None => arg.get_value_names().map_or_else(|| id.to_owned(), |names| names.join(" ")),
    }
}

/// Moves global options from before a sub-command to after its name, as the parser accepts them only there.
///
/// # Errors
/// `E0002` if the first other word looks like a sub-command, but is neither a sub-command nor a file (exit code 2).
pub(super) fn arranged(words: Vec<OsString>, command: &Command) -> Result<Vec<OsString>, Diagnostic> {
    let mut at = 1;
    while let Some(length) = words.get(at).and_then(|word| global_words(&word.to_string_lossy(), command)) {
        at += length;
    }
    let Some(word) = words.get(at) else { return Ok(words) };
    let word = word.to_string_lossy();
    if word == "help" {
        return asks_help(&words, at, command);
    }
    if command.find_subcommand(word.as_ref()).is_some() {
        let mut words = words.clone();
        words[1..=at].rotate_right(1);
        return Ok(with_values(words));
    }
    let bare = !word.is_empty()
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
        && !word.starts_with('-');
    let path = Path::new(word.as_ref());
    if !bare || (path.exists() && !path.is_dir()) {
        return Ok(with_values(words));
    }
    Err(unknown_command(&word, &words[at + 1..], command))
}

/// Rewrites `help` to `--help`, and `help COMMAND` to `COMMAND --help`.
fn asks_help(words: &[OsString], at: usize, command: &Command) -> Result<Vec<OsString>, Diagnostic> {
    let mut asked = vec![words[0].clone()];
    if let Some(name) = words.get(at + 1).filter(|name| name.as_encoded_bytes().first() != Some(&b'-')) {
        if command.find_subcommand(name).is_none() {
            return Err(unknown_command(&name.to_string_lossy(), &[], command));
        }
        asked.push(name.clone());
    }
    asked.push("--help".into());
    Ok(asked)
}

/// Builds the error for a word that is neither a sub-command nor a file; `rest` are the words after it.
fn unknown_command(word: &str, rest: &[OsString], command: &Command) -> Diagnostic {
    let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let what = match Path::new(word).is_dir() {
        true => "is a folder, and no sub-command has this name",
        false => "is neither a sub-command nor a file",
    };
    let error = Diagnostic::error("E0002", Place::Whole, format!("{word:?} {what}"));
    let model =
        rest.iter().map(|word| word.to_string_lossy()).find(|word| !word.starts_with('-') && word.contains('.'));
    let call = |name: &str| match super::slips::synopsis(name) {
        Some(text) => text.replacen("MODEL", model.as_deref().unwrap_or("MODEL"), 1),
        None => name.to_owned(),
    };
    match super::near(word, names.iter().copied()) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None => match super::slips::command(word) {
            Some(name) => error.with_help(format!("did you mean `{name}`? alir2hdl {}", call(name))),
            None => error.with_help(format!("sub-commands are {}", names.join(", "))),
        },
    }
}

/// Options with an optional value. A number or a range after the option is its value, not a file.
const OPTIONAL_VALUES: &[&str] = &["--sweep"];

/// Joins numbers and ranges to a preceding option of [`OPTIONAL_VALUES`].
fn with_values(words: Vec<OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::with_capacity(words.len());
    for word in words {
        let is_number = word.to_str().is_some_and(|w| {
            w.starts_with(|c: char| c.is_ascii_digit()) && w.chars().all(|c| c.is_ascii_digit() || ".,-=".contains(c))
        });
        match joined.last_mut() {
            Some(last) if is_number && OPTIONAL_VALUES.iter().any(|name| last == name) => {
                last.push("=");
                last.push(word);
            }
            _ => joined.push(word),
        }
    }
    joined
}

/// Returns the number of words of a global option, including its value; `None` if `word` is no global option.
fn global_words(word: &str, command: &Command) -> Option<usize> {
    let global = || command.get_arguments().filter(|arg| arg.is_global_set());
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        let arg = global().find(|arg| arg.get_long() == Some(name))?;
        return Some(if arg.get_action().takes_values() && value.is_none() { 2 } else { 1 });
    }
    let shorts = word.strip_prefix('-').filter(|rest| !rest.is_empty())?;
    let known = |c| global().any(|arg| arg.get_short() == Some(c) && !arg.get_action().takes_values());
    shorts.chars().all(known).then_some(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::builder::ValueParser;

    fn cli() -> Command {
        let mut command = super::super::command();
        command.build();
        command
    }

    #[test]
    fn every_option_with_a_path_has_a_role() {
        let command = cli();
        let mut seen = Vec::new();
        for command in std::iter::once(&command).chain(command.get_subcommands()) {
            let paths = command
                .get_arguments()
                .filter(|arg| arg.get_value_parser().type_id() == ValueParser::path_buf().type_id());
            for id in paths.map(|arg| arg.get_id().as_str()) {
                assert!(ROLES.iter().any(|(known, _)| *known == id), "{} {id} has no role", command.get_name());
                seen.push(id.to_owned());
            }
        }
        for (id, _) in ROLES {
            assert!(seen.iter().any(|s| s == id), "{id} is in the table, but no option is called so");
        }
    }

    #[test]
    fn global_options_go_behind_the_sub_command() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        for (typed, expected) in [
            ("alir2hdl -q check f", "alir2hdl check -q f"),
            ("alir2hdl --error-format json -qv check f", "alir2hdl check --error-format json -qv f"),
            ("alir2hdl --error-format=json info f -q", "alir2hdl info --error-format=json f -q"),
            ("alir2hdl -q m.json --verilog x", "alir2hdl -q m.json --verilog x"),
            ("alir2hdl -O2 check f", "alir2hdl -O2 check f"),
            ("alir2hdl --error-format", "alir2hdl --error-format"),
            ("alir2hdl help", "alir2hdl --help"),
            ("alir2hdl -q help prove", "alir2hdl prove --help"),
            ("alir2hdl info f --sweep 4", "alir2hdl info f --sweep=4"),
            ("alir2hdl info f --sweep 0..6", "alir2hdl info f --sweep=0..6"),
            ("alir2hdl info --sweep f", "alir2hdl info --sweep f"),
        ] {
            assert_eq!(arranged(words(typed), &cli()), Ok(words(expected)), "{typed}");
        }
        let help = |typed| arranged(words(typed), &cli()).unwrap_err().help.unwrap();
        assert_eq!(help("alir2hdl chek f"), "did you mean `check`?");
        assert_eq!(help("alir2hdl -q veiw f"), "did you mean `view`?");
        assert!(help("alir2hdl nonsense f").starts_with("sub-commands are "));
        assert_eq!(help("alir2hdl compile m.json -O2"), "did you mean `generate`? alir2hdl generate m.json -o FILE.v");
        assert_eq!(help("alir2hdl help chek"), "did you mean `check`?");
    }
}
