//! Errors for options that have no effect on stateful designs, common to all sub-commands.

use super::Failure;
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::options::HardwareOptions;

/// Returns an error for options of pipeline, ports and wrapper, which have no effect on a state machine.
///
/// # Errors
/// One diagnostic for each of the options (exit code 2).
pub(super) fn refuse(options: &HardwareOptions) -> Result<(), Failure> {
    refuse_flags(options.given_of_pipeline().chain(options.given_of_ports()).chain(options.given_of_wrapper()))
}

/// Returns an error for options that have no effect on a state machine.
///
/// # Errors
/// One diagnostic for each of the options (exit code 2).
pub(super) fn refuse_flags(given: impl Iterator<Item = &'static str>) -> Result<(), Failure> {
    let refused = |flag: &'static str| {
        Diagnostic::error("E0804", Place::Flag(flag.into()), format!("{flag} does not go with a state machine"))
            .with_help("its registers, conditions and ports are those of the file; leave the option out")
    };
    let problems: Vec<Diagnostic> = given.map(refused).collect();
    if problems.is_empty() { Ok(()) } else { Err(Failure::input(Diagnostics(problems))) }
}
