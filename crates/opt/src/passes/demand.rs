//! `demand`: removes bits without readers.
//!
//! A backward analysis determines the bits of each value that can reach an output, as one window `lo .. hi` of bit
//! positions for each value (demanded bits as in J. Stephenson, J. Babb, S. Amarasinghe, *Bitwidth Analysis with
//! Application to Silicon Compilation*, PLDI 2000, section 4). A value whose top bits have no reader gets a narrower,
//! unsigned type, which does not affect its readers, as they compute modulo a power of two. Low bits without readers
//! are dropped from the type. A sum still computes the carries of its low bits, unless all operands but one are zero
//! there.

use super::facts::{Facts, Known};
use super::rewrite::rebuild;
use alir_core::ir::{Model, Op, UnaryBits, ValueId};
use alir_core::num::{Code, Interval, Kif};

/// Bits `lo .. hi` of a raw integer value; empty if `hi <= lo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    lo: i64,
    hi: i64,
}

/// A position above every bit, for a reader of the whole number with its sign.
const WHOLE: i64 = i64::MAX / 4;
const NOTHING: Window = Window { lo: WHOLE, hi: -WHOLE };

impl Window {
    /// Returns the window within a type. Bits above a signed type are its sign bit; those above an unsigned type are
    /// zero.
    fn within(self, kif: Kif) -> Window {
        let width = i64::from(kif.width());
        if self.lo >= self.hi || width == 0 {
            return NOTHING;
        }
        let lo = if kif.signed && self.hi > width { self.lo.min(width - 1) } else { self.lo };
        Window { lo: lo.max(0), hi: self.hi.min(width) }
    }

    fn join(&mut self, other: Window) {
        if other.lo < other.hi {
            self.lo = self.lo.min(other.lo);
            self.hi = self.hi.max(other.hi);
        }
    }
}

/// Narrows every value to the bits that reach an output.
pub(super) fn run(model: &Model, known: &mut Known) -> Option<Model> {
    let demand = demanded(model, known.local(model));
    rebuild(model, |rw, id| {
        let (node, kif) = (model.node(id), model.kif(id));
        if kif.is_zero() {
            return rw.keep(id);
        }
        let window = demand[id.index()].within(kif);
        if window.lo >= window.hi {
            let zero = Interval::new(0, 0, node.interval.frac);
            return rw.replace(id, Op::Const { value: Code::ZERO }, zero);
        }
        let Some(interval) = narrowed(kif, window, &node.op) else { return rw.keep(id) };
        let op = rw.translated(id);
        rw.replace(id, op, interval)
    })
}

/// Returns the interval of the demanded bits; `None` if all bits of the type are demanded.
fn narrowed(kif: Kif, window: Window, op: &Op) -> Option<Interval> {
    let width = i64::from(kif.width());
    let hi = window.hi;
    // The semantics of these operations depend on their step.
    let fixed_step = matches!(op, Op::Lookup { .. } | Op::Unary { .. } | Op::Const { .. });
    let lo = if fixed_step { 0 } else { window.lo };
    if hi - lo >= width || (fixed_step && matches!(op, Op::Const { .. })) {
        return None;
    }
    // The semantics of `not` depend on the signedness of its result.
    let signed = kif.signed && (hi == width || matches!(op, Op::Unary { op: UnaryBits::Not, .. }));
    let int = i64::from(kif.int) + i64::from(kif.signed) - (width - hi) - i64::from(signed);
    Some(Interval::full(Kif { signed, int: int as i32, frac: kif.frac - lo as i32 }))
}

/// Returns the demanded window of every value.
fn demanded(model: &Model, facts: &Facts) -> Vec<Window> {
    let mut all = vec![NOTHING; model.nodes().len()];
    for (j, out) in model.outputs().iter().enumerate() {
        let Some(v) = out.source else { continue };
        let port = model.output_kif(j);
        if port.is_zero() {
            continue;
        }
        // Bit p of the output's raw value has the weight of the source's bit p - frac_port + frac_source - shift.
        let offset = i64::from(model.kif(v).frac) - i64::from(out.shift) - i64::from(port.frac);
        let hi = i64::from(port.width()) + offset;
        // A negation carries from the lowest bit.
        let lo = if out.neg { 0 } else { offset.max(0) };
        all[v.index()].join(Window { lo, hi });
    }
    for id in model.ids().rev() {
        let kif = model.kif(id);
        let window = all[id.index()].within(kif);
        if window.lo >= window.hi {
            continue;
        }
        operands(model, facts, id, window, &mut all);
    }
    all
}

