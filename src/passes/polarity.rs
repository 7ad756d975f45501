//! `polarity`: sums are computed with the sign that costs fewer adder bits.
//!
//! In `a - b`, low bits that only `a` has are wires; low bits that only `b` has must be borrowed for, one adder bit each.
//! Where every reader of the difference can as well take `b - a` (it adds, subtracts, or selects between such values), the
//! cheaper of the two is computed and the readers turn their signs. The same choice makes most explicit negations
//! vanish: a value that is only wanted negated is computed negated in the first place.
//!
//! Which values to turn is an Ising-like problem; it is solved by greedy single flips in a few sweeps over the program (the
//! cost of a flip is local), which never leaves a program worse than it was. No negation is ever added.

use super::Trust;
use super::facts::{Facts, Range};
use super::rewrite::Rewrite;
use crate::ir::{Model, Op, Output, Term, ValueId};
use crate::num::{Code, Interval};

/// Turns signs where that saves adder bits.
pub(super) fn run(model: &Model, trust: Trust) -> Model {
    let facts = Facts::of(model, trust);
    let plan = Plan::new(model, &facts).solve();
    if plan.turned.iter().any(|&t| t) { plan.apply() } else { model.clone() }
}

struct Plan<'a> {
    model: &'a Model,
    facts: &'a Facts,
    /// Whether the value may be computed negated: its operation can, and so can all of its readers.
    free: Vec<bool>,
    /// Whether it is.
    turned: Vec<bool>,
    /// Readers of each value that are sums or follow their operand's sign: those of `v` stand from `first[v]` to `first[v + 1]`.
    readers: Vec<u32>,
    first: Vec<u32>,
    /// Bits of the value and of its negative.
    widths: Vec<[u32; 2]>,
    /// How often an output shows the value as it is and negated.
    shown: Vec<[u32; 2]>,
}

/// More than any adder: a choice that is not allowed.
const FORBIDDEN: i64 = 1 << 40;

