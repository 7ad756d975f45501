//! Exact numbers of intervals.
//!
//! Integer literals are exact at any length. Every other literal is the nearest double, which is stored as a dyadic
//! rational, so that a step of 2^-24 or a bound of 70 bits is exact.

use super::super::json::{Number, Short};
use alir_core::num::{Code, Interval};
use num_bigint::BigInt;
use num_traits::{Signed, Zero};

/// An exact dyadic rational.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Dyadic {
    /// `mantissa * 2^exponent`, where the mantissa is odd, or both fields are zero.
    Small { mantissa: i64, exponent: i32 },
    /// An integer outside `i64`.
    Big(Box<BigInt>),
}

/// Reason for which a literal is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadNumber {
    /// Larger than the largest double.
    Overflows,
    /// An integer with more bits than any value may have.
    TooLong,
}

impl Dyadic {
    /// Returns the value of a literal. Integers may have up to `max_bits` bits.
    pub(super) fn parse(number: Number<'_>, max_bits: u32) -> Result<Dyadic, BadNumber> {
        if !number.is_integer {
            return Ok(Dyadic::from_f64(parse_f64(number)?));
        }
        if let Some(small) = parse_i64(number) {
            return Ok(Dyadic::small(small, 0));
        }
        // log2(10) > 3.32, so a literal of this length has more bits than allowed and is rejected without conversion.
        if number.text().len() as u64 * 332 / 100 > u64::from(max_bits) + 8 {
            return Err(BadNumber::TooLong);
        }
        let big = number.text().parse::<BigInt>().expect("the parser delivers an integer literal");
        Ok(Dyadic::Big(Box::new(big)))
    }

    /// Returns the value of a short literal, with or without a decimal point; `None` if the fast path does not compute
    /// the nearest double.
    pub(super) fn from_short(short: Short, is_integer: bool) -> Option<Dyadic> {
        if is_integer { Some(Dyadic::small(short.integer(), 0)) } else { f64_of_short(short).map(Dyadic::from_f64) }
    }

    /// Returns the exact value of a finite double.
    pub(super) fn from_f64(value: f64) -> Dyadic {
        let bits = value.to_bits();
        let (field, fraction) = ((bits >> 52 & 0x7ff) as i32, (bits & ((1 << 52) - 1)) as i64);
        let (magnitude, exponent) = if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
        Dyadic::small(if value < 0.0 { -magnitude } else { magnitude }, exponent)
    }

    fn small(mantissa: i64, exponent: i32) -> Dyadic {
        if mantissa == 0 {
            return Dyadic::Small { mantissa: 0, exponent: 0 };
        }
        let zeros = mantissa.trailing_zeros();
        Dyadic::Small { mantissa: mantissa >> zeros, exponent: exponent + zeros as i32 }
    }

    /// Returns `-log2(self)`; `None` if the logarithm is not an integer.
    fn frac_of_step(&self) -> Option<i32> {
        match self {
            Dyadic::Small { mantissa: 1, exponent } => Some(-exponent),
            Dyadic::Small { .. } => None,
            Dyadic::Big(v) => {
                let zeros = v.trailing_zeros()?;
                (v.is_positive() && zeros + 1 == v.bits()).then(|| -i32::try_from(zeros).unwrap_or(i32::MAX))
            }
        }
    }

    /// Returns `self * 2^frac`; `None` if the product is not an integer.
    fn code(&self, frac: i32) -> Option<Code> {
        match self {
            Dyadic::Small { mantissa: 0, .. } => Some(Code::ZERO),
            Dyadic::Small { mantissa, exponent } => {
                let up = u32::try_from(i64::from(*exponent) + i64::from(frac)).ok()?;
                // The redundant sign bits bound the shift.
                let room = if *mantissa < 0 { mantissa.leading_ones() } else { mantissa.leading_zeros() };
                Some(if up < room { Code::from(mantissa << up) } else { Code::from(BigInt::from(*mantissa) << up) })
            }
            Dyadic::Big(v) if frac >= 0 => Some(Code::from(&**v << frac as u32)),
            Dyadic::Big(v) => {
                let down = u64::from(frac.unsigned_abs());
                v.trailing_zeros().is_some_and(|zeros| zeros >= down).then(|| Code::from(&**v >> down))
            }
        }
    }

