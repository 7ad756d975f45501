//! Pass `simplify`: applies identities that make an operation cheaper or remove it.
//!
//! The identities concern constant operands, multiplication by powers of two, additions of zero, redundant or
//! consecutive quantises, ReLUs and muxes with a known sign, and negations that a following sum can absorb. The rules
//! are those of any optimising compiler (S. Muchnick, *Advanced Compiler Design*, 1997, chapter 12) for fixed-point
//! values. Each rule holds for every bit pattern, so most rules use [`Facts`] to check that a result never wraps or
//! drops bits.

use super::facts::{Facts, Known, Range};
use super::rewrite::{Rewrite, rebuild};
use alir_core::ir::{BinaryBits, Model, Op, Term, ValueId};
use alir_core::num::{Code, Interval, Kif};
use num_bigint::BigInt;

/// Applies the identities once, in order.
pub(super) fn run(model: &Model, known: &mut Known) -> Option<Model> {
    let facts = known.local(model);
    rebuild(model, |rw, id| Simplify { model, facts, rw, id }.decide())
}

struct Simplify<'a, 'b, 'c> {
    model: &'a Model,
    facts: &'b Facts,
    rw: &'b mut Rewrite<'c>,
    id: ValueId,
}

impl Simplify<'_, '_, '_> {
    fn decide(mut self) -> ValueId {
        let node = self.model.node(self.id);
        if let Some(value) = self.facts.range(self.id).and_then(Range::constant) {
            return self.constant(value);
        }
        let replaced = match &node.op {
            Op::Neg { x } => self.neg(*x),
            Op::Add { a, b, shift } => self.sum(&[plus(*a, 0), plus(*b, *shift)]),
            Op::Sub { a, b, shift } => self.sum(&[plus(*a, 0), minus(*b, *shift)]),
            Op::Sum { terms } => self.sum(terms),
            Op::AddConst { x, value, shift } => self.add_const(*x, value, *shift),
            Op::Quantise { x, shift } => self.quantise(*x, *shift),
            Op::Relu { x } if self.facts.range(*x).is_some_and(|r| r.lo >= 0) => self.quantise_or_copy(*x, 0),
            Op::Mux { cond, on_true, on_false, shift } => self.mux(*cond, *on_true, *on_false, *shift),
            Op::Mul { a, b } => self.mul(*a, *b),
            Op::Binary { op, a, b, shift } => self.binary(*op, *a, *b, *shift),
            Op::Input { .. } | Op::Const { .. } | Op::Relu { .. } | Op::Lookup { .. } | Op::Unary { .. } => None,
        };
        replaced.unwrap_or_else(|| self.rw.keep(self.id))
    }

    fn kif(&self) -> Kif {
        self.model.kif(self.id)
    }

    fn interval(&self) -> Interval {
        self.model.node(self.id).interval.clone()
    }

    fn replace(&mut self, op: Op) -> ValueId {
        let interval = self.interval();
        self.rw.replace(self.id, op, interval)
    }

    fn constant(&mut self, value: i128) -> ValueId {
        let value = BigInt::from(value);
        let interval = Interval::new(value.clone(), value.clone(), self.interval().frac);
        self.rw.replace(self.id, Op::Const { value: Code::from(&value) }, interval)
    }

    fn constant_of(&self, v: ValueId) -> Option<i128> {
        self.facts.range(v).and_then(Range::constant)
    }

    /// Returns `true` if this operation's result is exactly `x * 2^shift` for every value of `x`: no bits are dropped.
    fn same_number(&self, x: ValueId, shift: i32) -> bool {
        let Some(r) = self.facts.range(x) else { return self.kif_holds_all(x, shift) };
        let (from, to) = (i64::from(self.model.kif(x).frac) - i64::from(shift), i64::from(self.kif().frac));
        if r.constant() == Some(0) {
            return true;
        }
        if from > to && i64::from(r.zeros) < from - to {
            return false;
        }
        r.align(from, to).is_some_and(|r| Range::from_kif(self.kif()).is_some() && r.fits(self.kif()))
    }

    /// Like [`Self::same_number`], by types alone, for values that are too wide for ranges.
    fn kif_holds_all(&self, x: ValueId, shift: i32) -> bool {
        let (from, to) = (self.model.kif(x), self.kif());
        let from = (i64::from(from.int) + i64::from(shift), i64::from(from.frac) - i64::from(shift), from.signed);
        from.0 <= i64::from(to.int) && from.1 <= i64::from(to.frac) && (to.signed || !from.2)
    }

    /// Returns a replacement for `x * 2^shift` wrapped to this operation's type: `x` itself if the number is equal.
    fn quantise_or_copy(&mut self, x: ValueId, shift: i32) -> Option<ValueId> {
        if shift == 0 && self.same_number(x, 0) {
            return Some(self.rw.number(x));
        }
        let x = self.rw.number(x);
        Some(self.quantise_of(x, shift))
    }

    /// Returns a quantise of a *new* value; merges it with quantises before it.
    fn quantise_of(&mut self, x: ValueId, shift: i32) -> ValueId {
        let (mut x, mut shift) = (x, shift);
        while let Op::Quantise { x: inner, shift: inner_shift } = self.rw.node(x).op {
            let middle = self.rw.kif(x);
            let out = self.kif();
            // All bits that are read must be bits of the middle value: none above its top (its sign would be repeated)
            // and none below its step (which would have been dropped).
            let top = i64::from(out.int) + i64::from(out.signed) - i64::from(shift);
            let middle_top = i64::from(middle.int) + i64::from(middle.signed);
            let bottom = i64::from(out.frac) + i64::from(shift);
            let Some(sum) = shift.checked_add(inner_shift).filter(|s| s.unsigned_abs() <= 4096) else { break };
            if top > middle_top || bottom > i64::from(middle.frac) {
                break;
            }
            (x, shift) = (inner, sum);
        }
        self.replace(Op::Quantise { x, shift })
    }

    fn quantise(&mut self, x: ValueId, shift: i32) -> Option<ValueId> {
        self.quantise_or_copy(x, shift)
    }

    fn neg(&mut self, x: ValueId) -> Option<ValueId> {
        // -(-y) with an exact inner negation.
        if let Op::Neg { x: inner } = self.model.node(x).op
            && self.exact(x)
        {
            return self.quantise_or_copy(inner, 0);
        }
        // -(a - b) = b - a: one sum instead of two, or instead of a sum and a negation, with the delay of both.
        if let Op::Sub { a, b, shift } = self.model.node(x).op
            && self.exact(x)
        {
            let terms = Box::new([
                Term { value: self.rw.number(b), shift, neg: false },
                Term { value: self.rw.number(a), shift: 0, neg: true },
            ]);
            let op = match shift {
                0 => Op::Sub { a: self.rw.number(b), b: self.rw.number(a), shift: 0 },
                _ => Op::Sum { terms },
            };
            let delay = self.model.own_delay(x) + self.model.own_delay(self.id);
            let node = self.model.node(self.id);
            return Some(self.rw.push(op, node.interval.clone(), delay, node.cost, node.origin));
        }
        None
    }

    /// Returns `true` if the operation's result is exact: it neither wraps nor drops bits.
    fn exact(&self, id: ValueId) -> bool {
        let kif = self.model.kif(id);
        let frac = |v: ValueId| i64::from(self.model.kif(v).frac);
        let finest = match &self.model.node(id).op {
            Op::Neg { x } => frac(*x),
            Op::Quantise { x, shift } => frac(*x) - i64::from(*shift),
            Op::Sub { a, b, shift } => frac(*a).max(frac(*b) - i64::from(*shift)),
            _ => return false,
        };
        finest <= i64::from(kif.frac) && self.facts.never_wraps(self.model, id)
    }

    /// Returns `max(a - b, 0) + b` as the larger, or `a - max(a - b, 0)` as the smaller of both values: a choice by the
    /// sign of the difference, which saves an adder and the ReLU.
    fn extreme(&mut self, terms: &[Term]) -> Option<ValueId> {
        let &[first, second] = terms else { return None };
        for (rest, other) in [(first, second), (second, first)] {
            let Op::Relu { x } = self.model.node(rest.value).op else { continue };
            let Op::Sub { a, b, shift: 0 } = self.model.node(x).op else { continue };
            let whole = rest.shift == 0 && other.shift == 0 && !other.neg;
            if !whole || other.value != (if rest.neg { a } else { b }) {
                continue;
            }
            // The type's top bit is the sign of the exact difference, and no bits of the difference are dropped.
            let signed = self.model.kif(x).signed && self.exact(x);
            let kept = self.model.kif(rest.value).frac >= self.model.kif(x).frac;
            if !signed || !kept || !self.facts.never_wraps(self.model, rest.value) {
                continue;
            }
            let cond = self.rw.typed(x);
            let (on_true, on_false) = if rest.neg { (a, b) } else { (b, a) };
            let (on_true, on_false) = (self.rw.number(on_true), self.rw.number(on_false));
            return Some(self.replace(Op::Mux { cond, on_true, on_false, shift: 0 }));
        }
        None
    }

    /// Returns a replacement for a sum: absorbs exact negations and constants, and removes zero terms.
    fn sum(&mut self, terms: &[Term]) -> Option<ValueId> {
        if let Some(choice) = self.extreme(terms) {
            return Some(choice);
        }
        // Most sums have only such terms, and remain.
        let plain =
            |t: &Term| self.constant_of(t.value).is_none() && !matches!(self.model.node(t.value).op, Op::Neg { .. });
        if let [a, b] = terms
            && (a.value, a.shift) != (b.value, b.shift)
            && plain(a)
            && plain(b)
            && !matches!(self.model.node(self.id).op, Op::Sum { .. })
        {
            return None;
        }
        let mut kept: Vec<Term> = Vec::with_capacity(terms.len());
        let mut changed = false;
        for &term in terms {
            if self.constant_of(term.value) == Some(0) {
                changed = true;
                continue;
            }
            match self.model.node(term.value).op {
                Op::Neg { x } if self.exact(term.value) => {
                    kept.push(Term { value: x, neg: !term.neg, ..term });
                    changed = true;
                }
                _ => kept.push(term),
            }
        }
        // x - x, at any two positions of the sum.
        let mut k = 0;
        while k < kept.len() {
            let opposite = |t: &Term| t.value == kept[k].value && t.shift == kept[k].shift && t.neg != kept[k].neg;
            match kept[k + 1..].iter().position(opposite) {
                Some(at) => {
                    kept.remove(k + 1 + at);
                    kept.remove(k);
                    changed = true;
                }
                None => k += 1,
            }
        }
        if let Some(op) = self.with_constant(&kept) {
            return Some(self.replace(op));
        }
        if !changed && !matches!(self.model.node(self.id).op, Op::Sum { .. }) {
            return None;
        }
        Some(match *kept.as_slice() {
            [] => self.constant(0),
            [Term { value, shift, neg: false }] => return self.quantise_or_copy(value, shift),
            [Term { value, shift: 0, neg: true }] => {
                let x = self.rw.number(value);
                self.replace(Op::Neg { x })
            }
            [Term { value: a, shift: 0, neg: false }, Term { value: b, shift, neg }] => {
                let (a, b) = (self.rw.number(a), self.rw.number(b));
                self.replace(if neg { Op::Sub { a, b, shift } } else { Op::Add { a, b, shift } })
            }
            [Term { value: b, shift, neg }, Term { value: a, shift: 0, neg: false }] => {
                let (a, b) = (self.rw.number(a), self.rw.number(b));
                self.replace(if neg { Op::Sub { a, b, shift } } else { Op::Add { a, b, shift } })
            }
            _ => {
                let terms = kept.iter().map(|t| Term { value: self.rw.number(t.value), ..*t }).collect::<Box<[Term]>>();
                self.replace(Op::Sum { terms })
            }
        })
    }

    /// Returns `x + c` for a sum of two terms if one is a constant, otherwise `None`.
    fn with_constant(&self, terms: &[Term]) -> Option<Op> {
        let &[first, second] = terms else { return None };
        let (x, c) = if self.constant_of(second.value).is_some() { (first, second) } else { (second, first) };
        let value = self.constant_of(c.value)?;
        if x.neg || x.shift != 0 {
            return None;
        }
        let shift = self.model.kif(c.value).frac.checked_sub(c.shift).filter(|s| s.unsigned_abs() <= 4096)?;
        let value = Code::from(BigInt::from(if c.neg { -value } else { value }));
        Some(Op::AddConst { x: self.rw.number(x.value), value, shift })
    }

    fn add_const(&mut self, x: ValueId, value: &Code, shift: i32) -> Option<ValueId> {
        if value.is_zero() {
            return self.quantise_or_copy(x, 0);
        }
        // Trailing zeros of the constant only cost adder bits.
        let zeros = value.to_i128()?.trailing_zeros() as i32;
        if zeros == 0 || shift - zeros < -4096 {
            return None;
        }
        let op =
            Op::AddConst { x: self.rw.number(x), value: Code::from(value.to_big() >> zeros), shift: shift - zeros };
        Some(self.replace(op))
    }

    fn mux(&mut self, cond: ValueId, on_true: ValueId, on_false: ValueId, shift: i32) -> Option<ValueId> {
        match self.facts.top_bit(self.model, cond) {
            Some(true) => self.quantise_or_copy(on_true, 0),
            Some(false) => self.quantise_or_copy(on_false, shift),
            None if on_true == on_false && shift == 0 => self.quantise_or_copy(on_true, 0),
            None => None,
        }
    }

    fn mul(&mut self, a: ValueId, b: ValueId) -> Option<ValueId> {
        let (x, c) = if self.constant_of(b).is_some() { (a, b) } else { (b, a) };
        let value = self.constant_of(c)?;
        let magnitude = value.unsigned_abs();
        if !magnitude.is_power_of_two() {
            return None;
        }
        let shift = (magnitude.trailing_zeros() as i32).checked_sub(self.model.kif(c).frac)?;
        if shift.unsigned_abs() > 4096 {
            return None;
        }
        if value > 0 {
            return self.quantise_or_copy(x, shift);
        }
        let terms = Box::new([Term { value: self.rw.number(x), shift, neg: true }]);
        Some(self.replace(Op::Sum { terms }))
    }

    fn binary(&mut self, op: BinaryBits, a: ValueId, b: ValueId, shift: i32) -> Option<ValueId> {
        let same = a == b && shift == 0;
        match (op, self.constant_of(a), self.constant_of(b)) {
            (BinaryBits::And | BinaryBits::Or, _, _) if same => self.quantise_or_copy(a, 0),
            (BinaryBits::Or | BinaryBits::Xor, _, Some(0)) => self.quantise_or_copy(a, 0),
            (BinaryBits::Or | BinaryBits::Xor, Some(0), _) => self.quantise_or_copy(b, shift),
            _ => None,
        }
    }
}

fn plus(value: ValueId, shift: i32) -> Term {
    Term { value, shift, neg: false }
}

fn minus(value: ValueId, shift: i32) -> Term {
    Term { value, shift, neg: true }
}
