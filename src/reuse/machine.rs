//! A plan as a state machine: one block with all logic, and registers around it.
//!
//! The block reads the phase, the ports and every register, and computes what each register takes. Every register is
//! either plain or loaded at one phase.

use super::{Base, Group, Plan, Storage, free, origin};
use crate::ir::machine::{Access, BlockId, Connection, Machine, MachineBuilder, Signal, SignalId, SignalKind};
use crate::ir::{BinaryBits, Builder, Limits, Model, Node, Op, Output, Table, TableId, UnaryBits, ValueId};
use crate::netlist::{Options, Ports};
use crate::num::{Code, Interval, Kif};
use num_bigint::BigInt;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// The machine of a plan, with the ports that are asked for: `clk` comes with the registers. Its reset is active high
/// and on the clock's edge.
///
/// # Panics
/// If the plan is none of the program's.
pub fn machine(model: &Model, plan: &Plan, options: &Options) -> Machine {
    let mut drawing = Drawing::new(model, plan, options);
    drawing.stores();
    for (number, group) in plan.groups.iter().enumerate() {
        for copy in 0..group.copies {
            drawing.copy(number, group, copy);
        }
    }
    drawing.valid();
    drawing.outputs();
    drawing.finish()
}

const BIT: Kif = Kif { signed: false, int: 1, frac: 0 };

/// A register.
struct Register {
    signal: SignalId,
    /// What it takes, once that is known.
    next: Option<ValueId>,
    /// The phase that it is loaded at; nothing: in every clock.
    phase: Option<u32>,
}

/// Registers of a value, and what they show in the block.
struct Stored {
    /// Indices of registers and their values.
    registers: Vec<(usize, ValueId)>,
}

struct Drawing<'a> {
    model: &'a Model,
    plan: &'a Plan,
    options: &'a Options,
    free: Vec<bool>,
    builder: MachineBuilder,
    names: FxHashSet<String>,
    nodes: Vec<Node>,
    tables: Vec<Table>,
    /// What the block reads.
    inputs: Vec<(Access, Kif)>,
    /// What it gives, and where that goes.
    outputs: Vec<(Output, Connection)>,
    registers: Vec<Register>,
    held: BTreeMap<Base, Stored>,
    passing: FxHashMap<(usize, u32, usize), Stored>,
    /// Data ports: the place of each element.
    ports: Vec<Access>,
    phase: ValueId,
    phase_kif: Kif,
    reset: Option<Access>,
    enable: Option<ValueId>,
    valid_in: Option<ValueId>,
    /// Conditions by phase.
    at_phase: FxHashMap<u32, ValueId>,
    loads: FxHashMap<Option<u32>, Option<usize>>,
    wired: FxHashMap<(Option<ValueId>, ValueId), ValueId>,
    /// Choices by phase: indices, and their bits.
    choices: FxHashMap<Vec<i32>, Vec<ValueId>>,
}

fn element(signal: SignalId, k: usize) -> Access {
    Access { signal, lo: k, hi: k + 1, dynamic: None }
}

