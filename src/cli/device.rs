//! Devices and delays as they are typed.

use super::Failure;
use super::hardware::PipelineArgs;
use crate::device::{Delays, Device, Estimate, Resources, TableStyle};
use crate::diag::{Diagnostic, Place};
use crate::ir::Model;
use crate::netlist::{self, Multipliers, Netlist};
use crate::project;
use crate::schedule::{ByWidth, Delay, LatencyFields, Schedule};
use clap::ValueEnum;
use std::borrow::Cow;
use std::fmt::Write;

/// Where delays come from, and which device is meant.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Device")]
pub(super) struct DeviceArgs {
    /// Device whose area and clock are estimated: xcvu13p, xcku5p, ultrascale+, 7series, ecp5, ice40, agilex, generic, or a
    /// part number that is known
    #[arg(long, value_name = "DEVICE", value_parser = device)]
    pub(super) device: Option<Device>,
    /// Where the scheduler takes the time of an operation from [default: latency-fields; device for --pipeline auto
    /// with --clock-period and no --delay-unit]
    #[arg(long, value_enum, value_name = "MODEL")]
    pub(super) delay_model: Option<DelayModelArg>,
}

/// Sources of delays, as they are typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum DelayModelArg {
    /// The file's latencies; for a file that has none, widths
    LatencyFields,
    /// The device's tables and carry chains, in nanoseconds
    Device,
    /// Widths, in levels of LUTs
    Width,
}

fn device(text: &str) -> Result<Device, String> {
    if let Some(device) = Device::by_name(text) {
        return Ok(device);
    }
    if let Ok(part) = project::find(text) {
        return Ok(of_family(part.family));
    }
    let names = Device::ALL.map(Device::name);
    let distance = |name: &&str| project::edits(text.to_ascii_lowercase().as_bytes(), name.as_bytes());
    let near = names.into_iter().min_by_key(distance).unwrap_or("generic");
    Err(format!("no such device; the nearest is {near}; known are {}, and part numbers", names.join(", ")))
}

/// The device by whose figures a family of parts is judged.
fn of_family(family: &str) -> Device {
    match family {
        "Virtex UltraScale+" => Device::Xcvu13p,
        "Kintex UltraScale+" => Device::Xcku5p,
        "ECP5" => Device::Ecp5,
        _ if family.ends_with("-7") || family == "Zynq-7000" => Device::Series7,
        _ if family.contains("UltraScale+") || matches!(family, "Alveo" | "Kria") => Device::UltrascalePlus,
        _ if family.starts_with("Agilex") => Device::Agilex,
        _ => Device::Generic,
    }
}

/// The device of the first part that is known.
pub(super) fn of_parts(parts: &[String]) -> Option<Device> {
    parts.iter().find_map(|part| project::find(part).ok()).map(|part| of_family(part.family))
}

impl PipelineArgs {
    /// The device that is meant.
    pub(super) fn device(&self) -> Device {
        self.device.device.unwrap_or_default()
    }

    /// Where delays come from.
    pub(super) fn delay_model(&self) -> DelayModelArg {
        let by_clock = self.is_automatic() && self.clock_period.is_some() && self.delay_unit.is_none();
        self.device.delay_model.unwrap_or(match by_clock {
            true => DelayModelArg::Device,
            false => DelayModelArg::LatencyFields,
        })
    }

    /// The delays of a program's operations.
    pub(super) fn delays(&self, model: &Model) -> Box<dyn Delay> {
        match self.delay_model() {
            DelayModelArg::LatencyFields if model.has_delays() => Box::new(LatencyFields),
            DelayModelArg::LatencyFields | DelayModelArg::Width => Box::new(ByWidth),
            DelayModelArg::Device => Box::new(Delays::of(model, self.device(), self.fabric())),
        }
    }

    /// What a unit of the delays is called, and where they come from.
    pub(super) fn unit(&self, model: &Model) -> (&'static str, &'static str) {
        match self.delay_model() {
            DelayModelArg::LatencyFields if model.has_delays() => ("latency units", "latency fields"),
            DelayModelArg::LatencyFields | DelayModelArg::Width => ("LUT levels", "widths"),
            DelayModelArg::Device => ("ns", "device"),
        }
    }

