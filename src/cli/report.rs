//! `alir2hdl report`: what the synthesis tools said, as one table.

use super::{ExitStatus, Failure, Global, print};
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::report::{self, Column};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use std::path::PathBuf;

/// Show what Vivado, Quartus, yosys and nextpnr reported
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl report build
  alir2hdl report build-* --sort fmax_mhz --descending
  alir2hdl report build --csv > results.csv

Looks through the folders for report_utilization, report_timing_summary and report_power of Vivado; the summaries and
.sta.rpt of Quartus; stat -json of yosys; --report of nextpnr. A row is what one tool wrote into one folder; latency and
part come from the metadata.json of the project around it. For Quartus luts are adaptive logic modules.")]
pub(super) struct Args {
    /// Folders to look through
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Print comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print a Markdown table
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    markdown: bool,
    /// Sort by this column [default: by path]
    #[arg(long, value_name = "COLUMN")]
    sort: Option<ColumnArg>,
    /// Put the largest first
    #[arg(long, requires = "sort")]
    descending: bool,
}

/// [`Column`] as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ColumnArg(Column);

impl ValueEnum for ColumnArg {
    fn value_variants<'a>() -> &'a [ColumnArg] {
        const ALL: [ColumnArg; Column::ALL.len()] = {
            let mut all = [ColumnArg(Column::Run); Column::ALL.len()];
            let mut k = 0;
            while k < all.len() {
                all[k] = ColumnArg(Column::ALL[k]);
                k += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()))
    }
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, _global: Global) -> Result<ExitStatus, Failure> {
    let mut rows = Vec::new();
    let mut problems = Vec::new();
    for folder in &args.folders {
        let name = folder.display().to_string();
        let found = report::read(&name, folder).map_err(|e| Failure::io(folder, "read", &e))?;
        if found.is_empty() {
            let help = "run the project's scripts first; `alir2hdl report --help` lists the files that are known";
            let error = Diagnostic::error("E1201", Place::Whole, "no report of a known tool").in_file(folder);
            problems.push(error.with_help(help));
        }
        rows.extend(found);
    }
    if !problems.is_empty() {
        return Err(Failure::input(Diagnostics(problems)));
    }
    if let Some(ColumnArg(column)) = args.sort {
        report::sort(&mut rows, column, args.descending);
    }
    let text = match args {
        Args { json: true, .. } => report::json(&rows),
        Args { csv: true, .. } => report::csv(&rows),
        Args { markdown: true, .. } => report::markdown(&rows),
        _ => report::text(&rows),
    };
    print(text.as_bytes())
}
