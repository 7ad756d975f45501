//! Evaluation of samples from a [`Reader`] by a program, block by block, with the results going to a [`Writer`].
//!
//! [`run`] uses the batch engine on the requested number of threads; [`run_golden`] uses the reference interpreter, and
//! reports the value of every operation. Both give the same numbers, faults and files for every number of threads:
//! blocks are read and written in order; only their computation is parallel.

use super::fast::{self, FaultKind, Plan, PlanOptions, Runner};
use super::golden::{LookupMiss, MissedEntry, Step, golden_steps};
use super::samples::{Port, Reader, Values, Writer, input_ports, output_ports};
use alir_core::diag::{Diagnostic, Place};
use alir_core::ir::Model;
use num_bigint::BigInt;
use std::fmt;
use std::ops::Range;
use std::sync::{Condvar, Mutex, PoisonError};

/// Treatment of a sample that has no result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// The first such sample ends the run.
    #[default]
    Stop,
    /// The sample has no row in the output.
    Skip,
    /// The row of the sample is NaN.
    Nan,
}

/// Settings for a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// `true` if inputs and outputs are raw integer values (codes) instead of real numbers.
    pub codes: bool,
    /// Result of a lookup outside its table.
    pub lookup_miss: LookupMiss,
    /// Treatment of a sample that has no result.
    pub on_error: OnError,
}

/// Reason why a sample has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SampleFault {
    /// An input number has no code.
    Input {
        /// Index of the input element.
        input: usize,
        /// Message.
        reason: String,
    },
    /// A lookup outside its table.
    Miss(MissedEntry),
}

impl fmt::Display for SampleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SampleFault::Input { input, reason } => write!(f, "input {input}: {reason}"),
            SampleFault::Miss(miss) => miss.fmt(f),
        }
    }
}

impl SampleFault {
    /// Returns the message about sample `sample` (from 0) of the file `name`.
    pub fn diagnostic(&self, name: &str, sample: u64) -> Diagnostic {
        let diagnostic = self.told(Place::Whole, format!("sample {sample}, {self}")).in_file(name.as_ref());
        match self {
            SampleFault::Input { .. } => {
                diagnostic.with_help("--on-error skip or --on-error nan goes on with the other samples")
            }
            SampleFault::Miss(_) => diagnostic,
        }
    }

    /// Returns the message about a cycle (from 0) of a stateful design; `place` is a port or block.
    pub fn in_cycle(&self, place: Place, cycle: u64) -> Diagnostic {
        self.told(place, format!("cycle {cycle}, {self}"))
    }

    fn told(&self, place: Place, message: String) -> Diagnostic {
        match self {
            SampleFault::Input { .. } => Diagnostic::error("E0706", place, message),
            SampleFault::Miss(_) => Diagnostic::error("E0707", place, message)
                .with_help("--lookup-miss zero reads zero there, as the hardware does"),
        }
    }
}

/// Result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Samples read.
    pub samples: u64,
    /// Samples without a result.
    pub failed: u64,
    /// Index of the first such sample, and the reason.
    pub first_failure: Option<(u64, SampleFault)>,
    /// Number of output values that were rounded because float64 cannot represent them.
    pub rounded: u64,
}

/// Outputs of a block of samples.
struct Outputs {
    values: Values,
    /// Samples of the block without a result, in order.
    faults: Vec<(usize, SampleFault)>,
    rounded: u64,
}

