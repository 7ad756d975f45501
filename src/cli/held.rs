//! Designs in memory for library callers: read from memory or from files, with the facts about their source.

use super::convert::ConversionOptions;
use super::input::{Design, FileFacts, InputArgs, ReadingOptions};
use super::{Failure, Global, machine_run};
use crate::cmvm;
use crate::compile::{self, Error, Hardware, Provenance};
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::files::Batch;
use crate::formats::{self, Target};
use crate::interp::arrays::{ArrayEngine, ArrayFault, ArrayRun, CodeType, Numbers, Results};
use crate::interp::batch::{SampleFault, codes_of_row};
use crate::interp::samples::{Values, input_ports};
use crate::interp::{FaultKind, LookupMiss, Plan, PlanOptions, Runner, Step, cpp_namespace, golden_steps};
use crate::ir::machine::Machine;
use crate::ir::{Labels, Limits, Model};
use crate::llvlir::{self, golden};
use crate::network::exact::Rational;
use crate::network::matrix::{self, Product};
use crate::network::port::{self, Encoder, ReferenceSemantics};
use crate::network::quantise::{Overflow, Quantiser, Round};
use crate::num::Kif;
use crate::options::{DescriptionOptions, HardwareOptions};
use crate::project::options::ProjectOptions;
use crate::prove::options::ProofOptions;
use crate::prove::{self, DesignReport, ProgressCounter, ProofError, ProvedDesign, RtlFile};
use crate::rtl::Language;
use crate::verify::options::SimulationOptions;
use crate::verify::runner::Verification;
use crate::view::options::PageOptions;
use num_bigint::BigInt;
use num_traits::{FromPrimitive, ToPrimitive};
use std::path::Path;
use std::sync::Arc;

/// Number of bytes at the beginning of a file that are sufficient to detect its format.
const HEAD: usize = 1 << 16;
/// Width in bits of the integers that a double represents exactly.
const EXACT: u32 = 53;

/// Program or state machine in memory, with the facts about its source and the engine that runs it.
pub struct HeldProgram {
    pub(super) design: Design,
    pub(super) file: FileFacts,
    /// Path of the source in messages; `-` without a file.
    pub(super) name: String,
    engine: Option<ProgramEngine>,
}

/// Batch engine of a program.
struct ProgramEngine {
    plan: Plan,
    array: ArrayEngine,
    /// `true` if real numbers are encoded by floor and wrap to the types of the ports, and outputs have no scales.
    is_plain: bool,
}

impl HeldProgram {
    fn new(design: Design, file: FileFacts, name: String) -> HeldProgram {
        let engine = |model: &Model| {
            let plan = Plan::new(model, PlanOptions::default());
            let array = ArrayEngine::new(model, &plan);
            let is_plain = file.meaning().is_none_or(|(meaning, _)| is_plain(meaning, model));
            ProgramEngine { plan, array, is_plain }
        };
        let engine = match &design {
            Design::Model(model) => Some(engine(model)),
            Design::Machine(_) => None,
        };
        HeldProgram { design, file, name, engine }
    }

    /// Reads a program in any ALIR format, a state machine or an integer kernel from bytes. `name` is the name in
    /// messages.
    ///
    /// # Errors
    /// The problems of the content.
    pub fn from_bytes(bytes: &[u8], name: String) -> Result<HeldProgram, Diagnostics> {
        let limits = Limits::default();
        let mut file = FileFacts::in_memory(&formats::checksum(bytes), &formats::sha256(bytes));
        let head = &bytes[..bytes.len().min(HEAD)];
        let is_gzip = head.starts_with(&[0x1f, 0x8b]);
        let design = if formats::is_machine(head) {
            file.form = super::input::machine_form(is_gzip);
            Design::Machine(formats::read_machine(bytes, &limits)?)
        } else if llvlir::is_program(&formats::unpacked(head)) {
            let (plain, _) = formats::read_bytes(bytes, limits.max_bytes)?;
            let program = llvlir::read(&plain, llvlir::Limits::default()).map_err(|problem| problem.diagnostic())?;
            file.form = super::input::kernel_form(&plain, is_gzip);
            let (model, labels) = llvlir::lower::labelled(&program, &limits)?;
            (file.kernel, file.labels) = (Some(program), Arc::new(labels));
            Design::Model(model)
        } else {
            let read = formats::recognise(bytes, &limits, None)?;
            file.form = read.form;
            file.labels = Arc::new(Labels { layers: read.layers, ..Labels::default() });
            Design::Model(read.model)
        };
        Ok(HeldProgram::new(design, file, name))
    }

