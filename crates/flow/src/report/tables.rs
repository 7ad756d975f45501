//! Rows as a table: aligned text, CSV, TSV, Markdown, HTML and JSON.

use super::{BuildRow, Stage};
use alir_core::diag::four_digits;
use askama::Template;
use serde_json::{Map, Value, json};
use std::cmp::Ordering;

/// Kind of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnKind {
    Word,
    Count,
    Quantity,
}

/// Value of a cell.
enum Cell<'r> {
    Word(Option<&'r str>),
    Number(Option<f64>),
}

/// A column of the table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    name: &'static str,
    kind: ColumnKind,
    number: fn(&BuildRow) -> Option<f64>,
}

impl PartialEq for Column {
    fn eq(&self, other: &Column) -> bool {
        self.name == other.name
    }
}

const fn word(name: &'static str) -> Column {
    Column { name, kind: ColumnKind::Word, number: |_| None }
}

const fn count(name: &'static str, number: fn(&BuildRow) -> Option<f64>) -> Column {
    Column { name, kind: ColumnKind::Count, number }
}

const fn quantity(name: &'static str, number: fn(&BuildRow) -> Option<f64>) -> Column {
    Column { name, kind: ColumnKind::Quantity, number }
}

macro_rules! further {
    ($make:ident, $name:literal) => {
        $make($name, |row| row.further.get($name).copied())
    };
}

impl Column {
    /// Default columns, from the left.
    pub const USUAL: [Column; 25] = [
        word("run"),
        word("tool"),
        word("state"),
        word("part"),
        count("luts", |row| row.luts),
        count("alms", |row| row.alms),
        count("aluts", |row| row.aluts),
        count("logic_elements", |row| row.logic_elements),
        count("registers", |row| row.registers),
        count("dsps", |row| row.dsps),
        count("brams", |row| row.brams),
        count("urams", |row| row.urams),
        count("carries", |row| row.carries),
        word("clock"),
        quantity("period_ns", |row| row.period_ns),
        quantity("slack_ns", |row| row.slack_ns),
        quantity("worst_slack_ns", |row| row.worst_slack_ns),
        quantity("hold_ns", |row| row.hold_ns),
        count("failing", |row| row.failing),
        quantity("fmax_mhz", |row| row.fmax_mhz),
        quantity("restricted_fmax_mhz", |row| row.restricted_fmax_mhz),
        quantity("power_w", |row| row.power_w),
        quantity("dynamic_w", |row| row.dynamic_w),
        count("latency", |row| row.latency),
        quantity("latency_ns", |row| row.latency_ns),
    ];

    /// Columns that `--columns` adds, by the names in [`BuildRow::further`].
    pub const FURTHER: [Column; 19] = [
        further!(count, "lut_logic"),
        further!(count, "lut_memory"),
        further!(count, "latches"),
        further!(count, "ramb18"),
        further!(count, "luts_available"),
        further!(count, "registers_available"),
        further!(count, "dsps_available"),
        further!(count, "brams_available"),
        further!(count, "urams_available"),
        further!(count, "alms_available"),
        further!(count, "logic_elements_available"),
        further!(count, "memory_bits"),
        further!(count, "plls"),
        further!(count, "interval"),
        further!(quantity, "tns_ns"),
        further!(quantity, "pulse_width_ns"),
        further!(quantity, "static_w"),
        word("area_state"),
        word("timing"),
    ];

    /// Returns the column with this name.
    pub fn find(name: &str) -> Option<Column> {
        Column::USUAL.into_iter().chain(Column::FURTHER).find(|column| column.name == name)
    }

    /// Returns the name of the column, which ends in the unit.
    pub fn name(self) -> &'static str {
        self.name
    }

    fn value(self, row: &BuildRow) -> Cell<'_> {
        match self.name {
            "run" => Cell::Word(Some(&row.run)),
            "tool" => Cell::Word(Some(row.tool)),
            "state" => Cell::Word(row.state.map(Stage::name)),
            "part" => Cell::Word(row.part.as_deref()),
            "clock" => Cell::Word(row.clock.as_deref()),
            "area_state" => Cell::Word(row.area_state.map(Stage::name)),
            "timing" => Cell::Word(row.meets_timing().map(|is_met| if is_met { "met" } else { "missed" })),
            _ => Cell::Number((self.number)(row)),
        }
    }

    fn is_word(self) -> bool {
        self.kind == ColumnKind::Word
    }

    /// Returns the value for the text table: quantities have four significant digits.
    fn shown(self, row: &BuildRow) -> String {
        match self.value(row) {
            Cell::Number(Some(number)) if self.kind == ColumnKind::Quantity => four_digits(number),
            _ => self.cell(row),
        }
    }

    /// Returns the value with at most three decimals; empty if it is unknown.
    fn cell(self, row: &BuildRow) -> String {
        match self.value(row) {
            Cell::Word(word) => word.unwrap_or_default().to_owned(),
            Cell::Number(None) => String::new(),
            Cell::Number(Some(number)) => {
                let text = format!("{number:.3}");
                let text = text.trim_end_matches('0').trim_end_matches('.');
                if text == "-0" { "0".to_owned() } else { text.to_owned() }
            }
        }
    }
}