impl<'a> Plan<'a> {
    fn new(model: &'a Model, facts: &'a Facts) -> Plan<'a> {
        let n = model.nodes().len();
        let mut plan = Plan {
            model,
            facts,
            free: vec![false; n],
            turned: vec![false; n],
            readers: Vec::new(),
            first: vec![0; n + 1],
            widths: vec![[0; 2]; n],
            shown: vec![[0; 2]; n],
        };
        let mut linear = vec![false; n];
        for id in model.ids() {
            plan.free[id.index()] = plan.can_turn(id);
            plan.widths[id.index()] = plan.both_widths(id);
            linear[id.index()] = plan.takes_signs(id);
            model.node(id).op.for_each_operand(|v| {
                if linear[id.index()] {
                    plan.first[v.index()] += 1;
                } else {
                    plan.free[v.index()] = false;
                }
            });
        }
        // Ends first; they become beginnings as the readers are put in, the last one first.
        let mut sum = 0;
        for end in &mut plan.first {
            sum += *end;
            *end = sum;
        }
        plan.readers = vec![0; sum as usize];
        for id in model.ids().rev().filter(|id| linear[id.index()]) {
            model.node(id).op.for_each_operand(|v| {
                let place = &mut plan.first[v.index()];
                *place -= 1;
                plan.readers[*place as usize] = id.0;
            });
        }
        for (j, out) in model.outputs().iter().enumerate() {
            let Some(v) = out.source else { continue };
            // An output that drops low bits or wraps wants the number itself.
            let port = model.output_kif(j);
            let whole = i64::from(model.kif(v).frac) - i64::from(out.shift) <= i64::from(port.frac);
            if !whole {
                plan.free[v.index()] = false;
            }
            plan.shown[v.index()][usize::from(out.neg)] += 1;
        }
        plan
    }

    /// Whether the operation is a sum that neither wraps nor drops bits, so that its negative is one too.
    fn can_turn(&self, id: ValueId) -> bool {
        let kif = self.model.kif(id);
        let frac = |v: ValueId| i64::from(self.model.kif(v).frac);
        let finest = match &self.model.node(id).op {
            Op::Neg { x } => frac(*x),
            Op::Add { a, b, shift } | Op::Sub { a, b, shift } => frac(*a).max(frac(*b) - i64::from(*shift)),
            Op::AddConst { x, shift, .. } => frac(*x).max(i64::from(*shift)),
            Op::Quantise { x, shift } => frac(*x) - i64::from(*shift),
            _ => return false,
        };
        finest <= i64::from(kif.frac)
            && self.facts.range(id).is_some_and(|r| r.lo != r.hi)
            && self.facts.never_wraps(self.model, id)
    }

    /// Whether the operation can read its operands negated.
    fn takes_signs(&self, id: ValueId) -> bool {
        match self.model.node(id).op {
            Op::Neg { .. } | Op::Quantise { .. } => self.can_turn(id),
            // Sums are exact before their one floor, whatever the signs of their terms.
            Op::Add { .. } | Op::Sub { .. } | Op::Sum { .. } | Op::AddConst { .. } => true,
            _ => false,
        }
    }

    fn both_widths(&self, id: ValueId) -> [u32; 2] {
        let width = self.model.kif(id).width();
        match self.facts.range(id) {
            Some(r) => [width, interval_of(Range { lo: -r.hi, hi: -r.lo, zeros: r.zeros }, 0).kif().width()],
            None => [width, width + 1],
        }
    }

    fn solve(mut self) -> Plan<'a> {
        for _ in 0..4 {
            let mut changed = false;
            for id in self.model.ids().rev().filter(|id| self.free[id.index()]).collect::<Vec<_>>() {
                let before = self.around(id);
                self.turned[id.index()] ^= true;
                if self.around(id) < before {
                    changed = true;
                } else {
                    self.turned[id.index()] ^= true;
                }
            }
            if !changed {
                break;
            }
        }
        self
    }

    /// Cost of a value and of everything that reads it.
    fn around(&self, id: ValueId) -> i64 {
        let [plain, negated] = self.shown[id.index()];
        let turned = usize::from(self.turned[id.index()]);
        let wrong = if turned == 1 { plain } else { negated };
        // One negation serves all outputs that want the other sign; none is added where there was none.
        let outputs = match (turned, wrong) {
            (_, 0) => 0,
            (0, _) => i64::from(self.widths[id.index()][0]),
            _ => FORBIDDEN,
        };
        let readers = &self.readers[self.first[id.index()] as usize..self.first[id.index() + 1] as usize];
        readers.iter().map(|&r| self.cost(ValueId(r))).sum::<i64>() + self.cost(id) + outputs
    }

    /// Adder bits of one operation under the present choice.
    fn cost(&self, id: ValueId) -> i64 {
        let sign = |v: ValueId| self.turned[v.index()];
        let own = self.turned[id.index()];
        let width = i64::from(self.widths[id.index()][usize::from(own)]);
        match &self.model.node(id).op {
            Op::Neg { x } if own == sign(*x) => width,
            Op::Neg { .. } => 0,
            // Wires follow their operand.
            Op::Quantise { x, .. } => {
                if own == sign(*x) {
                    0
                } else {
                    FORBIDDEN
                }
            }
            Op::AddConst { x, .. } => {
                // c - x has the constant's low bits for free, x + c those of x.
                width - if own == sign(*x) { self.passed(id, *x) } else { 0 }
            }
            Op::Add { a, b, shift } | Op::Sub { a, b, shift } => {
                let minus = matches!(self.model.node(id).op, Op::Sub { .. });
                let (neg_a, neg_b) = (own ^ sign(*a), own ^ sign(*b) ^ minus);
                let ahead = self.lowest(*a, 0) - self.lowest(*b, *shift);
                match (neg_a, neg_b) {
                    (true, true) => FORBIDDEN,
                    (false, false) => width - ahead.abs().min(width),
                    (false, true) => width - (-ahead).clamp(0, width),
                    (true, false) => width - ahead.clamp(0, width),
                }
            }
            // At least one term must be added; which one starts the chain is the lowering's choice.
            Op::Sum { terms } if terms.iter().all(|t| t.neg ^ sign(t.value)) && !terms.iter().all(|t| t.neg) => {
                FORBIDDEN
            }
            _ => 0,
        }
    }

    /// Low bits of `x + c` that are bits of `x`.
    fn passed(&self, id: ValueId, x: ValueId) -> i64 {
        let Op::AddConst { value, shift, .. } = &self.model.node(id).op else { return 0 };
        let zeros = value.to_i128().map_or(0, |v| i64::from(v.trailing_zeros()));
        (zeros - i64::from(*shift) - self.lowest(x, 0)).clamp(0, i64::from(self.widths[id.index()][0]))
    }

    /// Weight (exponent of two) of the lowest bit of `v * 2^shift` that is not always clear.
    fn lowest(&self, v: ValueId, shift: i32) -> i64 {
        let zeros = self.facts.range(v).map_or(0, |r| i64::from(r.zeros.min(126)));
        zeros + i64::from(shift) - i64::from(self.model.kif(v).frac)
    }

    fn apply(self) -> Model {
        let mut rw = Rewrite::new(self.model);
        for id in self.model.ids() {
            let new = match self.signed_op(&mut rw, id) {
                Some((op, interval)) => rw.replace(id, op, interval),
                None => rw.keep(id),
            };
            // For a turned value this is not its number, but none of its readers takes it for that.
            rw.stands_for_next(new);
        }
        rw.finish_with(|out, source, number| Output {
            source: source.map(number),
            neg: out.neg ^ source.is_some_and(|v| self.turned[v.index()]),
            ..*out
        })
    }

    /// The operation on its (possibly turned) operands, if anything about it changes.
    fn signed_op(&self, rw: &mut Rewrite<'_>, id: ValueId) -> Option<(Op, Interval)> {
        let sign = |v: ValueId| self.turned[v.index()];
        let own = sign(id);
        let node = self.model.node(id);
        let mut touched = own;
        node.op.for_each_operand(|v| touched |= sign(v));
        if !touched {
            return None;
        }
        let interval = match (own, self.facts.range(id)) {
            (true, Some(r)) => interval_of(Range { lo: -r.hi, hi: -r.lo, zeros: 0 }, node.interval.frac),
            _ => node.interval.clone(),
        };
        let op = match &node.op {
            Op::Neg { x } => {
                let x_new = rw.number(*x);
                if own == sign(*x) { Op::Neg { x: x_new } } else { Op::Quantise { x: x_new, shift: 0 } }
            }
            Op::Quantise { x, shift } => Op::Quantise { x: rw.number(*x), shift: *shift },
            Op::AddConst { x, value, shift } => {
                let x_new = rw.number(*x);
                let value = if own { Code::from(-value.to_big()) } else { value.clone() };
                if own == sign(*x) {
                    Op::AddConst { x: x_new, value, shift: *shift }
                } else {
                    let interval = Interval::new(value.clone(), value.clone(), *shift);
                    let constant = rw.push(Op::Const { value }, interval, 0.0, 0.0, node.origin);
                    Op::Sub { a: constant, b: x_new, shift: 0 }
                }
            }
            Op::Add { a, b, shift } | Op::Sub { a, b, shift } => {
                let minus = matches!(node.op, Op::Sub { .. });
                let (neg_a, neg_b) = (own ^ sign(*a), own ^ sign(*b) ^ minus);
                let (a, b, shift) = (rw.number(*a), rw.number(*b), *shift);
                match (neg_a, neg_b) {
                    (false, false) => Op::Add { a, b, shift },
                    (false, true) => Op::Sub { a, b, shift },
                    _ => Op::Sum {
                        terms: Box::new([
                            Term { value: b, shift, neg: neg_b },
                            Term { value: a, shift: 0, neg: neg_a },
                        ]),
                    },
                }
            }
            Op::Sum { terms } => Op::Sum {
                terms: terms
                    .iter()
                    .map(|t| Term { value: rw.number(t.value), neg: t.neg ^ sign(t.value), ..*t })
                    .collect(),
            },
            _ => return None,
        };
        Some((op, interval))
    }
}

fn interval_of(r: Range, frac: i32) -> Interval {
    Interval::new(Code::of_i128(r.lo), Code::of_i128(r.hi), frac)
}
