//! The solver of constant matrices as the lowering of a network uses it: many matrices, one limit on the latency of
//! each. A matrix that cannot meet the limit is solved without it and remembered, so that one refusal names the least
//! limit that all matrices meet.

use alir_cmvm::{self, AdderGraph, Input, Matrix, Measure, Options, Report, SolveError};
use alir_core::diag::{Diagnostic, Place};

/// Solves the matrices of one network, one after another.
#[derive(Clone, Debug)]
pub struct MatrixSolver {
    options: Options,
    missed: Option<Missed>,
}

/// The matrix that needs the longest of those that cannot meet the limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Missed {
    /// The limit asked.
    pub limit: f64,
    /// The least limit that this matrix, and so every matrix, meets.
    pub least: f64,
    /// The node that the matrix belongs to, as messages name it; empty until [`MatrixSolver::belongs_to`] says it.
    pub place: String,
}

impl MatrixSolver {
    /// A solver that keeps to `options` for each matrix; what counts is the hardware, not the contract's count of adder
    /// bits.
    pub fn new(options: Options) -> MatrixSolver {
        MatrixSolver { options: Options { measure: Measure::Carries, ..options }, missed: None }
    }

    /// Adders for a matrix, compared with it by [`alir_cmvm::check`]; `None` if its numbers are too wide for the
    /// solver.
    ///
    /// # Errors
    /// A program that is not the matrix: a mistake of the solver, in words.
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

    /// Says that the matrices solved since the last call belong to the node at `place`.
    pub fn belongs_to(&mut self, place: &str) {
        if let Some(missed) = self.missed.as_mut().filter(|missed| missed.place.is_empty()) {
            missed.place = place.to_owned();
        }
    }

    /// Returns the matrix that exceeds the limit by the most, if one does.
    pub fn missed(&self) -> Option<&Missed> {
        self.missed.as_ref()
    }
}

impl Missed {
    /// The refusal, as people read it.
    pub fn diagnostic(&self) -> Diagnostic {
        let Missed { limit, least, place } = self;
        let matrix = if place.is_empty() { String::new() } else { format!(" for the matrix of {place}") };
        let message = format!("latency {limit} was requested, and the least possible{matrix} is {least}");
        Diagnostic::error("E1503", Place::Flag("--cmvm-latency".into()), message)
            .with_help(format!("--cmvm-latency {least}, or more"))
    }
}
