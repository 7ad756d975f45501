//! The functions that Python calls. Arrays are numpy's, read and written in place.
#![allow(missing_docs, reason = "documented where users see it, in alir2hdl/__init__.py")]

use alir2hdl::cli::{self, ExitStatus, HeldProgram, InMemory};
use alir2hdl::cmvm;
use alir2hdl::compile::{self, ErrorKind, Hardware};
use alir2hdl::diag::{Diagnostic, Diagnostics, Place};
use alir2hdl::interp::arrays::{ArrayFault, ArrayRun, CodeType, Numbers, Results};
use alir2hdl::interp::batch::SampleFault;
use alir2hdl::prove::gauge;
use alir2hdl::rtl::Language;
use alir2hdl::verify;
use num_bigint::BigInt;
use numpy::{BorrowError, PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ffi::OsString;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// An exception of `alir2hdl._errors`: `kind` is the name of its class.
fn raised(kind: &str, problems: &Diagnostics) -> PyErr {
    let text = problems.to_string();
    let facts = serde_json::to_string(&problems.0).unwrap_or_else(|_| "[]".into());
    Python::attach(|py| {
        let made =
            py.import("alir2hdl._errors").and_then(|module| module.call_method1("_raised", (kind, &text, facts)));
        made.map_or_else(|error| error, PyErr::from_value)
    })
}

fn refused(problems: impl Into<Diagnostics>) -> PyErr {
    raised("InputError", &problems.into())
}

fn not_made(error: compile::Error) -> PyErr {
    let kind = match error.kind {
        ErrorKind::Request => "InputError",
        ErrorKind::MissingTool => "MissingToolError",
        ErrorKind::Bug => "InternalError",
        ErrorKind::Undecided => "UndecidedError",
    };
    raised(kind, &error.diagnostics)
}

/// Converts the failure of a sub-command into a Python exception.
fn failed(failure: cli::Failure) -> PyErr {
    let kind = match failure.status {
        ExitStatus::Input | ExitStatus::Mismatch => "InputError",
        ExitStatus::MissingTool => "MissingToolError",
        ExitStatus::Undecided => "UndecidedError",
        _ => "InternalError",
    };
    raised(kind, &failure.diagnostics)
}

/// Why arrays have no results.
fn not_run(fault: &ArrayFault) -> PyErr {
    let (code, help) = match fault {
        ArrayFault::Sample { fault: SampleFault::Miss(_), .. } => ("E0707", None),
        ArrayFault::Inexact { .. } => ("E0706", Some("codes=True gives raw integer values, exactly")),
        ArrayFault::Refused { reason, .. } if reason.contains("doubles hold") => {
            ("E0706", Some("codes=True takes and gives integers of any size"))
        }
        _ => ("E0706", None),
    };
    let problem = Diagnostic::error(code, Place::Whole, fault.to_string());
    let problem = match help {
        Some(help) => problem.with_help(help),
        None => problem,
    };
    raised("InputError", &problem.into())
}

/// Threads that may work: the processors of this process's affinity.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Runs a job on arrays without the interpreter's lock; a signal, such as Ctrl-C, ends it.
fn in_place(
    py: Python<'_>,
    (threads, rounds): (Option<usize>, bool),
    job: impl FnOnce(ArrayRun<'_>) -> Result<(), ArrayFault> + Send,
) -> PyResult<()> {
    py.detach(|| {
        let signal = std::cell::RefCell::new(None);
        let stop = || match Python::attach(|py| py.check_signals()) {
            Ok(()) => false,
            Err(error) => {
                *signal.borrow_mut() = Some(error);
                true
            }
        };
        let run = ArrayRun { threads: threads.unwrap_or_else(cores), stop: &stop, rounds, evaluator: None };
        match (job(run), signal.take()) {
            (_, Some(signal)) => Err(signal),
            (Ok(()), None) => Ok(()),
            (Err(fault), None) => Err(not_run(&fault)),
        }
    })
}

/// Calls `$job` with the numbers of an array, or of a list of integers (signed bytes, lowest first), as `$numbers`.
macro_rules! with_numbers {
    ($x:expr, $numbers:ident => $job:expr, $($t:ty => $variant:ident),*) => {
        $(if let Ok(array) = $x.cast::<PyArrayDyn<$t>>() {
            let array = array.try_readonly().map_err(busy)?;
            let $numbers = Numbers::$variant(array.as_slice().map_err(|_| PyValueError::new_err("not contiguous"))?);
            $job
        } else)* {
            let bytes: Vec<Vec<u8>> = $x.extract()?;
            let wide: Vec<BigInt> = bytes.iter().map(|b| BigInt::from_signed_bytes_le(b)).collect();
            let $numbers = Numbers::Wide(&wide);
            $job
        }
    };
}

fn busy(error: BorrowError) -> PyErr {
    PyRuntimeError::new_err(format!("the array is in use by another call: {error}"))
}

fn language(name: &str) -> PyResult<Language> {
    match name {
        "verilog" => Ok(Language::Verilog),
        "systemverilog" => Ok(Language::SystemVerilog),
        "vhdl" => Ok(Language::Vhdl),
        _ => {
            let message = format!("no language is called {name:?}: verilog, systemverilog or vhdl");
            Err(refused(Diagnostic::error("E0004", Place::Flag("--language".into()), message)))
        }
    }
}

/// A checked model.
#[pyclass(frozen, module = "alir2hdl._alir2hdl")]
struct Native {
    held: Arc<HeldProgram>,
    /// The bytes that it was read from: what is sent to another process. Empty where files and options make it.
    bytes: Vec<u8>,
}

/// The hardware that options ask for; `call` is the method's name, for the header comment.
fn hardware<'h>(held: &'h HeldProgram, call: &str, options: &[String]) -> PyResult<Hardware<'h>> {
    let command = [format!("alir2hdl.{call}")].into_iter().chain(options.iter().cloned()).collect();
    held.hardware(command, options).map_err(not_made)
}

