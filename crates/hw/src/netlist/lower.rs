//! Lowering of a program to cells: the semantics of `docs/alir.md`, section 3, exact for every bit pattern of the
//! inputs.
//!
//! Each operation's operands become [`Fixed`] numbers in the frame of its result (position 0 is the result's lowest
//! bit), so that alignment changes positions and needs no operation; the result is the window of its width.

use super::arith::{Bitwise, Extent, Fixed};
use super::builder::{Draft, Origin, Owner};
use super::cell::{Cell, Netlist, PortId, RomId, Wiring};
use super::constants;
use super::options::{Adders, Compared, Fabric, Options};
use super::pipeline;
use super::ternary::{self, Pairs, Summand};
use super::wiring::EMPTY;
use alir_core::ir::{BinaryBits, Model, Op, TableId, Term, UnaryBits, ValueId};
use alir_core::num::{Code, Kif};
use alir_opt::schedule::Schedule;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use rustc_hash::{FxHashMap, FxHashSet};

/// Position above any bit of a value, for results without truncation at the top.
const UNLIMITED: i64 = i64::MAX / 4;

/// Number of memory words that a program may use beyond four times the entries of its tables. Above that, tables are
/// addressed with a subtracter instead of padded to the range of their operand.
const PADDING_WORDS: u64 = 1 << 20;

/// Builds the netlist of a program, pipelined as scheduled.
///
/// Names that are not legal or not unique are changed; [`Options::check`] reports them.
///
/// # Panics
/// If the schedule does not belong to the program: wrong number of operations, invalid stage, or an operation before
/// its operands.
pub fn lower(model: &Model, schedule: &Schedule, options: &Options) -> Netlist {
    let mut netlist = pipeline::assemble(draft(model, schedule, options.fabric), model, schedule, options);
    if options.fabric.differences {
        constants::as_differences(&mut netlist);
    }
    netlist
}

/// A program as cells, before trimming, registers and names.
pub(super) struct Drafted {
    /// The cells. The port of an input cell is the index of the input element.
    pub(super) draft: Draft,
    /// Bits of each output element.
    pub(super) outputs: Vec<Wiring>,
}

/// Builds the combinational part of the hardware.
pub(super) fn draft(model: &Model, schedule: &Schedule, fabric: Fabric) -> Drafted {
    assert_eq!(schedule.stage.len(), model.nodes().len(), "a stage for each operation");
    let pairs = if fabric.adders == Adders::Three { Pairs::find(model, schedule) } else { Pairs::none() };
    let mut lowering = Lowering { fabric, pairs, ..Lowering::new(model, Draft::with_capacity(model.nodes().len())) };
    lowering.inputs(u32::from(!schedule.register_inputs));
    lowering.operations(schedule);
    let outputs = lowering.outputs(schedule.stages.max(1));
    Drafted { draft: lowering.draft, outputs }
}

/// Adds the cells of a program that is a part of a larger design to `draft`, all in stage 1. `inputs` are the bits of
/// its input elements.
pub(super) fn block(draft: Draft, model: &Model, inputs: Vec<Wiring>, fabric: Fabric) -> Drafted {
    let schedule = Schedule::combinational(model.nodes().len());
    let pairs = if fabric.adders == Adders::Three { Pairs::find(model, &schedule) } else { Pairs::none() };
    let mut lowering = Lowering { inputs, fabric, pairs, ..Lowering::new(model, draft) };
    lowering.operations(&schedule);
    let outputs = lowering.outputs(1);
    Drafted { draft: lowering.draft, outputs }
}

/// Implementation of a table.
#[derive(Clone, Copy)]
enum Memory {
    /// Every value of the operand's type reads this constant.
    Constant(i64),
    /// The address is the operand's bit pattern.
    Direct(Words),
    /// The address is the operand's distance from the base.
    Shifted(Words),
}

/// A memory, and the conversion of its words to values.
#[derive(Clone, Copy)]
struct Words {
    rom: RomId,
    /// Zero bits below each word that are not stored.
    low_zeros: u32,
    signed: bool,
}

