//! State machine of a plan: one block with all logic, and registers around it.
//!
//! The block reads the phase, the ports and every register, and computes the next value of each register. Every
//! register is either plain or loaded at one phase.

use super::frame::{BIT, Frame, Load, TABLE, TABLE_INPUTS};
use super::serial::{self, Kind};
use super::{Base, Beats, Group, Lane, OutputPort, Plan, Region, Storage, WIDE, Wire, free, origin, wire};
use crate::netlist::Options;
use alir_core::ir::machine::Machine;
use alir_core::ir::{BinaryBits, Model, Op, Output, Table, TableId, ValueId};
use alir_core::num::{Code, Interval, Kif};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

/// Number of inputs of the first of two cascaded multiplexers. A six-input LUT selects among four values.
pub(super) const FOUR: usize = 4;

/// Returns the number of bits of an index below `n`.
fn bits_of(n: usize) -> usize {
    (usize::BITS - (n - 1).leading_zeros()) as usize
}

/// Builds the state machine of a plan, with the requested ports and, for the registers, `clk`. The reset is synchronous
/// and active high.
///
/// # Panics
/// If the plan does not belong to the program.
pub fn machine(model: &Model, plan: &Plan, options: &Options) -> Machine {
    let mut drawing = Drawing::new(model, plan, options);
    drawing.stores();
    for (number, group) in plan.groups.iter().enumerate() {
        for unit in 0..group.units {
            drawing.unit(number, group, unit);
        }
    }
    plan.regions.iter().for_each(|region| drawing.region(region));
    drawing.valid(plan.latency);
    drawing.outputs();
    drawing.frame.finish()
}

/// The registers of a value.
struct Stored {
    /// Register that loads the computed value; `None` if a port shows the value.
    first: Option<usize>,
    /// Values of the registers in the block, interval by interval or cycle by cycle.
    shown: Vec<ValueId>,
}

impl Stored {
    fn new(registers: &[(usize, ValueId)]) -> Stored {
        Stored { first: registers.first().map(|r| r.0), shown: registers.iter().map(|r| r.1).collect() }
    }
}

/// Function of the index of the selected value, for each phase.
type ByPhase<'c> = dyn Fn(&dyn Fn(i32) -> i32) -> Vec<Option<i32>> + 'c;

struct Drawing<'a> {
    frame: Frame<'a>,
    plan: &'a Plan,
    free: Vec<bool>,
    held: BTreeMap<Base, Stored>,
    passing: FxHashMap<OutputPort, Stored>,
    wired: FxHashMap<(Option<ValueId>, Wire), ValueId>,
    /// Input port that transfers beats.
    whole_port: Option<ValueId>,
    /// Value of each lane of the input port.
    lanes: FxHashMap<u32, ValueId>,
    /// Values of elements, by lane value and element type.
    elements: FxHashMap<(ValueId, Kif), ValueId>,
    /// Index bits of multiplexers, by the index in each phase.
    choices: FxHashMap<Vec<i32>, Vec<ValueId>>,
}

impl<'a> Deref for Drawing<'a> {
    type Target = Frame<'a>;

    fn deref(&self) -> &Frame<'a> {
        &self.frame
    }
}

impl DerefMut for Drawing<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.frame
    }
}

