//! `alir2hdl check`: is this file a valid program?

use super::input::{Design, InputArgs};
use super::source::{self, Kind};
use super::{ExitStatus, Failure, Global, print};
use crate::ir::machine::SignalKind;

/// Check a model file and report every problem in it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl check model.json.gz
  alir2hdl check --error-format json model.json    one JSON object a problem, on stderr
  generate | alir2hdl check -

Each code is explained in docs/errors.md.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    if let Some((Kind::Graph, bytes)) = args.input.network_file()?
        && !args.input.sources().has_weights()
    {
        let structure = args.input.sources().structure(&bytes, &source::shown(&args.input.model))?;
        let outline = &structure.outline;
        let text = format!(
            "valid structure: {} nodes run, {} weights, some {} adders expected; weights were not looked at, as none are given\n",
            outline.calls.len(),
            outline.size.weights,
            outline.size.adders()
        );
        return if global.quiet { Ok(ExitStatus::Ok) } else { print(text.as_bytes()) };
    }
    let (design, file) = args.input.read_design(global)?;
    let form = file.form;
    if global.quiet {
        return Ok(ExitStatus::Ok);
    }
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let model = match &design {
        Design::Model(model) => model,
        Design::Machine(machine) => {
            let registers = machine.signals().iter().filter(|s| s.kind == SignalKind::Register).count();
            let text = format!(
                "valid: a state machine, {}, {}, {}, {} of {} ({form})\n",
                count(machine.inputs().count(), "input port"),
                count(machine.outputs().count(), "output port"),
                count(machine.blocks().len(), "block"),
                count(registers, "register"),
                count(machine.register_bits() as usize, "bit"),
            );
            return print(text.as_bytes());
        }
    };
    let mut text = format!(
        "valid: {}, {}, {}",
        count(model.n_inputs(), "input"),
        count(model.outputs().len(), "output"),
        count(model.nodes().len(), "operation"),
    );
    if !model.tables().is_empty() {
        text.push_str(&format!(", {}", count(model.tables().len(), "table")));
    }
    text.push_str(&format!(" ({form})\n"));
    print(text.as_bytes())
}
