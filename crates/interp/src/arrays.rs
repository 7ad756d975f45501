//! Evaluation of a model on arrays in memory, on several threads, without copies of whole arrays.
//!
//! [`ArrayEngine::run`] returns the same bits as [`super::batch::run`] for a file with equal numbers. Numbers that are
//! not float64 are converted block by block. Unlike `batch`, it rounds no result unless [`ArrayRun::rounds`] is set: a
//! value that float64 cannot represent is an [`ArrayFault::Inexact`].

use super::batch::{Engine, SampleFault, Settings, codes_of_row, fault_of};
use super::fast::{Plan, Runner};
use super::golden::LookupMiss;
use super::samples::{Port, Values};
use alir_core::ir::Model;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Input numbers, sample by sample.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the variants are named after their element types")]
pub enum Numbers<'a> {
    F64(&'a [f64]),
    F32(&'a [f32]),
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
    /// Integers of any size.
    Wide(&'a [BigInt]),
}

/// Calls `$f` with the slice of any variant as `$v`.
macro_rules! each {
    ($numbers:expr, $v:ident => $body:expr) => {
        match $numbers {
            Numbers::F64($v) => $body,
            Numbers::F32($v) => $body,
            Numbers::I8($v) => $body,
            Numbers::I16($v) => $body,
            Numbers::I32($v) => $body,
            Numbers::I64($v) => $body,
            Numbers::U8($v) => $body,
            Numbers::U16($v) => $body,
            Numbers::U32($v) => $body,
            Numbers::U64($v) => $body,
            Numbers::Wide($v) => $body,
        }
    };
}

/// Slices the numbers of any variant, and returns the same variant.
macro_rules! sliced {
    ($numbers:expr, $range:expr, $($variant:ident)*) => {
        match $numbers { $(Numbers::$variant(v) => Numbers::$variant(&v[$range]),)* }
    };
}

/// Replaces the content of a vector with numbers that its element type represents exactly.
macro_rules! convert {
    ($from:ident => $into:ident: $number:ty) => {{
        $into.clear();
        $into.extend($from.iter().map(|&x| x as $number));
    }};
}

impl<'a> Numbers<'a> {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        each!(self, v => v.len())
    }

    /// Returns `true` if there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a range of the numbers.
    #[must_use]
    pub fn slice(self, range: Range<usize>) -> Numbers<'a> {
        sliced!(self, range, F64 F32 I8 I16 I32 I64 U8 U16 U32 U64 Wide)
    }

    /// Returns an exact copy of the numbers.
    pub fn to_values(&self) -> Values {
        match *self {
            Numbers::F64(v) => Values::Reals(v.to_vec()),
            Numbers::F32(v) => Values::Reals(v.iter().map(|&x| x.into()).collect()),
            Numbers::I64(v) => Values::Integers(v.to_vec()),
            Numbers::U64(v) => Values::Wide(v.iter().map(|&x| x.into()).collect()),
            Numbers::Wide(v) => Values::Wide(v.to_vec()),
            Numbers::I8(v) => Values::Integers(v.iter().map(|&x| x.into()).collect()),
            Numbers::I16(v) => Values::Integers(v.iter().map(|&x| x.into()).collect()),
            Numbers::I32(v) => Values::Integers(v.iter().map(|&x| x.into()).collect()),
            Numbers::U8(v) => Values::Integers(v.iter().map(|&x| x.into()).collect()),
            Numbers::U16(v) => Values::Integers(v.iter().map(|&x| x.into()).collect()),
            Numbers::U32(v) => Values::Integers(v.iter().map(|&x| x.into()).collect()),
        }
    }

    /// Returns the numbers as float64; `None` if float64 cannot represent a number. `scratch` stores converted numbers.
    fn reals<'s>(&self, scratch: &'s mut Vec<f64>) -> Option<&'s [f64]>
    where
        'a: 's,
    {
        /// Largest magnitude up to which float64 represents every integer.
        const EXACT: u64 = 1 << 53;
        match *self {
            Numbers::F64(v) => return Some(v),
            Numbers::F32(v) => convert!(v => scratch: f64),
            Numbers::I8(v) => convert!(v => scratch: f64),
            Numbers::I16(v) => convert!(v => scratch: f64),
            Numbers::I32(v) => convert!(v => scratch: f64),
            Numbers::U8(v) => convert!(v => scratch: f64),
            Numbers::U16(v) => convert!(v => scratch: f64),
            Numbers::U32(v) => convert!(v => scratch: f64),
            Numbers::I64(v) if v.iter().all(|x| x.unsigned_abs() <= EXACT) => convert!(v => scratch: f64),
            Numbers::U64(v) if v.iter().all(|&x| x <= EXACT) => convert!(v => scratch: f64),
            Numbers::I64(_) | Numbers::U64(_) | Numbers::Wide(_) => return None,
        }
        Some(scratch)
    }

    /// Returns the numbers as int64; `None` if one does not fit. `scratch` stores converted numbers.
    fn integers<'s>(&self, scratch: &'s mut Vec<i64>) -> Option<&'s [i64]>
    where
        'a: 's,
    {
        match *self {
            Numbers::I64(v) => return Some(v),
            Numbers::I8(v) => convert!(v => scratch: i64),
            Numbers::I16(v) => convert!(v => scratch: i64),
            Numbers::I32(v) => convert!(v => scratch: i64),
            Numbers::U8(v) => convert!(v => scratch: i64),
            Numbers::U16(v) => convert!(v => scratch: i64),
            Numbers::U32(v) => convert!(v => scratch: i64),
            Numbers::U64(v) if v.iter().all(|&x| i64::try_from(x).is_ok()) => convert!(v => scratch: i64),
            Numbers::F64(_) | Numbers::F32(_) | Numbers::U64(_) | Numbers::Wide(_) => return None,
        }
        Some(scratch)
    }
}

