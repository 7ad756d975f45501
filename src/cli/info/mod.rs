//! `alir2hdl info`: reports the contents of a model and the estimated cost of its pipeline.

pub(super) mod occupancy;
mod pipeline;
pub(super) mod plot;
mod reuse;
pub(super) mod scatter;
mod states;
mod sweep;

use super::device;
use super::hardware::PipelineArgs;
use super::idle::{GivenOptions, Registers, little_is_shared, warnings};
use super::input::{Design, FileFacts, InputArgs};
use super::kernel::KernelFacts;
use super::optimise::{self, OptimiseArgs};
use super::text::RomStyleArg;
use super::wrapper::WrapperArgs;
use super::{ExitStatus, Failure, Global, network, print, report, say, schema, source};
use crate::compile::{self, Pipeline, Spec};
use crate::device::Estimate;
use crate::diag::{Diagnostic, Diagnostics, Place, counted, four_digits, with_unit};
use crate::files::Batch;
use crate::ir::{Model, Op};
use crate::num::Kif;
use crate::options::{DescriptionOptions, HardwareOptions, StageCounts};
use crate::passes::PassStat;
use crate::schedule::Delay;
use crate::view::options::check_svg;
use pipeline::PipelineTable;
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Show what a model holds and what its pipeline would cost
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl info model.json.gz
  alir2hdl info model.json.gz --stages 3           each stage: delay, registers
  alir2hdl info model.json.gz --sweep --svg s.svg  1 to 12 stages compared
  alir2hdl info model.json.gz --sweep 8 --device xcku5p      MHz, LUT and FF
  alir2hdl info model.json.gz --ii 2,4,8           what sharing hardware saves
  alir2hdl info machine.json.gz                    ports, registers, blocks

Operations are counted as the file has them and as they are after optimisation; depth and stages are those of the
optimised program, as `generate` with the same options makes it; with --wrapper they are those of the core in it. \
-v shows all: what each pass did, every stage's critical path.")]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Compare 1 to N stages, or a range: delay, latency, register bits, with --device clock and area [default N: 12]
    #[arg(long, value_name = "N|A..B", num_args = 0..=1, require_equals = true, default_missing_value = "12",
          value_parser = StageCounts::parse_up_to,
          conflicts_with_all = ["pipeline", "max_stage_delay"])]
    sweep: Option<StageCounts>,
    /// Draw --sweep into this file, with a line at the required clock
    #[arg(long, value_name = "FILE", requires = "sweep")]
    svg: Option<PathBuf>,
    /// Prove the Verilog of each row of --sweep
    #[arg(long, requires = "sweep")]
    prove: bool,
    /// Count the valid flag of --valid among the registers
    #[arg(long, hide_short_help = true)]
    valid: bool,
    /// Make look-up tables of logic, BRAM, searched functions (lut), or as synthesis does (auto)
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "STYLE",
        help_heading = "Optimisation and RTL",
        hide_short_help = true,
        hide_possible_values = true
    )]
    rom_style: RomStyleArg,
    #[command(flatten)]
    pipeline: PipelineArgs,
    #[command(flatten)]
    wrapper: WrapperArgs,
    #[command(flatten)]
    optimise: OptimiseArgs,
}

impl Args {
    /// Returns the options.
    fn options(&self) -> DescriptionOptions {
        let mut hardware = HardwareOptions::default();
        self.optimise.fill(&mut hardware);
        self.pipeline.fill(&mut hardware);
        self.wrapper.fill(&mut hardware);
        hardware.valid = self.valid;
        hardware.tables = self.rom_style.tables();
        DescriptionOptions { hardware, sweep: self.sweep.clone(), svg: self.svg.clone(), prove: self.prove }
    }
}

/// Description of a design, as printed by `info`.
enum Description {
    Program(Box<Facts>),
    Machine(states::MachineShape),
    /// Program at several initiation intervals.
    Intervals(reuse::ReuseTable),
}

impl Description {
    fn to_json(&self) -> String {
        match self {
            Description::Program(facts) => schema::document("alir2hdl.info/1", facts),
            Description::Machine(shape) => schema::document("alir2hdl.info-machine/1", shape),
            Description::Intervals(table) => table.json(),
        }
    }
}

