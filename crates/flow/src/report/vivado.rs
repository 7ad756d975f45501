//! Vivado's `report_utilization` (flat and hierarchical), `report_timing_summary` and `report_power`, in the text
//! format of UG906. Figures are identified by the headings of their tables.

use super::{BuildRow, ClockFigures, FileContent, Stage, ToolReport, number};

/// Parses a report of Vivado. Only reports about utilisation, timing and power have figures of a row.
pub(super) fn read(name: &str, text: &str) -> FileContent {
    let header = |key: &str| {
        let line = text.lines().take(40).find_map(|l| l.strip_prefix('|')?.trim_start().strip_prefix(key))?;
        line.trim_start().strip_prefix(':').map(str::trim)
    };
    if !header("Tool Version").is_some_and(|version| version.starts_with("Vivado")) {
        return FileContent::Other;
    }
    let mut row = BuildRow { part: part(header), ..BuildRow::default() };
    let Some(command) = header("Command") else { return FileContent::Other };
    if command.starts_with("report_utilization") {
        if command.contains("-pblocks") || command.contains("-cells") {
            return FileContent::NoFigures("it is about a part of the design");
        }
        utilisation(text, &mut row);
        hierarchical(text, &mut row);
    } else if command.starts_with("report_timing_summary") {
        timing(text, &mut row);
    } else if command.starts_with("report_power") {
        let power = |key: &str| cells(text).find(|c| c[0] == key).and_then(|c| number(c.get(1)?));
        row.power_w = power("Total On-Chip Power (W)");
        row.dynamic_w = power("Dynamic (W)");
        row.further.extend(power("Device Static (W)").map(|watts| ("static_w", watts)));
    } else {
        return FileContent::Other;
    }
    let state = header("Design State").map_or_else(|| state_of_name(name), state_of_header);
    Some(ToolReport { tool: "vivado", state, row }).into()
}

/// Returns the part with its speed grade and temperature grade, which some reports state in lines of their own.
fn part<'t>(header: impl Fn(&str) -> Option<&'t str>) -> Option<String> {
    let device = header("Device")?.to_owned();
    let speed =
        header("Speed File").and_then(|line| line.split_whitespace().next()).filter(|speed| speed.starts_with('-'));
    let has_speed =
        |device: &str| device.rsplit('-').next().is_some_and(|last| last.len() <= 2) && device.contains('-');
    let with_speed = match speed {
        Some(speed) if !device.contains(speed) && !has_speed(&device) => device + speed,
        _ => device,
    };
    let grade = header("Temperature Grade").map(str::to_ascii_lowercase).filter(|grade| grade.len() == 1);
    Some(match grade {
        Some(grade) if has_speed(&with_speed) && !with_speed.ends_with(&format!("-{grade}")) => {
            format!("{with_speed}-{grade}")
        }
        _ => with_speed,
    })
}

/// Returns the stage that a `Design State` line names; `None` if it names no stage of a row.
fn state_of_header(state: &str) -> Option<Stage> {
    match state.to_ascii_lowercase().as_str() {
        "synthesized" => Some(Stage::Synthesized),
        "optimized" => Some(Stage::Optimized),
        "placed" | "fully placed" => Some(Stage::Placed),
        "routed" | "fully routed" | "physopt postroute" => Some(Stage::Routed),
        s if s.starts_with("physopt") => Some(Stage::PhysOpt),
        _ => None,
    }
}

/// Returns the stage in the words of a file name; the last such word decides. Timing summaries before Vivado 2024 have
/// no `Design State`.
fn state_of_name(name: &str) -> Option<Stage> {
    let lower = name.to_ascii_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).collect::<Vec<_>>();
    let known = |(at, word): (usize, &&str)| match *word {
        "routed" | "route" | "postroute" => Some(Stage::Routed),
        "physopted" | "physopt" if at > 0 && words[at - 1] == "postroute" => Some(Stage::Routed),
        "physopted" | "physopt" => Some(Stage::PhysOpt),
        "placed" | "place" | "postplace" => Some(Stage::Placed),
        "opted" | "opt" | "optimized" => Some(Stage::Optimized),
        "synth" | "synthesized" | "synthesised" => Some(Stage::Synthesized),
        _ => None,
    };
    words.iter().enumerate().rev().find_map(known)
}

