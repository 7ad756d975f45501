//! Integer arithmetic on ALIR values for the lowering. Every function folds constants and computes exact ranges.
//!
//! Each value is an integer (step 1) with a known range. Slices, shifts by constants and sums of disjoint bits are
//! wires in the hardware.

use alir_core::ir::{BinaryBits, Builder, Op, TableId, Term, UnaryBits, ValueId};
use alir_core::num::{Code, Interval, Kif};
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive, Zero};
use rustc_hash::FxHashMap;

/// Integers in a program that is being built.
pub(super) struct Logic {
    pub(super) builder: Builder,
    constants: FxHashMap<Code, ValueId>,
}

/// Width in bits of the parts of constants that are wider than 64 bits.
const PART: u32 = 62;

fn power(bits: u32) -> BigInt {
    BigInt::one() << bits
}

/// Returns the narrowest type of a range: unsigned if it has no negative numbers.
fn kif(low: &BigInt, high: &BigInt) -> Kif {
    Interval::new(low, high, 0).kif()
}

impl Logic {
    pub(super) fn new(builder: Builder) -> Logic {
        Logic { builder, constants: FxHashMap::default() }
    }

    pub(super) fn push(&mut self, op: Op, low: BigInt, high: BigInt) -> ValueId {
        let origin = self.builder.nodes().len() as u32;
        let interval = Interval::new(low, high, 0);
        self.builder.push_checked(alir_core::ir::Node { op, interval, latency: 0.0, cost: 0.0, origin })
    }

    /// Returns the smallest and the largest number that a value may have.
    pub(super) fn range(&self, v: ValueId) -> (BigInt, BigInt) {
        let interval = &self.builder.nodes()[v.index()].interval;
        (interval.min.to_big(), interval.max.to_big())
    }

    fn kif(&self, v: ValueId) -> Kif {
        self.builder.nodes()[v.index()].interval.kif()
    }

    pub(super) fn constant(&mut self, value: impl Into<BigInt>) -> ValueId {
        let value = value.into();
        let code = Code::from(&value);
        if let Some(&known) = self.constants.get(&code) {
            return known;
        }
        let op = match code.to_i64() {
            Some(_) => Op::Const { value: code.clone() },
            None => {
                // ALIR files represent constants of up to 64 bits, so a wider constant is composed from parts.
                let low = self.constant(&value & (power(PART) - 1));
                let high = self.constant(&value >> PART);
                Op::Add { a: low, b: high, shift: PART as i32 }
            }
        };
        let v = self.push(op, value.clone(), value);
        self.constants.insert(code, v);
        v
    }

    pub(super) fn zero(&mut self) -> ValueId {
        self.constant(0)
    }

    /// Returns the number of a constant value; `None` for other values.
    pub(super) fn known(&self, v: ValueId) -> Option<BigInt> {
        let interval = &self.builder.nodes()[v.index()].interval;
        (interval.min == interval.max).then(|| interval.min.to_big())
    }

    /// Returns the value modulo `2^width`, as an unsigned number.
    pub(super) fn unsigned(&mut self, v: ValueId, width: u32) -> ValueId {
        self.slice(v, 0, width)
    }

    /// Returns the value modulo `2^width`, in two's complement.
    pub(super) fn signed(&mut self, v: ValueId, width: u32) -> ValueId {
        let half = power(width - 1);
        let (low, high) = self.range(v);
        if low >= -&half && high < half {
            return v;
        }
        if low == high {
            let pattern = alir_core::num::wrap(&low, Kif { signed: true, int: width as i32 - 1, frac: 0 });
            return self.constant(pattern);
        }
        self.push(Op::Quantise { x: v, shift: 0 }, -&half, half - 1)
    }

    /// Returns the value if it has at most `width` bits, otherwise its low bits.
    pub(super) fn within(&mut self, v: ValueId, width: u32) -> ValueId {
        if self.kif(v).width() <= width { v } else { self.signed(v, width) }
    }

    /// Returns bits `low` to `low + width - 1` of the two's complement representation, as an unsigned number.
    pub(super) fn slice(&mut self, v: ValueId, low: u32, width: u32) -> ValueId {
        if width == 0 {
            return self.zero();
        }
        let modulus = power(width);
        let (min, max) = self.range(v);
        let (min, max) = (min >> low, max >> low);
        if min == max {
            let pattern = ((min % &modulus) + &modulus) % &modulus;
            return self.constant(pattern);
        }
        if !min.is_negative_number() && max < modulus {
            return if low == 0 { v } else { self.push(Op::Quantise { x: v, shift: -(low as i32) }, min, max) };
        }
        self.push(Op::Quantise { x: v, shift: -(low as i32) }, BigInt::ZERO, modulus - 1)
    }

