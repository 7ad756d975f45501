//! Exact conversion between real numbers and raw integer values (codes).

use alir_core::ir::Model;
use alir_core::num::{Kif, align, wrap};
use num_bigint::{BigInt, Sign};

/// One element of a port: its type, and the scale of its raw integer value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// Type of the raw integer value.
    pub kif: Kif,
    /// The real value is `code * 2^-frac`. For an input this is the type's `frac` plus the input's shift.
    pub frac: i64,
}

/// Returns the input elements of a program.
pub fn input_ports(model: &Model) -> Vec<Port> {
    let shifts = model.inp_shifts();
    let ports = model.input_kifs().iter().zip(shifts);
    ports.map(|(&kif, &shift)| Port { kif, frac: i64::from(kif.frac) + i64::from(shift) }).collect()
}

/// Returns the output elements of a program.
pub fn output_ports(model: &Model) -> Vec<Port> {
    let kifs = (0..model.outputs().len()).map(|j| model.output_kif(j));
    kifs.map(|kif| Port { kif, frac: i64::from(kif.frac) }).collect()
}

/// Returns mantissa and exponent of a finite number `mantissa * 2^exponent`.
pub(super) fn parts(x: f64) -> (i64, i64) {
    let bits = x.to_bits();
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let (magnitude, exponent) = match (bits >> 52) & 0x7ff {
        // Subnormal numbers have no hidden bit.
        0 => (fraction, -1074),
        biased => (fraction | 1 << 52, biased as i64 - 1075),
    };
    (if bits >> 63 == 1 { -magnitude } else { magnitude }, exponent)
}

impl Port {
    /// Returns the raw integer value (code) of a real number: `floor(x * 2^frac)`, wrapped to the type; exact for
    /// finite `x`.
    ///
    /// Returns `None` for NaN and infinities, which have no code.
    pub fn code_of_real(self, x: f64) -> Option<BigInt> {
        if !x.is_finite() {
            return None;
        }
        let (mantissa, exponent) = parts(x);
        let up = exponent + self.frac;
        // A left shift by at least the width results in zero.
        if mantissa == 0 || up >= i64::from(self.kif.width()) {
            return Some(BigInt::ZERO);
        }
        Some(wrap(&align(&BigInt::from(mantissa), 0, up.max(-64)), self.kif))
    }

    /// Returns the code of an integer.
    pub fn code_of_integer(self, x: &BigInt) -> BigInt {
        let up = self.frac.clamp(-(x.bits() as i64) - 1, i64::from(self.kif.width()));
        wrap(&align(x, 0, up), self.kif)
    }

    /// Returns the real value of a code, rounded to the nearest float64 (ties to even; infinity beyond the largest
    /// float64), and `true` if it is exact.
    pub fn real_of_code(self, code: &BigInt) -> (f64, bool) {
        real(code, -self.frac)
    }
}

/// Returns `code * 2^exponent` as the nearest float64 (ties to even), and `true` if it is exact.
fn real(code: &BigInt, exponent: i64) -> (f64, bool) {
    let bits = code.bits() as i64;
    if bits == 0 {
        return (0.0, true);
    }
    let sign = if code.sign() == Sign::Minus { -1.0 } else { 1.0 };
    // Weight of the last bit of the result: 53 bits below the top, and at least 2^-1074.
    let last = (exponent + bits - 53).max(-1074);
    let drop = last - exponent;
    let magnitude = BigInt::from(code.magnitude().clone());
    let (kept, exact) = if drop <= 0 { (align(&magnitude, 0, -drop), true) } else { round_even(&magnitude, drop) };
    let kept = u64::try_from(&kept).unwrap_or(u64::MAX);
    // Rounding up may result in a 54th bit, but then the number is a power of two, which a float represents.
    let value = scale(kept as f64, last);
    (sign * value, exact && value.is_finite())
}

/// Rounds `magnitude / 2^drop` to the nearest integer, ties to even; `drop` is positive.
fn round_even(magnitude: &BigInt, drop: i64) -> (BigInt, bool) {
    let kept: BigInt = magnitude >> drop as u64;
    let rest = magnitude - (&kept << drop as u64);
    if rest == BigInt::ZERO {
        return (kept, true);
    }
    let half = BigInt::from(1) << (drop - 1) as u64;
    let up = rest > half || (rest == half && kept.bit(0));
    (if up { kept + 1 } else { kept }, false)
}

