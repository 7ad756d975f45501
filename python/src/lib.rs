//! What Python calls. Arrays pass as bytes of native doubles: the package `alir2hdl` makes them from numpy's.
#![allow(missing_docs, reason = "documented where users see it, in alir2hdl/__init__.py")]

use alir2hdl::cli::{self, ExitStatus, HeldProgram, InMemory};
use alir2hdl::cmvm;
use alir2hdl::compile::{self, ErrorKind, Hardware};
use alir2hdl::diag::Diagnostics;
use alir2hdl::prove::engine;
use alir2hdl::prove::equiv::{self, Request};
use alir2hdl::prove::sat::Embedded;
use alir2hdl::rtl::{self, Language};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ffi::OsString;

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

/// A checked model.
#[pyclass(frozen, module = "alir2hdl._alir2hdl")]
struct Native {
    held: HeldProgram,
    /// The bytes that it was read from: what is sent to another process. Empty where files and options make it.
    bytes: Vec<u8>,
}

impl Native {
    /// The hardware that options ask for; `call` is the method's name, for the head of the text.
    fn hardware(&self, call: &str, options: &[String]) -> PyResult<Hardware<'_>> {
        let command = [format!("alir2hdl.{call}")].into_iter().chain(options.iter().cloned()).collect();
        self.held.hardware(command, options).map_err(not_made)
    }
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(|c| f64::from_ne_bytes(c.try_into().expect("eight bytes"))).collect()
}

/// What a product with a matrix is made of: adders (operands, power of two of the second, whether it is subtracted),
/// outputs (value, power of two, whether it is negated), cost in adder bits, and latency.
type Adders = (Vec<(u32, u32, i32, bool)>, Vec<Option<(u32, i32, bool)>>, u64, f64);

#[pymethods]
impl Native {
    /// A file of any kind, with the program's options about reading.
    #[staticmethod]
    fn read(py: Python<'_>, path: &str, options: Vec<String>) -> PyResult<Native> {
        let held = py.detach(|| HeldProgram::read(path, &options)).map_err(failed)?;
        Ok(Native { held, bytes: Vec::new() })
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8], file: String) -> PyResult<Native> {
        let held = py.detach(|| HeldProgram::of_bytes(bytes, file)).map_err(refused)?;
        Ok(Native { held, bytes: bytes.to_vec() })
    }

    /// The product with a matrix in an npy file.
    #[staticmethod]
    fn from_matrix(
        py: Python<'_>,
        npy: &[u8],
        types: Vec<String>,
        latency: Option<f64>,
        budget: u64,
    ) -> PyResult<(Native, Adders)> {
        let options = cmvm::Options { latency, budget, ..cmvm::Options::default() };
        let made = py.detach(|| HeldProgram::of_matrix(npy, &types, &options));
        let (held, graph, report) = made.map_err(refused)?;
        let adders = graph.adders.iter().map(|a| (a.a, a.b, a.shift, a.subtract)).collect();
        let outputs = graph.outputs.iter().map(|o| o.map(|o| (o.value, o.shift, o.negative))).collect();
        Ok((Native { held, bytes: Vec::new() }, (adders, outputs, report.cost, report.latency)))
    }

    /// What `from_bytes` makes the same model of.
    fn content<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, &str) {
        (PyBytes::new(py, &self.bytes), self.held.name())
    }

    /// Inputs, outputs, operations.
    fn shape(&self) -> (usize, usize, usize) {
        let model = self.held.model();
        (model.n_inputs(), model.outputs().len(), model.nodes().len())
    }

    /// `inputs` are doubles, sample after sample, as many as fill whole samples; so are the results.
    fn predict<'py>(&self, py: Python<'py>, inputs: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let inputs = doubles(inputs);
        let outputs = py.detach(|| self.held.predict(&inputs)).map_err(PyValueError::new_err)?;
        let bytes: Vec<u8> = outputs.iter().flat_map(|x| x.to_ne_bytes()).collect();
        Ok(PyBytes::new(py, &bytes))
    }

    /// The same for numbers of which some are no doubles, as text; also how many results were rounded to doubles.
    fn predict_exact<'py>(&self, py: Python<'py>, inputs: Vec<String>) -> PyResult<(Bound<'py, PyBytes>, u64)> {
        let (outputs, rounded) = py.detach(|| self.held.predict_exact(&inputs)).map_err(PyValueError::new_err)?;
        let bytes: Vec<u8> = outputs.iter().flat_map(|x| x.to_ne_bytes()).collect();
        Ok((PyBytes::new(py, &bytes), rounded))
    }

    /// Whether some output may have a value that no double has.
    fn has_wide_outputs(&self) -> bool {
        self.held.has_wide_outputs()
    }

    /// The text in a language; `options` as the program has them.
    fn emit(&self, py: Python<'_>, language_name: &str, options: Vec<String>) -> PyResult<String> {
        let language = language(language_name)?;
        py.detach(|| self.hardware("Model.emit", &options)?.proved_text(language, &|_| {}).map_err(not_made))
    }

    /// The interface as JSON; `options` as the program has them.
    fn interface(&self, py: Python<'_>, options: Vec<String>) -> PyResult<String> {
        py.detach(|| Ok(self.held.interface(&self.hardware("Model.interface", &options)?)))
    }

    /// What every simulator found, as JSON; nothing where none is installed. `options` as `alir2hdl verify` has them.
    fn verify(&self, py: Python<'_>, options: Vec<String>) -> PyResult<Option<String>> {
        py.detach(|| match cli::on_model(InMemory::Verify, &self.held, &options) {
            Ok(found) => Ok(found.map(|found| found.json().to_string())),
            Err(failure) if failure.status == ExitStatus::MissingTool => Ok(None),
            Err(failure) => Err(failed(failure)),
        })
    }

    /// Writes a folder; `options` as `alir2hdl project` has them.
    fn project(&self, py: Python<'_>, options: Vec<String>) -> PyResult<()> {
        py.detach(|| cli::on_model(InMemory::Project, &self.held, &options).map(|_| ()).map_err(failed))
    }

    /// Writes a page; `options` as `alir2hdl view` has them.
    fn view(&self, py: Python<'_>, options: Vec<String>) -> PyResult<()> {
        py.detach(|| cli::on_model(InMemory::View, &self.held, &options).map(|_| ()).map_err(failed))
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
            let (mut report, _) = equiv::prove(self.held.model(), &rtl, &request, Box::new(Embedded));
            self.held.add_lowering(&mut report, &|| Box::new(Embedded)).map_err(PyRuntimeError::new_err)?;
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
