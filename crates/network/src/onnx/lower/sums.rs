//! Sums of multiples of integers: each set of rows is a matrix over the greatest common unit of each row, built of
//! adders.

use super::atoms::Atoms;
use super::elem::{Elem, common_unit, whole_quotient};
use crate::digits;
use crate::exact::Rational;
use crate::solver::MatrixSolver;
use alir_cmvm::{self, Input, Matrix, Weight};
use alir_core::num::Interval;
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Builder of the adders of matrices. It caches the solutions, because the positions of a convolution have equal
/// matrices.
pub(super) struct Sums {
    solver: MatrixSolver,
    solved: FxHashMap<Question, Rc<Program>>,
}

/// A matrix of integers, row by row, and the ranges of its inputs.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Question {
    rows: Vec<Vec<BigInt>>,
    inputs: Vec<(BigInt, BigInt)>,
}

/// Adders, and the result of each row. Values are numbered: the inputs, then the adders.
struct Program {
    adders: Vec<Adder>,
    outputs: Vec<Option<Output>>,
}

/// Adder that computes `a + b * 2^shift`, or the difference.
struct Adder {
    a: u32,
    b: u32,
    shift: i32,
    subtract: bool,
    /// Smallest and largest value, in the finer unit of both operands.
    range: Option<(BigInt, BigInt)>,
}

/// A value times a power of two, optionally negated.
#[derive(Clone, Copy)]
struct Output {
    value: u32,
    shift: i32,
    negative: bool,
}

/// Multiples of atoms that are added.
type Row = Vec<(u32, Rational)>;

impl Sums {
    pub(super) fn new(options: alir_cmvm::Options) -> Sums {
        Sums { solver: MatrixSolver::new(options), solved: FxHashMap::default() }
    }

    /// Returns the solver, which records the matrix that misses the latency limit by the most.
    pub(super) fn solver(&mut self) -> &mut MatrixSolver {
        &mut self.solver
    }

    /// Returns the sum of each row.
    ///
    /// # Errors
    /// If a sum is too wide; an internal error of the solver.
    pub(super) fn solve(&mut self, atoms: &mut Atoms, rows: &[Row]) -> Result<Vec<Elem>, String> {
        let rows: Vec<Row> = rows.iter().map(merged).collect();
        // Rows of one term need no adder, and are not part of the matrix.
        let several: Vec<usize> = (0..rows.len()).filter(|&r| rows[r].len() > 1).collect();
        let mut results: Vec<Elem> = rows
            .iter()
            .map(|row| match row.first() {
                None => Elem::Constant(Rational::zero()),
                Some((atom, factor)) => Elem::new(atoms, *atom, factor.clone(), Rational::zero()),
            })
            .collect();
        if several.is_empty() {
            return Ok(results);
        }
        let mut columns: Vec<u32> = several.iter().flat_map(|&r| rows[r].iter().map(|(atom, _)| *atom)).collect();
        columns.sort_unstable();
        columns.dedup();
        let units: Vec<Rational> = several.iter().map(|&r| unit_of(&rows[r])).collect();
        let integers = several.iter().zip(&units).map(|(&r, unit)| integers_of(&rows[r], unit, &columns)).collect();
        let inputs = columns.iter().map(|&c| atoms.range(c)).map(|(low, high)| (low.clone(), high.clone())).collect();
        let program = self.program(Question { rows: integers, inputs })?;
        for (sum, (&r, unit)) in build(&program, atoms, &columns)?.into_iter().zip(several.iter().zip(&units)) {
            results[r] = match sum {
                None => Elem::Constant(Rational::zero()),
                Some((atom, exponent, negative)) => {
                    let unit = unit.shifted(exponent);
                    Elem::new(atoms, atom, if negative { -&unit } else { unit }, Rational::zero())
                }
            };
        }
        Ok(results)
    }

    fn program(&mut self, question: Question) -> Result<Rc<Program>, String> {
        if let Some(known) = self.solved.get(&question) {
            return Ok(known.clone());
        }
        let program = match solved(&question, &mut self.solver)? {
            Some(program) => Rc::new(program),
            None => Rc::new(plain(&question)),
        };
        self.solved.insert(question, program.clone());
        Ok(program)
    }
}

/// Returns the row with each atom once, without factors of zero.
fn merged(row: &Row) -> Row {
    let mut row = row.clone();
    row.sort_by_key(|(atom, _)| *atom);
    let mut result: Row = Vec::with_capacity(row.len());
    for (atom, factor) in row {
        match result.last_mut() {
            Some((last, sum)) if *last == atom => *sum = &*sum + &factor,
            _ => result.push((atom, factor)),
        }
    }
    result.retain(|(_, factor)| !factor.is_zero());
    result
}

fn unit_of(row: &Row) -> Rational {
    row.iter().fold(Rational::zero(), |unit, (_, factor)| common_unit(&unit, factor))
}

fn integers_of(row: &Row, unit: &Rational, columns: &[u32]) -> Vec<BigInt> {
    let mut integers = vec![BigInt::ZERO; columns.len()];
    for (atom, factor) in row {
        let column = columns.binary_search(atom).expect("columns are those of all rows");
        integers[column] = whole_quotient(factor, unit);
    }
    integers
}

/// An atom, the exponent of its factor (a power of two), and `true` if it is negated.
type Sum = (u32, i64, bool);