/// Runs a job on a thread of its own, without the interpreter's lock. A signal, such as Ctrl-C, is raised within a tenth of a
/// second, also where the job takes longer to end.
fn interruptible<T: Send + 'static>(py: Python<'_>, job: impl FnOnce() -> PyResult<T> + Send + 'static) -> PyResult<T> {
    py.detach(|| {
        let (sender, receiver) = mpsc::channel();
        let cancel = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&cancel);
        let work = move || {
            let done = std::panic::catch_unwind(AssertUnwindSafe(|| gauge::cancellable(flag, job)));
            // The caller no longer waits after a signal.
            let _ = sender.send(done);
        };
        std::thread::Builder::new().stack_size(STACK).spawn(work)?;
        loop {
            match receiver.recv_timeout(TICK) {
                Ok(Ok(done)) => return done,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(RecvTimeoutError::Disconnected) => return Err(PyRuntimeError::new_err("a thread has ended")),
                Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals()).inspect_err(|_| {
                    cancel.store(true, Ordering::Relaxed);
                    for _ in 0..10 {
                        verify::end_all();
                        if !matches!(receiver.recv_timeout(TICK / 2), Err(RecvTimeoutError::Timeout)) {
                            break;
                        }
                    }
                })?,
            }
        }
    })
}

/// Time between two looks at signals.
const TICK: Duration = Duration::from_millis(50);
/// Stack of a thread that does a job (bytes): as much as a main thread has.
const STACK: usize = 8 << 20;

/// What a product with a matrix is made of: adders (operands, power of two of the second, whether it is subtracted),
/// outputs (value, power of two, whether it is negated), cost in adder bits, and latency.
type Adders = (Vec<(u32, u32, i32, bool)>, Vec<Option<(u32, i32, bool)>>, u64, f64);

