//! Equivalence of two programs as functions of real numbers.
//!
//! Ports may have different types. Then an input is any number of the smallest type that contains those of both
//! programs, and each program quantises it to its own port type; outputs are compared as numbers. The second program
//! becomes a design operation by operation ([`super::program`]), which is proved to compute the first program. The
//! reference interpreter of both programs confirms a difference.

use super::equiv::{self, Report, Request, Verdict};
use super::sat::Solvers;
use super::value_classes;
use alir_core::ir::{Builder, Limits, Model, Op, Output, ValueId};
use alir_core::num::{Interval, Kif, align, wrap};
use alir_interp::samples::{Port, input_ports, output_ports};
use alir_interp::{LookupMiss, golden};
use num_bigint::BigInt;

/// Largest width of a common type of two ports.
const WIDEST: i64 = 1 << 16;

/// Difference between two programs: inputs, and an output with different values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Raw integer values on the input ports of each program, for the same numbers as far as the port types contain
    /// them.
    pub inputs: [Vec<BigInt>; 2],
    /// Index of the output element.
    pub output: usize,
    /// Raw integer value of the output by each program.
    pub codes: [BigInt; 2],
}

/// Proves or refutes that two programs with the same numbers of inputs and outputs are equal for every input. A
/// refutation includes inputs for which they differ.
///
/// # Panics
/// If the numbers of inputs or outputs differ.
pub fn prove(a: &Model, b: &Model, request: &Request, solver: Solvers<'_>) -> (Report, Option<Difference>) {
    assert_eq!((a.n_inputs(), a.outputs().len()), (b.n_inputs(), b.outputs().len()), "as many ports");
    let request = Request { latency: Some(0), ..request.clone() };
    let (inputs, outputs) = ([a, b].map(input_ports), [a, b].map(output_ports));
    if inputs[0] == inputs[1] && outputs[0] == outputs[1] {
        let report = value_classes::prove(a, b, &request, solver).0;
        return confirmed(report, (a, b), |codes| [codes.to_vec(), codes.to_vec()]);
    }
    let common =
        |[x, y]: &[Vec<Port>; 2]| x.iter().zip(y).map(|(x, y)| common_type(*x, *y)).collect::<Option<Vec<_>>>();
    let widened = common(&inputs).zip(common(&outputs)).and_then(|(ins, outs)| {
        let of = |model, own| over(model, own, &ins, &outs).ok();
        Some((of(a, &inputs[0])?, of(b, &inputs[1])?, ins))
    });
    let Some((wide_a, wide_b, types)) = widened else {
        let reason = format!("no type of up to {WIDEST} bits holds the values of both programs' ports");
        return (equiv::undecided(reason), None);
    };
    let report = value_classes::prove(&wide_a, &wide_b, &request, solver).0;
    confirmed(report, (a, b), |codes| {
        [&inputs[0], &inputs[1]].map(|ports| {
            let moved = codes.iter().zip(&types).zip(ports);
            moved.map(|((code, of), to)| wrap(&align(code, i64::from(of.frac), to.frac), to.kif)).collect()
        })
    })
}

/// Returns the report; a difference must be confirmed by the reference interpreter of both programs.
fn confirmed(
    mut report: Report,
    (a, b): (&Model, &Model),
    codes: impl Fn(&[BigInt]) -> [Vec<BigInt>; 2],
) -> (Report, Option<Difference>) {
    let Verdict::Differs { counterexample: Some(found), .. } = &report.verdict else { return (report, None) };
    let inputs = codes(&found.inputs);
    match difference((a, b), inputs) {
        Some(difference) => (report, Some(difference)),
        None => {
            let reason = "a difference was found that the interpreter does not confirm".to_owned();
            report.verdict = Verdict::Unknown { reason };
            (report, None)
        }
    }
}

