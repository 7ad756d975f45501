//! Reuse: a program as hardware that takes a sample every K clocks, where equal parts of the program share hardware.
//!
//! ```text
//! Model ─ blocks ─► groups of equal blocks ─ plan ─► Plan ─ check ─► machine ─► Machine
//! ```
//!
//! Clocks are counted from the one whose rising edge accepts a sample: clock 0. Clock `t` has *phase* `t mod K`, so
//! that all that happens at one phase happens once for each sample. A *block* is a part of the program between
//! operations that are not linear; equal blocks form a group, whose instances are computed by `ceil(n / K)` *copies*,
//! each at most once a phase. A value that a block makes lies in a register from the clock in which it is *born*; it is
//! held for K clocks, then handed to a register of the next K clocks as long as anything still reads it. What is read
//! soon only goes through plain registers of its copy instead.
//!
//! | file | what |
//! |---|---|
//! | `blocks` | the parts of a program, and which of them are equal |
//! | `plan` | copies, clocks, registers |
//! | `check` | the independent judge of a plan |
//! | `machine` | a plan as a state machine |
//! | `serial` | the other engine: one bit a clock |
//! | `frame` | what the machines of all plans have in common |
//!
//! Nothing here is random or depends on time.

mod blocks;
mod check;
mod frame;
mod machine;
mod plan;
pub mod serial;

pub use check::check;
pub use machine::machine;
pub use plan::plan;

use crate::ir::{Model, Op, ValueId};
use std::collections::BTreeMap;

/// The longest interval.
pub const MAX_INTERVAL: u32 = 4096;

/// What a register holds, before any wiring behind it.
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
    /// The computation that they share, with types wide enough for all of them.
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
    /// For each output element, whether it has a register of its own, loaded by the edge before the result is there,
    /// rather than to be the register of its source.
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

    /// Percentage of the program's estimated logic that is in groups with fewer copies than instances.
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

    /// Estimated logic of the copies as a percentage of that of the whole program, both without multiplexers.
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

