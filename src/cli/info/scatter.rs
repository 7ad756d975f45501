//! Clock against area as SVG: a point for each number of stages, those that no other beats joined by a line.

use super::plot::{escaped, scale, shortened, text};
use super::short;
use super::sweep::{OnDevice, Row};
use std::fmt::Write;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 500.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 28.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 64.0;
/// Half the size that a label takes, and its distance from the point.
const LABEL: (f64, f64) = (9.0, 7.0);

/// One number of stages on the page.
struct Point {
    stages: u32,
    x: f64,
    y: f64,
    on: OnDevice,
}

/// Draws the rows of a sweep that have an estimate, of which there is at least one. `title` and `device` may be any
/// text.
pub(super) fn svg(title: &str, device: &str, rows: &[Row]) -> String {
    let of_row = |row: &Row| row.on_device.map(|on| (row.stages, on));
    let rows: Vec<(u32, OnDevice)> = rows.iter().filter_map(of_row).collect();
    let largest = |value: &dyn Fn(&OnDevice) -> f64| rows.iter().map(|(_, on)| value(on)).fold(0.0, f64::max);
    let (across, right) = scale(largest(&|on| on.area() as f64));
    let (up, top) = scale(largest(&|on| on.clock_mhz));
    let x = |area: f64| LEFT + (WIDTH - LEFT - RIGHT) * area / right;
    let y = |mhz: f64| HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * mhz / top;

    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#222\">"
    );
    let _ = writeln!(out, "<title>{}</title>", escaped(title));
    let _ = writeln!(out, "<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>");
    text(&mut out, LEFT, 30.0, "start", &shortened(title, 62), " font-size=\"17\" font-weight=\"bold\"");
    let legend =
        format!("{}: estimated clock (MHz) by LUT + FF; labels: stages; line: not beaten", shortened(device, 20));
    text(&mut out, LEFT, 56.0, "start", &legend, "");
    axes(&mut out, (across, right, &x), (up, top, &y));

    let mut points: Vec<Point> =
        rows.iter().map(|&(stages, on)| Point { stages, x: x(on.area() as f64), y: y(on.clock_mhz), on }).collect();
    points.sort_by_key(|point| (point.on.area(), point.stages));
    let best: Vec<String> = points.iter().filter(|p| p.on.best).map(|p| format!("{:.2},{:.2}", p.x, p.y)).collect();
    let _ =
        writeln!(out, "<polyline points=\"{}\" fill=\"none\" stroke=\"#b04a2f\" stroke-width=\"2\"/>", best.join(" "));
    for point in &points {
        let (radius, colour) = if point.on.best { (4.5, "#b04a2f") } else { (3.5, "#4878a8") };
        let _ = writeln!(out, "<circle cx=\"{:.2}\" cy=\"{:.2}\" r=\"{radius}\" fill=\"{colour}\"/>", point.x, point.y);
    }
    labels(&mut out, &points);
    out.push_str("</svg>\n");
    out
}

/// Ticks and lines of both axes: distance of ticks, largest value, place of a value.
fn axes(
    out: &mut String,
    (across, right, x): (f64, f64, &dyn Fn(f64) -> f64),
    (up, top, y): (f64, f64, &dyn Fn(f64) -> f64),
) {
    let (bottom, end) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    for index in 0..=(top / up).round() as u32 {
        let value = up * f64::from(index);
        let (at, colour) = (y(value), if index == 0 { "#222" } else { "#ddd" });
        let _ = writeln!(out, "<line x1=\"{LEFT}\" y1=\"{at:.2}\" x2=\"{end}\" y2=\"{at:.2}\" stroke=\"{colour}\"/>");
        text(out, LEFT - 9.0, at + 4.5, "end", &short(value), "");
    }
    for index in 0..=(right / across).round() as u32 {
        let value = across * f64::from(index);
        let (at, colour) = (x(value), if index == 0 { "#222" } else { "#ddd" });
        let _ = writeln!(out, "<line x1=\"{at:.2}\" y1=\"{TOP}\" x2=\"{at:.2}\" y2=\"{bottom}\" stroke=\"{colour}\"/>");
        text(out, at, bottom + 19.0, "middle", &short(value), "");
    }
    text(out, LEFT, TOP - 10.0, "start", "MHz", " font-weight=\"bold\"");
    text(out, (LEFT + end) / 2.0, bottom + 45.0, "middle", "LUT + FF", " font-weight=\"bold\"");
}

/// The number of stages beside each point, where it covers neither another label nor another point, if there is such a
/// place.
fn labels(out: &mut String, points: &[Point]) {
    let (half, gap) = LABEL;
    let places = [(0.0, -half - gap + 2.0), (half + gap, 0.0), (0.0, half + gap + 2.0), (-half - gap, 0.0)];
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for point in points {
        let is_free = |&(dx, dy): &(f64, f64)| {
            let (x, y) = (point.x + dx, point.y + dy);
            let apart = |&(u, v): &(f64, f64), room: f64| (u - x).abs() >= room || (v - y).abs() >= room;
            let others = points.iter().filter(|other| other.stages != point.stages);
            taken.iter().all(|label| apart(label, 2.0 * half - 3.0))
                && others.into_iter().all(|other| apart(&(other.x, other.y), half + 2.0))
        };
        let (dx, dy) = places.into_iter().find(is_free).unwrap_or(places[0]);
        taken.push((point.x + dx, point.y + dy));
        let halo = " font-size=\"11\" stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\"";
        text(out, point.x + dx, point.y + dy + 4.0, "middle", &point.stages.to_string(), halo);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(stages: u32, clock_mhz: f64, lut: u64, best: bool) -> Row {
        let on = OnDevice { lut, ff: 10, dsp: 0, ram: 0, clock_mhz, latency_ns: 1.0, best };
        Row {
            stages,
            stage_delay: 1.0,
            latency: stages,
            delay_in_all: 1.0,
            register_bits: 10,
            register_bits_in_blocks: 0,
            register_bits_at_least: 10,
            on_device: Some(on),
            proof: None,
            proved: true,
        }
    }

    #[test]
    fn every_row_is_a_labelled_point_and_the_best_are_joined() {
        let drawn = svg("a<b", "ecp5", &[row(1, 50.0, 100, true), row(2, 45.0, 120, false), row(3, 90.0, 130, true)]);
        assert_eq!(drawn.matches("<circle").count(), 3);
        let line = drawn.split("<polyline points=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        assert_eq!(line.split(' ').count(), 2, "{drawn}");
        assert!(drawn.contains(">1</text>") && drawn.contains(">2</text>") && drawn.contains(">3</text>"));
        assert!(drawn.contains("a&lt;b") && !drawn.contains("a<b"));
    }
}
