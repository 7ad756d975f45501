//! A constant matrix as a network with one exact layer, `y = x W`.
//!
//! `matrix.npy` has two axes, inputs and outputs; an option states the type of the inputs. [`alir_cmvm`] computes the
//! adder graph, and its checker compares each returned graph with the matrix.

use super::digits;
use super::exact::Rational;
use super::port::{Encoder, Group, InputElement, ReferenceSemantics, Unit};
use super::quantise::Quantiser;
use super::solver::Missed;
use alir_cmvm::{self, AdderGraph, Input, Matrix, Options, Report, SolveError, Weight};
use alir_core::diag::{Diagnostic, Diagnostics, Place};
use alir_core::ir::{Builder, Limits, Model, Node, Op, Output, ValueId};
use alir_core::num::Interval;
use alir_interp::samples::array::{Array, Numbers};
use num_bigint::BigInt;
use std::io::Read;

/// The first bytes of every npy file.
pub const MAGIC: &[u8] = b"\x93NUMPY";

/// Maximum number of weights of a matrix.
const MAX_WEIGHTS: u64 = 1 << 24;

/// Maximum number of axes of an array that is parsed, for an error message with its shape.
const MAX_AXES: usize = 32;

/// Expected number of adders for each weight before the weights are read: three for eight bits.
const ADDERS_A_WEIGHT: u64 = 3;

/// Parses a matrix from an npy file; `name` is the name of the file for messages.
///
/// # Errors
/// `E1501` if the file is not a matrix of finite numbers, `E1502` if about more than `max_adders` adders are expected.
pub fn read(reader: &mut dyn Read, name: &str, max_adders: u64) -> Result<Matrix, Diagnostic> {
    let wrong = |what: String| Diagnostic::error("E1501", Place::Whole, what).in_file(name.as_ref());
    let array = Array::read(reader, MAX_WEIGHTS, MAX_AXES).map_err(wrong)?;
    let &[n_in, n_out] = array.shape.as_slice() else {
        let what = format!("an array of shape {:?}, which is not a matrix", array.shape);
        return Err(wrong(what).with_help("a matrix has two axes: inputs and outputs"));
    };
    if array.numbers.is_empty() {
        return Err(wrong(format!("an empty matrix of shape {:?}", array.shape)));
    }
    let expected = n_in * n_out * ADDERS_A_WEIGHT;
    if expected > max_adders {
        let what = format!("{} weights, about {expected} adders; the limit is {max_adders}", n_in * n_out);
        return Err(Diagnostic::error("E1502", Place::Whole, what)
            .in_file(name.as_ref())
            .with_help(format!("split the matrix, or raise the limit: --max-adders {expected}")));
    }
    let weights: Vec<Weight> = match &array.numbers {
        Numbers::Integers(v) => v.iter().map(|&x| Weight::new(x.into(), 0)).collect(),
        Numbers::Words(v) => v.iter().map(|&x| Weight::new(x.into(), 0)).collect(),
        Numbers::Floats(v) => {
            let weight = |(at, &x): (usize, &f64)| {
                let n_out = n_out as usize;
                let what = || format!("the weight at row {}, column {} is {x}", at / n_out, at % n_out);
                Weight::from_float(x).ok_or_else(|| wrong(what()).with_help("weights are finite numbers"))
            };
            v.iter().enumerate().map(weight).collect::<Result<_, _>>()?
        }
    };
    Ok(Matrix::new(n_in as usize, n_out as usize, weights))
}

/// Product with a matrix: the reference semantics, and conversions to a program.
#[derive(Clone, Debug)]
pub struct Product {
    matrix: Matrix,
    inputs: Vec<InputElement>,
    units: Vec<Unit>,
    groups: (Vec<Group>, Vec<Group>),
}

impl Product {
    /// Returns the product of a matrix with inputs of one type.
    pub fn new(matrix: Matrix, quantiser: Quantiser) -> Product {
        let types = vec![quantiser; matrix.n_in()];
        Product::with_types(matrix, types)
    }

