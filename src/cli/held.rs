//! Programs that a caller holds who is no command line: read from memory or from files, with what they were made of.

use super::input::{Design, FileFacts};
use super::{Command, Failure, Global, parsed};
use crate::cmvm;
use crate::compile::{self, Error, Hardware, Provenance};
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::formats;
use crate::interp::arrays::{ArrayEngine, ArrayFault, ArrayRun, CodeType, Numbers, Results};
use crate::interp::batch::SampleFault;
use crate::interp::samples::Values;
use crate::interp::{FaultKind, Plan, PlanOptions, Runner};
use crate::ir::{Labels, Limits, Model};
use crate::llvlir::{self, golden};
use crate::network::exact::Rational;
use crate::network::matrix::{self, Product};
use crate::network::port::{self, Encoder, Meaning};
use crate::network::quantise::{Overflow, Quantiser, Round};
use crate::num::Kif;
use crate::prove::equiv::Report;
use crate::prove::sat::Solver;
use num_bigint::BigInt;
use num_traits::{FromPrimitive, ToPrimitive};
use std::sync::Arc;

/// Bytes in which a file shows what it is.
const HEAD: usize = 1 << 16;
/// Bits that a double holds of an integer.
const EXACT: u32 = 53;

/// A program, what it was made of, and the plan of its batch engine.
pub struct HeldProgram {
    pub(super) model: Model,
    pub(super) file: FileFacts,
    /// Where it was read from; `-` if from nowhere.
    pub(super) name: String,
    plan: Plan,
    array: ArrayEngine,
    /// `true` if real numbers are encoded as the program's ports encode them: floor, wrap, no scales.
    is_plain: bool,
}

impl HeldProgram {
    fn new(model: Model, file: FileFacts, name: String) -> HeldProgram {
        let plan = Plan::new(&model, PlanOptions::default());
        let array = ArrayEngine::new(&model, &plan);
        let is_plain = file.meaning().is_none_or(|(meaning, _)| is_plain(meaning, &model));
        HeldProgram { model, file, name, plan, array, is_plain }
    }

