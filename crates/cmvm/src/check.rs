//! Independent checker of adder graphs: computes function and cost in exact numbers, from the graph alone.
//!
//! The checker shares only the plain data of [`super::program`] with the solvers. A program that overflows 128-bit
//! integers is checked in integers of any size.

use super::program::{AdderGraph, Matrix, Weight};
use alir_core::num::{Code, Interval, Kif};
use num_bigint::BigInt;
use num_traits::{CheckedAdd, CheckedMul, CheckedSub, Signed, Zero};
use std::fmt;

/// Cost of a program, and the exact interval of each of its values.
#[derive(Clone, Debug)]
pub struct Report {
    /// Number of adders, including those that need no hardware.
    pub adders: usize,
    /// Total number of adder bits.
    pub cost: u64,
    /// Longest path, in units of the delay model.
    pub latency: f64,
    /// Exact interval of each value: the inputs, then the adders.
    pub intervals: Vec<Interval>,
    /// Time at which each value is available, in units of the delay model.
    pub times: Vec<f64>,
    /// Adder bits of each adder.
    pub costs: Vec<u64>,
}

/// Defect of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Numbers of inputs or outputs differ from the matrix.
    Shape,
    /// An adder or an output names a value that does not exist before it.
    Operand {
        /// Number of the value, or of the output.
        at: usize,
    },
    /// An output does not compute its column of the matrix.
    Output {
        /// Index of the output.
        output: usize,
        /// The first input whose coefficient differs.
        input: usize,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Shape => f.write_str("the numbers of inputs or outputs of program and matrix differ"),
            Fault::Operand { at } => write!(f, "value or output {at} names a value that does not come before it"),
            Fault::Output { output, input } => {
                write!(f, "the coefficient of input {input} in output {output} is not that of the matrix")
            }
        }
    }
}

/// Compares the program's exact linear forms with the columns of the matrix, and computes its cost and delay.
///
/// # Errors
/// The first defect.
pub fn check(program: &AdderGraph, matrix: &Matrix) -> Result<Report, Fault> {
    if program.inputs.len() != matrix.n_in() || program.outputs.len() != matrix.n_out() {
        return Err(Fault::Shape);
    }
    operands_exist(program)?;
    // Nearly all programs stay below 127 bits; the others are checked again in integers of any size.
    match Checker::<i128>::new(program, matrix).run() {
        Some(report) => report,
        None => Checker::<BigInt>::new(program, matrix).run().expect("integers of any size do not overflow"),
    }
}

fn operands_exist(program: &AdderGraph) -> Result<(), Fault> {
    let n_in = program.inputs.len();
    for (index, adder) in program.adders.iter().enumerate() {
        let at = n_in + index;
        if adder.a as usize >= at || adder.b as usize >= at {
            return Err(Fault::Operand { at });
        }
    }
    let values = n_in + program.adders.len();
    match program.outputs.iter().position(|o| o.is_some_and(|o| o.value as usize >= values)) {
        Some(at) => Err(Fault::Operand { at }),
        None => Ok(()),
    }
}

/// Integers for the coefficients of linear forms.
trait Exact: Clone + PartialEq + Zero + Signed + CheckedAdd + CheckedSub + CheckedMul {
    fn from_code(code: &Code) -> Option<Self>;
    fn from_i128(v: i128) -> Self;
    fn doubled(&self, times: u32) -> Option<Self>;
    /// Returns the number of trailing zeros of a non-zero integer.
    fn zeros(&self) -> u32;
    fn halved(&self, times: u32) -> Self;
    fn code(&self) -> Code;
}

impl Exact for i128 {
    fn from_code(code: &Code) -> Option<i128> {
        code.to_i128()
    }
    fn from_i128(v: i128) -> i128 {
        v
    }
    fn doubled(&self, times: u32) -> Option<i128> {
        (times < 126 && self.unsigned_abs().leading_zeros() > times + 1).then(|| self << times)
    }
    fn zeros(&self) -> u32 {
        self.trailing_zeros()
    }
    fn halved(&self, times: u32) -> i128 {
        self >> times
    }
    fn code(&self) -> Code {
        Code::from_i128(*self)
    }
}

