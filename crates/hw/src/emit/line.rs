//! HDL source under construction: a string that records its column, and the display of such strings in templates.
//!
//! Half of the output consists of names, bit numbers and operators. They are appended to one string for each
//! placeholder of a template, without the formatting of the standard library, which takes several times as long as the
//! output itself.

use alir_core::num::push_decimal;
use askama::{FastWritable, Values};
use std::cell::Cell;
use std::fmt::{self, Display, Write};

/// Column after which the next item of a list starts on a new line.
const WRAP: usize = 100;

thread_local! {
    /// Buffer that is reused for every placeholder, to avoid allocations.
    static SCRATCH: Cell<String> = const { Cell::new(String::new()) };
}

/// A string that records its column, so that long lists can be broken between items.
pub(super) struct Line<'t> {
    text: &'t mut String,
    /// String length at which `column` was reached.
    start: usize,
    column: usize,
}

impl<'t> Line<'t> {
    /// Creates a line that appends to `text`, which ends at about column `column`.
    pub(super) fn new(text: &'t mut String, column: usize) -> Line<'t> {
        Line { start: text.len(), text, column }
    }

    /// Appends a string.
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends a number.
    pub(super) fn number(&mut self, number: u32) {
        push_decimal(self.text, number.into());
    }

    /// Appends a binary digit.
    pub(super) fn bit(&mut self, one: bool) {
        self.push(if one { "1" } else { "0" });
    }

    /// Appends a space, or a new line if the current line is long.
    pub(super) fn blank(&mut self) {
        if self.column + self.text.len() - self.start > WRAP {
            self.push("\n        ");
            (self.start, self.column) = (self.text.len(), 8);
        } else {
            self.push(" ");
        }
    }
}

/// Content of a placeholder in a template.
#[derive(Clone, Copy)]
pub(super) struct Spelt<F> {
    column: usize,
    spell: F,
}

/// Returns the content that `spell` writes into a line, beginning at about `column`.
pub(super) fn spelt<F: Fn(&mut Line<'_>)>(column: usize, spell: F) -> Spelt<F> {
    Spelt { column, spell }
}

impl<F: Fn(&mut Line<'_>)> Spelt<F> {
    fn write(&self, out: &mut dyn Write) -> fmt::Result {
        let mut text = SCRATCH.take();
        text.clear();
        (self.spell)(&mut Line::new(&mut text, self.column));
        let written = out.write_str(&text);
        SCRATCH.set(text);
        written
    }
}

impl<F: Fn(&mut Line<'_>)> Display for Spelt<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}

impl<F: Fn(&mut Line<'_>)> FastWritable for Spelt<F> {
    fn write_into(&self, out: &mut dyn Write, _: &dyn Values) -> askama::Result<()> {
        Ok(self.write(out)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_broken_between_items() {
        let list = spelt(30, |line| {
            for _ in 0..40 {
                line.push("item,");
                line.blank();
            }
        });
        let text = format!("{:30}{list}", "");
        assert!(text.lines().count() > 1);
        assert!(text.lines().all(|line| (WRAP - 10..WRAP + 10).contains(&line.len()) || line.ends_with(", ")));
        assert!(text.lines().skip(1).all(|line| line.starts_with("        item")));
    }
}
