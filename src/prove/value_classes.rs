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
use crate::interp::{LookupMiss, Step, golden_steps};
use crate::ir::{BinaryBits, Builder, Limits, Model, Op, Output, Table, TableId, UnaryBits, ValueId, draw_inputs};
use crate::num::{Code, Interval, Kif, SplitMix};
use num_bigint::BigInt;
use num_traits::Zero;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

/// Binary points further apart than this are not brought together.
const APART: i64 = 1 << 12;
/// Inputs by which values are recognised.
const SAMPLES: usize = 32;
/// Units of work that one small statement may take.
const LEMMA: u64 = 3_000_000;
/// Units that making one takes, for each of its operations.
const MAKING: u64 = 1_500;
/// Most operations in one, on both sides together.
const WINDOW: usize = 256;
/// Values known to be the same that a path of a small statement crosses, in turn.
const CROSSED: [u32; 3] = [0, 2, 8];
/// Values of the first program that one of the second is compared with.
const CANDIDATES: usize = 2;
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
    /// Whether both programs have it.
    shared: bool,
}

/// Both programs with what is known of their values.
struct Numbering<'a> {
    programs: [&'a Model; 2],
    classes: Vec<Class>,
    keys: FxHashMap<Key, u32>,
    tables: FxHashMap<&'a [i32], u32>,
    /// The class of each value.
    of: [Vec<u32>; 2],
}

