//! Measured delays of AMD's slices and wires in picoseconds. [`super::timing`] adds up these timing arcs along a path.
//!
//! UltraScale+: the timing files of RapidWright (repository Xilinx/RapidWright,
//! `timing/ultrascaleplus/intrasite_delay_terms.txt` v0.5 and `intersite_delay_terms.txt` v0.4, Apache-2.0); the method
//! and its error of 2 % against Vivado on placed and routed designs are in P. Maidee, C. Neely, A. Kaviani, C. Lavin,
//! *An Open-source Lightweight Timing Model for RapidWright*, FPT 2019. The files name no speed grade.
//!
//! 7 series: the database of project X-Ray (repository f4pga/prjxray-db, CC0), `artix7/timings/slicel.sdf`,
//! `DSP_L.sdf`, `BRAM_L.sdf`, `tile_type_CLBLL_L.json`, `tile_type_INT_L.json`: the slow corner's maximum, which agrees
//! with AMD's data sheet DS181 for speed grade -1.
//!
//! The length of a wire before placement is an estimate, not a measurement: see [`Wires`].

/// Delays of one device family, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arcs {
    /// Clock-to-output delay of a flip-flop.
    pub clock_to_output: u16,
    /// Setup time of a flip-flop driven by a LUT of its own slice.
    pub setup_behind_table: u16,
    /// Setup time of a flip-flop driven by the slice's wide multiplexer.
    pub setup_behind_multiplexer: u16,
    /// Setup time of a flip-flop driven by a sum bit of the slice's carry chain.
    pub setup_behind_carry: u16,
    /// Setup time of a flip-flop driven by a wire from outside the slice.
    pub setup_behind_wire: u16,
    /// Delay from the slice's pin to the output of a six-input LUT, for each input, the fastest first; pin and LUT
    /// together.
    pub table: [u16; 6],
    /// Delay from a LUT to a data input of a wide multiplexer.
    pub into_multiplexer: u16,
    /// Delays from data and from select to the output of the multiplexer of two LUTs (F7), and of four (F8).
    pub multiplexers: [Multiplexer; 2],
    /// Delay from the slice's pin to the select input of a wide multiplexer.
    pub select_pin: u16,
    /// Delay from a wide multiplexer to the slice's pin.
    pub multiplexer_to_pin: u16,
    /// Delays of a carry cell.
    pub carry: Carry,
    /// Delay of a DSP without registers, from factor to product.
    pub multiplier: u16,
    /// Clock-to-output delay of a BRAM without an output register.
    pub memory_to_output: u16,
    /// Setup time of a BRAM's address.
    pub memory_setup: u16,
    /// Wires between slices.
    pub wires: Wires,
}

impl Arcs {
    /// Returns the smallest setup time of a flip-flop, in picoseconds.
    pub(super) fn least_setup(&self) -> u16 {
        let behind = [self.setup_behind_table, self.setup_behind_multiplexer, self.setup_behind_carry];
        behind.into_iter().fold(self.setup_behind_wire, u16::min)
    }

    /// Returns the delay in nanoseconds from each of `inputs` inputs of a function to its output, for the latest input
    /// first. If the function has more inputs than one LUT, several LUTs drive the slice's multiplexers, and the latest
    /// inputs are the selects.
    pub(super) fn table_times(&self, inputs: usize) -> Vec<f64> {
        let ns = |picoseconds: u16| f64::from(picoseconds) / 1000.0;
        let wide = inputs.saturating_sub(self.table.len()).min(2);
        // A data input passes through all multiplexers from `from` on; a select passes through its own multiplexer and
        // all later ones.
        let behind =
            |from: usize| self.multiplexers[from..wide.max(from)].iter().map(|each| ns(each.data)).sum::<f64>();
        let time = |place: usize| {
            if place < wide {
                let own = wide - 1 - place;
                return ns(self.select_pin) + ns(self.multiplexers[own].select) + behind(own + 1);
            }
            let pin = ns(self.table[(place - wide).min(self.table.len() - 1)]);
            let into = if wide > 0 { ns(self.into_multiplexer) } else { 0.0 };
            pin + into + behind(0)
        };
        (0..inputs).map(time).collect()
    }
}

