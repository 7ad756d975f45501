//! The main job, without a sub-command: a model in, Verilog and VHDL out.

use super::hardware::{self, PipelineArgs, PolarityArg, PortArgs};
use super::input::{Design, InputArgs};
use super::machine;
use super::optimise::{self, OptimiseArgs};
use super::proof;
use super::text::TextArgs;
use super::wrapper::WrapperArgs;
use super::{ExitStatus, Failure, Global, on_interrupt, say};
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::emit::axis::Axis;
use crate::emit::{self, Language, MachineFacts, Sidecar};
use crate::files::Batch;
use crate::ir::Model;
use crate::ir::machine::Machine;
use crate::netlist::{self, Netlist};
use crate::passes::PassStat;
use crate::schedule::Outcome;
use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Everything that the main job can be told.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    pipeline: PipelineArgs,
    #[command(flatten)]
    ports: PortArgs,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    wrapper: WrapperArgs,
    #[command(flatten)]
    optimise: OptimiseArgs,
}

/// What is written where.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Results")]
struct OutputArgs {
    /// Write Verilog-2001 to this file; `-` for stdout
    #[arg(long, value_name = "FILE")]
    verilog: Option<PathBuf>,
    /// Write VHDL (for 1993 and 2008) to this file; `-` for stdout
    #[arg(long, value_name = "FILE")]
    vhdl: Option<PathBuf>,
    /// Write ports, types, latency and register bits as JSON to this file; `-` for stdout
    #[arg(long, value_name = "FILE")]
    interface: Option<PathBuf>,
    /// Prove each optimisation, the netlist and each Verilog and VHDL text, before anything is written; with --wrapper the
    /// pipeline inside it (`verify --wrapper axis` simulates the whole)
    #[arg(long)]
    prove: bool,
    /// Say how long each step took
    #[arg(long, hide_short_help = true)]
    timings: bool,
}

/// A file to be written.
struct Target<'a> {
    flag: &'static str,
    path: &'a Path,
    /// Nothing for the interface.
    language: Option<Language>,
}

impl Target<'_> {
    fn is_stdout(&self) -> bool {
        self.path.as_os_str() == "-"
    }
}

impl OutputArgs {
    fn targets(&self) -> Vec<Target<'_>> {
        let asked = [
            ("--verilog", &self.verilog, Some(Language::Verilog)),
            ("--vhdl", &self.vhdl, Some(Language::Vhdl)),
            ("--interface", &self.interface, None),
        ];
        let given = asked.into_iter().filter_map(|(flag, path, language)| Some((flag, path.as_deref()?, language)));
        given.map(|(flag, path, language)| Target { flag, path, language }).collect()
    }
}

/// Operations above which writing takes so long that somebody may interrupt it. A watch for that costs as much as writing a
/// small model.
const LONG: usize = 10_000;

/// Runs the main job.
pub(super) fn run(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    let targets = args.output.targets();
    let problems = problems(&targets);
    if !problems.is_empty() {
        return Err(Failure::input(Diagnostics(problems)));
    }
    let mut clock = Clock::start();
    // The process ends with this job: taking a million operations apart again would cost time and gain nothing.
    let (design, file) = args.input.read_design(global)?;
    let design = ManuallyDrop::new(design);
    clock.lap("read");
    // First of all: an optimisation that changed the meaning ends the job here.
    let chain = match &*design {
        Design::Model(model) if args.output.prove => {
            Some(proof::Chain::of(&args.optimise, model, &args.pipeline, global)?)
        }
        _ => None,
    };
    let (netlists, about) = match &*design {
        Design::Model(model) => of_model(args, &targets, model, &mut clock)?,
        Design::Machine(machine) => of_machine(args, &targets, machine, &mut clock)?,
    };
    let netlists = ManuallyDrop::new(netlists);
    clock.lap("lower");
    if design.operations() > LONG {
        on_interrupt(|| {});
    }
    let mut batch = Batch::default();
    for (target, netlist) in targets.iter().zip(netlists.iter()) {
        let made = netlist.as_ref().unwrap_or_else(|| first(&netlists));
        let texts = args.text.options(&args.pipeline, &args.optimise);
        let write = |out: &mut dyn Write| match target.language {
            Some(language) => made.write(language, &texts, out),
            None => out.write_all(sidecar(made, &targets, &about, &file.checksum).as_bytes()),
        };
        let staged = match (target.language, args.output.prove) {
            (Some(language), true) => {
                // Once: what is proved is what is written.
                let mut text = Vec::new();
                write(&mut text).map_err(|e| unwritable(target, &e))?;
                prove(args, &design, chain.as_ref(), (made, language, &text), global)?;
                stage(&mut batch, target, |out| out.write_all(&text))
            }
            _ => stage(&mut batch, target, write),
        };
        staged.map_err(|e| unwritable(target, &e))?;
    }
    clock.lap("write");
    batch.commit().map_err(|e| Failure::io(targets[0].path, "write", &e))?;
    if global.verbose && !about.passes.is_empty() {
        say(&optimise::savings(&about.passes), global);
    }
    say(&about.summary, global);
    if args.output.prove && first(&netlists).axis.is_some() {
        say(
            "proved: the pipeline inside the wrapper; the wrapper itself is simulated by `verify --wrapper axis`",
            global,
        );
    }
    if args.output.timings {
        say(&clock.report(), global);
    }
    Ok(ExitStatus::Ok)
}

