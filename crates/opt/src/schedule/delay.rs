//! Delays of operations.
//!
//! A [`Delay`] provides the own delay of every operation, and the scheduler adds these up along paths. Sources are the
//! latency fields of the file ([`LatencyFields`]), an approximation by widths for files without such fields
//! ([`ByWidth`]), and other implementations, such as device models.

use super::paths::Paths;
use alir_core::ir::{Model, Op, UnaryBits, ValueId};
use std::borrow::Cow;

/// Source of own delays. Delays are finite and not negative; their unit is that of `--max-stage-delay`.
pub trait Delay {
    /// Returns the time from the operation's last operand to its result.
    fn own_delay(&self, model: &Model, id: ValueId) -> f64;

    /// Returns the delay of the negation of output element `j`; called only for negated elements. The negation belongs
    /// to no operation, and is always in the last stage.
    fn negation_delay(&self, model: &Model, j: usize) -> f64;

    /// Returns the delays of paths through consecutive operations: by default the sums of their own delays.
    fn paths(&self, model: &Model) -> Cow<'_, Paths> {
        Cow::Owned(Paths::by_operation(model, self))
    }
}

/// Own delays from the latency fields: section 3 of the specification, "Delays". There is no field for the negation of
/// an output, so its delay is zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct LatencyFields;

impl Delay for LatencyFields {
    fn own_delay(&self, model: &Model, id: ValueId) -> f64 {
        model.own_delay(id)
    }

    fn negation_delay(&self, _model: &Model, _j: usize) -> f64 {
        0.0
    }
}

/// Own delays by widths, for files without latencies. The unit is the delay of a six-input LUT and the wire after it,
/// which is also the delay of 32 bits of a carry chain.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByWidth;

/// Number of carry bits with the delay of one LUT level.
const CARRY_BITS_PER_LEVEL: f64 = 32.0;

/// Returns the delay of a LUT level and a carry chain.
fn adder(width: u32) -> f64 {
    1.0 + f64::from(width) / CARRY_BITS_PER_LEVEL
}

/// Returns the number of levels of a tree over `leaves` whose nodes have `fan_in` inputs.
fn tree_levels(leaves: u32, fan_in: u32) -> u32 {
    let (mut levels, mut left) = (0, leaves);
    while left > 1 {
        left = left.div_ceil(fan_in);
        levels += 1;
    }
    levels
}

/// Returns the delay of a table by address bits: one LUT up to six bits, half a level for each further bit (wide
/// multiplexers, then more LUTs).
fn table(address: u32) -> f64 {
    1.0 + f64::from(address.saturating_sub(6)) / 2.0
}

impl Delay for ByWidth {
    fn own_delay(&self, model: &Model, id: ValueId) -> f64 {
        let kif = model.kif(id);
        if kif.is_zero() {
            return 0.0;
        }
        let width = |v: &ValueId| model.kif(*v).width();
        match &model.node(id).op {
            Op::Input { .. } | Op::Const { .. } | Op::Quantise { .. } => 0.0,
            Op::Neg { .. } | Op::Add { .. } | Op::Sub { .. } | Op::AddConst { .. } => adder(kif.width()),
            Op::Sum { terms } if terms.len() == 1 && !terms[0].neg => 0.0,
            Op::Sum { terms } => f64::from(tree_levels(terms.len() as u32, 2).max(1)) * adder(kif.width()),
            Op::Relu { x } if !model.kif(*x).signed => 0.0,
            Op::Relu { .. } | Op::Mux { .. } | Op::Unary { op: UnaryBits::Not, .. } | Op::Binary { .. } => 1.0,
            // A tree of adders over the rows of partial products.
            Op::Mul { a, b } => match width(a).min(width(b)) {
                0 => 0.0,
                rows => 1.0 + f64::from(tree_levels(rows, 2)) * adder(kif.width()),
            },
            Op::Lookup { x, .. } => table(width(x)),
            Op::Unary { op: UnaryBits::Any | UnaryBits::All, x } => f64::from(tree_levels(width(x), 6)),
        }
    }

    fn negation_delay(&self, model: &Model, j: usize) -> f64 {
        let width = model.output_kif(j).width();
        if width == 0 { 0.0 } else { adder(width) }
    }
}

/// Returns the source of delays for a file: its latency fields, or widths if it has none.
pub fn default_delay(model: &Model) -> &'static dyn Delay {
    if model.has_delays() { &LatencyFields } else { &ByWidth }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_have_few_levels() {
        assert_eq!([0, 1, 2, 6, 7, 36, 37].map(|n| tree_levels(n, 6)), [0, 0, 1, 1, 2, 2, 3]);
        assert_eq!([1, 2, 3, 8, 9].map(|n| tree_levels(n, 2)), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn tables_beyond_one_lut_take_longer() {
        assert!(table(6) == 1.0 && table(8) == 2.0);
    }
}
