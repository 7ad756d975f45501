//! Reuse: a program as hardware that takes a sample every K clocks, where equal parts of the program share hardware.
//!
//! ```text
//! Model ─ blocks ─► groups of equal blocks ─ plan ─► Plan ─ check ─► machine ─► Machine
//! ```
//!
//! Clocks are counted from the one whose rising edge accepts a sample: clock 0. Clock `t` has *phase* `t mod K`, so that all that
//! happens at one phase happens once for each sample. A *block* is a part of the program between operations that are not
//! linear; equal blocks form a group, whose instances are computed by `ceil(n / K)` *copies*, each at most once a phase. A value
//! that a block makes lies in a register from the clock in which it is *born*; it is held for K clocks, then handed to a
//! register of the next K clocks as long as anything still reads it. What is read soon only goes through plain registers of its
//! copy instead.
//!
//! | file | what |
//! |---|---|
//! | `blocks` | the parts of a program, and which of them are equal |
//! | `plan` | copies, clocks, registers |
//! | `check` | the independent judge of a plan |
//! | `machine` | a plan as a state machine |
//!
//! Nothing here is random or depends on time.

mod blocks;
mod check;
mod machine;
mod plan;
#[cfg(test)]
mod tests;

pub use check::check;
pub use machine::machine;
pub use plan::plan;

use crate::ir::{Model, Op, ValueId};
use std::collections::BTreeMap;

/// The longest interval.
pub const MAX_INTERVAL: u32 = 4096;

/// What a register holds, before wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Base {
    /// An element of the input port.
    Port(u32),
    /// A value that a block makes.
    Value(ValueId),
}

/// An occurrence of a block in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// What its inputs are in the program.
    pub inputs: Vec<ValueId>,
    /// What its outputs are in the program.
    pub outputs: Vec<ValueId>,
    /// Which copy computes it.
    pub copy: u32,
    /// The clock in which that reads the inputs.
    pub start: u32,
}

/// A group of equal blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What each of them computes, types wide enough for all.
    pub template: Model,
    /// For each operation of the template, how many clocks after the start it is computed.
    pub stage: Vec<u32>,
    /// How many copies of the hardware there are.
    pub copies: u32,
    /// The blocks.
    pub instances: Vec<Instance>,
}

/// Registers that a value lies in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// So many registers of K clocks each, the first from the value's birth on.
    Held(u32),
    /// The plain registers behind an output of a copy, shared by all that come out there.
    Passing {
        /// The group.
        group: usize,
        /// The copy.
        copy: u32,
        /// The output of the template.
        output: usize,
    },
}

/// When a value is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// The first clock in which a register shows it.
    pub born: u32,
    /// The last clock in which something reads it.
    pub last: u32,
    /// Where it lies.
    pub storage: Storage,
}

/// Who shares which hardware, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// A sample every so many clocks.
    pub interval: u32,
    /// Clocks from the edge that accepts a sample to its result, which stays for [`Plan::interval`] clocks.
    pub latency: u32,
    /// The groups, blocks that stand alone among them.
    pub groups: Vec<Group>,
    /// Every value that lies in a register.
    pub stores: BTreeMap<Base, Store>,
    /// For each output element, whether it has a register of its own, loaded by the edge before the result is there, rather than to
    /// be the register of its source.
    pub own_register: Vec<bool>,
}

/// Where a value comes from: a register and wires behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The register, if it is no constant.
    pub base: Option<Base>,
    /// Operations that are wires, the one nearest the register first.
    pub wires: Vec<ValueId>,
}

/// Which operations are wires behind an input port, or constants.
pub fn free(model: &Model) -> Vec<bool> {
    let mut free = vec![false; model.nodes().len()];
    for id in model.ids() {
        free[id.index()] = match model.node(id).op {
            Op::Input { .. } | Op::Const { .. } => true,
            Op::Quantise { x, .. } => free[x.index()],
            _ => false,
        };
    }
    free
}

/// Where the value that an instance or an output reads comes from.
pub fn origin(model: &Model, free: &[bool], value: ValueId) -> Origin {
    let mut wires = Vec::new();
    let mut at = value;
    let base = loop {
        if !free[at.index()] {
            break Some(Base::Value(at));
        }
        wires.push(at);
        match model.node(at).op {
            Op::Input { input } => break Some(Base::Port(input)),
            Op::Quantise { x, .. } => at = x,
            _ => break None,
        }
    };
    wires.reverse();
    Origin { base, wires }
}

impl Plan {
    /// The first stage after an output's operation: clocks from an instance's start to the birth of an output.
    pub fn made_after(group: &Group, output: usize) -> u32 {
        group.template.outputs()[output].source.map_or(1, |v| group.stage[v.index()] + 1)
    }

    /// How much of the program's logic, as it is estimated, is in groups with fewer copies than instances, in per cent.
    pub fn shared(&self) -> f64 {
        let (mut all, mut shared) = (0.0, 0.0);
        for group in &self.groups {
            let area = blocks::area(&group.template) * group.instances.len() as f64;
            all += area;
            if (group.copies as usize) < group.instances.len() {
                shared += area;
            }
        }
        if all > 0.0 { 100.0 * shared / all } else { 0.0 }
    }

    /// Logic that is there, as it is estimated, against all of the program's, both without multiplexers, in per cent.
    pub fn left(&self) -> f64 {
        let (mut all, mut left) = (0.0, 0.0);
        for group in &self.groups {
            let area = blocks::area(&group.template);
            all += area * group.instances.len() as f64;
            left += area * f64::from(group.copies);
        }
        if all > 0.0 { 100.0 * left / all } else { 100.0 }
    }
}
