//! Pass `functions`: replaces arithmetic on one narrow value with a table of that value.
//!
//! `x > 4 ? x + 3 : x` for `x` of four bits is an adder, a comparison and a multiplexer, or just four LUTs: every bit
//! of a result that depends only on a value of at most [`MOST_BITS`] bits is one LUT. Synthesis tools miss this, as
//! they first build carry chains of sums and do not optimise across these afterwards. The pass maps a cone to one LUT
//! (J. Cong, Y. Ding, *FlowMap*, IEEE TCAD 13(1), 1994), for cuts of a single word.
//!
//! From the outputs backwards, each operation that needs logic is written as a function of the farthest narrow value
//! that alone determines it. The function replaces the cone if that removes an adder and a multiplexer, and if the
//! removed operations (those of the cone without other readers) take at least 1.5 times as many LUTs as the function
//! needs. A bit of the function needs no LUT if it is constant, a bit of the value, or equal to another bit of the
//! function. All values of the operand are evaluated, so nothing is approximated. Sums and ReLUs without a multiplexer
//! are kept: Yosys maps the logic between carry chains for minimum depth, so that removing a chain makes the LUTs
//! around it larger (three networks took 2, 5 and 0 % more LUTs).
//!
//! The lookup has the delay of the last operation of the cone, on an operand that is available earlier.

use super::compose::{Sources, operations_between};
use super::facts::{Facts, Known};
use super::rewrite::rebuild;
use alir_core::ir::{Model, Op, Table, TableId, ValueId};
use alir_core::num::{Code, Interval};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use rustc_hash::{FxHashMap, FxHashSet};

/// Largest width of the operand of a function: the number of inputs of a LUT on AMD's and Intel's devices.
const MOST_BITS: u32 = 6;
/// Largest number of operations between a value and a function of it.
const MOST_OPERATIONS: usize = 64;
/// Largest width of a function in bits.
const MOST_RESULT_BITS: u32 = 30;

/// Replaces arithmetic on a narrow value with a look-up table of that value.
pub(super) fn run(model: &Model, known: &mut Known) -> Option<Model> {
    // Without a multiplexer no cone qualifies, and the ranges need not be computed.
    if !model.nodes().iter().any(|node| is_choice(&node.op)) {
        return None;
    }
    let mut found = functions(model, known.whole(model));
    if found.is_empty() {
        return None;
    }
    let mut pool: FxHashMap<(Vec<i32>, i32), TableId> = FxHashMap::default();
    rebuild(model, |rw, id| {
        let Some(Function { operand, first, values }) = found.remove(&id) else { return rw.keep(id) };
        let interval = model.node(id).interval.clone();
        let (lo, hi) = values.iter().fold((0, 0), |(lo, hi), &v| (v.min(lo), v.max(hi)));
        let frac = interval.frac;
        let table = *pool.entry((values, frac)).or_insert_with_key(|(values, _)| {
            let out = Interval::new(i64::from(lo), i64::from(hi), frac);
            rw.table(Table { entries: values.clone(), out, hash: String::new(), inp_width: 0 })
        });
        let x = rw.typed(operand);
        rw.replace(id, Op::Lookup { x, table, base: Code::from(BigInt::from(first)) }, interval)
    })
}

/// A result as a function of one value. All values are raw integer values.
struct Function {
    /// The value that determines the result.
    operand: ValueId,
    /// Smallest value of the operand.
    first: i128,
    /// Result for each value of the operand, from the smallest on.
    values: Vec<i32>,
}

/// Returns the results that become tables.
fn functions(model: &Model, facts: &mut Facts) -> FxHashMap<ValueId, Function> {
    let readers = model.reader_counts();
    let sources = Sources::new(model);
    let mut found = FxHashMap::default();
    let mut replaced: FxHashSet<ValueId> = FxHashSet::default();
    for id in model.ids().rev().filter(|&id| luts(model, id) > 0) {
        if replaced.contains(&id) || model.kif(id).width() > MOST_RESULT_BITS {
            continue;
        }
        let Some(operand) = narrow_source(model, &sources, id) else { continue };
        let Some(cone) = operations_between(model, operand, id).filter(|cone| cone.len() <= MOST_OPERATIONS) else {
            continue;
        };
        let removed = without_other_readers(model, &readers, &cone);
        let saved: u32 = removed.iter().map(|&v| luts(model, v)).sum();
        let removes = |kind: fn(&Op) -> bool| removed.iter().any(|&v| kind(&model.node(v).op));
        if saved < 2 || !removes(is_adder) || !removes(is_choice) {
            continue;
        }
        let Some((first, values)) = evaluated(model, facts, operand, &cone) else { continue };
        if 3 * lut_bits(first, &values, model.kif(id).width()) <= 2 * saved {
            replaced.extend(removed);
            found.insert(id, Function { operand, first, values });
        }
    }
    found
}

/// Returns the farthest value of at most [`MOST_BITS`] bits that alone determines `v`; `None` if there is none.
fn narrow_source(model: &Model, sources: &Sources, v: ValueId) -> Option<ValueId> {
    let (mut best, mut at) = (None, v);
    for _ in 0..MOST_OPERATIONS {
        let Some(next) = sources.source(model, at) else { break };
        at = next;
        if (1..=MOST_BITS).contains(&model.kif(at).width()) {
            best = Some(at);
        }
    }
    best
}

