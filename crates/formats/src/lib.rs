//! Model files: format detection, reading and writing.
//!
//! Reading is streaming and bounded by [`Limits`]: a hostile file causes neither a panic nor an endless loop, nor more
//! memory than a small multiple of [`Limits::max_bytes`]. [`alir_core::ir`] checks the semantic rules of a program;
//! this module adds the rules of *files*, and the places of problems in a file. All problems of a file are collected,
//! up to [`Limits::max_problems`].
//!
//! ```
//! use alir_core::ir::Limits;
//!
//! let (model, notes) =
//!     alir_formats::read_path("examples/jet_mlp.json.gz".as_ref(), &Limits::default(), None).unwrap();
//! assert_eq!((model.n_inputs(), model.outputs().len(), notes.0.len()), (16, 5, 0));
//! ```
//!
//! (`tests/it/crate_examples.rs` runs this example.)

#![forbid(unsafe_code)]

mod alir;
mod bytecode;
mod decode;
mod fsm;
mod json;
mod place;
mod rewrite;
mod source;
mod stages;
mod upgrade;

pub use fsm::{begins_json, head, is_machine, look_ahead, machine_json, read_machine, unpacked};

use alir::Frame;
use alir_core::diag::{Diagnostic, Diagnostics, Place, utf16};
use alir_core::ir::{Layers, Limits, Model, ValueId};
use bytecode::Header;
use decode::Era;
use json::Json;
use source::Source;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// File format that can be read. gzip compression of any format is detected automatically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// ALIR JSON, versions 2 to 4, including `DAISModel` files.
    Alir,
    /// DAIS JSON without a header, with the opcodes from before version 2, including the stages of a pipeline.
    Dais,
    /// Byte code with the opcodes of version 2.
    Dais2,
    /// 32-bit words after a header of six words: DAIS 0 and 1, byte code of ALIR 2.
    Words,
    /// 32-bit words after a header of three words: DAIS before version 0.
    Words3,
    /// [`Format::Words`] or [`Format::Words3`], recognised by the length of the file.
    AnyWords,
    /// Byte code of ALIR 3 and 4.
    Bytecode,
}

/// Format that a model can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// ALIR JSON, version 2.
    Alir2,
    /// ALIR JSON, version 3.
    Alir3,
    /// ALIR JSON, version 4.
    Alir4,
    /// Byte code of ALIR 2, in 32-bit words.
    Bytecode2,
    /// Byte code of ALIR 4.
    Bytecode4,
    /// DAIS binary, version 1, in 32-bit words.
    Dais1,
}

impl Target {
    /// Returns `true` if the format is JSON, which has intervals, latencies and costs.
    fn is_json(self) -> bool {
        matches!(self, Target::Alir2 | Target::Alir3 | Target::Alir4)
    }

    /// Returns `true` if the format is byte code, which has types but no intervals, latencies and costs.
    pub fn is_byte_code(self) -> bool {
        matches!(self, Target::Bytecode2 | Target::Bytecode4 | Target::Dais1)
    }

    /// Returns `true` if the format has sums of more than two terms.
    fn has_sums(self) -> bool {
        !matches!(self, Target::Alir2 | Target::Bytecode2 | Target::Dais1)
    }

    /// Returns `true` if a quantise operation of the format may shift.
    fn has_relative_shift(self) -> bool {
        self.has_sums() && self != Target::Alir3
    }
}

/// A model that a format can represent, ready to be written. The file reads back as an equivalent program with the same
/// ports: equal if the format has every operation, otherwise rewritten to bit-exact operations of the format. Byte code
/// keeps types, but no intervals, latencies and costs.
#[derive(Clone, Debug)]
pub struct Prepared<'m> {
    model: Cow<'m, Model>,
    /// Value of the written program for each value of the model; `None` if the indices are equal.
    places: Option<Vec<ValueId>>,
    target: Target,
}

/// Prepares a model for writing.
///
/// # Errors
/// Operations that the format cannot express (`E1101` to `E1105`); each diagnostic names the operation.
pub fn prepare(model: &Model, target: Target) -> Result<Prepared<'_>, Diagnostics> {
    let (model, places) = rewrite::rewrite(model, target)?;
    let problems = match target {
        Target::Alir2 | Target::Alir3 | Target::Alir4 => alir::unrepresentable(&model),
        Target::Bytecode2 | Target::Dais1 => bytecode::unrepresentable_words(&model),
        Target::Bytecode4 => bytecode::unrepresentable_bytes(&model),
    };
    if problems.is_empty() { Ok(Prepared { model, places, target }) } else { Err(Diagnostics(problems)) }
}

