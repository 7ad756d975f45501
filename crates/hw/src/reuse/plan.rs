//! Assignment of blocks to units and cycles, and of values to registers.
//!
//! The planner places blocks one after the other: by depth, then by earliest start, then in the order of the input
//! elements that they read. Each block starts as early as its inputs allow, at a phase in which a unit of its group is
//! free. The program has no feedback, so such a cycle always exists. In this order the positions of a raster are
//! computed in rows, and the next layer reads each value a constant time after its computation: from plain registers,
//! without a multiplexer. For other programs the order of the operations may be better, so the planner tries both
//! orders. Finally, blocks start later, at the same phases, if that needs fewer registers ([`super::starts`]).

use super::blocks::{Finder, classes};
use super::regions::{self, Region, UnplannedRegion};
use super::sums::{self, Gathered};
use super::{
    Base, Group, Inputs, Instance, OutputPort, Plan, Storage, Store, WIDE, Wire, figures, free, instances, origin,
    serial, starts, wire,
};
use alir_core::ir::{Builder, Model, Op, ValueId};
use alir_core::num::{Code, Interval};
use alir_opt::passes;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Maximum number of plain registers after an output of a unit.
const PASSING: u32 = 16;

/// Maximum number of plain registers after a lane of beats: enough for rows of an image.
const ROWS: u32 = 1024;

/// Blocks and regions to place next: blocks of groups that can begin in any order, then regions.
type Level = (Vec<(usize, usize)>, Vec<usize>);

/// Options for the hardware of a program's parts, and their inputs.
#[derive(Clone, Copy)]
pub struct Engines<'o> {
    /// Cycles and bits of the input ports that carry a sample.
    pub inputs: &'o Inputs,
    /// `true` if every multiplexer before a unit takes a separate cycle, even with few inputs.
    pub chosen_before: bool,
    /// Optimisation of each part's operations for the implementation; `None` to implement the operations unchanged.
    pub optimise: Option<&'o dyn Fn(&Model) -> Model>,
    /// `true` if parts without an equal part may be bit-serial.
    pub bit_by_bit: bool,
}

impl Default for Engines<'_> {
    fn default() -> Self {
        Engines { inputs: &Inputs::Captured, chosen_before: false, optimise: None, bit_by_bit: false }
    }
}

/// Plans hardware with the initiation interval `interval`, in cycles. Also returns the program of the plan if it
/// differs from `model`: an equivalent program with an additional constant zero, or with sums over the blocks of a
/// group computed cycle by cycle. `stages` partitions a block into pipeline stages: it returns the stage of each
/// operation, from 0 on.
///
/// # Errors
/// The error of `stages`, if `stages` fails.
pub fn plan<E>(
    model: &Model,
    interval: u32,
    engines: &Engines<'_>,
    mut stages: impl FnMut(&Model) -> Result<Vec<u32>, E>,
) -> Result<(Option<Model>, Plan), E> {
    // A constant zero replaces missing values at the edges of an image.
    let with_zero = with_a_zero(model);
    let model = with_zero.as_ref().unwrap_or(model);
    let exact = passes::exact_sums(model);
    let plan = plan_program((model, &exact), None, interval, engines, &mut stages)?;
    let Some(gathered) = sums::gathered(model, &exact, &plan) else {
        return Ok((with_zero.filter(|model| reads_zero(model, &plan)), plan));
    };
    let anew = (&gathered.model, &gathered.exact[..]);
    let other = plan_program(anew, Some(&gathered), interval, engines, &mut stages)?;
    let tables = |model: &Model, plan: &Plan| figures::taken(model, &free(model), plan) + plan.tables();
    let better = tables(&gathered.model, &other) < tables(model, &plan);
    Ok(match better {
        true => (Some(gathered.model), other),
        false => (with_zero.filter(|model| reads_zero(model, &plan)), plan),
    })
}

/// Returns the program with an additional constant zero; `None` if the program already contains a constant zero.
fn with_a_zero(model: &Model) -> Option<Model> {
    if model.ids().any(|v| is_zero(model, v)) {
        return None;
    }
    let mut b = Builder::like(model);
    for node in model.nodes() {
        b.push(node.clone());
    }
    b.op(Op::Const { value: Code::ZERO }, Interval::new(0, 0, 0));
    for output in model.outputs() {
        b.output(*output);
    }
    b.finish().ok()
}

