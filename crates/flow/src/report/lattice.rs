//! Lattice Diamond: mapping report (`.mrp`) and timing trace (`.tw1` after mapping, `.twr` after routing).

use super::{BuildRow, ClockFigures, FileContent, Stage, ToolReport, number, smaller};

/// Parses a mapping report.
pub(super) fn map(text: &str) -> FileContent {
    if !text.contains("Lattice Mapping Report File") {
        return FileContent::Other;
    }
    let figure = |names: &[&str]| {
        names.iter().find_map(|name| {
            let line = text.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'))?;
            number(line)
        })
    };
    let device = text.lines().find_map(|line| line.strip_prefix("Target Device:"));
    let grade = text.lines().find_map(|line| line.strip_prefix("Target Performance:"));
    let part = device.map(|device| match grade {
        Some(grade) => format!("{}-{}", device.trim(), grade.trim()),
        None => device.trim().to_owned(),
    });
    let row = BuildRow {
        part,
        luts: figure(&["Number of LUT4s"]),
        registers: figure(&["Number of registers", "Number of slice registers"]),
        brams: figure(&["Number of block RAMs", "Number of EBRs"]),
        dsps: figure(&["Number Of Mapped DSP Components", "Number of DSP Block"]),
        ..BuildRow::default()
    };
    Some(ToolReport { tool: "diamond", state: Some(Stage::Synthesized), row }).into()
}

/// Converts a frequency or a time to a period in nanoseconds.
fn period(cell: &str) -> Option<f64> {
    let value = number(cell)?;
    match cell.trim().rsplit_once(' ')?.1 {
        "MHz" if value > 0.0 => Some(1000.0 / value),
        "ns" => Some(value),
        _ => None,
    }
}

/// Parses a timing trace: the two tables "Report Summary", for setup and for hold.
pub(super) fn timing(name: &str, text: &str) -> FileContent {
    if !text.contains("Lattice TRACE Report") {
        // ISE's trace has the same extension and belongs to another tool; Radiant's has other tables.
        let is_radiant = text.lines().take(40).any(|line| line.contains("Radiant"));
        return if is_radiant {
            FileContent::NoFigures("Radiant's timing report is not read")
        } else {
            FileContent::Other
        };
    }
    let mut row = BuildRow::default();
    let mut failing = 0.0;
    let mut is_hold = false;
    let mut preference = String::new();
    for line in text.lines() {
        if line.starts_with("Preference") && line.contains('|') {
            is_hold = line.contains("MIN Delays");
            preference.clear();
            continue;
        }
        // The trace has a line for setup, one for hold, and one with both, which has no score.
        if let Some(errors) = line.strip_prefix("Timing errors:").filter(|_| line.contains("Score:")) {
            failing += number(errors).unwrap_or(0.0);
        }
        let cells: Vec<&str> = line.split('|').collect();
        let [words, constraint, actual, _] = cells[..] else { continue };
        if words.starts_with("FREQUENCY") || words.starts_with("PERIOD") {
            preference = words.trim().to_owned();
        } else {
            preference.push_str(words.trim());
        }
        let Some(clock) = preference.split('"').nth(1).map(str::to_owned) else { continue };
        let known = row.clocks.iter().position(|known| known.name == clock);
        let at = known.unwrap_or_else(|| {
            row.clocks.push(ClockFigures { name: clock, ..ClockFigures::default() });
            row.clocks.len() - 1
        });
        let figures = &mut row.clocks[at];
        if is_hold {
            let slack = number(actual).zip(number(constraint)).map(|(actual, least)| actual - least);
            figures.hold_ns = smaller(figures.hold_ns, slack);
            continue;
        }
        let (Some(required), Some(found)) = (period(constraint), period(actual)) else { continue };
        figures.period_ns = Some(required);
        figures.slack_ns = smaller(figures.slack_ns, Some(required - found));
        let mhz = if actual.contains("MHz") { number(actual) } else { Some(1000.0 / found) };
        figures.fmax_mhz = smaller(figures.fmax_mhz, mhz);
    }
    row.worst_slack_ns = row.clocks.iter().filter_map(|clock| clock.slack_ns).min_by(f64::total_cmp);
    row.hold_ns = row.clocks.iter().filter_map(|clock| clock.hold_ns).min_by(f64::total_cmp);
    if !row.clocks.is_empty() && text.contains("Timing errors:") {
        row.failing = Some(failing);
    }
    let device = text.lines().find_map(|line| line.strip_prefix("Device,speed:")).and_then(|line| line.split_once(','));
    row.part = device.map(|(device, speed)| format!("{}-{}", device.trim(), speed.trim()));
    // The synthesiser writes an estimate of its own in addition to the traces.
    let state = if name.ends_with(".tw1") || name.ends_with("_lse.twr") { Stage::Synthesized } else { Stage::Routed };
    Some(ToolReport { tool: "diamond", state: Some(state), row }).into()
}
