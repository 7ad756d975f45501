//! `alir2hdl project`: a folder for a synthesis or simulation flow.

use super::device::{DeviceArgs, NamedDevice, any_device, meant};
use super::emit::renamed;
use super::hardware::{PipelineArgs, PortArgs};
use super::idle::{GivenOptions, Registers, warnings};
use super::input::{Design, FileFacts, InputArgs};
use super::optimise::OptimiseArgs;
use super::own::{OwnArgs, settled, subject};
use super::text::TextArgs;
use super::wrapper::WrapperArgs;
use super::{ExitStatus, Failure, Global, HeldProgram, machine, report, say};
use crate::compile::{self, Stages};
use crate::device::Device;
use crate::diag::{Diagnostic, Diagnostics, Place, four_digits};
use crate::emit::axis::{AxisOptions, Packing};
use crate::project::build::{self, ProjectRequest};
use crate::project::{self, Board, Flow, FolderSpec};
use clap::{ArgAction, ValueEnum};
use std::path::PathBuf;
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

Without --stages the pipeline has the fewest stages that meet --clock-period (5 ns) on the device; --stages 0 is combinational.")]
#[command(mut_arg("device", |arg| {
    arg.help("Make the project for these devices, one for each vendor: families or part numbers (see `alir2hdl devices`)")
        .value_parser(any_device).value_delimiter(',').action(ArgAction::Append)
}))]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
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
    #[arg(long, value_name = "N", help_heading = "Samples", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    vectors: u32,
    /// Draw other samples and stalls
    #[arg(long, value_name = "S", help_heading = "Samples", default_value_t = 1, hide_short_help = true)]
    seed: u64,
    /// Give the core this version
    #[arg(long, value_name = "VERSION", default_value = "1.0.0", hide_short_help = true)]
    core_version: String,
}

/// [`Flow`] as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FlowArg {
    /// AMD Vivado: Tcl, XDC, IP-XACT
    Vivado,
    /// Intel Quartus: Tcl, SDC
    Quartus,
    /// yosys, and nextpnr for ECP5
    Yosys,
    /// FuseSoC core and EDAM
    Fusesoc,
    /// Microchip Libero SoC for PolarFire: Tcl, SDC
    Libero,
    /// RTL, testbenches and constraints only
    Plain,
}

/// A board by its name.
fn board(text: &str) -> Result<&'static Board, String> {
    let known = || project::BOARDS.iter().map(|board| board.name).collect::<Vec<_>>().join(", ");
    let found = project::BOARDS.iter().find(|board| board.name.eq_ignore_ascii_case(text));
    found.ok_or_else(|| format!("no such board; known are {}", known()))
}

/// Bits of the streams of a board where none are given: those of its memory ports.
const BOARD_STREAM: u32 = 64;
/// Widths of streams that the DMA engine of a board has.
const DMA_STREAMS: [u32; 8] = [8, 16, 32, 64, 128, 256, 512, 1024];

/// The clock where none is given, in nanoseconds.
const DEFAULT_CLOCK: f64 = 5.0;

impl FolderArgs {
    fn flows(&self) -> Vec<Flow> {
        let mut flows: Vec<Flow> = self
            .flow
            .iter()
            .map(|flow| match flow {
                FlowArg::Vivado => Flow::Vivado,
                FlowArg::Quartus => Flow::Quartus,
                FlowArg::Yosys => Flow::Yosys,
                FlowArg::Fusesoc => Flow::Fusesoc,
                FlowArg::Libero => Flow::Libero,
                FlowArg::Plain => Flow::Plain,
            })
            .collect();
        flows.sort();
        flows.dedup();
        flows
    }

