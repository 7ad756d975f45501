//! Options for devices and delay models.

use crate::compile::DelayModel;
use crate::device::Estimate;
use crate::diag::{counted, four_digits, four_digits_up};
use crate::options::NamedDevice;
use clap::{ArgAction, ValueEnum};
use std::borrow::Cow;
use std::fmt::Write;

/// Source of the delays, and device.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Pipeline and device")]
pub(super) struct DeviceArgs {
    /// Use delays of this family or part, and estimate area and clock (see `alir2hdl devices`)
    #[arg(id = "device", long, alias = "part", value_name = "DEVICE", action = ArgAction::Set, num_args = 1,
          value_parser = NamedDevice::parse)]
    devices: Vec<NamedDevice>,
    /// Take delays from latency-fields, device or width [default: device with --device or a clock, else latency-fields]
    #[arg(long, value_enum, value_name = "MODEL", hide_short_help = true)]
    pub(super) delay_model: Option<DelayModelArg>,
}

impl DeviceArgs {
    /// Returns the devices of the command line.
    pub(super) fn named(&self) -> &[NamedDevice] {
        &self.devices
    }
}

/// Sources of delays on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum DelayModelArg {
    /// The file's latencies; for a file that has none, widths
    LatencyFields,
    /// The device's tables and carry chains, in nanoseconds
    Device,
    /// Widths, in levels of LUTs
    Width,
}

/// Accepts any word as a device, for commands that report unknown devices together with other problems.
pub(super) fn any_device(text: &str) -> Result<NamedDevice, String> {
    Ok(NamedDevice { text: text.to_owned() })
}

impl DelayModelArg {
    /// Returns the delay model of the device.
    pub(super) fn model(self) -> DelayModel {
        match self {
            DelayModelArg::LatencyFields => DelayModel::LatencyFields,
            DelayModelArg::Device => DelayModel::Device,
            DelayModelArg::Width => DelayModel::Width,
        }
    }
}

/// Appends an estimate as text; `of` names the hardware.
pub(super) fn show(estimate: &Estimate, of: &str, out: &mut String) {
    let error = |share: Option<f64>| match share {
        Some(share) => Cow::Owned(format!(" (nine of ten within {:.0} %)", 100.0 * share)),
        None => Cow::Borrowed(" (by published figures, not compared with tools)"),
    };
    let Estimate { device, ff, dsp, ram, .. } = estimate;
    let [lut, carry] = [estimate.lut, estimate.carry].map(|count| four_digits(count as f64));
    let (period_ns, clock_mhz) = (four_digits_up(estimate.period_ns), four_digits(estimate.clock_mhz));
    let _ = writeln!(out, "\nestimate for {device}{of}");
    let _ = writeln!(out, "{:<12}{lut:>9}{}", "LUT", error(estimate.lut_error));
    let _ = writeln!(out, "{:<12}{ff:>9}", "FF");
    let _ = writeln!(out, "{:<12}{carry:>9}", "carry cells");
    for (name, count) in [("DSP", dsp), ("BRAM", ram)] {
        let _ = writeln!(out, "{name:<12}{count:>9}");
    }
    let path = estimate.longest_path;
    if estimate.period_ns <= 0.0 {
        let _ = writeln!(out, "{:<12}{:>9}   no logic and no registers", "clock", "any");
        return;
    }
    let _ = writeln!(out, "{:<12}{clock_mhz:>9}   MHz, {period_ns} ns{}", "clock", error(estimate.clock_error));
    let _ = writeln!(
        out,
        "{:<12}{:>9}   LUT{}, {} over {}, {}",
        "longest path",
        path.tables,
        if path.tables == 1 { "" } else { "s" },
        counted(path.chains, "carry chain"),
        counted(path.carry_bits, "bit"),
        counted(path.multipliers, "multiplier")
    );
}
