//! Table of the trade-off between numbers of stages: stage delay, latency and register bits. For a named device also
//! clock, area, and the verdict of the proof of each row.

use super::super::{ExitStatus, Failure};
use super::short;
use crate::compile::{self, Clock, Optimised, ProvedPasses, Spec, Stages};
use crate::diag::{delay_digits, four_digits_up};
use crate::emit::Language;
use crate::report;
use alir_core::parallel;
use serde::Serialize;
use std::fmt::Write;
use std::thread;
use std::time::{Duration, Instant};

/// Error code of a schedule that does not meet the clock period.
const PERIOD_UNMET: &str = "E0506";

/// Results for one number of stages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Row {
    /// Number of stages.
    pub(super) stages: u32,
    /// Delay of the critical stage.
    pub(super) stage_delay: f64,
    /// Latency in clock cycles.
    pub(super) latency: u32,
    /// Stage delay times latency: time from input to result at the fastest clock. For combinational hardware the stage
    /// delay.
    pub(super) delay_in_all: f64,
    /// Register bits of the hardware.
    pub(super) register_bits: u64,
    /// Register bits that the schedule places within DSPs.
    pub(super) register_bits_in_blocks: u64,
    /// Lower bound of the register bits for this number of stages and these delays; a bit in a DSP counts less.
    pub(super) register_bits_at_least: u64,
    /// Estimated resources on the device, if one is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) on_device: Option<OnDevice>,
    /// `true` if the required clock period is met; `None` if there is no such requirement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) meets_period: Option<bool>,
    /// Verdict of the proof that the row's Verilog is equal to the design for every input; `None` if it is not
    /// requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) proof: Option<RowProof>,
    #[serde(skip)]
    pub(super) proved: bool,
}

/// Estimated hardware of a row on the device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct OnDevice {
    pub(super) lut: u64,
    pub(super) ff: u64,
    pub(super) dsp: u64,
    pub(super) ram: u64,
    /// Fastest clock in MHz.
    pub(super) clock_mhz: f64,
    /// Time from input to result at the fastest clock, in nanoseconds.
    pub(super) latency_ns: f64,
    /// `true` if no other row has as fast a clock with fewer LUTs and flip-flops, or a faster clock with as many.
    pub(super) best: bool,
}

impl OnDevice {
    /// Returns the number of LUTs and flip-flops.
    pub(super) fn area(&self) -> u64 {
        self.lut + self.ff
    }
}

/// Verdict of the proof of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RowProof {
    Proved,
    Unknown,
}

/// Schedules the program for each of the numbers of stages, of which there must be at least one. `single` is the
/// program after optimisation for one stage. With a named device, each row includes an estimate.
pub(super) fn sweep(single: &Optimised<'_>, spec: &Spec, counts: &[u32]) -> Result<Vec<Row>, Failure> {
    let required = spec.clock.period;
    let unbounded = |spec: &Spec| Spec { clock: Clock { period: None, ..spec.clock }, ..spec.clone() };
    let most = in_stages(&unbounded(spec), counts.iter().copied().max().unwrap_or(1));
    let several = match most.pipelines_multipliers() {
        true => compile::optimise(single.source, &most)?,
        false => single.borrowed(),
    };
    let one = in_stages(spec, 1);
    let single = match required.is_some() && most.pipelines_multipliers() {
        true => &compile::optimise(single.source, &one)?,
        false => single,
    };
    let row = |stages: u32| -> Result<Row, Failure> {
        let spec = in_stages(spec, stages);
        let optimised = if stages <= 1 { single } else { &several };
        // With a required period, the number of stages determines whether pipelined multiplications are worth their
        // adders.
        let scheduled = match required.is_some() && spec.pipelines_multipliers() {
            true => compile::optimise(single.source, &spec)?.schedule(&spec),
            false => optimised.borrowed().schedule(&spec),
        };
        let (scheduled, spec) = match (scheduled, spec.clock.period) {
            (Err(error), Some(_)) if error.diagnostics.0.iter().all(|d| d.code == PERIOD_UNMET) => {
                let spec = unbounded(&spec);
                (optimised.borrowed().schedule(&spec)?, spec)
            }
            (scheduled, _) => (scheduled?, spec),
        };
        let (netlist, _) = scheduled.lower(&spec, &spec.top())?;
        let outcome = &scheduled.outcome;
        let stage_delay = scheduled.stage_times(&spec, &netlist).into_iter().fold(0.0, f64::max);
        let latency = outcome.schedule.latency();
        let on_device = spec.target.device.map(|_| {
            let estimate = spec.estimate(&netlist);
            let latency_ns = (estimate.period_ns * f64::from(latency.max(1)) * 1000.0).round() / 1000.0;
            let crate::device::Estimate { lut, ff, dsp, ram, clock_mhz, .. } = estimate;
            OnDevice { lut, ff, dsp, ram, clock_mhz, latency_ns, best: true }
        });
        Ok(Row {
            stages,
            stage_delay,
            latency,
            delay_in_all: stage_delay * f64::from(latency.max(1)),
            register_bits: netlist.register_bits(),
            register_bits_in_blocks: outcome.bits_in_blocks,
            register_bits_at_least: outcome.lower_bound.div_ceil(outcome.weight),
            on_device,
            meets_period: required.map(|_| spec.clock.period.is_some()),
            proof: None,
            proved: outcome.gap() == 0.0,
        })
    };
    let mut rows = parallel::map(counts, threads(single), |&count| row(count))
        .into_iter()
        .collect::<Result<Vec<Row>, Failure>>()?;
    mark_best(&mut rows);
    Ok(rows)
}