impl Exact for BigInt {
    fn from_code(code: &Code) -> Option<BigInt> {
        Some(code.to_big())
    }
    fn from_i128(v: i128) -> BigInt {
        BigInt::from(v)
    }
    fn doubled(&self, times: u32) -> Option<BigInt> {
        Some(self << times)
    }
    fn zeros(&self) -> u32 {
        self.trailing_zeros().map_or(0, |z| z as u32)
    }
    fn halved(&self, times: u32) -> BigInt {
        self >> times
    }
    fn code(&self) -> Code {
        Code::from(self)
    }
}

/// Linear form `2^exponent * sum of coefficient * raw integer of input`; terms sorted by input, coefficients not zero.
#[derive(Clone)]
struct Form<T> {
    terms: Vec<(u32, T)>,
    exponent: i32,
}

struct Checker<'a, T> {
    program: &'a AdderGraph,
    matrix: &'a Matrix,
    ends: Vec<(T, T)>,
}

impl<'a, T: Exact> Checker<'a, T> {
    fn new(program: &'a AdderGraph, matrix: &'a Matrix) -> Checker<'a, T> {
        Checker { program, matrix, ends: Vec::new() }
    }

    /// Checks the program; `None` if a number overflows.
    fn run(mut self) -> Option<Result<Report, Fault>> {
        let program = self.program;
        let n_in = program.inputs.len();
        let mut left = readers(program);
        let mut forms: Vec<Option<Form<T>>> = Vec::with_capacity(left.len());
        let mut intervals: Vec<Interval> = Vec::with_capacity(left.len());
        let mut times = Vec::with_capacity(left.len());
        for (i, input) in program.inputs.iter().enumerate() {
            self.ends.push((T::from_code(&input.interval.min)?, T::from_code(&input.interval.max)?));
            forms.push(Some(Form { terms: vec![(i as u32, T::one())], exponent: -input.interval.frac }));
            intervals.push(input.interval.clone());
            times.push(input.arrival);
        }
        let mut costs = Vec::with_capacity(program.adders.len());
        for (index, adder) in program.adders.iter().enumerate() {
            let (a, b) = (adder.a as usize, adder.b as usize);
            let form = plus(forms[a].as_ref()?, forms[b].as_ref()?, adder.shift, adder.subtract)?;
            for operand in [a, b] {
                left[operand] -= 1;
                if left[operand] == 0 {
                    forms[operand] = None;
                }
            }
            let types = (intervals[a].kif(), intervals[b].scaled(adder.shift).kif());
            let (bits, delay) = taken(types.0, types.1, adder.subtract);
            costs.push(bits);
            times.push(f64::max(times[a], times[b]) + delay);
            intervals.push(self.interval(&form)?);
            forms.push((left[n_in + index] > 0).then_some(form));
        }
        let mut latency = 0.0;
        for (o, output) in program.outputs.iter().enumerate() {
            let mut sum = Form { terms: Vec::new(), exponent: 0 };
            if let Some(output) = output {
                sum = forms[output.value as usize].clone()?;
                sum.exponent += output.shift;
                if output.negative {
                    sum.terms.iter_mut().for_each(|(_, c)| *c = T::zero() - c.clone());
                }
                latency = f64::max(latency, times[output.value as usize]);
            }
            if let Some(input) = self.difference(&sum, o) {
                return Some(Err(Fault::Output { output: o, input }));
            }
        }
        Some(Ok(Report { adders: program.adders.len(), cost: costs.iter().sum(), latency, intervals, times, costs }))
    }

    /// Returns the exact interval of a form; `None` if a number overflows.
    fn interval(&self, form: &Form<T>) -> Option<Interval> {
        let Some(zeros) = form.terms.iter().map(|(_, c)| c.zeros()).min() else {
            return Some(Interval::new(0, 0, 0));
        };
        let (mut min, mut max) = (T::zero(), T::zero());
        for (input, c) in &form.terms {
            let c = c.halved(zeros);
            let (lo, hi) = &self.ends[*input as usize];
            let (lo, hi) = if c.is_negative() { (hi, lo) } else { (lo, hi) };
            min = min.checked_add(&c.checked_mul(lo)?)?;
            max = max.checked_add(&c.checked_mul(hi)?)?;
        }
        Some(Interval::new(min.code(), max.code(), -(form.exponent + zeros as i32)))
    }

    /// Returns the first input whose coefficient in the form differs from the matrix column `o`; `None` if all are
    /// equal.
    fn difference(&self, form: &Form<T>, o: usize) -> Option<usize> {
        let mut terms = form.terms.iter().peekable();
        (0..self.matrix.n_in()).find(|&i| {
            let wanted = self.matrix.weight(i, o);
            match terms.next_if(|(input, _)| *input as usize == i) {
                None => wanted.mantissa != 0,
                Some((_, c)) => {
                    let exponent = form.exponent + self.program.inputs[i].interval.frac;
                    let wanted = Weight::new(wanted.mantissa, wanted.exponent);
                    let zeros = c.zeros();
                    wanted.exponent != exponent + zeros as i32 || c.halved(zeros) != T::from_i128(wanted.mantissa)
                }
            }
        })
    }
}

