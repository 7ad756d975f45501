//! Two programs value by value: which values are the same number for every input.
//!
//! Values are numbered as in value numbering (Alpern, Wegman and Zadeck, POPL 1988, in its hashing form): operations that
//! do the same with operands of the same classes are one class. What an operation does is said over real numbers: sums are
//! sets of terms, and a type that no value overflows or rounds to is left out, by intervals that start at the types of the
//! ports. So a program that was narrowed, reordered or shared has the same classes. Where two programs differ, a value of
//! the second is compared with one of the first that showed the same for some inputs, by a proof of its own over the nearest
//! values that are known to be the same, as free inputs. If it holds, the classes become one, and what reads them is the same
//! without a proof. Such a small statement is stronger than what has to be shown, so one that fails says nothing.
//!
//! Outputs that are left are compared over the same cut, and if that fails as whole programs.

use super::engine::{Counts, Engine, Question};
use super::equiv::{self, Report, Request, Verdict};
use super::program;
use super::sat::Solver;
use crate::interp::{LookupMiss, Plan, PlanOptions, Step, golden, golden_steps};
use crate::ir::{BinaryBits, Builder, Limits, Model, Op, Output, Table, TableId, UnaryBits, ValueId, draw_inputs};
use crate::num::{Code, Interval, Kif, SplitMix};
use num_bigint::BigInt;
use num_traits::Zero;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Binary points further apart than this are not brought together.
const APART: i64 = 1 << 12;
/// Least and most inputs by which values are recognised, and how many operations are shown for them, if that is more than the least.
const SAMPLES: (usize, usize, usize) = (32, 256, 2_000_000);
/// Units of work that one small statement may take, in turn: values that are open after one round are tried again.
const ROUNDS: [u64; 2] = [300_000, 3_000_000];
/// Times as much for the statement over the outputs that are open.
const OUTPUTS: u64 = 10;
/// Units that making one takes, for each of its operations.
const MAKING: u64 = 1_500;
/// Most inputs of one among which those are looked for that the others decide.
const OPENED: usize = 16;
/// Most operations in one, on both sides together.
const WINDOW: usize = 256;
/// Values known to be the same that a path of a small statement crosses, in turn.
const CROSSED: [u32; 3] = [0, 2, 8];
/// Values of the first program that one of the second is compared with, and of how many of these statements are proved.
const CANDIDATES: (usize, usize) = (8, 2);
/// Numbers of one value by which what depends on it is recognised.
const LOCAL: u64 = 96;
/// Steps of what is drawn for a whole sample.
const EIGHTHS: u64 = 8;
/// Most operations over which it is seen how many inputs a candidate has.
const NEAR: usize = 64;
/// Values of the first program that are remembered for what they showed.
const SAME: usize = 256;
/// Most terms in a linear form, in all forms of a program together, and in those that are added to one.
const TERMS: (usize, usize, usize) = (512, 2_000_000, 8_192);
/// Inputs of a small statement that are tried before it is proved.
const TRIALS: usize = 12;
/// Units that one of these takes, for each operation.
const TRIAL: u64 = 30;
/// Most inputs of a small statement that all of them are tried; units that making the engine's plans takes, for each
/// operation; how many operations of the engine are a unit.
const ALL_INPUTS: (u64, u64, u64) = (1 << 20, 1_000, 10);
/// Inputs that are tried at a time.
const BLOCK: u64 = 1 << 14;
/// Units of work that all small statements may take: a constant, and an amount for each operation of both programs.
const LEMMAS: (u64, u64) = (100_000_000, 40_000);
/// Units that numbering takes for each operation, and recognising values by samples.
const NUMBERING: (u64, u64) = (100, 1_000);

/// All multiples of `2^-frac` from `lo` to `hi`, both counted in these.
#[derive(Clone, Debug, PartialEq)]
struct Range {
    lo: BigInt,
    hi: BigInt,
    frac: i64,
}

impl Range {
    fn of(kif: Kif) -> Range {
        Range { lo: kif.min_code(), hi: kif.max_code(), frac: i64::from(kif.frac) }
    }

    /// In other units, rounded down; nothing if they are too far apart.
    fn at(&self, frac: i64) -> Option<Range> {
        let up = frac - self.frac;
        if up.abs() > APART {
            return None;
        }
        let moved = |v: &BigInt| if up >= 0 { v << up } else { v >> -up };
        Some(Range { lo: moved(&self.lo), hi: moved(&self.hi), frac })
    }

    fn scaled(&self, shift: i32) -> Range {
        Range { frac: self.frac - i64::from(shift), ..self.clone() }
    }

    fn negated(&self) -> Range {
        Range { lo: -&self.hi, hi: -&self.lo, frac: self.frac }
    }

    fn plus(&self, other: &Range) -> Option<Range> {
        let frac = self.frac.max(other.frac);
        let (a, b) = (self.at(frac)?, other.at(frac)?);
        Some(Range { lo: a.lo + b.lo, hi: a.hi + b.hi, frac })
    }

    fn times(&self, other: &Range) -> Range {
        let corners = [&self.lo * &other.lo, &self.lo * &other.hi, &self.hi * &other.lo, &self.hi * &other.hi];
        let frac = self.frac + other.frac;
        let (lo, hi) = (corners.iter().min().cloned(), corners.iter().max().cloned());
        Range { lo: lo.unwrap_or_default(), hi: hi.unwrap_or_default(), frac }
    }

    fn hull(&self, other: &Range) -> Option<Range> {
        let frac = self.frac.max(other.frac);
        let (a, b) = (self.at(frac)?, other.at(frac)?);
        Some(Range { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi), frac })
    }

    /// What lies in both; the first one if that is nothing.
    fn meet(self, other: &Range) -> Range {
        let (fine, coarse) = (self.frac.max(other.frac), self.frac.min(other.frac));
        let (Some(a), Some(b)) = (self.at(fine), other.at(fine)) else { return self };
        let down = fine - coarse;
        let (lo, hi) = (-(-a.lo.max(b.lo) >> down), a.hi.min(b.hi) >> down);
        if lo > hi { self } else { Range { lo, hi, frac: coarse } }
    }

    /// In units of the smallest type that holds it.
    fn at_kif(&self) -> Option<Range> {
        self.at(i64::from(self.kif()?.frac))
    }

    /// The smallest type that holds it, if there is one.
    fn kif(&self) -> Option<Kif> {
        let frac = i32::try_from(self.frac).ok()?;
        Some(Interval::new(self.lo.clone(), self.hi.clone(), frac).kif())
    }

    /// What a value of this range is after it was cut to a type, and how much the type matters for that.
    fn cut(&self, kif: Kif) -> (Range, Cut) {
        let frac = i64::from(kif.frac);
        let fits = self.at(frac).filter(|r| kif.holds(&r.lo) && kif.holds(&r.hi));
        match fits {
            Some(_) if self.frac <= frac => (self.clone(), Cut::None),
            Some(rounded) => (rounded, Cut::Below(frac)),
            None => (Range::of(kif), Cut::To(kif)),
        }
    }
}

/// A sum of multiples of classes and a constant, all times `2^-frac`. Not everything is even, so equal forms look equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Form {
    /// Classes, ascending, and what each counts.
    terms: Vec<(u32, i128)>,
    constant: i128,
    frac: i64,
}

impl Form {
    fn of_class(class: u32) -> Form {
        Form { terms: vec![(class, 1)], constant: 0, frac: 0 }
    }

    fn of_number(number: &Range) -> Option<Form> {
        Some(Form { terms: Vec::new(), constant: i128::try_from(&number.lo).ok()?, frac: number.frac }.reduced())
    }

    /// The same number with the smallest factors.
    fn reduced(mut self) -> Form {
        let all = self.terms.iter().fold(self.constant, |all, term| all | term.1);
        if all == 0 {
            self.frac = 0;
            return self;
        }
        let zeros = all.trailing_zeros();
        self.frac -= i64::from(zeros);
        self.constant >>= zeros;
        self.terms.iter_mut().for_each(|term| term.1 >>= zeros);
        self
    }

