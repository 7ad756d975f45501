//! Pass `bitsums`: computes sums of narrow values as functions inside the LUTs of adders.
//!
//! A LUT precedes each sum bit of an FPGA's carry chain, and an adder uses only two inputs of that LUT: one for each
//! operand. If an operand is itself a function of a few bits, that function fits the same LUT: a LUT with six inputs
//! accepts an accumulator bit and five other bits. So `c + w0 x0 + ... + w4 x4` takes one LUT per bit for any weights,
//! whereas adders take four. (Distributed arithmetic with the memory inside the accumulator: A. Peled, B. Liu, *A new
//! hardware realization of digital filters*, IEEE Transactions on Acoustics, Speech, and Signal Processing 22 (1974).)
//! Values of several bits are decomposed into bits: a group may contain bits of several values, and the bits of one
//! value may be in several groups.
//!
//! Each row becomes a few accumulator chains, as many as its adder levels require. Partial sums start at zero: bits
//! with negative weights are counted from their least sum, and the last chain adds the row's constant in its first
//! table. So accumulator bits above a partial sum take no LUT, only the carry. The partial sum `T` of five bits is
//! added as `c - (-T - 1/2)`, and the half is dropped afterwards: a subtraction with borrow. The result is equal, but
//! the accumulator remains the direct input of the carry chain (yosys reorders the operands of a sum, but not those of
//! a difference), and the `alumacc` pass of yosys does not merge the subtractions into multi-operand adders, in which
//! the functions would no longer fit the LUTs of the adders.
//!
//! The first partial sum of a chain has six bits and takes one LUT per bit. In a chain of seven to nine bits, that LUT
//! and the LUT of the only adder compute a function that ABC (in yosys) may implement by up to eight LUTs and
//! multiplexers, for less delay. Therefore these chains begin with a single bit: a carry chain then separates the two
//! LUTs, and the number of LUTs is equal.
//!
//! Pass `bitsums4` is for devices with four-input LUTs, whose adders accept no function: partial sums of four bits are
//! look-up tables before the adders.
//!
//! Pass `bitsumsalm` is for Intel's adaptive logic modules (ALMs). Half an ALM is an adder bit whose operands are
//! functions of four inputs (Intel Arria V handbook, 683213, "Arithmetic Mode"): an accumulator bit and a sum of
//! four other bits. Without the adder, two functions of the same five inputs take one ALM.

use super::facts::Known;
use super::linear::{Coefficient, Delays, Group, Sums};
use super::rewrite::Rewrite;
use alir_core::ir::{Model, Op, Output, Table, UnaryBits, ValueId};
use alir_core::num::{Code, Interval};
use rustc_hash::FxHashMap;

/// LUTs of a device family.
#[derive(Clone, Copy)]
struct LutFamily {
    /// Number of inputs of a LUT.
    inputs: usize,
    /// Number of inputs of a function that is added to a chain.
    addend_inputs: usize,
    /// Function that an adder can add to its other operand.
    addend: Addend,
}

/// Place of a function that is added to a chain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Addend {
    /// In the LUTs of the adder; adder bits above the function use no LUT.
    InAdder,
    /// In the LUTs of the adder; every adder bit uses them.
    InEveryBit,
    /// In LUTs before the adder.
    BeforeAdder,
}

impl LutFamily {
    /// Returns the number of bits in the first partial sum of a chain of `bits` bits.
    fn first_bits(self, bits: usize) -> usize {
        match self.addend == Addend::InAdder && (self.inputs + 1..=MAX_MULTIPLEXED).contains(&bits) {
            true => 1,
            false => self.inputs.min(bits),
        }
    }
}

/// Devices with LUTs of six inputs, such as those of AMD.
const SIX_INPUTS: LutFamily = LutFamily { inputs: 6, addend_inputs: 5, addend: Addend::InAdder };
/// Devices with LUTs of four inputs, such as ECP5 and iCE40.
const FOUR_INPUTS: LutFamily = LutFamily { inputs: 4, addend_inputs: 4, addend: Addend::BeforeAdder };
/// Adaptive logic modules of Intel; costs are in halves of a module.
const ADAPTIVE: LutFamily = LutFamily { inputs: 5, addend_inputs: 4, addend: Addend::InEveryBit };