impl<'a> Drawing<'a> {
    fn new(model: &'a Model, plan: &'a Plan, options: &'a Options) -> Drawing<'a> {
        let bits = (32 - (plan.interval - 1).leading_zeros()).max(1);
        let mut drawing = Drawing {
            model,
            plan,
            options,
            free: free(model),
            builder: MachineBuilder::default(),
            names: FxHashSet::default(),
            nodes: Vec::new(),
            tables: model.tables().to_vec(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            registers: Vec::new(),
            held: BTreeMap::new(),
            passing: FxHashMap::default(),
            ports: Vec::new(),
            phase: ValueId(0),
            phase_kif: Kif { signed: false, int: bits as i32, frac: 0 },
            reset: None,
            enable: None,
            valid_in: None,
            at_phase: FxHashMap::default(),
            loads: FxHashMap::default(),
            wired: FxHashMap::default(),
            choices: FxHashMap::default(),
        };
        drawing.input_ports();
        drawing.counter();
        drawing
    }

    // ---- signals ----

    fn signal(&mut self, name: &str, kind: SignalKind, output: bool, elements: Vec<Kif>) -> SignalId {
        let mut name = name.to_owned();
        while !self.names.insert(name.to_ascii_lowercase()) {
            name.push('x');
        }
        let signal = Signal { name, kind, output, elements, reset_to: None, reset_if: None, schedule: None };
        self.builder.signal(signal)
    }

    fn input_ports(&mut self) {
        let (options, model) = (self.options, self.model);
        let names = &options.names;
        let control = |drawing: &mut Self, name: &str, wanted: bool| {
            wanted.then(|| element(drawing.signal(name, SignalKind::Input, false, vec![BIT]), 0))
        };
        self.reset = control(self, &names.reset, options.reset.is_some());
        let enable = control(self, &names.enable, options.enable);
        let valid = control(self, &names.valid_in, options.valid);
        self.enable = enable.map(|access| self.read(access, BIT));
        self.valid_in = valid.map(|access| self.read(access, BIT));
        let kifs = model.input_kifs().to_vec();
        match options.ports {
            Ports::Packed if kifs.is_empty() => {}
            Ports::Packed => {
                let n = kifs.len();
                let port = self.signal(&names.inputs, SignalKind::Input, false, kifs);
                self.ports = (0..n).map(|k| element(port, k)).collect();
            }
            Ports::Split => {
                for (k, kif) in kifs.into_iter().enumerate() {
                    let name = format!("{}_{k}", names.input_prefix);
                    let port = self.signal(&name, SignalKind::Input, false, vec![kif]);
                    self.ports.push(element(port, 0));
                }
            }
        }
    }

    /// A register; `starts` gives it a first value, to which the reset sets it too.
    fn register(&mut self, name: &str, kif: Kif, phase: Option<u32>, starts: bool) -> (usize, ValueId) {
        let signal = self.signal(name, SignalKind::Register, false, vec![kif]);
        if starts || self.options.reset.is_some_and(|reset| reset.data) {
            self.builder.reset_to(signal, Some(vec![BigInt::ZERO]));
            if let Some(reset) = self.reset.clone() {
                self.builder.reset_if(signal, reset);
            }
        }
        self.registers.push(Register { signal, next: None, phase });
        let shown = self.read(element(signal, 0), kif);
        (self.registers.len() - 1, shown)
    }

    // ---- operations of the block ----

    fn op(&mut self, op: Op, interval: Interval) -> ValueId {
        let origin = self.nodes.len() as u32;
        self.nodes.push(Node { op, interval, latency: 0.0, cost: 0.0, origin });
        ValueId(origin)
    }

    fn kif(&self, v: ValueId) -> Kif {
        self.nodes[v.index()].interval.kif()
    }

    fn constant(&mut self, value: u64) -> ValueId {
        self.op(Op::Const { value: Code::from(value as i64) }, Interval::new(value as i64, value as i64, 0))
    }

    /// What the block reads somewhere.
    fn read(&mut self, access: Access, kif: Kif) -> ValueId {
        if kif.is_zero() {
            return self.constant(0);
        }
        let input = self.inputs.len() as u32;
        self.inputs.push((access, kif));
        self.op(Op::Input { input }, Interval::full(kif))
    }

    fn and(&mut self, a: ValueId, b: ValueId) -> ValueId {
        self.op(Op::Binary { op: BinaryBits::And, a, b, shift: 0 }, Interval::full(BIT))
    }

    /// A value in another type.
    fn quantised(&mut self, x: ValueId, kif: Kif) -> ValueId {
        if self.kif(x) == kif { x } else { self.op(Op::Quantise { x, shift: 0 }, Interval::full(kif)) }
    }

    /// Whether the phase is this one.
    fn at(&mut self, phase: u32) -> ValueId {
        if let Some(&known) = self.at_phase.get(&phase) {
            return known;
        }
        let flips = ((1u64 << self.phase_kif.width()) - 1) ^ u64::from(phase);
        let mut x = self.phase;
        if flips != 0 {
            let b = self.constant(flips);
            let op = Op::Binary { op: BinaryBits::Xor, a: x, b, shift: 0 };
            x = self.op(op, Interval::full(self.phase_kif));
        }
        let at = self.op(Op::Unary { op: UnaryBits::All, x }, Interval::full(BIT));
        self.at_phase.insert(phase, at);
        at
    }

    /// The counter of phases, and the port that says when a sample is taken.
    fn counter(&mut self) {
        let kif = self.phase_kif;
        let (register, phase) = self.register("phase", kif, None, true);
        self.phase = phase;
        let one = Op::AddConst { x: phase, value: Code::from(1), shift: 0 };
        let more = self.op(one, Interval::new(1, 1i64 << kif.width(), 0));
        let interval = Interval::full(kif);
        let next = if self.plan.interval.is_power_of_two() {
            self.op(Op::Quantise { x: more, shift: 0 }, interval)
        } else {
            let cond = self.at(self.plan.interval - 1);
            let on_true = self.constant(0);
            self.op(Op::Mux { cond, on_true, on_false: more, shift: 0 }, interval)
        };
        self.registers[register].next = Some(next);
        let ready = self.at(0);
        let name = self.options.names.ready.clone();
        let port = self.signal(&name, SignalKind::Wire, true, vec![BIT]);
        self.gives(Output { source: Some(ready), shift: 0, neg: false }, element(port, 0));
    }

    fn gives(&mut self, output: Output, dst: Access) -> usize {
        // The place in the block's output is filled in when that signal is there.
        let src = dst.clone();
        self.outputs.push((output, Connection { src, dst, enable_if: None, alternative: None }));
        self.outputs.len() - 1
    }

    // ---- registers of values ----

    /// The registers of every value.
    fn stores(&mut self) {
        let (plan, model) = (self.plan, self.model);
        let mut depths: BTreeMap<(usize, u32, usize), u32> = BTreeMap::new();
        for (&base, store) in &plan.stores {
            let (kif, name) = match base {
                Base::Port(e) => (model.input_kifs()[e as usize], format!("captured_{e}")),
                Base::Value(v) => (model.kif(v), format!("v{}", model.node(v).origin)),
            };
            match store.storage {
                Storage::Held(n) => {
                    let phase = (store.born - 1) % plan.interval;
                    let mut registers = Vec::new();
                    for k in 1..=n {
                        let name = format!("{name}_s{k}");
                        registers.push(self.register(&name, kif, Some(phase), false));
                    }
                    self.chain(&registers);
                    self.held.insert(base, Stored { registers });
                }
                Storage::Passing { group, copy, output } => {
                    let depth = depths.entry((group, copy, output)).or_default();
                    *depth = (store.last - store.born + 1).max(*depth);
                }
            }
        }
        for ((group, copy, output), depth) in depths {
            let template = &plan.groups[group].template;
            let kif = template.outputs()[output].source.map_or(Kif::ZERO, |v| template.kif(v));
            let name = |k| format!("group{group}_copy{copy}_out{output}_d{k}");
            let registers: Vec<_> = (1..=depth).map(|k| self.register(&name(k), kif, None, false)).collect();
            self.chain(&registers);
            self.passing.insert((group, copy, output), Stored { registers });
        }
        for e in 0..model.n_inputs() {
            let kif = model.input_kifs()[e];
            let Some(&(first, _)) = self.held.get(&Base::Port(e as u32)).and_then(|s| s.registers.first()) else {
                continue;
            };
            let value = self.read(self.ports[e].clone(), kif);
            self.registers[first].next = Some(value);
        }
    }

    /// Each register behind the first takes what the one before it shows.
    fn chain(&mut self, registers: &[(usize, ValueId)]) {
        for pair in registers.windows(2) {
            self.registers[pair[1].0].next = Some(pair[0].1);
        }
    }

    /// A value of the program in a clock.
    fn value(&mut self, value: ValueId, clock: u32) -> ValueId {
        let (model, plan) = (self.model, self.plan);
        let origin = origin(model, &self.free, value);
        let shown = origin.base.map(|base| {
            let store = &plan.stores[&base];
            let since = clock - store.born;
            match store.storage {
                Storage::Held(_) => self.held[&base].registers[(since / plan.interval) as usize].1,
                Storage::Passing { group, copy, output } => {
                    self.passing[&(group, copy, output)].registers[since as usize].1
                }
            }
        });
        let mut at = shown;
        for wire in origin.wires {
            if let Some(&known) = self.wired.get(&(at, wire)) {
                at = Some(known);
                continue;
            }
            let node = model.node(wire);
            let made = match (&node.op, at) {
                (Op::Const { .. }, _) => self.op(node.op.clone(), node.interval.clone()),
                (Op::Input { .. }, Some(x)) => self.op(Op::Quantise { x, shift: 0 }, node.interval.clone()),
                (Op::Quantise { shift, .. }, Some(x)) => {
                    self.op(Op::Quantise { x, shift: *shift }, node.interval.clone())
                }
                _ => unreachable!("wires are inputs, constants and what is quantised"),
            };
            self.wired.insert((at, wire), made);
            at = Some(made);
        }
        at.expect("a value is a register or a constant")
    }

    // ---- copies ----

    /// Bits of the index that a choice by phase has, lowest first.
    fn choice(&mut self, mut by_phase: Vec<Option<i32>>) -> Vec<ValueId> {
        // In phases in which nothing is computed the index stays what it was.
        let first = by_phase.iter().position(Option::is_some).unwrap_or(0);
        by_phase.rotate_left(first);
        let mut before = 0;
        let mut entries: Vec<i32> = Vec::with_capacity(by_phase.len());
        for entry in by_phase {
            before = entry.unwrap_or(before);
            entries.push(before);
        }
        entries.rotate_right(first);
        if let Some(known) = self.choices.get(&entries) {
            return known.clone();
        }
        let most = entries.iter().copied().max().unwrap_or(0);
        let interval = Interval::new(0, i64::from(most), 0);
        let table = Table { entries: entries.clone(), out: interval.clone(), hash: String::new(), inp_width: 0 };
        self.tables.push(table);
        let table = TableId(self.tables.len() as u32 - 1);
        let index = self.op(Op::Lookup { x: self.phase, table, base: Code::ZERO }, interval.clone());
        let bits = (0..interval.kif().width() as i32)
            .map(|bit| self.op(Op::Quantise { x: index, shift: -bit }, Interval::full(BIT)))
            .collect::<Vec<_>>();
        self.choices.insert(entries, bits.clone());
        bits
    }

    /// The value that the phase selects among these.
    fn chosen(&mut self, at: &[(u32, ValueId)], kif: Kif) -> ValueId {
        let mut sources: Vec<ValueId> = Vec::new();
        let mut by_phase: Vec<Option<i32>> = vec![None; self.plan.interval as usize];
        for &(phase, source) in at {
            let place = sources.iter().position(|&s| s == source).unwrap_or_else(|| {
                sources.push(source);
                sources.len() - 1
            });
            by_phase[phase as usize] = Some(place as i32);
        }
        if sources.len() > 1 {
            for bit in self.choice(by_phase) {
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
        }
        self.quantised(sources[0], kif)
    }

    /// One copy of a group: what it reads at each phase, its logic, and where its results go.
    fn copy(&mut self, number: usize, group: &Group, copy: u32) {
        let (plan, template) = (self.plan, &group.template);
        let mut instances: Vec<_> = group.instances.iter().filter(|i| i.copy == copy).collect();
        instances.sort_by_key(|i| i.start % plan.interval);
        let mut inputs = Vec::with_capacity(template.n_inputs());
        for (k, &kif) in template.input_kifs().iter().enumerate() {
            let mut sources = Vec::with_capacity(instances.len());
            for instance in &instances {
                sources.push((instance.start % plan.interval, self.value(instance.inputs[k], instance.start)));
            }
            inputs.push(self.chosen(&sources, kif));
        }
        // Values by operation and stage.
        let mut made: FxHashMap<(ValueId, u32), ValueId> = FxHashMap::default();
        for id in template.ids() {
            let node = template.node(id);
            let stage = group.stage[id.index()];
            let mut op = node.op.clone();
            let value = match &op {
                Op::Input { input } => self.quantised(inputs[*input as usize], template.kif(id)),
                _ => {
                    op.map_operands(|v| {
                        self.in_stage(
                            template,
                            (v, stage),
                            &group.stage,
                            &mut made,
                            &format!("group{number}_copy{copy}"),
                        )
                    });
                    self.op(op, node.interval.clone())
                }
            };
            made.insert((id, stage), value);
        }
        for (k, output) in template.outputs().iter().enumerate() {
            let source = output.source.expect("an output of a block is a value");
            let value = made[&(source, group.stage[source.index()])];
            if let Some(first) = self.passing.get(&(number, copy, k)).and_then(|s| s.registers.first()) {
                self.registers[first.0].next = Some(value);
            }
            for instance in &instances {
                let v = instance.outputs[k];
                if let Some(&(first, _)) = self.held.get(&Base::Value(v)).and_then(|s| s.registers.first()) {
                    self.registers[first].next = Some(self.quantised(value, self.model.kif(v)));
                }
            }
        }
    }

    /// A value of a copy in a later stage than its own.
    fn in_stage(
        &mut self,
        template: &Model,
        (v, stage): (ValueId, u32),
        stages: &[u32],
        made: &mut FxHashMap<(ValueId, u32), ValueId>,
        name: &str,
    ) -> ValueId {
        let own = stages[v.index()];
        let mut value = made[&(v, own)];
        if matches!(template.node(v).op, Op::Const { .. }) {
            return value;
        }
        for at in own + 1..=stage {
            value = match made.get(&(v, at)) {
                Some(&known) => known,
                None => {
                    let (register, shown) = self.register(&format!("{name}_{v}_s{at}"), self.kif(value), None, false);
                    self.registers[register].next = Some(value);
                    made.insert((v, at), shown);
                    shown
                }
            };
        }
        value
    }

    // ---- results ----

    /// The valid flag, held beside the data and shown in the first clock of a result.
    fn valid(&mut self) {
        let Some(valid_in) = self.valid_in else { return };
        let (latency, interval) = (self.plan.latency, self.plan.interval);
        let mut flag = valid_in;
        // Captured with the sample, then once an interval.
        for k in 0..(latency - 1).div_ceil(interval) {
            let (register, shown) = self.register(&format!("valid_s{}", k + 1), BIT, Some(0), true);
            self.registers[register].next = Some(flag);
            flag = shown;
        }
        let now = self.at((latency - 1) % interval);
        let (register, shown) = self.register("valid_now", BIT, None, true);
        self.registers[register].next = Some(self.and(flag, now));
        let name = self.options.names.valid_out.clone();
        let port = self.signal(&name, SignalKind::Wire, true, vec![BIT]);
        self.gives(Output { source: Some(shown), shift: 0, neg: false }, element(port, 0));
    }

    fn outputs(&mut self) {
        let (model, plan, options) = (self.model, self.plan, self.options);
        let kifs: Vec<Kif> = (0..model.outputs().len()).map(|j| model.output_kif(j)).collect();
        let ports: Vec<Access> = match options.ports {
            Ports::Packed if kifs.is_empty() => Vec::new(),
            Ports::Packed => {
                let n = kifs.len();
                let port = self.signal(&options.names.outputs.clone(), SignalKind::Wire, true, kifs);
                (0..n).map(|k| element(port, k)).collect()
            }
            Ports::Split => {
                let name = |k| format!("{}_{k}", options.names.output_prefix);
                let port = |(k, kif)| element(self.signal(&name(k), SignalKind::Wire, true, vec![kif]), 0);
                kifs.into_iter().enumerate().map(port).collect()
            }
        };
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
                let (register, held) = self.register(&format!("result_{j}"), kif, Some(phase), false);
                self.registers[register].next = Some(shown);
                shown = self.op(Op::Quantise { x: held, shift: 0 }, interval.clone());
            }
            if plan.registered_outputs {
                let (register, held) = self.register(&format!("shown_{j}"), kif, None, false);
                self.registers[register].next = Some(shown);
                shown = self.op(Op::Quantise { x: held, shift: 0 }, interval);
            }
            self.gives(Output { source: Some(shown), shift: output.shift, neg: false }, port);
        }
    }

    /// When registers of a phase load: the place among the block's outputs.
    fn load(&mut self, phase: Option<u32>, enables: &mut Vec<ValueId>) -> Option<usize> {
        if let Some(&known) = self.loads.get(&phase) {
            return known;
        }
        let at = phase.map(|phase| self.at(phase));
        let condition = match (at, self.enable) {
            (Some(at), Some(enable)) => Some(self.and(at, enable)),
            (at, enable) => at.or(enable),
        };
        let place = condition.map(|condition| {
            enables.push(condition);
            enables.len() - 1
        });
        self.loads.insert(phase, place);
        place
    }

    fn finish(mut self) -> Machine {
        let block = BlockId(0);
        let registers = std::mem::take(&mut self.registers);
        let mut enables = Vec::new();
        for register in &registers {
            let place = self.load(register.phase, &mut enables);
            let output = Output { source: register.next, shift: 0, neg: false };
            let at = self.gives(output, element(register.signal, 0));
            // The number of the condition; where that is becomes known below.
            self.outputs[at].1.alternative = place.map(|place| element(register.signal, place));
        }
        let given = self.outputs.len();
        let inputs = std::mem::take(&mut self.inputs);
        let mut b = Builder::new(vec![0; inputs.len()]);
        b.limits(Limits::derived());
        for table in std::mem::take(&mut self.tables) {
            b.table(table);
        }
        for node in std::mem::take(&mut self.nodes) {
            b.push(node);
        }
        for (output, _) in &self.outputs {
            b.output(*output);
        }
        for &condition in &enables {
            b.output(Output { source: Some(condition), shift: 0, neg: false });
        }
        let model = b.finish().unwrap_or_else(|problems| panic!("the logic is valid: {:?}", problems.first()));
        let kifs: Vec<Kif> = (0..model.outputs().len()).map(|j| model.output_kif(j)).collect();
        let input_kifs = model.input_kifs().to_vec();
        self.builder.block("logic".into(), model);
        if !inputs.is_empty() {
            let reads = self.signal("logic_inp", SignalKind::BlockInput(block), false, input_kifs);
            for (k, (src, _)) in inputs.into_iter().enumerate() {
                let dst = element(reads, k);
                self.builder.connection(Connection { src, dst, enable_if: None, alternative: None });
            }
        }
        let gives = self.signal("logic_outp", SignalKind::BlockOutput(block), false, kifs);
        for (k, (_, mut connection)) in std::mem::take(&mut self.outputs).into_iter().enumerate() {
            connection.src = element(gives, k);
            connection.enable_if = connection.alternative.take().map(|place| element(gives, given + place.lo));
            self.builder.connection(connection);
        }
        self.builder.finish().unwrap_or_else(|problems| panic!("the machine is valid: {problems:?}"))
    }
}
