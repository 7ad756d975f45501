//! Integer polynomials over bits, modulo a power of two.
//!
//! A product of bits is a set of variables, as a bit squared is the bit.

use super::super::aig::Lit;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};
use std::ops::BitOr;

/// Function of a few bits: a sum of products of the bits, with a factor for each product.
#[derive(Debug, PartialEq)]
pub(super) struct Function {
    leaves: Vec<u32>,
    /// Products, as sets of positions in `leaves`, with their factors.
    terms: Vec<(u16, i64)>,
}

impl Function {
    pub(super) fn literal(lit: Lit) -> Function {
        let (constant, factor) = if lit.is_negated() { (1, -1) } else { (0, 1) };
        let (leaves, terms) = match lit.as_const() {
            Some(one) => (Vec::new(), vec![(0, i64::from(one))]),
            None => (vec![lit.node()], vec![(0, constant), (1, factor)]),
        };
        Function { leaves, terms: terms.into_iter().filter(|term| term.1 != 0).collect() }
    }

    /// Returns the number of truth tables that are 1, as a function of their common leaves.
    pub(super) fn from_tables(tables: &[&[u64]], leaves: &[u32]) -> Function {
        let size = 1usize << leaves.len();
        let ones = |i: usize| tables.iter().map(|table| (table[i / 64] >> (i % 64) & 1) as i64).sum();
        let mut factors: Vec<i64> = (0..size).map(ones).collect();
        // Converts values to factors of products, variable by variable.
        for bit in 0..leaves.len() {
            for i in 0..size {
                if i >> bit & 1 == 1 {
                    factors[i] -= factors[i ^ 1 << bit];
                }
            }
        }
        let terms = (0..=u16::MAX).zip(factors).filter(|term| term.1 != 0).collect();
        Function { leaves: leaves.to_vec(), terms }
    }

    /// Returns the number of terms.
    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    /// Returns `1 - self`.
    pub(super) fn complement(&self) -> Function {
        let constant = 1 - self.terms.iter().find(|term| term.0 == 0).map_or(0, |term| term.1);
        let others = self.terms.iter().filter(|term| term.0 != 0).map(|&(set, factor)| (set, -factor));
        let terms = [(0, constant)].into_iter().filter(|term| term.1 != 0).chain(others).collect();
        Function { leaves: self.leaves.clone(), terms }
    }
}

/// Product of variables, as a set of variable numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Monomial<const N: usize>([u64; N]);

impl<const N: usize> Hash for Monomial<N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Hash as a polynomial in an odd number; the hasher mixes the upper bits.
        let sum =
            self.0.iter().rfold(0u64, |sum, &word| sum.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(21) ^ word);
        state.write_u64(sum);
    }
}

impl<const N: usize> BitOr for Monomial<N> {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Monomial(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }
}

impl<const N: usize> Monomial<N> {
    /// Empty product.
    pub(super) const ONE: Self = Monomial([0; N]);

    pub(super) fn variable(number: usize) -> Self {
        let mut out = Self::ONE;
        out.0[number / 64] |= 1 << (number % 64);
        out
    }

    pub(super) fn contains(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 == 1
    }

    pub(super) fn without(self, other: Self) -> Self {
        Monomial(std::array::from_fn(|i| self.0[i] & !other.0[i]))
    }

    pub(super) fn numbers(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(i, mut word)| {
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
                word &= word - 1;
                Some(64 * i + bit)
            })
        })
    }
}

/// Numbering of the nodes that are variables, at most `64 * N` at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables<const N: usize> {
    numbers: FxHashMap<u32, usize>,
    nodes: Vec<u32>,
    vacant: Vec<usize>,
    /// `true` if a node got no number.
    is_exhausted: bool,
}

impl<const N: usize> Variables<N> {
    /// Returns the number of a node; `None` if all numbers are used.
    pub(super) fn number(&mut self, node: u32) -> Option<usize> {
        if let Some(&known) = self.numbers.get(&node) {
            return Some(known);
        }
        let number = self.vacant.pop().unwrap_or(self.nodes.len());
        if number == 64 * N {
            self.is_exhausted = true;
            return None;
        }
        if number == self.nodes.len() {
            self.nodes.push(0);
        }
        self.nodes[number] = node;
        self.numbers.insert(node, number);
        Some(number)
    }

    pub(super) fn known(&self, node: u32) -> Option<usize> {
        self.numbers.get(&node).copied()
    }

    pub(super) fn node(&self, number: usize) -> u32 {
        self.nodes[number]
    }

    /// Releases the numbers that are not in a set, if most numbers are used.
    pub(super) fn retain(&mut self, set: Monomial<N>) {
        if 2 * (self.nodes.len() - self.vacant.len()) > 64 * N {
            let (numbers, vacant) = (&mut self.numbers, &mut self.vacant);
            numbers.retain(|_, number| {
                let is_kept = set.contains(*number);
                vacant.extend((!is_kept).then_some(*number));
                is_kept
            });
            // Sorted, so that the order in the map has no effect.
            vacant.sort_unstable();
        }
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }
}

/// Polynomial modulo a power of two.
#[derive(Clone, Debug)]
pub(super) struct Polynomial<const N: usize> {
    factors: FxHashMap<Monomial<N>, u128>,
    bits: u32,
}

impl<const N: usize> Polynomial<N> {
    /// Returns the polynomial 0 modulo `2^bits`, for at most 128 bits.
    pub(super) fn zero(bits: u32) -> Self {
        Polynomial { factors: FxHashMap::default(), bits }
    }