/// Largest number of inputs of a function that synthesis may compute with six-input LUTs and the multiplexers after
/// them.
const MAX_MULTIPLEXED: usize = 9;
/// Largest magnitude of a partial sum: entries of tables are 32-bit numbers.
const MAX_SUM: i128 = 1 << 29;
/// Largest width of a value that is decomposed into bits.
const MAX_WIDTH: u32 = 4;
/// Largest number of bits of a row.
const MAX_BITS: usize = 4096;
/// Smallest number of terms of the longest row of a group.
const MIN_TERMS: usize = 3;
/// Smallest average number of terms of a group's rows if some terms have several bits: few adders of such terms take
/// few LUTs.
const MIN_WIDE_TERMS: usize = 5;
/// Smallest number of terms of the longest row of a group whose terms are not all inputs.
const MIN_LOGIC_TERMS: usize = 8;

/// Replaces groups of sums of narrow values if that saves six-input LUTs; returns `None` if nothing changes.
pub(super) fn run(model: &Model, known: &mut Known) -> Option<Model> {
    run_for(model, known, SIX_INPUTS)
}

/// Replaces groups of sums of narrow values if that saves four-input LUTs; returns `None` if nothing changes.
pub(super) fn run_for_four_inputs(model: &Model, known: &mut Known) -> Option<Model> {
    run_for(model, known, FOUR_INPUTS)
}

/// Replaces groups of sums of narrow values if that saves halves of adaptive logic modules; returns `None` if nothing
/// changes.
pub(super) fn run_for_adaptive_modules(model: &Model, known: &mut Known) -> Option<Model> {
    run_for(model, known, ADAPTIVE)
}

fn run_for(model: &Model, known: &mut Known, family: LutFamily) -> Option<Model> {
    let facts = &*known.whole(model);
    let sums = Sums::find(model, facts)?;
    let negated = negated_roots(model, &sums);
    let mut is_negated: Vec<Vec<bool>> = sums.groups.iter().map(|group| vec![false; group.rows.len()]).collect();
    for (root, negated) in sums.root.iter().zip(&negated) {
        if let Some((group, row)) = *root {
            is_negated[group][row] = *negated;
        }
    }
    let plan = |(group, is_negated): (&Group, &Vec<bool>)| plan_group(model, group, is_negated, family);
    let plans: Vec<Option<Vec<RowPlan>>> = sums.groups.iter().zip(&is_negated).map(plan).collect();
    if plans.iter().all(Option::is_none) {
        return None;
    }
    let delays = Delays::new(model, facts);
    let mut rows: FxHashMap<(usize, usize), ValueId> = FxHashMap::default();
    let mut replaced_by_negative = vec![false; model.nodes().len()];
    let mut replacement = |rw: &mut Rewrite<'_>, id: ValueId| {
        let (group, row) = sums.root[id.index()]?;
        let plans = plans[group].as_ref()?;
        let (plan, shift) = match &plans[row] {
            RowPlan::Keep => return None,
            RowPlan::Scaled { row, shift } => (*row, *shift),
            RowPlan::Chains(_) => (row, 0),
        };
        let node = model.node(id);
        let RowPlan::Chains(chains) = &plans[plan] else { return None };
        let x = *rows
            .entry((group, plan))
            .or_insert_with(|| PlanWriter { model, rw: &mut *rw, chains, delays: &delays, origin: node.origin }.row());
        let interval = match negated[id.index()] {
            true => node.interval.negated(),
            false => node.interval.clone(),
        };
        replaced_by_negative[id.index()] = negated[id.index()];
        Some(rw.push(Op::Quantise { x, shift }, interval, 0.0, 0.0, node.origin))
    };
    let mut rw = Rewrite::new(model);
    for id in model.ids() {
        let new = replacement(&mut rw, id).unwrap_or_else(|| rw.keep(id));
        // A negated replacement has another value than the root, but only outputs read it.
        rw.replace_next(new);
    }
    Some(rw.finish_with(|out, source, number| Output {
        source: source.map(number),
        neg: out.neg ^ source.is_some_and(|v| replaced_by_negative[v.index()]),
        ..*out
    }))
}