/// Sorts rows by a column; rows without a value there come last.
pub fn sort(rows: &mut [BuildRow], column: Column, descending: bool) {
    let order = |less: Ordering| if descending { less.reverse() } else { less };
    rows.sort_by(|a, b| match (column.value(a), column.value(b)) {
        (Cell::Number(Some(x)), Cell::Number(Some(y))) => order(x.total_cmp(&y)),
        (Cell::Word(Some(x)), Cell::Word(Some(y))) => order(x.cmp(y)),
        (Cell::Number(x), Cell::Number(y)) => y.is_some().cmp(&x.is_some()),
        (Cell::Word(x), Cell::Word(y)) => y.is_some().cmp(&x.is_some()),
        _ => Ordering::Equal,
    });
}

/// Returns one row for each build: the row of its last stage. If the tool reported area after placement only, as in
/// Vivado's project flow, the row has this area, as routing does not change the cells; `area_state` then names the
/// stage. Area after synthesis is never used for a placed design.
pub fn for_people(rows: &[BuildRow]) -> Vec<BuildRow> {
    let has_area = |row: &BuildRow| row.luts.or(row.alms).or(row.logic_elements).is_some();
    let results = rows.iter().filter(|row| row.result);
    let with_area = results.map(|row| {
        let mut row = row.clone();
        let placed = |other: &&BuildRow| {
            (&other.run, other.tool) == (&row.run, row.tool)
                && matches!(other.state, Some(Stage::Placed | Stage::PhysOpt))
                && has_area(other)
        };
        if !has_area(&row)
            && row.state == Some(Stage::Routed)
            && let Some(placed) = rows.iter().filter(placed).max_by_key(|other| other.state)
        {
            row.area_state = placed.state;
            row.luts = placed.luts;
            row.alms = placed.alms;
            row.aluts = placed.aluts;
            row.logic_elements = placed.logic_elements;
            row.registers = placed.registers;
            row.dsps = placed.dsps;
            row.brams = placed.brams;
            row.urams = placed.urams;
            row.carries = placed.carries;
            for (name, figure) in &placed.further {
                row.further.entry(name).or_insert(*figure);
            }
        }
        row
    });
    with_area.collect()
}

/// Returns the columns of a table: those that were requested, or the usual ones with a value in some row.
fn columns(rows: &[BuildRow], requested: &[Column]) -> Vec<Column> {
    if !requested.is_empty() {
        return requested.to_vec();
    }
    let is_known = |column: &Column| rows.iter().any(|row| !column.cell(row).is_empty());
    let words = Column::FURTHER.into_iter().filter(|column| column.is_word());
    Column::USUAL.into_iter().chain(words).filter(is_known).collect()
}

