//! Fixed-point arithmetic on nets, with explicit bit positions: computes all shifts, signs and widths.
//!
//! A [`Fixed`] is an exact scaled integer: bits, the position of the lowest one, and the signedness, which determines
//! the bits above the top. Positions are relative to the result: position 0 is the weight of the result's lowest bit,
//! and floor drops the positions below. So an alignment only changes the position, and a quantisation is
//! [`Draft::window`].
//!
//! Each operation computes only the required bits: bits that only one operand has are wires, and no position at or
//! above `top` is computed, as the type of the result wraps there.

use super::builder::{Draft, repeat};
use super::cell::{Cell, Piece, Wiring};
use super::options::{Compared, Fabric, Multipliers};
use super::wiring::{EMPTY, part};
use num_bigint::BigInt;

/// A scaled integer: `bits * 2^at`, the bits read as two's complement if `signed`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixed {
    /// The bits, low first. Empty for zero.
    pub(super) bits: Wiring,
    /// Position of the lowest bit.
    pub(super) at: i64,
    /// `true` if the bits are sign-extended; otherwise they are zero-extended.
    pub(super) signed: bool,
}

impl Fixed {
    /// Zero.
    pub(super) const ZERO: Fixed = Fixed { bits: EMPTY, at: 0, signed: false };

    /// Returns the first position above the bits.
    pub(super) fn top(self) -> i64 {
        self.at + i64::from(self.bits.width)
    }

    /// Returns the first position above the bits in two's complement.
    fn signed_top(self) -> i64 {
        self.extent().signed_top()
    }

    pub(super) fn is_zero(self) -> bool {
        self.bits.width == 0
    }

    /// Returns the extent of the number.
    pub(super) fn extent(self) -> Extent {
        Extent { top: self.top(), signed: self.signed }
    }

    /// Returns the number of bits at or above a position.
    pub(super) fn bits_above(self, position: i64) -> u32 {
        (self.top() - position).clamp(0, i64::from(u32::MAX)) as u32
    }
}

/// Upper end of a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// First position above the bits.
    pub(super) top: i64,
    /// `true` if the number is sign-extended.
    pub(super) signed: bool,
}

impl Extent {
    /// Returns the first position above the bits in two's complement.
    fn signed_top(self) -> i64 {
        self.top + i64::from(!self.signed)
    }

    /// Returns the extent of the number without the bits at or above `limit`.
    pub(super) fn below(self, limit: i64) -> Extent {
        if self.top <= limit { self } else { Extent { top: limit, signed: false } }
    }

    /// Returns the extent of the sum or difference of two numbers, without positions at or above `limit`.
    pub(super) fn plus(self, other: Extent, minus: bool, limit: i64) -> Extent {
        let exact = match (self.signed || other.signed, minus) {
            (false, false) => self.top.max(other.top) + 1,
            // The difference of two unsigned numbers needs a sign bit, but no additional carry bit.
            (false, true) => self.signed_top().max(other.signed_top()),
            (true, _) => self.signed_top().max(other.signed_top()) + 1,
        };
        let top = exact.min(limit);
        Extent { top, signed: (minus || self.signed || other.signed) && top == exact }
    }
}

/// A bitwise operation on two wirings of equal width.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bitwise {
    /// `a & b`.
    And,
    /// `a | b`.
    Or,
    /// `a ^ b`.
    Xor,
    /// The first operand if this one-bit wiring is set, otherwise the second.
    Select(Wiring),
}

/// Source of a run of result bits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// Wiring.
    Pass(Piece),
    /// Bits computed from two pieces; if `times` is not 1, one bit is computed and repeated.
    Compute {
        /// Bits of the first operand.
        a: Piece,
        /// Bits of the second operand.
        b: Piece,
        /// Number of repetitions.
        times: u32,
    },
}

impl Draft {
    /// Returns bits `lo .. lo + width` of a number, extended on both sides.
    pub(super) fn window(&mut self, x: Fixed, lo: i64, width: u32) -> Wiring {
        let whole = x.at == lo && x.bits.width == width;
        if whole {
            return x.bits;
        }
        self.pool.open();
        self.push_window(x, lo, width);
        self.pool.close()
    }

