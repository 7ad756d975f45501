//! Registers inside DSP blocks.
//!
//! A DSP has registers before each factor and after the product; synthesis moves registers of the netlist into the DSP.
//! A layer of registers after a product is absorbed if a single DSP computes the product and only registers read the
//! bits of the previous layer. A layer before a factor is absorbed if registers drive all bits of the factor. If a
//! register before a factor also has readers outside the DSP, synthesis keeps a second copy in the fabric, so that no
//! register is saved. Registers of a DSP have an enable and a synchronous reset to zero (AMD UG579, UG479; Lattice
//! FPGA-TN-02205), so registers with an asynchronous reset or a power-on value stay outside.

use crate::netlist::{BlockRegisters, Cell, Netlist, Piece, Wiring};

/// Marker for a missing bit.
const NONE: u32 = u32::MAX;

/// The bits of all nets of a netlist by index, with aliases resolved.
struct Bits<'a> {
    netlist: &'a Netlist,
    /// Index of each net's first bit.
    first: Vec<u32>,
    /// Bit of which each bit is an alias; the bit itself if it is no alias.
    source: Vec<u32>,
    /// Bit that each register bit stores, for registers that a DSP can absorb.
    held: Vec<u32>,
    /// `true` for each bit with a reader other than such registers and the factors of DSPs.
    elsewhere: Vec<bool>,
}

impl<'a> Bits<'a> {
    fn new(netlist: &'a Netlist, is_factored: impl Fn(&Cell) -> bool) -> Bits<'a> {
        let mut first = Vec::with_capacity(netlist.nets().len());
        let mut count = 0u32;
        for net in netlist.nets() {
            first.push(count);
            count += net.width;
        }
        let bits = count as usize;
        let mut all =
            Bits { netlist, first, source: (0..count).collect(), held: vec![NONE; bits], elsewhere: vec![false; bits] };
        for (index, net) in netlist.nets().iter().enumerate() {
            let from = all.first[index] as usize;
            match net.cell {
                // An alias reads only nets that are not aliases themselves.
                Cell::Alias { x } => {
                    let behind = all.wired(x);
                    all.source[from..from + behind.len()].copy_from_slice(&behind);
                }
                Cell::Register { d, enable, reset, init } => {
                    enable.into_iter().chain(reset.map(|reset| reset.when)).for_each(|wiring| all.read(wiring));
                    if init.is_none() && reset.is_none_or(|reset| !reset.asynchronous) {
                        let behind = all.wired(d);
                        all.held[from..from + behind.len()].copy_from_slice(&behind);
                    } else {
                        all.read(d);
                    }
                }
                ref cell if is_factored(cell) => {}
                cell => cell.for_each_operand(|wiring| all.read(wiring)),
            }
        }
        netlist.ports().iter().filter_map(|port| port.driver).for_each(|driver| all.read(driver));
        all
    }

    /// Returns the bits of an operand, low bits first; [`NONE`] for constants.
    fn wired(&self, wiring: Wiring) -> Vec<u32> {
        let mut bits = Vec::with_capacity(wiring.width() as usize);
        for &piece in self.netlist.pieces(wiring) {
            let at = |net: crate::netlist::NetId, bit: u32| self.source[(self.first[net.index()] + bit) as usize];
            match piece {
                Piece::Bits { net, lo, width } => bits.extend((lo..lo + width).map(|bit| at(net, bit))),
                Piece::Repeat { net, bit, count } => bits.extend((0..count).map(|_| at(net, bit))),
                Piece::Const { width, .. } => bits.extend((0..width).map(|_| NONE)),
            }
        }
        bits
    }

    fn read(&mut self, wiring: Wiring) {
        for bit in self.wired(wiring) {
            if bit != NONE {
                self.elsewhere[bit as usize] = true;
            }
        }
    }
}

/// Register bits that read each bit, for registers of the kind that a DSP can absorb.
struct Readers {
    start: Vec<u32>,
    all: Vec<u32>,
}

impl Readers {
    fn new(held: &[u32]) -> Readers {
        let mut start = vec![0u32; held.len() + 2];
        let holding = || held.iter().enumerate().filter(|&(_, &bit)| bit != NONE);
        holding().for_each(|(_, &bit)| start[bit as usize + 2] += 1);
        for i in 2..start.len() {
            start[i] += start[i - 1];
        }
        let mut all = vec![0; start[held.len() + 1] as usize];
        for (register, &bit) in holding() {
            let at = &mut start[bit as usize + 1];
            all[*at as usize] = register as u32;
            *at += 1;
        }
        Readers { start, all }
    }

