//! Equality of words of one graph. Methods, cheapest first:
//!
//! 1. equal literals (after structural hashing and [`super::parity`]);
//! 2. simulation of random patterns, which can only refute;
//! 3. affine integer forms ([`super::affine`]), for sums in another order;
//! 4. all assignments of the leaves of the cone, if there are at most twenty;
//! 5. SAT. At first cones end at values that both sides share, where a difference is no counterexample. If needed they
//!    grow up to the inputs, where a satisfying assignment is a counterexample.

use super::affine;
use super::aig::{Aig, Gate, Lit, Simulation, VARIABLES};
use super::bit_vector::Words;
use super::parity;
use super::progress::ProgressCounter;
use super::sat::{Answer, Problem, Solver};
use alir_core::num::SplitMix;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Number of 64-bit words of random patterns that are simulated.
pub const WORDS: usize = 4;
/// Default budget of one run in ticks: about two and a half minutes of one core (29 ns a tick, measured on 27,000
/// operations).
pub const WORK: u64 = 5_000_000_000;
/// Cost in ticks of one gate of a cone.
pub const GATE: u64 = 8;
/// Cost in ticks of the clauses of one gate for the solver.
pub(super) const CLAUSES: u64 = 80;
/// Cost in ticks of one step of the solver: a constant (.0), plus one tick for every .1 gates of the cone.
pub(super) const STEP: (u64, u64) = (80, 5);
/// Cost in ticks of one step of the linear forms.
pub const FORMS: u64 = 3;
/// Number of gates evaluated for 64 assignments at once that cost one tick.
const EVALUATED: u64 = 12;

/// Largest number of variables in the parities of a graph: a constant (.0), plus .1 for each gate.
const PARITIES: (u64, u64) = (1_000_000, 20);

/// Number of bits proved equal, by method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// By identical gates, or parities of identical gates.
    pub structural: u64,
    /// By affine integer forms.
    pub affine: u64,
    /// By trying all assignments.
    pub exhaustive: u64,
    /// Bits counted in `exhaustive` that belong to whole values of few inputs, tried by the batch engine.
    #[serde(skip)]
    pub tried: u64,
    /// By SAT.
    pub sat: u64,
    /// Internal equivalences detected by sweeping.
    pub swept: u64,
}

impl Counts {
    /// Adds the counts of another part of a proof.
    pub fn add(&mut self, other: &Counts) {
        self.structural += other.structural;
        self.affine += other.affine;
        self.exhaustive += other.exhaustive;
        self.tried += other.tried;
        self.sat += other.sat;
        self.swept += other.swept;
    }
}

/// Answer to an equality question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Equal for every input.
    Equal,
    /// Different for this assignment of the inputs, in their order.
    Differs(Vec<bool>),
    /// Undecided within the limits.
    Unknown,
}

/// Limits for one cone.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Number of steps of the solver.
    pub sat_steps: u64,
    /// Number of gates of a cone.
    pub cone: usize,
    /// Number of leaves up to which all assignments are tried.
    pub exhaustive_leaves: usize,
    /// `true` if cones may extend to the inputs; otherwise they end near shared values, which is cheaper but leaves
    /// more questions undecided.
    pub deep: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { sat_steps: 3_000_000, cone: 200_000, exhaustive_leaves: 20, deep: true }
    }
}

/// Prover for one graph: gates, simulated patterns, cut points and proved equivalences.
pub struct Engine {
    /// Gates and arithmetic.
    pub words: Words,
    sim: Simulation<WORDS>,
    rng: SplitMix,
    /// Nodes at which cones are cut first: bits of the model's operations.
    cut: FxHashSet<u32>,
    /// Nodes that were proved equal to an earlier literal.
    merged: FxHashMap<u32, Lit>,
    equivalent: EquivalentNodes,
    solver: Box<dyn Solver>,
    /// Limits for each question.
    pub limits: Limits,
    /// Remaining budget of the run in ticks (about 0.03 microseconds each); every question is charged its cost. At
    /// zero, all further questions are undecided.
    pub left: u64,
    /// Ticks spent beyond the budget, which [`Engine::release`] subtracts from the ticks that it returns.
    debt: u64,
    /// Ticks spent in total.
    pub spent: u64,
    /// Number of bits proved, by method.
    pub counts: Counts,
    /// SAT questions whose answer is "unsatisfiable" (no difference), for a certificate.
    pub questions: Vec<Question>,
    /// `true` to collect `questions`.
    pub keep_questions: bool,
    /// Counter that receives the progress of the run.
    pub progress: Option<Arc<ProgressCounter>>,
}

