//! Decimal formatting that is faster than `std::fmt`: half of each generated file consists of numbers.

/// Digits of the numbers 0 to 999, three for each number, concatenated.
const DIGITS: &str = match std::str::from_utf8(&THREE_DIGITS) {
    Ok(digits) => digits,
    Err(_) => unreachable!(),
};

const THREE_DIGITS: [u8; 3000] = {
    let mut digits = [b'0'; 3000];
    let mut number = 0;
    while number < 1000 {
        digits[3 * number] = b'0' + (number / 100) as u8;
        digits[3 * number + 1] = b'0' + (number / 10 % 10) as u8;
        digits[3 * number + 2] = b'0' + (number % 10) as u8;
        number += 1;
    }
    digits
};

/// Appends a number in decimal.
pub fn push_decimal(text: &mut String, number: u64) {
    if number < 10 {
        // Appending a character is cheaper than appending a slice.
        return text.push(char::from(b'0' + number as u8));
    }
    let low = (number % 1000) as usize * 3;
    if number >= 1000 {
        push_decimal(text, number / 1000);
        text.push_str(&DIGITS[low..low + 3]);
        return;
    }
    let leading_zeros = usize::from(number < 100);
    text.push_str(&DIGITS[low + leading_zeros..low + 3]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_all_their_digits() {
        let powers = (0..20).map(|n| 10u64.pow(n));
        let around = powers.flat_map(|p| [p - 1, p, p + 1, p.saturating_mul(9)]);
        for number in (0..2000).chain(around).chain([u64::MAX]) {
            let mut text = String::from("v");
            push_decimal(&mut text, number);
            assert_eq!(text, format!("v{number}"));
        }
    }
}