/// Lowering of one program.
struct Lowering<'a> {
    model: &'a Model,
    draft: Draft,
    /// Bits of each operation so far.
    values: Vec<Wiring>,
    /// Bits of each input element.
    inputs: Vec<Wiring>,
    /// Memories by table, operand type and base.
    memories: FxHashMap<(TableId, u32, bool, Code), Memory>,
    /// Number of memory words that padded tables may still use.
    padding_words: u64,
    /// Scratch memory of [`Lowering::sum`].
    terms: Vec<(Fixed, bool)>,
    /// Properties of the target device's logic.
    fabric: Fabric,
    /// Sums that are part of other sums with three operands.
    pairs: Pairs,
    /// Kind of comparison that uses each value's top bit.
    compared: Vec<Compared>,
}

impl<'a> Lowering<'a> {
    fn new(model: &'a Model, draft: Draft) -> Lowering<'a> {
        Lowering {
            model,
            draft,
            values: Vec::with_capacity(model.nodes().len()),
            inputs: Vec::with_capacity(model.n_inputs()),
            memories: FxHashMap::default(),
            padding_words: model.tables().iter().map(|t| 4 * t.entries.len() as u64).sum::<u64>() + PADDING_WORDS,
            terms: Vec::new(),
            fabric: Fabric::default(),
            pairs: Pairs::none(),
            compared: compared(model),
        }
    }

    /// Builds the cells of all operations.
    fn operations(&mut self, schedule: &Schedule) {
        let model = self.model;
        for id in model.ids() {
            let stage = schedule.stage[id.index()];
            assert!((1..=schedule.stages.max(1)).contains(&stage), "{id} in stage {stage} of {}", schedule.stages);
            model.node(id).op.for_each_operand(|v| {
                assert!(schedule.stage[v.index()] <= stage, "{id} is scheduled before its operand {v}");
            });
            if self.pairs.taken.get(id.index()) == Some(&true) {
                // The reader of this sum computes it as part of a sum of three.
                self.values.push(EMPTY);
                continue;
            }
            self.draft.begin(Owner::Op(id.0), stage);
            let value = self.op(id);
            debug_assert_eq!(value.width, model.kif(id).width(), "{id}");
            let value = self.draft.finish(value);
            self.values.push(value);
        }
    }

    /// Builds the cells of the input elements.
    fn inputs(&mut self, stage: u32) {
        for (i, kif) in self.model.input_kifs().iter().enumerate() {
            let element = i as u32;
            self.draft.begin(Owner::Input(element), stage);
            let bits = match kif.width() {
                0 => EMPTY,
                width => self.draft.wire(width, Cell::Input { port: PortId(element), lo: 0 }),
            };
            self.inputs.push(bits);
        }
    }

    /// Returns an operand in the frame of a result with `frac` fractional bits, times `2^shift`.
    fn operand(&self, v: ValueId, frac: i32, shift: i32) -> Fixed {
        let kif = self.model.kif(v);
        placed(self.values[v.index()], kif, frac, shift)
    }

    /// Builds the cells of an operation; returns the bits of its result.
    fn op(&mut self, id: ValueId) -> Wiring {
        let model = self.model;
        let kif = model.kif(id);
        let (width, frac) = (kif.width(), kif.frac);
        if width == 0 {
            return EMPTY;
        }
        let top = i64::from(width);
        if let Some(&Some(inner)) = self.pairs.inner.get(id.index()) {
            if let Some(sum) = self.sum_with(id, inner, frac, top) {
                return self.draft.window(sum, 0, width);
            }
            // A sum of three is not possible: build the inner sum separately first. The outer sum has no cells yet.
            let stage = self.draft.stage();
            self.draft.begin(Owner::Op(inner.0), stage);
            let value = self.op(inner);
            self.values[inner.index()] = self.draft.finish(value);
            self.draft.begin(Owner::Op(id.0), stage);
        }
        let exact = match &model.node(id).op {
            Op::Input { input } => {
                let port = model.input_kifs()[*input as usize];
                placed(self.inputs[*input as usize], port, frac, 0)
            }
            Op::Const { value } => self.draft.constant(&value.to_big(), 0),
            Op::Neg { x } => self.draft.negated(self.operand(*x, frac, 0), top),
            Op::Add { a, b, shift } => {
                let (a, b) = (self.operand(*a, frac, 0), self.operand(*b, frac, *shift));
                self.draft.sum(a, b, false, top)
            }
            Op::Sub { a, b, shift } => {
                let (a, b) = (self.operand(*a, frac, 0), self.operand(*b, frac, *shift));
                match self.draft.sign_of_difference(a, b, self.compared[id.index()], self.fabric) {
                    Some(sign) => sign,
                    None => self.draft.sum(a, b, true, top),
                }
            }
            Op::Relu { x } => self.relu(self.operand(*x, frac, 0), width),
            Op::Quantise { x, shift } => self.operand(*x, frac, *shift),
            Op::AddConst { x, value, shift } => {
                let x = self.operand(*x, frac, 0);
                // A subtraction of the magnitude is more readable than an addition of a long run of ones, at equal
                // cost.
                let magnitude = if value.is_negative() { value.negated() } else { value.clone() };
                let place = i64::from(frac) - i64::from(*shift);
                let threshold = self.draft.constant(&-value.to_big(), place);
                match self.draft.sign_of_difference(x, threshold, Compared::WithConstant, self.fabric) {
                    Some(sign) => sign,
                    None => {
                        let constant = self.draft.constant(&magnitude.to_big(), place);
                        self.draft.sum(x, constant, value.is_negative(), top)
                    }
                }
            }
            Op::Mux { cond, on_true, on_false, shift } => {
                let (a, b) = (self.operand(*on_true, frac, 0), self.operand(*on_false, frac, *shift));
                let cond = self.values[cond.index()];
                return self.mux(cond, a, b, width);
            }
            Op::Mul { a, b } => {
                let (a, b) = (self.operand(*a, 0, 0), self.operand(*b, frac, 0));
                self.draft.product(a, b, top, self.fabric)
            }
            Op::Lookup { x, table, base } => self.lookup(*x, *table, base, width),
            Op::Unary { op: UnaryBits::Not, x } => self.complement(self.operand(*x, frac, 0), *x, kif),
            Op::Unary { op: UnaryBits::Any, x } => unsigned(self.draft.any(self.values[x.index()])),
            Op::Unary { op: UnaryBits::All, x } => unsigned(self.draft.all(self.values[x.index()])),
            Op::Binary { op, a, b, shift } => {
                let (a, b) = (self.operand(*a, frac, 0), self.operand(*b, frac, *shift));
                let (a, b) = (self.draft.window(a, 0, width), self.draft.window(b, 0, width));
                let op = match op {
                    BinaryBits::And => Bitwise::And,
                    BinaryBits::Or => Bitwise::Or,
                    BinaryBits::Xor => Bitwise::Xor,
                };
                return self.draft.bitwise(op, a, b);
            }
            Op::Sum { terms } => self.sum(terms, frac, top),
        };
        self.draft.window(exact, 0, width)
    }

    /// Returns `max(x, 0)`, limited to the result's `width` bits.
    fn relu(&mut self, x: Fixed, width: u32) -> Fixed {
        if !x.signed || x.bits.width == 0 {
            return x;
        }
        let sign = self.draft.pool.slice(x.bits, x.bits.width - 1, 1);
        // Where the sign is clear, all bits from it upwards are zero.
        let magnitude = Fixed { bits: self.draft.pool.slice(x.bits, 0, x.bits.width - 1), at: x.at, signed: false };
        let shown = self.draft.window(magnitude, 0, width);
        let zero = self.draft.window(Fixed::ZERO, 0, width);
        Fixed { bits: self.draft.bitwise(Bitwise::Select(sign), zero, shown), at: 0, signed: false }
    }

    /// Returns `a` if the top bit of `cond` is set, otherwise `b`, as a word of `width` bits.
    fn mux(&mut self, cond: Wiring, a: Fixed, b: Fixed, width: u32) -> Wiring {
        if cond.width == 0 {
            return self.draft.window(b, 0, width);
        }
        let sel = self.draft.pool.slice(cond, cond.width - 1, 1);
        let (a, b) = (self.draft.window(a, 0, width), self.draft.window(b, 0, width));
        self.draft.bitwise(Bitwise::Select(sel), a, b)
    }

    /// Returns the complement of `x`. For a signed result it is `-x - 1`, the complement of infinitely many bits, sign
    /// extension included; otherwise only the bits of `x` are complemented.
    fn complement(&mut self, x: Fixed, operand: ValueId, kif: Kif) -> Fixed {
        let from = self.model.kif(operand);
        let bits = self.draft.complement(x.bits);
        if !kif.signed {
            return Fixed { bits, at: x.at, signed: false };
        }
        if from.is_zero() {
            // The complement of a value without bits, whose binary point is 0, is -1.
            return self.draft.constant(&BigInt::from(-1), i64::from(kif.frac));
        }
        if from.signed {
            return Fixed { bits, at: x.at, signed: true };
        }
        self.draft.pool.open();
        self.draft.pool.push_slice(bits, 0, bits.width);
        self.draft.pool.push_const(true, 1);
        Fixed { bits: self.draft.pool.close(), at: x.at, signed: true }
    }

    /// Builds a sum of two whose operand `inner` is also a sum of two as one adder; `None` if that is not possible.
    fn sum_with(&mut self, id: ValueId, inner: ValueId, frac: i32, top: i64) -> Option<Fixed> {
        let model = self.model;
        let mut terms = Vec::with_capacity(3);
        let (mut last, mut within) = (None, None);
        for (summand, neg) in ternary::summands(&model.node(id).op)? {
            match summand {
                Summand::Value(v, shift) if v == inner => {
                    let kif = model.kif(inner);
                    let at = i64::from(frac) - i64::from(kif.frac) + i64::from(shift);
                    within = Some((Extent { top: at + i64::from(kif.width()), signed: kif.signed }, neg));
                    for (summand, inner_neg) in ternary::summands(&model.node(inner).op)? {
                        let term = self.summand(summand, frac, shift);
                        terms.push((term.0, term.1 ^ neg ^ inner_neg));
                    }
                }
                other => {
                    let term = self.summand(other, frac, 0);
                    last = Some((term.0, term.1 ^ neg));
                }
            }
        }
        terms.extend(last);
        match self.draft.three(terms.try_into().ok()?, within, top)? {
            (sum, false) => Some(sum),
            (sum, true) => Some(self.draft.negated(sum, top)),
        }
    }

    /// Returns a summand times `2^shift` in the frame of a result; and `true` if it is the magnitude of a negative
    /// constant.
    fn summand(&mut self, summand: Summand<'_>, frac: i32, shift: i32) -> (Fixed, bool) {
        match summand {
            Summand::Value(v, own) => (self.operand(v, frac, own + shift), false),
            Summand::Constant(value, own) => {
                let magnitude = if value.is_negative() { value.negated() } else { value.clone() };
                let place = i64::from(frac) - i64::from(own) + i64::from(shift);
                (self.draft.constant(&magnitude.to_big(), place), value.is_negative())
            }
        }
    }

    /// Builds the sum of all terms as a balanced tree. The negation of a subtracted term is deferred until an added
    /// term exists to subtract it from.
    fn sum(&mut self, terms: &[Term], frac: i32, top: i64) -> Fixed {
        let mut level = std::mem::take(&mut self.terms);
        level.clear();
        level.extend(terms.iter().map(|t| (self.operand(t.value, frac, t.shift), t.neg)));
        while level.len() > 1 {
            // Add the first three in one adder, or two if the number of terms is even; the sum joins the end of the
            // list.
            if self.fabric.adders != Adders::Two && level.len() > 2 {
                let taken = if level.len() % 2 == 1 { 3 } else { 2 };
                let sum = match level[..taken] {
                    [a, b, c] => self.draft.three([a, b, c], None, top).unwrap_or_else(|| {
                        let first = self.draft.pair(a, b, top);
                        self.draft.pair(first, c, top)
                    }),
                    [a, b] => self.draft.pair(a, b, top),
                    _ => unreachable!("two or three"),
                };
                level.drain(..taken);
                level.push(sum);
                continue;
            }
            let pairs = level.len().div_ceil(2);
            for k in 0..pairs {
                level[k] = match (level[2 * k], level.get(2 * k + 1).copied()) {
                    (only, None) => only,
                    (a, Some(b)) => self.draft.pair(a, b, top),
                };
            }
            level.truncate(pairs);
        }
        let (total, negative) = level[0];
        self.terms = level;
        if negative { self.draft.negated(total, top) } else { total }
    }

    /// Builds a table lookup; an index outside of the table reads zero.
    fn lookup(&mut self, x: ValueId, table: TableId, base: &Code, width: u32) -> Fixed {
        let from = self.model.kif(x);
        let bits = self.values[x.index()];
        let key = (table, from.width(), from.signed, base.clone());
        let memory = match self.memories.get(&key) {
            Some(&memory) => memory,
            None => {
                let memory = self.memory(table, from, base);
                self.memories.insert(key, memory);
                memory
            }
        };
        match memory {
            Memory::Constant(value) => self.draft.constant(&BigInt::from(value), 0),
            Memory::Direct(words) => self.read(words, bits),
            Memory::Shifted(words) => {
                let operand = Fixed { bits, at: 0, signed: from.signed };
                let magnitude = if base.is_negative() { base.negated() } else { base.clone() };
                let constant = self.draft.constant(&magnitude.to_big(), 0);
                let index = self.draft.sum(operand, constant, !base.is_negative(), UNLIMITED);
                let addr_width = self.draft.roms[words.rom.0 as usize].addr_width;
                let addr = self.draft.window(index, 0, addr_width);
                let word = self.read(words, addr);
                // The sign bit of a negative index is above the address bits, so a negative index is also outside of
                // the table.
                let beyond = self.draft.window(index, i64::from(addr_width), index.bits_above(i64::from(addr_width)));
                let miss = self.draft.any(beyond);
                let (shown, zero) = (self.draft.window(word, 0, width), self.draft.window(Fixed::ZERO, 0, width));
                unsigned(self.draft.bitwise(Bitwise::Select(miss), zero, shown))
            }
        }
    }

    /// Returns the value at an address of a memory.
    fn read(&mut self, words: Words, addr: Wiring) -> Fixed {
        let Words { rom, low_zeros, signed } = words;
        let memory = &self.draft.roms[rom.0 as usize];
        let word_width = memory.word_width;
        let bits = if self.draft.pool.is_const(addr) {
            let index = self.draft.pool.const_value(addr, false).to_usize();
            let word = index.and_then(|i| memory.words.get(i)).copied().unwrap_or(0);
            self.draft.pool.open();
            self.draft.pool.push_int(&BigInt::from(word), word_width);
            self.draft.pool.close()
        } else {
            self.draft.wire(word_width, Cell::Rom { rom, addr })
        };
        Fixed { bits, at: i64::from(low_zeros), signed }
    }

    /// Builds the memory of a table for operands of one type; entry 0 is that of the operand's raw value `base`.
    fn memory(&mut self, id: TableId, from: Kif, base: &Code) -> Memory {
        let table = self.model.table(id);
        let len = table.entries.len() as u64;
        let codes = 1u64.checked_shl(from.width()).unwrap_or(u64::MAX);
        let direct = codes <= (4 * len).max(256) && codes <= self.padding_words;
        let entries: Vec<i32> = if direct {
            self.padding_words -= codes;
            let base = base.to_i64().expect("a table's base is a code of its operand's type");
            by_pattern(&table.entries, from, base)
        } else {
            table.entries.clone()
        };
        if direct && entries.iter().all(|&e| e == entries[0]) {
            return Memory::Constant(i64::from(entries[0]));
        }
        let low_zeros = entries.iter().fold(0, |all, &e| all | e).trailing_zeros() % 32;
        let signed = entries.iter().any(|&e| e < 0);
        let bits = entries.iter().map(|&e| 32 - (e ^ (e >> 31)).leading_zeros()).max().unwrap_or(0);
        let word_width = (bits + u32::from(signed)).saturating_sub(low_zeros).max(1);
        let mask = u64::MAX >> (64 - word_width);
        let words: Vec<u64> = entries.iter().map(|&e| (i64::from(e) >> low_zeros) as u64 & mask).collect();
        let addr_width = (u64::BITS - (entries.len() as u64 - 1).leading_zeros()).max(1);
        let addr_width = if direct { from.width() } else { addr_width };
        let rom = self.draft.rom(Origin::Table, addr_width, word_width, words);
        let words = Words { rom, low_zeros, signed };
        if direct { Memory::Direct(words) } else { Memory::Shifted(words) }
    }

    /// Returns the bits of the output elements, each in the type of its port.
    fn outputs(&mut self, stage: u32) -> Vec<Wiring> {
        let model = self.model;
        let mut negatives: FxHashMap<ValueId, Fixed> = FxHashMap::default();
        let mut all = Vec::with_capacity(model.outputs().len());
        for (j, out) in model.outputs().iter().enumerate() {
            let port = model.output_kif(j);
            let Some(v) = out.source else {
                all.push(self.draft.window(Fixed::ZERO, 0, port.width()));
                continue;
            };
            let (kif, mut bits) = (model.kif(v), self.values[v.index()]);
            let mut signed = kif.signed;
            if out.neg {
                self.draft.begin(Owner::Output(j as u32), stage);
                let whole = Fixed { bits, at: 0, signed };
                let draft = &mut self.draft;
                let negative = *negatives.entry(v).or_insert_with(|| {
                    let exact = draft.negated(whole, UNLIMITED);
                    let bits = draft.window(exact, 0, exact.bits_above(0));
                    Fixed { bits: draft.finish(bits), at: 0, signed: exact.signed }
                });
                (bits, signed) = (negative.bits, negative.signed);
            }
            let at = i64::from(port.frac) - i64::from(kif.frac) + i64::from(out.shift);
            all.push(self.draft.window(Fixed { bits, at, signed }, 0, port.width()));
        }
        all
    }
}

/// Returns, for each value, the kind of comparison that uses its top bit, directly or through operations that only copy
/// or invert this bit.
fn compared(model: &Model) -> Vec<Compared> {
    let mut compared = vec![Compared::default(); model.nodes().len()];
    let extremes = extremes(model);
    for id in model.ids().rev() {
        let (x, by) = match model.node(id).op {
            Op::Mux { cond, .. } if extremes.contains(&id) => (cond, Compared::ForExtreme),
            Op::Mux { cond, .. } => (cond, Compared::ForMultiplexers),
            Op::Quantise { x, .. } | Op::Unary { op: UnaryBits::Not, x } => (x, compared[id.index()]),
            _ => continue,
        };
        if by != Compared::Freely && compared[x.index()] != Compared::ForMultiplexers {
            compared[x.index()] = by;
        }
    }
    compared
}

/// Returns the multiplexers that select one of two values by the sign of their difference, if the difference has no
/// other reader.
fn extremes(model: &Model) -> FxHashSet<ValueId> {
    let mut found = FxHashSet::default();
    if !model.nodes().iter().any(|node| matches!(node.op, Op::Mux { .. })) {
        return found;
    }
    let readers = model.reader_counts();
    for id in model.ids() {
        let Op::Mux { cond, on_true, on_false, shift: 0 } = model.node(id).op else { continue };
        let mut sign = cond;
        while let Op::Quantise { x, .. } | Op::Unary { op: UnaryBits::Not, x } = model.node(sign).op
            && readers[sign.index()] == 1
        {
            sign = x;
        }
        if let Op::Sub { a, b, shift: 0 } = model.node(sign).op
            && readers[sign.index()] == 1
            && ((a, b) == (on_true, on_false) || (b, a) == (on_true, on_false))
        {
            found.insert(id);
        }
    }
    found
}

/// Returns a value of type `kif`, times `2^shift`, in the frame of a result with `frac` fractional bits.
pub(super) fn placed(bits: Wiring, kif: Kif, frac: i32, shift: i32) -> Fixed {
    if bits.width() == 0 {
        return Fixed::ZERO;
    }
    Fixed { bits, at: i64::from(frac) - i64::from(kif.frac) + i64::from(shift), signed: kif.signed }
}

/// Returns an unsigned number whose lowest bit has position 0.
fn unsigned(bits: Wiring) -> Fixed {
    Fixed { bits, at: 0, signed: false }
}

/// Returns a table's entries in the order of the operand's bit patterns; values without an entry read zero.
fn by_pattern(entries: &[i32], from: Kif, base: i64) -> Vec<i32> {
    let codes = 1i64 << from.width();
    let negative_from = if from.signed { codes / 2 } else { codes };
    (0..codes)
        .map(|pattern| {
            let code = if pattern >= negative_from { pattern - codes } else { pattern };
            usize::try_from(code - base).ok().and_then(|i| entries.get(i)).copied().unwrap_or(0)
        })
        .collect()
}
