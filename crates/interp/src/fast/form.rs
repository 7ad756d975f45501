//! Operations in a few normal forms, with facts about their results.
//!
//! The binary points of a program are known before it runs, so every alignment becomes a shift by a constant, and most
//! opcodes become one form, the shifted sum: `((± x0 << s0) ± (x1 << s1) … + c) >> r`. [`Facts`] then bounds the raw
//! integer values of each operation for all inputs. Bounds are computed by interval arithmetic from the types of the
//! ports, never from declared intervals, so that simplifications are valid for every bit pattern.

use alir_core::ir::{BinaryBits, Model, Op, TableId, UnaryBits, ValueId};
use alir_core::num::{Kif, wrap};
use num_bigint::BigInt;
use num_traits::ToPrimitive;

/// A shifted operand of a sum: `± value << shl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shifted {
    /// Index of the operand.
    pub(super) value: u32,
    /// Distance of the shift to the left.
    pub(super) shl: u32,
    /// `true` if the operand is subtracted.
    pub(super) neg: bool,
}

/// A data operand of a multiplexer: shifted to the left, then to the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arm {
    pub(super) value: u32,
    pub(super) shl: u32,
    pub(super) shr: u32,
}

/// Normal form of an operation: its result before wrapping.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    /// A constant.
    Const(BigInt),
    /// An input element.
    Input { input: u32 },
    /// `(Σ terms + c) >> shr`, with the terms in a separate vector; with `relu`, a negative sum is replaced with zero.
    Linear { c: BigInt, shr: u32, relu: bool },
    /// `not` of a signed operand with an unsigned result: the complement, read as an unsigned number of `bits` bits.
    NotUnsigned { x: u32, bits: u32 },
    /// `(a * b) << shl >> shr`.
    Mul { a: u32, b: u32, shl: u32, shr: u32 },
    /// `((a << sa) op (b << sb)) >> shr`.
    Bits { op: BinaryBits, a: u32, sa: u32, b: u32, sb: u32, shr: u32 },
    /// `on_true` if the top bit of `cond` is set.
    Mux { cond: u32, on_true: Arm, on_false: Arm },
    /// `table[x - base]`.
    Lookup { x: u32, table: TableId, base: BigInt },
    /// 1 if `x` equals `than` (`eq`) or differs from it (`!eq`), otherwise 0.
    Compare { x: u32, than: BigInt, eq: bool },
}

/// Range and width of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fact {
    /// Smallest and largest raw integer value, if `known`.
    pub(super) lo: i64,
    pub(super) hi: i64,
    /// `true` if `lo` and `hi` are valid: they fit 62 bits.
    pub(super) known: bool,
    /// `true` if the value can be negative.
    pub(super) signed: bool,
    /// `true` if the result before wrapping can leave the type.
    pub(super) wraps: bool,
    /// Number of bits for every value, in two's complement if `signed`; at least 1.
    pub(super) bits: u32,
    /// Number of bits for every intermediate of the computation before the final right shift and the wrap; `u32::MAX`
    /// if unknown.
    pub(super) exact_bits: u32,
    /// `true` if those intermediates can be negative.
    pub(super) exact_signed: bool,
}

impl Fact {
    /// Returns the value of a constant; `None` if several are possible.
    pub(super) fn constant(&self) -> Option<i64> {
        (self.known && self.lo == self.hi).then_some(self.lo)
    }
}

/// Returns the number of bits for `lo..=hi`, in two's complement if `lo` is negative; at least 1.
fn bits_of(lo: i128, hi: i128) -> u32 {
    let bits = |v: i128| 128 - (if v < 0 { !v } else { v }).leading_zeros();
    let n = bits(lo).max(bits(hi));
    if lo < 0 { n + 1 } else { n.max(1) }
}

/// Returns the smallest and largest raw integer value of a type; `None` if they exceed 62 bits.
fn range_of(kif: Kif) -> Option<(i64, i64)> {
    let width = kif.width();
    match width {
        0 => Some((0, 0)),
        1..=62 if kif.signed => Some((-(1 << (width - 1)), (1 << (width - 1)) - 1)),
        1..=61 => Some((0, (1 << width) - 1)),
        _ => None,
    }
}

