//! Scatter plots of speed and area as SVG, with a line through the points of the Pareto front.

use super::plot::{LEFT, ON_LINES, RIGHT, TOP, WIDTH, escaped, page, required_line, scale, shortened, text};
use super::short;
use super::sweep::Row;
use std::fmt::Write;

/// Height of the plot in a panel, and of the panel with heading and axis.
const PLOT: f64 = 320.0;
const PANEL: f64 = PLOT + 104.0;
/// Distance of a label from its point, half the height of a label, and half the width of a character.
const GAP: f64 = 5.0;
const HALF_HEIGHT: f64 = 6.0;
const HALF_CHARACTER: f64 = 3.1;
/// Maximum number of points in a panel for which points outside of the Pareto front are labelled too.
const FEW: usize = 24;
/// Colour of the Pareto front.
const BEST: &str = "#b04a2f";
/// Panel of points.
pub(in crate::cli) struct Panel {
    /// Title above the plot.
    pub(in crate::cli) title: String,
    /// Points of the panel.
    pub(in crate::cli) points: Vec<Point>,
    /// Required value on the vertical axis.
    pub(in crate::cli) required: Option<f64>,
}

/// Point of a panel. Smaller `x` and larger `y` are better.
pub(in crate::cli) struct Point {
    /// Value on the horizontal axis, which increases to the right.
    pub(in crate::cli) x: f64,
    /// Value on the vertical axis, which increases upwards.
    pub(in crate::cli) y: f64,
    /// `true` if no other point is better in both values.
    pub(in crate::cli) best: bool,
    /// Label of the point.
    pub(in crate::cli) label: String,
}

/// Draws the rows of a sweep that have an estimate, with a line at the required clock `period` in nanoseconds. `title`
/// and `device` are escaped.
pub(super) fn sweep_chart(title: &str, device: &str, rows: &[Row], period: Option<f64>) -> String {
    let point = |row: &Row| {
        let on = row.on_device?;
        Some(Point { x: on.area() as f64, y: on.clock_mhz, best: on.best, label: row.stages.to_string() })
    };
    let required = period.filter(|ns| *ns > 0.0).map(|ns| 1000.0 / ns);
    let panel = Panel { title: device.to_owned(), points: rows.iter().filter_map(point).collect(), required };
    svg(title, ["LUT + FF", "estimated clock (MHz) of each number of stages"], &[panel])
}

/// Draws panels below one another. `names` are the titles of the axes; all text is escaped.
pub(in crate::cli) fn svg(title: &str, names: [&str; 2], panels: &[Panel]) -> String {
    let mut out = page(title, TOP + PANEL * panels.len().max(1) as f64);
    if panels.is_empty() {
        text(&mut out, LEFT, TOP, "start", "nothing is done yet", "");
    }
    for (k, panel) in panels.iter().enumerate() {
        panel.draw(&mut out, TOP + PANEL * k as f64, names);
    }
    out.push_str("</svg>\n");
    out
}

impl Panel {
    fn draw(&self, out: &mut String, top: f64, names: [&str; 2]) {
        let largest = |of: fn(&Point) -> f64| scale(self.points.iter().map(of).fold(0.0, f64::max));
        let ((step_x, most_x), (step_y, most_y)) = (largest(|p| p.x), largest(|p| p.y));
        let x = |value: f64| LEFT + (WIDTH - LEFT - RIGHT) * value / most_x;
        let y = |value: f64| top + PLOT * (1.0 - value / most_y);
        let heading = format!("{}: {}; line: Pareto front", shortened(&self.title, 40), names[1]);
        text(out, LEFT, top - 14.0, "start", &heading, " font-weight=\"bold\"");
        let ticks = |step: f64, most: f64| (0..=(most / step).round() as u32).map(move |k| f64::from(k) * step);
        let colour = |tick: f64| if tick == 0.0 { "#222" } else { "#ddd" };
        for tick in ticks(step_y, most_y) {
            line(out, (LEFT, y(tick)), (WIDTH - RIGHT, y(tick)), colour(tick));
            text(out, LEFT - 9.0, y(tick) + 4.5, "end", &short(tick), "");
        }
        for tick in ticks(step_x, most_x) {
            line(out, (x(tick), top), (x(tick), top + PLOT), colour(tick));
            text(out, x(tick), top + PLOT + 19.0, "middle", &short(tick), "");
        }
        text(out, LEFT + (WIDTH - LEFT - RIGHT) / 2.0, top + PLOT + 43.0, "middle", names[0], "");

        if let Some(required) = self.required {
            required_line(out, required, (top, y(required)), "MHz");
        }

        let mut placed: Vec<(&Point, (f64, f64))> = self.points.iter().map(|p| (p, (x(p.x), y(p.y)))).collect();
        // Points outside of the Pareto front are drawn first, so that they never cover its points.
        placed.sort_by(|(a, _), (b, _)| a.best.cmp(&b.best).then(a.x.total_cmp(&b.x)));
        let best = placed.iter().filter(|(point, _)| point.best);
        let front: Vec<String> = best.map(|(_, (x, y))| format!("{x:.2},{y:.2}")).collect();
        let front = front.join(" ");
        let _ = writeln!(out, "<polyline points=\"{front}\" fill=\"none\" stroke=\"{BEST}\" stroke-width=\"1.5\"/>");
        for (point, (x, y)) in &placed {
            let (fill, stroke) = if point.best { (BEST, BEST) } else { ("#fff", "#8a98a8") };
            let name = escaped(&format!("{}: {}, {}", point.label, short(point.x), short(point.y)));
            let _ = writeln!(
                out,
                "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"4\" fill=\"{fill}\" \
                 stroke=\"{stroke}\"><title>{name}</title></circle>"
            );
        }
        labels(out, &placed, (top, top + PLOT));
    }
}