/// Builds the adders of a program; returns the sum of each row, `None` for a row of zeros.
fn build(program: &Program, atoms: &mut Atoms, columns: &[u32]) -> Result<Vec<Option<Sum>>, String> {
    // Each value with its number of fractional bits in the units of the program.
    let mut values: Vec<(u32, i32)> = columns.iter().map(|&c| (c, 0)).collect();
    for adder in &program.adders {
        let ((a, frac_a), (b, frac_b)) = (values[adder.a as usize], values[adder.b as usize]);
        let frac_b = frac_b - adder.shift;
        let frac = frac_a.max(frac_b);
        let parts = ((a, (frac - frac_a) as u32), (b, (frac - frac_b) as u32));
        let sum = match &adder.range {
            None => atoms.add(parts.0, parts.1, adder.subtract)?,
            Some((low, high)) => atoms.add_within(parts.0, parts.1, adder.subtract, low.clone(), high.clone())?,
        };
        values.push((sum, frac));
    }
    let output = |output: &Output| {
        let (atom, frac) = values[output.value as usize];
        (atom, i64::from(output.shift) - i64::from(frac), output.negative)
    };
    Ok(program.outputs.iter().map(|o| o.as_ref().map(output)).collect())
}

/// Returns the checked program of the solver for constant matrices; `None` if the numbers are too wide for the solver.
fn solved(question: &Question, solver: &mut MatrixSolver) -> Result<Option<Program>, String> {
    let (n_in, n_out) = (question.inputs.len(), question.rows.len());
    let mut weights = Vec::with_capacity(n_in * n_out);
    for i in 0..n_in {
        for row in &question.rows {
            // The limit leaves room for sums: the solver has 128 bits.
            let Some(weight) = row[i].to_i128().filter(|w| w.unsigned_abs() < 1 << 100) else { return Ok(None) };
            weights.push(Weight::new(weight, 0));
        }
    }
    if question.inputs.iter().any(|(low, high)| low.bits().max(high.bits()) > 100) {
        return Ok(None);
    }
    let matrix = Matrix::new(n_in, n_out, weights);
    let interval = |(low, high): &(BigInt, BigInt)| Input::new(Interval::new(low, high, 0));
    let inputs: Vec<Input> = question.inputs.iter().map(interval).collect();
    Ok(solver.solve(&matrix, &inputs)?.map(|(program, report)| to_program(&program, &report)))
}

/// Returns a program with the exact range of each value.
fn to_program(program: &alir_cmvm::AdderGraph, report: &alir_cmvm::Report) -> Program {
    let mut fracs = vec![0i32; program.inputs.len()];
    let mut adders = Vec::with_capacity(program.adders.len());
    for (adder, interval) in program.adders.iter().zip(&report.intervals[program.inputs.len()..]) {
        let frac = fracs[adder.a as usize].max(fracs[adder.b as usize] - adder.shift);
        fracs.push(frac);
        let end =
            |code: &alir_core::num::Code| alir_core::num::align(&code.to_big(), interval.frac.into(), frac.into());
        adders.push(Adder {
            a: adder.a,
            b: adder.b,
            shift: adder.shift,
            subtract: adder.subtract,
            range: Some((end(&interval.min), end(&interval.max))),
        });
    }
    let output = |o: &alir_cmvm::Output| Output { value: o.value, shift: o.shift, negative: o.negative };
    Program { adders, outputs: program.outputs.iter().map(|o| o.as_ref().map(output)).collect() }
}

/// Returns a program that computes each row separately: the signed digits of its weights, added in pairs, narrow terms
/// first.
fn plain(question: &Question) -> Program {
    let mut adders = Vec::new();
    let mut widths: Vec<u64> = question.inputs.iter().map(|(low, high)| low.bits().max(high.bits())).collect();
    let mut outputs = Vec::new();
    for row in &question.rows {
        let mut terms: Vec<(u64, u32, u32, bool)> = Vec::new();
        for (column, weight) in row.iter().enumerate().filter(|(_, w)| !w.is_zero()) {
            for (shift, negative) in digits::signed(&weight.abs()) {
                terms.push((widths[column] + u64::from(shift), column as u32, shift, negative != weight.is_negative()));
            }
        }
        while terms.len() > 1 {
            terms.sort_unstable();
            let mut next = Vec::with_capacity(terms.len().div_ceil(2));
            for pair in terms.chunks(2) {
                let &[(wide_a, a, shift_a, negative_a), (wide_b, b, shift_b, negative_b)] = pair else {
                    next.push(pair[0]);
                    continue;
                };
                // The positive term comes first; the sum of two negative terms is negated.
                let swap = negative_a && !negative_b;
                let (first, second) = if swap { ((b, shift_b), (a, shift_a)) } else { ((a, shift_a), (b, shift_b)) };
                let shift = second.1 as i32 - first.1 as i32;
                let sum = (question.inputs.len() + adders.len()) as u32;
                adders.push(Adder { a: first.0, b: second.0, shift, subtract: negative_a != negative_b, range: None });
                // The unit of the sum is that of the first operand.
                let wide = wide_a.max(wide_b) + 1;
                widths.push(wide);
                next.push((wide, sum, first.1, negative_a && negative_b));
            }
            terms = next;
        }
        outputs.push(terms.first().map(|&(_, value, shift, negative)| Output { value, shift: shift as i32, negative }));
    }
    Program { adders, outputs }
}
