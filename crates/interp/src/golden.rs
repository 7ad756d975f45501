//! Reference interpreter: implements section 3 of `docs/alir.md` line by line, in integers of any size.
//!
//! The interpreter is written for correctness and for comparison with that section; other modules are fast. Inputs are
//! raw integer values (codes) of the module's input port (in the types of [`Model::input_kifs`]), outputs are the codes
//! of its output port. Real numbers are converted elsewhere.

use alir_core::ir::{BinaryBits, Model, Op, UnaryBits, ValueId};
use alir_core::num::{Kif, align, wrap};
use num_bigint::BigInt;
use std::fmt;

/// Result of a lookup outside its table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LookupMiss {
    /// An error that names the operation and the index.
    #[default]
    Error,
    /// Zero, as in the hardware.
    Zero,
}

/// A lookup outside its table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissedEntry {
    /// Index of the lookup operation.
    pub op: ValueId,
    /// Index without an entry; may be negative.
    pub index: BigInt,
    /// Number of entries of the table.
    pub len: usize,
}

impl fmt::Display for MissedEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operation {}: index {} is outside its table of {} entries", self.op.0, self.index, self.len)
    }
}

impl std::error::Error for MissedEntry {}

/// An operation or output with its computed result.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// An operation.
    Op {
        /// Index of the operation.
        id: ValueId,
        /// Result before wrapping.
        exact: &'a BigInt,
        /// Result.
        code: &'a BigInt,
    },
    /// An output element.
    Output {
        /// Index of the output.
        index: usize,
        /// Raw integer value before wrapping.
        exact: &'a BigInt,
        /// Raw integer value.
        code: &'a BigInt,
    },
}

impl Step<'_> {
    /// Returns `true` if wrapping changed a result that the file guarantees to fit: an operation that does not
    /// quantise, or an output.
    pub fn exceeds_declared_range(&self, model: &Model) -> bool {
        match self {
            Step::Op { id, exact, code } => exact != code && !model.node(*id).op.quantises(),
            Step::Output { index: _, exact, code } => exact != code,
        }
    }
}

/// Returns the raw integer values of the output port for raw integer values of the input port.
///
/// # Errors
/// With [`LookupMiss::Error`], the first lookup outside its table.
///
/// # Panics
/// If the length of `inputs` differs from the number of inputs.
pub fn golden(model: &Model, inputs: &[BigInt], miss: LookupMiss) -> Result<Vec<BigInt>, MissedEntry> {
    golden_steps(model, inputs, miss, |_| {})
}

