//! Demanded bits of a draft and the last stages that read them, computed backward from the outputs.
//!
//! A bit is *demanded* if a cell with demanded bits reads it. Bit-parallel cells (aliases, mux, and, or, xor, not,
//! inputs) need the same bits of their operands. Because of carries, a sum, difference or product needs every lower bit
//! too. A bit that a later stage reads is *held* in registers until that stage; the last stage that reads it is
//! recorded for each bit.
//!
//! A later stage reads a value through its alias, so a value and its shifted, quantised or sign-extended copies share
//! the registers of their common bits.

use super::builder::Draft;
use super::cell::{Cell, NetId, Piece, Wiring};
use super::wiring::part;
use rustc_hash::FxHashMap;
use std::collections::BinaryHeap;

/// Selection of bits of wiring.
#[derive(Clone, Copy, Debug)]
pub(super) enum Select {
    /// The lowest bits, by their number.
    Low(u32),
    /// The positions of a net's demanded bits.
    Of(NetId),
}

/// Next state of a state machine's register: constants and conditions as in [`Cell::Register`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Next value.
    pub(super) d: Wiring,
    /// Clock enable, one bit; the register keeps its value while this bit is 0.
    pub(super) enable: Option<Wiring>,
    /// Reset condition, one bit, active high, and the reset value.
    pub(super) reset: Option<(Wiring, Wiring)>,
    /// Power-on value.
    pub(super) init: Option<Wiring>,
}

/// Marks a net without held bits.
const NOT_HELD: u32 = u32::MAX;

/// Data of a net, compact so that following an operand touches one cache line.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Demanded bits of a net of at most 64 bits.
    bits: u64,
    /// Stage in which the net is computed.
    stage: u32,
    /// First word of the net in [`Demand::words`], or [`INLINE`].
    base: u32,
}

/// Marks a net whose bits fit into [`Known::bits`].
const INLINE: u32 = u32::MAX;

/// Demanded and held bits of every net of a draft.
#[derive(Debug)]
pub(super) struct Demand {
    known: Vec<Known>,
    /// Demanded bits of wider nets, 64 per word; each net begins a new word.
    words: Vec<u64>,
    /// Last stage that reads the net by its own name across a stage boundary, also if the net is an alias; 0 if none
    /// does.
    reach: Vec<u32>,
    /// First entry of each net in `last`, or [`NOT_HELD`].
    held: Vec<u32>,
    /// For each bit of a held net, the last stage that reads the bit; 0 if only its own stage does.
    last: Vec<u32>,
}

impl Demand {
    /// Computes the demand of the outputs, which are read in stage `reader`.
    pub(super) fn new(draft: &Draft, outputs: &[Wiring], reader: u32) -> Demand {
        let mut words = 0u32;
        let mut known = Vec::with_capacity(draft.nets.len());
        for net in &draft.nets {
            let base = if net.width <= 64 { INLINE } else { words };
            known.push(Known { bits: 0, stage: net.stage, base });
            if base != INLINE {
                words = words.checked_add(net.width.div_ceil(64)).expect("fewer than 2^38 bits");
            }
        }
        let mut demand = Demand {
            known,
            words: vec![0; words as usize],
            reach: vec![0; draft.nets.len()],
            held: vec![NOT_HELD; draft.nets.len()],
            last: Vec::new(),
        };
        for &output in outputs {
            demand.read(draft, output, Select::Low(output.width()), reader);
        }
        for index in (0..draft.nets.len() as u32).rev() {
            demand.visit(draft, NetId(index));
        }
        demand
    }

    /// Computes the demand of a state machine's outputs through its registers and their feedback. All nets belong to
    /// one stage, so no bit is held.
    pub(super) fn new_machine(draft: &Draft, outputs: &[Wiring], loads: &[(NetId, Load)]) -> Demand {
        let mut demand = Demand::new(draft, &[], 1);
        let load_of: FxHashMap<NetId, &Load> = loads.iter().map(|(net, load)| (*net, load)).collect();
        // Demand only grows, so a net is visited again exactly if it has more demanded bits than at its last visit.
        let mut seen = vec![0u32; draft.nets.len()];
        let mut waiting = BinaryHeap::new();
        let read = |demand: &mut Demand, waiting: &mut BinaryHeap<NetId>, wiring: Wiring, select: Select| {
            demand.read(draft, wiring, select, 1);
            waiting.extend(draft.pool.pieces(wiring).iter().filter_map(|p| p.net()));
        };
        for &output in outputs {
            read(&mut demand, &mut waiting, output, Select::Low(output.width()));
        }
        while let Some(id) = waiting.pop() {
            let net = &draft.nets[id.index()];
            if demand.rank(id, net.width) == seen[id.index()] {
                continue;
            }
            demand.visit(draft, id);
            seen[id.index()] = demand.rank(id, net.width);
            match load_of.get(&id) {
                None => net.cell.for_each_operand(|x| {
                    waiting.extend(draft.pool.pieces(x).iter().filter_map(|p| p.net()));
                }),
                Some(load) => {
                    read(&mut demand, &mut waiting, load.d, Select::Of(id));
                    for condition in [load.enable, load.reset.map(|r| r.0)].into_iter().flatten() {
                        read(&mut demand, &mut waiting, condition, Select::Low(1));
                    }
                }
            }
        }
        demand
    }