    fn push_window(&mut self, x: Fixed, lo: i64, width: u32) {
        let end = lo + i64::from(width);
        let below = (x.at.min(end) - lo).clamp(0, i64::from(width)) as u32;
        if x.is_zero() {
            self.pool.push_const(false, width);
            return;
        }
        self.pool.push_const(false, below);
        let (from, to) = (lo.max(x.at), end.min(x.top()));
        if from < to {
            self.pool.push_slice(x.bits, (from - x.at) as u32, (to - from) as u32);
        }
        let above = (end - lo.max(x.top())).max(0) as u32;
        if above > 0 && x.signed {
            let sign = repeat(self.pool.bit(x.bits, x.bits.width - 1), above);
            self.pool.push(sign);
        } else {
            self.pool.push_const(false, above);
        }
    }

    /// Returns the constant `value * 2^at`.
    pub(super) fn constant(&mut self, value: &BigInt, at: i64) -> Fixed {
        let negative = *value < BigInt::ZERO;
        // The bit length of the magnitude, plus a sign for a negative number; trimming removes superfluous bits.
        let width = value.bits() as u32 + u32::from(negative);
        self.pool.open();
        self.pool.push_int(value, width);
        let bits = self.pool.close();
        self.trimmed(Fixed { bits, at, signed: negative })
    }

    /// Returns the number without constant zeros at its low end and without a constant zero as its top bit.
    pub(super) fn trimmed(&mut self, x: Fixed) -> Fixed {
        let pieces = self.pool.pieces(x.bits);
        let low = match pieces.first() {
            Some(&Piece::Const { one: false, width }) => width,
            _ => 0,
        };
        if low == x.bits.width {
            return Fixed::ZERO;
        }
        let high = match pieces.last() {
            Some(&Piece::Const { one: false, width }) => width,
            _ => 0,
        };
        if low == 0 && high == 0 {
            return x;
        }
        let bits = self.pool.slice(x.bits, low, x.bits.width - low - high);
        Fixed { bits, at: x.at + i64::from(low), signed: x.signed && high == 0 }
    }

    /// Returns the number without the bits at or above `top`; the value above `top` is then meaningless.
    pub(super) fn below(&mut self, x: Fixed, top: i64) -> Fixed {
        if x.at >= top {
            return Fixed::ZERO;
        }
        if x.top() <= top {
            return x;
        }
        let bits = self.pool.slice(x.bits, 0, (top - x.at) as u32);
        Fixed { bits, at: x.at, signed: false }
    }

    /// Returns `a + b`, or `a - b`, correct at all positions below `top`.
    pub(super) fn sum(&mut self, a: Fixed, b: Fixed, minus: bool, top: i64) -> Fixed {
        let (a, b) = (self.below(a, top), self.below(b, top));
        let (a, b) = (self.trimmed(a), self.trimmed(b));
        if b.is_zero() {
            return a;
        }
        if a.is_zero() && !minus {
            return b;
        }
        if self.pool.is_const(a.bits) && self.pool.is_const(b.bits) {
            return self.constant_sum(a, b, minus);
        }
        // Below `start` only one operand has bits (`a`, or in an addition the lower one); these pass through.
        let start = if minus || a.is_zero() { b.at } else { a.at.max(b.at) };
        let lower = if minus || a.at <= b.at { a } else { b };
        let other = if minus || a.at <= b.at { b } else { a };
        let apart = lower.is_zero() || (!lower.signed && lower.top() <= start);
        let upper = if apart {
            if minus { self.negated(other, top) } else { other }
        } else {
            let end = a.extent().plus(b.extent(), minus, top);
            let width = (end.top - start) as u32;
            let (left, right) = (self.window(a, start, width), self.window(b, start, width));
            let cell = if minus { Cell::Sub { a: left, b: right } } else { Cell::Add { a: left, b: right } };
            Fixed { bits: self.wire(width, cell), at: start, signed: end.signed }
        };
        self.above_passed(lower, upper)
    }

    /// Returns `upper` joined with the bits of `lower` below it.
    pub(super) fn above_passed(&mut self, lower: Fixed, upper: Fixed) -> Fixed {
        if lower.is_zero() || lower.at >= upper.at {
            return upper;
        }
        self.pool.open();
        self.push_window(lower, lower.at, (upper.at - lower.at) as u32);
        self.pool.push_slice(upper.bits, 0, upper.bits.width);
        Fixed { bits: self.pool.close(), at: lower.at, signed: upper.signed }
    }