#[pymethods]
impl Native {
    /// A file of any kind, with the program's options about reading.
    #[staticmethod]
    fn read(py: Python<'_>, path: &str, options: Vec<String>) -> PyResult<Native> {
        let held = py.detach(|| HeldProgram::read(path, &options)).map_err(failed)?;
        Ok(Native { held: Arc::new(held), bytes: Vec::new() })
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8], file: String) -> PyResult<Native> {
        let held = py.detach(|| HeldProgram::of_bytes(bytes, file)).map_err(refused)?;
        Ok(Native { held: Arc::new(held), bytes: bytes.to_vec() })
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
        Ok((Native { held: Arc::new(held), bytes: Vec::new() }, (adders, outputs, report.cost, report.latency)))
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

    /// The dtype of raw integer values: `int64`, `uint64` or `object`.
    fn code_type(&self) -> &'static str {
        match self.held.code_type() {
            CodeType::Signed => "int64",
            CodeType::Unsigned => "uint64",
            CodeType::Wide => "object",
        }
    }

    /// Runs `rows` samples of a contiguous array, or of a list of integers, into a contiguous array: of doubles, or of integers
    /// for raw integer values. Without one the raw integer values are the result.
    #[pyo3(signature = (x, out, rows, threads, rounds=false))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn predict(
        &self,
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        out: Option<&Bound<'_, PyAny>>,
        rows: usize,
        threads: Option<usize>,
        rounds: bool,
    ) -> PyResult<Option<Vec<Py<PyBytes>>>> {
        with_numbers!(x, numbers => self.predicted(py, numbers, out, rows, (threads, rounds)),
            f64 => F64, f32 => F32, i64 => I64, i32 => I32, i16 => I16, i8 => I8, u64 => U64, u32 => U32, u16 => U16, u8 => U8)
    }

    /// The HDL source in a language; `options` as the program has them.
    fn emit(&self, py: Python<'_>, language_name: &str, options: Vec<String>) -> PyResult<String> {
        let (language, held) = (language(language_name)?, Arc::clone(&self.held));
        interruptible(py, move || {
            hardware(&held, "Model.emit", &options)?.proved_text(language, &|_| {}).map_err(not_made)
        })
    }

    /// The HDL source and the interface as JSON, of one compilation.
    fn compile(&self, py: Python<'_>, language_name: &str, options: Vec<String>) -> PyResult<(String, String)> {
        let (language, held) = (language(language_name)?, Arc::clone(&self.held));
        interruptible(py, move || {
            let hardware = hardware(&held, "Model.compile", &options)?;
            let text = hardware.proved_text(language, &|_| {}).map_err(not_made)?;
            Ok((text, held.interface(&hardware)))
        })
    }

    /// The interface as JSON; `options` as the program has them.
    fn interface(&self, py: Python<'_>, options: Vec<String>) -> PyResult<String> {
        let held = Arc::clone(&self.held);
        interruptible(py, move || Ok(held.interface(&hardware(&held, "Model.interface", &options)?)))
    }

    /// The results of every simulator, as JSON; `None` if none is installed. `options` as `alir2hdl verify` has them.
    fn verify(&self, py: Python<'_>, options: Vec<String>) -> PyResult<Option<String>> {
        let held = Arc::clone(&self.held);
        interruptible(py, move || match cli::on_model(InMemory::Verify, &held, &options) {
            Ok(found) => Ok(found.map(|found| found.json().to_string())),
            Err(failure) if failure.status == ExitStatus::MissingTool => Ok(None),
            Err(failure) => Err(failed(failure)),
        })
    }

    /// Writes a folder; `options` as `alir2hdl project` has them.
    fn project(&self, py: Python<'_>, options: Vec<String>) -> PyResult<()> {
        let held = Arc::clone(&self.held);
        interruptible(py, move || cli::on_model(InMemory::Project, &held, &options).map(|_| ()).map_err(failed))
    }

    /// Writes a page; `options` as `alir2hdl view` has them.
    fn view(&self, py: Python<'_>, options: Vec<String>) -> PyResult<()> {
        let held = Arc::clone(&self.held);
        interruptible(py, move || cli::on_model(InMemory::View, &held, &options).map(|_| ()).map_err(failed))
    }

    /// The report of a proof, as JSON; of the same strength as `alir2hdl prove`.
    #[pyo3(signature = (source, language_name, top, latency, interval, sat_steps, work, gates_only))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn prove(
        &self,
        py: Python<'_>,
        source: String,
        language_name: &str,
        top: Option<String>,
        latency: Option<u32>,
        interval: Option<u32>,
        sat_steps: Option<u64>,
        work: Option<u64>,
        gates_only: bool,
    ) -> PyResult<String> {
        let (language, held) = (language(language_name)?, Arc::clone(&self.held));
        let options = cli::ProofOptions { latency, interval, sat_steps, work, gates_only };
        interruptible(py, move || {
            let report = cli::prove_in_memory(&held, &source, language, top.as_deref(), &options).map_err(failed)?;
            serde_json::to_string(&report).map_err(|e| PyRuntimeError::new_err(e.to_string()))
        })
    }
}

