//! Estimated resources and clock frequency of a netlist on a device.

use super::Device;
use super::absorbed::absorbed;
use super::count::{Tables, tables, tables_in_resets, total};
use super::cover::cover;
use super::forms::{Form, Forms};
use super::gates::{BlockKind, Gate, Gates, Lit};
use super::tables::{self, TableStyle};
use super::technology::{ErrorOf, Technology};
use super::timing::{Arrival, Path, Timing};
use crate::netlist::{Cell, Netlist};
use serde::Serialize;

/// Estimated resources of a netlist on a device, counted as Yosys does for the devices that it supports.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Name of the device.
    pub device: &'static str,
    /// Number of LUTs.
    pub lut: u64,
    /// Number of flip-flops, without those inside DSPs.
    pub ff: u64,
    /// Number of carry cells.
    pub carry: u64,
    /// Number of DSPs.
    pub dsp: u64,
    /// Number of BRAMs.
    pub ram: u64,
    /// Minimum clock period in nanoseconds; for a module without registers, the delay from inputs to outputs.
    pub period_ns: f64,
    /// Minimum clock period of each stage in nanoseconds, from stage 1; empty without registers. The longest one is
    /// `period_ns`, unless a path between ports or into an input register is longer.
    #[serde(skip)]
    pub stage_periods_ns: Vec<f64>,
    /// Maximum clock frequency in MHz.
    pub clock_mhz: f64,
    /// Numbers of cells on the longest path.
    pub longest_path: Path,
    /// LUTs by kind, before the fitted factors are applied.
    pub tables: Tables,
    /// Relative error of `lut` that nine of ten estimates do not exceed, compared with vendor tools; `None` if no tool
    /// was available for the device.
    pub lut_error: Option<f64>,
    /// Relative error of the clock estimate, defined like `lut_error`.
    pub clock_error: Option<f64>,
}

/// Implementation of multiplications and memories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// `true` if multiplications may use DSPs.
    pub multiplier_blocks: bool,
    /// Implementation of look-up tables.
    pub tables: TableStyle,
}

/// Part of the clock period that is used outside of the block, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// Arrival time of inputs after the clock edge.
    pub input_ns: f64,
    /// Delay of the logic after the outputs.
    pub output_ns: f64,
    /// Clock uncertainty: time by which a clock edge may be early.
    pub uncertainty_ns: f64,
}

/// A netlist mapped to the cells of a device.
struct Mapped {
    gates: Gates,
    timing: Timing,
    tables: Tables,
    /// Number of BRAMs.
    memories: u64,
}

/// Returns all bits that registers, memories, DSPs or ports read.
pub(super) fn roots(gates: &Gates) -> Vec<Lit> {
    let mut roots = gates.ends.clone();
    for gate in &gates.gates {
        if let Gate::Carry { a, b, .. } = *gate {
            roots.extend([a, b]);
        }
    }
    gates.blocks.iter().for_each(|block| roots.extend(&block.inputs));
    roots
}

/// Returns for each bit that registers read `true` if the register has neither a reset nor an enable.
fn registers_without_controls(netlist: &Netlist) -> Vec<bool> {
    let registers = netlist.nets().iter().filter_map(|net| match &net.cell {
        Cell::Register { enable, reset, .. } => Some((net.width as usize, enable.is_none() && reset.is_none())),
        _ => None,
    });
    registers.flat_map(|(width, free)| std::iter::repeat_n(free, width)).collect()
}

/// Returns the size of a design in LUTs, at least 1; the delay of wires grows with it.
pub(super) fn size(tables: &Tables, technology: &Technology) -> f64 {
    total(tables, technology).max(1.0)
}

impl Mapped {
    fn new(netlist: &Netlist, technology: &Technology, resources: Resources, inputs: f64) -> Mapped {
        let forms = Forms::new(netlist, resources.tables);
        let gates = Gates::from_netlist(netlist, technology, resources.multiplier_blocks, &forms);
        let cover = cover(&gates, &roots(&gates), technology);
        let tables = tables(&gates, &cover, technology);
        let size = size(&tables, technology);
        let timing = Timing::new(&gates, &cover, technology, size, inputs);
        let mut tables = tables;
        tables.logic -= tables_in_resets(&gates, &cover, &registers_without_controls(netlist));
        Mapped { gates, timing, tables, memories: memories(netlist, technology, &forms) }
    }