/// Returns `true` for each root that only negated outputs read once the roots are functions of their leaves. Such a
/// root is computed negated: it takes as many LUTs, and the outputs need no negation.
fn negated_roots(model: &Model, sums: &Sums) -> Vec<bool> {
    let mut is_read = vec![false; model.nodes().len()];
    let (mut negated, mut plain) = (is_read.clone(), is_read.clone());
    for (j, out) in model.outputs().iter().enumerate() {
        let Some(v) = out.source else { continue };
        // An output that drops low bits reads the value itself, not its negative.
        let is_whole = model.kif(v).frac - out.shift <= model.output_kif(j).frac;
        let kind = if out.neg && is_whole { &mut negated } else { &mut plain };
        kind[v.index()] = true;
        is_read[v.index()] = true;
    }
    for id in model.ids().rev() {
        let is_replaced = sums.root[id.index()].is_some_and(|(group, row)| !is_leaf(&sums.groups[group].rows[row]));
        if is_read[id.index()] && !is_replaced {
            model.node(id).op.for_each_operand(|v| (is_read[v.index()], plain[v.index()]) = (true, true));
        }
    }
    negated.iter().zip(plain).map(|(negated, plain)| *negated && !plain).collect()
}

/// Returns `true` if the row is a leaf times a power of two.
fn is_leaf(row: &[(u32, Coefficient)]) -> bool {
    matches!(row, [(_, Coefficient { mantissa: 1, .. })])
}

/// Returns the plans of the rows of a group, or of their negatives; `None` if the plans save no LUTs.
fn plan_group(model: &Model, group: &Group, is_negated: &[bool], family: LutFamily) -> Option<Vec<RowPlan>> {
    let is_narrow = |&leaf: &ValueId| (1..=MAX_WIDTH).contains(&model.kif(leaf).width());
    let longest = group.rows.iter().map(Vec::len).max().unwrap_or(0);
    // Synthesis merges the logic before a short sum with its adders, so that tables save less there.
    let are_inputs = group.leaves.iter().all(|leaf| matches!(model.node(*leaf).op, Op::Input { .. }));
    let (least_terms, most_percent) = if are_inputs { (MIN_TERMS, 95) } else { (MIN_LOGIC_TERMS, 80) };
    if !group.leaves.iter().all(is_narrow) || longest < least_terms {
        return None;
    }
    let terms: usize = group.rows.iter().map(Vec::len).sum();
    if group.leaves.iter().any(|leaf| model.kif(*leaf).width() > 1) && terms < MIN_WIDE_TERMS * group.rows.len() {
        return None;
    }
    let mut seen: FxHashMap<Vec<WeightedBit>, (usize, i32)> = FxHashMap::default();
    let (mut plans, mut luts, mut carries) = (Vec::with_capacity(group.rows.len()), 0, 0);
    for (index, (row, levels)) in group.rows.iter().zip(&group.levels).enumerate() {
        if is_leaf(row) {
            plans.push(RowPlan::Keep);
            continue;
        }
        let (mut bits, frac) = weighted_bits(model, &group.leaves, row)?;
        if is_negated[index] {
            bits.iter_mut().for_each(|bit| bit.weight = -bit.weight);
        }
        if let Some(&(row, of)) = seen.get(&bits) {
            plans.push(RowPlan::Scaled { row, shift: of - frac });
            continue;
        }
        let chains = Chains::new(&bits, frac, *levels, family)?;
        seen.insert(bits, (index, frac));
        let (own, length) = chains.cost();
        (luts, carries) = (luts + own, carries + length);
        plans.push(RowPlan::Chains(chains));
    }
    let is_smaller = match family.addend {
        Addend::InAdder => 100 * luts < most_percent * group.luts && 4 * carries <= 5 * group.bits,
        Addend::InEveryBit | Addend::BeforeAdder => 100 * (luts + carries) < most_percent * group.bits,
    };
    is_smaller.then_some(plans)
}

