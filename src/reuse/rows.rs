//! Blocks that compute the same by other operations: equal rows of integers between what is not linear.
//!
//! A solver makes other sums of the same matrix at each place of an image, and sums that two places have in common are
//! made once; then no two parts of the program are equal as graphs. What they compute still is: between operations that
//! are not linear every sum that never wraps is an exact row of coefficients over what is read. Outputs whose rows are
//! equal but for the names of the sources, and which the same operations follow, are instances of one block; outputs
//! over the same sources come together if their rows do together what those of every other instance do. The cheapest
//! of the graphs serves all.

use super::blocks::{Class, Finder, Part, area, around};
use crate::ir::{Builder, Limits, Model, Node, Op, Output, ValueId};
use crate::num::{Interval, Kif};
use num_bigint::BigInt;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// Terms that are added or compared before the search gives up.
const WORK: u64 = 60_000_000;

/// A number `mantissa * 2^exponent`; the mantissa is odd, or both are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Dyadic {
    mantissa: i128,
    exponent: i32,
}

impl Dyadic {
    const ZERO: Dyadic = Dyadic { mantissa: 0, exponent: 0 };
    const ONE: Dyadic = Dyadic { mantissa: 1, exponent: 0 };

    fn of(mantissa: i128, exponent: i32) -> Dyadic {
        match mantissa {
            0 => Dyadic::ZERO,
            m => Dyadic { mantissa: m >> m.trailing_zeros(), exponent: exponent + m.trailing_zeros() as i32 },
        }
    }

    /// `self + other * 2^shift`, negated first if `neg`; nothing if that is no number of a size that occurs.
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
        (sum.unsigned_abs() < 1 << 100).then(|| Dyadic::of(sum, exponent))
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

/// An output of a block: the operations behind its sum, and that.
struct Shown {
    value: ValueId,
    base: ValueId,
}

/// Equal rows that are seen together.
struct Instance {
    outputs: Vec<ValueId>,
    /// For each source the coefficients that it has, by output.
    columns: BTreeMap<u32, Coefficients>,
}

/// Coefficients of a source, by output.
type Coefficients = Vec<(u32, Dyadic)>;
/// A column with what must be the same of its source.
type Column = (u32, Coefficients);

/// Blocks of one depth that no others are equal to, looked at by their rows: classes of blocks that share, and what is
/// left of each block, if that is estimated to take less than the blocks as they are.
pub(super) fn split(finder: &Finder<'_>, alone: &[&Part], depth: u32, interval: u32) -> Option<Vec<Class>> {
    let search = Search::new(finder, alone)?;
    let mut work = WORK;
    let groups = search.groups(&mut work)?;
    let mut classes: Vec<Class> = Vec::new();
    let mut covered: FxHashSet<ValueId> = FxHashSet::default();
    for group in &groups {
        let Some(class) = search.class(group, depth) else { continue };
        if class.gains(interval) {
            covered.extend(group.iter().flat_map(|instance| &instance.outputs));
            classes.push(class);
        }
    }
    if classes.is_empty() {
        return None;
    }
    let mut before = 0.0;
    let mut after: f64 = classes.iter().map(|class| class.taken(interval)).sum();
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
    (after < before).then_some(classes)
}

struct Search<'a> {
    finder: &'a Finder<'a>,
    model: &'a Model,
    /// Operations of all blocks, each after its operands.
    order: Vec<ValueId>,
    /// What the blocks read, by number.
    sources: Vec<ValueId>,
    /// For each source, a number that is the same where the same must be known of it.
    kinds: Vec<u32>,
    rows: FxHashMap<ValueId, Row>,
    outputs: Vec<ValueId>,
}

impl<'a> Search<'a> {
    fn new(finder: &'a Finder<'a>, alone: &[&Part]) -> Option<Search<'a>> {
        let model = finder.model;
        let mut order: Vec<ValueId> = alone.iter().flat_map(|part| part.order.iter().copied()).collect();
        order.sort_unstable();
        let mut sources: Vec<ValueId> = alone.iter().flat_map(|part| part.inputs.iter().copied()).collect();
        sources.sort_unstable();
        sources.dedup();
        let outputs: Vec<ValueId> = alone.iter().flat_map(|part| part.outputs.iter().copied()).collect();
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
                Op::Add { a, b, shift } => Self::sum(&rows, *a, *b, *shift, false),
                Op::Sub { a, b, shift } => Self::sum(&rows, *a, *b, *shift, true),
                Op::AddConst { x, value, shift } => {
                    let constant = value.to_i128().map(|value| Dyadic::of(value, 0));
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
        Some(Search { finder, model, order, sources, kinds, rows, outputs })
    }

    fn sum(rows: &FxHashMap<ValueId, Row>, a: ValueId, b: ValueId, shift: i32, neg: bool) -> Option<Row> {
        rows.get(&a)?.plus(rows.get(&b)?, shift, neg)
    }

    /// What follows the sum that an output shows; nothing if that is no chain of operations on one sum.
    fn shown(&self, value: ValueId) -> Option<(Shown, Vec<Vec<u64>>)> {
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
        Some((Shown { value, base: at }, chain))
    }

