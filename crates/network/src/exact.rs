//! Exact rational numbers.
//!
//! All values of a network are rational: weights are dyadic; decimals of a quantisation file and quotients by scales
//! may not be dyadic. Operations are exact except [`Rational::to_f64`], [`Rational::sqrt_to_f64`] (both round to
//! nearest, ties to even) and [`Rational::round`].

use super::quantise::Round;
use alir_interp::samples::Number;
use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};

/// Largest length and exponent of a decimal: more than any real file needs, without exhausting memory.
const MAX_DECIMAL: i64 = 20_000;

/// A rational number `num * 2^exp / den` in lowest terms.
///
/// The power of two is stored separately, so that sums and products of dyadic numbers (the usual case) need no greatest
/// common divisor. The representation is canonical (`num` and `den` odd, zero is `0 * 2^0 / 1`), so that equality is
/// structural.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Rational {
    num: BigInt,
    exp: i64,
    den: BigUint,
}

impl Rational {
    /// Returns zero.
    pub fn zero() -> Rational {
        Rational { num: BigInt::ZERO, exp: 0, den: BigUint::one() }
    }

    /// Returns one.
    pub fn one() -> Rational {
        Rational { num: BigInt::one(), exp: 0, den: BigUint::one() }
    }

    /// Returns the value of a raw integer value: `code * 2^-frac`.
    pub fn from_code(code: &BigInt, frac: i64) -> Rational {
        Rational::dyadic(code.clone(), -frac)
    }

    /// Returns `num * 2^exp`.
    fn dyadic(num: BigInt, exp: i64) -> Rational {
        let Some(zeros) = num.trailing_zeros() else { return Rational::zero() };
        let num = if zeros == 0 { num } else { num >> zeros };
        Rational { num, exp: exp + zeros as i64, den: BigUint::one() }
    }

    /// Returns `num / den`; `None` if `den` is zero.
    pub fn new(num: BigInt, den: &BigInt) -> Option<Rational> {
        let zeros = den.trailing_zeros()?;
        let num = if den.is_negative() { -num } else { num };
        Some(Rational::reduced(num, -(zeros as i64), den.magnitude() >> zeros))
    }

    /// Returns `num * 2^exp / den` in lowest terms; `den` is odd.
    fn reduced(num: BigInt, exp: i64, den: BigUint) -> Rational {
        let Rational { num, exp, .. } = Rational::dyadic(num, exp);
        if den.is_one() || num.is_zero() {
            return Rational { num, exp, den: BigUint::one() };
        }
        let common = num.magnitude().gcd(&den);
        if common.is_one() {
            return Rational { num, exp, den };
        }
        Rational { num: num / BigInt::from(common.clone()), exp, den: den / common }
    }