/// Plan of a row.
enum RowPlan {
    /// A shifted leaf, which takes no hardware.
    Keep,
    /// Another row, multiplied by a power of two.
    Scaled {
        row: usize,
        shift: i32,
    },
    Chains(Chains),
}

/// A bit of a value, with its weight in units of the row.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct WeightedBit {
    value: ValueId,
    /// Position of the bit in the raw integer value.
    place: u32,
    weight: i128,
}

/// Returns the bits of a row, and the number of fractional bits of the row's unit; `None` if the weights are too large.
/// The sign bit of a value has a negative weight.
fn weighted_bits(model: &Model, leaves: &[ValueId], row: &[(u32, Coefficient)]) -> Option<(Vec<WeightedBit>, i32)> {
    let point = |&(leaf, c): &(u32, Coefficient)| c.exponent - model.kif(leaves[leaf as usize]).frac;
    let low = row.iter().map(point).min()?;
    let mut bits: Vec<WeightedBit> = Vec::with_capacity(row.len());
    for term in row {
        let up = u32::try_from(point(term) - low).ok().filter(|up| *up < 60)?;
        let value = leaves[term.0 as usize];
        let kif = model.kif(value);
        for place in 0..kif.width() {
            let weight = i128::from(term.1.mantissa) << (up + place);
            let is_sign = kif.signed && place + 1 == kif.width();
            bits.push(WeightedBit { value, place, weight: if is_sign { -weight } else { weight } });
        }
    }
    let all: i128 = bits.iter().map(|bit| bit.weight.abs()).sum();
    (all <= MAX_SUM && bits.len() <= MAX_BITS).then_some((bits, -low))
}

/// A partial sum of a few bits, counted from its least value.
struct PartialSum {
    bits: Vec<WeightedBit>,
}

impl PartialSum {
    /// Returns the least value, which the table subtracts.
    fn least(&self) -> i128 {
        self.bits.iter().map(|bit| bit.weight.min(0)).sum()
    }

    /// Returns the greatest value, counted from the least value.
    fn most(&self) -> i128 {
        self.bits.iter().map(|bit| bit.weight.abs()).sum()
    }

    /// Returns the value for each combination of the bits; the first bit is the lowest index bit.
    fn entries(&self) -> Vec<i128> {
        let entry = |index: usize| {
            let chosen = self.bits.iter().enumerate().filter(|(place, _)| index >> place & 1 == 1);
            chosen.map(|(_, bit)| bit.weight).sum::<i128>() - self.least()
        };
        (0..1usize << self.bits.len()).map(entry).collect()
    }

    /// Returns the number of LUTs in an adder: the bits that are not constant.
    fn luts(&self) -> u64 {
        let low = self.bits.iter().fold(0, |all, bit| all | bit.weight).trailing_zeros();
        width((0, self.most())) - u64::from(low)
    }
}

/// Accumulator chains of a row, whose results are added up.
struct Chains {
    chains: Vec<Vec<PartialSum>>,
    /// Number that is added in the first partial sum of the last chain.
    constant: i128,
    /// Fractional bits of the row's unit.
    frac: i32,
    family: LutFamily,
}

/// Returns the number of bits of a number within these bounds in two's complement.
fn width((lo, hi): (i128, i128)) -> u64 {
    let bits = |v: i128| 128 - u64::from((if v < 0 { !v } else { v }).leading_zeros());
    bits(lo).max(bits(hi)) + u64::from(lo < 0)
}

fn plus(a: (i128, i128), b: (i128, i128)) -> (i128, i128) {
    (a.0 + b.0, a.1 + b.1)
}