impl<'a> Drawing<'a> {
    fn new(model: &'a Model, plan: &'a Plan, options: &'a Options) -> Drawing<'a> {
        Drawing {
            frame: Frame::new(model, (plan.interval, &plan.inputs), options),
            plan,
            free: free(model),
            held: BTreeMap::new(),
            passing: FxHashMap::default(),
            wired: FxHashMap::default(),
            whole_port: None,
            lanes: FxHashMap::default(),
            elements: FxHashMap::default(),
            choices: FxHashMap::default(),
        }
    }

    // ---- registers of values ----

    /// Creates the registers of every value.
    fn stores(&mut self) {
        let (plan, model) = (self.plan, self.model);
        let mut depths: BTreeMap<OutputPort, u32> = BTreeMap::new();
        for (&base, store) in &plan.stores {
            let (kif, name) = match base {
                Base::Port(e) => (model.input_kifs()[e as usize], format!("captured_{e}")),
                Base::Value(v) => (model.kif(v), format!("v{}", model.node(v).origin)),
            };
            match store.storage {
                Storage::Held(n) => {
                    let phase = (store.born + plan.interval - 1) % plan.interval;
                    // The port may replace the first register.
                    let port = matches!(base, Base::Port(_)) && plan.inputs.are_held();
                    let mut registers = Vec::new();
                    for k in 1 + u32::from(port)..=n {
                        let name = format!("{name}_s{k}");
                        registers.push(self.register(&name, kif, Load::At(phase), false));
                    }
                    self.chain(&registers);
                    let mut stored = Stored::new(&registers);
                    if let Base::Port(e) = base {
                        let value = self.port(e, kif);
                        if let Some(first) = stored.first {
                            self.registers[first].next = Some(value);
                        }
                        if port {
                            stored.first = None;
                            stored.shown.insert(0, value);
                        }
                    }
                    self.held.insert(base, stored);
                }
                Storage::Passing(outlet) => {
                    let depth = depths.entry(outlet).or_default();
                    *depth = (store.last - store.born + 1).max(*depth);
                }
            }
        }
        for (outlet, depth) in depths {
            let (kif, name) = match outlet {
                OutputPort::Unit { group, unit, output } => {
                    let template = &plan.groups[group].template;
                    let kif = template.outputs()[output].source.map_or(Kif::ZERO, |v| template.kif(v));
                    (kif, format!("group{group}_unit{unit}_out{output}"))
                }
                OutputPort::Lane(lane) => (self.lane_of(lane).kif(), format!("lane{lane}")),
            };
            let name = |k| format!("{name}_d{k}");
            let registers: Vec<_> = (1..=depth).map(|k| self.register(&name(k), kif, Load::Always, false)).collect();
            self.chain(&registers);
            if let (OutputPort::Lane(lane), Some(first)) = (outlet, registers.first()) {
                self.registers[first.0].next = Some(self.lane(lane));
            }
            self.passing.insert(outlet, Stored::new(&registers));
        }
    }

    /// Returns the value of an element of the input port.
    fn port(&mut self, element: u32, kif: Kif) -> ValueId {
        let at = self.plan.inputs.as_beats().map(|beats| beats.elements[element as usize]);
        match at {
            None => {
                let at = self.ports[element as usize].clone();
                self.read(at, kif)
            }
            Some(None) => self.constant(0),
            Some(Some((_, lane))) => {
                let value = self.lane(lane);
                self.element_of_lane(value, kif)
            }
        }
    }

    fn beats(&self) -> &'a Beats {
        self.plan.inputs.as_beats().expect("only beats have lanes")
    }

    fn lane_of(&self, lane: u32) -> Lane {
        self.beats().lanes[lane as usize]
    }

    /// Returns the value of a lane of the port.
    fn lane(&mut self, lane: u32) -> ValueId {
        if let Some(&known) = self.lanes.get(&lane) {
            return known;
        }
        let (at, own) = (self.ports[0].clone(), self.lane_of(lane));
        let x = match self.whole_port {
            Some(known) => known,
            None => {
                let whole = Lane { lsb: 0, width: self.beats().width };
                self.read(at, whole.kif())
            }
        };
        self.whole_port = Some(x);
        let made = self.op(Op::Quantise { x, shift: -(own.lsb as i32) }, Interval::full(own.kif()));
        self.lanes.insert(lane, made);
        made
    }

    /// Returns the bits of a lane as a value of this type: wires only.
    fn element_of_lane(&mut self, x: ValueId, kif: Kif) -> ValueId {
        if let Some(&known) = self.elements.get(&(x, kif)) {
            return known;
        }
        let made = self.op(Op::Quantise { x, shift: -kif.frac }, Interval::full(kif));
        self.elements.insert((x, kif), made);
        made
    }

    /// Returns the value in the block that shows a value of the program in a cycle.
    fn value(&mut self, value: ValueId, clock: u32) -> ValueId {
        let (model, plan) = (self.model, self.plan);
        let origin = origin(model, &self.free, value);
        let shown = origin.base.map(|base| {
            let store = &plan.stores[&base];
            let since = clock - store.born;
            match store.storage {
                Storage::Held(_) => self.held[&base].shown[(since / plan.interval) as usize],
                Storage::Passing(outlet) => {
                    let shown = self.passing[&outlet].shown[since as usize];
                    match (outlet, base) {
                        (OutputPort::Lane(_), Base::Port(e)) => {
                            self.element_of_lane(shown, model.input_kifs()[e as usize])
                        }
                        _ => shown,
                    }
                }
            }
        });
        let mut at = shown;
        for id in origin.wires {
            let key = (at, wire(model, id));
            if let Some(&known) = self.wired.get(&key) {
                at = Some(known);
                continue;
            }
            let made = match (&key.1, at) {
                (Wire::Constant(id), _) => {
                    let node = model.node(*id);
                    self.op(node.op.clone(), node.interval.clone())
                }
                (Wire::Quantised(shift, interval), Some(x)) => {
                    self.op(Op::Quantise { x, shift: *shift }, interval.clone())
                }
                (Wire::Quantised(..), None) => unreachable!("something is quantised"),
            };
            self.wired.insert(key, made);
            at = Some(made);
        }
        at.expect("a value is a register or a constant")
    }

