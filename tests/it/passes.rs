//! Every optimisation keeps the meaning, for every bit pattern of the inputs: random programs, shrinking.

use alir_testing::random::{self, Gene, Profile, Recipe, SplitMix};
use alir2hdl::interp::{LookupMiss, golden};
use alir2hdl::ir::{Builder, Model, Node, Op, Output, Table};
use alir2hdl::num::{Code, Interval};
use alir2hdl::passes::{self, PASSES, Trust};
use alir2hdl::verify::Vectors;
use proptest::prelude::*;

fn same(before: &Model, after: &Model, seed: u64, samples: usize) -> Result<(), String> {
    if before.input_kifs() != after.input_kifs() || before.output_intervals() != after.output_intervals() {
        return Err("the ports moved".into());
    }
    let mut rng = SplitMix::new(seed);
    for _ in 0..samples {
        let inputs = random::inputs(before, &mut rng);
        let expected = golden(before, &inputs, LookupMiss::Zero);
        let found = golden(after, &inputs, LookupMiss::Zero);
        if expected != found {
            return Err(format!("inputs {inputs:?}: expected {expected:?}, found {found:?}"));
        }
    }
    Ok(())
}

fn listing(model: &Model) -> String {
    let line = |id| format!("\n  {id}: {} = {:?}", model.kif(id), model.node(id).op);
    model.ids().map(line).collect()
}

fn hold(recipe: &Recipe, names: &[&str], samples: usize) -> Result<(), String> {
    let before = recipe.build();
    let (after, _) = passes::run(&before, names);
    same(&before, &after, 7, samples).map_err(|e| format!("{names:?}: {e}\nafter: {}", listing(&after)))
}

/// Adder-heavy programs for the passes that re-solve sums, everything for all.
fn recipes() -> impl Strategy<Value = Recipe> {
    let profile = (0..Profile::ALL.len()).prop_map(|k| Profile::ALL[k].1);
    (profile, prop::collection::vec(any::<Gene>(), 1..40)).prop_map(|(profile, genes)| Recipe::new(profile, genes))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn each_pass_alone_keeps_the_meaning(recipe in recipes()) {
        for pass in PASSES {
            prop_assert_eq!(hold(&recipe, &[pass.name], 20), Ok(()));
        }
    }

    #[test]
    fn each_level_keeps_the_meaning(recipe in recipes()) {
        for level in 1..=2 {
            prop_assert_eq!(hold(&recipe, passes::pipeline(level), 30), Ok(()));
        }
    }
}

/// The product of two inputs, or a square, in a type that may drop bits on either side.
fn product(factors: [(bool, u32, i32); 2], square: bool, (below, above): (i32, i32)) -> Model {
    let mut builder = Builder::new(vec![0, 0]);
    let [x, y] = [0, 1].map(|input| {
        let (signed, width, frac) = factors[input as usize];
        builder.op(Op::Input { input }, Interval::from_width(signed, width, frac))
    });
    let y = if square { x } else { y };
    let of = |k: usize| if square { factors[0] } else { factors[k] };
    let (width, frac) = (of(0).1 + of(1).1, of(0).2 + of(1).2);
    let width = (width as i32 - below - above).max(1) as u32;
    let interval = Interval::from_width(of(0).0 || of(1).0, width, frac - below);
    let z = builder.push(Node { op: Op::Mul { a: x, b: y }, interval, latency: 8.0, cost: 5.0, origin: 2 });
    builder.output(Output { source: Some(z), shift: 0, neg: false });
    builder.finish().unwrap_or_else(|p| panic!("{p:?}"))
}

