//! Messages to users: a problem, its place, and a suggested correction.
//!
//! Every phase collects [`Diagnostic`]s instead of stopping at the first problem; the command line renders them as text
//! for people or as JSON lines for programs. A diagnostic of severity [`Severity::Bug`] is an internal error.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::fmt;
use std::path::Path;

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The result is not usable.
    Error,
    /// The result is usable, but probably not the intended one.
    Warning,
    /// Additional information.
    Note,
    /// An internal error, which is not the user's fault.
    Bug,
}

/// Place of a problem. In JSON it is always an object: with one key, or empty for `Whole`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file or request as a whole.
    Whole,
    /// A path inside a structured file, such as `model.ops[17].addr[0]`.
    Path(String),
    /// A byte offset in a binary file.
    Byte(u64),
    /// A line and column, both from 1, in a file.
    Line {
        /// Line, from 1.
        line: u64,
        /// Column, from 1.
        column: u64,
    },
    /// A command-line option, spelt as typed (`--pipeline`).
    Flag(String),
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Place::Whole => {}
            Place::Path(path) => map.serialize_entry("path", path)?,
            Place::Byte(byte) => map.serialize_entry("byte", byte)?,
            Place::Line { line, column } => {
                map.serialize_entry("line", line)?;
                map.serialize_entry("column", column)?;
            }
            Place::Flag(flag) => map.serialize_entry("flag", flag)?,
        }
        map.end()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => Ok(()),
            Place::Path(p) => f.write_str(p),
            Place::Byte(b) => write!(f, "byte {b}"),
            Place::Line { line, column } => write!(f, "line {line}, column {column}"),
            Place::Flag(o) => f.write_str(o),
        }
    }
}

/// A message to the user: a problem, its place, and a suggested correction.
///
/// The struct is returned by value everywhere, so rarely used fields are boxed to keep it small.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Stable code such as `E0104`, for programs and for searching.
    pub code: &'static str,
    /// Severity of the diagnostic.
    pub severity: Severity,
    /// Message, in one sentence without a full stop.
    pub message: String,
    /// File of the problem, with its path as it was given; `stdin` for standard input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<Box<String>>,
    /// Place in the file.
    pub place: Place,
    /// Lines that belong to the message, such as the end of a tool's log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Box<String>>,
    /// Suggested correction, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Diagnostic {
    /// Returns an error at a place.
    pub fn error(code: &'static str, place: Place, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            file: None,
            place,
            detail: None,
            help: None,
        }
    }

    /// Returns a warning at a place.
    pub fn warning(code: &'static str, place: Place, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, place, message) }
    }

    /// Returns a note at a place.
    pub fn note(code: &'static str, place: Place, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Note, ..Diagnostic::error(code, place, message) }
    }

    /// Returns the diagnostic with a file; `-` is standard input. A diagnostic that already has a file, or is about an
    /// option, is not changed.
    #[must_use]
    pub fn in_file(mut self, path: &Path) -> Diagnostic {
        if self.file.is_none() && !matches!(self.place, Place::Flag(_)) {
            let name = if path.as_os_str() == "-" { "stdin".into() } else { path.display().to_string() };
            self.file = Some(Box::new(name));
        }
        self
    }

    /// Like [`Diagnostic::in_file`] for an output file: `-` is standard output.
    #[must_use]
    pub fn in_output(self, path: &Path) -> Diagnostic {
        self.in_file(if path.as_os_str() == "-" { "stdout".as_ref() } else { path })
    }

    /// Returns the diagnostic with lines below the message.
    #[must_use]
    pub fn with_detail(mut self, lines: impl Into<String>) -> Diagnostic {
        self.detail = Some(Box::new(lines.into()));
        self
    }

    /// Returns the diagnostic with a help line.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    /// Writes `error[E0104] in m.json at model.ops[17].addr[0]: message`, the detail lines, and the help. Control
    /// characters are escaped, so that a hostile file can neither control the terminal nor forge a second message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
            Severity::Bug => "internal error",
        };
        write!(f, "{severity}[{}]", self.code)?;
        if let Some(file) = &self.file {
            write!(f, " in {}", printable(file))?;
        }
        if self.place != Place::Whole {
            write!(f, " at {}", printable(&self.place.to_string()))?;
        }
        write!(f, ": {}", printable(&self.message))?;
        for line in self.detail.iter().flat_map(|detail| detail.lines()) {
            write!(f, "\n{}", printable(line))?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {}", printable(help))?;
        }
        if self.severity == Severity::Bug {
            write!(f, "\n  This is a mistake of alir2hdl itself; please report it with the input that shows it.")?;
        }
        Ok(())
    }
}

