//! `bitsums`: sums of one-bit inputs as functions inside the LUTs of adders.
//!
//! A sum bit of an FPGA's carry chain is preceded by a LUT, of which an adder uses two inputs: one for each operand.
//! Where an operand is itself a function of a few bits, that function fits into the same LUT: with six inputs, an
//! accumulator bit and five one-bit inputs. So `c + w0 x0 + ... + w4 x4` takes one LUT a bit, whatever the weights are,
//! where adders take four. (Distributed arithmetic with the memory inside the accumulator: A. Peled, B. Liu, *A new
//! hardware realization of digital filters*, IEEE Transactions on Acoustics, Speech, and Signal Processing 22 (1974).)
//!
//! Each row becomes a few accumulator chains, as many as its adder levels require. The partial sum `T` of five inputs
//! is added as `c - (-T - 1/2)` with the half dropped afterwards, that is, by a subtraction with borrow: the same
//! number, in a form that keeps the accumulator the direct input of the carry chain (yosys orders the operands of a
//! sum, not those of a difference) and that yosys' `alumacc` does not merge into multi-operand adders, which would cost
//! the LUTs their place.

use super::facts::Known;
use super::linear::{Coefficient, Delays, Sums};
use super::rewrite::{Rewrite, rebuild};
use alir_core::ir::{Model, Op, Table, ValueId};
use alir_core::num::{Code, Interval};

/// Inputs of a look-up table.
const TABLE_INPUTS: usize = 6;
/// Largest magnitude of a partial sum: entries of tables are 32-bit numbers.
const MAX_SUM: i128 = 1 << 29;
/// Fewest terms of a row that is worth it.
const MIN_TERMS: usize = 4;

/// Replaces groups of sums of one-bit inputs where that takes fewer look-up tables.
pub(super) fn run(model: &Model, known: &mut Known) -> Option<Model> {
    let facts = &*known.whole(model);
    let sums = Sums::of(model, facts)?;
    let plans: Vec<Option<Vec<RowPlan>>> = sums
        .groups
        .iter()
        .map(|group| {
            let is_bit = |&leaf: &ValueId| {
                let kif = model.kif(leaf);
                matches!(model.node(leaf).op, Op::Input { .. }) && kif.width() == 1 && !kif.signed
            };
            if !group.leaves.iter().all(is_bit) {
                return None;
            }
            let rows = group.rows.iter().zip(&group.levels);
            let plans: Vec<RowPlan> =
                rows.map(|(row, levels)| RowPlan::new(model, &group.leaves, row, *levels)).collect::<Option<_>>()?;
            let cost: u64 = plans.iter().map(|plan| plan.cost).sum();
            (20 * cost < 19 * group.bits).then_some(plans)
        })
        .collect();
    if plans.iter().all(Option::is_none) {
        return None;
    }
    let delays = Delays::of(model, facts);
    rebuild(model, |rw, id| {
        let Some((group, row)) = sums.root[id.index()] else { return rw.keep(id) };
        let Some(plans) = &plans[group] else { return rw.keep(id) };
        let node = model.node(id);
        let mut writer = PlanWriter { rw, plan: &plans[row], delays: &delays, origin: node.origin };
        let x = writer.row();
        rw.push(Op::Quantise { x, shift: 0 }, node.interval.clone(), 0.0, 0.0, node.origin)
    })
}

/// A one-bit input with its weight in units of the row.
#[derive(Clone, Copy)]
struct WeightedBit {
    input: ValueId,
    frac: i32,
    weight: i128,
}

/// Plan of a row: chains of partial sums, each of a few bits.
struct RowPlan {
    chains: Vec<Vec<Vec<WeightedBit>>>,
    /// Fractional bits of the row's unit.
    frac: i32,
    /// Look-up tables.
    cost: u64,
}

/// Bits of a number between these in two's complement.
fn width((lo, hi): (i128, i128)) -> u64 {
    let bits = |v: i128| 128 - u64::from((if v < 0 { !v } else { v }).leading_zeros());
    bits(lo).max(bits(hi)) + u64::from(lo < 0)
}

/// Least and greatest sum of weighted bits.
fn range(bits: &[WeightedBit]) -> (i128, i128) {
    bits.iter().fold((0, 0), |(lo, hi), bit| (lo + bit.weight.min(0), hi + bit.weight.max(0)))
}

fn plus(a: (i128, i128), b: (i128, i128)) -> (i128, i128) {
    (a.0 + b.0, a.1 + b.1)
}

