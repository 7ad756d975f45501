//! Budget of a proof: a level, or its individual limits.

use crate::prove::options::{ProofBudget, ProofLevel};
use clap::ValueEnum;

/// Limits on the resources of a proof. Budgets are deterministic: the same file has the same verdict everywhere.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct ProofEffortArgs {
    /// Budget in ticks, about seconds (fast), minutes (normal) or an hour (max)
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t, hide_possible_values = true)]
    prove_effort: ProofLevelArg,
    /// Steps of the SAT solver for one cone
    #[arg(long, value_name = "N", hide = true)]
    sat_steps: Option<u64>,
    /// Ticks for the whole run, 30 nanoseconds each on average
    #[arg(long, value_name = "N", hide = true)]
    work: Option<u64>,
}

/// Levels, each ten times the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ProofLevelArg {
    /// A tenth of the usual budget
    Fast,
    /// About two minutes
    #[default]
    Normal,
    /// Ten times the usual budget
    Max,
}

impl ProofEffortArgs {
    /// Returns the requested budget.
    pub(super) fn budget(self) -> ProofBudget {
        let level = match self.prove_effort {
            ProofLevelArg::Fast => ProofLevel::Fast,
            ProofLevelArg::Normal => ProofLevel::Normal,
            ProofLevelArg::Max => ProofLevel::Max,
        };
        ProofBudget { level, work: self.work, sat_steps: self.sat_steps }
    }
}
