//! Correctly rounded cosine and sine of rotary embeddings, for angles `p * theta^(-2 i / d)`.
//!
//! At position 0 the angle is 0. At any other position it is a positive algebraic number, so that cosine and sine are
//! irrational and no ties occur: the precision of an interval is doubled until both bounds round to the same value.

use super::exact::Rational;
use super::function::Functions;
use super::quantise::Quantiser;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed};

/// Largest precision in bits.
const MOST_BITS: u32 = 16_384;

/// Largest absolute value of the binary logarithm of a base.
const MAX_LOG2: i64 = 20_000;

/// Rotation angle of one pair of elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Angle {
    /// Position of the token.
    pub position: u64,
    /// Base, positive.
    pub theta: Rational,
    /// Index of the pair.
    pub pair: u64,
    /// Number of elements of a head.
    pub head_dim: u64,
}

impl Angle {
    /// Returns the angle in radians, as a binary64 approximation.
    pub fn approximate(&self) -> f64 {
        self.position as f64 * self.theta.to_f64().powf(-2.0 * self.pair as f64 / self.head_dim as f64)
    }

    /// Returns the raw integer values of the quantised cosine and sine.
    ///
    /// # Errors
    /// If the magnitude of the base is not supported, or the largest precision does not decide a rounding.
    pub fn codes(&self, functions: &mut Functions, quantiser: &Quantiser) -> Result<(BigInt, BigInt), String> {
        if self.position == 0 {
            return Ok((quantiser.code(&Rational::one()), quantiser.code(&Rational::zero())));
        }
        let magnitude = self.theta.numerator().bits() as i64 - self.theta.denominator().bits() as i64;
        if magnitude.abs() > MAX_LOG2 {
            return Err(format!("a base near 2^{magnitude}; bases from 2^-{MAX_LOG2} to 2^{MAX_LOG2} are supported"));
        }
        let mut bits = 64;
        while bits <= MOST_BITS {
            let (cos, sin) = self.enclose(functions, bits, magnitude);
            let code = |range: &Range| {
                let low = quantiser.rounded(&Rational::from_code(&range.low, range.work.into()));
                let high = quantiser.rounded(&Rational::from_code(&range.high, range.work.into()));
                (low == high).then(|| quantiser.overflow(low))
            };
            if let (Some(cos), Some(sin)) = (code(&cos), code(&sin)) {
                return Ok((cos, sin));
            }
            bits *= 2;
        }
        Err(format!("a rotation at position {} is not decided with {MOST_BITS} bits", self.position))
    }

    /// Returns intervals of cosine and sine, of width near `2^-bits`. `magnitude` is approximately the binary logarithm
    /// of the base.
    fn enclose(&self, functions: &mut Functions, bits: u32, magnitude: i64) -> (Range, Range) {
        // Integer bits of the angle; a base below one gives large angles.
        let whole = 26 + u32::try_from((-magnitude).max(0) + 2).expect("the magnitude is limited");
        let work = bits + whole + 48;
        let pairs = BigInt::from(2 * self.pair);
        let exponent = logarithm(functions, &self.theta, work).times(&-pairs).divided_by(&self.head_dim.into());
        let mut power = |code: &BigInt| functions.exp_bounds(&Rational::from_code(code, work.into()), work);
        let (low, high) = (power(&exponent.low).0, power(&exponent.high).1);
        let position = Rational::from(BigInt::from(self.position));
        let angle = Range {
            low: (&low * &position).shifted(work.into()).floor(),
            high: (&high * &position).shifted(work.into()).ceil(),
            work,
        };
        let (pi_low, pi_high) = functions.pi_bounds(work);
        let quarter = Range { low: pi_low, high: pi_high, work }.halved();
        let middle: BigInt = &angle.low + &quarter.low / 2;
        let turns = middle.div_floor(&quarter.low);
        let reduced = angle.minus(&quarter.times(&turns));
        let (cos, sin) = cos_sin(&reduced);
        match u8::try_from(turns.mod_floor(&BigInt::from(4))).unwrap_or(0) {
            0 => (cos, sin),
            1 => (sin.negated(), cos),
            2 => (cos.negated(), sin.negated()),
            _ => (sin, cos.negated()),
        }
    }
}

/// A closed interval of multiples of `2^-work`; every operation rounds outward.
#[derive(Clone, Debug)]
struct Range {
    low: BigInt,
    high: BigInt,
    work: u32,
}

impl Range {
    /// Returns the product with an integer.
    fn times(&self, factor: &BigInt) -> Range {
        let (a, b) = (&self.low * factor, &self.high * factor);
        let (low, high) = if a <= b { (a, b) } else { (b, a) };
        Range { low, high, work: self.work }
    }

    /// Returns the quotient by a positive integer.
    fn divided_by(&self, n: &BigInt) -> Range {
        Range { low: self.low.div_floor(n), high: self.high.div_ceil(n), work: self.work }
    }