impl Prepared<'_> {
    /// Writes the model without compression.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.target {
            Target::Alir2 | Target::Alir3 | Target::Alir4 => alir::write(&self.model, self.target, out),
            Target::Bytecode2 | Target::Dais1 => bytecode::write_words(&self.model, self.target, out),
            Target::Bytecode4 => bytecode::write_bytes(&self.model, out),
        }
    }
    /// Returns the program that is written, after rewriting.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the operation of the written program that computes the value of an operation of the model.
    pub fn place_of(&self, value: ValueId) -> ValueId {
        self.places.as_ref().map_or(value, |places| places[value.index()])
    }

    /// Writes the model, compressed by gzip. The bytes depend only on the model.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn write_gzip(&self, out: &mut dyn Write) -> io::Result<()> {
        gzip(out, |encoder| self.write(encoder))
    }
}

/// Compresses the output of `write` by gzip, without name and time in the header.
///
/// # Errors
/// Errors of `out` and `write`.
pub fn gzip(out: &mut dyn Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
    write(&mut encoder)?;
    encoder.finish()?;
    Ok(())
}

/// Writes the contents for a file of this name: compressed by gzip if the name ends in `.gz`.
///
/// # Errors
/// Errors of `out` and `write`.
pub fn write_named(
    path: &Path,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz")) {
        true => gzip(out, write),
        false => write(out),
    }
}

/// Reads a model, plain or gzip, in the given format or in the format that its content shows. Also returns notes about
/// unusual properties of the file.
///
/// # Errors
/// Every problem of the file.
pub fn read(reader: impl Read, limits: &Limits, format: Option<Format>) -> Result<(Model, Diagnostics), Diagnostics> {
    recognise(reader, limits, format).map(|read| (read.model, read.notes))
}

/// A model file that was read.
pub struct Recognised {
    /// The program.
    pub model: Model,
    /// Notes about unusual properties of the file.
    pub notes: Diagnostics,
    /// Name of the format for messages: `ALIR JSON, version 4, gzip`.
    pub form: String,
    /// Stages of a pipeline; empty for other files.
    pub layers: Layers,
}

/// Like [`read`], with the format and the stages of the file.
///
/// # Errors
/// As [`read`].
pub fn recognise(reader: impl Read, limits: &Limits, format: Option<Format>) -> Result<Recognised, Diagnostics> {
    let (mut form, mut layers) = (String::new(), Layers::default());
    let mut is_gzip = false;
    let (model, notes) = read_into(reader, limits, format, (&mut form, &mut is_gzip, &mut layers))?;
    if is_gzip {
        form.push_str(", gzip");
    }
    Ok(Recognised { model, notes, form, layers })
}

fn read_into(
    reader: impl Read,
    limits: &Limits,
    format: Option<Format>,
    (form, is_gzip, layers): (&mut String, &mut bool, &mut Layers),
) -> Result<(Model, Diagnostics), Diagnostics> {
    let fatal = |stop: Box<Diagnostic>| Diagnostics::from(*stop);
    let mut source = Source::new(reader, limits.max_bytes).map_err(fatal)?;
    *is_gzip = source.is_gzip();
    let is_stated = format.is_some();
    let format = match format {
        Some(format) => Some(format),
        None => detect(source.peek(8).map_err(fatal)?),
    };
    let binary = |source: &mut Source<_>| source.read_to_end().map_err(fatal);
    let frame = match format {
        Some(Format::Words) => return bytecode::read_words(&binary(&mut source)?, limits, Some(Header::Six), form),
        Some(Format::Words3) => return bytecode::read_words(&binary(&mut source)?, limits, Some(Header::Three), form),
        Some(Format::AnyWords) => return bytecode::read_words(&binary(&mut source)?, limits, None, form),
        Some(Format::Bytecode) => return bytecode::read_bytes(&binary(&mut source)?, limits, form),
        Some(Format::Alir) => Some(Frame::Object),
        Some(Format::Dais) => Some(Frame::Bare(Era::Old)),
        Some(Format::Dais2) => Some(Frame::Bare(Era::Two)),
        None => None,
    };
    let json = Json::new(source).map_err(fatal)?;
    let other = match (frame, json.ahead().first()) {
        (Some(Frame::Bare(_)), Some(b'{')) => {
            Some("DAIS without a header is an array, this file is an object with one")
        }
        (Some(Frame::Object), Some(b'[')) => {
            Some("a file with a header is an object, this one is an array, as old DAIS is")
        }
        _ => None,
    };
    if let Some(message) = other {
        let problem = Diagnostic::error("E0120", Place::Whole, message);
        return Err(problem.with_help("leave out --format to detect the format").into());
    }
    // The first bracket may follow white space.
    let frame = frame.or_else(|| match json.ahead().first() {
        Some(b'{') => Some(Frame::Object),
        Some(b'[') => Some(Frame::Bare(Era::Old)),
        _ => None,
    });
    match frame {
        Some(frame) => {
            let (model, mut notes) = alir::read(json, limits, frame, form, layers)?;
            // The note applies only to a file that states no version.
            if is_stated {
                notes.0.retain(|note| note.code != "N0103");
            }
            Ok((model, notes))
        }
        None => Err(unknown(json.ahead()).into()),
    }
}

