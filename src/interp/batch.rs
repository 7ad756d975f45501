//! Samples from a [`Reader`] through a program to a [`Writer`], a block at a time.

use super::golden::{LookupMiss, MissedEntry, Step, golden_steps};
use super::samples::{Port, Reader, Values, Writer, input_ports, output_ports};
use crate::diag::{Diagnostic, Place};
use crate::ir::Model;
use num_bigint::BigInt;
use std::fmt;

/// What happens to a sample that has no result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// The first one ends the run.
    #[default]
    Stop,
    /// It gets no row in the output.
    Skip,
    /// Its row is NaN.
    Nan,
}

/// How samples are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Whether the numbers on both sides are codes, not reals.
    pub codes: bool,
    /// What a lookup outside its table does.
    pub lookup_miss: LookupMiss,
    /// What happens to a sample that has no result.
    pub on_error: OnError,
}

/// Why a sample has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An input number has no code.
    Input {
        /// Which input element.
        input: usize,
        /// Why, in words.
        reason: String,
    },
    /// A lookup outside its table.
    Miss(MissedEntry),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Input { input, reason } => write!(f, "input {input}: {reason}"),
            Fault::Miss(miss) => miss.fmt(f),
        }
    }
}

impl Fault {
    /// The message about sample `sample` (from 0) of the file `name`.
    pub fn diagnostic(&self, name: &str, sample: u64) -> Diagnostic {
        let place = Place::Path(name.into());
        let message = format!("sample {sample}, {self}");
        match self {
            Fault::Input { .. } => Diagnostic::error("E0706", place, message)
                .with_help("--on-error skip or --on-error nan goes on with the other samples"),
            Fault::Miss(_) => Diagnostic::error("E0707", place, message)
                .with_help("--lookup-miss zero reads zero there, as the hardware does"),
        }
    }
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Samples read.
    pub samples: u64,
    /// Samples without a result.
    pub failed: u64,
    /// The first of them, with why.
    pub first_failure: Option<(u64, Fault)>,
    /// Output numbers that float64 does not hold and that were rounded.
    pub rounded: u64,
}

/// Outputs of a block of samples.
struct Outputs {
    values: Values,
    /// Samples of the block without a result, in order.
    faults: Vec<(usize, Fault)>,
    rounded: u64,
}

/// Runs all samples of `reader` by the golden interpreter. `visit` sees every step of every sample (from
/// 0); `progress` hears the number of samples done so far and says whether to go on.
///
/// # Errors
/// What the reader or the writer says; with [`OnError::Stop`] the first sample without a result; a run that `progress`
/// ended.
///
/// # Panics
/// If reader or writer were opened for another model, or for the other choice of codes and reals.
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
    // The golden interpreter is slow enough that small blocks cost nothing, and a pipe's reader hears early.
    let rows = (100_000 / (model.nodes().len() + model.n_inputs() + model.outputs().len() + 1)).clamp(1, 4096);
    let mut block = Values::default();
    loop {
        let found = reader.read(rows, &mut block)?;
        if found == 0 {
            return Ok(summary);
        }
        let first = summary.samples;
        let outputs = golden.block(&block, found, |row, step| visit(first + row as u64, step));
        finish_block(outputs, found, settings, reader.name(), &mut summary, writer.as_deref_mut())?;
        if !progress(summary.samples) {
            return Err(interrupted());
        }
        if writer.as_ref().is_some_and(|w| w.is_closed()) {
            return Ok(summary);
        }
    }
}

/// Counts a block's faults, does with them what the settings say, and writes the block.
fn finish_block(
    mut outputs: Outputs,
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

/// The golden interpreter over blocks.
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
                Values::Integers(_) => unreachable!("the golden interpreter makes wide codes"),
            }
        }
        outputs
    }

    fn sample(&self, block: &Values, row: usize, visit: impl FnMut(Step<'_>)) -> Result<Vec<BigInt>, Fault> {
        let start = row * self.inputs.len();
        let codes = self.inputs.iter().enumerate().map(|(input, port)| {
            let code = block.code(start + input, *port, self.settings.codes);
            code.map_err(|reason| Fault::Input { input, reason })
        });
        let codes: Vec<BigInt> = codes.collect::<Result<_, _>>()?;
        golden_steps(self.model, &codes, self.settings.lookup_miss, visit).map_err(Fault::Miss)
    }
}
