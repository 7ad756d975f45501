//! Lexer for VHDL.

use super::Result;
use crate::source::error;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// Name in lower case, as VHDL is not case-sensitive.
    Name(String),
    Int(i64),
    Real(f64),
    /// Character literal, such as `'0'`.
    Bit(char),
    /// String `"0101"`; a bit string such as `x"0f"` is stored as its bits.
    Text(String),
    Punct(&'static str),
    End,
}

const PUNCT: [&str; 31] = [
    "?/=", "?<=", "?>=", "?=", "?<", "?>", "??", "?", "=>", "**", ":=", "/=", ">=", "<=", "<>", "(", ")", ",", ";",
    ":", "&", "'", "+", "-", "*", "/", "=", "<", ">", "|", ".",
];

/// Tokens with their byte offsets, and the comments before the first token.
pub(super) type Tokens = (Vec<(Token, u32)>, Vec<String>);

pub(super) fn tokens(text: &str) -> Result<Tokens> {
    let b = text.as_bytes();
    let mut out: Vec<(Token, u32)> = Vec::new();
    let mut head = Vec::new();
    let mut i = 0;
    while i < b.len() {
        let start = i as u32;
        if b[i].is_ascii_whitespace() {
            i += 1;
        } else if b[i..].starts_with(b"--") {
            let end = b[i..].iter().position(|&c| c == b'\n').map_or(b.len(), |n| i + n);
            if out.is_empty() {
                head.push(text[i + 2..end].trim().to_owned());
            }
            i = end;
        } else if let Some((bits, end)) = sized_bits(text, i)? {
            out.push((Token::Text(bits), start));
            i = end;
        } else if b[i].is_ascii_alphabetic() {
            let end = b[i..].iter().position(|c| !c.is_ascii_alphanumeric() && *c != b'_').map_or(b.len(), |n| i + n);
            out.push((Token::Name(text[i..end].to_ascii_lowercase()), start));
            i = end;
        } else if b[i] == b'\\' {
            let end = text[i + 1..].find('\\').ok_or_else(|| error(text, start, "a name that never ends"))? + i + 1;
            out.push((Token::Name(text[i..=end].to_owned()), start));
            i = end + 1;
        } else if b[i..].starts_with(b"/*") {
            let end = text[i + 2..].find("*/").ok_or_else(|| error(text, start, "a comment that never ends"))?;
            i += end + 4;
        } else if b[i].is_ascii_digit() {
            let (token, end) = number(text, i)?;
            out.push((token, start));
            i = end;
        } else if b[i] == b'"' {
            let (bits, end) = string(text, i)?;
            out.push((Token::Text(bits), start));
            i = end;
        } else if b[i] == b'\'' && b.get(i + 2) == Some(&b'\'') && tick_is_literal(&out) {
            out.push((Token::Bit(b[i + 1] as char), start));
            i += 3;
        } else if let Some(p) = PUNCT.iter().find(|p| b[i..].starts_with(p.as_bytes())) {
            out.push((Token::Punct(p), start));
            i += p.len();
        } else {
            let c = text[i..].chars().next().unwrap_or(' ');
            return Err(error(text, start, format!("unexpected character {c:?}")));
        }
    }
    out.push((Token::End, b.len() as u32));
    Ok((out, head))
}

/// Returns `true` if a tick starts a character literal; after a name or a bracket it is an attribute or a
/// qualification.
fn tick_is_literal(before: &[(Token, u32)]) -> bool {
    match before.last() {
        Some((Token::Name(n), _)) => KEYWORDS.contains(&n.as_str()),
        Some((Token::Punct(")"), _)) => false,
        _ => true,
    }
}

/// Maximum number of digits of a bit string.
const MAX_DIGITS: usize = 1 << 22;

/// Returns the bits of a bit string literal (`x"0f"`, `12ux"f"`, `b"01"`, `8d"200"`) and its end; `None` for other
/// text.
fn sized_bits(text: &str, at: usize) -> Result<Option<(String, usize)>> {
    let b = text.as_bytes();
    let digits = b[at..].iter().position(|c| !c.is_ascii_digit() && *c != b'_').unwrap_or(0);
    if digits > 0 && !b[at].is_ascii_digit() {
        return Ok(None);
    }
    let letters = b[at + digits..].iter().take(3).position(|c| !c.is_ascii_alphabetic()).unwrap_or(3);
    let quote = at + digits + letters;
    if b.get(quote) != Some(&b'"') {
        return Ok(None);
    }
    let base = text[at + digits..quote].to_ascii_lowercase();
    let (signed, base) = match base.strip_prefix(['u', 's']) {
        Some(rest) => (base.starts_with('s'), rest.to_owned()),
        None => (false, base),
    };
    let each = match base.as_str() {
        "b" => 1,
        "o" => 3,
        "x" => 4,
        "d" if !signed && digits > 0 => 0,
        _ => return Ok(None),
    };
    let fail = |message: &str| Err(error(text, at as u32, message));
    let (body, end) = string(text, quote)?;
    let mut bits = String::new();
    if body.len() > MAX_DIGITS {
        return fail("a literal of more than 2^22 digits");
    }
    if each == 0 {
        let number: String = body.chars().filter(|&c| c != '_').collect();
        let value = match number.parse::<num_bigint::BigUint>() {
            Ok(v) if number.len() <= 10_000 => v,
            _ => return fail("a decimal literal of up to 10,000 digits is expected"),
        };
        bits = value.to_str_radix(2);
        bits = if bits == "0" { String::new() } else { bits };
    } else {
        for c in body.chars().filter(|&c| c != '_') {
            match c.to_digit(1 << each) {
                Some(d) => bits.push_str(&format!("{d:0each$b}")),
                // Other values of `std_logic` are repeated for each bit of the digit.
                None if matches!(c.to_ascii_uppercase(), 'U' | 'X' | 'Z' | 'W' | 'L' | 'H' | '-') => {
                    bits.extend(std::iter::repeat_n(c.to_ascii_uppercase(), each));
                }
                None => return fail("a digit outside the base of this literal"),
            }
        }
    }
    if digits > 0 {
        let size = text[at..at + digits].replace('_', "").parse::<usize>().ok().filter(|n| *n <= 1 << 24);
        let Some(size) = size else { return fail("a size up to 2^24") };
        let fill = if signed { bits.chars().next().unwrap_or('0') } else { '0' };
        if bits.len() > size {
            // Truncation must remove only fill bits, and must keep the sign of a signed number.
            let cut = bits.len() - size;
            let kept = if signed { bits.as_bytes().get(cut) } else { None };
            if bits[..cut].chars().any(|c| c != fill) || kept.is_some_and(|&k| char::from(k) != fill) {
                return fail("a literal that does not fit its size");
            }
            bits.drain(..cut);
        } else {
            bits.insert_str(0, &fill.to_string().repeat(size - bits.len()));
        }
    }
    Ok(Some((bits, end)))
}