    /// What a netlist takes of the device.
    pub(super) fn estimate(&self, netlist: &Netlist, tables: TableStyle) -> Estimate {
        let multiplier_blocks = self.fabric().multipliers != Multipliers::Rows;
        Estimate::of(netlist, self.device(), Resources { multiplier_blocks, tables })
    }

    /// What a program takes of the device without registers.
    pub(super) fn estimate_combinational(&self, model: &Model, tables: TableStyle) -> Estimate {
        let schedule = Schedule::combinational(model.nodes().len());
        let netlist = netlist::lower(model, &schedule, &self.for_device(netlist::Options::default()));
        self.estimate(&netlist, tables)
    }

    /// What a register takes of the clock period on the device, in nanoseconds.
    pub(super) fn register_time(&self) -> f64 {
        self.device().technology().times.register
    }

    /// What the clock period leaves for logic on the device.
    ///
    /// # Errors
    /// If it leaves nothing (exit code 2).
    pub(super) fn time_for_logic(&self, period: f64) -> Result<f64, Failure> {
        let register = self.register_time();
        if period > register {
            return Ok(period - register);
        }
        let message = format!("a register of {} alone takes {register} ns", self.device().name());
        let help = "ask for a longer period, or for another --device";
        Err(Failure::input(Diagnostic::error("E0506", Place::Flag("--clock-period".into()), message).with_help(help)))
    }
}

/// The complaint that nothing was found that meets the clock.
pub(super) fn too_fast(period: f64, best: &Estimate) -> Failure {
    let message = format!("no pipeline was found that meets {period} ns on {}", best.device);
    let help = format!("the best takes {} ns by the estimate; ask for that or more", best.period_ns);
    Failure::input(Diagnostic::error("E0506", Place::Flag("--clock-period".into()), message).with_help(help))
}

/// An estimate for people.
pub(super) fn show(estimate: &Estimate, out: &mut String) {
    let error = |share: Option<f64>| match share {
        Some(share) => Cow::Owned(format!(" (nine of ten within {:.0} %)", 100.0 * share)),
        None => Cow::Borrowed(" (by published figures, not compared with tools)"),
    };
    let Estimate { device, lut, ff, carry, dsp, ram, period_ns, clock_mhz, .. } = estimate;
    let _ = writeln!(out, "\nestimate for {device}");
    let _ = writeln!(out, "{:<12}{lut:>9}{}", "LUT", error(estimate.lut_error));
    for (name, count) in [("FF", ff), ("carry cells", carry), ("DSP", dsp), ("block RAM", ram)] {
        let _ = writeln!(out, "{name:<12}{count:>9}");
    }
    let path = estimate.longest_path;
    let _ = writeln!(out, "{:<12}{clock_mhz:>9}   MHz, {period_ns} ns{}", "clock", error(estimate.clock_error));
    let _ = writeln!(
        out,
        "{:<12}{:>9}   LUTs, {} carry chains over {} bits, {} multipliers",
        "longest path", path.tables, path.chains, path.carry_bits, path.multipliers
    );
}

/// Rounds in which the bound is tightened until the netlist meets the clock.
const ROUNDS: u32 = 8;

/// Schedules with tighter and tighter bounds until the estimate of what comes out meets `period`: delays of operations add up
/// to a little less than a stage takes, where a chain of carries begins anew behind a register.
pub(super) fn meet<T>(
    period: f64,
    bound: f64,
    mut attempt: impl FnMut(f64) -> Result<(T, Estimate), Failure>,
) -> Result<T, Failure> {
    let register = period - bound;
    let mut bound = bound;
    let (mut found, mut estimate) = attempt(bound)?;
    let mut best = estimate.clone();
    for _ in 0..ROUNDS {
        if estimate.period_ns <= period {
            return Ok(found);
        }
        bound *= ((period - register) / (estimate.period_ns - register)).clamp(0.5, 0.98);
        let Ok(next) = attempt(bound) else { break };
        (found, estimate) = next;
        if estimate.period_ns < best.period_ns {
            best = estimate.clone();
        }
    }
    if estimate.period_ns <= period { Ok(found) } else { Err(too_fast(period, &best)) }
}
