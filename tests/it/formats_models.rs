//! Every shipped model is read, and the versions of one program agree.

use alir_testing::random::{self, SplitMix, inputs};
use alir2hdl::formats::{self, Target};
use alir2hdl::interp::{LookupMiss, golden};
use alir2hdl::ir::{Limits, Model, Op};
use alir2hdl::passes;
use num_bigint::BigInt;
use std::path::{Path, PathBuf};

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models")
}

fn read(path: &Path) -> Model {
    match formats::read_path(path, &Limits::default(), None) {
        Ok((model, _)) => model,
        Err(problems) => panic!("{}: {problems}", path.display()),
    }
}

/// All ALIR files below the shared models, in name order.
fn model_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in [models(), models().join("fuzz")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            for name in ["model.json.gz", "model.v2.json.gz", "model.sum3.json.gz", "model.json"] {
                let path = entry.as_ref().unwrap().path().join(name);
                if path.exists() {
                    files.push(path);
                }
            }
        }
    }
    files.sort();
    files
}

#[test]
fn every_model_is_read_as_its_meta_says() {
    let files = model_files();
    assert!(files.len() >= 130, "only {} model files", files.len());
    for path in files {
        let model = read(&path);
        assert!(!model.outputs().is_empty(), "{}", path.display());
        if path.ends_with("model.json.gz") {
            let meta = std::fs::read_to_string(path.with_file_name("meta.json")).unwrap();
            let meta: serde_json::Value = serde_json::from_str(&meta).unwrap();
            let sizes = [model.n_inputs(), model.outputs().len(), model.nodes().len()];
            let stated = ["n_inputs", "n_outputs", "n_ops"].map(|key| meta[key].as_u64().unwrap() as usize);
            assert_eq!(sizes, stated, "{}", path.display());
        }
    }
}

/// Golden outputs of some samples.
fn outputs(model: &Model, inputs: &[Vec<BigInt>]) -> Vec<Vec<BigInt>> {
    let run = |codes: &Vec<BigInt>| golden(model, codes, LookupMiss::Zero).expect("a miss reads zero");
    inputs.iter().map(run).collect()
}

/// Samples over the whole types of the ports, corners among them.
fn samples(model: &Model, count: usize) -> Vec<Vec<BigInt>> {
    let mut rng = SplitMix::new(2);
    (0..count).map(|_| inputs(model, &mut rng)).collect()
}

#[track_caller]
fn written(model: &Model, target: Target) -> Vec<u8> {
    let mut bytes = Vec::new();
    let prepared = formats::prepare(model, target).unwrap_or_else(|e| panic!("{target:?}: {e}"));
    prepared.write(&mut bytes).unwrap();
    bytes
}

#[track_caller]
fn reread(model: &Model, target: Target) -> Model {
    let bytes = written(model, target);
    match formats::read(bytes.as_slice(), &Limits::default(), None) {
        Ok((model, _)) => model,
        Err(problems) => panic!("{target:?}: {problems}\n{}", String::from_utf8_lossy(&bytes)),
    }
}

/// Asserts that both models have the same ports and the same outputs for the same patterns.
#[track_caller]
fn assert_same_function(a: &Model, b: &Model, count: usize, what: &str) {
    assert_eq!(a.inp_shifts(), b.inp_shifts(), "{what}");
    assert_eq!(a.input_kifs(), b.input_kifs(), "{what}");
    assert_eq!(a.outputs().len(), b.outputs().len(), "{what}");
    for j in 0..a.outputs().len() {
        assert_eq!(a.output_kif(j), b.output_kif(j), "{what}: output {j}");
        assert_eq!(a.outputs()[j].shift, b.outputs()[j].shift, "{what}: output {j}");
    }
    let samples = samples(a, count);
    assert_eq!(outputs(a, &samples), outputs(b, &samples), "{what}");
}

fn has_sums(model: &Model) -> bool {
    model.nodes().iter().any(|n| matches!(n.op, Op::Sum { .. }))
}

