//! Stimulus of the inputs, and the expected outputs.
//!
//! Samples are raw integer values of the input ports. Corner cases come first, then random samples of several kinds; a
//! count and a seed give the same samples on every computer. Expected values are those of the reference interpreter
//! with [`LookupMiss::Zero`], which is the behaviour of the hardware.

use crate::compile::{Source, Spec};
use alir_core::diag::{Diagnostic, Place};
use alir_core::ir::{Model, Op};
use alir_core::num::SplitMix;
use alir_core::num::{Interval, Kif, align, wrap};
use alir_interp::{LookupMiss, Plan, PlanOptions, golden};
use num_bigint::BigInt;

/// Rows of raw integer values, one value per element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    elements: usize,
    rows: usize,
    codes: Vec<BigInt>,
}

impl Rows {
    /// Returns rows of `elements` raw integer values each.
    ///
    /// # Panics
    /// If a row has another length.
    pub fn new(elements: usize, rows: impl IntoIterator<Item = Vec<BigInt>>) -> Rows {
        let mut all = Rows { elements, rows: 0, codes: Vec::new() };
        for row in rows {
            all.push(row);
        }
        all
    }

    /// Returns these rows, followed by `rows`.
    ///
    /// # Panics
    /// If a row has another length.
    pub(super) fn followed_by(&self, rows: Vec<Vec<BigInt>>) -> Rows {
        let mut all = self.clone();
        rows.into_iter().for_each(|row| all.push(row));
        all
    }

    /// Appends a row.
    ///
    /// # Panics
    /// If the row has another length.
    pub(super) fn push(&mut self, row: Vec<BigInt>) {
        assert_eq!(row.len(), self.elements, "a code for each element");
        self.codes.extend(row);
        self.rows += 1;
    }

    /// Returns the number of elements of a row.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns `true` if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns the row with this index.
    pub fn row(&self, index: usize) -> &[BigInt] {
        &self.codes[index * self.elements..(index + 1) * self.elements]
    }
}

/// Samples with their expected outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vectors {
    /// Raw integer values of the input ports.
    pub inputs: Rows,
    /// Raw integer values of the output ports.
    pub outputs: Rows,
}

impl Vectors {
    /// Generates `count` samples (at least one) for a model, with the outputs of the model.
    ///
    /// The first samples are corner cases: all bits zero; all bits one; every element at the smallest and largest value
    /// of its type and of its declared intervals; one element alone at each of these values; a walking one through all
    /// bits. If these are more than half of `count`, the last two kinds are thinned out evenly. The remaining samples
    /// are random: uniform bits, values inside the intervals, and mixtures of corner cases.
    pub fn generate(model: &Model, count: usize, seed: u64) -> Vectors {
        Vectors::from_inputs(model, Vectors::generate_inputs(model, count, seed))
    }

    /// Generates the inputs of [`Vectors::generate`].
    pub fn generate_inputs(model: &Model, count: usize, seed: u64) -> Rows {
        let elements = elements_of(model);
        let mut rows = corners(&elements, count.max(1));
        let mut random = SplitMix::new(seed ^ 0x7665_6374_6f72);
        while rows.len() < count {
            rows.push(random_sample(&elements, rows.len() % 4, &mut random));
        }
        Rows::new(elements.len(), rows)
    }

    /// Generates samples for which the hardware of a [`Spec`] must equal the model, with the expected outputs: those of
    /// the source, or of the model if it was not lowered from a source.
    ///
    /// # Errors
    /// If an input has no value in its assumed intervals; if a result of the source has no raw integer value on a port.
    pub fn random(
        model: &Model,
        source: Option<&dyn Source>,
        spec: &Spec,
        count: usize,
        seed: u64,
    ) -> Result<Vectors, Diagnostic> {
        let inside = spec.optimisation.assume_intervals;
        let vectors = if inside { Vectors::inside(model, count, seed)? } else { Vectors::generate(model, count, seed) };
        match source {
            Some(source) => vectors.with_outputs_of(source),
            None => Ok(vectors),
        }
    }