    pub(super) fn bit(&mut self, v: ValueId, at: u32) -> ValueId {
        self.slice(v, at, 1)
    }

    /// Returns `floor(v / 2^places)`.
    pub(super) fn shifted_right(&mut self, v: ValueId, places: u32) -> ValueId {
        let (min, max) = self.range(v);
        let (min, max) = (min >> places, max >> places);
        match (places, min == max) {
            (0, _) => v,
            (_, true) => self.constant(min),
            _ => self.push(Op::Quantise { x: v, shift: -(places as i32) }, min, max),
        }
    }

    /// Returns `v * 2^places`.
    pub(super) fn shifted_left(&mut self, v: ValueId, places: u32) -> ValueId {
        let (min, max) = self.range(v);
        match (places, min == max) {
            (0, _) => v,
            (_, true) => self.constant(min << places),
            _ => self.push(Op::Quantise { x: v, shift: places as i32 }, min << places, max << places),
        }
    }

    pub(super) fn add(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let ((a_min, a_max), (b_min, b_max)) = (self.range(a), self.range(b));
        match (a_min == a_max, b_min == b_max) {
            (true, true) => self.constant(a_min + b_min),
            (true, _) if a_min.is_zero() => b,
            (_, true) if b_min.is_zero() => a,
            (true, _) => self.plus(b, &a_min),
            (_, true) => self.plus(a, &b_min),
            _ => self.push(Op::Add { a, b, shift: 0 }, a_min + b_min, a_max + b_max),
        }
    }

    fn plus(&mut self, v: ValueId, constant: &BigInt) -> ValueId {
        let (min, max) = self.range(v);
        if Code::from(constant).to_i64().is_none() {
            let b = self.constant(constant.clone());
            return self.push(Op::Add { a: v, b, shift: 0 }, min + constant, max + constant);
        }
        self.push(Op::AddConst { x: v, value: Code::from(constant), shift: 0 }, min + constant, max + constant)
    }

    pub(super) fn sub(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let ((a_min, a_max), (b_min, b_max)) = (self.range(a), self.range(b));
        if a == b {
            return self.zero();
        }
        match (a_min == a_max, b_min == b_max) {
            (true, true) => self.constant(a_min - b_min),
            (true, _) if a_min.is_zero() => self.push(Op::Neg { x: b }, -b_max, -b_min),
            (_, true) if b_min.is_zero() => a,
            (_, true) => self.plus(a, &-b_min),
            _ => self.push(Op::Sub { a, b, shift: 0 }, a_min - b_max, a_max - b_min),
        }
    }

    /// Returns `-v - 1`.
    pub(super) fn not(&mut self, v: ValueId) -> ValueId {
        let (min, max) = self.range(v);
        if min == max {
            return self.constant(-min - 1);
        }
        self.push(Op::Unary { op: UnaryBits::Not, x: v }, -max - 1, -min - 1)
    }

    /// Returns `1 - bit`.
    pub(super) fn inverted(&mut self, bit: ValueId) -> ValueId {
        match self.known(bit) {
            Some(value) => self.constant(1 - value),
            None => self.push(Op::Unary { op: UnaryBits::Not, x: bit }, BigInt::ZERO, BigInt::one()),
        }
    }