#[test]
fn every_model_comes_back_equal() {
    for path in model_files() {
        let model = read(&path);
        assert_eq!(reread(&model, Target::Alir4), model, "{}", path.display());
        for target in [Target::Alir2, Target::Alir3] {
            let lossless = model.nodes().iter().all(|n| match &n.op {
                Op::Quantise { shift, .. } => *shift == 0,
                Op::Sum { .. } => target == Target::Alir3,
                Op::AddConst { value, .. } => value.to_i64().is_some_and(|v| i32::try_from(v).is_ok()),
                _ => true,
            });
            let back = reread(&model, target);
            if lossless {
                assert_eq!(back, model, "{} as {target:?}", path.display());
            } else {
                assert_same_function(&model, &back, 20, &format!("{} as {target:?}", path.display()));
            }
        }
    }
}

#[test]
fn sums_and_relative_shifts_reach_version_2() {
    let mut split = 0;
    for path in model_files() {
        let model = read(&path);
        if has_sums(&model) {
            let back = reread(&model, Target::Alir2);
            assert!(!has_sums(&back));
            split += 1;
        }
    }
    assert!(split > 20, "only {split} models have sums");
}

#[test]
fn random_programs_come_back() {
    for seed in 0..400 {
        let model = random::model(seed);
        let mut inexact = false;
        for target in [Target::Alir4, Target::Alir3, Target::Alir2] {
            // A bound of more than 53 bits with a fraction, or a constant beyond 64 bits, has no spelling.
            if let Err(refused) = formats::prepare(&model, target) {
                assert!(refused.0.iter().all(|d| matches!(d.code, "E1101" | "E1102")), "seed {seed}: {refused}");
                inexact = true;
                continue;
            }
            let back = reread(&model, target);
            assert_same_function(&model, &back, 8, &format!("seed {seed} as {target:?}"));
        }
        if !inexact && model.nodes().iter().all(|n| !matches!(n.op, Op::Lookup { .. })) {
            let back = reread(&model, Target::Alir4);
            assert_eq!(back.nodes().len(), model.nodes().len(), "seed {seed}");
        }
    }
}

#[test]
fn optimised_programs_keep_their_ports_when_written() {
    let names = ["tiny_ops", "edge_kif", "lut_heavy", "bit_logic", "sort_topk", "var_mul", "wide_acc", "over64"];
    for name in names {
        let model = read(&models().join(name).join("model.json.gz"));
        let (optimised, _) = passes::run(&model, passes::pipeline(1));
        for target in [Target::Alir4, Target::Alir2] {
            let back = reread(&optimised, target);
            assert_same_function(&model, &back, 20, &format!("{name} as {target:?}"));
        }
    }
    for seed in 1000..1200 {
        let model = random::model(seed);
        let (optimised, _) = passes::run(&model, passes::pipeline(1));
        if formats::prepare(&optimised, Target::Alir4).is_ok() {
            let back = reread(&optimised, Target::Alir4);
            assert_same_function(&model, &back, 8, &format!("seed {seed}"));
        }
    }
}

#[test]
fn the_versions_of_one_program_agree() {
    for name in ["bit_logic", "cmvm_64x64", "edge_kif", "lut_heavy", "over64", "wide_acc", "var_mul"] {
        let folder = models().join(name);
        let newest = read(&folder.join("model.json.gz"));
        for other in ["model.v2.json.gz", "model.sum3.json.gz"] {
            let path = folder.join(other);
            if path.exists() {
                let other = read(&path);
                let codes = samples(&newest, 10);
                assert_eq!(outputs(&newest, &codes), outputs(&other, &codes), "{}", path.display());
            }
        }
    }
}

#[test]
fn gzip_is_the_same_file() {
    let model = read(&models().join("tiny_ops/model.json.gz"));
    let mut packed = Vec::new();
    formats::prepare(&model, Target::Alir4).unwrap().write_gzip(&mut packed).unwrap();
    assert_eq!(&packed[..2], [0x1f, 0x8b]);
    assert_eq!(packed[4..8], [0; 4], "no time in it");
    let (back, _) = formats::read(packed.as_slice(), &Limits::default(), None).unwrap();
    assert_eq!(back, model);
}