/// A multiplexer of the slice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Multiplexer {
    /// Delay from a data input to the output.
    pub data: u16,
    /// Delay from the select to the output.
    pub select: u16,
}

/// A cell of a carry chain. `S` selects between the carry from below and the direct input `DI`, and is also an operand
/// of the sum bit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carry {
    /// Number of bits of a cell; rows and columns beyond it are not read.
    pub bits: usize,
    /// Delay from a LUT to `S`.
    pub from_table: u16,
    /// Delay from the slice's pin to `DI`.
    pub from_pin: u16,
    /// Delay from `S` of a bit (row) to the sum of a bit (column).
    pub select_to_sum: [[u16; 8]; 8],
    /// Delay from `S` of a bit to the carry out of the cell.
    pub select_to_out: [u16; 8],
    /// Delay from `DI` of a bit (row) to the sum of a bit (column).
    pub direct_to_sum: [[u16; 8]; 8],
    /// Delay from `DI` of a bit to the carry out of the cell.
    pub direct_to_out: [u16; 8],
    /// Delay from the carry into the cell to the sum of a bit.
    pub in_to_sum: [u16; 8],
    /// Delay from the carry into the cell to the carry out of the cell.
    pub in_to_out: u16,
    /// Delay from the carry out of a cell to the carry in of the next cell.
    pub between: u16,
    /// Delay from a sum bit to the slice's pin.
    pub sum_to_pin: u16,
}

/// Estimated lengths and delays of wires between slices.
///
/// Mean length: W. E. Donath, *Placement and average interconnection lengths of computer logic*, IEEE Transactions on
/// Circuits and Systems 26 (1979), equation for a square array, in tiles of eight LUTs, with Rent's exponent 0.65 (the
/// middle of the range that B. S. Landman and R. L. Russo, *On a pin versus block relationship for partitions of logic
/// graphs*, IEEE Transactions on Computers 20 (1971), report for logic) and three quarters of the tiles' LUTs in use.
/// The farthest of `n` readers is assumed to be `1 + log2(n) / 4` times as far away as the reader of a wire with one
/// reader. No measurement supports this assumption.
///
/// Half of a length is horizontal, half vertical. A wire consists of segments of the family, longest first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wires {
    /// Delay of a wire within its tile, in picoseconds.
    pub local: f64,
    /// Horizontal segments: length in tiles and delay in picoseconds, longest first.
    pub horizontal: &'static [(f64, f64)],
    /// Vertical segments, in the same units and order as the horizontal ones.
    pub vertical: &'static [(f64, f64)],
}

/// Number of LUTs of a tile.
const TABLES_PER_TILE: f64 = 8.0;
/// Share of a tile's LUTs that are in use.
const IN_USE: f64 = 0.75;
/// Rent's exponent.
const RENT: f64 = 0.65;

/// Returns the mean length in tiles of wires between the tiles of a square of `tiles` tiles (Donath 1979).
fn mean_length(tiles: f64) -> f64 {
    if tiles <= 4.0 {
        return 1.0;
    }
    let power = |base: f64, exponent: f64| base.powf(exponent);
    let grown = 7.0 * (power(tiles, RENT - 0.5) - 1.0) / (power(4.0, RENT - 0.5) - 1.0);
    let bounded = (1.0 - power(tiles, RENT - 1.5)) / (1.0 - power(4.0, RENT - 1.5));
    let share = (1.0 - power(4.0, RENT - 1.0)) / (1.0 - power(tiles, RENT - 1.0));
    (2.0 / 9.0 * (grown - bounded) * share).max(1.0)
}

/// Returns the delay in picoseconds of a straight wire of `length` tiles, built from the longest segments that fit. The
/// delay of a remainder is proportional to that of the shortest segment.
fn run(segments: &[(f64, f64)], length: f64) -> f64 {
    let mut left = length;
    let mut time = 0.0;
    for &(reach, delay) in segments {
        let times = (left / reach).floor();
        time += times * delay;
        left -= times * reach;
    }
    let shortest = segments.last().map_or(0.0, |&(_, delay)| delay);
    time + left * shortest
}

