//! Pass `tables`: makes look-up tables smaller, shares them, or replaces them.
//!
//! - Entries that no input can reach are removed, or set to the values that make the table smallest; reachable values
//!   outside a table still read zero.
//! - If a table does not depend on the low bits of its operand, these bits are dropped from the operand.
//! - A table that is `x * 2^k + c` or a constant becomes wiring or one sum.
//! - Equal tables are merged.

use super::facts::{Facts, Known};
use super::rewrite::{Rewrite, rebuild_with_tables};
use super::split;
use alir_core::ir::{Model, Op, Table, TableId, ValueId};
use alir_core::num::{Code, Interval};
use num_bigint::BigInt;
use rustc_hash::FxHashMap;

/// Largest number of reachable operand values for which a table is changed; larger tables are not look-up tables in
/// practice.
const MOST_CODES: i128 = 1 << 20;

/// Shrinks, replaces and shares tables.
pub(super) fn run(model: &Model, known: &mut Known) -> Option<Model> {
    let facts = known.whole(model);
    let mut pool = Pool::default();
    rebuild_with_tables(model, |rw, id| {
        let Op::Lookup { x, table, base } = &model.node(id).op else { return rw.keep(id) };
        let reached = Reached::new(model, facts, *x, *table, base);
        let Some(reached) = reached else {
            let same = pool.id(rw, model.table(*table).clone());
            let x = rw.typed(*x);
            return rw.replace(id, Op::Lookup { x, table: same, base: base.clone() }, model.node(id).interval.clone());
        };
        if let Some(sum) = reached.affine() {
            return as_sum(model, rw, id, *x, sum);
        }
        shrunk(model, rw, &mut pool, id, *x, *table, reached)
    })
}

/// New tables by content. The map is never iterated, so its order has no effect.
#[derive(Default)]
struct Pool {
    seen: FxHashMap<(Vec<i32>, i32), TableId>,
}

impl Pool {
    fn id(&mut self, rw: &mut Rewrite<'_>, table: Table) -> TableId {
        let key = (table.entries.clone(), table.out.frac);
        *self.seen.entry(key).or_insert_with(|| rw.table(table))
    }
}

/// Words of a table for each possible operand value of a lookup.
pub(super) struct Reached {
    /// Operand value of the first word.
    pub(super) first: i128,
    /// Words for that operand value and those above it.
    pub(super) values: Vec<i32>,
}

/// Affine function `x * 2^shift + constant`, in raw integer values of operand and table.
struct Affine {
    shift: i32,
    constant: i128,
}

impl Reached {
    /// Returns the words of a lookup; `None` if too many operand values are reachable.
    pub(super) fn new(model: &Model, facts: &Facts, x: ValueId, table: TableId, base: &Code) -> Option<Reached> {
        let (range, base) = (facts.range(x)?, base.to_i128()?);
        if range.hi - range.lo >= MOST_CODES {
            return None;
        }
        let entries = &model.table(table).entries;
        let value = |code: i128| usize::try_from(code - base).ok().and_then(|i| entries.get(i)).copied().unwrap_or(0);
        Some(Reached { first: range.lo, values: (range.lo..=range.hi).map(value).collect() })
    }

    fn affine(&self) -> Option<Affine> {
        let (first, second) = (i128::from(*self.values.first()?), i128::from(*self.values.get(1)?));
        let slope = second - first;
        if slope <= 0 || slope.count_ones() != 1 {
            return None;
        }
        let straight = self.values.windows(2).all(|w| i128::from(w[1]) - i128::from(w[0]) == slope);
        let shift = slope.trailing_zeros() as i32;
        straight.then(|| Affine { shift, constant: first - (self.first << shift) })
    }

    /// Returns the number of low bits of the operand on which no word depends.
    fn idle_bits(&self) -> u32 {
        let mut bits = 0;
        let mut halved = Reached { first: self.first, values: self.values.clone() };
        // Two values around zero remain two after any number of halvings.
        while let Some(next) = halved.halved().filter(|next| next.values.len() < halved.values.len()) {
            halved = next;
            bits += 1;
        }
        bits
    }

