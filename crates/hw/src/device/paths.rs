//! Delays of paths through the operations of a model on a device. The timing of the gates is computed as fixed arcs,
//! which are then merged by operation.
//!
//! The model is lowered for a schedule (for the first estimate, without registers) and covered with LUTs. A register
//! bit counts as the bit that it stores, since registers will be placed again. Every LUT, chain bit and block then has
//! arcs from the bits that it reads. The delays of these arcs are those of [`super::timing`], but the assignment of
//! inputs to pins is fixed. The gates are then merged by operation: a point is a bit that other operations read, and an
//! arc between two points is the longest path between their bits through the gates of the operation.
//!
//! A LUT may cover gates of several operations. Its arcs then start at the bits that the LUT reads and skip the
//! operations within it. If a register lies within these operations, the LUT is timed as one that starts at the
//! register.

use super::count::tables;
use super::cover::{Cover, cover};
use super::estimate::{roots, size};
use super::forms::Forms;
use super::gates::{FIRST, Gate, Gates, Lit};
use super::tables::TableStyle;
use super::technology::{PartTimes, Technology, Times};
use super::timing::{BEFORE_CARRY, Reach, Timing, lumped_block, lumped_wires, wide_inputs};
use crate::netlist::{self, Cell, Fabric, Netlist, Options};
use alir_core::ir::Model;
use alir_opt::schedule::{self, Arc, From, Paths, Point, Schedule};
use rustc_hash::FxHashMap;

/// Maximum product of origins and nodes of an operation with separate arcs for its bits; above it, all bits share one
/// point.
const LARGE: u64 = 1 << 19;

/// Rounds a non-negative time to a multiple of 2^-20 ns, so that sums are exact.
fn exact(ns: f64) -> f64 {
    // A conversion is one instruction; `round` is a function call.
    (ns * f64::from(1 << 20) + 0.5) as u64 as f64 / f64::from(1 << 20)
}

/// Returns the paths of a model on a device, with the LUTs and pins of this schedule.
pub(super) fn paths(model: &Model, technology: &Technology, fabric: Fabric, schedule: &Schedule) -> Paths {
    let (gates, fixed, elements) = timed(model, technology, fabric, schedule);
    elements.gather(&gates, &fixed)
}

/// Returns the gates of a model, their arcs, and the elements that contain the gates.
fn timed(model: &Model, technology: &Technology, fabric: Fabric, schedule: &Schedule) -> (Gates, FixedArcs, Elements) {
    let options = Options { fabric: fabric.by_operation(), ..Options::default() };
    let netlist = netlist::lower(model, schedule, &options);
    let forms = Forms::new(&netlist, TableStyle::default());
    let gates = Gates::by_operation(&netlist, technology, true, &forms);
    let cover = cover(&gates, &roots(&gates), technology);
    let size = size(&tables(&gates, &cover, technology), technology);
    let fixed = FixedArcs::new(&gates, &cover, technology, size, held(&netlist, &gates));
    let elements = Elements::new(model, &netlist, &gates, &fixed);
    (gates, fixed, elements)
}

/// Marker for a missing index.
const NONE: u32 = u32::MAX;

/// Maps the gate of each register bit to the bit that it stores.
fn held(netlist: &Netlist, gates: &Gates) -> FxHashMap<u32, Lit> {
    let mut held = FxHashMap::default();
    let mut ends = gates.ends.iter();
    for (index, net) in netlist.nets().iter().enumerate() {
        if matches!(net.cell, Cell::Register { .. }) {
            let bits = gates.net(index, net.width);
            held.extend(bits.iter().zip(&mut ends).map(|(bit, &end)| (bit.gate() as u32, end)));
        }
    }
    held
}

/// Fixed arcs between gates and between the nodes within a gate, such as inputs and carries of a carry cell, or a
/// block.
struct FixedArcs {
    /// Node of each gate's output.
    node: Vec<u32>,
    /// Gate of each node.
    gate: Vec<u32>,
    /// Arrival time of each node that follows from its constant inputs.
    least: Vec<f64>,
    /// First arc of each node; the last entry is the number of arcs.
    start: Vec<u32>,
    /// Arcs into nodes: source node and delay in nanoseconds.
    arcs: Vec<(u32, f64)>,
    /// Setup time of a register after each gate's output, minus the smallest one.
    behind: Vec<f64>,
    /// Bit that each register bit stores, by the gate of the register bit.
    held: FxHashMap<u32, Lit>,
}

