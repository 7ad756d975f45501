//! Parsers for yosys' `stat` (JSON and text) and for nextpnr's `--report` and log.

use super::{BuildRow, ClockFigures, Stage, ToolReport, number};
use serde_json::Value;
use std::collections::BTreeMap;

/// Parses `stat -json` or a nextpnr report.
pub(super) fn json(text: &str) -> Option<ToolReport> {
    let report: Value = serde_json::from_str(text).ok()?;
    if report["creator"].as_str().is_some_and(|creator| creator.starts_with("Yosys")) {
        let types = report["design"]["num_cells_by_type"].as_object()?;
        // Newer releases write an object for each kind.
        let counts =
            types.iter().filter_map(|(kind, count)| Some((kind.as_str(), count.as_f64().or(count["count"].as_f64())?)));
        return Some(ToolReport { tool: "yosys", state: Some(Stage::Synthesized), row: cells(counts) });
    }
    let (clocks, blocks) = (report["fmax"].as_object()?, report["utilization"].as_object()?);
    let used: BTreeMap<&str, f64> =
        blocks.iter().filter_map(|(name, block)| Some((name.as_str(), block["used"].as_f64()?))).collect();
    let mut row = utilisation(&used);
    let positive = |clock: &Value, key: &str| clock[key].as_f64().filter(|mhz| *mhz > 0.0);
    row.clocks = clocks
        .iter()
        .filter_map(|(name, clock)| Some(figures(name, positive(clock, "achieved")?, positive(clock, "constraint"))))
        .collect();
    Some(ToolReport { tool: "nextpnr", state: Some(Stage::Routed), row })
}

/// Returns the figures of a clock from its achieved and its required frequency in MHz.
fn figures(name: &str, mhz: f64, required: Option<f64>) -> ClockFigures {
    let period_ns = required.map(|required| 1000.0 / required);
    ClockFigures {
        name: name.to_owned(),
        period_ns,
        slack_ns: period_ns.map(|period| period - 1000.0 / mhz),
        fmax_mhz: Some(mhz),
        ..ClockFigures::default()
    }
}

/// Returns the resource figures from nextpnr's numbers of used cells.
fn utilisation(used: &BTreeMap<&str, f64>) -> BuildRow {
    let sum = |names: &[&str]| {
        let counts: Vec<f64> = names.iter().filter_map(|name| used.get(name).copied()).collect();
        (!counts.is_empty()).then(|| counts.iter().sum())
    };
    BuildRow {
        luts: sum(&["TRELLIS_COMB", "TRELLIS_SLICE", "ICESTORM_LC", "LUT4"]),
        registers: sum(&["TRELLIS_FF", "DFF"]),
        dsps: sum(&["MULT18X18D", "ICESTORM_DSP"]),
        brams: sum(&["DP16KD", "ICESTORM_RAM"]),
        ..BuildRow::default()
    }
}

/// Counts cells by kind. A carry cell of ECP5 uses two look-up tables, a distributed memory four.
fn cells<'t>(counts: impl Iterator<Item = (&'t str, f64)>) -> BuildRow {
    let zero = Some(0.0);
    let mut row = BuildRow { luts: zero, registers: zero, dsps: zero, brams: zero, ..BuildRow::default() };
    for (kind, count) in counts {
        let (column, weight) = match kind {
            "CCU2C" => (&mut row.luts, 2.0),
            "TRELLIS_DPR16X4" => (&mut row.luts, 4.0),
            "SB_LUT4" | "$lut" => (&mut row.luts, 1.0),
            k if k.starts_with("LUT") => (&mut row.luts, 1.0),
            k if ["FD", "SB_DFF", "TRELLIS_FF", "$_DFF", "$_SDFF", "DFF"].iter().any(|p| k.starts_with(p)) => {
                (&mut row.registers, 1.0)
            }
            k if k.starts_with("DSP48") || k.starts_with("MULT18X18") || k.starts_with("SB_MAC16") => {
                (&mut row.dsps, 1.0)
            }
            k if k.starts_with("RAMB18") => (&mut row.brams, 0.5),
            k if k.starts_with("RAMB36") || k.starts_with("DP16K") || k.starts_with("SB_RAM40") => {
                (&mut row.brams, 1.0)
            }
            _ => continue,
        };
        *column = column.map(|sum| sum + weight * count);
    }
    row
}

