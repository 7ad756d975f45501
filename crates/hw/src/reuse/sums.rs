//! Sums over the blocks of a group: accumulators replace an adder tree over stored values.
//!
//! A pooling layer or a deep set adds the outputs of every block of a group. An adder tree that reads all outputs at
//! once needs each of them stored until the last is available. The order of additions without truncation is arbitrary,
//! so this module rewrites the program: it adds the outputs of the units in one cycle, then adds the result to the
//! partial sum. The tree and the accumulation of each cycle are ordinary blocks; one unit computes all trees of a sum,
//! and another unit all accumulations.
//!
//! ```text
//! units ─ x₁, x₂, … of one clock ─► tree ─► + ─┬─► sum
//!                                            ▲  │
//!                                            └──┘ 0 at first
//! ```
//!
//! If a unit has no output in a cycle, or if the partial sum is empty, the blocks read a constant zero as an input.

use super::Plan;
use super::blocks::Part;
use alir_core::ir::{Builder, Model, Node, Op, Output, ValueId};
use alir_core::num::Interval;
use alir_opt::passes;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Budget of the search: number of additions that it examines, counted once for each sum that contains them.
const WORK: usize = 20_000_000;

/// Program whose sums over the blocks of groups are computed cycle by cycle.
pub(super) struct Gathered {
    /// The program.
    pub(super) model: Model,
    /// Result of [`passes::exact_sums`] for the program.
    pub(super) exact: Vec<bool>,
    /// Blocks that the partition must keep; their inputs may be constant zeros.
    pub(super) parts: Vec<Part>,
    /// Class of each part; equal parts have the same number.
    pub(super) class: Vec<usize>,
}

/// Terms of a sum: output `output` of `count` blocks of a group.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Terms {
    group: usize,
    output: usize,
    count: usize,
}

/// A sum of the program.
struct Sum {
    value: ValueId,
    /// Terms that are accumulated cycle by cycle: index of the set of blocks, and index of the output.
    gathered: Vec<(usize, usize)>,
    /// Other terms of the sum.
    rest: Vec<ValueId>,
}

/// Blocks of a group that a sum contains: index of the group, and indices of its blocks.
type Set = (usize, Vec<usize>);

/// Returns the program with sums over blocks computed cycle by cycle, for the starts and units of a plan; `None` if
/// there are no such sums. `exact` are the program's [`passes::exact_sums`].
pub(super) fn gathered(model: &Model, exact: &[bool], plan: &Plan) -> Option<Gathered> {
    let (sets, sums) = sums(model, exact, plan)?;
    if sums.is_empty() {
        return None;
    }
    let clocks: Vec<Clocks> = sets.iter().map(|(group, instances)| Clocks::new(plan, *group, instances)).collect();
    let of_value: FxHashMap<ValueId, &Sum> = sums.iter().map(|sum| (sum.value, sum)).collect();
    // Operands of each value in the rewritten program.
    let reads = |v: ValueId| {
        let Some(sum) = of_value.get(&v) else { return model.node(v).op.operands() };
        let leaves = |&(set, output): &(usize, usize)| clocks[set].slots(plan, output).into_iter().flatten().flatten();
        sum.gathered.iter().flat_map(leaves).chain(sum.rest.iter().copied()).collect()
    };
    let mut alive = vec![false; model.nodes().len()];
    let mut stack: Vec<ValueId> = model.outputs().iter().filter_map(|output| output.source).collect();
    while let Some(v) = stack.pop() {
        if !std::mem::replace(&mut alive[v.index()], true) {
            stack.extend(reads(v));
        }
    }
    let mut writer = Writer { model, out: Builder::like(model), place: FxHashMap::default(), added: Vec::new() };
    // For each set, its trees and its accumulations, by cycle.
    let mut made: Vec<[Vec<Part>; 2]> = Vec::with_capacity(sets.len());
    made.extend(clocks.iter().map(|clocks| [0, 1].map(|_| vec![empty(); clocks.by_clock.len()])));
    // Sums over one output of one set of blocks are computed once.
    let mut known: FxHashMap<(usize, usize), ValueId> = FxHashMap::default();
    for id in model.ids() {
        let node = model.node(id);
        if let Some(sum) = of_value.get(&id).filter(|_| alive[id.index()]) {
            let mut terms: Vec<ValueId> = sum.rest.iter().map(|v| writer.place[v]).collect();
            terms = writer.tree(terms, node);
            for &(set, output) in &sum.gathered {
                let value = *known
                    .entry((set, output))
                    .or_insert_with(|| writer.prove_by_cycles(node, &clocks[set].slots(plan, output), &mut made[set]));
                terms = match terms.first() {
                    Some(&before) => vec![writer.add((before, value), node)],
                    None => vec![value],
                };
            }
            let mut value = terms[0];
            if writer.out.nodes()[value.index()].interval.kif() != model.kif(id) {
                let op = Op::Quantise { x: value, shift: 0 };
                value = writer.out.push(Node { op, ..node.clone() });
            }
            writer.place.insert(id, value);
        } else if alive[id.index()] || matches!(node.op, Op::Input { .. }) {
            let mut node = node.clone();
            node.op.map_operands(|v| writer.place[&v]);
            let value = writer.out.push(node);
            writer.place.insert(id, value);
        }
    }
    for output in model.outputs() {
        let source = output.source.map(|v| writer.place[&v]);
        writer.out.output(Output { source, ..*output });
    }
    let model = writer.out.finish().unwrap_or_else(|problems| {
        panic!("sums in another order are a program: {:?}", problems.first());
    });
    let (mut parts, mut class) = (Vec::new(), Vec::new());
    for (kind, of_kind) in made.into_iter().flatten().enumerate() {
        for part in of_kind.into_iter().filter(|part| !part.order.is_empty()) {
            parts.push(part);
            class.push(kind);
        }
    }
    // The types of the new sums follow from the intervals that the program declares, and values may exceed these
    // intervals, so the new sums must be checked again.
    let exact = passes::exact_sums(&model);
    let holds = writer.added.iter().all(|v| exact[v.index()]);
    holds.then_some(Gathered { model, exact, parts, class })
}