    /// Returns the product of a matrix with inputs of these types.
    ///
    /// # Panics
    /// If the number of types differs from the number of rows.
    pub fn with_types(matrix: Matrix, types: Vec<Quantiser>) -> Product {
        assert_eq!(types.len(), matrix.n_in(), "a type for each input");
        let element = |q: Quantiser| InputElement { kif: q.kif, unit: Unit::plain(), encoder: Encoder::Quantise(q) };
        let group = |name: &str, size| vec![Group { name: name.into(), size }];
        Product {
            inputs: types.into_iter().map(element).collect(),
            units: vec![Unit::plain(); matrix.n_out()],
            groups: (group("x", matrix.n_in()), group("y", matrix.n_out())),
            matrix,
        }
    }

    /// Solves for an adder graph that computes the product.
    ///
    /// # Errors
    /// `E1503` if the latency limit cannot be met, `E1504` for numbers that are too wide.
    pub fn solve(&self, options: &Options) -> Result<AdderGraph, Diagnostic> {
        let inputs: Vec<Input> = self.inputs.iter().map(|i| Input::new(Interval::full(i.kif))).collect();
        alir_cmvm::solve(&self.matrix, &inputs, options).map_err(|e| refused(&e))
    }

    /// Converts an adder graph to a program, with the type of its exact range for every value.
    ///
    /// # Errors
    /// An internal error if the graph does not compute the product; `E1504` if the program exceeds `limits`.
    pub fn model(&self, program: &AdderGraph, limits: Limits) -> Result<Model, Diagnostics> {
        model(program, &self.report(program)?, limits)
    }

    /// Compares an adder graph with the matrix, and returns its costs, times and intervals.
    ///
    /// # Errors
    /// An internal error if the graph does not compute the product.
    pub fn report(&self, program: &AdderGraph) -> Result<Report, Diagnostic> {
        alir_cmvm::check(program, &self.matrix).map_err(|fault| mistake(&fault.to_string()))
    }
}

fn refused(error: &SolveError) -> Diagnostic {
    match error {
        SolveError::Latency { limit, least } => {
            Missed { limit: *limit, least: *least, place: String::new() }.diagnostic()
        }
        SolveError::TooWide { .. } => Diagnostic::error("E1504", Place::Whole, error.to_string())
            .with_help("round the matrix to fewer bits, or use a narrower --input-type"),
    }
}

/// Builds the internal error for a program that differs from the matrix.
fn mistake(what: &str) -> Diagnostic {
    let message = format!("the adder graph of a matrix is wrong: {what}");
    Diagnostic { severity: alir_core::diag::Severity::Bug, ..Diagnostic::error("E1507", Place::Whole, message) }
}

/// Converts an adder graph to ALIR.
fn model(program: &AdderGraph, report: &Report, limits: Limits) -> Result<Model, Diagnostics> {
    let n_in = program.inputs.len();
    let mut builder = Builder::new(vec![0; n_in]);
    builder.limits(limits);
    let node = |op, index: usize, cost: u64| Node {
        op,
        interval: report.intervals[index].clone(),
        latency: report.times[index],
        cost: cost as f64,
        origin: index as u32,
    };
    for input in 0..n_in {
        builder.push(node(Op::Input { input: input as u32 }, input, 0));
    }
    for (index, adder) in program.adders.iter().enumerate() {
        let (a, b, shift) = (ValueId(adder.a), ValueId(adder.b), adder.shift);
        let op = if adder.subtract { Op::Sub { a, b, shift } } else { Op::Add { a, b, shift } };
        builder.push(node(op, n_in + index, report.costs[index]));
    }
    for output in &program.outputs {
        builder.output(match output {
            Some(o) => Output { source: Some(ValueId(o.value)), shift: o.shift, neg: o.negative },
            None => Output { source: None, shift: 0, neg: false },
        });
    }
    let wrong = |p: &alir_core::ir::Problem| Diagnostic::error("E1504", Place::Whole, p.to_string());
    builder.finish().map_err(|problems| Diagnostics(problems.iter().map(wrong).collect()))
}

/// Returns the range of an interval times an integer.
fn multiple(x: &Interval, factor: &BigInt) -> Interval {
    let (a, b) = (x.min.to_big() * factor, x.max.to_big() * factor);
    if a < b { Interval::new(a, b, x.frac) } else { Interval::new(b, a, x.frac) }
}

impl ReferenceSemantics for Product {
    fn inputs(&self) -> &[InputElement] {
        &self.inputs
    }

