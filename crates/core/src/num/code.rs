//! Compact integer of any size.

use num_bigint::BigInt;
use num_traits::ToPrimitive;
use std::cmp::Ordering;
use std::fmt;

/// An exact integer that takes sixteen bytes, without allocation if it fits 64 bits.
///
/// Models have two of these integers per operation (the bounds of its interval), and nearly all of them are small;
/// [`BigInt`] alone would need two million allocations for a file of a million operations. Arithmetic uses [`BigInt`]
/// ([`Code::to_big`]) or `i64` ([`Code::to_i64`]); this type only stores and compares. The representation is canonical,
/// so equality and hashing are structural.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Code(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small(i64),
    /// An integer outside `i64`.
    Big(Box<BigInt>),
}

impl Code {
    /// The integer zero.
    pub const ZERO: Code = Code(Repr::Small(0));

    /// Returns the integer with this value. There is no [`From`] for `i128`: together with that for `i64`, the type of
    /// an integer literal would be ambiguous.
    #[inline]
    pub fn from_i128(v: i128) -> Code {
        match i64::try_from(v) {
            Ok(small) => Code(Repr::Small(small)),
            Err(_) => Code(Repr::Big(Box::new(BigInt::from(v)))),
        }
    }

    /// Returns the integer; `None` if it does not fit `i64`.
    #[inline]
    pub fn to_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Small(v) => Some(*v),
            Repr::Big(_) => None,
        }
    }

    /// Returns the integer; `None` if it does not fit `i128`.
    pub fn to_i128(&self) -> Option<i128> {
        match &self.0 {
            Repr::Small(v) => Some(i128::from(*v)),
            Repr::Big(v) => v.to_i128(),
        }
    }

    /// Returns the integer as a [`BigInt`].
    pub fn to_big(&self) -> BigInt {
        match &self.0 {
            Repr::Small(v) => BigInt::from(*v),
            Repr::Big(v) => (**v).clone(),
        }
    }

    /// Returns `true` if the integer is below zero.
    #[inline]
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Repr::Small(v) => *v < 0,
            Repr::Big(v) => v.sign() == num_bigint::Sign::Minus,
        }
    }

    /// Returns `true` if the integer is zero.
    #[inline]
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Repr::Small(0))
    }

    /// Returns the number of bits of the magnitude.
    #[inline]
    pub fn bits(&self) -> u64 {
        match &self.0 {
            Repr::Small(v) => u64::from(64 - v.unsigned_abs().leading_zeros()),
            Repr::Big(v) => v.bits(),
        }
    }

    /// Returns the negated integer.
    pub fn negated(&self) -> Code {
        match &self.0 {
            Repr::Small(v) => match v.checked_neg() {
                Some(n) => Code(Repr::Small(n)),
                None => Code::from(-BigInt::from(*v)),
            },
            Repr::Big(v) => Code::from(-&**v),
        }
    }

    /// Returns `ceil(log2 n)` for `n = max(|min|, max + 1)`: the number of bits without sign that an interval needs.
    #[inline]
    pub fn bits_of_interval(min: &Code, max: &Code) -> u64 {
        match (&min.0, &max.0) {
            (Repr::Small(lo), Repr::Small(hi)) => bits_of_small(*lo, *hi),
            _ => bits_of_wide(min, max),
        }
    }
}

/// Returns [`Code::bits_of_interval`] of 64-bit bounds.
#[inline]
pub fn bits_of_small(min: i64, max: i64) -> u64 {
    // max + 1 is at most 2^63.
    let above = if max < 0 { 0 } else { max.cast_unsigned() + 1 };
    u64::from(ceil_log2(min.unsigned_abs().max(above)))
}

#[cold]
fn bits_of_wide(min: &Code, max: &Code) -> u64 {
    let (lo, hi) = (min.to_big(), max.to_big());
    let above: BigInt = hi + 1;
    let n = lo.magnitude().clone().max(above.to_biguint().unwrap_or_default());
    // ceil(log2 n) is the bit length of n - 1.
    if n == num_bigint::BigUint::ZERO { 0 } else { (n - 1u32).bits() }
}

#[inline]
fn ceil_log2(n: u64) -> u32 {
    u64::BITS - n.saturating_sub(1).leading_zeros()
}

impl Default for Code {
    fn default() -> Self {
        Code::ZERO
    }
}

impl From<i64> for Code {
    #[inline]
    fn from(v: i64) -> Self {
        Code(Repr::Small(v))
    }
}

impl From<BigInt> for Code {
    fn from(v: BigInt) -> Self {
        match v.to_i64() {
            Some(small) => Code(Repr::Small(small)),
            None => Code(Repr::Big(Box::new(v))),
        }
    }
}

impl From<&BigInt> for Code {
    fn from(v: &BigInt) -> Self {
        match v.to_i64() {
            Some(small) => Code(Repr::Small(small)),
            None => Code(Repr::Big(Box::new(v.clone()))),
        }
    }
}

impl PartialOrd for Code {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Code {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Small(a), Repr::Small(b)) => a.cmp(b),
            (Repr::Big(a), Repr::Big(b)) => a.cmp(b),
            // An integer outside `i64` is beyond every `i64`, on the side of its sign.
            (Repr::Small(_), Repr::Big(b)) => BigInt::ZERO.cmp(b),
            (Repr::Big(a), Repr::Small(_)) => (**a).cmp(&BigInt::ZERO),
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small(v) => v.fmt(f),
            Repr::Big(v) => v.fmt(f),
        }
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_sixteen_bytes() {
        assert_eq!(size_of::<Code>(), 16);
    }

    #[test]
    fn representation_is_canonical() {
        let big = BigInt::from(1) << 80u32;
        assert_eq!(Code::from(&big - &big), Code::ZERO);
        assert_eq!(Code::from(i64::MIN).negated(), Code::from(BigInt::from(1) << 63u32));
        assert_eq!(Code::from(BigInt::from(1) << 63u32).negated(), Code::from(i64::MIN));
    }

    #[test]
    fn order_crosses_the_representations() {
        let mut v = [
            Code::from(BigInt::from(1) << 70u32),
            Code::from(-5),
            Code::from(-(BigInt::from(1) << 70u32)),
            Code::from(7),
        ];
        v.sort();
        assert_eq!(v.iter().map(Code::is_negative).collect::<Vec<_>>(), [true, true, false, false]);
        assert_eq!(v[1], Code::from(-5));
    }
}
