//! Equalities of gates by structure and by linear algebra over GF(2).
//!
//! Gates are visited once, in order, over the equalities known so far. A gate with an operand that is a function of the
//! other operand is simplified (Brummayer and Biere, "Local Two-Level And-Inverter Graph Minimization without Blowup",
//! 2006, section 2; but no gate is built here). `p xor q` excludes `p and q`, so that a carry over equal operands is
//! the carry below it, and an adder that is wider than its sum repeats its sign. A gate that is the exclusive or of two
//! others (three ANDs, in any polarity) gets a normal form: a set of nodes whose sum modulo two is the gate, and a
//! constant. Nodes are decomposed as far as they are exclusive ors; any other node is a variable. Two gates with the
//! same set are equal or complements, so that parities, CRCs, LFSRs and Gray codes compare equal for any order of
//! summation; gates above them are shared again. (This is elimination with one row for each gate: the variables of a
//! component are its own leaves.)

use super::aig::Lit;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Largest number of variables of one form; a longer form becomes a variable itself.
const LONGEST: usize = 4096;

/// Equalities and normal forms of the gates so far.
#[derive(Default)]
struct Forms {
    /// For each node with an equal older literal: that literal.
    equal: FxHashMap<u32, Lit>,
    /// New entries of `equal`, in order.
    found: Vec<(u32, Lit)>,
    /// Operands of AND nodes without an equal older literal, replaced by their oldest equal literals.
    operands: FxHashMap<u32, (Lit, Lit)>,
    /// Original operands, if they differ. In sums they are kept separate, though a sum of two may be a product.
    given: FxHashMap<u32, (Lit, Lit)>,
    /// AND node of two operands.
    shared: FxHashMap<(Lit, Lit), u32>,
    /// For each node that is a sum modulo two: its variables, sorted, and the constant that is added.
    sums: FxHashMap<u32, (Rc<[u32]>, bool)>,
    /// Literal that is the sum of these variables.
    by_sum: FxHashMap<Rc<[u32]>, Lit>,
    /// Number of variables that can still be created.
    left: u64,
}

/// Simplification of a product.
enum Less {
    /// The product equals this literal.
    Is(Lit),
    /// The product equals the product of these literals.
    And(Lit, Lit),
}

/// Returns the nodes of a cone that are equal to an older literal of the cone, and the number of variables created.
/// Gates are in topological order, and create at most `most` variables; `known` contains nodes with known equal
/// literals. Each pair is a node and its equal literal, which may be equal to an even older literal.
pub(super) fn equalities(gates: &[(u32, Lit, Lit)], known: &FxHashMap<u32, Lit>, most: u64) -> (Vec<(u32, Lit)>, u64) {
    let mut forms = Forms { left: most, ..Forms::default() };
    for &(node, a, b) in gates {
        if let Some(&older) = known.get(&node) {
            forms.unite(Lit::new(node, false), older);
        }
        forms.gate(node, a, b);
    }
    (forms.found, most - forms.left)
}

impl Forms {
    fn oldest(&self, mut lit: Lit) -> Lit {
        while let Some(older) = self.equal.get(&lit.node()) {
            lit = older.xor(lit.is_negated());
        }
        lit
    }

    /// Records that two literals are equal.
    fn unite(&mut self, x: Lit, y: Lit) {
        let (x, y) = (self.oldest(x), self.oldest(y));
        let (newer, older) = if x.node() > y.node() { (x, y) } else { (y, x) };
        if newer.node() != older.node() {
            let older = older.xor(newer.is_negated());
            self.equal.insert(newer.node(), older);
            self.found.push((newer.node(), older));
        }
    }