    /// Replaces the outputs by those that a source computes for the inputs.
    ///
    /// # Errors
    /// If a result has no raw integer value on its port.
    pub fn with_outputs_of(self, source: &dyn Source) -> Result<Vectors, Diagnostic> {
        let mut outputs = Rows::new(self.outputs.elements, []);
        for sample in 0..self.inputs.len() {
            let row = source.outputs(self.inputs.row(sample)).map_err(|why| {
                Diagnostic::error("E0302", Place::Whole, format!("the {}, sample {sample}: {why}", source.kind()))
            })?;
            outputs.push(row);
        }
        Ok(Vectors { inputs: self.inputs, outputs })
    }

    /// Returns the first sample with an input outside of an interval that a reader of the input declares, and the index
    /// of this input element. Returns `None` if there is no such sample.
    pub fn outside(model: &Model, inputs: &Rows) -> Option<(usize, usize)> {
        let elements = insides_of(model);
        let wrong = |sample: usize| {
            let row = inputs.row(sample).iter().zip(&elements);
            row.enumerate().find(|(_, (code, element))| !element.holds(code)).map(|(at, _)| (sample, at))
        };
        (0..inputs.len()).find_map(wrong)
    }

    fn inside(model: &Model, count: usize, seed: u64) -> Result<Vectors, Diagnostic> {
        Vectors::generate_inside(model, count, seed).map_err(|input| {
            let message = format!("no code of input {input} lies in all intervals that its readers declare");
            Diagnostic::error("E0302", Place::Flag("--assume-intervals".into()), message)
                .with_help("without the option nothing is assumed of the inputs")
        })
    }

    /// Like [`Vectors::generate`], but with every sample moved into the intervals that the model declares for its
    /// inputs.
    ///
    /// # Errors
    /// The first input element without a raw integer value in all intervals that its readers declare.
    pub fn generate_inside(model: &Model, count: usize, seed: u64) -> Result<Vectors, usize> {
        let anywhere = Vectors::generate_inputs(model, count, seed);
        let elements = insides_of(model);
        let mut rows = Vec::with_capacity(anywhere.len());
        for sample in 0..anywhere.len() {
            let moved = |(at, code): (usize, &BigInt)| elements[at].moved(code).ok_or(at);
            rows.push(anywhere.row(sample).iter().enumerate().map(moved).collect::<Result<_, _>>()?);
        }
        Ok(Vectors::from_inputs(model, Rows::new(elements.len(), rows)))
    }

    /// Returns these samples with the outputs of the model.
    ///
    /// # Panics
    /// If the rows do not match the model.
    pub fn from_inputs(model: &Model, inputs: Rows) -> Vectors {
        let outputs = expected(model, &inputs);
        Vectors { inputs, outputs }
    }
}

/// Type of an input element, and the bounds of the intervals that its readers declare, as raw integer values of the
/// port.
struct Element {
    kif: Kif,
    ends: Vec<(BigInt, BigInt)>,
}

impl Element {
    /// Returns the corner values: bounds of the type, then bounds of the intervals.
    fn corners(&self) -> Vec<BigInt> {
        let mut all = vec![self.kif.min_code(), self.kif.max_code()];
        for (min, max) in &self.ends {
            all.extend([min.clone(), max.clone()]);
        }
        all.dedup();
        all
    }
}

fn elements_of(model: &Model) -> Vec<Element> {
    let mut elements: Vec<Element> = model.input_kifs().iter().map(|&kif| Element { kif, ends: Vec::new() }).collect();
    for node in model.nodes() {
        let Op::Input { input } = node.op else { continue };
        let element = &mut elements[input as usize];
        let code = |end: &alir_core::num::Code| {
            wrap(&align(&end.to_big(), i64::from(node.interval.frac), i64::from(element.kif.frac)), element.kif)
        };
        let ends = (code(&node.interval.min), code(&node.interval.max));
        // An interval that wraps in the port's type gives no information about the port.
        if ends.0 <= ends.1 && !element.ends.contains(&ends) {
            element.ends.push(ends);
        }
    }
    elements
}

