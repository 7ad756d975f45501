//! Value numbering of two programs: the classes of their values, and parts of both programs over known values.

use super::range::{APART, Affine, Cut, Form, Range};
use super::rounding::{Condition, FinerKey, Rounded, RoundedKey, Shape};
use alir_core::ir::{BinaryBits, Builder, Limits, Model, Op, Output, Table, TableId, UnaryBits, ValueId};
use alir_core::num::{Code, Interval, Kif};
use num_bigint::{BigInt, Sign};
use num_traits::Zero;
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;
use std::rc::Rc;

/// Largest number of window inputs for which inputs determined by the other inputs are searched.
const OPENED: usize = 16;
/// Largest numbers of terms: of one linear form, of all forms of a program together (a constant, an amount for each
/// operation, and at most the third number), and of all forms in one sum.
pub(super) const TERMS: (usize, (usize, usize, usize), usize) = (1_024, (2_000_000, 64, 20_000_000), 8_192);

/// Largest number of nested minimum and maximum operations that a comparison of two classes follows.
const ORDERS: usize = 4;

/// Largest width of a word whose bits are analysed separately.
const MOST_WORD: u32 = 8;
/// Largest number of entries of a table that may be decomposed into a sum of the bits of its operand.
const MOST_ENTRIES: usize = 1 << MOST_WORD;

/// Terms of a sum of classes: class, power of two, and `true` for subtraction.
pub(super) type Terms = Vec<(u32, i32, bool)>;

/// Key of an operation over classes of operands. Operations with equal keys have equal values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// An odd multiple of a power of two, or zero.
    Number(BigInt, i64),
    Port(u32),
    /// The bit of a class with this power of two as weight, in two's complement.
    Bit(u32, i64),
    /// Sum of scaled classes.
    Sum(Terms, Cut),
    /// A sum whose exact operands are expanded to their own sums.
    Form(Rc<Form>, Cut),
    Relu(u32, Cut),
    Mux {
        cond: Condition,
        on_true: u32,
        on_false: (u32, i32),
        cut: Cut,
    },
    Mul(u32, u32, Cut),
    /// The raw integer values of entries and operand depend on their binary points.
    Lookup {
        x: (u32, i32),
        table: u32,
        base: Code,
        frac: i32,
        cut: Cut,
    },
    Unary(UnaryBits, u32, Kif, Kif),
    Binary(BinaryBits, u32, (u32, i32), Cut),
}

/// Kind of an extreme value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extreme {
    Minimum,
    Maximum,
}

/// Class of values that are the same number for every input.
pub(super) struct Class {
    /// Operation that computes the class, from the first program if possible.
    pub(super) def: Option<(usize, ValueId)>,
    pub(super) range: Range,
    /// `true` if both programs have a value of the class, or an affine image of such a value.
    pub(super) shared: bool,
    /// Equal sum of other classes, if no bits are dropped.
    pub(super) form: Option<Rc<Form>>,
    /// Another class, and the affine map from that class to this one.
    pub(super) image: Option<(u32, Affine)>,
    /// Sum of other classes that equals this class modulo this power of two.
    pub(super) wrapped: Option<(Rc<Form>, i64)>,
    /// Equal rounded sum of other classes, if bits were dropped or the value is rectified.
    pub(super) rounded: Option<Rounded>,
    /// The rounded sum before the rectifier.
    pub(super) floor: Option<Rounded>,
}

/// Description of a value that has no class yet.
pub(super) struct Described {
    pub(super) key: Key,
    pub(super) range: Range,
    pub(super) shape: Shape,
}

/// Returns `true` if an operation inverts all bits of a value into a signed type, so that the result is `-x` minus one
/// unit.
fn is_negative_less_one(model: &Model, id: ValueId) -> bool {
    let (op, kif) = (&model.node(id).op, model.kif(id));
    matches!(op, Op::Unary { op: UnaryBits::Not, x }
        if kif.signed && model.kif(*x).frac == kif.frac && !model.kif(*x).is_zero())
}

/// Returns `true` if a value of range `x` has no set bit that a value of range `mask` does not have, because `mask` is
/// one number, all of whose bits are set.
fn is_masked(x: &Range, mask: &Range) -> bool {
    let is_full = mask.lo == mask.hi && mask.lo.sign() == Sign::Plus && (&mask.lo & (&mask.lo + 1u8)) == BigInt::ZERO;
    is_full && x.frac == mask.frac && x.lo.sign() != Sign::Minus && x.hi <= mask.lo
}

/// Returns the number of look-ups whose operand is a concatenation of bits of several values.
pub(super) fn words(model: &Model) -> usize {
    let is_word = |x: &ValueId| matches!(model.node(*x).op, Op::Add { .. }) && model.kif(*x).width() <= MOST_WORD;
    model.nodes().iter().filter(|node| matches!(&node.op, Op::Lookup { x, .. } if is_word(x))).count()
}

/// Value numbering of both programs.
pub(super) struct Numbering<'a> {
    pub(super) programs: [&'a Model; 2],
    pub(super) classes: Vec<Class>,
    pub(super) keys: FxHashMap<Key, u32>,
    /// Classes by their rounded sum: class, fractional bits of the unit, and added constant.
    pub(super) rounded: FxHashMap<RoundedKey, (u32, i64, i128)>,
    /// Classes by the value from which they are truncated: class, power of two, and rounding position.
    pub(super) finer: FxHashMap<FinerKey, Vec<(u32, i64, i64)>>,
    pub(super) tables: FxHashMap<&'a [i32], u32>,
    /// `true` if counts of comparisons are expanded into sums, because the programs differ in the number of look-ups
    /// whose operand combines bits of several values.
    pub(super) writes_counts: bool,
    /// Class of each value of both programs.
    pub(super) of: [Vec<u32>; 2],
    /// Classes by the direction of their forms, which all affine images share.
    pub(super) directions: FxHashMap<u64, u32>,
    /// Remaining number of terms in the forms of each program.
    pub(super) terms: [usize; 2],
    /// Remaining number of terms in the rounded sums of each program.
    pub(super) shapes: [usize; 2],
    /// Classes that wrapping makes of another class with fewer possible values: the other class, and the type.
    pub(super) narrower: FxHashMap<u32, (u32, Kif)>,
    /// Classes of the first program that have a class as an operand.
    pub(super) readers: FxHashMap<u32, Vec<u32>>,
}

