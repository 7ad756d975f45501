//! Bit-serial regions: parts of a program that have no equal part to share functional units with.
//!
//! Blocks without an equal one are merged: those between the same groups become one *region*. Each block has a level
//! that is at least the levels of the blocks it reads: an even level if the block is the only one of its kind, an odd
//! level if the block shares functional units. No path between two blocks of one level leads through another level, so
//! regions and groups can be computed level by level. A region is bit-serial if the estimate is below that of its
//! blocks in parallel form.

use super::blocks::{Class, Finder, Part, area};
use super::{Base, origin, serial};
use alir_core::ir::{Model, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A bit-serial part of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Specification: the part in the operations of the program.
    pub specification: Model,
    /// Implementation, with every sum as sums of two.
    pub implementation: Model,
    /// Bit-stream operations of the implementation.
    pub graph: serial::Graph,
    /// Cycles of the sample in which each stream transfers its bits.
    pub plan: serial::Plan,
    /// Values of the program that are the region's inputs.
    pub inputs: Vec<ValueId>,
    /// Values of the program that are the region's outputs. All are available in the cycle of the plan's latency.
    pub outputs: Vec<ValueId>,
}

impl Region {
    /// Returns the number of clock cycles from the arrival of the first input to the availability of the outputs.
    pub fn clocks(&self) -> u32 {
        let first = self.plan.arrivals.iter().min().copied().unwrap_or(1);
        self.plan.latency.saturating_sub(first)
    }
}

/// A region that has no plan yet.
pub(super) struct UnplannedRegion {
    pub(super) specification: Model,
    pub(super) implementation: Model,
    pub(super) graph: serial::Graph,
    pub(super) part: Part,
    /// Depth, larger than that of the blocks and regions that compute its inputs.
    pub(super) depth: u32,
}

/// Returns the estimated number of LUTs of a bit-serial program at this interval; `None` if no bit-serial plan exists
/// for the interval.
fn luts(graph: &serial::Graph, interval: u32) -> Option<f64> {
    let plan = serial::quick_plan(graph, interval, &graph.arrivals(false)).ok()?;
    Some(serial::tables(graph, &plan))
}

/// Separates the bit-serial regions from these classes of blocks, and assigns a new depth to every remaining block.
/// `implement` returns the implementation of a region's specification.
pub(super) fn split(
    finder: &Finder<'_>,
    classes: Vec<Class>,
    interval: u32,
    implement: impl Fn(&Model) -> Model,
) -> (Vec<Class>, Vec<UnplannedRegion>) {
    let model = finder.model;
    let alone: Vec<bool> = classes.iter().map(|class| prefers_bit_serial(class, interval)).collect();
    let mut blocks = Blocks { finder, members: Vec::new(), maker: FxHashMap::default() };
    for (number, class) in classes.iter().enumerate() {
        blocks.members.extend(class.depths.iter().enumerate().map(|(at, &depth)| (depth, number, at)));
    }
    // By depth: a block reads values of blocks with smaller depth only.
    blocks.members.sort_unstable();
    for (place, &(_, number, at)) in blocks.members.iter().enumerate() {
        for &v in &classes[number].instances[at].1 {
            blocks.maker.insert(v, place);
        }
    }
    // For each block, the values that the block reads; for bit-serial candidates, also the operations of the block.
    let parts: Vec<(Vec<ValueId>, Vec<ValueId>)> = (blocks.members.iter().enumerate())
        .map(|(place, &(_, number, at))| {
            let (inputs, outputs) = &classes[number].instances[at];
            if alone[number] { blocks.inputs_and_operations(place, outputs) } else { (inputs.clone(), Vec::new()) }
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
        // The next level of the block's parity.
        level[place] = least + u32::from((least % 2 == 0) != is_alone(place));
    }
    // Blocks without an equal one move to later levels, to merge with others, as long as no shared unit waits for them.
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
    let mut removed: FxHashSet<(usize, usize)> = FxHashSet::default();
    for at_level in (0..=last).step_by(2) {
        let members: Vec<usize> =
            (0..blocks.len()).filter(|&place| is_alone(place) && level[place] == at_level).collect();
        let Some((specification, part)) = merged(finder, &classes, (blocks, &parts), &members) else { continue };
        let implementation = serial::sums_of_two(&implement(&specification));
        let graph = serial::graph(&implementation);
        let parallel: f64 = members.iter().map(|&place| area(&classes[blocks[place].1].template)).sum();
        if luts(&graph, interval).is_some_and(|luts| luts < parallel) {
            removed.extend(members.iter().map(|&place| (blocks[place].1, blocks[place].2)));
            let depth = at_level * deepest;
            regions.push(UnplannedRegion { specification, implementation, graph, part, depth });
        }
    }
    let mut depth_of: FxHashMap<(usize, usize), u32> = FxHashMap::default();
    for (place, &(depth, number, at)) in blocks.iter().enumerate() {
        depth_of.insert((number, at), level[place] * deepest + depth);
    }
    let mut remaining = Vec::with_capacity(classes.len());
    for (number, class) in classes.into_iter().enumerate() {
        let kept = (0..class.instances.len()).filter(|&at| !removed.contains(&(number, at)));
        let (mut instances, mut depths) = (Vec::new(), Vec::new());
        for at in kept {
            instances.push(class.instances[at].clone());
            depths.push(depth_of[&(number, at)]);
        }
        if !instances.is_empty() {
            remaining.push(Class { instances, depths, ..class });
        }
    }
    (remaining, regions)
}

/// Returns `true` if the blocks of a class take less hardware as one bit-serial circuit each than on shared functional
/// units.
fn prefers_bit_serial(class: &Class, interval: u32) -> bool {
    let n = class.instances.len();
    if class.kept {
        return false;
    }
    if n.div_ceil(interval as usize) == n {
        return true;
    }
    let each = luts(&serial::graph(&serial::sums_of_two(&class.template)), interval);
    each.is_some_and(|each| each * (n as f64) < class.taken(interval))
}

/// Blocks of a program, ordered by depth.
struct Blocks<'a> {
    finder: &'a Finder<'a>,
    /// Depth, index of the class, and index in the class.
    members: Vec<(u32, usize, usize)>,
    /// Index in `members` of the block that computes each output value.
    maker: FxHashMap<ValueId, usize>,
}

impl Blocks<'_> {
    /// Returns the inputs and the operations of a block with these outputs. (If `rows` has built the block, its
    /// recorded inputs exclude sources that cancel out.)
    fn inputs_and_operations(&self, place: usize, outputs: &[ValueId]) -> (Vec<ValueId>, Vec<ValueId>) {
        let (mut reads, mut ids) = (Vec::new(), Vec::new());
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        let mut stack = outputs.to_vec();
        while let Some(v) = stack.pop() {
            if !seen.insert(v) {
                continue;
            }
            // Values of a block of the same depth are computed again: two blocks that were separated from one block may
            // each contain operations that the other one needs.
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

/// Blocks, and for each of them the values that it reads and its operations.
type BlocksAndParts<'w> = (&'w [(u32, usize, usize)], &'w [(Vec<ValueId>, Vec<ValueId>)]);

/// Merges the blocks `members` into one program; `None` if no other block and no output reads a value of these blocks.
fn merged(
    finder: &Finder<'_>,
    classes: &[Class],
    (blocks, parts): BlocksAndParts<'_>,
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
