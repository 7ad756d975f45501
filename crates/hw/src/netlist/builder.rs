//! The combinational draft of a netlist: nets with a stage and an owner, before pipeline registers, trimming and names.
//!
//! [`Draft`] checks widths when a net is created. It guarantees topological order, because a cell can only be built
//! from existing nets. It does not decide which bits are needed: [`super::pipeline`] drops those without readers.

use super::arith::Source;
use super::cell::{Cell, NetId, Piece, RomId, Wiring};
use super::wiring::Pool;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;

/// Object of the model that a net of the draft belongs to; gives its name and comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// An input element.
    Input(u32),
    /// An operation.
    Op(u32),
    /// An output element.
    Output(u32),
    /// A named element of a state machine: of a register, a wire, a port.
    Object(u32),
}

/// A net of the draft.
#[derive(Clone, Copy, Debug)]
pub(super) struct DraftNet {
    /// Bits, at least 1.
    pub(super) width: u32,
    /// Stage in which it is computed; 0 for an input that is registered.
    pub(super) stage: u32,
    /// Owner of the net.
    pub(super) owner: Owner,
    /// 0 for the net that holds the owner's value, from 1 for its helpers in order of making.
    pub(super) helper: u32,
    /// For the net that holds the owner's value: which bit of the value its lowest one is.
    pub(super) offset: u32,
    /// Cell that drives the net. For a register of a state machine it is only the present value: its operands have no
    /// bits here, since they may come from later nets.
    pub(super) cell: Cell,
}

/// A netlist without registers, or with those of a state machine as sources.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) pool: Pool,
    pub(super) nets: Vec<DraftNet>,
    pub(super) roms: Vec<DraftRom>,
    /// Scratch of the bitwise operations, so that none of them allocates.
    pub(super) sources: Vec<Source>,
    /// Memories by the hash of what they hold.
    rom_ids: FxHashMap<u64, Vec<RomId>>,
    owner: Owner,
    stage: u32,
    helpers: u32,
    /// First net of the present owner.
    first: u32,
}

impl Draft {
    /// Creates a draft without nets, with room for those of `operations` operations.
    pub(super) fn with_capacity(operations: usize) -> Draft {
        // Sums with bits that pass through are two nets; most others are one, of two operands in one or two pieces.
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

    /// Nets made from now on belong to `owner` and are computed in `stage`.
    pub(super) fn begin(&mut self, owner: Owner, stage: u32) {
        (self.owner, self.stage, self.helpers) = (owner, stage, 0);
        self.first = self.nets.len() as u32;
    }

    /// The stage that nets are made for.
    pub(super) fn stage(&self) -> u32 {
        self.stage
    }

    /// Makes a net.
    ///
    /// # Panics
    /// If a width is not what the cell demands: lowering is wrong.
    pub(super) fn net(&mut self, width: u32, cell: Cell) -> NetId {
        assert!(width > 0, "a net has at least one bit");
        assert!(widths_fit(width, &cell, &self.roms), "{cell:?} cannot make a net of {width} bits");
        let id = NetId(u32::try_from(self.nets.len()).expect("fewer than 2^32 nets"));
        self.helpers += 1;
        self.nets.push(DraftNet { width, stage: self.stage, owner: self.owner, helper: self.helpers, offset: 0, cell });
        id
    }

    /// Makes a net and gives it as wiring.
    pub(super) fn wire(&mut self, width: u32, cell: Cell) -> Wiring {
        let net = self.net(width, cell);
        self.whole(net)
    }

    /// All bits of a net.
    pub(super) fn whole(&mut self, net: NetId) -> Wiring {
        let width = self.nets[net.index()].width;
        self.pool.open();
        self.pool.push(Piece::Bits { net, lo: 0, width });
        self.pool.close()
    }

    /// Declares `value` to be the present owner's value, and returns the wiring that its readers should use.
    ///
    /// A value that is not one net built for it gets an [`Cell::Alias`] of its own, so that each operation is found in
    /// the HDL source by its name; constant bits stay constants, for the readers to fold. An alias refers to nets that
    /// are no aliases.
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

    /// Returns the net and its first position if wiring is a whole net and otherwise only constants.
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

    /// Returns the same bits as wiring, taken from nets that are no aliases.
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

    /// A memory with these words; equal ones are shared. Trailing zero words are dropped, since what is missing reads
    /// zero.
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
    /// Bits of an address.
    pub(super) addr_width: u32,
    /// Bits of a word.
    pub(super) word_width: u32,
    /// The words.
    pub(super) words: Vec<u64>,
}

impl DraftRom {
    fn hash(&self) -> u64 {
        FxBuildHasher.hash_one((self.addr_width, self.word_width, &self.words))
    }

    fn equals(&self, other: &DraftRom) -> bool {
        // Products are logic whatever is asked of tables, so none is shared with a table.
        self.origin == other.origin
            && (self.addr_width, self.word_width, &self.words) == (other.addr_width, other.word_width, &other.words)
    }
}

/// A one-bit piece, `count` times.
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