/// Returns `true` if a value is a constant that is zero.
pub(super) fn is_zero(model: &Model, v: ValueId) -> bool {
    matches!(model.node(v).op, Op::Const { .. }) && model.kif(v).is_zero()
}

/// Returns `true` if a block of a plan reads the last value of its program, a zero.
fn reads_zero(model: &Model, plan: &Plan) -> bool {
    let last = model.ids().last();
    plan.groups.iter().flat_map(|group| &group.instances).any(|i| i.inputs.iter().any(|v| Some(*v) == last))
}

/// Returns a plan for a program with its [`passes::exact_sums`]. `gathered` contains blocks that the partition must
/// keep.
fn plan_program<E>(
    (model, exact): (&Model, &[bool]),
    gathered: Option<&Gathered>,
    interval: u32,
    engines: &Engines<'_>,
    stages: &mut impl FnMut(&Model) -> Result<Vec<u32>, E>,
) -> Result<Plan, E> {
    let free = free(model);
    let finder = Finder::new(model, (&free, exact), gathered);
    let mut classes = classes(&finder, interval);
    let mut regions = Vec::new();
    let optimised = |specified: &Model| engines.optimise.map(|pass| instances::typed(&pass(specified), specified));
    if engines.bit_by_bit {
        let implement = |specified: &Model| optimised(specified).unwrap_or_else(|| specified.clone());
        (classes, regions) = regions::split(&finder, classes, interval, implement);
    }
    let mut groups = Vec::new();
    let mut levels: BTreeMap<u32, Level> = BTreeMap::new();
    for (number, region) in regions.iter().enumerate() {
        // Operations on whole values take one cycle, so `stages` rejects an operation that is longer than a stage.
        stages(&region.implementation)?;
        levels.entry(region.depth).or_default().1.push(number);
    }
    for class in classes {
        let changed = optimised(&class.template).filter(|changed| *changed != class.template);
        let template = changed.as_ref().unwrap_or(&class.template);
        let mut stage = stages(template)?;
        let units = u32::try_from(class.instances.len()).expect("fewer than 2^32 blocks").div_ceil(interval);
        let sources = class.most_sources(units as usize);
        // Accumulators read the outputs of units in the cycle in which these are born, so no multiplexer cycle comes
        // before them.
        let before =
            if class.kept { 0 } else { u32::from(sources > WIDE) + u32::from(sources > 1 && engines.chosen_before) };
        for id in template.ids() {
            let computed = !matches!(template.node(id).op, Op::Input { .. } | Op::Const { .. });
            stage[id.index()] += before * u32::from(computed);
        }
        let place = |(at, (inputs, outputs)): (usize, (Vec<ValueId>, Vec<ValueId>))| {
            levels.entry(class.depths[at]).or_default().0.push((groups.len(), at));
            Instance { inputs, outputs, unit: 0, start: 0 }
        };
        let instances = class.instances.into_iter().enumerate().map(place).collect();
        let (template, specification) = match changed {
            Some(changed) => (changed, Some(class.template)),
            None => (class.template, None),
        };
        groups.push(Group { template, specification, stage, units, instances, by_rows: class.by_rows });
    }
    let levels: Vec<Level> = levels.into_values().collect();
    let plans = [true, false].map(|by_ports| {
        let parts = (groups.clone(), &regions[..]);
        placed(model, &free, (interval, engines.inputs), parts, (&levels, by_ports))
    });
    let [one, other] = plans;
    let taken = |plan: &Plan| figures::taken(model, &free, plan);
    let earliest = if taken(&other) < taken(&one) { other } else { one };
    let chosen = |plan: &Plan| figures::chosen(model, &free, plan);
    let is_better = |later: &Plan| taken(later) < taken(&earliest) && chosen(later) <= chosen(&earliest);
    Ok(later(model, &free, &earliest).filter(is_better).unwrap_or(earliest))
}

