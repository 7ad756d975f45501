//! Program that the hardware of a plan computes: the implementations of blocks and regions replace the operations that
//! they implement.

use super::Plan;
use alir_core::ir::{Builder, Model, Node, Op, Output, Table, TableId, ValueId};
use alir_core::num::Interval;
use rustc_hash::FxHashMap;

/// Returns the implementation `made` of a block, with outputs converted to the types of the specification `meant`.
pub fn typed(made: &Model, meant: &Model) -> Model {
    let mut out = Builder::like(made);
    for node in made.nodes() {
        out.push(node.clone());
    }
    for (j, output) in made.outputs().iter().enumerate() {
        let wanted = meant.outputs()[j]
            .source
            .map_or_else(|| made.output_intervals()[j].clone(), |v| Interval::full(meant.kif(v)));
        let plain = |source: ValueId| output.shift == 0 && !output.neg && made.kif(source) == wanted.kif();
        let source = match output.source {
            Some(source) if plain(source) => source,
            Some(source) => {
                let like = made.node(source);
                let mut x = source;
                if output.neg {
                    let interval = made.output_intervals()[j].scaled(-output.shift);
                    x = out.push(Node { op: Op::Neg { x }, interval, ..like.clone() });
                }
                let op = Op::Quantise { x, shift: output.shift };
                out.push(Node { op, interval: wanted, ..like.clone() })
            }
            None => {
                let x = out.op(Op::Const { value: 0.into() }, Interval::new(0, 0, 0));
                out.op(Op::Quantise { x, shift: 0 }, wanted)
            }
        };
        out.output(Output { source: Some(source), shift: 0, neg: false });
    }
    out.finish().unwrap_or_else(|problems| panic!("a block is a program: {:?}", problems.first()))
}

/// Returns the program that the hardware of a plan computes. `parts` are the programs of the blocks: those of the
/// groups, then those of the regions. Also returns the outputs of blocks and regions as values of `model`, each with
/// its value in the new program.
///
/// # Panics
/// If `parts` does not match the plan's groups and regions.
pub fn program_of(model: &Model, plan: &Plan, parts: &[&Model]) -> (Model, Vec<(ValueId, ValueId)>) {
    let mut out = Builder::like(model);
    // `computed`: programs, each with the indices of its tables. `blocks`: index in `computed`, inputs, outputs.
    let mut computed: Vec<(&Model, Vec<TableId>)> = Vec::new();
    let mut blocks: Vec<(usize, &[ValueId], &[ValueId])> = Vec::new();
    let mut tables_of = |made: &Model| {
        let place = |(k, table): (usize, &Table)| match model.tables().get(k) == Some(table) {
            true => TableId(k as u32),
            false => out.table(table.clone()),
        };
        made.tables().iter().enumerate().map(place).collect()
    };
    assert_eq!(parts.len(), plan.groups.len() + plan.regions.len(), "one of each");
    for (group, part) in plan.groups.iter().zip(parts) {
        computed.push((part, tables_of(part)));
        let which = computed.len() - 1;
        blocks.extend(group.instances.iter().map(|i| (which, &i.inputs[..], &i.outputs[..])));
    }
    for (region, part) in plan.regions.iter().zip(&parts[plan.groups.len()..]) {
        computed.push((part, tables_of(part)));
        blocks.push((computed.len() - 1, &region.inputs, &region.outputs));
    }
    let maker: FxHashMap<ValueId, usize> = (0..)
        .zip(&blocks)
        .flat_map(|(at, (_, _, outputs)): (usize, &(_, _, &[ValueId]))| outputs.iter().map(move |&v| (v, at)))
        .collect();
    let mut of: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    // Unread inputs are kept too.
    for id in model.ids().filter(|id| matches!(model.node(*id).op, Op::Input { .. })) {
        of.insert(id, out.push(model.node(id).clone()));
    }
    let mut stack: Vec<ValueId> = model.outputs().iter().rev().filter_map(|output| output.source).collect();
    while let Some(&v) = stack.last() {
        if of.contains_key(&v) {
            stack.pop();
            continue;
        }
        let reads = match maker.get(&v) {
            Some(&at) => blocks[at].1.to_vec(),
            None => model.node(v).op.operands(),
        };
        let before = stack.len();
        stack.extend(reads.into_iter().filter(|v| !of.contains_key(v)));
        if stack.len() > before {
            continue;
        }
        stack.pop();
        let Some(&at) = maker.get(&v) else {
            let mut node = model.node(v).clone();
            node.op.map_operands(|v| of[&v]);
            of.insert(v, out.push(node));
            continue;
        };
        let (which, inputs, outputs) = blocks[at];
        let (template, tables) = &computed[which];
        let mut inside: Vec<ValueId> = Vec::with_capacity(template.nodes().len());
        for node in template.nodes() {
            let mut node = node.clone();
            match node.op {
                Op::Input { input } => node.op = Op::Quantise { x: of[&inputs[input as usize]], shift: 0 },
                _ => node.op.map_operands(|v| inside[v.index()]),
            }
            if let Op::Lookup { table, .. } = &mut node.op {
                *table = tables[table.0 as usize];
            }
            inside.push(out.push(node));
        }
        for (output, &v) in template.outputs().iter().zip(outputs) {
            let source = output.source.expect("an output of a block is a value");
            let x = inside[source.index()];
            let value = match template.kif(source) == model.kif(v) {
                true => x,
                false => out.push(Node { op: Op::Quantise { x, shift: 0 }, ..model.node(v).clone() }),
            };
            of.insert(v, value);
        }
    }
    for output in model.outputs() {
        out.output(Output { source: output.source.map(|v| of[&v]), ..*output });
    }
    let mut given: Vec<(ValueId, ValueId)> = maker.keys().filter_map(|v| Some((*v, *of.get(v)?))).collect();
    given.sort_unstable();
    let program = out.finish();
    let program =
        program.unwrap_or_else(|problems| panic!("what hardware computes is a program: {:?}", problems.first()));
    (program, given)
}
