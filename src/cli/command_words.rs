//! Words of the command line that other tools have taught users: `help SUB`, `version`, `generate MODEL -o FILE`, `simulate`.
//! They are replaced by the program's own form before the words are parsed.

use super::near;
use crate::diag::{Diagnostic, Place};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Returns the words in the program's own form.
///
/// # Errors
/// Returns an error if the first word is meant as a sub-command and is none, or if the name after `-o` of `generate` has no
/// extension of an RTL file.
pub(super) fn normalised(words: Vec<OsString>, command: &clap::Command) -> Result<Vec<OsString>, Diagnostic> {
    let is_known = |word: &OsStr| command.get_subcommands().any(|sub| Some(sub.get_name()) == word.to_str());
    let Some((program, rest)) = words.split_first() else { return Ok(words) };
    let Some((first, others)) = rest.split_first() else { return Ok(words) };
    let with = |start: &[&str], others: &[OsString]| {
        let start = start.iter().map(OsString::from);
        std::iter::once(program.clone()).chain(start).chain(others.iter().cloned()).collect::<Vec<_>>()
    };
    match first.to_str().unwrap_or_default() {
        "help" => match others.first().and_then(|word| word.to_str()) {
            None => Ok(with(&["--help"], &[])),
            Some("generate") => Ok(with(&["--help"], &[])),
            Some("simulate") => Ok(with(&["verify", "--help"], &[])),
            Some(name) if is_known(OsStr::new(name)) => Ok(with(&[name, "--help"], &[])),
            Some(name) => Err(unknown(name, command)),
        },
        "version" if others.is_empty() => Ok(with(&["--version"], &[])),
        "simulate" => Ok(with(&["verify"], others)),
        "generate" => Ok(with(&[], &with_languages(others)?)),
        name if !is_known(first) && is_meant_as_command(name) && others.iter().any(|word| is_operand(word)) => {
            Err(unknown(name, command))
        }
        _ => Ok(words),
    }
}

/// Returns `true` if a word is no option.
fn is_operand(word: &OsStr) -> bool {
    word.to_str().is_none_or(|word| word == "-" || !word.starts_with('-'))
}

/// Returns `true` if a word looks like a command and not like a file.
fn is_meant_as_command(word: &str) -> bool {
    let is_name = word.len() > 1 && word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-');
    is_name && !Path::new(word).is_file()
}

fn unknown(name: &str, command: &clap::Command) -> Diagnostic {
    let own = ["generate", "help", "simulate", "version"];
    let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).chain(own).collect();
    // Names of the same steps in other tools.
    let usual = match name {
        "build" | "compile" | "emit" | "synth" | "synthesise" | "synthesize" => Some("generate"),
        "sim" | "test" => Some("verify"),
        "equiv" => Some("prove"),
        _ => None,
    };
    let help = match usual.or_else(|| near(name, names.iter().copied())) {
        Some(name) => format!("did you mean {name}? `alir2hdl --help` lists the sub-commands"),
        None => "`alir2hdl --help` lists the sub-commands".to_owned(),
    };
    Diagnostic::error("E0002", Place::Whole, format!("there is no sub-command {name}")).with_help(help)
}

/// The options of `generate` with the language of each `-o FILE` by the file's extension.
fn with_languages(words: &[OsString]) -> Result<Vec<OsString>, Diagnostic> {
    let mut out = Vec::with_capacity(words.len());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let text = word.to_str().unwrap_or_default();
        let file = match (text, text.strip_prefix("--output=")) {
            ("-o" | "--output", _) => match rest.next() {
                Some(file) => file.clone(),
                None => {
                    out.push(word.clone());
                    continue;
                }
            },
            (_, Some(file)) => file.into(),
            _ => {
                out.push(word.clone());
                continue;
            }
        };
        let extension = Path::new(&file).extension().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase();
        let flag = match extension.as_str() {
            "v" => "--verilog",
            "sv" => "--systemverilog",
            "vhd" | "vhdl" => "--vhdl",
            "hpp" | "h" | "hh" => "--cpp",
            "json" => "--interface",
            _ => {
                let message = format!("{}: no language is known for this name", file.display());
                let help = "use a name that ends in .v, .sv, .vhd, .hpp or .json, or name the language: --verilog FILE";
                return Err(Diagnostic::error("E0002", Place::Flag("--output".into()), message).with_help(help));
            }
        };
        out.extend([flag.into(), file]);
    }
    Ok(out)
}
