//! Alignment of two programs: which operation of one is which of the other, after operations were inserted, removed or
//! changed.
//!
//! Four rules, each for what the ones before it left: operations of the same computation from the inputs; of the same
//! use down to the outputs; of such use whatever the types; and a longest common subsequence of the rest.

use super::{Model, Op, ValueId};
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// Products of list lengths above which the rest is not aligned by a common subsequence.
const MAX_PRODUCT: usize = 1 << 24;

/// Returns the pairs of operations that correspond, sorted by the first one; each operation is in one pair at most.
pub fn align(a: &Model, b: &Model) -> Vec<(ValueId, ValueId)> {
    let mut alignment = Alignment { partner: vec![None; a.nodes().len()], is_taken: vec![false; b.nodes().len()] };
    alignment.by_key(&computations(a), &computations(b));
    alignment.by_key(&uses(a, true), &uses(b, true));
    alignment.by_key(&uses(a, false), &uses(b, false));
    alignment.by_subsequence(a, b);
    (0..).map(ValueId).zip(alignment.partner).filter_map(|(x, y)| Some((x, ValueId(y?)))).collect()
}

struct Alignment {
    /// For each operation of the first program its partner.
    partner: Vec<Option<u32>>,
    is_taken: Vec<bool>,
}

impl Alignment {
    /// Pairs free operations of equal keys, in their order.
    fn by_key(&mut self, a: &[u64], b: &[u64]) {
        let mut free: HashMap<u64, Vec<u32>> = HashMap::new();
        for (at, key) in b.iter().enumerate().rev().filter(|(at, _)| !self.is_taken[*at]) {
            free.entry(*key).or_default().push(at as u32);
        }
        for (partner, key) in self.partner.iter_mut().zip(a).filter(|(partner, _)| partner.is_none()) {
            if let Some(at) = free.get_mut(key).and_then(Vec::pop) {
                *partner = Some(at);
                self.is_taken[at as usize] = true;
            }
        }
    }

    /// Pairs free operations of a longest common subsequence of kinds.
    fn by_subsequence(&mut self, a: &Model, b: &Model) {
        let x: Vec<ValueId> = a.ids().filter(|id| self.partner[id.index()].is_none()).collect();
        let y: Vec<ValueId> = b.ids().filter(|id| !self.is_taken[id.index()]).collect();
        if x.len().saturating_mul(y.len()) > MAX_PRODUCT {
            return;
        }
        let kinds = |model: &Model, ids: &[ValueId]| ids.iter().map(|&id| kind(model, id)).collect::<Vec<_>>();
        for (i, j) in common(&kinds(a, &x), &kinds(b, &y)) {
            self.partner[x[i].index()] = Some(y[j].0);
            self.is_taken[y[j].index()] = true;
        }
    }
}

/// Hash of an operation without its operands; a table counts by its entries, not by its number.
fn kind(model: &Model, id: ValueId) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut op = model.node(id).op.clone();
    op.map_operands(|_| ValueId(0));
    if let Op::Lookup { table, .. } = &mut op {
        let content = &model.tables()[table.0 as usize];
        content.entries.hash(&mut hasher);
        table.0 = 0;
    }
    op.hash(&mut hasher);
    model.kif(id).hash(&mut hasher);
    hasher.finish()
}

/// For each operation a hash of its whole computation from the inputs.
fn computations(model: &Model) -> Vec<u64> {
    let mut keys: Vec<u64> = Vec::with_capacity(model.nodes().len());
    for id in model.ids() {
        let mut hasher = DefaultHasher::new();
        kind(model, id).hash(&mut hasher);
        model.node(id).op.operands().iter().for_each(|operand| keys[operand.index()].hash(&mut hasher));
        keys.push(hasher.finish());
    }
    keys
}

/// For each operation a hash of its uses down to the outputs, with the types of values or without.
fn uses(model: &Model, has_types: bool) -> Vec<u64> {
    let mut keys: Vec<Vec<u64>> = vec![Vec::new(); model.nodes().len()];
    for (index, output) in model.outputs().iter().enumerate() {
        if let Some(source) = output.source {
            let mut hasher = DefaultHasher::new();
            (index, output.shift, output.neg).hash(&mut hasher);
            keys[source.index()].push(hasher.finish());
        }
    }
    let mut all = vec![0; model.nodes().len()];
    for id in model.ids().collect::<Vec<_>>().into_iter().rev() {
        let mut hasher = DefaultHasher::new();
        let of_uses = &mut keys[id.index()];
        of_uses.sort_unstable();
        of_uses.hash(&mut hasher);
        let op = &model.node(id).op;
        if has_types {
            kind(model, id).hash(&mut hasher);
        } else {
            std::mem::discriminant(op).hash(&mut hasher);
        }
        all[id.index()] = hasher.finish();
        for (place, operand) in op.operands().into_iter().enumerate() {
            let mut hasher = DefaultHasher::new();
            (place, all[id.index()]).hash(&mut hasher);
            keys[operand.index()].push(hasher.finish());
        }
    }
    all
}

/// Returns a longest common subsequence, as pairs of places.
fn common(x: &[u64], y: &[u64]) -> Vec<(usize, usize)> {
    let wide = y.len() + 1;
    let mut longest = vec![0u32; (x.len() + 1) * wide];
    for i in (0..x.len()).rev() {
        for j in (0..y.len()).rev() {
            longest[i * wide + j] = match x[i] == y[j] {
                true => longest[(i + 1) * wide + j + 1] + 1,
                false => longest[(i + 1) * wide + j].max(longest[i * wide + j + 1]),
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < x.len() && j < y.len() {
        if x[i] == y[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * wide + j] >= longest[i * wide + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Builder, Output};
    use crate::num::Interval;

    /// A chain of equal additions, with a negation after `at` of them.
    fn chain(at: Option<u32>) -> Model {
        let mut b = Builder::new(vec![0; 2]);
        let operand = Interval::new(-8, 7, 0);
        let x = b.op(Op::Input { input: 0 }, operand.clone());
        let y = b.op(Op::Input { input: 1 }, operand.clone());
        let mut last = x;
        for k in 0..10 {
            if at == Some(k) {
                last = b.op(Op::Neg { x: last }, operand.clone());
            }
            last = b.op(Op::Add { a: last, b: y, shift: 0 }, operand.clone());
        }
        b.output(Output { source: Some(last), shift: 0, neg: false });
        b.finish().expect("a program")
    }

    #[test]
    fn an_inserted_operation_moves_no_other_one() {
        let old = chain(None);
        for at in 0..10 {
            let new = chain(Some(at));
            let moved = |v: u32| if v < 2 + at { v } else { v + 1 };
            let expected: Vec<_> = (0..12).map(|v| (ValueId(v), ValueId(moved(v)))).collect();
            assert_eq!(align(&old, &new), expected, "{at}");
            let back: Vec<_> = expected.iter().map(|&(x, y)| (y, x)).collect();
            assert_eq!(align(&new, &old), back, "{at}");
        }
    }
}
