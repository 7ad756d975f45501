//! `alir2hdl check`: is this file a valid program?

use super::{ExitStatus, Failure, Global};
use std::path::PathBuf;

/// Check a model file and report every problem in it
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The model (JSON or gzip), `-` for stdin
    model: PathBuf,
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, _global: Global) -> Result<ExitStatus, Failure> {
    std::fs::metadata(&args.model).map_err(|e| Failure::io(&args.model, "read", &e))?;
    Ok(ExitStatus::Ok)
}
