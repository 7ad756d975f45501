//! Intermediate programs between a model and its RTL, as untrusted hints for the prover ([`alir_prove::steps`]).

use super::reuse::{BIT_BY_BIT, without_left_out};
use super::spec::{DEFAULT_LEVEL, Spec};
use super::{Error, Hardware};
use crate::options::HardwareOptions;
use alir_core::diag::{Diagnostic, Place};
use alir_core::ir::{Model, Op};
use alir_hw::netlist::{self, NetId};
use alir_hw::reuse::serial::sums_of_two;
use alir_opt::passes::{self, Trust};
use alir_prove::steps::Steps;
use rustc_hash::FxHashMap;

/// Returns the programs after each of these passes; a pass that changes nothing is skipped.
pub(super) fn pass_steps(model: &Model, names: &[&str]) -> Steps {
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

/// Returns these programs and, if it differs, the last one with every sum split into sums of two.
pub(super) fn with_sums_of_two(model: &Model, mut programs: Vec<Model>) -> Steps {
    let before = programs.last().unwrap_or(model);
    let split = sums_of_two(before);
    if split != *before {
        programs.push(split);
    }
    with_names(programs)
}

/// Returns the hints of these programs, with the signal names of the last one in the RTL.
pub(super) fn with_names(programs: Vec<Model>) -> Steps {
    let stems = programs.last().map(netlist::stems).unwrap_or_default();
    Steps { programs, names: stems.into_iter().zip(0..).collect(), ..Steps::default() }
}

/// Witness of generated RTL for a prover: an untrusted hint.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// Programs after each optimisation; empty if the optimisations changed nothing.
    pub programs: Vec<Model>,
    /// Default name or name prefix of the signals of each value of the last program (of the model if `programs` is
    /// empty). It applies if nothing has a name of its own.
    pub names: Vec<String>,
    /// Signals of the RTL that carry a value of the last program, or an intermediate result of one of its operations.
    pub signals: Vec<SignalOrigin>,
}

/// Value that a signal belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalOrigin {
    /// Name of the signal in the RTL.
    pub signal: String,
    /// Index of the operation.
    pub operation: u32,
    /// Suffix of the signal's name after the name of the operation: `_s2` for a register at the end of the second
    /// stage, `_a` for a part of the operation.
    pub part: String,
    /// Remark for readers: how the value is computed, its type, and which of its bits the signal has.
    pub shows: String,
}

impl Hardware<'_> {
    /// Returns the witness of the RTL.
    ///
    /// # Errors
    /// If the hardware is a state machine or has an initiation interval above 1; if it assumes input intervals.
    pub fn witness(&self) -> Result<Witness, Error> {
        let Some(scheduled) = self.scheduled() else {
            let message = "--witness is for a program that takes a sample every clock";
            let help = "leave it out; `prove` needs none for state machines and shared hardware";
            let place = Place::Flag("--witness".into());
            return Err(Error::request(Diagnostic::error("E0804", place, message).with_help(help)));
        };
        self.spec().reject_input_ranges("--witness").map_err(Error::request)?;
        let passes: Vec<&str> = scheduled.passes.iter().map(|pass| pass.name).collect();
        let mut programs = pass_steps(scheduled.source, &passes).programs;
        let last = &*scheduled.program;
        if programs.last().unwrap_or(scheduled.source) != last {
            programs.push(last.clone());
        }
        let (names, netlist) = (netlist::stems(last), &self.netlist);
        let stems: FxHashMap<String, u32> =
            netlist::stems_in(netlist, last, &self.spec().labels()).into_iter().zip(0..).collect();
        let origin = |at: u32| {
            let (name, shows) = (netlist.name(NetId(at)), netlist.comment(NetId(at)));
            let mut end = name.len();
            loop {
                if let Some(&operation) = stems.get(&name[..end]) {
                    let (signal, part) = (name.to_owned(), name[end..].to_owned());
                    return Some(SignalOrigin { signal, operation, part, shows: shows.to_owned() });
                }
                end = name[..end].rfind('_')?;
            }
        };
        let signals = (0..netlist.nets().len() as u32).filter_map(origin).collect();
        Ok(Witness { programs, names, signals })
    }
}

/// Returns a function that recovers the intermediate programs between a model and generated RTL from the header
/// comment: the command states which passes ran, another line states the number of operations. Returns `None` if the
/// header lacks this information. The function takes time; it returns `None` if the header belongs to another program.
pub fn recover_passes<'a>(model: &'a Model, head: &'a [String]) -> Option<impl Fn() -> Option<Steps> + use<'a>> {
    let operations = head.iter().find_map(|line| {
        let (count, rest) = line.split_once(": ")?.1.split_once(' ')?;
        rest.starts_with("operation").then(|| count.parse::<usize>().ok())?
    })?;
    let words = command_in_head(head);
    if words.is_empty() {
        return None;
    }
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
            let tables = [passes::WIDE_TABLES, passes::NARROW_TABLES, passes::ADAPTIVE_TABLES];
            candidates.push(passes::pipeline(level).to_vec());
            if level > 1 {
                candidates.extend(tables.map(|tables| [passes::pipeline(level), &tables].concat()));
            }
            if level > 1 && model.nodes().iter().any(|n| matches!(n.op, Op::Mul { .. })) {
                candidates.push(passes::IN_STAGES.to_vec());
                candidates.extend(tables.map(|tables| [passes::IN_STAGES, &tables].concat()));
            }
        }
    }
    let bit_by_bit = is_bit_serial(head);
    let is_bounded = ["--clock-period", "--max-stage-delay"].into_iter().any(|flag| after(flag).is_some());
    let may_split = is_bounded && !bit_by_bit && after("--passes").is_none();
    let has_count = move |program: &Model| program.nodes().len() == operations;
    Some(move || {
        candidates.iter().find_map(|names| {
            let mut steps = match bit_by_bit {
                true => with_sums_of_two(model, pass_steps(model, &without_left_out(names.iter().copied())).programs),
                false => pass_steps(model, names),
            };
            if steps.programs.last().is_some_and(has_count) {
                return Some(steps);
            }
            let last = steps.programs.last().filter(|_| may_split).unwrap_or(model);
            let split = |name: &str| Some(passes::find(name)?.apply(last, Trust::Types)).filter(has_count);
            let split = passes::SHORTER_CHAINS.iter().filter(|_| may_split).find_map(|name| split(name))?;
            steps.programs.push(split);
            Some(with_names(steps.programs))
        })
    })
}

/// Returns `true` if the header comment of an RTL file marks the RTL as bit-serial. The gates of such RTL are those of
/// the program, and affine forms of whole values do not apply.
pub fn is_bit_serial(head: &[String]) -> bool {
    head.iter().any(|line| line.trim_end().ends_with(&format!(", {BIT_BY_BIT}")))
}

/// Returns the words of the command in the header comment of an RTL file; the command may span several lines.
pub fn command_in_head(head: &[String]) -> Vec<&str> {
    let lines = head.iter().map(|line| line.trim().strip_prefix("command: "));
    let lines = lines.skip_while(Option::is_none).map_while(|line| line);
    lines.flat_map(str::split_ascii_whitespace).collect()
}

/// Returns the [`Spec`] that the command in the header comment of an RTL file requests: an untrusted hint. Returns
/// `None` if the header has no command.
pub fn spec_from_header(head: &[String]) -> Option<Spec> {
    let words = command_in_head(head);
    (!words.is_empty()).then(|| HardwareOptions::from_words(words.into_iter().skip(1)).spec("model"))
}