/// An unsatisfiable SAT question.
pub struct Question {
    /// Miter of the question: its output is never 1.
    pub miter: Aig,
    /// Clauses in DIMACS format.
    pub dimacs: Vec<u8>,
    /// DRAT proof that the clauses are unsatisfiable, if the solver records proofs.
    pub proof: Option<Vec<u8>>,
}

/// Pairs of nodes that the caller has proved equal, with the gates below them. Gates with the same structure are merged
/// with them.
#[derive(Default)]
struct EquivalentNodes {
    /// Gates (node and its operands) in topological order.
    gates: Vec<(u32, Lit, Lit)>,
    /// Map from each newer node to the older literal that it equals.
    equal: FxHashMap<u32, Lit>,
}

/// Gates and leaves below some literals.
struct Cone {
    /// Gates (node and its operands) in topological order.
    gates: Vec<(u32, Lit, Lit)>,
    leaves: Vec<u32>,
    /// `true` if every leaf is an input.
    complete: bool,
}

impl Engine {
    /// Creates an engine with an empty graph.
    pub fn new(solver: Box<dyn Solver>) -> Engine {
        Engine {
            words: Words::new(),
            sim: Simulation::default(),
            rng: SplitMix::new(0x70_72_6f_76_65),
            cut: FxHashSet::default(),
            merged: FxHashMap::default(),
            equivalent: EquivalentNodes::default(),
            solver,
            limits: Limits::default(),
            left: WORK,
            debt: 0,
            spent: 0,
            counts: Counts::default(),
            questions: Vec::new(),
            keep_questions: false,
            progress: None,
        }
    }

    /// Marks the nodes of these literals as shared values, at which cones end first.
    pub fn add_cut(&mut self, lits: &[Lit]) {
        self.cut.extend(lits.iter().map(|l| l.node()));
    }

    /// Simulates all nodes that were added since the last call.
    pub fn simulate(&mut self) {
        let rng = &mut self.rng;
        self.sim.extend(&self.words.aig, |gate| match gate {
            // Patterns 0 and 1 are all zeros and all ones.
            Gate::Input(_) => std::array::from_fn(|i| if i == 0 { rng.word() & !3 | 2 } else { rng.word() }),
            _ => [0; WORDS],
        });
    }

    /// Returns the simulated patterns of a literal.
    pub fn signature(&self, lit: Lit) -> [u64; WORDS] {
        self.sim.value(lit)
    }

    /// Returns the assignment of the inputs in one simulated pattern.
    fn pattern(&self, word: usize, bit: u32) -> Vec<bool> {
        self.words.aig.inputs().iter().map(|p| self.sim.value(p.lit)[word] >> bit & 1 == 1).collect()
    }

    /// Returns the first simulated assignment of the inputs for which two words differ.
    pub fn simulated_difference(&self, a: &[Lit], b: &[Lit]) -> Option<Vec<bool>> {
        a.iter().zip(b).filter(|(x, y)| x != y).find_map(|(&x, &y)| {
            let (p, q) = (self.sim.value(x), self.sim.value(y));
            let word = (0..WORDS).find(|&i| p[i] != q[i])?;
            Some(self.pattern(word, (p[word] ^ q[word]).trailing_zeros()))
        })
    }

    /// Compares two words of the same width for every assignment of the inputs.
    pub fn equal(&mut self, a: &[Lit], b: &[Lit]) -> Outcome {
        self.simulate();
        if a == b {
            self.counts.structural += a.len() as u64;
            return Outcome::Equal;
        }
        if let Some(pattern) = self.simulated_difference(a, b) {
            return Outcome::Differs(pattern);
        }
        if affine::equal(&self.words, a, b) {
            self.counts.affine += a.len() as u64;
            self.merge_words(a, b);
            return Outcome::Equal;
        }
        for (&x, &y) in a.iter().zip(b) {
            if x == y {
                self.counts.structural += 1;
                continue;
            }
            match self.equal_bits(x, y, self.limits) {
                Outcome::Equal => self.merge(x, y),
                other => return other,
            }
        }
        Outcome::Equal
    }

