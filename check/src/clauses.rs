//! Clauses, and whether more of them follow by unit propagation.

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

impl Clauses {
    fn value_of(&self, literal: i32) -> i8 {
        let value = self.value[literal.unsigned_abs() as usize];
        if literal < 0 { -value } else { value }
    }

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
        if clause.iter().any(|&l| self.value_of(l) > 0) || clause.iter().any(|l| clause.binary_search(&-l).is_ok()) {
            return;
        }
        clause.retain(|&l| self.value_of(l) == 0);
        match clause[..] {
            [] => self.contradict = true,
            [unit] => {
                self.set(unit);
                let from = self.trail.len() - 1;
                if self.propagate(from) {
                    self.contradict = true;
                }
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
    fn propagate(&mut self, from: usize) -> bool {
        let mut next = from;
        while next < self.trail.len() {
            let is_false = -self.trail[next];
            next += 1;
            let mut watching = std::mem::take(&mut self.watches[watch_index(is_false)]);
            let mut kept = 0;
            let mut contradiction = false;
            for i in 0..watching.len() {
                let number = watching[i];
                watching[kept] = number;
                kept += 1;
                if contradiction {
                    continue;
                }
                let clause = &mut self.clauses[number as usize];
                if clause[0] == is_false {
                    clause.swap(0, 1);
                }
                let value = |l: i32| self.value[l.unsigned_abs() as usize] * if l < 0 { -1 } else { 1 };
                let first = clause[0];
                if value(first) > 0 {
                    continue;
                }
                if let Some(other) = (2..clause.len()).find(|&k| value(clause[k]) >= 0) {
                    clause.swap(1, other);
                    let moved = clause[1];
                    self.watches[watch_index(moved)].push(number);
                    kept -= 1;
                } else if value(first) == 0 {
                    self.set(first);
                } else {
                    contradiction = true;
                }
            }
            watching.truncate(kept);
            let added = std::mem::take(&mut self.watches[watch_index(is_false)]);
            watching.extend(added);
            self.watches[watch_index(is_false)] = watching;
            if contradiction {
                return true;
            }
        }
        false
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
            if clause.contains(&0) || clause.contains(&i32::MIN) {
                return Err("a clause with a literal that is none".to_owned());
            }
            self.reserve(clause);
            let start = self.trail.len();
            let mut follows = false;
            for &literal in clause {
                match self.value_of(literal) {
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
            if !follows {
                return Err("a clause does not follow by unit propagation".to_owned());
            }
            self.add(clause.clone());
        }
        if self.contradict { Ok(()) } else { Err("the clauses do not contradict one another".to_owned()) }
    }
}
