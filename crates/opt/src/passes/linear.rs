//! Pass `linear`: rebuilds groups of connected sums with fewer adder bits.
//!
//! Additions, subtractions, negations and shifts between two non-linear operations compute integer combinations of the
//! same values: a constant matrix times a vector. The number of adders depends on the shared partial sums. The pass
//! recovers the matrix, represents its coefficients in canonical signed digits, and repeatedly shares the most
//! profitable two-term partial sum (R. I. Hartley, *Subexpression sharing in filters using canonic signed digit
//! multipliers*, IEEE TCAS-II 43, 1996). The weight by overlapping bits and the bound on adder levels follow C. Sun et
//! al., *da4ml* (2025), section 3; a weighting by occurrences alone gained nothing. The solver of constant matrices
//! ([`alir_cmvm`]) tries the same group, and the smaller result is used. A group of sums is replaced only if the result
//! has fewer adder bits and no more adder levels than in the file.

use super::facts::{Facts, Known, Range};
use super::rewrite::{Rewrite, rebuild};
use alir_cmvm::{self, AdderGraph, Matrix, Weight};
use alir_core::ir::{Model, Op, Term, ValueId};
use alir_core::num::{Code, Interval};
use rustc_hash::{FxHashMap, FxHasher};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Maximum number of coefficients of a program; a program with more is left unchanged.
const MOST_COEFFICIENTS: usize = 8_000_000;
/// Budget of the pass in digit pairs of all groups: a number for each operation of the program, plus a fixed number.
/// Groups are solved in ascending order of their size until the budget is used up, which keeps the time linear.
const PAIRS_PER_OPERATION: usize = 8;
const SPARE_PAIRS: usize = 1 << 14;

/// Solves every group of sums again, and keeps the results that are smaller; returns `None` if no group is improved.
pub(super) fn run(model: &Model, known: &mut Known) -> Option<Model> {
    let facts = &*known.whole(model);
    let sums = Sums::find(model, facts)?;
    let mut solved: Vec<Option<Rc<Solution>>> = vec![None; sums.groups.len()];
    let mut by_size: Vec<(usize, usize)> = sums.groups.iter().map(Group::pairs).zip(0..).collect();
    by_size.sort_unstable();
    let mut left = SPARE_PAIRS + PAIRS_PER_OPERATION * model.nodes().len();
    // A convolution has equal sums at every position. Groups of equal shape have equal numbers of pairs, so they are
    // consecutive in this order.
    let mut known: FxHashMap<u64, (usize, Option<Rc<Solution>>)> = FxHashMap::default();
    let mut known_pairs = 0;
    for (pairs, index) in by_size {
        let Some(rest) = left.checked_sub(pairs) else { break };
        left = rest;
        let group = &sums.groups[index];
        let Some(spans) = group.spans(model, facts) else { continue };
        if pairs != known_pairs {
            known.clear();
            known_pairs = pairs;
        }
        let hash = group.hash(&spans);
        let same = known.get(&hash).filter(|(other, _)| {
            let other = &sums.groups[*other];
            group.alike(other) && other.spans(model, facts).is_some_and(|s| s == spans)
        });
        let solution = match same {
            Some((_, solution)) => solution.clone(),
            None => {
                let solution = solve(group, &spans).map(|own| {
                    let other = solve_by_cmvm(group, &spans, own.bits);
                    Rc::new(other.unwrap_or(own))
                });
                known.insert(hash, (index, solution.clone()));
                solution
            }
        };
        solved[index] = solution.filter(|s| s.bits < group.bits);
    }
    if solved.iter().all(Option::is_none) {
        return None;
    }
    let delays = Delays::new(model, facts);
    let mut made: Vec<Vec<Option<ValueId>>> =
        solved.iter().map(|s| vec![None; s.as_ref().map_or(0, |s| s.values.len())]).collect();
    rebuild(model, |rw, id| {
        let Some((group, row)) = sums.root[id.index()] else { return rw.keep(id) };
        let Some(solution) = &solved[group] else { return rw.keep(id) };
        let target = solution.rows[row];
        let leaves = &sums.groups[group].leaves;
        let any_sign = sums.groups[group].any_sign[row];
        let mut writer = Writer { model, rw, solution, leaves, made: &mut made[group], delays: &delays, origin: id };
        writer.root(id, target, any_sign)
    })
}

/// A coefficient `mantissa * 2^exponent` with an odd mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Coefficient {
    pub(super) mantissa: i64,
    pub(super) exponent: i32,
}

impl Coefficient {
    fn new(mantissa: i128, exponent: i32) -> Option<Coefficient> {
        let zeros = mantissa.trailing_zeros();
        let mantissa = mantissa >> zeros.min(127);
        // Sharing the digits of larger coefficients saves nothing.
        (mantissa.unsigned_abs() < 1 << 60 && mantissa != 0)
            .then(|| Coefficient { mantissa: mantissa as i64, exponent: exponent + zeros as i32 })
    }

    /// Returns the sum; `Some(None)` if the sum is zero, `None` if the sum is too large.
    fn plus(self, other: Coefficient) -> Option<Option<Coefficient>> {
        let low = self.exponent.min(other.exponent);
        let (a, b) = (self.exponent - low, other.exponent - low);
        if a > 60 || b > 60 {
            return None;
        }
        let sum = (i128::from(self.mantissa) << a) + (i128::from(other.mantissa) << b);
        if sum == 0 { Some(None) } else { Coefficient::new(sum, low).map(Some) }
    }
}

/// A linear combination of leaves, sorted by leaf.
pub(super) type Row = Vec<(u32, Coefficient)>;

/// The row of a leaf.
type LeafRow = [(u32, Coefficient); 1];

