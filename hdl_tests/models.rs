//! The real models in every simulator, pipelined and not.
//!
//! The normal run takes the small models; the nightly run takes all, and `ALIR2HDL_MATRIX=all` (`scripts/matrix.sh`)
//! takes every model at every number of stages, in both languages, in every simulator.

use crate::harness::{Case, Ran, assert_equal_everywhere, optimised, read_model, read_model_at};
use crate::lint::{assert_silent, assert_silent_within};
use alir2hdl::emit;
use alir2hdl::interp::{LookupMiss, golden};
use alir2hdl::ir::Model;
use alir2hdl::netlist::{self, Evaluator, Options};
use alir2hdl::schedule::{self, Effort, Goal};
use alir2hdl::verify::Vectors;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Numbers of pipeline stages.
const STAGES: [u32; 4] = [0, 1, 3, 7];

/// Adds lines to the table that `scripts/matrix.sh` prints, if there is one: model, stages, check, seconds.
fn note(name: &str, stages: u32, ran: &[Ran]) {
    let lines: Vec<_> = ran.iter().map(|ran| (ran.what.clone(), format!("{:.1}", ran.seconds))).collect();
    note_lines(name, stages, &lines);
}

/// [`note`], the seconds as text.
fn note_lines(name: &str, stages: u32, lines: &[(String, String)]) {
    let Some(path) = std::env::var_os("ALIR2HDL_MATRIX_TABLE") else { return };
    let lines: String = lines.iter().map(|(what, took)| format!("{name} {stages} {what} {took}\n")).collect();
    let mut table = OpenOptions::new().append(true).create(true).open(path).expect("the table can be opened");
    // In one piece: other tests write too.
    table.write_all(lines.as_bytes()).expect("the table can be written");
}

/// Returns `true` if the full matrix is requested.
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

/// Returns the options of a model's RTL at a number of stages: each choice occurs, and modules of stages too.
fn text_options(stages: u32) -> emit::Options {
    match stages {
        1 => emit::Options { rom_style: emit::RomStyle::Logic, split_above: 0, ..emit::Options::default() },
        7 => emit::Options { rom_style: emit::RomStyle::Block, split_above: 100, ..emit::Options::default() },
        _ => emit::Options::default(),
    }
}

/// A model pipelined into `n` stages, with `samples` samples.
fn case_of(model: &Model, name: &str, goal: Goal, level: u8, samples: usize) -> Case {
    let stages = goal.stages.unwrap_or(0);
    let built = optimised(model, level);
    let delay = schedule::default_delay(&built);
    let uses = match goal.effort {
        Effort::Fast => schedule::Uses::whole_values(&built),
        _ => netlist::uses(&built),
    };
    let schedule = schedule::schedule(&built, delay, &goal, &uses).expect("possible").schedule;
    let options = Options { top: format!("{name}_p{stages}"), ..Options::default() };
    let case = Case::optimised(model, &built, &schedule, &options, samples, 1);
    Case { emit: text_options(stages), ..case }
}

fn check(name: &str, stages: &[u32]) {
    let stages = if is_matrix() { &STAGES } else { stages };
    let model = read_model(name);
    // As many samples as keep simulation short.
    let samples = (200_000 / model.nodes().len()).clamp(40, 1000);
    let case = |n: &u32| case_of(&model, name, Goal::stages(*n), level(*n), samples);
    let cases: Vec<Case> = stages.iter().map(case).collect();
    // One at a time: a difference of a large model is easier to look at alone.
    for (&n, case) in stages.iter().zip(&cases) {
        note(name, n, &assert_silent(std::slice::from_ref(case)));
        let start = Instant::now();
        note(name, n, &assert_equal_everywhere(std::slice::from_ref(case)));
        eprintln!("{}: {:.1?}", case.cycles.layout.top, start.elapsed());
    }
}

