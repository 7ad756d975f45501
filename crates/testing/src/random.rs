//! Random valid programs and random inputs for them, for tests that compare implementations.
//!
//! A program is decoded from a [`Recipe`]: one [`Gene`] (eight words) for each operation. The decoder is *total*: all
//! words give a valid [`Model`]. Words come from one of two sources:
//!
//! - [`model`] and [`Recipe::seeded`] draw them from a seed, for bulk runs without any other crate;
//! - a property test draws them with proptest (`vec(any::<Gene>(), 1..40)` and [`Recipe::new`]). Shrinking by proptest
//!   removes words and reduces their values, which simplifies the program: small words choose the newest operands, no
//!   shift and the exact interval.
//!
//! Intervals are mostly the exact intervals of the results; some are coarser, finer or wider, and with
//! [`Profile::broken`] some are narrower, so that values wrap. Equal words give equal programs on all computers.

pub mod choices;
pub mod machine;
pub mod rounded;
pub mod tables;

use alir_core::ir::{BinaryBits, Builder, Limits, Model, Node, Op, Output, Table, TableId, Term, UnaryBits, ValueId};
use alir_core::num::{Code, Interval, Kif, align};
use num_bigint::BigInt;
use std::fmt;

pub use alir_core::ir::draw_inputs as inputs;
pub use alir_core::num::SplitMix;

/// Draws a gene of uniformly distributed words.
pub fn gene(rng: &mut SplitMix) -> Gene {
    std::array::from_fn(|_| rng.word() as u16)
}

/// Words that determine one operation: kind, three operand selectors, shift, interval, output and delay, value. Every
/// combination of words is valid.
pub type Gene = [u16; 8];

/// Kind of operation that a gene can become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the operations")]
pub enum Kind {
    Input,
    Const,
    Neg,
    Add,
    Sub,
    Relu,
    Quantise,
    AddConst,
    Mux,
    Mul,
    Lookup,
    Not,
    Any,
    All,
    Binary,
    Sum,
    /// An adder tree over several earlier values: several operations.
    Tree,
    /// A copy of an earlier operation, with the same interval.
    Repeat,
}

/// Profile of random programs: kinds of operations, and limits on values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Kinds of operations; a kind that is listed twice is drawn twice as often.
    pub kinds: &'static [Kind],
    /// Largest number of input elements.
    pub inputs: u16,
    /// Largest width of any value in bits.
    pub max_width: u32,
    /// Largest width of an input or constant in bits.
    pub leaf_width: u32,
    /// Largest absolute number of fractional bits.
    pub max_frac: i32,
    /// Largest absolute value of most shifts.
    pub max_shift: i32,
    /// Largest absolute value of the rare large shifts.
    pub large_shift: i32,
    /// `true` if some intervals are too narrow for their values, so that values wrap and lookups miss their tables.
    pub broken: bool,
}

/// All operations, mostly arithmetic.
const MIXED: &[Kind] = {
    use Kind::*;
    &[
        Input, Add, Sub, Add, Sub, Neg, Relu, Quantise, AddConst, Mux, Mul, Lookup, Not, Any, All, Binary, Binary, Sum,
        Const, Input, Quantise, Mux, Tree, Repeat,
    ]
};

impl Profile {
    /// All operations, values of up to 64 bits.
    pub const MEDIUM: Profile = Profile {
        kinds: MIXED,
        inputs: 6,
        max_width: 64,
        leaf_width: 16,
        max_frac: 40,
        max_shift: 6,
        large_shift: 70,
        broken: true,
    };

    /// All operations, with values as narrow as in most users' programs.
    pub const SMALL: Profile =
        Profile { max_width: 14, leaf_width: 8, max_frac: 10, max_shift: 3, large_shift: 16, ..Profile::MEDIUM };

    /// Few and very narrow values: small enough for exhaustive tests and proofs.
    pub const TINY: Profile = Profile {
        inputs: 3,
        max_width: 6,
        leaf_width: 3,
        max_frac: 4,
        max_shift: 2,
        large_shift: 7,
        ..Profile::MEDIUM
    };

    /// Values beyond 64 and 128 bits.
    pub const WIDE: Profile =
        Profile { max_width: 300, leaf_width: 150, max_frac: 200, max_shift: 40, large_shift: 260, ..Profile::MEDIUM };

    /// Sums, differences and shifts with exact intervals and common operands, for passes on adder trees.
    pub const ADDERS: Profile = Profile {
        kinds: {
            use Kind::*;
            &[Input, Add, Sub, Tree, Tree, Sum, Add, Sub, Repeat, Neg, AddConst, Const, Input, Relu, Quantise]
        },
        inputs: 8,
        max_width: 32,
        leaf_width: 8,
        max_frac: 12,
        max_shift: 4,
        large_shift: 12,
        broken: false,
    };

