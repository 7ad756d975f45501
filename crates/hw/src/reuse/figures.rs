//! Hardware figures of a plan: multiplexers and registers, with lower bounds for the same groups.

use super::blocks::CHOICE;
use super::machine::FOUR;
use super::starts::later;
use super::{Base, Group, Inputs, OutputPort, Plan, Region, Storage, WIDE, Wire, between, free, origin, serial, wire};
use alir_core::ir::{Model, Op, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Hardware figures of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupFigures {
    /// Number of phases at which any unit of the group is in use.
    pub phases: u32,
    /// Bits of multiplexers before the units, by the number of values that they select among.
    pub multiplexers: BTreeMap<u32, u64>,
    /// Bits of registers that store the results of the group for K cycles.
    pub held_bits: u64,
    /// Bits of plain registers after the units.
    pub passing_bits: u64,
    /// Bits of registers between the pipeline stages of the units.
    pub stage_bits: u64,
    /// Number of template values whose type differs from that of some instance.
    pub unified: usize,
}

impl GroupFigures {
    /// Returns the bits of all multiplexers.
    pub fn multiplexer_bits(&self) -> u64 {
        self.multiplexers.values().sum()
    }
}

/// Hardware figures of a region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionFigures {
    /// Figures of the bit-serial streams. The registers of the region's inputs count for the inputs and groups instead.
    pub streams: serial::Figures,
    /// Bits of registers that store the results of the region for K cycles.
    pub held_bits: u64,
}

impl RegionFigures {
    /// Returns the number of register bits: streams, carries, delays after streams, and whole values.
    pub fn register_bits(&self) -> u64 {
        let s = &self.streams;
        (s.streams + s.full_adders / s.bits_per_clock.max(1) as usize) as u64
            + s.delay_bits
            + s.whole_bits
            + self.held_bits
    }
}

/// Hardware figures of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Figures of each group.
    pub groups: Vec<GroupFigures>,
    /// Figures of each region.
    pub regions: Vec<RegionFigures>,
    /// Bits of registers that store the inputs.
    pub captured_bits: u64,
    /// Bits of registers that only store outputs.
    pub result_bits: u64,
    /// Lower bound of the latency for all plans of these groups and stages, in cycles.
    pub latency_at_least: u32,
    /// Lower bound of the register bits for inputs, values and results, for all plans of these groups and stages.
    pub register_bits_at_least: u64,
    /// Bits of registers that store inputs and values for K cycles, without plain registers.
    pub held_bits: u64,
    /// Lower bound of `held_bits` for all starts of the same blocks at the same phases, from a network flow; 0 if the
    /// flow exceeded its budget.
    pub held_bits_at_least: u64,
}

impl Figures {
    /// Computes the figures of a plan that the checker accepts.
    pub fn new(model: &Model, plan: &Plan) -> Figures {
        let free = free(model);
        let mut groups: Vec<GroupFigures> =
            plan.groups.iter().map(|group| group_figures(model, &free, plan, group)).collect();
        let Stored { captured_bits, of_groups, of_regions } = stored_bits(model, plan);
        let of_values: u64 = of_groups.iter().map(|(held, _)| held).chain(&of_regions).sum();
        let held_bits = captured_bits + of_values;
        for (group, (held, passing)) in groups.iter_mut().zip(of_groups) {
            (group.held_bits, group.passing_bits) = (held, passing);
        }
        let region = |(region, held_bits): (&Region, u64)| {
            let streams = serial::Figures::new(&region.graph, &region.plan);
            // The registers of inputs and results count elsewhere.
            let streams = serial::Figures { captured_bits: 0, result_bits: 0, ..streams };
            RegionFigures { streams, held_bits }
        };
        let regions = plan.regions.iter().zip(of_regions).map(region).collect();
        let results = plan.own_register.iter().enumerate().filter(|(_, own)| **own);
        let result_bits = results.map(|(j, _)| u64::from(model.output_kif(j).width())).sum();
        Figures {
            groups,
            regions,
            captured_bits,
            result_bits,
            latency_at_least: latency_at_least(model, &free, plan),
            register_bits_at_least: register_bits_at_least(model, &free, plan),
            held_bits,
            held_bits_at_least: later(model, &free, plan).at_least,
        }
    }

