//! Assumptions of `scripts/release.sh`: one version everywhere, and an engine that does without machine code of its
//! own.

use std::path::Path;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn read(file: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(file)).unwrap()
}

#[test]
fn the_version_is_the_same_everywhere() {
    let version = env!("CARGO_PKG_VERSION");
    for (file, line) in [
        ("python/Cargo.toml", "version.workspace = true".to_owned()),
        ("CITATION.cff", format!("version: {version}")),
        ("CHANGELOG.md", format!("## {version}")),
    ] {
        assert!(read(file).lines().any(|l| l == line), "{file} lacks the line {line}");
    }
}

/// Every instruction set that the processor lacks would be replaced by the best it has, so the first is what any
/// machine runs.
#[test]
fn the_portable_engine_gives_the_same_bytes_as_machine_code() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["jet_mlp", "bit_logic", "lut_heavy", "edge_kif", "over64"] {
        let folder = Path::new(ROOT).join("tests/data/models").join(name);
        let input = folder.join("inputs.npy");
        let outputs: Vec<Vec<u8>> = [Some("baseline"), Some("compiled"), None]
            .into_iter()
            .map(|set| {
                let y = dir.path().join("y.npy");
                let mut command = assert_cmd::Command::cargo_bin("alir2hdl").unwrap();
                command.arg("run").arg(folder.join("model.json.gz")).arg("--input").arg(&input).arg("--output").arg(&y);
                command.env_remove("ALIR2HDL_INSTRUCTION_SET");
                command.envs(set.map(|set| ("ALIR2HDL_INSTRUCTION_SET", set))).assert().success();
                std::fs::read(y).unwrap()
            })
            .collect();
        assert!(outputs[0].len() > 128 && outputs.iter().all(|o| *o == outputs[0]), "{name}");
    }
}
