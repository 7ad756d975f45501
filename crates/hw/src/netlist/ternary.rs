//! Adders of three operands, for devices that make one of a table a bit.
//!
//! A six-input table before a carry bit has room for a full adder: its sum enters the chain together with the carry of
//! the full adder below (J. M. Simkins, B. D. Philofsky, US patent 7,274,211). A sum of many terms takes half as many
//! such adders. Two sums of two become one if the inner one has no other reader and loses no bit, and no register is
//! between them. Synthesisers without such adders build two from it, or a tree of carry-save adders, so it is the
//! device's choice.

use super::arith::{Extent, Fixed};
use super::builder::Draft;
use super::cell::Cell;
use alir_core::ir::{Model, Op, ValueId};
use alir_core::num::Code;
use alir_opt::passes;
use alir_opt::schedule::Schedule;

/// A summand and whether it is subtracted.
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

/// For each operation the one that is made within it, and for each that is made within another that it is.
pub(super) struct Pairs {
    /// The operand that the operation's adder takes in.
    pub(super) inner: Vec<Option<ValueId>>,
    /// `true` for each operation that another operation's adder absorbs.
    pub(super) taken: Vec<bool>,
}

impl Pairs {
    /// No operation within another.
    pub(super) fn none() -> Pairs {
        Pairs { inner: Vec::new(), taken: Vec::new() }
    }

    /// Finds sums of two with a summand that is such a sum too, of the same stage, exact, and without another reader,
    /// where the longest path of all stages does not grow: the other operand of the outer sum waits for a table more
    /// than before.
    pub(super) fn find(model: &Model, schedule: &Schedule) -> Pairs {
        let n = model.nodes().len();
        let readers = model.reader_counts();
        let exact = passes::exact_sums(model);
        let stage = |v: ValueId| schedule.stage[v.index()];
        // When an operation of a stage may read each value.
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
        // By when each value has to be there.
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
        // One bit of a difference is a comparison.
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

/// Time of an adder of three, where one of two takes [`TWO`]: a table more.
const THREE: u32 = 7;
/// Time of an adder of two after other adders, whose carries run in parallel with its own.
const TWO: u32 = 4;
/// Time of a level of logic.
const LOGIC: u32 = 3;

/// Roughly how long an operation takes in such a device, multipliers in blocks.
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
    /// The sum of two, right at all positions below `top`, and whether it is to be subtracted.
    pub(super) fn pair(&mut self, (a, a_neg): Signed, (b, b_neg): Signed, top: i64) -> Signed {
        match (a_neg, b_neg) {
            (true, false) => (self.sum(b, a, true, top), false),
            (false, true) => (self.sum(a, b, true, top), false),
            _ => (self.sum(a, b, false, top), a_neg),
        }
    }

    /// Builds the sum of three terms in one adder; `None` where that is no sum of three: one of them is zero or two
    /// constant, or bits of two never meet. `inner` is where the sum of the first two ends and whether it is
    /// subtracted, if it has a type: the result is as wide as that of two adders.
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
        // Bits that repeat a sign belong to the type; bits that are zero do not.
        let (first, first_minus) = match inner {
            Some((inner, neg)) if first.signed || first.top >= inner.top => (inner.below(top), neg),
            _ => (first, minus(x) && minus(y)),
        };
        if !first_minus && !first.signed && !z.1 && first.top <= z.0.at {
            return None;
        }
        let whole = first.plus(z.0.extent(), first_minus != minus(z), top);
        // What the lowest that is added has below the others passes through.
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