    /// Returns the bits of registers for inputs, values and results.
    pub fn register_bits(&self) -> u64 {
        let group = |g: &GroupFigures| g.held_bits + g.passing_bits + g.stage_bits;
        let regions: u64 = self.regions.iter().map(RegionFigures::register_bits).sum();
        self.captured_bits + self.result_bits + self.groups.iter().map(group).sum::<u64>() + regions
    }
}

fn output_width(group: &Group, output: usize) -> u32 {
    group.template.outputs()[output].source.map_or(0, |v| group.template.kif(v).width())
}

fn group_figures(model: &Model, free: &[bool], plan: &Plan, group: &Group) -> GroupFigures {
    let template = &group.template;
    let phases: FxHashSet<u32> = group.instances.iter().map(|i| i.start % plan.interval).collect();
    let mut figures = GroupFigures { phases: phases.len() as u32, ..GroupFigures::default() };
    figures.multiplexers = multiplexers(model, free, plan, group);
    let mut last: Vec<u32> = group.stage.clone();
    for id in template.ids() {
        template.node(id).op.for_each_operand(|v| last[v.index()] = last[v.index()].max(group.stage[id.index()]));
    }
    let stages = template.ids().filter(|&v| !matches!(template.node(v).op, Op::Const { .. }));
    let bits = |v: ValueId| u64::from(last[v.index()] - group.stage[v.index()]) * u64::from(template.kif(v).width());
    figures.stage_bits = u64::from(group.units) * stages.map(bits).sum::<u64>();
    // A wide multiplexer has a register for each four sources instead of one register at its output.
    let read = Plan::first_readings(group);
    for (k, kif) in template.input_kifs().iter().enumerate().filter(|(k, _)| read[*k] > 0 && read[*k] < u32::MAX) {
        for sources in sources_of(model, free, plan, group, k).into_iter().filter(|&n| n > WIDE) {
            figures.stage_bits += (sources.div_ceil(FOUR) - 1) as u64 * u64::from(kif.width());
        }
    }
    figures.unified = unified(model, group);
    figures
}

/// Returns the bits of multiplexers before a group's units, by the number of values that they select among.
fn multiplexers(model: &Model, free: &[bool], plan: &Plan, group: &Group) -> BTreeMap<u32, u64> {
    let mut multiplexers: BTreeMap<u32, u64> = BTreeMap::new();
    for (k, kif) in group.template.input_kifs().iter().enumerate() {
        for sources in sources_of(model, free, plan, group, k).into_iter().filter(|&n| n > 1) {
            *multiplexers.entry(sources as u32).or_default() += u64::from(kif.width());
        }
    }
    multiplexers
}

/// Returns, for each unit of a group, the number of values that its input `k` selects among.
fn sources_of(model: &Model, free: &[bool], plan: &Plan, group: &Group, k: usize) -> Vec<usize> {
    // Source of a value in a cycle: a register, and the wires after it.
    let shown = |value: ValueId, clock: u32| {
        let origin = origin(model, free, value);
        let register = origin.base.map(|base| {
            let store = &plan.stores[&base];
            match store.storage {
                Storage::Held(_) => (Some(base), None, (clock - store.born) / plan.interval),
                Storage::Passing(outlet) => (None, Some(outlet), clock - store.born),
            }
        });
        (register, origin.wires.iter().map(|&id| wire(model, id)).collect::<Vec<Wire>>())
    };
    let mut sources = vec![FxHashSet::default(); group.units as usize];
    for i in &group.instances {
        sources[i.unit as usize].insert(shown(i.inputs[k], i.start));
    }
    sources.into_iter().map(|sources| sources.len()).collect()
}

/// Bits of registers that store whole values.
struct Stored {
    /// Bits of registers that store inputs.
    captured_bits: u64,
    /// For each group, the bits of registers that store its outputs for K cycles, and of plain registers.
    of_groups: Vec<(u64, u64)>,
    /// For each region, the bits of registers that store its outputs.
    of_regions: Vec<u64>,
}

