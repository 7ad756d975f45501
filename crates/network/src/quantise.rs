//! Types, rounding and overflow (section 1 of the contract, `docs/network.md`), shared by all front ends.

use super::exact::Rational;
use alir_core::num::{Kif, wrap};
use num_bigint::BigInt;

/// Largest magnitude of the integer and fractional bits of a type, as in ALIR programs.
const MAX_BITS_APART: i32 = 4096;

/// Rounding mode from real numbers to integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Round {
    /// Toward minus infinity (`TRN`; QONNX `FLOOR`).
    Floor,
    /// Toward plus infinity (QONNX `CEIL`).
    Ceil,
    /// Toward zero (`TRN_ZERO`; QONNX `DOWN`).
    TowardZero,
    /// Away from zero (QONNX `UP`).
    AwayFromZero,
    /// To the nearest, halves up (`RND`).
    HalfUp,
    /// To the nearest, halves down (`RND_MIN_INF`).
    HalfDown,
    /// To the nearest, halves away from zero (`RND_INF`; QONNX `HALF_UP`).
    HalfAway,
    /// To the nearest, halves toward zero (`RND_ZERO`; QONNX `HALF_DOWN`).
    HalfTowardZero,
    /// To the nearest, halves to the even neighbour (`RND_CONV`; QONNX `ROUND`, `HALF_EVEN`).
    HalfEven,
}

impl Round {
    /// Modes of types with their names, in the order of the contract's table.
    pub const NAMED: [(&'static str, Round); 7] = [
        ("TRN", Round::Floor),
        ("TRN_ZERO", Round::TowardZero),
        ("RND", Round::HalfUp),
        ("RND_CONV", Round::HalfEven),
        ("RND_INF", Round::HalfAway),
        ("RND_ZERO", Round::HalfTowardZero),
        ("RND_MIN_INF", Round::HalfDown),
    ];

    /// Returns the mode with this name (`RND_CONV`).
    pub fn parse(name: &str) -> Option<Round> {
        Round::NAMED.iter().find(|(known, _)| *known == name).map(|(_, round)| *round)
    }

    /// Returns the name in the contract's table, or `CEIL` or `UP` for the modes that types cannot have.
    pub fn name(self) -> &'static str {
        match self {
            Round::Ceil => "CEIL",
            Round::AwayFromZero => "UP",
            _ => Round::NAMED.iter().find(|(_, round)| *round == self).map_or("", |(name, _)| name),
        }
    }

    /// Returns the mode that rounds the negative of a number to the negative of this mode's result.
    pub(super) fn mirrored(self) -> Round {
        match self {
            Round::Floor => Round::Ceil,
            Round::Ceil => Round::Floor,
            Round::HalfUp => Round::HalfDown,
            Round::HalfDown => Round::HalfUp,
            other => other,
        }
    }

    /// Returns the mode that adds one summand to all numbers, and has the results of this mode for positive numbers.
    pub(super) fn for_positive(self) -> Round {
        match self {
            Round::TowardZero => Round::Floor,
            Round::AwayFromZero => Round::Ceil,
            Round::HalfAway => Round::HalfUp,
            Round::HalfTowardZero => Round::HalfDown,
            other => other,
        }
    }

    /// Returns the summands that are added before the last `dropped` bits (at least one) are dropped: the summand of a
    /// negative raw value, and the summand of any other raw value. With [`Round::HalfEven`] another 1 is added if the
    /// last remaining bit is set.
    pub(super) fn summands(self, dropped: u32) -> (BigInt, BigInt) {
        self.division_summands(&(BigInt::from(1) << dropped))
    }

    /// Returns the summands that are added before a division by a positive integer is rounded down: the summand of a
    /// negative raw value, and the summand of any other raw value. With these summands [`Round::HalfEven`] rounds ties
    /// down; an odd divisor has no ties, so that no correction is needed.
    pub(super) fn division_summands(self, divisor: &BigInt) -> (BigInt, BigInt) {
        let half: BigInt = divisor >> 1u32;
        let below_one: BigInt = divisor - 1;
        let below_half: BigInt = &below_one >> 1u32;
        match self {
            Round::Floor => (BigInt::ZERO, BigInt::ZERO),
            Round::Ceil => (below_one.clone(), below_one),
            Round::TowardZero => (below_one, BigInt::ZERO),
            Round::AwayFromZero => (BigInt::ZERO, below_one),
            Round::HalfUp => (half.clone(), half),
            Round::HalfDown | Round::HalfEven => (below_half.clone(), below_half),
            Round::HalfAway => (below_half, half),
            Round::HalfTowardZero => (half, below_half),
        }
    }
}