    fn halved(&self) -> Range {
        self.divided_by(&2.into())
    }

    fn plus(&self, other: &Range) -> Range {
        Range { low: &self.low + &other.low, high: &self.high + &other.high, work: self.work }
    }

    fn minus(&self, other: &Range) -> Range {
        self.plus(&other.negated())
    }

    fn negated(&self) -> Range {
        Range { low: -&self.high, high: -&self.low, work: self.work }
    }
}

/// Returns `ln x`, computed as `e ln 2 + 2 artanh((m - 1) / (m + 1))` for `x = m 2^e` with `m` near 1.
fn logarithm(functions: &mut Functions, x: &Rational, work: u32) -> Range {
    let exp = x.numerator().bits() as i64 - x.denominator().bits() as i64;
    let m = x.shifted(-exp);
    let ratio = (&m - &Rational::one()).checked_div(&(&m + &Rational::one())).expect("the number is positive");
    let z = ratio.shifted(work.into()).floor();
    let square = (&z * &z) >> work;
    let (mut power, mut sum, mut k) = (z.clone(), BigInt::ZERO, 0u32);
    while power.magnitude().bits() > 1 {
        sum += &power / (2 * k + 1);
        power = (&power * &square) >> work;
        k += 1;
    }
    // |z| is at most 1/3: the error of each term is below 4, and the rest of the series is below the last power.
    let slack = BigInt::from(8 * k + 16);
    let series = Range { low: &sum - &slack, high: sum + slack, work }.times(&2.into());
    let (low, high) = functions.ln2_bounds(work);
    Range { low, high, work }.times(&exp.into()).plus(&series)
}

/// Returns cosine and sine of a narrow interval within -1 to 1, by the Taylor series at its lower bound. The width of
/// the interval is added to the error, because neither function changes faster than its argument.
fn cos_sin(x: &Range) -> (Range, Range) {
    let (work, one) = (x.work, BigInt::one() << x.work);
    let (mut cos, mut sin, mut term, mut k) = (BigInt::ZERO, BigInt::ZERO, one, 0u32);
    while term.magnitude().bits() > 1 {
        match k % 4 {
            0 => cos += &term,
            1 => sin += &term,
            2 => cos -= &term,
            _ => sin -= &term,
        }
        k += 1;
        term = ((&term * &x.low) >> work) / k;
    }
    // Each term is off by less than 3, and the rest of the series is below twice the last term.
    let slack = BigInt::from(4 * k + 16) + (&x.high - &x.low).abs();
    let around = |middle: BigInt| Range { low: &middle - &slack, high: middle + &slack, work };
    (around(cos), around(sin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantise::{Overflow, Round};
    use alir_core::num::Kif;
    use num_traits::ToPrimitive;

    fn codes(position: u64, theta: &str, pair: u64, head_dim: u64) -> ((f64, f64), f64) {
        let angle = Angle { position, theta: Rational::parse(theta).unwrap(), pair, head_dim };
        let kif = Kif { signed: true, int: 1, frac: 40 };
        let quantiser = Quantiser { kif, round: Round::HalfEven, overflow: Overflow::Saturate };
        let (cos, sin) = angle.codes(&mut Functions::new(), &quantiser).unwrap();
        let real = |code: BigInt| code.to_f64().unwrap() / 2f64.powi(40);
        ((real(cos), real(sin)), angle.approximate())
    }

    #[test]
    fn rotations_agree_with_floating_point_up_to_its_error() {
        for (position, theta, pair, head_dim) in [
            (0, "10000", 1, 4),
            (1, "10000", 0, 4),
            (3, "10000", 1, 4),
            (100, "10000.0", 3, 8),
            (12345, "1000000", 5, 64),
            (16_777_216, "10000", 0, 2),
            (7, "0.5", 1, 6),
            (7, "1", 2, 6),
            (7, "1.5", 2, 6),
        ] {
            let ((cos, sin), angle) = codes(position, theta, pair, head_dim);
            let close = |a: f64, b: f64| (a - b).abs() < 1e-8;
            assert!(
                close(cos, angle.cos()) && close(sin, angle.sin()),
                "{position} {theta} {pair}: {cos} {sin} {angle}"
            );
        }
        assert_eq!(codes(0, "3", 0, 2).0, (1.0, 0.0));
    }

    #[test]
    fn far_bases_are_decided_or_refused() {
        let ((cos, sin), _) = codes(3, "1e-300", 1, 4);
        assert!((cos * cos + sin * sin - 1.0).abs() < 1e-10);
        let angle = Angle { position: 3, theta: Rational::parse("1e-9000").unwrap(), pair: 1, head_dim: 4 };
        let quantiser = Quantiser::parse("s8.6").unwrap();
        assert!(angle.codes(&mut Functions::new(), &quantiser).unwrap_err().contains("base"));
    }
}
