//! Sums over the blocks of a group: accumulators in place of a tree over values that are all held.
//!
//! A pooling layer or a deep set adds up the outputs of every block of a group. In a tree of the program that reads all
//! of them at once, each has to be held until the last is available. Sums without truncation may be computed in any
//! order, so the program is rewritten: the outputs of the units in one cycle are added up, then added to the sum so
//! far. Both are blocks like others, one for each cycle in which blocks begin, and each kind is computed by one unit.
//!
//! ```text
//! units ─ x₁, x₂, … of one clock ─► tree ─► + ─┬─► sum
//!                                            ▲  │
//!                                            └──┘ 0 at first
//! ```
//!
//! Where a unit has no output in a cycle, or the sum so far is empty, the program has a constant zero, which the blocks
//! read as an input.

use super::Plan;
use super::blocks::Part;
use alir_core::ir::{Builder, Model, Node, Op, Output, ValueId};
use alir_core::num::Interval;
use alir_opt::passes;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Additions of the program that are looked at before the search gives up, each as often as sums contain it.
const WORK: usize = 20_000_000;

/// A program with sums over the blocks of groups made clock by clock.
pub(super) struct Gathered {
    /// The program.
    pub(super) model: Model,
    /// Its [`passes::exact_sums`].
    pub(super) exact: Vec<bool>,
    /// Blocks that stay as they are, with inputs that may be constant zeros.
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
    /// Terms that are added up cycle by cycle: outputs of sets of blocks.
    gathered: Vec<(usize, usize)>,
    /// Other terms of the sum.
    rest: Vec<ValueId>,
}

/// Blocks of a group over which there are sums: the group, and which of its blocks.
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
    // What is still read.
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
    // For each set its trees and its accumulators, by clock.
    let mut made: Vec<[Vec<Part>; 2]> = Vec::with_capacity(sets.len());
    made.extend(clocks.iter().map(|clocks| [0, 1].map(|_| vec![empty(); clocks.by_clock.len()])));
    // Sums over the same output of the same blocks are one.
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
    // Types were made of the intervals that the program declares, which values need not keep to.
    let exact = passes::exact_sums(&model);
    let holds = writer.added.iter().all(|v| exact[v.index()]);
    holds.then_some(Gathered { model, exact, parts, class })
}

fn empty() -> Part {
    Part { order: Vec::new(), inputs: Vec::new(), outputs: Vec::new() }
}

/// Returns the sums to compute cycle by cycle, and the sets of blocks that they are over; `None` if the search gives
/// up.
fn sums(model: &Model, exact: &[bool], plan: &Plan) -> Option<(Vec<Set>, Vec<Sum>)> {
    // What units that are shared give.
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
    // Sums of what one group gives, which may be what another one makes.
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
    // Sums that nothing but a larger sum reads.
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
            // In clocks that one unit has room for, and not only a few of the blocks.
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

/// Which blocks of a group begin in which clock.
struct Clocks {
    group: usize,
    /// For each clock the blocks by unit, of those units that compute any.
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

/// A program that is being rewritten.
struct Writer<'a> {
    model: &'a Model,
    out: Builder,
    /// Value in the new program of each value of the program.
    place: FxHashMap<ValueId, ValueId>,
    /// The sums that the program did not have.
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
        // Zeros have the step of what they are added to.
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

    /// The sum of these in pairs, then of pairs of these, and so on; one value, if there is any.
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

    /// A sum of two, of the type that it needs, which takes as long as `like` does.
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