    /// Bit operations, conditions and tables.
    pub const LOGIC: Profile = Profile {
        kinds: {
            use Kind::*;
            &[Input, Binary, Not, Any, All, Mux, Lookup, Binary, Quantise, Relu, Mux, Repeat, Const, Add, Sub]
        },
        ..Profile::SMALL
    };

    /// All profiles with their names.
    pub const ALL: [(&'static str, Profile); 6] = [
        ("medium", Profile::MEDIUM),
        ("small", Profile::SMALL),
        ("tiny", Profile::TINY),
        ("wide", Profile::WIDE),
        ("adders", Profile::ADDERS),
        ("logic", Profile::LOGIC),
    ];

    /// Returns the profile restricted to sound intervals: if all inputs are within their intervals, only operations
    /// that quantise may wrap.
    #[must_use]
    pub fn well_typed(self) -> Profile {
        Profile { broken: false, ..self }
    }
}

/// Builds the program of a seed, which also determines profile and size.
pub fn model(seed: u64) -> Model {
    let mut rng = SplitMix::new(seed ^ 0x6d6f_6465_6c00);
    let (_, profile) = Profile::ALL[rng.below(Profile::ALL.len() as u64) as usize];
    // Mostly small programs, whose failures are easy to analyse.
    let ops = 1 + rng.below(60) * rng.below(60) / 60;
    Recipe::seeded(profile, ops as usize, rng.word()).build()
}

/// Replaces the first difference of a program, if there is one, with a sum; returns `None` if the result is invalid.
pub fn with_a_sum_for_a_difference(model: &Model) -> Option<Model> {
    let mut other = Builder::like(model);
    let mut is_changed = false;
    for node in model.nodes() {
        let mut node = node.clone();
        if let Op::Sub { a, b, shift } = node.op
            && !is_changed
        {
            is_changed = true;
            node.op = Op::Add { a, b, shift };
        }
        other.push(node);
    }
    for output in model.outputs() {
        other.output(*output);
    }
    for table in model.tables() {
        other.table(table.clone());
    }
    other.finish().ok()
}

/// Returns a program with `times` parallel copies of a program, each with separate inputs and outputs.
///
/// # Panics
/// If the number of inputs exceeds 32 bits.
pub fn side_by_side(model: &Model, times: u32) -> Model {
    let n = model.n_inputs() as u32;
    let shifts = model.inp_shifts().iter().copied().cycle().take((n * times) as usize);
    let mut all = Builder::new(shifts.collect());
    all.limits(Limits::derived());
    for table in model.tables() {
        all.table(table.clone());
    }
    for time in 0..times {
        let base = all.nodes().len() as u32;
        for node in model.nodes() {
            let mut op = node.op.clone();
            op.map_operands(|v| ValueId(v.0 + base));
            if let Op::Input { input } = &mut op {
                *input += n * time;
            }
            all.push(Node { op, ..node.clone() });
        }
        for output in model.outputs() {
            all.output(Output { source: output.source.map(|v| ValueId(v.0 + base)), ..*output });
        }
    }
    all.finish().expect("copies of a valid program are valid")
}

/// Words from which a random program is built.
#[derive(Clone, PartialEq, Eq)]
pub struct Recipe {
    /// Profile of the program.
    pub profile: Profile,
    /// About one gene for each operation; some genes result in several operations.
    pub genes: Vec<Gene>,
}

impl Recipe {
    /// Creates a recipe from words.
    pub fn new(profile: Profile, genes: Vec<Gene>) -> Recipe {
        Recipe { profile, genes }
    }

    /// Draws `ops` genes from the pseudo-random sequence of `seed`.
    pub fn seeded(profile: Profile, ops: usize, seed: u64) -> Recipe {
        let mut rng = SplitMix::new(seed);
        Recipe { profile, genes: (0..ops).map(|_| gene(&mut rng)).collect() }
    }

