//! `alir2hdl verify`: does the generated text do what the model says, in every simulator?

use super::hardware::{PipelineArgs, PortArgs};
use super::input::{Design, InputArgs};
use super::optimise::OptimiseArgs;
use super::text::TextArgs;
use super::wrapper::WrapperArgs;
use super::{ExitStatus, Failure, Global, on_interrupt, print, report};
use super::{machine, ports};
use crate::compile::{self, Hardware, Source, Spec};
use crate::diag::{Diagnostic, Diagnostics, Place, Severity};
use crate::emit::Language;
use crate::files::Scratch;
use crate::ir::machine::Machine;
use crate::verify::{
    self, Check, Cycles, Deadline, Difference, Finding, MachineRun, Mismatch, Origin, SIMULATORS, SimError, Simulator,
    StreamCheck, Streams, Tools, Vectors, machine_stimulus,
};
use clap::ValueEnum;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Simulate the generated Verilog and VHDL and compare every clock with the model
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl verify model.json.gz                                  combinational, every installed simulator
  alir2hdl verify model.json.gz --pipeline 3 --valid --enable    with stalls at random
  alir2hdl verify model.json.gz --sim ghdl --keep wave --vcd     then: gtkwave wave/ghdl/wave.vcd

A new sample is applied every clock, corners first; with --valid, --enable or --reset there are random bubbles, pauses
and resets. A difference is shown with output element, sample, both codes, and the signal where it begins.
Simulators are looked for in ALIR2HDL_TOOLS, on the PATH and in .venv/bin; ALIR2HDL_VERILATOR, ALIR2HDL_IVERILOG,
ALIR2HDL_GHDL name one directly.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    simulation: SimulationArgs,
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

/// What is simulated, and how.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Simulation")]
struct SimulationArgs {
    /// Which text to simulate
    #[arg(long, value_enum, default_value_t, value_name = "LANGUAGE")]
    lang: LangArg,
    /// Which simulator; `all` takes what is installed
    #[arg(long, value_enum, default_value_t, value_name = "NAME")]
    sim: SimArg,
    /// Number of samples, or of cycles of a state machine
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    vectors: u32,
    /// What is applied to a state machine instead of random numbers: an npz with an array for each input port, or a folder
    /// with an npy each, a row a cycle
    #[arg(long, value_name = "FILE", conflicts_with_all = ["vectors", "seed"])]
    stimulus: Option<PathBuf>,
    /// Samples and stalls of another seed
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// VHDL revision that GHDL is told to read
    #[arg(long, value_name = "YEAR", default_value = "08", value_parser = ["93", "08"], hide_short_help = true)]
    vhdl_standard: String,
    /// Leave text, testbench, vectors, logs and a script that repeats the run in this folder
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Write a value change dump of the whole run for a waveform viewer
    #[arg(long, requires = "keep")]
    vcd: bool,
    /// Print what was found as JSON
    #[arg(long)]
    json: bool,
    /// Give up after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3600, hide_short_help = true)]
    timeout: u64,
}

/// Languages as they are typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum LangArg {
    /// Verilog
    Verilog,
    /// VHDL
    Vhdl,
    /// One after the other
    #[default]
    Both,
}

/// Simulators as they are typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum SimArg {
    /// Verilator (Verilog)
    Verilator,
    /// Icarus Verilog (Verilog)
    Iverilog,
    /// GHDL (VHDL)
    Ghdl,
    /// Every one that is installed
    #[default]
    All,
}

impl LangArg {
    fn languages(self) -> &'static [Language] {
        match self {
            LangArg::Verilog => &[Language::Verilog],
            LangArg::Vhdl => &[Language::Vhdl],
            LangArg::Both => &[Language::Verilog, Language::Vhdl],
        }
    }
}

impl SimArg {
    fn chooses(self, simulator: &dyn Simulator) -> bool {
        self == SimArg::All || self.to_possible_value().is_some_and(|v| v.get_name() == simulator.name())
    }
}

/// A simulator that takes part.
struct Part {
    simulator: &'static dyn Simulator,
    version: String,
    language: Language,
}

/// What a part found, and how long it took.
struct Outcome {
    result: Result<Finding, SimError>,
    seconds: f32,
}