    /// Outputs with equal rows, gathered over the same sources.
    fn groups(&self, work: &mut u64) -> Option<Vec<Vec<Instance>>> {
        type Key = (Vec<Vec<u64>>, Dyadic, Vec<(u32, Dyadic)>);
        let mut by_key: FxHashMap<Key, usize> = FxHashMap::default();
        let mut kinds: Vec<Vec<Shown>> = Vec::new();
        for &value in &self.outputs {
            let Some((shown, chain)) = self.shown(value) else { continue };
            let row = &self.rows[&shown.base];
            let mut terms: Vec<(u32, Dyadic)> = row.terms.iter().map(|&(s, c)| (self.kinds[s as usize], c)).collect();
            terms.sort_unstable();
            let next = kinds.len();
            let at = *by_key.entry((chain, row.constant, terms)).or_insert(next);
            if at == next {
                kinds.push(Vec::new());
            }
            kinds[at].push(shown);
        }
        // What weighs most is looked at first.
        let weight = |kind: &[Shown]| kind.len() * self.rows[&kind[0].base].terms.len();
        let mut left: Vec<Vec<Shown>> = kinds.into_iter().filter(|kind| kind.len() > 1).collect();
        left.sort_by_key(|kind| (std::cmp::Reverse(weight(kind)), kind[0].value));
        let mut groups = Vec::new();
        while !left.is_empty() {
            let seeds = left.remove(0);
            let mut instances: Vec<Instance> = seeds.iter().map(|shown| self.instance(shown)).collect();
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

    fn instance(&self, shown: &Shown) -> Instance {
        let columns = self.rows[&shown.base].terms.iter().map(|&(s, c)| (s, vec![(0, c)])).collect();
        Instance { outputs: vec![shown.value], columns }
    }

    /// The columns that an instance would have with one output more, in an order that forgets the sources.
    fn columns(&self, instance: &Instance, row: &Row) -> Vec<Column> {
        let place = instance.outputs.len() as u32;
        let mut columns = instance.columns.clone();
        for &(source, c) in &row.terms {
            columns.entry(source).or_default().push((place, c));
        }
        let mut all: Vec<Column> = columns.into_iter().map(|(s, column)| (self.kinds[s as usize], column)).collect();
        all.sort_unstable();
        all
    }

    /// Gives each instance one of these outputs, so that all are still equal; not if there is no such way.
    fn join(&self, instances: &mut [Instance], kind: &[Shown], work: &mut u64) -> Option<bool> {
        // For each way in which an output may lie to an instance, the pairs that lie so.
        let mut ways: FxHashMap<u64, (usize, Vec<(usize, usize)>)> = FxHashMap::default();
        for (i, instance) in instances.iter().enumerate() {
            for (j, shown) in kind.iter().enumerate() {
                let row = &self.rows[&shown.base];
                let common = row.terms.iter().filter(|(s, _)| instance.columns.contains_key(s)).count();
                *work = work.checked_sub(row.terms.len() as u64 + 1)?;
                if 2 * common < row.terms.len().min(instance.columns.len()) {
                    continue;
                }
                *work = work.checked_sub(4 * (row.terms.len() + instance.columns.len()) as u64)?;
                let mut hasher = FxHasher::default();
                self.columns(instance, row).hash(&mut hasher);
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
            for (instance, j) in instances.iter_mut().zip(chosen) {
                let place = instance.outputs.len() as u32;
                for &(source, c) in &self.rows[&kind[j].base].terms {
                    instance.columns.entry(source).or_default().push((place, c));
                }
                instance.outputs.push(kind[j].value);
            }
            return Some(true);
        }
        Some(false)
    }

    /// Equal rows as a class of blocks.
    fn class(&self, group: &[Instance], depth: u32) -> Option<Class> {
        let sorted = |instance: &Instance| {
            let column = |(&s, column): (&u32, &Coefficients)| (self.kinds[s as usize], column.clone(), s);
            let mut all: Vec<_> = instance.columns.iter().map(column).collect();
            all.sort_unstable();
            all
        };
        let instances: Vec<Vec<(u32, Coefficients, u32)>> = group.iter().map(sorted).collect();
        let bare = |columns: &[(u32, Coefficients, u32)]| -> Vec<Column> {
            columns.iter().map(|(kind, column, _)| (*kind, column.clone())).collect()
        };
        let first = bare(&instances[0]);
        if instances.iter().any(|columns| bare(columns) != first) {
            return None;
        }
        let inputs: Vec<Vec<ValueId>> = instances
            .iter()
            .map(|columns| columns.iter().map(|(_, _, s)| self.sources[*s as usize]).collect())
            .collect();
        let hull: Vec<Kif> = (0..first.len())
            .map(|k| inputs.iter().map(|read| self.model.kif(read[k])).reduce(around).expect("an instance"))
            .collect();
        let templates = group.iter().zip(&inputs).filter_map(|(instance, read)| self.template(instance, read, &hull));
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

    /// What these outputs of a block take of it.
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

    /// A block of these outputs of another.
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

    /// The graph of an instance for inputs of these types.
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
            // A source that cancels out is none of the instance's inputs.
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

    /// Least and greatest value of a row over sources of these types.
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
