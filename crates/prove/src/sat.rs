//! Satisfiability of cones of an and-inverter graph.

use super::aig::{Aig, Gate, Lit};
use super::lrat::{self, Lemma};
use batsat::{Callbacks, ClauseKind, lbool};
use rustc_hash::FxHashMap;
use rustsat::solvers::{Solve, SolverResult};
use rustsat::types::{Lit as SatLit, TernaryVal};
use std::cell::Cell;
use std::fmt::Write as _;

/// Result of a SAT query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No assignment of the leaves makes the goal true.
    Unsat,
    /// Satisfying assignment: values of the leaves, in their order.
    Sat(Vec<bool>),
    /// Undecided: the limit was reached.
    Limit,
}

/// Satisfiability problem over a cone of a graph: gates, leaves, and pairs of literals.
pub struct Problem<'a> {
    /// The graph.
    pub aig: &'a Aig,
    /// AND nodes of the cone with their fanins, in topological order.
    pub gates: &'a [(u32, Lit, Lit)],
    /// Nodes that are free variables.
    pub leaves: &'a [u32],
    /// Pairs of literals; the goal is that the literals of at least one pair differ.
    pub differ: &'a [(Lit, Lit)],
}

/// Method that decides a [`Problem`].
pub trait Solver {
    /// Decides a problem within `steps` steps, and subtracts the steps used.
    fn solve(&mut self, problem: &Problem<'_>, steps: &mut u64) -> Answer;

    /// Returns the DRAT proof of the last answer if it was [`Answer::Unsat`] and this solver keeps proofs; otherwise
    /// `None`.
    fn take_proof(&mut self) -> Option<Vec<u8>> {
        None
    }
}

/// Constructor of SAT solvers, callable from several threads.
pub type Solvers<'a> = &'a (dyn Fn() -> Box<dyn Solver> + Sync);

/// Embedded solver, written in Rust.
#[derive(Debug, Default)]
pub struct Embedded;

/// Embedded solver that records a proof of unsatisfiability: each learnt clause, in the text format of DRAT (Wetzler,
/// Heule, Hunt, "DRAT-trim", SAT 2014) over the variables of [`Problem::dimacs`].
#[derive(Debug, Default)]
pub struct Proving {
    proof: Option<Vec<u8>>,
}

/// Largest proof in bytes; a longer one is dropped.
const MAX_PROOF: usize = 1 << 28;

impl Problem<'_> {
    /// Returns the clauses in DIMACS format, with variables from 1 in the order of [`clauses`].
    pub fn dimacs(&self) -> Vec<u8> {
        let (clauses, _) = clauses(self);
        let variables = clauses.iter().flatten().map(|l| l.0 + 1).max().unwrap_or(0);
        let mut out = format!("p cnf {variables} {}\n", clauses.len());
        for clause in &clauses {
            for &(variable, positive) in clause {
                let _ = write!(out, "{}{} ", if positive { "" } else { "-" }, variable + 1);
            }
            out.push_str("0\n");
        }
        out.into_bytes()
    }

    /// Returns the problem as a separate graph with one output, which is 1 if the literals of a pair differ.
    pub fn miter(&self) -> Aig {
        let mut out = Aig::new();
        let mut map: FxHashMap<u32, Lit> = FxHashMap::from_iter([(0, Lit::FALSE)]);
        for &leaf in self.leaves {
            let name = match self.aig.gate(leaf) {
                Gate::Input(n) => self.aig.inputs()[n as usize].name.clone(),
                _ => format!("n{leaf}"),
            };
            map.insert(leaf, out.input(name));
        }
        for &(node, a, b) in self.gates {
            let of = |l: Lit| map[&l.node()].xor(l.is_negated());
            let made = out.and(of(a), of(b));
            map.insert(node, made);
        }
        let mut differ = Lit::FALSE;
        for &(a, b) in self.differ {
            let of = |l: Lit| map[&l.node()].xor(l.is_negated());
            let x = out.xor(of(a), of(b));
            differ = out.or(differ, x);
        }
        out.output(differ, "differ");
        out
    }
}

/// A clause: variables, each with `true` if it is positive.
pub type Disjunction = Vec<(u32, bool)>;

/// Returns the clauses of a problem over variables from 0, and the variable of each node.
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
        decide(problem, steps, Watch::default()).0
    }
}

