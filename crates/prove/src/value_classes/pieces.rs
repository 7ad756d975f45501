//! Comparison of two small programs with one input, interval by interval.
//!
//! Interval arithmetic (Moore, Interval Analysis, 1966) bounds both outputs on an interval of the input. If both
//! outputs are constant there, they are equal or different; other intervals are halved. A step function of many bits,
//! such as a count of thresholds in one program and a search among them in the other, takes a few dozen intervals for
//! each step, while a SAT solver takes long. Interval arithmetic is exact for a single input, so the method is
//! complete; for programs that are no step functions the budget is exhausted after few intervals.

use alir_core::ir::{BinaryBits, Model, Op, UnaryBits, ValueId};
use alir_core::num::Kif;

/// Smallest and largest raw integer value.
pub(super) type Bounds = (i128, i128);

/// Result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Comparison {
    /// The outputs are equal for every input; with their bounds.
    Equal(Bounds),
    /// The outputs differ for some input.
    Different,
    /// The programs are too wide or no step functions, or the budget is exhausted.
    Undecided,
}

/// Largest number of bits of a raw integer value, and of a shift: sums and products of two values fit in 128 bits.
const BITS: u32 = 62;
/// Largest number of undecided intervals of the same length.
const UNDECIDED: usize = 1 << 10;
/// Number of intervals of the same length of which at least one must be decided; otherwise the outputs are no step
/// functions.
const ALL_OPEN: usize = 1 << 8;
/// Largest number of table entries that are read for one interval.
const ENTRIES: i128 = 256;

/// Compares two programs with one input and one output on an interval of the input, within a budget of ticks. Also
/// returns the ticks spent.
pub(super) fn compare(a: &Model, b: &Model, all: Bounds, budget: u64) -> (Comparison, u64) {
    let wide = |model: &Model| {
        model
            .ids()
            .map(|id| model.kif(id))
            .chain([model.output_kif(0), model.input_kifs()[0]])
            .any(|kif| kif.width() > BITS)
    };
    if [a, b].into_iter().any(wide) {
        return (Comparison::Undecided, 0);
    }
    let price = (a.nodes().len() + b.nodes().len()) as u64;
    let mut spent = 0;
    let mut ends = (i128::MAX, i128::MIN);
    let mut values = Vec::new();
    let mut open = vec![all];
    while !open.is_empty() {
        let mut halves = Vec::new();
        for (lo, hi) in &open {
            spent += price;
            if spent > budget {
                return (Comparison::Undecided, spent);
            }
            let outputs = [a, b].map(|model| on((*lo, *hi), model, &mut values));
            let [Some(first), Some(second)] = outputs else { return (Comparison::Undecided, spent) };
            if first.1 < second.0 || second.1 < first.0 {
                return (Comparison::Different, spent);
            }
            if first.0 == first.1 && first == second {
                ends = (ends.0.min(first.0), ends.1.max(first.0));
            } else {
                let middle = lo + (hi - lo) / 2;
                halves.extend([(*lo, middle), (middle + 1, *hi)]);
            }
        }
        if halves.len() > UNDECIDED || (open.len() >= ALL_OPEN && halves.len() == 2 * open.len()) {
            return (Comparison::Undecided, spent);
        }
        open = halves;
    }
    (Comparison::Equal(ends), spent)
}

/// Returns bounds of a program's output on an interval of its input; `None` if they have too many bits. Overwrites
/// `values` with the bounds of all operations.
fn on(input: Bounds, model: &Model, values: &mut Vec<Bounds>) -> Option<Bounds> {
    values.clear();
    for id in model.ids() {
        let exact = result(input, model, values, id)?;
        values.push(wrapped(exact, model.kif(id)));
    }
    let (output, kif) = (&model.outputs()[0], model.output_kif(0));
    let Some(v) = output.source else { return Some((0, 0)) };
    let frac = model.kif(v).frac - output.shift;
    let signed = if output.neg { negated(values[v.index()]) } else { values[v.index()] };
    Some(wrapped(aligned(signed, frac, kif.frac)?, kif))
}

