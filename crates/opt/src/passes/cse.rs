//! Pass `cse`: computes equal operations once.
//!
//! Value numbering (J. Cocke, J. T. Schwartz, 1970) on a form that is normalised for fixed-point arithmetic: the
//! operands of a commutative operation are sorted, a common shift of a sum's terms is factored out, and the key
//! excludes the result's type. A later operation whose bits are all bits of an earlier one becomes wiring from it.

use super::facts::Known;
use super::rewrite::{Rewrite, rebuild};
use alir_core::ir::{Model, Op, Term, UnaryBits, ValueId};
use alir_core::num::Kif;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Maximum number of stored types for one operation: a few are normal, and many would make the search quadratic.
const MOST_TYPES: usize = 4;
/// Maximum number of equal wires that are compared.
const MOST_WIRES: usize = 16;

/// Merges equal operations.
pub(super) fn run(model: &Model, known: &mut Known) -> Option<Model> {
    let mut seen = Seen::with_room_for(model.nodes().len());
    rebuild(model, |rw, id| {
        let op = rw.translated(id);
        if matches!(op, Op::Quantise { .. }) {
            return exact_copy(&mut seen, rw, id, op);
        }
        let kif = model.kif(id);
        let (key, scale) = normalised(op.clone(), kif);
        let hash = Seen::hash(&key);
        let wanted = Wanted { kif, scale };
        let mut same = 0;
        for first in seen.like(hash, &key) {
            same += 1;
            if !first.serves(&wanted, || known.local(model).never_wraps(model, first.old)) {
                continue;
            }
            let shift = scale.saturating_sub(first.scale);
            if shift == 0 && rw.kif(first.value) == kif {
                return first.value;
            }
            let (value, interval) = (first.value, model.node(id).interval.clone());
            return rw.replace(id, Op::Quantise { x: value, shift }, interval);
        }
        let made = rw.keep_translated(id, op);
        if same < MOST_TYPES {
            seen.add(hash, First { key, value: made, old: id, kif, scale, next: None });
        }
        made
    })
}

/// Merges wires only with equal wires of the same type; merging others saves nothing.
fn exact_copy(seen: &mut Seen, rw: &mut Rewrite<'_>, id: ValueId, op: Op) -> ValueId {
    let kif = rw.old_kif(id);
    let key = (op.clone(), false);
    let hash = Seen::hash(&key);
    let mut same = 0;
    for first in seen.like(hash, &key) {
        same += 1;
        if first.kif == kif {
            return first.value;
        }
    }
    let made = rw.keep_translated(id, op);
    if same < MOST_WIRES {
        seen.add(hash, First { key, value: made, old: id, kif, scale: 0, next: None });
    }
    made
}

/// Operations processed so far. The map is never iterated, so its order has no effect.
struct Seen {
    firsts: Vec<First>,
    /// Oldest operation for each hash.
    oldest: FxHashMap<u64, u32>,
}

impl Seen {
    fn with_room_for(operations: usize) -> Seen {
        let oldest = FxHashMap::with_capacity_and_hasher(operations, FxBuildHasher);
        Seen { firsts: Vec::with_capacity(operations), oldest }
    }

    fn hash(key: &Key) -> u64 {
        let mut hasher = FxHasher::default();
        key.hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the operations with this key, oldest first.
    fn like<'a>(&'a self, hash: u64, key: &'a Key) -> impl Iterator<Item = &'a First> {
        let first = |at: &u32| &self.firsts[*at as usize];
        let oldest = self.oldest.get(&hash).map(first);
        std::iter::successors(oldest, move |f| f.next.as_ref().map(first)).filter(move |f| f.key == *key)
    }

    fn add(&mut self, hash: u64, first: First) {
        let new = self.firsts.len() as u32;
        let mut last = *self.oldest.entry(hash).or_insert(new);
        self.firsts.push(first);
        while last != new {
            last = *self.firsts[last as usize].next.get_or_insert(new);
        }
    }
}

/// Operation without the type of its result, and `true` for a `not` with a signed result, which the operation does not
/// include.
type Key = (Op, bool);

/// An earlier operation: its number is `2^scale` times that of the key.
struct First {
    key: Key,
    value: ValueId,
    /// The operation in the old program.
    old: ValueId,
    kif: Kif,
    scale: i32,
    /// Next younger operation with the same hash.
    next: Option<u32>,
}

struct Wanted {
    kif: Kif,
    scale: i32,
}

impl First {
    /// Returns `true` if every bit of `wanted` is a bit of this operation, or a repetition of its sign. Sign repetition
    /// requires `exact`: the type can represent the key's number (after dropping low bits).
    fn serves(&self, wanted: &Wanted, exact: impl FnOnce() -> bool) -> bool {
        // Bit weights of both in units of the key's number.
        let bottom = |kif: &Kif, scale: i32| -i64::from(kif.frac) - i64::from(scale);
        let top = |kif: &Kif, scale: i32| i64::from(kif.int) + i64::from(kif.signed) - i64::from(scale);
        if self.kif.is_zero() || wanted.kif.is_zero() {
            return self.kif.is_zero() && wanted.kif.is_zero();
        }
        bottom(&self.kif, self.scale) <= bottom(&wanted.kif, wanted.scale)
            && (top(&wanted.kif, wanted.scale) <= top(&self.kif, self.scale) || exact())
    }
}

/// Returns the operation's key, and the exponent of the power of two between its number and the key's number.
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
        // These operations define a raw integer value, not a number: the step of the result determines its weight.
        op @ (Op::Const { .. } | Op::Unary { op: UnaryBits::Any | UnaryBits::All, .. }) => (op, -kif.frac),
        other => (other, 0),
    };
    let signed_not = kif.signed && matches!(op, Op::Unary { op: UnaryBits::Not, .. });
    ((op, signed_not), scale)
}
