//! External SAT solver: any program that reads DIMACS and answers like the solvers of the SAT competitions.

use super::sim::process::{Invocation, run_apart};
use super::{Deadline, MISSING_TOOL, Tools};
use alir_core::diag::{Diagnostic, Place, printable};
use alir_prove::sat::{Answer, Problem, Solver, clauses};
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Number of steps of the embedded solver that correspond to one conflict.
const STEPS: u64 = 100;
/// Exit codes of a solver.
const SATISFIABLE: i32 = 10;
const UNSATISFIABLE: i32 = 20;

/// Command line options of a solver program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    /// `-c` limits conflicts; the proof is written to a second file.
    Cadical,
    /// Like `Cadical`, but `--conflicts` limits conflicts.
    Kissat,
    /// Only the input file: no limit, no proof.
    Plain,
}

/// An external solver.
#[derive(Clone, Debug)]
pub struct External {
    program: PathBuf,
    dialect: Dialect,
    /// `true` if proofs are recorded.
    proofs: bool,
    proof: Option<Vec<u8>>,
}

impl External {
    /// Finds the program of this name, or at this path.
    ///
    /// # Errors
    /// [`MISSING_TOOL`] if it is missing; `E0908` if it does not distinguish a satisfiable formula from a
    /// contradiction.
    pub fn find(tools: &Tools, name: &str, proofs: bool) -> Result<External, Diagnostic> {
        let refused = |code: &'static str, what: &str| {
            let help = "cadical and kissat are such programs; without --solver the embedded solver is used";
            Diagnostic::error(code, Place::Flag("--solver".into()), format!("{} {what}", printable(name)))
                .with_help(help)
        };
        let found = match name.contains('/') {
            true => std::path::absolute(name).ok().filter(|path| path.is_file()),
            false => tools.find(name),
        };
        let absent = if name.contains('/') { "is no program" } else { "is not on the PATH" };
        let program = found.ok_or_else(|| refused(MISSING_TOOL, absent))?;
        let stem = program.file_stem().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
        let dialect = match stem.as_str() {
            "cadical" => Dialect::Cadical,
            "kissat" => Dialect::Kissat,
            _ => Dialect::Plain,
        };
        let made = External { program, dialect, proofs, proof: None };
        let yes = made.ask(b"p cnf 2 2\n1 0\n-2 0\n", u64::MAX, false);
        let no = made.ask(b"p cnf 1 2\n1 0\n-1 0\n", u64::MAX, false);
        match (yes, no) {
            (Some(SolverAnswer::Satisfiable(values)), Some(SolverAnswer::Unsatisfiable(_)))
                if values.contains(&1) && !values.contains(&2) =>
            {
                Ok(made)
            }
            _ => Err(refused(
                "E0908",
                "does not answer as SAT competitions want it: exit code 10 and lines with v, or 20",
            )),
        }
    }

    /// Runs the solver on a DIMACS file. Returns `None` if the solver does not decide.
    fn ask(&self, dimacs: &[u8], conflicts: u64, proofs: bool) -> Option<SolverAnswer> {
        let dir = tempfile::tempdir().ok()?;
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("question.cnf"), dimacs).ok()?;
        let mut what = Invocation::new(&self.program);
        let proofs = proofs && self.dialect != Dialect::Plain;
        // The limits of both solvers are 32-bit numbers.
        let conflicts = conflicts.min(i32::MAX as u64);
        match self.dialect {
            Dialect::Cadical => what = what.args(["-q", "--no-binary", "-c", &conflicts.to_string()]),
            Dialect::Kissat => what = what.args(["-q", "--no-binary", &format!("--conflicts={conflicts}")]),
            Dialect::Plain => {}
        }
        what = what.arg("question.cnf");
        if proofs {
            what = what.arg("proof.drat");
        }
        let deadline = Deadline::after(Duration::from_secs(7 * 24 * 3600));
        let status = run_apart(&what, dir.path(), &at("out"), &at("log"), deadline).ok()?;
        match status.code()? {
            SATISFIABLE => Some(SolverAnswer::Satisfiable(values(&at("out"))?)),
            UNSATISFIABLE => {
                Some(SolverAnswer::Unsatisfiable(proofs.then(|| std::fs::read(at("proof.drat")).ok()).flatten()))
            }
            _ => None,
        }
    }
}