/// A node under construction.
#[derive(Default)]
struct Making {
    arcs: Vec<(u32, f64)>,
    least: f64,
}

impl FixedArcs {
    fn new(gates: &Gates, cover: &Cover, technology: &Technology, size: f64, held: FxHashMap<u32, Lit>) -> FixedArcs {
        let count = gates.gates.len();
        let mut made = FixedArcs {
            node: vec![NONE; count],
            gate: Vec::with_capacity(count),
            least: Vec::with_capacity(count),
            start: vec![0],
            arcs: Vec::new(),
            behind: vec![0.0; count],
            held,
        };
        match technology.times {
            PartTimes::Lumped(times) => made.lumped(gates, cover, technology, &times, size),
            PartTimes::Arcs(arcs) => {
                let timing = Timing::new(gates, cover, technology, size, 0.0);
                let reach = Reach::new(gates, cover, technology, arcs, arcs.wires.by_readers(size));
                made.by_arcs(gates, cover, technology, &reach, &timing);
                let least = technology.least_setup();
                made.behind = (0..count).map(|gate| (reach.setup(gate) - least).max(0.0)).collect();
            }
        }
        made
    }

    fn push(&mut self, gate: usize, making: Making) -> u32 {
        self.gate.push(gate as u32);
        self.least.push(making.least);
        self.arcs.extend(making.arcs);
        self.start.push(self.arcs.len() as u32);
        self.gate.len() as u32 - 1
    }

    fn arcs(&self, node: u32) -> &[(u32, f64)] {
        &self.arcs[self.start[node as usize] as usize..self.start[node as usize + 1] as usize]
    }

    /// Returns the bit that a register stores, through any number of registers; any other bit is returned unchanged.
    fn behind_registers(&self, mut x: Lit) -> Lit {
        while let Some(&read) = self.held.get(&(x.gate() as u32)) {
            x = read;
        }
        x
    }

    /// Adds the arc from a bit. A constant has no arc; its arrival time is 0.
    fn from(&self, making: &mut Making, x: Lit, time: f64, reach: impl Fn(usize) -> f64) {
        let x = self.behind_registers(x);
        if x.is_constant() {
            making.least = making.least.max(time);
        } else {
            making.arcs.push((self.node[x.gate()], reach(x.gate()) + time));
        }
    }

    fn lumped(&mut self, gates: &Gates, cover: &Cover, technology: &Technology, times: &Times, size: f64) {
        let wires = lumped_wires(times, size);
        let (table, chain) = (times.table * wires, times.chain * wires);
        let mut blocks = vec![NONE; gates.blocks.len()];
        let mut carries: FxHashMap<u32, u32> = FxHashMap::default();
        for (index, gate) in gates.gates.iter().enumerate() {
            let leaves = |gate: usize| {
                cover.cut(gate).map_or(&[][..], |cut| cut.leaves()).iter().map(|&leaf| Lit::from_gate(leaf as usize))
            };
            let mut making = Making::default();
            match *gate {
                Gate::Source => {}
                Gate::And(..) | Gate::Xor(..) | Gate::Mux(..) => {
                    let wide = wide_inputs(technology, gate, leaves(index).count());
                    let time = table + f64::from(wide) * times.wide_input * wires;
                    leaves(index).for_each(|x| self.from(&mut making, x, time, |_| 0.0));
                }
                Gate::Carry { a, b, before, own_table: _ } => {
                    let mut carry = Making { least: times.carry, ..Making::default() };
                    let enters = BEFORE_CARRY * chain + times.carry;
                    // The delay of a chain includes the LUT before the chain.
                    if technology.table_before_carry && gates.gates[a.gate()].is_logic() {
                        leaves(a.gate()).for_each(|x| self.from(&mut carry, x, enters, |_| 0.0));
                    } else {
                        self.from(&mut carry, a, enters, |_| 0.0);
                    }
                    self.from(&mut carry, b, enters, |_| 0.0);
                    if before != FIRST {
                        carry.arcs.push((carries[&before], times.carry));
                    }
                    let carry = self.push(index, carry);
                    carries.insert(index as u32, carry);
                    making.arcs.push((carry, (1.0 - BEFORE_CARRY) * chain - times.carry));
                }
                Gate::Block(block) => {
                    let known = &mut blocks[block as usize];
                    if *known == NONE {
                        let block = &gates.blocks[block as usize];
                        let (time, _) = lumped_block(block.kind, technology, times, wires);
                        let mut whole = Making::default();
                        block.inputs.iter().for_each(|&x| self.from(&mut whole, x, time, |_| 0.0));
                        *known = self.push(index, whole);
                    }
                    making.arcs.push((*known, 0.0));
                }
            }
            self.node[index] = self.push(index, making);
        }
    }