    fn visit(&mut self, draft: &Draft, id: NetId) {
        let net = &draft.nets[id.index()];
        let Some((lowest, highest)) = self.hull(id, net.width) else { return };
        let (mask, stage, low) = (Select::Of(id), net.stage, Select::Low(highest + 1));
        match net.cell {
            // The read bits of a port are contiguous.
            Cell::Input { .. } => self.set(id, lowest, highest + 1 - lowest),
            Cell::Alias { x: a } | Cell::Not { a } => self.read(draft, a, mask, stage),
            Cell::And { a, b } | Cell::Or { a, b } | Cell::Xor { a, b } => {
                self.read(draft, a, mask, stage);
                self.read(draft, b, mask, stage);
            }
            Cell::Mux { sel, on_true, on_false } => {
                self.read(draft, sel, Select::Low(1), stage);
                self.read(draft, on_true, mask, stage);
                self.read(draft, on_false, mask, stage);
            }
            Cell::Neg { a } => {
                self.set(id, 0, highest + 1);
                self.read(draft, a, low, stage);
            }
            Cell::Add { a, b } | Cell::Sub { a, b } | Cell::Mul { a, b, signed: _ } => {
                self.set(id, 0, highest + 1);
                self.read(draft, a, low, stage);
                self.read(draft, b, low, stage);
            }
            Cell::Three { a, b, c, minus: _ } => {
                self.set(id, 0, highest + 1);
                for x in [a, b, c] {
                    self.read(draft, x, low, stage);
                }
            }
            Cell::ReduceOr { a } | Cell::ReduceAnd { a } => self.read(draft, a, Select::Low(a.width()), stage),
            Cell::Less { a, b, signed: _ } => {
                self.read(draft, a, Select::Low(a.width()), stage);
                self.read(draft, b, Select::Low(b.width()), stage);
            }
            Cell::Rom { rom: _, addr } => {
                // A memory can lose columns at both ends, but not in between.
                self.set(id, lowest, highest + 1 - lowest);
                self.read(draft, addr, Select::Low(addr.width()), stage);
            }
            // [`Demand::new_machine`] follows the next value of a register.
            Cell::Register { .. } => {}
        }
    }

    /// Marks selected bits of an operand as read in `stage`.
    fn read(&mut self, draft: &Draft, wiring: Wiring, select: Select, stage: u32) {
        let mut offset = 0;
        for &piece in draft.pool.pieces(wiring) {
            let (mut from, end) = (offset, offset + piece.width());
            offset = end;
            if matches!(piece, Piece::Const { .. }) {
                continue;
            }
            while let Some((start, stop)) = self.run(select, from, end) {
                self.read_piece(draft, part(piece, start - (end - piece.width()), stop - start), stage);
                from = stop;
            }
        }
    }

    fn read_piece(&mut self, draft: &Draft, piece: Piece, stage: u32) {
        let (net, lo, width) = match piece {
            Piece::Bits { net, lo, width } => (net, lo, width),
            Piece::Repeat { net, bit, .. } => (net, bit, 1),
            Piece::Const { .. } => return,
        };
        if self.known[net.index()].stage == stage {
            self.set(net, lo, width);
            return;
        }
        let reach = &mut self.reach[net.index()];
        *reach = (*reach).max(stage);
        let Cell::Alias { x } = draft.nets[net.index()].cell else { return self.hold(draft, net, lo, width, stage) };
        for_each_part(draft, x, lo, width, |piece| match piece {
            Piece::Bits { net, lo, width } => self.hold(draft, net, lo, width, stage),
            Piece::Repeat { net, bit, .. } => self.hold(draft, net, bit, 1, stage),
            Piece::Const { .. } => {}
        });
    }

    /// Marks bits of a net that is not an alias as read in a later stage.
    fn hold(&mut self, draft: &Draft, net: NetId, lo: u32, width: u32, stage: u32) {
        self.set(net, lo, width);
        let held = &mut self.held[net.index()];
        if *held == NOT_HELD {
            *held = u32::try_from(self.last.len()).expect("fewer than 2^32 bits are held");
            self.last.resize(self.last.len() + draft.nets[net.index()].width as usize, 0);
        }
        let first = (*held + lo) as usize;
        for last in &mut self.last[first..first + width as usize] {
            *last = (*last).max(stage);
        }
    }

