//! Solver of constant matrices for the lowering of a network: many matrices with a common limit on the latency of each.
//! A matrix that cannot meet the limit is solved without the limit and recorded, so that one error reports the smallest
//! limit that all matrices meet.

use alir_cmvm::{self, AdderGraph, Input, Matrix, Measure, Options, Report, SolveError};
use alir_core::diag::{Diagnostic, Place};

/// Solver for the matrices of one network, one after another.
#[derive(Clone, Debug)]
pub struct MatrixSolver {
    options: Options,
    missed: Option<Missed>,
}

/// The matrix with the longest minimum latency of those that cannot meet the limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Missed {
    /// The requested limit.
    pub limit: f64,
    /// Smallest limit that this matrix, and therefore every matrix, meets.
    pub least: f64,
    /// Title of the node that the matrix belongs to, for messages; empty until [`MatrixSolver::belongs_to`] sets it.
    pub place: String,
}

impl MatrixSolver {
    /// Returns a solver with these options for each matrix. It minimises the hardware cost, not the contract's count of
    /// adder bits.
    pub fn new(options: Options) -> MatrixSolver {
        MatrixSolver { options: Options { measure: Measure::Carries, ..options }, missed: None }
    }

    /// Returns adders for a matrix, checked against the matrix by [`alir_cmvm::check`]; `None` if its numbers are too
    /// wide for the solver.
    ///
    /// # Errors
    /// Returns an internal error of the solver if the adders do not compute the product with the matrix.
    pub fn solve(&mut self, matrix: &Matrix, inputs: &[Input]) -> Result<Option<(AdderGraph, Report)>, String> {
        let solved = alir_cmvm::solve(matrix, inputs, &self.options).or_else(|error| match error {
            SolveError::Latency { limit, least } => {
                if self.missed.as_ref().is_none_or(|missed| missed.least < least) {
                    self.missed = Some(Missed { limit, least, place: String::new() });
                }
                alir_cmvm::solve(matrix, inputs, &Options::default())
            }
            SolveError::TooWide { .. } => Err(error),
        });
        let Ok(program) = solved else { return Ok(None) };
        let report =
            alir_cmvm::check(&program, matrix).map_err(|fault| format!("a matrix was solved wrongly: {fault}"))?;
        Ok(Some((program, report)))
    }

    /// Records that the matrices solved since the last call belong to the node at `place`.
    pub fn belongs_to(&mut self, place: &str) {
        if let Some(missed) = self.missed.as_mut().filter(|missed| missed.place.is_empty()) {
            missed.place = place.to_owned();
        }
    }

    /// Returns the matrix that exceeds the limit by the most; `None` if no matrix exceeds it.
    pub fn missed(&self) -> Option<&Missed> {
        self.missed.as_ref()
    }
}

impl Missed {
    /// Returns the error as a diagnostic.
    pub fn diagnostic(&self) -> Diagnostic {
        let Missed { limit, least, place } = self;
        let matrix = if place.is_empty() { String::new() } else { format!(" for the matrix of {place}") };
        let message = format!("latency {limit} was requested, and the least possible{matrix} is {least}");
        Diagnostic::error("E1503", Place::Flag("--cmvm-latency".into()), message)
            .with_help(format!("--cmvm-latency {least}, or more"))
    }
}
