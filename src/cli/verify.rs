//! `alir2hdl verify`: does the generated text do what the model says, in every simulator?

use super::hardware::{PipelineArgs, PortArgs};
use super::idle::{GivenOptions, Registers, warnings};
use super::input::{Design, FileFacts, InputArgs};
use super::optimise::OptimiseArgs;
use super::own::{OwnArgs, subject};
use super::progress::{Bar, Bars};
use super::text::TextArgs;
use super::wrapper::WrapperArgs;
use super::{ExitStatus, Failure, Global, HeldProgram, machine, on_interrupt, print, report, schema};
use crate::compile::Spec;
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::emit::Language;
use crate::verify::foreign::Foreign;
use crate::verify::runner::{self, Event, Outcomes, Part, SimulationSettings, Verification};
use crate::verify::verification::{self, VerifyRequest};
use crate::verify::{self, Tools};
use clap::ValueEnum;
use std::path::{Path, PathBuf};
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

A new sample is applied every clock, corners first; with --valid, --enable or --reset there are random bubbles, pauses
and resets. A difference is shown with element, sample, both values, and the signal where it begins.
Files of --rtl have the ports and the latency that generated RTL would have with the same options (docs/rtl-interface.md).
Simulators are searched in ALIR2HDL_TOOLS, on the PATH and in .venv/bin; ALIR2HDL_GHDL and the like name one directly.")]
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
    #[arg(long, value_name = "N", help_heading = "Samples", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    vectors: u32,
    /// Draw other samples and stalls
    #[arg(long, value_name = "S", help_heading = "Samples", default_value_t = 1, hide_short_help = true)]
    seed: u64,
    /// Simulate these files instead of generated RTL
    #[arg(long, value_name = "FILE", help_heading = "RTL files", num_args = 1.., value_delimiter = ',',
        conflicts_with = "lang")]
    rtl: Vec<PathBuf>,
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
    #[arg(long, value_name = "SECONDS", default_value_t = 3600, hide_short_help = true)]
    timeout: u64,
}

/// Languages as they are typed.
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

/// Simulators as they are typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SimArg {
    /// Verilator (Verilog)
    Verilator,
    /// Icarus Verilog (Verilog)
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
    /// The simulator that is meant; nothing: all.
    fn name(self) -> Option<&'static str> {
        match self {
            SimArg::Verilator => Some("verilator"),
            SimArg::Iverilog => Some("iverilog"),
            SimArg::Ghdl => Some("ghdl"),
            SimArg::All => None,
        }
    }
}

impl SimulationArgs {
    /// The languages, each once.
    fn languages(&self) -> Vec<Language> {
        let asked: Vec<Language> = self.lang.iter().flat_map(|lang| lang.languages()).copied().collect();
        let all = LangArg::Both.languages().iter().copied();
        all.filter(|language| asked.contains(language)).collect()
    }

    /// The names of the simulators; empty: all.
    fn simulators(&self) -> Vec<&'static str> {
        let names: Option<Vec<_>> = self.sim.iter().map(|sim| sim.name()).collect();
        names.unwrap_or_default()
    }
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

    /// The files of `--rtl` and the name of their module.
    fn foreign(&self) -> Result<Option<(Foreign, String)>, Failure> {
        if self.simulation.rtl.is_empty() {
            return Ok(None);
        }
        let latency = ["--pipeline", "--register-inputs", "--register-outputs"];
        let given = self.pipeline.given().into_iter().filter(|flag| !latency.contains(flag));
        let refuse = |flag: &str| {
            let message = format!("{flag} is about text that is made here, and --rtl names text that is there");
            Diagnostic::error("E1011", Place::Flag(flag.into()), message)
                .with_help("--pipeline N says how many clocks its latency is; the ports are described by their options")
        };
        let mut problems: Vec<Diagnostic> = given.map(refuse).collect();
        if self.pipeline.pipeline == Some(crate::compile::Stages::Fewest) {
            problems.push(refuse("--pipeline auto"));
        }
        if !problems.is_empty() {
            return Err(Failure::input(Diagnostics(problems)));
        }
        let foreign = Foreign::read(&self.simulation.rtl).map_err(Failure::input)?;
        let top = foreign.top(self.ports.top.as_deref()).map_err(Failure::input)?;
        Ok(Some((foreign, top)))
    }
}

