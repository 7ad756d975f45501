//! Ports, registers, blocks and schedule of a state machine.

use super::super::{Failure, device, machine};
use super::{depth, short};
use crate::compile;
use crate::device::Estimate;
use crate::emit::ScheduleFacts;
use crate::ir::machine::{Block, Machine, Signal, SignalId, SignalKind};
use crate::num::Kif;
use crate::options::DescriptionOptions;
use crate::retime::RetimedPipeline;
use crate::schedule;
use serde::Serialize;
use std::fmt::Write;

/// Description of a state machine.
#[derive(Serialize)]
pub(super) struct MachineShape {
    /// Format of the file.
    form: String,
    inputs: Vec<PortShape>,
    outputs: Vec<PortShape>,
    register_bits: u64,
    register_bits_in_file: u64,
    registers: Vec<RegisterShape>,
    blocks: Vec<BlockShape>,
    schedules: Vec<ScheduleFacts>,
    /// Register bits of the hardware without retiming.
    register_bits_without_retiming: u64,
    pipelines: Vec<RetimedPipeline>,
    /// Estimated resources on the device.
    estimate: Estimate,
}

#[derive(Serialize)]
struct PortShape {
    port: String,
    name: String,
    bits: u32,
    types: Vec<String>,
}

#[derive(Serialize)]
struct RegisterShape {
    name: String,
    bits: u64,
    types: Vec<String>,
    /// Raw integer values at power-on and after reset.
    starts_as: Option<Vec<String>>,
    has_reset: bool,
}

#[derive(Serialize)]
struct BlockShape {
    name: String,
    operations: usize,
    operations_after_optimisation: usize,
    inputs: usize,
    outputs: usize,
    depth: u32,
    delay: f64,
}

/// Describes a state machine.
///
/// # Errors
/// If an option has no effect on state machines (exit code 2).
pub(super) fn describe_machine(
    request: &DescriptionOptions,
    machine: &Machine,
    form: String,
) -> Result<MachineShape, Failure> {
    let options = &request.hardware;
    let own = [("--sweep", request.sweep.is_some()), ("--valid", options.valid)];
    let own = own.into_iter().filter_map(|(flag, given)| given.then_some(flag));
    machine::refuse_flags(own.chain(options.given_of_pipeline()).chain(options.given_of_wrapper()))?;
    let hardware = compile::machine(machine, &options.spec("model"))?;
    let (netlist, optimised) = (&hardware.netlist, hardware.retimed().expect("a machine"));
    let bits_without = match optimised.pipelines.iter().any(|p| p.moved) {
        true => optimised.lower_without_retiming()?.register_bits(),
        false => netlist.register_bits(),
    };
    let types = |signal: &Signal| signal.elements.iter().map(Kif::to_string).collect::<Vec<_>>();
    let mut elements = netlist.interface.inputs.iter().chain(&netlist.interface.outputs);
    let mut ports = |signals: &mut dyn Iterator<Item = SignalId>| -> Vec<PortShape> {
        signals
            .map(|id| machine.signal(id))
            .map(|signal| {
                let of_port: Vec<_> = elements.by_ref().take(signal.elements.len()).collect();
                PortShape {
                    port: of_port.iter().find(|e| e.width > 0).map_or_else(String::new, |e| e.port.clone()),
                    name: signal.name.clone(),
                    bits: of_port.iter().map(|e| e.width).sum(),
                    types: types(signal),
                }
            })
            .collect()
    };
    let (inputs, outputs) = (ports(&mut machine.inputs()), ports(&mut machine.outputs()));
    let is_register = |signal: &&Signal| signal.kind == SignalKind::Register;
    let register = |signal: &Signal| RegisterShape {
        name: signal.name.clone(),
        bits: signal.elements.iter().map(|kif| u64::from(kif.width())).sum(),
        types: types(signal),
        starts_as: signal.reset_to.as_ref().map(|codes| codes.iter().map(ToString::to_string).collect()),
        has_reset: signal.reset_if.is_some(),
    };
    let block = |(before, after): (&Block, &Block)| {
        let (depth, delay) = depth(&after.model, schedule::default_delay(&after.model));
        BlockShape {
            name: before.name.clone(),
            operations: before.model.nodes().len(),
            operations_after_optimisation: after.model.nodes().len(),
            inputs: before.model.n_inputs(),
            outputs: before.model.outputs().len(),
            depth,
            delay,
        }
    };
    Ok(MachineShape {
        form,
        inputs,
        outputs,
        register_bits: netlist.register_bits(),
        register_bits_in_file: machine.register_bits(),
        registers: machine.signals().iter().filter(is_register).map(register).collect(),
        blocks: machine.blocks().iter().zip(optimised.blocks.blocks()).map(block).collect(),
        schedules: compile::schedule_facts(machine),
        register_bits_without_retiming: bits_without,
        pipelines: optimised.pipelines.clone(),
        estimate: hardware.estimate(),
    })
}

