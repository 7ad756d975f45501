//! `--prove`: what is about to be written is the model, before anything is written.
//!
//! Each optimisation's program is the one before it; the netlist is the program as it was read, so is each text. Where that
//! is not decided, they are compared with the optimised program, if every optimisation was proved.

use super::hardware::PipelineArgs;
use super::names::NameArgs;
use super::optimise::OptimiseArgs;
use super::{ExitStatus, Failure, Global, say};
use crate::diag::{Diagnostic, Place, Severity};
use crate::emit::Language;
use crate::ir::Model;
use crate::ir::machine::Machine;
use crate::netlist::{Netlist, elaborated};
use crate::prove::engine::{Limits, WORK};
use crate::prove::equiv::{self, Report, Request, Verdict};
use crate::prove::sat::Embedded;
use crate::prove::{machine, program};
use crate::rtl::{self, Rtl};

fn failure(status: ExitStatus, severity: Severity, message: String) -> Failure {
    let mut diagnostic = Diagnostic::error("E0906", Place::Flag("--prove".into()), message);
    diagnostic.severity = severity;
    Failure { status, diagnostics: diagnostic.into() }
}

fn wrong(message: String) -> Failure {
    failure(ExitStatus::Bug, Severity::Bug, message)
}

fn open(message: String) -> Failure {
    failure(ExitStatus::Undecided, Severity::Error, message)
}

/// What is told with `--verbose`.
fn tell(global: Global, what: &str, verdict: &str) {
    if global.verbose {
        say(&format!("prove: {what}: {verdict}"), global);
    }
}

fn matched(report: &Report) -> String {
    let all = report.operations_matched + report.operations_unmatched;
    format!("proved ({} of {all} named values matched)", report.operations_matched)
}

/// What is known of the optimisations.
pub(super) struct Chain {
    optimised: Model,
    /// The first optimisation that is not decided, and why.
    open: Option<(&'static str, String)>,
}

impl Chain {
    /// Proves each optimisation's program equal to the one before it.
    ///
    /// # Errors
    /// `E0906` if one is not (exit code 4: our mistake); if they assume something of the inputs (exit code 2).
    pub(super) fn of(
        args: &OptimiseArgs,
        model: &Model,
        pipeline: &PipelineArgs,
        global: Global,
    ) -> Result<Chain, Failure> {
        args.every_input("--prove")?;
        let mut undecided = None;
        let optimised = args.step_by_step(model, pipeline, |name, before, after| {
            if before == after {
                tell(global, name, "changes nothing");
                return Ok(());
            }
            let small = Limits { sat_steps: Limits::default().sat_steps / 30, ..Limits::default() };
            // What an optimisation leaves open is compared with the model as read in the end: no long search here.
            let request = Request { latency: Some(0), limits: small, work: Some(WORK / 8), ..Request::default() };
            let rtl = program::rtl(after, before);
            let report = equiv::prove(before, &rtl, &request, Box::new(Embedded)).0;
            match report.verdict {
                Verdict::Proved => tell(global, name, &matched(&report)),
                Verdict::Differs { reason, .. } => {
                    return Err(wrong(format!("the optimisation {name} changed the meaning: {reason}")));
                }
                Verdict::Unknown { reason } => {
                    tell(global, name, &format!("not decided: {reason}"));
                    undecided.get_or_insert((name, reason));
                }
            }
            Ok(())
        })?;
        Ok(Chain { optimised, open: undecided })
    }

    /// Proves the netlist equal to the optimised program, and a text of it to the program, or to the one that was read.
    ///
    /// # Errors
    /// `E0906` if one is not (exit code 4: our mistake), or if that cannot be decided (exit code 5).
    pub(super) fn prove(
        &self,
        model: &Model,
        netlist: &Netlist,
        (language, bytes, top): (Language, &[u8], Option<&str>),
        (names, reset_low): (&NameArgs, bool),
        global: Global,
    ) -> Result<(), Failure> {
        let latency = Some(netlist.interface.latency);
        let request = || Request { latency, names: names.control(Some(reset_low)), ..Request::default() };
        let read_like = (model, "the model as read");
        let rtl = read(language, bytes, top)?;
        for (what, rtl) in [("netlist".to_owned(), &elaborated::rtl(netlist)), (format!("{language:?} text"), &rtl)] {
            // Names are those of the model as read: with it each value is compared with its own. What stays open may be
            // seen from the optimised program, if that is known to be the same.
            let optimised = self.open.is_none().then_some((&self.optimised, "the optimised model"));
            let mut open_since = None;
            for (like, whose) in [read_like].into_iter().chain(optimised) {
                let report = equiv::prove(like, rtl, &request(), Box::new(Embedded)).0;
                match report.verdict {
                    Verdict::Proved => {
                        tell(global, &format!("{what} against {whose}"), &matched(&report));
                        open_since = None;
                        break;
                    }
                    Verdict::Differs { reason, .. } => {
                        return Err(wrong(format!("the {what} is not {whose}: {reason}")));
                    }
                    Verdict::Unknown { reason } => {
                        tell(global, &format!("{what} against {whose}"), &format!("not decided: {reason}"));
                        open_since.get_or_insert(reason);
                    }
                }
            }
            if let Some(reason) = open_since {
                let before = self
                    .open
                    .as_ref()
                    .map_or_else(String::new, |(name, why)| format!(" (nor was the optimisation {name}: {why})"));
                let message =
                    format!("whether the {what} is {} was not decided, nothing is written: {reason}", read_like.1);
                return Err(open(message + &before));
            }
        }
        Ok(())
    }
}

fn read(language: Language, bytes: &[u8], top: Option<&str>) -> Result<Rtl, Failure> {
    rtl::read(language, &String::from_utf8_lossy(bytes), top)
        .map_err(|why| wrong(format!("the {language:?} text cannot be read: {why}")))
}

/// Proves that a text behaves as a state machine does.
///
/// # Errors
/// As [`Chain::prove`].
pub(super) fn of_machine(
    design: &Machine,
    (language, bytes): (Language, &[u8]),
    global: Global,
) -> Result<(), Failure> {
    let rtl = read(language, bytes, None)?;
    match machine::prove(design, &rtl, &machine::Request::default(), &|| Box::new(Embedded)).0.verdict {
        machine::Verdict::Proved => {
            tell(global, &format!("{language:?} text against the machine as read"), "proved");
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
