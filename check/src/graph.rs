//! Gates: ANDs of two literals, each made once, over what is known to be equal; and the records that make more of them
//! equal.
//!
//! A record is checked where it is applied, without search: by all assignments of a few leaves, or by clauses each of
//! which follows from those before by unit propagation.

use crate::ensure;
use crate::program::Type;
use crate::sums::{Sum, Sums};
use crate::words::exact;
use std::collections::{BTreeMap, HashMap};

/// A gate or its complement: twice the gate's number, plus one for the complement. 0 is false, 1 is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lit(pub u32);

impl Lit {
    /// The constant false.
    pub const FALSE: Lit = Lit(0);
    /// The constant true.
    pub const TRUE: Lit = Lit(1);

    /// A constant.
    pub fn constant(one: bool) -> Lit {
        Lit(u32::from(one))
    }

    /// The gate's number.
    pub fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether it is the complement.
    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// The complement if `flip`.
    pub fn flipped(self, flip: bool) -> Lit {
        Lit(self.0 ^ u32::from(flip))
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        self.flipped(true)
    }
}

/// Most leaves of a record by all assignments.
pub const MOST_LEAVES: usize = 18;
/// Most gates of both sides of a step.
const MOST: usize = 12_000_000;
/// Most gates between the two literals of a record and its leaves.
const MOST_GATES: usize = 2_000_000;

/// Why two literals are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// They are for all assignments of the leaves.
    Exhaustion,
    /// These clauses follow one after another, each by unit propagation, and the last one is empty. Variable `i` (from 1) is the
    /// `i`-th gate of the cone: leaves first, as the record has them, then gates by number.
    Clauses(Vec<Vec<i32>>),
}

/// That two literals are equal, with what shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The two literals.
    pub pair: (Lit, Lit),
    /// Gates that the two are functions of.
    pub leaves: Vec<u32>,
    /// What is known to be false: the two need not be equal where any of it is true.
    pub facts: Vec<Lit>,
    /// Why.
    pub reason: Reason,
}

/// Gates in the order of making.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Operands; of the constant and of inputs nothing.
    gates: Vec<Option<(Lit, Lit)>>,
    made: HashMap<(Lit, Lit), u32>,
    /// Gates over each one, as long as it is equal to no older one.
    readers: Vec<Vec<u32>>,
    /// What each gate was shown to be equal to: an older literal, or itself.
    equal: Vec<Lit>,
    /// Values for some random assignments, 64 in each word.
    samples: Vec<[u64; WORDS]>,
    random: u64,
    is_full: bool,
    /// What is known of values.
    pub sums: Sums,
}

/// Words of assignments that are looked at side by side.
pub const WORDS: usize = 8;

impl Graph {
    /// The constant alone.
    pub fn new() -> Graph {
        Graph {
            gates: vec![None],
            equal: vec![Lit::FALSE],
            readers: vec![Vec::new()],
            samples: vec![[0; WORDS]],
            random: 0x9e37_79b9_7f4a_7c15,
            ..Graph::default()
        }
    }

    fn push(&mut self, gate: Option<(Lit, Lit)>, samples: [u64; WORDS]) -> Lit {
        if self.gates.len() >= MOST {
            self.is_full = true;
            return Lit::FALSE;
        }
        let lit = Lit((self.gates.len() as u32) << 1);
        self.gates.push(gate);
        self.equal.push(lit);
        self.readers.push(Vec::new());
        self.samples.push(samples);
        lit
    }

    /// Whether there were more gates than are built: then nothing that was built may be used.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// A new input; its value for the first of the assignments that are looked at.
    pub fn input(&mut self, first: Option<bool>) -> Lit {
        let mut samples: [u64; WORDS] = std::array::from_fn(|_| {
            // Xorshift: any assignments will do.
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            self.random
        });
        if let Some(first) = first {
            samples[0] = samples[0] & !1 | u64::from(first);
        }
        self.push(None, samples)
    }

    /// Number of gates, inputs and the constant.
    pub fn count(&self) -> usize {
        self.gates.len()
    }

    /// The operands of a gate, by what they are known to be; nothing of an input or the constant.
    pub fn operands(&self, node: u32) -> Option<(Lit, Lit)> {
        self.gates[node as usize].map(|(a, b)| (self.root(a), self.root(b)))
    }

