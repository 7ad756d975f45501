//! Cells of device families and their delays.

use super::arcs::{self, Arcs};
use super::fitted;
use crate::netlist::BlockRegisters;

/// Cells of a device family that the estimates use. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Technology {
    /// Number of LUTs of a function of 1, 2, ... inputs. A function with more inputs than a LUT is built from several
    /// LUTs and the slice's multiplexers. Functions with more inputs than entries are not mapped.
    pub tables: &'static [u32],
    /// Number of inputs of one LUT.
    pub table_inputs: u32,
    /// `true` if Yosys is the usual synthesis tool for the device.
    pub synthesised_by_yosys: bool,
    /// `true` if the LUT before each carry bit can absorb logic.
    pub table_before_carry: bool,
    /// Place of the functions in sums of narrow values.
    pub narrow_sums: NarrowSums,
    /// LUTs of a carry bit, for devices whose LUT before a carry bit cannot absorb logic.
    pub tables_per_carry_bit: u32,
    /// Number of carry bits of a carry cell, as counted in the report.
    pub carry_cell: u32,
    /// `true` if a LUT before a carry bit can add three operands.
    pub three_operands: bool,
    /// Largest width in bits of adders that are built from gates.
    pub short_adder: u32,
    /// Widths of the signed factors of a DSP, the longer first; `None` if the device has no DSPs.
    pub multiplier: Option<(u32, u32)>,
    /// Number of registers of a DSP before each factor and after the product that synthesis is known to use.
    pub multiplier_registers: (u32, u32),
    /// Capacity of a BRAM in bits.
    pub memory: u64,
    /// Ratio of LUTs to BRAMs in a device of the family.
    pub tables_per_memory: u64,
    /// Delays of the cells.
    pub times: PartTimes,
    /// Fitted factors for the LUT counts of logic, multiplexers and carry bits.
    pub scale: Scale,
    /// Measured error bounds of the estimates.
    pub error: ErrorOf,
}

/// Place of the functions of narrow values that an adder adds to its other operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NarrowSums {
    /// In the six-input LUTs of the adder: functions of five inputs.
    InLuts,
    /// In the adaptive logic modules of the adder: functions of four inputs.
    InModules,
    /// In LUTs before the adder.
    BeforeAdders,
}

/// Source of the delays of a device's cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PartTimes {
    /// One delay per kind of cell, which includes the wire after the cell: fitted to a tool's results, or a rounded
    /// estimate.
    Lumped(Times),
    /// Measured delay of every timing arc through a slice, with separate delays of wires.
    Arcs(&'static Arcs),
}

/// Lumped delays of a device's cells in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// Sum of a register's clock-to-output and setup times and the clock skew.
    pub register: f64,
    /// A LUT and the wire after it.
    pub table: f64,
    /// Additional delay of a function for each input beyond those of a LUT: synthesis takes a further level of LUTs for
    /// some of them. The multiplexers of a slice compute wide multiplexers.
    pub wide_input: f64,
    /// Delay from an operand of a carry chain into the chain plus the delay from the chain to a sum bit, including the
    /// wire after the sum bit.
    pub chain: f64,
    /// One bit of a carry chain.
    pub carry: f64,
    /// A DSP and the wire after it.
    pub multiplier: f64,
    /// Relative increase of the wire delay for every doubling of the number of LUTs beyond 1000.
    pub spread: f64,
}

/// Fitted ratios of the synthesis tool's LUT counts to those of our cover.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// LUTs that are logic other than multiplexers.
    pub logic: f64,
    /// LUTs that are multiplexers. Synthesis tools use more LUTs for multiplexers in favour of speed.
    pub multiplexers: f64,
    /// LUTs before carry bits.
    pub carry: f64,
}

/// Relative errors that nine of ten estimates do not exceed; `None` if no measurement exists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorOf {
    /// Relative error of the number of LUTs.
    pub lut: Option<f64>,
    /// Relative error of the clock estimate.
    pub clock: Option<f64>,
}

