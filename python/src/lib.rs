//! Native functions of the Python package. NumPy arrays are read and written in place.
#![allow(missing_docs, reason = "documented where users see it, in alir2hdl/__init__.py")]

use alir2hdl::cli::machine_run::{self, MachineRunRequest};
use alir2hdl::cli::{
    self, CalibrationOptions, ConversionOptions, ExitStatus, ExplorationOptions, HeldProgram, ReadingOptions,
    SampleFile,
};
use alir2hdl::cmvm;
use alir2hdl::compile::{self, ErrorKind, Hardware};
use alir2hdl::diag::{Diagnostic, Diagnostics, Place};
use alir2hdl::interp::arrays::{ArrayFault, ArrayRun, CodeType, Numbers, Results};
use alir2hdl::interp::batch::SampleFault;
use alir2hdl::options::{DescriptionOptions, HardwareOptions, OptionFault, OptionValue, near, or_next};
use alir2hdl::project::options::ProjectOptions;
use alir2hdl::prove::ProgressCounter;
use alir2hdl::prove::options::ProofOptions;
use alir2hdl::prove::progress::cancellable;
use alir2hdl::rtl::Language;
use alir2hdl::verify;
use alir2hdl::verify::options::SimulationOptions;
use alir2hdl::view::options::PageOptions;
use num_bigint::BigInt;
use numpy::{BorrowError, PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Returns an exception of `alir2hdl._errors`; `kind` is the name of its class.
fn raised(kind: &str, problems: &Diagnostics) -> PyErr {
    let text = problems.to_string();
    let facts = serde_json::to_string(&problems.0).unwrap_or_else(|_| "[]".into());
    Python::attach(|py| {
        let exception =
            py.import("alir2hdl._errors").and_then(|module| module.call_method1("_raised", (kind, &text, facts)));
        exception.map_or_else(|error| error, PyErr::from_value)
    })
}

/// Returns an `InputError`.
fn refused(problems: impl Into<Diagnostics>) -> PyErr {
    raised("InputError", &problems.into())
}

/// Converts a compilation error into a Python exception.
fn compile_error(error: compile::Error) -> PyErr {
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

/// Converts the error of a run over arrays into a Python exception.
fn run_error(fault: &ArrayFault) -> PyErr {
    let (code, help) = match fault {
        ArrayFault::Sample { fault: SampleFault::Miss(_), .. } => ("E0707", None),
        ArrayFault::Inexact { .. } => ("E0706", Some("codes=True gives raw integer values, exactly")),
        ArrayFault::Refused { reason, .. } if reason.contains("doubles hold") => {
            ("E0706", Some("codes=True accepts and returns integers of any size"))
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

/// Returns the default number of threads: the processors that this process may use.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Runs a job on arrays without the interpreter's lock. A signal, such as Ctrl-C, stops the job.
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
            (Err(fault), None) => Err(run_error(&fault)),
        }
    })
}

/// Calls `$job` with the numbers of an array or of a list of integers (signed bytes, lowest first) as `$numbers`.
macro_rules! with_numbers {
    ($x:expr, $numbers:ident => $job:expr) => {
        with_numbers!($x, $numbers => $job, f64 => F64, f32 => F32, i64 => I64, i32 => I32, i16 => I16, i8 => I8,
            u64 => U64, u32 => U32, u16 => U16, u8 => U8)
    };
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

/// Converts integers of any size to signed bytes, lowest first.
fn signed_bytes(py: Python<'_>, codes: &[BigInt]) -> Vec<Py<PyBytes>> {
    codes.iter().map(|code| PyBytes::new(py, &code.to_signed_bytes_le()).unbind()).collect()
}

/// Returns the exception for an array that another call uses.
fn busy(error: BorrowError) -> PyErr {
    PyRuntimeError::new_err(format!("the array is in use by another call: {error}"))
}

/// Returns the language of this name.
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

/// A checked program or stateful design.
#[pyclass(frozen, module = "alir2hdl._alir2hdl")]
struct Native {
    held: Arc<HeldProgram>,
    /// Bytes of the file, to be sent to another process; empty if the design depends on several files or options.
    bytes: Vec<u8>,
}

/// A keyword argument: its name and its value.
type Keyword = (String, OptionValue);

/// Converts the value of an option; returns `None` for Python's `None`, which means that the option is not given.
fn option_value(value: &Bound<'_, PyAny>) -> PyResult<Option<OptionValue>> {
    if value.is_none() {
        return Ok(None);
    }
    // NumPy scalar.
    if value.hasattr("dtype")? && value.getattr("ndim")?.extract::<usize>()? == 0 {
        return option_value(&value.call_method0("item")?);
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Some(OptionValue::Flag(flag.is_true())));
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(Some(OptionValue::Text(text)));
    }
    if value.hasattr("__fspath__")? {
        return Ok(Some(OptionValue::Text(value.extract::<PathBuf>()?.to_string_lossy().into_owned())));
    }
    if value.hasattr("__index__")? {
        let number = value.call_method0("__index__")?;
        // An integer that is too large is out of range for every option.
        return Ok(Some(number.extract().map_or_else(|_| OptionValue::Text(number.to_string()), OptionValue::Integer)));
    }
    if let Ok(map) = value.cast::<PyDict>() {
        let pair = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| OptionValue::Text(format!("{name}={value}"));
        return Ok(Some(OptionValue::List(map.iter().map(pair).collect())));
    }
    if value.hasattr("__float__")? {
        return Ok(Some(OptionValue::Real(value.extract()?)));
    }
    let Ok(items) = value.try_iter() else {
        return Err(PyTypeError::new_err(format!("{} is not a value of an option", value.repr()?)));
    };
    let items: Vec<Option<OptionValue>> = items.map(|item| option_value(&item?)).collect::<PyResult<_>>()?;
    Ok(Some(OptionValue::List(items.into_iter().flatten().collect())))
}

/// Returns the keyword arguments that have a value.
fn keywords(options: &Bound<'_, PyDict>) -> PyResult<Vec<Keyword>> {
    let mut found = Vec::new();
    for (name, value) in options.iter() {
        let name: String = name.extract()?;
        let invalid = |_| match value.repr() {
            Ok(shown) => PyTypeError::new_err(format!(
                "{shown} is not a value of {name}: a word, a number, a truth value, or a list"
            )),
            Err(error) => error,
        };
        if let Some(value) = option_value(&value).map_err(invalid)? {
            found.push((name, value));
        }
    }
    Ok(found)
}

/// Pairs of names for one option, of which only one may be given.
const SYNONYMS: [(&str, &str); 3] = [("pipeline", "stages"), ("device", "part"), ("vectors", "samples")];

/// Sets options by name. `known` are the names that `set` accepts.
///
/// # Errors
/// TypeError for an unknown name, with the nearest one; InputError for an invalid value.
fn set_all(
    keywords: &[Keyword],
    known: impl Iterator<Item = &'static str> + Clone,
    mut set: impl FnMut(&str, &OptionValue) -> Result<(), OptionFault>,
) -> PyResult<()> {
    let is_given = |wanted: &str| keywords.iter().any(|(name, _)| name == wanted);
    for (name, second) in SYNONYMS {
        if is_given(name) && is_given(second) {
            let message = format!("{name} and {second} are two names of one option");
            let problem = Diagnostic::error("E0002", Place::Flag(second.into()), message);
            return Err(refused(problem.with_help(format!("leave out {name} or {second}"))));
        }
    }
    for (name, value) in keywords {
        set(name, value).map_err(|fault| match fault {
            OptionFault::Value(problem) => refused(problem),
            OptionFault::Unknown(_) => unknown(name, known.clone()),
        })?;
    }
    Ok(())
}

/// Returns a TypeError for an unknown keyword argument, with the nearest name.
fn unknown(name: &str, known: impl Iterator<Item = &'static str> + Clone) -> PyErr {
    let nearest = near(name, known).map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
    PyTypeError::new_err(format!("unexpected keyword argument '{name}'{nearest}"))
}

/// Returns the names of all hardware options, and further ones.
fn with_hardware(own: &'static [&'static str]) -> impl Iterator<Item = &'static str> + Clone {
    HardwareOptions::names().chain(own.iter().copied())
}

