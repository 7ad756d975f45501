//! Independent checker of schedules. The checker shares no code with the scheduler.

use super::Schedule;
use super::delay::Delay;
use super::goal::Goal;
use super::paths::From;
use alir_core::diag::{Diagnostic, Diagnostics, Place, Severity};
use alir_core::ir::{Model, Op, ValueId};

/// Relative slack of comparisons: section 3 of the specification, "Delays".
const SLACK: f64 = 1e-9;

/// Maximum number of violations that are reported.
const MOST: usize = 20;

/// Checks that a schedule is legal for the goal: the number of stages, every operation in one of these stages and not
/// before its operands, no path between registers above the bound. Returns the longest path of each stage.
///
/// Operations on which no output depends are checked for order, but not for delay: they have no hardware.
///
/// # Errors
/// All violations, up to a limit. Violations are internal errors with the severity [`Severity::Bug`].
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
            // A NaN is not a legal path length either.
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

/// Returns the longest path of each stage that ends in an operation on which an output depends.
fn longest_paths(model: &Model, delay: &dyn Delay, goal: &Goal, schedule: &Schedule) -> Vec<f64> {
    let last = schedule.stages.max(1);
    let needed = needed(model);
    let outside = if goal.register_inputs { 0.0 } else { goal.input_delay };
    let behind = if goal.register_outputs { 0.0 } else { goal.output_delay };
    let paths = delay.paths(model);
    let mut arrival = vec![0.0f64; paths.len()];
    let mut longest = vec![0.0f64; last as usize];
    let mut note = |stage: u32, path: f64| {
        let slot = &mut longest[stage as usize - 1];
        *slot = if path.is_nan() { path } else { slot.max(path) };
    };
    let operations = model.nodes().len();
    // Negations are in the last stage.
    let stage_of = |element: usize| schedule.stage.get(element).copied().unwrap_or(last);
    if model.nodes().iter().any(|n| matches!(n.op, Op::Input { .. })) {
        note(1, outside);
    }
    for element in 0..operations + model.outputs().len() {
        let stage = stage_of(element);
        for p in paths.points_of(element) {
            let point = paths.point(p);
            let mut at = point.alone;
            for arc in paths.arcs(p) {
                let start = match arc.from {
                    From::Inputs if stage == 1 => outside,
                    From::Point(q) if stage_of(paths.element(q)) == stage => arrival[q as usize],
                    From::Inputs | From::Point(_) => 0.0,
                };
                // A NaN remains a NaN.
                let end = start + arc.time;
                at = if end.is_nan() || end > at { end } else { at };
            }
            arrival[p as usize] = at;
            match needed.get(element) {
                None => note(last, at + point.behind + behind),
                Some(true) => note(stage, at + point.behind),
                Some(false) => {}
            }
        }
    }
    if model.outputs().iter().any(|out| out.source.is_some()) {
        note(last, behind);
    }
    for &p in paths.shown() {
        let is_here = stage_of(paths.element(p)) == last;
        note(last, if is_here { arrival[p as usize] + paths.point(p).behind + behind } else { behind });
    }
    longest
}

/// Returns `true` for each operation on which an output depends.
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
