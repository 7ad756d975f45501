//! What Python calls. Arrays pass as bytes of native doubles: the package `alir2hdl` makes them from numpy's.
#![allow(missing_docs, reason = "documented where users see it, in alir2hdl/__init__.py")]

use alir2hdl::cli;
use alir2hdl::diag::Diagnostics;
use alir2hdl::formats;
use alir2hdl::interp::{FaultKind, Plan, PlanOptions};
use alir2hdl::ir::{self, Limits};
use alir2hdl::prove::engine;
use alir2hdl::prove::equiv::{self, Request};
use alir2hdl::prove::sat::Embedded;
use alir2hdl::rtl;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ffi::OsString;
use std::path::PathBuf;

fn refused(problems: impl Into<Diagnostics>) -> PyErr {
    PyValueError::new_err(problems.into().to_string())
}

/// A checked model.
#[pyclass(frozen, module = "alir2hdl._alir2hdl")]
struct Native {
    model: ir::Model,
    plan: Plan,
}

impl Native {
    fn of(read: Result<(ir::Model, Diagnostics), Diagnostics>) -> PyResult<Native> {
        let (model, _) = read.map_err(refused)?;
        let plan = Plan::new(&model, PlanOptions::default());
        Ok(Native { model, plan })
    }
}

#[pymethods]
impl Native {
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Native> {
        py.detach(|| Native::of(formats::read_path(&path, &Limits::default(), None)))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Native> {
        py.detach(|| Native::of(formats::read(bytes, &Limits::default(), None)))
    }

    /// Inputs, outputs, operations.
    fn shape(&self) -> (usize, usize, usize) {
        (self.model.n_inputs(), self.model.outputs().len(), self.model.nodes().len())
    }

    /// `inputs` are doubles, sample after sample, as many as fill whole samples; so are the results.
    fn predict<'py>(&self, py: Python<'py>, inputs: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let doubles = |c: &[u8]| f64::from_ne_bytes(c.try_into().expect("eight bytes"));
        let inputs: Vec<f64> = inputs.chunks_exact(8).map(doubles).collect();
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
        let language = match language_name {
            "verilog" => text::Language::Verilog,
            "vhdl" => text::Language::Vhdl,
            _ => {
                return Err(PyValueError::new_err(format!("no language is called {language_name:?}: verilog or vhdl")));
            }
        };
        py.detach(|| {
            let rtl = text::read(language, source, top.as_deref()).map_err(refused)?;
            let limits = engine::Limits::default();
            let limits = engine::Limits { sat_steps: sat_steps.unwrap_or(limits.sat_steps), ..limits };
            let request = Request { latency, limits, ..Request::default() };
            let (report, _) = equiv::prove(&self.model, &rtl, &request, Box::new(Embedded));
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
