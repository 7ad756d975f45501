//! `alir2hdl project`: a folder for a synthesis or simulation flow.

use super::device::{self, DeviceArgs};
use super::hardware::{self, PipelineArgs, PortArgs};
use super::input::{self, InputArgs};
use super::optimise::OptimiseArgs;
use super::text::TextArgs;
use super::wrapper::WrapperArgs;
use super::{ExitStatus, Failure, Global, machine, say};
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::emit::{self, Language, Sidecar};
use crate::ir::Model;
use crate::ir::machine::Machine;
use crate::netlist::names::legalise;
use crate::project::{self, Design, Flow, Samples, Spec};
use crate::verify::{Bench, Cycles, MachineRun, Streams, Testbench, machine_stimulus};
use clap::ValueEnum;
use std::path::PathBuf;

/// Write a folder with RTL, testbenches, constraints and scripts for synthesis and simulation
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl project model.json --output build --flow vivado --part xcvu13p-flga2577-2-e --pipeline auto --clock-period 5
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
    /// The device of --device, or that of --part.
    fn device(&self) -> DeviceArgs {
        let given = self.pipeline.device.clone();
        DeviceArgs { device: given.device.or_else(|| device::of_parts(&self.folder.part)), ..given }
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
    problems.extend(args.ports.problems(&args.pipeline));
    problems.extend(args.wrapper.problems(&args.ports));
    let top = match &args.ports.top {
        Some(top) => top.clone(),
        None => args.ports.top_from_stem(super::verify::stem(&args.input.model)),
    };
    problems.extend(args.ports.options(&top).check().err().unwrap_or_default());
    refuse(problems)?;
    let pipeline = PipelineArgs { device: args.device(), ..args.pipeline.clone() };
    let (optimised, _) = args.optimise.apply(model, &pipeline)?;
    let outcome = pipeline.schedule(&optimised, args.ports.registers())?;
    let options = pipeline.for_device(args.wrapper.core_options(&args.ports, &top));
    let netlist = args.optimise.noted(hardware::lower(&optimised, &outcome, &options)?, model);
    let axis = args.wrapper.around(&top, &netlist)?;
    if axis.is_some() {
        args.optimise.every_input("a wrapper's testbench")?;
    }
    let (count, seed) = (args.folder.vectors as usize, args.folder.seed);
    let vectors = args.optimise.vectors(model, count, seed)?;
    let lanes = [Cycles::plan(&netlist.interface, &vectors, seed)];
    let pulses = Bench { lanes: &lanes, vcd: false };
    let streams = axis.as_ref().map(|axis| Streams::plan(model, axis, count, seed));
    let delays = if outcome.schedule.stages == 0 { &[] } else { outcome.stage_delays.as_slice() };
    let facts = Sidecar::new(&netlist, &LANGUAGES, delays, checksum).with_axis(axis.as_ref());
    let text = |language| {
        let wrapper = axis.as_ref().map(|axis| axis.text(language));
        emit::text(&netlist, language, &args.text.options(&pipeline, &args.optimise)) + &wrapper.unwrap_or_default()
    };
    let design = Design {
        netlist: &netlist,
        axis: axis.as_ref(),
        verilog: text(Language::Verilog),
        vhdl: text(Language::Vhdl),
        bench: streams.as_ref().map_or(&pulses as &dyn Testbench, |streams| streams),
        samples: Samples::Model(&vectors),
        facts: serde_json::to_value(&facts).expect("plain data"),
        estimate: serde_json::to_value(pipeline.estimate(&netlist, args.text.tables(&pipeline, &args.optimise)))
            .expect("plain data"),
    };
    write(args, &design, &format!("latency {}", outcome.schedule.latency()), global)
}

/// The folder of a state machine. Its bench applies a run from power-on.
fn of_machine(
    args: &Args,
    mut problems: Vec<Diagnostic>,
    machine: &Machine,
    checksum: String,
    global: Global,
) -> Result<ExitStatus, Failure> {
    let pipeline = PipelineArgs { device: args.device(), ..args.pipeline.clone() };
    // The constraints want a clock whatever the pipeline is.
    let refused = args.pipeline.given().into_iter().filter(|flag| *flag != "--clock-period");
    let given = refused.chain(args.ports.given()).chain(args.wrapper.given());
    problems.extend(machine::refuse(given).err().map(|failure| failure.diagnostics.0).unwrap_or_default());
    refuse(problems)?;
    let asked = args.ports.top.as_deref();
    let top = asked.map_or_else(|| legalise(super::verify::stem(&args.input.model)), str::to_owned);
    let optimised = args.optimise.apply_to_machine(machine)?;
    let netlist = machine::lower(&optimised.machine, &top, asked)?;
    let stimulus = machine_stimulus(machine, args.folder.vectors as usize, args.folder.seed);
    let run = MachineRun::golden(machine, stimulus);
    let lanes = [run.clone().cycles(&netlist.interface)];
    let facts = Sidecar::new(&netlist, &LANGUAGES, &[], checksum).with_machine(Some(machine::facts(
        machine,
        &netlist,
        &optimised.pipelines,
    )));
    let text = |language| emit::text(&netlist, language, &args.text.options(&pipeline, &args.optimise));
    let design = Design {
        netlist: &netlist,
        axis: None,
        verilog: text(Language::Verilog),
        vhdl: text(Language::Vhdl),
        bench: &Bench { lanes: &lanes, vcd: false },
        samples: Samples::Machine(&run),
        facts: serde_json::to_value(&facts).expect("plain data"),
        estimate: serde_json::to_value(pipeline.estimate(&netlist, args.text.tables(&pipeline, &args.optimise)))
            .expect("plain data"),
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
