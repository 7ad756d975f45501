//! Bit-serial plans of random models: checked, simulated against the reference interpreter and proved; corrupted plans.

use super::{compared, is_built_and_proved};
use alir_core::ir::{Model, draw_inputs};
use alir_core::num::SplitMix;
use alir_flow::compile::{Engine, Spec};
use alir_hw::netlist::{AtPorts, Options, lower_reused};
use alir_hw::reuse::serial::*;
use alir_interp::{LookupMiss, golden};
use alir_testing::random::{Gene, Profile, Recipe};
use proptest::prelude::*;

/// Returns the smallest initiation interval at which a graph has a plan.
fn from(graph: &Graph) -> u32 {
    match planned(graph, 2) {
        Ok(_) => 2,
        Err(Refusal::NeedsInterval(interval)) => interval,
        Err(other) => panic!("{other}"),
    }
}

/// Returns a plan of a graph whose inputs are all accepted in one cycle: captured or, at an odd interval, held stable.
fn planned(graph: &Graph, interval: u32) -> Result<Plan, Refusal> {
    plan(graph, interval, &graph.arrivals(interval % 2 == 1))
}

/// Checks that the hardware of a plan computes the same values as the reference interpreter.
fn computes(model: &Model, program: &Model, (graph, plan): (&Graph, &Plan), seed: u64) -> Result<(), String> {
    let options = Options { ready: true, ..Options::default() };
    let machine = machine(program, graph, plan, &options);
    let input_hold = if plan.arrivals.contains(&0) { plan.interval } else { 1 };
    let netlist = lower_reused(&machine, &options, (plan.interval, plan.latency), AtPorts::Whole(input_hold));
    assert!(netlist.check().is_ok(), "{:?}", netlist.check());
    let mut spec = Spec::default();
    spec.pipeline.interval = Some(plan.interval);
    compared(model, &spec, &netlist, seed)
}

#[test]
fn random_programs_go_through_bit_by_bit_and_are_proved() {
    let mut made = 0;
    let seeds = alir_testing::seeds(0..24);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let model = Recipe::seeded(Profile::TINY, 14, seed).build();
        let least = from(&graph(&sums_of_two(&model))) + 1;
        let interval = least + [0, 1, 2, 5, 11, 30, 64][(seed % 7) as usize];
        made += u64::from(is_built_and_proved(&model, interval, Engine::Serial, seed));
    }
    assert!(made >= count / 2, "only {made} of {count}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Checks at the smallest interval and at others that the checker accepts the plan and that the hardware is exact.
    #[test]
    fn plans_pass_the_checker_and_compute_the_program(
        genes in proptest::collection::vec(any::<Gene>(), 1..24),
        which in 0..Profile::ALL.len(),
        more in 0u32..40,
        seed: u64,
    ) {
        let model = Recipe::new(Profile::ALL[which].1, genes).build();
        let program = sums_of_two(&model);
        let graph = graph(&program);
        let least = from(&graph);
        if least > 2 {
            prop_assert!(planned(&graph, least - 1).is_err());
        }
        // Graphs with a large smallest interval are skipped, as they take long.
        if least <= 600 {
            let plan = planned(&graph, least + more).expect("a plan");
            prop_assert_eq!(check(&graph, &plan), Ok(()));
            // A constant model has no streams, so there is nothing to compute.
            if plan.streams.iter().any(Option::is_some) {
                prop_assert_eq!(computes(&model, &program, (&graph, &plan), seed), Ok(()));
            }
        }
    }

    /// Checks that splitting sums into sums of two terms does not change the model's outputs.
    #[test]
    fn sums_of_two_are_the_program(
        genes in proptest::collection::vec(any::<Gene>(), 1..40), which in 0..Profile::ALL.len(), seed: u64,
    ) {
        let model = Recipe::new(Profile::ALL[which].1, genes).build();
        let split = sums_of_two(&model);
        let mut rng = SplitMix::new(seed);
        for _ in 0..8 {
            let codes = draw_inputs(&model, &mut rng);
            let outputs = |m: &Model| golden(m, &codes, LookupMiss::Zero).expect("outputs");
            prop_assert_eq!(outputs(&model), outputs(&split));
        }
    }
}

/// Corrupts plans. Each corrupted plan must be rejected, or its hardware must still be exact. Returns the number of
/// rejected plans for each kind of mistake, and the number of harmless mistakes.
fn mistakes(seeds: std::ops::Range<u64>) -> ([u32; 9], u32) {
    let (mut harmless, mut refused) = (0, [0; 9]);
    for seed in seeds {
        let model = Recipe::seeded(Profile::TINY, 12, seed).build();
        let program = sums_of_two(&model);
        let graph = graph(&program);
        let good = planned(&graph, from(&graph) + (seed % 5) as u32).expect("a plan");
        let with: Vec<usize> = (0..good.streams.len()).filter(|&id| good.streams[id].is_some()).collect();
        if with.is_empty() {
            continue;
        }
        let mut rng = SplitMix::new(seed);
        for _ in 0..14 {
            let mut bad = good.clone();
            let id = with[rng.below(with.len() as u64) as usize];
            let kind = rng.below(9) as usize;
            let stream = bad.streams[id].as_mut().expect("a stream");
            match kind {
                0 => stream.time -= 1 + rng.below(3) as i32,
                1 => stream.time += 1 + rng.below(3) as i32,
                2 => stream.high -= 1,
                3 => bad.latency = bad.latency.saturating_sub(1 + rng.below(3) as u32),
                4 => bad.interval -= 1,
                5 => bad.digit -= 1,
                6 => bad.streams[id] = None,
                // All streams start earlier or later.
                7 => {
                    let by = rng.below(9) as i32 - 4;
                    bad.streams.iter_mut().flatten().for_each(|stream| stream.time += by);
                }
                // Longer streams, up to the maximum for the interval.
                _ => stream.high += 1 + rng.below(8) as i32,
            }
            if check(&graph, &bad).is_err() {
                refused[kind] += 1;
            } else {
                harmless += 1;
                let found = computes(&model, &program, (&graph, &bad), seed);
                assert_eq!(found, Ok(()), "seed {seed}, mistake {kind}: {bad:?}");
            }
        }
    }
    (refused, harmless)
}

#[test]
fn the_checker_rejects_plans_that_compute_another_function() {
    let (refused, harmless) = mistakes(alir_testing::seeds(0..60));
    let all: u32 = refused.iter().sum();
    assert!(all > 300 && refused.iter().all(|&n| n > 0), "{refused:?} refused, {harmless} harmless");
}

#[test]
#[ignore = "long: 28,000 corrupted plans; minutes"]
fn the_checker_rejects_thousands_of_plans_that_compute_another_function() {
    let (refused, harmless) = mistakes(alir_testing::seeds(1000..3000));
    println!("{refused:?} refused, {harmless} harmless");
    assert!(refused.iter().all(|&n| n > 50), "{refused:?} refused, {harmless} harmless");
}
