//! Parser and writer of CSV: one line per sample, fields separated by commas, semicolons, tabs or blanks; `#` begins a
//! comment.

use super::Values;
use super::number::{NO_NUMBER, Number};
use alir_core::diag::counted;
use alir_core::num::Kif;
use num_bigint::BigInt;
use std::fmt::Write;
use std::io::{self, BufRead, Read};

/// Reads lines of a fixed number of fields.
pub(super) struct CsvReader<R> {
    input: R,
    columns: Vec<Kif>,
    codes: bool,
    line: Vec<u8>,
    line_number: u64,
    /// Separator between fields, determined by the first line.
    separator: Option<u8>,
    /// `true` after the first sample.
    any: bool,
    /// Number and content of the line that is considered a heading.
    heading: Option<(u64, String)>,
}

/// Error in the input, or in a line of it (from 1).
pub(super) enum CsvError {
    Io(io::Error),
    Line(u64, String),
}

impl<R: BufRead> CsvReader<R> {
    pub(super) fn new(input: R, columns: &[Kif], codes: bool) -> CsvReader<R> {
        CsvReader {
            input,
            columns: columns.to_vec(),
            codes,
            line: Vec::new(),
            line_number: 0,
            separator: None,
            any: false,
            heading: None,
        }
    }

    /// Appends at most `max_rows` samples to `into`, which is empty; returns the number of samples, 0 at the end.
    pub(super) fn read(&mut self, max_rows: usize, into: &mut Values) -> Result<usize, CsvError> {
        *into = if self.codes { Values::Integers(into.take_integers()) } else { Values::Reals(into.take_reals()) };
        let mut rows = 0;
        while rows < max_rows && self.next_line()? {
            if self.sample(into).map_err(|what| CsvError::Line(self.line_number, what))? {
                rows += 1;
            }
        }
        self.any |= rows > 0;
        if !self.any && max_rows > 0 {
            return Err(CsvError::Line(self.line_number, "the text ends without a sample".to_owned()));
        }
        Ok(rows)
    }

    /// Returns `true` if a field is a number, or a bit pattern if this reader reads codes.
    fn is_number(&self, field: &str) -> bool {
        Number::parse(field).is_ok() || (self.codes && pattern(field).is_some())
    }

    /// Removes and returns the number and the content of the line that is considered a heading; `None` if there is
    /// none.
    pub(super) fn take_heading(&mut self) -> Option<(u64, String)> {
        self.heading.take()
    }

    /// Reads the next line; returns `false` at the end. The line length is limited to what numbers can need.
    fn next_line(&mut self) -> Result<bool, CsvError> {
        // An exact decimal float64 has up to 1075 digits.
        let widest: u64 = self.columns.iter().map(|kif| 1200 + u64::from(kif.width())).sum();
        let limit = 1 << 16 | widest;
        self.line.clear();
        self.line_number += 1;
        let read = (&mut self.input).take(limit).read_until(b'\n', &mut self.line).map_err(CsvError::Io)?;
        if read as u64 == limit && self.line.last() != Some(&b'\n') {
            return Err(CsvError::Line(self.line_number, format!("the line is longer than {limit} bytes")));
        }
        match alir_core::diag::utf16(&self.line) {
            Some(problem) if self.line_number == 1 => Err(CsvError::Line(1, problem.message)),
            _ => Ok(read > 0),
        }
    }

