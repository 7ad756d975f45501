//! What the sub-commands share about stateful designs.

use super::Failure;
use super::hardware::bug;
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::emit::{MachineFacts, RegisterFacts, ScheduleFacts};
use crate::ir::machine::{Machine, SignalKind};
use crate::netlist::{Cell, NetId, Netlist, Pipeline, check_machine_top, lower_machine};

/// Refuses options that a state machine has no use for.
///
/// # Errors
/// One diagnostic for each of the options (exit code 2).
pub(super) fn refuse(given: impl Iterator<Item = &'static str>) -> Result<(), Failure> {
    let refused = |flag: &'static str| {
        Diagnostic::error("E0804", Place::Flag(flag.into()), format!("{flag} does not go with a state machine"))
            .with_help("its registers, conditions and ports are those of the file; leave the option out")
    };
    let problems: Vec<Diagnostic> = given.map(refused).collect();
    if problems.is_empty() { Ok(()) } else { Err(Failure::input(Diagnostics(problems))) }
}

/// The hardware of a machine, judged by the independent checker. `asked` is the module name if the user chose it.
///
/// # Errors
/// If the chosen name is not legal or that of a port (exit code 2); if the checker objects, which is our mistake (exit code 4).
pub(super) fn lower(machine: &Machine, top: &str, asked: Option<&str>) -> Result<Netlist, Failure> {
    if let Some(asked) = asked {
        check_machine_top(machine, asked).map_err(Failure::input)?;
    }
    let netlist = lower_machine(machine, top);
    netlist.check().map_err(|found| bug(Diagnostics(found)))?;
    Ok(netlist)
}

/// Registers of a netlist.
pub(super) fn registers(netlist: &Netlist) -> Vec<RegisterFacts> {
    let nets = (0..).map(NetId).zip(netlist.nets());
    nets.filter(|(_, net)| matches!(net.cell, Cell::Register { .. }))
        .map(|(id, net)| RegisterFacts {
            name: netlist.name(id).to_owned(),
            width: net.width,
            holds: netlist.comment(id).to_owned(),
        })
        .collect()
}

/// When a machine's signals mean something.
pub(super) fn schedules(machine: &Machine) -> Vec<ScheduleFacts> {
    let fact = |signal: &crate::ir::machine::Signal| {
        let (toggles, period) = signal.schedule.clone()?;
        Some(ScheduleFacts { signal: signal.name.clone(), toggles, period })
    };
    machine.signals().iter().filter_map(fact).collect()
}

/// What the interface file says of a machine beyond its ports.
pub(super) fn facts(machine: &Machine, netlist: &Netlist, pipelines: &[Pipeline]) -> MachineFacts {
    MachineFacts {
        register_bits_in_file: machine.register_bits(),
        registers: registers(netlist),
        schedules: schedules(machine),
        pipelines: pipelines.to_vec(),
    }
}

/// One line about what was made.
pub(super) fn summary(machine: &Machine, netlist: &Netlist, pipelines: &[Pipeline]) -> String {
    let operations: usize = machine.blocks().iter().map(|b| b.model.nodes().len()).sum();
    let registers = machine.signals().iter().filter(|s| s.kind == SignalKind::Register).count();
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let moved = pipelines.iter().filter(|p| p.moved).count();
    let moved = if moved > 0 { format!("; {} cut anew", count(moved, "pipeline")) } else { String::new() };
    format!(
        "{}: a state machine, {}, {}, {}, {} register bits of {}{moved}",
        netlist.interface.top,
        count(machine.blocks().len(), "block"),
        count(operations, "operation"),
        count(registers, "register"),
        netlist.register_bits(),
        machine.register_bits(),
    )
}
