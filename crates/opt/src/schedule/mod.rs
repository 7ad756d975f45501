//! Assignment of operations to pipeline stages.
//!
//! With `N` stages, operations of stage `s` (from 1) use values that are stored in the registers of boundary `s - 1` or
//! computed in the same stage; boundary `s` is the register layer that ends stage `s`. Boundary `N` stores every
//! output. A value that is computed in stage `s` and last used in stage `t` is stored in boundaries `s .. t` (`t` not
//! included); a value of an output is stored up to boundary `N`.
//!
//! [`schedule`] finds the smallest stage delay or the fewest stages that a [`Goal`] allows, and then the fewest
//! register bits, with a proved lower bound ([`Certificate`]). [`check`] and [`check_certificate`] are implemented
//! independently of the search.
//!
//! | file | content |
//! |---|---|
//! | `delay` | delay of each operation |
//! | `paths` | delays of consecutive operations |
//! | `uses` | bits that registers can store, and their readers |
//! | `graph` | the timing graph, in integers |
//! | `bounds` | earliest and latest stages, smallest stage delay |
//! | `goal` | possible goals, and the reasons why one is infeasible |
//! | `cost` | register bits of a schedule |
//! | `flow`, `exact` | search for the fewest register bits |
//! | `certificate` | proof of the lower bound, and its checker |
//! | `random` | legal schedules for tests |
//! | `show` | a schedule by stages, for reports |
//! | `check` | the independent checker |
//!
//! Results do not depend on time: budgets are counted in steps, so equal requests give equal schedules on all
//! computers.

mod bounds;
mod certificate;
mod check;
mod cost;
mod delay;
mod exact;
mod flow;
mod goal;
mod graph;
mod paths;
mod random;
mod show;
#[cfg(test)]
mod testing;
mod uses;

pub use flow::{FlowNetwork, Saturated};

pub use certificate::{Certificate, check_certificate};
pub use check::check;
pub use delay::{ByWidth, Delay, LatencyFields, default_delay};
pub use goal::{BoundFlag, Effort, Goal, Infeasible, Objective};
pub use paths::{Arc, From, Paths, Point};
pub use random::random;
pub use show::{HeldBits, PathElement, PathStep, ScheduleView, StageView, view};
pub use uses::{Class, Edge, Reader, Root, Uses, UsesBuilder};

use alir_core::diag::Diagnostics;
use alir_core::ir::{Model, ValueId};
use bounds::{Labels, earliest, latest};
use cost::Cost;
use exact::{Reason, fewest_registers};
use goal::Frame;
use graph::{Graph, NONE, Outside};

/// A pipeline: number of stages, and stage of each operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Number of stages; 0 for a combinational module (then every entry of `stage` is 1).
    pub stages: u32,
    /// `true` if the inputs are registered too (boundary 0), which adds one to the latency.
    pub register_inputs: bool,
    /// `true` if one more layer of registers, without any logic before it, follows the last stage, which adds one to
    /// the latency.
    pub register_outputs: bool,
    /// Stage of each operation, 1 to `max(stages, 1)`.
    pub stage: Vec<u32>,
}

impl Schedule {
    /// Returns a schedule without registers.
    pub fn combinational(operations: usize) -> Schedule {
        Schedule { stages: 0, register_inputs: false, register_outputs: false, stage: vec![1; operations] }
    }

    /// Returns the number of the last boundary, whose registers drive the output ports; 0 without stages and output
    /// registers.
    pub fn boundaries(&self) -> u32 {
        self.stages + u32::from(self.register_outputs)
    }

    /// Returns the latency in clock cycles: the number of rising edges from input to result.
    pub fn latency(&self) -> u32 {
        self.boundaries() + u32::from(self.register_inputs)
    }
}

