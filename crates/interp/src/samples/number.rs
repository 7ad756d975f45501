//! Lossless parser for decimal numbers in samples from all sources (CSV, Python).
//!
//! A numeral with a point or an exponent denotes the nearest float64 if this float64, printed with the number of
//! digits in the numeral, has the same digits: `0.1` is the float64 nearest to a tenth. All other numerals denote
//! exactly their decimal value: integers of any size (`9007199254740993`), more digits than a float64 has, and
//! numbers too large or too small for a float64 (`1e400`).

use super::Port;
use alir_core::num::wrap;
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};
use std::fmt;

/// Largest absolute exponent (power of ten) of the last digit of a number.
const MAX_EXPONENT: i64 = 20_000;

/// End of an error message for text that is not a number.
pub(super) const NO_NUMBER: &str = "is not a number";

/// Magnitude below which every integer is a float64.
const EXACT_INTEGERS: f64 = 9_007_199_254_740_992.0;

/// Number of significant decimal digits that a float64 always preserves.
const SAFE_DIGITS: usize = 15;

/// A number of a sample.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// A float64, NaN or an infinity.
    Float(f64),
    /// `digits * 10^exponent`: a number that is not a float64, or an exact integer.
    Decimal {
        /// All digits.
        digits: BigInt,
        /// Power of ten of the last digit.
        exponent: i32,
    },
}

impl Number {
    /// Parses a decimal number, `inf` or `nan`.
    ///
    /// # Errors
    /// The reason, as the end of an error message about `text`.
    pub fn parse(text: &str) -> Result<Number, &'static str> {
        let (negative, unsigned) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        if ["inf", "infinity", "nan"].iter().any(|word| unsigned.eq_ignore_ascii_case(word)) {
            return text.parse().map(Number::Float).map_err(|_| NO_NUMBER);
        }
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (unsigned, None),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let are_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        let power = exponent.map(|e| e.strip_prefix(['+', '-']).unwrap_or(e));
        if (whole.is_empty() && fraction.is_empty())
            || !are_digits(whole)
            || !are_digits(fraction)
            || power.is_some_and(|power| power.is_empty() || !are_digits(power))
        {
            return Err(NO_NUMBER);
        }
        let leading = whole.bytes().chain(fraction.bytes()).take_while(|&b| b == b'0').count();
        let significant = whole.len() + fraction.len() - leading;
        if significant == 0 {
            return Ok(Number::Float(if negative { -0.0 } else { 0.0 }));
        }
        if exponent.is_none() && significant <= SAFE_DIGITS && fraction.len() <= SAFE_DIGITS {
            return text.parse().map(Number::Float).map_err(|_| NO_NUMBER);
        }
        let too_far = "has an exponent beyond 20,000";
        let is_plain = exponent.is_none() && !mantissa.contains('.');
        // An exponent that exceeds i64 is beyond the limit.
        let exponent = exponent.map_or(Ok(0), str::parse::<i64>).map_err(|_| too_far)?;
        let last = exponent.checked_sub(fraction.len() as i64).filter(|e| e.abs() <= MAX_EXPONENT).ok_or(too_far)?;
        let digits = || {
            let digits: BigInt = format!("{whole}{fraction}").parse().expect("digits");
            if negative { -digits } else { digits }
        };
        let nearest: f64 = text.parse().map_err(|_| NO_NUMBER)?;
        let is_float = match is_plain {
            true => nearest.abs() < EXACT_INTEGERS,
            false => prints_as(nearest.abs(), &format!("{whole}{fraction}")[leading..], last),
        };
        Ok(match is_float {
            true => Number::Float(nearest),
            false => Number::Decimal { digits: digits(), exponent: last as i32 },
        })
    }

    /// Returns the nearest float64; an infinity beyond the largest one.
    pub fn to_f64(&self) -> f64 {
        match self {
            Number::Float(x) => *x,
            // The decimal notation is parsed with correct rounding.
            Number::Decimal { .. } => self.to_string().parse().unwrap_or(f64::NAN),
        }
    }

    /// Returns numerator and denominator (a power of five times a power of two); `None` for NaN and infinities.
    pub fn to_fraction(&self) -> Option<(BigInt, BigInt)> {
        let power = |base: u32, exponent: u32| BigInt::from(base).pow(exponent);
        match self {
            Number::Float(x) => {
                let (mantissa, exponent) = x.is_finite().then(|| super::convert::parts(*x))?;
                let scale = power(2, exponent.unsigned_abs() as u32);
                let mantissa = BigInt::from(mantissa);
                Some(if exponent >= 0 { (mantissa * scale, 1.into()) } else { (mantissa, scale) })
            }
            Number::Decimal { digits, exponent } => {
                let scale = power(10, exponent.unsigned_abs());
                Some(if *exponent >= 0 { (digits * scale, 1.into()) } else { (digits.clone(), scale) })
            }
        }
    }

    /// Returns the raw integer value on a port: `floor(x * 2^frac)`, wrapped to the type; `None` for NaN and
    /// infinities.
    pub fn code(&self, port: Port) -> Option<BigInt> {
        let (digits, exponent) = match self {
            Number::Float(x) => return port.code_of_real(*x),
            Number::Decimal { digits, exponent } => (digits, *exponent),
        };
        let fives = BigInt::from(5).pow(exponent.unsigned_abs());
        let up = i64::from(exponent) + port.frac;
        let (num, den) = if exponent >= 0 { (digits * fives, BigInt::from(1)) } else { (digits.clone(), fives) };
        // Bits above the type are dropped, so a left shift of an integer by at least the width results in zero.
        if up >= i64::from(port.kif.width()) && den == BigInt::from(1) {
            return Some(BigInt::ZERO);
        }
        let shift = up.unsigned_abs();
        let (num, den) = if up >= 0 { (num << shift, den) } else { (num, den << shift) };
        let quotient = &num / &den;
        let below = num.is_negative() && !(num % den).is_zero();
        Some(wrap(&if below { quotient - 1 } else { quotient }, port.kif))
    }

    /// Returns the number as an integer; `None` if it is not an integer.
    pub fn to_integer(&self) -> Option<BigInt> {
        match self {
            Number::Float(x) if x.fract() == 0.0 => num_traits::FromPrimitive::from_f64(*x),
            Number::Float(_) => None,
            Number::Decimal { .. } => {
                let (num, den) = self.to_fraction()?;
                (&num % &den).is_zero().then(|| num / den)
            }
        }
    }
}

