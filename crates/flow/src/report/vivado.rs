//! Vivado's `report_utilization` (flat and hierarchical), `report_timing_summary` and `report_power`, in the text form
//! that UG906 shows. Figures are found by the headings of their tables.

use super::{Row, ToolReport, number};

/// Parses a report of Vivado; returns `None` if the text is none or has no figure of a row.
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
        // Figures of some cells are not those of the design.
        if command.contains("-pblocks") || command.contains("-cells") {
            return None;
        }
        utilisation(text, &mut row);
        hierarchical(text, &mut row);
    } else if command.starts_with("report_timing_summary") {
        timing(text, &mut row);
    } else if command.starts_with("report_power") {
        let power = |key: &str| cells(text).find(|c| c[0] == key).and_then(|c| number(c.get(1)?));
        row.power_w = power("Total On-Chip Power (W)");
        row.dynamic_w = power("Dynamic (W)");
    } else {
        return None;
    }
    if row == (Row { part: row.part.clone(), ..Row::default() }) {
        return None;
    }
    let state = header("Design State").map_or_else(|| state_of_name(name), state_of_header);
    Some(ToolReport { tool: "vivado", state, row })
}

/// Returns the stage that a `Design State` line names; `""` if it is none of those that a row can have.
fn state_of_header(state: &str) -> &'static str {
    match state.to_ascii_lowercase().as_str() {
        "synthesized" => "synthesized",
        "optimized" => "optimized",
        "placed" | "fully placed" => "placed",
        "routed" | "fully routed" | "physopt postroute" => "routed",
        s if s.starts_with("physopt") => "physopt",
        _ => "",
    }
}

/// Returns the stage that the words of a file name tell, the last one first; `""` if there is none. Timing summaries
/// before Vivado 2024 have no `Design State`.
fn state_of_name(name: &str) -> &'static str {
    let lower = name.to_ascii_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).collect::<Vec<_>>();
    let known = |(at, word): (usize, &&str)| match *word {
        "routed" | "route" | "postroute" => Some("routed"),
        "physopted" | "physopt" if at > 0 && words[at - 1] == "postroute" => Some("routed"),
        "physopted" | "physopt" => Some("physopt"),
        "placed" | "place" | "postplace" => Some("placed"),
        "opted" | "opt" | "optimized" => Some("optimized"),
        "synth" | "synthesized" | "synthesised" => Some("synthesized"),
        _ => None,
    };
    words.iter().enumerate().rev().find_map(known).unwrap_or("")
}

/// Iterates over the cells of every line of every table.
fn cells(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().filter_map(|l| l.trim().strip_prefix('|')).map(|l| l.split('|').map(str::trim).collect())
}

/// Reads the tables of sites and of primitives.
fn utilisation(text: &str, row: &mut Row) {
    let (mut used, mut dsp_primitives, mut ramb36) = (None, None, None);
    for cells in cells(text) {
        if matches!(cells[0], "Site Type" | "Ref Name") {
            used = cells.iter().position(|cell| *cell == "Used");
            continue;
        }
        let count = used.and_then(|at| number(cells.get(at)?));
        // The star refers to a footnote.
        let column = match cells[0].trim_end_matches('*') {
            "CLB LUTs" | "Slice LUTs" => &mut row.luts,
            "CLB Registers" | "Slice Registers" | "Registers" => &mut row.registers,
            "DSPs" | "DSP Slices" => &mut row.dsps,
            "DSP58" => &mut dsp_primitives,
            "Block RAM Tile" => &mut row.brams,
            "RAMB36E5" => &mut ramb36,
            "URAM" => &mut row.urams,
            "CARRY8" | "CARRY4" | "LOOKAHEAD8" => &mut row.carries,
            _ => continue,
        };
        *column = column.or(count);
    }
    row.dsps = row.dsps.or(dsp_primitives);
    row.brams = row.brams.or(ramb36);
}

/// Reads the row of the top module from the table by hierarchy.
fn hierarchical(text: &str, row: &mut Row) {
    let mut lines = cells(text).skip_while(|cells| cells[0] != "Instance");
    let (Some(headings), Some(top)) = (lines.next(), lines.next()) else { return };
    let count = |names: &[&str]| {
        let at = headings.iter().position(|heading| names.contains(heading))?;
        number(top.get(at)?.split('(').next()?)
    };
    row.luts = row.luts.or(count(&["Total LUTs"]));
    row.registers = row.registers.or(count(&["FFs"]));
    row.dsps = row.dsps.or(count(&["DSP Blocks", "DSP Slices", "DSP48 Blocks", "DSP58"]));
    row.urams = row.urams.or(count(&["URAM"]));
    let halves = count(&["RAMB18"]).map_or(0.0, |n| n / 2.0);
    row.brams = row.brams.or(count(&["RAMB36"]).map(|n| n + halves));
}

