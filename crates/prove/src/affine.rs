//! Equality of sums with different orders of addition.
//!
//! Two words of `width` bits are equal if their difference, an integer combination of literals with values 0 and 1, is
//! 0 modulo `2^width`. Each adder that computes gates is recorded ([`Adder`]). Its equation `out - a - b - carry = 0`
//! is added to the difference with the coefficient that removes the newest literal, until the difference contains no
//! result bit of an adder. Newer literals are replaced only by older ones, so this terminates. The method is sound:
//! every step adds a multiple of an equation that holds modulo at least `2^width`. A nonzero remainder means "not
//! proved by this method", never "different".

use super::aig::Lit;
use super::bit_vector::{Adder, Words};
use std::collections::BTreeMap;

/// Largest number of steps, and of terms of the difference.
const MAX_STEPS: usize = 20_000;
const MAX_TERMS: usize = 50_000;

/// Integer combination of nodes, modulo a power of two.
struct Form {
    terms: BTreeMap<u32, u128>,
    constant: u128,
    mask: u128,
}

impl Form {
    fn add(&mut self, lit: Lit, coefficient: u128) {
        // A negated literal is 1 - node.
        let coefficient = if lit.is_negated() {
            self.constant = self.constant.wrapping_add(coefficient) & self.mask;
            coefficient.wrapping_neg()
        } else {
            coefficient
        };
        if lit.node() == 0 {
            return;
        }
        let sum = self.terms.get(&lit.node()).copied().unwrap_or(0).wrapping_add(coefficient) & self.mask;
        if sum == 0 {
            self.terms.remove(&lit.node());
        } else {
            self.terms.insert(lit.node(), sum);
        }
    }

    /// Adds `coefficient` times a word; the last bit is the sign if `signed`.
    fn add_word(&mut self, word: &[Lit], coefficient: u128, signed: bool) {
        for (i, &lit) in word.iter().enumerate().take_while(|(i, _)| *i < 128) {
            let weight = coefficient.wrapping_shl(i as u32);
            let weight = if i > 127 { 0 } else { weight };
            let sign = signed && i + 1 == word.len();
            self.add(lit, if sign { weight.wrapping_neg() } else { weight });
        }
    }

    fn is_zero(&self) -> bool {
        self.terms.is_empty() && self.constant == 0
    }
}

/// Returns `true` if two words of the same width (at most 128 bits) are proved equal by the equations of their adders.
pub fn equal(w: &Words, a: &[Lit], b: &[Lit]) -> bool {
    let width = a.len();
    if width == 0 || width > 128 || width != b.len() {
        return width == b.len() && width == 0;
    }
    let mask = if width == 128 { u128::MAX } else { (1 << width) - 1 };
    let mut form = Form { terms: BTreeMap::new(), constant: 0, mask };
    form.add_word(a, 1, false);
    form.add_word(b, 1u128.wrapping_neg(), false);
    // Literals above this one are no result bits of adders, and remain.
    let mut below = u32::MAX;
    for _ in 0..MAX_STEPS {
        if form.is_zero() {
            return true;
        }
        let Some((&node, &coefficient)) = form.terms.range(..below).next_back() else { return false };
        if form.terms.len() > MAX_TERMS {
            return false;
        }
        if !w.adder_of(node).is_some_and(|(adder, bit)| eliminate(&mut form, adder, bit, node, coefficient, width)) {
            below = node;
        }
    }
    false
}