    /// Returns `a - b` as a comparison, if only the sign of the difference is at or above position 0 and a comparison
    /// is cheaper; otherwise `None`. The caller must not read bits below position 0 of the result.
    pub(super) fn sign_of_difference(
        &mut self,
        a: Fixed,
        b: Fixed,
        compared: Compared,
        fabric: Fabric,
    ) -> Option<Fixed> {
        let (a, b) = (self.trimmed(a), self.trimmed(b));
        let constants = [a, b].iter().filter(|x| self.pool.is_const(x.bits)).count();
        if a.is_zero() || b.is_zero() || constants > 1 {
            return None;
        }
        let compared = if constants > 0 { Compared::WithConstant } else { compared };
        let signed = a.signed || b.signed;
        let sign = if signed { a.signed_top().max(b.signed_top()) } else { a.top().max(b.top()) };
        if sign > 0 || (!a.signed && a.top() <= b.at) {
            return None;
        }
        // Bits of `a` below the lowest bit of `b` do not affect the comparison.
        let width = (sign - b.at) as u32;
        if !fabric.compares(width, compared) {
            return None;
        }
        let (left, right) = (self.window(a, b.at, width), self.window(b, b.at, width));
        let bits = self.wire(1, Cell::Less { a: left, b: right, signed });
        Some(Fixed { bits, at: 0, signed: true })
    }

    fn constant_sum(&mut self, a: Fixed, b: Fixed, minus: bool) -> Fixed {
        let at = if a.is_zero() { b.at } else { a.at.min(b.at) };
        let value = |d: &Draft, x: Fixed| match x.is_zero() {
            true => BigInt::ZERO,
            false => d.pool.const_value(x.bits, x.signed) << (x.at - at) as u64,
        };
        let (left, right) = (value(self, a), value(self, b));
        let total = if minus { left - right } else { left + right };
        self.constant(&total, at)
    }

    /// Returns `-x`, correct at all positions below `top`.
    pub(super) fn negated(&mut self, x: Fixed, top: i64) -> Fixed {
        let x = self.below(x, top);
        let x = self.trimmed(x);
        if x.is_zero() {
            return x;
        }
        if self.pool.is_const(x.bits) {
            return self.constant_sum(Fixed::ZERO, x, true);
        }
        // The negation needs one bit more: for the most negative signed number, and for the sign of an unsigned one.
        let exact = x.top() + 1;
        let end = exact.min(top);
        let width = (end - x.at) as u32;
        let a = self.window(x, x.at, width);
        Fixed { bits: self.wire(width, Cell::Neg { a }), at: x.at, signed: end == exact }
    }

    /// Returns `a * b`, correct at all positions below `top`, built as `fabric` requests.
    pub(super) fn product(&mut self, a: Fixed, b: Fixed, top: i64, fabric: Fabric) -> Fixed {
        let rows = fabric.multipliers == Multipliers::Rows;
        let (a, b) = (self.trimmed(a), self.trimmed(b));
        let at = a.at + b.at;
        if a.is_zero() || b.is_zero() || at >= top {
            return Fixed::ZERO;
        }
        let (a, b) = (Fixed { at: 0, ..a }, Fixed { at, ..b });
        for (one, other) in [(a, Fixed { at, ..b }), (b, Fixed { at, ..a })] {
            if one.bits.width == 1 {
                return self.one_bit_product(one, other, top);
            }
        }
        if self.pool.is_const(a.bits) && self.pool.is_const(b.bits) {
            let value = self.pool.const_value(a.bits, a.signed) * self.pool.const_value(b.bits, b.signed);
            return self.constant(&value, at);
        }
        for (constant, other) in [(a, b), (b, a)] {
            if self.pool.is_const(constant.bits) {
                let value = self.pool.const_value(constant.bits, constant.signed);
                if let Some(sum) = self.constant_product(Fixed { at, ..other }, &value, top, rows) {
                    return sum;
                }
            }
        }
        if let Multipliers::Blocks { longer, shorter } = fabric.multipliers
            && let Some(product) = self.tiles(a, Fixed { at: 0, ..b }, at, top, (longer, shorter))
        {
            return product;
        }
        let is_square = self.same(a, b);
        let signed = a.signed || b.signed;
        let wide = |x: Fixed| x.bits.width + u32::from(signed && !x.signed);
        let exact = wide(a) + wide(b);
        // The low bits of a product depend on the low bits of its operands only.
        let width = i64::from(exact).min(top - at) as u32;
        let (wa, wb) = (wide(a).min(width), wide(b).min(width));
        let tree = fabric.table_inputs < 6;
        let inputs = a.bits.width + if is_square { 0 } else { b.bits.width };
        let bits = if rows && inputs <= fabric.product_inputs(is_square) {
            self.product_table([a, b], is_square, width)
        } else if rows && is_square {
            self.square(Fixed { at: 0, ..a }, width, tree)
        } else if rows {
            self.rows(Fixed { at: 0, ..a }, Fixed { at: 0, ..b }, width, tree)
        } else {
            let (left, right) = (self.window(a, a.at, wa), self.window(b, b.at, wb));
            self.wire(width, Cell::Mul { a: left, b: right, signed })
        };
        Fixed { bits, at, signed: signed && width == exact }
    }