impl Args {
    /// What was asked for.
    fn spec(&self) -> Spec {
        let mut spec = Spec::default();
        self.optimise.fill(&mut spec);
        self.pipeline.fill(&mut spec);
        self.ports.fill(&mut spec, stem(&self.input.model));
        self.wrapper.fill(&mut spec);
        self.text.fill(&mut spec);
        spec
    }
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    let tools = Tools::of_environment();
    // Before anything takes time: is there somebody to ask?
    let parts = args.simulation.parts(&tools, global)?;
    on_interrupt(verify::end_all);
    let (design, file) = args.input.read_design(global)?;
    let model = match design {
        Design::Model(model) => model,
        Design::Machine(machine) => return of_machine(args, &machine, &parts, &tools, global),
    };
    if let Some(path) = &args.simulation.stimulus {
        let place = Place::Flag("--stimulus".into());
        let message = format!("{} is for a state machine, and this is none", path.display());
        let help = "--vectors and --seed choose the samples of a model";
        return Err(Failure::input(Diagnostic::error("E1008", place, message).with_help(help)));
    }
    let spec = args.spec();
    let problems = [args.ports.problems(), args.wrapper.problems()].concat();
    if !problems.is_empty() {
        return Err(Failure::input(Diagnostics([problems, spec.problems()].concat())));
    }
    let hardware = compile::model(&model, &spec)?;
    let (count, seed) = (args.simulation.vectors as usize, args.simulation.seed);
    // Expected values are those of the model as it was read: optimisation is under test too.
    // A kernel's own interpreter says what is right: the lowering is under test too.
    let source = file.kernel.as_ref().map(|program| program as &dyn Source);
    let vectors = Vectors::of(&model, source, &spec, count, seed).map_err(Failure::input)?;
    // So does a network's.
    let vectors = match &file.network {
        Some(network) => {
            let outputs = super::network::expected(&*network.meaning, &model, &vectors.inputs)?;
            Vectors { outputs, ..vectors }
        }
        None => vectors,
    };
    if hardware.axis.is_some() {
        spec.every_input("a wrapper's simulation").map_err(Failure::input)?;
    }
    let cycles = Cycles::of(&hardware.netlist, &vectors, seed);
    let streams = |axis| match source {
        Some(source) => Streams::plan_lowered(&model, source, axis, count, seed),
        None => Ok(Streams::plan(&model, axis, count, seed)),
    };
    let streams = hardware.axis.as_ref().map(streams).transpose().map_err(Failure::input)?;
    let work = Work { hardware: &hardware, cycles: &cycles, streams: streams.as_ref() };
    let outcomes = args.simulation.simulate(&parts, &tools, &work, global)?;
    conclude(&parts, &outcomes, &work, args.simulation.json, global)
}

/// The same for a state machine, cycle by cycle from power-on.
fn of_machine(
    args: &Args,
    machine: &Machine,
    parts: &[Part],
    tools: &Tools,
    global: Global,
) -> Result<ExitStatus, Failure> {
    machine::refuse(args.pipeline.given().into_iter().chain(args.ports.given()).chain(args.wrapper.given()))?;
    let hardware = compile::machine(machine, &args.spec())?;
    let cycles = args.simulation.vectors as usize;
    let stimulus = match &args.simulation.stimulus {
        None => machine_stimulus(machine, cycles, args.simulation.seed),
        Some(path) => ports::Inputs::open(machine, path, false)?.rows(machine)?,
    };
    // Expected values are those of the machine as it was read: optimisation is under test too.
    let cycles = MachineRun::golden(machine, stimulus).cycles(&hardware.netlist.interface);
    let work = Work { hardware: &hardware, cycles: &cycles, streams: None };
    let outcomes = args.simulation.simulate(parts, tools, &work, global)?;
    conclude(parts, &outcomes, &work, args.simulation.json, global)
}

/// The model's name: that of its file without folder and extensions.
pub(super) fn stem(path: &Path) -> &str {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("model");
    name.split('.').next().filter(|s| !s.is_empty() && *s != "-").unwrap_or("model")
}

