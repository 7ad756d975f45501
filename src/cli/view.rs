//! `alir2hdl view`: writes an HTML viewer of the program and its pipeline.

use super::browser::Browser;
use super::hardware::PipelineArgs;
use super::idle::{GivenOptions, Registers, stages_without_logic, warnings};
use super::info::{occupancy, plot};
use super::input::{Design, FileFacts, InputArgs};
use super::optimise::OptimiseArgs;
use super::{ExitStatus, Failure, Global, HeldProgram, machine, report, say};
use crate::compile::{self, SharingPlan, Spec};
use crate::diag::{Diagnostic, counted, delay_digits, four_digits};
use crate::emit::{self, Language};
use crate::files::Batch;
use crate::interp::samples::{self, Reader, Values};
use crate::ir::machine::Machine;
use crate::ir::{Layers, Model};
use crate::netlist;
use crate::options::HardwareOptions;
use crate::verify::arrays::{Arrays, Side};
use crate::view::options::PageOptions;
use crate::view::{self, Column, Drawing, ScheduledModel};
use std::path::PathBuf;

/// Draw the pipeline as one page for a browser
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl view model.json.gz --stages 5 --open           writes model.html
  alir2hdl view model.json.gz --stages 5 --input x.npy    values, histograms
  alir2hdl view model.json.gz --stages 5 -o s.svg         the stages alone
  alir2hdl view model.json.gz --ii 8 -o units.svg         sharing over time

The page needs no network. Search for a name (v17), a kind (mul), `stage 2`, `width > 12`, `depth = 3` or `out 0`. \
Click an operation to see its type, interval, slack, semantics, line of Verilog, and what it depends on and \
influences; click the heading of a stage for its critical path. model.html#op=17 shows operation v17. For networks the \
page shows the layer of each operation. `?` on the page lists keys and searches.
For delay and registers over the number of stages: alir2hdl info MODEL --sweep --svg FILE.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// Write the page (.html) or the stages alone (.svg) [default: the model's name with .html, in the current folder]
    #[arg(short, long, value_name = "FILE.html")]
    output: Option<PathBuf>,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// Write the chart of the stages to this file, without -o and --open no page
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Show what each operation was on these samples, as `run` reads them
    #[arg(long = "input", value_name = "SAMPLES")]
    samples: Option<PathBuf>,
    /// Take at most this many samples
    #[arg(long, value_name = "N", default_value_t = PageOptions::default().max_samples, requires = "samples",
          value_parser = clap::value_parser!(u32).range(1..=100_000), hide_short_help = true)]
    max_samples: u32,
    #[command(flatten)]
    pipeline: PipelineArgs,
    #[command(flatten)]
    optimise: OptimiseArgs,
}

/// Contents of a page.
struct PageContent {
    drawing: Drawing,
    facts: String,
    registers: Registers,
    /// Chart for the page, if it is not the chart of the stages.
    chart: Option<String>,
    /// Warnings about the options.
    remarks: Vec<Diagnostic>,
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    let (page, options) = (args.page(), args.options());
    write((&page, &options, super::verify::stem(&args.input.model)), || args.input.read_design(global), global)
}

/// Writes the page of a design in memory without printing, for library callers.
///
/// # Errors
/// If an option or a sample is invalid, or if the page cannot be written.
pub(super) fn in_memory(
    page: &PageOptions,
    options: &HardwareOptions,
    held: &HeldProgram,
) -> Result<ExitStatus, Failure> {
    let global = Global { quiet: true, ..Global::default() };
    write((page, options, "model"), || Ok((held.design.clone(), held.file.clone())), global)
}