    pub(super) fn mask(&self) -> u128 {
        if self.bits < 128 { (1 << self.bits) - 1 } else { u128::MAX }
    }

    pub(super) fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the number of terms.
    pub(super) fn len(&self) -> usize {
        self.factors.len()
    }

    pub(super) fn factor(&self, monomial: &Monomial<N>) -> u128 {
        self.factors.get(monomial).copied().unwrap_or_default()
    }

    pub(super) fn terms(&self) -> impl Iterator<Item = (Monomial<N>, u128)> {
        self.factors.iter().map(|(&monomial, &factor)| (monomial, factor))
    }

    /// Returns the set of variables of all terms.
    pub(super) fn variables(&self) -> Monomial<N> {
        self.factors.keys().fold(Monomial::ONE, |all, &monomial| all | monomial)
    }

    pub(super) fn add(&mut self, monomial: Monomial<N>, factor: u128) {
        let mask = self.mask();
        if factor & mask == 0 {
            return;
        }
        match self.factors.entry(monomial) {
            Entry::Vacant(entry) => {
                entry.insert(factor & mask);
            }
            Entry::Occupied(mut entry) => {
                let sum = entry.get().wrapping_add(factor) & mask;
                if sum == 0 {
                    entry.remove();
                } else {
                    *entry.get_mut() = sum;
                }
            }
        }
    }

    pub(super) fn add_all(&mut self, other: &Self) {
        other.terms().for_each(|(monomial, factor)| self.add(monomial, factor));
    }

    /// Adds a function times a term; `None` if there are too many variables.
    pub(super) fn add_function(
        &mut self,
        variables: &mut Variables<N>,
        function: &Function,
        (monomial, factor): (Monomial<N>, u128),
    ) -> Option<()> {
        let mut leaves = [Monomial::ONE; 16];
        for (leaf, &node) in leaves.iter_mut().zip(&function.leaves) {
            *leaf = Monomial::variable(variables.number(node)?);
        }
        for &(set, own) in &function.terms {
            let product = (0..function.leaves.len()).filter(|i| set >> i & 1 == 1).fold(monomial, |m, i| m | leaves[i]);
            self.add(product, factor.wrapping_mul(i128::from(own) as u128));
        }
        Some(())
    }

    /// Returns the increase of the number of terms by an addition.
    pub(super) fn growth(&self, change: &Self) -> isize {
        let count = |(monomial, factor): (Monomial<N>, u128)| {
            let before = self.factor(&monomial);
            let after = before.wrapping_add(factor) & self.mask();
            isize::from(after != 0) - isize::from(before != 0)
        };
        change.terms().map(count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alir_core::num::SplitMix;

    /// Returns the value of a polynomial for an assignment of the bits of its nodes.
    fn value<const N: usize>(polynomial: &Polynomial<N>, variables: &Variables<N>, bits: u64) -> u128 {
        let is_one = |number: usize| bits >> variables.node(number) & 1 == 1;
        let ones = polynomial.terms().filter(|(monomial, _)| monomial.numbers().all(is_one));
        ones.fold(0, |sum: u128, (_, factor)| sum.wrapping_add(factor)) & polynomial.mask()
    }

    #[test]
    fn sums_of_functions_have_the_sums_of_their_values() {
        let mut random = SplitMix::new(11);
        for _ in 0..200 {
            let bits = 1 + random.below(20) as u32;
            let (mut variables, mut sum) = (Variables::<1>::default(), Polynomial::zero(bits));
            let mut parts = Vec::new();
            for _ in 0..4 {
                let mut leaves: Vec<u32> = (1..40).filter(|_| random.below(8) == 0).collect();
                leaves.truncate(7);
                let table = [random.word(), random.word()];
                let function = Function::from_tables(&[&table], &leaves);
                let is_complement = random.below(2) == 1;
                let used = if is_complement { function.complement() } else { function };
                let factor = u128::from(random.word());
                sum.add_function(&mut variables, &used, (Monomial::ONE, factor)).unwrap();
                parts.push((leaves, table, is_complement, factor));
            }
            for _ in 0..50 {
                let assignment = random.word();
                let expected = parts.iter().fold(0, |sum: u128, (leaves, table, is_complement, factor)| {
                    let row = leaves.iter().enumerate().fold(0, |row, (i, leaf)| row | (assignment >> leaf & 1) << i);
                    let one = table[row as usize / 64] >> (row % 64) & 1 == 1;
                    sum.wrapping_add(if one != *is_complement { *factor } else { 0 })
                });
                assert_eq!(value(&sum, &variables, assignment), expected & sum.mask());
            }
        }
    }

    #[test]
    fn numbers_are_taken_back_when_most_are_used() {
        let mut variables = Variables::<1>::default();
        let numbers: Vec<usize> = (1..=64).map(|node| variables.number(node).unwrap()).collect();
        assert_eq!((variables.number(65), variables.is_exhausted()), (None, true));
        variables.retain(Monomial::variable(numbers[4]));
        assert_eq!((variables.known(5), variables.known(6)), (Some(numbers[4]), None));
        let again: Vec<usize> = (100..163).map(|node| variables.number(node).unwrap()).collect();
        assert!(again.iter().all(|number| *number != numbers[4]));
        assert_eq!(variables.number(200), None);
    }
}