fn stored_bits(model: &Model, plan: &Plan) -> Stored {
    let by_group: FxHashMap<ValueId, usize> = (0..)
        .zip(&plan.groups)
        .flat_map(|(number, group)| {
            group.instances.iter().flat_map(move |i| i.outputs.iter().map(move |&v| (v, number)))
        })
        .collect();
    let by_region: FxHashMap<ValueId, usize> = (0..)
        .zip(&plan.regions)
        .flat_map(|(number, region)| region.outputs.iter().map(move |&v| (v, number)))
        .collect();
    let mut stored = Stored {
        captured_bits: 0,
        of_groups: vec![(0, 0); plan.groups.len()],
        of_regions: vec![0; plan.regions.len()],
    };
    let mut depths: BTreeMap<OutputPort, u32> = BTreeMap::new();
    for (base, store) in &plan.stores {
        match (base, &store.storage) {
            (&Base::Port(e), Storage::Held(n)) => {
                let registers = *n - u32::from(plan.inputs.are_held());
                stored.captured_bits += u64::from(registers) * u64::from(model.input_kifs()[e as usize].width());
            }
            (Base::Value(v), Storage::Held(n)) => {
                let bits = u64::from(*n) * u64::from(model.kif(*v).width());
                match by_group.get(v) {
                    Some(&group) => stored.of_groups[group].0 += bits,
                    None => stored.of_regions[by_region[v]] += bits,
                }
            }
            (_, &Storage::Passing(outlet)) => {
                let depth = depths.entry(outlet).or_default();
                *depth = (store.last - store.born + 1).max(*depth);
            }
        }
    }
    for (outlet, depth) in depths {
        match outlet {
            OutputPort::Unit { group, output, .. } => {
                stored.of_groups[group].1 += u64::from(depth) * u64::from(output_width(&plan.groups[group], output));
            }
            OutputPort::Lane(lane) => {
                let width = plan.inputs.as_beats().map_or(0, |beats| beats.lanes[lane as usize].width);
                stored.captured_bits += u64::from(depth) * u64::from(width);
            }
        }
    }
    stored
}

/// Returns the estimated LUTs of a plan's multiplexers.
pub(super) fn chosen(model: &Model, free: &[bool], plan: &Plan) -> f64 {
    let one = |(sources, bits): (u32, u64)| CHOICE * f64::from(sources - 1) * bits as f64;
    plan.groups.iter().flat_map(|group| multiplexers(model, free, plan, group)).map(one).sum()
}

/// Returns the estimated LUTs of a plan's multiplexers and registers, for comparisons of plans with equal groups.
pub(super) fn taken(model: &Model, free: &[bool], plan: &Plan) -> f64 {
    /// LUTs per register bit.
    const REGISTER: f64 = 0.1;
    let tables = chosen(model, free, plan);
    let stored = stored_bits(model, plan);
    let of_groups: u64 = stored.of_groups.iter().map(|(held, passing)| held + passing).sum();
    // The delay registers of bit-serial streams.
    let of_streams: u64 =
        plan.regions.iter().map(|region| serial::Figures::new(&region.graph, &region.plan).delay_bits).sum();
    let bits = stored.captured_bits + of_groups + stored.of_regions.iter().sum::<u64>() + of_streams;
    tables + REGISTER * bits as f64
}

/// Returns the number of template values whose type differs from that of some instance.
fn unified(model: &Model, group: &Group) -> usize {
    let template = group.specification();
    let mut differs = vec![false; template.nodes().len()];
    for instance in &group.instances {
        for (inner, outer) in pairs(model, group, instance) {
            differs[inner.index()] |= template.kif(inner) != model.kif(outer);
        }
    }
    differs.into_iter().filter(|d| *d).count()
}

/// Returns pairs of a template value and the corresponding value of an instance in the program.
fn pairs(model: &Model, group: &Group, instance: &super::Instance) -> Vec<(ValueId, ValueId)> {
    let template = group.specification();
    if group.by_rows {
        // Operations have no counterpart.
        let inputs = template.ids().filter_map(|id| match template.node(id).op {
            Op::Input { input } => Some((id, instance.inputs[input as usize])),
            _ => None,
        });
        let outputs =
            template.outputs().iter().filter_map(|output| output.source).zip(instance.outputs.iter().copied());
        return inputs.chain(outputs).collect();
    }
    let mut pairs = Vec::with_capacity(template.nodes().len());
    let mut seen = vec![false; template.nodes().len()];
    let outputs = template.outputs().iter().filter_map(|output| output.source);
    let mut stack: Vec<(ValueId, ValueId)> = outputs.zip(instance.outputs.iter().copied()).collect();
    while let Some((inner, outer)) = stack.pop() {
        if std::mem::replace(&mut seen[inner.index()], true) {
            continue;
        }
        pairs.push((inner, outer));
        if !matches!(template.node(inner).op, Op::Input { .. }) {
            stack.extend(template.node(inner).op.operands().into_iter().zip(model.node(outer).op.operands()));
        }
    }
    pairs
}

