//! Cost of an initiation interval of K: shared hardware, multiplexers, registers, each compared with a design that
//! accepts a sample every cycle.

use super::super::{Failure, schema};
use crate::compile::{self, Hardware, SharingPlan, Spec};
use crate::device::Estimate;
use crate::diag::{counted, four_digits};
use crate::ir::Model;
use crate::reuse::serial;
use crate::reuse::{Figures, GroupFigures, Plan, Region, RegionFigures};
use serde::Serialize;
use std::fmt::Write;

/// Number of groups that are printed without -v.
const GROUPS: usize = 8;

/// Comparison of initiation intervals of one program.
#[derive(Serialize)]
pub(super) struct ReuseTable {
    operations: usize,
    /// Estimate for the same options with an initiation interval of 1.
    every_clock: Estimate,
    intervals: Vec<Interval>,
}

/// Estimated cost of a sharing plan.
#[derive(Serialize)]
struct Interval {
    interval: u32,
    /// `fold`, `serial` or `mixed`.
    engine: &'static str,
    latency: u32,
    latency_at_least: u32,
    shared_percent: f64,
    /// Register bits of the netlist.
    register_bits: u64,
    estimate: Estimate,
    #[serde(flatten)]
    made: EngineFigures,
    /// Smallest initiation interval for bit-serial arithmetic, if it is larger than this interval.
    #[serde(skip)]
    serial_from: Option<u32>,
}

/// Structure of the hardware.
#[derive(Serialize)]
#[serde(untagged)]
enum EngineFigures {
    Fold(FoldFigures),
    Serial(serial::Figures),
}

#[derive(Serialize)]
struct FoldFigures {
    blocks: usize,
    #[serde(rename = "copies")]
    units: u32,
    /// Lower bound of the number of units for these groups.
    #[serde(rename = "copies_at_least")]
    units_at_least: u32,
    /// Logic of the units in per cent of the logic of all blocks, without multiplexers.
    left_percent: f64,
    multiplexer_bits: u64,
    /// Register bits of the plan, whose registers store whole values.
    planned_register_bits: u64,
    planned_register_bits_at_least: u64,
    /// Bits of registers that store inputs and intermediate values, without plain registers. The next field is a lower
    /// bound over all starts at the same phases.
    held_bits: u64,
    held_bits_at_least: u64,
    captured_bits: u64,
    result_bits: u64,
    groups: Vec<GroupTable>,
    /// Parts that use bit-serial arithmetic.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    regions: Vec<RegionTable>,
}

#[derive(Serialize)]
struct RegionTable {
    operations: usize,
    bits_per_clock: u32,
    input_bits: u64,
    output_bits: u64,
    clocks: u32,
    streams: usize,
    full_adders: usize,
    whole_operations: usize,
    register_bits: u64,
}

#[derive(Serialize)]
struct GroupTable {
    instances: usize,
    #[serde(rename = "copies")]
    units: u32,
    operations: usize,
    input_bits: u64,
    output_bits: u64,
    clocks: u32,
    phases: u32,
    multiplexer_bits: u64,
    multiplexers: Vec<Multiplexers>,
    held_bits: u64,
    passing_bits: u64,
    stage_bits: u64,
    unified: usize,
}

#[derive(Serialize)]
struct Multiplexers {
    inputs: u32,
    bits: u64,
}

/// Estimates the hardware for each interval and for an initiation interval of 1; `None` if the program is constant.
pub(super) fn table(model: &Model, spec: &Spec, intervals: &[u32]) -> Result<Option<ReuseTable>, Failure> {
    let of = |interval: Option<u32>| {
        let mut spec = spec.clone();
        spec.pipeline.interval = interval;
        compile::model(model, &spec).map_err(Failure::from)
    };
    let mut found = Vec::with_capacity(intervals.len());
    for &interval in intervals {
        let hardware = of(Some(interval))?;
        match Interval::from_hardware(&hardware) {
            Some(row) => found.push(row),
            None => return Ok(None),
        }
    }
    let every_clock = of(None)?.estimate();
    Ok(Some(ReuseTable { operations: model.nodes().len(), every_clock, intervals: found }))
}

fn tenths(x: f64) -> f64 {
    (10.0 * x).round() / 10.0
}

impl Interval {
    fn from_hardware(hardware: &Hardware<'_>) -> Option<Interval> {
        let reused = hardware.reused()?;
        let (latency_at_least, made) = match &reused.plan {
            SharingPlan::Fold(plan) => {
                let figures = Figures::new(&reused.program, plan);
                (figures.latency_at_least, EngineFigures::Fold(FoldFigures::new(plan, &figures)))
            }
            SharingPlan::Serial(graph, plan) => {
                (plan.latency, EngineFigures::Serial(serial::Figures::new(graph, plan)))
            }
        };
        Some(Interval {
            interval: reused.plan.interval(),
            engine: reused.engine(),
            latency: reused.plan.latency(),
            latency_at_least,
            shared_percent: tenths(reused.shared()),
            register_bits: hardware.netlist.register_bits(),
            estimate: hardware.estimate(),
            made,
            serial_from: reused.serial_from,
        })
    }
}

