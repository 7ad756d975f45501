//! Random programs in every simulator: all operations, signs, shifts and widths, pipelined and controlled at random.
//!
//! All programs of a test share one testbench, so that each simulator compiles once.

use crate::harness::{Case, assert_equal_everywhere, optimised};
use alir_testing::is_nightly;
use alir_testing::random::{self, SplitMix};
use alir2hdl::emit::{self, RomStyle};
use alir2hdl::netlist::{Options, Ports, ResetOptions};
use alir2hdl::schedule;

/// A program of a seed with optimisation, pipeline, ports and style of text of the same seed.
pub(crate) fn case(seed: u64, samples: usize) -> Case {
    let model = random::model(seed);
    let mut rng = SplitMix::new(seed);
    let built = optimised(&model, rng.below(3) as u8);
    let stages = [0, 0, 1, 2, 3, 7][rng.below(6) as usize];
    let register_inputs = stages > 0 && rng.below(3) == 0;
    let schedule = schedule::random(&built, stages, register_inputs, seed);
    let rom_style =
        [RomStyle::Auto, RomStyle::Logic, RomStyle::Block, RomStyle::Pieces { table_inputs: 4 }][rng.below(4) as usize];
    let mut coin = || rng.below(2) == 0;
    let controlled = stages > 0 && coin();
    let reset = ResetOptions { asynchronous: coin(), active_high: coin(), data: coin() };
    let options = Options {
        top: format!("fuzz_{seed}"),
        ports: if coin() { Ports::Packed } else { Ports::Split },
        valid: controlled && coin(),
        enable: controlled && coin(),
        reset: (controlled && coin()).then_some(reset),
        ..Options::default()
    };
    // A module for each stage, which only large programs have otherwise.
    let split_above = if coin() { 0 } else { emit::Options::default().split_above };
    let shreg_extract = [None, Some(false), Some(true)][rng.below(3) as usize];
    let keep_names = rng.below(3) == 0;
    let use_dsp = rng.below(3) == 0;
    Case {
        emit: emit::Options { rom_style, split_above, shreg_extract, keep_names, use_dsp },
        ..Case::optimised(&model, &built, &schedule, &options, samples, seed)
    }
}

#[test]
fn sim_random_programs_are_equal_in_every_simulator() {
    let programs = if is_nightly() { 120 } else { 60 };
    let cases: Vec<Case> = (0..programs).map(|seed| case(seed, 60)).collect();
    assert_equal_everywhere(&cases);
}
