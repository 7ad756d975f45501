//! Quotients and remainders as arrays of subtracters.

use super::Lowering;
use crate::rows::Sign;
use alir_core::ir::{BinaryBits, ValueId};

impl Lowering<'_> {
    /// Returns quotient and remainder, truncated towards zero. Division by 0 results in all ones and the dividend.
    pub(super) fn divided(&mut self, a: ValueId, b: ValueId, width: u32, sign: Sign) -> (ValueId, ValueId) {
        if sign == Sign::Unsigned {
            let (a, b) = (self.logic.unsigned(a, width), self.logic.unsigned(b, width));
            return self.restoring(a, b, width);
        }
        let (a, b) = (self.logic.signed(a, width), self.logic.signed(b, width));
        let (a_neg, b_neg) = (self.logic.bit(a, width - 1), self.logic.bit(b, width - 1));
        let (a_size, b_size) = (self.magnitude(a, a_neg, width), self.magnitude(b, b_neg, width));
        let (quotient, remainder) = self.restoring(a_size, b_size, width);
        // For division by 0 the quotient is -1 for all signs.
        let divides = self.logic.any(b);
        let differ = self.logic.bitwise(BinaryBits::Xor, a_neg, b_neg);
        let negate = self.logic.bitwise(BinaryBits::And, differ, divides);
        (self.negated_if(negate, quotient, width), self.negated_if(a_neg, remainder, width))
    }

    /// Returns the absolute value, a natural number of `width` bits.
    fn magnitude(&mut self, v: ValueId, negative: ValueId, width: u32) -> ValueId {
        let v = self.negated_if(negative, v, width);
        self.logic.unsigned(v, width)
    }

    /// Returns `-v` if the bit is set, otherwise `v`, modulo `2^width`.
    fn negated_if(&mut self, negative: ValueId, v: ValueId, width: u32) -> ValueId {
        let zero = self.logic.zero();
        let negated = self.logic.sub(zero, v);
        self.logic.choose(negative, negated, v, width)
    }

    /// Divides natural numbers by restoring division: a row of subtracters for each bit of the quotient, each row only
    /// as wide as the remaining dividend can be.
    fn restoring(&mut self, a: ValueId, b: ValueId, width: u32) -> (ValueId, ValueId) {
        let mut rest = self.logic.zero();
        let mut quotient = Vec::with_capacity(width as usize);
        for taken in 1..=width {
            let at = width - taken;
            let bit = self.logic.bit(a, at);
            let dividend = self.logic.concatenated(&[(bit, 0), (rest, 1)]);
            let divisor = self.logic.slice(b, 0, taken);
            let difference = self.logic.sub(dividend, divisor);
            let less = self.logic.less(dividend, divisor);
            let above = self.logic.shifted_right(b, taken);
            let larger = self.logic.any(above);
            let less = self.logic.bitwise(BinaryBits::Or, less, larger);
            let fits = self.logic.inverted(less);
            let reduced = self.logic.unsigned(difference, taken);
            rest = self.logic.mux(less, dividend, reduced);
            quotient.push((fits, at));
        }
        quotient.reverse();
        (self.logic.concatenated(&quotient), rest)
    }
}