impl<'a> Numbering<'a> {
    fn class(&mut self, def: Option<(usize, ValueId)>, range: Range) -> u32 {
        self.classes.push(Class { def, range, shared: false });
        self.classes.len() as u32 - 1
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
                    self.classes.push(Class { def: None, range: port, shared: false });
                    self.classes.len() as u32 - 1
                });
                (Key::Sum(vec![(class, 0, false)], cut), range)
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
                let (range, cut) = cut(exact);
                (Key::Sum(terms, cut), range)
            }
            Op::Relu { x } => {
                let r = range(*x);
                let positive = Range { lo: r.lo.clone().max(BigInt::ZERO), hi: r.hi.clone().max(BigInt::ZERO), ..*r };
                let is_same = r.lo >= BigInt::ZERO;
                let (range, cut) = cut(Some(positive));
                let key = if is_same { Key::Sum(vec![(class(*x), 0, false)], cut) } else { Key::Relu(class(*x), cut) };
                (key, range)
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
    }

    fn is_constant(&self, class: u32) -> bool {
        let range = &self.classes[class as usize].range;
        range.lo == range.hi
    }

    fn operands(&self, class: u32) -> Vec<u32> {
        if self.is_constant(class) {
            return Vec::new();
        }
        let Some((side, id)) = self.classes[class as usize].def else { return Vec::new() };
        self.programs[side].node(id).op.operands().iter().map(|v| self.of[side][v.index()]).collect()
    }

    /// Whether a class is an input of every statement that it is in.
    fn is_port(&self, class: u32) -> bool {
        let is_input = |(side, id): (usize, ValueId)| matches!(self.programs[side].node(id).op, Op::Input { .. });
        !self.is_constant(class) && self.classes[class as usize].def.is_none_or(is_input)
    }

    /// The classes between `roots` and values that both programs have, operands first, and those values. Each path
    /// crosses that many of them. Nothing if there are more than `most`.
    fn window(&self, roots: &[u32], crossed: u32, most: usize) -> Option<Window> {
        let mut best: FxHashMap<u32, u32> = FxHashMap::default();
        let mut left: Vec<(u32, u32)> = roots.iter().map(|&root| (root, crossed + 1)).collect();
        while let Some((class, cuts)) = left.pop() {
            let known = best.entry(class).or_insert(0);
            if *known >= cuts || self.is_port(class) {
                continue;
            }
            *known = cuts;
            for operand in self.operands(class) {
                let is_cut = self.classes[operand as usize].shared && !self.is_constant(operand);
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

    /// The program from a window's inputs to roots, each cut to a type.
    fn statement(&self, window: &Window, roots: &[Root]) -> Option<Model> {
        let mut builder = Builder::new(vec![0; window.ports.len()]);
        builder.limits(Limits::derived());
        let mut at: FxHashMap<u32, (ValueId, Kif)> = FxHashMap::default();
        for (input, &class) in window.ports.iter().enumerate() {
            let kif = self.classes[class as usize].range.kif()?;
            let id = builder.op(Op::Input { input: input as u32 }, Interval::full(kif));
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
            let x = builder.op(Op::Quantise { x, shift: root.shift }, Interval::full(root.kif));
            builder.output(Output { source: Some(x), shift: 0, neg: false });
        }
        builder.finish().ok()
    }

    /// Which classes of a window some roots depend on.
    fn needed(&self, window: &Window, roots: &[Root]) -> FxHashSet<u32> {
        let mut needed: FxHashSet<u32> = roots.iter().filter_map(|root| root.class).collect();
        for &class in window.inner.iter().rev() {
            if needed.contains(&class) {
                needed.extend(self.operands(class));
            }
        }
        needed
    }
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
struct Root {
    /// Zero if nothing.
    class: Option<u32>,
    neg: bool,
    shift: i32,
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
}

impl Spending<'_> {
    fn spend(&mut self, units: u64) {
        self.spent += units;
        self.left = self.left.saturating_sub(units);
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

/// For each value a fingerprint of the numbers that it was for some inputs, and whether it was more than one number.
fn fingerprints(model: &Model, inputs: &[Vec<BigInt>]) -> Vec<(u64, bool)> {
    let mut hashes = vec![FxHasher::default(); model.nodes().len()];
    let mut first: Vec<BigInt> = Vec::with_capacity(hashes.len());
    let mut varies = vec![false; hashes.len()];
    for codes in inputs {
        // A lookup that misses reads zero, so every operation is shown.
        let _ = golden_steps(model, codes, LookupMiss::Zero, |step| {
            if let Step::Op { id, code, .. } = step {
                let at = id.index();
                let zeros = code.trailing_zeros().unwrap_or(0);
                let exponent = if code.is_zero() { 0 } else { i64::from(model.kif(id).frac) - zeros as i64 };
                (code >> zeros, exponent).hash(&mut hashes[at]);
                match first.get(at) {
                    None => first.push(code.clone()),
                    Some(first) => varies[at] |= first != code,
                }
            }
        });
    }
    hashes.into_iter().map(|h| h.finish()).zip(varies).collect()
}

/// Which values showed the same numbers for some inputs.
struct Samples {
    /// Classes of the first program by fingerprint, at most [`CANDIDATES`] of each.
    first: FxHashMap<u64, Vec<u32>>,
    /// Fingerprints of the second program's values.
    second: Vec<u64>,
}

impl Samples {
    fn of(numbering: &Numbering<'_>) -> Samples {
        let [a, b] = numbering.programs;
        let mut rng = SplitMix::new(0x76_61_6c_75);
        let inputs: Vec<_> = (0..SAMPLES).map(|_| draw_inputs(a, &mut rng)).collect();
        let mut first: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
        for ((number, varies), &class) in fingerprints(a, &inputs).into_iter().zip(&numbering.of[0]) {
            let same = first.entry(number).or_default();
            if varies && same.len() < CANDIDATES && !same.contains(&class) {
                same.push(class);
            }
        }
        Samples { first, second: fingerprints(b, &inputs).into_iter().map(|(number, _)| number).collect() }
    }

    /// Classes of the first program that may be a value of the second.
    fn like(&self, id: ValueId) -> Vec<u32> {
        let number = self.second.get(id.index());
        number.and_then(|number| self.first.get(number)).cloned().unwrap_or_default()
    }
}

/// Proves or refutes that the second program is the first one. Their ports have the same types. Of a difference only
/// what the whole programs show is reported.
pub fn prove(a: &Model, b: &Model, request: &Request, solver: &dyn Fn() -> Box<dyn Solver>) -> (Report, Engine) {
    let request = Request { latency: Some(0), ..request.clone() };
    let left = request.work.unwrap_or(super::engine::WORK);
    let mut spending =
        Spending { request: &request, solver, left, spent: 0, counts: Counts::default(), questions: Vec::new() };
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

/// The classes of all values of both programs.
fn numbered<'a>(a: &'a Model, b: &'a Model, spending: &mut Spending<'_>) -> Numbering<'a> {
    let operations = (a.nodes().len() + b.nodes().len()) as u64;
    spending.spend(NUMBERING.0 * operations);
    let most = (LEMMAS.0 + LEMMAS.1 * operations).min(spending.left / 2);
    let mut numbering = Numbering {
        programs: [a, b],
        classes: Vec::new(),
        keys: FxHashMap::default(),
        tables: FxHashMap::default(),
        of: [Vec::with_capacity(a.nodes().len()), Vec::with_capacity(b.nodes().len())],
    };
    for id in a.ids() {
        let class = numbering.known(0, id).unwrap_or_else(|new| {
            let (key, range) = *new;
            let class = numbering.class(Some((0, id)), range);
            numbering.keys.insert(key, class);
            class
        });
        numbering.enter(0, id, class);
    }
    // Made once it is needed.
    let mut showed: Option<Samples> = None;
    let lemmas = spending.spent + most;
    for id in b.ids() {
        let class = match numbering.known(1, id) {
            Ok(class) => class,
            Err(new) => {
                let (key, range) = *new;
                let samples = showed.get_or_insert_with(|| {
                    spending.spend(NUMBERING.1 * operations);
                    Samples::of(&numbering)
                });
                let candidates = samples.like(id);
                let own = numbering.class(Some((1, id)), range.clone());
                let found = candidates
                    .into_iter()
                    .find(|&class| spending.spent < lemmas && is_same(&numbering, class, own, spending));
                let class = match found {
                    Some(class) => {
                        numbering.classes.pop();
                        let known = &mut numbering.classes[class as usize];
                        known.range = known.range.clone().meet(&range);
                        class
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
    let numbering = numbered(a, b, spending);
    let root = |side: usize, j: usize| {
        let model = numbering.programs[side];
        let output = &model.outputs()[j];
        let class = output.source.map(|v| numbering.of[side][v.index()]);
        Root { class, neg: output.neg, shift: output.shift, kif: model.output_kif(j) }
    };
    let (mut open, mut bits) = ([Vec::new(), Vec::new()], 0);
    for j in 0..a.outputs().len() {
        let pair = [root(0, j), root(1, j)];
        let same = |[x, y]: [Root; 2]| (x.class, x.neg, x.shift, x.kif) == (y.class, y.neg, y.shift, y.kif);
        if same(pair) || pair[0].kif.is_zero() {
            bits += u64::from(pair[0].kif.width());
        } else {
            open[0].push(pair[0]);
            open[1].push(pair[1]);
        }
    }
    spending.counts.structural += bits;
    let matched = numbering.of[1].iter().filter(|&&class| numbering.classes[class as usize].shared).count() as u64;
    let mut report = if open[0].is_empty() {
        equiv::Report::before(0)
    } else {
        let roots: Vec<u32> = open.iter().flatten().filter_map(|root| root.class).collect();
        let window = numbering.window(&roots, 0, usize::MAX)?;
        let statements = [numbering.statement(&window, &open[0])?, numbering.statement(&window, &open[1])?];
        let (report, equal) = spending.equal(&statements[0], &statements[1], spending.left / 2);
        if !equal {
            return None;
        }
        report
    };
    report.operations_matched = matched;
    report.bits = spending.counts;
    Some(report)
}

/// Whether a small statement shows that two classes are the same number.
fn is_same(numbering: &Numbering<'_>, class: u32, own: u32, spending: &mut Spending<'_>) -> bool {
    let types = [class, own].map(|c| numbering.classes[c as usize].range.kif());
    let [Some(x), Some(y)] = types else { return false };
    let kif = Kif { signed: x.signed || y.signed, int: x.int.max(y.int), frac: x.frac.max(y.frac) };
    let mut last = 0;
    for crossed in CROSSED {
        let Some(window) = numbering.window(&[class, own], crossed, WINDOW) else { return false };
        if window.inner.len() == last {
            continue;
        }
        last = window.inner.len();
        let root = |class: u32| [Root { class: Some(class), neg: false, shift: 0, kif }];
        let statements = (numbering.statement(&window, &root(class)), numbering.statement(&window, &root(own)));
        let (Some(first), Some(second)) = statements else { return false };
        if spending.equal(&first, &second, LEMMA).1 {
            return true;
        }
    }
    false
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

    /// Classes of random programs, and of those with a mistake in them, beside what passes make of them: values of one
    /// class are the same number, within its range, by the golden interpreter.
    #[test]
    fn values_of_a_class_are_the_same_number() {
        let (mut shared, mut all) = (0, 0);
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
            let (spent, counts) = (0, Counts::default());
            let mut spending =
                Spending { request: &request, solver, left: 1 << 32, spent, counts, questions: Vec::new() };
            let numbering = numbered(&a, &b, &mut spending);
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
            }
            all += b.nodes().len();
            shared += numbering.of[1].iter().filter(|&&class| numbering.classes[class as usize].shared).count();
        }
        assert!(shared * 2 > all, "{shared} of {all} values are known to be the same");
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