fn empty() -> Part {
    Part { order: Vec::new(), inputs: Vec::new(), outputs: Vec::new() }
}

/// Returns the sets of blocks whose outputs are accumulated, and the sums to compute cycle by cycle; `None` if the
/// budget is exhausted.
fn sums(model: &Model, exact: &[bool], plan: &Plan) -> Option<(Vec<Set>, Vec<Sum>)> {
    // Outputs of shared units: index of the group, of the instance, and of the output.
    let mut made: FxHashMap<ValueId, (usize, usize, usize)> = FxHashMap::default();
    for (number, group) in plan.groups.iter().enumerate() {
        let shares = (group.units as usize) < group.instances.len();
        for (at, instance) in group.instances.iter().enumerate().filter(|_| shares) {
            made.extend(instance.outputs.iter().enumerate().map(|(k, &v)| (v, (number, at, k))));
        }
    }
    let added = |v: ValueId| match model.node(v).op {
        Op::Add { a, b, shift: 0 } if exact[v.index()] => Some((a, b)),
        _ => None,
    };
    // Sums of outputs of one group; other blocks may compute them.
    let mut summed: Vec<Option<Terms>> = vec![None; model.nodes().len()];
    let terms = |summed: &[Option<Terms>], v: ValueId| {
        let alone = || made.get(&v).map(|&(group, _, output)| Terms { group, output, count: 1 });
        summed[v.index()].or_else(alone)
    };
    for id in model.ids() {
        let Some((a, b)) = added(id) else { continue };
        if let (Some(x), Some(y)) = (terms(&summed, a), terms(&summed, b)) {
            let count = x.count + y.count;
            if x.group == y.group && x.output == y.output && count <= plan.groups[x.group].instances.len() {
                summed[id.index()] = Some(Terms { count, ..x });
            }
        }
    }
    // Sums whose only reader is a larger sum.
    let readers = model.reader_counts();
    let mut inner = vec![false; model.nodes().len()];
    for (a, b) in model.ids().filter_map(added) {
        for v in [a, b].into_iter().filter(|v| readers[v.index()] == 1) {
            inner[v.index()] = added(v).is_some() && (summed[v.index()].is_some() || !made.contains_key(&v));
        }
    }
    let mut sets: BTreeMap<Set, usize> = BTreeMap::new();
    let mut sums = Vec::new();
    let mut work = WORK;
    for id in model.ids().filter(|id| added(*id).is_some() && !inner[id.index()]) {
        let mut leaves = Vec::new();
        let mut stack = vec![id];
        while let Some(v) = stack.pop() {
            work = work.checked_sub(1)?;
            match added(v).filter(|_| v == id || inner[v.index()]) {
                Some((a, b)) => stack.extend([b, a]),
                None => leaves.push(v),
            }
        }
        let mut by_output: BTreeMap<(usize, usize), BTreeMap<usize, ValueId>> = BTreeMap::new();
        let mut rest = Vec::new();
        for v in leaves {
            match made.get(&v) {
                Some(&(group, at, output)) => {
                    if let Some(twice) = by_output.entry((group, output)).or_default().insert(at, v) {
                        rest.push(twice);
                    }
                }
                None => rest.push(v),
            }
        }
        let mut gathered = Vec::new();
        for ((group, output), blocks) in by_output {
            let instances = &plan.groups[group].instances;
            let clocks = blocks.keys().map(|&at| instances[at].start).collect::<BTreeSet<u32>>().len();
            // One accumulator has at most one start per phase, and the sum should contain most blocks of the group.
            let many = blocks.len() > plan.groups[group].units as usize && 2 * blocks.len() >= instances.len();
            if many && (2..=plan.interval as usize).contains(&clocks) {
                let next = sets.len();
                let set = *sets.entry((group, blocks.into_keys().collect())).or_insert(next);
                gathered.push((set, output));
            } else {
                rest.extend(blocks.into_values());
            }
        }
        if !gathered.is_empty() {
            sums.push(Sum { value: id, gathered, rest });
        }
    }
    let mut numbered: Vec<(usize, Set)> = sets.into_iter().map(|(set, number)| (number, set)).collect();
    numbered.sort_unstable();
    Some((numbered.into_iter().map(|(_, set)| set).collect(), sums))
}

