//! Resource sharing: hardware that accepts a sample every K cycles (the initiation interval), where equal parts of a
//! program share functional units.
//!
//! ```text
//! Model ─ blocks ─► groups of equal blocks ─ plan ─► Plan ─ check ─► machine ─► Machine
//! ```
//!
//! Cycles are counted from the one whose rising edge accepts a sample: cycle 0. Cycle `t` has *phase* `t mod K`, so
//! everything that happens at one phase happens once for each sample. A *block* is a part of the program between
//! nonlinear operations. Equal blocks form a group. `ceil(n / K)` functional units (*units*) compute the `n` instances
//! of a group; each unit computes at most one instance per phase. A register shows the output of a block from the cycle
//! in which the value is *born*. That register stores the value for K cycles. If an operation reads the value later,
//! further registers store it for K cycles each. A value whose readers are all close to its birth passes through plain
//! registers after its unit instead.
//!
//! | file | what |
//! |---|---|
//! | `blocks` | partition of a program into blocks, and classes of equal blocks |
//! | `merge` | merging of blocks that feed each other |
//! | `rows` | blocks with equal functions and different operations |
//! | `sums` | sums over the blocks of a group, computed cycle by cycle |
//! | `regions` | bit-serial parts that have no equal part |
//! | `plan` | assignment of units, cycles and registers |
//! | `starts` | later start cycles that need fewer registers |
//! | `check` | the independent checker of a plan |
//! | `machine` | state machine (FSM) of a plan |
//! | `inputs` | cycles and bits of the input ports that carry the elements of a sample |
//! | `figures` | hardware of a plan, and lower bounds |
//! | `instances` | program that the hardware of a plan computes |
//! | `serial` | bit-serial hardware: one bit or a few bits per cycle |
//! | `frame` | common parts of the state machines of all plans |
//!
//! All results are deterministic: no random numbers, no time limits.

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

/// Largest initiation interval, in cycles.
pub const MAX_INTERVAL: u32 = 4096;

/// Maximum number of inputs of a multiplexer without internal registers. A wider multiplexer may take two cycles.
const WIDE: usize = 16;

/// Value in a register, before any wiring after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Base {
    /// An element of the input port.
    Port(u32),
    /// Output of a block.
    Value(ValueId),
}

/// An occurrence of a block in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Values of the program that are the block's inputs.
    pub inputs: Vec<ValueId>,
    /// Values of the program that are the block's outputs.
    pub outputs: Vec<ValueId>,
    /// Index of the unit that computes the instance.
    pub unit: u32,
    /// Cycle in which the unit reads the inputs.
    pub start: u32,
}

/// A group of equal blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Implementation that all instances share, with types wide enough for every instance.
    pub template: Model,
    /// Specification in the operations of the program; `None` if it equals the template.
    pub specification: Option<Model>,
    /// For each operation of the template, the number of cycles from the instance's start to its computation.
    pub stage: Vec<u32>,
    /// Number of units of the hardware.
    pub units: u32,
    /// Instances of the block.
    pub instances: Vec<Instance>,
    /// `true` if some instances have other operations in the program: their sums are equal as rows of coefficients.
    pub by_rows: bool,
}

/// Registers that store a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Number of registers that store the value for K cycles each; the first one loads the value at its birth.
    Held(u32),
    /// Plain registers after an output port, shared by all values of that port.
    Passing(OutputPort),
}

/// Port that provides one value after the other.
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
    /// A lane of the input port that transfers the beats of a sample.
    Lane(u32),
}

/// Storage of a value: its cycles and its registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// First cycle in which a register shows the value.
    pub born: u32,
    /// Last cycle in which an operation reads the value.
    pub last: u32,
    /// Registers of the value.
    pub storage: Storage,
}

/// Assignment of the parts of a program to shared hardware and cycles.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Initiation interval: cycles between two samples.
    pub interval: u32,
    /// Cycles from the edge that accepts a sample to its result, which is stable for [`Plan::interval`] cycles.
    pub latency: u32,
    /// Groups of equal blocks; a block without an equal one is a group of one instance.
    pub groups: Vec<Group>,
    /// Bit-serial parts.
    pub regions: Vec<Region>,
    /// Cycles and bits of the input ports that carry a sample.
    pub inputs: Inputs,
    /// Storage of every value in a register, except for bit-serial streams.
    pub stores: BTreeMap<Base, Store>,
    /// For each output element, `true` if a separate register stores it. The edge before the result loads that
    /// register. Other elements read the register of their source.
    pub own_register: Vec<bool>,
    /// `true` if an additional plain register is between every output and its port: the last cycle of the latency.
    pub registered_outputs: bool,
}

/// Origin of a value: a register and wires after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Register; `None` for a constant.
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

/// Returns the origin of a value that an instance or an output reads.
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
    /// A constant; no register drives it.
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

/// Returns the operations that `outputs` depend on, up to `inputs`, without constants.
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
    /// Returns the specification of the blocks, in the operations of the program.
    pub fn specification(&self) -> &Model {
        self.specification.as_ref().unwrap_or(&self.template)
    }
}

impl Plan {
    /// Returns the number of cycles from an instance's start to the birth of an output.
    pub fn output_latency(group: &Group, output: usize) -> u32 {
        group.template.outputs()[output].source.map_or(1, |v| group.stage[v.index()] + 1)
    }

    /// Returns, for each input of a group's template, the first stage of an operation that reads the input; `u32::MAX`
    /// for an unread input.
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

    /// Returns the number of cycles from the edge that accepts a sample to its result, without registers at the output
    /// ports.
    pub fn settled(&self) -> u32 {
        self.latency - u32::from(self.registered_outputs)
    }

    /// Adds a register at each output port.
    #[must_use]
    pub fn with_registered_outputs(self) -> Plan {
        Plan { latency: self.latency + u32::from(!self.registered_outputs), registered_outputs: true, ..self }
    }

    /// Returns the percentage of the program's estimated logic that is shared: logic of groups with fewer units than
    /// instances, and bit-serial logic.
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

    /// Returns the estimated LUTs of the units and of bit-serial parts, without multiplexers.
    fn tables(&self) -> f64 {
        let of_groups = |group: &Group| blocks::area(&group.template) * f64::from(group.units);
        let of_region = |region: &Region| serial::tables(&region.graph, &region.plan);
        self.groups.iter().map(of_groups).sum::<f64>() + self.regions.iter().map(of_region).sum::<f64>()
    }
}