/// Runs all samples of `reader` with the reference interpreter. `visit` receives every step of every sample (from 0);
/// `progress` receives the number of samples done so far, and the run ends if it returns `false`.
///
/// # Errors
/// Errors of the reader or the writer; with [`OnError::Stop`] the first sample without a result; an interruption by
/// `progress`.
///
/// # Panics
/// If the reader or the writer was opened for another model, or with another setting of `codes`.
pub fn run_golden(
    model: &Model,
    settings: Settings,
    reader: &mut Reader,
    mut writer: Option<&mut Writer>,
    mut visit: impl FnMut(u64, Step<'_>),
    mut progress: impl FnMut(u64) -> bool,
) -> Result<Summary, Diagnostic> {
    let mut summary = Summary::default();
    let golden = Golden { model, settings, inputs: input_ports(model), outputs: output_ports(model) };
    // Small blocks cost little compared with the reference interpreter, and the reader of a pipe gets its first rows
    // early.
    let rows = (100_000 / (model.nodes().len() + model.n_inputs() + model.outputs().len() + 1)).clamp(1, 4096);
    let mut block = Values::default();
    loop {
        let found = reader.read(rows, &mut block)?;
        if found == 0 {
            return Ok(summary);
        }
        let first = summary.samples;
        let mut outputs = golden.block(&block, found, |row, step| visit(first + row as u64, step));
        finish_block(&mut outputs, found, settings, reader.name(), &mut summary, writer.as_deref_mut())?;
        if !progress(summary.samples) {
            return Err(interrupted());
        }
        if writer.as_ref().is_some_and(|w| w.is_closed()) {
            return Ok(summary);
        }
    }
}

/// Counts the faults of a block, handles them according to the settings, and writes the block.
fn finish_block(
    outputs: &mut Outputs,
    rows: usize,
    settings: Settings,
    name: &str,
    summary: &mut Summary,
    writer: Option<&mut Writer>,
) -> Result<(), Diagnostic> {
    let first = summary.samples;
    if let Some((row, fault)) = outputs.faults.first() {
        let sample = first + *row as u64;
        if settings.on_error == OnError::Stop {
            return Err(fault.diagnostic(name, sample));
        }
        summary.first_failure.get_or_insert((sample, fault.clone()));
    }
    summary.samples += rows as u64;
    summary.failed += outputs.faults.len() as u64;
    summary.rounded += outputs.rounded;
    let Some(writer) = writer else { return Ok(()) };
    let columns = outputs.values.len() / rows;
    let failed: Vec<usize> = outputs.faults.iter().map(|(row, _)| *row).collect();
    let left_out = match (settings.on_error, &mut outputs.values) {
        (OnError::Nan, Values::Reals(reals)) => {
            failed.iter().for_each(|row| reals[row * columns..][..columns].fill(f64::NAN));
            &[]
        }
        _ => &failed[..],
    };
    if columns == 0 {
        return writer.write_empty_rows(rows - left_out.len());
    }
    writer.write(&outputs.values, left_out)
}

fn interrupted() -> Diagnostic {
    Diagnostic::error("E0708", Place::Whole, "interrupted; no output was written")
}

/// Runs all samples of `reader` with the batch engine on `threads` threads. `progress` receives the number of samples
/// done so far, and the run ends if it returns `false`.
///
/// # Errors
/// As for [`run_golden`]: both report the same first sample without a result.
///
/// # Panics
/// If the reader or the writer was opened for another model, or with another setting of `codes`.
pub fn run(
    model: &Model,
    settings: Settings,
    threads: usize,
    reader: &mut Reader,
    writer: Option<&mut Writer>,
    progress: impl FnMut(u64) -> bool + Send,
) -> Result<Summary, Diagnostic> {
    if reader.rows().is_some_and(|rows| rows <= fast::FEW as u64) {
        return run_few(model, settings, reader, writer, progress);
    }
    let plan = plan_of(model, settings);
    let engine = Engine::new(model, &plan, settings);
    let rows = engine.rows_at_once();
    let name = reader.name().to_string();
    // Starting a thread costs more time than it saves on fewer than a few blocks.
    let blocks = reader.rows().map_or(usize::MAX, |all| usize::try_from(all / rows as u64).unwrap_or(usize::MAX));
    let threads = threads.min(blocks / 2).max(1);
    let source = Mutex::new(Source { reader, next: 0, ended: false });
    let sink = Mutex::new(Sink { writer, progress, summary: Summary::default(), next: 0, failed: None, closed: false });
    let turn = Condvar::new();
    let work = || {
        let mut runner = plan.runner();
        let mut block = Values::default();
        let mut spare = Vec::new();
        loop {
            let (number, read) = {
                let mut source = source.lock().unwrap_or_else(PoisonError::into_inner);
                if source.ended {
                    return;
                }
                let read = source.reader.read(rows, &mut block);
                source.ended = !matches!(read, Ok(1..));
                source.next += 1;
                (source.next - 1, read)
            };
            let mut outputs = read.map(|found| (found, engine.block(&mut runner, &block, found, &mut spare)));
            let mut sink = sink.lock().unwrap_or_else(PoisonError::into_inner);
            while sink.next != number && sink.failed.is_none() && !sink.closed {
                sink = turn.wait(sink).unwrap_or_else(PoisonError::into_inner);
            }
            let stop = sink.failed.is_some() || sink.closed || !sink.take(&mut outputs, settings, &name);
            sink.next += 1;
            drop(sink);
            turn.notify_all();
            if let Ok((_, Outputs { values: Values::Reals(reals), .. })) = outputs {
                spare = reals;
            }
            if stop {
                source.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
                return;
            }
        }
    };
    if threads == 1 {
        work();
    } else {
        std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    }
    let sink = sink.into_inner().unwrap_or_else(PoisonError::into_inner);
    sink.failed.map_or(Ok(sink.summary), Err)
}

fn plan_of(model: &Model, settings: Settings) -> Plan {
    Plan::new(model, PlanOptions { lookup_miss: settings.lookup_miss, ..PlanOptions::default() })
}

/// Like [`run`], for so few samples that building a plan costs more time than it saves.
fn run_few(
    model: &Model,
    settings: Settings,
    reader: &mut Reader,
    mut writer: Option<&mut Writer>,
    mut progress: impl FnMut(u64) -> bool,
) -> Result<Summary, Diagnostic> {
    let mut summary = Summary::default();
    let (inputs, outputs) = (input_ports(model), output_ports(model));
    let mut block = Values::default();
    loop {
        let rows = reader.read(fast::FEW, &mut block)?;
        if rows == 0 {
            return Ok(summary);
        }
        let mut found = exact(&inputs, &outputs, settings.codes, &block, rows, |codes, results| {
            fast::run_few(model, settings.lookup_miss, codes, results)
                .unwrap_or_else(|| plan_of(model, settings).runner().run_exact(codes, results))
        });
        finish_block(&mut found, rows, settings, reader.name(), &mut summary, writer.as_deref_mut())?;
        if !progress(summary.samples) {
            return Err(interrupted());
        }
        if writer.as_ref().is_some_and(|w| w.is_closed()) {
            return Ok(summary);
        }
    }
}

/// Shared state for reading blocks, used by one thread at a time.
struct Source<'a> {
    reader: &'a mut Reader,
    /// Number of the next block.
    next: u64,
    ended: bool,
}

