//! Blocks with equal functions and different operations: equal integer rows between nonlinear operations.
//!
//! The solver for constant matrices may use different sums for one matrix at each position of an image, and may share
//! sums between neighbouring positions. Then no two parts of the program are equal graphs, although their functions are
//! equal. Between nonlinear operations, every sum that never wraps is an exact row of coefficients over its sources.
//! Outputs are instances of one block if their rows are equal up to renaming of the sources, and if equal operations
//! follow the sums. Outputs over the same sources belong to one instance if their rows together equal those of every
//! other instance. The cheapest of the graphs implements all instances.
//!
//! A row may have holes: at the edge of an image there are fewer pixels, and in a network that was trained with fewer
//! bits some values are always zero. A row with the coefficients of another instance for fewer sources is also an
//! instance, with zeros for the missing sources, if the estimate is smaller.

use super::blocks::{Class, Finder, Part, area, around};
use alir_core::ir::{Builder, Limits, Model, Node, Op, Output, ValueId};
use alir_core::num::{Interval, Kif};
use num_bigint::BigInt;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// Filling holes must reduce the estimate to less than this fraction, because optimisation reduces unshared blocks
/// below their estimate.
const SURE: f64 = 0.85;

/// Maximum number of terms that are added or compared in the search.
const WORK: u64 = 60_000_000;

/// Number `mantissa * 2^exponent`; the mantissa is odd, or both fields are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Dyadic {
    mantissa: i128,
    exponent: i32,
}

impl Dyadic {
    const ZERO: Dyadic = Dyadic { mantissa: 0, exponent: 0 };
    const ONE: Dyadic = Dyadic { mantissa: 1, exponent: 0 };

    fn new(mantissa: i128, exponent: i32) -> Dyadic {
        match mantissa {
            0 => Dyadic::ZERO,
            m => Dyadic { mantissa: m >> m.trailing_zeros(), exponent: exponent + m.trailing_zeros() as i32 },
        }
    }

    /// Returns `self + other * 2^shift`, or `self - other * 2^shift` if `neg`; `None` if the number is too large.
    fn plus(self, other: Dyadic, shift: i32, neg: bool) -> Option<Dyadic> {
        let other_exponent = other.exponent.checked_add(shift)?;
        if other.mantissa == 0 {
            return Some(self);
        }
        let exponent = if self.mantissa == 0 { other_exponent } else { self.exponent.min(other_exponent) };
        let at = |mantissa: i128, from: i32| {
            let by = from.checked_sub(exponent).filter(|by| (0..100).contains(by))?;
            mantissa.checked_mul(1i128.checked_shl(by as u32)?)
        };
        let own = if self.mantissa == 0 { 0 } else { at(self.mantissa, self.exponent)? };
        let other = at(other.mantissa, other_exponent)?;
        let sum = if neg { own.checked_sub(other)? } else { own.checked_add(other)? };
        (sum.unsigned_abs() < 1 << 100).then(|| Dyadic::new(sum, exponent))
    }
}

/// A sum as a row over numbered sources.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    /// Sources in rising order; no coefficient is zero.
    terms: Vec<(u32, Dyadic)>,
    constant: Dyadic,
}

impl Row {
    fn plus(&self, other: &Row, shift: i32, neg: bool) -> Option<Row> {
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let (source, sum) = match (a.peek(), b.peek()) {
                (None, None) => break,
                (Some(&&(s, x)), Some(&&(t, y))) if s == t => {
                    a.next();
                    b.next();
                    (s, x.plus(y, shift, neg)?)
                }
                (Some(&&(s, x)), other) if other.is_none_or(|other| s < other.0) => {
                    a.next();
                    (s, x)
                }
                (_, Some(&&(t, y))) => {
                    b.next();
                    (t, Dyadic::ZERO.plus(y, shift, neg)?)
                }
                (Some(_), None) => unreachable!("what comes alone is taken"),
            };
            if sum != Dyadic::ZERO {
                terms.push((source, sum));
            }
        }
        Some(Row { terms, constant: self.constant.plus(other.constant, shift, neg)? })
    }
}