/// Parses a log of yosys or nextpnr. The last of several statistics is used, which is that of the finished design.
pub(super) fn log(text: &str) -> Option<ToolReport> {
    if text.contains("Max frequency for clock") || text.contains("Device utilisation:") {
        return Some(nextpnr_log(text));
    }
    // The block of the whole design is the last one; the lines of a block are indented.
    let is_total = |line: &str| {
        let line = line.trim();
        line.starts_with("Number of cells:") || line.strip_suffix(" cells").is_some_and(|n| number(n).is_some())
    };
    let lines: Vec<&str> = text.lines().collect();
    if !lines.iter().any(|line| line.contains("Printing statistics") || line.starts_with("=== ")) {
        return None;
    }
    let at = lines.iter().rposition(|line| is_total(line))?;
    let pair = |line: &&str| -> Option<(String, f64)> {
        let words: Vec<&str> = line.split_whitespace().collect();
        // The kind precedes the count; in releases since 0.50 it follows the count.
        let [first, last] = words[..] else { return None };
        let count = |word: &str| word.parse::<f64>().ok();
        count(last).map(|n| (first.to_owned(), n)).or_else(|| count(first).map(|n| (last.to_owned(), n)))
    };
    let is_module = |kind: &str| {
        kind.starts_with('$') || kind.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    let pairs: Vec<(String, f64)> =
        lines[at + 1..].iter().map_while(pair).filter(|(kind, _)| is_module(kind)).collect();
    if pairs.is_empty() {
        return None;
    }
    let row = cells(pairs.iter().map(|(kind, count)| (kind.as_str(), *count)));
    Some(ToolReport { tool: "yosys", state: Some(Stage::Synthesized), row })
}

/// Parses a log of nextpnr, which states frequencies after placement and again after routing.
fn nextpnr_log(text: &str) -> ToolReport {
    let message = |line: &'_ str| -> Option<usize> {
        ["Info: ", "Warning: ", "ERROR: "].iter().find(|kind| line.starts_with(**kind)).map(|kind| kind.len())
    };
    let lines = || text.lines().filter_map(|line| line.get(message(line)?..));
    let mut used: BTreeMap<&str, f64> = BTreeMap::new();
    let mut is_table = false;
    for line in lines() {
        if line.starts_with("Device utilisation:") {
            is_table = true;
            continue;
        }
        let entry = line.split_once(':').and_then(|(name, rest)| Some((name.trim(), number(rest.split_once('/')?.0)?)));
        match entry {
            Some((name, count)) if is_table => _ = used.insert(name, count),
            _ => is_table = false,
        }
    }
    let mut row = utilisation(&used);
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for line in lines() {
        let Some(rest) = line.strip_prefix("Max frequency for clock") else { continue };
        let Some((name, rest)) = rest.split_once('\'').and_then(|(_, rest)| rest.rsplit_once("': ")) else { continue };
        let Some(mhz) = number(rest) else { continue };
        let required = rest.split_once(" at ").and_then(|(_, rest)| number(rest));
        *found.entry(name).or_default() += 1;
        row.clocks.retain(|clock| clock.name != name);
        row.clocks.push(figures(name, mhz, required));
    }
    let is_routed = found.values().any(|count| *count > 1) || lines().any(|line| line.starts_with("Routing complete"));
    let state = if is_routed { Stage::Routed } else { Stage::Placed };
    ToolReport { tool: "nextpnr", state: Some(state), row }
}
