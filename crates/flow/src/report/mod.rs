//! What synthesis tools wrote about a design, as rows of one table.
//!
//! A folder is searched for files that Vivado, Quartus, yosys and nextpnr write; their content decides what they are,
//! not their names. What one tool wrote into one folder about one state of the design is a [`Row`].

mod pareto;
mod quartus;
mod tables;
mod vivado;
mod yosys;

pub use pareto::pareto;
pub use tables::{Column, csv, json, markdown, sort, text};

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Files beyond this are no reports.
const MAX_BYTES: u64 = 64 << 20;
/// Folders below the one that was named.
const MAX_DEPTH: usize = 8;
/// Files that are looked at.
const MAX_FILES: usize = 100_000;

/// What a tool says about a design. What it does not say is nothing, not zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Where the reports are, from the folder that was named.
    pub run: String,
    /// Which tool wrote them.
    pub tool: &'static str,
    /// How far the design had come: `synthesized`, `optimized`, `placed`, `physopt` or `routed`; empty if unknown.
    pub state: &'static str,
    /// The device.
    pub part: Option<String>,
    /// Lookup tables; for Quartus adaptive logic modules.
    pub luts: Option<f64>,
    /// Flip-flops.
    pub registers: Option<f64>,
    /// Multiplier blocks.
    pub dsps: Option<f64>,
    /// Memory blocks; Vivado counts halves.
    pub brams: Option<f64>,
    /// Large memory blocks.
    pub urams: Option<f64>,
    /// Blocks of carry logic.
    pub carries: Option<f64>,
    /// The clock whose period, slack and fastest clock the row has.
    pub clock: Option<String>,
    /// The clock that was asked for, in nanoseconds.
    pub period_ns: Option<f64>,
    /// Least slack of setup paths of the clock, in nanoseconds; negative if the clock is missed.
    pub slack_ns: Option<f64>,
    /// Least slack of all setup paths, in nanoseconds.
    pub worst_slack_ns: Option<f64>,
    /// Time to spare on the worst hold path, in nanoseconds.
    pub hold_ns: Option<f64>,
    /// Ends of paths that miss setup, hold or pulse width.
    pub failing: Option<f64>,
    /// The fastest clock, in megahertz.
    pub fmax_mhz: Option<f64>,
    /// All of the power, in watts.
    pub power_w: Option<f64>,
    /// The part of it that depends on what the design does, in watts.
    pub dynamic_w: Option<f64>,
    /// Clocks from input to result, by the project's `metadata.json`.
    pub latency: Option<f64>,
    /// Time from input to result at the fastest clock, in nanoseconds.
    pub latency_ns: Option<f64>,
}

/// What a file says: the tool, the state of the design, and the columns that it fills.
struct ToolReport {
    tool: &'static str,
    state: &'static str,
    row: Row,
}

impl Row {
    /// Takes over what another file about the same thing says.
    fn fill(&mut self, other: Row) {
        fn take<T>(into: &mut Option<T>, from: Option<T>) {
            if into.is_none() {
                *into = from;
            }
        }
        take(&mut self.part, other.part);
        take(&mut self.luts, other.luts);
        take(&mut self.registers, other.registers);
        take(&mut self.dsps, other.dsps);
        take(&mut self.brams, other.brams);
        take(&mut self.urams, other.urams);
        take(&mut self.carries, other.carries);
        take(&mut self.clock, other.clock);
        take(&mut self.period_ns, other.period_ns);
        take(&mut self.slack_ns, other.slack_ns);
        take(&mut self.worst_slack_ns, other.worst_slack_ns);
        take(&mut self.hold_ns, other.hold_ns);
        take(&mut self.failing, other.failing);
        take(&mut self.fmax_mhz, other.fmax_mhz);
        take(&mut self.power_w, other.power_w);
        take(&mut self.dynamic_w, other.dynamic_w);
    }

    /// What follows from the rest.
    fn conclude(&mut self) {
        // A slack beyond the period (an empty path) tells no clock.
        let by_slack = self.period_ns.zip(self.slack_ns).map(|(period, slack)| period - slack);
        self.fmax_mhz = self.fmax_mhz.or(by_slack.filter(|ns| *ns > 0.0).map(|ns| 1000.0 / ns));
        let by_clock = self.period_ns.zip(self.fmax_mhz.filter(|mhz| *mhz > 0.0));
        self.slack_ns = self.slack_ns.or(by_clock.map(|(period, mhz)| period - 1000.0 / mhz));
        let time = self.latency.zip(self.fmax_mhz.filter(|mhz| *mhz > 0.0));
        self.latency_ns = time.map(|(clocks, mhz)| clocks * 1000.0 / mhz);
    }
}