/// Generates a factor: `true` for one with a sign, its bits, and the number of fractional ones.
fn factor() -> impl Strategy<Value = (bool, u32, i32)> {
    (any::<bool>(), 2u32..70, -6i32..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn products_in_parts_are_the_products(
        factors in [factor(), factor()],
        square: bool,
        small: bool,
        dropped in (-3i32..6, -3i32..9),
    ) {
        // Squares are cut up to some width only.
        let factors = factors.map(|(signed, width, frac)| (signed, if small { 2 + width % 14 } else { width }, frac));
        let before = product(factors, square, dropped);
        for names in [&["products"][..], &["products", "polarity", "demand", "simplify", "ranges", "cse", "dce"]] {
            let (after, _) = passes::run(&before, names);
            prop_assert_eq!(same(&before, &after, 3, 40), Ok(()));
        }
    }
}

#[test]
fn long_products_are_cut_and_short_ones_are_not() {
    let parts = |wide: u32, narrow: u32, square: bool| {
        let model = product([(true, wide, 0), (false, narrow, 0)], square, (0, 0));
        let products = |m: &Model| m.nodes().iter().filter(|n| matches!(n.op, Op::Mul { .. })).count();
        let (after, _) = passes::run(&model, &["products"]);
        assert!(after.nodes().iter().all(|n| n.latency <= 8.0));
        assert_eq!(after.nodes().iter().map(|n| n.cost).sum::<f64>(), 5.0);
        products(&after)
    };
    // Rows of adders: four for seven bits without sign, five for nine, eleven for 21.
    assert_eq!([parts(30, 7, false), parts(30, 9, false), parts(30, 21, false)], [1, 2, 3]);
    assert_eq!([parts(7, 2, true), parts(8, 2, true), parts(12, 2, true), parts(13, 2, true)], [1, 3, 3, 1]);
}

/// A sum, a difference, a negation or a sum with a constant of two inputs, in a type that may drop bits on either side;
/// and a choice by its top bit.
fn sum(kind: u8, operands: [(bool, u32, i32); 2], shift: i32, constant: i64, (below, above): (i32, i32)) -> Model {
    let mut builder = Builder::new(vec![0, 0]);
    let [a, b] = [0, 1].map(|input| {
        let (signed, width, frac) = operands[input as usize];
        builder.op(Op::Input { input }, Interval::from_width(signed, width, frac))
    });
    let c = builder.op(Op::Const { value: Code::from(constant) }, Interval::new(constant, constant, 3));
    let ends = operands.map(|(_, width, frac)| (width as i32 - frac, frac));
    let (op, end, frac) = match kind % 7 {
        0 => (Op::Add { a, b, shift }, ends[0].0.max(ends[1].0 + shift), ends[0].1.max(ends[1].1 - shift)),
        1 => (Op::Sub { a, b, shift }, ends[0].0.max(ends[1].0 + shift), ends[0].1.max(ends[1].1 - shift)),
        2 => (Op::Neg { x: a }, ends[0].0, ends[0].1),
        3 => (Op::AddConst { x: a, value: Code::from(constant), shift }, ends[0].0.max(20), ends[0].1.max(shift)),
        4 => (Op::Sub { a: c, b, shift }, ends[1].0 + shift, ends[1].1 - shift),
        5 => (Op::Add { a: b, b: c, shift }, ends[1].0, ends[1].1.max(3 - shift)),
        _ => (Op::Sub { a, b: a, shift }, ends[0].0 + shift.max(0), ends[0].1 - shift.min(0)),
    };
    let frac = frac - below;
    let width = (end + 2 - above + frac).max(1) as u32;
    let interval = Interval::from_width(kind & 128 != 0, width, frac);
    let z = builder.push(Node { op, interval, latency: 8.0, cost: 5.0, origin: 3 });
    let chosen = builder.op(Op::Mux { cond: z, on_true: a, on_false: b, shift: 0 }, Interval::from_width(true, 90, 9));
    for source in [z, chosen] {
        builder.output(Output { source: Some(source), shift: 0, neg: false });
    }
    builder.finish().unwrap_or_else(|p| panic!("{p:?}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn sums_in_runs_are_the_sums(
        kind: u8,
        operands in [factor(), factor()],
        shift in -40i32..40,
        constant in any::<i64>(),
        dropped in (-3i32..60, -3i32..9),
    ) {
        let before = sum(kind, operands, shift, constant, dropped);
        for name in passes::SHORTER_CHAINS {
            let (after, _) = passes::run(&before, &[name]);
            prop_assert_eq!(same(&before, &after, 5, 12), Ok(()));
            let extreme = [[false, false], [false, true], [true, false], [true, true]].map(|ends| {
                let code = |k: usize| {
                    let kif = before.input_kifs()[k];
                    if ends[k] { kif.max_code() } else { kif.min_code() }
                };
                [code(0), code(1)]
            });
            for inputs in extreme {
                let [expected, found] = [&before, &after].map(|m| golden(m, &inputs, LookupMiss::Zero));
                prop_assert_eq!(expected, found, "{:?}: {}", inputs, listing(&after));
            }
        }
    }
}

#[test]
fn long_sums_are_split_and_short_ones_are_not() {
    let chains = |kind: u8, width: u32, name: &str, dropped: (i32, i32)| {
        let model = sum(kind, [(false, width, 0), (false, width, 0)], 0, 0x1234_5678_9abc, dropped);
        let (after, _) = passes::run(&model, &[name]);
        assert!(after.nodes().iter().all(|n| n.latency <= 8.0 + 1e-9));
        assert_eq!(after.nodes().iter().map(|n| n.cost).sum::<f64>(), 5.0);
        // Each chain has a part of the time; what puts bits side by side has none.
        after.ids().filter(|&id| after.own_delay(id) > 0.0).count()
    };
    // 16 bits and a carry, or a sign.
    assert_eq!([chains(0, 16, "sums16", (0, 0)), chains(0, 16, "sums32", (0, 0))], [2, 1]);
    assert_eq!([chains(1, 40, "sums8", (0, 0)), chains(1, 40, "sums4", (0, 0))], [6, 11]);
    // A comparison: the sign alone is the result.
    assert_eq!(chains(129, 40, "sums16", (40, 1)), 3);
    assert_eq!(chains(2, 40, "sums16", (0, 0)), 3);
    assert_eq!(chains(3, 40, "sums16", (0, 0)), 3);
    // Side by side, nothing is added.
    let apart = sum(0, [(false, 40, 0), (false, 40, 0)], 40, 1, (0, 0));
    let after = passes::run(&apart, &["sums4"]).0;
    assert!(after.nodes().iter().map(|n| &n.op).eq(apart.nodes().iter().map(|n| &n.op)));
}

/// A lookup in a smooth table with some noise, which the random programs do not have: `a x^2 + b x + c` where the
/// entries count from `base`, read by an operand of which the table need not cover everything.
fn smooth_lookup(signed: bool, first: i64, len: usize, [a, b, c, noise]: [i64; 4], frac: i32) -> Model {
    let (lo, hi) = if signed { (-256, 255) } else { (0, 511) };
    let mut builder = Builder::new(vec![0]);
    let x = builder.op(Op::Input { input: 0 }, Interval::new(lo, hi, 3));
    let base = (lo + first).min(hi);
    let len = len.min((hi - base + 1) as usize);
    let mut rng = SplitMix::new(noise as u64);
    let entry = |i: i64| ((a * i * i) >> 9) + ((b * i) >> 4) + c;
    let entries: Vec<i32> = (0..len as i64).map(|i| (entry(i) + rng.below(noise as u64 + 1) as i64) as i32).collect();
    let ends = entries.iter().fold((0, 0), |(lo, hi), &v| (v.min(lo), v.max(hi)));
    let out = Interval::new(i64::from(ends.0), i64::from(ends.1), frac);
    let table = builder.table(Table { entries, out: out.clone(), hash: String::new(), inp_width: 9 });
    let y = builder.op(Op::Lookup { x, table, base: Code::from(base) }, out);
    builder.output(Output { source: Some(y), shift: 0, neg: false });
    builder.finish().unwrap_or_else(|p| panic!("{p:?}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn split_tables_read_the_same_for_every_code(
        signed: bool,
        first in 0i64..300,
        len in 100usize..512,
        coefficients in [-40i64..40, -40i64..40, -300i64..300, 0i64..6],
        frac in -2i32..6,
    ) {
        let before = smooth_lookup(signed, first, len, coefficients, frac);
        for names in [&["split"][..], &["split", "split"], &["tables", "split", "split", "dce"], passes::pipeline(2)] {
            let (after, _) = passes::run(&before, names);
            prop_assert_eq!(before.output_intervals(), after.output_intervals());
            let codes = if signed { -256i64..256 } else { 0..512 };
            for code in codes {
                let inputs = [code.into()];
                let (expected, found) =
                    (golden(&before, &inputs, LookupMiss::Zero), golden(&after, &inputs, LookupMiss::Zero));
                prop_assert_eq!(expected, found, "code {}: {}", code, listing(&after));
            }
        }
    }
}

/// A lookup of a straight line that was rounded down, `(a x + b) >> drop`, with as many of its words changed by one as
/// given; read by the sum of an input of `n` bits and a constant, or by the sum of two.
fn straight_lookup(
    bits: u32,
    of_sum: bool,
    first: i64,
    [a, b, drop]: [i64; 3],
    wrong: &[(u16, bool)],
    frac: i32,
) -> Model {
    let mut builder = Builder::new(vec![0; 2]);
    let most = (1i64 << bits) - 1;
    let inputs = [0, 1].map(|input| builder.op(Op::Input { input }, Interval::new(0, most, 3)));
    let (first, last) = if of_sum { (0, 2 * most) } else { (first, first + most) };
    let op = match of_sum {
        true => Op::Add { a: inputs[0], b: inputs[1], shift: 0 },
        false => Op::AddConst { x: inputs[0], value: Code::from(first), shift: 3 },
    };
    let x = builder.op(op, Interval::new(first, last, 3));
    let mut entries: Vec<i32> = (first..=last).map(|x| ((a * x + b) >> drop) as i32).collect();
    for &(at, up) in wrong {
        let at = usize::from(at) % entries.len();
        entries[at] += if up { 1 } else { -1 };
    }
    let (lo, hi) = entries.iter().fold((0, 0), |(lo, hi), &v| (v.min(lo), v.max(hi)));
    let out = Interval::new(i64::from(lo), i64::from(hi), frac);
    let table = builder.table(Table { entries, out: out.clone(), hash: String::new(), inp_width: i64::from(bits) });
    let y = builder.op(Op::Lookup { x, table, base: Code::from(first) }, out);
    builder.output(Output { source: Some(y), shift: 0, neg: false });
    builder.finish().unwrap_or_else(|p| panic!("{p:?}"))
}

fn lookups(model: &Model) -> usize {
    model.nodes().iter().filter(|node| matches!(node.op, Op::Lookup { .. })).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn straight_tables_read_the_same_for_every_code(
        of_sum: bool,
        first in -400i64..200,
        line in [-90i64..90, -3000i64..3000, 0i64..8],
        wrong in prop::collection::vec(any::<(u16, bool)>(), 0..3),
        frac in -2i32..6,
    ) {
        let before = straight_lookup(8, of_sum, first, line, &wrong, frac);
        for names in [&["slope"][..], &["tables", "slope", "simplify", "dce"], passes::pipeline(2)] {
            let (after, _) = passes::run(&before, names);
            prop_assert_eq!(before.output_intervals(), after.output_intervals());
            // Every code: with two inputs, one of them at either end.
            for code in 0..511i64 {
                let inputs = [code.min(255).into(), (code - code.min(255)).into()];
                let (expected, found) =
                    (golden(&before, &inputs, LookupMiss::Zero), golden(&after, &inputs, LookupMiss::Zero));
                prop_assert_eq!(expected, found, "code {}: {}", code, listing(&after));
            }
        }
    }
}

#[test]
fn straight_tables_become_sums_and_others_stay() {
    for (of_sum, line) in
        [(false, [5, 3, 2]), (true, [3, 0, 1]), (true, [-5, 900, 3]), (true, [19, 100, 4]), (false, [96, 0, 5])]
    {
        let sums = passes::run(&straight_lookup(11, of_sum, -100, line, &[], 2), &["slope", "dce"]).0;
        assert_eq!(lookups(&sums), 0, "{line:?}: {}", listing(&sums));
        let beside = straight_lookup(11, of_sum, -100, line, &[(77, true)], 2);
        assert_eq!(lookups(&passes::run(&beside, &["slope", "dce"]).0), 1, "{line:?}");
    }
}

/// Sums of sums of three small inputs whose types are what the values really take, or a bit less: only an analysis that
/// sees what cancels knows which of them wrap.
fn cancelling_sums(steps: &[(u8, u8, i32, bool, bool)]) -> Model {
    let mut builder = Builder::new(vec![0; 3]);
    let mut values: Vec<(alir2hdl::ir::ValueId, [i64; 3])> = (0..3)
        .map(|k| {
            let x = builder.op(Op::Input { input: k as u32 }, Interval::new(-4, 3, 0));
            (x, std::array::from_fn(|i| i64::from(i == k)))
        })
        .collect();
    for &(a, b, shift, neg, tight) in steps {
        let ((a, p), (b, q)) = (values[usize::from(a) % values.len()], values[usize::from(b) % values.len()]);
        let by = (1 << shift) * if neg { -1 } else { 1 };
        let sum: [i64; 3] = std::array::from_fn(|i| p[i] + by * q[i]);
        if sum.iter().any(|c| c.abs() > 1000) {
            continue;
        }
        let ends = |near: i64, far: i64| sum.iter().map(|&c| if c < 0 { c * far } else { c * near }).sum::<i64>();
        let (lo, hi) = (ends(-4, 3), ends(3, -4));
        let interval = if tight { Interval::new(lo, hi, 0) } else { Interval::new(lo / 2, hi / 2, 0) };
        let op = if neg { Op::Sub { a, b, shift } } else { Op::Add { a, b, shift } };
        let id = builder.op(op, interval);
        if tight {
            values.push((id, sum));
        }
        builder.output(Output { source: Some(id), shift: 0, neg: false });
    }
    builder.finish().unwrap_or_else(|p| panic!("{p:?}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, ..ProptestConfig::default() })]

    #[test]
    fn sums_that_cancel_keep_their_meaning(
        steps in prop::collection::vec(
            (any::<u8>(), any::<u8>(), 0i32..3, any::<bool>(), prop::bool::weighted(0.8)),
            1..30,
        ),
    ) {
        let before = cancelling_sums(&steps);
        for names in [&["ranges"][..], &["linear"], &["polarity"], passes::pipeline(1), passes::pipeline(2)] {
            let (after, _) = passes::run(&before, names);
            for code in 0..512i64 {
                let inputs = [0, 3, 6].map(|at| (((code >> at) & 7) - 4).into());
                let (expected, found) =
                    (golden(&before, &inputs, LookupMiss::Zero), golden(&after, &inputs, LookupMiss::Zero));
                prop_assert_eq!(expected, found, "code {}: {}", code, listing(&after));
            }
        }
    }
}

#[test]
fn what_cancels_is_not_counted_twice() {
    // (a + b) + (a - b) = 2a has the range of a, whatever the file declares.
    let mut builder = Builder::new(vec![0; 2]);
    let [a, b] = [0, 1].map(|input| builder.op(Op::Input { input }, Interval::new(-8, 7, 0)));
    let sum = builder.op(Op::Add { a, b, shift: 0 }, Interval::new(-16, 14, 0));
    let difference = builder.op(Op::Sub { a, b, shift: 0 }, Interval::new(-15, 15, 0));
    let twice = builder.op(Op::Add { a: sum, b: difference, shift: 0 }, Interval::new(-31, 29, 0));
    builder.output(Output { source: Some(twice), shift: 0, neg: false });
    let before = builder.finish().unwrap_or_else(|p| panic!("{p:?}"));
    let (after, _) = passes::run(&before, &["ranges"]);
    let width = |m: &Model| m.kif(m.outputs()[0].source.unwrap()).width();
    assert_eq!((width(&before), width(&after)), (6, 4));
}

/// `max(a - b, 0) + b` or `a - max(a - b, 0)`, whose difference and ReLU have the requested types.
fn extreme(smaller: bool, swapped: bool, difference: Interval, relu: Interval, out: Interval) -> Model {
    let mut builder = Builder::new(vec![0; 2]);
    let a = builder.op(Op::Input { input: 0 }, Interval::new(-8, 7, 0));
    let b = builder.op(Op::Input { input: 1 }, Interval::new(0, 15, 1));
    let x = builder.op(Op::Sub { a, b, shift: 0 }, difference);
    let x = builder.op(Op::Relu { x }, relu);
    let op = match (smaller, swapped) {
        (true, _) => Op::Sub { a, b: x, shift: 0 },
        (false, true) => Op::Add { a: x, b, shift: 0 },
        (false, false) => Op::Add { a: b, b: x, shift: 0 },
    };
    let y = builder.op(op, out);
    builder.output(Output { source: Some(y), shift: 0, neg: false });
    builder.finish().unwrap_or_else(|p| panic!("{p:?}"))
}

#[test]
fn sums_with_a_relu_of_a_difference_are_minima_and_maxima() {
    // In halves: a - b takes -31 to 14.
    let types =
        [(-31, 14, 1), (-32, 31, 1), (-16, 15, 1), (0, 31, 1), (-8, 7, 0)].map(|(lo, hi, f)| Interval::new(lo, hi, f));
    let mut chosen = 0;
    for (smaller, swapped) in [(false, false), (false, true), (true, false)] {
        for difference in &types {
            for relu in &types {
                for out in &types {
                    let before = extreme(smaller, swapped, difference.clone(), relu.clone(), out.clone());
                    let (after, _) = passes::run(&before, &["simplify"]);
                    chosen += u32::from(after.nodes().iter().any(|n| matches!(n.op, Op::Mux { .. })));
                    for code in 0..256i64 {
                        let inputs = [((code & 15) - 8).into(), (code >> 4).into()];
                        let [expected, found] = [&before, &after].map(|m| golden(m, &inputs, LookupMiss::Zero));
                        assert_eq!(expected, found, "{difference:?} {relu:?} {out:?} {inputs:?}: {}", listing(&after));
                    }
                }
            }
        }
    }
    // Two types hold the difference, four the ReLU of it.
    assert_eq!(chosen, 3 * 2 * 4 * 5);
}

/// Every input of programs that round what a ReLU gives, whatever wraps or is dropped on the way; and that there are
/// many in which the addition moves to before the ReLU.
#[test]
fn rounding_before_a_relu_is_rounding_behind_it() {
    let mut moved = 0;
    for seed in 0..4000 {
        let before = random::rounded::program(seed);
        let (after, _) = passes::run(&before, &["rounding"]);
        let (whole, _) = passes::run(&before, passes::pipeline(2));
        moved += u32::from(after != before);
        let kif = before.input_kifs()[0];
        for code in 0..1i64 << kif.width() {
            let inputs = [(code - if kif.signed { 1 << (kif.width() - 1) } else { 0 }).into()];
            let [expected, found, best] = [&before, &after, &whole].map(|m| golden(m, &inputs, LookupMiss::Zero));
            assert_eq!(expected, found, "seed {seed}, {inputs:?}: {}", listing(&after));
            assert_eq!(expected, best, "seed {seed}, {inputs:?}: {}", listing(&whole));
        }
    }
    assert!(moved > 400, "moved in {moved} programs only");
}

/// A bias, a ReLU and a rounding: one adder is left, and the ReLU has no bit more than the result.
#[test]
fn a_rounding_joins_the_bias_before_the_relu() {
    let mut builder = Builder::new(vec![0]);
    let x = builder.op(Op::Input { input: 0 }, Interval::new(-128, 127, 4));
    let x = builder.op(Op::AddConst { x, value: Code::from(5), shift: 4 }, Interval::new(-123, 132, 4));
    let x = builder.op(Op::Relu { x }, Interval::new(0, 132, 4));
    let x = builder.op(Op::AddConst { x, value: Code::from(1), shift: 2 }, Interval::new(4, 136, 4));
    let x = builder.op(Op::Quantise { x, shift: 0 }, Interval::new(0, 15, 1));
    builder.output(Output { source: Some(x), shift: 0, neg: false });
    let before = builder.finish().unwrap_or_else(|p| panic!("{p:?}"));
    let (after, _) = passes::run(&before, passes::pipeline(1));
    let constants: Vec<_> = after.nodes().iter().filter(|n| matches!(n.op, Op::AddConst { .. })).collect();
    assert_eq!(constants.len(), 1, "{}", listing(&after));
    assert!(matches!(&constants[0].op, Op::AddConst { value, shift: 4, .. } if *value == Code::from(9)));
    let relu = after.ids().find(|id| matches!(after.node(*id).op, Op::Relu { .. })).unwrap();
    assert_eq!(after.kif(relu).width(), 4, "{}", listing(&after));
}

/// Drops genes as long as the program still fails: quicker than general shrinking for long runs.
fn smallest(mut recipe: Recipe, fails: impl Fn(&Recipe) -> bool) -> Recipe {
    let mut at = 0;
    while at < recipe.genes.len() {
        let mut shorter = recipe.clone();
        shorter.genes.remove(at);
        if !shorter.genes.is_empty() && fails(&shorter) {
            recipe = shorter;
            at = 0;
        } else {
            at += 1;
        }
    }
    recipe
}

#[test]
fn many_seeded_programs_keep_their_meaning() {
    let programs = std::env::var("ALIR2HDL_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
    let mut lists: Vec<Vec<&str>> = PASSES.iter().map(|p| vec![p.name]).collect();
    lists.extend([passes::pipeline(1).to_vec(), passes::pipeline(2).to_vec()]);
    for seed in 0..programs {
        let mut rng = SplitMix::new(seed);
        let (_, profile) = Profile::ALL[rng.below(Profile::ALL.len() as u64) as usize];
        let recipe = Recipe::seeded(profile, 1 + rng.below(40) as usize, rng.word());
        for names in &lists {
            let fails = |r: &Recipe| std::panic::catch_unwind(|| hold(r, names, 8)).is_ok_and(|held| held.is_err());
            if hold(&recipe, names, 8).is_err() {
                let small = smallest(recipe, fails);
                panic!("{small:?}\n{}", hold(&small, names, 8).expect_err("it failed before"));
            }
        }
    }
}

#[test]
fn passes_find_something_to_do() {
    // A test that compares programs with themselves would notice nothing.
    // Random programs have few sums of narrow values; the test next to `bitsums` counts what it changes.
    for pass in PASSES.iter().filter(|pass| !pass.name.starts_with("bitsums")) {
        let changed = (0..400).filter(|&seed| {
            let changes = |before: Model| pass.apply(&before, Trust::Types) != before;
            let rounded_or_chosen = [random::rounded::program, random::choices::program];
            changes(random::model(seed)) || rounded_or_chosen.into_iter().any(|program| changes(program(seed)))
        });
        assert!(changed.count() > 4, "{} never does anything", pass.name);
    }
}

/// The program with declared intervals that are true whenever those of the inputs are: the whole type for operations, a
/// part of it for inputs.
fn truthful(model: &Model, rng: &mut SplitMix) -> Model {
    let mut builder = Builder::like(model);
    for node in model.nodes() {
        let mut node = node.clone();
        let kif = node.interval.kif();
        match node.op {
            Op::Const { .. } => {}
            _ if kif.is_zero() => {}
            Op::Input { input } if kif == model.input_kifs()[input as usize] && kif.width() < 40 => {
                // The smallest code, and one in the upper half: the type stays.
                let full = Interval::full(kif);
                let (min, max) = (full.min.to_big(), full.max.to_big());
                let half = (&max - &min) / 2;
                let less = rng.bits(kif.width()) % (half + 1);
                let partial = Interval::new(min, max - less, kif.frac);
                node.interval = if partial.kif() == kif { partial } else { full };
            }
            _ => node.interval = Interval::full(kif),
        }
        builder.push(node);
    }
    for out in model.outputs() {
        builder.output(*out);
    }
    builder.finish().unwrap_or_else(|p| panic!("{p:?}"))
}

#[test]
fn assumed_intervals_keep_the_meaning_inside_them() {
    let (mut compared, mut narrower) = (0, 0);
    for seed in 0..160 {
        let mut rng = SplitMix::new(seed);
        let mut before = truthful(&random::model(seed), &mut rng);
        if seed % 2 == 1 {
            // The tightest intervals that are true.
            before = passes::run(&before, &["ranges"]).0;
        }
        let Ok(samples) = Vectors::generate_inside(&before, 20, seed) else { continue };
        let mut lists: Vec<Vec<&str>> = PASSES.iter().map(|p| vec![p.name]).collect();
        lists.extend([passes::pipeline(1).to_vec(), passes::pipeline(2).to_vec()]);
        for names in lists {
            let (after, _) = passes::run_trusting(&before, &names, Trust::Intervals);
            assert_eq!(before.input_kifs(), after.input_kifs());
            for sample in 0..samples.inputs.len() {
                let inputs = samples.inputs.row(sample);
                let found = golden(&after, inputs, LookupMiss::Zero);
                let expected = golden(&before, inputs, LookupMiss::Zero);
                assert_eq!(expected, found, "seed {seed}, {names:?}, {inputs:?}: {}", listing(&after));
            }
            compared += 1;
        }
        let bits = |model: &Model| model.kifs().iter().map(|k| u64::from(k.width())).sum::<u64>();
        let trusting = passes::run_trusting(&before, passes::pipeline(1), Trust::Intervals).0;
        narrower += usize::from(bits(&trusting) < bits(&passes::run(&before, passes::pipeline(1)).0));
    }
    assert!(compared > 500 && narrower > 5, "{compared} {narrower}");
}

#[test]
fn tables_of_every_shape_keep_their_words() {
    for seed in 0..400 {
        let before = random::tables::program(seed);
        for names in [&["mirror"], &["ranges", "tables"][..], passes::pipeline(1), passes::pipeline(2)] {
            let (after, _) = passes::run(&before, names);
            assert_eq!(same(&before, &after, seed, 150), Ok(()), "seed {seed}, {names:?}: {}", listing(&after));
        }
    }
}
