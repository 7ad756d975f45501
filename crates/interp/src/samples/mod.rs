//! Samples in files: parsers of npy, npz and CSV, writers of npy and CSV, block by block.
//!
//! A [`Reader`] returns blocks of rows, so that memory does not grow with the number of samples, and does not trust
//! headers. A [`Writer`] creates a file that is complete or does not appear. [`Port`] converts the numbers: real
//! numbers to raw values (*codes*) by floor and wrap, codes to real numbers by rounding to nearest even, both exactly.
//! With codes on both sides the numbers are the integers on the module's ports.

pub mod array;
mod convert;
mod csv;
mod npy;
mod npz;
mod number;
mod wraps;

pub use convert::{Port, input_ports, output_ports};
pub use npy::half;
pub use npz::write as write_npz;
pub use number::Number;

use alir_core::diag::{Diagnostic, Diagnostics, Place, counted};
use alir_core::files::{self, Streamed};
use alir_core::num::Kif;
use csv::{CsvError, CsvReader};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use wraps::WrapCount;

/// Rows of numbers, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// float64 numbers, or integers that float64 represents exactly.
    Reals(Vec<f64>),
    /// Integers of up to 64 bits.
    Integers(Vec<i64>),
    /// Integers, at least one of which exceeds 64 bits.
    Wide(Vec<BigInt>),
    /// Numbers, some of which are not float64.
    Numbers(Vec<Number>),
}

impl Default for Values {
    fn default() -> Self {
        Values::Reals(Vec::new())
    }
}

impl Values {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        match self {
            Values::Reals(v) => v.len(),
            Values::Integers(v) => v.len(),
            Values::Wide(v) => v.len(),
            Values::Numbers(v) => v.len(),
        }
    }

    /// Appends a number to real numbers. At the first number that is not float64, all numbers become exact numbers.
    fn push_number(&mut self, number: Number) {
        match (self, number) {
            (Values::Reals(v), Number::Float(x)) => v.push(x),
            (Values::Numbers(v), number) => v.push(number),
            (this, number) => {
                let mut all: Vec<Number> = (0..this.len()).map(|at| this.number(at)).collect();
                all.push(number);
                *this = Values::Numbers(all);
            }
        }
    }

    /// Returns the exact number at an index.
    pub fn number(&self, index: usize) -> Number {
        match self {
            Values::Reals(v) => Number::Float(v[index]),
            Values::Integers(v) => BigInt::from(v[index]).into(),
            Values::Wide(v) => v[index].clone().into(),
            Values::Numbers(v) => v[index].clone(),
        }
    }

    /// Returns `true` if there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an empty vector of real numbers; reuses the memory of this one if possible.
    fn take_reals(&mut self) -> Vec<f64> {
        let Values::Reals(v) = self else { return Vec::new() };
        v.clear();
        std::mem::take(v)
    }

    /// Returns an empty vector of integers; reuses the memory of this one if possible.
    fn take_integers(&mut self) -> Vec<i64> {
        let Values::Integers(v) = self else { return Vec::new() };
        v.clear();
        std::mem::take(v)
    }

    /// Appends an integer. At the first integer that exceeds 64 bits, all integers become wide integers.
    fn push(&mut self, value: BigInt) {
        match self {
            Values::Integers(v) => match value.to_i64() {
                Some(small) => v.push(small),
                None => {
                    let mut wide: Vec<BigInt> = v.iter().map(|&x| BigInt::from(x)).collect();
                    wide.push(value);
                    *self = Values::Wide(wide);
                }
            },
            Values::Wide(v) => v.push(value),
            Values::Reals(_) | Values::Numbers(_) => unreachable!("integers are not appended to reals"),
        }
    }

    /// Returns the raw integer value (code) of number `index` on an input port; with `codes`, the number is the code.
    ///
    /// # Errors
    /// If the number has no code.
    pub fn code(&self, index: usize, port: Port, codes: bool) -> Result<BigInt, String> {
        let integer = match self {
            Values::Reals(v) => {
                let x = v[index];
                if !codes {
                    return port.code_of_real(x).ok_or_else(|| format!("{x} has no code"));
                }
                // Floats are valid codes if they are integers.
                let whole = x.is_finite() && x.fract() == 0.0;
                let unit = Port { kif: Kif { signed: true, int: 1100, frac: 0 }, frac: 0 };
                unit.code_of_real(x).filter(|_| whole).ok_or_else(|| format!("{x} is not an integer code"))?
            }
            Values::Integers(v) => BigInt::from(v[index]),
            Values::Wide(v) => v[index].clone(),
            Values::Numbers(v) if !codes => {
                return v[index].code(port).ok_or_else(|| format!("{} has no code", v[index]));
            }
            Values::Numbers(v) => {
                v[index].to_integer().ok_or_else(|| format!("{} is not an integer code", v[index]))?
            }
        };
        if !codes {
            return Ok(port.code_of_integer(&integer));
        }
        if port.kif.holds(&integer) {
            return Ok(integer);
        }
        let (min, max) = (port.kif.min_code(), port.kif.max_code());
        Err(format!("code {integer} is not of the port's type {}, which has {min} to {max}", port.kif))
    }
}

/// Reads samples from a file or a pipe.
pub struct Reader {
    name: String,
    columns: usize,
    body: Body,
    encoder: Option<RealEncoder>,
    wraps: Option<WrapCount>,
    /// Number of samples that [`Reader::read`] has returned, for messages.
    given: u64,
}

/// Conversion of a real number before it is quantised by floor and wrap.
pub type RealEncoder = Box<dyn Fn(&Number) -> Number + Send>;

enum Body {
    Npy(NpyBody),
    Csv(CsvReader<Box<dyn io::BufRead + Send>>),
}

struct NpyBody {
    header: npy::Header,
    rows: u64,
    done: u64,
    source: NpySource,
    /// Buffer for the bytes of the current block.
    bytes: Vec<u8>,
}

enum NpySource {
    /// C order, one sample after the other.
    Stream(Box<dyn Read + Send>),
    /// Fortran order: for each element, the values of all samples are consecutive. Fields: the file, the offset of the
    /// array, and the column-major position of each element of a sample.
    Columns(File, u64, Vec<u64>),
}

