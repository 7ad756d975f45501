//! View of a schedule by stages, for reports: operations, longest path, and origins of the register bits.

use super::Schedule;
use super::delay::Delay;
use super::goal::Goal;
use super::paths::From;
use super::uses::{Class, Reader, Root, Uses, live};
use alir_core::ir::{Model, Op, ValueId};

/// A stage, including the registers at its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageView {
    /// Number of operations on which an output depends, without inputs and constants.
    pub operations: usize,
    /// Longest path; the delays of its steps add up to the stage's delay.
    pub path: Vec<PathStep>,
    /// Bits of the registers at the end of the stage.
    pub held: HeldBits,
}

/// A step of a path with its delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathStep {
    /// The operation, or another element of the path.
    pub what: PathElement,
    /// Delay of the element, in the units of the delays.
    pub delay: f64,
}

/// Element of a path that takes time in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathElement {
    /// The environment before unregistered inputs.
    Before,
    /// An operation.
    Op(ValueId),
    /// The negation of an output element.
    Negation(u32),
    /// The environment after the outputs.
    After,
}

/// Bits of a layer of registers by category; each bit is counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldBits {
    /// Bits of output ports.
    pub outputs: u64,
    /// Bits of inputs for later operations.
    pub inputs: u64,
    /// Bits generated in this stage.
    pub made: u64,
    /// Bits generated in an earlier stage and read in a later stage: pipeline registers that balance the paths.
    pub waiting: u64,
}

impl HeldBits {
    /// Returns the total number of bits.
    pub fn total(&self) -> u64 {
        self.outputs + self.inputs + self.made + self.waiting
    }
}

/// A schedule by stages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScheduleView {
    /// Bits of the input registers; all 0 if there are none.
    pub input_registers: HeldBits,
    /// The stages, from stage 1.
    pub stages: Vec<StageView>,
    /// Bits of the layer after the last stage; all 0 if there is none.
    pub output_registers: HeldBits,
    /// Time of each operation's result after the start of its stage, in the units of the delays.
    pub arrivals: Vec<f64>,
    /// Slack of each operation in the units of the delays: the longest path of all stages minus the longest path
    /// through the operation.
    pub slacks: Vec<f64>,
}

/// Returns the view of a legal schedule for `goal`. `uses` defines the bits; with `netlist::uses` they are those of the
/// hardware.
pub fn view(model: &Model, delay: &dyn Delay, goal: &Goal, uses: &Uses, schedule: &Schedule) -> ScheduleView {
    let StagePaths { longest, arrivals, slacks } = paths(model, delay, goal, schedule);
    let stages = longest.into_iter().map(|path| StageView { path, ..StageView::default() });
    let mut view = ScheduleView { stages: stages.collect(), arrivals, slacks, ..ScheduleView::default() };
    let live = live(model);
    for id in model.ids().filter(|id| live[id.index()]) {
        if !matches!(model.node(id).op, Op::Input { .. } | Op::Const { .. }) {
            view.stages[schedule.stage[id.index()] as usize - 1].operations += 1;
        }
    }
    for class in uses.all_bits() {
        count(&mut view, uses, class, schedule);
    }
    view
}

/// Adds the bits of a class to every boundary that they cross.
fn count(view: &mut ScheduleView, uses: &Uses, class: &Class, schedule: &Schedule) {
    let last_stage = schedule.stages.max(1);
    let made = match class.root {
        Root::Input(_) => u32::from(!schedule.register_inputs),
        Root::Op(v) => schedule.stage[v.index()],
        Root::Negation(_) => last_stage,
        Root::Edge(edge) => schedule.stage[uses.edges()[edge as usize].op.index()],
    };
    let readers = uses.readers(class).iter().map(|&reader| match reader {
        Reader::Op(v) => schedule.stage[v.index()],
        Reader::Negation(_) => last_stage,
        Reader::Port => schedule.boundaries() + 1,
        Reader::Edge(edge) => schedule.stage[uses.edges()[edge as usize].op.index()],
    });
    let last_use = readers.max().unwrap_or(0);
    let is_shown = uses.readers(class).contains(&Reader::Port);
    // Without stages the only boundary is that of input registers.
    for boundary in (made..last_use).filter(|&b| b == 0 || b <= schedule.boundaries()) {
        let held = if boundary == 0 {
            &mut view.input_registers
        } else if boundary > schedule.stages {
            &mut view.output_registers
        } else {
            &mut view.stages[boundary as usize - 1].held
        };
        let slot = match class.root {
            _ if is_shown && boundary > 0 => &mut held.outputs,
            Root::Input(_) => &mut held.inputs,
            _ if boundary == made => &mut held.made,
            _ => &mut held.waiting,
        };
        *slot += u64::from(class.bits);
    }
}

