//! Optimisation passes: each transforms a program into an equivalent, better program.
//!
//! Every pass is a function from [`Model`] to [`Model`] (or to `None` if it changes nothing). Every pass preserves the
//! outputs for *every* bit pattern of the inputs (lookups outside their table read zero), not only within the declared
//! intervals, unless [`Trust`] allows otherwise. Each pass is small, has one purpose, and is listed in [`PASSES`];
//! [`run`] applies a list of passes and reports the statistics of each.

mod bit_sums;
mod compose;
mod cse;
mod dce;
mod demand;
mod facts;
mod forms;
mod functions;
mod linear;
mod mirror;
mod polarity;
mod products;
mod ranges;
mod rewrite;
mod rounding;
mod signs;
mod simplify;
mod slope;
mod split;
mod sums;
mod tables;

use alir_core::ir::{Model, Op, ValueId};
use facts::Known;
use std::borrow::Cow;

/// Assumptions of a pass about the values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Only the types of the ports: outputs are preserved for every bit pattern of the inputs.
    #[default]
    Types,
    /// Also the intervals that the file declares for inputs and operations: outputs are preserved if every input is
    /// within its interval (and the file's other intervals are valid).
    Intervals,
}

/// Returns `true` for each sum whose value is exact for every bit pattern of the inputs: it does not wrap and drops no
/// low bits.
pub fn exact_sums(model: &Model) -> Vec<bool> {
    exact_sums_by(model, &facts::Facts::new(model, Trust::Types))
}

/// Like [`exact_sums`], with existing facts about the values.
fn exact_sums_by(model: &Model, facts: &facts::Facts) -> Vec<bool> {
    let whole = |id: ValueId| {
        // A zero value has no low bits.
        let frac = |v: ValueId| if model.kif(v).is_zero() { i64::MIN / 2 } else { i64::from(model.kif(v).frac) };
        let lowest = match &model.node(id).op {
            Op::Add { a, b, shift } | Op::Sub { a, b, shift } => frac(*a).max(frac(*b) - i64::from(*shift)),
            Op::AddConst { x, shift, .. } => frac(*x).max(i64::from(*shift)),
            _ => return false,
        };
        lowest <= frac(id) && facts.never_wraps(model, id)
    };
    model.ids().map(whole).collect()
}

/// An optimisation pass.
pub struct PassInfo {
    /// Name on the command line.
    pub name: &'static str,
    /// Summary in one line.
    pub summary: &'static str,
    /// Lowest `-O` level that runs the pass; [`BY_NAME`] if no level does.
    pub level: u8,
    /// `true` if the pass only changes tables, so that it does nothing for a program without tables.
    tables_only: bool,
    /// Function that returns the new program, or `None` if nothing changes.
    run: fn(&Model, &mut Known) -> Option<Model>,
}

impl PassInfo {
    /// Applies the pass.
    pub fn apply(&self, model: &Model, trust: Trust) -> Model {
        (self.run)(model, &mut Known::nothing(trust)).unwrap_or_else(|| model.clone())
    }
}

/// Defines the pass that splits sums and comparisons into carry chains of at most this many bits.
macro_rules! shorter_chains {
    ($bits:literal) => {
        PassInfo {
            name: concat!("sums", $bits),
            summary: concat!(
                "sums and comparisons of more than ",
                $bits,
                " bits as carry chains of no more, so that registers can be placed between them"
            ),
            level: BY_NAME,
            tables_only: false,
            run: sums::run::<$bits>,
        }
    };
}

