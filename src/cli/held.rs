//! Programs that a caller holds who is no command line: read from memory or from files, with what they were made of.

use super::input::{Design, FileFacts};
use super::{Command, Failure, Global, parsed};
use crate::cmvm;
use crate::compile::{self, Error, Hardware, Provenance};
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::formats;
use crate::interp::{FaultKind, Plan, PlanOptions};
use crate::ir::{Labels, Limits, Model};
use crate::llvlir::{self, golden};
use crate::network::exact::Rational;
use crate::network::matrix::{self, Product};
use crate::network::port::Meaning;
use crate::network::quantise::Quantiser;
use crate::prove::equiv::Report;
use crate::prove::sat::Solver;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
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
}

impl HeldProgram {
    fn new(model: Model, file: FileFacts, name: String) -> HeldProgram {
        let plan = Plan::new(&model, PlanOptions::default());
        HeldProgram { model, file, name, plan }
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

    /// The product with a matrix, from the bytes of an npy file and the type of each input (or of all, if there is one),
    /// and the adders that it is made of.
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

    /// The hardware that options of the main job ask for; `command` is what the head of the text names.
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

    /// The outputs for samples, one after another: real numbers as the source has them, encoded exactly; of an integer
    /// kernel integers.
    ///
    /// # Errors
    /// Inputs that have no code, and lookups outside of their table, in words.
    pub fn predict(&self, inputs: &[f64]) -> Result<Vec<f64>, String> {
        if let Some(kernel) = &self.file.kernel {
            return golden::run_doubles(kernel, inputs);
        }
        let width = self.model.n_inputs();
        if width == 0 || !inputs.len().is_multiple_of(width) {
            return Err(format!("{} numbers are no samples of {width}", inputs.len()));
        }
        let mut outputs = vec![0.0; inputs.len() / width * self.model.outputs().len()];
        match self.file.meaning() {
            Some((meaning, _)) => self.through_ports(meaning, inputs, &mut outputs)?,
            None => self.planned(inputs, &mut outputs)?,
        }
        Ok(outputs)
    }

    fn planned(&self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
        self.plan.run(inputs, outputs).map_err(|fault| match fault.kind {
            FaultKind::NotFinite { input, value } => format!("sample {}: input {input} is {value}", fault.sample),
            FaultKind::Miss(miss) => format!("sample {}: a lookup is outside its table: {miss:?}", fault.sample),
        })
    }

    /// Samples of what the program was lowered from: each input becomes the code of its port, each output the value of
    /// its code. Between them runs the batch engine where a double holds every code, else the golden evaluator.
    fn through_ports(&self, meaning: &dyn Meaning, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
        let (elements, units) = (meaning.inputs(), meaning.output_units());
        let kifs: Vec<_> = (0..units.len()).map(|k| self.model.output_kif(k)).collect();
        let code = |at: usize, x: f64| -> Result<BigInt, String> {
            let (sample, input) = (at / elements.len(), at % elements.len());
            let exact = Rational::of_f64(x).ok_or_else(|| format!("sample {sample}: input {input} is {x}"))?;
            Ok(elements[input].encoder.code(&exact))
        };
        let is_narrow = |width: u32| width <= EXACT;
        if !elements.iter().all(|e| is_narrow(e.kif.width())) || !kifs.iter().all(|kif| is_narrow(kif.width())) {
            let rows = inputs.chunks(elements.len()).zip(outputs.chunks_mut(units.len().max(1)));
            for (row, (from, to)) in rows.enumerate() {
                let first = row * elements.len();
                let codes = from.iter().enumerate().map(|(k, &x)| code(first + k, x)).collect::<Result<Vec<_>, _>>()?;
                to.iter_mut().zip(meaning.evaluate(&codes)).for_each(|(to, value)| *to = value.to_f64());
            }
            return Ok(());
        }
        let on_port = |(at, &x): (usize, &f64)| {
            let frac = elements[at % elements.len()].kif.frac;
            code(at, x).map(|code| code.to_f64().unwrap_or(f64::NAN) * 2f64.powi(-frac))
        };
        let reals = inputs.iter().enumerate().map(on_port).collect::<Result<Vec<_>, _>>()?;
        self.planned(&reals, outputs)?;
        for (at, y) in outputs.iter_mut().enumerate() {
            let (unit, frac) = (&units[at % units.len()], kifs[at % units.len()].frac);
            if *unit != crate::network::port::Unit::plain() {
                let code = (*y * 2f64.powi(frac)).to_i64().ok_or("an output beyond its type")?;
                *y = unit.value(&code.into(), frac.into()).to_f64();
            }
        }
        Ok(())
    }
}