impl SimulationArgs {
    /// Who takes part.
    ///
    /// # Errors
    /// If a simulator that was asked for is not there, or none for a language that was asked for (exit code 3).
    fn parts(&self, tools: &Tools, global: Global) -> Result<Vec<Part>, Failure> {
        let languages = self.lang.languages();
        let mut parts = Vec::new();
        let mut absent: Vec<(Language, Diagnostic)> = Vec::new();
        for simulator in SIMULATORS.iter().copied().filter(|s| self.sim.chooses(*s)) {
            for language in simulator.languages().iter().filter(|l| languages.contains(l)) {
                match simulator.probe(tools) {
                    Ok(version) => parts.push(Part { simulator, version, language: *language }),
                    Err(error) => absent.push((*language, error.diagnostic(simulator))),
                }
            }
        }
        if parts.is_empty() && absent.is_empty() {
            let message = format!(
                "{} does not read this language",
                self.sim.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned())
            );
            let error = Diagnostic::error("E1006", Place::Flag("--sim".into()), message);
            return Err(Failure::input(error.with_help("verilator and iverilog read Verilog, ghdl reads VHDL")));
        }
        let silent = |l: &Language| self.sim == SimArg::All && parts.iter().all(|p| p.language != *l);
        let needed = absent.iter().any(|(language, _)| self.sim != SimArg::All || silent(language));
        let mut said: Diagnostics = Diagnostics(absent.into_iter().map(|(_, d)| d).collect());
        if needed {
            return Err(Failure::missing_tool(said));
        }
        said.0.iter_mut().for_each(|d| d.severity = Severity::Note);
        report(&said, global);
        Ok(parts)
    }

    /// Runs all parts side by side.
    fn simulate(
        &self,
        parts: &[Part],
        tools: &Tools,
        work: &Work<'_>,
        global: Global,
    ) -> Result<Vec<Outcome>, Failure> {
        let temporary = Scratch::new().map_err(|e| Failure::io(&std::env::temp_dir(), "write", &e))?;
        let base = self.keep.as_deref().unwrap_or(temporary.path());
        let mut folders = Vec::new();
        for part in parts {
            let folder = base.join(part.simulator.name());
            make_empty(&folder)?;
            folders.push(folder);
        }
        let progress = MultiProgress::with_draw_target(match global.quiet {
            true => ProgressDrawTarget::hidden(),
            // Draws nothing unless it is a terminal.
            false => ProgressDrawTarget::stderr(),
        });
        let deadline = Deadline::after(Duration::from_secs(self.timeout));
        let one = |part: &Part, folder: &Path| {
            let bar = spinner(&progress, part);
            let start = Instant::now();
            let result = work.run(part, self, tools, folder, deadline);
            bar.finish_and_clear();
            Outcome { result, seconds: start.elapsed().as_secs_f32() }
        };
        Ok(std::thread::scope(|scope| {
            let one = &one;
            let jobs: Vec<_> = parts.iter().zip(&folders).map(|(p, f)| scope.spawn(move || one(p, f))).collect();
            jobs.into_iter().map(|j| j.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        }))
    }
}

/// What is simulated.
struct Work<'a> {
    hardware: &'a Hardware<'a>,
    cycles: &'a Cycles,
    /// The streams of the wrapper; then these run and not the cycles.
    streams: Option<&'a Streams<'a>>,
}

impl Work<'_> {
    fn run(
        &self,
        part: &Part,
        how: &SimulationArgs,
        tools: &Tools,
        folder: &Path,
        deadline: Deadline,
    ) -> Result<Finding, SimError> {
        let (language, vhdl_standard) = (part.language, how.vhdl_standard.as_str());
        let text = self.hardware.text(language);
        if let Some(streams) = self.streams {
            let file = format!("{}.{}", self.hardware.top(), language.extension());
            let check = StreamCheck { file: &file, text: &text, language, vhdl_standard, streams };
            return check.run(part.simulator, tools, folder, deadline);
        }
        let (netlist, cycles) = (&self.hardware.netlist, self.cycles);
        let check = Check { netlist, text: &text, language, vhdl_standard, cycles, vcd: how.vcd };
        check.run(part.simulator, tools, folder, deadline)
    }

    /// What was compared, for people.
    fn about(&self) -> String {
        match self.streams {
            Some(streams) => {
                let (inputs, outputs) = (streams.inputs.len(), streams.outputs.len());
                format!("{} samples in {inputs} beats, out in {outputs}", self.cycles.samples)
            }
            None => format!("{} samples in {} cycles", self.cycles.samples, self.cycles.cycles.len()),
        }
    }
}

/// Makes a folder for a job. What an earlier run kept there goes; anything else stays, and is an error.
fn make_empty(folder: &Path) -> Result<(), Failure> {
    let failed = |e: &std::io::Error| Failure::io(folder, "use as the folder of a simulation", e);
    if folder.join("run.sh").is_file() {
        crate::files::remove_folder(folder).map_err(|e| failed(&e))?;
    }
    std::fs::create_dir_all(folder).map_err(|e| failed(&e))?;
    let is_empty = std::fs::read_dir(folder).map_err(|e| failed(&e))?.next().is_none();
    if !is_empty {
        let error = Diagnostic::error("E1007", Place::Path(folder.display().to_string()), "the folder is not empty");
        return Err(Failure::input(error.with_help("name another one with --keep, or empty it")));
    }
    Ok(())
}