    // ---- units ----

    /// Returns the bits, lowest first, of the index that selects among `among` values by phase. Registers provide the
    /// bits, unless the `among` values and the bits of the phase fit into one six-input LUT: depth-optimising synthesis
    /// merges a multiplexer and the LUTs of its index into one function if the function has at most nine inputs, and
    /// implements that function with up to eight LUTs.
    fn choice(&mut self, mut by_phase: Vec<Option<i32>>, among: usize) -> Vec<ValueId> {
        // The index keeps its value in unused phases.
        let first = by_phase.iter().position(Option::is_some).unwrap_or(0);
        by_phase.rotate_left(first);
        let mut before = 0;
        let mut entries: Vec<i32> = Vec::with_capacity(by_phase.len());
        for entry in by_phase {
            before = entry.unwrap_or(before);
            entries.push(before);
        }
        entries.rotate_right(first);
        let most = entries.iter().copied().max().unwrap_or(0);
        if among + bits_of(entries.len()) > TABLE_INPUTS {
            let one = |bit: usize| entries.iter().map(|entry| entry >> bit & 1 == 1).collect();
            return (0..bits_of(most as usize + 1)).map(|bit| self.frame.by_phase(one(bit))).collect();
        }
        if let Some(known) = self.choices.get(&entries) {
            return known.clone();
        }
        let interval = Interval::new(0, i64::from(most), 0);
        let table = Table { entries: entries.clone(), out: interval.clone(), hash: String::new(), inp_width: 0 };
        self.tables.push(table);
        let table = TableId(self.tables.len() as u32 - 1);
        let phase = self.phase;
        let index = self.op(Op::Lookup { x: phase, table, base: Code::ZERO }, interval.clone());
        let bits = (0..interval.kif().width() as i32)
            .map(|bit| self.op(Op::Quantise { x: index, shift: -bit }, Interval::full(BIT)))
            .collect::<Vec<_>>();
        self.choices.insert(entries, bits.clone());
        bits
    }

    /// Returns the value that the phase selects among these sources, and `true` if the value is available a cycle
    /// later. `later` is a register name if a later cycle is allowed: selection among more than `WIDE` sources then
    /// takes two cycles.
    fn chosen(&mut self, at: &[(u32, ValueId)], kif: Kif, later: Option<&str>) -> (ValueId, bool) {
        let interval = self.plan.interval;
        let mut sources: Vec<ValueId> = Vec::new();
        let mut places: Vec<(u32, i32)> = Vec::with_capacity(at.len());
        for &(phase, source) in at {
            let place = sources.iter().position(|&s| s == source).unwrap_or_else(|| {
                sources.push(source);
                sources.len() - 1
            });
            places.push((phase, place as i32));
        }
        let by_phase = |delay: u32, entry: &dyn Fn(i32) -> i32| {
            let mut by_phase: Vec<Option<i32>> = vec![None; interval as usize];
            for &(phase, place) in &places {
                by_phase[((phase + delay) % interval) as usize] = Some(entry(place));
            }
            by_phase
        };
        let Some(name) = later.filter(|_| sources.len() > WIDE) else {
            let value = self.one_of(sources, &|entry| by_phase(0, entry), kif);
            return (self.quantised(value, kif), false);
        };
        // The first cycle selects one of each four values; the second cycle selects one of the results.
        let low = self.choice(by_phase(0, &|place| place % FOUR as i32), FOUR);
        let mut held = Vec::new();
        for (k, four) in sources.chunks(FOUR).enumerate() {
            let one = self.selected(four.to_vec(), &low[..bits_of(four.len())], kif);
            let one = self.quantised(one, kif);
            let (register, shown) = self.register(&format!("{name}_{k}"), kif, Load::Always, false);
            self.registers[register].next = Some(one);
            held.push(shown);
        }
        let value = self.one_of(held, &|entry| by_phase(1, &|place| entry(place / FOUR as i32)), kif);
        (self.quantised(value, kif), true)
    }