/// Returns all bytes of a file, decompressed, and `true` if the file was compressed.
///
/// # Errors
/// Errors of the reader and of gzip, and the error that the file has more than `max_bytes`.
pub fn read_bytes(reader: impl Read, max_bytes: u64) -> Result<(Vec<u8>, bool), Diagnostics> {
    let fatal = |stop: Box<Diagnostic>| Diagnostics::from(*stop);
    let mut source = Source::new(reader, max_bytes).map_err(fatal)?;
    let is_gzip = source.is_gzip();
    Ok((source.read_to_end().map_err(fatal)?, is_gzip))
}

/// Like [`read`] for a path, where `-` is standard input.
///
/// # Errors
/// Every problem of the file; `E0001` if it cannot be opened.
pub fn read_path(path: &Path, limits: &Limits, format: Option<Format>) -> Result<(Model, Diagnostics), Diagnostics> {
    if path.as_os_str() == "-" {
        return read(std::io::stdin().lock(), limits, format);
    }
    read(open(path)?, limits, format)
}

/// Returns the checksum of a model file for the interface file: `crc32:` and the CRC-32 in eight hexadecimal digits.
pub fn checksum(bytes: &[u8]) -> String {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    format!("crc32:{:08x}", crc.sum())
}

/// Returns the checksum of a model file for the header comment of RTL: SHA-256 in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Opens a model file.
///
/// # Errors
/// `E0001` if it cannot be opened, or is a folder.
pub fn open(path: &Path) -> Result<File, Diagnostics> {
    let failed = |message: String, help: &str| {
        Diagnostics::from(Diagnostic::error("E0001", Place::Whole, message).in_file(path).with_help(help))
    };
    let help = "give the path of a model file, or - for stdin";
    let file = File::open(path).map_err(|e| failed(format!("cannot open: {e}"), help))?;
    if file.metadata().is_ok_and(|meta| meta.is_dir()) {
        return Err(failed("this is a folder, not a model file".into(), "give the path of a model file in it"));
    }
    Ok(file)
}

/// Returns the format that the first decompressed bytes show; eight bytes are enough. Returns `None` for JSON after
/// white space or a byte order mark.
pub fn detect(bytes: &[u8]) -> Option<Format> {
    match bytes {
        // The JSON parser reports UTF-16.
        _ if utf16(bytes).is_some() => None,
        _ if bytes.starts_with(bytecode::MAGIC) => Some(Format::Bytecode),
        [0x1f, 0x8b, ..] => None,
        _ if framework_file(bytes).is_some() => None,
        // Text never has a NUL byte among the first four bytes; a 32-bit number below 2^24 always has one.
        [a, b, c, d, ..] if [a, b, c, d].contains(&&0) => Some(Format::AnyWords),
        [b'{', ..] => Some(Format::Alir),
        [b'[', ..] => Some(Format::Dais),
        _ => None,
    }
}

