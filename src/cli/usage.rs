//! Messages about an invalid command line: the error, and help with a correction.
//!
//! Messages of the parser end with a synopsis of all options. These messages end with the probable correction: an
//! option, a value or a whole command, as in `help: alir2hdl prove m.json.gz FILE.v`.

use super::slips::{self, Slip};
use crate::diag::{Diagnostic, Place};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use std::ffi::OsString;

/// Converts an error of the parser to a diagnostic. `words` is the parsed command line, which begins with the name of
/// the program.
pub(super) fn diagnose(error: &clap::Error, words: &[OsString], command: &Command) -> Diagnostic {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let sub = words.get(1).and_then(|word| command.find_subcommand(word));
    let typed = Typed { words: &words, root: command, command: sub.unwrap_or(command), sub };
    Diagnostic::error("E0002", place(error), message(error)).with_help(typed.help(error))
}

/// Returns the option that an error is about: `--pipeline` of `--pipeline <N|auto>`.
fn place(error: &clap::Error) -> Place {
    let invalid = value(error, ContextKind::InvalidArg).unwrap_or_default();
    match invalid.split([' ', '=', '[', ',']).next() {
        Some(flag) if flag.starts_with('-') => Place::Flag(flag.to_owned()),
        _ => Place::Whole,
    }
}

/// Returns the first paragraph of the parser's message on one line, without the list of possible values.
fn message(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let lines = first.lines().map(str::trim).filter(|line| !line.starts_with("[possible values:"));
    let line = lines.collect::<Vec<_>>().join(" ");
    let line = line.strip_prefix("error: ").unwrap_or(&line).to_owned();
    // Without sub-command, the parser's message about a superfluous word also contains the positional arguments.
    if let Some(word) = extra_subcommand(error) {
        return format!("one word too many: '{word}'");
    }
    match error.kind() {
        ErrorKind::UnknownArgument
            if value(error, ContextKind::InvalidArg).is_some_and(|arg| !arg.starts_with('-')) =>
        {
            line.replace("unexpected argument", "one word too many:").replace(" found", "")
        }
        ErrorKind::ValueValidation => {
            in_range(&RUST_WORDS.iter().fold(line, |line, (theirs, ours)| line.replace(theirs, ours)))
        }
        _ => line,
    }
}

/// Messages of Rust's number parsers, each with its replacement.
const RUST_WORDS: [(&str, &str); 5] = [
    ("invalid digit found in string", "not a whole number"),
    ("cannot parse integer from empty string", "a number is missing"),
    ("cannot parse float from empty string", "a number is missing"),
    ("invalid float literal", "not a number"),
    ("number too large to fit in target type", "too large"),
];

/// Rewrites the end of a message about a range: `3 is not in 0..=2` to `not from 0 to 2`, and
/// `0 is not in 1..=4294967295` to `less than 1`.
fn in_range(line: &str) -> String {
    let ends = || {
        let (before, range) = line.rsplit_once(" is not in ")?;
        let (start, number) = before.rsplit_once(' ')?;
        let (first, last) = range.split_once("..")?;
        let number: i128 = number.parse().ok()?;
        let first: i128 = first.parse().ok()?;
        let last: i128 = last.trim_start_matches('=').parse().unwrap_or(i128::MAX);
        // The largest value of the type is not a meaningful limit.
        Some(match (number < first, last >= i128::from(u32::MAX)) {
            (true, true) => format!("{start} less than {first}"),
            (false, true) => format!("{start} too large"),
            _ => format!("{start} not from {first} to {last}"),
        })
    };
    ends().unwrap_or_else(|| line.to_owned())
}

/// Returns the superfluous word of a command line without sub-command, which the parser interprets as a sub-command.
fn extra_subcommand(error: &clap::Error) -> Option<String> {
    let text = error.render().to_string();
    let rest = text.strip_prefix("error: the subcommand '")?;
    Some(rest.split_once("' cannot be used with")?.0.to_owned())
}