impl Wires {
    /// Returns the delay in picoseconds of a wire with `readers` readers in a design of `tables` LUTs.
    fn delay(&self, tables: f64, readers: u32) -> f64 {
        let tiles = (tables / (TABLES_PER_TILE * IN_USE)).max(1.0);
        // No wire is longer than the distance between opposite corners of the design.
        let longest = 2.0 * tiles.sqrt();
        let length = mean_length(tiles) * (1.0 + f64::from(readers.max(1)).log2() / 4.0);
        let length = length.min(longest);
        self.local + run(self.horizontal, length / 2.0) + run(self.vertical, length / 2.0)
    }

    /// Returns the delays by the number of readers, for a design of `tables` LUTs. The last delay applies to all larger
    /// numbers.
    pub(super) fn by_readers(&self, tables: f64) -> Vec<f64> {
        // A long segment may be faster than several segments of a shorter wire. The maximum over all smaller numbers of
        // readers keeps the delays monotonic.
        let mut latest = 0.0f64;
        let mut longest_yet = |readers| {
            latest = latest.max(self.delay(tables, readers));
            latest
        };
        (0..=MOST_READERS).map(&mut longest_yet).collect()
    }
}

/// Number of readers beyond which the delay of a wire no longer grows, because synthesis duplicates the driver.
const MOST_READERS: u32 = 256;

/// Delays of UltraScale+. Segments: RapidWright's `k0 + k1 * L + k2 * d` of single, double, quad and long wires of 1,
/// 2, 4 and 12 tiles. RapidWright has no delays for the second level of wide multiplexers; the delays of the first
/// level are used. The multiplier is a rounded estimate, not a measurement.
pub(super) const ULTRASCALE_PLUS: Arcs = Arcs {
    clock_to_output: 77,
    setup_behind_table: 75,
    setup_behind_multiplexer: 57,
    setup_behind_carry: 50,
    setup_behind_wire: 190,
    table: [78, 94, 134, 148, 178, 224],
    into_multiplexer: 25,
    multiplexers: [Multiplexer { data: 70, select: 77 }, Multiplexer { data: 70, select: 77 }],
    select_pin: 65,
    multiplexer_to_pin: 32,
    carry: Carry {
        bits: 8,
        from_table: 15,
        from_pin: 65,
        select_to_sum: [
            [65, 96, 134, 139, 206, 240, 226, 241],
            [0, 56, 117, 123, 204, 237, 224, 238],
            [0, 0, 58, 86, 167, 200, 188, 202],
            [0, 0, 0, 61, 149, 184, 172, 187],
            [0, 0, 0, 0, 63, 95, 129, 137],
            [0, 0, 0, 0, 0, 58, 131, 138],
            [0, 0, 0, 0, 0, 0, 56, 85],
            [0, 0, 0, 0, 0, 0, 0, 56],
        ],
        select_to_out: [199, 197, 168, 170, 163, 166, 124, 124],
        direct_to_sum: [
            [0, 81, 109, 115, 178, 208, 196, 211],
            [0, 0, 99, 102, 162, 196, 183, 198],
            [0, 0, 0, 94, 150, 186, 174, 188],
            [0, 0, 0, 0, 147, 182, 170, 185],
            [0, 0, 0, 0, 0, 84, 115, 123],
            [0, 0, 0, 0, 0, 0, 102, 107],
            [0, 0, 0, 0, 0, 0, 0, 93],
            [0; 8],
        ],
        direct_to_out: [140, 127, 117, 113, 100, 95, 67, 60],
        in_to_sum: [56, 76, 67, 82, 86, 116, 103, 116],
        in_to_out: 23,
        between: 26,
        sum_to_pin: 30,
    },
    multiplier: 1750,
    memory_to_output: 1003,
    memory_setup: 335,
    wires: Wires {
        local: 43.0,
        horizontal: &[(12.0, 107.6), (4.0, 87.6), (2.0, 65.1), (1.0, 48.8)],
        vertical: &[(12.0, 128.2), (4.0, 99.0), (2.0, 64.8), (1.0, 60.1)],
    },
};

