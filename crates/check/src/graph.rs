//! And-inverter graph with structural hashing, in which literals that are proved equal are merged.

use crate::program::Type;
use crate::sums::{Sum, Sums};
use crate::words::exact;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// A gate or its complement: twice the gate's number, plus one for the complement. 0 is false, 1 is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lit(pub u32);

impl Lit {
    /// The constant false.
    pub const FALSE: Lit = Lit(0);
    /// The constant true.
    pub const TRUE: Lit = Lit(1);
    /// Unknown bit: two occurrences may have different values. Its complement and all gates that depend on it are
    /// unknown, too.
    pub const UNKNOWN: Lit = Lit(2);

    /// Returns the constant 1 or 0.
    pub fn constant(one: bool) -> Lit {
        Lit(u32::from(one))
    }

    /// Returns the number of the gate.
    pub fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Returns `true` for the complement of a node.
    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// Returns `true` unless the literal is the unknown value.
    pub fn is_known(self) -> bool {
        self.node() != Lit::UNKNOWN.node()
    }

    /// Returns the complement if `flip` is set, otherwise the literal.
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

/// Largest number of gates.
const MOST: usize = 12_000_000;
/// Marker of the end of a list of readers.
const NONE: u32 = u32::MAX;

/// Multiplicative hash of operands, several times faster than the default. The hash only serves to look up gates, not
/// to order them; equal hashes only cost time.
#[derive(Clone, Debug, Default)]
struct LiteralHasher(u64);

impl Hasher for LiteralHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(byte.into()));
    }

    fn write_u32(&mut self, word: u32) {
        self.0 = self.0.wrapping_add(word.into()).wrapping_mul(0xf135_7aea_2e62_a9c5);
    }

    fn finish(&self) -> u64 {
        // The hash table uses the lowest bits; before the rotation they depend only on the lowest bits of the operands.
        self.0.rotate_left(26)
    }
}

/// Gates in the order of their creation.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Operands of each gate; `None` for the constant and for inputs.
    gates: Vec<Option<(Lit, Lit)>>,
    by_operands: HashMap<(Lit, Lit), u32, BuildHasherDefault<LiteralHasher>>,
    /// Linked lists of the readers of each gate that is not equal to an older one. `first` has the first operand of
    /// each list, `next` the operand after each operand. Operand `2 n + i` is operand `i` of gate `n`.
    first: Vec<u32>,
    next: Vec<[u32; 2]>,
    /// Literal that each gate was proved equal to: an older literal, or the gate itself.
    equal: Vec<Lit>,
    /// `true` if the limit of gates was exceeded; then no result may be used.
    pub is_full: bool,
    /// Values that are sums of other values.
    pub sums: Sums,
}

impl Graph {
    /// Returns a graph with the constant and the unknown bit.
    pub fn new() -> Graph {
        let mut graph = Graph::default();
        graph.push(None);
        graph.push(None);
        graph
    }

    fn push(&mut self, gate: Option<(Lit, Lit)>) -> Lit {
        if self.gates.len() >= MOST {
            self.is_full = true;
            return Lit::FALSE;
        }
        let lit = Lit((self.gates.len() as u32) << 1);
        self.gates.push(gate);
        self.equal.push(lit);
        self.first.push(NONE);
        self.next.push([NONE; 2]);
        lit
    }

    /// Appends an input.
    pub fn input(&mut self) -> Lit {
        self.push(None)
    }

    /// Returns the number of gates, including inputs, the constant and the unknown bit.
    pub fn count(&self) -> usize {
        self.gates.len()
    }

    /// Returns the operands with which a gate was created; `None` for an input or the constant.
    pub fn created_from(&self, node: u32) -> Option<(Lit, Lit)> {
        self.gates[node as usize]
    }

    /// Returns the operands of a gate, each replaced by the oldest literal that is proved equal to it.
    pub fn operands(&self, node: u32) -> Option<(Lit, Lit)> {
        self.gates[node as usize].map(|(a, b)| (self.root(a), self.root(b)))
    }

    /// Returns the values of all gates for 64 assignments in parallel. `input` is called once for each input and
    /// returns its values. Unknown bits are 0.
    pub fn values(&self, mut input: impl FnMut() -> u64) -> Vec<u64> {
        let mut values = vec![0; 2];
        for gate in &self.gates[2..] {
            let of = |lit: Lit| values[lit.node()] ^ 0u64.wrapping_sub(u64::from(lit.is_negated()));
            let value = gate.map(|(a, b)| of(a) & of(b));
            values.push(value.unwrap_or_else(&mut input));
        }
        values
    }

    /// Returns the oldest literal that is proved equal to this one.
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