    fn is_zero(&self) -> bool {
        match self {
            Dyadic::Small { mantissa, .. } => *mantissa == 0,
            Dyadic::Big(v) => v.is_zero(),
        }
    }
}

impl std::fmt::Display for Dyadic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Dyadic::Big(v) if v.bits() > 256 => write!(f, "(an integer of {} bits)", v.bits()),
            Dyadic::Big(v) => v.fmt(f),
            // Exact: the number is an i64 or a double.
            Dyadic::Small { mantissa, exponent } if *exponent >= 0 && *exponent < 64 => {
                (i128::from(*mantissa) << exponent).fmt(f)
            }
            // In two steps: `powi` computes 2^-1074, a double, as the inverse of 2^1074, which is not a double.
            Dyadic::Small { mantissa, exponent } => {
                let half = exponent / 2;
                write!(f, "{:?}", *mantissa as f64 * 2f64.powi(half) * 2f64.powi(exponent - half))
            }
        }
    }
}

/// Returns the nearest double of a literal, which must be finite.
pub(super) fn parse_f64(number: Number<'_>) -> Result<f64, BadNumber> {
    if let Some(value) = number.short.and_then(f64_of_short) {
        return Ok(value);
    }
    // The standard library rounds correctly. Its errors are syntax errors, which the parser has excluded.
    let value: f64 = number.text().parse().expect("the parser delivers a number");
    if value.is_finite() { Ok(value) } else { Err(BadNumber::Overflows) }
}

/// Returns the nearest double of a short literal if one division computes it.
pub(super) fn f64_of_short(short: Short) -> Option<f64> {
    const MAX_EXACT: i64 = 1 << 53;
    // Both operands are exact doubles (10^18 is 5^18 * 2^18, and 5^18 has 42 bits), so the quotient is rounded once.
    (short.mantissa <= MAX_EXACT).then(|| {
        let magnitude = short.mantissa as f64;
        let value = if short.places == 0 { magnitude } else { magnitude / POWERS_OF_TEN[usize::from(short.places)] };
        if short.negative { -value } else { value }
    })
}

const POWERS_OF_TEN: [f64; 19] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];

/// Returns the value of an integer literal; `None` if it does not fit.
pub(super) fn parse_i64(number: Number<'_>) -> Option<i64> {
    match number.short {
        Some(short) if number.is_integer => Some(short.integer()),
        _ => number.text().parse().ok(),
    }
}

/// Invalid part of an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BadInterval {
    Step(String),
    Order(String),
    Min(String),
    Max(String),
}

/// Returns the interval from `min` to `max` in steps of `step`.
pub(super) fn interval(min: &Dyadic, max: &Dyadic, step: &Dyadic) -> Result<Interval, BadInterval> {
    let Some(frac) = step.frac_of_step() else {
        return Err(BadInterval::Step(format!("step {step} is not a positive power of two")));
    };
    let multiple = |bound: &Dyadic, name: &str| {
        bound.code(frac).ok_or_else(|| format!("{name} {bound} is not a multiple of step {step}"))
    };
    let lo = multiple(min, "min").map_err(BadInterval::Min)?;
    let hi = multiple(max, "max").map_err(BadInterval::Max)?;
    if lo > hi {
        return Err(BadInterval::Order(format!("min {min} is above max {max}")));
    }
    debug_assert!(!min.is_zero() || lo.is_zero());
    Ok(Interval { min: lo, max: hi, frac })
}

#[cfg(test)]
mod tests {
    use super::super::super::json::Json;
    use super::super::super::source::Source;
    use super::*;

