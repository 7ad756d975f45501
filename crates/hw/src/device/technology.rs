//! Elements of a device and their delays.

use super::arcs::{self, Arcs};
use super::fitted;
use crate::netlist::BlockRegisters;

/// The parts of a device family as far as the estimates know them. Times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Technology {
    /// Tables that a function of 1, 2, ... inputs takes; functions of more inputs do not fit. A function of more inputs
    /// than a table has is built from several tables and the slice's own multiplexers.
    pub tables: &'static [u32],
    /// Inputs of one table.
    pub table_inputs: u32,
    /// `true` if designs for the device are mostly synthesised by Yosys.
    pub synthesised_by_yosys: bool,
    /// `true` if the table before each carry bit can absorb logic.
    pub table_before_carry: bool,
    /// Tables that a carry bit takes where it cannot.
    pub tables_per_carry_bit: u32,
    /// Carry bits in a cell of the report.
    pub carry_cell: u32,
    /// `true` if a table before a carry bit can add three operands.
    pub three_operands: bool,
    /// Largest width in bits of adders that are built from gates.
    pub short_adder: u32,
    /// Widths of the signed factors of a DSP, the longer first; `None` if the device has no DSPs.
    pub multiplier: Option<(u32, u32)>,
    /// Number of registers of a DSP before each factor and after the product, as far as synthesis is known to use them.
    pub multiplier_registers: (u32, u32),
    /// Bits of a BRAM.
    pub memory: u64,
    /// Look-up tables for each BRAM that a device of the family has.
    pub tables_per_memory: u64,
    /// Times of its parts.
    pub times: PartTimes,
    /// Factors for the counts of tables: logic, tables before carries.
    pub scale: Scale,
    /// Error bounds of the estimates.
    pub error: ErrorOf,
}

/// Source of the delays of a device's parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PartTimes {
    /// A few times, each including the wire after the part: fitted to a tool's results, or rounded estimates.
    Lumped(Times),
    /// Every arc through a slice, measured, and wires apart.
    Arcs(&'static Arcs),
}

/// Times of a device's parts in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// A register's clock to output and setup, and the clock's skew.
    pub register: f64,
    /// A table and the wire after it.
    pub table: f64,
    /// From a carry chain's operand into the chain and from the chain to a sum bit, with the wire after it.
    pub chain: f64,
    /// One bit of a carry chain.
    pub carry: f64,
    /// A DSP and the wire after it.
    pub multiplier: f64,
    /// Share by which wires get longer for every doubling of the tables beyond a thousand.
    pub spread: f64,
}

/// Factors that a fit found between our cover and the synthesiser's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Tables that are logic but no multiplexers.
    pub logic: f64,
    /// Tables that are multiplexers: synthesisers spend more on them to be fast.
    pub multiplexers: f64,
    /// Tables in front of carry bits.
    pub carry: f64,
}

/// Errors of the estimates where they were measured: nine of ten are nearer than this. Shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorOf {
    /// Relative error of the number of tables.
    pub lut: Option<f64>,
    /// Relative error of the clock.
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

    /// The least that a register needs before the clock edge, as far as that is not in [`Self::clock_to_output`]:
    /// nanoseconds.
    pub(super) fn least_setup(&self) -> f64 {
        match self.times {
            PartTimes::Lumped(_) => 0.0,
            PartTimes::Arcs(arcs) => f64::from(arcs.least_setup()) / 1000.0,
        }
    }

    /// Returns the time of registers without the setups that [`super::timing`] adds, in nanoseconds.
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

/// Cost of functions by their inputs in slices of six-input tables with two levels of multiplexers.
const SIX: &[u32] = &[1, 1, 1, 1, 1, 1, 2, 4];
/// In slices of four-input tables with multiplexers up to seven inputs.
const FOUR: &[u32] = &[1, 1, 1, 1, 2, 4, 8];
/// Four-input tables alone.
const FOUR_ALONE: &[u32] = &[1, 1, 1, 1];
/// Six-input tables alone.
const SIX_ALONE: &[u32] = &[1, 1, 1, 1, 1, 1];

/// AMD's 7 series: a table makes the sum and the carry of three bits in front of its carry bit (UG474, "O5" and "O6";
/// the carry goes over a general wire, M. Kumm, P. Zipf, *Efficient High Speed Compression Trees on Xilinx FPGAs*, MBMV
/// 2014; look-up tables for each memory: XC7A200T, DS180): 48E1 multipliers of 25 x 18, memories of 36 Kibit (UG479,
/// UG473), two registers before a multiplier's factors and two after its product. Times: [`arcs`].
pub(super) const SERIES7: Technology = Technology {
    tables: SIX,
    table_inputs: 6,
    synthesised_by_yosys: false,
    table_before_carry: true,
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

/// AMD's UltraScale+ (look-up tables for each memory: KU5P, DS890): 48E2 multipliers of 27 x 18, memories of 36 Kibit
/// (UG579, UG573), chains of eight bits (UG574).
pub(super) const ULTRASCALE_PLUS: Technology = Technology {
    carry_cell: 8,
    multiplier: Some((27, 18)),
    tables_per_memory: 452,
    times: PartTimes::Arcs(&arcs::ULTRASCALE_PLUS),
    scale: fitted::ULTRASCALE_PLUS,
    error: fitted::ULTRASCALE_PLUS_ERROR,
    ..SERIES7
};

/// Lattice ECP5: four-input tables, carry cells of two bits that take nothing in (FPGA-DS-02012; look-up tables for
/// each memory: LFE5-85).
pub(super) const ECP5: Technology = Technology {
    tables: FOUR,
    table_inputs: 4,
    synthesised_by_yosys: true,
    table_before_carry: false,
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

/// Lattice iCE40 HX: four-input tables with a carry each, no multipliers (FPGA-DS-02029; look-up tables
/// for each memory: HX8K).
pub(super) const ICE40: Technology = Technology {
    tables: FOUR_ALONE,
    table_inputs: 4,
    synthesised_by_yosys: true,
    table_before_carry: false,
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

/// Intel Agilex 7: adaptive tables of six inputs with two adder bits, multipliers of 18 x 19 in pairs or one of 27 x
/// 27, memories of 20 Kibit, adders of two operands only (no shared arithmetic mode: Hyperflex design handbook, 683353,
/// "Ternary Adders"; Agilex 7 device overview, 683458; two look-up tables for each adaptive one).
pub(super) const AGILEX: Technology = Technology {
    tables: SIX_ALONE,
    table_inputs: 6,
    synthesised_by_yosys: false,
    table_before_carry: true,
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
        chain: 0.42,
        carry: 0.012,
        multiplier: 1.7,
        spread: 0.02,
    }),
    scale: fitted::ULTRASCALE_PLUS,
    error: ErrorOf { lut: None, clock: None },
};

/// No device in particular: six-input tables, carry chains, 18 x 18 multipliers, in a middling process.
pub(super) const GENERIC: Technology = Technology {
    tables: SIX_ALONE,
    three_operands: false,
    multiplier: Some((18, 18)),
    multiplier_registers: (1, 1),
    times: PartTimes::Lumped(Times {
        register: 0.5,
        table: 0.5,
        chain: 0.65,
        carry: 0.025,
        multiplier: 3.0,
        spread: 0.02,
    }),
    scale: fitted::ULTRASCALE_PLUS,
    error: ErrorOf { lut: None, clock: None },
    ..SERIES7
};
