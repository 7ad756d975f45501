//! Reading a model, planning it, and running samples through the plan: `cargo bench --bench engine`.
//!
//! Throughput of `run` is in operations of the file times samples, so that models compare; real numbers in and out are
//! part of it. `ALIR2HDL_BENCH_MODELS` names another folder of models.

use alir2hdl::formats;
use alir2hdl::interp::{Plan, PlanOptions};
use alir2hdl::ir::Limits;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::path::PathBuf;

const MODELS: [&str; 7] =
    ["sort_topk", "var_mul", "anomaly_ae", "jet_mlp", "cmvm_64x64", "mlp_8bit", "mixer_particles"];

fn folder() -> PathBuf {
    let own = || concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/models").into();
    std::env::var_os("ALIR2HDL_BENCH_MODELS").map_or_else(own, PathBuf::from)
}

fn engine(c: &mut Criterion) {
    for name in MODELS {
        let path = folder().join(name).join("model.json.gz");
        let limits = Limits::default();
        let (model, _) = formats::read_path(&path, &limits, None).expect("the model is there");
        let plan = Plan::new(&model, PlanOptions::default());
        let samples = 64 * Plan::CHUNK;
        let inputs: Vec<f64> = (0..samples * model.n_inputs()).map(|k| (k * 37 % 1013) as f64 / 32.0 - 16.0).collect();
        let mut outputs = vec![0.0; samples * model.outputs().len()];
        let mut runner = plan.runner();

        let ops = model.nodes().len() as u64;
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(ops));
        group.bench_function("load", |b| b.iter(|| formats::read_path(black_box(&path), &limits, None).is_ok()));
        group.bench_function("plan", |b| b.iter(|| Plan::new(black_box(&model), PlanOptions::default())));
        group.throughput(Throughput::Elements(ops * samples as u64));
        group.bench_function("run", |b| b.iter(|| runner.run(black_box(&inputs), &mut outputs).len()));
        group.finish();
    }
}

criterion_group!(benches, engine);
criterion_main!(benches);
