//! Pass `polarity`: computes each sum with the sign that costs fewer adder bits.
//!
//! In `a - b`, low bits that only `a` has are wires, but low bits that only `b` has need borrows, one adder bit each.
//! If every reader of the difference can also read `b - a` (because it adds, subtracts, or selects between such
//! values), the cheaper difference is computed and the readers change their signs. The same choice removes most
//! explicit negations: a value that is only read negated is computed negated.
//!
//! The choice of the negated values is an Ising-like problem. A few sweeps over the program solve it by greedy single
//! flips (the cost of a flip is local), which never increase the cost. The pass never adds a negation.

use super::facts::{Facts, Known, Range};
use super::rewrite::Rewrite;
use alir_core::ir::{Model, Op, Output, Term, ValueId};
use alir_core::num::{Code, Interval};

/// Negates values if that saves adder bits; returns `None` if nothing changes.
pub(super) fn run(model: &Model, known: &mut Known) -> Option<Model> {
    let plan = Plan::new(model, known.whole(model)).solve();
    plan.turned.iter().any(|&t| t).then(|| plan.apply())
}

struct Plan<'a> {
    model: &'a Model,
    facts: &'a Facts,
    /// `true` if the value may be computed negated: its operation and all of its readers support that.
    free: Vec<bool>,
    /// `true` if the value is computed negated.
    turned: Vec<bool>,
    /// Readers of each value that are sums or have the sign of their operand: the readers of `v` are at `first[v]` to
    /// `first[v + 1]`.
    readers: Vec<u32>,
    first: Vec<u32>,
    /// Properties of each operation that determine its cost.
    shapes: Vec<Shape>,
    /// Number of outputs that read the value unchanged, and negated.
    shown: Vec<[u32; 2]>,
}

/// Cost of a choice that is not allowed, more than any adder.
const FORBIDDEN: i64 = 1 << 40;
/// Maximum number of sweeps over the program.
const SWEEPS: usize = 4;

