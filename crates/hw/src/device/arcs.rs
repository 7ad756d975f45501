//! Measured delays of AMD's slices and wires, in picoseconds: the arcs from which [`super::timing`] adds up a path.
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
//! The length of a wire before placement is not measured: see [`Wires`].

/// Delays of one family. Everything is in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arcs {
    /// Clock to output of a flip-flop.
    pub clock_to_output: u16,
    /// Setup time of a flip-flop driven by a table of its own slice.
    pub setup_behind_table: u16,
    /// Setup time of a flip-flop driven by the slice's wide multiplexer.
    pub setup_behind_multiplexer: u16,
    /// Setup time of a flip-flop driven by a sum bit of the slice's carry chain.
    pub setup_behind_carry: u16,
    /// Setup time of a flip-flop driven by a wire from elsewhere.
    pub setup_behind_wire: u16,
    /// From the slice's pin to the output of a six-input table, the fastest input first: pin and table together.
    pub table: [u16; 6],
    /// From a table into a wide multiplexer's data input.
    pub into_multiplexer: u16,
    /// From data and from select to the output of the multiplexer of two tables (F7), and of four (F8).
    pub multiplexers: [Multiplexer; 2],
    /// From the slice's pin to a wide multiplexer's select.
    pub select_pin: u16,
    /// From a wide multiplexer to the slice's pin.
    pub multiplexer_to_pin: u16,
    /// The carry chain.
    pub carry: Carry,
    /// A DSP without registers, from factor to product.
    pub multiplier: u16,
    /// Clock to output of a BRAM without an output register.
    pub memory_to_output: u16,
    /// Setup time of a BRAM's address.
    pub memory_setup: u16,
    /// Wires between slices.
    pub wires: Wires,
}

impl Arcs {
    /// The least that a flip-flop needs before the clock edge.
    pub(super) fn least_setup(&self) -> u16 {
        let behind = [self.setup_behind_table, self.setup_behind_multiplexer, self.setup_behind_carry];
        behind.into_iter().fold(self.setup_behind_wire, u16::min)
    }

    /// Returns the delay from each of `inputs` inputs of a table, the latest input first, to its output, in
    /// nanoseconds. If one table has fewer inputs, several tables feed the slice's multiplexers, where the latest
    /// inputs select.
    pub(super) fn table_times(&self, inputs: usize) -> Vec<f64> {
        let ns = |picoseconds: u16| f64::from(picoseconds) / 1000.0;
        let wide = inputs.saturating_sub(self.table.len()).min(2);
        // Data passes all multiplexers from the first, a select from its own on.
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
    /// From a data input to the output.
    pub data: u16,
    /// From the select to the output.
    pub select: u16,
}

/// A cell of a carry chain. `S` selects between the carry from below and the direct input `DI`, and makes the sum bit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carry {
    /// Bits of a cell; rows and columns beyond it are not read.
    pub bits: usize,
    /// From a table to `S`.
    pub from_table: u16,
    /// From the slice's pin to `DI`.
    pub from_pin: u16,
    /// From `S` of a bit (row) to the sum of a bit (column).
    pub select_to_sum: [[u16; 8]; 8],
    /// From `S` of a bit to the carry out of the cell.
    pub select_to_out: [u16; 8],
    /// From `DI` of a bit (row) to the sum of a bit (column).
    pub direct_to_sum: [[u16; 8]; 8],
    /// From `DI` of a bit to the carry out of the cell.
    pub direct_to_out: [u16; 8],
    /// From the carry into the cell to the sum of a bit.
    pub in_to_sum: [u16; 8],
    /// From the carry into the cell to the carry out of it.
    pub in_to_out: u16,
    /// From a cell's carry out to the next one's carry in.
    pub between: u16,
    /// From a sum bit to the slice's pin.
    pub sum_to_pin: u16,
}

/// Wires between slices: how long they are expected to be, and what that takes.
///
/// Mean length: W. E. Donath, *Placement and average interconnection lengths of computer logic*, IEEE Transactions on
/// Circuits and Systems 26 (1979), equation for a square array, in tiles of eight tables, with Rent's exponent 0.65
/// (the middle of what B. S. Landman and R. L. Russo, *On a pin versus block relationship for partitions of logic
/// graphs*, IEEE Transactions on Computers 20 (1971), found for logic) and three quarters of the tiles' tables in use.
/// The farthest of `n` readers is taken as `1 + log2(n) / 4` times as far as the one of a wire with one reader: an
/// assumption without a measurement.
///
/// Half of a length is horizontal, half vertical. A wire is made of the family's segments, longest first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wires {
    /// A wire within its tile.
    pub local: f64,
    /// Horizontal segments: length in tiles, delay; the longest first.
    pub horizontal: &'static [(f64, f64)],
    /// Vertical segments.
    pub vertical: &'static [(f64, f64)],
}

/// Tables of a tile.
const TABLES_PER_TILE: f64 = 8.0;
/// Share of a tile's tables that are in use.
const IN_USE: f64 = 0.75;
/// Rent's exponent.
const RENT: f64 = 0.65;

/// Mean length of wires between the tiles of a square of `tiles`, in tiles: Donath 1979.
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

/// Returns the delay of a straight run of `length` tiles, over the segments that reach it; interpolated between two
/// lengths.
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
    /// Returns the delay of a wire with `readers` readers in a design of `tables` tables.
    fn delay(&self, tables: f64, readers: u32) -> f64 {
        let tiles = (tables / (TABLES_PER_TILE * IN_USE)).max(1.0);
        // No wire is longer than from one corner of the design to the other.
        let longest = 2.0 * tiles.sqrt();
        let length = mean_length(tiles) * (1.0 + f64::from(readers.max(1)).log2() / 4.0);
        let length = length.min(longest);
        self.local + run(self.horizontal, length / 2.0) + run(self.vertical, length / 2.0)
    }

    /// Returns delays by the number of readers, for a design of `tables` tables. The last one is for all larger
    /// numbers.
    pub(super) fn by_readers(&self, tables: f64) -> Vec<f64> {
        // A run between two lengths may be cheaper than a shorter one of more segments: the farther reader is never
        // earlier.
        let mut latest = 0.0f64;
        let mut longest_yet = |readers| {
            latest = latest.max(self.delay(tables, readers));
            latest
        };
        (0..=MOST_READERS).map(&mut longest_yet).collect()
    }
}

/// Readers of a wire beyond which it gets no longer: synthesis makes copies of what drives it.
const MOST_READERS: u32 = 256;

/// UltraScale+. Segments: RapidWright's `k0 + k1 * L + k2 * d` of single, double, quad and long wires of 1, 2, 4 and 12
/// tiles. The second level of wide multiplexers is not in its files and is taken as the first. The multiplier is a
/// rounded estimate, not a measurement.
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

/// 7 series, slow corner. Segments: the switch that drives one (single, double, six, long) and the time in which its
/// resistance charges the wire at 5 fF a tile, twice (past the interconnect and the logic), and the next switch.
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
            // Of the order of what Vivado reports before placement: 0.1 to 0.5 ns, 0.3 to 1 ns.
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
        // His table's order of magnitude for Rent's exponent 0.65: about 3 tiles of 100, 5 of 1,000.
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