    fn problems(&self, devices: &DeviceArgs) -> Vec<Diagnostic> {
        let refuse = |flag: &str, message: String| Diagnostic::error("E0805", Place::Flag(flag.into()), message);
        let mut problems = Vec::new();
        let flows = self.flows();
        let with_parts: Vec<Flow> =
            flows.iter().copied().filter(|flow| !matches!(flow, Flow::Fusesoc | Flow::Plain)).collect();
        let mut of_flows: Vec<(Flow, &str)> = Vec::new();
        for named in devices.named() {
            let name = &named.text;
            if named.figures().is_none() {
                if let Some(meant) = meant(name) {
                    problems.push(refuse("--device", format!("{name:?} is no device")).with_help(meant));
                    continue;
                }
                let nearest = project::find(name).err().flatten();
                let guess = nearest.map(|device| format!("did you mean one that begins with {device}? "));
                let (guess, known) = (guess.unwrap_or_default(), project::families().join(", "));
                let help =
                    format!("{guess}known part numbers begin with {known}; `alir2hdl devices` lists families too");
                problems.push(refuse("--device", format!("no known part begins like {name:?}")).with_help(help));
            } else if let Some(flow) = named.part().and_then(|part| project::find(part).ok()).map(|part| part.flow)
                && !with_parts.is_empty()
                && !with_parts.contains(&flow)
            {
                let flow = super::devices::tool(flow);
                let message = format!("{name} is a device of --flow {flow}, which this folder is not for");
                let help = format!("add --flow {flow}, or name a device of the flows (`alir2hdl devices`)");
                problems.push(refuse("--device", message).with_help(help));
            } else if let Ok(part) = project::find(name) {
                match of_flows.iter().find(|(flow, _)| *flow == part.flow) {
                    Some((_, first)) => {
                        let message =
                            format!("{first} and {name} are of one vendor, and a folder has one part of each");
                        problems.push(refuse("--device", message).with_help("write a folder for each of them"));
                    }
                    None => of_flows.push((part.flow, name)),
                }
            }
        }
        if self.board.is_some() && !self.flow.contains(&FlowArg::Vivado) {
            problems.push(refuse("--board", "boards are made by Vivado".to_owned()).with_help("add --flow vivado"));
        }
        if self.board.is_some() && of_flows.iter().any(|(flow, _)| *flow == Flow::Vivado) {
            let message = "the board has its own part".to_owned();
            problems.push(refuse("--device", message).with_help("leave --device out, or --board"));
        }
        let numbers: Vec<&str> = self.core_version.split('.').collect();
        let number = |n: &&str| !n.is_empty() && n.len() < 10 && n.bytes().all(|b| b.is_ascii_digit());
        if numbers.len() != 3 || !numbers.iter().all(number) {
            let message = format!("{:?} is no version", self.core_version);
            problems.push(refuse("--core-version", message).with_help("three numbers with dots: 1.0.0"));
        }
        // A run that a full disk ended may have left empty folders.
        let occupied = self.output.is_dir() && !crate::files::holds_no_file(&self.output).unwrap_or(false);
        if occupied && !self.output.join("metadata.json").is_file() {
            let message = format!("{} holds something that is no project", self.output.display());
            problems.push(refuse("--output", message).with_help("name a new folder"));
        }
        problems
    }
}

impl Args {
    /// The parts: the board's own first, then those that were typed, then usual ones of the families.
    fn parts(&self) -> Vec<&str> {
        let board = self.folder.board.iter().map(|board| board.part);
        let (families, typed): (Vec<_>, Vec<_>) =
            self.pipeline.device.named().iter().partition(|named| Device::by_name(&named.text).is_some());
        board.chain(typed.into_iter().chain(families).filter_map(NamedDevice::part)).collect()
    }

    /// The parts of the flows, or the device where no flow has one, and the clock, for people.
    fn purpose(&self, spec: &compile::Spec) -> String {
        let named = self.parts();
        let part = |flow: Flow| {
            let is_of_flow = |part: &&&str| project::find(part).is_ok_and(|known| known.flow == flow);
            named.iter().find(is_of_flow).map_or(project::default_part(flow), |part| *part)
        };
        let with_part = |flow: &Flow| !matches!(flow, Flow::Fusesoc | Flow::Plain);
        let parts: Vec<&str> = self.folder.flows().into_iter().filter(with_part).map(part).collect();
        let device = if parts.is_empty() { spec.device().name().to_owned() } else { parts.join(", ") };
        format!("{device} at {} ns", four_digits(self.period()))
    }

