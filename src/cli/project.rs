//! `alir2hdl project`: writes a folder for synthesis or simulation.

use super::device::any_device;
use super::hardware::{PipelineArgs, PortArgs};
use super::idle::{GivenOptions, Registers, unused_core_name, warnings};
use super::input::{Design, FileFacts, InputArgs, NamesFromArgs};
use super::optimise::OptimiseArgs;
use super::own::{OwnArgs, settled, subject};
use super::text::TextArgs;
use super::wrapper::WrapperArgs;
use super::{ExitStatus, Failure, Global, HeldProgram, machine, report, say};
use crate::compile;
use crate::diag::{Diagnostic, Diagnostics};
use crate::options::HardwareOptions;
use crate::project::build::{self, ProjectRequest};
use crate::project::options::{ProjectOptions, board};
use crate::project::{Board, Flow, FolderSpec};
use clap::{ArgAction, ValueEnum};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Write a folder with RTL, constraints, scripts and testbenches
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl project m.json -o build --flow vivado --device xcku5p --freq 200
  alir2hdl project m.json -o build --flow yosys,fusesoc --wrapper axis
  alir2hdl project m.json -o build --flow vivado --board kv260
  alir2hdl project m.json -o build --input X.npy   own samples in testbenches
  make -C build/sim verilator                      is it what the model says?
  alir2hdl report build                            what the tools reported

Without --stages the pipeline has the fewest stages that meet --clock-period (5 ns) on the device; --stages 0 is \
combinational.")]
#[command(mut_arg("device", |arg| {
    arg.help("Make the project for these devices, one for each vendor: families or part numbers (see `alir2hdl \
              devices`); the schedule is for the first")
        .value_parser(any_device).value_delimiter(',').action(ArgAction::Append)
}))]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    names_from: NamesFromArgs,
    #[command(flatten)]
    folder: FolderArgs,
    #[command(flatten)]
    own: OwnArgs,
    #[command(flatten)]
    pipeline: PipelineArgs,
    #[command(flatten)]
    ports: PortArgs,
    #[command(flatten)]
    wrapper: WrapperArgs,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    optimise: OptimiseArgs,
}

/// Options for the folder of the project.
#[derive(Debug, clap::Args)]
struct FolderArgs {
    /// Write the project into this folder: new, empty, or of an earlier run
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Serve these tools, several with commas
    #[arg(long, value_enum, value_delimiter = ',', default_value = "plain", value_name = "FLOWS")]
    flow: Vec<FlowArg>,
    /// Add a block design with processor and DMA for this board, and a Python driver
    #[arg(long, value_parser = board, value_name = "BOARD")]
    board: Option<&'static Board>,
    /// Put this many samples into the testbenches
    #[arg(
        long,
        value_name = "N",
        help_heading = "Samples",
        default_value_t = 200,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    vectors: u32,
    /// Draw other samples and stalls
    #[arg(long, value_name = "S", help_heading = "Samples", default_value_t = 1, hide_short_help = true)]
    seed: u64,
    /// Name the vendor of the core (IP-XACT, FuseSoC)
    #[arg(long, value_name = "VENDOR", default_value = "alir2hdl", hide_short_help = true)]
    core_vendor: String,
    /// Put the core into this library
    #[arg(long, value_name = "LIBRARY", default_value = "model", hide_short_help = true)]
    core_library: String,
    /// Name the core [default: like the module]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    core_name: Option<String>,
    /// Give the core this version
    #[arg(long, value_name = "VERSION", default_value = "1.0.0", hide_short_help = true)]
    core_version: String,
}

/// Argument of `--flow`; see [`Flow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FlowArg {
    /// AMD Vivado: Tcl, XDC, IP-XACT
    Vivado,
    /// Intel Quartus: Tcl, SDC
    Quartus,
    /// yosys, and nextpnr for ECP5 and iCE40
    Yosys,
    /// FuseSoC core and EDAM
    Fusesoc,
    /// Microchip Libero SoC for PolarFire: Tcl, SDC
    Libero,
    /// RTL, testbenches and constraints only
    Plain,
}

impl Args {
    /// Returns the options.
    fn options(&self) -> ProjectOptions {
        let mut hardware = HardwareOptions::default();
        self.optimise.fill(&mut hardware);
        self.pipeline.fill(&mut hardware);
        self.ports.fill(&mut hardware);
        self.wrapper.fill(&mut hardware);
        self.names_from.fill(&mut hardware);
        self.text.fill(&mut hardware);
        let flow = |flow: &FlowArg| match flow {
            FlowArg::Vivado => Flow::Vivado,
            FlowArg::Quartus => Flow::Quartus,
            FlowArg::Yosys => Flow::Yosys,
            FlowArg::Fusesoc => Flow::Fusesoc,
            FlowArg::Libero => Flow::Libero,
            FlowArg::Plain => Flow::Plain,
        };
        let folder = &self.folder;
        let mut options = ProjectOptions {
            output: folder.output.clone(),
            flows: Vec::new(),
            board: folder.board,
            samples: folder.vectors,
            seed: folder.seed,
            core_vendor: folder.core_vendor.clone(),
            core_library: folder.core_library.clone(),
            core_name: folder.core_name.clone(),
            core_version: folder.core_version.clone(),
            own: self.own.options(),
            hardware,
        };
        options.set_flows(folder.flow.iter().map(flow).collect());
        options
    }
}