/// Returns a text table with aligned columns. Control characters are replaced.
pub fn text(rows: &[BuildRow], requested: &[Column]) -> String {
    let columns = columns(rows, requested);
    let plain = |s: String| -> String { s.chars().map(|c| if c.is_control() { '?' } else { c }).collect() };
    let names: Vec<String> = columns.iter().map(|c| c.name().to_owned()).collect();
    let lines: Vec<Vec<String>> = std::iter::once(names)
        .chain(rows.iter().map(|row| columns.iter().map(|c| plain(c.shown(row))).collect()))
        .collect();
    let width = |k: usize| lines.iter().map(|line| line[k].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).zip(&columns).map(|((cell, &width), column)| match column.is_word() {
            true => format!("{cell:<width$}"),
            false => format!("{cell:>width$}"),
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Format of separated values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separated {
    /// Comma-separated values (RFC 4180).
    Commas,
    /// Tab-separated values.
    Tabs,
}

/// Returns all usual columns, or the requested ones, for spreadsheets.
pub fn csv(rows: &[BuildRow], requested: &[Column], separated: Separated) -> String {
    let quoted = |cell: String| match separated {
        Separated::Commas if cell.contains(['"', ',', '\n', '\r']) => format!("\"{}\"", cell.replace('"', "\"\"")),
        Separated::Commas => cell,
        Separated::Tabs => cell.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
    };
    let separator = if separated == Separated::Commas { "," } else { "\t" };
    let columns = if requested.is_empty() { Column::USUAL.to_vec() } else { requested.to_vec() };
    let line = |cells: Vec<String>| cells.join(separator) + "\n";
    let mut text = line(columns.iter().map(|column| column.name.to_owned()).collect());
    for row in rows {
        text.push_str(&line(columns.iter().map(|column| quoted(column.cell(row))).collect()));
    }
    text
}

/// Returns a Markdown table.
pub fn markdown(rows: &[BuildRow], requested: &[Column]) -> String {
    let columns = columns(rows, requested);
    let escaped = |cell: String| -> String {
        let special = |c: char| matches!(c, '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '#');
        cell.chars()
            .filter(|c| !c.is_control())
            .flat_map(|c| special(c).then_some('\\').into_iter().chain([c]))
            .collect()
    };
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(columns.iter().map(|c| escaped(c.name().to_owned())).collect());
    let rule = columns.iter().map(|c| if c.is_word() { "---" } else { "---:" });
    text.push_str(&format!("|{}|\n", rule.collect::<Vec<_>>().join("|")));
    rows.iter().for_each(|row| text.push_str(&line(columns.iter().map(|c| escaped(c.cell(row))).collect())));
    text
}

/// HTML page with the table and the stage charts of the projects.
#[derive(Template)]
#[template(path = "report/page.html")]
struct Page {
    columns: Vec<(&'static str, bool)>,
    /// Cells of each row, and `true` if the row misses its timing.
    rows: Vec<(Vec<String>, bool)>,
    charts: Vec<Chart>,
}

/// Bar chart of the stages of a project's pipeline.
struct Chart {
    run: String,
    unit: &'static str,
    /// Stage number, delay, length of the bar in per cent, register bits.
    bars: Vec<(usize, String, u32, u64)>,
}

/// Returns an HTML page without scripts or references to other files. `projects` has the `metadata.json` of each
/// project by the name of its run.
///
/// # Panics
/// Never: the template writes into memory.
pub fn html(rows: &[BuildRow], requested: &[Column], projects: &[(String, Value)]) -> String {
    let columns = columns(rows, requested);
    let charts = projects.iter().filter_map(|(run, facts)| {
        let stages: Vec<(f64, u64)> = facts["stages"]
            .as_array()?
            .iter()
            .filter_map(|stage| Some((stage["delay"].as_f64()?, stage["register_bits"].as_u64()?)))
            .collect();
        let longest = stages.iter().map(|(delay, _)| *delay).fold(0.0, f64::max);
        let bar = |(at, &(delay, bits)): (usize, &(f64, u64))| {
            let share = if longest > 0.0 { (100.0 * delay / longest).round() as u32 } else { 0 };
            (at + 1, format!("{delay:.3}"), share, bits)
        };
        let unit = if facts["project"]["clock_period_ns"].is_null() { "" } else { " ns" };
        let bars: Vec<_> = stages.iter().enumerate().map(bar).collect();
        (!bars.is_empty()).then(|| Chart { run: run.clone(), unit, bars })
    });
    let page = Page {
        columns: columns.iter().map(|column| (column.name, column.is_word())).collect(),
        rows: rows
            .iter()
            .map(|row| (columns.iter().map(|c| c.cell(row)).collect(), row.meets_timing() == Some(false)))
            .collect(),
        charts: charts.collect(),
    };
    page.render().expect("a template that writes into memory")
}

/// Returns the rows as JSON objects; an unknown value is null. Numbers are not rounded, and whole counts are integers.
///
/// # Panics
/// Never: serialisation of plain data does not fail.
pub fn json(rows: &[BuildRow]) -> String {
    let object = |row: &BuildRow| -> Map<String, Value> {
        let value = |column: Column| match column.value(row) {
            Cell::Word(word) => word.map_or(Value::Null, Value::from),
            Cell::Number(figure) => figure.map_or(Value::Null, |n| number(n, column.kind == ColumnKind::Count)),
        };
        let mut object: Map<String, Value> =
            Column::USUAL.into_iter().map(|column| (column.name.to_owned(), value(column))).collect();
        object.insert("result".to_owned(), json!(row.result));
        object.insert("clocks".to_owned(), serde_json::to_value(&row.clocks).expect("plain data"));
        let further = Column::FURTHER.into_iter().filter(|column| row.further.contains_key(column.name));
        let further: Map<String, Value> = further.map(|column| (column.name.to_owned(), value(column))).collect();
        object.insert("further".to_owned(), Value::Object(further));
        object
    };
    let rows: Vec<_> = rows.iter().map(object).collect();
    serde_json::to_string_pretty(&json!({ "schema": "alir2hdl.report/2", "rows": rows })).expect("plain data") + "\n"
}

/// Returns a number; a count is an integer, unless a tool counts halves (BRAM).
fn number(n: f64, is_count: bool) -> Value {
    if is_count && n.fract() == 0.0 && n.abs() < 9e15 { json!(n as i64) } else { json!(n) }
}
