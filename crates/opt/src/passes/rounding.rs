//! Pass `rounding`: adds the rounding constant of a ReLU's result before the ReLU, where it merges with the bias.
//!
//! Networks round with `floor(max(v, 0) + c)`, where `c` is half a step of the result: a separate adder after each
//! ReLU. If `0 <= c < step`, and `c` is a multiple of the step of `max(v, 0)`, then
//!
//! `floor(max(v, 0) + c) = max(floor(v + c), 0)`,
//!
//! because for a negative `v` both sides are zero. In most networks, `v` ends with a constant, which absorbs `c`: the
//! adder and the lowest bit of the ReLU are removed. The equation also holds modulo any power of two, so results may
//! wrap.

use super::facts::{Facts, Known, Range};
use super::rewrite::{Rewrite, rebuild};
use alir_core::ir::{Model, Op, ValueId};
use alir_core::num::{Code, Interval, Kif};
use num_bigint::BigInt;

/// Moves rounding constants from after ReLUs to before them if that saves adder bits; returns `None` if nothing
/// changes.
pub(super) fn run(model: &Model, known: &mut Known) -> Option<Model> {
    let readers = Readers::new(model);
    if !readers.any_quantised_constant {
        return None;
    }
    let facts = known.local(model);
    rebuild(model, |rw, id| match Rounding::find(model, facts, &readers, id) {
        Some(rounding) => rounding.write(model, rw, id),
        None => rw.keep(id),
    })
}

/// Range of the bits of a value that are read: weights from `2^-frac` up to `2^top` (exclusive).
#[derive(Clone, Copy)]
struct Taken {
    frac: i64,
    top: i64,
}

/// Readers of the values of a program.
struct Readers {
    count: Vec<u32>,
    /// Bits that quantisers read of an addition of a constant without other readers.
    taken: Vec<Option<Taken>>,
    any_quantised_constant: bool,
}

impl Readers {
    fn new(model: &Model) -> Readers {
        let n = model.nodes().len();
        let mut count = vec![0u32; n];
        let mut quantisers = vec![0u32; n];
        let mut taken: Vec<Option<Taken>> = vec![None; n];
        for id in model.ids() {
            model.node(id).op.for_each_operand(|v| count[v.index()] += 1);
            let Op::Quantise { x, shift } = model.node(id).op else { continue };
            quantisers[x.index()] += 1;
            let kif = model.kif(id);
            if kif.is_zero() || !matches!(model.node(x).op, Op::AddConst { .. }) {
                continue;
            }
            let frac = i64::from(kif.frac) + i64::from(shift);
            let top = i64::from(kif.int) + i64::from(kif.signed) - i64::from(shift);
            let all = taken[x.index()].get_or_insert(Taken { frac, top });
            *all = Taken { frac: all.frac.max(frac), top: all.top.max(top) };
        }
        for out in model.outputs() {
            if let Some(v) = out.source {
                count[v.index()] += 1;
            }
        }
        for v in 0..n {
            if quantisers[v] != count[v] {
                taken[v] = None;
            }
        }
        let any_quantised_constant = taken.iter().any(Option::is_some);
        Readers { count, taken, any_quantised_constant }
    }
}

/// Constant `addend * 2^-frac`.
#[derive(Clone)]
struct Constant {
    addend: i128,
    frac: i64,
}

impl Constant {
    fn new(value: &Code, shift: i32) -> Option<Constant> {
        let addend = value.to_i128().filter(|v| *v != 0 && v.unsigned_abs() < 1 << 90)?;
        let zeros = addend.trailing_zeros();
        Some(Constant { addend: addend >> zeros, frac: i64::from(shift) - i64::from(zeros) })
    }

    /// Returns the constant as a raw integer value with `frac` fractional bits; `None` if the value would lose bits or
    /// is too large.
    fn code(&self, frac: i64) -> Option<i128> {
        let up = u32::try_from(frac - self.frac).ok().filter(|&up| up <= 100)?;
        self.addend.checked_mul(1 << up).filter(|c| c.unsigned_abs() < 1 << 120)
    }

    fn plus(&self, other: &Constant) -> Option<Constant> {
        let frac = self.frac.max(other.frac);
        let addend = self.code(frac)?.checked_add(other.code(frac)?)?;
        let zeros = if addend == 0 { 0 } else { addend.trailing_zeros() };
        Some(Constant { addend: addend >> zeros, frac: frac - i64::from(zeros) })
    }

    /// Returns the adder bits of adding the constant to a number of this type: bits below the constant's lowest bit are
    /// free.
    fn adder_bits(&self, kif: Kif) -> i64 {
        match self.addend {
            0 => 0,
            _ => (i64::from(kif.width()) - (i64::from(kif.frac) - self.frac).max(0)).max(0),
        }
    }
}

/// Affine function `base + constant` or (`negated`) `constant - base`.
#[derive(Clone)]
struct Affine {
    base: ValueId,
    negated: bool,
    constant: Constant,
}

impl Affine {
    /// Returns a value as an affine function of the value before additions of constants and negations that are exact
    /// and have no other readers.
    fn behind(model: &Model, facts: &Facts, readers: &Readers, value: ValueId) -> Affine {
        let mut found = Affine { base: value, negated: false, constant: Constant { addend: 0, frac: 0 } };
        while readers.count[found.base.index()] == 1 && facts.never_wraps(model, found.base) {
            let frac = i64::from(model.kif(found.base).frac);
            let finest = |x: ValueId| i64::from(model.kif(x).frac);
            found = match &model.node(found.base).op {
                Op::Neg { x } if finest(*x) <= frac => Affine { base: *x, negated: !found.negated, ..found },
                Op::AddConst { x, value, shift } => {
                    let Some(mut own) = Constant::new(value, *shift) else { break };
                    if own.frac.max(finest(*x)) > frac {
                        break;
                    }
                    own.addend = if found.negated { -own.addend } else { own.addend };
                    let Some(constant) = found.constant.plus(&own) else { break };
                    Affine { base: *x, negated: found.negated, constant }
                }
                _ => break,
            };
        }
        found
    }

