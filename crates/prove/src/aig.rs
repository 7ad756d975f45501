//! And-inverter graphs, the common representation of both sides of a proof.
//!
//! Nodes are in topological order, node 0 is the constant false, and a literal is `2 * node + negated`: the
//! conventions of ACL2's Aignet and of AIGER. [`Aig::and`] folds constants and shares equal gates (structural
//! hashing), so that equal structures have equal literals. Files are read and written by [`super::aiger`] and
//! [`super::aignet`], arithmetic is in [`super::bit_vector`].

use std::fmt;

/// Truth tables of six variables: bit `a` of the `i`-th table is bit `i` of the assignment `a`.
pub(super) const VARIABLES: [u64; 6] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

/// A literal: a node or its negation, as `2 * node + negated`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lit(pub u32);

impl Lit {
    /// Constant false.
    pub const FALSE: Lit = Lit(0);
    /// Constant true.
    pub const TRUE: Lit = Lit(1);

    /// Returns the literal of a node or its negation.
    pub fn new(node: u32, negated: bool) -> Lit {
        Lit(node << 1 | u32::from(negated))
    }

    /// Returns a constant literal.
    pub fn constant(value: bool) -> Lit {
        Lit(u32::from(value))
    }

    /// Returns the index of the node.
    pub fn node(self) -> u32 {
        self.0 >> 1
    }

    /// Returns `true` for the negation of a node.
    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// Returns the value of a constant literal, `None` for any other.
    pub fn as_const(self) -> Option<bool> {
        (self.0 < 2).then_some(self.0 == 1)
    }

    /// Returns this literal, negated if `negate`.
    #[must_use]
    pub fn xor(self, negate: bool) -> Lit {
        Lit(self.0 ^ u32::from(negate))
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

impl fmt::Debug for Lit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_negated() { "!" } else { "" }, self.node())
    }
}

/// Definition of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Node 0.
    False,
    /// Both fanins, whose nodes come earlier.
    And(Lit, Lit),
    /// A primary input, by its index among the inputs.
    Input(u32),
    /// The output of a register, by its index among the registers.
    Latch(u32),
}

/// A register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latch {
    /// Node of the register's output.
    pub node: u32,
    /// Value after the next clock edge; `None` until it is set, which means that the register keeps its value.
    pub next: Option<Lit>,
    /// Value at power-on; `None` if it is undefined.
    pub init: Option<bool>,
    /// Name of the register, possibly empty.
    pub name: String,
}

/// A named literal: an output, or an input's node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// Literal of the pin.
    pub lit: Lit,
    /// Name of the pin, such as `model_inp[7]`; possibly empty.
    pub name: String,
}

const INPUT: u32 = u32::MAX;
const LATCH: u32 = u32::MAX - 1;
/// Largest number of nodes, for the 30-bit slots of the Aignet format.
const MAX_NODES: usize = 1 << 29;

/// Number of slots near the place of a gate's later operand; two slots for each node there.
const NEAR: usize = 8;

/// An and-inverter graph with named inputs, outputs and registers.
#[derive(Clone, Default)]
pub struct Aig {
    /// Fanin literals of an AND gate; `[INPUT or LATCH, index]` for other nodes.
    nodes: Vec<[u32; 2]>,
    /// Open-addressed hash table of AND gates; 0 is an empty slot. Its length is a power of two, and at least twice the
    /// number of gates.
    buckets: Vec<u32>,
    gates: usize,
    inputs: Vec<Pin>,
    latches: Vec<Latch>,
    outputs: Vec<Pin>,
}

impl Aig {
    /// Creates a graph with only the constant node.
    pub fn new() -> Aig {
        Aig { nodes: vec![[0, 0]], buckets: vec![0; 1 << 10], ..Aig::default() }
    }

    /// Returns the number of nodes, including the constant.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns `true` if the graph has only the constant node.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// Returns the number of AND gates.
    pub fn gates(&self) -> usize {
        self.gates
    }

    /// Returns the definition of a node.
    pub fn gate(&self, node: u32) -> Gate {
        match self.nodes[node as usize] {
            _ if node == 0 => Gate::False,
            [INPUT, number] => Gate::Input(number),
            [LATCH, number] => Gate::Latch(number),
            [a, b] => Gate::And(Lit(a), Lit(b)),
        }
    }

    /// Returns the fanins of an AND gate; `None` for other nodes.
    pub fn fanins(&self, node: u32) -> Option<(Lit, Lit)> {
        match self.gate(node) {
            Gate::And(a, b) => Some((a, b)),
            Gate::False | Gate::Input(_) | Gate::Latch(_) => None,
        }
    }

    /// Returns the primary inputs in order.
    pub fn inputs(&self) -> &[Pin] {
        &self.inputs
    }

    /// Returns the registers in order.
    pub fn latches(&self) -> &[Latch] {
        &self.latches
    }

