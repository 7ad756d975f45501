//! Bit-serial parts of a program without an equal part, next to the groups that share copies.
//!
//! Blocks without an equal one are merged: those between the same groups become one *region*. Each block has a level,
//! even if it is the only one of its kind and odd if it shares copies, that no block which it reads exceeds; two of one
//! level lie on no path through a block of another, so regions and groups can be computed level by level. A region is
//! bit-serial where that is estimated to take less than its blocks do as they are.

use super::blocks::{Class, Finder, Part, area};
use super::{Base, origin, serial};
use alir_core::ir::{Model, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A bit-serial part of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Specification in the operations of the program.
    pub meant: Model,
    /// Implementation, with every sum as sums of two.
    pub made: Model,
    /// Operations of the latter on streams.
    pub graph: serial::Graph,
    /// When which stream shows what, in clocks of the sample.
    pub plan: serial::Plan,
    /// Values of the program that are the region's inputs.
    pub inputs: Vec<ValueId>,
    /// Values of the program that are the region's outputs. All are available in the cycle of the plan's latency.
    pub outputs: Vec<ValueId>,
}

impl Region {
    /// Clocks from the first in which a register shows what it reads to the one in which registers show what it gives.
    pub fn clocks(&self) -> u32 {
        let first = self.plan.arrivals.iter().min().copied().unwrap_or(1);
        self.plan.latency.saturating_sub(first)
    }
}

/// A region before it has a plan.
pub(super) struct Wanted {
    pub(super) meant: Model,
    pub(super) made: Model,
    pub(super) graph: serial::Graph,
    pub(super) part: Part,
    /// Depth, larger than that of the blocks and regions that compute its inputs.
    pub(super) depth: u32,
}

/// Tables that a program is estimated to take bit by bit at this interval; nothing if that cannot be.
fn tables(graph: &serial::Graph, interval: u32) -> Option<f64> {
    let plan = serial::quick_plan(graph, interval, &graph.arrivals(false)).ok()?;
    Some(serial::tables(graph, &plan))
}

/// Removes the bit-serial parts, as implemented by `made`, from these classes, and assigns a new depth to every
/// remaining block.
pub(super) fn split(
    finder: &Finder<'_>,
    classes: Vec<Class>,
    interval: u32,
    made: impl Fn(&Model) -> Model,
) -> (Vec<Class>, Vec<Wanted>) {
    let model = finder.model;
    let alone: Vec<bool> = classes.iter().map(|class| stands_alone(class, interval)).collect();
    let mut blocks = Blocks { finder, members: Vec::new(), maker: FxHashMap::default() };
    for (number, class) in classes.iter().enumerate() {
        blocks.members.extend(class.depths.iter().enumerate().map(|(at, &depth)| (depth, number, at)));
    }
    // What a block reads is made by blocks of smaller depth.
    blocks.members.sort_unstable();
    for (place, &(_, number, at)) in blocks.members.iter().enumerate() {
        for &v in &classes[number].instances[at].1 {
            blocks.maker.insert(v, place);
        }
    }
    // The values that each block reads, and the operations of those without an equal one.
    let parts: Vec<(Vec<ValueId>, Vec<ValueId>)> = (blocks.members.iter().enumerate())
        .map(|(place, &(_, number, at))| {
            let (inputs, outputs) = &classes[number].instances[at];
            if alone[number] { blocks.walked(place, outputs) } else { (inputs.clone(), Vec::new()) }
        })
        .collect();
    let read_by = |place: usize| {
        parts[place].0.iter().filter_map(|&v| match origin(model, finder.free, v).base {
            Some(Base::Value(v)) => blocks.maker.get(&v).copied(),
            _ => None,
        })
    };
    let blocks = &blocks.members;
    let is_alone = |place: usize| alone[blocks[place].1];
    let mut level = vec![0u32; blocks.len()];
    for place in 0..blocks.len() {
        let least = read_by(place).map(|made| level[made]).max().unwrap_or(0);
        // The next level of its kind.
        level[place] = least + u32::from((least % 2 == 0) != is_alone(place));
    }
    // Blocks without an equal one wait for others of that kind, as long as no copies wait for them.
    let last = (0..blocks.len()).filter(|&place| is_alone(place)).map(|place| level[place]).max().unwrap_or(0);
    let mut latest = vec![last; blocks.len()];
    for place in (0..blocks.len()).rev() {
        if is_alone(place) {
            level[place] = level[place].max(latest[place]);
        }
        let most = level[place] - u32::from(!is_alone(place));
        read_by(place).for_each(|made| latest[made] = latest[made].min(most));
    }
    let deepest = blocks.last().map_or(0, |block| block.0) + 1;
    let mut regions = Vec::new();
    let mut gone: FxHashSet<(usize, usize)> = FxHashSet::default();
    for at_level in (0..=last).step_by(2) {
        let members: Vec<usize> =
            (0..blocks.len()).filter(|&place| is_alone(place) && level[place] == at_level).collect();
        let Some((meant, part)) = region(finder, &classes, (blocks, &parts), &members) else { continue };
        let made = serial::sums_of_two(&made(&meant));
        let graph = serial::graph(&made);
        let as_is: f64 = members.iter().map(|&place| area(&classes[blocks[place].1].template)).sum();
        if tables(&graph, interval).is_some_and(|tables| tables < as_is) {
            gone.extend(members.iter().map(|&place| (blocks[place].1, blocks[place].2)));
            regions.push(Wanted { meant, made, graph, part, depth: at_level * deepest });
        }
    }
    let mut depth_of: FxHashMap<(usize, usize), u32> = FxHashMap::default();
    for (place, &(depth, number, at)) in blocks.iter().enumerate() {
        depth_of.insert((number, at), level[place] * deepest + depth);
    }
    let mut left = Vec::with_capacity(classes.len());
    for (number, class) in classes.into_iter().enumerate() {
        let kept = (0..class.instances.len()).filter(|&at| !gone.contains(&(number, at)));
        let (mut instances, mut depths) = (Vec::new(), Vec::new());
        for at in kept {
            instances.push(class.instances[at].clone());
            depths.push(depth_of[&(number, at)]);
        }
        if !instances.is_empty() {
            left.push(Class { instances, depths, ..class });
        }
    }
    (left, regions)
}

