//! Alignment of two programs: pairs of corresponding operations, after operations were inserted, removed or changed.
//!
//! Four rules pair operations; each is applied to the operations that the earlier rules did not pair. The rules pair
//! operations with the same computation from the inputs, operations with the same uses down to the outputs, operations
//! with the same uses except for types, and a longest common subsequence of the rest. The rules only use a dataflow
//! graph, so they align signals of RTL as well.

use super::{Model, Op, ValueId};
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// Largest product of the list lengths for which a longest common subsequence is computed.
const MAX_PRODUCT: usize = 1 << 24;

/// Dataflow graph to be aligned. Operands come before their nodes, except in feedback loops.
#[derive(Clone, Debug, Default)]
pub struct AlignmentGraph {
    /// Hash of each node's operation without operands, with its type.
    pub kinds: Vec<u64>,
    /// Hash of each node's operation without operands and types.
    pub classes: Vec<u64>,
    /// Operands of each node.
    pub operands: Vec<Vec<u32>>,
    /// Nodes that drive outputs, each with a hash of the output.
    pub outputs: Vec<(u32, u64)>,
}

/// Returns the pairs of corresponding operations, sorted by the first operation; each operation is in at most one pair.
pub fn align(a: &Model, b: &Model) -> Vec<(ValueId, ValueId)> {
    let pairs = align_graphs(&graph(a), &graph(b));
    pairs.into_iter().map(|(x, y)| (ValueId(x), ValueId(y))).collect()
}

/// Returns the pairs of corresponding nodes, sorted by the first node; each node is in at most one pair.
pub fn align_graphs(a: &AlignmentGraph, b: &AlignmentGraph) -> Vec<(u32, u32)> {
    let mut alignment = Alignment { partner: vec![None; a.kinds.len()], is_taken: vec![false; b.kinds.len()] };
    alignment.by_key(&computations(a), &computations(b));
    alignment.by_key(&uses(a, &a.kinds), &uses(b, &b.kinds));
    alignment.by_key(&uses(a, &a.classes), &uses(b, &b.classes));
    alignment.by_subsequence(a, b);
    (0..).zip(alignment.partner).filter_map(|(x, y)| Some((x, y?))).collect()
}

struct Alignment {
    /// Partner of each node of the first graph.
    partner: Vec<Option<u32>>,
    is_taken: Vec<bool>,
}

impl Alignment {
    /// Pairs free nodes with equal keys, in their order.
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

    /// Pairs the free nodes of a longest common subsequence of kinds.
    fn by_subsequence(&mut self, a: &AlignmentGraph, b: &AlignmentGraph) {
        let x: Vec<usize> = (0..a.kinds.len()).filter(|&id| self.partner[id].is_none()).collect();
        let y: Vec<usize> = (0..b.kinds.len()).filter(|&id| !self.is_taken[id]).collect();
        if x.len().saturating_mul(y.len()) > MAX_PRODUCT {
            return;
        }
        let kinds = |graph: &AlignmentGraph, ids: &[usize]| ids.iter().map(|&id| graph.kinds[id]).collect::<Vec<_>>();
        for (i, j) in common(&kinds(a, &x), &kinds(b, &y)) {
            self.partner[x[i]] = Some(y[j] as u32);
            self.is_taken[y[j]] = true;
        }
    }
}

/// Returns the graph of a program.
fn graph(model: &Model) -> AlignmentGraph {
    let output = |(index, output): (usize, &super::Output)| {
        Some((output.source?.0, hash_of(&(index, output.shift, output.neg))))
    };
    AlignmentGraph {
        kinds: model.ids().map(|id| kind(model, id)).collect(),
        classes: model.ids().map(|id| hash_of(&std::mem::discriminant(&model.node(id).op))).collect(),
        operands: model.ids().map(|id| model.node(id).op.operands().into_iter().map(|v| v.0).collect()).collect(),
        outputs: model.outputs().iter().enumerate().filter_map(output).collect(),
    }
}

/// Returns the hash of a value.
fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns the hash of an operation without its operands; a table is represented by its entries, not by its index.
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

/// Returns a hash of each node's computation from the inputs. An operand that comes after its node (feedback loop)
/// contributes only its kind.
fn computations(graph: &AlignmentGraph) -> Vec<u64> {
    let mut keys: Vec<u64> = Vec::with_capacity(graph.kinds.len());
    for (kind, operands) in graph.kinds.iter().zip(&graph.operands) {
        let mut hasher = DefaultHasher::new();
        kind.hash(&mut hasher);
        let key = |operand: u32| keys.get(operand as usize).unwrap_or(&graph.kinds[operand as usize]);
        operands.iter().for_each(|&operand| key(operand).hash(&mut hasher));
        keys.push(hasher.finish());
    }
    keys
}

/// Returns a hash of each node's uses down to the outputs; `kinds` are the hashes of the operations.
fn uses(graph: &AlignmentGraph, kinds: &[u64]) -> Vec<u64> {
    let mut keys: Vec<Vec<u64>> = vec![Vec::new(); kinds.len()];
    graph.outputs.iter().for_each(|&(source, output)| keys[source as usize].push(output));
    let mut all = vec![0; kinds.len()];
    for id in (0..kinds.len()).rev() {
        let mut hasher = DefaultHasher::new();
        let of_uses = &mut keys[id];
        of_uses.sort_unstable();
        of_uses.hash(&mut hasher);
        kinds[id].hash(&mut hasher);
        all[id] = hasher.finish();
        for (place, &operand) in graph.operands[id].iter().enumerate() {
            keys[operand as usize].push(hash_of(&(place, all[id])));
        }
    }
    all
}

/// Returns a longest common subsequence, as pairs of indices.
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

    /// Returns a chain of equal additions, with a negation after the first `at` additions.
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
    fn an_inserted_operation_does_not_change_other_pairs() {
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