/// All passes.
pub const PASSES: &[PassInfo] = &[
    PassInfo {
        name: "simplify",
        summary: "identities: constants, powers of two, copies, known signs, minima and maxima, negations taken into \
                  sums",
        level: 1,
        tables_only: false,
        run: simplify::run,
    },
    PassInfo {
        name: "cse",
        summary: "compute equal operations once, also when they differ by a shift or by their type",
        level: 1,
        tables_only: false,
        run: cse::run,
    },
    PassInfo {
        name: "ranges",
        summary: "narrow every type to the range that its value takes for any input",
        level: 1,
        tables_only: false,
        run: ranges::run,
    },
    PassInfo {
        name: "compose",
        summary: "tables read through operations on one narrower value become tables of that value",
        level: 1,
        tables_only: true,
        run: compose::run,
    },
    PassInfo {
        name: "tables",
        summary: "cut tables to what can be reached, drop idle operand bits, share equal ones, sums instead of \
                  straight lines",
        level: 1,
        tables_only: true,
        run: tables::run,
    },
    PassInfo {
        name: "mirror",
        summary: "odd and even tables as tables of the magnitude, where that takes fewer LUTs",
        level: BY_NAME,
        tables_only: true,
        run: mirror::run,
    },
    PassInfo {
        name: "slope",
        summary: "tables of straight lines of any slope as sums, where that takes fewer LUTs",
        level: BY_NAME,
        tables_only: true,
        run: slope::run,
    },
    PassInfo {
        name: "rounding",
        summary: "add what rounds a ReLU's result before the ReLU, together with the bias",
        level: 1,
        tables_only: false,
        run: rounding::run,
    },
    PassInfo {
        name: "split",
        summary: "tables of smooth functions as a coarse table plus a fine one, where that takes fewer LUTs",
        level: 2,
        tables_only: true,
        run: split::run,
    },
    PassInfo {
        name: "linear",
        summary: "re-solve groups of sums, sharing partial sums, where that takes fewer adder bits",
        level: 2,
        tables_only: false,
        run: linear::run,
    },
    PassInfo {
        name: "polarity",
        summary: "compute sums with the sign that costs fewer adder bits, drop negations",
        level: 1,
        tables_only: false,
        run: polarity::run,
    },
    PassInfo {
        name: "signs",
        summary: "negations under a control bit inside the sums that read them",
        level: 2,
        tables_only: false,
        run: signs::run,
    },
    PassInfo {
        name: "demand",
        summary: "compute no bit that nobody reads",
        level: 1,
        tables_only: false,
        run: demand::run,
    },
    PassInfo {
        name: "bitsums",
        summary: "sums of values of up to four bits as functions inside the LUTs of adders, for devices with \
                  six-input LUTs",
        level: BY_NAME,
        tables_only: false,
        run: bit_sums::run,
    },
    PassInfo {
        name: "bitsums4",
        summary: "sums of values of up to four bits as tables in front of adders, for devices with four-input LUTs",
        level: BY_NAME,
        tables_only: false,
        run: bit_sums::run_for_four_inputs,
    },
    PassInfo {
        name: "bitsumsalm",
        summary: "sums of values of up to four bits as functions inside adders, for Intel's adaptive logic modules",
        level: BY_NAME,
        tables_only: false,
        run: bit_sums::run_for_adaptive_modules,
    },
    PassInfo {
        name: "functions",
        summary: "choices and sums of one value of up to six bits as a table of it, where that takes fewer LUTs",
        level: 2,
        tables_only: false,
        run: functions::run,
    },
    PassInfo {
        name: "products",
        summary: "long products as sums of shorter ones, so that registers can stand within products of logic",
        level: BY_NAME,
        tables_only: false,
        run: products::run,
    },
    shorter_chains!(32),
    shorter_chains!(16),
    shorter_chains!(8),
    shorter_chains!(4),
    PassInfo {
        name: "dce",
        summary: "drop operations and tables that no output needs",
        level: 1,
        tables_only: false,
        run: dce::run,
    },
];

/// Level of a pass that runs only by name or as part of [`IN_STAGES`].
pub const BY_NAME: u8 = u8::MAX;

/// Defines the passes of `-O2`, with an optional additional pass before signs and widths are chosen.
macro_rules! searching {
    ($($more:literal)?) => {
        &[
            "dce", "simplify", "ranges", "compose", "tables", "split", "split", "cse", "rounding", "linear", "dce",
            $($more,)?
            "polarity", "signs", "demand", "simplify", "ranges", "cse", "functions", "dce",
        ]
    };
}

/// Returns the passes of `-O<level>`, in order. Some passes run twice: the second time on the results of other passes.
pub fn pipeline(level: u8) -> &'static [&'static str] {
    match level {
        0 => &[],
        1 => &[
            "dce", "simplify", "ranges", "compose", "tables", "cse", "rounding", "polarity", "demand", "simplify",
            "ranges", "cse", "dce",
        ],
        _ => searching!(),
    }
}

