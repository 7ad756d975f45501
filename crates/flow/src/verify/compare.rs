//! Mismatches that a testbench reports, translated to elements of the model.
//!
//! A testbench prints `MISMATCH lane row response` for the first rows that differ and `DONE lane rows mismatches` at
//! the end of each lane. A report counts only if every lane is done with all of its rows.

use super::cycles::{Bits, Cycles};
use num_bigint::BigInt;
use std::fmt;

/// Result of a simulation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Differences in the order of lanes and rows; of each lane only the first few rows.
    pub mismatches: Vec<Mismatch>,
    /// Rows that differ, including those without details.
    pub wrong_rows: usize,
    /// Rows whose data was compared.
    pub compared: usize,
}

/// A difference between expected and observed values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Index of the module in the testbench.
    pub lane: usize,
    /// Clock cycle, from 0.
    pub cycle: usize,
    /// Kind and details of the difference.
    pub what: Difference,
}

/// Kind and details of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// A stream: the handshake rule that is violated, or the beat that is wrong.
    Stream(String),
    /// The valid flag.
    Valid {
        /// The expected flag.
        expected: bool,
    },
    /// An output element.
    Output {
        /// Index of the element.
        element: usize,
        /// Name of the element.
        name: String,
        /// Index of the sample; `None` for outputs after a reset.
        sample: Option<usize>,
        /// Expected raw integer value.
        expected: BigInt,
        /// Observed raw integer value; `None` if some of its bits are unknown.
        found: Option<BigInt>,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            Difference::Stream(what) => write!(f, "cycle {}: {what}", self.cycle),
            Difference::Valid { expected } => {
                write!(f, "cycle {}: the valid flag is not {}", self.cycle, u8::from(*expected))
            }
            Difference::Output { element: _, name, sample, expected, found } => {
                let whose = sample.map_or_else(|| "after a reset".to_owned(), |sample| format!("sample {sample}"));
                write!(f, "cycle {}: {whose}, {name}: expected {expected}, found ", self.cycle)?;
                match found {
                    Some(code) => write!(f, "{code}"),
                    None => f.write_str("unknown bits"),
                }
            }
        }
    }
}

/// Parses the report of a simulation; `None` if the report is incomplete.
pub(super) fn read_report(said: &str, lanes: &[Cycles]) -> Option<Report> {
    let mut report = Report { compared: lanes.iter().map(Cycles::compared).sum(), ..Report::default() };
    let mut done = vec![false; lanes.len()];
    for line in said.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["MISMATCH", lane, row, response] => {
                let (lane, row) = (lane.parse().ok()?, row.parse().ok()?);
                report.mismatches.extend(differences(lanes.get(lane)?, lane, row, response)?);
            }
            ["DONE", lane, rows, wrong] => {
                let lane: usize = lane.parse().ok()?;
                if rows.parse() != Ok(lanes.get(lane)?.cycles.len()) {
                    return None;
                }
                report.wrong_rows += wrong.parse::<usize>().ok()?;
                *done.get_mut(lane)? = true;
            }
            _ => {}
        }
    }
    report.mismatches.sort_by_key(|m| (m.lane, m.cycle));
    done.iter().all(|d| *d).then_some(report)
}

/// Returns the valid flag and the elements that differ in a row; `None` if the response is malformed.
fn differences(lane: &Cycles, index: usize, row: usize, response: &str) -> Option<Vec<Mismatch>> {
    let layout = &lane.layout;
    let cycle = lane.cycles.get(row)?;
    let (found, known) = parse_binary(response, layout.response_width)?;
    let mut all = Vec::new();
    if let Some(expected) = cycle.valid.filter(|valid| !known.get(0) || found.get(0) != *valid) {
        all.push(Mismatch { lane: index, cycle: row, what: Difference::Valid { expected } });
    }
    let Some(sample) = cycle.sample else { return Some(all) };
    for (element, about) in lane.elements.iter().enumerate() {
        let lo = layout.output_lo(element);
        let expected = &lane.outputs.row(sample)[element];
        // Either all bits of an element are defined, or none.
        if about.width > 0 && cycle.defined.as_ref().is_some_and(|defined| !defined.get(lo)) {
            continue;
        }
        let is_known = (lo..lo + about.width).all(|at| known.get(at));
        let code = is_known.then(|| layout.output_code(&found, element, about.kif()));
        if code.as_ref() != Some(expected) {
            let what = Difference::Output {
                element,
                name: about.name.clone(),
                sample: lane.sample_of(sample),
                expected: expected.clone(),
                found: code,
            };
            all.push(Mismatch { lane: index, cycle: row, what });
        }
    }
    Some(all)
}

/// Returns the bits of binary digits, and the mask of known bits; `None` if the number of digits is not `width`.
fn parse_binary(text: &str, width: u32) -> Option<(Bits, Bits)> {
    let (mut bits, mut known) = (Bits::zero(width), Bits::zero(width));
    if text.chars().count() != width as usize {
        return None;
    }
    for (at, c) in (0..width).zip(text.chars().rev()) {
        bits.set(at, c == '1');
        known.set(at, matches!(c, '0' | '1'));
    }
    Some((bits, known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::{Rows, Vectors};
    use alir_hw::netlist::{Element, Interface};

    /// Returns one run of a wire of four signed bits with two samples.
    fn lanes() -> [Cycles; 1] {
        let element = |port: &str, name: &str| Element {
            port: port.into(),
            lsb: 0,
            width: 4,
            signed: true,
            fractionals: 0,
            name: name.into(),
            beat: 0,
        };
        let interface =
            Interface::plain("wire", vec![element("model_inp", "inp[0]")], vec![element("model_out", "out[0]")]);
        let rows = Rows::new(1, [vec![BigInt::from(-3)], vec![BigInt::from(5)]]);
        [Cycles::plan(&interface, &Vectors { inputs: rows.clone(), outputs: rows }, 1)]
    }

    #[test]
    fn differences_name_element_sample_and_values() {
        let report = read_report("noise\nMISMATCH 0 1 1101\nDONE 0 2 1\n", &lanes()).unwrap();
        assert_eq!((report.wrong_rows, report.compared), (1, 2));
        assert_eq!(report.mismatches[0].to_string(), "cycle 1: sample 1, out[0]: expected 5, found -3");
    }

    #[test]
    fn unknown_bits_are_a_difference() {
        let report = read_report("MISMATCH 0 1 01x1\nDONE 0 2 1\n", &lanes()).unwrap();
        assert_eq!(report.mismatches[0].to_string(), "cycle 1: sample 1, out[0]: expected 5, found unknown bits");
    }

    #[test]
    fn a_report_that_is_not_complete_does_not_count() {
        assert_eq!(read_report("", &lanes()), None);
        assert_eq!(read_report("DONE 0 1 0\n", &lanes()), None, "a row is missing");
        assert_eq!(read_report("MISMATCH 0 7 0000\nDONE 0 2 1\n", &lanes()), None, "there is no such row");
        assert_eq!(read_report("MISMATCH 0 1 00\nDONE 0 2 1\n", &lanes()), None, "too few digits");
        assert!(read_report("DONE 0 2 0\n", &lanes()).is_some());
    }
}