/// Random programs, with and without repetition, at random intervals: simulated and proved, in both languages.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{self, Engine, Hardware, Passes, Spec};
    use crate::emit::Language;
    use crate::ir::{Builder, Limits, Node, Output};
    use crate::netlist::{Evaluator, Netlist, ResetOptions};
    use crate::num::SplitMix;
    use crate::prove::equiv::{Request, Verdict};
    use crate::prove::sat::Embedded;
    use crate::prove::steps::{self, Steps};
    use crate::random::{Profile, Recipe};
    use crate::rtl;
    use crate::verify::{Cycles, Vectors};

    /// Several copies of a program side by side, and of another one behind each.
    fn repeated(first: &Model, times: u32) -> Model {
        let n = first.n_inputs() as u32;
        let mut b = Builder::new(first.inp_shifts().iter().copied().cycle().take((n * times) as usize).collect());
        b.limits(Limits::derived());
        for table in first.tables() {
            b.table(table.clone());
        }
        for time in 0..times {
            let base = b.nodes().len() as u32;
            for node in first.nodes() {
                let mut op = node.op.clone();
                op.map_operands(|v| ValueId(v.0 + base));
                if let Op::Input { input } = &mut op {
                    *input += n * time;
                }
                b.push(Node { op, ..node.clone() });
            }
            for output in first.outputs() {
                b.output(Output { source: output.source.map(|v| ValueId(v.0 + base)), ..*output });
            }
        }
        b.finish().unwrap()
    }

    fn spec(interval: u32, engine: Engine, rng: &mut SplitMix) -> Spec {
        let mut spec = Spec::default();
        spec.pipeline.interval = Some(interval);
        spec.pipeline.engine = engine;
        spec.optimisation.passes = Passes::Level(rng.below(3) as u8);
        spec.module.valid = rng.below(2) == 1;
        spec.module.enable = rng.below(2) == 1;
        if rng.below(2) == 1 {
            let mut bit = || rng.below(2) == 1;
            spec.module.reset = Some(ResetOptions { asynchronous: bit(), active_high: true, data: bit() });
        }
        if rng.below(2) == 1 {
            spec.pipeline.max_stage_delay = Some(4.0 + rng.below(8) as f64);
        }
        spec
    }

    /// Simulates the netlist as testbenches do.
    fn simulated(model: &Model, spec: &Spec, netlist: &Netlist, seed: u64) {
        if let Err(why) = compared(model, spec, netlist, seed) {
            panic!("seed {seed}: {why}");
        }
    }

    /// The same, with what is wrong.
    pub(super) fn compared(model: &Model, spec: &Spec, netlist: &Netlist, seed: u64) -> Result<(), String> {
        let vectors = Vectors::of(model, None, spec, 6, seed).unwrap();
        let cycles = Cycles::of(netlist, &vectors, seed);
        let mut evaluator = Evaluator::new(netlist);
        let mut seen = vec![0; vectors.inputs.len()];
        for (at, cycle) in cycles.cycles.iter().enumerate() {
            for field in &cycles.layout.stimulus {
                evaluator.set_port(&field.port, &cycle.stimulus.unsigned(field.lo, field.width));
            }
            evaluator.settle();
            if let Some(sample) = cycle.sample.and_then(|row| cycles.sample_of(row)) {
                seen[sample] += 1;
                let (found, wanted) = (evaluator.outputs(), vectors.outputs.row(sample));
                if found != wanted {
                    return Err(format!("cycle {at}, sample {sample}: {found:?}, not {wanted:?}"));
                }
            }
            evaluator.tick();
        }
        // Each is there for a whole interval, unless a reset ends it.
        let least = if netlist.interface.reset.is_some() { 1 } else { netlist.interface.initiation_interval };
        if seen.iter().all(|&n| n >= least) { Ok(()) } else { Err(format!("results are seen {seen:?} times")) }
    }

    fn proved(model: &Model, hardware: &Hardware<'_>, language: Language) {
        let text = hardware.text(language);
        let like = match language {
            Language::Verilog => rtl::Language::Verilog,
            Language::Vhdl => rtl::Language::Vhdl,
        };
        let rtl = rtl::read(like, &text, None).unwrap_or_else(|d| panic!("{d}\n{text}"));
        let interface = &hardware.netlist.interface;
        let request = Request {
            latency: Some(interface.latency),
            interval: Some(interface.initiation_interval),
            gates_only: compile::goes_bit_by_bit(&rtl.head),
            ..Request::default()
        };
        let programs = || hardware.reused().map(|r| Steps { programs: vec![r.program.clone()], ..Steps::default() });
        let report = steps::prove(model, &rtl, Some(&programs), &request, &|| Box::new(Embedded)).0;
        assert_eq!(report.verdict, Verdict::Proved, "{:?}\n{text}", report.notes);
    }

    /// Makes hardware, simulates and proves it; whether it could be made.
    pub(super) fn held(model: &Model, interval: u32, engine: Engine, seed: u64) -> bool {
        let mut rng = SplitMix::new(seed);
        let spec = spec(interval, engine, &mut rng);
        let hardware = match compile::model(model, &spec) {
            Ok(hardware) => hardware,
            // An operation by itself may be longer than a stage.
            Err(error) if error.kind == compile::ErrorKind::Request => return false,
            Err(error) => panic!("seed {seed}: {error}"),
        };
        let Some(reused) = hardware.reused() else { return false };
        if let Some(plan) = reused.fold() {
            assert_eq!(check(&reused.program, plan), Ok(()));
        }
        assert_eq!(hardware.netlist.interface.initiation_interval, interval);
        simulated(model, &spec, &hardware.netlist, seed);
        let language = if seed.is_multiple_of(2) { Language::Verilog } else { Language::Vhdl };
        proved(model, &hardware, language);
        true
    }

    #[test]
    fn random_programs_are_computed_exactly_at_every_interval() {
        for seed in crate::prove::seeds(0..24) {
            let model = Recipe::seeded(Profile::TINY, 14, seed).build();
            let interval = [2, 3, 4, 5, 7, 8, 16, 25, 33, 64][(seed % 10) as usize];
            held(&model, interval, Engine::Auto, seed);
        }
    }

    #[test]
    fn equal_parts_share_hardware_and_stay_exact() {
        let mut shared = 0;
        for seed in crate::prove::seeds(0..24) {
            let block = Recipe::seeded(Profile::TINY, 10, seed).build();
            let model = repeated(&block, 3 + (seed % 6) as u32);
            let interval = [2, 3, 4, 5, 8, 13][(seed % 6) as usize];
            held(&model, interval, Engine::Auto, seed);
            let mut spec = Spec::default();
            spec.pipeline.interval = Some(interval);
            let hardware = compile::model(&model, &spec).unwrap();
            shared += hardware.reused().map_or(0, |r| usize::from(r.fold().is_some_and(|plan| plan.shared() > 0.0)));
        }
        assert!(shared >= 5, "only {shared} share anything");
    }

    #[test]
    fn the_judge_finds_what_is_wrong_with_a_plan() {
        let block = Recipe::seeded(Profile::TINY, 10, 5).build();
        let model = repeated(&block, 6);
        let (mut tried, mut found) = (0, 0);
        for interval in [2, 3, 4] {
            let stages = |t: &Model| Ok::<_, ()>(vec![0; t.nodes().len()]);
            let good = plan(&model, interval, stages).unwrap();
            assert_eq!(check(&model, &good), Ok(()));
            for seed in 0..200 {
                let mut rng = SplitMix::new(seed);
                let mut bad = good.clone();
                let group = rng.below(bad.groups.len() as u64) as usize;
                let at = rng.below(bad.groups[group].instances.len() as u64) as usize;
                let groups = &mut bad.groups;
                match rng.below(7) {
                    0 => groups[group].instances[at].start += 1,
                    1 => groups[group].instances[at].copy += groups[group].copies,
                    2 => {
                        groups[group].instances[at].outputs.pop();
                    }
                    3 => {
                        let other = groups[group].instances[(at + 1) % groups[group].instances.len()].inputs.clone();
                        groups[group].instances[at].inputs = other;
                    }
                    4 => bad.latency += 1,
                    5 => {
                        let n = bad.stores.len() as u64;
                        let store = bad.stores.values_mut().nth(rng.below(n) as usize).unwrap();
                        store.born += 1;
                    }
                    _ => {
                        let n = bad.stores.len() as u64;
                        let store = bad.stores.values_mut().nth(rng.below(n) as usize).unwrap();
                        store.storage = Storage::Held(0);
                    }
                }
                if bad != good {
                    tried += 1;
                    found += usize::from(check(&model, &bad).is_err());
                }
            }
        }
        assert!(tried > 300);
        assert_eq!(found, tried);
    }
}
