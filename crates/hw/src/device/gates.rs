//! Decomposition of a netlist into single-bit gates. LUTs will cover the gates; carry chains, DSPs, registers and ports
//! between the gates are not covered by LUTs.
//!
//! Equal gates are merged and constants are folded, as in the first steps of every synthesis tool. A carry chain keeps
//! its order: each bit refers to the bit before it. A cell that no LUT can cover is a *root* of the cover at its inputs
//! and a source at its outputs.

use super::forms::{Form, Forms};
use super::technology::{NarrowSums, Technology};
use crate::netlist::pieces::{Pieces, Source};
use crate::netlist::{Cell, Netlist, Piece, Rom, Wiring};
use rustc_hash::FxHashMap;

/// Output of a gate, or its complement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Lit(u32);

impl Lit {
    /// Constant zero: gate 0.
    pub(super) const ZERO: Lit = Lit(0);
    /// Constant one.
    pub(super) const ONE: Lit = Lit(1);

    pub(super) fn from_gate(gate: usize) -> Lit {
        Lit(u32::try_from(2 * gate).expect("fewer than 2^31 gates"))
    }

    /// Index of the gate.
    pub(super) fn gate(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Returns `true` if the literal is the complement of a gate.
    pub(super) fn inverted(self) -> bool {
        self.0 & 1 == 1
    }

    /// Returns the complement.
    pub(super) fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }

    fn flip(self, when: bool) -> Lit {
        Lit(self.0 ^ u32::from(when))
    }

    /// Returns `true` if the literal is the constant zero or one.
    pub(super) fn is_constant(self) -> bool {
        self.0 < 2
    }
}

/// Gate or source that drives a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Gate {
    /// Constant zero, or a bit of a register or an input port.
    Source,
    /// Conjunction of two bits.
    And(Lit, Lit),
    /// Exclusive or of two bits.
    Xor(Lit, Lit),
    /// Multiplexer: the second bit if the first is set, otherwise the third.
    Mux(Lit, Lit, Lit),
    /// The sum bit of a carry chain.
    Carry {
        /// Select input: an operand, or the exclusive or of both if a LUT before the chain computes it.
        a: Lit,
        /// Other input of the carry bit.
        b: Lit,
        /// Gate of the next lower bit of the chain; [`FIRST`] for the lowest bit.
        before: u32,
        /// `true` if the LUT before the chain computes nothing but the exclusive or of the two inputs.
        own_table: bool,
    },
    /// A bit of a block's result.
    Block(u32),
}

/// Value of `before` in the lowest bit of a chain.
pub(super) const FIRST: u32 = u32::MAX;

impl Gate {
    /// Returns `true` if a LUT can cover the gate.
    pub(super) fn is_logic(self) -> bool {
        matches!(self, Gate::And(..) | Gate::Xor(..) | Gate::Mux(..))
    }

    /// Calls `visit` for each operand of a gate that LUTs can cover.
    pub(super) fn for_each_operand(self, mut visit: impl FnMut(Lit)) {
        match self {
            Gate::And(a, b) | Gate::Xor(a, b) => [a, b].map(&mut visit).into_iter().collect(),
            Gate::Mux(s, a, b) => [s, a, b].map(&mut visit).into_iter().collect(),
            Gate::Source | Gate::Carry { .. } | Gate::Block(_) => {}
        }
    }
}

/// A cell with several output bits, such as a multiplier or a memory, or a cell with a fixed cost.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Input bits of the block.
    pub(super) inputs: Vec<Lit>,
    /// Kind of the block.
    pub(super) kind: BlockKind,
}

