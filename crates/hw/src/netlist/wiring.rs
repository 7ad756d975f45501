//! Pool of wiring pieces, with the only functions that write wiring.
//!
//! The pool normalises wiring while it is written: neighbouring slices, repeats of one bit, and equal constants merge.
//! The form is greedy from the low end: a bit joins the preceding slice if it continues the slice, otherwise the
//! preceding repeat if it repeats the bit. Equal wiring therefore has equal pieces, regardless of how it was composed.
//!
//! Wiring is written at the end of the pool, one wiring at a time, without allocations: [`Pool::open`], any number of
//! [`Pool::push`], [`Pool::close`].

use super::cell::{NetId, Piece, Wiring};
use num_bigint::BigInt;

/// All pieces of a netlist.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    pieces: Vec<Piece>,
    /// First piece of the wiring being written.
    start: usize,
    /// Width of the wiring being written, in bits.
    width: u32,
}

/// Wiring without bits.
pub(super) const EMPTY: Wiring = Wiring { start: 0, len: 0, width: 0 };

/// Returns the part of a piece that starts `skip` bits above its low end and has `width` bits.
pub(super) fn part(piece: Piece, skip: u32, width: u32) -> Piece {
    debug_assert!(width >= 1 && skip + width <= piece.width());
    match piece {
        Piece::Bits { net, lo, .. } => Piece::Bits { net, lo: lo + skip, width },
        Piece::Repeat { net, bit, .. } => bit_times(net, bit, width),
        Piece::Const { one, .. } => Piece::Const { one, width },
    }
}

/// Returns one bit of a net repeated `count` times.
pub(super) fn bit_times(net: NetId, bit: u32, count: u32) -> Piece {
    if count == 1 { Piece::Bits { net, lo: bit, width: 1 } } else { Piece::Repeat { net, bit, count } }
}

impl Pool {
    /// Creates an empty pool with room for `pieces` pieces.
    pub(super) fn with_capacity(pieces: usize) -> Pool {
        Pool { pieces: Vec::with_capacity(pieces), ..Pool::default() }
    }

    /// Returns a pool with the pieces of a finished netlist, to which more can be added.
    pub(super) fn from_pieces(pieces: Vec<Piece>) -> Pool {
        let start = pieces.len();
        Pool { pieces, start, width: 0 }
    }

    /// Returns the number of pieces.
    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Returns the pieces of some wiring.
    pub(super) fn pieces(&self, wiring: Wiring) -> &[Piece] {
        &self.pieces[wiring.start as usize..(wiring.start + wiring.len) as usize]
    }

    /// Returns one piece of some wiring.
    pub(super) fn piece(&self, wiring: Wiring, index: u32) -> Piece {
        debug_assert!(index < wiring.len);
        self.pieces[(wiring.start + index) as usize]
    }

    /// Converts the pool to its pieces.
    pub(super) fn into_pieces(self) -> Vec<Piece> {
        self.pieces
    }

    /// Begins new wiring.
    pub(super) fn open(&mut self) {
        self.start = self.pieces.len();
        self.width = 0;
    }

    /// Returns the number of bits written since [`Pool::open`].
    pub(super) fn written(&self) -> u32 {
        self.width
    }

    /// Ends the wiring that is being written, and returns it.
    ///
    /// # Panics
    /// If the number of pieces exceeds the 32-bit indices.
    pub(super) fn close(&mut self) -> Wiring {
        let start = u32::try_from(self.start).expect("fewer than 2^32 pieces of wiring");
        let len = u32::try_from(self.pieces.len() - self.start).expect("fewer than 2^32 pieces of wiring");
        let wiring = Wiring { start, len, width: self.width };
        self.open();
        wiring
    }

