//! Lexer for the Verilog and VHDL subsets that alir2hdl generates.

use crate::ensure;
use crate::text::{Result, WIDEST};
use num_bigint::BigUint;
use std::collections::HashMap;

/// Token of an RTL file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    /// A name or a keyword.
    Word(&'a str),
    /// A constant with a size: its bits, low bits first.
    Bits(Vec<bool>),
    /// A number without a size.
    Number(usize),
    /// An operator, or a string with its quotes.
    Sign(&'a str),
}

/// Operators of more than one character.
const SIGNS: [&str; 5] = ["<<<", "<=", ":=", "=>", "/="];

/// Returns the tokens of an RTL file, each with its line number. Comments and attributes are omitted.
///
/// # Errors
/// Returns the line, and a description of the part that is not lexically valid.
pub(crate) fn tokens(text: &str, is_vhdl: bool) -> Result<Vec<(Token<'_>, u32)>> {
    let mut out = Vec::new();
    let mut spellings: HashMap<String, &str> = HashMap::new();
    // Depth of conditions within `ifndef SYNTHESIS: synthesis ignores these lines, so they are skipped.
    let mut skipped = 0;
    for (line, whole) in (1..).zip(text.lines()) {
        let wrong = |why: &str| format!("line {line}: {why}");
        let mut rest = whole.trim_start();
        if ["`default_nettype none", "`default_nettype wire"].contains(&rest.trim_end()) && !is_vhdl {
            continue;
        }
        if !is_vhdl && (skipped > 0 || rest.trim_end() == "`ifndef SYNTHESIS") {
            match rest.split_whitespace().next() {
                Some("`ifndef") => skipped += 1,
                Some("`endif") => skipped -= 1,
                Some(other) if other.starts_with('`') => {
                    return Err(wrong("another directive within `ifndef SYNTHESIS"));
                }
                _ => {}
            }
            continue;
        }
        while let Some(first) = rest.chars().next().filter(|_| !rest.starts_with(if is_vhdl { "--" } else { "//" })) {
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let length = |of: &dyn Fn(char) -> bool, from: usize| {
                rest[from..].find(|c: char| !of(c)).map_or(rest.len(), |length| from + length)
            };
            let (token, end) = if !is_vhdl && rest.starts_with("(*") {
                // Attributes do not affect values. A generated attribute and its strings begin and end on one line.
                let is_one =
                    |inner: &str| !inner.contains(['(', ';', '/']) && inner.matches('"').count().is_multiple_of(2);
                let end = rest.find("*)").filter(|&end| end > 1 && is_one(&rest[2..end]));
                rest = rest[end.ok_or_else(|| wrong("an attribute that never ends"))? + 2..].trim_start();
                continue;
            } else if first.is_ascii_digit() {
                let digits = length(&|c| c.is_ascii_digit(), 0);
                let size: usize = rest[..digits].parse().map_err(|_| wrong("a number too large"))?;
                if rest[digits..].starts_with('\'') && !rest[digits..].starts_with("'(") && !is_vhdl {
                    let end = length(&word, digits + 1);
                    if rest[digits..].starts_with("'s") {
                        // A signed constant.
                        let bits = constant(size, &rest[digits + 2..end]).map_err(|why| wrong(&why))?;
                        let open = [Token::Word("$signed"), Token::Sign("("), Token::Bits(bits), Token::Sign(")")];
                        out.extend(open.into_iter().map(|token| (token, line)));
                        rest = rest[end..].trim_start();
                        continue;
                    }
                    (Token::Bits(constant(size, &rest[digits + 1..end]).map_err(|why| wrong(&why))?), end)
                } else {
                    (Token::Number(size), digits)
                }
            } else if is_vhdl && rest.starts_with("x\"") {
                let end = 2 + rest[2..].find('"').ok_or_else(|| wrong("a string without its end"))?;
                let digits: Option<Vec<u32>> = rest[2..end].chars().rev().map(|digit| digit.to_digit(16)).collect();
                let digits = digits.ok_or_else(|| wrong("an invalid digit"))?;
                (Token::Bits((0..4 * digits.len()).map(|i| digits[i / 4] >> (i % 4) & 1 == 1).collect()), end + 1)
            } else if word(first) || first == '$' {
                let end = length(&word, 1);
                let name = &rest[..end];
                if is_vhdl && *spellings.entry(name.to_ascii_lowercase()).or_insert(name) != name {
                    return Err(wrong("a name with different letter cases"));
                }
                (Token::Word(name), end)
            } else if first == '"' {
                let end = 1 + rest[1..].find('"').ok_or_else(|| wrong("a string without its end"))?;
                let is_bits = is_vhdl && end > 1 && rest[1..end].bytes().all(|c| c == b'0' || c == b'1');
                let bits = rest[1..end].chars().rev().map(|c| c == '1');
                (if is_bits { Token::Bits(bits.collect()) } else { Token::Sign(&rest[..=end]) }, end + 1)
            } else if is_vhdl && (rest.starts_with("'0'") || rest.starts_with("'1'")) {
                (Token::Bits(vec![rest.starts_with("'1'")]), 3)
            } else {
                let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
                let end = sign.map_or(first.len_utf8(), str::len);
                (Token::Sign(&rest[..end]), end)
            };
            out.push((token, line));
            rest = rest[end..].trim_start();
        }
    }
    ensure(skipped == 0, "`ifndef SYNTHESIS without its `endif")?;
    Ok(out)
}

/// Parses a Verilog constant of `size` bits; `based` begins with the base.
fn constant(size: usize, based: &str) -> Result<Vec<bool>> {
    let (base, digits) = based.split_at(based.len().min(1));
    let radix = [("b", 2), ("d", 10), ("h", 16)].into_iter().find(|known| known.0 == base);
    let (_, radix) = radix.ok_or("a constant of another base")?;
    let value = BigUint::parse_bytes(digits.as_bytes(), radix).ok_or("a constant without a value")?;
    let fits = (1..=WIDEST).contains(&size) && value.bits() <= size as u64;
    ensure(fits, "a constant that does not fit its size")?;
    Ok((0..size as u64).map(|i| value.bit(i)).collect())
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn lines_that_synthesis_ignores_are_skipped() {
        let words = |text| tokens(text, false).map(|all| all.len());
        assert_eq!(words("a\n`ifndef SYNTHESIS\nb\n`ifndef X\nc\n`endif\nd\n`endif\ne f"), Ok(3));
        assert!(words("`ifndef SYNTHESIS\na\n").is_err());
        assert!(words("`ifndef SYNTHESIS\na\n`else\nb\n`endif\n").is_err());
        assert_eq!(words("`endif"), words("`other"), "an `endif alone is an unknown directive");
    }
}
