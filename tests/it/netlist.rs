//! The netlist has the semantics of the program: lowering and the netlist evaluator against the reference interpreter,
//! on random programs with random schedules, every kind of port and control signal.

use alir_testing::random::{self, Profile, Recipe, SplitMix};
use alir2hdl::interp::{LookupMiss, golden};
use alir2hdl::ir::{Builder, Labels, Model, Op, Output, Table, TableId, Term, ValueId};
use alir2hdl::netlist::{
    Adders, Cell, Evaluator, Fabric, Multipliers, Netlist, Options, PortNames, Ports, ResetOptions, lower,
};
use alir2hdl::num::{Code, Interval};
use alir2hdl::schedule::{self, Schedule};
use num_bigint::{BigInt, BigUint};
use proptest::prelude::*;

/// Names of values, many of which clash with one another, with names of nets or with those of ports.
fn labels(rng: &mut SplitMix) -> Labels {
    const NAMES: [&str; 12] = [
        "crc",
        "CRC",
        "crc_s1",
        "crc a",
        "data[0]",
        "data",
        "data_0_2",
        "v3",
        "model_inp",
        "model",
        "signal",
        "rom0_crc",
    ];
    let mut labels = Labels::default();
    for _ in 0..rng.below(12) {
        labels.values.push((rng.below(30) as u32, NAMES[rng.below(NAMES.len() as u64) as usize].into()));
    }
    labels
}

/// A legal schedule that no scheduler would choose.
fn random_schedule(model: &Model, rng: &mut SplitMix) -> Schedule {
    schedule::random(model, rng.below(5) as u32, rng.below(2) == 1, rng.word())
}

fn random_options(rng: &mut SplitMix) -> Options {
    let reset = match rng.below(3) {
        0 => None,
        kind => Some(ResetOptions { asynchronous: kind == 2, active_high: rng.below(2) == 1, data: rng.below(2) == 1 }),
    };
    // Names that clash with words of the languages, with one another and with the names of nets.
    let wishes = ["V3", "rom0", "signal", "model_inp", "in1", "valid_s1", "a__b", "V3_net", "inp"];
    let mut names = PortNames::default();
    let all = [&mut names.clock, &mut names.valid_in, &mut names.enable, &mut names.inputs, &mut names.output_prefix];
    for name in all {
        if rng.below(4) == 0 {
            *name = wishes[rng.below(wishes.len() as u64) as usize].into();
        }
    }
    Options {
        top: if rng.below(4) == 0 { "v3".into() } else { "model".into() },
        names,
        ports: if rng.below(2) == 1 { Ports::Split } else { Ports::Packed },
        ready: false,
        valid: rng.below(2) == 1,
        enable: rng.below(2) == 1,
        reset,
        fabric: Fabric {
            multipliers: match rng.below(4) {
                0 => Multipliers::Synthesiser,
                1 => Multipliers::Rows,
                // Small blocks, so that random products take several.
                _ => Multipliers::Blocks { longer: 2 + rng.below(7) as u32, shorter: 2 + rng.below(5) as u32 },
            },
            table_inputs: if rng.below(2) == 0 { 4 } else { 6 },
            adders: [Adders::Two, Adders::Sums, Adders::Three][rng.below(3) as usize],
            start_addresses: rng.below(2) == 0,
            differences: rng.below(2) == 0,
        },
        labels: labels(rng).into(),
        languages: alir2hdl::netlist::Languages::BOTH,
    }
}

/// Feeds a new sample every cycle and compares each result with the reference interpreter's.
fn compare_fast(model: &Model, schedule: &Schedule, options: &Options, rng: &mut SplitMix, samples: usize) {
    let netlist = lowered(model, schedule, options);
    compare_with(Evaluator::new(&netlist), model, rng, samples);
}

/// Compares both paths of the evaluator with the reference interpreter.
fn compare(model: &Model, schedule: &Schedule, options: &Options, rng: &mut SplitMix, samples: usize) {
    let netlist = lowered(model, schedule, options);
    let mut same = SplitMix::new(rng.word());
    compare_with(Evaluator::new(&netlist), model, &mut same.clone(), samples);
    compare_with(Evaluator::plain(&netlist), model, &mut same, samples);
}

