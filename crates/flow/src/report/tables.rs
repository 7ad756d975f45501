//! Rows as a table for people, for spreadsheets, for programs and for documents.

use super::Row;
use alir_core::diag::four_digits;
use serde_json::{Map, Value, json};
use std::cmp::Ordering;

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Where the reports are.
    Run,
    /// Who wrote them.
    Tool,
    /// How far the design had come.
    State,
    /// The device.
    Part,
    /// Lookup tables.
    Luts,
    /// Flip-flops.
    Registers,
    /// Multiplier blocks.
    Dsps,
    /// Memory blocks.
    Brams,
    /// Large memory blocks.
    Urams,
    /// Blocks of carry logic.
    Carries,
    /// The clock of the figures that follow.
    Clock,
    /// The clock that was asked for.
    Period,
    /// What is to spare.
    Slack,
    /// What is to spare on the worst path of all.
    WorstSlack,
    /// What is to spare at hold.
    Hold,
    /// Ends of paths that miss setup, hold or pulse width.
    Failing,
    /// The fastest clock.
    Fmax,
    /// Power.
    Power,
    /// The part of it that depends on what the design does.
    Dynamic,
    /// Latency in clocks.
    Latency,
    /// Latency in time.
    Time,
}

use Column::{
    Brams, Carries, Clock, Dsps, Dynamic, Failing, Fmax, Hold, Latency, Luts, Part, Period, Power, Registers, Run,
    Slack, State, Time, Tool, Urams, WorstSlack,
};

impl Column {
    /// All of them, from the left.
    pub const ALL: [Column; 21] = [
        Run, Tool, State, Part, Luts, Registers, Dsps, Brams, Urams, Carries, Clock, Period, Slack, WorstSlack, Hold,
        Failing, Fmax, Power, Dynamic, Latency, Time,
    ];

    /// Its name, with the unit.
    pub fn name(self) -> &'static str {
        match self {
            Run => "run",
            Tool => "tool",
            State => "state",
            Part => "part",
            Luts => "luts",
            Registers => "registers",
            Dsps => "dsps",
            Brams => "brams",
            Urams => "urams",
            Carries => "carries",
            Clock => "clock",
            Period => "period_ns",
            Slack => "slack_ns",
            WorstSlack => "worst_slack_ns",
            Hold => "hold_ns",
            Failing => "failing",
            Fmax => "fmax_mhz",
            Power => "power_w",
            Dynamic => "dynamic_w",
            Latency => "latency",
            Time => "latency_ns",
        }
    }

    fn word(self, row: &Row) -> Option<&str> {
        match self {
            Run => Some(&row.run),
            Tool => Some(row.tool),
            State => Some(row.state).filter(|state| !state.is_empty()),
            Part => row.part.as_deref(),
            Clock => row.clock.as_deref(),
            _ => None,
        }
    }

    fn number(self, row: &Row) -> Option<f64> {
        match self {
            Luts => row.luts,
            Registers => row.registers,
            Dsps => row.dsps,
            Brams => row.brams,
            Urams => row.urams,
            Carries => row.carries,
            Period => row.period_ns,
            Slack => row.slack_ns,
            WorstSlack => row.worst_slack_ns,
            Hold => row.hold_ns,
            Failing => row.failing,
            Fmax => row.fmax_mhz,
            Power => row.power_w,
            Dynamic => row.dynamic_w,
            Latency => row.latency,
            Time => row.latency_ns,
            Run | Tool | State | Part | Clock => None,
        }
    }

    /// Whether it counts something.
    fn is_count(self) -> bool {
        matches!(self, Luts | Registers | Dsps | Brams | Urams | Carries | Failing | Latency)
    }

    fn is_word(self) -> bool {
        matches!(self, Run | Tool | State | Part | Clock)
    }

    /// As text for people: counts as they are, other figures with four significant digits.
    fn shown(self, row: &Row) -> String {
        match self.number(row) {
            Some(number) if !self.is_count() && !self.is_word() => four_digits(number),
            _ => self.cell(row),
        }
    }

    /// As text, with at most three decimals; nothing where nothing is known.
    fn cell(self, row: &Row) -> String {
        if self.is_word() {
            return self.word(row).unwrap_or_default().to_owned();
        }
        let Some(number) = self.number(row) else { return String::new() };
        let text = format!("{number:.3}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        if text == "-0" { "0".to_owned() } else { text.to_owned() }
    }
}

/// Sorts by a column; rows that have nothing there come last.
pub fn sort(rows: &mut [Row], column: Column, descending: bool) {
    let order = |less: Ordering| if descending { less.reverse() } else { less };
    rows.sort_by(|a, b| match (column.number(a), column.number(b)) {
        (Some(x), Some(y)) => order(x.total_cmp(&y)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) if column.is_word() => match (column.word(a), column.word(b)) {
            (Some(x), Some(y)) => order(x.cmp(y)),
            (x, y) => y.is_some().cmp(&x.is_some()),
        },
        (None, None) => Ordering::Equal,
    });
}

/// Columns of which something is known.
fn known(rows: &[Row]) -> Vec<Column> {
    let known = |c: &Column| rows.iter().any(|row| !c.cell(row).is_empty());
    Column::ALL.into_iter().filter(known).collect()
}

/// For people: columns under one another. No character that moves the cursor comes through.
pub fn text(rows: &[Row]) -> String {
    let columns = known(rows);
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

/// For spreadsheets (RFC 4180), every column.
pub fn csv(rows: &[Row]) -> String {
    let quoted = |cell: String| match cell.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    };
    let mut text = Column::ALL.map(Column::name).join(",") + "\n";
    for row in rows {
        text.push_str(&Column::ALL.map(|c| quoted(c.cell(row))).join(","));
        text.push('\n');
    }
    text
}

/// For documents.
pub fn markdown(rows: &[Row]) -> String {
    let columns = known(rows);
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

/// For programs: the rows as objects; what is not known is null. Numbers are not rounded, and whole counts are
/// integers.
pub fn json(rows: &[Row]) -> String {
    let value = |row: &Row, c: Column| match c.is_word() {
        true => c.word(row).map_or(Value::Null, Value::from),
        false => c.number(row).map_or(Value::Null, |n| number(n, c.is_count())),
    };
    let object = |row: &Row| -> Map<String, Value> {
        Column::ALL.into_iter().map(|c| (c.name().to_owned(), value(row, c))).collect()
    };
    let rows: Vec<_> = rows.iter().map(object).collect();
    serde_json::to_string_pretty(&json!({ "schema": "alir2hdl.report/2", "rows": rows })).expect("plain data") + "\n"
}

/// A number; of a count an integer, but where a tool counts halves (memory blocks).
fn number(n: f64, is_count: bool) -> Value {
    if is_count && n.fract() == 0.0 && n.abs() < 9e15 { json!(n as i64) } else { json!(n) }
}
