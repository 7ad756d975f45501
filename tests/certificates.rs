//! Certificates: what `prove --certificate` records and `alir2hdl-check` replays.

use alir2hdl::num::SplitMix;
use alir2hdl_check::{Answer, check};
use assert_cmd::Command;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models").join(name).join("model.json.gz")
}

/// The exit code of a program, and everything that it said.
fn run(program: &str, dir: &TempDir, args: &[&str]) -> (i32, String) {
    let output = Command::new(program).current_dir(dir.path()).args(args).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8_lossy(&said).into_owned())
}

fn alir2hdl(dir: &TempDir, args: &[&str]) -> (i32, String) {
    run(env!("CARGO_BIN_EXE_alir2hdl"), dir, args)
}

fn checker(dir: &TempDir, args: &[&str]) -> (i32, String) {
    run(env!("CARGO_BIN_EXE_alir2hdl-check"), dir, args)
}

/// A text of a model with its certificate, in a folder.
fn certified(model: &str, options: &str) -> (TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let model = path(model).display().to_string();
    let mut args = vec![model.as_str(), "--verilog", "m.v"];
    args.extend(options.split_whitespace());
    let (code, said) = alir2hdl(&dir, &args);
    assert_eq!(code, 0, "{said}");
    let (code, said) = alir2hdl(&dir, &["prove", &model, "m.v", "--certificate", "proof"]);
    assert_eq!(code, 0, "{said}");
    (dir, model)
}

/// What the checker says in this process, of a text and a certificate that may be other ones.
fn answer(dir: &TempDir, model: &str, text: &str, proof: &str) -> Result<Answer, String> {
    let program = |name: &str| std::fs::read(dir.path().join("proof").join(name)).map_err(|why| why.to_string());
    check(&std::fs::read(model).unwrap(), text, proof, &program)
}

fn read(dir: &TempDir, name: &str) -> String {
    std::fs::read_to_string(dir.path().join(name)).unwrap()
}

#[test]
fn certificates_are_replayed_by_a_program_of_its_own() {
    for (model, options) in [
        ("tiny_ops", "-O0"),
        ("tiny_ops", "-O2 --pipeline 3"),
        ("edge_kif", "-O1 --pipeline 2 --register-inputs"),
        ("bit_logic", "-O1"),
        ("sort_topk", "-O1"),
        ("wide_acc", "-O2 --pipeline 1"),
        ("var_mul", "-O0 --pipeline 2"),
        ("jet_mlp", "-O0 --pipeline 3"),
        ("lut_heavy", "-O0"),
    ] {
        let (dir, model) = certified(model, options);
        let (code, said) = checker(&dir, &[&model, "m.v", "proof"]);
        assert_eq!(code, 0, "{model} {options}: {said}");
        let latency = options.split(' ').skip_while(|word| *word != "--pipeline").nth(1);
        match latency {
            None => assert_eq!(said, "holds: combinational, for every input\n"),
            Some(stages) => {
                let edges = stages.parse::<u32>().unwrap() + u32::from(options.contains("--register-inputs"));
                assert_eq!(said, format!("holds: after {edges} clocks, for every input\n"), "{model} {options}");
            }
        }
        let report = read(&dir, "proof/report.json");
        assert!(report.contains("can replay the proof of every output"), "{report}");
    }
}

#[test]
fn what_is_no_proof_is_never_called_one() {
    let (dir, model) = certified("tiny_ops", "-O2 --pipeline 1");
    let refused = |args: &[&str], code: i32, what: &str| {
        let (status, said) = checker(&dir, args);
        assert!(status == code && said.contains(what), "{args:?}: {status} {said}");
    };
    refused(&[], 2, "Usage");
    refused(&["--help"], 0, "Exit codes");
    refused(&[&model, "m.v", "nowhere"], 2, "proof.txt");
    refused(&[&model, &model, "proof"], 2, "no text");
    refused(&["m.v", "m.v", "proof"], 2, "not ALIR JSON");
    // Another model, another text.
    refused(&[&path("edge_kif").display().to_string(), "m.v", "proof"], 2, "ports");
    let text = read(&dir, "m.v");
    let at = text.rfind(" + {").expect("a sum");
    std::fs::write(dir.path().join("wrong.v"), format!("{} - {{{}", &text[..at], &text[at + 4..])).unwrap();
    refused(&[&model, "wrong.v", "proof"], 1, "refuted: output");
    // A register too few on one path, a driver too few.
    let line = text.lines().find(|line| line.contains("<= v")).unwrap();
    let early = line.trim().trim_end_matches(';').split(" <= ").collect::<Vec<_>>();
    let skipped = text.replacen(&format!("= {};", early[0]), &format!("= {};", early[1]), 1);
    if skipped != text {
        std::fs::write(dir.path().join("early.v"), skipped).unwrap();
        refused(&[&model, "early.v", "proof"], 2, "");
    }
    std::fs::write(dir.path().join("open.v"), text.replacen(line, "", 1)).unwrap();
    refused(&[&model, "open.v", "proof"], 2, "");
    // A certificate that shows nothing.
    std::fs::write(dir.path().join("proof/proof.txt"), "alir2hdl-certificate 1\nstep text\n").unwrap();
    let (status, said) = checker(&dir, &[&model, "m.v", "proof"]);
    assert!(status == 0 || status == 5, "{said}");
    for wrong in ["", "alir2hdl-certificate 2\nstep text\n", "alir2hdl-certificate 1\nstep ../m.json\nstep text\n"] {
        std::fs::write(dir.path().join("proof/proof.txt"), wrong).unwrap();
        refused(&[&model, "m.v", "proof"], 2, "certificate");
    }
}