    /// Returns the latest arrival at a register or output port, and its time in nanoseconds. The time of output ports
    /// includes `outputs`, the delay of the logic after the ports.
    fn latest(&self, outputs: f64) -> (Arrival, f64) {
        let (registers, ports) = self.gates.ends.split_at(self.gates.register_ends);
        let inside = self.timing.latest_at_registers(registers.iter().copied());
        let outside = self.timing.latest(ports.iter().copied());
        let (of_inside, of_outside) = (f64::from(inside.at), f64::from(outside.at) + outputs);
        if of_inside >= of_outside { (inside, of_inside) } else { (outside, of_outside) }
    }

    /// Returns the minimum period of each stage in nanoseconds, from the arrival times at the registers after it; the
    /// last stage includes the paths to output ports. `fixed` is the time of registers and surroundings in each period.
    fn stage_periods(&self, netlist: &Netlist, outputs: f64, fixed: f64) -> Vec<f64> {
        let (registers, ports) = self.gates.ends.split_at(self.gates.register_ends);
        let mut rest = registers;
        let mut times: Vec<f64> = Vec::new();
        let mut later = |stage: usize, at: f64| {
            if times.len() < stage {
                times.resize(stage, 0.0);
            }
            times[stage - 1] = times[stage - 1].max(at);
        };
        let mut last = 0;
        for net in netlist.nets().iter().filter(|net| matches!(net.cell, Cell::Register { .. })) {
            let (ends, others) = rest.split_at(net.width as usize);
            rest = others;
            last = last.max(net.stage as usize);
            if net.stage > 0 {
                later(net.stage as usize, f64::from(self.timing.latest_at_registers(ends.iter().copied()).at));
            }
        }
        let outside = f64::from(self.timing.latest(ports.iter().copied()).at);
        if last > 0 && outside > 0.0 {
            later(last, outside + outputs);
        }
        times.into_iter().map(|at| rounded_to_picoseconds(at + fixed)).collect()
    }
}

/// Rounds a time in nanoseconds to picoseconds, because the estimate is not more accurate.
fn rounded_to_picoseconds(ns: f64) -> f64 {
    (ns * 1000.0).round() / 1000.0
}

impl Estimate {
    /// Estimates the resources and the clock of `netlist` on a device; the whole clock period is available to the
    /// netlist.
    pub fn new(netlist: &Netlist, device: Device, resources: Resources) -> Estimate {
        Estimate::within(netlist, device, resources, Surroundings::default())
    }

    /// Estimates the resources and the clock of `netlist` on a device. The period includes the times of the
    /// surroundings.
    pub fn within(netlist: &Netlist, device: Device, resources: Resources, around: Surroundings) -> Estimate {
        let technology = device.technology();
        let mapped = Mapped::new(netlist, technology, resources, around.input_ns);
        let (longest, at) = mapped.latest(around.output_ns);
        let registers = if netlist.register_bits() > 0 { technology.clock_to_output() } else { 0.0 };
        let blocks = technology.block_registers().filter(|_| resources.multiplier_blocks);
        let in_blocks = blocks.map_or(0, |blocks| absorbed(netlist, blocks));
        let period = rounded_to_picoseconds(at + registers + around.uncertainty_ns);
        let gates = &mapped.gates;
        let ErrorOf { lut, clock } = technology.error;
        Estimate {
            device: device.name(),
            lut: total(&mapped.tables, technology).round() as u64,
            ff: netlist.register_bits() - in_blocks,
            carry: gates.chains.iter().map(|bits| u64::from(bits.div_ceil(technology.carry_cell))).sum(),
            dsp: gates.blocks.iter().map(|block| dsp(block.kind, technology)).sum(),
            ram: mapped.memories,
            period_ns: period,
            stage_periods_ns: mapped.stage_periods(netlist, around.output_ns, registers + around.uncertainty_ns),
            clock_mhz: if period > 0.0 { (10_000.0 / period).round() / 10.0 } else { 0.0 },
            longest_path: longest.path,
            tables: mapped.tables,
            lut_error: lut,
            clock_error: clock,
        }
    }
}

/// Returns the number of DSPs of a block.
fn dsp(kind: BlockKind, technology: &Technology) -> u64 {
    match kind {
        BlockKind::Dsp(longer, shorter) => technology.blocks(longer, shorter),
        BlockKind::SoftProduct(..) | BlockKind::Table(..) | BlockKind::Memory | BlockKind::Piece => 0,
        BlockKind::SumOfThree | BlockKind::CarryOfThree => 0,
    }
}

/// Returns the number of BRAMs for the tables that are implemented as BRAM.
fn memories(netlist: &Netlist, technology: &Technology, forms: &Forms) -> u64 {
    let in_blocks = netlist.roms().iter().zip(&forms.forms).filter(|(_, form)| **form == Form::Memory);
    in_blocks.map(|(rom, _)| tables::memories(rom, technology)).sum()
}