    /// Returns the outputs in order.
    pub fn outputs(&self) -> &[Pin] {
        &self.outputs
    }

    fn push(&mut self, node: [u32; 2]) -> u32 {
        assert!(self.nodes.len() < MAX_NODES, "an and-inverter graph of more than 2^29 nodes");
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }

    /// Adds a primary input.
    pub fn input(&mut self, name: impl Into<String>) -> Lit {
        let node = self.push([INPUT, self.inputs.len() as u32]);
        let lit = Lit::new(node, false);
        self.inputs.push(Pin { lit, name: name.into() });
        lit
    }

    /// Adds a register; its next value is set later by [`Aig::set_next`].
    pub fn latch(&mut self, name: impl Into<String>, init: Option<bool>) -> Lit {
        let node = self.push([LATCH, self.latches.len() as u32]);
        self.latches.push(Latch { node, next: None, init, name: name.into() });
        Lit::new(node, false)
    }

    /// Sets the next value of register `number`.
    pub fn set_next(&mut self, number: usize, next: Lit) {
        self.latches[number].next = Some(next);
    }

    /// Adds an output.
    pub fn output(&mut self, lit: Lit, name: impl Into<String>) {
        self.outputs.push(Pin { lit, name: name.into() });
    }

    /// Renames input (`i`), register (`l`) or output (`o`) number `index`; returns `false` if it does not exist.
    pub(super) fn rename(&mut self, letter: &str, index: usize, name: &str) -> bool {
        let slot = match letter {
            "i" => self.inputs.get_mut(index).map(|p| &mut p.name),
            "l" => self.latches.get_mut(index).map(|l| &mut l.name),
            _ => self.outputs.get_mut(index).map(|p| &mut p.name),
        };
        slot.map(|slot| name.clone_into(slot)).is_some()
    }

    /// Builds `a and b`; returns an existing literal for constants, equal or opposite operands, or an equal gate.
    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = if a.0 < b.0 { (a, b) } else { (b, a) };
        if a.0 < 2 {
            return if a == Lit::TRUE { b } else { Lit::FALSE };
        }
        if a.node() == b.node() {
            return if a == b { a } else { Lit::FALSE };
        }
        if self.gates * 2 >= self.buckets.len() {
            self.grow();
        }
        let at = match self.find(a, b) {
            Ok(node) => return Lit::new(node, false),
            Err(at) => at,
        };
        let node = self.push([a.0, b.0]);
        self.buckets[at] = node;
        self.gates += 1;
        Lit::new(node, false)
    }

    /// Returns the gate with these operands, or the empty slot for it.
    ///
    /// A gate is near the place of its later operand while slots are free there, so that gates made in a row share
    /// cache lines; otherwise it is where its hash points to. Gates are never removed, so an empty slot ends a search.
    fn find(&self, a: Lit, b: Lit) -> Result<u32, usize> {
        let mask = self.buckets.len() - 1;
        let hash = hash(a, b);
        let near = (b.node() as usize & !(NEAR / 2 - 1)) * 2;
        let places = (0..NEAR).map(|k| near + (hash + k) % NEAR).chain(hash..);
        for at in places.map(|at| at & mask) {
            match self.buckets[at] {
                0 => return Err(at),
                node if self.nodes[node as usize] == [a.0, b.0] => return Ok(node),
                _ => {}
            }
        }
        unreachable!("half of the slots are empty")
    }

    /// Doubles the size of the hash table.
    fn grow(&mut self) {
        let size = self.buckets.len() * 2;
        self.buckets = vec![0; size];
        for node in 1..self.nodes.len() as u32 {
            let Some((a, b)) = self.fanins(node) else { continue };
            if let Err(at) = self.find(a, b) {
                self.buckets[at] = node;
            }
        }
    }

    /// Builds `a or b`.
    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    /// Builds `a xor b`. Negations are moved to the result, so that all four polarities of the operands share gates.
    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let negate = a.is_negated() != b.is_negated();
        let (a, b) = (Lit::new(a.node(), false), Lit::new(b.node(), false));
        let (only_a, only_b) = (self.and(a, !b), self.and(!a, b));
        self.or(only_a, only_b).xor(negate)
    }

    /// Builds a multiplexer: `if sel { yes } else { no }`.
    pub fn mux(&mut self, sel: Lit, yes: Lit, no: Lit) -> Lit {
        if yes == no {
            return yes;
        }
        if yes == !no {
            return self.xor(sel, no);
        }
        // Normalise the polarity of the selector.
        let (sel, yes, no) = if sel.is_negated() { (!sel, no, yes) } else { (sel, yes, no) };
        let (high, low) = (self.and(sel, yes), self.and(!sel, no));
        self.or(high, low)
    }
}

fn hash(a: Lit, b: Lit) -> usize {
    let key = u64::from(a.0) << 32 | u64::from(b.0);
    let mixed = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 29) as usize >> 3
}

