//! Signed-digit representation of integers: sums and differences of powers of two, for products with constants.

use alir_core::ir::{Term, ValueId};
use num_bigint::BigInt;
use num_traits::Signed;

/// Returns the digits -1 and 1 of a number in non-adjacent form, lowest first: the position of each digit, and `true`
/// if it is -1. No signed-digit form of a number has fewer digits.
pub(crate) fn signed(number: &BigInt) -> Vec<(u32, bool)> {
    // 2n = 3n - n has a digit at each bit in which 3n and n differ.
    let magnitude = number.magnitude();
    let triple = magnitude * 3u32;
    let place = |bit: u64| u32::try_from(bit - 1).expect("numbers of fewer than 2^32 bits");
    (1..triple.bits().max(1))
        .filter(|&bit| triple.bit(bit) != magnitude.bit(bit))
        .map(|bit| (place(bit), magnitude.bit(bit) != number.is_negative()))
        .collect()
}

/// Returns the terms of a sum that equals `value * 2^shift * factor`.
pub(crate) fn terms(value: ValueId, factor: &BigInt, shift: i32) -> impl Iterator<Item = Term> {
    signed(factor).into_iter().map(move |(place, neg)| Term { value, shift: shift + place as i32, neg })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn digits_make_the_number(n in -100_000i64..100_000) {
            let digits = signed(&n.into());
            let sum: i64 = digits.iter().map(|(place, neg)| if *neg { -1 << place } else { 1 << place }).sum();
            prop_assert_eq!(sum, n);
            prop_assert!(digits.windows(2).all(|w| w[1].0 > w[0].0 + 1));
        }
    }
}
