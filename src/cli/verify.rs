//! `alir2hdl verify`: simulates generated RTL in every simulator and compares it with the model.

use super::hardware::{PipelineArgs, PortArgs};
use super::idle::{GivenOptions, Registers, warnings};
use super::input::{Design, FileFacts, InputArgs};
use super::optimise::OptimiseArgs;
use super::own::{OwnArgs, subject};
use super::progress::{Bar, Bars};
use super::rtl_files::{RtlFileArgs, read_file};
use super::text::TextArgs;
use super::wrapper::WrapperArgs;
use super::{ExitStatus, Failure, Global, HeldProgram, machine, on_interrupt, print, report, schema};
use crate::compile::{self, Spec};
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::emit::Language;
use crate::options::HardwareOptions;
use crate::verify::foreign::Foreign;
use crate::verify::options::SimulationOptions;
use crate::verify::runner::{self, Event, Outcomes, Part, SimulationSettings, Verification};
use crate::verify::verification::{self, VerifyRequest};
use crate::verify::{self, Tools};
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Simulate the RTL of a model and compare every cycle
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl verify model.json.gz                      every installed simulator
  alir2hdl verify model.json.gz --stages 3 --valid --enable      random stalls
  alir2hdl verify model.json.gz --sim ghdl --keep wave --vcd     wave/ghdl
  alir2hdl verify model.json.gz --input X.npy --expect Y.npy     own samples
  alir2hdl verify model.json.gz --rtl edited.v --stages 3        other RTL
  alir2hdl verify model.json.gz -f project.f -I include --top dut

A new sample is applied every clock, corners first; with --valid, --enable or --reset there are random bubbles, pauses
and resets. A difference is shown with element, sample, both values, and the signal where it begins.
Files of --rtl have the ports and the latency that generated RTL would have with the same options \
(docs/rtl-interface.md).
Simulators are searched in ALIR2HDL_TOOLS, on the PATH and in .venv/bin; ALIR2HDL_GHDL and the like name one \
directly.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    simulation: SimulationArgs,
    #[command(flatten)]
    own: OwnArgs,
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
    /// Simulate these languages
    #[arg(long, value_enum, default_value = "both", value_delimiter = ',', value_name = "LANGUAGE")]
    lang: Vec<LangArg>,
    /// Use these simulators; all takes what is installed
    #[arg(long, value_enum, default_value = "all", value_delimiter = ',', value_name = "NAME")]
    sim: Vec<SimArg>,
    /// Apply this many samples, or cycles of a state machine
    #[arg(
        long,
        value_name = "N",
        help_heading = "Samples",
        default_value_t = 10_000,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    vectors: u32,
    /// Draw other samples and stalls
    #[arg(long, value_name = "S", help_heading = "Samples", default_value_t = 1, hide_short_help = true)]
    seed: u64,
    /// Simulate these files instead of generated RTL
    #[arg(long, value_name = "FILE", help_heading = "RTL files", num_args = 1.., value_delimiter = ',',
        conflicts_with = "lang")]
    rtl: Vec<PathBuf>,
    #[command(flatten)]
    rtl_files: RtlFileArgs,
    /// Tell GHDL to read this revision of VHDL
    #[arg(long, value_name = "YEAR", default_value = "08", value_parser = ["93", "08"], hide_short_help = true)]
    vhdl_standard: String,
    /// Keep RTL, testbench, vectors and logs in this folder
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Write waves into the folder of --keep
    #[arg(long, requires = "keep")]
    vcd: bool,
    /// Print what was found as JSON
    #[arg(long)]
    json: bool,
    /// Give up after this many seconds
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 3600,
        value_parser = clap::value_parser!(u64).range(1..),
        hide_short_help = true
    )]
    timeout: u64,
}

/// Argument of `--lang`: languages of the simulated RTL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LangArg {
    /// Verilog
    Verilog,
    /// SystemVerilog (Verilator, Icarus)
    #[value(name = "systemverilog")]
    SystemVerilog,
    /// VHDL
    Vhdl,
    /// Verilog and VHDL, one after the other
    Both,
}