/// Memory for results: real numbers, or raw integer values.
#[derive(Debug)]
pub enum Results<'a> {
    /// Real numbers.
    Reals(&'a mut [f64]),
    /// Raw integer values as int64.
    Signed(&'a mut [i64]),
    /// Raw integer values as uint64.
    Unsigned(&'a mut [u64]),
    /// Raw integer values of any size.
    Wide(&'a mut [BigInt]),
}

impl<'a> Results<'a> {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        match self {
            Results::Reals(v) => v.len(),
            Results::Signed(v) => v.len(),
            Results::Unsigned(v) => v.len(),
            Results::Wide(v) => v.len(),
        }
    }

    /// Returns `true` if there are no results.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `true` for raw integer values.
    pub fn are_codes(&self) -> bool {
        !matches!(self, Results::Reals(_))
    }

    /// Removes the first `n` elements and returns them.
    fn take(&mut self, n: usize) -> Results<'a> {
        fn front<'a, T>(all: &mut &'a mut [T], n: usize) -> &'a mut [T] {
            let (front, rest) = std::mem::take(all).split_at_mut(n);
            *all = rest;
            front
        }
        match self {
            Results::Reals(v) => Results::Reals(front(v, n)),
            Results::Signed(v) => Results::Signed(front(v, n)),
            Results::Unsigned(v) => Results::Unsigned(front(v, n)),
            Results::Wide(v) => Results::Wide(front(v, n)),
        }
    }

    /// Sets one raw integer value.
    ///
    /// # Panics
    /// If these are real numbers, or the value does not fit the element type.
    pub fn set_code(&mut self, index: usize, code: &BigInt) {
        match self {
            Results::Reals(_) => unreachable!("real numbers have no codes"),
            Results::Signed(v) => v[index] = code.to_i64().expect("chosen by the port types"),
            Results::Unsigned(v) => v[index] = code.to_u64().expect("chosen by the port types"),
            Results::Wide(v) => v[index].clone_from(code),
        }
    }
}

/// Integer type that can represent the raw integer values of all outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeType {
    /// int64.
    Signed,
    /// uint64.
    Unsigned,
    /// Integers of any size.
    Wide,
}

/// Error of a run over arrays. Samples and outputs are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrayFault {
    /// A sample has no result.
    Sample {
        /// The first such sample.
        sample: usize,
        /// Reason.
        fault: SampleFault,
    },
    /// A sample has no result, as reported by a [`BlockEvaluator`].
    Refused {
        /// The first such sample.
        sample: usize,
        /// Message.
        reason: String,
    },
    /// float64 cannot represent an output exactly.
    Inexact {
        /// The first such sample.
        sample: usize,
        /// Index of the output element.
        output: usize,
        /// Raw integer value.
        code: BigInt,
        /// Number of fractional bits of the output.
        frac: i32,
    },
    /// The caller ended the run.
    Interrupted,
}

