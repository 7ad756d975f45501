//! Description of a pipeline: stages, critical paths, and register bits by purpose.

use super::super::Failure;
use super::super::idle::stages_without_logic;
use super::short;
use crate::compile::{DelayModel, Optimised, Spec};
use crate::device::Estimate;
use crate::diag::{Diagnostic, counted, delay_digits, with_unit};
use crate::ir::Model;
use crate::schedule::{HeldBits, PathElement, PathStep};
use serde::Serialize;
use std::fmt::Write;

/// Pipeline with its estimated cost.
#[derive(Serialize)]
pub(super) struct PipelineTable {
    pub(super) latency: u32,
    /// Unit of the delays; the next field is their source.
    delay_unit: &'static str,
    #[serde(skip)]
    delay_source: &'static str,
    /// Delay of the critical stage. On a device it is the clock period of the finished netlist.
    stage_delay: f64,
    /// Smallest critical stage delay for this number of stages, proved. `null` on a device, as its delays depend on the
    /// schedule.
    smallest_stage_delay: Option<f64>,
    register_bits: u64,
    /// Register bits that the schedule places within DSPs.
    register_bits_in_blocks: u64,
    /// Lower bound of the register bits for these stages and this delay. A bit within a DSP counts as a
    /// [`crate::schedule::Outcome::weight`]-th.
    register_bits_at_least: u64,
    input_register_bits: u64,
    stages: Vec<Stage>,
    output_register_bits: u64,
    #[serde(skip)]
    pub(super) estimate: Estimate,
    #[serde(skip)]
    quality: String,
    /// Warning about stages without logic.
    #[serde(skip)]
    pub(super) without_logic: Option<Diagnostic>,
}

#[derive(Serialize)]
struct Stage {
    stage: u32,
    operations: usize,
    delay: f64,
    register_bits: u64,
    registers: Origin,
    path: Vec<PathPart>,
}

/// Register bits by purpose.
#[derive(Serialize)]
struct Origin {
    made_here: u64,
    balancing: u64,
    inputs: u64,
    outputs: u64,
    valid: u64,
}

impl Origin {
    /// Builds the statistics; `total` is the number of register bits in the netlist, including valid flags.
    fn new(held: HeldBits, total: u64) -> Origin {
        let HeldBits { outputs, inputs, made, waiting } = held;
        Origin { made_here: made, balancing: waiting, inputs, outputs, valid: total - held.total() }
    }
}

#[derive(Serialize)]
struct PathPart {
    /// Name of the operation in generated RTL, such as `v17`.
    name: String,
    operation: &'static str,
    delay: f64,
}

impl PathPart {
    fn new(model: &Model, step: PathStep) -> PathPart {
        let (name, operation) = match step.what {
            PathElement::Before => ("--input-delay".to_owned(), "outside"),
            PathElement::After => ("--output-delay".to_owned(), "outside"),
            PathElement::Negation(j) => (format!("out[{j}]"), "negation"),
            PathElement::Op(id) => (format!("v{}", model.node(id).origin), model.node(id).op.name()),
        };
        PathPart { name, operation, delay: step.delay }
    }
}

/// Number of stages that are printed without -v.
const STAGES: usize = 5;