    /// The program that bytes in memory hold: ALIR in any form, or an integer kernel. `name` is for messages.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of_bytes(bytes: &[u8], name: String) -> Result<HeldProgram, Diagnostics> {
        let limits = Limits::default();
        let mut file = FileFacts::of_memory(&formats::checksum(bytes), &formats::sha256(bytes));
        let model = if llvlir::is_program(&formats::unpacked(&bytes[..bytes.len().min(HEAD)])) {
            let (plain, _) = formats::read_bytes(bytes, limits.max_bytes)?;
            let program = llvlir::read(&plain, llvlir::Limits::default()).map_err(|problem| problem.diagnostic())?;
            let (model, labels) = llvlir::lower::labelled(&program, &limits)?;
            (file.kernel, file.labels) = (Some(program), Arc::new(labels));
            model
        } else {
            formats::read(bytes, &limits, None)?.0
        };
        Ok(HeldProgram::new(model, file, name))
    }

    /// The program that a file holds or becomes, by the options about reading as they are typed (`--weights=w.npz`,
    /// `--input-type=s8.5`); notes are not told.
    ///
    /// # Errors
    /// What is wrong with the options or the files; a state machine, which is no program.
    pub fn read(path: &str, options: &[String]) -> Result<HeldProgram, Failure> {
        // `--` would end the options: the path comes first, and begins with a folder.
        let words = ["alir2hdl", "info", path].map(str::to_owned).into_iter().chain(options.iter().cloned());
        let (cli, _) = parsed(&words.collect::<Vec<_>>()).map_err(Failure::input)?;
        let Some(Command::Info(args)) = cli.command else { unreachable!("the words name the sub-command") };
        match args.input.read_design(Global { quiet: true, ..Global::default() })? {
            (Design::Model(model), file) => Ok(HeldProgram::new(model, file, path.to_owned())),
            (Design::Machine(_), _) => {
                let message = "a state machine, which is no program";
                Err(Failure::input(Diagnostic::error("E0804", Place::Whole, message).in_file(path.as_ref())))
            }
        }
    }

    /// The product with a matrix, from the bytes of an npy file and the type of each input (or of all, if there is
    /// one), and the adders that it is made of.
    ///
    /// # Errors
    /// What is wrong with the matrix, the types or the options.
    pub fn of_matrix(
        npy: &[u8],
        types: &[String],
        options: &cmvm::Options,
    ) -> Result<(HeldProgram, cmvm::AdderGraph, cmvm::Report), Diagnostics> {
        let wrong = |what: String| Diagnostic::error("E1505", Place::Flag("--input-type".into()), what);
        let types: Vec<Quantiser> =
            types.iter().map(|t| Quantiser::parse(t).map_err(wrong)).collect::<Result<_, _>>()?;
        let matrix = matrix::read(&mut &*npy, "W", crate::network::graph::Options::default().max_adders)?;
        let types = match types.as_slice() {
            [one] => vec![*one; matrix.n_in()],
            many if many.len() == matrix.n_in() => types,
            many => return Err(wrong(format!("{} types for {} inputs", many.len(), matrix.n_in())).into()),
        };
        let product = Product::with_types(matrix, types);
        let graph = product.solve(options)?;
        let report = product.report(&graph)?;
        let model = product.model(&graph, Limits::default())?;
        let mut file = FileFacts::of_memory(&formats::checksum(npy), &formats::sha256(npy));
        file.matrix = Some(super::matrix::MatrixFacts { product, solve_seconds: 0.0 });
        Ok((HeldProgram::new(model, file, "-".into()), graph, report))
    }

    /// The program.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Where it was read from; `-` if from nowhere.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names of elements and values.
    pub fn labels(&self) -> &Arc<Labels> {
        &self.file.labels
    }

    /// Builds the hardware for options of the main job; `command` is what the header comment of the RTL names.
    ///
    /// # Errors
    /// What is wrong with the options; what fails.
    pub fn hardware(&self, command: Vec<String>, options: &[String]) -> Result<Hardware<'_>, Error> {
        let mut spec = super::spec(options).map_err(Error::request)?;
        spec.provenance = Some(Provenance { command, model: self.file.sha256.clone() });
        spec.module.labels = Arc::clone(&self.file.labels);
        match self.file.source(&self.model) {
            Some(source) => compile::lowered(&self.model, &*source, &spec, &|_| {}),
            None => compile::model(&self.model, &spec),
        }
    }

    /// The interface of hardware of this program, as JSON.
    pub fn interface(&self, hardware: &Hardware<'_>) -> String {
        let network = self.file.meaning().map(|(meaning, _)| super::network::interface(meaning, &self.model));
        hardware.sidecar(&[], self.file.checksum.clone()).with_network(network).to_json()
    }

    /// Adds to a proof about the program that it is what it was made of.
    ///
    /// # Errors
    /// A limit that the source breaks, in words.
    pub fn add_lowering(&self, report: &mut Report, solver: &dyn Fn() -> Box<dyn Solver>) -> Result<(), String> {
        match self.file.source(&self.model) {
            Some(source) => compile::add_lowering(&*source, &self.model, report, solver),
            None => Ok(()),
        }
    }

    /// The integer type that holds the raw integer values of all outputs.
    pub fn code_type(&self) -> CodeType {
        let Some(kernel) = &self.file.kernel else { return self.array.code_type() };
        let is_narrow = kernel.output_elements().iter().all(|element| element.width <= i64::BITS);
        if is_narrow { CodeType::Signed } else { CodeType::Wide }
    }

    /// Runs samples in memory: real numbers as the source has them, encoded exactly; integers of an integer kernel; or
    /// raw integer values of the ports, where the results are. Scales of a network's outputs round to the nearest
    /// float64.
    ///
    /// # Errors
    /// The first sample without a result, or with one that float64 cannot hold; a run that was ended.
    ///
    /// # Panics
    /// If the lengths do not fit `rows` samples.
    pub fn predict(
        &self,
        rows: usize,
        numbers: Numbers<'_>,
        results: Results<'_>,
        run: ArrayRun<'_>,
    ) -> Result<(), ArrayFault> {
        if let Some(kernel) = &self.file.kernel {
            let evaluate = |numbers: Numbers<'_>, results: &mut Results<'_>, _: &mut Runner<'_>| {
                run_kernel(kernel, numbers, results)
            };
            return self.array.run(&self.plan, rows, numbers, results, ArrayRun { evaluator: Some(&evaluate), ..run });
        }
        match self.file.meaning() {
            Some((meaning, _)) if !results.are_codes() && !self.is_plain => {
                let evaluate = |numbers: Numbers<'_>, results: &mut Results<'_>, runner: &mut Runner<'_>| match results
                {
                    Results::Reals(out) => self.through_ports(meaning, (numbers, run.rounds), out, runner),
                    _ => unreachable!("results are real numbers"),
                };
                self.array.run(&self.plan, rows, numbers, results, ArrayRun { evaluator: Some(&evaluate), ..run })
            }
            _ => self.array.run(&self.plan, rows, numbers, results, run),
        }
    }

    /// Samples of what the program was lowered from: each input becomes the code of its port, each output the value of
    /// its code. Between them runs the batch engine where a double holds every code, else the golden evaluator.
    fn through_ports(
        &self,
        meaning: &dyn Meaning,
        (numbers, rounds): (Numbers<'_>, bool),
        outputs: &mut [f64],
        runner: &mut Runner<'_>,
    ) -> Result<(), ArrayFault> {
        let (elements, units) = (meaning.inputs(), meaning.output_units());
        let kifs: Vec<_> = (0..units.len()).map(|k| self.model.output_kif(k)).collect();
        let values = numbers.to_values();
        let code = |at: usize| -> Result<BigInt, ArrayFault> {
            let (sample, input) = (at / elements.len(), at % elements.len());
            let exact = port::number(&values, at)
                .map_err(|reason| ArrayFault::Sample { sample, fault: SampleFault::Input { input, reason } })?;
            Ok(elements[input].encoder.code(&exact))
        };
        let is_narrow = |width: u32| width <= EXACT;
        if !elements.iter().all(|e| is_narrow(e.kif.width())) || !kifs.iter().all(|kif| is_narrow(kif.width())) {
            for (row, to) in outputs.chunks_mut(units.len().max(1)).enumerate() {
                let first = row * elements.len();
                let codes = (first..first + elements.len()).map(code).collect::<Result<Vec<_>, _>>()?;
                for (output, (to, value)) in to.iter_mut().zip(meaning.evaluate(&codes)).enumerate() {
                    *to = value.to_f64();
                    // A scale may give any fraction, which rounds; a value without one is exact.
                    let is_exact = Rational::of_f64(*to).is_some_and(|real| real == value);
                    let frac = kifs[output].frac;
                    if units[output] == port::Unit::plain()
                        && !is_exact
                        && !rounds
                        && let Some(code) = value.code(frac.into())
                    {
                        return Err(ArrayFault::Inexact { sample: row, output, code, frac });
                    }
                }
            }
            return Ok(());
        }
        let on_port = |at: usize| {
            let frac = elements[at % elements.len()].kif.frac;
            code(at).map(|code| code.to_f64().unwrap_or(f64::NAN) * 2f64.powi(-frac))
        };
        let reals = (0..values.len()).map(on_port).collect::<Result<Vec<_>, _>>()?;
        if let Some(fault) = runner.run(&reals, outputs).into_iter().next() {
            let reason = match fault.kind {
                FaultKind::NotFinite { input, value } => format!("input {input} is {value}"),
                FaultKind::Miss(miss) => miss.to_string(),
            };
            return Err(ArrayFault::Refused { sample: fault.sample, reason });
        }
        for (at, y) in outputs.iter_mut().enumerate() {
            let (unit, frac) = (&units[at % units.len()], kifs[at % units.len()].frac);
            if *unit != port::Unit::plain() {
                let beyond = || ArrayFault::Refused {
                    sample: at / units.len(),
                    reason: format!("output {} is beyond its type", at % units.len()),
                };
                let code = (*y * 2f64.powi(frac)).to_i64().ok_or_else(beyond)?;
                *y = unit.value(&code.into(), frac.into()).to_f64();
            }
        }
        Ok(())
    }
}