impl<'a> Numbering<'a> {
    pub(super) fn class(&mut self, def: Option<(usize, ValueId)>, range: Range) -> u32 {
        let nothing = (None, None, None, None, None);
        let (form, image, wrapped, rounded, floor) = nothing;
        self.classes.push(Class { def, range, shared: false, form, image, wrapped, rounded, floor });
        self.classes.len() as u32 - 1
    }

    pub(super) fn form(&self, class: u32) -> Rc<Form> {
        let found = &self.classes[class as usize];
        match &found.form {
            Some(form) => form.clone(),
            None if self.is_constant(class) => {
                Rc::new(Form::from_number(&found.range).unwrap_or_else(|| Form::from_class(class)))
            }
            None => Rc::new(Form::from_class(class)),
        }
    }

    /// Records the key of a class. The first class of a direction is the base of the affine images.
    pub(super) fn describe(&mut self, class: u32, of: &Described) {
        self.describe_sum(class, &of.key);
        let shape = of.shape.keys.iter().find_map(|key| self.image_of_shape(key));
        if self.classes[class as usize].def.is_none_or(|(side, _)| side == 0) {
            // A value of the first program is computed as in that program; values derived from another value may use an
            // image.
            let image = |(base, affine): (u32, Affine)| {
                let number = Form::from_number(&affine.plus)?;
                Form::sum(&[(&self.form(base), affine.shift, affine.neg), (&number, 0, false)])
            };
            if self.classes[class as usize].form.is_none() {
                self.classes[class as usize].form =
                    of.shape.exact.clone().or_else(|| shape.and_then(image)).map(Rc::new);
            }
            return;
        }
        if let Some(form) = &of.shape.exact
            && self.classes[class as usize].form.is_none()
        {
            self.describe_sum(class, &Key::Form(Rc::new(form.clone()), Cut::None));
        }
        if self.classes[class as usize].image.is_none()
            && let Some((base, affine)) = shape
        {
            self.becomes(class, base, affine);
        }
    }

    fn describe_sum(&mut self, class: u32, key: &Key) {
        if let Key::Form(form, Cut::To(kif)) = key
            && self.range_of(form).is_some_and(|range| range.frac <= i64::from(kif.frac))
        {
            self.classes[class as usize].wrapped = Some((form.clone(), modulus(*kif)));
            self.compare_to_wrapped(class, form, *kif);
        }
        let Key::Form(form, Cut::None) = key else { return };
        // A count of comparisons, such as a quantiser with thresholds, is not expanded, as sums of many counts would be
        // too long.
        let is_bit = |class: u32| {
            let class = &self.classes[class as usize];
            // Sums of ports stay short, as ports are few.
            let is_port =
                class.def.is_none_or(|(side, id)| matches!(self.programs[side].node(id).op, Op::Input { .. }));
            !is_port && class.range.frac == 0 && class.range.lo.is_zero() && class.range.hi == BigInt::from(1)
        };
        if !self.writes_counts && form.terms.len() > 2 && form.terms.iter().all(|(class, _)| is_bit(*class)) {
            return;
        }
        self.classes[class as usize].form = Some(form.clone());
        let Some(direction) = form.direction() else { return };
        // An affine image of a single class has that class as its base.
        let base = match form.terms[..] {
            [(base, count)] if count.unsigned_abs().is_power_of_two() => Some(base),
            _ => self.directions.get(&direction).copied(),
        };
        match base.filter(|base| *base != class) {
            Some(base) => {
                if let Some(affine) = form.as_image_of(&self.form(base)) {
                    self.classes[class as usize].image = Some((base, affine));
                }
            }
            None => {
                self.directions.insert(direction, class);
            }
        }
    }

    /// Records that a class, which is the form of another class after wrapping to a type, has fewer values than that
    /// class, and that wrapping gives the other class back.
    fn compare_to_wrapped(&mut self, class: u32, form: &Form, kif: Kif) {
        let ([(whole, 1)], 0, 0) = (&form.terms[..], form.constant, form.frac) else { return };
        let size = |class: u32| {
            let range = self.classes[class as usize].range.at(i64::from(kif.frac))?;
            Some(range.hi - range.lo)
        };
        let range = &self.classes[*whole as usize].range;
        let of = Kif { signed: !kif.signed, int: kif.int + if kif.signed { 1 } else { -1 }, frac: kif.frac };
        let is_narrower = range.cut(of).1 == Cut::None && size(class).is_some_and(|own| Some(own) < size(*whole));
        if is_narrower {
            self.narrower.entry(*whole).or_insert((class, of));
        }
    }

    /// Returns the range of the input of a lemma for a class, and the type to which the input is wrapped to get the
    /// class, if it is another number.
    pub(super) fn input(&self, class: u32) -> (&Range, Option<Kif>) {
        match self.narrower.get(&class) {
            Some(&(narrower, kif)) => (&self.classes[narrower as usize].range, Some(kif)),
            None => (&self.classes[class as usize].range, None),
        }
    }

    /// Returns the scaled classes that an operation adds or subtracts, and their ranges. A rectified value has the
    /// terms of its operand.
    fn terms(&mut self, side: usize, id: ValueId) -> Option<(Terms, Vec<Range>)> {
        let model = self.programs[side];
        let mut all: Vec<(ValueId, i32, bool)> = Vec::new();
        match &model.node(id).op {
            Op::Neg { x } => all.push((*x, 0, true)),
            Op::Quantise { x, shift } => all.push((*x, *shift, false)),
            Op::AddConst { x, .. } | Op::Relu { x } => all.push((*x, 0, false)),
            Op::Add { a, b, shift } => all.extend([(*a, 0, false), (*b, *shift, false)]),
            Op::Sub { a, b, shift } => all.extend([(*a, 0, false), (*b, *shift, true)]),
            Op::Sum { terms } => all.extend(terms.iter().map(|t| (t.value, t.shift, t.neg))),
            Op::Unary { x, .. } if is_negative_less_one(model, id) => all.push((*x, 0, true)),
            op => all.extend(self.scaled_operand(side, op)?),
        }
        let (mut terms, mut ranges) = (Vec::with_capacity(all.len() + 1), Vec::with_capacity(all.len() + 1));
        for (v, shift, neg) in all {
            let class = self.of[side][v.index()];
            ranges.push(self.classes[class as usize].range.multiplied(shift, neg));
            terms.push((class, shift, neg));
        }
        if let Op::AddConst { value, shift, .. } = &model.node(id).op {
            let value = value.to_big();
            let constant = Range { lo: value.clone(), hi: value, frac: i64::from(*shift) };
            terms.push((self.constant(&constant), 0, false));
            ranges.push(constant);
        }
        if let Op::Unary { .. } = &model.node(id).op {
            let constant = Range { lo: (-1).into(), hi: (-1).into(), frac: i64::from(model.kif(id).frac) };
            terms.push((self.constant(&constant), 0, false));
            ranges.push(constant);
        }
        Some((terms, ranges))
    }

