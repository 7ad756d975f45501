//! Multiplication from adder rows, for devices or users without DSPs.
//!
//! One factor is recoded into digits -2, -1, 0, 1, 2 (A. D. Booth 1951; O. L. MacSorley, *High-speed arithmetic in
//! binary computers*, Proc. IRE 1961), and one row is added for every two bits of this factor. Each bit of a row is a
//! function of two bits of the other factor and three bits of the recoded factor. Together with the accumulated bit,
//! these are exactly the six inputs of a LUT before a carry chain: M. Kumm, S. Abbas, P. Zipf, *An Efficient Softcore
//! Multiplier Architecture for Xilinx FPGAs*, ARITH 2015. A row therefore costs one LUT per bit, including the
//! selection, if rows are added one after the other; in a tree, every second row would need additional LUTs. Four-input
//! LUTs are too small for the selection: every row needs separate LUTs, and a tree of rows, which is faster, is not
//! larger.
//!
//! A negative multiple is the complement plus a carry into the row's lowest position. The carry enters through one
//! additional position below, where both operands have the digit's sign bit.
//!
//! A constant factor uses canonical signed digits (G. W. Reitwiesner 1960): one addition for each digit except the
//! first.

use super::arith::{Bitwise, Fixed};
use super::builder::{Draft, Origin, repeat};
use super::cell::{Cell, Piece, Wiring};
use super::wiring::EMPTY;
use num_bigint::BigInt;

/// Maximum number of digits of a constant factor that is decomposed into sums if DSPs are available.
const FEW_DIGITS: usize = 3;

/// Returns the width of a number in two's complement, in bits.
fn signed_width(x: Fixed) -> u32 {
    x.bits.width + u32::from(!x.signed)
}

/// Returns the number of bits of the adders of a tree of `rows` rows of `bits` bits.
fn tree_adders(rows: u32, bits: u32) -> u32 {
    let high = rows / 2;
    if high == 0 { 0 } else { tree_adders(rows - high, bits) + tree_adders(high, bits) + 2 * high + bits }
}

/// Returns the positions of the rows of a product whose bits from `width` on are unused.
fn places(recoded: Fixed, width: u32) -> impl Iterator<Item = u32> {
    (0..signed_width(recoded).div_ceil(2)).map(|row| 2 * row).take_while(move |&lo| lo < width)
}

impl Draft {
    /// Returns the low `width` bits of `a * b`; both factors must have position 0. With `tree`, the rows are added in a
    /// tree, otherwise one after the other.
    pub(super) fn rows(&mut self, a: Fixed, b: Fixed, width: u32, tree: bool) -> Wiring {
        let count = |recoded: Fixed| signed_width(recoded).div_ceil(2);
        let cost = |x: Fixed, recoded: Fixed| {
            let (rows, bits) = (count(recoded), signed_width(x) + 1);
            let area = if tree { 2 * rows * bits + tree_adders(rows, bits) } else { rows * bits };
            // Many short rows save little area and have a long delay.
            (2 * rows > 3 * count(x), area, rows)
        };
        let (x, recoded) = if cost(b, a) < cost(a, b) { (b, a) } else { (a, b) };
        if tree {
            return self.tree_of_rows(x, recoded, width);
        }
        // A factor of two unsigned bits takes two rows without recoding: the first row has separate LUTs, the LUTs of
        // the sum contain the second.
        for (x, pair) in [(a, b), (b, a)] {
            if pair.bits.width == 2 && !pair.signed {
                let [low, high] = [0, 1].map(|k| self.masked(x, pair, k));
                let total = self.onto(low, high, i64::from(width));
                return self.window(total, 0, width);
            }
        }
        self.chain_of_rows(x, recoded, width)
    }

    /// Returns `x * 2^bit` if bit `bit` of `select` is set, otherwise 0.
    fn masked(&mut self, x: Fixed, select: Fixed, bit: u32) -> Fixed {
        let select = self.pool.slice(select.bits, bit, 1);
        // Includes the sign bits that the sum reads, so that the selection applies to the whole number.
        let bits = self.window(x, 0, x.bits.width + if x.signed { 2 } else { 0 });
        let zero = self.window(Fixed::ZERO, 0, bits.width);
        Fixed { bits: self.bitwise(Bitwise::Select(select), bits, zero), at: i64::from(bit), signed: x.signed }
    }