impl Solver for Proving {
    fn solve(&mut self, problem: &Problem<'_>, steps: &mut u64) -> Answer {
        let (answer, proof) = decide(problem, steps, Watch { proof: Some(Vec::new()), ..Watch::default() });
        // The solver ends at a conflict without decisions, from which the empty clause follows.
        self.proof = proof.filter(|_| answer == Answer::Unsat).map(|mut p| {
            p.extend_from_slice(b"0\n");
            p
        });
        answer
    }

    fn take_proof(&mut self) -> Option<Vec<u8>> {
        self.proof.take()
    }
}

/// Returns `Some` if these clauses are proved unsatisfiable within `steps` steps, and subtracts the steps used. The
/// inner value is the proof, if the watch records it. Literals are variables from 1, negative for the complement.
fn contradict(clauses: &[Vec<i32>], steps: &mut u64, watch: Watch) -> Option<Option<Vec<u8>>> {
    let mut solver = rustsat_batsat::Solver::<Watch>::default();
    *solver.batsat_mut().cb_mut() = watch;
    for clause in clauses {
        let literals = clause.iter().map(|&l| SatLit::new(l.unsigned_abs() - 1, l < 0));
        solver.add_clause(literals.collect::<rustsat::types::Clause>()).ok()?;
    }
    solver.batsat_mut().cb_mut().left.set(*steps);
    let result = solver.solve();
    *steps = solver.batsat_mut().cb_mut().left.get();
    matches!(result, Ok(SolverResult::Unsat)).then(|| solver.batsat_mut().cb_mut().proof.take())
}

/// Returns `true` if clauses are proved unsatisfiable, like [`refutation`] without a proof.
pub fn is_refuted(clauses: &[Vec<i32>], steps: &mut u64) -> bool {
    contradict(clauses, steps, Watch::default()).is_some()
}

/// Returns lemmas that follow from these clauses one after another by unit propagation; the last one is empty. Returns
/// `None` if the clauses are not proved unsatisfiable within `steps` steps. The steps used are subtracted. Literals are
/// variables from 1, negative for the complement.
pub fn refutation(clauses: &[Vec<i32>], steps: &mut u64) -> Option<Vec<Lemma>> {
    let proof = contradict(clauses, steps, Watch { proof: Some(Vec::new()), ..Watch::default() })??;
    // Deletions of clauses can be ignored.
    let lines = std::str::from_utf8(&proof).ok()?.lines().filter(|line| !line.starts_with('d'));
    let numbers = |line: &str| -> Vec<i32> {
        line.split_ascii_whitespace().filter_map(|word| word.parse::<i32>().ok()).filter(|&l| l != 0).collect()
    };
    let mut learnt: Vec<Vec<i32>> = lines.map(numbers).collect();
    learnt.push(Vec::new());
    lrat::refutation(clauses, &learnt)
}

fn decide(problem: &Problem<'_>, steps: &mut u64, watch: Watch) -> (Answer, Option<Vec<u8>>) {
    let (clauses, var) = clauses(problem);
    let mut solver = rustsat_batsat::Solver::<Watch>::default();
    *solver.batsat_mut().cb_mut() = watch;
    for clause in clauses {
        let clause: rustsat::types::Clause =
            clause.into_iter().map(|(v, positive)| SatLit::new(v, !positive)).collect();
        if solver.add_clause(clause).is_err() {
            return (Answer::Limit, None);
        }
    }
    solver.batsat_mut().cb_mut().left.set(*steps);
    let result = solver.solve();
    *steps = solver.batsat_mut().cb_mut().left.get();
    let answer = match result {
        Ok(SolverResult::Unsat) => Answer::Unsat,
        Ok(SolverResult::Sat) => {
            let value = |leaf: &u32| {
                let lit = SatLit::new(var[leaf], false);
                matches!(solver.lit_val(lit), Ok(TernaryVal::True))
            };
            Answer::Sat(problem.leaves.iter().map(value).collect())
        }
        Ok(SolverResult::Interrupted) | Err(_) => Answer::Limit,
    };
    (answer, solver.batsat_mut().cb_mut().proof.take())
}

/// Callbacks and counters of a running solver.
struct Watch {
    /// Remaining number of budget queries by the solver, a deterministic measure of work.
    left: Cell<u64>,
    /// Recorded proof; `None` if no proof is recorded.
    proof: Option<Vec<u8>>,
}

impl Default for Watch {
    fn default() -> Self {
        Watch { left: Cell::new(u64::MAX), proof: None }
    }
}

