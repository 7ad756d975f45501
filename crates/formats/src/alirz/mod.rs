//! `.alirz`: models for storage and shipping, small and fast to load. `docs/alirz.md` gives every byte.
//!
//! A program is cut into columns of one kind of number each (operands as distances, shifts, times, ...), each a string
//! of LEB128 numbers; what follows from the operands (most intervals) is left out. Each column is packed for itself, so
//! that it is small but read at once. Nothing is lost: times and costs come back bit for bit.

mod brief;
mod columns;
mod container;
mod predict;
mod read;
mod write;

pub(super) use container::MAGIC;
pub(super) use read::read;
pub(super) use write::write;

/// Columns, in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// Sizes, ports, cost model.
    Head,
    /// One byte an operation: opcode and how its interval is said.
    Codes,
    /// Distances to first operands: their low seven bits.
    First,
    /// Distances to second operands.
    Second,
    /// Distances to the conditions of muxes and the terms of sums.
    Third,
    /// Shifts; those of sums with the sign.
    Shifts,
    /// Constants, bases of lookups.
    Values,
    /// Inputs, tables, sub-opcodes, lengths of sums.
    Indices,
    /// Intervals that do not follow from the operands.
    Intervals,
    /// Numbers of delay and cost pairs.
    Times,
    /// Delay and cost pairs.
    Pairs,
    /// Lookup tables.
    Tables,
    /// Bits of distances above the lowest seven.
    Far,
}

/// Number of columns.
const COLUMNS: usize = 13;

/// Encodings of an operation's interval: bits 4 to 6 of its code.
mod mode {
    /// As predicted.
    pub(super) const PREDICTED: u8 = 0;
    /// The predicted codes in another step.
    pub(super) const STEP: u8 = 1;
    /// All codes of an unsigned type.
    pub(super) const UNSIGNED: u8 = 2;
    /// All codes of a signed type.
    pub(super) const SIGNED: u8 = 3;
    /// Anything else.
    pub(super) const BOUNDS: u8 = 4;
}

/// When an operation's operands are there: the largest of their latencies, 0 without operands. The comparison is spelt
/// out so that zeros of both signs give one answer.
#[inline(always)]
fn start(op: &alir_core::ir::Op, latency: impl Fn(alir_core::ir::ValueId) -> f64) -> f64 {
    let mut start = None;
    op.for_each_operand(|v| {
        let latency = latency(v);
        if start.is_none_or(|s| latency > s) {
            start = Some(latency);
        }
    });
    start.unwrap_or(0.0)
}
