//! Records: proofs that a bit of a value equals another gate. Each record is checked where it is applied, without
//! search: by all assignments of a few leaves, or by clauses that each follow from named earlier ones (LRAT:
//! Cruz-Filipe and others, "Efficient Certified RAT Verification", CADE 2017).
//!
//! The format is canonical: a record with unused parts is refused.

use crate::ensure;
use crate::graph::{Graph, Lit};
use crate::words::exact;
use std::collections::HashMap;

/// Largest number of leaves of a record that is checked by all assignments.
pub const MOST_LEAVES: usize = 18;
/// Number of 64-bit words of assignments that are evaluated together.
const WORDS: usize = 8;
/// Number of leaves of which one block of words covers all assignments: `log2(64 * WORDS)`.
const WITHIN: usize = 9;

/// A derived clause: its literals in order, and its hints, the numbers (from 1) of the clauses that imply it. Clauses
/// are numbered in the order of [`Question::clauses`], then in that of the record. With all literals false, each hint
/// but the last becomes a unit clause in turn, and the last one becomes false.
pub type Lemma = (Vec<i32>, Vec<usize>);

/// Reason for the equality of two literals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The literals are equal for all assignments of the leaves.
    Exhaustion,
    /// Clauses that each follow from earlier ones; the last clause is empty. Variables are those of [`Question`].
    Clauses(Vec<Lemma>),
}

/// Equality of a bit of a value and a literal, with its proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Index of the bit in the value at whose place the record is applied; after all values, its index in the outputs.
    pub bit: usize,
    /// The literal that the bit equals, named by the oldest of its equivalent gates.
    pub other: Lit,
    /// Node numbers of the gates of which both literals are functions, ascending.
    pub leaves: Vec<u32>,
    /// Values assumed to be within their ranges, as (program, index of the value), where program 0 is the model. For
    /// assignments with a value outside its range the bit and the literal may differ.
    pub ranges: Vec<(usize, usize)>,
    /// Reason for the equality.
    pub reason: Reason,
}

/// Proof obligation of a record: the cone of its literals over its leaves. Variables are numbered from 1: the constant
/// false, the leaves, the gates by number, the comparisons of values with their ranges.
pub struct Question {
    /// Number of leaves.
    leaves: usize,
    /// Operands of each gate.
    gates: Vec<[i32; 2]>,
    /// The two literals; then, for each range, two literals that are true outside of it (below, above).
    lits: Vec<i32>,
}

fn is_ascending<T: PartialOrd>(list: &[T]) -> bool {
    list.windows(2).all(|pair| pair[0] < pair[1])
}

impl Question {
    /// Builds the proof obligation of a record; `bit` is the literal of the bit that it names.
    ///
    /// # Errors
    /// If a leaf or a range is missing or not needed; if a literal depends on other gates than the leaves.
    pub fn new(g: &Graph, bit: Lit, record: &Record) -> Result<Question, String> {
        ensure(record.other.node() < g.count(), "a record names a gate that does not exist")?;
        ensure(is_ascending(&record.ranges), "ranges out of order")?;
        let known =
            |&at: &(usize, usize)| g.sums.value(at).and_then(|v| Some((exact(&v.bits, v.kind.signed), v.range?)));
        let ranges: Option<Vec<_>> = record.ranges.iter().map(known).collect();
        let ranges = ranges.ok_or("a range of a value without a known range")?;
        let pair = [bit, record.other];
        let is_leaf = |&leaf: &u32| leaf > 0 && (leaf as usize) < g.count() && g.root(Lit(leaf << 1)) == Lit(leaf << 1);
        let are_leaves = is_ascending(&record.leaves) && record.leaves.iter().all(is_leaf);
        ensure(are_leaves, "invalid leaves, or leaves out of order")?;
        // Leaves that are not yet reached have the variable 0.
        let mut variables: HashMap<u32, i32> = record.leaves.iter().map(|&leaf| (leaf, 0)).collect();
        let mut cone = Vec::new();
        let lits = pair.iter().chain(ranges.iter().flat_map(|range| &range.0));
        let mut stack: Vec<Lit> = lits.map(|&lit| g.root(lit)).collect();
        let mut reached = 0;
        while let Some(node) = stack.pop().map(|lit| lit.node() as u32) {
            match variables.insert(node, 1) {
                Some(0) => reached += 1,
                None if node > 0 => {
                    let (a, b) = g.operands(node).ok_or("an input that is not a leaf of the record")?;
                    cone.push((node, [a, b]));
                    stack.extend([a, b]);
                }
                _ => {}
            }
        }
        ensure(reached == record.leaves.len(), "a leaf that the record does not depend on")?;
        cone.sort_unstable();
        let nodes = [0].into_iter().chain(record.leaves.iter().copied()).chain(cone.iter().map(|gate| gate.0));
        (1..).zip(nodes).for_each(|(variable, node)| _ = variables.insert(node, variable));
        let of = |lit: Lit| variables[&(g.root(lit).node() as u32)] * if g.root(lit).is_negated() { -1 } else { 1 };
        let mut gates: Vec<[i32; 2]> = cone.iter().map(|gate| gate.1.map(of)).collect();
        let mut lits = pair.map(of).to_vec();
        for (bits, (lo, hi)) in ranges {
            // Compares from the lowest bit up; `below` is the result for the bits so far. "Above" is "below" with all
            // bits inverted.
            for (sign, bound) in [(1, lo), (-1, !hi)] {
                let mut below = -1;
                for (i, &bit) in bits.iter().enumerate() {
                    let is_top = i + 1 == bits.len();
                    let (bit, one) =
                        (of(bit) * sign * if is_top { -1 } else { 1 }, (bound >> i.min(127) & 1 == 1) != is_top);
                    gates.push(if one { [bit, -below] } else { [-bit, below] });
                    let gate = (1 + record.leaves.len() + gates.len()) as i32;
                    below = if one { -gate } else { gate };
                }
                lits.push(below);
            }
        }
        Ok(Question { leaves: record.leaves.len(), gates, lits })
    }

