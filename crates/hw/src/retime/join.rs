//! Merges the blocks of a pipeline into one model.

use super::find::{Segment, drivers, is_plain};
use alir_core::ir::machine::{BlockId, Connection, Machine, SignalId, SignalKind};
use alir_core::ir::{Builder, Limits, Model, Node, Op, Output, TableId, ValueId};
use alir_core::num::{Code, Interval, Kif};
use alir_interp::{LookupMiss, Step, golden_steps};
use alir_opt::schedule::{Goal, Schedule, check, default_delay};
use num_bigint::BigInt;
use rustc_hash::FxHashMap;

/// Source of an input of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// Element of a signal outside the pipeline.
    Element(SignalId, usize),
    /// Element that a connection (the first index) drives into a block under a condition or with an index, counted from
    /// the first element of the connection.
    Carried(usize, usize),
}

/// Model of a pipeline.
#[derive(Clone, Debug)]
pub(super) struct Joined {
    pub(super) program: Model,
    /// Source and type of each input.
    pub(super) sources: Vec<(Source, Kif)>,
    /// Index of the block in the pipeline, and of the operation in the block, from which each operation originates.
    pub(super) origins: Vec<(u32, u32)>,
    /// Critical stage delay with the registers of the source file.
    pub(super) longest: f64,
    /// Constant raw input values for which the registers keep their power-on values; `None` if the registers have none.
    pub(super) history: Option<Vec<BigInt>>,
}

/// Returns the model of a pipeline. Its outputs are the elements of the pipeline's sinks, in order. Returns `None` if
/// no constant input results in the power-on values of the registers.
pub(super) fn join(machine: &Machine, segment: &Segment) -> Option<Joined> {
    let timed = segment.blocks.iter().all(|&(b, _)| machine.blocks()[b.index()].model.has_delays());
    let mut joiner = Joiner {
        machine,
        drivers: drivers(machine),
        parts: Vec::new(),
        stage: Vec::new(),
        latency: Vec::new(),
        tables: Vec::new(),
        values: FxHashMap::default(),
        sources: FxHashMap::default(),
        order: Vec::new(),
        origins: Vec::new(),
        origin: (0, 0),
        timed,
    };
    let mut blocks = (0..).zip(&segment.blocks).peekable();
    let mut registers = segment.registers.iter().peekable();
    let mut held = Vec::new();
    for stage in 1..=segment.stages {
        while let Some(&&(register, _)) = registers.peek().filter(|&&&(_, boundary)| boundary + 1 == stage) {
            registers.next();
            for k in 0..machine.signal(register).elements.len() {
                // The value that the register loads is computed in the stage before.
                let value = joiner.driven(register, k, stage - 1);
                joiner.values.insert((register, k), value);
                held.push((register, k, value));
            }
        }
        while let Some(&(number, &(block, _))) = blocks.peek().filter(|&&(_, &(_, of))| of == stage) {
            blocks.next();
            joiner.origin = (number, 0);
            joiner.block(block, stage);
        }
    }
    let mut outputs = Vec::new();
    for &sink in &segment.sinks {
        for k in 0..machine.signal(sink).elements.len() {
            let value = *joiner.values.get(&(sink, k))?;
            outputs.push(Output { source: Some(value), shift: 0, neg: false });
        }
    }
    let Joiner { parts, stage, tables, order, origins, .. } = joiner;
    let sources = order;
    let mut builder = Builder::new(vec![0; sources.len()]);
    builder.limits(Limits::derived());
    parts.into_iter().for_each(|node| {
        builder.push(node);
    });
    tables.into_iter().for_each(|table| {
        builder.table(table);
    });
    outputs.into_iter().for_each(|out| {
        builder.output(out);
    });
    let program = builder.finish().ok()?;
    let schedule = Schedule { stages: segment.stages, register_inputs: false, register_outputs: false, stage };
    let goal = Goal::stages(segment.stages);
    let delays = check(&program, default_delay(&program), &goal, &schedule).ok()?;
    let longest = delays.into_iter().fold(0.0, f64::max);
    let history = match segment.controls.starts {
        true => Some(history(machine, &program, &sources, &held)?),
        false => None,
    };
    Some(Joined { program, sources, origins, longest, history })
}

/// Returns constant input values for which the registers keep their power-on values: all zeros, or the power-on values
/// of the source registers. Returns `None` if neither has this property.
fn history(
    machine: &Machine,
    program: &Model,
    sources: &[(Source, Kif)],
    held: &[(SignalId, usize, ValueId)],
) -> Option<Vec<BigInt>> {
    let first = |&(source, _): &(Source, Kif)| match source {
        Source::Element(signal, k) => machine.signal(signal).reset_to.as_ref().map_or(BigInt::ZERO, |to| to[k].clone()),
        Source::Carried(..) => BigInt::ZERO,
    };
    let candidates = [vec![BigInt::ZERO; sources.len()], sources.iter().map(first).collect()];
    candidates.into_iter().find(|inputs| {
        let values = values(program, inputs);
        held.iter().all(|&(register, k, value)| {
            let to = machine.signal(register).reset_to.as_ref();
            to.is_some_and(|to| to[k] == values[value.index()])
        })
    })
}

/// Returns all values of a model for these inputs, as the hardware computes them.
pub(super) fn values(program: &Model, inputs: &[BigInt]) -> Vec<BigInt> {
    let mut values = vec![BigInt::ZERO; program.nodes().len()];
    let seen = golden_steps(program, inputs, LookupMiss::Zero, |step| {
        if let Step::Op { id, code, .. } = step {
            values[id.index()] = code.clone();
        }
    });
    seen.expect("what lies outside a table reads as zero");
    values
}

