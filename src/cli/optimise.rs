//! The optimisation options that several sub-commands share, and `alir2hdl passes`.

use super::hardware::PipelineArgs;
use super::{ExitStatus, Failure, print};
use crate::diag::{Diagnostic, Place};
use crate::ir::machine::Machine;
use crate::ir::{Model, Op};
use crate::netlist::{self, Netlist, Pipeline, Slack};
use crate::passes::{self, BY_NAME, PASSES, PassStat, Trust};
use crate::verify::Vectors;
use std::borrow::Cow;

/// Which optimisations run.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Optimisation")]
pub(super) struct OptimiseArgs {
    /// How much to optimise: 0 nothing, 1 what is cheap and never worse, 2 also what searches
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=2))]
    level: u8,
    /// Run exactly these passes, in this order, instead of a level's (`alir2hdl passes` lists them)
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "level")]
    passes: Option<Vec<String>>,
    /// Take for granted that every input and every value stays in the interval that the file declares for it; the hardware is then
    /// the model's for such inputs only, which its head says
    #[arg(long)]
    assume_intervals: bool,
    /// What the slack of the pipelines inside a state machine is used for: fewer register bits, a shorter longest stage, or
    /// nothing [default: registers, or no with -O0 and --passes]
    #[arg(long, value_name = "WHAT")]
    retime: Option<RetimeArg>,
}

/// What slack is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum RetimeArg {
    /// Registers stay where the file has them
    No,
    /// The fewest register bits; no stage gets longer than the longest was
    Registers,
    /// The smallest stage delay, then the fewest register bits
    Delay,
}

/// An optimised state machine.
pub(super) struct OptimisedMachine {
    /// The machine with each of its blocks optimised, which are those of the file.
    pub(super) blocks: Machine,
    /// The same with its pipelines cut anew, if that is wanted.
    pub(super) machine: Machine,
    /// These pipelines.
    pub(super) pipelines: Vec<Pipeline>,
}

/// What the head of a file says that was written with `--assume-intervals`, and what follows: input elements.
pub(super) const ASSUMPTION: &str = "assumes that every input stays in its declared interval:";

impl OptimiseArgs {
    /// The machine with each of its blocks optimised, and its registers where they are best.
    ///
    /// # Errors
    /// As [`OptimiseArgs::apply`].
    pub(super) fn apply_to_machine(&self, machine: &Machine) -> Result<OptimisedMachine, Failure> {
        if self.assume_intervals {
            let message = "--assume-intervals is for models; a state machine's registers hold whatever its cycles give";
            let place = Place::Flag("--assume-intervals".into());
            return Err(Failure::input(Diagnostic::error("E0804", place, message).with_help("leave it out")));
        }
        // The stages of a machine are cut by its own delays.
        let names = self.names(false)?;
        let optimise = |model: &Model| passes::run(model, &names).0;
        let blocks = machine.clone().with_blocks(optimise);
        let usual = if self.passes.is_some() || self.level == 0 { RetimeArg::No } else { RetimeArg::Registers };
        let slack = match self.retime.unwrap_or(usual) {
            RetimeArg::No => return Ok(OptimisedMachine { machine: blocks.clone(), blocks, pipelines: Vec::new() }),
            RetimeArg::Registers => Slack::Registers,
            RetimeArg::Delay => Slack::Delay,
        };
        let retimed = netlist::retime(&blocks, slack, &optimise);
        Ok(OptimisedMachine { machine: retimed.machine, blocks, pipelines: retimed.pipelines })
    }

