//! The file `proof.txt` of a certificate: steps from the model over programs to the text, and in each of them records of
//! gates that are equal.

use crate::graph::{Lit, Reason, Record};
use std::collections::HashMap;

/// The first line.
pub const HEAD: &str = "alir2hdl-certificate 2";

/// Another program, or the text, over the gates of all before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The file of the other program; the text without.
    pub program: Option<String>,
    /// Records by the value of the second side behind which they are applied.
    pub records: HashMap<usize, Vec<Record>>,
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
        let mut lines = (1..).zip(text.lines());
        if lines.next().map(|l| l.1) != Some(HEAD) {
            return Err(format!("the certificate does not begin with {HEAD:?}"));
        }
        let mut out = Certificate::default();
        let mut place = None;
        while let Some((number, line)) = lines.next() {
            let wrong = |what: &str| format!("line {number} of the certificate: {what}");
            let mut words = line.split_ascii_whitespace();
            let kind = words.next().unwrap_or("");
            match kind {
                "case" => {
                    let bits: Option<Vec<bool>> =
                        words.next().unwrap_or("").chars().map(|c| c.to_digit(2).map(|d| d == 1)).collect();
                    out.case = Some(bits.ok_or_else(|| wrong("a case is zeros and ones"))?);
                }
                "step" => {
                    let name = words.next().ok_or_else(|| wrong("a step without a name"))?;
                    let program = (name != "text").then(|| name.to_owned());
                    if name.contains(['/', '\\']) || name.starts_with('.') {
                        return Err(wrong("a program outside of the folder"));
                    }
                    if out.steps.last().is_some_and(|step| step.program.is_none()) {
                        return Err(wrong("a step behind the text"));
                    }
                    out.steps.push(Step { program, records: HashMap::new() });
                    place = None;
                }
                "at" => place = Some(parse(words.next()).map_err(|what| wrong(&what))?),
                "all" | "clauses" => {
                    let numbers: Vec<u32> =
                        words.map(|word| parse(Some(word))).collect::<Result<_, _>>().map_err(|what| wrong(&what))?;
                    let [x, y, ref leaves @ ..] = numbers[..] else { return Err(wrong("a record without its pair")) };
                    let reason = match kind {
                        "all" => Reason::Exhaustion,
                        _ => Reason::Clauses(clauses(&mut lines)?),
                    };
                    let (Some(step), Some(place)) = (out.steps.last_mut(), place) else {
                        return Err(wrong("a record that belongs to nothing"));
                    };
                    let record = Record { pair: (Lit(x), Lit(y)), leaves: leaves.to_vec(), reason };
                    step.records.entry(place).or_default().push(record);
                }
                _ => return Err(wrong("neither step, at, all nor clauses")),
            }
        }
        match out.steps.last() {
            Some(step) if step.program.is_none() => Ok(out),
            _ => Err("the certificate does not end with the text".to_owned()),
        }
    }
}

fn parse<T: std::str::FromStr>(word: Option<&str>) -> Result<T, String> {
    word.and_then(|word| word.parse().ok()).ok_or_else(|| format!("{word:?} is no number here"))
}

/// Clauses up to the line `end`.
fn clauses<'a>(lines: &mut impl Iterator<Item = (u32, &'a str)>) -> Result<Vec<Vec<i32>>, String> {
    let mut out = Vec::new();
    for (number, line) in lines {
        if line == "end" {
            return Ok(out);
        }
        let mut clause: Vec<i32> = line
            .split_ascii_whitespace()
            .map(|word| parse(Some(word)))
            .collect::<Result<_, _>>()
            .map_err(|what| format!("line {number} of the certificate: {what}"))?;
        if clause.pop() != Some(0) || clause.contains(&0) || clause.contains(&i32::MIN) {
            return Err(format!("line {number} of the certificate: a clause ends with its only 0"));
        }
        // No clause needs a variable that the question does not have; numbers bound what is allocated.
        if clause.iter().any(|l| l.unsigned_abs() > 1 << 23) {
            return Err(format!("line {number} of the certificate: a literal beyond the limit"));
        }
        out.push(clause);
    }
    Err("the certificate ends within clauses".to_owned())
}
