//! What Python calls. Arrays pass as bytes of native doubles: the package `alir2hdl` makes them from numpy's.
#![allow(missing_docs, reason = "documented where users see it, in alir2hdl/__init__.py")]

use alir2hdl::cli::{self, ExitStatus, HeldProgram, InMemory};
use alir2hdl::compile::{self, ErrorKind, Hardware, Provenance};
use alir2hdl::diag::Diagnostics;
use alir2hdl::formats;
use alir2hdl::interp::{FaultKind, Plan, PlanOptions};
use alir2hdl::ir::{self, Labels, Limits};
use alir2hdl::llvlir::{self, golden};
use alir2hdl::prove::engine;
use alir2hdl::prove::equiv::{self, Request};
use alir2hdl::prove::sat::Embedded;
use alir2hdl::rtl::{self, Language};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

fn refused(problems: impl Into<Diagnostics>) -> PyErr {
    PyValueError::new_err(problems.into().to_string())
}

/// What the user did wrong is a ValueError, anything else a RuntimeError.
fn not_made(error: compile::Error) -> PyErr {
    match error.kind {
        ErrorKind::Request => PyValueError::new_err(error.to_string()),
        ErrorKind::MissingTool | ErrorKind::Bug | ErrorKind::Undecided => PyRuntimeError::new_err(error.to_string()),
    }
}

/// The same for what a sub-command says.
fn failed(failure: cli::Failure) -> PyErr {
    let message = failure.diagnostics.to_string();
    match failure.status {
        ExitStatus::Input | ExitStatus::Mismatch => PyValueError::new_err(message),
        _ => PyRuntimeError::new_err(message),
    }
}

fn language(name: &str) -> PyResult<Language> {
    match name {
        "verilog" => Ok(Language::Verilog),
        "vhdl" => Ok(Language::Vhdl),
        _ => Err(PyValueError::new_err(format!("no language is called {name:?}: verilog or vhdl"))),
    }
}

/// Bytes in which a file shows what it is.
const HEAD: usize = 1 << 16;

/// A checked model.
#[pyclass(frozen, module = "alir2hdl._alir2hdl")]
struct Native {
    model: ir::Model,
    /// That of the file's bytes.
    checksum: String,
    /// Where it was read from; `-` from memory.
    file: String,
    /// SHA-256 of the same, in hexadecimal digits.
    sha256: String,
    /// The bytes that it was read from: what is sent to another process.
    bytes: Vec<u8>,
    plan: Plan,
    /// What the model was lowered from, if from an integer kernel, and the names in that.
    kernel: Option<llvlir::Program>,
    labels: Arc<Labels>,
}

impl Native {
    fn of(bytes: &[u8], file: String) -> PyResult<Native> {
        let limits = Limits::default();
        let mut kernel = None;
        let (model, labels) = match llvlir::is_program(&formats::unpacked(&bytes[..bytes.len().min(HEAD)])) {
            true => {
                let (plain, _) = formats::read_bytes(bytes, limits.max_bytes).map_err(refused)?;
                let read = llvlir::read(&plain, llvlir::Limits::default());
                let program = kernel.insert(read.map_err(|problem| refused(problem.diagnostic()))?);
                llvlir::lower::labelled(program, &limits).map_err(refused)?
            }
            false => (formats::read(bytes, &limits, None).map_err(refused)?.0, Labels::default()),
        };
        let labels = Arc::new(labels);
        let plan = Plan::new(&model, PlanOptions::default());
        let (checksum, sha256) = (formats::checksum(bytes), formats::sha256(bytes));
        Ok(Native { model, checksum, sha256, file, bytes: bytes.to_vec(), plan, kernel, labels })
    }

    /// The hardware that options ask for; `call` is the method's name, for the head of the text.
    fn hardware(&self, call: &str, options: &[String]) -> PyResult<Hardware<'_>> {
        let mut spec = cli::spec(options).map_err(refused)?;
        let command = [format!("alir2hdl.{call}")].into_iter().chain(options.iter().cloned()).collect();
        spec.provenance = Some(Provenance { command, model: self.sha256.clone() });
        spec.module.labels = Arc::clone(&self.labels);
        let hardware = match &self.kernel {
            Some(kernel) => compile::lowered(&self.model, kernel, &spec, &|_| {}),
            None => compile::model(&self.model, &spec),
        };
        hardware.map_err(not_made)
    }

    fn held(&self) -> HeldProgram<'_> {
        HeldProgram { model: &self.model, kernel: self.kernel.as_ref(), labels: &self.labels, file: &self.file }
    }
}