/// Adds the multiple of an adder's equation that removes `node`, which is result bit `bit`.
fn eliminate(form: &mut Form, adder: &Adder, bit: usize, node: u32, coefficient: u128, width: usize) -> bool {
    let negated = adder.out[bit].is_negated();
    // The equation for the bits up to `last`, modulo 2^(last + 1); for all bits of an exact adder, over the integers.
    // Bits above this one are included if they are older, such as a forwarded sign of an operand.
    let last = (bit + 1..adder.out.len()).take_while(|&j| adder.out[j].node() < node).last().unwrap_or(bit);
    let exact = last + 1 == adder.out.len() && adder.exact;
    // The node has the coefficient +-2^bit in the equation: negative for the sign bit, and inverted for a negated
    // literal.
    let mut wanted = if negated { coefficient.wrapping_neg() } else { coefficient };
    if exact && last == bit {
        wanted = wanted.wrapping_neg();
    }
    wanted &= form.mask;
    if last >= 128 || wanted & ((1u128 << bit) - 1) != 0 {
        return false;
    }
    // wanted = factor * 2^bit modulo 2^width. The upper bits of the factor are arbitrary; its sign extension keeps
    // small negative factors small.
    let mut factor = wanted >> bit;
    let factor_bits = width.saturating_sub(bit);
    if factor_bits == 0 {
        return false;
    }
    if factor_bits < 128 && factor >> (factor_bits - 1) & 1 == 1 {
        factor |= u128::MAX << factor_bits;
    }
    if !exact && last + 1 + (factor.trailing_zeros() as usize) < width {
        return false;
    }
    let minus = factor.wrapping_neg();
    form.add_word(&adder.out[..=last], minus, exact);
    form.add_word(&adder.a[..=last], factor, exact);
    form.add_word(&adder.b[..=last], factor, exact);
    form.add(adder.carry, factor);
    !form.terms.contains_key(&node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bit_vector::resize;
    use crate::bit_vector::tests::inputs;

    fn add(w: &mut Words, a: &[Lit], b: &[Lit], width: usize) -> Vec<Lit> {
        let (a, b) = (resize(a, true, width), resize(b, true, width));
        w.add(&a, &b, Lit::FALSE, false)
    }

    #[test]
    fn sums_in_another_order_are_equal() {
        let mut w = Words::new();
        let words: Vec<Vec<Lit>> = (0..4).map(|_| inputs(&mut w, 16)).collect();
        let left = {
            let ab = add(&mut w, &words[0], &words[1], 17);
            let abc = add(&mut w, &ab, &words[2], 18);
            add(&mut w, &abc, &words[3], 19)
        };
        let right = {
            let cd = add(&mut w, &words[2], &words[3], 17);
            let ad = add(&mut w, &words[1], &cd, 18);
            add(&mut w, &words[0], &ad, 19)
        };
        assert_ne!(left, right);
        assert!(equal(&w, &left, &right));
        assert!(!equal(&w, &left, &resize(&words[0], true, 19)));
    }

    #[test]
    fn differences_the_other_way_round_and_shifts_are_equal() {
        let mut w = Words::new();
        let (a, b) = (inputs(&mut w, 12), inputs(&mut w, 12));
        let (wa, wb) = (resize(&a, true, 14), resize(&b, true, 14));
        // a - b = -(b - a), and 3a = 4a - a.
        let direct = w.sub(&wa, &wb, false);
        let other = w.sub(&wb, &wa, false);
        let back = w.neg(&other);
        assert!(equal(&w, &direct, &back));
        let twice: Vec<Lit> = std::iter::once(Lit::FALSE).chain(wa[..13].iter().copied()).collect();
        let four: Vec<Lit> = std::iter::once(Lit::FALSE).chain(twice[..13].iter().copied()).collect();
        let three = w.add(&wa, &twice, Lit::FALSE, false);
        let three_too = w.sub(&four, &wa, false);
        assert!(equal(&w, &three, &three_too));
        assert!(!equal(&w, &three, &four));
    }

    #[test]
    fn a_sum_that_may_overflow_is_not_extended() {
        let mut w = Words::new();
        let (a, b) = (inputs(&mut w, 8), inputs(&mut w, 8));
        let narrow = w.add(&a, &b, Lit::FALSE, false);
        let wide = add(&mut w, &a, &b, 9);
        assert!(!equal(&w, &resize(&narrow, true, 9), &wide));
        assert!(equal(&w, &narrow, &wide[..8]));
    }
}