    /// Returns a bitwise operation. If either operand may be negative, both must have signed types.
    pub(super) fn bitwise(&mut self, op: BinaryBits, a: ValueId, b: ValueId) -> ValueId {
        let (x, y) = (self.known(a), self.known(b));
        match (op, &x, &y) {
            (BinaryBits::And, Some(x), Some(y)) => return self.constant(x & y),
            (BinaryBits::Or, Some(x), Some(y)) => return self.constant(x | y),
            (BinaryBits::Xor, Some(x), Some(y)) => return self.constant(x ^ y),
            (BinaryBits::And, Some(zero), _) | (BinaryBits::And, _, Some(zero)) if zero.is_zero() => {
                return self.zero();
            }
            (BinaryBits::Or | BinaryBits::Xor, Some(zero), _) if zero.is_zero() => return b,
            (BinaryBits::Or | BinaryBits::Xor, _, Some(zero)) if zero.is_zero() => return a,
            (BinaryBits::And, Some(ones), _) if *ones == BigInt::from(-1) => return b,
            (BinaryBits::And, _, Some(ones)) if *ones == BigInt::from(-1) => return a,
            (BinaryBits::Xor, Some(ones), _) if *ones == BigInt::from(-1) => return self.not(b),
            (BinaryBits::Xor, _, Some(ones)) if *ones == BigInt::from(-1) => return self.not(a),
            _ if a == b => return if op == BinaryBits::Xor { self.zero() } else { a },
            _ => {}
        }
        let ((a_min, a_max), (b_min, b_max)) = (self.range(a), self.range(b));
        let natural = (!a_min.is_negative_number(), !b_min.is_negative_number());
        let ones = |v: &BigInt| power(v.bits() as u32) - 1;
        let (low, high) = match (op, natural) {
            (BinaryBits::And, (true, true)) => (BigInt::ZERO, a_max.min(b_max)),
            (BinaryBits::And, (true, false)) => (BigInt::ZERO, a_max),
            (BinaryBits::And, (false, true)) => (BigInt::ZERO, b_max),
            (_, (true, true)) => (BigInt::ZERO, ones(&a_max.max(b_max))),
            _ => {
                let bits = |min: &BigInt, max: &BigInt| kif(min, &max.max(&BigInt::ZERO).clone()).int.max(0) as u32;
                let half = power(bits(&a_min, &a_max).max(bits(&b_min, &b_max)));
                (-&half, half - 1)
            }
        };
        self.push(Op::Binary { op, a, b, shift: 0 }, low, high)
    }

    /// Returns `if_set` if the bit is 1, otherwise `if_clear`.
    pub(super) fn mux(&mut self, bit: ValueId, if_set: ValueId, if_clear: ValueId) -> ValueId {
        if if_set == if_clear {
            return if_set;
        }
        match self.known(bit) {
            Some(value) if value.is_zero() => return if_clear,
            Some(_) => return if_set,
            None => {}
        }
        let ((a_min, a_max), (b_min, b_max)) = (self.range(if_set), self.range(if_clear));
        if a_min == a_max && b_min == b_max && a_min.is_one() && b_min.is_zero() {
            return bit;
        }
        let op = Op::Mux { cond: bit, on_true: if_set, on_false: if_clear, shift: 0 };
        self.push(op, a_min.min(b_min), a_max.max(b_max))
    }

    /// Returns [`Logic::mux`] of values that are only relevant modulo `2^width`.
    pub(super) fn choose(&mut self, bit: ValueId, if_set: ValueId, if_clear: ValueId, width: u32) -> ValueId {
        let ((a_min, a_max), (b_min, b_max)) = (self.range(if_set), self.range(if_clear));
        let together = kif(&a_min.min(b_min), &a_max.max(b_max));
        let (a, b) = match together.width() <= width {
            true => (if_set, if_clear),
            false => (self.signed(if_set, width), self.signed(if_clear, width)),
        };
        self.mux(bit, a, b)
    }

    /// Returns a bit that is 1 if the value is not 0.
    pub(super) fn any(&mut self, v: ValueId) -> ValueId {
        let (min, max) = self.range(v);
        if min > BigInt::ZERO || max < BigInt::ZERO {
            return self.constant(1);
        }
        if min.is_zero() && max <= BigInt::one() {
            return v;
        }
        self.push(Op::Unary { op: UnaryBits::Any, x: v }, BigInt::ZERO, BigInt::one())
    }

    /// Returns a bit that is 1 if `a < b`.
    pub(super) fn less(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let difference = self.sub(a, b);
        let (min, max) = self.range(difference);
        if !min.is_negative_number() {
            return self.zero();
        }
        if max.is_negative_number() {
            return self.constant(1);
        }
        let sign = self.kif(difference).width() - 1;
        self.slice(difference, sign, 1)
    }

    /// Returns a bit that is 1 if `a != b` modulo `2^width`.
    pub(super) fn differ(&mut self, a: ValueId, b: ValueId, width: u32) -> ValueId {
        let (a, b) = self.alike(a, b, width);
        let bits = self.bitwise(BinaryBits::Xor, a, b);
        self.any(bits)
    }

    /// Returns both values modulo `2^width`, either both unsigned or both in two's complement.
    pub(super) fn alike(&mut self, a: ValueId, b: ValueId, width: u32) -> (ValueId, ValueId) {
        let natural = [a, b].iter().all(|v| !self.range(*v).0.is_negative_number());
        if natural { (a, b) } else { (self.signed(a, width), self.signed(b, width)) }
    }