    /// Returns `true` if two numbers have the same bits, at any positions.
    fn same(&self, a: Fixed, b: Fixed) -> bool {
        a.signed == b.signed && self.pool.pieces(a.bits) == self.pool.pieces(b.bits)
    }

    /// Returns a product with a factor of one bit, which is 0 or 1, or 0 or -1 if signed.
    fn one_bit_product(&mut self, bit: Fixed, other: Fixed, top: i64) -> Fixed {
        let other = if bit.signed { self.negated(other, top) } else { self.below(other, top) };
        if other.is_zero() || self.pool.is_const(bit.bits) {
            // The number is trimmed, so a constant bit is a one.
            return other;
        }
        let zero = self.window(Fixed::ZERO, 0, other.bits.width);
        let bits = self.bitwise(Bitwise::Select(bit.bits), other.bits, zero);
        Fixed { bits, ..other }
    }

    /// Returns the result of a bitwise operation. Bits without a gate are wires; a run of equal bits is computed once.
    pub(super) fn bitwise(&mut self, op: Bitwise, a: Wiring, b: Wiring) -> Wiring {
        assert_eq!(a.width, b.width, "bitwise operands of different width");
        let op = match op {
            Bitwise::Select(sel) => match self.pool.bit(sel, 0) {
                Piece::Const { one: true, .. } => return a,
                Piece::Const { one: false, .. } => return b,
                _ => op,
            },
            other => other,
        };
        let mut sources = std::mem::take(&mut self.sources);
        self.match_up(op, a, b, &mut sources);
        let left = self.gather(&sources, |a, _| a);
        let right = self.gather(&sources, |_, b| b);
        let net = (left.width > 0).then(|| {
            let cell = match op {
                Bitwise::And => Cell::And { a: left, b: right },
                Bitwise::Or => Cell::Or { a: left, b: right },
                Bitwise::Xor if self.pool.is_const(right) => Cell::Not { a: left },
                Bitwise::Xor => Cell::Xor { a: left, b: right },
                Bitwise::Select(sel) => Cell::Mux { sel, on_true: left, on_false: right },
            };
            self.net(left.width, cell)
        });
        self.pool.open();
        let mut lo = 0;
        for source in &sources {
            match (source, net) {
                (Source::Pass(piece), _) => self.pool.push(*piece),
                (Source::Compute { a, b: _, times }, Some(net)) => {
                    let width = if *times > 1 { 1 } else { a.width() };
                    let bits = Piece::Bits { net, lo, width };
                    self.pool.push(if *times > 1 { repeat(bits, *times) } else { bits });
                    lo += width;
                }
                (Source::Compute { .. }, None) => unreachable!("a computed run has a net"),
            }
        }
        self.sources = sources;
        self.pool.close()
    }