/// Returns `true` if a source encodes each real input by floor and wrap to the type of its port, and scales no output.
fn is_plain(meaning: &dyn Meaning, model: &Model) -> bool {
    let kifs = model.input_kifs();
    let direct = |(element, kif): (&port::InputElement, &Kif)| {
        let Encoder::Quantise(quantiser) = &element.encoder else { return false };
        (quantiser.kif, quantiser.round, quantiser.overflow) == (*kif, Round::Floor, Overflow::Wrap)
            && element.kif == *kif
    };
    meaning.inputs().len() == kifs.len()
        && meaning.inputs().iter().zip(kifs).all(direct)
        && model.inp_shifts().iter().all(|&shift| shift == 0)
        && meaning.output_units().iter().all(|unit| *unit == port::Unit::plain())
}

/// Samples of an integer kernel by its reference interpreter. An integer larger than its type wraps.
fn run_kernel(kernel: &llvlir::Program, numbers: Numbers<'_>, results: &mut Results<'_>) -> Result<(), ArrayFault> {
    let (reads, makes) = (kernel.input_elements(), kernel.output_elements());
    let wide = reads.iter().chain(&makes).map(|element| element.width).max().filter(|&width| width > EXACT);
    if let (Results::Reals(_), Some(width)) = (&*results, wide) {
        let reason = format!("an element has {width} bits, and doubles hold integers of {EXACT}");
        return Err(ArrayFault::Refused { sample: 0, reason });
    }
    let values = numbers.to_values();
    let rows = values.len().checked_div(reads.len()).unwrap_or(0);
    for sample in 0..rows {
        let mut codes = Vec::with_capacity(reads.len());
        for input in 0..reads.len() {
            let at = sample * reads.len() + input;
            let code = match &values {
                Values::Reals(v) => BigInt::from_f64(v[at]).filter(|_| v[at].fract() == 0.0).ok_or_else(|| {
                    ArrayFault::Refused { sample, reason: format!("input {input} is {}, and no integer", v[at]) }
                })?,
                Values::Integers(v) => v[at].into(),
                Values::Wide(v) => v[at].clone(),
                Values::Numbers(v) => v[at].to_integer().ok_or_else(|| ArrayFault::Refused {
                    sample,
                    reason: format!("input {input} is {}, and no integer", v[at]),
                })?,
            };
            codes.push(code);
        }
        for (output, code) in golden::run(kernel, &codes).iter().enumerate() {
            let at = sample * makes.len() + output;
            match results {
                Results::Reals(out) => out[at] = code.to_f64().expect("it is narrow enough"),
                _ => results.set_code(at, code),
            }
        }
    }
    Ok(())
}