    /// Returns `true` if a literal is a shared value.
    pub fn is_cut(&self, lit: Lit) -> bool {
        self.cut.contains(&lit.node())
    }

    /// Returns `true` if two bits are proved equal within the given limits, and records the equality.
    pub fn equal_within(&mut self, x: Lit, y: Lit, limits: Limits) -> bool {
        let equal = self.equal_bits(x, y, limits) == Outcome::Equal;
        if equal {
            self.merge(x, y);
        }
        equal
    }

    fn merge_words(&mut self, a: &[Lit], b: &[Lit]) {
        for (&x, &y) in a.iter().zip(b) {
            self.merge(x, y);
        }
    }

    /// Records an equality: the older literal replaces the newer node.
    fn merge(&mut self, x: Lit, y: Lit) {
        let (x, y) = (self.root(x), self.root(y));
        if x.node() == y.node() {
            return;
        }
        let (newer, older) = if x.node() > y.node() { (x, y) } else { (y, x) };
        self.merged.insert(newer.node(), older.xor(newer.is_negated()));
    }

    /// Returns the oldest literal that is known to equal a literal.
    fn root(&self, mut lit: Lit) -> Lit {
        while let Some(&older) = self.merged.get(&lit.node()) {
            lit = older.xor(lit.is_negated());
        }
        lit
    }

    /// Returns the cone below `roots`, which ends after `levels` shared values on a path, or at inputs. Returns `None`
    /// if it has more than `limit` gates.
    fn cone(&self, roots: &[Lit], levels: u32, limit: usize) -> Option<Cone> {
        // Nodes with the number of further cuts that may be crossed. Gates have higher numbers than their operands, so
        // all readers of the highest remaining node have been processed. The first entry of a node has the most cuts
        // left.
        let mut left: BinaryHeap<(u32, u32)> = roots.iter().map(|l| (l.node(), levels)).collect();
        let is_root: FxHashSet<u32> = roots.iter().map(|l| l.node()).collect();
        let mut done = None;
        let (mut gates, mut leaves) = (Vec::new(), Vec::new());
        while let Some((node, cuts)) = left.pop() {
            if done == Some(node) {
                continue;
            }
            done = Some(node);
            let Some((a, b)) = self.words.aig.fanins(node) else {
                if node != 0 {
                    leaves.push(node);
                }
                continue;
            };
            let is_cut = self.cut.contains(&node) && !is_root.contains(&node);
            if is_cut && cuts == 0 {
                leaves.push(node);
                continue;
            }
            if gates.len() == limit {
                return None;
            }
            let (a, b) = (self.root(a), self.root(b));
            gates.push((node, a, b));
            for fanin in [a, b] {
                left.push((fanin.node(), cuts - u32::from(is_cut)));
            }
        }
        gates.reverse();
        leaves.reverse();
        let complete = leaves.iter().all(|&n| self.words.aig.fanins(n).is_none());
        Some(Cone { gates, leaves, complete })
    }