    /// Appends bits above those written so far; a piece without bits appends nothing.
    pub(super) fn push(&mut self, piece: Piece) {
        let width = piece.width();
        if width == 0 {
            return;
        }
        self.width += width;
        let Some(last) = self.pieces[self.start..].last().copied() else {
            self.pieces.push(piece);
            return;
        };
        let at = self.pieces.len() - 1;
        match (last, piece) {
            (Piece::Const { one: a, width: n }, Piece::Const { one: b, width: m }) if a == b => {
                self.pieces[at] = Piece::Const { one: a, width: n + m };
            }
            (Piece::Bits { net: a, lo, width: n }, Piece::Bits { net: b, lo: next, width: m }) if a == b => {
                if lo + n == next {
                    self.pieces[at] = Piece::Bits { net: a, lo, width: n + m };
                } else if n == 1 && lo == next {
                    self.pieces[at] = Piece::Repeat { net: a, bit: lo, count: 2 };
                    self.push_rest(piece, 1);
                } else {
                    self.pieces.push(piece);
                }
            }
            (Piece::Bits { net: a, lo, width: n }, Piece::Repeat { net: b, bit, count }) if a == b => {
                if lo + n == bit {
                    self.pieces[at] = Piece::Bits { net: a, lo, width: n + 1 };
                    self.pieces.push(bit_times(a, bit, count - 1));
                } else if n == 1 && lo == bit {
                    self.pieces[at] = Piece::Repeat { net: a, bit, count: count + 1 };
                } else {
                    self.pieces.push(piece);
                }
            }
            (Piece::Repeat { net: a, bit, count }, Piece::Repeat { net: b, bit: same, count: m })
                if a == b && bit == same =>
            {
                self.pieces[at] = Piece::Repeat { net: a, bit, count: count + m };
            }
            (Piece::Repeat { net: a, bit, count }, Piece::Bits { net: b, lo, .. }) if a == b && bit == lo => {
                self.pieces[at] = Piece::Repeat { net: a, bit, count: count + 1 };
                self.push_rest(piece, 1);
            }
            _ => self.pieces.push(piece),
        }
    }

    /// Appends the rest of a piece whose first `skip` bits have been merged and counted.
    fn push_rest(&mut self, piece: Piece, skip: u32) {
        let rest = piece.width() - skip;
        if rest > 0 {
            self.width -= rest;
            self.push(part(piece, skip, rest));
        }
    }

    /// Appends `count` equal constant bits.
    pub(super) fn push_const(&mut self, one: bool, count: u32) {
        self.push(Piece::Const { one, width: count });
    }

    /// Appends bits `lo .. lo + width` of other wiring.
    pub(super) fn push_slice(&mut self, wiring: Wiring, lo: u32, width: u32) {
        assert!(lo + width <= wiring.width, "bits {lo}+{width} of wiring of {} bits", wiring.width);
        let (mut skip, mut left) = (lo, width);
        for index in 0..wiring.len {
            if left == 0 {
                break;
            }
            let piece = self.piece(wiring, index);
            let have = piece.width();
            if skip >= have {
                skip -= have;
                continue;
            }
            let take = left.min(have - skip);
            self.push(part(piece, skip, take));
            skip = 0;
            left -= take;
        }
    }

    /// Appends the low `width` bits of an integer, in two's complement.
    pub(super) fn push_int(&mut self, value: &BigInt, width: u32) {
        let mut at = 0;
        while at < width {
            let one = value.bit(u64::from(at));
            let mut count = 1;
            while at + count < width && value.bit(u64::from(at + count)) == one {
                count += 1;
            }
            self.push_const(one, count);
            at += count;
        }
    }

    /// Returns bits `lo .. lo + width` of other wiring as new wiring.
    pub(super) fn slice(&mut self, wiring: Wiring, lo: u32, width: u32) -> Wiring {
        if lo == 0 && width == wiring.width {
            return wiring;
        }
        self.open();
        self.push_slice(wiring, lo, width);
        self.close()
    }

    /// Returns one bit of other wiring.
    pub(super) fn bit(&self, wiring: Wiring, bit: u32) -> Piece {
        let mut skip = bit;
        for &piece in self.pieces(wiring) {
            if skip < piece.width() {
                return part(piece, skip, 1);
            }
            skip -= piece.width();
        }
        panic!("bit {bit} of wiring of {} bits", wiring.width);
    }

    /// Returns `true` if every bit is constant; also for wiring without bits.
    pub(super) fn is_const(&self, wiring: Wiring) -> bool {
        self.pieces(wiring).iter().all(|p| matches!(p, Piece::Const { .. }))
    }