/// Returns the plan with later starts that need fewer register bits; `None` if no start changes.
fn later(model: &Model, free: &[bool], plan: &Plan) -> Option<Plan> {
    let later = starts::later(model, free, plan);
    let moved = |by: &u32| *by > 0;
    if !later.groups.iter().flatten().chain(&later.regions).any(moved) {
        return None;
    }
    let (mut groups, mut regions) = (plan.groups.clone(), plan.regions.clone());
    for (group, by) in groups.iter_mut().zip(later.groups) {
        for (instance, by) in group.instances.iter_mut().zip(by) {
            instance.start += by * plan.interval;
        }
    }
    for (region, by) in regions.iter_mut().zip(later.regions) {
        region.plan.delay(by);
    }
    Some(stored(model, free, (plan.interval, &plan.inputs), groups, regions))
}

/// Returns a plan of these groups and regions, placed level by level. With `by_ports`, blocks are ordered by earliest
/// start and then by the first input element that they read; otherwise they are placed in program order.
fn placed(
    model: &Model,
    free: &[bool],
    (interval, inputs): (u32, &Inputs),
    (mut groups, wanted): (Vec<Group>, &[UnplannedRegion]),
    (levels, by_ports): (&[Level], bool),
) -> Plan {
    let mut born: BTreeMap<Base, u32> = BTreeMap::new();
    let base_of = |v: ValueId| origin(model, free, v).base;
    let birth = |born: &BTreeMap<Base, u32>, base: Base| birth(born, inputs, base);
    // Number of units in use, by group and phase.
    let mut taken: FxHashMap<(usize, u32), u32> = FxHashMap::default();
    let mut regions: Vec<Region> = Vec::with_capacity(wanted.len());
    for (level, of_regions) in levels {
        // Blocks read values of blocks with smaller depth only.
        let place = |&(group, at): &(usize, usize)| {
            let instance: &Instance = &groups[group].instances[at];
            let bases = || instance.inputs.iter().filter_map(|&v| base_of(v));
            let ready = bases().map(|base| birth(&born, base)).max().unwrap_or(1);
            let port = bases().filter(|base| by_ports && matches!(base, Base::Port(_))).min();
            let first = instance.outputs.iter().min().copied();
            let begins = if by_ports { ready } else { 0 };
            (begins, port.is_none(), port, first, group, at, ready)
        };
        let mut queue: Vec<_> = level.iter().map(place).collect();
        queue.sort_unstable();
        for (.., group, at, ready) in queue {
            let free_at = |start: &u32| taken.get(&(group, start % interval)).is_none_or(|&n| n < groups[group].units);
            let start = (ready..ready + interval).find(free_at).expect("a group has room for its instances");
            let unit = taken.entry((group, start % interval)).or_default();
            let instance = &mut groups[group].instances[at];
            (instance.unit, instance.start) = (*unit, start);
            *unit += 1;
            for (k, v) in groups[group].instances[at].outputs.iter().enumerate() {
                born.insert(Base::Value(*v), start + Plan::output_latency(&groups[group], k));
            }
        }
        for &number in of_regions {
            let UnplannedRegion { specification, implementation, graph, part, .. } = &wanted[number];
            let shown = |&v: &ValueId| base_of(v).map_or(1, |base| birth(&born, base));
            let arrivals: Vec<u32> = part.inputs.iter().map(shown).collect();
            let plan = serial::plan(graph, interval, &arrivals);
            let plan = plan.unwrap_or_else(|why| panic!("when inputs arrive changes nothing of it: {why}"));
            born.extend(part.outputs.iter().map(|&v| (Base::Value(v), plan.latency)));
            regions.push(Region {
                specification: specification.clone(),
                implementation: implementation.clone(),
                graph: graph.clone(),
                plan,
                inputs: part.inputs.clone(),
                outputs: part.outputs.clone(),
            });
        }
    }
    stored(model, free, (interval, inputs), groups, regions)
}

/// Returns the first cycle in which a register or a port shows a value.
fn birth(born: &BTreeMap<Base, u32>, inputs: &Inputs, base: Base) -> u32 {
    match base {
        Base::Port(e) => inputs.born(e),
        Base::Value(_) => born[&base],
    }
}