    /// Returns the bits of the adder that computes the function in this type.
    fn adder_bits(&self, kif: Kif) -> i64 {
        if self.negated { i64::from(kif.width()) } else { self.constant.adder_bits(kif) }
    }
}

/// A rounding constant to be moved.
struct Rounding {
    /// Addition before the new ReLU.
    new: Affine,
    /// Intervals of the negated base, of the new addition, and of the new ReLU.
    negative: Interval,
    before: Interval,
    after: Interval,
    /// The existing ReLU and its operand.
    relu: ValueId,
    sum: ValueId,
    /// `true` if the existing sum has a constant that the new constant absorbs.
    merged: bool,
}

impl Rounding {
    /// Returns the rounding whose addition is `id`; `None` if `id` is not such an addition, or moving it saves no adder
    /// bits.
    fn find(model: &Model, facts: &Facts, readers: &Readers, id: ValueId) -> Option<Rounding> {
        let Op::AddConst { x: relu, ref value, shift } = model.node(id).op else { return None };
        let Op::Relu { x: sum } = model.node(relu).op else { return None };
        let taken = readers.taken[id.index()]?;
        if readers.count[relu.index()] != 1 {
            return None;
        }
        let (whole, rectified, source) = (model.kif(id), model.kif(relu), model.kif(sum));
        // 0 <= c < step, and c is a multiple of the ReLU's step.
        let constant = Constant::new(value, shift)?;
        let below_step =
            constant.code(constant.frac.max(taken.frac))? < 1 << (constant.frac - taken.frac).clamp(0, 100);
        if constant.addend < 0 || !below_step || constant.frac > i64::from(rectified.frac) {
            return None;
        }
        if taken.frac > i64::from(rectified.frac).min(i64::from(whole.frac)) {
            return None;
        }
        let top = |kif: Kif| i64::from(kif.int) + i64::from(kif.signed);
        let holds = |v: ValueId| facts.never_wraps(model, v) || taken.top <= top(model.kif(v));
        if !holds(relu) || !holds(id) {
            return None;
        }
        let range = facts.range(sum)?;
        let sum_read = Affine::behind(model, facts, readers, sum);
        let added = |constant: &Constant, range: Range, frac: i64| -> Option<(Interval, i128)> {
            let common = frac.max(constant.frac);
            let range = range.align(frac, common)?;
            let code = constant.code(common)?;
            let (lo, hi) = (range.lo.checked_add(code)?, range.hi.checked_add(code)?);
            let common = i32::try_from(common).ok()?;
            Some((Interval::new(Code::from_i128(lo), Code::from_i128(hi), common), hi))
        };
        let (before, largest) = added(&constant, range, i64::from(source.frac))?;
        let both = sum_read.constant.plus(&constant)?;
        let step = i32::try_from(taken.frac).ok()?;
        let after = match facts.never_wraps(model, relu) && facts.never_wraps(model, id) {
            true => {
                let down = u32::try_from(i64::from(before.frac) - taken.frac).ok()?.min(120);
                Interval::new(Code::ZERO, Code::from_i128((largest >> down).max(0)), step)
            }
            false => {
                let int = i32::try_from(taken.top).ok()?;
                Interval::full(Kif { signed: false, int, frac: step })
            }
        };
        let (wide, narrow) = (before.kif(), after.kif());
        if narrow.is_zero() || wide.width() > 100 {
            return None;
        }
        let was = sum_read.adder_bits(source) + i64::from(rectified.width()) + constant.adder_bits(whole);
        let merged = sum_read.base != sum;
        let new = Affine { constant: both, ..sum_read };
        let is = new.adder_bits(wide) + i64::from(narrow.width());
        let negative = match facts.range(new.base) {
            Some(_) => facts.interval(model, new.base).negated(),
            None => Interval::full(model.kif(new.base)).negated(),
        };
        (is < was).then_some(Rounding { new, negative, before, after, relu, sum, merged })
    }

    fn write(self, model: &Model, rw: &mut Rewrite<'_>, id: ValueId) -> ValueId {
        // If the constant is merged, the addition has the delay of the existing sum, otherwise that of the moved
        // addition.
        let adder = if self.merged { self.sum } else { id };
        let (delay, cost, origin) = (model.own_delay(adder), model.node(adder).cost, model.node(self.sum).origin);
        let mut base = rw.number(self.new.base);
        if self.new.negated {
            base = rw.push(Op::Neg { x: base }, self.negative, 0.0, 0.0, origin);
        }
        let sum = match i32::try_from(self.new.constant.frac) {
            Ok(shift) if self.new.constant.addend != 0 => {
                let value = Code::from(BigInt::from(self.new.constant.addend));
                rw.push(Op::AddConst { x: base, value, shift }, self.before, delay, cost, origin)
            }
            _ => rw.push(Op::Quantise { x: base, shift: 0 }, self.before, delay, cost, origin),
        };
        let (delay, cost, origin) = (model.own_delay(self.relu), model.node(self.relu).cost, model.node(id).origin);
        rw.push(Op::Relu { x: sum }, self.after, delay, cost, origin)
    }
}