    /// Returns the addends of an operation that is a multiple of one operand because the other operand is a number: a
    /// product, or a mask whose bits are all set. Products with zero have none.
    fn scaled_operand(&self, side: usize, op: &Op) -> Option<Vec<(ValueId, i32, bool)>> {
        let class = |v: ValueId| self.of[side][v.index()];
        let range = |v: ValueId| &self.classes[class(v) as usize].range;
        match *op {
            Op::Mul { a, b } => {
                let (x, number) = match (self.is_constant(class(a)), self.is_constant(class(b))) {
                    (_, true) => (a, range(b)),
                    (true, _) => (b, range(a)),
                    _ => return None,
                };
                let (frac, neg) = (i32::try_from(number.frac).ok()?, number.lo.sign() == Sign::Minus);
                let size = u64::try_from(number.lo.magnitude()).ok().filter(|size| *size != 0)?;
                let bits = (0..u64::BITS as i32).filter(|bit| size >> bit & 1 == 1);
                Some(bits.map(|bit| (x, bit - frac, neg)).collect())
            }
            Op::Binary { op: BinaryBits::And, a, b, shift } => {
                let (of_a, of_b) = (range(a), &range(b).scaled(shift));
                match (is_masked(of_a, of_b), is_masked(of_b, of_a)) {
                    (true, _) => Some(vec![(a, 0, false)]),
                    (_, true) => Some(vec![(b, shift, false)]),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the class that equals a class, if one is known; otherwise the class itself.
    pub(super) fn representative(&self, class: u32) -> u32 {
        match &self.classes[class as usize].form {
            Some(form) if (form.constant, form.frac) == (0, 0) => match form.terms[..] {
                [(of, 1)] => of,
                _ => class,
            },
            _ => class,
        }
    }

    /// Returns the key of an operation with numbered operands, and the range of its result.
    pub(super) fn key(&mut self, side: usize, id: ValueId) -> (Key, Range) {
        let model = self.programs[side];
        let kif = model.kif(id);
        if let Op::Lookup { x, table, base } = &model.node(id).op
            && let Some((form, exact)) = self.table_of_sum(side, *x, base, &model.table(*table).entries, kif.frac)
        {
            let (range, cut) = exact.cut(kif);
            return (Key::Form(Rc::new(form), cut), range);
        }
        let is_sum = is_negative_less_one(model, id) || self.scaled_operand(side, &model.node(id).op).is_some();
        let class = |v: ValueId| self.representative(self.of[side][v.index()]);
        let range = |v: ValueId| &self.classes[self.of[side][v.index()] as usize].range;
        let full = Range::from_kif(kif);
        let cut = |exact: Option<Range>| exact.map_or((full.clone(), Cut::To(kif)), |exact| exact.cut(kif));
        let number = |v: &BigInt, frac: i64| Range { lo: v.clone(), hi: v.clone(), frac };
        match &model.node(id).op {
            Op::Input { input } => {
                let port = Range::from_kif(model.input_kifs()[*input as usize]);
                let (range, cut) = cut(Some(port.clone()));
                let class = self.given(Key::Port(*input), &port);
                (Key::Form(Rc::new(Form::from_class(class)), cut), range)
            }
            Op::Const { value } => {
                let (range, cut) = cut(Some(number(&value.to_big(), i64::from(kif.frac))));
                (Key::Sum(vec![], cut), range)
            }
            Op::Neg { .. }
            | Op::Add { .. }
            | Op::Sub { .. }
            | Op::Sum { .. }
            | Op::Quantise { .. }
            | Op::AddConst { .. } => self.key_of_sum(side, id, kif),
            _ if is_sum => self.key_of_sum(side, id, kif),
            Op::Relu { x } => {
                let r = range(*x);
                let positive = Range { lo: r.lo.clone().max(BigInt::ZERO), hi: r.hi.clone().max(BigInt::ZERO), ..*r };
                let x = class(*x);
                if r.lo >= BigInt::ZERO {
                    return self.sum(side, vec![(x, 0, false)], Some(positive), kif);
                }
                let (range, cut) = cut(Some(positive));
                (Key::Relu(x, cut), range)
            }
            Op::Mux { cond, on_true, on_false, shift } => {
                // A condition that is always or never set chooses one operand.
                let of = model.kif(*cond);
                let least = number(&i32::from(!of.signed).into(), 1 - i64::from(of.int));
                let decided =
                    range(*cond).plus(&least.negated()).and_then(|beyond| match (beyond.lo.sign(), beyond.hi.sign()) {
                        _ if of.is_zero() => Some(false),
                        (Sign::NoSign | Sign::Plus, _) => Some(!of.signed),
                        (_, Sign::Minus) => Some(of.signed),
                        _ => None,
                    });
                if let Some(set) = decided {
                    let (v, shift) = if set { (*on_true, 0) } else { (*on_false, *shift) };
                    let exact = range(v).scaled(shift);
                    return self.sum(side, vec![(class(v), shift, false)], Some(exact), kif);
                }
                let cond = self.condition(class(*cond), of);
                let chosen = |v: ValueId, set: bool| self.where_chosen(class(v), range(v), &cond, set);
                let (range, cut) = cut(chosen(*on_true, true).hull(&chosen(*on_false, false).scaled(*shift)));
                (Key::Mux { cond, on_true: class(*on_true), on_false: (class(*on_false), *shift), cut }, range)
            }
            Op::Mul { a, b } => {
                let (range, cut) = cut(Some(range(*a).times(range(*b))));
                let (a, b) = (class(*a), class(*b));
                (Key::Mul(a.min(b), a.max(b), cut), range)
            }
            Op::Lookup { x, table, base } => {
                let entries = &model.table(*table).entries;
                // An index outside of the table gives zero.
                let (lo, hi) = entries.iter().fold((0, 0), |(lo, hi), &e| (e.min(lo), e.max(hi)));
                let exact = Range { lo: lo.into(), hi: hi.into(), frac: i64::from(kif.frac) };
                let (range, cut) = cut(Some(exact));
                let x = (class(*x), model.kif(*x).frac);
                let next = self.tables.len() as u32;
                let table = *self.tables.entry(entries).or_insert(next);
                (Key::Lookup { x, table, base: base.clone(), frac: kif.frac, cut }, range)
            }
            Op::Unary { op, x } => (Key::Unary(*op, class(*x), model.kif(*x), kif), full),
            Op::Binary { op, a, b, shift } => (Key::Binary(*op, class(*a), (class(*b), *shift), Cut::To(kif)), full),
        }
    }

    /// Returns the key of an operation that adds its operands, and the range of its result.
    fn key_of_sum(&mut self, side: usize, id: ValueId, kif: Kif) -> (Key, Range) {
        let (mut terms, ranges) = self.terms(side, id).unwrap_or_default();
        let exact = ranges
            .split_first()
            .and_then(|(first, rest)| rest.iter().try_fold(first.clone(), |sum, term| sum.plus(term)));
        let exact = exact.map(|exact| match terms[..] {
            [(a, of_a, minus_a), (b, of_b, minus_b)] if of_a == of_b && minus_a != minus_b => {
                let (plus, minus) = if minus_a { (b, a) } else { (a, b) };
                if self.is_at_most(plus, minus, ORDERS) {
                    exact.not_above(BigInt::ZERO)
                } else if self.is_at_most(minus, plus, ORDERS) {
                    exact.not_below(BigInt::ZERO)
                } else {
                    exact
                }
            }
            _ => exact,
        });
        terms.sort_unstable();
        self.sum(side, terms, exact, kif)
    }

    /// Returns `true` if a class is never above another one, because of minimum and maximum operations. Follows at most
    /// `most` nested operations.
    fn is_at_most(&mut self, low: u32, high: u32, most: usize) -> bool {
        let (low, high) = (self.representative(low), self.representative(high));
        if low == high {
            return true;
        }
        if most == 0 {
            return false;
        }
        if let Some((Extreme::Maximum, operands)) = self.extreme(high)
            && operands.into_iter().any(|operand| self.is_at_most(low, operand, most - 1))
        {
            return true;
        }
        matches!(self.extreme(low), Some((Extreme::Minimum, operands))
            if operands.into_iter().any(|operand| self.is_at_most(operand, high, most - 1)))
    }

    /// Returns the two classes of which a class is the maximum or minimum; `None` for other classes.
    fn extreme(&mut self, class: u32) -> Option<(Extreme, [u32; 2])> {
        let (side, id) = self.classes[class as usize].def?;
        if !matches!(self.programs[side].node(id).op, Op::Mux { shift: 0, .. }) {
            return None;
        }
        let (Key::Mux { cond: Condition::Sign(form, negative), on_true, on_false: (on_false, 0), cut: Cut::None }, _) =
            self.key(side, id)
        else {
            return None;
        };
        let (first, second) = (self.form(on_false), self.form(on_true));
        let difference = |minus: bool| {
            let form = Form::sum(&[(&first, 0, minus), (&second, 0, !minus)])?;
            Some(Form { frac: 0, ..form })
        };
        // A choice by `on_false - on_true < 0` gives the maximum.
        let is = |minus| difference(minus).is_some_and(|found| found == *form);
        match (is(false), is(true)) {
            (true, _) => Some((if negative { Extreme::Maximum } else { Extreme::Minimum }, [on_true, on_false])),
            (_, true) => Some((if negative { Extreme::Minimum } else { Extreme::Maximum }, [on_true, on_false])),
            _ => None,
        }
    }

    /// Returns the range of a class if a condition is set, or clear. The range is narrower if the condition compares
    /// the class with a number.
    fn where_chosen(&self, class: u32, range: &Range, condition: &Condition, set: bool) -> Range {
        let Condition::Sign(form, negative) = condition else { return range.clone() };
        let Some(affine) = self.form(class).as_image_of(form) else { return range.clone() };
        // The form is at most zero or at least zero here, and the class is on the corresponding side of `plus`.
        let is_below = (set == *negative) != affine.neg;
        let Some(plus) = affine.plus.at(range.frac.max(affine.plus.frac)) else { return range.clone() };
        let Some(range) = range.at(plus.frac) else { return range.clone() };
        if is_below { range.not_above(plus.hi) } else { range.not_below(plus.lo) }
    }

    /// Returns a sum of bits that equals a table, and its range. The operand of the table is a concatenation of bits of
    /// known values, and each bit adds a fixed number to the entry.
    fn table_of_sum(
        &mut self,
        side: usize,
        word: ValueId,
        base: &Code,
        entries: &[i32],
        frac: i32,
    ) -> Option<(Form, Range)> {
        if entries.len() > MOST_ENTRIES || !base.to_big().is_zero() {
            return None;
        }
        let bits = self.bits_of_word(side, word)?;
        if bits.is_empty() || entries.len() != 1 << bits.len() {
            return None;
        }
        let first = i64::from(entries[0]);
        let own: Vec<i64> = (0..bits.len()).map(|place| i64::from(entries[1 << place]) - first).collect();
        let sum =
            |index: usize| -> i64 { (0..own.len()).filter(|place| index >> place & 1 == 1).map(|at| own[at]).sum() };
        if !entries.iter().enumerate().all(|(index, entry)| first + sum(index) == i64::from(*entry)) {
            return None;
        }
        let number = Form::from_number(&Range { lo: first.into(), hi: first.into(), frac: i64::from(frac) })?;
        let mut forms: Vec<(Form, i64)> = Vec::with_capacity(bits.len());
        for ((class, power), own) in bits.into_iter().zip(own).filter(|(_, own)| *own != 0) {
            forms.push((self.bit(class, power)?, own));
        }
        // Multiples in binary digits, scaled to the binary point of the entries.
        let mut parts: Vec<(&Form, i32, bool)> = vec![(&number, 0, false)];
        for (form, own) in &forms {
            let digits = (0..63).filter(|digit| own.unsigned_abs() >> digit & 1 == 1);
            parts.extend(digits.map(|digit| (form, digit - frac, *own < 0)));
        }
        let form = Form::sum(&parts)?;
        // The range of the form is too large, as the low bit of a class is expressed by its other bits.
        let ends = entries.iter().fold((entries[0], entries[0]), |(lo, hi), &e| (lo.min(e), hi.max(e)));
        Some((form, Range { lo: ends.0.into(), hi: ends.1.into(), frac: i64::from(frac) }))
    }

    /// Returns the bits of an unsigned value that is a concatenation of bits of others, lowest first: classes and their
    /// powers of two. Returns `None` for other values.
    fn bits_of_word(&self, side: usize, id: ValueId) -> Option<Vec<(u32, i64)>> {
        let model = self.programs[side];
        let kif = model.kif(id);
        if kif.signed || kif.width() > MOST_WORD {
            return None;
        }
        let width = kif.width() as usize;
        // Weight of the lowest bit of a value, as a power of two.
        let low = |id: ValueId, shift: i32| i64::from(shift) - i64::from(model.kif(id).frac);
        match &model.node(id).op {
            Op::Add { a, b, shift } => {
                let mut bits = self.bits_of_word(side, *a)?;
                let is_side_by_side = low(*a, 0) == low(id, 0) && low(*b, *shift) == low(id, 0) + bits.len() as i64;
                bits.extend(is_side_by_side.then(|| self.bits_of_word(side, *b))??);
                (bits.len() == width).then_some(bits)
            }
            Op::Quantise { x, shift } => {
                let class = self.representative(self.of[side][x.index()]);
                let powers = (0..width as i64).map(|place| low(id, 0) + place - i64::from(*shift));
                Some(powers.map(|power| (class, power)).collect())
            }
            _ => {
                let class = self.representative(self.of[side][id.index()]);
                Some((0..width as i64).map(|place| (class, low(id, 0) + place)).collect())
            }
        }
    }

    /// Returns a bit of a class with this power of two as weight. Each bit except the lowest is a separate class; the
    /// lowest is the remainder, so that the sum of all bits is the value.
    fn bit(&mut self, class: u32, power: i64) -> Option<Form> {
        let range = self.classes[class as usize].range.clone();
        let kif = range.kif()?;
        let (low, top) = (-i64::from(kif.frac), i64::from(kif.width()) - 1 - i64::from(kif.frac));
        // All bits above the top are copies of the sign.
        let power = if kif.signed { power.min(top) } else { power };
        if kif.width() > MOST_WORD || power < low || power > top {
            return None;
        }
        let bit = Range { lo: BigInt::ZERO, hi: BigInt::from(1), frac: 0 };
        if power > low {
            return Some(Form::from_class(self.given(Key::Bit(class, power), &bit)));
        }
        let others: Vec<Form> =
            (low + 1..=top).map(|power| Form::from_class(self.given(Key::Bit(class, power), &bit))).collect();
        let down = i32::try_from(-low).ok()?;
        let own = self.form(class);
        let mut parts: Vec<(&Form, i32, bool)> = vec![(&*own, down, kif.signed && low == top)];
        for (form, power) in others.iter().zip(low + 1..) {
            parts.push((form, i32::try_from(power).ok()? + down, !(kif.signed && power == top)));
        }
        Form::sum(&parts)
    }

    /// Records the proved affine map from another class to a class.
    pub(super) fn becomes(&mut self, own: u32, class: u32, affine: Affine) {
        if let Some(range) = affine.apply(&self.classes[class as usize].range) {
            let found = &mut self.classes[own as usize];
            found.range = found.range.clone().meet(&range);
        }
        // An image of an image is also an image of the base class.
        let number = Form::from_number(&affine.plus);
        let form = number.and_then(|n| Form::sum(&[(&self.form(class), affine.shift, affine.neg), (&n, 0, false)]));
        self.classes[own as usize].form = form.map(Rc::new);
        self.classes[own as usize].image = Some((class, affine));
    }

    /// Returns the key of a sum with a range before wrapping to a type, and the range of the result. The sum is
    /// expanded if it is short enough.
    pub(super) fn sum(&mut self, side: usize, terms: Terms, exact: Option<Range>, kif: Kif) -> (Key, Range) {
        let cut = |exact: Option<Range>| exact.map_or((Range::from_kif(kif), Cut::To(kif)), |exact| exact.cut(kif));
        let whole = self.congruent(side, &terms, kif);
        if let Some((form, range, Cut::None)) = whole {
            self.terms[side] -= form.terms.len();
            return (Key::Form(Rc::new(form), Cut::None), range);
        }
        let forms: Vec<(Rc<Form>, i32, bool)> =
            terms.iter().map(|&(class, shift, neg)| (self.form(class), shift, neg)).collect();
        let most = TERMS.0.min(self.terms[side]);
        let parts: Vec<(&Form, i32, bool)> = forms.iter().map(|(form, shift, neg)| (&**form, *shift, *neg)).collect();
        if let (Some((form, range, of)), (_, Cut::To(_))) = (whole, cut(exact.clone())) {
            self.terms[side] -= form.terms.len();
            return (Key::Form(Rc::new(form), of), range);
        }
        let is_short = parts.iter().map(|(form, ..)| form.terms.len()).sum::<usize>() <= TERMS.2;
        let form = is_short.then(|| Form::sum(&parts)).flatten().filter(|form| form.terms.len() <= most);
        let Some(form) = form.map(|form| self.with_joined_parts(form)) else {
            let (range, cut) = cut(exact);
            return (Key::Sum(terms, cut), range);
        };
        self.terms[side] -= form.terms.len();
        // If terms cancel, the range of the expanded sum is smaller than that from the ranges of the operands.
        let own = self.range_of(&form);
        let exact = match (exact, own) {
            (Some(exact), Some(own)) => Some(exact.meet(&own)),
            (exact, own) => exact.or(own),
        };
        let (range, cut) = cut(exact);
        if let (Cut::To(_), Some((form, range))) = (cut, self.last_places(&form, kif)) {
            return (Key::Form(Rc::new(form), Cut::None), range);
        }
        (Key::Form(Rc::new(form), cut), range)
    }

    /// Returns a sum over the values before wrapping, if the type of the result contains no bit that wrapping affected,
    /// so that intermediate sums may overflow. Returns `None` otherwise.
    pub(super) fn congruent(&self, side: usize, terms: &[(u32, i32, bool)], kif: Kif) -> Option<(Form, Range, Cut)> {
        let wrapped = |class: u32| self.classes[class as usize].wrapped.as_ref();
        let keeps = |&(class, shift, _): &(u32, i32, bool)| {
            wrapped(class).is_none_or(|(_, lost)| modulus(kif) <= lost + i64::from(shift))
        };
        if !terms.iter().any(|(class, ..)| wrapped(*class).is_some()) || !terms.iter().all(keeps) {
            return None;
        }
        let forms: Vec<(Rc<Form>, i32, bool)> = terms
            .iter()
            .map(|&(class, shift, neg)| (wrapped(class).map_or_else(|| self.form(class), |w| w.0.clone()), shift, neg))
            .collect();
        if forms.iter().map(|(form, ..)| form.terms.len()).sum::<usize>() > TERMS.2 {
            return None;
        }
        let parts: Vec<(&Form, i32, bool)> = forms.iter().map(|(form, shift, neg)| (&**form, *shift, *neg)).collect();
        let form = Form::sum(&parts).filter(|form| form.terms.len() <= TERMS.0.min(self.terms[side]))?;
        let range = self.range_of(&form).filter(|range| range.frac <= i64::from(kif.frac))?;
        let (range, cut) = range.cut(kif);
        Some((form, range, cut))
    }

    /// Returns the range of a sum, from the ranges of its terms.
    pub(super) fn range_of(&self, form: &Form) -> Option<Range> {
        let range = |class: u32| &self.classes[class as usize].range;
        let least = form.terms.iter().map(|(class, _)| range(*class).frac).fold(0, i64::max);
        let apart = |frac: i64| u32::try_from(least - frac).ok().filter(|up| i64::from(*up) < APART);
        let frac = form.frac + least;
        // Nearly all sums are within 128 bits.
        let unit = |frac: i64| 1i128.checked_shl(apart(frac)?).filter(|unit| *unit > 0);
        let short = || {
            let constant = form.constant.checked_mul(unit(0)?)?;
            form.terms.iter().try_fold((constant, constant), |(lo, hi), &(class, count)| {
                let (range, factor) = (range(class), count.checked_mul(unit(range(class).frac)?)?);
                let end = |code: &BigInt| i128::try_from(code).ok()?.checked_mul(factor);
                let (low, high) = (end(&range.lo)?, end(&range.hi)?);
                Some((lo.checked_add(low.min(high))?, hi.checked_add(low.max(high))?))
            })
        };
        if let Some((lo, hi)) = short() {
            return Some(Range { lo: lo.into(), hi: hi.into(), frac });
        }
        let constant = BigInt::from(form.constant) << apart(0)?;
        let sum = form.terms.iter().try_fold((constant.clone(), constant), |(lo, hi), &(class, count)| {
            let (range, up) = (range(class), apart(range(class).frac)?);
            let (low, high) = ((&range.lo * count) << up, (&range.hi * count) << up);
            let (low, high) = if count < 0 { (high, low) } else { (low, high) };
            Some((lo + low, hi + high))
        });
        sum.map(|(lo, hi)| Range { lo, hi, frac })
    }

    /// Returns the class of a number.
    pub(super) fn constant(&mut self, number: &Range) -> u32 {
        self.given(number_key(number), number)
    }

    /// Returns the class of a key that belongs to no operation.
    fn given(&mut self, key: Key, range: &Range) -> u32 {
        if let Some(&class) = self.keys.get(&key) {
            return class;
        }
        let class = self.class(None, range.clone());
        self.keys.insert(key, class);
        class
    }

    /// Returns the known class of an operation, or the key of a new one.
    pub(super) fn known(&mut self, side: usize, id: ValueId) -> Result<u32, Box<Described>> {
        let (key, mut range) = self.key(side, id);
        if range.lo == range.hi {
            return Ok(self.constant(&range));
        }
        if let Key::Sum(terms, Cut::None) = &key
            && let [(class, 0, false)] = terms[..]
        {
            return Ok(class);
        }
        if let Key::Form(form, Cut::None) = &key
            && let ([(class, 1)], 0, 0) = (&form.terms[..], form.constant, form.frac)
        {
            return Ok(*class);
        }
        if let Some(&class) = self.keys.get(&key) {
            return Ok(class);
        }
        if side == 1 && self.terms[0] < TERMS.0 && matches!(key, Key::Form(..)) {
            // Sums of the first program were not expanded any more when its terms were spent.
            let left = std::mem::take(&mut self.terms[1]);
            let (key, _) = self.key(side, id);
            self.terms[1] = left;
            if let Some(&class) = self.keys.get(&key) {
                return Ok(class);
            }
        }
        let shape = match &key {
            // If sums overflow, the bits that the key drops may belong to another sum.
            _ if self.shapes[side] == 0 => None,
            Key::Form(..) | Key::Sum(..) => {
                let kif = self.programs[side].kif(id);
                self.terms(side, id).and_then(|(terms, _)| self.shape_of_sum(&terms, Cut::To(kif)))
            }
            Key::Relu(x, cut) => self.shape_of_rectified(*x, *cut),
            _ => None,
        };
        let shape = shape.unwrap_or_default();
        self.shapes[side] = self.shapes[side].saturating_sub(shape.terms());
        if let Some(seen) = &shape.range {
            range = range.meet(seen);
            if range.lo == range.hi && side == 1 {
                return Ok(self.constant(&range));
            }
        }
        if side == 0 {
            return Err(Box::new(Described { key, range, shape }));
        }
        if let Some(form) = &shape.exact {
            let found = match (&form.terms[..], form.constant, form.frac) {
                ([], ..) => {
                    Some(self.constant(&Range { lo: form.constant.into(), hi: form.constant.into(), frac: form.frac }))
                }
                ([(class, 1)], 0, 0) => Some(*class),
                _ => self.keys.get(&Key::Form(Rc::new(form.clone()), Cut::None)).copied(),
            };
            if let Some(class) = found {
                return Ok(class);
            }
        }
        let mut images = shape.keys.iter().filter_map(|key| self.image_of_shape(key));
        match images.find(|(_, affine)| affine.is_identity()) {
            Some((class, _)) => Ok(class),
            None => Err(Box::new(Described { key, range, shape })),
        }
    }

    /// Adds a value to a class. An operation of the first program, if there is one, defines the class.
    pub(super) fn enter(&mut self, side: usize, id: ValueId, class: u32) {
        let found = &mut self.classes[class as usize];
        match found.def {
            None => found.def = Some((side, id)),
            Some((first, _)) => found.shared |= first != side,
        }
        debug_assert_eq!(self.of[side].len(), id.index());
        self.of[side].push(class);
        if side == 1
            && let Some((base, _)) = found.image
        {
            let base = &mut self.classes[base as usize];
            base.shared |= base.def.is_none_or(|(first, _)| first == 0);
        }
    }

    pub(super) fn is_constant(&self, class: u32) -> bool {
        let range = &self.classes[class as usize].range;
        range.lo == range.hi
    }

    pub(super) fn operands(&self, class: u32) -> Vec<u32> {
        if self.is_constant(class) {
            return Vec::new();
        }
        if let Some((base, _)) = &self.classes[class as usize].image {
            return vec![*base];
        }
        let Some((side, id)) = self.classes[class as usize].def else { return Vec::new() };
        self.programs[side].node(id).op.operands().iter().map(|v| self.of[side][v.index()]).collect()
    }

    /// Returns `true` if a class can only be an input of a lemma.
    pub(super) fn is_port(&self, class: u32) -> bool {
        let is_input = |(side, id): (usize, ValueId)| matches!(self.programs[side].node(id).op, Op::Input { .. });
        let found = &self.classes[class as usize];
        !self.is_constant(class) && found.image.is_none() && found.def.is_none_or(is_input)
    }

    /// Returns the classes between `roots` and values that both programs have, operands first, and these values; each
    /// path crosses `crossed` of them. Returns `None` if there are more than `most` classes.
    pub(super) fn window(&self, roots: &[u32], crossed: u32, most: usize) -> Option<Window> {
        let mut opened = FxHashSet::default();
        loop {
            let window = self.window_over(roots, crossed, most, &opened)?;
            // A port that the other ports determine is not free.
            let is_decided = |port: u32| {
                !self.is_port(port)
                    && self.window_over(&[port], 0, most, &opened).is_some_and(|own| {
                        own.ports.iter().all(|operand| *operand != port && window.ports.contains(operand))
                    })
            };
            let decided: Vec<u32> = if window.ports.len() > OPENED {
                Vec::new()
            } else {
                window.ports.iter().copied().filter(|&port| is_decided(port)).collect()
            };
            if decided.is_empty() {
                return Some(window);
            }
            opened.extend(decided);
        }
    }

    /// Returns the classes between `roots` and the given values. Returns `None` if the roots also depend on other
    /// values, or if there are more than `most` classes.
    pub(super) fn window_to(&self, roots: &[u32], ports: &[u32], most: usize) -> Option<Window> {
        let mut seen: FxHashMap<u32, bool> = ports.iter().map(|&port| (port, true)).collect();
        let (mut inner, mut stack) = (Vec::new(), roots.to_vec());
        while let Some(&class) = stack.last() {
            match seen.get(&class).copied() {
                Some(done) => {
                    stack.pop();
                    if !done {
                        seen.insert(class, true);
                        inner.push(class);
                    }
                }
                None if self.is_port(class) || inner.len() + stack.len() > most => return None,
                None => {
                    seen.insert(class, false);
                    stack.extend(self.operands(class).into_iter().filter(|c| !seen.contains_key(c)));
                }
            }
        }
        Some(Window { inner, ports: ports.to_vec() })
    }

    /// Like [`Numbering::window`], but the known values in `opened` are crossed without being counted.
    pub(super) fn window_over(
        &self,
        roots: &[u32],
        crossed: u32,
        most: usize,
        opened: &FxHashSet<u32>,
    ) -> Option<Window> {
        let mut best: FxHashMap<u32, u32> = FxHashMap::default();
        let mut left: Vec<(u32, u32)> = roots.iter().map(|&root| (root, crossed + 1)).collect();
        while let Some((class, cuts)) = left.pop() {
            let known = best.entry(class).or_insert(0);
            if *known >= cuts || self.is_port(class) {
                continue;
            }
            *known = cuts;
            for operand in self.operands(class) {
                let is_cut =
                    self.classes[operand as usize].shared && !self.is_constant(operand) && !opened.contains(&operand);
                let cuts = cuts - u32::from(is_cut);
                best.entry(operand).or_insert(0);
                left.push((operand, cuts));
            }
            if best.len() > most {
                return None;
            }
        }
        let is_inner = |class: u32| best.get(&class).is_some_and(|&cuts| cuts > 0);
        let (mut inner, mut ports) = (Vec::new(), Vec::new());
        let mut seen: FxHashMap<u32, bool> = FxHashMap::default();
        let mut stack: Vec<u32> = roots.to_vec();
        while let Some(&class) = stack.last() {
            match seen.get(&class).copied() {
                Some(true) => {
                    stack.pop();
                }
                Some(false) => {
                    stack.pop();
                    seen.insert(class, true);
                    inner.push(class);
                }
                None if is_inner(class) => {
                    seen.insert(class, false);
                    stack.extend(self.operands(class).into_iter().filter(|c| !seen.contains_key(c)));
                }
                None => {
                    stack.pop();
                    seen.insert(class, true);
                    ports.push(class);
                }
            }
        }
        Some(Window { inner, ports })
    }

    /// Returns a type that contains a class and an image of another class; `None` if the type is too wide.
    pub(super) fn root_kif(&self, (class, affine): (u32, &Affine), own: u32) -> Option<Kif> {
        let range = |class: u32| &self.classes[class as usize].range;
        let (x, y) = (affine.apply(range(class))?.kif()?, range(own).kif()?);
        Some(Kif { signed: x.signed || y.signed, int: x.int.max(y.int), frac: x.frac.max(y.frac) })
    }

    /// Builds the program from the inputs of a window to roots, each root wrapped to a type.
    ///
    /// With `clamped`, an input whose type is wider than its range is clamped to the range first.
    pub(super) fn statement(&self, window: &Window, roots: &[Root<'_>], clamped: bool) -> Option<Model> {
        let mut builder = Builder::new(vec![0; window.ports.len()]);
        builder.limits(Limits::derived());
        let mut at: FxHashMap<u32, (ValueId, Kif)> = FxHashMap::default();
        for (input, &class) in window.ports.iter().enumerate() {
            let (range, wraps) = self.input(class);
            let kif = range.kif()?;
            let id = builder.op(Op::Input { input: input as u32 }, Interval::full(kif));
            let x = if clamped { within(&mut builder, range, id, kif)? } else { id };
            at.insert(
                class,
                match wraps {
                    Some(of) => (builder.op(Op::Quantise { x, shift: 0 }, Interval::full(of)), of),
                    None => (x, kif),
                },
            );
        }
        let needed = self.needed(window, roots);
        let mut tables: FxHashMap<(usize, TableId), TableId> = FxHashMap::default();
        for &class in window.inner.iter().filter(|class| needed.contains(class)) {
            if self.is_constant(class) {
                let range = &self.classes[class as usize].range;
                let kif = range.kif()?;
                let value = Code::from(&range.lo);
                at.insert(class, (builder.op(Op::Const { value }, Interval::full(kif)), kif));
                continue;
            }
            if let Some((base, affine)) = &self.classes[class as usize].image {
                let &(x, kif) = at.get(base)?;
                at.insert(class, affine_of(&mut builder, x, kif, affine)?);
                continue;
            }
            let (side, id) = self.classes[class as usize].def?;
            let model = self.programs[side];
            let mut op = model.node(id).op.clone();
            // These operations read bits of their operand, which depend on its type.
            let exact = match &op {
                Op::Mux { cond: x, .. } | Op::Lookup { x, .. } | Op::Unary { x, .. } => Some(*x),
                _ => None,
            };
            let mut missing = false;
            let of_type = exact.and_then(|x| {
                let &(own, has) = at.get(&self.of[side][x.index()])?;
                let kif = model.kif(x);
                let cut = |builder: &mut Builder| builder.op(Op::Quantise { x: own, shift: 0 }, Interval::full(kif));
                Some(if has == kif { own } else { cut(&mut builder) })
            });
            op.map_operands(|v| match at.get(&self.of[side][v.index()]) {
                Some(&(id, _)) => id,
                None => {
                    missing = true;
                    v
                }
            });
            match (&mut op, of_type) {
                (Op::Mux { cond: x, .. } | Op::Lookup { x, .. } | Op::Unary { x, .. }, Some(own)) => *x = own,
                (_, None) => {}
                _ => missing = true,
            }
            if missing {
                return None;
            }
            if let Op::Lookup { table, .. } = &mut op {
                let own: &Table = model.table(*table);
                *table = *tables.entry((side, *table)).or_insert_with(|| builder.table(own.clone()));
            }
            let kif = model.kif(id);
            at.insert(class, (builder.op(op, Interval::full(kif)), kif));
        }
        for root in roots {
            let (mut x, kif) = match root.class {
                Some(class) => *at.get(&class)?,
                None => (builder.op(Op::Const { value: Code::ZERO }, Interval::full(Kif::ZERO)), Kif::ZERO),
            };
            if root.neg {
                x = builder.op(Op::Neg { x }, Interval::full(kif).negated());
            }
            if let Some(affine) = root.affine {
                x = affine_of(&mut builder, x, kif, affine)?.0;
            }
            let x = builder.op(Op::Quantise { x, shift: root.shift }, Interval::full(root.kif));
            builder.output(Output { source: Some(x), shift: 0, neg: false });
        }
        builder.finish().ok()
    }

    /// Returns the classes of a window on which some roots depend.
    pub(super) fn needed(&self, window: &Window, roots: &[Root<'_>]) -> FxHashSet<u32> {
        let mut needed: FxHashSet<u32> = roots.iter().filter_map(|root| root.class).collect();
        for &class in window.inner.iter().rev() {
            if needed.contains(&class) {
                needed.extend(self.operands(class));
            }
        }
        needed
    }
}

/// Returns the exponent of the modulus of a type.
pub(super) fn modulus(kif: Kif) -> i64 {
    i64::from(kif.int) + i64::from(kif.signed)
}

/// Appends the operations of an affine map of a value; returns the value and its type.
fn affine_of(builder: &mut Builder, x: ValueId, kif: Kif, affine: &Affine) -> Option<(ValueId, Kif)> {
    let scaled = Range::from_kif(kif).multiplied(affine.shift, affine.neg);
    let own = scaled.kif()?;
    let terms = [alir_core::ir::Term { value: x, shift: affine.shift, neg: affine.neg }];
    let y = builder.op(Op::Sum { terms: terms.into() }, Interval::full(own));
    if affine.plus.lo.is_zero() {
        return Some((y, own));
    }
    let kif = scaled.plus(&affine.plus)?.kif()?;
    let of = affine.plus.kif()?;
    let value = Code::from(&affine.plus.lo);
    let value = builder.op(Op::Const { value }, Interval::full(of));
    Some((builder.op(Op::Add { a: y, b: value, shift: 0 }, Interval::full(kif)), kif))
}

/// Appends operations that clamp a value to a range; returns the clamped value.
fn within(builder: &mut Builder, range: &Range, x: ValueId, kif: Kif) -> Option<ValueId> {
    let range = range.at(i64::from(kif.frac))?;
    let wide = Kif { signed: true, int: kif.int + 2, frac: kif.frac };
    let mut x = x;
    for (end, is_low) in [(&range.lo, true), (&range.hi, false)] {
        if *end == if is_low { kif.min_code() } else { kif.max_code() } {
            continue;
        }
        let value = builder.op(Op::Const { value: Code::from(end) }, Interval::full(kif));
        let (a, b) = if is_low { (x, value) } else { (value, x) };
        let outside = builder.op(Op::Sub { a, b, shift: 0 }, Interval::full(wide));
        let choice = Op::Mux { cond: outside, on_true: value, on_false: x, shift: 0 };
        x = builder.op(choice, Interval::full(kif));
    }
    Some(x)
}

/// Returns the key of a number: an odd multiple of a power of two.
fn number_key(number: &Range) -> Key {
    match number.lo.trailing_zeros() {
        None => Key::Number(BigInt::ZERO, 0),
        Some(zeros) => Key::Number(&number.lo >> zeros, number.frac - zeros as i64),
    }
}

/// Window: a part of both programs.
pub(super) struct Window {
    /// Computed classes, operands first.
    pub(super) inner: Vec<u32>,
    /// Input classes, which may have any number of their range.
    pub(super) ports: Vec<u32>,
}

/// Output of a lemma's program.
#[derive(Clone, Copy)]
pub(super) struct Root<'r> {
    /// Class of the output; `None` for zero.
    pub(super) class: Option<u32>,
    pub(super) neg: bool,
    pub(super) shift: i32,
    /// Affine map that is applied to the class before negation and shift.
    pub(super) affine: Option<&'r Affine>,
    pub(super) kif: Kif,
}