/// Returns `x * 2^exponent`, which is exact or overflows, by several multiplications whose factors are floats.
fn scale(mut x: f64, mut exponent: i64) -> f64 {
    while exponent != 0 && x.is_finite() {
        let step = exponent.clamp(-1000, 1000);
        x *= f64::from_bits(((1023 + step) as u64) << 52);
        exponent -= step;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn port(signed: bool, width: i32, frac: i32) -> Port {
        Port { kif: Kif { signed, int: width - i32::from(signed) - frac, frac }, frac: frac.into() }
    }

    fn code(port: Port, x: f64) -> i64 {
        i64::try_from(&port.code_of_real(x).unwrap()).unwrap()
    }

    #[test]
    fn reals_floor_and_wrap() {
        let s4 = port(true, 4, 0);
        assert_eq!([1.9, -0.1, 7.0, 8.0, -9.0].map(|x| code(s4, x)), [1, -1, 7, -8, 7]);
        let quarters = port(false, 4, 2);
        assert_eq!([0.25, 0.3, 3.75, 4.0, -0.25].map(|x| code(quarters, x)), [1, 1, 15, 0, 15]);
    }

    #[test]
    fn huge_and_tiny_reals_are_exact() {
        let s4 = port(true, 4, 0);
        // Cases of DIFFERENCES.md, "INPUT huge": 2^52 + 1 keeps its last bit, multiples of 16 wrap to zero.
        assert_eq!([4503599627370497.0, 4.611686018427388e18, 1e30, -1e308].map(|x| code(s4, x)), [1, 0, 0, 0]);
        // The floor of a tiny negative number is -1, the floor of a tiny positive number is 0.
        assert_eq!([-f64::MIN_POSITIVE, -5e-324, 5e-324, -0.0].map(|x| code(s4, x)), [-1, -1, 0, 0]);
        // The smallest subnormal has code 1 in a type with this step.
        assert_eq!(code(port(true, 8, 1074), 5e-324), 1);
        assert_eq!(code(port(true, 8, 1080), -5e-324), -64);
        assert_eq!(s4.code_of_real(f64::NAN), None);
        assert_eq!(s4.code_of_real(f64::NEG_INFINITY), None);
    }

    #[test]
    fn codes_round_to_nearest_even() {
        let two = |power: u32| BigInt::from(1) << power;
        assert_eq!(real(&(two(53) + 1), 0), (9007199254740992.0, false));
        assert_eq!(real(&(two(53) + 3), 0), (9007199254740996.0, false));
        assert_eq!(real(&BigInt::from(-(1i64 << 53) - 2), 0), (-9007199254740994.0, true));
        assert_eq!(real(&(two(60) - 1), -60), (1.0, false));
        // Limits: the smallest subnormal, half of it, the largest power of two, the next power of two.
        assert_eq!(real(&BigInt::from(1), -1074), (5e-324, true));
        assert_eq!(real(&BigInt::from(1), -1075), (0.0, false));
        assert_eq!(real(&BigInt::from(3), -1075), (1e-323, false));
        assert_eq!(real(&BigInt::from(1), 1023), (2f64.powi(1023), true));
        assert_eq!(real(&BigInt::from(-1), 1024), (f64::NEG_INFINITY, false));
        assert_eq!(real(&two(5000), -5000), (1.0, true));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_float_is_exact_in_a_fine_enough_type(bits: u64) {
            let x = f64::from_bits(bits);
            prop_assume!(x.is_finite());
            let fine = port(true, 2200, 1074);
            let code = fine.code_of_real(x).unwrap();
            prop_assert_eq!(fine.real_of_code(&code), (x, true));
        }

        #[test]
        fn small_codes_agree_with_float_arithmetic(v in -(1i64 << 53)..1 << 53, shift in -40i32..40, width in 1..60) {
            let x = v as f64 * 2f64.powi(-shift);
            let port = port(true, width, 3);
            let expected = ((v as i128) << 60 >> (60 + shift - 3)) & ((1 << width) - 1);
            prop_assert_eq!(i128::from(code(port, x)) & ((1 << width) - 1), expected);
            let integer = BigInt::from(v);
            if shift == 0 {
                prop_assert_eq!(port.code_of_real(x).unwrap(), port.code_of_integer(&integer));
            }
        }

        #[test]
        fn rounding_agrees_with_the_machine(v: i64) {
            prop_assert_eq!(real(&BigInt::from(v), 0), (v as f64, (v as f64) as i128 == i128::from(v)));
        }
    }
}
