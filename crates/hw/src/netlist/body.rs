//! Finished nets of a draft: cells with only the bits that have readers, and operands that refer to finished nets.
//!
//! This module does not depend on the purpose of registers: a pipeline ([`super::pipeline`]) moves bits from register
//! to register, a state machine ([`super::machine`]) has registers among the draft's nets. Both use this module for
//! operands.

use super::builder::{Draft, Origin, Owner, repeat};
use super::cell::{Cell, Net, NetId, Piece, PortId, Rom, RomId, Wiring};
use super::demand::{Demand, Select, for_each_part};
use super::describe::Describer;
use super::wiring::{Pool, part};
use alir_core::diag::counted;
use rustc_hash::FxHashMap;

/// Current position of a bit: index of a finished net, and the bit of that net.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) net: u32,
    pub(super) bit: u32,
}

/// Marks a draft net that has no finished net.
const NOWHERE: u32 = u32::MAX;

/// Finished form of a draft net, as its readers need it.
#[derive(Clone, Copy)]
struct LoweredNet {
    net: u32,
    stage: u32,
    /// Bit of the draft net that is the lowest bit of the finished net, if the remaining bits are contiguous; otherwise
    /// [`SCATTERED`].
    lowest: u32,
}

/// Marks a net whose remaining bits are not contiguous.
const SCATTERED: u32 = u32::MAX;

/// Columns of a draft memory: index of the memory, first column, number of columns.
type Columns = (RomId, u32, u32);

/// Finished nets, wiring and memories.
pub(super) struct Body<'a> {
    draft: &'a Draft,
    demand: &'a Demand,
    /// Finished net of each draft net.
    made: Vec<LoweredNet>,
    /// Current position of each bit of the nets that later stages read.
    pub(super) places: Vec<Place>,
    pub(super) nets: Vec<Net>,
    pub(super) pool: Pool,
    pub(super) roms: Vec<Rom>,
    /// Finished memories, by draft memory and kept columns.
    rom_ids: FxHashMap<Columns, RomId>,
    /// First net of the draft that reads each memory, in any stage; the memory is named after this net.
    first_readers: FxHashMap<Columns, NetId>,
    /// `true` for nets whose signedness is that of a value of the program; [`Body::infer_signs`] sets all others.
    typed: Vec<bool>,
}