impl Technology {
    /// Returns `true` if a product of factors of these widths uses DSPs.
    pub(super) fn multiplies(&self, a: u32, b: u32) -> bool {
        self.block_registers().is_some_and(|blocks| blocks.multiply(a, b))
    }

    /// Returns the registers of the device's DSPs, or `None` without DSPs.
    pub fn block_registers(&self) -> Option<BlockRegisters> {
        let ((longer, shorter), (before, behind)) = (self.multiplier?, self.multiplier_registers);
        Some(BlockRegisters { longer, shorter, before, behind })
    }

    /// Returns the minimum time of a register in a clock period, clock to output and setup, in nanoseconds.
    pub fn register_time(&self) -> f64 {
        self.clock_to_output() + self.least_setup()
    }

    /// Returns the smallest setup time of a register in nanoseconds, or 0 if [`Self::clock_to_output`] includes the
    /// setup.
    pub(super) fn least_setup(&self) -> f64 {
        match self.times {
            PartTimes::Lumped(_) => 0.0,
            PartTimes::Arcs(arcs) => f64::from(arcs.least_setup()) / 1000.0,
        }
    }

    /// Returns the clock-to-output time of a register in nanoseconds, without the setup times that [`super::timing`]
    /// adds.
    pub(super) fn clock_to_output(&self) -> f64 {
        match self.times {
            PartTimes::Lumped(times) => times.register,
            PartTimes::Arcs(arcs) => f64::from(arcs.clock_to_output) / 1000.0,
        }
    }

    /// Returns the number of DSPs of a product.
    pub(super) fn blocks(&self, longer: u32, shorter: u32) -> u64 {
        match self.multiplier {
            None => 0,
            Some((a, b)) => {
                let tiles = |x: u32, y: u32| u64::from(longer.div_ceil(x)) * u64::from(shorter.div_ceil(y));
                tiles(a, b).min(tiles(b, a))
            }
        }
    }
}

/// LUTs of functions by number of inputs, for slices with six-input LUTs and two levels of multiplexers.
const SIX: &[u32] = &[1, 1, 1, 1, 1, 1, 2, 4];
/// LUTs of functions by number of inputs, for slices with four-input LUTs and multiplexers for up to seven inputs.
const FOUR: &[u32] = &[1, 1, 1, 1, 2, 4, 8];
/// LUTs of functions by number of inputs, for four-input LUTs without multiplexers.
const FOUR_ALONE: &[u32] = &[1, 1, 1, 1];
/// LUTs of functions by number of inputs, for six-input LUTs without multiplexers.
const SIX_ALONE: &[u32] = &[1, 1, 1, 1, 1, 1];

/// AMD 7 series. 48E1 DSPs of 25 x 18 bits and BRAMs of 36 Kibit (UG479, UG473); two registers before a DSP's factors
/// and two after its product. One LUT computes the sum and the carry of three bits before its carry bit (UG474, outputs
/// "O5" and "O6"); the carry is routed over a general wire (M. Kumm, P. Zipf, *Efficient High Speed Compression Trees
/// on Xilinx FPGAs*, MBMV 2014). Ratio of LUTs to BRAMs: XC7A200T, DS180. Delays: [`arcs`].
pub(super) const SERIES7: Technology = Technology {
    tables: SIX,
    table_inputs: 6,
    synthesised_by_yosys: false,
    table_before_carry: true,
    narrow_sums: NarrowSums::InLuts,
    tables_per_carry_bit: 0,
    carry_cell: 4,
    three_operands: true,
    short_adder: 2,
    multiplier: Some((25, 18)),
    multiplier_registers: (2, 2),
    memory: 36 * 1024,
    tables_per_memory: 369,
    times: PartTimes::Arcs(&arcs::SERIES7),
    scale: fitted::SERIES7,
    error: fitted::SERIES7_ERROR,
};

