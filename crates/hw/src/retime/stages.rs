//! Partition of a scheduled model into parts: one for each stage and each block of the source file that contributes to
//! the stage. Each operation stays in a block that is named after its original block.
//!
//! A value that crosses a boundary is an *anchor*: an input, or the result of an operation other than a wire. Constants
//! and quantisations without delay are wires. Every part that reads a wire contains a copy of it, so that no bit is
//! stored twice.

use super::join::values;
use alir_core::ir::{Builder, Limits, Model, Node, Op, Output, TableId, ValueId};
use alir_core::num::{Interval, Kif};
use num_bigint::BigInt;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Value that can cross a stage boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Anchor {
    /// An input of the model.
    Input(u32),
    /// The result of an operation.
    Op(ValueId),
}

/// Contribution of one block of the source file to a stage, or the output wiring of the whole pipeline.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Number of the stage.
    pub(super) stage: u32,
    /// Index of the block among those of the pipeline; `None` for the output wiring of the whole pipeline.
    pub(super) block: Option<u32>,
    /// Model that computes the part.
    pub(super) program: Model,
    /// Source of each input.
    pub(super) inputs: Vec<Anchor>,
    /// Value of each output; empty for the output wiring of the whole pipeline.
    pub(super) outputs: Vec<Anchor>,
}

/// A register after a stage.
#[derive(Clone, Debug)]
pub(super) struct StageRegister {
    pub(super) anchor: Anchor,
    pub(super) kif: Kif,
    /// Power-on value, or `None` if the register has none.
    pub(super) first: Option<BigInt>,
}

/// All parts in an order in which they can be computed, and the registers after each stage except the last.
#[derive(Clone, Debug)]
pub(super) struct Stages {
    pub(super) parts: Vec<Part>,
    pub(super) held: Vec<Vec<StageRegister>>,
}

/// Partitions a model according to its schedule. `origins` contains the block and the operation within it from which
/// each operation of the model originates. `history` contains the input values from which the power-on values of
/// registers are computed.
pub(super) fn split(
    program: &Model,
    stage: &[u32],
    stages: u32,
    origins: &[(u32, u32)],
    history: Option<&[BigInt]>,
) -> Option<Stages> {
    let first = history.map(|inputs| (inputs, values(program, inputs)));
    let mut splitter = Splitter { program, origins, block: Vec::with_capacity(stage.len()) };
    for id in program.ids() {
        // An optimisation pass may replace operands of an earlier block by values of a later one.
        let mut block = origins[program.node(id).origin as usize].0;
        program.node(id).op.for_each_operand(|v| block = block.max(splitter.block[v.index()]));
        splitter.block.push(block);
    }
    let made = |anchor: Anchor| match anchor {
        Anchor::Input(_) => (0, 0),
        Anchor::Op(v) => (stage[v.index()], splitter.block[v.index()]),
    };
    // Last stage and block that read each anchor.
    let outside = (stages, u32::MAX);
    let mut last: BTreeMap<Anchor, (u32, u32)> = BTreeMap::new();
    let mut reads = |v: ValueId, at: (u32, u32)| {
        if let Some(anchor) = splitter.anchor(v) {
            let slot = last.entry(anchor).or_default();
            *slot = (*slot).max(at);
        }
    };
    for id in program.ids().filter(|&id| !splitter.is_wire(id)) {
        program.node(id).op.for_each_operand(|v| reads(v, made(Anchor::Op(id))));
    }
    program.outputs().iter().filter_map(|out| out.source).for_each(|v| reads(v, outside));
    let mut held: Vec<Vec<StageRegister>> = vec![Vec::new(); stages as usize - 1];
    for (&anchor, &(read, _)) in &last {
        let kif = splitter.kif(anchor);
        let first = first.as_ref().map(|(inputs, values)| match anchor {
            Anchor::Input(k) => inputs[k as usize].clone(),
            Anchor::Op(v) => values[v.index()].clone(),
        });
        for boundary in made(anchor).0.max(1)..read {
            held[boundary as usize - 1].push(StageRegister { anchor, kif, first: first.clone() });
        }
    }
    let mut members: BTreeMap<(u32, u32), Vec<ValueId>> = BTreeMap::new();
    for id in program.ids().filter(|&id| !splitter.is_wire(id)) {
        members.entry(made(Anchor::Op(id))).or_default().push(id);
    }
    let mut parts = Vec::new();
    for (&place, own) in &members {
        let is_read = |id: &&ValueId| last.get(&Anchor::Op(**id)).is_some_and(|&read| read > place);
        let outputs: Vec<ValueId> = own.iter().filter(is_read).copied().collect();
        // Parts whose values are never read are omitted.
        if !outputs.is_empty() {
            parts.push(splitter.part(place, own, Some(&outputs))?);
        }
    }
    parts.push(splitter.part(outside, &[], None)?);
    Some(Stages { parts, held })
}

struct Splitter<'a> {
    program: &'a Model,
    origins: &'a [(u32, u32)],
    /// Block of each operation; not before the blocks of its operands.
    block: Vec<u32>,
}