impl Chains {
    /// Returns the plan of a row with at most `levels` adder levels and the fewest LUTs; `None` if no such plan exists.
    fn new(bits: &[WeightedBit], frac: i32, levels: u32, family: LutFamily) -> Option<Chains> {
        let mut best: Option<((u64, u64), Chains)> = None;
        let most = bits.len().div_ceil(family.inputs);
        for by_zeros in [false, true] {
            // Partial sums of small weights, and partial sums of even weights, are narrow.
            let mut sorted = bits.to_vec();
            let zeros = |bit: &WeightedBit| if by_zeros { bit.weight.trailing_zeros().min(2) } else { 0 };
            sorted.sort_by_key(|bit| (zeros(bit), bit.weight.unsigned_abs(), bit.value, bit.place));
            let plans = (1..=most).map(|count| Chains::with_count(&sorted, count, frac, family));
            if let Some(plan) = plans.into_iter().find(|plan| plan.levels() <= levels.max(1)) {
                let cost = plan.cost();
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    best = Some((cost, plan));
                }
            }
        }
        best.map(|(_, plan)| plan)
    }

    /// Returns the plan of a row with `count` chains; the bits are distributed so that the chains have equal lengths.
    fn with_count(bits: &[WeightedBit], count: usize, frac: i32, family: LutFamily) -> Chains {
        let mut chains = Vec::with_capacity(count);
        let mut rest = bits;
        for left in (1..=count).rev() {
            let (own, others) = rest.split_at(rest.len().div_ceil(left));
            rest = others;
            let (first, more) = own.split_at(family.first_bits(own.len()));
            let sum = |bits: &[WeightedBit]| PartialSum { bits: bits.to_vec() };
            chains.push([first].into_iter().chain(more.chunks(family.addend_inputs)).map(sum).collect());
        }
        let constant = bits.iter().map(|bit| bit.weight.min(0)).sum();
        Chains { chains, constant, frac, family }
    }

    /// Returns the number of adders on the longest path.
    fn levels(&self) -> u32 {
        let longest = self.chains.iter().map(Vec::len).max().unwrap_or(1) as u32;
        longest - 1 + self.chains.len().next_power_of_two().trailing_zeros()
    }

    /// Returns the number that is added in the first partial sum of a chain.
    fn constant_of(&self, chain: usize) -> i128 {
        if chain + 1 == self.chains.len() { self.constant } else { 0 }
    }

    /// Returns the number of LUTs, and the number of carry chain bits: an accumulator bit above a partial sum takes no
    /// LUT.
    fn cost(&self) -> (u64, u64) {
        let mut sums: Vec<(i128, i128)> = Vec::new();
        let (mut luts, mut carries) = (0, 0);
        for (index, chain) in self.chains.iter().enumerate() {
            let start = self.constant_of(index);
            let mut sum = (start, start + chain[0].most());
            luts += functions(&chain[0], start);
            for partial in &chain[1..] {
                sum = plus(sum, (0, partial.most()));
                luts += match self.family.addend {
                    Addend::InAdder => partial.luts(),
                    Addend::InEveryBit => 0,
                    Addend::BeforeAdder => functions(partial, 0),
                };
                carries += width(sum);
            }
            sums.push(sum);
        }
        while sums.len() > 1 {
            let mut next = Vec::with_capacity(sums.len().div_ceil(2));
            for pair in sums.chunks(2) {
                next.push(match *pair {
                    [a, b] => {
                        // All chains but the last are unsigned.
                        let own = if b.0 < 0 { width(a) } else { width(a).min(width(b)) };
                        luts += if self.family.addend == Addend::InAdder { own } else { 0 };
                        carries += width(plus(a, b));
                        plus(a, b)
                    }
                    _ => pair[0],
                });
            }
            sums = next;
        }
        (luts, carries)
    }
}