/// Overflow mode for a raw value beyond its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// Keeps the low bits, in two's complement if signed.
    Wrap,
    /// Saturates to the nearer end.
    Saturate,
    /// Saturates to the nearer end; the lowest raw value of a signed type is minus the highest.
    SaturateSymmetric,
    /// Results in zero.
    Zero,
}

impl Overflow {
    /// All modes with their names.
    pub const NAMED: [(&'static str, Overflow); 4] = [
        ("WRAP", Overflow::Wrap),
        ("SAT", Overflow::Saturate),
        ("SAT_SYM", Overflow::SaturateSymmetric),
        ("SAT_ZERO", Overflow::Zero),
    ];

    /// Returns the mode with this name (`SAT_SYM`).
    pub fn parse(name: &str) -> Option<Overflow> {
        Overflow::NAMED.iter().find(|(known, _)| *known == name).map(|(_, overflow)| *overflow)
    }

    /// Returns the name of the mode.
    pub fn name(self) -> &'static str {
        Overflow::NAMED.iter().find(|(_, overflow)| *overflow == self).map_or("", |(name, _)| name)
    }
}

/// A type with its rounding and overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quantiser {
    /// The type.
    pub kif: Kif,
    /// Rounding of bits below the step.
    pub round: Round,
    /// Overflow mode for values beyond the ends of the type.
    pub overflow: Overflow,
}

impl Quantiser {
    /// Returns the smallest and the largest possible raw value.
    pub fn codes(&self) -> (BigInt, BigInt) {
        let (low, high) = (self.kif.min_code(), self.kif.max_code());
        match self.overflow {
            Overflow::SaturateSymmetric if self.kif.signed => (-&high, high),
            _ => (low, high),
        }
    }

    /// Applies the overflow mode to a raw value that may be beyond the type.
    pub fn overflow(&self, code: BigInt) -> BigInt {
        let (low, high) = self.codes();
        if low <= code && code <= high {
            return code;
        }
        match self.overflow {
            Overflow::Wrap => wrap(&code, self.kif),
            Overflow::Saturate | Overflow::SaturateSymmetric => {
                if code < low {
                    low
                } else {
                    high
                }
            }
            Overflow::Zero => BigInt::ZERO,
        }
    }

    /// Returns `quantise(x)` as a raw value: `overflow(round(x * 2^f))`.
    pub fn code(&self, x: &Rational) -> BigInt {
        self.overflow(self.rounded(x))
    }

    /// Returns `round(x * 2^f)`, before overflow handling.
    pub fn rounded(&self, x: &Rational) -> BigInt {
        x.shifted(self.kif.frac.into()).round(self.round)
    }

    /// Returns `quantise(x)` as a number.
    pub fn value(&self, x: &Rational) -> Rational {
        Rational::from_code(&self.code(x), self.kif.frac.into())
    }

    /// Parses the syntax of `--input-type`: `s8.5`, `s16.10,RND_CONV` or `s16.10,RND_CONV,SAT`. The default modes are
    /// `TRN` and `WRAP`.
    ///
    /// # Errors
    /// Returns a message that describes the problem.
    pub fn parse(text: &str) -> Result<Quantiser, String> {
        let mut parts = text.split(',').map(str::trim);
        let kif = parse_type(parts.next().unwrap_or_default())?;
        let round = match parts.next() {
            Some(name) => Round::parse(name).ok_or_else(|| unknown_round(name))?,
            None => Round::Floor,
        };
        let overflow = match parts.next() {
            Some(name) => Overflow::parse(name).ok_or_else(|| unknown_overflow(name))?,
            None => Overflow::Wrap,
        };
        match parts.next() {
            None => Ok(Quantiser { kif, round, overflow }),
            Some(more) => Err(format!("{more:?} follows the overflow mode")),
        }
    }
}

/// Returns the message about an unknown rounding mode.
pub fn unknown_round(name: &str) -> String {
    format!("{name:?} is not a rounding mode; the modes are {}", Round::NAMED.map(|(name, _)| name).join(", "))
}

/// Returns the message about an unknown overflow mode.
pub fn unknown_overflow(name: &str) -> String {
    format!("{name:?} is not an overflow mode; the modes are {}", Overflow::NAMED.map(|(name, _)| name).join(", "))
}

