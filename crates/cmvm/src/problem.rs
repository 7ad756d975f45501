//! Conversion from a matrix to rows of digits, and from a solution to an adder graph.

use super::SolveError;
use super::cost;
use super::digits::canonical;
use super::program::{Adder, AdderGraph, Input, Matrix, Output};
use super::rows::{Deadline, Digit, Item};
use super::share::{Cell, Mask};
use super::values::{Coefficient, Source, Values};
use alir_core::num::Code;
use std::collections::HashMap;

/// A matrix with its powers of two factored out: weight `(i, o)` is `coefficient * 2^(input exponent + row exponent)`,
/// relative to the raw integer values of the inputs.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    /// The inputs with their powers of two.
    pub(crate) sources: Vec<Source>,
    /// Exponent of the power of two by which each input of the adder graph is multiplied to give its source.
    input_exponents: Vec<i32>,
    /// Distinct non-zero columns, as (input, coefficient). The coefficients of a row have no common factor of two.
    pub(crate) rows: Vec<Vec<(u32, i128)>>,
    /// Row, exponent of the power of two, and sign (`true` if negated) of each output; `None` for constant zero.
    outputs: Vec<Option<(u32, i32, bool)>>,
    /// Upper bound of the bit positions of digits in any row.
    digit_bits: u32,
    /// Upper bound of the width of any partial sum, in bits.
    value_bits: u32,
}

/// Largest supported bit position of a digit, and width of a partial sum, in bits.
const MOST_BITS: u32 = 124;

impl Problem {
    pub(crate) fn new(matrix: &Matrix, inputs: &[Input]) -> Result<Problem, SolveError> {
        let (n_in, n_out) = (matrix.n_in(), matrix.n_out());
        let exponent = |i: usize, o: usize| {
            let weight = matrix.weight(i, o);
            (weight.mantissa != 0).then(|| {
                let zeros = weight.mantissa.trailing_zeros() as i32;
                i64::from(weight.exponent + zeros) - i64::from(inputs[i].interval.frac)
            })
        };
        let least = |exponents: &mut dyn Iterator<Item = i64>| exponents.min().unwrap_or(0);
        let mut of_input: Vec<i64> = (0..n_in).map(|i| least(&mut (0..n_out).filter_map(|o| exponent(i, o)))).collect();
        let mut of_row: Vec<i64> =
            (0..n_out).map(|o| least(&mut (0..n_in).filter_map(|i| Some(exponent(i, o)? - of_input[i])))).collect();
        let lowest = least(&mut of_input.iter().copied());
        of_input.iter_mut().for_each(|e| *e -= lowest);
        of_row.iter_mut().for_each(|e| *e += lowest);
        let too_wide = || SolveError::TooWide { most: MOST_BITS };
        if of_input.iter().any(|&e| e > MOST_BITS.into()) || of_row.iter().any(|&e| e.abs() > 1 << 20) {
            return Err(too_wide());
        }
        let mut problem = Problem {
            sources: Vec::with_capacity(n_in),
            input_exponents: Vec::with_capacity(n_in),
            rows: Vec::new(),
            outputs: Vec::with_capacity(n_out),
            digit_bits: 1,
            value_bits: 2,
        };
        for (input, &e) in inputs.iter().zip(&of_input) {
            let end = |code: &Code| code.to_i128().filter(|v| v.unsigned_abs() >> MOST_BITS == 0).ok_or_else(too_wide);
            let ticks = cost::ticks_of_arrival(input.arrival);
            let source =
                Source { lo: end(&input.interval.min)?, hi: end(&input.interval.max)?, exponent: e as u32, ticks };
            problem.sources.push(source);
            problem.input_exponents.push(e as i32 + input.interval.frac);
        }
        let mut known: HashMap<Vec<(u32, i128)>, u32> = HashMap::new();
        for (o, &of_row) in of_row.iter().enumerate() {
            let mut row = Vec::new();
            let mut lowest = u32::MAX;
            for (i, &of_input) in of_input.iter().enumerate() {
                let Some(e) = exponent(i, o) else { continue };
                let mantissa = matrix.weight(i, o).mantissa;
                let up = e - of_input - of_row;
                let odd = mantissa >> mantissa.trailing_zeros();
                let bits = (128 - odd.unsigned_abs().leading_zeros()) as i64;
                if up < 0 || up + bits > MOST_BITS.into() {
                    return Err(too_wide());
                }
                lowest = lowest.min(up as u32);
                row.push((i as u32, odd << up));
            }
            let Some(&(_, first)) = row.first() else {
                problem.outputs.push(None);
                continue;
            };
            let minus = first < 0;
            row.iter_mut().for_each(|(_, c)| *c = (if minus { -*c } else { *c }) >> lowest);
            let exponent = (of_row + i64::from(lowest)) as i32;
            problem.measure(&row)?;
            let next = problem.rows.len() as u32;
            let number = *known.entry(row).or_insert_with_key(|row| {
                problem.rows.push(row.clone());
                next
            });
            problem.outputs.push(Some((number, exponent, minus)));
        }
        Ok(problem)
    }