    /// The oldest literal that this one is known to be equal to.
    pub fn root(&self, lit: Lit) -> Lit {
        let mut lit = lit;
        loop {
            let next = self.equal[lit.node()].flipped(lit.is_negated());
            if next == lit {
                return lit;
            }
            lit = next;
        }
    }

    /// Values for the random assignments.
    pub fn sampled(&self, lit: Lit) -> [u64; WORDS] {
        self.samples[lit.node()].map(|word| if lit.is_negated() { !word } else { word })
    }

    /// Operands by their roots, and what is known to be the AND of them.
    fn known(&self, a: Lit, b: Lit) -> ((Lit, Lit), Option<Lit>) {
        let (a, b) = (self.root(a), self.root(b));
        let (a, b) = (a.min(b), a.max(b));
        let known = match (a, b) {
            _ if a == Lit::FALSE || a == !b => Some(Lit::FALSE),
            _ if a == Lit::TRUE || a == b => Some(b),
            _ => self.made.get(&(a, b)).map(|&node| self.root(Lit(node << 1))),
        };
        ((a, b), known)
    }

    fn enter(&mut self, (a, b): (Lit, Lit), node: u32) {
        self.made.insert((a, b), node);
        self.readers[a.node()].push(node);
        self.readers[b.node()].push(node);
    }