/// Returns errors for options that contradict each other in every design.
pub(super) fn option_problems(args: &Args) -> Vec<Diagnostic> {
    let options = args.options();
    let problems = options.hardware_problems(&options.spec("model"));
    options.problems().into_iter().chain(problems).collect()
}

/// Runs the sub-command; `words` is the command line in the header comment of the RTL.
pub(super) fn run(args: &Args, words: Vec<String>, global: Global) -> Result<ExitStatus, Failure> {
    let stem = stem(super::verify::stem(&args.input.model), &args.folder.output);
    let options = args.options();
    let design = || {
        let (design, mut file) = args.input.read_design(global)?;
        let read_old = |path: &Path| args.input.read_other(path, global);
        file.labels = file.labels_like(&options.hardware, &design, &options.spec(&stem), read_old)?;
        Ok((design, file))
    };
    write((&options, &stem), words, design, global)
}

/// Returns the base name of module, core and testbench: the name of the file, or of the folder if the file is called
/// `model`.
fn stem<'a>(file: &'a str, folder: &'a Path) -> Cow<'a, str> {
    let named = folder.file_name().filter(|_| file.eq_ignore_ascii_case("model"));
    named.map_or(file.into(), |name| name.to_string_lossy())
}

/// Writes the project of a design in memory without printing, for library callers.
///
/// # Errors
/// If an option or a sample is invalid, or if the folder cannot be written.
pub(super) fn in_memory(
    options: &ProjectOptions,
    words: Vec<String>,
    held: &HeldProgram,
) -> Result<ExitStatus, Failure> {
    let global = Global { quiet: true, ..Global::default() };
    let design = || {
        let mut file = held.file.clone();
        file.labels = held.labels_for(&options.hardware, &options.spec("model"))?;
        Ok((held.design.clone(), file))
    };
    write((options, "model"), words, design, global)
}

fn write(
    (options, stem): (&ProjectOptions, &str),
    words: Vec<String>,
    design: impl FnOnce() -> Result<(Design, FileFacts), Failure>,
    global: Global,
) -> Result<ExitStatus, Failure> {
    let mut problems = options.problems();
    let (design, file) = match design() {
        Ok(read) => read,
        Err(mut failure) => {
            failure.diagnostics.0.splice(0..0, problems);
            return Err(failure);
        }
    };
    let mut spec = compile::Spec { provenance: Some(file.provenance(words)), ..options.spec(stem) };
    spec.module.labels = Arc::clone(&file.labels);
    let parts = options.parts();
    let request = ProjectRequest {
        folder: FolderSpec {
            flows: &options.flows,
            parts: &parts,
            clock_ns: options.period(),
            around: spec.io_timing(),
            core: options.core(),
            is_default_clock: options.is_default_clock(),
            board: options.board,
        },
        hardware: &spec,
        own: options.own.files(matches!(design, Design::Machine(_))).map_err(Failure::input)?,
        count: options.samples as usize,
        seed: options.seed,
        checksum: file.checksum.clone(),
        network: match &design {
            Design::Model(model) => file.meaning().map(|(meaning, _)| super::network::interface(meaning, model)),
            Design::Machine(_) => None,
        },
    };
    let made = match &design {
        Design::Model(model) => {
            problems.extend(options.hardware_problems(&spec));
            refuse(problems)?;
            let source = file.source(model);
            build::model_project(subject(model, &file, source.as_deref()), &request)
        }
        Design::Machine(machine) => {
            // The constraints need a clock period for state machines too.
            let hardware = &options.hardware;
            let refused = hardware.given_of_pipeline().filter(|flag| !["--clock-period", "--freq"].contains(flag));
            let board = options.board.map(|_| "--board");
            let given = refused.chain(hardware.given_of_ports()).chain(hardware.given_of_wrapper()).chain(board);
            problems.extend(machine::refuse_flags(given).err().map(|f| f.diagnostics.0).unwrap_or_default());
            refuse(problems)?;
            build::machine_project(machine, &request)
        }
    };
    let made = made.map_err(|mut error| {
        if options.is_default_clock() {
            let missed = error.diagnostics.0.iter_mut().filter(|problem| problem.code == "E0506");
            missed.for_each(|problem| problem.message.push_str(" (the default: no --clock-period is given)"));
        }
        error
    })?;
    let with_wrapper = options.with_board_wrapper();
    let given = GivenOptions::new(&with_wrapper);
    report(&warnings(given, &design, Registers::from_interface(&made.interface), true), global);
    report(&unused_core_name(options), global);
    report(&made.notes, global);
    report(&Diagnostics(options.parts_without_package()), global);
    report(&Diagnostics(options.board_clock().into_iter().collect()), global);
    settled(&made.dissents)?;
    let folder = &options.output;
    build::write(&made.files, folder).map_err(|e| Failure::io(folder, "write", &e))?;
    let delays = options.hardware.assumption(&spec).filter(|_| !options.hardware.devices.is_empty());
    report(&Diagnostics(options.assumptions().into_iter().chain(delays).collect()), global);
    let purpose = options.purpose(&spec);
    say(&format!("{}: {} files for {purpose}, {}", folder.display(), made.files.0.len(), made.about), global);
    Ok(ExitStatus::Ok)
}

/// Returns an error if there are problems (exit code 2).
pub(super) fn refuse(problems: Vec<Diagnostic>) -> Result<(), Failure> {
    if problems.is_empty() { Ok(()) } else { Err(Failure::input(Diagnostics(problems))) }
}