    /// Builds the program.
    ///
    /// # Panics
    /// Only if the profile exceeds the default limits of a [`Builder`].
    pub fn build(&self) -> Model {
        let mut generator = Generator::new(&self.profile);
        for gene in &self.genes {
            generator.add(*gene);
        }
        generator.finish()
    }
}

impl fmt::Debug for Recipe {
    /// Prints the words, to be pasted into a test, and the resulting program.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Recipe {{ profile: {:?},\n  genes: vec!{:?} }}, which is", self.profile, self.genes)?;
        let model = self.build();
        writeln!(f, "  inp_shifts {:?}", model.inp_shifts())?;
        for (table, n) in model.tables().iter().zip(0..) {
            writeln!(f, "  table {n}: {:?} of {:?}", table.entries, table.out)?;
        }
        for id in model.ids() {
            let Interval { min, max, frac } = &model.node(id).interval;
            writeln!(f, "  {id}: {} = {:?} in [{min}, {max}] frac {frac}", model.kif(id), model.node(id).op)?;
        }
        model.outputs().iter().try_for_each(|out| writeln!(f, "  {out:?}"))
    }
}

/// An exact interval during construction; `frac` may exceed the limit of the profile.
#[derive(Clone, Debug)]
struct Range {
    min: BigInt,
    max: BigInt,
    frac: i64,
}

impl Range {
    /// Returns the interval with `frac` fractional bits; bounds are rounded down.
    fn at(&self, frac: i64) -> Range {
        Range { min: align(&self.min, self.frac, frac), max: align(&self.max, self.frac, frac), frac }
    }

    fn shifted(&self, shift: i32) -> Range {
        Range { frac: self.frac - i64::from(shift), ..self.clone() }
    }

    /// Applies `join` to both intervals at their common step.
    fn join(&self, other: &Range, join: impl Fn(Range, Range) -> (BigInt, BigInt)) -> Range {
        let frac = self.frac.max(other.frac);
        let (min, max) = join(self.at(frac), other.at(frac));
        Range { min, max, frac }
    }

    fn plus(&self, other: &Range) -> Range {
        self.join(other, |a, b| (a.min + b.min, a.max + b.max))
    }

    fn negated(&self) -> Range {
        Range { min: -&self.max, max: -&self.min, frac: self.frac }
    }

    fn hull(&self, other: &Range) -> Range {
        self.join(other, |a, b| (a.min.min(b.min), a.max.max(b.max)))
    }
}

/// Constraint on the step of a declared interval.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Freedom {
    /// The step is free.
    AnyStep,
    /// The step is fixed: that of the operand for `not`, that of the table for a lookup, that of the value for a
    /// constant, and in well-typed profiles 1 for `any` and `all`.
    FixedStep,
}

/// Decoder of genes, which appends the operations to a program.
struct Generator<'a> {
    profile: &'a Profile,
    inp_shifts: Vec<i32>,
    nodes: Vec<Node>,
    tables: Vec<Table>,
    /// `true` if an operation reads the value.
    used: Vec<bool>,
    /// Values chosen as outputs, with shift and negation.
    marked: Vec<(ValueId, i32, bool)>,
    zero_output: bool,
}

