//! The batch engine and the reference interpreter write the same files, with any number of threads.

use alir_testing::random::{self, Profile, Recipe, SplitMix};
use alir2hdl::interp::batch::{OnError, Settings, Summary, run, run_golden};
use alir2hdl::interp::samples::{Reader, Values, Writer, input_ports};
use alir2hdl::interp::{LookupMiss, Plan, PlanOptions, golden};
use alir2hdl::ir::Model;
use alir2hdl::num::Kif;
use num_bigint::BigInt;
use proptest::prelude::*;
use std::path::Path;

#[derive(Clone, Copy, Debug)]
enum How {
    Golden,
    Engine(usize),
}

/// The file that a run makes, and what it says.
fn outcome(
    model: &Model,
    how: How,
    settings: Settings,
    input: &Path,
    dir: &Path,
) -> Result<(Summary, Vec<u8>), String> {
    let output = dir.join("y.csv");
    let outputs: Vec<Kif> = (0..model.outputs().len()).map(|j| model.output_kif(j)).collect();
    let mut reader = Reader::open(input, None, model.input_kifs(), settings.codes).map_err(|e| e.to_string())?;
    let mut writer = Writer::create(&output, &outputs, settings.codes, None).map_err(|e| e.to_string())?;
    let summary = match how {
        How::Golden => run_golden(model, settings, &mut reader, Some(&mut writer), |_, _| {}, |_| true),
        How::Engine(threads) => run(model, settings, threads, &mut reader, Some(&mut writer), |_| true),
    };
    let summary = summary.map_err(|e| e.to_string())?;
    writer.finish().map_err(|e| e.to_string())?;
    Ok((summary, std::fs::read(output).unwrap()))
}

/// Random samples as CSV, of reals with a little noise, or of codes.
fn samples(model: &Model, codes: bool, rows: usize, rng: &mut SplitMix) -> String {
    let ports = input_ports(model);
    let mut text = String::new();
    for _ in 0..rows {
        let row: Vec<String> = random::inputs(model, rng)
            .iter()
            .zip(&ports)
            .map(|(code, port)| {
                if codes {
                    return code.to_string();
                }
                let real = port.real_of_code(code).0;
                match rng.below(64) {
                    0 => format!("{:?}", real * 1e9),
                    1 => "nan".into(),
                    2 => format!("{:?}", f64::from_bits(rng.word())),
                    n if n < 20 => format!("{:?}", real + 1e-3),
                    _ => format!("{real:?}"),
                }
            })
            .collect();
        text.push_str(&row.join(","));
        text.push('\n');
    }
    text
}

#[test]
fn engine_and_golden_interpreter_agree_on_random_programs() {
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("x.csv");
    let mut rng = SplitMix::new(11);
    for seed in 0..120 {
        let model = random::model(seed);
        let settings = Settings {
            codes: rng.below(2) == 0,
            lookup_miss: if rng.below(2) == 0 { LookupMiss::Error } else { LookupMiss::Zero },
            on_error: [OnError::Stop, OnError::Skip, OnError::Skip][rng.below(3) as usize],
        };
        std::fs::write(&input, samples(&model, settings.codes, 40, &mut rng)).unwrap();
        let golden = outcome(&model, How::Golden, settings, &input, dir.path());
        let engine = outcome(&model, How::Engine(1), settings, &input, dir.path());
        assert_eq!(engine, golden, "seed {seed}, {settings:?}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("x.csv");
    let mut rng = SplitMix::new(12);
    let model = random::Recipe::seeded(random::Profile::SMALL, 30, 5).build();
    std::fs::write(&input, samples(&model, false, 30_000, &mut rng)).unwrap();
    for on_error in [OnError::Stop, OnError::Skip, OnError::Nan] {
        let settings = Settings { on_error, ..Settings::default() };
        let one = outcome(&model, How::Engine(1), settings, &input, dir.path());
        assert_eq!(one.is_err(), on_error == OnError::Stop);
        for threads in [2, 3, 7] {
            assert_eq!(outcome(&model, How::Engine(threads), settings, &input, dir.path()), one, "{threads} threads");
        }
    }
}

#[test]
fn integers_beyond_float64_are_exact_reals() {
    // 2^53 + 1 is no float64, but it is a whole number of the input's type.
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("x.npy");
    let s60 = Kif { signed: true, int: 59, frac: 0 };
    let mut file = Writer::create(&input, &[s60], true, None).unwrap();
    file.write(&Values::Wide(vec![BigInt::from((1i64 << 53) + 1), BigInt::from(-5)]), &[]).unwrap();
    file.finish().unwrap();
    let mut b = alir2hdl::ir::Builder::new(vec![0]);
    let x = b.op(alir2hdl::ir::Op::Input { input: 0 }, alir2hdl::num::Interval::new(-8, 7, 0));
    b.output(alir2hdl::ir::Output { source: Some(x), shift: 0, neg: false });
    let model = b.finish().unwrap();
    for how in [How::Golden, How::Engine(1)] {
        let (_, text) = outcome(&model, how, Settings::default(), &input, dir.path()).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "1.0\n-5.0\n", "{how:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// Compares both in memory, without files, with programs that shrink to the operation that differs.
    #[test]
    fn engine_and_golden_interpreter_agree_on_shrinking_programs(
        genes in proptest::collection::vec(any::<random::Gene>(), 1..30),
        which in 0..Profile::ALL.len(),
        seed: u64,
    ) {
        let recipe = Recipe::new(Profile::ALL[which].1, genes);
        let model = recipe.build();
        let mut rng = SplitMix::new(seed);
        let samples: Vec<Vec<BigInt>> = (0..20).map(|_| random::inputs(&model, &mut rng)).collect();
        let golden = samples.iter().flat_map(|codes| golden(&model, codes, LookupMiss::Zero).unwrap());
        let golden: Vec<BigInt> = golden.collect();
        let options = PlanOptions { lookup_miss: LookupMiss::Zero, ..PlanOptions::default() };
        let plan = Plan::new(&model, options);
        let mut found = vec![BigInt::ZERO; golden.len()];
        prop_assert_eq!(plan.runner().run_exact(&samples.concat(), &mut found), vec![]);
        prop_assert_eq!(found, golden, "{:?}", recipe);
    }
}