/// Kinds of [`Block`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// Product in DSPs, with the widths of the factors in bits.
    Dsp(u32, u32),
    /// Product in logic, as synthesis builds it, with the widths of the factors in bits.
    SoftProduct(u32, u32),
    /// Look-up table too large for a decomposition into gates, with its address and word bits.
    Table(u32, u32),
    /// Look-up table in a BRAM that absorbs the register after it.
    Memory,
    /// Piece of a look-up table, in a LUT of its own.
    Piece,
    /// Sum of three bits, in the LUT before a carry bit.
    SumOfThree,
    /// Carry of three bits, from the LUT of their sum over a wire.
    CarryOfThree,
}

/// The gates of a netlist.
#[derive(Debug)]
pub(super) struct Gates {
    /// All gates; operands come before readers.
    pub(super) gates: Vec<Gate>,
    /// Bits of input ports.
    pub(super) inputs: Vec<Lit>,
    /// Bits that registers read, followed by bits that output ports read.
    pub(super) ends: Vec<Lit>,
    /// Number of entries of `ends` that registers read.
    pub(super) register_ends: usize,
    /// Bits of registers that the BRAM before them absorbs.
    pub(super) behind_memories: Vec<Lit>,
    /// Blocks that compute several bits at once.
    pub(super) blocks: Vec<Block>,
    /// Number of bits of each carry chain.
    pub(super) chains: Vec<u32>,
    /// First gate created for each net.
    pub(super) first_gate: Vec<u32>,
    /// First bit of each net in `bits`.
    starts: Vec<u32>,
    /// The gate of each bit of each net.
    bits: Vec<Lit>,
}

impl Gates {
    /// Decomposes a netlist into gates. `in_blocks`: `true` if multiplications may use DSPs.
    pub(super) fn from_netlist(netlist: &Netlist, technology: &Technology, in_blocks: bool, forms: &Forms) -> Gates {
        Gates::taken(netlist, technology, in_blocks, forms, false)
    }

    /// Like [`Gates::from_netlist`], but builds separate gates for each operation: equal gates of two operations are
    /// not merged.
    pub(super) fn by_operation(netlist: &Netlist, technology: &Technology, in_blocks: bool, forms: &Forms) -> Gates {
        Gates::taken(netlist, technology, in_blocks, forms, true)
    }

    fn taken(netlist: &Netlist, technology: &Technology, in_blocks: bool, forms: &Forms, apart: bool) -> Gates {
        let mut taker = Taker { maker: Maker::new(technology), netlist, in_blocks, forms };
        let mut before = None;
        for net in netlist.nets() {
            let owner = (net.operation, net.output);
            if apart && before.replace(owner) != Some(owner) {
                taker.maker.known.clear();
            }
            taker.maker.gates.first_gate.push(taker.maker.gates.gates.len() as u32);
            let start = u32::try_from(taker.maker.gates.bits.len()).expect("fewer than 2^32 bits");
            taker.maker.gates.starts.push(start);
            let bits = taker.cell(&net.cell, net.width);
            debug_assert_eq!(bits.len(), net.width as usize);
            taker.maker.gates.bits.extend(bits);
        }
        for (index, net) in netlist.nets().iter().enumerate() {
            if let Cell::Register { d, .. } = net.cell {
                let ends = taker.wiring(d);
                let gates = &mut taker.maker.gates;
                let held: Vec<Lit> = gates.net(index, net.width).to_vec();
                let within = ends.iter().zip(held).filter(|(end, _)| gates.is_memory(**end)).map(|(_, bit)| bit);
                let within: Vec<Lit> = within.collect();
                gates.behind_memories.extend(within);
                gates.ends.extend(ends);
            }
        }
        taker.maker.gates.register_ends = taker.maker.gates.ends.len();
        for driver in netlist.ports().iter().filter_map(|port| port.driver) {
            let ends = taker.wiring(driver);
            taker.maker.gates.ends.extend(ends);
        }
        taker.maker.gates
    }

    /// Returns the gates of a single look-up table in logic.
    pub(super) fn from_table(rom: &Rom, technology: &Technology) -> Gates {
        let mut maker = Maker::new(technology);
        let address: Vec<Lit> = (0..rom.addr_width).map(|_| maker.push(Gate::Source)).collect();
        maker.gates.ends = (0..rom.word_width).map(|bit| maker.column(rom, bit, &address)).collect();
        maker.gates
    }