impl<'a> Generator<'a> {
    fn new(profile: &'a Profile) -> Generator<'a> {
        Generator {
            profile,
            inp_shifts: Vec::new(),
            nodes: Vec::new(),
            tables: Vec::new(),
            used: Vec::new(),
            marked: Vec::new(),
            zero_output: false,
        }
    }

    fn count(&self) -> usize {
        self.nodes.len()
    }

    fn kif(&self, v: ValueId) -> Kif {
        self.nodes[v.index()].interval.kif()
    }

    /// Returns the interval of a value. A value without bits has the step 1, which is the step of its type.
    fn range(&self, v: ValueId) -> Range {
        let interval = &self.nodes[v.index()].interval;
        if interval.kif().is_zero() {
            return Range { min: BigInt::ZERO, max: BigInt::ZERO, frac: 0 };
        }
        Range { min: interval.min.to_big(), max: interval.max.to_big(), frac: i64::from(interval.frac) }
    }

    /// Returns an earlier value: the newest value for selector 0, mostly one of the last eight values.
    fn pick(&self, selector: u16) -> ValueId {
        let n = self.count();
        let window = if selector.is_multiple_of(3) { n } else { n.min(8) };
        ValueId((n - 1 - usize::from(selector / 3) % window) as u32)
    }

    fn shift(&self, word: u16) -> i32 {
        // One word in 32 gives a large shift; 0 gives no shift.
        let bound = if word % 32 == 31 { self.profile.large_shift } else { self.profile.max_shift };
        let n = i32::from(word / 32) % (2 * bound + 1);
        // 0, 1, -1, 2, -2, ...
        if n % 2 == 1 { n / 2 + 1 } else { -(n / 2) }
    }

    fn add(&mut self, gene: Gene) {
        let kind = self.profile.kinds[usize::from(gene[0]) % self.profile.kinds.len()];
        let kind = if self.count() == 0 && !matches!(kind, Kind::Const) { Kind::Input } else { kind };
        let id = match kind {
            Kind::Tree => self.tree(gene),
            Kind::Repeat => self.repeat(gene),
            _ => self.single(kind, gene),
        };
        // Word 6: one value in eight is an output in addition to those that no operation uses.
        if gene[6] % 8 == 7 {
            self.marked.push((id, self.shift(gene[6] / 8), gene[6] & 0x100 != 0));
        }
        self.zero_output |= gene[6] % 64 == 62;
    }

    fn push(&mut self, op: Op, interval: Interval, gene: Gene) -> ValueId {
        let mut start: f64 = 0.0;
        op.for_each_operand(|v| {
            start = start.max(self.nodes[v.index()].latency);
            self.used[v.index()] = true;
        });
        // Delays are multiples of one half. With a negative delay, the result is available before its operands, but not
        // before time 0.
        let delay = f64::from(i32::from(gene[6] >> 12) - 2) / 2.0;
        let latency = if matches!(op, Op::Input { .. } | Op::Const { .. }) { 0.0 } else { (start + delay).max(0.0) };
        self.used.push(false);
        let origin = self.count() as u32;
        self.nodes.push(Node { op, interval, latency, cost: delay.max(0.0), origin });
        ValueId(origin)
    }

    /// Appends an operation whose exact result is within `exact`. If a well-typed profile allows no interval of that
    /// size, a quantise of the first operand, which may wrap, replaces the operation.
    fn push_declared(&mut self, op: Op, exact: Range, freedom: Freedom, gene: Gene) -> ValueId {
        let interval = self.declared(exact.clone(), freedom, gene);
        // A type without bits has no fractional bits (specification, section 2), for any step of the interval.
        let exact = exact.at(interval.kif().frac.into());
        let holds = interval.contains(&exact.min) && interval.contains(&exact.max);
        match op.operands().first() {
            Some(&x) if !holds && !self.profile.broken && !op.quantises() => {
                let interval = self.declared(self.range(x), Freedom::AnyStep, gene);
                self.push(Op::Quantise { x, shift: 0 }, interval, gene)
            }
            _ => self.push(op, interval, gene),
        }
    }

    fn single(&mut self, kind: Kind, gene: Gene) -> ValueId {
        let [_, w1, w2, w3, w4, _, _, w7] = gene;
        match kind {
            Kind::Input => return self.input(gene),
            Kind::Const => return self.constant(gene),
            Kind::Lookup => return self.lookup(gene),
            _ => {}
        }
        let (a, b, c) = (self.pick(w1), self.pick(w2), self.pick(w3));
        let shift = self.shift(w4);
        let (ra, rb) = (self.range(a), self.range(b));
        let zero = Range { min: BigInt::ZERO, max: BigInt::ZERO, frac: ra.frac };
        let bit = Range { min: BigInt::ZERO, max: BigInt::from(1), frac: 0 };
        let mut freedom = Freedom::AnyStep;
        let (op, exact) = match kind {
            Kind::Neg => (Op::Neg { x: a }, ra.negated()),
            Kind::Add => (Op::Add { a, b, shift }, ra.plus(&rb.shifted(shift))),
            Kind::Sub => (Op::Sub { a, b, shift }, ra.plus(&rb.shifted(shift).negated())),
            Kind::Relu => (Op::Relu { x: a }, ra.join(&zero, |x, zero| (x.min.max(zero.min), x.max.max(zero.max)))),
            Kind::Quantise => (Op::Quantise { x: a, shift }, ra.shifted(shift)),
            Kind::AddConst => {
                let value = self.leaf_value(gene);
                let constant = Range { min: value.clone(), max: value.clone(), frac: ra.frac + i64::from(shift) };
                (Op::AddConst { x: a, value: Code::from(value), shift: constant.frac as i32 }, ra.plus(&constant))
            }
            Kind::Mux => (Op::Mux { cond: c, on_true: a, on_false: b, shift }, ra.hull(&rb.shifted(shift))),
            Kind::Mul => {
                let corners = [&ra.min * &rb.min, &ra.min * &rb.max, &ra.max * &rb.min, &ra.max * &rb.max];
                let min = corners.iter().min().cloned().unwrap_or_default();
                let max = corners.into_iter().max().unwrap_or_default();
                (Op::Mul { a, b }, Range { min, max, frac: ra.frac + rb.frac })
            }
            Kind::Not => {
                freedom = Freedom::FixedStep;
                let op = Op::Unary { op: UnaryBits::Not, x: a };
                // A signed result is -a - 1; an unsigned result is the complement of the bits.
                let signed = Range { min: -&ra.max - 1, max: -&ra.min - 1, frac: ra.frac };
                let all = (BigInt::from(1) << self.kif(a).width()) - 1;
                if w7 % 2 == 1 && signed.min < BigInt::ZERO && self.kif(a).width() < self.profile.max_width {
                    (op, signed)
                } else {
                    (op, Range { min: BigInt::ZERO, max: all, frac: ra.frac })
                }
            }
            Kind::Any | Kind::All => {
                // The result is 0 or 1 for every step: with a step above 1 no bit would remain.
                if !self.profile.broken {
                    freedom = Freedom::FixedStep;
                }
                (Op::Unary { op: if kind == Kind::Any { UnaryBits::Any } else { UnaryBits::All }, x: a }, bit)
            }
            Kind::Binary => {
                let op = [BinaryBits::And, BinaryBits::Or, BinaryBits::Xor][usize::from(w7) % 3];
                (Op::Binary { op, a, b, shift }, self.binary_range(a, b, shift))
            }
            Kind::Sum => {
                let mut terms = vec![Term { value: a, shift: 0, neg: w7 & 1 != 0 }];
                let selectors = [w2, w3, w2.rotate_left(5) ^ w3, w3.rotate_left(7) ^ w1, w1.rotate_left(3) ^ w2];
                for (k, selector) in selectors.iter().enumerate().take(usize::from(w7 / 2) % 6) {
                    let shift = self.shift(w4.rotate_left(3 * k as u32));
                    terms.push(Term { value: self.pick(*selector), shift, neg: w7 >> (8 + k) & 1 != 0 });
                }
                let exact = terms.iter().map(|t| {
                    let term = self.range(t.value).shifted(t.shift);
                    if t.neg { term.negated() } else { term }
                });
                let exact = exact.reduce(|sum, term| sum.plus(&term)).unwrap_or(zero);
                (Op::Sum { terms: terms.into() }, exact)
            }
            Kind::Input | Kind::Const | Kind::Lookup | Kind::Tree | Kind::Repeat => {
                unreachable!("these are decoded by their own functions")
            }
        };
        self.push_declared(op, exact, freedom, gene)
    }

    /// Returns the range of a bit operation: the hull of both operands' types at their common step.
    fn binary_range(&self, a: ValueId, b: ValueId, shift: i32) -> Range {
        let full = |v: ValueId, shift: i32| {
            let kif = self.kif(v);
            Range { min: kif.min_code(), max: kif.max_code(), frac: i64::from(kif.frac) - i64::from(shift) }
        };
        let hull = full(a, 0).hull(&full(b, shift));
        // Low bits below the coarser operand come from the other operand, so the hull is rounded up to whole powers of
        // two.
        let width = (hull.min.bits() + 1).max(hull.max.bits());
        let signed = hull.min < BigInt::ZERO;
        let ones = (BigInt::from(1) << hull.max.bits().max(if signed { width - 1 } else { 0 })) - 1;
        Range { min: if signed { -&ones - 1 } else { BigInt::ZERO }, max: ones, frac: hull.frac }
    }

    /// Draws a constant of at most the profile's leaf width, and at most 63 bits plus sign, the limit of the file
    /// formats.
    fn leaf_value(&self, gene: Gene) -> BigInt {
        let [_, _, w2, w3, _, _, _, w7] = gene;
        let raw = i64::from(w7 as i16) ^ (i64::from(w2) << 16) ^ (i64::from(w3) << 32);
        let width = 1 + u32::from(w7 >> 8) % self.profile.leaf_width.min(63);
        // Small constants and powers of two are common.
        BigInt::from(match w2 % 4 {
            0 => i64::from(w7) % (1 << width.min(4)),
            1 => 1 << (u32::from(w7) % width.min(62)),
            2 => -(i64::from(w7) % (1 << width.min(15))),
            _ => raw >> (64 - width),
        })
    }

    fn constant(&mut self, gene: Gene) -> ValueId {
        let value = self.leaf_value(gene);
        let frac =
            i64::from(self.shift(gene[4])).clamp(-i64::from(self.profile.max_frac), self.profile.max_frac.into());
        let exact = Range { min: value.clone(), max: value.clone(), frac };
        // The raw integer value is in units of the node's own step.
        let interval = self.declared(exact, Freedom::FixedStep, gene);
        self.push(Op::Const { value: Code::from(value) }, interval, gene)
    }

    fn input(&mut self, gene: Gene) -> ValueId {
        let [_, w1, w2, w3, w4, w5, _, w7] = gene;
        let input = usize::from(w1 % self.profile.inputs);
        while self.inp_shifts.len() <= input {
            let shift = if w3 % 4 == 3 { self.shift(w3 / 4) } else { 0 };
            self.inp_shifts.push(shift);
        }
        let bits = match w2 % 32 {
            31 => 0,
            30 => self.profile.leaf_width,
            n => 1 + u32::from((n * 257) ^ (w2 >> 5)) % self.profile.leaf_width.min(24),
        };
        let signed = w7 % 2 == 1 && bits > 0;
        let frac = self.shift(w4).clamp(-self.profile.max_frac, self.profile.max_frac);
        let full = Kif { signed, int: bits as i32 - i32::from(signed) - frac, frac };
        let mut interval = Interval::full(full);
        // Some intervals do not fill their type.
        if w5 % 8 == 7 && bits > 1 {
            let cut = BigInt::from(w5 >> 3) % (interval.max.to_big() + 1);
            interval = Interval::new(interval.min.to_big(), interval.max.to_big() - cut, frac);
        }
        self.push(Op::Input { input: input as u32 }, interval, gene)
    }

    fn lookup(&mut self, gene: Gene) -> ValueId {
        let [_, w1, w2, w3, w4, _, _, w7] = gene;
        let mut x = self.pick(w1);
        let limit = 8.min(self.profile.max_width);
        if self.kif(x).width() > limit {
            // Tables are small: the low or the high bits of a wide value are the index.
            let Kif { signed, int, frac } = self.kif(x);
            let narrow = if w2.is_multiple_of(2) {
                Kif { signed, int: limit as i32 - i32::from(signed) - frac, frac }
            } else {
                Kif { signed, int, frac: limit as i32 - i32::from(signed) - int }
            };
            x = self.push(Op::Quantise { x, shift: 0 }, Interval::full(narrow), gene);
        }
        let (kif, range) = (self.kif(x), self.range(x));
        // A table over the whole interval, or over a part of the type.
        let (base, len) = if w3 % 4 == 3 && kif.width() > 0 {
            let codes = 1u64 << kif.width();
            let skip = u64::from(w3 >> 2) % codes;
            (kif.min_code() + skip, 1 + u64::from(w2 >> 1) % (codes - skip))
        } else {
            let len = u64::try_from(&range.max - &range.min).unwrap_or(0) + 1;
            (range.min, len)
        };
        let out_width = 1 + u32::from(w7 >> 2) % self.profile.leaf_width.min(20).min(self.profile.max_width);
        let signed = w7 & 1 != 0;
        let frac = self.shift(w4).clamp(-self.profile.max_frac, self.profile.max_frac);
        let out = Kif { signed, int: out_width as i32 - i32::from(signed) - frac, frac };
        let mut rng = SplitMix::new(u64::from(w7) << 32 | u64::from(w3) << 16 | u64::from(w2));
        let entry = |_| i32::try_from(alir_core::num::wrap(&rng.bits(out_width), out)).unwrap_or(0);
        let entries: Vec<i32> = (0..len).map(entry).collect();
        let (min, max) = (entries.iter().min().copied().unwrap_or(0), entries.iter().max().copied().unwrap_or(0));
        let declared = Interval::full(out);
        let table = TableId(self.tables.len() as u32);
        self.tables.push(Table { entries, out: declared, hash: String::new(), inp_width: kif.width().into() });
        // The hardware reads zero outside the table.
        let outside = (len as u128) < 1 << kif.width();
        let exact = Range {
            min: BigInt::from(if outside { min.min(0) } else { min }),
            max: BigInt::from(if outside { max.max(0) } else { max }),
            frac: frac.into(),
        };
        let interval = self.declared(exact, Freedom::FixedStep, gene);
        self.push(Op::Lookup { x, table, base: Code::from(base) }, interval, gene)
    }

    /// Appends a tree of two-operand sums of up to nine earlier values.
    fn tree(&mut self, gene: Gene) -> ValueId {
        let mut rng = SplitMix::new(gene.iter().fold(0, |sum, &w| sum << 8 ^ u64::from(w)));
        let leaves = 2 + usize::from(gene[7]) % 8;
        let mut row: Vec<ValueId> = (0..leaves).map(|_| self.pick(rng.word() as u16)).collect();
        while row.len() > 1 {
            let pairs: Vec<_> = row.chunks(2).map(<[_]>::to_vec).collect();
            row = pairs
                .into_iter()
                .map(|pair| {
                    let [a, b] = pair[..] else { return pair[0] };
                    let shift = if rng.below(2) == 0 { 0 } else { self.shift(rng.word() as u16) };
                    let b_range = self.range(b).shifted(shift);
                    let minus = rng.below(4) == 0;
                    let exact = self.range(a).plus(&if minus { b_range.negated() } else { b_range });
                    let op = if minus { Op::Sub { a, b, shift } } else { Op::Add { a, b, shift } };
                    let mut own = gene;
                    own[5] = 0;
                    self.push_declared(op, exact, Freedom::AnyStep, own)
                })
                .collect();
        }
        row[0]
    }

    fn repeat(&mut self, gene: Gene) -> ValueId {
        let source = self.pick(gene[1]);
        let Node { op, interval, .. } = self.nodes[source.index()].clone();
        self.push(op, interval, gene)
    }

    /// Returns the declared interval of a result that is within `exact`, in most cases `exact` itself.
    fn declared(&self, exact: Range, freedom: Freedom, gene: Gene) -> Interval {
        let word = gene[5];
        let limit = i64::from(self.profile.max_frac);
        let mut range = exact;
        if freedom == Freedom::AnyStep {
            range = match word % 16 {
                // Dropped low bits, or appended zero bits.
                13 => range.at(range.frac - 1 - i64::from(word >> 4) % 4),
                14 => range.at(range.frac + 1 + i64::from(word >> 4) % 3),
                _ => range,
            };
            range = range.at(range.frac.clamp(-limit, limit));
        }
        if self.profile.broken {
            range = match word % 32 {
                // An interval without bits, half the range, or another sign.
                11 if word >> 5 & 3 == 0 => Range { min: BigInt::ZERO, max: BigInt::ZERO, ..range },
                11 => Range { min: &range.min / 2, max: &range.max / 2, ..range },
                12 if range.min < BigInt::ZERO && freedom == Freedom::AnyStep => {
                    Range { max: (-&range.min).max(range.max), min: BigInt::ZERO, ..range }
                }
                _ => range,
            };
        }
        match word % 32 {
            // An interval that is wider than necessary, or signed without need.
            15 => range.max += BigInt::from(range.max.magnitude().clone()) + 1,
            31 => {
                let mirrored: BigInt = -1 - &range.max;
                let doubled: BigInt = range.min * 2 - 1;
                range.min = doubled.min(mirrored);
            }
            _ => {}
        }
        self.fitted(range, freedom, word)
    }

    /// Limits an interval to the profile's width: drops low bits, or lets the value wrap.
    fn fitted(&self, range: Range, freedom: Freedom, word: u16) -> Interval {
        let interval = |r: &Range| Interval::new(r.min.clone(), r.max.clone(), r.frac as i32);
        let kif = interval(&range).kif();
        let excess = i64::from(kif.width()) - i64::from(self.profile.max_width);
        if excess <= 0 {
            return interval(&range);
        }
        let coarser = range.frac - excess;
        let may_drop = freedom == Freedom::AnyStep && coarser >= -i64::from(self.profile.max_frac);
        if may_drop && (word & 0x8000 == 0 || !self.profile.broken) {
            let dropped = interval(&range.at(coarser));
            if dropped.kif().width() <= self.profile.max_width {
                return dropped;
            }
        }
        let int = self.profile.max_width as i32 - i32::from(kif.signed) - kif.frac;
        Interval::full(Kif { int, ..kif })
    }

    fn finish(mut self) -> Model {
        if self.count() == 0 {
            self.input([0; 8]);
        }
        let mut outputs = self.marked;
        // Values without readers become outputs, so that little code is dead: at most a dozen values, newest first.
        let loose = (0..self.nodes.len()).rev().filter(|&v| !self.used[v]).take(12);
        outputs.extend(loose.map(|v| (ValueId(v as u32), 0, v % 7 == 6)));
        let mut builder = Builder::new(self.inp_shifts.clone());
        for node in self.nodes {
            builder.push(node);
        }
        for table in self.tables {
            builder.table(table);
        }
        for (v, shift, neg) in outputs {
            builder.output(Output { source: Some(v), shift, neg });
        }
        if self.zero_output {
            builder.output(Output { source: None, shift: 0, neg: false });
        }
        builder.finish().unwrap_or_else(|problems| panic!("the generator built an invalid program: {}", problems[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alir_interp::{LookupMiss, golden_steps};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_recipe_builds_a_valid_program(
            genes in proptest::collection::vec(any::<Gene>(), 0..40),
            which in 0..Profile::ALL.len(),
            broken: bool,
        ) {
            let profile = Profile { broken, ..Profile::ALL[which].1 };
            let model = Recipe::new(profile, genes).build();
            let sample = inputs(&model, &mut SplitMix::new(1));
            prop_assert!(sample.iter().zip(model.input_kifs()).all(|(code, kif)| kif.holds(code)));
            prop_assert!(!model.outputs().is_empty());
        }

        #[test]
        fn well_typed_programs_keep_their_intervals(
            genes in proptest::collection::vec(any::<Gene>(), 1..40),
            which in 0..Profile::ALL.len(),
        ) {
            let recipe = Recipe::new(Profile::ALL[which].1.well_typed(), genes);
            let model = recipe.build();
            let mut rng = SplitMix::new(2);
            for _ in 0..10 {
                let sample = inputs(&model, &mut rng);
                let (mut inside, mut broken) = (true, None);
                golden_steps(&model, &sample, LookupMiss::Zero, |step| {
                    let alir_interp::Step::Op { id, exact: _, code } = step else { return };
                    let input = matches!(model.node(id).op, Op::Input { .. });
                    inside &= !input || model.node(id).interval.contains(code);
                    if broken.is_none() && step.exceeds_declared_range(&model) {
                        broken = Some(id);
                    }
                }).unwrap();
                prop_assert!(!inside || broken.is_none(), "{broken:?} wraps for {sample:?}");
            }
        }
    }

    #[test]
    fn same_seed_same_program() {
        assert_eq!(model(7), model(7));
        assert_ne!(model(7), model(8));
    }

    #[test]
    fn small_words_build_simple_programs() {
        let model = Recipe::new(Profile::SMALL, vec![[0; 8], [1, 0, 0, 0, 0, 0, 0, 0]]).build();
        assert_eq!(model.node(ValueId(1)).op, Op::Add { a: ValueId(0), b: ValueId(0), shift: 0 });
        assert_eq!(model.nodes().len(), 2);
    }

    /// Checks that the generated programs cover all operations and special cases.
    #[test]
    fn programs_cover_operations_widths_and_odd_cases() {
        let mut seen = BTreeSet::new();
        for seed in 0..600 {
            let model = model(seed);
            for id in model.ids() {
                let (node, kif) = (model.node(id), model.kif(id));
                seen.insert(format!("{} signed {}", node.op.name(), kif.signed));
                for (name, at_least) in [("over 64", 65), ("over 128", 129)] {
                    if kif.width() >= at_least {
                        seen.insert(name.into());
                    }
                }
                let extreme = match &node.op {
                    Op::Add { shift, .. } | Op::Mux { shift, .. } | Op::Quantise { shift, .. } => shift.abs() > 64,
                    _ => false,
                };
                let odd = [
                    ("zero width", kif.is_zero()),
                    ("negative integers", kif.int < 0),
                    ("negative fractionals", kif.frac < 0),
                    ("extreme shift", extreme),
                    ("zero width operand", node.op.operands().iter().any(|v| model.kif(*v).is_zero())),
                    (
                        "multi-type input",
                        matches!(
                            node.op,
                            Op::Input { input } if model.input_kifs()[input as usize] != kif && !kif.is_zero()
                        ),
                    ),
                ];
                seen.extend(odd.iter().filter(|(_, is)| *is).map(|(name, _)| name.to_string()));
            }
            for out in model.outputs() {
                seen.insert(if out.neg { "negated output" } else { "plain output" }.into());
                seen.insert(if out.source.is_none() { "constant zero output" } else { "value output" }.into());
                seen.insert(if out.shift != 0 { "shifted output" } else { "unshifted output" }.into());
            }
            seen.insert(format!("input shift {}", model.inp_shifts().iter().any(|&s| s != 0)));
        }
        let operations = [
            "input",
            "const",
            "neg",
            "add",
            "sub",
            "relu",
            "quantise",
            "add_const",
            "mux",
            "mul",
            "lookup",
            "not",
            "any",
            "all",
            "and",
            "or",
            "xor",
            "sum",
        ];
        let mut wanted: Vec<String> = Vec::new();
        for name in operations {
            wanted.push(format!("{name} signed false"));
            wanted.push(format!("{name} signed true"));
        }
        wanted.extend(
            [
                "over 64",
                "over 128",
                "zero width",
                "negative integers",
                "negative fractionals",
                "extreme shift",
                "zero width operand",
                "multi-type input",
                "negated output",
                "constant zero output",
                "shifted output",
                "input shift true",
            ]
            .map(String::from),
        );
        let missing: Vec<_> = wanted.iter().filter(|name| !seen.contains(*name)).collect();
        assert!(missing.is_empty(), "never generated: {missing:?}");
    }
}
