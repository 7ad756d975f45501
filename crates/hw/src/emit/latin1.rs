//! Character set of VHDL files, whose comments may contain names of models.

use std::borrow::Cow;

/// Returns VHDL source whose bytes are legal in VHDL-93, also in comments and strings: ISO 8859-1 without the control
/// characters 0x80 to 0x9f. A character whose UTF-8 encoding contains such a byte is written as `\u{540d}`.
pub fn escaped(source: &str) -> Cow<'_, str> {
    let is_illegal = |byte: u8| (0x80..0xa0).contains(&byte);
    if !source.bytes().any(is_illegal) {
        return Cow::Borrowed(source);
    }
    let mut escaped = String::with_capacity(source.len() + 16);
    for c in source.chars() {
        match c.encode_utf8(&mut [0; 4]).bytes().any(is_illegal) {
            true => escaped.extend(c.escape_unicode()),
            false => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_vhdl_93_does_not_have_are_escaped() {
        assert_eq!(escaped("-- é µ 名 À -- x"), r"-- é µ \u{540d} \u{c0} -- x");
        for c in '\0'..=char::MAX {
            let source = c.to_string();
            let escaped = escaped(&source);
            assert!(escaped.bytes().all(|byte| !(0x80..0xa0).contains(&byte)), "{c:?}");
            assert!(!c.is_ascii() || escaped == source, "{c:?}");
        }
    }
}
