//! Equivalences between gates of a netlist and gates of RTL.
//!
//! The gates of both are in one graph. A netlist gate is compared with an RTL gate that has the same simulated values
//! over windows. A window has the gates between these two gates and a few leaves, which are free variables. A proof for
//! free leaves is valid for the real ones, so a window may only fail to prove an equality. Windows grow, finally up to
//! the inputs.

use super::super::aig::{Gate, Lit, Simulation, VARIABLES};
use super::super::bit_vector::Words;
use super::super::engine::{CLAUSES, Counts, GATE, Limits, STEP};
use super::super::progress::ProgressCounter;
use super::super::sat::{Answer, Problem, Solver};
use super::sums::{self, Link, Sums};
use alir_core::num::SplitMix;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::collections::BinaryHeap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Number of words of 64 simulated patterns.
const WORDS: usize = 32;
/// Maximum number of gates with the same values with which one bit is compared.
const CANDIDATES: usize = 4;
/// Maximum number of leaves of a window that is compared exhaustively.
const LEAVES: usize = 12;
/// Maximum number of gates of the first window that is compared, which covers one level of cells.
const NEAR: usize = 300;
/// Maximum number of gates between a leaf and the other leaves of which it may be a function.
const SHARED: usize = 12;
/// Sizes in gates of growing windows.
const GROWN: [usize; 10] = [4, 8, 16, 24, 32, 48, 64, 96, 160, 250];
/// Sizes in gates of windows for the SAT solver, with its steps for each. The third is not for bits of the RTL, the
/// last only for outputs.
const SOLVED: [(usize, u64); 4] = [(60, 300), (400, 1_000), LARGE, (200_000, 20_000)];
/// Large window. If it reaches the inputs everywhere, it replaces the second one.
const LARGE: (usize, u64) = (3_000, 30_000);
/// Steps of the solver for a bit of an output.
const OUTPUT_STEPS: u64 = 300_000;
/// Large windows that end above the inputs are used while at least one of this number proves an equality. In networks
/// of several layers most of them belong to gates that are not equal.
const LEAST_RATE: usize = 16;
/// Number of failed comparisons after which only bits of outputs are compared.
const FAILURES: usize = 2_000;

/// Graph of both designs, with the proved equivalences.
pub(crate) struct Sweep {
    pub(super) words: Words,
    /// Bits of the inputs.
    pub(crate) inputs: Vec<Vec<Lit>>,
    pub(crate) counts: Counts,
    /// Carries and sums of carry chains.
    pub(super) sums: Sums,
    sim: Simulation<WORDS>,
    patterns: Patterns,
    /// Nodes of the RTL's signals and of inputs.
    visible: FxHashSet<u32>,
    /// First node of the netlist.
    begin: u32,
    /// Gates by a hash of their simulated values.
    by_values: FxHashMap<u64, Vec<Lit>>,
    /// Netlist gates with the literal that they were proved to equal, or themselves after a failed comparison.
    placed: FxHashMap<u32, Lit>,
    /// Bits that are being compared. The proof of a sum compares other bits of the carry chain, whose proofs may need
    /// the same sum.
    open: FxHashSet<u32>,
    /// Bits of the RTL by a hash of the signal's name and the position in the signal.
    named: FxHashMap<u64, Vec<Lit>>,
    /// Nets with equal gates of the RTL, with `true` for the complement.
    matched: FxHashMap<u32, Vec<(u32, bool)>>,
    failures: usize,
    /// Large windows that end above the inputs.
    large: Rate,
    limits: Limits,
    most: u64,
    spent: u64,
    /// Counter that receives the ticks, and the number of ticks spent before this comparison.
    progress: Option<(Arc<ProgressCounter>, u64)>,
}

/// Simulated values of inputs.
struct Patterns {
    random: SplitMix,
    /// Random values of the inputs, by the index of the input in the graph.
    known: Vec<[u64; WORDS]>,
}

impl Patterns {
    fn new(widths: &[usize]) -> Patterns {
        let mut p = Patterns { random: SplitMix::new(0x6e_65_74), known: Vec::new() };
        for &width in widths {
            let bits: Vec<[u64; WORDS]> = (0..width).map(|_| std::array::from_fn(|_| p.random.word())).collect();
            // In every second word numbers are small: bits from a random position on are copies of the sign.
            let places: [usize; WORDS] = std::array::from_fn(|_| p.random.word() as usize % width.max(1));
            for i in 0..width {
                p.known.push(std::array::from_fn(|w| bits[if w % 2 == 1 && i > places[w] { places[w] } else { i }][w]));
            }
        }
        // Pattern 0 is all zeros, pattern 1 all ones.
        p.known.iter_mut().for_each(|bits| bits[0] = bits[0] & !3 | 2);
        p
    }