/// Returns a lower bound of the latency, in cycles. It is the maximum of two bounds: the latency with unlimited units,
/// and, for each group, the earliest start of its last instance with `units` instances per cycle plus the remaining
/// path to the result.
fn latency_at_least(model: &Model, free: &[bool], plan: &Plan) -> u32 {
    let base_of = |v: ValueId| origin(model, free, v).base;
    // Regions after the groups.
    let of_groups = plan.groups.len();
    let instances = (0..)
        .zip(&plan.groups)
        .flat_map(|(number, group)| group.instances.iter().enumerate().map(move |(at, i)| (i.start, number, at)));
    let begins = |region: &Region| region.plan.arrivals.iter().max().copied().unwrap_or(1);
    let regions = (0..).zip(&plan.regions).map(|(at, region)| (begins(region), of_groups, at));
    // The start times of a plan are an order in which every value is computed before it is read.
    let mut queue: Vec<(u32, usize, usize)> = instances.chain(regions).collect();
    queue.sort_unstable();
    let mut born: FxHashMap<Base, u32> = FxHashMap::default();
    let birth = |born: &FxHashMap<Base, u32>, base: Base| match base {
        Base::Port(e) => plan.inputs.born(e),
        Base::Value(_) => born.get(&base).copied().unwrap_or(1),
    };
    let mut start: Vec<Vec<u32>> = plan.groups.iter().map(|g| vec![1; g.instances.len()]).collect();
    for &(_, number, at) in &queue {
        if number == of_groups {
            let region = &plan.regions[at];
            let shown = |&v: &ValueId| base_of(v).map_or(1, |base| birth(&born, base));
            let arrivals: Vec<u32> = region.inputs.iter().map(shown).collect();
            let soonest = serial::quick_plan(&region.graph, plan.interval, &arrivals).map_or(1, |plan| plan.latency);
            born.extend(region.outputs.iter().map(|&v| (Base::Value(v), soonest)));
            continue;
        }
        let group = &plan.groups[number];
        let instance = &group.instances[at];
        let read = instance.inputs.iter().filter_map(|&v| base_of(v)).map(|base| birth(&born, base));
        start[number][at] = read.max().unwrap_or(1);
        for (k, &v) in instance.outputs.iter().enumerate() {
            born.insert(Base::Value(v), start[number][at] + Plan::output_latency(group, k));
        }
    }
    // Minimum number of cycles from the birth of a value to the result.
    let mut after: FxHashMap<Base, u32> = FxHashMap::default();
    let mut latency = 1;
    for output in model.outputs() {
        if let Some(base) = output.source.and_then(base_of) {
            let negated = u32::from(output.neg);
            latency = latency.max(birth(&born, base) + negated);
            let known = after.entry(base).or_default();
            *known = negated.max(*known);
        }
    }
    let mut rest: Vec<Vec<u32>> = plan.groups.iter().map(|g| vec![0; g.instances.len()]).collect();
    for &(_, number, at) in queue.iter().rev() {
        let (tail, inputs) = if number == of_groups {
            let region = &plan.regions[at];
            // The results of a region are available at least one cycle after the last of its inputs.
            let tail = region.outputs.iter().filter_map(|&v| Some(1 + after.get(&Base::Value(v))?)).max();
            (tail.unwrap_or(0), &region.inputs)
        } else {
            let group = &plan.groups[number];
            let instance = &group.instances[at];
            let outputs = instance.outputs.iter().enumerate();
            let tail = outputs.filter_map(|(k, &v)| Some(Plan::output_latency(group, k) + after.get(&Base::Value(v))?));
            rest[number][at] = tail.max().unwrap_or(0);
            (rest[number][at], &instance.inputs)
        };
        for base in inputs.iter().filter_map(|&v| base_of(v)) {
            let known = after.entry(base).or_default();
            *known = tail.max(*known);
        }
    }
    for (number, group) in plan.groups.iter().enumerate() {
        let first = start[number].iter().min().copied().unwrap_or(1);
        let last = first + (group.instances.len() as u32).div_ceil(group.units) - 1;
        latency = latency.max(last + rest[number].iter().min().copied().unwrap_or(0));
    }
    latency.max(plan.inputs.beat_count()) + u32::from(plan.registered_outputs)
}