impl From<BigInt> for Number {
    fn from(integer: BigInt) -> Number {
        match integer.to_f64().filter(|x| x.abs() < EXACT_INTEGERS) {
            Some(x) => Number::Float(x),
            None => Number::Decimal { digits: integer, exponent: 0 },
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Float(x) => write!(f, "{x}"),
            Number::Decimal { digits, exponent: 0 } => write!(f, "{digits}"),
            Number::Decimal { digits, exponent } => write!(f, "{digits}e{exponent}"),
        }
    }
}

/// Returns `true` if a positive float64, printed with the number of digits in `digits`, is `digits * 10^last`.
fn prints_as(x: f64, digits: &str, last: i64) -> bool {
    let printed = format!("{x:.*e}", digits.len() - 1);
    let Some((mantissa, exponent)) = printed.split_once('e') else { return false };
    let same = mantissa.bytes().filter(|&b| b != b'.').eq(digits.bytes());
    same && exponent.parse() == Ok(last + digits.len() as i64 - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alir_core::num::Kif;
    use proptest::prelude::*;

    fn float(text: &str) -> f64 {
        match Number::parse(text) {
            Ok(Number::Float(x)) => x,
            other => panic!("{text}: {other:?}"),
        }
    }

    fn decimal(text: &str) -> (String, i32) {
        match Number::parse(text) {
            Ok(Number::Decimal { digits, exponent }) => (digits.to_string(), exponent),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn code(text: &str, width: i32, frac: i32) -> String {
        let port = Port { kif: Kif { signed: true, int: width - 1 - frac, frac }, frac: frac.into() };
        Number::parse(text).unwrap().code(port).unwrap().to_string()
    }

    #[test]
    fn text_of_a_float64_is_parsed_as_that_float64() {
        for (text, expected) in [
            ("0.1", 0.1),
            ("-2.5e-3", -2.5e-3),
            ("+7", 7.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("-9007199254740991", -9007199254740991.0),
            ("9007199254740992.0", 9007199254740992.0),
            ("1e23", 1e23),
            ("1.1529215024593633e18", 1152921502459363328.0),
            ("9007199254740994.0", 9007199254740994.0),
            ("1e22", 1e22),
            ("0.30000000000000004", 0.30000000000000004),
            // A tenth as printed by numpy.savetxt, and the exact decimal expansion of its float64.
            ("1.000000000000000056e-01", 0.1),
            ("0.1000000000000000055511151231257827021181583404541015625", 0.1),
            ("5e-324", 5e-324),
            ("2.2250738585072014e-308", 2.2250738585072014e-308),
            ("0e999999999999999999999", 0.0),
            ("inf", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
        ] {
            assert_eq!(float(text).to_bits(), expected.to_bits(), "{text}");
        }
        assert!(float("NaN").is_nan());
        assert!(float("-0.0").is_sign_negative());
    }

    #[test]
    fn numbers_that_are_not_float64s_are_exact() {
        assert_eq!(decimal("9007199254740993"), ("9007199254740993".into(), 0));
        assert_eq!(decimal("-9007199254740993.000"), ("-9007199254740993000".into(), -3));
        assert_eq!(decimal("-9007199254740992"), ("-9007199254740992".into(), 0));
        assert_eq!(decimal("100000000000000000000000"), ("1".to_owned() + &"0".repeat(23), 0));
        assert_eq!(decimal("1e400"), ("1".into(), 400));
        assert_eq!(decimal("0.3000000000000000001"), ("3000000000000000001".into(), -19));
        assert_eq!(decimal("1e-400"), ("1".into(), -400));
        assert_eq!(decimal("3e-324"), ("3".into(), -324));
        assert_eq!(code("9007199254740993", 64, 0), "9007199254740993");
        assert_eq!(code("9007199254740993.75", 80, 1), "18014398509481987");
        // 5^400 is odd, so bit 400 of 10^400 is the lowest set bit.
        assert_eq!(code("1e400", 401, 0), (BigInt::from(-1) << 400u32).to_string());
        assert_eq!(code("1e400", 400, 0), "0");
        assert_eq!([code("-1e-400", 8, 0), code("1e-400", 8, 4)], ["-1", "0"]);
        assert_eq!(code("0.3000000000000000001", 80, 70), "354177486215223391145");
    }

    #[test]
    fn text_that_is_not_a_number_is_rejected() {
        for text in
            ["", "-", ".", "e5", "1e", "1e+", "1.5D0", "\"1\"", "1_000", "0x10", "١", "\u{2212}1", "1 2", "--1", "n"]
        {
            assert_eq!(Number::parse(text), Err("is not a number"), "{text}");
        }
        for text in ["1e20001", "1e-20001", "1e99999999999999999999"] {
            assert_eq!(Number::parse(text), Err("has an exponent beyond 20,000"), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_float64_reads_back(bits: u64, digits in 17usize..25) {
            let x = f64::from_bits(bits);
            prop_assume!(x.is_finite() && x.fract() != 0.0);
            for text in [format!("{x:?}"), format!("{x}"), format!("{x:.digits$e}")] {
                prop_assert_eq!(float(&text).to_bits(), bits, "{}", text);
            }
        }

        #[test]
        fn every_integer_is_exact(v: i128, zeros in 0u32..9) {
            let all = BigInt::from(v) * BigInt::from(10).pow(zeros);
            for text in [all.to_string(), format!("{all}.00"), format!("{all}e0")] {
                prop_assert_eq!(Number::parse(&text).unwrap().to_integer(), Some(all.clone()), "{}", text);
                prop_assert_eq!(Number::from(all.clone()).to_integer(), Some(all.clone()));
            }
        }

        #[test]
        fn codes_are_floors(v in -1_000_000_000_000i64..1_000_000_000_000, places in 0u32..30, frac in -20i32..60) {
            let port = Port { kif: Kif { signed: true, int: 199 - frac, frac }, frac: frac.into() };
            let number = Number::Decimal { digits: v.into(), exponent: -(places as i32) };
            let (num, den) = (BigInt::from(v) << (frac + 20), BigInt::from(10).pow(places) << 20);
            let floor = num_traits::Euclid::div_euclid(&num, &den);
            prop_assert_eq!(number.code(port), Some(floor));
            let (num, den) = number.to_fraction().unwrap();
            prop_assert_eq!(num * BigInt::from(10).pow(places), BigInt::from(v) * den);
        }
    }
}