    /// Returns `true` if every bit is constant zero; also for wiring without bits.
    pub(super) fn is_zero(&self, wiring: Wiring) -> bool {
        match self.pieces(wiring) {
            [] => true,
            [Piece::Const { one: false, .. }] => true,
            // Zeros merge, so more than one piece is never all zero.
            _ => false,
        }
    }

    /// Returns the value of constant wiring.
    ///
    /// # Panics
    /// If a bit is not constant.
    pub(super) fn const_value(&self, wiring: Wiring, signed: bool) -> BigInt {
        let mut value = BigInt::ZERO;
        let mut at = 0u64;
        for &piece in self.pieces(wiring) {
            let Piece::Const { one, width } = piece else { panic!("constant wiring expected") };
            if one {
                value += ((BigInt::from(1) << width) - 1) << at;
            }
            at += u64::from(width);
        }
        if signed && wiring.width > 0 && value.bit(at - 1) {
            value -= BigInt::from(1) << at;
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn write(pool: &mut Pool, pieces: &[Piece]) -> Wiring {
        pool.open();
        pieces.iter().for_each(|&p| pool.push(p));
        pool.close()
    }

    /// Returns each bit separately: net and bit, or a constant.
    fn bits(pieces: &[Piece]) -> Vec<Result<(u32, u32), bool>> {
        pieces
            .iter()
            .flat_map(|&p| {
                (0..p.width()).map(move |i| match part(p, i, 1) {
                    Piece::Bits { net, lo, .. } => Ok((net.0, lo)),
                    Piece::Const { one, .. } => Err(one),
                    Piece::Repeat { .. } => unreachable!("one bit is no repeat"),
                })
            })
            .collect()
    }

    fn piece() -> impl Strategy<Value = Piece> {
        prop_oneof![
            (0..2u32, 0..4u32, 1..4u32).prop_map(|(n, lo, width)| Piece::Bits { net: NetId(n), lo, width }),
            (0..2u32, 0..4u32, 2..4u32).prop_map(|(n, bit, count)| Piece::Repeat { net: NetId(n), bit, count }),
            (any::<bool>(), 1..3u32).prop_map(|(one, width)| Piece::Const { one, width }),
        ]
    }

    proptest! {
        #[test]
        fn equal_bits_have_one_form(pieces in prop::collection::vec(piece(), 0..8)) {
            let mut pool = Pool::default();
            let whole = write(&mut pool, &pieces);
            let singles: Vec<_> = pieces.iter().flat_map(|&p| (0..p.width()).map(move |i| part(p, i, 1))).collect();
            let bitwise = write(&mut pool, &singles);
            prop_assert_eq!(pool.pieces(whole), pool.pieces(bitwise));
            prop_assert_eq!(bits(pool.pieces(whole)), bits(&pieces));
            prop_assert_eq!(whole.width as usize, bits(&pieces).len());
            if whole.width > 2 {
                let upper = pool.slice(whole, 1, whole.width - 2);
                prop_assert_eq!(bits(pool.pieces(upper)), &bits(&pieces)[1..whole.width as usize - 1]);
            }
        }
    }

    #[test]
    fn sign_extension_reads_as_slice_and_repeat() {
        let mut pool = Pool::default();
        let net = NetId(0);
        let w = write(&mut pool, &[Piece::Bits { net, lo: 0, width: 8 }, Piece::Repeat { net, bit: 7, count: 4 }]);
        assert_eq!(pool.pieces(w), [Piece::Bits { net, lo: 0, width: 8 }, Piece::Repeat { net, bit: 7, count: 4 }]);
        let top = pool.slice(w, 7, 5);
        assert_eq!(pool.pieces(top), [Piece::Repeat { net, bit: 7, count: 5 }]);
    }

    #[test]
    fn constants_of_any_width() {
        let mut pool = Pool::default();
        let value = (BigInt::from(-5)) << 70u32;
        pool.open();
        pool.push_int(&value, 80);
        let w = pool.close();
        assert_eq!((pool.const_value(w, true), pool.is_zero(w), pool.is_const(w)), (value, false, true));
    }
}
