//! Pass `dce`: removes operations on which no output depends, and tables that no operation reads.

use super::facts::Known;
use alir_core::ir::{Builder, Model, Op, Output, TableId, ValueId};

/// Keeps the operations on which outputs depend, in order; returns `None` if nothing changes.
pub(super) fn run(model: &Model, _: &mut Known) -> Option<Model> {
    let mut live = vec![false; model.nodes().len()];
    for out in model.outputs() {
        if let Some(v) = out.source {
            live[v.index()] = true;
        }
    }
    for id in model.ids().rev() {
        if live[id.index()] {
            model.node(id).op.for_each_operand(|v| live[v.index()] = true);
        }
    }
    let mut used = vec![false; model.tables().len()];
    for (node, _) in model.nodes().iter().zip(&live).filter(|(_, live)| **live) {
        if let Op::Lookup { table, .. } = node.op {
            used[table.index()] = true;
        }
    }
    if live.iter().chain(&used).all(|&needed| needed) {
        return None;
    }
    let mut builder = Builder::like(model);
    let mut tables = vec![TableId(0); model.tables().len()];
    builder.clear_tables().reserve(live.iter().filter(|&&live| live).count());
    for (t, table) in model.tables().iter().enumerate().filter(|&(t, _)| used[t]) {
        tables[t] = builder.table(table.clone());
    }
    let mut moved = vec![ValueId(0); model.nodes().len()];
    for id in model.ids().filter(|id| live[id.index()]) {
        let mut node = model.node(id).clone();
        node.op.map_operands(|v| moved[v.index()]);
        if let Op::Lookup { table, .. } = &mut node.op {
            *table = tables[table.index()];
        }
        moved[id.index()] = builder.push_checked(node);
    }
    for out in model.outputs() {
        builder.output(Output { source: out.source.map(|v| moved[v.index()]), ..*out });
    }
    Some(builder.finish().unwrap_or_else(|p| panic!("dce made an invalid program: {}", p[0])))
}
