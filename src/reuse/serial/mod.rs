//! Bit-serial hardware: every value is a stream of bits, the lowest first, one bit a clock.
//!
//! ```text
//! Model ─ graph ─► Graph ─ plan ─► Plan ─ check ─► machine ─► Machine
//! ```
//!
//! The *time* of a stream is the clock in which its bit of weight 2^0 is shown, so that the bit of weight 2^w is shown
//! `w` clocks later: a shift is another time and takes no hardware. Clocks are counted from the one whose rising edge
//! accepts a sample, and clock `t` has the phase `t mod K`. A value without end in both directions, zeros below its
//! lowest bit and copies of the sign above its highest one, is its *expansion*: a stream shows it from the lowest bit
//! to some weight, `K` bits at most; zeros below, and above a value without a sign, are put in by who reads them. A sum is a full adder and a register for its carry; what needs the sign of a
//! value first (a ReLU, a choice) reads the value that much later; products, tables and what counts bits collect their
//! operands, are computed at one phase, and shown bit by bit again.
//!
//! | file | what |
//! |---|---|
//! | `graph` | a program as operations on streams |
//! | `plan` | which weights each stream shows, and when |
//! | `check` | the independent judge of a plan |
//! | `machine` | a plan as a state machine |

mod check;
mod graph;
mod machine;
mod plan;

pub use check::check;
pub use graph::{Graph, graph};
pub use machine::machine;
pub use plan::plan;

use crate::ir::Op;
use crate::num::{Interval, Kif};
use num_bigint::BigInt;
use std::fmt;

/// What an operation reads: weight `w` is the node's weight `w - shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Read {
    /// The node.
    pub node: usize,
    /// By which power of two it is scaled.
    pub shift: i32,
}

/// What a node computes.
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
        /// Whether it is subtracted.
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
    /// What it computes.
    pub kind: Kind,
    /// The type of the result, with bits.
    pub kif: Kif,
    /// Its place in the program's file.
    pub origin: u32,
}

impl Kind {
    /// All that is read.
    pub fn reads(&self) -> Vec<Read> {
        match self {
            Kind::Port(_) | Kind::Constant { .. } => Vec::new(),
            Kind::Sum { a, b, .. } => a.iter().copied().chain([*b]).collect(),
            Kind::Relu(x) | Kind::Quantised(x) => vec![*x],
            Kind::Choice { by, one, zero } => vec![*by, *one, *zero],
            Kind::Whole { operands, .. } => operands.iter().map(|o| o.0).collect(),
        }
    }
}

/// The weight of the lowest bit of a type with bits.
pub fn lowest(kif: Kif) -> i32 {
    -kif.frac
}

/// The weight of the highest bit of a type with bits.
pub fn highest(kif: Kif) -> i32 {
    kif.int - 1 + i32::from(kif.signed)
}

/// What a stream shows: its value's expansion from the lowest bit of its type up to the weight `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The clock in which the bit of weight 0 is shown; where there is none, that in which it would be.
    pub time: i32,
    /// The last weight.
    pub high: i32,
}

/// When which stream shows what.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// A sample every so many clocks.
    pub interval: u32,
    /// Clocks from the edge that accepts a sample to its result.
    pub latency: u32,
    /// The stream of each node; none for a constant, and for what shows the bits of its operand as they are.
    pub streams: Vec<Option<Stream>>,
}

/// Why a program has no bit-serial plan at an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A stream has more bits: the smallest interval that is enough.
    NeedsInterval(u32),
    /// Something in the program has no form on streams.
    Operation(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NeedsInterval(k) => write!(f, "a value takes {k} clocks, one for each bit"),
            Refusal::Operation(what) => f.write_str(what),
        }
    }
}