/// Proves what is about to be written: of a wrapper's file, the pipeline in it.
fn prove(
    args: &Args,
    design: &Design,
    chain: Option<&proof::Chain>,
    (made, language, text): (&Made, Language, &[u8]),
    global: Global,
) -> Result<(), Failure> {
    match (design, chain) {
        (Design::Model(model), Some(chain)) => {
            let names = (&args.ports.names, args.ports.reset_polarity == PolarityArg::Low);
            let core = made.axis.is_some().then_some(made.netlist.interface.top.as_str());
            chain.prove(model, &made.netlist, (language, text, core), names, global)
        }
        (Design::Machine(machine), _) => proof::of_machine(machine, (language, text), global),
        (Design::Model(_), None) => {
            let message = "a model shall be proved, and its optimisations were not";
            Err(hardware::bug(Diagnostic::error("E0906", Place::Flag("--prove".into()), message)))
        }
    }
}

/// What is told about the hardware beside it.
struct About {
    /// One line for people.
    summary: String,
    /// What the optimisations did, for those who ask.
    passes: Vec<PassStat>,
    /// Delay of each pipeline stage.
    delays: Vec<f64>,
    /// What only a state machine has.
    machine: Option<MachineFacts>,
}

/// The hardware of a model for each target.
fn of_model(
    args: &Args,
    targets: &[Target<'_>],
    model: &Model,
    clock: &mut Clock,
) -> Result<(Vec<Option<Made>>, About), Failure> {
    let mut problems = args.ports.problems(&args.pipeline);
    problems.extend(args.wrapper.problems(&args.ports));
    let top = args.ports.top.clone().unwrap_or_else(|| args.ports.top_from_stem("model"));
    problems.extend(args.ports.options(&top).check().err().unwrap_or_default());
    if !problems.is_empty() {
        return Err(Failure::input(Diagnostics(problems)));
    }
    let read = model;
    let (model, passes) = args.optimise.apply(model, &args.pipeline)?;
    // As with the file's own.
    let model = ManuallyDrop::new(model);
    clock.lap("optimise");
    let outcome = args.pipeline.schedule(&model, args.ports.registers())?;
    clock.lap("schedule");
    let lower = |top: &str| {
        let options = args.pipeline.for_device(args.wrapper.core_options(&args.ports, top));
        let netlist = args.optimise.noted(hardware::lower(&model, &outcome, &options)?, read);
        let axis = args.wrapper.around(top, &netlist)?;
        Ok(Made { netlist, axis })
    };
    let netlists = netlists(args, targets, |stem| args.ports.top_from_stem(stem), lower)?;
    let summary = summary(&model, &outcome, first(&netlists));
    let delays = if outcome.schedule.stages == 0 { Vec::new() } else { outcome.stage_delays };
    Ok((netlists, About { summary, passes, delays, machine: None }))
}

/// The hardware of a state machine for each target.
fn of_machine(
    args: &Args,
    targets: &[Target<'_>],
    machine: &Machine,
    clock: &mut Clock,
) -> Result<(Vec<Option<Made>>, About), Failure> {
    machine::refuse(args.pipeline.given().into_iter().chain(args.ports.given()).chain(args.wrapper.given()))?;
    let optimised = args.optimise.apply_to_machine(machine)?;
    clock.lap("optimise");
    let legal = |stem: &str| netlist::names::legalise(stem);
    let netlists = netlists(args, targets, legal, |top| {
        let netlist = machine::lower(&optimised.machine, top, args.ports.top.as_deref())?;
        Ok(Made { netlist, axis: None })
    })?;
    let netlist = &first(&netlists).netlist;
    let summary = machine::summary(machine, netlist, &optimised.pipelines);
    let machine = Some(machine::facts(machine, netlist, &optimised.pipelines));
    Ok((netlists, About { summary, passes: Vec::new(), delays: Vec::new(), machine }))
}

/// What cannot be meant.
fn problems(targets: &[Target<'_>]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    if targets.is_empty() {
        problems.push(
            Diagnostic::error("E0802", Place::Whole, "nothing to write")
                .with_help("add --verilog FILE, --vhdl FILE or --interface FILE; `alir2hdl info MODEL` only looks"),
        );
    }
    problems
}

/// The netlist of each target; none where it is that of the first.
///
/// Without `--top` a module is called like its file. Files of one name, and the interface, share a netlist.
fn netlists(
    args: &Args,
    targets: &[Target<'_>],
    top_from_stem: impl Fn(&str) -> String,
    lower: impl Fn(&str) -> Result<Made, Failure>,
) -> Result<Vec<Option<Made>>, Failure> {
    let mut tops: Vec<String> = Vec::new();
    let mut netlists = Vec::new();
    for target in targets {
        let top = match &args.ports.top {
            Some(top) => top.clone(),
            None if target.language.is_none() && !tops.is_empty() => tops[0].clone(),
            None => top_from_stem(&stem(target, &args.input.model)),
        };
        let known = tops.first() == Some(&top);
        netlists.push(if known { None } else { Some(lower(&top)?) });
        tops.push(top);
    }
    Ok(netlists)
}

/// A netlist, and the wrapper around it.
struct Made {
    netlist: Netlist,
    axis: Option<Axis>,
}

impl Made {
    /// Writes the text, with the wrapper's behind it.
    fn write(&self, language: Language, texts: &emit::Options, out: &mut dyn Write) -> io::Result<()> {
        emit::write(&self.netlist, language, texts, out)?;
        let wrapper = self.axis.as_ref().map(|axis| axis.text(language));
        out.write_all(wrapper.unwrap_or_default().as_bytes())
    }
}

fn first(netlists: &[Option<Made>]) -> &Made {
    netlists.iter().flatten().next().expect("the first target has one")
}

/// The name of the output file without its extensions, or that of the model if the text goes to stdout.
fn stem(target: &Target<'_>, model: &Path) -> String {
    let of = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let device = target.path.starts_with("/dev");
    let name = if target.is_stdout() || device { of(model).filter(|name| name != "-") } else { of(target.path) };
    let name = name.unwrap_or_else(|| "model".into());
    let mut stem = name.as_str();
    for extension in [".gz", ".json", ".v", ".sv", ".vhd", ".vhdl"] {
        stem = stem.strip_suffix(extension).unwrap_or(stem);
    }
    stem.to_owned()
}

fn stage(
    batch: &mut Batch,
    target: &Target<'_>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if target.is_stdout() { batch.add_stdout(write) } else { batch.add_with(target.path, write) }
}

fn unwritable(target: &Target<'_>, error: &io::Error) -> Failure {
    let place = Place::Flag(target.flag.into());
    let folder = target.path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let message = format!("cannot write {}: {error}", target.path.display());
    let diagnostic = Diagnostic::error("E0001", place, message);
    Failure::input(match folder {
        Some(folder) => diagnostic.with_help(format!("the folder {} does not exist", folder.display())),
        None => diagnostic,
    })
}

fn sidecar(made: &Made, targets: &[Target<'_>], about: &About, checksum: &str) -> String {
    let languages: Vec<Language> = targets.iter().filter_map(|target| target.language).collect();
    let sidecar = Sidecar::new(&made.netlist, &languages, &about.delays, checksum.to_owned());
    sidecar.with_axis(made.axis.as_ref()).with_machine(about.machine.clone()).to_json()
}

/// One line about what was made.
fn summary(model: &Model, outcome: &Outcome, made: &Made) -> String {
    let netlist = &made.netlist;
    let operations = model.nodes().len();
    let latency = outcome.schedule.latency();
    let longest = outcome.stage_delays.iter().copied().fold(0.0, f64::max);
    let shape = match outcome.schedule.stages {
        0 if latency == 0 => format!("combinational, delay {longest}"),
        0 => {
            let ends = match (outcome.schedule.register_inputs, outcome.schedule.register_outputs) {
                (true, true) => "inputs and outputs",
                (true, false) => "inputs",
                _ => "outputs",
            };
            format!("{ends} registered, delay {longest}")
        }
        1 => format!("1 stage, delay {longest}"),
        stages => format!("{stages} stages, the longest of delay {longest}"),
    };
    let bits = netlist.register_bits();
    let (name, around) = match &made.axis {
        None => (&netlist.interface.top, String::new()),
        Some(axis) => {
            let (latency, interval) = (axis.latency(), axis.initiation_interval());
            (&axis.top, format!("; AXI4-Stream: latency {latency}, a sample every {interval} clocks"))
        }
    };
    let quality = hardware::quality(outcome);
    format!("{name}: {operations} operations, {shape}, latency {latency}, {bits} register bits{quality}{around}")
}

/// How long each step took.
struct Clock {
    last: Instant,
    laps: Vec<(&'static str, f64)>,
}

impl Clock {
    fn start() -> Clock {
        Clock { last: Instant::now(), laps: Vec::new() }
    }

    fn lap(&mut self, step: &'static str) {
        let now = Instant::now();
        self.laps.push((step, (now - self.last).as_secs_f64()));
        self.last = now;
    }

    fn report(&self) -> String {
        let lines: Vec<String> = self.laps.iter().map(|(step, seconds)| format!("{step:<10}{seconds:9.3} s")).collect();
        lines.join("\n")
    }
}
