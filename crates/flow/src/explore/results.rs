//! Results of the variants, collected from their folders as rows of one table.

use crate::report::{self, Stage};
use alir_core::diag::{four_digits, four_digits_up};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::io;
use std::path::Path;

/// Progress of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// All steps are done.
    Done,
    /// A step failed.
    Failed,
    /// Not all steps have run yet.
    Open,
}

/// A variant with its results so far.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the variant.
    pub variant: String,
    /// File name of the model, without folder.
    pub model: String,
    /// Value of the variant on each axis.
    #[serde(flatten)]
    pub axes: Map<String, Value>,
    /// Progress of the variant.
    pub status: Status,
    /// Reason that the variant failed.
    pub reason: Option<String>,
    /// `proved`, or `unknown` if the proof reached its limits.
    pub proof: Option<String>,
    /// Latency in cycles.
    pub latency: Option<u64>,
    /// Critical stage delay, in the units of the delays; with registers if the delays are those of a device.
    pub stage_delay: Option<f64>,
    /// Unit of `stage_delay`.
    #[serde(skip)]
    pub delay_unit: String,
    /// Register bits in the RTL.
    pub register_bits: Option<u64>,
    /// Estimated look-up tables.
    pub estimated_luts: Option<f64>,
    /// Estimated flip-flops.
    pub estimated_registers: Option<f64>,
    /// Estimated clock frequency in MHz.
    pub estimated_mhz: Option<f64>,
    /// Look-up tables, from the report of the tool.
    pub luts: Option<f64>,
    /// Flip-flops, from the report of the tool.
    pub registers: Option<f64>,
    /// DSPs, from the report of the tool if it ran, otherwise estimated.
    pub dsps: Option<f64>,
    /// BRAMs, from the report of the tool if it ran, otherwise estimated.
    pub brams: Option<f64>,
    /// Clock frequency in MHz, from the report of the tool.
    pub fmax_mhz: Option<f64>,
    /// Latency in nanoseconds at the best known clock frequency.
    pub latency_ns: Option<f64>,
    /// `true` if no other variant of the model is at least as good in speed and area and better in one of them.
    pub best: bool,
}

impl Row {
    /// Returns the clock frequency in MHz: that of the tool if it ran, else the estimate. A tool that found no path
    /// between registers reports none.
    pub fn clock(&self) -> Option<f64> {
        if self.luts.is_some() { self.fmax_mhz } else { self.estimated_mhz }
    }

    /// Returns the sum of look-up tables and flip-flops, from the tool or from the estimate.
    pub fn area(&self) -> Option<f64> {
        let by_tool = self.luts.zip(self.registers);
        by_tool.or(self.estimated_luts.zip(self.estimated_registers)).map(|(luts, registers)| luts + registers)
    }

    /// Returns clock frequency and area; `None` if a figure is missing or the variant is not done.
    pub fn point(&self) -> Option<(f64, f64)> {
        (self.status == Status::Done).then(|| self.clock().zip(self.area())).flatten()
    }

    /// Returns the cells of the row; figures in nanoseconds are printed by the first function of `figures`, others by
    /// the second.
    fn cells(&self, axes: &[String], (time, figure): Figures) -> Vec<String> {
        let whole = |n: Option<f64>| n.map_or(String::new(), |n| format!("{n:.0}"));
        let shown = |n: Option<f64>| n.map_or(String::new(), figure);
        let is_time = self.delay_unit == "ns";
        let count = |n: Option<u64>| n.map_or(String::new(), |n| n.to_string());
        let status = match self.status {
            Status::Done => "done",
            Status::Failed => "failed",
            Status::Open => "open",
        };
        let word = |value: Option<&Value>| match value {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        };
        let mut cells = vec![self.variant.clone(), self.model.clone()];
        cells.extend(axes.iter().map(|axis| word(self.axes.get(axis))));
        cells.extend([
            status.to_owned(),
            self.proof.clone().unwrap_or_default(),
            count(self.latency),
            self.stage_delay.map_or(String::new(), if is_time { time } else { figure }),
            count(self.register_bits),
            whole(self.estimated_luts),
            whole(self.estimated_registers),
            shown(self.estimated_mhz),
            whole(self.luts),
            whole(self.registers),
            whole(self.dsps),
            shown(self.brams).trim_end_matches(".000").to_owned(),
            shown(self.fmax_mhz),
            self.latency_ns.map_or(String::new(), time),
            if self.best { "yes" } else { "" }.to_owned(),
            self.reason.clone().unwrap_or_default(),
        ]);
        cells
    }
}

