//! Pass `ranges`: declares for every value the tightest interval that holds for every input.

use super::facts::Known;
use super::rewrite::rebuild;
use alir_core::ir::{Model, Op, UnaryBits};
use alir_core::num::{Code, Interval};

/// Narrows types to the facts that [`Facts`] proves: removes high bits that repeat the sign and low bits that are
/// always zero, and replaces values that never change with constants.
pub(super) fn run(model: &Model, known: &mut Known) -> Option<Model> {
    let facts = known.whole(model);
    rebuild(model, |rw, id| {
        let node = model.node(id);
        let Some(range) = facts.range(id) else { return rw.keep(id) };
        if let Some(value) = range.constant() {
            let value = Code::from_i128(value);
            let interval = Interval::new(value.clone(), value.clone(), node.interval.frac);
            return rw.replace(id, Op::Const { value }, interval);
        }
        let mut interval = facts.interval(model, id);
        // The step of a lookup is that of its table, and the step of a `not` that of its operand; constants, `any` and
        // `all` define raw integer values.
        let movable = !matches!(node.op, Op::Lookup { .. } | Op::Unary { .. } | Op::Const { .. });
        if movable && range.zeros > 0 {
            let frac = interval.frac - range.zeros as i32;
            let code = |v: i128| Code::from_i128(v >> range.zeros);
            interval = Interval::new(code(range.lo), code(range.hi), frac);
        }
        let (old, new) = (model.kif(id), interval.kif());
        // The result of a `not` depends on the signedness of its type.
        let not = matches!(node.op, Op::Unary { op: UnaryBits::Not, .. });
        if new.width() >= old.width() || (not && new.signed != old.signed) {
            return rw.keep(id);
        }
        let op = rw.translated(id);
        rw.replace(id, op, interval)
    })
}
