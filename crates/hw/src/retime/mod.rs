//! Retiming: moves the pipeline registers of a stateful design within the slack of its schedule.
//!
//! A stateful design may contain whole pipelines: blocks with only registers between them. An observer of the design's
//! outputs cannot distinguish whether an operation is before or after such a register. So the operations may be
//! scheduled again for the same number of stages: with fewer register bits, or with a smaller critical stage delay (C.
//! E. Leiserson, J. B. Saxe, "Retiming synchronous circuitry", Algorithmica 6, 1991, for the feed-forward case, in
//! which the scheduler of [`alir_opt::schedule`] finds the optimum).
//!
//! [`find`] finds these pipelines. [`join`] merges the blocks of each pipeline into one model. [`stages`] partitions
//! the scheduled model into blocks and registers for each stage. The result is again a stateful design; its outputs are
//! equal to the original ones in every cycle in which the original outputs are defined.
//!
//! The following registers are not moved: registers that load an input port or drive an output port without logic in
//! between, since the delays outside are unknown; registers with feedback; registers that are also read outside the
//! pipeline; and all registers of a pipeline if no history of constant inputs results in their power-on values.

mod find;
mod join;
mod rebuild;
mod stages;

use crate::netlist::{lower_machine, uses};
use alir_core::ir::Model;
use alir_core::ir::machine::Machine;
use alir_opt::schedule::{Effort, Goal, Outcome, default_delay, schedule};
use find::Segment;
use join::Joined;
use rebuild::Replacement;
use serde::Serialize;

/// Objective of retiming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slack {
    /// The fewest register bits; no stage delay exceeds the critical stage delay that the pipeline had.
    Registers,
    /// The smallest stage delay, then the fewest register bits, provided that the design has no more register bits than
    /// before.
    Delay,
}

/// A design whose pipelines were partitioned again.
#[derive(Clone, Debug)]
pub struct Retimed {
    /// The resulting design.
    pub machine: Machine,
    /// Pipelines that can be retimed, including those that were not changed.
    pub pipelines: Vec<RetimedPipeline>,
}

/// A pipeline inside a stateful design.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RetimedPipeline {
    /// Names of the blocks, in the order of the stages.
    pub blocks: Vec<String>,
    /// Names of the registers that may move, in the order of the stages.
    pub registers: Vec<String>,
    /// Number of stages, including those before the first and after the last of these registers.
    pub stages: u32,
    /// Critical stage delay in the source file, in the units of the blocks' latencies.
    pub delay_before: f64,
    /// Critical stage delay of the result, in the same units.
    pub delay: f64,
    /// `true` if registers moved.
    pub moved: bool,
}

/// Places the pipeline registers of a design again. `optimise` is applied to the model of each pipeline.
///
/// The design never has more register bits than before. A pipeline without an improvement is not changed.
pub fn retime(machine: &Machine, slack: Slack, optimise: &dyn Fn(&Model) -> Model) -> Retimed {
    let mut pipelines = Vec::new();
    let mut tasks = Vec::new();
    for segment in find::segments(machine) {
        let Some(joined) = join::join(machine, &segment) else { continue };
        pipelines.push(RetimedPipeline {
            blocks: segment.blocks.iter().map(|&(b, _)| machine.blocks()[b.index()].name.clone()).collect(),
            registers: segment.registers.iter().map(|&(r, _)| machine.signal(r).name.clone()).collect(),
            stages: segment.stages,
            delay_before: joined.longest,
            delay: joined.longest,
            moved: false,
        });
        tasks.push((segment, joined));
    }
    let mut best = Retimed { machine: machine.clone(), pipelines };
    let mut bits = lower_machine(machine, "machine").register_bits();
    let goals: &[Slack] = match slack {
        Slack::Registers => &[Slack::Registers],
        Slack::Delay => &[Slack::Delay, Slack::Registers],
    };
    let mut replacements: Vec<Replacement<'_>> = Vec::new();
    for (number, (segment, joined)) in tasks.iter().enumerate() {
        for &goal in goals {
            let Some((replacement, delay)) = cut(segment, joined, goal, optimise) else { continue };
            replacements.push(replacement);
            let made = rebuild::rebuild(machine, &replacements);
            let now = made.as_ref().map(|made| lower_machine(made, "machine").register_bits());
            let shorter = delay < best.pipelines[number].delay * (1.0 - 1e-9);
            if let Some((made, now)) = made.zip(now).filter(|&(_, now)| now < bits || (now == bits && shorter)) {
                (best.machine, bits) = (made, now);
                best.pipelines[number].delay = delay;
                best.pipelines[number].moved = true;
                break;
            }
            replacements.pop();
        }
    }
    best
}

/// Schedules a pipeline again. Returns the new stages and their critical stage delay.
fn cut<'a>(
    segment: &'a Segment,
    joined: &'a Joined,
    slack: Slack,
    optimise: &dyn Fn(&Model) -> Model,
) -> Option<(Replacement<'a>, f64)> {
    let optimised = optimise(&joined.program);
    let scheduled = |program: &Model| -> Option<Outcome> {
        let bound = (slack == Slack::Registers).then_some(joined.longest);
        let goal = Goal { max_stage_delay: bound, effort: Effort::Normal, ..Goal::stages(segment.stages) };
        let (delay, uses) = (default_delay(&joined.program), uses(program));
        let outcome = schedule(program, delay, &goal, &uses).ok()?;
        outcome.check(program, delay, &goal, &uses).is_ok().then_some(outcome)
    };
    // An optimisation pass may lengthen a path, so that no schedule exists.
    let (program, outcome) = match scheduled(&optimised) {
        Some(outcome) => (optimised, outcome),
        None => (joined.program.clone(), scheduled(&joined.program)?),
    };
    let longest = outcome.stage_delays.iter().copied().fold(0.0, f64::max);
    let first = joined.history.as_deref();
    let stages = stages::split(&program, &outcome.schedule.stage, segment.stages, &joined.origins, first)?;
    Some((Replacement { segment, joined, stages }, longest))
}