    fn by_arcs(&mut self, gates: &Gates, cover: &Cover, technology: &Technology, reach: &Reach, timing: &Timing) {
        let arcs = reach.arcs;
        let cell = &arcs.carry;
        let ns = |picoseconds: u16| f64::from(picoseconds) / 1000.0;
        // Pairs the inputs of a LUT with their delays to its output. The latest input uses the fastest pin.
        let through = |inputs: &[Lit]| {
            let at = |x: Lit| match x.is_constant() {
                true => 0.0,
                false => timing.arrivals[x.gate()].at + reach.arrival(x.gate()) as f32,
            };
            let mut inputs = inputs.to_vec();
            inputs.sort_by(|&x, &y| at(y).total_cmp(&at(x)));
            let times = arcs.table_times(inputs.len());
            inputs.into_iter().zip(times).collect::<Vec<(Lit, f64)>>()
        };
        let table = |gate: usize| {
            let leaves = cover.cut(gate).map_or(&[][..], |cut| cut.leaves());
            through(&leaves.iter().map(|&leaf| Lit::from_gate(leaf as usize)).collect::<Vec<_>>())
        };
        let mut blocks = vec![NONE; gates.blocks.len()];
        // Nodes of the cell under construction: select and direct input of each bit, and the carry into the cell.
        let (mut bits, mut carry_in): (Vec<[u32; 2]>, Option<u32>) = (Vec::new(), None);
        for (index, gate) in gates.gates.iter().enumerate() {
            let mut making = Making::default();
            match *gate {
                Gate::Source => {}
                Gate::And(..) | Gate::Xor(..) | Gate::Mux(..) => {
                    table(index)
                        .into_iter()
                        .for_each(|(x, time)| self.from(&mut making, x, time, |gate| reach.arrival(gate)));
                }
                Gate::Carry { a, b, before, own_table: _ } => {
                    if before == FIRST {
                        bits.clear();
                        carry_in = None;
                    } else if bits.len() == cell.bits {
                        let mut out = Making::default();
                        for (k, &[select, direct]) in bits.iter().enumerate() {
                            out.arcs.push((select, ns(cell.select_to_out[k]) + ns(cell.between)));
                            out.arcs.push((direct, ns(cell.direct_to_out[k]) + ns(cell.between)));
                        }
                        out.arcs.extend(carry_in.map(|carry| (carry, ns(cell.in_to_out) + ns(cell.between))));
                        carry_in = Some(self.push(index, out));
                        bits.clear();
                    }
                    let in_front = match gates.gates[a.gate()].is_logic() {
                        true => table(a.gate()),
                        false => through(&[a, b]),
                    };
                    let mut select = Making::default();
                    for (x, time) in in_front {
                        self.from(&mut select, x, time + ns(cell.from_table), |gate| reach.arrival(gate));
                    }
                    let mut direct = Making::default();
                    self.from(&mut direct, b, ns(cell.from_pin), |gate| reach.arrival(gate));
                    bits.push([self.push(index, select), self.push(index, direct)]);
                    let position = bits.len() - 1;
                    for (k, &[select, direct]) in bits.iter().enumerate() {
                        making.arcs.push((select, ns(cell.select_to_sum[k][position])));
                        if k < position {
                            making.arcs.push((direct, ns(cell.direct_to_sum[k][position])));
                        }
                    }
                    making.arcs.extend(carry_in.map(|carry| (carry, ns(cell.in_to_sum[position]))));
                }
                Gate::Block(block) => {
                    let known = &mut blocks[block as usize];
                    if *known == NONE {
                        let block = &gates.blocks[block as usize];
                        let inputs = match reach.block(block.kind, technology) {
                            Some((time, _)) => block.inputs.iter().map(|&x| (x, time)).collect(),
                            None => through(&block.inputs),
                        };
                        let mut whole = Making::default();
                        for (x, time) in inputs {
                            self.from(&mut whole, x, time, |gate| reach.arrival(gate));
                        }
                        *known = self.push(index, whole);
                    }
                    making.arcs.push((*known, 0.0));
                }
            }
            self.node[index] = self.push(index, making);
        }
    }
}

