//! Lowering of the operations on one lane.

use super::{Lowering, Operand};
use crate::rows::{Direction, Lane, Sign};
use alir_core::ir::{BinaryBits, Table, ValueId};
use alir_core::num::Interval;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use std::ops::RangeInclusive;

/// Number of bits that one look-up table counts: the inputs of a LUT on AMD's and Intel's devices.
const COUNTED: u32 = 6;
/// Widths of values whose ones are counted by look-up tables. Wider values use sums of bits, which linear forms prove
/// immediately; look-up tables are proved for all their values (128 bits would take 11 s).
const COUNTED_WIDTHS: RangeInclusive<u32> = 10..=32;

impl Lowering<'_> {
    /// Builds an operation on a lane, with a result of `width` bits.
    pub(super) fn lane(&mut self, lane: Lane, width: u32, comparison: u8, operands: &[Operand]) -> ValueId {
        let a = operands[0];
        let b = operands.get(1).copied().unwrap_or(a);
        let c = operands.get(2).copied().unwrap_or(a);
        let exact = match lane {
            Lane::Move | Lane::Truncate => a.v,
            Lane::Add => self.logic.add(a.v, b.v),
            Lane::Sub => self.logic.sub(a.v, b.v),
            Lane::AddCarry => {
                let (sum, carry) = (self.logic.add(a.v, b.v), self.logic.bit(c.v, 0));
                self.logic.add(sum, carry)
            }
            Lane::SubBorrow => {
                let (difference, borrow) = (self.logic.sub(a.v, b.v), self.logic.bit(c.v, 0));
                self.logic.sub(difference, borrow)
            }
            Lane::And => self.bits(BinaryBits::And, a, b, width),
            Lane::Nand => {
                let v = self.bits(BinaryBits::And, a, b, width);
                self.logic.not(v)
            }
            Lane::AndNot => {
                let not = self.complement(b, width);
                self.bits(BinaryBits::And, a, not, width)
            }
            Lane::Or => self.bits(BinaryBits::Or, a, b, width),
            Lane::Nor => {
                let v = self.bits(BinaryBits::Or, a, b, width);
                self.logic.not(v)
            }
            Lane::OrNot => {
                let not = self.complement(b, width);
                self.bits(BinaryBits::Or, a, not, width)
            }
            Lane::Xor => self.bits(BinaryBits::Xor, a, b, width),
            Lane::Xnor => {
                let v = self.bits(BinaryBits::Xor, a, b, width);
                self.logic.not(v)
            }
            Lane::Neg => {
                let zero = self.logic.zero();
                self.logic.sub(zero, a.v)
            }
            Lane::Not => self.logic.not(a.v),
            Lane::Min(sign) | Lane::Max(sign) => {
                let (a, b) = (self.read(a.v, width, sign), self.read(b.v, width, sign));
                let less = self.logic.less(a, b);
                let (if_set, if_clear) = if matches!(lane, Lane::Min(_)) { (a, b) } else { (b, a) };
                self.logic.mux(less, if_set, if_clear)
            }
            Lane::Mul => self.logic.mul(a.v, b.v),
            Lane::MulHigh(sign) => {
                let (a, b) = (self.read(a.v, width, sign), self.read(b.v, width, sign));
                let product = self.logic.mul(a, b);
                self.logic.shifted_right(product, width)
            }
            Lane::Div(sign) => self.divided(a.v, b.v, width, sign).0,
            Lane::Rem(sign) => self.divided(a.v, b.v, width, sign).1,
            Lane::Shift(direction) => self.shifted(a.v, width, b, direction),
            Lane::Funnel(direction) => self.funnel((a.v, b.v), width, c, direction),
            Lane::Compare => self.compared(comparison, a.v, b.v, width),
            Lane::Select => {
                let bit = self.logic.any(a.v);
                self.logic.choose(bit, b.v, c.v, width)
            }
            Lane::ByteSwap => {
                let pieces: Vec<_> =
                    (0..width / 8).map(|k| (self.logic.slice(a.v, width - 8 - 8 * k, 8), 8 * k)).collect();
                self.logic.concatenated(&pieces)
            }
            Lane::TrailingZeros => self.zeros(a.v, width, false),
            Lane::LeadingZeros => self.zeros(a.v, width, true),
            Lane::Ones => self.ones(a.v, width),
            Lane::BitReverse => {
                let pieces: Vec<_> = (0..width).map(|k| (self.logic.bit(a.v, width - 1 - k), k)).collect();
                self.logic.concatenated(&pieces)
            }
            Lane::Rotate(direction) => self.rotated(a.v, width, b, direction),
            Lane::Extract => {
                let (offset, count) = (self.number(b), self.number(c));
                self.logic.slice(a.v, offset.min(width), count.min(width.saturating_sub(offset)))
            }
            Lane::Deposit => {
                let (offset, count) = (self.number(b), self.number(c));
                let kept = self.logic.slice(a.v, 0, count.min(width.saturating_sub(offset)));
                self.logic.shifted_left(kept, offset.min(width))
            }
            Lane::Extend(Sign::Signed) => self.logic.signed(a.v, a.width),
            Lane::Extend(Sign::Unsigned) => self.logic.unsigned(a.v, a.width),
        };
        self.logic.within(exact, width)
    }

    /// Counts the set bits as a sum of look-up tables for six bits each.
    ///
    /// A LUT with six inputs computes one bit of a count of six bits, for which single-bit adders need three levels.
    /// Synthesis merges such adders, but does not derive the look-up tables (Yosys, UltraScale+, tables against adders:
    /// 15 and 26 LUTs for 16 bits, 49 and 85 for 32 bits; ECP5, 32 bits: 88 and 96 LUT4; iCE40: 68 and 56). For up to
    /// nine bits, two tables and an adder are larger than the adders.
    fn ones(&mut self, v: ValueId, width: u32) -> ValueId {
        let mut counts = Vec::new();
        for low in (0..width).step_by(COUNTED as usize) {
            let group = COUNTED.min(width - low);
            let all = self.logic.slice(v, low, group);
            let is_any = self.logic.range(all) == (BigInt::ZERO, BigInt::from((1u32 << group) - 1));
            if !COUNTED_WIDTHS.contains(&width) || group < 3 || !is_any {
                counts.extend((low..low + group).map(|k| self.logic.bit(v, k)));
            } else {
                let table = match self.counters.get(&group) {
                    Some(&table) => table,
                    None => {
                        let entries = (0..1u32 << group).map(|word| word.count_ones() as i32).collect();
                        let out = Interval::new(0, i64::from(group), 0);
                        let table = Table { entries, out, hash: String::new(), inp_width: i64::from(group) };
                        let table = self.logic.builder.table(table);
                        self.counters.insert(group, table);
                        table
                    }
                };
                counts.push(self.logic.lookup(all, table));
            }
        }
        self.logic.sum(&counts)
    }

    /// Returns the number of an immediate operand; the largest number if it does not fit 32 bits.
    fn number(&self, operand: Operand) -> u32 {
        self.logic.known(operand.v).and_then(|value| value.to_u32()).unwrap_or(u32::MAX)
    }

    fn bits(&mut self, op: BinaryBits, a: Operand, b: Operand, width: u32) -> ValueId {
        let (a, b) = self.logic.alike(a.v, b.v, width);
        self.logic.bitwise(op, a, b)
    }

    fn complement(&mut self, a: Operand, width: u32) -> Operand {
        let v = self.logic.signed(a.v, width);
        Operand { v: self.logic.not(v), width }
    }

    /// Returns a bit that is 1 if a comparison holds: the bit of its code for the relation of the operands.
    fn compared(&mut self, code: u8, a: ValueId, b: ValueId, width: u32) -> ValueId {
        let sign = if code & 8 == 0 { Sign::Signed } else { Sign::Unsigned };
        let (x, y) = (self.read(a, width, sign), self.read(b, width, sign));
        match code & 7 {
            0 => self.logic.zero(),
            1 => {
                let differ = self.logic.differ(a, b, width);
                self.logic.inverted(differ)
            }
            2 => self.logic.less(x, y),
            3 => {
                let greater = self.logic.less(y, x);
                self.logic.inverted(greater)
            }
            4 => self.logic.less(y, x),
            5 => {
                let less = self.logic.less(x, y);
                self.logic.inverted(less)
            }
            6 => self.logic.differ(a, b, width),
            _ => self.logic.constant(1),
        }
    }

    /// Counts the zeros below the lowest set bit, or above the highest set bit; returns the width if no bit is set.
    fn zeros(&mut self, v: ValueId, width: u32, leading: bool) -> ValueId {
        let bits: Vec<ValueId> =
            (0..width).map(|k| self.logic.bit(v, if leading { width - 1 - k } else { k })).collect();
        // Padding with ones limits the count to the width.
        let mut padded = bits;
        let one = self.logic.constant(1);
        padded.resize((width as usize + 1).next_power_of_two(), one);
        self.first_one(&padded).1
    }

    /// Returns a bit that is 1 if any bit is set, and the number of zeros before the first set bit.
    fn first_one(&mut self, bits: &[ValueId]) -> (ValueId, ValueId) {
        if let [bit] = bits {
            return (*bit, self.logic.zero());
        }
        let half = bits.len() / 2;
        let (first, first_count) = self.first_one(&bits[..half]);
        let (second, second_count) = self.first_one(&bits[half..]);
        let low = self.logic.mux(first, first_count, second_count);
        let high = self.logic.inverted(first);
        let count = self.logic.concatenated(&[(low, 0), (high, half.trailing_zeros())]);
        (self.logic.bitwise(BinaryBits::Or, first, second), count)
    }

    /// Builds a funnel shift of two words: returns the low word of a right shift, or the high word of a left shift.
    fn funnel(&mut self, (a, b): (ValueId, ValueId), width: u32, count: Operand, direction: Direction) -> ValueId {
        let high = match direction {
            Direction::RightSigned => self.logic.signed(a, width),
            _ => self.logic.unsigned(a, width),
        };
        let (low, high) = (self.logic.unsigned(b, width), self.logic.shifted_left(high, width));
        let both = self.logic.add(low, high);
        let moved = self.shifted(both, 2 * width, count, direction);
        let from = if direction == Direction::Left { width } else { 0 };
        self.logic.slice(moved, from, width)
    }
}
