//! The file `proof.txt` of a certificate: steps from the model through intermediate programs to the RTL file, each with
//! records of equal gates. The format is canonical: any other spelling of the same content is refused.

use crate::clocks::{InputTiming, MOST_CLOCKS, SampleTiming};
use crate::induction::Induction;
use crate::program::Image;
use crate::records::{Lemma, Reason, Record};
use crate::{AT_THE_END, ensure, graph::Lit};
use std::cell::Cell;
use std::collections::BTreeMap;

/// First line of the file: name and version of the format.
pub const HEAD: &str = "alir2hdl-certificate 6";

/// Images and records attached to one value of a step's second side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Affine images built before the value. The RTL file has none.
    pub images: Vec<Image>,
    /// Records that are applied after the value.
    pub records: Vec<Record>,
}

/// One step: an intermediate program or the RTL file, compared over the gates of all earlier steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// File name of the intermediate program; `None` for the RTL file.
    pub program: Option<String>,
    /// Inputs of an intermediate program, as indices of elements of the state machine.
    pub feeds: Vec<usize>,
    /// `true` for a program without records, which only builds gates for later comparisons.
    pub is_bare: bool,
    /// Images and records by the index of their value.
    pub places: BTreeMap<usize, Place>,
}

/// Content of a certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// The steps; the RTL file is last.
    pub steps: Vec<Step>,
    /// Name of the compared module of the RTL file; `None` for the last module.
    pub top: Option<String>,
    /// Classes of equal register bits, if the model is a state machine.
    pub induction: Option<Induction>,
    /// Sample timing of the RTL file, if it does not accept a sample in every cycle.
    pub sample_timing: Option<SampleTiming>,
    /// Input bits for which the outputs differ, if the verdict is a difference.
    pub case: Option<Vec<bool>>,
}

impl Step {
    fn last(&mut self) -> Option<(usize, &mut Place)> {
        self.places.last_entry().map(|entry| (*entry.key(), entry.into_mut()))
    }
}

impl Certificate {
    /// Parses the file.
    ///
    /// # Errors
    /// If a line is invalid; the message has its number.
    pub fn read(text: &str) -> Result<Certificate, String> {
        let number = Cell::new(0);
        let mut lines = text.split_terminator('\n').inspect(|_| number.set(number.get() + 1));
        parse_lines(&mut lines).map_err(|what| format!("line {} of the certificate: {what}", number.get()))
    }
}

