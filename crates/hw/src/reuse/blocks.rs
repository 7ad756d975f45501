//! Partition of a program into blocks, and classes of equal blocks.
//!
//! Two operations belong to one block if one of them reads the other and the read operation is linear, or if the reader
//! has no other operand and is the only reader. A block must not depend on its own outputs through other blocks, so
//! operations also have a depth: an operation is at least one deeper than any operand in another block. All operations
//! of a block have equal depth. Blocks therefore read values of blocks with smaller depth only.
//!
//! Two blocks are equal if their operations in canonical order are pairwise equal: kind, operands, constants, shifts,
//! tables and binary points. Types may differ where a sum never wraps for any input; the template then has the widest
//! type.

use super::plan::is_zero;
use super::sums::Gathered;
use super::{merge, rows};
use alir_core::ir::{Builder, Limits, Model, Node, Op, Output, ValueId};
use alir_core::num::{Interval, Kif};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// A block of the program.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Operations in canonical order.
    pub(super) order: Vec<ValueId>,
    /// Inputs in the order of first use.
    pub(super) inputs: Vec<ValueId>,
    /// Values of the block with readers outside of it.
    pub(super) outputs: Vec<ValueId>,
}

/// Class of equal blocks.
#[derive(Clone, Debug)]
pub(super) struct Class {
    /// Program that each instance computes.
    pub(super) template: Model,
    /// Inputs and outputs of each instance in the program.
    pub(super) instances: Vec<(Vec<ValueId>, Vec<ValueId>)>,
    /// Depth of each instance.
    pub(super) depths: Vec<u32>,
    /// `true` if the instances are equal by the rows of their sums, not operation by operation.
    pub(super) by_rows: bool,
    /// `true` if the blocks were created for sharing, and must share.
    pub(super) kept: bool,
}

/// Returns `true` if an operation is linear, like all operations within one block.
fn is_linear(op: &Op) -> bool {
    matches!(op, Op::Add { .. } | Op::Sub { .. } | Op::Neg { .. } | Op::AddConst { .. } | Op::Sum { .. })
}

/// Returns the estimated logic of a block, in LUTs.
pub(super) fn area(model: &Model) -> f64 {
    let mut area = 0.0;
    for id in model.ids() {
        area += operation_area(model, id);
    }
    area
}

/// Returns the estimated logic of an operation, in LUTs.
pub(super) fn operation_area(model: &Model, id: ValueId) -> f64 {
    let width = |v: ValueId| model.kif(v).width();
    let mut operands = Vec::new();
    let op = &model.node(id).op;
    op.for_each_operand(|v| operands.push(width(v)));
    whole_area(op, width(id), &operands)
}

/// Returns the estimated logic of an operation on whole values, in LUTs, for these widths of the result and the
/// operands.
pub(super) fn whole_area(op: &Op, width: u32, operands: &[u32]) -> f64 {
    let w = f64::from(width);
    let read = |k: usize| operands.get(k).map_or(0.0, |&width| f64::from(width));
    match op {
        Op::Input { .. } | Op::Const { .. } | Op::Quantise { .. } => 0.0,
        Op::Add { .. } | Op::Sub { .. } | Op::Neg { .. } | Op::AddConst { .. } => w,
        Op::Sum { terms } => w * terms.len() as f64,
        Op::Relu { .. } | Op::Binary { .. } | Op::Mux { .. } => w / 2.0,
        Op::Mul { .. } => read(0) * read(1),
        Op::Lookup { .. } => w * (read(0) - 5.0).exp2().clamp(0.5, 1e6),
        Op::Unary { .. } => read(0) / 5.0,
    }
}

