//! Charts of stage delay and register bits as SVG, over the number of stages (sweep) or over the stages of one
//! pipeline.
//!
//! Two panels share the horizontal axis, so that each has its own vertical scale. The SVG consists only of rectangles,
//! lines and text, which all viewers and printers support.

use super::short;
use super::sweep::Row;
use crate::diag::four_digits;
use std::fmt::Write;

pub(super) const WIDTH: f64 = 720.0;
pub(super) const LEFT: f64 = 92.0;
pub(super) const RIGHT: f64 = 24.0;
const PANEL: f64 = 190.0;
pub(super) const TOP: f64 = 76.0;
const BETWEEN: f64 = 44.0;
const HEIGHT: f64 = TOP + 2.0 * PANEL + BETWEEN + 58.0;

/// Style of small text that stays legible on lines.
pub(super) const ON_LINES: &str = " font-size=\"11\" stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\"";

/// Style of the line at a required clock or period.
const REQUIRED: &str = " stroke=\"#2f7d4f\" stroke-width=\"1.5\" stroke-dasharray=\"6 4\"";

/// Panel of a chart: title, position, and values.
struct Panel<'a> {
    title: &'a str,
    top: f64,
    values: Vec<f64>,
    labels: Vec<String>,
    bars: bool,
    /// Required value with its unit.
    required: Option<(f64, &'a str)>,
}

/// Column of a chart.
pub(in crate::cli) struct Column {
    /// Label of the column on the axis.
    pub(in crate::cli) label: String,
    /// Delay.
    pub(in crate::cli) delay: f64,
    /// Register bits.
    pub(in crate::cli) register_bits: u64,
}

/// Draws the rows of a sweep, of which there must be at least one, with a line at the `required` stage delay. `title`
/// and `unit` are escaped.
pub(super) fn svg(title: &str, unit: &str, rows: &[Row], required: Option<f64>) -> String {
    let column =
        |row: &Row| Column { label: row.stages.to_string(), delay: row.stage_delay, register_bits: row.register_bits };
    let columns: Vec<Column> = rows.iter().map(column).collect();
    draw(
        title,
        [&format!("critical stage delay ({unit})"), "register bits", "pipeline stages"],
        &columns,
        false,
        required.map(|delay| (delay, unit)),
    )
}

/// Draws the stages of a pipeline, of which there must be at least one. `title` and `unit` are escaped.
pub(in crate::cli) fn stages(title: &str, unit: &str, columns: &[Column]) -> String {
    draw(title, [&format!("critical path ({unit})"), "register bits after the stage", "stage"], columns, true, None)
}

/// Returns the beginning of an SVG of this height, with its title.
pub(super) fn page(title: &str, height: f64) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} \
         {height}\" \
         font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#222\">"
    );
    let _ = writeln!(out, "<title>{}</title>", escaped(title));
    let _ = writeln!(out, "<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>");
    text(&mut out, LEFT, 30.0, "start", &shortened(title, 62), " font-size=\"17\" font-weight=\"bold\"");
    out
}

/// Draws both panels. `names` are the titles of the two panels and of the axis.
fn draw(title: &str, names: [&str; 3], columns: &[Column], bars: bool, required: Option<(f64, &str)>) -> String {
    let mut out = page(title, HEIGHT);
    let delays = Panel {
        title: names[0],
        top: TOP,
        values: columns.iter().map(|c| c.delay).collect(),
        labels: columns.iter().map(|c| three_digits(c.delay)).collect(),
        bars,
        required,
    };
    let bits = Panel {
        title: names[1],
        top: TOP + PANEL + BETWEEN,
        values: columns.iter().map(|c| c.register_bits as f64).collect(),
        labels: columns.iter().map(|c| c.register_bits.to_string()).collect(),
        bars: true,
        required: None,
    };
    delays.draw(&mut out, columns.len());
    bits.draw(&mut out, columns.len());
    let bottom = bits.top + PANEL;
    for (index, column) in columns.iter().enumerate() {
        if is_labelled(index, columns.len()) {
            text(&mut out, x(index, columns.len()), bottom + 19.0, "middle", &column.label, "");
        }
    }
    text(&mut out, LEFT + (WIDTH - LEFT - RIGHT) / 2.0, bottom + 43.0, "middle", names[2], "");
    out.push_str("</svg>\n");
    out
}

/// Returns the horizontal position of the middle of a column.
fn x(index: usize, columns: usize) -> f64 {
    LEFT + (WIDTH - LEFT - RIGHT) * (index as f64 + 0.5) / columns as f64
}

/// Returns `true` if there is space for the label of a column: for all of up to 16 columns, otherwise for every n-th.
fn is_labelled(index: usize, columns: usize) -> bool {
    index.is_multiple_of(columns.div_ceil(16))
}