/// Returns the operations of a cone that are removed: its last operation, and those that only removed operations read.
/// `cone` is in program order.
fn without_other_readers(model: &Model, readers: &[u32], cone: &[ValueId]) -> Vec<ValueId> {
    let mut within: FxHashMap<ValueId, u32> = FxHashMap::default();
    let mut removed = Vec::with_capacity(cone.len());
    for (k, &v) in cone.iter().rev().enumerate() {
        if k == 0 || within.get(&v) == Some(&readers[v.index()]) {
            removed.push(v);
            model.node(v).op.for_each_operand(|o| *within.entry(o).or_default() += 1);
        }
    }
    removed
}

/// Evaluates the last operation of a cone for each value of `operand`; returns the smallest value of `operand`, and the
/// results.
fn evaluated(model: &Model, facts: &mut Facts, operand: ValueId, cone: &[ValueId]) -> Option<(i128, Vec<i32>)> {
    let first = facts.range(operand)?.lo;
    let values = facts.function(model, operand, cone)?;
    Some((first, values.iter().map(ToPrimitive::to_i32).collect::<Option<_>>()?))
}

/// Returns the approximate number of LUTs of an operation, 0 for wires. Adding a constant takes one LUT for every two
/// bits.
fn luts(model: &Model, v: ValueId) -> u32 {
    let width = model.kif(v).width();
    match model.node(v).op {
        Op::Input { .. } | Op::Const { .. } | Op::Quantise { .. } | Op::Lookup { .. } => 0,
        Op::AddConst { .. } => width.div_ceil(2),
        Op::Mul { .. } => width * width / 4,
        Op::Unary { .. } => 1,
        _ => width,
    }
}

/// Returns `true` if an operation is a multiplexer.
fn is_choice(op: &Op) -> bool {
    matches!(op, Op::Mux { .. })
}

/// Returns `true` if an operation needs a carry chain.
fn is_adder(op: &Op) -> bool {
    matches!(
        op,
        Op::Add { .. } | Op::Sub { .. } | Op::AddConst { .. } | Op::Neg { .. } | Op::Mul { .. } | Op::Sum { .. }
    )
}

/// Returns the number of bits of a function that need a LUT.
fn lut_bits(first: i128, values: &[i32], width: u32) -> u32 {
    let column =
        |bit: u32| (0..).zip(values).filter(|&(_, v)| v >> bit & 1 == 1).map(|(k, _)| k).collect::<Vec<usize>>();
    let operand = |bit: u32| (0..values.len()).filter(|&k| (first + k as i128) >> bit & 1 == 1).collect::<Vec<usize>>();
    let mut free: FxHashSet<Vec<usize>> = (0..MOST_BITS).map(operand).collect();
    free.extend([Vec::new(), (0..values.len()).collect()]);
    (0..width).map(|bit| u32::from(free.insert(column(bit.min(31))))).sum()
}

#[cfg(test)]
mod tests {
    use crate::passes;
    use alir_core::ir::{Builder, Model, Op, Output};
    use alir_core::num::{Code, Interval};

    /// Returns the model `x > 4 ? x + 3 : x`, a step of the conversion to decimal digits, for `x` of `bits` bits. With
    /// `has_sum_output`, `x + 3` is also an output.
    fn digit(bits: u32, has_sum_output: bool) -> Model {
        let most = (1i64 << bits) - 1;
        let mut builder = Builder::new(vec![0]);
        let x = builder.op(Op::Input { input: 0 }, Interval::new(0, most, 0));
        let four = builder.op(Op::Const { value: Code::from(4) }, Interval::new(4, 4, 0));
        let sign = builder.op(Op::Sub { a: four, b: x, shift: 0 }, Interval::new(4 - most, 4, 0));
        let more = builder.op(Op::AddConst { x, value: Code::from(3), shift: 0 }, Interval::new(3, most + 3, 0));
        let mux = Op::Mux { cond: sign, on_true: more, on_false: x, shift: 0 };
        let digit = builder.op(mux, Interval::new(0, most + 3, 0));
        builder.output(Output { source: Some(digit), shift: 0, neg: false });
        if has_sum_output {
            builder.output(Output { source: Some(more), shift: 0, neg: false });
        }
        builder.finish().unwrap()
    }

    #[test]
    fn arithmetic_on_a_narrow_value_is_a_table() {
        let (model, _) = passes::run(&digit(4, false), &["functions", "dce"]);
        assert_eq!(model.nodes().len(), 2, "{:?}", model.nodes());
        assert!(matches!(model.nodes()[1].op, Op::Lookup { .. }));
        assert_eq!(model.tables()[0].entries, [0, 1, 2, 3, 4, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]);
    }

    #[test]
    fn sums_with_other_readers_and_wide_values_are_kept() {
        // The sum is an output of its own, and with a seventh bit, each bit of the result would take two LUTs.
        for model in [digit(4, true), digit(7, false)] {
            let (after, _) = passes::run(&model, &["functions", "dce"]);
            let adders = after.nodes().iter().filter(|node| matches!(node.op, Op::AddConst { .. })).count();
            assert_eq!(adders, 1, "{:?}", after.nodes());
        }
    }
}
