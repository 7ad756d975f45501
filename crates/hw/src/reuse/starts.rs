//! Later start cycles that need fewer registers.
//!
//! The unit and the phase of each block stay unchanged; a block may start any number of intervals later. A stored value
//! needs one register for each interval from its birth to its last read. The number of register bits is therefore
//! linear in the delays of the blocks and in the intervals of the last reads, and every constraint is an inequality
//! between two of these variables. The linear program is the dual of a network flow, as for pipeline registers (C. E.
//! Leiserson, J. B. Saxe, *Retiming synchronous circuitry*, 1991), and [`alir_opt::schedule::FlowNetwork`] finds the
//! minimum: while excess flow is stuck, all nodes that the excess reaches start one interval later.
//!
//! The flow proves the minimum: the sum of the inequalities, each times its flow, is a lower bound of the register bits
//! for all starts. This module checks the flow without the network: the net flow into each variable must equal the cost
//! of the variable.

use super::{Base, OutputPort, Plan, Storage, origin};
use alir_core::ir::{Model, ValueId};
use alir_opt::schedule::{FlowNetwork, Saturated};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Maximum number of arcs that the search examines.
const WORK: u64 = 200_000_000;

/// Delays of instances and regions, in intervals, with the fewest register bits for stored values.
pub(super) struct Later {
    /// Delay of each instance, by group.
    pub(super) groups: Vec<Vec<u32>>,
    /// Delay of each region.
    pub(super) regions: Vec<u32>,
    /// Lower bound of the register bits for all starts at these phases, with these plain registers.
    pub(super) at_least: u64,
}

/// Variable that is always 0: the delay of ports and results.
const GROUND: u32 = 0;

/// Linear program: inequalities `to - from >= gain` between variables, and the cost of each variable.
#[derive(Default)]
struct Program {
    arcs: Vec<(u32, u32, i32)>,
    cost: Vec<i64>,
    /// Initial values of the variables, which satisfy the inequalities.
    label: Vec<i32>,
}

impl Program {
    fn number(&mut self, label: i32) -> u32 {
        self.cost.push(0);
        self.label.push(label);
        self.cost.len() as u32 - 1
    }

    fn at_least(&mut self, (from, to): (u32, u32), gain: i32) {
        if from != to {
            self.arcs.push((from, to, gain));
        }
    }

    fn equal(&mut self, a: u32, b: u32) {
        self.at_least((a, b), 0);
        self.at_least((b, a), 0);
    }

    /// Returns values of the variables with minimal cost, and a proved lower bound of the cost; `None` instead of the
    /// bound if the budget is exhausted.
    fn least(self) -> (Vec<i32>, Option<i64>) {
        let mut network = FlowNetwork::new(self.label);
        network.want.clone_from(&self.cost);
        self.arcs.iter().for_each(|&(from, to, gain)| network.add(from, to, gain));
        network.sort();
        let served = loop {
            match network.saturate(WORK) {
                Saturated::Served => break true,
                Saturated::OutOfBudget => break false,
                Saturated::Stuck => {
                    for node in 0..network.label.len() as u32 {
                        network.label[node as usize] += i32::from(network.is_reached(node));
                    }
                    network.sort();
                }
            }
        };
        let mut arrived = vec![0i64; self.cost.len()];
        let mut bound = 0;
        for (k, &(from, to, gain)) in self.arcs.iter().enumerate() {
            let flow = network.flow(k);
            assert!(flow >= 0, "a multiplier of an inequality is not negative");
            arrived[from as usize] -= flow;
            arrived[to as usize] += flow;
            bound += flow * i64::from(gain);
        }
        (network.label, (served && arrived == self.cost).then_some(bound))
    }
}

