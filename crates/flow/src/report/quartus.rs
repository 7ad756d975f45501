//! Quartus' `.fit.summary`, `.map.summary`, `.syn.summary`, `.sta.summary`, `.pow.summary` and the tables of
//! `.sta.rpt`.

use super::{Row, ToolReport, number};

/// What a summary says: lines `key : value`.
pub(super) fn summary(text: &str) -> Option<ToolReport> {
    let pairs = || text.lines().filter_map(|line| line.split_once(" : ")).map(|(k, v)| (k.trim(), v.trim()));
    let value = |key: &str| pairs().find(|(k, _)| *k == key).map(|(_, v)| v);
    let mut row = Row { part: value("Device").map(str::to_owned), ..Row::default() };
    let is = |key: &str| pairs().any(|(k, _)| k == key);
    let state = if is("Analysis & Synthesis Status") || is("Synthesis Status") { "synthesized" } else { "routed" };
    if is("Fitter Status") || state == "synthesized" {
        let used = |keys: &[&str]| keys.iter().find_map(|key| number(value(key)?));
        row.luts = used(&["Logic utilization (in ALMs)", "Total logic elements"]);
        row.registers = used(&["Total registers", "Total dedicated logic registers"]);
        row.dsps = used(&["Total DSP Blocks", "Embedded Multiplier 9-bit elements"]);
        row.brams = used(&["Total RAM Blocks"]);
    } else if is("Slack") {
        let mut kind = "";
        for (key, value) in pairs() {
            let slack = number(value);
            match key {
                "Type" => kind = value,
                "Slack" if kind.contains("Setup") => row.slack_ns = smaller(row.slack_ns, slack),
                "Slack" if kind.contains("Hold") => row.hold_ns = smaller(row.hold_ns, slack),
                _ => {}
            }
        }
    } else if is("Total Thermal Power Dissipation") {
        let watts = |power: &str| Some(number(power)? * if power.contains("mW") { 1e-3 } else { 1.0 });
        row.power_w = value("Total Thermal Power Dissipation").and_then(watts);
        row.dynamic_w = value("Core Dynamic Thermal Power Dissipation").and_then(watts);
    } else {
        return None;
    }
    Some(ToolReport { tool: "quartus", state, row })
}

/// The clock and the slowest corner's fastest clock, of `.sta.rpt`.
pub(super) fn timing(text: &str) -> Option<ToolReport> {
    if !text.lines().take(20).any(|l| l.starts_with("Timing Analyzer report for") || l.starts_with("TimeQuest")) {
        return None;
    }
    let mut row = Row::default();
    let mut table = "";
    for line in text.lines() {
        let Some(line) = line.strip_prefix(';') else { continue };
        let cells: Vec<&str> = line.trim_end().trim_end_matches(';').split(';').map(str::trim).collect();
        if let [title] = cells[..] {
            table = title;
        } else if table == "Clocks" {
            let period = cells.get(2).and_then(|c| number(c));
            row.period_ns = smaller(row.period_ns, period);
        } else if table.ends_with("Fmax Summary") && cells[0].ends_with("MHz") {
            // The second is held down by what the device's clock network can do.
            row.fmax_mhz = smaller(row.fmax_mhz, cells.get(1).and_then(|c| number(c)));
        }
    }
    Some(ToolReport { tool: "quartus", state: "routed", row })
}

fn smaller(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