    /// Compares two bits, by cones of increasing depth.
    fn equal_bits(&mut self, x: Lit, y: Lit, limits: Limits) -> Outcome {
        let (x, y) = (self.root(x), self.root(y));
        if x == y {
            self.counts.structural += 1;
            return Outcome::Equal;
        }
        if x == !y {
            return Outcome::Differs(self.pattern(0, 0));
        }
        let mut size = 0;
        let depths: &[u32] = if limits.deep { &[0, 1, 2, 4, 8, 1_000_000] } else { &[0, 1] };
        for &levels in depths {
            if self.left == 0 {
                return Outcome::Unknown;
            }
            let most = self.affordable(limits.cone);
            let Some(cone) = self.cone(&[x, y], levels, most) else {
                self.spend(GATE * (most as u64 + 1));
                return Outcome::Unknown;
            };
            self.spend(GATE * (cone.gates.len() + cone.leaves.len()) as u64);
            if levels > 0 && cone.gates.len() == size {
                continue;
            }
            size = cone.gates.len();
            let work = (size as u64) << cone.leaves.len().saturating_sub(6).min(40);
            let answer = if cone.leaves.len() <= limits.exhaustive_leaves && work <= 20_000_000 {
                self.spend(work / EVALUATED);
                let answer = exhaust(&cone, x, y);
                if answer == Answer::Unsat {
                    self.counts.exhaustive += 1;
                }
                answer
            } else {
                let steps = if cone.complete { limits.sat_steps } else { limits.sat_steps / 10 };
                if steps == 0 {
                    continue;
                }
                // A solver step is a decision with its propagations, which take longer for more gates.
                let gates = cone.gates.len() as u64;
                self.spend(CLAUSES * gates);
                let price = STEP.0 + gates / STEP.1;
                let given = steps.min(self.left / price);
                let mut rest = given;
                let problem =
                    Problem { aig: &self.words.aig, gates: &cone.gates, leaves: &cone.leaves, differ: &[(x, y)] };
                let answer = self.solver.solve(&problem, &mut rest);
                if answer == Answer::Unsat {
                    self.counts.sat += 1;
                    if self.keep_questions {
                        let (miter, dimacs) = (problem.miter(), problem.dimacs());
                        self.questions.push(Question { miter, dimacs, proof: self.solver.take_proof() });
                    }
                }
                self.spend((given - rest) * price);
                if rest == 0 && given < steps {
                    self.left = 0;
                }
                answer
            };
            match answer {
                Answer::Unsat => return Outcome::Equal,
                Answer::Sat(values) if cone.complete => {
                    let mut inputs = vec![false; self.words.aig.inputs().len()];
                    for (&leaf, value) in cone.leaves.iter().zip(values) {
                        if let Gate::Input(n) = self.words.aig.gate(leaf) {
                            inputs[n as usize] = value;
                        }
                    }
                    return Outcome::Differs(inputs);
                }
                Answer::Limit if cone.complete => return Outcome::Unknown,
                Answer::Sat(_) | Answer::Limit => {}
            }
        }
        Outcome::Unknown
    }

    /// Runs a function with a budget of at most `ticks`.
    pub fn within<T>(&mut self, ticks: u64, run: impl FnOnce(&mut Engine) -> T) -> T {
        let kept = self.reserve(ticks);
        let out = run(self);
        self.release(kept);
        out
    }

    /// Limits the budget to `ticks`. Returns the ticks removed from it, for [`Engine::release`].
    pub fn reserve(&mut self, ticks: u64) -> u64 {
        let kept = self.left.saturating_sub(ticks);
        self.left -= kept;
        kept
    }

    /// Returns to the budget the ticks that [`Engine::reserve`] removed, minus those spent in excess since then, so
    /// that the whole run meets its budget even if a part exceeds its own.
    pub fn release(&mut self, kept: u64) {
        self.left += kept;
        let due = self.debt.min(self.left);
        self.debt -= due;
        self.left -= due;
    }

    /// Charges ticks to the budget.
    pub fn spend(&mut self, ticks: u64) {
        super::progress::check_cancelled();
        self.spent += ticks;
        self.debt += ticks.saturating_sub(self.left);
        self.left = self.left.saturating_sub(ticks);
        if let Some(progress) = &self.progress {
            progress.spend(self.spent);
        }
    }

    /// Reports the number of proved outputs to the progress counter.
    pub fn show_proved(&self, outputs: usize) {
        if let Some(progress) = &self.progress {
            progress.prove(outputs);
        }
    }

    /// Returns the number of gates, up to `gates`, that the remaining budget allows.
    fn affordable(&self, gates: usize) -> usize {
        gates.min((self.left / GATE) as usize)
    }

    /// Returns a message that names the limit because of which a question is undecided.
    pub fn limit_reached(&self) -> String {
        if self.left == 0 {
            return "the budget of the whole run (--prove-effort) was spent; --prove-effort max allows ten times as much"
                .to_owned();
        }
        format!(
            "it takes more than {} solver steps (--prove-effort) or {} gates",
            self.limits.sat_steps, self.limits.cone
        )
    }