impl Reader {
    /// Opens the file `path`, or stdin for `-`. The magic bytes of npy or npz select these formats; all other files are
    /// CSV. `array` is the name of the array in an npz file; it is optional if the file has only one array.
    ///
    /// `columns` are the types of the input port, one for each number of a row; with `codes` the numbers are codes.
    ///
    /// # Errors
    /// If the file cannot be read, or its rows do not match.
    pub fn open(path: &Path, array: Option<&str>, columns: &[Kif], codes: bool) -> Result<Reader, Diagnostic> {
        let name = path.display().to_string();
        if path.as_os_str() == "-" {
            return Reader::from_stream(Box::new(io::stdin()), None, array, "stdin".into(), columns, codes);
        }
        let file = File::open(path).map_err(|e| cannot("read", &name, &e))?;
        let meta = file.metadata().map_err(|e| cannot("read", &name, &e))?;
        if meta.is_dir() {
            return Err(
                Diagnostic::error("E0701", Place::Whole, "this is a folder, not a file of samples").in_file(path)
            );
        }
        let again = file.try_clone().map_err(|e| cannot("read", &name, &e))?;
        let regular = meta.is_file().then_some((again, meta.len()));
        let wants_npy = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy"));
        let reader = Reader::from_stream(Box::new(file), regular, array, name, columns, codes)?;
        if wants_npy && matches!(reader.body, Body::Csv(_)) {
            let what = "this is not an npy file: it does not begin with \\x93NUMPY";
            return Err(Diagnostic::error("E0702", Place::Whole, what).in_file(path));
        }
        Ok(reader)
    }

    /// Reads from any stream, as [`Reader::open`] does; `name` is for messages.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn from_reader(
        stream: impl Read + Send + 'static,
        name: &str,
        columns: &[Kif],
        codes: bool,
    ) -> Result<Reader, Diagnostic> {
        Reader::from_stream(Box::new(stream), None, None, name.into(), columns, codes)
    }

    /// Returns a reader of one sample without numbers, for a program without inputs.
    ///
    /// # Errors
    /// None.
    pub fn one_empty_row() -> Result<Reader, Diagnostic> {
        Reader::from_reader(io::Cursor::new(npy::write_header("<f8", 1, 0)), "nothing", &[], false)
    }

    /// Opens a stream. `regular` is a second handle of the same file with its length, if the file is seekable.
    fn from_stream(
        mut stream: Box<dyn Read + Send>,
        regular: Option<(File, u64)>,
        array: Option<&str>,
        name: String,
        columns: &[Kif],
        codes: bool,
    ) -> Result<Reader, Diagnostic> {
        let mut prefix = Vec::new();
        let io = |e: io::Error| cannot("read", &name, &e);
        stream.by_ref().take(npy::MAGIC.len() as u64).read_to_end(&mut prefix).map_err(io)?;
        if prefix.starts_with(npz::MAGIC) || prefix.starts_with(npz::EMPTY) {
            let wrong = |what: String| Diagnostic::error("E0702", Place::Whole, what).in_file(name.as_ref());
            let (file, length) = regular.ok_or_else(|| wrong("an npz file cannot be read from a pipe".into()))?;
            let stream = npz::open(file, length, array).map_err(wrong)?;
            return Reader::from_stream(stream, None, None, name, columns, codes);
        }
        if array.is_some() {
            let what = "this is no npz file, so it has no arrays to choose from";
            return Err(Diagnostic::error("E0702", Place::Whole, what).in_file(name.as_ref()));
        }
        if prefix.starts_with(&[0x1f, 0x8b]) {
            let what = "this is a gzip file; samples are read unpacked";
            let wrong = Diagnostic::error("E0702", Place::Whole, what).in_file(name.as_ref());
            return Err(wrong.with_help("unpack it with gunzip, or save the array as npz"));
        }
        let body = if prefix == npy::MAGIC {
            stream.by_ref().take((npy::PREFIX - prefix.len()) as u64).read_to_end(&mut prefix).map_err(io)?;
            let body = NpyBody::open(prefix, stream, regular, columns.len());
            Body::Npy(body.map_err(|error| error.at(&name))?)
        } else {
            let whole = io::Cursor::new(prefix).chain(stream);
            Body::Csv(CsvReader::new(Box::new(BufReader::with_capacity(1 << 16, whole)), columns, codes))
        };
        Ok(Reader { name, columns: columns.len(), body, encoder: None, wraps: None, given: 0 })
    }

    /// Sets an encoder for all numbers that are read from now on.
    #[must_use]
    pub fn encoded(self, encoder: RealEncoder) -> Reader {
        Reader { encoder: Some(encoder), ..self }
    }

    /// Enables counting of real numbers outside the range of their input; [`Reader::take_notes`] reports the counts.
    #[must_use]
    pub fn counting_wraps(self, ports: &[Port]) -> Reader {
        Reader { wraps: Some(WrapCount::new(ports, None)), ..self }
    }

    /// Like [`Reader::counting_wraps`], for the elements of one port of a stateful design, which has one row per cycle.
    #[must_use]
    pub fn counting_wraps_of_port(self, name: &str, elements: &[Port]) -> Reader {
        Reader { wraps: Some(WrapCount::new(elements, Some(name))), ..self }
    }

    /// Returns the number of samples, or `None` if the number is unknown before the end of the file.
    pub fn rows(&self) -> Option<u64> {
        match &self.body {
            Body::Npy(npy) => Some(npy.rows),
            Body::Csv(_) => None,
        }
    }

    /// Removes and returns the notes about the file so far.
    pub fn take_notes(&mut self) -> Diagnostics {
        let heading = match &mut self.body {
            Body::Csv(csv) => csv.take_heading(),
            Body::Npy(_) => None,
        };
        let note = heading.map(|(line, text)| {
            let message = format!("line {line} is taken for a heading: {text}");
            Diagnostic::note("N0703", Place::Line { line, column: 1 }, message).in_file(self.name.as_ref())
        });
        let wraps = self.wraps.as_mut().and_then(WrapCount::take_note);
        let wraps = wraps.map(|note| note.in_file(self.name.as_ref()));
        Diagnostics(note.into_iter().chain(wraps).collect())
    }

    /// Returns the name of the file for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Replaces `block` by the next samples, at most `max_rows`; returns the number of samples, 0 at the end of the
    /// file.
    ///
    /// # Errors
    /// If the file cannot be read, is too short or too long, or contains other data than numbers.
    pub fn read(&mut self, max_rows: usize, block: &mut Values) -> Result<usize, Diagnostic> {
        let rows = self.read_body(max_rows, block)?;
        if let Some(encoder) = &self.encoder {
            let mut encoded = Values::Reals(Vec::with_capacity(block.len()));
            for index in 0..block.len() {
                encoded.push_number(encoder(&block.number(index)));
            }
            *block = encoded;
        }
        if let Some(wraps) = &mut self.wraps {
            wraps.count(block, self.given);
        }
        self.given += rows as u64;
        Ok(rows)
    }

    fn read_body(&mut self, max_rows: usize, block: &mut Values) -> Result<usize, Diagnostic> {
        match &mut self.body {
            Body::Npy(npy) => npy.read(max_rows, self.columns, block).map_err(|error| error.at(&self.name)),
            Body::Csv(csv) => csv.read(max_rows, block).map_err(|error| match error {
                CsvError::Io(e) => cannot("read", &self.name, &e),
                CsvError::Line(line, what) => Diagnostic::error("E0703", Place::Line { line, column: 1 }, what)
                    .in_file(self.name.as_ref())
                    .with_help("one line a sample, one number an input, separated by commas"),
            }),
        }
    }
}

