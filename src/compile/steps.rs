//! The programs between a model and its text, told to the prover ([`crate::prove::steps`]), which trusts nothing of it.

use super::reuse::BIT_BY_BIT;
use super::spec::DEFAULT_LEVEL;
use crate::ir::{Model, Op};
use crate::netlist;
use crate::passes::{self, Trust};
use crate::prove::steps::Steps;
use crate::reuse::serial::sums_of_two;

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

/// The programs and the last one's with every sum as sums of two.
pub(super) fn with_sums_of_two(model: &Model, mut programs: Vec<Model>) -> Steps {
    let before = programs.last().unwrap_or(model);
    let split = sums_of_two(before);
    if split != *before {
        programs.push(split);
    }
    with_names(programs)
}

/// Steps over these programs, with the names that a text of the last one has.
pub(super) fn with_names(programs: Vec<Model>) -> Steps {
    let stems = programs.last().map(netlist::stems).unwrap_or_default();
    Steps { programs, names: stems.into_iter().zip(0..).collect(), ..Steps::default() }
}

/// The programs between a model and a text of ours, guessed from the comments at the head of the text: the command
/// says which passes ran, another line how many operations they left. Nothing if the head does not say so. What is given
/// makes the programs, which takes time; it gives nothing if the head is of another program.
pub fn steps_of_text<'a>(model: &'a Model, head: &'a [String]) -> Option<impl Fn() -> Option<Steps> + use<'a>> {
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
            let level = after("-O").map_or(Some(DEFAULT_LEVEL), |level| level.parse().ok())?;
            candidates.push(passes::pipeline(level).to_vec());
            if level > 1 && model.nodes().iter().any(|n| matches!(n.op, Op::Mul { .. })) {
                candidates.push(passes::IN_STAGES.to_vec());
            }
        }
    }
    let bit_by_bit = goes_bit_by_bit(head);
    Some(move || {
        let mut steps = candidates.iter().map(|names| match bit_by_bit {
            true => with_sums_of_two(model, of_passes(model, names).programs),
            false => of_passes(model, names),
        });
        steps.find(|steps| steps.programs.last().is_some_and(|last| last.nodes().len() == operations))
    })
}

/// Whether the comments at the head of a text say that values go through bit by bit: then its gates are those of the
/// program, and forms of whole values say nothing of it.
pub fn goes_bit_by_bit(head: &[String]) -> bool {
    head.iter().any(|line| line.trim_end().ends_with(BIT_BY_BIT))
}