/// Properties of an operation that determine its adder bits, together with the chosen signs.
#[derive(Clone, Copy)]
struct Shape {
    kind: Kind,
    /// Width in bits of the value and of its negative.
    widths: [u32; 2],
    /// Operands whose signs affect the cost.
    operands: [u32; 2],
    /// For a sum of two: distance of the first operand's lowest bit above the second's. For a sum with a constant:
    /// number of low bits that are equal to those of the operand.
    low: i64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Neg,
    Wires,
    AddConst,
    Add,
    Sub,
    /// A sum of any number of terms.
    Sum,
    /// An operation whose cost does not depend on signs.
    Fixed,
}

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
            shapes: Vec::with_capacity(n),
            shown: vec![[0; 2]; n],
        };
        let mut linear = vec![false; n];
        for id in model.ids() {
            plan.free[id.index()] = plan.can_turn(id);
            plan.shapes.push(plan.shape(id));
            linear[id.index()] = plan.takes_signs(id);
            model.node(id).op.for_each_operand(|v| {
                if linear[id.index()] {
                    plan.first[v.index()] += 1;
                } else {
                    plan.free[v.index()] = false;
                }
            });
        }
        // Ends of the ranges first; inserting the readers, last one first, turns them into beginnings.
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
            // An output that drops low bits or wraps needs the number itself.
            let port = model.output_kif(j);
            let whole = i64::from(model.kif(v).frac) - i64::from(out.shift) <= i64::from(port.frac);
            if !whole {
                plan.free[v.index()] = false;
            }
            plan.shown[v.index()][usize::from(out.neg)] += 1;
        }
        plan
    }

    /// Returns `true` if the operation is a sum that neither wraps nor drops bits, so that its negative is also such a
    /// sum.
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

    /// Returns `true` if the operation can read its operands negated.
    fn takes_signs(&self, id: ValueId) -> bool {
        match self.model.node(id).op {
            // These operations can if they can be negated, which `free` records for them.
            Op::Neg { .. } | Op::Quantise { .. } => self.free[id.index()],
            // Sums are exact before the final floor, for all signs of their terms.
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

    fn shape(&self, id: ValueId) -> Shape {
        let widths = self.both_widths(id);
        let (kind, a, b, low) = match &self.model.node(id).op {
            Op::Neg { x } => (Kind::Neg, *x, *x, 0),
            Op::Quantise { x, .. } => (Kind::Wires, *x, *x, 0),
            Op::AddConst { x, .. } => (Kind::AddConst, *x, *x, self.passed(id, *x, widths[0])),
            Op::Add { a, b, shift } => (Kind::Add, *a, *b, self.lowest(*a, 0) - self.lowest(*b, *shift)),
            Op::Sub { a, b, shift } => (Kind::Sub, *a, *b, self.lowest(*a, 0) - self.lowest(*b, *shift)),
            Op::Sum { .. } => (Kind::Sum, id, id, 0),
            _ => (Kind::Fixed, id, id, 0),
        };
        Shape { kind, widths, operands: [a.0, b.0], low }
    }

    fn solve(mut self) -> Plan<'a> {
        // If nothing around a value has changed since its last visit, the decision would be the same.
        let mut stale = self.free.clone();
        for _ in 0..SWEEPS {
            let mut changed = false;
            for id in self.model.ids().rev() {
                if !std::mem::take(&mut stale[id.index()]) {
                    continue;
                }
                let before = self.around(id);
                self.turned[id.index()] ^= true;
                if self.around(id) < before {
                    changed = true;
                    self.depending(id, |v| stale[v.index()] = self.free[v.index()]);
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

    fn readers(&self, id: ValueId) -> &[u32] {
        &self.readers[self.first[id.index()] as usize..self.first[id.index() + 1] as usize]
    }

    /// Visits the other values whose costs [`Self::around`] depend on the sign of `id`: its operands, its readers, and
    /// their operands.
    fn depending(&self, id: ValueId, mut visit: impl FnMut(ValueId)) {
        self.model.node(id).op.for_each_operand(&mut visit);
        for &reader in self.readers(id) {
            visit(ValueId(reader));
            self.model.node(ValueId(reader)).op.for_each_operand(|v| {
                if v != id {
                    visit(v);
                }
            });
        }
    }

    /// Returns the cost of a value and of all its readers.
    fn around(&self, id: ValueId) -> i64 {
        let [plain, negated] = self.shown[id.index()];
        let turned = usize::from(self.turned[id.index()]);
        let wrong = if turned == 1 { plain } else { negated };
        // One negation serves all outputs that need the other sign; a new negation is not allowed.
        let outputs = match (turned, wrong) {
            (_, 0) => 0,
            (0, _) => i64::from(self.shapes[id.index()].widths[0]),
            _ => FORBIDDEN,
        };
        self.readers(id).iter().map(|&r| self.cost(ValueId(r))).sum::<i64>() + self.cost(id) + outputs
    }

    /// Returns the adder bits of one operation with the current signs.
    fn cost(&self, id: ValueId) -> i64 {
        let Shape { kind, widths, operands: [a, b], low } = self.shapes[id.index()];
        let own = self.turned[id.index()];
        let (a, b) = (self.turned[a as usize], self.turned[b as usize]);
        let width = i64::from(widths[usize::from(own)]);
        match kind {
            Kind::Fixed => 0,
            Kind::Neg => {
                if own == a {
                    width
                } else {
                    0
                }
            }
            // The result has the sign of the operand.
            Kind::Wires => {
                if own == a {
                    0
                } else {
                    FORBIDDEN
                }
            }
            // In c - x the low bits of the constant cost nothing, in x + c the low bits of x.
            Kind::AddConst => width - if own == a { low } else { 0 },
            Kind::Add | Kind::Sub => match (own ^ a, own ^ b ^ (kind == Kind::Sub)) {
                (true, true) => FORBIDDEN,
                (false, false) => width - low.abs().min(width),
                (false, true) => width - (-low).clamp(0, width),
                (true, false) => width - low.clamp(0, width),
            },
            // At least one term must be added; the lowering chooses the term that starts the chain.
            Kind::Sum => match &self.model.node(id).op {
                Op::Sum { terms }
                    if terms.iter().all(|t| t.neg ^ self.turned[t.value.index()]) && !terms.iter().all(|t| t.neg) =>
                {
                    FORBIDDEN
                }
                _ => 0,
            },
        }
    }

    /// Returns the number of low bits of `x + c` that are bits of `x`.
    fn passed(&self, id: ValueId, x: ValueId, width: u32) -> i64 {
        let Op::AddConst { value, shift, .. } = &self.model.node(id).op else { return 0 };
        let zeros = value.to_i128().map_or(0, |v| i64::from(v.trailing_zeros()));
        (zeros - i64::from(*shift) - self.lowest(x, 0)).clamp(0, i64::from(width))
    }

    /// Returns the weight (exponent of two) of the lowest bit of `v * 2^shift` that is not always clear.
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
            // For a negated value the number differs, but none of its readers relies on the number.
            rw.replace_next(new);
        }
        rw.finish_with(|out, source, number| Output {
            source: source.map(number),
            neg: out.neg ^ source.is_some_and(|v| self.turned[v.index()]),
            ..*out
        })
    }

    /// Returns the operation on its (possibly negated) operands, or `None` if nothing changes.
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
    Interval::new(Code::from_i128(r.lo), Code::from_i128(r.hi), frac)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::Trust;
    use alir_testing::random::{Profile, Recipe};

    impl Plan<'_> {
        /// Like [`Plan::solve`], but visits every value in every sweep.
        fn solve_plainly(mut self) -> Self {
            for _ in 0..SWEEPS {
                for id in self.model.ids().rev().filter(|id| self.free[id.index()]).collect::<Vec<_>>() {
                    let before = self.around(id);
                    self.turned[id.index()] ^= true;
                    if self.around(id) >= before {
                        self.turned[id.index()] ^= true;
                    }
                }
            }
            self
        }
    }

    #[test]
    fn what_nothing_was_turned_around_needs_no_second_look() {
        let mut turned = 0;
        for (seed, (_, profile)) in (0..600).zip(Profile::ALL.iter().cycle()) {
            let model = Recipe::seeded(*profile, 150, seed).build();
            let facts = Facts::new(&model, Trust::Types);
            let (quick, plain) = (Plan::new(&model, &facts).solve(), Plan::new(&model, &facts).solve_plainly());
            assert_eq!(quick.turned, plain.turned, "seed {seed}");
            turned += quick.turned.iter().filter(|&&t| t).count();
        }
        assert!(turned > 1000, "{turned}");
    }
}