/// Set of the raw integer values of an input element that are inside the intervals of all readers.
struct Inside {
    /// Type of the port.
    kif: Kif,
    /// Interval that each reader declares.
    readers: Vec<Interval>,
}

/// Maximum number of neighbours of a rejected value that are tried.
const NEIGHBOURS: u32 = 4096;

impl Inside {
    fn holds(&self, code: &BigInt) -> bool {
        self.readers.iter().all(|declared| {
            let kif = declared.kif();
            let read = wrap(&align(code, i64::from(self.kif.frac), i64::from(declared.frac)), kif);
            declared.min.to_big() <= read && read <= declared.max.to_big()
        })
    }

    /// Returns `code` if it is inside the set, otherwise a value inside, at a distance from the smallest that is
    /// derived from `code`. Returns `None` if no tried value is inside.
    fn moved(&self, code: &BigInt) -> Option<BigInt> {
        if self.holds(code) {
            return Some(code.clone());
        }
        let end = |declared: &Interval, end: &alir_core::num::Code| {
            align(&end.to_big(), i64::from(declared.frac), i64::from(self.kif.frac))
        };
        let lo = self.readers.iter().map(|r| end(r, &r.min)).max()?.max(self.kif.min_code());
        let hi = self.readers.iter().map(|r| end(r, &r.max)).min()?.min(self.kif.max_code());
        let span: BigInt = &hi - &lo + 1;
        if span <= BigInt::ZERO {
            return None;
        }
        let distance = ((code - &lo) % &span + &span) % &span;
        let tries = (0..NEIGHBOURS).map(|k| &lo + (&distance + k) % &span);
        tries.into_iter().find(|code| self.holds(code))
    }
}

fn insides_of(model: &Model) -> Vec<Inside> {
    let mut elements: Vec<Inside> = model.input_kifs().iter().map(|&kif| Inside { kif, readers: Vec::new() }).collect();
    for node in model.nodes() {
        let Op::Input { input } = node.op else { continue };
        let element = &mut elements[input as usize];
        if !element.readers.contains(&node.interval) {
            element.readers.push(node.interval.clone());
        }
    }
    elements
}

fn corners(elements: &[Element], count: usize) -> Vec<Vec<BigInt>> {
    let all = |code: &dyn Fn(&Element) -> BigInt| elements.iter().map(code).collect::<Vec<_>>();
    let mut rows = vec![
        all(&|_| BigInt::ZERO),
        all(&|e| wrap(&BigInt::from(-1), e.kif)),
        all(&|e| e.kif.min_code()),
        all(&|e| e.kif.max_code()),
        all(&|e| e.ends.first().map_or(BigInt::ZERO, |(min, _)| min.clone())),
        all(&|e| e.ends.first().map_or(BigInt::ZERO, |(_, max)| max.clone())),
    ];
    rows.truncate(count);
    let room = (count / 2).saturating_sub(rows.len());
    // One element is not zero: first its corner values, then one set bit. The raw integer values of wide elements are
    // computed only for samples that are kept.
    let corner_counts = elements.iter().enumerate().map(|(e, element)| (e, element.corners().len(), false));
    let bit_counts = elements.iter().enumerate().map(|(e, element)| (e, element.kif.width() as usize, true));
    let singles: Vec<(usize, usize, bool)> = corner_counts
        .chain(bit_counts)
        .flat_map(|(element, count, is_bit)| (0..count).map(move |k| (element, k, is_bit)))
        .collect();
    let kept = singles.len().min(room);
    for k in 0..kept {
        let (index, which, is_bit) = singles[k * singles.len() / kept];
        let element = &elements[index];
        let mut row = vec![BigInt::ZERO; elements.len()];
        row[index] =
            if is_bit { wrap(&(BigInt::from(1) << which), element.kif) } else { element.corners().swap_remove(which) };
        rows.push(row);
    }
    rows
}