    /// Returns the whole cone below literals; `None` if the budget does not allow it.
    fn whole_cone(&mut self, roots: &[Lit]) -> Option<Cone> {
        let most = self.affordable(5_000_000);
        let cone = self.cone(roots, 1_000_000, most);
        self.spend(GATE * cone.as_ref().map_or(most as u64, |cone| (cone.gates.len() + cone.leaves.len()) as u64));
        cone
    }

    /// Adds pairs of literals that are known to be equal. [`Engine::normalise`] then merges gates that read one literal
    /// of a pair with equal gates that read the other one. The call must precede any merge.
    pub fn add_equivalences(&mut self, pairs: &[(Lit, Lit)]) {
        let differ = |&(x, y): &(Lit, Lit)| x.node() != y.node();
        let roots: Vec<Lit> = pairs.iter().filter(|pair| differ(pair)).flat_map(|&(x, y)| [x, y]).collect();
        let Some(cone) = self.whole_cone(&roots) else { return };
        self.equivalent.gates = cone.gates;
        for &(x, y) in pairs.iter().filter(|pair| differ(pair)) {
            let (newer, older) = if x.node() > y.node() { (x, y) } else { (y, x) };
            self.equivalent.equal.entry(newer.node()).or_insert(older.xor(newer.is_negated()));
        }
    }

    /// Merges nodes below `roots` that are equal by structure and by parities ([`parity`]).
    pub fn normalise(&mut self, roots: &[Lit]) {
        let Some(cone) = self.whole_cone(roots) else { return };
        let mut gates = cone.gates;
        if !self.equivalent.gates.is_empty() {
            self.spend(GATE * self.equivalent.gates.len() as u64);
            gates.extend(self.equivalent.gates.iter().map(|&(node, a, b)| (node, self.root(a), self.root(b))));
            // Operands have lower numbers than their gates.
            gates.sort_unstable_by_key(|gate| gate.0);
            gates.dedup_by_key(|gate| gate.0);
        }
        let most = (PARITIES.0 + PARITIES.1 * gates.len() as u64).min(self.left);
        let (found, variables) = parity::equalities(&gates, &self.equivalent.equal, most);
        self.spend(variables);
        for (node, older) in found {
            self.merge(Lit::new(node, false), older);
        }
    }

    /// Compares two words without proof: `Equal` if they are known to be equal, `Differs` if a simulated pattern
    /// distinguishes them, otherwise `Unknown`.
    pub fn compared(&mut self, a: &[Lit], b: &[Lit]) -> Outcome {
        if a.iter().zip(b).all(|(&x, &y)| self.root(x) == self.root(y)) {
            self.counts.structural += a.len() as u64;
            return Outcome::Equal;
        }
        self.simulate();
        self.simulated_difference(a, b).map_or(Outcome::Unknown, Outcome::Differs)
    }

    /// Searches internal equivalences below `roots`, oldest nodes first, each decided within `limits`. Every
    /// equivalence makes later cones smaller.
    pub fn sweep(&mut self, roots: &[Lit], limits: Limits) {
        self.normalise(roots);
        self.simulate();
        let Some(cone) = self.whole_cone(roots) else { return };
        let normal = |s: [u64; WORDS]| if s[0] & 1 == 1 { (s.map(|w| !w), true) } else { (s, false) };
        let mut oldest: FxHashMap<[u64; WORDS], Vec<Lit>> = FxHashMap::default();
        oldest.insert([0; WORDS], vec![Lit::FALSE]);
        let mut nodes: Vec<u32> = cone.leaves.clone();
        nodes.extend(cone.gates.iter().map(|g| g.0));
        nodes.sort_unstable();
        for node in nodes {
            if self.left == 0 {
                return;
            }
            let lit = Lit::new(node, false);
            if self.merged.contains_key(&node) {
                continue;
            }
            let (key, negate) = normal(self.sim.value(lit));
            let lit = lit.xor(negate);
            let candidates = oldest.get(&key).cloned().unwrap_or_default();
            let is_gate = self.words.aig.fanins(node).is_some();
            let mut found = false;
            for old in candidates.into_iter().take(if is_gate { 3 } else { 0 }) {
                if self.equal_bits(lit, old, limits) == Outcome::Equal {
                    self.merge(lit, old);
                    self.counts.swept += 1;
                    found = true;
                    break;
                }
            }
            if !found {
                oldest.entry(key).or_default().push(lit);
            }
        }
    }

