//! Operations beyond 128 bits, one sample at a time in integers of any size.
//!
//! Operations of this width are rare, so this code is simple: it follows section 3 of the specification, with shift
//! distances that [`super::lower`] has computed.

use super::form::{Arm, Form};
use super::lower::WideOp;
use alir_core::ir::BinaryBits;
use alir_core::num::{Kif, wrap};
use num_bigint::BigInt;
use num_traits::ToPrimitive;

/// Returns the result of an operation; `value(k)` is its k-th operand, `entry(i)` an entry of a lookup's table.
///
/// # Errors
/// The index of a lookup outside of the table, whose result is zero.
pub(super) fn evaluate(
    op: &WideOp,
    entry: impl Fn(usize) -> Option<i32>,
    value: impl Fn(usize) -> BigInt,
) -> Result<BigInt, BigInt> {
    let exact = match &op.form {
        Form::Const(c) => c.clone(),
        Form::Input { .. } => BigInt::ZERO,
        Form::Linear { c, shr, relu } => {
            let mut sum = c.clone();
            for (k, t) in op.terms.iter().enumerate() {
                let term = value(k) << t.shl;
                if t.neg { sum -= term } else { sum += term }
            }
            if *relu && sum < BigInt::ZERO {
                sum = BigInt::ZERO;
            }
            sum >> *shr
        }
        Form::NotUnsigned { x: _, bits } => {
            let int = *bits as i32;
            wrap(&(-value(0) - 1), Kif { signed: false, int, frac: 0 })
        }
        Form::Mul { a: _, b: _, shl, shr } => (value(0) * value(1)) << *shl >> *shr,
        Form::Bits { op, a: _, sa, b: _, sb, shr } => {
            let (a, b) = (value(0) << *sa, value(1) << *sb);
            let both = match op {
                BinaryBits::And => a & b,
                BinaryBits::Or => a | b,
                BinaryBits::Xor => a ^ b,
            };
            both >> *shr
        }
        Form::Mux { cond: _, on_true, on_false } => {
            let cond = value(0);
            let set = if op.cond.signed { cond < BigInt::ZERO } else { cond >> (op.cond.width() - 1) > BigInt::ZERO };
            let shift = |v: BigInt, arm: &Arm| v << arm.shl >> arm.shr;
            if set { shift(value(1), on_true) } else { shift(value(2), on_false) }
        }
        Form::Lookup { x: _, table: _, base } => {
            let index = value(0) - base;
            match index.to_usize().and_then(&entry) {
                Some(entry) => entry.into(),
                None => return Err(index),
            }
        }
        Form::Compare { x: _, than, eq } => u8::from((value(0) == *than) == *eq).into(),
    };
    Ok(wrap(&exact, op.kif))
}

/// Returns the signed number of limbs, least significant first.
pub(super) fn from_limbs(limbs: &[u64]) -> BigInt {
    let bytes: Vec<u8> = limbs.iter().flat_map(|l| l.to_le_bytes()).collect();
    BigInt::from_signed_bytes_le(&bytes)
}

/// Writes the low limbs of a number in two's complement.
pub(super) fn to_limbs(value: &BigInt, limbs: &mut [u64]) {
    let fill = if *value < BigInt::ZERO { u64::MAX } else { 0 };
    let bytes = value.to_signed_bytes_le();
    for (k, limb) in limbs.iter_mut().enumerate() {
        let mut word = fill.to_le_bytes();
        let from = bytes.get(8 * k..).unwrap_or(&[]);
        let n = from.len().min(8);
        word[..n].copy_from_slice(&from[..n]);
        *limb = u64::from_le_bytes(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limbs_represent_numbers_of_both_signs() {
        for n in [BigInt::from(-1), BigInt::from(1) << 100u32, BigInt::from(-3) << 130u32, BigInt::ZERO] {
            let mut limbs = [0; 3];
            to_limbs(&n, &mut limbs);
            assert_eq!(from_limbs(&limbs), n);
        }
    }
}