/// Longest paths, arrival times and slacks within stages.
struct StagePaths {
    /// Longest path of each stage; among equal paths, the path whose end is first in the program.
    longest: Vec<Vec<PathStep>>,
    /// See [`ScheduleView::arrivals`].
    arrivals: Vec<f64>,
    /// See [`ScheduleView::slacks`].
    slacks: Vec<f64>,
}

/// Computes the paths within all stages.
fn paths(model: &Model, delay: &dyn Delay, goal: &Goal, schedule: &Schedule) -> StagePaths {
    let stages = schedule.stages.max(1);
    let (before, after) = (goal.delay_before(), goal.delay_after());
    let live = live(model);
    let paths = delay.paths(model);
    // Time from a point to the input of a register.
    let register = |p: u32| paths.point(p).behind;
    let operations = model.nodes().len();
    let stage_of = |element: usize| schedule.stage.get(element).copied().unwrap_or(stages);
    // Arrival time at each point, and the previous point of the longest path.
    let mut arrival = vec![0.0f64; paths.len()];
    let mut from: Vec<Option<u32>> = vec![None; paths.len()];
    // End of the longest path of each stage: length and point.
    let mut longest: Vec<(f64, Option<u32>, f64)> = vec![(-1.0, None, 0.0); stages as usize];
    let mut note = |stage: u32, length: f64, end: Option<u32>, more: f64| {
        let slot = &mut longest[stage as usize - 1];
        if length > slot.0 {
            *slot = (length, end, more);
        }
    };
    let is_const =
        |element: usize| matches!(model.nodes().get(element), Some(node) if matches!(node.op, Op::Const { .. }));
    let starts_with_inputs = |p: u32| {
        let times = paths.arcs(p).iter().filter(|arc| arc.from == From::Inputs).map(|arc| arc.time);
        (stage_of(paths.element(p)) == 1)
            .then(|| times.fold(None, |most: Option<f64>, t| Some(most.map_or(t, |m| m.max(t)))))?
    };
    for element in 0..operations + model.outputs().len() {
        if live.get(element) == Some(&false) {
            continue;
        }
        let stage = stage_of(element);
        for p in paths.points_of(element) {
            let point = paths.point(p);
            let mut at = starts_with_inputs(p).map_or(point.alone, |time| point.alone.max(before + time));
            for arc in paths.arcs(p) {
                let From::Point(q) = arc.from else { continue };
                let is_here = stage_of(paths.element(q)) == stage && !is_const(paths.element(q));
                let end = arrival[q as usize] + arc.time;
                if is_here && (end > at || (end == at && from[p as usize].is_none())) {
                    at = end;
                    from[p as usize] = Some(q);
                }
            }
            arrival[p as usize] = at;
            let after = if element < operations { 0.0 } else { after };
            if !is_const(element) {
                note(stage, at + register(p) + after, Some(p), after);
            }
        }
    }
    if model.outputs().iter().any(|out| out.source.is_some()) {
        note(stages, after, None, after);
    }
    for &p in paths.shown() {
        if stage_of(paths.element(p)) == stages && !is_const(paths.element(p)) {
            note(stages, arrival[p as usize] + register(p) + after, Some(p), after);
        }
    }
    let has_inputs = model.nodes().iter().any(|node| matches!(node.op, Op::Input { .. }));
    // Inputs arrive even if no operation of the first stage reads them.
    let waits = has_inputs && before > longest[0].0;
    // Longest time from each point to the end of its stage.
    let mut tail: Vec<f64> = (0..paths.len() as u32).map(register).collect();
    for &p in paths.shown().iter().filter(|&&p| stage_of(paths.element(p)) == stages) {
        tail[p as usize] = register(p) + after;
    }
    for p in (0..paths.len() as u32).rev() {
        let element = paths.element(p);
        if element >= operations {
            tail[p as usize] = register(p) + after;
        }
        if live.get(element) == Some(&false) {
            continue;
        }
        for arc in paths.arcs(p) {
            let From::Point(q) = arc.from else { continue };
            if stage_of(paths.element(q)) == stage_of(element) && !is_const(paths.element(q)) {
                tail[q as usize] = tail[q as usize].max(arc.time + tail[p as usize]);
            }
        }
    }
    let most = longest.iter().map(|end| end.0).fold(if waits { before } else { 0.0 }, f64::max);
    let latest = |element: usize, time: &dyn Fn(usize) -> f64| {
        paths.points_of(element).map(|p| time(p as usize)).fold(0.0, f64::max)
    };
    let arrivals = (0..operations).map(|element| latest(element, &|p| arrival[p])).collect();
    let slacks = (0..operations).map(|element| (most - latest(element, &|p| arrival[p] + tail[p])).max(0.0)).collect();
    let steps_to = |end: Option<u32>, more: f64| {
        let mut steps = Vec::new();
        if more > 0.0 {
            steps.push(PathStep { what: PathElement::After, delay: more });
        }
        let mut at = end;
        let mut last = end.map_or(0.0, register);
        while let Some(p) = at {
            let element = paths.element(p);
            let what = match element.checked_sub(operations) {
                None => PathElement::Op(ValueId(element as u32)),
                Some(j) => PathElement::Negation(j as u32),
            };
            let outside = match starts_with_inputs(p) {
                Some(time) if before > 0.0 && from[p as usize].is_none() && before + time >= arrival[p as usize] => {
                    before
                }
                _ => 0.0,
            };
            let begins = from[p as usize].map_or(outside, |q| arrival[q as usize]);
            steps.push(PathStep { what, delay: arrival[p as usize] - begins + last });
            if outside > 0.0 {
                steps.push(PathStep { what: PathElement::Before, delay: outside });
            }
            last = 0.0;
            at = from[p as usize];
        }
        steps.reverse();
        steps
    };
    let mut all: Vec<Vec<PathStep>> = longest.into_iter().map(|(_, end, more)| steps_to(end, more)).collect();
    if waits {
        all[0] = vec![PathStep { what: PathElement::Before, delay: before }];
    }
    StagePaths { longest: all, arrivals, slacks }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{chain, random_model};
    use super::super::{LatencyFields, Outcome, schedule};
    use super::*;

    fn viewed(model: &Model, goal: &Goal) -> (Outcome, ScheduleView) {
        let uses = Uses::whole_values(model);
        let outcome = schedule(model, &LatencyFields, goal, &uses).unwrap();
        let view = view(model, &LatencyFields, goal, &uses, &outcome.schedule);
        (outcome, view)
    }

    #[test]
    fn the_longest_path_of_a_chain_is_the_chain() {
        let model = chain(&[3.0, 1.0, 2.0, 2.0, 1.0]).model;
        let goal = Goal { input_delay: 2.0, output_delay: 1.5, register_outputs: true, ..Goal::stages(2) };
        let (_, view) = viewed(&model, &goal);
        let steps = |k: usize| view.stages[k].path.iter().map(|s| (s.what, s.delay)).collect::<Vec<_>>();
        let op = |i: u32, d: f64| (PathElement::Op(ValueId(i)), d);
        assert_eq!(steps(0), [(PathElement::Before, 2.0), op(0, 0.0), op(1, 3.0), op(2, 1.0)]);
        assert_eq!(steps(1), [op(3, 2.0), op(4, 2.0), op(5, 1.0)]);
        assert_eq!([view.stages[0].operations, view.stages[1].operations], [2, 3]);
        assert_eq!(view.stages[0].held, HeldBits { made: 4, ..HeldBits::default() });
        assert_eq!(view.output_registers, HeldBits { outputs: 4, ..HeldBits::default() });
    }

    #[test]
    fn paths_take_as_long_as_the_stage_and_bits_add_up() {
        for seed in 0..300u64 {
            let model = random_model(seed, 40).model;
            let goal = Goal {
                register_inputs: seed % 2 == 0,
                register_outputs: seed % 3 == 0,
                input_delay: 0.5,
                output_delay: 0.25,
                ..Goal::stages(1 + seed as u32 % 4)
            };
            let (outcome, view) = viewed(&model, &goal);
            for (stage, delay) in view.stages.iter().zip(&outcome.stage_delays) {
                let sum: f64 = stage.path.iter().map(|step| step.delay).sum();
                assert!((sum - delay).abs() <= 1e-9 * delay.max(1.0), "seed {seed}: {sum} and {delay}");
            }
            let longest = outcome.stage_delays.iter().copied().fold(0.0, f64::max);
            for (stage, delay) in view.stages.iter().zip(&outcome.stage_delays) {
                let mut ops = stage.path.iter().filter_map(|step| match step.what {
                    PathElement::Op(id) => Some(view.slacks[id.index()]),
                    _ => None,
                });
                assert!(ops.all(|slack| slack <= longest - delay + 1e-9 * longest.max(1.0)), "seed {seed}");
            }
            assert!(view.slacks.iter().all(|slack| (0.0..=longest.max(0.5)).contains(slack)), "seed {seed}");
            let stages: u64 = view.stages.iter().map(|stage| stage.held.total()).sum();
            let edges = view.input_registers.total() + view.output_registers.total();
            assert_eq!(stages + edges, outcome.register_bits, "seed {seed}");
        }
    }
}
