//! The integers of the program, and the few ways in which new ones are made.
//!
//! An atom is a value of the program read as an integer: its real value times `2^frac`. Multiples by powers of two are
//! atoms of the same value with more `frac`; they take no operation.

use super::constant_op;
use super::elem::{Elem, Wire, common_unit, whole_quotient};
use crate::digits;
use crate::exact::Rational;
use alir_core::ir::{BinaryBits, Builder, Limits, Op, Table, UnaryBits, ValueId};
use alir_core::num::{Interval, Kif};
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use rustc_hash::FxHashMap;

/// Bits of a value at most.
const MAX_WIDTH: u64 = 1024;
/// Entries of all tables at most.
const MAX_ENTRIES: usize = 1 << 26;

/// All atoms, and the program that makes them.
pub(super) struct Atoms {
    pub(super) builder: Builder,
    all: Vec<Atom>,
    /// Operations that were made before.
    known: FxHashMap<(Op, Interval), u32>,
    /// Entries of all tables.
    entries: usize,
}

#[derive(Clone)]
struct Atom {
    value: ValueId,
    /// The integer is the real value times `2^frac`.
    frac: i32,
    /// For a multiple by a power of two: the atom that it is a multiple of.
    bare: Option<u32>,
    low: BigInt,
    high: BigInt,
}

impl Atoms {
    /// No operations yet, for a port of `n` elements.
    pub(super) fn new(inputs: usize) -> Atoms {
        let mut builder = Builder::new(vec![0; inputs]);
        builder.limits(Limits::derived());
        Atoms { builder, all: Vec::new(), known: FxHashMap::default(), entries: 0 }
    }

    pub(super) fn range(&self, atom: u32) -> (&BigInt, &BigInt) {
        let atom = &self.all[atom as usize];
        (&atom.low, &atom.high)
    }

    pub(super) fn value(&self, atom: u32) -> ValueId {
        self.all[atom as usize].value
    }

    pub(super) fn frac(&self, atom: u32) -> i32 {
        self.all[atom as usize].frac
    }

    /// Bits of the narrowest type that holds the atom.
    pub(super) fn width(&self, atom: u32) -> u32 {
        self.kif(atom).width()
    }

    fn kif(&self, atom: u32) -> Kif {
        let (low, high) = self.range(atom);
        Interval::new(low, high, 0).kif()
    }

    /// The atom without its factor, a power of two, and the exponent of that.
    pub(super) fn bare(&self, atom: u32) -> (u32, i64) {
        let found = &self.all[atom as usize];
        let bare = found.bare.unwrap_or(atom);
        (bare, i64::from(found.frac - self.all[bare as usize].frac))
    }

    /// The smallest and largest value of an element.
    pub(super) fn ends(&self, elem: &Elem) -> (Rational, Rational) {
        match elem {
            Elem::Constant(value) => (value.clone(), value.clone()),
            Elem::Wire(wire) => {
                let (low, high) = self.range(wire.atom);
                let at = |code: &BigInt| {
                    let x = &(&Rational::from(code.clone()) * &wire.unit) + &wire.offset;
                    let x = wire.low.as_ref().map_or(x.clone(), |low| low.max(&x).clone());
                    wire.high.as_ref().map_or(x.clone(), |high| high.min(&x).clone())
                };
                let (a, b) = (at(low), at(high));
                if a <= b { (a, b) } else { (b, a) }
            }
        }
    }

    /// The integer of an operation.
    fn make(&mut self, op: Op, low: BigInt, high: BigInt, frac: i32) -> Result<u32, String> {
        let bits = low.bits().max(high.bits());
        if bits > MAX_WIDTH {
            return Err(format!("a value of {bits} bits; at most {MAX_WIDTH} are supported: quantise before"));
        }
        if frac.abs() > 1 << 20 {
            return Err("a value too far from the binary point".to_owned());
        }
        let key = (op, Interval::new(&low, &high, frac));
        if let Some(&atom) = self.known.get(&key) {
            return Ok(atom);
        }
        let value = self.builder.op(key.0.clone(), key.1.clone());
        let atom = self.add_atom(Atom { value, frac, bare: None, low, high });
        self.known.insert(key, atom);
        Ok(atom)
    }

    fn add_atom(&mut self, atom: Atom) -> u32 {
        self.all.push(atom);
        self.all.len() as u32 - 1
    }

    /// An element of the port: its code, which has that many fractional bits.
    pub(super) fn input(&mut self, input: u32, low: &BigInt, high: &BigInt, frac: i32) -> u32 {
        let made = self.make(Op::Input { input }, low.clone(), high.clone(), frac);
        made.expect("types of ports are narrow")
    }

    pub(super) fn constant(&mut self, value: &BigInt) -> Result<u32, String> {
        let (op, _) = constant_op(value);
        self.make(op, value.clone(), value.clone(), 0)
    }

