//! A small JSON reader that keeps numbers as they are written and objects in their order.
//!
//! For files of moderate size that are kept in memory: graphs, quantisation files, headers of weights. Depth and number
//! of values are bounded, so that memory is in proportion to the input; a key given twice is refused.

use super::exact::Rational;
use std::collections::HashSet;

/// Deepest nesting.
const MAX_DEPTH: u32 = 64;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number as it is spelt.
    Number(String),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Value>),
    /// An object in the order of the input; keys are unique.
    Object(Vec<(String, Value)>),
}

impl Value {
    /// The member of an object; `None` too if this is no object.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.members()?.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The members of an object.
    pub fn members(&self) -> Option<&[(String, Value)]> {
        if let Value::Object(members) = self { Some(members) } else { None }
    }

    /// The elements of an array.
    pub fn elements(&self) -> Option<&[Value]> {
        if let Value::Array(elements) = self { Some(elements) } else { None }
    }

    /// The contents of a string.
    pub fn text(&self) -> Option<&str> {
        if let Value::String(text) = self { Some(text) } else { None }
    }

    /// A number that is written as an integer and fits.
    pub fn integer(&self) -> Option<i64> {
        if let Value::Number(text) = self { text.parse().ok() } else { None }
    }

    /// The exact value of a number, as the decimal that it is written as.
    pub fn number(&self) -> Option<Rational> {
        if let Value::Number(text) = self { Rational::parse_decimal(text) } else { None }
    }

    /// A number, or a string that is a decimal.
    pub fn decimal(&self) -> Option<Rational> {
        match self {
            Value::String(text) => Rational::parse_decimal(text),
            other => other.number(),
        }
    }