    fn chain_of_rows(&mut self, x: Fixed, recoded: Fixed, width: u32) -> Wiring {
        let x_width = signed_width(x);
        let mut total = Fixed::ZERO;
        for lo in places(recoded, width) {
            // The partial sum is `x` times a signed number of `lo` bits.
            let sum_width = (x_width + 2).min(width - lo);
            let (bits, minus) = self.multiple(x, recoded, lo, (x_width + 1).min(sum_width));
            let plain = self.is_zero_bit(minus);
            let left = self.window(total, i64::from(lo), sum_width);
            let sum = if total.bits.width > 0 {
                let not_minus = self.complement(minus);
                let complement = if plain { self.complement(bits) } else { self.complemented_if(not_minus, bits) };
                let complement = self.window(Fixed { bits: complement, at: 0, signed: true }, 0, sum_width);
                self.less_complement(left, complement, not_minus)
            } else {
                let row = Fixed { bits: self.complemented_if(minus, bits), at: 0, signed: true };
                let right = self.window(row, 0, sum_width);
                if plain {
                    right
                } else {
                    let (a, b) = (self.joined(minus, left), self.joined(minus, right));
                    let with_carry = self.wire(sum_width + 1, Cell::Add { a, b });
                    self.pool.slice(with_carry, 1, sum_width)
                }
            };
            let done = self.window(total, 0, lo);
            total = Fixed { bits: self.joined(done, sum), at: 0, signed: true };
        }
        self.window(total, 0, width)
    }

    /// Returns `total + row + carry` with the width of `total`, as a subtraction. `complement` is the complement of
    /// `row`, `borrow` that of `carry`.
    ///
    /// In a carry chain, one operand bypasses the LUTs, and the other operand is only an input of the LUTs. For a sum,
    /// Yosys chooses the roles of the operands by their shape (`alumacc`), and a row that bypasses the LUTs needs an
    /// additional LUT for each of its bits. For a difference, the subtrahend is always an input of the LUTs. The carry
    /// enters through one additional position below.
    fn less_complement(&mut self, total: Wiring, complement: Wiring, borrow: Wiring) -> Wiring {
        let zero = self.uniform(false, 1);
        let (a, b) = (self.joined(zero, total), self.joined(borrow, complement));
        let with_carry = self.wire(total.width + 1, Cell::Sub { a, b });
        self.pool.slice(with_carry, 1, total.width)
    }

    /// Returns the sum of all rows, added in a tree. The carry of a negative multiple uses the two free positions below
    /// the next row; the carry of the last row is a separate number.
    fn tree_of_rows(&mut self, x: Fixed, recoded: Fixed, width: u32) -> Wiring {
        let x_width = signed_width(x);
        let mut rows = Vec::new();
        let mut below = None;
        for lo in places(recoded, width) {
            let (bits, minus) = self.multiple(x, recoded, lo, (x_width + 1).min(width - lo));
            let bits = self.complemented_if(minus, bits);
            let row = Fixed { bits, at: i64::from(lo), signed: true };
            rows.push(match below.replace(minus) {
                Some(carry) => {
                    let carry = Fixed { bits: carry, at: row.at - 2, signed: false };
                    let carry = self.window(carry, row.at - 2, 2);
                    Fixed { bits: self.joined(carry, bits), at: row.at - 2, signed: true }
                }
                None => row,
            });
        }
        if let (Some(carry), Some(last)) = (below, places(recoded, width).last())
            && !self.is_zero_bit(carry)
        {
            rows.push(Fixed { bits: carry, at: i64::from(last), signed: false });
        }
        let count = places(recoded, width).count();
        let total = self.tree(&rows, 0, width, &|end| i64::from(2 * end.min(count) as u32 + x_width));
        self.window(total, 0, width)
    }

    /// Returns the sum of rows modulo `2^width`, recursively by halves; `from` is the index of the first row. A sum of
    /// the rows before index `end` is a signed number that ends at position `top(end)`.
    fn tree(&mut self, rows: &[Fixed], from: usize, width: u32, top: &impl Fn(usize) -> i64) -> Fixed {
        if rows.len() < 2 {
            return rows.first().copied().unwrap_or(Fixed::ZERO);
        }
        let (low, high) = rows.split_at(rows.len().div_ceil(2));
        let low_sum = self.tree(low, from, width, top);
        let high_sum = self.tree(high, from + low.len(), width, top);
        let sum = self.sum(low_sum, high_sum, false, i64::from(width));
        let top = top(from + rows.len());
        if top >= sum.top() {
            return sum;
        }
        Fixed { bits: self.window(sum, sum.at, (top - sum.at) as u32), at: sum.at, signed: true }
    }