/// Error in an npy file.
enum NpyError {
    Io(io::Error),
    Content(String, Cow<'static, str>),
}

impl NpyError {
    fn at(self, name: &str) -> Diagnostic {
        match self {
            NpyError::Io(e) => cannot("read", name, &e),
            NpyError::Content(what, help) => {
                let diagnostic = Diagnostic::error("E0702", Place::Whole, what).in_file(name.as_ref());
                if help.is_empty() { diagnostic } else { diagnostic.with_help(help) }
            }
        }
    }
}

impl From<io::Error> for NpyError {
    fn from(e: io::Error) -> Self {
        NpyError::Io(e)
    }
}

impl From<String> for NpyError {
    fn from(what: String) -> Self {
        NpyError::Content(what, "".into())
    }
}

impl NpyBody {
    fn open(
        mut start: Vec<u8>,
        mut stream: Box<dyn Read + Send>,
        regular: Option<(File, u64)>,
        columns: usize,
    ) -> Result<NpyBody, NpyError> {
        let prefix = start.first_chunk().ok_or("the file ends inside its header".to_string())?;
        let length = npy::header_length(prefix)?;
        stream.by_ref().take((length - start.len()) as u64).read_to_end(&mut start)?;
        if start.len() < length {
            return Err("the file ends inside its header".to_string().into());
        }
        let header = npy::parse(&start)?;
        let rows = rows_of_shape(&header, columns)?;
        let row_bytes = (columns * header.scalar.size()) as u64;
        // Limits the number of samples that a hostile header can claim; without columns no other limit exists.
        let limit = if columns == 0 { 1 << 32 } else { (1 << 62) / row_bytes };
        if rows > limit {
            return Err(format!("the header claims {}", counted(rows, "sample")).into());
        }
        if let Some((_, size)) = regular {
            let (held, need) = (size.saturating_sub(length as u64), rows * row_bytes);
            if held < need {
                let whole = held / row_bytes;
                return Err(
                    format!("the file is cut short: it claims {} and holds {whole}", counted(rows, "sample")).into()
                );
            }
            if held > need {
                return Err(format!("the file is too long: {} after the array", counted(held - need, "byte")).into());
            }
        }
        let one_dimension = columns <= 1 || rows <= 1;
        let source = match regular {
            _ if !header.fortran || one_dimension => NpySource::Stream(stream),
            Some((file, _)) => NpySource::Columns(file, length as u64, fortran_positions(&header.shape[1..])),
            // In Fortran order, the elements of a sample are far apart, so a pipe or an archive is unpacked into a
            // temporary file.
            None => {
                let need = rows * row_bytes;
                let mut array = stream.take(need + 1);
                let file = files::spooled(&mut array)?;
                match need + 1 - array.limit() {
                    held if held < need => {
                        let what = format!("the file is cut short: it holds {held} of the {need} bytes of its array");
                        return Err(what.into());
                    }
                    held if held > need => return Err("something follows the array".to_string().into()),
                    _ => NpySource::Columns(file, 0, fortran_positions(&header.shape[1..])),
                }
            }
        };
        Ok(NpyBody { header, rows, done: 0, source, bytes: Vec::new() })
    }

