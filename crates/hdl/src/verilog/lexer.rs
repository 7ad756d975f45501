//! Lexer for Verilog-2001.

use crate::source::error;
use alir_core::diag::{Diagnostic, Place};
use num_bigint::BigUint;

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Name or keyword; also `\escaped ` names.
    Name,
    /// Number without base.
    Decimal,
    /// Number with base, such as `8'shff`.
    Based,
    /// System function or task, such as `$signed`.
    System,
    /// String.
    Text,
    /// Operator or bracket, up to four characters.
    Punct,
    /// End of the file.
    End,
}

/// Token: its kind, and its first and end byte offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: u32,
    pub(super) end: u32,
}

const PUNCT: [&str; 27] = [
    "<<<", ">>>", "===", "!==", "**", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "~&", "~|", "~^", "^~", "+:",
    "-:", "->", "(*", "<", ">", "?", "!", "~", "@",
];

/// Tokens, the comments before the first token, and `true` if undeclared names may be implicit nets.
pub(super) type Tokens = (Vec<Token>, Vec<String>, bool);

/// Splits preprocessed text into tokens.
pub(super) fn tokens(text: &str) -> Result<Tokens, Diagnostic> {
    let bytes = text.as_bytes();
    if bytes.len() >= u32::MAX as usize {
        return Err(Diagnostic::error("E0903", Place::Whole, "a file of 4 GiB or more"));
    }
    let mut tokens: Vec<Token> = Vec::with_capacity(bytes.len() / 4);
    let mut head = Vec::new();
    let mut implicit = true;
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let b = bytes[at];
        if b.is_ascii_whitespace() {
            at += 1;
        } else if bytes[at..].starts_with(b"//") {
            at = bytes[at..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |n| at + n);
            if tokens.is_empty() {
                head.push(text[start + 2..at].trim().to_owned());
            }
        } else if bytes[at..].starts_with(b"/*") {
            let end = text[at + 2..].find("*/").ok_or_else(|| error(text, at as u32, "a comment that never ends"))?;
            at += end + 4;
            if tokens.is_empty() {
                head.extend(
                    text[start + 2..at - 2].lines().map(|l| l.trim().trim_start_matches('*').trim().to_owned()),
                );
            }
        } else if b == b'`' {
            at = directive(text, at, &mut implicit)?;
        } else if b.is_ascii_alphabetic() || b == b'_' || b == b'$' {
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || matches!(bytes[at], b'_' | b'$')) {
                at += 1;
            }
            let kind = if b == b'$' { Kind::System } else { Kind::Name };
            tokens.push(Token { kind, start: start as u32, end: at as u32 });
        } else if b == b'\\' {
            while at < bytes.len() && !bytes[at].is_ascii_whitespace() {
                at += 1;
            }
            tokens.push(Token { kind: Kind::Name, start: start as u32 + 1, end: at as u32 });
        } else if bytes[at..].starts_with(b"'(") {
            // A cast of SystemVerilog: `8'(x)`.
            at += 1;
            tokens.push(Token { kind: Kind::Punct, start: start as u32, end: at as u32 });
        } else if b.is_ascii_digit() || b == b'\'' {
            at = number(bytes, at);
            let kind = if bytes[start..at].contains(&b'\'') { Kind::Based } else { Kind::Decimal };
            if kind == Kind::Decimal && bytes.get(at).is_some_and(|&b| b == b'.') {
                return Err(error(text, start as u32, "real numbers are not supported"));
            }
            tokens.push(Token { kind, start: start as u32, end: at as u32 });
        } else if b == b'"' {
            at += 1;
            while at < bytes.len() && bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at = (at + 1).min(bytes.len());
            tokens.push(Token { kind: Kind::Text, start: start as u32, end: at as u32 });
        } else {
            let long = PUNCT.iter().find(|p| bytes[at..].starts_with(p.as_bytes()));
            // `@(*)` is an event, not an attribute.
            let long = long.filter(|p| !(**p == "(*" && bytes.get(at + 2) == Some(&b')')));
            at += match long {
                Some(p) => p.len(),
                None if b"()[]{},;:.=+-*/%&|^#".contains(&b) => 1,
                None => return Err(error(text, start as u32, format!("unexpected character {:?}", b as char))),
            };
            let token = Token { kind: Kind::Punct, start: start as u32, end: at as u32 };
            if &text[start..at] == "(*" && tokens.last().is_none_or(|t| &text[t.start as usize..t.end as usize] != "@")
            {
                // Attributes do not affect values.
                let end =
                    text[at..].find("*)").ok_or_else(|| error(text, start as u32, "an attribute that never ends"))?;
                at += end + 2;
                continue;
            }
            tokens.push(token);
        }
    }
    tokens.push(Token { kind: Kind::End, start: bytes.len() as u32, end: bytes.len() as u32 });
    Ok((tokens, head, implicit))
}

