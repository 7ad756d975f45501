//! The interval of values that an operation declares for its result.

use super::{Code, Kif};
use num_bigint::BigInt;

/// An interval: all multiples of `2^-frac` from `min` to `max`. Both bounds are raw integer values in units of
/// `2^-frac`.
///
/// The step is kept even if the interval contains only zero, so that a file can be written back unchanged; the *type*
/// of such an interval is [`Kif::ZERO`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    /// Smallest raw integer value; at most `max`.
    pub min: Code,
    /// Largest raw integer value.
    pub max: Code,
    /// Number of fractional bits, `-log2(step)`; negative for steps above 1.
    pub frac: i32,
}

impl Interval {
    /// Returns the interval from `min` to `max` (raw integer values) in steps of `2^-frac`.
    ///
    /// # Panics
    /// If `min > max`.
    pub fn new(min: impl Into<Code>, max: impl Into<Code>, frac: i32) -> Interval {
        let (min, max) = (min.into(), max.into());
        assert!(min <= max, "interval with min {min} above max {max}");
        Interval { min, max, frac }
    }

    /// Returns the interval of all values of a type.
    pub fn full(kif: Kif) -> Interval {
        Interval::from_width(kif.signed, kif.width(), kif.frac)
    }

    /// Returns the interval of all values of `width` bits, in steps of `2^-frac`.
    pub fn from_width(signed: bool, width: u32, frac: i32) -> Interval {
        if width == 0 {
            return Interval::new(0, 0, frac);
        }
        let bits = width - u32::from(signed);
        if bits < 63 {
            let top = 1i64 << bits;
            return Interval::new(if signed { -top } else { 0 }, top - 1, frac);
        }
        let top = BigInt::from(1) << bits;
        let min = if signed { -&top } else { BigInt::ZERO };
        Interval::new(min, top - 1, frac)
    }

    /// Returns the narrowest fixed-point type of the interval (section 2 of the specification), in exact arithmetic.
    #[inline]
    pub fn kif(&self) -> Kif {
        if self.min.is_zero() && self.max.is_zero() {
            return Kif::ZERO;
        }
        Kif::from_bits(self.min.is_negative(), Code::bits_of_interval(&self.min, &self.max), self.frac)
    }

    /// Returns the interval of the negated values.
    pub fn negated(&self) -> Interval {
        Interval { min: self.max.negated(), max: self.min.negated(), frac: self.frac }
    }

    /// Returns the interval of the values times `2^shift`: the raw integer values stay unchanged, the step changes.
    pub fn scaled(&self, shift: i32) -> Interval {
        Interval { min: self.min.clone(), max: self.max.clone(), frac: self.frac.saturating_sub(shift) }
    }

    /// Returns the interval of sums of a value of `self` and a value of `other`, with the finer of both steps.
    #[must_use]
    pub fn plus(&self, other: &Interval) -> Interval {
        let frac = self.frac.max(other.frac);
        let end = |a: &Code, b: &Code| (a.to_big() << (frac - self.frac)) + (b.to_big() << (frac - other.frac));
        Interval::new(end(&self.min, &other.min), end(&self.max, &other.max), frac)
    }

    /// Returns `true` if `code`, in units of this interval's step, is within the interval.
    pub fn contains(&self, code: &BigInt) -> bool {
        self.min.to_big() <= *code && *code <= self.max.to_big()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kif(min: i64, max: i64, frac: i32) -> (bool, i32, i32) {
        let k = Interval::new(min, max, frac).kif();
        (k.signed, k.int, k.frac)
    }

    #[test]
    fn examples_of_the_specification() {
        assert_eq!(kif(-3, 3, 0), (true, 2, 0));
        assert_eq!(kif(0, 127, 4), (false, 3, 4));
        assert_eq!(kif(3, 3, 0), (false, 2, 0));
        assert_eq!(kif(0, 1, 4), (false, -3, 4));
        assert_eq!(kif(0, 0, 9), (false, 0, 0));
        assert_eq!(kif(-1, 0, 0), (true, 0, 0));
        assert_eq!(kif(5, 6, 0), (false, 3, 0));
    }

    #[test]
    fn sums_have_the_finer_step() {
        let (coarse, fine) = (Interval::new(-3, 5, -1), Interval::new(1, 2, 2));
        assert_eq!(coarse.plus(&fine), Interval::new(-23, 42, 2));
        assert_eq!(fine.plus(&coarse), Interval::new(-23, 42, 2));
        assert_eq!(coarse.plus(&Interval::new(0, 0, -1)), coarse);
    }

    #[test]
    fn the_full_range_is_that_of_the_type() {
        for signed in [false, true] {
            for width in 1..200 {
                let kif = Kif { signed, int: width - 3 - i32::from(signed), frac: 3 };
                let full = Interval::full(kif);
                assert_eq!((full.min.to_big(), full.max.to_big()), (kif.min_code(), kif.max_code()));
                assert_eq!(full.kif(), kif);
            }
        }
        assert_eq!(Interval::from_width(true, 0, 5), Interval::new(0, 0, 5));
    }

    #[test]
    fn width_is_exact_where_floats_round() {
        // 2^25 needs 26 bits; rounding to float32 (releases before 0.8.2, `docs/alir.md`) gives 25.
        assert_eq!(kif(0, 1 << 25, 0), (false, 26, 0));
        assert_eq!(kif(-(1 << 25), 0, 0), (true, 25, 0));
        assert_eq!(kif(i64::MIN, i64::MAX, 0), (true, 63, 0));
        assert_eq!(kif(0, i64::MAX, 0), (false, 63, 0));
        let wide = Interval::new(0, BigInt::from(1) << 100u32, 0).kif();
        assert_eq!(wide.width(), 101);
        let negative = Interval::new(-(BigInt::from(1) << 100u32), 0, 0).kif();
        assert_eq!((negative.signed, negative.int), (true, 100));
    }
}