/// Returns delays of a plan's blocks and regions, in intervals, that minimise the register bits.
pub(super) fn later(model: &Model, free: &[bool], plan: &Plan) -> Later {
    let base_of = |v: ValueId| origin(model, free, v).base;
    let mut program = Program::default();
    let ground = program.number(0);
    assert_eq!(ground, GROUND);
    let mut makers: FxHashMap<ValueId, u32> = FxHashMap::default();
    // For each value, the variables of its readers and the cycles of the reads.
    let mut readers: BTreeMap<Base, Vec<(u32, u32)>> = BTreeMap::new();
    let groups: Vec<Vec<u32>> =
        plan.groups.iter().map(|group| group.instances.iter().map(|_| program.number(0)).collect()).collect();
    let regions: Vec<u32> = plan.regions.iter().map(|_| program.number(0)).collect();
    for (group, numbers) in plan.groups.iter().zip(&groups) {
        for (instance, &number) in group.instances.iter().zip(numbers) {
            makers.extend(instance.outputs.iter().map(|&v| (v, number)));
            for base in instance.inputs.iter().filter_map(|&v| base_of(v)) {
                readers.entry(base).or_default().push((number, instance.start));
            }
        }
    }
    for (region, &number) in plan.regions.iter().zip(&regions) {
        makers.extend(region.outputs.iter().map(|&v| (v, number)));
    }
    let maker = |base: Base| match base {
        Base::Port(_) => GROUND,
        Base::Value(v) => makers[&v],
    };
    // Streams read the first register of a value, so a region is delayed by as much as the blocks that compute its
    // inputs.
    for (region, &number) in plan.regions.iter().zip(&regions) {
        for (base, &first) in region.inputs.iter().map(|&v| base_of(v)).zip(&region.plan.arrivals) {
            let Some(base) = base else { continue };
            program.equal(maker(base), number);
            readers.entry(base).or_default().push((number, first + plan.interval - 1));
        }
    }
    for (output, &own) in model.outputs().iter().zip(&plan.own_register) {
        let Some(base) = output.source.and_then(base_of) else { continue };
        let at = if own {
            plan.settled() - 1
        } else {
            program.equal(maker(base), GROUND);
            plan.settled() + plan.interval - 1
        };
        readers.entry(base).or_default().push((GROUND, at));
    }
    // Number of cycles that values stay after each outlet.
    let mut depths: BTreeMap<OutputPort, u32> = BTreeMap::new();
    for store in plan.stores.values() {
        if let Storage::Passing(outlet) = store.storage {
            let depth = depths.entry(outlet).or_default();
            *depth = (store.last - store.born).max(*depth);
        }
    }
    let intervals = |clocks: u32| (clocks / plan.interval) as i32;
    let mut first_bits = 0;
    for (&base, store) in &plan.stores {
        let (made, read) = (maker(base), readers.remove(&base).unwrap_or_default());
        for &(reader, clock) in &read {
            program.at_least((made, reader), -intervals(clock - store.born));
        }
        match store.storage {
            Storage::Held(_) => {
                let width = match base {
                    Base::Port(e) => model.input_kifs()[e as usize].width(),
                    Base::Value(v) => model.kif(v).width(),
                };
                let last = read.iter().map(|&(_, clock)| intervals(clock - store.born)).max().unwrap_or(0);
                let last = program.number(last);
                for (reader, clock) in read {
                    program.at_least((reader, last), intervals(clock - store.born));
                }
                program.at_least((made, last), 0);
                program.cost[last as usize] += i64::from(width);
                program.cost[made as usize] -= i64::from(width);
                let shown = matches!(base, Base::Port(_)) && plan.inputs.are_held();
                first_bits += u64::from(width) * u64::from(!shown);
            }
            Storage::Passing(outlet) => {
                let depth = depths[&outlet];
                for (reader, clock) in read {
                    program.at_least((reader, made), -intervals(depth - (clock - store.born)));
                }
            }
        }
    }
    let (label, bound) = program.least();
    let by = |&number: &u32| (label[number as usize] - label[GROUND as usize]).max(0) as u32;
    Later {
        groups: groups.iter().map(|numbers| numbers.iter().map(by).collect()).collect(),
        regions: regions.iter().map(by).collect(),
        at_least: bound.map_or(0, |more| first_bits + more.max(0) as u64),
    }
}