/// Returns a type of 1 to 1024 bits from its parts.
///
/// # Errors
/// If the type exceeds the limits.
pub fn type_of(signed: bool, int: i64, frac: i64) -> Result<Kif, String> {
    let shown = || format!("[{}, {int}, {frac}]", u8::from(signed));
    let most = i64::from(MAX_BITS_APART);
    if int.checked_abs().is_none_or(|i| i > most) || frac.checked_abs().is_none_or(|f| f > most) {
        return Err(format!("the type {} goes beyond {most} bits from the point", shown()));
    }
    let width = i64::from(signed) + int + frac;
    if !(1..=1024).contains(&width) {
        return Err(format!("the type {} has {width} bits; types have 1 to 1024", shown()));
    }
    Ok(Kif { signed, int: int as i32, frac: frac as i32 })
}

/// Parses a type such as `s8.5`, `u8.5` or `s4.-2`: sign and width, fractional bits.
///
/// # Errors
/// Returns a message that describes the problem.
pub fn parse_type(text: &str) -> Result<Kif, String> {
    let wrong = || format!("{text:?} is not a type; types are \"s8.5\" or \"u8.5\": width with sign, fractional bits");
    let signed = match text.as_bytes().first() {
        Some(b's') => true,
        Some(b'u') => false,
        _ => return Err(wrong()),
    };
    let (width, frac) = text[1..].split_once('.').ok_or_else(wrong)?;
    let digits = |text: &str| !text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(width) || !digits(frac.strip_prefix('-').unwrap_or(frac)) {
        return Err(wrong());
    }
    let (width, frac): (i64, i64) = (width.parse().map_err(|_| wrong())?, frac.parse().map_err(|_| wrong())?);
    type_of(signed, width - frac - i64::from(signed), frac)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantised(text: &str, values: &[&str]) -> Vec<String> {
        let q = Quantiser::parse(text).unwrap();
        values.iter().map(|x| q.code(&Rational::parse(x).unwrap()).to_string()).collect()
    }

    #[test]
    fn type_texts() {
        assert_eq!(parse_type("s8.5"), Ok(Kif { signed: true, int: 2, frac: 5 }));
        assert_eq!(parse_type("u8.10"), Ok(Kif { signed: false, int: -2, frac: 10 }));
        assert_eq!(parse_type("s4.-2"), Ok(Kif { signed: true, int: 5, frac: -2 }));
        for bad in ["8.5", "s", "s8", "s0.0", "s1025.0", "s8.5.1", "s-8.5", "s8.+5", "s8.99999", "\u{e9}8.5", "s 8.5"] {
            assert!(parse_type(bad).is_err(), "{bad}");
        }
        assert!(type_of(true, 48, 1000).unwrap_err().contains("1049 bits"));
        assert!(type_of(true, i64::MIN, 0).is_err());
    }

    #[test]
    fn overflow_modes_at_both_ends() {
        let beyond = ["-9", "-8", "-7", "7", "8", "-25"];
        assert_eq!(quantised("s4.0", &beyond), ["7", "-8", "-7", "7", "-8", "7"]);
        assert_eq!(quantised("s4.0,TRN,SAT", &beyond), ["-8", "-8", "-7", "7", "7", "-8"]);
        assert_eq!(quantised("s4.0,TRN,SAT_SYM", &beyond), ["-7", "-7", "-7", "7", "7", "-7"]);
        assert_eq!(quantised("s4.0,TRN,SAT_ZERO", &beyond), ["0", "-8", "-7", "7", "0", "0"]);
        assert_eq!(quantised("u4.0,TRN,SAT_SYM", &["-1", "16", "15"]), ["0", "15", "15"]);
    }

    #[test]
    fn rounding_carries_into_the_overflow() {
        assert_eq!(quantised("s4.1,RND,WRAP", &["3.75"]), ["-8"]);
        assert_eq!(quantised("s4.1,RND,SAT", &["3.75"]), ["7"]);
        assert_eq!(quantised("s4.-2,RND_CONV,SAT", &["6", "10", "100"]), ["2", "2", "7"]);
    }

    #[test]
    fn errors_list_the_valid_names() {
        assert!(Quantiser::parse("s8.5,ROUND").unwrap_err().contains("RND_MIN_INF"));
        assert!(Quantiser::parse("s8.5,RND,CLIP").unwrap_err().contains("SAT_SYM"));
        assert!(Quantiser::parse("s8.5,RND,SAT,1").unwrap_err().contains("follows"));
    }
}