/// Sums that share values, to be solved together.
pub(super) struct Group {
    /// Values that are not sums, of which the rows are combinations.
    pub(super) leaves: Vec<ValueId>,
    /// Each required sum as a combination of leaves (by index into `leaves`).
    pub(super) rows: Vec<Row>,
    /// Adder levels of each row in the file.
    pub(super) levels: Vec<u32>,
    /// Adder bits of the sums in the file.
    pub(super) bits: u64,
    /// LUTs of the sums in the file. The bits above the end of an unsigned operand need no LUTs: only the carry is
    /// added there.
    pub(super) luts: u64,
    /// For each row, `true` if only additions of constants read the row, so that a negated value is accepted as well.
    any_sign: Vec<bool>,
}

impl Group {
    /// Returns the bit positions of the group's leaves; `None` if some are unknown.
    fn spans(&self, model: &Model, facts: &Facts) -> Option<Vec<Span>> {
        self.leaves.iter().map(|&v| facts.range(v).map(|r| Span::new(r, -model.kif(v).frac))).collect()
    }

    /// Returns `true` if the two groups are equal except for their leaves.
    fn alike(&self, other: &Group) -> bool {
        self.leaves.len() == other.leaves.len()
            && self.levels == other.levels
            && self.any_sign == other.any_sign
            && self.rows == other.rows
    }

    /// Returns a hash that is equal for equal groups with these spans of leaves.
    fn hash(&self, spans: &[Span]) -> u64 {
        let mut hasher = FxHasher::default();
        (&self.levels, &self.any_sign, &self.rows, spans).hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the number of pairs of signed digits in the group's rows.
    fn pairs(&self) -> usize {
        let digits = |row: &Row| row.iter().map(|(_, c)| count_digits(c.mantissa.into())).sum::<usize>();
        self.rows.iter().map(digits).map(|n| n * n.saturating_sub(1) / 2).sum()
    }
}

/// Sums of a program, by group.
pub(super) struct Sums {
    pub(super) groups: Vec<Group>,
    /// Group and row of each value that has a reader other than a sum.
    pub(super) root: Vec<Option<(usize, usize)>>,
}

/// Returns the terms of an exact sum; `None` if the operation is not a sum, or may wrap or drop bits.
fn terms_of(model: &Model, facts: &Facts, id: ValueId) -> Option<Vec<Term>> {
    let term = |value, shift, neg| Term { value, shift, neg };
    let terms = match &model.node(id).op {
        Op::Neg { x } => vec![term(*x, 0, true)],
        Op::Quantise { x, shift } => vec![term(*x, *shift, false)],
        Op::Add { a, b, shift } => vec![term(*a, 0, false), term(*b, *shift, false)],
        Op::Sub { a, b, shift } => vec![term(*a, 0, false), term(*b, *shift, true)],
        Op::Sum { terms } => terms.to_vec(),
        _ => return None,
    };
    let finest = terms.iter().map(|t| i64::from(model.kif(t.value).frac) - i64::from(t.shift)).max()?;
    let exact = finest <= i64::from(model.kif(id).frac) && facts.never_wraps(model, id);
    let known = facts.range(id).is_some_and(|r| r.lo != r.hi);
    (exact && known).then_some(terms)
}

impl Sums {
    pub(super) fn find(model: &Model, facts: &Facts) -> Option<Sums> {
        let n = model.nodes().len();
        // Leaves are numbered by their value.
        let mut vectors: Vec<Option<Row>> = vec![None; n];
        let mut levels = vec![0u32; n];
        let mut bits = vec![AdderCost::default(); n];
        let mut wanted = vec![false; n];
        let mut parent: Vec<u32> = (0..n as u32).collect();
        let mut kept = 0;
        let any_sign = signs_that_do_not_matter(model);
        for id in model.ids() {
            let vector = terms_of(model, facts, id).and_then(|terms| Some((combine(&terms, &vectors)?, terms)));
            let vector = vector.filter(|(vector, _)| !vector.is_empty()).map(|(v, t)| (t, v));
            let Some((terms, vector)) = vector else {
                model.node(id).op.for_each_operand(|v| wanted[v.index()] = true);
                continue;
            };
            kept += vector.len();
            if kept > MOST_COEFFICIENTS {
                return None;
            }
            let deepest = terms.iter().map(|t| levels[t.value.index()]).max().unwrap_or(0);
            let is_free = any_sign[id.index()] && matches!(model.node(id).op, Op::Neg { .. });
            bits[id.index()] = if is_free { AdderCost::default() } else { adder_bits(model, facts, id, &terms) };
            // A concatenation has no delay.
            let own = if bits[id.index()].bits == 0 { 0 } else { terms.len().next_power_of_two().trailing_zeros() };
            levels[id.index()] = deepest + own;
            for pair in vector.windows(2) {
                union(&mut parent, pair[0].0, pair[1].0);
            }
            if let Some(first) = vector.first() {
                union(&mut parent, first.0, id.0);
            }
            vectors[id.index()] = Some(vector);
        }
        for out in model.outputs() {
            if let Some(v) = out.source {
                wanted[v.index()] = true;
            }
        }
        let mut groups: Vec<Group> = Vec::new();
        let mut group_of: FxHashMap<u32, usize> = FxHashMap::default();
        let mut root = vec![None; n];
        let mut leaf_of: Vec<u32> = vec![u32::MAX; n];
        for id in model.ids() {
            let Some(vector) = &vectors[id.index()] else { continue };
            let key = find(&mut parent, id.0);
            let g = *group_of.entry(key).or_insert_with(|| {
                groups.push(Group {
                    leaves: Vec::new(),
                    rows: Vec::new(),
                    levels: Vec::new(),
                    bits: 0,
                    luts: 0,
                    any_sign: Vec::new(),
                });
                groups.len() - 1
            });
            let group = &mut groups[g];
            group.bits += bits[id.index()].bits;
            group.luts += bits[id.index()].luts;
            if !wanted[id.index()] {
                continue;
            }
            let row = vector.iter().map(|&(leaf, c)| {
                if leaf_of[leaf as usize] == u32::MAX {
                    leaf_of[leaf as usize] = group.leaves.len() as u32;
                    group.leaves.push(ValueId(leaf));
                }
                (leaf_of[leaf as usize], c)
            });
            group.rows.push(row.collect());
            group.levels.push(levels[id.index()]);
            group.any_sign.push(any_sign[id.index()]);
            root[id.index()] = Some((g, group.rows.len() - 1));
        }
        Some(Sums { groups, root })
    }
}

/// Returns `true` for each value that only additions of constants read, possibly through shifts and negations: `c - x`
/// costs no more than `c + x`.
fn signs_that_do_not_matter(model: &Model) -> Vec<bool> {
    let mut any_sign = vec![true; model.nodes().len()];
    for out in model.outputs() {
        if let Some(v) = out.source {
            any_sign[v.index()] = false;
        }
    }
    for id in model.ids().rev() {
        let node = model.node(id);
        let takes_any = match &node.op {
            Op::AddConst { .. } => true,
            Op::Neg { x } => any_sign[id.index()] && model.kif(*x).frac == model.kif(id).frac,
            Op::Quantise { x, shift } => any_sign[id.index()] && model.kif(*x).frac - shift <= model.kif(id).frac,
            _ => false,
        };
        if !takes_any {
            node.op.for_each_operand(|v| any_sign[v.index()] = false);
        }
    }
    any_sign
}

/// A row multiplied by a power of two, and possibly negated.
#[derive(Clone, Copy)]
struct Scaled<'a> {
    row: &'a [(u32, Coefficient)],
    shift: i32,
    neg: bool,
}

