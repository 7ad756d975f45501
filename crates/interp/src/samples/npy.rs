//! Parser and writer of NumPy's array files (`numpy.lib.format`, versions 1 to 3): headers and elements.
//!
//! A header is untrusted: no memory is allocated according to its numbers, and a small parser accepts only strings,
//! booleans, integers and tuples in its dictionary. Pickled objects are rejected.

use std::fmt::Write;

/// First bytes of every npy file.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// Largest size of a header in bytes; NumPy itself stops at 10,000.
const MAX_HEADER: usize = 1 << 16;

/// Type of an element; the number is its size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Float(u8),
    Int(u8),
    Uint(u8),
}

impl Scalar {
    /// Returns the size of an element in bytes.
    pub(super) fn size(self) -> usize {
        match self {
            Scalar::Float(n) | Scalar::Int(n) | Scalar::Uint(n) => usize::from(n),
        }
    }
}

/// Content of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) scalar: Scalar,
    pub(super) big_endian: bool,
    pub(super) fortran: bool,
    pub(super) shape: Vec<u64>,
}

/// Number of bytes at the start of a file that determine the length of the header: magic, version and length field.
pub(super) const PREFIX: usize = 12;

/// Returns the length of the whole header in bytes, prefix included, from the file's first [`PREFIX`] bytes.
///
/// # Errors
/// If this is not an npy file, its version is unknown, or the header is too long.
pub(super) fn header_length(prefix: &[u8; PREFIX]) -> Result<usize, String> {
    if &prefix[..6] != MAGIC {
        return Err("this is not an npy file: it does not begin with \\x93NUMPY".into());
    }
    let (start, length) = match prefix[6] {
        1 => (10, usize::from(u16::from_le_bytes([prefix[8], prefix[9]]))),
        2 | 3 => (12, u32::from_le_bytes([prefix[8], prefix[9], prefix[10], prefix[11]]) as usize),
        version => return Err(format!("npy version {version} is not known; 1, 2 and 3 are")),
    };
    if length > MAX_HEADER {
        return Err(format!("the header claims {length} bytes; no array of numbers needs more than {MAX_HEADER}"));
    }
    Ok((start + length).max(PREFIX))
}

/// Parses the whole header. The length of `header` is the result of [`header_length`].
///
/// # Errors
/// If the dictionary is malformed, or the elements have an unsupported type.
pub(super) fn parse(header: &[u8]) -> Result<Header, String> {
    let start = if header[6] == 1 { 10 } else { 12 };
    let text = std::str::from_utf8(&header[start..]).map_err(|_| "the header is not text".to_string())?;
    let mut reader = Literal { rest: text.trim_end_matches(['\n', ' ', '\0']) };
    let header = reader.header().map_err(|what| format!("the header {:?}: {what}", shorten(text.trim_end())))?;
    Ok(header)
}

/// Shortens a string for a message.
fn shorten(text: &str) -> String {
    if text.chars().count() <= 120 { text.into() } else { text.chars().take(120).chain("...".chars()).collect() }
}

/// Parser of the Python literal in a header.
struct Literal<'a> {
    rest: &'a str,
}