impl ArrayFault {
    /// Returns the index of the sample, which orders errors.
    fn sample(&self) -> usize {
        match self {
            ArrayFault::Sample { sample, .. }
            | ArrayFault::Refused { sample, .. }
            | ArrayFault::Inexact { sample, .. } => *sample,
            ArrayFault::Interrupted => 0,
        }
    }

    /// Returns the error with `first` added to the index of its sample.
    fn with_sample_offset(mut self, first: usize) -> ArrayFault {
        match &mut self {
            ArrayFault::Sample { sample, .. }
            | ArrayFault::Refused { sample, .. }
            | ArrayFault::Inexact { sample, .. } => *sample += first,
            ArrayFault::Interrupted => {}
        }
        self
    }
}

impl fmt::Display for ArrayFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArrayFault::Sample { sample, fault } => write!(f, "sample {sample}: {fault}"),
            ArrayFault::Refused { sample, reason } => write!(f, "sample {sample}: {reason}"),
            ArrayFault::Inexact { sample, output, code, frac } => {
                write!(f, "sample {sample}: output {output} is {code}")?;
                if *frac != 0 {
                    write!(f, " * 2^{}", -i64::from(*frac))?;
                }
                write!(f, ", which float64 cannot hold")
            }
            ArrayFault::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// Callback that evaluates a block of samples instead of the plan. The callback receives the numbers, the memory for
/// results, and the plan's runner for parts of the computation. Samples of faults are counted from the first of the
/// block.
pub type BlockEvaluator<'a> =
    dyn Fn(Numbers<'_>, &mut Results<'_>, &mut Runner<'_>) -> Result<(), ArrayFault> + Sync + 'a;

/// Options for a run over arrays.
#[derive(Clone, Copy)]
pub struct ArrayRun<'a> {
    /// Largest number of threads, including the caller's thread.
    pub threads: usize,
    /// Function that is called on the caller's thread a few times per second; the run ends if it returns `true`.
    pub stop: &'a dyn Fn() -> bool,
    /// `true` to round values that float64 cannot represent to the nearest float64 instead of reporting them.
    pub rounds: bool,
    /// Evaluator of blocks that replaces the plan.
    pub evaluator: Option<&'a BlockEvaluator<'a>>,
}

impl fmt::Debug for ArrayRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ArrayRun of {} threads", self.threads)
    }
}

/// Evaluator of a model on arrays, with the properties of the model's ports, which are computed once.
pub struct ArrayEngine {
    engine: Engine,
    code_type: CodeType,
    /// Number of operations and ports: a measure of the work for one sample.
    row_work: usize,
}

impl fmt::Debug for ArrayEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ArrayEngine of {} inputs", self.engine.inputs.len())
    }
}

/// Work ([`ArrayEngine::row_work`] times samples) below which one more thread costs more time than it saves.
const THREAD_WORK: usize = 1 << 17;
/// Work between two calls of [`ArrayRun::stop`]; about a tenth of a second at most.
const STOP_WORK: usize = 1 << 26;

impl ArrayEngine {
    /// Creates the evaluator of a model with its plan.
    pub fn new(model: &Model, plan: &Plan) -> ArrayEngine {
        let settings = Settings { lookup_miss: LookupMiss::Error, ..Settings::default() };
        let engine = Engine::new(model, plan, settings);
        let holds = |signed: bool, port: &Port| match (signed, port.kif.signed) {
            (true, true) | (false, false) => port.kif.width() <= 64,
            (true, false) => port.kif.width() <= 63,
            (false, true) => port.kif.width() == 0,
        };
        let code_type = if engine.outputs.iter().all(|port| holds(true, port)) {
            CodeType::Signed
        } else if engine.outputs.iter().all(|port| holds(false, port)) {
            CodeType::Unsigned
        } else {
            CodeType::Wide
        };
        let row_work = model.nodes().len() + engine.inputs.len() + engine.outputs.len() + 1;
        ArrayEngine { engine, code_type, row_work }
    }