fn lowered(model: &Model, schedule: &Schedule, options: &Options) -> Netlist {
    let netlist = lower(model, schedule, options);
    netlist.check().unwrap_or_else(|p| panic!("{p:?}"));
    netlist.check_pipeline().unwrap_or_else(|p| panic!("{p:?}"));
    netlist
}

fn compare_with(mut evaluator: Evaluator<'_>, model: &Model, rng: &mut SplitMix, samples: usize) {
    let interface = evaluator.netlist().interface.clone();
    let latency = interface.latency as usize;
    release(&mut evaluator, &interface);
    let mut expected: Vec<Vec<BigInt>> = Vec::new();
    for cycle in 0..samples + latency {
        let codes = random::inputs(model, rng);
        expected.push(golden(model, &codes, LookupMiss::Zero).expect("misses read zero"));
        let found = evaluator.clock(&codes);
        if cycle + 1 >= latency {
            let due = if latency == 0 { cycle } else { cycle + 1 - latency };
            assert_eq!(found, expected[due], "sample {due}, inputs {codes:?}");
        }
    }
}

/// Control inputs at rest: not in reset, enabled, valid.
fn release(evaluator: &mut Evaluator, interface: &alir2hdl::netlist::Interface) {
    if let Some(reset) = &interface.reset {
        evaluator.set_port(reset, &BigUint::from(u8::from(!interface.reset_active_high)));
    }
    if let Some(enable) = &interface.enable {
        evaluator.set_port(enable, &BigUint::from(1u8));
    }
    if let Some((valid, _)) = &interface.valid {
        evaluator.set_port(valid, &BigUint::from(1u8));
    }
}

#[test]
fn random_programs_in_any_pipeline_equal_the_golden_interpreter() {
    for seed in 0..1500 {
        let model = random::model(seed);
        let mut rng = SplitMix::new(seed);
        let schedule = random_schedule(&model, &mut rng);
        let options = random_options(&mut rng);
        let run = std::panic::AssertUnwindSafe(|| compare(&model, &schedule, &options, &mut rng, 8));
        if let Err(panic) = std::panic::catch_unwind(run) {
            eprintln!("seed {seed}");
            std::panic::resume_unwind(panic);
        }
    }
}

/// A square of which the bits above `frac` fractional ones and below `width` are kept.
fn square(x: Interval, frac: i32, width: u32, signed: bool) -> Model {
    let mut builder = Builder::new(vec![0]);
    let x = builder.op(Op::Input { input: 0 }, x);
    let half = BigInt::from(1) << (width - u32::from(signed));
    let out = Interval::new(if signed { -half.clone() } else { BigInt::ZERO }, half - 1, frac);
    let id = builder.op(Op::Mul { a: x, b: x }, out);
    builder.output(Output { source: Some(id), shift: 0, neg: false });
    builder.finish().unwrap_or_else(|p| panic!("{p:?}"))
}

/// Compares a product in rows of adders, in a chain of them and in a tree, with the reference interpreter for all
/// codes.
fn product_in_rows(model: &Model, codes: &[Vec<BigInt>], what: &str) {
    for table_inputs in [4, 6] {
        let schedule = Schedule::combinational(model.nodes().len());
        let fabric = Fabric { multipliers: Multipliers::Rows, table_inputs, ..Fabric::default() };
        let netlist = lowered(model, &schedule, &Options { fabric, ..Options::default() });
        let mut evaluator = Evaluator::new(&netlist);
        for codes in codes {
            let expected = golden(model, codes, LookupMiss::Zero).expect("misses read zero");
            assert_eq!(evaluator.clock(codes), expected, "{codes:?}: {what}, {table_inputs} inputs");
        }
    }
}

fn ends(width: u32, signed: bool) -> (i64, i64) {
    if signed { (-(1 << (width - 1)), (1i64 << (width - 1)) - 1) } else { (0, (1 << width) - 1) }
}