/// Describes a design in memory as the JSON object of the sub-command. Also returns warnings.
///
/// # Errors
/// If options contradict each other or have no effect on this kind of design, or if the chart cannot be written.
pub(super) fn in_memory(
    (design, file): (&Design, &FileFacts),
    options: &DescriptionOptions,
) -> Result<(String, Diagnostics), Failure> {
    let problems = [options.problems(), options.hardware.problems()].concat();
    if !problems.is_empty() {
        return Err(Failure::input(Diagnostics(problems)));
    }
    let (found, remarks) = describe((design, file), options, "model".as_ref())?;
    Ok((found.to_json(), remarks))
}

/// Result of `info`.
#[derive(Serialize)]
struct Facts {
    /// Format of the file.
    form: String,
    inputs: Elements,
    outputs: Elements,
    /// Facts about the integer kernel from which the model was lowered.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<KernelFacts>,
    operations: usize,
    operations_after_optimisation: usize,
    /// Statistics of each optimisation pass, in order.
    passes: Vec<PassStat>,
    kinds: Vec<Kind>,
    tables: usize,
    table_entries: usize,
    widest: u32,
    depth: u32,
    delay: f64,
    delay_unit: &'static str,
    delay_source: &'static str,
    cost: f64,
    /// Estimated resources on the device, including the pipeline if there is one.
    estimate: Estimate,
    pipeline: Option<PipelineTable>,
    sweep: Option<Vec<sweep::Row>>,
    /// Time of the proofs of all rows in seconds, if the options request them.
    #[serde(skip)]
    proof_seconds: Option<f64>,
}

/// Inputs or outputs.
#[derive(Serialize)]
struct Elements {
    elements: usize,
    bits: u64,
    narrowest: u32,
    widest: u32,
    /// Types of the elements in order; equal neighbours are combined.
    types: Vec<TypeRun>,
}

/// Consecutive elements of one type.
#[derive(Serialize)]
struct TypeRun {
    /// Type, such as `s8.5`.
    r#type: String,
    /// Number of elements.
    count: usize,
}

/// Statistics of one operation.
#[derive(Serialize)]
struct Kind {
    operation: &'static str,
    count: usize,
    after_optimisation: usize,
    narrowest: u32,
    widest: u32,
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    args.svg.as_deref().map_or(Ok(()), check_svg).map_err(Failure::input)?;
    if let Some((source::Kind::Graph, bytes)) = args.input.network_file()?
        && !args.input.sources().has_weights()
    {
        let (sources, name) = (args.input.sources(), source::shown(&args.input.model));
        let (graph, quant) = sources.graph(&bytes, &name)?;
        // The listing shows nodes that are not supported, too; only a structure without such nodes has an outline.
        let structure = sources.structure_without_weights(&bytes, &name);
        let warnings = structure.map_or_else(|_| graph.warnings(), |structure| structure.warnings());
        report(&warnings.in_file(&args.input.model), global);
        return print(network::listing(&graph, &quant, args.json, global.verbose).as_bytes());
    }
    if let Some((source::Kind::Onnx, bytes)) = args.input.network_file()? {
        // Report option errors before the listing is printed.
        args.input.sources().refuse_token_options()?;
        let name = source::shown(&args.input.model);
        let incomplete = args.input.sources().incomplete_onnx(&bytes, &name)?;
        let incomplete = incomplete.as_ref();
        if args.json {
            match super::onnx::info_json(&bytes, &name, incomplete)? {
                Some(document) => return print(document.as_bytes()),
                None => return described(args, global),
            }
        }
        let (listing, usable) = super::onnx::info(&bytes, &name, global.verbose, incomplete)?;
        let printed = print(listing.as_bytes());
        if !usable {
            return printed;
        }
        printed?;
    }
    described(args, global)
}

/// Describes a program, or a file that is lowered to a program, or a state machine.
fn described(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    let (design, file) = args.input.read_design(global)?;
    let (found, remarks) = describe((&design, &file), &args.options(), &args.input.model)?;
    report(&remarks, global);
    let text = match (&found, args.json) {
        (_, true) => found.to_json(),
        (Description::Program(facts), false) => facts.to_text(global.verbose, args.optimise.names_passes()),
        (Description::Machine(shape), false) => shape.to_text(),
        (Description::Intervals(table), false) => table.to_text(global.verbose),
    };
    let status = print(text.as_bytes());
    if let Description::Program(facts) = &found
        && let Some(seconds) = facts.proof_seconds
    {
        say(&format!("proofs took {} s", four_digits(seconds)), global);
    }
    status
}

