//! Reuse: a program as hardware that takes a sample every K clocks, where equal parts of the program share hardware.
//!
//! ```text
//! Model ─ blocks ─► groups of equal blocks ─ plan ─► Plan ─ check ─► machine ─► Machine
//! ```
//!
//! Clocks are counted from the one whose rising edge accepts a sample: clock 0. Clock `t` has *phase* `t mod K`, so
//! that all that happens at one phase happens once for each sample. A *block* is a part of the program between
//! operations that are not linear; equal blocks form a group, whose instances are computed by `ceil(n / K)` *units*,
//! each at most once a phase. A value that a block makes lies in a register from the clock in which it is *born*; it is
//! held for K clocks, then handed to a register of the next K clocks as long as anything still reads it. What is read
//! soon only goes through plain registers of its unit instead.
//!
//! | file | what |
//! |---|---|
//! | `blocks` | the parts of a program, and which of them are equal |
//! | `merge` | larger blocks of those that feed each other |
//! | `rows` | those that are equal although their operations differ |
//! | `sums` | sums over the blocks of a group, clock by clock |
//! | `regions` | bit-serial parts without an equal part |
//! | `plan` | units, clocks, registers |
//! | `starts` | later starts, for fewer registers |
//! | `check` | the independent checker of a plan |
//! | `machine` | a plan as a state machine |
//! | `inputs` | when and where the elements of a sample are at the ports |
//! | `figures` | what a plan takes, and what none can do without |
//! | `instances` | the program that the hardware of a plan computes |
//! | `serial` | the other engine: one bit a clock |
//! | `frame` | what the machines of all plans have in common |
//!
//! Nothing here is random or depends on time.

mod blocks;
mod check;
mod figures;
mod frame;
mod inputs;
mod instances;
mod machine;
mod merge;
mod plan;
mod regions;
mod rows;
pub mod serial;
mod starts;
mod sums;
mod unrolled;

pub use check::check;
pub use figures::{Figures, GroupFigures, Placement, RegionFigures, placements};
pub use inputs::{Beats, Inputs, Lane};
pub use instances::{program_of, typed};
pub use machine::machine;
pub use plan::{Engines, plan};
pub use regions::Region;
pub use unrolled::{Clocks, unrolled};

use alir_core::ir::{Model, Op, ValueId};
use alir_core::num::Interval;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// The longest interval.
pub const MAX_INTERVAL: u32 = 4096;

/// Multiplexers of more inputs than these have registers in the middle, in a clock of their own.
const WIDE: usize = 16;

/// Value in a register, before any wiring after it.
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
    /// Values of the program that are the block's inputs.
    pub inputs: Vec<ValueId>,
    /// Values of the program that are the block's outputs.
    pub outputs: Vec<ValueId>,
    /// Which unit computes it.
    pub unit: u32,
    /// The clock in which that reads the inputs.
    pub start: u32,
}

/// A group of equal blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The computation that they share, with types wide enough for all of them, as hardware makes it.
    pub template: Model,
    /// Specification in the operations of the program, where the implementation uses others.
    pub specification: Option<Model>,
    /// For each operation of the template, how many clocks after the start it is computed.
    pub stage: Vec<u32>,
    /// Number of units of the hardware.
    pub units: u32,
    /// The blocks.
    pub instances: Vec<Instance>,
    /// `true` if some instances compute their values with other operations: the rows of their sums are equal.
    pub by_rows: bool,
}

/// Registers that a value lies in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// This number of registers of K cycles each, the first from the value's birth on.
    Held(u32),
    /// The plain registers after an outlet, shared by all values that it provides.
    Passing(OutputPort),
}

/// Where values come from one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OutputPort {
    /// An output of a unit.
    Unit {
        /// The group.
        group: usize,
        /// The unit.
        unit: u32,
        /// The output of the template.
        output: usize,
    },
    /// A lane of the port that beats come through.
    Lane(u32),
}

/// In which clocks a value is held, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// The first clock in which a register shows it.
    pub born: u32,
    /// The last clock in which something reads it.
    pub last: u32,
    /// Where it lies.
    pub storage: Storage,
}

/// Assignment of the parts of a program to shared hardware and cycles.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Initiation interval: cycles between two samples.
    pub interval: u32,
    /// Clocks from the edge that accepts a sample to its result, which stays for [`Plan::interval`] clocks.
    pub latency: u32,
    /// The groups, including blocks that share nothing.
    pub groups: Vec<Group>,
    /// Bit-serial parts.
    pub regions: Vec<Region>,
    /// When and where a sample is at the ports.
    pub inputs: Inputs,
    /// Every value that lies in a register, those on streams aside.
    pub stores: BTreeMap<Base, Store>,
    /// For each output element, whether it has a register of its own, loaded by the edge before the result is there,
    /// rather than to be the register of its source.
    pub own_register: Vec<bool>,
    /// `true` if an additional plain register is between every output and its port: the last cycle of the latency.
    pub registered_outputs: bool,
}

