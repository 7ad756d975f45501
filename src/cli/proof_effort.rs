//! The budget of a proof: a level, or its individual limits.

use crate::prove::engine::{Limits, WORK};
use clap::ValueEnum;

/// Limits on the resources of a proof. Budgets are deterministic: the same file has the same verdict everywhere.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct ProofEffortArgs {
    /// Search for a proof for seconds (fast), minutes (normal) or an hour (max) at most
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t, hide_possible_values = true)]
    prove_effort: ProofLevel,
    /// Steps of the SAT solver for one cone
    #[arg(long, value_name = "N", hide = true)]
    sat_steps: Option<u64>,
    /// Ticks for the whole run, 30 nanoseconds each on average
    #[arg(long, value_name = "N", hide = true)]
    work: Option<u64>,
}

/// Levels, each ten times the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ProofLevel {
    /// A tenth of the usual budget
    Fast,
    /// About two minutes
    #[default]
    Normal,
    /// Ten times the usual budget
    Max,
}

/// The budget of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProofEffort {
    /// Ticks for the whole run.
    pub(super) work: u64,
    /// Steps of the SAT solver for one cone.
    pub(super) sat_steps: u64,
}

impl ProofEffortArgs {
    /// The requested budget.
    pub(super) fn budget(self) -> ProofEffort {
        let scaled = |usual: u64| match self.prove_effort {
            ProofLevel::Fast => usual / 10,
            ProofLevel::Normal => usual,
            ProofLevel::Max => usual.saturating_mul(10),
        };
        ProofEffort {
            work: self.work.unwrap_or_else(|| scaled(WORK)),
            sat_steps: self.sat_steps.unwrap_or_else(|| scaled(Limits::default().sat_steps)),
        }
    }
}