/// Describes a design and returns warnings; `path` is that of its file, for the title of the chart.
fn describe(
    (design, file): (&Design, &FileFacts),
    options: &DescriptionOptions,
    path: &Path,
) -> Result<(Description, Diagnostics), Failure> {
    let problems = options.hardware.wrapper_problems();
    if !problems.is_empty() {
        return Err(Failure::input(Diagnostics(problems)));
    }
    let asked = GivenOptions::without_output(&options.hardware);
    let model = match design {
        Design::Model(model) => model,
        Design::Machine(machine) => {
            let shape = states::describe_machine(options, machine, file.form.clone())?;
            let registers = Registers { any: true, cuts: false, ready: false };
            return Ok((Description::Machine(shape), warnings(asked, design, registers, false)));
        }
    };
    let spec = options.hardware.spec("model");
    if let Some(intervals) = options.hardware.intervals.as_ref().filter(|ks| ks[..] != [1])
        && let Some((table, remarks)) = estimate_intervals(options, (model, design), spec.clone(), intervals)?
    {
        return Ok((Description::Intervals(table), remarks));
    }
    let spec =
        Spec { pipeline: Pipeline { interval: None, compared: Vec::new(), budget: None, ..spec.pipeline }, ..spec };
    let optimised = compile::optimise(model, &spec)?;
    let program = &optimised.program;
    let mut sweep = options.sweep.as_ref().map(|counts| sweep::sweep(&optimised, &spec, &counts.0)).transpose()?;
    let proof_seconds = match &mut sweep {
        Some(rows) if options.prove => Some(sweep::prove(rows, &optimised, &spec)?.as_secs_f64()),
        _ => None,
    };
    let pipeline = match spec.is_combinational() || sweep.is_some() {
        true => None,
        false => Some(PipelineTable::new(&optimised, &spec)?),
    };
    if let (Some(chart), Some(rows)) = (&options.svg, &sweep) {
        write_plot(chart, path, program, &spec, rows)?;
    }
    let cuts = sweep.is_some() || pipeline.as_ref().is_some_and(|pipeline| pipeline.latency >= 2);
    let registers = Registers { any: sweep.is_some() || pipeline.is_some(), cuts, ready: false };
    let mut remarks = warnings(asked, design, registers, false);
    remarks.0.extend(pipeline.as_ref().and_then(|pipeline| pipeline.without_logic.clone()));
    remarks.0.extend(options.hardware.assumption(&spec));
    let estimate = match &pipeline {
        Some(pipeline) => pipeline.estimate.clone(),
        None => optimised.estimate_combinational(&spec),
    };
    let facts = facts(model, program, &spec, estimate);
    let passes = optimised.passes;
    let kernel = file.kernel.as_ref().map(KernelFacts::new);
    let facts = Facts { form: file.form.clone(), kernel, passes, pipeline, sweep, proof_seconds, ..facts };
    Ok((Description::Program(Box::new(facts)), remarks))
}

/// Estimates each initiation interval, with warnings; `None` if the program is constant and thus needs no cycle.
fn estimate_intervals(
    options: &DescriptionOptions,
    (model, design): (&Model, &Design),
    mut spec: Spec,
    intervals: &[u32],
) -> Result<Option<(reuse::ReuseTable, Diagnostics)>, Failure> {
    // All intervals are compared with an initiation interval of 1.
    let mut others: Vec<u32> = intervals.iter().copied().filter(|&interval| interval != 1).collect();
    spec.pipeline.interval = others.first().copied();
    if options.sweep.is_some() {
        spec.require_ii_one("--sweep").map_err(Failure::input)?;
    }
    spec.pipeline.compared.clear();
    if spec.pipeline.budget.is_some() {
        let Some(found) = compile::model(model, &spec)?.reused().map(|reused| reused.plan.interval()) else {
            return Ok(None);
        };
        spec.pipeline.budget = None;
        others = vec![found];
    }
    if others.is_empty() {
        return Ok(None);
    }
    let Some(table) = reuse::table(model, &spec, &others)? else { return Ok(None) };
    let asked = GivenOptions::without_output(&options.hardware);
    let mut said = warnings(asked, design, Registers { any: true, cuts: true, ready: true }, false);
    said.0.extend(table.least_shared().and_then(|(interval, shared, from)| little_is_shared(interval, shared, from)));
    Ok(Some((table, said)))
}