    /// `a` and `b`.
    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let ((a, b), known) = self.known(a, b);
        if let Some(known) = known {
            return known;
        }
        let (p, q) = (self.sampled(a), self.sampled(b));
        let lit = self.push(Some((a, b)), std::array::from_fn(|i| p[i] & q[i]));
        if !self.is_full {
            self.enter((a, b), lit.0 >> 1);
        }
        lit
    }

    /// `a` or `b`.
    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    /// `a` or `b`, not both.
    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = (self.root(a), self.root(b));
        let flip = a.is_negated() != b.is_negated();
        let (a, b) = (a.flipped(a.is_negated()), b.flipped(b.is_negated()));
        let (both, none) = (self.and(a, b), self.and(!a, !b));
        self.and(!both, !none).flipped(flip)
    }

    /// `select ? yes : no`.
    pub fn mux(&mut self, select: Lit, yes: Lit, no: Lit) -> Lit {
        let (select, yes, no) = (self.root(select), self.root(yes), self.root(no));
        if yes == no {
            return yes;
        }
        if yes == !no {
            return self.xor(select, no);
        }
        let (p, q) = (self.and(select, yes), self.and(!select, no));
        self.or(p, q)
    }

    /// The sum of three bits: its low bit, and the carry.
    pub fn full_adder(&mut self, a: Lit, b: Lit, c: Lit) -> (Lit, Lit) {
        let half = self.xor(a, b);
        let (both, through) = (self.and(a, b), self.and(half, c));
        (self.xor(half, c), self.or(both, through))
    }

    /// The gates between these literals and the leaves, by number.
    ///
    /// # Errors
    /// If the literals are no functions of the leaves, or too large ones.
    pub fn cone(&self, roots: &[Lit], leaves: &[u32]) -> Result<Vec<u32>, String> {
        let mut seen: HashMap<u32, ()> = leaves.iter().map(|&leaf| (leaf, ())).collect();
        seen.insert(0, ());
        let mut gates = Vec::new();
        let mut stack: Vec<u32> = roots.iter().map(|lit| lit.node() as u32).collect();
        while let Some(node) = stack.pop() {
            if seen.insert(node, ()).is_some() {
                continue;
            }
            let Some((a, b)) = self.operands(node) else {
                return Err(format!("gate {node} is an input, and no leaf of the record"));
            };
            gates.push(node);
            if gates.len() > MOST_GATES {
                return Err("more gates than a record may have".to_owned());
            }
            stack.extend([a.node() as u32, b.node() as u32]);
        }
        gates.sort_unstable();
        Ok(gates)
    }

    /// Checks a record, and makes its two literals equal.
    ///
    /// # Errors
    /// If the record does not show it.
    pub fn apply(&mut self, record: &Record) -> Result<(), String> {
        let (x, y) = record.pair;
        let lits: Vec<Lit> = [x, y].into_iter().chain(record.facts.iter().copied()).collect();
        let mut named = lits.iter().map(|lit| lit.node()).chain(record.leaves.iter().map(|&leaf| leaf as usize));
        ensure(named.all(|node| node < self.count()), "a record names a gate that is not there")?;
        ensure(record.facts.iter().all(|&fact| self.root(fact) == Lit::FALSE), "a fact that is not known")?;
        let gates = self.cone(&lits, &record.leaves)?;
        match &record.reason {
            Reason::Exhaustion => self.exhaust(&lits, &record.leaves, &gates)?,
            Reason::Clauses(clauses) => {
                let mut all = crate::clauses::Clauses::default();
                self.question(&lits, &record.leaves, &gates).into_iter().for_each(|clause| all.add(clause));
                all.replay(clauses)?;
            }
        }
        self.merge(x, y);
        Ok(())
    }

    /// The bits that a value needs as a number with a sign, by their roots and without zeros below, and how many of these.
    pub(crate) fn normal(&self, bits: &[Lit], signed: bool) -> (Vec<Lit>, usize) {
        // The top bit is the sign.
        let mut word: Vec<Lit> = exact(bits, signed).into_iter().map(|bit| self.root(bit)).collect();
        while word.len() > 1 && word[word.len() - 1] == word[word.len() - 2] {
            word.pop();
        }
        let zeros = word.iter().take_while(|&&bit| bit == Lit::FALSE).count().min(word.len() - 1);
        word.drain(..zeros);
        (word, zeros)
    }

    /// Looks again at what was known of values, by what their bits are known to be now.
    pub(crate) fn renew(&mut self) {
        let mut same = Vec::new();
        for (word, sum) in std::mem::take(&mut self.sums.words) {
            let (word, zeros) = self.normal(&word, true);
            let sum = Sum { frac: sum.frac + zeros as i64, ..sum };
            match self.sums.words.get(&word) {
                Some(known) => same.push((Some(known.clone()), sum)),
                None => _ = self.sums.words.insert(word, sum),
            }
        }
        // A number is its high bits and its low ones.
        for (word, sum) in &self.sums.words {
            for at in 1..word.len() - 1 {
                let known = |part: &[Lit], signed: bool| {
                    let (word, zeros) = self.normal(part, signed);
                    let own = self.sums.words.get(&word)?;
                    Some(Sum { frac: own.frac - zeros as i64, ..own.clone() })
                };
                if let Some((low, high)) = known(&word[..at], false).zip(known(&word[at..], true)) {
                    same.push((low.plus(&high, at as i64, false), sum.clone()));
                }
            }
        }
        let mut instead = BTreeMap::new();
        for (one, other) in same {
            let equation = one.and_then(|one| one.renewed(&instead)?.plus(&other.renewed(&instead)?, 0, true));
            instead.extend(equation.and_then(|equation| equation.solved()));
        }
        if instead.is_empty() {
            return;
        }
        let renew = |sum: &mut Sum| sum.renewed(&instead).into_iter().for_each(|new| *sum = new);
        self.sums.words.values_mut().for_each(renew);
        self.sums.own.iter_mut().filter_map(|value| value.sum.as_mut()).for_each(renew);
        for (mut sum, (mut bits, frac)) in std::mem::take(&mut self.sums.values) {
            let kind = Type { signed: true, width: bits.len(), frac };
            renew(&mut sum);
            self.place(&sum, &mut bits, kind);
        }
    }

    /// Makes the bits of a value that is a sum those of one that is the same, if there is any.
    pub(crate) fn place(&mut self, sum: &Sum, bits: &mut [Lit], kind: Type) {
        if let Some(same) = self.sums.same(sum, bits, kind) {
            bits.iter().zip(&same).for_each(|(&a, &b)| self.merge(a, b));
            bits.iter_mut().for_each(|bit| *bit = self.root(*bit));
        }
    }

    /// Makes two literals equal that were shown to be, and then gates with operands that are.
    pub(crate) fn merge(&mut self, x: Lit, y: Lit) {
        let mut pairs = vec![(x, y)];
        while let Some((x, y)) = pairs.pop() {
            let (x, y) = (self.root(x), self.root(y));
            let (new, old) = if x.node() > y.node() { (x, y) } else { (y, x) };
            if new.node() == old.node() {
                continue;
            }
            self.equal[new.node()] = old.flipped(new.is_negated());
            for node in std::mem::take(&mut self.readers[new.node()]) {
                let (a, b) = self.gates[node as usize].expect("an input reads nothing");
                match self.known(a, b) {
                    (_, Some(known)) => pairs.push((Lit(node << 1), known)),
                    (operands, None) => self.enter(operands, node),
                }
            }
        }
    }

    /// Literals and the gates of a cone (each one with its operands) as variables from 1 in the place of gates: those of
    /// the leaves, of the gates, and that of the constant; and the variables of all of them.
    fn numbered(&self, lits: &[Lit], leaves: &[u32], gates: &[u32]) -> (HashMap<u32, i32>, Vec<[i32; 3]>, Vec<i32>) {
        let mut variables: HashMap<u32, i32> = HashMap::new();
        for node in leaves.iter().chain(gates).chain([&0]) {
            let next = variables.len() as i32 + 1;
            variables.entry(*node).or_insert(next);
        }
        let of = |lit: Lit| variables[&(lit.node() as u32)] * if lit.is_negated() { -1 } else { 1 };
        let gate = |node: &u32| {
            let (a, b) = self.operands(*node).expect("the cone holds gates");
            [variables[node], of(a), of(b)]
        };
        let (gates, lits) = (gates.iter().map(gate).collect(), lits.iter().copied().map(of).collect());
        (variables, gates, lits)
    }

    /// Tries all assignments of the leaves: the first two literals are equal, or another one is true.
    fn exhaust(&self, lits: &[Lit], leaves: &[u32], gates: &[u32]) -> Result<(), String> {
        if leaves.len() > MOST_LEAVES {
            return Err(format!("a record by all assignments of {} leaves", leaves.len()));
        }
        let (variables, gates, lits) = self.numbered(lits, leaves, gates);
        // Several words are looked at side by side: that costs little more than one.
        let mut values = vec![[0u64; WORDS]; variables.len() + 1];
        let value = |values: &[[u64; WORDS]], v: i32| {
            values[v.unsigned_abs() as usize].map(|word| word ^ i64::from(v >> 31).cast_unsigned())
        };
        for first in (0..1u64 << leaves.len().saturating_sub(6)).step_by(WORDS) {
            for (i, leaf) in leaves.iter().enumerate() {
                values[variables[leaf] as usize] = std::array::from_fn(|word| match i {
                    // The first six leaves take all their assignments within one word: 1 << i zeros, as many ones, and so on.
                    0..6 => !(u64::MAX / ((1 << (1 << i)) + 1)),
                    _ => 0u64.wrapping_sub((first + word as u64) >> (i - 6) & 1),
                });
            }
            for &[to, a, b] in &gates {
                let (p, q) = (value(&values, a), value(&values, b));
                values[to as usize] = std::array::from_fn(|word| p[word] & q[word]);
            }
            let [x, y, facts @ ..] = &lits[..] else { return Err("a record without its pair".into()) };
            let (x, y) = (value(&values, *x), value(&values, *y));
            let differs =
                |word| (x[word] ^ y[word]) & !facts.iter().fold(0, |known, &f| known | value(&values, f)[word]);
            let holds = (0..WORDS).all(|word| differs(word) == 0);
            ensure(holds, "a record by all assignments does not hold for one of them")?;
        }
        Ok(())
    }

    /// The clauses that say: the gates are what they are, the first two literals differ, and the others are false. Variables
    /// as in [`Reason::Clauses`].
    pub fn question(&self, lits: &[Lit], leaves: &[u32], gates: &[u32]) -> Vec<Vec<i32>> {
        let (variables, gates, lits) = self.numbered(lits, leaves, gates);
        // The constant is false, where it is no leaf of its own.
        let constant = variables.len() as i32 + i32::from(leaves.contains(&0));
        let mut out = vec![vec![-constant]];
        for [gate, a, b] in gates {
            out.extend([vec![-gate, a], vec![-gate, b], vec![gate, -a, -b]]);
        }
        out.extend([vec![lits[0], lits[1]], vec![-lits[0], -lits[1]]]);
        out.extend(lits[2..].iter().map(|&fact| vec![-fact]));
        out
    }
}