    /// Adds a gate: simplifies it, shares it with an equal gate, or determines its sum.
    fn gate(&mut self, node: u32, a: Lit, b: Lit) {
        let given = if a.0 < b.0 { (a, b) } else { (b, a) };
        let (mut a, mut b) = (self.oldest(a), self.oldest(b));
        let sum = self.exclusive_or(given.0, given.1).or_else(|| self.exclusive_or(a, b));
        let same = loop {
            (a, b) = if a.0 < b.0 { (a, b) } else { (b, a) };
            if let Some(&same) = self.shared.get(&(a, b)) {
                break Some(Lit::new(same, false));
            }
            match self.less(a, b).or_else(|| self.less(b, a)) {
                None => break None,
                Some(Less::Is(lit)) => break Some(lit),
                Some(Less::And(p, q)) => (a, b) = (self.oldest(p), self.oldest(q)),
            }
        };
        match same {
            Some(same) => self.unite(Lit::new(node, false), same),
            None => {
                self.operands.insert(node, (a, b));
                self.shared.insert((a, b), node);
            }
        }
        if same.is_some() || given != (a, b) {
            self.given.insert(node, given);
        }
        let Some((variables, constant)) = sum.and_then(|(p, q)| self.sum(p, q)) else { return };
        match variables[..] {
            [] => self.unite(Lit::new(node, false), Lit::constant(constant)),
            [one] => self.unite(Lit::new(node, false), Lit::new(one, constant)),
            _ => match self.by_sum.get(&variables) {
                Some(same) => self.unite(Lit::new(node, false), same.xor(constant)),
                None => {
                    self.by_sum.insert(Rc::clone(&variables), Lit::new(node, constant));
                }
            },
        }
        self.sums.insert(node, (variables, constant));
    }

    /// Returns the simplification of `x and y` by the operands of `y`; `None` if none applies.
    fn less(&self, x: Lit, y: Lit) -> Option<Less> {
        match (x.as_const(), x == y, x == !y) {
            (Some(true), ..) | (_, true, _) => return Some(Less::Is(y)),
            (Some(false), ..) | (_, _, true) => return Some(Less::Is(Lit::FALSE)),
            _ => {}
        }
        let &(p, q) = self.operands.get(&y.node())?;
        if !y.is_negated() {
            // `x and p and q`.
            return match (x == p || x == q, self.exclude(x, p) || self.exclude(x, q)) {
                (true, _) => Some(Less::Is(y)),
                (_, true) => Some(Less::Is(Lit::FALSE)),
                _ => None,
            };
        }
        // `x and (!p or !q)`.
        let either = [(p, q), (q, p)].into_iter().find_map(|(p, q)| match (x == !p, self.exclude(x, !p)) {
            (true, _) => Some(Less::Is(x)),
            (_, true) => Some(Less::And(x, !q)),
            _ => None,
        });
        // `!(p and r) and !(p and !r)`.
        let of_both = || {
            let &(r, s) = self.operands.get(&x.node()).filter(|_| x.is_negated())?;
            let orders = [(p, q, r, s), (p, q, s, r), (q, p, r, s), (q, p, s, r)];
            orders.into_iter().find(|&(p, q, r, s)| p == r && q == !s).map(|(p, ..)| Less::Is(!p))
        };
        either.or_else(of_both)
    }

    /// Returns `true` if two literals are known never to be 1 both: complements, or an exclusive or and the product of
    /// its operands.
    fn exclude(&self, x: Lit, y: Lit) -> bool {
        let product_of = |y: Lit, p: Lit, q: Lit, negated: bool| {
            let Some(&(u, v)) = self.operands.get(&y.node()).filter(|_| !y.is_negated()) else { return false };
            let (u, v) = if u.node() == p.node() { (u, v) } else { (v, u) };
            u.node() == p.node() && v.node() == q.node() && (u != p) ^ (v != q) == negated
        };
        let one_way = |x: Lit, y: Lit| {
            let operands = self.operands.get(&x.node()).and_then(|&(a, b)| self.exclusive_or(a, b));
            operands.is_some_and(|(p, q)| product_of(y, p, q, x.is_negated()))
        };
        x == !y || one_way(x, y) || one_way(y, x)
    }

    /// Returns the operands if `a and b` is an exclusive or: `!(p and q) and !(!p and !q)`. Returns `None` otherwise.
    fn exclusive_or(&self, a: Lit, b: Lit) -> Option<(Lit, Lit)> {
        if !a.is_negated() || !b.is_negated() {
            return None;
        }
        let of = |lit: Lit| self.given.get(&lit.node()).or_else(|| self.operands.get(&lit.node()));
        let (&(p, q), &(r, s)) = (of(a)?, of(b)?);
        ((r, s) == (!p, !q) || (r, s) == (!q, !p)).then_some((p, q))
    }

    /// Returns the normal form of `p xor q`; `None` if the budget of variables is exhausted.
    fn sum(&mut self, p: Lit, q: Lit) -> Option<(Rc<[u32]>, bool)> {
        let known = |lit: Lit| self.sums.get(&lit.node()).map(|(x, c)| (Rc::clone(x), c ^ lit.is_negated()));
        let of = |lit: Lit| {
            let oldest = self.oldest(lit);
            known(lit).or_else(|| known(oldest)).unwrap_or_else(|| (Rc::from([oldest.node()]), oldest.is_negated()))
        };
        if self.left == 0 {
            return None;
        }
        let ((x, c), (y, d)) = (of(p), of(q));
        let sum = symmetric_difference(&x, &y);
        self.left = self.left.saturating_sub((x.len() + y.len()) as u64);
        (sum.len() <= LONGEST).then(|| (sum.into(), c ^ d))
    }
}

