//! A pull parser for JSON that preserves the spelling of numbers.
//!
//! The parser of models needs three properties that `serde_json` does not provide together: exact integers of any
//! length, a stream of which only one token is in memory, and the positions of all errors, as parsing continues after
//! an error. The caller requests the expected value, distinguishes several possible kinds with [`Json::kind`], and
//! calls [`Json::skip`] after an invalid value.
//!
//! The parser accepts exactly RFC 8259, and a leading byte order mark. Skipped strings are not checked to be UTF-8.
//! `NaN` and `Infinity`, which some tools write, are recognised as [`Kind::NonFinite`], for a specific error message;
//! they are never valid.

use super::source::{Source, Stop};
use alir_core::diag::{Diagnostic, Place};
use std::io::Read;

/// Number of bytes that are requested from the source at a time.
const CHUNK: usize = 1 << 16;

/// Maximum length of a number, in characters. A type of 65,536 bits needs 19,729 digits.
const MAX_NUMBER: usize = 1 << 17;

/// Maximum nesting of a skipped value. A model needs six levels.
const MAX_DEPTH: usize = 256;

/// Kind of the next value, recognised by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    String,
    Number,
    Bool,
    Null,
    /// `NaN`, `Infinity` or `-Infinity`, which JSON does not have.
    NonFinite,
}

impl Kind {
    /// Returns the name of the kind with its article, for messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Object => "an object",
            Kind::Array => "an array",
            Kind::String => "a string",
            Kind::Number => "a number",
            Kind::Bool => "a boolean",
            Kind::Null => "null",
            Kind::NonFinite => "NaN or Infinity",
        }
    }
}

/// A number as spelt in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number<'a> {
    /// Sign, digits, fraction and exponent; ASCII.
    bytes: &'a [u8],
    /// `true` if the number has neither a fraction nor an exponent.
    pub(super) is_integer: bool,
    /// Value of a number `±mantissa * 10^-places` with at most 18 digits; `None` for other numbers, which are rare.
    pub(super) short: Option<Short>,
}

/// Value of a number with few digits and no exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Short {
    pub(super) negative: bool,
    /// Below 10^18.
    pub(super) mantissa: i64,
    /// Digits after the point, at most 18.
    pub(super) places: u8,
}

impl Short {
    /// Returns the value of a number without decimal places.
    pub(super) fn integer(self) -> i64 {
        if self.negative { -self.mantissa } else { self.mantissa }
    }
}

impl Number<'_> {
    /// Returns the spelling.
    pub(super) fn text(&self) -> &str {
        std::str::from_utf8(self.bytes).expect("a number is ASCII")
    }
}

/// A parser, positioned before a token.
pub(super) struct Json<R: Read> {
    source: Source<R>,
    /// Buffer; bytes `pos..end` are read ahead.
    buf: Vec<u8>,
    pos: usize,
    end: usize,
    /// Offset of `buf[0]` in the decompressed file.
    base: u64,
    /// Line of `pos`, from 1. Newlines occur only between tokens, as white space.
    line: u64,
    /// Offset of the first byte of line `line`.
    line_start: u64,
}

impl<R: Read> Json<R> {
    /// Creates a parser before the first token of `source`.
    ///
    /// # Errors
    /// Errors of the source; `E0106` if it is empty.
    pub(super) fn new(source: Source<R>) -> Result<Json<R>, Stop> {
        let mut json = Json { source, buf: vec![0; CHUNK], pos: 0, end: 0, base: 0, line: 1, line_start: 0 };
        // The kind of a zip archive is detected by the name of its first member, which 80 bytes contain.
        while json.end < 80 && json.more()? {}
        if let Some(problem) = alir_core::diag::utf16(&json.buf[..json.end]) {
            return Err(Box::new(problem));
        }
        if json.buf[..json.end].starts_with(b"\xef\xbb\xbf") {
            json.pos = 3;
        }
        if json.next_byte()?.is_none() {
            let empty = Diagnostic::error("E0106", Place::Whole, "the file is empty");
            return Err(Box::new(empty.with_help(
                "give a model: the JSON object that alkaid's save() writes, a network or an integer kernel",
            )));
        }
        Ok(json)
    }

    /// Returns the bytes read ahead, for the detection of other formats.
    pub(super) fn ahead(&self) -> &[u8] {
        &self.buf[self.pos..self.end]
    }