    /// Sets the words of unreachable values of the operand's type to those that make the table smallest: zero, the
    /// nearest reachable word, or the word for the operand value with the opposite top bit.
    fn fill(&mut self, codes: &Interval) {
        let (Some(lo), Some(hi)) = (codes.min.to_i128(), codes.max.to_i128()) else { return };
        let len = self.values.len() as i128;
        // If the type has more than four times as many values as words, lowering subtracts the first value instead.
        if hi - lo + 1 == len || hi - lo >= 4 * len.max(64) {
            return;
        }
        let at = |code: i128| usize::try_from(code - self.first).ok().and_then(|i| self.values.get(i)).copied();
        let near = |code: i128| self.values[(code - self.first).clamp(0, len - 1) as usize];
        let half = (hi - lo + 1) / 2;
        let across = |code: i128| at(if code < lo + half { code + half } else { code - half });
        let all = |other: &dyn Fn(i128) -> i32| -> Vec<i32> {
            (lo..=hi).map(|code| at(code).unwrap_or_else(|| other(code))).collect()
        };
        let mut best = (split::luts(self.first, &self.values, u32::MAX), None);
        for values in [all(&near), all(&|code| across(code).unwrap_or_else(|| near(code)))] {
            let cost = split::luts(lo, &values, best.0);
            if cost < best.0 {
                best = (cost, Some(values));
            }
        }
        if let Some(values) = best.1 {
            (self.first, self.values) = (lo, values);
        }
    }

    /// Returns the words without the operand's lowest bit, or `None` if some word depends on that bit.
    fn halved(&self) -> Option<Reached> {
        let first = self.first >> 1;
        let last = (self.first + self.values.len() as i128 - 1) >> 1;
        let at = |code: i128| usize::try_from(code - self.first).ok().and_then(|i| self.values.get(i));
        let both = |m: i128| match (at(2 * m), at(2 * m + 1)) {
            (Some(a), Some(b)) => (a == b).then_some(*a),
            (one, other) => one.or(other).copied(),
        };
        Some(Reached { first, values: (first..=last).map(both).collect::<Option<Vec<i32>>>()? })
    }
}

fn as_sum(model: &Model, rw: &mut Rewrite<'_>, id: ValueId, x: ValueId, sum: Affine) -> ValueId {
    let node = model.node(id);
    // A shift of the operand's raw integer value to the table's step: wiring.
    let shift = model.kif(x).frac - node.interval.frac + sum.shift;
    let stand_in = rw.number(x);
    if sum.constant == 0 {
        return rw.replace(id, Op::Quantise { x: stand_in, shift }, node.interval.clone());
    }
    let constant = BigInt::from(sum.constant);
    let interval = Interval::new(constant.clone(), constant.clone(), node.interval.frac);
    let c = rw.push(Op::Const { value: Code::from(&constant) }, interval, 0.0, 0.0, node.origin);
    rw.replace(id, Op::Add { a: c, b: stand_in, shift }, node.interval.clone())
}

fn shrunk(
    model: &Model,
    rw: &mut Rewrite<'_>,
    pool: &mut Pool,
    id: ValueId,
    x: ValueId,
    table: TableId,
    reached: Reached,
) -> ValueId {
    let node = model.node(id);
    let old = model.table(table);
    let bits = reached.idle_bits();
    let mut small = reached;
    for _ in 0..bits {
        small = small.halved().expect("counted just now");
    }
    let kif = model.kif(x);
    let mut operand = rw.typed(x);
    let mut codes = Interval::full(kif);
    if bits > 0 {
        let first = BigInt::from(small.first);
        let last = &first + small.values.len() - 1;
        let interval = Interval::new(first, last, kif.frac - bits as i32);
        codes = Interval::full(interval.kif());
        operand = rw.push(Op::Quantise { x: operand, shift: 0 }, interval, 0.0, 0.0, node.origin);
    }
    small.fill(&codes);
    // Zeros at both ends need no entries, as values outside the table read zero, if the operand's type includes these
    // values.
    let start = small.values.iter().take_while(|&&v| v == 0).count().min(small.values.len() - 1);
    let end = small.values.iter().rposition(|&v| v != 0).map_or(start + 1, |p| p + 1);
    let entries = small.values[start..end].to_vec();
    let (lo, hi) = entries.iter().fold((0, 0), |(lo, hi), &v| (v.min(lo), v.max(hi)));
    let new = Table {
        entries,
        out: Interval::new(i64::from(lo), i64::from(hi), old.out.frac),
        hash: old.hash.clone(),
        inp_width: old.inp_width,
    };
    let table = pool.id(rw, new);
    let base = Code::from(BigInt::from(small.first + start as i128));
    rw.replace(id, Op::Lookup { x: operand, table, base }, node.interval.clone())
}