/// Bit-parallel simulation: `WORDS * 64` input patterns at once, node by node in order.
#[derive(Clone, Default)]
pub struct Simulation<const WORDS: usize> {
    values: Vec<[u64; WORDS]>,
}

impl<const WORDS: usize> Simulation<WORDS> {
    /// Simulates the nodes that were added since the last call. `source` gives the patterns of inputs and registers.
    pub fn extend(&mut self, aig: &Aig, mut source: impl FnMut(Gate) -> [u64; WORDS]) {
        self.values.reserve(aig.len() - self.values.len());
        for node in self.values.len() as u32..aig.len() as u32 {
            let value = match aig.gate(node) {
                Gate::False => [0; WORDS],
                Gate::And(a, b) => {
                    let (a, b) = (self.value(a), self.value(b));
                    std::array::from_fn(|i| a[i] & b[i])
                }
                gate @ (Gate::Input(_) | Gate::Latch(_)) => source(gate),
            };
            self.values.push(value);
        }
    }

    /// Returns the patterns of a literal.
    pub fn value(&self, lit: Lit) -> [u64; WORDS] {
        let flip = if lit.is_negated() { u64::MAX } else { 0 };
        self.values[lit.node() as usize].map(|w| w ^ flip)
    }
}

#[cfg(test)]
pub(super) mod tests_support {
    use super::*;

    /// Returns a graph with four inputs, two registers with different power-on values, and three outputs.
    pub(crate) fn sample() -> Aig {
        let mut g = Aig::new();
        let ins: Vec<_> = (0..4).map(|i| g.input(format!("model_inp[{i}]"))).collect();
        let (q0, q1) = (g.latch("q[0]", Some(true)), g.latch("q[1]", None));
        let x = g.xor(ins[0], ins[1]);
        let m = g.mux(ins[2], !x, q0);
        let y = g.and(m, !q1);
        g.set_next(0, !y);
        g.set_next(1, x);
        for (i, lit) in [y, !m, Lit::TRUE].into_iter().enumerate() {
            g.output(lit, format!("model_out[{i}]"));
        }
        g
    }

    /// Returns outputs and next values for fixed patterns of inputs and registers.
    pub(crate) fn pattern_outputs(g: &Aig) -> Vec<[u64; 2]> {
        let mut sim = Simulation::<2>::default();
        let pattern = |n: u32| {
            [0x5555_5555_5555_5555u64, 0x1234_5678_9abc_def1]
                .map(|w| w.rotate_left(n * 7).wrapping_mul(2 * u64::from(n) + 1))
        };
        sim.extend(g, |gate| match gate {
            Gate::Input(n) => pattern(n),
            Gate::Latch(n) => pattern(n + 20),
            Gate::False | Gate::And(..) => unreachable!(),
        });
        g.outputs()
            .iter()
            .map(|p| p.lit)
            .chain(g.latches().iter().filter_map(|l| l.next))
            .map(|l| sim.value(l))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_gates_are_one_node_and_constants_fold() {
        let mut g = Aig::new();
        let (a, b) = (g.input("a"), g.input("b"));
        assert_eq!(g.and(a, b), g.and(b, a));
        assert_eq!(g.and(a, !a), Lit::FALSE);
        assert_eq!(g.and(a, Lit::TRUE), a);
        assert_eq!(g.xor(a, !b), !g.xor(!a, !b));
        assert_eq!(g.mux(!a, b, Lit::FALSE), g.and(!a, b));
        assert_eq!(g.gates(), 1 + 3, "one and, one xor of three gates, of which the mux shares one");
    }

    #[test]
    fn sharing_survives_growth() {
        let mut g = Aig::new();
        let ins: Vec<_> = (0..80).map(|i| g.input(format!("i{i}"))).collect();
        let all = |g: &mut Aig| -> Vec<Lit> {
            let mut products = Vec::new();
            for &a in &ins {
                for &b in &ins {
                    products.push(g.and(a, !b));
                }
            }
            products
        };
        let first = all(&mut g);
        let size = g.len();
        assert_eq!(all(&mut g), first);
        assert_eq!(g.len(), size);
    }

    #[test]
    fn simulation_is_the_truth_table() {
        let mut g = Aig::new();
        let (a, b) = (g.input("a"), g.input("b"));
        let x = g.xor(a, b);
        let m = g.mux(a, b, !b);
        let mut sim = Simulation::<1>::default();
        sim.extend(&g, |gate| match gate {
            Gate::Input(0) => [0b0011],
            _ => [0b0101],
        });
        assert_eq!(sim.value(x)[0] & 15, 0b0110);
        assert_eq!(sim.value(m)[0] & 15, 0b1001);
        assert_eq!(sim.value(!x)[0] & 15, 0b1001);
    }
}
