//! Compilation of state machines: optimisation, retiming of pipeline registers, lowering, and the facts and summary of
//! the result.

use super::spec::{Passes, Retime, Spec, Top, renamed};
use super::{Error, bug};
use alir_core::diag::{Diagnostic, Diagnostics, Place, printable};
use alir_core::ir::Model;
use alir_core::ir::machine::{Machine, Signal, SignalKind};
use alir_hw::emit::{MachineFacts, RegisterFacts, ScheduleFacts};
use alir_hw::netlist::NameKind;
use alir_hw::netlist::names::legalise_in;
use alir_hw::netlist::{Cell, Interface, Languages, NetId, Netlist, check_machine_top, lower_machine, why_not};
use alir_hw::retime::{self, RetimedPipeline, Slack};
use alir_opt::passes;

/// A state machine after its optimisations.
#[derive(Clone, Debug)]
pub struct OptimisedMachine<'d> {
    /// State machine that the caller passed.
    pub source: &'d Machine,
    /// State machine with optimised blocks; its registers are those of the file.
    pub blocks: Machine,
    /// `blocks` with its pipeline registers retimed, if that is requested: the machine that is lowered.
    pub machine: Machine,
    /// Retimed pipelines.
    pub pipelines: Vec<RetimedPipeline>,
}

/// Returns the module name of a state machine.
pub(super) fn top(spec: &Spec) -> String {
    match &spec.module.top {
        Top::Named(top) => top.clone(),
        Top::Like(stem) => legalise_in(stem, NameKind::Module, spec.module.languages),
    }
}