/// Argument of `--sim`: simulators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SimArg {
    /// Verilator (Verilog, SystemVerilog)
    Verilator,
    /// Icarus Verilog (Verilog, SystemVerilog)
    Iverilog,
    /// GHDL (VHDL)
    Ghdl,
    /// Every one that is installed
    All,
}

impl LangArg {
    fn languages(self) -> &'static [Language] {
        match self {
            LangArg::Verilog => &[Language::Verilog],
            LangArg::SystemVerilog => &[Language::SystemVerilog],
            LangArg::Vhdl => &[Language::Vhdl],
            LangArg::Both => &[Language::Verilog, Language::Vhdl],
        }
    }
}

impl SimArg {
    /// Returns the name of the simulator; `None` for all.
    fn name(self) -> Option<&'static str> {
        match self {
            SimArg::Verilator => Some("verilator"),
            SimArg::Iverilog => Some("iverilog"),
            SimArg::Ghdl => Some("ghdl"),
            SimArg::All => None,
        }
    }
}

impl Args {
    /// Returns the options of the simulation.
    ///
    /// # Errors
    /// If a file list cannot be read (exit code 2).
    fn simulation(&self) -> Result<SimulationOptions, Failure> {
        let given = &self.simulation;
        let asked: Vec<Language> = given.lang.iter().flat_map(|lang| lang.languages()).copied().collect();
        // Each language once, in a fixed order.
        let all = [Language::Verilog, Language::SystemVerilog, Language::Vhdl].into_iter();
        let simulators: Option<Vec<_>> = given.sim.iter().map(|sim| sim.name()).collect();
        Ok(SimulationOptions {
            languages: all.filter(|language| asked.contains(language)).collect(),
            simulators: simulators.unwrap_or_default(),
            samples: given.vectors,
            seed: given.seed,
            rtl: given.rtl_files.project(&given.rtl)?,
            vhdl_standard: given.vhdl_standard.clone(),
            keep: given.keep.clone(),
            vcd: given.vcd,
            timeout: given.timeout,
            own: self.own.options(),
        })
    }

    /// Returns the options of the hardware.
    fn options(&self) -> HardwareOptions {
        let mut options = HardwareOptions::default();
        self.optimise.fill(&mut options);
        self.pipeline.fill(&mut options);
        self.ports.fill(&mut options);
        self.wrapper.fill(&mut options);
        self.text.fill(&mut options);
        options
    }
}

/// Reads the RTL files to simulate, and the name of their top module.
fn foreign(simulation: &SimulationOptions, options: &HardwareOptions) -> Result<Option<(Foreign, String)>, Failure> {
    if simulation.rtl.files.is_empty() {
        return match simulation.rtl.has_options() {
            false => Ok(None),
            true => {
                let message = "--include-dir, --library-dir and --define are for the files of --rtl";
                Err(Failure::input(Diagnostic::error("E1011", Place::Flag("--rtl".into()), message)))
            }
        };
    }
    let latency = ["--pipeline", "--register-inputs", "--register-outputs"];
    let given = options.given_of_pipeline().filter(|flag| !latency.contains(flag));
    let refuse = |flag: &str| {
        if ["--ii", "--ii-engine", "--ii-input"].contains(&flag) {
            let message = "verify takes the initiation interval of given files from their header comment only";
            let help = format!("leave {flag} out if alir2hdl generated the file; {}", Foreign::PROVE_INTERVALS);
            return Diagnostic::error("E1011", Place::Flag(flag.into()), message).with_help(help);
        }
        let message = format!("{flag} is about text that is made here, and --rtl names text that is there");
        Diagnostic::error("E1011", Place::Flag(flag.into()), message)
            .with_help("--pipeline N states its latency in clocks; the ports are described by their options")
    };
    let mut problems: Vec<Diagnostic> = given.map(refuse).collect();
    if options.stages == Some(crate::compile::Stages::Fewest) {
        problems.push(refuse("--pipeline auto"));
    }
    if !problems.is_empty() {
        return Err(Failure::input(Diagnostics(problems)));
    }
    let foreign = Foreign::read(&simulation.rtl, &read_file)?;
    let top = foreign.top(options.top.as_deref()).map_err(Failure::input)?;
    Ok(Some((foreign, top)))
}