fn parse_lines<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Result<Certificate, String> {
    if lines.next() != Some(HEAD) {
        return Err(format!("it does not begin with {HEAD:?}"));
    }
    let mut out = Certificate::default();
    while let Some(line) = lines.next() {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        let step = out.steps.last_mut().ok_or("this line is not part of a step");
        match kind {
            "case" if step.is_err() => {
                let bits: Option<Vec<bool>> = rest.chars().map(|c| c.to_digit(2).map(|d| d == 1)).collect();
                out.case = Some(bits.ok_or("a case is a sequence of zeros and ones")?);
            }
            "every" if step.is_err() => {
                ensure(out.sample_timing.is_none(), "two sample timings")?;
                let held = rest.strip_suffix(" held");
                let (rest, input_timing) = held.map_or((rest, InputTiming::Once), |rest| (rest, InputTiming::Held));
                let &[interval, latency] = &numbers(rest)?[..] else {
                    return Err("a sample timing consists of two numbers".into());
                };
                let is_valid = interval > 1 && interval <= MOST_CLOCKS && latency <= MOST_CLOCKS;
                ensure(is_valid, "an initiation interval below 2, or more cycles than the limit")?;
                out.sample_timing = Some(SampleTiming { interval, latency, input_timing });
            }
            "beats" if step.is_err() => {
                let sample_timing =
                    out.sample_timing.as_mut().filter(|sample_timing| sample_timing.input_timing == InputTiming::Once);
                let all: Vec<usize> = numbers(rest)?;
                ensure(all.len().is_multiple_of(2), "a beat without its lowest bit")?;
                let beats = all.chunks(2).map(|beat| (beat[0], beat[1])).collect();
                sample_timing.ok_or("input beats without a sample timing")?.input_timing = InputTiming::Beats(beats);
            }
            "top" if step.is_err() => {
                ensure(out.top.is_none() && !rest.is_empty(), "two top modules, or one without a name")?;
                out.top = Some(rest.to_owned());
            }
            "clocks" if step.is_err() => {
                ensure(out.induction.is_none(), "two inductions")?;
                let &[settled, depth] = &numbers(rest)?[..] else {
                    return Err("an induction is two numbers of clock cycles".into());
                };
                out.induction = Some(Induction { settled, depth, ..Induction::default() });
            }
            "same" | "zero" if step.is_err() => {
                let bits: Vec<usize> = numbers(rest)?;
                let induction = out.induction.as_mut().ok_or("register bits without an induction")?;
                let is_first = induction.zeros.is_empty();
                let is_ordered = is_first && bits.windows(2).all(|two| two[0] / 2 < two[1] / 2);
                ensure(is_ordered, "register bits out of order, or after the bits that are zero")?;
                if kind == "zero" {
                    induction.zeros = bits;
                    continue;
                }
                let is_next = induction.classes.last().is_none_or(|last| last[0] < bits[0]);
                ensure(
                    is_next && bits.len() > 1 && bits[0].is_multiple_of(2),
                    "a class of one bit, or classes out of order",
                )?;
                induction.classes.push(bits);
            }
            "step" | "between" => {
                let is_inside = !rest.is_empty() && !rest.contains(['/', '\\']) && !rest.starts_with('.');
                ensure(is_inside, "a step without a name, or a program outside of the folder")?;
                let is_next = |step: &Step| step.program.as_ref().is_some_and(|program| program != rest);
                ensure(out.steps.iter().all(is_next), "a step after the RTL file, or a repeated step")?;
                let program = (rest != "text").then(|| rest.to_owned());
                out.steps.push(Step { program, is_bare: kind == "between", ..Step::default() });
            }
            "feeds" => {
                let is_of_machine = out.induction.is_some();
                let step = step?;
                let is_first = step.feeds.is_empty() && step.places.is_empty() && step.program.is_some();
                ensure(is_first && is_of_machine, "inputs in a wrong place")?;
                step.feeds = numbers(rest)?;
            }
            "at" => {
                let (step, &[at]) = (step?, &numbers(rest)?[..]) else {
                    return Err("a place consists of one number".into());
                };
                let is_next = step.last().is_none_or(|(last, place)| last < at && *place != Place::default());
                ensure(!step.is_bare, "a record in a program that is marked as bare")?;
                ensure(is_next, "a place out of order, or after a place without records")?;
                step.places.insert(at, Place::default());
            }
            "all" | "clauses" => {
                let (rest, values) = rest.split_once(" / ").unwrap_or((rest, ""));
                let values: Vec<usize> = if values.is_empty() { Vec::new() } else { numbers(values)? };
                ensure(values.len().is_multiple_of(2), "a range without the index of its value")?;
                let ranges = values.chunks(2).map(|value| (value[0], value[1])).collect();
                let numbers: Vec<u32> = numbers(rest)?;
                let [bit, other, ref leaves @ ..] = numbers[..] else {
                    return Err("a record without its two literals".into());
                };
                let (_, place) = step?.last().ok_or("a record without a place")?;
                let reason = if kind == "all" { Reason::Exhaustion } else { Reason::Clauses(lemmas(lines)?) };
                let (bit, other) = (bit as usize, Lit(other));
                place.records.push(Record { bit, other, leaves: leaves.to_vec(), ranges, reason });
            }
            "image" => {
                let all: Vec<i64> = numbers(rest)?;
                let [program, value, minus @ (0 | 1), shift, constant] = all[..] else {
                    return Err("an invalid image".into());
                };
                let step = step?;
                let is_program = step.program.is_some();
                let (at, place) = step.last().ok_or("an image without a place")?;
                ensure(is_program && at != AT_THE_END && place.records.is_empty(), "an image in a wrong place")?;
                let of = usize::try_from(program)
                    .ok()
                    .zip(usize::try_from(value).ok())
                    .ok_or("an image with an invalid value")?;
                place.images.push(Image { of, minus: minus == 1, shift, constant });
            }
            _ => {
                return Err(
                    "neither case, top, every, beats, clocks, same, zero, step, between, feeds, at, image, all nor \
                     clauses"
                        .into(),
                );
            }
        }
    }
    let is_whole = out.steps.last().is_some_and(|step| step.program.is_none() && !step.is_bare);
    let is_full = out.steps.iter().flat_map(|step| step.places.values()).all(|place| *place != Place::default());
    ensure(is_whole && is_full, "the last step is not the RTL file, or a place has no records")?;
    let is_needed = out.steps.iter().rev().skip(1).all(|step| step.is_bare == step.places.is_empty());
    ensure(is_needed, "a program without records that is not marked as bare")?;
    ensure(
        out.induction.is_none() || out.sample_timing.is_none(),
        "an induction of samples with an initiation interval",
    )
    .map(|()| out)
}

/// Parses numbers that are separated by one blank.
fn numbers<T: std::str::FromStr + ToString>(words: &str) -> Result<Vec<T>, String> {
    let number = |word: &str| {
        let number = word.parse().ok().filter(|number: &T| number.to_string() == word);
        number.ok_or_else(|| format!("{word:?} is not a valid number"))
    };
    words.split(' ').map(number).collect()
}

/// Parses clauses up to the empty one, each a line: literals, 0, hints, 0.
fn lemmas<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Result<Vec<Lemma>, String> {
    let mut out = Vec::new();
    for line in lines {
        let all: Vec<i32> = numbers(line)?;
        let parts: Vec<&[i32]> = all.split(|&number| number == 0).collect();
        let [literals, hints, []] = parts[..] else { return Err("a clause is literals, 0, hints, 0".to_owned()) };
        let hints: Option<Vec<usize>> = hints.iter().map(|&hint| usize::try_from(hint).ok()).collect();
        out.push((literals.to_vec(), hints.ok_or("a hint below zero")?));
        if literals.is_empty() {
            return Ok(out);
        }
    }
    Err("the file ends before the empty clause".to_owned())
}