/// Returns the number of LUTs of a table with a partial sum plus a constant: the distinct output bits that are neither
/// constant nor equal to an input.
fn functions(partial: &PartialSum, constant: i128) -> u64 {
    let entries: Vec<i128> = partial.entries().iter().map(|entry| entry + constant).collect();
    let column = |bit: u64| entries.iter().rev().fold(0u64, |all, entry| all << 1 | (entry >> bit & 1) as u64);
    let ends = (constant, constant + partial.most());
    let mut columns: Vec<u64> = (0..width(ends)).map(column).collect();
    columns.sort_unstable();
    columns.dedup();
    let all = u64::MAX >> (64 - entries.len());
    let is_input = |bits: u64| {
        (0..partial.bits.len()).any(|place| {
            let input = (0..entries.len()).filter(|index| index >> place & 1 == 1).fold(0u64, |all, at| all | 1 << at);
            bits == input
        })
    };
    columns.iter().filter(|bits| **bits != 0 && **bits != all && !is_input(**bits)).count() as u64
}

/// Appends the operations of a plan to the new program.
struct PlanWriter<'a, 'b, 'c> {
    model: &'a Model,
    rw: &'b mut Rewrite<'c>,
    chains: &'a Chains,
    delays: &'a Delays,
    origin: u32,
}

impl PlanWriter<'_, '_, '_> {
    fn push(&mut self, op: Op, (lo, hi): (i128, i128), frac: i32, is_adder: bool) -> ValueId {
        let interval = Interval::new(Code::from_i128(lo), Code::from_i128(hi), frac);
        let delay = if is_adder { self.delays.adder(interval.kif().width()) } else { 0.0 };
        self.rw.push(op, interval, delay, 0.0, self.origin)
    }

    /// Returns the sum of all chains: the value of the row.
    fn row(&mut self) -> ValueId {
        let mut sums: Vec<(ValueId, (i128, i128))> =
            (0..self.chains.chains.len()).map(|chain| self.chain(chain)).collect();
        while sums.len() > 1 {
            let mut next = Vec::with_capacity(sums.len().div_ceil(2));
            for pair in sums.chunks(2) {
                next.push(match *pair {
                    [a, b] => self.sum(a, b),
                    _ => pair[0],
                });
            }
            sums = next;
        }
        sums[0].0
    }

    /// Returns the sum of two chains: the adder inverts the bits of the narrower chain.
    fn sum(&mut self, a: (ValueId, (i128, i128)), b: (ValueId, (i128, i128))) -> (ValueId, (i128, i128)) {
        let frac = self.chains.frac;
        // All chains but the last are unsigned.
        let (a, b) = if b.1.0 < 0 || width(a.1) < width(b.1) { (b, a) } else { (a, b) };
        let twice = self.push(Op::Quantise { x: b.0, shift: 0 }, (2 * b.1.0, 2 * b.1.1), frac + 1, false);
        let inverse = (-2 * b.1.1 - 1, -2 * b.1.0 - 1);
        let inverse = self.push(Op::Unary { op: UnaryBits::Not, x: twice }, inverse, frac + 1, false);
        self.less(a, inverse, plus(a.1, b.1))
    }

    /// Returns `a - b` without the lowest bit, which is the half that the subtraction adds; also returns the range.
    fn less(&mut self, a: (ValueId, (i128, i128)), b: ValueId, sum: (i128, i128)) -> (ValueId, (i128, i128)) {
        let (frac, with_half) = (self.chains.frac, (2 * sum.0 + 1, 2 * sum.1 + 1));
        let x = self.push(Op::Sub { a: a.0, b, shift: 0 }, with_half, frac + 1, true);
        (self.push(Op::Quantise { x, shift: 0 }, sum, frac, false), sum)
    }

    /// Returns the value of a chain, and its range.
    fn chain(&mut self, index: usize) -> (ValueId, (i128, i128)) {
        let (chains, frac) = (self.chains, self.chains.frac);
        let (chain, start) = (&chains.chains[index], chains.constant_of(index));
        let first = self.table(&chain[0], frac, |partial| partial + start);
        let mut value = (first, (start, start + chain[0].most()));
        for partial in &chain[1..] {
            let b = self.table(partial, frac + 1, |partial| -2 * partial - 1);
            value = self.less(value, b, plus(value.1, (0, partial.most())));
        }
        value
    }

    /// Returns a bit of a value as an unsigned number of one bit, and the power of two of its weight.
    fn bit(&mut self, bit: &WeightedBit) -> (ValueId, i32) {
        let kif = self.model.kif(bit.value);
        let (x, frac) = (self.rw.number(bit.value), kif.frac - bit.place as i32);
        match kif.width() == 1 && !kif.signed {
            true => (x, frac),
            false => (self.push(Op::Quantise { x, shift: 0 }, (0, 1), frac, false), frac),
        }
    }

    /// Returns the table of a partial sum; `entry` maps each sum to its entry.
    fn table(&mut self, partial: &PartialSum, frac: i32, entry: impl Fn(i128) -> i128) -> ValueId {
        let bits = &partial.bits;
        let (mut x, point) = self.bit(&bits[0]);
        for (place, bit) in (1..).zip(&bits[1..]) {
            let (b, own) = self.bit(bit);
            x = self.push(Op::Add { a: x, b, shift: place + own - point }, (0, (2 << place) - 1), point, false);
        }
        let entries: Vec<i128> = partial.entries().into_iter().map(entry).collect();
        let ends = entries.iter().fold((entries[0], entries[0]), |(lo, hi), &e| (lo.min(e), hi.max(e)));
        let out = Interval::new(Code::from_i128(ends.0), Code::from_i128(ends.1), frac);
        // `MAX_SUM` bounds the entries.
        let entries = entries.into_iter().map(|entry| entry as i32).collect();
        let table = self.rw.table(Table { entries, out, hash: String::new(), inp_width: bits.len() as i64 });
        self.push(Op::Lookup { x, table, base: Code::from(0) }, ends, frac, false)
    }
}