/// An output of a block as a function of a sum, and the row of the sum.
struct RowExpansion {
    value: ValueId,
    /// Index of the function of the sum: equal for equal functions of sums with equal constants.
    like: u32,
    /// The sum's sources and coefficients.
    terms: Vec<(u32, Dyadic)>,
}

/// Rows of one instance: its outputs and their coefficients.
#[derive(Clone, Default)]
struct Instance {
    outputs: Vec<ValueId>,
    /// For each source, its coefficients, by output.
    columns: BTreeMap<u32, Coefficients>,
}

impl Instance {
    fn new(shown: &RowExpansion) -> Instance {
        let mut instance = Instance::default();
        instance.add(shown);
        instance
    }

    fn add(&mut self, shown: &RowExpansion) {
        let place = self.outputs.len() as u32;
        for &(source, c) in &shown.terms {
            self.columns.entry(source).or_default().push((place, c));
        }
        self.outputs.push(shown.value);
    }
}

/// Returns `true` if the sorted list `all` contains every entry of the sorted list `few`, with multiplicity.
fn is_within<T: Ord>(few: &[T], all: &[T]) -> bool {
    let mut all = all.iter();
    few.iter().all(|x| all.by_ref().any(|y| y == x))
}

/// Coefficients of a source, by output.
type Coefficients = Vec<(u32, Dyadic)>;
/// A column, with the required properties of its source.
type Column = (u32, Coefficients);

/// Class of blocks of one depth that are equal operation by operation. Blocks whose rows have holes may join the class.
pub(super) struct Host<'p> {
    /// The class of blocks.
    pub(super) class: Class,
    /// Blocks of the class.
    pub(super) parts: Vec<&'p Part>,
}

/// Compares the unshared blocks of one depth by their rows. Returns classes of blocks that share hardware and the rest
/// of each block, if the estimate is smaller. Some blocks may join the hosts, which are classes of the same depth.
pub(super) fn split(
    finder: &Finder<'_>,
    alone: &[&Part],
    hosts: &mut [Host<'_>],
    depth: u32,
    interval: u32,
) -> Option<Vec<Class>> {
    let hosting: Vec<&Part> = hosts.iter().flat_map(|host| host.parts.iter().copied()).collect();
    let all = (finder.zero.is_some() && !hosting.is_empty()).then(|| Search::new(finder, alone, &hosting)).flatten();
    let hosts = if all.is_some() { hosts } else { &mut [] };
    let search = all.or_else(|| Search::new(finder, alone, &[]))?;
    let mut work = WORK;
    let mut groups: Vec<Group> =
        search.groups(&mut work)?.into_iter().map(|instances| Group { instances, host: None }).collect();
    if let Some(zero) = finder.zero {
        for (number, host) in hosts.iter().enumerate() {
            let instances = host.parts.iter().map(|part| search.instance_of(part)).collect::<Option<Vec<Instance>>>();
            groups.extend(instances.map(|instances| Group { instances, host: Some(number) }));
        }
        search.fill_holes(&mut groups, (zero, depth, interval), &mut work);
    }
    let mut classes: Vec<Class> = Vec::new();
    let mut joined: Vec<(usize, Class)> = Vec::new();
    let mut covered: FxHashSet<ValueId> = FxHashSet::default();
    let (mut before, mut after) = (0.0, 0.0);
    for Group { instances, host } in &groups {
        let Some(class) = search.class(instances, depth, finder.zero) else { continue };
        let has_holes = instances.iter().any(|instance| instance.columns.len() < instances[0].columns.len());
        let taken = class.taken(interval);
        let worth = match host {
            // No block joined the host.
            Some(number) if instances.len() == hosts[*number].parts.len() => false,
            Some(_) => true,
            None => class.gains(interval) && (!has_holes || taken < search.apart(instances)),
        };
        if worth {
            after += taken;
            covered.extend(instances.iter().flat_map(|instance| &instance.outputs));
            match host {
                Some(number) => {
                    before += hosts[*number].class.taken(interval);
                    joined.push((*number, class));
                }
                None => classes.push(class),
            }
        }
    }
    if classes.is_empty() && joined.is_empty() {
        return None;
    }
    for part in alone {
        let whole = finder.class(&[(part, depth)]);
        before += area(&whole.template);
        let rest: Vec<ValueId> = part.outputs.iter().copied().filter(|v| !covered.contains(v)).collect();
        let left = match rest.len() {
            0 => continue,
            n if n == part.outputs.len() => whole,
            _ => finder.class(&[(&search.cone_of(part, &rest), depth)]),
        };
        after += area(&left.template);
        classes.push(left);
    }
    if after >= before {
        return None;
    }
    for (number, class) in joined {
        hosts[number].class = class;
    }
    Some(classes)
}

/// Instances of one block.
struct Group {
    instances: Vec<Instance>,
    /// Index of the host that the instances belong to, if any.
    host: Option<usize>,
}

struct Search<'a> {
    finder: &'a Finder<'a>,
    model: &'a Model,
    /// Operations of all blocks, each after its operands.
    order: Vec<ValueId>,
    /// Inputs of the blocks, by number.
    sources: Vec<ValueId>,
    /// For each source, an index that is equal for sources with equal required properties.
    kinds: Vec<u32>,
    rows: FxHashMap<ValueId, Row>,
    /// Outputs of unshared blocks, then those of hosts.
    outputs: Vec<ValueId>,
    /// Number of outputs of the unshared blocks.
    of_alone: usize,
    shown: FxHashMap<ValueId, RowExpansion>,
}

