//! The combinational draft of a netlist: nets with a stage and an owner, before pipeline registers, trimming and names.
//!
//! [`Draft`] checks widths when a net is created. A cell can only be built from existing nets, so nets are in
//! topological order. [`super::pipeline`] later drops bits without readers.

use super::arith::Source;
use super::cell::{Cell, NetId, Piece, RomId, Wiring};
use super::wiring::Pool;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;

/// Object of the model that owns a net of the draft; the object determines the name and the comment of the net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// An input element.
    Input(u32),
    /// An operation.
    Op(u32),
    /// An output element.
    Output(u32),
    /// A named element of a state machine's register, wire or port.
    Object(u32),
}

/// A net of the draft.
#[derive(Clone, Copy, Debug)]
pub(super) struct DraftNet {
    /// Width in bits, at least 1.
    pub(super) width: u32,
    /// Stage that computes the net; 0 for a registered input.
    pub(super) stage: u32,
    /// Owner of the net.
    pub(super) owner: Owner,
    /// 0 for the net with the owner's value; 1, 2, ... for helper nets in order of creation.
    pub(super) helper: u32,
    /// For the net with the owner's value: index of the value's bit that is the lowest bit of the net.
    pub(super) offset: u32,
    /// Cell that drives the net. The cell of a state machine's register has operands without bits here, because its
    /// operands may come from later nets.
    pub(super) cell: Cell,
}

/// A netlist without registers, or with registers of a state machine as sources.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) pool: Pool,
    pub(super) nets: Vec<DraftNet>,
    pub(super) roms: Vec<DraftRom>,
    /// Scratch memory of the bitwise operations, which avoids allocations.
    pub(super) sources: Vec<Source>,
    /// Memories, by the hash of their contents.
    rom_ids: FxHashMap<u64, Vec<RomId>>,
    owner: Owner,
    stage: u32,
    helpers: u32,
    /// First net of the current owner.
    first: u32,
}

impl Draft {
    /// Creates an empty draft with capacity for the nets of `operations` operations.
    pub(super) fn with_capacity(operations: usize) -> Draft {
        // A sum with bits that pass through takes two nets; most other operations take one net with two operands of one
        // or two pieces.
        let nets = operations + operations / 2;
        Draft {
            pool: Pool::with_capacity(4 * nets),
            nets: Vec::with_capacity(nets),
            roms: Vec::new(),
            sources: Vec::new(),
            rom_ids: FxHashMap::default(),
            owner: Owner::Input(0),
            stage: 0,
            helpers: 0,
            first: 0,
        }
    }

    /// Sets the owner and the stage of all nets that are created from now on.
    pub(super) fn begin(&mut self, owner: Owner, stage: u32) {
        (self.owner, self.stage, self.helpers) = (owner, stage, 0);
        self.first = self.nets.len() as u32;
    }

    /// Returns the stage of new nets.
    pub(super) fn stage(&self) -> u32 {
        self.stage
    }

    /// Creates a net.
    ///
    /// # Panics
    /// If a width does not match the cell, which is a bug of lowering.
    pub(super) fn net(&mut self, width: u32, cell: Cell) -> NetId {
        assert!(width > 0, "a net has at least one bit");
        assert!(widths_fit(width, &cell, &self.roms), "{cell:?} cannot make a net of {width} bits");
        let id = NetId(u32::try_from(self.nets.len()).expect("fewer than 2^32 nets"));
        self.helpers += 1;
        self.nets.push(DraftNet { width, stage: self.stage, owner: self.owner, helper: self.helpers, offset: 0, cell });
        id
    }

    /// Creates a net and returns wiring of all its bits.
    pub(super) fn wire(&mut self, width: u32, cell: Cell) -> Wiring {
        let net = self.net(width, cell);
        self.whole(net)
    }

    /// Returns wiring of all bits of a net.
    pub(super) fn whole(&mut self, net: NetId) -> Wiring {
        let width = self.nets[net.index()].width;
        self.pool.open();
        self.pool.push(Piece::Bits { net, lo: 0, width });
        self.pool.close()
    }