impl PipelineTable {
    /// Schedules the program and describes the result.
    pub(super) fn new(optimised: &Optimised<'_>, spec: &Spec) -> Result<PipelineTable, Failure> {
        let scheduled = optimised.borrowed().schedule(spec)?;
        let (netlist, _) = scheduled.lower(spec, &spec.top())?;
        let (model, outcome) = (&*scheduled.program, &scheduled.outcome);
        let bits = netlist.stage_register_bits();
        let after = |boundary: u32| bits.get(boundary as usize).copied().unwrap_or(0);
        let view = scheduled.stages(spec);
        let (delay_unit, delay_source) = spec.unit(model);
        let estimate = spec.estimate(&netlist);
        let is_on_device = spec.delay_model() == DelayModel::Device;
        let times = scheduled.stage_times(spec, &netlist);
        let stage_delay = times.iter().copied().fold(0.0, f64::max);
        let stages = (1..).zip(view.stages).zip(times).map(|((stage, seen), delay)| Stage {
            stage,
            operations: seen.operations,
            delay,
            register_bits: after(stage),
            registers: Origin::new(seen.held, after(stage).max(seen.held.total())),
            path: seen.path.into_iter().map(|step| PathPart::new(model, step)).collect(),
        });
        Ok(PipelineTable {
            latency: outcome.schedule.latency(),
            delay_unit,
            delay_source,
            stage_delay,
            smallest_stage_delay: (!is_on_device).then_some(outcome.smallest_stage_delay),
            register_bits: netlist.register_bits(),
            register_bits_in_blocks: outcome.bits_in_blocks,
            register_bits_at_least: outcome.lower_bound.div_ceil(outcome.weight),
            input_register_bits: after(0),
            output_register_bits: after(outcome.schedule.stages + 1),
            estimate,
            quality: scheduled.quality(),
            without_logic: stages_without_logic(spec, &scheduled, &netlist),
            stages: stages.collect(),
        })
    }

    /// Appends text tables: a summary, or every stage and every path if `all`.
    pub(super) fn to_text(&self, out: &mut String, all: bool) {
        let (latency, bits) = (counted(self.latency, "clock"), counted(self.register_bits, "register bit"));
        let _ = writeln!(out, "\nlatency {latency}, {bits}{}", self.quality);
        let in_units = |delay: f64| with_unit(&delay_digits(delay, self.delay_unit), self.delay_unit);
        let (delay, source, stages) =
            (in_units(self.stage_delay), self.delay_source, counted(self.stages.len(), "stage"));
        let _ = match self.smallest_stage_delay {
            Some(least) if least < self.stage_delay => {
                writeln!(out, "critical stage delay {delay}, at least {} (by {source})", in_units(least))
            }
            Some(_) => {
                writeln!(out, "critical stage delay {delay}, the smallest possible with {stages} (by {source})")
            }
            None => {
                writeln!(out, "critical stage {delay}, registers included (estimate of the finished netlist)")
            }
        };
        let _ = writeln!(
            out,
            "\n{:<8}{:>11}{:>9}{:>15}   made here, balancing, inputs, outputs, valid; delays in {}",
            "stage", "operations", "delay", "register bits", self.delay_unit
        );
        if self.input_register_bits > 0 {
            let _ = writeln!(out, "{:<8}{:>35}", "inputs", self.input_register_bits);
        }
        let most = if all { self.stages.len() } else { STAGES };
        for stage in self.stages.iter().take(most) {
            let Origin { made_here, balancing, inputs, outputs, valid } = stage.registers;
            let _ = writeln!(
                out,
                "{:<8}{:>11}{:>9}{:>15}   {made_here} + {balancing} + {inputs} + {outputs} + {valid}",
                stage.stage,
                stage.operations,
                delay_digits(stage.delay, self.delay_unit),
                stage.register_bits
            );
        }
        if self.stages.len() > most {
            let _ = writeln!(out, "and {} more stages (-v lists all)", self.stages.len() - most);
        }
        if self.output_register_bits > 0 {
            let _ = writeln!(out, "{:<8}{:>35}", "outputs", self.output_register_bits);
        }
        let slowest = self.stages.iter().rev().max_by(|a, b| a.delay.total_cmp(&b.delay)).map(|stage| stage.stage);
        for stage in self.stages.iter().filter(|stage| all || Some(stage.stage) == slowest) {
            let _ = writeln!(out, "\ncritical path of stage {}, {}:", stage.stage, in_units(stage.delay));
            let mut line = String::new();
            for part in &stage.path {
                let text = format!("{} {} {}", part.name, part.operation, short(part.delay));
                if !line.is_empty() && line.len() + text.len() > 100 {
                    let _ = writeln!(out, "  {line}");
                    line.clear();
                }
                line.push_str(if line.is_empty() { "" } else { ", " });
                line.push_str(&text);
            }
            let _ = writeln!(out, "  {line}");
        }
    }
}