impl<'a> Search<'a> {
    fn new(finder: &'a Finder<'a>, alone: &[&Part], hosting: &[&Part]) -> Option<Search<'a>> {
        let model = finder.model;
        let all = || alone.iter().chain(hosting);
        let mut order: Vec<ValueId> = all().flat_map(|part| part.order.iter().copied()).collect();
        order.sort_unstable();
        let mut sources: Vec<ValueId> = all().flat_map(|part| part.inputs.iter().copied()).collect();
        sources.sort_unstable();
        sources.dedup();
        let outputs: Vec<ValueId> = all().flat_map(|part| part.outputs.iter().copied()).collect();
        let of_alone = alone.iter().map(|part| part.outputs.len()).sum();
        let mut known: FxHashMap<Vec<u64>, u32> = FxHashMap::default();
        let kind = |v: &ValueId| {
            let next = known.len() as u32;
            *known.entry(finder.leaf(*v)).or_insert(next)
        };
        let kinds = sources.iter().map(kind).collect();
        let numbers: FxHashMap<ValueId, u32> = sources.iter().copied().zip(0..).collect();
        let mut rows: FxHashMap<ValueId, Row> = FxHashMap::default();
        for (&v, &k) in &numbers {
            rows.insert(v, Row { terms: vec![(k, Dyadic::ONE)], constant: Dyadic::ZERO });
        }
        let mut work = WORK;
        for &id in order.iter().filter(|id| finder.exact[id.index()]) {
            let row = match &model.node(id).op {
                Op::Add { a, b, shift } => Self::sum(model, &rows, (*a, *b), *shift, false),
                Op::Sub { a, b, shift } => Self::sum(model, &rows, (*a, *b), *shift, true),
                Op::AddConst { x, value, shift } => {
                    let constant = value.to_i128().map(|value| Dyadic::new(value, 0));
                    constant.zip(rows.get(x)).and_then(|(constant, row)| {
                        Some(Row { constant: row.constant.plus(constant, shift.checked_neg()?, false)?, ..row.clone() })
                    })
                }
                _ => None,
            };
            if let Some(row) = row {
                work = work.checked_sub(row.terms.len() as u64 + 1)?;
                rows.insert(id, row);
            }
        }
        let shown = FxHashMap::default();
        let mut search = Search { finder, model, order, sources, kinds, rows, outputs, of_alone, shown };
        search.show();
        Some(search)
    }

    fn sum(
        model: &Model,
        rows: &FxHashMap<ValueId, Row>,
        (a, b): (ValueId, ValueId),
        shift: i32,
        neg: bool,
    ) -> Option<Row> {
        let row = |v: ValueId| match &model.node(v).op {
            Op::Const { value } => {
                let constant = Dyadic::new(value.to_i128()?, model.kif(v).frac.checked_neg()?);
                Some(Row { terms: Vec::new(), constant })
            }
            _ => rows.get(&v).cloned(),
        };
        row(a)?.plus(&row(b)?, shift, neg)
    }

    /// Returns the outputs of blocks without an equal one.
    fn alone(&self) -> impl Iterator<Item = &RowExpansion> {
        self.outputs[..self.of_alone].iter().filter_map(|value| self.shown.get(value))
    }

    /// Returns the chain of operations from a sum to an output, in a form that is independent of the sum, and the sum.
    /// Returns `None` if the operations are not a chain.
    fn chain(&self, value: ValueId) -> Option<(Vec<Vec<u64>>, ValueId)> {
        let mut chain = Vec::new();
        let mut at = value;
        while !self.rows.contains_key(&at) {
            match self.model.node(at).op {
                Op::Relu { x } | Op::Quantise { x, .. } if !self.finder.free[at.index()] => {
                    chain.push(self.finder.alike(at));
                    at = x;
                }
                _ => return None,
            }
        }
        if chain.is_empty() {
            chain.push(self.finder.leaf(value));
        }
        Some((chain, at))
    }

    /// Expands each output as a function of a sum.
    fn show(&mut self) {
        let mut numbers: FxHashMap<(Vec<Vec<u64>>, Dyadic), u32> = FxHashMap::default();
        for &value in &self.outputs {
            let Some((chain, sum)) = self.chain(value) else { continue };
            let row = &self.rows[&sum];
            let next = numbers.len() as u32;
            let like = *numbers.entry((chain, row.constant)).or_insert(next);
            self.shown.insert(value, RowExpansion { value, like, terms: row.terms.clone() });
        }
    }

    /// Returns the terms in an order that is independent of the sources.
    fn kinds_of(&self, shown: &RowExpansion) -> Vec<(u32, Dyadic)> {
        let mut terms: Vec<(u32, Dyadic)> = shown.terms.iter().map(|&(s, c)| (self.kinds[s as usize], c)).collect();
        terms.sort_unstable();
        terms
    }

    /// Returns the columns in an order that is independent of the sources.
    fn sorted(&self, columns: &BTreeMap<u32, Coefficients>) -> Vec<Column> {
        let mut all: Vec<Column> =
            columns.iter().map(|(&s, column)| (self.kinds[s as usize], column.clone())).collect();
        all.sort_unstable();
        all
    }

    /// Returns outputs with equal rows, grouped by common sources.
    fn groups(&self, work: &mut u64) -> Option<Vec<Vec<Instance>>> {
        let mut by_key: FxHashMap<(u32, Vec<(u32, Dyadic)>), usize> = FxHashMap::default();
        let mut kinds: Vec<Vec<&RowExpansion>> = Vec::new();
        for shown in self.alone() {
            let next = kinds.len();
            let at = *by_key.entry((shown.like, self.kinds_of(shown))).or_insert(next);
            if at == next {
                kinds.push(Vec::new());
            }
            kinds[at].push(shown);
        }
        // The groups with the largest weight come first.
        let weight = |kind: &[&RowExpansion]| kind.len() * kind[0].terms.len();
        let mut left: Vec<Vec<&RowExpansion>> = kinds.into_iter().filter(|kind| kind.len() > 1).collect();
        left.sort_by_key(|kind| (std::cmp::Reverse(weight(kind)), kind[0].value));
        let mut groups = Vec::new();
        while !left.is_empty() {
            let seeds = left.remove(0);
            let mut instances: Vec<Instance> = seeds.into_iter().map(Instance::new).collect();
            let mut at = 0;
            while at < left.len() {
                let joined = left[at].len() == instances.len() && self.join(&mut instances, &left[at], work)?;
                if joined {
                    left.remove(at);
                } else {
                    at += 1;
                }
            }
            groups.push(instances);
        }
        Some(groups)
    }

    /// Returns the columns of an instance with one more output, in an order that is independent of the sources.
    fn columns(&self, instance: &Instance, shown: &RowExpansion) -> Vec<Column> {
        let mut more = instance.clone();
        more.add(shown);
        self.sorted(&more.columns)
    }

    /// Adds one of these outputs to each instance, so that all instances remain equal; does nothing if that is
    /// impossible.
    fn join(&self, instances: &mut [Instance], kind: &[&RowExpansion], work: &mut u64) -> Option<bool> {
        // For each combination of coefficients that an output and an instance can have on common sources, the pairs
        // (instance, output) with this combination.
        let mut ways: FxHashMap<u64, (usize, Vec<(usize, usize)>)> = FxHashMap::default();
        for (i, instance) in instances.iter().enumerate() {
            for (j, shown) in kind.iter().enumerate() {
                let common = shown.terms.iter().filter(|(s, _)| instance.columns.contains_key(s)).count();
                *work = work.checked_sub(shown.terms.len() as u64 + 1)?;
                if 2 * common < shown.terms.len().min(instance.columns.len()) {
                    continue;
                }
                *work = work.checked_sub(4 * (shown.terms.len() + instance.columns.len()) as u64)?;
                let mut hasher = FxHasher::default();
                self.columns(instance, shown).hash(&mut hasher);
                let way = ways.entry(hasher.finish()).or_default();
                way.0 += common;
                way.1.push((i, j));
            }
        }
        let mut found: Vec<(usize, Vec<(usize, usize)>)> = ways.into_values().collect();
        found.sort_by_key(|(common, pairs)| (std::cmp::Reverse(common / pairs.len()), pairs.clone()));
        for (_, pairs) in found {
            let mut chosen: Vec<Option<usize>> = vec![None; instances.len()];
            let mut taken = vec![false; kind.len()];
            for (i, j) in pairs {
                if chosen[i].is_none() && !taken[j] {
                    chosen[i] = Some(j);
                    taken[j] = true;
                }
            }
            let Some(chosen) = chosen.into_iter().collect::<Option<Vec<usize>>>() else { continue };
            instances.iter_mut().zip(chosen).for_each(|(instance, j)| instance.add(kind[j]));
            return Some(true);
        }
        Some(false)
    }

    // ---- holes ----

    /// Returns a block as an instance; `None` if an output is not a chain of operations on a sum.
    fn instance_of(&self, part: &Part) -> Option<Instance> {
        let mut instance = Instance::default();
        for value in &part.outputs {
            instance.add(self.shown.get(value)?);
        }
        Some(instance)
    }

    /// Adds instances with holes to each group if the estimate is smaller: ungrouped outputs, and whole groups. The
    /// groups with the most sources come first.
    fn fill_holes(&self, groups: &mut Vec<Group>, (zero, depth, interval): (ValueId, u32, u32), work: &mut u64) {
        let mut likes: FxHashMap<u32, Vec<&RowExpansion>> = FxHashMap::default();
        for shown in self.alone().filter(|shown| !shown.terms.is_empty()) {
            likes.entry(shown.like).or_default().push(shown);
        }
        let grouped: FxHashSet<ValueId> =
            groups.iter().flat_map(|group| &group.instances).flat_map(|i| i.outputs.iter().copied()).collect();
        // Ungrouped outputs may have rows of a group with holes.
        let left = self.alone().filter(|shown| !shown.terms.is_empty() && !grouped.contains(&shown.value));
        groups.extend(left.map(|shown| Group { instances: vec![Instance::new(shown)], host: None }));
        let reads = |group: &Group| group.instances[0].columns.values().map(Vec::len).sum::<usize>();
        groups.sort_by_key(|group| (std::cmp::Reverse(reads(group)), group.instances[0].outputs[0]));
        let mut owner: FxHashMap<ValueId, usize> = FxHashMap::default();
        for (at, group) in groups.iter().enumerate() {
            owner.extend(group.instances.iter().flat_map(|instance| &instance.outputs).map(|&v| (v, at)));
        }
        for at in 0..groups.len() {
            if groups[at].instances.is_empty() {
                continue;
            }
            let like = &groups[at].instances[0];
            let Some(found) = self.with_holes(like, &|v| owner[&v] != at, &likes, work) else { break };
            // Complete groups, with their own estimates.
            let mut of_group: BTreeMap<usize, Vec<Instance>> = BTreeMap::new();
            for instance in found {
                of_group.entry(owner[&instance.outputs[0]]).or_default().push(instance);
            }
            let taken = |group: &[Instance]| {
                let class = self.class(group, depth, Some(zero)).filter(|class| class.gains(interval));
                class.map(|class| class.taken(interval))
            };
            let mut more: Vec<Instance> = Vec::new();
            let mut apart = 0.0;
            let mut absorbed: Vec<usize> = Vec::new();
            for (other, instances) in of_group {
                let outputs: usize = instances.iter().map(|instance| instance.outputs.len()).sum();
                // Further outputs of these instances may belong to other groups; `members` has the groups of all
                // outputs.
                let members: FxHashSet<usize> =
                    instances.iter().flat_map(|i| i.outputs.iter().map(|v| owner[v])).collect();
                let all = |&m: &usize| groups[m].instances.iter().map(|i| i.outputs.len()).sum::<usize>();
                if members.iter().map(all).sum::<usize>() != outputs || members.iter().any(|m| absorbed.contains(m)) {
                    continue;
                }
                apart += taken(&groups[other].instances)
                    .filter(|_| members.len() == 1)
                    .unwrap_or_else(|| self.apart(&instances));
                absorbed.extend(members);
                more.extend(instances);
            }
            if more.is_empty() {
                continue;
            }
            let own = &groups[at].instances;
            let before = taken(own).unwrap_or_else(|| self.apart(own)) + apart;
            let together = [&own[..], &more].concat();
            if taken(&together).is_some_and(|after| after < SURE * before) {
                owner.extend(more.iter().flat_map(|instance| &instance.outputs).map(|&v| (v, at)));
                groups[at].instances = together;
                for other in absorbed {
                    groups[other].instances.clear();
                }
            }
        }
        groups.retain(|group| group.instances.len() > 1);
    }

    /// Returns instances, built from outputs of other groups, whose rows equal those of `like` with holes. Returns
    /// `None` if the budget is exhausted.
    fn with_holes(
        &self,
        like: &Instance,
        is_other: &dyn Fn(ValueId) -> bool,
        likes: &FxHashMap<u32, Vec<&RowExpansion>>,
        work: &mut u64,
    ) -> Option<Vec<Instance>> {
        // For each output, the candidates for its rows with holes, and the columns up to it.
        let mut candidates: Vec<Vec<&RowExpansion>> = Vec::with_capacity(like.outputs.len());
        let mut prefixes: Vec<Vec<Column>> = Vec::with_capacity(like.outputs.len());
        let mut upto = Instance::default();
        for value in &like.outputs {
            let whole = self.shown.get(value)?;
            let all = self.kinds_of(whole);
            let mut here = Vec::new();
            for &other in likes.get(&whole.like).into_iter().flatten().filter(|other| is_other(other.value)) {
                *work = work.checked_sub(other.terms.len() as u64 + 1)?;
                if is_within(&self.kinds_of(other), &all) {
                    here.push(other);
                }
            }
            candidates.push(here);
            upto.add(whole);
            prefixes.push(self.sorted(&upto.columns));
        }
        let mut used: FxHashSet<ValueId> = FxHashSet::default();
        let mut found = Vec::new();
        for seed in &candidates[0] {
            if used.contains(&seed.value) {
                continue;
            }
            let mut instance = Instance::new(seed);
            for (candidates, prefix) in candidates.iter().zip(&prefixes).skip(1) {
                let mut best: Option<(usize, &RowExpansion)> = None;
                let is_left = |v: &ValueId| !used.contains(v) && !instance.outputs.contains(v);
                for &other in candidates.iter().filter(|other| is_left(&other.value)) {
                    let common = other.terms.iter().filter(|(s, _)| instance.columns.contains_key(s)).count();
                    *work = work.checked_sub(other.terms.len() as u64 + 1)?;
                    if common == 0 || best.is_some_and(|(most, _)| most >= common) {
                        continue;
                    }
                    *work = work.checked_sub(4 * (other.terms.len() + instance.columns.len()) as u64)?;
                    if is_within(&self.columns(&instance, other), prefix) {
                        best = Some((common, other));
                    }
                }
                let Some((_, other)) = best else { break };
                instance.add(other);
            }
            if instance.outputs.len() == like.outputs.len() {
                used.extend(&instance.outputs);
                found.push(instance);
            }
        }
        Some(found)
    }

    /// Returns the estimated LUTs of unshared instances.
    fn apart(&self, instances: &[Instance]) -> f64 {
        let one = |instance: &Instance| {
            let order = self.cone(&instance.outputs);
            let inside: FxHashSet<ValueId> = order.iter().copied().collect();
            let mut inputs: Vec<ValueId> = Vec::new();
            for &id in &order {
                self.model.node(id).op.for_each_operand(|v| {
                    if !inside.contains(&v) && !matches!(self.model.node(v).op, Op::Const { .. }) {
                        inputs.push(v);
                    }
                });
            }
            inputs.sort_unstable();
            inputs.dedup();
            let part = Part { order, inputs, outputs: instance.outputs.clone() };
            area(&self.finder.class(&[(&part, 0)]).template)
        };
        instances.iter().map(one).sum()
    }

    /// Returns equal rows as a class of blocks. The first instance has no holes; the missing sources of the others are
    /// `zero`.
    fn class(&self, group: &[Instance], depth: u32, zero: Option<ValueId>) -> Option<Class> {
        let sorted = |instance: &Instance| {
            let column = |(&s, column): (&u32, &Coefficients)| (self.kinds[s as usize], column.clone(), s);
            let mut all: Vec<_> = instance.columns.iter().map(column).collect();
            all.sort_unstable();
            all
        };
        let first = sorted(&group[0]);
        // For each column of the first instance, the source with that column.
        let read = |instance: &Instance| -> Option<Vec<ValueId>> {
            let mut own = sorted(instance).into_iter().peekable();
            let mut read = Vec::with_capacity(first.len());
            for (kind, column, _) in &first {
                let source = own.next_if(|(k, c, _)| (k, c) == (kind, column));
                read.push(source.map_or(zero, |(_, _, s)| Some(self.sources[s as usize]))?);
            }
            own.next().is_none().then_some(read)
        };
        let inputs: Vec<Vec<ValueId>> = group.iter().map(read).collect::<Option<_>>()?;
        let hull: Vec<Kif> = (0..first.len())
            .map(|k| inputs.iter().map(|read| self.model.kif(read[k])).reduce(around).expect("an instance"))
            .collect();
        let whole = group.iter().zip(&inputs).filter(|(instance, _)| instance.columns.len() == first.len());
        let templates = whole.filter_map(|(instance, read)| self.template(instance, read, &hull));
        let cheapest = templates.min_by(|a, b| area(a).total_cmp(&area(b)))?;
        let instances = inputs.into_iter().zip(group).map(|(read, instance)| (read, instance.outputs.clone()));
        Some(Class {
            template: cheapest,
            instances: instances.collect(),
            depths: vec![depth; group.len()],
            by_rows: true,
            kept: false,
        })
    }

    /// Returns the operations of a block that these outputs depend on.
    fn cone(&self, outputs: &[ValueId]) -> Vec<ValueId> {
        let inside: FxHashSet<ValueId> = self.order.iter().copied().collect();
        let mut wanted: FxHashSet<ValueId> = outputs.iter().copied().collect();
        for &id in self.order.iter().rev() {
            if wanted.contains(&id) {
                self.model.node(id).op.for_each_operand(|v| {
                    if inside.contains(&v) {
                        wanted.insert(v);
                    }
                });
            }
        }
        self.order.iter().copied().filter(|id| wanted.contains(id)).collect()
    }

    /// Returns a block with some of the outputs of another block.
    fn cone_of(&self, part: &Part, outputs: &[ValueId]) -> Part {
        let order = self.cone(outputs);
        let mut read: FxHashSet<ValueId> = FxHashSet::default();
        for &id in &order {
            self.model.node(id).op.for_each_operand(|v| {
                read.insert(v);
            });
        }
        let inputs = part.inputs.iter().copied().filter(|v| read.contains(v)).collect();
        Part { order, inputs, outputs: outputs.to_vec() }
    }

    /// Returns the graph of an instance for inputs of these types.
    fn template(&self, instance: &Instance, inputs: &[ValueId], hull: &[Kif]) -> Option<Model> {
        let model = self.model;
        let mut b = Builder::new(vec![0; inputs.len()]);
        b.limits(Limits::derived());
        for table in model.tables() {
            b.table(table.clone());
        }
        let mut place: FxHashMap<ValueId, ValueId> = FxHashMap::default();
        let mut types: FxHashMap<u32, Kif> = FxHashMap::default();
        let numbers: FxHashMap<ValueId, u32> = self.sources.iter().copied().zip(0..).collect();
        for (k, &v) in inputs.iter().enumerate() {
            place.insert(v, b.op(Op::Input { input: k as u32 }, Interval::full(hull[k])));
            types.insert(numbers[&v], hull[k]);
        }
        for id in self.cone(&instance.outputs) {
            let node = model.node(id);
            for v in node.op.operands() {
                if matches!(model.node(v).op, Op::Const { .. }) {
                    place.entry(v).or_insert_with(|| b.push(model.node(v).clone()));
                }
            }
            let mut op = node.op.clone();
            let mut known = true;
            // A source that cancels out is not an input of the instance.
            op.for_each_operand(|v| known &= place.contains_key(&v));
            if !known {
                return None;
            }
            op.map_operands(|v| place[&v]);
            let interval = match self.rows.get(&id) {
                Some(row) => Self::bounds(row, &types, model.kif(id).frac)?,
                None => node.interval.clone(),
            };
            let made = b.push(Node { op, interval, ..node.clone() });
            place.insert(id, made);
        }
        for v in &instance.outputs {
            b.output(Output { source: Some(*place.get(v)?), shift: 0, neg: false });
        }
        b.finish().ok()
    }

    /// Returns the least and the greatest value of a row over sources of these types.
    fn bounds(row: &Row, types: &FxHashMap<u32, Kif>, frac: i32) -> Option<Interval> {
        let scaled = |c: Dyadic, exponent: i32| {
            let by = u64::try_from(i64::from(c.exponent) + i64::from(exponent)).ok()?;
            Some(BigInt::from(c.mantissa) << by)
        };
        let constant = if row.constant == Dyadic::ZERO { BigInt::ZERO } else { scaled(row.constant, frac)? };
        let (mut min, mut max) = (constant.clone(), constant);
        for &(source, c) in &row.terms {
            let kif = types.get(&source)?;
            let by = scaled(c, frac.checked_sub(kif.frac)?)?;
            let (one, other) = (&by * kif.min_code(), &by * kif.max_code());
            let (low, high) = if one <= other { (one, other) } else { (other, one) };
            min += low;
            max += high;
        }
        Some(Interval::new(min, max, frac))
    }
}
