//! Goals of the scheduler, the stage count and delay bound that follow, and reasons why a goal is infeasible.

use super::bounds::{Labels, earliest, smallest_limit};
use super::graph::Graph;
use alir_core::diag::{Diagnostic, Place, counted, four_digits, four_digits_up, with_unit};
use alir_core::ir::{Model, ValueId};

/// Objective of scheduling for a given number of stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// The smallest stage delay, then the fewest register bits.
    #[default]
    Delay,
    /// The fewest register bits at 1.1 times the smallest stage delay.
    Balanced,
    /// The fewest register bits at 1.2 times the smallest stage delay.
    Registers,
}

impl Objective {
    /// Returns the largest allowed multiple of the smallest stage delay.
    pub fn multiple(self) -> f64 {
        match self {
            Objective::Delay => 1.0,
            Objective::Balanced => 1.1,
            Objective::Registers => 1.2,
        }
    }
}

/// Effort of the search for fewer register bits, counted in steps, not in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// A legal and balanced schedule in linear time.
    Fast,
    /// The fewest register bits if the search takes about a second, otherwise the best schedule found in about a second
    /// plus five microseconds per operation.
    #[default]
    Normal,
    /// The fewest register bits, or the best schedule found within about a minute.
    Max,
}

impl Effort {
    /// Returns the budget of the search in steps, for a graph of `vertices` vertices; `None` for no search. A step
    /// visits an arc and takes ten to twenty nanoseconds.
    pub(super) fn steps(self, vertices: usize) -> Option<u64> {
        match self {
            Effort::Fast => None,
            Effort::Normal => Some(75_000_000 + 310 * vertices as u64),
            Effort::Max => Some(4_000_000_000),
        }
    }
}

/// Goal of scheduling. Without a stage count and without a bound, the module is combinational.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Goal {
    /// Number of stages; exact if a bound is given, too.
    pub stages: Option<u32>,
    /// Bound on the delay of every path between registers, in the units of the delays. Without a stage count, the
    /// schedule has the fewest stages that meet the bound.
    pub max_stage_delay: Option<f64>,
    /// `true` if inputs are registered.
    pub register_inputs: bool,
    /// `true` if one more layer of registers follows the last stage, which always ends in registers.
    pub register_outputs: bool,
    /// Time after the clock edge at which inputs arrive. The time is part of the first stage; with registered inputs
    /// the time is outside of the pipeline, but must meet the bound, too.
    pub input_delay: f64,
    /// Time that is required after the last stage's logic. The time is part of the last stage; with the extra layer of
    /// output registers the time is outside of the pipeline, but must meet the bound, too.
    pub output_delay: f64,
    /// Objective for a given number of stages.
    pub objective: Objective,
    /// Effort of the search.
    pub effort: Effort,
}

impl Goal {
    /// Returns a goal with this number of stages and default values otherwise.
    pub fn stages(stages: u32) -> Goal {
        Goal { stages: Some(stages), ..Goal::default() }
    }

    /// Returns a goal with the fewest stages that meet this bound, and default values otherwise.
    pub fn max_stage_delay(bound: f64) -> Goal {
        Goal { max_stage_delay: Some(bound), ..Goal::default() }
    }

    /// Returns `true` if the goal requires no registers after the inputs.
    pub fn is_combinational(&self) -> bool {
        match self.stages {
            Some(n) => n == 0,
            None => self.max_stage_delay.is_none(),
        }
    }

    /// Returns the external delay that is part of the first stage.
    pub(super) fn delay_before(&self) -> f64 {
        if self.register_inputs { 0.0 } else { self.input_delay }
    }

    /// Returns the external delay that is part of the last stage.
    pub(super) fn delay_after(&self) -> f64 {
        if self.register_outputs { 0.0 } else { self.output_delay }
    }

    /// Checks that the delays are valid and the number of stages is not too large.
    pub(super) fn validate(&self) -> Result<(), Infeasible> {
        let delays = [
            ("--max-stage-delay", self.max_stage_delay.unwrap_or(0.0)),
            ("--input-delay", self.input_delay),
            ("--output-delay", self.output_delay),
        ];
        for (flag, value) in delays {
            if !(value.is_finite() && value >= 0.0) {
                return Err(Infeasible::NotADelay { flag, value });
            }
        }
        match self.stages {
            Some(stages) if stages > MAX_STAGES => Err(Infeasible::TooManyStages { asked: stages, most: MAX_STAGES }),
            _ => Ok(()),
        }
    }
}

/// Largest number of stages; a larger number is considered a user error.
const MAX_STAGES: u32 = 10_000;

/// Reason why a goal is infeasible.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Infeasible {
    /// A delay that is negative, infinite or not a number.
    NotADelay {
        /// The option.
        flag: &'static str,
        /// The invalid value.
        value: f64,
    },
    /// More stages than the supported maximum.
    TooManyStages {
        /// Requested number of stages.
        asked: u32,
        /// Largest number of stages that can be requested.
        most: u32,
    },
    /// One operation or external delay alone exceeds the bound.
    TooSlow {
        /// The slowest operation; `None` for an external delay (`--input-delay`, `--output-delay`).
        operation: Option<ValueId>,
        /// Delay of that operation, or the external delay.
        delay: f64,
        /// The bound.
        bound: f64,
    },
    /// The bound requires more stages than the goal has.
    TooFewStages {
        /// Requested number of stages.
        asked: u32,
        /// The bound.
        bound: f64,
        /// Number of stages that the bound requires.
        needed: u32,
        /// Smallest bound for the requested number of stages.
        least: f64,
    },
}

