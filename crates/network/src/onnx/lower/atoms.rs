//! Atoms: the integer values of a program under construction, and the operations on them.
//!
//! An atom is a value of the program read as an integer: its real value times `2^frac`. A multiple by a power of two is
//! another atom of the same value with a larger `frac`; it needs no operation.

use super::constant_op;
use super::elem::{Elem, Wire, common_unit, whole_quotient};
use crate::digits;
use crate::exact::Rational;
use alir_core::ir::{BinaryBits, Builder, Limits, Op, Table, UnaryBits, ValueId};
use alir_core::num::{Interval, Kif};
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use rustc_hash::FxHashMap;

/// Largest width of a value in bits.
const MAX_WIDTH: u64 = 1024;
/// Largest width in bits of a table's input for which each output bit is one six-input LUT, including clamps.
const FREE_ADDRESS: u32 = 6;
/// Largest number of entries of all tables together.
const MAX_ENTRIES: usize = 1 << 26;

/// All atoms, and the program that computes them.
pub(super) struct Atoms {
    pub(super) builder: Builder,
    all: Vec<Atom>,
    /// Atoms of the operations so far, so that equal operations are built only once.
    known: FxHashMap<(Op, Interval), u32>,
    /// Number of entries of all tables.
    entries: usize,
}

/// A value of the program read as an integer, with its bounds.
#[derive(Clone)]
struct Atom {
    value: ValueId,
    /// The integer is the real value times `2^frac`.
    frac: i32,
    /// For a multiple by a power of two, the atom without that factor; `None` for other atoms.
    bare: Option<u32>,
    low: BigInt,
    high: BigInt,
}

impl Atoms {
    /// Creates an empty program with this number of input elements.
    pub(super) fn new(inputs: usize) -> Atoms {
        let mut builder = Builder::new(vec![0; inputs]);
        builder.limits(Limits::derived());
        Atoms { builder, all: Vec::new(), known: FxHashMap::default(), entries: 0 }
    }

    /// Returns the smallest and the largest integer of an atom.
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

    /// Returns the width in bits of the narrowest type of an atom.
    pub(super) fn width(&self, atom: u32) -> u32 {
        self.kif(atom).width()
    }

    fn kif(&self, atom: u32) -> Kif {
        let (low, high) = self.range(atom);
        Interval::new(low, high, 0).kif()
    }

    /// Returns the atom without its factor, a power of two, and the exponent of that factor.
    pub(super) fn bare(&self, atom: u32) -> (u32, i64) {
        let found = &self.all[atom as usize];
        let bare = found.bare.unwrap_or(atom);
        (bare, i64::from(found.frac - self.all[bare as usize].frac))
    }

    /// Returns the smallest and the largest value of an element.
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

    /// Appends an operation unless an equal operation exists; returns the atom of its result.
    ///
    /// # Errors
    /// If the value is too wide, or too far from the binary point.
    fn operation(&mut self, op: Op, low: BigInt, high: BigInt, frac: i32) -> Result<u32, String> {
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

    /// Returns the atom of an input element: its raw integer value, which has `frac` fractional bits.
    pub(super) fn input(&mut self, input: u32, low: &BigInt, high: &BigInt, frac: i32) -> u32 {
        let atom = self.operation(Op::Input { input }, low.clone(), high.clone(), frac);
        atom.expect("types of ports are narrow")
    }

    pub(super) fn constant(&mut self, value: &BigInt) -> Result<u32, String> {
        let (op, _) = constant_op(value);
        self.operation(op, value.clone(), value.clone(), 0)
    }

    /// Computes `a * 2^shift_a + b * 2^shift_b`, or their difference if `subtract` is set.
    pub(super) fn add(&mut self, a: (u32, u32), b: (u32, u32), subtract: bool) -> Result<u32, String> {
        let scaled = |end: &BigInt, shift: u32| end << shift;
        let ((a, shift_a), (b, shift_b)) = (a, b);
        let (x, y) = (&self.all[a as usize], &self.all[b as usize]);
        let (x_low, x_high) = (scaled(&x.low, shift_a), scaled(&x.high, shift_a));
        let (y_low, y_high) = (scaled(&y.low, shift_b), scaled(&y.high, shift_b));
        let (low, high) = if subtract { (x_low - y_high, x_high - y_low) } else { (x_low + y_low, x_high + y_high) };
        self.add_within((a, shift_a), (b, shift_b), subtract, low, high)
    }

    /// Like [`Atoms::add`], for a result that the caller has proved to be in a narrower range.
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
        self.operation(op, low, high, frac)
    }

