//! JSON parser that preserves the spelling of numbers and the order of keys, based on serde_json's raw values.
//!
//! The parser is intended for files that fit in memory: graphs, quantisation files, headers of weights. Depth and
//! number of values are limited, so that memory is proportional to the input. Duplicate keys are rejected.

use super::exact::Rational;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::fmt;

/// Maximum nesting depth.
const MAX_DEPTH: u32 = 64;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number as spelt in the file.
    Number(String),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Value>),
    /// An object in the order of the input; keys are unique.
    Object(Vec<(String, Value)>),
}

impl Value {
    /// Returns a member of an object; `None` if it does not exist or the value is not an object.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.members()?.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns the members of an object; `None` for other values.
    pub fn members(&self) -> Option<&[(String, Value)]> {
        if let Value::Object(members) = self { Some(members) } else { None }
    }

    /// Returns the elements of an array; `None` for other values.
    pub fn elements(&self) -> Option<&[Value]> {
        if let Value::Array(elements) = self { Some(elements) } else { None }
    }

    /// Returns the content of a string; `None` for other values.
    pub fn text(&self) -> Option<&str> {
        if let Value::String(text) = self { Some(text) } else { None }
    }

    /// Returns a number that is written as an integer and fits `i64`.
    pub fn integer(&self) -> Option<i64> {
        if let Value::Number(text) = self { text.parse().ok() } else { None }
    }

    /// Returns the exact decimal value of a number.
    pub fn number(&self) -> Option<Rational> {
        if let Value::Number(text) = self { Rational::parse_decimal(text) } else { None }
    }

    /// Returns the exact value of a number, or of a string that contains a decimal number.
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

    /// Returns the value as JSON, with the original spelling of numbers.
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

    /// Returns the value as short text, for messages.
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

/// Error of an input that is not valid JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Line, from 1.
    pub line: u64,
    /// Column in bytes, from 1.
    pub column: u64,
    /// Description of the problem.
    pub what: String,
}

/// Parses one JSON value that contains at most `max_values` values.
///
/// # Errors
/// Returns the first syntax error; otherwise an error for duplicate keys, too many values, or too deep nesting.
pub fn parse(bytes: &[u8], max_values: usize) -> Result<Value, JsonError> {
    if let Some(problem) = alir_core::diag::utf16(bytes) {
        return Err(JsonError { line: 1, column: 1, what: problem.message });
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let raw: &RawValue = serde_json::from_slice(bytes).map_err(|error| syntax(bytes, &error))?;
    let mut reader = Reader { input: raw.get(), left: max_values };
    let before = bytes.iter().take_while(|b| b.is_ascii_whitespace()).count();
    reader.value(raw, 0).map_err(|(at, what)| located(bytes, before + at, what))
}

/// Returns the error at an offset of the input.
fn located(bytes: &[u8], at: usize, what: String) -> JsonError {
    let before = &bytes[..at.min(bytes.len())];
    let line = before.iter().filter(|&&b| b == b'\n').count() as u64 + 1;
    let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    JsonError { line, column: (before.len() - start) as u64 + 1, what }
}

/// Converts a syntax error of the library; the message for `NaN` and infinities, which Python's `json` writes, is
/// replaced by an explanation.
fn syntax(bytes: &[u8], error: &serde_json::Error) -> JsonError {
    let (line, column) = (error.line() as u64, error.column() as u64);
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default();
    let what = what.replace("EOF while parsing", "the text ends within").replace("trailing characters", "more text");
    let this = bytes.split(|&b| b == b'\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
    let near = this.get(error.column().saturating_sub(2)..).unwrap_or_default();
    let words = ["NaN", "Infinity"].into_iter();
    let word = words.map(str::as_bytes).find(|word| near.windows(word.len()).take(3).any(|w| w == *word));
    let what = match word.map(String::from_utf8_lossy) {
        Some(word) => format!("{word} is not valid JSON; every number must be finite"),
        None => what,
    };
    JsonError { line: line.max(1), column: column.max(1), what }
}

/// Converter of syntactically valid text to values.
struct Reader<'t> {
    input: &'t str,
    /// Number of values that may still follow.
    left: usize,
}

/// Members of an object in the order of the input.
struct Members<'t>(Vec<(String, &'t RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

impl<'t> Reader<'t> {
    /// Converts a value.
    ///
    /// # Errors
    /// Returns the offset and the description of a problem.
    fn value(&mut self, raw: &'t RawValue, depth: u32) -> Result<Value, (usize, String)> {
        let text = raw.get();
        // The value is a part of the input, so its offset is the difference of the addresses.
        let at = text.as_ptr().addr() - self.input.as_ptr().addr();
        let wrong = |what: String| (at, what);
        self.left = self.left.checked_sub(1).ok_or_else(|| wrong("more values than such a file needs".into()))?;
        if depth > MAX_DEPTH {
            return Err(wrong(format!("values are nested more than {MAX_DEPTH} deep")));
        }
        let sound = |error: serde_json::Error| wrong(error.to_string());
        Ok(match text.as_bytes().first() {
            Some(b'{') => {
                let Members(raw) = serde_json::from_str(text).map_err(sound)?;
                let mut keys = HashSet::new();
                let mut members = Vec::with_capacity(raw.len());
                for (key, value) in &raw {
                    let value = self.value(value, depth + 1)?;
                    if !keys.insert(key) {
                        return Err(wrong(format!("the key {key:?} is given twice in this object")));
                    }
                    members.push((key.clone(), value));
                }
                Value::Object(members)
            }
            Some(b'[') => {
                let elements: Vec<&RawValue> = serde_json::from_str(text).map_err(sound)?;
                Value::Array(elements.into_iter().map(|e| self.value(e, depth + 1)).collect::<Result<_, _>>()?)
            }
            Some(b'"') => Value::String(serde_json::from_str(text).map_err(sound)?),
            Some(b'n') => Value::Null,
            Some(b't' | b'f') => Value::Bool(text == "true"),
            _ => Value::Number(text.to_owned()),
        })
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
    fn errors_have_positions() {
        for (text, line, column, what) in [
            ("{\"a\": 1,\n \"a\": 2}", 1, 1, "\"a\" is given twice"),
            (" [0,\n {\"a\": 1, \"a\": 2}]", 2, 2, "\"a\" is given twice"),
            ("[1, 2", 1, 5, "ends within a list"),
            ("\"abc", 1, 4, "ends within a string"),
            ("[01]", 1, 3, "invalid number"),
            ("[NaN]", 1, 2, "NaN is not valid JSON"),
            ("[-Infinity]", 1, 3, "Infinity is not valid JSON"),
            ("[1] x", 1, 5, "more text"),
            ("", 1, 1, "ends within a value"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.what.contains(what) && (error.line, error.column) == (line, column), "{text}: {error:?}");
        }
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert!(parse(deep.as_bytes(), usize::MAX).unwrap_err().what.contains("nested"));
        assert!(parse(b"[1,1,1,1]", 3).unwrap_err().what.contains("more values"));
    }

    proptest! {
        /// The parser accepts the same inputs as serde_json, except for duplicate keys and for numbers beyond
        /// serde_json's range.
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
