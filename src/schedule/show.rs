//! A schedule for people: what each stage does, its longest path, and where its register bits come from.

use super::Schedule;
use super::delay::Delay;
use super::goal::Goal;
use super::uses::{Class, Reader, Root, Uses, live};
use crate::ir::{Model, Op, ValueId};

/// One stage and the registers that end it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageView {
    /// Operations that some output depends on, inputs and constants aside.
    pub operations: usize,
    /// The longest path, first step first; its steps add up to the stage's delay.
    pub path: Vec<PathStep>,
    /// What its registers hold.
    pub held: HeldBits,
}

/// A step of a path with the time it takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathStep {
    /// What happens.
    pub what: PathElement,
    /// How long it takes, in the units of the delays.
    pub delay: f64,
}

/// What can take time in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathElement {
    /// The world in front of unregistered inputs.
    Before,
    /// An operation.
    Op(ValueId),
    /// The negation of an output element.
    Negation(u32),
    /// The world behind outputs.
    After,
}

/// Bits of a layer of registers, each in one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldBits {
    /// Bits that an output port shows, from where they are made to the end.
    pub outputs: u64,
    /// Bits of inputs for later operations.
    pub inputs: u64,
    /// Bits made in this very stage.
    pub made: u64,
    /// Bits made in an earlier stage that still wait for a reader: delays that balance the paths.
    pub waiting: u64,
}

impl HeldBits {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.outputs + self.inputs + self.made + self.waiting
    }
}

/// A schedule stage by stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScheduleView {
    /// What input registers hold; nothing if there are none.
    pub input_registers: HeldBits,
    /// The stages, from stage 1.
    pub stages: Vec<StageView>,
    /// What the layer behind the last stage holds; nothing if there is none.
    pub output_registers: HeldBits,
}

/// Looks at a legal schedule made for `goal`. Bits are those of `uses`, so with `netlist::uses` those of the hardware.
pub fn view(model: &Model, delay: &dyn Delay, goal: &Goal, uses: &Uses, schedule: &Schedule) -> ScheduleView {
    let mut view = ScheduleView {
        stages: paths(model, delay, goal, schedule)
            .into_iter()
            .map(|path| StageView { path, ..StageView::default() })
            .collect(),
        ..ScheduleView::default()
    };
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
    // Without stages there is no boundary between the one piece of logic and the ports, but for input registers.
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

/// The longest path of each stage; of equal ones the one that ends first in the program.
fn paths(model: &Model, delay: &dyn Delay, goal: &Goal, schedule: &Schedule) -> Vec<Vec<PathStep>> {
    let stages = schedule.stages.max(1);
    let (before, after) = (goal.delay_before(), goal.delay_after());
    let live = live(model);
    // Arrival at each operation's result, and the operand on the way.
    let mut arrival = vec![0.0f64; model.nodes().len()];
    let mut from: Vec<Option<ValueId>> = vec![None; model.nodes().len()];
    // The best end of each stage: how long, and where.
    let mut longest: Vec<(f64, Option<ValueId>, Vec<PathStep>)> = vec![(-1.0, None, Vec::new()); stages as usize];
    let mut note = |stage: u32, length: f64, end: Option<ValueId>, more: Vec<PathStep>| {
        let slot = &mut longest[stage as usize - 1];
        if length > slot.0 {
            *slot = (length, end, more);
        }
    };
    for id in model.ids().filter(|id| live[id.index()]) {
        let stage = schedule.stage[id.index()];
        let from_port = matches!(model.node(id).op, Op::Input { .. }) && stage == 1;
        let mut start = if from_port { before } else { 0.0 };
        model.node(id).op.for_each_operand(|v| {
            let is_here = schedule.stage[v.index()] == stage && !matches!(model.node(v).op, Op::Const { .. });
            if is_here && (from[id.index()].is_none() || arrival[v.index()] > start) {
                start = start.max(arrival[v.index()]);
                from[id.index()] = Some(v);
            }
        });
        arrival[id.index()] = start + delay.own_delay(model, id);
        if !matches!(model.node(id).op, Op::Const { .. }) {
            note(stage, arrival[id.index()], Some(id), Vec::new());
        }
    }
    for (j, out) in model.outputs().iter().enumerate() {
        let Some(v) = out.source else { continue };
        let here = (schedule.stage[v.index()] == stages).then_some(v);
        let start = here.map_or(0.0, |v| arrival[v.index()]);
        let negation = if out.neg { delay.negation_delay(model, j) } else { 0.0 };
        let mut more = Vec::new();
        if out.neg {
            more.push(PathStep { what: PathElement::Negation(j as u32), delay: negation });
        }
        if after > 0.0 {
            more.push(PathStep { what: PathElement::After, delay: after });
        }
        note(stages, start + negation + after, here, more);
    }
    if before > 0.0 && model.nodes().iter().any(|node| matches!(node.op, Op::Input { .. })) {
        // Inputs arrive even where nothing in the first stage reads them.
        note(1, before, None, vec![PathStep { what: PathElement::Before, delay: before }]);
    }
    let steps_to = |end: Option<ValueId>, more: Vec<PathStep>| {
        let mut steps: Vec<PathStep> = more.into_iter().rev().collect();
        let mut at = end;
        while let Some(id) = at {
            steps.push(PathStep { what: PathElement::Op(id), delay: delay.own_delay(model, id) });
            let from_port = matches!(model.node(id).op, Op::Input { .. }) && schedule.stage[id.index()] == 1;
            if from_port && before > 0.0 {
                steps.push(PathStep { what: PathElement::Before, delay: before });
            }
            at = from[id.index()];
        }
        steps.reverse();
        steps
    };
    longest.into_iter().map(|(_, end, more)| steps_to(end, more)).collect()
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
            let stages: u64 = view.stages.iter().map(|stage| stage.held.total()).sum();
            let edges = view.input_registers.total() + view.output_registers.total();
            assert_eq!(stages + edges, outcome.register_bits, "seed {seed}");
        }
    }
}