    /// `a * 2^shift_a + b * 2^shift_b`, or the difference.
    pub(super) fn add(&mut self, a: (u32, u32), b: (u32, u32), subtract: bool) -> Result<u32, String> {
        let scaled = |end: &BigInt, shift: u32| end << shift;
        let ((a, shift_a), (b, shift_b)) = (a, b);
        let (x, y) = (&self.all[a as usize], &self.all[b as usize]);
        let (x_low, x_high) = (scaled(&x.low, shift_a), scaled(&x.high, shift_a));
        let (y_low, y_high) = (scaled(&y.low, shift_b), scaled(&y.high, shift_b));
        let (low, high) = if subtract { (x_low - y_high, x_high - y_low) } else { (x_low + y_low, x_high + y_high) };
        self.add_within((a, shift_a), (b, shift_b), subtract, low, high)
    }

    /// [`Atoms::add`] of what is known to lie in a narrower range.
    pub(super) fn add_within(
        &mut self,
        (a, shift_a): (u32, u32),
        (b, shift_b): (u32, u32),
        subtract: bool,
        low: BigInt,
        high: BigInt,
    ) -> Result<u32, String> {
        let (x, y) = (&self.all[a as usize], &self.all[b as usize]);
        let frac = x.frac + shift_a as i32;
        let shift = y.frac + shift_b as i32 - frac;
        let (a, b) = (x.value, y.value);
        let op = if subtract { Op::Sub { a, b, shift } } else { Op::Add { a, b, shift } };
        self.make(op, low, high, frac)
    }

    pub(super) fn difference(&mut self, a: u32, b: u32) -> Result<u32, String> {
        self.add((a, 0), (b, 0), true)
    }

    pub(super) fn negated(&mut self, a: u32) -> Result<u32, String> {
        let Atom { value, frac, low, high, .. } = self.all[a as usize].clone();
        self.make(Op::Neg { x: value }, -high, -low, frac)
    }

    /// `a + summand`.
    pub(super) fn add_constant(&mut self, a: u32, summand: &BigInt) -> Result<u32, String> {
        if summand.is_zero() {
            return Ok(a);
        }
        let Atom { value, frac, low, high, .. } = self.all[a as usize].clone();
        let op = Op::AddConst { x: value, value: summand.into(), shift: frac };
        self.make(op, low + summand, high + summand, frac)
    }

    /// `constant - a`.
    pub(super) fn subtracted_from(&mut self, constant: &BigInt, a: u32) -> Result<u32, String> {
        let constant = self.constant(constant)?;
        self.difference(constant, a)
    }

    /// `a * 2^shift`, without an operation.
    pub(super) fn shifted(&mut self, a: u32, shift: u32) -> u32 {
        if shift == 0 {
            return a;
        }
        let mut atom = self.all[a as usize].clone();
        atom.frac += shift as i32;
        atom.bare.get_or_insert(a);
        atom.low <<= shift;
        atom.high <<= shift;
        self.add_atom(atom)
    }

    /// `a * factor`, the factor positive: sums and differences of shifted copies, as its signed digits say.
    pub(super) fn times(&mut self, a: u32, factor: &BigInt) -> Result<u32, String> {
        let digits = digits::signed(factor);
        let (top, _) = *digits.last().ok_or("a factor of zero")?;
        // From the top: intermediate values stay positive multiples.
        let (mut sum, mut position) = (a, top);
        let mut multiple = BigInt::one();
        for &(digit, negative) in digits.iter().rev().skip(1) {
            multiple = (multiple << (position - digit)) + if negative { -1 } else { 1 };
            let (low, high) = self.range(a);
            let (low, high) = (low * &multiple, high * &multiple);
            sum = self.add_within((sum, position - digit), (a, 0), negative, low, high)?;
            position = digit;
        }
        Ok(self.shifted(sum, position))
    }

    /// `floor(a / 2^shift)`.
    pub(super) fn floor_shifted(&mut self, a: u32, shift: u32) -> Result<u32, String> {
        if shift == 0 {
            return Ok(a);
        }
        let Atom { value, frac, low, high, .. } = self.all[a as usize].clone();
        let op = Op::Quantise { x: value, shift: frac - shift as i32 };
        self.make(op, low >> shift, high >> shift, 0)
    }

    /// `count` bits of `a` from bit `from`, as a non-negative number.
    pub(super) fn bits(&mut self, a: u32, from: u32, count: u32) -> Result<u32, String> {
        let Atom { value, frac, .. } = self.all[a as usize];
        let op = Op::Quantise { x: value, shift: frac - from as i32 };
        self.make(op, BigInt::ZERO, (BigInt::one() << count) - 1, 0)
    }

