//! Positions in a source, and messages about them, for both front ends.

use alir_core::diag::{Diagnostic, Place};
use std::io;
use std::path::Path;

/// Returns line and column of a byte offset, both counted from 1.
pub(super) fn place(text: &str, at: u32) -> Place {
    let before = &text.as_bytes()[..(at as usize).min(text.len())];
    let line = before.iter().filter(|&&b| b == b'\n').count() as u64 + 1;
    let column = before.iter().rev().take_while(|&&b| b != b'\n').count() as u64 + 1;
    Place::Line { line, column }
}

/// Returns an error at a byte offset for an unsupported or invalid construct.
pub(super) fn error(text: &str, at: u32, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("E0903", place(text, at), message)
}

/// Function that returns the bytes of a file.
pub type ReadFile<'a> = dyn Fn(&Path) -> io::Result<Vec<u8>> + Sync + 'a;

/// Consecutive lines of the joined text that come from one file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// First line of the joined text, from 1.
    pub(crate) first: u64,
    /// Index of the file.
    pub(crate) file: usize,
    /// Line of the file that corresponds to `first`, from 1.
    pub(crate) line: u64,
}