impl<'a> Scaled<'a> {
    /// Returns the scaled row of a term: the row of its value, or `own` if the value is a leaf.
    fn new(term: &Term, rows: &'a [Option<Row>], own: &'a LeafRow) -> Scaled<'a> {
        let row = rows[term.value.index()].as_deref().unwrap_or(own);
        Scaled { row, shift: term.shift, neg: term.neg }
    }

    fn entry(self, (leaf, c): (u32, Coefficient)) -> (u32, Coefficient) {
        let mantissa = if self.neg { -c.mantissa } else { c.mantissa };
        (leaf, Coefficient { mantissa, exponent: c.exponent + self.shift })
    }

    /// Returns the sum of two rows; `None` if a coefficient is too large.
    fn plus(self, other: Scaled<'_>) -> Option<Row> {
        let mut sum = Vec::with_capacity(self.row.len() + other.row.len());
        let (mut a, mut b) = (self.row, other.row);
        while let ([x, after_x @ ..], [y, after_y @ ..]) = (a, b) {
            if x.0 < y.0 {
                sum.push(self.entry(*x));
                a = after_x;
            } else if y.0 < x.0 {
                sum.push(other.entry(*y));
                b = after_y;
            } else {
                let (leaf, c) = self.entry(*x);
                sum.extend(c.plus(other.entry(*y).1)?.map(|c| (leaf, c)));
                (a, b) = (after_x, after_y);
            }
        }
        sum.extend(a.iter().map(|&x| self.entry(x)));
        sum.extend(b.iter().map(|&y| other.entry(y)));
        Some(sum)
    }
}

/// Returns the sum of the terms' rows, sorted by leaf; `None` if a coefficient is too large.
fn combine(terms: &[Term], rows: &[Option<Row>]) -> Option<Row> {
    let own = |term: &Term| -> LeafRow { [(term.value.0, Coefficient { mantissa: 1, exponent: 0 })] };
    let (first, rest) = terms.split_first()?;
    let of_first = own(first);
    let scaled = Scaled::new(first, rows, &of_first);
    let Some((second, rest)) = rest.split_first() else {
        return Some(scaled.row.iter().map(|&x| scaled.entry(x)).collect());
    };
    let mut sum = scaled.plus(Scaled::new(second, rows, &own(second)))?;
    for term in rest {
        sum = Scaled { row: &sum, shift: 0, neg: false }.plus(Scaled::new(term, rows, &own(term)))?;
    }
    Some(sum)
}

fn find(parent: &mut [u32], mut x: u32) -> u32 {
    while parent[x as usize] != x {
        parent[x as usize] = parent[parent[x as usize] as usize];
        x = parent[x as usize];
    }
    x
}

fn union(parent: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find(parent, a), find(parent, b));
    // The smaller index becomes the root, so that the result does not depend on the order of unions.
    let (low, high) = (a.min(b), a.max(b));
    parent[high as usize] = low;
}

/// Cost of a sum: bits of its carry chains, and LUTs.
#[derive(Clone, Copy, Debug, Default)]
struct AdderCost {
    bits: u64,
    luts: u64,
}

/// Returns the cost of one sum of the file in adder bits and LUTs.
fn adder_bits(model: &Model, facts: &Facts, id: ValueId, terms: &[Term]) -> AdderCost {
    let equal = |bits: u64| AdderCost { bits, luts: bits };
    let span = |t: &Term| {
        let range = facts.range(t.value)?;
        Some(Span::new(range, t.shift - model.kif(t.value).frac).signed(t.neg))
    };
    let mut spans: Vec<Span> = match terms.iter().map(span).collect() {
        Some(spans) => spans,
        None => return equal(u64::from(model.kif(id).width()) * (terms.len() as u64 - 1)),
    };
    if too_far_apart(spans.iter().copied()) {
        return equal(u64::from(model.kif(id).width()) * (terms.len() as u64 - 1));
    }
    // A negation costs as much as a sum; a shift is free.
    if let [one] = spans.as_slice() {
        return equal(if one.neg { u64::from(one.width()) } else { 0 });
    }
    let mut cost = AdderCost::default();
    while let (Some(b), Some(a)) = (spans.pop(), spans.pop()) {
        let sum = a.plus(&b);
        let bits = a.cost(&b, &sum);
        cost.bits += bits;
        cost.luts += bits - a.bits_above(&b, &sum).min(bits);
        if spans.is_empty() {
            break;
        }
        spans.push(sum);
    }
    cost
}