/// Returns the first output that differs for these inputs; `None` if there is none. A lookup outside of its table gives
/// zero.
pub fn difference((a, b): (&Model, &Model), inputs: [Vec<BigInt>; 2]) -> Option<Difference> {
    let run = |model, codes: &[BigInt]| golden(model, codes, LookupMiss::Zero).ok();
    let (x, y) = (run(a, &inputs[0])?, run(b, &inputs[1])?);
    let (of_a, of_b) = (output_ports(a), output_ports(b));
    let output = (0..x.len()).find(|&j| {
        let frac = of_a[j].frac.max(of_b[j].frac);
        align(&x[j], of_a[j].frac, frac) != align(&y[j], of_b[j].frac, frac)
    })?;
    Some(Difference { inputs, output, codes: [x[output].clone(), y[output].clone()] })
}

/// Returns the smallest type that contains the numbers of both ports; `None` if it is too wide.
fn common_type(a: Port, b: Port) -> Option<Kif> {
    let used: Vec<Port> = [a, b].into_iter().filter(|port| port.kif.width() > 0).collect();
    let (Some(frac), Some(top)) = (
        used.iter().map(|port| port.frac).max(),
        used.iter().map(|port| i64::from(port.kif.width()) - i64::from(port.kif.signed) - port.frac).max(),
    ) else {
        return Some(Kif::ZERO);
    };
    if top + frac > WIDEST || frac.abs() > i64::from(i32::MAX / 2) || top.abs() > i64::from(i32::MAX / 2) {
        return None;
    }
    Some(Kif { signed: used.iter().any(|port| port.kif.signed), int: top as i32, frac: frac as i32 })
}