enum SolverAnswer {
    /// The variables that are true, counted from 1; all others are false.
    Satisfiable(FxHashSet<u32>),
    /// The proof, if requested.
    Unsatisfiable(Option<Vec<u8>>),
}

/// Returns the variables that the `v` lines state as true; `None` if there are no such lines.
fn values(path: &Path) -> Option<FxHashSet<u32>> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut lines = text.lines().filter_map(|l| l.strip_prefix("v ")).peekable();
    lines.peek()?;
    Some(lines.flat_map(str::split_whitespace).filter_map(|n| n.parse().ok()).filter(|&n: &u32| n != 0).collect())
}

impl Solver for External {
    fn solve(&mut self, problem: &Problem<'_>, steps: &mut u64) -> Answer {
        self.proof = None;
        match self.ask(&problem.dimacs(), *steps / STEPS, self.proofs) {
            Some(SolverAnswer::Unsatisfiable(proof)) => {
                self.proof = proof;
                Answer::Unsat
            }
            Some(SolverAnswer::Satisfiable(values)) => {
                let (_, variable) = clauses(problem);
                Answer::Sat(problem.leaves.iter().map(|leaf| values.contains(&(variable[leaf] + 1))).collect())
            }
            None => {
                // The solver does not report its number of steps; without an answer, all steps are used up.
                *steps = 0;
                Answer::Limit
            }
        }
    }

    fn take_proof(&mut self) -> Option<Vec<u8>> {
        self.proof.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alir_prove::aig::{Aig, Lit};

    #[test]
    fn cadical_answers_both_ways_and_proves() {
        let Ok(mut solver) = External::find(&Tools::from_environment(), "cadical", true) else {
            let required = std::env::var("ALIR2HDL_REQUIRE").unwrap_or_default();
            assert!(!required.split_whitespace().any(|r| r == "cadical"), "cadical is required but cannot be used");
            eprintln!("skipped: cadical is not on the PATH");
            return;
        };
        let mut g = Aig::new();
        let x: Vec<Lit> = (0..6).map(|_| g.input("")).collect();
        let forward = x.iter().fold(Lit::FALSE, |p, &l| g.xor(p, l));
        let backward = x.iter().rev().fold(Lit::FALSE, |p, &l| g.xor(p, l));
        let other = x[1..].iter().fold(Lit::FALSE, |p, &l| g.xor(p, l));
        let gates: Vec<_> = (0..g.len() as u32).filter_map(|n| g.fanins(n).map(|(a, b)| (n, a, b))).collect();
        let leaves: Vec<u32> = x.iter().map(|l| l.node()).collect();
        let mut ask = |pair, limit| {
            let problem = Problem { aig: &g, gates: &gates, leaves: &leaves, differ: &[pair] };
            (solver.solve(&problem, &mut { limit }), solver.take_proof())
        };
        let (answer, proof) = ask((forward, backward), u64::MAX);
        assert_eq!(answer, Answer::Unsat);
        let proof = proof.expect("a proof");
        assert!(proof.ends_with(b"0\n") && proof.iter().all(|b| b.is_ascii()), "{proof:?}");
        let (Answer::Sat(values), None) = ask((forward, other), u64::MAX) else { panic!("they differ") };
        assert!(values[0], "they differ where the first one is set");
        assert_eq!(ask((forward, backward), 0), (Answer::Limit, None));
    }

    #[test]
    fn what_is_no_solver_is_refused() {
        let refused = |name: &str| External::find(&Tools::from_environment(), name, false).unwrap_err();
        assert!(refused("no-such-solver").message.contains("is not on the PATH"));
        assert!(refused("true").message.contains("does not answer"));
        assert_eq!((refused("true").code, refused("no-such-solver").code), ("E0908", MISSING_TOOL));
        assert_eq!(refused("/no/such/solver").code, MISSING_TOOL);
    }
}
