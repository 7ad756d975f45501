//! The fixed-point type of a value.

use num_bigint::BigInt;
use std::fmt;

/// A fixed-point type: sign, integer bits and fractional bits (the library's "KIF").
///
/// `int` excludes the sign bit; `int` and `frac` may be negative, their sum with the sign bit may not.
/// The real value of a code `v` of this type is `v * 2^-frac`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kif {
    /// `true` if codes are two's complement.
    pub signed: bool,
    /// Integer bits without the sign bit; negative where the type starts below the binary point.
    pub int: i32,
    /// Fractional bits; negative where the step is above 1.
    pub frac: i32,
}

impl Kif {
    /// The type of a value that is always zero: no bits, no wire.
    pub const ZERO: Kif = Kif { signed: false, int: 0, frac: 0 };

    /// The type of codes that need `bits` bits without a sign bit; saturates far above every width limit that readers
    /// enforce.
    #[inline]
    pub fn from_bits(signed: bool, bits: u64, frac: i32) -> Kif {
        let bits = i64::try_from(bits).unwrap_or(i64::MAX);
        Kif { signed, int: i32::try_from(bits.saturating_sub(frac.into())).unwrap_or(i32::MAX), frac }
    }

    /// Number of bits: sign, integer and fractional bits together.
    #[inline]
    pub fn width(self) -> u32 {
        (i64::from(self.signed) + i64::from(self.int) + i64::from(self.frac)).max(0) as u32
    }

    /// Returns `true` if the type has no bits, so that its only value is zero.
    #[inline]
    pub fn is_zero(self) -> bool {
        self.width() == 0
    }

    /// Smallest code of the type.
    pub fn min_code(self) -> BigInt {
        if self.signed && self.width() > 0 { -(BigInt::from(1) << (self.width() - 1)) } else { BigInt::ZERO }
    }

    /// Largest code of the type.
    pub fn max_code(self) -> BigInt {
        match self.width() {
            0 => BigInt::ZERO,
            w => (BigInt::from(1) << (w - u32::from(self.signed))) - 1,
        }
    }

    /// Returns `true` if `code` is a code of this type, so that wrapping leaves it as it is.
    pub fn holds(self, code: &BigInt) -> bool {
        self.min_code() <= *code && *code <= self.max_code()
    }
}

impl fmt::Display for Kif {
    /// `s8.3` style: sign letter, total width, dot, fractional bits; `0` for the type without bits.
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
