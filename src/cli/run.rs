//! `alir2hdl run`: bit-accurate evaluation of samples.

use super::input::{Design, InputArgs};
use super::port_arrays::Outputs;
use super::{ExitStatus, Failure, Global, on_interrupt, print, report};
use super::{kernel, machine};
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::interp::batch::{self, OnError, SampleFault, Settings, Summary, codes_of_row};
use crate::interp::machine::{BlockMiss, Simulation};
use crate::interp::samples::{Reader, Values, Writer, input_ports};
use crate::interp::{LookupMiss, Step, Trace, golden_steps};
use crate::ir::machine::{Machine, SignalId};
use crate::ir::{Model, Op};
use crate::llvlir::Program;
use crate::num::Kif;
use crate::verify::arrays::{Arrays, Side};
use crate::verify::own;
use clap::ValueEnum;
use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle};
use std::io::IsTerminal;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Run samples through a model, bit for bit as the hardware does
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl run model.json.gz X.csv | head
  alir2hdl run model.json.gz X.npy -o Y.npy
  alir2hdl run model.json.gz X.npy --trace 3       every operation of sample 3
  alir2hdl run model.json.gz X.npy --check-intervals
  alir2hdl run machine.json.gz in.npz -o out.npz   a state machine

Input: npy or npz (float64, float32, float16, integers; C or Fortran order) or CSV (with or without a heading), one
row a sample; memory does not grow with their number. Numbers are read exactly: integers of any size, decimals as
the float64 that is printed so, or as what they say where none is. Output: float64 npy, or CSV. With --codes both are \
the integers on the module's ports: int64 where every output
fits, else CSV with hexadecimal bits. The output file appears when it is whole; Ctrl-C (exit code 130) leaves none. A \
real input's code is floor(x * 2^inp_shift * 2^fractionals), wrapped, exactly.")]
pub(super) struct Args {
    #[command(flatten)]
    model: InputArgs,
    /// Samples, a row each: .npy, .npz, .csv, - for stdin; for a state machine an array for each input port
    #[arg(value_name = "SAMPLES")]
    samples: Option<PathBuf>,
    /// Read samples from this file, like SAMPLES
    #[arg(short, long, value_name = "FILE", conflicts_with = "samples", hide_short_help = true)]
    input: Option<PathBuf>,
    /// Run a state machine for at most this many cycles
    #[arg(long, value_name = "N", help_heading = "Samples")]
    cycles: Option<u64>,
    /// Take this array of a .npz file
    #[arg(long, value_name = "NAME", help_heading = "Samples", hide_short_help = true)]
    array: Option<String>,
    /// Write the outputs to this .npy or .csv file; of a state machine .npz or a folder [default: CSV on stdout]
    #[arg(short, long, value_name = "FILE", conflicts_with = "trace")]
    output: Option<PathBuf>,
    /// Show outputs of registers without a first value as zero or NaN
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "WHAT",
        help_heading = "Samples",
        hide_short_help = true,
        hide_possible_values = true
    )]
    undefined: Undefined,
    /// Read and write raw integer values instead of real numbers
    #[arg(long, help_heading = "Samples")]
    codes: bool,
    /// Run a network without quantisation too, and print the error against that
    #[arg(long, help_heading = "Samples")]
    float: bool,
    /// Stop at a lookup outside its table, or read zero as the hardware does
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "WHAT",
        help_heading = "Samples",
        hide_short_help = true,
        hide_possible_values = true
    )]
    lookup_miss: Miss,
    /// Use this many threads [default: all processors]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=1024),
        help_heading = "Speed",
        hide_short_help = true
    )]
    threads: Option<u16>,
    /// Compute with the batch engine (fast) or the reference interpreter (golden)
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "WHICH",
        help_heading = "Speed",
        hide_short_help = true,
        hide_possible_values = true
    )]
    engine: Engine,
    /// Stop at a sample without a result, skip it, or fill its row with NaN
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "WHAT",
        help_heading = "Samples",
        hide_short_help = true,
        hide_possible_values = true
    )]
    on_error: Policy,
    /// Print every operation of this sample, counted from 0
    #[arg(long, value_name = "SAMPLE", conflicts_with = "check_intervals", help_heading = "Looking inside")]
    trace: Option<u64>,
    /// Report results that wrapped although the declared intervals promise that they fit
    #[arg(long, help_heading = "Looking inside")]
    check_intervals: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Undefined {
    /// What follows if these registers start as 0
    #[default]
    Zero,
    /// NaN
    Nan,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Miss {
    /// It is an error that names operation, sample and index
    #[default]
    Error,
    /// It reads zero
    Zero,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// The batch engine
    #[default]
    Fast,
    /// The golden interpreter, slow and plain
    Golden,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Policy {
    /// End with an error
    #[default]
    Stop,
    /// Leave its row out
    Skip,
    /// Fill its row with NaN
    Nan,
}

impl Args {
    fn settings(&self) -> Settings {
        Settings {
            codes: self.codes,
            lookup_miss: match self.lookup_miss {
                Miss::Error => LookupMiss::Error,
                Miss::Zero => LookupMiss::Zero,
            },
            on_error: match self.on_error {
                Policy::Stop => OnError::Stop,
                Policy::Skip => OnError::Skip,
                Policy::Nan => OnError::Nan,
            },
        }
    }

    /// Returns the file of samples.
    fn input(&self) -> Option<&Path> {
        self.samples.as_deref().or(self.input.as_deref())
    }

    /// Returns the file of the outputs; stdout by default, unless another result is printed there.
    fn output(&self) -> Option<&Path> {
        let prints = self.trace.is_some() || self.check_intervals || self.float;
        self.output.as_deref().or((!prints).then_some(Path::new("-")))
    }

    /// Returns an error for contradictory options.
    fn check(&self) -> Result<(), Failure> {
        let both = |a: &str, b: &str, why: &str| {
            let place = Place::Flag(a.into());
            Err(Failure::input(Diagnostic::error("E0709", place, format!("{a} and {b} do not go together: {why}"))))
        };
        if self.input().is_some_and(|input| input.as_os_str() == "-") && self.model.model.as_os_str() == "-" {
            return both("--input -", "MODEL -", "both read stdin");
        }
        let stdout = self.output.as_ref().is_some_and(|path| path.as_os_str() == "-");
        if stdout && self.check_intervals {
            return both("--output -", "--check-intervals", "both write to stdout");
        }
        if self.codes && self.undefined == Undefined::Nan {
            return both("--codes", "--undefined nan", "no code is NaN");
        }
        if self.codes && matches!(self.on_error, Policy::Nan) {
            return both("--codes", "--on-error nan", "no code is NaN");
        }
        Ok(())
    }
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    args.check()?;
    // The process ends after the run, so a large model is not freed, which would take time.
    let (design, file) = args.model.read_design(global)?;
    if let (Design::Model(model), Some(network)) = (&design, &file.network) {
        return run_network(args, model, network, global);
    }
    if args.float {
        let message = "--float requires a network";
        return Err(Failure::input(Diagnostic::error("E0804", Place::Flag("--float".into()), message)));
    }
    let model = match design {
        Design::Model(model) => ManuallyDrop::new(model),
        Design::Machine(machine) => return run_machine(args, &machine, global),
    };
    if let Some(program) = &file.kernel {
        return run_kernel(args, program, global);
    }
    if args.cycles.is_some() {
        let message = "--cycles requires a state machine";
        return Err(Failure::input(Diagnostic::error("E0804", Place::Flag("--cycles".into()), message)));
    }
    let reader = match args.input() {
        Some(input) => Reader::open(input, args.array.as_deref(), model.input_kifs(), args.codes),
        None if model.n_inputs() == 0 => Reader::one_empty_row(),
        None => return Err(no_input()),
    };
    let mut reader = reader.map_err(Failure::input)?;
    if let Some(encoder) = file.matrix.as_ref().and_then(|facts| facts.encoder())
        && !args.codes
    {
        reader = reader.encoded(encoder);
    } else if !args.codes {
        reader = reader.counting_wraps(&input_ports(&model));
    }
    if let Some(sample) = args.trace {
        let traced = trace(args, &model, &mut reader, sample);
        report(&reader.take_notes(), global);
        return traced;
    }
    on_interrupt(|| {});
    let columns: Vec<Kif> = (0..model.outputs().len()).map(|j| model.output_kif(j)).collect();
    let mut writer = match args.output() {
        Some(path) => Some(Writer::create(path, &columns, args.codes, reader.rows()).map_err(Failure::input)?),
        None => None,
    };
    let settings = args.settings();
    let mut progress = Progress::new(reader.rows(), global);
    let mut promises = args.check_intervals.then(|| IntervalCheck::new(&model));
    let summary = if args.engine == Engine::Golden || promises.is_some() {
        let visit = |sample, step: Step<'_>| {
            if let Some(promises) = &mut promises {
                promises.step(sample, step);
            }
        };
        batch::run_golden(&model, settings, &mut reader, writer.as_mut(), visit, |done| progress.tell(done))
    } else {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = args.threads.map_or_else(all, usize::from);
        batch::run(&model, settings, threads, &mut reader, writer.as_mut(), |done| progress.tell(done))
    };
    progress.end();
    let summary = summary.map_err(Failure::input)?;
    if let Some(writer) = writer {
        writer.finish().map_err(Failure::input)?;
    }
    report(&reader.take_notes(), global);
    report(&notes(&summary, reader.name()), global);
    let Some(promises) = promises else { return Ok(ExitStatus::Ok) };
    let (text, kept) = promises.verdict(summary.samples);
    print(text.as_bytes())?;
    Ok(if kept { ExitStatus::Ok } else { ExitStatus::Mismatch })
}

/// Runs an integer kernel with its reference interpreter; inputs and outputs are integers.
fn run_kernel(args: &Args, program: &Program, global: Global) -> Result<ExitStatus, Failure> {
    let given = [("--cycles", args.cycles.is_some()), ("--check-intervals", args.check_intervals)];
    if let Some((flag, _)) = given.into_iter().find(|(_, given)| *given) {
        let message = format!("{flag} has no meaning for an integer kernel");
        return Err(Failure::input(Diagnostic::error("E0804", Place::Flag(flag.into()), message)));
    }
    let samples = kernel::Samples::open(program, args.input(), args.array.as_deref())?;
    if let Some(sample) = args.trace {
        return kernel::trace(program, samples, sample);
    }
    on_interrupt(|| {});
    match args.output() {
        Some(output) => kernel::run(program, samples, output, global),
        None => Err(no_input()),
    }
}

/// Runs a network with its reference evaluator.
fn run_network(
    args: &Args,
    model: &Model,
    network: &super::source::ReadNetwork,
    global: Global,
) -> Result<ExitStatus, Failure> {
    let given = [
        ("--cycles", args.cycles.is_some()),
        ("--trace", args.trace.is_some()),
        ("--check-intervals", args.check_intervals),
        ("--on-error", !matches!(args.on_error, Policy::Stop)),
    ];
    if let Some((flag, _)) = given.into_iter().find(|(_, given)| *given) {
        let message = format!("{flag} does not go with a network");
        let help = "write the program with `convert` and run that";
        return Err(Failure::input(Diagnostic::error("E0804", Place::Flag(flag.into()), message).with_help(help)));
    }
    if args.float && args.codes {
        let message = "--float and --codes do not go together: codes were already quantised";
        return Err(Failure::input(Diagnostic::error("E0709", Place::Flag("--float".into()), message)));
    }
    let Some(input) = args.input() else { return Err(no_input()) };
    on_interrupt(|| {});
    super::network::Run {
        model,
        meaning: &*network.meaning,
        input,
        array: args.array.as_deref(),
        output: args.output(),
        codes: args.codes,
        float: args.float,
    }
    .run(global)
}

fn no_input() -> Failure {
    let error = Diagnostic::error(own::NO_SAMPLES, Place::Flag("SAMPLES".into()), "there is nothing to run on");
    Failure::input(error.with_help("name a file of samples after the model: alir2hdl run MODEL SAMPLES.npy"))
}

/// Runs a state machine cycle by cycle from power-on. An output row has the values just before the clock edge, for the
/// inputs of the same row.
fn run_machine(args: &Args, machine: &Machine, global: Global) -> Result<ExitStatus, Failure> {
    let given = [
        ("--array", args.array.is_some()),
        ("--trace", args.trace.is_some()),
        ("--check-intervals", args.check_intervals),
        ("--threads", args.threads.is_some()),
        ("--on-error", !matches!(args.on_error, Policy::Stop)),
    ];
    machine::refuse_flags(given.into_iter().filter_map(|(flag, given)| given.then_some(flag)))?;
    let output = args.output().unwrap_or(Path::new("-"));
    let ports: Vec<SignalId> = machine.inputs().collect();
    if ports.is_empty() && args.cycles.is_none() {
        let error =
            Diagnostic::error(own::NO_SAMPLES, Place::Flag("--cycles".into()), "the number of cycles is missing");
        return Err(Failure::input(error.with_help("the machine has no input port: add --cycles N")));
    }
    let mut inputs = match args.input() {
        _ if ports.is_empty() => None,
        Some(path) => Some(Arrays::open(machine, Side::Inputs, path, args.codes).map_err(Failure::input)?),
        None => return Err(no_input()),
    };
    on_interrupt(|| {});
    let mut outputs = Outputs::create(machine, output, args.codes, args.undefined == Undefined::Nan)?;
    let settings = args.settings();
    let mut sim = Simulation::new(machine, settings.lookup_miss);
    let mut progress = Progress::new(args.cycles, global);
    let mut cycle = 0;
    while args.cycles.is_none_or(|cycles| cycle < cycles) {
        if let Some(inputs) = &mut inputs {
            let Some(row) = inputs.next_codes().map_err(Failure::input)? else { break };
            let mut row = row.as_slice();
            for &port in &ports {
                let (own, rest) = row.split_at(machine.signal(port).elements.len());
                sim.apply(port, own);
                row = rest;
            }
        }
        sim.settle().map_err(|miss| missed(args, machine, &miss, cycle))?;
        outputs.write(|port| sim.values(port))?;
        sim.clock();
        cycle += 1;
        progress.tell(cycle);
    }
    progress.end();
    let undefined = outputs.finish()?;
    if let Some(inputs) = &mut inputs {
        report(&inputs.take_notes(), global);
    }
    if undefined > 0 {
        let message =
            format!("{undefined} output values are undefined: they come from registers that have no first value");
        let note = Diagnostic::note("N0702", Place::Whole, message)
            .with_help("they are as if these started as 0; --undefined nan marks them");
        report(&Diagnostics(vec![note]), global);
    }
    Ok(ExitStatus::Ok)
}

fn missed(args: &Args, machine: &Machine, miss: &BlockMiss, cycle: u64) -> Failure {
    let block = &machine.blocks()[miss.block.index()];
    let place = Place::Path(format!("fsm.logic[{:?}]", block.name));
    Failure::input(SampleFault::Miss(miss.miss.clone()).in_cycle(place, cycle).in_file(&args.model.model))
}

/// Progress of a long run, shown on a terminal after the first second, with rate and remaining time.
struct Progress {
    bar: Option<ProgressBar>,
    rows: Option<u64>,
    begun: Instant,
    wanted: bool,
}

impl Progress {
    fn new(rows: Option<u64>, global: Global) -> Progress {
        let wanted = !global.quiet && std::io::stderr().is_terminal();
        Progress { bar: None, rows, begun: Instant::now(), wanted }
    }

    /// Reports the number of finished samples; always returns `true`, so that the run continues.
    fn tell(&mut self, done: u64) -> bool {
        if self.wanted && self.bar.is_none() && self.begun.elapsed() > Duration::from_secs(1) {
            let (bar, template) = match self.rows {
                Some(rows) => {
                    (ProgressBar::new(rows), "{wide_bar} {human_pos}/{human_len} samples, {rate}/s, {eta} left")
                }
                None => (ProgressBar::new_spinner(), "{spinner} {human_pos} samples, {rate}/s, {elapsed}"),
            };
            let rate = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
                let _ = write!(text, "{}", HumanCount(state.per_sec() as u64));
            };
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = bar.with_style(style.with_key("rate", rate));
            self.bar = Some(bar.with_elapsed(self.begun.elapsed()));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(done);
        }
        true
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Prints the operations of one sample during their computation. Other samples are not computed.
fn trace(args: &Args, model: &Model, reader: &mut Reader, sample: u64) -> Result<ExitStatus, Failure> {
    let mut block = Values::default();
    let mut before = 0;
    let row = loop {
        let rows = reader.read(1024, &mut block).map_err(Failure::input)? as u64;
        if rows == 0 {
            return Err(no_such_sample(sample, reader, before));
        }
        if sample < before + rows {
            break (sample - before) as usize;
        }
        before += rows;
    };
    let fail = |fault: SampleFault| Failure::input(fault.diagnostic(reader.name(), sample));
    let codes = codes_of_row(&input_ports(model), &block, row, args.codes).map_err(fail)?;
    let mut lines = Trace::new(model, codes.clone());
    let mut text = format!("sample {sample}\n");
    let mut printed = Ok(ExitStatus::Ok);
    let outcome = golden_steps(model, &codes, args.settings().lookup_miss, |step| {
        text.push_str(&lines.step(&step));
        // The trace of a large program is printed in parts, to limit memory.
        if text.len() > 1 << 16 && printed.is_ok() {
            printed = print(text.as_bytes());
            text.clear();
        }
    });
    printed?;
    print(text.as_bytes())?;
    outcome.map_err(|miss| fail(SampleFault::Miss(miss)))?;
    Ok(ExitStatus::Ok)
}

fn no_such_sample(sample: u64, reader: &Reader, samples: u64) -> Failure {
    let message = format!("there is no sample {sample}: {} has {samples}, counted from 0", reader.name());
    Failure::input(Diagnostic::error("E0710", Place::Flag("--trace".into()), message))
}

/// Returns notes about a successful run.
fn notes(summary: &Summary, name: &str) -> Diagnostics {
    let mut notes = Vec::new();
    if let Some((sample, fault)) = &summary.first_failure {
        let message =
            format!("{} of {} samples have no result; the first is {sample}: {fault}", summary.failed, summary.samples);
        notes.push(Diagnostic::warning("W0701", Place::Whole, message).in_file(name.as_ref()));
    }
    if summary.rounded > 0 {
        let message = format!("{} output numbers are wider than float64 holds and were rounded", summary.rounded);
        notes.push(Diagnostic::note("N0701", Place::Whole, message).with_help("--codes writes them exactly"));
    }
    Diagnostics(notes)
}

/// Maximum number of printed lines about violated intervals; further ones are only counted.
const MAX_LINES: u64 = 100;

/// Observer that counts results outside of the model's declared intervals.
struct IntervalCheck<'a> {
    model: &'a Model,
    lines: String,
    /// Current sample, its violations, and `true` while its inputs are within their intervals.
    sample: u64,
    current: Vec<String>,
    inside: bool,
    /// Number of violations, and of those in samples whose inputs are within their intervals.
    broken: u64,
    broken_inside: u64,
}

impl<'a> IntervalCheck<'a> {
    fn new(model: &'a Model) -> IntervalCheck<'a> {
        let (lines, current) = (String::new(), Vec::new());
        IntervalCheck { model, lines, sample: 0, current, inside: true, broken: 0, broken_inside: 0 }
    }

    fn step(&mut self, sample: u64, step: Step<'_>) {
        if sample != self.sample {
            self.close();
            self.sample = sample;
        }
        if let Step::Op { id, code, .. } = step
            && matches!(self.model.node(id).op, Op::Input { .. })
        {
            self.inside &= self.model.node(id).interval.contains(code);
        }
        if !step.exceeds_declared_range(self.model) {
            return;
        }
        self.current.push(match step {
            Step::Op { id, exact, code } => {
                let (node, kif) = (self.model.node(id), self.model.kif(id));
                let (min, max) = (&node.interval.min, &node.interval.max);
                format!(
                    "operation {} ({}): code {exact} wraps to {code}; its interval promises {min} to {max}, type {kif}",
                    id.0,
                    node.op.name()
                )
            }
            Step::Output { index, exact, code } => {
                format!("output {index}: code {exact} wraps to {code}, type {}", self.model.output_kif(index))
            }
        });
    }

    /// Finishes a sample.
    fn close(&mut self) {
        let inside = std::mem::replace(&mut self.inside, true);
        for what in self.current.drain(..) {
            if self.broken < MAX_LINES {
                let whose = if inside { "" } else { " (an input is outside its interval)" };
                self.lines.push_str(&format!("sample {}, {what}{whose}\n", self.sample));
            }
            self.broken += 1;
            self.broken_inside += u64::from(inside);
        }
    }

    /// Returns the report, and `true` if no sample with inputs within their intervals has a violation.
    fn verdict(mut self, samples: u64) -> (String, bool) {
        self.close();
        let mut text = self.lines;
        if self.broken > MAX_LINES {
            text.push_str(&format!("... and {} more\n", self.broken - MAX_LINES));
        }
        text.push_str(&match (self.broken, self.broken_inside) {
            (0, _) => format!("every result of {samples} samples fits its type\n"),
            (all, inside) => format!(
                "{all} results of {samples} samples do not fit; {inside} of them with all inputs \
                                      inside their intervals\n"
            ),
        });
        (text, self.broken_inside == 0)
    }
}