    /// The clock period that the folder is for, in nanoseconds.
    fn period(&self) -> f64 {
        self.pipeline.period().filter(|ns| *ns > 0.0).unwrap_or(DEFAULT_CLOCK)
    }

    /// The wrapper of a board: streams that its DMA engine has.
    fn fill_board(&self, spec: &mut compile::Spec) {
        if self.folder.board.is_some() {
            let asked = spec.wrapper.take();
            // The engine has no `tuser`.
            let streams = asked.unwrap_or_else(|| AxisOptions { user: 0, ..AxisOptions::default() });
            spec.wrapper = Some(AxisOptions { width: streams.width.or(Some(BOARD_STREAM)), ..streams });
        }
    }

    /// Returns the problems of a board's streams.
    fn board_problems(&self, spec: &compile::Spec) -> Vec<Diagnostic> {
        let (Some(_), Some(streams)) = (self.folder.board, &spec.wrapper) else { return Vec::new() };
        let refuse = |flag: &str, message: String| Diagnostic::error("E0805", Place::Flag(flag.into()), message);
        let mut problems = Vec::new();
        if let Some(width) = streams.width.filter(|width| !DMA_STREAMS.contains(width)) {
            let message = format!("the DMA engine of a board has no streams of {width} bits");
            problems.push(refuse("--axis-width", message).with_help("8, 16, 32, 64, 128, 256, 512 or 1024"));
        }
        if streams.packing == Packing::Dense {
            let message = "the driver of a board reads slots of whole bytes".to_owned();
            problems.push(refuse("--packing", message).with_help("leave --packing out"));
        }
        problems
    }

    /// Builds the specification from the options, for the device of --device or that of --part; otherwise for the
    /// default part of the first flow.
    fn spec(&self) -> compile::Spec {
        let mut spec = compile::Spec::default();
        self.optimise.fill(&mut spec);
        self.pipeline.fill(&mut spec);
        self.ports.fill(&mut spec, super::verify::stem(&self.input.model));
        self.wrapper.fill(&mut spec);
        self.fill_board(&mut spec);
        self.text.fill(&mut spec);
        let of_part = || self.parts().into_iter().find_map(|part| project::find(part).ok());
        spec.target.device = spec.target.device.or_else(|| of_part().map(|part| part.figures()));
        // A folder is for a clock, which is met unless the stages are said.
        let pipeline = &mut spec.pipeline;
        let is_said = pipeline.stages.is_some_and(|stages| stages != Stages::Fewest)
            || pipeline.max_stage_delay.is_some()
            || pipeline.interval.is_some()
            || pipeline.budget.is_some();
        if !is_said {
            pipeline.stages = Some(Stages::Fewest);
            spec.clock.period = spec.clock.period.or(Some(DEFAULT_CLOCK));
        }
        let default = self.folder.flows().first().and_then(|flow| project::find(project::default_part(*flow)).ok());
        spec.target.fallback = default.map(|part| part.figures());
        spec
    }
}

/// Runs the sub-command; `words` is the command line that the RTL records.
pub(super) fn run(args: &Args, words: Vec<String>, global: Global) -> Result<ExitStatus, Failure> {
    write(args, words, || args.input.read_design(global), global)
}

/// Runs the sub-command for a program in memory without printing: for library callers.
///
/// # Errors
/// What is wrong with the options or the samples; if the folder cannot be written.
pub(super) fn in_memory(args: &Args, words: Vec<String>, held: &HeldProgram) -> Result<ExitStatus, Failure> {
    let global = Global { quiet: true, ..Global::default() };
    write(args, words, || Ok((Design::Model(held.model.clone()), held.file.clone())), global)
}