#[cfg(test)]
mod tests {
    use crate::passes;
    use alir_core::ir::{BinaryBits, Builder, Model, Op, Output, ValueId};
    use alir_core::num::{Interval, SplitMix};
    use alir_interp::{LookupMiss, golden};
    use num_bigint::BigInt;

    /// Returns a constant matrix times a vector of values of up to three bits, each row as a chain of adders.
    fn product(inputs: u32, rows: usize, bits: u32, rng: &mut SplitMix) -> Model {
        let mut builder = Builder::new(vec![0; inputs as usize]);
        let types = [(0, 1), (0, 3), (-2, 1), (0, 7), (-4, 3), (-1, 0)].map(|(lo, hi)| Interval::new(lo, hi, 0));
        let kind = rng.below(7) as usize;
        let of = |rng: &mut SplitMix| if kind < 6 { kind } else { rng.below(6) as usize };
        let x: Vec<_> = (0..inputs).map(|input| builder.op(Op::Input { input }, types[of(rng)].clone())).collect();
        for _ in 0..rows {
            let mut sum = None;
            for &x in &x {
                for digit in 0..bits {
                    let shift = digit as i32;
                    let (low, high): (i64, i64) = (-4 << shift, 7 << shift);
                    sum = match (rng.below(3), sum) {
                        (0, sum) => sum,
                        (_, None) => {
                            Some((builder.op(Op::Quantise { x, shift }, Interval::new(low, high, 0)), low, high))
                        }
                        (1, Some((a, lo, hi))) => {
                            let (lo, hi): (i64, i64) = (lo + low, hi + high);
                            Some((builder.op(Op::Add { a, b: x, shift }, Interval::new(lo, hi, 0)), lo, hi))
                        }
                        (_, Some((a, lo, hi))) => {
                            let (lo, hi): (i64, i64) = (lo - high, hi - low);
                            Some((builder.op(Op::Sub { a, b: x, shift }, Interval::new(lo, hi, 0)), lo, hi))
                        }
                    };
                }
            }
            let source = sum.map(|(value, ..)| value);
            builder.output(Output { source, shift: 0, neg: rng.below(2) == 0 });
            if rng.below(3) == 0 {
                builder.output(Output { source, shift: rng.below(3) as i32 - 1, neg: rng.below(2) == 0 });
            }
            // A row that also reads the sum of another row.
            if let (0, Some((a, lo, hi))) = (rng.below(3), sum) {
                let leaf = builder.op(Op::Quantise { x: x[0], shift: 0 }, Interval::new(-4, 7, 0));
                let more = builder.op(Op::Sub { a, b: leaf, shift: 0 }, Interval::new(lo - 7, hi + 4, 0));
                builder.output(Output { source: Some(more), shift: 0, neg: rng.below(2) == 0 });
            }
        }
        builder.finish().expect("a valid program")
    }