    /// Returns the integer type that can represent all raw integer values of the outputs.
    pub fn code_type(&self) -> CodeType {
        self.code_type
    }

    /// Evaluates `rows` samples. If the results are raw integer values, the numbers must be raw integer values, too.
    ///
    /// # Errors
    /// The first sample without a result, or an interruption by `stop`. The results are then unspecified.
    ///
    /// # Panics
    /// If the array lengths do not match `rows` samples of the model, or the plan belongs to another model.
    pub fn run(
        &self,
        plan: &Plan,
        rows: usize,
        numbers: Numbers<'_>,
        results: Results<'_>,
        run: ArrayRun<'_>,
    ) -> Result<(), ArrayFault> {
        let (n_in, n_out) = (self.engine.inputs.len(), self.engine.outputs.len());
        assert_eq!(numbers.len(), rows * n_in, "whole samples");
        assert_eq!(results.len(), rows * n_out, "a result for each sample");
        let threads_used = (rows.saturating_mul(self.row_work) / THREAD_WORK).clamp(1, run.threads.max(1));
        // An evaluator takes much longer for a block than the plan.
        let threads_used =
            if run.evaluator.is_some() { run.threads.clamp(1, rows.div_ceil(16).max(1)) } else { threads_used };
        let block = match run.evaluator {
            Some(_) => 256.min(rows.div_ceil(threads_used)).max(1),
            None => self.engine.rows_at_once().min((STOP_WORK / self.row_work).max(Plan::CHUNK)),
        };
        // Smaller blocks, at least four for each thread, so that no thread is idle at the end.
        let block = if threads_used > 1 {
            block.min(rows.div_ceil(4 * threads_used).next_multiple_of(Plan::CHUNK))
        } else {
            block
        };
        let work = Mutex::new(Work { next: 0, results, fault: None });
        let take_blocks = |stop: Option<&dyn Fn() -> bool>| {
            let mut worker =
                Worker { array: self, rounds: run.rounds, runner: plan.runner(), reals: Vec::new(), codes: Vec::new() };
            let mut last_check = std::time::Instant::now();
            loop {
                let (range, mut part) = {
                    let mut work = work.lock().unwrap_or_else(PoisonError::into_inner);
                    let first = work.next;
                    if first == rows || work.fault.is_some() {
                        return;
                    }
                    let n = block.min(rows - first);
                    work.next += n;
                    (first..first + n, work.results.take(n * n_out))
                };
                let samples = numbers.slice(range.start * n_in..range.end * n_in);
                let done = match run.evaluator {
                    Some(evaluate) => evaluate(samples, &mut part, &mut worker.runner),
                    None => worker.block(samples, &mut part, range.len()),
                };
                if let Err(fault) = done {
                    let fault = fault.with_sample_offset(range.start);
                    let mut work = work.lock().unwrap_or_else(PoisonError::into_inner);
                    // Blocks are taken in order, so all earlier blocks are done or in progress: the fault of the first
                    // sample is kept.
                    if work
                        .fault
                        .as_ref()
                        .is_none_or(|first| *first != ArrayFault::Interrupted && fault.sample() < first.sample())
                    {
                        work.fault = Some(fault);
                    }
                    return;
                }
                if let Some(stop) = stop
                    && last_check.elapsed().as_millis() >= 100
                {
                    if stop() {
                        work.lock().unwrap_or_else(PoisonError::into_inner).fault = Some(ArrayFault::Interrupted);
                        return;
                    }
                    last_check = std::time::Instant::now();
                }
            }
        };
        if threads_used == 1 {
            take_blocks(Some(run.stop));
        } else {
            std::thread::scope(|scope| {
                for _ in 1..threads_used {
                    // If the operating system refuses more threads, the existing threads do the work.
                    let spawned = std::thread::Builder::new().spawn_scoped(scope, || take_blocks(None));
                    if spawned.is_err() {
                        break;
                    }
                }
                take_blocks(Some(run.stop));
            });
        }
        work.into_inner().unwrap_or_else(PoisonError::into_inner).fault.map_or(Ok(()), Err)
    }
}