    /// Returns `true` if a bit is an output of a BRAM.
    fn is_memory(&self, x: Lit) -> bool {
        matches!(self.gates[x.gate()], Gate::Block(block) if self.blocks[block as usize].kind == BlockKind::Memory)
    }

    /// Returns the bits of a net, low bits first.
    pub(super) fn net(&self, net: usize, width: u32) -> &[Lit] {
        let start = self.starts[net] as usize;
        &self.bits[start..start + width as usize]
    }
}

/// Table entries times word bits above which a look-up table is not decomposed into gates.
pub(super) const LARGE_TABLE: u64 = 1 << 22;

struct Taker<'a> {
    maker: Maker<'a>,
    netlist: &'a Netlist,
    in_blocks: bool,
    forms: &'a Forms,
}

struct Maker<'a> {
    gates: Gates,
    /// Output of each gate created so far; equal gates are merged.
    known: FxHashMap<Gate, Lit>,
    technology: &'a Technology,
}

impl<'a> Taker<'a> {
    fn wiring(&self, wiring: Wiring) -> Vec<Lit> {
        let mut bits = Vec::with_capacity(wiring.width() as usize);
        for &piece in self.netlist.pieces(wiring) {
            match piece {
                Piece::Const { one, width } => {
                    bits.extend(std::iter::repeat_n(if one { Lit::ONE } else { Lit::ZERO }, width as usize));
                }
                Piece::Bits { net, lo, width } => {
                    let start = (self.maker.gates.starts[net.index()] + lo) as usize;
                    bits.extend_from_slice(&self.maker.gates.bits[start..start + width as usize]);
                }
                Piece::Repeat { net, bit, count } => {
                    let bit = self.maker.gates.bits[(self.maker.gates.starts[net.index()] + bit) as usize];
                    bits.extend(std::iter::repeat_n(bit, count as usize));
                }
            }
        }
        bits
    }