    /// Returns the value of a finite double; `None` for NaN and the infinities.
    pub fn from_f64(x: f64) -> Option<Rational> {
        if !x.is_finite() {
            return None;
        }
        let bits = x.to_bits();
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, exp) = match (bits >> 52) & 0x7ff {
            0 => (fraction, -1074),
            e => (fraction | 1 << 52, e as i64 - 1075),
        };
        let mantissa = BigInt::from(mantissa);
        Some(Rational::dyadic(if x < 0.0 { -mantissa } else { mantissa }, exp))
    }

    /// Parses a decimal (`-12`, `0.7071`, `1e-6`) or a fraction of two decimals (`3/4`) exactly. Returns `None` for
    /// other strings, and for more than 20,000 digits.
    pub fn parse(text: &str) -> Option<Rational> {
        if let Some((num, den)) = text.split_once('/') {
            let (num, den) = (Rational::parse_decimal(num.trim())?, Rational::parse_decimal(den.trim())?);
            return num.checked_div(&den);
        }
        Rational::parse_decimal(text)
    }

    /// Returns the value of a number of a sample; `None` for NaN and the infinities.
    pub fn from_number(number: &Number) -> Option<Rational> {
        match number {
            Number::Float(x) => Rational::from_f64(*x),
            Number::Decimal { .. } => number.to_fraction().and_then(|(num, den)| Rational::new(num, &den)),
        }
    }

    /// Parses a decimal (`-12`, `0.7071`, `1e-6`), but not a fraction; see [`Rational::parse`].
    pub fn parse_decimal(text: &str) -> Option<Rational> {
        if text.len() as i64 > MAX_DECIMAL {
            return None;
        }
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (negative, digits) = match mantissa.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let num: BigInt = digits.parse().ok()?;
        let places = fraction.len() as i64;
        let ten_to = exponent.checked_sub(places).filter(|e| e.abs() <= MAX_DECIMAL)?;
        let power = BigInt::from(5).pow(ten_to.unsigned_abs() as u32);
        let num = if negative { -num } else { num };
        Some(match ten_to >= 0 {
            true => Rational::dyadic(num * power, ten_to),
            false => Rational::reduced(num, ten_to, power.magnitude().clone()),
        })
    }

    /// Returns `true` if the value is zero.
    pub fn is_zero(&self) -> bool {
        self.num.is_zero()
    }

    /// Returns `true` if the value is below zero.
    pub fn is_negative(&self) -> bool {
        self.num.is_negative()
    }

    /// Returns `true` if the value is an integer.
    pub fn is_integer(&self) -> bool {
        self.den.is_one() && self.exp >= 0
    }

    /// Returns `true` if the value times some power of two is an integer.
    pub fn is_dyadic(&self) -> bool {
        self.den.is_one()
    }

    /// Returns the exponent of a power of two; `None` for other values.
    pub fn log2(&self) -> Option<i64> {
        (self.den.is_one() && self.num.is_one()).then_some(self.exp)
    }

    /// Returns the least `frac` for which `self * 2^frac` is an integer, 0 for zero; `None` if the value is not dyadic.
    pub fn frac(&self) -> Option<i64> {
        self.den.is_one().then_some(-self.exp)
    }

    /// Returns the raw integer value `self * 2^frac`; `None` if the result is not an integer.
    pub fn code(&self, frac: i64) -> Option<BigInt> {
        let shift = self.exp + frac;
        (self.den.is_one() && (shift >= 0 || self.num.is_zero())).then(|| &self.num << shift.max(0) as u64)
    }

    /// Returns the numerator of the reduced fraction.
    pub fn numerator(&self) -> BigInt {
        &self.num << self.exp.max(0) as u64
    }

    /// Returns the denominator of the reduced fraction; positive.
    pub fn denominator(&self) -> BigInt {
        BigInt::from_biguint(Sign::Plus, &self.den << (-self.exp).max(0) as u64)
    }

    /// Returns `self * 2^shift`.
    #[must_use]
    pub fn shifted(&self, shift: i64) -> Rational {
        if self.is_zero() {
            return self.clone();
        }
        Rational { num: self.num.clone(), exp: self.exp + shift, den: self.den.clone() }
    }

    /// Returns `self / divisor`; `None` if the divisor is zero.
    pub fn checked_div(&self, divisor: &Rational) -> Option<Rational> {
        if divisor.is_zero() {
            return None;
        }
        let sign = if divisor.is_negative() { -1 } else { 1 };
        let num = &self.num * BigInt::from_biguint(Sign::Plus, divisor.den.clone()) * sign;
        Some(Rational::reduced(num, self.exp - divisor.exp, &self.den * divisor.num.magnitude()))
    }

    /// Returns the absolute value.
    #[must_use]
    pub fn abs(&self) -> Rational {
        if self.is_negative() { -self } else { self.clone() }
    }

    /// Returns the largest integer that is not above the value.
    pub fn floor(&self) -> BigInt {
        if self.exp >= 0 {
            let num = &self.num << self.exp as u64;
            return if self.den.is_one() { num } else { num.div_floor(&self.big_den()) };
        }
        // The floor of a quotient may be computed in two steps: first by the power of two, then by `den`.
        let num = &self.num >> (-self.exp) as u64;
        if self.den.is_one() { num } else { num.div_floor(&self.big_den()) }
    }

    /// Returns the smallest integer that is not below the value.
    pub fn ceil(&self) -> BigInt {
        -(-self).floor()
    }

    fn big_den(&self) -> BigInt {
        BigInt::from_biguint(Sign::Plus, self.den.clone())
    }

    /// Rounds the value to an integer.
    pub fn round(&self, round: Round) -> BigInt {
        if self.is_integer() {
            return self.numerator();
        }
        let half = Rational { num: BigInt::one(), exp: -1, den: BigUint::one() };
        let up = |x: &Rational| (x + &half).floor();
        let down = |x: &Rational| (x - &half).ceil();
        match round {
            Round::Floor => self.floor(),
            Round::Ceil => self.ceil(),
            Round::TowardZero if self.is_negative() => self.ceil(),
            Round::TowardZero => self.floor(),
            Round::AwayFromZero if self.is_negative() => self.floor(),
            Round::AwayFromZero => self.ceil(),
            Round::HalfUp => up(self),
            Round::HalfDown => down(self),
            Round::HalfAway if self.is_negative() => down(self),
            Round::HalfAway => up(self),
            Round::HalfTowardZero if self.is_negative() => up(self),
            Round::HalfTowardZero => down(self),
            Round::HalfEven => {
                let (high, low) = (up(self), down(self));
                // Both results differ only at a tie, where one of them is even.
                if high.is_even() { high } else { low }
            }
        }
    }

    /// Returns the nearest binary64, ties to even; infinity if the value is too large.
    pub fn to_f64(&self) -> f64 {
        if self.is_zero() {
            return 0.0;
        }
        // At least 66 bits of the quotient, so that the remainder only matters as a sticky bit.
        let shift = (self.den.bits() + 66).saturating_sub(self.num.bits());
        let (quotient, rest) = (self.num.magnitude() << shift).div_rem(&self.den);
        let exp = self.exp.saturating_sub(shift as i64);
        let magnitude = f64_of(quotient, exp, !rest.is_zero());
        if self.is_negative() { -magnitude } else { magnitude }
    }

    /// Returns the binary64 nearest to the square root, ties to even; `None` for a negative value.
    pub fn sqrt_to_f64(&self) -> Option<f64> {
        if self.is_negative() {
            return None;
        }
        if self.is_zero() {
            return Some(0.0);
        }
        // sqrt(num / den * 2^exp) with an even exponent and a quotient of at least 140 bits.
        let mut shift = (self.den.bits() + 140).saturating_sub(self.num.bits()) as i64;
        if (self.exp - shift) % 2 != 0 {
            shift += 1;
        }
        let (quotient, rest) = (self.num.magnitude() << shift as u64).div_rem(&self.den);
        let root = quotient.sqrt();
        let sticky = !rest.is_zero() || &root * &root != quotient;
        Some(f64_of(root, (self.exp - shift) / 2, sticky))
    }

    /// Formats the exact fraction, as `3/1024` or `5`.
    pub fn to_fraction(&self) -> String {
        let den = self.denominator();
        if den.is_one() { self.numerator().to_string() } else { format!("{}/{den}", self.numerator()) }
    }
}