fn string(text: &str, at: usize) -> Result<(String, usize)> {
    let end = text[at + 1..].find(['"', '\n']).filter(|&n| text.as_bytes()[at + 1 + n] == b'"');
    let end = end.ok_or_else(|| error(text, at as u32, "a string that never ends"))? + at + 1;
    Ok((text[at + 1..end].to_owned(), end + 1))
}

/// Parses a number: an integer, optionally with an exponent or a base, or a real number.
fn number(text: &str, at: usize) -> Result<(Token, usize)> {
    let b = text.as_bytes();
    let digits =
        |from: usize| b[from..].iter().position(|c| !c.is_ascii_digit() && *c != b'_').map_or(b.len(), |n| from + n);
    let whole = digits(at);
    let is_real = b.get(whole) == Some(&b'.') && b.get(whole + 1).is_some_and(u8::is_ascii_digit);
    let plain = if is_real { digits(whole + 1) } else { whole };
    let sign = usize::from(matches!(b.get(plain + 1), Some(b'+' | b'-')));
    let has_exponent =
        matches!(b.get(plain), Some(b'e' | b'E')) && b.get(plain + 1 + sign).is_some_and(u8::is_ascii_digit);
    if !is_real && !has_exponent {
        return integer(text, at).map(|(value, end)| (Token::Int(value), end));
    }
    let end = if has_exponent { digits(plain + 1 + sign) } else { plain };
    let bad = || error(text, at as u32, "a number that is too large");
    if b.get(end).is_some_and(|c| c.is_ascii_alphanumeric()) {
        return Err(error(text, at as u32, "a number that is not a plain integer"));
    }
    let value: f64 = text[at..end].replace('_', "").parse().map_err(|_| bad())?;
    if is_real {
        return if value.is_finite() { Ok((Token::Real(value), end)) } else { Err(bad()) };
    }
    let mantissa: i64 = text[at..whole].replace('_', "").parse().map_err(|_| bad())?;
    let exponent: u32 = text[plain + 1..end].replace('_', "").trim_start_matches('+').parse().map_err(|_| bad())?;
    let value = 10i64.checked_pow(exponent).and_then(|power| mantissa.checked_mul(power)).ok_or_else(bad)?;
    Ok((Token::Int(value), end))
}

fn integer(text: &str, at: usize) -> Result<(i64, usize)> {
    let b = text.as_bytes();
    let digits = |from: usize| {
        b[from..].iter().position(|c| !c.is_ascii_alphanumeric() && *c != b'_').map_or(b.len(), |n| from + n)
    };
    let plain = b[at..].iter().position(|c| !c.is_ascii_digit() && *c != b'_').map_or(b.len(), |n| at + n);
    let clean = |s: &str| s.replace('_', "");
    let bad = || error(text, at as u32, "a number that is not a plain integer");
    if b.get(plain) == Some(&b'#') {
        let base: u32 = clean(&text[at..plain]).parse().map_err(|_| bad())?;
        let end = digits(plain + 1);
        if !(2..=16).contains(&base) || b.get(end) != Some(&b'#') {
            return Err(bad());
        }
        let value = i64::from_str_radix(&clean(&text[plain + 1..end]), base).map_err(|_| bad())?;
        return Ok((value, end + 1));
    }
    if b.get(plain).is_some_and(|c| c.is_ascii_alphabetic() || *c == b'.') {
        return Err(bad());
    }
    Ok((clean(&text[at..plain]).parse().map_err(|_| bad())?, plain))
}

pub(super) const KEYWORDS: &[&str] = &[
    "abs",
    "alias",
    "record",
    "all",
    "and",
    "architecture",
    "array",
    "attribute",
    "begin",
    "block",
    "case",
    "component",
    "constant",
    "downto",
    "else",
    "elsif",
    "end",
    "entity",
    "for",
    "function",
    "generate",
    "generic",
    "if",
    "impure",
    "in",
    "inout",
    "is",
    "library",
    "loop",
    "map",
    "mod",
    "nand",
    "next",
    "nor",
    "not",
    "null",
    "of",
    "open",
    "or",
    "others",
    "out",
    "package",
    "port",
    "process",
    "pure",
    "range",
    "rem",
    "report",
    "return",
    "rol",
    "ror",
    "select",
    "severity",
    "signal",
    "sla",
    "sll",
    "sra",
    "srl",
    "subtype",
    "then",
    "to",
    "type",
    "use",
    "variable",
    "wait",
    "until",
    "when",
    "while",
    "with",
    "xnor",
    "xor",
    "assert",
    "exit",
    "file",
    "procedure",
    "configuration",
];