/// Blocks of a set, by start cycle.
struct Clocks {
    group: usize,
    /// For each cycle, the block of each unit; only units that compute blocks of the set.
    by_clock: Vec<Vec<Option<usize>>>,
}

impl Clocks {
    fn new(plan: &Plan, group: usize, instances: &[usize]) -> Clocks {
        let all = &plan.groups[group].instances;
        let units: BTreeSet<u32> = instances.iter().map(|&at| all[at].unit).collect();
        let mut by_clock: BTreeMap<u32, BTreeMap<u32, usize>> = BTreeMap::new();
        for &at in instances {
            by_clock.entry(all[at].start).or_default().insert(all[at].unit, at);
        }
        let slots = |clock: BTreeMap<u32, usize>| units.iter().map(|unit| clock.get(unit).copied()).collect();
        Clocks { group, by_clock: by_clock.into_values().map(slots).collect() }
    }

    /// Returns the values of one output of the blocks, by cycle and unit.
    fn slots(&self, plan: &Plan, output: usize) -> Vec<Vec<Option<ValueId>>> {
        let instances = &plan.groups[self.group].instances;
        let value = |at: &Option<usize>| at.map(|at| instances[at].outputs[output]);
        self.by_clock.iter().map(|clock| clock.iter().map(value).collect()).collect()
    }
}

/// Rewritten program under construction.
struct Writer<'a> {
    model: &'a Model,
    out: Builder,
    /// Value in the new program of each value of the program.
    place: FxHashMap<ValueId, ValueId>,
    /// Sums that the original program does not contain.
    added: Vec<ValueId>,
}

impl Writer<'_> {
    /// Builds a sum of these slots, cycle by cycle; the new operations belong to the parts of trees and of accumulators
    /// of each
    /// cycle.
    fn prove_by_cycles(
        &mut self,
        like: &Node,
        slots: &[Vec<Option<ValueId>>],
        [trees, chain]: &mut [Vec<Part>; 2],
    ) -> ValueId {
        // Zeros have as many fractional bits as the terms.
        let frac = slots.iter().flatten().flatten().map(|v| self.model.node(*v).interval.frac).max().unwrap_or(0);
        let mut sum = self.zero(like, frac);
        for (clock, slots) in slots.iter().enumerate() {
            let place = |v: &Option<ValueId>| match v {
                Some(v) => self.place[v],
                None => self.zero(like, frac),
            };
            let mut row: Vec<ValueId> = slots.iter().map(place).collect();
            if row.len() > 1 {
                let (tree, first) = (&mut trees[clock], self.added.len());
                tree.inputs.extend(&row);
                row = self.tree(row, like);
                tree.order.extend(&self.added[first..]);
                tree.outputs.push(row[0]);
            }
            let made = self.add((sum, row[0]), like);
            chain[clock].inputs.extend([row[0], sum]);
            chain[clock].order.push(made);
            chain[clock].outputs.push(made);
            sum = made;
        }
        sum
    }

    /// Returns the root of a balanced adder tree over these values; empty if there are no values.
    fn tree(&mut self, mut row: Vec<ValueId>, like: &Node) -> Vec<ValueId> {
        while row.len() > 1 {
            let add = |pair: &[ValueId]| match *pair {
                [a, b] => self.add((a, b), like),
                _ => pair[0],
            };
            row = row.chunks(2).map(add).collect();
        }
        row
    }

    fn zero(&mut self, like: &Node, frac: i32) -> ValueId {
        let op = Op::Const { value: 0.into() };
        self.out.push(Node { op, interval: Interval::new(0, 0, frac), latency: 0.0, ..like.clone() })
    }

    /// Returns the sum of two values in its exact type, with the delay of `like`.
    fn add(&mut self, (a, b): (ValueId, ValueId), like: &Node) -> ValueId {
        let mut reached = f64::NEG_INFINITY;
        like.op.for_each_operand(|v| reached = reached.max(self.model.node(v).latency));
        let [x, y] = [a, b].map(|v| &self.out.nodes()[v.index()]);
        let latency = x.latency.max(y.latency) + (like.latency - reached).max(0.0);
        let interval = x.interval.plus(&y.interval);
        let made = self.out.push(Node { op: Op::Add { a, b, shift: 0 }, interval, latency, ..like.clone() });
        self.added.push(made);
        made
    }
}
