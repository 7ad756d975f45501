//! [`Spec::prove`]: proves the result equal to the input program before any caller receives it.
//!
//! The program after each optimisation is proved equal to the program before it. The netlist and each RTL file are
//! proved equal to the program as it was read. If every optimisation was proved, the optimised program serves as an
//! intermediate program.

use super::SharingPlan;
use super::source::{Source, Theorem};
use super::spec::Spec;
use super::steps;
use super::{Error, ErrorKind, Hardware, Listener, Scheduled};
use crate::prove::{self, Hints};
use alir_core::diag::{Diagnostic, Place, Severity};
use alir_core::ir::Model;
use alir_core::ir::machine::Machine;
use alir_hdl::{self, Rtl};
use alir_hw::emit::Language;
use alir_hw::netlist::{Element, Interface, PortNames, elaborated};
use alir_opt::passes::{self, Trust};
use alir_prove::engine::{Limits, WORK};
use alir_prove::equiv::{self, ControlNames, InputTiming, Report, Request, Verdict};
use alir_prove::sat::{Embedded, Solvers};
use alir_prove::steps::Steps;
use alir_prove::{machine, value_classes};

fn failure(kind: ErrorKind, severity: Severity, message: String) -> Error {
    let mut diagnostic = Diagnostic::error("E0906", Place::Flag("--prove".into()), message);
    diagnostic.severity = severity;
    Error { kind, diagnostics: diagnostic.into() }
}

pub(super) fn wrong(message: String) -> Error {
    failure(ErrorKind::Bug, Severity::Bug, message)
}

fn open(message: String) -> Error {
    failure(ErrorKind::Undecided, Severity::Error, message)
}

fn tell(listener: Listener<'_>, what: &str, verdict: &str) {
    listener(&format!("prove: {what}: {verdict}"));
}

fn matched(report: &Report) -> String {
    let all = report.operations_matched + report.operations_unmatched;
    format!("proved ({} of {all} named values matched)", report.operations_matched)
}

/// Proof state of the optimisations of a program.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    optimised: Model,
    /// The first optimisation whose proof is undecided, and the reason.
    open: Option<(&'static str, String)>,
}

/// Proofs of the optimisations of one program, by the names of the passes. Compilations of the same program that share
/// this value (the rows of a sweep) prove equal passes once.
#[derive(Debug)]
pub struct ProvedPasses<'m> {
    model: &'m Model,
    chains: Vec<(Vec<String>, Trust, Chain)>,
}

impl<'m> ProvedPasses<'m> {
    /// Returns a collection without proofs for `model`.
    pub fn new(model: &'m Model) -> ProvedPasses<'m> {
        ProvedPasses { model, chains: Vec::new() }
    }

    /// Returns the program.
    pub(super) fn model(&self) -> &'m Model {
        self.model
    }

    /// Returns the proof of the passes with these names; computes it if it is missing.
    pub(super) fn chain(&mut self, spec: &Spec, names: &[&str], listener: Listener<'_>) -> Result<Chain, Error> {
        let is_it = |(of, trust, _): &&(Vec<String>, Trust, Chain)| of == names && *trust == spec.trust();
        if let Some((_, _, chain)) = self.chains.iter().find(is_it) {
            return Ok(chain.clone());
        }
        let chain = Chain::new(self.model, spec, names, listener)?;
        self.chains.push((names.iter().map(|&name| name.to_owned()).collect(), spec.trust(), chain.clone()));
        Ok(chain)
    }
}

impl Chain {
    /// Proves the program after each optimisation equal to the program before it.
    ///
    /// # Errors
    /// `E0906` if a program differs, which is an internal error; if the optimisations assume input intervals.
    fn new(model: &Model, spec: &Spec, names: &[&str], listener: Listener<'_>) -> Result<Chain, Error> {
        spec.reject_input_ranges("--prove").map_err(Error::request)?;
        let mut undecided = None;
        let mut current = model.clone();
        for pass in names.iter().filter_map(|name| passes::find(name)) {
            let next = pass.apply(&current, spec.trust());
            if let Some(reason) = prove_pass(pass.name, &current, &next, listener)? {
                undecided.get_or_insert((pass.name, reason));
            }
            current = next;
        }
        Ok(Chain { optimised: current, open: undecided })
    }

