//! Adders of three operands, for devices that build them with one LUT per bit.
//!
//! A six-input LUT before a carry bit can contain a full adder, whose sum enters the chain together with the carry of
//! the full adder below (J. M. Simkins, B. D. Philofsky, US patent 7,274,211). A sum of many terms takes half as many
//! such adders as adders of two operands. Two sums of two become one adder if the inner sum has no other reader and
//! never wraps, and if no register is between them. Synthesisers for other devices build two adders or a tree of
//! carry-save adders instead, so the use of such adders is an option of the device.

use super::arith::{Extent, Fixed};
use super::builder::Draft;
use super::cell::Cell;
use alir_core::ir::{Model, Op, ValueId};
use alir_core::num::Code;
use alir_opt::passes;
use alir_opt::schedule::Schedule;

/// A summand, and `true` if it is subtracted.
pub(super) type Signed = (Fixed, bool);

/// A summand of an operation.
pub(super) enum Summand<'a> {
    /// A value times `2^shift`.
    Value(ValueId, i32),
    /// A constant times `2^-shift`.
    Constant(&'a Code, i32),
}

/// Returns the summands of a sum of two, each with `true` if it is subtracted; `None` for any other operation.
pub(super) fn summands(op: &Op) -> Option<[(Summand<'_>, bool); 2]> {
    match op {
        Op::Add { a, b, shift } => Some([(Summand::Value(*a, 0), false), (Summand::Value(*b, *shift), false)]),
        Op::Sub { a, b, shift } => Some([(Summand::Value(*a, 0), false), (Summand::Value(*b, *shift), true)]),
        Op::AddConst { x, value, shift } => {
            Some([(Summand::Value(*x, 0), false), (Summand::Constant(value, *shift), false)])
        }
        _ => None,
    }
}

/// Pairs of sums that become one adder of three operands.
pub(super) struct Pairs {
    /// For each operation, the operand that the operation's adder absorbs.
    pub(super) inner: Vec<Option<ValueId>>,
    /// `true` for each operation that another operation's adder absorbs.
    pub(super) taken: Vec<bool>,
}

impl Pairs {
    /// Returns the empty set of pairs.
    pub(super) fn none() -> Pairs {
        Pairs { inner: Vec::new(), taken: Vec::new() }
    }

    /// Finds sums of two with a summand that is also a sum of two, in the same stage, exact, and without another
    /// reader. A pair must not lengthen the longest path of all stages: the other operand of the outer sum has one
    /// additional LUT on its path.
    pub(super) fn find(model: &Model, schedule: &Schedule) -> Pairs {
        let n = model.nodes().len();
        let readers = model.reader_counts();
        let exact = passes::exact_sums(model);
        let stage = |v: ValueId| schedule.stage[v.index()];
        // Arrival time of a value for a reader.
        let there =
            |now: &[u32], v: ValueId, reader: ValueId| if stage(v) == stage(reader) { now[v.index()] } else { 0 };
        let latest = |now: &[u32], id: ValueId| {
            let mut latest = 0;
            model.node(id).op.for_each_operand(|v| latest = latest.max(there(now, v, id)));
            latest
        };
        let mut now = vec![0u32; n];
        for id in model.ids() {
            now[id.index()] = latest(&now, id) + time(&model.node(id).op);
        }
        let longest = now.iter().copied().max().unwrap_or(0);
        // Required time of each value.
        let mut due = vec![longest; n];
        for id in model.ids().rev() {
            let start = due[id.index()].saturating_sub(time(&model.node(id).op));
            model.node(id).op.for_each_operand(|v| {
                if stage(v) == stage(id) {
                    due[v.index()] = due[v.index()].min(start);
                }
            });
        }
        let mut pairs = Pairs { inner: vec![None; n], taken: vec![false; n] };
        // A difference of one bit may become a comparison.
        let wide = |v: ValueId| model.kif(v).width() > 1;
        for id in model.ids() {
            let values = summands(&model.node(id).op).filter(|_| wide(id)).into_iter().flatten();
            let values = values.filter_map(|(summand, _)| match summand {
                Summand::Value(v, _) => Some(v),
                Summand::Constant(..) => None,
            });
            let values: Vec<ValueId> = values.collect();
            let mut end = latest(&now, id) + time(&model.node(id).op);
            for &v in &values {
                let fits = readers[v.index()] == 1 && exact[v.index()] && wide(v) && stage(v) == stage(id);
                let is_sum = pairs.inner[v.index()].is_none() && summands(&model.node(v).op).is_some();
                let beside = values.iter().filter(|&&other| other != v).map(|&other| there(&now, other, id)).max();
                let together = latest(&now, v).max(beside.unwrap_or(0)) + THREE;
                if fits && is_sum && together <= due[id.index()] {
                    pairs.inner[id.index()] = Some(v);
                    pairs.taken[v.index()] = true;
                    end = together;
                    break;
                }
            }
            now[id.index()] = end;
        }
        pairs
    }
}

/// Delay of an adder of three operands, relative to [`TWO`]: one additional LUT.
const THREE: u32 = 7;
/// Delay of an adder of two operands after other adders, whose carry chains overlap with its own.
const TWO: u32 = 4;
/// Delay of a level of logic.
const LOGIC: u32 = 3;

/// Returns the approximate delay of an operation in such a device, with multiplications in DSPs.
fn time(op: &Op) -> u32 {
    match op {
        Op::Input { .. } | Op::Const { .. } | Op::Quantise { .. } => 0,
        Op::Neg { .. } | Op::Add { .. } | Op::Sub { .. } | Op::AddConst { .. } => TWO,
        Op::Sum { terms } if terms.len() <= 2 => TWO,
        Op::Sum { terms } => THREE * ((terms.len() - 1).ilog(3) + 1),
        Op::Mul { .. } => 4 * TWO,
        Op::Lookup { .. } => 2 * LOGIC,
        Op::Relu { .. } | Op::Mux { .. } | Op::Unary { .. } | Op::Binary { .. } => LOGIC,
    }
}

impl Draft {
    /// Returns the sum of two terms, correct at all positions below `top`, and `true` if the sum must be subtracted.
    pub(super) fn pair(&mut self, (a, a_neg): Signed, (b, b_neg): Signed, top: i64) -> Signed {
        match (a_neg, b_neg) {
            (true, false) => (self.sum(b, a, true, top), false),
            (false, true) => (self.sum(a, b, true, top), false),
            _ => (self.sum(a, b, false, top), a_neg),
        }
    }

    /// Builds the sum of three terms in one adder; also returns `true` if the sum must be subtracted. Returns `None` if
    /// an adder of three operands is not needed: a term is zero, two terms are constant, or the bits of two terms do
    /// not overlap. `inner` is the extent of the sum of the first two terms, and `true` if that sum is subtracted;
    /// `None` if the sum has no type. The result has the width of two successive adders.
    pub(super) fn three(&mut self, terms: [Signed; 3], inner: Option<(Extent, bool)>, top: i64) -> Option<Signed> {
        let cut = terms.map(|(x, neg)| {
            let x = self.below(x, top);
            (self.trimmed(x), neg)
        });
        let [x, y, z] = cut;
        let constants = cut.iter().filter(|(x, _)| self.pool.is_const(x.bits)).count();
        let apart = |(x, x_neg): Signed, (y, y_neg): Signed| !x_neg && !y_neg && !x.signed && x.top() <= y.at;
        let wired = cut.iter().enumerate().any(|(i, &x)| (0..3).any(|j| i != j && apart(x, cut[j])));
        if constants > 1 || wired || cut.iter().any(|(x, _)| x.is_zero()) {
            return None;
        }
        let negative = cut.iter().all(|t| t.1);
        let minus = |t: Signed| t.1 && !negative;
        let first = x.0.extent().plus(y.0.extent(), minus(x) != minus(y), top);
        // The extent includes repeated sign bits up to the type's width, but no constant zero bits.
        let (first, first_minus) = match inner {
            Some((inner, neg)) if first.signed || first.top >= inner.top => (inner.below(top), neg),
            _ => (first, minus(x) && minus(y)),
        };
        if !first_minus && !first.signed && !z.1 && first.top <= z.0.at {
            return None;
        }
        let whole = first.plus(z.0.extent(), first_minus != minus(z), top);
        // Bits of the lowest added term below the other terms pass through.
        let lowest = (0..3).filter(|&i| !minus(cut[i])).min_by_key(|&i| cut[i].0.at)?;
        let (a, b, c) = (cut[lowest], cut[(lowest + 1) % 3], cut[(lowest + 2) % 3]);
        let start = b.0.at.min(c.0.at);
        let width = (whole.top - start) as u32;
        let [left, middle, right] = [a, b, c].map(|(x, _)| self.window(x, start, width));
        let cell = Cell::Three { a: left, b: middle, c: right, minus: [minus(b), minus(c)] };
        let upper = Fixed { bits: self.wire(width, cell), at: start, signed: whole.signed };
        Some((self.above_passed(a.0, upper), negative))
    }
}
