//! The judge of schedules. It shares no code with those who make them.

use super::Schedule;
use super::delay::Delay;
use super::goal::Goal;
use crate::diag::{Diagnostic, Diagnostics, Place, Severity};
use crate::ir::{Model, Op, ValueId};

/// Relative slack of comparisons: section 3 of the specification, "Delays".
const SLACK: f64 = 1e-9;

/// Most problems that are reported.
const MOST: usize = 20;

/// Checks that a schedule is legal for what was asked: the number of stages, every operation in one of them and not
/// before its operands, no path between registers above the bound. Returns the longest path of each stage.
///
/// Operations that no output depends on count for order, not for delay: no hardware is made of them.
///
/// # Errors
/// Everything that is wrong, up to a cap. It is our own mistake, so its severity is [`Severity::Bug`].
pub fn check(model: &Model, delay: &dyn Delay, goal: &Goal, schedule: &Schedule) -> Result<Vec<f64>, Diagnostics> {
    let mut problems = Vec::new();
    let mut wrong = |message: String| {
        if problems.len() < MOST {
            problems.push(Diagnostic {
                severity: Severity::Bug,
                ..Diagnostic::error("E0590", Place::Whole, format!("the schedule is wrong: {message}"))
            });
        }
    };
    if schedule.stage.len() != model.nodes().len() {
        wrong(format!("{} stages for {} operations", schedule.stage.len(), model.nodes().len()));
        return Err(Diagnostics(problems));
    }
    if goal.stages.is_some_and(|n| n != schedule.stages) || (goal.is_combinational() && schedule.stages != 0) {
        wrong(format!("{} stages", schedule.stages));
    }
    if goal.register_inputs != schedule.register_inputs {
        wrong("input registers that were not asked for, or none where they were".to_owned());
    }
    if goal.register_outputs != schedule.register_outputs {
        wrong("output registers that were not asked for, or none where they were".to_owned());
    }
    let last = schedule.stages.max(1);
    for id in model.ids() {
        let s = schedule.stage[id.index()];
        if s < 1 || s > last {
            wrong(format!("operation {} is in stage {s} of {last}", id.0));
        }
        model.node(id).op.for_each_operand(|v| {
            let t = schedule.stage[v.index()];
            if t > s {
                wrong(format!("operation {} in stage {s} needs operation {} of stage {t}", id.0, v.0));
            }
        });
    }
    if !problems.is_empty() {
        return Err(Diagnostics(problems));
    }
    let longest = longest_paths(model, delay, goal, schedule);
    if let Some(bound) = goal.max_stage_delay {
        for (k, path) in longest.iter().enumerate() {
            // A NaN is no legal path either.
            if path.is_nan() || *path > bound * (1.0 + SLACK) {
                problems.push(Diagnostic {
                    severity: Severity::Bug,
                    ..Diagnostic::error(
                        "E0590",
                        Place::Whole,
                        format!("the schedule is wrong: a path of {path} in stage {} of at most {bound}", k + 1),
                    )
                });
            }
        }
    }
    if problems.is_empty() { Ok(longest) } else { Err(Diagnostics(problems)) }
}

/// The longest path of each stage that ends in what an output depends on.
fn longest_paths(model: &Model, delay: &dyn Delay, goal: &Goal, schedule: &Schedule) -> Vec<f64> {
    let last = schedule.stages.max(1);
    let needed = needed(model);
    let outside = if goal.register_inputs { 0.0 } else { goal.input_delay };
    let behind = if goal.register_outputs { 0.0 } else { goal.output_delay };
    let mut arrival = vec![0.0f64; model.nodes().len()];
    let mut longest = vec![0.0f64; last as usize];
    let mut note = |stage: u32, path: f64| {
        let slot = &mut longest[stage as usize - 1];
        *slot = if path.is_nan() { path } else { slot.max(path) };
    };
    if model.nodes().iter().any(|n| matches!(n.op, Op::Input { .. })) {
        note(1, outside);
    }
    for id in model.ids() {
        let s = schedule.stage[id.index()];
        let from_port = matches!(model.node(id).op, Op::Input { .. }) && s == 1;
        let mut start = if from_port { outside } else { 0.0 };
        model.node(id).op.for_each_operand(|v| {
            if schedule.stage[v.index()] == s {
                start = start.max(arrival[v.index()]);
            }
        });
        let end = start + delay.own_delay(model, id);
        arrival[id.index()] = end;
        if needed[id.index()] {
            note(s, end);
        }
    }
    for (j, out) in model.outputs().iter().enumerate() {
        let Some(v) = out.source else { continue };
        let start = if schedule.stage[v.index()] == last { arrival[v.index()] } else { 0.0 };
        let negation = if out.neg { delay.negation_delay(model, j) } else { 0.0 };
        note(last, start + negation + behind);
    }
    longest
}

/// Which operations some output depends on.
fn needed(model: &Model) -> Vec<bool> {
    let mut needed = vec![false; model.nodes().len()];
    let mut open: Vec<ValueId> = model.outputs().iter().filter_map(|o| o.source).collect();
    while let Some(v) = open.pop() {
        if !std::mem::replace(&mut needed[v.index()], true) {
            model.node(v).op.for_each_operand(|u| open.push(u));
        }
    }
    needed
}