    /// Returns the exact product.
    pub(super) fn mul(&mut self, a: ValueId, b: ValueId) -> ValueId {
        match (self.known(a), self.known(b)) {
            (Some(x), Some(y)) => return self.constant(x * y),
            (Some(x), None) => return self.times(b, &x),
            (None, Some(y)) => return self.times(a, &y),
            (None, None) => {}
        }
        let ((a_min, a_max), (b_min, b_max)) = (self.range(a), self.range(b));
        let corners = [&a_min * &b_min, &a_min * &b_max, &a_max * &b_min, &a_max * &b_max];
        let min = corners.iter().min().cloned().unwrap_or_default();
        let max = corners.iter().max().cloned().unwrap_or_default();
        let min = if a == b { min.max(BigInt::ZERO) } else { min };
        self.push(Op::Mul { a, b }, min, max)
    }

    /// Returns the product with a constant, as shifts and sums by its canonical signed digits.
    fn times(&mut self, v: ValueId, constant: &BigInt) -> ValueId {
        let mut terms = Vec::new();
        let mut rest = constant.clone();
        let mut shift = 0i32;
        while !rest.is_zero() {
            let zeros = rest.trailing_zeros().unwrap_or(0);
            rest >>= zeros;
            shift += zeros as i32;
            // The lowest digit is 1 or -1, so that the next digit is zero.
            let neg = (&rest & BigInt::from(3)) == BigInt::from(3);
            terms.push(Term { value: v, shift, neg });
            rest += if neg { 1 } else { -1 };
        }
        let (min, max) = self.range(v);
        let (x, y) = (min * constant, max * constant);
        match terms.as_slice() {
            [] => self.zero(),
            [Term { neg: false, shift, .. }] => self.shifted_left(v, *shift as u32),
            _ => {
                let (low, high) = if x < y { (x, y) } else { (y, x) };
                self.push(Op::Sum { terms: terms.into() }, low, high)
            }
        }
    }

    /// Returns the exact sum.
    pub(super) fn sum(&mut self, values: &[ValueId]) -> ValueId {
        let mut terms = Vec::with_capacity(values.len());
        let (mut low, mut high, mut constant) = (BigInt::ZERO, BigInt::ZERO, BigInt::ZERO);
        for &value in values {
            let (min, max) = self.range(value);
            if min == max {
                constant += min;
                continue;
            }
            terms.push(Term { value, shift: 0, neg: false });
            low += min;
            high += max;
        }
        let sum = match terms.as_slice() {
            [] => return self.constant(constant),
            [one] => one.value,
            _ => self.push(Op::Sum { terms: terms.into() }, low, high),
        };
        if constant.is_zero() { sum } else { self.plus(sum, &constant) }
    }

    /// Concatenates unsigned numbers, given from the lowest up with the positions of their lowest bits.
    pub(super) fn concatenated(&mut self, pieces: &[(ValueId, u32)]) -> ValueId {
        match pieces {
            [] => self.zero(),
            [(v, at)] => self.shifted_left(*v, *at),
            _ => {
                let (low, high) = pieces.split_at(pieces.len() / 2);
                let (low, high) = (self.concatenated(low), self.concatenated(high));
                self.add(low, high)
            }
        }
    }

    /// Rotates a value left by a constant.
    pub(super) fn rotated(&mut self, v: ValueId, width: u32, places: u32) -> ValueId {
        let places = places % width;
        if places == 0 {
            return v;
        }
        let low = self.slice(v, width - places, places);
        let high = self.slice(v, 0, width - places);
        self.concatenated(&[(low, 0), (high, places)])
    }

    /// Returns an entry of a table that has an entry for each number from 0 to the largest number of `x`.
    pub(super) fn lookup(&mut self, x: ValueId, table: TableId) -> ValueId {
        let out = self.builder.tables()[table.index()].out.clone();
        let op = Op::Lookup { x, table, base: Code::ZERO };
        self.push(op, out.min.to_big(), out.max.to_big())
    }

    /// Returns the largest number that a value may have, as an index; `None` if this number is not a `usize`.
    pub(super) fn top(&self, v: ValueId) -> Option<usize> {
        self.range(v).1.to_usize()
    }
}

/// Sign test of a number.
pub(super) trait Negative {
    fn is_negative_number(&self) -> bool;
}

impl Negative for BigInt {
    fn is_negative_number(&self) -> bool {
        self.sign() == num_bigint::Sign::Minus
    }
}
