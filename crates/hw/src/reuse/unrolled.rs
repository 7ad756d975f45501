//! State machine of a plan, unrolled cycle by cycle into one program that computes the outputs for the sample accepted
//! in cycle 0.
//!
//! The logic of a plan is optimised as a whole, so the RTL may differ much from the blocks. The unrolled program
//! contains the operations of the RTL, once for each cycle in which they compute a value of the sample. It is an
//! intermediate program between the model and the RTL. The unrolled program is untrusted: the caller must prove it.

use super::{Beats, Inputs, Lane};
use crate::netlist::Options;
use alir_core::ir::machine::{Access, Connection, Machine, Settle, SignalKind};
use alir_core::ir::{BinaryBits, Builder, Model, Node, Op, Output, ValueId};
use alir_core::num::{Code, Interval, Kif, align, wrap};
use alir_interp::{operation, top_bit};
use num_bigint::BigInt;
use rustc_hash::FxHashMap;

/// Maximum number of operations of the unrolled program.
const MOST_OPERATIONS: usize = 400_000;

/// Maximum number of evaluated operations: cycles times operations of the logic.
const MOST_STEPS: usize = 40_000_000;

/// Timing of a sample and its result.
#[derive(Clone, Copy, Debug)]
pub struct Clocks<'a> {
    /// Cycles and bits of the input ports that carry the elements.
    pub inputs: &'a Inputs,
    /// Initiation interval, in cycles.
    pub interval: u32,
    /// Cycles from the sample to its result.
    pub latency: u32,
}

/// Symbolic value of a signal's element.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    /// Unknown: the value belongs to another sample.
    Other,
    /// Raw integer value that depends on the phase only.
    Code(BigInt),
    /// Value of the unrolled program.
    Of(ValueId),
}

/// Returns the unrolled program; `None` if an output depends on another sample or cannot be unrolled, or if the program
/// would be too large.
pub fn unrolled(model: &Model, machine: &Machine, options: &Options, clocks: Clocks<'_>) -> Option<Model> {
    let [block] = machine.blocks() else { return None };
    if block.model.nodes().len().saturating_mul(clocks.latency as usize + 1) > MOST_STEPS {
        return None;
    }
    let mut maker = Maker { machine, nodes: Vec::new(), made: FxHashMap::default(), now: Vec::new() };
    for signal in machine.signals() {
        let first = signal.reset_to.as_ref();
        let value = |k: usize| first.map_or(Value::Other, |codes| Value::Code(codes[k].clone()));
        maker.now.push((0..signal.elements.len()).map(value).collect());
    }
    let sample = maker.sample(model);
    let at_ports: Vec<Vec<Value>> = match clocks.inputs {
        Inputs::Captured => vec![sample],
        Inputs::Held => vec![sample; clocks.interval as usize],
        Inputs::Beats(beats) => (0..beats.count).map(|beat| vec![maker.beat(model, beats, beat, &sample)]).collect(),
    };
    let names = &options.names;
    let is_data = |name: &str, others: &[&String]| !others.iter().any(|other| *other == name);
    for clock in 0..=clocks.latency {
        let mut next = at_ports.get(clock as usize).into_iter().flatten();
        for id in machine.inputs() {
            let signal = machine.signal(id);
            let is_element = is_data(&signal.name, &[&names.reset, &names.enable, &names.valid_in]);
            for slot in &mut maker.now[id.index()] {
                *slot = match is_element {
                    true if (clock as usize) < at_ports.len() => next.next()?.clone(),
                    true => Value::Other,
                    false if signal.name == names.enable => Value::Code(1.into()),
                    false if signal.name == names.reset => Value::Code(0.into()),
                    false => Value::Other,
                };
            }
        }
        maker.settle()?;
        if clock < clocks.latency {
            maker.edge()?;
        }
        if maker.nodes.len() > MOST_OPERATIONS {
            return None;
        }
    }
    let shown = machine.outputs().filter(|&id| is_data(&machine.signal(id).name, &[&names.ready, &names.valid_out]));
    let mut outputs = Vec::new();
    for id in shown.collect::<Vec<_>>() {
        for (k, &kif) in machine.signal(id).elements.iter().enumerate() {
            let wanted = (outputs.len() < model.outputs().len()).then(|| model.output_kif(outputs.len()))?;
            let value = maker.now[id.index()][k].clone();
            let value = maker.converted(value, kif, wanted);
            outputs.push(maker.id(&value, wanted)?);
        }
    }
    let mut out = Builder::like(model);
    maker.nodes.into_iter().for_each(|node| _ = out.push(node));
    out.clear_tables();
    block.model.tables().iter().cloned().for_each(|table| _ = out.table(table));
    if outputs.len() != model.outputs().len() {
        return None;
    }
    for source in outputs {
        out.output(Output { source: Some(source), shift: 0, neg: false });
    }
    let made = alir_opt::passes::run(&out.finish().ok()?, &["dce"]).0;
    let has_ports = (0..made.outputs().len()).all(|j| made.output_kif(j) == model.output_kif(j));
    (has_ports && made.input_kifs() == model.input_kifs()).then_some(made)
}

