//! Bit-serial hardware: every value is a stream of bits, the lowest first, one bit or a few a clock.
//!
//! ```text
//! Model ─ graph ─► Graph ─ plan ─► Plan ─ check ─► machine ─► Machine
//! ```
//!
//! The *time* of a stream is the tick in which its bit of weight 2^0 is shown, so that the bit of weight 2^w is shown
//! `w` ticks later: a shift is another time and takes no hardware. A clock has one tick, or several where `K` is
//! smaller than the widest value has bits. Both are counted from the clock whose rising edge accepts a sample, and
//! clock `t` has the phase `t mod K`. A value without end in both directions, zeros below its lowest bit and copies of
//! the sign above its highest one, is its *expansion*: a stream shows it from the lowest bit to some weight, as many
//! bits at most as there are ticks in `K` clocks; zeros below, and above a value without a sign, are inserted by its
//! readers. A sum is a full adder and a register for its carry; operations that need the sign of a value first (a ReLU,
//! a choice) read the value that much later; products, tables and bit counts collect their operands, are computed at
//! one phase, and shown bit by bit again.
//!
//! | file | what |
//! |---|---|
//! | `graph` | a program as operations on streams |
//! | `plan` | which weights each stream shows, and when |
//! | `check` | the independent checker of a plan |
//! | `machine` | a plan as a state machine |
//! | `figures` | what a plan takes |

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

/// Operand of an operation: weight `w` is the node's weight `w - shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Read {
    /// The node.
    pub node: usize,
    /// By which power of two it is scaled.
    pub shift: i32,
}

/// Operation of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// An element of the input port.
    Port(u32),
    /// `code * 2^low`.
    Constant {
        /// The code.
        code: BigInt,
        /// The weight of its lowest bit.
        low: i32,
    },
    /// `a ± b`, or `-b`.
    Sum {
        /// The first operand, zero if there is none.
        a: Option<Read>,
        /// The second operand.
        b: Read,
        /// `true` if the second operand is subtracted.
        minus: bool,
    },
    /// The larger of the operand and zero.
    Relu(Read),
    /// One of two, by the highest bit of a third.
    Choice {
        /// The third.
        by: Read,
        /// Taken where the bit is 1.
        one: Read,
        /// Taken where it is 0.
        zero: Read,
    },
    /// The operand in another type.
    Quantised(Read),
    /// An operation of the program on whole values.
    Whole {
        /// The operation; its operands count from 0 on.
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
    /// The type of the result, with bits.
    pub kif: Kif,
    /// Its place in the program's file.
    pub origin: u32,
}

/// The weight of the lowest bit of a type with bits.
pub fn lowest(kif: Kif) -> i32 {
    -kif.frac
}

/// The weight of the highest bit of a type with bits.
pub fn highest(kif: Kif) -> i32 {
    kif.int - 1 + i32::from(kif.signed)
}

/// Bits of a stream: its value's expansion from the lowest bit of its type up to the weight `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The tick in which the bit of weight 0 is shown; where there is none, that in which it would be.
    pub time: i32,
    /// The last weight.
    pub high: i32,
}

/// Most bits a clock: with more, what is left of the adders takes as much as all of them.
pub const MAX_DIGIT: u32 = 8;

/// When which stream shows what.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Initiation interval: cycles between two samples.
    pub interval: u32,
    /// Bits a clock: the ticks of each.
    pub digit: u32,
    /// Clocks from the edge that accepts a sample to its result.
    pub latency: u32,
    /// For each input element the first cycle in which it is available, in a register or, in the cycle that accepts a
    /// sample, at the port itself: it stays for [`Plan::interval`] cycles.
    pub arrivals: Vec<u32>,
    /// The stream of each node; none for a constant, and for what shows the bits of its operand as they are.
    pub streams: Vec<Option<Stream>>,
    /// `true` if an additional plain register is between every result and its port: the last cycle of the latency.
    pub registered_outputs: bool,
}

impl Plan {
    /// Clocks from the edge that accepts a sample to its result, registers at the ports aside.
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

/// Why a program has no bit-serial plan at an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A stream has more bits than go through: the smallest interval that is enough.
    NeedsInterval(u32),
    /// Something in the program has no form on streams.
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