#[test]
fn squares_in_rows_are_squares() {
    for width in 1..=9u32 {
        for signed in [false, true] {
            let (lo, hi) = ends(width, signed);
            let codes: Vec<Vec<BigInt>> = (lo..=hi).map(|code| vec![BigInt::from(code)]).collect();
            for frac in [2, 4, 5] {
                for kept in 1..=2 * width + 1 {
                    let model = square(Interval::new(lo, hi, 2), frac, kept, signed);
                    product_in_rows(&model, &codes, &format!("{width} {signed} {frac} {kept}"));
                }
            }
        }
    }
}

#[test]
fn products_in_rows_are_products() {
    // Both widths and signs, all codes; as many low bits as a smaller width and all of them.
    for (wide, narrow) in [(2, 2), (3, 2), (3, 3), (4, 3), (4, 4), (5, 4), (6, 3), (5, 5), (6, 6), (8, 3), (3, 9)] {
        for signs in [(false, false), (false, true), (true, false), (true, true)] {
            let (x, y) = (ends(wide, signs.0), ends(narrow, signs.1));
            let codes: Vec<Vec<BigInt>> =
                (x.0..=x.1).flat_map(|a| (y.0..=y.1).map(move |b| vec![BigInt::from(a), BigInt::from(b)])).collect();
            for kept in [wide.min(narrow), wide + narrow - 1, wide + narrow + 1] {
                let mut builder = Builder::new(vec![0, 0]);
                let a = builder.op(Op::Input { input: 0 }, Interval::new(x.0, x.1, 2));
                let b = builder.op(Op::Input { input: 1 }, Interval::new(y.0, y.1, 0));
                let half = 1i64 << (kept - 1);
                let id = builder.op(Op::Mul { a, b }, Interval::new(-half, half - 1, 2));
                builder.output(Output { source: Some(id), shift: 0, neg: false });
                let model = builder.finish().unwrap_or_else(|p| panic!("{p:?}"));
                product_in_rows(&model, &codes, &format!("{wide} {narrow} {signs:?} {kept}"));
            }
        }
    }
}

/// Returns the numbers of adders of two and of three operands in a combinational netlist.
fn adders(netlist: &Netlist) -> (usize, usize) {
    let count = |is: fn(&Cell) -> bool| netlist.nets().iter().filter(|net| is(&net.cell)).count();
    (count(|c| matches!(c, Cell::Add { .. } | Cell::Sub { .. })), count(|c| matches!(c, Cell::Three { .. })))
}

#[test]
fn a_long_factor_is_not_recoded_for_the_sake_of_a_short_one() {
    for table_inputs in [4, 6] {
        for (long, short, rows) in [(64, 4, 3), (64, 6, 4), (30, 7, 4)] {
            for swapped in [false, true] {
                let mut builder = Builder::new(vec![0, 0]);
                let types = [Interval::from_width(true, long, 0), Interval::from_width(false, short, 0)];
                let ids = [0u32, 1].map(|i| builder.op(Op::Input { input: i }, types[i as usize].clone()));
                let [a, b] = if swapped { [ids[1], ids[0]] } else { ids };
                let id = builder.op(Op::Mul { a, b }, Interval::from_width(true, long + short, 0));
                builder.output(Output { source: Some(id), shift: 0, neg: false });
                let model = builder.finish().unwrap_or_else(|p| panic!("{p:?}"));
                let fabric = Fabric { multipliers: Multipliers::Rows, table_inputs, ..Fabric::default() };
                let schedule = Schedule::combinational(model.nodes().len());
                let netlist = lowered(&model, &schedule, &Options { fabric, ..Options::default() });
                let (two, _) = adders(&netlist);
                assert!(two <= rows, "{long} by {short} bits: {two} adders");
            }
        }
    }
}

fn with_adders(adders: Adders) -> Options {
    Options { fabric: Fabric { adders, ..Fabric::default() }, ..Options::default() }
}