/// Returns the double nearest to `mantissa * 2^exp`; with `sticky`, the double nearest to a number that is above
/// `mantissa * 2^exp` by less than one unit of `mantissa`. With `sticky`, `mantissa` has more than 64 bits.
fn f64_of(mantissa: BigUint, exp: i64, sticky: bool) -> f64 {
    let bits = mantissa.bits() as i64;
    // Exponent of the leading bit; 53 bits are kept from there, fewer for subnormal numbers.
    let top = exp.saturating_add(bits - 1);
    if top > 1023 {
        return f64::INFINITY;
    }
    let lowest = (top - 52).max(-1074);
    let drop = lowest - exp;
    if drop <= 0 {
        let kept = (mantissa << (-drop) as u64).to_u64().expect("53 bits at most");
        return scaled(kept, lowest);
    }
    let drop = drop as u64;
    let kept = (&mantissa >> drop).to_u64().expect("53 bits at most");
    let half = mantissa.bit(drop - 1);
    let below = sticky || mantissa.trailing_zeros().is_some_and(|zeros| zeros < drop - 1);
    let up = half && (below || kept % 2 == 1);
    scaled(kept + u64::from(up), lowest)
}

/// Returns `kept * 2^exp`, which is exact for `kept` at most `2^53` and `exp` at least -1074.
fn scaled(kept: u64, exp: i64) -> f64 {
    // Two factors: 2^-1074 and 2^971 are doubles, and the product is exact.
    let power = |e: i64| {
        if e >= -1022 { f64::from_bits(((e + 1023) as u64) << 52) } else { f64::from_bits(1 << (e + 1074)) }
    };
    kept as f64 * power(exp.clamp(-1074, 1023))
}

