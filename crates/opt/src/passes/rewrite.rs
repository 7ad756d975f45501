//! Rebuilding a program, operation by operation, with some of them replaced.
//!
//! A pass walks the old program in order and decides for each operation what stands for it in the new one. Most readers
//! of a value only use the *number* it holds, and may take any value of the new program that holds the same number,
//! whatever its type; a few look at the operand's *type* as well (its width or its step): lookups count codes, `not`
//! and `all` count bits, a mux looks at the top bit. [`Rewrite`] therefore keeps two replacements for each old value
//! and gives every reader the right one.
//!
//! # Latencies
//! An operation's own delay (see [`Model::own_delay`]) is what a pass keeps: the latency written for a new operation is
//! the largest latency of its new operands plus its delay, so that scheduling after a pass sees the same delays on
//! shorter paths. Constants get the smallest latency of the program, so that they never count as an arrival.

use alir_core::ir::{Builder, Model, Node, Op, Output, Table, TableId, UnaryBits, ValueId};
use alir_core::num::{Interval, Kif};

/// A new program under construction, derived from the old one.
///
/// As long as every operation stays exactly as it was, nothing is built: the new program *is* the beginning of the old
/// one. A pass that finds nothing to do costs no copy.
pub(super) struct Rewrite<'a> {
    old: &'a Model,
    /// Number of operations of the old program that were processed so far, all of which stay as they are; `None` once
    /// one did not.
    same: Option<usize>,
    builder: Builder,
    latencies: Vec<f64>,
    /// For each old value: the new value that holds the same number.
    number: Vec<ValueId>,
    /// For each old value: the new value that holds the same number in the same type, once a reader requested it.
    typed: Vec<Option<ValueId>>,
    earliest: f64,
}