    /// Checks for all assignments of the leaves that the first two literals are equal, or that a value is outside of
    /// its range. Returns `true` for each range that is the only one to exclude some assignment, and therefore needed.
    ///
    /// # Errors
    /// If neither condition holds for an assignment.
    pub fn exhaust(&self) -> Result<Vec<bool>, String> {
        ensure(self.leaves <= MOST_LEAVES, "a record by exhaustion with too many leaves")?;
        let gates = self.leaves + 2..self.leaves + 2 + self.gates.len();
        let operand = |v: i32| (v.unsigned_abs() as usize, i64::from(v >> 31).cast_unsigned());
        let operands: Vec<_> = self.gates.iter().map(|gate| gate.map(operand)).collect();
        let lits: Vec<_> = self.lits.iter().map(|&lit| operand(lit)).collect();
        // Leaves from `WITHIN` on are the binary digits of the block number. `lowest`: the lowest digit on which each
        // gate depends.
        let mut lowest = vec![u32::MAX - 1; gates.end];
        (WITHIN..self.leaves).for_each(|leaf| lowest[leaf + 2] = (leaf - WITHIN) as u32);
        for (to, [(a, _), (b, _)]) in gates.clone().zip(&operands) {
            lowest[to] = lowest[*a].min(lowest[*b]);
        }
        let mut values = vec![[0u64; WORDS]; gates.end];
        for (i, value) in values[2..].iter_mut().enumerate().take(self.leaves.min(WITHIN)) {
            // Bit `j` of the block is the value of leaf `i` in assignment `j`: bit `i` of `j`.
            *value = std::array::from_fn(|word| (0..64).fold(0, |all, j| all | ((64 * word as u64 + j) >> i & 1) << j));
        }
        let mut needed = vec![false; lits.len() / 2 - 1];
        for block in 0..1u64 << self.leaves.saturating_sub(WITHIN) {
            // Digits up to this one have changed since the previous block.
            let changed = if block == 0 { u32::MAX } else { block.trailing_zeros() };
            (WITHIN..self.leaves).for_each(|i| values[i + 2] = [0u64.wrapping_sub(block >> (i - WITHIN) & 1); WORDS]);
            for (to, [(a, flip_a), (b, flip_b)]) in gates.clone().zip(&operands) {
                if lowest[to] <= changed {
                    let (p, q) = (values[*a], values[*b]);
                    for (word, out) in values[to].iter_mut().enumerate() {
                        *out = (p[word] ^ flip_a) & (q[word] ^ flip_b);
                    }
                }
            }
            let value = |&(at, flip): &(usize, u64), word: usize| values[at][word] ^ flip;
            let differ = |word| value(&lits[0], word) ^ value(&lits[1], word);
            for word in (0..WORDS).filter(|&word| differ(word) != 0) {
                let others = |own: usize| {
                    let other = lits[2..].iter().enumerate().filter(|(i, _)| i / 2 != own);
                    other.fold(0, |outside, (_, lit)| outside | value(lit, word))
                };
                let holds = differ(word) & !others(usize::MAX) == 0;
                ensure(holds, "a record by exhaustion does not hold for one of the assignments")?;
                needed.iter_mut().enumerate().for_each(|(own, needed)| *needed |= differ(word) & !others(own) != 0);
            }
        }
        Ok(needed)
    }