    /// Returns `true` if the next value starts with `n` opening brackets in a row. White space between the brackets is
    /// allowed, up to a bound; nothing is consumed.
    ///
    /// # Errors
    /// Errors of the source.
    pub(super) fn opens_arrays(&mut self, n: usize) -> Result<bool, Stop> {
        const MOST: usize = 4096;
        let (mut seen, mut k) = (0, 0);
        while seen < n && k < MOST {
            self.ensure(k + 1)?;
            match self.ahead().get(k) {
                Some(b'[') => seen += 1,
                Some(b' ' | b'\t' | b'\r' | b'\n') => {}
                _ => return Ok(false),
            }
            k += 1;
        }
        Ok(seen == n)
    }

    /// Skips bytes that the caller has examined: whole tokens without a newline.
    pub(super) fn advance(&mut self, bytes: usize) {
        debug_assert!(bytes <= self.end - self.pos);
        self.pos += bytes;
    }

    /// Returns the position of the parser.
    pub(super) fn place(&self) -> Place {
        let offset = self.base + self.pos as u64;
        Place::Line { line: self.line, column: offset - self.line_start + 1 }
    }

    /// Returns the kind of the next value.
    ///
    /// # Errors
    /// `E0110` if no value can start here, `E0111` at the end of the file.
    pub(super) fn kind(&mut self) -> Result<Kind, Stop> {
        Ok(match self.token_start()? {
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b'"' => Kind::String,
            b'0'..=b'9' => Kind::Number,
            b'-' => {
                self.ensure(2)?;
                if self.buf[..self.end].get(self.pos + 1) == Some(&b'I') { Kind::NonFinite } else { Kind::Number }
            }
            b't' | b'f' => Kind::Bool,
            b'n' => Kind::Null,
            b'N' | b'I' => Kind::NonFinite,
            _ => return Err(self.unexpected("a value")),
        })
    }

    /// Enters an array; the next value must be one.
    ///
    /// # Errors
    /// `E0110`, `E0111`.
    pub(super) fn begin_array(&mut self) -> Result<(), Stop> {
        self.punctuation(b'[', "'['")
    }

    /// Moves past the comma to the next element of the current array; returns `false` after its end. `first` is `true`
    /// before the first element, and is updated.
    ///
    /// # Errors
    /// `E0110`, `E0111`.
    pub(super) fn element(&mut self, first: &mut bool) -> Result<bool, Stop> {
        self.next_item(first, b']', "',' or ']'")
    }

    /// Enters an object; the next value must be one.
    ///
    /// # Errors
    /// `E0110`, `E0111`.
    pub(super) fn begin_object(&mut self) -> Result<(), Stop> {
        self.punctuation(b'{', "'{'")
    }

    /// Reads the next key of the current object, up to its value; `None` after the end of the object.
    ///
    /// # Errors
    /// `E0110`, `E0111`.
    pub(super) fn key(&mut self, first: &mut bool) -> Result<Option<String>, Stop> {
        if !self.next_item(first, b'}', "',' or '}'")? {
            return Ok(None);
        }
        if self.token_start()? != b'"' {
            return Err(self.unexpected("a key in double quotes"));
        }
        let key = self.string()?;
        self.punctuation(b':', "':'")?;
        Ok(Some(key))
    }