    fn cell(&mut self, cell: &Cell, width: u32) -> Vec<Lit> {
        let bitwise = |taker: &mut Self, a: Wiring, b: Wiring, gate: fn(&mut Maker<'a>, Lit, Lit) -> Lit| {
            let (a, b) = (taker.wiring(a), taker.wiring(b));
            a.into_iter().zip(b).map(|(a, b)| gate(&mut taker.maker, a, b)).collect()
        };
        match *cell {
            Cell::Input { .. } => {
                let bits: Vec<Lit> = (0..width).map(|_| self.maker.push(Gate::Source)).collect();
                self.maker.gates.inputs.extend(&bits);
                bits
            }
            Cell::Register { .. } => (0..width).map(|_| self.maker.push(Gate::Source)).collect(),
            Cell::Alias { x } => self.wiring(x),
            Cell::Not { a } => self.wiring(a).into_iter().map(Lit::not).collect(),
            Cell::And { a, b } => bitwise(self, a, b, Maker::and),
            Cell::Or { a, b } => bitwise(self, a, b, Maker::or),
            Cell::Xor { a, b } => bitwise(self, a, b, Maker::xor),
            Cell::Mux { sel, on_true, on_false } => {
                let sel = self.wiring(sel)[0];
                let (a, b) = (self.wiring(on_true), self.wiring(on_false));
                a.into_iter().zip(b).map(|(a, b)| self.maker.mux(sel, a, b)).collect()
            }
            Cell::Add { a, b } => {
                let (a, b) = (self.wiring(a), self.wiring(b));
                self.maker.adder(&a, &b, Lit::ZERO)
            }
            Cell::Sub { a, b } => {
                let a = self.wiring(a);
                let b: Vec<Lit> = self.wiring(b).into_iter().map(Lit::not).collect();
                self.maker.adder(&a, &b, Lit::ONE)
            }
            Cell::Three { a, b, c, minus } => {
                let a = self.wiring(a);
                let flipped = |bits: Vec<Lit>, minus: bool| bits.into_iter().map(|x| x.flip(minus)).collect::<Vec<_>>();
                let (b, c) = (flipped(self.wiring(b), minus[0]), flipped(self.wiring(c), minus[1]));
                self.maker.three(&a, &b, &c, minus.map(|minus| Lit::ZERO.flip(minus)))
            }
            Cell::Neg { a } => {
                let b: Vec<Lit> = self.wiring(a).into_iter().map(Lit::not).collect();
                self.maker.adder(&vec![Lit::ZERO; b.len()], &b, Lit::ONE)
            }
            Cell::Less { a, b, signed } => {
                let (mut a, mut b) = (self.wiring(a), self.wiring(b));
                if signed && let (Some(a), Some(b)) = (a.last_mut(), b.last_mut()) {
                    (*a, *b) = (a.not(), b.not());
                }
                vec![self.maker.less(&a, &b).0]
            }
            Cell::ReduceOr { a } => {
                let bits: Vec<Lit> = self.wiring(a).into_iter().map(Lit::not).collect();
                vec![self.maker.all(&bits).not()]
            }
            Cell::ReduceAnd { a } => {
                let bits = self.wiring(a);
                vec![self.maker.all(&bits)]
            }
            Cell::Mul { a, b, signed: _ } => {
                let widths = (a.width().min(b.width()), a.width().max(b.width()));
                let blocks = self.in_blocks && self.maker.technology.multiplies(widths.0, widths.1);
                let kind = if blocks {
                    BlockKind::Dsp(widths.1, widths.0)
                } else {
                    BlockKind::SoftProduct(widths.1, widths.0)
                };
                let mut inputs = self.wiring(a);
                inputs.extend(self.wiring(b));
                self.maker.block(inputs, kind, width)
            }
            Cell::Rom { rom, addr } => {
                let address = self.wiring(addr);
                let netlist = self.netlist;
                let index = rom.0 as usize;
                let rom = &netlist.roms()[index];
                match self.forms.forms[index] {
                    Form::Memory => return self.maker.block(address, BlockKind::Memory, width),
                    Form::Pieces => {
                        let pieces = self.forms.pieces[index].as_ref().expect("of that form");
                        return self.maker.pieces(pieces, &address);
                    }
                    Form::Function | Form::LogicFunction => {}
                }
                if (u64::from(width) << rom.addr_width.min(40)) > LARGE_TABLE {
                    return self.maker.block(address, BlockKind::Table(rom.addr_width, width), width);
                }
                (0..width).map(|bit| self.maker.column(rom, bit, &address)).collect()
            }
        }
    }
}