impl<'d> OptimisedMachine<'d> {
    /// Optimises each block, and retimes the pipeline registers if requested.
    ///
    /// # Errors
    /// If a named pass does not exist, or an option is set that only programs support.
    pub fn new(source: &'d Machine, spec: &Spec) -> Result<OptimisedMachine<'d>, Error> {
        if spec.optimisation.assume_intervals {
            let message = "--assume-intervals is for models; a state machine's registers hold whatever its cycles give";
            let place = Place::Flag("--assume-intervals".into());
            return Err(Error::request(Diagnostic::error("E0804", place, message).with_help("leave it out")));
        }
        // The stages of a state machine depend on its own delays.
        Ok(OptimisedMachine::by(source, &spec.passes(false)?, slack(spec)))
    }

    /// Optimises with these passes, and retimes registers for the objective `slack`, if given.
    fn by(source: &'d Machine, names: &[&str], slack: Option<Slack>) -> OptimisedMachine<'d> {
        let optimise = |model: &Model| passes::run(model, names).0;
        let blocks = source.clone().with_blocks(optimise);
        match slack {
            None => OptimisedMachine { source, machine: blocks.clone(), blocks, pipelines: Vec::new() },
            Some(slack) => {
                let retimed = retime::retime(&blocks, slack, &optimise);
                OptimisedMachine { source, machine: retimed.machine, blocks, pipelines: retimed.pipelines }
            }
        }
    }

    /// Returns the netlist called `top`, validated by the independent checker.
    ///
    /// # Errors
    /// If the chosen name is not legal or equals the name of a port; if the checker objects, which is an internal
    /// error.
    pub(super) fn lower(&self, spec: &Spec, top: &str) -> Result<Netlist, Error> {
        if let Top::Named(asked) = &spec.module.top {
            check_machine_top(&self.machine, asked, spec.module.languages).map_err(Error::request)?;
        }
        lower(&self.machine, top)
    }

    /// Returns the netlist without retiming, for comparisons.
    ///
    /// # Errors
    /// If the checker objects, which is an internal error.
    pub fn lower_without_retiming(&self) -> Result<Netlist, Error> {
        lower(&self.blocks, "machine")
    }

    /// Returns the facts for the interface file that the ports do not state.
    pub(super) fn facts(&self, netlist: &Netlist) -> MachineFacts {
        MachineFacts {
            register_bits_in_file: self.source.register_bits(),
            registers: register_facts(netlist),
            schedules: schedule_facts(self.source),
            pipelines: self.pipelines.clone(),
        }
    }

    /// Returns a note for each port whose name differs from the name of its signal.
    pub(super) fn renamed_ports(&self, interface: &Interface) -> Vec<Diagnostic> {
        let signals = self.source.inputs().chain(self.source.outputs()).map(|id| self.source.signal(id));
        let mut elements = interface.inputs.iter().chain(&interface.outputs);
        let note = |signal: &Signal| {
            // Takes all elements of the signal, even if its port is known after the first: the next signal begins after
            // them.
            let own: Vec<_> = elements.by_ref().take(signal.elements.len()).collect();
            let port = own.into_iter().find(|element| element.width > 0)?.port.as_str();
            if port == signal.name {
                return None;
            }
            let why = why_not(&signal.name, NameKind::Port, Languages::BOTH);
            let why = why.unwrap_or_else(|| "is too long, or another port is called nearly so".into());
            let message = format!("a port is called {port}: `{}` {why}", printable(&signal.name));
            Some(renamed(message, "names of ports are those of the file's signals: rename the signal"))
        };
        signals.filter_map(note).collect()
    }

    /// Returns a summary of the hardware in one line.
    pub(super) fn summary(&self, netlist: &Netlist) -> String {
        let machine = self.source;
        let operations: usize = machine.blocks().iter().map(|b| b.model.nodes().len()).sum();
        let registers = machine.signals().iter().filter(|s| s.kind == SignalKind::Register).count();
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let moved = self.pipelines.iter().filter(|p| p.moved).count();
        let moved =
            if moved > 0 { format!("; {} with registers moved", count(moved, "pipeline")) } else { String::new() };
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
}

/// Returns the objective of retiming; `None` if registers stay where they are.
fn slack(spec: &Spec) -> Option<Slack> {
    let usual = match spec.optimisation.passes {
        Passes::Named(_) | Passes::Level(0) => Retime::No,
        Passes::Level(_) => Retime::For(Slack::Registers),
    };
    match spec.optimisation.retime.unwrap_or(usual) {
        Retime::No => None,
        Retime::For(slack) => Some(slack),
    }
}

/// Returns the state machine after each pass, with its pipeline registers placed: the intermediate machines between
/// `machine` and its RTL. Empty if a named pass does not exist.
pub fn intermediate_machines(machine: &Machine, spec: &Spec) -> Vec<Machine> {
    let names = spec.passes(false).unwrap_or_default();
    let mut machines: Vec<Machine> = Vec::new();
    for count in 0..=names.len() {
        let next = OptimisedMachine::by(machine, &names[..count], slack(spec)).machine;
        if *machines.last().unwrap_or(machine) != next {
            machines.push(next);
        }
    }
    machines
}

fn lower(machine: &Machine, top: &str) -> Result<Netlist, Error> {
    let netlist = lower_machine(machine, top);
    netlist.check().map_err(|found| bug(Diagnostics(found)))?;
    Ok(netlist)
}

/// Returns the facts about the registers of a netlist.
fn register_facts(netlist: &Netlist) -> Vec<RegisterFacts> {
    let nets = (0..).map(NetId).zip(netlist.nets());
    nets.filter(|(_, net)| matches!(net.cell, Cell::Register { .. }))
        .map(|(id, net)| RegisterFacts {
            name: netlist.name(id).to_owned(),
            width: net.width,
            holds: netlist.comment(id).to_owned(),
        })
        .collect()
}

/// Returns the modulo schedules of the state machine's signals, which state when a signal is valid.
pub fn schedule_facts(machine: &Machine) -> Vec<ScheduleFacts> {
    let fact = |signal: &Signal| {
        let (toggles, period) = signal.schedule.clone()?;
        Some(ScheduleFacts { signal: signal.name.clone(), toggles, period })
    };
    machine.signals().iter().filter_map(fact).collect()
}