/// Returns the end of a compiler directive that does not affect semantics; other directives are errors.
fn directive(text: &str, at: usize, implicit: &mut bool) -> Result<usize, Diagnostic> {
    let rest = &text[at + 1..];
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    let line = rest.find('\n').unwrap_or(rest.len());
    match &rest[..end] {
        "default_nettype" => {
            // One `default_nettype none` forbids implicit nets in the whole file.
            *implicit &= !rest[end..line].split_whitespace().any(|w| w == "none");
            Ok(at + 1 + line)
        }
        "timescale" => Ok(at + 1 + line),
        "resetall" | "celldefine" | "endcelldefine" => Ok(at + 1 + end),
        other => Err(error(text, at as u32, format!("the directive `{other} is not supported"))),
    }
}

/// Returns the value of a string as a number, with eight bits for each character, and its width.
pub(super) fn parse_text(text: &str) -> Result<(BigUint, u32), String> {
    let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    let inner = inner.ok_or("a string without end")?;
    if inner.is_empty() {
        // The empty string is one character with the value 0 (IEEE 1364-2005, section 3.6).
        return Ok((BigUint::ZERO, 8));
    }
    if inner.contains(['\\', '\n']) || !inner.is_ascii() {
        return Err("a string with characters beyond plain ASCII".to_owned());
    }
    let width = u32::try_from(8 * inner.len()).ok().filter(|w| *w <= crate::MAX_WIDTH);
    let width = width.ok_or("a string of more than 2^24 bits")?;
    Ok((BigUint::from_bytes_be(inner.as_bytes()), width))
}

fn number(bytes: &[u8], mut at: usize) -> usize {
    let digits = |mut at: usize, ok: fn(u8) -> bool| {
        while at < bytes.len() && (ok(bytes[at]) || bytes[at] == b'_') {
            at += 1;
        }
        at
    };
    let spaces = |mut at: usize| {
        while at < bytes.len() && matches!(bytes[at], b' ' | b'\t' | b'\r' | b'\n') {
            at += 1;
        }
        at
    };
    at = digits(at, |b| b.is_ascii_digit());
    let tick = spaces(at);
    if bytes.get(tick) != Some(&b'\'') || bytes.get(tick + 1) == Some(&b'(') {
        return at;
    }
    at = tick + 1;
    if bytes.get(at).is_some_and(|b| matches!(b, b's' | b'S')) {
        at += 1;
    }
    at = (at + 1).min(bytes.len());
    digits(spaces(at), |b| b.is_ascii_hexdigit() || matches!(b, b'x' | b'X' | b'z' | b'Z' | b'?'))
}

/// Number literal: value, bits that are `x`, `z` or `?` (`unknown`), bits that are `z` or `?` (`open`), width (32
/// without a size), sign, and `true` if a size was given.
#[derive(Clone, Debug)]
pub(super) struct Number {
    pub(super) value: BigUint,
    pub(super) unknown: BigUint,
    pub(super) open: BigUint,
    pub(super) width: u32,
    pub(super) signed: bool,
    pub(super) sized: bool,
}