impl Literal<'_> {
    /// Parses the dictionary.
    fn header(&mut self) -> Result<Header, String> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.expect('{')?;
        while !self.accept('}') {
            let key = self.string()?;
            self.expect(':')?;
            match key.as_str() {
                "descr" => descr = Some(self.descr()?),
                "fortran_order" => fortran = Some(self.boolean()?),
                "shape" => shape = Some(self.tuple()?),
                other => return Err(format!("unknown key {other:?}")),
            }
            if !self.accept(',') {
                self.expect('}')?;
                break;
            }
        }
        self.skip();
        if !self.rest.is_empty() {
            return Err("something follows the dictionary".into());
        }
        let missing = |name: &str| format!("no {name}");
        let (scalar, big_endian) = descr.ok_or_else(|| missing("descr"))?;
        let fortran = fortran.ok_or_else(|| missing("fortran_order"))?;
        Ok(Header { scalar, big_endian, fortran, shape: shape.ok_or_else(|| missing("shape"))? })
    }

    /// Skips white space.
    fn skip(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// Consumes the character and returns `true` if it is next.
    fn accept(&mut self, c: char) -> bool {
        self.skip();
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, c: char) -> Result<(), String> {
        if self.accept(c) { Ok(()) } else { Err(format!("expected {c:?} before {:?}", shorten(self.rest))) }
    }

    fn string(&mut self) -> Result<String, String> {
        self.skip();
        let quote = self.rest.chars().next().filter(|c| matches!(c, '\'' | '"')).ok_or("expected a string")?;
        let inner = &self.rest[1..];
        let end = inner.find(quote).ok_or("a string without an end")?;
        let text = &inner[..end];
        if text.contains('\\') {
            return Err("a string with an escape".into());
        }
        self.rest = &inner[end + 1..];
        Ok(text.into())
    }

    fn boolean(&mut self) -> Result<bool, String> {
        self.skip();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err("expected True or False".into())
    }

    fn tuple(&mut self) -> Result<Vec<u64>, String> {
        self.expect('(')?;
        let mut all = Vec::new();
        while !self.accept(')') {
            self.skip();
            let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
            // Python 2 wrote long integers with an L.
            let number = self.rest[..end].parse().map_err(|_| "a shape that is not of integers".to_string())?;
            self.rest = self.rest[end..].trim_start_matches('L');
            all.push(number);
            if !self.accept(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(all)
    }

    /// Parses the type of the elements; returns also `true` for big-endian elements.
    fn descr(&mut self) -> Result<(Scalar, bool), String> {
        self.skip();
        if self.rest.starts_with('[') {
            return Err("records (structured arrays) are not samples; save a plain array of numbers".into());
        }
        let descr = self.string()?;
        let (order, kind) = match descr.as_bytes().first() {
            Some(b'<' | b'>' | b'=' | b'|') => descr.split_at(1),
            _ => ("<", descr.as_str()),
        };
        let scalar = match kind {
            "f2" => Scalar::Float(2),
            "f4" => Scalar::Float(4),
            "f8" => Scalar::Float(8),
            "i1" => Scalar::Int(1),
            "i2" => Scalar::Int(2),
            "i4" => Scalar::Int(4),
            "i8" => Scalar::Int(8),
            "u1" | "b1" => Scalar::Uint(1),
            "u2" => Scalar::Uint(2),
            "u4" => Scalar::Uint(4),
            "u8" => Scalar::Uint(8),
            "O" => return Err("pickled Python objects are not read; save with dtype float64".into()),
            _ => {
                let what = match kind.as_bytes().first() {
                    Some(b'c') => "complex numbers",
                    Some(b'f') => "floating-point numbers wider than float64",
                    Some(b'S' | b'U' | b'a' | b'T') => "texts",
                    Some(b'M' | b'm') => "dates and times",
                    _ => "elements of an unknown type",
                };
                return Err(format!("{what} ({descr:?}) are not read; save real numbers with dtype float64"));
            }
        };
        Ok((scalar, order == ">"))
    }
}

/// Returns a version 1 header of a two-dimensional C-order array, padded to 128 bytes so that the header can be
/// rewritten in place when the number of rows is known; `descr` is `<f8` or `<i8`.
pub(super) fn write_header(descr: &str, rows: u64, columns: usize) -> Vec<u8> {
    let mut text = String::new();
    let _ = write!(text, "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let padded = HEADER_SIZE - 10;
    let _ = writeln!(text, "{:width$}", "", width = padded - 1 - text.len());
    let mut header = MAGIC.to_vec();
    header.extend([1, 0]);
    header.extend((padded as u16).to_le_bytes());
    header.extend(text.into_bytes());
    header
}

/// Size in bytes of a header that [`write_header`] returns.
pub(super) const HEADER_SIZE: usize = 128;

/// Calls `fill` with the memory of `reals`, which `fill` must set to the little-endian bytes of the numbers.
pub(super) fn with_bytes<R>(reals: &mut [f64], fill: impl FnOnce(&mut [u8]) -> R) -> R {
    let length = size_of_val(reals);
    // SAFETY: the memory of doubles is bytes without padding, and any bytes are valid doubles.
    let result = fill(unsafe { std::slice::from_raw_parts_mut(reals.as_mut_ptr().cast(), length) });
    if cfg!(target_endian = "big") {
        reals.iter_mut().for_each(|x| *x = f64::from_bits(x.to_bits().swap_bytes()));
    }
    result
}

/// Writes reals as little-endian bytes.
pub(super) fn write_reals(out: &mut impl std::io::Write, reals: &[f64]) -> std::io::Result<()> {
    if cfg!(target_endian = "big") {
        return reals.iter().try_for_each(|x| out.write_all(&x.to_le_bytes()));
    }
    // SAFETY: the memory of doubles is bytes without padding.
    out.write_all(unsafe { std::slice::from_raw_parts(reals.as_ptr().cast(), size_of_val(reals)) })
}

/// Appends elements to `reals`. The length of `bytes` is a multiple of the element's size.
pub(super) fn decode_floats(bytes: &[u8], size: u8, big_endian: bool, reals: &mut Vec<f64>) {
    match (size, big_endian) {
        (8, false) => reals.extend(bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b))),
        (8, true) => reals.extend(bytes.as_chunks().0.iter().map(|b| f64::from_be_bytes(*b))),
        (4, false) => reals.extend(bytes.as_chunks().0.iter().map(|b| f64::from(f32::from_le_bytes(*b)))),
        (4, true) => reals.extend(bytes.as_chunks().0.iter().map(|b| f64::from(f32::from_be_bytes(*b)))),
        (_, false) => reals.extend(bytes.as_chunks().0.iter().map(|b| half(u16::from_le_bytes(*b)))),
        (_, true) => reals.extend(bytes.as_chunks().0.iter().map(|b| half(u16::from_be_bytes(*b)))),
    }
}

/// Converts a float16 (IEEE 754 binary16) to the float64 with the same value.
pub fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let fraction = f64::from(bits & 0x3ff);
    match (bits >> 10) & 0x1f {
        0 => sign * fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => sign * f64::INFINITY,
        0x1f => f64::NAN,
        exponent => sign * (1024.0 + fraction) * 2f64.powi(i32::from(exponent) - 25),
    }
}

