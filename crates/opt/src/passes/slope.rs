//! `slope`: replaces the table of a straight line, `t[x] = (a x + b) >> k`, by sums.
//!
//! The words determine the slope to within two steps over the length of the table. Among the few possible `a` for small
//! `k` (digital straight lines: I. Debled-Rennesson, J.-P. Reveillès, *A linear algorithm for segmentation of digital
//! curves*, 1995, with a power of two as denominator), the pass selects the one with the cheapest sums: adders for the
//! signed digits of `a`, and for `b`, which can be chosen within bounds. The pass compares every word, so the result is
//! exact. A table is replaced only if the bits of the adders are at least a fifth less than its LUTs, whole or split,
//! as [`super::split`] estimates them. The pass runs only by name, as `prove` cannot decide a long table of an inner
//! value in time. The sums together have the delay of the lookup.

use super::facts::Known;
use super::linear::signed_digits;
use super::rewrite::{Rewrite, rebuild};
use super::split::{self, fits};
use super::tables::Reached;
use alir_core::ir::{Model, Op, ValueId};
use alir_core::num::{Code, Interval};
use num_bigint::BigInt;
use rustc_hash::FxHashMap;

/// Smallest number of words of a replaced table.
const FEWEST_WORDS: usize = 16;
/// Number of bits by which the denominator may exceed the table's length.
const FINER: u32 = 4;
/// Largest magnitude of a word, so that sums fit.
const LARGEST: i32 = 1 << 29;

/// Replaces every table of a straight line by sums if these are cheaper.
pub(super) fn run(model: &Model, known: &mut Known) -> Option<Model> {
    let facts = known.whole(model);
    let mut lines: FxHashMap<(i128, Vec<i32>), Option<Line>> = FxHashMap::default();
    rebuild(model, |rw, id| {
        let Op::Lookup { x, table, base } = &model.node(id).op else { return rw.keep(id) };
        if !fits(model, id, *x) {
            return rw.keep(id);
        }
        let Some(reached) = Reached::new(model, facts, *x, *table, base) else { return rw.keep(id) };
        if !reached.is_nearly_straight() {
            return rw.keep(id);
        }
        let key = (reached.first, reached.values.clone());
        match lines.entry(key).or_insert_with(|| Line::best(&reached)) {
            Some(line) => line.apply(model, rw, id, *x, &reached),
            None => rw.keep(id),
        }
    })
}

impl Reached {
    /// Returns `true` if the differences between neighbouring words differ by at most one, as on a rounded line.
    fn is_nearly_straight(&self) -> bool {
        let mut steps = self.values.windows(2).map(|w| i64::from(w[1]) - i64::from(w[0]));
        let Some(first) = steps.next() else { return false };
        let (mut lo, mut hi) = (first, first);
        let near = steps.all(|step| {
            (lo, hi) = (lo.min(step), hi.max(step));
            hi - lo <= 1
        });
        near && self.values.len() >= FEWEST_WORDS && self.values.iter().all(|v| (-LARGEST..=LARGEST).contains(v))
    }
}

/// Line `(a x + b) >> drop`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    /// Positions and signs of the digits of `a`, in the order of addition.
    digits: Vec<(u32, bool)>,
    b: i128,
    drop: u32,
}

impl Line {
    /// Returns the cheapest line through all words; `None` unless it is a fifth cheaper than the table.
    fn best(reached: &Reached) -> Option<Line> {
        let steps = reached.values.len() as i128 - 1;
        let rise = i128::from(*reached.values.last()?) - i128::from(*reached.values.first()?);
        let mut best: Option<(u32, Line)> = None;
        for drop in 0..=steps.ilog2() + 1 + FINER {
            // Bounds of the slope: from just above the first word to the last, and from the first to just above the
            // last.
            let least = ((rise - 1) << drop).div_euclid(steps) + 1;
            let most = (((rise + 1) << drop) - 1).div_euclid(steps);
            for a in (least..=most).filter(|&a| a != 0) {
                let digits = signed_digits(a);
                if best.as_ref().is_some_and(|(_, line)| digits.len() > line.digits.len() + 1) {
                    continue;
                }
                let Some(b) = offset(reached, a, drop) else { continue };
                let line = Line::new(digits, b, drop);
                let cost = line.cost(reached);
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    best = Some((cost, line));
                }
            }
        }
        let (cost, line) = best?;
        let table = split::cheapest(reached);
        (cost < table - table / 5).then_some(line)
    }

    fn new(mut digits: Vec<(u32, bool)>, b: i128, drop: u32) -> Line {
        // A sum without a constant must begin with a term that is added.
        if b == 0
            && let Some(first) = digits.iter().position(|&(_, neg)| !neg)
        {
            digits[..=first].rotate_right(1);
        }
        Line { digits, b, drop }
    }

    /// Returns `true` if the sum begins with its constant; otherwise the first term is used directly.
    fn begins_with_constant(&self) -> bool {
        self.b != 0 || self.digits[0].1
    }

    /// Returns the ends of all partial sums, each with the bits of its adder: 0 for a first term that is used directly.
    fn sums(&self, reached: &Reached) -> Vec<(i128, i128, u32)> {
        let (first, last) = (reached.first, reached.first + reached.values.len() as i128 - 1);
        let mut sums = Vec::with_capacity(self.digits.len());
        // Bits below the lowest bit of one operand are wires.
        let (mut lo, mut hi) = (self.b, self.b);
        let mut lowest = if self.b == 0 { u32::MAX } else { self.b.trailing_zeros() };
        for (i, &(place, neg)) in self.digits.iter().enumerate() {
            let term = if neg { (-(last << place), -(first << place)) } else { (first << place, last << place) };
            (lo, hi) = (lo + term.0, hi + term.1);
            let magnitude = hi.max(0) | if lo < 0 { !lo } else { 0 };
            let top = 128 - magnitude.leading_zeros() + u32::from(lo < 0);
            let wires = if lowest == u32::MAX { place } else { lowest.max(place) };
            let is_free = i == 0 && !self.begins_with_constant();
            sums.push((lo, hi, if is_free { 0 } else { top.saturating_sub(wires) }));
            lowest = lowest.min(place);
        }
        sums
    }

    /// Returns the cost in LUTs: one for each bit of the adders.
    fn cost(&self, reached: &Reached) -> u32 {
        self.sums(reached).iter().map(|&(_, _, bits)| bits).sum()
    }

    fn apply(&self, model: &Model, rw: &mut Rewrite<'_>, id: ValueId, x: ValueId, reached: &Reached) -> ValueId {
        let node = model.node(id);
        let (origin, frac) = (node.origin, node.interval.frac + self.drop as i32);
        let sums = self.sums(reached);
        let adders = sums.len() - usize::from(!self.begins_with_constant());
        let delay = model.own_delay(id) / adders.max(1) as f64;
        let number = rw.number(x);
        let mut sum = self.begins_with_constant().then(|| {
            let b = BigInt::from(self.b);
            rw.push(Op::Const { value: Code::from(&b) }, Interval::new(b.clone(), b, frac), 0.0, 0.0, origin)
        });
        for (&(place, neg), &(lo, hi, _)) in self.digits.iter().zip(&sums) {
            // The operand's raw value, shifted to its position in a sum that has a finer step than the table.
            let shift = model.kif(x).frac - frac + place as i32;
            let interval = Interval::new(BigInt::from(lo), BigInt::from(hi), frac);
            sum = Some(match (sum, neg) {
                (None, _) => rw.push(Op::Quantise { x: number, shift }, interval, 0.0, 0.0, origin),
                (Some(a), false) => rw.push(Op::Add { a, b: number, shift }, interval, delay, 0.0, origin),
                (Some(a), true) => rw.push(Op::Sub { a, b: number, shift }, interval, delay, 0.0, origin),
            });
        }
        let sum = sum.expect("a line has a digit");
        rw.push(Op::Quantise { x: sum, shift: 0 }, node.interval.clone(), 0.0, node.cost, origin)
    }
}

