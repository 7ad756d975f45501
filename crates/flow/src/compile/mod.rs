//! Flow from a design to hardware: [`model`] and [`machine`] build [`Hardware`] according to a [`Spec`], and RTL is
//! rendered from the [`Hardware`].
//!
//! ```text
//! Model ─ optimise ─► Optimised ─ schedule ─► Scheduled ─ lower, wrap ─► Hardware ─ text
//! Machine ─ optimise, retime ─► OptimisedMachine ───────── lower ───────────┘
//! ```
//!
//! The command line, Python, `verify`, `project` and `view` share this flow. It writes no file, prints nothing and has
//! no state; the same design and [`Spec`] give the same bytes. Independent checkers validate each schedule and each
//! netlist; with [`Spec::prove`] each optimisation, the netlist and each RTL file are also proved.
//!
//! | file | contents |
//! |---|---|
//! | `spec` | the options as plain data, and conflicts between options |
//! | `policy` | resolution of the options for scheduler, device and netlist |
//! | `program` | programs: optimisation, scheduling, lowering |
//! | `reuse` | time-multiplexed hardware, with an initiation interval above 1 |
//! | `machine` | state machines: optimisation, retiming, lowering, description |
//! | `source` | front ends: the source that a program was lowered from |
//! | `proof` | [`Spec::prove`] |
//! | `steps` | intermediate programs between a model and its RTL, as hints for the prover |

mod machine;
mod policy;
mod program;
mod proof;
mod reuse;
mod source;
mod spec;
mod steps;

pub use machine::{OptimisedMachine, intermediate_machines, schedule_facts};
pub use program::{ASSUMPTION, Optimised, Scheduled, optimise};
pub use proof::{ProvedPasses, append_lowering_proof, input_timing, prove_lowering};
pub use reuse::{SharedHardware, SharingPlan};
pub use source::{NetworkSource, Source, Theorem};
pub(crate) use spec::NOT_WITH_WRAPPER;
pub use spec::{
    Arrival, Budget, Clock, DelayModel, Engine, LookupTables, ModuleSpec, Optimisation, Passes, Pipeline, Products,
    Provenance, Retime, Spec, Stages, Target, Text, Top,
};

pub use steps::{SignalOrigin, Witness, command_in_head, is_bit_serial, recover_passes, spec_from_header};

use alir_core::diag::{Diagnostic, Diagnostics, Place, Severity};
use alir_core::ir::Model;
use alir_core::ir::machine::Machine;
use alir_hw::device::Estimate;
use alir_hw::emit::axis::Axis;
use alir_hw::emit::{self, Hierarchy, Language, Sidecar, StageDelays, assertions};
use alir_hw::netlist::Netlist;
use proof::Chain;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Reason that compilation or simulation failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Category of the error.
    pub kind: ErrorKind,
    /// The diagnostics.
    pub diagnostics: Diagnostics,
}

/// Category of an error: what has to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request has to change: the design, the [`Spec`] or, for a simulation, the samples.
    Request,
    /// A required simulator is missing. Only simulations have this error.
    MissingTool,
    /// Internal error: a checker rejects a result of this program, or a proof failed.
    Bug,
    /// A proof reached its limits; neither the request nor this program is wrong.
    Undecided,
}

impl Error {
    /// Returns the error of a request that cannot be fulfilled.
    pub fn request(diagnostics: impl Into<Diagnostics>) -> Error {
        Error { kind: ErrorKind::Request, diagnostics: diagnostics.into() }
    }
}

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Error {
        Error::request(diagnostic)
    }
}

impl From<Diagnostics> for Error {
    fn from(diagnostics: Diagnostics) -> Error {
        Error::request(diagnostics)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diagnostics.fmt(f)
    }
}

impl std::error::Error for Error {}

/// Returns the error of a failed check, which is an internal error.
fn bug(found: impl Into<Diagnostics>) -> Error {
    let mut diagnostics = found.into();
    diagnostics.0.iter_mut().for_each(|d| d.severity = Severity::Bug);
    Error { kind: ErrorKind::Bug, diagnostics }
}

/// Callback that receives one line for each step of a proof.
pub type Listener<'a> = &'a dyn Fn(&str);

/// Compiles a program to hardware.
///
/// # Errors
/// If options contradict one another or cannot be fulfilled; if a check or a proof fails, which is an internal error;
/// if a proof reached its limits.
pub fn model<'d>(model: &'d Model, spec: &Spec) -> Result<Hardware<'d>, Error> {
    compile_with_progress(model, spec, &|_| {})
}

