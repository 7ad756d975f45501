//! Satisfiability of cones of an and-inverter graph.

use super::aig::{Aig, Lit};
use batsat::{Callbacks, lbool};
use rustc_hash::FxHashMap;
use rustsat::solvers::{Solve, SolverResult};
use rustsat::types::{Lit as SatLit, TernaryVal};
use std::cell::Cell;

/// What a solver found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No assignment of the leaves makes the goal true.
    Unsat,
    /// This one does: values of the leaves, in their order.
    Sat(Vec<bool>),
    /// The limit was reached.
    Limit,
}

/// A goal in conjunctive normal form: gates in order, leaves, and one literal that shall be true.
pub struct Problem<'a> {
    /// The graph.
    pub aig: &'a Aig,
    /// AND nodes of the cone with their fanins, in topological order.
    pub gates: &'a [(u32, Lit, Lit)],
    /// Nodes that are free.
    pub leaves: &'a [u32],
    /// Pairs of literals, one of which shall differ.
    pub differ: &'a [(Lit, Lit)],
}

/// Counts the questions that the solver asks about its budget, a deterministic measure of work.
struct Budget {
    left: Cell<u64>,
}

impl Callbacks for Budget {
    fn stop(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left == 0
    }
}

/// A way to decide a [`Problem`].
pub trait Solver {
    /// Decides it within `steps` steps, and takes those that it needed from them.
    fn solve(&mut self, problem: &Problem<'_>, steps: &mut u64) -> Answer;
}

/// The embedded solver, in pure Rust.
#[derive(Debug, Default)]
pub struct Embedded;

/// A clause: variables, and whether each is positive.
pub type Disjunction = Vec<(u32, bool)>;

/// The clauses of a problem over variables 0.., and the variable of each node.
pub fn clauses(problem: &Problem<'_>) -> (Vec<Disjunction>, FxHashMap<u32, u32>) {
    let mut var: FxHashMap<u32, u32> = FxHashMap::default();
    let mut out: Vec<Vec<(u32, bool)>> = Vec::new();
    let mut next = 0;
    let mut fresh = || {
        next += 1;
        next - 1
    };
    var.insert(0, fresh());
    out.push(vec![(0, false)]);
    for &leaf in problem.leaves {
        var.insert(leaf, fresh());
    }
    for &(node, a, b) in problem.gates {
        let own = fresh();
        var.insert(node, own);
        let lit = |l: Lit| (var[&l.node()], !l.is_negated());
        let (a, b) = (lit(a), lit(b));
        out.push(vec![(own, false), a]);
        out.push(vec![(own, false), b]);
        out.push(vec![(own, true), (a.0, !a.1), (b.0, !b.1)]);
    }
    let mut some = Vec::new();
    for &(a, b) in problem.differ {
        let own = fresh();
        let lit = |l: Lit| (var[&l.node()], !l.is_negated());
        let (a, b) = (lit(a), lit(b));
        let not = |l: (u32, bool)| (l.0, !l.1);
        // own implies a != b; the other direction is not needed.
        out.push(vec![(own, false), a, b]);
        out.push(vec![(own, false), not(a), not(b)]);
        some.push((own, true));
    }
    out.push(some);
    (out, var)
}

impl Solver for Embedded {
    fn solve(&mut self, problem: &Problem<'_>, steps: &mut u64) -> Answer {
        let (clauses, var) = clauses(problem);
        let mut solver = rustsat_batsat::Solver::<Budgeted>::default();
        for clause in clauses {
            let clause: rustsat::types::Clause =
                clause.into_iter().map(|(v, positive)| SatLit::new(v, !positive)).collect();
            if solver.add_clause(clause).is_err() {
                return Answer::Limit;
            }
        }
        solver.batsat_mut().cb_mut().0.left.set(*steps);
        let result = solver.solve();
        *steps = solver.batsat_mut().cb_mut().0.left.get();
        match result {
            Ok(SolverResult::Unsat) => Answer::Unsat,
            Ok(SolverResult::Sat) => {
                let value = |leaf: &u32| {
                    let lit = SatLit::new(var[leaf], false);
                    matches!(solver.lit_val(lit), Ok(TernaryVal::True))
                };
                Answer::Sat(problem.leaves.iter().map(value).collect())
            }
            Ok(SolverResult::Interrupted) | Err(_) => Answer::Limit,
        }
    }
}

/// [`Budget`] with the default that the solver's constructor needs.
struct Budgeted(Budget);

impl Default for Budgeted {
    fn default() -> Self {
        Budgeted(Budget { left: Cell::new(u64::MAX) })
    }
}

impl Callbacks for Budgeted {
    fn stop(&self) -> bool {
        self.0.stop()
    }

    fn on_result(&mut self, _: lbool) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decides_both_ways() {
        let mut g = Aig::new();
        let (a, b, c) = (g.input(""), g.input(""), g.input(""));
        let ab = g.xor(a, b);
        let left = g.xor(ab, c);
        let bc = g.xor(b, c);
        let right = g.xor(a, bc);
        let gates: Vec<_> = (0..g.len() as u32).filter_map(|n| g.fanins(n).map(|(a, b)| (n, a, b))).collect();
        let leaves = [a.node(), b.node(), c.node()];
        let ask = |differ: &[(Lit, Lit)]| {
            Embedded.solve(&Problem { aig: &g, gates: &gates, leaves: &leaves, differ }, &mut 1_000_000)
        };
        assert_eq!(ask(&[(left, right)]), Answer::Unsat);
        let Answer::Sat(values) = ask(&[(left, right), (left, ab)]) else { panic!("a difference exists") };
        assert!(values[2], "they differ where c is set");
    }
}