#[test]
fn sums_of_many_terms_take_adders_of_three() {
    let mut rng = SplitMix::new(7);
    for n in 2..=12usize {
        for _ in 0..20 {
            let mut builder = Builder::new(vec![0; n]);
            let x: Vec<ValueId> =
                (0..n).map(|i| builder.op(Op::Input { input: i as u32 }, Interval::new(-128, 127, 2))).collect();
            let mut terms: Vec<Term> =
                x.iter().map(|&value| Term { value, shift: rng.below(5) as i32, neg: rng.below(2) == 1 }).collect();
            terms[rng.below(n as u64) as usize].neg = false;
            let all = builder.op(Op::Sum { terms: terms.into() }, Interval::new(-(1 << 17), (1 << 17) - 1, 2));
            builder.output(Output { source: Some(all), shift: 0, neg: false });
            let model = builder.finish().unwrap_or_else(|p| panic!("{p:?}"));
            let schedule = Schedule::combinational(model.nodes().len());
            for adders in [Adders::Two, Adders::Sums, Adders::Three] {
                compare(&model, &schedule, &with_adders(adders), &mut rng, 20);
            }
            let two = lowered(&model, &schedule, &with_adders(Adders::Two));
            assert_eq!(self::adders(&two), (n - 1, 0));
            let three = lowered(&model, &schedule, &with_adders(Adders::Sums));
            assert_eq!(self::adders(&three), ((n - 1) % 2, (n - 1) / 2));
        }
    }
}

/// `z - (x - y)` and the like where the type of `x - y` has no sign, since `y` is part of `x`.
#[test]
fn an_inner_difference_without_a_sign_keeps_its_meaning() {
    let mut rng = SplitMix::new(5);
    for (outer, shift) in [(0, 0), (1, 0), (2, 0), (0, 2), (1, 2), (2, 2)] {
        let mut b = Builder::new(vec![0; 2]);
        let [x, z] = [0, 1].map(|input| b.op(Op::Input { input }, Interval::new(0, 255, 0)));
        let y = b.op(Op::Quantise { x, shift: -2 }, Interval::new(0, 63, 0));
        let y = b.op(Op::Quantise { x: y, shift: 2 }, Interval::new(0, 252, 0));
        let inner = b.op(Op::Sub { a: x, b: y, shift: 0 }, Interval::new(0, 255, 0));
        let whole = match outer {
            0 => Op::Sub { a: z, b: inner, shift },
            1 => Op::Sub { a: inner, b: z, shift },
            _ => Op::Add { a: z, b: inner, shift },
        };
        let whole = b.op(whole, Interval::new(-4096, 4095, 0));
        b.output(Output { source: Some(whole), shift: 0, neg: false });
        let model = b.finish().unwrap_or_else(|p| panic!("{p:?}"));
        let schedule = Schedule::combinational(model.nodes().len());
        compare(&model, &schedule, &with_adders(Adders::Three), &mut rng, 100);
    }
}

/// Two sums, one of the other; `second` says what else reads the inner one, `inner` its type.
fn sum_of_sum(op: usize, inner: Interval, second: bool) -> Model {
    let mut b = Builder::new(vec![0; 3]);
    let [x, y, z] = [0, 1, 2].map(|input| b.op(Op::Input { input }, Interval::new(-100, 100, 1)));
    let first = match op % 3 {
        0 => Op::Add { a: x, b: y, shift: 1 },
        1 => Op::Sub { a: x, b: y, shift: 1 },
        _ => Op::AddConst { x, value: Code::from(-37), shift: 1 },
    };
    let first = b.op(first, inner);
    let whole = match op / 3 {
        0 => Op::Add { a: first, b: z, shift: -1 },
        1 => Op::Sub { a: z, b: first, shift: 2 },
        2 => Op::Sub { a: first, b: z, shift: 0 },
        _ => Op::AddConst { x: first, value: Code::from(101), shift: 2 },
    };
    let whole = b.op(whole, Interval::new(-4096, 4095, 2));
    b.output(Output { source: Some(whole), shift: 0, neg: false });
    if second {
        b.output(Output { source: Some(first), shift: 0, neg: false });
    }
    b.finish().unwrap_or_else(|p| panic!("{p:?}"))
}