    /// The sum of scaled forms, subtracted where marked. Nothing if numbers get too large.
    fn sum(parts: &[(&Form, i32, bool)]) -> Option<Form> {
        let frac = parts.iter().map(|(form, shift, _)| form.frac - i64::from(*shift)).max().unwrap_or(0);
        let mut sum = Form { terms: Vec::new(), constant: 0, frac };
        for (form, shift, neg) in parts {
            let up = u32::try_from(frac - (form.frac - i64::from(*shift))).ok().filter(|up| *up < 120)?;
            let moved = |v: i128| {
                let v = v.checked_mul(1 << up)?;
                if *neg { v.checked_neg() } else { Some(v) }
            };
            sum.constant = sum.constant.checked_add(moved(form.constant)?)?;
            for &(class, count) in &form.terms {
                sum.terms.push((class, moved(count)?));
            }
        }
        sum.terms.sort_unstable_by_key(|term| term.0);
        let mut all: Vec<(u32, i128)> = Vec::with_capacity(sum.terms.len());
        for (class, count) in sum.terms {
            match all.last_mut().filter(|last| last.0 == class) {
                Some(last) => last.1 = last.1.checked_add(count)?,
                None => all.push((class, count)),
            }
        }
        all.retain(|term| term.1 != 0);
        sum.terms = all;
        Some(sum.reduced())
    }

    /// Of which other form this one is an image, if it is one: `±2^shift` times it and a constant.
    fn as_image_of(&self, other: &Form) -> Option<Affine> {
        let scale = |form: &Form| {
            let zeros = form.terms.iter().fold(0, |all, term| all | term.1).trailing_zeros();
            (zeros, form.frac - i64::from(zeros))
        };
        let (&(_, first), &(_, second)) = (self.terms.first()?, other.terms.first()?);
        let ((own, frac), (its, its_frac)) = (scale(self), scale(other));
        let neg = (first < 0) != (second < 0);
        let same = |(a, b): (&(u32, i128), &(u32, i128))| {
            a.0 == b.0 && (a.1 >> own) == if neg { -(b.1 >> its) } else { b.1 >> its }
        };
        if self.terms.len() != other.terms.len() || !self.terms.iter().zip(&other.terms).all(same) {
            return None;
        }
        let shift = i32::try_from(its_frac - frac).ok()?;
        let constant = |form: &Form| Form { terms: Vec::new(), constant: form.constant, frac: form.frac }.reduced();
        let plus = Form::sum(&[(&constant(self), 0, false), (&constant(other), shift, !neg)])?;
        Some(Affine { neg, shift, plus: Range { lo: plus.constant.into(), hi: plus.constant.into(), frac: plus.frac } })
    }

    /// The same for all images of a form.
    fn direction(&self) -> Option<u64> {
        let &(_, first) = self.terms.first()?;
        let zeros = self.terms.iter().fold(0, |all, term| all | term.1).trailing_zeros();
        let mut hash = FxHasher::default();
        for (class, count) in &self.terms {
            (*class, if first < 0 { -(count >> zeros) } else { count >> zeros }).hash(&mut hash);
        }
        Some(hash.finish())
    }
}

/// `±2^shift` times a number and a constant.
#[derive(Clone, Debug, PartialEq)]
struct Affine {
    neg: bool,
    shift: i32,
    plus: Range,
}

impl Affine {
    fn is_identity(&self) -> bool {
        !self.neg && self.shift == 0 && self.plus.lo.is_zero()
    }

    /// The range of a number whose image is in a range.
    fn before(&self, range: &Range) -> Option<Range> {
        let scaled = range.plus(&self.plus.negated())?.scaled(-self.shift);
        Some(if self.neg { scaled.negated() } else { scaled })
    }

    fn of(&self, range: &Range) -> Option<Range> {
        let scaled = range.scaled(self.shift);
        if self.neg { scaled.negated() } else { scaled }.plus(&self.plus)
    }
}

/// What is cut off a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Cut {
    /// Nothing.
    None,
    /// What lies below that many binary places.
    Below(i64),
    /// What lies outside of a type.
    To(Kif),
}

/// What an operation does, over classes of operands. The same key is the same number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// An odd multiple of a power of two, or zero.
    Number(BigInt, i64),
    Port(u32),
    /// The sum of scaled classes, subtracted where marked.
    Sum(Vec<(u32, i32, bool)>, Cut),
    /// The same with all sums written out that nothing is cut off.
    Form(Rc<Form>, Cut),
    Relu(u32, Cut),
    Mux {
        cond: (u32, Kif),
        on_true: u32,
        on_false: (u32, i32),
        cut: Cut,
    },
    Mul(u32, u32, Cut),
    /// Codes of entries and of the operand depend on where the binary points are.
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

/// Values that are the same number for every input.
struct Class {
    /// An operation that computes it: of the first program if one does.
    def: Option<(usize, ValueId)>,
    range: Range,
    /// Whether both programs have it, or an image of it.
    shared: bool,
    /// What it is of other classes, if it is a sum of them that nothing was cut off.
    form: Option<Rc<Form>>,
    /// Another class that it is an image of.
    image: Option<(u32, Affine)>,
    /// A sum of other classes that it is but for a multiple of two to this power.
    wrapped: Option<(Rc<Form>, i64)>,
}

/// Both programs with what is known of their values.
struct Numbering<'a> {
    programs: [&'a Model; 2],
    classes: Vec<Class>,
    keys: FxHashMap<Key, u32>,
    tables: FxHashMap<&'a [i32], u32>,
    /// The class of each value.
    of: [Vec<u32>; 2],
    /// Classes by the direction of their forms.
    directions: FxHashMap<u64, u32>,
    /// Terms that forms of each program may still have.
    terms: [usize; 2],
    /// Classes of the first program that read a class.
    readers: FxHashMap<u32, Vec<u32>>,
}

impl<'a> Numbering<'a> {
    fn class(&mut self, def: Option<(usize, ValueId)>, range: Range) -> u32 {
        self.classes.push(Class { def, range, shared: false, form: None, image: None, wrapped: None });
        self.classes.len() as u32 - 1
    }

    fn form(&self, class: u32) -> Rc<Form> {
        let found = &self.classes[class as usize];
        match &found.form {
            Some(form) => form.clone(),
            None if self.is_constant(class) => {
                Rc::new(Form::of_number(&found.range).unwrap_or_else(|| Form::of_class(class)))
            }
            None => Rc::new(Form::of_class(class)),
        }
    }