    /// 1 where the atom is negative.
    pub(super) fn is_negative(&mut self, a: u32) -> u32 {
        let (low, high) = self.range(a);
        if !low.is_negative() {
            return self.constant(&BigInt::ZERO).expect("zero is narrow");
        }
        if high.is_negative() {
            return self.constant(&BigInt::one()).expect("one is narrow");
        }
        let sign = self.width(a) - 1;
        self.bits(a, sign, 1).expect("a bit is narrow")
    }

    /// `1 - a` of a bit.
    pub(super) fn not(&mut self, bit: u32) -> Result<u32, String> {
        let (low, high) = self.range(bit);
        if low == high {
            let value = BigInt::one() - low;
            return self.constant(&value);
        }
        let Atom { value, frac, .. } = self.all[bit as usize];
        self.make(Op::Unary { op: UnaryBits::Not, x: value }, BigInt::ZERO, BigInt::one(), frac)
    }

    /// 1 where the atom, which is bare, is not zero.
    pub(super) fn any(&mut self, a: u32) -> Result<u32, String> {
        let value = self.value(a);
        self.make(Op::Unary { op: UnaryBits::Any, x: value }, BigInt::ZERO, BigInt::one(), 0)
    }

    /// The conjunction of two bits.
    pub(super) fn and(&mut self, a: u32, b: u32) -> Result<u32, String> {
        let (x, y) = (&self.all[a as usize], &self.all[b as usize]);
        let shift = y.frac - x.frac;
        let op = Op::Binary { op: BinaryBits::And, a: x.value, b: y.value, shift };
        let frac = x.frac;
        self.make(op, BigInt::ZERO, BigInt::one(), frac)
    }

    /// `max(a, 0)`.
    pub(super) fn relu(&mut self, a: u32) -> Result<u32, String> {
        let Atom { value, frac, low, high, .. } = self.all[a as usize].clone();
        if !low.is_negative() {
            return Ok(a);
        }
        self.make(Op::Relu { x: value }, BigInt::ZERO, high.max(BigInt::ZERO), frac)
    }

    /// `min(a, most)` of an atom that is not negative.
    pub(super) fn at_most(&mut self, a: u32, most: &BigInt) -> Result<u32, String> {
        if self.range(a).1 <= most {
            return Ok(a);
        }
        let top = self.constant(most)?;
        let bits = most.bits() as u32;
        if most + 1u32 == BigInt::one() << bits {
            // All bits above decide.
            let width = self.width(a);
            let above = self.bits(a, bits, width - bits)?;
            let beyond = self.any(above)?;
            let low = self.bits(a, 0, bits)?;
            return Ok(self.mux(beyond, top, low));
        }
        let room = self.add_constant(a, &(-most - 1u32))?;
        let within = self.is_negative(room);
        let mux = self.mux(within, a, top);
        Ok(self.narrowed(mux, BigInt::ZERO, most.clone()))
    }

    /// An atom that is known to lie in a narrower range: the operation that made it gets that interval.
    pub(super) fn narrowed(&mut self, a: u32, low: BigInt, high: BigInt) -> u32 {
        let Atom { value, frac, .. } = self.all[a as usize];
        let op = Op::Quantise { x: value, shift: frac };
        self.make(op, low, high, 0).expect("narrower than it was")
    }

    /// `on_true` where the bit is set, else `on_false`.
    pub(super) fn mux(&mut self, bit: u32, on_true: u32, on_false: u32) -> u32 {
        let (low, high) = self.range(bit);
        if low == high {
            return if low.is_zero() { on_false } else { on_true };
        }
        let (t, f) = (&self.all[on_true as usize], &self.all[on_false as usize]);
        let op = Op::Mux { cond: self.value(bit), on_true: t.value, on_false: f.value, shift: f.frac - t.frac };
        let (low, high) = (t.low.clone().min(f.low.clone()), t.high.clone().max(f.high.clone()));
        let frac = t.frac;
        self.make(op, low, high, frac).expect("as wide as its operands")
    }

    /// `a * b`.
    pub(super) fn product(&mut self, a: u32, b: u32) -> Result<u32, String> {
        let (x, y) = (&self.all[a as usize], &self.all[b as usize]);
        let corners = [&x.low * &y.low, &x.low * &y.high, &x.high * &y.low, &x.high * &y.high];
        let mut low = corners.iter().min().expect("four").clone();
        let high = corners.iter().max().expect("four").clone();
        if a == b {
            low = low.max(BigInt::ZERO);
        }
        let (op, frac) = (Op::Mul { a: x.value, b: y.value }, x.frac + y.frac);
        self.make(op, low, high, frac)
    }