/// Runs a model as [`golden`] does, and calls `visit` with every operation and output as it is computed.
///
/// # Errors
/// As [`golden`].
///
/// # Panics
/// As [`golden`].
pub fn golden_steps(
    model: &Model,
    inputs: &[BigInt],
    miss: LookupMiss,
    mut visit: impl FnMut(Step<'_>),
) -> Result<Vec<BigInt>, MissedEntry> {
    assert_eq!(inputs.len(), model.n_inputs(), "one code for each input");
    let mut values: Vec<BigInt> = Vec::with_capacity(model.nodes().len());
    for id in model.ids() {
        let exact = exact_result(model, inputs, &values, id, miss)?;
        let code = wrap(&exact, model.kif(id));
        visit(Step::Op { id, exact: &exact, code: &code });
        values.push(code);
    }
    let mut outputs = Vec::with_capacity(model.outputs().len());
    for index in 0..model.outputs().len() {
        let exact = exact_output(model, &values, index);
        let code = wrap(&exact, model.output_kif(index));
        visit(Step::Output { index, exact: &exact, code: &code });
        outputs.push(code);
    }
    Ok(outputs)
}

/// Returns the raw integer value of an output element before it wraps. `values`: raw integer values of all operations.
fn exact_output(model: &Model, values: &[BigInt], index: usize) -> BigInt {
    let out = &model.outputs()[index];
    let Some(v) = out.source else { return BigInt::ZERO };
    let code = &values[v.index()];
    let signed = if out.neg { -code } else { code.clone() };
    let frac = i64::from(model.output_kif(index).frac);
    align(&signed, i64::from(model.kif(v).frac) - i64::from(out.shift), frac)
}

/// Returns the raw integer value of an output element. `values`: raw integer values of all operations.
pub fn output_code(model: &Model, values: &[BigInt], index: usize) -> BigInt {
    wrap(&exact_output(model, values, index), model.output_kif(index))
}

/// Returns the raw integer value of one operation, which is not an input, from the values of its operands. A lookup
/// outside its table reads zero.
pub fn operation(model: &Model, values: &[BigInt], id: ValueId) -> BigInt {
    let exact = exact_result(model, &[], values, id, LookupMiss::Zero).unwrap_or_default();
    wrap(&exact, model.kif(id))
}

/// Returns the result of one operation before wrapping, according to the table of section 3.
fn exact_result(
    model: &Model,
    inputs: &[BigInt],
    values: &[BigInt],
    id: ValueId,
    miss: LookupMiss,
) -> Result<BigInt, MissedEntry> {
    let kif = model.kif(id);
    let out = i64::from(kif.frac);
    let value = |v: ValueId| &values[v.index()];
    let frac = |v: ValueId| i64::from(model.kif(v).frac);
    Ok(match &model.node(id).op {
        Op::Input { input } => {
            let port = model.input_kifs()[*input as usize];
            align(&inputs[*input as usize], i64::from(port.frac), out)
        }
        Op::Const { value } => value.to_big(),
        Op::Neg { x } => align(&-value(*x), frac(*x), out),
        Op::Add { a, b, shift } => {
            let fb = frac(*b) - i64::from(*shift);
            let common = frac(*a).max(fb);
            align(&(align(value(*a), frac(*a), common) + align(value(*b), fb, common)), common, out)
        }
        Op::Sub { a, b, shift } => {
            let fb = frac(*b) - i64::from(*shift);
            let common = frac(*a).max(fb);
            align(&(align(value(*a), frac(*a), common) - align(value(*b), fb, common)), common, out)
        }
        Op::Relu { x } => align(value(*x).max(&BigInt::ZERO), frac(*x), out),
        Op::Quantise { x, shift } => align(value(*x), frac(*x) - i64::from(*shift), out),
        Op::AddConst { x, value: constant, shift } => {
            let fc = i64::from(*shift);
            let common = frac(*x).max(fc);
            align(&(align(value(*x), frac(*x), common) + align(&constant.to_big(), fc, common)), common, out)
        }
        Op::Mux { cond, on_true, on_false, shift } => {
            if top_bit(value(*cond), model.kif(*cond)) {
                align(value(*on_true), frac(*on_true), out)
            } else {
                align(value(*on_false), frac(*on_false) - i64::from(*shift), out)
            }
        }
        Op::Mul { a, b } => align(&(value(*a) * value(*b)), frac(*a) + frac(*b), out),
        Op::Lookup { x, table, base } => {
            let entries = &model.table(*table).entries;
            let index = value(*x) - base.to_big();
            match usize::try_from(&index).ok().and_then(|i| entries.get(i)) {
                Some(&entry) => BigInt::from(entry),
                None if miss == LookupMiss::Zero => BigInt::ZERO,
                None => return Err(MissedEntry { op: id, index, len: entries.len() }),
            }
        }
        Op::Unary { op: UnaryBits::Not, x } => {
            let from = model.kif(*x);
            let code = if kif.signed { -value(*x) - 1 } else { all_ones(from) - bits(value(*x), from) };
            align(&code, frac(*x), out)
        }
        Op::Unary { op: UnaryBits::Any, x } => BigInt::from(u8::from(*value(*x) != BigInt::ZERO)),
        Op::Unary { op: UnaryBits::All, x } => {
            let from = model.kif(*x);
            BigInt::from(u8::from(bits(value(*x), from) == all_ones(from)))
        }
        Op::Binary { op, a, b, shift } => {
            let fb = frac(*b) - i64::from(*shift);
            let common = frac(*a).max(fb);
            let (a, b) = (align(value(*a), frac(*a), common), align(value(*b), fb, common));
            // Bit operations of BigInt treat negative numbers as infinite two's complement, which extends each operand
            // by its own signedness.
            let both = match op {
                BinaryBits::And => a & b,
                BinaryBits::Or => a | b,
                BinaryBits::Xor => a ^ b,
            };
            align(&both, common, out)
        }
        Op::Sum { terms } => {
            let weight = |t: &alir_core::ir::Term| frac(t.value) - i64::from(t.shift);
            let common = terms.iter().map(weight).max().expect("a sum has at least one term");
            let sum = terms.iter().fold(BigInt::ZERO, |sum, t| {
                let term = align(value(t.value), weight(t), common);
                if t.neg { sum - term } else { sum + term }
            });
            align(&sum, common, out)
        }
    })
}

/// Returns the condition bit of a mux: the sign bit, or bit `width - 1` of an unsigned condition; `false` without bits.
pub fn top_bit(code: &BigInt, kif: Kif) -> bool {
    match kif.width() {
        0 => false,
        _ if kif.signed => *code < BigInt::ZERO,
        width => *code >= BigInt::from(1) << (width - 1),
    }
}

/// Returns the bits of a raw integer value as an unsigned number.
fn bits(code: &BigInt, kif: Kif) -> BigInt {
    if *code < BigInt::ZERO { code + (BigInt::from(1) << kif.width()) } else { code.clone() }
}

fn all_ones(kif: Kif) -> BigInt {
    (BigInt::from(1) << kif.width()) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use alir_core::ir::{Builder, Output, Table, Term};
    use alir_core::num::{Code, Interval};

    /// Returns the results of one operation for inputs of the given intervals, one row per sample.
    fn one_op(inputs: &[Interval], make: impl Fn(&[ValueId]) -> Op, out: Interval, rows: &[&[i64]]) -> Vec<i64> {
        let mut b = Builder::new(vec![0; inputs.len()]);
        b.table(Table { entries: vec![10, 20, 30], out: Interval::new(0, 63, 0), hash: String::new(), inp_width: 3 });
        let ids: Vec<_> =
            inputs.iter().enumerate().map(|(i, q)| b.op(Op::Input { input: i as u32 }, q.clone())).collect();
        let result = b.op(make(&ids), out);
        b.output(Output { source: Some(result), shift: 0, neg: false });
        let model = b.finish().unwrap_or_else(|p| panic!("{p:?}"));
        rows.iter()
            .map(|row| {
                let codes: Vec<_> = row.iter().map(|&v| BigInt::from(v)).collect();
                let out = golden(&model, &codes, LookupMiss::Zero).unwrap();
                i64::try_from(&out[0]).unwrap()
            })
            .collect()
    }

    fn q(min: i64, max: i64, frac: i32) -> Interval {
        Interval::new(min, max, frac)
    }

    #[test]
    fn add_drops_low_bits_by_floor() {
        // Steps of 0.25 at the inputs, whole steps at the output: 0.75 -> 0, -0.75 -> -1.
        let three_times = |v: &[ValueId]| Op::Add { a: v[0], b: v[0], shift: 1 };
        assert_eq!(one_op(&[q(-8, 7, 2)], three_times, q(-8, 7, 0), &[&[1], &[-1], &[-3]]), [0, -1, -3]);
    }

    #[test]
    fn relu_and_quantise_wrap() {
        assert_eq!(
            one_op(&[q(-8, 7, 0)], |v| Op::Relu { x: v[0] }, q(0, 3, 0), &[&[7], &[5], &[3], &[-1]]),
            [3, 1, 3, 0]
        );
        let times_four = |v: &[ValueId]| Op::Quantise { x: v[0], shift: 2 };
        assert_eq!(one_op(&[q(-8, 7, 0)], times_four, q(-16, 15, 0), &[&[1], &[5], &[-5]]), [4, -12, 12]);
    }

    #[test]
    fn mux_looks_at_the_top_bit_of_an_unsigned_condition() {
        let mux = |v: &[ValueId]| Op::Mux { cond: v[0], on_true: v[1], on_false: v[1], shift: 1 };
        // The condition 0..=5 has width 3, so its top bit is set from 4 on.
        assert_eq!(one_op(&[q(0, 5, 0), q(-8, 7, 0)], mux, q(-16, 15, 0), &[&[3, 3], &[4, 3]]), [6, 3]);
    }

    #[test]
    fn not_depends_on_the_signedness_of_its_result() {
        let not = |v: &[ValueId]| Op::Unary { op: UnaryBits::Not, x: v[0] };
        assert_eq!(one_op(&[q(0, 15, 0)], not, q(0, 15, 0), &[&[0], &[5]]), [15, 10]);
        assert_eq!(one_op(&[q(0, 15, 0)], not, q(-16, 15, 0), &[&[0], &[5]]), [-1, -6]);
        assert_eq!(one_op(&[q(-8, 7, 0)], not, q(0, 15, 0), &[&[-8], &[-1], &[0], &[7]]), [7, 0, 15, 8]);
    }

    #[test]
    fn all_of_no_bits_is_one_and_any_is_zero() {
        let all = |v: &[ValueId]| Op::Unary { op: UnaryBits::All, x: v[0] };
        let any = |v: &[ValueId]| Op::Unary { op: UnaryBits::Any, x: v[0] };
        assert_eq!(one_op(&[q(0, 0, 0)], all, q(0, 1, 0), &[&[0]]), [1]);
        assert_eq!(one_op(&[q(0, 0, 0)], any, q(0, 1, 0), &[&[0]]), [0]);
        assert_eq!(one_op(&[q(-8, 7, 0)], all, q(0, 1, 0), &[&[-1], &[7]]), [1, 0]);
    }

    #[test]
    fn bit_operations_extend_each_operand_by_its_own_sign() {
        let xor = |v: &[ValueId]| Op::Binary { op: BinaryBits::Xor, a: v[0], b: v[1], shift: 2 };
        assert_eq!(one_op(&[q(-8, 7, 0), q(-8, 7, 0)], xor, q(-32, 31, 0), &[&[-1, -1], &[3, -8]]), [3, -29]);
    }

    #[test]
    fn lookups_count_from_their_base() {
        let lookup = |v: &[ValueId]| Op::Lookup { x: v[0], table: alir_core::ir::TableId(0), base: Code::from(-3) };
        assert_eq!(one_op(&[q(-3, 2, 0)], lookup, q(0, 63, 0), &[&[-3], &[-1], &[0], &[-4]]), [10, 30, 0, 0]);
    }

    #[test]
    fn sums_are_exact_before_the_one_floor() {
        let sum = |v: &[ValueId]| Op::Sum {
            terms: Box::new([
                Term { value: v[0], shift: 0, neg: false },
                Term { value: v[1], shift: -2, neg: true },
                Term { value: v[0], shift: 1, neg: false },
            ]),
        };
        // 3*3 - 3/4 = 8.25 -> 8; -9 - 0.25 -> -10.
        assert_eq!(one_op(&[q(-8, 7, 0), q(-8, 7, 0)], sum, q(-32, 31, 0), &[&[3, 3], &[-3, 1]]), [8, -10]);
    }

    #[test]
    fn a_missed_entry_is_an_error_that_names_it() {
        let mut b = Builder::new(vec![0]);
        let t = b.table(Table { entries: vec![1], out: q(0, 1, 0), hash: String::new(), inp_width: 1 });
        let x = b.op(Op::Input { input: 0 }, q(0, 1, 0));
        b.op(Op::Lookup { x, table: t, base: Code::ZERO }, q(0, 1, 0));
        let model = b.finish().unwrap();
        let miss = golden(&model, &[BigInt::from(1)], LookupMiss::Error).unwrap_err();
        assert_eq!(miss.to_string(), "operation 1: index 1 is outside its table of 1 entries");
    }

    #[test]
    fn steps_report_where_an_interval_is_broken() {
        let mut b = Builder::new(vec![0]);
        let x = b.op(Op::Input { input: 0 }, q(0, 7, 0));
        let double = b.op(Op::Add { a: x, b: x, shift: 0 }, q(0, 7, 0));
        b.output(Output { source: Some(double), shift: 0, neg: false });
        let model = b.finish().unwrap();
        let mut broken = Vec::new();
        golden_steps(&model, &[BigInt::from(5)], LookupMiss::Error, |s| broken.push(s.exceeds_declared_range(&model)))
            .unwrap();
        assert_eq!(broken, [false, true, false]);
    }
}