impl<'a> Rewrite<'a> {
    pub(super) fn new(old: &'a Model) -> Rewrite<'a> {
        Rewrite {
            old,
            same: Some(0),
            builder: Builder::like(old),
            latencies: Vec::new(),
            number: Vec::new(),
            typed: Vec::new(),
            earliest: old.nodes().iter().map(|n| n.latency).fold(f64::INFINITY, f64::min),
        }
    }

    /// From here on there is a new program, which begins as the old one.
    fn begin(&mut self) {
        let Some(same) = self.same.take() else { return };
        let n = self.old.nodes().len();
        self.builder.reserve(n);
        self.latencies.reserve_exact(n);
        self.number.reserve_exact(n);
        self.typed.reserve_exact(n);
        let old = self.old;
        for node in &old.nodes()[..same] {
            let new = self.append(node.clone());
            self.stands_for_next(new);
        }
    }

    /// Returns `true` if an unchanged operation would be written as it is: with the latency and the cost that the
    /// rewriting gives it.
    fn stays(&self, old: ValueId) -> bool {
        let node = self.old.node(old);
        match node.op {
            Op::Input { .. } => true,
            Op::Const { .. } => node.latency == self.earliest && node.cost == 0.0,
            _ => {
                let mut start = f64::NEG_INFINITY;
                node.op.for_each_operand(|v| start = start.max(self.old.node(v).latency));
                let wires = matches!(node.op, Op::Quantise { .. });
                start + (node.latency - start).max(0.0) == node.latency && !(wires && node.cost != 0.0)
            }
        }
    }

    /// Type of a new value.
    pub(super) fn kif(&self, new: ValueId) -> Kif {
        self.node(new).interval.kif()
    }

    /// Type of an old value.
    pub(super) fn old_kif(&self, old: ValueId) -> Kif {
        self.old.kif(old)
    }

    /// An operation of the new program.
    pub(super) fn node(&self, new: ValueId) -> &Node {
        match self.same {
            Some(_) => self.old.node(new),
            None => &self.builder.nodes()[new.index()],
        }
    }

    /// The new value that holds the number of an old one.
    pub(super) fn number(&self, old: ValueId) -> ValueId {
        if self.same.is_some() { old } else { self.number[old.index()] }
    }

    /// The new value that holds the number of an old one in the old one's type; a quantise (wires) is made if needed.
    pub(super) fn typed(&mut self, old: ValueId) -> ValueId {
        let (kif, stand_in) = (self.old.kif(old), self.number(old));
        if self.same.is_some() || self.kif(stand_in) == kif {
            return stand_in;
        }
        if let Some(known) = self.typed[old.index()] {
            return known;
        }
        // The whole type, not the old interval: of a value that steers a multiplexer only the top bit may be left.
        let origin = self.old.node(old).origin;
        let made = self.push(Op::Quantise { x: stand_in, shift: 0 }, Interval::full(kif), 0.0, 0.0, origin);
        self.typed[old.index()] = Some(made);
        made
    }

    /// Returns the old operation with its operands replaced by their new values.
    pub(super) fn translated(&mut self, old: ValueId) -> Op {
        let mut op = self.old.node(old).op.clone();
        if self.same.is_some() {
            return op;
        }
        match &mut op {
            Op::Lookup { x, .. } | Op::Unary { op: UnaryBits::All | UnaryBits::Not, x } => *x = self.typed(*x),
            Op::Mux { cond, on_true, on_false, shift: _ } => {
                *cond = self.typed(*cond);
                *on_true = self.number(*on_true);
                *on_false = self.number(*on_false);
            }
            other => other.map_operands(|v| self.number[v.index()]),
        }
        op
    }

    /// Appends a table.
    pub(super) fn table(&mut self, table: Table) -> TableId {
        self.begin();
        self.builder.table(table)
    }

    /// Appends an operation that takes `delay` after its last operand.
    pub(super) fn push(&mut self, op: Op, interval: Interval, delay: f64, cost: f64, origin: u32) -> ValueId {
        self.begin();
        let mut start = f64::NEG_INFINITY;
        op.for_each_operand(|v| start = start.max(self.latencies[v.index()]));
        let latency = if start.is_finite() { start + delay } else { self.earliest };
        self.append(Node { op, interval, latency, cost, origin })
    }

    fn append(&mut self, node: Node) -> ValueId {
        self.latencies.push(node.latency);
        self.builder.push_checked(node)
    }

    /// Appends what stands for `old`: `op` in `interval`, with the old operation's delay, cost and origin.
    pub(super) fn replace(&mut self, old: ValueId, op: Op, interval: Interval) -> ValueId {
        self.begin();
        let node = self.old.node(old);
        if matches!(op, Op::Input { .. }) {
            return self.append(Node { op, interval, ..node.clone() });
        }
        let wires = matches!(op, Op::Quantise { .. } | Op::Const { .. });
        let (delay, cost) = if wires { (0.0, 0.0) } else { (self.old.own_delay(old), node.cost) };
        // A quantise that was one before keeps what the file says of it.
        let delay = if matches!(node.op, Op::Quantise { .. }) { self.old.own_delay(old) } else { delay };
        self.push(op, interval, delay, cost, node.origin)
    }

    /// Appends `old` as it is, on the replacements of its operands.
    pub(super) fn keep(&mut self, old: ValueId) -> ValueId {
        if self.stays_here(old) {
            return old;
        }
        let op = self.translated(old);
        self.replace(old, op, self.old.node(old).interval.clone())
    }

    /// [`Rewrite::keep`] for a caller that already has the [`Rewrite::translated`] operation.
    pub(super) fn keep_translated(&mut self, old: ValueId, op: Op) -> ValueId {
        if self.stays_here(old) {
            return old;
        }
        self.replace(old, op, self.old.node(old).interval.clone())
    }

    /// Returns `true` if nothing has changed yet, and `old`, the next of the old operations, stays as it is.
    fn stays_here(&self, old: ValueId) -> bool {
        self.same == Some(old.index()) && self.stays(old)
    }

    /// Says that `new` holds the number of the next old value. Called once for each old value, in order.
    pub(super) fn stands_for_next(&mut self, new: ValueId) {
        match &mut self.same {
            Some(same) if new.index() == *same => *same += 1,
            // An earlier value stands for this one.
            Some(_) => {
                self.begin();
                self.stands_for_next(new);
            }
            None => {
                self.number.push(new);
                self.typed.push(None);
            }
        }
    }

    /// The new program, if it is another than the old one; outputs follow their values.
    pub(super) fn finish(self) -> Option<Model> {
        if self.same.is_some() {
            return None;
        }
        Some(self.finish_with(|out, source, number| Output { source: source.map(number), ..*out }))
    }

    /// The new program; `output` makes each output from the old one, its old source, and the map from old values to
    /// new.
    pub(super) fn finish_with(
        mut self,
        mut output: impl FnMut(&Output, Option<ValueId>, &dyn Fn(ValueId) -> ValueId) -> Output,
    ) -> Model {
        self.begin();
        for out in self.old.outputs() {
            let new = output(out, out.source, &|v| self.number[v.index()]);
            self.builder.output(new);
        }
        self.builder.finish().unwrap_or_else(|p| panic!("a pass made an invalid program: {}", p[0]))
    }
}

/// [`rebuild`] for a pass that makes all tables itself ([`Rewrite::table`]): the old ones are forgotten.
pub(super) fn rebuild_with_tables(
    model: &Model,
    mut decide: impl FnMut(&mut Rewrite<'_>, ValueId) -> ValueId,
) -> Option<Model> {
    let mut rewrite = Rewrite::new(model);
    rewrite.begin();
    rewrite.builder.clear_tables();
    for id in model.ids() {
        let new = decide(&mut rewrite, id);
        rewrite.stands_for_next(new);
    }
    rewrite.finish()
}

/// Rebuilds a program: `decide` is called for each operation in order and returns what stands for it. Nothing if that
/// is the program as it was.
pub(super) fn rebuild(model: &Model, mut decide: impl FnMut(&mut Rewrite<'_>, ValueId) -> ValueId) -> Option<Model> {
    let mut rewrite = Rewrite::new(model);
    for id in model.ids() {
        let new = decide(&mut rewrite, id);
        rewrite.stands_for_next(new);
    }
    rewrite.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alir_testing::random::{Profile, Recipe};

    /// As the old program from the first operation on.
    fn written_again(model: &Model) -> Model {
        let mut rewrite = Rewrite::new(model);
        rewrite.begin();
        for id in model.ids() {
            let new = rewrite.keep(id);
            rewrite.stands_for_next(new);
        }
        rewrite.finish().expect("it was begun")
    }

    #[test]
    fn what_is_left_out_is_what_would_be_written() {
        for (seed, (_, profile)) in (0..400).zip(Profile::ALL.iter().cycle()) {
            let model = Recipe::seeded(*profile, 60, seed).build();
            let rewritten = written_again(&model);
            assert_eq!(
                rebuild(&model, |rw, id| rw.keep(id)).unwrap_or_else(|| model.clone()),
                rewritten,
                "seed {seed}"
            );
            // Rewritten, all latencies and costs are those that a pass gives.
            assert_eq!(rebuild(&rewritten, |rw, id| rw.keep(id)), None, "seed {seed}");
            // One operation is touched: what is before it was left out at first.
            let touched = rewritten.ids().nth(seed as usize % rewritten.nodes().len());
            let write = |rw: &mut Rewrite<'_>, id| {
                if Some(id) != touched {
                    return rw.keep(id);
                }
                let op = rw.translated(id);
                rw.replace(id, op, rewritten.node(id).interval.clone())
            };
            assert_eq!(rebuild(&rewritten, write), Some(rewritten.clone()), "seed {seed}");
        }
    }
}
