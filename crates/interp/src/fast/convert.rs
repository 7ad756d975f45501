//! Exact conversions between real numbers and raw integer values, for cases that the vectorised loops do not support.

use super::lower::low_bits;
use num_bigint::BigInt;
use num_traits::ToPrimitive;

/// Returns mantissa and exponent of a finite number `x = mantissa * 2^exponent`.
fn decode(x: f64) -> (i64, i64) {
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i64;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let (mantissa, exponent) = if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    (if x < 0.0 { -mantissa } else { mantissa }, exponent)
}

/// Returns the low 128 bits of `floor(x * 2^scale)` for any finite `x`.
pub(super) fn floor_low(x: f64, scale: i64) -> i128 {
    let (mantissa, exponent) = decode(x);
    let shift = exponent + scale;
    match shift {
        128.. => 0,
        0..128 => i128::from(mantissa) << shift,
        _ => i128::from(mantissa >> (-shift).min(63)),
    }
}

/// Returns `floor(x * 2^scale)` for a finite `x`.
pub(super) fn floor_big(x: f64, scale: i64) -> BigInt {
    let (mantissa, exponent) = decode(x);
    let shift = exponent + scale;
    if shift >= 0 { BigInt::from(mantissa) << shift as u64 } else { (mantissa >> (-shift).min(63)).into() }
}

/// Returns the float64 nearest to `code * 2^exponent`, ties to even; infinite if the number is too large.
pub(super) fn nearest(code: &BigInt, exponent: i32) -> f64 {
    let bits = code.bits() as i64;
    let top = bits + i64::from(exponent);
    if bits == 0 {
        return 0.0;
    }
    if top > 1025 {
        return if *code < BigInt::ZERO { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    // Exponent of the last bit of the result; for subnormal numbers it is always -1074.
    let unit = (top - 53).max(-1074);
    let drop = unit - i64::from(exponent);
    let magnitude = BigInt::from(code.magnitude().clone());
    let mut n = if drop <= 0 {
        magnitude << (-drop) as u64
    } else {
        let kept = &magnitude >> drop as u64;
        let rest = &magnitude - (&kept << drop as u64);
        let half = BigInt::from(1) << (drop - 1) as u64;
        let odd = low_bits(&kept) & 1 == 1;
        if rest > half || (rest == half && odd) { kept + 1 } else { kept }
    }
    .to_f64()
    .unwrap_or(f64::INFINITY);
    // The number is at most 2^53, so it is exact; the scale may need two multiplications.
    let mut left = unit;
    while left != 0 {
        let step = left.clamp(-1000, 1000);
        n *= f64::from_bits(((1023 + step) as u64) << 52);
        left -= step;
    }
    if *code < BigInt::ZERO { -n } else { n }
}

/// Returns `2^exponent` if it is a normal number, otherwise `None`.
pub(super) fn power(exponent: i64) -> Option<f64> {
    (-1022..=1023).contains(&exponent).then(|| f64::from_bits(((1023 + exponent) as u64) << 52))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_are_exact_at_both_ends() {
        assert_eq!(floor_low(-5e-324, 0), -1);
        assert_eq!(floor_low(5e-324, 1074), 1);
        assert_eq!(floor_low(-0.75, 1), -2);
        assert_eq!(floor_low(f64::MAX, 0), 0);
        assert_eq!(floor_low(2f64.powi(100), 3), 1 << 103);
        assert_eq!(floor_big(f64::MAX, 0) >> 971u32, BigInt::from((1u64 << 53) - 1));
    }

    #[test]
    fn nearest_rounds_to_even_and_knows_subnormals() {
        let n = |v: i128, e: i32| nearest(&BigInt::from(v), e);
        assert_eq!(n((1 << 53) + 1, 0), 2f64.powi(53));
        assert_eq!(n((1 << 53) + 3, 0), 2f64.powi(53) + 4.0);
        assert_eq!(n(-3, -1), -1.5);
        assert_eq!(n(1, -1074), 5e-324);
        assert_eq!((n(1, -1075), n(3, -1075)), (0.0, 1e-323));
        assert_eq!(n(1, 1024), f64::INFINITY);
        assert_eq!(n(i128::from(u64::MAX), 0), u64::MAX as f64);
        assert_eq!(n(1, 1023), 2f64.powi(1023));
    }
}