/// Facts about all operations of a program.
pub(super) struct Facts {
    /// Fact about each operation's result, by index of the operation.
    pub(super) by_op: Vec<Fact>,
}

impl Facts {
    /// Analyses a program; linear in its size.
    pub(super) fn new(model: &Model) -> Facts {
        let mut facts = Facts { by_op: Vec::with_capacity(model.nodes().len()) };
        let mut terms = Vec::new();
        for id in model.ids() {
            let form = facts.form(model, id, &mut terms);
            let fact = facts.fact(model, &form, &terms, model.kif(id));
            facts.by_op.push(fact);
        }
        facts
    }

    /// Returns the normal form of output element `j`; see [`Facts::form`].
    pub(super) fn output_form(&self, model: &Model, j: usize, terms: &mut Vec<Shifted>) -> Form {
        let out = &model.outputs()[j];
        let kif = model.output_kif(j);
        match out.source {
            Some(v) if !kif.is_zero() => {
                let from = i64::from(model.kif(v).frac) - i64::from(out.shift);
                self.linear(terms, [(v, from, out.neg)].into_iter(), None, i64::from(kif.frac), false)
            }
            _ => Form::Const(BigInt::ZERO),
        }
    }

    fn constant(&self, v: ValueId) -> Option<i64> {
        self.by_op[v.index()].constant()
    }

    /// Returns the normal form of an operation; `terms` receives the terms of a [`Form::Linear`]. Operands with only
    /// one possible value are folded into constants.
    pub(super) fn form(&self, model: &Model, id: ValueId, terms: &mut Vec<Shifted>) -> Form {
        let kif = model.kif(id);
        let out = i64::from(kif.frac);
        let frac = |v: ValueId| i64::from(model.kif(v).frac);
        if kif.is_zero() {
            // A lookup is kept: an index outside of its table is an error.
            if !matches!(model.node(id).op, Op::Lookup { .. }) {
                return Form::Const(BigInt::ZERO);
            }
        }
        match &model.node(id).op {
            Op::Input { input } => Form::Input { input: *input },
            Op::Const { value } => Form::Const(wrap(&value.to_big(), kif)),
            Op::Neg { x } => self.linear(terms, [(*x, frac(*x), true)].into_iter(), None, out, false),
            Op::Add { a, b, shift } => {
                let all = [(*a, frac(*a), false), (*b, frac(*b) - i64::from(*shift), false)];
                self.linear(terms, all.into_iter(), None, out, false)
            }
            Op::Sub { a, b, shift } => {
                let all = [(*a, frac(*a), false), (*b, frac(*b) - i64::from(*shift), true)];
                self.linear(terms, all.into_iter(), None, out, false)
            }
            Op::Relu { x } => {
                let relu = self.by_op[x.index()].signed;
                self.linear(terms, [(*x, frac(*x), false)].into_iter(), None, out, relu)
            }
            Op::Quantise { x, shift } => {
                self.linear(terms, [(*x, frac(*x) - i64::from(*shift), false)].into_iter(), None, out, false)
            }
            Op::AddConst { x, value, shift } => {
                let constant = (value.to_big(), i64::from(*shift));
                self.linear(terms, [(*x, frac(*x), false)].into_iter(), Some(constant), out, false)
            }
            Op::Sum { terms: all } => {
                let all = all.iter().map(|t| (t.value, frac(t.value) - i64::from(t.shift), t.neg));
                self.linear(terms, all, None, out, false)
            }
            Op::Mux { cond, on_true, on_false, shift } => {
                let arm = |v: ValueId, from: i64| Arm {
                    value: v.0,
                    shl: u32::try_from(out - from).unwrap_or(0),
                    shr: u32::try_from(from - out).unwrap_or(0),
                };
                let (t, f) = (arm(*on_true, frac(*on_true)), arm(*on_false, frac(*on_false) - i64::from(*shift)));
                match self.top_bit(model, *cond) {
                    None => Form::Mux { cond: cond.0, on_true: t, on_false: f },
                    Some(set) => {
                        let arm = if set { t } else { f };
                        let from = out - i64::from(arm.shl) + i64::from(arm.shr);
                        self.linear(terms, [(ValueId(arm.value), from, false)].into_iter(), None, out, false)
                    }
                }
            }
            Op::Mul { a, b } => match (self.constant(*a), self.constant(*b)) {
                (Some(0), _) | (_, Some(0)) => Form::Const(BigInt::ZERO),
                _ => {
                    let from = frac(*a) + frac(*b);
                    let (shl, shr) = (out - from, from - out);
                    let shift = |by: i64| u32::try_from(by).unwrap_or(0);
                    Form::Mul { a: a.0, b: b.0, shl: shift(shl), shr: shift(shr) }
                }
            },
            Op::Lookup { x, table, base } => Form::Lookup { x: x.0, table: *table, base: base.to_big() },
            Op::Unary { op: UnaryBits::Not, x } => {
                let from = model.kif(*x);
                if kif.signed || from.is_zero() || !from.signed {
                    // -x - 1, or 2^w - 1 - x, in units of the operand's step.
                    let ones = if kif.signed { BigInt::from(-1) } else { (BigInt::from(1) << from.width()) - 1 };
                    self.linear(terms, [(*x, frac(*x), true)].into_iter(), Some((ones, frac(*x))), out, false)
                } else {
                    Form::NotUnsigned { x: x.0, bits: from.width() }
                }
            }
            Op::Unary { op: UnaryBits::Any, x } => Form::Compare { x: x.0, than: BigInt::ZERO, eq: false },
            Op::Unary { op: UnaryBits::All, x } => {
                let from = model.kif(*x);
                let ones = if from.signed { BigInt::from(-1) } else { (BigInt::from(1) << from.width()) - 1 };
                Form::Compare { x: x.0, than: ones, eq: true }
            }
            Op::Binary { op, a, b, shift } => {
                let (fa, fb) = (frac(*a), frac(*b) - i64::from(*shift));
                // A final alignment to the left commutes with bit operations.
                let common = fa.max(fb);
                let up = common.max(out);
                Form::Bits {
                    op: *op,
                    a: a.0,
                    sa: (up - fa) as u32,
                    b: b.0,
                    sb: (up - fb) as u32,
                    shr: (up - out) as u32,
                }
            }
        }
    }