#[test]
fn a_sum_that_one_sum_reads_is_made_within_its_adder() {
    let (all, cut, floored) = (Interval::new(-300, 300, 1), Interval::new(-256, 255, 1), Interval::new(-150, 150, 0));
    let mut rng = SplitMix::new(3);
    for op in 0..12 {
        for (inner, second, together) in [
            (&all, false, true),
            (&all, true, false),
            // What the inner sum wraps or drops is missing from the outer one. With a constant it does not wrap.
            (&cut, false, op % 3 == 2),
            (&floored, false, false),
        ] {
            let model = sum_of_sum(op, inner.clone(), second);
            let one =
                Schedule { stages: 2, register_inputs: true, register_outputs: false, stage: vec![1, 1, 1, 1, 1] };
            let apart = Schedule { stage: vec![1, 1, 1, 1, 2], ..one.clone() };
            for (schedule, same) in [(&one, true), (&apart, false)] {
                let options = with_adders(Adders::Three);
                compare(&model, schedule, &options, &mut rng, 40);
                let (two, three) = adders(&lowered(&model, schedule, &options));
                let case = format!("{op} {inner:?} {second} {same}");
                // Two constants in a row are one.
                let constant = op % 3 == 2 && op / 3 == 3;
                match together && same {
                    true if !constant => assert_eq!((two, three), (0, 1), "{case}"),
                    true => assert!(two <= 2 && three == 0, "{case}"),
                    false => assert_eq!(three, 0, "{case}"),
                }
                let none = adders(&lowered(&model, schedule, &with_adders(Adders::Sums)));
                assert_eq!(none.1, 0, "{case}");
            }
        }
    }
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let profile = prop::sample::select(Profile::ALL.map(|(_, p)| p).to_vec());
    (profile, prop::collection::vec(any::<random::Gene>(), 1..24))
        .prop_map(|(profile, genes)| Recipe::new(profile, genes))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]
    #[test]
    fn small_programs_shrink(recipe in recipe(), seed in any::<u64>()) {
        let model = recipe.build();
        let mut rng = SplitMix::new(seed);
        compare(&model, &Schedule::combinational(model.nodes().len()), &Options::default(), &mut rng, 4);
        let schedule = random_schedule(&model, &mut rng);
        compare(&model, &schedule, &Options::default(), &mut rng, 4);
    }
}

/// A pipeline under random stalls, bubbles and resets: what comes out with `valid_out` is the result of what went in
/// with `valid_in`, in order, none lost and none doubled.
#[test]
fn valid_results_survive_random_stalls() {
    for seed in 0..200 {
        let model = random::model(seed);
        let mut rng = SplitMix::new(seed);
        let schedule = random_schedule(&model, &mut rng);
        let reset = Some(ResetOptions { asynchronous: seed % 2 == 1, active_high: seed % 3 == 1, data: seed % 5 < 2 });
        let options = Options { valid: true, enable: true, reset, ..Options::default() };
        let netlist = lower(&model, &schedule, &options);
        let interface = netlist.interface.clone();
        let Some((valid_in, valid_out)) = &interface.valid else { panic!("valid ports were asked for") };
        let mut evaluator = Evaluator::new(&netlist);
        release(&mut evaluator, &interface);
        let mut waiting = std::collections::VecDeque::new();
        for _ in 0..60 {
            let (valid, enabled) = (rng.below(3) > 0, rng.below(3) > 0);
            let resets = rng.below(20) == 0;
            let codes = random::inputs(&model, &mut rng);
            evaluator.set_port(valid_in, &BigUint::from(u8::from(valid)));
            if interface.clock.is_some() {
                evaluator.set_port("ce", &BigUint::from(u8::from(enabled)));
                evaluator.set_port("rst", &BigUint::from(u8::from(resets == interface.reset_active_high)));
            }
            let steps = interface.clock.is_none() || (enabled && !resets);
            if steps {
                let due = golden(&model, &codes, LookupMiss::Zero).expect("misses read zero");
                waiting.push_back(valid.then_some(due));
            }
            if resets && interface.clock.is_some() {
                waiting.iter_mut().for_each(|w| *w = None);
            }
            let found = evaluator.clock(&codes);
            let shows = evaluator.get_port(valid_out) == BigUint::from(1u8);
            let depth = interface.latency as usize;
            if waiting.len() < depth.max(1) {
                assert!(!shows, "seed {seed}: nothing can have arrived yet");
                continue;
            }
            // The register shows the last result until the next step.
            match &waiting[waiting.len() - depth.max(1)] {
                Some(due) => assert_eq!((shows, &found), (true, due), "seed {seed}"),
                None => assert!(!shows, "seed {seed}"),
            }
        }
    }
}