/// Returns all blocks of a program in classes, ordered by their first instances in the program. A block that is not
/// worth sharing at this interval is a class of its own.
pub(super) fn classes(finder: &Finder<'_>, interval: u32) -> Vec<Class> {
    let mut parts: Vec<(Part, u32)> = Vec::new();
    let mut kept: BTreeMap<usize, Vec<(Part, u32)>> = BTreeMap::new();
    for (part, depth) in merge::merged(finder, finder.parts(), interval) {
        match finder.kept(&part) {
            Some(kind) => kept.entry(kind).or_default().push((part, depth)),
            None => parts.push((part, depth)),
        }
    }
    let mut by_key: FxHashMap<Key, usize> = FxHashMap::default();
    let mut found: Vec<Vec<usize>> = Vec::new();
    for (at, (part, _)) in parts.iter().enumerate() {
        let next = found.len();
        let class = *by_key.entry(finder.key(part)).or_insert(next);
        if class == next {
            found.push(Vec::new());
        }
        found[class].push(at);
    }
    let of = |members: &mut dyn Iterator<Item = &(Part, u32)>| {
        let members: Vec<(&Part, u32)> = members.map(|(part, depth)| (part, *depth)).collect();
        finder.class(&members)
    };
    let mut classes = Vec::with_capacity(found.len());
    classes.extend(kept.values().map(|members| Class { kept: true, ..of(&mut members.iter()) }));
    let mut alone: BTreeMap<u32, Vec<&Part>> = BTreeMap::new();
    let mut hosts: BTreeMap<u32, Vec<rows::Host<'_>>> = BTreeMap::new();
    for members in &found {
        let whole = of(&mut members.iter().map(|&at| &parts[at]));
        let depth = whole.depths[0];
        if whole.gains(interval) && whole.depths.iter().all(|&d| d == depth) {
            let parts = members.iter().map(|&at| &parts[at].0).collect();
            hosts.entry(depth).or_default().push(rows::Host { class: whole, parts });
        } else if whole.gains(interval) {
            classes.push(whole);
        } else {
            members.iter().for_each(|&at| alone.entry(parts[at].1).or_default().push(&parts[at].0));
        }
    }
    for (depth, parts) in alone {
        let hosts = hosts.get_mut(&depth).map_or(&mut [][..], |hosts| &mut hosts[..]);
        match rows::split(finder, &parts, hosts, depth, interval) {
            Some(split) => classes.extend(split),
            None => classes.extend(parts.into_iter().map(|part| finder.class(&[(part, depth)]))),
        }
    }
    classes.extend(hosts.into_values().flatten().map(|host| host.class));
    // The order of the first instances in the program.
    let first = |class: &Class| class.instances.iter().flat_map(|(_, outputs)| outputs).min().copied();
    classes.sort_by_key(first);
    classes
}

/// Signature that equal blocks have in common.
pub(super) type Key = (Vec<u64>, Vec<Op>);

impl Class {
    /// Returns `true` if shared units with their multiplexers take fewer estimated LUTs than one block per instance.
    pub(super) fn gains(&self, interval: u32) -> bool {
        let n = self.instances.len();
        n.div_ceil(interval as usize) < n && self.taken(interval) < area(&self.template) * n as f64
    }

    /// Returns the largest number of values that an input of one of `units` units selects from.
    pub(super) fn most_sources(&self, units: usize) -> usize {
        let each = self.instances.len().div_ceil(units);
        let sources = |k: usize| self.instances.iter().map(|(inputs, _)| inputs[k]).collect::<FxHashSet<_>>().len();
        (0..self.template.n_inputs()).map(sources).max().unwrap_or(0).min(each)
    }

    /// Returns the estimated LUTs of the units and the multiplexers before them.
    pub(super) fn taken(&self, interval: u32) -> f64 {
        let n = self.instances.len();
        let units = n.div_ceil(interval as usize);
        let widths: Vec<u32> = self.template.input_kifs().iter().map(|kif| kif.width()).collect();
        let choices = choices(&widths, n, units, |i, k| self.instances[i].0[k]);
        (area(&self.template) + choices) * units as f64
    }
}

/// LUTs per bit of each additional input of a multiplexer.
pub(super) const CHOICE: f64 = 0.3;

/// Returns the estimated LUTs of the multiplexers before a unit, where `widths` are the widths of a block's inputs, `n`
/// blocks share `units` units, and `read(i, k)` is the value that input `k` of block `i` reads.
pub(super) fn choices(widths: &[u32], n: usize, units: usize, read: impl Fn(usize, usize) -> ValueId) -> f64 {
    /// LUTs that drive the selects of a unit's multiplexers.
    const CONTROL: f64 = 2.0;
    let each = n.div_ceil(units);
    let mut tables = CONTROL;
    for (k, &width) in widths.iter().enumerate() {
        let mut sources: Vec<ValueId> = (0..n).map(|i| read(i, k)).collect();
        sources.sort_unstable();
        sources.dedup();
        tables += CHOICE * f64::from(width) * (each.min(sources.len()) - 1) as f64;
    }
    tables
}

