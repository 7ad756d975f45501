//! Reports of Quartus Standard and Pro: `.fit`, `.map`, `.syn`, `.sta` and `.pow`, each as `.summary` or `.rpt`.

use super::{BuildRow, ClockFigures, Stage, ToolReport, number, smaller};
use std::collections::BTreeMap;

/// Lines of a resource table or summary as pairs (name, value).
type Pairs<'t> = Vec<(&'t str, &'t str)>;

/// Names of the number of ALMs, the most exact figure first. The lists below have the same order.
const ALMS: &[&str] = &[
    "Logic utilization (in ALMs)",
    "Logic utilization (ALMs needed / total ALMs on device)",
    "Logic utilization estimate (in ALMs)",
    "Estimate of Logic utilization (ALMs needed)",
];
const ALUTS: &[&str] = &["Combinational ALUT usage for logic", "Combinational ALUT usage", "Combinational ALUTs"];
const LOGIC_ELEMENTS: &[&str] = &["Total logic elements", "Estimated Total logic elements"];
const REGISTERS: &[&str] = &["Total registers", "Total dedicated logic registers", "Dedicated logic registers"];
const DSPS: &[&str] = &[
    "Total DSP Blocks",
    "DSP Blocks Needed",
    "DSP Blocks",
    "DSP block 18-bit elements",
    "Estimated DSP Blocks Post-Merging",
    "Embedded Multiplier 9-bit elements",
];
const MEMORIES: &[&str] = &["Total RAM Blocks", "M20K blocks", "M10K blocks", "M9Ks", "M4Ks"];
const MEMORY_BITS: &[&str] = &["Total block memory bits", "Total memory bits"];

/// Returns the resource counts of a table or summary.
fn resources(pairs: &Pairs<'_>) -> BuildRow {
    // A bracket or a star refers to a footnote: "DSP Blocks Needed [=A+B+C-D]", "Total registers*".
    let plain = |key: &str| key.split(" [").next().unwrap_or(key).trim_end_matches('*').trim().to_owned();
    let of_key = |key: &str| pairs.iter().find(|(k, _)| plain(k) == key).and_then(|(_, value)| number(value));
    let used = |keys: &[&str]| keys.iter().find_map(|key| of_key(key));
    let mut row = BuildRow {
        alms: used(ALMS),
        aluts: used(ALUTS),
        logic_elements: used(LOGIC_ELEMENTS),
        registers: used(REGISTERS),
        dsps: used(DSPS),
        brams: used(MEMORIES),
        ..BuildRow::default()
    };
    row.further.extend(used(MEMORY_BITS).map(|bits| ("memory_bits", bits)));
    row.further.extend(used(&["Total PLLs"]).map(|plls| ("plls", plls)));
    let available = |keys: &[&str]| {
        let value = keys.iter().find_map(|key| pairs.iter().find(|(k, _)| plain(k) == *key))?.1;
        number(value.split_once('/')?.1)
    };
    for (name, keys) in [
        ("alms_available", ALMS),
        ("logic_elements_available", LOGIC_ELEMENTS),
        ("dsps_available", DSPS),
        ("brams_available", MEMORIES),
    ] {
        row.further.extend(available(keys).map(|count| (name, count)));
    }
    row
}

/// Sets the power figures of a row, in watts.
fn power(pairs: &Pairs<'_>, row: &mut BuildRow) {
    let watts = |key: &str| {
        let value = pairs.iter().find(|(k, _)| *k == key)?.1;
        Some(number(value)? * if value.contains("mW") { 1e-3 } else { 1.0 })
    };
    row.power_w = watts("Total Thermal Power Dissipation");
    row.dynamic_w = watts("Core Dynamic Thermal Power Dissipation");
    row.further.extend(watts("Core Static Thermal Power Dissipation").map(|watts| ("static_w", watts)));
}

/// Parses a `.summary` file with lines `key : value`. Returns `None` if the file has no figures, or is of another kind.
pub(super) fn summary(text: &str) -> Option<ToolReport> {
    let pair = |line: &'_ str| -> Option<(usize, usize)> { Some((line.find(':')?, line.len())) };
    let pairs: Pairs<'_> = text
        .lines()
        .filter_map(|line| pair(line).map(|(colon, end)| (line[..colon].trim(), line[colon + 1..end].trim())))
        .collect();
    let is = |key: &str| pairs.iter().any(|(k, _)| *k == key);
    let value = |key: &str| pairs.iter().find(|(k, _)| *k == key).map(|(_, value)| *value);
    let (state, mut row) = if is("Fitter Status") {
        (Some(Stage::Routed), resources(&pairs))
    } else if is("Analysis & Synthesis Status") || is("Synthesis Status") {
        // Quartus Pro writes no figures to this file.
        if !pairs.iter().any(|(key, _)| key.starts_with("Total") || key.starts_with("Logic")) {
            return None;
        }
        (Some(Stage::Synthesized), resources(&pairs))
    } else if is("Slack") {
        (None, slacks(&pairs))
    } else if is("Total Thermal Power Dissipation") {
        let mut row = BuildRow::default();
        power(&pairs, &mut row);
        (None, row)
    } else {
        return None;
    };
    row.part = value("Device").map(str::to_owned);
    Some(ToolReport { tool: "quartus", state, row })
}