/// Returns the elements of exactly one of two sorted lists.
fn symmetric_difference(x: &[u32], y: &[u32]) -> Vec<u32> {
    let (mut i, mut j) = (0, 0);
    let mut out = Vec::with_capacity(x.len() + y.len());
    while let (Some(&p), Some(&q)) = (x.get(i), y.get(j)) {
        if p != q {
            out.push(p.min(q));
        }
        i += usize::from(p <= q);
        j += usize::from(q <= p);
    }
    out.extend_from_slice(&x[i..]);
    out.extend_from_slice(&y[j..]);
    out
}

#[cfg(test)]
mod tests {
    use super::super::aig::{Aig, Gate, Simulation};
    use super::*;
    use proptest::prelude::*;

    fn inputs(g: &mut Aig, n: usize) -> Vec<Lit> {
        (0..n).map(|i| g.input(format!("i{i}"))).collect()
    }

    fn gates(g: &Aig) -> Vec<(u32, Lit, Lit)> {
        (0..g.len() as u32).filter_map(|n| g.fanins(n).map(|(a, b)| (n, a, b))).collect()
    }

    /// Returns the oldest equal literal of each literal, by the equalities found.
    fn oldest(g: &Aig, lits: &[Lit], most: u64) -> Vec<Lit> {
        let found: FxHashMap<u32, Lit> = equalities(&gates(g), &FxHashMap::default(), most).0.into_iter().collect();
        let older = |l: &Lit| found.get(&l.node()).map(|older| older.xor(l.is_negated()));
        lits.iter().map(|&l| std::iter::successors(Some(l), older).last().unwrap_or(l)).collect()
    }

    fn parity(g: &mut Aig, mut terms: Vec<Lit>, order: &mut impl FnMut(usize) -> usize) -> Lit {
        while terms.len() > 1 {
            let x = terms.swap_remove(order(terms.len()));
            let y = terms.swap_remove(order(terms.len()));
            let sum = g.xor(x, y);
            terms.push(sum);
        }
        terms.pop().unwrap_or(Lit::FALSE)
    }

    /// Recipe for a network of parities and of ANDs above them: for each row its operands and its operation.
    #[derive(Clone, Debug)]
    struct Recipe {
        rows: Vec<(Vec<usize>, bool)>,
        orders: [Vec<usize>; 2],
    }

    fn recipe() -> impl Strategy<Value = Recipe> {
        let row = (prop::collection::vec(0..128usize, 1..12), prop::bool::weighted(0.5));
        let orders = prop::collection::vec(0..1000usize, 64);
        (prop::collection::vec(row, 1..24), orders.clone(), orders)
            .prop_map(|(rows, x, y)| Recipe { rows, orders: [x, y] })
    }