impl From<i64> for Rational {
    fn from(v: i64) -> Rational {
        Rational::dyadic(BigInt::from(v), 0)
    }
}

impl From<BigInt> for Rational {
    fn from(v: BigInt) -> Rational {
        Rational::dyadic(v, 0)
    }
}

impl Add for &Rational {
    type Output = Rational;

    fn add(self, other: &Rational) -> Rational {
        if self.is_zero() {
            return other.clone();
        }
        if other.is_zero() {
            return self.clone();
        }
        let exp = self.exp.min(other.exp);
        let scaled = |x: &Rational, by: &BigUint| {
            let num = &x.num << (x.exp - exp) as u64;
            if by.is_one() { num } else { num * BigInt::from_biguint(Sign::Plus, by.clone()) }
        };
        if self.den == other.den {
            let one = BigUint::one();
            return Rational::reduced(scaled(self, &one) + scaled(other, &one), exp, self.den.clone());
        }
        Rational::reduced(scaled(self, &other.den) + scaled(other, &self.den), exp, &self.den * &other.den)
    }
}

impl Neg for &Rational {
    type Output = Rational;

    fn neg(self) -> Rational {
        Rational { num: -&self.num, exp: self.exp, den: self.den.clone() }
    }
}

impl Sub for &Rational {
    type Output = Rational;

    fn sub(self, other: &Rational) -> Rational {
        self + &-other
    }
}

impl Mul for &Rational {
    type Output = Rational;

    fn mul(self, other: &Rational) -> Rational {
        let num = &self.num * &other.num;
        if num.is_zero() {
            return Rational::zero();
        }
        let exp = self.exp + other.exp;
        if self.den.is_one() && other.den.is_one() {
            // The product of two odd numbers is odd.
            return Rational { num, exp, den: BigUint::one() };
        }
        Rational::reduced(num, exp, &self.den * &other.den)
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Rational) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Rational) -> Ordering {
        (self - other).num.sign().cmp(&Sign::NoSign)
    }
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_fraction())
    }
}

