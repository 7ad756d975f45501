//! The fixed-point type of a value.

use num_bigint::BigInt;
use std::fmt;

/// A fixed-point type: sign, integer bits and fractional bits (the library's "KIF").
///
/// `int` excludes the sign bit. `int` and `frac` may be negative; their sum, including the sign bit, is never negative.
/// A raw integer value `v` of this type has the real value `v * 2^-frac`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kif {
    /// `true` if raw integer values are two's complement.
    pub signed: bool,
    /// Number of integer bits without the sign bit; negative if the most significant bit is right of the binary point.
    pub int: i32,
    /// Number of fractional bits; negative if the step is above 1.
    pub frac: i32,
}

impl Kif {
    /// Type of a value that is always zero: no bits, no wire.
    pub const ZERO: Kif = Kif { signed: false, int: 0, frac: 0 };

    /// Returns the type of raw integer values that need `bits` bits without a sign bit. The result saturates far above
    /// every width limit that parsers enforce.
    #[inline]
    pub fn from_bits(signed: bool, bits: u64, frac: i32) -> Kif {
        let bits = i64::try_from(bits).unwrap_or(i64::MAX);
        Kif { signed, int: i32::try_from(bits.saturating_sub(frac.into())).unwrap_or(i32::MAX), frac }
    }

    /// Returns the number of bits: sign, integer and fractional bits together.
    #[inline]
    pub fn width(self) -> u32 {
        (i64::from(self.signed) + i64::from(self.int) + i64::from(self.frac)).max(0) as u32
    }

    /// Returns `true` if the type has no bits, so that its only value is zero.
    #[inline]
    pub fn is_zero(self) -> bool {
        self.width() == 0
    }

    /// Returns the smallest raw integer value of the type.
    pub fn min_code(self) -> BigInt {
        if self.signed && self.width() > 0 { -(BigInt::from(1) << (self.width() - 1)) } else { BigInt::ZERO }
    }

    /// Returns the largest raw integer value of the type.
    pub fn max_code(self) -> BigInt {
        match self.width() {
            0 => BigInt::ZERO,
            w => (BigInt::from(1) << (w - u32::from(self.signed))) - 1,
        }
    }

    /// Returns `true` if `code` is a raw integer value of this type, so that wrapping does not change it.
    pub fn holds(self, code: &BigInt) -> bool {
        self.min_code() <= *code && *code <= self.max_code()
    }
}

impl fmt::Display for Kif {
    /// Writes the type in `s8.3` style: sign letter, total width, dot, fractional bits; `0` for the type without bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0");
        }
        write!(f, "{}{}.{}", if self.signed { 's' } else { 'u' }, self.width(), self.frac)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_signed_and_unsigned_types() {
        let signed = Kif { signed: true, int: 3, frac: 1 };
        assert_eq!((signed.min_code(), signed.max_code()), (BigInt::from(-16), BigInt::from(15)));
        let unsigned = Kif { signed: false, int: 3, frac: 1 };
        assert_eq!((unsigned.min_code(), unsigned.max_code()), (BigInt::ZERO, BigInt::from(15)));
        assert!(signed.holds(&BigInt::from(-16)) && !signed.holds(&BigInt::from(16)));
        assert!(Kif::ZERO.holds(&BigInt::ZERO) && !Kif::ZERO.holds(&BigInt::from(1)));
    }

    #[test]
    fn display_is_short() {
        assert_eq!(Kif { signed: true, int: 3, frac: 4 }.to_string(), "s8.4");
        assert_eq!(Kif::ZERO.to_string(), "0");
    }
}