    fn input_groups(&self) -> &[Group] {
        &self.groups.0
    }

    fn output_units(&self) -> &[Unit] {
        &self.units
    }

    fn output_groups(&self) -> &[Group] {
        &self.groups.1
    }

    fn evaluate(&self, codes: &[BigInt]) -> Vec<Rational> {
        let values: Vec<Rational> =
            codes.iter().zip(&self.inputs).map(|(code, input)| input.unit.value(code, input.kif.frac.into())).collect();
        let product = |i: usize, o: usize| {
            let weight = self.matrix.weight(i, o);
            &Rational::from_code(&weight.mantissa.into(), -i64::from(weight.exponent)) * &values[i]
        };
        let sum = |o| (0..self.matrix.n_in()).fold(Rational::zero(), |sum, i| &sum + &product(i, o));
        (0..self.matrix.n_out()).map(sum).collect()
    }

    /// Builds each output as one sum over the digits of its weights, independently of the solver.
    fn specification(&self) -> Result<Model, String> {
        let mut builder = Builder::new(vec![0; self.inputs.len()]);
        builder.limits(Limits::derived());
        let inputs: Vec<ValueId> = (0..)
            .zip(&self.inputs)
            .map(|(input, element)| builder.op(Op::Input { input }, Interval::full(element.kif)))
            .collect();
        for o in 0..self.matrix.n_out() {
            // No type before the first term, because the type of an integer zero could be finer than the types of the
            // terms.
            let (mut sum, mut range) = (Vec::new(), None::<Interval>);
            for (i, &x) in inputs.iter().enumerate() {
                let weight = self.matrix.weight(i, o);
                if weight.mantissa == 0 {
                    continue;
                }
                let zeros = weight.mantissa.trailing_zeros();
                let (factor, shift) = (BigInt::from(weight.mantissa >> zeros), weight.exponent + zeros as i32);
                sum.extend(digits::terms(x, &factor, shift));
                let term = multiple(&Interval::full(self.inputs[i].kif), &factor).scaled(shift);
                range = Some(match range {
                    None => term,
                    Some(range) => range.plus(&term),
                });
            }
            let source = range.map(|range| builder.op(Op::Sum { terms: sum.into() }, range));
            builder.output(Output { source, shift: 0, neg: false });
        }
        builder.finish().map_err(|problems| format!("the matrix as a program: {:?}", problems.first()))
    }

    fn evaluate_float(&self, reals: &[f64]) -> Vec<f64> {
        let weight = |i, o| {
            let weight = self.matrix.weight(i, o);
            Rational::from_code(&weight.mantissa.into(), -i64::from(weight.exponent)).to_f64()
        };
        (0..self.matrix.n_out()).map(|o| reals.iter().enumerate().map(|(i, x)| x * weight(i, o)).sum()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alir_core::num::SplitMix;
    use alir_interp::{LookupMiss, golden};

    /// The specification and the solver's program compute the product.
    #[test]
    fn programs_of_a_product_compute_it() {
        let weight = |mantissa, exponent| Weight { mantissa, exponent };
        let weights = vec![weight(5, 0), weight(-7, 2), weight(0, 0), weight(0, 0), weight(-1, -3), weight(0, 0)];
        for input_type in ["s5.2", "u4.-1", "s1.0", "s6.-3"] {
            let product =
                Product::new(Matrix::new(2, 3, weights.clone()), Quantiser::parse(input_type).expect("a type"));
            let plain = product.specification().expect("a program");
            let program = product.solve(&Options::default()).expect("no limit");
            let solved = product.model(&program, Limits::default()).expect("a program");
            assert_eq!(plain.output_intervals(), solved.output_intervals(), "{input_type}");
            let mut rng = SplitMix::new(3);
            for _ in 0..50 {
                let codes = alir_core::ir::draw_inputs(&plain, &mut rng);
                let meant = product.evaluate(&codes);
                for model in [&plain, &solved] {
                    let outputs = golden(model, &codes, LookupMiss::Zero).expect("no table");
                    let values = outputs
                        .iter()
                        .enumerate()
                        .map(|(o, code)| Rational::from_code(code, model.output_kif(o).frac.into()))
                        .collect::<Vec<_>>();
                    assert_eq!(values, meant, "{input_type}");
                }
            }
        }
    }
}
