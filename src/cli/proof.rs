//! `--prove`: what is about to be written is the model, before anything is written.

use super::names::NameArgs;
use super::{ExitStatus, Failure};
use crate::diag::{Diagnostic, Place, Severity};
use crate::emit::Language;
use crate::ir::Model;
use crate::prove::equiv::{self, Request, Verdict};
use crate::prove::sat::Embedded;
use crate::prove::text;

/// Proves that a text, or the module `top` in it, computes the model as it was read, optimised or not.
///
/// # Errors
/// `E0906` if it does not (exit code 4: our mistake), or if that cannot be decided (exit code 5).
pub(super) fn prove(
    model: &Model,
    language: Language,
    (bytes, top): (&[u8], Option<&str>),
    latency: u32,
    (names, reset_low): (&NameArgs, bool),
) -> Result<(), Failure> {
    let source = String::from_utf8_lossy(bytes);
    let read_as = match language {
        Language::Verilog => text::Language::Verilog,
        Language::Vhdl => text::Language::Vhdl,
    };
    let fail = |status: ExitStatus, severity: Severity, message: String| {
        let mut diagnostic = Diagnostic::error("E0906", Place::Flag("--prove".into()), message);
        diagnostic.severity = severity;
        Err(Failure { status, diagnostics: diagnostic.into() })
    };
    let rtl = match text::read(read_as, &source, top) {
        Ok(rtl) => rtl,
        Err(why) => return fail(ExitStatus::Bug, Severity::Bug, format!("the {language:?} cannot be read: {why}")),
    };
    let request = Request { latency: Some(latency), names: names.control(Some(reset_low)), ..Request::default() };
    match equiv::prove(model, &rtl, &request, Box::new(Embedded)).0.verdict {
        Verdict::Proved => Ok(()),
        Verdict::Differs { reason, .. } => {
            fail(ExitStatus::Bug, Severity::Bug, format!("the {language:?} is not the model: {reason}"))
        }
        Verdict::Unknown { reason } => fail(
            ExitStatus::Undecided,
            Severity::Error,
            format!("whether the {language:?} is the model was not decided, nothing is written: {reason}"),
        ),
    }
}