fn write(
    args: &Args,
    words: Vec<String>,
    design: impl FnOnce() -> Result<(Design, FileFacts), Failure>,
    global: Global,
) -> Result<ExitStatus, Failure> {
    let mut problems = args.folder.problems(&args.pipeline.device);
    let (design, file) = match design() {
        Ok(read) => read,
        Err(mut failure) => {
            failure.diagnostics.0.splice(0..0, problems);
            return Err(failure);
        }
    };
    let mut spec = compile::Spec { provenance: Some(file.provenance(words)), ..args.spec() };
    spec.module.labels = Arc::clone(&file.labels);
    let parts = args.parts();
    let flows = args.folder.flows();
    let request = ProjectRequest {
        folder: FolderSpec {
            flows: &flows,
            parts: &parts,
            clock_ns: args.period(),
            around: spec.surroundings(),
            version: &args.folder.core_version,
            board: args.folder.board,
        },
        hardware: &spec,
        own: args.own.files(matches!(design, Design::Machine(_)))?,
        count: args.folder.vectors as usize,
        seed: args.folder.seed,
        checksum: file.checksum.clone(),
        network: match &design {
            Design::Model(model) => file.meaning().map(|(meaning, _)| super::network::interface(meaning, model)),
            Design::Machine(_) => None,
        },
    };
    let made = match &design {
        Design::Model(model) => {
            problems.extend(args.ports.problems());
            problems.extend(args.wrapper.problems());
            problems.extend(args.board_problems(&spec));
            problems.extend(spec.problems());
            refuse(problems)?;
            let source = file.source(model);
            build::of_model(subject(model, &file, source.as_deref()), &request)?
        }
        Design::Machine(machine) => {
            // The constraints want a clock whatever the pipeline is.
            let refused = args.pipeline.given().into_iter().filter(|flag| !["--clock-period", "--freq"].contains(flag));
            let board = args.folder.board.map(|_| "--board");
            let given = refused.chain(args.ports.given()).chain(args.wrapper.given()).chain(board);
            problems.extend(machine::refuse(given).err().map(|failure| failure.diagnostics.0).unwrap_or_default());
            refuse(problems)?;
            build::of_machine(machine, &request)?
        }
    };
    let asked = GivenOptions::of(&args.pipeline, &args.ports, &args.text);
    report(&warnings(asked, &design, Registers::of(&made.interface), true), global);
    report(&made.notes, global);
    report(&args.parts_without_package(), global);
    report(&renamed(made.renamed.iter().cloned()), global);
    settled(&made.dissents)?;
    let folder = &args.folder.output;
    build::write(&made.files, folder).map_err(|e| Failure::io(folder, "write", &e))?;
    report(&Diagnostics(args.assumption().into_iter().collect()), global);
    let purpose = args.purpose(&spec);
    say(&format!("{}: {} files for {purpose}, {}", folder.display(), made.files.0.len(), made.about), global);
    Ok(ExitStatus::Ok)
}

impl Args {
    /// Returns warnings about devices without a package, which the vendors' tools refuse.
    fn parts_without_package(&self) -> Diagnostics {
        let flows = self.folder.flows();
        let lacks = |part: &&str| {
            project::find(part).is_ok_and(|family| flows.contains(&family.flow) && !family.has_package(part))
        };
        let warning = |part: &str| {
            let message = format!("{part} names no package and speed grade, which the tool of its vendor requires");
            let help = "give the whole part number, such as xc7z020clg400-1";
            Diagnostic::warning("W0805", Place::Flag("--device".into()), message).with_help(help)
        };
        Diagnostics(self.parts().into_iter().filter(lacks).map(warning).collect())
    }

    /// A note about a default part and clock.
    fn assumption(&self) -> Option<Diagnostic> {
        if !self.pipeline.device.is_unnamed() || self.folder.board.is_some() {
            return None;
        }
        let parts: Vec<&str> = self.folder.flows().into_iter().map(project::default_part).collect();
        let mut unique = parts.clone();
        unique.dedup();
        let message = format!("no device is named: the folder is for {}", unique.join(", "));
        let help = "--device NAME takes another part or family; `alir2hdl devices` lists them";
        Some(Diagnostic::note("N0803", Place::Flag("--device".into()), message).with_help(help))
    }
}

fn refuse(problems: Vec<Diagnostic>) -> Result<(), Failure> {
    if problems.is_empty() { Ok(()) } else { Err(Failure::input(Diagnostics(problems))) }
}
