//! Constant matrices as shifts and adds: `y = x W` with as few adder bits as can be found, within a latency.
//!
//! [`solve`] takes a matrix and the inputs' intervals and arrival times, and gives a [`Program`] of adders; [`check`] judges
//! one, from the program alone. Nothing here knows of files, networks or ALIR. Same question, same program: nothing depends on
//! time, threads or hash order.
//!
//! The road: `problem` takes powers of two and equal columns out, `share` shares two-term sums, `rows` adds up what is left of
//! each column within its deadline. `docs/cmvm.md` has the measures and the sources.

mod check;
mod cost;
mod digits;
mod problem;
mod program;
mod rows;
mod share;
mod values;

pub use check::{Fault, Report, check};
pub use program::{Adder, Input, Matrix, Output, Program, Weight};

use problem::{Problem, items};
use rows::{Deadline, Digit, Tree, digits_of};
use share::{Cell, Mask, Sharing, Taste};
use std::fmt;
use values::{Coefficient, Values};

/// What a solver is to keep to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// Longest path from an input to an output, in units of the delay model; arrivals count. None: no limit.
    pub latency: Option<f64>,
    /// Units of work (about a millisecond each) that a search may take beyond the plain solution.
    pub budget: u64,
}

/// Why there is no solution.
#[derive(Clone, Debug, PartialEq)]
pub enum SolveError {
    /// The limit is below what is possible.
    Latency {
        /// The limit asked.
        limit: f64,
        /// The least that is possible.
        least: f64,
    },
    /// Coefficients, inputs or both span too many bits.
    TooWide {
        /// Bits that are solved.
        most: u32,
    },
}

impl fmt::Display for SolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SolveError::Latency { limit, least } => {
                write!(f, "a latency of {limit} is asked, and the least that is possible is {least}")
            }
            SolveError::TooWide { most } => {
                write!(f, "coefficients and inputs together span more than {most} bits")
            }
        }
    }
}

/// A program for the matrix.
///
/// # Errors
/// A limit below what is possible, and numbers too wide.
pub fn solve(matrix: &Matrix, inputs: &[Input], options: &Options) -> Result<Program, SolveError> {
    let problem = Problem::new(matrix, inputs)?;
    match problem.is_narrow() {
        true => Solver::<i64, u64>::new(&problem).run(inputs, options),
        false => Solver::<i128, u128>::new(&problem).run(inputs, options),
    }
}

struct Solver<'a, C, M> {
    problem: &'a Problem,
    values: Values<C>,
    rows: Vec<Vec<Cell<M>>>,
}

impl<'a, C: Coefficient, M: Mask> Solver<'a, C, M> {
    fn new(problem: &'a Problem) -> Self {
        let values = Values::new(&problem.sources);
        let rows = (0..problem.rows.len()).map(|r| problem.cells(r)).collect();
        Solver { problem, values, rows }
    }

    fn run(mut self, inputs: &[Input], options: &Options) -> Result<Program, SolveError> {
        let deadlines = match options.latency {
            None => None,
            Some(limit) => Some(self.deadlines(limit)?),
        };
        let tops = self.plain(deadlines.as_deref(), Taste::default());
        Ok(self.problem.program(inputs, &self.values, &tops))
    }

    /// The deadlines of all rows.
    fn deadlines(&self, limit: f64) -> Result<Vec<Deadline>, SolveError> {
        let ticks = cost::ticks_of_limit(limit);
        let mut least = 0;
        let deadline = |row: &Vec<Cell<M>>| {
            let digits = digits_of(row);
            let deadline = self.problem.deadline(&self.values, &digits, ticks);
            least = least.max(deadline.least(&items(&self.values, &digits)));
            deadline
        };
        let deadlines = self.rows.iter().map(deadline).collect();
        match least > ticks {
            true => Err(SolveError::Latency { limit, least: f64::from(least) / cost::TICKS }),
            false => Ok(deadlines),
        }
    }

    fn plain(&mut self, deadlines: Option<&[Deadline]>, taste: Taste) -> Vec<Digit> {
        let original = deadlines.map(|_| self.rows.clone());
        Sharing::new(&mut self.values, &mut self.rows, deadlines, taste).run();
        let mut tops = Vec::with_capacity(self.rows.len());
        for r in 0..self.rows.len() {
            let deadline = deadlines.map(|d| d[r]);
            let digits = digits_of(&self.rows[r]);
            let top = match Tree::build(&mut self.values, &digits, deadline) {
                Ok(top) => top,
                // Sharing has come too close to the deadline: the row is added up alone.
                Err(()) => {
                    let digits = digits_of(&original.as_ref().expect("there are deadlines")[r]);
                    let plan = deadline.and_then(|d| d.plan(&items(&self.values, &digits)));
                    Tree::follow(&mut self.values, &digits, &plan.expect("the deadline was tried"))
                }
            };
            tops.push(top.expect("a row has digits"));
        }
        tops
    }
}