/// Passes of `-O2` for hardware that implements products in logic, with pipeline stages chosen by delays: registers can
/// then be placed within a long product.
pub const IN_STAGES: &[&str] = searching!("products");

/// Passes that `-O2` adds at the end for devices with six-input LUTs.
pub const WIDE_TABLES: [&str; 2] = ["bitsums", "dce"];

/// Passes that `-O2` adds at the end for devices with four-input LUTs.
pub const NARROW_TABLES: [&str; 2] = ["bitsums4", "dce"];

/// Passes that `-O2` adds at the end for devices with adaptive logic modules.
pub const ADAPTIVE_TABLES: [&str; 2] = ["bitsumsalm", "dce"];

/// Passes that split carry chains, longest chains first: for a clock period that operations of the optimised program
/// exceed.
pub const SHORTER_CHAINS: [&str; 4] = ["sums32", "sums16", "sums8", "sums4"];

/// Statistics of one pass on a program.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PassStat {
    /// Name of the pass.
    pub name: &'static str,
    /// Number of operations before the pass.
    pub ops_before: usize,
    /// Number of operations after the pass.
    pub ops_after: usize,
    /// Total width in bits of all arithmetic and logic results before the pass (wires do not count).
    pub bits_before: u64,
    /// Total width in bits of all arithmetic and logic results after the pass.
    pub bits_after: u64,
}

/// Returns the pass with this name, or `None`.
pub fn find(name: &str) -> Option<&'static PassInfo> {
    PASSES.iter().find(|p| p.name == name)
}

/// Applies passes in order and returns the statistics of each.
///
/// # Panics
/// If a name is not in [`PASSES`]: a caller with names from a user checks them with [`find`] first.
pub fn run(model: &Model, names: &[&str]) -> (Model, Vec<PassStat>) {
    let (optimised, stats) = run_trusting(model, names, Trust::Types);
    (optimised.into_owned(), stats)
}

/// Like [`run`], with passes that rely on `trust`; returns the program itself if no pass changes it.
///
/// # Panics
/// As [`run`].
pub fn run_trusting<'m>(model: &'m Model, names: &[&str], trust: Trust) -> (Cow<'m, Model>, Vec<PassStat>) {
    let mut current = Cow::Borrowed(model);
    let mut known = Known::nothing(trust);
    let mut stats = Vec::with_capacity(names.len());
    let mut bits_before = computed_bits(model);
    for name in names {
        let pass = find(name).unwrap_or_else(|| panic!("no pass {name}"));
        let ops_before = current.nodes().len();
        let mut bits_after = bits_before;
        let idle = pass.tables_only && current.tables().is_empty();
        if !idle && let Some(next) = (pass.run)(&current, &mut known) {
            known = Known::nothing(trust);
            bits_after = computed_bits(&next);
            current = Cow::Owned(next);
        }
        let ops_after = current.nodes().len();
        stats.push(PassStat { name: pass.name, ops_before, ops_after, bits_before, bits_after });
        bits_before = bits_after;
    }
    (current, stats)
}

