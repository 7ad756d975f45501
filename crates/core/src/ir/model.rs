//! The checked program.

use super::{Op, TableId, ValueId};
use crate::num::{Interval, Kif};

/// One operation with what the file says about its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Operation that computes its result.
    pub op: Op,
    /// The interval that its result stays in while the inputs keep theirs; gives its type.
    pub interval: Interval,
    /// Estimated time at which the result is there, in the producer's units. Finite.
    pub latency: f64,
    /// Estimated cost in the producer's units. Finite.
    pub cost: f64,
    /// Index of the operation in the file that was read from which this one stems. Generated names are made
    /// from it, so that optimisation does not rename what stays.
    pub origin: u32,
}

/// One output element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Output {
    /// The value, or `None` for the constant zero.
    pub source: Option<ValueId>,
    /// The real value is scaled by `2^shift`; the code is not touched.
    pub shift: i32,
    /// `true` if the code is negated.
    pub neg: bool,
}

/// A lookup table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Output codes in units of `out.frac`, by index.
    pub entries: Vec<i32>,
    /// Declared interval of the entries.
    pub out: Interval,
    /// The producer's hash, kept for writing the file back; it has no meaning here.
    pub hash: String,
    /// The producer's input width, kept for writing the file back; it has no meaning here.
    pub inp_width: i64,
}

/// A valid program. Made by [`super::Builder::finish`] only; immutable afterwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub(super) inp_shifts: Vec<i32>,
    pub(super) nodes: Vec<Node>,
    pub(super) outputs: Vec<Output>,
    pub(super) tables: Vec<Table>,
    pub(super) carry_size: i64,
    pub(super) adder_size: i64,
    /// Type of each node, derived from its interval.
    pub(super) kifs: Vec<Kif>,
    /// Type of each input port element, derived from its readers or taken from an earlier form of the model.
    pub(super) input_kifs: Vec<Kif>,
    /// Interval of each output port element.
    pub(super) output_intervals: Vec<Interval>,
}

impl Model {
    /// Number of input elements.
    pub fn n_inputs(&self) -> usize {
        self.inp_shifts.len()
    }

    /// Scale of each real input: the code on the port is `floor(x * 2^(shift + frac))`.
    pub fn inp_shifts(&self) -> &[i32] {
        &self.inp_shifts
    }

    /// All operations in order; an operation uses only earlier ones.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// One operation.
    pub fn node(&self, id: ValueId) -> &Node {
        &self.nodes[id.index()]
    }

    /// All value ids in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = ValueId> + ExactSizeIterator + use<> {
        (0..self.nodes.len() as u32).map(ValueId)
    }

    /// Returns the number of reads of each value by operations and outputs.
    pub fn reader_counts(&self) -> Vec<u32> {
        let mut readers = vec![0; self.nodes.len()];
        let mut read = |v: ValueId| readers[v.index()] += 1;
        self.nodes.iter().for_each(|node| node.op.for_each_operand(&mut read));
        self.outputs.iter().filter_map(|output| output.source).for_each(&mut read);
        readers
    }

    /// Type of a value.
    pub fn kif(&self, id: ValueId) -> Kif {
        self.kifs[id.index()]
    }

    /// Types of all values.
    pub fn kifs(&self) -> &[Kif] {
        &self.kifs
    }

    /// Types of the input port elements. Fixed by the file; optimisation never changes them.
    pub fn input_kifs(&self) -> &[Kif] {
        &self.input_kifs
    }

    /// Output elements.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// Type of output element `j`: that of the source's interval, scaled and negated as the element says.
    /// Fixed by the file; optimisation never changes it.
    pub fn output_kif(&self, j: usize) -> Kif {
        self.output_intervals[j].kif()
    }

    /// Intervals of the output elements, scaled and negated.
    pub fn output_intervals(&self) -> &[Interval] {
        &self.output_intervals
    }

    /// The port types that follow from the operations alone, as a reader of the bare program derives them: equal
    /// to [`Model::input_kifs`] and [`Model::output_intervals`] unless the model stems from another one.
    pub fn derived_ports(&self) -> (Vec<Kif>, Vec<Interval>) {
        (super::check::derived_input_kifs(self, &self.kifs), super::check::derived_output_intervals(self))
    }

    /// Lookup tables.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// One lookup table.
    pub fn table(&self, id: TableId) -> &Table {
        &self.tables[id.index()]
    }

    /// The producer's cost model parameter `carry_size`; changes no value.
    pub fn carry_size(&self) -> i64 {
        self.carry_size
    }

    /// The producer's cost model parameter `adder_size`; changes no value.
    pub fn adder_size(&self) -> i64 {
        self.adder_size
    }

    /// Returns `true` if the latency fields carry information: a file whose latencies are all equal has no delays.
    pub fn has_delays(&self) -> bool {
        self.nodes.windows(2).any(|w| w[0].latency != w[1].latency)
    }

    /// The operation's own delay by the latency fields (section 3 of the specification, "Delays"):
    /// `max(0, latency - largest latency of its operands)`, and 0 for inputs and constants. An input's
    /// latency is not an arrival time: it is only what its readers' latencies are counted from.
    pub fn own_delay(&self, id: ValueId) -> f64 {
        let node = self.node(id);
        if matches!(node.op, Op::Input { .. } | Op::Const { .. }) {
            return 0.0;
        }
        let mut start = f64::NEG_INFINITY;
        node.op.for_each_operand(|v| start = start.max(self.node(v).latency));
        (node.latency - start).max(0.0)
    }
}