fn random_sample(elements: &[Element], kind: usize, random: &mut SplitMix) -> Vec<BigInt> {
    elements
        .iter()
        .map(|element| {
            let uniform = |random: &mut SplitMix| wrap(&random.bits(element.kif.width()), element.kif);
            let inside = |random: &mut SplitMix| match element.ends.len() {
                0 => BigInt::ZERO,
                n => {
                    let (min, max) = &element.ends[random.below(n as u64) as usize];
                    between(random, min, max)
                }
            };
            match kind {
                0 => uniform(random),
                1 | 2 => inside(random),
                _ if random.below(2) == 0 => inside(random),
                _ => {
                    let mut corners = element.corners();
                    let pick = random.below(corners.len() as u64) as usize;
                    corners.swap_remove(pick)
                }
            }
        })
        .collect()
}

/// Returns a random number from `min` to `max`, both included.
fn between(random: &mut SplitMix, min: &BigInt, max: &BigInt) -> BigInt {
    let span: BigInt = max - min + 1;
    // 64 additional random bits make the bias negligible.
    let width = u32::try_from(span.bits()).unwrap_or(u32::MAX - 64) + 64;
    min + random.bits(width) % span
}

/// Largest product of operations and samples for which the reference interpreter computes all rows, in about a second.
const GOLDEN_WORK: usize = 2_000_000;

/// Number of samples for which the reference interpreter checks the batch engine.
const JUDGED: usize = 16;

/// Returns the model's outputs for every row.
///
/// Small runs use the reference interpreter. Large ones use the batch engine, after the reference interpreter has
/// confirmed some of its rows.
fn expected(model: &Model, inputs: &Rows) -> Rows {
    let mut outputs = Rows { elements: model.outputs().len(), rows: inputs.len(), codes: Vec::new() };
    let golden = |index| golden(model, inputs.row(index), LookupMiss::Zero).expect("a missed lookup reads zero");
    if model.nodes().len().saturating_mul(inputs.len()) <= GOLDEN_WORK {
        outputs.codes = (0..inputs.len()).flat_map(golden).collect();
        return outputs;
    }
    let plan = Plan::new(model, PlanOptions { lookup_miss: LookupMiss::Zero, ..PlanOptions::default() });
    outputs.codes = vec![BigInt::ZERO; inputs.len() * outputs.elements];
    let faults = plan.runner().run_exact(&inputs.codes, &mut outputs.codes);
    assert!(faults.is_empty(), "codes are no NaNs, and a missed lookup reads zero");
    for index in (0..inputs.len()).step_by(inputs.len().div_ceil(JUDGED)) {
        assert_eq!(outputs.row(index), golden(index), "the engine and the golden interpreter differ, sample {index}");
    }
    outputs
}

#[cfg(test)]
mod tests {
    use super::*;
    use alir_core::ir::{Builder, Node, Output};

    /// Returns a model with two inputs, one of 4 signed bits with the interval -3 to 5, one of 2 bits; the output is
    /// their sum.
    fn model() -> Model {
        let mut b = Builder::new(vec![0, 0]);
        let node = |op, min: i64, max: i64| Node {
            op,
            interval: Interval::new(min, max, 0),
            latency: 0.0,
            cost: 0.0,
            origin: 0,
        };
        let x = b.push(node(Op::Input { input: 0 }, -3, 5));
        let y = b.push(node(Op::Input { input: 1 }, 0, 3));
        let sum = b.push(node(Op::Add { a: x, b: y, shift: 0 }, -3, 8));
        b.output(Output { source: Some(sum), shift: 0, neg: false });
        b.finish().unwrap()
    }

    fn small(row: &[BigInt]) -> Vec<i64> {
        row.iter().map(|c| i64::try_from(c).unwrap()).collect()
    }

