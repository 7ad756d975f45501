//! Optimisation options of several sub-commands, and `alir2hdl passes`.

use super::{ExitStatus, Failure, print};
use crate::compile::Retime;
use crate::options::HardwareOptions;
use crate::passes::{self, BY_NAME, PASSES, PassStat};
use crate::retime::Slack;

/// Which optimisations run.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Optimisation and RTL")]
pub(super) struct OptimiseArgs {
    /// Optimise: off (0), passes that never cost more (1), also searches (2)
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=2))]
    level: u8,
    /// Run exactly these passes in this order (see `alir2hdl passes`)
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "level", hide_short_help = true)]
    passes: Option<Vec<String>>,
    /// Assume that inputs stay in their declared intervals; other inputs give wrong results
    #[arg(long, hide_short_help = true)]
    assume_intervals: bool,
    /// Use slack in a state machine for fewer registers, less delay, or not [default: registers]
    #[arg(long, value_name = "WHAT", hide_short_help = true, hide_possible_values = true)]
    retime: Option<RetimeArg>,
}

/// Use of slack by retiming.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum RetimeArg {
    /// Registers stay where the file has them
    No,
    /// The fewest register bits; no stage gets longer than the longest was
    Registers,
    /// The smallest stage delay, then the fewest register bits
    Delay,
}

impl OptimiseArgs {
    /// Stores the options.
    pub(super) fn fill(&self, options: &mut HardwareOptions) {
        options.level = self.passes.is_none().then_some(self.level);
        options.passes.clone_from(&self.passes);
        options.assume_intervals = self.assume_intervals;
        options.retime = self.retime.map(|retime| match retime {
            RetimeArg::No => Retime::No,
            RetimeArg::Registers => Retime::For(Slack::Registers),
            RetimeArg::Delay => Retime::For(Slack::Delay),
        });
    }
}

/// Returns the effect of each pass as a line: operations, and bits of operations that cost hardware. Empty if no pass
/// ran.
pub(super) fn savings(stats: &[PassStat]) -> String {
    let mut text = String::new();
    for (k, stat) in stats.iter().enumerate() {
        if k == 0 {
            text.push_str(&format!("{:<12}{:>20}{:>24}", "pass", "operations", "bits computed"));
        }
        let less = |before: u64, after: u64| match before {
            0 => String::new(),
            _ => format!("{:+.1} %", 100.0 * (after as f64 - before as f64) / before as f64),
        };
        text.push_str(&format!(
            "\n{:<12}{:>9} to {:>7}{:>13} to {:>7}   {}",
            stat.name,
            stat.ops_before,
            stat.ops_after,
            stat.bits_before,
            stat.bits_after,
            less(stat.bits_before, stat.bits_after)
        ));
    }
    text
}

impl OptimiseArgs {
    /// Returns `true` if the options name individual passes.
    pub(super) fn names_passes(&self) -> bool {
        self.passes.is_some()
    }
}

/// Runs `alir2hdl passes`, which lists the passes.
pub(super) fn list() -> Result<ExitStatus, Failure> {
    let mut text = String::new();
    for pass in PASSES {
        let level = if pass.level == BY_NAME { "   ".to_owned() } else { format!("-O{}", pass.level) };
        text.push_str(&format!("{:<10} {level}  {}\n", pass.name, pass.summary));
    }
    for level in 0..=2 {
        let names = passes::pipeline(level);
        text.push_str(&format!("\n-O{level}: {}", if names.is_empty() { "nothing".into() } else { names.join(", ") }));
    }
    text.push_str(&format!(
        "\n-O2 --use-dsp no --delay-model device, two stages or more: {}\n",
        passes::IN_STAGES.join(", ")
    ));
    for (cells, names) in [
        ("six-input LUTs", passes::WIDE_TABLES),
        ("four-input LUTs", passes::NARROW_TABLES),
        ("adaptive logic modules", passes::ADAPTIVE_TABLES),
    ] {
        text.push_str(&format!("-O2 for devices with {cells}, at the end: {}\n", names.join(", ")));
    }
    text.push_str(&format!(
        "-O1 and -O2 where a sum exceeds the clock period of a device, one of: {}\n",
        passes::SHORTER_CHAINS.join(", ")
    ));
    print(text.as_bytes())
}