    /// Reads a file of any kind; notes are not printed.
    ///
    /// # Errors
    /// The problems of the options or the files.
    pub fn read(path: &Path, options: ReadingOptions) -> Result<HeldProgram, Failure> {
        let input = InputArgs::new(path, options);
        let (design, file) = input.read_design(Global { quiet: true, ..Global::default() })?;
        Ok(HeldProgram::new(design, file, path.display().to_string()))
    }

    /// Builds the product with a matrix from the bytes of an npy file. `types` has the type of each input, or one type
    /// for all inputs. Also returns the adder graph of the product and the report about it.
    ///
    /// # Errors
    /// If the matrix, a type or an option is invalid.
    pub fn from_matrix(
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
        let mut file = FileFacts::in_memory(&formats::checksum(npy), &formats::sha256(npy));
        file.form = super::input::MATRIX_FORM.to_owned();
        file.matrix = Some(super::matrix::MatrixFacts { product, solve_seconds: 0.0 });
        Ok((HeldProgram::new(Design::Model(model), file, "-".into()), graph, report))
    }

    /// Returns the program; `None` for a state machine.
    pub fn model(&self) -> Option<&Model> {
        match &self.design {
            Design::Model(model) => Some(model),
            Design::Machine(_) => None,
        }
    }

    /// Returns the state machine; `None` for a program.
    pub fn machine(&self) -> Option<&Machine> {
        match &self.design {
            Design::Model(_) => None,
            Design::Machine(machine) => Some(machine),
        }
    }

    /// Returns the path of the source; `-` without a file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the names of elements and values.
    pub fn labels(&self) -> &Arc<Labels> {
        &self.file.labels
    }