impl FoldFigures {
    fn new(plan: &Plan, figures: &Figures) -> FoldFigures {
        let groups: Vec<GroupTable> =
            (0..plan.groups.len()).map(|k| GroupTable::new(plan, k, &figures.groups[k])).collect();
        FoldFigures {
            blocks: groups.iter().map(|group| group.instances).sum(),
            units: groups.iter().map(|group| group.units).sum(),
            units_at_least: groups.iter().map(|group| (group.instances as u32).div_ceil(plan.interval)).sum(),
            left_percent: tenths(plan.left()),
            multiplexer_bits: groups.iter().map(|group| group.multiplexer_bits).sum(),
            planned_register_bits: figures.register_bits(),
            planned_register_bits_at_least: figures.register_bits_at_least,
            held_bits: figures.held_bits,
            held_bits_at_least: figures.held_bits_at_least,
            captured_bits: figures.captured_bits,
            result_bits: figures.result_bits,
            groups,
            regions: plan.regions.iter().zip(&figures.regions).map(RegionTable::new).collect(),
        }
    }
}

impl RegionTable {
    fn new((region, figures): (&Region, &RegionFigures)) -> RegionTable {
        let (template, streams) = (&region.implementation, &figures.streams);
        let outputs = template.outputs().len();
        RegionTable {
            operations: template.nodes().len(),
            bits_per_clock: streams.bits_per_clock,
            input_bits: template.input_kifs().iter().map(|kif| u64::from(kif.width())).sum(),
            output_bits: (0..outputs).map(|j| u64::from(template.output_kif(j).width())).sum(),
            clocks: region.clocks(),
            streams: streams.streams,
            full_adders: streams.full_adders,
            whole_operations: streams.whole_operations,
            register_bits: figures.register_bits(),
        }
    }
}

impl GroupTable {
    fn new(plan: &Plan, number: usize, figures: &GroupFigures) -> GroupTable {
        let group = &plan.groups[number];
        let (template, outputs) = (&group.template, group.template.outputs().len());
        let multiplexers = figures.multiplexers.iter().map(|(&inputs, &bits)| Multiplexers { inputs, bits });
        GroupTable {
            instances: group.instances.len(),
            units: group.units,
            operations: template.nodes().len(),
            input_bits: template.input_kifs().iter().map(|kif| u64::from(kif.width())).sum(),
            output_bits: (0..outputs).map(|j| u64::from(template.output_kif(j).width())).sum(),
            clocks: (0..outputs).map(|j| Plan::output_latency(group, j)).max().unwrap_or(1),
            phases: figures.phases,
            multiplexer_bits: figures.multiplexer_bits(),
            multiplexers: multiplexers.collect(),
            held_bits: figures.held_bits,
            passing_bits: figures.passing_bits,
            stage_bits: figures.stage_bits,
            unified: figures.unified,
        }
    }
}

impl ReuseTable {
    /// Returns the table as a JSON document.
    pub(super) fn json(&self) -> String {
        schema::document("alir2hdl.info-reuse/1", self)
    }

    /// Returns the row with the smallest share of shared logic, among those with resource sharing: its interval, the
    /// share, and the smallest interval for bit-serial arithmetic.
    pub(super) fn least_shared(&self) -> Option<(u32, f64, Option<u32>)> {
        let fold = self.intervals.iter().filter(|row| matches!(row.made, EngineFigures::Fold(_)));
        let least = fold.min_by(|a, b| a.shared_percent.total_cmp(&b.shared_percent));
        least.map(|row| (row.interval, row.shared_percent, row.serial_from))
    }

    /// Returns the table as text; `all` lists every group.
    pub(super) fn to_text(&self, all: bool) -> String {
        let mut text = String::new();
        let out = &mut text;
        let operations = counted(self.operations, "operation");
        let _ = writeln!(out, "{operations}; estimates for {}", self.every_clock.device);
        let _ = writeln!(
            out,
            "\n{:>8}{:>8}{:>9}{:>8}{:>8}{:>9}{:>10}{:>10}{:>9}{:>8}{:>9}{:>9}",
            "interval",
            "engine",
            "latency",
            "blocks",
            "units",
            "shared",
            "mux bits",
            "registers",
            "LUT",
            "share",
            "FF",
            "MHz"
        );
        let e = &self.every_clock;
        let _ = writeln!(
            out,
            "{:>8}{:>79}{:>8}{:>9}{:>9}",
            1,
            four_digits(e.lut as f64),
            "1.00",
            e.ff,
            four_digits(e.clock_mhz)
        );
        for row in &self.intervals {
            let e = &row.estimate;
            let share = e.lut as f64 / self.every_clock.lut.max(1) as f64;
            let [blocks, units, multiplexers] = match &row.made {
                EngineFigures::Fold(fold) => {
                    [fold.blocks.to_string(), fold.units.to_string(), fold.multiplexer_bits.to_string()]
                }
                EngineFigures::Serial(_) => [(); 3].map(|()| "-".to_owned()),
            };
            let _ = writeln!(
                out,
                "{:>8}{:>8}{:>9}{blocks:>8}{units:>8}{:>7} %{multiplexers:>10}{:>10}{:>9}{share:>8.2}{:>9}{:>9}",
                row.interval,
                row.engine,
                row.latency,
                row.shared_percent,
                row.register_bits,
                four_digits(e.lut as f64),
                e.ff,
                four_digits(e.clock_mhz)
            );
        }
        if let [row] = &self.intervals[..] {
            match &row.made {
                EngineFigures::Fold(fold) => fold.to_text(row, out, all),
                EngineFigures::Serial(figures) => serial_text(figures, row, out),
            }
        }
        text
    }
}

