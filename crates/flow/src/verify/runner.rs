//! Parallel simulations: the simulators, their results, and the report.
//!
//! Nothing is printed here; [`Verification`] renders itself as text and as JSON, for the command line and Python.

use super::Bench;
use super::compare::{Difference, Mismatch};
use super::cycles::Cycles;
use super::foreign::Foreign;
use super::own::ExpectedMismatches;
use super::run::{BenchCheck, Check, Finding, Origin};
use super::sim::{Deadline, SIMULATORS, SimError, Simulator, Tools};
use super::stream::Streams;
use crate::compile::{Error, ErrorKind, Hardware};
use alir_core::diag::{Diagnostic, Diagnostics, Place, Severity, counted, four_digits};
use alir_core::files::Scratch;
use alir_hw::emit::Language;
use alir_hw::netlist::Interface;
use num_bigint::BigInt;
use serde_json::{Value, json};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A simulator that takes part in a verification.
pub struct Part {
    /// The simulator.
    pub simulator: &'static dyn Simulator,
    /// Version that the simulator reports.
    pub version: String,
    /// Language of the RTL that it simulates.
    pub language: Language,
}

/// Returns the simulators with these names (all if `names` is empty) and languages, and notes about missing simulators.
///
/// # Errors
/// If a requested simulator is missing, or no simulator supports a requested language; if no folder for temporary files
/// is available.
pub fn parts(languages: &[Language], names: &[&str], tools: &Tools) -> Result<(Vec<Part>, Diagnostics), Error> {
    let mut parts: Vec<Part> = Vec::new();
    let mut absent: Vec<(Language, Diagnostic)> = Vec::new();
    for simulator in SIMULATORS.iter().copied().filter(|s| names.is_empty() || names.contains(&s.name())) {
        for language in simulator.languages().iter().filter(|l| languages.contains(l)) {
            match simulator.probe(tools) {
                Ok(version) => parts.push(Part { simulator, version, language: *language }),
                Err(SimError::Io(error)) => return Err(not_written(&std::env::temp_dir(), TEMPORARY, &error)),
                Err(error) => absent.push((*language, error.diagnostic(simulator))),
            }
        }
    }
    if parts.is_empty() && absent.is_empty() {
        let asked: Vec<String> = languages.iter().map(|language| language.name().to_owned()).collect();
        let message = format!("{} does not read {}", names.join(", "), asked.join(", "));
        let error = Diagnostic::error("E1006", Place::Flag("--sim".into()), message);
        return Err(error.with_help("verilator and iverilog read Verilog and SystemVerilog, ghdl reads VHDL").into());
    }
    let silent = |l: &Language| parts.iter().all(|p| p.language != *l);
    let needed = absent.iter().any(|(language, _)| !names.is_empty() || silent(language));
    let mut said = Diagnostics(absent.into_iter().map(|(_, d)| d).collect());
    if needed {
        return Err(Error { kind: ErrorKind::MissingTool, diagnostics: said });
    }
    said.0.iter_mut().for_each(|d| d.severity = Severity::Note);
    Ok((parts, said))
}

/// Settings of simulations.
#[derive(Clone, Copy, Debug)]
pub struct SimulationSettings<'a> {
    /// VHDL revision for GHDL: `93` or `08`.
    pub vhdl_standard: &'a str,
    /// Folder in which RTL, testbench, vectors and logs are kept; `None`: they are deleted.
    pub keep: Option<&'a Path>,
    /// `true` if a value change dump of the whole run is written.
    pub vcd: bool,
    /// Time limit in seconds.
    pub timeout: u64,
}

/// Function that returns the real number of a raw integer value of an output element.
pub type Real = dyn Fn(usize, &BigInt) -> f64 + Sync;

