//! Options for the user's own samples in testbenches, common to `verify` and `project`.

use super::input::FileFacts;
use super::{ExitStatus, Failure};
use crate::compile::Source;
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::ir::Model;
use crate::verify::options::SampleOptions;
use crate::verify::own::{ExpectedMismatches, Numbers, Subject};
use std::path::PathBuf;

/// Which samples are applied, and what must come out.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Samples")]
pub(super) struct OwnArgs {
    /// Apply these samples instead of random ones: npy, npz, CSV
    #[arg(long, alias = "stimulus", value_name = "FILE", conflicts_with = "vectors")]
    input: Option<PathBuf>,
    /// Take this array of the npz file
    #[arg(long, value_name = "NAME", requires = "input", hide_short_help = true)]
    array: Option<String>,
    /// Expect these outputs, as `run` writes them [default: the model's]
    #[arg(long, value_name = "FILE")]
    expect: Option<PathBuf>,
    /// Take this array of the expected npz file
    #[arg(long, value_name = "NAME", requires = "expect", hide_short_help = true)]
    expect_array: Option<String>,
    /// Read both files as raw integer values
    #[arg(long, hide_short_help = true)]
    codes: bool,
}

impl OwnArgs {
    /// Returns the options.
    pub(super) fn options(&self) -> SampleOptions {
        SampleOptions {
            input: self.input.clone(),
            array: self.array.clone(),
            expect: self.expect.clone(),
            expect_array: self.expect_array.clone(),
            codes: self.codes,
        }
    }
}

/// Returns the program with its source, which determines the form of the numbers in the user's samples.
pub(super) fn subject<'a>(model: &'a Model, file: &'a FileFacts, source: Option<&'a dyn Source>) -> Subject<'a> {
    let numbers = match (&file.network, &file.kernel) {
        (Some(network), _) => Numbers::Network(&*network.meaning),
        (None, Some(_)) => Numbers::Kernel,
        (None, None) => match &file.matrix {
            Some(facts) if facts.one_type().is_none() => Numbers::Network(&facts.product),
            facts => Numbers::Ports(facts.as_ref().and_then(|facts| facts.encoder())),
        },
    };
    Subject { model, source, numbers }
}

/// Returns an error if expected outputs differ from the model's, for commands without simulation; nothing is written
/// then.
pub(super) fn settled(dissents: &ExpectedMismatches) -> Result<(), Failure> {
    if dissents.is_empty() {
        return Ok(());
    }
    let lines = dissents.lines();
    let message = format!("{}:", dissents.title());
    let error = Diagnostic::error("E1012", Place::Flag("--expect".into()), message).with_detail(lines.trim_end());
    Err(Failure { status: ExitStatus::Mismatch, diagnostics: Diagnostics(vec![error]) })
}