/// A schedule with its delays, its register bits, and a lower bound of the register bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The schedule.
    pub schedule: Schedule,
    /// Delay of the longest path of each stage, in the units of the delays; one entry for a combinational module.
    pub stage_delays: Vec<f64>,
    /// Bound that the delay of every stage meets.
    pub max_stage_delay: f64,
    /// Smallest bound for which a schedule with this number of stages exists.
    pub smallest_stage_delay: f64,
    /// Number of register bits, including input registers and the extra layer of output registers.
    pub register_bits: u64,
    /// Number of the register bits that are inside DSPs, according to [`Uses::edges`]; input registers and the extra
    /// layer of output registers are never inside.
    pub bits_in_blocks: u64,
    /// Weight of a register bit outside of DSPs; a bit inside counts 1 ([`Uses::weight`]).
    pub weight: u64,
    /// Lower bound of the [weighted register bits](Outcome::counted) of all schedules with this stage count and delay
    /// bound.
    pub lower_bound: u64,
    /// Proof of the lower bound; `None` for a combinational module, and with [`Effort::Fast`], whose bound only counts
    /// the registers of outputs.
    pub certificate: Option<Certificate>,
}

impl Outcome {
    /// Returns the weighted number of register bits: those outside of DSPs are multiplied by [`Outcome::weight`].
    pub fn counted(&self) -> u64 {
        self.weight * (self.register_bits - self.bits_in_blocks) + self.bits_in_blocks
    }

    /// Returns the optimality gap: the relative excess of the weighted register bits over the lower bound; 0 if the
    /// register bits are proved to be minimal.
    pub fn gap(&self) -> f64 {
        match (self.counted(), self.lower_bound) {
            (bits, bound) if bits <= bound => 0.0,
            (_, 0) => f64::INFINITY,
            (bits, bound) => (bits - bound) as f64 / bound as f64,
        }
    }

    /// Checks the schedule against the goal and its own bound with [`check`], and the proof, if it exists, with
    /// [`check_certificate`]. Returns the delay of each stage.
    ///
    /// # Errors
    /// If the schedule or its certificate fails its checker.
    pub fn check(&self, model: &Model, delay: &dyn Delay, goal: &Goal, uses: &Uses) -> Result<Vec<f64>, Diagnostics> {
        let goal = Goal { max_stage_delay: Some(self.max_stage_delay), stages: Some(self.schedule.stages), ..*goal };
        let delays = check(model, delay, &goal, &self.schedule)?;
        if let Some(certificate) = &self.certificate {
            check_certificate(model, delay, &goal, uses, certificate)?;
        }
        Ok(delays)
    }
}

/// Computes a schedule for a goal. `uses` describes the bits that registers store: the bits of the hardware
/// (`netlist::uses`), or a simpler model.
///
/// # Errors
/// If no schedule satisfies the goal.
pub fn schedule(model: &Model, delay: &dyn Delay, goal: &Goal, uses: &Uses) -> Result<Outcome, Infeasible> {
    goal.validate()?;
    let outside = Outside { before: goal.delay_before(), after: goal.delay_after() };
    let graph = Graph::new(model, delay, uses, outside);
    let frame = goal::frame(&graph, goal)?;
    let mut early = Labels::default();
    earliest(&graph, frame.limit, &mut early);
    pin(&graph, frame.stages, &mut early.stage);
    let cost = Cost::new(&graph, uses);
    let edges = uses.edge_bits(goal);
    let found = if goal.is_combinational() {
        VertexSchedule { stage: early.stage, lower_bound: 0, certificate: None }
    } else {
        minimise_registers(&graph, &cost, goal, frame, early, edges)
    };
    let (all, bits_in_blocks) = match goal.is_combinational() {
        true => (0, 0),
        false => cost.all_and_within(&found.stage, frame.stages),
    };
    Ok(Outcome {
        stage_delays: stage_delays(&graph, &found.stage, frame.stages),
        schedule: Schedule {
            stages: if goal.is_combinational() { 0 } else { frame.stages },
            register_inputs: goal.register_inputs,
            register_outputs: goal.register_outputs,
            stage: operation_stages(model, &graph, &found.stage),
        },
        max_stage_delay: frame.bound,
        smallest_stage_delay: graph.units(frame.smallest),
        register_bits: all + edges,
        bits_in_blocks,
        weight: cost.weight,
        lower_bound: found.lower_bound + cost.weight * edges,
        certificate: found.certificate,
    })
}

/// A schedule of the vertices. The bound excludes input registers and the extra layer of output registers.
struct VertexSchedule {
    stage: Vec<u32>,
    lower_bound: u64,
    certificate: Option<Certificate>,
}