    /// Returns the initial clauses: the definitions of the gates, then that the first two literals differ, then that
    /// no value is outside its range.
    pub fn clauses(&self) -> Vec<Vec<i32>> {
        let mut out = vec![vec![-1]];
        for (gate, &[a, b]) in (self.leaves as i32 + 2..).zip(&self.gates) {
            out.extend([vec![-gate, a], vec![-gate, b], vec![gate, -a, -b]]);
        }
        let [x, y, outside @ ..] = &self.lits[..] else { return out };
        out.extend([vec![*x, *y], vec![-x, -y]]);
        out.extend(outside.iter().map(|&lit| vec![-lit]));
        out
    }

    /// Checks that the clauses follow and that the last one is empty. Returns `true` for each range that the clauses
    /// need.
    ///
    /// # Errors
    /// If a clause does not follow by its hints, or is not needed.
    pub fn follow(&self, lemmas: &[Lemma]) -> Result<Vec<bool>, String> {
        let mut clauses = self.clauses();
        let ranges = clauses.len() - (self.lits.len() - 2)..clauses.len();
        let mut is_used = vec![false; clauses.len() + lemmas.len()];
        // Value of each variable (1 true, -1 false, 0 undecided), and `true` if a hint of the clause read it.
        let mut values = vec![(0i8, false); self.leaves + self.gates.len() + 2];
        for (literals, hints) in lemmas {
            let are_literals = literals.iter().all(|l| *l != 0 && (l.unsigned_abs() as usize) < values.len());
            ensure(
                is_ascending(literals) && are_literals,
                "a clause with an invalid literal, or literals out of order",
            )?;
            let mut trail: Vec<usize> = Vec::new();
            let mut next: Vec<i32> = literals.iter().map(|l| -l).collect();
            let mut is_false = false;
            for &hint in hints {
                for lit in next.drain(..) {
                    let at = lit.unsigned_abs() as usize;
                    ensure(values[at].0 == 0, "a clause with a literal and its opposite")?;
                    values[at].0 = if lit < 0 { -1 } else { 1 };
                    trail.push(at);
                }
                let clause = hint.checked_sub(1).and_then(|hint| clauses.get(hint)).filter(|_| !is_false);
                let clause = clause.ok_or("an invalid hint")?;
                is_used[hint - 1] = true;
                for &lit in clause {
                    let value = &mut values[lit.unsigned_abs() as usize];
                    match value.0 * if lit < 0 { -1 } else { 1 } {
                        0 => next.push(lit),
                        -1 => value.1 = true,
                        _ => return Err("a hint with a literal that is already true".into()),
                    }
                }
                ensure(next.len() <= 1, "a hint that is not a unit clause")?;
                is_false = next.is_empty();
            }
            ensure(is_false, "a clause that does not follow by its hints")?;
            let are_read = trail.into_iter().all(|at| std::mem::take(&mut values[at]).1);
            ensure(are_read, "a clause with a literal or a hint that it does not need")?;
            clauses.push(literals.clone());
        }
        ensure(lemmas.last().is_some_and(|last| last.0.is_empty()), "the last clause is not empty")?;
        let (of_lemmas, own) = (&is_used[ranges.end..clauses.len() - 1], &is_used[ranges]);
        ensure(of_lemmas.iter().all(|&used| used), "a clause that nothing needs")?;
        Ok(own.chunks(2).map(|two| two[0] || two[1]).collect())
    }
}

impl Record {
    /// Checks the proof for this bit, and merges the two literals in the graph.
    ///
    /// # Errors
    /// If the proof does not hold, if a part of the record is not needed, or if the equality is already known.
    pub fn apply(&self, g: &mut Graph, bit: Lit) -> Result<(), String> {
        let question = Question::new(g, bit, self)?;
        ensure(g.root(bit) != g.root(self.other), "a record of an equality that is already known")?;
        ensure(g.root(self.other) == self.other, "a literal that is not named by its oldest equivalent gate")?;
        let needed = match &self.reason {
            Reason::Exhaustion => question.exhaust()?,
            Reason::Clauses(lemmas) => question.follow(lemmas)?,
        };
        ensure(needed.into_iter().all(|needed| needed), "a range that is not needed")?;
        g.merge(bit, self.other);
        Ok(())
    }
}
