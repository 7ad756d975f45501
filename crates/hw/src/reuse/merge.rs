//! Merging of blocks that feed each other, where that reduces the estimated logic.
//!
//! Shared units have multiplexers at their inputs. A value between two blocks needs no multiplexer if the blocks are
//! merged. Example: the windows of a convolution and the maxima over four windows are two groups, whose units select
//! among all pixels and all windows. A block of four windows and their maximum selects among pixels only, and
//! neighbouring windows have pixels in common. Larger blocks can leave units idle (25 blocks every 8 cycles need 4
//! units, although 3.1 would suffice), so some blocks may remain unmerged.
//!
//! A step takes one or two classes of equal blocks and merges the blocks that values from the first class to the second
//! connect. The search repeats the step that saves most, until no step saves anything.

use super::blocks::{Finder, Key, Part, choices, operation_area};
use alir_core::ir::ValueId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// Budget of the search: operations and inputs of larger blocks that it examines.
const WORK: usize = 6_000_000;

/// Maximum number of kinds of larger blocks in a step; the most frequent kinds are kept.
const KINDS: usize = 8;

/// Minimum number of estimated LUTs that a step must save.
const WORTH: f64 = 1.0;

/// Returns these blocks with their depths, merged where that reduces the estimate; in the order of their first
/// operation.
pub(super) fn merged(finder: &Finder<'_>, parts: Vec<(Part, u32)>, interval: u32) -> Vec<(Part, u32)> {
    let mut search = Search::new(finder, &parts, interval);
    let mut any = false;
    while search.step().unwrap_or(false) {
        any = true;
    }
    if any { search.finish() } else { parts }
}

/// Block of the current partition.
struct Block {
    part: Part,
    class: usize,
    area: f64,
}

/// Replacement of blocks by larger blocks.
#[derive(Clone)]
struct Step {
    /// Estimated LUTs that the step saves.
    saved: f64,
    /// Larger blocks, each with the indices of the blocks that it replaces.
    made: Vec<(Part, Vec<usize>)>,
}

struct Search<'a> {
    finder: &'a Finder<'a>,
    interval: u32,
    /// Readers of each value.
    readers: Vec<Vec<ValueId>>,
    /// Blocks by index; `None` for a block that was merged into a larger one.
    blocks: Vec<Option<Block>>,
    /// Index of the block that computes each value.
    owner: FxHashMap<ValueId, usize>,
    by_key: FxHashMap<Key, usize>,
    /// Blocks of each class.
    members: Vec<Vec<usize>>,
    /// Number of changes of each class's blocks.
    versions: Vec<u32>,
    /// Best step for each pair of classes, with the versions of the classes.
    steps: BTreeMap<(usize, usize), VersionedStep>,
    work: usize,
}

/// Step of two classes, `None` if no step saves enough, with the versions of the classes.
type VersionedStep = ((u32, u32), Option<Step>);
/// Equal larger blocks, each with the indices of the blocks that it consists of.
type Kind = Vec<(Part, Vec<usize>)>;

