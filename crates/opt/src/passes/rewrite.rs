//! Reconstruction of a program, operation by operation, with some of them replaced.
//!
//! A pass visits the old program in order and chooses, for each operation, the value of the new program that replaces
//! it. Most readers of a value depend only on its *number*, and can read any value of the new program with the same
//! number, whatever its type. A few also depend on the operand's *type* (its width or step): lookups, `not` and `all`,
//! and multiplexers, which read the top bit. [`Rewrite`] therefore has two replacements for each old value, and gives
//! every reader the right one.
//!
//! # Latencies
//! A pass preserves the own delay of an operation (see [`Model::own_delay`]): the latency of a new operation is the
//! largest latency of its new operands plus its delay, so that the schedule after a pass is computed from the same
//! delays on shorter paths. Constants get the smallest latency of the program, so that they never determine an arrival
//! time.

use alir_core::ir::{Builder, Model, Node, Op, Output, Table, TableId, UnaryBits, ValueId};
use alir_core::num::{Interval, Kif};

/// Builder of a new program that is derived from an old program.
///
/// As long as every operation is unchanged, nothing is built: the new program *is* the beginning of the old one. A pass
/// without changes therefore copies nothing.
pub(super) struct Rewrite<'a> {
    old: &'a Model,
    /// Number of processed operations of the old program if all of them are unchanged; `None` after the first change.
    same: Option<usize>,
    builder: Builder,
    /// Latency of each new operation.
    latencies: Vec<f64>,
    /// For each old value: the new value with the same number.
    number: Vec<ValueId>,
    /// For each old value: the new value with the same number and the same type, once a reader has requested it.
    typed: Vec<Option<ValueId>>,
    /// Smallest latency of the old program.
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

    /// Starts the new program with a copy of the unchanged operations so far.
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
            self.replace_next(new);
        }
    }

    /// Returns `true` if [`Rewrite::replace`] with the unchanged operation would append an equal operation, with equal
    /// latency and cost.
    fn is_fixed_point(&self, old: ValueId) -> bool {
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

    /// Returns the type of a new value.
    pub(super) fn kif(&self, new: ValueId) -> Kif {
        self.node(new).interval.kif()
    }

    /// Returns the type of an old value.
    pub(super) fn old_kif(&self, old: ValueId) -> Kif {
        self.old.kif(old)
    }

    /// Returns an operation of the new program.
    pub(super) fn node(&self, new: ValueId) -> &Node {
        match self.same {
            Some(_) => self.old.node(new),
            None => &self.builder.nodes()[new.index()],
        }
    }

    /// Returns the new value with the number of an old value.
    pub(super) fn number(&self, old: ValueId) -> ValueId {
        if self.same.is_some() { old } else { self.number[old.index()] }
    }

    /// Returns the new value with the number and the type of an old value; appends a quantise (wires) if necessary.
    pub(super) fn typed(&mut self, old: ValueId) -> ValueId {
        let (kif, replacement) = (self.old.kif(old), self.number(old));
        if self.same.is_some() || self.kif(replacement) == kif {
            return replacement;
        }
        if let Some(known) = self.typed[old.index()] {
            return known;
        }
        // Uses the whole type, not the old interval: a pass may preserve only the top bit of a value that controls a
        // multiplexer, so that the other bits may violate the interval.
        let origin = self.old.node(old).origin;
        let typed = self.push(Op::Quantise { x: replacement, shift: 0 }, Interval::full(kif), 0.0, 0.0, origin);
        self.typed[old.index()] = Some(typed);
        typed
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

    /// Appends an operation whose latency is the latency of its latest operand plus `delay`.
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

    /// Appends the replacement of `old`: `op` in `interval`, with the old operation's delay, cost and origin.
    pub(super) fn replace(&mut self, old: ValueId, op: Op, interval: Interval) -> ValueId {
        self.begin();
        let node = self.old.node(old);
        if matches!(op, Op::Input { .. }) {
            return self.append(Node { op, interval, ..node.clone() });
        }
        let wires = matches!(op, Op::Quantise { .. } | Op::Const { .. });
        let (delay, cost) = if wires { (0.0, 0.0) } else { (self.old.own_delay(old), node.cost) };
        // A quantise that replaces a quantise keeps the delay that the file states.
        let delay = if matches!(node.op, Op::Quantise { .. }) { self.old.own_delay(old) } else { delay };
        self.push(op, interval, delay, cost, node.origin)
    }

    /// Appends `old` unchanged, except that it reads the replacements of its operands.
    pub(super) fn keep(&mut self, old: ValueId) -> ValueId {
        if self.is_unchanged_so_far(old) {
            return old;
        }
        let op = self.translated(old);
        self.replace(old, op, self.old.node(old).interval.clone())
    }

    /// Like [`Rewrite::keep`], for a caller that already has the [`Rewrite::translated`] operation.
    pub(super) fn keep_translated(&mut self, old: ValueId, op: Op) -> ValueId {
        if self.is_unchanged_so_far(old) {
            return old;
        }
        self.replace(old, op, self.old.node(old).interval.clone())
    }

    /// Returns `true` if nothing has changed so far, and the next old operation, `old`, need not change either.
    fn is_unchanged_so_far(&self, old: ValueId) -> bool {
        self.same == Some(old.index()) && self.is_fixed_point(old)
    }

    /// Records `new` as the replacement of the next old value. Must be called once for each old value, in order.
    pub(super) fn replace_next(&mut self, new: ValueId) {
        match &mut self.same {
            Some(same) if new.index() == *same => *same += 1,
            // An earlier value replaces the old value.
            Some(_) => {
                self.begin();
                self.replace_next(new);
            }
            None => {
                self.number.push(new);
                self.typed.push(None);
            }
        }
    }

    /// Returns the new program, in which outputs read the replacements of their values; `None` if nothing changed.
    pub(super) fn finish(self) -> Option<Model> {
        if self.same.is_some() {
            return None;
        }
        Some(self.finish_with(|out, source, number| Output { source: source.map(number), ..*out }))
    }

    /// Returns the new program. `output` builds each output from the old one, its old source, and the map from old to
    /// new values.
    pub(super) fn finish_with(
        mut self,
        mut output: impl FnMut(&Output, Option<ValueId>, &dyn Fn(ValueId) -> ValueId) -> Output,
    ) -> Model {
        self.begin();
        for out in self.old.outputs() {
            let new = output(out, out.source, &|v| self.number[v.index()]);
            self.builder.output(new);
        }
        self.builder.finish().unwrap_or_else(|p| panic!("a pass built an invalid program: {}", p[0]))
    }
}

/// Like [`rebuild`], for a pass that adds all tables itself by [`Rewrite::table`]: the old tables are removed.
pub(super) fn rebuild_with_tables(
    model: &Model,
    mut decide: impl FnMut(&mut Rewrite<'_>, ValueId) -> ValueId,
) -> Option<Model> {
    let mut rewrite = Rewrite::new(model);
    rewrite.begin();
    rewrite.builder.clear_tables();
    for id in model.ids() {
        let new = decide(&mut rewrite, id);
        rewrite.replace_next(new);
    }
    rewrite.finish()
}

/// Rebuilds a program: `decide` is called for each operation in order, and returns its replacement. Returns `None` if
/// nothing changed.
pub(super) fn rebuild(model: &Model, mut decide: impl FnMut(&mut Rewrite<'_>, ValueId) -> ValueId) -> Option<Model> {
    let mut rewrite = Rewrite::new(model);
    for id in model.ids() {
        let new = decide(&mut rewrite, id);
        rewrite.replace_next(new);
    }
    rewrite.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alir_testing::random::{Profile, Recipe};

    /// Rebuilds the program by appending every operation unchanged.
    fn written_again(model: &Model) -> Model {
        let mut rewrite = Rewrite::new(model);
        rewrite.begin();
        for id in model.ids() {
            let new = rewrite.keep(id);
            rewrite.replace_next(new);
        }
        rewrite.finish().expect("it was begun")
    }

    #[test]
    fn unchanged_operations_are_copied_lazily_with_equal_results() {
        for (seed, (_, profile)) in (0..400).zip(Profile::ALL.iter().cycle()) {
            let model = Recipe::seeded(*profile, 60, seed).build();
            let rewritten = written_again(&model);
            assert_eq!(
                rebuild(&model, |rw, id| rw.keep(id)).unwrap_or_else(|| model.clone()),
                rewritten,
                "seed {seed}"
            );
            // After one rewrite, all latencies and costs are the values that a pass computes.
            assert_eq!(rebuild(&rewritten, |rw, id| rw.keep(id)), None, "seed {seed}");
            // If one operation is replaced, the operations before it are copied at that time.
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