/// Returns bounds of the result of an operation before wrapping; `None` if they have too many bits.
fn result(input: Bounds, model: &Model, values: &[Bounds], id: ValueId) -> Option<Bounds> {
    let kif = model.kif(id);
    let value = |v: ValueId| values[v.index()];
    let frac = |v: ValueId| model.kif(v).frac;
    let to_own = |bounds: Bounds, from: i32| aligned(bounds, from, kif.frac);
    let constant = |code: &alir_core::num::Code| {
        let code = i128::try_from(&code.to_big()).ok().filter(|code| code.unsigned_abs() >> BITS == 0)?;
        Some((code, code))
    };
    match &model.node(id).op {
        Op::Input { input: at } => to_own(input, model.input_kifs()[*at as usize].frac),
        Op::Const { value } => constant(value),
        Op::Neg { x } => to_own(negated(value(*x)), frac(*x)),
        Op::Add { a, b, shift } => plus([(value(*a), frac(*a)), (value(*b), frac(*b) - shift)], kif),
        Op::Sub { a, b, shift } => plus([(value(*a), frac(*a)), (negated(value(*b)), frac(*b) - shift)], kif),
        Op::AddConst { x, value: code, shift } => plus([(value(*x), frac(*x)), (constant(code)?, *shift)], kif),
        Op::Sum { terms } => {
            let all = terms.iter().map(|term| {
                let bounds = value(term.value);
                (if term.neg { negated(bounds) } else { bounds }, frac(term.value) - term.shift)
            });
            plus(all, kif)
        }
        Op::Relu { x } => to_own((value(*x).0.max(0), value(*x).1.max(0)), frac(*x)),
        Op::Quantise { x, shift } => to_own(value(*x), frac(*x) - shift),
        Op::Mux { cond, on_true, on_false, shift } => {
            let (of, (lo, hi)) = (model.kif(*cond), value(*cond));
            let set = |code: i128| match of.width() {
                0 => false,
                _ if of.signed => code < 0,
                width => code >> (width - 1) != 0,
            };
            let (first, second) =
                (to_own(value(*on_true), frac(*on_true)), to_own(value(*on_false), frac(*on_false) - shift));
            match (set(lo), set(hi)) {
                (true, true) => first,
                (false, false) => second,
                _ => Some((first?.0.min(second?.0), first?.1.max(second?.1))),
            }
        }
        Op::Mul { a, b } => {
            let ((a0, a1), (b0, b1)) = (value(*a), value(*b));
            let corners = [a0 * b0, a0 * b1, a1 * b0, a1 * b1];
            let frac = frac(*a) + frac(*b);
            to_own((*corners.iter().min()?, *corners.iter().max()?), frac)
        }
        Op::Lookup { x, table, base } => {
            let entries = &model.table(*table).entries;
            let base = constant(base)?.0;
            let (lo, hi) = (value(*x).0 - base, value(*x).1 - base);
            if hi - lo >= ENTRIES {
                return Some(type_bounds(kif));
            }
            let read =
                |i: i128| usize::try_from(i).ok().and_then(|i| entries.get(i)).map_or(0, |&entry| i128::from(entry));
            let read: (i128, i128) =
                (lo..=hi).map(read).fold((i128::MAX, i128::MIN), |(lo, hi), entry| (lo.min(entry), hi.max(entry)));
            Some(read)
        }
        Op::Unary { op: UnaryBits::Not, x } => {
            let (from, (lo, hi)) = (model.kif(*x), value(*x));
            let ones = if kif.signed { -1 } else { (1 << from.width()) - 1 };
            // An unsigned complement reads the bits of a negative number as an unsigned number.
            let bits = |code: i128| if code < 0 && !kif.signed { code + (1 << from.width()) } else { code };
            if (lo < 0) != (hi < 0) && !kif.signed {
                return to_own((0, ones), from.frac);
            }
            to_own((ones - bits(hi), ones - bits(lo)), from.frac)
        }
        Op::Unary { op, x } => {
            let (from, (lo, hi)) = (model.kif(*x), value(*x));
            // For zero bits, "all ones" is true.
            let target = match (op, from.width(), from.signed) {
                (UnaryBits::Any, ..) | (_, 0, _) => 0,
                (_, _, true) => -1,
                (_, width, false) => (1 << width) - 1,
            };
            let negate = *op == UnaryBits::Any;
            let (always, never) = ((lo, hi) == (target, target), target < lo || hi < target);
            Some((i128::from(if negate { never } else { always }), i128::from(if negate { !always } else { !never })))
        }
        Op::Binary { op, a, b, shift } => {
            let common = frac(*a).max(frac(*b) - shift);
            let (a, b) = (aligned(value(*a), frac(*a), common)?, aligned(value(*b), frac(*b) - shift, common)?);
            let ones = |code: i128| (1 << (128 - code.leading_zeros())) - 1;
            let both = match op {
                _ if a.0 == a.1 && b.0 == b.1 => {
                    let code = match op {
                        BinaryBits::And => a.0 & b.0,
                        BinaryBits::Or => a.0 | b.0,
                        BinaryBits::Xor => a.0 ^ b.0,
                    };
                    (code, code)
                }
                _ if a.0 < 0 || b.0 < 0 => return Some(type_bounds(kif)),
                BinaryBits::And => (0, a.1.min(b.1)),
                BinaryBits::Or => (a.0.max(b.0), ones(a.1.max(b.1))),
                BinaryBits::Xor => (0, ones(a.1.max(b.1))),
            };
            to_own(both, common)
        }
    }
}

