//! Pass `compose`: a table whose index is a function of one value becomes a table of that value.
//!
//! In `sin[3 x / 4]` the table has a word for every value of `3 x / 4`, which has two more bits than `x`; a table of
//! `x` has a quarter of the words, and the multiplication is removed. This is constant folding (S. Muchnick, *Advanced
//! Compiler Design and Implementation*, 1997, chapter 12) over all values of a variable. The operations between value
//! and table may be of any kind, other tables included, as long as they read only this value and constants. Of all
//! values that determine the index in this way, the pass chooses the narrowest, and among these the farthest; it must
//! be narrower than the index, or equally wide if that removes an operation that needs logic.
//!
//! The new lookup has the delay of the old one, on an operand that is available earlier.

use super::facts::{Facts, Known};
use super::rewrite::rebuild;
use alir_core::ir::{Model, Op, Table, TableId, ValueId};
use alir_core::num::{Code, Interval};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use rustc_hash::FxHashMap;

/// Largest width of the operand of a composed table, in bits.
const MOST_BITS: u32 = 16;
/// Largest number of steps from a table's operand back to the value.
const MOST_STEPS: usize = 16;
/// Budget of a program in evaluated operations, beyond four for each table entry.
const BASE_WORK: usize = 1 << 14;

/// Composes tables with the operations before them.
pub(super) fn run(model: &Model, known: &mut Known) -> Option<Model> {
    let facts = known.whole(model);
    let sources = Sources::new(model);
    let mut work = BASE_WORK + model.tables().iter().map(|t| 4 * t.entries.len()).sum::<usize>();
    let mut pool: FxHashMap<(Vec<i32>, i32), TableId> = FxHashMap::default();
    rebuild(model, |rw, id| {
        let node = model.node(id);
        let Op::Lookup { x, table, base: _ } = &node.op else { return rw.keep(id) };
        let Some(source) = narrowest_source(model, &sources, *x) else { return rw.keep(id) };
        let Some((first, values)) = composed(model, facts, source, id, *x, &mut work) else { return rw.keep(id) };
        let old = model.table(*table);
        let (lo, hi) = values.iter().fold((0, 0), |(lo, hi), &v| (v.min(lo), v.max(hi)));
        let new = *pool.entry((values, old.out.frac)).or_insert_with_key(|(values, _)| {
            rw.table(Table {
                entries: values.clone(),
                out: Interval::new(i64::from(lo), i64::from(hi), old.out.frac),
                hash: old.hash.clone(),
                inp_width: old.inp_width,
            })
        });
        let x = rw.typed(source);
        let base = Code::from(BigInt::from(first));
        rw.replace(id, Op::Lookup { x, table: new, base }, node.interval.clone())
    })
}

/// Returns the smallest value of `source`, and the word that the lookup `id` of `x` reads for each value of `source`.
fn composed(
    model: &Model,
    facts: &mut Facts,
    source: ValueId,
    id: ValueId,
    x: ValueId,
    work: &mut usize,
) -> Option<(i128, Vec<i32>)> {
    let range = facts.range(source)?;
    let mut cone = operations_between(model, source, x)?;
    cone.push(id);
    let cost = usize::try_from(range.hi - range.lo).ok()?.checked_mul(cone.len())?;
    *work = work.checked_sub(cost)?;
    let values = facts.function(model, source, &cone)?;
    let values = values.iter().map(ToPrimitive::to_i32).collect::<Option<_>>()?;
    Some((range.lo, values))
}

/// Returns the narrowest value that alone determines `x`; `None` if a table of it would not be better.
fn narrowest_source(model: &Model, sources: &Sources, x: ValueId) -> Option<ValueId> {
    let wires = |v: ValueId| matches!(model.node(v).op, Op::Quantise { .. });
    let width = |v: ValueId| model.kif(v).width();
    let (mut best, mut at, mut saves) = (None, x, false);
    let mut least = width(x);
    for _ in 0..MOST_STEPS {
        let Some(next) = sources.source(model, at) else { break };
        saves |= !wires(at);
        at = next;
        if width(at) < least || (width(at) == least && saves) {
            least = width(at);
            best = Some(at);
        }
    }
    best.filter(|_| (1..=MOST_BITS).contains(&least))
}

/// Source of each value: the last earlier value that alone determines it, or `None`. This is the immediate dominator in
/// the graph of operands, computed as in K. D. Cooper, T. J. Harvey, K. Kennedy, *A simple, fast dominance algorithm*
/// (2001), in one sweep, because operands precede their readers.
pub(super) struct Sources(Vec<Option<ValueId>>);

impl Sources {
    /// Computes the sources of all values. The search for a value's source stops after [`MOST_STEPS`] steps, so that
    /// the time is linear.
    pub(super) fn new(model: &Model) -> Sources {
        let mut found: Vec<Option<ValueId>> = Vec::with_capacity(model.nodes().len());
        // `true` for values computed from constants only.
        let mut fixed: Vec<bool> = Vec::with_capacity(model.nodes().len());
        for node in model.nodes() {
            let (mut common, mut left, mut none) = (None, MOST_STEPS, false);
            node.op.for_each_operand(|o| {
                if none || fixed[o.index()] {
                    return;
                }
                common = Some(match common {
                    None => o,
                    Some(other) => match common_source(&found, other, o, &mut left) {
                        Some(shared) => shared,
                        None => return none = true,
                    },
                });
            });
            fixed.push(common.is_none() && !matches!(node.op, Op::Input { .. }));
            found.push(common.filter(|_| !none));
        }
        Sources(found)
    }

    /// Returns the source of a value if at most [`MOST_STEPS`] operations are between, which limits the work for the
    /// evaluation of the function.
    pub(super) fn source(&self, model: &Model, v: ValueId) -> Option<ValueId> {
        let source = self.0[v.index()]?;
        let mut open: Vec<ValueId> = Vec::new();
        let read = |v: ValueId, open: &mut Vec<ValueId>| {
            model.node(v).op.for_each_operand(|o| {
                if !open.contains(&o) && !matches!(model.node(o).op, Op::Const { .. }) {
                    open.push(o);
                }
            });
        };
        read(v, &mut open);
        for _ in 0..MOST_STEPS {
            if open == [source] {
                return Some(source);
            }
            let last = *open.iter().max()?;
            open.retain(|&o| o != last);
            read(last, &mut open);
        }
        None
    }
}

/// Returns the last value that determines both `a` and `b` (which may be one of them); `None` if `left` steps do not
/// suffice.
fn common_source(found: &[Option<ValueId>], mut a: ValueId, mut b: ValueId, left: &mut usize) -> Option<ValueId> {
    while a != b {
        *left = left.checked_sub(1)?;
        let (early, late) = (a.min(b), a.max(b));
        (a, b) = (early, found[late.index()]?);
    }
    Some(a)
}

/// Returns the operations from `source` (excluded) to `x` (included), in order; `None` if they read an input, or if
/// there are too many.
pub(super) fn operations_between(model: &Model, source: ValueId, x: ValueId) -> Option<Vec<ValueId>> {
    let mut cone = vec![x];
    let mut next = 0;
    while let Some(&v) = cone.get(next) {
        next += 1;
        model.node(v).op.for_each_operand(|o| {
            if o != source && !cone.contains(&o) && !matches!(model.node(o).op, Op::Const { .. }) {
                cone.push(o);
            }
        });
        if cone.len() > MOST_STEPS * MOST_STEPS || cone.iter().any(|&v| matches!(model.node(v).op, Op::Input { .. })) {
            return None;
        }
    }
    cone.sort_unstable();
    Some(cone)
}
