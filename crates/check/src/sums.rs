//! Values as exact sums: integer multiples of other values and a constant, without rounding or overflow.
//!
//! Two values with the same sum are the same number, in any order of addition. A value that is not a sum is a new term,
//! identified by its gates, so that terms of two programs are equal as soon as their gates are. If a value has the same
//! gates as a known sum, the value has that sum, for every way to compute it.

use crate::graph::Lit;
use crate::program::Type;
use std::collections::BTreeMap;

/// Largest number of terms of a recorded sum.
const MOST_TERMS: usize = 1024;

/// Bounds of a raw integer value, both inclusive; `None` if unknown.
pub type Range = Option<(i128, i128)>;

/// `2^-frac * (constant + sum of factor * term)`, normalised: the constant and the factors are not all even.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sum {
    /// Terms with their factors, in the order of the terms.
    pub terms: Vec<(u32, i128)>,
    pub(crate) constant: i128,
    pub(crate) frac: i64,
}

/// Bits, type, range and sum of a value of a program.
#[derive(Clone, Debug)]
pub struct Value {
    /// Bits of the value.
    pub bits: Vec<Lit>,
    /// Type of the value.
    pub kind: Type,
    /// Range of its raw integer.
    pub range: Range,
    /// Sum that equals the value.
    pub sum: Option<Sum>,
}

/// Terms, and the values whose sums are known.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// Values of each program.
    pub programs: Vec<Vec<Value>>,
    /// Images that no value has used so far: their sums at binary point 0, and their bits.
    pub unused: Vec<(Sum, Vec<Lit>)>,
    /// Sums by the bits of a value at binary point 0.
    pub(crate) words: BTreeMap<Vec<Lit>, Sum>,
    /// Range of each term.
    ranges: Vec<Range>,
    /// Exact bits of a value with this sum at binary point 0, and the number of fractional bits relative to that point.
    pub(crate) values: BTreeMap<Sum, (Vec<Lit>, i64)>,
}

/// Returns the intersection of two ranges.
pub(crate) fn both(a: Range, b: Range) -> Range {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.max(b.0), a.1.min(b.1))),
        (a, b) => a.or(b),
    }
}

impl Sum {
    fn normal(mut self) -> Option<Sum> {
        self.terms.retain(|(_, factor)| *factor != 0);
        let all = self.terms.iter().fold(self.constant, |all, (_, factor)| all | factor);
        if all == 0 {
            return Some(Sum { frac: 0, ..self });
        }
        let zeros = all.trailing_zeros();
        self.terms.iter_mut().for_each(|(_, factor)| *factor >>= zeros);
        self.constant >>= zeros;
        self.frac -= i64::from(zeros);
        (self.terms.len() <= MOST_TERMS).then_some(self)
    }

    /// Returns a constant as a sum.
    pub(crate) fn constant(code: i128, frac: i64) -> Option<Sum> {
        Sum { terms: Vec::new(), constant: code, frac }.normal()
    }

    /// Returns this sum at a finer binary point; `None` if a number exceeds the limits.
    fn refined(&self, frac: i64) -> Option<Sum> {
        let shift = u32::try_from(frac - self.frac).ok().filter(|&shift| shift < 90)?;
        let wider = |v: i128| v.checked_mul(1 << shift).filter(|v| v.unsigned_abs() < 1 << 120);
        let terms: Option<Vec<(u32, i128)>> = self.terms.iter().map(|&(t, f)| Some((t, wider(f)?))).collect();
        Some(Sum { terms: terms?, constant: wider(self.constant)?, frac })
    }

    /// Returns this sum plus or minus `2^shift` times `other`; `None` if a number exceeds the limits.
    pub(crate) fn plus(&self, other: &Sum, shift: i64, minus: bool) -> Option<Sum> {
        let frac = self.frac.max(other.frac - shift);
        let (own, other) = (self.refined(frac)?, other.refined(frac + shift)?);
        let signed = |v: i128| if minus { -v } else { v };
        let mut terms = Vec::with_capacity(own.terms.len() + other.terms.len());
        let mut rest = own.terms.into_iter().peekable();
        for (term, factor) in other.terms {
            while let Some(before) = rest.next_if(|own| own.0 < term) {
                terms.push(before);
            }
            let both = rest.next_if(|own| own.0 == term).map_or(0, |own| own.1);
            terms.push((term, both.checked_add(signed(factor))?));
        }
        terms.extend(rest);
        Sum { terms, constant: own.constant.checked_add(signed(other.constant))?, frac }.normal()
    }

