//! yosys' `stat -json` and nextpnr's `--report`.

use super::{Row, ToolReport};
use serde_json::{Map, Value};

/// What either says.
pub(super) fn read(report: &Value) -> Option<ToolReport> {
    if report["creator"].as_str().is_some_and(|creator| creator.starts_with("Yosys")) {
        let row = cells(report["design"]["num_cells_by_type"].as_object()?);
        return Some(ToolReport { tool: "yosys", state: "synthesized", row });
    }
    let (clocks, blocks) = (report["fmax"].as_object()?, report["utilization"].as_object()?);
    let used = |names: &[&str]| {
        let counts: Vec<f64> = names.iter().filter_map(|name| blocks.get(*name)?["used"].as_f64()).collect();
        (!counts.is_empty()).then(|| counts.iter().sum())
    };
    let mut row = Row {
        luts: used(&["TRELLIS_COMB", "TRELLIS_SLICE", "ICESTORM_LC", "LUT4"]),
        registers: used(&["TRELLIS_FF", "DFF"]),
        dsps: used(&["MULT18X18D", "ICESTORM_DSP"]),
        brams: used(&["DP16KD", "ICESTORM_RAM"]),
        ..Row::default()
    };
    let number = |clock: &Value, key: &str| clock[key].as_f64().filter(|mhz| *mhz > 0.0);
    // The clock that misses by most, or has the least to spare.
    let worst = clocks.values().filter_map(|c| Some((number(c, "achieved")?, number(c, "constraint")?)));
    if let Some((mhz, asked)) = worst.min_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1))) {
        (row.fmax_mhz, row.period_ns) = (Some(mhz), Some(1000.0 / asked));
    }
    Some(ToolReport { tool: "nextpnr", state: "routed", row })
}

/// Cells by kind. A carry cell of ECP5 is two lookup tables, as is a memory of them.
fn cells(types: &Map<String, Value>) -> Row {
    let mut row = Row { luts: Some(0.0), registers: Some(0.0), dsps: Some(0.0), brams: Some(0.0), ..Row::default() };
    for (kind, count) in types {
        // Newer releases give an object for each kind.
        let Some(count) = count.as_f64().or_else(|| count["count"].as_f64()) else { continue };
        let (column, weight) = match kind.as_str() {
            "CCU2C" => (&mut row.luts, 2.0),
            "TRELLIS_DPR16X4" => (&mut row.luts, 4.0),
            "SB_LUT4" | "$lut" => (&mut row.luts, 1.0),
            k if k.starts_with("LUT") => (&mut row.luts, 1.0),
            k if ["FD", "SB_DFF", "TRELLIS_FF", "$_DFF", "$_SDFF"].iter().any(|p| k.starts_with(p)) => {
                (&mut row.registers, 1.0)
            }
            k if k.starts_with("DSP48") || k.starts_with("MULT18X18") || k.starts_with("SB_MAC16") => {
                (&mut row.dsps, 1.0)
            }
            k if k.starts_with("RAMB18") => (&mut row.brams, 0.5),
            k if k.starts_with("RAMB36") || k.starts_with("DP16K") || k.starts_with("SB_RAM40") => {
                (&mut row.brams, 1.0)
            }
            _ => continue,
        };
        *column = column.map(|sum| sum + weight * count);
    }
    row
}