/// Searches for the schedule with the fewest register bits, within the effort of the goal. The result is at least as
/// good as the earliest and the latest schedule.
fn minimise_registers(
    graph: &Graph,
    cost: &Cost,
    goal: &Goal,
    frame: Frame,
    early: Labels,
    edges: u64,
) -> VertexSchedule {
    let (limit, stages) = (frame.limit, frame.stages);
    let mut late = Labels::default();
    latest(graph, limit, stages, &mut late);
    let bits = |stage: &[u32]| cost.bits(stage, stages);
    let mut stage = if bits(&late.stage) < bits(&early.stage) { late.stage.clone() } else { early.stage.clone() };
    let Some(effort) = goal.effort.steps(graph.len()) else {
        return VertexSchedule { stage, lower_bound: cost.trivial_bound(), certificate: None };
    };
    let solution = fewest_registers(graph, cost, limit, stages, &early, &late, effort);
    if bits(&solution.stage) < bits(&stage) {
        stage = solution.stage;
    }
    let certificate = certificate(graph, &solution.multipliers, solution.lower_bound + cost.weight * edges);
    VertexSchedule { stage, lower_bound: solution.lower_bound, certificate: Some(certificate) }
}

/// Converts the multipliers of the search to a certificate over operations. Vertices that are fixed to a stage occur in
/// the inequalities only as readers.
fn certificate(graph: &Graph, multipliers: &[(Reason, i64)], lower_bound: u64) -> Certificate {
    let mut certificate = Certificate { lower_bound, ..Certificate::default() };
    for &(reason, m) in multipliers {
        match reason {
            Reason::Order(u, v) => certificate.order.extend(graph.ops(u, v).map(|(u, v)| (u, v, m))),
            Reason::Path(u, v) => certificate.path.extend(graph.ops(u, v).map(|(u, v)| (u, v, m))),
            Reason::Use(class, reader) => certificate.last_use.push((class, graph.reader(reader), m)),
            Reason::Edge(edge, is_latest) => certificate.edge.push((edge, is_latest, m)),
            Reason::Held(class, reader) => certificate.held.push((class, graph.reader(reader), m)),
            Reason::Window => {}
        }
    }
    certificate
}

/// Assigns the pinned vertices to the last stage.
fn pin(graph: &Graph, stages: u32, stage: &mut [u32]) {
    stage[graph.first_pinned as usize..].fill(stages);
}

/// Returns the delay of the longest path of each stage, in the model's units.
fn stage_delays(graph: &Graph, stage: &[u32], stages: u32) -> Vec<f64> {
    let mut longest = vec![0i64; stages.max(1) as usize];
    let mut arrivals = vec![0i64; graph.points()];
    for v in 0..graph.len() as u32 {
        let s = stage[v as usize];
        let length = graph.arrive(v, s, stage, &mut arrivals);
        let slot = &mut longest[s as usize - 1];
        *slot = (*slot).max(length);
    }
    longest.into_iter().map(|t| graph.units(t)).collect()
}

/// Returns the stage of each operation: the stage of its vertex, or, for an operation without a vertex, the stage of
/// its latest operand; constants are in the first stage.
fn operation_stages(model: &Model, graph: &Graph, stage: &[u32]) -> Vec<u32> {
    let mut all: Vec<u32> = Vec::with_capacity(model.nodes().len());
    for id in model.ids() {
        let vertex = graph.vertex[id.index()];
        all.push(if vertex != NONE { stage[vertex as usize] } else { latest_operand(model, id, &all) });
    }
    all
}

/// Returns the latest stage of an operation's operands, at least 1.
fn latest_operand(model: &Model, id: ValueId, stage: &[u32]) -> u32 {
    let mut latest = 1;
    model.node(id).op.for_each_operand(|v| latest = latest.max(stage[v.index()]));
    latest
}

#[cfg(test)]
mod tests {
    use super::testing::{Overlapping, chain, random_model};
    use super::*;

    fn plain(model: &Model, goal: &Goal) -> Result<Outcome, Infeasible> {
        schedule(model, &LatencyFields, goal, &Uses::whole_values(model))
    }

