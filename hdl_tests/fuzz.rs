//! Random programs in every simulator: all operations, signs, shifts and widths, pipelined and controlled at random.
//!
//! All programs of a test share one testbench, so that each simulator compiles once.

use crate::harness::{Case, assert_equal_everywhere, optimised};
use alir_testing::is_nightly;
use alir_testing::random::{self, SplitMix};
use alir2hdl::emit::{self, Hierarchy, RomStyle};
use alir2hdl::ir::{Labels, Layers};
use alir2hdl::netlist::{Options, Ports, ResetOptions};
use alir2hdl::schedule;
use std::sync::Arc;

/// Nodes of a network of which a program of this number of operations might stem, with names that are no identifiers
/// or no new ones.
fn layers(operations: usize, seed: u64) -> Layers {
    let names = ["dense (MatMul)", "Dense", "rom0", "a\nmodule */ b; --", "", "\u{e9}t\u{e9}", "stage_1", "dense"];
    let mut rng = SplitMix::new(seed ^ 0x1a7e);
    let (mut layers, mut end) = (Layers::default(), 0);
    while end < operations {
        end += 1 + rng.below(8) as usize;
        layers.note(names[rng.below(8) as usize], end);
    }
    layers
}

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
        labels: Arc::new(Labels { layers: layers(model.nodes().len(), seed), ..Labels::default() }),
        ..Options::default()
    };
    // Modules of stages, which only large programs have otherwise; modules of layers, which only networks have.
    let hierarchies = [Hierarchy::Auto, Hierarchy::Flat, Hierarchy::Stages, Hierarchy::Layers];
    let hierarchy = hierarchies[rng.below(4) as usize];
    let shreg_extract = [None, Some(false), Some(true)][rng.below(3) as usize];
    let keep_names = rng.below(3) == 0;
    let use_dsp = rng.below(3) == 0;
    Case {
        emit: emit::Options { rom_style, hierarchy, shreg_extract, keep_names, use_dsp, ..emit::Options::default() },
        ..Case::optimised(&model, &built, &schedule, &options, samples, seed)
    }
}

#[test]
fn sim_random_programs_are_equal_in_every_simulator() {
    let programs = if is_nightly() { 120 } else { 60 };
    let cases: Vec<Case> = (0..programs).map(|seed| case(seed, 60)).collect();
    assert_equal_everywhere(&cases);
}
