//! Equalities that hold by structure and by linear algebra over GF(2).
//!
//! Gates are looked at once, in order, over what is known to be equal. A gate that is the exclusive or of two others
//! (three ANDs, in any polarity) gets a normal form: the set of nodes whose sum modulo two it is, and a constant. Nodes
//! are taken apart as far as they are exclusive ors themselves; what is no exclusive or is a variable. Two gates with
//! the same set are equal or complements, so that parities, CRCs, LFSRs and Gray codes compare equal in whatever order
//! they are summed up; gates above them are shared again. (Elimination with one row a gate: the variables of a
//! component are its own leaves.)

use super::aig::Lit;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Most variables of one form; a longer one becomes a variable itself.
const LONGEST: usize = 4096;

/// What is known of the gates so far.
#[derive(Default)]
struct Forms {
    /// The older literal that a node is equal to.
    equal: FxHashMap<u32, Lit>,
    /// Operands of AND nodes, over the oldest equal literals.
    operands: FxHashMap<u32, (Lit, Lit)>,
    /// The node of two operands.
    shared: FxHashMap<(Lit, Lit), u32>,
    /// Variables whose sum modulo two a node is, sorted, and the constant that is added.
    sums: FxHashMap<u32, (Rc<[u32]>, bool)>,
    /// The literal that is the sum of these variables.
    by_sum: FxHashMap<Rc<[u32]>, Lit>,
}

/// Nodes of a cone that are equal to an older literal of it: gates come in topological order, and form at most `most`
/// variables all together. Each pair is a node and what it is equal to; the second of the result is how many variables
/// there were.
pub(super) fn equalities(gates: &[(u32, Lit, Lit)], most: u64) -> (Vec<(u32, Lit)>, u64) {
    let mut forms = Forms::default();
    let mut found = Vec::new();
    let mut work = 0;
    for &(node, a, b) in gates {
        if let Some(older) = forms.gate(node, a, b, &mut work, most) {
            forms.equal.insert(node, older);
            found.push((node, older));
        }
    }
    (found, work)
}

impl Forms {
    fn oldest(&self, lit: Lit) -> Lit {
        self.equal.get(&lit.node()).map_or(lit, |older| older.xor(lit.is_negated()))
    }

    /// What a gate is equal to, if it is nothing new.
    fn gate(&mut self, node: u32, a: Lit, b: Lit, work: &mut u64, most: u64) -> Option<Lit> {
        let (a, b) = (self.oldest(a), self.oldest(b));
        let (a, b) = if a.0 < b.0 { (a, b) } else { (b, a) };
        match (a.as_const(), a == b, a == !b) {
            (Some(true), ..) | (_, true, _) => return Some(b),
            (Some(false), ..) | (_, _, true) => return Some(Lit::FALSE),
            _ => {}
        }
        if let Some(&same) = self.shared.get(&(a, b)) {
            return Some(Lit::new(same, false));
        }
        if let Some((p, q)) = self.exclusive_or(a, b)
            && *work < most
            && let Some((variables, constant)) = self.sum(p, q, work)
        {
            match variables[..] {
                [] => return Some(Lit::constant(constant)),
                [one] => return Some(Lit::new(one, constant)),
                _ => {}
            }
            if let Some(same) = self.by_sum.get(&variables) {
                return Some(same.xor(constant));
            }
            self.by_sum.insert(Rc::clone(&variables), Lit::new(node, constant));
            self.sums.insert(node, (variables, constant));
        }
        self.operands.insert(node, (a, b));
        self.shared.insert((a, b), node);
        None
    }

    /// The operands of which `a and b` is the exclusive or: `!(p and q) and !(!p and !q)`.
    fn exclusive_or(&self, a: Lit, b: Lit) -> Option<(Lit, Lit)> {
        if !a.is_negated() || !b.is_negated() {
            return None;
        }
        let (&(p, q), &(r, s)) = (self.operands.get(&a.node())?, self.operands.get(&b.node())?);
        ((r, s) == (!p, !q) || (r, s) == (!q, !p)).then_some((p, q))
    }

