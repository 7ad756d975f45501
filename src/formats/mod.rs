//! Model files: recognising, reading and writing them.
//!
//! Reading is streaming and bounded by [`Limits`]: no file, however hostile, makes it panic, hang, or take more memory
//! than a small multiple of [`Limits::max_bytes`]. What a program means is checked by [`crate::ir`]; this module adds
//! what a *file* can get wrong, and the places. All problems of a file are collected, up to [`Limits::max_problems`].

mod alir;
mod fsm;
mod json;
mod source;

pub use fsm::read_machine;

use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::ir::{Limits, Model};
use json::Json;
use source::Source;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// ALIR JSON, versions 2 to 4, plain or gzip.
    Alir,
}

/// A form that a model can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// ALIR JSON, version 2.
    Alir2,
    /// ALIR JSON, version 3.
    Alir3,
    /// ALIR JSON, version 4.
    Alir4,
}

/// A model that a form can say, ready to be written. Read back it is the same program with the same ports: equal where
/// the form has every operation, else rewritten to operations that it has, bit for bit the same.
#[derive(Clone, Debug)]
pub struct Prepared<'m> {
    model: Cow<'m, Model>,
    target: Target,
}

/// Prepares a model for writing.
///
/// # Errors
/// What the form cannot say (`E1101` to `E1103`); each diagnostic names the operation.
pub fn prepare(model: &Model, target: Target) -> Result<Prepared<'_>, Diagnostics> {
    let model = match target {
        Target::Alir2 | Target::Alir3 | Target::Alir4 => alir::prepare(model, target)?,
    };
    Ok(Prepared { model, target })
}

impl Prepared<'_> {
    /// Writes the model, plain.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.target {
            Target::Alir2 | Target::Alir3 | Target::Alir4 => alir::write(&self.model, self.target, out),
        }
    }

    /// Writes the model, gzipped. The bytes depend on nothing but the model.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_gzip(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
        self.write(&mut encoder)?;
        encoder.finish()?;
        Ok(())
    }
}

/// Reads a model, plain or gzip, in the given format or the one that its content shows. Beside the model come notes
/// about what the file does unusually.
///
/// # Errors
/// Every problem of the file.
pub fn read(reader: impl Read, limits: &Limits, format: Option<Format>) -> Result<(Model, Diagnostics), Diagnostics> {
    let fatal = |stop: Box<Diagnostic>| Diagnostics::from(*stop);
    let source = Source::new(reader, limits.max_bytes).map_err(fatal)?;
    let json = Json::new(source).map_err(fatal)?;
    let format = format.or_else(|| detect(json.ahead()));
    match format {
        Some(Format::Alir) => alir::read(json, limits),
        None => Err(unknown(json.ahead()).into()),
    }
}

/// [`read`] from a path, where `-` is stdin.
///
/// # Errors
/// Every problem of the file; `E0001` if it cannot be opened.
pub fn read_path(path: &Path, limits: &Limits, format: Option<Format>) -> Result<(Model, Diagnostics), Diagnostics> {
    if path.as_os_str() == "-" {
        return read(std::io::stdin().lock(), limits, format);
    }
    let failed = |message: String| {
        let place = Place::Path(path.display().to_string());
        Diagnostics::from(Diagnostic::error("E0001", place, message))
    };
    let file = File::open(path).map_err(|e| failed(format!("cannot open: {e}")))?;
    if file.metadata().is_ok_and(|meta| meta.is_dir()) {
        return Err(failed("this is a folder, not a model file".into()));
    }
    read(file, limits, format)
}

/// The format that the first bytes (decompressed, behind white space) show.
pub fn detect(bytes: &[u8]) -> Option<Format> {
    match bytes.first() {
        Some(b'{') => Some(Format::Alir),
        _ => None,
    }
}

/// Not a model: what it looks like, and what would be one.
fn unknown(bytes: &[u8]) -> Diagnostic {
    let looks_like = match bytes {
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => "a NumPy array",
        [b'P', b'K', 3, 4, ..] => "a zip archive",
        [0x1f, 0x8b, ..] => "a gzip file inside a gzip file",
        [b'[', ..] => "a JSON array without a header",
        _ => "something else",
    };
    Diagnostic::error("E0115", Place::Whole, format!("not a model file: it looks like {looks_like}"))
        .with_help("a model file is the JSON object that alkaid's save() writes, plain or gzip")
}