    /// Selects one of several values; `by_phase` applies a function to the index of the selected value in each phase.
    /// The structure suits six-input LUTs, each of which selects among four values: depth-optimising synthesis
    /// implements a multiplexer with at most nine inputs as one function, which takes up to eight six-input LUTs.
    fn one_of(&mut self, sources: Vec<ValueId>, by_phase: &ByPhase<'_>, kif: Kif) -> ValueId {
        let (n, fours) = (sources.len(), sources.len() / FOUR);
        match n {
            1 => sources[0],
            // Ten inputs, two LUTs: each value has a one-hot select bit.
            5 if self.plan.interval as usize <= TABLE => {
                let zero = self.op(Op::Const { value: Code::ZERO }, Interval::new(0, 0, kif.frac));
                let mut all: Option<ValueId> = None;
                for (k, x) in (0..).zip(sources) {
                    let on_true = self.quantised(x, kif);
                    let cond = self.choice(by_phase(&|place| i32::from(place == k)), n)[0];
                    let op = Op::Mux { cond, on_true, on_false: zero, shift: 0 };
                    let mut value = self.op(op, Interval::full(kif));
                    if let Some(a) = all {
                        let op = Op::Binary { op: BinaryBits::Or, a, b: value, shift: 0 };
                        value = self.op(op, Interval::full(kif));
                    }
                    all = Some(value);
                }
                all.expect("there are five")
            }
            // Selects one of each four values, then one of the results and the remaining values.
            6 | 7 | 10 if self.plan.interval as usize <= TABLE => {
                let low = self.choice(by_phase(&|place| place % FOUR as i32), n);
                let mut above: Vec<ValueId> = Vec::with_capacity(FOUR);
                for four in sources[..FOUR * fours].chunks(FOUR) {
                    above.push(self.selected(four.to_vec(), &low, kif));
                }
                above.extend(&sources[FOUR * fours..]);
                let left = (FOUR * fours) as i32;
                let place = |place: i32| if place < left { place / FOUR as i32 } else { place - left + fours as i32 };
                let high = self.choice(by_phase(&place), n);
                self.selected(above, &high, kif)
            }
            _ => {
                let index = self.choice(by_phase(&|place| place), n);
                self.selected(sources, &index, kif)
            }
        }
    }

    /// Returns one of several values, selected by the bits of its index, lowest first.
    fn selected(&mut self, mut sources: Vec<ValueId>, index: &[ValueId], kif: Kif) -> ValueId {
        for &bit in index {
            let pairs: Vec<Vec<ValueId>> = sources.chunks(2).map(<[ValueId]>::to_vec).collect();
            sources = Vec::with_capacity(pairs.len());
            for pair in pairs {
                sources.push(match pair[..] {
                    [off, on] => {
                        let op = Op::Mux { cond: bit, on_true: on, on_false: off, shift: 0 };
                        self.op(op, Interval::full(kif))
                    }
                    _ => pair[0],
                });
            }
        }
        sources[0]
    }

    /// Builds one unit of a group: its input multiplexers, its logic, and the registers of its results.
    fn unit(&mut self, number: usize, group: &Group, unit: u32) {
        let (plan, template) = (self.plan, &group.template);
        let mut instances: Vec<_> = group.instances.iter().filter(|i| i.unit == unit).collect();
        instances.sort_by_key(|i| i.start % plan.interval);
        let first = Plan::first_readings(group);
        let mut inputs = Vec::with_capacity(template.n_inputs());
        for (k, &kif) in template.input_kifs().iter().enumerate() {
            let mut sources = Vec::with_capacity(instances.len());
            for instance in &instances {
                sources.push((instance.start % plan.interval, self.value(instance.inputs[k], instance.start)));
            }
            let later = first[k] > 0;
            let name = format!("group{number}_unit{unit}_in{k}");
            inputs.push(self.chosen(&sources, kif, later.then_some(&name)));
        }
        let tables = self.places_of_tables(template);
        // Values by operation and stage.
        let mut made: FxHashMap<(ValueId, u32), ValueId> = FxHashMap::default();
        for id in template.ids() {
            let node = template.node(id);
            let stage = group.stage[id.index()];
            let mut op = node.op.clone();
            let value = match &op {
                Op::Input { input } => {
                    let (value, later) = inputs[*input as usize];
                    let value = self.quantised(value, template.kif(id));
                    made.insert((id, stage + u32::from(later)), value);
                    continue;
                }
                _ => {
                    op.map_operands(|v| {
                        self.in_stage(
                            template,
                            (v, stage),
                            &group.stage,
                            &mut made,
                            &format!("group{number}_unit{unit}"),
                        )
                    });
                    if let Op::Lookup { table, .. } = &mut op {
                        *table = tables[table.0 as usize];
                    }
                    self.op(op, node.interval.clone())
                }
            };
            made.insert((id, stage), value);
        }
        for (k, output) in template.outputs().iter().enumerate() {
            let source = output.source.expect("an output of a block is a value");
            let value = made[&(source, group.stage[source.index()])];
            if let Some(first) =
                self.passing.get(&OutputPort::Unit { group: number, unit, output: k }).and_then(|s| s.first)
            {
                self.registers[first].next = Some(value);
            }
            for instance in &instances {
                let v = instance.outputs[k];
                if let Some(first) = self.held.get(&Base::Value(v)).and_then(|s| s.first) {
                    let kif = self.model.kif(v);
                    self.registers[first].next = Some(self.quantised(value, kif));
                }
            }
        }
    }