/// Converts keyword arguments that are all reading options.
fn reading_options(options: &Bound<'_, PyDict>) -> PyResult<ReadingOptions> {
    let mut reading = ReadingOptions::default();
    set_all(&keywords(options)?, ReadingOptions::NAMES.iter().copied(), |name, value| reading.set(name, value))?;
    Ok(reading)
}

/// Converts keyword arguments that are all hardware options.
fn hardware_options(keywords: &[Keyword]) -> PyResult<HardwareOptions> {
    let mut options = HardwareOptions::default();
    set_all(keywords, with_hardware(&[]), |name, value| options.set(name, value))?;
    Ok(options)
}

/// Returns the call for the header comment of generated files, with its options as on the command line.
fn command(call: &str, keywords: &[Keyword]) -> Vec<String> {
    let word = |(name, value): &Keyword| match value {
        OptionValue::Flag(false) => None,
        OptionValue::Flag(true) => Some(format!("--{}", name.replace('_', "-"))),
        _ if name == "optimise" => Some(format!("-O{value}")),
        _ => Some(format!("--{}={value}", name.replace('_', "-"))),
    };
    [format!("alir2hdl.{call}")].into_iter().chain(keywords.iter().filter_map(word)).collect()
}

/// Builds the hardware; `call` is the method's name, for the header comment.
fn hardware<'h>(held: &'h HeldProgram, call: &str, keywords: &[Keyword]) -> PyResult<Hardware<'h>> {
    held.hardware(command(call, keywords), &hardware_options(keywords)?).map_err(compile_error)
}