/// A constant takes no register, and a module without registers no clock; the latency is still the schedule's.
#[test]
fn constant_pipelines_have_no_clock() {
    let model = constant_model();
    let schedule = Schedule { stages: 3, register_inputs: true, register_outputs: false, stage: vec![1] };
    let options = Options {
        enable: true,
        reset: Some(ResetOptions { asynchronous: false, active_high: true, data: true }),
        ..Options::default()
    };
    let netlist = lower(&model, &schedule, &options);
    assert_eq!((netlist.interface.clock.as_deref(), netlist.interface.latency), (None, 4));
    assert_eq!(netlist.ports().iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["model_out"]);
    assert_eq!(Evaluator::new(&netlist).outputs(), [BigInt::from(5)]);
    let valid = lower(&model, &schedule, &Options { valid: true, ..options });
    assert_eq!((valid.interface.clock.as_deref(), valid.register_bits()), (Some("clk"), 4));
}

fn constant_model() -> Model {
    let mut b = Builder::new(vec![]);
    let five = b.op(Op::Const { value: Code::from(5) }, Interval::new(5, 5, 0));
    b.output(Output { source: Some(five), shift: 0, neg: false });
    b.finish().expect("a valid program")
}

/// A value, its upper half and its sign-extended copy, all used two stages later: each bit is held once.
#[test]
fn copies_share_their_register_bits() {
    let mut b = Builder::new(vec![0]);
    let x = b.op(Op::Input { input: 0 }, Interval::new(-128, 127, 0));
    let upper = b.op(Op::Quantise { x, shift: 0 }, Interval::new(-8, 7, -4));
    let wide = b.op(Op::Quantise { x, shift: 0 }, Interval::new(-2048, 2047, 0));
    let scaled = b.op(Op::Quantise { x: upper, shift: 2 }, Interval::new(-128, 127, 0));
    let sum = b.op(Op::Add { a: upper, b: wide, shift: 0 }, Interval::new(-4096, 4095, 0));
    let all = b.op(Op::Add { a: sum, b: scaled, shift: 0 }, Interval::new(-8192, 8191, 0));
    b.output(Output { source: Some(all), shift: 0, neg: false });
    let model = b.finish().expect("a valid program");
    let schedule =
        Schedule { stages: 3, register_inputs: true, register_outputs: false, stage: vec![1, 1, 2, 2, 3, 3] };
    let netlist = lower(&model, &schedule, &Options::default());
    // Eight input bits at boundaries 0, 1 and 2, and what the sum makes of them at boundary 3: the low four bits of the
    // input pass through it, and beyond ten bits it only repeats its sign.
    assert_eq!(netlist.stage_register_bits(), [8, 8, 8, 14]);
}