/// Shared state for writing blocks in order.
struct Sink<'a, P> {
    writer: Option<&'a mut Writer>,
    progress: P,
    summary: Summary,
    /// Number of the block to be written next.
    next: u64,
    failed: Option<Diagnostic>,
    /// `true` if the run has ended.
    closed: bool,
}

impl<P: FnMut(u64) -> bool> Sink<'_, P> {
    /// Writes the next block; returns `true` if the run continues.
    fn take(&mut self, block: &mut Result<(usize, Outputs), Diagnostic>, settings: Settings, name: &str) -> bool {
        let (rows, outputs) = match block {
            Ok((0, _)) => return false,
            Ok((rows, outputs)) => (rows, outputs),
            Err(diagnostic) => {
                self.failed = Some(diagnostic.clone());
                return false;
            }
        };
        if let Err(diagnostic) =
            finish_block(outputs, *rows, settings, name, &mut self.summary, self.writer.as_deref_mut())
        {
            self.failed = Some(diagnostic);
        } else if !(self.progress)(self.summary.samples) {
            self.failed = Some(interrupted());
        }
        self.closed = self.writer.as_ref().is_some_and(|w| w.is_closed());
        self.failed.is_none() && !self.closed
    }
}

/// The batch engine for blocks of samples.
pub(super) struct Engine {
    settings: Settings,
    pub(super) inputs: Vec<Port>,
    pub(super) outputs: Vec<Port>,
    /// `true` if every output is exact as a float64.
    pub(super) exact_reals: bool,
    /// Ranges of inputs that no instruction reads, so that only this engine detects a NaN there.
    unread: Vec<Range<usize>>,
    /// Smallest and largest code of each input, if all ports of the program are within int64.
    narrow: Option<Vec<(i64, i64)>>,
}

impl Engine {
    pub(super) fn new(model: &Model, plan: &Plan, settings: Settings) -> Engine {
        let (inputs, outputs) = (input_ports(model), output_ports(model));
        let exact_real = |port: &Port| {
            let width = i64::from(port.kif.width());
            width <= 53 && port.frac <= 1074 && width - port.frac <= 1023
        };
        let range = |port: &Port| Some((port.kif.min_code().try_into().ok()?, port.kif.max_code().try_into().ok()?));
        let ranges = |ports: &[Port]| ports.iter().map(range).collect::<Option<Vec<(i64, i64)>>>();
        let exact_reals = outputs.iter().all(exact_real);
        let narrow = ranges(&outputs).and(ranges(&inputs));
        let unread = runs(&plan.unread_inputs());
        Engine { settings, exact_reals, unread, narrow, inputs, outputs }
    }

