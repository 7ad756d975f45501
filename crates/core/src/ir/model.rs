//! The model: a checked program of fixed-point operations.

use super::{Op, TableId, ValueId};
use crate::num::{Interval, Kif};

/// An operation with the attributes that the file declares for its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Operation that computes the result.
    pub op: Op,
    /// Interval that contains the result as long as all inputs are within their intervals; determines the type.
    pub interval: Interval,
    /// Estimated time at which the result is ready, in the producer's units. Finite.
    pub latency: f64,
    /// Estimated cost in the producer's units. Finite.
    pub cost: f64,
    /// Index of the operation in the input file from which this operation was derived. Generated names contain the
    /// index, so optimisation does not rename the operations that it keeps.
    pub origin: u32,
}

/// An output element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Output {
    /// The value; `None` for the constant zero.
    pub source: Option<ValueId>,
    /// The real value is scaled by `2^shift`; the raw integer value is unchanged.
    pub shift: i32,
    /// `true` if the value is negated.
    pub neg: bool,
}

/// A lookup table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Raw integer values with `out.frac` fractional bits, by index.
    pub entries: Vec<i32>,
    /// Declared interval of the entries.
    pub out: Interval,
    /// The producer's hash, kept for writing the file back; not interpreted.
    pub hash: String,
    /// The producer's input width, kept for writing the file back; not interpreted.
    pub inp_width: i64,
}

/// A valid program. Only [`super::Builder::finish`] creates one; immutable afterwards.
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
    /// Type of each input port element, derived from its readers or taken over from another model.
    pub(super) input_kifs: Vec<Kif>,
    /// Interval of each output port element.
    pub(super) output_intervals: Vec<Interval>,
}

impl Model {
    /// Returns the number of input elements.
    pub fn n_inputs(&self) -> usize {
        self.inp_shifts.len()
    }

    /// Returns the shift of each input `x`: the raw integer value on the port is `floor(x * 2^(shift + frac))`.
    pub fn inp_shifts(&self) -> &[i32] {
        &self.inp_shifts
    }

    /// Returns all operations in order; an operation uses only earlier ones.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the operation of a value.
    pub fn node(&self, id: ValueId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Returns the ids of all values in order.
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

    /// Returns the type of a value.
    pub fn kif(&self, id: ValueId) -> Kif {
        self.kifs[id.index()]
    }

    /// Returns the types of all values.
    pub fn kifs(&self) -> &[Kif] {
        &self.kifs
    }

    /// Returns the types of the input port elements. They are fixed by the file; optimisation never changes them.
    pub fn input_kifs(&self) -> &[Kif] {
        &self.input_kifs
    }

    /// Returns the output elements.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// Returns the type of output element `j`: the type of the source's interval, scaled and negated as the element
    /// requires. It is fixed by the file; optimisation never changes it.
    pub fn output_kif(&self, j: usize) -> Kif {
        self.output_intervals[j].kif()
    }

    /// Returns the intervals of the output elements, scaled and negated.
    pub fn output_intervals(&self) -> &[Interval] {
        &self.output_intervals
    }

    /// Returns the types of the inputs and the intervals of the outputs that follow from the operations alone. They are
    /// equal to [`Model::input_kifs`] and [`Model::output_intervals`] unless a pass derived the model from another one.
    pub fn derived_ports(&self) -> (Vec<Kif>, Vec<Interval>) {
        (super::check::derived_input_kifs(self, &self.kifs), super::check::derived_output_intervals(self))
    }

    /// Returns the lookup tables.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// Returns a lookup table.
    pub fn table(&self, id: TableId) -> &Table {
        &self.tables[id.index()]
    }

    /// Returns the cost model parameter `carry_size` of the producer, which affects no value.
    pub fn carry_size(&self) -> i64 {
        self.carry_size
    }

    /// Returns the cost model parameter `adder_size` of the producer, which affects no value.
    pub fn adder_size(&self) -> i64 {
        self.adder_size
    }

    /// Returns `true` if the latency fields carry information. A file whose latencies are all equal has no delays.
    pub fn has_delays(&self) -> bool {
        self.nodes.windows(2).any(|w| w[0].latency != w[1].latency)
    }

    /// Returns the operation's own delay in the producer's units, from the latency fields (section 3 of the
    /// specification, "Delays"): `max(0, latency - largest latency of its operands)`, and 0 for inputs and constants.
    /// The latency of an input is not an arrival time, but only the origin of its readers' latencies.
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
