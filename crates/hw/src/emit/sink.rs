//! From formatted text to bytes, in large pieces.

use super::latin1;
use std::fmt;
use std::io;

/// Bytes kept before they are passed on.
const CHUNK: usize = 1 << 16;

/// A [`fmt::Write`] over an [`io::Write`], which keeps the error that the former cannot carry.
pub(super) struct Sink<'a> {
    out: &'a mut dyn io::Write,
    text: String,
    error: Option<io::Error>,
    /// `true` if characters that VHDL-93 does not have are escaped.
    is_vhdl: bool,
}

impl<'a> Sink<'a> {
    pub(super) fn new(out: &'a mut dyn io::Write, is_vhdl: bool) -> Sink<'a> {
        Sink { out, text: String::with_capacity(CHUNK), error: None, is_vhdl }
    }

    /// Passes on what has been kept.
    fn pass_on(&mut self) -> fmt::Result {
        let passed = self.out.write_all(self.text.as_bytes());
        self.text.clear();
        passed.map_err(|error| {
            self.error = Some(error);
            fmt::Error
        })
    }

    /// Passes on the rest.
    ///
    /// # Errors
    /// The first error of the writer.
    pub(super) fn finish(mut self, written: fmt::Result) -> io::Result<()> {
        match written.and_then(|()| self.pass_on()) {
            Ok(()) => self.out.flush(),
            Err(fmt::Error) => Err(self.error.unwrap_or_else(|| io::Error::other("formatting failed"))),
        }
    }
}

impl fmt::Write for Sink<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text.len() + text.len() > CHUNK {
            self.pass_on()?;
        }
        match self.is_vhdl {
            true => self.text.push_str(&latin1::escaped(text)),
            false => self.text.push_str(text),
        }
        Ok(())
    }
}