impl Splitter<'_> {
    /// Returns `true` if an operation is repeated in every part that reads it.
    fn is_wire(&self, id: ValueId) -> bool {
        match self.program.node(id).op {
            Op::Input { .. } | Op::Const { .. } => true,
            Op::Quantise { .. } => self.program.own_delay(id) <= 0.0,
            _ => false,
        }
    }

    /// Returns the anchor from which a value is wired, or `None` if the value is a constant.
    fn anchor(&self, mut id: ValueId) -> Option<Anchor> {
        loop {
            match self.program.node(id).op {
                Op::Const { .. } => return None,
                Op::Input { input } => return Some(Anchor::Input(input)),
                Op::Quantise { x, .. } if self.is_wire(id) => id = x,
                _ => return Some(Anchor::Op(id)),
            }
        }
    }

    fn kif(&self, anchor: Anchor) -> Kif {
        match anchor {
            Anchor::Input(k) => self.program.input_kifs()[k as usize],
            Anchor::Op(v) => self.program.kif(v),
        }
    }

    /// Returns the part that computes the operations `own`. Its outputs are the given values, or all outputs of the
    /// model if `outputs` is `None`. Returns `None` if the part is not a valid model.
    fn part(&self, (stage, block): (u32, u32), own: &[ValueId], outputs: Option<&[ValueId]>) -> Option<Part> {
        let program = self.program;
        let mut draft = Draft {
            all: self,
            nodes: Vec::new(),
            known: FxHashMap::default(),
            inputs: Vec::new(),
            numbers: FxHashMap::default(),
        };
        let mut tables: FxHashMap<TableId, TableId> = FxHashMap::default();
        let mut used = Vec::new();
        for &id in own {
            let mut op = program.node(id).op.clone();
            for v in op.operands() {
                draft.value(v);
            }
            op.map_operands(|v| draft.known[&v]);
            if let Op::Lookup { table, .. } = &mut op {
                let next = TableId(used.len() as u32);
                let own = *tables.entry(*table).or_insert(next);
                if own == next {
                    used.push(program.table(*table).clone());
                }
                *table = own;
            }
            let made = draft.push(Node { op, ..program.node(id).clone() });
            draft.known.insert(id, made);
        }
        let results: Vec<Option<ValueId>> = match outputs {
            None => (0..program.outputs().len()).map(|j| draft.output(j)).collect(),
            Some(outputs) => outputs.iter().map(|&v| Some(draft.value(v))).collect(),
        };
        let mut builder = Builder::new(vec![0; draft.inputs.len()]);
        builder.limits(Limits::derived());
        builder.cost_model(program.carry_size(), program.adder_size());
        for node in draft.nodes {
            builder.push(Node { origin: self.origins[node.origin as usize].1, ..node });
        }
        used.into_iter().for_each(|table| {
            builder.table(table);
        });
        results.into_iter().for_each(|source| {
            builder.output(Output { source, shift: 0, neg: false });
        });
        Some(Part {
            stage,
            block: outputs.map(|_| block),
            program: builder.finish().ok()?,
            inputs: draft.inputs,
            outputs: outputs.unwrap_or_default().iter().map(|&v| Anchor::Op(v)).collect(),
        })
    }
}

/// Model of a part under construction.
struct Draft<'a> {
    all: &'a Splitter<'a>,
    nodes: Vec<Node>,
    /// Maps values of the whole model to values of the part.
    known: FxHashMap<ValueId, ValueId>,
    inputs: Vec<Anchor>,
    /// Index of each input of the part.
    numbers: FxHashMap<Anchor, u32>,
}

impl Draft<'_> {
    fn push(&mut self, node: Node) -> ValueId {
        self.nodes.push(node);
        ValueId(self.nodes.len() as u32 - 1)
    }

    fn input(&mut self, anchor: Anchor) -> u32 {
        *self.numbers.entry(anchor).or_insert_with(|| {
            self.inputs.push(anchor);
            self.inputs.len() as u32 - 1
        })
    }

    /// Returns the value of an output of the whole model, in the output's type.
    fn output(&mut self, j: usize) -> Option<ValueId> {
        let program = self.all.program;
        let out = program.outputs()[j];
        let source = out.source?;
        let shown = &program.output_intervals()[j];
        let node = program.node(source).clone();
        let (kif, mut x) = (program.kif(source), self.value(source));
        if out.neg {
            // Interval in raw integer values of the output, which a shift does not change.
            let interval = shown.scaled(out.shift.saturating_neg());
            x = self.push(Node { op: Op::Neg { x }, interval, ..node.clone() });
        }
        if out.neg || out.shift != 0 || kif != shown.kif() {
            x = self.push(Node { op: Op::Quantise { x, shift: out.shift }, interval: shown.clone(), ..node });
        }
        Some(x)
    }

    /// Returns the value of the part that is equal to value `v` of the whole model.
    fn value(&mut self, v: ValueId) -> ValueId {
        // Depth-first over operands that are not yet in the part.
        let mut way = vec![v];
        let program = self.all.program;
        while let Some(&at) = way.last() {
            if self.known.contains_key(&at) {
                way.pop();
                continue;
            }
            let node = program.node(at).clone();
            let made = match node.op {
                Op::Quantise { x, shift } if self.all.is_wire(at) => match self.known.get(&x) {
                    Some(&x) => self.push(Node { op: Op::Quantise { x, shift }, ..node }),
                    None => {
                        way.push(x);
                        continue;
                    }
                },
                Op::Const { .. } => self.push(node),
                Op::Input { input } => {
                    let input = self.input(Anchor::Input(input));
                    self.push(Node { op: Op::Input { input }, ..node })
                }
                // Computed in another part; the input has the type of the value.
                _ => {
                    let input = self.input(Anchor::Op(at));
                    let interval = Interval::full(program.kif(at));
                    self.push(Node { op: Op::Input { input }, interval, ..node })
                }
            };
            self.known.insert(at, made);
        }
        self.known[&v]
    }
}