fn negated((lo, hi): Bounds) -> Bounds {
    (-hi, -lo)
}

/// Returns the bounds with another number of fractional bits, rounded down; `None` if they have too many bits.
fn aligned((lo, hi): Bounds, from: i32, to: i32) -> Option<Bounds> {
    let up = to.checked_sub(from)?;
    match u32::try_from(up) {
        Ok(up) => {
            let fits = up <= BITS && [lo, hi].iter().all(|code| code.unsigned_abs() >> (126 - up) == 0);
            fits.then(|| (lo << up, hi << up))
        }
        Err(_) => {
            let down = up.unsigned_abs().min(127);
            Some((lo >> down, hi >> down))
        }
    }
}

/// Returns the sum of bounds with their fractional bits, in units of a type; `None` if it has too many bits.
fn plus(terms: impl IntoIterator<Item = (Bounds, i32)> + Clone, kif: Kif) -> Option<Bounds> {
    let common = terms.clone().into_iter().map(|(_, frac)| frac).max()?;
    let mut sum: Bounds = (0, 0);
    for (bounds, frac) in terms {
        let (lo, hi) = aligned(bounds, frac, common)?;
        sum = (sum.0.checked_add(lo)?, sum.1.checked_add(hi)?);
    }
    aligned(sum, common, kif.frac)
}

/// Returns the bounds of the raw integer values of a type.
fn type_bounds(kif: Kif) -> Bounds {
    let width = kif.width();
    match (width, kif.signed) {
        (0, _) => (0, 0),
        (_, true) => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
        (_, false) => (0, (1 << width) - 1),
    }
}

