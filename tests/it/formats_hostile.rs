//! Damaged and hostile files: 10,000 mutations of the models with a fixed seed. Never a panic, never more memory than a
//! small multiple of the file, never an output file.
//!
//! A mutated file that is still valid also goes through the reference interpreter and the writer.

use crate::hostile::{most_held, mutated};
use alir_testing::random::{SplitMix, inputs};
use alir2hdl::formats::{self, Target};
use alir2hdl::interp::{LookupMiss, golden};
use alir2hdl::ir::Limits;
use std::path::{Path, PathBuf};

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models")
}

/// Returns the files to mutate: small models as text and as gzip, and one of a real size.
fn originals() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for name in
        ["tiny_ops/model.json.gz", "edge_kif/model.json.gz", "edge_kif/model.v2.json.gz", "over64/model.v2.json.gz"]
    {
        let packed = std::fs::read(models().join(name)).unwrap();
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(packed.as_slice()), &mut text).unwrap();
        files.extend([packed, text]);
    }
    for name in ["001", "017", "042", "063", "099"] {
        files.push(std::fs::read(models().join("fuzz").join(name).join("model.json")).unwrap());
    }
    // DAIS of every age: without a header, with old opcodes, pipelines.
    for name in ["s/negating", "s/solved", "dpre/mux", "d0/tables", "d1/bits", "d1/solved"] {
        let path = models().join("../generations").join(name).with_extension("json");
        files.push(std::fs::read(path).unwrap());
    }
    files.push(std::fs::read(models().join("jet_mlp/model.json.gz")).unwrap());
    files
}

#[test]
fn ten_thousand_mutations_are_read_or_refused() {
    let originals = originals();
    let mut rng = SplitMix::new(20_261_121);
    let (mut read, mut refused) = (0, 0);
    for round in 0..10_000u64 {
        // The last, larger one less often.
        let pick = rng.below(originals.len() as u64 * 4 - 3) / 4;
        let bytes = mutated(&originals[pick as usize], &mut rng);
        let mut outcome = None;
        let held = most_held(|| outcome = Some(formats::read(bytes.as_slice(), &Limits::default(), None)));
        // Decompression makes at most a thousand bytes of one; these files are small, and so is what they may take.
        assert!(held < 4 << 20, "round {round}: {held} bytes held for a file of {}", bytes.len());
        match outcome.unwrap() {
            Err(problems) => {
                refused += 1;
                assert!(problems.has_errors(), "round {round}");
                assert!(problems.0.len() <= Limits::default().max_problems + 4, "round {round}");
                assert!(problems.0.iter().all(|d| d.code != "E0000" && !d.message.is_empty()), "round {round}");
            }
            Ok((model, _)) => {
                read += 1;
                let codes = inputs(&model, &mut rng);
                golden(&model, &codes, LookupMiss::Zero).expect("a miss reads zero");
                let mut text = Vec::new();
                if let Ok(prepared) = formats::prepare(&model, Target::Alir4) {
                    prepared.write(&mut text).unwrap();
                    let back = formats::read(text.as_slice(), &Limits::default(), None);
                    let (back, _) = back.unwrap_or_else(|e| panic!("round {round}: {e}"));
                    let mut again = Vec::new();
                    formats::prepare(&back, Target::Alir4).unwrap().write(&mut again).unwrap();
                    assert!(again == text, "round {round}: not the same file again");
                    let run = |model| golden(model, &codes, LookupMiss::Zero).expect("a miss reads zero");
                    assert_eq!(run(&back), run(&model), "round {round}");
                }
            }
        }
    }
    assert!(read > 200 && refused > 5000, "{read} read, {refused} refused: mutations of one kind only");
}

#[test]
fn limits_bound_memory_before_it_is_taken() {
    let limits = Limits { max_bytes: 1 << 20, ..Limits::default() };
    let header = r#"{"meta":"ALIRModel","spec_version":4,"model":[[0,0],[],[],[],[],["#;
    // Two thousand bits from eleven characters; every lookup copies them.
    let wide = format!("{header}{}", "[[],5,[0],[0,1e308,5e-324],0,0],".repeat(20_000));
    let base = "[[],5,[0],[1e308,1e308,5e-324],0,0]";
    let lookups = format!("{header}{base}{}", ",[[0],8,[0],[0,1,1],0,0]".repeat(20_000));
    let strings = format!("{{\"{}", "x".repeat(4 << 20));
    for text in [wide, lookups, strings] {
        let held = most_held(|| {
            let problems = formats::read(text.as_bytes(), &limits, None).unwrap_err();
            assert_eq!(problems.0[0].code, "E0104");
        });
        assert!(held < 12 << 20, "{held} bytes held");
    }
}

#[test]
fn a_refused_file_leaves_no_output() {
    let originals = originals();
    let mut rng = SplitMix::new(7);
    let dir = tempfile::tempdir().unwrap();
    let (input, output) = (dir.path().join("model"), dir.path().join("out.v"));
    let mut refused = 0;
    while refused < 25 {
        let bytes = mutated(&originals[rng.below(originals.len() as u64) as usize], &mut rng);
        if formats::read(bytes.as_slice(), &Limits::default(), None).is_ok() {
            continue;
        }
        refused += 1;
        std::fs::write(&input, &bytes).unwrap();
        let mut command = assert_cmd::Command::cargo_bin("alir2hdl").unwrap();
        let result = command.arg(&input).arg("--verilog").arg(&output).output().unwrap();
        assert_eq!(result.status.code(), Some(2), "{}", String::from_utf8_lossy(&result.stderr));
        assert!(result.stdout.is_empty());
        let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["model"]);
    }
}

#[test]
fn a_mutation_that_is_valid_goes_all_the_way() {
    let originals = originals();
    let mut rng = SplitMix::new(8);
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("model");
    let mut accepted = 0;
    while accepted < 25 {
        let bytes = mutated(&originals[rng.below(originals.len() as u64 - 1) as usize], &mut rng);
        if originals.contains(&bytes) || formats::read(bytes.as_slice(), &Limits::default(), None).is_err() {
            continue;
        }
        accepted += 1;
        std::fs::write(&input, &bytes).unwrap();
        let mut command = assert_cmd::Command::cargo_bin("alir2hdl").unwrap();
        let result = command.arg(&input).args(["--verilog", "-"]).output().unwrap();
        let said = String::from_utf8_lossy(&result.stderr);
        assert_eq!(result.status.code(), Some(0), "{said}\n{}", String::from_utf8_lossy(&bytes));
    }
}