    /// Returns the roots of the operands, in order, and the literal that equals their AND; `None` if no such literal
    /// exists.
    pub fn known(&self, a: Lit, b: Lit) -> ((Lit, Lit), Option<Lit>) {
        let (a, b) = (self.root(a), self.root(b));
        let (a, b) = (a.min(b), a.max(b));
        let known = match (a, b) {
            _ if a == Lit::FALSE => Some(Lit::FALSE),
            _ if !a.is_known() || !b.is_known() => Some(Lit::UNKNOWN),
            _ if a == !b => Some(Lit::FALSE),
            _ if a == Lit::TRUE || a == b => Some(b),
            _ => self.by_operands.get(&(a, b)).map(|&node| self.root(Lit(node << 1))),
        };
        ((a, b), known)
    }

    /// Returns `a & b`.
    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (operands, known) = self.known(a, b);
        known.unwrap_or_else(|| {
            let lit = self.push(Some(operands));
            if !self.is_full {
                self.by_operands.insert(operands, lit.0 >> 1);
                self.read(operands.0, lit.0);
                self.read(operands.1, lit.0 + 1);
            }
            lit
        })
    }

    /// Adds an operand to the list of readers of its gate.
    fn read(&mut self, lit: Lit, operand: u32) {
        let after = std::mem::replace(&mut self.first[lit.node()], operand);
        self.next[operand as usize / 2][operand as usize % 2] = after;
    }

    /// Returns `a | b`.
    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    /// Returns `a ^ b`.
    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = (self.root(a), self.root(b));
        let flip = a.is_negated() != b.is_negated();
        let (a, b) = (a.flipped(a.is_negated()), b.flipped(b.is_negated()));
        // The gate may already exist over other gates, if an operand was later proved to be the complement of another
        // gate.
        if let (None, Some(same)) = (self.known_xor(a, b), self.known_xor(a, !b)) {
            return same.flipped(!flip);
        }
        let (both, none) = (self.and(a, b), self.and(!a, !b));
        self.and(!both, !none).flipped(flip)
    }

    /// Returns `select ? yes : no`.
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

    /// Returns the sum of three bits: its low bit, and the carry.
    pub fn full_adder(&mut self, a: Lit, b: Lit, c: Lit) -> (Lit, Lit) {
        let half = self.xor(a, b);
        let (both, through) = (self.and(a, b), self.and(half, c));
        (self.xor(half, c), self.or(both, through))
    }

    /// Returns the roots of the significant bits of a value as a signed number, without low zeros, and the number of
    /// these zeros.
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

    /// Updates the recorded sums after merges, so that values whose bits are now equal have the same sum.
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
        // A number is the sum of its high bits and its low bits.
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
        self.sums.programs.last_mut().into_iter().flatten().filter_map(|value| value.sum.as_mut()).for_each(renew);
        for (mut sum, (mut bits, frac)) in std::mem::take(&mut self.sums.values) {
            let kind = Type { signed: true, width: bits.len(), frac };
            renew(&mut sum);
            self.place(&sum, &mut bits, kind);
        }
    }

    /// Replaces the bits of a value that is a sum by those of an equal value, in a type that can represent it; if no
    /// equal value exists yet, this value is recorded. Values that differ by a power of two share bits: only the
    /// position of the bits relative to the sum's own point counts.
    pub(crate) fn place(&mut self, sum: &Sum, bits: &mut [Lit], kind: Type) {
        let Some((known, from)) = self.sums.known(sum) else {
            let own = (exact(bits, kind.signed), kind.frac - sum.frac);
            self.sums.values.insert(Sum { frac: 0, ..sum.clone() }, own);
            return;
        };
        self.sums.unused.retain(|image| !image.0.is_moved(sum));
        for (i, bit) in (from - kind.frac..).zip(bits) {
            let same = usize::try_from(i).map_or(Lit::FALSE, |i| *known.get(i).unwrap_or(&known[known.len() - 1]));
            self.merge(*bit, same);
            *bit = self.root(*bit);
        }
    }

    /// Returns the existing exclusive or of two literals that is built from `a & b` and `!a & !b`. The exclusive or
    /// of the complements is built from other gates.
    fn known_xor(&self, a: Lit, b: Lit) -> Option<Lit> {
        let (both, none) = (self.known(a, b).1?, self.known(!a, !b).1?);
        self.known(!both, !none).1
    }

    /// Merges two literals that were proved equal, and then all gates whose operands became equal.
    pub fn merge(&mut self, x: Lit, y: Lit) {
        let mut pairs = vec![(x, y)];
        while let Some((x, y)) = pairs.pop() {
            let (x, y) = (self.root(x), self.root(y));
            let (new, old) = if x.node() > y.node() { (x, y) } else { (y, x) };
            if new.node() == old.node() {
                continue;
            }
            self.equal[new.node()] = old.flipped(new.is_negated());
            let mut operand = std::mem::replace(&mut self.first[new.node()], NONE);
            while operand != NONE {
                let (node, after) = (operand >> 1, self.next[operand as usize / 2][operand as usize % 2]);
                let (a, b) = self.gates[node as usize].expect("an input reads nothing");
                match self.known(a, b) {
                    (_, Some(known)) => pairs.push((Lit(node << 1), known)),
                    (operands, None) => {
                        self.by_operands.insert(operands, node);
                        self.read(old, operand);
                    }
                }
                operand = after;
            }
        }
    }
}
