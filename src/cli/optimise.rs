//! The optimisation options that several sub-commands share, and `alir2hdl passes`.

use super::{ExitStatus, Failure, print};
use crate::diag::{Diagnostic, Place};
use crate::ir::Model;
use crate::ir::machine::Machine;
use crate::passes::{self, PASSES, PassStat};
use std::borrow::Cow;

/// Which optimisations run.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Optimisation")]
pub(super) struct OptimiseArgs {
    /// How much to optimise: 0 nothing, 1 what is cheap and never worse, 2 also what searches
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=2))]
    level: u8,
    /// Run exactly these passes, in this order, instead of a level's (`alir2hdl passes` lists them)
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "level")]
    passes: Option<Vec<String>>,
}

impl OptimiseArgs {
    /// The machine with each of its blocks optimised.
    ///
    /// # Errors
    /// As [`OptimiseArgs::apply`].
    pub(super) fn apply_to_blocks(&self, machine: &Machine) -> Result<Machine, Failure> {
        let names = self.names()?;
        Ok(machine.clone().with_blocks(|model| passes::run(model, &names).0))
    }

    /// The optimised program, and what each pass did.
    ///
    /// # Errors
    /// If a pass that was named does not exist (exit code 2).
    pub(super) fn apply<'m>(&self, model: &'m Model) -> Result<(Cow<'m, Model>, Vec<PassStat>), Failure> {
        let names = self.names()?;
        // Nothing to do is nothing to copy either.
        if names.is_empty() {
            return Ok((Cow::Borrowed(model), Vec::new()));
        }
        let (optimised, stats) = passes::run(model, &names);
        Ok((Cow::Owned(optimised), stats))
    }

    fn names(&self) -> Result<Vec<&str>, Failure> {
        let names: Vec<&str> = match &self.passes {
            Some(names) => names.iter().map(String::as_str).collect(),
            None => passes::pipeline(self.level).to_vec(),
        };
        let unknown = names.iter().find(|name| passes::find(name).is_none());
        if let Some(name) = unknown {
            let known: Vec<_> = PASSES.iter().map(|p| p.name).collect();
            let message = format!("no pass is called {name:?}");
            return Err(Failure::input(
                Diagnostic::error("E0301", Place::Flag("--passes".into()), message)
                    .with_help(format!("passes: {}", known.join(", "))),
            ));
        }
        Ok(names)
    }
}

/// `alir2hdl passes`: lists the passes.
pub(super) fn list() -> Result<ExitStatus, Failure> {
    let mut text = String::new();
    for pass in PASSES {
        text.push_str(&format!("{:<10} -O{}  {}\n", pass.name, pass.level, pass.summary));
    }
    for level in 0..=2 {
        let names = passes::pipeline(level);
        text.push_str(&format!("\n-O{level}: {}", if names.is_empty() { "nothing".into() } else { names.join(", ") }));
    }
    text.push('\n');
    print(text.as_bytes())
}