fn spinner(progress: &MultiProgress, part: &Part) -> ProgressBar {
    let bar = progress.add(ProgressBar::new_spinner());
    bar.set_style(
        ProgressStyle::with_template("{spinner} {msg} {elapsed}").unwrap_or(ProgressStyle::default_spinner()),
    );
    bar.set_message(format!("{} ({})", part.simulator.name(), part.language.name()));
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// Says what was found, and with which exit code the program ends.
fn conclude(
    parts: &[Part],
    outcomes: &[Outcome],
    work: &Work<'_>,
    json: bool,
    global: Global,
) -> Result<ExitStatus, Failure> {
    let mut status = ExitStatus::Ok;
    let mut errors = Diagnostics::default();
    for (part, outcome) in parts.iter().zip(outcomes) {
        match &outcome.result {
            Ok(finding) if finding.report.wrong_rows == 0 => {}
            Ok(_) => status = ExitStatus::Mismatch,
            Err(error) => {
                let failure = match error {
                    SimError::Missing { .. } => ExitStatus::MissingTool,
                    SimError::Refused { .. } => ExitStatus::Bug,
                    SimError::Timeout { .. } | SimError::Crashed { .. } | SimError::Io(_) => ExitStatus::Undecided,
                };
                status = if status == ExitStatus::Mismatch { status } else { failure };
                let mut diagnostic = error.diagnostic(part.simulator);
                if failure == ExitStatus::Bug {
                    diagnostic.severity = Severity::Bug;
                }
                errors.0.push(diagnostic);
            }
        }
    }
    report(&errors, global);
    let text = if json { as_json(parts, outcomes, work) } else { as_text(parts, outcomes, work) };
    print(text.as_bytes())?;
    Ok(status)
}

/// A line for each part that came to a result, and what differs.
fn as_text(parts: &[Part], outcomes: &[Outcome], work: &Work<'_>) -> String {
    let mut text = String::new();
    for (part, outcome) in parts.iter().zip(outcomes) {
        let Ok(finding) = &outcome.result else { continue };
        let name = format!("{:<10} {:<8}", part.simulator.name(), part.language.name());
        text.push_str(&match finding.report.wrong_rows {
            0 => format!("{name} equal: {}, {:.1} s, {}\n", work.about(), outcome.seconds, part.version),
            _ => format!("{name} DIFFERENT: {}\n", described(finding)),
        });
    }
    text
}

/// The same for programs, without what differs from run to run (times).
fn as_json(parts: &[Part], outcomes: &[Outcome], work: &Work<'_>) -> String {
    let mismatch = |m: &Mismatch| match &m.what {
        Difference::Stream(what) => json!({ "cycle": m.cycle, "stream": what }),
        Difference::Valid { expected } => json!({ "cycle": m.cycle, "port": "valid", "expected": expected }),
        Difference::Output { element, name, sample, expected, found } => json!({
            "cycle": m.cycle,
            "sample": sample,
            "element": element,
            "name": name,
            // Codes of any width: as text, which no reader of JSON rounds.
            "expected": expected.to_string(),
            "found": found.as_ref().map(ToString::to_string),
        }),
    };
    let origin = |origin: &Origin| match origin {
        Origin::Text(signal) => json!({ "cycle": signal.cycle, "signal": signal.to_string() }),
        Origin::Netlist => json!({ "signal": null }),
    };
    let outcome = |(part, outcome): (&Part, &Outcome)| {
        let (result, finding) = match &outcome.result {
            Ok(finding) if finding.report.wrong_rows == 0 => ("equal", Some(finding)),
            Ok(finding) => ("different", Some(finding)),
            Err(SimError::Timeout { .. }) => ("timeout", None),
            Err(_) => ("failed", None),
        };
        json!({
            "simulator": part.simulator.name(),
            "version": part.version,
            "language": part.language.name(),
            "result": result,
            "compared_cycles": finding.map(|f| f.report.compared),
            "different_cycles": finding.map(|f| f.report.wrong_rows),
            "mismatches": finding.map(|f| f.report.mismatches.iter().map(mismatch).collect::<Vec<_>>()),
            "origin": finding.and_then(|f| f.origin.as_ref()).map(origin),
            "error": outcome.result.as_ref().err().map(ToString::to_string),
        })
    };
    let all = json!({
        "samples": work.cycles.samples,
        "cycles": work.streams.is_none().then_some(work.cycles.cycles.len()),
        "beats": work.streams.map(|streams| json!({ "in": streams.inputs.len(), "out": streams.outputs.len() })),
        "simulations": parts.iter().zip(outcomes).map(outcome).collect::<Vec<_>>(),
    });
    format!("{all:#}\n")
}

/// Differences that are shown.
const SHOWN: usize = 5;

fn described(finding: &Finding) -> String {
    let report = &finding.report;
    let mut text = format!("{} of {} compared cycles", report.wrong_rows, report.compared);
    for mismatch in report.mismatches.iter().take(SHOWN) {
        text.push_str(&format!("\n  {mismatch}"));
    }
    if report.wrong_rows > 1 && report.mismatches.len() > SHOWN {
        text.push_str("\n  ...");
    }
    match &finding.origin {
        Some(Origin::Text(signal)) => {
            text.push_str(&format!("\n  begins at cycle {}: {signal}", signal.cycle));
        }
        Some(Origin::Netlist) => {
            text.push_str("\n  every signal is as alir2hdl meant it: the difference is older than the text; try -O0");
        }
        None => {}
    }
    text
}
