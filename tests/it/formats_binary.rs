//! Binary forms (32-bit words, byte code): round trips, malformed files, 10,000 mutations of each.

use crate::hostile::most_held;
use alir_testing::random::{self, Gene, Profile, Recipe, SplitMix, inputs};
use alir2hdl::formats::{self, Format, Target};
use alir2hdl::interp::{LookupMiss, golden};
use alir2hdl::ir::{Limits, Model};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

const JSON: [Target; 3] = [Target::Alir2, Target::Alir3, Target::Alir4];
const BINARY: [Target; 3] = [Target::Bytecode2, Target::Bytecode4, Target::Dais1];

fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(path)
}

fn load(path: &Path) -> Model {
    formats::read_path(path, &Limits::default(), None).unwrap_or_else(|e| panic!("{}: {e}", path.display())).0
}

/// The models that are shared, the large ones aside, and 100 random ones of another tool.
fn models() -> Vec<(String, Model)> {
    let mut paths = Vec::new();
    for folder in ["models", "models/fuzz", "models/dais"] {
        for entry in std::fs::read_dir(data(folder)).unwrap() {
            for name in ["model.json.gz", "model.v2.json.gz", "model.sum3.json.gz", "model.json", "model.bin"] {
                let path = entry.as_ref().unwrap().path().join(name);
                if path.exists() {
                    paths.push(path);
                }
            }
        }
    }
    paths.sort();
    paths.into_iter().map(|path| (path.display().to_string(), load(&path))).collect()
}

/// The file, if the form can say the model.
fn written(model: &Model, target: Target) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    formats::prepare(model, target).ok()?.write(&mut bytes).unwrap();
    Some(bytes)
}

#[track_caller]
fn read(bytes: &[u8], what: &str) -> Model {
    let (model, notes) = formats::read(bytes, &Limits::default(), None).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert!(notes.0.is_empty(), "{what}: {notes}");
    model
}

/// Asserts that both models have the same ports, and the same outputs for patterns of the whole types.
#[track_caller]
fn assert_same_function(a: &Model, b: &Model, count: usize, what: &str) {
    assert_eq!(a.inp_shifts(), b.inp_shifts(), "{what}");
    assert_eq!(a.input_kifs(), b.input_kifs(), "{what}");
    let ports = |m: &Model| (0..m.outputs().len()).map(|j| (m.output_kif(j), m.outputs()[j].shift)).collect::<Vec<_>>();
    assert_eq!(ports(a), ports(b), "{what}");
    let mut rng = SplitMix::new(5);
    for _ in 0..count {
        let codes = inputs(a, &mut rng);
        let run = |model| golden(model, &codes, LookupMiss::Zero).expect("a miss reads zero");
        assert_eq!(run(a), run(b), "{what}");
    }
}

/// Every form gives back itself once it was written, and the same function.
#[track_caller]
fn round_trips(model: &Model, samples: usize, what: &str) -> usize {
    let mut said = 0;
    for target in JSON.into_iter().chain(BINARY) {
        let what = format!("{what} as {target:?}");
        let Some(bytes) = written(model, target) else { continue };
        said += 1;
        let back = read(&bytes, &what);
        assert_same_function(model, &back, samples, &what);
        let again = written(&back, target).unwrap_or_else(|| panic!("{what}: refused on the way back"));
        if target == Target::Dais1 && again != bytes {
            // A negation that wraps is two operations to us: from then on nothing changes any more.
            let twice = read(&again, &what);
            assert_same_function(model, &twice, samples, &what);
            assert!(written(&twice, target).is_some_and(|third| third == again), "{what}: never the same file");
        } else {
            assert!(again == bytes, "{what}: not the same file again");
        }
    }
    said
}

#[test]
fn every_model_survives_every_form() {
    let mut said = 0;
    let models = models();
    for (name, model) in &models {
        let samples = if model.nodes().len() > 1000 { 2 } else { 6 };
        said += round_trips(model, samples, name);
    }
    assert!(said > 5 * models.len(), "only {said} of {} forms", 6 * models.len());
}

#[test]
fn forms_that_say_the_same_lead_back_to_the_same_file() {
    // A to B to A: byte code of both versions through one another.
    for (name, model) in models() {
        let Some(words) = written(&model, Target::Bytecode2) else { continue };
        let Some(bytes) = written(&read(&words, &name), Target::Bytecode4) else { continue };
        assert_eq!(written(&read(&bytes, &name), Target::Bytecode2).as_ref(), Some(&words), "{name}");
    }
}

#[test]
fn two_thousand_random_programs_survive_every_form() {
    let mut said = 0;
    for seed in 0..2000 {
        said += round_trips(&random::model(seed), 2, &format!("seed {seed}"));
    }
    assert!(said > 2000 * 4, "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_shrink_to_what_a_form_loses(genes in prop::collection::vec(any::<Gene>(), 1..30)) {
        round_trips(&Recipe::new(Profile::MEDIUM, genes).build(), 3, "the program");
    }
}