/// Returns a `b` with which `(a x + b) >> drop` equals every word: zero if possible, otherwise the one with the most
/// trailing zeros; `None` if there is none.
fn offset(reached: &Reached, a: i128, drop: u32) -> Option<i128> {
    let (mut lo, mut hi) = (i128::MIN, i128::MAX);
    for (code, &value) in (reached.first..).zip(&reached.values) {
        let at = (i128::from(value) << drop) - a * code;
        (lo, hi) = (lo.max(at), hi.min(at + (1 << drop) - 1));
        if lo > hi {
            return None;
        }
    }
    if lo <= 0 && hi >= 0 {
        return Some(0);
    }
    // The coarsest step with a multiple between the bounds.
    (0..=drop.max(40)).rev().find_map(|zeros| {
        let b = -((-lo) >> zeros) << zeros;
        (b <= hi).then_some(b)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(first: i128, last: i128, f: impl Fn(i128) -> i128) -> Reached {
        Reached { first, values: (first..=last).map(|x| f(x) as i32).collect() }
    }

    #[test]
    fn digits_add_up() {
        for a in (-3000..3000i128).filter(|&a| a != 0) {
            let digits = signed_digits(a);
            let value = |&(place, neg): &(u32, bool)| if neg { -(1i128 << place) } else { 1 << place };
            assert_eq!(digits.iter().map(value).sum::<i128>(), a);
            assert!(digits.windows(2).all(|w| w[1].0 > w[0].0 + 1), "{a}: {digits:?}");
        }
    }

    #[test]
    fn lines_are_found_and_nothing_else() {
        let mut rng = alir_core::num::SplitMix::new(5);
        let mut lines = 0;
        for _ in 0..300 {
            let (a, b) = (rng.below(400) as i128 - 200, rng.below(4000) as i128 - 2000);
            let drop = rng.below(7);
            let first = rng.below(2000) as i128 - 1000;
            let mut line = table(first, first + 200 + rng.below(800) as i128, |x| (a * x + b) >> drop);
            if a == 0 || !line.is_nearly_straight() {
                assert!(a == 0, "{a}");
                continue;
            }
            let reads = |line: &Reached| {
                let found = Line::best(line)?;
                let value = |x: i128| {
                    let term = |&(place, neg): &(u32, bool)| if neg { -(x << place) } else { x << place };
                    ((found.digits.iter().map(term).sum::<i128>() + found.b) >> found.drop) as i32
                };
                assert!((line.first..).zip(&line.values).all(|(x, &v)| value(x) == v));
                Some(())
            };
            // A line of this slope exists, even if it is not cheaper.
            assert!(offset(&line, a, drop as u32).is_some());
            lines += u32::from(reads(&line).is_some());
            // With one changed word there is no line, or another one through all words.
            let at = 1 + rng.below(line.values.len() as u64 - 2) as usize;
            line.values[at] += if rng.below(2) == 0 { 1 } else { -1 };
            if line.is_nearly_straight() {
                reads(&line);
            }
        }
        assert!(lines > 100, "{lines}");
        assert_eq!(offset(&table(0, 99, |x| (5 * x + 3) >> 2), 5, 2), Some(3));
        assert_eq!(offset(&table(0, 99, |x| (5 * x + 64) >> 3), 5, 3), Some(64));
    }
}