/// Source of arcs into an element: a point of another element or the input ports, with the nodes that read the source
/// and the delays of the arcs.
type Origin = (From, Vec<(u32, f64)>);

/// Assignment of gates to the elements of the model: operations and negations of outputs.
struct Elements {
    /// Element of each gate; [`NONE`] for bits of input ports.
    of: Vec<u32>,
    /// Nodes of each element, in order.
    nodes: Vec<Vec<u32>>,
    /// Gates of each element whose bits are read outside of the element or are its result.
    seen: Vec<Vec<u32>>,
    /// Gates that drive output ports, directly or through registers.
    shown: Vec<u32>,
    operations: usize,
}

impl Elements {
    fn new(model: &Model, netlist: &Netlist, gates: &Gates, fixed: &FixedArcs) -> Elements {
        let operations = model.nodes().len();
        let count = operations + model.outputs().len();
        let mut of = vec![NONE; gates.gates.len()];
        let mut last_net = vec![NONE; count];
        let mut end = gates.gates.len();
        for (index, net) in netlist.nets().iter().enumerate().rev() {
            let element = match (net.operation, net.output) {
                _ if matches!(net.cell, Cell::Input { .. }) => NONE,
                (Some(operation), _) => operation,
                (None, Some(output)) => operations as u32 + output,
                (None, None) => NONE,
            };
            let first = gates.first_gate[index] as usize;
            of[first..end].fill(element);
            end = first;
            if element != NONE && last_net[element as usize] == NONE {
                last_net[element as usize] = index as u32;
            }
        }
        let mut nodes = vec![Vec::new(); count];
        let mut is_seen = vec![false; gates.gates.len()];
        for node in 0..fixed.gate.len() as u32 {
            let element = of[fixed.gate[node as usize] as usize];
            if element == NONE {
                continue;
            }
            nodes[element as usize].push(node);
            for &(from, _) in fixed.arcs(node) {
                let gate = fixed.gate[from as usize] as usize;
                is_seen[gate] |= of[gate] != element;
            }
        }
        gates.ends.iter().for_each(|x| is_seen[x.gate()] = true);
        for (element, &net) in last_net.iter().enumerate().filter(|last| *last.1 != NONE) {
            let width = netlist.nets()[net as usize].width;
            for x in gates.net(net as usize, width) {
                is_seen[x.gate()] |= of[x.gate()] == element as u32;
            }
        }
        let mut seen = vec![Vec::new(); count];
        for gate in (0..gates.gates.len()).filter(|&gate| is_seen[gate] && of[gate] != NONE) {
            seen[of[gate] as usize].push(gate as u32);
        }
        let shown =
            gates.ends[gates.register_ends..].iter().map(|&x| fixed.behind_registers(x).gate() as u32).collect();
        Elements { of, nodes, seen, shown, operations }
    }