impl MachineShape {
    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        let out = &mut text;
        let _ = writeln!(out, "{}\n", self.form);
        let _ = writeln!(out, "{:<24}{:>9}{:>9}   types", "port", "elements", "bits");
        for (port, direction) in self.inputs.iter().map(|p| (p, "in")).chain(self.outputs.iter().map(|p| (p, "out"))) {
            let name = format!("{direction:<4}{}", shown(&port.name));
            let _ = writeln!(out, "{name:<24}{:>9}{:>9}   {}", port.types.len(), port.bits, kinds_of(&port.types));
        }
        let _ = writeln!(out, "\n{:<24}{:>9}{:>9}   types", "register", "elements", "bits");
        for register in &self.registers {
            let first = match (&register.starts_as, register.has_reset) {
                (None, _) => "no first value".to_owned(),
                (Some(codes), reset) => {
                    let codes =
                        if codes.len() > 8 { format!("{}, ...", codes[..8].join(", ")) } else { codes.join(", ") };
                    format!("{} code {codes}", if reset { "starts and resets to" } else { "starts as" })
                }
            };
            let (elements, types) = (register.types.len(), kinds_of(&register.types));
            let _ = writeln!(out, "{:<24}{elements:>9}{:>9}   {types}; {first}", shown(&register.name), register.bits);
        }
        let _ = writeln!(
            out,
            "{:<24}{:>9}{:>9}   bits in the hardware: {}",
            "together",
            self.registers.iter().map(|r| r.types.len()).sum::<usize>(),
            self.register_bits_in_file,
            self.register_bits
        );
        if !self.blocks.is_empty() {
            let _ = writeln!(out, "\n{:<24}{:>9}{:>9}{:>9}{:>9}", "block", "ops", "after", "depth", "delay");
        }
        for block in &self.blocks {
            let (before, after) = (block.operations, block.operations_after_optimisation);
            let (name, delay) = (shown(&block.name), short(block.delay));
            let _ = writeln!(out, "{name:<24}{before:>9}{after:>9}{:>9}{delay:>9}", block.depth);
        }
        for RetimedPipeline { blocks, registers, stages, delay_before, delay, moved } in &self.pipelines {
            let ends = |names: &[String]| match names {
                [] => String::new(),
                [one] => shown(one),
                [first, .., last] => format!("{} ... {}", shown(first), shown(last)),
            };
            let (blocks, registers) = (ends(blocks), ends(registers));
            let what = match moved {
                true => {
                    format!("registers moved, critical stage delay {} (was {})", short(*delay), short(*delay_before))
                }
                false => format!("registers as in the file, critical stage delay {}", short(*delay_before)),
            };
            let _ = writeln!(out, "\npipeline of {stages} stages, {blocks}; registers {registers}: {what}");
        }
        if self.pipelines.iter().any(|p| p.moved) {
            let (now, without) = (self.register_bits, self.register_bits_without_retiming);
            let _ = writeln!(out, "register bits {now}, without retiming {without}");
        }
        if !self.schedules.is_empty() {
            let _ = writeln!(out, "\n{:<24}{:>9}   valid from, to before, ...", "schedule", "period");
        }
        for ScheduleFacts { signal, toggles, period } in &self.schedules {
            let toggles: Vec<String> = toggles.iter().map(ToString::to_string).collect();
            let _ = writeln!(out, "{:<24}{period:>9}   {}", shown(signal), toggles.join(", "));
        }
        device::show(&self.estimate, "", out);
        text
    }
}

/// Replaces control characters of a name, for output on a terminal.
fn shown(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Returns the different types of elements.
fn kinds_of(types: &[String]) -> String {
    /// Maximum number of types on a line.
    const MOST: usize = 4;
    let mut kinds: Vec<&str> = Vec::new();
    for kind in types {
        if !kinds.contains(&kind.as_str()) {
            kinds.push(kind);
        }
        if kinds.len() > MOST {
            kinds[MOST] = "...";
            break;
        }
    }
    kinds.join(" ")
}