/// State that the threads share.
struct Work<'a> {
    /// First sample of the next block.
    next: usize,
    /// Results from sample `next` on.
    results: Results<'a>,
    /// Fault of the first sample that has failed so far.
    fault: Option<ArrayFault>,
}

/// State of one thread.
struct Worker<'a> {
    array: &'a ArrayEngine,
    rounds: bool,
    runner: Runner<'a>,
    reals: Vec<f64>,
    codes: Vec<i64>,
}

impl Worker<'_> {
    /// Evaluates a block of samples with the plan.
    fn block(&mut self, numbers: Numbers<'_>, results: &mut Results<'_>, rows: usize) -> Result<(), ArrayFault> {
        let engine = &self.array.engine;
        match results {
            Results::Reals(out) => {
                let mut scratch = std::mem::take(&mut self.reals);
                let done = match numbers.reals(&mut scratch) {
                    Some(reals) if engine.unread_are_finite(reals) => Some(self.real_block(reals, out)),
                    _ => None,
                };
                self.reals = scratch;
                if let Some(done) = done {
                    return done;
                }
            }
            Results::Signed(out) => {
                let mut scratch = std::mem::take(&mut self.codes);
                let done = match numbers.integers(&mut scratch) {
                    Some(codes) if engine.all_codes(codes) => Some(first(self.runner.run_codes(codes, out))),
                    _ => None,
                };
                self.codes = scratch;
                if let Some(done) = done {
                    return done;
                }
            }
            Results::Unsigned(_) | Results::Wide(_) => {}
        }
        self.exact_block(numbers, results, rows)
    }

    /// Evaluates a block from real numbers to real numbers.
    fn real_block(&mut self, reals: &[f64], out: &mut [f64]) -> Result<(), ArrayFault> {
        let engine = &self.array.engine;
        if engine.exact_reals || self.rounds {
            return first(self.runner.run(reals, out));
        }
        if self.array.code_type != CodeType::Signed {
            let mut codes = vec![BigInt::ZERO; out.len()];
            let fault = first(self.runner.run_reals_exactly(reals, &mut codes));
            return to_reals(&engine.outputs, codes.iter(), out, fault, self.rounds);
        }
        self.codes.resize(out.len(), 0);
        let fault = first(self.runner.run_reals_to_codes(reals, &mut self.codes));
        // Most blocks have only exact results, which a check in machine words confirms.
        let width = engine.outputs.len().max(1);
        let mut rows = self.codes.chunks_exact(width).zip(out.chunks_exact_mut(width));
        let small = |(port, (&code, to)): (&Port, (&i64, &mut f64))| small_real(port, code, to);
        if fault.is_ok() && rows.all(|(codes, out)| engine.outputs.iter().zip(codes.iter().zip(out)).all(small)) {
            return Ok(());
        }
        to_reals(&engine.outputs, self.codes.iter(), out, fault, self.rounds)
    }

    /// Evaluates a block of any numbers, in integers of any size.
    fn exact_block(&mut self, numbers: Numbers<'_>, results: &mut Results<'_>, rows: usize) -> Result<(), ArrayFault> {
        let engine = &self.array.engine;
        let (values, codes) = (numbers.to_values(), results.are_codes());
        let mut samples = Vec::with_capacity(rows * engine.inputs.len());
        let mut fault = Ok(());
        let mut good = rows;
        for row in 0..rows {
            match codes_of_row(&engine.inputs, &values, row, codes) {
                Ok(sample) => samples.extend(sample),
                Err(why) => {
                    (fault, good) = (Err(ArrayFault::Sample { sample: row, fault: why }), row);
                    break;
                }
            }
        }
        let mut found = vec![BigInt::ZERO; good * engine.outputs.len()];
        // A fault of an earlier sample has priority.
        let fault = if good == 0 { fault } else { first(self.runner.run_exact(&samples, &mut found)).and(fault) };
        if let Results::Reals(out) = results {
            return to_reals(
                &engine.outputs,
                found.iter(),
                &mut out[..good * engine.outputs.len()],
                fault,
                self.rounds,
            );
        }
        fault?;
        found.iter().enumerate().for_each(|(index, code)| results.set_code(index, code));
        Ok(())
    }
}