struct Maker<'a> {
    machine: &'a Machine,
    nodes: Vec<Node>,
    /// Index of each existing operation, by operation and type.
    made: FxHashMap<(Op, Kif), ValueId>,
    /// Values of the elements of all signals in the current cycle.
    now: Vec<Vec<Value>>,
}

impl Maker<'_> {
    fn push(&mut self, op: Op, interval: Interval) -> ValueId {
        let nodes = &mut self.nodes;
        *self.made.entry((op, interval.kif())).or_insert_with_key(|(op, _)| {
            let origin = nodes.len() as u32;
            nodes.push(Node { op: op.clone(), interval, latency: 0.0, cost: 0.0, origin });
            ValueId(origin)
        })
    }

    /// Returns the values of the model's input ports; adds all input operations of the model.
    fn sample(&mut self, model: &Model) -> Vec<Value> {
        for node in model.nodes().iter().filter(|node| matches!(node.op, Op::Input { .. })) {
            self.push(node.op.clone(), node.interval.clone());
        }
        let mut value = |(input, &kif): (u32, &Kif)| match kif.is_zero() {
            true => Value::Code(0.into()),
            false => Value::Of(self.push(Op::Input { input }, Interval::full(kif))),
        };
        (0..).zip(model.input_kifs()).map(&mut value).collect()
    }

    /// Returns the bits of the port in a beat: the elements at their lanes, and zeros elsewhere.
    fn beat(&mut self, model: &Model, beats: &Beats, beat: u32, sample: &[Value]) -> Value {
        let (mut whole, kif) = (Value::Code(0.into()), Lane { lsb: 0, width: beats.width }.kif());
        for (element, place) in beats.elements.iter().enumerate() {
            let Some(lane) = place.filter(|place| place.0 == beat).map(|place| beats.lanes[place.1 as usize]) else {
                continue;
            };
            let own = model.input_kifs()[element];
            // The bits of the element as an unsigned number.
            let bits = self.moved(sample[element].clone(), (own, own.frac), Interval::full(lane.kif()));
            whole = match (whole, bits) {
                (Value::Of(a), Value::Of(b)) => {
                    let op = Op::Add { a, b, shift: lane.lsb as i32 };
                    Value::Of(self.push(op, Interval::full(kif)))
                }
                (_, bits) => self.moved(bits, (lane.kif(), lane.lsb as i32), Interval::full(kif)),
            };
        }
        whole
    }

    /// Returns the operation that provides a value of this type; `None` if the value belongs to another sample.
    fn id(&mut self, value: &Value, kif: Kif) -> Option<ValueId> {
        match value {
            Value::Other => None,
            Value::Of(id) => Some(*id),
            Value::Code(code) => Some(self.push(Op::Const { value: Code::from(code.clone()) }, Interval::full(kif))),
        }
    }

    /// Returns a value converted to another type, with wrap-around.
    fn converted(&mut self, value: Value, from: Kif, to: Kif) -> Value {
        if to.is_zero() { Value::Code(0.into()) } else { self.moved(value, (from, 0), Interval::full(to)) }
    }

    /// Returns the values that a connection carries, in the types of its destination.
    fn carried(&mut self, connection: &Connection) -> Option<Vec<Value>> {
        let Connection { src, dst, alternative, .. } = connection;
        if src.dynamic.is_some() || dst.dynamic.is_some() || alternative.is_some() {
            return None;
        }
        let types = |access: &Access| self.machine.signal(access.signal).elements[access.lo..access.hi].to_vec();
        let (from, to) = (types(src), types(dst));
        let values = self.now[src.signal.index()][src.lo..src.hi].to_vec();
        Some(
            values
                .into_iter()
                .zip(from.into_iter().zip(to))
                .map(|(v, (from, to))| self.converted(v, from, to))
                .collect(),
        )
    }

    /// Computes all signals except registers; returns `None` for an unsupported connection.
    fn settle(&mut self) -> Option<()> {
        let machine = self.machine;
        for &settle in machine.order() {
            match settle {
                Settle::Connection(c) => {
                    let connection = &machine.connections()[c];
                    let values = self.carried(connection).filter(|_| connection.enable_if.is_none())?;
                    let dst = &connection.dst;
                    self.now[dst.signal.index()][dst.lo..dst.hi].clone_from_slice(&values);
                }
                Settle::Block(b) => {
                    let block = &machine.blocks()[b.index()];
                    let feeds = block.input.map_or_else(Vec::new, |id| self.now[id.index()].clone());
                    let outputs = self.block(&block.model, feeds)?;
                    if let Some(output) = block.output {
                        self.now[output.index()] = outputs;
                    }
                }
            }
        }
        Some(())
    }

    /// Evaluates a clock edge: each enabled register loads its next value. Returns `None` for an unsupported
    /// connection.
    fn edge(&mut self) -> Option<()> {
        let machine = self.machine;
        let mut taken = Vec::new();
        let is_register = |c: &&Connection| machine.signal(c.dst.signal).kind == SignalKind::Register;
        for connection in machine.connections().iter().filter(is_register) {
            let enable = connection.enable_if.as_ref().map(|access| self.now[access.signal.index()][access.lo].clone());
            let count = connection.dst.len();
            let values = match enable {
                Some(Value::Code(code)) if code == BigInt::ZERO => continue,
                Some(Value::Other | Value::Of(_)) => vec![Value::Other; count],
                Some(Value::Code(_)) | None => self.carried(connection)?,
            };
            taken.push((&connection.dst, values));
        }
        for (dst, values) in taken {
            self.now[dst.signal.index()][dst.lo..dst.hi].clone_from_slice(&values);
        }
        Some(())
    }

    /// Returns the outputs of a program for these inputs.
    fn block(&mut self, model: &Model, feeds: Vec<Value>) -> Option<Vec<Value>> {
        if model.inp_shifts().iter().any(|&shift| shift != 0) {
            return None;
        }
        let mut values: Vec<Value> = Vec::with_capacity(model.nodes().len());
        let mut codes: Vec<BigInt> = Vec::with_capacity(model.nodes().len());
        for id in model.ids() {
            let node = model.node(id);
            let kif = model.kif(id);
            let value = match &node.op {
                Op::Input { input } => {
                    let from = model.input_kifs()[*input as usize];
                    self.converted(feeds[*input as usize].clone(), from, kif)
                }
                &Op::Mux { cond, on_true, on_false, shift } if matches!(values[cond.index()], Value::Code(_)) => {
                    let is_set = top_bit(&codes[cond.index()], model.kif(cond));
                    let (x, shift) = if is_set { (on_true, 0) } else { (on_false, shift) };
                    self.moved(values[x.index()].clone(), (model.kif(x), shift), node.interval.clone())
                }
                &Op::Quantise { x, shift } => {
                    self.moved(values[x.index()].clone(), (model.kif(x), shift), node.interval.clone())
                }
                _ => self.computed(model, id, (&values, &codes)),
            };
            codes.push(if let Value::Code(code) = &value { code.clone() } else { BigInt::ZERO });
            values.push(value);
        }
        let output = |(j, output): (usize, &Output)| {
            let kif = model.output_kif(j);
            let Some(source) = output.source else { return Value::Code(0.into()) };
            let (mut value, mut interval) = (values[source.index()].clone(), Interval::full(model.kif(source)));
            if output.neg {
                interval = interval.negated();
                value = match value {
                    Value::Other => Value::Other,
                    Value::Code(code) => Value::Code(-code),
                    Value::Of(x) => Value::Of(self.push(Op::Neg { x }, interval.clone())),
                };
            }
            self.moved(value, (interval.kif(), output.shift), Interval::full(kif))
        };
        Some(model.outputs().iter().enumerate().map(output).collect())
    }

    /// Returns the result of an operation of the block. The result is [`Value::Other`] if an operand belongs to another
    /// sample, except for a bitwise and with a zero.
    fn computed(&mut self, model: &Model, id: ValueId, (values, codes): (&[Value], &[BigInt])) -> Value {
        let node = model.node(id);
        let (mut are_codes, mut is_other, mut has_zero) = (true, false, false);
        node.op.for_each_operand(|v| {
            are_codes &= matches!(values[v.index()], Value::Code(_));
            is_other |= values[v.index()] == Value::Other;
            has_zero |= values[v.index()] == Value::Code(BigInt::ZERO);
        });
        if are_codes || (has_zero && matches!(node.op, Op::Binary { op: BinaryBits::And, .. })) {
            return Value::Code(operation(model, codes, id));
        }
        if is_other {
            return Value::Other;
        }
        let mut op = node.op.clone();
        op.map_operands(|v| self.id(&values[v.index()], model.kif(v)).expect("it is of this sample"));
        Value::Of(self.push(op, node.interval.clone()))
    }

    /// Returns a value of type `from`, times `2^shift`, converted to another type with wrap-around.
    fn moved(&mut self, value: Value, (from, shift): (Kif, i32), interval: Interval) -> Value {
        let to = interval.kif();
        match value {
            Value::Other => Value::Other,
            Value::Code(code) => {
                let frac = i64::from(from.frac) - i64::from(shift);
                Value::Code(wrap(&align(&code, frac, i64::from(to.frac)), to))
            }
            Value::Of(x) if shift == 0 && from == to => Value::Of(x),
            Value::Of(x) => Value::Of(self.push(Op::Quantise { x, shift }, interval)),
        }
    }
}
