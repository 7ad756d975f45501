//! Vivado HLS and Vitis HLS: estimates of `csynth` (XML and text) and results of the export (XML).
//!
//! Estimates belong to no stage of a build, so their state is unknown. The results of an export are those of the
//! synthesised or of the routed design.

use super::{BuildRow, Stage, ToolReport, number};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Returns the content between the first `<tag>` and its `</tag>`.
fn element<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    Some(rest.split_once(&format!("</{tag}>"))?.0.trim())
}

/// Parses `*_csynth.xml`, `csynth.xml` and `*_export.xml`.
pub(super) fn xml(text: &str) -> Option<ToolReport> {
    let profile = element(text, "profile")?;
    let figure = |within: &str, tag: &str| element(within, tag).and_then(number);
    let first = |within: &str, tags: &[&str]| tags.iter().find_map(|tag| figure(within, tag));
    if let Some(area) = element(profile, "AreaEstimates") {
        let resources = element(area, "Resources")?;
        let latency = element(profile, "SummaryOfOverallLatency").unwrap_or_default();
        let ramb18 = figure(resources, "BRAM_18K");
        let mut row = BuildRow {
            part: element(profile, "Part").map(str::to_owned),
            luts: figure(resources, "LUT"),
            registers: figure(resources, "FF"),
            dsps: first(resources, &["DSP", "DSP48E", "DSP58"]),
            brams: ramb18.map(|count| count / 2.0),
            urams: figure(resources, "URAM"),
            period_ns: figure(profile, "TargetClockPeriod"),
            fmax_mhz: figure(profile, "EstimatedClockPeriod").filter(|ns| *ns > 0.0).map(|ns| 1000.0 / ns),
            latency: figure(latency, "Worst-caseLatency"),
            ..BuildRow::default()
        };
        row.further.extend(ramb18.map(|count| ("ramb18", count)));
        row.further.extend(first(latency, &["Interval-max", "PipelineInitiationInterval"]).map(|ii| ("interval", ii)));
        return Some(ToolReport { tool: "hls", state: None, row });
    }
    let area = element(profile, "AreaReport")?;
    let resources = element(area, "Resources")?;
    let timing = element(profile, "TimingReport").unwrap_or_default();
    let state = match element(profile, "RUN_TYPE") {
        Some("impl") => Some(Stage::Routed),
        Some("syn" | "synth") => Some(Stage::Synthesized),
        _ => None,
    };
    let row = BuildRow {
        part: element(profile, "Part").or(element(profile, "PART")).map(str::to_owned),
        luts: figure(resources, "LUT"),
        registers: figure(resources, "FF"),
        dsps: figure(resources, "DSP"),
        brams: figure(resources, "BRAM"),
        urams: figure(resources, "URAM"),
        period_ns: figure(timing, "TargetClockPeriod"),
        fmax_mhz: figure(timing, "AchievedClockPeriod").filter(|ns| *ns > 0.0).map(|ns| 1000.0 / ns),
        ..BuildRow::default()
    };
    Some(ToolReport { tool: "hls", state, row })
}

/// Parses `*_csynth.rpt`.
pub(super) fn text(text: &str) -> Option<ToolReport> {
    let head: Vec<&str> = text.lines().take(30).collect();
    let is_report =
        |line: &&str| line.starts_with("== Vivado HLS Report for") || line.starts_with("== Vitis HLS Report for");
    if !head.iter().any(is_report) {
        return None;
    }
    let part = head.iter().find_map(|line| line.trim_start().strip_prefix("* Target device:"));
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.trim().strip_prefix('|').unwrap_or_default())
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let mut row = BuildRow { part: part.map(|part| part.trim().to_owned()), ..BuildRow::default() };
    if let Some(at) = lines.iter().position(|cells| cells.first() == Some(&"Clock") && cells.len() >= 4)
        && let Some(clock) = lines.get(at + 2)
    {
        row.period_ns = clock.get(1).and_then(|cell| number(cell));
        row.fmax_mhz = clock.get(2).and_then(|cell| number(cell)).filter(|ns| *ns > 0.0).map(|ns| 1000.0 / ns);
    }
    // Headings in two lines: cycles, then min and max.
    if let Some(at) =
        lines.iter().position(|cells| cells.first().is_some_and(|cell| cell.starts_with("Latency (cycles)")))
        && let Some(cells) = lines.get(at + 3)
    {
        row.latency = cells.get(1).and_then(|cell| number(cell));
        row.further.extend(cells.get(5).and_then(|cell| number(cell)).map(|ii| ("interval", ii)));
    }
    let headings = lines.iter().find(|cells| cells.first() == Some(&"Name") && cells.contains(&"LUT"))?;
    let total = lines.iter().find(|cells| cells.first() == Some(&"Total"))?;
    let figure = |names: &[&str]| {
        let at = headings.iter().position(|heading| names.contains(heading))?;
        number(total.get(at)?)
    };
    row.luts = figure(&["LUT"]);
    row.registers = figure(&["FF"]);
    row.dsps = figure(&["DSP", "DSP48E"]);
    row.urams = figure(&["URAM"]);
    row.brams = figure(&["BRAM_18K"]).map(|count| count / 2.0);
    row.further.extend(figure(&["BRAM_18K"]).map(|count| ("ramb18", count)));
    Some(ToolReport { tool: "hls", state: None, row })
}

/// Removes the reports of modules inside a design: HLS writes a report for each function into the folder of the design.
pub(super) fn whole_designs(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let module = |path: &Path| {
        let name = path.file_name()?.to_str()?;
        let stem = name.strip_suffix(".xml").or(name.strip_suffix(".rpt"))?;
        (stem == "csynth").then_some(String::new()).or_else(|| stem.strip_suffix("_csynth").map(str::to_owned))
    };
    let folder = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
    let whole: BTreeSet<PathBuf> =
        files.iter().filter(|path| path.ends_with("csynth.xml")).map(|path| folder(path)).collect();
    // If the whole design has no report, keeps the report that names its own module as the top.
    let is_top = |path: &Path, module: &str| {
        let xml = path.with_extension("xml");
        let text = super::contents(&xml).unwrap_or_default();
        element(&text, "TopModelName").is_none_or(|top| top == module)
    };
    let several: BTreeSet<PathBuf> = {
        let mut seen = BTreeSet::new();
        let modules = files.iter().filter_map(|path| Some((folder(path), module(path)?)));
        let distinct: BTreeSet<(PathBuf, String)> = modules.collect();
        distinct.into_iter().filter(|(folder, _)| !seen.insert(folder.clone())).map(|(folder, _)| folder).collect()
    };
    files
        .into_iter()
        .filter(|path| match module(path) {
            None => true,
            Some(module) if module.is_empty() => path.ends_with("csynth.xml"),
            Some(_) if whole.contains(&folder(path)) => false,
            Some(module) if several.contains(&folder(path)) => is_top(path, &module),
            Some(_) => true,
        })
        .collect()
}
