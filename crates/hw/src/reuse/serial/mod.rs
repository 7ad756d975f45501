//! Bit-serial hardware: every value is a stream of bits, least significant bit first, with one bit or a few bits per
//! cycle.
//!
//! ```text
//! Model ─ graph ─► Graph ─ plan ─► Plan ─ check ─► machine ─► Machine
//! ```
//!
//! A cycle has one *tick*, or several ticks if `K` is less than the width of the widest value. The *time* of a stream
//! is the tick in which the stream shows its bit of weight 2^0, so it shows the bit of weight 2^w `w` ticks later. A
//! shift only changes the time and takes no hardware. Cycles and ticks are counted from the cycle whose rising edge
//! accepts a sample; cycle `t` has the phase `t mod K`. The *expansion* of a value is its unlimited bit string, with
//! zeros below the lowest bit and copies of the sign above the highest bit. A stream shows the expansion from the
//! lowest bit up to some weight, with at most as many bits as `K` cycles have ticks. The readers of a stream insert the
//! zeros below its lowest bit and, for unsigned values, above its highest bit. A sum is a full adder and a carry
//! register. Operations that need the sign of a value first (ReLU, choice) read the value correspondingly later.
//! Products, tables and bit counts collect their operands, compute the result at one phase, and then show the result
//! bit by bit.
//!
//! | file | what |
//! |---|---|
//! | `graph` | operations on streams that compute a program |
//! | `plan` | weights and time of each stream |
//! | `check` | the independent checker of a plan |
//! | `machine` | state machine (FSM) of a plan |
//! | `figures` | hardware figures of a plan |

mod check;
mod figures;
mod graph;
mod machine;
mod plan;

pub use check::check;
pub(super) use figures::tables;
pub use figures::{Figures, clocks};
pub use graph::{Graph, graph, sums_of_two};
pub(super) use machine::draw;
pub use machine::machine;
pub use plan::plan;
pub(super) use plan::quick_plan;

use alir_core::ir::{Model, Op};
use alir_core::num::{Interval, Kif};
use num_bigint::BigInt;
use std::fmt;

/// Operand of an operation. The operand's bit of weight `w` is the node's bit of weight `w - shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Read {
    /// The node.
    pub node: usize,
    /// Exponent of the power of two that scales the node's value.
    pub shift: i32,
}

/// Operation of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// An element of the input port.
    Port(u32),
    /// `code * 2^low`.
    Constant {
        /// Raw integer value.
        code: BigInt,
        /// Weight of the lowest bit of `code`.
        low: i32,
    },
    /// `a ± b`, or `-b`.
    Sum {
        /// The first operand; `None` for zero.
        a: Option<Read>,
        /// The second operand.
        b: Read,
        /// `true` if the second operand is subtracted.
        minus: bool,
    },
    /// Maximum of the operand and zero.
    Relu(Read),
    /// One of two values, selected by the highest bit of a third value.
    Choice {
        /// The value whose highest bit selects.
        by: Read,
        /// Selected if the bit is 1.
        one: Read,
        /// Selected if the bit is 0.
        zero: Read,
    },
    /// The operand, converted to another type.
    Quantised(Read),
    /// An operation of the program on whole values.
    Whole {
        /// The operation; its operands are the values 0, 1, and so on.
        op: Op,
        /// The operands and their intervals.
        operands: Vec<(Read, Interval)>,
        /// The interval of the result.
        interval: Interval,
    },
}

/// An operation on streams. The result is wrapped to its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Operation of the node.
    pub kind: Kind,
    /// Type of the result; its width is at least 1.
    pub kif: Kif,
    /// Index of the operation in the program's file.
    pub origin: u32,
}

/// Returns the weight of the lowest bit of a type with at least one bit.
pub fn lowest(kif: Kif) -> i32 {
    -kif.frac
}

/// Returns the weight of the highest bit of a type with at least one bit.
pub fn highest(kif: Kif) -> i32 {
    kif.int - 1 + i32::from(kif.signed)
}

/// Bits of a stream: the expansion of its value, from the lowest bit of its type up to the weight `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Tick of the bit of weight 0, also if the stream has no such bit.
    pub time: i32,
    /// Highest weight that the stream shows.
    pub high: i32,
}

/// Maximum number of bits per cycle. With more bits, bit-serial adders take as much logic as parallel adders.
pub const MAX_DIGIT: u32 = 8;

/// Timing of the bit-serial streams.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Initiation interval: cycles between two samples.
    pub interval: u32,
    /// Bits per cycle: the number of ticks in a cycle.
    pub digit: u32,
    /// Cycles from the edge that accepts a sample to its result.
    pub latency: u32,
    /// For each input element, the first cycle in which a register shows it, or the port (in the cycle that accepts the
    /// sample). The element is stable for [`Plan::interval`] cycles.
    pub arrivals: Vec<u32>,
    /// Stream of each node; `None` for a constant, and for a node whose bits are those of its operand.
    pub streams: Vec<Option<Stream>>,
    /// `true` if an additional plain register is between every result and its port: the last cycle of the latency.
    pub registered_outputs: bool,
}

impl Plan {
    /// Returns the number of cycles from the edge that accepts a sample to its result, without registers at the output
    /// ports.
    pub fn settled(&self) -> u32 {
        self.latency - u32::from(self.registered_outputs)
    }

    /// Delays the whole plan by `intervals` intervals.
    pub(in crate::reuse) fn delay(&mut self, intervals: u32) {
        let clocks = intervals * self.interval;
        self.latency += clocks;
        self.arrivals.iter_mut().for_each(|clock| *clock += clocks);
        let ticks = (clocks * self.digit) as i32;
        self.streams.iter_mut().flatten().for_each(|stream| stream.time += ticks);
    }

    /// Adds a register at each output port.
    #[must_use]
    pub fn with_registered_outputs(self) -> Plan {
        Plan { latency: self.latency + u32::from(!self.registered_outputs), registered_outputs: true, ..self }
    }
}

/// Returns the percentage of a program's estimated logic that is bit-serial: all but the operations on whole values.
pub fn shared(model: &Model) -> f64 {
    let (mut all, mut whole) = (0.0, 0.0);
    for id in model.ids() {
        let area = super::blocks::operation_area(model, id);
        all += area;
        if matches!(model.node(id).op, Op::Mul { .. } | Op::Lookup { .. } | Op::Unary { .. } | Op::Binary { .. }) {
            whole += area;
        }
    }
    if all > 0.0 { 100.0 * (all - whole) / all } else { 0.0 }
}

/// Reason for which a program has no bit-serial plan at an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A stream has more bits than the interval allows; contains the smallest sufficient interval, in cycles.
    NeedsInterval(u32),
    /// An operation or an interval that bit-serial hardware does not support; contains the message.
    Operation(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NeedsInterval(k) => write!(f, "the widest value takes {k} clocks"),
            Refusal::Operation(what) => f.write_str(what),
        }
    }
}