    /// Returns the value of each node for an assignment of the inputs.
    pub fn evaluate(&self, inputs: &[bool]) -> Vec<bool> {
        let aig = &self.words.aig;
        let mut values = Vec::with_capacity(aig.len());
        for node in 0..aig.len() as u32 {
            let seen = |l: Lit, values: &[bool]| values[l.node() as usize] != l.is_negated();
            let value = match aig.gate(node) {
                Gate::And(a, b) => seen(a, &values) && seen(b, &values),
                Gate::Input(n) => inputs.get(n as usize).copied().unwrap_or(false),
                Gate::False | Gate::Latch(_) => false,
            };
            values.push(value);
        }
        values
    }
}

/// Compares `x` and `y` for all assignments of the leaves, 64 at a time.
fn exhaust(cone: &Cone, x: Lit, y: Lit) -> Answer {
    // Index of each node in a dense array: constant, leaves, gates.
    let mut place: FxHashMap<u32, u32> = FxHashMap::default();
    place.insert(0, 0);
    for (i, &leaf) in cone.leaves.iter().enumerate() {
        place.insert(leaf, i as u32 + 1);
    }
    let first = cone.leaves.len() + 1;
    let mut gates = Vec::with_capacity(cone.gates.len());
    for (i, &(node, a, b)) in cone.gates.iter().enumerate() {
        let at = |l: Lit| (place[&l.node()] as usize, if l.is_negated() { u64::MAX } else { 0 });
        gates.push((at(a), at(b)));
        place.insert(node, (first + i) as u32);
    }
    let at = |l: Lit| (place[&l.node()] as usize, if l.is_negated() { u64::MAX } else { 0 });
    let (x, y) = (at(x), at(y));
    let mut values = vec![0u64; first + gates.len()];
    let n = cone.leaves.len();
    for block in 0..1u64 << n.saturating_sub(6) {
        for i in 0..n {
            values[i + 1] = match VARIABLES.get(i) {
                Some(&pattern) => pattern,
                None if block >> (i - 6) & 1 == 1 => u64::MAX,
                None => 0,
            };
        }
        for (i, &((a, fa), (b, fb))) in gates.iter().enumerate() {
            values[first + i] = (values[a] ^ fa) & (values[b] ^ fb);
        }
        let differ = (values[x.0] ^ x.1) ^ (values[y.0] ^ y.1);
        if differ != 0 {
            let bit = differ.trailing_zeros();
            return Answer::Sat((0..n).map(|i| values[i + 1] >> bit & 1 == 1).collect());
        }
    }
    Answer::Unsat
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bit_vector::resize;
    use crate::bit_vector::tests::inputs;
    use crate::sat::Embedded;

    #[test]
    fn a_multiplexer_written_twice_is_equal_and_a_wrong_one_differs() {
        let mut e = Engine::new(Box::new(Embedded));
        let x = inputs(&mut e.words, 30);
        let w = &mut e.words;
        let direct = w.mux(x[0], &x[1..15], &x[15..29]);
        let gated: Vec<Lit> = (0..14)
            .map(|i| {
                let (p, q) = (w.aig.or(!x[0], x[1 + i]), w.aig.or(x[0], x[15 + i]));
                w.aig.and(p, q)
            })
            .collect();
        assert_eq!(e.equal(&direct, &gated), Outcome::Equal);
        let mut wrong = gated.clone();
        wrong[13] = e.words.aig.and(gated[13], x[29]);
        let Outcome::Differs(inputs) = e.equal(&direct, &wrong) else { panic!("they differ") };
        let values = e.evaluate(&inputs);
        let seen = |l: Lit| values[l.node() as usize] != l.is_negated();
        assert_ne!(seen(direct[13]), seen(wrong[13]));
    }

    #[test]
    fn rare_differences_are_found_without_luck() {
        // Equal but for one assignment of 40 inputs.
        let mut e = Engine::new(Box::new(Embedded));
        let x = inputs(&mut e.words, 40);
        let all = e.words.all(&x);
        let parity = e.words.parity(&x);
        let other = e.words.aig.xor(parity, all);
        // The pattern of all ones is simulated, so the difference is at another assignment.
        let mut y = x.clone();
        y[7] = !y[7];
        let single = e.words.all(&y);
        let rare = e.words.aig.xor(parity, single);
        assert!(matches!(e.equal(&[parity], &[other]), Outcome::Differs(_)));
        let Outcome::Differs(found) = e.equal(&[parity], &[rare]) else { panic!("they differ") };
        assert_eq!(found, (0..40).map(|i| i != 7).collect::<Vec<_>>());
    }

    #[test]
    fn sweeping_finds_the_middle_of_two_adders() {
        let mut e = Engine::new(Box::new(Embedded));
        let x = inputs(&mut e.words, 24);
        let (a, b) = (x[..12].to_vec(), x[12..].to_vec());
        let ripple = e.words.add(&a, &b, Lit::FALSE, false);
        // Carry by generate and propagate with the or of the operands.
        let mut carry = Lit::FALSE;
        let mut other = Vec::new();
        for i in 0..12 {
            let g = &mut e.words.aig;
            let (both, either) = (g.and(a[i], b[i]), g.or(a[i], b[i]));
            let sum = g.and(either, !both);
            other.push(g.xor(carry, sum));
            let through = g.and(either, carry);
            carry = g.or(through, both);
        }
        assert_ne!(ripple, other);
        let both = [&ripple[..], &other].concat();
        e.sweep(&both, Limits { sat_steps: 10_000, ..Limits::default() });
        assert_eq!(e.equal(&resize(&ripple, false, 12), &other), Outcome::Equal);
        assert!(e.counts.swept > 0);
    }

    /// An equality of two words is used for the gates that read either word, and for no others.
    #[test]
    fn gates_of_equivalent_words_are_merged() {
        let mut e = Engine::new(Box::new(Embedded));
        let x = inputs(&mut e.words, 40);
        let (a, rest) = x.split_at(8);
        let (b, rest) = rest.split_at(8);
        let (p, q) = (&rest[..12], &rest[12..]);
        // A product in both operand orders, whose gates no method analyses here.
        let one = e.words.mul((a, true), (b, true), 12);
        let other = e.words.mul((b, true), (a, true), 12);
        let pairs: Vec<(Lit, Lit)> = one.iter().copied().zip(other.iter().copied()).collect();
        e.add_equivalences(&pairs);
        let sums = [(&one, p), (&other, p), (&one, q)].map(|(word, y)| e.words.add(word, y, Lit::FALSE, false));
        e.normalise(&sums.concat());
        assert_eq!(e.compared(&sums[0], &sums[1]), Outcome::Equal);
        assert!(matches!(e.compared(&sums[0], &sums[2]), Outcome::Differs(_)));
    }

    #[test]
    fn a_proof_ends_when_the_budget_is_exhausted() {
        // A product in both operand orders, which is too hard for any SAT solver.
        let hard = |left: u64| {
            let mut e = Engine::new(Box::new(Embedded));
            e.left = left;
            let x = inputs(&mut e.words, 48);
            let (a, b) = (x[..24].to_vec(), x[24..].to_vec());
            let mut sums = [vec![Lit::FALSE; 48], vec![Lit::FALSE; 48]];
            for (sum, (rows, other)) in sums.iter_mut().zip([(&a, &b), (&b, &a)]) {
                for (j, &select) in rows.iter().enumerate() {
                    let row: Vec<Lit> = other.iter().map(|&l| e.words.aig.and(l, select)).collect();
                    let row = resize(&row, false, 48 - j);
                    let high = e.words.add(&sum[j..], &row, Lit::FALSE, false);
                    sum[j..].copy_from_slice(&high);
                }
            }
            let outcome = e.equal_bits(sums[0][40], sums[1][40], e.limits);
            (outcome, e.left, e.limit_reached())
        };
        let (outcome, left, why) = hard(3_000_000);
        assert_eq!((outcome, left), (Outcome::Unknown, 0));
        assert!(why.contains("whole run"), "{why}");
        assert_eq!(hard(0).0, Outcome::Unknown);
    }
}
