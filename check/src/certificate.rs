//! The file `proof.txt` of a certificate: steps from the model over programs to the text, and in each of them records of
//! gates that are equal.

use crate::ensure;
use crate::graph::{Lit, Reason, Record};
use crate::program::Image;
use std::cell::Cell;
use std::collections::HashMap;

/// The first line.
pub const HEAD: &str = "alir2hdl-certificate 3";

/// Another program, or the text, over the gates of all before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The file of the other program; the text without.
    pub program: Option<String>,
    /// Records by the value of the second side behind which they are applied.
    pub records: HashMap<usize, Vec<Record>>,
    /// Images that are made before a value of it.
    pub images: HashMap<usize, Vec<Image>>,
}

/// What was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// The steps, the text last.
    pub steps: Vec<Step>,
    /// Input bits that show a difference, if the verdict is that.
    pub case: Option<Vec<bool>>,
}

impl Certificate {
    /// Reads the file.
    ///
    /// # Errors
    /// With the number of the line that is none.
    pub fn read(text: &str) -> Result<Certificate, String> {
        let number = Cell::new(0);
        let mut lines = text.lines().inspect(|_| number.set(number.get() + 1));
        steps(&mut lines).map_err(|what| format!("line {} of the certificate: {what}", number.get()))
    }
}

fn steps<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Result<Certificate, String> {
    if lines.next() != Some(HEAD) {
        return Err(format!("it does not begin with {HEAD:?}"));
    }
    let mut out = Certificate::default();
    let mut place = None;
    while let Some(line) = lines.next() {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        match kind {
            "case" => {
                let bits: Option<Vec<bool>> = rest.chars().map(|c| c.to_digit(2).map(|d| d == 1)).collect();
                out.case = Some(bits.ok_or("a case is zeros and ones")?);
            }
            "step" => {
                let name = rest.split_ascii_whitespace().next().ok_or("a step without a name")?;
                let is_inside = !name.contains(['/', '\\']) && !name.starts_with('.');
                ensure(is_inside, "a program outside of the folder")?;
                ensure(out.steps.last().is_none_or(|step| step.program.is_some()), "a step behind the text")?;
                let program = (name != "text").then(|| name.to_owned());
                out.steps.push(Step { program, ..Step::default() });
                place = None;
            }
            "at" => place = Some(*numbers(rest)?.first().ok_or("a place without its number")?),
            "all" | "clauses" => {
                let (rest, facts) = rest.split_once(" / ").unwrap_or((rest, ""));
                let facts = numbers(facts)?.into_iter().map(Lit).collect();
                let numbers = numbers(rest)?;
                let [x, y, ref leaves @ ..] = numbers[..] else { return Err("a record without its pair".into()) };
                let reason = if kind == "all" { Reason::Exhaustion } else { Reason::Clauses(clauses(lines)?) };
                let (step, place) = out.steps.last_mut().zip(place).ok_or("a record that belongs to nothing")?;
                let record = Record { pair: (Lit(x), Lit(y)), leaves: leaves.to_vec(), facts, reason };
                step.records.entry(place).or_default().push(record);
            }
            "image" => {
                let numbers: Vec<i64> = numbers(rest)?;
                let [own @ (0 | 1), value, minus @ (0 | 1), shift, code, point] = numbers[..] else {
                    return Err("an image without its six numbers".into());
                };
                let value = usize::try_from(value).map_err(|_| "an image of no value")?;
                let (step, place) = out.steps.last_mut().zip(place).ok_or("an image that belongs to nothing")?;
                let (is_own, minus, constant) = (own == 1, minus == 1, (code, point));
                step.images.entry(place).or_default().push(Image { is_own, value, minus, shift, constant });
            }
            _ => return Err("neither step, at, image, all nor clauses".into()),
        }
    }
    let is_whole = out.steps.last().is_some_and(|step| step.program.is_none());
    ensure(is_whole, "it does not end with the text").map(|()| out)
}

fn numbers<T: std::str::FromStr>(words: &str) -> Result<Vec<T>, String> {
    let number = |word: &str| word.parse().map_err(|_| format!("{word:?} is no number here"));
    words.split_ascii_whitespace().map(number).collect()
}

/// Clauses up to the line `end`.
fn clauses<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Result<Vec<Vec<i32>>, String> {
    let mut out = Vec::new();
    for line in lines {
        if line == "end" {
            return Ok(out);
        }
        let mut clause: Vec<i32> = numbers(line)?;
        ensure(clause.pop() == Some(0) && !clause.contains(&0), "a clause ends with its only 0")?;
        // No clause needs a variable that the question does not have; numbers bound what is allocated.
        ensure(clause.iter().all(|l| l.unsigned_abs() <= 1 << 23), "a literal beyond the limit")?;
        out.push(clause);
    }
    Err("it ends within clauses".to_owned())
}