/// Returns the options and the number of stages in the header comment of a generated file. Returns `None` if `options`
/// has any such option, as the command line takes precedence.
///
/// # Errors
/// If `options` has any such option, and the header comment states an initiation interval.
fn stated(foreign: &Foreign, options: &HardwareOptions) -> Result<Option<Spec>, Failure> {
    let mut given = options.given_of_pipeline().chain(options.given_of_ports()).chain(options.given_of_wrapper());
    let head = foreign.head();
    let header = compile::spec_from_header(&head);
    // With resource sharing, the port timing follows from the sharing plan, which must be computed again.
    if let Some(spec) = header.as_ref().filter(|spec| spec.interval().is_some()) {
        let Some(flag) = given.next() else { return Ok(Some(spec.clone())) };
        let message = format!("{flag} does not apply: the header comment of the file states an initiation interval");
        let help = format!("leave {flag} out; {}", Foreign::PROVE_INTERVALS);
        let error = Diagnostic::error("E1011", Place::Flag(flag.into()), message);
        return Err(Failure::input(error.with_help(help)));
    }
    let Some(mut spec) = header.filter(|_| given.next().is_none()) else { return Ok(None) };
    let stages = head.iter().find_map(|line| line.trim_start().split_once(" pipeline stage")?.0.parse().ok());
    spec.clock = compile::Clock::default();
    spec.pipeline.max_stage_delay = None;
    spec.pipeline.stages = stages.map(compile::Stages::Exactly);
    Ok(Some(spec))
}

/// Verifies a design with the options of a command line.
///
/// With `prints`, the result of each simulator is printed to stdout when it ends. `ended` receives the number of
/// finished simulations and the number of all simulations.
fn verified(
    (simulation, options, stem): (&SimulationOptions, &HardwareOptions, &str),
    (prints, ended): (bool, &(dyn Fn(usize, usize) + Sync)),
    design: impl FnOnce() -> Result<(Design, FileFacts), Failure>,
    global: Global,
) -> Result<Verification, Failure> {
    let tools = Tools::from_environment();
    let foreign = foreign(simulation, options)?;
    let own_languages = foreign.as_ref().map(|(foreign, _)| [foreign.language]);
    let languages = own_languages.as_ref().map_or(simulation.languages.as_slice(), |own| own.as_slice());
    // Check first that a simulator is installed, before anything takes time.
    let (parts, notes) = runner::parts(languages, &simulation.simulators, &tools)?;
    report(&notes, global);
    let (design, file) = design()?;
    let stated = foreign.as_ref().map(|(foreign, _)| stated(foreign, options)).transpose()?;
    let mut spec = stated.flatten().unwrap_or_else(|| options.spec(stem));
    spec.module.labels = Arc::clone(&file.labels);
    spec.module.languages = super::emit::languages_of((&spec, &design), languages.iter().copied());
    let progress = Progress::new(&parts, prints, global);
    let (all, count) = (parts.len(), AtomicUsize::new(0));
    ended(0, all);
    let watch = |event: Event<'_>| {
        progress.tell(event);
        if let Event::Ended(..) = event {
            ended(count.fetch_add(1, Ordering::Relaxed) + 1, all);
        }
    };
    let request = VerifyRequest {
        own: simulation.own.files(matches!(design, Design::Machine(_))).map_err(Failure::input)?,
        count: simulation.samples as usize,
        seed: simulation.seed,
        foreign,
        parts,
        settings: SimulationSettings {
            vhdl_standard: &simulation.vhdl_standard,
            keep: simulation.keep.as_deref(),
            vcd: simulation.vcd,
            timeout: simulation.timeout,
        },
        tools: &tools,
    };
    let is_foreign = request.foreign.is_some();
    let found = match &design {
        Design::Model(model) => {
            let problems = options.problems();
            if !problems.is_empty() {
                return Err(Failure::input(Diagnostics([problems, spec.problems()].concat())));
            }
            let source = file.source(model);
            verification::verify_model(subject(model, &file, source.as_deref()), &spec, request, &watch)?
        }
        Design::Machine(machine) => {
            machine::refuse(options)?;
            verification::verify_machine(machine, &spec, request, &watch)?
        }
    };
    progress.printed()?;
    let asked = GivenOptions::new(options);
    let mut idle = warnings(asked, &design, Registers::from_interface(found.interface()), !is_foreign);
    if matches!(design, Design::Model(_)) {
        idle.0.extend(options.assumption(&spec));
    }
    report(&idle, global);
    Ok(found)
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    on_interrupt(verify::end_all);
    let (simulation, options) = (args.simulation()?, args.options());
    let request = (&simulation, &options, stem(&args.input.model));
    let found = verified(request, (!args.simulation.json, &|_, _| ()), || args.input.read_design(global), global)?;
    report(found.notes(), global);
    report(&found.errors(), global);
    let text = match args.simulation.json {
        true => schema::document("alir2hdl.verify/1", &found.json()),
        false => found.dissents(),
    };
    print(text.as_bytes())?;
    Ok(match found.verdict() {
        Outcomes::Equal => ExitStatus::Ok,
        Outcomes::Different => ExitStatus::Mismatch,
        Outcomes::MissingTool => ExitStatus::MissingTool,
        Outcomes::Refused | Outcomes::Unwritable => ExitStatus::Input,
        Outcomes::Bug => ExitStatus::Bug,
        Outcomes::Undecided => ExitStatus::Undecided,
    })
}