pub(super) struct Finder<'a> {
    pub(super) model: &'a Model,
    pub(super) free: &'a [bool],
    /// The program's [`alir_opt::passes::exact_sums`].
    pub(super) exact: &'a [bool],
    /// `true` for each value with an operation that depends on its width.
    rigid: Vec<bool>,
    readers: Vec<u32>,
    /// `true` for each value that is an output.
    pub(super) shown: Vec<bool>,
    /// A constant zero of the program, if any.
    pub(super) zero: Option<ValueId>,
    /// Blocks that exist before the partition: the adder trees and accumulators of [`super::sums`].
    gathered: Option<&'a Gathered>,
    /// For each operation, the index of its block in `gathered` plus one; 0 for other operations.
    own: Vec<u32>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(
        model: &'a Model,
        (free, exact): (&'a [bool], &'a [bool]),
        gathered: Option<&'a Gathered>,
    ) -> Finder<'a> {
        let n = model.nodes().len();
        let (mut rigid, mut shown) = (vec![false; n], vec![false; n]);
        for node in model.nodes() {
            match node.op {
                Op::Mux { cond, .. } => rigid[cond.index()] = true,
                Op::Unary { x, .. } => rigid[x.index()] = true,
                _ => {}
            }
        }
        for v in model.outputs().iter().filter_map(|o| o.source) {
            shown[v.index()] = true;
        }
        let mut own = vec![0; n];
        for (part, number) in gathered.iter().flat_map(|gathered| &gathered.parts).zip(1..) {
            part.order.iter().for_each(|v| own[v.index()] = number);
        }
        let zero = model.ids().find(|&v| is_zero(model, v));
        Finder { model, free, exact, rigid, readers: model.reader_counts(), shown, zero, gathered, own }
    }

    /// Returns the class of a block of `gathered`; `None` for other blocks.
    pub(super) fn kept(&self, part: &Part) -> Option<usize> {
        let number = self.own[part.order.first()?.index()].checked_sub(1)?;
        self.gathered.map(|gathered| gathered.class[number as usize])
    }

    /// Returns `true` if a value and its reader belong to one block, provided that their depths are equal.
    fn joined(&self, value: ValueId, (id, reader): (ValueId, &Op)) -> bool {
        if self.own[value.index()] != 0 || self.own[id.index()] != 0 {
            return self.own[value.index()] == self.own[id.index()];
        }
        let made = &self.model.node(value).op;
        let alone = self.readers[value.index()] == 1 && reader.operands().len() == 1;
        is_linear(made) || alone
    }

    /// Returns the class of equal blocks with these depths.
    pub(super) fn class(&self, members: &[(&Part, u32)]) -> Class {
        Class {
            template: self.template(members.iter().map(|(part, _)| *part)),
            instances: members.iter().map(|(part, _)| (part.inputs.clone(), part.outputs.clone())).collect(),
            depths: members.iter().map(|(_, depth)| *depth).collect(),
            by_rows: false,
            kept: false,
        }
    }

    /// Returns the blocks with their depths, in the order of their first operation, then the blocks of `gathered`.
    fn parts(&self) -> Vec<(Part, u32)> {
        let model = self.model;
        let n = model.nodes().len();
        let mut depth = vec![0u32; n];
        let mut parent: Vec<u32> = (0..n as u32).collect();
        fn root(parent: &mut [u32], mut at: u32) -> u32 {
            while parent[at as usize] != at {
                parent[at as usize] = parent[parent[at as usize] as usize];
                at = parent[at as usize];
            }
            at
        }
        let parts_there = self.gathered.map_or(&[][..], |gathered| &gathered.parts);
        // Depths of the blocks of `gathered`: the depth of the deepest operation.
        let mut of_part = vec![0u32; parts_there.len() + 1];
        loop {
            let before = of_part.clone();
            for id in model.ids().filter(|v| !self.free[v.index()]) {
                let op = &model.node(id).op;
                let own = self.own[id.index()] as usize;
                let mut deepest = of_part[own];
                op.for_each_operand(|v| {
                    if !self.free[v.index()] {
                        deepest = deepest.max(depth[v.index()] + u32::from(!self.joined(v, (id, op))));
                    }
                });
                depth[id.index()] = deepest;
                if own > 0 {
                    of_part[own] = deepest;
                }
            }
            if of_part == before {
                break;
            }
        }
        for id in model.ids().filter(|v| !self.free[v.index()]) {
            let op = &model.node(id).op;
            op.for_each_operand(|v| {
                let one = depth[v.index()] == depth[id.index()] && self.joined(v, (id, op));
                if !self.free[v.index()] && one && self.own[id.index()] == 0 {
                    let (a, b) = (root(&mut parent, v.0), root(&mut parent, id.0));
                    parent[a.max(b) as usize] = a.min(b);
                }
            });
        }
        let mut place: FxHashMap<u32, usize> = FxHashMap::default();
        let mut members: Vec<(Vec<ValueId>, u32)> = Vec::new();
        for id in model.ids().filter(|v| !self.free[v.index()] && self.own[v.index()] == 0) {
            let block = root(&mut parent, id.0);
            let next = members.len();
            let at = *place.entry(block).or_insert(next);
            if at == next {
                members.push((Vec::new(), depth[id.index()]));
            }
            members[at].0.push(id);
        }
        let block_of: FxHashMap<ValueId, usize> =
            members.iter().enumerate().flat_map(|(at, (ids, _))| ids.iter().map(move |&v| (v, at))).collect();
        // Values that other blocks or outputs read.
        let mut outside = self.shown.clone();
        for id in model.ids() {
            let own = block_of.get(&id);
            model.node(id).op.for_each_operand(|v| outside[v.index()] |= block_of.get(&v) != own);
        }
        let found = members.into_iter().map(|(ids, depth)| (self.part(&ids, &outside), depth));
        found.chain(parts_there.iter().cloned().zip(of_part.into_iter().skip(1))).collect()
    }

    /// Returns the block of these operations in canonical order; `outside` marks the values with readers outside of it.
    pub(super) fn part(&self, ids: &[ValueId], outside: &[bool]) -> Part {
        let model = self.model;
        let inside: FxHashMap<ValueId, usize> = ids.iter().enumerate().map(|(at, &v)| (v, at)).collect();
        // `colour`: hash of an operation and its operands. `down`: the same hash, combined with those of the readers.
        let hash = |parts: &[u64]| {
            let mut hasher = FxHasher::default();
            parts.hash(&mut hasher);
            hasher.finish()
        };
        let mut colour: Vec<u64> = Vec::with_capacity(ids.len());
        for &id in ids {
            let mut parts = self.alike(id);
            model.node(id).op.for_each_operand(|v| {
                parts.push(inside.get(&v).map_or_else(|| hash(&self.leaf(v)), |&at| colour[at]));
            });
            parts.push(outside[id.index()].into());
            colour.push(hash(&parts));
        }
        let mut down = colour.clone();
        for (at, &id) in ids.iter().enumerate().rev() {
            let own = down[at];
            for (k, v) in model.node(id).op.operands().into_iter().enumerate() {
                if let Some(&below) = inside.get(&v) {
                    // The order of the readers does not matter.
                    down[below] = down[below].wrapping_add(hash(&[own, k as u64]));
                }
            }
        }
        // Depth-first from the outputs; each operation comes after its operands.
        let mut roots: Vec<usize> = (0..ids.len()).filter(|&at| outside[ids[at].index()]).collect();
        roots.sort_by_key(|&at| (down[at], at));
        let mut part = Part { order: Vec::new(), inputs: Vec::new(), outputs: Vec::new() };
        part.outputs = roots.iter().map(|&at| ids[at]).collect();
        let mut done = vec![false; ids.len()];
        let mut stack: Vec<(usize, bool)> = roots.into_iter().rev().map(|at| (at, false)).collect();
        while let Some((at, entered)) = stack.pop() {
            if done[at] {
                continue;
            }
            let operands = model.node(ids[at]).op.operands();
            if entered {
                done[at] = true;
                part.order.push(ids[at]);
                for v in operands.into_iter().filter(|v| !inside.contains_key(v) && !self.is_constant(*v)) {
                    if !part.inputs.contains(&v) {
                        part.inputs.push(v);
                    }
                }
                continue;
            }
            stack.push((at, true));
            stack.extend(operands.iter().rev().filter_map(|v| inside.get(v)).map(|&below| (below, false)));
        }
        part
    }

    fn is_constant(&self, v: ValueId) -> bool {
        matches!(self.model.node(v).op, Op::Const { .. })
    }

    fn push_kif(parts: &mut Vec<u64>, kif: Kif) {
        parts.extend([u64::from(kif.signed), kif.int as u64, kif.frac as u64]);
    }

    /// Adds the properties of an operation's result that equal blocks have in common.
    fn result(&self, id: ValueId, parts: &mut Vec<u64>) {
        let kif = self.model.kif(id);
        if self.exact[id.index()] && !self.rigid[id.index()] && !kif.is_zero() {
            parts.push(kif.frac as u64);
        } else {
            Self::push_kif(parts, kif);
        }
    }

    /// Returns the properties that equal operations have in common, without the operands.
    pub(super) fn alike(&self, id: ValueId) -> Vec<u64> {
        let mut op = self.model.node(id).op.clone();
        op.map_operands(|_| ValueId(0));
        let mut hasher = FxHasher::default();
        op.hash(&mut hasher);
        let mut parts = vec![hasher.finish()];
        self.result(id, &mut parts);
        parts
    }

    /// Returns the properties that the inputs of equal blocks have in common.
    pub(super) fn leaf(&self, v: ValueId) -> Vec<u64> {
        let kif = self.model.kif(v);
        let mut parts = vec![u64::from(self.is_constant(v))];
        if let Op::Const { value } = &self.model.node(v).op {
            let mut hasher = FxHasher::default();
            value.hash(&mut hasher);
            parts.push(hasher.finish());
            Self::push_kif(&mut parts, kif);
        } else if self.rigid[v.index()] || kif.is_zero() {
            parts.push(1);
            Self::push_kif(&mut parts, kif);
        } else {
            parts.extend([0, kif.frac as u64]);
        }
        parts
    }

    /// Returns the signature of a block: operations with their operands by position, and the properties of values.
    pub(super) fn key(&self, part: &Part) -> Key {
        if let Some(first) = part.order.first().filter(|v| self.own[v.index()] != 0) {
            // The key is unique, so this block is never merged with others.
            return (vec![first.0.into()], Vec::new());
        }
        let mut place: FxHashMap<ValueId, u32> = FxHashMap::default();
        let mut same = vec![part.inputs.len() as u64, part.outputs.len() as u64];
        let mut ops = Vec::with_capacity(part.order.len());
        for (k, &v) in part.inputs.iter().enumerate() {
            place.insert(v, k as u32);
            same.extend(self.leaf(v));
        }
        for &id in &part.order {
            let node = self.model.node(id);
            for v in node.op.operands().into_iter().filter(|&v| self.is_constant(v)) {
                let next = place.len() as u32;
                if *place.entry(v).or_insert(next) == next {
                    Self::push_kif(&mut same, self.model.kif(v));
                    ops.push(self.model.node(v).op.clone());
                }
            }
            self.result(id, &mut same);
            let mut op = node.op.clone();
            op.map_operands(|v| ValueId(place[&v]));
            ops.push(op);
            let next = place.len() as u32;
            place.insert(id, next);
        }
        same.extend(part.outputs.iter().map(|v| u64::from(place[v])));
        (same, ops)
    }

    /// Returns the program that all of these equal blocks compute, in types that include those of every block.
    fn template<'p>(&self, parts: impl Iterator<Item = &'p Part> + Clone) -> Model {
        let model = self.model;
        let first = parts.clone().next().expect("a class has an instance");
        let hull = |of: &dyn Fn(&Part) -> ValueId| {
            let kif = parts.clone().map(|part| model.kif(of(part))).reduce(around).expect("an instance");
            Interval::full(kif)
        };
        let mut b = Builder::new(vec![0; first.inputs.len()]);
        b.limits(Limits::derived());
        for table in model.tables() {
            b.table(table.clone());
        }
        let mut place: FxHashMap<ValueId, ValueId> = FxHashMap::default();
        for (k, &v) in first.inputs.iter().enumerate() {
            let interval = hull(&|part: &Part| part.inputs[k]);
            place.insert(v, b.op(Op::Input { input: k as u32 }, interval));
        }
        for (k, &id) in first.order.iter().enumerate() {
            let node = model.node(id);
            for v in node.op.operands().into_iter().filter(|&v| self.is_constant(v)) {
                place.entry(v).or_insert_with(|| b.push(model.node(v).clone()));
            }
            let mut op = node.op.clone();
            op.map_operands(|v| place[&v]);
            let interval = match self.exact[id.index()] {
                true => hull(&|part: &Part| part.order[k]),
                false => node.interval.clone(),
            };
            let made = b.push(Node { op, interval, ..node.clone() });
            place.insert(id, made);
        }
        for v in &first.outputs {
            b.output(Output { source: Some(place[v]), shift: 0, neg: false });
        }
        b.finish().unwrap_or_else(|problems| panic!("a block of a valid program is valid: {:?}", problems.first()))
    }
}

/// Returns the smallest type that includes two types with equal binary points.
pub(super) fn around(a: Kif, b: Kif) -> Kif {
    if a.is_zero() {
        return b;
    }
    if b.is_zero() {
        return a;
    }
    let top = (a.int).max(b.int);
    Kif { signed: a.signed || b.signed, int: top, frac: a.frac.max(b.frac) }
}