impl Native {
    fn predicted(
        &self,
        py: Python<'_>,
        numbers: Numbers<'_>,
        out: Option<&Bound<'_, PyAny>>,
        rows: usize,
        how: (Option<usize>, bool),
    ) -> PyResult<Option<Vec<Py<PyBytes>>>> {
        let (_, n_out, _) = self.shape();
        let run = |results: Results<'_>| in_place(py, how, |run| self.held.predict(rows, numbers, results, run));
        let Some(out) = out else {
            let mut wide = vec![BigInt::ZERO; rows * n_out];
            run(Results::Wide(&mut wide))?;
            let bytes = wide.iter().map(|code| PyBytes::new(py, &code.to_signed_bytes_le()).unbind());
            return Ok(Some(bytes.collect()));
        };
        let contiguous = |_| PyValueError::new_err("out is not contiguous");
        if let Ok(array) = out.cast::<PyArrayDyn<f64>>() {
            run(Results::Reals(array.try_readwrite().map_err(busy)?.as_slice_mut().map_err(contiguous)?))?;
        } else if let Ok(array) = out.cast::<PyArrayDyn<i64>>() {
            run(Results::Signed(array.try_readwrite().map_err(busy)?.as_slice_mut().map_err(contiguous)?))?;
        } else {
            let array = out.cast::<PyArrayDyn<u64>>()?;
            run(Results::Unsigned(array.try_readwrite().map_err(busy)?.as_slice_mut().map_err(contiguous)?))?;
        }
        Ok(None)
    }
}

/// The program itself, in a process that does nothing else. `words`: its name and its arguments. Returns the exit code.
#[pyfunction]
fn program(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| cli::main_with(words))
}

/// Runs a command inside of this process. `words`: its name and its arguments. Returns the exit code, the content of stdout, and
/// warnings and notes as JSON.
#[pyfunction]
fn call(py: Python<'_>, words: Vec<OsString>) -> PyResult<(u8, Vec<u8>, String)> {
    interruptible(py, move || {
        let done = cli::captured(words).map_err(failed)?;
        let said = serde_json::to_string(&done.diagnostics).map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
        Ok((done.status, done.output, said))
    })
}

/// Names of the options of a sub-command; of an empty name those of the main job.
#[pyfunction]
fn option_names(sub_command: &str) -> Vec<String> {
    cli::option_names(sub_command)
}

#[pymodule]
fn _alir2hdl(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(call, module)?)?;
    module.add_function(wrap_pyfunction!(option_names, module)?)?;
    module.add_function(wrap_pyfunction!(program, module)?)?;
    module.add_class::<Native>()
}