/// Returns the number of rows to build in parallel. Each row needs memory for its own schedule and netlist.
fn threads(program: &Optimised<'_>) -> usize {
    let by_memory = OPERATIONS_AT_ONCE / program.program.nodes().len().max(1);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    by_memory.clamp(1, cores)
}

/// Maximum number of operations of all rows that are built in parallel; an operation needs about a kilobyte.
const OPERATIONS_AT_ONCE: usize = 500_000;

/// Returns the options with `stages` pipeline stages and without valid flag.
fn in_stages(spec: &Spec, stages: u32) -> Spec {
    let mut spec = spec.clone();
    spec.pipeline.stages = Some(Stages::Exactly(stages));
    spec.module.valid = false;
    spec
}

/// Marks the rows on the Pareto front of clock and area.
fn mark_best(rows: &mut [Row]) {
    let points: Vec<_> = rows.iter().map(|row| row.on_device.map(|on| (on.clock_mhz, on.area() as f64))).collect();
    for (row, best) in rows.iter_mut().zip(report::pareto(&points)) {
        row.on_device = row.on_device.map(|on| OnDevice { best, ..on });
    }
}

/// Generates the Verilog of each row and proves it; returns the time that this takes. The verdict is `unknown` if a
/// proof reaches its limits.
pub(super) fn prove(rows: &mut [Row], single: &Optimised<'_>, spec: &Spec) -> Result<Duration, Failure> {
    let start = Instant::now();
    let mut passes = ProvedPasses::new(single.source);
    for row in rows {
        let mut spec = in_stages(spec, row.stages);
        spec.prove = true;
        let proved = compile::compile_with_proof_cache(&mut passes, &spec, &|_| {})
            .and_then(|hardware| hardware.proved_text(Language::Verilog, &|_| {}));
        row.proof = Some(match proved.map_err(Failure::from) {
            Ok(_) => RowProof::Proved,
            Err(failure) if failure.status == ExitStatus::Undecided => RowProof::Unknown,
            Err(failure) => return Err(failure),
        });
    }
    Ok(start.elapsed())
}

/// Appends the rows as an aligned table.
pub(super) fn to_text(rows: &[Row], unit: &str, out: &mut String) {
    let has_device = rows.iter().any(|row| row.on_device.is_some());
    let device = if has_device { "      MHz      LUT       FF   DSP  BRAM  latency ns   " } else { "" };
    let proof = if rows.iter().any(|row| row.proof.is_some()) { "Verilog   " } else { "" };
    let period = if rows.iter().any(|row| row.meets_period.is_some()) { "meets period   " } else { "" };
    // On a device, the column `latency ns` replaces the column `delay in all`, as it includes the registers.
    let whole = if has_device { String::new() } else { format!("{:>15}", "delay in all") };
    // The lower bound is for the delays that the scheduler used; delays on a device also depend on the schedule.
    let bound = if unit == "ns" { "for these delays of operations" } else { "at this delay" };
    let _ = writeln!(
        out,
        "\n{:<8}{:>12}{:>9}{whole}{:>15}{device}   {period}{proof}fewest register bits {bound}, in {unit}",
        "stages", "stage delay", "latency", "register bits"
    );
    for row in rows {
        let mut quality = match row.proved {
            true => "proved".to_owned(),
            false => format!("at least {}", row.register_bits_at_least),
        };
        if row.register_bits_in_blocks > 0 {
            let _ = write!(quality, ", {} in DSPs", row.register_bits_in_blocks);
        }
        let device = row.on_device.map_or(String::new(), |on| {
            let OnDevice { ff, dsp, ram, clock_mhz, latency_ns, best, .. } = on;
            let lut = short(on.lut as f64);
            let best = if best { " *" } else { "  " };
            format!("{:>9}{lut:>9}{ff:>9}{dsp:>6}{ram:>6}{:>12}{best} ", short(clock_mhz), four_digits_up(latency_ns))
        });
        let proof = match row.proof {
            Some(RowProof::Proved) => "proved    ",
            Some(RowProof::Unknown) => "unknown   ",
            None => "",
        };
        let period = match row.meets_period {
            Some(true) => "yes            ",
            Some(false) => "no             ",
            None => "",
        };
        let delay = delay_digits(row.stage_delay, unit);
        let all = if has_device { String::new() } else { format!("{:>15}", short(row.delay_in_all)) };
        let (stages, latency, bits) = (row.stages, row.latency, row.register_bits);
        let _ = writeln!(out, "{stages:<8}{delay:>12}{latency:>9}{all}{bits:>15}{device}   {period}{proof}{quality}");
    }
    if has_device {
        out.push_str("* no other row has as fast a clock for fewer LUT and FF, or a faster one for as many\n");
        out.push_str(
            "the estimate above the table is that of the combinational module, whose sums may have three operands\n",
        );
    }
}