/// Verifies a design in memory without printing, for library callers.
///
/// # Errors
/// Problems in the options, the samples or the tools.
pub(super) fn in_memory(
    simulation: &SimulationOptions,
    options: &HardwareOptions,
    held: &HeldProgram,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Verification, Failure> {
    let global = Global { quiet: true, ..Global::default() };
    let request = (simulation, options, "model");
    let found = verified(request, (false, progress), || Ok((held.design.clone(), held.file.clone())), global)?;
    match found.verdict() {
        Outcomes::Equal | Outcomes::Different => Ok(found),
        Outcomes::Refused | Outcomes::Unwritable => Err(Failure::input(found.errors())),
        Outcomes::MissingTool => Err(Failure::missing_tool(found.errors())),
        Outcomes::Bug => Err(Failure { status: ExitStatus::Bug, diagnostics: found.errors() }),
        Outcomes::Undecided => Err(Failure { status: ExitStatus::Undecided, diagnostics: found.errors() }),
    }
}

/// Returns the name of the model: the name of its file without folder and extensions.
pub(super) fn stem(path: &Path) -> &str {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("model");
    name.split('.').next().filter(|s| !s.is_empty() && *s != "-").unwrap_or("model")
}

/// Progress of the simulations: bars if stderr is a terminal, and the result of each simulator when it ends.
struct Progress {
    bars: Bars,
    names: Vec<String>,
    running: Mutex<Vec<(usize, Option<Bar>)>>,
    /// `true` if the lines are printed.
    prints: bool,
    /// First error of printing a result.
    failure: Mutex<Option<Failure>>,
}

impl Progress {
    fn new(parts: &[Part], prints: bool, global: Global) -> Progress {
        let name = |part: &Part| format!("{} ({})", part.simulator.name(), part.language.name());
        Progress {
            bars: Bars::new(global),
            names: parts.iter().map(name).collect(),
            running: Mutex::default(),
            prints,
            failure: Mutex::default(),
        }
    }

    fn tell(&self, event: Event<'_>) {
        let mut running = self.running.lock().unwrap_or_else(|broken| broken.into_inner());
        match event {
            Event::Begun(at, folder) => {
                running.push((at, self.bars.simulation(&self.names[at], folder.to_owned())));
            }
            Event::Ended(at, line) => {
                running.retain(|(part, _)| *part != at);
                if let Some(line) = line.filter(|_| self.prints)
                    && let Err(failure) = self.bars.suspended(|| print(line.as_bytes()))
                {
                    self.failure.lock().unwrap_or_else(|broken| broken.into_inner()).get_or_insert(failure);
                }
            }
        }
    }

    /// Returns an error if a line could not be printed.
    fn printed(self) -> Result<(), Failure> {
        self.failure.into_inner().unwrap_or_else(|broken| broken.into_inner()).map_or(Ok(()), Err)
    }
}