impl RowPlan {
    /// Plans a row of at most `levels` adder levels; `None` if its numbers are too large or it has few terms.
    fn new(model: &Model, leaves: &[ValueId], row: &[(u32, Coefficient)], levels: u32) -> Option<RowPlan> {
        if row.len() < MIN_TERMS {
            return None;
        }
        let point = |&(leaf, c): &(u32, Coefficient)| c.exponent - model.kif(leaves[leaf as usize]).frac;
        let low = row.iter().map(point).min()?;
        let mut bits: Vec<WeightedBit> = Vec::with_capacity(row.len());
        for term in row {
            let up = u32::try_from(point(term) - low).ok().filter(|up| *up < 60)?;
            let input = leaves[term.0 as usize];
            bits.push(WeightedBit { input, frac: model.kif(input).frac, weight: i128::from(term.1.mantissa) << up });
        }
        let all = range(&bits);
        if all.0 < -MAX_SUM || all.1 > MAX_SUM {
            return None;
        }
        // Small weights first: the accumulator grows late.
        bits.sort_by_key(|bit| (bit.weight.unsigned_abs(), bit.input));
        let most = bits.len().div_ceil(TABLE_INPUTS);
        let plans = (1..=most).map(|count| RowPlan::with_chains(&bits, count, -low));
        plans.into_iter().find(|plan| plan.levels() <= levels.max(1))
    }

    /// Plans the row with `count` chains; the bits are distributed so that chains are equally long.
    fn with_chains(bits: &[WeightedBit], count: usize, frac: i32) -> RowPlan {
        let mut chains = Vec::with_capacity(count);
        let mut rest = bits;
        for left in (1..=count).rev() {
            let (own, others) = rest.split_at(rest.len().div_ceil(left));
            rest = others;
            let (first, more) = own.split_at(own.len().min(TABLE_INPUTS));
            let mut chain = vec![first.to_vec()];
            chain.extend(more.chunks(TABLE_INPUTS - 1).map(<[_]>::to_vec));
            chains.push(chain);
        }
        let mut plan = RowPlan { chains, frac, cost: 0 };
        plan.cost = plan.tables();
        plan
    }

    /// Adders on the longest path.
    fn levels(&self) -> u32 {
        let longest = self.chains.iter().map(Vec::len).max().unwrap_or(1) as u32;
        longest - 1 + self.chains.len().next_power_of_two().trailing_zeros()
    }

    /// Returns the number of LUTs: those of the first partial sum of each chain, one for each accumulator bit, and one
    /// for the sign of a partial sum, which several accumulator bits read.
    fn tables(&self) -> u64 {
        let mut sums: Vec<(i128, i128)> = Vec::new();
        let mut cost = 0;
        for chain in &self.chains {
            let mut sum = range(&chain[0]);
            cost += width(sum);
            for group in &chain[1..] {
                sum = plus(sum, range(group));
                cost += width(sum) + 1;
            }
            sums.push(sum);
        }
        while sums.len() > 1 {
            sums = sums.chunks(2).map(|pair| pair.iter().copied().reduce(plus).unwrap_or((0, 0))).collect();
            cost += sums.iter().map(|sum| width(*sum)).sum::<u64>();
        }
        cost
    }
}

/// Writes the operations of a row.
struct PlanWriter<'a, 'b, 'c> {
    rw: &'b mut Rewrite<'c>,
    plan: &'a RowPlan,
    delays: &'a Delays,
    origin: u32,
}

