//! Reports of FPGA tools as rows of one table.
//!
//! A folder is searched for files that Vivado, Vitis HLS, Quartus, Diamond, Gowin, yosys and nextpnr write; the content
//! of a file decides which tool wrote it. The figures of all files that one tool wrote into one folder about one stage
//! of a build are merged into a [`BuildRow`]; the row of the last stage represents the build.
//!
//! | file | content |
//! |---|---|
//! | `vivado` | utilisation, timing summary and power of Vivado |
//! | `quartus` | summaries and reports of Quartus Standard and Pro |
//! | `hls` | `csynth` and export reports of Vivado HLS and Vitis HLS |
//! | `lattice` | `.mrp` and `.twr` of Diamond |
//! | `gowin` | `.rpt.txt` of Gowin EDA |
//! | `yosys` | `stat` of yosys (JSON and text), report and log of nextpnr |
//! | `tables` | columns; text, CSV, Markdown, HTML and JSON |

mod gowin;
mod hls;
mod lattice;
mod pareto;
mod quartus;
mod tables;
mod vivado;
mod yosys;

pub use pareto::pareto;
pub use tables::{Column, Separated, csv, for_people, html, json, markdown, sort, text};

use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Maximum size of a report file, in bytes.
const MAX_BYTES: u64 = 64 << 20;
/// Maximum depth of folders below the given folder.
const MAX_DEPTH: usize = 8;
/// Maximum number of files that are read.
const MAX_FILES: usize = 100_000;

/// Stage of a build; stages are ordered as a tool reaches them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// After synthesis.
    Synthesized,
    /// After logic optimisation (`opt_design`).
    Optimized,
    /// After placement.
    Placed,
    /// After physical optimisation of the placed design.
    PhysOpt,
    /// After routing.
    Routed,
}

impl Stage {
    /// Returns the name of the stage in tables.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Synthesized => "synthesized",
            Stage::Optimized => "optimized",
            Stage::Placed => "placed",
            Stage::PhysOpt => "physopt",
            Stage::Routed => "routed",
        }
    }
}

/// Figures of one clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ClockFigures {
    /// Name.
    pub name: String,
    /// `base`, `generated` or `virtual`; `None` if the report does not state it.
    pub kind: Option<String>,
    /// Period in nanoseconds.
    pub period_ns: Option<f64>,
    /// Least setup slack of the clock's own register paths, in nanoseconds.
    pub slack_ns: Option<f64>,
    /// Least hold slack of the clock, in nanoseconds.
    pub hold_ns: Option<f64>,
    /// Number of path ends that miss setup, hold or pulse width.
    pub failing: Option<f64>,
    /// Highest frequency that the clock's register paths permit, in MHz.
    pub fmax_mhz: Option<f64>,
    /// Highest frequency that both the register paths and the clock network permit, in MHz.
    pub restricted_fmax_mhz: Option<f64>,
}

/// Figures of one stage of a build. A figure is `None` if the reports do not state the figure; `None` never represents
/// zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BuildRow {
    /// Path of the reports: the name of the given folder, then the path within that folder.
    pub run: String,
    /// Name of the tool.
    pub tool: &'static str,
    /// Stage; `None` if unknown.
    pub state: Option<Stage>,
    /// `true` on the row that represents the build: the row of its last stage.
    pub result: bool,
    /// Part number of the device.
    pub part: Option<String>,
    /// Look-up tables.
    pub luts: Option<f64>,
    /// Adaptive logic modules (Intel).
    pub alms: Option<f64>,
    /// Combinational adaptive look-up tables (Intel).
    pub aluts: Option<f64>,
    /// Logic elements (Intel devices without adaptive logic modules).
    pub logic_elements: Option<f64>,
    /// Flip-flops.
    pub registers: Option<f64>,
    /// DSP blocks.
    pub dsps: Option<f64>,
    /// BRAMs; halves for RAMB18.
    pub brams: Option<f64>,
    /// Large memories (URAM).
    pub urams: Option<f64>,
    /// Carry cells.
    pub carries: Option<f64>,
    /// Clock of `period_ns`, `slack_ns` and both Fmax: the non-virtual one with the least slack over its own register
    /// paths.
    pub clock: Option<String>,
    /// Required clock period, in nanoseconds.
    pub period_ns: Option<f64>,
    /// Setup slack of the clock, in nanoseconds.
    pub slack_ns: Option<f64>,
    /// Least setup slack of all paths, in nanoseconds.
    pub worst_slack_ns: Option<f64>,
    /// Least hold slack of all paths, in nanoseconds.
    pub hold_ns: Option<f64>,
    /// Number of path ends that miss setup, hold or pulse width.
    pub failing: Option<f64>,
    /// Highest frequency of the clock by its register paths, in MHz.
    pub fmax_mhz: Option<f64>,
    /// Highest frequency that both the register paths and the network of the clock permit, in MHz (Intel).
    pub restricted_fmax_mhz: Option<f64>,
    /// Total power, in watts.
    pub power_w: Option<f64>,
    /// Dynamic power, in watts.
    pub dynamic_w: Option<f64>,
    /// Latency in clock cycles, from `metadata.json` or an HLS report.
    pub latency: Option<f64>,
    /// Latency at the highest frequency, in nanoseconds.
    pub latency_ns: Option<f64>,
    /// Stage of the area figures if it differs from `state`: [`for_people`] takes area after placement for a routed
    /// design.
    pub area_state: Option<Stage>,
    /// Figures of all clocks.
    pub clocks: Vec<ClockFigures>,
    /// Further figures by the name of their column ([`tables::Column::FURTHER`]).
    pub further: BTreeMap<&'static str, f64>,
}