    /// Declares `value` to be the current owner's value, and returns the wiring for its readers.
    ///
    /// A value that is not a single net built for it gets its own [`Cell::Alias`], so each operation has a named signal
    /// in the HDL source. Constant bits remain constants, so readers can fold them. An alias refers only to nets that
    /// are not aliases.
    pub(super) fn finish(&mut self, value: Wiring) -> Wiring {
        if self.pool.is_const(value) {
            return value;
        }
        if let Some((net, offset)) = self.only_net(value) {
            let made = &mut self.nets[net.index()];
            let is_input = matches!((made.owner, made.cell), (Owner::Input(_), Cell::Input { .. }));
            if net.0 >= self.first || is_input {
                (made.owner, made.helper, made.offset) = (self.owner, 0, offset);
                return value;
            }
        }
        let resolved = self.resolve(value);
        let alias = self.net(value.width, Cell::Alias { x: resolved });
        self.nets[alias.index()].helper = 0;
        self.pool.open();
        let mut lo = 0;
        for index in 0..value.len {
            let piece = self.pool.piece(value, index);
            let width = piece.width();
            self.pool.push(match piece {
                Piece::Const { .. } => piece,
                Piece::Bits { .. } | Piece::Repeat { .. } => Piece::Bits { net: alias, lo, width },
            });
            lo += width;
        }
        self.pool.close()
    }

    /// Returns the net and the position of its lowest bit if wiring consists of one whole net and constants; otherwise
    /// `None`.
    fn only_net(&self, wiring: Wiring) -> Option<(NetId, u32)> {
        let mut found = None;
        let mut at = 0;
        for &piece in self.pool.pieces(wiring) {
            match (piece, found) {
                (Piece::Const { .. }, _) => {}
                (Piece::Bits { net, lo: 0, width }, None) if self.nets[net.index()].width == width => {
                    found = Some((net, at));
                }
                _ => return None,
            }
            at += piece.width();
        }
        found
    }

    /// Returns wiring of the same bits that refers only to nets that are not aliases.
    pub(super) fn resolve(&mut self, wiring: Wiring) -> Wiring {
        self.pool.open();
        for index in 0..wiring.len {
            let piece = self.pool.piece(wiring, index);
            let (net, lo, width) = match piece {
                Piece::Const { .. } => {
                    self.pool.push(piece);
                    continue;
                }
                Piece::Bits { net, lo, width } => (net, lo, width),
                Piece::Repeat { net, bit, .. } => (net, bit, 1),
            };
            match (self.nets[net.index()].cell, piece) {
                (Cell::Alias { x }, Piece::Repeat { count, .. }) => {
                    let bit = repeat(self.pool.bit(x, lo), count);
                    self.pool.push(bit);
                }
                (Cell::Alias { x }, _) => self.pool.push_slice(x, lo, width),
                _ => self.pool.push(piece),
            }
        }
        self.pool.close()
    }

    /// Returns a memory with these words; equal memories are shared. Trailing zero words are dropped, because missing
    /// words read zero.
    pub(super) fn rom(&mut self, origin: Origin, addr_width: u32, word_width: u32, mut words: Vec<u64>) -> RomId {
        let used = words.iter().rposition(|&w| w != 0).map_or(1, |last| last + 1);
        words.truncate(used);
        let rom = DraftRom { origin, addr_width, word_width, words };
        let hash = rom.hash();
        let same = self.rom_ids.entry(hash).or_default();
        if let Some(&id) = same.iter().find(|id| self.roms[id.0 as usize].equals(&rom)) {
            return id;
        }
        let id = RomId(self.roms.len() as u32);
        same.push(id);
        self.roms.push(rom);
        id
    }
}

/// Origin of a memory's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Origin {
    /// A table of the model.
    Table,
    /// The products of small factors.
    Product,
}

/// A memory of the draft.
#[derive(Clone, Debug)]
pub(super) struct DraftRom {
    /// Origin of the words.
    pub(super) origin: Origin,
    /// Width of an address, in bits.
    pub(super) addr_width: u32,
    /// Width of a word, in bits.
    pub(super) word_width: u32,
    /// The words.
    pub(super) words: Vec<u64>,
}