/// Builds a program with other port types: inputs are quantised to the program's own ports, outputs extended.
fn over(model: &Model, own: &[Port], inputs: &[Kif], outputs: &[Kif]) -> Result<Model, ()> {
    let mut builder = Builder::new(vec![0; inputs.len()]);
    builder.limits(Limits::derived());
    for table in model.tables() {
        builder.table(table.clone());
    }
    let mut ports = Vec::new();
    for (k, (kif, port)) in inputs.iter().zip(own).enumerate() {
        let x = builder.op(Op::Input { input: k as u32 }, Interval::full(*kif));
        let shift = i32::try_from(port.frac - i64::from(port.kif.frac)).map_err(|_| ())?;
        ports.push(builder.op(Op::Quantise { x, shift }, Interval::full(port.kif)));
    }
    let before = builder.nodes().len() as u32;
    let moved = |v: ValueId| ValueId(v.0 + before);
    for node in model.nodes() {
        let mut op = node.op.clone();
        match op {
            Op::Input { input } => op = Op::Quantise { x: ports[input as usize], shift: 0 },
            _ => op.map_operands(moved),
        }
        builder.op(op, node.interval.clone());
    }
    for (j, (output, common)) in model.outputs().iter().zip(outputs).enumerate() {
        let source = output.source.map(|v| {
            let mut x = moved(v);
            if output.neg {
                x = builder.op(Op::Neg { x }, Interval::full(model.kif(v)).negated());
            }
            let x = builder.op(Op::Quantise { x, shift: output.shift }, Interval::full(model.output_kif(j)));
            builder.op(Op::Quantise { x, shift: 0 }, Interval::full(*common))
        });
        let zero = |builder: &mut Builder| builder.op(Op::Const { value: 0.into() }, Interval::full(*common));
        let source = Some(source.unwrap_or_else(|| zero(&mut builder)));
        builder.output(Output { source, shift: 0, neg: false });
    }
    builder.finish().map_err(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sat::Embedded;
    use alir_core::ir::{BinaryBits, Table};
    use alir_core::num::SplitMix;
    use alir_testing::random::{Profile, Recipe};
    use proptest::prelude::*;

    fn compared(a: &Model, b: &Model) -> (Verdict, Option<Difference>) {
        let (report, difference) = prove(a, b, &Request::default(), &|| Box::new(Embedded));
        (report.verdict, difference)
    }

    /// Returns `true` if two programs with small ports are equal for all numbers that their ports contain.
    fn same_by_enumeration(a: &Model, b: &Model) -> Option<bool> {
        let (of_a, of_b) = (input_ports(a), input_ports(b));
        let types: Vec<Kif> = of_a.iter().zip(&of_b).map(|(x, y)| common_type(*x, *y)).collect::<Option<_>>()?;
        let bits: u32 = types.iter().map(|t| t.width()).sum();
        if bits > 12 {
            return None;
        }
        let equal = (0..1u64 << bits).all(|raw| {
            let mut rest = raw;
            let mut codes: [Vec<BigInt>; 2] = Default::default();
            for (k, kif) in types.iter().enumerate() {
                let code = wrap(&BigInt::from(rest), *kif);
                rest >>= kif.width();
                for (codes, port) in codes.iter_mut().zip([of_a[k], of_b[k]]) {
                    codes.push(wrap(&align(&code, i64::from(kif.frac), port.frac), port.kif));
                }
            }
            difference((a, b), codes).is_none()
        });
        Some(equal)
    }

    #[test]
    fn verdicts_are_those_of_all_inputs() {
        let (mut same, mut other) = (0, 0);
        for seed in 0..200u64 {
            let recipe = Recipe::seeded(Profile::TINY, 8, seed);
            let a = recipe.build();
            let changed = match seed % 3 {
                0 => optimised(&a),
                1 => with_other_ports(&a, seed),
                _ => mutated(&a, seed),
            };
            let Some(b) = changed else { continue };
            let Some(equal) = same_by_enumeration(&a, &b) else { continue };
            let (verdict, difference) = compared(&a, &b);
            match equal {
                true => assert_eq!((verdict, difference), (Verdict::Proved, None), "seed {seed}"),
                false => {
                    assert!(matches!(verdict, Verdict::Differs { .. }), "seed {seed}: {verdict:?}");
                    let shown = difference.expect("inputs that show it");
                    assert_eq!(super::difference((&a, &b), shown.inputs.clone()), Some(shown), "seed {seed}");
                }
            }
            *if equal { &mut same } else { &mut other } += 1;
        }
        assert!(same >= 80 && other >= 20, "{same} equal, {other} not");
    }

    fn optimised(a: &Model) -> Option<Model> {
        Some(alir_opt::passes::run(a, alir_opt::passes::pipeline(2)).0)
    }

    /// Returns the program on ports with one more bit, below or above.
    fn with_other_ports(a: &Model, seed: u64) -> Option<Model> {
        let more = |kif: Kif| match kif.width() {
            0 => kif,
            _ if seed.is_multiple_of(2) => Kif { frac: kif.frac + 1, ..kif },
            _ => Kif { int: kif.int + 1, signed: true, ..kif },
        };
        let ports = input_ports(a);
        let inputs: Vec<Kif> = ports.iter().map(|p| more(Kif { frac: p.frac as i32, ..p.kif })).collect();
        let shifted = |p: &Port| i64::from(p.kif.frac) == p.frac;
        let outputs: Vec<Kif> = (0..a.outputs().len()).map(|j| more(a.output_kif(j))).collect();
        if ports.iter().all(shifted) { over(a, &ports, &inputs, &outputs).ok() } else { None }
    }

    /// Returns the program with one changed operation: a sum becomes a difference, the operands of a choice are
    /// swapped, or a rectifier is removed.
    fn mutated(a: &Model, seed: u64) -> Option<Model> {
        let mut rng = SplitMix::new(seed);
        let at = rng.word() as usize % a.nodes().len().max(1);
        let mut builder = Builder::like(a);
        let mut done = false;
        for (i, node) in a.nodes().iter().enumerate() {
            let mut node = node.clone();
            if i >= at && !done {
                let swapped = match node.op.clone() {
                    Op::Add { a, b, shift } => Some(Op::Sub { a, b, shift }),
                    Op::Sub { a, b, shift } => Some(Op::Add { a, b, shift }),
                    Op::Mux { cond, on_true, on_false, .. } => {
                        Some(Op::Mux { cond, on_true: on_false, on_false: on_true, shift: 0 })
                    }
                    Op::Relu { x } => Some(Op::Quantise { x, shift: 0 }),
                    _ => None,
                };
                done = swapped.is_some();
                node.op = swapped.unwrap_or(node.op);
            }
            builder.push(node);
        }
        for output in a.outputs() {
            builder.output(*output);
        }
        builder.finish().ok().filter(|_| done)
    }

    /// Implementation of an exclusive or.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum How {
        Operation,
        Backwards,
        /// As `a + b - 2(a & b)`.
        Arithmetic,
    }

    fn xor(builder: &mut Builder, (a, b): (ValueId, ValueId), how: How, width: u32) -> ValueId {
        let word = Interval::from_width(false, width, 0);
        if how != How::Arithmetic {
            return builder.op(Op::Binary { op: BinaryBits::Xor, a, b, shift: 0 }, word);
        }
        let both = builder.op(Op::Binary { op: BinaryBits::And, a, b, shift: 0 }, word.clone());
        let sum = builder.op(Op::Add { a, b, shift: 0 }, Interval::from_width(false, width + 1, 0));
        builder.op(Op::Sub { a: sum, b: both, shift: 1 }, word)
    }

    /// Sums modulo two, or products of two bits: each row lists inputs and previous rows; all rows are outputs.
    type Rows = Vec<(Vec<usize>, bool)>;

    const BITS: usize = 24;

    fn network(rows: &Rows, how: How) -> Model {
        let mut builder = Builder::new(vec![0; BITS]);
        let bit = Interval::from_width(false, 1, 0);
        let mut all: Vec<ValueId> =
            (0..BITS as u32).map(|input| builder.op(Op::Input { input }, bit.clone())).collect();
        for (terms, is_sum) in rows {
            let mut terms: Vec<ValueId> = terms.iter().map(|t| all[t % all.len()]).collect();
            if !is_sum {
                terms.truncate(2);
            }
            if how == How::Backwards {
                terms.reverse();
            }
            let mut row = terms[0];
            for &term in &terms[1..] {
                row = match is_sum {
                    true => xor(&mut builder, (row, term), how, 1),
                    false => builder.op(Op::Binary { op: BinaryBits::And, a: row, b: term, shift: 0 }, bit.clone()),
                };
            }
            all.push(row);
            builder.output(Output { source: Some(row), shift: 0, neg: false });
        }
        builder.finish().expect("a program")
    }

    fn within(a: &Model, b: &Model, work: u64) -> (Report, Option<Difference>) {
        prove(a, b, &Request { work: Some(work), ..Request::default() }, &|| Box::new(Embedded))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn networks_of_exclusive_ors_need_no_search(
            rows in prop::collection::vec(
                (prop::collection::vec(0..1000usize, 2..20), prop::bool::weighted(0.75)),
                1..40,
            ),
            changed in (0..40usize, 0..BITS),
        ) {
            let a = network(&rows, How::Operation);
            for how in [How::Backwards, How::Arithmetic] {
                let (report, _) = within(&a, &network(&rows, how), 20_000_000);
                prop_assert_eq!(&report.verdict, &Verdict::Proved, "{:?}", how);
                // A whole row of few inputs may be tried for all of them; its single bits must not be.
                let solved = (report.bits.sat, report.bits.exhaustive - report.bits.tried);
                prop_assert_eq!(solved, (0, 0), "{:?}", how);
            }
            // An additional tap changes the row if the row is a sum.
            let mut other = rows.clone();
            let row = changed.0 % rows.len();
            other[row].0.push(changed.1);
            let (report, difference) = within(&a, &network(&other, How::Backwards), 20_000_000);
            if rows[row].1 {
                prop_assert!(matches!(report.verdict, Verdict::Differs { .. }), "{:?}", report.verdict);
                prop_assert!(difference.is_some());
            }
        }
    }

    /// Builds one byte of CRC-32 (polynomial 0xedb88320): bit by bit with a word of state, or each bit as a sum of
    /// inputs.
    fn crc32(how: How, flipped: Option<u32>) -> Model {
        let polynomial: u32 = 0xedb8_8320 ^ flipped.map_or(0, |bit| 1 << bit);
        let mut builder = Builder::new(vec![0; 2]);
        let word = Interval::from_width(false, 32, 0);
        let state = builder.op(Op::Input { input: 0 }, word.clone());
        let byte = builder.op(Op::Input { input: 1 }, Interval::from_width(false, 8, 0));
        let mut state = xor(&mut builder, (state, byte), how, 32);
        let [ones, zero] =
            [polynomial, 0].map(|value| builder.op(Op::Const { value: i64::from(value).into() }, word.clone()));
        for _ in 0..8 {
            let low = builder.op(Op::Quantise { x: state, shift: 0 }, Interval::from_width(false, 1, 0));
            let taps = builder.op(Op::Mux { cond: low, on_true: ones, on_false: zero, shift: 0 }, word.clone());
            let down = builder.op(Op::Quantise { x: state, shift: -1 }, word.clone());
            state = xor(&mut builder, (down, taps), how, 32);
        }
        builder.output(Output { source: Some(state), shift: 0, neg: false });
        builder.finish().expect("a program")
    }

    /// Builds CRC-32 with one table for the byte: `table[(state ^ byte) & 255] ^ state >> 8`.
    fn crc32_by_table() -> Model {
        let mut builder = Builder::new(vec![0; 2]);
        let word = Interval::from_width(false, 32, 0);
        let state = builder.op(Op::Input { input: 0 }, word.clone());
        let byte = builder.op(Op::Input { input: 1 }, Interval::from_width(false, 8, 0));
        let mixed = xor(&mut builder, (state, byte), How::Operation, 32);
        let low = builder.op(Op::Quantise { x: mixed, shift: 0 }, Interval::from_width(false, 8, 0));
        let entry = |index: u32| (0..8).fold(index, |v, _| if v & 1 == 1 { v >> 1 ^ 0xedb8_8320 } else { v >> 1 });
        // Entries of a table are signed, so each entry is split into halves of 16 bits.
        let halves = [0, 16].map(|lo| {
            let entries = (0..256).map(|i| (entry(i) >> lo & 0xffff) as i32).collect();
            let out = Interval::from_width(false, 16, 0);
            let table = builder.table(Table { entries, out: out.clone(), hash: String::new(), inp_width: 8 });
            builder.op(Op::Lookup { x: low, table, base: 0.into() }, out)
        });
        let table = builder.op(Op::Binary { op: BinaryBits::Or, a: halves[0], b: halves[1], shift: 16 }, word.clone());
        let down = builder.op(Op::Quantise { x: state, shift: -8 }, word.clone());
        let next = xor(&mut builder, (table, down), How::Operation, 32);
        builder.output(Output { source: Some(next), shift: 0, neg: false });
        builder.finish().expect("a program")
    }

    #[test]
    fn crc_32_is_proved_in_all_forms() {
        let serial = crc32(How::Operation, None);
        for other in [crc32_by_table(), crc32(How::Arithmetic, None)] {
            let (report, _) = within(&serial, &other, 20_000_000);
            assert_eq!((&report.verdict, report.bits.sat), (&Verdict::Proved, 0), "{report:?}");
        }
        for bit in [0, 13, 31] {
            let wrong = crc32(How::Operation, Some(bit));
            let (report, difference) = within(&crc32_by_table(), &wrong, 20_000_000);
            assert!(matches!(report.verdict, Verdict::Differs { .. }) && difference.is_some(), "{report:?}");
        }
    }
}