/// Parses a number literal; an error is a message.
pub(super) fn parse_number(text: &str) -> Result<Number, String> {
    let clean: String = text.chars().filter(|c| *c != '_' && !c.is_whitespace()).collect();
    let Some((size, rest)) = clean.split_once('\'') else {
        let value: BigUint = clean.parse().map_err(|_| format!("{text} is not a number"))?;
        if value.bits() > 31 {
            return Err(format!("{text} does not fit the 32 bits of a signed number without size"));
        }
        let none = BigUint::ZERO;
        return Ok(Number { value, unknown: none.clone(), open: none, width: 32, signed: true, sized: false });
    };
    let sized = !size.is_empty();
    let width: u32 = if size.is_empty() { 32 } else { size.parse().map_err(|_| format!("{text}: bad size"))? };
    if width == 0 || width > crate::MAX_WIDTH {
        return Err(format!("{text}: a size from 1 to 2^24"));
    }
    let rest = rest.to_ascii_lowercase();
    let (signed, rest) = rest.strip_prefix('s').map_or((false, rest.as_str()), |r| (true, r));
    if signed && !sized {
        return Err(format!(
            "{text}: a signed number with a base has a size, as tools disagree about its sign without"
        ));
    }
    let mut letters = rest.chars();
    let bits_a_digit = match letters.next() {
        Some('b') => 1u32,
        Some('o') => 3,
        Some('h') => 4,
        Some('d') => 0,
        _ => return Err(format!("{text}: a base is one of b, o, d, h")),
    };
    let digits = letters.as_str();
    // Tools disagree about unsized numbers of more than 32 bits.
    let fits = |value: &BigUint| match sized || value.bits() <= 32 {
        true => Ok(()),
        false => Err(format!("{text} does not fit the 32 bits of a number without size")),
    };
    if digits.is_empty() {
        return Err(format!("{text} has no digits"));
    }
    let full = (BigUint::from(1u32) << width) - 1u32;
    if bits_a_digit == 0 {
        if matches!(digits, "x" | "z" | "?") {
            let open = if digits == "x" { BigUint::ZERO } else { full.clone() };
            return Ok(Number { value: BigUint::ZERO, unknown: full, open, width, signed, sized });
        }
        let value: BigUint = digits.parse().map_err(|_| format!("{text}: bad digits"))?;
        fits(&value)?;
        let none = BigUint::ZERO;
        return Ok(Number { value: value & full, unknown: none.clone(), open: none, width, signed, sized });
    }
    let radix = 1u32 << bits_a_digit;
    let hex = |d: char| char::from_digit(d.to_digit(radix).unwrap_or(0), radix).unwrap_or('0');
    let bad = digits.chars().any(|d| d.to_digit(radix).is_none() && !matches!(d, 'x' | 'z' | '?'));
    if bad {
        return Err(format!("{text}: bad digits"));
    }
    let value: String = digits.chars().map(hex).collect();
    let top = char::from_digit(radix - 1, radix).unwrap_or('1');
    let parse = |s: &str| BigUint::parse_bytes(s.as_bytes(), radix).unwrap_or_default();
    // A leading x or z is extended to the whole size.
    let given = digits.len() as u32 * bits_a_digit;
    let marked = |marks: &[char]| {
        let bits: String = digits.chars().map(|d| if marks.contains(&d) { top } else { '0' }).collect();
        let mut bits = parse(&bits);
        if given < width && digits.starts_with(marks) {
            bits |= (&full >> given) << given;
        }
        bits & &full
    };
    let (unknown, open) = (marked(&['x', 'z', '?']), marked(&['z', '?']));
    let value = parse(&value);
    fits(&value)?;
    Ok(Number { value: value & &full, unknown, open, width, signed, sized })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_size_sign_and_unknown_bits() {
        let n = |t: &str| parse_number(t).map(|n| (n.value, n.width, n.signed, n.unknown)).unwrap();
        let big = BigUint::from;
        assert_eq!(n("12"), (big(12u32), 32, true, big(0u32)));
        assert_eq!(n("8'shF_f"), (big(255u32), 8, true, big(0u32)));
        assert_eq!(n("4'd17"), (big(1u32), 4, false, big(0u32)));
        assert_eq!(n("4'b1x?0"), (big(8u32), 4, false, big(6u32)));
        assert_eq!(n("6'bx1"), (big(1u32), 6, false, big(62u32)));
        assert!(parse_number("4'b12").is_err() && parse_number("2147483648").is_err() && parse_number("'shb").is_err());
    }

    #[test]
    fn numbers_that_tools_size_differently_are_refused() {
        assert!(parse_number("'h1_0000_0000").is_err() && parse_number("'hffff_ffff").is_ok());
        assert!(parse_number("'d4294967296").is_err() && parse_number("2147483647").is_ok());
    }

    #[test]
    fn events_attributes_and_comments_are_told_apart() {
        let (tokens, head, _) = tokens("// Latency: 3\n(* keep *) always @(*) a <= b /* x */ ** c;").unwrap();
        assert_eq!(head, ["Latency: 3"]);
        assert_eq!(tokens.len(), "always @ ( * ) a <= b ** c ; end".split(' ').count());
    }
}
