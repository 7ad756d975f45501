//! Hardware that takes a sample every few clocks, in every simulator of both languages: gaps, pauses, resets, and
//! garbage on the inputs in all clocks in which none is taken.

use crate::harness::{Case, assert_equal_everywhere, read_model};
use alir_testing::is_nightly;
use alir_testing::random::{Profile, Recipe, side_by_side};
use alir2hdl::compile::{self, Engine, Spec};
use alir2hdl::ir::Model;
use alir2hdl::netlist::ResetOptions;
use alir2hdl::num::SplitMix;
use alir2hdl::verify::{Cycles, Vectors};

/// Hardware with random controls; nothing if the engine cannot make it.
fn case(model: &Model, top: &str, (interval, engine): (u32, Engine), samples: usize, seed: u64) -> Option<Case> {
    let mut rng = SplitMix::new(seed);
    let mut bit = || rng.below(2) == 1;
    let mut spec = Spec::default();
    spec.pipeline.interval = Some(interval);
    spec.pipeline.engine = engine;
    spec.module.valid = bit();
    spec.module.enable = bit();
    if bit() {
        spec.module.reset = Some(ResetOptions { asynchronous: bit(), active_high: bit(), data: bit() });
    }
    spec.module.top = compile::Top::Named(top.into());
    let hardware = match compile::model(model, &spec) {
        Ok(hardware) => hardware,
        Err(error) if error.kind == compile::ErrorKind::Request => return None,
        Err(error) => panic!("{top}: {error}"),
    };
    let vectors = Vectors::random(model, None, &spec, samples, seed).expect("samples");
    let netlist = hardware.netlist.clone();
    let cycles = Cycles::new(&netlist, &vectors, seed);
    hardware.reused()?;
    Some(Case { netlist, cycles, emit: Default::default() })
}

#[test]
fn sim_bit_serial_programs_are_equal_in_every_simulator() {
    let programs = if is_nightly() { 36 } else { 18 };
    let random = (0..programs).filter_map(|seed| {
        let model = Recipe::seeded(Profile::TINY, 14, seed).build();
        let interval = [12, 17, 24, 32, 40, 65][(seed % 6) as usize];
        case(&model, &format!("serial_{seed}"), (interval, Engine::Serial), 12, seed)
    });
    let mut cases: Vec<Case> = random.collect();
    assert!(cases.len() >= 12, "only {}", cases.len());
    for (name, interval) in [("tiny_ops", 40), ("sort_topk", 25), ("bit_logic", 64)] {
        let model = read_model(name);
        cases.push(case(&model, name, (interval, Engine::Serial), 12, 7).expect(name));
    }
    assert_equal_everywhere(&cases);
}

#[test]
fn sim_programs_that_share_copies_are_equal_in_every_simulator() {
    let random = (0..24).filter_map(|seed| {
        let model = Recipe::seeded(Profile::TINY, 10, seed).build();
        let model = if seed % 4 == 3 { model } else { side_by_side(&model, 2 + (seed % 6) as u32) };
        let interval = [2, 3, 4, 7, 16, 64][(seed / 4 % 6) as usize];
        case(&model, &format!("fold_{seed}"), (interval, Engine::Fold), 12, seed)
    });
    let mut cases: Vec<Case> = random.collect();
    assert!(cases.len() >= 12, "only {}", cases.len());
    for (name, interval) in [("tiny_ops", 3), ("sort_topk", 8)] {
        cases.push(case(&read_model(name), name, (interval, Engine::Fold), 12, 7).expect(name));
    }
    assert_equal_everywhere(&cases);
}