/// Bit positions of a value: its range in units of `2^low`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Span {
    lo: i128,
    hi: i128,
    low: i32,
    /// `true` if the value enters a sum negated.
    neg: bool,
}

impl Span {
    fn new(range: Range, weight: i32) -> Span {
        let zeros = range.zeros.min(100);
        Span { lo: range.lo >> zeros, hi: range.hi >> zeros, low: weight + zeros as i32, neg: false }
    }

    fn signed(self, neg: bool) -> Span {
        Span { neg, ..self }
    }

    fn shifted(self, by: i32) -> Span {
        Span { low: self.low + by, ..self }
    }

    fn top(&self) -> i32 {
        self.low + self.width() as i32
    }

    fn width(&self) -> u32 {
        let bits = |v: i128| 128 - (if v < 0 { !v } else { v }).leading_zeros();
        bits(self.lo).max(bits(self.hi)) + u32::from(self.lo < 0)
    }

    /// Returns the span of the sum; the caller has checked [`too_far_apart`].
    fn plus(&self, other: &Span) -> Span {
        let low = self.low.min(other.low);
        let ends = |s: &Span| {
            let by = s.low - low;
            let (lo, hi) = (s.lo << by, s.hi << by);
            if s.neg { (-hi, -lo) } else { (lo, hi) }
        };
        let ((a, b), (c, d)) = (ends(self), ends(other));
        Span { lo: a + c, hi: b + d, low, neg: false }
    }

    /// Returns the adder bits of the sum: its width without the low bits that pass through; 0 where two numbers are
    /// only concatenated.
    fn cost(&self, other: &Span, sum: &Span) -> u64 {
        let (lower, upper) = if self.low < other.low { (self, other) } else { (other, self) };
        if lower.lo >= 0 && !lower.neg && !upper.neg && lower.top() <= upper.low {
            return 0;
        }
        let passed = match (self.neg, other.neg) {
            (false, false) | (true, true) => (self.low - other.low).abs(),
            (false, true) => (other.low - self.low).max(0),
            (true, false) => (self.low - other.low).max(0),
        };
        let width = sum.width();
        u64::from(width - (passed as u32).min(width))
    }
}

impl Span {
    /// Returns the number of bits of the sum above an unsigned operand that is added.
    fn bits_above(&self, other: &Span, sum: &Span) -> u64 {
        let ends = [self, other].into_iter().filter(|span| span.lo >= 0 && !span.neg).map(Span::top);
        let upper = sum.low + sum.width() as i32;
        ends.min().map_or(0, |end| (upper - end).max(0) as u64)
    }
}

/// Returns `true` if sums of values with these spans might exceed 128 bits.
fn too_far_apart(spans: impl Iterator<Item = Span> + Clone) -> bool {
    let low = spans.clone().map(|s| s.low).min().unwrap_or(0);
    let top = spans.map(|s| s.top()).max().unwrap_or(0);
    top - low > 100
}

/// Returns the number of non-zero canonical signed digits: positions at which `3 v` and `v` differ.
fn count_digits(v: i128) -> usize {
    (v ^ (3 * v)).count_ones() as usize
}

/// A signed digit of a row: `± value * 2^shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Digit {
    value: u32,
    shift: i32,
    neg: bool,
}

/// `a + b * 2^shift` or `a - b * 2^shift`, with `a <= b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Pattern {
    a: u32,
    b: u32,
    shift: i32,
    differ: bool,
}

/// Returns a pattern as one word, for hashing; `None` if it does not fit.
fn key(p: Pattern) -> Option<u64> {
    const ROOM: i32 = 1 << 14;
    let fits = p.a < 1 << 24 && p.b < 1 << 24 && (-ROOM..ROOM).contains(&p.shift);
    let shift = (p.shift + ROOM) as u64;
    fits.then(|| u64::from(p.a) << 40 | u64::from(p.b) << 16 | shift << 1 | u64::from(p.differ))
}

/// Filter for repeated patterns with two bit sets, indexed by a hash: the first occurrence of a pattern sets a bit in
/// `first`, the second one sets a bit in `second`. Most patterns occur once, and the filter keeps them out of the map.
struct Seen {
    first: Vec<u64>,
    second: Vec<u64>,
}

impl Seen {
    fn for_about(n: usize) -> Seen {
        let words = (n / 8).next_power_of_two().max(1);
        Seen { first: vec![0; words], second: vec![0; words] }
    }

    fn place(&self, key: u64) -> (usize, u64) {
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((hash >> 32) as usize & (self.first.len() - 1), 1 << (hash >> 26 & 63))
    }

    fn see(&mut self, key: u64) {
        let (word, bit) = self.place(key);
        self.second[word] |= self.first[word] & bit;
        self.first[word] |= bit;
    }

    fn again(&self, key: u64) -> bool {
        let (word, bit) = self.place(key);
        self.second[word] & bit != 0
    }
}

fn pattern(x: Digit, y: Digit) -> (Pattern, Digit) {
    let (first, second) = if (x.value, x.shift) <= (y.value, y.shift) { (x, y) } else { (y, x) };
    let pattern =
        Pattern { a: first.value, b: second.value, shift: second.shift - first.shift, differ: first.neg != second.neg };
    (pattern, first)
}

