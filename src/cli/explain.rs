//! `alir2hdl explain`: prints the entry of a code in `docs/errors.md`, or the schema of a JSON output, without network
//! access.

use super::{ExitStatus, Failure, near, print, schema};
use crate::diag::{Diagnostic, Place};

/// Table of codes, which is embedded in the program.
const ERRORS: &str = include_str!("../../docs/errors.md");

/// Explain the code of an error, warning or note
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl explain E0503
  alir2hdl explain | grep -i table
  alir2hdl explain --schema info > info.schema.json")]
pub(super) struct Args {
    /// The code, as E0503 or E503 [default: list all]
    #[arg(value_name = "CODE")]
    code: Option<String>,
    /// Print the JSON schema of an output instead
    #[arg(long, value_name = "KIND", conflicts_with = "code", value_parser = schema::kinds())]
    schema: Option<String>,
}

/// Row of the table.
struct Entry<'t> {
    /// Heading of its group.
    section: &'t str,
    code: &'t str,
    meaning: &'t str,
    remedy: &'t str,
}

/// Returns all rows in the order of the table.
fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut section = "";
    let mut found = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            section = heading;
        }
        let cells = line.strip_prefix("| ").and_then(|row| row.strip_suffix(" |"));
        let mut cells = cells.into_iter().flat_map(|row| row.split(" | "));
        if let (Some(code), Some(meaning), Some(remedy)) = (cells.next(), cells.next(), cells.next())
            && code != "code"
        {
            found.push(Entry { section, code, meaning, remedy });
        }
    }
    found
}

/// Returns the codes with their meanings.
pub(super) fn codes() -> impl Iterator<Item = (&'static str, &'static str)> {
    entries(ERRORS).into_iter().map(|entry| (entry.code, entry.meaning))
}

/// Returns the remedy of a code as a help line; `None` if the table refers to the message.
pub(super) fn remedy(code: &str) -> Option<String> {
    let entry = entries(ERRORS).into_iter().find(|entry| entry.code == code)?;
    let refers = ["See the message", "The message", "The help"].iter().any(|words| entry.remedy.starts_with(words));
    (!refers && !entry.remedy.is_empty()).then(|| in_message(entry.remedy))
}

/// Formats a remedy of the table like other help lines: the first word in lower case, and a single sentence without
/// its full stop.
fn in_message(remedy: &str) -> String {
    let text = if remedy.contains(". ") { remedy } else { remedy.trim_end_matches('.') };
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_ascii_lowercase() => first.to_lowercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

/// Normalises a code to a letter and four digits; leading zeros may be omitted.
fn full_code(asked: &str) -> String {
    let upper = asked.trim().to_ascii_uppercase();
    let upper = upper.trim_matches(['[', ']']);
    match upper.split_at_checked(1) {
        Some((letter @ ("E" | "W" | "N"), digits))
            if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) =>
        {
            format!("{letter}{digits:0>4}")
        }
        _ => upper.to_owned(),
    }
}

/// Runs the sub-command.
pub(super) fn run(args: &Args) -> Result<ExitStatus, Failure> {
    if let Some(kind) = &args.schema {
        return print(schema::text(kind).as_bytes());
    }
    let entries = entries(ERRORS);
    let Some(asked) = &args.code else {
        let mut text = String::new();
        let mut section = "";
        for entry in &entries {
            if entry.section != section {
                section = entry.section;
                text.push_str(&format!("{}{section}\n", if text.is_empty() { "" } else { "\n" }));
            }
            text.push_str(&format!("  {}  {}\n", entry.code, entry.meaning));
        }
        return print(text.as_bytes());
    };
    let code = full_code(asked);
    // A number without a letter is an error code.
    let with_letter = format!("E{code:0>4}");
    let known = entries.iter().find(|entry| entry.code == code);
    let Some(entry) = known.or_else(|| entries.iter().find(|entry| entry.code == with_letter)) else {
        let error = Diagnostic::error("E0004", Place::Flag("CODE".into()), format!("there is no code {asked:?}"));
        return Err(Failure::input(
            match near(
                &code,
                entries.iter().map(|entry| entry.code).filter(|known| known[..1] == code[..1.min(code.len())]),
            ) {
                Some(near) => error.with_help(format!("did you mean {near}? `alir2hdl explain` lists all codes")),
                None => error.with_help("`alir2hdl explain` lists all codes"),
            },
        ));
    };
    let kind = match entry.code.as_bytes().first() {
        Some(b'W') => "a warning",
        Some(b'N') => "a note",
        _ => "an error",
    };
    let Entry { section, code, meaning, remedy } = entry;
    print(format!("{code}, {kind} ({section})\n\n{meaning}\n\nWhat to do: {remedy}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_read_like_other_help_lines() {
        let texts = ["Remove it.", "ALIR only.", "`--lang`.", "Use one. Then the other.", "0 to 9"];
        let expected = ["remove it", "ALIR only", "`--lang`", "use one. Then the other.", "0 to 9"];
        assert_eq!(texts.map(in_message), expected);
        assert_eq!(remedy("E0811").as_deref(), Some("remove it"));
    }

    #[test]
    fn every_row_of_the_document_is_known() {
        let entries = entries(ERRORS);
        let rows = ERRORS.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| code")).count();
        assert!(entries.len() > 150 && entries.len() == rows);
        for entry in entries {
            let letter = entry.code.as_bytes()[0];
            assert!(matches!(letter, b'E' | b'W' | b'N') && entry.code.len() == 5, "{}", entry.code);
            assert!(!entry.section.is_empty() && !entry.meaning.is_empty() && !entry.remedy.is_empty());
        }
    }
}
