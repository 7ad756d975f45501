//! Vivado's `report_utilization`, `report_timing_summary` and `report_power`, in the text form that UG906 shows.

use super::{Row, ToolReport, number};

/// What a report says, if it is one of Vivado's.
pub(super) fn read(name: &str, text: &str) -> Option<ToolReport> {
    let header = |key: &str| {
        let line = text.lines().take(40).find_map(|l| l.strip_prefix('|')?.trim_start().strip_prefix(key))?;
        line.trim_start().strip_prefix(':').map(str::trim)
    };
    if !header("Tool Version")?.starts_with("Vivado") {
        return None;
    }
    let mut row = Row { part: header("Device").map(str::to_owned), ..Row::default() };
    let command = header("Command")?;
    if command.starts_with("report_utilization") {
        utilisation(text, &mut row);
    } else if command.starts_with("report_timing_summary") {
        timing(text, &mut row);
    } else if command.starts_with("report_power") {
        let power = |key: &str| cells(text).find(|c| c[0].starts_with(key)).and_then(|c| number(c.get(1)?));
        row.power_w = power("Total On-Chip Power (W)");
        row.dynamic_w = power("Dynamic (W)");
    } else {
        return None;
    }
    // Older releases do not say it; our scripts do, in the name.
    let state = match header("Design State") {
        Some(state) if state.starts_with("Synth") => "synthesised",
        Some(_) => "routed",
        None if name.contains("synth") => "synthesised",
        None => "routed",
    };
    Some(ToolReport { tool: "vivado", state, row })
}

/// The rows of all tables.
fn cells(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().filter_map(|l| l.trim().strip_prefix('|')).map(|l| l.split('|').map(str::trim).collect())
}

fn utilisation(text: &str, row: &mut Row) {
    for cells in cells(text) {
        let used = cells.get(1).and_then(|used| number(used));
        // The star leads to a footnote about synthesis.
        let column = match cells[0].trim_end_matches('*') {
            "CLB LUTs" | "Slice LUTs" => &mut row.luts,
            "CLB Registers" | "Slice Registers" => &mut row.registers,
            "DSPs" | "DSP Slices" => &mut row.dsps,
            "Block RAM Tile" => &mut row.brams,
            "URAM" => &mut row.urams,
            "CARRY8" | "CARRY4" | "LOOKAHEAD8" => &mut row.carries,
            _ => continue,
        };
        *column = column.or(used);
    }
}

fn timing(text: &str, row: &mut Row) {
    // Column names, a line of dashes, values.
    let values = |first: &'static str| {
        let lines = text.lines().skip_while(move |line| !line.trim_start().starts_with(first));
        let mut below = lines.skip(1);
        below.next().filter(|dashes| dashes.trim_start().starts_with('-')).map(|_| below)
    };
    if let Some(mut lines) = values("WNS(ns)") {
        let numbers: Vec<&str> = lines.next().unwrap_or_default().split_whitespace().collect();
        let at = |k: usize| numbers.get(k).and_then(|n| number(n));
        (row.slack_ns, row.failing, row.hold_ns) = (at(0), at(2), at(4));
    }
    if let Some(lines) = values("Clock ") {
        let clocks = lines.take_while(|line| !line.trim().is_empty());
        // Name, {waveform}, period, frequency; the waveform has spaces.
        let period = |line: &str| number(line.split_once('}')?.1);
        row.period_ns = clocks.filter_map(period).min_by(f64::total_cmp);
    }
}