/// A value of a solution: a leaf, or a sum of two earlier values.
#[derive(Clone, Copy, Debug)]
enum Value {
    /// The leaf of the same index in the group.
    Leaf,
    /// The pattern's sum, or (`turned`) its negative `b * 2^shift - a`.
    Sum { pattern: Pattern, turned: bool },
}

struct Solution {
    values: Vec<Value>,
    spans: Vec<Span>,
    rows: Vec<Option<Digit>>,
    bits: u64,
}

impl Solution {
    /// Converts a graph of adders to a solution, with the levels of each row; `None` if a value exceeds 128 bits.
    fn from_graph(
        spans: &[Span],
        any_sign: &[bool],
        graph: &AdderGraph,
        report: &alir_cmvm::Report,
    ) -> Option<(Solution, Vec<u32>)> {
        let mut solution =
            Solution { values: vec![Value::Leaf; spans.len()], spans: spans.to_vec(), rows: Vec::new(), bits: 0 };
        let mut depth = vec![0; spans.len()];
        for (adder, interval) in graph.adders.iter().zip(&report.intervals[spans.len()..]) {
            let pattern = Pattern { a: adder.a, b: adder.b, shift: adder.shift, differ: adder.subtract };
            let sum =
                Span { lo: interval.min.to_i128()?, hi: interval.max.to_i128()?, low: -interval.frac, neg: false };
            let a = solution.spans[adder.a as usize];
            let b = solution.spans[adder.b as usize].shifted(adder.shift).signed(adder.subtract);
            let bits = a.cost(&b, &sum);
            depth.push(depth[adder.a as usize].max(depth[adder.b as usize]) + u32::from(bits > 0));
            solution.bits += bits;
            solution.values.push(Value::Sum { pattern, turned: false });
            solution.spans.push(sum);
        }
        let mut levels = Vec::with_capacity(graph.outputs.len());
        for (output, any_sign) in graph.outputs.iter().zip(any_sign) {
            let row = output.map(|o| Digit { value: o.value, shift: o.shift, neg: o.negative });
            if let Some(d) = row.filter(|d| d.neg && !any_sign) {
                solution.bits += solution.negation(d.value);
            }
            levels.push(row.map_or(0, |d| depth[d.value as usize]));
            solution.rows.push(row);
        }
        Some((solution, levels))
    }

    /// Returns the adder bits of the negation of a value.
    fn negation(&self, value: u32) -> u64 {
        negation(&self.values, &self.spans, value)
    }
}

/// Returns the adder bits of the negation of a value.
fn negation(values: &[Value], spans: &[Span], value: u32) -> u64 {
    match values[value as usize] {
        Value::Sum { pattern: p, turned } if p.differ => {
            let a = spans[p.a as usize].signed(!turned);
            let b = spans[p.b as usize].shifted(p.shift).signed(turned);
            a.cost(&b, &a.plus(&b))
        }
        _ => u64::from(spans[value as usize].width()),
    }
}

/// Returns the canonical signed digits of an integer, lowest first: the position of each digit, and `true` if the digit
/// is subtracted. No two digits are adjacent: G. W. Reitwiesner (1960).
pub(super) fn signed_digits(mut v: i128) -> Vec<(u32, bool)> {
    let mut digits = Vec::new();
    let mut shift = 0;
    while v != 0 {
        if v & 1 != 0 {
            let neg = v & 3 == 3;
            digits.push((shift, neg));
            v += if neg { 1 } else { -1 };
        }
        v >>= 1;
        shift += 1;
    }
    digits
}

struct Solver {
    values: Vec<Value>,
    spans: Vec<Span>,
    depth: Vec<u32>,
    rows: Vec<Vec<Digit>>,
    limits: Vec<u32>,
    /// Number of occurrences of a pattern, by its [`key`]. Contains only patterns that occurred at least twice when the
    /// younger of their two values was created: no digits of a value are added later, so all other patterns stay below
    /// two.
    counts: FxHashMap<u64, u32>,
    heap: BinaryHeap<(u64, Reverse<Pattern>)>,
    /// Rows in which a value has (or had) a digit.
    rows_of: Vec<Vec<u32>>,
    bits: u64,
    /// See [`Group`].
    any_sign: Vec<bool>,
}

/// Maximum number of calls of the solver of constant matrices; each call allows fewer levels than the previous call.
const ATTEMPTS: usize = 3;

/// Largest ratio of matrix cells to non-zero coefficients for which the solver of constant matrices is used: its time
/// depends on all cells, and for the windows of a convolution the search of this pass finds the same sharing.
const CELLS_PER_COEFFICIENT: usize = 8;

