//! `ranges`: declares for every value the tightest interval that holds for every input.

use super::facts::Known;
use super::rewrite::rebuild;
use alir_core::ir::{Model, Op, UnaryBits};
use alir_core::num::{Code, Interval};

/// Narrows types to what [`Facts`] proves: high bits that repeat the sign, low bits that are always zero, and whole
/// values that never change (they become constants).
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
        // A lookup's step is its table's, a not's its operand's; constants, any and all say codes.
        let movable = !matches!(node.op, Op::Lookup { .. } | Op::Unary { .. } | Op::Const { .. });
        if movable && range.zeros > 0 {
            let frac = interval.frac - range.zeros as i32;
            let code = |v: i128| Code::from_i128(v >> range.zeros);
            interval = Interval::new(code(range.lo), code(range.hi), frac);
        }
        let (old, new) = (model.kif(id), interval.kif());
        // What a not does depends on whether its result is signed.
        let not = matches!(node.op, Op::Unary { op: UnaryBits::Not, .. });
        if new.width() >= old.width() || (not && new.signed != old.signed) {
            return rw.keep(id);
        }
        let op = rw.translated(id);
        rw.replace(id, op, interval)
    })
}