    /// Reads a number; the next value must be a number.
    ///
    /// # Errors
    /// `E0110`, `E0111`, `E0141` for a number of more than 131,072 characters.
    pub(super) fn number(&mut self) -> Result<Number<'_>, Stop> {
        if let Some((length, is_integer, short)) = short_number(&self.buf[self.pos..self.end]) {
            let from = self.pos;
            self.pos += length;
            return Ok(Number { bytes: &self.buf[from..from + length], is_integer, short: Some(short) });
        }
        self.any_number()
    }

    /// Reads any number byte by byte, including a number that extends beyond the buffer.
    fn any_number(&mut self) -> Result<Number<'_>, Stop> {
        let mut at = self.pos;
        let mut is_integer = true;
        if self.byte_at(&mut at)? == Some(b'-') {
            at += 1;
        }
        match self.byte_at(&mut at)? {
            Some(b'0') => at += 1,
            Some(b'1'..=b'9') => self.digits(&mut at)?,
            _ => return Err(self.fault_at(at, "a digit")),
        }
        if self.byte_at(&mut at)? == Some(b'.') {
            is_integer = false;
            at += 1;
            self.some_digits(&mut at)?;
        }
        if let Some(b'e' | b'E') = self.byte_at(&mut at)? {
            is_integer = false;
            at += 1;
            if let Some(b'+' | b'-') = self.byte_at(&mut at)? {
                at += 1;
            }
            self.some_digits(&mut at)?;
        }
        if let Some(b'0'..=b'9' | b'.' | b'+' | b'-' | b'a'..=b'z' | b'A'..=b'Z' | b'_') = self.byte_at(&mut at)? {
            return Err(self.fault_at(at, "the end of the number"));
        }
        let from = self.pos;
        self.pos = at;
        Ok(Number { bytes: &self.buf[from..at], is_integer, short: None })
    }

    /// Reads a string; the next value must be a string.
    ///
    /// # Errors
    /// `E0110`, `E0111`.
    pub(super) fn string(&mut self) -> Result<String, Stop> {
        let mut bytes = Vec::new();
        self.string_bytes(&mut |b| bytes.push(b))?;
        String::from_utf8(bytes).map_err(|_| self.syntax("the string before this is not valid UTF-8"))
    }

    /// Reads `true` or `false`; the next value must be a boolean.
    ///
    /// # Errors
    /// `E0110`, `E0111`.
    pub(super) fn boolean(&mut self) -> Result<bool, Stop> {
        let value = self.token_start()? == b't';
        self.word(if value { b"true" } else { b"false" })?;
        Ok(value)
    }

    /// Skips the next value of any kind, in constant memory.
    ///
    /// # Errors
    /// `E0110`, `E0111`; `E0114` if it is nested too deeply.
    pub(super) fn skip(&mut self) -> Result<(), Stop> {
        // Open containers, each with `true` if no element was read yet.
        let mut open: Vec<(Kind, bool)> = Vec::new();
        loop {
            match self.kind()? {
                kind @ (Kind::Array | Kind::Object) => {
                    if open.len() >= MAX_DEPTH {
                        let message = format!("nested more than {MAX_DEPTH} levels deep");
                        return Err(Box::new(
                            Diagnostic::error("E0114", self.place(), message).with_help("a model has six"),
                        ));
                    }
                    self.pos += 1;
                    open.push((kind, true));
                }
                Kind::String => self.string_bytes(&mut |_| {})?,
                Kind::Number => {
                    self.number()?;
                }
                Kind::Bool => {
                    self.boolean()?;
                }
                Kind::Null => self.word(b"null")?,
                Kind::NonFinite => self.non_finite()?,
            }
            loop {
                let Some((kind, first)) = open.last_mut() else { return Ok(()) };
                let (kind, mut first) = (*kind, std::mem::take(first));
                let more = match kind {
                    Kind::Array => self.element(&mut first)?,
                    _ => self.key(&mut first)?.is_some(),
                };
                if more {
                    break;
                }
                open.pop();
            }
        }
    }

    /// Checks that only white space follows.
    ///
    /// # Errors
    /// `E0112`, and errors of the source (a gzip checksum is checked only at the end of its member).
    pub(super) fn finish(&mut self) -> Result<(), Stop> {
        if self.next_byte()?.is_none() {
            return Ok(());
        }
        Err(Box::new(
            Diagnostic::error("E0112", self.place(), "text after the end of the JSON value")
                .with_help("a file holds exactly one JSON object"),
        ))
    }

    /// Returns a syntax error at the current position.
    fn syntax(&self, message: impl Into<String>) -> Stop {
        Box::new(Diagnostic::error("E0110", self.place(), message))
    }

    fn unexpected(&mut self, wanted: &str) -> Stop {
        match self.next_byte() {
            Ok(Some(b)) => self.syntax(format!("expected {wanted}, found {}", shown(b))),
            Ok(None) => self.ends_early(),
            Err(stop) => stop,
        }
    }

    fn ends_early(&self) -> Stop {
        Box::new(
            Diagnostic::error("E0111", self.place(), "the file ends in the middle of its JSON")
                .with_help("the file is truncated: copy or download it again"),
        )
    }

    /// Returns a syntax error at `at`, a position in the token that starts at `pos`.
    fn fault_at(&mut self, at: usize, wanted: &str) -> Stop {
        self.pos = at;
        if at >= self.end {
            return self.ends_early();
        }
        self.syntax(format!("expected {wanted}, found {}", shown(self.buf[at])))
    }

    fn punctuation(&mut self, byte: u8, name: &str) -> Result<(), Stop> {
        if self.token_start()? != byte {
            return Err(self.unexpected(name));
        }
        self.pos += 1;
        Ok(())
    }

    fn next_item(&mut self, first: &mut bool, close: u8, wanted: &str) -> Result<bool, Stop> {
        let byte = self.token_start()?;
        if byte == close {
            self.pos += 1;
            return Ok(false);
        }
        if std::mem::take(first) {
            return Ok(true);
        }
        if byte != b',' {
            return Err(self.unexpected(wanted));
        }
        self.pos += 1;
        // `[1,]`: an item must follow a comma.
        if self.token_start()? == close { Err(self.unexpected("another item after ','")) } else { Ok(true) }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Stop> {
        self.token_start()?;
        self.ensure(word.len())?;
        if !self.ahead().starts_with(word) {
            let wanted = String::from_utf8_lossy(word).into_owned();
            return Err(if word.starts_with(self.ahead()) { self.ends_early() } else { self.unexpected(&wanted) });
        }
        self.pos += word.len();
        Ok(())
    }

    fn non_finite(&mut self) -> Result<(), Stop> {
        if self.token_start()? == b'N' {
            return self.word(b"NaN");
        }
        if self.buf[self.pos] == b'-' {
            self.pos += 1;
        }
        self.word(b"Infinity")
    }

    /// Reads a string, resolves escapes, and passes its UTF-8 bytes to `sink`.
    fn string_bytes(&mut self, sink: &mut dyn FnMut(u8)) -> Result<(), Stop> {
        self.punctuation(b'"', "a string")?;
        loop {
            match self.take()? {
                b'"' => return Ok(()),
                b'\\' => self.escape(sink)?,
                0..=0x1f => {
                    self.pos -= 1;
                    return Err(self.syntax("a control character inside a string"));
                }
                b => sink(b),
            }
        }
    }

    fn escape(&mut self, sink: &mut dyn FnMut(u8)) -> Result<(), Stop> {
        let plain = match self.take()? {
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b @ (b'"' | b'\\' | b'/') => b,
            b'u' => {
                let high = self.hex4()?;
                let c = match high {
                    0xd800..=0xdbff => {
                        if (self.take()?, self.take()?) != (b'\\', b'u') {
                            return Err(self.syntax("half of a surrogate pair"));
                        }
                        let low = self.hex4()?;
                        if !(0xdc00..=0xdfff).contains(&low) {
                            return Err(self.syntax("half of a surrogate pair"));
                        }
                        0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)
                    }
                    other => other,
                };
                let c = char::from_u32(c).ok_or_else(|| self.syntax("half of a surrogate pair"))?;
                c.encode_utf8(&mut [0; 4]).bytes().for_each(&mut *sink);
                return Ok(());
            }
            _ => {
                self.pos -= 1;
                return Err(self.syntax("an unknown escape in a string"));
            }
        };
        sink(plain);
        Ok(())
    }

    fn hex4(&mut self) -> Result<u32, Stop> {
        let mut value = 0;
        for _ in 0..4 {
            let digit = self.take()?;
            let Some(digit) = (digit as char).to_digit(16) else {
                self.pos -= 1;
                return Err(self.syntax("expected a hexadecimal digit"));
            };
            value = value * 16 + digit;
        }
        Ok(value)
    }

    fn digits(&mut self, at: &mut usize) -> Result<(), Stop> {
        while let Some(b'0'..=b'9') = self.byte_at(at)? {
            *at += 1;
        }
        Ok(())
    }

    fn some_digits(&mut self, at: &mut usize) -> Result<(), Stop> {
        match self.byte_at(at)? {
            Some(b'0'..=b'9') => self.digits(at),
            _ => Err(self.fault_at(*at, "a digit")),
        }
    }

    /// Returns the byte at `at`, a position in or just after the token that starts at `pos`; `None` at the end of the
    /// file. Reading ahead moves the token to the front of the buffer, and adjusts `at`.
    #[inline]
    fn byte_at(&mut self, at: &mut usize) -> Result<Option<u8>, Stop> {
        if *at < self.end {
            return Ok(Some(self.buf[*at]));
        }
        if *at - self.pos > MAX_NUMBER {
            let message = format!("a number of more than {MAX_NUMBER} characters");
            let help = "numbers of models are shorter";
            return Err(Box::new(Diagnostic::error("E0141", self.place(), message).with_help(help)));
        }
        let length = *at - self.pos;
        let more = self.more()?;
        *at = self.pos + length;
        Ok(more.then(|| self.buf[*at]))
    }

    /// Reads one byte of a string.
    #[inline]
    fn take(&mut self) -> Result<u8, Stop> {
        if self.pos == self.end && !self.more()? {
            return Err(self.ends_early());
        }
        self.pos += 1;
        Ok(self.buf[self.pos - 1])
    }

    /// Returns the first byte of the next token.
    #[inline]
    fn token_start(&mut self) -> Result<u8, Stop> {
        match self.next_byte()? {
            Some(b) => Ok(b),
            None => Err(self.ends_early()),
        }
    }

    /// Returns the next byte that is not white space; `None` at the end of the file.
    #[inline]
    fn next_byte(&mut self) -> Result<Option<u8>, Stop> {
        loop {
            while self.pos < self.end {
                match self.buf[self.pos] {
                    b' ' | b'\t' | b'\r' => self.pos += 1,
                    b'\n' => {
                        self.pos += 1;
                        self.line += 1;
                        self.line_start = self.base + self.pos as u64;
                    }
                    b => return Ok(Some(b)),
                }
            }
            if !self.more()? {
                return Ok(None);
            }
        }
    }

    /// Reads ahead until `n` bytes are buffered, or the file ends.
    fn ensure(&mut self, n: usize) -> Result<(), Stop> {
        while self.end - self.pos < n && self.more()? {}
        Ok(())
    }

    /// Reads more bytes after the buffered ones, which are first moved to the front; returns `false` at the end of the
    /// file.
    #[cold]
    fn more(&mut self) -> Result<bool, Stop> {
        self.buf.copy_within(self.pos..self.end, 0);
        self.base += self.pos as u64;
        self.end -= self.pos;
        self.pos = 0;
        if self.end == self.buf.len() {
            // Only a long number fills the buffer, and the length of numbers is bounded.
            self.buf.resize(2 * self.end, 0);
        }
        let n = self.source.read(&mut self.buf[self.end..])?;
        self.end += n;
        Ok(n > 0)
    }
}