/// Subject of a simulation: hardware, stimulus and expected outputs.
pub struct Work<'a> {
    /// Generated hardware; for third-party hardware, its ports are the required ones.
    pub hardware: &'a Hardware<'a>,
    /// Stimulus and expected outputs in each cycle.
    pub cycles: &'a Cycles,
    /// Streams of the wrapper; if present, they are simulated instead of `cycles`.
    pub streams: Option<&'a Streams<'a>>,
    /// Third-party hardware, which is simulated instead of the generated hardware.
    pub foreign: Option<&'a Foreign>,
    /// Differences between the expected values and the model.
    pub dissents: ExpectedMismatches,
    /// Function for the real numbers of outputs; `None` if only raw integer values are shown.
    pub real: Option<&'a Real>,
}

/// Result of a simulation, and its duration.
struct Outcome {
    result: Result<Finding, SimError>,
    seconds: f32,
    /// Description of the differences, for people.
    described: String,
    /// Folder of the job.
    folder: PathBuf,
}

impl Outcome {
    /// Returns the result as a line for people; `None` if there is an error instead.
    fn line(&self, part: &Part, about: &str) -> Option<String> {
        let finding = self.result.as_ref().ok()?;
        let name = format!("{:<10} {:<8}", part.simulator.name(), part.language.name());
        Some(match finding.report.wrong_rows {
            0 => {
                let seconds = four_digits(f64::from(self.seconds));
                format!("{name} equal: {about}, {seconds} s, {}\n", part.version)
            }
            _ => format!("{name} DIFFERENT: {}\n", self.described),
        })
    }
}

