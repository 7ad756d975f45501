//! What Python calls. Arrays pass as bytes of native doubles: the package `alir2hdl` makes them from numpy's.
#![allow(missing_docs, reason = "documented where users see it, in alir2hdl/__init__.py")]

use alir2hdl::diag::Diagnostics;
use alir2hdl::emit::{self, Language};
use alir2hdl::interp::{FaultKind, Plan, PlanOptions};
use alir2hdl::ir::{self, Limits};
use alir2hdl::netlist::{self, Netlist, ResetOptions};
use alir2hdl::prove::engine;
use alir2hdl::prove::equiv::{self, Request};
use alir2hdl::prove::sat::Embedded;
use alir2hdl::prove::text;
use alir2hdl::verify::{Check, Cycles, Deadline, SIMULATORS, Tools, Vectors};
use alir2hdl::{formats, passes, schedule};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::time::Duration;

fn refused(problems: impl Into<Diagnostics>) -> PyErr {
    PyValueError::new_err(problems.into().to_string())
}

fn broken(problems: impl Into<Diagnostics>) -> PyErr {
    PyRuntimeError::new_err(problems.into().to_string())
}

fn language(name: &str) -> PyResult<Language> {
    match name {
        "verilog" => Ok(Language::Verilog),
        "vhdl" => Ok(Language::Vhdl),
        _ => Err(PyValueError::new_err(format!("no language is called {name:?}: verilog or vhdl"))),
    }
}

/// What the hardware looks like.
#[derive(FromPyObject)]
struct Hardware {
    top: String,
    pipeline: u32,
    max_stage_delay: Option<f64>,
    register_inputs: bool,
    valid: bool,
    enable: bool,
    reset: Option<String>,
    optimise: u8,
}

/// Simulator, language of the text, rows that differ, the first difference.
type Run = (&'static str, &'static str, usize, Option<String>);

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

    fn build(&self, asked: &Hardware) -> PyResult<Netlist> {
        let reset = match asked.reset.as_deref() {
            None | Some("none") => None,
            Some(kind @ ("sync" | "async")) => {
                Some(ResetOptions { asynchronous: kind == "async", active_high: true, data: !asked.valid })
            }
            Some(other) => {
                return Err(PyValueError::new_err(format!("no reset is called {other:?}: none, sync or async")));
            }
        };
        let goal = schedule::Goal {
            stages: (asked.pipeline > 0).then_some(asked.pipeline),
            max_stage_delay: asked.max_stage_delay,
            register_inputs: asked.register_inputs,
            ..schedule::Goal::stages(0)
        };
        let has_registers = asked.pipeline > 0 || asked.register_inputs || asked.max_stage_delay.is_some();
        if !has_registers && (asked.enable || reset.is_some()) {
            return Err(PyValueError::new_err("enable and reset need registers: ask for a pipeline"));
        }
        let options = netlist::Options {
            top: asked.top.clone(),
            valid: asked.valid,
            enable: asked.enable,
            reset,
            ..netlist::Options::default()
        };
        options.check().map_err(|problems| refused(Diagnostics(problems)))?;
        let (model, _) = passes::run(&self.model, passes::pipeline(asked.optimise.min(2)));
        let (delay, uses) = (schedule::default_delay(&model), netlist::uses(&model));
        let outcome = schedule::schedule(&model, delay, &goal, &uses)
            .map_err(|why| refused(why.diagnostic(&model, "max_stage_delay", 1.0)))?;
        outcome.check(&model, delay, &goal, &uses).map_err(broken)?;
        let netlist = netlist::lower(&model, &outcome.schedule, &options);
        netlist.check().and_then(|()| netlist.check_pipeline()).map_err(|found| broken(Diagnostics(found)))?;
        Ok(netlist)
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

    fn emit(&self, py: Python<'_>, language_name: &str, hardware: Hardware) -> PyResult<String> {
        let language = language(language_name)?;
        py.detach(|| Ok(emit::text(&self.build(&hardware)?, language, &emit::Options::default())))
    }

    fn latency(&self, py: Python<'_>, hardware: Hardware) -> PyResult<u32> {
        py.detach(|| Ok(self.build(&hardware)?.interface.latency))
    }

    /// What each simulator that is installed finds.
    fn verify(
        &self,
        py: Python<'_>,
        hardware: Hardware,
        samples: usize,
        seed: u64,
        seconds: u64,
    ) -> PyResult<Vec<Run>> {
        py.detach(|| {
            let netlist = self.build(&hardware)?;
            let vectors = Vectors::generate(&self.model, samples, seed);
            let cycles = Cycles::of(&netlist, &vectors, seed);
            let tools = Tools::of_environment();
            let deadline = Deadline::after(Duration::from_secs(seconds));
            let mut found = Vec::new();
            for simulator in SIMULATORS.iter().filter(|s| s.probe(&tools).is_ok()) {
                for &language in simulator.languages() {
                    let text = emit::text(&netlist, language, &emit::Options::default());
                    let check = Check {
                        netlist: &netlist,
                        text: &text,
                        language,
                        vhdl_standard: "08",
                        cycles: &cycles,
                        vcd: false,
                    };
                    let folder = alir2hdl::files::Scratch::new().map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
                    let finding = check.run(*simulator, &tools, folder.path(), deadline);
                    let finding = finding.map_err(|error| broken(error.diagnostic(*simulator)))?;
                    let first = finding.report.mismatches.first().map(ToString::to_string);
                    found.push((simulator.name(), language.name(), finding.report.wrong_rows, first));
                }
            }
            Ok(found)
        })
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
        let language = match language(language_name)? {
            Language::Verilog => text::Language::Verilog,
            Language::Vhdl => text::Language::Vhdl,
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

#[pymodule]
fn _alir2hdl(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Native>()
}