/// Delays of 7 series, slow corner. The delay of a segment is the sum of three parts: the switch that drives the
/// segment (single, double, six, long); the RC delay of the switch's resistance and the wire's capacitance, which is 5
/// fF per tile along the interconnect and the same again along the logic; and the next switch.
pub(super) const SERIES7: Arcs = Arcs {
    clock_to_output: 340,
    setup_behind_table: 64,
    setup_behind_multiplexer: 29,
    setup_behind_carry: 31,
    setup_behind_wire: 160,
    table: [129, 236, 408, 468, 631, 640],
    into_multiplexer: 24,
    multiplexers: [Multiplexer { data: 193, select: 276 }, Multiplexer { data: 104, select: 273 }],
    select_pin: 0,
    multiplexer_to_pin: 192,
    carry: Carry {
        bits: 4,
        from_table: 0,
        from_pin: 96,
        select_to_sum: [
            [223, 400, 523, 582, 0, 0, 0, 0],
            [0, 205, 558, 618, 0, 0, 0, 0],
            [0, 0, 226, 330, 0, 0, 0, 0],
            [0, 0, 0, 227, 0, 0, 0, 0],
            [0; 8],
            [0; 8],
            [0; 8],
            [0; 8],
        ],
        select_to_out: [508, 528, 376, 380, 0, 0, 0, 0],
        direct_to_sum: [
            [0, 407, 556, 615, 0, 0, 0, 0],
            [0, 0, 537, 596, 0, 0, 0, 0],
            [0, 0, 0, 438, 0, 0, 0, 0],
            [0; 8],
            [0; 8],
            [0; 8],
            [0; 8],
            [0; 8],
        ],
        direct_to_out: [526, 507, 398, 385, 0, 0, 0, 0],
        in_to_sum: [222, 334, 239, 313, 0, 0, 0, 0],
        in_to_out: 114,
        between: 0,
        sum_to_pin: 175,
    },
    multiplier: 3841,
    memory_to_output: 2454,
    memory_setup: 566,
    wires: Wires {
        local: 164.0,
        horizontal: &[(12.0, 402.0), (6.0, 290.0), (2.0, 171.0), (1.0, 149.0)],
        vertical: &[(12.0, 402.0), (6.0, 290.0), (2.0, 171.0), (1.0, 149.0)],
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wires_grow_with_the_design_and_with_readers() {
        for arcs in [&ULTRASCALE_PLUS, &SERIES7] {
            let small = arcs.wires.by_readers(100.0);
            let large = arcs.wires.by_readers(100_000.0);
            assert!(small[1] < large[1] && small[1] < small[64]);
            assert!(small.windows(2).all(|pair| pair[0] <= pair[1]));
            // Same order of magnitude as Vivado's estimates before placement: 0.1 to 0.5 ns, 0.3 to 1 ns.
            let (least, most) = if arcs.clock_to_output == 77 { (100.0, 500.0) } else { (300.0, 1000.0) };
            assert!(
                (least..most).contains(&small[1]) && (least..most).contains(&large[1]),
                "{} {}",
                small[1],
                large[1]
            );
        }
    }

    #[test]
    fn mean_lengths_are_donaths() {
        // Order of magnitude of Donath's table for Rent's exponent 0.65: about 3 tiles for 100 tiles, 5 for 1,000.
        assert!((2.5..3.5).contains(&mean_length(100.0)), "{}", mean_length(100.0));
        assert!((4.0..6.0).contains(&mean_length(1000.0)), "{}", mean_length(1000.0));
    }

    #[test]
    fn runs_take_the_longest_segments_that_fit() {
        let segments = ULTRASCALE_PLUS.wires.horizontal;
        assert_eq!(run(segments, 0.0), 0.0);
        assert_eq!(run(segments, 1.0), 48.8);
        assert!((run(segments, 6.0) - (87.6 + 65.1)).abs() < 1e-9);
        assert!((run(segments, 0.5) - 24.4).abs() < 1e-9);
    }
}