impl Panel<'_> {
    fn draw(&self, out: &mut String, columns: usize) {
        let largest = self.values.iter().copied().fold(0.0, f64::max);
        let (step, top_value) = scale(largest);
        let y = |value: f64| self.top + PANEL * (1.0 - value / top_value);
        text(out, LEFT, self.top - 14.0, "start", self.title, " font-weight=\"bold\"");
        let mut tick = 0.0;
        while tick <= top_value * (1.0 + 1e-9) {
            let at = y(tick);
            let colour = if tick == 0.0 { "#222" } else { "#ddd" };
            let _ = writeln!(
                out,
                "<line x1=\"{LEFT}\" y1=\"{at:.2}\" x2=\"{:.2}\" y2=\"{at:.2}\" stroke=\"{colour}\"/>",
                WIDTH - RIGHT
            );
            text(out, LEFT - 9.0, at + 4.5, "end", &short(tick), "");
            tick += step;
        }
        let places = || self.values.iter().enumerate().map(|(index, &value)| (x(index, columns), y(value)));
        if self.bars {
            let width = 0.62 * (WIDTH - LEFT - RIGHT) / columns as f64;
            for (middle, at) in places() {
                let (left, height) = (middle - width / 2.0, self.top + PANEL - at);
                let _ = writeln!(
                    out,
                    "<rect x=\"{left:.2}\" y=\"{at:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"#4878a8\"/>"
                );
            }
        } else {
            let points: Vec<String> = places().map(|(x, y)| format!("{x:.2},{y:.2}")).collect();
            let points = points.join(" ");
            let _ =
                writeln!(out, "<polyline points=\"{points}\" fill=\"none\" stroke=\"#b04a2f\" stroke-width=\"2\"/>");
            for (x, y) in places() {
                let _ = writeln!(out, "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"3.5\" fill=\"#b04a2f\"/>");
            }
        }
        if let Some((required, unit)) = self.required {
            required_line(out, required, (self.top, y(required)), unit);
        }
        for (index, ((x, y), label)) in places().zip(&self.labels).enumerate() {
            if is_labelled(index, columns) {
                text(out, x, y - 7.0, "middle", label, ON_LINES);
            }
        }
    }
}

/// Returns a round distance between ticks, which results in three to six of them, and the value at the top, which is
/// above the largest value.
pub(super) fn scale(largest: f64) -> (f64, f64) {
    if !(largest > 0.0 && largest.is_finite()) {
        return (1.0, 1.0);
    }
    let mut step = 10f64.powf((largest / 5.0).log10().floor());
    for factor in [2.0, 2.5, 2.0] {
        if largest * 1.08 > 5.0 * step {
            step *= factor;
        }
    }
    (step, (largest * 1.08 / step).ceil() * step)
}

/// Formats a value with three digits.
fn three_digits(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// Returns the string, shortened with `…` if it has more than `most` characters.
pub(in crate::cli) fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() {
        n if n <= most => text.to_owned(),
        _ => text.chars().take(most - 1).chain(['…']).collect(),
    }
}

pub(super) fn text(out: &mut String, x: f64, y: f64, anchor: &str, text: &str, more: &str) {
    let text = escaped(text);
    let _ = writeln!(out, "<text x=\"{x:.2}\" y=\"{y:.2}\" text-anchor=\"{anchor}\"{more}>{text}</text>");
}

/// Escapes text for XML. Characters that XML 1.0 does not permit become question marks.
pub(in crate::cli) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

/// Draws the line at a required value, whose vertical position is `at`. A value above the plot is drawn at the top with
/// an arrow.
pub(super) fn required_line(out: &mut String, required: f64, (top, at): (f64, f64), unit: &str) {
    let (at, arrow) = if at < top { (top, " \u{2191}") } else { (at, "") };
    let _ = writeln!(out, "<line x1=\"{LEFT}\" y1=\"{at:.2}\" x2=\"{:.2}\" y2=\"{at:.2}\"{REQUIRED}/>", WIDTH - RIGHT);
    let label = format!("required {} {unit}{arrow}", four_digits(required));
    text(out, WIDTH - RIGHT - 4.0, at + 14.0, "end", &label, ON_LINES);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(stages: u32, stage_delay: f64, register_bits: u64) -> Row {
        Row {
            stages,
            stage_delay,
            latency: stages,
            delay_in_all: 0.0,
            register_bits,
            register_bits_in_blocks: 0,
            register_bits_at_least: register_bits,
            on_device: None,
            meets_period: None,
            proof: None,
            proved: true,
        }
    }

    #[test]
    fn ticks_are_round_and_few() {
        for largest in [0.003, 0.9, 1.0, 4.99, 17.3, 96.0, 100.0, 4321.0, 5e6] {
            let (step, top) = scale(largest);
            let ticks = top / step;
            assert!(top > largest && (2.0..=6.01).contains(&ticks), "{largest}: {step} to {top}");
        }
        assert_eq!(scale(0.0), (1.0, 1.0));
    }

    #[test]
    fn names_cannot_break_out() {
        let drawn = svg("</title><script>&\"'\u{1}", "<u>", &[row(1, 2.0, 0), row(2, 1.0, 30)], Some(1.5));
        assert!(!drawn.contains("<script") && !drawn.contains("<u>") && !drawn.contains('\u{1}'));
        assert!(drawn.contains("&lt;script&gt;&amp;&quot;&#39;?"));
        assert_eq!(drawn.matches("<circle").count(), 2);
        assert!(drawn.contains("required 1.5 &lt;u&gt;") && drawn.matches("stroke-dasharray").count() == 1);
    }
}
