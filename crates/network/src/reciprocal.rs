//! Quantised `1/x` and `1/sqrt(x)` (raw integer values), computed in exact integers.
//!
//! The values can be dyadic, so that ties exist; exact comparisons of integers decide each raw value. An undefined
//! value (`1/0`, the root of a number that is not positive) results in the largest raw value of the type, for every
//! overflow mode.

use super::exact::Rational;
use super::quantise::Quantiser;
use num_bigint::BigInt;
use num_traits::One;

/// Returns the raw integer value of `quantise(1/x)`.
pub fn inverse_code(x: &Rational, quantiser: &Quantiser) -> BigInt {
    match Rational::one().checked_div(x) {
        Some(value) => quantiser.code(&value),
        None => quantiser.kif.max_code(),
    }
}

/// Returns the raw integer value of `quantise(1/sqrt(x))`.
pub fn inverse_root_code(x: &Rational, quantiser: &Quantiser) -> BigInt {
    if x.is_zero() || x.is_negative() {
        return quantiser.kif.max_code();
    }
    let frac = i64::from(quantiser.kif.frac);
    // The square of the scaled value 2^frac / sqrt(x).
    let square = Rational::one().shifted(2 * frac).checked_div(x).expect("the argument is positive");
    let whole = square.floor().sqrt();
    let value = if square == Rational::from(&whole * &whole) {
        Rational::from(whole)
    } else {
        // All numbers on one side of the tie round to the same value.
        let middle = Rational::from_code(&(&whole * 2 + BigInt::one()), 1);
        let quarter = Rational::one().shifted(-2);
        match square.cmp(&(&middle * &middle)) {
            std::cmp::Ordering::Less => &middle - &quarter,
            std::cmp::Ordering::Equal => middle,
            std::cmp::Ordering::Greater => &middle + &quarter,
        }
    };
    quantiser.code(&value.shifted(-frac))
}

/// Returns the exact value of `1/sqrt(n)` if `n` is a power of 4; `None` for others, whose value is not dyadic.
pub fn dyadic_inverse_root(n: u64) -> Option<Rational> {
    let bits = n.trailing_zeros();
    (n.is_power_of_two() && bits.is_multiple_of(2)).then(|| Rational::one().shifted(-i64::from(bits / 2)))
}

/// Division by a constant as a product: `floor(w / n) = floor((w * factor + offset) / 2^shift)` for every integer `w`
/// in a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Division {
    /// Constant factor.
    pub factor: BigInt,
    /// Constant that is added to the product.
    pub offset: BigInt,
    /// Number of low bits of the sum that are dropped.
    pub shift: u32,
}

impl Division {
    /// Returns the division with the fewest dropped bits for `low <= w <= high` and `n >= 1`.
    pub fn new(n: &BigInt, low: &BigInt, high: &BigInt) -> Division {
        let mut shift = 0;
        loop {
            // (w * factor + offset) / 2^shift = w / n + (w * excess + offset * n) / (n * 2^shift): the floor is correct
            // if the last numerator is in 0 .. 2^shift - 1.
            let power = BigInt::one() << shift;
            let factor: BigInt = (&power + n - 1) / n;
            let excess: BigInt = &factor * n - &power;
            let least = low * &excess;
            let offset: BigInt = if least < BigInt::ZERO { (-least + n - 1) / n } else { BigInt::ZERO };
            if high * &excess + &offset * n < power {
                return Division { factor, offset, shift };
            }
            shift += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantise::{Overflow, Round};
    use alir_core::num::Kif;
    use num_integer::Integer;
    use proptest::prelude::*;

    fn r(text: &str) -> Rational {
        Rational::parse(text).unwrap()
    }

    #[test]
    fn ties_of_dyadic_values_are_decided_exactly() {
        // 1/sqrt(1/2.25) = 1.5 and 1/(2/5) = 2.5: both are ties for a type without fractional bits.
        let code = |round| {
            let kif = Kif { signed: false, int: 4, frac: 0 };
            let quantiser = Quantiser { kif, round, overflow: Overflow::Saturate };
            (inverse_root_code(&r("4/9"), &quantiser), inverse_code(&r("2/5"), &quantiser))
        };
        assert_eq!(code(Round::HalfUp), (2.into(), 3.into()));
        assert_eq!(code(Round::HalfDown), (1.into(), 2.into()));
        assert_eq!(code(Round::HalfEven), (2.into(), 2.into()));
    }

    #[test]
    fn undefined_values_are_the_largest_raw_value() {
        for text in ["s6.2", "u6.2,RND,WRAP", "u6.2,RND,SAT_ZERO"] {
            let quantiser = Quantiser::parse(text).unwrap();
            let largest = quantiser.kif.max_code();
            assert_eq!(inverse_code(&Rational::zero(), &quantiser), largest);
            assert_eq!(inverse_root_code(&Rational::zero(), &quantiser), largest);
            assert_eq!(inverse_root_code(&r("-3"), &quantiser), largest);
        }
        let quantiser = Quantiser::parse("s6.2,RND,SAT").unwrap();
        assert_eq!(inverse_code(&r("-0.5"), &quantiser), (-8).into());
    }

    #[test]
    fn roots_of_powers_of_four_are_exact() {
        assert_eq!(dyadic_inverse_root(16), Some(r("1/4")));
        assert_eq!(dyadic_inverse_root(1), Some(r("1")));
        assert_eq!((dyadic_inverse_root(8), dyadic_inverse_root(0), dyadic_inverse_root(12)), (None, None, None));
    }

    proptest! {
        /// The raw value and its successor enclose the exact value. The test compares squares and computes no root.
        #[test]
        fn roots_lie_between_their_steps(num in 1i64..100_000, den in 1i64..1000, frac in 0i32..12) {
            let x = Rational::new(num.into(), &den.into()).unwrap();
            let kif = Kif { signed: false, int: 20, frac };
            let floor = Quantiser { kif, round: Round::Floor, overflow: Overflow::Saturate };
            let code = Rational::from_code(&inverse_root_code(&x, &floor), frac.into());
            let next = &code + &Rational::one().shifted(-i64::from(frac));
            prop_assert!(&(&code * &code) * &x <= Rational::one());
            prop_assert!(&(&next * &next) * &x > Rational::one());
        }

        #[test]
        fn divisions_are_floors(n in 1i64..60, low in -3000i64..3000, span in 0i64..4000) {
            let division = Division::new(&n.into(), &low.into(), &(low + span).into());
            for w in low..=low + span {
                let found: BigInt = (BigInt::from(w) * &division.factor + &division.offset) >> division.shift;
                prop_assert_eq!(found, BigInt::from(w).div_floor(&n.into()), "{} / {}", w, n);
            }
        }
    }
}