/// AMD UltraScale+. 48E2 DSPs of 27 x 18 bits, BRAMs of 36 Kibit (UG579, UG573), carry cells of eight bits (UG574).
/// Ratio of LUTs to BRAMs: KU5P, DS890.
pub(super) const ULTRASCALE_PLUS: Technology = Technology {
    carry_cell: 8,
    multiplier: Some((27, 18)),
    tables_per_memory: 452,
    times: PartTimes::Arcs(&arcs::ULTRASCALE_PLUS),
    scale: fitted::ULTRASCALE_PLUS,
    error: fitted::ULTRASCALE_PLUS_ERROR,
    ..SERIES7
};

/// Lattice ECP5. Four-input LUTs, carry cells of two bits that absorb no logic (FPGA-DS-02012). Ratio of LUTs to BRAMs:
/// LFE5-85.
pub(super) const ECP5: Technology = Technology {
    tables: FOUR,
    table_inputs: 4,
    synthesised_by_yosys: true,
    table_before_carry: false,
    narrow_sums: NarrowSums::BeforeAdders,
    tables_per_carry_bit: 1,
    carry_cell: 2,
    three_operands: false,
    short_adder: 4,
    multiplier: Some((18, 18)),
    multiplier_registers: (1, 1),
    memory: 18 * 1024,
    tables_per_memory: 402,
    times: PartTimes::Lumped(fitted::ECP5_TIMES),
    scale: fitted::ECP5,
    error: fitted::ECP5_ERROR,
};

/// Lattice iCE40 HX. Four-input LUTs with one carry bit each, no DSPs (FPGA-DS-02029). Ratio of LUTs to BRAMs: HX8K.
pub(super) const ICE40: Technology = Technology {
    tables: FOUR_ALONE,
    table_inputs: 4,
    synthesised_by_yosys: true,
    table_before_carry: false,
    narrow_sums: NarrowSums::BeforeAdders,
    tables_per_carry_bit: 1,
    carry_cell: 1,
    three_operands: false,
    short_adder: 2,
    multiplier: None,
    multiplier_registers: (0, 0),
    memory: 4 * 1024,
    tables_per_memory: 240,
    times: PartTimes::Lumped(fitted::ICE40_TIMES),
    scale: fitted::ICE40,
    error: fitted::ICE40_ERROR,
};

/// Intel Agilex 7. Adaptive logic modules (ALMs) of six inputs with two adder bits, DSPs of two 18 x 19 or one 27 x 27
/// product, BRAMs of 20 Kibit. Adders have two operands only, as there is no shared arithmetic mode (Hyperflex design
/// handbook, 683353, "Ternary Adders"). Ratio of LUTs to BRAMs: two LUTs for each ALM (device overview, 683458).
pub(super) const AGILEX: Technology = Technology {
    tables: SIX_ALONE,
    table_inputs: 6,
    synthesised_by_yosys: false,
    table_before_carry: true,
    narrow_sums: NarrowSums::InModules,
    tables_per_carry_bit: 0,
    carry_cell: 2,
    three_operands: false,
    short_adder: 2,
    multiplier: Some((27, 27)),
    multiplier_registers: (1, 1),
    memory: 20 * 1024,
    tables_per_memory: 137,
    times: PartTimes::Lumped(Times {
        register: 0.28,
        table: 0.33,
        wide_input: 0.0,
        chain: 0.42,
        carry: 0.012,
        multiplier: 1.7,
        spread: 0.02,
    }),
    scale: fitted::ULTRASCALE_PLUS,
    error: ErrorOf { lut: None, clock: None },
};

/// No particular device: six-input LUTs, carry chains, 18 x 18 DSPs, and delays of a process of medium speed.
pub(super) const GENERIC: Technology = Technology {
    tables: SIX_ALONE,
    three_operands: false,
    multiplier: Some((18, 18)),
    multiplier_registers: (1, 1),
    times: PartTimes::Lumped(Times {
        register: 0.5,
        table: 0.5,
        wide_input: 0.0,
        chain: 0.65,
        carry: 0.025,
        multiplier: 3.0,
        spread: 0.02,
    }),
    scale: fitted::ULTRASCALE_PLUS,
    error: ErrorOf { lut: None, clock: None },
    ..SERIES7
};