    /// Raises the bounds on digits and partial sums to those of a row.
    ///
    /// # Errors
    /// If a bound exceeds [`MOST_BITS`].
    fn measure(&mut self, row: &[(u32, i128)]) -> Result<(), SolveError> {
        let mut total = 1f64;
        for &(i, c) in row {
            let source = &self.sources[i as usize];
            self.digit_bits = self.digit_bits.max(131 - c.unsigned_abs().leading_zeros());
            let reach = source.lo.unsigned_abs().max(source.hi.unsigned_abs()).max(1);
            // Factor 4: the sum of the magnitudes of a coefficient's digits is less than twice the coefficient, and the
            // difference of two columns is less than twice a column.
            total += 4.0 * c.unsigned_abs() as f64 * reach as f64 * f64::from(source.exponent).exp2();
        }
        self.value_bits = self.value_bits.max(total.log2().ceil() as u32 + 2);
        match self.value_bits.max(self.digit_bits) > MOST_BITS {
            true => Err(SolveError::TooWide { most: MOST_BITS }),
            false => Ok(()),
        }
    }

    /// Returns `true` if all digits, coefficients and ranges fit 64 bits.
    pub(crate) fn is_narrow(&self) -> bool {
        self.value_bits <= 62 && self.digit_bits <= 62
    }

    /// Returns the digits of a row.
    pub(crate) fn cells<M: Mask>(&self, row: usize) -> Vec<Cell<M>> {
        self.cells_of(&self.rows[row])
    }

    /// Returns the digits of coefficients, given as (input, coefficient).
    pub(crate) fn cells_of<M: Mask>(&self, coefficients: &[(u32, i128)]) -> Vec<Cell<M>> {
        let cell = |&(input, c): &(u32, i128)| {
            let (plus, minus) = canonical(c);
            let fitting = |set: u128| M::from(set).expect("the problem was measured");
            Cell { value: input, plus: fitting(plus), minus: fitting(minus) }
        };
        coefficients.iter().map(cell).collect()
    }

    /// Returns the deadline of a row: `limit` in ticks, with the bit positions that its partial sums can have.
    pub(crate) fn deadline<C: Coefficient>(&self, values: &Values<C>, digits: &[Digit], limit: u32) -> Deadline {
        let (mut low, mut top, mut reach) = (i32::MAX, 0, 1f64);
        for d in digits {
            let span = values.span(d.value).shifted(d.shift as i32);
            (low, top) = (low.min(span.low), top.max(span.top));
            reach += f64::from(span.top - 1).exp2();
        }
        // The logarithm is rounded up; the additional bit is the sign.
        Deadline { limit, low: low.min(top), top: top.max(reach.log2().ceil() as i32 + 1) }
    }

    /// Returns the adder graph of a solution, without sums that no row uses. `tops` are the results of the rows before
    /// the right shifts `downs`.
    pub(crate) fn program<C: Coefficient>(
        &self,
        inputs: &[Input],
        values: &Values<C>,
        tops: &[Digit],
        downs: &[i32],
    ) -> AdderGraph {
        let n_in = values.n_in();
        let mut is_used = vec![false; values.len()];
        tops.iter().for_each(|d| is_used[d.value as usize] = true);
        for v in (n_in..values.len()).rev().filter(|&v| v >= n_in) {
            if is_used[v] {
                values.sums()[v - n_in].parts.iter().for_each(|p| is_used[p.value as usize] = true);
            }
        }
        let mut numbers: Vec<u32> = (0..n_in as u32).collect();
        let mut exponents = self.input_exponents.clone();
        let mut adders = Vec::new();
        for (v, sum) in (n_in..).zip(values.sums()) {
            let [x, y] = sum.parts;
            let exponent = |part: super::values::Part| exponents[part.value as usize] + part.shift as i32;
            numbers.push((n_in + adders.len()) as u32);
            let own = exponent(x);
            if is_used[v] {
                let shift = exponent(y) - own;
                let (a, b) = (numbers[x.value as usize], numbers[y.value as usize]);
                adders.push(Adder { a, b, shift, subtract: sum.subtract });
            }
            exponents.push(own);
        }
        let output = |o: &Option<(u32, i32, bool)>| {
            let (row, exponent, minus) = (*o)?;
            let digit = tops[row as usize];
            let down = downs.get(row as usize).copied().unwrap_or(0);
            let shift = exponents[digit.value as usize] + digit.shift as i32 + exponent - down;
            Some(Output { value: numbers[digit.value as usize], shift, negative: digit.minus ^ minus })
        };
        AdderGraph { inputs: inputs.to_vec(), adders, outputs: self.outputs.iter().map(output).collect() }
    }
}

/// Returns the arrival time and bit positions of each digit.
pub(crate) fn items<C: Coefficient>(values: &Values<C>, digits: &[Digit]) -> Vec<Item> {
    let item = |d: &Digit| Item { ticks: values.ticks(d.value), span: values.span(d.value).shifted(d.shift as i32) };
    digits.iter().map(item).collect()
}
