//! The netlist means what the program means: lowering and the netlist evaluator against the golden interpreter, on random
//! programs with random schedules, every kind of port and control signal.

use alir2hdl::interp::{LookupMiss, golden};
use alir2hdl::ir::Model;
use alir2hdl::netlist::{Evaluator, Options, Ports, ResetOptions, lower};
use alir2hdl::random::{self, Profile, Recipe, SplitMix};
use alir2hdl::schedule::Schedule;
use num_bigint::{BigInt, BigUint};
use proptest::prelude::*;

/// A legal schedule that nobody would choose.
fn random_schedule(model: &Model, rng: &mut SplitMix) -> Schedule {
    let stages = rng.below(5) as u32;
    let mut stage: Vec<u32> = Vec::with_capacity(model.nodes().len());
    for node in model.nodes() {
        let mut earliest = 1;
        node.op.for_each_operand(|v| earliest = earliest.max(stage[v.index()]));
        let later = (stages.max(1) - earliest).min(rng.below(3) as u32 * rng.below(2) as u32);
        stage.push(earliest + later);
    }
    Schedule { stages, register_inputs: rng.below(2) == 1, stage }
}

fn random_options(rng: &mut SplitMix) -> Options {
    let reset = match rng.below(3) {
        0 => None,
        kind => Some(ResetOptions { asynchronous: kind == 2, active_high: rng.below(2) == 1, data: rng.below(2) == 1 }),
    };
    Options {
        ports: if rng.below(2) == 1 { Ports::Split } else { Ports::Packed },
        valid: rng.below(2) == 1,
        enable: rng.below(2) == 1,
        reset,
        ..Options::default()
    }
}

/// Feeds a new sample every clock and compares each result with the golden interpreter's.
fn compare(model: &Model, schedule: &Schedule, options: &Options, rng: &mut SplitMix, samples: usize) {
    let netlist = lower(model, schedule, options);
    let mut fast = Evaluator::new(&netlist);
    let mut plain = Evaluator::plain(&netlist);
    let latency = netlist.interface.latency as usize;
    for e in [&mut fast, &mut plain] {
        release(e, &netlist.interface);
    }
    let mut expected: Vec<Vec<BigInt>> = Vec::new();
    for cycle in 0..samples + latency {
        let codes = random::inputs(model, rng);
        expected.push(golden(model, &codes, LookupMiss::Zero).expect("misses read zero"));
        let (found, plainly) = (fast.clock(&codes), plain.clock(&codes));
        assert_eq!(found, plainly, "the two roads of the evaluator differ");
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
