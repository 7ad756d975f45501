//! The trade-off at a glance: stage delay, latency and register bits by the number of stages.

use super::super::Failure;
use super::short;
use crate::compile::{self, Optimised, Spec, Stages};
use serde::Serialize;
use std::fmt::Write;

/// One row for each number of stages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Row {
    /// Number of stages.
    pub(super) stages: u32,
    /// The longest path between registers.
    pub(super) stage_delay: f64,
    /// Clocks from input to result.
    pub(super) latency: u32,
    /// Stage delay times latency: the time from input to result at the fastest clock.
    pub(super) delay_in_all: f64,
    /// Register bits of the hardware.
    pub(super) register_bits: u64,
    /// Those that the schedule places within multiplier blocks.
    pub(super) register_bits_in_blocks: u64,
    /// No pipeline of these stages and this delay has fewer, those within blocks counted as less.
    pub(super) register_bits_at_least: u64,
    #[serde(skip)]
    pub(super) proved: bool,
}

/// Schedules the program for 1 to `last` stages; `single`: the program as it is optimised for one.
pub(super) fn sweep(single: &Optimised<'_>, spec: &Spec, last: u32) -> Result<Vec<Row>, Failure> {
    let in_stages = |stages: u32| {
        let mut spec = spec.clone();
        spec.pipeline.stages = Some(Stages::Exactly(stages));
        spec.module.valid = false;
        spec
    };
    let several = match in_stages(last).cuts_products() {
        true => compile::optimise(single.source, &in_stages(last))?,
        false => single.borrowed(),
    };
    let row = |stages: u32| {
        let spec = in_stages(stages);
        let optimised = if stages == 1 { single } else { &several };
        let scheduled = optimised.borrowed().schedule(&spec)?;
        let (netlist, _) = scheduled.lower(&spec, &spec.top())?;
        let (outcome, stage_delay) = (&scheduled.outcome, scheduled.longest());
        let latency = outcome.schedule.latency();
        Ok(Row {
            stages,
            stage_delay,
            latency,
            delay_in_all: stage_delay * f64::from(latency),
            register_bits: netlist.register_bits(),
            register_bits_in_blocks: outcome.bits_in_blocks,
            register_bits_at_least: outcome.lower_bound.div_ceil(outcome.weight),
            proved: outcome.gap() == 0.0,
        })
    };
    (1..=last).map(row).collect()
}

/// The table for people.
pub(super) fn to_text(rows: &[Row], unit: &str, out: &mut String) {
    let _ = writeln!(
        out,
        "\n{:<8}{:>12}{:>9}{:>15}{:>15}   fewest possible; delays in {unit}",
        "stages", "stage delay", "latency", "delay in all", "register bits"
    );
    for row in rows {
        let mut quality = match row.proved {
            true => "proved".to_owned(),
            false => format!("at least {}", row.register_bits_at_least),
        };
        if row.register_bits_in_blocks > 0 {
            let _ = write!(quality, ", {} within multiplier blocks", row.register_bits_in_blocks);
        }
        let (delay, all) = (short(row.stage_delay), short(row.delay_in_all));
        let (stages, latency, bits) = (row.stages, row.latency, row.register_bits);
        let _ = writeln!(out, "{stages:<8}{delay:>12}{latency:>9}{all:>15}{bits:>15}   {quality}");
    }
}