/// Formats of figures in a table: the first for times in nanoseconds, the second for other figures.
type Figures = (fn(f64) -> String, fn(f64) -> String);

/// Figures with three decimals, for programs.
const THREE_DECIMALS: Figures = (|n| format!("{n:.3}"), |n| format!("{n:.3}"));

/// Figures with at most four significant digits, for people.
const FOUR_DIGITS: Figures = (four_digits_up, four_digits);

/// Results of an exploration.
#[derive(Clone, Debug, Serialize)]
pub struct Results {
    /// Flow that synthesises, if any.
    pub flow: Option<String>,
    /// Names of the axes, in their order.
    pub axes: Vec<String>,
    /// A row for each variant, in the order of their names.
    pub variants: Vec<Row>,
}

/// Names of the columns after those of the axes.
const COLUMNS: [&str; 16] = [
    "status",
    "proof",
    "latency",
    "stage_delay",
    "register_bits",
    "estimated_luts",
    "estimated_registers",
    "estimated_mhz",
    "luts",
    "registers",
    "dsps",
    "brams",
    "fmax_mhz",
    "latency_ns",
    "best",
    "reason",
];

impl Results {
    /// Returns the names of all columns.
    fn names(&self) -> Vec<&str> {
        let axes = self.axes.iter().map(String::as_str);
        ["variant", "model"].into_iter().chain(axes).chain(COLUMNS).collect()
    }

    fn rows(&self, figures: Figures) -> impl Iterator<Item = Vec<String>> {
        self.variants.iter().map(move |row| row.cells(&self.axes, figures))
    }

    /// Returns the results as CSV for spreadsheets (RFC 4180).
    pub fn csv(&self) -> String {
        let quoted = |cell: String| match cell.contains(['"', ',', '\n', '\r']) {
            true => format!("\"{}\"", cell.replace('"', "\"\"")),
            false => cell,
        };
        let mut text = self.names().join(",") + "\n";
        for row in self.rows(THREE_DECIMALS) {
            text.push_str(&row.into_iter().map(quoted).collect::<Vec<_>>().join(","));
            text.push('\n');
        }
        text
    }

    /// Returns the results as a text table with aligned columns, without empty columns.
    pub fn text(&self) -> String {
        let names = self.names();
        let rows: Vec<Vec<String>> = self.rows(FOUR_DIGITS).collect();
        let known: Vec<usize> =
            (0..names.len()).filter(|&k| names[k] != "model" && rows.iter().any(|row| !row[k].is_empty())).collect();
        let width = |k: usize| rows.iter().map(|row| row[k].chars().count()).chain([names[k].len()]).max().unwrap_or(0);
        let widths: Vec<usize> = known.iter().map(|&k| width(k)).collect();
        let mut text = String::new();
        let heads: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        for row in std::iter::once(&heads).chain(&rows) {
            let cells = known.iter().zip(&widths).map(|(&k, &width)| format!("{:<width$}", row[k]));
            let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
        }
        text
    }

    /// Returns the results as an HTML page with the picture and the table. `escaped` escapes text for XML.
    pub fn page(&self, picture: &str, escaped: impl Fn(&str) -> String) -> String {
        let head: String = self.names().iter().map(|name| format!("<th>{}</th>", escaped(name))).collect();
        let mut body = String::new();
        for (row, cells) in self.variants.iter().zip(self.rows(FOUR_DIGITS)) {
            let class = match row.status {
                Status::Failed => "failed",
                _ if row.best => "best",
                _ => "",
            };
            let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", escaped(cell))).collect();
            let _ = writeln!(body, "<tr class=\"{class}\">{cells}</tr>");
        }
        include_str!("../../../../templates/explore/page.html")
            .replace("@PICTURE@", picture)
            .replace("@HEAD@", &head)
            .replace("@BODY@", &body)
    }