/// A table whose columns are marked by runs of dashes under the headings.
struct DashedTable<'t> {
    /// Heading of each column, and the place of its dashes.
    columns: Vec<(&'t str, usize, usize)>,
    rows: Vec<&'t str>,
}

impl<'t> DashedTable<'t> {
    /// Finds the table below the title `| title`.
    fn find(text: &'t str, title: &str) -> Option<DashedTable<'t>> {
        let mut lines = text.lines().skip_while(|l| l.strip_prefix('|').is_none_or(|l| l.trim() != title)).skip(1);
        let mut headings = lines.find(|l| !l.trim().is_empty() && !l.starts_with(['|', '-']))?;
        let mut dashes = lines.next()?;
        while !(dashes.trim_start().starts_with('-') && dashes.trim().chars().all(|c| c == '-' || c == ' ')) {
            headings = dashes;
            dashes = lines.next()?;
        }
        let columns = spans(dashes).map(|(from, to)| (headings.get(from..to).unwrap_or("").trim(), from, to)).collect();
        Some(DashedTable { columns, rows: lines.take_while(|line| !line.trim().is_empty()).collect() })
    }

    /// Returns the number of a row in a column; `None` where the cell is empty, `NA` or infinite.
    fn number(&self, row: &str, heading: &str) -> Option<f64> {
        let (_, from, to) = *self.columns.iter().find(|(name, ..)| *name == heading)?;
        // Numbers end where their dashes end; a long one begins before them.
        let (start, end) = spans(row).find(|&(start, end)| start < to && end > from && end.abs_diff(to) <= 2)?;
        number(row.get(start..end)?)
    }
}

/// Iterates over the runs of characters that are no spaces.
fn spans(line: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = line.get(at..)?;
        let start = at + rest.find(|c: char| c != ' ')?;
        let end = line[start..].find(' ').map_or(line.len(), |n| start + n);
        at = end;
        Some((start, end))
    })
}

/// Reads the summary of all paths, and the clock with the least slack over its own register paths.
fn timing(text: &str, row: &mut Row) {
    let failing = |table: &DashedTable, line: &str| {
        let kinds = ["TNS Failing Endpoints", "THS Failing Endpoints", "TPWS Failing Endpoints"];
        let counts: Vec<f64> = kinds.iter().filter_map(|kind| table.number(line, kind)).collect();
        (!counts.is_empty()).then(|| counts.iter().sum())
    };
    if let Some(summary) = DashedTable::find(text, "Design Timing Summary")
        && let Some(line) = summary.rows.first()
    {
        row.worst_slack_ns = summary.number(line, "WNS(ns)");
        row.hold_ns = summary.number(line, "WHS(ns)");
        row.failing = failing(&summary, line);
    }
    let Some(clocks) = DashedTable::find(text, "Clock Summary") else { return };
    // Name, {waveform}, period, frequency; the waveform has spaces.
    let periods: Vec<(&str, f64)> = clocks
        .rows
        .iter()
        .filter_map(|line| {
            let (name, rest) = line.split_once('{')?;
            Some((name.trim(), number(rest.split_once('}')?.1)?))
        })
        .collect();
    let Some(own) = DashedTable::find(text, "Intra Clock Table") else {
        if let [(name, period)] = periods[..] {
            (row.clock, row.period_ns, row.slack_ns) = (Some(name.to_owned()), Some(period), row.worst_slack_ns);
        }
        return;
    };
    let slacks = own.rows.iter().filter_map(|line| {
        // No register is clocked by a virtual clock, so its pulses are not checked.
        own.number(line, "WPWS(ns)")?;
        let name = line.split_whitespace().next()?;
        let period = periods.iter().find(|(clock, _)| *clock == name)?.1;
        Some((name, period, own.number(line, "WNS(ns)")?))
    });
    if let Some((name, period, slack)) = slacks.min_by(|a, b| a.2.total_cmp(&b.2)) {
        (row.clock, row.period_ns, row.slack_ns) = (Some(name.to_owned()), Some(period), Some(slack));
    }
}