/// Like [`model`]; reports each step of a proof to `listener`.
///
/// # Errors
/// As [`model`].
pub fn compile_with_progress<'d>(model: &'d Model, spec: &Spec, listener: Listener<'_>) -> Result<Hardware<'d>, Error> {
    compile_with_proof_cache(&mut ProvedPasses::new(model), spec, listener)
}

/// Like [`compile_with_progress`] for the program of `proved`, without repeating the proofs in `proved`.
///
/// # Errors
/// As [`model`].
pub fn compile_with_proof_cache<'d>(
    proved: &mut ProvedPasses<'d>,
    spec: &Spec,
    listener: Listener<'_>,
) -> Result<Hardware<'d>, Error> {
    let model = proved.model();
    let problems = spec.problems();
    if !problems.is_empty() {
        return Err(Error::request(Diagnostics(problems)));
    }
    if let Some(budget) = spec.pipeline.budget {
        let mut spec = spec.clone();
        spec.pipeline.interval =
            Some(SharedHardware::smallest_interval_within(model, &Spec { prove: false, ..spec.clone() }, budget)?);
        spec.pipeline.budget = None;
        return compile_with_proof_cache(proved, &spec, listener);
    }
    let mut seconds = Seconds::default();
    if let Some(interval) = spec.interval() {
        if let Some(reused) = seconds.take(Phase::Schedule, || SharedHardware::new(model, spec, interval))? {
            return Hardware::new(Arc::new(Origin::SharedHardware(Box::new(reused))), spec, &spec.top(), seconds);
        }
        // Constant outputs need no clock and no time-multiplexed hardware.
        let mut spec = spec.clone();
        spec.pipeline.interval = None;
        return compile_with_proof_cache(proved, &spec, listener);
    }
    // An optimisation that is not equivalent ends the compilation here, before scheduling.
    let names = seconds.take(Phase::Optimise, || program::pass_names(model, spec))?;
    let chain = if spec.prove { Some(proved.chain(spec, &names, listener)?) } else { None };
    let optimised = seconds.take(Phase::Optimise, || program::run_passes(model, spec, &names));
    let scheduled = Box::new(seconds.take(Phase::Schedule, || optimised.schedule(spec))?);
    let chain = chain.map(|chain| chain.extended(&scheduled, listener)).transpose()?;
    Hardware::new(Arc::new(Origin::Program { scheduled, chain }), spec, &spec.top(), seconds)
}

/// Compiles a program that was lowered from a source. With [`Spec::prove`], the program is first proved equal to the
/// source.
///
/// # Errors
/// As [`model`].
pub fn lowered<'d>(
    program: &'d Model,
    source: &dyn Source,
    spec: &Spec,
    listener: Listener<'_>,
) -> Result<Hardware<'d>, Error> {
    if spec.prove {
        proof::prove_source(program, source, listener)?;
    }
    compile_with_progress(program, spec, listener)
}

/// Compiles a state machine to hardware. The design determines ports, registers and stages; the [`Spec`] only
/// determines optimisation, estimate, names and RTL style.
///
/// # Errors
/// As [`model`].
pub fn machine<'d>(machine: &'d Machine, spec: &Spec) -> Result<Hardware<'d>, Error> {
    let mut seconds = Seconds::default();
    let retimed = seconds.take(Phase::Optimise, || OptimisedMachine::new(machine, spec))?;
    Hardware::new(Arc::new(Origin::Machine(retimed)), spec, &machine::top(spec), seconds)
}

/// Source of hardware, shared by copies of the hardware with other names.
#[derive(Debug)]
enum Origin<'d> {
    Program {
        scheduled: Box<Scheduled<'d>>,
        /// Proof of the optimisations.
        chain: Option<Chain>,
    },
    Machine(OptimisedMachine<'d>),
    SharedHardware(Box<SharedHardware<'d>>),
}

/// Phase of the flow whose duration is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Optimisation; for a state machine with retiming.
    Optimise,
    /// Placement of registers.
    Schedule,
    /// Lowering and wrapping.
    Lower,
}

/// Durations of the phases, for display; never part of a generated file.
#[derive(Clone, Debug, Default)]
struct Seconds(Vec<(Phase, Duration)>);

impl Seconds {
    fn take<T>(&mut self, step: Phase, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let done = work();
        match self.0.iter_mut().find(|(earlier, _)| *earlier == step) {
            Some((_, duration)) => *duration += start.elapsed(),
            None => self.0.push((step, start.elapsed())),
        }
        done
    }
}