impl DraftRom {
    fn hash(&self) -> u64 {
        FxBuildHasher.hash_one((self.addr_width, self.word_width, &self.words))
    }

    fn equals(&self, other: &DraftRom) -> bool {
        // Product memories always become logic, regardless of options for tables, so they are not shared with tables.
        self.origin == other.origin
            && (self.addr_width, self.word_width, &self.words) == (other.addr_width, other.word_width, &other.words)
    }
}

/// Returns a one-bit piece repeated `count` times.
pub(super) fn repeat(bit: Piece, count: u32) -> Piece {
    match bit {
        Piece::Bits { net, lo, .. } => super::wiring::bit_times(net, lo, count),
        Piece::Const { one, .. } => Piece::Const { one, width: count },
        Piece::Repeat { .. } => unreachable!("one bit is no repeat"),
    }
}

/// Returns `true` if `cell` can drive a net of `width` bits.
fn widths_fit(width: u32, cell: &Cell, roms: &[DraftRom]) -> bool {
    let wide = |x: &Wiring| x.width == width;
    match cell {
        Cell::Input { port: _, lo: _ } => true,
        Cell::Alias { x: a } | Cell::Neg { a } | Cell::Not { a } => wide(a),
        Cell::Add { a, b } | Cell::Sub { a, b } | Cell::And { a, b } | Cell::Or { a, b } | Cell::Xor { a, b } => {
            wide(a) && wide(b)
        }
        Cell::Three { a, b, c, minus: _ } => wide(a) && wide(b) && wide(c),
        Cell::Mul { a, b, signed: _ } => a.width > 0 && b.width > 0 && width <= a.width + b.width,
        Cell::Less { a, b, signed: _ } => width == 1 && a.width > 0 && a.width == b.width,
        Cell::Mux { sel, on_true, on_false } => sel.width == 1 && wide(on_true) && wide(on_false),
        Cell::ReduceOr { a } | Cell::ReduceAnd { a } => width == 1 && a.width > 0,
        Cell::Rom { rom, addr } => {
            let rom = &roms[rom.0 as usize];
            rom.word_width == width && rom.addr_width == addr.width
        }
        Cell::Register { d, enable, reset, init } => {
            d.width == 0 && enable.is_none() && reset.is_none() && init.is_none()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlist::PortId;

    #[test]
    fn values_that_are_no_net_of_their_own_get_an_alias_of_real_nets() {
        let mut d = Draft::with_capacity(0);
        d.begin(Owner::Input(0), 1);
        let x = d.wire(8, Cell::Input { port: PortId(0), lo: 0 });
        d.begin(Owner::Op(0), 1);
        // The operation that reads the whole input gives the net its name.
        assert_eq!(d.finish(x), x);
        assert_eq!(d.nets[0].owner, Owner::Op(0));
        d.begin(Owner::Op(1), 1);
        let upper = d.pool.slice(x, 4, 4);
        let first = d.finish(upper);
        d.begin(Owner::Op(2), 1);
        let again = d.pool.slice(first, 1, 2);
        d.finish(again);
        let Cell::Alias { x } = d.nets[2].cell else { panic!("{:?}", d.nets[2]) };
        assert_eq!(d.pool.pieces(x), [Piece::Bits { net: NetId(0), lo: 5, width: 2 }]);
    }

    #[test]
    fn equal_memories_are_one() {
        let mut d = Draft::with_capacity(0);
        let first = d.rom(Origin::Table, 3, 4, vec![1, 2, 0, 0]);
        assert_eq!(d.rom(Origin::Table, 3, 4, vec![1, 2]), first);
        assert_ne!(d.rom(Origin::Table, 3, 5, vec![1, 2]), first);
        assert_ne!(d.rom(Origin::Product, 3, 4, vec![1, 2]), first);
        assert_eq!(d.roms[0].words, [1, 2]);
    }

    #[test]
    #[should_panic(expected = "cannot make a net")]
    fn a_width_that_does_not_fit_is_our_bug() {
        let mut d = Draft::with_capacity(0);
        let x = d.wire(8, Cell::Input { port: PortId(0), lo: 0 });
        d.net(7, Cell::Neg { a: x });
    }
}