/// Command line option that set the bound on a stage's delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundFlag<'a> {
    /// The option.
    pub name: &'a str,
    /// Value of one unit of the delays in the option's unit.
    pub unit: f64,
    /// Name of the option's unit, such as `ns` or `latency units`.
    pub unit_name: &'a str,
    /// Option's value minus the bound, in the option's unit: the register's share of a clock period.
    pub overhead: f64,
}

impl<'a> BoundFlag<'a> {
    /// Creates the option for a bound in the unit of the delays, which is called `unit_name`.
    pub fn stage_delay(unit_name: &'a str) -> BoundFlag<'a> {
        BoundFlag { name: "--max-stage-delay", unit: 1.0, unit_name, overhead: 0.0 }
    }
}

impl Infeasible {
    /// Returns the message for the user.
    ///
    /// `model` is the program to be scheduled; the message names operations as in the RTL file. `given` is the option
    /// that set the bound: the message suggests values in the option's unit.
    pub fn diagnostic(&self, model: &Model, given: &BoundFlag) -> Diagnostic {
        let flag = |flag: &str| Place::Flag(flag.to_owned());
        let bound_flag = given.name;
        let in_unit = |delay: f64| if given.unit == 1.0 { delay } else { delay * given.unit };
        let to_ask = |delay: f64| in_unit(delay) + given.overhead;
        let shown = |delay: String| with_unit(&delay, given.unit_name);
        match *self {
            Infeasible::NotADelay { flag: option, value } => {
                Diagnostic::error("E0501", flag(option), format!("{value} is not a delay"))
                    .with_help("a delay is a finite number, zero or above")
            }
            Infeasible::TooManyStages { asked, most } => {
                Diagnostic::error("E0502", flag("--pipeline"), format!("{asked} stages are more than {most}"))
                    .with_help(format!("use {most} or fewer"))
            }
            Infeasible::TooSlow { operation, delay, bound } => {
                let enough = four_digits_up(to_ask(delay));
                // The delay in the message is valid as a bound.
                let (delay, bound) = (shown(four_digits_up(in_unit(delay))), shown(four_digits(in_unit(bound))));
                let who = match operation {
                    Some(id) => {
                        let node = model.node(id);
                        format!("v{} ({}) alone takes {delay}", node.origin, node.op.name())
                    }
                    None => format!("--input-delay or --output-delay alone takes {delay}"),
                };
                Diagnostic::error("E0503", flag(bound_flag), format!("{who}, more than a stage's {bound}"))
                    .with_help(format!("no number of stages helps; require {bound_flag} {enough} or more"))
            }
            Infeasible::TooFewStages { asked, bound, needed, least } => {
                let (bound, least) = (shown(four_digits(in_unit(bound))), four_digits_up(to_ask(least)));
                let message =
                    format!("{} requested, {needed} needed for a stage delay of {bound}", counted(asked, "stage"));
                Diagnostic::error("E0504", flag("--pipeline"), message).with_help(match asked {
                    0 => format!("require {needed} stages, or {bound_flag} {least} without any"),
                    _ => format!("require {needed} stages, or {bound_flag} {least}"),
                })
            }
        }
    }
}

/// A goal in terms of a graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Number of stages, at least 1.
    pub(super) stages: u32,
    /// Bound on every path in the units of the delays, as requested or as allowed by the objective.
    pub(super) bound: f64,
    /// The bound in ticks, slack included.
    pub(super) limit: i64,
    /// The smallest possible bound for this number of stages, in ticks.
    pub(super) smallest: i64,
}

/// Rounds of bisection that determine the smallest stage delay to about one part in a million.
const FAST_ROUNDS: u32 = 14;

/// Returns the number of stages and the bounds for a goal.
pub(super) fn frame(graph: &Graph, goal: &Goal) -> Result<Frame, Infeasible> {
    let rounds = if goal.effort == Effort::Fast { FAST_ROUNDS } else { u32::MAX };
    let asked = goal.stages;
    let Some(bound) = goal.max_stage_delay else {
        let stages = asked.unwrap_or(0).max(1);
        let smallest = smallest_limit(graph, stages, rounds);
        let bound = graph.units(smallest) * goal.objective.multiple();
        return Ok(Frame { stages, bound, limit: graph.limit(bound).max(smallest), smallest });
    };
    let limit = graph.limit(bound);
    let (vertex, slowest) = graph.slowest();
    if slowest > limit {
        let (operation, delay) = (graph.op(vertex), graph.units(slowest));
        return Err(Infeasible::TooSlow { operation, delay, bound });
    }
    let behind_registers = [(goal.register_inputs, goal.input_delay), (goal.register_outputs, goal.output_delay)];
    if let Some((_, delay)) = behind_registers.into_iter().find(|&(is, delay)| is && graph.limit(delay) > limit) {
        return Err(Infeasible::TooSlow { operation: None, delay, bound });
    }
    let needed = earliest(graph, limit, &mut Labels::default()).stages;
    let stages = asked.map_or(needed, |n| n.max(1));
    let smallest = smallest_limit(graph, stages, rounds);
    if needed > stages || (asked == Some(0) && needed > 1) {
        let (asked, least) = (asked.unwrap_or(0), graph.units(smallest));
        return Err(Infeasible::TooFewStages { asked, bound, needed, least });
    }
    Ok(Frame { stages, bound, limit, smallest })
}