    /// Returns the low `width` bits of `x * x`, with half of the row bits of a product; `x` must have position 0.
    ///
    /// With bit `b` of `x` at index `i`, and `s` the part of `x` above bit `i`, the square is the sum of `4^i b (4 s +
    /// 1)` over all `i`: each row contains only bits above its own (folding, as in every squarer; K. E. Wires, M. J.
    /// Schulte, L. P. Marquette, P. I. Balzola, *Combined unsigned and two's complement squarers*, Asilomar 1999). The
    /// selection of a row is located before the carry chain. For a signed number, `s` is signed too, so no row is
    /// subtracted; the negative weight of the top bit has a positive square.
    pub(super) fn square(&mut self, x: Fixed, width: u32, tree: bool) -> Wiring {
        let mut rows = Vec::new();
        for bit in 0..x.bits.width.min(width.div_ceil(2)) {
            let room = width - 2 * bit;
            let above = x.bits.width - bit - 1;
            let shown = above.min(room.saturating_sub(2));
            let one = self.pool.slice(x.bits, bit, 1);
            let rest = self.pool.slice(x.bits, bit + 1, shown);
            let mask = self.repeated(one, shown);
            let rest = self.bitwise(Bitwise::And, rest, mask);
            let low = self.window(Fixed { bits: one, at: 0, signed: false }, 0, room.min(2));
            let bits = self.joined(low, rest);
            rows.push(Fixed { bits, at: i64::from(2 * bit), signed: x.signed && shown > 0 });
        }
        let total = if tree {
            self.tree(&rows, 0, width, &|_| i64::MAX)
        } else {
            rows.into_iter().fold(Fixed::ZERO, |total, row| self.sum(total, row, false, i64::from(width)))
        };
        self.window(total, 0, width)
    }

    /// Returns `total + row`, correct at all positions below `top`, with the row as an input of the carry chain's LUTs.
    fn onto(&mut self, total: Fixed, row: Fixed, top: i64) -> Fixed {
        let (total, row) = (self.below(total, top), self.below(row, top));
        if total.is_zero() || row.is_zero() || (!total.signed && total.top() <= row.at) {
            return self.sum(total, row, false, top);
        }
        let end = total.extent().plus(row.extent(), false, top);
        let width = (end.top - row.at) as u32;
        // The complement of a number is a signed number.
        let one = self.uniform(true, 1);
        let bits = self.complement(row.bits);
        let bits = if row.signed { bits } else { self.joined(bits, one) };
        let complement = Fixed { bits, at: row.at, signed: true };
        let (left, complement) = (self.window(total, row.at, width), self.window(complement, row.at, width));
        let upper = Fixed { bits: self.less_complement(left, complement, one), at: row.at, signed: end.signed };
        self.above_passed(total, upper)
    }

    /// Returns the low `width` bits of the product, or of the square of the first factor, from a table of all products.
    /// This is the smallest and fastest form if one LUT of the device can read all bits of both factors
    /// ([`super::options::Fabric::product_inputs`]).
    pub(super) fn product_table(&mut self, factors: [Fixed; 2], is_square: bool, width: u32) -> Wiring {
        let [a, b] = factors;
        let number = |x: Fixed, bits: i64| {
            if x.signed && bits >> (x.bits.width - 1) == 1 { bits - (1 << x.bits.width) } else { bits }
        };
        let (addr, split) = if is_square { (a.bits, 0) } else { (self.joined(a.bits, b.bits), a.bits.width) };
        let words = (0i64..1 << addr.width).map(|address| {
            let (first, second) =
                if is_square { (address, address) } else { (address & ((1 << split) - 1), address >> split) };
            (number(a, first) * number(b, second)) as u64 & (u64::MAX >> (64 - width))
        });
        let words: Vec<u64> = words.collect();
        let ever = words.iter().fold(0, |all, word| all | word);
        let rom = self.rom(Origin::Product, addr.width, width, words);
        let word = self.wire(width, Cell::Rom { rom, addr });
        // The second bit of a square is never set.
        self.pool.open();
        for bit in 0..width {
            if ever >> bit & 1 == 1 { self.pool.push_slice(word, bit, 1) } else { self.pool.push_const(false, 1) }
        }
        self.pool.close()
    }

