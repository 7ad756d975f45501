//! Exact fixed-point arithmetic: raw integer values of any size, intervals, types, alignment and wrapping.
//!
//! Every rule of widths, signs and shifts is implemented here, once. The rules are those of `docs/alir.md`, sections 2
//! and 3: a value is a raw integer (*code*) `v`, its real value is `v * 2^-frac`.
//!
//! This module does not depend on models or hardware.

mod code;
mod decimal;
mod interval;
mod kif;
mod split_mix;

pub use code::Code;
pub use code::bits_of_small;
pub use decimal::push_decimal;
pub use interval::Interval;
pub use kif::Kif;
pub use split_mix::SplitMix;

use num_bigint::BigInt;

/// Returns `code * 2^(to - from)`, rounded down (arithmetic right shift) if `to < from`.
///
/// This is `align(v, from, to)` of the specification: it converts a raw integer value with `from` fractional bits to
/// `to` fractional bits. The parser limits the shift distance; this function does not.
pub fn align(code: &BigInt, from: i64, to: i64) -> BigInt {
    if to >= from { code << (to - from) as u64 } else { code >> (from - to) as u64 }
}

/// Wraps `code` to a type: keeps the low `kif.width()` bits, as two's complement if the type is signed.
pub fn wrap(code: &BigInt, kif: Kif) -> BigInt {
    let width = u64::from(kif.width());
    if width == 0 {
        return BigInt::ZERO;
    }
    let modulus = BigInt::from(1) << width;
    // Euclidean remainder: `%` keeps the sign of the dividend.
    let mut low = code % &modulus;
    if low < BigInt::ZERO {
        low += &modulus;
    }
    if kif.signed && low >= (&modulus >> 1u32) {
        low -= modulus;
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kif(signed: bool, int: i32, frac: i32) -> Kif {
        Kif { signed, int, frac }
    }

    #[test]
    fn align_floors_towards_minus_infinity() {
        assert_eq!(align(&BigInt::from(-1), 3, 0), BigInt::from(-1));
        assert_eq!(align(&BigInt::from(-9), 3, 0), BigInt::from(-2));
        assert_eq!(align(&BigInt::from(9), 3, 0), BigInt::from(1));
        assert_eq!(align(&BigInt::from(-3), -2, 1), BigInt::from(-24));
    }

    #[test]
    fn wrap_reads_two_complement_only_if_signed() {
        assert_eq!(wrap(&BigInt::from(8), kif(true, 3, 0)), BigInt::from(-8));
        assert_eq!(wrap(&BigInt::from(-9), kif(true, 3, 0)), BigInt::from(7));
        assert_eq!(wrap(&BigInt::from(-1), kif(false, 4, 0)), BigInt::from(15));
        assert_eq!(wrap(&BigInt::from(16), kif(false, 4, 0)), BigInt::ZERO);
        assert_eq!(wrap(&BigInt::from(5), Kif::ZERO), BigInt::ZERO);
    }

    #[test]
    fn wrap_handles_types_with_negative_integer_bits() {
        // A single bit of weight 2^-4.
        let tiny = kif(false, -3, 4);
        assert_eq!(tiny.width(), 1);
        assert_eq!(wrap(&BigInt::from(3), tiny), BigInt::from(1));
    }
}
