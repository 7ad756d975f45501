//! Programs that are run in a folder, what the checker says there, and certificates and texts that are changed at
//! random.

use alir2hdl::num::SplitMix;
use alir2hdl_check::{Answer, check};
use assert_cmd::Command;
use std::collections::BTreeSet;
use tempfile::TempDir;

/// The exit code of a program, and everything that it said.
pub(crate) fn run(program: &str, dir: &TempDir, args: &[&str]) -> (i32, String) {
    let output = Command::new(program).current_dir(dir.path()).args(args).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8_lossy(&said).into_owned())
}

/// Returns the checker's answer, in this process, for RTL and a certificate that may not belong together.
pub(crate) fn answer(dir: &TempDir, model: &str, text: &str, proof: &str) -> Result<Answer, String> {
    let program = |name: &str| std::fs::read(dir.path().join("proof").join(name)).map_err(|why| why.to_string());
    check(&std::fs::read(model).unwrap(), text, proof, &program)
}

/// The contents of a file.
pub(crate) fn read(dir: &TempDir, name: &str) -> String {
    std::fs::read_to_string(dir.path().join(name)).unwrap()
}

/// Returns the kind of a line of a certificate.
fn kind(line: &str) -> &'static str {
    match line.split(' ').next() {
        Some("step") => "step",
        Some("between") => "program without records",
        Some("every") => "sample_timing",
        Some("clocks") => "clocks of an induction",
        Some("same" | "zero") => "registers",
        Some("feeds") => "inputs of an intermediate program",
        Some("at") => "place",
        Some("image") => "image",
        Some("all" | "clauses") if line.contains(" / ") => "record with ranges",
        Some("all") => "record by exhaustion",
        Some("clauses") => "record by clauses",
        _ => "clause",
    }
}

/// A certificate with numbers, lines or records changed, and what the lines are that were chosen for it. Each kind of
/// line is chosen as often, however many there are.
pub(crate) fn corrupted(proof: &str, rng: &mut SplitMix) -> (String, Vec<&'static str>) {
    let mut lines: Vec<String> = proof.lines().map(str::to_owned).collect();
    let mut pick = |n: usize| (rng.word() % n.max(1) as u64) as usize;
    let mut kinds = Vec::new();
    for _ in 0..1 + pick(3) {
        let all: BTreeSet<&str> = lines[1..].iter().map(|line| kind(line)).collect();
        let chosen = *all.iter().nth(pick(all.len())).expect("a certificate has lines");
        let places: Vec<usize> = (1..lines.len()).filter(|&at| kind(&lines[at]) == chosen).collect();
        let at = places[pick(places.len())];
        kinds.push(chosen);
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
    (lines.join("\n") + "\n", kinds)
}

/// RTL with an operator, an operand or a constant changed.
pub(crate) fn changed(text: &str, rng: &mut SplitMix) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut pick = |n: usize| (rng.word() % n.max(1) as u64) as usize;
    // Sinks of unread bits compute nothing.
    let is_logic = |line: &str| {
        (line.starts_with("wire ") && !line.contains(" unused_")) || (line.contains(" <= ") && !line.starts_with("if "))
    };
    let logic: Vec<usize> = (0..lines.len()).filter(|&i| is_logic(lines[i].trim_start())).collect();
    let at = *logic.get(pick(logic.len()))?;
    let is_vhdl = text.contains("library ieee;");
    let line = lines[at].split(if is_vhdl { "--" } else { "//" }).next()?;
    let (from, to) = match is_vhdl {
        false => [
            (" + ", " - "),
            (" - ", " + "),
            ("= -", "= ~"),
            (" & ", " | "),
            (" ? ", " ? ~"),
            ("1'b0", "1'b1"),
            ("] ", "] ~"),
            ("= v", "= ~v"),
            ("<= ", "<= ~"),
        ][pick(9)],
        true => [
            (" + ", " - "),
            (" - ", " + "),
            ("<= 0 - ", "<= not "),
            (" and ", " or "),
            (" = '1'", " = '0'"),
            ("\"0", "\"1"),
            ("signed(", "unsigned("),
            ("<= v", "<= not v"),
            (" & v", " & not v"),
            (" < ", " /= "),
            ("resize(v", "resize(not v"),
            (", 1)", ", 2)"),
        ][pick(12)],
    };
    // After the name of what is driven.
    let driver = line.find(if line.contains(" <= ") { " <= " } else { " = " })?;
    let places: Vec<usize> = line.match_indices(from).map(|m| m.0).filter(|&place| place >= driver).collect();
    let place = *places.get(pick(places.len()))?;
    let new = format!("{}{to}{}", &line[..place], &line[place + from.len()..]);
    lines[at] = &new;
    Some(lines.join("\n") + "\n")
}