/// Adds the bits of operands on which the bits `window` of `id` depend.
fn operands(model: &Model, facts: &Facts, id: ValueId, window: Window, all: &mut [Window]) {
    let out = i64::from(model.kif(id).frac);
    let frac = |v: ValueId| i64::from(model.kif(v).frac);
    let mut need = |v: ValueId, w: Window| all[v.index()].join(w);
    // Result bit p has the weight of operand bit p + offset.
    let offset = |v: ValueId, shift: i32| frac(v) - i64::from(shift) - out;
    match &model.node(id).op {
        Op::Input { .. } | Op::Const { .. } => {}
        Op::Quantise { x, shift } => {
            let by = offset(*x, *shift);
            need(*x, Window { lo: (window.lo + by).max(0), hi: window.hi + by });
        }
        Op::Neg { x } => need(*x, Window { lo: 0, hi: window.hi + offset(*x, 0) }),
        Op::AddConst { x, value, shift } => {
            // The trailing zeros of the constant generate no carry.
            let constant = value.to_i128().map_or(0, |v| i64::from(v.trailing_zeros().min(127)));
            let silent = if value.is_zero() { WHOLE } else { constant - i64::from(*shift) + frac(*x) };
            let by = offset(*x, 0);
            need(*x, Window { lo: (window.lo + by).min(silent).max(0), hi: window.hi + by });
        }
        Op::Add { a, b, shift } => sum(model, facts, id, window, &[(*a, 0, false), (*b, *shift, false)], &mut need),
        Op::Sub { a, b, shift } => sum(model, facts, id, window, &[(*a, 0, false), (*b, *shift, true)], &mut need),
        Op::Sum { terms } => {
            let terms: Vec<_> = terms.iter().map(|t| (t.value, t.shift, t.neg)).collect();
            sum(model, facts, id, window, &terms, &mut need);
        }
        Op::Mul { a, b } => {
            // Low bits of a product depend only on the low bits of both factors.
            let top = window.hi + frac(*a) + frac(*b) - out;
            need(*a, Window { lo: 0, hi: top });
            need(*b, Window { lo: 0, hi: top });
        }
        Op::Relu { x } => {
            let by = offset(*x, 0);
            need(*x, Window { lo: (window.lo + by).max(0), hi: WHOLE });
        }
        Op::Mux { cond, on_true, on_false, shift } => {
            for (v, s) in [(*on_true, 0), (*on_false, *shift)] {
                let by = offset(v, s);
                need(v, Window { lo: (window.lo + by).max(0), hi: window.hi + by });
            }
            let kif = model.kif(*cond);
            // A multiplexer reads the top bit. The window extends above the type, so that narrowing keeps this bit on
            // top.
            need(*cond, Window { lo: (i64::from(kif.width()) - 1).max(0), hi: WHOLE });
        }
        Op::Lookup { x, .. } | Op::Unary { op: UnaryBits::Any | UnaryBits::All, x } => {
            need(*x, Window { lo: 0, hi: WHOLE });
        }
        Op::Unary { op: UnaryBits::Not, x } => need(*x, Window { lo: 0, hi: WHOLE }),
        Op::Binary { a, b, shift, .. } => {
            for (v, s) in [(*a, 0), (*b, *shift)] {
                let by = offset(v, s);
                need(v, Window { lo: (window.lo + by).max(0), hi: window.hi + by });
            }
        }
    }
}

/// Adds the bits of the terms (value, shift, subtracted) on which a sum depends.
fn sum(
    model: &Model,
    facts: &Facts,
    id: ValueId,
    window: Window,
    terms: &[(ValueId, i32, bool)],
    need: &mut impl FnMut(ValueId, Window),
) {
    let out = i64::from(model.kif(id).frac);
    // The weight (as a bit position of the result) below which a term is always zero.
    let silent_below = |&(v, shift, _): &(ValueId, i32, bool)| {
        let by = i64::from(model.kif(v).frac) - i64::from(shift) - out;
        match facts.range(v) {
            Some(r) if r.constant() == Some(0) => WHOLE,
            Some(r) => i64::from(r.zeros) - by,
            None => -by,
        }
    };
    let silent: Vec<i64> = terms.iter().map(silent_below).collect();
    for (k, &(v, shift, neg)) in terms.iter().enumerate() {
        let by = i64::from(model.kif(v).frac) - i64::from(shift) - out;
        // An added term generates no carry below the bits of all other terms; a subtracted term generates a borrow.
        let others = silent.iter().enumerate().filter(|&(i, _)| i != k).map(|(_, &s)| s).min().unwrap_or(WHOLE);
        let lo = if neg { -WHOLE } else { window.lo.min(others) };
        need(v, Window { lo: (lo + by).max(0), hi: window.hi + by });
    }
}