/// Rejects a module hierarchy that does not exist in the hardware.
fn check_hierarchy(hierarchy: Hierarchy, netlist: &Netlist) -> Result<(), Diagnostic> {
    let (missing, help) = match hierarchy {
        Hierarchy::Layers | Hierarchy::Stages if netlist.interface.stateful => {
            ("a state machine has neither layers nor pipeline stages", "leave it out, or use --hierarchy flat")
        }
        Hierarchy::Layers if netlist.layer_names().is_empty() => (
            "nothing belongs to a layer: only networks and ALIRPipeline files have layers, without --ii",
            "leave it out, or use --hierarchy stages with --pipeline N",
        ),
        Hierarchy::Stages if !netlist.interface.has_stages() => {
            ("the hardware has no pipeline stages", "add some with --pipeline N, without --ii; or leave it out")
        }
        _ => return Ok(()),
    };
    Err(Diagnostic::error("E0801", Place::Flag("--hierarchy".into()), missing).with_help(help))
}

/// Generated hardware, from which RTL is rendered.
#[derive(Clone, Debug)]
pub struct Hardware<'d> {
    /// The pipeline or state machine; with a wrapper, its core.
    pub netlist: Netlist,
    /// The AXI4-Stream wrapper, if any.
    pub axis: Option<Axis>,
    spec: Spec,
    origin: Arc<Origin<'d>>,
    seconds: Seconds,
}

impl<'d> Hardware<'d> {
    fn new(origin: Arc<Origin<'d>>, spec: &Spec, top: &str, mut seconds: Seconds) -> Result<Hardware<'d>, Error> {
        let (netlist, axis) = seconds.take(Phase::Lower, || match &*origin {
            Origin::Program { scheduled, .. } => scheduled.lower(spec, top),
            Origin::Machine(retimed) => Ok((retimed.lower(spec, top)?, None)),
            Origin::SharedHardware(reused) => reused.lower(spec, top),
        })?;
        check_hierarchy(spec.text.hierarchy, &netlist).map_err(Error::request)?;
        let netlist = match &axis {
            Some(axis) => {
                let bits = netlist.register_bits();
                netlist.with_head(&[axis.description(bits)])
            }
            None => netlist,
        };
        let netlist = match &spec.provenance {
            Some(provenance) => netlist.with_head(&provenance.lines()),
            None => netlist,
        };
        let netlist = match &*origin {
            Origin::Program { scheduled, .. } if scheduled.outcome.schedule.stages > 0 => {
                let remarks = scheduled.stage_remarks(spec, &netlist);
                netlist.with_stage_remarks(remarks)
            }
            _ => netlist,
        };
        Ok(Hardware { netlist, axis, spec: spec.clone(), origin, seconds })
    }

    /// Returns the hardware with a name derived from a file name; the name becomes legal and distinct from every port.
    ///
    /// # Errors
    /// As [`model`].
    pub fn named_like(&self, stem: &str) -> Result<Hardware<'d>, Error> {
        let mut spec = self.spec.clone();
        spec.module.top = Top::Like(stem.to_owned());
        let top = match &*self.origin {
            Origin::Program { .. } | Origin::SharedHardware(_) => spec.top(),
            Origin::Machine(_) => machine::top(&spec),
        };
        Hardware::new(Arc::clone(&self.origin), &spec, &top, Seconds::default())
    }

    /// Returns the name of the top module.
    pub fn top(&self) -> &str {
        self.axis.as_ref().map_or(&self.netlist.interface.top, |axis| &axis.top)
    }

    /// Returns a note for each name that differs from the name in the source: the module's, and those of a state
    /// machine's ports.
    pub fn renamed(&self) -> Vec<Diagnostic> {
        let mut renamed: Vec<Diagnostic> = self.spec.renamed(self.top()).into_iter().collect();
        if let Origin::Machine(machine) = &*self.origin {
            renamed.extend(machine.renamed_ports(&self.netlist.interface));
        }
        renamed.sort_by(|a, b| a.message.cmp(&b.message));
        renamed
    }