    #[test]
    fn a_bound_alone_gives_the_fewest_stages() {
        let model = chain(&[3.0, 1.0, 2.0, 2.0, 1.0]).model;
        let stages = |bound| plain(&model, &Goal::max_stage_delay(bound)).map(|o| o.schedule.stages);
        assert_eq!([9.0, 8.0, 5.0, 4.0, 3.0].map(|d| stages(d).unwrap()), [1, 2, 2, 3, 3]);
        // A printed delay is valid as a bound.
        assert_eq!(stages(5.0 - 4e-9), Ok(2));
        let slow = stages(2.5).unwrap_err();
        assert_eq!(slow, Infeasible::TooSlow { operation: Some(ValueId(1)), delay: 3.0, bound: 2.5 });
    }

    #[test]
    fn errors_name_the_nearest_feasible_goal() {
        let model = chain(&[3.0, 1.0, 2.0, 2.0, 1.0]).model;
        let goal = Goal { max_stage_delay: Some(4.0), ..Goal::stages(2) };
        let error = plain(&model, &goal).unwrap_err();
        assert_eq!(error, Infeasible::TooFewStages { asked: 2, bound: 4.0, needed: 3, least: 5.0 });
        let text = error.diagnostic(&model, &BoundFlag::stage_delay("latency units")).to_string();
        assert!(text.contains("2 stages requested, 3 needed") && text.contains("--max-stage-delay 5"), "{text}");
        let clock = BoundFlag { name: "--clock-period", unit: 0.5, unit_name: "ns", overhead: 0.25 };
        let text = error.diagnostic(&model, &clock).to_string();
        assert!(text.contains("stage delay of 2 ns") && text.contains("--clock-period 2.75"), "{text}");
        assert!(plain(&model, &Goal { output_delay: f64::NAN, ..Goal::stages(2) }).is_err());
    }

    #[test]
    fn delays_outside_belong_to_the_first_and_the_last_stage() {
        let model = chain(&[3.0, 1.0, 2.0, 2.0, 1.0]).model;
        let outer = Goal { input_delay: 2.0, output_delay: 1.5, ..Goal::stages(2) };
        let outcome = plain(&model, &outer).unwrap();
        assert_eq!(outcome.stage_delays, [6.0, 6.5]);
        // With registered inputs, the first stage does not include the external delay.
        let inner = Goal { register_inputs: true, ..outer };
        let outcome = plain(&model, &inner).unwrap();
        assert_eq!(outcome.stage_delays, [6.0, 4.5]);
    }

    #[test]
    fn registered_outputs_add_a_layer_and_exclude_the_external_delay() {
        let model = chain(&[3.0, 1.0, 2.0, 2.0, 1.0]).model;
        let goal = Goal { output_delay: 1.5, ..Goal::stages(2) };
        let without = plain(&model, &goal).unwrap();
        let with = plain(&model, &Goal { register_outputs: true, ..goal }).unwrap();
        assert_eq!((without.stage_delays, with.stage_delays), (vec![6.0, 4.5], vec![4.0, 5.0]));
        assert_eq!((without.schedule.latency(), with.schedule.latency()), (2, 3));
        assert_eq!(with.register_bits, without.register_bits + 4);
        // The external delay after the outputs must also meet the bound.
        let slow = Goal { register_outputs: true, output_delay: 5.5, ..Goal::max_stage_delay(5.0) };
        assert_eq!(plain(&model, &slow), Err(Infeasible::TooSlow { operation: None, delay: 5.5, bound: 5.0 }));
    }

    #[test]
    fn every_outcome_passes_the_checker() {
        for seed in 0..300 {
            let model = random_model(seed, 30).model;
            for stages in 0..5 {
                for objective in [Objective::Delay, Objective::Registers] {
                    let register_inputs = seed % 2 == 0;
                    let goal = Goal {
                        register_inputs,
                        register_outputs: seed % 3 == 0,
                        objective,
                        output_delay: 0.5,
                        ..Goal::stages(stages)
                    };
                    let outcome = plain(&model, &goal).unwrap();
                    let uses = Uses::whole_values(&model);
                    let delays = outcome.check(&model, &LatencyFields, &goal, &uses).unwrap();
                    assert_eq!(delays, outcome.stage_delays, "seed {seed}");
                    assert!(outcome.lower_bound <= outcome.register_bits, "seed {seed}");
                }
            }
        }
    }

