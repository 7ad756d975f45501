//! `cse`: equal operations are computed once.
//!
//! Value numbering (J. Cocke, J. T. Schwartz, 1970) on a form that is normalised for fixed-point arithmetic: the operands
//! of a commutative operation are ordered, a common shift of a sum's terms is taken out, and the result's type is left out
//! of the key. A second occurrence whose bits are all bits of the first becomes wires from it.

use super::Trust;
use super::facts::Facts;
use super::rewrite::{Rewrite, rebuild};
use crate::ir::{Model, Op, Term, UnaryBits, ValueId};
use crate::num::Kif;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Merges equal operations.
pub(super) fn run(model: &Model, trust: Trust) -> Model {
    let facts = Facts::local(model, trust);
    // Only looked up, never walked: its order cannot be seen.
    let mut seen: FxHashMap<Key, Vec<First>> = FxHashMap::with_capacity_and_hasher(model.nodes().len(), FxBuildHasher);
    rebuild(model, |rw, id| {
        let op = rw.translated(id);
        if matches!(op, Op::Quantise { .. }) {
            return exact_copy(&mut seen, rw, id, op);
        }
        let (kif, exact) = (model.kif(id), facts.never_wraps(model, id));
        let (key, scale) = normalised(op.clone(), kif);
        let firsts = seen.entry(key).or_default();
        let wanted = Wanted { kif, scale };
        if let Some(first) = firsts.iter().find(|f| f.serves(&wanted)) {
            let shift = scale.saturating_sub(first.scale);
            if shift == 0 && rw.kif(first.value) == kif {
                return first.value;
            }
            let (value, interval) = (first.value, model.node(id).interval.clone());
            return rw.replace(id, Op::Quantise { x: value, shift }, interval);
        }
        let made = rw.replace(id, op, model.node(id).interval.clone());
        // A few types for one operation are normal, many would make the search quadratic.
        if firsts.len() < 4 {
            firsts.push(First { value: made, kif, scale, exact });
        }
        made
    })
}

/// Wires are only merged with equal wires of the same type; there is nothing to gain from less.
fn exact_copy(seen: &mut FxHashMap<Key, Vec<First>>, rw: &mut Rewrite<'_>, id: ValueId, op: Op) -> ValueId {
    let interval = rw.old_interval(id);
    let kif = interval.kif();
    let firsts = seen.entry((op.clone(), false)).or_default();
    if let Some(first) = firsts.iter().find(|f| f.kif == kif) {
        return first.value;
    }
    let made = rw.replace(id, op, interval);
    if firsts.len() < 16 {
        firsts.push(First { value: made, kif, scale: 0, exact: false });
    }
    made
}

/// What is computed, whatever the type of the result; and the one thing about it that is not in the operation: whether
/// a not's result is signed.
type Key = (Op, bool);

/// An operation that was seen: its number is `2^scale` times the key's.
struct First {
    value: ValueId,
    kif: Kif,
    scale: i32,
    /// Whether its type holds the key's number (after dropping low bits), so that its sign may be repeated.
    exact: bool,
}

struct Wanted {
    kif: Kif,
    scale: i32,
}

impl First {
    /// Whether every bit wanted is a bit of this one, or a repetition of its sign.
    fn serves(&self, wanted: &Wanted) -> bool {
        // Bit weights of both in units of the key's number.
        let bottom = |kif: &Kif, scale: i32| -i64::from(kif.frac) - i64::from(scale);
        let top = |kif: &Kif, scale: i32| i64::from(kif.int) + i64::from(kif.signed) - i64::from(scale);
        if self.kif.is_zero() || wanted.kif.is_zero() {
            return self.kif.is_zero() && wanted.kif.is_zero();
        }
        bottom(&self.kif, self.scale) <= bottom(&wanted.kif, wanted.scale)
            && (self.exact || top(&wanted.kif, wanted.scale) <= top(&self.kif, self.scale))
    }
}

/// The operation's key, and the power of two between its number and the key's.
fn normalised(op: Op, kif: Kif) -> (Key, i32) {
    let (op, scale) = match op {
        Op::Add { a, b, shift } if a > b => match shift.checked_neg() {
            // a + b 2^s = 2^s (b + a 2^-s)
            Some(back) => (Op::Add { a: b, b: a, shift: back }, shift),
            None => (Op::Add { a, b, shift }, 0),
        },
        Op::Mul { a, b } if a > b => (Op::Mul { a: b, b: a }, 0),
        Op::Binary { op, a, b, shift } if a > b && shift == 0 => (Op::Binary { op, a: b, b: a, shift }, 0),
        Op::Sum { mut terms } => {
            terms.sort_by_key(|t| (t.value, t.shift, t.neg));
            let scale = terms[0].shift;
            let distance = |t: &Term| t.shift.checked_sub(scale);
            if terms.iter().all(|t| distance(t).is_some()) {
                terms.iter_mut().for_each(|t| t.shift -= scale);
                (Op::Sum { terms }, scale)
            } else {
                (Op::Sum { terms }, 0)
            }
        }
        // These say a code, not a number: the step of the result gives its weight.
        op @ (Op::Const { .. } | Op::Unary { op: UnaryBits::Any | UnaryBits::All, .. }) => (op, -kif.frac),
        other => (other, 0),
    };
    let signed_not = kif.signed && matches!(op, Op::Unary { op: UnaryBits::Not, .. });
    ((op, signed_not), scale)
}
