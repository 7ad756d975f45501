//! Options that say nothing about the hardware at hand.
//!
//! One rule for all of them. What contradicts itself whatever the model is (an option about a wrapper, a reset or a FIFO that
//! is not asked for), and what asks for a port that would not exist, is refused, as no hardware is what was asked for. What
//! has nothing to act on in this design (its tables, products, registers) is warned of, `W0801`: the hardware is what was
//! asked for, and scripts give the same options to many models.

use super::hardware::{EffortArg, ObjectiveArg, PipelineArgs, PortArgs, ResetArg, UseDspArg};
use super::input::Design;
use super::text::{RomStyleArg, TextArgs};
use crate::compile::Hardware;
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::ir::{Model, Op};

/// What options could act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Found {
    registers: bool,
    /// Whether there are registers whose place is a choice.
    cuts: bool,
    tables: bool,
    products: bool,
    /// Whether Verilog or VHDL is written.
    text: bool,
}

/// Warnings about the options that have nothing to act on. `text`: Verilog or VHDL is written.
pub(super) fn warnings(
    (pipeline, ports, text_args): (&PipelineArgs, &PortArgs, &TextArgs),
    design: &Design,
    hardware: &Hardware<'_>,
    text: bool,
) -> Diagnostics {
    let models: Vec<&Model> = match design {
        Design::Model(model) => vec![model],
        Design::Machine(machine) => machine.blocks().iter().map(|block| &block.model).collect(),
    };
    let interface = &hardware.netlist.interface;
    let found = Found {
        registers: interface.clock.is_some(),
        cuts: interface.latency >= 2,
        tables: models.iter().any(|model| !model.tables().is_empty()),
        products: models.iter().any(|model| model.nodes().iter().any(|node| matches!(node.op, Op::Mul { .. }))),
        text,
    };
    let warning = |(flag, reason): (&'static str, &str)| {
        Diagnostic::warning("W0801", Place::Flag(flag.into()), format!("{flag} has no effect: {reason}"))
    };
    Diagnostics(idle(pipeline, ports, text_args, found).into_iter().map(warning).collect())
}

/// The options that have nothing to act on, with why.
fn idle(pipeline: &PipelineArgs, ports: &PortArgs, text: &TextArgs, found: Found) -> Vec<(&'static str, &'static str)> {
    const REGISTERS: &str = "there are no registers";
    const CUTS: &str = "there are no two layers of registers, and so nothing to choose";
    const TABLES: &str = "the model has no lookup tables";
    const PRODUCTS: &str = "the model multiplies no two values";
    const TEXT: &str = "neither Verilog nor VHDL is written";
    let has_reset = ports.reset != ResetArg::None;
    let names = ports.names.of_missing(found.registers, has_reset, ports.enable, ports.valid);
    let rom_style = text.rom_style != RomStyleArg::Auto;
    let shreg = text.shreg_extract.is_some();
    let asked = [
        ("--pipeline-objective", pipeline.pipeline_objective != ObjectiveArg::default() && !found.cuts, CUTS),
        ("--effort", pipeline.effort != EffortArg::default() && !found.cuts, CUTS),
        ("--use-dsp", pipeline.use_dsp != UseDspArg::default() && !found.products, PRODUCTS),
        ("--rom-style", rom_style && !found.tables, TABLES),
        ("--rom-style", rom_style && found.tables && !found.text, TEXT),
        ("--shreg-extract", shreg && !found.registers, REGISTERS),
        ("--shreg-extract", shreg && found.registers && !found.text, TEXT),
        ("--keep-names", text.keep_names && !found.text, TEXT),
    ];
    let asked = asked.into_iter().filter_map(|(flag, idle, reason)| idle.then_some((flag, reason)));
    asked.chain(names.map(|flag| (flag, "there is no such port"))).collect()
}
