//! `alir2hdl view`: the program and its pipeline as one page.

use super::hardware::{self, PipelineArgs};
use super::info::plot;
use super::input::{Design, InputArgs};
use super::optimise::OptimiseArgs;
use super::{ExitStatus, Failure, Global, say};
use crate::diag::{Diagnostic, Place};
use crate::emit::{self, Language};
use crate::files::Batch;
use crate::interp::samples::{self, Reader, Values};
use crate::netlist;
use crate::schedule;
use crate::view::{self, Observed, Subject};
use std::path::PathBuf;

/// Samples that are looked at unless told otherwise.
const SAMPLES: u32 = 200;

/// Draw the pipeline, operation by operation, as one page for a browser
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl view model.json.gz --pipeline 5 -o model.html
  alir2hdl view model.json.gz --pipeline 5 --input samples.npy -o model.html     with values and histograms
  alir2hdl view model.json.gz --pipeline 5 -o model.html --svg stages.svg        the stages for a paper

The page needs no network. Search for a name (v17), a kind (mul), `stage 2`, `width > 12`, `depth = 3` or `out 0`; click
an operation to see its type, interval, meaning, line of Verilog, and what it depends on and influences.
For delay and registers over the number of stages: alir2hdl info MODEL --sweep --svg FILE.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// The page
    #[arg(short, long, value_name = "FILE.html")]
    output: PathBuf,
    /// Also the chart of the stages by itself
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Samples (npy or CSV, as `run` takes them): shows what each operation was on them
    #[arg(long = "input", value_name = "SAMPLES")]
    samples: Option<PathBuf>,
    /// The most samples that are taken from it
    #[arg(long, value_name = "N", default_value_t = SAMPLES, requires = "samples",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_samples: u32,
    #[command(flatten)]
    pipeline: PipelineArgs,
    #[command(flatten)]
    optimise: OptimiseArgs,
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    let model = match args.input.read_design(global)?.0 {
        Design::Model(model) => model,
        Design::Machine(_) => {
            let place = Place::Path(args.input.model.display().to_string());
            let error = Diagnostic::error("E0806", place, "state machines are not drawn");
            return Err(Failure::input(error.with_help("`alir2hdl info` lists ports, registers and blocks")));
        }
    };
    let (optimised, _) = args.optimise.apply(&model)?;
    let outcome = args.pipeline.schedule(&optimised)?;
    let name = super::verify::stem(&args.input.model);
    let top = netlist::names::legalise(name);
    let options = netlist::Options { top: format!("{top}_top"), ..netlist::Options::default() };
    let netlist = hardware::lower(&optimised, &outcome, &args.pipeline.with_multipliers(options))?;
    let observed = args.observe(&optimised)?;
    let delay = schedule::default_delay(&optimised);
    let uses = netlist::uses_with(&optimised, args.pipeline.multipliers());
    let schedule = &outcome.schedule;
    let seen = schedule::view(&optimised, delay, &args.pipeline.goal(), &uses, schedule);
    let unit = if optimised.has_delays() { "latency units" } else { "LUT levels" };
    let bits = netlist.stage_register_bits();
    let after = |k: usize| bits.get(k + 1).copied().unwrap_or(0);
    let columns: Vec<plot::Column> = outcome
        .stage_delays
        .iter()
        .enumerate()
        .map(|(k, &delay)| plot::Column { label: (k + 1).to_string(), delay, register_bits: after(k) })
        .collect();
    let chart = plot::stages(&format!("Stages of {name}"), unit, &columns);
    let longest = outcome.stage_delays.iter().copied().fold(0.0, f64::max);
    let facts = format!(
        "{} operations, {} inputs, {} outputs, latency {}, longest stage {:.2} {unit}, {} register bits",
        optimised.nodes().len(),
        optimised.n_inputs(),
        optimised.outputs().len(),
        schedule.latency(),
        longest,
        netlist.register_bits(),
    );
    let subject = Subject {
        title: name,
        facts: &facts,
        model: &optimised,
        delay,
        stage: &schedule.stage,
        stages: schedule.stages,
        stage_delays: &outcome.stage_delays,
        register_bits: &columns.iter().map(|c| c.register_bits).collect::<Vec<_>>(),
        view: &seen,
        chart: &chart,
        rtl: &emit::text(&netlist, Language::Verilog, &emit::Options::default()),
        samples: observed.as_ref(),
    };
    let page = view::page(&subject);
    let mut batch = Batch::default();
    batch.add(&args.output, page.as_bytes()).map_err(|e| Failure::io(&args.output, "write", &e))?;
    if let Some(path) = &args.svg {
        batch.add(path, chart.as_bytes()).map_err(|e| Failure::io(path, "write", &e))?;
    }
    batch.commit().map_err(|e| Failure::io(&args.output, "write", &e))?;
    say(&format!("{}: {facts}", args.output.display()), global);
    Ok(ExitStatus::Ok)
}

impl Args {
    /// What each operation is on the samples, if there are any.
    fn observe(&self, model: &crate::ir::Model) -> Result<Option<Observed>, Failure> {
        let Some(path) = &self.samples else { return Ok(None) };
        let mut reader = Reader::open(path, None, model.input_kifs(), false).map_err(Failure::input)?;
        let mut block = Values::default();
        let rows = reader.read(self.max_samples as usize, &mut block).map_err(Failure::input)?;
        let observed = Observed::new(model, &samples::input_ports(model), &block, rows);
        let observed = observed.map_err(|(row, fault)| Failure::input(fault.diagnostic(reader.name(), row as u64)))?;
        Ok((rows > 0).then_some(observed))
    }
}