    /// Returns the number of samples in a block, whose numbers fit the second-level cache.
    pub(super) fn rows_at_once(&self) -> usize {
        let row_bytes = 8 * (self.inputs.len() + self.outputs.len()).max(1);
        ((1 << 19) / row_bytes).clamp(Plan::CHUNK, 1 << 14).next_multiple_of(Plan::CHUNK)
    }

    /// Runs a block; `spare` is a buffer for its outputs, which may be empty.
    fn block(&self, runner: &mut Runner<'_>, block: &Values, rows: usize, spare: &mut Vec<f64>) -> Outputs {
        let size = rows * self.outputs.len();
        let mut run = |reals: &[f64]| {
            let mut outputs = std::mem::take(spare);
            // The run overwrites old content.
            outputs.resize(size, 0.0);
            let faults = runner.run(reals, &mut outputs);
            Outputs { values: Values::Reals(outputs), faults: faults_of(faults), rounded: 0 }
        };
        match (self.settings.codes, block) {
            (false, Values::Reals(reals)) if self.exact_reals && self.unread_are_finite(reals) => run(reals),
            (false, Values::Integers(integers)) if self.exact_reals && integers.iter().all(|&v| is_exact(v)) => {
                run(&integers.iter().map(|&v| v as f64).collect::<Vec<f64>>())
            }
            (true, Values::Integers(integers)) if self.all_codes(integers) => {
                let mut outputs = vec![0; size];
                let faults = runner.run_codes(integers, &mut outputs);
                Outputs { values: Values::Integers(outputs), faults: faults_of(faults), rounded: 0 }
            }
            _ => {
                let run = |codes: &[BigInt], results: &mut [BigInt]| runner.run_exact(codes, results);
                exact(&self.inputs, &self.outputs, self.settings.codes, block, rows, run)
            }
        }
    }

    /// Returns `true` if no unused input is NaN or infinite.
    pub(super) fn unread_are_finite(&self, reals: &[f64]) -> bool {
        let columns = self.inputs.len().max(1);
        match self.unread.as_slice() {
            [] => true,
            [all] if all.len() == columns => all_finite(reals),
            // Testing all numbers of the block takes less time than testing many short ranges; only if a number is not
            // finite, the ranges are tested.
            some if some.len() * SHORT_RUN > columns && all_finite(reals) => true,
            some => reals.chunks_exact(columns).all(|row| some.iter().all(|run| all_finite(&row[run.clone()]))),
        }
    }

    /// Returns `true` if the numbers are codes of the input ports, and all ports are within int64.
    pub(super) fn all_codes(&self, integers: &[i64]) -> bool {
        let Some(ranges) = self.narrow.as_deref().filter(|ranges| !ranges.is_empty()) else { return false };
        let mut rows = integers.chunks_exact(ranges.len());
        rows.all(|row| row.iter().zip(ranges).all(|(v, (min, max))| min <= v && v <= max))
    }
}

/// Evaluates a block in exact codes, for rare cases: wide ports, numbers without a code, integers beyond float64.
fn exact(
    inputs: &[Port],
    outputs: &[Port],
    codes: bool,
    block: &Values,
    rows: usize,
    run: impl FnOnce(&[BigInt], &mut [BigInt]) -> Vec<fast::Fault>,
) -> Outputs {
    let mut faults = Vec::new();
    let mut samples = Vec::with_capacity(rows * inputs.len());
    for row in 0..rows {
        let sample = codes_of_row(inputs, block, row, codes);
        samples.extend(sample.unwrap_or_else(|fault| {
            faults.push((row, fault));
            inputs.iter().map(|port| port.kif.min_code()).collect()
        }));
    }
    let mut results = vec![BigInt::ZERO; rows * outputs.len()];
    let missed = faults_of(run(&samples, &mut results));
    // A fault of an input without a code has priority over a fault of a lookup.
    let failed: Vec<usize> = faults.iter().map(|(row, _)| *row).collect();
    faults.extend(missed.into_iter().filter(|(row, _)| failed.binary_search(row).is_err()));
    faults.sort_by_key(|(row, _)| *row);
    let mut rounded = 0;
    let values = match codes {
        true => Values::Wide(results),
        false => {
            let failed = |row| faults.binary_search_by_key(&row, |(row, _)| *row).is_ok();
            let columns = outputs.len().max(1);
            let real = |(index, code): (usize, &BigInt)| {
                let (real, exact) = outputs[index % columns].real_of_code(code);
                rounded += u64::from(!exact && !failed(index / columns));
                real
            };
            Values::Reals(results.iter().enumerate().map(real).collect())
        }
    };
    Outputs { values, faults, rounded }
}