/// Only what an output shows in the end is computed and held.
#[test]
fn bits_that_a_wrap_drops_are_neither_computed_nor_held() {
    let mut b = Builder::new(vec![0, 0]);
    let x = b.op(Op::Input { input: 0 }, Interval::new(0, 255, 0));
    let y = b.op(Op::Input { input: 1 }, Interval::new(0, 255, 0));
    let sum = b.op(Op::Add { a: x, b: y, shift: 0 }, Interval::new(0, 510, 0));
    let low = b.op(Op::Quantise { x: sum, shift: 0 }, Interval::new(0, 7, 0));
    b.output(Output { source: Some(low), shift: 0, neg: false });
    let model = b.finish().expect("a valid program");
    let schedule = Schedule { stages: 2, register_inputs: true, register_outputs: false, stage: vec![1, 1, 2, 2] };
    let netlist = lower(&model, &schedule, &Options::default());
    assert_eq!(netlist.stage_register_bits(), [6, 6, 3]);
    assert!(netlist.nets().iter().all(|n| n.width == 3), "{:?}", netlist.nets());
}

/// Every version 4 model file of the shared test data.
fn model_files() -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/models"))];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the shared models") {
            let path = entry.expect("a readable entry").path();
            // Other formats and stateful designs have their own tests.
            if path.is_dir() && !path.ends_with("dais") && !path.ends_with("fsm") {
                folders.push(path);
            } else if path.file_name().is_some_and(|n| n == "model.json" || n == "model.json.gz") {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(files.len() > 15, "{} model files", files.len());
    files
}

#[test]
fn every_shared_model_equals_the_golden_interpreter() {
    for (seed, path) in (0..).zip(model_files()) {
        let (model, _) = alir2hdl::formats::read_path(&path, &Default::default(), None)
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let samples = (10_000 / model.nodes().len()).clamp(1, 20);
        let mut rng = SplitMix::new(seed);
        println!("{}", path.display());
        for stages in [0, 3, 7] {
            let schedule = schedule::random(&model, stages, stages == 3, seed);
            compare_fast(&model, &schedule, &Options::default(), &mut rng, samples);
        }
    }
}

/// Passes narrow types inside and leave the ports as they are: what lowering makes of the result still means the
/// program that was read.
#[test]
fn optimised_programs_keep_their_ports_and_meaning() {
    let names = alir2hdl::passes::pipeline(2);
    for seed in 0..400 {
        let model = random::model(seed);
        let (optimised, _) = alir2hdl::passes::run(&model, names);
        let mut rng = SplitMix::new(seed);
        let schedule = random_schedule(&optimised, &mut rng);
        let netlist = lowered(&optimised, &schedule, &Options::default());
        let plain = lower(&model, &Schedule::combinational(model.nodes().len()), &Options::default());
        assert_eq!(netlist.interface.inputs, plain.interface.inputs, "seed {seed}");
        assert_eq!(netlist.interface.outputs, plain.interface.outputs, "seed {seed}");
        compare_with(Evaluator::new(&netlist), &model, &mut rng, 6);
    }
}

/// A program of one operation on two inputs, compared on random and corner samples.
fn one_operation(inputs: [Interval; 2], tables: Vec<Table>, out: Interval, make: impl Fn([ValueId; 2]) -> Op) -> Model {
    let mut b = Builder::new(vec![0; 2]);
    tables.into_iter().for_each(|t| {
        b.table(t);
    });
    let [x, y] = [0, 1].map(|i| b.op(Op::Input { input: i }, inputs[i as usize].clone()));
    let result = b.op(make([x, y]), out);
    b.output(Output { source: Some(result), shift: 0, neg: false });
    let model = b.finish().unwrap_or_else(|p| panic!("{p:?}"));
    let combinational = Schedule::combinational(model.nodes().len());
    compare(&model, &combinational, &Options::default(), &mut SplitMix::new(1), 40);
    model
}

/// Operands that do not overlap are put side by side, at the largest shifts there are and in both directions.
#[test]
fn far_shifts_cost_wires_only() {
    let byte = || Interval::new(0, 255, 0);
    for shift in [-4096, 4096] {
        let (low, high) = if shift > 0 { (0, shift) } else { (shift, 0) };
        let max = (BigInt::from(255) << (high - low) as u64) + 255;
        let model =
            one_operation([byte(), byte()], vec![], Interval::new(0, max, -low), |[a, b]| Op::Add { a, b, shift });
        let netlist = lower(&model, &Schedule::combinational(3), &Options::default());
        assert!(netlist.nets().iter().all(|n| matches!(n.cell, Cell::Input { .. } | Cell::Alias { .. })));
        // What the far operand shows above the result's type, or below it, is nothing.
        let near = one_operation([byte(), byte()], vec![], byte(), |[a, b]| Op::Add { a, b, shift });
        let netlist = lower(&near, &Schedule::combinational(3), &Options::default());
        assert_eq!(netlist.nets().iter().map(|n| n.width).sum::<u32>(), 8 + 8);
    }
}

/// A table much smaller than its operand's type is addressed by the distance from its base, and reads zero elsewhere.
#[test]
fn small_tables_of_wide_operands_read_zero_outside() {
    let table = Table { entries: vec![-7, 9, 30], out: Interval::new(-16, 31, 0), hash: String::new(), inp_width: 2 };
    for (min, max, base) in [(-5, 1 << 40, -5), (0, 1 << 40, 3), (-(1 << 40), 1, -1), (-4, 3, -1)] {
        let model = one_operation(
            [Interval::new(min, max, 0), Interval::new(0, 1, 0)],
            vec![table.clone()],
            Interval::new(-16, 31, 0),
            |[x, _]| Op::Lookup { x, table: TableId(0), base: Code::from(base) },
        );
        let netlist = lower(&model, &Schedule::combinational(3), &Options::default());
        assert_eq!(netlist.roms().len(), 1);
        let mut evaluator = Evaluator::new(&netlist);
        for code in -2..6 {
            let codes = [BigInt::from(base + code), BigInt::ZERO];
            let due = golden(&model, &codes, LookupMiss::Zero).expect("misses read zero");
            let fits = model.input_kifs()[0].holds(&codes[0]);
            assert!(!fits || evaluator.clock(&codes) == due, "entry {code} of base {base}");
        }
    }
}

/// Two operands, their difference, and an operand plus a constant, of which the result shows bit `2^unit` and above.
fn signs(a: Interval, b: Interval, constant: i64, const_shift: i32, shift: i32, unit: i32) -> Model {
    let mut builder = Builder::new(vec![0, 0]);
    let x = builder.op(Op::Input { input: 0 }, a);
    let y = builder.op(Op::Input { input: 1 }, b);
    for signed in [true, false] {
        let shown = if signed { Interval::new(-1, 0, -unit) } else { Interval::new(0, 1, -unit) };
        let difference = builder.op(Op::Sub { a: x, b: y, shift }, shown.clone());
        let sum = builder.op(Op::AddConst { x, value: Code::from(constant), shift: const_shift }, shown);
        for source in [difference, sum] {
            builder.output(Output { source: Some(source), shift: 0, neg: false });
        }
    }
    builder.finish().unwrap_or_else(|p| panic!("{p:?}"))
}

#[test]
fn signs_of_differences_are_comparisons() {
    let mut comparisons = 0;
    for seed in 0..400 {
        let mut rng = SplitMix::new(seed);
        let mut any = |lo: i64, hi: i64| lo + rng.below((hi - lo) as u64) as i64;
        let mut port = || {
            let width = if any(0, 8) == 0 { any(60, 70) } else { any(1, 6) };
            let (half, frac) = (BigInt::from(1) << (width - 1), any(-2, 3) as i32);
            match any(0, 2) {
                0 => Interval::new(-half.clone(), half - 1, frac),
                _ => Interval::new(0, half * 2 - 1, frac),
            }
        };
        let (a, b) = (port(), port());
        let model = signs(a, b, any(-20, 20), any(-2, 3) as i32, any(-2, 3) as i32, any(-1, 9) as i32);
        let schedule = Schedule::combinational(model.nodes().len());
        let netlist = lowered(&model, &schedule, &Options::default());
        comparisons += netlist.nets().iter().filter(|net| matches!(net.cell, Cell::Less { .. })).count();
        compare(&model, &schedule, &Options::default(), &mut rng, 60);
    }
    assert!(comparisons > 100, "{comparisons}");
}