/// Returns a value of the error's context as text; several values are joined with commas.
fn value(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join(", ")),
        ContextValue::StyledStr(text) => Some(text.to_string()),
        ContextValue::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Command line as typed by the user.
struct Typed<'a> {
    words: &'a [String],
    root: &'a Command,
    /// Command whose options were parsed: a sub-command, or the root if there is none.
    command: &'a Command,
    sub: Option<&'a Command>,
}

impl Typed<'_> {
    /// Returns a suggestion for a valid command line.
    fn help(&self, error: &clap::Error) -> String {
        let invalid = value(error, ContextKind::InvalidArg).unwrap_or_default();
        match error.kind() {
            ErrorKind::UnknownArgument if invalid.starts_with('-') => self.unknown_option(&invalid),
            ErrorKind::UnknownArgument => self.extra_word(&invalid),
            ErrorKind::InvalidSubcommand => {
                self.extra_word(&value(error, ContextKind::InvalidSubcommand).unwrap_or_default())
            }
            ErrorKind::InvalidValue | ErrorKind::ValueValidation => self.wrong_value(error, &invalid),
            ErrorKind::NoEquals | ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => self.with_value(&invalid),
            ErrorKind::TooManyValues => "give it one value".to_owned(),
            ErrorKind::MissingRequiredArgument => self.missing(&invalid),
            ErrorKind::ArgumentConflict => self.conflict(error, &invalid),
            _ => self.list_of_options(),
        }
    }

    /// Returns the name of the sub-command that was parsed.
    fn name(&self) -> &str {
        self.sub.map_or("generate", Command::get_name)
    }

    fn list_of_options(&self) -> String {
        format!("`alir2hdl {} --help` lists its options", self.name())
    }

    /// Returns the first word that looks like a file name; `MODEL` if there is none.
    fn model(&self) -> &str {
        let skip = if self.sub.is_some() { 2 } else { 1 };
        let looks_like_file = |word: &&String| !word.starts_with('-') && word.contains('.');
        self.words.iter().skip(skip).find(looks_like_file).map_or("MODEL", String::as_str)
    }

    /// Returns the suggestion for an unknown option.
    fn unknown_option(&self, invalid: &str) -> String {
        // For `-pipeline`, the parser reports only `-p`.
        let word = match invalid.starts_with("--") {
            // For `--option=value`, the parser reports only `--option`.
            true => {
                let same = |word: &&String| word.split('=').next() == Some(invalid);
                self.words.iter().find(same).map_or(invalid, String::as_str)
            }
            false => {
                let longer = |word: &&String| word.starts_with(invalid) && word.len() > 2 && !word.starts_with("--");
                self.words.iter().find(longer).map_or(invalid, String::as_str)
            }
        };
        let (name, given) = word.split_once(['=', ':']).map_or((word, None), |(name, value)| (name, Some(value)));
        let bare = name.trim_start_matches('-').to_ascii_lowercase().replace('_', "-");
        let with_value = |long: &str| self.spelt(long, given);
        if bare.len() > 1 && self.has(&bare) {
            return match name.starts_with("--") {
                true => format!("did you mean {}?", with_value(&bare)),
                false => format!("long options begin with two dashes: {}", with_value(&bare)),
            };
        }
        if let Some(text) = slips::option(name.trim_start_matches("--no-"), &bare).and_then(|slip| self.answer(slip)) {
            return text;
        }
        let own: Vec<&str> = longs(self.command).collect();
        if let Some(near) = nearest(&bare, &own, 1) {
            return format!("did you mean {}?", with_value(near));
        }
        let owners: Vec<&str> =
            self.root.get_subcommands().filter(|sub| has(sub, &bare)).map(Command::get_name).collect();
        if bare.len() > 1 && !owners.is_empty() {
            return format!("--{bare} is an option of {}", names(&owners));
        }
        let near = nearest(&bare, &own, 2).or_else(|| extension(&bare, &own));
        match near {
            Some(near) => format!("did you mean {}?", with_value(near)),
            None => self.list_of_options(),
        }
    }

    /// Returns an option with the given value, or with the placeholder of its value.
    fn spelt(&self, long: &str, given: Option<&str>) -> String {
        let arg = self.command.get_arguments().find(|arg| names_arg(arg, long));
        match (arg.filter(|arg| arg.get_action().takes_values()), given) {
            (None, _) => format!("--{long}"),
            (Some(_), Some(value)) if !value.is_empty() => format!("--{long} {value}"),
            (Some(arg), _) => format!("--{long} {}", placeholder(arg)),
        }
    }

    /// Returns the first answer to a known slip whose option this command has.
    fn answer(&self, slip: &Slip) -> Option<String> {
        for answer in slip.answers {
            match answer.strip_prefix("--") {
                Some(rest) => {
                    let long = rest.split(' ').next().unwrap_or(rest);
                    if self.has(long) {
                        return Some(format!("did you mean {answer}?"));
                    }
                }
                None => match answer.strip_prefix('-') {
                    Some(rest) => {
                        let short = rest.chars().next()?;
                        if self.command.get_arguments().any(|arg| arg.get_short() == Some(short)) {
                            return Some(format!("did you mean {answer}?"));
                        }
                    }
                    None => return Some((*answer).to_owned()),
                },
            }
        }
        None
    }

    fn has(&self, long: &str) -> bool {
        has(self.command, long)
    }

    /// Returns the suggestion for a word that no argument takes.
    fn extra_word(&self, word: &str) -> String {
        let (name, given) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        if let Some(sub) = self.root.find_subcommand(word) {
            let name = sub.get_name();
            return format!("the sub-command comes first: alir2hdl {name} {}", self.model());
        }
        let lower = name.to_ascii_lowercase();
        if lower.len() > 1 && self.has(&lower) {
            return format!("options begin with two dashes: {}", self.spelt(&lower, given));
        }
        if word.bytes().all(|b| b.is_ascii_digit()) && self.has("pipeline") {
            return format!("a number of stages is --stages {word}");
        }
        slips::extra_file(self.name(), word).unwrap_or_else(|| match self.sub {
            None => format!("{} takes one model; -o FILE names the result", "alir2hdl"),
            Some(sub) => synopsis(sub),
        })
    }

    /// Returns the valid values of an option, and the one that is most similar.
    fn wrong_value(&self, error: &clap::Error, invalid: &str) -> String {
        let given = value(error, ContextKind::InvalidValue).unwrap_or_default();
        let long = long_of(invalid);
        if given.is_empty() || given.starts_with("--") {
            return self.with_value(invalid);
        }
        if let Some(text) = slips::value(long, &given) {
            return text.to_owned();
        }
        let valid = match error.get(ContextKind::ValidValue) {
            Some(ContextValue::Strings(valid)) => valid.clone(),
            _ => return self.with_value(invalid),
        };
        let values: Vec<&str> = valid.iter().map(String::as_str).collect();
        let list = format!("values are {}", values.join(", "));
        match super::near(&given, values.iter().copied()) {
            Some(near) => format!("did you mean {near}? {list}"),
            None => list,
        }
    }

    /// Returns an option with an example of its value.
    fn with_value(&self, invalid: &str) -> String {
        let long = long_of(invalid);
        let Some(arg) = self.command.get_arguments().find(|arg| names_arg(arg, long)) else {
            return self.list_of_options();
        };
        let values: Vec<String> =
            arg.get_possible_values().iter().filter(|v| !v.is_hide_set()).map(|v| v.get_name().to_owned()).collect();
        match example(long, arg) {
            Some(example) => format!("for example --{long} {example}"),
            None if !values.is_empty() && arg.get_action().takes_values() => {
                format!("values are {}", values.join(", "))
            }
            None => format!("as in --{long} {}", placeholder(arg)),
        }
    }

    /// Returns a suggestion with the missing argument.
    fn missing(&self, invalid: &str) -> String {
        let first = invalid.split(", ").next().unwrap_or_default();
        match first.trim_start_matches('<').strip_prefix("--") {
            Some(rest) if self.model() != "MODEL" || self.sub.is_none() => {
                let long = rest.split([' ', '=', '[']).next().unwrap_or(rest);
                let arg = self.command.get_arguments().find(|arg| names_arg(arg, long));
                match arg.and_then(|arg| example(long, arg)) {
                    Some(example) => format!("add --{long} {example}"),
                    None => format!("add {}", self.spelt(long, None)),
                }
            }
            _ => synopsis(self.command),
        }
    }

    fn conflict(&self, error: &clap::Error, invalid: &str) -> String {
        let prior = value(error, ContextKind::PriorArg).unwrap_or_default();
        if let Some(word) = extra_subcommand(error) {
            return self.extra_word(&word);
        }
        match prior.is_empty() || prior == invalid {
            true => "give it once".to_owned(),
            false => "leave one of the two out".to_owned(),
        }
    }
}