/// Reads a number that ends inside `bytes`, and has at most 18 digits and no exponent. Returns the number's length,
/// `true` for an integer, and the number's value. Returns `None` for any other input, valid or not.
#[inline]
pub(super) fn short_number(bytes: &[u8]) -> Option<(usize, bool, Short)> {
    /// Appends the digits that start at `at` to `mantissa`. Returns the position after the digits, and the byte at that
    /// position.
    #[inline]
    fn digits(bytes: &[u8], mut at: usize, mantissa: &mut i64) -> Option<(usize, u8)> {
        loop {
            let byte = *bytes.get(at)?;
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return Some((at, byte));
            }
            // With too many digits the mantissa is wrong; the caller discards it.
            *mantissa = mantissa.wrapping_mul(10).wrapping_add(digit.into());
            at += 1;
        }
    }
    let negative = *bytes.first()? == b'-';
    let start = usize::from(negative);
    let mut mantissa = 0;
    let (mut at, mut end) = digits(bytes, start, &mut mantissa)?;
    let (whole, mut places) = (at - start, 0);
    let is_integer = end != b'.';
    if !is_integer {
        let point = at;
        (at, end) = digits(bytes, point + 1, &mut mantissa)?;
        places = at - point - 1;
    }
    let leading_zero = whole > 1 && bytes[start] == b'0';
    if !matches!(end, b',' | b']') || whole == 0 || whole + places > 18 || leading_zero || (!is_integer && places == 0)
    {
        return None;
    }
    Some((at, is_integer, Short { negative, mantissa, places: places as u8 }))
}

