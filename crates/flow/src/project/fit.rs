//! Warnings about parts of a folder that the generated hardware does not fit by the estimate.

use super::{Flow, FolderSpec, nextpnr_device};
use crate::compile::{Hardware, Spec, Target};
use alir_core::diag::{Diagnostic, Place, four_digits, four_digits_up};
use alir_hw::device::Device;
use alir_hw::netlist::Netlist;

impl FolderSpec<'_> {
    /// Returns a warning for each part of the folder, except that of the schedule, on which the estimated clock period
    /// is longer than the required one. Parts of families without delays of their own are skipped.
    pub(super) fn missed_clocks(&self, hardware: &Hardware<'_>) -> Vec<Diagnostic> {
        let spec = hardware.spec();
        let warning = |flow: Flow| {
            let (part, family) = self.part(flow);
            let device = family.figures();
            if device == spec.device() || device == Device::Generic {
                return None;
            }
            let period = estimated_period(spec, device, &hardware.netlist);
            let excess = period - self.clock_ns;
            if excess <= 0.0005 {
                return None;
            }
            let message = format!(
                "estimated clock period {} ns on {part}, {} ns too long: the schedule is for {}",
                four_digits_up(period),
                four_digits(excess),
                spec.device().name()
            );
            let help = format!("the first --device decides the schedule: name {part} first, or write a folder for it");
            Some(Diagnostic::warning("W0806", Place::Flag("--device".into()), message).with_help(help))
        };
        let mut devices = Vec::new();
        let mut warnings = Vec::new();
        for flow in self.flows.iter().copied().filter(|flow| flow.has_part()) {
            let device = self.part(flow).1.figures();
            if !devices.contains(&device) {
                devices.push(device);
                warnings.extend(warning(flow));
            }
        }
        warnings
    }

    /// Returns warnings about a part of nextpnr with fewer LUTs than the estimate, or with fewer pins than the ports
    /// have bits if the flow cannot place the design without pins.
    pub(super) fn too_small(&self, hardware: &Hardware<'_>) -> Vec<Diagnostic> {
        let (part, family) = self.part(Flow::Yosys);
        let Some(device) = self.flows.contains(&Flow::Yosys).then(|| nextpnr_device(part).ok()).flatten() else {
            return Vec::new();
        };
        let mut warnings = Vec::new();
        let mut warn = |message: String, help: &str| {
            warnings.push(Diagnostic::warning("W0807", Place::Flag("--device".into()), message).with_help(help));
        };
        let bits = match &hardware.axis {
            Some(axis) => axis.ports().iter().map(|(_, _, width)| width.unwrap_or(1)).sum(),
            None => hardware.netlist.ports().iter().map(|port| port.width).sum::<u32>(),
        };
        if bits > device.pins && !device.places_without_pins() {
            let message = format!(
                "{bits} bits of ports, and the package of {part} has {} pins: nextpnr cannot place them",
                device.pins
            );
            warn(message, "streams of few bits (--wrapper axis --axis-width 8) or another package can be placed");
        }
        let luts = estimated_luts(hardware, family.figures());
        if luts > u64::from(device.luts) {
            let message = format!("{luts} LUTs by the estimate, and {part} has {}", device.luts);
            warn(message, "a larger part, or --ii K for less hardware");
        }
        warnings
    }
}

/// Returns the specification for another device.
fn on_device(spec: &Spec, device: Device) -> Spec {
    Spec { target: Target { device: Some(device), ..spec.target.clone() }, ..spec.clone() }
}

fn estimated_period(spec: &Spec, device: Device, netlist: &Netlist) -> f64 {
    on_device(spec, device).estimate(netlist).period_ns
}

/// Returns the estimated number of LUTs on a device, including the LUTs of the wrapper's FIFO.
fn estimated_luts(hardware: &Hardware<'_>, device: Device) -> u64 {
    let of_wrapper = hardware.axis.as_ref().map_or(0, |axis| axis.memory_luts());
    on_device(hardware.spec(), device).estimate(&hardware.netlist).lut + of_wrapper
}