    /// Solves the equation "this sum is zero" for the newest term with factor 1 or -1: returns the term, and its value
    /// as a sum of the other terms; `None` if no term has such a factor.
    pub(crate) fn solved(mut self) -> Option<(u32, Sum)> {
        let at = self.terms.iter().rposition(|(_, factor)| factor.abs() == 1)?;
        let (term, factor) = self.terms.remove(at);
        let sum = Sum { frac: 0, ..self };
        Some((term, Sum { terms: Vec::new(), constant: 0, frac: 0 }.plus(&sum, 0, factor == 1)?))
    }

    /// Replaces each term that is a key of `instead`; `None` if a number exceeds the limits. A replacement may contain
    /// other keys only if the replacements form no cycle.
    pub(crate) fn renewed(&self, instead: &BTreeMap<u32, Sum>) -> Option<Sum> {
        let mut sum = self.clone();
        while let Some(at) = sum.terms.iter().position(|(term, _)| instead.contains_key(term)) {
            let (term, factor) = sum.terms.remove(at);
            let own = &instead[&term];
            let terms = own.terms.iter().map(|&(t, f)| Some((t, f.checked_mul(factor)?))).collect::<Option<_>>()?;
            let constant = own.constant.checked_mul(factor)?;
            sum = sum.plus(&Sum { terms, constant, frac: own.frac + sum.frac }, 0, false)?;
        }
        Some(sum)
    }

    /// Returns `true` if the two sums are equal up to a factor that is a power of two.
    pub fn is_moved(&self, other: &Sum) -> bool {
        (&self.terms, self.constant) == (&other.terms, other.constant)
    }

    /// Returns `true` if the sum is a multiple of `2^-frac`.
    pub(crate) fn is_multiple(&self, frac: i64) -> bool {
        self.frac <= frac || (self.terms.is_empty() && self.constant == 0)
    }
}

impl Sums {
    /// Returns the values of the program that is being built, or was built last.
    pub fn own(&self) -> &[Value] {
        self.programs.last().map_or(&[], Vec::as_slice)
    }

    /// Returns a value by its program and index.
    pub fn value(&self, (program, number): (usize, usize)) -> Option<&Value> {
        self.programs.get(program)?.get(number)
    }

    /// Returns the known sum of a word's gates; if the word has no known sum, records and returns `sum`, or a new term.
    pub(crate) fn term(
        &mut self,
        (word, zeros): (Vec<Lit>, usize),
        kind: Type,
        range: Range,
        sum: Option<Sum>,
    ) -> Option<Sum> {
        let frac = kind.frac - zeros as i64;
        if word.iter().all(|bit| bit.node() == 0) {
            if word.len() > 100 {
                return None;
            }
            let code = word.iter().rev().skip(1).fold(0i128, |v, &bit| v << 1 | i128::from(bit == Lit::TRUE));
            let sign = if word[word.len() - 1] == Lit::TRUE { 1i128 << (word.len() - 1) } else { 0 };
            return Sum::constant(code - sign, frac);
        }
        self.unused.retain(|image| image.1 != word);
        let sum = self.words.entry(word).or_insert_with(|| match sum {
            Some(sum) => Sum { frac: sum.frac - frac, ..sum },
            None => {
                self.ranges.push(None);
                Sum { terms: vec![(self.ranges.len() as u32 - 1, 1)], constant: 0, frac: 0 }
            }
        });
        let is_term = (sum.terms.len(), sum.constant, sum.frac) == (1, 0, 0);
        if let Some(&(term, 1)) = sum.terms.first().filter(|_| is_term) {
            // Each range is valid, so their intersection is too.
            let own = &mut self.ranges[term as usize];
            *own = both(*own, range.map(|(lo, hi)| (lo >> zeros.min(127), hi >> zeros.min(127))));
        }
        Some(Sum { frac: sum.frac + frac, ..sum.clone() })
    }

    /// Returns the range of a sum as a raw integer with `frac` fractional bits; the sum must be a multiple of
    /// `2^-frac`. Returns `None` if the range of a term is unknown, or if a number exceeds the limits.
    pub(crate) fn range(&self, sum: &Sum, frac: i64) -> Range {
        let sum = sum.refined(frac)?;
        let mut total = (sum.constant, sum.constant);
        for &(term, factor) in &sum.terms {
            let (lo, hi) = self.ranges[term as usize]?;
            let (a, b) = (lo.checked_mul(factor)?, hi.checked_mul(factor)?);
            total = (total.0.checked_add(a.min(b))?, total.1.checked_add(a.max(b))?);
        }
        Some(total)
    }

    /// Returns the exact bits of a value with this sum, and their number of fractional bits.
    pub fn known(&self, sum: &Sum) -> Option<(Vec<Lit>, i64)> {
        let (bits, lead) = self.values.get(&Sum { frac: 0, ..sum.clone() })?;
        Some((bits.clone(), lead + sum.frac))
    }
}