/// Formats a byte of a file for a message.
fn shown(byte: u8) -> String {
    if byte.is_ascii_graphic() { format!("'{}'", byte as char) } else { format!("byte 0x{byte:02x}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parser(text: &[u8]) -> Json<&[u8]> {
        Json::new(Source::new(text, 1 << 30).unwrap()).unwrap()
    }

    fn skipped(text: &[u8]) -> Result<(), Stop> {
        let mut json = parser(text);
        json.skip()?;
        json.finish()
    }

    #[test]
    fn every_kind_of_value_is_skipped() {
        let text = br#" {"a": [1, -2.5e-3, true, false, null, "x\"\u00e9\ud83d\ude00", {}, []], "b": {"c": 0}} "#;
        skipped(text).unwrap();
        // Some tools write these values, which are not JSON; they are skipped after an error message.
        skipped(b"[NaN, Infinity, -Infinity]").unwrap();
    }

    #[test]
    fn inputs_that_serde_rejects_are_rejected() {
        let bad: &[&[u8]] = &[
            b"[1,]",
            b"[,1]",
            b"[1 2]",
            b"{\"a\":1,}",
            b"{a:1}",
            b"{\"a\" 1}",
            b"01",
            b"1.",
            b".5",
            b"+1",
            b"1e",
            b"- 1",
            b"tru",
            b"nul",
            b"\"\\x\"",
            b"\"\\ud800\"",
            b"\"\\udc00\"",
            b"\"\n\"",
            b"[1]]",
            b"{} {}",
            b"[",
            b"\"abc",
            b"1x",
            b"0x10",
            b"[1}",
            b"{]",
            b"\xff",
            b"'a'",
            b"-",
            b"[-]",
        ];
        for text in bad {
            assert!(skipped(text).is_err(), "{}", String::from_utf8_lossy(text));
            assert!(serde_json::from_slice::<serde_json::Value>(text).is_err(), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn errors_have_positions() {
        let stop = skipped(b"[1,\n  2,\n  x]").unwrap_err();
        assert_eq!((stop.code, stop.place), ("E0110", Place::Line { line: 3, column: 3 }));
        assert_eq!(stop.message, "expected a value, found 'x'");
        assert_eq!(skipped(b"[1, 2").unwrap_err().code, "E0111");
        assert_eq!(skipped(b"[1] 2").unwrap_err().code, "E0112");
        assert_eq!(skipped(&b"[".repeat(1000)).unwrap_err().code, "E0114");
        assert_eq!(skipped(&b"7".repeat(1 << 20)).unwrap_err().code, "E0141");
    }

    #[test]
    fn numbers_keep_their_spelling_across_buffers() {
        // A number is complete for any length of the input before it.
        let long = "9".repeat(100);
        for gap in CHUNK - 105..CHUNK + 3 {
            let text = format!("[{}{long},1.5e3]", " ".repeat(gap));
            let mut json = parser(text.as_bytes());
            let mut first = true;
            json.begin_array().unwrap();
            assert!(json.element(&mut first).unwrap());
            let number = json.number().unwrap();
            assert_eq!((number.text(), number.is_integer), (long.as_str(), true));
            assert!(json.element(&mut first).unwrap());
            let number = json.number().unwrap();
            assert_eq!((number.text(), number.is_integer), ("1.5e3", false));
            assert!(!json.element(&mut first).unwrap());
            json.finish().unwrap();
        }
    }

    #[test]
    fn the_fast_path_for_short_numbers_equals_the_general_one() {
        let value = |text: &[u8]| short_number(text).map(|(n, int, s)| (n, int, s.negative, s.mantissa, s.places));
        assert_eq!(value(b"0,"), Some((1, true, false, 0, 0)));
        assert_eq!(value(b"-12.50]"), Some((6, false, true, 1250, 2)));
        assert_eq!(value(b"123456789012345678,"), Some((18, true, false, 123_456_789_012_345_678, 0)));
        let others: [&[u8]; 12] = [
            b"1234567890123456789,",
            b"01,",
            b"1.,",
            b".5,",
            b"-,",
            b"1e3,",
            b"12",
            b"1 ,",
            b"-.5,",
            b"1.2.3,",
            b"--1,",
            b",",
        ];
        for text in others {
            assert_eq!(value(text), None, "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn strings_are_unescaped() {
        let mut json = parser(br#""a\n\u00e9\ud83d\ude00/\/""#);
        assert_eq!(json.string().unwrap(), "a\né😀//");
        assert_eq!(parser(b"\"\xff\"").string().unwrap_err().code, "E0110");
    }
}
