//! Values as sums: integer multiples of other values and a constant, where nothing is rounded and nothing overflows.
//!
//! Two values with the same sum are the same number, in whatever order it is added up. What is no sum is a term of its
//! own, known by its gates: so terms of two programs are the same as soon as their gates are.

use crate::graph::{Graph, Lit};
use crate::program::Type;
use crate::words::exact;
use std::collections::{BTreeMap, HashMap};

/// Most terms of a sum that is kept.
const MOST_TERMS: usize = 1024;

/// What a code can be, where that is known.
pub(crate) type Range = Option<(i128, i128)>;

/// `2^-frac` times the sum of terms, each times a factor, and of a constant. Not all of the numbers are even.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sum {
    terms: BTreeMap<u32, i128>,
    constant: i128,
    frac: i64,
}

/// Terms, and the values that are known as sums.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    terms: HashMap<Vec<Lit>, u32>,
    ranges: Vec<Range>,
    /// Exact bits of a value with this sum at point 0, and its fractional bits beside that point.
    values: HashMap<Sum, (Vec<Lit>, i64)>,
}

/// What is in two ranges.
pub(crate) fn both(a: Range, b: Range) -> Range {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.max(b.0), a.1.min(b.1))),
        (a, b) => a.or(b),
    }
}

impl Sum {
    fn normal(mut self) -> Option<Sum> {
        self.terms.retain(|_, factor| *factor != 0);
        let all = self.terms.values().fold(self.constant, |all, factor| all | factor);
        if all == 0 {
            return Some(Sum { frac: 0, ..self });
        }
        let zeros = all.trailing_zeros();
        self.terms.values_mut().for_each(|factor| *factor >>= zeros);
        self.constant >>= zeros;
        self.frac -= i64::from(zeros);
        (self.terms.len() <= MOST_TERMS).then_some(self)
    }

    /// A constant.
    pub(crate) fn constant(code: i128, frac: i64) -> Option<Sum> {
        Sum { terms: BTreeMap::new(), constant: code, frac }.normal()
    }

    /// The same at a finer binary point.
    fn refined(&self, frac: i64) -> Option<Sum> {
        let shift = u32::try_from(frac - self.frac).ok().filter(|&shift| shift < 90)?;
        let wider = |v: i128| v.checked_mul(1 << shift).filter(|v| v.unsigned_abs() < 1 << 120);
        let terms: Option<BTreeMap<u32, i128>> = self.terms.iter().map(|(&t, &f)| Some((t, wider(f)?))).collect();
        Some(Sum { terms: terms?, constant: wider(self.constant)?, frac })
    }

    /// This and `2^shift` times another one, or minus it.
    pub(crate) fn plus(&self, other: &Sum, shift: i64, minus: bool) -> Option<Sum> {
        let other = Sum { frac: other.frac - shift, ..other.clone() };
        let frac = self.frac.max(other.frac);
        let (mut sum, other) = (self.refined(frac)?, other.refined(frac)?);
        let signed = |v: i128| if minus { -v } else { v };
        for (term, factor) in other.terms {
            let own = sum.terms.entry(term).or_insert(0);
            *own = own.checked_add(signed(factor))?;
        }
        sum.constant = sum.constant.checked_add(signed(other.constant))?;
        sum.normal()
    }

    /// Whether it is a multiple of `2^-frac`.
    pub(crate) fn is_multiple(&self, frac: i64) -> bool {
        self.frac <= frac || (self.terms.is_empty() && self.constant == 0)
    }
}

impl Sums {
    /// A value as a term of its own, or as the constant that it is.
    pub(crate) fn term(&mut self, g: &Graph, bits: &[Lit], kind: Type, range: Range) -> Option<Sum> {
        let mut word = exact(bits, kind.signed);
        word.iter_mut().for_each(|bit| *bit = g.root(*bit));
        while word.len() > 1 && word[word.len() - 1] == word[word.len() - 2] {
            word.pop();
        }
        let zeros = word.iter().take_while(|&&bit| bit == Lit::FALSE).count().min(word.len() - 1);
        word.drain(..zeros);
        let frac = kind.frac - zeros as i64;
        if word.iter().all(|bit| bit.node() == 0) {
            if word.len() > 100 {
                return None;
            }
            let code = word.iter().rev().skip(1).fold(0i128, |v, &bit| v << 1 | i128::from(bit == Lit::TRUE));
            let sign = if word[word.len() - 1] == Lit::TRUE { 1i128 << (word.len() - 1) } else { 0 };
            return Sum::constant(code - sign, frac);
        }
        let range = range.map(|(lo, hi)| (lo >> zeros, hi >> zeros));
        let next = self.ranges.len() as u32;
        let term = *self.terms.entry(word).or_insert(next);
        // All of them are right.
        match self.ranges.get_mut(term as usize) {
            None => self.ranges.push(range),
            Some(own) => *own = both(*own, range),
        }
        Some(Sum { terms: BTreeMap::from([(term, 1)]), constant: 0, frac })
    }

    /// What the code of a sum can be at a binary point of which it is a multiple.
    pub(crate) fn range(&self, sum: &Sum, frac: i64) -> Range {
        let sum = sum.refined(frac)?;
        let mut total = (sum.constant, sum.constant);
        for (&term, &factor) in &sum.terms {
            let (lo, hi) = self.ranges[term as usize]?;
            let (a, b) = (lo.checked_mul(factor)?, hi.checked_mul(factor)?);
            total = (total.0.checked_add(a.min(b))?, total.1.checked_add(a.max(b))?);
        }
        Some(total)
    }

    /// The bits of a value with this sum, in a type that holds it; nothing if there is none yet. Then this one is kept.
    pub(crate) fn same(&mut self, sum: &Sum, bits: &[Lit], kind: Type) -> Option<Vec<Lit>> {
        // Moved by some places it is the same: what counts is where its bits lie beside the sum's own point.
        let (key, lead) = (Sum { frac: 0, ..sum.clone() }, kind.frac - sum.frac);
        if let Some((known, from)) = self.values.get(&key) {
            let sign = known[known.len() - 1];
            let bit = |i: usize| match i as i64 + from - lead {
                below if below < 0 => Lit::FALSE,
                place => known.get(place as usize).copied().unwrap_or(sign),
            };
            return Some((0..kind.width).map(bit).collect());
        }
        self.values.insert(key, (exact(bits, kind.signed), lead));
        None
    }
}