    /// Returns a value of a unit in a stage; adds pipeline registers after the stage that computes the value.
    fn in_stage(
        &mut self,
        template: &Model,
        (v, stage): (ValueId, u32),
        stages: &[u32],
        made: &mut FxHashMap<(ValueId, u32), ValueId>,
        name: &str,
    ) -> ValueId {
        let mut own = stages[v.index()];
        if !made.contains_key(&(v, own)) {
            // A multiplexer of two cycles provides the value one stage later.
            own += 1;
        }
        let mut value = made[&(v, own)];
        if matches!(template.node(v).op, Op::Const { .. }) {
            return value;
        }
        for at in own + 1..=stage {
            value = match made.get(&(v, at)) {
                Some(&known) => known,
                None => {
                    let kif = self.kif(value);
                    let (register, shown) = self.register(&format!("{name}_{v}_s{at}"), kif, Load::Always, false);
                    self.registers[register].next = Some(value);
                    made.insert((v, at), shown);
                    shown
                }
            };
        }
        value
    }

    // ---- bit-serial parts ----

    /// Builds a region: streams from the registers of its operands, and the registers of its results.
    fn region(&mut self, region: &Region) {
        let mut words = vec![None; region.inputs.len()];
        for (node, _) in region.graph.nodes.iter().zip(&region.plan.streams).filter(|(_, stream)| stream.is_some()) {
            if let Kind::Port(e) = node.kind {
                let e = e as usize;
                let shown = self.value(region.inputs[e], region.plan.arrivals[e]);
                words[e] = Some(self.quantised(shown, node.kif));
            }
        }
        let tables = self.places_of_tables(&region.implementation);
        let results = serial::draw(&mut self.frame, (&region.graph, &tables), &region.plan, &words);
        for (&v, result) in region.outputs.iter().zip(results) {
            let Some(first) = self.held.get(&Base::Value(v)).and_then(|s| s.first) else { continue };
            let kif = self.model.kif(v);
            let value = match result {
                Some(result) => result,
                None => self.constant(0),
            };
            self.registers[first].next = Some(self.quantised(value, kif));
        }
    }

    // ---- results ----

    fn outputs(&mut self) {
        let (model, plan) = (self.model, self.plan);
        let ports = self.output_ports();
        for (j, (output, port)) in model.outputs().iter().zip(ports).enumerate() {
            let Some(source) = output.source else {
                self.gives(Output { source: None, shift: 0, neg: false }, port);
                continue;
            };
            let own = plan.own_register[j];
            let x = self.value(source, if own { plan.settled() - 1 } else { plan.settled() });
            let interval = model.output_intervals()[j].scaled(-output.shift);
            let kif = interval.kif();
            let op = if output.neg { Op::Neg { x } } else { Op::Quantise { x, shift: 0 } };
            let mut shown = self.op(op, interval.clone());
            if own {
                let phase = (plan.settled() - 1) % plan.interval;
                let (register, held) = self.register(&format!("result_{j}"), kif, Load::At(phase), false);
                self.registers[register].next = Some(shown);
                shown = self.op(Op::Quantise { x: held, shift: 0 }, interval.clone());
            }
            if plan.registered_outputs {
                let (register, held) = self.register(&format!("shown_{j}"), kif, Load::Always, false);
                self.registers[register].next = Some(shown);
                shown = self.op(Op::Quantise { x: held, shift: 0 }, interval);
            }
            self.gives(Output { source: Some(shown), shift: output.shift, neg: false }, port);
        }
    }
}