/// Solves one group by the solver of constant matrices, with fewer adder bits than `limit`. Returns `None` if the group
/// is too wide or too sparse for that solver, or if a row needs more levels than in the file.
fn solve_by_cmvm(group: &Group, spans: &[Span], limit: u64) -> Option<Solution> {
    let (n_in, n_out) = (group.leaves.len(), group.rows.len());
    let coefficients: usize = group.rows.iter().map(Vec::len).sum();
    if n_in * n_out > CELLS_PER_COEFFICIENT * coefficients {
        return None;
    }
    let mut weights = vec![Weight::default(); n_in * n_out];
    for (o, row) in group.rows.iter().enumerate() {
        for &(leaf, c) in row {
            weights[leaf as usize * n_out + o] = Weight::new(c.mantissa.into(), c.exponent);
        }
    }
    let matrix = Matrix::new(n_in, n_out, weights);
    let input = |s: &Span| alir_cmvm::Input::new(Interval::new(Code::from_i128(s.lo), Code::from_i128(s.hi), -s.low));
    let inputs: Vec<alir_cmvm::Input> = spans.iter().map(input).collect();
    let mut latency = None;
    for _ in 0..ATTEMPTS {
        let options =
            alir_cmvm::Options { latency, measure: alir_cmvm::Measure::Carries, ..alir_cmvm::Options::default() };
        let graph = alir_cmvm::solve(&matrix, &inputs, &options).ok()?;
        let report = alir_cmvm::check(&graph, &matrix).ok()?;
        let (solution, levels) = Solution::from_graph(spans, &group.any_sign, &graph, &report)?;
        // Fewer levels need more bits, so another call with fewer levels cannot meet the limit.
        if solution.bits >= limit {
            return None;
        }
        let over = |(own, limit): (&u32, &u32)| f64::from(*own) / f64::from(*limit);
        let over = levels.iter().zip(&group.levels).filter(|(own, limit)| own > limit).map(over).reduce(f64::max);
        match over {
            None => return Some(solution),
            Some(over) => latency = Some(report.latency / over),
        }
    }
    None
}

/// Solves one group whose leaves have these spans; returns `None` if the group is too wide.
fn solve(group: &Group, spans: &[Span]) -> Option<Solution> {
    let mut solver = Solver {
        values: vec![Value::Leaf; group.leaves.len()],
        spans: spans.to_vec(),
        depth: vec![0; group.leaves.len()],
        rows: Vec::new(),
        limits: group.levels.clone(),
        counts: FxHashMap::default(),
        heap: BinaryHeap::new(),
        rows_of: vec![Vec::new(); group.leaves.len()],
        bits: 0,
        any_sign: group.any_sign.clone(),
    };
    for (r, row) in group.rows.iter().enumerate() {
        let mut digits = Vec::new();
        for &(leaf, c) in row {
            solver.rows_of[leaf as usize].push(r as u32);
            for (shift, neg) in signed_digits(c.mantissa.into()) {
                digits.push(Digit { value: leaf, shift: shift as i32 + c.exponent, neg });
            }
        }
        let placed = digits.iter().map(|d| solver.spans[d.value as usize].shifted(d.shift));
        if too_far_apart(placed) {
            return None;
        }
        solver.rows.push(digits);
    }
    solver.share();
    solver.finish_rows()
}

impl Solver {
    fn share(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let pairs = || {
            rows.iter().flat_map(|row| row.iter().enumerate().flat_map(|(i, &x)| row[..i].iter().map(move |&y| (x, y))))
        };
        self.enter(pairs);
        self.rows = rows;
        while let Some((priority, Reverse(p))) = self.heap.pop() {
            let count = key(p).and_then(|key| self.counts.get(&key)).copied().unwrap_or(0);
            if count < 2 {
                continue;
            }
            let now = self.priority(p, count);
            if now < priority {
                // The count has fallen since the pattern was pushed.
                self.heap.push((now, Reverse(p)));
                continue;
            }
            self.take(p);
        }
    }

    fn priority(&self, p: Pattern, count: u32) -> u64 {
        let (a, b) = (&self.spans[p.a as usize], self.spans[p.b as usize].shifted(p.shift));
        let overlap = (a.top().min(b.top()) - a.low.max(b.low)).max(0) as u64;
        u64::from(count - 1) * (2 * overlap + 1)
    }

    /// Counts the pairs, and queues those that occur more than once.
    fn enter<I: Iterator<Item = (Digit, Digit)>>(&mut self, pairs: impl Fn() -> I) {
        let keys = || pairs().filter_map(|(x, y)| Some((key(pattern(x, y).0)?, x, y)));
        let mut seen = Seen::for_about(pairs().size_hint().1.unwrap_or_else(|| pairs().count()));
        keys().for_each(|(key, _, _)| seen.see(key));
        let mut often: Vec<(u64, Pattern)> = Vec::new();
        for (key, x, y) in keys().filter(|&(key, _, _)| seen.again(key)) {
            let count = self.counts.entry(key).or_insert(0);
            *count += 1;
            if *count == 2 {
                often.push((key, pattern(x, y).0));
            }
        }
        for (key, p) in often {
            let priority = self.priority(p, self.counts[&key]);
            self.heap.push((priority, Reverse(p)));
        }
    }