/// Returns the hardware description language that the beginning of a file shows; `None` for other files.
fn shows_hdl(bytes: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 12)]);
    let code = |line: &&str| !line.is_empty() && !line.starts_with("//") && !line.starts_with("--");
    let first = text.trim_start_matches('\u{feff}').lines().map(str::trim).find(code)?;
    let word = first.split(|c: char| !(c.is_ascii_alphanumeric() || "_`".contains(c))).next()?.to_ascii_lowercase();
    match word.as_str() {
        "module" | "`timescale" | "`default_nettype" | "`include" | "`define" => Some("Verilog"),
        "library" | "entity" | "package" | "architecture" => Some("VHDL"),
        _ => None,
    }
}

/// Returns `true` if the first bytes of a file show a model of any format rather than a hardware language.
pub fn shows_model(head: &[u8]) -> bool {
    let head = unpacked(head);
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).trim_ascii_start();
    let known = matches!(detect(text), Some(format) if format != Format::AnyWords);
    known || is_machine(&head) || head.starts_with(b"\x93NUMPY")
}

/// Detects a file of a machine-learning framework. Returns its kind and how to convert it to a model; `None` for other
/// files.
fn framework_file(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    const KERAS: &str = "train it with HGQ2 quantisers and save alkaid's trace: alkaid.trace.FixedVariableArrayInput, \
                         trace_model, comb_trace, then CombLogic.save; or hls4ml's backend Alir2hdl (docs/hls4ml.md)";
    const TORCH: &str =
        "export it with Brevitas: brevitas.export.export_qonnx(net, args, \"net.onnx\"), and give that file";
    const TFLITE: &str = "convert it to QONNX, with quantisers for all types, and give that file";
    match bytes {
        [b'P', b'K', 3, 4, rest @ ..] => {
            // The name of the first member follows its fixed header of 30 bytes.
            let length = usize::from(*rest.get(22)?) + 256 * usize::from(*rest.get(23)?);
            let name = rest.get(26..)?;
            let name = std::str::from_utf8(&name[..length.min(name.len())]).ok()?;
            match name {
                "metadata.json" | "config.json" | "model.weights.h5" => Some(("a Keras model (.keras)", KERAS)),
                _ if name.ends_with("/data.pkl") || name.ends_with("/byteorder") => Some(("a PyTorch file", TORCH)),
                _ => None,
            }
        }
        [0x89, b'H', b'D', b'F', b'\r', b'\n', 0x1a, b'\n', ..] => Some(("an HDF5 file, as Keras writes", KERAS)),
        [_, _, _, _, b'T', b'F', b'L', b'3', ..] => Some(("a TensorFlow Lite model", TFLITE)),
        [0x80, 2..=5, ..] => Some(("a Python pickle, as PyTorch writes", TORCH)),
        _ => None,
    }
}

/// Returns the error for a file that is not a model, with the detected kind of the file and the supported formats.
fn unknown(bytes: &[u8]) -> Diagnostic {
    if let Some((kind, help)) = framework_file(bytes) {
        let message = format!("not a model file: it looks like {kind}");
        return Diagnostic::error("E0115", Place::Whole, message).with_help(help);
    }
    if let Some(language) = shows_hdl(bytes) {
        return Diagnostic::error("E0115", Place::Whole, format!("not a model file: it looks like {language}"))
            .with_help("the model comes first; `alir2hdl prove MODEL FILE` compares a model with Verilog or VHDL");
    }
    // Only as many bytes as were examined in any case, however the data arrives.
    let shown = &bytes[..bytes.len().min(8)];
    let what = match bytes {
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => "it looks like a NumPy array".to_owned(),
        [b'P', b'K', 3, 4, ..] => "it looks like a zip archive (npz)".to_owned(),
        [b'P', b'K', 5, 6, ..] => "it looks like an empty zip archive (npz)".to_owned(),
        [0x1f, 0x8b, ..] => "it looks like a gzip file inside a gzip file".to_owned(),
        _ if shown.iter().all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace()) => {
            format!("it starts with \"{}\"", shown.escape_ascii())
        }
        _ => {
            let hex: Vec<String> = shown.iter().map(|b| format!("{b:02x}")).collect();
            format!("it starts with the bytes {}", hex.join(" "))
        }
    };
    Diagnostic::error("E0115", Place::Whole, format!("not a model file: {what}")).with_help(
        "a model file is what alkaid's or da4ml's save() writes, byte code, a network, or an integer kernel, \
             whose text starts with `llvlir 0`; plain or gzip",
    )
}