impl<'a> Maker<'a> {
    fn new(technology: &'a Technology) -> Maker<'a> {
        let gates = Gates {
            gates: vec![Gate::Source],
            inputs: Vec::new(),
            ends: Vec::new(),
            register_ends: 0,
            behind_memories: Vec::new(),
            blocks: Vec::new(),
            chains: Vec::new(),
            first_gate: Vec::new(),
            starts: Vec::new(),
            bits: Vec::new(),
        };
        Maker { gates, known: FxHashMap::default(), technology }
    }

    /// Adds a look-up table in pieces, and returns the bits of its word. Pieces that other pieces read become blocks;
    /// the other pieces become gates, which may be merged with surrounding logic.
    fn pieces(&mut self, table: &Pieces, address: &[Lit]) -> Vec<Lit> {
        let mut made: Vec<Lit> = Vec::with_capacity(table.pieces.len());
        let of = |made: &[Lit], source: Source| match source {
            Source::Constant(one) => Lit::ZERO.flip(one),
            Source::Address(bit) => address[bit as usize],
            Source::Piece(piece) => made[piece as usize],
        };
        for piece in &table.pieces {
            let inputs: Vec<Lit> = piece.inputs.iter().map(|&input| of(&made, input)).collect();
            let value = if piece.inner {
                self.block(inputs, BlockKind::Piece, 1)[0]
            } else {
                self.function(inputs.len() as u32, |at| piece.table >> at & 1 == 1, &inputs)
            };
            made.push(value);
        }
        table.bits.iter().map(|&bit| of(&made, bit)).collect()
    }

    fn block(&mut self, inputs: Vec<Lit>, kind: BlockKind, width: u32) -> Vec<Lit> {
        let block = self.gates.blocks.len() as u32;
        self.gates.blocks.push(Block { inputs, kind });
        (0..width).map(|_| self.push(Gate::Block(block))).collect()
    }

    fn push(&mut self, gate: Gate) -> Lit {
        self.gates.gates.push(gate);
        Lit::from_gate(self.gates.gates.len() - 1)
    }

    fn logic(&mut self, gate: Gate) -> Lit {
        if let Some(&known) = self.known.get(&gate) {
            return known;
        }
        let made = self.push(gate);
        self.known.insert(gate, made);
        made
    }

    fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = (a.min(b), a.max(b));
        match a {
            Lit::ZERO => Lit::ZERO,
            Lit::ONE => b,
            _ if a == b => a,
            _ if a == b.not() => Lit::ZERO,
            _ => self.logic(Gate::And(a, b)),
        }
    }

    fn or(&mut self, a: Lit, b: Lit) -> Lit {
        self.and(a.not(), b.not()).not()
    }

    fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let inverted = a.inverted() != b.inverted();
        let (a, b) = (a.flip(a.inverted()), b.flip(b.inverted()));
        let (a, b) = (a.min(b), a.max(b));
        let plain = if a == Lit::ZERO {
            b
        } else if a == b {
            Lit::ZERO
        } else {
            self.logic(Gate::Xor(a, b))
        };
        plain.flip(inverted)
    }

    fn mux(&mut self, select: Lit, a: Lit, b: Lit) -> Lit {
        if select.inverted() {
            return self.mux(select.not(), b, a);
        }
        if select == Lit::ZERO {
            return b;
        }
        let a = if a == select {
            Lit::ONE
        } else if a == select.not() {
            Lit::ZERO
        } else {
            a
        };
        let b = if b == select {
            Lit::ZERO
        } else if b == select.not() {
            Lit::ONE
        } else {
            b
        };
        match (a, b) {
            _ if a == b => a,
            _ if a == b.not() => self.xor(select, b),
            (Lit::ZERO, _) => self.and(select.not(), b),
            (Lit::ONE, _) => self.or(select, b),
            (_, Lit::ZERO) => self.and(select, a),
            (_, Lit::ONE) => self.or(select.not(), a),
            _ => self.logic(Gate::Mux(select, a.flip(b.inverted()), b.flip(b.inverted()))).flip(b.inverted()),
        }
    }

    /// Returns the sum `a + b + carry` modulo `2^n`, as a carry chain, or as gates if the adder is short.
    fn adder(&mut self, a: &[Lit], b: &[Lit], carry: Lit) -> Vec<Lit> {
        if a.len() as u32 <= self.technology.short_adder {
            let mut carry = carry;
            let bit = |(&a, &b): (&Lit, &Lit)| {
                let half = self.xor(a, b);
                let sum = self.xor(half, carry);
                carry = self.mux(half, carry, a);
                sum
            };
            return a.iter().zip(b).map(bit).collect();
        }
        self.gates.chains.push(a.len() as u32);
        let mut before = FIRST;
        let mut sum = Vec::with_capacity(a.len());
        for (&a, &b) in a.iter().zip(b) {
            let (a, b, own_table) = match (self.technology.table_before_carry, self.technology.narrow_sums) {
                (false, _) => (a, b, false),
                // Both operands have LUTs in front; the timing considers those of the first one.
                (true, NarrowSums::InModules) if self.gates.gates[a.gate()].is_logic() => (a, b, false),
                (true, NarrowSums::InModules) => (b, a, false),
                (true, _) => self.entry(a, b),
            };
            let made = self.push(Gate::Carry { a, b, before, own_table });
            before = made.gate() as u32;
            sum.push(made);
        }
        sum
    }

    /// Returns the sum of `a + b + c` and two carries modulo `2^n`. The LUTs before a carry chain are full adders from
    /// the first bit with three operands on.
    fn three(&mut self, a: &[Lit], b: &[Lit], c: &[Lit], [carry, other]: [Lit; 2]) -> Vec<Lit> {
        let (mut sums, mut carries) = (Vec::with_capacity(a.len()), Vec::with_capacity(a.len()));
        let mut before = other;
        for ((&a, &b), &c) in a.iter().zip(b).zip(c) {
            let mut there = [a, b, c];
            there.sort_unstable();
            if before.is_constant() && there[0] == Lit::ZERO {
                // Two operands, and no carry of a full adder below: the carry chain adds these bits itself.
                sums.push(there[1]);
                carries.push(there[2]);
                continue;
            }
            sums.push(self.block(there.to_vec(), BlockKind::SumOfThree, 1)[0]);
            carries.push(before);
            before = self.block(there.to_vec(), BlockKind::CarryOfThree, 1)[0];
        }
        self.adder(&sums, &carries, carry)
    }

    /// Returns the inputs of a carry bit. The flag is `true` if a LUT before the carry bit computes only the exclusive
    /// or of both operands.
    fn entry(&mut self, a: Lit, b: Lit) -> (Lit, Lit, bool) {
        let is_logic = |x: Lit| self.gates.gates[x.gate()].is_logic();
        if !a.is_constant() && !b.is_constant() && !is_logic(a) && !is_logic(b) && a.gate() != b.gate() {
            return (a.flip(a.inverted()), b.flip(b.inverted()), true);
        }
        (self.xor(a, b), a, false)
    }

    /// Returns the bits `a < b` (unsigned) and `a == b`, each as a balanced tree.
    fn less(&mut self, a: &[Lit], b: &[Lit]) -> (Lit, Lit) {
        match a.len() {
            0 => (Lit::ZERO, Lit::ONE),
            1 => (self.and(a[0].not(), b[0]), self.xor(a[0], b[0]).not()),
            n => {
                let middle = n / 2;
                let (low, low_equal) = self.less(&a[..middle], &b[..middle]);
                let (high, high_equal) = self.less(&a[middle..], &b[middle..]);
                let below = self.and(high_equal, low);
                (self.or(high, below), self.and(high_equal, low_equal))
            }
        }
    }

    /// Returns the conjunction of all bits, as a balanced tree.
    fn all(&mut self, bits: &[Lit]) -> Lit {
        match bits {
            [] => Lit::ONE,
            [bit] => *bit,
            _ => {
                let (low, high) = bits.split_at(bits.len() / 2);
                let (low, high) = (self.all(low), self.all(high));
                self.and(low, high)
            }
        }
    }

    /// Returns bit `bit` of the word of a look-up table, as gates.
    fn column(&mut self, rom: &Rom, bit: u32, address: &[Lit]) -> Lit {
        self.function(rom.addr_width, |at| rom.words.get(at).is_some_and(|word| word >> bit & 1 == 1), address)
    }

    /// Builds the decision diagram of a function of `inputs` inputs. The first input selects at the leaves.
    fn function(&mut self, inputs: u32, value: impl Fn(usize) -> bool, sources: &[Lit]) -> Lit {
        let mut level: Vec<Lit> = (0..1usize << inputs).map(|at| Lit::ZERO.flip(value(at))).collect();
        for &select in sources {
            level = level.chunks_exact(2).map(|pair| self.mux(select, pair[1], pair[0])).collect();
        }
        level[0]
    }
}