    /// A class with what is known of it by a key of its own: the first of its direction is what others are images of.
    fn describe(&mut self, class: u32, key: &Key) {
        if let Key::Form(form, Cut::To(kif)) = key
            && self.range_of(form).is_some_and(|range| range.frac <= i64::from(kif.frac))
        {
            self.classes[class as usize].wrapped = Some((form.clone(), modulus(*kif)));
        }
        let Key::Form(form, Cut::None) = key else { return };
        // A count of comparisons, such as a quantiser with thresholds, is a number of its own: written out, sums of
        // many of these would be too long.
        let is_bit = |class: u32| {
            let range = &self.classes[class as usize].range;
            range.frac == 0 && range.lo.is_zero() && range.hi == BigInt::from(1)
        };
        if form.terms.len() > 2 && form.terms.iter().all(|(class, _)| is_bit(*class)) {
            return;
        }
        self.classes[class as usize].form = Some(form.clone());
        let Some(direction) = form.direction() else { return };
        // Images of one class alone are of that class.
        let base = match form.terms[..] {
            [(base, _)] => Some(base),
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

    /// The key of an operation whose operands are numbered, and the range of its result.
    fn key(&mut self, side: usize, id: ValueId) -> (Key, Range) {
        let model = self.programs[side];
        let kif = model.kif(id);
        let class = |v: ValueId| self.of[side][v.index()];
        let range = |v: ValueId| &self.classes[class(v) as usize].range;
        let full = Range::of(kif);
        let cut = |exact: Option<Range>| exact.map_or((full.clone(), Cut::To(kif)), |exact| exact.cut(kif));
        let number = |v: &BigInt, frac: i64| Range { lo: v.clone(), hi: v.clone(), frac };
        match &model.node(id).op {
            Op::Input { input } => {
                let port = Range::of(model.input_kifs()[*input as usize]);
                let (range, cut) = cut(Some(port.clone()));
                let class = *self.keys.entry(Key::Port(*input)).or_insert_with(|| {
                    self.classes.push(Class {
                        def: None,
                        range: port,
                        shared: false,
                        form: None,
                        image: None,
                        wrapped: None,
                    });
                    self.classes.len() as u32 - 1
                });
                (Key::Form(Rc::new(Form::of_class(class)), cut), range)
            }
            Op::Const { value } => {
                let (range, cut) = cut(Some(number(&value.to_big(), i64::from(kif.frac))));
                (Key::Sum(vec![], cut), range)
            }
            op @ (Op::Neg { .. }
            | Op::Add { .. }
            | Op::Sub { .. }
            | Op::Sum { .. }
            | Op::Quantise { .. }
            | Op::AddConst { .. }) => {
                let mut all: Vec<(ValueId, i32, bool)> = Vec::new();
                match op {
                    Op::Neg { x } => all.push((*x, 0, true)),
                    Op::Quantise { x, shift } => all.push((*x, *shift, false)),
                    Op::AddConst { x, .. } => all.push((*x, 0, false)),
                    Op::Add { a, b, shift } => all.extend([(*a, 0, false), (*b, *shift, false)]),
                    Op::Sub { a, b, shift } => all.extend([(*a, 0, false), (*b, *shift, true)]),
                    Op::Sum { terms } => all.extend(terms.iter().map(|t| (t.value, t.shift, t.neg))),
                    _ => {}
                }
                let mut ranges: Vec<Range> = Vec::with_capacity(all.len() + 1);
                let mut terms = Vec::with_capacity(all.len() + 1);
                for (v, shift, neg) in all {
                    let scaled = range(v).scaled(shift);
                    ranges.push(if neg { scaled.negated() } else { scaled });
                    terms.push((class(v), shift, neg));
                }
                if let Op::AddConst { value, shift, .. } = op {
                    let constant = number(&value.to_big(), i64::from(*shift));
                    terms.push((self.constant(&constant), 0, false));
                    ranges.push(constant);
                }
                let exact = ranges
                    .split_first()
                    .and_then(|(first, rest)| rest.iter().try_fold(first.clone(), |sum, term| sum.plus(term)));
                terms.sort_unstable();
                self.sum(side, terms, exact, kif)
            }
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
                let (range, cut) = cut(range(*on_true).hull(&range(*on_false).scaled(*shift)));
                let cond = (class(*cond), model.kif(*cond));
                (Key::Mux { cond, on_true: class(*on_true), on_false: (class(*on_false), *shift), cut }, range)
            }
            Op::Mul { a, b } => {
                let (range, cut) = cut(Some(range(*a).times(range(*b))));
                let (a, b) = (class(*a), class(*b));
                (Key::Mul(a.min(b), a.max(b), cut), range)
            }
            Op::Lookup { x, table, base } => {
                let entries = &model.table(*table).entries;
                // An index outside of the table reads zero.
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

    /// A class is an image of another, as was shown.
    fn becomes(&mut self, own: u32, class: u32, affine: Affine) {
        if let Some(range) = affine.of(&self.classes[class as usize].range) {
            let found = &mut self.classes[own as usize];
            found.range = found.range.clone().meet(&range);
        }
        // The image of an image is one of its class.
        let number = Form::of_number(&affine.plus);
        let form = number.and_then(|n| Form::sum(&[(&self.form(class), affine.shift, affine.neg), (&n, 0, false)]));
        self.classes[own as usize].form = form.map(Rc::new);
        self.classes[own as usize].image = Some((class, affine));
    }

    /// The key of a sum that is in a range before it is cut to a type, written out if that is not too long, and the
    /// range of its result.
    fn sum(&mut self, side: usize, terms: Vec<(u32, i32, bool)>, exact: Option<Range>, kif: Kif) -> (Key, Range) {
        let cut = |exact: Option<Range>| exact.map_or((Range::of(kif), Cut::To(kif)), |exact| exact.cut(kif));
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
        let Some(form) = form else {
            let (range, cut) = cut(exact);
            return (Key::Sum(terms, cut), range);
        };
        self.terms[side] -= form.terms.len();
        // Terms that cancel make the range of the written out sum smaller than that of the operands' ranges.
        let own = self.range_of(&form);
        let exact = match (exact, own) {
            (Some(exact), Some(own)) => Some(exact.meet(&own)),
            (exact, own) => exact.or(own),
        };
        let (range, cut) = cut(exact);
        (Key::Form(Rc::new(form), cut), range)
    }

    /// A sum over values of which some were cut at the top, if its type keeps no bit that these lost: what they were
    /// before can be added as well. So intermediate sums may overflow.
    fn congruent(&self, side: usize, terms: &[(u32, i32, bool)], kif: Kif) -> Option<(Form, Range, Cut)> {
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

    /// All numbers that a sum can be, by the ranges of its terms.
    fn range_of(&self, form: &Form) -> Option<Range> {
        let least = form.terms.iter().map(|(class, _)| self.classes[*class as usize].range.frac).max().unwrap_or(0);
        let (mut lo, mut hi) = (BigInt::from(form.constant), BigInt::from(form.constant));
        let up = u64::try_from(least.max(0)).ok().filter(|up| *up < APART as u64)?;
        (lo, hi) = (lo << up, hi << up);
        for (class, count) in &form.terms {
            let range = &self.classes[*class as usize].range;
            let up = u64::try_from(least.max(0) - range.frac).ok().filter(|up| *up < APART as u64)?;
            let (low, high) = ((&range.lo * count) << up, (&range.hi * count) << up);
            let (low, high) = if *count < 0 { (high, low) } else { (low, high) };
            (lo, hi) = (lo + low, hi + high);
        }
        Some(Range { lo, hi, frac: form.frac + least.max(0) })
    }

    /// The class of a number.
    fn constant(&mut self, number: &Range) -> u32 {
        let key = number_key(number);
        if let Some(&class) = self.keys.get(&key) {
            return class;
        }
        let class = self.class(None, number.clone());
        self.keys.insert(key, class);
        class
    }

    /// The class that an operation is known to have, or the key under which a new one has to be entered.
    fn known(&mut self, side: usize, id: ValueId) -> Result<u32, Box<(Key, Range)>> {
        let (key, range) = self.key(side, id);
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
        self.keys.get(&key).copied().ok_or_else(|| Box::new((key, range)))
    }

    /// A value of a class. A class is defined by an operation of the first program if it has one.
    fn enter(&mut self, side: usize, id: ValueId, class: u32) {
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

    fn is_constant(&self, class: u32) -> bool {
        let range = &self.classes[class as usize].range;
        range.lo == range.hi
    }

    fn operands(&self, class: u32) -> Vec<u32> {
        if self.is_constant(class) {
            return Vec::new();
        }
        if let Some((base, _)) = &self.classes[class as usize].image {
            return vec![*base];
        }
        let Some((side, id)) = self.classes[class as usize].def else { return Vec::new() };
        self.programs[side].node(id).op.operands().iter().map(|v| self.of[side][v.index()]).collect()
    }

    /// Whether a class is an input of every statement that it is in.
    fn is_port(&self, class: u32) -> bool {
        let is_input = |(side, id): (usize, ValueId)| matches!(self.programs[side].node(id).op, Op::Input { .. });
        let found = &self.classes[class as usize];
        !self.is_constant(class) && found.image.is_none() && found.def.is_none_or(is_input)
    }

    /// The classes between `roots` and values that both programs have, operands first, and those values. Each path
    /// crosses that many of them. Nothing if there are more than `most`.
    fn window(&self, roots: &[u32], crossed: u32, most: usize) -> Option<Window> {
        let mut opened = FxHashSet::default();
        loop {
            let window = self.window_over(roots, crossed, most, &opened)?;
            // One that the others decide is not any number beside them.
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

    /// The same, where some of these values are passed without being counted.
    fn window_over(&self, roots: &[u32], crossed: u32, most: usize, opened: &FxHashSet<u32>) -> Option<Window> {
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

    /// A type that holds a class and the image of another.
    fn root_kif(&self, (class, affine): (u32, &Affine), own: u32) -> Option<Kif> {
        let range = |class: u32| &self.classes[class as usize].range;
        let (x, y) = (affine.of(range(class))?.kif()?, range(own).kif()?);
        Some(Kif { signed: x.signed || y.signed, int: x.int.max(y.int), frac: x.frac.max(y.frac) })
    }

    /// The program from a window's inputs to roots, each cut to a type.
    ///
    /// An input of a type that holds more than its range is brought into it first if `clamped`.
    fn statement(&self, window: &Window, roots: &[Root<'_>], clamped: bool) -> Option<Model> {
        let mut builder = Builder::new(vec![0; window.ports.len()]);
        builder.limits(Limits::derived());
        let mut at: FxHashMap<u32, (ValueId, Kif)> = FxHashMap::default();
        for (input, &class) in window.ports.iter().enumerate() {
            let kif = self.classes[class as usize].range.kif()?;
            let id = builder.op(Op::Input { input: input as u32 }, Interval::full(kif));
            let id = if clamped { self.clamped(&mut builder, class, id, kif)? } else { id };
            at.insert(class, (id, kif));
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
            // These read bits of their operand, which its type gives.
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

    /// The nearest number in the range of a class.
    fn clamped(&self, builder: &mut Builder, class: u32, x: ValueId, kif: Kif) -> Option<ValueId> {
        let range = self.classes[class as usize].range.at(i64::from(kif.frac))?;
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

    /// Which classes of a window some roots depend on.
    fn needed(&self, window: &Window, roots: &[Root<'_>]) -> FxHashSet<u32> {
        let mut needed: FxHashSet<u32> = roots.iter().filter_map(|root| root.class).collect();
        for &class in window.inner.iter().rev() {
            if needed.contains(&class) {
                needed.extend(self.operands(class));
            }
        }
        needed
    }
}

/// A type holds numbers but for a multiple of two to this power.
fn modulus(kif: Kif) -> i64 {
    i64::from(kif.int) + i64::from(kif.signed)
}

/// The operations of an image of a value, and the type of the result.
fn affine_of(builder: &mut Builder, x: ValueId, kif: Kif, affine: &Affine) -> Option<(ValueId, Kif)> {
    let scaled = Range::of(kif).scaled(affine.shift);
    let scaled = if affine.neg { scaled.negated() } else { scaled };
    let own = scaled.kif()?;
    let terms = [crate::ir::Term { value: x, shift: affine.shift, neg: affine.neg }];
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

/// A number as a key: an odd multiple of a power of two.
fn number_key(number: &Range) -> Key {
    match number.lo.trailing_zeros() {
        None => Key::Number(BigInt::ZERO, 0),
        Some(zeros) => Key::Number(&number.lo >> zeros, number.frac - zeros as i64),
    }
}

/// A part of both programs.
struct Window {
    /// Classes that are computed, operands first.
    inner: Vec<u32>,
    /// Classes that are any number of their range.
    ports: Vec<u32>,
}

/// An output of a statement.
#[derive(Clone, Copy)]
struct Root<'r> {
    /// Zero if nothing.
    class: Option<u32>,
    neg: bool,
    shift: i32,
    /// What is done to the class first.
    affine: Option<&'r Affine>,
    kif: Kif,
}

/// What a comparison has spent, and what it leaves for a certificate.
struct Spending<'s> {
    request: &'s Request,
    solver: &'s dyn Fn() -> Box<dyn Solver>,
    left: u64,
    spent: u64,
    counts: Counts,
    questions: Vec<Question>,
    /// Statements of a round that were neither proved nor refuted by an input.
    open: usize,
    /// The least and largest code of the output of the statement that was tried for all inputs last.
    ends: Option<(i64, i64)>,
}

impl<'s> Spending<'s> {
    fn new(request: &'s Request, solver: &'s dyn Fn() -> Box<dyn Solver>, left: u64) -> Spending<'s> {
        Spending {
            request,
            solver,
            left,
            spent: 0,
            counts: Counts::default(),
            questions: Vec::new(),
            open: 0,
            ends: None,
        }
    }

    fn spend(&mut self, units: u64) {
        self.spent += units;
        self.left = self.left.saturating_sub(units);
    }

    /// Whether two small programs with one output differ for some inputs in their ranges.
    fn differ(&mut self, a: &Model, b: &Model, ranges: &[Range]) -> bool {
        self.spend(TRIAL * (TRIALS * (a.nodes().len() + b.nodes().len())) as u64);
        let mut rng = SplitMix::new(0x74_72_69_61);
        (0..TRIALS).any(|trial| {
            let codes: Vec<BigInt> = ranges
                .iter()
                .map(|range| match trial {
                    0 => range.lo.clone(),
                    1 => range.hi.clone(),
                    _ => &range.lo + BigInt::from(rng.word()) * (&range.hi - &range.lo + 1) / (BigInt::from(1) << 64),
                })
                .collect();
            golden(a, &codes, LookupMiss::Zero).ok() != golden(b, &codes, LookupMiss::Zero).ok()
        })
    }

    /// Whether two small programs with one output are equal for all inputs in their ranges, if these are few.
    fn tried(&mut self, a: &Model, b: &Model, ranges: &[Range]) -> Option<bool> {
        let sizes: Vec<u64> =
            ranges.iter().map(|range| u64::try_from(&range.hi - &range.lo + 1).ok()).collect::<Option<_>>()?;
        let all = sizes.iter().try_fold(1u64, |all, size| all.checked_mul(*size))?;
        let operations = (a.nodes().len() + b.nodes().len()) as u64;
        let units = ALL_INPUTS.1 * operations + all * (operations + 8 * ranges.len() as u64) / ALL_INPUTS.2;
        if all > ALL_INPUTS.0 || units > self.left || [a, b].iter().any(|model| model.output_kif(0).width() > 62) {
            return None;
        }
        let low: Vec<i64> = ranges.iter().map(|range| i64::try_from(&range.lo).ok()).collect::<Option<_>>()?;
        self.spend(units);
        let plans = [a, b]
            .map(|model| Plan::new(model, PlanOptions { lookup_miss: LookupMiss::Zero, ..PlanOptions::default() }));
        let mut at = vec![0u64; sizes.len()];
        let mut ends = (i64::MAX, i64::MIN);
        let (mut codes, mut left) = (Vec::new(), all);
        while left > 0 {
            let rows = left.min(BLOCK);
            codes.clear();
            for _ in 0..rows {
                codes.extend(at.iter().zip(&low).map(|(at, low)| low + *at as i64));
                for (digit, size) in at.iter_mut().zip(&sizes) {
                    *digit += 1;
                    if *digit < *size {
                        break;
                    }
                    *digit = 0;
                }
            }
            let mut found = [vec![0i64; rows as usize], vec![0i64; rows as usize]];
            for (plan, found) in plans.iter().zip(&mut found) {
                if !plan.runner().run_codes(&codes, found).is_empty() {
                    return None;
                }
            }
            if found[0] != found[1] {
                return Some(false);
            }
            ends = found[1].iter().fold(ends, |(lo, hi), code| (lo.min(*code), hi.max(*code)));
            left -= rows;
        }
        self.ends = Some(ends);
        self.counts.exhaustive += u64::from(a.output_kif(0).width());
        Some(true)
    }

    /// Whether two small programs are proved to be equal within so many units.
    fn equal(&mut self, a: &Model, b: &Model, units: u64) -> (Report, bool) {
        self.spend(MAKING * (a.nodes().len() + b.nodes().len()) as u64);
        let request = Request { work: Some(units.min(self.left)), gauge: None, ..self.request.clone() };
        let (report, mut e) = equiv::prove(a, &program::rtl(b, a), &request, (self.solver)());
        self.spend(e.spent);
        let equal = report.verdict == Verdict::Proved;
        if equal {
            self.counts.add(&e.counts);
            self.questions.append(&mut e.questions);
        }
        (report, equal)
    }
}

/// What a value was for some inputs.
struct Shown {
    /// A fingerprint of these numbers that all their images have.
    direction: u64,
    /// The first number, and by how much the first other one is more: codes and their binary point.
    first: BigInt,
    step: BigInt,
    frac: i64,
    /// Whether there were more than two numbers.
    many: bool,
    hash: FxHasher,
}

impl Shown {
    fn new(first: BigInt, kif: Kif) -> Shown {
        let (frac, hash) = (i64::from(kif.frac), FxHasher::default());
        Shown { direction: 0, first, step: BigInt::ZERO, frac, many: false, hash }
    }

    fn add(&mut self, code: &BigInt) {
        let more = code - &self.first;
        let Some(zeros) = more.trailing_zeros() else {
            0.hash(&mut self.hash);
            return;
        };
        if self.step.is_zero() {
            self.step.clone_from(&more);
        }
        self.many |= more != self.step;
        let steps = self.step.trailing_zeros().unwrap_or(0);
        let odd = more >> zeros;
        let odd = if self.step < BigInt::ZERO { -odd } else { odd };
        (odd, zeros as i64 - steps as i64).hash(&mut self.hash);
    }

    /// What this is of another value that has shown an image of it.
    fn as_image_of(&self, other: &Shown) -> Option<Affine> {
        let (own, its) = (self.step.trailing_zeros()? as i64, other.step.trailing_zeros()? as i64);
        let neg = (self.step < BigInt::ZERO) != (other.step < BigInt::ZERO);
        let shift = i32::try_from((own - self.frac) - (its - other.frac)).ok()?;
        let first = |shown: &Shown| Range { lo: shown.first.clone(), hi: shown.first.clone(), frac: shown.frac };
        let scaled = first(other).scaled(shift);
        let plus = first(self).plus(&if neg { scaled } else { scaled.negated() })?;
        let zeros = plus.lo.trailing_zeros().unwrap_or(0);
        let (lo, frac) = (&plus.lo >> zeros, if plus.lo.is_zero() { 0 } else { plus.frac - zeros as i64 });
        let affine = Affine { neg, shift, plus: Range { hi: lo.clone(), lo, frac } };
        (affine.is_identity() || (self.many && other.many) || shift == 0).then_some(affine)
    }
}

/// What each value is for some inputs.
fn shown(model: &Model, inputs: &[Vec<BigInt>]) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::with_capacity(model.nodes().len());
    for codes in inputs {
        // A lookup that misses reads zero, so every operation is shown.
        let _ = golden_steps(model, codes, LookupMiss::Zero, |step| {
            if let Step::Op { id, code, .. } = step {
                match all.get_mut(id.index()) {
                    Some(shown) => shown.add(code),
                    None => all.push(Shown::new(code.clone(), model.kif(id))),
                }
            }
        });
    }
    all.iter_mut().for_each(|shown| shown.direction = shown.hash.finish());
    all
}

/// Inputs in many ways: sums of many inputs that are drawn alone are never near the ends of their ranges.
fn varied_inputs(model: &Model, sample: usize, rng: &mut SplitMix) -> Vec<BigInt> {
    let mut codes = draw_inputs(model, rng);
    // Every second sample is as drawn; of the others an input is drawn, or near a level, or at one of two ends.
    let (level, share) = (rng.below(EIGHTHS + 1), rng.below(EIGHTHS + 1));
    for (code, kif) in codes.iter_mut().zip(model.input_kifs()) {
        let (lo, hi) = (kif.min_code(), kif.max_code());
        let (chance, is_high) = (rng.below(EIGHTHS), rng.below(EIGHTHS) < level);
        match sample % 4 {
            1 if chance < share => *code = if is_high { hi } else { lo },
            3 => *code = (&*code + (lo + (hi - kif.min_code()) * level / EIGHTHS) * 3u32) >> 2,
            _ => {}
        }
    }
    codes
}

/// Which values showed the same numbers for some inputs.
struct Samples {
    /// What values of both programs were.
    shown: [Vec<Shown>; 2],
    /// Values of the first program by fingerprint, one of each class.
    first: FxHashMap<u64, Vec<ValueId>>,
}

impl Samples {
    fn of(numbering: &Numbering<'_>) -> Samples {
        let [a, b] = numbering.programs;
        let mut rng = SplitMix::new(0x76_61_6c_75);
        let count = SAMPLES.2 / (a.nodes().len() + b.nodes().len()).max(1);
        let inputs: Vec<_> =
            (0..count.clamp(SAMPLES.0, SAMPLES.1)).map(|sample| varied_inputs(a, sample, &mut rng)).collect();
        let shown = [shown(a, &inputs), shown(b, &inputs)];
        let mut first: FxHashMap<u64, Vec<ValueId>> = FxHashMap::default();
        for ((shown, id), &class) in shown[0].iter().zip(a.ids()).zip(&numbering.of[0]) {
            if !shown.step.is_zero() {
                let same = first.entry(shown.direction).or_default();
                if same.len() < SAME && !same.iter().any(|known| numbering.of[0][known.index()] == class) {
                    same.push(id);
                }
            }
        }
        Samples { shown, first }
    }

    /// Classes of the first program that a value of the second may be an image of: itself first.
    fn like(&self, id: ValueId, numbering: &Numbering<'_>) -> Vec<(u32, Affine)> {
        let Some(own) = self.shown[1].get(id.index()) else { return Vec::new() };
        let same = self.first.get(&own.direction).map_or(&[][..], Vec::as_slice);
        let of = |id: &ValueId| Some((numbering.of[0][id.index()], own.as_image_of(&self.shown[0][id.index()])?));
        let mut all: Vec<(u32, Affine)> = same.iter().filter_map(of).collect();
        all.sort_by_key(|(_, affine)| !affine.is_identity());
        all
    }
}

/// Proves or refutes that the second program is the first one. Their ports have the same types. Of a difference only
/// what the whole programs show is reported.
pub fn prove(a: &Model, b: &Model, request: &Request, solver: &dyn Fn() -> Box<dyn Solver>) -> (Report, Engine) {
    let request = Request { latency: Some(0), ..request.clone() };
    let left = request.work.unwrap_or(super::engine::WORK);
    let mut spending = Spending::new(&request, solver, left);
    let (report, mut engine) = match by_values(a, b, &mut spending) {
        Some(report) => (report, Engine::new(solver())),
        None => {
            let rest = Request { work: Some(spending.left), ..request.clone() };
            let (mut report, engine) = equiv::prove(a, &program::rtl(b, a), &rest, solver());
            spending.counts.add(&report.bits);
            report.bits = spending.counts;
            (report, engine)
        }
    };
    engine.spent += spending.spent;
    spending.questions.append(&mut engine.questions);
    engine.questions = spending.questions;
    engine.counts = report.bits;
    (report, engine)
}

/// What is known of the second program's values before a round.
#[derive(Default)]
struct Known {
    /// Those that were shown to be images of values of the first program.
    images: FxHashMap<ValueId, (ValueId, Affine)>,
    /// What values of the first program are for all inputs of a statement.
    ranges: FxHashMap<ValueId, Range>,
    /// Those that are worth a statement, if not all.
    wanted: Option<FxHashSet<ValueId>>,
    samples: Option<Samples>,
}

/// The classes of all values of both programs. A statement takes `lemma` units at most, all of them until `lemmas` are spent.
fn numbered<'a>(
    [a, b]: [&'a Model; 2],
    known: &mut Known,
    (lemma, lemmas): (u64, u64),
    spending: &mut Spending<'_>,
) -> Numbering<'a> {
    let operations = (a.nodes().len() + b.nodes().len()) as u64;
    spending.spend(NUMBERING.0 * operations);
    let mut numbering = Numbering {
        programs: [a, b],
        classes: Vec::new(),
        keys: FxHashMap::default(),
        tables: FxHashMap::default(),
        of: [Vec::with_capacity(a.nodes().len()), Vec::with_capacity(b.nodes().len())],
        directions: FxHashMap::default(),
        terms: [TERMS.1; 2],
        readers: FxHashMap::default(),
    };
    for id in a.ids() {
        let class = numbering.known(0, id).unwrap_or_else(|new| {
            let (key, mut range) = *new;
            if let Some(seen) = known.ranges.get(&id) {
                range = range.meet(seen);
            }
            let class = numbering.class(Some((0, id)), range);
            numbering.describe(class, &key);
            numbering.keys.insert(key, class);
            class
        });
        numbering.enter(0, id, class);
    }
    for class in 0..numbering.classes.len() as u32 {
        for operand in numbering.operands(class) {
            numbering.readers.entry(operand).or_default().push(class);
        }
    }
    for id in b.ids() {
        let class = match numbering.known(1, id) {
            Ok(class) => class,
            Err(new) => {
                let (key, range) = *new;
                let own = numbering.class(Some((1, id)), range.clone());
                numbering.describe(own, &key);
                // What is a sum of the same values needs no statement.
                let is_known = numbering.classes[own as usize].image.as_ref().is_some_and(|(base, _)| {
                    let base = &numbering.classes[*base as usize];
                    base.shared || base.def.is_none_or(|(side, _)| side == 0)
                });
                let is_wanted = known.wanted.as_ref().is_none_or(|wanted| wanted.contains(&id));
                let mut found = known.images.get(&id).map(|(value, of)| (numbering.of[0][value.index()], of.clone()));
                if found.is_none() && !is_known && is_wanted && spending.spent < lemmas {
                    let samples = known.samples.get_or_insert_with(|| {
                        spending.spend(NUMBERING.1 * operations);
                        Samples::of(&numbering)
                    });
                    spending.ends = None;
                    let near = neighbours(&numbering, own, spending);
                    found = partner(&numbering, near, own, (lemma, lemmas), spending)
                        .or_else(|| partner(&numbering, samples.like(id, &numbering), own, (lemma, lemmas), spending));
                    if let Some((class, affine)) = &found
                        && let Some((0, value)) = numbering.classes[*class as usize].def
                    {
                        known.images.insert(id, (value, affine.clone()));
                        if let Some((lo, hi)) = spending.ends
                            && let Some(kif) = numbering.root_kif((*class, affine), own)
                            && let seen = (Range { lo: lo.into(), hi: hi.into(), frac: i64::from(kif.frac) })
                            && let Some(before) = affine.before(&seen)
                        {
                            known.ranges.insert(value, before);
                        }
                    }
                }
                let class = match found {
                    Some((class, affine)) if affine.is_identity() => {
                        numbering.classes.pop();
                        let known = &mut numbering.classes[class as usize];
                        known.range = known.range.clone().meet(&range);
                        class
                    }
                    Some((class, affine)) => {
                        numbering.becomes(own, class, affine);
                        own
                    }
                    None => own,
                };
                numbering.keys.insert(key, class);
                class
            }
        };
        numbering.enter(1, id, class);
    }
    numbering
}

/// The proof by values, if it succeeds.
fn by_values(a: &Model, b: &Model, spending: &mut Spending<'_>) -> Option<Report> {
    let operations = (a.nodes().len() + b.nodes().len()) as u64;
    let lemmas = spending.spent + (LEMMAS.0 + LEMMAS.1 * operations).min(spending.left / 5);
    let mut known = Known::default();
    let mut rounds = ROUNDS.into_iter();
    let mut lemma = rounds.next()?;
    loop {
        let before = (known.images.len(), known.ranges.len());
        spending.open = 0;
        let numbering = numbered([a, b], &mut known, (lemma, lemmas), spending);
        let (open, bits) = open_outputs(&numbering);
        let matched = |numbering: &Numbering<'_>| {
            numbering.of[1].iter().filter(|&&class| numbering.classes[class as usize].shared).count() as u64
        };
        let mut report = equiv::Report::before(0);
        if !open[0].is_empty() {
            let roots: Vec<u32> = open.iter().flatten().filter_map(|root| root.class).collect();
            let window = numbering.window(&roots, 0, usize::MAX)?;
            let statements = [0, 1].map(|side| numbering.statement(&window, &open[side], false));
            let [Some(first), Some(second)] = statements else { return None };
            let (found, equal) = spending.equal(&first, &second, OUTPUTS * lemma);
            if !equal {
                if spending.spent >= lemmas {
                    return None;
                }
                // What was found makes other statements true; else they need more work.
                let is_more = (known.images.len(), known.ranges.len()) != before;
                if !is_more && spending.open == 0 {
                    return None;
                }
                if !is_more || known.wanted.is_none() {
                    lemma = rounds.next()?;
                }
                known.wanted = Some(unknown(&numbering));
                continue;
            }
            report = found;
        }
        spending.counts.structural += bits;
        report.operations_matched = matched(&numbering);
        report.bits = spending.counts;
        return Some(report);
    }
}

/// Outputs of both programs that are not known to be the same, and bits of the others.
fn open_outputs<'r>(numbering: &Numbering<'_>) -> ([Vec<Root<'r>>; 2], u64) {
    let root = |side: usize, j: usize| {
        let model = numbering.programs[side];
        let output = &model.outputs()[j];
        let class = output.source.map(|v| numbering.of[side][v.index()]);
        Root { class, neg: output.neg, shift: output.shift, affine: None, kif: model.output_kif(j) }
    };
    let (mut open, mut bits) = ([Vec::new(), Vec::new()], 0);
    for j in 0..numbering.programs[0].outputs().len() {
        let pair = [root(0, j), root(1, j)];
        let same = |[x, y]: [Root<'_>; 2]| (x.class, x.neg, x.shift, x.kif) == (y.class, y.neg, y.shift, y.kif);
        if same(pair) || pair[0].kif.is_zero() {
            bits += u64::from(pair[0].kif.width());
        } else {
            open[0].push(pair[0]);
            open[1].push(pair[1]);
        }
    }
    (open, bits)
}

/// Values of the second program that its open outputs depend on, not over others that the first one has.
fn unknown(numbering: &Numbering<'_>) -> FxHashSet<ValueId> {
    let model = numbering.programs[1];
    let is_known = |class: u32| {
        let found = &numbering.classes[class as usize];
        let of_known = |(base, _): &(u32, Affine)| numbering.classes[*base as usize].shared;
        found.shared || numbering.is_constant(class) || found.image.as_ref().is_some_and(of_known)
    };
    let mut left: Vec<ValueId> = model.outputs().iter().filter_map(|output| output.source).collect();
    let mut unknown = FxHashSet::default();
    while let Some(value) = left.pop() {
        if !is_known(numbering.of[1][value.index()]) && unknown.insert(value) {
            left.extend(model.node(value).op.operands());
        }
    }
    unknown
}

/// Classes of the first program that depend on one shared value alone, as a class does, and show images of it for some
/// numbers of that value. A value far inside a program is often the same for all samples of its inputs.
fn neighbours(numbering: &Numbering<'_>, own: u32, spending: &mut Spending<'_>) -> Vec<(u32, Affine)> {
    let none = FxHashSet::default();
    let port_of = |class: u32| match numbering.window_over(&[class], 0, NEAR, &none)?.ports[..] {
        [port] if port != class => Some(port),
        _ => None,
    };
    let Some(port) = port_of(own) else { return Vec::new() };
    let (mut near, mut at) = (vec![port], 0);
    while at < near.len() && near.len() < NEAR {
        for &reader in numbering.readers.get(&near[at]).map_or(&[][..], Vec::as_slice) {
            if !near.contains(&reader) && (near.len() < NEAR) && port_of(reader) == Some(port) {
                near.push(reader);
            }
        }
        at += 1;
    }
    near.push(own);
    near.remove(0);
    let Some(window) = numbering.window_over(&near, 0, WINDOW, &none) else { return Vec::new() };
    let root = |class: &u32| {
        let kif = numbering.classes[*class as usize].range.kif()?;
        Some(Root { class: Some(*class), neg: false, shift: 0, affine: None, kif })
    };
    let roots: Option<Vec<Root<'_>>> = near.iter().map(root).collect();
    let Some(roots) = roots else { return Vec::new() };
    let Some(model) = numbering.statement(&window, &roots, false) else { return Vec::new() };
    let Some(range) = numbering.classes[port as usize].range.at_kif() else { return Vec::new() };
    spending.spend(TRIAL * LOCAL * model.nodes().len() as u64);
    let mut all: Vec<Shown> = Vec::with_capacity(near.len());
    for sample in 0..LOCAL {
        let code = &range.lo + (&range.hi - &range.lo) * sample / (LOCAL - 1);
        let Ok(found) = golden(&model, &[code], LookupMiss::Zero) else { return Vec::new() };
        for (at, code) in found.iter().enumerate() {
            match all.get_mut(at) {
                Some(shown) => shown.add(code),
                None => all.push(Shown::new(code.clone(), roots[at].kif)),
            }
        }
    }
    all.iter_mut().for_each(|shown| shown.direction = shown.hash.finish());
    let Some(own) = all.pop() else { return Vec::new() };
    let same = |(class, shown): (u32, Shown)| {
        (shown.direction == own.direction).then(|| own.as_image_of(&shown).map(|affine| (class, affine))).flatten()
    };
    near.into_iter().zip(all).filter_map(same).collect()
}

/// Of which candidate a class is the image, as small statements show.
fn partner(
    numbering: &Numbering<'_>,
    candidates: Vec<(u32, Affine)>,
    own: u32,
    (lemma, lemmas): (u64, u64),
    spending: &mut Spending<'_>,
) -> Option<(u32, Affine)> {
    // A value of fewer inputs is the more likely one, of these the first.
    let mut candidates: Vec<(usize, (u32, Affine))> = candidates
        .into_iter()
        .map(|found| {
            let window = numbering.window_over(&[found.0, own], 0, NEAR, &FxHashSet::default());
            (window.map_or(usize::MAX, |window| window.ports.len()), found)
        })
        .collect();
    candidates.sort_by_key(|(ports, _)| *ports);
    let candidates: Vec<(u32, Affine)> = candidates.into_iter().take(CANDIDATES.0).map(|(_, found)| found).collect();
    let mut sizes = vec![0; candidates.len()];
    for crossed in CROSSED {
        let window =
            |(at, (class, _)): (usize, &(u32, Affine))| Some((at, numbering.window(&[*class, own], crossed, WINDOW)?));
        let mut windows: Vec<(usize, Window)> = candidates.iter().enumerate().filter_map(window).collect();
        windows.retain(|(at, window)| std::mem::replace(&mut sizes[*at], window.inner.len()) != window.inner.len());
        // A value of fewer inputs is the more likely one.
        windows.sort_by_key(|(_, window)| window.ports.len());
        let mut proofs = CANDIDATES.1;
        for (at, window) in windows {
            if spending.spent >= lemmas {
                return None;
            }
            let (class, affine) = &candidates[at];
            if is_image(numbering, &window, (*class, affine), own, lemma, spending, &mut proofs) {
                return Some((*class, affine.clone()));
            }
        }
    }
    None
}

/// Whether a small statement shows that a class is an image of another.
fn is_image(
    numbering: &Numbering<'_>,
    window: &Window,
    (class, affine): (u32, &Affine),
    own: u32,
    lemma: u64,
    spending: &mut Spending<'_>,
    proofs: &mut usize,
) -> bool {
    let range = |class: u32| &numbering.classes[class as usize].range;
    spending.ends = None;
    let Some(kif) = numbering.root_kif((class, affine), own) else { return false };
    let root = |class, affine| [Root { class: Some(class), neg: false, shift: 0, affine, kif }];
    let affine = (!affine.is_identity()).then_some(affine);
    let roots = (root(class, affine), root(own, None));
    let statements = |clamped| {
        Some((numbering.statement(window, &roots.0, clamped)?, numbering.statement(window, &roots.1, clamped)?))
    };
    let Some((first, second)) = statements(false) else { return false };
    let ranges: Option<Vec<Range>> = window.ports.iter().map(|&port| range(port).at_kif()).collect();
    let Some(ranges) = ranges else { return false };
    if spending.differ(&first, &second, &ranges) {
        return false;
    }
    if let Some(equal) = spending.tried(&first, &second, &ranges) {
        return equal;
    }
    if *proofs == 0 {
        return false;
    }
    *proofs -= 1;
    let holds = match spending.equal(&first, &second, lemma) {
        (_, true) => true,
        // It shows a difference for numbers that an input never is.
        (Report { verdict: Verdict::Differs { .. }, .. }, _) => {
            statements(true).is_some_and(|(first, second)| spending.equal(&first, &second, lemma).1)
        }
        _ => false,
    };
    spending.open += usize::from(!holds);
    holds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::{self, Trust};
    use crate::prove::sat::Embedded;
    use crate::random::{Profile, Recipe, with_a_sum_for_a_difference};

    /// Each value's number for each input, as code and binary point.
    fn numbers(model: &Model, codes: &[BigInt]) -> Vec<(BigInt, i64)> {
        let mut all = Vec::new();
        golden_steps(model, codes, LookupMiss::Zero, |step| {
            if let Step::Op { id, code, .. } = step {
                all.push((code.clone(), i64::from(model.kif(id).frac)));
            }
        })
        .expect("lookups outside of tables read zero");
        all
    }

    /// Images, sums and sums that overflow are what they say for one input; those of values that no program has are left
    /// out.
    fn relations_hold(numbering: &Numbering<'_>, of_class: &FxHashMap<u32, (BigInt, i64)>, seed: u64) {
        // All numbers in units of 2^-300, so that none is rounded.
        const UNIT: i64 = 300;
        let moved = |number: &BigInt, frac: i64| number << (UNIT - frac);
        let number = |class: u32| -> Option<BigInt> {
            let found = &numbering.classes[class as usize];
            if found.range.lo == found.range.hi {
                return Some(moved(&found.range.lo, found.range.frac));
            }
            of_class.get(&class).map(|(code, frac)| moved(code, *frac))
        };
        let sum = |form: &Form| -> Option<BigInt> {
            let mut sum = moved(&form.constant.into(), 0);
            for (class, count) in &form.terms {
                sum += number(*class)? * count;
            }
            Some(if form.frac >= 0 { sum >> form.frac } else { sum << -form.frac })
        };
        for (class, found) in (0..).zip(&numbering.classes) {
            let Some(own) = number(class) else { continue };
            if let Some(found) = found.form.as_ref().and_then(|form| sum(form)) {
                assert_eq!(own, found, "seed {seed}: class {class} as a sum");
            }
            if let Some((form, lost)) = &found.wrapped
                && let Some(sum) = sum(form)
            {
                let unit = BigInt::from(1) << (UNIT + lost);
                assert!(((own.clone() - sum) % unit).is_zero(), "seed {seed}: class {class} overflows");
            }
            if let Some((base, affine)) = &found.image
                && let Some(base) = number(*base)
            {
                let scaled = if affine.shift >= 0 { base << affine.shift } else { base >> -affine.shift };
                let scaled = if affine.neg { -scaled } else { scaled };
                assert_eq!(
                    own,
                    scaled + moved(&affine.plus.lo, affine.plus.frac),
                    "seed {seed}: class {class} as an image"
                );
            }
        }
    }

    /// Classes of random programs, and of those with a mistake in them, beside what passes make of them: values of one
    /// class are the same number, within its range, by the golden interpreter.
    #[test]
    fn values_of_a_class_are_the_same_number() {
        let (mut shared, mut all) = (0, 0);
        let (mut images, mut sums, mut wrapped) = (0, 0, 0);
        for seed in 0..90u64 {
            let profile = if seed % 3 == 0 { Profile::TINY } else { Profile::SMALL };
            let a = Recipe::seeded(profile, 30, seed).build();
            let from = if seed % 5 == 0 { with_a_sum_for_a_difference(&a).unwrap_or(a.clone()) } else { a.clone() };
            let names = passes::pipeline(2);
            let b = names[..1 + seed as usize % names.len()]
                .iter()
                .filter_map(|name| passes::find(name))
                .fold(from, |model, pass| pass.apply(&model, Trust::Types));
            let request = Request { latency: Some(0), ..Request::default() };
            let solver: &dyn Fn() -> Box<dyn Solver> = &|| Box::new(Embedded);
            let mut spending = Spending::new(&request, solver, 1 << 32);
            let numbering = numbered([&a, &b], &mut Known::default(), (3_000_000, 1 << 32), &mut spending);
            for class in &numbering.classes {
                images += usize::from(class.image.is_some());
                sums += usize::from(class.form.as_ref().is_some_and(|form| form.terms.len() > 1));
                wrapped += usize::from(class.wrapped.is_some());
            }
            let mut rng = SplitMix::new(seed);
            for _ in 0..40 {
                let codes = draw_inputs(&a, &mut rng);
                let mut of_class: FxHashMap<u32, (BigInt, i64)> = FxHashMap::default();
                for (side, model) in [&a, &b].into_iter().enumerate() {
                    for (&class, (code, frac)) in numbering.of[side].iter().zip(numbers(model, &codes)) {
                        let range = &numbering.classes[class as usize].range;
                        let (first, at) = of_class.entry(class).or_insert((code.clone(), frac));
                        let most = frac.max(*at).max(range.frac);
                        assert_eq!(&code << (most - frac), &*first << (most - *at), "seed {seed}, class {class}");
                        let own = range.at(most).expect("near");
                        let number = code << (most - frac);
                        assert!(own.lo <= number && number <= own.hi, "seed {seed}: {number} in {range:?}");
                        assert_eq!(
                            number & ((BigInt::from(1) << (most - range.frac)) - 1),
                            BigInt::ZERO,
                            "seed {seed}"
                        );
                    }
                }
                relations_hold(&numbering, &of_class, seed);
            }
            all += b.nodes().len();
            shared += numbering.of[1].iter().filter(|&&class| numbering.classes[class as usize].shared).count();
        }
        assert!(shared * 2 > all, "{shared} of {all} values are known to be the same");
        assert!(
            images > 100 && sums > 100 && wrapped > 20,
            "{images} images, {sums} sums, {wrapped} sums that overflow"
        );
    }

    /// A statement that is tried for all inputs holds exactly if the golden interpreter says so for each of them.
    #[test]
    fn trying_all_inputs_is_what_the_golden_interpreter_says() {
        let (mut equal, mut different) = (0, 0);
        for seed in 0..120u64 {
            let kif = |signed, width: i32, frac| Kif { signed, int: width - i32::from(signed) - frac, frac };
            let mut rng = SplitMix::new(seed);
            let types = [kif(seed % 2 == 0, 4, 1), kif(seed % 3 == 0, 3, 0)];
            let program = |second: bool| {
                let mut builder = Builder::new(vec![0; 2]);
                let [x, y] = [0, 1].map(|at| builder.op(Op::Input { input: at as u32 }, Interval::full(types[at])));
                let value = Code::from(&BigInt::from(3 + i32::from(second && seed % 4 == 1)));
                let a = builder.op(Op::AddConst { x, value, shift: 1 }, Interval::full(kif(true, 7, 2)));
                // Without the sign bit of the sum the second program is another one, unless no sum is negative.
                let sum =
                    builder.op(Op::Add { a, b: y, shift: 0 }, Interval::full(kif(!second || seed % 4 == 2, 8, 2)));
                let out = builder.op(Op::Relu { x: sum }, Interval::full(kif(false, 8, 2)));
                builder.output(Output { source: Some(out), shift: 0, neg: false });
                builder.finish().expect("a program")
            };
            let (a, b) = (program(false), program(true));
            let ranges = types.map(|kif| {
                let all = Range::of(kif);
                let lo = &all.lo + BigInt::from(rng.below(3));
                Range { hi: &all.hi - BigInt::from(rng.below(3)), lo, frac: all.frac }
            });
            let mut outputs = Vec::new();
            let mut golden_equal = true;
            let mut x = ranges[0].lo.clone();
            while x <= ranges[0].hi {
                let mut y = ranges[1].lo.clone();
                while y <= ranges[1].hi {
                    let codes = [x.clone(), y.clone()];
                    let run = |model| golden(model, &codes, LookupMiss::Zero).expect("no lookups").swap_remove(0);
                    golden_equal &= run(&a) == run(&b);
                    outputs.push(run(&b));
                    y += 1;
                }
                x += 1;
            }
            let request = Request::default();
            let solver: &dyn Fn() -> Box<dyn Solver> = &|| Box::new(Embedded);
            let mut spending = Spending::new(&request, solver, 1 << 32);
            assert_eq!(spending.tried(&a, &b, &ranges), Some(golden_equal), "seed {seed}");
            if golden_equal {
                let ends = spending.ends.map(|(lo, hi)| (BigInt::from(lo), BigInt::from(hi)));
                assert_eq!(ends, outputs.iter().min().cloned().zip(outputs.iter().max().cloned()), "seed {seed}");
                equal += 1;
            } else {
                different += 1;
            }
        }
        assert!(equal > 20 && different > 20, "{equal} equal, {different} different");
    }

    /// Programs of which one has another constant or table entry somewhere, beside what passes make of them: no proof unless they
    /// are the same for all that is tried.
    #[test]
    fn another_constant_is_no_proof() {
        let (mut proved, mut refuted) = (0, 0);
        for seed in 0..80u64 {
            let a = Recipe::seeded(Profile::SMALL, 24, seed).build();
            let mut rng = SplitMix::new(seed);
            let Some(other) = with_another_constant(&a, &mut rng) else { continue };
            let b = passes::pipeline(2)
                .iter()
                .filter_map(|name| passes::find(name))
                .fold(other, |model, pass| pass.apply(&model, Trust::Types));
            let request = Request { work: Some(30_000_000), ..Request::default() };
            let (report, _) = prove(&a, &b, &request, &|| Box::new(Embedded));
            let differs = (0..300).any(|_| {
                let codes = draw_inputs(&a, &mut rng);
                golden(&a, &codes, LookupMiss::Zero).ok() != golden(&b, &codes, LookupMiss::Zero).ok()
            });
            assert!(!(differs && report.verdict == Verdict::Proved), "seed {seed}");
            proved += usize::from(report.verdict == Verdict::Proved);
            refuted += usize::from(differs);
        }
        assert!(proved > 3 && refuted > 20, "{proved} proved, {refuted} refuted");
    }

    /// A program with one more at a constant or an entry of a table.
    fn with_another_constant(model: &Model, rng: &mut SplitMix) -> Option<Model> {
        let is_constant = |id: &ValueId| matches!(model.node(*id).op, Op::Const { .. } | Op::AddConst { .. });
        let constants: Vec<ValueId> = model.ids().filter(is_constant).collect();
        let tables = model.tables().len() as u64;
        let chosen = rng.below(constants.len() as u64 + tables + u64::from(constants.is_empty() && tables == 0));
        let mut builder = Builder::like(model);
        for (at, table) in (0..).zip(model.tables()) {
            let mut table = table.clone();
            if at + constants.len() as u64 == chosen {
                let entry = rng.below(table.entries.len() as u64) as usize;
                table.entries[entry] ^= 1;
            }
            builder.table(table);
        }
        for id in model.ids() {
            let mut node = model.node(id).clone();
            if let Op::Const { value } | Op::AddConst { value, .. } = &mut node.op
                && constants.get(chosen as usize) == Some(&id)
            {
                *value = Code::from(&(value.to_big() + 1));
            }
            builder.push(crate::ir::Node { interval: Interval::full(model.kif(id)), ..node });
        }
        for output in model.outputs() {
            builder.output(*output);
        }
        let same_ports = |other: &Model| (0..model.outputs().len()).all(|j| other.output_kif(j) == model.output_kif(j));
        builder.finish().ok().filter(same_ports)
    }

    /// What a numbering alone shows: other orders, other types, shared values, constants.
    #[test]
    fn programs_that_say_the_same_otherwise_need_no_statement() {
        let kif = |signed, width: i32, frac| Kif { signed, int: width - i32::from(signed) - frac, frac };
        let program = |wide: bool| {
            let mut builder = Builder::new(vec![0; 2]);
            let x = builder.op(Op::Input { input: 0 }, Interval::full(kif(true, 8, 2)));
            let y = builder.op(Op::Input { input: 1 }, Interval::full(kif(false, 6, 0)));
            let more = i32::from(wide) * 3;
            let sum = match wide {
                true => Op::Add { a: y, b: x, shift: 0 },
                false => Op::Sum { terms: [x, y].map(|value| crate::ir::Term { value, shift: 0, neg: false }).into() },
            };
            let sum = builder.op(sum, Interval::full(kif(true, 10 + more, 2)));
            let rectified = builder.op(Op::Relu { x: sum }, Interval::full(kif(false, 9 + more, 2)));
            let again = match wide {
                true => builder.op(Op::Quantise { x: rectified, shift: 0 }, Interval::full(kif(false, 20, 2))),
                false => rectified,
            };
            let out = builder.op(Op::Mul { a: again, b: x }, Interval::full(kif(true, 17, 4)));
            builder.output(Output { source: Some(out), shift: 0, neg: false });
            builder.finish().expect("a program")
        };
        let (a, b) = (program(false), program(true));
        let request = Request::default();
        let (report, engine) = prove(&a, &b, &request, &|| Box::new(Embedded));
        assert_eq!(report.verdict, Verdict::Proved);
        assert_eq!((engine.counts.sat, engine.counts.exhaustive, engine.counts.affine), (0, 0, 0));
        assert!(engine.spent < 10_000, "{} units", engine.spent);
    }
}
