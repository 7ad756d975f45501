//! Operations that two programs have in common: the same operation, on the same values, with the same type. Most passes
//! change only a part of a program, and this comparison takes a small part of the time of value numbering.

use alir_core::ir::{Model, Op, TableId, ValueId};
use alir_core::num::Kif;
use rustc_hash::FxHashMap;

/// Returns for each value of two programs the first value of `a` that is the same operation on the same values; `None`
/// if there is none. The ports of both programs have the same types.
pub(super) fn common_values([a, b]: [&Model; 2]) -> [Vec<Option<ValueId>>; 2] {
    let mut tables: FxHashMap<&[i32], u32> = FxHashMap::default();
    let mut firsts: FxHashMap<(Op, Kif), ValueId> = FxHashMap::default();
    let mut all = [Vec::with_capacity(a.nodes().len()), Vec::with_capacity(b.nodes().len())];
    for id in a.ids() {
        let key = key(a, id, &all[0], &mut tables);
        all[0].push(key.map(|key| *firsts.entry(key).or_insert(id)));
    }
    for id in b.ids() {
        let key = key(b, id, &all[1], &mut tables);
        all[1].push(key.and_then(|key| firsts.get(&key).copied()));
    }
    all
}

/// Returns a value's operation on the values `common` of its operands, and its type; `None` if an operand has no such
/// value. Tables with equal entries get the same number.
fn key<'a>(
    model: &'a Model,
    id: ValueId,
    common: &[Option<ValueId>],
    tables: &mut FxHashMap<&'a [i32], u32>,
) -> Option<(Op, Kif)> {
    let mut op = model.node(id).op.clone();
    let mut is_known = true;
    op.map_operands(|operand| {
        common[operand.index()].unwrap_or_else(|| {
            is_known = false;
            operand
        })
    });
    if let Op::Lookup { table, .. } = &mut op {
        let next = tables.len() as u32;
        *table = TableId(*tables.entry(&model.table(*table).entries).or_insert(next));
    }
    is_known.then(|| (op, model.kif(id)))
}