    /// Returns the numbers of variants that are done, failed and open.
    pub fn counts(&self) -> (usize, usize, usize) {
        let of = |status| self.variants.iter().filter(|row| row.status == status).count();
        (of(Status::Done), of(Status::Failed), of(Status::Open))
    }
}

/// Collects the results below the folder of a plan.
///
/// # Errors
/// If `plan.json` cannot be read or is invalid.
pub fn gather(folder: &Path) -> io::Result<Results> {
    let plan = std::fs::read_to_string(folder.join("plan.json"))?;
    let plan: Value = serde_json::from_str(&plan).map_err(io::Error::other)?;
    let no_plan = || io::Error::new(io::ErrorKind::InvalidData, "plan.json is not what explore writes");
    let words = |value: &Value| Some(value.as_str()?.to_owned());
    let axes = plan["axes"].as_array().and_then(|axes| axes.iter().map(words).collect()).ok_or_else(no_plan)?;
    let flow = words(&plan["flow"]);
    let described = plan["variants"].as_object().ok_or_else(no_plan)?;
    let mut variants: Vec<Row> =
        described.iter().map(|(name, facts)| row(folder, name, facts, flow.is_some())).collect();
    mark_best(&mut variants);
    Ok(Results { flow, axes, variants })
}

/// Returns the row of a variant.
fn row(folder: &Path, name: &str, described: &Value, synthesises: bool) -> Row {
    let own = folder.join("variants").join(name);
    let json = |file: &str| -> Value {
        std::fs::read(own.join(file)).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    };
    let (facts, proof) = (json("project/metadata.json"), json("proof.json"));
    let steps = [("generate", "project/metadata.json"), ("prove", "proof.json"), ("synthesise", "synthesised")];
    let steps = &steps[..if synthesises { 3 } else { 2 }];
    let missing = || steps.iter().filter(|(_, result)| !own.join(result).is_file()).map(|(step, _)| *step);
    // A failed step has no result, and its log ends with an exit status. Other steps without a result are not finished.
    let failed = missing().find_map(|step| Some((step, said(&own.join(format!("{step}.log")))?)));
    let status = match (&failed, missing().next()) {
        (Some(_), _) => Status::Failed,
        (None, Some(_)) => Status::Open,
        (None, None) => Status::Done,
    };
    let reports = if synthesises {
        report::read("", &own.join("project")).map(|found| found.rows).unwrap_or_default()
    } else {
        Vec::new()
    };
    // Results after routing are preferred to those after synthesis.
    let by_tool = |get: fn(&report::BuildRow) -> Option<f64>| {
        let routed = reports.iter().filter(|r| r.state == Some(Stage::Routed)).find_map(get);
        routed.or_else(|| reports.iter().find_map(get))
    };
    // The flip-flops of nextpnr include those that the flow places around the block; yosys counted the block alone.
    let alone = || reports.iter().filter(|r| r.tool == "yosys").find_map(|r| r.registers);
    let estimate = &facts["estimate"];
    let longest = facts["stages"]
        .as_array()
        .map(|stages| stages.iter().filter_map(|stage| stage["delay"].as_f64()).fold(0.0, f64::max));
    let mut row = Row {
        variant: name.to_owned(),
        model: described["model"].as_str().unwrap_or_default().trim_start_matches("models/").to_owned(),
        axes: described["axes"].as_object().cloned().unwrap_or_default(),
        status,
        reason: failed.map(|(step, why)| format!("{step}: {why}")),
        proof: proof["verdict"].as_str().map(str::to_owned),
        latency: facts["latency"].as_u64(),
        stage_delay: longest,
        delay_unit: facts["delay_unit"].as_str().unwrap_or_default().to_owned(),
        register_bits: facts["register_bits"].as_u64(),
        estimated_luts: estimate["lut"].as_f64(),
        estimated_registers: estimate["ff"].as_f64(),
        estimated_mhz: estimate["clock_mhz"].as_f64(),
        luts: by_tool(|r| r.luts.or(r.alms).or(r.logic_elements)),
        registers: alone().or_else(|| by_tool(|r| r.registers)),
        dsps: by_tool(|r| r.dsps).or(estimate["dsp"].as_f64()),
        brams: by_tool(|r| r.brams).or(estimate["ram"].as_f64()),
        fmax_mhz: by_tool(every_path),
        latency_ns: None,
        best: false,
    };
    // The estimated frequency is rounded; its period is not.
    let estimated = estimate["period_ns"].as_f64().filter(|_| row.luts.is_none());
    let period = estimated.or_else(|| row.clock().map(|mhz| 1000.0 / mhz));
    row.latency_ns = row.latency.zip(period).map(|(n, ns)| n as f64 * ns).filter(|ns| ns.is_finite() && *ns > 0.0);
    row
}