impl<'a> Search<'a> {
    fn new(finder: &'a Finder<'a>, parts: &[(Part, u32)], interval: u32) -> Search<'a> {
        let model = finder.model;
        let mut readers = vec![Vec::new(); model.nodes().len()];
        for id in model.ids() {
            model.node(id).op.for_each_operand(|v| readers[v.index()].push(id));
        }
        let mut search = Search {
            finder,
            interval,
            readers,
            blocks: Vec::new(),
            owner: FxHashMap::default(),
            by_key: FxHashMap::default(),
            members: Vec::new(),
            versions: Vec::new(),
            steps: BTreeMap::new(),
            work: WORK,
        };
        parts.iter().for_each(|(part, _)| search.add(part.clone()));
        search
    }

    fn area(&self, part: &Part) -> f64 {
        part.order.iter().map(|&id| operation_area(self.finder.model, id)).sum()
    }

    fn add(&mut self, part: Part) {
        let number = self.blocks.len();
        self.owner.extend(part.order.iter().map(|&v| (v, number)));
        let next = self.members.len();
        let class = *self.by_key.entry(self.finder.key(&part)).or_insert(next);
        if class == next {
            self.members.push(Vec::new());
            self.versions.push(0);
        }
        self.members[class].push(number);
        self.versions[class] += 1;
        let area = self.area(&part);
        self.blocks.push(Some(Block { part, class, area }));
    }

    fn remove(&mut self, number: usize) {
        if let Some(block) = self.blocks[number].take() {
            self.members[block.class].retain(|&other| other != number);
            self.versions[block.class] += 1;
        }
    }

    fn block(&self, number: usize) -> &Block {
        self.blocks[number].as_ref().expect("blocks of a class are there")
    }

    /// Returns the blocks that a block reads, once for each input.
    fn read_by<'s>(&'s self, part: &'s Part) -> impl Iterator<Item = usize> + 's {
        part.inputs.iter().filter_map(|v| self.owner.get(v).copied())
    }

    /// Applies the step that saves most. Returns `true` if such a step exists, and `None` if the budget is exhausted.
    fn step(&mut self) -> Option<bool> {
        let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
        for block in self.blocks.iter().flatten().filter(|block| self.members[block.class].len() > 1) {
            let makers = self.read_by(&block.part).map(|maker| self.block(maker).class);
            pairs.extend(makers.filter(|&class| self.members[class].len() > 1).map(|class| (class, block.class)));
        }
        let mut best: Vec<((usize, usize), f64)> = Vec::new();
        for pair in pairs {
            let versions = (self.versions[pair.0], self.versions[pair.1]);
            if self.steps.get(&pair).is_none_or(|(of, _)| *of != versions) {
                let step = self.step_of(pair)?;
                self.steps.insert(pair, (versions, step));
            }
            if let Some(step) = &self.steps[&pair].1 {
                best.push((pair, step.saved));
            }
        }
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        for (pair, _) in best {
            let Some(step) = self.steps.get_mut(&pair).and_then(|(_, step)| step.take()) else { continue };
            // A step is invalid if blocks would depend on their own outputs.
            if self.depths(&step.made).is_some() {
                for (part, of) in step.made {
                    of.into_iter().for_each(|number| self.remove(number));
                    self.add(part);
                }
                return Some(true);
            }
        }
        Some(false)
    }

    fn spend(&mut self, work: usize) -> Option<()> {
        self.work = self.work.checked_sub(work)?;
        Some(())
    }

    /// Returns the best step of two classes; the inner `None` if no step saves enough, the outer `None` if the budget
    /// is exhausted.
    fn step_of(&mut self, (from, to): (usize, usize)) -> Option<Option<Step>> {
        let mut kinds = self.kinds(from, to)?;
        kinds.retain(|kind| kind.len() > 1);
        kinds.sort_by_key(|kind| (std::cmp::Reverse(kind.len()), kind[0].1[0]));
        kinds.truncate(KINDS);
        if kinds.is_empty() {
            return Some(None);
        }
        let interval = self.interval as usize;
        let none = vec![0; kinds.len()];
        let before = self.cost_with((from, to), &kinds, &none)?;
        let mut best = (before, none.clone());
        // Two starting points: no larger blocks, and all of them. For each kind, try all, as many as fill units, or
        // none.
        for start in [none, kinds.iter().map(Vec::len).collect()] {
            let mut taken: Vec<usize> = start;
            let mut cost = self.cost_with((from, to), &kinds, &taken)?;
            for k in 0..kinds.len() {
                let all = kinds[k].len();
                for count in [all, all / interval * interval, 0] {
                    let old = std::mem::replace(&mut taken[k], count);
                    let new = if old == count { cost } else { self.cost_with((from, to), &kinds, &taken)? };
                    if new < cost {
                        cost = new;
                    } else {
                        taken[k] = old;
                    }
                }
            }
            if cost < best.0 {
                best = (cost, taken);
            }
        }
        let (after, taken) = best;
        if before - after < WORTH {
            return Some(None);
        }
        let made = kinds.into_iter().zip(taken).flat_map(|(kind, count)| kind.into_iter().take(count));
        Some(Some(Step { saved: before - after, made: made.collect() }))
    }

    /// Returns the sets of blocks that values from one class to another connect, merged and grouped by equality.
    fn kinds(&mut self, from: usize, to: usize) -> Option<Vec<Kind>> {
        let mut parent: BTreeMap<usize, usize> = BTreeMap::new();
        fn root(parent: &mut BTreeMap<usize, usize>, mut at: usize) -> usize {
            let above = |parent: &BTreeMap<usize, usize>, at: usize| parent.get(&at).copied().unwrap_or(at);
            while above(parent, at) != at {
                let next = above(parent, above(parent, at));
                parent.insert(at, next);
                at = next;
            }
            at
        }
        for &number in &self.members[to] {
            for maker in self.read_by(&self.block(number).part) {
                if maker != number && self.block(maker).class == from {
                    let (a, b) = (root(&mut parent, maker), root(&mut parent, number));
                    parent.entry(a).or_insert(a);
                    parent.entry(b).or_insert(b);
                    parent.insert(a.max(b), a.min(b));
                }
            }
        }
        let mut together: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for number in parent.keys().copied().collect::<Vec<_>>() {
            together.entry(root(&mut parent, number)).or_default().push(number);
        }
        let mut outside = vec![false; self.finder.model.nodes().len()];
        self.spend(outside.len() / 16)?;
        let mut by_key: FxHashMap<Key, usize> = FxHashMap::default();
        let mut kinds: Vec<Kind> = Vec::new();
        for numbers in together.into_values() {
            let mut ids: Vec<ValueId> =
                numbers.iter().flat_map(|&number| self.block(number).part.order.iter().copied()).collect();
            ids.sort_unstable();
            self.spend(4 * ids.len())?;
            let inside: FxHashSet<ValueId> = ids.iter().copied().collect();
            for &v in &ids {
                let read_outside = || self.readers[v.index()].iter().any(|reader| !inside.contains(reader));
                outside[v.index()] = self.finder.shown[v.index()] || read_outside();
            }
            let part = self.finder.part(&ids, &outside);
            let next = kinds.len();
            let kind = *by_key.entry(self.finder.key(&part)).or_insert(next);
            if kind == next {
                kinds.push(Vec::new());
            }
            kinds[kind].push((part, numbers));
        }
        Some(kinds)
    }

    /// Returns the estimated LUTs of two classes if `counts` larger blocks of each kind replace their blocks.
    fn cost_with(&mut self, (from, to): (usize, usize), kinds: &[Kind], counts: &[usize]) -> Option<f64> {
        let mut gone: FxHashSet<usize> = FxHashSet::default();
        let (mut cost, mut work) = (0.0, 0);
        for (kind, &count) in kinds.iter().zip(counts) {
            gone.extend(kind[..count].iter().flat_map(|(_, numbers)| numbers));
            let parts: Vec<(&Part, f64)> =
                kind[..count].iter().map(|(part, numbers)| (part, self.area_of(numbers))).collect();
            cost += self.cost(&parts, &mut work);
        }
        for class in BTreeSet::from([from, to]) {
            let left = self.members[class].iter().filter(|number| !gone.contains(number));
            let parts: Vec<(&Part, f64)> =
                left.map(|&number| (&self.block(number).part, self.block(number).area)).collect();
            cost += self.cost(&parts, &mut work);
        }
        self.spend(work)?;
        Some(cost)
    }

    fn area_of(&self, numbers: &[usize]) -> f64 {
        numbers.iter().map(|&number| self.block(number).area).sum()
    }

    /// Returns the estimated LUTs of equal blocks with these areas: the minimum of shared units with multiplexers, and
    /// of separate blocks.
    fn cost(&self, parts: &[(&Part, f64)], work: &mut usize) -> f64 {
        let Some((first, _)) = parts.first() else { return 0.0 };
        *work += parts.len() * first.inputs.len();
        let model = self.finder.model;
        let (n, area) = (parts.len(), parts.iter().map(|(_, area)| *area).fold(0.0, f64::max));
        let units = n.div_ceil(self.interval as usize);
        let width = |k: usize| parts.iter().map(|(part, _)| model.kif(part.inputs[k]).width()).max().unwrap_or(0);
        let widths: Vec<u32> = (0..first.inputs.len()).map(width).collect();
        let alone = area * n as f64;
        if units == n {
            return alone;
        }
        alone.min((area + choices(&widths, n, units, |i, k| parts[i].0.inputs[k])) * units as f64)
    }

    /// Returns the depth of each block, in blocks of the longest chain before it, if these larger blocks replace
    /// others. Returns `None` if blocks would depend on each other in a cycle.
    fn depths(&self, made: &[(Part, Vec<usize>)]) -> Option<Vec<u32>> {
        let mut one: Vec<usize> = (0..self.blocks.len()).collect();
        for (_, numbers) in made {
            numbers.iter().for_each(|&number| one[number] = numbers[0]);
        }
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); self.blocks.len()];
        let mut waits = vec![0usize; self.blocks.len()];
        for (number, block) in self.blocks.iter().enumerate() {
            let Some(block) = block else { continue };
            for maker in self.read_by(&block.part).filter(|&maker| one[maker] != one[number]) {
                readers[one[maker]].push(one[number]);
                waits[one[number]] += 1;
            }
        }
        let there = |number: &usize| self.blocks[*number].is_some() && one[*number] == *number;
        let mut ready: Vec<usize> = (0..self.blocks.len()).filter(there).filter(|&number| waits[number] == 0).collect();
        let mut left = (0..self.blocks.len()).filter(there).count();
        let mut depths = vec![0; self.blocks.len()];
        while let Some(number) = ready.pop() {
            left -= 1;
            for &reader in &readers[number] {
                depths[reader] = depths[reader].max(depths[number] + 1);
                waits[reader] -= 1;
                if waits[reader] == 0 {
                    ready.push(reader);
                }
            }
        }
        (left == 0).then_some(depths)
    }

    fn finish(self) -> Vec<(Part, u32)> {
        let depths = self.depths(&[]).expect("no step makes blocks wait for each other");
        let there = self.blocks.into_iter().zip(depths).filter_map(|(block, depth)| Some((block?.part, depth)));
        let mut parts: Vec<(Part, u32)> = there.collect();
        parts.sort_by_key(|(part, _)| part.order.iter().min().copied());
        parts
    }
}
