//! Refutations of a SAT solver with the reasons of each clause (LRAT: Cruz-Filipe and others, "Efficient Certified RAT
//! Verification", CADE 2017), so that they can be checked without search. Unneeded clauses are removed.

/// A clause, and the indices of the clauses from which it follows.
pub type Lemma = (Vec<i32>, Vec<usize>);

/// Clauses with two watched literals each, and the assignment that follows from them.
struct Clauses {
    clauses: Vec<Vec<i32>>,
    /// Indices of the clauses that watch a literal.
    watches: Vec<Vec<usize>>,
    /// For each variable: 1 true, -1 false, 0 unassigned; and the clause from which the value follows, if any.
    value: Vec<(i8, Option<usize>)>,
    trail: Vec<i32>,
}

fn index(literal: i32) -> usize {
    (literal.unsigned_abs() as usize) << 1 | usize::from(literal < 0)
}

impl Clauses {
    fn new(variables: usize) -> Clauses {
        Clauses {
            clauses: Vec::new(),
            watches: vec![Vec::new(); 2 * variables + 2],
            value: vec![(0, None); variables + 1],
            trail: Vec::new(),
        }
    }

    fn value_of(&self, literal: i32) -> i8 {
        self.value[literal.unsigned_abs() as usize].0 * if literal < 0 { -1 } else { 1 }
    }

    fn set(&mut self, literal: i32, reason: Option<usize>) {
        self.value[literal.unsigned_abs() as usize] = (if literal < 0 { -1 } else { 1 }, reason);
        self.trail.push(literal);
    }

    /// Adds a clause, and assigns the literals that follow permanently. Returns a clause that is false then, if any.
    fn add(&mut self, mut clause: Vec<i32>) -> Option<usize> {
        let number = self.clauses.len();
        // Literals that are not false come first.
        clause.sort_by_key(|&literal| self.value_of(literal) < 0);
        let open = clause.iter().filter(|&&literal| self.value_of(literal) >= 0).count();
        let first = clause.first().copied();
        if let [a, b, ..] = clause[..] {
            self.watches[index(a)].push(number);
            self.watches[index(b)].push(number);
        }
        self.clauses.push(clause);
        match (open, first) {
            (0, _) => Some(number),
            (1, Some(first)) if self.value_of(first) == 0 => {
                self.set(first, Some(number));
                self.propagate(self.trail.len() - 1)
            }
            _ => None,
        }
    }

    /// Assigns the literals that follow from the trail, starting at position `next`. Returns a clause that is false
    /// then, if any.
    fn propagate(&mut self, mut next: usize) -> Option<usize> {
        while let Some(&literal) = self.trail.get(next) {
            let is_false = -literal;
            next += 1;
            let mut watching = std::mem::take(&mut self.watches[index(is_false)]);
            let mut contradiction = None;
            let mut i = 0;
            while i < watching.len() && contradiction.is_none() {
                let number = watching[i];
                if self.clauses[number][0] == is_false {
                    self.clauses[number].swap(0, 1);
                }
                let clause = &self.clauses[number];
                let first = clause[0];
                let is_true = self.value_of(first) > 0;
                let other = (2..clause.len()).find(|&k| !is_true && self.value_of(clause[k]) >= 0);
                if let Some(other) = other {
                    self.clauses[number].swap(1, other);
                    let moved = self.clauses[number][1];
                    self.watches[index(moved)].push(watching.swap_remove(i));
                    continue;
                }
                i += 1;
                match self.value_of(first) {
                    0 => self.set(first, Some(number)),
                    -1 => contradiction = Some(number),
                    _ => {}
                }
            }
            self.watches[index(is_false)] = watching;
            if contradiction.is_some() {
                return contradiction;
            }
        }
        None
    }

    /// Returns the proof that a clause is false: the negated assumptions, and the clauses in the order in which they
    /// become units, `contradiction` last.
    fn reasons(&self, contradiction: usize) -> Lemma {
        let mut is_asked = vec![false; self.value.len()];
        let ask = |is_asked: &mut Vec<bool>, clause: &[i32]| {
            clause.iter().for_each(|literal| is_asked[literal.unsigned_abs() as usize] = true);
        };
        ask(&mut is_asked, &self.clauses[contradiction]);
        let (mut literals, mut hints) = (Vec::new(), vec![contradiction]);
        for &literal in self.trail.iter().rev() {
            let variable = literal.unsigned_abs() as usize;
            match self.value[variable].1.filter(|_| is_asked[variable]) {
                Some(reason) => {
                    ask(&mut is_asked, &self.clauses[reason]);
                    hints.push(reason);
                }
                None if is_asked[variable] => literals.push(-literal),
                None => {}
            }
        }
        literals.sort_unstable();
        hints.reverse();
        (literals, hints)
    }

    /// Returns a clause that follows, or a sufficient part of it, with its reasons. Returns `None` if a literal of it
    /// is already true, or if it does not follow by unit propagation.
    fn shown(&mut self, clause: &[i32]) -> Option<Lemma> {
        let start = self.trail.len();
        let mut is_known = false;
        for &literal in clause {
            match self.value_of(literal) {
                0 => self.set(-literal, None),
                1 => is_known = true,
                _ => {}
            }
        }
        let contradiction = if is_known { None } else { self.propagate(start) };
        let shown = contradiction.map(|contradiction| self.reasons(contradiction));
        for literal in self.trail.drain(start..) {
            self.value[literal.unsigned_abs() as usize] = (0, None);
        }
        shown
    }
}

/// Returns clauses that follow from the first ones, each by unit propagation along its listed clauses (numbered from
/// 1), up to the empty clause. `learnt` are the clauses that a solver learnt, in order, up to the empty one; unneeded
/// ones are removed. Returns `None` if the empty clause does not follow.
pub(super) fn refutation(clauses: &[Vec<i32>], learnt: &[Vec<i32>]) -> Option<Vec<Lemma>> {
    let variables = clauses.iter().chain(learnt).flatten().map(|l| l.unsigned_abs() as usize).max()?;
    let mut all = Clauses::new(variables);
    let mut contradiction = None;
    for clause in clauses {
        let found = all.add(clause.clone());
        contradiction = contradiction.or(found);
    }
    let mut lemmas: Vec<Lemma> = Vec::new();
    for clause in learnt {
        if contradiction.is_some() {
            break;
        }
        if let Some((literals, hints)) = all.shown(clause) {
            contradiction = all.add(literals.clone());
            lemmas.push((literals, hints));
        }
    }
    lemmas.push(all.reasons(contradiction?));
    // The empty clause may already be one of the learnt clauses.
    let end = lemmas.iter().position(|lemma| lemma.0.is_empty())? + 1;
    lemmas.truncate(end);
    let mut is_needed = vec![false; end];
    is_needed[end - 1] = true;
    for at in (0..end).rev() {
        if is_needed[at] {
            lemmas[at]
                .1
                .iter()
                .filter_map(|hint| hint.checked_sub(clauses.len()))
                .for_each(|own| is_needed[own] = true);
        }
    }
    let mut number = clauses.len();
    let numbers: Vec<usize> = is_needed
        .iter()
        .map(|&needed| {
            number += usize::from(needed);
            number
        })
        .collect();
    let named = |hint: usize| hint.checked_sub(clauses.len()).map_or(hint + 1, |own| numbers[own]);
    let kept = lemmas.into_iter().zip(is_needed).filter(|(_, needed)| *needed);
    Some(kept.map(|((literals, hints), _)| (literals, hints.into_iter().map(named).collect())).collect())
}