    /// Returns the top bit of a multiplexer's condition if it is constant, otherwise `None`.
    fn top_bit(&self, model: &Model, cond: ValueId) -> Option<bool> {
        let (kif, fact) = (model.kif(cond), self.by_op[cond.index()]);
        if kif.is_zero() {
            return Some(false);
        }
        if kif.signed && !fact.signed {
            return Some(false);
        }
        if !fact.known {
            return None;
        }
        // Known values are below 2^62, so the limit may be capped for wider types.
        let limit = if kif.signed { 0 } else { 1i64 << (kif.width() - 1).min(62) };
        if kif.signed {
            if fact.lo >= 0 { Some(false) } else { (fact.hi < 0).then_some(true) }
        } else if fact.hi < limit {
            Some(false)
        } else {
            (fact.lo >= limit).then_some(true)
        }
    }

    /// Returns the form of a sum of terms (value, fractional bits, `true` if subtracted) and an optional constant
    /// (value, fractional bits), aligned to `out` fractional bits.
    fn linear(
        &self,
        terms: &mut Vec<Shifted>,
        all: impl Iterator<Item = (ValueId, i64, bool)> + Clone,
        constant: Option<(BigInt, i64)>,
        out: i64,
        relu: bool,
    ) -> Form {
        terms.clear();
        // Zero operands are dropped: their step, however fine, has no effect on the floor of the sum.
        let live = |v: ValueId| self.constant(v) != Some(0);
        let mut common = out;
        for (_, from, _) in all.clone().filter(|&(v, ..)| live(v)) {
            common = common.max(from);
        }
        if let Some((value, from)) = &constant
            && value != &BigInt::ZERO
        {
            common = common.max(*from);
        }
        let mut c = BigInt::ZERO;
        let mut plain = 0i128;
        for (v, from, neg) in all.filter(|&(v, ..)| live(v)) {
            let shl = common - from;
            match self.constant(v) {
                None => terms.push(Shifted { value: v.0, shl: shl as u32, neg }),
                Some(k) => {
                    let k = if neg { -i128::from(k) } else { i128::from(k) };
                    if shl < 60 { plain += k << shl } else { c += BigInt::from(k) << shl as u64 }
                }
            }
        }
        if let Some((value, from)) = constant {
            c += value << (common - from).max(0) as u64;
        }
        if plain != 0 {
            c += plain;
        }
        Form::Linear { c, shr: (common - out) as u32, relu }
    }