/// Returns the fault of the first sample without a result.
fn first(faults: Vec<super::fast::Fault>) -> Result<(), ArrayFault> {
    match faults.into_iter().next() {
        None => Ok(()),
        Some(fault) => {
            let (sample, fault) = fault_of(fault);
            Err(ArrayFault::Sample { sample, fault })
        }
    }
}

/// Sets the real number of a raw integer value; returns `false` if it may be inexact in float64.
fn small_real(port: &Port, code: i64, to: &mut f64) -> bool {
    let significant = code.unsigned_abs() >> code.unsigned_abs().trailing_zeros().min(63);
    let Some(scale) = (-960..=960).contains(&port.frac).then(|| f64::from_bits(((1023 - port.frac) as u64) << 52))
    else {
        return false;
    };
    *to = code as f64 * scale;
    significant <= 1 << 53
}

/// Converts raw integer values to real numbers.
///
/// # Errors
/// `fault`, or an output that float64 cannot represent exactly if it belongs to an earlier sample.
fn to_reals<'c, C>(
    ports: &[Port],
    codes: impl Iterator<Item = &'c C>,
    out: &mut [f64],
    fault: Result<(), ArrayFault>,
    rounds: bool,
) -> Result<(), ArrayFault>
where
    C: Clone + Into<BigInt> + 'c,
{
    let width = ports.len().max(1);
    let good = fault.as_ref().err().map_or(usize::MAX, ArrayFault::sample);
    for (index, (to, code)) in out.iter_mut().zip(codes).enumerate() {
        let (sample, output) = (index / width, index % width);
        if sample == good {
            return fault;
        }
        let code: BigInt = code.clone().into();
        let port = &ports[output];
        let (real, exact) = port.real_of_code(&code);
        if !exact && !rounds {
            return Err(ArrayFault::Inexact { sample, output, code, frac: port.frac as i32 });
        }
        *to = real;
    }
    fault
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlanOptions;
    use crate::golden;
    use crate::samples::{input_ports, output_ports};
    use alir_testing::random::{self, SplitMix};

    const NEVER: &dyn Fn() -> bool = &|| false;

    /// Returns the raw integer values that the reference interpreter computes, up to its first fault.
    fn expected(model: &Model, numbers: &Numbers<'_>, rows: usize, codes: bool) -> (Vec<BigInt>, Option<usize>) {
        let ports = input_ports(model);
        let values = numbers.to_values();
        let mut all = Vec::new();
        for row in 0..rows {
            let sample = codes_of_row(&ports, &values, row, codes).ok();
            match sample.and_then(|sample| golden(model, &sample, LookupMiss::Error).ok()) {
                Some(outputs) => all.extend(outputs),
                None => return (all, Some(row)),
            }
        }
        (all, None)
    }

    fn agree(model: &Model, numbers: Numbers<'_>, rows: usize, threads: usize) {
        let plan = Plan::new(model, PlanOptions::default());
        let array = ArrayEngine::new(model, &plan);
        let run = ArrayRun { threads, stop: NEVER, rounds: false, evaluator: None };
        let ports = output_ports(model);
        let size = rows * ports.len();
        let mut reals = vec![7.0; size];
        let done = array.run(&plan, rows, numbers, Results::Reals(&mut reals), run);
        let (codes, fault) = expected(model, &numbers, rows, false);
        let inexact = codes.iter().enumerate().position(|(k, code)| !ports[k % ports.len()].real_of_code(code).1);
        match (inexact, fault, done) {
            (Some(k), _, Err(ArrayFault::Inexact { sample, output, .. })) => {
                assert_eq!((sample, output), (k / ports.len(), k % ports.len()));
            }
            (None, Some(row), Err(ArrayFault::Sample { sample, .. })) => assert_eq!(sample, row),
            (None, None, Ok(())) => {
                for (k, code) in codes.iter().enumerate() {
                    assert_eq!(reals[k].to_bits(), ports[k % ports.len()].real_of_code(code).0.to_bits());
                }
            }
            others => panic!("{others:?}"),
        }
        if matches!(numbers, Numbers::F64(_) | Numbers::F32(_)) {
            return;
        }
        let mut signed = vec![7; size];
        let mut unsigned = vec![7; size];
        let mut wide = vec![BigInt::ZERO; size];
        let results = match array.code_type() {
            CodeType::Signed => Results::Signed(&mut signed),
            CodeType::Unsigned => Results::Unsigned(&mut unsigned),
            CodeType::Wide => Results::Wide(&mut wide),
        };
        let done = array.run(&plan, rows, numbers, results, run);
        match (expected(model, &numbers, rows, true), done) {
            ((_, Some(row)), Err(fault)) => assert_eq!(fault.sample(), row),
            ((codes, None), Ok(())) => {
                let found: Vec<BigInt> = match array.code_type() {
                    CodeType::Signed => signed.into_iter().map(BigInt::from).collect(),
                    CodeType::Unsigned => unsigned.into_iter().map(BigInt::from).collect(),
                    CodeType::Wide => wide,
                };
                assert_eq!(found, codes);
            }
            (expected, done) => panic!("{expected:?} {done:?}"),
        }
    }

    #[test]
    fn arrays_of_every_type_agree_with_the_reference_interpreter() {
        for seed in 0..120 {
            let model = random::model(seed);
            let mut rng = SplitMix::new(seed);
            let (rows, n) = ([1, 5, 40][seed as usize % 3], model.n_inputs());
            let size = rows * n;
            let words: Vec<u64> = (0..size).map(|_| rng.word()).collect();
            let small = |bits: u32| words.iter().map(|w| (*w as i64) >> (64 - bits)).collect::<Vec<_>>();
            let (i8s, i16s): (Vec<i8>, Vec<i16>) =
                (small(8).iter().map(|&x| x as i8).collect(), small(16).iter().map(|&x| x as i16).collect());
            let (u8s, u64s): (Vec<u8>, Vec<u64>) = (words.iter().map(|&x| x as u8).collect(), words.clone());
            let i64s = small(64);
            let few: Vec<i64> = small(3);
            let f32s: Vec<f32> = small(20).iter().map(|&x| x as f32 / 64.0).collect();
            let mut f64s: Vec<f64> = small(40).iter().map(|&x| x as f64 / 4096.0).collect();
            let in_range: Vec<BigInt> = (0..rows).flat_map(|_| random::inputs(&model, &mut rng)).collect();
            for threads in [1, 3] {
                agree(&model, Numbers::I8(&i8s), rows, threads);
                agree(&model, Numbers::I16(&i16s), rows, threads);
                agree(&model, Numbers::U8(&u8s), rows, threads);
                agree(&model, Numbers::U64(&u64s), rows, threads);
                agree(&model, Numbers::I64(&i64s), rows, threads);
                agree(&model, Numbers::I64(&few), rows, threads);
                agree(&model, Numbers::F32(&f32s), rows, threads);
                agree(&model, Numbers::F64(&f64s), rows, threads);
                agree(&model, Numbers::Wide(&in_range), rows, threads);
            }
            if let Some(last) = f64s.last_mut() {
                *last = f64::NAN;
                agree(&model, Numbers::F64(&f64s), rows, 2);
            }
        }
    }

    #[test]
    fn many_blocks_on_many_threads_keep_their_order_and_the_first_fault() {
        use alir_core::ir::{Builder, Op, Output};
        use alir_core::num::Interval;
        let mut builder = Builder::new(vec![0]);
        let range = Interval::new(-(1 << 40), (1 << 40) - 1, 3);
        let input = builder.op(Op::Input { input: 0 }, range);
        builder.output(Output { source: Some(input), shift: 0, neg: false });
        let model = builder.finish().expect("valid");
        let plan = Plan::new(&model, PlanOptions::default());
        let array = ArrayEngine::new(&model, &plan);
        let rows = 1 << 20;
        let mut x: Vec<f64> = (0..rows).map(|k| k as f64 * 0.125).collect();
        let mut y = vec![0.0; rows];
        let run = ArrayRun { threads: 4, stop: NEVER, rounds: false, evaluator: None };
        array.run(&plan, rows, Numbers::F64(&x), Results::Reals(&mut y), run).expect("all have results");
        assert_eq!(x, y);
        (x[900_000], x[400_001], x[999_999]) = (f64::NAN, f64::INFINITY, f64::NAN);
        let fault = array.run(&plan, rows, Numbers::F64(&x), Results::Reals(&mut y), run).unwrap_err();
        assert_eq!(fault.sample(), 400_001);
    }
}