/// Appends a description of bit-serial hardware.
fn serial_text(figures: &serial::Figures, row: &Interval, out: &mut String) {
    let _ = writeln!(
        out,
        "\nlatency {}, no plan of these streams has less; {} a clock: {}, {}",
        counted(row.latency, "clock"),
        counted(figures.bits_per_clock, "bit"),
        counted(figures.streams, "stream"),
        counted(figures.full_adders, "full adder")
    );
    let _ = writeln!(
        out,
        "register bits: {} hold inputs, {} outputs, {} delay streams, {} whole values; {} operations are computed \
         whole",
        figures.captured_bits, figures.result_bits, figures.delay_bits, figures.whole_bits, figures.whole_operations
    );
}

impl FoldFigures {
    fn to_text(&self, row: &Interval, out: &mut String, all: bool) {
        let _ = writeln!(
            out,
            "\nlatency {}, at least {} with these blocks; {} units, at least {}; {} % of the logic is left \
             before multiplexers",
            counted(row.latency, "clock"),
            row.latency_at_least,
            self.units,
            self.units_at_least,
            self.left_percent
        );
        let _ = writeln!(
            out,
            "planned register bits {}, at least {} with these blocks: {} hold inputs, {} outputs; those of the groups \
             are below",
            self.planned_register_bits, self.planned_register_bits_at_least, self.captured_bits, self.result_bits
        );
        let _ = writeln!(
            out,
            "{} for inputs and values of an interval each, at least {} with these phases",
            counted(self.held_bits, "register bit"),
            self.held_bits_at_least
        );
        let _ = writeln!(
            out,
            "\n{:>6}{:>8}{:>8}{:>12}{:>10}{:>10}{:>8}{:>8}{:>10}{:>8}{:>9}{:>8}{:>9}",
            "group",
            "blocks",
            "units",
            "operations",
            "bits in",
            "bits out",
            "clocks",
            "phases",
            "mux bits",
            "held",
            "passing",
            "stages",
            "unified"
        );
        // Groups with the largest savings first.
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by_key(|&k| {
            std::cmp::Reverse((self.groups[k].instances - self.groups[k].units as usize) * self.groups[k].operations)
        });
        let most = if all { order.len() } else { GROUPS };
        for &k in order.iter().take(most) {
            let g = &self.groups[k];
            let _ = writeln!(
                out,
                "{k:>6}{:>8}{:>8}{:>12}{:>10}{:>10}{:>8}{:>8}{:>10}{:>8}{:>9}{:>8}{:>9}",
                g.instances,
                g.units,
                g.operations,
                g.input_bits,
                g.output_bits,
                g.clocks,
                g.phases,
                g.multiplexer_bits,
                g.held_bits,
                g.passing_bits,
                g.stage_bits,
                g.unified
            );
            if all && !g.multiplexers.is_empty() {
                let sizes = g.multiplexers.iter().map(|m| format!("{} of {}", m.bits, m.inputs));
                let _ = writeln!(
                    out,
                    "{:>14} bits of multiplexers by inputs: {}",
                    "",
                    sizes.collect::<Vec<_>>().join(", ")
                );
            }
        }
        if order.len() > most {
            let _ = writeln!(out, "and {} more groups (-v lists all)", order.len() - most);
        }
        for (k, region) in self.regions.iter().enumerate() {
            let bits =
                if region.bits_per_clock == 1 { "one bit".into() } else { format!("{} bits", region.bits_per_clock) };
            let _ = writeln!(
                out,
                "region {k} goes through bit by bit, {bits} a clock: {} operations, {} bits in, {} bits out, {} \
                 clocks; {} \
                 streams, {} full adders, {} operations computed whole, {} register bits",
                region.operations,
                region.input_bits,
                region.output_bits,
                region.clocks,
                region.streams,
                region.full_adders,
                region.whole_operations,
                region.register_bits
            );
        }
    }
}
