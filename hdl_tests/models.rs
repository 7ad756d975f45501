//! The real models in every simulator, pipelined and not.
//!
//! The normal run takes a choice that fits its time; `ALIR2HDL_MATRIX=all` (`scripts/matrix.sh`) takes every model at
//! every number of stages, in both languages, in every simulator.

use crate::harness::{Case, assert_equal_everywhere, optimised, read_model};
use crate::lint::assert_silent;
use alir2hdl::netlist::{self, Options};
use alir2hdl::schedule::{self, Goal};

/// Numbers of pipeline stages.
const STAGES: [u32; 4] = [0, 1, 3, 7];

/// Whether everything is asked for.
fn is_matrix() -> bool {
    std::env::var("ALIR2HDL_MATRIX").is_ok_and(|v| v == "all")
}

/// The level of optimisation that goes with a number of stages: each is there.
fn level(stages: u32) -> u8 {
    match stages {
        7 => 0,
        1 => 2,
        _ => 1,
    }
}

/// A model pipelined into so many stages, with as many samples as keep simulation short.
fn case(name: &str, stages: u32) -> Case {
    let model = read_model(name);
    let goal = Goal::stages(stages);
    let built = optimised(&model, level(stages));
    let (delay, uses) = (schedule::default_delay(&built), netlist::uses(&built));
    let schedule = schedule::schedule(&built, delay, &goal, &uses).expect("possible").schedule;
    let samples = (200_000 / model.nodes().len()).clamp(40, 1000);
    Case::of_optimised(
        &model,
        &built,
        &schedule,
        &Options { top: format!("{name}_p{stages}"), ..Options::default() },
        samples,
        1,
    )
}

fn check(name: &str, stages: &[u32]) {
    let stages = if is_matrix() { &STAGES } else { stages };
    let cases: Vec<Case> = stages.iter().map(|n| case(name, *n)).collect();
    assert_silent(&cases);
    // One at a time: a difference of a large model is easier to look at alone.
    for case in &cases {
        let start = std::time::Instant::now();
        assert_equal_everywhere(std::slice::from_ref(case));
        eprintln!("{}: {:.1?}", case.cycles.layout.top, start.elapsed());
    }
}

macro_rules! models {
    ($($test:ident: $name:literal at $stages:expr;)*) => {$(
        #[test]
        fn $test() {
            check($name, &$stages);
        }
    )*};
}

models! {
    sim_model_tiny_ops: "tiny_ops" at [0, 1, 3, 7];
    sim_model_edge_kif: "edge_kif" at [0, 1, 3, 7];
    sim_model_over64: "over64" at [0, 1, 3, 7];
    sim_model_wide_acc: "wide_acc" at [0, 3];
    sim_model_bit_logic: "bit_logic" at [0, 3];
    sim_model_lut_heavy: "lut_heavy" at [0, 3];
    sim_model_sort_topk: "sort_topk" at [1];
    sim_model_var_mul: "var_mul" at [3];
    sim_model_anomaly_ae: "anomaly_ae" at [3];
    sim_model_jet_mlp: "jet_mlp" at [3];
    sim_model_cmvm_64x64: "cmvm_64x64" at [7];
    sim_model_conv_small: "conv_small" at [3];
    sim_model_mlp_8bit: "mlp_8bit" at [7];
    sim_model_mixer_particles: "mixer_particles" at [7];
}