/// Small files of a form.
fn originals(target: Target) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for name in ["tiny_ops", "edge_kif", "lut_heavy", "bit_logic"] {
        files.extend(written(&load(&data(&format!("models/{name}/model.json.gz"))), target));
    }
    files.extend((0..6).filter_map(|seed| written(&random::model(seed), target)));
    if target == Target::Dais1 {
        for entry in std::fs::read_dir(data("generations/dpre")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "bin") {
                files.push(std::fs::read(path).unwrap());
            }
        }
    }
    files
}

fn mutated(original: &[u8], rng: &mut SplitMix) -> Vec<u8> {
    const WORDS: [u32; 10] = [0, 1, 2, 0xffff_ffff, 0xffff_fffe, 0x7fff_ffff, 0x8000_0000, 4096, 4097, 0x0001_0000];
    if rng.below(4) == 0 {
        return crate::hostile::mutated(original, rng);
    }
    let mut bytes = original.to_vec();
    for _ in 0..1 + rng.below(3) {
        let len = bytes.len() as u64;
        if len < 16 {
            break;
        }
        let at = rng.below(len) as usize;
        match rng.below(8) {
            0 if rng.below(4) == 0 => bytes.truncate(at),
            0 | 1 => bytes[at] ^= 1 << rng.below(8),
            2 => bytes[at] = rng.below(256) as u8,
            3 if rng.below(4) == 0 => {
                let from = rng.below(len) as usize;
                let piece = bytes[from..(from + 1 + rng.below(64) as usize).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            4 if rng.below(4) == 0 => drop(bytes.drain(at..(at + 1 + rng.below(40) as usize).min(len as usize))),
            _ => {
                // A word where words are: what breaks careless readers.
                let word = WORDS[rng.below(WORDS.len() as u64) as usize].to_le_bytes();
                let at = (at & !3).min(bytes.len() - 4);
                bytes[at..at + 4].copy_from_slice(&word);
            }
        }
    }
    bytes
}

fn ten_thousand(target: Target, format: Option<Format>, mend: impl Fn(&mut Vec<u8>)) {
    let originals = originals(target);
    assert!(originals.len() >= 8, "{target:?}: {}", originals.len());
    let mut rng = SplitMix::new(20_261_121);
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..10_000u64 {
        let mut bytes = mutated(&originals[rng.below(originals.len() as u64) as usize], &mut rng);
        mend(&mut bytes);
        let mut outcome = None;
        let held = most_held(|| outcome = Some(formats::read(bytes.as_slice(), &Limits::default(), format)));
        assert!(held < 4 << 20, "{target:?} round {round}: {held} bytes held for a file of {}", bytes.len());
        match outcome.unwrap() {
            Err(problems) => {
                refused += 1;
                assert!(
                    problems.has_errors() && problems.0.iter().all(|d| d.help.is_some()),
                    "round {round}: {problems}"
                );
            }
            Ok((model, _)) => {
                accepted += 1;
                let codes = inputs(&model, &mut rng);
                golden(&model, &codes, LookupMiss::Zero).expect("a miss reads zero");
                if let Some(again) = written(&model, target) {
                    // What was at a limit is beyond it by the bit of an inserted negation.
                    let limits = Limits { max_width: 70_000, max_shift: 5000, ..Limits::default() };
                    let back = formats::read(again.as_slice(), &limits, format).map(|(model, _)| model);
                    let back = back.unwrap_or_else(|e| panic!("{target:?} round {round}: {e}"));
                    assert_same_function(&model, &back, 1, &format!("{target:?} round {round}"));
                }
            }
        }
    }
    assert!(accepted > 200 && refused > 2000, "{target:?}: {accepted} accepted, {refused} refused");
}

#[test]
fn ten_thousand_mutations_of_words() {
    ten_thousand(Target::Bytecode2, None, |_| {});
}

#[test]
fn ten_thousand_mutations_of_old_words() {
    ten_thousand(Target::Dais1, None, |_| {});
}

#[test]
fn ten_thousand_mutations_of_bytes() {
    ten_thousand(Target::Bytecode4, Some(Format::Bytecode), |_| {});
}

#[track_caller]
fn refused(bytes: &[u8], format: Option<Format>, code: &str, says: &str) {
    let problems = formats::read(bytes, &Limits::default(), format).expect_err(code);
    assert_eq!(problems.0[0].code, code, "{problems}");
    assert!(problems.0[0].message.contains(says), "{says:?} in {problems}");
}

fn words(words: &[i32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// One input of -8 to 7 after a header of six.
fn one_input() -> Vec<i32> {
    vec![2, 0, 1, 1, 1, 0, 0, 0, 0, 0, -1, 0, -1, 0, 0, 1, 3, 0]
}

#[test]
fn each_fault_of_words_has_its_message() {
    assert!(formats::read(words(&one_input()).as_slice(), &Limits::default(), None).is_ok());
    let with = |at: usize, word: i32| {
        let mut all = one_input();
        all[at] = word;
        words(&all)
    };
    refused(&words(&one_input())[..71], None, "E0150", "not a whole number");
    refused(&words(&one_input()[..17]), None, "E0150", "18 words, the file has 17");
    refused(&words(&[one_input(), vec![5]].concat()), None, "E0151", "18 words, the file has 19");
    refused(&with(0, 3), Some(Format::Words), "E0154", "version 3");
    refused(&with(2, -1), Some(Format::Words), "E0153", "-1 inputs");
    refused(&with(15, 2), None, "E0155", "2 is not a sign");
    refused(&with(16, -9), None, "E0155", "-9 integer");
    refused(&with(16, 70_000), None, "E0211", "70001 bits");
    refused(&with(17, 5000), None, "E0206", "5000 fractional");
    refused(&with(9, 2), None, "E0140", "2 is not a flag");
    refused(&with(7, 4), None, "E0217", "operation 4");
    refused(&with(10, 17), None, "E0128", "unknown opcode 17");
    refused(&with(10, -3), None, "E0128", "unknown opcode -3");
    refused(&with(11, 7), None, "E0208", "input 7");
    refused(&with(10, 2), None, "E0207", "not earlier");
    // A lookup with a negative pad, and one without a table.
    let lookup = |pad: i32, tables: &[i32]| {
        let mut all = vec![2, 0, 1, 1, 2, i32::from(!tables.is_empty()), 0, 1, 0, 0];
        all.extend([-1, 0, -1, 0, 0, 1, 3, 0, 8, 0, -1, 0, pad, 0, 3, 0]);
        all.extend(tables);
        words(&all)
    };
    assert!(formats::read(lookup(2, &[2, 5, 6]).as_slice(), &Limits::default(), None).is_ok());
    refused(&lookup(-1, &[2, 5, 6]), None, "E0156", "left pad of -1");
    refused(&lookup(15, &[2, 5, 6]), None, "E0216", "leave the codes");
    refused(&lookup(0, &[]), None, "E0209", "table 0");
    refused(&lookup(0, &[-2]), Some(Format::Words), "E0153", "-2 entries");
    // Nine tables without entries, read as 3 words: no inputs and so on.
    let both = words(&[0, 0, 0, 0, 0, 0]);
    refused(&both, Some(Format::Words3), "E0151", "3 words, the file has 6");
}

#[test]
fn two_headers_that_fit_are_refused_until_one_is_named() {
    // Six words: 2 inputs, 1 output, 1 operation make 6 + 2 + 3 + 8 = 19; three words: 2 operations make 3 + 16.
    let mut all = vec![0, 0, 2, 1, 1, 0];
    all.resize(19, 0);
    // Zeros are additions of the first operation to itself in both, so neither is a program.
    refused(&words(&all), None, "E0152", "fit the file equally");
    let named = formats::read(words(&all).as_slice(), &Limits::default(), Some(Format::Words));
    assert!(named.err().is_none_or(|problems| problems.0.iter().all(|d| d.code != "E0152")));
}

#[test]
fn each_fault_of_bytes_has_its_message() {
    let whole = written(&load(&data("models/tiny_ops/model.json.gz")), Target::Bytecode4).unwrap();
    let with = |at: usize, bytes: &[u8]| {
        let mut all = whole.clone();
        all[at..at + bytes.len()].copy_from_slice(bytes);
        all
    };
    refused(&with(4, &[9]), None, "E0154", "version 9");
    refused(&whole[..whole.len() - 1], None, "E0150", "ends early");
    refused(&[whole.as_slice(), &[0]].concat(), None, "E0151", "1 bytes after");
    refused(&with(8, &[0xff; 4]), None, "E0150", "ends early");
    refused(b"nothing at all", Some(Format::Bytecode), "E0115", "starts with ALIR");
}

#[test]
fn what_a_form_cannot_say_is_refused_by_name() {
    let over64 = load(&data("models/over64/model.json.gz"));
    // 102 bits fit the types of byte code; 200 fractional bits do not.
    assert!(written(&over64, Target::Bytecode4).is_some());
    let mut builder = alir2hdl::ir::Builder::new(vec![0]);
    let x = builder.op(alir2hdl::ir::Op::Input { input: 0 }, alir2hdl::num::Interval::new(0, 7, 200));
    builder.output(alir2hdl::ir::Output { source: Some(x), shift: 0, neg: false });
    let model = builder.finish().unwrap();
    let problems = formats::prepare(&model, Target::Bytecode4).unwrap_err();
    assert_eq!(problems.0[0].code, "E1105");
    assert!(problems.0.iter().any(|d| d.message.contains("input of operation 0: 200 fractional bits")), "{problems}");
    assert!(written(&model, Target::Bytecode2).is_some());
}
