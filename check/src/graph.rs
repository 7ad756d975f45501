//! Gates: ANDs of two literals, each made once, over what is known to be equal; and the records that make more of them
//! equal.
//!
//! A record is checked where it is applied, without search: by all assignments of a few leaves, or by clauses each of
//! which follows from those before by unit propagation.

use std::collections::HashMap;

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
pub const MOST_LEAVES: usize = 16;
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
}

/// Words of random assignments.
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
    pub fn len(&self) -> usize {
        self.gates.len()
    }

    /// Whether there is nothing: never, the constant is there.
    pub fn is_empty(&self) -> bool {
        self.gates.is_empty()
    }

    /// The operands of a gate; nothing of an input or the constant.
    pub fn operands(&self, node: u32) -> Option<(Lit, Lit)> {
        self.gates[node as usize]
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
            let Some((a, b)) = self.gates[node as usize] else {
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
        if [x, y].iter().any(|lit| lit.node() >= self.gates.len()) {
            return Err("a record names a gate that is not there".to_owned());
        }
        if record.leaves.iter().any(|&leaf| leaf as usize >= self.gates.len()) {
            return Err("a record has a leaf that is not there".to_owned());
        }
        let gates = self.cone(&[x, y], &record.leaves)?;
        match &record.reason {
            Reason::Exhaustion => self.exhaust(x, y, &record.leaves, &gates)?,
            Reason::Clauses(clauses) => {
                let mut all = crate::clauses::Clauses::default();
                self.question(x, y, &record.leaves, &gates).into_iter().for_each(|clause| all.add(clause));
                all.replay(clauses)?;
            }
        }
        self.merge(x, y);
        Ok(())
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

    /// Tries all assignments of the leaves.
    fn exhaust(&self, x: Lit, y: Lit, leaves: &[u32], gates: &[u32]) -> Result<(), String> {
        if leaves.len() > MOST_LEAVES {
            return Err(format!("a record by all assignments of {} leaves", leaves.len()));
        }
        let mut place: HashMap<u32, usize> = HashMap::from([(0, 0)]);
        for &node in leaves.iter().chain(gates) {
            let next = place.len();
            place.entry(node).or_insert(next);
        }
        let at = |lit: Lit| (place[&(lit.node() as u32)], if lit.is_negated() { u64::MAX } else { 0 });
        let recipe: Vec<_> = gates
            .iter()
            .map(|node| {
                let (a, b) = self.gates[*node as usize].expect("the cone holds gates");
                (place[node], at(a), at(b))
            })
            .collect();
        let (x, y) = (at(x), at(y));
        let mut values = vec![0u64; place.len()];
        for block in 0..1u64 << leaves.len().saturating_sub(6) {
            for (i, leaf) in leaves.iter().enumerate() {
                values[place[leaf]] = match i {
                    0..6 => PATTERNS[i],
                    _ => 0u64.wrapping_sub(block >> (i - 6) & 1),
                };
            }
            for &(to, (a, p), (b, q)) in &recipe {
                values[to] = (values[a] ^ p) & (values[b] ^ q);
            }
            if values[x.0] ^ x.1 != values[y.0] ^ y.1 {
                return Err("a record by all assignments does not hold for one of them".to_owned());
            }
        }
        Ok(())
    }

    /// The clauses that say: the gates are what they are, and the two literals differ. Variables as in [`Reason::Clauses`].
    pub fn question(&self, x: Lit, y: Lit, leaves: &[u32], gates: &[u32]) -> Vec<Vec<i32>> {
        let mut place: HashMap<u32, i32> = HashMap::new();
        for &node in leaves.iter().chain(gates) {
            let next = place.len() as i32 + 1;
            place.entry(node).or_insert(next);
        }
        // The constant, where it is used, is a variable of its own that is false.
        let constant = place.len() as i32 + 1;
        let at = |lit: Lit| {
            let variable = place.get(&(lit.node() as u32)).copied().unwrap_or(constant);
            if lit.is_negated() { -variable } else { variable }
        };
        let mut out = vec![vec![-constant]];
        for node in gates {
            let (a, b) = self.gates[*node as usize].expect("the cone holds gates");
            let (g, a, b) = (place[node], at(a), at(b));
            out.extend([vec![-g, a], vec![-g, b], vec![g, -a, -b]]);
        }
        out.extend([vec![at(x), at(y)], vec![-at(x), -at(y)]]);
        out
    }
}

/// The first six leaves take all their assignments within one word.
const PATTERNS: [u64; 6] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];