    /// Splits two wirings of equal width into runs with one kind of source.
    fn match_up(&self, op: Bitwise, a: Wiring, b: Wiring, sources: &mut Vec<Source>) {
        sources.clear();
        let (mut ia, mut ib, mut skip_a, mut skip_b) = (0, 0, 0, 0);
        while ia < a.len {
            let (pa, pb) = (self.pool.piece(a, ia), self.pool.piece(b, ib));
            let width = (pa.width() - skip_a).min(pb.width() - skip_b);
            sources.push(self.source(op, part(pa, skip_a, width), part(pb, skip_b, width)));
            (skip_a, skip_b) = (skip_a + width, skip_b + width);
            if skip_a == pa.width() {
                (ia, skip_a) = (ia + 1, 0);
            }
            if skip_b == pb.width() {
                (ib, skip_b) = (ib + 1, 0);
            }
        }
    }

    /// Returns the source of a run of bits from two pieces of equal width.
    fn source(&self, op: Bitwise, a: Piece, b: Piece) -> Source {
        let constant = |p: Piece| match p {
            Piece::Const { one, .. } => Some(one),
            Piece::Bits { .. } | Piece::Repeat { .. } => None,
        };
        let width = a.width();
        let fixed = |one| Source::Pass(Piece::Const { one, width });
        match (op, constant(a), constant(b)) {
            (Bitwise::Xor, _, _) if a == b => return fixed(false),
            _ if a == b => return Source::Pass(a),
            (Bitwise::And, Some(false), _) | (Bitwise::And, _, Some(false)) => return fixed(false),
            (Bitwise::Or, Some(true), _) | (Bitwise::Or, _, Some(true)) => return fixed(true),
            (Bitwise::And, Some(true), _) | (Bitwise::Or | Bitwise::Xor, Some(false), _) => return Source::Pass(b),
            (Bitwise::And, _, Some(true)) | (Bitwise::Or | Bitwise::Xor, _, Some(false)) => return Source::Pass(a),
            (Bitwise::Select(sel), Some(true), Some(false)) => {
                return Source::Pass(repeat(self.pool.bit(sel, 0), width));
            }
            _ => {}
        }
        let uniform = |p: Piece| !matches!(p, Piece::Bits { .. });
        if width > 1 && uniform(a) && uniform(b) {
            Source::Compute { a: part(a, 0, 1), b: part(b, 0, 1), times: width }
        } else {
            Source::Compute { a, b, times: 1 }
        }
    }

    /// Returns one operand of the net that computes these runs; `side` selects the operand of each run.
    fn gather(&mut self, sources: &[Source], side: impl Fn(Piece, Piece) -> Piece) -> Wiring {
        self.pool.open();
        for source in sources {
            if let Source::Compute { a, b, times: _ } = *source {
                self.pool.push(side(a, b));
            }
        }
        self.pool.close()
    }

    /// Returns the complement of each bit.
    pub(super) fn complement(&mut self, a: Wiring) -> Wiring {
        if a.width == 0 {
            return a;
        }
        let ones = self.uniform(true, a.width);
        self.bitwise(Bitwise::Xor, a, ones)
    }

    /// Returns one constant bit, `width` times.
    pub(super) fn uniform(&mut self, one: bool, width: u32) -> Wiring {
        self.pool.open();
        self.pool.push_const(one, width);
        self.pool.close()
    }

    /// Returns one bit that is set if any bit is set.
    pub(super) fn any(&mut self, a: Wiring) -> Wiring {
        if self.pool.pieces(a).iter().any(|p| matches!(p, Piece::Const { one: true, .. })) {
            return self.constant(&BigInt::from(1), 0).bits;
        }
        if a.width <= 1 || self.pool.is_zero(a) {
            return self.window(Fixed { bits: a, at: 0, signed: false }, 0, 1);
        }
        self.wire(1, Cell::ReduceOr { a })
    }

    /// Returns one bit that is set if every bit is set; it is set for empty wiring.
    pub(super) fn all(&mut self, a: Wiring) -> Wiring {
        if self.pool.pieces(a).iter().any(|p| matches!(p, Piece::Const { one: false, .. })) {
            return self.window(Fixed::ZERO, 0, 1);
        }
        if self.pool.is_const(a) {
            return self.constant(&BigInt::from(1), 0).bits;
        }
        if a.width == 1 { a } else { self.wire(1, Cell::ReduceAnd { a }) }
    }
}
