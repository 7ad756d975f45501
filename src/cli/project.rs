//! `alir2hdl project`: a folder for a synthesis or simulation flow.

use super::hardware::{PipelineArgs, PortArgs};
use super::input::{self, InputArgs};
use super::optimise::OptimiseArgs;
use super::text::TextArgs;
use super::wrapper::WrapperArgs;
use super::{ExitStatus, Failure, Global, machine, say};
use crate::compile;
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::emit::Language;
use crate::ir::Model;
use crate::ir::machine::Machine;
use crate::project::{self, Design, Flow, Samples, Spec};
use crate::verify::{Bench, Cycles, MachineRun, Streams, Testbench, Vectors, machine_stimulus};
use clap::ValueEnum;
use std::path::PathBuf;

/// Write a folder with RTL, testbenches, constraints and scripts for synthesis and simulation
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl project m.json -o build --flow vivado --part xcvu13p-flga2577-2-e --pipeline auto --clock-period 5
  alir2hdl project model.json --output build --flow yosys,fusesoc --pipeline 3 --wrapper axis
  make -C build/sim verilator                 does it compute what the model says?
  alir2hdl report build                       what the tools said about it

--pipeline auto takes the fewest stages that meet --clock-period on the device of --part (or --device).")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    folder: FolderArgs,
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

/// What the folder is for.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Project")]
struct FolderArgs {
    /// The folder; new, empty, or written by an earlier run
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Which tools it serves, several with commas
    #[arg(long, value_enum, value_delimiter = ',', default_value = "plain", value_name = "FLOWS")]
    flow: Vec<FlowArg>,
    /// Part number, one for each vendor [default: a large one of each]
    #[arg(long, value_delimiter = ',', value_name = "PART")]
    part: Vec<String>,
    /// Samples in the testbenches; cycles of a state machine
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    vectors: u32,
    /// Samples and stalls of another seed
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Version of the core, three numbers
    #[arg(long, value_name = "VERSION", default_value = "1.0.0")]
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
    /// RTL, testbenches and constraints only
    Plain,
}

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
                FlowArg::Plain => Flow::Plain,
            })
            .collect();
        flows.sort();
        flows.dedup();
        flows
    }

    fn problems(&self) -> Vec<Diagnostic> {
        let refuse = |flag: &str, message: String| Diagnostic::error("E0805", Place::Flag(flag.into()), message);
        let mut problems = Vec::new();
        for part in &self.part {
            if let Err(nearest) = project::find(part) {
                let help = format!("the nearest known device is {nearest}; a part number begins with its device");
                problems.push(refuse("--part", format!("no known part begins like {part:?}")).with_help(help));
            }
        }
        let numbers: Vec<&str> = self.core_version.split('.').collect();
        let number = |n: &&str| !n.is_empty() && n.len() < 10 && n.bytes().all(|b| b.is_ascii_digit());
        if numbers.len() != 3 || !numbers.iter().all(number) {
            let message = format!("{:?} is no version", self.core_version);
            problems.push(refuse("--core-version", message).with_help("three numbers with dots: 1.0.0"));
        }
        let occupied = std::fs::read_dir(&self.output).is_ok_and(|mut entries| entries.next().is_some());
        if occupied && !self.output.join("metadata.json").is_file() {
            let message = format!("{} holds something that is no project", self.output.display());
            problems.push(refuse("--output", message).with_help("name a new folder"));
        }
        problems
    }
}

impl Args {
    /// What was asked for, for the device of --device or that of --part; else that of the part that the first flow takes.
    fn spec(&self) -> compile::Spec {
        let mut spec = compile::Spec::default();
        self.optimise.fill(&mut spec);
        self.pipeline.fill(&mut spec);
        self.ports.fill(&mut spec, super::verify::stem(&self.input.model));
        self.wrapper.fill(&mut spec);
        self.text.fill(&mut spec);
        let of_part = || self.folder.part.iter().find_map(|part| project::find(part).ok());
        spec.target.device = spec.target.device.or_else(|| of_part().map(|part| part.figures()));
        let default = self.folder.flows().first().and_then(|flow| project::find(project::default_part(*flow)).ok());
        spec.target.fallback = default.map(|part| part.figures());
        spec
    }
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    let problems = args.folder.problems();
    let (design, checksum) = match args.input.read_design(global) {
        Ok((design, file)) => (design, file.checksum),
        Err(mut failure) => {
            failure.diagnostics.0.splice(0..0, problems);
            return Err(failure);
        }
    };
    match design {
        input::Design::Model(model) => of_model(args, problems, &model, checksum, global),
        input::Design::Machine(machine) => of_machine(args, problems, &machine, checksum, global),
    }
}

