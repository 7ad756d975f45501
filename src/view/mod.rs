//! A program and its pipeline as one page for a browser: self-contained, no network, made from a template.
//!
//! The page gets columns of numbers and words as JSON; it lays out, draws, searches and follows cones itself.

use crate::interp::LookupMiss;
use crate::interp::samples::{Port, Values};
use crate::interp::{Step, batch, golden_steps, meaning};
use crate::ir::{Model, Op, ValueId};
use crate::num::Interval;
use crate::schedule::{self, Delay};
use askama::Template;
use num_bigint::BigInt;
use rustc_hash::FxHashMap;
use serde_json::json;

/// Bars of a histogram.
const BINS: usize = 24;
/// Letters of a line of text that are shown.
const LINE: usize = 400;

/// What is shown.
pub struct Subject<'a> {
    /// What the program is called.
    pub title: &'a str,
    /// A line of figures about it.
    pub facts: &'a str,
    /// The program as it is built.
    pub model: &'a Model,
    /// Time of each operation.
    pub delay: &'a dyn Delay,
    /// The stage of each operation.
    pub stage: &'a [u32],
    /// Number of stages; 0 for logic without registers.
    pub stages: u32,
    /// Longest path of each stage, from stage 1.
    pub stage_delays: &'a [f64],
    /// Register bits behind each stage, from stage 1.
    pub register_bits: &'a [u64],
    /// Each stage's longest path.
    pub view: &'a schedule::View,
    /// The stages as a picture in SVG, well-formed.
    pub chart: &'a str,
    /// The Verilog text.
    pub rtl: &'a str,
    /// What each operation was on samples.
    pub samples: Option<&'a Observed>,
}

#[derive(Template)]
#[template(path = "view/page.html")]
struct Page<'a> {
    title: &'a str,
    facts: &'a str,
    chart: &'a str,
    data: String,
}

/// Values of every operation over samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    samples: u32,
    first: Vec<BigInt>,
    least: Vec<BigInt>,
    most: Vec<BigInt>,
    /// For each operation [`BINS`] counts of equal parts of its interval.
    bins: Vec<u32>,
}

impl Observed {
    /// Runs the golden interpreter on `rows` rows of a block of reals for the ports `ports`.
    ///
    /// # Errors
    /// The first sample that is no input, with its number.
    pub fn new(model: &Model, ports: &[Port], block: &Values, rows: usize) -> Result<Observed, (usize, batch::Fault)> {
        let n = model.nodes().len();
        let mut all = Observed {
            samples: 0,
            first: Vec::with_capacity(n),
            least: Vec::new(),
            most: Vec::new(),
            bins: vec![0; n * BINS],
        };
        for row in 0..rows {
            let inputs = batch::codes_of_row(ports, block, row, false).map_err(|fault| (row, fault))?;
            let seen = golden_steps(model, &inputs, LookupMiss::Zero, |step| {
                if let Step::Op { id, code, .. } = step {
                    all.note(model, id, code, row == 0);
                }
            });
            seen.expect("lookups outside their table read zero");
            all.samples += 1;
        }
        Ok(all)
    }

    fn note(&mut self, model: &Model, id: ValueId, code: &BigInt, is_first: bool) {
        let k = id.index();
        if is_first {
            self.first.push(code.clone());
            self.least.push(code.clone());
            self.most.push(code.clone());
        }
        if *code < self.least[k] {
            self.least[k] = code.clone();
        }
        if *code > self.most[k] {
            self.most[k] = code.clone();
        }
        self.bins[k * BINS + bin(&model.node(id).interval, code)] += 1;
    }
}

/// Which part of its interval a code is in; what lies outside (that wraps) counts to the nearest.
fn bin(interval: &Interval, code: &BigInt) -> usize {
    let (min, max) = (interval.min.to_big(), interval.max.to_big());
    let size: BigInt = &max - &min + 1u32;
    let part: BigInt = (code - &min) * BINS / size;
    let last = BINS - 1;
    if part.sign() == num_bigint::Sign::Minus { 0 } else { usize::try_from(part).unwrap_or(last).min(last) }
}

/// A code as the number that it stands for.
fn real(code: &BigInt, model: &Model, id: ValueId) -> String {
    let kif = model.kif(id);
    let frac = i64::from(model.node(id).interval.frac);
    let (value, exact) = Port { kif, frac }.real_of_code(code);
    format!("{}{value}", if exact { "" } else { "about " })
}

/// The names that the generated text has for the operations.
fn names(model: &Model) -> Vec<String> {
    let mut seen: FxHashMap<u32, u32> = FxHashMap::default();
    let name = |id: ValueId| {
        let origin = model.node(id).origin;
        let before = seen.entry(origin).or_insert(0);
        *before += 1;
        if *before == 1 { format!("v{origin}") } else { format!("v{origin}.{before}") }
    };
    model.ids().map(name).collect()
}

