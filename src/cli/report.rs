//! `alir2hdl report`: figures of FPGA tools as one table.

use super::{ExitStatus, Failure, Global, print, report as print_diagnostics, say};
use crate::diag::{Diagnostic, Diagnostics, Place, four_digits, printable};
use crate::files::Batch;
use crate::report::{self, BuildRow, Column, Separated};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use std::path::{Path, PathBuf};

/// Show what FPGA tools reported, several builds side by side
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl report build
  alir2hdl report build-* --sort fmax_mhz --descending
  alir2hdl report build -o results.csv
  alir2hdl report build --check

Searches the folders for report_utilization, report_timing_summary and report_power of Vivado; csynth and export \
reports of
Vivado HLS and Vitis HLS; .fit, .map, .syn, .sta and .pow reports and summaries of Quartus; stat of yosys (JSON or \
text);
--report and log of nextpnr; .mrp, .tw1 and .twr of Diamond; .rpt.txt of Gowin. A row is the last stage of what one \
tool wrote
into one folder. Latency and part come from the metadata.json of the project around it.

fmax_mhz and slack_ns are those of the clock with the least slack over its own paths; worst_slack_ns, failing and
timing cover all paths, hold times too.

Exit codes with --check: 0 timing is met, 1 it is missed, 5 no report of timing.")]
pub(super) struct Args {
    /// Folders to search, or single files
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Write to this file; .html, .json, .csv, .tsv or .md selects the format
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print a JSON object (schema alir2hdl.report/2) with all stages
    #[arg(long, conflicts_with = "output")]
    json: bool,
    /// Print comma-separated values
    #[arg(long, conflicts_with_all = ["json", "output"])]
    csv: bool,
    /// Print a Markdown table
    #[arg(long, conflicts_with_all = ["json", "csv", "output"])]
    markdown: bool,
    /// Write a page with the table and the stage charts of the projects
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Show every stage instead of the last one of each build
    #[arg(long)]
    all_stages: bool,
    /// Show these columns, with commas between them
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    columns: Vec<ColumnArg>,
    /// Exit with code 1 if a build misses its timing
    #[arg(long)]
    check: bool,
    /// Sort by this column instead of by path
    #[arg(long, value_name = "COLUMN")]
    sort: Option<ColumnArg>,
    /// Put the largest first
    #[arg(long, requires = "sort")]
    descending: bool,
}

/// [`Column`] on the command line.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ColumnArg(Column);

const COLUMNS: usize = Column::USUAL.len() + Column::FURTHER.len();