/// A design with what is known of its file, and the command line: everything that decides the result.
fn verified(
    args: &Args,
    design: impl FnOnce() -> Result<(Design, FileFacts), Failure>,
    global: Global,
) -> Result<Verification, Failure> {
    let tools = Tools::of_environment();
    let foreign = args.foreign()?;
    let own_languages = foreign.as_ref().map(|(foreign, _)| [foreign.language]);
    let typed = args.simulation.languages();
    let languages = own_languages.as_ref().map_or(typed.as_slice(), |own| own.as_slice());
    // Before anything takes time: is there somebody to ask?
    let (parts, notes) = runner::parts(languages, &args.simulation.simulators(), &tools)?;
    report(&notes, global);
    let (design, file) = design()?;
    let mut spec = args.spec();
    spec.module.labels = Arc::clone(&file.labels);
    spec.module.languages = super::emit::languages_of((&spec, &design), languages.iter().copied());
    let progress = Progress::new(&parts, global);
    let watch = |event: Event<'_>| progress.tell(event);
    let request = VerifyRequest {
        own: args.own.files(matches!(design, Design::Machine(_)))?,
        count: args.simulation.vectors as usize,
        seed: args.simulation.seed,
        foreign,
        parts,
        settings: SimulationSettings {
            vhdl_standard: &args.simulation.vhdl_standard,
            keep: args.simulation.keep.as_deref(),
            vcd: args.simulation.vcd,
            timeout: args.simulation.timeout,
        },
        tools: &tools,
    };
    let is_foreign = request.foreign.is_some();
    let found = match &design {
        Design::Model(model) => {
            let problems = [args.ports.problems(), args.wrapper.problems()].concat();
            if !problems.is_empty() {
                return Err(Failure::input(Diagnostics([problems, spec.problems()].concat())));
            }
            let source = file.source(model);
            verification::of_model(subject(model, &file, source.as_deref()), &spec, request, &watch)?
        }
        Design::Machine(machine) => {
            let given = args.pipeline.given().into_iter().chain(args.ports.given()).chain(args.wrapper.given());
            machine::refuse(given)?;
            verification::of_machine(machine, &spec, request, &watch)?
        }
    };
    let asked = GivenOptions::of(&args.pipeline, &args.ports, &args.text);
    let mut idle = warnings(asked, &design, Registers::of(found.interface()), !is_foreign);
    if matches!(design, Design::Model(_)) {
        idle.0.extend(args.pipeline.assumption(&spec));
    }
    report(&idle, global);
    Ok(found)
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    on_interrupt(verify::end_all);
    let found = verified(args, || args.input.read_design(global), global)?;
    report(found.notes(), global);
    report(&found.errors(), global);
    let text = match args.simulation.json {
        true => schema::document("alir2hdl.verify/1", &found.json()),
        false => found.text(),
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

/// The same for a program in memory, with nothing printed: for callers that are no command line.
///
/// # Errors
/// What is wrong with the options, the samples or the tools.
pub(super) fn in_memory(args: &Args, held: &HeldProgram) -> Result<Verification, Failure> {
    let global = Global { quiet: true, ..Global::default() };
    let found = verified(args, || Ok((Design::Model(held.model.clone()), held.file.clone())), global)?;
    match found.verdict() {
        Outcomes::Equal | Outcomes::Different => Ok(found),
        Outcomes::Refused | Outcomes::Unwritable => Err(Failure::input(found.errors())),
        Outcomes::MissingTool => Err(Failure::missing_tool(found.errors())),
        Outcomes::Bug => Err(Failure { status: ExitStatus::Bug, diagnostics: found.errors() }),
        Outcomes::Undecided => Err(Failure { status: ExitStatus::Undecided, diagnostics: found.errors() }),
    }
}

/// The model's name: that of its file without folder and extensions.
pub(super) fn stem(path: &Path) -> &str {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("model");
    name.split('.').next().filter(|s| !s.is_empty() && *s != "-").unwrap_or("model")
}

/// Tells people which simulators are at work; nothing where stderr is no terminal.
struct Progress {
    bars: Bars,
    names: Vec<String>,
    running: Mutex<Vec<(usize, Option<Bar>)>>,
}

impl Progress {
    fn new(parts: &[Part], global: Global) -> Progress {
        let name = |part: &Part| format!("{} ({})", part.simulator.name(), part.language.name());
        Progress { bars: Bars::new(global), names: parts.iter().map(name).collect(), running: Mutex::new(Vec::new()) }
    }

    fn tell(&self, event: Event<'_>) {
        let mut running = self.running.lock().unwrap_or_else(|broken| broken.into_inner());
        match event {
            Event::Begun(at, folder) => {
                running.push((at, self.bars.simulation(&self.names[at], folder.to_owned())));
            }
            Event::Ended(at) => running.retain(|(part, _)| *part != at),
        }
    }
}