impl<'a> Body<'a> {
    /// Returns a body without finished nets.
    pub(super) fn new(draft: &'a Draft, demand: &'a Demand) -> Body<'a> {
        Body {
            made: draft.nets.iter().map(|n| LoweredNet { net: NOWHERE, stage: n.stage, lowest: SCATTERED }).collect(),
            places: vec![Place { net: NOWHERE, bit: 0 }; demand.held_bits()],
            draft,
            demand,
            nets: Vec::with_capacity(draft.nets.len() + draft.nets.len() / 8),
            pool: Pool::with_capacity(draft.pool.len()),
            roms: Vec::new(),
            rom_ids: FxHashMap::default(),
            first_readers: first_readers(draft, demand),
            typed: Vec::new(),
        }
    }

    /// Appends a finished net.
    pub(super) fn push(&mut self, net: Net) -> NetId {
        let id = NetId(self.nets.len() as u32);
        self.nets.push(net);
        id
    }

    /// Sets the signedness of a net that has a value of the program.
    pub(super) fn set_sign(&mut self, net: NetId, signed: bool) {
        self.nets[net.index()].signed = signed;
        self.typed.resize(self.nets.len(), false);
        self.typed[net.index()] = true;
    }

    /// Returns `true` if the highest bit of a draft net is read.
    pub(super) fn keeps_top(&self, id: NetId) -> bool {
        let width = self.draft.nets[id.index()].width;
        self.demand.run(Select::Of(id), width - 1, width).is_some()
    }

    /// Infers the signedness of nets without a type of the program, from their readers and their cells.
    pub(super) fn infer_signs(&mut self) {
        let mut extended = vec![false; self.nets.len()];
        for (index, net) in self.nets.iter().enumerate() {
            let pieces = &self.pool;
            // The net that drives the highest bit of a signed value is signed too.
            if let Cell::Alias { x } = net.cell
                && net.signed
                && self.typed.get(index) == Some(&true)
                && let Some(&Piece::Bits { net: read, lo, width }) = pieces.pieces(x).last()
                && lo + width == self.nets[read.index()].width
            {
                extended[read.index()] = true;
            }
            net.cell.for_each_operand(|wiring| {
                if let Some(read) = sign_extended(&self.nets, pieces.pieces(wiring)) {
                    extended[read.index()] = true;
                }
            });
        }
        for (index, &is_extended) in extended.iter().enumerate() {
            if self.typed.get(index) == Some(&true) {
                continue;
            }
            let of = |wiring: Wiring| match self.pool.pieces(wiring) {
                &[Piece::Bits { net, lo: 0, width }] => {
                    let read = &self.nets[net.index()];
                    read.signed && read.width == width
                }
                pieces => sign_extended(&self.nets, pieces).is_some(),
            };
            let is_signed = match self.nets[index].cell {
                Cell::Add { a, b } | Cell::Sub { a, b } => of(a) || of(b),
                Cell::Three { a, b, c, minus: _ } => of(a) || of(b) || of(c),
                Cell::Neg { a: x } | Cell::Alias { x } | Cell::Register { d: x, .. } => of(x),
                Cell::Mul { signed, .. } => signed,
                _ => false,
            };
            self.nets[index].signed = is_extended || is_signed;
        }
    }

    /// Returns wiring of all bits of a finished net.
    pub(super) fn whole(&mut self, net: NetId) -> Wiring {
        self.pool.open();
        self.pool.push(Piece::Bits { net, lo: 0, width: self.nets[net.index()].width });
        self.pool.close()
    }

    /// Creates the finished form of a draft net that has readers. `port` returns the port and the lowest bit of an
    /// input element; `rom_name` returns the name of a memory from its first reader. [`Body::complete`] sets a
    /// register's next value and conditions later, because these may come from later nets.
    pub(super) fn cell(
        &mut self,
        id: NetId,
        port: impl Fn(u32) -> (PortId, u32),
        rom_name: impl FnOnce(NetId) -> String,
        name: (u32, u32),
        comment: (u32, u32),
    ) -> NetId {
        let net = self.draft.nets[id.index()];
        let stage = net.stage;
        let (bits, (lowest, width)) = (Select::Of(id), demanded_columns(self.demand, id, net.width));
        // In cells with carries, the demanded bits are the lowest ones.
        let low = Select::Low(width);
        let cell = match net.cell {
            Cell::Input { port: element, lo: _ } => {
                let (port, lsb) = port(element.0);
                Cell::Input { port, lo: lsb + lowest }
            }
            Cell::Alias { x } => Cell::Alias { x: self.carry(x, bits, stage) },
            Cell::Not { a } => Cell::Not { a: self.carry(a, bits, stage) },
            Cell::And { a, b } => Cell::And { a: self.carry(a, bits, stage), b: self.carry(b, bits, stage) },
            Cell::Or { a, b } => Cell::Or { a: self.carry(a, bits, stage), b: self.carry(b, bits, stage) },
            Cell::Xor { a, b } => Cell::Xor { a: self.carry(a, bits, stage), b: self.carry(b, bits, stage) },
            Cell::Mux { sel, on_true, on_false } => Cell::Mux {
                sel: self.carry(sel, Select::Low(1), stage),
                on_true: self.carry(on_true, bits, stage),
                on_false: self.carry(on_false, bits, stage),
            },
            Cell::Neg { a } => Cell::Neg { a: self.carry(a, low, stage) },
            Cell::Add { a, b } => Cell::Add { a: self.carry(a, low, stage), b: self.carry(b, low, stage) },
            Cell::Sub { a, b } => Cell::Sub { a: self.carry(a, low, stage), b: self.carry(b, low, stage) },
            Cell::Three { a, b, c, minus } => {
                let [a, b, c] = [a, b, c].map(|x| self.carry(x, low, stage));
                Cell::Three { a, b, c, minus }
            }
            Cell::Mul { a, b, signed } => {
                Cell::Mul { a: self.carry(a, low, stage), b: self.carry(b, low, stage), signed }
            }
            Cell::Less { a, b, signed } => {
                let all = Select::Low(a.width());
                Cell::Less { a: self.carry(a, all, stage), b: self.carry(b, all, stage), signed }
            }
            Cell::ReduceOr { a } => Cell::ReduceOr { a: self.carry(a, Select::Low(a.width()), stage) },
            Cell::ReduceAnd { a } => Cell::ReduceAnd { a: self.carry(a, Select::Low(a.width()), stage) },
            Cell::Rom { rom, addr } => {
                let addr = self.carry(addr, Select::Low(addr.width()), stage);
                Cell::Rom { rom: self.rom((rom, lowest, width), rom_name), addr }
            }
            Cell::Register { .. } => net.cell,
        };
        let (operation, output) = match net.owner {
            Owner::Op(operation) => (Some(operation), None),
            Owner::Output(output) => (None, Some(output)),
            Owner::Input(_) | Owner::Object(_) => (None, None),
        };
        let made = self.push(Net { width, signed: false, cell, stage, operation, output, name, comment });
        let is_run = self.demand.run(bits, lowest, net.width).is_some_and(|(start, stop)| stop - start == width);
        self.made[id.index()] = LoweredNet { net: made.0, stage, lowest: if is_run { lowest } else { SCATTERED } };
        let Some(first) = self.demand.held(id) else { return made };
        let mut place = 0;
        let mut from = 0;
        while let Some((start, stop)) = self.demand.run(bits, from, net.width) {
            for bit in start..stop {
                self.places[(first + bit) as usize] = Place { net: made.0, bit: place };
                place += 1;
            }
            from = stop;
        }
        made
    }

    /// Replaces the cell of a finished net.
    pub(super) fn complete(&mut self, made: NetId, cell: Cell) {
        self.nets[made.index()].cell = cell;
    }

    /// Returns the finished net of a draft net; `None` if it does not exist.
    pub(super) fn made(&self, id: NetId) -> Option<NetId> {
        let net = self.made[id.index()].net;
        (net != NOWHERE).then_some(NetId(net))
    }

    /// Returns selected bits of draft wiring, from the nets or registers that provide them in `stage`.
    pub(super) fn carry(&mut self, wiring: Wiring, select: Select, stage: u32) -> Wiring {
        self.pool.open();
        self.push_carried(wiring, select, stage);
        self.pool.close()
    }

    pub(super) fn push_carried(&mut self, wiring: Wiring, select: Select, stage: u32) {
        let draft = self.draft;
        let mut offset = 0;
        for &piece in draft.pool.pieces(wiring) {
            let (begin, end) = (offset, offset + piece.width());
            offset = end;
            let mut from = begin;
            while let Some((start, stop)) = self.demand.run(select, from, end) {
                self.push_piece(part(piece, start - begin, stop - start), stage);
                from = stop;
            }
        }
    }

    fn push_piece(&mut self, piece: Piece, stage: u32) {
        let draft = self.draft;
        let (net, lo, width) = match piece {
            Piece::Const { .. } => return self.pool.push(piece),
            Piece::Bits { net, lo, width } => (net, lo, width),
            Piece::Repeat { net, bit, .. } => (net, bit, 1),
        };
        let times = piece.width() / width;
        let made = self.made[net.index()];
        if made.stage == stage {
            let lo = if made.lowest == SCATTERED { self.demand.rank(net, lo) } else { lo - made.lowest };
            let bits = Piece::Bits { net: NetId(made.net), lo, width };
            return self.pool.push(if times > 1 { repeat(bits, times) } else { bits });
        }
        match draft.nets[net.index()].cell {
            Cell::Alias { x } => for_each_part(draft, x, lo, width, |part| self.push_held(part, times)),
            _ => self.push_held(Piece::Bits { net, lo, width }, times),
        }
    }

    /// Appends bits of a net that is not an alias, from their current positions, each repeated `times` times.
    fn push_held(&mut self, piece: Piece, times: u32) {
        let (net, lo, width, times) = match piece {
            Piece::Const { one, width } => return self.pool.push_const(one, width * times),
            Piece::Bits { net, lo, width } => (net, lo, width, times),
            Piece::Repeat { net, bit, count } => (net, bit, 1, times * count),
        };
        let first = self.demand.held(net).expect("what a later stage reads is held") + lo;
        for index in first..first + width {
            let Place { net, bit } = self.places[index as usize];
            let bit = Piece::Bits { net: NetId(net), lo: bit, width: 1 };
            self.pool.push(repeat(bit, times));
        }
    }

    /// Returns the finished memory with some columns of a draft memory; creates it if it does not exist.
    fn rom(&mut self, columns: Columns, name: impl FnOnce(NetId) -> String) -> RomId {
        if let Some(&made) = self.rom_ids.get(&columns) {
            return made;
        }
        let (id, lowest, width) = columns;
        let rom = &self.draft.roms[id.0 as usize];
        let mask = u64::MAX >> (64 - width);
        let words: Vec<u64> = rom.words.iter().map(|&w| (w >> lowest) & mask).collect();
        let made = RomId(self.roms.len() as u32);
        let name = name(self.first_readers[&columns]);
        let is_table = rom.origin == Origin::Table;
        let what = if is_table { "table" } else { "products of all factors" };
        let [count, bits] = [(words.len(), "word"), (width as usize, "bit")].map(|(n, noun)| counted(n, noun));
        let comment = format!("{what}: {count} of {bits}");
        self.roms.push(Rom { name, addr_width: rom.addr_width, word_width: width, words, is_table, comment });
        self.rom_ids.insert(columns, made);
        made
    }
}