/// Everything that is found below a folder, in the order of the paths; the path of each row begins with `name`.
///
/// # Errors
/// If the folder cannot be read.
pub fn read(name: &str, folder: &Path) -> io::Result<Vec<Row>> {
    let mut files = Vec::new();
    walk(folder, MAX_DEPTH, &mut files)?;
    files.sort();
    let mut rows: BTreeMap<(PathBuf, &'static str, &'static str), Row> = BTreeMap::new();
    let mut stateless = Vec::new();
    for file in &files {
        let Some(said) = look_at(file) else { continue };
        let within = file.parent().unwrap_or(folder).to_owned();
        if said.state.is_empty() {
            stateless.push((within, said));
        } else {
            rows.entry((within, said.tool, said.state)).or_default().fill(said.row);
        }
    }
    // A report that states no stage belongs to the only stage of its folder; with several the stage is unknown.
    for (within, said) in stateless {
        let mut states = rows.keys().filter(|(f, tool, _)| (f, *tool) == (&within, said.tool)).map(|key| key.2);
        let state = match (states.next(), states.next()) {
            (Some(state), None) => state,
            _ => "",
        };
        rows.entry((within, said.tool, state)).or_default().fill(said.row);
    }
    let finished = rows.into_iter().map(|((within, tool, state), mut row)| {
        let below = within.strip_prefix(folder).unwrap_or(&within);
        row.run = Path::new(name).components().chain(below.components()).collect::<PathBuf>().display().to_string();
        (row.tool, row.state) = (tool, state);
        let facts = project_of(&within, folder);
        // A folder that alkaid wrote has it at the top.
        row.latency = facts["project"]["latency"].as_f64().or(facts["latency"].as_f64());
        row.period_ns = row.period_ns.or(facts["project"]["clock_period_ns"].as_f64());
        row.part = row.part.take().or_else(|| {
            let flow = if tool == "nextpnr" { "yosys" } else { tool };
            Some(facts["project"]["parts"][flow].as_str()?.to_owned())
        });
        row.conclude();
        row
    });
    Ok(finished.collect())
}

/// The `metadata.json` of the project that a folder is in, not above `top`.
fn project_of(within: &Path, top: &Path) -> Value {
    let folders = within.ancestors().take_while(|folder| folder.starts_with(top));
    folders.map(|f| f.join("metadata.json")).find_map(|f| serde_json::from_str(&contents(&f)?).ok()).unwrap_or_default()
}

fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if files.len() >= MAX_FILES {
            break;
        }
        // A folder that may not be read has nothing for us; a link could lead anywhere.
        if kind.is_dir() && depth > 0 {
            let _ = walk(&entry.path(), depth - 1, files);
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// A file's text, if it is one.
fn contents(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn look_at(path: &Path) -> Option<ToolReport> {
    let name = path.file_name()?.to_str()?;
    match path.extension()?.to_str()? {
        "rpt" => {
            let text = contents(path)?;
            vivado::read(name, &text).or_else(|| quartus::timing(&text))
        }
        "summary" => quartus::summary(&contents(path)?),
        "json" => yosys::read(&serde_json::from_str(&contents(path)?).ok()?),
        _ => None,
    }
}

/// The number at the beginning of a cell, thousands apart by commas.
fn number(cell: &str) -> Option<f64> {
    let word = cell.split_whitespace().next()?.replace(',', "");
    word.parse().ok().filter(|n: &f64| n.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_have_commas_and_units() {
        assert_eq!(number(" 1,234 / 427,200 ( < 1 % )"), Some(1234.0));
        assert_eq!(number("-0.125 ns"), Some(-0.125));
        assert_eq!(number("N/A"), None);
        assert_eq!(number("inf"), None);
        assert_eq!(number(""), None);
    }

    #[test]
    fn what_follows_is_concluded() {
        let mut row = Row { period_ns: Some(5.0), slack_ns: Some(1.0), latency: Some(3.0), ..Row::default() };
        row.conclude();
        assert_eq!((row.fmax_mhz, row.latency_ns), (Some(250.0), Some(12.0)));
        let mut row = Row { period_ns: Some(5.0), fmax_mhz: Some(100.0), ..Row::default() };
        row.conclude();
        assert_eq!((row.slack_ns, row.latency_ns), (Some(-5.0), None));
    }
}