/// Returns the plan of blocks and regions with these starts: assigns units, registers and result registers.
fn stored(
    model: &Model,
    free: &[bool],
    (interval, inputs): (u32, &Inputs),
    mut groups: Vec<Group>,
    regions: Vec<Region>,
) -> Plan {
    let base_of = |v: ValueId| origin(model, free, v).base;
    let mut born: BTreeMap<Base, u32> = BTreeMap::new();
    for group in &groups {
        for (instance, (k, v)) in group.instances.iter().flat_map(|i| i.outputs.iter().enumerate().map(move |o| (i, o)))
        {
            born.insert(Base::Value(*v), instance.start + Plan::output_latency(group, k));
        }
    }
    born.extend(regions.iter().flat_map(|r| r.outputs.iter().map(|&v| (Base::Value(v), r.plan.latency))));
    let birth = |born: &BTreeMap<Base, u32>, base: Base| birth(born, inputs, base);
    choose_copies(model, free, (interval, inputs), &mut groups, &born);
    let mut last: BTreeMap<Base, u32> = BTreeMap::new();
    let mut read = |base: Base, clock: u32| {
        let known = last.entry(base).or_insert(clock);
        *known = clock.max(*known);
    };
    for instance in groups.iter().flat_map(|g| &g.instances) {
        instance.inputs.iter().filter_map(|&v| base_of(v)).for_each(|base| read(base, instance.start));
    }
    // Streams read the first register of a value until its last cycle.
    let mut shown: Vec<Base> = Vec::new();
    for base in regions.iter().flat_map(|region| &region.inputs).filter_map(|&v| base_of(v)) {
        read(base, birth(&born, base) + interval - 1);
        shown.push(base);
    }
    // An output that is not negated may read the register of its source directly if the source is born in the cycle of
    // the result.
    let sources = || model.outputs().iter().map(|o| (o.source.and_then(base_of), o.neg));
    let earliest = |(base, neg): (Option<Base>, bool)| base.map(|base| birth(&born, base) + u32::from(neg));
    // The result is not available before the last beat of its sample.
    let latency = sources().filter_map(earliest).max().unwrap_or(1).max(inputs.beat_count());
    let mut own_register = Vec::with_capacity(model.outputs().len());
    for (base, neg) in sources() {
        let Some(base) = base else {
            own_register.push(false);
            continue;
        };
        let own = neg || birth(&born, base) < latency;
        own_register.push(own);
        if own {
            read(base, latency - 1);
        } else {
            read(base, latency + interval - 1);
            shown.push(base);
        }
    }
    shown.sort_unstable();
    let mut stores = BTreeMap::new();
    for (&base, &last) in &last {
        let born = birth(&born, base);
        stores.insert(base, Store { born, last, storage: Storage::Held((last - born) / interval + 1) });
    }
    for (number, group) in groups.iter().enumerate() {
        for output in 0..group.template.outputs().len() {
            for unit in 0..group.units {
                let values = group.instances.iter().filter(|i| i.unit == unit).map(|i| Base::Value(i.outputs[output]));
                let outlet = OutputPort::Unit { group: number, unit, output };
                pass(values.collect(), outlet, (interval, &shown), &mut stores);
            }
        }
    }
    if let Inputs::Beats(beats) = inputs {
        for lane in 0..beats.lanes.len() as u32 {
            let values = beats.lane(lane).map(Base::Port).filter(|base| stores.contains_key(base));
            pass(values.collect(), OutputPort::Lane(lane), (interval, &shown), &mut stores);
        }
    }
    Plan { interval, latency, groups, regions, inputs: inputs.clone(), stores, own_register, registered_outputs: false }
}

/// Source of an input of a unit, if values pass through plain registers: the output port or the base, the age of the
/// value in cycles, and the wires after the register.
type Source = (Option<OutputPort>, Option<Base>, u32, Vec<Wire>);

