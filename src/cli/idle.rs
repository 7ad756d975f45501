//! Warnings about options that have no effect on the hardware, and about inefficient options.
//!
//! Options that contradict each other in every design (for a wrapper, reset or FIFO that is not requested), and options
//! for ports that do not exist, are errors, as no hardware satisfies the request. An option that has no effect on this
//! design (its tables, multiplications or registers) results in the warning `W0801`, as the hardware satisfies the
//! request and scripts use the same options for many models.

use super::input::Design;
use crate::compile::{self, Arrival, Engine, Hardware, LookupTables, Products, Scheduled, Spec, Stages};
use crate::diag::{Diagnostic, Diagnostics, Place, counted};
use crate::emit::Hierarchy;
use crate::ir::{Model, Op};
use crate::netlist::{Cell, Interface, Netlist};
use crate::options::{HardwareOptions, PortRole, ResetKind};
use crate::project::Flow;
use crate::project::options::ProjectOptions;
use crate::reuse::MAX_INTERVAL;
use crate::schedule::{Effort, Objective};

/// Options of a sub-command that are checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct GivenOptions<'a> {
    options: &'a HardwareOptions,
    /// `true` if the sub-command can generate RTL.
    generates: bool,
}

impl<'a> GivenOptions<'a> {
    /// Collects the options of a sub-command that generates RTL.
    pub(super) fn new(options: &'a HardwareOptions) -> GivenOptions<'a> {
        GivenOptions { options, generates: true }
    }

    /// Collects the options of a sub-command that only reports.
    pub(super) fn without_output(options: &'a HardwareOptions) -> GivenOptions<'a> {
        GivenOptions { options, generates: false }
    }
}

/// Properties of the registers of hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Registers {
    /// `true` if there are any registers.
    pub(super) any: bool,
    /// `true` if the scheduler can choose the position of some registers.
    pub(super) cuts: bool,
    /// `true` if a port signals when a sample is accepted.
    pub(super) ready: bool,
}

impl Registers {
    pub(super) fn from_interface(interface: &Interface) -> Registers {
        Registers { any: interface.clock.is_some(), cuts: interface.latency >= 2, ready: interface.ready.is_some() }
    }
}

/// Share of shared logic in per cent below which a warning is printed.
const LITTLE: f64 = 20.0;

/// Parts of the design that options may affect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Found {
    registers: Registers,
    tables: bool,
    products: bool,
    /// `true` if Verilog or VHDL is written.
    text: bool,
}

/// Returns warnings about options without effect on a design. `text` is `true` if Verilog or VHDL is written.
pub(super) fn warnings(asked: GivenOptions<'_>, design: &Design, registers: Registers, text: bool) -> Diagnostics {
    let models: Vec<&Model> = match design {
        Design::Model(model) => vec![model],
        Design::Machine(machine) => machine.blocks().iter().map(|block| &block.model).collect(),
    };
    let found = Found {
        registers,
        tables: models.iter().any(|model| !model.tables().is_empty()),
        products: models.iter().any(|model| model.nodes().iter().any(|node| matches!(node.op, Op::Mul { .. }))),
        text,
    };
    Diagnostics(idle(asked, found).into_iter().map(|(flag, reason)| warning(flag, reason)).collect())
}

/// Returns warnings about options that name a core, if the folder has no IP-XACT and FuseSoC files.
pub(super) fn unused_core_name(options: &ProjectOptions) -> Diagnostics {
    if options.flows.iter().any(|flow| matches!(flow, Flow::Vivado | Flow::Fusesoc)) {
        return Diagnostics::default();
    }
    let reason = "only the files of --flow vivado and fusesoc name a core";
    Diagnostics(options.given_of_core().map(|flag| warning(flag.to_owned(), reason)).collect())
}

fn warning(flag: String, reason: &str) -> Diagnostic {
    Diagnostic::warning("W0801", Place::Flag(flag), format!("has no effect: {reason}"))
}

/// Returns a warning if an initiation interval saves little hardware.
pub(super) fn saves_little(hardware: &Hardware<'_>) -> Option<Diagnostic> {
    let reused = hardware.reused()?;
    let plan = reused.fold()?;
    little_is_shared(plan.interval, plan.shared(), reused.serial_from)
}