    /// Merges gates and their arcs by element.
    fn gather(&self, gates: &Gates, fixed: &FixedArcs) -> Paths {
        let mut paths = Paths::default();
        // Point of each gate that has one.
        let mut point = vec![NONE; gates.gates.len()];
        // For each point, a lower bound of the time from the point to the next point of the same element.
        let mut leads: Vec<f64> = Vec::new();
        // Scratch space, by node: the longest path to the end of the element, and the row in `times`.
        let mut way = vec![f64::NEG_INFINITY; fixed.gate.len()];
        let mut place = vec![NONE; fixed.gate.len()];
        for (element, nodes) in self.nodes.iter().enumerate() {
            paths.begin();
            if nodes.is_empty() {
                continue;
            }
            let outside = self.outside(element, fixed, &point);
            let seen = &self.seen[element];
            if outside.len() as u64 * nodes.len() as u64 > LARGE {
                let made = self.together(element, fixed, &mut way, &outside, &mut paths);
                seen.iter().for_each(|&gate| point[gate as usize] = made);
                leads.push(f64::NEG_INFINITY);
                continue;
            }
            // One vector for each gate in `seen`: the time from each origin, -inf if no path exists.
            let (all, width) = (self.times(element, fixed, &mut place, &outside), outside.len() + 1);
            let row = |gate: u32| &all[place[fixed.node[gate as usize] as usize] as usize * width..][..width];
            let rounded = |time: f64| if time > f64::NEG_INFINITY { exact(time.max(0.0)) } else { time };
            let times: Vec<Vec<f64>> =
                seen.iter().map(|&gate| row(gate)[..width - 1].iter().map(|&time| rounded(time)).collect()).collect();
            let later = later_origins(&outside, &paths, &leads);
            let mut before: Option<(&[f64], f64)> = None;
            for (&gate, times) in seen.iter().zip(&times) {
                let constant = exact(row(gate)[width - 1].max(0.0));
                let alone = times.iter().copied().fold(constant, f64::max);
                let behind = exact(fixed.behind[gate as usize]);
                let is_needed = needed(times, &later);
                let needed = outside.iter().enumerate().filter(|&(origin, _)| is_needed[origin]);
                let arcs: Vec<Arc> = needed.map(|(origin, &(from, _))| Arc { from, time: times[origin] }).collect();
                point[gate as usize] = paths.push(Point { alone, behind }, &arcs);
                leads.extend(before.map(|(earlier, earlier_alone)| lead(earlier, times).min(alone - earlier_alone)));
                before = Some((times, alone));
            }
            leads.extend(before.map(|_| f64::NEG_INFINITY));
        }
        let mut shown: Vec<u32> = self
            .shown
            .iter()
            .map(|&gate| gate as usize)
            .filter_map(|gate| {
                let is_operation = (self.of[gate] as usize) < self.operations;
                (is_operation && point[gate] != NONE).then(|| point[gate])
            })
            .collect();
        shown.sort_unstable();
        shown.dedup();
        shown.into_iter().for_each(|p| paths.show(p));
        paths
    }

    /// Adds a single point for a whole element: the arrival of its latest bit.
    fn together(
        &self,
        element: usize,
        fixed: &FixedArcs,
        way: &mut [f64],
        outside: &[Origin],
        paths: &mut Paths,
    ) -> u32 {
        let (nodes, seen) = (&self.nodes[element], &self.seen[element]);
        // Longest path from each node to any bit of the element, computed backwards.
        nodes.iter().for_each(|&node| way[node as usize] = f64::NEG_INFINITY);
        seen.iter().for_each(|&gate| way[fixed.node[gate as usize] as usize] = 0.0);
        for &node in nodes.iter().rev() {
            for &(from, time) in fixed.arcs(node) {
                if self.of[fixed.gate[from as usize] as usize] as usize == element {
                    way[from as usize] = way[from as usize].max(way[node as usize] + time);
                }
            }
        }
        let constant = nodes.iter().map(|&node| fixed.least[node as usize] + way[node as usize]).fold(0.0, f64::max);
        let mut arcs = Vec::with_capacity(outside.len());
        for (from, into) in outside {
            let time = into.iter().map(|&(node, time)| time + way[node as usize]).fold(f64::NEG_INFINITY, f64::max);
            if time > f64::NEG_INFINITY {
                arcs.push(Arc { from: *from, time: exact(time.max(0.0)) });
            }
        }
        let alone = arcs.iter().map(|arc| arc.time).fold(exact(constant), f64::max);
        let behind = seen.iter().map(|&gate| fixed.behind[gate as usize]).fold(0.0, f64::max);
        paths.push(Point { alone, behind: exact(behind) }, &arcs)
    }