/// Returns text from a file as one safe line for a terminal: line breaks, other control characters and characters that
/// change the writing direction are escaped.
pub fn printable(text: &str) -> String {
    let breaks = |c: char| {
        c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
    };
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if breaks(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// Returns a word in the syntax of a POSIX shell, quoted if necessary.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+:,%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Returns a number with its noun: `1 element`, `2 elements`. The plural of the noun must end in `s`.
pub fn counted(number: impl TryInto<u128>, noun: &str) -> String {
    match number.try_into().unwrap_or(u128::MAX) {
        1 => format!("1 {noun}"),
        number => format!("{number} {noun}s"),
    }
}

/// Number of significant digits of a figure for people; estimates and times are not more accurate.
const DIGITS: usize = 4;

/// Formats a number with at most four significant digits.
pub fn four_digits(value: f64) -> String {
    format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value).to_string()
}

/// Formats a number, rounded up to at most four significant digits, so that it can serve as an upper bound.
pub fn four_digits_up(value: f64) -> String {
    let near = format!("{value:.*e}", DIGITS - 1);
    let (Some((_, exponent)), Ok(nearest)) = (near.split_once('e'), near.parse::<f64>()) else {
        return value.to_string();
    };
    // The rounding error of the last bit does not require rounding up.
    if nearest >= value || value - nearest <= 1e-12 * value.abs() {
        return nearest.to_string();
    }
    let unit: f64 = format!("1e{exponent}").parse().unwrap_or(0.0);
    four_digits(nearest + unit * 0.001)
}

/// Formats a delay with at most four significant digits. Nanoseconds are rounded up, so that the printed period of a
/// clock can be required.
pub fn delay_digits(delay: f64, unit: &str) -> String {
    if unit == "ns" { four_digits_up(delay) } else { four_digits(delay) }
}

/// Formats a positive number, rounded down to at most four significant digits.
pub fn four_digits_down(value: f64) -> String {
    four_digits_up(-value).trim_start_matches('-').to_owned()
}

/// Returns a formatted delay with its unit: `ns`, or a plural such as `latency units`.
pub fn with_unit(delay: &str, unit: &str) -> String {
    match delay {
        "1" if unit != "ns" => format!("1 {}", unit.trim_end_matches('s')),
        _ => format!("{delay} {unit}"),
    }
}

/// Returns the diagnostic of a file in UTF-16; `None` for other files. UTF-16 is recognised by a byte order mark, or by
/// NUL as every second byte between printable ASCII. All text input must be UTF-8, with or without a byte order mark.
pub fn utf16(head: &[u8]) -> Option<Diagnostic> {
    let text = |c: u8| c.is_ascii_graphic() || c.is_ascii_whitespace();
    let (body, marked) = match head {
        [0xff, 0xfe, rest @ ..] | [0xfe, 0xff, rest @ ..] => (rest, true),
        _ => (head, false),
    };
    let first = &body[..body.len().min(8) & !1];
    let all = |low: usize| first.chunks(2).all(|pair| text(pair[low]) && pair[1 - low] == 0);
    let enough = first.len() >= if marked { 2 } else { 4 };
    (enough && (all(0) || all(1))).then(|| {
        Diagnostic::error("E0005", Place::Whole, "the text is in UTF-16; text is read in UTF-8").with_help(
            "save it as UTF-8, or `iconv -f UTF-16 -t UTF-8 FILE > NEW`; what PowerShell's `>` writes is UTF-16",
        )
    })
}

/// Diagnostics in the order in which they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

/// Maximum number of problems of a file that are counted, even if fewer are shown.
pub const COUNTED: usize = 1_000;

impl Diagnostics {
    /// Returns the first `most` problems and, if there are more, a note with the number of the others. A list of at
    /// least `counted` problems was itself truncated; then the note states "at least".
    #[must_use]
    pub fn cut(mut self, most: usize, counted: usize) -> Diagnostics {
        let found = self.0.len();
        if found > most {
            let (more, least) = (found - most, if found >= counted { "at least " } else { "" });
            let problems = if more == 1 { "problem" } else { "problems" };
            self.0.truncate(most);
            let message = format!("and {least}{more} more {problems}");
            let help = format!("--max-problems {found} shows them");
            self.0.push(Diagnostic::note("N0001", Place::Whole, message).with_help(help));
        }
        self
    }

    /// Returns `true` if any diagnostic makes the result unusable.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|d| matches!(d.severity, Severity::Error | Severity::Bug))
    }

    /// Returns the diagnostics with a file, as [`Diagnostic::in_file`].
    #[must_use]
    pub fn in_file(self, path: &Path) -> Diagnostics {
        Diagnostics(self.0.into_iter().map(|diagnostic| diagnostic.in_file(path)).collect())
    }

    /// Returns one JSON object per line.
    pub fn to_json_lines(&self) -> String {
        let mut out = String::new();
        for d in &self.0 {
            let line = Line { schema: "alir2hdl.diagnostic/1", diagnostic: d };
            out.push_str(&serde_json::to_string(&line).expect("a diagnostic is plain data"));
            out.push('\n');
        }
        out
    }
}