/// Returns bounds of a value after wrapping to a type.
fn wrapped((lo, hi): Bounds, kif: Kif) -> Bounds {
    let all = type_bounds(kif);
    let Some(from) = lo.checked_sub(all.0) else { return all };
    let Some(to) = hi.checked_sub(all.0) else { return all };
    let width = kif.width();
    if from >> width != to >> width {
        return all;
    }
    let turns = (from >> width) << width;
    (lo - turns, hi - turns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alir_core::ir::{Builder, Node, Output};
    use alir_core::num::{Code, Interval, SplitMix};
    use alir_interp::{LookupMiss, golden};
    use alir_opt::passes::{self, Trust};
    use alir_testing::random::{Gene, Profile, Recipe};
    use num_bigint::BigInt;
    use proptest::prelude::*;

    /// Returns a program with the same operations and only one output. With `constant`, 1 is added to a constant.
    fn with_one_output(model: &Model, output: usize, constant: Option<usize>) -> Option<Model> {
        let mut builder = Builder::new(model.inp_shifts().to_vec());
        for table in model.tables() {
            builder.table(table.clone());
        }
        let mut constants = 0;
        for id in model.ids() {
            let mut node = model.node(id).clone();
            if let Op::Const { value } | Op::AddConst { value, .. } = &mut node.op {
                if constant == Some(constants) {
                    *value = Code::from(&(value.to_big() + 1));
                }
                constants += 1;
            }
            builder.push(Node { interval: Interval::full(model.kif(id)), ..node });
        }
        builder.output(model.outputs()[output]);
        builder.finish().ok()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        /// A verdict agrees with the reference interpreter on every input, and the bounds are those of its outputs.
        #[test]
        fn intervals_decide_what_all_inputs_show(
            genes in proptest::collection::vec(any::<Gene>(), 1..30),
            output: u8,
            constant in proptest::option::of(0..4usize),
            (low, high) in (0..40i128, 0..40i128),
        ) {
            let model = Recipe::new(Profile { inputs: 1, ..Profile::SMALL }, genes).build();
            let output = usize::from(output) % model.outputs().len();
            let (a, b) = (with_one_output(&model, output, None), with_one_output(&model, output, constant));
            let (Some(a), Some(b)) = (a, b) else { return Ok(()) };
            let b = passes::pipeline(2)
                .iter()
                .filter_map(|name| passes::find(name))
                .fold(b, |model, pass| pass.apply(&model, Trust::Types));
            if a.n_inputs() != 1 || a.input_kifs() != b.input_kifs() || a.output_kif(0) != b.output_kif(0) {
                return Ok(());
            }
            let (lo, hi) = type_bounds(a.input_kifs()[0]);
            let (lo, hi) = ((lo + low).min(hi), (hi - high).max((lo + low).min(hi)));
            let run = |model: &Model, code: i128| {
                let found = golden(model, &[BigInt::from(code)], LookupMiss::Zero).expect("no error for such an index");
                i128::try_from(&found[0]).expect("narrow")
            };
            let mut equal = true;
            let mut ends = (i128::MAX, i128::MIN);
            for code in lo..=hi {
                let found = run(&a, code);
                equal &= found == run(&b, code);
                ends = (ends.0.min(found), ends.1.max(found));
            }
            let mut values = Vec::new();
            let bounds = on((lo, hi), &a, &mut values).expect("narrow");
            prop_assert!(bounds.0 <= ends.0 && ends.1 <= bounds.1, "{bounds:?} {ends:?}");
            let expected = if equal { Comparison::Equal(ends) } else { Comparison::Different };
            let (found, _) = compare(&a, &b, (lo, hi), u64::MAX);
            // Undecided is allowed only for more inputs than this.
            if found != Comparison::Undecided || hi - lo < ALL_OPEN as i128 {
                prop_assert_eq!(found, expected);
            }
        }
    }

    /// Returns a program that counts the thresholds that an input reaches or exceeds: by a sum, or by a binary search.
    fn steps(thresholds: &[i64], is_sum: bool) -> Model {
        let mut builder = Builder::new(vec![0]);
        let x = builder.op(Op::Input { input: 0 }, Interval::from_width(true, 40, 0));
        let count = Interval::from_width(false, 8, 0);
        let number = |builder: &mut Builder, value: usize| {
            builder.op(Op::Const { value: Code::from(&BigInt::from(value)) }, count.clone())
        };
        let below = |builder: &mut Builder, at: usize| {
            let value = Code::from(&BigInt::from(-thresholds[at]));
            builder.op(Op::AddConst { x, value, shift: 0 }, Interval::from_width(true, 42, 0))
        };
        let mut all: Vec<(usize, ValueId)> = (0..=thresholds.len()).map(|at| (at, number(&mut builder, at))).collect();
        let found = if is_sum {
            let (zero, one) = (all[0].1, all[1].1);
            (0..thresholds.len()).fold(zero, |sum, at| {
                let cond = below(&mut builder, at);
                let bit = builder.op(Op::Mux { cond, on_true: zero, on_false: one, shift: 0 }, count.clone());
                builder.op(Op::Add { a: sum, b: bit, shift: 0 }, count.clone())
            })
        } else {
            while all.len() > 1 {
                let pairs = all.chunks(2).map(|pair| match *pair {
                    [(first, on_true), (second, on_false)] => {
                        // The smallest count of the second half is the threshold between both halves.
                        let cond = below(&mut builder, second - 1);
                        (first, builder.op(Op::Mux { cond, on_true, on_false, shift: 0 }, count.clone()))
                    }
                    _ => pair[0],
                });
                all = pairs.collect();
            }
            all[0].1
        };
        builder.output(Output { source: Some(found), shift: 0, neg: false });
        builder.finish().expect("a program")
    }

    /// Two counts of thresholds of 40 bits: a sum and a search. If a threshold is moved by one, the counts differ at
    /// one input.
    #[test]
    fn counts_of_thresholds_are_searches_among_them() {
        let mut rng = SplitMix::new(5);
        for count in [1, 2, 3, 7, 20, 100] {
            let mut thresholds: Vec<i64> = (0..count).map(|_| (rng.word() >> 25) as i64 - (1 << 38)).collect();
            thresholds.sort_unstable();
            let (a, b) = (steps(&thresholds, true), steps(&thresholds, false));
            let all = type_bounds(a.input_kifs()[0]);
            let (found, spent) = compare(&a, &b, all, u64::MAX);
            assert_eq!(found, Comparison::Equal((0, i128::from(count))));
            assert!(spent < 100 * count as u64 * (a.nodes().len() + b.nodes().len()) as u64, "{spent} ticks");
            thresholds[count as usize / 2] += 1;
            assert_eq!(compare(&a, &steps(&thresholds, false), all, u64::MAX).0, Comparison::Different);
        }
    }

    /// The identity is no step function, which is detected after a few hundred intervals.
    #[test]
    fn what_steps_everywhere_is_given_up() {
        let mut builder = Builder::new(vec![0]);
        let x = builder.op(Op::Input { input: 0 }, Interval::from_width(true, 40, 0));
        builder.output(Output { source: Some(x), shift: 0, neg: false });
        let model = builder.finish().expect("a program");
        let (found, spent) = compare(&model, &model, type_bounds(model.input_kifs()[0]), u64::MAX);
        assert_eq!((found, spent < 2_000), (Comparison::Undecided, true), "{spent} ticks");
    }
}