    /// Returns the options of the compilation.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Returns the program with its schedule and the schedule's certificate; `None` for a state machine.
    pub fn scheduled(&self) -> Option<&Scheduled<'d>> {
        match &*self.origin {
            Origin::Program { scheduled, .. } => Some(scheduled),
            Origin::Machine(_) | Origin::SharedHardware(_) => None,
        }
    }

    /// Returns the program with the plan of its time-multiplexed hardware; `None` for other hardware.
    pub fn reused(&self) -> Option<&SharedHardware<'d>> {
        match &*self.origin {
            Origin::SharedHardware(reused) => Some(reused),
            Origin::Program { .. } | Origin::Machine(_) => None,
        }
    }

    /// Returns the state machine before and after retiming; `None` for a program.
    pub fn retimed(&self) -> Option<&OptimisedMachine<'d>> {
        match &*self.origin {
            Origin::Program { .. } | Origin::SharedHardware(_) => None,
            Origin::Machine(retimed) => Some(retimed),
        }
    }

    /// Returns the resource and timing estimate on the device. A wrapper adds its registers and the LUTs of its FIFO;
    /// the few levels of its control logic are not estimated.
    pub fn estimate(&self) -> Estimate {
        let mut estimate = self.spec.estimate(&self.netlist);
        if let Some(axis) = &self.axis {
            estimate.ff += axis.register_bits();
            estimate.lut += axis.memory_luts();
        }
        estimate
    }

    /// Returns the duration of each phase of the compilation.
    pub fn seconds(&self) -> &[(Phase, Duration)] {
        &self.seconds.0
    }

    /// Writes the RTL, followed by the RTL of the wrapper.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn write(&self, language: Language, out: &mut dyn io::Write) -> io::Result<()> {
        emit::write(&self.netlist, language, &self.spec.text_options(), out)?;
        if let Some(axis) = &self.axis {
            out.write_all(axis.text(language).as_bytes())?;
        }
        match &*self.origin {
            Origin::Program { scheduled, .. } if self.spec.text.assertions && language == Language::SystemVerilog => {
                let interface = &self.netlist.interface;
                let ranges = program::element_ranges(scheduled.source, interface);
                out.write_all(assertions::text(interface, self.axis.as_ref(), &ranges).as_bytes())
            }
            _ => Ok(()),
        }
    }

    /// Returns the RTL that [`Hardware::write`] writes.
    pub fn text(&self, language: Language) -> String {
        let mut bytes = Vec::new();
        self.write(language, &mut bytes).expect("memory does not refuse a write");
        String::from_utf8(bytes).expect("names and comments are text")
    }

    /// Returns the RTL. With [`Spec::prove`], the RTL is proved equal to the design that was passed in; with a wrapper,
    /// the proof covers the pipeline inside the wrapper.
    ///
    /// # Errors
    /// If the RTL differs, which is an internal error; if the proof reached its limits.
    pub fn proved_text(&self, language: Language, listener: Listener<'_>) -> Result<String, Error> {
        let text = self.text(language);
        match &*self.origin {
            Origin::Program { scheduled, chain: Some(chain) } => {
                chain.prove(scheduled.source, self, (language, &text), listener)?;
            }
            Origin::Machine(retimed) if self.spec.prove => {
                proof::prove_machine(retimed.source, (language, &text), listener)?;
            }
            Origin::SharedHardware(reused) if self.spec.prove => {
                proof::prove_reused(reused.source, self, (language, &text), listener)?;
            }
            // RTL is never returned as if it were proved.
            Origin::Program { chain: None, .. } if self.spec.prove => {
                return Err(proof::wrong("the design shall be proved, and its optimisations were not".into()));
            }
            Origin::Program { chain: None, .. } | Origin::Machine(_) | Origin::SharedHardware(_) => {}
        }
        Ok(text)
    }

    /// Returns the interface file of the module, for programs that use the module. `checksum` is the checksum of the
    /// design's file.
    pub fn sidecar(&self, languages: &[Language], checksum: String) -> Sidecar<'_> {
        let (delays, machine) = match &*self.origin {
            Origin::Program { scheduled, .. } => {
                let is_staged = scheduled.outcome.schedule.stages > 0;
                let delays = if is_staged { scheduled.stage_times(&self.spec, &self.netlist) } else { Vec::new() };
                (StageDelays { delays, unit: self.spec.unit(&scheduled.program).0 }, None)
            }
            Origin::Machine(retimed) => {
                (StageDelays { delays: Vec::new(), unit: "ns" }, Some(retimed.facts(&self.netlist)))
            }
            // All registers are read in every cycle: the hardware has one stage, and the estimate has its delay.
            Origin::SharedHardware(_) => {
                let period = self.spec.estimate(&self.netlist).period_ns;
                (StageDelays { delays: vec![period], unit: "ns" }, None)
            }
        };
        let reuse = self.reused().map(SharedHardware::facts);
        let sidecar = Sidecar::new(&self.netlist, languages, &delays, checksum).with_axis(self.axis.as_ref());
        sidecar.with_machine(machine).with_reuse(reuse)
    }

    /// Returns a summary of the hardware in one line.
    pub fn summary(&self) -> String {
        match &*self.origin {
            Origin::Program { scheduled, .. } => scheduled.summary(&self.spec, &self.netlist, self.axis.as_ref()),
            Origin::Machine(retimed) => retimed.summary(&self.netlist),
            Origin::SharedHardware(reused) => reused.summary(&self.netlist, self.axis.as_ref()),
        }
    }
}
