//! Clauses, and whether more of them follow by unit propagation.

use crate::ensure;

/// Clauses with two watched literals each.
#[derive(Default)]
pub(crate) struct Clauses {
    clauses: Vec<Vec<i32>>,
    /// Clauses that watch a literal.
    watches: Vec<Vec<u32>>,
    /// 1 true, -1 false, 0 open; by variable.
    value: Vec<i8>,
    trail: Vec<i32>,
    /// Whether the clauses contradict one another already.
    contradict: bool,
}

fn watch_index(literal: i32) -> usize {
    (literal.unsigned_abs() as usize) << 1 | usize::from(literal < 0)
}

fn value_of(values: &[i8], literal: i32) -> i8 {
    values[literal.unsigned_abs() as usize] * if literal < 0 { -1 } else { 1 }
}

impl Clauses {
    fn reserve(&mut self, clause: &[i32]) {
        let most = clause.iter().map(|l| l.unsigned_abs() as usize).max().unwrap_or(0);
        if self.value.len() <= most {
            self.value.resize(most + 1, 0);
            self.watches.resize(2 * most + 2, Vec::new());
        }
    }

    /// Adds a clause to those that hold. What follows from it alone is set for good.
    pub(crate) fn add(&mut self, mut clause: Vec<i32>) {
        clause.sort_unstable();
        clause.dedup();
        self.reserve(&clause);
        if clause.iter().any(|&l| value_of(&self.value, l) > 0)
            || clause.iter().any(|l| clause.binary_search(&-l).is_ok())
        {
            return;
        }
        clause.retain(|&l| value_of(&self.value, l) == 0);
        match clause[..] {
            [] => self.contradict = true,
            [unit] => {
                self.set(unit);
                self.contradict |= self.propagate(self.trail.len() - 1);
            }
            [a, b, ..] => {
                let number = self.clauses.len() as u32;
                self.watches[watch_index(a)].push(number);
                self.watches[watch_index(b)].push(number);
                self.clauses.push(clause);
            }
        }
    }

    fn set(&mut self, literal: i32) {
        self.value[literal.unsigned_abs() as usize] = if literal < 0 { -1 } else { 1 };
        self.trail.push(literal);
    }

    /// Sets what follows from the literals of the trail, from this one on; whether that is a contradiction.
    fn propagate(&mut self, mut next: usize) -> bool {
        let mut contradiction = false;
        while next < self.trail.len() && !contradiction {
            let is_false = -self.trail[next];
            next += 1;
            let mut watching = std::mem::take(&mut self.watches[watch_index(is_false)]);
            let mut i = 0;
            while i < watching.len() && !contradiction {
                let clause = &mut self.clauses[watching[i] as usize];
                if clause[0] == is_false {
                    clause.swap(0, 1);
                }
                let first = value_of(&self.value, clause[0]);
                let open = 2..if first > 0 { 2 } else { clause.len() };
                let other = open.into_iter().find(|&k| value_of(&self.value, clause[k]) >= 0);
                if let Some(other) = other {
                    clause.swap(1, other);
                    let moved = clause[1];
                    self.watches[watch_index(moved)].push(watching.swap_remove(i));
                    continue;
                }
                i += 1;
                contradiction = first < 0;
                if first == 0 {
                    let unit = clause[0];
                    self.set(unit);
                }
            }
            self.watches[watch_index(is_false)] = watching;
        }
        contradiction
    }

    /// Adds clauses that follow by unit propagation, until the clauses contradict one another.
    ///
    /// # Errors
    /// If one does not follow, or they do not contradict one another in the end.
    pub(crate) fn replay(&mut self, proof: &[Vec<i32>]) -> Result<(), String> {
        for clause in proof {
            if self.contradict {
                return Ok(());
            }
            let are_literals = !clause.contains(&0) && !clause.contains(&i32::MIN);
            ensure(are_literals, "a clause with a literal that is none")?;
            self.reserve(clause);
            let start = self.trail.len();
            let mut follows = false;
            for &literal in clause {
                match value_of(&self.value, literal) {
                    0 => self.set(-literal),
                    1.. => {
                        follows = true;
                        break;
                    }
                    _ => {}
                }
            }
            follows = follows || self.propagate(start);
            for literal in self.trail.drain(start..) {
                self.value[literal.unsigned_abs() as usize] = 0;
            }
            ensure(follows, "a clause does not follow by unit propagation")?;
            self.add(clause.clone());
        }
        ensure(self.contradict, "the clauses do not contradict one another")
    }
}
