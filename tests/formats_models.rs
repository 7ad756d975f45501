//! Every shipped model is read, and the versions of one program agree.

use alir2hdl::formats;
use alir2hdl::ir::{Limits, Model};
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