    #[test]
    fn sums_of_bits_keep_their_values() {
        let mut rng = SplitMix::new(29);
        let mut changed = 0;
        for pass in ["bitsums", "bitsums4", "bitsumsalm"].into_iter().cycle().take(90) {
            let (inputs, rows, bits) = (4 + rng.below(30) as u32, 1 + rng.below(4) as usize, 1 + rng.below(5) as u32);
            let model = product(inputs, rows, bits, &mut rng);
            let after = passes::run(&model, &["ranges", "linear", "ranges", pass, "dce"]).0;
            changed += u32::from(after.nodes().iter().any(|node| matches!(node.op, Op::Lookup { .. })));
            let kifs = model.input_kifs();
            for _ in 0..50 {
                let codes: Vec<BigInt> = kifs.iter().map(|kif| kif.min_code() + rng.below(1 << kif.width())).collect();
                let run = |model: &Model| golden(model, &codes, LookupMiss::Zero).expect("it runs");
                assert_eq!(run(&model), run(&after));
            }
        }
        assert!(changed > 30, "{changed}");
    }

    /// Builds the number of ones among bits, as a chain of adders.
    fn count(builder: &mut Builder, bits: &[ValueId]) -> ValueId {
        let add = |(a, hi), &b| (builder.op(Op::Add { a, b, shift: 0 }, Interval::new(0, hi, 0)), hi + 1);
        bits[1..].iter().fold((bits[0], 2), add).0
    }

    #[test]
    fn chains_of_seven_to_nine_bits_begin_with_one_bit() {
        for inputs in 6..=11 {
            let mut builder = Builder::new(vec![0; inputs]);
            let mut input = |input| builder.op(Op::Input { input }, Interval::new(0, 1, 0));
            let x: Vec<_> = (0..inputs as u32).map(&mut input).collect();
            let count = count(&mut builder, &x);
            builder.output(Output { source: Some(count), shift: 0, neg: false });
            let after = passes::run(&builder.finish().expect("a valid program"), &["ranges", "bitsums", "dce"]).0;
            let first = after.tables().first().map_or(0, |table| table.entries.len());
            assert_eq!(first, if (7..=9).contains(&inputs) { 2 } else { 64 }, "{inputs} bits");
        }
    }

    #[test]
    fn counts_of_computed_bits_keep_their_values() {
        let mut builder = Builder::new(vec![0; 21]);
        let x: Vec<_> = (0..21).map(|input| builder.op(Op::Input { input }, Interval::new(0, 1, 0))).collect();
        let bit = |pair: &[ValueId]| Op::Binary { op: BinaryBits::Xor, a: pair[0], b: pair[1], shift: 0 };
        let bits: Vec<_> = x.windows(2).map(|pair| builder.op(bit(pair), Interval::new(0, 1, 0))).collect();
        let count = count(&mut builder, &bits);
        builder.output(Output { source: Some(count), shift: 0, neg: false });
        let model = builder.finish().expect("a valid program");
        let after = passes::run(&model, &["ranges", "bitsums", "dce"]).0;
        assert!(after.nodes().iter().any(|node| matches!(node.op, Op::Lookup { .. })));
        let mut rng = SplitMix::new(36);
        for _ in 0..50 {
            let codes: Vec<BigInt> = (0..21).map(|_| BigInt::from(rng.below(2))).collect();
            let run = |model: &Model| golden(model, &codes, LookupMiss::Zero).expect("it runs");
            assert_eq!(run(&model), run(&after));
        }
    }
}