    pub(super) fn difference(&mut self, a: u32, b: u32) -> Result<u32, String> {
        self.add((a, 0), (b, 0), true)
    }

    pub(super) fn negated(&mut self, a: u32) -> Result<u32, String> {
        let Atom { value, frac, low, high, .. } = self.all[a as usize].clone();
        self.operation(Op::Neg { x: value }, -high, -low, frac)
    }

    /// Computes `a + summand`.
    pub(super) fn add_constant(&mut self, a: u32, summand: &BigInt) -> Result<u32, String> {
        if summand.is_zero() {
            return Ok(a);
        }
        let Atom { value, frac, low, high, .. } = self.all[a as usize].clone();
        let op = Op::AddConst { x: value, value: summand.into(), shift: frac };
        self.operation(op, low + summand, high + summand, frac)
    }

    /// Computes `constant - a`.
    pub(super) fn subtracted_from(&mut self, constant: &BigInt, a: u32) -> Result<u32, String> {
        let constant = self.constant(constant)?;
        self.difference(constant, a)
    }

    /// Returns `a * 2^shift`, without an operation.
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

    /// Computes `a * factor` for a positive factor, as sums and differences of shifted copies by its signed digits.
    pub(super) fn times(&mut self, a: u32, factor: &BigInt) -> Result<u32, String> {
        let digits = digits::signed(factor);
        let (top, _) = *digits.last().ok_or("a factor of zero")?;
        // From the top digit down, so that intermediate values are positive multiples.
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

    /// Computes `floor(a / 2^shift)`.
    pub(super) fn floor_shifted(&mut self, a: u32, shift: u32) -> Result<u32, String> {
        if shift == 0 {
            return Ok(a);
        }
        let Atom { value, frac, low, high, .. } = self.all[a as usize].clone();
        let op = Op::Quantise { x: value, shift: frac - shift as i32 };
        self.operation(op, low >> shift, high >> shift, 0)
    }

    /// Extracts `count` bits of `a` from bit `from` on, as a non-negative number.
    pub(super) fn bits(&mut self, a: u32, from: u32, count: u32) -> Result<u32, String> {
        let Atom { value, frac, .. } = self.all[a as usize];
        let op = Op::Quantise { x: value, shift: frac - from as i32 };
        self.operation(op, BigInt::ZERO, (BigInt::one() << count) - 1, 0)
    }

    /// Computes a bit that is 1 if the atom is negative.
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

    /// Computes `1 - bit`.
    pub(super) fn not(&mut self, bit: u32) -> Result<u32, String> {
        let (low, high) = self.range(bit);
        if low == high {
            let value = BigInt::one() - low;
            return self.constant(&value);
        }
        let Atom { value, frac, .. } = self.all[bit as usize];
        self.operation(Op::Unary { op: UnaryBits::Not, x: value }, BigInt::ZERO, BigInt::one(), frac)
    }

    /// Computes a bit that is 1 if the atom is not zero. The atom must be bare.
    pub(super) fn any(&mut self, a: u32) -> Result<u32, String> {
        let value = self.value(a);
        self.operation(Op::Unary { op: UnaryBits::Any, x: value }, BigInt::ZERO, BigInt::one(), 0)
    }

    /// Computes the conjunction of two bits.
    pub(super) fn and(&mut self, a: u32, b: u32) -> Result<u32, String> {
        let (x, y) = (&self.all[a as usize], &self.all[b as usize]);
        let shift = y.frac - x.frac;
        let op = Op::Binary { op: BinaryBits::And, a: x.value, b: y.value, shift };
        let frac = x.frac;
        self.operation(op, BigInt::ZERO, BigInt::one(), frac)
    }

    /// Computes `max(a, 0)`.
    pub(super) fn relu(&mut self, a: u32) -> Result<u32, String> {
        let Atom { value, frac, low, high, .. } = self.all[a as usize].clone();
        if !low.is_negative() {
            return Ok(a);
        }
        self.operation(Op::Relu { x: value }, BigInt::ZERO, high.max(BigInt::ZERO), frac)
    }

    /// Computes `min(a, most)` for an atom that is not negative.
    pub(super) fn at_most(&mut self, a: u32, most: &BigInt) -> Result<u32, String> {
        if self.range(a).1 <= most {
            return Ok(a);
        }
        let top = self.constant(most)?;
        let bits = most.bits() as u32;
        if most + 1u32 == BigInt::one() << bits {
            // `most` is `2^bits - 1`: the value exceeds it if any higher bit is set.
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

    /// Returns the atom with a narrower range, which the caller has proved.
    pub(super) fn narrowed(&mut self, a: u32, low: BigInt, high: BigInt) -> u32 {
        let Atom { value, frac, .. } = self.all[a as usize];
        let op = Op::Quantise { x: value, shift: frac };
        self.operation(op, low, high, 0).expect("narrower than it was")
    }

    /// Computes `on_true` if the bit is set, otherwise `on_false`.
    pub(super) fn mux(&mut self, bit: u32, on_true: u32, on_false: u32) -> u32 {
        let (low, high) = self.range(bit);
        if low == high {
            return if low.is_zero() { on_false } else { on_true };
        }
        let (t, f) = (&self.all[on_true as usize], &self.all[on_false as usize]);
        let op = Op::Mux { cond: self.value(bit), on_true: t.value, on_false: f.value, shift: f.frac - t.frac };
        let (low, high) = (t.low.clone().min(f.low.clone()), t.high.clone().max(f.high.clone()));
        let frac = t.frac;
        self.operation(op, low, high, frac).expect("as wide as its operands")
    }

    /// Computes `a * b`.
    pub(super) fn product(&mut self, a: u32, b: u32) -> Result<u32, String> {
        let (x, y) = (&self.all[a as usize], &self.all[b as usize]);
        let corners = [&x.low * &y.low, &x.low * &y.high, &x.high * &y.low, &x.high * &y.high];
        let mut low = corners.iter().min().expect("four").clone();
        let high = corners.iter().max().expect("four").clone();
        if a == b {
            low = low.max(BigInt::ZERO);
        }
        let (op, frac) = (Op::Mul { a: x.value, b: y.value }, x.frac + y.frac);
        self.operation(op, low, high, frac)
    }

    /// Computes entry `a - low` of a table, where `low` is the atom's smallest integer. The atom must be bare.
    pub(super) fn lookup(&mut self, a: u32, entries: Vec<i32>) -> Result<u32, String> {
        let low = self.range(a).0.clone();
        let (least, most) = (entries.iter().min().copied().unwrap_or(0), entries.iter().max().copied().unwrap_or(0));
        if least == most {
            return self.constant(&least.into());
        }
        let out = Interval::new(i64::from(least), i64::from(most), 0);
        let table = Table { entries, out, hash: String::new(), inp_width: i64::from(self.width(a)) };
        // Equal tables are shared. A linear search suffices, because there are few tables.
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
        self.operation(op, least.into(), most.into(), 0)
    }

    /// Returns the input of a look-up table; operations replace the clamps if this saves entries.
    pub(super) fn address(&mut self, elem: &Elem) -> Result<Elem, String> {
        let Elem::Wire(wire) = elem else { return Ok(elem.clone()) };
        let width = self.width(wire.atom);
        if width <= FREE_ADDRESS || (wire.low.is_none() && wire.high.is_none()) {
            return Ok(elem.clone());
        }
        let (least, most) = self.ends(elem);
        let mut unit = wire.unit.abs();
        for end in [&wire.low, &wire.high].into_iter().flatten().filter(|&end| (&least..=&most).contains(&end)) {
            unit = common_unit(&unit, &(end - &wire.offset));
        }
        let narrow = whole_quotient(&(&most - &least), &unit).bits() < u64::from(width);
        if narrow { self.plain(elem) } else { Ok(elem.clone()) }
    }

    /// Returns the element without clamps; operations replace the clamps.
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
        // Choose a unit of which all distances between offset and bounds are multiples, so that the bounds become
        // integers.
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

    /// Computes `min(max(a, low), high)` in the form `from + b`, or `from - b` if the flag is set; returns (b, flag,
    /// from).
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

    /// Returns the element without clamps and offset, as a multiple of a unit.
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

    /// Returns the atom of an element without clamps: its integer relative to another unit and offset.
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