/// Returns the ranges of consecutive numbers in an ascending list.
fn runs(numbers: &[usize]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some(run) if run.end == number => run.end += 1,
            _ => runs.push(number..number + 1),
        }
    }
    runs
}

/// Average length of ranges, including the gaps between them, below which the whole row is tested.
const SHORT_RUN: usize = 32;

/// Returns `true` if no number is NaN or infinite.
fn all_finite(reals: &[f64]) -> bool {
    // If all exponent bits are set, adding one at the lowest exponent bit carries into the sign bit.
    const EXPONENT: u64 = 0x7ff0 << 48;
    let carries = |x: &f64| (x.to_bits() & EXPONENT).wrapping_add(1 << 52);
    reals.iter().fold(0, |all, x| all | carries(x)) >> 63 == 0
}

/// Returns `true` if float64 represents an integer exactly.
fn is_exact(v: i64) -> bool {
    v.unsigned_abs() <= 1 << 53
}

fn faults_of(faults: Vec<fast::Fault>) -> Vec<(usize, SampleFault)> {
    faults.into_iter().map(fault_of).collect()
}

/// Returns the index of the sample of a fault, and the reason why the sample has no result.
pub(super) fn fault_of(fault: fast::Fault) -> (usize, SampleFault) {
    match fault.kind {
        FaultKind::NotFinite { input, value } => {
            (fault.sample, SampleFault::Input { input: input as usize, reason: format!("{value} has no code") })
        }
        FaultKind::Miss(miss) => (fault.sample, SampleFault::Miss(miss)),
    }
}

/// Returns the codes on the input port for row `row` of a block; with `codes`, the numbers are the codes.
///
/// # Errors
/// The first input number without a code.
///
/// # Panics
/// If the block has no row `row`.
pub fn codes_of_row(ports: &[Port], block: &Values, row: usize, codes: bool) -> Result<Vec<BigInt>, SampleFault> {
    let code = |(input, port): (usize, &Port)| {
        let code = block.code(row * ports.len() + input, *port, codes);
        code.map_err(|reason| SampleFault::Input { input, reason })
    };
    ports.iter().enumerate().map(code).collect()
}

/// The reference interpreter for blocks of samples.
struct Golden<'a> {
    model: &'a Model,
    settings: Settings,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
}

impl Golden<'_> {
    fn block(&self, block: &Values, rows: usize, mut visit: impl FnMut(usize, Step<'_>)) -> Outputs {
        let size = rows * self.outputs.len();
        let values = match self.settings.codes {
            true => Values::Wide(Vec::with_capacity(size)),
            false => Values::Reals(Vec::with_capacity(size)),
        };
        let mut outputs = Outputs { values, faults: Vec::new(), rounded: 0 };
        for row in 0..rows {
            let codes = self.sample(block, row, |step| visit(row, step)).unwrap_or_else(|fault| {
                outputs.faults.push((row, fault));
                vec![BigInt::ZERO; self.outputs.len()]
            });
            match &mut outputs.values {
                Values::Reals(reals) => reals.extend(codes.iter().zip(&self.outputs).map(|(code, port)| {
                    let (real, exact) = port.real_of_code(code);
                    outputs.rounded += u64::from(!exact);
                    real
                })),
                Values::Wide(wide) => wide.extend(codes),
                Values::Integers(_) | Values::Numbers(_) => {
                    unreachable!("the reference interpreter gives raw values of any size")
                }
            }
        }
        outputs
    }

    fn sample(&self, block: &Values, row: usize, visit: impl FnMut(Step<'_>)) -> Result<Vec<BigInt>, SampleFault> {
        let codes = codes_of_row(&self.inputs, block, row, self.settings.codes)?;
        golden_steps(self.model, &codes, self.settings.lookup_miss, visit).map_err(SampleFault::Miss)
    }
}