fn write(
    (page_options, options, name): (&PageOptions, &HardwareOptions, &str),
    design: impl FnOnce() -> Result<(Design, FileFacts), Failure>,
    global: Global,
) -> Result<ExitStatus, Failure> {
    // Without a browser nothing is written, as the user requested to see the page.
    let browser = page_options.open.then(Browser::find).transpose()?;
    let (page_path, chart_path) = page_options.paths(name).map_err(Failure::input)?;
    let (design, file) = design()?;
    let request = PageRequest { page: page_options, options, name };
    let shown = match &design {
        Design::Model(model) => request.model_page(model, &file.labels.layers, global)?,
        Design::Machine(machine) => request.machine_page(machine)?,
    };
    let PageContent { drawing, facts, registers, chart, remarks } = shown;
    let asked = GivenOptions::without_output(options);
    let mut idle = warnings(asked, &design, registers, false);
    idle.0.extend(remarks);
    report(&idle, global);
    let column = |c: &Column| plot::Column {
        label: c.short.clone(),
        delay: c.delay.unwrap_or_default(),
        register_bits: c.register_bits,
    };
    let stages = || {
        let columns: Vec<plot::Column> = drawing.timed().map(column).collect();
        plot::stages(&format!("Stages of {name}"), drawing.unit(), &columns)
    };
    let chart = chart.unwrap_or_else(stages);
    let mut batch = Batch::default();
    let page = page_path.as_deref().map(|path| (path, view::page(name, &facts, &chart, &drawing)));
    for (path, text) in page.into_iter().chain(chart_path.map(|path| (path, chart))) {
        batch.add(path, text.as_bytes()).map_err(|e| Failure::io(path, "write", &e))?;
    }
    super::commit(batch)?;
    let written: Vec<String> =
        page_path.as_deref().into_iter().chain(chart_path).map(|path| path.display().to_string()).collect();
    say(&format!("{}: {facts}", written.join(", ")), global);
    if let (Some(browser), Some(page)) = (browser, &page_path) {
        browser.open(page)?;
    }
    Ok(ExitStatus::Ok)
}

impl Args {
    /// Returns the options of the page.
    fn page(&self) -> PageOptions {
        PageOptions {
            output: self.output.clone(),
            open: self.open,
            svg: self.svg.clone(),
            samples: self.samples.clone(),
            max_samples: self.max_samples,
        }
    }

    /// Returns the options of the hardware.
    fn options(&self) -> HardwareOptions {
        let mut options = HardwareOptions::default();
        self.optimise.fill(&mut options);
        self.pipeline.fill(&mut options);
        options
    }
}

/// Requested page, with the name of its design.
struct PageRequest<'a> {
    page: &'a PageOptions,
    options: &'a HardwareOptions,
    name: &'a str,
}