    /// Entry `a - low` of a table, `low` being the atom's lowest value; the atom is bare.
    pub(super) fn lookup(&mut self, a: u32, entries: Vec<i32>) -> Result<u32, String> {
        let low = self.range(a).0.clone();
        let (least, most) = (entries.iter().min().copied().unwrap_or(0), entries.iter().max().copied().unwrap_or(0));
        if least == most {
            return self.constant(&least.into());
        }
        let out = Interval::new(i64::from(least), i64::from(most), 0);
        let table = Table { entries, out, hash: String::new(), inp_width: i64::from(self.width(a)) };
        // Equal tables are one; there are few different ones.
        let found = self.builder.tables().iter().position(|known| known.entries == table.entries);
        let table = match found {
            Some(index) => alir_core::ir::TableId(index as u32),
            None => {
                self.entries += table.entries.len();
                if self.entries > MAX_ENTRIES {
                    return Err(format!("tables of more than {MAX_ENTRIES} entries altogether"));
                }
                self.builder.table(table)
            }
        };
        let op = Op::Lookup { x: self.value(a), table, base: low.into() };
        self.make(op, least.into(), most.into(), 0)
    }

    /// An element without ends: a clamp becomes operations.
    pub(super) fn plain(&mut self, elem: &Elem) -> Result<Elem, String> {
        let wire = match elem {
            Elem::Constant(_) => return Ok(elem.clone()),
            Elem::Wire(wire) if wire.low.is_none() && wire.high.is_none() => return Ok(elem.clone()),
            Elem::Wire(wire) => wire,
        };
        let (least, most) = self.ends(&elem.unclamped());
        let low = wire.low.as_ref().filter(|low| **low > least);
        let high = wire.high.as_ref().filter(|high| **high < most);
        if let Some(low) = low.filter(|low| **low >= most) {
            return Ok(Elem::Constant(low.clone()));
        }
        if let Some(high) = high.filter(|high| **high <= least) {
            return Ok(Elem::Constant(high.clone()));
        }
        if low.is_none() && high.is_none() {
            return Ok(elem.unclamped());
        }
        // Whole numbers over a unit of which the distances of the ends are multiples.
        let mut unit = wire.unit.clone();
        for end in [low, high].into_iter().flatten() {
            unit = common_unit(&unit, &(end - &wire.offset));
        }
        let unit = if wire.unit.is_negative() { -&unit } else { unit.abs() };
        let a = self.times(wire.atom, &whole_quotient(&wire.unit, &unit))?;
        let end = |end: &Rational| whole_quotient(&(end - &wire.offset), &unit);
        let (low, high) = if unit.is_negative() { (high, low) } else { (low, high) };
        let (low, high) = (low.map(end), high.map(end));
        self.clamped(a, low, high).map(|(a, unit_sign, from)| {
            let offset = &wire.offset + &(&Rational::from(from) * &unit);
            let unit = if unit_sign { -&unit } else { unit };
            Elem::new(self, a, unit, offset)
        })
    }

    /// `min(max(a, low), high)` as `from + b`, or `from - b` if the flag is set.
    fn clamped(&mut self, a: u32, low: Option<BigInt>, high: Option<BigInt>) -> Result<(u32, bool, BigInt), String> {
        match (low, high) {
            (None, None) => Ok((a, false, BigInt::ZERO)),
            (None, Some(high)) => {
                let below = self.subtracted_from(&high, a)?;
                Ok((self.relu(below)?, true, high))
            }
            (Some(low), high) => {
                let above = self.add_constant(a, &-&low)?;
                let mut above = self.relu(above)?;
                if let Some(high) = high {
                    above = self.at_most(above, &(high - &low))?;
                }
                Ok((above, false, low))
            }
        }
    }

    /// An element as a multiple of a unit, without offset.
    pub(super) fn whole(&mut self, elem: &Elem) -> Result<Elem, String> {
        let wire = match self.plain(elem)? {
            Elem::Wire(wire) if !wire.offset.is_zero() => wire,
            other => return Ok(other),
        };
        let unit = common_unit(&wire.unit, &wire.offset);
        let unit = if wire.unit.is_negative() { -&unit } else { unit };
        let atom = self.over(&Elem::Wire(wire), &unit, &Rational::zero())?;
        Ok(Elem::new(self, atom, unit, Rational::zero()))
    }

    /// The atom of a plain element over another unit and offset, in which it is whole.
    pub(super) fn over(&mut self, elem: &Elem, unit: &Rational, offset: &Rational) -> Result<u32, String> {
        match elem {
            Elem::Constant(value) => self.constant(&whole_quotient(&(value - offset), unit)),
            Elem::Wire(Wire { atom, unit: own, offset: own_offset, .. }) => {
                let factor = whole_quotient(own, unit);
                let summand = whole_quotient(&(own_offset - offset), unit);
                let multiple = self.times(*atom, &factor.abs())?;
                if factor.is_negative() {
                    return self.subtracted_from(&summand, multiple);
                }
                self.add_constant(multiple, &summand)
            }
        }
    }
}
