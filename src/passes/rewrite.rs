//! Rebuilding a program, operation by operation, with some of them replaced.
//!
//! A pass walks the old program in order and decides for each operation what stands for it in the new one. Most
//! readers of a value only use the *number* it holds, and may take any value of the new program that holds the same
//! number, whatever its type; a few look at the operand's *type* as well (its width or its step): lookups count codes,
//! `not` and `all` count bits, a mux looks at the top bit. [`Rewrite`] therefore keeps two stand-ins for each old value
//! and gives every reader the right one.
//!
//! # Latencies
//! An operation's own delay (see [`Model::own_delay`]) is what a pass keeps: the latency written for a new operation is
//! the largest latency of its new operands plus its delay, so that scheduling after a pass sees the same delays on
//! shorter paths. Constants get the smallest latency of the program, so that they never count as an arrival.

use crate::ir::{Builder, Model, Node, Op, Output, Table, TableId, UnaryBits, ValueId};
use crate::num::{Interval, Kif};

/// A new program under construction beside the old one.
pub(super) struct Rewrite<'a> {
    old: &'a Model,
    builder: Builder,
    kifs: Vec<Kif>,
    latencies: Vec<f64>,
    /// For each old value: the new value that holds the same number.
    number: Vec<ValueId>,
    /// For each old value: the new value that holds the same number in the same type, once somebody asked for it.
    typed: Vec<Option<ValueId>>,
    earliest: f64,
}

impl<'a> Rewrite<'a> {
    pub(super) fn new(old: &'a Model) -> Rewrite<'a> {
        let mut builder = Builder::like(old);
        builder.reserve(old.nodes().len());
        Rewrite {
            old,
            builder,
            kifs: Vec::with_capacity(old.nodes().len()),
            latencies: Vec::with_capacity(old.nodes().len()),
            number: Vec::with_capacity(old.nodes().len()),
            typed: Vec::with_capacity(old.nodes().len()),
            earliest: old.nodes().iter().map(|n| n.latency).fold(f64::INFINITY, f64::min),
        }
    }

    /// Type of a new value.
    pub(super) fn kif(&self, new: ValueId) -> Kif {
        self.kifs[new.index()]
    }

    /// The declared interval of an old value.
    pub(super) fn old_interval(&self, old: ValueId) -> Interval {
        self.old.node(old).interval.clone()
    }

    /// An operation of the new program.
    pub(super) fn node(&self, new: ValueId) -> &Node {
        &self.builder.nodes()[new.index()]
    }

    /// The new value that holds the number of an old one.
    pub(super) fn number(&self, old: ValueId) -> ValueId {
        self.number[old.index()]
    }

    /// The new value that holds the number of an old one in the old one's type; a quantise (wires) is made if needed.
    pub(super) fn typed(&mut self, old: ValueId) -> ValueId {
        let (kif, stand_in) = (self.old.kif(old), self.number(old));
        if self.kif(stand_in) == kif {
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

    /// The old operation with its operands replaced by their stand-ins.
    pub(super) fn translated(&mut self, old: ValueId) -> Op {
        let mut op = self.old.node(old).op.clone();
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
        self.builder.table(table)
    }

    /// Appends an operation that takes `delay` after its last operand.
    pub(super) fn push(&mut self, op: Op, interval: Interval, delay: f64, cost: f64, origin: u32) -> ValueId {
        let mut start = f64::NEG_INFINITY;
        op.for_each_operand(|v| start = start.max(self.latencies[v.index()]));
        let latency = if start.is_finite() { start + delay } else { self.earliest };
        self.append(Node { op, interval, latency, cost, origin })
    }

    fn append(&mut self, node: Node) -> ValueId {
        self.kifs.push(node.interval.kif());
        self.latencies.push(node.latency);
        self.builder.push_checked(node)
    }

    /// Appends what stands for `old`: `op` in `interval`, with the old operation's delay, cost and origin.
    pub(super) fn replace(&mut self, old: ValueId, op: Op, interval: Interval) -> ValueId {
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

    /// Appends `old` as it is, on the stand-ins of its operands.
    pub(super) fn keep(&mut self, old: ValueId) -> ValueId {
        let op = self.translated(old);
        self.replace(old, op, self.old.node(old).interval.clone())
    }

    /// Says that `new` holds the number of the next old value. Called once for each old value, in order.
    pub(super) fn stands_for_next(&mut self, new: ValueId) {
        self.number.push(new);
        self.typed.push(None);
    }

    /// The new program; outputs follow their values.
    pub(super) fn finish(self) -> Model {
        self.finish_with(|out, source, number| Output { source: source.map(number), ..*out })
    }

    /// The new program; `output` makes each output from the old one, its old source, and the map from old values to new.
    pub(super) fn finish_with(
        mut self,
        mut output: impl FnMut(&Output, Option<ValueId>, &dyn Fn(ValueId) -> ValueId) -> Output,
    ) -> Model {
        for out in self.old.outputs() {
            let new = output(out, out.source, &|v| self.number[v.index()]);
            self.builder.output(new);
        }
        self.builder.finish().unwrap_or_else(|p| panic!("a pass made an invalid program: {}", p[0]))
    }
}

/// [`rebuild`] for a pass that makes all tables anew ([`Rewrite::table`]): the old ones are forgotten.
pub(super) fn rebuild_with_tables(
    model: &Model,
    mut decide: impl FnMut(&mut Rewrite<'_>, ValueId) -> ValueId,
) -> Model {
    let mut rewrite = Rewrite::new(model);
    rewrite.builder.clear_tables();
    for id in model.ids() {
        let new = decide(&mut rewrite, id);
        rewrite.stands_for_next(new);
    }
    rewrite.finish()
}

/// Rebuilds a program: `decide` is called for each operation in order and returns what stands for it.
pub(super) fn rebuild(model: &Model, mut decide: impl FnMut(&mut Rewrite<'_>, ValueId) -> ValueId) -> Model {
    let mut rewrite = Rewrite::new(model);
    for id in model.ids() {
        let new = decide(&mut rewrite, id);
        rewrite.stands_for_next(new);
    }
    rewrite.finish()
}