impl Watch {
    /// Records a learnt clause. Deletions are not recorded: the solver shortens clauses without a callback, so a
    /// checker might not find the deleted clause, and a proof without deletions is valid.
    fn learnt(&mut self, clause: &[batsat::Lit]) {
        let Some(proof) = self.proof.as_mut() else { return };
        for lit in clause {
            let sign = if lit.sign() { "" } else { "-" };
            proof.extend_from_slice(format!("{sign}{} ", lit.var().idx() + 1).as_bytes());
        }
        proof.extend_from_slice(b"0\n");
        if proof.len() > MAX_PROOF {
            self.proof = None;
        }
    }
}

impl Callbacks for Watch {
    fn on_new_clause(&mut self, clause: &[batsat::Lit], _: ClauseKind) {
        self.learnt(clause);
    }

    fn on_result(&mut self, _: lbool) {}

    fn stop(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left == 0 || super::progress::is_cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bit_vector::resize;

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

    /// Checks a proof by unit propagation alone (each learnt clause must follow by unit propagation). This simple, slow
    /// checker shares no code with the solver.
    fn refutes(dimacs: &str, proof: &str) -> bool {
        let numbers = |line: &str| -> Vec<i32> {
            line.split_whitespace().filter_map(|n| n.parse().ok()).filter(|&n| n != 0).collect()
        };
        let mut clauses: Vec<Vec<i32>> = dimacs.lines().skip(1).map(numbers).collect();
        for line in proof.lines() {
            let learnt = numbers(line);
            let mut known: std::collections::HashSet<i32> = learnt.iter().map(|l| -l).collect();
            let conflict = 'search: loop {
                let mut more = false;
                for clause in &clauses {
                    if clause.iter().any(|l| known.contains(l)) {
                        continue;
                    }
                    let mut open = clause.iter().filter(|l| !known.contains(&-**l));
                    match (open.next(), open.next()) {
                        (None, _) => break 'search true,
                        (Some(&unit), None) => more |= known.insert(unit),
                        _ => {}
                    }
                }
                if !more {
                    break false;
                }
            };
            if !conflict {
                return false;
            }
            if learnt.is_empty() {
                return true;
            }
            clauses.push(learnt);
        }
        false
    }

    #[test]
    fn proofs_are_accepted_by_a_checker_and_fail_for_another_question() {
        let mut w = crate::bit_vector::Words::new();
        let x: Vec<Lit> = (0..6).map(|_| w.aig.input("")).collect();
        let wide = |part: &[Lit]| resize(part, false, 5);
        let (a, b, c) = (wide(&x[..2]), wide(&x[2..4]), wide(&x[4..]));
        // The distributive law, which structural hashing cannot prove.
        let sum = w.add(&b, &c, Lit::FALSE, false);
        let left = w.mul((&a, false), (&sum, false), 5);
        let (ab, ac) = (w.mul((&a, false), (&b, false), 5), w.mul((&a, false), (&c, false), 5));
        let right = w.add(&ab, &ac, Lit::FALSE, false);
        let gates: Vec<_> = (0..w.aig.len() as u32).filter_map(|n| w.aig.fanins(n).map(|(a, b)| (n, a, b))).collect();
        let leaves: Vec<u32> = x.iter().map(|l| l.node()).collect();
        let differ: Vec<(Lit, Lit)> = left.iter().copied().zip(right.iter().copied()).filter(|(a, b)| a != b).collect();
        assert!(!differ.is_empty());
        let problem = Problem { aig: &w.aig, gates: &gates, leaves: &leaves, differ: &differ };
        let mut solver = Proving::default();
        assert_eq!(solver.solve(&problem, &mut { u64::MAX }), Answer::Unsat);
        let proof = String::from_utf8(solver.take_proof().unwrap()).unwrap();
        let dimacs = String::from_utf8(problem.dimacs()).unwrap();
        assert!(proof.lines().count() > 10 && refutes(&dimacs, &proof));
        assert!(!refutes(&dimacs, "0\n"), "without the learnt clauses there is no proof");
        let other = Problem { differ: &[(left[1], right[2])], ..problem };
        assert!(matches!(solver.solve(&other, &mut { u64::MAX }), Answer::Sat(_)));
        assert_eq!(solver.take_proof(), None);
        assert!(!refutes(&String::from_utf8(other.dimacs()).unwrap(), &proof));
        // The same problem as a graph.
        let miter = Problem { differ: &differ, ..other }.miter();
        assert_eq!((miter.inputs().len(), miter.outputs().len()), (6, 1));
    }
}