/// Content of one report file.
struct ToolReport {
    tool: &'static str,
    state: Option<Stage>,
    row: BuildRow,
}

/// Outcome of reading a file.
enum FileContent {
    /// Not a report with figures of a build.
    Other,
    /// Figures.
    Report(Box<ToolReport>),
    /// A report without the expected figures, or of an unsupported kind; with the reason.
    NoFigures(&'static str),
}

impl From<Option<ToolReport>> for FileContent {
    fn from(report: Option<ToolReport>) -> FileContent {
        match report {
            None => FileContent::Other,
            Some(report) if report.row.is_empty() => FileContent::NoFigures("no figure was found in it"),
            Some(report) => FileContent::Report(Box::new(report)),
        }
    }
}

/// Report file of a known tool from which no figures were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Reason.
    pub reason: &'static str,
}

/// Rows and files without figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reports {
    /// Rows in the order of their paths, tools and stages.
    pub rows: Vec<BuildRow>,
    /// Files of known tools from which no figures were read.
    pub skipped: Vec<SkippedFile>,
}

impl BuildRow {
    /// Returns `true` if the row has no figure.
    fn is_empty(&self) -> bool {
        *self == BuildRow { part: self.part.clone(), ..BuildRow::default() }
    }

    /// Adds the figures of another report about the same stage. Known figures are kept.
    fn fill(&mut self, other: BuildRow) {
        fn take<T>(into: &mut Option<T>, from: Option<T>) {
            if into.is_none() {
                *into = from;
            }
        }
        // Some reports omit the speed grade.
        let length = |part: &Option<String>| part.as_ref().map_or(0, String::len);
        if length(&other.part) > length(&self.part) {
            self.part = other.part;
        }
        take(&mut self.period_ns, other.period_ns);
        take(&mut self.fmax_mhz, other.fmax_mhz);
        take(&mut self.luts, other.luts);
        take(&mut self.alms, other.alms);
        take(&mut self.aluts, other.aluts);
        take(&mut self.logic_elements, other.logic_elements);
        take(&mut self.registers, other.registers);
        take(&mut self.dsps, other.dsps);
        take(&mut self.brams, other.brams);
        take(&mut self.urams, other.urams);
        take(&mut self.carries, other.carries);
        take(&mut self.worst_slack_ns, other.worst_slack_ns);
        take(&mut self.hold_ns, other.hold_ns);
        take(&mut self.failing, other.failing);
        take(&mut self.power_w, other.power_w);
        take(&mut self.dynamic_w, other.dynamic_w);
        take(&mut self.latency, other.latency);
        for clock in other.clocks {
            match self.clocks.iter_mut().find(|known| known.name == clock.name) {
                None => self.clocks.push(clock),
                Some(known) => {
                    take(&mut known.kind, clock.kind);
                    take(&mut known.period_ns, clock.period_ns);
                    take(&mut known.slack_ns, clock.slack_ns);
                    take(&mut known.hold_ns, clock.hold_ns);
                    take(&mut known.failing, clock.failing);
                    take(&mut known.fmax_mhz, clock.fmax_mhz);
                    take(&mut known.restricted_fmax_mhz, clock.restricted_fmax_mhz);
                }
            }
        }
        for (name, figure) in other.further {
            self.further.entry(name).or_insert(figure);
        }
    }