    /// Passes the parsed form of a literal to a function.
    fn with_number<T>(text: &str, then: impl FnOnce(Number<'_>) -> T) -> T {
        let text = format!("[{text}]");
        let mut json = Json::new(Source::new(text.as_bytes(), 1 << 20).unwrap()).unwrap();
        json.begin_array().unwrap();
        json.element(&mut true).unwrap();
        then(json.number().unwrap())
    }

    fn try_dyadic(text: &str, max_bits: u32) -> Result<Dyadic, BadNumber> {
        with_number(text, |number| Dyadic::parse(number, max_bits))
    }

    fn dyadic(text: &str) -> Dyadic {
        try_dyadic(text, 65_536).unwrap()
    }

    #[test]
    fn short_literals_are_the_nearest_double_too() {
        let mut state = 1u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let digits = (state >> 10).to_string();
            let digits = &digits[..1 + (state % digits.len() as u64) as usize];
            let point = (state >> 40) as usize % digits.len() + 1;
            let (whole, rest) = digits.split_at(point);
            let text = if rest.is_empty() { whole.to_owned() } else { format!("-{whole}.{rest}") };
            assert_eq!(with_number(&text, parse_f64), Ok(text.parse().unwrap()), "{text}");
        }
    }

    fn parsed(min: &str, max: &str, step: &str) -> Result<Interval, BadInterval> {
        interval(&dyadic(min), &dyadic(max), &dyadic(step))
    }

    #[test]
    fn powers_of_two_are_exact() {
        for exponent in -1074..1024 {
            let value = 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
            let expected = Dyadic::Small { mantissa: 1, exponent };
            assert_eq!(Dyadic::from_f64(value), expected);
            assert_eq!(dyadic(&format!("{value:e}")), expected, "{value:e}");
        }
    }

    #[test]
    fn integers_are_exact_and_floats_are_the_nearest_double() {
        // 2^53 + 1 is an integer, but not a double.
        let odd = parsed("9007199254740993", "9007199254740993", "1").unwrap();
        assert_eq!(odd.min, Code::from(9_007_199_254_740_993));
        let even = parsed("9007199254740993.0", "9007199254740993.0", "1").unwrap();
        assert_eq!(even.min, Code::from(9_007_199_254_740_992));
        let wide = parsed("-1180591620717411303425", "0", "1.0").unwrap();
        assert_eq!(wide.min, Code::from(-(BigInt::from(1) << 70u32) - 1));
        // The step matters: 2^70 divided by 2^69 is 2.
        let coarse = parsed("0", "1180591620717411303424", "590295810358705651712").unwrap();
        assert_eq!((coarse.max, coarse.frac), (Code::from(2), -69));
    }

    #[test]
    fn shifts_use_all_sign_bits() {
        let tight = parsed("-9223372036854775808", "9223372036854775807", "1").unwrap();
        assert_eq!((tight.min, tight.max), (Code::from(i64::MIN), Code::from(i64::MAX)));
        let over = parsed("-4611686018427387904", "4611686018427387904", "0.5").unwrap();
        assert_eq!(over.min, Code::from(i64::MIN));
        assert_eq!(over.max, Code::from(BigInt::from(1) << 63u32));
    }

    #[test]
    fn errors_name_the_invalid_part_of_an_interval() {
        assert_eq!(
            parsed("0", "1", "3").unwrap_err(),
            BadInterval::Step("step 3 is not a positive power of two".into())
        );
        assert!(matches!(parsed("0", "1", "-2").unwrap_err(), BadInterval::Step(_)));
        assert!(matches!(parsed("0", "1", "0").unwrap_err(), BadInterval::Step(_)));
        assert!(matches!(parsed("0", "1", "1180591620717411303425").unwrap_err(), BadInterval::Step(_)));
        assert_eq!(parsed("2", "1", "1").unwrap_err(), BadInterval::Order("min 2 is above max 1".into()));
        let min = parsed("-0.3", "1", "0.25").unwrap_err();
        assert_eq!(min, BadInterval::Min("min -0.3 is not a multiple of step 0.25".into()));
        assert!(matches!(parsed("0", "1180591620717411303425", "2").unwrap_err(), BadInterval::Max(_)));
    }

    #[test]
    fn numbers_that_overflow_are_rejected() {
        assert_eq!(try_dyadic("1e309", 100), Err(BadNumber::Overflows));
        assert_eq!(try_dyadic(&"9".repeat(100), 100), Err(BadNumber::TooLong));
        assert_eq!(with_number(&"9".repeat(400), parse_f64), Err(BadNumber::Overflows));
        assert_eq!(dyadic("-0.0"), Dyadic::Small { mantissa: 0, exponent: 0 });
    }
}