    /// Returns the range and width of the result of a form that is wrapped to `kif`.
    pub(super) fn fact(&self, model: &Model, form: &Form, terms: &[Shifted], kif: Kif) -> Fact {
        let (pre, shr) = self.before_shift(model, form, terms);
        let exact = pre.map(|(lo, hi)| (lo >> shr.min(127), hi >> shr.min(127)));
        let exact = match form {
            Form::Linear { relu: true, .. } => exact.map(|(lo, hi)| (lo.max(0), hi.max(0))),
            _ => exact,
        };
        let all = range_of(kif);
        let fits = |(lo, hi): (i128, i128)| match all {
            Some((min, max)) => i128::from(min) <= lo && hi <= i128::from(max),
            None if kif.signed => {
                let end = 1i128 << (kif.width() - 1).min(126);
                -end <= lo && hi < end
            }
            None => lo >= 0 && hi < 1i128 << kif.width().min(126),
        };
        let wraps = !exact.is_some_and(fits) && !matches!(form, Form::Input { .. });
        let small = |v: i128| i64::try_from(v).ok().filter(|v| v.unsigned_abs() < 1 << 62);
        let range = match exact {
            Some((lo, hi)) if !wraps => small(lo).zip(small(hi)).or(all),
            _ => all,
        };
        let (exact_bits, exact_signed) = match pre {
            Some((lo, hi)) => (bits_of(lo, hi), lo < 0),
            None => (u32::MAX, true),
        };
        match range {
            Some((lo, hi)) => Fact {
                lo,
                hi,
                known: true,
                signed: lo < 0,
                wraps,
                bits: bits_of(lo.into(), hi.into()),
                exact_bits,
                exact_signed,
            },
            None => {
                // The range is too large for `lo` and `hi`, but a value that is never negative may use all bits of its
                // lane.
                let (signed, bits) = match exact {
                    Some((lo, hi)) if !wraps => (lo < 0, bits_of(lo, hi)),
                    _ => (kif.signed, kif.width().max(1)),
                };
                Fact { lo: 0, hi: 0, known: false, signed, wraps, bits, exact_bits, exact_signed }
            }
        }
    }

    /// Returns bounds of a value; `None` beyond 120 bits.
    fn range(&self, v: u32) -> Option<(i128, i128)> {
        let fact = &self.by_op[v as usize];
        if fact.known {
            return Some((fact.lo.into(), fact.hi.into()));
        }
        match fact.bits {
            n if n > 120 => None,
            n if fact.signed => Some((-(1 << (n - 1)), (1 << (n - 1)) - 1)),
            n => Some((0, (1 << n) - 1)),
        }
    }

    /// Returns bounds of `v << shl`; `None` beyond 126 bits.
    fn shifted(&self, v: u32, shl: u32) -> Option<(i128, i128)> {
        let (lo, hi) = self.range(v)?;
        let up = |x: i128| if shl < 126 { x.checked_mul(1 << shl) } else { (x == 0).then_some(0) };
        // One bit is reserved for a change of sign.
        let up = |x: i128| up(x).filter(|v| v.unsigned_abs() < 1 << 126);
        Some((up(lo)?, up(hi)?))
    }