    /// Builds the hardware for options; `command` is the command that the header comment of the RTL names.
    ///
    /// # Errors
    /// Options that contradict each other; the error of the compilation.
    pub fn hardware(&self, command: Vec<String>, options: &HardwareOptions) -> Result<Hardware<'_>, Error> {
        let mut spec = options.checked_spec("model").map_err(Error::request)?;
        spec.provenance = Some(Provenance { command, model: self.file.sha256.clone() });
        spec.module.labels = self.labels_for(options, &spec).map_err(|failure| Error::request(failure.diagnostics))?;
        match &self.design {
            Design::Machine(machine) => {
                super::machine::refuse(options).map_err(|failure| Error::request(failure.diagnostics))?;
                compile::machine(machine, &spec)
            }
            Design::Model(model) => match self.file.source(model) {
                Some(source) => compile::lowered(model, &*source, &spec, &|_| {}),
                None => compile::model(model, &spec),
            },
        }
    }

    /// Returns the names of the hardware of `spec`. If the options name an earlier version, operations keep its names.
    pub(super) fn labels_for(&self, options: &HardwareOptions, spec: &compile::Spec) -> Result<Arc<Labels>, Failure> {
        let read_old = |path: &Path| HeldProgram::read(path, ReadingOptions::default()).map(|old| old.design);
        self.file.labels_like(options, &self.design, spec, read_old)
    }

    /// Simulates the hardware. `progress` receives the number of finished simulations and the number of all
    /// simulations.
    ///
    /// # Errors
    /// The problems of the options, the samples or the tools.
    pub fn verify(
        &self,
        simulation: &SimulationOptions,
        options: &HardwareOptions,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Verification, Failure> {
        let problems = simulation.conflicts();
        if !problems.is_empty() {
            return Err(Failure::input(Diagnostics(problems)));
        }
        options.checked_spec("model").map_err(Failure::input)?;
        super::verify::in_memory(simulation, options, self, progress)
    }

    /// Returns facts about the design as `alir2hdl info --json` prints them, and warnings.
    ///
    /// # Errors
    /// If options contradict each other or have no effect on this kind of design, or if the chart cannot be written.
    pub fn info(&self, options: &DescriptionOptions) -> Result<(String, Diagnostics), Failure> {
        super::info::in_memory((&self.design, &self.file), options)
    }

    /// Writes the program to a file, in another format or as gates. State machines are written by [`Self::to_alir`].
    ///
    /// # Errors
    /// A state machine; options that contradict each other; a program that the format cannot represent; if the file
    /// cannot be written.
    pub fn convert(&self, output: &Path, options: &ConversionOptions) -> Result<(), Failure> {
        let Design::Model(model) = &self.design else {
            let message = "state machines are written as ALIRFSM JSON only";
            return Err(Failure::input(Diagnostic::error("E0804", Place::Whole, message)));
        };
        super::convert::in_memory((model, self.file.kernel.as_ref()), output, options)
    }

    /// Returns the design as a C++ header.
    ///
    /// # Errors
    /// An invalid namespace.
    pub fn cpp_header(&self, namespace: &str) -> Result<String, Diagnostic> {
        let wrong = |what: String| Diagnostic::error("E0002", Place::Flag("--namespace".into()), what);
        let namespace = cpp_namespace::parse(namespace).map_err(wrong)?;
        Ok(super::emit::header(&self.design, &namespace, &self.file.checksum))
    }

    /// Returns the object that `alir2hdl check --json` prints about the design.
    pub fn check(&self) -> String {
        super::check::document(&self.name, &self.design, &self.file.form)
    }

    /// Writes a project folder; `command` is the command that the header comment of the RTL names.
    ///
    /// # Errors
    /// The problems of the options or the samples; if the folder cannot be written.
    pub fn project(&self, command: Vec<String>, options: &ProjectOptions) -> Result<(), Failure> {
        super::project::in_memory(options, command, self).map(|_| ())
    }

    /// Writes a page of the HTML viewer.
    ///
    /// # Errors
    /// The problems of the options or the samples; if the page cannot be written.
    pub fn view(&self, page: &PageOptions, options: &HardwareOptions) -> Result<(), Failure> {
        options.checked_spec("model").map_err(Failure::input)?;
        super::view::in_memory(page, options, self).map(|_| ())
    }

    /// Returns the interface of hardware of this program, as JSON.
    pub fn interface(&self, hardware: &Hardware<'_>) -> String {
        let network = match (self.file.meaning(), &self.design) {
            (Some((meaning, _)), Design::Model(model)) => Some(super::network::interface(meaning, model)),
            _ => None,
        };
        hardware.sidecar(&[], self.file.checksum.clone()).with_network(network).to_json()
    }

    /// Proves or refutes that RTL is equal to the design, like `alir2hdl prove`. `content` are the bytes of the
    /// design's file. If `folder` is given, a certificate is written into this folder.
    ///
    /// # Errors
    /// If the source cannot be read or belongs to another design, or if a file cannot be written.
    pub fn prove(
        &self,
        (source, language): (&str, Language),
        content: &[u8],
        options: &ProofOptions,
        folder: Option<&Path>,
        progress: Option<Arc<ProgressCounter>>,
    ) -> Result<DesignReport, Failure> {
        super::project::refuse(options.names.problems())?;
        let in_source = |found: Diagnostics| Failure::input(found.in_file("source".as_ref()));
        let file = RtlFile::read(source, language, options.top.as_deref()).map_err(in_source)?;
        let options = ProofOptions { certificate: folder.is_some(), ..options.clone() };
        let lowered = self.model().and_then(|model| self.file.source(model));
        let design = match &self.design {
            Design::Model(model) => ProvedDesign::Program(model, lowered.as_deref()),
            Design::Machine(machine) => ProvedDesign::Machine(machine),
        };
        let proof = prove::design(design, Some(content), file, &options, progress).map_err(|fault| match fault {
            ProofError::Input(diagnostics) => Failure::input(diagnostics),
            ProofError::Bug(message) => Failure::bug(message),
        })?;
        if let Some(folder) = folder {
            let mut batch = Batch::default();
            let schema = match &proof.report {
                DesignReport::Program(_) => "alir2hdl.prove/1",
                DesignReport::Machine(_) => "alir2hdl.prove-machine/1",
            };
            super::prove::write_certificate(folder, proof.certificate, (schema, &proof.report), &mut batch)?;
            super::commit(batch)?;
        }
        Ok(proof.report)
    }

    /// Returns the raw integer values of every operation and of every output for one sample.
    ///
    /// # Errors
    /// If an input has no raw integer value, if a look-up is outside of its table, or for a state machine.
    pub fn trace(&self, numbers: Numbers<'_>, codes: bool) -> Result<[Vec<BigInt>; 2], ArrayFault> {
        let Some(model) = self.model() else {
            let reason = "a state machine has no trace of one sample".to_owned();
            return Err(ArrayFault::Refused { sample: 0, reason });
        };
        let fault = |fault| ArrayFault::Sample { sample: 0, fault };
        let values = numbers.to_values();
        let inputs = match self.file.meaning() {
            Some((meaning, _)) if !codes => {
                let code = |(input, element): (usize, &port::InputElement)| {
                    let exact = port::number(&values, input);
                    let exact = exact.map_err(|reason| fault(SampleFault::Input { input, reason }))?;
                    Ok(element.encoder.code(&exact))
                };
                meaning.inputs().iter().enumerate().map(code).collect::<Result<Vec<_>, ArrayFault>>()?
            }
            _ => codes_of_row(&input_ports(model), &values, 0, codes).map_err(fault)?,
        };
        let mut operations = Vec::with_capacity(model.nodes().len());
        let visit = |step: Step<'_>| {
            if let Step::Op { code, .. } = step {
                operations.push(code.clone());
            }
        };
        let outputs = golden_steps(model, &inputs, LookupMiss::Error, visit);
        let outputs = outputs.map_err(|miss| fault(SampleFault::Miss(miss)))?;
        Ok([operations, outputs])
    }

    /// Returns the design as ALIR JSON, without the source that the program was lowered from.
    ///
    /// # Errors
    /// If the format cannot represent a value.
    pub fn to_alir(&self) -> Result<Vec<u8>, Diagnostics> {
        let wrong = |what: String| Diagnostics::from(Diagnostic::error("E0000", Place::Whole, what));
        match &self.design {
            Design::Model(model) => {
                let mut bytes = Vec::new();
                formats::prepare(model, Target::Alir4)?.write(&mut bytes).map_err(|why| wrong(why.to_string()))?;
                Ok(bytes)
            }
            Design::Machine(machine) => formats::machine_json(machine).map_err(wrong),
        }
    }

    /// Returns the integer type that can represent the raw integer values of all outputs.
    pub fn code_type(&self) -> CodeType {
        let Some(kernel) = &self.file.kernel else {
            return match (&self.engine, &self.design) {
                (Some(engine), _) => engine.array.code_type(),
                (None, Design::Machine(machine)) => machine_run::code_type(machine),
                (None, Design::Model(_)) => unreachable!("a program has an engine"),
            };
        };
        let is_narrow = kernel.output_elements().iter().all(|element| element.width <= i64::BITS);
        if is_narrow { CodeType::Signed } else { CodeType::Wide }
    }

    /// Runs samples in memory. Inputs are real numbers of the source, which are encoded exactly, or integers of an
    /// integer kernel. If the results are raw integer values, the inputs of a program without a kernel are raw integer
    /// values of the ports too. If an output of a network has a scale, its results are rounded to the nearest float64.
    ///
    /// # Errors
    /// The first sample without a result, or with a result that float64 cannot represent; or the run was stopped.
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
        let Some(ProgramEngine { plan, array, is_plain }) = &self.engine else {
            let reason = "a state machine runs over time".to_owned();
            return Err(ArrayFault::Refused { sample: 0, reason });
        };
        if let Some(kernel) = &self.file.kernel {
            let evaluate = |numbers: Numbers<'_>, results: &mut Results<'_>, _: &mut Runner<'_>| {
                run_kernel(kernel, numbers, results)
            };
            return array.run(plan, rows, numbers, results, ArrayRun { evaluator: Some(&evaluate), ..run });
        }
        match self.file.meaning() {
            Some((meaning, _)) if !results.are_codes() && !is_plain => {
                let evaluate = |numbers: Numbers<'_>, results: &mut Results<'_>, runner: &mut Runner<'_>| match results
                {
                    Results::Reals(out) => self.through_ports(meaning, (numbers, run.rounds), out, runner),
                    _ => unreachable!("results are real numbers"),
                };
                array.run(plan, rows, numbers, results, ArrayRun { evaluator: Some(&evaluate), ..run })
            }
            _ => array.run(plan, rows, numbers, results, run),
        }
    }

    /// Runs real samples through the program of a network or matrix: encodes each input to the type of its port, and
    /// converts each output with its unit. The batch engine computes the outputs if a double represents the values of
    /// all ports exactly, otherwise the reference semantics computes them.
    fn through_ports(
        &self,
        meaning: &dyn ReferenceSemantics,
        (numbers, rounds): (Numbers<'_>, bool),
        outputs: &mut [f64],
        runner: &mut Runner<'_>,
    ) -> Result<(), ArrayFault> {
        let (elements, units) = (meaning.inputs(), meaning.output_units());
        let kifs: Vec<_> =
            (0..units.len()).map(|k| self.model().map_or_else(Kif::default, |m| m.output_kif(k))).collect();
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
                    // With a scale, an output may be any fraction, so it is rounded. Without a scale, it must be exact.
                    let is_exact = Rational::from_f64(*to).is_some_and(|real| real == value);
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

/// Returns `true` if the source quantises each real input to the type of its port by floor and wrap, and scales no
/// output.
fn is_plain(meaning: &dyn ReferenceSemantics, model: &Model) -> bool {
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

/// Runs samples of an integer kernel with the reference interpreter. An input larger than its type wraps.
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
                Values::Reals(v) => {
                    BigInt::from_f64(v[at]).filter(|_| v[at].fract() == 0.0).ok_or_else(|| ArrayFault::Refused {
                        sample,
                        reason: format!("input {input} is {}, which is not an integer", v[at]),
                    })?
                }
                Values::Integers(v) => v[at].into(),
                Values::Wide(v) => v[at].clone(),
                Values::Numbers(v) => v[at].to_integer().ok_or_else(|| ArrayFault::Refused {
                    sample,
                    reason: format!("input {input} is {}, which is not an integer", v[at]),
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
