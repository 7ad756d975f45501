//! Every optimisation keeps the meaning, for every bit pattern of the inputs: random programs, shrinking.

use alir2hdl::interp::{LookupMiss, golden};
use alir2hdl::ir::Model;
use alir2hdl::passes::{self, PASSES};
use alir2hdl::random::{self, Gene, Profile, Recipe, SplitMix};
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

fn hold(recipe: &Recipe, names: &[&str], samples: usize) -> Result<(), String> {
    let before = recipe.build();
    let (after, _) = passes::run(&before, names);
    same(&before, &after, 7, samples).map_err(|e| format!("{names:?}: {e}\nafter: {:#?}", after.nodes()))
}

/// Adder-heavy programs for the passes that solve sums anew, everything for all.
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

#[test]
fn many_seeded_programs_keep_their_meaning() {
    for seed in 0..3000 {
        let before = random::model(seed);
        for level in 1..=2 {
            let (after, _) = passes::run(&before, passes::pipeline(level));
            if let Err(e) = same(&before, &after, seed, 12) {
                panic!("-O{level}, random::model({seed}): {e}");
            }
        }
    }
}

#[test]
fn passes_find_something_to_do() {
    // A test that compares programs with themselves would notice nothing.
    for pass in PASSES {
        let changed = (0..400).filter(|&seed| {
            let before = random::model(seed);
            pass.apply(&before) != before
        });
        assert!(changed.count() > 4, "{} never does anything", pass.name);
    }
}