/// Returns the clock frequency at which every path meets timing. A tool's own figure may cover only paths between
/// registers, while its worst slack also covers paths from and to ports.
fn every_path(row: &report::BuildRow) -> Option<f64> {
    let by_slack = row.period_ns.zip(row.slack_ns).map(|(period, slack)| period - slack).filter(|ns| *ns > 0.0);
    let clocks = row.fmax_mhz.into_iter().chain(by_slack.map(|ns| 1000.0 / ns));
    clocks.min_by(f64::total_cmp)
}

/// Maximum number of characters of a reason.
const LONGEST_REASON: usize = 200;

/// Returns the error in a log. Returns `None` if there is no log, or if the log does not end with an exit status: then
/// the step was interrupted and will run again.
fn said(log: &Path) -> Option<String> {
    let text = String::from_utf8_lossy(&std::fs::read(log).ok()?).into_owned();
    let (text, status) = text.trim_end().rsplit_once('\n').unwrap_or(("", text.trim_end()));
    if !status.starts_with("exit status ") {
        return None;
    }
    if text.contains("\"verdict\": \"differs\"") {
        return Some("the RTL differs from the model".into());
    }
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let wrong = |line: &&str| line.to_ascii_lowercase().contains("error");
    let line = lines().find(wrong).or_else(|| lines().next_back()).unwrap_or(status);
    Some(line.chars().filter(|c| !c.is_control()).take(LONGEST_REASON).collect())
}

/// Marks the variants of each model that are on the Pareto front of speed and area.
fn mark_best(rows: &mut [Row]) {
    let models: BTreeSet<String> = rows.iter().map(|row| row.model.clone()).collect();
    for model in models {
        let own = |row: &Row| row.point().filter(|_| row.model == model);
        let best = report::pareto(&rows.iter().map(own).collect::<Vec<_>>());
        rows.iter_mut().zip(best).filter(|(row, _)| row.model == model).for_each(|(row, best)| row.best = best);
    }
}

