//! Places in a source text, and messages about them, for the readers of both languages.

use alir_core::diag::{Diagnostic, Place};

/// Line and column of a byte offset, both from 1.
pub(super) fn place(text: &str, at: u32) -> Place {
    let before = &text.as_bytes()[..(at as usize).min(text.len())];
    let line = before.iter().filter(|&&b| b == b'\n').count() as u64 + 1;
    let column = before.iter().rev().take_while(|&&b| b != b'\n').count() as u64 + 1;
    Place::Line { line, column }
}

/// Returns an error at a place in the file: the file is not in the supported subset.
pub(super) fn error(text: &str, at: u32, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("E0903", place(text, at), message)
}