    /// Adds the proof of the sums that were split for the schedule.
    ///
    /// # Errors
    /// As [`Chain::new`].
    pub(super) fn extended(mut self, scheduled: &Scheduled<'_>, listener: Listener<'_>) -> Result<Chain, Error> {
        let program = &*scheduled.program;
        if let Some(pass) = scheduled.passes.last().filter(|_| *program != self.optimised) {
            if let Some(reason) = prove_pass(pass.name, &self.optimised, program, listener)? {
                self.open.get_or_insert((pass.name, reason));
            }
            self.optimised = program.clone();
        }
        Ok(self)
    }

    /// Proves the netlist and the RTL equal to the program that was passed in, directly or by way of the optimised
    /// program.
    ///
    /// # Errors
    /// `E0906` if the netlist or the RTL differs, which is an internal error; an error if a proof is undecided.
    pub(super) fn prove(
        &self,
        model: &Model,
        hardware: &Hardware<'_>,
        (language, text): (Language, &str),
        listener: Listener<'_>,
    ) -> Result<(), Error> {
        let netlist = &hardware.netlist;
        let request = || Request {
            latency: Some(netlist.interface.latency),
            names: control_names(hardware.spec()),
            ..Request::default()
        };
        let read_like = "the model as read";
        // For RTL with a wrapper, only the pipeline inside the wrapper is proved.
        let core = hardware.axis.as_ref().map(|_| netlist.interface.top.as_str());
        let rtl = read(language, text, core)?;
        for (what, rtl) in [("netlist".to_owned(), &elaborated::rtl(netlist)), (format!("{language:?} text"), &rtl)] {
            // If the optimised program is proved equal to the model as read, it may help to decide the outputs that
            // remain.
            let optimised = || {
                let steps = steps::with_names(vec![self.optimised.clone()]);
                Some(Steps { are_proved: true, ..steps })
            };
            let hints = if self.open.is_none() { Hints::from_programs(optimised) } else { Hints::none() };
            let report = prove::program(model, rtl, hints, request(), &|| Box::new(Embedded)).report;
            match report.verdict {
                Verdict::Proved => tell(listener, &format!("{what} against {read_like}"), &matched(&report)),
                Verdict::Differs { reason, .. } => {
                    return Err(wrong(format!("the {what} is not {read_like}: {reason}")));
                }
                Verdict::Unknown { reason } => {
                    tell(listener, &format!("{what} against {read_like}"), &format!("not decided: {reason}"));
                    let before = self
                        .open
                        .as_ref()
                        .map_or_else(String::new, |(name, why)| format!(" (nor was the optimisation {name}: {why})"));
                    let message =
                        format!("whether the {what} is {read_like} was not decided, nothing is written: {reason}");
                    return Err(open(message + &before));
                }
            }
        }
        Ok(())
    }
}