struct Joiner<'a> {
    machine: &'a Machine,
    drivers: Vec<Vec<Option<usize>>>,
    parts: Vec<Node>,
    stage: Vec<u32>,
    latency: Vec<f64>,
    tables: Vec<alir_core::ir::Table>,
    /// Value of each element of a signal inside the pipeline, in the type of the element.
    values: FxHashMap<(SignalId, usize), ValueId>,
    sources: FxHashMap<Source, ValueId>,
    order: Vec<(Source, Kif)>,
    origins: Vec<(u32, u32)>,
    /// Block and operation from which the next appended operation originates.
    origin: (u32, u32),
    /// `true` if the latencies of all blocks are valid.
    timed: bool,
}

impl Joiner<'_> {
    /// Appends an operation with this delay after its latest operand.
    fn push(&mut self, op: Op, interval: Interval, delay: f64, cost: f64, stage: u32) -> ValueId {
        let mut start: f64 = 0.0;
        op.for_each_operand(|v| start = start.max(self.latency[v.index()]));
        let latency = if self.timed { start + delay } else { 0.0 };
        let origin = self.parts.len() as u32;
        self.parts.push(Node { op, interval, latency, cost, origin });
        self.stage.push(stage);
        self.origins.push(self.origin);
        self.latency.push(latency);
        ValueId(origin)
    }

    fn kif(&self, v: ValueId) -> Kif {
        self.parts[v.index()].interval.kif()
    }

    /// Returns a value times `2^shift`, wrapped into the type of `interval`.
    fn converted(&mut self, x: ValueId, shift: i32, interval: Interval, stage: u32) -> ValueId {
        if shift == 0 && self.kif(x) == interval.kif() {
            return x;
        }
        self.push(Op::Quantise { x, shift }, interval, 0.0, 0.0, stage)
    }

    fn source(&mut self, source: Source, kif: Kif) -> ValueId {
        if let Some(&known) = self.sources.get(&source) {
            return known;
        }
        let input = self.order.len() as u32;
        self.order.push((source, kif));
        let value = self.push(Op::Input { input }, Interval::full(kif), 0.0, 0.0, 1);
        self.sources.insert(source, value);
        value
    }

    /// Returns the driver of an element, in the element's type.
    fn driven(&mut self, signal: SignalId, k: usize, stage: u32) -> ValueId {
        let machine = self.machine;
        let to = machine.signal(signal).elements[k];
        let c = self.drivers[signal.index()][k].expect("checked: every element is driven");
        let Connection { src, dst, .. } = &machine.connections()[c];
        let is_register = machine.signal(signal).kind == SignalKind::Register;
        if !is_register && !is_plain(machine, c) {
            return self.source(Source::Carried(c, k - dst.lo), to);
        }
        let element = src.lo + k - dst.lo;
        let value = match self.values.get(&(src.signal, element)) {
            Some(&inside) => inside,
            None => {
                let kif = machine.signal(src.signal).elements[element];
                self.source(Source::Element(src.signal, element), kif)
            }
        };
        self.converted(value, 0, Interval::full(to), stage)
    }

    fn block(&mut self, id: BlockId, stage: u32) {
        let machine = self.machine;
        let block = &machine.blocks()[id.index()];
        let (model, input, output) = (&block.model, block.input, block.output);
        // Wires before the block have the origin of the operation that reads them.
        let mut reads = vec![0; model.n_inputs()];
        for node in model.nodes() {
            if let Op::Input { input } = node.op {
                reads[input as usize] = node.origin;
            }
        }
        let mut feeds: Vec<ValueId> = Vec::with_capacity(model.n_inputs());
        if let Some(input) = input {
            for (k, origin) in reads.into_iter().enumerate() {
                self.origin.1 = origin;
                feeds.push(self.driven(input, k, stage));
            }
        }
        let first_table = self.tables.len() as u32;
        self.tables.extend_from_slice(model.tables());
        let mut map: Vec<ValueId> = Vec::with_capacity(model.nodes().len());
        for id in model.ids() {
            let node = model.node(id);
            self.origin.1 = node.origin;
            let mut op = node.op.clone();
            op.map_operands(|v| map[v.index()]);
            let value = match op {
                Op::Input { input } => {
                    let (x, shift) = (feeds[input as usize], model.inp_shifts()[input as usize]);
                    self.converted(x, shift, node.interval.clone(), stage)
                }
                Op::Lookup { x, table, base } => {
                    let table = TableId(table.0 + first_table);
                    self.push(
                        Op::Lookup { x, table, base },
                        node.interval.clone(),
                        model.own_delay(id),
                        node.cost,
                        stage,
                    )
                }
                op => self.push(op, node.interval.clone(), model.own_delay(id), node.cost, stage),
            };
            map.push(value);
        }
        let Some(output) = output else { return };
        for (j, out) in model.outputs().iter().enumerate() {
            let to = Interval::full(machine.signal(output).elements[j]);
            let shown = model.output_intervals()[j].clone();
            self.origin.1 = out.source.map_or(0, |v| model.node(v).origin);
            let value = match out.source.map(|v| map[v.index()]) {
                None => self.push(Op::Const { value: Code::ZERO }, to.clone(), 0.0, 0.0, stage),
                Some(x) if out.neg => {
                    // Interval in raw integer values of the output, which a shift does not change.
                    let codes = shown.scaled(out.shift.saturating_neg());
                    let x = self.push(Op::Neg { x }, codes, 0.0, 0.0, stage);
                    self.converted(x, out.shift, shown, stage)
                }
                Some(x) => self.converted(x, out.shift, shown, stage),
            };
            let value = self.converted(value, 0, to, stage);
            self.values.insert((output, j), value);
        }
    }
}