impl PageRequest<'_> {
    /// Returns the specification of the hardware.
    fn spec(&self) -> Spec {
        // With this suffix, the name cannot be that of a port.
        let legal = netlist::names::legalise(self.name);
        self.options.spec(&format!("{legal}_top"))
    }

    fn model_page(&self, model: &Model, layers: &Layers, global: Global) -> Result<PageContent, Failure> {
        let spec = self.spec();
        let hardware = compile::model(model, &spec)?;
        if let Some(reused) = hardware.reused() {
            let program = &reused.program;
            let (delay, unit) = (&*spec.delays(program), spec.unit(program).0);
            let name = self.name;
            let (mut drawing, chart) = match &reused.plan {
                SharingPlan::Fold(plan) => (
                    Drawing::from_plan(program, plan, delay, unit, layers),
                    occupancy::svg(&format!("Copies of {name}"), plan),
                ),
                SharingPlan::Serial(graph, plan) => (
                    Drawing::from_streams(program, (graph, plan), delay, unit, layers),
                    occupancy::streams(&format!("Streams of {name}"), graph, plan),
                ),
            };
            self.observe(&mut drawing, program, global)?;
            let summary = hardware.summary();
            let facts = summary.split_once(": ").map_or(summary.as_str(), |(_, facts)| facts).to_owned();
            let registers = Registers::from_interface(&hardware.netlist.interface);
            return Ok(PageContent { drawing, facts, registers, chart: Some(chart), remarks: Vec::new() });
        }
        let (netlist, scheduled) = (&hardware.netlist, hardware.scheduled().expect("a program"));
        let (optimised, outcome) = (&*scheduled.program, &scheduled.outcome);
        let schedule = &outcome.schedule;
        let bits = netlist.stage_register_bits();
        let unit = spec.unit(optimised).0;
        let after = |k: usize| bits.get(k + 1).copied().unwrap_or(0);
        let times = scheduled.stage_times(&spec, netlist);
        let mut drawing = Drawing::from_scheduled(&ScheduledModel {
            model: optimised,
            delay: &*spec.delays(optimised),
            stage: &schedule.stage,
            stages: schedule.stages,
            stage_delays: &times,
            register_bits: &(0..times.len()).map(after).collect::<Vec<_>>(),
            view: &scheduled.stages(&spec),
            rtl: &emit::text(netlist, Language::Verilog, &emit::Options::default()),
            unit,
            layers,
        });
        self.observe(&mut drawing, optimised, global)?;
        let longest = times.iter().copied().fold(0.0, f64::max);
        let facts = format!(
            "{}, {}, {}, latency {}, critical stage delay {} {unit}, {}",
            counted(optimised.nodes().len(), "operation"),
            counted(optimised.n_inputs(), "input"),
            counted(optimised.outputs().len(), "output"),
            schedule.latency(),
            delay_digits(longest, unit),
            counted(netlist.register_bits(), "register bit"),
        );
        let remarks = stages_without_logic(&spec, scheduled, netlist);
        let remarks = remarks.into_iter().chain(self.options.assumption(&spec)).collect();
        Ok(PageContent {
            drawing,
            facts,
            registers: Registers::from_interface(&netlist.interface),
            chart: None,
            remarks,
        })
    }

    /// Adds the values of each operation for the given samples.
    fn observe(&self, drawing: &mut Drawing, program: &Model, global: Global) -> Result<(), Failure> {
        let Some(path) = &self.page.samples else { return Ok(()) };
        let mut reader = Reader::open(path, None, program.input_kifs(), false).map_err(Failure::input)?;
        let mut block = Values::default();
        let rows = reader.read(self.page.max_samples as usize, &mut block).map_err(Failure::input)?;
        report(&reader.take_notes(), global);
        let observed = drawing.observe(program, &samples::input_ports(program), &block, rows);
        observed.map_err(|(row, fault)| Failure::input(fault.diagnostic(reader.name(), row as u64)))
    }

    fn machine_page(&self, machine: &Machine) -> Result<PageContent, Failure> {
        machine::refuse_flags(self.options.given_of_pipeline())?;
        let hardware = compile::machine(machine, &self.spec())?;
        let (netlist, optimised) = (&hardware.netlist, &hardware.retimed().expect("a machine").machine);
        let mut inputs = Vec::new();
        if let Some(path) = &self.page.samples {
            let mut arrays = Arrays::open(machine, Side::Inputs, path, false).map_err(Failure::input)?;
            let mut next = || arrays.next_codes().map_err(Failure::input);
            while let (true, Some(row)) = (inputs.len() < self.page.max_samples as usize, next()?) {
                inputs.push(row);
            }
        }
        let rtl = emit::text(netlist, Language::Verilog, &emit::Options::default());
        let drawing = Drawing::from_machine(optimised, &rtl, &inputs);
        let longest = drawing.timed().filter_map(|column| column.delay).fold(0.0, f64::max);
        let summary = hardware.summary();
        let facts = summary.split_once(": ").map_or(summary.as_str(), |(_, facts)| facts);
        let facts =
            format!("{facts}, critical path {} {}, {} boxes", four_digits(longest), drawing.unit(), drawing.boxes());
        let registers = Registers::from_interface(&netlist.interface);
        Ok(PageContent { drawing, facts, registers, chart: None, remarks: Vec::new() })
    }
}