fn write_plot(path: &Path, source: &Path, model: &Model, spec: &Spec, rows: &[sweep::Row]) -> Result<(), Failure> {
    // The title contains only the file name, so that the chart is the same in every folder.
    let name = match source.file_name() {
        Some(name) if source.as_os_str() != "-" => name.to_string_lossy().into_owned(),
        _ => "standard input".to_owned(),
    };
    let title = format!("{name}: {}", counted(model.nodes().len(), "operation"));
    let mut batch = Batch::default();
    let drawn = match rows.iter().any(|row| row.on_device.is_some()) {
        true => scatter::sweep_chart(&title, spec.device().name(), rows, spec.clock.period),
        false => {
            // On a device, stage delays include the registers, so they are comparable with the period.
            let required = match spec.delay_model() {
                compile::DelayModel::Device => spec.clock.period,
                compile::DelayModel::LatencyFields | compile::DelayModel::Width => spec.goal().max_stage_delay,
            };
            plot::svg(&title, spec.unit(model).0, rows, required)
        }
    };
    let unwritable = |e: std::io::Error| {
        let place = Place::Flag("--svg".to_owned());
        Failure::input(Diagnostic::error("E0001", place, format!("cannot write {}: {e}", path.display())))
    };
    batch.add_with(path, |out| out.write_all(drawn.as_bytes())).map_err(unwritable)?;
    batch.commit().map_err(unwritable)
}

fn facts(model: &Model, optimised: &Model, spec: &Spec, estimate: Estimate) -> Facts {
    let output_kifs = (0..model.outputs().len()).map(|j| model.output_kif(j));
    let (depth, delay) = depth(optimised, &*spec.delays(optimised));
    Facts {
        form: String::new(),
        inputs: elements(model.input_kifs().iter().copied()),
        outputs: elements(output_kifs),
        kernel: None,
        operations: model.nodes().len(),
        operations_after_optimisation: optimised.nodes().len(),
        passes: Vec::new(),
        kinds: kinds(model, optimised),
        tables: model.tables().len(),
        table_entries: model.tables().iter().map(|table| table.entries.len()).sum(),
        widest: model.kifs().iter().map(|kif| kif.width()).max().unwrap_or(0),
        depth,
        delay,
        delay_unit: spec.unit(optimised).0,
        delay_source: spec.unit(optimised).1,
        cost: model.nodes().iter().map(|node| node.cost).sum(),
        estimate,
        pipeline: None,
        sweep: None,
        proof_seconds: None,
    }
}

fn elements(kifs: impl Iterator<Item = Kif>) -> Elements {
    let kifs: Vec<Kif> = kifs.collect();
    let types = kifs.chunk_by(PartialEq::eq).map(|run| TypeRun { r#type: run[0].to_string(), count: run.len() });
    let types = types.collect();
    let widths: Vec<u32> = kifs.into_iter().map(Kif::width).collect();
    Elements {
        elements: widths.len(),
        bits: widths.iter().map(|&width| u64::from(width)).sum(),
        narrowest: widths.iter().copied().min().unwrap_or(0),
        widest: widths.iter().copied().max().unwrap_or(0),
        types,
    }
}

/// Returns statistics of each kind of operation, the most frequent first.
fn kinds(model: &Model, optimised: &Model) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    let mut at = |name: &'static str| match kinds.iter().position(|kind| kind.operation == name) {
        Some(known) => known,
        None => {
            kinds.push(Kind { operation: name, count: 0, after_optimisation: 0, narrowest: u32::MAX, widest: 0 });
            kinds.len() - 1
        }
    };
    let places: Vec<usize> = model.nodes().iter().map(|node| at(node.op.name())).collect();
    let places_after: Vec<usize> = optimised.nodes().iter().map(|node| at(node.op.name())).collect();
    for (place, kif) in places.into_iter().zip(model.kifs()) {
        let kind = &mut kinds[place];
        kind.count += 1;
        kind.narrowest = kind.narrowest.min(kif.width());
        kind.widest = kind.widest.max(kif.width());
    }
    for place in places_after {
        kinds[place].after_optimisation += 1;
    }
    for kind in kinds.iter_mut().filter(|kind| kind.count == 0) {
        kind.narrowest = 0;
    }
    kinds.sort_by_key(|kind| (std::cmp::Reverse(kind.count), kind.operation));
    kinds
}

/// Returns the number of operations on the longest path, without inputs and constants, and the longest delay from
/// inputs to outputs.
fn depth(model: &Model, delay: &dyn Delay) -> (u32, f64) {
    let mut levels: Vec<u32> = Vec::with_capacity(model.nodes().len());
    for id in model.ids() {
        let op = &model.node(id).op;
        let mut depth = 0;
        op.for_each_operand(|v| depth = depth.max(levels[v.index()]));
        levels.push(depth + u32::from(!matches!(op, Op::Input { .. } | Op::Const { .. })));
    }
    let deepest = model.outputs().iter().filter_map(|out| out.source).map(|v| levels[v.index()]).max();
    (deepest.unwrap_or(0), delay.paths(model).longest(model.nodes().len()))
}