    fn readers(&self, bit: u32) -> &[u32] {
        &self.all[self.start[bit as usize] as usize..self.start[bit as usize + 1] as usize]
    }
}

/// Returns the number of register bits that are absorbed by DSPs.
pub(super) fn absorbed(netlist: &Netlist, blocks: BlockRegisters) -> u64 {
    let is_factored = |cell: &Cell| match *cell {
        Cell::Mul { a, b, signed: _ } => blocks.multiply(a.width(), b.width()),
        _ => false,
    };
    let products: Vec<usize> = (0..netlist.nets().len()).filter(|&i| is_factored(&netlist.nets()[i].cell)).collect();
    if products.is_empty() {
        return 0;
    }
    let bits = Bits::new(netlist, is_factored);
    let readers = Readers::new(&bits.held);
    let factors: Vec<Vec<u32>> = products
        .iter()
        .flat_map(|&product| match netlist.nets()[product].cell {
            Cell::Mul { a, b, signed: _ } => [a, b],
            _ => unreachable!("products are multiplications"),
        })
        .map(|factor| bits.wired(factor).into_iter().filter(|&bit| bit != NONE).collect())
        .collect();
    let mut is_factor = vec![false; bits.held.len()];
    factors.iter().flatten().for_each(|&bit| is_factor[bit as usize] = true);
    // Registers after products.
    let mut inside = vec![false; bits.held.len()];
    let is_one = |cell: Cell| matches!(cell, Cell::Mul { a, b, signed } if blocks.hold(a.width(), b.width(), signed));
    for &product in products.iter().filter(|&&product| is_one(netlist.nets()[product].cell)) {
        let first = bits.first[product];
        let mut layer: Vec<u32> = (first..first + netlist.nets()[product].width).collect();
        for _ in 0..blocks.behind {
            if layer.iter().any(|&bit| bits.elsewhere[bit as usize] || is_factor[bit as usize]) {
                break;
            }
            layer = layer.iter().flat_map(|&bit| readers.readers(bit)).copied().collect();
            layer.iter().for_each(|&register| inside[register as usize] = true);
        }
    }
    // Registers before factors: for each register bit the smallest number of further layers that the DSPs reading it
    // absorb.
    let mut further = vec![u32::MAX; bits.held.len()];
    let mut unheld = vec![false; bits.held.len()];
    for mut layer in factors {
        let mut layers = Vec::new();
        while layers.len() < blocks.before as usize
            && layer.iter().all(|&bit| bits.held[bit as usize] != NONE && !inside[bit as usize])
        {
            let behind = layer.iter().map(|&bit| bits.held[bit as usize]).collect();
            layers.push(std::mem::replace(&mut layer, behind));
        }
        if layers.is_empty() {
            layer.iter().for_each(|&bit| unheld[bit as usize] = true);
        }
        let depth = layers.len() as u32;
        for (bits, taken) in layers.iter().zip(1..) {
            for &bit in bits {
                further[bit as usize] = further[bit as usize].min(depth - taken);
            }
        }
    }
    // Readers of a register have higher indices, so a descending order visits readers first.
    let mut outside = vec![true; bits.held.len()];
    for bit in (0..bits.held.len()).rev().filter(|&bit| bits.held[bit] != NONE) {
        let is_taken = further[bit] != u32::MAX && !unheld[bit] && !bits.elsewhere[bit];
        outside[bit] = !inside[bit]
            && (!is_taken
                || readers
                    .readers(bit as u32)
                    .iter()
                    .any(|&r| outside[r as usize] || inside[r as usize] || further[r as usize] == 0));
    }
    (0..bits.held.len()).filter(|&bit| bits.held[bit] != NONE && !outside[bit]).count() as u64
}
