//! Detection of register bits that need no separate flip-flop.
//!
//! A bit is *constant* if its power-on value, its reset value and all loaded values are this constant. A bit *equals*
//! an earlier bit if both have equal power-on values, resets, enables and next values. (An undefined value before the
//! first load may be any value.) Both properties follow by induction over the cycles. The search uses the current
//! draft; in a new draft, where readers use the constant or the earlier bit, it may find more such bits.

use super::super::cell::{NetId, Piece, Wiring};
use super::super::wiring::{Pool, part};
use super::draw::Drawn;
use rustc_hash::FxHashMap;

/// Source of a bit.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Bit {
    Const(bool),
    Of(NetId, u32),
}

/// Properties that make two register bits equal.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    d: Bit,
    enable: Option<u32>,
    reset: Option<(u32, Bit)>,
    init: Option<Bit>,
}

/// Returns equivalent bits for each register's readers; `None` if this draft already uses these bits.
pub(super) fn find(drawn: &mut Drawn) -> Option<Vec<Vec<Piece>>> {
    let mut first: FxHashMap<Key, (NetId, u32)> = FxHashMap::default();
    let mut conditions: FxHashMap<Vec<Piece>, u32> = FxHashMap::default();
    let mut scratch = Pool::with_capacity(0);
    let mut all = Vec::with_capacity(drawn.loads.len());
    for at in 0..drawn.loads.len() {
        let (net, load) = drawn.loads[at];
        let d = bits(drawn, load.d);
        let init = load.init.map(|init| bits(drawn, init));
        let mut number = |drawn: &mut Drawn, condition: Wiring| {
            let condition = drawn.draft.resolve(condition);
            let next = conditions.len() as u32;
            *conditions.entry(drawn.draft.pool.pieces(condition).to_vec()).or_insert(next)
        };
        let enable = load.enable.map(|enable| number(drawn, enable));
        let reset = load.reset.map(|(when, value)| (number(drawn, when), bits(drawn, value)));
        scratch.open();
        for (lo, &d) in (0..).zip(&d) {
            let init = init.as_ref().map(|bits| bits[lo as usize]);
            let reset = reset.as_ref().map(|(when, bits)| (*when, bits[lo as usize]));
            let own = Bit::Of(net, lo);
            let shown = match constant(d, own, [init, reset.map(|r| r.1)]) {
                Some(one) => Piece::Const { one, width: 1 },
                None => {
                    let (net, lo) = *first.entry(Key { d, enable, reset, init }).or_insert((net, lo));
                    Piece::Bits { net, lo, width: 1 }
                }
            };
            scratch.push(shown);
        }
        let shown = scratch.close();
        all.push(scratch.pieces(shown).to_vec());
    }
    (all != drawn.shown).then_some(all)
}

/// Returns the constant value of a register bit that loads `d` and has the power-on and reset values `others`; `None`
/// if the bit is not constant.
fn constant(d: Bit, own: Bit, others: [Option<Bit>; 2]) -> Option<bool> {
    let mut value = match d {
        Bit::Const(one) => Some(one),
        // The bit keeps its value.
        _ if d == own => None,
        Bit::Of(..) => return None,
    };
    for other in others.into_iter().flatten() {
        let Bit::Const(one) = other else { return None };
        if *value.get_or_insert(one) != one {
            return None;
        }
    }
    Some(value.unwrap_or(false))
}

/// Returns each bit of some wiring, with aliases resolved.
fn bits(drawn: &mut Drawn, wiring: Wiring) -> Vec<Bit> {
    let resolved = drawn.draft.resolve(wiring);
    let pieces = drawn.draft.pool.pieces(resolved);
    let each = |&piece: &Piece| {
        (0..piece.width()).map(move |k| match part(piece, k, 1) {
            Piece::Const { one, .. } => Bit::Const(one),
            Piece::Bits { net, lo, .. } | Piece::Repeat { net, bit: lo, .. } => Bit::Of(net, lo),
        })
    };
    pieces.iter().flat_map(each).collect()
}