/// Returns the kind of a timing check and its clock, as in `Slow 900mV 0C Model Setup 'clk'`.
fn check_and_clock(kind: &str) -> Option<(&str, &str)> {
    let (before, clock) = kind.trim_end().strip_suffix('\'')?.split_once('\'')?;
    let before = before.trim_end();
    let known = ["Setup", "Hold", "Recovery", "Removal", "Minimum Pulse Width"];
    known.into_iter().find(|known| before.ends_with(known)).map(|check| (check, clock))
}

/// Returns the slacks of a `.sta.summary` file, for the worst corner.
fn slacks(pairs: &Pairs<'_>) -> BuildRow {
    let mut timing = Timing::default();
    let mut check = None;
    for (key, value) in pairs {
        match *key {
            "Type" => check = check_and_clock(value),
            "Slack" => {
                if let (Some((check, clock)), Some(slack)) = (check, number(value)) {
                    timing.add(check, clock, slack, None);
                }
            }
            "TNS" => {
                if let (Some(("Setup", _)), Some(tns)) = (check, number(value)) {
                    timing.tns = smaller(timing.tns, Some(tns));
                }
            }
            _ => {}
        }
    }
    timing.row()
}

/// Timing figures by check and clock, for the worst corner. Slacks and periods are in nanoseconds.
#[derive(Default)]
struct Timing<'t> {
    setup: BTreeMap<&'t str, f64>,
    hold: BTreeMap<&'t str, f64>,
    pulse_width: Option<f64>,
    /// Number of failing end points by check and clock.
    failing: BTreeMap<(&'t str, &'t str), f64>,
    /// Kind and period of each clock.
    clocks: BTreeMap<&'t str, (Option<String>, Option<f64>)>,
    /// Fmax and restricted Fmax of each clock in its slowest corner, in MHz.
    fmax: BTreeMap<&'t str, (f64, Option<f64>)>,
    /// Total negative slack of the worst clock in the worst corner, in nanoseconds.
    tns: Option<f64>,
}

impl<'t> Timing<'t> {
    /// Adds the slack of a check in one corner, and the number of its failing end points.
    fn add(&mut self, check: &'t str, clock: &'t str, slack: f64, failing: Option<f64>) {
        let slacks = match check {
            "Setup" => &mut self.setup,
            "Hold" => &mut self.hold,
            "Minimum Pulse Width" => {
                self.pulse_width = smaller(self.pulse_width, Some(slack));
                self.count(check, clock, failing);
                return;
            }
            _ => {
                self.count(check, clock, failing);
                return;
            }
        };
        let least = slacks.entry(clock).or_insert(slack);
        *least = least.min(slack);
        self.count(check, clock, failing);
    }

    /// Keeps the largest number of failing end points of all corners.
    fn count(&mut self, check: &'t str, clock: &'t str, failing: Option<f64>) {
        if let Some(count) = failing {
            let most = self.failing.entry((check, clock)).or_insert(count);
            *most = most.max(count);
        }
    }

    /// Returns the figures of the whole design and of each clock.
    fn row(self) -> BuildRow {
        let least = |slacks: &BTreeMap<&str, f64>| slacks.values().copied().min_by(f64::total_cmp);
        let mut row = BuildRow {
            worst_slack_ns: least(&self.setup),
            hold_ns: least(&self.hold),
            failing: (!self.failing.is_empty()).then(|| self.failing.values().sum()),
            ..BuildRow::default()
        };
        row.further.extend(self.pulse_width.map(|slack| ("pulse_width_ns", slack)));
        row.further.extend(self.tns.map(|tns| ("tns_ns", tns)));
        let mut names: Vec<&str> =
            self.clocks.keys().chain(self.setup.keys()).chain(self.fmax.keys()).copied().collect();
        names.sort_unstable();
        names.dedup();
        row.clocks = names
            .into_iter()
            .map(|name| {
                let (kind, period_ns) = self.clocks.get(name).cloned().unwrap_or_default();
                let failing: Vec<f64> =
                    self.failing.iter().filter(|((_, clock), _)| *clock == name).map(|(_, count)| *count).collect();
                ClockFigures {
                    name: name.to_owned(),
                    kind,
                    period_ns,
                    slack_ns: self.setup.get(name).copied(),
                    hold_ns: self.hold.get(name).copied(),
                    failing: (!failing.is_empty()).then(|| failing.iter().sum()),
                    fmax_mhz: self.fmax.get(name).map(|(fmax, _)| *fmax),
                    restricted_fmax_mhz: self.fmax.get(name).and_then(|(_, restricted)| *restricted),
                }
            })
            .collect();
        row
    }
}

/// A table of a `.rpt` file: its title, and its lines of cells; the first line has the headings.
struct Table<'t> {
    title: &'t str,
    lines: Vec<Vec<&'t str>>,
}