    /// Decrements the count of a pair.
    fn leave(&mut self, x: Digit, y: Digit) {
        let Some(key) = key(pattern(x, y).0) else { return };
        if let Some(count) = self.counts.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&key);
            }
        }
    }

    /// Returns the least number of levels of a row: each digit counts as a full tree of its depth.
    fn levels(&self, row: &[Digit]) -> u32 {
        let total: u128 = row.iter().map(|d| self.leaves_of_tree(d.value)).sum();
        if total <= 1 { 0 } else { 128 - (total - 1).leading_zeros() }
    }

    /// Creates the sum of a pattern, and replaces the pattern by the sum in each row whose level limit allows it.
    fn take(&mut self, p: Pattern) {
        let (a, b) = (self.spans[p.a as usize], self.spans[p.b as usize].shifted(p.shift).signed(p.differ));
        let own = u32::from(a.cost(&b, &a.plus(&b)) > 0);
        let deep = self.depth[p.a as usize].max(self.depth[p.b as usize]) + own;
        let mut places: Vec<(u32, Digit, Digit)> = Vec::new();
        let rows = self.rows_of[p.a as usize].clone();
        for r in rows {
            let row = &self.rows[r as usize];
            let mut used: Vec<Digit> = Vec::new();
            let mut found = Vec::new();
            for &x in row.iter().filter(|d| d.value == p.a) {
                let y = Digit { value: p.b, shift: x.shift + p.shift, neg: x.neg ^ p.differ };
                let free = |d: &Digit| !used.contains(d);
                if x != y && free(&x) && free(&y) && row.contains(&y) {
                    used.extend([x, y]);
                    found.push((x, y));
                }
            }
            if found.is_empty() {
                continue;
            }
            // Each replacement may increase the depth of the row; replaces as many as the limit allows.
            let mut total: u128 = row.iter().map(|d| self.leaves_of_tree(d.value)).sum();
            for (x, y) in found {
                let cost = |d: &Digit| self.leaves_of_tree(d.value);
                let after = total - cost(&x) - cost(&y) + (1u128 << deep.min(100));
                if after > 1u128 << self.limits[r as usize].min(120) {
                    continue;
                }
                total = after;
                places.push((r, x, y));
            }
        }
        if places.len() < 2 {
            // Too few occurrences remain or are allowed, so the pattern is not queued again.
            if let Some(key) = key(p) {
                self.counts.remove(&key);
            }
            return;
        }
        // The sign that most rows need; a sum of two equal signs is never turned.
        let turned = p.differ && 2 * places.iter().filter(|(_, x, _)| x.neg).count() > places.len();
        let made = self.add(p, turned);
        let mut fresh: Vec<(u32, Digit)> = Vec::with_capacity(places.len());
        for (r, x, y) in places {
            let mut row = std::mem::take(&mut self.rows[r as usize]);
            for gone in [x, y] {
                let at = row.iter().position(|d| *d == gone).expect("it was there");
                row.swap_remove(at);
                for &other in &row {
                    self.leave(gone, other);
                }
            }
            let new = Digit { value: made, shift: x.shift, neg: x.neg ^ turned };
            row.push(new);
            fresh.push((r, new));
            self.rows[r as usize] = row;
            if self.rows_of[made as usize].last() != Some(&r) {
                self.rows_of[made as usize].push(r);
            }
        }
        // All digits of the new value exist now: counts each pair once.
        let rows = std::mem::take(&mut self.rows);
        let pairs = || {
            fresh.iter().flat_map(|&(r, new)| {
                let older = move |d: &&Digit| d.value != made || (d.shift, d.neg) < (new.shift, new.neg);
                rows[r as usize].iter().filter(older).map(move |&other| (new, other))
            })
        };
        self.enter(pairs);
        self.rows = rows;
    }

    fn add(&mut self, p: Pattern, turned: bool) -> u32 {
        let a = self.spans[p.a as usize].signed(turned);
        let b = self.spans[p.b as usize].shifted(p.shift).signed(p.differ ^ turned);
        let sum = a.plus(&b);
        let bits = a.cost(&b, &sum);
        self.bits += bits;
        self.values.push(Value::Sum { pattern: p, turned });
        self.spans.push(sum);
        self.depth.push(self.depth[p.a as usize].max(self.depth[p.b as usize]) + u32::from(bits > 0));
        self.rows_of.push(Vec::new());
        self.values.len() as u32 - 1
    }

    /// Adds up the remaining digits of each row, the cheapest pair first, within the levels of the row.
    fn finish_rows(mut self) -> Option<Solution> {
        let mut rows = Vec::with_capacity(self.rows.len());
        for r in 0..self.rows.len() {
            let mut row = std::mem::take(&mut self.rows[r]);
            row.sort_unstable();
            let limit = self.limits[r].max(self.levels(&row));
            let row = self.added_up(row, limit);
            // A row with a negated result needs the reversed difference or a negation, unless the pass `polarity`
            // changes it.
            if let Some(d) = row
                && d.neg
                && !self.any_sign[r]
            {
                self.bits += negation(&self.values, &self.spans, d.value);
            }
            rows.push(row);
        }
        Some(Solution { values: self.values, spans: self.spans, rows, bits: self.bits })
    }

    /// Returns the sum of the digits as one digit, or `None` without digits: adds the cheapest pair first, within
    /// `limit` levels.
    fn added_up(&mut self, mut digits: Vec<Digit>, limit: u32) -> Option<Digit> {
        let mut open: Vec<u32> = (0..digits.len() as u32).collect();
        let mut pairs: Vec<Pair> = Vec::new();
        for j in 1..digits.len() {
            pairs.extend((0..j).map(|i| self.pair(&digits, i as u32, j as u32)));
        }
        let room = 1u128 << limit.min(120);
        let mut total: u128 = digits.iter().map(|d| self.leaves_of_tree(d.value)).sum();
        while open.len() > 1 {
            let weight = |k: u32| self.leaves_of_tree(digits[k as usize].value);
            let allowed = |p: &&Pair| total - weight(p.i) - weight(p.j) + (1u128 << p.deep) <= room;
            let (i, j) = match pairs.iter().filter(allowed).min() {
                Some(pair) => (pair.i, pair.j),
                // The two shallowest digits always fit (G. Golumbic, 1976).
                None => {
                    let mut order = open.clone();
                    order.sort_by_key(|&k| weight(k));
                    (order[0].min(order[1]), order[0].max(order[1]))
                }
            };
            total -= weight(i) + weight(j);
            let (p, first) = pattern(digits[i as usize], digits[j as usize]);
            let turned = p.differ && first.neg;
            let made = self.add(p, turned);
            digits.push(Digit { value: made, shift: first.shift, neg: first.neg ^ turned });
            total += self.leaves_of_tree(made);
            let gone = |k: u32| k == i || k == j;
            open.retain(|&k| !gone(k));
            pairs.retain(|pair| !gone(pair.i) && !gone(pair.j));
            let new = digits.len() as u32 - 1;
            pairs.extend(open.iter().map(|&k| self.pair(&digits, k, new)));
            open.push(new);
        }
        open.first().map(|&k| digits[k as usize])
    }

    /// Returns the adder bits and levels of the sum of two digits of a row.
    fn pair(&self, digits: &[Digit], i: u32, j: u32) -> Pair {
        let (p, first) = pattern(digits[i as usize], digits[j as usize]);
        let turned = p.differ && first.neg;
        let a = self.spans[p.a as usize].signed(turned);
        let b = self.spans[p.b as usize].shifted(p.shift).signed(p.differ ^ turned);
        let bits = a.cost(&b, &a.plus(&b));
        let deep = self.depth[p.a as usize].max(self.depth[p.b as usize]) + u32::from(bits > 0);
        Pair { bits, deep: deep.min(101), i, j }
    }

    /// Returns the number of leaves of a full adder tree with the depth of a value.
    fn leaves_of_tree(&self, value: u32) -> u128 {
        1u128 << self.depth[value as usize].min(100)
    }
}