impl fmt::Debug for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_fraction())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn r(text: &str) -> Rational {
        Rational::parse(text).unwrap()
    }

    #[test]
    fn decimals_and_fractions_are_parsed_exactly() {
        assert_eq!(r("0.7071").to_fraction(), "7071/10000");
        assert_eq!(r("-1.5e3").to_fraction(), "-1500");
        assert_eq!(r("1e-6").to_fraction(), "1/1000000");
        assert_eq!(r("6/-8").to_fraction(), "-3/4");
        assert_eq!(r(".5"), r("1/2"));
        for bad in ["", ".", "-", "1e", "1e999999999", "nan", "1/0", "0x10", "1 2", "--1"] {
            assert_eq!(Rational::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn rounding_of_halves() {
        use Round::*;
        let table = [
            (Floor, [-3, -2, -1, 0, 1, 2]),
            (Ceil, [-2, -1, 0, 1, 2, 3]),
            (TowardZero, [-2, -1, 0, 0, 1, 2]),
            (AwayFromZero, [-3, -2, -1, 1, 2, 3]),
            (HalfUp, [-2, -1, 0, 1, 2, 3]),
            (HalfDown, [-3, -2, -1, 0, 1, 2]),
            (HalfAway, [-3, -2, -1, 1, 2, 3]),
            (HalfTowardZero, [-2, -1, 0, 0, 1, 2]),
            (HalfEven, [-2, -2, 0, 0, 2, 2]),
        ];
        for (mode, expected) in table {
            let found = ["-5/2", "-3/2", "-1/2", "1/2", "3/2", "5/2"].map(|x| r(x).round(mode));
            assert_eq!(found, expected.map(BigInt::from), "{mode:?}");
        }
    }

    #[test]
    fn half_modes_round_other_values_to_the_nearest() {
        use Round::*;
        for mode in [HalfUp, HalfDown, HalfAway, HalfTowardZero, HalfEven] {
            let found = ["-5/3", "-4/3", "1/3", "2/3", "7/3"].map(|x| r(x).round(mode));
            assert_eq!(found, [-2, -1, 0, 1, 2].map(BigInt::from), "{mode:?}");
        }
    }

    #[test]
    fn nearest_doubles_at_the_edges() {
        assert_eq!(r("1/3").to_f64(), 1.0 / 3.0);
        assert_eq!(r("0.1").to_f64(), 0.1);
        assert_eq!(Rational::from_f64(5e-324).unwrap().to_f64(), 5e-324);
        assert_eq!(Rational::from_f64(5e-324).unwrap().shifted(-1).to_f64(), 0.0);
        assert_eq!((&Rational::from_f64(5e-324).unwrap() * &r("0.51")).to_f64(), 5e-324);
        assert_eq!(Rational::from_f64(f64::MAX).unwrap().to_f64(), f64::MAX);
        assert_eq!(Rational::one().shifted(1024).to_f64(), f64::INFINITY);
        // 2^53 + 1 is halfway between two doubles, and a tie goes to the even double.
        assert_eq!(Rational::from((1i64 << 53) + 1).to_f64(), 9007199254740992.0);
        assert_eq!(Rational::from((1i64 << 53) + 3).to_f64(), 9007199254740996.0);
    }

    #[test]
    fn square_roots_are_the_nearest_doubles() {
        assert_eq!(r("2").sqrt_to_f64(), Some(2f64.sqrt()));
        assert_eq!(r("9/16").sqrt_to_f64(), Some(0.75));
        assert_eq!(r("0").sqrt_to_f64(), Some(0.0));
        assert_eq!(r("-1").sqrt_to_f64(), None);
    }

    proptest! {
        #[test]
        fn doubles_survive(bits: u64) {
            let x = f64::from_bits(bits);
            prop_assume!(x.is_finite());
            prop_assert_eq!(Rational::from_f64(x).unwrap().to_f64(), x);
        }

        /// The library's square root of a double is correctly rounded too (IEEE 754).
        #[test]
        fn roots_of_doubles(bits: u64) {
            let x = f64::from_bits(bits & !(1 << 63));
            prop_assume!(x.is_finite());
            prop_assert_eq!(Rational::from_f64(x).unwrap().sqrt_to_f64(), Some(x.sqrt()));
        }

        /// Quotient, sum and product of doubles are correctly rounded, too.
        #[test]
        fn arithmetic_of_doubles(a in -1e9f64..1e9, b in -1e9f64..1e9) {
            let (x, y) = (Rational::from_f64(a).unwrap(), Rational::from_f64(b).unwrap());
            prop_assert_eq!((&x + &y).to_f64(), a + b);
            prop_assert_eq!((&x - &y).to_f64(), a - b);
            prop_assert_eq!((&x * &y).to_f64(), a * b);
            if b != 0.0 {
                prop_assert_eq!(x.checked_div(&y).unwrap().to_f64(), a / b);
            }
            prop_assert_eq!(x.cmp(&y), a.partial_cmp(&b).unwrap());
        }

        #[test]
        fn fractions_obey_the_laws(a in -999i64..999, b in 1i64..99, c in -999i64..999, d in 1i64..99) {
            let x = Rational::new(a.into(), &b.into()).unwrap();
            let y = Rational::new(c.into(), &d.into()).unwrap();
            let expected = |num: i64, den: i64| Rational::new(num.into(), &den.into()).unwrap();
            prop_assert_eq!(&x + &y, expected(a * d + c * b, b * d));
            prop_assert_eq!(&x * &y, expected(a * c, b * d));
            prop_assert_eq!(&(&x + &y) - &y, x.clone());
            prop_assert_eq!(x.floor(), BigInt::from(a.div_euclid(b)));
            prop_assert_eq!(Rational::parse(&x.to_fraction()), Some(x.clone()));
            prop_assert_eq!(x.numerator(), BigInt::from(a / num_integer::gcd(a, b)));
        }
    }
}