    fn values(&mut self, gate: Gate) -> [u64; WORDS] {
        match gate {
            Gate::Input(n) if (n as usize) < self.known.len() => self.known[n as usize],
            _ => std::array::from_fn(|_| self.random.word()),
        }
    }
}

/// Index of a simulated pattern: a word of 64 patterns, and a bit of it.
#[derive(Clone, Copy)]
pub(crate) struct PatternIndex {
    word: usize,
    bit: u32,
}

/// Number of attempts, and of successful ones.
#[derive(Clone, Copy, Default)]
struct Rate {
    tried: usize,
    proved: usize,
}

impl Rate {
    fn count(&mut self, is_proved: bool) {
        self.tried += 1;
        self.proved += usize::from(is_proved);
    }

    fn is_useful(self) -> bool {
        self.tried < LEAST_RATE * (self.proved + 2)
    }
}

/// Gates between some literals and leaves, in topological order.
pub(super) struct Window {
    gates: Vec<(u32, Lit, Lit)>,
    leaves: Vec<u32>,
}

impl Sweep {
    /// Returns a graph of inputs with these numbers of bits.
    pub(crate) fn new(widths: &[usize], limits: Limits, most: u64) -> Sweep {
        let mut words = Words::new();
        let inputs: Vec<Vec<Lit>> =
            widths.iter().map(|&width| (0..width).map(|_| words.aig.input("")).collect()).collect();
        let visible = inputs.iter().flatten().map(|bit| bit.node()).collect();
        let mut sweep = Sweep {
            words,
            inputs,
            counts: Counts::default(),
            sums: Sums::default(),
            sim: Simulation::default(),
            patterns: Patterns::new(widths),
            visible,
            begin: u32::MAX,
            by_values: FxHashMap::default(),
            placed: FxHashMap::default(),
            open: FxHashSet::default(),
            named: FxHashMap::default(),
            matched: FxHashMap::default(),
            failures: 0,
            large: Rate::default(),
            limits,
            most,
            spent: 0,
            progress: None,
        };
        sweep.simulate();
        let known: Vec<Lit> = [Lit::FALSE].into_iter().chain(sweep.inputs.iter().flatten().copied()).collect();
        for lit in known {
            let (key, negated) = sweep.key(lit);
            sweep.by_values.entry(key).or_default().push(lit.xor(negated));
        }
        sweep
    }

    /// Adds a free input.
    pub(crate) fn input(&mut self) -> Lit {
        self.words.aig.input("")
    }

    pub(crate) fn gates(&self) -> usize {
        self.words.aig.gates()
    }

    /// Returns the ticks spent.
    pub(crate) fn spent(&self) -> u64 {
        self.spent + GATE * self.words.aig.gates() as u64
    }

    /// Sets a counter that receives the ticks, on top of the `before` ticks it already has.
    pub(crate) fn with_progress(mut self, counter: Option<Arc<ProgressCounter>>, before: u64) -> Self {
        self.progress = counter.map(|counter| (counter, before));
        self
    }

    /// Returns `true` if the budget is exhausted; reports the progress.
    pub(crate) fn is_done(&self) -> bool {
        let spent = self.spent();
        if let Some((counter, before)) = &self.progress {
            counter.spend(before + spent);
        }
        spent >= self.most
    }

    /// Marks all gates so far as those of the RTL; further gates belong to the netlist.
    pub(crate) fn begin_netlist(&mut self) {
        self.begin = self.words.aig.len() as u32;
        self.simulate();
        // Bits of signals are already in the lists, as preferred candidates.
        for node in 1..self.begin {
            if !self.visible.contains(&node) && !self.placed.contains_key(&node) {
                let lit = Lit::new(node, false);
                let (key, negated) = self.key(lit);
                self.by_values.entry(key).or_default().push(lit.xor(negated));
            }
        }
    }

    fn simulate(&mut self) {
        let patterns = &mut self.patterns;
        self.sim.extend(&self.words.aig, |gate| patterns.values(gate));
    }

    /// Returns a hash of the simulated values up to complement, and `true` if they were complemented.
    fn key(&self, lit: Lit) -> (u64, bool) {
        let values = self.sim.value(lit);
        let negated = values[0] & 1 == 1;
        let mut hasher = FxHasher::default();
        values.map(|word| word ^ 0u64.wrapping_sub(negated.into())).hash(&mut hasher);
        (hasher.finish(), negated)
    }