/// Returns the total width of the results that cost hardware: everything but inputs, constants and wires.
fn computed_bits(model: &Model) -> u64 {
    use alir_core::ir::Op;
    let costs = |op: &Op| !matches!(op, Op::Input { .. } | Op::Const { .. } | Op::Quantise { .. });
    model.nodes().iter().zip(model.kifs()).filter(|(n, _)| costs(&n.op)).map(|(_, k)| u64::from(k.width())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alir_core::ir::{BinaryBits, Builder, Op, Output, Table, Term, UnaryBits, ValueId};
    use alir_core::num::{Code, Interval};
    use alir_interp::{LookupMiss, golden};
    use num_bigint::BigInt;

    /// Returns a program with inputs of the given intervals; `make` appends operations and returns the outputs.
    fn program(inputs: &[Interval], make: impl Fn(&mut Builder, &[ValueId]) -> Vec<ValueId>) -> Model {
        let mut b = Builder::new(vec![0; inputs.len()]);
        let ids: Vec<_> =
            inputs.iter().enumerate().map(|(i, q)| b.op(Op::Input { input: i as u32 }, q.clone())).collect();
        for v in make(&mut b, &ids) {
            b.output(Output { source: Some(v), shift: 0, neg: false });
        }
        b.finish().unwrap_or_else(|p| panic!("{p:?}"))
    }

    fn q(min: i64, max: i64, frac: i32) -> Interval {
        Interval::new(min, max, frac)
    }

    /// Applies the passes and compares the result with the reference interpreter on every input pattern.
    fn optimised(model: &Model, names: &[&str]) -> Model {
        let (after, _) = run(model, names);
        assert_eq!(after.input_kifs(), model.input_kifs());
        assert_eq!(after.output_intervals(), model.output_intervals());
        let widths: Vec<u32> = model.input_kifs().iter().map(|k| k.width()).collect();
        let bits: u32 = widths.iter().sum();
        assert!(bits <= 12, "keep the example small enough to be tried whole");
        for pattern in 0..1u64 << bits {
            let mut rest = pattern;
            let inputs: Vec<BigInt> = model
                .input_kifs()
                .iter()
                .map(|kif| {
                    let code = rest & ((1 << kif.width()) - 1);
                    rest >>= kif.width();
                    alir_core::num::wrap(&BigInt::from(code), *kif)
                })
                .collect();
            assert_eq!(
                golden(&after, &inputs, LookupMiss::Zero),
                golden(model, &inputs, LookupMiss::Zero),
                "inputs {inputs:?}\n{after:#?}"
            );
        }
        after
    }

    fn ops(model: &Model) -> Vec<&'static str> {
        model.nodes().iter().map(|n| n.op.name()).collect()
    }

    #[test]
    fn a_loose_interval_is_narrowed() {
        let model = program(&[q(0, 3, 0)], |b, v| vec![b.op(Op::Add { a: v[0], b: v[0], shift: 1 }, q(-100, 100, 2))]);
        let after = optimised(&model, &["ranges"]);
        // 3x for x in 0..=3: four bits without sign or fractional bits.
        assert_eq!(after.kif(ValueId(1)).to_string(), "u4.0");
    }

    #[test]
    fn high_bits_that_a_quantise_drops_are_not_computed() {
        let model = program(&[q(-8, 7, 0), q(-8, 7, 0)], |b, v| {
            let sum = b.op(Op::Add { a: v[0], b: v[1], shift: 0 }, q(-16, 14, 0));
            vec![b.op(Op::Quantise { x: sum, shift: 0 }, q(0, 7, 0))]
        });
        let after = optimised(&model, &["demand"]);
        assert_eq!(after.kif(ValueId(2)).width(), 3);
        assert_eq!(after.kif(ValueId(0)).width(), 3);
    }

    #[test]
    fn low_bits_that_make_no_carry_are_dropped() {
        let model = program(&[q(-8, 7, 2), q(-2, 1, 0)], |b, v| {
            let sum = b.op(Op::Add { a: v[0], b: v[1], shift: 0 }, q(-16, 15, 2));
            vec![b.op(Op::Quantise { x: sum, shift: 0 }, q(-4, 3, 0))]
        });
        let after = optimised(&model, &["demand"]);
        assert_eq!(after.kif(ValueId(0)).frac, 0, "the fraction of the first operand never carries");
        // As subtrahend, the value causes borrows, so its low bits remain.
        let model = program(&[q(-8, 7, 2), q(-2, 1, 0)], |b, v| {
            let sum = b.op(Op::Sub { a: v[1], b: v[0], shift: 0 }, q(-16, 15, 2));
            vec![b.op(Op::Quantise { x: sum, shift: 0 }, q(-4, 3, 0))]
        });
        let after = optimised(&model, &["demand"]);
        assert_eq!(after.kif(ValueId(0)).frac, 2);
    }

    #[test]
    fn constants_fold_and_dead_code_goes() {
        let model = program(&[q(-8, 7, 0)], |b, v| {
            let c = b.op(Op::Const { value: Code::from(3) }, q(3, 3, 0));
            let d = b.op(Op::Add { a: c, b: c, shift: 1 }, q(9, 9, 0));
            b.op(Op::Mul { a: v[0], b: v[0] }, q(0, 64, 0));
            vec![b.op(Op::Add { a: v[0], b: d, shift: 0 }, q(1, 16, 0))]
        });
        let after = optimised(&model, &["simplify", "dce"]);
        assert_eq!(ops(&after), ["input", "add_const"]);
    }

    #[test]
    fn negations_are_taken_into_sums() {
        let model = program(&[q(-8, 7, 0), q(-8, 7, 1)], |b, v| {
            let n = b.op(Op::Neg { x: v[1] }, q(-7, 8, 1));
            let s = b.op(Op::Add { a: v[0], b: n, shift: 2 }, q(-32, 31, 1));
            let t = b.op(Op::Sub { a: v[0], b: n, shift: 0 }, q(-32, 31, 1));
            let z = b.op(
                Op::Sum {
                    terms: Box::new([
                        Term { value: n, shift: 1, neg: true },
                        Term { value: v[0], shift: 0, neg: false },
                        Term { value: v[1], shift: 1, neg: true },
                    ]),
                },
                q(-16, 15, 0),
            );
            vec![s, t, z]
        });
        let after = optimised(&model, &["simplify", "dce"]);
        assert_eq!(ops(&after), ["input", "input", "sub", "add"]);
    }

    #[test]
    fn equal_work_is_done_once_whatever_its_shift() {
        let model = program(&[q(-8, 7, 0), q(-8, 7, 0)], |b, v| {
            let s = b.op(Op::Add { a: v[0], b: v[1], shift: 2 }, q(-40, 35, 0));
            let t = b.op(Op::Add { a: v[1], b: v[0], shift: -2 }, q(-40, 35, 2));
            let narrow = b.op(Op::Add { a: v[0], b: v[1], shift: 2 }, q(0, 3, 0));
            vec![s, t, narrow]
        });
        let after = optimised(&model, &["cse", "dce"]);
        assert_eq!(ops(&after), ["input", "input", "add", "quantise", "quantise"]);
    }

    #[test]
    fn what_looks_at_types_still_sees_the_same_type() {
        // Every value here is narrowed; lookup, not, all and mux depend on the width or step of their operand.
        let model = program(&[q(0, 15, 1)], |b, v| {
            let t = b.table(Table {
                entries: (0..16).map(|i| i * 3 % 16).collect(),
                out: q(0, 15, 0),
                hash: String::new(),
                inp_width: 4,
            });
            let half = b.op(Op::Quantise { x: v[0], shift: 0 }, q(0, 7, 0));
            let wide = b.op(Op::Add { a: half, b: half, shift: 0 }, q(0, 15, 0));
            let entry = b.op(Op::Lookup { x: wide, table: t, base: Code::ZERO }, q(0, 15, 0));
            let not = b.op(Op::Unary { op: UnaryBits::Not, x: wide }, q(0, 15, 0));
            let all = b.op(Op::Unary { op: UnaryBits::All, x: wide }, q(0, 1, 0));
            let mux = b.op(Op::Mux { cond: wide, on_true: entry, on_false: not, shift: 0 }, q(0, 15, 0));
            let signed = b.op(Op::Neg { x: wide }, q(-15, 0, 0));
            let mux2 = b.op(Op::Mux { cond: signed, on_true: mux, on_false: wide, shift: 1 }, q(0, 15, 0));
            let and = b.op(Op::Binary { op: BinaryBits::And, a: not, b: signed, shift: 0 }, q(0, 15, 0));
            vec![entry, not, all, mux, mux2, and]
        });
        for pass in PASSES {
            optimised(&model, &[pass.name]);
        }
        optimised(&model, pipeline(2));
    }

    #[test]
    fn a_difference_is_taken_the_cheaper_way_round() {
        // b has two more low bits than a: a - b needs borrows for them, b - a passes them through.
        let model = program(&[q(-4, 3, 0), q(-16, 15, 2), q(-4, 3, 0)], |b, v| {
            let d = b.op(Op::Sub { a: v[0], b: v[1], shift: 0 }, q(-31, 28, 2));
            let e = b.op(Op::Add { a: v[2], b: d, shift: 1 }, q(-80, 80, 2));
            let n = b.op(Op::Neg { x: e }, q(-80, 80, 2));
            vec![b.op(Op::Sub { a: v[2], b: n, shift: 0 }, q(-100, 100, 2))]
        });
        let after = optimised(&model, &["polarity", "simplify", "dce"]);
        assert_eq!(ops(&after), ["input", "input", "input", "sub", "sub", "add"]);
        assert_eq!(after.node(ValueId(3)).op, Op::Sub { a: ValueId(1), b: ValueId(0), shift: 0 });
    }

    #[test]
    fn sums_are_shared_again() {
        // 3x + 3y as written takes three sums; 3 (x + y) takes two.
        let model = program(&[q(-8, 7, 0), q(-8, 7, 0)], |b, v| {
            let x3 = b.op(Op::Add { a: v[0], b: v[0], shift: 1 }, q(-100, 100, 0));
            let y3 = b.op(Op::Add { a: v[1], b: v[1], shift: 1 }, q(-100, 100, 0));
            vec![b.op(Op::Add { a: x3, b: y3, shift: 0 }, q(-200, 200, 0))]
        });
        let after = optimised(&model, &["cse", "linear", "ranges", "dce"]);
        assert_eq!(ops(&after).iter().filter(|o| matches!(**o, "add" | "sub" | "sum")).count(), 2, "{:?}", ops(&after));
        optimised(&model, pipeline(2));
    }

    #[test]
    fn numbers_side_by_side_take_no_adder() {
        // x + 16 y of unsigned values is wiring; 3 (x + 16 y) takes one adder, 3x and 3y separately take two.
        let model = program(&[q(0, 15, 0), q(0, 15, 0)], |b, v| {
            let both = b.op(Op::Add { a: v[0], b: v[1], shift: 4 }, q(0, 255, 0));
            vec![b.op(Op::Add { a: both, b: both, shift: 1 }, q(0, 1023, 0))]
        });
        let after = optimised(&model, &["linear", "dce"]);
        assert_eq!(after, model);
    }

    #[test]
    fn a_difference_wanted_both_ways_is_not_negated() {
        let model = program(&[q(-8, 7, 0), q(-4, 3, 1)], |b, v| {
            let ab = b.op(Op::Sub { a: v[0], b: v[1], shift: 1 }, q(-40, 40, 1));
            let ba = b.op(Op::Sub { a: v[1], b: v[0], shift: -1 }, q(-40, 40, 2));
            let relu = |b: &mut Builder, x| b.op(Op::Relu { x }, q(0, 40, 2));
            // 3 ab, rebuilt as a sum of a and b, ensures that the pass changes the group.
            let a3 = b.op(Op::Add { a: v[0], b: v[0], shift: 1 }, q(-40, 40, 0));
            let b3 = b.op(Op::Add { a: v[1], b: v[1], shift: 1 }, q(-40, 40, 1));
            let ab3 = b.op(Op::Sub { a: a3, b: b3, shift: 1 }, q(-100, 100, 1));
            vec![relu(b, ab), relu(b, ba), relu(b, ab3)]
        });
        let after = optimised(&model, &["cse", "linear", "ranges", "dce"]);
        let negations = |n: &&alir_core::ir::Node| match &n.op {
            Op::Neg { .. } => true,
            Op::Sum { terms } => terms.len() == 1,
            _ => false,
        };
        assert_eq!(after.nodes().iter().filter(negations).count(), 0, "{:?}", ops(&after));
        let sums = |n: &&alir_core::ir::Node| matches!(n.op, Op::Sub { .. } | Op::Add { .. } | Op::Sum { .. });
        assert_eq!(after.nodes().iter().filter(sums).count(), 3, "{:?}", ops(&after));
    }

    #[test]
    fn tables_are_read_by_the_narrowest_value() {
        let model = program(&[q(-16, 15, 0), q(-2, 1, 0)], |b, v| {
            let t = b.table(Table {
                entries: (0..96).map(|i| i * i % 61 - 30).collect(),
                out: q(-64, 63, 1),
                hash: String::new(),
                inp_width: 7,
            });
            let three = b.op(Op::Sub { a: v[0], b: v[0], shift: -2 }, q(-48, 47, 2));
            let inner = b.op(Op::Lookup { x: three, table: t, base: Code::from(-48) }, q(-30, 30, 1));
            let moved = b.op(Op::AddConst { x: inner, value: Code::from(3), shift: 0 }, q(-64, 63, 1));
            // A table of a table of only the first input; and a table that reads both inputs, which remains.
            let outer = b.op(Op::Lookup { x: moved, table: t, base: Code::from(-64) }, q(-30, 30, 1));
            let mixed = b.op(Op::Add { a: v[0], b: v[1], shift: 0 }, q(-64, 63, 0));
            vec![outer, b.op(Op::Lookup { x: mixed, table: t, base: Code::from(-48) }, q(-30, 30, 1))]
        });
        let after = optimised(&model, &["compose", "dce"]);
        assert_eq!(ops(&after), ["input", "input", "lookup", "add", "lookup"]);
        assert_eq!(after.node(ValueId(2)).op.operands(), [ValueId(0)]);
        optimised(&model, pipeline(2));
    }

    #[test]
    fn tables_lose_what_nobody_reaches_and_idle_bits() {
        let table = |entries: Vec<i32>| Table { entries, out: q(-64, 63, 1), hash: String::new(), inp_width: 5 };
        let model = program(&[q(-16, 15, 0)], |b, v| {
            let stairs = b.table(table((0..32).map(|i| (i / 4) * (i / 4)).collect()));
            let line = b.table(table((0..32).map(|i| 2 * i - 17).collect()));
            let same = b.table(table((0..32).map(|i| (i / 4) * (i / 4)).collect()));
            let base = Code::from(-16);
            let narrow = b.op(Op::Quantise { x: v[0], shift: 0 }, q(0, 7, 0));
            let make = |x, table, base: &Code| Op::Lookup { x, table, base: base.clone() };
            let short = b.table(table(vec![5, 1, 7]));
            vec![
                b.op(make(v[0], stairs, &base), q(0, 63, 1)),
                b.op(make(v[0], line, &base), q(-64, 63, 1)),
                b.op(make(v[0], same, &base), q(0, 63, 1)),
                b.op(make(narrow, short, &Code::from(2)), q(0, 7, 1)),
            ]
        });
        let after = optimised(&model, &["tables", "dce"]);
        assert_eq!(after.tables().len(), 2);
        // The stairs have eight values, each for four consecutive operands; the first value is zero, which is also the
        // value outside the table, so the table does not contain it.
        assert_eq!(after.tables()[0].entries, [1, 4, 9, 16, 25, 36, 49]);
        assert_eq!(after.tables()[1].entries, [5, 1, 7]);
        assert_eq!(ops(&after).iter().filter(|&&o| o == "lookup").count(), 3);
    }

    #[test]
    fn stages_take_the_passes_of_the_highest_level_and_more() {
        let others: Vec<&str> = IN_STAGES.iter().copied().filter(|&name| name != "products").collect();
        assert_eq!(others, pipeline(2));
        assert!(others.len() < IN_STAGES.len());
    }

    #[test]
    fn own_delays_never_grow() {
        let mut b = Builder::new(vec![0, 0]);
        let node = |op, interval, latency| alir_core::ir::Node { op, interval, latency, cost: 1.0, origin: 0 };
        let x = b.push(node(Op::Input { input: 0 }, q(-8, 7, 0), 0.0));
        let y = b.push(node(Op::Input { input: 1 }, q(-8, 7, 0), 0.0));
        let n = b.push(node(Op::Neg { x: y }, q(-7, 8, 0), 1.0));
        let s = b.push(node(Op::Add { a: x, b: n, shift: 0 }, q(-15, 15, 0), 2.5));
        b.output(Output { source: Some(s), shift: 0, neg: false });
        let after = optimised(&b.finish().unwrap(), pipeline(1));
        // The negation is removed; the sum keeps its own delay of 1.5.
        assert_eq!(after.nodes().last().unwrap().latency, 1.5);
    }
}