    fn set(&mut self, net: NetId, lo: u32, width: u32) {
        let known = &mut self.known[net.index()];
        if known.base == INLINE {
            known.bits |= (u64::MAX >> (64 - width)) << lo;
            return;
        }
        let (mut at, end) = (lo, lo + width);
        while at < end {
            let (word, bit) = (at / 64, at % 64);
            let count = (64 - bit).min(end - at);
            self.words[(known.base + word) as usize] |= (u64::MAX >> (64 - count)) << bit;
            at += count;
        }
    }

    fn word(&self, net: NetId, word: u32) -> u64 {
        let known = self.known[net.index()];
        if known.base == INLINE { known.bits } else { self.words[(known.base + word) as usize] }
    }

    /// Returns the first and the last demanded bit; `None` if no bit is demanded.
    fn hull(&self, net: NetId, width: u32) -> Option<(u32, u32)> {
        let words = width.div_ceil(64);
        let lowest = (0..words).find(|&w| self.word(net, w) != 0)?;
        let highest = (0..words).rev().find(|&w| self.word(net, w) != 0)?;
        Some((
            lowest * 64 + self.word(net, lowest).trailing_zeros(),
            highest * 64 + 63 - self.word(net, highest).leading_zeros(),
        ))
    }

    /// Returns the next run of selected bits within `from .. end` as a half-open range; `None` if no selected bit
    /// remains.
    pub(super) fn run(&self, select: Select, from: u32, end: u32) -> Option<(u32, u32)> {
        match select {
            Select::Low(count) => (from < end.min(count)).then(|| (from, end.min(count))),
            Select::Of(net) => {
                let start = self.next(net, from, end, true)?;
                let stop = self.next(net, start, end, false).unwrap_or(end);
                Some((start, stop))
            }
        }
    }

    /// Returns the next bit within `from .. end` that is demanded; with `demanded` false, the next bit that is not
    /// demanded. Returns `None` if no such bit exists.
    fn next(&self, net: NetId, from: u32, end: u32, demanded: bool) -> Option<u32> {
        let mut at = from;
        while at < end {
            let word = self.word(net, at / 64);
            let wanted = (if demanded { word } else { !word }) >> (at % 64);
            if wanted != 0 {
                let found = at + wanted.trailing_zeros();
                return (found < end).then_some(found);
            }
            at = (at / 64 + 1) * 64;
        }
        None
    }

    /// Returns the number of selected bits among the lowest `width`.
    pub(super) fn count(&self, select: Select, width: u32) -> u32 {
        match select {
            Select::Low(count) => count.min(width),
            Select::Of(net) => self.rank(net, width),
        }
    }

    /// Returns the number of demanded bits below `bit`, which is the position of `bit` after removal of all other bits.
    pub(super) fn rank(&self, net: NetId, bit: u32) -> u32 {
        let whole = (0..bit / 64).map(|w| self.word(net, w).count_ones()).sum::<u32>();
        if bit.is_multiple_of(64) {
            return whole;
        }
        whole + (self.word(net, bit / 64) & !(u64::MAX << (bit % 64))).count_ones()
    }

    /// Returns one more than the highest demanded bit; 0 if no bit is demanded.
    pub(super) fn top(&self, net: NetId, width: u32) -> u32 {
        self.hull(net, width).map_or(0, |(_, highest)| highest + 1)
    }

    /// Returns `true` if any bit is demanded.
    pub(super) fn is_alive(&self, net: NetId, width: u32) -> bool {
        self.hull(net, width).is_some()
    }

    /// Returns the last stage that reads the net across a stage boundary by its own name; 0 if none does.
    pub(super) fn reach(&self, net: NetId) -> u32 {
        self.reach[net.index()]
    }

    /// Returns the index of a net's first bit among the bits of all held nets; `None` if no bit of the net is held.
    pub(super) fn held(&self, net: NetId) -> Option<u32> {
        let first = self.held[net.index()];
        (first != NOT_HELD).then_some(first)
    }

    /// Returns the last stage that reads a bit of a held net. `index` counts bits from [`Demand::held`] on.
    pub(super) fn last(&self, index: u32) -> u32 {
        self.last[index as usize]
    }

    /// Returns the number of bits of all held nets.
    pub(super) fn held_bits(&self) -> usize {
        self.last.len()
    }
}

/// Calls `visit` with the pieces of bits `lo .. lo + width` of wiring.
pub(super) fn for_each_part(draft: &Draft, wiring: Wiring, lo: u32, width: u32, mut visit: impl FnMut(Piece)) {
    let (mut skip, mut left) = (lo, width);
    for &piece in draft.pool.pieces(wiring) {
        let have = piece.width();
        if left == 0 {
            break;
        }
        if skip >= have {
            skip -= have;
            continue;
        }
        let take = left.min(have - skip);
        visit(part(piece, skip, take));
        skip = 0;
        left -= take;
    }
}
