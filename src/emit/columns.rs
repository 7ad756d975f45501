//! Lines of bounded length.

use std::fmt::{self, Write};

/// Where the next item of a list starts a new line.
const WRAP: usize = 100;

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