/// Iterates over the cells of every line of every table.
fn cells(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().filter_map(|l| l.trim().strip_prefix('|')).map(|l| l.split('|').map(str::trim).collect())
}

/// Reads the tables of sites and of primitives.
fn utilisation(text: &str, row: &mut BuildRow) {
    let (mut used, mut available, mut dsp_primitives, mut ramb36) = (None, None, None, None);
    for cells in cells(text) {
        if matches!(cells[0], "Site Type" | "Ref Name") {
            used = cells.iter().position(|cell| *cell == "Used");
            available = cells.iter().position(|cell| *cell == "Available");
            continue;
        }
        let count = used.and_then(|at| number(cells.get(at)?));
        let of_all = || available.and_then(|at| number(cells.get(at)?));
        let site = cells[0].trim_end_matches('*');
        let further = match site {
            "LUT as Logic" => Some(("lut_logic", count)),
            "LUT as Memory" => Some(("lut_memory", count)),
            "Register as Latch" => Some(("latches", count)),
            "RAMB18" | "RAMB18E5" => Some(("ramb18", count)),
            "CLB LUTs" | "Slice LUTs" => Some(("luts_available", of_all())),
            "CLB Registers" | "Slice Registers" | "Registers" => Some(("registers_available", of_all())),
            "DSPs" | "DSP Slices" => Some(("dsps_available", of_all())),
            "Block RAM Tile" => Some(("brams_available", of_all())),
            "URAM" => Some(("urams_available", of_all())),
            _ => None,
        };
        if let Some((name, Some(figure))) = further {
            row.further.entry(name).or_insert(figure);
        }
        if matches!(site, "MMCM" | "MMCME2_ADV" | "PLL" | "PLLE2_ADV")
            && let Some(count) = count
        {
            *row.further.entry("plls").or_insert(0.0) += count;
        }
        // The star refers to a footnote.
        let column = match site {
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
fn hierarchical(text: &str, row: &mut BuildRow) {
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
    /// Heading of each column, and the range of its dashes.
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

    /// Returns the number of a row in a column; `None` if the cell is empty, `NA` or infinite.
    fn number(&self, row: &str, heading: &str) -> Option<f64> {
        let (_, from, to) = *self.columns.iter().find(|(name, ..)| *name == heading)?;
        // Numbers end where their dashes end; a long number begins before the dashes.
        let (start, end) = spans(row).find(|&(start, end)| start < to && end > from && end.abs_diff(to) <= 2)?;
        number(row.get(start..end)?)
    }
}

/// Iterates over the runs of characters other than spaces.
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

/// Reads the summary of all paths, and the figures of each clock over its own register paths.
fn timing(text: &str, row: &mut BuildRow) {
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
        row.further.extend(summary.number(line, "TNS(ns)").map(|tns| ("tns_ns", tns)));
        row.further.extend(summary.number(line, "WPWS(ns)").map(|slack| ("pulse_width_ns", slack)));
    }
    let Some(clocks) = DashedTable::find(text, "Clock Summary") else { return };
    // Name, {waveform}, period, frequency; the waveform has spaces. A generated clock is indented below its source.
    row.clocks = clocks
        .rows
        .iter()
        .filter_map(|line| {
            let (name, rest) = line.split_once('{')?;
            let kind = if name.starts_with(' ') { "generated" } else { "base" };
            Some(ClockFigures {
                name: name.trim().to_owned(),
                kind: Some(kind.to_owned()),
                period_ns: Some(number(rest.split_once('}')?.1)?),
                ..ClockFigures::default()
            })
        })
        .collect();
    let Some(own) = DashedTable::find(text, "Intra Clock Table") else {
        if let [only] = &mut row.clocks[..] {
            only.slack_ns = row.worst_slack_ns;
        }
        return;
    };
    for clock in &mut row.clocks {
        let line = own.rows.iter().find(|line| line.split_whitespace().next() == Some(clock.name.as_str()));
        let Some(line) = line else { continue };
        // No register is clocked by a virtual clock, so its pulse widths are not checked.
        if own.number(line, "WPWS(ns)").is_none() {
            clock.kind = Some("virtual".to_owned());
        }
        clock.slack_ns = own.number(line, "WNS(ns)");
        clock.hold_ns = own.number(line, "WHS(ns)");
        clock.failing = failing(&own, line);
    }
}