    fn read(&mut self, max_rows: usize, columns: usize, block: &mut Values) -> Result<usize, NpyError> {
        let rows = (self.rows - self.done).min(max_rows as u64) as usize;
        let (size, total) = (self.header.scalar.size(), self.rows);
        if let (NpySource::Stream(stream), npy::Scalar::Float(8), false, true) =
            (&mut self.source, self.header.scalar, self.header.big_endian, rows > 0)
        {
            // Numbers in the byte order of this computer are read directly into the result.
            let mut reals = if let Values::Reals(v) = block { std::mem::take(v) } else { Vec::new() };
            reals.resize(rows * columns, 0.0);
            let filled = npy::with_bytes(&mut reals, |bytes| fill(stream, bytes))?;
            *block = Values::Reals(reals);
            if filled < rows * columns * size {
                let whole = self.done + (filled / (columns * size)) as u64;
                return Err(
                    format!("the file is cut short: it claims {} and holds {whole}", counted(total, "sample")).into()
                );
            }
            self.done += rows as u64;
            return Ok(rows);
        }
        self.bytes.resize(rows * columns * size, 0);
        match &mut self.source {
            NpySource::Stream(stream) => {
                let filled = fill(stream, &mut self.bytes)?;
                if filled < self.bytes.len() {
                    let whole = self.done + (filled / (columns * size)) as u64;
                    return Err(format!(
                        "the file is cut short: it claims {} and holds {whole}",
                        counted(total, "sample")
                    )
                    .into());
                }
                if rows == 0 && fill(stream, &mut [0])? > 0 {
                    return Err("something follows the array".to_string().into());
                }
                decode(&self.bytes, &self.header, block);
            }
            NpySource::Columns(file, offset, positions) => {
                for (position, part) in positions.iter().zip(self.bytes.chunks_exact_mut((rows * size).max(1))) {
                    let element = position * total + self.done;
                    file.seek(SeekFrom::Start(*offset + element * size as u64))?;
                    file.read_exact(part)?;
                }
                decode(&self.bytes, &self.header, block);
                *block = match std::mem::take(block) {
                    Values::Reals(v) => Values::Reals(transposed(&v, rows)),
                    Values::Integers(v) => Values::Integers(transposed(&v, rows)),
                    Values::Wide(v) => Values::Wide(transposed(&v, rows)),
                    Values::Numbers(v) => Values::Numbers(transposed(&v, rows)),
                };
            }
        }
        self.done += rows as u64;
        Ok(rows)
    }
}

/// Returns the column-major position of each element of a sample in row-major order.
fn fortran_positions(shape: &[u64]) -> Vec<u64> {
    let mut positions = vec![0];
    let mut stride = 1;
    for &size in shape {
        positions = positions.iter().flat_map(|at| (0..size).map(move |k| at + k * stride)).collect();
        stride *= size;
    }
    positions
}

/// Returns the number of samples of an array shape. Valid shapes are [samples, inputs], [samples] for one input, and
/// shapes of more dimensions if the product of all but the first dimension is the number of inputs.
fn rows_of_shape(header: &npy::Header, columns: usize) -> Result<u64, NpyError> {
    let product = |dims: &[u64]| dims.iter().try_fold(1u64, |p, &d| p.checked_mul(d));
    match header.shape.split_first() {
        Some((&rows, rest)) if product(rest) == Some(columns as u64) => Ok(rows),
        first => {
            let is_sample = first.is_some_and(|(&size, rest)| rest.is_empty() && size == columns as u64);
            let help = match is_sample {
                true => format!("one sample has the shape [1, {columns}]: reshape the array to it").into(),
                false => "the shape is [samples, inputs]".into(),
            };
            let what = format!("an array of shape {:?}, the model has {}", header.shape, counted(columns, "input"));
            Err(NpyError::Content(what, help))
        }
    }
}

/// Reads until `bytes` is full or the stream ends; returns the number of bytes read.
fn fill(stream: &mut dyn Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match stream.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

fn decode(bytes: &[u8], header: &npy::Header, block: &mut Values) {
    if let npy::Scalar::Float(size) = header.scalar {
        let mut reals = block.take_reals();
        npy::decode_floats(bytes, size, header.big_endian, &mut reals);
        *block = Values::Reals(reals);
        return;
    }
    let mut integers = block.take_integers();
    *block = match npy::decode_integers(bytes, header.scalar, header.big_endian, &mut integers) {
        Some(()) => Values::Integers(integers),
        None => Values::Wide(npy::decode_words(bytes, header.big_endian).map(BigInt::from).collect()),
    };
}

/// Transposes consecutive columns of `rows` numbers each into consecutive rows.
fn transposed<T: Clone>(columns: &[T], rows: usize) -> Vec<T> {
    (0..rows).flat_map(|row| columns.iter().skip(row).step_by(rows).cloned()).collect()
}

/// Writes numbers of eight bytes in chunks of 8 KiB, to limit the number of write calls.
fn write_words<T: Copy>(out: &mut impl Write, numbers: &[T], bytes: impl Fn(T) -> [u8; 8]) -> io::Result<()> {
    let mut piece = [0; 1 << 13];
    for part in numbers.chunks(piece.len() / 8) {
        let used = &mut piece[..part.len() * 8];
        for (to, &from) in used.as_chunks_mut().0.iter_mut().zip(part) {
            *to = bytes(from);
        }
        out.write_all(used)?;
    }
    Ok(())
}

/// Converts codes whose types fit int64.
fn narrow(codes: &[BigInt]) -> Vec<i64> {
    codes.iter().map(|code| code.to_i64().expect("a code of a type within int64")).collect()
}

fn cannot(doing: &str, name: &str, error: &io::Error) -> Diagnostic {
    Diagnostic::error("E0001", Place::Whole, format!("cannot {doing}: {error}")).in_file(name.as_ref())
}

/// Writer of rows of numbers; the output file appears at its path only when it is complete.
pub struct Writer {
    name: String,
    out: BufWriter<Out>,
    form: Form,
    columns: Vec<Kif>,
    /// Number of rows written, and number of rows in the header.
    rows: u64,
    announced: u64,
    text: String,
    /// `true` after a closed pipe on stdout (`| head`), which is not an error.
    closed: bool,
}

enum Out {
    Stdout(io::Stdout),
    File(Streamed),
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Out::Stdout(out) => out.write(bytes),
            Out::File(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Out::Stdout(out) => out.flush(),
            Out::File(out) => out.flush(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    NpyReals,
    NpyCodes,
    CsvReals,
    CsvCodes,
    /// CSV with codes beyond int64, as bit patterns in hexadecimal.
    CsvPatterns,
    /// CSV with codes beyond int64, as decimal integers.
    CsvIntegers,
}

impl Writer {
    /// Creates `path`: npy for that extension, CSV for `.csv` and `.txt`; `-` is CSV on stdout.
    ///
    /// `columns` are the types of the output port. With `codes`, raw integer values are written, otherwise real
    /// numbers. `rows` is the number of rows if it is known: npy on a pipe requires it, and for a file it reserves the
    /// disk space.
    ///
    /// # Errors
    /// If the file cannot be created, its extension is unknown, or npy cannot represent the codes.
    pub fn create(path: &Path, columns: &[Kif], codes: bool, rows: Option<u64>) -> Result<Writer, Diagnostic> {
        let fits = columns.iter().all(|kif| kif.width() <= 63 + u32::from(kif.signed));
        let stdout = path.as_os_str() == "-";
        let name = if stdout { "stdout".to_string() } else { path.display().to_string() };
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        let form = match (extension.as_deref(), codes) {
            (Some("npy"), false) => Form::NpyReals,
            (Some("npy"), true) if fits => Form::NpyCodes,
            (Some("npy"), true) => {
                let what = "some output codes are wider than int64, which is the widest that npy holds";
                let help = "write a .csv file: it has codes of any width";
                return Err(Diagnostic::error("E0704", Place::Whole, what).in_file(name.as_ref()).with_help(help));
            }
            (Some("csv" | "txt"), false) => Form::CsvReals,
            (Some("csv" | "txt"), true) if fits => Form::CsvCodes,
            (Some("csv" | "txt"), true) => Form::CsvPatterns,
            (_, false) if stdout => Form::CsvReals,
            (_, true) if stdout => {
                if fits {
                    Form::CsvCodes
                } else {
                    Form::CsvPatterns
                }
            }
            _ => {
                let what = "the extension does not say what to write";
                let help = "name a .npy or .csv file, or - for CSV on stdout";
                return Err(Diagnostic::error("E0705", Place::Whole, what).in_file(name.as_ref()).with_help(help));
            }
        };
        let out = if stdout {
            Out::Stdout(io::stdout())
        } else {
            let mut file = Streamed::create(path).map_err(|e| cannot("write", &name, &e))?;
            if matches!(form, Form::NpyReals | Form::NpyCodes)
                && let Some(rows) = rows
            {
                let bytes = rows.saturating_mul(8 * columns.len() as u64).saturating_add(npy::HEADER_SIZE as u64);
                file.reserve(bytes).map_err(|e| cannot("write", &name, &e))?;
            }
            Out::File(file)
        };
        let out = BufWriter::with_capacity(1 << 18, out);
        let announced = rows.unwrap_or(0);
        let mut writer = Writer {
            name,
            out,
            form,
            columns: columns.to_vec(),
            rows: 0,
            announced,
            text: String::new(),
            closed: false,
        };
        if let Some(header) = writer.header(announced) {
            writer.out.write_all(&header).map_err(|e| cannot("write", &writer.name, &e))?;
        }
        Ok(writer)
    }

    /// Like [`Writer::create`] for codes, but CSV has decimal integers for every width.
    ///
    /// # Errors
    /// As [`Writer::create`].
    pub fn create_integers(path: &Path, columns: &[Kif], rows: Option<u64>) -> Result<Writer, Diagnostic> {
        let mut writer = Writer::create(path, columns, true, rows)?;
        if writer.form == Form::CsvPatterns {
            writer.form = Form::CsvIntegers;
        }
        Ok(writer)
    }

    fn header(&self, rows: u64) -> Option<Vec<u8>> {
        let descr = match self.form {
            Form::NpyReals => "<f8",
            Form::NpyCodes => "<i8",
            Form::CsvReals | Form::CsvCodes | Form::CsvPatterns | Form::CsvIntegers => return None,
        };
        Some(npy::write_header(descr, rows, self.columns.len()))
    }

    /// Appends the rows of a block except the rows whose indices are in the sorted list `left_out`. The block must
    /// contain reals for a file of reals, and integers or wide integers for a file of codes.
    ///
    /// # Errors
    /// If the file cannot be written.
    ///
    /// # Panics
    /// If the kind of the block does not match the file, or a code is outside its type.
    pub fn write(&mut self, block: &Values, left_out: &[usize]) -> Result<(), Diagnostic> {
        let columns = self.columns.len();
        let total = block.len().checked_div(columns).unwrap_or(0);
        let mut first = 0;
        // Consecutive rows between two skipped rows are written together.
        for &end in left_out.iter().chain([&total]) {
            self.write_rows(block, first * columns..end * columns)?;
            self.rows += (end - first) as u64;
            first = end + 1;
        }
        Ok(())
    }

    /// Appends `rows` rows for a program without outputs; such rows have no numbers.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_empty_rows(&mut self, rows: usize) -> Result<(), Diagnostic> {
        self.rows += rows as u64;
        let lines = if matches!(self.form, Form::NpyReals | Form::NpyCodes) { 0 } else { rows };
        (0..lines).try_for_each(|_| {
            let written = self.out.write_all(b"\n");
            self.check(written)
        })
    }

    fn write_rows(&mut self, block: &Values, range: Range<usize>) -> Result<(), Diagnostic> {
        let columns = self.columns.len().max(1);
        self.text.clear();
        let text = &mut self.text;
        let written = match (self.form, block) {
            (Form::NpyReals, Values::Reals(v)) => npy::write_reals(&mut self.out, &v[range]),
            (Form::NpyCodes, Values::Integers(v)) => write_words(&mut self.out, &v[range], |x| x.to_le_bytes()),
            (Form::NpyCodes, Values::Wide(v)) => write_words(&mut self.out, &narrow(&v[range]), |x| x.to_le_bytes()),
            (form, block) => {
                match (form, block) {
                    (Form::CsvReals, Values::Reals(v)) => {
                        v[range].chunks(columns).for_each(|row| csv::write_reals(row, text));
                    }
                    (Form::CsvCodes, Values::Integers(v)) => {
                        v[range].chunks(columns).for_each(|row| csv::write_integers(row, text));
                    }
                    (Form::CsvCodes, Values::Wide(v)) => {
                        v[range].chunks(columns).for_each(|row| csv::write_integers(&narrow(row), text));
                    }
                    (Form::CsvIntegers, Values::Wide(v)) => {
                        v[range].chunks(columns).for_each(|row| csv::write_integers(row, text));
                    }
                    (Form::CsvPatterns, Values::Wide(v)) => {
                        let kifs = || self.columns.iter().copied();
                        v[range].chunks(columns).for_each(|row| csv::write_patterns(row.iter().zip(kifs()), text));
                    }
                    _ => panic!("a block of another kind than the file"),
                }
                self.out.write_all(text.as_bytes())
            }
        };
        self.check(written)
    }

    fn check(&mut self, written: io::Result<()>) -> Result<(), Diagnostic> {
        match written {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe && matches!(self.out.get_ref(), Out::Stdout(_)) => {
                self.closed = true;
                Ok(())
            }
            other => other.map_err(|e| cannot("write", &self.name, &e)),
        }
    }

    /// Returns `true` if the process that reads stdout has closed the pipe, so that further output is useless.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Completes the file and renames it to its path. A writer that is dropped without this call deletes the file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self) -> Result<(), Diagnostic> {
        let flushed = self.out.flush();
        self.check(flushed)?;
        if self.closed {
            return Ok(());
        }
        let Writer { name, rows, announced, .. } = &self;
        let (name, rows, announced) = (name.clone(), *rows, *announced);
        let header = self.header(rows).filter(|_| rows != announced);
        // Releases disk space that was reserved but not written.
        let size = |rows: u64| npy::HEADER_SIZE as u64 + 8 * rows * self.columns.len() as u64;
        let shorter = (header.is_some() && rows < announced).then(|| size(rows));
        let finish = || -> io::Result<()> {
            let mut out = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
            out.flush()?;
            let Out::File(mut file) = out else { return Ok(()) };
            if let Some(header) = header {
                // The number of rows is known only at the end.
                file.file().seek(SeekFrom::Start(0))?;
                file.write_all(&header)?;
            }
            if let Some(length) = shorter {
                file.file().set_len(length)?;
            }
            file.finish()
        };
        finish().map_err(|e| cannot("write", &name, &e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    const S8: Kif = Kif { signed: true, int: 7, frac: 0 };

    fn npy_file(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
        let order = if fortran { "True" } else { "False" };
        let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut bytes = [npy::MAGIC, &[2, 0], &(text.len() as u32).to_le_bytes()].concat();
        bytes.extend(text.as_bytes());
        bytes.extend(data);
        bytes
    }

    /// Returns all blocks of a reader, of up to `max_rows` samples.
    fn read_all(mut reader: Reader, max_rows: usize) -> Result<Vec<Values>, String> {
        let mut blocks = Vec::new();
        loop {
            let mut block = Values::default();
            match reader.read(max_rows, &mut block).map_err(|e| e.to_string())? {
                0 => return Ok(blocks),
                rows => assert_eq!(rows * reader.columns, block.len()),
            }
            blocks.push(block);
        }
    }

    fn piped(bytes: &[u8], columns: usize, codes: bool) -> Result<Vec<Values>, String> {
        let stream = Cursor::new(bytes.to_vec());
        let reader = Reader::from_reader(stream, "x", &vec![S8; columns], codes).map_err(|e| e.to_string())?;
        read_all(reader, 2)
    }

    fn from_file(name: &str, bytes: &[u8], columns: usize) -> Result<Vec<Values>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let reader = Reader::open(&path, None, &vec![S8; columns], false).map_err(|e| e.to_string())?;
        read_all(reader, 2).map_err(|e| e.replace(&dir.path().display().to_string(), "DIR"))
    }

    fn little(numbers: &[f64]) -> Vec<u8> {
        numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    #[test]
    fn npy_comes_in_blocks_of_rows() {
        let file = npy_file("<f8", false, "(3, 2)", &little(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        let blocks = [Values::Reals(vec![1.0, 2.0, 3.0, 4.0]), Values::Reals(vec![5.0, 6.0])];
        assert_eq!(piped(&file, 2, false).unwrap(), blocks);
        assert_eq!(from_file("x.npy", &file, 2).unwrap(), blocks);
        let one = npy_file("<f8", false, "(3,)", &little(&[1.0, 2.0, 3.0]));
        assert_eq!(piped(&one, 1, false).unwrap(), [Values::Reals(vec![1.0, 2.0]), Values::Reals(vec![3.0])]);
        // Further dimensions are flattened: 3 x 1 x 2 equals 3 x 2.
        let cube = npy_file("<f8", false, "(3, 1, 2)", &little(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        assert_eq!(piped(&cube, 2, false).unwrap(), blocks);
    }

    #[test]
    fn fortran_order_is_turned() {
        let file = npy_file("<f8", true, "(3, 2)", &little(&[1.0, 3.0, 5.0, 2.0, 4.0, 6.0]));
        let blocks = [Values::Reals(vec![1.0, 2.0, 3.0, 4.0]), Values::Reals(vec![5.0, 6.0])];
        assert_eq!(from_file("x.npy", &file, 2).unwrap(), blocks);
        assert_eq!(piped(&file, 2, false).unwrap(), blocks);
        assert!(piped(&file[..file.len() - 1], 2, false).unwrap_err().contains("holds 47 of the 48 bytes"));
        assert!(piped(&[&file[..], b"x"].concat(), 2, false).unwrap_err().contains("something follows"));
        // Axes beyond the first are flattened row by row.
        let numbers: Vec<f64> = (0..12).map(f64::from).collect();
        let cube = |fortran, order: &[usize]| {
            let data: Vec<f64> = order.iter().map(|&at| numbers[at]).collect();
            npy_file("<f8", fortran, "(2, 2, 3)", &little(&data))
        };
        let turned = cube(true, &[0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11]);
        let plain = cube(false, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!(piped(&turned, 6, false).unwrap(), [Values::Reals(numbers.clone())]);
        assert_eq!(from_file("x.npy", &turned, 6).unwrap(), from_file("x.npy", &plain, 6).unwrap());
    }

    #[test]
    fn elements_of_every_kind_and_order() {
        let cases: [(&str, Vec<u8>, Values); 9] = [
            (">f8", [1.5f64.to_be_bytes(), (-2.0f64).to_be_bytes()].concat(), Values::Reals(vec![1.5, -2.0])),
            ("<f4", [0.1f32.to_le_bytes(), 2f32.to_le_bytes()].concat(), Values::Reals(vec![f64::from(0.1f32), 2.0])),
            (">f2", vec![0x3c, 0, 0xc0, 0], Values::Reals(vec![1.0, -2.0])),
            ("|i1", vec![0xff, 1], Values::Integers(vec![-1, 1])),
            (">i2", vec![0xff, 0xfe, 0, 7], Values::Integers(vec![-2, 7])),
            ("<u4", vec![0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0], Values::Integers(vec![0xffff_ffff, 1])),
            ("<i8", [i64::MIN.to_le_bytes(), 3i64.to_le_bytes()].concat(), Values::Integers(vec![i64::MIN, 3])),
            ("<u8", [7u64.to_le_bytes(), 3u64.to_le_bytes()].concat(), Values::Integers(vec![7, 3])),
            (
                "<u8",
                [u64::MAX.to_le_bytes(), 3u64.to_le_bytes()].concat(),
                Values::Wide(vec![u64::MAX.into(), 3.into()]),
            ),
        ];
        for (descr, data, expected) in cases {
            assert_eq!(piped(&npy_file(descr, false, "(1, 2)", &data), 2, false).unwrap(), [expected], "{descr}");
        }
    }

    #[test]
    fn files_that_lie_about_their_size_are_refused() {
        let short = npy_file("<f8", false, "(4, 2)", &little(&[1.0; 5]));
        let says = "the file is cut short: it claims 4 samples and holds 2";
        assert!(piped(&short, 2, false).unwrap_err().contains(says));
        assert!(from_file("x.npy", &short, 2).unwrap_err().contains(says));
        let long = npy_file("<f8", false, "(2, 2)", &little(&[1.0; 5]));
        assert!(piped(&long, 2, false).unwrap_err().contains("something follows the array"));
        assert!(from_file("x.npy", &long, 2).unwrap_err().contains("too long: 8 bytes after the array"));
        // Products beyond 64 bits, and samples without a byte.
        let huge = npy_file("<f8", false, "(18446744073709551615, 2)", &[]);
        assert!(piped(&huge, 2, false).unwrap_err().contains("claims 18446744073709551615 samples"));
        let wrapping = npy_file("<f8", false, "(1, 9223372036854775808, 4)", &[]);
        assert!(piped(&wrapping, 2, false).unwrap_err().contains("the model has 2 inputs"));
        let endless = npy_file("<f8", false, "(9999999999999, 0)", &[]);
        assert!(piped(&endless, 0, false).unwrap_err().contains("claims 9999999999999 samples"));
        assert!(piped(&short[..20], 2, false).unwrap_err().contains("inside its header"));
        assert!(piped(&short[..8], 2, false).unwrap_err().contains("inside its header"));
    }

    #[test]
    fn every_truncation_and_bit_flip_is_an_answer() {
        let file = npy_file("<f8", false, "(3, 2)", &little(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        for cut in 0..file.len() {
            assert!(from_file("x.npy", &file[..cut], 2).is_err(), "cut at {cut}");
        }
        for bit in 0..file.len() * 8 {
            let mut broken = file.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            // Some modified files are still valid; no modified file may cause a panic.
            let _ = piped(&broken, 2, false);
        }
    }

    #[test]
    fn csv_with_and_without_a_heading() {
        let expected = [Values::Reals(vec![1.0, -2.5, 3e-2, 4.0]), Values::Reals(vec![5.0, 6.0])];
        for text in [
            "1,-2.5\n3e-2,4\n5,6\n",
            "x0,x1\n1, -2.5\r\n\r\n0.03,4\n5,6",
            "# saved by numpy\n1;-2.5\n3e-2;4\n5;6\n",
            "\u{feff}a\tb\n1\t-2.5\n3e-2\t4\n# half way\n5\t6\n",
        ] {
            assert_eq!(piped(text.as_bytes(), 2, false).unwrap(), expected, "{text}");
        }
        for text in ["1 -2.5\n3e-2  4\n5 6\n", "1,-2.5 # the first\n3e-2,4\n5,6"] {
            assert_eq!(piped(text.as_bytes(), 2, false).unwrap(), expected, "{text}");
        }
        for (text, line) in [("x0,x1\n1,2\n", 1), ("# by hand\n\n\"a b\";c\n1;2\n", 3)] {
            let mut reader = Reader::from_reader(text.as_bytes(), "x", &[S8; 2], false).unwrap();
            reader.read(9, &mut Values::default()).unwrap();
            let notes = reader.take_notes();
            assert!(
                notes.to_string().starts_with(&format!("note[N0703] in x at line {line}, column 1: line")),
                "{notes}"
            );
            assert_eq!(reader.take_notes(), Diagnostics::default());
        }
        for nothing in ["", "# nothing\n", "a,b\n"] {
            assert!(piped(nothing.as_bytes(), 2, false).unwrap_err().contains("ends without a sample"));
        }
    }

    #[test]
    fn csv_errors_name_line_and_field() {
        let error = |text: &[u8]| piped(text, 2, false).unwrap_err();
        assert!(
            error(b"1,2\n3\n").starts_with("error[E0703] in x at line 2, column 1: 1 number, the model has 2 inputs")
        );
        assert!(
            error(b"1,2\n3,four\n")
                .starts_with("error[E0703] in x at line 2, column 1: field 2: \"four\" is not a number")
        );
        // A line is a heading only if none of its fields is a number.
        assert!(
            error(b"1,two\n").starts_with("error[E0703] in x at line 1, column 1: field 2: \"two\" is not a number")
        );
        assert!(error(b"1,2\n\xff\xfe\n").contains("line 2, column 1: this is not text"));
        assert!(error(&[b'1'; 100_000]).contains("longer than"));
    }

    #[test]
    fn a_first_line_that_cannot_be_a_heading_is_refused() {
        for (line, why) in [
            ("\"1.5\",\"2\"", "field 1: \"\\\"1.5\\\"\" is neither a number nor a title"),
            ("x,'-2'", "field 2"),
            (",", "field 1: \"\" is neither"),
            ("a,", "field 2"),
            ("1.5D0,2D0", "field 1: \"1.5D0\" is neither"),
            ("a,.5x", "field 2"),
            ("\u{2212}1,\u{2212}2", "field 1"),
            ("+1x,b", "field 1"),
            ("\u{0661},b", "field 1"),
            ("NA,NA", "field 1: \"NA\" is neither"),
            ("null,b", "field 1"),
            ("x0,x1,x2", "3 numbers, the model has 2 inputs"),
            ("x0", "1 number, the model has 2 inputs"),
            ("1e20001,b", "field 1: \"1e20001\" has an exponent beyond 20,000"),
        ] {
            let error = piped(format!("{line}\n1,2\n").as_bytes(), 2, false).unwrap_err();
            assert!(error.starts_with("error[E0703] in x at line 1, column 1: "), "{line}: {error}");
            assert!(error.contains(why), "{line}: {error}");
        }
    }

    #[test]
    fn csv_numbers_are_exact() {
        let wide = Kif { signed: true, int: 79, frac: 0 };
        let port = Port { kif: wide, frac: 0 };
        let text = "9007199254740993,-1e20\n1e400,0.5\n1,18446744073709551617\n";
        let mut reader = Reader::from_reader(text.as_bytes(), "x", &[wide; 2], false).unwrap();
        let mut block = Values::default();
        assert_eq!(reader.read(9, &mut block).unwrap(), 3);
        let codes: Vec<String> = (0..6).map(|at| block.code(at, port, false).unwrap().to_string()).collect();
        assert_eq!(codes, ["9007199254740993", "-100000000000000000000", "0", "0", "1", "18446744073709551617"]);
        // Numbers that float64 represents remain float64.
        assert_eq!(piped(b"1,-0.0\n0.1,5e-324\n", 2, false).unwrap(), [Values::Reals(vec![1.0, -0.0, 0.1, 5e-324])]);
    }

    #[test]
    fn encoders_see_exact_numbers() {
        let data = [(1i64 << 53) + 1, i64::MIN].map(i64::to_le_bytes).concat();
        let file = npy_file("<i8", false, "(1, 2)", &data);
        let reader = Reader::from_reader(Cursor::new(file), "x", &[S8; 2], false).unwrap();
        let double = |x: &Number| Number::from(x.to_integer().expect("an integer") * 2);
        let mut block = Values::default();
        reader.encoded(Box::new(double)).read(9, &mut block).unwrap();
        let exact = [block.number(0), block.number(1)].map(|x| x.to_integer().unwrap().to_string());
        assert_eq!(exact, ["18014398509481986", "-18446744073709551616"]);
    }

    #[test]
    fn csv_codes_are_decimal_or_bits() {
        let wide = Kif { signed: false, int: 70, frac: 0 };
        let reader = |text: &'static str| Reader::from_reader(text.as_bytes(), "x", &[S8, wide], true).unwrap();
        let blocks = read_all(reader("-3,7\n0xff,0x7f\n1,0x200000000000000000\n"), 2).unwrap();
        let big = BigInt::from(1) << 69;
        assert_eq!(blocks, [Values::Integers(vec![-3, 7, -1, 127]), Values::Wide(vec![1.into(), big])]);
        let error = read_all(reader("1.5,2\n"), 2).unwrap_err();
        assert!(error.contains("field 1: \"1.5\" is not an integer code"), "{error}");
        assert!(read_all(reader("0x+1,2\n"), 2).is_err());
    }

    #[test]
    fn codes_must_be_of_the_ports_type() {
        let port = Port { kif: S8, frac: 0 };
        assert_eq!(Values::Integers(vec![-128]).code(0, port, true), Ok(BigInt::from(-128)));
        let error = Values::Integers(vec![200]).code(0, port, true).unwrap_err();
        assert_eq!(error, "code 200 is not of the port's type s8.0, which has -128 to 127");
        assert_eq!(Values::Reals(vec![5.0]).code(0, port, true), Ok(BigInt::from(5)));
        assert_eq!(Values::Reals(vec![5.5]).code(0, port, true).unwrap_err(), "5.5 is not an integer code");
        assert_eq!(Values::Reals(vec![f64::NAN]).code(0, port, false).unwrap_err(), "NaN has no code");
        // As real numbers they wrap.
        assert_eq!(Values::Integers(vec![200]).code(0, port, false), Ok(BigInt::from(-56)));
    }

    fn written(name: &str, columns: &[Kif], codes: bool, write: impl FnOnce(&mut Writer)) -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        let mut writer = Writer::create(&path, columns, codes, None).unwrap();
        write(&mut writer);
        writer.finish().unwrap();
        std::fs::read(path).unwrap()
    }

    #[test]
    fn what_is_written_reads_back() {
        let numbers = [0.1, -3.0, 1e300, 5e-324];
        for name in ["y.npy", "y.csv"] {
            let bytes = written(name, &[S8; 2], false, |w| w.write(&Values::Reals(numbers.to_vec()), &[]).unwrap());
            assert_eq!(piped(&bytes, 2, false).unwrap(), [Values::Reals(numbers.to_vec())], "{name}");
        }
        let codes = [-1, 100, 7, 8, 9, 10];
        let wide = Values::Wide(codes.map(BigInt::from).to_vec());
        for name in ["y.npy", "y.csv"] {
            let bytes = written(name, &[S8; 2], true, |w| {
                w.write(&Values::Integers(codes.to_vec()), &[1]).unwrap();
                w.write(&wide, &[0, 2]).unwrap();
                assert_eq!(w.rows, 3);
            });
            let blocks = [Values::Integers(vec![-1, 100, 9, 10]), Values::Integers(vec![7, 8])];
            assert_eq!(piped(&bytes, 2, true).unwrap(), blocks, "{name}");
        }
    }

    #[test]
    fn wide_codes_are_hexadecimal_text() {
        let wide = Kif { signed: true, int: 66, frac: 0 };
        let text = written("y.csv", &[S8, wide], true, |w| {
            w.write(&Values::Wide(vec![5.into(), (-1).into()]), &[]).unwrap();
        });
        assert_eq!(String::from_utf8(text).unwrap(), "0x05,0x7ffffffffffffffff\n");
        let dir = tempfile::tempdir().unwrap();
        let refused = Writer::create(&dir.path().join("y.npy"), &[wide], true, None).err().unwrap();
        assert!(refused.message.contains("wider than int64"));
        assert_eq!(Writer::create(&dir.path().join("y.dat"), &[S8], true, None).err().unwrap().code, "E0705");
    }

    #[test]
    fn an_unfinished_file_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::create(&dir.path().join("y.npy"), &[S8], false, Some(3)).unwrap();
        writer.write(&Values::Reals(vec![1.0]), &[]).unwrap();
        drop(writer);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