/// Proves that the netlist and the RTL of a program with an initiation interval above 1 are equal to the program as it
/// was read.
///
/// # Errors
/// As [`Chain::prove`].
pub(super) fn prove_reused(
    model: &Model,
    hardware: &Hardware<'_>,
    (language, text): (Language, &str),
    listener: Listener<'_>,
) -> Result<(), Error> {
    hardware.spec().reject_input_ranges("--prove").map_err(Error::request)?;
    let interface = &hardware.netlist.interface;
    let spec = hardware.spec();
    // Bit-serial hardware has the gates of the optimised program.
    let is_serial = matches!(hardware.reused().map(|reused| &reused.plan), Some(SharingPlan::Serial(..)));
    let programs = || hardware.reused().map(|reused| reused.steps(hardware.spec()));
    let request = Request {
        latency: Some(interface.latency),
        interval: Some(interface.initiation_interval),
        input_timing: input_timing(interface),
        names: control_names(spec),
        ..Request::default()
    };
    // For RTL with a wrapper, only the core inside the wrapper is proved.
    let core = hardware.axis.as_ref().map(|_| interface.top.as_str());
    let rtl = read(language, text, core)?;
    for (what, rtl) in
        [("netlist".to_owned(), &elaborated::rtl(&hardware.netlist)), (format!("{language:?} text"), &rtl)]
    {
        let hints = Hints::from_programs(programs).with_bit_serial(is_serial);
        let report = prove::program(model, rtl, hints, request.clone(), &|| Box::new(Embedded)).report;
        match report.verdict {
            Verdict::Proved => tell(listener, &format!("{what} against the model as read"), &matched(&report)),
            Verdict::Differs { reason, .. } => return Err(wrong(format!("the {what} is not the model: {reason}"))),
            Verdict::Unknown { reason } => {
                let message = format!("whether the {what} is the model was not decided, nothing is written: {reason}");
                return Err(open(message));
            }
        }
    }
    Ok(())
}

/// Returns the cycles in which a sample is valid at the ports of a module.
pub fn input_timing(interface: &Interface) -> InputTiming {
    if interface.input_beats > 1 {
        let place = |element: &Element| (element.width > 0).then_some((element.beat, element.lsb));
        return InputTiming::Beats(Some(interface.inputs.iter().map(place).collect()));
    }
    if interface.input_hold > 1 { InputTiming::Held } else { InputTiming::Accepted }
}

/// Proves a lowered program equal to its source; uses the limits and the work budget of `request`.
///
/// # Errors
/// A message if the semantics of the source cannot be built.
pub fn prove_lowering(
    lowered: &Model,
    source: &dyn Source,
    request: &Request,
    solver: Solvers<'_>,
) -> Result<Report, String> {
    let request = Request { latency: Some(0), ..request.clone() };
    Ok(match source.theorem(lowered)? {
        Theorem::Program(meant) => value_classes::prove(&meant, lowered, &request, solver).0,
        Theorem::Design(meant) => equiv::prove(lowered, &meant, &request, solver()).0,
    })
}

/// Proves a lowered program equal to its source.
///
/// # Errors
/// `E0906` if it differs, which is an internal error; an error if the proof is undecided.
pub(super) fn prove_source(lowered: &Model, source: &dyn Source, listener: Listener<'_>) -> Result<(), Error> {
    let kind = source.kind();
    let undecided = |reason: String| {
        open(format!("whether the lowered program is the {kind} was not decided, nothing is written: {reason}"))
    };
    let request = Request { work: Some(WORK), ..Request::default() };
    let report = prove_lowering(lowered, source, &request, &|| Box::new(Embedded)).map_err(undecided)?;
    match report.verdict {
        Verdict::Proved => {
            tell(listener, &format!("the lowered program against the {kind}"), &matched(&report));
            Ok(())
        }
        Verdict::Differs { reason, .. } => Err(wrong(format!("the lowered program is not the {kind}: {reason}"))),
        Verdict::Unknown { reason } => Err(undecided(reason)),
    }
}

/// Proves a lowered program equal to its source, and adds the result to a report about the program. The prover derives
/// the semantics of the source independently of the lowering.
///
/// # Errors
/// A message if the semantics of the source cannot be built, which is an internal error.
pub fn append_lowering_proof(
    source: &dyn Source,
    lowered: &Model,
    report: &mut Report,
    solver: Solvers<'_>,
) -> Result<(), String> {
    let kind = source.kind();
    let request = Request { work: Some(WORK), ..Request::default() };
    let found = prove_lowering(lowered, source, &request, solver)?;
    match found.verdict {
        Verdict::Proved => {
            let bits = &found.bits;
            report.notes.push(format!(
                "the lowered program has the semantics of the {kind}: bits by structure {}, affine forms {}, all \
                 assignments {}, SAT {}, sweeping {}",
                bits.structural, bits.affine, bits.exhaustive, bits.sat, bits.swept
            ));
        }
        Verdict::Differs { reason, .. } => {
            let reason = format!("the lowered program is not the {kind} (a mistake of alir2hdl): {reason}");
            report.verdict = Verdict::Differs { reason, counterexample: None };
        }
        Verdict::Unknown { reason } if matches!(report.verdict, Verdict::Proved) => {
            let reason =
                format!("the file is the lowered program, but whether that is the {kind} was not decided: {reason}");
            report.verdict = Verdict::Unknown { reason };
        }
        Verdict::Unknown { .. } => {}
    }
    Ok(())
}