    /// Returns the origins of an element, each with the nodes that read the origin and the delays of the arcs.
    fn outside(&self, element: usize, fixed: &FixedArcs, point: &[u32]) -> Vec<Origin> {
        let mut place: FxHashMap<u32, usize> = FxHashMap::default();
        let mut all: Vec<Origin> = Vec::new();
        for &node in &self.nodes[element] {
            for &(from, time) in fixed.arcs(node) {
                let gate = fixed.gate[from as usize] as usize;
                if self.of[gate] as usize == element {
                    continue;
                }
                let number = if self.of[gate] == NONE { NONE } else { point[gate] };
                let source = if self.of[gate] == NONE { schedule::From::Inputs } else { From::Point(number) };
                let at = *place.entry(number).or_insert_with(|| {
                    all.push((source, Vec::new()));
                    all.len() - 1
                });
                all[at].1.push((node, time));
            }
        }
        all
    }

    /// Returns the longest paths to the nodes of an element: one row for each node, with the time from each origin and,
    /// in the last column, from constants; -inf if no path exists. Writes the row of each node to `place`.
    fn times(&self, element: usize, fixed: &FixedArcs, place: &mut [u32], outside: &[Origin]) -> Vec<f64> {
        let (nodes, width) = (&self.nodes[element], outside.len() + 1);
        let mut times = vec![f64::NEG_INFINITY; nodes.len() * width];
        for (row, &node) in nodes.iter().enumerate() {
            place[node as usize] = row as u32;
            times[row * width + outside.len()] = fixed.least[node as usize];
        }
        for (origin, (_, into)) in outside.iter().enumerate() {
            for &(node, time) in into {
                let known = &mut times[place[node as usize] as usize * width + origin];
                *known = known.max(time);
            }
        }
        for (row, &node) in nodes.iter().enumerate() {
            let (before, own) = times.split_at_mut(row * width);
            for &(from, time) in fixed.arcs(node) {
                if self.of[fixed.gate[from as usize] as usize] as usize == element {
                    let from = &before[place[from as usize] as usize * width..][..width];
                    for (own, from) in own[..width].iter_mut().zip(from) {
                        let way = from + time;
                        *own = if way > *own { way } else { *own };
                    }
                }
            }
        }
        times
    }
}

/// Index of an origin; the next origin of the same element, with a lower bound of the time by which that next one is
/// later.
type Later = (usize, Option<(usize, f64)>);

/// Returns the origins in the order of their points, each with the next origin of the same element.
fn later_origins(outside: &[Origin], paths: &Paths, leads: &[f64]) -> Vec<Later> {
    let number = |origin: usize| match outside[origin].0 {
        From::Inputs => None,
        From::Point(point) => Some(point),
    };
    let mut origins: Vec<usize> = (0..outside.len()).collect();
    origins.sort_by_key(|&origin| number(origin));
    let next = origins.iter().copied().skip(1).map(Some).chain([None]);
    let with_next = origins.iter().zip(next).map(|(&origin, next)| {
        let points = number(origin).zip(next.and_then(number));
        let same = points.filter(|&(point, next)| paths.element(point) == paths.element(next));
        let later = same.map(|(point, next)| leads[point as usize..next as usize].iter().sum());
        (origin, next.zip(later))
    });
    with_next.collect()
}

/// Returns `true` for each origin whose arc can determine the arrival time of a point.
///
/// Two origins of one element are in the same stage. So an arc is redundant if the arc from a later point of the same
/// element takes at least as long, including the time by which that point is later. Most arcs in a chain of adders are
/// redundant: each bit depends on its own carry, and the carry depends on the bits below.
fn needed(times: &[f64], later: &[Later]) -> Vec<bool> {
    let mut is_needed = vec![false; times.len()];
    // Largest delay by way of later points of the same element.
    let mut by_later = vec![f64::NEG_INFINITY; times.len()];
    for &(origin, next) in later.iter().rev() {
        if let Some((next, lead)) = next {
            by_later[origin] = by_later[next].max(times[next]) + lead;
        }
        is_needed[origin] = times[origin] > by_later[origin];
    }
    is_needed
}

