//! Random programs in every simulator: all operations, signs, shifts and widths, pipelined and controlled at random.
//!
//! All programs of a test share one testbench, so that each simulator compiles once.

use crate::harness::{Case, assert_equal_everywhere};
use alir2hdl::netlist::{Options, Ports, ResetOptions};
use alir2hdl::random::{self, SplitMix};
use alir2hdl::schedule;

/// A program of a seed with a pipeline and ports of the same seed.
pub(crate) fn case(seed: u64, samples: usize) -> Case {
    let model = random::model(seed);
    let mut rng = SplitMix::new(seed);
    let stages = [0, 0, 1, 2, 3, 7][rng.below(6) as usize];
    let register_inputs = stages > 0 && rng.below(3) == 0;
    let schedule = schedule::random(&model, stages, register_inputs, seed);
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
    Case::new(&model, &schedule, &options, samples, seed)
}

#[test]
fn sim_random_programs_are_equal_in_every_simulator() {
    let cases: Vec<Case> = (0..120).map(|seed| case(seed, 60)).collect();
    assert_equal_everywhere(&cases);
}