/// The folder of a model.
fn of_model(
    args: &Args,
    mut problems: Vec<Diagnostic>,
    model: &Model,
    checksum: String,
    global: Global,
) -> Result<ExitStatus, Failure> {
    let spec = args.spec();
    problems.extend(args.ports.problems());
    problems.extend(args.wrapper.problems());
    problems.extend(spec.problems());
    refuse(problems)?;
    let hardware = compile::model(model, &spec)?;
    if hardware.axis.is_some() {
        spec.every_input("a wrapper's testbench").map_err(Failure::input)?;
    }
    let (count, seed) = (args.folder.vectors as usize, args.folder.seed);
    let vectors = Vectors::of(model, None, &spec, count, seed).map_err(Failure::input)?;
    let lanes = [Cycles::plan(&hardware.netlist.interface, &vectors, seed)];
    let pulses = Bench { lanes: &lanes, vcd: false };
    let streams = hardware.axis.as_ref().map(|axis| Streams::plan(model, axis, count, seed));
    let design = Design {
        netlist: &hardware.netlist,
        axis: hardware.axis.as_ref(),
        verilog: hardware.text(Language::Verilog),
        vhdl: hardware.text(Language::Vhdl),
        bench: streams.as_ref().map_or(&pulses as &dyn Testbench, |streams| streams),
        samples: Samples::Model(&vectors),
        facts: serde_json::to_value(hardware.sidecar(&LANGUAGES, checksum)).expect("plain data"),
        estimate: serde_json::to_value(hardware.estimate()).expect("plain data"),
    };
    let latency = hardware.netlist.interface.latency;
    write(args, &design, &format!("latency {latency}"), global)
}

/// The folder of a state machine. Its bench applies a run from power-on.
fn of_machine(
    args: &Args,
    mut problems: Vec<Diagnostic>,
    machine: &Machine,
    checksum: String,
    global: Global,
) -> Result<ExitStatus, Failure> {
    // The constraints want a clock whatever the pipeline is.
    let refused = args.pipeline.given().into_iter().filter(|flag| *flag != "--clock-period");
    let given = refused.chain(args.ports.given()).chain(args.wrapper.given());
    problems.extend(machine::refuse(given).err().map(|failure| failure.diagnostics.0).unwrap_or_default());
    refuse(problems)?;
    let hardware = compile::machine(machine, &args.spec())?;
    let netlist = &hardware.netlist;
    let stimulus = machine_stimulus(machine, args.folder.vectors as usize, args.folder.seed);
    let run = MachineRun::golden(machine, stimulus);
    let lanes = [run.clone().cycles(&netlist.interface)];
    let design = Design {
        netlist,
        axis: None,
        verilog: hardware.text(Language::Verilog),
        vhdl: hardware.text(Language::Vhdl),
        bench: &Bench { lanes: &lanes, vcd: false },
        samples: Samples::Machine(&run),
        facts: serde_json::to_value(hardware.sidecar(&LANGUAGES, checksum)).expect("plain data"),
        estimate: serde_json::to_value(hardware.estimate()).expect("plain data"),
    };
    write(args, &design, &format!("{} register bits", netlist.register_bits()), global)
}

/// What the text of a project is written in.
const LANGUAGES: [Language; 2] = [Language::Verilog, Language::Vhdl];

fn refuse(problems: Vec<Diagnostic>) -> Result<(), Failure> {
    if problems.is_empty() { Ok(()) } else { Err(Failure::input(Diagnostics(problems))) }
}

/// Writes the folder, and takes away what an earlier run has left there.
fn write(args: &Args, design: &Design<'_>, about: &str, global: Global) -> Result<ExitStatus, Failure> {
    let parts: Vec<&str> = args.folder.part.iter().map(String::as_str).collect();
    let spec = Spec {
        flows: &args.folder.flows(),
        parts: &parts,
        clock_ns: args.pipeline.clock_period.filter(|ns| *ns > 0.0).unwrap_or(DEFAULT_CLOCK),
        around: args.spec().surroundings(),
        version: &args.folder.core_version,
    };
    let files = project::package(&spec, design);
    let folder = &args.folder.output;
    let earlier = project::written(folder);
    files.write_to(folder).map_err(|e| Failure::io(folder, "write", &e))?;
    for stale in earlier.iter().filter(|name| !files.0.contains_key(*name)) {
        // What is no longer part of the project would only mislead; if it cannot go it does no harm.
        let _ = crate::files::remove(&folder.join(stale));
    }
    say(&format!("{}: {} files, {about}", folder.display(), files.0.len()), global);
    Ok(ExitStatus::Ok)
}
