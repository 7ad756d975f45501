//! Devices and delays as they are typed.

use crate::compile::DelayModel;
use crate::device::{Device, Estimate};
use crate::diag::four_digits;
use crate::project;
use clap::{ArgAction, ValueEnum};
use std::borrow::Cow;
use std::fmt::Write;

/// Where delays come from, and which device is meant.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Pipeline and device")]
pub(super) struct DeviceArgs {
    /// Take the times of this family or part, and estimate area and clock (see `alir2hdl devices`)
    #[arg(id = "device", long, alias = "part", value_name = "DEVICE", action = ArgAction::Set, num_args = 1,
          value_parser = known_device)]
    devices: Vec<NamedDevice>,
    /// Take delays from latency-fields, device or width [default: device with --device or a clock, else latency-fields]
    #[arg(long, value_enum, value_name = "MODEL", hide_short_help = true)]
    pub(super) delay_model: Option<DelayModelArg>,
}

impl DeviceArgs {
    /// The device whose figures count: the first family that is named, else that of the first part.
    pub(super) fn figures(&self) -> Option<Device> {
        let family_prefixes = self.devices.iter().find_map(|named| Device::by_name(&named.text));
        family_prefixes.or_else(|| self.devices.iter().find_map(NamedDevice::figures))
    }

    /// Returns `true` if no device is named.
    pub(super) fn is_unnamed(&self) -> bool {
        self.devices.is_empty()
    }

    /// The devices that are named.
    pub(super) fn named(&self) -> &[NamedDevice] {
        &self.devices
    }
}

/// A device as it is typed: a family, or a part number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedDevice {
    /// The name.
    pub(super) text: String,
}

impl NamedDevice {
    /// The device whose figures stand for it; `None` if it is not known.
    pub(super) fn figures(&self) -> Option<Device> {
        Device::by_name(&self.text).or_else(|| project::find(&self.text).ok().map(|part| part.figures()))
    }

    /// The part number, of a family a usual part of it; `None` if it has none that a flow knows.
    pub(super) fn part(&self) -> Option<&str> {
        match Device::by_name(&self.text) {
            Some(device) => usual_part(device),
            None => Some(&self.text).filter(|text| project::find(text).is_ok()).map(String::as_str),
        }
    }
}

/// A part that stands for a family in scripts of the vendor's tools.
fn usual_part(device: Device) -> Option<&'static str> {
    match device {
        Device::Xcvu13p | Device::UltrascalePlus => Some("xcvu13p-flga2577-2-e"),
        Device::Xcku5p => Some("xcku5p-ffvb676-2-e"),
        Device::Series7 => Some("xc7k325tffg900-2"),
        Device::Ecp5 => Some("LFE5U-25F"),
        Device::Agilex => Some("AGFB014R24A2E2V"),
        Device::Ice40 | Device::Generic => None,
    }
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

/// Returns the devices that a word which is none probably means: those of a family or a board.
pub(super) fn meant(text: &str) -> Option<String> {
    if let Some(board) = project::BOARDS.iter().find(|board| board.name.eq_ignore_ascii_case(text)) {
        return Some(format!("{} is a board (project --board); its device is {}", board.name, board.part));
    }
    let parts = project::family_prefixes(text);
    (!parts.is_empty()).then(|| format!("part numbers of {text} begin with {}", parts.join(", ")))
}

/// A device that is known.
pub(super) fn known_device(text: &str) -> Result<NamedDevice, String> {
    let named = NamedDevice { text: text.to_owned() };
    if named.figures().is_some() {
        return Ok(named);
    }
    if let Some(meant) = meant(text) {
        return Err(format!("no such device; {meant}"));
    }
    let names = Device::ALL.map(Device::name);
    let nearest = super::near(text, names.into_iter()).or_else(|| project::find(text).err().flatten());
    let guess = nearest.map(|name| format!("did you mean {name}? ")).unwrap_or_default();
    Err(format!("no such device; {guess}known are {}, and part numbers (`alir2hdl devices`)", names.join(", ")))
}

/// Any word as a device: for commands that report unknown ones together with other problems.
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