/// Appends elements to `integers`; returns `None` if an element does not fit, which is possible only for unsigned
/// 8-byte elements.
pub(super) fn decode_integers(bytes: &[u8], scalar: Scalar, big_endian: bool, integers: &mut Vec<i64>) -> Option<()> {
    macro_rules! plain {
        ($t:ty) => {
            match big_endian {
                false => integers.extend(bytes.as_chunks().0.iter().map(|b| i64::from(<$t>::from_le_bytes(*b)))),
                true => integers.extend(bytes.as_chunks().0.iter().map(|b| i64::from(<$t>::from_be_bytes(*b)))),
            }
        };
    }
    match scalar {
        Scalar::Int(1) => plain!(i8),
        Scalar::Int(2) => plain!(i16),
        Scalar::Int(4) => plain!(i32),
        Scalar::Int(_) => plain!(i64),
        Scalar::Uint(1) => plain!(u8),
        Scalar::Uint(2) => plain!(u16),
        Scalar::Uint(4) => plain!(u32),
        Scalar::Uint(_) | Scalar::Float(_) => {
            for word in decode_words(bytes, big_endian) {
                integers.push(i64::try_from(word).ok()?);
            }
        }
    }
    Some(())
}

/// Returns the unsigned 8-byte integers of `bytes`.
pub(super) fn decode_words(bytes: &[u8], big_endian: bool) -> impl Iterator<Item = u64> + '_ {
    bytes.as_chunks().0.iter().map(move |b| if big_endian { u64::from_be_bytes(*b) } else { u64::from_le_bytes(*b) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Result<Header, String> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        parse(&bytes)
    }

    #[test]
    fn headers_of_numpy_are_parsed() {
        let found = header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000, 57), }       \n").unwrap();
        let expected = Header { scalar: Scalar::Float(8), big_endian: false, fortran: false, shape: vec![1000, 57] };
        assert_eq!(found, expected);
        let found = header("{\"shape\": (3,), 'fortran_order': True, 'descr': '>i4'}").unwrap();
        let expected = Header { scalar: Scalar::Int(4), big_endian: true, fortran: true, shape: vec![3] };
        assert_eq!(found, expected);
        assert_eq!(header("{'descr': '|b1', 'fortran_order': False, 'shape': ()}").unwrap().shape, [0u64; 0]);
    }

    #[test]
    fn our_headers_can_be_read_back() {
        let bytes = write_header("<f8", u64::MAX, 100_000);
        assert_eq!(bytes.len(), HEADER_SIZE);
        let mut prefix = [0; PREFIX];
        prefix.copy_from_slice(&bytes[..PREFIX]);
        assert_eq!(header_length(&prefix).unwrap(), HEADER_SIZE);
        assert_eq!(parse(&bytes).unwrap().shape, [u64::MAX, 100_000]);
    }

    #[test]
    fn hostile_headers_are_refused_with_a_message() {
        let bad = [
            ("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "pickled Python objects"),
            ("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", "records"),
            ("{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}", "complex numbers (\"<c16\")"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 3)}", "not of integers"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 3)}", "not of integers"),
            ("{'descr': '<f8', 'fortran_order': __import__('os'), 'shape': (1,)}", "expected True or False"),
            ("{'descr': '<f8', 'fortran_order': False}", "no shape"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'x': 1}", "unknown key"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} {}", "something follows"),
            ("{'descr': '<f8", "without an end"),
            ("{'descr': '<\\x668'", "escape"),
            ("", "expected '{'"),
        ];
        for (text, expected) in bad {
            let error = header(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let too_long = *b"\x93NUMPY\x02\x00\xff\xff\xff\x7f";
        assert!(header_length(&too_long).unwrap_err().contains("claims 2147483647 bytes"));
        assert!(header_length(b"\x93NUMPY\x09\x00\x00\x00\x00\x00").unwrap_err().contains("version 9"));
    }

    #[test]
    fn half_floats_keep_their_value() {
        assert_eq!([0x3c00, 0xc000, 0x0001, 0x7bff, 0x8000].map(half), [1.0, -2.0, 2f64.powi(-24), 65504.0, -0.0]);
        assert_eq!(half(0xfc00), f64::NEG_INFINITY);
        assert!(half(0x7e00).is_nan());
    }
}
