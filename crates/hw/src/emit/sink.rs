//! Buffered output of the generated HDL source.

use super::latin1;
use std::fmt;
use std::io;

/// Size in bytes of the buffer.
const CHUNK: usize = 1 << 16;

/// Implementation of [`fmt::Write`] for an [`io::Write`]. Stores the I/O error, which a [`fmt::Error`] cannot carry.
pub(super) struct Sink<'a> {
    out: &'a mut dyn io::Write,
    text: String,
    error: Option<io::Error>,
    /// `true` if characters that are illegal in VHDL-93 are escaped.
    is_vhdl: bool,
}

impl<'a> Sink<'a> {
    pub(super) fn new(out: &'a mut dyn io::Write, is_vhdl: bool) -> Sink<'a> {
        Sink { out, text: String::with_capacity(CHUNK), error: None, is_vhdl }
    }

    /// Writes the buffered bytes to the output.
    fn pass_on(&mut self) -> fmt::Result {
        let passed = self.out.write_all(self.text.as_bytes());
        self.text.clear();
        passed.map_err(|error| {
            self.error = Some(error);
            fmt::Error
        })
    }

    /// Writes the remaining bytes and flushes the output.
    ///
    /// # Errors
    /// The first error of the output.
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