    /// The form of `p xor q`.
    fn sum(&self, p: Lit, q: Lit, work: &mut u64) -> Option<(Rc<[u32]>, bool)> {
        let of = |lit: Lit| match self.sums.get(&lit.node()) {
            Some((variables, constant)) => (Rc::clone(variables), constant ^ lit.is_negated()),
            None => (Rc::from([lit.node()]), lit.is_negated()),
        };
        let ((x, c), (y, d)) = (of(p), of(q));
        let sum = symmetric_difference(&x, &y);
        *work += (x.len() + y.len()) as u64;
        (sum.len() <= LONGEST).then(|| (sum.into(), c ^ d))
    }
}

/// What is in one of two sorted lists only.
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

    /// Which literal each of these is by the equalities found.
    fn oldest(g: &Aig, lits: &[Lit], most: u64) -> Vec<Lit> {
        let found: FxHashMap<u32, Lit> = equalities(&gates(g), most).0.into_iter().collect();
        lits.iter().map(|l| found.get(&l.node()).map_or(*l, |older| older.xor(l.is_negated()))).collect()
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

    /// A network of parities and of ANDs above them, by recipe: which literals, and how each is made.
    #[derive(Clone, Debug)]
    struct Recipe {
        rows: Vec<(Vec<usize>, bool)>,
        orders: [Vec<usize>; 2],
    }

    fn recipe() -> impl Strategy<Value = Recipe> {
        let row = (prop::collection::vec(0..64usize, 1..12), prop::bool::weighted(0.7));
        let orders = prop::collection::vec(0..1000usize, 64);
        (prop::collection::vec(row, 1..24), orders.clone(), orders)
            .prop_map(|(rows, x, y)| Recipe { rows, orders: [x, y] })
    }

    /// The literals of each row: sums (or products) of inputs and rows before, in one of the two orders; a flipped term
    /// where asked for.
    fn built(g: &mut Aig, ins: &[Lit], recipe: &Recipe, which: usize, changed: Option<(usize, usize)>) -> Vec<Lit> {
        let mut all = ins.to_vec();
        let mut at = 0;
        let orders = &recipe.orders[which];
        for (k, (terms, is_sum)) in recipe.rows.iter().enumerate() {
            let mut terms: Vec<Lit> = terms.iter().map(|&t| all[t % all.len()]).collect();
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

        #[test]
        fn networks_in_another_order_are_equal(recipe in recipe()) {
            let mut g = Aig::new();
            let ins = inputs(&mut g, 8);
            let (first, second) = (built(&mut g, &ins, &recipe, 0, None), built(&mut g, &ins, &recipe, 1, None));
            prop_assert_eq!(oldest(&g, &first, u64::MAX), oldest(&g, &second, u64::MAX));
        }

        #[test]
        fn what_is_said_to_be_equal_is_equal(recipe in recipe(), row in 0..24usize, input in 0..8usize, most in 0..2000u64) {
            let mut g = Aig::new();
            let ins = inputs(&mut g, 8);
            let row = row % recipe.rows.len();
            let first = built(&mut g, &ins, &recipe, 0, None);
            let other = built(&mut g, &ins, &recipe, 1, Some((row, input)));
            // All 256 assignments.
            let mut sim = Simulation::<4>::default();
            sim.extend(&g, |gate| match gate {
                Gate::Input(n) => std::array::from_fn(|w| (0..64).fold(0, |x, b| x | ((w as u64 * 64 + b) >> n & 1) << b)),
                _ => [0; 4],
            });
            for (node, older) in equalities(&gates(&g), most).0 {
                prop_assert!(older.node() < node);
                prop_assert_eq!(sim.value(Lit::new(node, false)), sim.value(older));
            }
            // One tap changed: never seen as equal where it is a sum.
            if recipe.rows[row].1 {
                prop_assert!(oldest(&g, &[first[row]], u64::MAX) != oldest(&g, &[other[row]], u64::MAX));
            }
        }
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
        assert!(equalities(&gates(&g), 100_000).1 < 103_000);
    }
}