    /// Returns the multiple of `x` that the digit at bit `lo` of `recoded` selects, without the digit's sign, in
    /// `width` bits. Also returns the bit that is set if the digit is negative.
    fn multiple(&mut self, x: Fixed, recoded: Fixed, lo: u32, width: u32) -> (Wiring, Wiring) {
        let digit = Fixed { at: 1, ..recoded };
        let [below, low, high] = [0, 1, 2].map(|k| self.window(digit, i64::from(lo + k), 1));
        let once = self.bitwise(Bitwise::Xor, below, low);
        let differ = self.bitwise(Bitwise::Xor, low, high);
        let single = self.window(x, 0, width);
        let double = self.window(Fixed { at: 1, ..x }, 0, width);
        let twice = self.repeated(differ, width);
        let double = self.bitwise(Bitwise::And, double, twice);
        (self.bitwise(Bitwise::Select(once), single, double), high)
    }

    /// Returns the complement of `x` if the bit is set, otherwise `x`.
    fn complemented_if(&mut self, bit: Wiring, x: Wiring) -> Wiring {
        let flip = self.repeated(bit, x.width);
        self.bitwise(Bitwise::Xor, x, flip)
    }

    /// Returns `x * constant`, correct at all positions below `top`, as sums; `None` if the constant has more than
    /// [`FEW_DIGITS`] digits and `all` is not set.
    pub(super) fn constant_product(&mut self, x: Fixed, constant: &BigInt, top: i64, all: bool) -> Option<Fixed> {
        let digits = signed_digits(constant);
        if digits.len() > FEW_DIGITS && !all {
            return None;
        }
        // An added digit comes first, so that negative digits can be subtracted from it.
        let first = digits.iter().position(|d| !d.1);
        let Some(first) = first else {
            let magnitude = self.constant_product(x, &-constant, top, true)?;
            return Some(self.negated(magnitude, top));
        };
        let placed = |(shift, _): (i64, bool)| Fixed { at: x.at + shift, ..x };
        let mut total = placed(digits[first]);
        for (k, &digit) in digits.iter().enumerate() {
            if k != first {
                total = self.sum(total, placed(digit), digit.1, top);
            }
        }
        Some(total)
    }

    fn is_zero_bit(&self, bit: Wiring) -> bool {
        matches!(self.pool.bit(bit, 0), Piece::Const { one: false, .. })
    }

    /// Returns the concatenation of `high` and `low`, with `low` in the low bits.
    fn joined(&mut self, low: Wiring, high: Wiring) -> Wiring {
        if low.width == 0 {
            return high;
        }
        self.pool.open();
        self.pool.push_slice(low, 0, low.width);
        self.pool.push_slice(high, 0, high.width);
        self.pool.close()
    }

    /// Returns one bit repeated `count` times.
    fn repeated(&mut self, bit: Wiring, count: u32) -> Wiring {
        if count == 0 {
            return EMPTY;
        }
        let piece = repeat(self.pool.bit(bit, 0), count);
        self.pool.open();
        self.pool.push(piece);
        self.pool.close()
    }
}

/// Returns the canonical signed digits of a number, lowest first: position, and `true` for a negative digit.
fn signed_digits(value: &BigInt) -> Vec<(i64, bool)> {
    let (mut rest, mut place, mut digits) = (value.clone(), 0, Vec::new());
    while rest != BigInt::ZERO {
        if rest.bit(0) {
            let minus = rest.bit(1);
            digits.push((place, minus));
            rest += if minus { 1 } else { -1 };
        }
        rest >>= 1;
        place += 1;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_add_up_and_no_two_are_neighbours() {
        for value in -300i64..=300 {
            let digits = signed_digits(&BigInt::from(value));
            let sum: i64 = digits.iter().map(|&(place, minus)| if minus { -(1 << place) } else { 1 << place }).sum();
            assert_eq!(sum, value);
            assert!(digits.windows(2).all(|w| w[1].0 > w[0].0 + 1), "{value}: {digits:?}");
        }
    }
}