/// Returns an example of an option's value.
pub(super) fn example(long: &str, arg: &Arg) -> Option<&'static str> {
    match (long, placeholder(arg).as_str()) {
        ("output", "DIR") => Some("build"),
        ("output", "FILE.html") => Some("page.html"),
        ("output", "FILE.json") => Some("quant.json"),
        ("samples", "N") => Some("10000"),
        _ => slips::example(long),
    }
}

/// Returns the name of an option in a message: `pipeline` of `--pipeline <N|auto>`.
fn long_of(invalid: &str) -> &str {
    let name = invalid.trim_start_matches('-');
    name.split([' ', '=', '[']).next().unwrap_or(name)
}

/// Returns the placeholder for the value of an option or argument.
fn placeholder(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Returns the synopsis of a command.
fn synopsis(command: &Command) -> String {
    match slips::synopsis(command.get_name()) {
        Some(text) => format!("alir2hdl {text}"),
        None => format!("`alir2hdl {} --help` says how it is called", command.get_name()),
    }
}

/// Returns all long names and aliases of the options of a command.
fn longs(command: &Command) -> impl Iterator<Item = &str> {
    command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set())
        .flat_map(|arg| arg.get_long().into_iter().chain(arg.get_visible_aliases().unwrap_or_default()))
}