/// Returns a description of hardware as JSON: interface, estimate, stages, a chart of them in SVG, and warnings.
fn facts(held: &HeldProgram, options: &HardwareOptions, hardware: &Hardware<'_>) -> String {
    let facts = cli::hardware_facts(hardware);
    serde_json::json!({
        "interface": serde_json::from_str::<serde_json::Value>(&held.interface(hardware)).unwrap_or_default(),
        "estimate": hardware.estimate(),
        "stages": facts.stages,
        "delay_unit": facts.delay_unit,
        "chart": facts.chart,
        "summary": hardware.summary(),
        "warnings": cli::hardware_warnings(held, options, hardware).0,
    })
    .to_string()
}

/// Returns diagnostics as JSON.
fn json(problems: &Diagnostics) -> PyResult<String> {
    serde_json::to_string(&problems.0).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// Runs a job on a separate thread, without the interpreter's lock. A signal, such as Ctrl-C, raises an exception
/// within about a third of a second, even if the job takes longer to end.
fn interruptible<T: Send + 'static>(py: Python<'_>, job: impl FnOnce() -> PyResult<T> + Send + 'static) -> PyResult<T> {
    watched(py, &|_| Ok(()), job)
}

/// Like [`interruptible`]; `watch` is called at every [`TICK`], and its exception also ends the job.
fn watched<T: Send + 'static>(
    py: Python<'_>,
    watch: &(dyn Fn(Python<'_>) -> PyResult<()> + Sync),
    job: impl FnOnce() -> PyResult<T> + Send + 'static,
) -> PyResult<T> {
    py.detach(|| {
        let (sender, receiver) = mpsc::channel();
        let cancel = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&cancel);
        let work = move || {
            let done = std::panic::catch_unwind(AssertUnwindSafe(|| cancellable(flag, job)));
            // The caller no longer waits after a signal.
            let _ = sender.send(done);
        };
        std::thread::Builder::new().stack_size(STACK).spawn(work)?;
        loop {
            match receiver.recv_timeout(TICK) {
                Ok(Ok(done)) => return done,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(RecvTimeoutError::Disconnected) => return Err(PyRuntimeError::new_err("a thread has ended")),
                Err(RecvTimeoutError::Timeout) => Python::attach(|py| {
                    py.check_signals()?;
                    watch(py)
                })
                .inspect_err(|_| {
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

/// Time between two checks for signals.
const TICK: Duration = Duration::from_millis(50);
/// Stack size of a job's thread in bytes, the usual size of a main thread.
const STACK: usize = 8 << 20;

/// Adder graph of a product with a matrix: adders (operands, power of two of the second, `true` if it is subtracted),
/// outputs (value, power of two, `true` if it is negated), cost in adder bits, and latency.
type Adders = (Vec<(u32, u32, i32, bool)>, Vec<Option<(u32, i32, bool)>>, u64, f64);

#[pymethods]
impl Native {
    /// Reads a file of any kind, with reading options.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, options: &Bound<'_, PyDict>) -> PyResult<Native> {
        let reading = reading_options(options)?;
        let held = interruptible(py, move || HeldProgram::read(&path, reading).map_err(failed))?;
        Ok(Native { held: Arc::new(held), bytes: Vec::new() })
    }

    /// Reads a design from the bytes of one file; `file` is its name in messages.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8], file: String) -> PyResult<Native> {
        let bytes = bytes.to_vec();
        let read = move || {
            let held = HeldProgram::from_bytes(&bytes, file).map_err(refused)?;
            Ok((held, bytes))
        };
        let (held, bytes) = interruptible(py, read)?;
        Ok(Native { held: Arc::new(held), bytes })
    }

    /// Builds the product with a matrix in an npy file; `types` are the types of the inputs.
    #[staticmethod]
    fn from_matrix(
        py: Python<'_>,
        npy: &[u8],
        types: Vec<String>,
        latency: Option<f64>,
        budget: u64,
    ) -> PyResult<(Native, Adders)> {
        let options = cmvm::Options { latency, budget, ..cmvm::Options::default() };
        let npy = npy.to_vec();
        let solve = move || HeldProgram::from_matrix(&npy, &types, &options).map_err(refused);
        let (held, graph, report) = interruptible(py, solve)?;
        let adders = graph.adders.iter().map(|a| (a.a, a.b, a.shift, a.subtract)).collect();
        let outputs = graph.outputs.iter().map(|o| o.map(|o| (o.value, o.shift, o.negative))).collect();
        Ok((Native { held: Arc::new(held), bytes: Vec::new() }, (adders, outputs, report.cost, report.latency)))
    }

    /// Returns the bytes and the name for `from_bytes`, which returns an equal design.
    fn content<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, &str) {
        (PyBytes::new(py, &self.bytes), self.held.name())
    }

    /// Returns the numbers of inputs, outputs and operations.
    fn shape(&self) -> (usize, usize, usize) {
        match (self.held.model(), self.held.machine()) {
            (Some(model), _) => (model.n_inputs(), model.outputs().len(), model.nodes().len()),
            (None, Some(machine)) => {
                let operations = machine.blocks().iter().map(|block| block.model.nodes().len()).sum();
                (machine_run::input_types(machine).len(), machine_run::output_types(machine).len(), operations)
            }
            (None, None) => unreachable!("a design is a program or a state machine"),
        }
    }

    /// Returns the dtype of raw integer values: `int64`, `uint64` or `object`.
    fn code_type(&self) -> &'static str {
        match self.held.code_type() {
            CodeType::Signed => "int64",
            CodeType::Unsigned => "uint64",
            CodeType::Wide => "object",
        }
    }

    /// Evaluates `rows` samples of a contiguous array, or of a list of integers. Results are written to the contiguous
    /// array `out`, of doubles, or of integers for raw integer values. Without `out` the raw integer values are
    /// returned.
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
        with_numbers!(x, numbers => self.predict_on(py, numbers, out, rows, (threads, rounds)))
    }

    /// Runs a state machine over time; the other arguments are like those of `predict`. Without `out` returns raw
    /// integer values. Also returns the state after the last cycle.
    #[pyo3(signature = (x, out, rows, resets, state))]
    #[allow(clippy::type_complexity, reason = "rows for Python")]
    fn run_machine(
        &self,
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        out: Option<&Bound<'_, PyAny>>,
        rows: usize,
        resets: Vec<bool>,
        state: Option<Vec<(String, Vec<Vec<u8>>)>>,
    ) -> PyResult<(Option<Vec<Py<PyBytes>>>, Vec<(String, Vec<Py<PyBytes>>)>)> {
        let codes = |codes: Vec<Vec<u8>>| codes.iter().map(|code| BigInt::from_signed_bytes_le(code)).collect();
        let state = state.map(|state| state.into_iter().map(|(name, of)| (name, codes(of))).collect());
        let request = MachineRunRequest { resets, state };
        with_numbers!(x, numbers => self.run_machine_on(py, numbers, out, rows, &request))
    }

    /// Returns the raw integer values of every operation and of every output for one sample.
    #[allow(clippy::type_complexity, reason = "rows for Python")]
    fn trace(
        &self,
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        codes: bool,
    ) -> PyResult<(Vec<Py<PyBytes>>, Vec<Py<PyBytes>>)> {
        let trace = |numbers: Numbers<'_>| self.held.trace(numbers, codes).map_err(|fault| run_error(&fault));
        let [operations, outputs] = with_numbers!(x, numbers => trace(numbers))?;
        Ok((signed_bytes(py, &operations), signed_bytes(py, &outputs)))
    }

    /// Returns the design as ALIR JSON.
    fn alir<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.held.to_alir()).map_err(refused)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes a file in another format.
    fn save(&self, py: Python<'_>, output: PathBuf, options: &Bound<'_, PyDict>) -> PyResult<()> {
        let mut conversion = ConversionOptions::default();
        let known = ConversionOptions::NAMES.iter().copied();
        set_all(&keywords(options)?, known, |name, value| conversion.set(name, value))?;
        let held = Arc::clone(&self.held);
        interruptible(py, move || held.convert(&output, &conversion).map_err(failed))
    }

    /// Returns the design as a C++ header.
    fn cpp_header(&self, namespace: &str) -> PyResult<String> {
        self.held.cpp_header(namespace).map_err(refused)
    }

    /// Returns `True` for a state machine.
    fn is_machine(&self) -> bool {
        self.held.machine().is_some()
    }

    /// Returns the types of the input and of the output elements: signed, integer bits, fractional bits, name.
    #[allow(clippy::type_complexity, reason = "rows for Python")]
    fn port_types(&self) -> (Vec<(bool, i32, i32, String)>, Vec<(bool, i32, i32, String)>) {
        let facts = cli::port_types(&self.held);
        let row = |element: cli::PortElement| (element.kif.signed, element.kif.int, element.kif.frac, element.name);
        (facts.0.into_iter().map(row).collect(), facts.1.into_iter().map(row).collect())
    }

    /// Returns the operations of a program (name, operands, signed, integer bits, fractional bits), and the index of
    /// each output's value.
    #[allow(clippy::type_complexity, reason = "rows for Python")]
    fn graph(&self) -> Option<(Vec<(String, Vec<u32>, bool, i32, i32)>, Vec<Option<u32>>)> {
        let model = self.held.model()?;
        let node = |node: &alir2hdl::ir::Node| {
            let operands = node.op.operands().into_iter().map(|operand| operand.0).collect();
            let kif = node.interval.kif();
            (node.op.name().to_owned(), operands, kif.signed, kif.int, kif.frac)
        };
        let outputs = model.outputs().iter().map(|output| output.source.map(|value| value.0)).collect();
        Some((model.nodes().iter().map(node).collect(), outputs))
    }

    /// Returns the HDL source in a language, and warnings as JSON.
    fn emit(&self, py: Python<'_>, language_name: &str, options: &Bound<'_, PyDict>) -> PyResult<(String, String)> {
        let (language, held, keywords) = (language(language_name)?, Arc::clone(&self.held), keywords(options)?);
        interruptible(py, move || {
            let hardware = hardware(&held, "Model.emit", &keywords)?;
            let text = hardware.proved_text(language, &|_| {}).map_err(compile_error)?;
            let warnings = cli::hardware_warnings(&held, &hardware_options(&keywords)?, &hardware);
            Ok((text, json(&warnings)?))
        })
    }

    /// Returns the HDL source, and a description of the hardware as JSON.
    fn compile(&self, py: Python<'_>, language_name: &str, options: &Bound<'_, PyDict>) -> PyResult<(String, String)> {
        let (language, held, keywords) = (language(language_name)?, Arc::clone(&self.held), keywords(options)?);
        interruptible(py, move || {
            let hardware = hardware(&held, "Model.compile", &keywords)?;
            let text = hardware.proved_text(language, &|_| {}).map_err(compile_error)?;
            Ok((text, facts(&held, &hardware_options(&keywords)?, &hardware)))
        })
    }

    /// Returns the description of the interface as JSON.
    fn interface(&self, py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<String> {
        let (held, keywords) = (Arc::clone(&self.held), keywords(options)?);
        interruptible(py, move || Ok(held.interface(&hardware(&held, "Model.interface", &keywords)?)))
    }

    /// Returns a description of the design, and warnings, both as JSON.
    fn info(&self, py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<(String, String)> {
        let mut description = DescriptionOptions::default();
        set_all(&keywords(options)?, with_hardware(DescriptionOptions::NAMES), |name, value| {
            description.set(name, value)
        })?;
        let held = Arc::clone(&self.held);
        interruptible(py, move || {
            let (facts, warnings) = held.info(&description).map_err(failed)?;
            Ok((facts, json(&warnings)?))
        })
    }

    /// Returns properties of the design, as JSON.
    fn check(&self) -> String {
        self.held.check()
    }

    /// Returns the results of all simulators, as JSON; `None` if none is installed. `progress` is called with the
    /// number of finished simulations and the number of all.
    fn verify(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyDict>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Option<String>> {
        let (mut simulation, mut options_of_hardware) = (SimulationOptions::default(), HardwareOptions::default());
        set_all(&keywords(options)?, with_hardware(SimulationOptions::NAMES), |name, value| {
            or_next(simulation.set(name, value), || options_of_hardware.set(name, value))
        })?;
        let held = Arc::clone(&self.held);
        let standing = Arc::new(Mutex::new((0, 0)));
        let written = Arc::clone(&standing);
        let read = |standing: &Mutex<(usize, usize)>| *standing.lock().unwrap_or_else(PoisonError::into_inner);
        let watch = |py: Python<'_>| match (&progress, read(&standing)) {
            (Some(progress), (ended, all)) if all > 0 => progress.call1(py, (ended, all)).map(|_| ()),
            _ => Ok(()),
        };
        let report = watched(py, &watch, move || {
            let ended = |ended, all| *written.lock().unwrap_or_else(PoisonError::into_inner) = (ended, all);
            match held.verify(&simulation, &options_of_hardware, &ended) {
                Ok(found) => Ok(Some(found.json().to_string())),
                Err(failure) if failure.status == ExitStatus::MissingTool => Ok(None),
                Err(failure) => Err(failed(failure)),
            }
        })?;
        // Report the simulations that have ended since the last call.
        watch(py)?;
        Ok(report)
    }

    /// Writes a project folder.
    fn project(&self, py: Python<'_>, output: PathBuf, options: &Bound<'_, PyDict>) -> PyResult<()> {
        let keywords = keywords(options)?;
        let mut project = ProjectOptions { output, ..ProjectOptions::default() };
        set_all(&keywords, with_hardware(ProjectOptions::NAMES), |name, value| project.set(name, value))?;
        let (held, command) = (Arc::clone(&self.held), command("Model.project", &keywords));
        interruptible(py, move || held.project(command, &project).map_err(failed))
    }

    /// Writes an HTML viewer of the design.
    fn view(&self, py: Python<'_>, output: PathBuf, options: &Bound<'_, PyDict>) -> PyResult<()> {
        let mut page = PageOptions { output: Some(output), ..PageOptions::default() };
        let mut options_of_hardware = HardwareOptions::default();
        set_all(&keywords(options)?, with_hardware(PageOptions::NAMES), |name, value| {
            or_next(page.set(name, value), || options_of_hardware.set(name, value))
        })?;
        let held = Arc::clone(&self.held);
        interruptible(py, move || held.view(&page, &options_of_hardware).map_err(failed))
    }

    /// Proves RTL equal to the design, like `alir2hdl prove`, and returns the report as JSON. `certificate` is the
    /// folder for a certificate.
    fn prove(
        &self,
        py: Python<'_>,
        source: String,
        language_name: &str,
        certificate: Option<PathBuf>,
        options: &Bound<'_, PyDict>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let (language, held) = (language(language_name)?, Arc::clone(&self.held));
        let mut proof = ProofOptions::default();
        // Arguments that exist in Python only are candidates for the nearest name, too.
        let known = ProofOptions::NAMES.iter().copied().chain(["certificate", "progress"]);
        set_all(&keywords(options)?, known, |name, value| proof.set(name, value))?;
        let own = self.bytes.clone();
        let counter = Arc::new(ProgressCounter::default());
        let written = Arc::clone(&counter);
        // `progress` is called with the number of proved outputs and the number of all.
        let watch = |py: Python<'_>| match &progress {
            Some(progress) => {
                let standing = counter.read();
                progress.call1(py, (standing.proved, standing.outputs)).map(|_| ())
            }
            None => Ok(()),
        };
        watched(py, &watch, move || {
            let content = if own.is_empty() { held.to_alir().map_err(refused)? } else { own };
            let report = held.prove((&source, language), &content, &proof, certificate.as_deref(), Some(written));
            let report = report.map_err(failed)?;
            serde_json::to_string(&report).map_err(|e| PyRuntimeError::new_err(e.to_string()))
        })
    }
}

impl Native {
    /// Implements `run_machine` for converted numbers.
    #[allow(clippy::type_complexity, reason = "rows for Python")]
    fn run_machine_on(
        &self,
        py: Python<'_>,
        numbers: Numbers<'_>,
        out: Option<&Bound<'_, PyAny>>,
        rows: usize,
        request: &MachineRunRequest,
    ) -> PyResult<(Option<Vec<Py<PyBytes>>>, Vec<(String, Vec<Py<PyBytes>>)>)> {
        let Some(machine) = self.held.machine() else {
            return Err(PyValueError::new_err("a program has no state"));
        };
        let (_, n_out, _) = self.shape();
        let run = |results: Results<'_>| {
            let state = Mutex::new(Vec::new());
            in_place(py, (Some(1), false), |run| {
                let found = machine_run::run(machine, numbers, results, request, run.stop)?;
                *state.lock().unwrap_or_else(PoisonError::into_inner) = found;
                Ok(())
            })?;
            let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
            Ok::<_, PyErr>(state.into_iter().map(|(name, codes)| (name, signed_bytes(py, &codes))).collect())
        };
        let contiguous = |_| PyValueError::new_err("out is not contiguous");
        let Some(out) = out else {
            let mut wide = vec![BigInt::ZERO; rows * n_out];
            let state = run(Results::Wide(&mut wide))?;
            return Ok((Some(signed_bytes(py, &wide)), state));
        };
        let array = out.cast::<PyArrayDyn<f64>>()?;
        let state = run(Results::Reals(array.try_readwrite().map_err(busy)?.as_slice_mut().map_err(contiguous)?))?;
        Ok((None, state))
    }

    /// Implements `predict` for converted numbers; `settings` are the number of threads, and `true` to round results.
    fn predict_on(
        &self,
        py: Python<'_>,
        numbers: Numbers<'_>,
        out: Option<&Bound<'_, PyAny>>,
        rows: usize,
        settings: (Option<usize>, bool),
    ) -> PyResult<Option<Vec<Py<PyBytes>>>> {
        let (_, n_out, _) = self.shape();
        let run = |results: Results<'_>| in_place(py, settings, |run| self.held.predict(rows, numbers, results, run));
        let Some(out) = out else {
            let mut wide = vec![BigInt::ZERO; rows * n_out];
            run(Results::Wide(&mut wide))?;
            return Ok(Some(signed_bytes(py, &wide)));
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

/// Runs the command line program and returns its exit code; `words` are the name of the program and its arguments.
#[pyfunction]
fn program(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| cli::main_with(words))
}

/// Chooses types for the network in a file and returns them as JSON.
#[pyfunction]
fn calibrate(
    py: Python<'_>,
    network: PathBuf,
    reading: &Bound<'_, PyDict>,
    samples: Vec<SampleFile>,
    options: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let mut calibration = CalibrationOptions::default();
    let known = CalibrationOptions::NAMES.iter().chain(ReadingOptions::NAMES).copied();
    let mut reading_of_keywords = reading_options(reading)?;
    set_all(&keywords(options)?, known, |name, value| {
        or_next(calibration.set(name, value), || reading_of_keywords.set(name, value))
    })?;
    interruptible(py, move || {
        cli::calibrate_network(&network, reading_of_keywords, &samples, &calibration).map_err(failed)
    })
}

/// Writes the workflow of a design-space exploration, and runs it if the options request it.
#[pyfunction]
fn explore(
    py: Python<'_>,
    models: Vec<PathBuf>,
    output: PathBuf,
    shared: Vec<String>,
    options: &Bound<'_, PyDict>,
) -> PyResult<()> {
    let (mut exploration, mut reading) = (ExplorationOptions::default(), ReadingOptions::default());
    let known = ExplorationOptions::NAMES.iter().chain(ReadingOptions::NAMES).copied();
    set_all(&keywords(options)?, known, |name, value| {
        or_next(exploration.set(name, value), || reading.set(name, value))
    })?;
    interruptible(py, move || cli::explore(&models, &reading, &output, &exploration, &shared).map_err(failed))
}

/// Returns the figures of FPGA tool reports in folders, and warnings, both as JSON.
#[pyfunction]
fn report(py: Python<'_>, folders: Vec<PathBuf>) -> PyResult<(String, String)> {
    interruptible(py, move || {
        let (rows, warnings) = cli::read_reports(&folders).map_err(failed)?;
        Ok((alir2hdl::report::json(&rows), json(&warnings)?))
    })
}

/// Formats a delay like the command line: four digits, rounded up if the unit is nanoseconds.
#[pyfunction]
fn delay_digits(delay: f64, unit: &str) -> String {
    alir2hdl::diag::delay_digits(delay, unit)
}

/// Returns the kind of a file: `design`, `graph`, `onnx` or `matrix`.
#[pyfunction]
fn file_kind(content: &[u8], path: PathBuf) -> &'static str {
    cli::file_kind(content, &path)
}

#[pymodule]
fn _alir2hdl(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("SYNONYMS", SYNONYMS.map(|(name, second)| (second, name)).into_iter().collect::<BTreeMap<_, _>>())?;
    module.add_function(wrap_pyfunction!(calibrate, module)?)?;
    module.add_function(wrap_pyfunction!(delay_digits, module)?)?;
    module.add_function(wrap_pyfunction!(explore, module)?)?;
    module.add_function(wrap_pyfunction!(file_kind, module)?)?;
    module.add_function(wrap_pyfunction!(program, module)?)?;
    module.add_function(wrap_pyfunction!(report, module)?)?;
    module.add_class::<Native>()
}