/// Where a name is declared first: line from 1, and the line.
fn declarations(rtl: &str) -> FxHashMap<&str, (usize, &str)> {
    let mut found = FxHashMap::default();
    for (number, line) in (1..).zip(rtl.lines()) {
        let words = line.trim_start();
        if !["wire", "reg", "input", "output"].iter().any(|w| words.starts_with(w)) {
            continue;
        }
        let declared = words.split(['=', ';', ',']).next().unwrap_or_default();
        if let Some(name) = declared.split_whitespace().last() {
            found.entry(name).or_insert((number, line));
        }
    }
    found
}

/// The page.
pub fn page(subject: &Subject<'_>) -> String {
    // In a script element only `<` can end what is JSON.
    let data = data(subject).to_string().replace('<', "\\u003c");
    let page = Page { title: subject.title, facts: subject.facts, chart: subject.chart, data };
    page.render().expect("templates render what they are given")
}

fn data(subject: &Subject<'_>) -> serde_json::Value {
    let model = subject.model;
    let names = names(model);
    let name = |v: ValueId| names[v.index()].clone();
    let mut kinds: Vec<&'static str> = Vec::new();
    let mut kind_of = |op: &Op| {
        let found = kinds.iter().position(|k| *k == op.name());
        found.unwrap_or_else(|| {
            kinds.push(op.name());
            kinds.len() - 1
        })
    };
    let k: Vec<usize> = model.nodes().iter().map(|node| kind_of(&node.op)).collect();
    let (mut operands, mut starts) = (Vec::new(), vec![0]);
    for node in model.nodes() {
        node.op.for_each_operand(|v| operands.push(v.0));
        starts.push(operands.len());
    }
    let declared = declarations(subject.rtl);
    let line = |id: ValueId| declared.get(names[id.index()].as_str()).copied().unwrap_or_default();
    let shown = |line: &str| line.trim().chars().take(LINE).collect::<String>();
    let bound = |id: ValueId, code: BigInt| real(&code, model, id);
    let kifs = model.kifs();
    let paths = subject.view.stages.iter().map(|stage| {
        let ops = stage.path.iter().filter_map(|step| match step.what {
            schedule::Step::Op(id) => Some(id.0),
            _ => None,
        });
        ops.collect::<Vec<_>>()
    });
    let samples = subject.samples.map(|seen| {
        let reals = |codes: &[BigInt]| model.ids().zip(codes).map(|(id, c)| real(c, model, id)).collect::<Vec<_>>();
        json!({
            "count": seen.samples, "bins": BINS, "h": seen.bins,
            "v": reals(&seen.first), "min": reals(&seen.least), "max": reals(&seen.most),
        })
    });
    json!({
        "kinds": kinds,
        "stages": subject.stages,
        "delays": subject.stage_delays,
        "registers": subject.register_bits,
        "paths": paths.collect::<Vec<_>>(),
        "outputs": model.outputs().iter().map(|o| o.source.map_or(-1, |v| i64::from(v.0))).collect::<Vec<_>>(),
        "samples": samples,
        "ops": {
            "k": k,
            "n": names,
            "s": subject.stage,
            "w": kifs.iter().map(|kif| kif.width()).collect::<Vec<_>>(),
            "g": kifs.iter().map(|kif| u8::from(kif.signed)).collect::<Vec<_>>(),
            "f": kifs.iter().map(|kif| kif.frac).collect::<Vec<_>>(),
            "lo": model.ids().map(|id| bound(id, model.node(id).interval.min.to_big())).collect::<Vec<_>>(),
            "hi": model.ids().map(|id| bound(id, model.node(id).interval.max.to_big())).collect::<Vec<_>>(),
            "d": model.ids().map(|id| subject.delay.own_delay(model, id)).collect::<Vec<_>>(),
            "a": operands,
            "p": starts,
            "m": model.nodes().iter().map(|node| meaning(model, &node.op, &name)).collect::<Vec<_>>(),
            "l": model.ids().map(|id| line(id).0).collect::<Vec<_>>(),
            "t": model.ids().map(|id| shown(line(id).1)).collect::<Vec<_>>(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_share_the_interval() {
        let interval = Interval::new(-4, 19, 0);
        assert_eq!([-4, 0, 19].map(|c| bin(&interval, &BigInt::from(c))), [0, 4, 23]);
        assert_eq!([-100, 100].map(|c| bin(&interval, &BigInt::from(c))), [0, 23]);
        assert_eq!(bin(&Interval::new(0, 0, 0), &BigInt::from(0)), 0);
        assert_eq!(bin(&Interval::new(0, 1, 0), &BigInt::from(1)), 12);
    }

    #[test]
    fn declarations_are_found() {
        let rtl = "module m (\n    input  wire [3:0] a,\n    output wire b\n);\n  wire [8:0] v10 = {a, v1};  // sub\n  reg v11;\n";
        let found = declarations(rtl);
        assert_eq!(found["v10"].0, 5);
        assert_eq!(found["v11"], (6, "  reg v11;"));
        assert_eq!(found["a"].0, 2);
    }
}