    /// Returns the name of the kind of value, with the article, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        }
    }

    /// The value as JSON, numbers as they were spelt.
    pub fn to_text(&self) -> String {
        match self {
            Value::Null => "null".into(),
            Value::Bool(b) => b.to_string(),
            Value::Number(text) => text.clone(),
            Value::String(text) => serde_json::Value::from(text.as_str()).to_string(),
            Value::Array(elements) => {
                format!("[{}]", elements.iter().map(Value::to_text).collect::<Vec<_>>().join(", "))
            }
            Value::Object(members) => {
                let member = |(name, value): &(String, Value)| {
                    format!("{}: {}", serde_json::Value::from(name.as_str()), value.to_text())
                };
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// The value as short text, for messages.
    pub fn brief(&self) -> String {
        let text = match self {
            Value::Null => "null".into(),
            Value::Bool(b) => b.to_string(),
            Value::Number(text) => text.clone(),
            Value::String(text) => format!("{text:?}"),
            Value::Array(elements) => {
                let all: Vec<String> = elements.iter().take(8).map(Value::brief).collect();
                format!("[{}{}]", all.join(", "), if elements.len() > 8 { ", ..." } else { "" })
            }
            Value::Object(_) => "an object".into(),
        };
        if text.chars().count() <= 80 { text } else { text.chars().take(77).chain("...".chars()).collect() }
    }
}

/// Reason why an input is no valid JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Line, from 1.
    pub line: u64,
    /// Column in bytes, from 1.
    pub column: u64,
    /// Description of the problem.
    pub what: String,
}

/// Reads one JSON value of at most `max_values` values.
///
/// # Errors
/// The first place where the input is no JSON.
pub fn parse(bytes: &[u8], max_values: usize) -> Result<Value, JsonError> {
    let mut parser = Parser { bytes, at: 0, left: max_values };
    if bytes.starts_with(b"\xef\xbb\xbf") {
        parser.at = 3;
    }
    if let Some(problem) = alir_core::diag::utf16(bytes) {
        return Err(JsonError { line: 1, column: 1, what: problem.message });
    }
    let value = parser.value(0).and_then(|value| {
        parser.skip();
        if parser.at == bytes.len() { Ok(value) } else { Err("text follows the JSON value".to_string()) }
    });
    value.map_err(|what| {
        let before = &bytes[..parser.at.min(bytes.len())];
        let line = before.iter().filter(|&&b| b == b'\n').count() as u64 + 1;
        let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        JsonError { line, column: (before.len() - start) as u64 + 1, what }
    })
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    left: usize,
}

impl Parser<'_> {
    fn skip(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> Option<u8> {
        self.skip();
        self.bytes.get(self.at).copied()
    }

    fn takes(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn wanted(&mut self, what: &str) -> String {
        match self.peek() {
            None => format!("the text ends where {what} should follow"),
            Some(b) if b.is_ascii_graphic() => format!("{:?} where {what} should follow", b as char),
            Some(b) => format!("the byte {b:#04x} where {what} should follow"),
        }
    }

    fn value(&mut self, depth: u32) -> Result<Value, String> {
        self.left = self.left.checked_sub(1).ok_or("more values than such a file needs")?;
        if depth > MAX_DEPTH {
            return Err(format!("values are nested more than {MAX_DEPTH} deep"));
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Value::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                for (word, value) in [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))]
                {
                    if self.bytes[self.at..].starts_with(word.as_bytes()) {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                for word in ["NaN", "Infinity"] {
                    if self.bytes[self.at..].starts_with(word.as_bytes()) {
                        return Err(format!("{word} is no JSON; every number is finite"));
                    }
                }
                Err(self.wanted("a value"))
            }
        }
    }

    fn object(&mut self, depth: u32) -> Result<Value, String> {
        self.at += 1;
        let mut members: Vec<(String, Value)> = Vec::new();
        let mut keys = HashSet::new();
        if self.takes(b'}') {
            return Ok(Value::Object(members));
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.wanted("a key"));
            }
            let key = self.string()?;
            if !keys.insert(key.clone()) {
                return Err(format!("the key {key:?} is given twice"));
            }
            if !self.takes(b':') {
                return Err(self.wanted("':'"));
            }
            members.push((key, self.value(depth + 1)?));
            if self.takes(b'}') {
                return Ok(Value::Object(members));
            }
            if !self.takes(b',') {
                return Err(self.wanted("',' or '}'"));
            }
        }
    }

    fn array(&mut self, depth: u32) -> Result<Value, String> {
        self.at += 1;
        let mut elements = Vec::new();
        if self.takes(b']') {
            return Ok(Value::Array(elements));
        }
        loop {
            elements.push(self.value(depth + 1)?);
            if self.takes(b']') {
                return Ok(Value::Array(elements));
            }
            if !self.takes(b',') {
                return Err(self.wanted("',' or ']'"));
            }
        }
    }

    fn number(&mut self) -> Result<Value, String> {
        let start = self.at;
        let digits = |parser: &mut Self| {
            let from = parser.at;
            while parser.bytes.get(parser.at).is_some_and(u8::is_ascii_digit) {
                parser.at += 1;
            }
            parser.at > from
        };
        if self.bytes[self.at] == b'-' {
            self.at += 1;
        }
        if self.bytes[self.at..].starts_with(b"Infinity") {
            return Err("-Infinity is no JSON; every number is finite".into());
        }
        let zero = self.bytes.get(self.at) == Some(&b'0');
        let first = self.at;
        let mut sound = digits(self) && (!zero || self.at == first + 1);
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            sound &= digits(self);
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.at) {
                self.at += 1;
            }
            sound &= digits(self);
        }
        let text = String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned();
        if !sound {
            return Err(format!("{text:?} is no JSON number"));
        }
        Ok(Value::Number(text))
    }

    /// A string; the parser is at its opening quote.
    fn string(&mut self) -> Result<String, String> {
        self.at += 1;
        let mut text = Vec::new();
        loop {
            let b = *self.bytes.get(self.at).ok_or("the text ends within a string")?;
            self.at += 1;
            match b {
                b'"' => return String::from_utf8(text).map_err(|_| "a string that is not UTF-8".into()),
                b'\\' => {
                    let c = self.escape()?;
                    text.extend(c.encode_utf8(&mut [0; 4]).bytes());
                }
                0..0x20 => return Err("a control character within a string".into()),
                _ => text.push(b),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let b = *self.bytes.get(self.at).ok_or("the text ends within a string")?;
        self.at += 1;
        Ok(match b {
            b'"' | b'\\' | b'/' => b as char,
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let high = self.hex()?;
                let mut code = u32::from(high);
                if (0xd800..0xdc00).contains(&high) && self.bytes[self.at..].starts_with(b"\\u") {
                    self.at += 2;
                    let low = self.hex()?;
                    if !(0xdc00..0xe000).contains(&low) {
                        return Err("half of a surrogate pair".into());
                    }
                    code = 0x10000 + ((u32::from(high) - 0xd800) << 10) + (u32::from(low) - 0xdc00);
                }
                char::from_u32(code).ok_or("half of a surrogate pair")?
            }
            _ => return Err("an escape that JSON does not have".into()),
        })
    }

    fn hex(&mut self) -> Result<u16, String> {
        let digits = self.bytes.get(self.at..self.at + 4).and_then(|d| std::str::from_utf8(d).ok());
        let digits = digits.filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        self.at += 4;
        digits.and_then(|d| u16::from_str_radix(d, 16).ok()).ok_or_else(|| "an escape without four digits".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Value, JsonError> {
        parse(text.as_bytes(), 1000)
    }

    #[test]
    fn numbers_keep_their_spelling() {
        let value = read("{\"a\": [0.7071, -1e-6, 12], \"b\": {}, \"c\": \"\\u00e9\\ud83d\\ude00\\n\"}").unwrap();
        let numbers = value.get("a").unwrap().elements().unwrap();
        assert_eq!(numbers[0], Value::Number("0.7071".into()));
        assert_eq!(numbers[1].number().unwrap().to_fraction(), "-1/1000000");
        assert_eq!(numbers[2].integer(), Some(12));
        assert_eq!(value.get("c").unwrap().text(), Some("\u{e9}\u{1f600}\n"));
    }

    #[test]
    fn faults_have_a_place() {
        for (text, line, column, what) in [
            ("{\"a\": 1,\n \"a\": 2}", 2, 5, "given twice"),
            ("[1, 2", 1, 6, "ends where"),
            ("\"abc", 1, 5, "ends within a string"),
            ("[01]", 1, 4, "no JSON number"),
            ("[NaN]", 1, 2, "NaN is no JSON"),
            ("[1] x", 1, 5, "text follows"),
            ("", 1, 1, "ends where"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.what.contains(what) && (error.line, error.column) == (line, column), "{text}: {error:?}");
        }
        let deep = "[".repeat(100_000);
        assert!(parse(deep.as_bytes(), usize::MAX).unwrap_err().what.contains("nested"));
        assert!(parse(b"[1,1,1,1]", 3).unwrap_err().what.contains("more values"));
    }

    proptest! {
        /// Whatever another reader accepts, this one reads alike (but for keys given twice).
        #[test]
        fn agrees_with_serde_json(text in "[\\[\\]{}:,0-9.eE\"a\\\\ utn-]{0,24}") {
            let other: Result<serde_json::Value, _> = serde_json::from_str(&text);
            let ours = read(&text);
            match (&other, &ours) {
                (Ok(_), Err(error)) => prop_assert!(error.what.contains("twice"), "{error:?}"),
                (Err(error), Ok(_)) => prop_assert!(error.to_string().contains("out of range"), "{text}: {error}"),
                _ => {}
            }
        }
    }
}