    /// The program optimised for a pipeline, and what each pass did.
    ///
    /// # Errors
    /// If a pass that was named does not exist, or `--retime` is given (exit code 2).
    pub(super) fn apply<'m>(
        &self,
        model: &'m Model,
        pipeline: &PipelineArgs,
    ) -> Result<(Cow<'m, Model>, Vec<PassStat>), Failure> {
        let names = self.names(self.cuts_products(model, pipeline))?;
        if self.retime.is_some() {
            let message = "--retime does not go with a program, which has no registers of its own";
            return Err(Failure::input(Diagnostic::error("E0804", Place::Flag("--retime".into()), message).with_help(
                "--pipeline and --pipeline-objective place the registers of a program; leave out --retime",
            )));
        }
        // Nothing to do is nothing to copy either.
        if names.is_empty() {
            return Ok((Cow::Borrowed(model), Vec::new()));
        }
        let (optimised, stats) = passes::run_trusting(model, &names, self.trust());
        Ok((optimised, stats))
    }

    /// What the passes take for granted.
    fn trust(&self) -> Trust {
        if self.assume_intervals { Trust::Intervals } else { Trust::Types }
    }

    /// The hardware with what it assumes of the inputs of `model` in its head.
    pub(super) fn noted(&self, netlist: Netlist, model: &Model) -> Netlist {
        if !self.assume_intervals {
            return netlist;
        }
        let declared = model.nodes().iter().filter_map(|node| match node.op {
            Op::Input { input } => {
                let q = &node.interval;
                Some(format!("  inp[{input}]: codes {} to {}, in steps of 2^{}", q.min, q.max, -i64::from(q.frac)))
            }
            _ => None,
        });
        declared.fold(netlist.with_remark(ASSUMPTION), |netlist, line| netlist.with_remark(&line))
    }

    /// Samples and what the model makes of them, of all inputs for which the hardware is the model's.
    ///
    /// # Errors
    /// If an input has no code in the intervals that shall be assumed (exit code 2).
    pub(super) fn vectors(&self, model: &Model, count: usize, seed: u64) -> Result<Vectors, Failure> {
        if !self.assume_intervals {
            return Ok(Vectors::generate(model, count, seed));
        }
        Vectors::generate_inside(model, count, seed).map_err(|input| {
            let message = format!("no code of input {input} lies in all intervals that its readers declare");
            Failure::input(
                Diagnostic::error("E0302", Place::Flag("--assume-intervals".into()), message)
                    .with_help("without the option nothing is assumed of the inputs"),
            )
        })
    }

    /// Whether what searches is asked for too.
    pub(super) fn searches(&self) -> bool {
        self.level == 2 && self.passes.is_none()
    }

    /// Refuses `--assume-intervals` beside something that is about every input.
    ///
    /// # Errors
    /// If it was given (exit code 2).
    pub(super) fn every_input(&self, asked: &str) -> Result<(), Failure> {
        if !self.assume_intervals {
            return Ok(());
        }
        let message =
            format!("{asked} takes inputs outside the declared intervals too, about which nothing is then known");
        let place = Place::Flag("--assume-intervals".into());
        Err(Failure::input(Diagnostic::error("E0303", place, message).with_help("leave one of the two out")))
    }

    /// The program optimised for a pipeline, with each pass shown to `visit`: its name, the program before and after it.
    ///
    /// # Errors
    /// As [`OptimiseArgs::apply`], and what `visit` finds.
    pub(super) fn step_by_step(
        &self,
        model: &Model,
        pipeline: &PipelineArgs,
        mut visit: impl FnMut(&'static str, &Model, &Model) -> Result<(), Failure>,
    ) -> Result<Model, Failure> {
        let mut current = model.clone();
        for pass in self.names(self.cuts_products(model, pipeline))?.into_iter().filter_map(passes::find) {
            let next = pass.apply(&current, self.trust());
            visit(pass.name, &current, &next)?;
            current = next;
        }
        Ok(current)
    }

    /// Whether a pipeline shall have registers within products of this program.
    fn cuts_products(&self, model: &Model, pipeline: &PipelineArgs) -> bool {
        let optimised = |cut: bool| {
            let names = if cut { passes::IN_STAGES } else { passes::pipeline(self.level) };
            passes::run_trusting(model, names, self.trust()).0
        };
        self.searches()
            && pipeline.cuts_products()
            && model.nodes().iter().any(|node| matches!(node.op, Op::Mul { .. }))
            && pipeline.gains_by_cutting(optimised)
    }

    /// The passes that run; `cuts_products`: for a pipeline that has registers within products.
    fn names(&self, cuts_products: bool) -> Result<Vec<&str>, Failure> {
        let names: Vec<&str> = match &self.passes {
            Some(names) => names.iter().map(String::as_str).collect(),
            None if cuts_products => passes::IN_STAGES.to_vec(),
            None => passes::pipeline(self.level).to_vec(),
        };
        let unknown = names.iter().find(|name| passes::find(name).is_none());
        if let Some(name) = unknown {
            let known: Vec<_> = PASSES.iter().map(|p| p.name).collect();
            let message = format!("no pass is called {name:?}");
            return Err(Failure::input(
                Diagnostic::error("E0301", Place::Flag("--passes".into()), message)
                    .with_help(format!("passes: {}", known.join(", "))),
            ));
        }
        Ok(names)
    }
}

/// What each pass did, a line each: operations, and bits of what costs hardware. Empty if none ran.
pub(super) fn savings(stats: &[PassStat]) -> String {
    let mut text = String::new();
    for (k, stat) in stats.iter().enumerate() {
        if k == 0 {
            text.push_str(&format!("{:<12}{:>20}{:>24}", "pass", "operations", "bits computed"));
        }
        let less = |before: u64, after: u64| match before {
            0 => String::new(),
            _ => format!("{:+.1} %", 100.0 * (after as f64 - before as f64) / before as f64),
        };
        text.push_str(&format!(
            "\n{:<12}{:>9} to {:>7}{:>13} to {:>7}   {}",
            stat.name,
            stat.ops_before,
            stat.ops_after,
            stat.bits_before,
            stat.bits_after,
            less(stat.bits_before, stat.bits_after)
        ));
    }
    text
}

/// `alir2hdl passes`: lists the passes.
pub(super) fn list() -> Result<ExitStatus, Failure> {
    let mut text = String::new();
    for pass in PASSES {
        let level = if pass.level == BY_NAME { "   ".to_owned() } else { format!("-O{}", pass.level) };
        text.push_str(&format!("{:<10} {level}  {}\n", pass.name, pass.summary));
    }
    for level in 0..=2 {
        let names = passes::pipeline(level);
        text.push_str(&format!("\n-O{level}: {}", if names.is_empty() { "nothing".into() } else { names.join(", ") }));
    }
    text.push_str(&format!(
        "\n-O2 --use-dsp no --delay-model device, two stages or more: {}\n",
        passes::IN_STAGES.join(", ")
    ));
    print(text.as_bytes())
}