fn has(command: &Command, long: &str) -> bool {
    command.get_arguments().any(|arg| !arg.is_positional() && names_arg(arg, long))
}

/// Returns `true` if an argument has this long name or alias, or this placeholder if it is positional.
fn names_arg(arg: &Arg, long: &str) -> bool {
    let aliases = arg.get_all_aliases().unwrap_or_default();
    arg.get_long() == Some(long) || aliases.contains(&long) || (arg.is_positional() && placeholder(arg) == long)
}

/// Returns the name with the fewest edits to a word, if these are at most `most`.
fn nearest<'n>(word: &str, names: &[&'n str], most: usize) -> Option<&'n str> {
    let most = if word.len() < 5 { most.min(1) } else { most };
    let distance = |name: &&&str| crate::project::edits(word.as_bytes(), name.as_bytes());
    let near = names.iter().min_by_key(distance).filter(|name| distance(name) <= most);
    near.copied().filter(|_| word.len() > 2)
}

/// Returns the only option that begins with the word (`--systemverilog` for `--system`), or the longest option that the
/// word ends with (`--verilog` for `--systemverilog`).
fn extension<'n>(word: &str, names: &[&'n str]) -> Option<&'n str> {
    let mut longer = names.iter().filter(|name| word.len() > 2 && name.starts_with(word));
    let only = longer.next().filter(|_| longer.next().is_none());
    let part = || names.iter().filter(|name| name.len() > 4 && word.ends_with(**name)).max_by_key(|name| name.len());
    only.or_else(part).copied()
}

/// Returns the names of sub-commands as a list for a message.
fn names(owners: &[&str]) -> String {
    let shown = owners.iter().enumerate().map(|(at, name)| match at {
        0 => format!("`alir2hdl {name}`"),
        _ => format!("`{name}`"),
    });
    shown.collect::<Vec<_>>().join(", ")
}