    /// Enumerates all legal schedules. Returns the smallest stage delay, and the fewest register bits of all schedules
    /// that meet the bound.
    fn exhaustive_optimum(model: &Model, delay: &dyn Delay, goal: &Goal, bound: Option<f64>) -> (f64, u64) {
        let (stages, uses) = (goal.stages.unwrap(), Uses::whole_values(model));
        let n = model.nodes().len();
        let (mut smallest, mut fewest) = (f64::INFINITY, u64::MAX);
        let mut stage = vec![1u32; n];
        loop {
            let is_constant = |i: usize| matches!(model.nodes()[i].op, alir_core::ir::Op::Const { .. });
            if !(0..n).any(|i| is_constant(i) && stage[i] > 1) {
                let goal = Goal { max_stage_delay: bound, ..*goal };
                let schedule =
                    Schedule { stages, register_inputs: false, register_outputs: false, stage: stage.clone() };
                if let Ok(delays) = check(model, delay, &goal, &schedule) {
                    smallest = smallest.min(delays.into_iter().fold(0.0, f64::max));
                    let seen = view(model, delay, &goal, &uses, &schedule);
                    fewest = fewest.min(seen.stages.iter().map(|s| s.held.total()).sum());
                }
            }
            let Some(i) = (0..n).find(|&i| stage[i] < stages) else { return (smallest, fewest) };
            stage[i] += 1;
            stage[..i].fill(1);
        }
    }

    #[test]
    fn overlapping_paths_get_the_minimum_delay_with_the_fewest_bits() {
        let mut overlaps = 0;
        for seed in 0..150 {
            let model = random_model(seed, 5).model;
            let delay = Overlapping::new(&model, seed);
            let uses = Uses::whole_values(&model);
            for stages in 1..4 {
                let goal = Goal { input_delay: 0.25 * (seed % 3) as f64, output_delay: 0.25, ..Goal::stages(stages) };
                let outcome = schedule(&model, &delay, &goal, &uses).unwrap();
                outcome.check(&model, &delay, &goal, &uses).unwrap();
                let (smallest, _) = exhaustive_optimum(&model, &delay, &goal, None);
                assert_eq!(outcome.smallest_stage_delay, smallest, "seed {seed}, {stages} stages");
                let (_, fewest) = exhaustive_optimum(&model, &delay, &goal, Some(smallest));
                assert_eq!((outcome.register_bits, outcome.lower_bound), (fewest, fewest), "seed {seed}, {stages}");
                overlaps += usize::from(stages == 1 && smallest < sum_of_own_delays(&model, &delay));
            }
        }
        assert!(overlaps > 40, "only {overlaps} programs have paths that overlap");
    }

    /// Returns the longest path as the sum of the own delays of its operations.
    fn sum_of_own_delays(model: &Model, delay: &dyn Delay) -> f64 {
        let mut at = vec![0.0f64; model.nodes().len()];
        for id in model.ids() {
            let mut start = 0.0f64;
            model.node(id).op.for_each_operand(|v| start = start.max(at[v.index()]));
            at[id.index()] = start + delay.own_delay(model, id);
        }
        model.outputs().iter().filter_map(|out| out.source).map(|v| at[v.index()]).fold(0.0, f64::max)
    }

    #[test]
    fn larger_programs_with_overlapping_paths_pass_the_checker() {
        for seed in 0..150 {
            let model = random_model(seed, 60).model;
            let delay = Overlapping::new(&model, seed);
            let uses = Uses::whole_values(&model);
            for stages in [1, 2, 3, 5] {
                for objective in [Objective::Delay, Objective::Registers] {
                    let goal = Goal {
                        register_inputs: seed % 2 == 0,
                        register_outputs: seed % 3 == 0,
                        input_delay: 0.5,
                        output_delay: 0.25,
                        objective,
                        ..Goal::stages(stages)
                    };
                    let outcome = schedule(&model, &delay, &goal, &uses).unwrap();
                    let delays = outcome.check(&model, &delay, &goal, &uses).unwrap();
                    assert_eq!(delays, outcome.stage_delays, "seed {seed}");
                    assert_eq!(outcome.gap(), 0.0, "seed {seed}");
                    let view = view(&model, &delay, &goal, &uses, &outcome.schedule);
                    for (stage, delay) in view.stages.iter().zip(&outcome.stage_delays) {
                        let sum: f64 = stage.path.iter().map(|step| step.delay).sum();
                        assert!((sum - delay).abs() <= 1e-9, "seed {seed}: {sum} and {delay}");
                    }
                }
            }
        }
    }
}