#[test]
fn a_difference_is_replayed_too() {
    let dir = tempfile::tempdir().unwrap();
    let model = path("tiny_ops").display().to_string();
    assert_eq!(alir2hdl(&dir, &[&model, "--verilog", "m.v", "-O0"]).0, 0);
    // Differs for one pattern of the sign bit and all others only.
    let text = read(&dir, "m.v").replace("wire v48 = &v2;", "wire v48 = |v2;");
    std::fs::write(dir.path().join("m.v"), text).unwrap();
    let (code, said) = alir2hdl(&dir, &["prove", &model, "m.v", "--certificate", "proof"]);
    assert_eq!(code, 1, "{said}");
    let (code, said) = checker(&dir, &[&model, "m.v", "proof"]);
    assert!(code == 1 && said.contains("refuted: output 48"), "{said}");
}

#[test]
fn why_there_is_nothing_for_the_checker_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let model = path("tiny_ops").display().to_string();
    assert_eq!(alir2hdl(&dir, &[&model, "--vhdl", "m.vhd"]).0, 0);
    let (code, said) = alir2hdl(&dir, &["prove", &model, "m.vhd", "--certificate", "proof"]);
    assert!(code == 0 && said.contains("no proof.txt for alir2hdl-check: "), "{said}");
    assert!(!dir.path().join("proof/proof.txt").exists());
}

/// A certificate with numbers, lines or records changed.
fn corrupted(proof: &str, rng: &mut SplitMix) -> String {
    let mut lines: Vec<String> = proof.lines().map(str::to_owned).collect();
    let mut pick = |n: usize| (rng.word() % n.max(1) as u64) as usize;
    for _ in 0..1 + pick(3) {
        let at = 1 + pick(lines.len() - 1);
        match pick(5) {
            0 => drop(lines.remove(at)),
            1 => {
                let other = lines[1 + pick(lines.len() - 1)].clone();
                lines[at] = other;
            }
            2 => {
                let other = 1 + pick(lines.len() - 1);
                lines.swap(at, other);
            }
            _ => {
                let mut words: Vec<String> = lines[at].split(' ').map(str::to_owned).collect();
                let place = pick(words.len());
                if let Ok(number) = words[place].parse::<i64>() {
                    words[place] = (number + [1, -1, 2, 16, -number, -2 * number][pick(6)]).to_string();
                }
                lines[at] = words.join(" ");
            }
        }
        if lines.len() < 2 {
            break;
        }
    }
    lines.join("\n") + "\n"
}

/// A text with an operator, an operand or a constant changed.
fn changed(text: &str, rng: &mut SplitMix) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut pick = |n: usize| (rng.word() % n.max(1) as u64) as usize;
    let logic: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].trim_start().starts_with("wire ")).collect();
    let at = logic[pick(logic.len())];
    let line = lines[at].split("//").next()?;
    let (from, to) = [
        (" + ", " - "),
        (" - ", " + "),
        ("= -", "= ~"),
        (" & ", " | "),
        (" ? ", " ? ~"),
        ("1'b0", "1'b1"),
        ("] ", "] ~"),
        ("= v", "= ~v"),
    ][pick(8)];
    // Behind the name of what is driven.
    let driver = line.find(" = ")?;
    let places: Vec<usize> = line.match_indices(from).map(|m| m.0).filter(|&place| place >= driver).collect();
    let place = *places.get(pick(places.len()))?;
    let new = format!("{}{to}{}", &line[..place], &line[place + from.len()..]);
    lines[at] = &new;
    Some(lines.join("\n") + "\n")
}

/// A corrupted certificate never makes a wrong text right, or a right one wrong; a wrong text is never called right. Returns
/// how often each answer came.
fn attacks(seeds: std::ops::Range<u64>) -> [u32; 4] {
    let mut answers = [0; 4];
    for (name, options) in [("tiny_ops", "-O2"), ("edge_kif", "-O1"), ("sort_topk", "-O1")] {
        let (dir, model) = certified(name, options);
        let (text, proof) = (read(&dir, "m.v"), read(&dir, "proof/proof.txt"));
        for seed in seeds.clone() {
            let mut rng = SplitMix::new(seed);
            let other = corrupted(&proof, &mut rng);
            let right = answer(&dir, &model, &text, &other);
            assert!(!matches!(right, Ok(Answer::Refuted(..))), "{name} {seed}: {right:?}");
            let Some(wrong) = changed(&text, &mut rng) else { continue };
            for proof in [&proof, &other] {
                let said = answer(&dir, &model, &wrong, proof);
                let index = match said {
                    Ok(Answer::Holds(_)) => {
                        // What was changed may not matter: then the prover says so as well.
                        std::fs::write(dir.path().join("wrong.v"), &wrong).unwrap();
                        let (code, said) = alir2hdl(&dir, &["prove", &model, "wrong.v"]);
                        assert_eq!(code, 0, "{name} {seed}: {said}");
                        0
                    }
                    Ok(Answer::Refuted(..)) => 1,
                    Ok(Answer::NotShown(..)) => 2,
                    Err(_) => 3,
                };
                answers[index] += 1;
            }
        }
    }
    answers
}

#[test]
fn corrupted_certificates_and_texts_are_refused() {
    let [_, refuted, _, refused] = attacks(0..60);
    assert!(refuted > 20 && refused > 3, "{refuted} refuted, {refused} refused");
}

#[test]
#[ignore = "long: 10,000 corrupted certificates"]
fn ten_thousand_corrupted_certificates_are_refused() {
    attacks(1_000..4_400);
}
