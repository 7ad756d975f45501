//! Occupancy charts of shared hardware as SVG, with a row for each unit and a column for each phase.

use super::plot::{LEFT, RIGHT, TOP, WIDTH, page, text};
use crate::reuse::Plan;
use crate::reuse::serial::{self, Graph};
use std::fmt::Write;

/// Maximum number of units that are drawn.
const ROWS: usize = 80;
/// Height of a row.
const ROW: f64 = 18.0;
/// Colours of groups; adjacent groups have different colours.
const COLOURS: [&str; 6] = ["#4c78a8", "#f58518", "#54a24b", "#b279a2", "#9d755d", "#72b7b2"];

/// Draws the units that several blocks share. `title` is escaped.
pub(in crate::cli) fn svg(title: &str, plan: &Plan) -> String {
    let shared: Vec<usize> =
        (0..plan.groups.len()).filter(|&k| (plan.groups[k].units as usize) < plan.groups[k].instances.len()).collect();
    let all: usize = shared.iter().map(|&k| plan.groups[k].units as usize).sum();
    let rows: Vec<(usize, u32)> =
        shared.iter().flat_map(|&k| (0..plan.groups[k].units).map(move |unit| (k, unit))).take(ROWS).collect();
    let bottom = TOP + ROW * rows.len().max(1) as f64;
    let mut out = page(title, bottom + 70.0);
    let phases = plan.interval as usize;
    let wide = (WIDTH - LEFT - RIGHT) / phases as f64;
    let note = match all - rows.len() {
        0 if rows.is_empty() => "no blocks share hardware".to_owned(),
        0 => "which block a unit computes at each phase".to_owned(),
        more => format!("which block a unit computes at each phase; {more} more units are not drawn"),
    };
    text(&mut out, LEFT, TOP - 14.0, "start", &note, "");
    for (at, &(k, unit)) in rows.iter().enumerate() {
        let top = TOP + ROW * at as f64;
        text(&mut out, LEFT - 6.0, top + 13.0, "end", &format!("{k}.{unit}"), " font-size=\"11\"");
        let colour = COLOURS[k % COLOURS.len()];
        for (number, instance) in plan.groups[k].instances.iter().enumerate().filter(|(_, i)| i.unit == unit) {
            let left = LEFT + wide * f64::from(instance.start % plan.interval);
            let _ = writeln!(
                out,
                "<rect x=\"{left:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"{colour}\" \
                 fill-opacity=\"0.75\"/>",
                top + 1.0,
                (wide - 1.0).max(0.5 * wide),
                ROW - 2.0
            );
            if wide >= 22.0 {
                let middle = left + wide / 2.0;
                text(&mut out, middle, top + 13.0, "middle", &number.to_string(), " font-size=\"11\" fill=\"#fff\"");
            }
        }
    }
    let every = phases.div_ceil(16);
    for phase in (0..phases).step_by(every) {
        let middle = LEFT + wide * (phase as f64 + 0.5);
        text(&mut out, middle, bottom + 19.0, "middle", &phase.to_string(), "");
    }
    text(&mut out, LEFT + (WIDTH - LEFT - RIGHT) / 2.0, bottom + 43.0, "middle", "phase; rows are group.unit", "");
    out.push_str("</svg>\n");
    out
}

/// Draws for each bit-serial stream the clock cycles in which it carries the bits of one sample. `title` is escaped.
pub(in crate::cli) fn streams(title: &str, graph: &Graph, plan: &serial::Plan) -> String {
    let shown: Vec<(usize, [u32; 2])> =
        (0..graph.nodes.len()).filter_map(|id| Some((id, serial::clocks(graph, plan, id)?))).collect();
    let rows = &shown[..shown.len().min(ROWS)];
    let bottom = TOP + ROW * rows.len().max(1) as f64;
    let mut out = page(title, bottom + 70.0);
    let clocks = plan.latency as usize + 1;
    let wide = (WIDTH - LEFT - RIGHT) / clocks as f64;
    let note = match shown.len() - rows.len() {
        0 => "when each stream shows the bits of a sample".to_owned(),
        more => format!("when each stream shows the bits of a sample; {more} more streams are not drawn"),
    };
    text(&mut out, LEFT, TOP - 14.0, "start", &note, "");
    for (at, (id, [first, last])) in rows.iter().enumerate() {
        let top = TOP + ROW * at as f64;
        let node = &graph.nodes[*id];
        let name = match node.kind {
            serial::Kind::Port(element) => format!("inp[{element}]"),
            _ => format!("v{}", node.origin),
        };
        text(&mut out, LEFT - 6.0, top + 13.0, "end", &name, " font-size=\"11\"");
        let colour = COLOURS[at % COLOURS.len()];
        let _ = writeln!(
            out,
            "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"{colour}\" fill-opacity=\"0.75\"/>",
            LEFT + wide * f64::from(*first),
            top + 1.0,
            wide * f64::from(last - first + 1),
            ROW - 2.0
        );
    }
    let every = clocks.div_ceil(16);
    for clock in (0..clocks).step_by(every) {
        let middle = LEFT + wide * (clock as f64 + 0.5);
        text(&mut out, middle, bottom + 19.0, "middle", &clock.to_string(), "");
    }
    let what = "clocks since the sample was accepted; rows are streams";
    text(&mut out, LEFT + (WIDTH - LEFT - RIGHT) / 2.0, bottom + 43.0, "middle", what, "");
    out.push_str("</svg>\n");
    out
}