/// Proves the program after an optimisation equal to the program before it. Returns the reason if the proof is
/// undecided, otherwise `None`.
///
/// # Errors
/// `E0906` if the programs differ, which is an internal error.
fn prove_pass(
    name: &'static str,
    before: &Model,
    after: &Model,
    listener: Listener<'_>,
) -> Result<Option<String>, Error> {
    if before == after {
        tell(listener, name, "changes nothing");
        return Ok(None);
    }
    let small = Limits { sat_steps: Limits::default().sat_steps / 30, ..Limits::default() };
    // Undecided optimisations are covered by the final comparison with the model as read, so no long search is needed
    // here.
    let request = Request { latency: Some(0), limits: small, work: Some(WORK / 8), ..Request::default() };
    let report = value_classes::prove(before, after, &request, &|| Box::new(Embedded)).0;
    match report.verdict {
        Verdict::Proved => {
            tell(listener, name, &matched(&report));
            Ok(None)
        }
        Verdict::Differs { reason, .. } => Err(wrong(format!("the optimisation {name} changed the meaning: {reason}"))),
        Verdict::Unknown { reason } => {
            tell(listener, name, &format!("not decided: {reason}"));
            Ok(Some(reason))
        }
    }
}

/// Returns the names of the control ports that differ from the usual names, which the prover recognises itself.
fn control_names(spec: &Spec) -> ControlNames {
    let (names, usual) = (&spec.module.names, PortNames::default());
    let of = |name: &String, usual: &str| (name != usual).then(|| name.clone());
    let reset_low = spec.module.reset.is_some_and(|reset| !reset.active_high);
    let usual_reset = format!("{}{}", usual.reset, if reset_low { "_n" } else { "" });
    ControlNames {
        clock: of(&names.clock, &usual.clock),
        reset: of(&names.reset, &usual_reset),
        reset_low: Some(reset_low),
        enable: of(&names.enable, &usual.enable),
        valid_in: of(&names.valid_in, &usual.valid_in),
        valid_out: of(&names.valid_out, &usual.valid_out),
        ready: of(&names.ready, &usual.ready),
    }
}

fn read(language: Language, text: &str, top: Option<&str>) -> Result<Rtl, Error> {
    alir_hdl::read(language, text, top).map_err(|why| wrong(format!("the {language:?} text cannot be read: {why}")))
}

/// Proves that an RTL file behaves as a state machine does.
///
/// # Errors
/// As [`Chain::prove`].
pub(super) fn prove_machine(
    design: &Machine,
    (language, text): (Language, &str),
    listener: Listener<'_>,
) -> Result<(), Error> {
    let rtl = read(language, text, None)?;
    match prove::state_machine(design, &rtl, &machine::MachineRequest::default(), &|| Box::new(Embedded)).0.verdict {
        machine::Verdict::Proved => {
            tell(listener, &format!("{language:?} text against the machine as read"), "proved");
            Ok(())
        }
        machine::Verdict::Differs { reason, .. } => {
            Err(wrong(format!("the {language:?} text is not the machine: {reason}")))
        }
        machine::Verdict::Unknown { reason } => {
            let message = format!("whether the {language:?} text is the machine was not decided, nothing is written");
            Err(open(format!("{message}: {reason}")))
        }
    }
}