impl ValueEnum for ColumnArg {
    fn value_variants<'a>() -> &'a [ColumnArg] {
        const ALL: [ColumnArg; COLUMNS] = {
            let mut all = [ColumnArg(Column::USUAL[0]); COLUMNS];
            let mut k = 0;
            while k < all.len() {
                let usual = Column::USUAL.len();
                all[k] = ColumnArg(if k < usual { Column::USUAL[k] } else { Column::FURTHER[k - usual] });
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

/// Format of a file by its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReportFormat {
    Text,
    Json,
    Values(Separated),
    Markdown,
    Html,
}

impl ReportFormat {
    fn by_extension(path: &Path) -> Result<ReportFormat, Failure> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "html" | "htm" => Ok(ReportFormat::Html),
            "json" => Ok(ReportFormat::Json),
            "csv" => Ok(ReportFormat::Values(Separated::Commas)),
            "tsv" => Ok(ReportFormat::Values(Separated::Tabs)),
            "md" => Ok(ReportFormat::Markdown),
            _ => {
                let message = format!("{}: no format is known for this name", path.display());
                let error = Diagnostic::error("E0002", Place::Flag("--output".into()), message);
                Err(Failure::input(error.with_help("use a name that ends in .html, .json, .csv, .tsv or .md")))
            }
        }
    }

    /// Returns the content; JSON always has every stage.
    fn content(self, args: &Args, rows: &[BuildRow]) -> String {
        let columns: Vec<Column> = args.columns.iter().map(|column| column.0).collect();
        let shown = || if args.all_stages { rows.to_vec() } else { report::for_people(rows) };
        match self {
            ReportFormat::Text => report::text(&shown(), &columns),
            ReportFormat::Json => report::json(rows),
            ReportFormat::Values(separated) => report::csv(&shown(), &columns, separated),
            ReportFormat::Markdown => report::markdown(&shown(), &columns),
            ReportFormat::Html => report::html(&shown(), &columns, &projects(&args.folders)),
        }
    }
}

/// Returns the `metadata.json` of the folders that are projects.
fn projects(folders: &[PathBuf]) -> Vec<(String, serde_json::Value)> {
    let facts = |folder: &PathBuf| {
        let bytes = std::fs::read(folder.join("metadata.json")).ok()?;
        Some((folder.display().to_string(), serde_json::from_slice(&bytes).ok()?))
    };
    folders.iter().filter_map(facts).collect()
}

/// Returns the figures of the reports in folders, and warnings about files without any.
///
/// # Errors
/// If a folder cannot be read, or has no report of a known tool (`E1201`).
pub fn read(folders: &[PathBuf]) -> Result<(Vec<BuildRow>, Diagnostics), Failure> {
    let mut rows = Vec::new();
    let mut problems = Vec::new();
    let mut warnings = Vec::new();
    for folder in folders {
        let name = folder.display().to_string();
        let found = report::read(&name, folder).map_err(|e| Failure::io(folder, "read", &e))?;
        for skipped in &found.skipped {
            let message = format!("this report adds nothing to the table: {}", skipped.reason);
            warnings.push(Diagnostic::warning("W1202", Place::Whole, message).in_file(&skipped.path));
        }
        if found.rows.is_empty() {
            let help = "run the project's scripts first; `alir2hdl report --help` lists the files that are known";
            let error = Diagnostic::error("E1201", Place::Whole, "no report of a known tool").in_file(folder);
            problems.push(error.with_help(help));
        }
        rows.extend(found.rows);
    }
    if !problems.is_empty() {
        // The warnings state why a folder with files counts as one without reports.
        warnings.append(&mut problems);
        return Err(Failure::input(Diagnostics(warnings)));
    }
    Ok((rows, Diagnostics(warnings)))
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    let format = match (&args.output, args) {
        (Some(path), _) => ReportFormat::by_extension(path)?,
        (None, Args { json: true, .. }) => ReportFormat::Json,
        (None, Args { csv: true, .. }) => ReportFormat::Values(Separated::Commas),
        (None, Args { markdown: true, .. }) => ReportFormat::Markdown,
        (None, _) => ReportFormat::Text,
    };
    let (mut rows, warnings) = read(&args.folders)?;
    print_diagnostics(&warnings, global);

    if let Some(ColumnArg(column)) = args.sort {
        report::sort(&mut rows, column, args.descending);
    }
    let pages = args.html.iter().map(|path| (path, ReportFormat::Html));
    for (path, format) in args.output.iter().map(|path| (path, format)).chain(pages) {
        let mut batch = Batch::default();
        let written = batch.add(path, format.content(args, &rows).as_bytes()).and_then(|()| batch.commit());
        written.map_err(|e| Failure::io(path, "write", &e))?;
    }
    let status = match args.output {
        Some(_) => ExitStatus::Ok,
        None if args.html.as_deref() == Some(Path::new("-")) => ExitStatus::Ok,
        None => print(format.content(args, &rows).as_bytes())?,
    };
    if !args.check {
        return Ok(status);
    }
    let builds = || rows.iter().filter(|row| row.result);
    for row in builds() {
        let verdict = match row.meets_timing() {
            Some(true) => "timing is met",
            Some(false) => "timing is missed",
            None => "no report of timing",
        };
        let slack = row.worst_slack_ns.or(row.slack_ns);
        let slack = slack.map(|ns| format!(", worst slack {} ns", four_digits(ns))).unwrap_or_default();
        say(&format!("{} ({}): {verdict}{slack}", printable(&row.run), row.tool), global);
    }
    let results: Vec<Option<bool>> = builds().map(BuildRow::meets_timing).collect();
    match results.iter().flatten().collect::<Vec<_>>()[..] {
        [] => Ok(ExitStatus::Undecided),
        ref known if known.iter().all(|met| **met) => Ok(status),
        _ => Ok(ExitStatus::Mismatch),
    }
}