/// Returns the results as content of a JSON document.
pub fn content(results: &Results) -> Value {
    json!(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(plan: &Value, files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let mut set = alir_core::files::FileSet::default();
        set.add("plan.json", plan.to_string());
        files.iter().for_each(|(name, text)| set.add(format!("variants/{name}"), *text));
        set.write_to(folder.path()).expect("it is written");
        folder
    }

    fn metadata(latency: u32, lut: f64, mhz: f64) -> String {
        json!({ "latency": latency, "register_bits": 9, "stages": [{ "delay": 1.5 }, { "delay": 2.5 }],
                "estimate": { "lut": lut, "ff": 9, "dsp": 0, "ram": 0,
                              "clock_mhz": mhz, "period_ns": 1000.0 / mhz + 0.25 } })
        .to_string()
    }

    fn plan(flow: Option<&str>, names: &[&str]) -> Value {
        let one = |name: &&str| ((*name).to_owned(), json!({ "model": "models/m.json", "axes": { "pipeline": 2 } }));
        let variants: Map<String, Value> = names.iter().map(one).collect();
        json!({ "program": "1", "flow": flow, "axes": ["pipeline"], "variants": variants })
    }

    #[test]
    fn what_failed_and_what_is_open_is_told_apart() {
        let proof = "{\"verdict\": \"proved\"}";
        let (small, fast) = (metadata(2, 10.0, 100.0), metadata(4, 30.0, 200.0));
        let found = folder(
            &plan(None, &["done", "fast", "slow", "differs", "broken", "mute", "open"]),
            &[
                ("done/project/metadata.json", &small),
                ("done/proof.json", proof),
                ("fast/project/metadata.json", &fast),
                ("fast/proof.json", proof),
                ("slow/project/metadata.json", &metadata(3, 40.0, 150.0)),
                ("slow/proof.json", proof),
                ("differs/project/metadata.json", &small),
                ("differs/prove.log", "{\n \"verdict\": \"differs\"\n}\nexit status 1\n"),
                ("broken/generate.log", "error[E0503] at --pipeline: no\n  help: other\nexit status 2\n"),
                ("mute/generate.log", "exit status 7\n"),
                // Cut off in the middle.
                ("open/generate.log", "error: half of what"),
            ],
        );
        let results = gather(found.path()).expect("a plan");
        assert_eq!(results.counts(), (3, 3, 1));
        let of = |name: &str| results.variants.iter().find(|row| row.variant == name).expect("a row");
        assert_eq!(of("broken").reason.as_deref(), Some("generate: error[E0503] at --pipeline: no"));
        assert_eq!(of("differs").reason.as_deref(), Some("prove: the RTL differs from the model"));
        assert_eq!(of("mute").reason.as_deref(), Some("generate: exit status 7"));
        assert_eq!((of("open").status, &of("open").reason), (Status::Open, &None));
        assert_eq!((of("done").stage_delay, of("done").latency_ns), (Some(2.5), Some(20.5)));
        // The variants are smaller, faster, and worse in both.
        assert_eq!([of("done").best, of("fast").best, of("slow").best, of("open").best], [true, true, false, false]);
        assert_eq!(results.csv().lines().count(), 8);
        assert!(results.csv().starts_with("variant,model,pipeline,status,"));
        assert!(results.csv().contains(",20.500,") && results.text().contains("  20.5  "), "{}", results.text());
    }

    #[test]
    fn what_a_tool_says_goes_before_the_estimate() {
        let stat = r#"{"creator":"Yosys 0.23","design":{"num_cells_by_type":{"LUT4":7,"TRELLIS_FF":5}}}"#;
        // nextpnr counts the flip-flops around the block, which do not belong to the block.
        let route = r#"{"fmax":{"clk":{"achieved":80.0,"constraint":100.0}},
                        "utilization":{"TRELLIS_COMB":{"used":8},"TRELLIS_FF":{"used":21}}}"#;
        let found = folder(
            &plan(Some("yosys"), &["a"]),
            &[
                ("a/project/metadata.json", &metadata(2, 10.0, 100.0)),
                ("a/proof.json", "{\"verdict\": \"unknown\"}"),
                ("a/synthesised", ""),
                ("a/project/reports/yosys/stat.json", stat),
                ("a/project/reports/nextpnr/report.json", route),
            ],
        );
        let results = gather(found.path()).expect("a plan");
        let row = &results.variants[0];
        assert_eq!((row.luts, row.registers, row.fmax_mhz), (Some(8.0), Some(5.0), Some(80.0)));
        assert_eq!((row.status, row.proof.as_deref()), (Status::Done, Some("unknown")));
        assert_eq!((row.latency_ns, row.point()), (Some(25.0), Some((80.0, 13.0))));
    }

    #[test]
    fn paths_of_ports_count_for_the_clock() {
        let row = |fmax_mhz, slack_ns| report::BuildRow {
            period_ns: Some(5.0),
            slack_ns,
            fmax_mhz,
            ..report::BuildRow::default()
        };
        // The figure of Quartus covers paths between registers, its worst slack covers all paths.
        assert_eq!(every_path(&row(Some(500.0), Some(1.0))), Some(250.0));
        assert_eq!(every_path(&row(Some(200.0), Some(1.0))), Some(200.0));
        assert_eq!(every_path(&row(None, Some(3.0))), Some(500.0));
        assert_eq!(every_path(&row(Some(200.0), None)), Some(200.0));
        // An empty path determines no clock.
        assert_eq!(every_path(&row(None, Some(6.0))), None);
    }

    #[test]
    fn a_folder_without_a_plan_is_refused() {
        let empty = tempfile::tempdir().expect("a folder");
        assert_eq!(gather(empty.path()).expect_err("none").kind(), io::ErrorKind::NotFound);
        assert!(gather(folder(&json!({}), &[]).path()).is_err());
    }
}