    /// Builds `a xor b`, and records it as a possible sum bit of a carry chain.
    pub(super) fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let x = self.words.aig.xor(a, b);
        self.sums.note_half(x, a, b);
        x
    }

    /// Builds `select ? yes : no`, and records it as a possible bit of a carry chain.
    pub(super) fn mux(&mut self, select: Lit, yes: Lit, no: Lit) -> Lit {
        let x = self.words.aig.mux(select, yes, no);
        if self.begin != u32::MAX {
            self.sums.note_carry(x, Link { half: select, carry: yes, start: no });
        }
        x
    }

    /// Returns the literals for the bits of a signal. Synthesis usually keeps names, but a net may equal any bit of the
    /// RTL: names only determine the order of the candidates.
    pub(super) fn signal(&mut self, name: &str, word: &[Lit]) -> Arc<[Lit]> {
        // A net of one bit has the name of the word, with an index.
        let indexed = name.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
        let parsed = indexed.and_then(|(base, index)| Some((base, index.parse::<u32>().ok()?)));
        let (base, first) = parsed.unwrap_or((name, 0));
        let is_rtl = self.begin == u32::MAX;
        let found = word.iter().enumerate().map(|(i, &bit)| {
            let mut hasher = FxHasher::default();
            (base, u64::from(first) + i as u64).hash(&mut hasher);
            let key = hasher.finish();
            if is_rtl {
                let found = self.placed(bit);
                self.named.entry(key).or_default().push(found);
                found
            } else {
                let preferred = self.named.get(&key).cloned().unwrap_or_default();
                self.placed_as(bit, &preferred)
            }
        });
        found.collect()
    }

    /// Returns the RTL literal that a netlist bit was proved to equal, otherwise the bit itself.
    pub(super) fn placed(&mut self, bit: Lit) -> Lit {
        self.placed_as(bit, &[])
    }

    fn placed_as(&mut self, bit: Lit, preferred: &[Lit]) -> Lit {
        let found = self.find(bit, preferred);
        if found != bit {
            self.sums.rename(bit, found);
        }
        found
    }

    fn find(&mut self, bit: Lit, preferred: &[Lit]) -> Lit {
        let is_rtl = self.begin == u32::MAX;
        if !is_rtl && bit.node() < self.begin && !self.placed.contains_key(&bit.node()) {
            return bit;
        }
        if let Some(&known) = self.placed.get(&bit.node()) {
            return known.xor(bit.is_negated());
        }
        if self.words.aig.fanins(bit.node()).is_none() || !self.open.insert(bit.node()) {
            return bit;
        }
        let found = self.compared(bit, preferred, is_rtl);
        self.open.remove(&bit.node());
        found
    }

    /// Compares a bit with gates that have the same simulated values, the preferred ones first.
    fn compared(&mut self, bit: Lit, preferred: &[Lit], is_rtl: bool) -> Lit {
        self.simulate();
        let (key, negated) = self.key(bit);
        let normal = bit.xor(negated);
        let all = self.by_values.get(&key).map_or(&[][..], Vec::as_slice);
        let first: Vec<Lit> = all.iter().copied().take(CANDIDATES).collect();
        let mut candidates: Vec<Lit> = preferred.iter().map(|&lit| lit.xor(self.key(lit).1)).collect();
        // Many upper bits of sums have the same simulated values, in particular bits that are never set.
        if all.len() > CANDIDATES && !is_rtl {
            let values = self.sim.value(normal);
            for lit in sums::words_near(self, bit) {
                let lit = lit.xor(self.key(lit).1);
                let is_one = lit.as_const().is_none() && self.sim.value(lit) == values;
                if is_one && candidates.len() < CANDIDATES && !candidates.contains(&lit) {
                    candidates.push(lit);
                }
            }
        }
        // A comparison that failed is not repeated.
        let others: Vec<Lit> = first.into_iter().filter(|lit| !candidates.contains(lit)).collect();
        candidates.extend(others);
        candidates.retain(|&candidate| self.sim.value(candidate) == self.sim.value(normal));
        if let Some(candidate) = self.first_equal(normal, &mut candidates) {
            self.placed.insert(bit.node(), candidate.xor(normal.is_negated()));
            if is_rtl {
                return candidate.xor(negated);
            }
            let negated_match = candidate.is_negated() != normal.is_negated();
            self.matched.entry(candidate.node()).or_default().push((bit.node(), negated_match));
            self.counts.swept += 1;
            return candidate.xor(negated);
        }
        if is_rtl {
            self.visible.insert(bit.node());
        }
        self.placed.insert(bit.node(), Lit::new(bit.node(), false));
        self.by_values.entry(key).or_default().push(normal);
        bit
    }

    /// Returns the first of some literals that is proved to equal another one. The gate that has the place of the bit
    /// in the RTL needs the smallest windows. Others may be equal, too, such as copies of a sign, but the cells that
    /// read the bit are built on that gate.
    fn first_equal(&mut self, x: Lit, candidates: &mut Vec<Lit>) -> Option<Lit> {
        let may_compare = |sweep: &Self| !sweep.is_done() && sweep.failures <= FAILURES;
        if let Some(found) = candidates.iter().find(|&&y| may_compare(self) && self.is_equal_locally(x, y)) {
            return Some(*found);
        }
        let before = candidates.len();
        for size in 0..SOLVED.len() - 1 {
            let mut at = 0;
            while at < candidates.len() && may_compare(self) {
                match self.solved(x, candidates[at], size, false) {
                    Some(true) => return Some(candidates[at]),
                    Some(false) => drop(candidates.remove(at)),
                    None => at += 1,
                }
            }
        }
        self.failures += before;
        None
    }

    /// Returns `true` if words are proved to be equal.
    pub(crate) fn are_equal(&mut self, a: &[Lit], b: &[Lit]) -> bool {
        self.simulate();
        a.iter().zip(b).all(|(&x, &y)| {
            if x == y {
                self.counts.structural += 1;
                return true;
            }
            self.sim.value(x) == self.sim.value(y) && self.is_equal_output(x, y)
        })
    }

    /// Returns the first simulated pattern for which words differ.
    pub(crate) fn difference(&mut self, a: &[Lit], b: &[Lit]) -> Option<PatternIndex> {
        self.simulate();
        a.iter().zip(b).find_map(|(&x, &y)| {
            let (p, q) = (self.sim.value(x), self.sim.value(y));
            let word = (0..WORDS).find(|&w| p[w] != q[w])?;
            Some(PatternIndex { word, bit: (p[word] ^ q[word]).trailing_zeros() })
        })
    }

    /// Returns the value of a literal in a simulated pattern.
    pub(super) fn simulated(&self, lit: Lit, at: PatternIndex) -> bool {
        self.sim.value(lit)[at.word] >> at.bit & 1 == 1
    }

    /// Returns `true` if literals depend on inputs of other cycles than that of the sample.
    pub(super) fn reads_other_moments(&self, word: &[Lit]) -> bool {
        let own: usize = self.inputs.iter().map(Vec::len).sum();
        let (mut seen, mut stack) = (FxHashSet::default(), word.iter().map(|bit| bit.node()).collect::<Vec<_>>());
        while let Some(node) = stack.pop() {
            if !seen.insert(node) {
                continue;
            }
            match self.words.aig.gate(node) {
                Gate::And(a, b) => stack.extend([a.node(), b.node()]),
                Gate::Input(n) if n as usize >= own => return true,
                _ => {}
            }
        }
        false
    }

    /// Returns `true` if a node ends the cones of cells: a bit of the RTL's signals, a net of the netlist, an input.
    fn is_stop(&self, node: u32) -> bool {
        self.visible.contains(&node)
            || (node >= self.begin && self.placed.contains_key(&node))
            || self.words.aig.fanins(node).is_none()
    }

    /// Returns `true` if a node is a net of the netlist that was compared with gates of the RTL.
    pub(super) fn is_net(&self, node: u32) -> bool {
        node >= self.begin && self.placed.contains_key(&node)
    }

    pub(super) fn is_visible(&self, node: u32) -> bool {
        self.visible.contains(&node)
    }

    /// Returns the literal that a compared bit equals, otherwise the bit itself.
    pub(super) fn resolved(&self, bit: Lit) -> Lit {
        self.placed.get(&bit.node()).map_or(bit, |found| found.xor(bit.is_negated()))
    }

    /// Proves that two literals are equal; the whole budget may be used.
    fn is_equal_output(&mut self, x: Lit, y: Lit) -> bool {
        self.is_equal_locally(x, y)
            || (0..SOLVED.len()).find_map(|size| self.solved(x, y, size, true)).unwrap_or_default()
    }

    /// Proves that two literals are equal over windows of a few leaves, or as bits of sums.
    fn is_equal_locally(&mut self, x: Lit, y: Lit) -> bool {
        if self.is_done() {
            return false;
        }
        if self.is_equal_nearby(x, y) || self.is_equal_within_growth(x, y) {
            self.counts.exhaustive += 1;
            return true;
        }
        let is_sum = self.begin != u32::MAX && sums::prove(self, x, y);
        self.counts.affine += u64::from(is_sum);
        is_sum
    }

    /// Compares over the leaves of the cell of the netlist's gate.
    fn is_equal_nearby(&mut self, x: Lit, y: Lit) -> bool {
        let Some(own) = self.cone(&[x], NEAR, |s, node| s.is_stop(node)) else { return false };
        if own.leaves.len() > LEAVES {
            return false;
        }
        let mut pinned: FxHashSet<u32> = own.leaves.iter().copied().collect();
        // A leaf that is a function of the other leaves must not be free. Designs share gates, so a cell may read a
        // signal together with the bits from which the signal is computed.
        for &leaf in own.leaves.iter().rev() {
            let below = self.cone(&[Lit::new(leaf, false)], SHARED, |s, node| s.is_stop(node));
            let is_own = |below: &Window| !below.gates.is_empty() && below.leaves.iter().all(|l| pinned.contains(l));
            if below.is_some_and(|below| is_own(&below)) {
                pinned.remove(&leaf);
            }
        }
        if pinned.contains(&y.node()) {
            return false;
        }
        let both = self.cone(&[x, y], NEAR, |s, node| pinned.contains(&node) || s.words.aig.fanins(node).is_none());
        both.is_some_and(|window| window.leaves.len() <= LEAVES && self.holds(&window, x, y))
    }

    /// Compares over growing windows below both literals.
    fn is_equal_within_growth(&mut self, x: Lit, y: Lit) -> bool {
        let mut last = 0;
        for most in GROWN {
            let window = self.grown(&[x, y], most);
            if window.gates.len() == last {
                return false;
            }
            last = window.gates.len();
            if window.leaves.len() <= LEAVES && self.holds(&window, x, y) {
                return true;
            }
        }
        false
    }

    /// Compares by the SAT solver over the window of an index of [`SOLVED`]; returns `None` if undecided.
    fn solved(&mut self, x: Lit, y: Lit, index: usize, is_output: bool) -> Option<bool> {
        let is_rtl = self.begin == u32::MAX;
        let (most, mut steps) = SOLVED[index];
        let is_large = most == LARGE.0;
        if self.is_done() || (is_large && !is_output && (is_rtl || !self.large.is_useful())) {
            return None;
        }
        let mut window = self.grown(&[x, y], most);
        if index == 1 {
            let grown = self.grown(&[x, y], LARGE.0);
            if self.is_whole(&grown) {
                (window, steps) = (grown, LARGE.1);
            }
        }
        let is_whole = self.is_whole(&window);
        // The second window was this one, too.
        if index > 1 && is_whole && window.gates.len() <= LARGE.0 {
            return None;
        }
        if is_output && is_whole {
            steps = OUTPUT_STEPS;
        }
        let (steps, size) = (steps.min(self.limits.sat_steps), window.gates.len() as u64);
        let mut left = steps;
        let problem = Problem { aig: &self.words.aig, gates: &window.gates, leaves: &window.leaves, differ: &[(x, y)] };
        let answer = super::super::sat::Embedded.solve(&problem, &mut left);
        self.spent += CLAUSES * size + (steps - left) * (STEP.0 + size / STEP.1);
        if is_large {
            self.large.count(answer == Answer::Unsat);
        }
        match answer {
            Answer::Unsat => {
                self.counts.sat += 1;
                Some(true)
            }
            Answer::Sat(_) if is_whole => Some(false),
            _ => None,
        }
    }

    /// Returns `true` if a window ends at inputs only.
    fn is_whole(&self, window: &Window) -> bool {
        window.leaves.iter().all(|&leaf| self.is_input(leaf))
    }

    /// Returns the gates below some literals, up to nodes for which `ends` is `true`; `None` if there are more than
    /// `most`. The literals themselves are not ends.
    pub(super) fn cone(&mut self, roots: &[Lit], most: usize, ends: impl Fn(&Sweep, u32) -> bool) -> Option<Window> {
        let mut heap: BinaryHeap<u32> = roots.iter().map(|lit| lit.node()).collect();
        let (mut gates, mut leaves, mut last) = (Vec::new(), Vec::new(), None);
        while let Some(node) = heap.pop() {
            if node == 0 || last == Some(node) {
                continue;
            }
            last = Some(node);
            let is_root = roots.iter().any(|root| root.node() == node);
            match self.words.aig.fanins(node) {
                Some((a, b)) if is_root || !ends(self, node) => {
                    if gates.len() == most {
                        self.spent += GATE * most as u64;
                        return None;
                    }
                    gates.push((node, a, b));
                    heap.extend([a.node(), b.node()]);
                }
                _ => leaves.push(node),
            }
        }
        self.spent += GATE * gates.len() as u64;
        gates.reverse();
        leaves.reverse();
        Some(Window { gates, leaves })
    }

    /// Returns the window with the `most` highest gates below some literals.
    fn grown(&mut self, roots: &[Lit], most: usize) -> Window {
        let mut heap: BinaryHeap<u32> = roots.iter().map(|lit| lit.node()).collect();
        let (mut gates, mut leaves, mut last) = (Vec::new(), Vec::new(), None);
        while let Some(node) = heap.pop() {
            if node == 0 || last == Some(node) {
                continue;
            }
            last = Some(node);
            match self.words.aig.fanins(node) {
                Some((a, b)) if gates.len() < most => {
                    gates.push((node, a, b));
                    heap.extend([a.node(), b.node()]);
                }
                _ => leaves.push(node),
            }
        }
        self.spent += GATE * gates.len() as u64;
        gates.reverse();
        leaves.reverse();
        Window { gates, leaves }
    }

    /// Returns `true` if two literals are equal for every assignment of the leaves of a window.
    fn holds(&mut self, window: &Window, x: Lit, y: Lit) -> bool {
        let tables = self.tables(window, &[x, y]);
        tables[0] == tables[1]
    }

    /// Returns the truth tables of literals over the leaves of a window.
    pub(super) fn tables(&mut self, window: &Window, of: &[Lit]) -> Vec<Vec<u64>> {
        let leaves = window.leaves.len();
        let words = 1usize << leaves.saturating_sub(6);
        self.spent += (window.gates.len() * words) as u64 / 8 + 1;
        let mut at: FxHashMap<u32, usize> = FxHashMap::from_iter([(0, 0)]);
        let mut tables: Vec<u64> = vec![0; words];
        for (i, &leaf) in window.leaves.iter().enumerate() {
            at.insert(leaf, i + 1);
            tables.extend((0..words).map(|block| match VARIABLES.get(i) {
                Some(&pattern) => pattern,
                None => 0u64.wrapping_sub((block >> (i - 6) & 1) as u64),
            }));
        }
        for (i, &(node, a, b)) in window.gates.iter().enumerate() {
            let (p, q) = (at[&a.node()] * words, at[&b.node()] * words);
            let (fp, fq) = (0u64.wrapping_sub(a.is_negated().into()), 0u64.wrapping_sub(b.is_negated().into()));
            for w in 0..words {
                tables.push((tables[p + w] ^ fp) & (tables[q + w] ^ fq));
            }
            at.insert(node, leaves + 1 + i);
        }
        // With fewer than six leaves the patterns repeat within a word.
        of.iter()
            .map(|lit| {
                let from = at[&lit.node()] * words;
                tables[from..from + words]
                    .iter()
                    .map(|word| word ^ 0u64.wrapping_sub(lit.is_negated().into()))
                    .collect()
            })
            .collect()
    }

    /// Returns the leaves of a window.
    pub(super) fn leaves(window: &Window) -> &[u32] {
        &window.leaves
    }

    /// Returns the nets that equal a bit of the RTL, with `true` for its complement.
    pub(super) fn matched(&self, node: u32) -> &[(u32, bool)] {
        self.matched.get(&node).map_or(&[], Vec::as_slice)
    }

    /// Adds a leaf to a window.
    pub(super) fn add_leaf(&self, window: &mut Window, node: u32) {
        if let Err(at) = window.leaves.binary_search(&node) {
            window.leaves.insert(at, node);
        }
    }

    /// Returns `true` if a node is an input.
    pub(super) fn is_input(&self, node: u32) -> bool {
        self.words.aig.fanins(node).is_none()
    }

    /// Adds ticks that were spent outside of this type.
    pub(super) fn spend(&mut self, ticks: u64) {
        self.spent += ticks;
    }

    /// Returns the first node of the netlist.
    pub(super) fn begin(&self) -> u32 {
        self.begin
    }
}