    /// Parses the line into `into`; returns `true` for a sample, `false` for a heading, a comment or an empty line.
    fn sample(&mut self, into: &mut Values) -> Result<bool, String> {
        let line = std::str::from_utf8(&self.line).map_err(|_| "this is not text".to_string())?;
        let line = line.trim_start_matches('\u{feff}').trim();
        let line = line.split('#').next().unwrap_or(line).trim_end();
        let comment = line.is_empty() && !self.line.trim_ascii().is_empty();
        if comment || (line.is_empty() && !self.columns.is_empty()) {
            return Ok(false);
        }
        let first = self.separator.is_none();
        let separator = *self.separator.get_or_insert_with(|| {
            // A semicolon or tab takes precedence: commas are then part of fields, which are not valid numbers.
            [b';', b'\t', b','].into_iter().find(|s| line.as_bytes().contains(s)).unwrap_or(b' ')
        });
        let fields: Vec<&str> = match separator {
            _ if line.is_empty() => Vec::new(),
            b' ' => line.split_whitespace().collect(),
            _ => line.split(char::from(separator)).map(str::trim).collect(),
        };
        if first && fields.len() == self.columns.len() && !fields.is_empty() && fields.iter().all(|f| is_title(f)) {
            self.heading = Some((self.line_number, line.to_owned()));
            return Ok(false);
        }
        if first
            && !fields.is_empty()
            && fields.len() == self.columns.len()
            && !fields.iter().any(|f| self.is_number(f))
        {
            let at = fields.iter().position(|f| !is_title(f)).unwrap_or(0);
            let why = Number::parse(fields[at]).err().filter(|why| *why != NO_NUMBER);
            return Err(format!(
                "field {}: {:?} {}",
                at + 1,
                fields[at],
                why.unwrap_or("is neither a number nor a title")
            ));
        }
        if fields.len() != self.columns.len() {
            return Err(format!(
                "{}, the model has {}",
                counted(fields.len(), "number"),
                counted(self.columns.len(), "input")
            ));
        }
        for (k, (field, kif)) in fields.iter().zip(&self.columns).enumerate() {
            let what = |why: &str| format!("field {}: {field:?} {why}", k + 1);
            if self.codes {
                into.push(code(field, *kif).ok_or_else(|| what("is not an integer code"))?);
            } else {
                into.push_number(Number::parse(field).map_err(what)?);
            }
        }
        Ok(true)
    }
}

/// Returns `true` if a field can be the title of a column: not a number, not a variant spelling of a number, and not a
/// marker of a missing value.
fn is_title(field: &str) -> bool {
    const MISSING: &[&str] = &["na", "n/a", "#n/a", "null", "nil", "none", "missing", "undefined"];
    let bare = field.trim_matches(['"', '\'', ' ', '\t']);
    let after_sign =
        bare.trim_start_matches(['+', '-', '.', '\u{2212}', '\u{2013}', '\u{2014}', '\u{ff0d}', '\u{fe63}']);
    let begins_like_a_number = after_sign.len() < bare.len() && !after_sign.starts_with(char::is_alphabetic);
    !bare.is_empty()
        && !begins_like_a_number
        && !after_sign.starts_with(char::is_numeric)
        && Number::parse(bare) == Err(NO_NUMBER)
        && !MISSING.iter().any(|word| bare.eq_ignore_ascii_case(word))
}

/// Returns the bits of a field `0x...`; `None` for other fields.
fn pattern(field: &str) -> Option<BigInt> {
    let digits = field.strip_prefix("0x").or_else(|| field.strip_prefix("0X"))?;
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    BigInt::parse_bytes(digits.as_bytes(), 16)
}

/// Returns the code of a field: a decimal integer, or `0x` and the bits of the type.
fn code(field: &str, kif: Kif) -> Option<BigInt> {
    match pattern(field) {
        // Bits that do not fit the type are returned unchanged: the caller rejects them with other codes that do not
        // fit.
        Some(bits) if bits.bits() <= u64::from(kif.width()) => Some(alir_core::num::wrap(&bits, kif)),
        Some(bits) => Some(bits),
        None => field.parse().ok(),
    }
}

/// Appends one line of reals.
pub(super) fn write_reals(row: &[f64], text: &mut String) {
    for (k, x) in row.iter().enumerate() {
        // The debug format is the shortest text that parses to the same float64, with an exponent if that is shorter.
        let _ = write!(text, "{}{x:?}", if k == 0 { "" } else { "," });
    }
    text.push('\n');
}

/// Appends one line of decimal codes.
pub(super) fn write_integers<T: std::fmt::Display>(row: &[T], text: &mut String) {
    for (k, code) in row.iter().enumerate() {
        let _ = write!(text, "{}{code}", if k == 0 { "" } else { "," });
    }
    text.push('\n');
}

/// Appends one line of codes, each as `0x` and its bits.
pub(super) fn write_patterns<'a>(row: impl Iterator<Item = (&'a BigInt, Kif)>, text: &mut String) {
    for (k, (code, kif)) in row.enumerate() {
        let bits = alir_core::num::wrap(code, Kif { signed: false, int: kif.width() as i32, frac: 0 });
        let digits = kif.width().div_ceil(4).max(1) as usize;
        let _ = write!(text, "{}0x{bits:0digits$x}", if k == 0 { "" } else { "," });
    }
    text.push('\n');
}
