//! Devices and delays as they are typed.

use crate::compile::DelayModel;
use crate::device::{Device, Estimate};
use crate::diag::four_digits;
use crate::project;
use clap::ValueEnum;
use std::borrow::Cow;
use std::fmt::Write;

/// Where delays come from, and which device is meant.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Device")]
pub(super) struct DeviceArgs {
    /// Device whose area and clock are estimated: xcvu13p, xcku5p, ultrascale+, 7series, ecp5, ice40, agilex, generic,
    /// or a part number that is known
    #[arg(long, value_name = "DEVICE", value_parser = device)]
    pub(super) device: Option<Device>,
    /// Where the scheduler takes the time of an operation from [default: device where one is named, and for --pipeline
    /// auto with --clock-period, both without --delay-unit; else latency-fields]
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
        return Ok(part.figures());
    }
    let names = Device::ALL.map(Device::name);
    let guess = super::near(text, names.into_iter()).map(|name| format!("did you mean {name}? ")).unwrap_or_default();
    Err(format!(
        "no such device; {guess}known are {}, and part numbers that begin with {}",
        names.join(", "),
        project::families().join(", ")
    ))
}

impl DelayModelArg {
    /// What is meant.
    pub(super) fn model(self) -> DelayModel {
        match self {
            DelayModelArg::LatencyFields => DelayModel::LatencyFields,
            DelayModelArg::Device => DelayModel::Device,
            DelayModelArg::Width => DelayModel::Width,
        }
    }
}

/// An estimate for people; `of` says which hardware it is about.
pub(super) fn show(estimate: &Estimate, of: &str, out: &mut String) {
    let error = |share: Option<f64>| match share {
        Some(share) => Cow::Owned(format!(" (nine of ten within {:.0} %)", 100.0 * share)),
        None => Cow::Borrowed(" (by published figures, not compared with tools)"),
    };
    let Estimate { device, ff, dsp, ram, .. } = estimate;
    let [lut, carry] = [estimate.lut, estimate.carry].map(|count| four_digits(count as f64));
    let (period_ns, clock_mhz) = (four_digits(estimate.period_ns), four_digits(estimate.clock_mhz));
    let _ = writeln!(out, "\nestimate for {device}{of}");
    let _ = writeln!(out, "{:<12}{lut:>9}{}", "LUT", error(estimate.lut_error));
    let _ = writeln!(out, "{:<12}{ff:>9}", "FF");
    let _ = writeln!(out, "{:<12}{carry:>9}", "carry cells");
    for (name, count) in [("DSP", dsp), ("block RAM", ram)] {
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