/// A pair of digits of a row, ordered by priority: fewest adder bits first, then fewest levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    /// Adder bits of the sum.
    bits: u64,
    /// Levels of the sum.
    deep: u32,
    i: u32,
    j: u32,
}

/// Delays of new sums by width: the average delay of the file's sums of equal width.
pub(super) struct Delays(Vec<f64>);

impl Delays {
    pub(super) fn new(model: &Model, facts: &Facts) -> Delays {
        let mut sums = vec![(0.0, 0u32); 130];
        for id in model.ids() {
            if matches!(model.node(id).op, Op::Add { .. } | Op::Sub { .. }) && terms_of(model, facts, id).is_some() {
                let slot = &mut sums[model.kif(id).width().min(129) as usize];
                slot.0 += model.own_delay(id);
                slot.1 += 1;
            }
        }
        let mut last = 0.0;
        Delays(
            sums.into_iter()
                .map(|(total, n)| {
                    // The delay never decreases with the width.
                    last = if n > 0 { f64::max(last, total / f64::from(n)) } else { last };
                    last
                })
                .collect(),
        )
    }

    /// Returns the delay of a sum of `width` bits.
    pub(super) fn adder(&self, width: u32) -> f64 {
        self.0[width.min(129) as usize]
    }
}

struct Writer<'a, 'b, 'c> {
    model: &'a Model,
    rw: &'b mut Rewrite<'c>,
    solution: &'a Solution,
    leaves: &'a [ValueId],
    made: &'a mut Vec<Option<ValueId>>,
    delays: &'a Delays,
    origin: ValueId,
}

impl Writer<'_, '_, '_> {
    /// Returns the new value of a root: the digit of its row in the root's type. `any_sign` is `true` if the reader of
    /// the value accepts a negated value.
    fn root(&mut self, id: ValueId, digit: Option<Digit>, any_sign: bool) -> ValueId {
        let interval = self.model.node(id).interval.clone();
        let origin = self.model.node(id).origin;
        let digit = digit.expect("a sum that is not constant has a digit");
        let delay = if digit.neg { self.delays.adder(interval.kif().width()) } else { 0.0 };
        // Digits are in units of the leaves' raw integer values; the raw integer value of a sum is in units of its own
        // step.
        let shift = digit.shift;
        let op = match self.solution.values[digit.value as usize] {
            // The path of the reversed difference is no longer than that of the difference, and it needs no more bits
            // than the negation of the difference.
            Value::Sum { pattern: p, turned } if digit.neg && p.differ && !any_sign => {
                let (a, b) = (self.value(p.a), self.value(p.b));
                let terms =
                    [Term { value: a, shift, neg: !turned }, Term { value: b, shift: shift + p.shift, neg: turned }];
                match terms {
                    [first, second] if first.shift == 0 && !first.neg => {
                        Op::Sub { a: first.value, b: second.value, shift: second.shift }
                    }
                    [second, first] if first.shift == 0 && !first.neg => {
                        Op::Sub { a: first.value, b: second.value, shift: second.shift }
                    }
                    terms => Op::Sum { terms: Box::new(terms) },
                }
            }
            // A separate negation, which later operations may absorb into their own sign.
            _ if digit.neg => {
                let mut x = self.value(digit.value);
                if shift != 0 {
                    let plain = Interval::full(interval.kif()).negated();
                    x = self.rw.push(Op::Quantise { x, shift }, plain, 0.0, 0.0, origin);
                }
                Op::Neg { x }
            }
            _ => Op::Quantise { x: self.value(digit.value), shift },
        };
        self.rw.push(op, interval, delay, 0.0, origin)
    }

    fn value(&mut self, index: u32) -> ValueId {
        if let Some(made) = self.made[index as usize] {
            return made;
        }
        let made = match self.solution.values[index as usize] {
            Value::Leaf => self.rw.number(self.leaves[index as usize]),
            Value::Sum { pattern: p, turned } => {
                let (a, b) = (self.value(p.a), self.value(p.b));
                let span = self.solution.spans[index as usize];
                let interval = Interval::new(Code::from_i128(span.lo), Code::from_i128(span.hi), -span.low);
                let op = match (p.differ, turned) {
                    (false, _) => Op::Add { a, b, shift: p.shift },
                    (true, false) => Op::Sub { a, b, shift: p.shift },
                    (true, true) if p.shift == 0 => Op::Sub { a: b, b: a, shift: 0 },
                    (true, true) => Op::Sum {
                        terms: Box::new([
                            Term { value: b, shift: p.shift, neg: false },
                            Term { value: a, shift: 0, neg: true },
                        ]),
                    },
                };
                let delay = self.delays.adder(interval.kif().width());
                let origin = self.model.node(self.origin).origin;
                self.rw.push(op, interval, delay, 0.0, origin)
            }
        };
        self.made[index as usize] = Some(made);
        made
    }
}