/// The programs of `models/fuzz`, all in one testbench a simulator: each at one number of stages, or at all of them.
#[test]
fn sim_model_fuzz() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models/fuzz");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .expect("the fuzz programs")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .filter(|name| name.parse::<u32>().is_ok())
        .collect();
    names.sort();
    assert_eq!(names.len(), 100);
    let mut at: [Vec<Case>; STAGES.len()] = Default::default();
    for (index, name) in names.iter().enumerate() {
        let model = read_model_at(&folder.join(name).join("model.json"));
        for (which, &n) in STAGES.iter().enumerate() {
            if is_matrix() || index % STAGES.len() == which {
                at[which].push(case_of(&model, &format!("fuzz_{name}"), Goal::stages(n), level(n), 40));
            }
        }
    }
    for (n, cases) in STAGES.iter().zip(&at) {
        if is_matrix() {
            note("fuzz", *n, &assert_silent(cases));
        }
    }
    let cases: Vec<Case> = at.into_iter().flatten().collect();
    let ran = assert_equal_everywhere(&cases);
    STAGES.iter().for_each(|n| note("fuzz", *n, &ran));
}

/// Time limit of each lint tool for a model of more than 50,000 operations.
const LIMIT: Duration = Duration::from_secs(180);

/// A model over 50,000 operations, which is too large for the repository: its hardware in the netlist evaluator, and
/// its text in front of every tool. `ALIR2HDL_LARGE_MODELS` names the folder where it is.
fn check_large(name: &str, stages: &[u32]) {
    let folder = std::env::var("ALIR2HDL_LARGE_MODELS").expect("ALIR2HDL_LARGE_MODELS names a folder");
    let path = Path::new(&folder).join(name).join("model.json.gz");
    let model = read_model_at(&path);
    let vectors = Vectors::generate(&model, 3, 1);
    for &n in stages {
        let start = Instant::now();
        let case = case_of(&model, name, Goal { effort: Effort::Fast, ..Goal::stages(n) }, 0, 1);
        let mut evaluator = Evaluator::new(&case.netlist);
        for sample in 0..vectors.inputs.len() {
            let inputs = vectors.inputs.row(sample);
            let expected = golden(&model, inputs, LookupMiss::Zero).expect("a miss reads zero");
            let clocks = case.netlist.interface.latency.max(1);
            let shown = (0..clocks).map(|_| evaluator.clock(inputs)).last();
            assert_eq!(shown, Some(expected), "{name}, {n} stages, sample {sample}");
        }
        note(name, n, &[Ran { what: "evaluator".into(), seconds: start.elapsed().as_secs_f32() }]);
        note_lines(name, n, &assert_silent_within(&case, LIMIT));
    }
}

#[test]
#[ignore = "long: needs ALIR2HDL_LARGE_MODELS, scripts/matrix.sh runs it (minutes)"]
fn sim_model_scale_dense256() {
    check_large("scale_dense256", &[0, 3]);
}

#[test]
#[ignore = "long: needs ALIR2HDL_LARGE_MODELS, scripts/matrix.sh runs it (minutes)"]
fn sim_model_scale_deepsets() {
    check_large("scale_deepsets", &[3]);
}

macro_rules! models {
    ($($(#[$ignored:meta])? $test:ident: $name:literal at $stages:expr;)*) => {$(
        #[test]
        $(#[$ignored])?
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
    sim_model_lut_heavy: "lut_heavy" at [3];
    sim_model_sort_topk: "sort_topk" at [1];
    sim_model_var_mul: "var_mul" at [3];
    sim_model_anomaly_ae: "anomaly_ae" at [3];
    sim_model_jet_mlp: "jet_mlp" at [3];
    #[ignore = "long: a large model, scripts/nightly.sh runs it"]
    sim_model_cmvm_64x64: "cmvm_64x64" at [7];
    #[ignore = "long: a large model, scripts/nightly.sh runs it"]
    sim_model_conv_small: "conv_small" at [3];
    #[ignore = "long: a large model, scripts/nightly.sh runs it"]
    sim_model_mlp_8bit: "mlp_8bit" at [7];
    #[ignore = "long: a large model, scripts/nightly.sh runs it"]
    sim_model_mixer_particles: "mixer_particles" at [7];
}