    #[test]
    fn corners_come_first_and_are_complete() {
        let vectors = Vectors::generate(&model(), 100, 1);
        let rows: Vec<Vec<i64>> = (0..vectors.inputs.len()).map(|i| small(vectors.inputs.row(i))).collect();
        assert_eq!(rows.len(), 100);
        assert_eq!(rows[..6], [vec![0, 0], vec![-1, 3], vec![-8, 0], vec![7, 3], vec![-3, 0], vec![5, 3]]);
        // One element alone at the bounds of its type and interval, and a walking one.
        for single in [[-8, 0], [7, 0], [-3, 0], [5, 0], [0, 3], [1, 0], [2, 0], [4, 0], [0, 1], [0, 2]] {
            assert!(rows.contains(&single.to_vec()), "{single:?}");
        }
    }

    #[test]
    fn samples_stay_in_their_types_and_reach_beyond_the_intervals() {
        let vectors = Vectors::generate(&model(), 400, 2);
        let firsts: Vec<i64> = (0..400).map(|i| small(vectors.inputs.row(i))[0]).collect();
        assert!(firsts.iter().all(|v| (-8..8).contains(v)));
        assert!((-8..8).all(|v| firsts.contains(&v)));
    }

    #[test]
    fn samples_inside_reach_everything_inside_and_nothing_else() {
        let vectors = Vectors::generate_inside(&model(), 400, 2).unwrap();
        let firsts: Vec<i64> = (0..400).map(|i| small(vectors.inputs.row(i))[0]).collect();
        assert!(firsts.iter().all(|v| (-3..=5).contains(v)));
        assert!((-3..=5).all(|v| firsts.contains(&v)));
        // A second reader with steps of two, and a second reader that leaves no common value.
        let with = |interval: Interval| {
            let mut b = Builder::like(&model());
            model().nodes().iter().for_each(|n| {
                b.push(n.clone());
            });
            let again = b.op(Op::Input { input: 0 }, interval);
            b.output(Output { source: Some(again), shift: 0, neg: false });
            b.finish().unwrap()
        };
        let vectors = Vectors::generate_inside(&with(Interval::new(-1, 1, -1)), 200, 3).unwrap();
        let firsts: Vec<i64> = (0..200).map(|i| small(vectors.inputs.row(i))[0]).collect();
        assert!((-2..=3).all(|v| firsts.contains(&v)) && firsts.iter().all(|v| (-2..=3).contains(v)));
        assert_eq!(Vectors::generate_inside(&with(Interval::new(6, 7, 0)), 10, 3), Err(0));
    }

    #[test]
    fn outputs_are_those_of_the_interpreter_in_order() {
        let vectors = Vectors::generate(&model(), 1000, 3);
        for i in 0..1000 {
            let row = small(vectors.inputs.row(i));
            // The sum is a signed value of 5 bits.
            let sum = (row[0] + row[1] + 16).rem_euclid(32) - 16;
            assert_eq!(small(vectors.outputs.row(i)), [sum], "{row:?}");
        }
    }

    #[test]
    fn large_runs_give_what_small_runs_give() {
        // With three operations, this number of samples uses the batch engine.
        let count = GOLDEN_WORK / 3 + 10;
        let inputs = Rows::new(2, (0..count).map(|i| vec![BigInt::from(i % 16) - 8, BigInt::from(i % 4)]));
        let large = Vectors::from_inputs(&model(), inputs.clone());
        let small = Vectors::from_inputs(&model(), Rows::new(2, (0..16).map(|i| inputs.row(i).to_vec())));
        for i in 0..count {
            assert_eq!(large.outputs.row(i), small.outputs.row(i % 16));
        }
    }

    #[test]
    fn a_seed_gives_the_same_samples_again() {
        assert_eq!(Vectors::generate(&model(), 50, 4), Vectors::generate(&model(), 50, 4));
        assert_ne!(Vectors::generate(&model(), 50, 4), Vectors::generate(&model(), 50, 5));
        assert_eq!(Vectors::generate(&model(), 1, 4).inputs.len(), 1);
    }
}
