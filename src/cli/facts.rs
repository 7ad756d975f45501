//! Information for library callers about files, ports and compiled hardware.

use super::HeldProgram;
use super::idle::{self, GivenOptions, Registers};
use super::info::{occupancy, plot};
use super::input::Design;
use super::source::Kind;
use crate::compile::{Hardware, SharingPlan};
use crate::diag::Diagnostics;
use crate::network::matrix;
use crate::num::Kif;
use crate::options::HardwareOptions;
use serde::Serialize;
use std::path::Path;

/// A pipeline stage.
#[derive(Clone, Debug, Serialize)]
pub struct StageFacts {
    /// Number of the stage, from 1.
    pub stage: usize,
    /// Delay of the stage, in the unit of the delays.
    pub delay: f64,
    /// Operations in the stage.
    pub operations: usize,
    /// Bits of the registers after the stage.
    pub register_bits: u64,
}

/// Stages of compiled hardware, and a chart of them.
#[derive(Clone, Debug)]
pub struct HardwareFacts {
    /// Pipeline stages; none of shared hardware, state machines and combinational hardware.
    pub stages: Vec<StageFacts>,
    /// Unit of the delays; empty without stages.
    pub delay_unit: &'static str,
    /// Chart of the stages, or of the shared hardware over time, in SVG; empty without either.
    pub chart: String,
}

/// Returns the stages of hardware.
pub fn hardware_facts(hardware: &Hardware<'_>) -> HardwareFacts {
    let (netlist, spec) = (&hardware.netlist, hardware.spec());
    let top = hardware.top();
    let mut facts = HardwareFacts { stages: Vec::new(), delay_unit: "", chart: String::new() };
    if let Some(reused) = hardware.reused() {
        facts.chart = match &reused.plan {
            SharingPlan::Fold(plan) => occupancy::svg(&format!("Copies of {top}"), plan),
            SharingPlan::Serial(graph, plan) => occupancy::streams(&format!("Streams of {top}"), graph, plan),
        };
    }
    let Some(scheduled) = hardware.scheduled().filter(|scheduled| scheduled.outcome.schedule.stages > 0) else {
        return facts;
    };
    facts.delay_unit = spec.unit(&scheduled.program).0;
    let bits = netlist.stage_register_bits();
    let (times, view) = (scheduled.stage_times(spec, netlist), scheduled.stages(spec));
    let stage = |(k, &delay): (usize, &f64)| StageFacts {
        stage: k + 1,
        delay,
        operations: view.stages.get(k).map_or(0, |stage| stage.operations),
        register_bits: bits.get(k + 1).copied().unwrap_or(0),
    };
    facts.stages = times.iter().enumerate().map(stage).collect();
    let column = |stage: &StageFacts| plot::Column {
        label: stage.stage.to_string(),
        delay: stage.delay,
        register_bits: stage.register_bits,
    };
    let columns: Vec<plot::Column> = facts.stages.iter().map(column).collect();
    facts.chart = plot::stages(&format!("Stages of {top}"), facts.delay_unit, &columns);
    facts
}

/// Returns the warnings about options that have no effect on hardware, or little.
pub fn hardware_warnings(held: &HeldProgram, options: &HardwareOptions, hardware: &Hardware<'_>) -> Diagnostics {
    let registers = Registers::from_interface(&hardware.netlist.interface);
    let mut found = idle::warnings(GivenOptions::new(options), &held.design, registers, true);
    found.0.extend(idle::saves_little(hardware));
    if let Some(scheduled) = hardware.scheduled() {
        found.0.extend(idle::stages_without_logic(hardware.spec(), scheduled, &hardware.netlist));
    }
    found
}

/// Element of the ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortElement {
    /// Type of the element.
    pub kif: Kif,
    /// Name in the source; empty without one.
    pub name: String,
}

/// Returns the input elements and the output elements of a design.
pub fn port_types(held: &HeldProgram) -> (Vec<PortElement>, Vec<PortElement>) {
    match &held.design {
        Design::Model(model) => {
            let labels = held.labels();
            let name = |names: &[String], k: usize| names.get(k).cloned().unwrap_or_default();
            let inputs = model.input_kifs().iter().enumerate();
            let inputs = inputs.map(|(k, &kif)| PortElement { kif, name: name(&labels.inputs, k) });
            let outputs = 0..model.outputs().len();
            let outputs = outputs.map(|k| PortElement { kif: model.output_kif(k), name: name(&labels.outputs, k) });
            (inputs.collect(), outputs.collect())
        }
        Design::Machine(machine) => {
            let elements = |signals: &mut dyn Iterator<Item = crate::ir::machine::SignalId>| {
                let mut all = Vec::new();
                for signal in signals.map(|id| machine.signal(id)) {
                    let element = |(k, &kif): (usize, &Kif)| PortElement { kif, name: format!("{}[{k}]", signal.name) };
                    all.extend(signal.elements.iter().enumerate().map(element));
                }
                all
            };
            (elements(&mut machine.inputs()), elements(&mut machine.outputs()))
        }
    }
}

/// Returns the kind of a file: `design` (a program, state machine or kernel), `graph` (IR v2), `onnx` or `matrix`.
pub fn file_kind(content: &[u8], path: &Path) -> &'static str {
    if content.starts_with(matrix::MAGIC) {
        return "matrix";
    }
    match Kind::detect_file(content, path) {
        Some(Kind::Graph) => "graph",
        Some(Kind::Onnx) => "onnx",
        None => "design",
    }
}