/// Event of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The simulation of the part with this index begins, in this folder.
    Begun(usize, &'a Path),
    /// The simulation of the part with this index has ended, with a result line for people; `None` if it has an error,
    /// which is in [`Verification::errors`].
    Ended(usize, Option<&'a str>),
}

/// Runs all simulations in parallel; `watch` receives an event when each begins and, on this thread, when it ends.
///
/// # Errors
/// If the folders of the jobs cannot be created.
pub fn simulate(
    parts: Vec<Part>,
    settings: &SimulationSettings<'_>,
    tools: &Tools,
    work: Work<'_>,
    watch: &(dyn Fn(Event<'_>) + Sync),
) -> Result<Verification, Error> {
    if work.dissents.impossible > 0 {
        return Ok(Verification::new(parts, Vec::new(), work));
    }
    let temporary = Scratch::new().map_err(|e| not_written(&std::env::temp_dir(), TEMPORARY, &e))?;
    let base = settings.keep.unwrap_or(temporary.path());
    let _in_use = settings.keep.map(lock).transpose()?;
    let mut folders: Vec<PathBuf> = Vec::new();
    for part in &parts {
        let folder = base.join(part.simulator.name());
        make_empty(&folder)?;
        folders.push(folder);
    }
    let deadline = Deadline::after(Duration::from_secs(settings.timeout));
    let one = |at: usize, part: &Part, folder: &Path| {
        watch(Event::Begun(at, folder));
        let start = Instant::now();
        let result = work.run(part, settings, tools, folder, deadline);
        let described = result.as_ref().map_or_else(|_| String::new(), |finding| work.described(finding));
        Outcome { result, seconds: start.elapsed().as_secs_f32(), described, folder: folder.to_owned() }
    };
    let about = work.about();
    let (ended, finished) = mpsc::channel();
    let outcomes = std::thread::scope(|scope| {
        let (one, ended) = (&one, ended);
        let jobs = parts.iter().zip(&folders).enumerate().map(|(at, (part, folder))| {
            let (ended, about) = (ended.clone(), about.as_str());
            scope.spawn(move || {
                let outcome = one(at, part, folder);
                // The receiver lives as long as this scope.
                let _ = ended.send((at, outcome.line(part, about)));
                outcome
            })
        });
        let jobs: Vec<_> = jobs.collect();
        drop(ended);
        for (at, line) in finished {
            watch(Event::Ended(at, line.as_deref()));
        }
        jobs.into_iter().map(|j| j.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    Ok(Verification::new(parts, outcomes, work))
}

/// Purpose of the folder of `TMPDIR`, for error messages.
const TEMPORARY: &str = "use as the folder of temporary files (TMPDIR names another one)";

/// Locks the folder of `--keep` as long as the result lives; creates the folder if it does not exist.
///
/// # Errors
/// If the folder cannot be used, or another run uses it.
fn lock(folder: &Path) -> Result<File, Error> {
    let failed = |e: &io::Error| not_written(folder, "use as the folder of simulations", e);
    std::fs::create_dir_all(folder).map_err(|e| failed(&e))?;
    let handle = File::open(folder).map_err(|e| failed(&e))?;
    if let Err(TryLockError::WouldBlock) = handle.try_lock() {
        let error = Diagnostic::error("E1007", Place::Whole, "another run is using the folder").in_file(folder);
        return Err(error.with_help("name another one with --keep, or wait for the end of that run").into());
    }
    // A file system without locks has no protection against a second run.
    Ok(handle)
}

/// Returns the error that a file or folder cannot be read or written.
fn not_written(path: &Path, doing: &str, error: &io::Error) -> Error {
    Diagnostic::error("E0001", Place::Whole, format!("cannot {doing}: {error}")).in_file(path).into()
}

/// Creates an empty folder for a job. Files that an earlier run kept there are deleted; other contents stay and are an
/// error.
fn make_empty(folder: &Path) -> Result<(), Error> {
    let failed = |e: &io::Error| not_written(folder, "use as the folder of a simulation", e);
    if folder.join("run.sh").is_file() {
        alir_core::files::remove_folder(folder).map_err(|e| failed(&e))?;
    }
    std::fs::create_dir_all(folder).map_err(|e| failed(&e))?;
    let is_empty = std::fs::read_dir(folder).map_err(|e| failed(&e))?.next().is_none();
    if !is_empty {
        let error = Diagnostic::error("E1007", Place::Whole, "the folder is not empty").in_file(folder);
        return Err(error.with_help("name another one with --keep, or empty it").into());
    }
    Ok(())
}

impl Work<'_> {
    fn run(
        &self,
        part: &Part,
        how: &SimulationSettings<'_>,
        tools: &Tools,
        folder: &Path,
        deadline: Deadline,
    ) -> Result<Finding, SimError> {
        let (language, vhdl_standard) = (part.language, how.vhdl_standard);
        let pulses = Bench { lanes: slice::from_ref(self.cycles), vcd: how.vcd };
        let bench = || self.streams.map_or(&pulses as &dyn super::Testbench, |streams| streams);
        if let Some(foreign) = self.foreign {
            let (design, beside) = foreign.files.split_at(foreign.sources);
            let check = BenchCheck { design, beside, language, vhdl_standard, bench: bench() };
            return check.run(part.simulator, tools, folder, deadline);
        }
        let text = self.hardware.text(language);
        // A difference in the streams or from the user's expected values has no first differing signal in the RTL.
        if self.streams.is_some() || !self.dissents.is_empty() {
            let file = format!("{}.{}", self.hardware.top(), language.extension());
            let design = [(file, text.into_bytes())];
            let check = BenchCheck { design: &design, beside: &[], language, vhdl_standard, bench: bench() };
            return check.run(part.simulator, tools, folder, deadline);
        }
        let (netlist, cycles) = (&self.hardware.netlist, self.cycles);
        let check = Check { netlist, text: &text, language, vhdl_standard, cycles, vcd: how.vcd };
        check.run(part.simulator, tools, folder, deadline)
    }

    fn described(&self, finding: &Finding) -> String {
        let report = &finding.report;
        let compared = if self.streams.is_some() { "compared sample" } else { "compared cycle" };
        let mut text = format!("{}, {}", counted(report.wrong_rows, "difference"), counted(report.compared, compared));
        for mismatch in report.mismatches.iter().take(SHOWN) {
            text.push_str(&format!("\n  {mismatch}"));
            if let (Some(real), Difference::Output { element, expected, found, .. }) = (self.real, &mismatch.what) {
                let found = found.as_ref().map_or_else(String::new, |code| format!(", found {}", real(*element, code)));
                text.push_str(&format!(" (as numbers: expected {}{found})", real(*element, expected)));
            }
        }
        if report.wrong_rows > 1 && report.mismatches.len() > SHOWN {
            text.push_str("\n  ...");
        }
        match &finding.origin {
            Some(Origin::Text(signal)) => {
                text.push_str(&format!("\n  begins at cycle {}: {signal}", signal.cycle));
            }
            Some(Origin::Netlist) => {
                text.push_str(
                    "\n  every signal is as alir2hdl meant it: the difference is older than the text; try -O0",
                );
            }
            None => {}
        }
        text
    }

    /// Returns a description of the comparison, for people.
    fn about(&self) -> String {
        match self.streams {
            Some(streams) => {
                let (inputs, outputs) = (streams.inputs.len(), streams.outputs.len());
                let samples = counted(self.cycles.samples, "sample");
                format!("{samples} in {}, out in {outputs}", counted(inputs, "beat"))
            }
            None => {
                let samples = counted(self.cycles.samples, "sample");
                format!("{samples} in {}", counted(self.cycles.cycles.len(), "cycle"))
            }
        }
    }
}

/// Combined result of all simulations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcomes {
    /// Every simulation found the hardware equal.
    Equal,
    /// A simulation found a difference.
    Different,
    /// A tool is missing.
    MissingTool,
    /// The folder of a simulation cannot be used.
    Unwritable,
    /// A simulator rejects the user's files.
    Refused,
    /// A simulator rejects generated RTL: an internal error.
    Bug,
    /// A simulation took too long or crashed.
    Undecided,
}

/// Result of a verification.
pub struct Verification {
    parts: Vec<Part>,
    /// Result of each simulation; empty if the expected values already differ from those of the model.
    outcomes: Vec<Outcome>,
    samples: usize,
    /// Number of cycles; `None` for a wrapper.
    cycles: Option<usize>,
    /// Numbers of input and output beats of a wrapper.
    beats: Option<(usize, usize)>,
    /// `true` if the hardware is third-party.
    is_foreign: bool,
    /// Interface of the generated or third-party hardware.
    interface: Interface,
    dissents: ExpectedMismatches,
    /// Notes about the user's files.
    notes: Diagnostics,
}

impl Verification {
    fn new(parts: Vec<Part>, outcomes: Vec<Outcome>, work: Work<'_>) -> Verification {
        Verification {
            interface: work.hardware.netlist.interface.clone(),
            parts,
            outcomes,
            samples: work.cycles.samples,
            cycles: work.streams.is_none().then_some(work.cycles.cycles.len()),
            beats: work.streams.map(|streams| (streams.inputs.len(), streams.outputs.len())),
            is_foreign: work.foreign.is_some(),
            dissents: work.dissents,
            notes: Diagnostics::default(),
        }
    }

    /// Returns the verification with these notes about the user's files.
    #[must_use]
    pub(super) fn with_notes(self, notes: Diagnostics) -> Verification {
        Verification { notes, ..self }
    }

    /// Returns the notes about the user's files.
    pub fn notes(&self) -> &Diagnostics {
        &self.notes
    }

    /// Returns the interface of the hardware.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// Returns the combined result: a difference has priority, then the last simulation without a result.
    pub fn verdict(&self) -> Outcomes {
        let mut verdict = if self.dissents.impossible > 0 { Outcomes::Different } else { Outcomes::Equal };
        for outcome in &self.outcomes {
            let next = match &outcome.result {
                Ok(finding) if finding.report.wrong_rows == 0 => continue,
                Ok(_) => Outcomes::Different,
                Err(SimError::Missing { .. }) => Outcomes::MissingTool,
                Err(SimError::Io(_)) => Outcomes::Unwritable,
                Err(SimError::Refused { .. }) if self.is_foreign => Outcomes::Refused,
                Err(SimError::Refused { .. }) => Outcomes::Bug,
                Err(SimError::Timeout { .. } | SimError::Crashed { .. }) => Outcomes::Undecided,
            };
            verdict = if verdict == Outcomes::Different { verdict } else { next };
        }
        verdict
    }

    /// Returns the errors of simulations without a result.
    pub fn errors(&self) -> Diagnostics {
        let mut errors = Diagnostics::default();
        for (part, outcome) in self.parts.iter().zip(&self.outcomes) {
            let Err(error) = &outcome.result else { continue };
            let mut diagnostic = error.diagnostic(part.simulator);
            if let SimError::Io(_) = error {
                diagnostic = diagnostic.in_file(&outcome.folder);
            }
            if let SimError::Refused { command, log } = error {
                match self.is_foreign {
                    true => {
                        let message = format!("{}: `{command}` refuses the files of --rtl:", part.simulator.name());
                        diagnostic = Diagnostic::error("E1010", Place::Flag("--rtl".into()), message)
                            .with_detail(log.as_str())
                            .with_help("mend them, or give all files that belong to them, in the order of compilation");
                    }
                    false => diagnostic.severity = Severity::Bug,
                }
            }
            errors.0.push(diagnostic);
        }
        errors
    }

    /// Returns the expected values that differ from the model's values, as lines for people.
    pub fn dissents(&self) -> String {
        let mut text = String::new();
        let dissents = &self.dissents;
        if dissents.impossible > 0 {
            text.push_str("DIFFERENT, nothing was simulated: no hardware can show ");
            text.push_str(&format!("{} of the expected values\n", dissents.impossible));
        }
        if !dissents.is_empty() {
            text.push_str(&format!("{}:\n{}", dissents.title(), dissents.lines()));
        }
        text
    }

    /// Returns the result as JSON, without durations, which differ from run to run.
    pub fn json(&self) -> Value {
        let mismatch = |m: &Mismatch| match &m.what {
            Difference::Stream(what) => json!({ "cycle": m.cycle, "stream": what }),
            Difference::Valid { expected } => json!({ "cycle": m.cycle, "port": "valid", "expected": expected }),
            Difference::Output { element, name, sample, expected, found } => json!({
                "cycle": m.cycle,
                "sample": sample,
                "element": element,
                "name": name,
                // Raw integer values of any width are strings, so that no JSON parser rounds them.
                "expected": expected.to_string(),
                "found": found.as_ref().map(ToString::to_string),
            }),
        };
        let origin = |origin: &Origin| match origin {
            Origin::Text(signal) => json!({ "cycle": signal.cycle, "signal": signal.to_string() }),
            Origin::Netlist => json!({ "signal": null }),
        };
        let outcome = |(part, outcome): (&Part, &Outcome)| {
            let (result, finding) = match &outcome.result {
                Ok(finding) if finding.report.wrong_rows == 0 => ("equal", Some(finding)),
                Ok(finding) => ("different", Some(finding)),
                Err(SimError::Timeout { .. }) => ("timeout", None),
                Err(_) => ("failed", None),
            };
            json!({
                "simulator": part.simulator.name(),
                "version": part.version,
                "language": part.language.name(),
                "result": result,
                "compared_cycles": finding.map(|f| f.report.compared),
                "different_cycles": finding.map(|f| f.report.wrong_rows),
                "mismatches": finding.map(|f| f.report.mismatches.iter().map(mismatch).collect::<Vec<_>>()),
                "origin": finding.and_then(|f| f.origin.as_ref()).map(origin),
                "error": outcome.result.as_ref().err().map(ToString::to_string),
            })
        };
        json!({
            "samples": self.samples,
            "cycles": self.cycles,
            "beats": self.beats.map(|(inputs, outputs)| json!({ "in": inputs, "out": outputs })),
            "simulations": self.parts.iter().zip(&self.outcomes).map(outcome).collect::<Vec<_>>(),
        })
    }
}

/// Maximum number of differences that are shown.
const SHOWN: usize = 5;