    /// Returns bounds of a form before its right shift (`None` if too wide), and the shift.
    fn before_shift(&self, model: &Model, form: &Form, terms: &[Shifted]) -> (Option<(i128, i128)>, u32) {
        let arm = |arm: &Arm| Some((self.shifted(arm.value, arm.shl)?, arm.shr));
        match form {
            Form::Const(value) => (value.to_i128().filter(|v| v.unsigned_abs() < 1 << 126).map(|v| (v, v)), 0),
            Form::Input { .. } => (None, 0),
            Form::Linear { c, shr, relu: _ } => {
                let sum = || {
                    let c = c.to_i128()?;
                    let (mut lo, mut hi) = (c, c);
                    for t in terms {
                        let (l, h) = self.shifted(t.value, t.shl)?;
                        let (l, h) = if t.neg { (-h, -l) } else { (l, h) };
                        (lo, hi) = (lo.checked_add(l)?, hi.checked_add(h)?);
                    }
                    (lo > -(1 << 126) && hi < 1 << 126).then_some((lo, hi))
                };
                (sum(), *shr)
            }
            Form::NotUnsigned { x: _, bits } => ((*bits < 126).then(|| (0, (1i128 << bits) - 1)), 0),
            Form::Mul { a, b, shl, shr } => {
                let product = || {
                    let ((al, ah), (bl, bh)) = (self.range(*a)?, self.range(*b)?);
                    let ends = [al.checked_mul(bl)?, al.checked_mul(bh)?, ah.checked_mul(bl)?, ah.checked_mul(bh)?];
                    let (lo, hi) = (ends.into_iter().min()?, ends.into_iter().max()?);
                    if *shl > 120 {
                        return None;
                    }
                    Some((lo.checked_mul(1 << shl)?, hi.checked_mul(1 << shl)?))
                };
                (product(), *shr)
            }
            Form::Bits { op, a, sa, b, sb, shr } => {
                let both = || {
                    let ((al, ah), (bl, bh)) = (self.shifted(*a, *sa)?, self.shifted(*b, *sb)?);
                    let bits = bits_of(al, ah).max(bits_of(bl, bh)) + 1;
                    if bits > 120 {
                        return None;
                    }
                    let ones = |h: i128| (1i128 << (128 - h.leading_zeros())) - 1;
                    Some(match (op, al >= 0, bl >= 0) {
                        (BinaryBits::And, true, true) => (0, ah.min(bh)),
                        (BinaryBits::And, true, false) => (0, ah),
                        (BinaryBits::And, false, true) => (0, bh),
                        (_, true, true) => (0, ones(ah).max(ones(bh))),
                        _ => {
                            let n = bits_of(al.min(bl).min(-1), ah.max(bh));
                            (-(1 << (n - 1)), (1 << (n - 1)) - 1)
                        }
                    })
                };
                (both(), *shr)
            }
            Form::Mux { cond: _, on_true, on_false } => {
                let shift = |((lo, hi), shr): ((i128, i128), u32)| (lo >> shr.min(127), hi >> shr.min(127));
                let both = || {
                    let (t, f) = (shift(arm(on_true)?), shift(arm(on_false)?));
                    Some((t.0.min(f.0), t.1.max(f.1)))
                };
                (both(), 0)
            }
            Form::Lookup { x: _, table, base: _ } => {
                let entries = &model.table(*table).entries;
                // An index outside of the table reads zero.
                let lo = entries.iter().copied().min().unwrap_or(0).min(0);
                let hi = entries.iter().copied().max().unwrap_or(0).max(0);
                (Some((lo.into(), hi.into())), 0)
            }
            Form::Compare { x, than, eq } => {
                let known = self.range(*x).zip(than.to_i128()).and_then(|((lo, hi), than)| {
                    if than < lo || than > hi { Some(!*eq) } else { (lo == hi).then_some(*eq) }
                });
                (Some(known.map_or((0, 1), |k| (k.into(), k.into()))), 0)
            }
        }
    }
}