impl<'t> Table<'t> {
    /// Returns the cell of a line below a heading.
    fn cell(&self, line: &[&'t str], heading: &str) -> Option<&'t str> {
        let at = self.lines.first()?.iter().position(|cell| *cell == heading)?;
        line.get(at).copied()
    }

    /// Returns the lines below the headings.
    fn body(&self) -> &[Vec<&'t str>] {
        self.lines.get(1..).unwrap_or_default()
    }
}

/// Splits a `.rpt` file into its tables. A title is a line with one cell between rules.
fn tables(text: &str) -> Vec<Table<'_>> {
    let mut tables: Vec<Table<'_>> = Vec::new();
    let mut is_after_rule = false;
    for line in text.lines() {
        if let Some(cells) = line.strip_prefix(';') {
            let cells: Vec<&str> = cells.trim_end().trim_end_matches(';').split(';').map(str::trim).collect();
            match (&cells[..], tables.last_mut()) {
                ([title], _) if is_after_rule => tables.push(Table { title, lines: Vec::new() }),
                (_, Some(table)) => table.lines.push(cells),
                _ => {}
            }
        }
        is_after_rule = line.starts_with('+');
    }
    tables
}

/// Parses a `.rpt` file. The suffix of the name and the first line state the kind of report.
pub(super) fn report(name: &str, text: &str) -> Option<ToolReport> {
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    let is = |kind: &str| first.starts_with(kind);
    let ends = |suffix: &str| name.ends_with(suffix);
    if (is("Timing Analyzer report for") || is("TimeQuest Timing Analyzer report for")) && ends(".sta.rpt") {
        return Some(ToolReport { tool: "quartus", state: None, row: timing(text) });
    }
    let state = if is("Fitter report for") && ends(".fit.rpt") {
        Some(Stage::Routed)
    } else if (is("Analysis & Synthesis report for") && ends(".map.rpt"))
        || (is("Synthesis report for") && ends(".syn.rpt"))
    {
        Some(Stage::Synthesized)
    } else if (is("PowerPlay Power Analyzer report for") || is("Power Analyzer report for")) && ends(".pow.rpt") {
        None
    } else {
        return None;
    };
    let tables = tables(text);
    let wanted = |table: &&Table<'_>| {
        let title = table.title;
        title.ends_with(" Summary") && !title.contains("by Entity") && !title.contains("RAM Summary")
            || title.contains("Resource Usage Summary")
    };
    let pairs: Pairs<'_> = tables
        .iter()
        .filter(wanted)
        .flat_map(|table| &table.lines)
        .filter_map(|line| Some((*line.first()?, *line.get(1)?)))
        .collect();
    let mut row = resources(&pairs);
    power(&pairs, &mut row);
    row.part = pairs.iter().find(|(key, _)| *key == "Device").map(|(_, value)| (*value).to_owned());
    Some(ToolReport { tool: "quartus", state, row })
}

/// Parses the tables of a `.sta.rpt` file. Quartus Standard has a table for each corner, Pro one for all corners.
fn timing(text: &str) -> BuildRow {
    let tables = tables(text);
    let mut timing = Timing::default();
    for table in &tables {
        if table.title == "Clocks" {
            for line in table.body() {
                let Some(name) = table.cell(line, "Clock Name").filter(|name| !name.is_empty()) else { continue };
                let kind = table.cell(line, "Type").map(str::to_ascii_lowercase);
                timing.clocks.insert(name, (kind, table.cell(line, "Period").and_then(number)));
            }
        } else if table.title.ends_with("Fmax Summary") {
            for line in table.body() {
                let (Some(clock), Some(fmax)) =
                    (table.cell(line, "Clock Name"), table.cell(line, "Fmax").and_then(number))
                else {
                    continue;
                };
                let restricted = table.cell(line, "Restricted Fmax").and_then(number);
                let slowest = timing.fmax.entry(clock).or_insert((fmax, restricted));
                if fmax < slowest.0 {
                    *slowest = (fmax, restricted);
                }
            }
        } else if let Some(check) = table.title.strip_suffix(" Summary") {
            let known = ["Setup", "Hold", "Recovery", "Removal", "Minimum Pulse Width"];
            let Some(check) = known.into_iter().find(|known| check.ends_with(known)) else { continue };
            for line in table.body() {
                let (Some(clock), Some(slack)) =
                    (table.cell(line, "Clock"), table.cell(line, "Slack").and_then(number))
                else {
                    continue;
                };
                timing.add(check, clock, slack, table.cell(line, "Failing End Points").and_then(number));
                if check == "Setup" {
                    let tns = table.cell(line, "End Point TNS").and_then(number);
                    timing.tns = smaller(timing.tns, tns);
                }
            }
        }
    }
    let mut row = timing.row();
    let device = tables.iter().find(|table| table.title.ends_with("Analyzer Summary"));
    let name = device.and_then(|table| table.lines.iter().find(|line| line.first() == Some(&"Device Name")));
    row.part = name.and_then(|line| line.get(1)).map(|part| (*part).to_owned());
    row
}