impl Facts {
    /// Returns the description as text: a summary, or all details if `all`. With `passes`, it lists the effect of each
    /// pass too.
    fn to_text(&self, all: bool, passes: bool) -> String {
        let mut text = String::new();
        let out = &mut text;
        let side = |name: &str, side: &Elements| {
            let most = if all { side.types.len() } else { TYPES };
            let shown = side.types.iter().take(most).map(|run| match run.count {
                1 => run.r#type.clone(),
                count => format!("{count} x {}", run.r#type),
            });
            let mut types: Vec<String> = shown.collect();
            if side.types.len() > most {
                let others = side.types.iter().skip(most).map(|run| run.count).sum::<usize>();
                types.push(format!("{others} more (-v lists all)"));
            }
            format!("{name:<12}{:>9}   {}: {}\n", side.elements, counted(side.bits, "bit"), types.join(", "))
        };
        let _ = writeln!(out, "{:<12}{}", "format", self.form);
        out.push_str(&side("inputs", &self.inputs));
        out.push_str(&side("outputs", &self.outputs));
        if let Some(kernel) = &self.kernel {
            kernel.to_text(out);
        }
        let _ = writeln!(
            out,
            "{:<12}{:>9}   {} after optimisation",
            "operations", self.operations, self.operations_after_optimisation
        );
        if self.tables > 0 {
            let _ = writeln!(out, "{:<12}{:>9}   {} entries", "tables", self.tables, self.table_entries);
        }
        let cell = |number: u32, noun: &str| match counted(number, noun).split_once(' ') {
            Some((number, noun)) => format!("{number:>9}   {noun}"),
            None => String::new(),
        };
        let _ = writeln!(out, "{:<12}{}", "widest value", cell(self.widest, "bit"));
        // Clock and delay on a device are printed below, with registers and shared LUTs.
        let delay = match self.delay_unit {
            "ns" => String::new(),
            _ => format!(", delay {} (by {})", with_unit(&short(self.delay), self.delay_unit), self.delay_source),
        };
        let _ = writeln!(out, "{:<12}{}{delay}", "depth", cell(self.depth, "operation"));
        let _ = writeln!(out, "{:<12}{:>9}", "cost", short(self.cost));
        let _ = writeln!(out, "\n{:<12}{:>9}{:>9}{:>9}   widths", "operation", "count", "share", "after");
        let most = if all { self.kinds.len() } else { KINDS };
        for kind in self.kinds.iter().take(most) {
            let share = 100.0 * kind.count as f64 / self.operations.max(1) as f64;
            let widths = range(kind.narrowest, kind.widest);
            let _ = writeln!(
                out,
                "{:<12}{:>9}{share:>7.1} %{:>9}   {widths}",
                kind.operation, kind.count, kind.after_optimisation
            );
        }
        if self.kinds.len() > most {
            let _ = writeln!(out, "and {} more (-v lists all)", self.kinds.len() - most);
        }
        match (self.passes.first(), self.passes.last()) {
            (Some(_), Some(_)) if all || passes => {
                let _ = writeln!(out, "\n{}", optimise::savings(&self.passes));
            }
            (Some(first), Some(last)) => {
                let (count, before, after) = (self.passes.len(), first.bits_before, last.bits_after);
                let _ = writeln!(out, "{:<12}{count:>9}   {before} to {after} bits computed (-v lists them)", "passes");
            }
            _ => {}
        }
        let of = match &self.pipeline {
            Some(pipeline) => format!(", latency {}", pipeline.latency),
            None => ", combinational".to_owned(),
        };
        device::show(&self.estimate, &of, out);
        if let Some(pipeline) = &self.pipeline {
            pipeline.to_text(out, all);
        }
        if let Some(rows) = &self.sweep {
            sweep::to_text(rows, self.delay_unit, out);
        }
        text
    }
}

/// Number of kinds of operations that are printed without -v.
const KINDS: usize = 6;
/// Number of groups of elements that are printed without -v.
const TYPES: usize = 6;

fn range(narrowest: u32, widest: u32) -> String {
    if narrowest == widest { widest.to_string() } else { format!("{narrowest} to {widest}") }
}

/// Formats a number with four digits.
fn short(value: f64) -> String {
    four_digits(value)
}
