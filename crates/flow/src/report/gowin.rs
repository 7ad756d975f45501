//! Gowin EDA: the place-and-route report `.rpt.txt`.

use super::{BuildRow, Stage, ToolReport, number};

/// Returns `true` if `text` is a place-and-route report of Gowin.
pub(super) fn is_report(text: &str) -> bool {
    text.lines().take(20).any(|line| line.contains("Gowin Semiconductor"))
        && text.contains("<Report Title>: PnR Report")
}

/// Parses the table "Resource Usage Summary" with lines `name | used/available  share`. In lines for a part of a
/// resource, the name starts with `--`.
pub(super) fn read(text: &str) -> ToolReport {
    let lines =
        || text.lines().filter_map(|line| line.split_once('|')).map(|(name, usage)| (name.trim(), usage.trim()));
    let used = |usage: &str| number(&usage.replace(['/', '('], " "));
    let figure = |name: &str| lines().find(|(n, _)| *n == name).and_then(|(_, usage)| used(usage));
    // The memory blocks are listed by kind; their total is only stated as a percentage.
    let blocks = lines()
        .skip_while(|(name, _)| *name != "BSRAM")
        .skip(1)
        .take_while(|(name, _)| name.starts_with("--"))
        .filter_map(|(_, usage)| used(usage));
    let logic = lines().find(|(name, _)| *name == "--LUT,ALU,ROM16").map(|(_, usage)| usage);
    let carries = logic.and_then(|usage| usage.split(['(', ',']).find_map(|part| part.trim().strip_suffix(" ALU")));
    let part = text.lines().find_map(|line| line.trim_start().strip_prefix("<Part Number>:"));
    let has_blocks = lines().any(|(name, _)| name == "BSRAM");
    let row = BuildRow {
        part: part.map(|part| part.trim().to_owned()),
        luts: logic.and_then(used),
        registers: figure("Register"),
        brams: has_blocks.then(|| blocks.sum()),
        carries: carries.and_then(number),
        ..BuildRow::default()
    };
    ToolReport { tool: "gowin", state: Some(Stage::Routed), row }
}
