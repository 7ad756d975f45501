//! Lines of bounded length.

use std::fmt::{self, Write};

/// Where the next item of a list starts a new line.
const WRAP: usize = 100;

/// Writes a number. Half of all text is names and bit numbers; the formatting machinery costs three times as much.
pub(super) fn number(out: &mut impl Write, mut value: u32) -> fmt::Result {
    let mut digits = [0u8; 10];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.write_str(std::str::from_utf8(&digits[at..]).expect("digits"))
}

/// A sink that knows its column, so that long lists can be broken between items.
pub(super) struct Columns<'f, 'b> {
    out: &'f mut fmt::Formatter<'b>,
    column: usize,
}

impl<'f, 'b> Columns<'f, 'b> {
    /// Writes to `out`, which stands at about `column`.
    pub(super) fn new(out: &'f mut fmt::Formatter<'b>, column: usize) -> Self {
        Columns { out, column }
    }

    /// A blank, or a new line if the current one is long.
    pub(super) fn blank(&mut self) -> fmt::Result {
        if self.column > WRAP {
            self.column = 8;
            self.out.write_str("\n        ")
        } else {
            self.write_str(" ")
        }
    }
}

impl Write for Columns<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.column += text.len();
        self.out.write_str(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_all_their_digits() {
        for value in [0, 7, 10, 99, 100, u32::MAX] {
            let mut out = String::new();
            number(&mut out, value).unwrap();
            assert_eq!(out, value.to_string());
        }
    }
}