/// Returns the lowest demanded bit of a draft net of some width, and the number of demanded bits.
fn demanded_columns(demand: &Demand, id: NetId, width: u32) -> (u32, u32) {
    let bits = Select::Of(id);
    (demand.run(bits, 0, width).map_or(0, |run| run.0), demand.count(bits, width))
}

/// Returns the first net that reads each memory.
fn first_readers(draft: &Draft, demand: &Demand) -> FxHashMap<Columns, NetId> {
    let mut first = FxHashMap::default();
    // Most programs have no tables.
    for (index, net) in (0..).zip(&draft.nets).filter(|_| !draft.roms.is_empty()) {
        if let Cell::Rom { rom, .. } = net.cell {
            let (lowest, width) = demanded_columns(demand, NetId(index), net.width);
            first.entry((rom, lowest, width)).or_insert(NetId(index));
        }
    }
    first
}

/// Returns the net that the pieces sign-extend: the highest bit of the net follows its upper bits. Returns `None`
/// without a sign extension.
fn sign_extended(nets: &[Net], pieces: &[Piece]) -> Option<NetId> {
    let [.., Piece::Bits { net, lo, width }, above] = *pieces else { return None };
    let top = lo + width - 1;
    let is_sign = match above {
        Piece::Repeat { net: read, bit, .. } => (read, bit) == (net, top),
        Piece::Bits { net: read, lo, width: 1 } => (read, lo) == (net, top),
        _ => false,
    };
    (is_sign && top + 1 == nets[net.index()].width).then_some(net)
}

/// Returns the comment on a draft net of a program, of which only the demanded bits are kept.
pub(super) fn remark(describer: &mut Describer<'_>, draft: &Draft, demand: &Demand, id: NetId) -> (u32, u32) {
    let net = draft.nets[id.index()];
    if net.helper == 0 {
        let run = move |from| demand.run(Select::Of(id), from, net.width);
        let kept = std::iter::successors(run(0), move |r| run(r.1))
            .map(|(start, stop)| (start + net.offset, stop + net.offset));
        let width = demand.count(Select::Of(id), net.width);
        let partial = width < describer.value_width(net.owner);
        return describer.comment(net.owner, partial.then_some(kept));
    }
    // The alias with the whole value follows. If that alias has no reader, the helper gets a comment instead.
    let alias = draft.nets.get(id.index() + 1).filter(|n| n.owner == net.owner && n.helper == 0);
    match alias {
        Some(alias) if !demand.is_alive(NetId(id.0 + 1), alias.width) => describer.helper_comment(net.owner),
        _ => describer.no_comment(),
    }
}