/// A diagnostic for programs, with the name of its schema.
#[derive(Serialize)]
struct Line<'a> {
    schema: &'static str,
    #[serde(flatten)]
    diagnostic: &'a Diagnostic,
}

impl From<Diagnostic> for Diagnostics {
    fn from(d: Diagnostic) -> Self {
        Diagnostics(vec![d])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.0.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{d}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

impl std::error::Error for Diagnostics {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_four_significant_digits() {
        for (value, text) in [
            (0.0, "0"),
            (19.593, "19.59"),
            (15452.5, "15450"),
            (14457.0, "14460"),
            (0.000123456, "0.0001235"),
            (5.0, "5"),
            (99.999, "100"),
            (-7.0335, "-7.034"),
            (1e300, &1e300.to_string()),
        ] {
            assert_eq!(four_digits(value), text, "{value}");
        }
        for (value, text) in
            [(5.0211, "5.022"), (5.021, "5.021"), (0.1 + 0.2, "0.3"), (12341.0, "12350"), (99.991, "100"), (0.0, "0")]
        {
            assert_eq!(four_digits_up(value), text, "{value}");
        }
        for (value, text) in [(244.19, "244.1"), (244.1, "244.1"), (249.99, "249.9"), (250.0, "250")] {
            assert_eq!(four_digits_down(value), text, "{value}");
        }
    }

    #[test]
    fn text_names_code_place_and_help() {
        let d = Diagnostic::error("E0104", Place::Path("model.ops[17].addr[0]".into()), "operand 20 comes later")
            .with_help("operations may only use earlier values");
        assert_eq!(
            d.to_string(),
            "error[E0104] at model.ops[17].addr[0]: operand 20 comes later\n  help: operations may only use earlier \
             values"
        );
    }

    #[test]
    fn control_characters_cannot_reach_the_terminal() {
        let d = Diagnostic::error("E0001", Place::Whole, "bad \u{1b}[31m text");
        assert_eq!(d.to_string(), "error[E0001]: bad \\u{1b}[31m text");
    }

    #[test]
    fn a_message_stays_one_line_with_any_name_in_it() {
        let evil = "a\nerror[E9999]: b\u{2028}c\u{202e}d\r";
        let d = Diagnostic::error("E0820", Place::Path(evil.into()), evil).with_help(evil).in_file(Path::new(evil));
        let text = d.to_string();
        assert_eq!(text.lines().count(), 2, "{text}");
        let shown = "a\\nerror[E9999]: b\\u{2028}c\\u{202e}d\\r";
        assert_eq!(text, format!("error[E0820] in {shown} at {shown}: {shown}\n  help: {shown}"));
        let d = Diagnostic::error("E1002", Place::Whole, "the log says:").with_detail("one\ntwo\t\n");
        assert_eq!(d.to_string(), "error[E1002]: the log says:\none\ntwo\\t");
    }

    #[test]
    fn files_and_places_are_apart() {
        let d = Diagnostic::error("E0104", Place::Whole, "x").in_file(Path::new("a/m.json")).in_file(Path::new("b"));
        assert_eq!(d.to_string(), "error[E0104] in a/m.json: x");
        assert_eq!(
            Diagnostics::from(d).to_json_lines(),
            "{\"schema\":\"alir2hdl.diagnostic/1\",\"code\":\"E0104\",\"severity\":\"error\",\"message\":\"x\",\
             \"file\":\"a/m.json\",\"place\":{}}\n"
        );
        let option = Diagnostic::error("E0002", Place::Flag("--x".into()), "y").in_file(Path::new("m.json"));
        assert_eq!(option.to_string(), "error[E0002] at --x: y");
    }

    #[test]
    fn utf16_is_recognised_with_and_without_a_mark_in_both_orders() {
        let units: Vec<u16> = "{\"meta\": 1}".encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|u| u.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|u| u.to_be_bytes()).collect();
        let marked = |mark: &[u8], rest: &[u8]| [mark, rest].concat();
        for text in [little.clone(), big.clone(), marked(b"\xff\xfe", &little), marked(b"\xfe\xff", &big)] {
            assert!(utf16(&text).is_some(), "{text:?}");
        }
        // Other files: text, UTF-8 with a byte order mark, 32-bit words, binary data.
        for other in
            [&b"{\"meta\""[..], b"\xef\xbb\xbf{\"a\"", &[1, 0, 0, 0, 2, 0, 0, 0], b"\x1f\x8b\x08\0", b"", b"{", b"{\0"]
        {
            assert!(utf16(other).is_none(), "{other:?}");
        }
    }

    #[test]
    fn json_is_one_object_a_line() {
        let d = Diagnostics(vec![Diagnostic::note("N0001", Place::Byte(7), "x")]);
        assert_eq!(
            d.to_json_lines(),
            "{\"schema\":\"alir2hdl.diagnostic/1\",\"code\":\"N0001\",\"severity\":\"note\",\"message\":\"x\",\
             \"place\":{\"byte\":7}}\n"
        );
    }
}