    /// Copies the figures of the clock with the least slack or, if no clock has a slack, with the lowest Fmax. Virtual
    /// clocks are ignored, as they clock no register.
    fn choose_clock(&mut self) {
        let is_real = |clock: &&ClockFigures| clock.kind.as_deref() != Some("virtual");
        let with_slack = self.clocks.iter().filter(is_real).filter_map(|clock| Some((clock.slack_ns?, clock)));
        let least = with_slack.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, clock)| clock);
        let slowest = || {
            let with_clock = self.clocks.iter().filter(is_real).filter_map(|clock| Some((clock.fmax_mhz?, clock)));
            with_clock.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, clock)| clock)
        };
        if let Some(clock) = least.or_else(slowest).cloned() {
            self.clock = Some(clock.name);
            self.period_ns = clock.period_ns;
            self.slack_ns = clock.slack_ns;
            self.fmax_mhz = clock.fmax_mhz;
            self.restricted_fmax_mhz = clock.restricted_fmax_mhz;
        }
    }

    /// Computes the figures that follow from other figures.
    fn conclude(&mut self) {
        let fmax = |period: Option<f64>, slack: Option<f64>| {
            // A slack larger than the period (an empty path) determines no frequency.
            period.zip(slack).map(|(period, slack)| period - slack).filter(|ns| *ns > 0.0).map(|ns| 1000.0 / ns)
        };
        self.choose_clock();
        self.fmax_mhz = self.fmax_mhz.or(fmax(self.period_ns, self.slack_ns));
        for clock in &mut self.clocks {
            clock.fmax_mhz = clock.fmax_mhz.or(fmax(clock.period_ns, clock.slack_ns));
        }
        // An HLS report only estimates Fmax, so no slack of paths is derived from that Fmax.
        if self.tool != "hls" {
            let by_clock = self.period_ns.zip(self.fmax_mhz.filter(|mhz| *mhz > 0.0));
            self.slack_ns = self.slack_ns.or(by_clock.map(|(period, mhz)| period - 1000.0 / mhz));
        }
        let time = self.latency.zip(self.fmax_mhz.filter(|mhz| *mhz > 0.0));
        self.latency_ns = time.map(|(cycles, mhz)| cycles * 1000.0 / mhz);
    }

    /// Returns `true` if timing is met; `None` if the row has no timing figure.
    pub fn meets_timing(&self) -> Option<bool> {
        let clocks = self.clocks.iter().flat_map(|clock| [clock.slack_ns, clock.hold_ns]);
        let own = [self.slack_ns, self.worst_slack_ns, self.hold_ns, self.further.get("pulse_width_ns").copied()];
        let slacks: Vec<f64> = clocks.chain(own).flatten().collect();
        let misses = slacks.iter().any(|slack| *slack < 0.0) || self.failing.is_some_and(|count| count > 0.0);
        (!slacks.is_empty() || self.failing.is_some()).then_some(!misses)
    }
}

