//! The programs between a model and its text, told to the prover ([`crate::prove::steps`]), which trusts nothing of it.

use crate::ir::Model;
use crate::netlist;
use crate::passes::{self, Trust};
use crate::prove::steps::Steps;

/// The programs that these passes make, one after another: each that differs from the one before.
pub(super) fn of_passes(model: &Model, names: &[&str]) -> Steps {
    let mut programs: Vec<Model> = Vec::new();
    for pass in names.iter().filter_map(|name| passes::find(name)) {
        let before = programs.last().unwrap_or(model);
        let next = pass.apply(before, Trust::Types);
        if next != *before {
            programs.push(next);
        }
    }
    with_names(programs)
}

/// Steps over these programs, with the names that a text of the last one has.
pub(super) fn with_names(programs: Vec<Model>) -> Steps {
    let stems = programs.last().map(netlist::stems).unwrap_or_default();
    Steps { programs, names: stems.into_iter().zip(0..).collect(), ..Steps::default() }
}

/// The programs between a model and a text of ours, guessed from the comments at the head of the text: the command
/// says which passes ran, another line how many operations they left. Nothing if the head does not say so, or
/// something else.
pub fn steps_of_text(model: &Model, head: &[String]) -> Option<Steps> {
    let operations = head.iter().find_map(|line| {
        let (count, rest) = line.split_once(": ")?.1.split_once(' ')?;
        rest.starts_with("operation").then(|| count.parse::<usize>().ok())?
    })?;
    let words: Vec<&str> = head.iter().find_map(|line| line.trim().strip_prefix("command: "))?.split(' ').collect();
    let after = |flag: &str| {
        words.iter().enumerate().find_map(|(i, word)| match word.strip_prefix(flag)? {
            "" => words.get(i + 1).copied(),
            rest => Some(rest.strip_prefix('=').unwrap_or(rest)),
        })
    };
    let mut candidates: Vec<Vec<&str>> = Vec::new();
    match after("--passes") {
        Some(list) => candidates.push(list.split(',').collect()),
        None => {
            let level = after("-O").map_or(Some(1), |level| level.parse::<u8>().ok())?;
            candidates.push(passes::pipeline(level).to_vec());
            if level > 1 && model.nodes().iter().any(|n| matches!(n.op, crate::ir::Op::Mul { .. })) {
                candidates.push(passes::IN_STAGES.to_vec());
            }
        }
    }
    let steps = candidates.iter().map(|names| of_passes(model, names));
    steps.into_iter().find(|steps| steps.programs.last().is_some_and(|last| last.nodes().len() == operations))
}