/// Returns a lower bound of the register bits. It counts one register for each input that is read (none if the ports
/// are stable, one per lane for beats), the registers of the results, and one register for each output of a unit unless
/// a result register may replace it.
fn register_bits_at_least(model: &Model, free: &[bool], plan: &Plan) -> u64 {
    let base_of = |v: ValueId| origin(model, free, v).base;
    let width = |base: Base| match base {
        Base::Port(e) => u64::from(model.input_kifs()[e as usize].width()),
        Base::Value(v) => u64::from(model.kif(v).width()),
    };
    let is_read = |base: &Base| plan.stores.contains_key(base);
    let ports = match &plan.inputs {
        Inputs::Held => 0,
        Inputs::Captured => plan.stores.keys().filter(|b| matches!(b, Base::Port(_))).map(|&base| width(base)).sum(),
        Inputs::Beats(beats) => {
            let lanes = 0..beats.lanes.len() as u32;
            let least = |lane| beats.lane(lane).map(Base::Port).filter(is_read).map(width).min();
            lanes.filter_map(least).sum::<u64>()
        }
    };
    let mut results: BTreeMap<Base, u64> = BTreeMap::new();
    for (j, output) in model.outputs().iter().enumerate() {
        if let Some(base @ Base::Value(_)) = output.source.and_then(base_of) {
            let least = results.entry(base).or_insert(width(base));
            *least = (*least).min(u64::from(model.output_kif(j).width()));
        }
    }
    let shown: u64 = results.values().sum();
    // A unit drives either plain registers or the registers of its values; the bound counts the narrowest value.
    let mut behind = 0;
    for group in &plan.groups {
        for unit in 0..group.units {
            for output in 0..group.template.outputs().len() {
                let here = group.instances.iter().filter(|i| i.unit == unit).map(|i| i.outputs[output]);
                let least = here.map(|v| if results.contains_key(&Base::Value(v)) { 0 } else { width(Base::Value(v)) });
                behind += least.min().unwrap_or(0);
            }
        }
    }
    ports + shown + behind
}

/// Where and when an operation of the program is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Computed by a unit in one cycle.
    Unit {
        /// The group.
        group: usize,
        /// The instance in the group.
        instance: usize,
        /// The unit that computes it.
        unit: u32,
        /// The cycle.
        clock: u32,
    },
    /// Computed bit-serially.
    Streams {
        /// The region.
        region: usize,
        /// First cycle of the region's streams.
        clock: u32,
        /// Last cycle of the region's streams.
        last: u32,
    },
}

impl Placement {
    /// Returns the cycle of the computation, or the first one of a bit-serial computation.
    pub fn clock(&self) -> u32 {
        match *self {
            Placement::Unit { clock, .. } | Placement::Streams { clock, .. } => clock,
        }
    }
}

/// Returns where each operation of a program is computed; `None` for inputs, constants and wires after them.
pub fn placements(model: &Model, plan: &Plan) -> Vec<Option<Placement>> {
    let mut placed = vec![None; model.nodes().len()];
    for (number, group) in plan.groups.iter().enumerate() {
        for (at, instance) in group.instances.iter().enumerate() {
            let here = |clock| Placement::Unit { group: number, instance: at, unit: instance.unit, clock };
            if group.by_rows || group.specification.is_some() {
                for outer in between(model, &instance.inputs, &instance.outputs) {
                    placed[outer.index()] = Some(here(instance.start));
                }
                continue;
            }
            for (inner, outer) in pairs(model, group, instance) {
                if !matches!(group.template.node(inner).op, Op::Input { .. } | Op::Const { .. }) {
                    placed[outer.index()] = Some(here(instance.start + group.stage[inner.index()]));
                }
            }
        }
    }
    for (number, region) in plan.regions.iter().enumerate() {
        // The implementation has other operations, so the program's operations have no cycles of their own.
        let last = region.plan.latency - 1;
        for outer in between(model, &region.inputs, &region.outputs) {
            let clock = last.saturating_sub(region.clocks()).max(u32::from(!plan.inputs.are_held()));
            placed[outer.index()] = Some(Placement::Streams { region: number, clock, last: last.max(1) });
        }
    }
    placed
}