/// Reads all reports below a folder, or one file. The path of each row begins with `name`.
///
/// # Errors
/// If the folder cannot be read.
pub fn read(name: &str, folder: &Path) -> io::Result<Reports> {
    let mut files = Vec::new();
    let top = if folder.is_file() {
        files.push(folder.to_owned());
        folder.parent().unwrap_or(folder).to_owned()
    } else {
        walk(folder, MAX_DEPTH, &mut files)?;
        folder.to_owned()
    };
    files.sort();
    let mut skipped = Vec::new();
    let mut rows: BTreeMap<(PathBuf, &'static str, Option<Stage>), BuildRow> = BTreeMap::new();
    let mut stateless = Vec::new();
    for file in hls::whole_designs(files) {
        let report = match look_at(&file) {
            FileContent::Other => continue,
            FileContent::NoFigures(reason) => {
                skipped.push(SkippedFile { path: file, reason });
                continue;
            }
            FileContent::Report(report) => report,
        };
        let within = file.parent().unwrap_or(&top).to_owned();
        match report.state {
            None => stateless.push((within, report)),
            state => rows.entry((within, report.tool, state)).or_default().fill(report.row),
        }
    }
    // A report that states no stage belongs to the only stage of its folder. If the folder has several stages, the
    // stage is unknown.
    let mut states: BTreeMap<(PathBuf, &str), BTreeSet<Stage>> = BTreeMap::new();
    for (within, tool, state) in rows.keys() {
        states.entry((within.clone(), tool)).or_default().extend(*state);
    }
    for (within, report) in stateless {
        let known = states.get(&(within.clone(), report.tool));
        let state = match known.map(|known| known.iter().collect::<Vec<_>>()).as_deref() {
            Some([only]) => Some(**only),
            // Timing analysis of Quartus follows the fitter.
            Some(all) if report.tool == "quartus" => all.iter().max().map(|state| **state),
            _ => None,
        };
        rows.entry((within, report.tool, state)).or_default().fill(report.row);
    }
    let mut finished: Vec<(PathBuf, BuildRow)> = rows
        .into_iter()
        .map(|((within, tool, state), mut row)| {
            let below = within.strip_prefix(&top).unwrap_or(&within);
            row.run = Path::new(name).components().chain(below.components()).collect::<PathBuf>().display().to_string();
            (row.tool, row.state) = (tool, state);
            row.add_project(&project_of(&within, &top));
            row.conclude();
            (within, row)
        })
        .collect();
    mark_results(&mut finished);
    Ok(Reports { rows: finished.into_iter().map(|(_, row)| row).collect(), skipped })
}

impl BuildRow {
    /// Adds the facts of the `metadata.json` of an alir2hdl or alkaid project.
    fn add_project(&mut self, facts: &Value) {
        let project = &facts["project"];
        let first = |values: &[&Value]| values.iter().find_map(|value| value.as_f64());
        self.latency =
            self.latency.or_else(|| first(&[&project["latency"], &facts["latency"], &facts["latency_cycles"]]));
        self.period_ns = self
            .period_ns
            .or_else(|| first(&[&project["clock_period_ns"], &facts["clock_period_ns"], &facts["clock_period"]]));
        if self.part.is_none() {
            let flow = if self.tool == "nextpnr" { "yosys" } else { self.tool };
            let part = project["parts"][flow].as_str().or(facts["part"].as_str()).or(facts["part_name"].as_str());
            self.part = part.map(str::to_owned);
        }
    }
}

/// Marks the last stage of each build. The rows of one tool in one folder are a build; yosys and nextpnr count as one
/// tool.
fn mark_results(rows: &mut [(PathBuf, BuildRow)]) {
    let flow = |row: &BuildRow| if row.tool == "nextpnr" { "yosys" } else { row.tool };
    let mut last: BTreeMap<(PathBuf, &str), Option<Stage>> = BTreeMap::new();
    for (within, row) in rows.iter() {
        let stage = last.entry((within.clone(), flow(row))).or_default();
        *stage = row.state.max(*stage);
    }
    for (within, row) in rows {
        row.result = row.state == last[&(within.clone(), flow(row))];
    }
}

/// Returns the `metadata.json` of the project that a folder is in, not above `top`.
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
        // A folder without read permission is skipped, as are symbolic links, which may lead anywhere. HLS keeps copies
        // of its reports in the folder `.autopilot`.
        if kind.is_dir() && depth > 0 && entry.file_name() != ".autopilot" {
            let _ = walk(&entry.path(), depth - 1, files);
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// Returns the content of a file; `None` if it cannot be read.
fn contents(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn look_at(path: &Path) -> FileContent {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let lower = name.to_ascii_lowercase();
    let extension = lower.rsplit_once('.').map_or("", |(_, extension)| extension);
    if !matches!(extension, "rpt" | "summary" | "json" | "xml" | "mrp" | "twr" | "tw1" | "txt" | "log" | "stat") {
        return FileContent::Other;
    }
    let Some(text) = contents(path) else { return FileContent::Other };
    match extension {
        "json" => yosys::json(&text).into(),
        "xml" => hls::xml(&text).into(),
        "summary" => quartus::summary(&text).into(),
        "mrp" => lattice::map(&text),
        "twr" | "tw1" => lattice::timing(&lower, &text),
        "txt" if lower.ends_with(".rpt.txt") && gowin::is_report(&text) => Some(gowin::read(&text)).into(),
        _ => {
            let vivado = vivado::read(name, &text);
            if !matches!(vivado, FileContent::Other) {
                return vivado;
            }
            let others = quartus::report(&lower, &text).or_else(|| hls::text(&text)).or_else(|| yosys::log(&text));
            others.into()
        }
    }
}

/// Returns the number at the beginning of a cell, in which commas separate thousands.
fn number(cell: &str) -> Option<f64> {
    let word = cell.split_whitespace().next()?.replace(',', "");
    word.parse().ok().filter(|n: &f64| n.is_finite())
}

/// Returns the smaller of two figures; the known one if only one is known.
fn smaller(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
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
    fn figures_follow_from_others() {
        let mut row = BuildRow { period_ns: Some(5.0), slack_ns: Some(1.0), latency: Some(3.0), ..BuildRow::default() };
        row.conclude();
        assert_eq!((row.fmax_mhz, row.latency_ns), (Some(250.0), Some(12.0)));
        let mut row = BuildRow { period_ns: Some(5.0), fmax_mhz: Some(100.0), ..BuildRow::default() };
        row.conclude();
        assert_eq!((row.slack_ns, row.latency_ns), (Some(-5.0), None));
    }

    #[test]
    fn timing_is_met_only_if_every_slack_is() {
        let with = |slack, hold, failing| BuildRow { slack_ns: slack, hold_ns: hold, failing, ..BuildRow::default() };
        assert_eq!(with(None, None, None).meets_timing(), None);
        assert_eq!(with(Some(0.0), Some(0.1), Some(0.0)).meets_timing(), Some(true));
        assert_eq!(with(Some(0.1), Some(-0.1), None).meets_timing(), Some(false));
        assert_eq!(with(Some(0.1), None, Some(2.0)).meets_timing(), Some(false));
    }
}