/// Origin of a value: a register and wires after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The register, if it is no constant.
    pub base: Option<Base>,
    /// Operations that are wires, the one nearest the register first.
    pub wires: Vec<ValueId>,
}

/// Returns `true` for each operation that is a constant or a wire after an input port.
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

/// Function of a wire after a register, independent of the operation of the program: values from one lane are not
/// distinguished by their elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Wire {
    /// Nothing: it is a constant.
    Constant(ValueId),
    /// A quantised value: shift and interval.
    Quantised(i32, Interval),
}

/// Returns an operation as a wire: an input, a constant or a quantised value.
fn wire(model: &Model, id: ValueId) -> Wire {
    let node = model.node(id);
    match node.op {
        Op::Const { .. } => Wire::Constant(id),
        Op::Quantise { shift, .. } => Wire::Quantised(shift, node.interval.clone()),
        _ => Wire::Quantised(0, node.interval.clone()),
    }
}

/// Operations of a program from what is read to what is given, constants aside.
fn between(model: &Model, inputs: &[ValueId], outputs: &[ValueId]) -> Vec<ValueId> {
    let mut seen: FxHashSet<ValueId> = inputs.iter().copied().collect();
    let mut all = Vec::new();
    let mut stack = outputs.to_vec();
    while let Some(v) = stack.pop() {
        if seen.insert(v) && !matches!(model.node(v).op, Op::Const { .. }) {
            all.push(v);
            stack.extend(model.node(v).op.operands());
        }
    }
    all
}

impl Plan {
    /// Returns the specification of each group and then of each region, in the operations of the program.
    pub fn specification_blocks(&self) -> Vec<&Model> {
        self.groups
            .iter()
            .map(Group::specification)
            .chain(self.regions.iter().map(|region| &region.specification))
            .collect()
    }

    /// Returns the implementation of each group and then of each region.
    pub fn implementation_blocks(&self) -> Vec<&Model> {
        let groups = self.groups.iter().map(|group| &group.template);
        groups.chain(self.regions.iter().map(|region| &region.implementation)).collect()
    }
}

impl Group {
    /// The computation that the blocks share, in the operations of the program.
    pub fn specification(&self) -> &Model {
        self.specification.as_ref().unwrap_or(&self.template)
    }
}

impl Plan {
    /// The first stage after an output's operation: clocks from an instance's start to the birth of an output.
    pub fn output_latency(group: &Group, output: usize) -> u32 {
        group.template.outputs()[output].source.map_or(1, |v| group.stage[v.index()] + 1)
    }

    /// The first stage of an operation that reads each input of a group's blocks; `u32::MAX` for those that none reads.
    pub(crate) fn first_readings(group: &Group) -> Vec<u32> {
        let template = &group.template;
        let mut first = vec![u32::MAX; template.n_inputs()];
        for id in template.ids() {
            template.node(id).op.for_each_operand(|v| {
                if let Op::Input { input } = template.node(v).op {
                    let first = &mut first[input as usize];
                    *first = group.stage[id.index()].min(*first);
                }
            });
        }
        first
    }

    /// Clocks from the edge that accepts a sample to its result, registers at the ports aside.
    pub fn settled(&self) -> u32 {
        self.latency - u32::from(self.registered_outputs)
    }

    /// Adds a register at each output port.
    #[must_use]
    pub fn with_registered_outputs(self) -> Plan {
        Plan { latency: self.latency + u32::from(!self.registered_outputs), registered_outputs: true, ..self }
    }

    /// Percentage of the program's estimated logic that is in groups with fewer units than instances.
    pub fn shared(&self) -> f64 {
        let (mut all, mut shared) = (0.0, 0.0);
        for group in &self.groups {
            let area = blocks::area(&group.template) * group.instances.len() as f64;
            all += area;
            if (group.units as usize) < group.instances.len() {
                shared += area;
            }
        }
        for region in &self.regions {
            let area = blocks::area(&region.specification);
            all += area;
            shared += area * serial::shared(&region.specification) / 100.0;
        }
        if all > 0.0 { 100.0 * shared / all } else { 0.0 }
    }

    /// Returns the estimated logic of the units and of bit-serial parts as a percentage of that of the whole program,
    /// without multiplexers.
    pub fn left(&self) -> f64 {
        let of_groups = |group: &Group| blocks::area(&group.template) * group.instances.len() as f64;
        let all: f64 = self.groups.iter().map(of_groups).sum::<f64>()
            + self.regions.iter().map(|region| blocks::area(&region.specification)).sum::<f64>();
        if all > 0.0 { 100.0 * self.tables() / all } else { 100.0 }
    }

    /// Returns the estimated tables of the units and of bit-serial parts, without multiplexers.
    fn tables(&self) -> f64 {
        let of_groups = |group: &Group| blocks::area(&group.template) * f64::from(group.units);
        let of_region = |region: &Region| serial::tables(&region.graph, &region.plan);
        self.groups.iter().map(of_groups).sum::<f64>() + self.regions.iter().map(of_region).sum::<f64>()
    }
}