fn line(out: &mut String, from: (f64, f64), to: (f64, f64), colour: &str) {
    let ((x1, y1), (x2, y2)) = (from, to);
    let _ = writeln!(out, "<line x1=\"{x1:.2}\" y1=\"{y1:.2}\" x2=\"{x2:.2}\" y2=\"{y2:.2}\" stroke=\"{colour}\"/>");
}

/// Draws labels next to the points, those of the Pareto front first. A label that would cover another label or a point
/// is omitted; its text is in the tooltip.
fn labels(out: &mut String, placed: &[(&Point, (f64, f64))], (top, bottom): (f64, f64)) {
    let mut taken: Vec<[f64; 4]> = placed.iter().map(|(_, (x, y))| [x - 4.0, y - 4.0, x + 4.0, y + 4.0]).collect();
    let (best, others): (Vec<_>, Vec<_>) = placed.iter().partition(|(point, _)| point.best);
    let others = others.into_iter().filter(|_| placed.len() <= FEW);
    for (point, (x, y)) in best.into_iter().chain(others) {
        let half = HALF_CHARACTER * point.label.chars().count() as f64;
        let (aside, above) = (half + GAP, HALF_HEIGHT + GAP);
        let around = [(0.0, -above), (aside, 0.0), (0.0, above), (-aside, 0.0), (-aside, -above), (aside, above)];
        let boxes = around.map(|(dx, dy)| [x + dx - half, y + dy - HALF_HEIGHT, x + dx + half, y + dy + HALF_HEIGHT]);
        let is_free = |at: &[f64; 4]| {
            let inside = at[0] >= LEFT && at[2] <= WIDTH - RIGHT && at[1] >= top - 8.0 && at[3] <= bottom;
            let covers = |b: &[f64; 4]| at[0] < b[2] && b[0] < at[2] && at[1] < b[3] && b[1] < at[3];
            inside && !taken.iter().any(covers)
        };
        if let Some(place) = boxes.into_iter().find(is_free) {
            taken.push(place);
            text(out, f64::midpoint(place[0], place[2]), place[3] - 2.0, "middle", &point.label, ON_LINES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(points: &[(f64, f64, bool, &str)]) -> Panel {
        let point = |&(x, y, best, label): &(f64, f64, bool, &str)| Point { x, y, best, label: label.to_owned() };
        Panel { title: "<ecp5>".into(), points: points.iter().map(point).collect(), required: None }
    }

    #[test]
    fn every_point_is_labelled_and_the_best_are_joined() {
        let points = [(100.0, 50.0, true, "1"), (120.0, 45.0, false, "2"), (130.0, 90.0, true, "<3>")];
        let drawn = svg("a<b", ["area", "clock"], &[panel(&points)]);
        assert_eq!(drawn.matches("<circle").count(), 3);
        let line = drawn.split("<polyline points=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        assert_eq!(line.split(' ').count(), 2, "{drawn}");
        assert!(drawn.contains(">1</text>") && drawn.contains(">2</text>") && drawn.contains(">&lt;3&gt;</text>"));
        assert!(drawn.contains("a&lt;b") && !drawn.contains("a<b") && !drawn.contains("<ecp5>"));
    }

    #[test]
    fn names_that_find_no_room_are_tooltips_only() {
        let name = "a name of forty characters or nearly so";
        let points = [(10.0, 10.0, true, name); 9];
        let drawn = svg("", ["area", "clock"], &[panel(&points)]);
        assert_eq!(drawn.matches("</title></circle>").count(), 9);
        assert!((1..9).contains(&drawn.matches(&format!(">{name}</text>")).count()), "{drawn}");
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert!(svg("t", ["x", "y"], &[]).contains("nothing is done yet"));
    }
}