/// Returns the smallest delay between an earlier and a later point, computed from their times from each origin.
fn lead(earlier: &[f64], times: &[f64]) -> f64 {
    let pairs = earlier.iter().zip(times).filter(|pair| *pair.0 > f64::NEG_INFINITY);
    pairs.map(|(earlier, time)| time - earlier).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use alir_core::num::SplitMix;
    use alir_testing::random;

    /// Returns the arrival of the latest bit at an output port by the timing of the gates, without setup time.
    fn longest(model: &Model, technology: &Technology) -> f64 {
        let options = Options { fabric: Fabric::default().by_operation(), ..Options::default() };
        let netlist = netlist::lower(model, &Schedule::combinational(model.nodes().len()), &options);
        let forms = Forms::new(&netlist, TableStyle::default());
        let gates = Gates::by_operation(&netlist, technology, true, &forms);
        let cover = cover(&gates, &roots(&gates), technology);
        let size = size(&tables(&gates, &cover, technology), technology);
        let timing = Timing::new(&gates, &cover, technology, size, 0.0);
        let least = technology.least_setup();
        // Ports that are driven by inputs or constants belong to no operation.
        let made = gates.ends.iter().copied().filter(|x| gates.gates[x.gate()] != Gate::Source);
        f64::from(timing.latest_at_registers(made).at) - least
    }

    #[test]
    fn paths_take_what_the_gates_take() {
        let mut timed_at_all = 0;
        for seed in 0..60 {
            let model = random::model(seed);
            for device in [Device::Xcvu13p, Device::Series7, Device::Ecp5, Device::Ice40, Device::Agilex] {
                let technology = device.technology();
                let schedule = Schedule::combinational(model.nodes().len());
                let paths = paths(&model, technology, Fabric::default(), &schedule);
                let (longest, gates) = (paths.longest(model.nodes().len()), self::longest(&model, technology).max(0.0));
                assert!((longest - gates).abs() < 1e-3, "seed {seed}, {}: {longest} and {gates}", device.name());
                timed_at_all += usize::from(gates > 0.0);
            }
        }
        assert!(timed_at_all > 150, "{timed_at_all}");
    }

    #[test]
    fn points_in_stages_take_what_their_gates_take() {
        let mut compared = 0;
        for seed in 0..100 {
            let model = random::model(seed);
            let operations = model.nodes().len();
            for device in [Device::Xcvu13p, Device::Series7, Device::Ecp5, Device::Agilex] {
                let schedule = Schedule::combinational(operations);
                let (gates, fixed, elements) = timed(&model, device.technology(), Fabric::default(), &schedule);
                let paths = elements.gather(&gates, &fixed);
                let is_whole = |(e, seen): (usize, &Vec<u32>)| paths.points_of(e).len() == seen.len();
                if !elements.seen.iter().enumerate().all(is_whole) {
                    // The bits of an operation share one point.
                    continue;
                }
                // Random stages in which no operation precedes its operands.
                let mut rng = SplitMix::new(seed);
                let mut stage = vec![0u32; operations + model.outputs().len()];
                for id in model.ids() {
                    model.node(id).op.for_each_operand(|v| stage[id.index()] = stage[id.index()].max(stage[v.index()]));
                    stage[id.index()] += u32::from(rng.below(3) == 0);
                }
                for (j, out) in model.outputs().iter().enumerate() {
                    stage[operations + j] = out.source.map_or(0, |v| stage[v.index()]) + rng.below(2) as u32;
                }
                // Timing of each node: bits from another stage or from a port arrive when the stage begins.
                let element = |node: u32| elements.of[fixed.gate[node as usize] as usize];
                let mut at = fixed.least.clone();
                for node in 0..at.len() as u32 {
                    for &(from, time) in fixed.arcs(node) {
                        let is_before = element(from) == NONE
                            || element(node) == NONE
                            || stage[element(from) as usize] != stage[element(node) as usize];
                        let begins = if is_before { 0.0 } else { at[from as usize] };
                        at[node as usize] = at[node as usize].max(begins + time);
                    }
                }
                let mut arrival = vec![0.0f64; paths.len()];
                for p in 0..paths.len() as u32 {
                    let own = stage[paths.element(p)];
                    let arcs = paths.arcs(p).iter().filter_map(|arc| match arc.from {
                        From::Point(q) if stage[paths.element(q)] == own => Some(arrival[q as usize] + arc.time),
                        _ => None,
                    });
                    arrival[p as usize] = arcs.fold(paths.point(p).alone, f64::max);
                }
                for (element, seen) in elements.seen.iter().enumerate().filter(|(e, _)| !elements.nodes[*e].is_empty())
                {
                    for (p, &gate) in paths.points_of(element).zip(seen) {
                        let (by_points, by_gates) =
                            (arrival[p as usize], at[fixed.node[gate as usize] as usize].max(0.0));
                        let where_ = || format!("seed {seed}, {}, element {element}, gate {gate}", device.name());
                        assert!((by_points - by_gates).abs() < 1e-4, "{}: {by_points} and {by_gates}", where_());
                        compared += 1;
                    }
                }
            }
        }
        assert!(compared > 10_000, "{compared}");
    }

    #[test]
    fn an_operation_of_many_bits_is_timed_as_one() {
        use alir_core::ir::{Builder, Op, Output, Term, ValueId};
        use alir_core::num::Interval;
        let mut builder = Builder::new(vec![0; 200]);
        let inputs: Vec<ValueId> =
            (0..200).map(|input| builder.op(Op::Input { input }, Interval::new(0, 255, 0))).collect();
        let terms = inputs.iter().map(|&x| {
            let more = Op::AddConst { x, value: 3.into(), shift: 0 };
            Term { value: builder.op(more, Interval::new(3, 258, 0)), shift: 0, neg: false }
        });
        let terms: Vec<Term> = terms.collect();
        let sum = builder.op(Op::Sum { terms: terms.into() }, Interval::new(600, 200 * 258, 0));
        builder.output(Output { source: Some(sum), shift: 0, neg: false });
        let model = builder.finish().unwrap();
        for device in [Device::Xcvu13p, Device::Ecp5] {
            let schedule = Schedule::combinational(model.nodes().len());
            let paths = paths(&model, device.technology(), Fabric::default(), &schedule);
            assert_eq!(paths.points_of(ValueId(400).index()).len(), 1);
            let (longest, gates) = (paths.longest(model.nodes().len()), self::longest(&model, device.technology()));
            // The register after an earlier bit may need more setup time than the register after the latest bit.
            assert!(longest >= gates - 1e-3 && longest < gates + 0.2, "{}: {longest} and {gates}", device.name());
        }
    }

    #[test]
    fn sums_in_a_row_take_less_than_each_by_itself() {
        use alir_core::ir::{Builder, Op, Output, ValueId};
        use alir_core::num::Interval;
        let mut builder = Builder::new(vec![0; 4]);
        let inputs = [0, 1, 2, 3].map(|input| builder.op(Op::Input { input }, Interval::new(0, 65_535, 0)));
        let mut sum = inputs[0];
        for (k, &b) in (2..).zip(&inputs[1..]) {
            sum = builder.op(Op::Add { a: sum, b, shift: 0 }, Interval::new(0, k * 65_535, 0));
        }
        builder.output(Output { source: Some(sum), shift: 0, neg: false });
        let model = builder.finish().unwrap();
        for device in [Device::Xcvu13p, Device::Series7, Device::Ecp5, Device::Ice40] {
            let schedule = Schedule::combinational(model.nodes().len());
            let paths = paths(&model, device.technology(), Fabric::default(), &schedule);
            let own: f64 = (4..7).map(|id| paths.own_delay(ValueId(id))).sum();
            let whole = paths.longest(model.nodes().len());
            assert!(whole < 0.9 * own && whole > 0.4 * own, "{}: {whole} of {own}", device.name());
        }
    }
}