/// Returns a warning about stages without logic, which delay results and cost registers.
///
/// An operation may be wiring only, such as a quantisation, so a stage is without logic if none of its nets has a cell.
/// Stages that a required clock period needs are not reported.
pub(super) fn stages_without_logic(spec: &Spec, scheduled: &Scheduled<'_>, netlist: &Netlist) -> Option<Diagnostic> {
    let mut is_used = vec![false; scheduled.outcome.schedule.stages as usize];
    for net in netlist.nets() {
        let is_logic = !matches!(net.cell, Cell::Input { .. } | Cell::Alias { .. } | Cell::Register { .. });
        // Stage 0 precedes the input registers.
        if let Some(used) = is_used.get_mut((net.stage as usize).wrapping_sub(1)) {
            *used |= is_logic;
        }
    }
    let used = is_used.iter().filter(|used| **used).count();
    // A single stage without logic is expected in a model that only passes values on.
    if used == is_used.len() || is_used.len() < 2 {
        return None;
    }
    let (empty, all) = (is_used.len() - used, is_used.len());
    let bits = netlist.stage_register_bits();
    let in_empty = (1..).zip(&is_used).filter(|(_, used)| !**used).map(|(stage, _): (usize, _)| bits.get(stage));
    let bits = counted(in_empty.flatten().sum::<u64>(), "register bit");
    let message = format!("{empty} of {all} stages compute nothing: they delay the results, with {bits}");
    let warning = Diagnostic::warning("W0804", Place::Flag("--pipeline".into()), message);
    // The search has already found the fewest stages for the required delay.
    if spec.goal().max_stage_delay.is_some() && !matches!(spec.pipeline.stages, Some(Stages::Exactly(_))) {
        return None;
    }
    let (fewer, earlier) = (used.max(1), counted((all - used.max(1)) as u64, "clock"));
    Some(match is_scheduled_in(fewer as u32, spec, scheduled.source) {
        true => warning.with_help(format!("--stages {fewer} has results {earlier} earlier")),
        false => warning,
    })
}

/// Returns `true` if the program can be scheduled in this number of stages with the other options.
fn is_scheduled_in(stages: u32, spec: &Spec, model: &Model) -> bool {
    if spec.goal().max_stage_delay.is_none() {
        return true;
    }
    let mut spec = spec.clone();
    spec.pipeline.stages = Some(Stages::Exactly(stages));
    compile::optimise(model, &spec).and_then(|optimised| optimised.schedule(&spec)).is_ok()
}

/// Returns a warning if less logic is shared than `LITTLE` per cent. `serial_from` is the smallest interval for
/// bit-serial arithmetic.
pub(super) fn little_is_shared(interval: u32, shared: f64, serial_from: Option<u32>) -> Option<Diagnostic> {
    if shared >= LITTLE {
        return None;
    }
    let message = format!(
        "--ii {interval} saves little: {shared:.1} % of the logic is in equal parts that are worth sharing; the rest \
         is generated as without --ii"
    );
    let help = match serial_from.filter(|&from| from <= MAX_INTERVAL) {
        Some(from) => {
            format!("from --ii {from} on values can go through bit by bit, for which nothing has to repeat")
        }
        None => "without --ii a sample is taken every clock, by about as much hardware".into(),
    };
    Some(Diagnostic::warning("W0810", Place::Flag("--ii".into()), message).with_help(help))
}

/// Returns the options without effect, each with the reason.
fn idle(asked: GivenOptions<'_>, found: Found) -> Vec<(String, &'static str)> {
    const REGISTERS: &str = "there are no registers";
    const CUTS: &str = "there are no two layers of registers, and so nothing to choose";
    const TABLES: &str = "the model has no lookup tables";
    const PRODUCTS: &str = "the model multiplies no two values";
    const CAPTURED: &str = "with --ii a register reads the inputs whatever is asked";
    const EVERY_CLOCK: &str = "a sample is taken every clock";
    const TEXT: &str = "neither Verilog nor VHDL is made";
    let GivenOptions { options, generates } = asked;
    let Registers { any: registers, cuts, ready } = found.registers;
    let exists = |role: PortRole| match role {
        PortRole::Clock => registers || options.axis,
        PortRole::Reset => options.reset != ResetKind::None || options.axis,
        PortRole::Enable => options.enable,
        PortRole::ValidIn | PortRole::ValidOut => options.valid,
        PortRole::Ready => ready,
        PortRole::Inputs | PortRole::Outputs => true,
    };
    let names = if generates { options.names.missing_ports(exists) } else { Vec::new() };
    let rom_style = options.tables != LookupTables::Auto;
    let shreg = options.shreg_extract.is_some();
    // Sub-commands that only report may show options for RTL of a later run.
    let no_text = generates && !found.text;
    let is_divided = options.hierarchy != Hierarchy::default();
    let splits = options.split_above != HardwareOptions::default().split_above;
    let asked = [
        ("--pipeline-objective", options.objective != Objective::default() && !cuts, CUTS),
        ("--effort", options.effort != Effort::default() && !cuts, CUTS),
        ("--register-inputs", options.register_inputs && ready, CAPTURED),
        ("--ii-engine", options.engine != Engine::default() && !ready, EVERY_CLOCK),
        ("--ii-input", options.arrival != Arrival::default() && !ready, EVERY_CLOCK),
        ("--use-dsp", options.products != Products::default() && !found.products, PRODUCTS),
        ("--rom-style", rom_style && !found.tables, TABLES),
        ("--rom-style", rom_style && found.tables && no_text, TEXT),
        ("--shreg-extract", shreg && !registers, REGISTERS),
        ("--shreg-extract", shreg && registers && no_text, TEXT),
        ("--keep-names", options.keep_names && no_text, TEXT),
        ("--names", options.index_names && no_text, TEXT),
        ("--names-from", options.names_from.is_some() && no_text, TEXT),
        ("--hierarchy", is_divided && no_text, TEXT),
        ("--split-above", splits && no_text, TEXT),
    ];
    let asked = asked.into_iter().filter_map(|(flag, idle, reason)| idle.then_some((flag.to_owned(), reason)));
    asked.chain(names.into_iter().map(|flag| (flag, "there is no such port"))).collect()
}