/// Returns the number of reads of each value.
fn readers(program: &AdderGraph) -> Vec<u32> {
    let mut readers = vec![0u32; program.inputs.len() + program.adders.len()];
    let operands = program.adders.iter().flat_map(|x| [x.a, x.b]);
    for value in operands.chain(program.outputs.iter().flatten().map(|o| o.value)) {
        readers[value as usize] += 1;
    }
    readers
}

/// Returns `a + b * 2^shift` or the difference; `None` if a number overflows.
fn plus<T: Exact>(a: &Form<T>, b: &Form<T>, shift: i32, subtract: bool) -> Option<Form<T>> {
    let of_b = b.exponent + shift;
    let exponent = a.exponent.min(of_b);
    let (up_a, up_b) = ((a.exponent - exponent) as u32, (of_b - exponent) as u32);
    let first = |c: &T| c.doubled(up_a);
    let second = |c: &T| c.doubled(up_b).map(|c| if subtract { T::zero() - c } else { c });
    let mut terms = Vec::with_capacity(a.terms.len() + b.terms.len());
    let (mut x, mut y) = (a.terms.as_slice(), b.terms.as_slice());
    while let ([(i, c), rest_x @ ..], [(j, d), rest_y @ ..]) = (x, y) {
        if i < j {
            terms.push((*i, first(c)?));
            x = rest_x;
        } else if j < i {
            terms.push((*j, second(d)?));
            y = rest_y;
        } else {
            let sum = first(c)?.checked_add(&second(d)?)?;
            if !sum.is_zero() {
                terms.push((*i, sum));
            }
            (x, y) = (rest_x, rest_y);
        }
    }
    for (i, c) in x {
        terms.push((*i, first(c)?));
    }
    for (j, d) in y {
        terms.push((*j, second(d)?));
    }
    Some(Form { terms, exponent })
}

/// Returns the cost `n` in bits and the delay of `a + b` or `a - b` (`docs/cmvm.md`, "Cost and delay"). Cost and delay
/// are zero if all bits of `b` are above those of `a`, or, for a sum, all bits of `a` above those of `b`.
fn taken(a: Kif, b: Kif, subtract: bool) -> (u64, f64) {
    let end = |t: Kif| i64::from(t.signed) + i64::from(t.int);
    let is_above = |high: Kif, low: Kif| -i64::from(high.frac) >= end(low);
    if is_above(b, a) || (!subtract && is_above(a, b)) {
        return (0, 0.0);
    }
    let n = end(a).max(end(b)) + i64::from(a.frac.max(b.frac)) - 1;
    (n.max(1) as u64, 1.1 + 0.025 * n as f64)
}
