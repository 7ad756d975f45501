//! Moving the registers of a state machine's pipelines: where its schedule leaves slack, that is used.
//!
//! A machine may hold whole pipelines: blocks with nothing but registers between them. Which operation is located
//! before such a register and which after it cannot be observed from outside, so that all of it may be placed again, at
//! the same
//! number of places: with fewer register bits, or with a shorter longest stage (C. E. Leiserson, J. B. Saxe, "Retiming
//! synchronous circuitry", Algorithmica 6, 1991, for the feed-forward case, in which the scheduler of
//! [`alir_opt::schedule`] finds the optimum).
//!
//! [`find`] finds these pipelines, [`join`] makes one program of the blocks of each, and [`stages`] cuts the scheduled
//! program into blocks and a register for each stage. The result is a machine again, the same from outside in every
//! cycle in which the one that was given is defined.
//!
//! These registers stay where they are: registers that load an input port or drive an output port without any logic
//! between, since the delays of the paths outside are unknown; registers with feedback; those with other readers than
//! the pipeline; and all registers of a pipeline whose first values no history of its inputs explains.

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

/// Use of slack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slack {
    /// The fewest register bits; no stage longer than the longest of its pipeline was.
    Registers,
    /// The smallest stage delay, then the fewest register bits, as long as the machine gets no more bits than it had.
    Delay,
}

/// A machine whose pipelines were cut again.
#[derive(Clone, Debug)]
pub struct Retimed {
    /// The machine.
    pub machine: Machine,
    /// Its pipelines.
    pub pipelines: Vec<RetimedPipeline>,
}

/// A pipeline inside a machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RetimedPipeline {
    /// Names of its blocks, in the order of the stages.
    pub blocks: Vec<String>,
    /// Names of the registers that may move, in the order of the stages.
    pub registers: Vec<String>,
    /// Number of stages, including the ones before the first and after the last of these registers.
    pub stages: u32,
    /// The longest stage of the file, in the units of the blocks' latencies.
    pub delay_before: f64,
    /// The longest stage as it is now.
    pub delay: f64,
    /// `true` if registers moved.
    pub moved: bool,
}

/// Places the pipeline registers of a machine again. `optimise` is applied to the program that each is.
///
/// The machine never has more register bits than before; a pipeline of which nothing would be gained stays as it is.
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

/// A pipeline in new stages, and the longest of these.
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
    // A pass may make a path longer.
    let (program, outcome) = match scheduled(&optimised) {
        Some(outcome) => (optimised, outcome),
        None => (joined.program.clone(), scheduled(&joined.program)?),
    };
    let longest = outcome.stage_delays.iter().copied().fold(0.0, f64::max);
    let first = joined.history.as_deref();
    let stages = stages::split(&program, &outcome.schedule.stage, segment.stages, &joined.origins, first)?;
    Some((Replacement { segment, joined, stages }, longest))
}