/// Assigns a unit to every instance: among the units that are free at its phase, the one whose inputs already read most
/// of the same sources (in bits) at other phases. This minimises multiplexer inputs.
fn choose_copies(
    model: &Model,
    free: &[bool],
    (interval, inputs): (u32, &Inputs),
    groups: &mut [Group],
    born: &BTreeMap<Base, u32>,
) {
    let mut order: Vec<(u32, usize, usize)> = (0..)
        .zip(&*groups)
        .flat_map(|(number, group)| group.instances.iter().enumerate().map(move |(at, i)| (i.start, number, at)))
        .collect();
    // Instances read values of earlier instances only.
    order.sort_unstable();
    let mut made: FxHashMap<ValueId, OutputPort> = FxHashMap::default();
    let lane =
        |e: u32| inputs.as_beats().and_then(|beats| beats.elements[e as usize]).map(|(_, lane)| OutputPort::Lane(lane));
    let mut busy: FxHashMap<(usize, u32), Vec<bool>> = FxHashMap::default();
    let mut readers: FxHashMap<(usize, usize, Source), Vec<u32>> = FxHashMap::default();
    for (start, number, at) in order {
        let group = &mut groups[number];
        let sources: Vec<Source> = group.instances[at]
            .inputs
            .iter()
            .map(|&v| {
                let origin = origin(model, free, v);
                let outlet = origin.base.and_then(|base| match base {
                    Base::Value(value) => made.get(&value).copied(),
                    Base::Port(e) => lane(e),
                });
                let wires = origin.wires.iter().map(|&id| wire(model, id)).collect();
                match (outlet, origin.base) {
                    (Some(outlet), Some(base)) => (Some(outlet), None, start - birth(born, inputs, base), wires),
                    (_, base) => (None, base, 0, wires),
                }
            })
            .collect();
        let busy = busy.entry((number, start % interval)).or_insert_with(|| vec![false; group.units as usize]);
        let mut scores: BTreeMap<u32, u64> = BTreeMap::new();
        for (k, source) in sources.iter().enumerate() {
            let width = u64::from(group.template.input_kifs()[k].width());
            let known = readers.get(&(number, k, source.clone()));
            for &unit in known.into_iter().flatten().filter(|&&unit| !busy[unit as usize]) {
                *scores.entry(unit).or_default() += width;
            }
        }
        let best = scores.into_iter().max_by_key(|&(unit, score)| (score, std::cmp::Reverse(unit)));
        let unit = best.map_or_else(
            || busy.iter().position(|taken| !taken).expect("a group has room for its instances") as u32,
            |(unit, _)| unit,
        );
        busy[unit as usize] = true;
        group.instances[at].unit = unit;
        for (k, source) in sources.into_iter().enumerate() {
            let known = readers.entry((number, k, source)).or_default();
            if !known.contains(&unit) {
                known.push(unit);
            }
        }
        for (k, &v) in group.instances[at].outputs.iter().enumerate() {
            made.insert(v, OutputPort::Unit { group: number, unit, output: k });
        }
    }
}

/// Moves values with short lifetimes to plain registers after their output port if that needs fewer registers.
fn pass(values: Vec<Base>, outlet: OutputPort, (interval, shown): (u32, &[Base]), stores: &mut BTreeMap<Base, Store>) {
    let life = |base: &Base| stores.get(base).map_or(0, |s| s.last - s.born);
    let may_pass = |base: &Base, depth: u32| life(base) < depth && shown.binary_search(base).is_err();
    // A value with its own register is an additional multiplexer input, which counts as one register.
    let registers = |depth: u32| {
        let held = values.iter().filter(|base| !may_pass(base, depth));
        depth + held.map(|base| life(base) / interval + 2).sum::<u32>()
    };
    // Ties prefer the larger depth: a reader then selects among fewer registers.
    let deepest = match outlet {
        OutputPort::Unit { .. } => PASSING,
        OutputPort::Lane(_) => values.iter().map(|base| life(base) + 1).max().unwrap_or(0).min(ROWS),
    };
    let depths = if values.len() > 1 { 0..=deepest } else { 0..=0 };
    let best = depths.min_by_key(|&depth| (registers(depth), std::cmp::Reverse(depth))).unwrap_or(0);
    let passing: Vec<Base> = values.iter().filter(|base| may_pass(base, best)).copied().collect();
    for base in passing {
        if let Some(store) = stores.get_mut(&base) {
            store.storage = Storage::Passing(outlet);
        }
    }
}