impl PlanWriter<'_, '_, '_> {
    fn push(&mut self, op: Op, (lo, hi): (i128, i128), frac: i32, is_adder: bool) -> ValueId {
        let interval = Interval::new(Code::of_i128(lo), Code::of_i128(hi), frac);
        let delay = if is_adder { self.delays.of_width(interval.kif().width()) } else { 0.0 };
        self.rw.push(op, interval, delay, 0.0, self.origin)
    }

    /// The value of the row.
    fn row(&mut self) -> ValueId {
        let plan = self.plan;
        let mut sums: Vec<(ValueId, (i128, i128))> = plan.chains.iter().map(|chain| self.chain(chain)).collect();
        while sums.len() > 1 {
            let mut next = Vec::with_capacity(sums.len().div_ceil(2));
            for pair in sums.chunks(2) {
                next.push(match *pair {
                    [(a, x), (b, y)] => {
                        let sum = plus(x, y);
                        (self.push(Op::Add { a, b, shift: 0 }, sum, plan.frac, true), sum)
                    }
                    _ => pair[0],
                });
            }
            sums = next;
        }
        sums[0].0
    }

    /// The value of a chain, and its range.
    fn chain(&mut self, groups: &[Vec<WeightedBit>]) -> (ValueId, (i128, i128)) {
        let frac = self.plan.frac;
        let mut sum = range(&groups[0]);
        let mut value = self.table(&groups[0], frac, |partial| partial);
        for group in &groups[1..] {
            sum = plus(sum, range(group));
            let b = self.table(group, frac + 1, |partial| -2 * partial - 1);
            let with_half = (2 * sum.0 + 1, 2 * sum.1 + 1);
            let x = self.push(Op::Sub { a: value, b, shift: 0 }, with_half, frac + 1, true);
            value = self.push(Op::Quantise { x, shift: 0 }, sum, frac, false);
        }
        (value, sum)
    }

    /// The table of a partial sum, of which each entry is a function.
    fn table(&mut self, bits: &[WeightedBit], frac: i32, entry: impl Fn(i128) -> i128) -> ValueId {
        let point = bits[0].frac;
        let mut x = self.rw.number(bits[0].input);
        for (place, bit) in (1..).zip(&bits[1..]) {
            let b = self.rw.number(bit.input);
            x = self.push(Op::Add { a: x, b, shift: place + bit.frac - point }, (0, (2 << place) - 1), point, false);
        }
        let partial = |index: usize| -> i128 {
            let chosen = bits.iter().enumerate().filter(|(place, _)| index >> place & 1 == 1);
            chosen.map(|(_, bit)| bit.weight).sum()
        };
        let entries: Vec<i128> = (0..1usize << bits.len()).map(|index| entry(partial(index))).collect();
        let ends = entries.iter().fold((entries[0], entries[0]), |(lo, hi), &e| (lo.min(e), hi.max(e)));
        let out = Interval::new(Code::of_i128(ends.0), Code::of_i128(ends.1), frac);
        // `MAX_SUM` bounds the entries.
        let entries = entries.into_iter().map(|entry| entry as i32).collect();
        let table = self.rw.table(Table { entries, out, hash: String::new(), inp_width: bits.len() as i64 });
        self.push(Op::Lookup { x, table, base: Code::from(0) }, ends, frac, false)
    }
}

#[cfg(test)]
mod tests {
    use crate::passes;
    use alir_core::ir::{Builder, Model, Op, Output};
    use alir_core::num::{Interval, SplitMix};
    use alir_interp::{LookupMiss, golden};
    use num_bigint::BigInt;

    /// A constant matrix times a vector of bits, row by row in a chain of adders.
    fn product(inputs: u32, rows: usize, bits: u32, rng: &mut SplitMix) -> Model {
        let mut builder = Builder::new(vec![0; inputs as usize]);
        let x: Vec<_> = (0..inputs).map(|input| builder.op(Op::Input { input }, Interval::new(0, 1, 0))).collect();
        for _ in 0..rows {
            let mut sum = None;
            for &x in &x {
                for digit in 0..bits {
                    let shift = digit as i32;
                    sum = match (rng.below(3), sum) {
                        (0, sum) => sum,
                        (_, None) => Some((
                            builder.op(Op::Quantise { x, shift }, Interval::new(0, 1 << shift, 0)),
                            0,
                            1 << shift,
                        )),
                        (1, Some((a, lo, hi))) => {
                            let (lo, hi): (i64, i64) = (lo, hi + (1 << shift));
                            Some((builder.op(Op::Add { a, b: x, shift }, Interval::new(lo, hi, 0)), lo, hi))
                        }
                        (_, Some((a, lo, hi))) => {
                            let (lo, hi): (i64, i64) = (lo - (1 << shift), hi);
                            Some((builder.op(Op::Sub { a, b: x, shift }, Interval::new(lo, hi, 0)), lo, hi))
                        }
                    };
                }
            }
            builder.output(Output { source: sum.map(|(value, ..)| value), shift: 0, neg: false });
        }
        builder.finish().expect("a valid program")
    }

    #[test]
    fn sums_of_bits_keep_their_values() {
        let mut rng = SplitMix::new(29);
        let mut changed = 0;
        for _ in 0..40 {
            let (inputs, rows, bits) = (4 + rng.below(30) as u32, 1 + rng.below(4) as usize, 1 + rng.below(5) as u32);
            let model = product(inputs, rows, bits, &mut rng);
            let after = passes::run(&model, &["ranges", "bitsums", "dce"]).0;
            changed += u32::from(after.nodes().iter().any(|node| matches!(node.op, Op::Lookup { .. })));
            for _ in 0..50 {
                let codes: Vec<BigInt> = (0..inputs).map(|_| BigInt::from(rng.below(2))).collect();
                let run = |model: &Model| golden(model, &codes, LookupMiss::Zero).expect("it runs");
                assert_eq!(run(&model), run(&after));
            }
        }
        assert!(changed > 20, "{changed}");
    }
}