    /// Builds the literals of each row: sums (or products) of inputs, previous rows and complements, in one of the two
    /// orders; with a flipped term if requested. If `factors` are given, products are built only of these.
    fn built(
        g: &mut Aig,
        (ins, factors): (&[Lit], &[Lit]),
        recipe: &Recipe,
        which: usize,
        changed: Option<(usize, usize)>,
    ) -> Vec<Lit> {
        let mut all = ins.to_vec();
        let mut at = 0;
        let orders = &recipe.orders[which];
        for (k, (terms, is_sum)) in recipe.rows.iter().enumerate() {
            let from = if *is_sum || factors.is_empty() { &all } else { factors };
            let mut terms: Vec<Lit> = terms.iter().map(|&t| from[t % 64 % from.len()].xor(t >= 64)).collect();
            if let Some((_, input)) = changed.filter(|c| c.0 == k) {
                terms.push(ins[input % ins.len()]);
            }
            let mut order = |n: usize| {
                at += 1;
                orders[at % orders.len()] % n
            };
            let made = match is_sum {
                true => parity(g, terms, &mut order),
                false => terms.iter().take(2).fold(Lit::TRUE, |x, &y| g.and(x, y)),
            };
            all.push(made);
        }
        all.split_off(ins.len())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        /// Gates that read equal gates are equal too. Terms of sums are independent here: for dependent terms, one
        /// order may prove more.
        #[test]
        fn networks_in_another_order_are_equal(recipe in recipe()) {
            let mut g = Aig::new();
            let ins = inputs(&mut g, 16);
            let [first, second] = [0, 1].map(|which| {
                let mut rows = built(&mut g, (&ins[..8], &ins[8..]), &recipe, which, None);
                rows.extend((1..rows.len()).map(|k| g.and(rows[k - 1], !rows[k])).collect::<Vec<_>>());
                rows
            });
            prop_assert_eq!(oldest(&g, &first, u64::MAX), oldest(&g, &second, u64::MAX));
        }

        #[test]
        fn what_is_said_to_be_equal_is_equal(
            recipe in recipe(),
            row in 0..24usize,
            input in 0..8usize,
            most in 0..2000u64,
        ) {
            let mut g = Aig::new();
            let ins = inputs(&mut g, 8);
            let row = row % recipe.rows.len();
            let first = built(&mut g, (&ins, &[]), &recipe, 0, None);
            let other = built(&mut g, (&ins, &[]), &recipe, 1, Some((row, input)));
            // All 256 assignments.
            let mut sim = Simulation::<4>::default();
            sim.extend(&g, |gate| match gate {
                Gate::Input(n) => {
                    std::array::from_fn(|w| (0..64).fold(0, |x, b| x | ((w as u64 * 64 + b) >> n & 1) << b))
                }
                _ => [0; 4],
            });
            for (node, older) in equalities(&gates(&g), &FxHashMap::default(), most).0 {
                prop_assert!(older.node() < node);
                prop_assert_eq!(sim.value(Lit::new(node, false)), sim.value(older));
            }
            // One tap changed: a sum is never proved equal.
            if recipe.rows[row].1 {
                prop_assert!(oldest(&g, &[first[row]], u64::MAX) != oldest(&g, &[other[row]], u64::MAX));
            }
        }
    }

    /// Sums of words of two lengths, in adders that are wider than necessary: all upper bits equal the sign.
    #[test]
    fn an_adder_that_is_too_wide_repeats_its_sign() {
        for (long, short) in [(1, 1), (3, 1), (4, 4), (6, 3), (9, 8)] {
            for minus in [false, true] {
                let mut g = Aig::new();
                let ins = inputs(&mut g, long + short);
                let bit = |word: &[Lit], i: usize| word[i.min(word.len() - 1)];
                let (x, y) = ins.split_at(long);
                let mut carry = Lit::constant(minus);
                let mut sum = Vec::new();
                for i in 0..long + 5 {
                    let (p, q) = (bit(x, i), bit(y, i).xor(minus));
                    let half = g.xor(p, q);
                    sum.push(g.xor(half, carry));
                    let (both, through) = (g.and(p, q), g.and(half, carry));
                    carry = g.or(both, through);
                }
                let known = oldest(&g, &sum, u64::MAX);
                assert!(known[long..].iter().all(|&sign| sign == known[long]), "{long} {short} {known:?}");
                assert_ne!(known[long], known[long - 1], "{long} {short}");
            }
        }
    }

    /// Known equalities of a node apply to equal gates, and to gates that read them.
    #[test]
    fn known_equalities_are_used() {
        let mut g = Aig::new();
        let ins = inputs(&mut g, 5);
        let (x, y) = (g.and(ins[0], ins[1]), g.and(ins[2], ins[3]));
        let (p, q) = (g.xor(x, ins[4]), g.xor(y, ins[4]));
        let known: FxHashMap<u32, Lit> = [(y.node(), !x)].into_iter().collect();
        let (found, _) = equalities(&gates(&g), &known, u64::MAX);
        assert!(found.contains(&(y.node(), !x)), "{found:?}");
        let of_q = found.iter().find(|(node, _)| *node == q.node());
        assert_eq!(of_q.map(|pair| pair.1.xor(q.is_negated())), Some(!p), "{found:?}");
    }

    #[test]
    fn work_is_kept() {
        let mut g = Aig::new();
        let ins = inputs(&mut g, 2000);
        let forward = ins.iter().fold(Lit::FALSE, |x, &y| g.xor(x, y));
        let back = ins.iter().rev().fold(Lit::FALSE, |x, &y| g.xor(x, y));
        let all = oldest(&g, &[forward, back], u64::MAX);
        assert_eq!(all[0], all[1]);
        let few = oldest(&g, &[forward, back], 100_000);
        assert_ne!(few[0], few[1]);
        assert!(equalities(&gates(&g), &FxHashMap::default(), 100_000).1 < 103_000);
    }
}