/// Returns `true` if the blocks of a class take less hardware bit-serially, each by itself, than on copies that they
/// share.
fn stands_alone(class: &Class, interval: u32) -> bool {
    let n = class.instances.len();
    if class.kept {
        return false;
    }
    if n.div_ceil(interval as usize) == n {
        return true;
    }
    let each = tables(&serial::graph(&serial::sums_of_two(&class.template)), interval);
    each.is_some_and(|each| each * (n as f64) < class.taken(interval))
}

/// Blocks of a program.
struct Blocks<'a> {
    finder: &'a Finder<'a>,
    /// Depth, class, and number in the class.
    members: Vec<(u32, usize, usize)>,
    /// Which of them makes a value that others read.
    maker: FxHashMap<ValueId, usize>,
}

impl Blocks<'_> {
    /// Returns the inputs and the operations of a block with these outputs. (The inputs of one that was separated by
    /// the rows of its sums leave out what cancels.)
    fn walked(&self, place: usize, outputs: &[ValueId]) -> (Vec<ValueId>, Vec<ValueId>) {
        let (mut reads, mut ids) = (Vec::new(), Vec::new());
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        let mut stack = outputs.to_vec();
        while let Some(v) = stack.pop() {
            if !seen.insert(v) {
                continue;
            }
            // What a block of the same depth makes is made once more: two that were cut out of one block may each have
            // some of what the other one needs.
            let is_made = |&other: &usize| self.members[other].0 < self.members[place].0;
            if self.finder.free[v.index()] || self.maker.get(&v).is_some_and(is_made) {
                reads.push(v);
            } else {
                ids.push(v);
                stack.extend(self.finder.model.node(v).op.operands());
            }
        }
        (reads, ids)
    }
}

/// Blocks with what they read and their operations.
type Walked<'w> = (&'w [(u32, usize, usize)], &'w [(Vec<ValueId>, Vec<ValueId>)]);

/// These blocks as one program; nothing if none of what they make is read.
fn region(
    finder: &Finder<'_>,
    classes: &[Class],
    (blocks, parts): Walked<'_>,
    members: &[usize],
) -> Option<(Model, Part)> {
    let inside: FxHashSet<usize> = members.iter().copied().collect();
    let mut read = vec![false; finder.model.nodes().len()];
    for place in (0..blocks.len()).filter(|place| !inside.contains(place)) {
        parts[place].0.iter().for_each(|v| read[v.index()] = true);
    }
    let mut ids: Vec<ValueId> = members.iter().flat_map(|&place| parts[place].1.iter().copied()).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut outside = vec![false; finder.model.nodes().len()];
    for &place in members {
        let (_, number, at) = blocks[place];
        for &v in &classes[number].instances[at].1 {
            outside[v.index()] = read[v.index()] || finder.shown[v.index()];
        }
    }
    let part = finder.part(&ids, &outside);
    if part.outputs.is_empty() {
        return None;
    }
    let class = finder.class(&[(&part, 0)]);
    Some((class.template, part))
}