#[pymethods]
impl Native {
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Native> {
        py.detach(|| {
            let mut bytes = Vec::new();
            let mut file = formats::open(&path).map_err(refused)?;
            file.read_to_end(&mut bytes).map_err(|e| PyValueError::new_err(format!("{}: {e}", path.display())))?;
            Native::of(&bytes, path.display().to_string())
        })
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8], file: String) -> PyResult<Native> {
        py.detach(|| Native::of(bytes, file))
    }

    /// What `from_bytes` makes the same model of.
    fn content<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, &str) {
        (PyBytes::new(py, &self.bytes), &self.file)
    }

    /// Inputs, outputs, operations.
    fn shape(&self) -> (usize, usize, usize) {
        (self.model.n_inputs(), self.model.outputs().len(), self.model.nodes().len())
    }

    /// `inputs` are doubles, sample after sample, as many as fill whole samples; so are the results.
    fn predict<'py>(&self, py: Python<'py>, inputs: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let doubles = |c: &[u8]| f64::from_ne_bytes(c.try_into().expect("eight bytes"));
        let inputs: Vec<f64> = inputs.chunks_exact(8).map(doubles).collect();
        if let Some(kernel) = &self.kernel {
            let outputs = py.detach(|| golden::run_doubles(kernel, &inputs)).map_err(PyValueError::new_err)?;
            let bytes: Vec<u8> = outputs.iter().flat_map(|x| x.to_ne_bytes()).collect();
            return Ok(PyBytes::new(py, &bytes));
        }
        let width = self.model.n_inputs();
        if width == 0 || !inputs.len().is_multiple_of(width) {
            return Err(PyValueError::new_err(format!("{} numbers are no samples of {width}", inputs.len())));
        }
        let mut outputs = vec![0.0; inputs.len() / width * self.model.outputs().len()];
        let run = py.detach(|| self.plan.run(&inputs, &mut outputs));
        run.map_err(|fault| match fault.kind {
            FaultKind::NotFinite { input, value } => {
                PyValueError::new_err(format!("sample {}: input {input} is {value}", fault.sample))
            }
            FaultKind::Miss(miss) => {
                PyValueError::new_err(format!("sample {}: a lookup is outside its table: {miss:?}", fault.sample))
            }
        })?;
        let bytes: Vec<u8> = outputs.iter().flat_map(|x| x.to_ne_bytes()).collect();
        Ok(PyBytes::new(py, &bytes))
    }

    /// The text in a language; `options` as the program has them.
    fn emit(&self, py: Python<'_>, language_name: &str, options: Vec<String>) -> PyResult<String> {
        let language = language(language_name)?;
        py.detach(|| self.hardware("Model.emit", &options)?.proved_text(language, &|_| {}).map_err(not_made))
    }

    /// The interface as JSON; `options` as the program has them.
    fn interface(&self, py: Python<'_>, options: Vec<String>) -> PyResult<String> {
        py.detach(|| Ok(self.hardware("Model.interface", &options)?.sidecar(&[], self.checksum.clone()).to_json()))
    }

    /// What every simulator found, as JSON; nothing where none is installed. `options` as `alir2hdl verify` has them.
    fn verify(&self, py: Python<'_>, options: Vec<String>) -> PyResult<Option<String>> {
        py.detach(|| match cli::on_model(InMemory::Verify, self.held(), &options) {
            Ok(found) => Ok(found.map(|found| found.json().to_string())),
            Err(failure) if failure.status == ExitStatus::MissingTool => Ok(None),
            Err(failure) => Err(failed(failure)),
        })
    }

    /// Writes a folder; `options` as `alir2hdl project` has them.
    fn project(&self, py: Python<'_>, options: Vec<String>) -> PyResult<()> {
        let what = InMemory::Project { checksum: &self.checksum, sha256: &self.sha256 };
        py.detach(|| cli::on_model(what, self.held(), &options).map(|_| ()).map_err(failed))
    }

    /// Writes a page; `options` as `alir2hdl view` has them.
    fn view(&self, py: Python<'_>, options: Vec<String>) -> PyResult<()> {
        py.detach(|| cli::on_model(InMemory::View, self.held(), &options).map(|_| ()).map_err(failed))
    }

    /// The report of a proof, as JSON.
    fn prove(
        &self,
        py: Python<'_>,
        source: &str,
        language_name: &str,
        top: Option<String>,
        latency: Option<u32>,
        sat_steps: Option<u64>,
    ) -> PyResult<String> {
        let language = language(language_name)?;
        py.detach(|| {
            let rtl = rtl::read(language, source, top.as_deref()).map_err(refused)?;
            let limits = engine::Limits::default();
            let limits = engine::Limits { sat_steps: sat_steps.unwrap_or(limits.sat_steps), ..limits };
            let request = Request { latency, limits, ..Request::default() };
            let (mut report, _) = equiv::prove(&self.model, &rtl, &request, Box::new(Embedded));
            if let Some(kernel) = &self.kernel {
                let added = compile::add_lowering(kernel, &self.model, &mut report, Box::new(Embedded));
                added.map_err(PyRuntimeError::new_err)?;
            }
            serde_json::to_string(&report).map_err(|e| PyRuntimeError::new_err(e.to_string()))
        })
    }
}

/// The program itself, in a process that does nothing else. `words`: its name and its arguments. Returns the exit code.
#[pyfunction]
fn program(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| cli::main_with(words))
}

#[pymodule]
fn _alir2hdl(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(program, module)?)?;
    module.add_class::<Native>()
}
