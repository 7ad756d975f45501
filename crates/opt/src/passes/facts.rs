//! Facts about values that hold for every input: ranges and trailing zeros.
//!
//! This forward analysis starts from the *types of the ports*, not from the declared intervals: its facts hold for
//! every bit pattern of the inputs, so that a pass can use them even if inputs violate their intervals
//! ([`Trust::Intervals`] also uses the intervals). The analysis uses interval arithmetic as in R. E. Moore, *Interval
//! Analysis* (1966), on exact integers, and tracks the terms of sums ([`Form`]). A result that may exceed its type
//! wraps, and then only the type bounds it. Lookups outside their table read zero.
//!
//! Values of more than 100 bits are not analysed ([`Range`] uses 128-bit integers): they are rare, and their type still
//! bounds them.

use super::Trust;
use super::forms::{Form, Forms, Multiple, View};
use alir_core::ir::{BinaryBits, Model, Op, UnaryBits, ValueId};
use alir_core::num::{Code, Interval, Kif};
use num_traits::ToPrimitive;

/// Possible raw integer values of a value: all multiples of `2^zeros` in `lo ..= hi`, in units of the value's step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) lo: i128,
    pub(super) hi: i128,
    /// Number of low bits that are always clear.
    pub(super) zeros: u32,
}

impl Range {
    /// Returns the range that contains only `v`.
    pub(super) fn exactly(v: i128) -> Range {
        Range { lo: v, hi: v, zeros: v.trailing_zeros() }
    }

    pub(super) fn new(lo: i128, hi: i128, zeros: u32) -> Range {
        if lo == hi {
            return Range::exactly(lo);
        }
        // Most ranges have no trailing zeros.
        if zeros == 0 {
            return Range { lo, hi, zeros };
        }
        // The ends move inwards to multiples of the step.
        let zeros = zeros.min(126);
        let lo = ((lo - 1) >> zeros).checked_add(1).map_or(lo, |l| l << zeros);
        let hi = (hi >> zeros) << zeros;
        if lo == hi { Range::exactly(lo) } else { Range { lo, hi, zeros } }
    }

    /// Returns the range, or `None` if negating and adding a few such ranges could overflow.
    fn bounded(self) -> Option<Range> {
        const BOUND: i128 = 1 << 122;
        (self.lo > -BOUND && self.hi < BOUND).then_some(self)
    }

    /// Returns the range of a type; `None` for types above 100 bits.
    pub(super) fn from_kif(kif: Kif) -> Option<Range> {
        let width = kif.width();
        if width > 100 {
            return None;
        }
        if width == 0 {
            return Some(Range::exactly(0));
        }
        let bits = width - u32::from(kif.signed);
        if bits < 63 {
            let lo = if kif.signed { -(1i64 << bits) } else { 0 };
            return Some(Range { lo: lo.into(), hi: ((1i64 << bits) - 1).into(), zeros: 0 });
        }
        let lo = if kif.signed { -(1i128 << bits) } else { 0 };
        Some(Range { lo, hi: (1i128 << bits) - 1, zeros: 0 })
    }

    /// Returns `true` if every value in the range fits the type.
    pub(super) fn fits(self, kif: Kif) -> bool {
        Range::from_kif(kif).is_none_or(|all| all.lo <= self.lo && self.hi <= all.hi)
    }

    /// Returns the single value of the range, or `None` if there are several.
    pub(super) fn constant(self) -> Option<i128> {
        (self.lo == self.hi).then_some(self.lo)
    }

    /// Returns the range after aligning from `from` to `to` fractional bits; `None` on overflow.
    pub(super) fn align(self, from: i64, to: i64) -> Option<Range> {
        if self.constant() == Some(0) {
            return Some(self);
        }
        if to == from {
            return self.bounded();
        }
        if let Some((lo, hi)) = self.small() {
            if let by @ 0..64 = to - from {
                let shift = |v: i64| i128::from(v) << by;
                return Range { lo: shift(lo), hi: shift(hi), zeros: self.zeros.saturating_add(by as u32) }.bounded();
            }
            if let by @ 0..64 = from - to {
                return Some(Range::new((lo >> by).into(), (hi >> by).into(), self.zeros.saturating_sub(by as u32)));
            }
        }
        if to >= from {
            let by = u32::try_from(to - from).ok().filter(|&by| by < 126)?;
            let shift = |v: i128| v.checked_mul(1i128.checked_shl(by)?);
            Range { lo: shift(self.lo)?, hi: shift(self.hi)?, zeros: self.zeros.saturating_add(by) }.bounded()
        } else {
            let by = u32::try_from(from - to).unwrap_or(u32::MAX).min(127);
            Some(Range::new(self.lo >> by, self.hi >> by, self.zeros.saturating_sub(by)))
        }
    }

    /// Returns the ends as 64-bit integers, whose arithmetic takes half the time; `None` if they do not fit.
    fn small(self) -> Option<(i64, i64)> {
        Some((i64::try_from(self.lo).ok()?, i64::try_from(self.hi).ok()?))
    }

    fn neg(self) -> Range {
        Range { lo: -self.hi, hi: -self.lo, zeros: self.zeros }
    }

    fn add(self, other: Range) -> Option<Range> {
        Range::new(self.lo.checked_add(other.lo)?, self.hi.checked_add(other.hi)?, self.zeros.min(other.zeros))
            .bounded()
    }

    fn mul(self, other: Range) -> Option<Range> {
        let product = |a: i64, b: i64| i128::from(a) * i128::from(b);
        if let (Some((a, b)), Some((c, d))) = (self.small(), other.small()) {
            let ends = [product(a, c), product(a, d), product(b, c), product(b, d)];
            let (lo, hi) = (ends.into_iter().min()?, ends.into_iter().max()?);
            return Range::new(lo, hi, self.zeros.saturating_add(other.zeros)).bounded();
        }
        let ends = [
            self.lo.checked_mul(other.lo)?,
            self.lo.checked_mul(other.hi)?,
            self.hi.checked_mul(other.lo)?,
            self.hi.checked_mul(other.hi)?,
        ];
        let (lo, hi) = (ends.into_iter().min()?, ends.into_iter().max()?);
        Range::new(lo, hi, self.zeros.saturating_add(other.zeros)).bounded()
    }

    /// Returns the part inside an interval; the whole range if that part is empty (then the interval is unreliable).
    fn within(self, interval: &Interval) -> Range {
        let (Some(min), Some(max)) = (interval.min.to_i128(), interval.max.to_i128()) else { return self };
        let (lo, hi) = (self.lo.max(min), self.hi.min(max));
        if lo > hi {
            return self;
        }
        let inner = Range::new(lo, hi, self.zeros);
        if inner.lo > inner.hi { self } else { inner }
    }

    /// Returns the intersection of two ranges that both contain the value.
    fn meet(self, other: Range) -> Range {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        let zeros = self.zeros.max(other.zeros);
        if lo > hi { self } else { Range::new(lo, hi, zeros) }
    }

    /// Returns the smallest range around both ranges.
    fn join(self, other: Range) -> Range {
        if self == other {
            return self;
        }
        Range::new(self.lo.min(other.lo), self.hi.max(other.hi), self.zeros.min(other.zeros))
    }
}

/// A range in compact form: most ranges have ends of 64 bits, which take a third of the memory.
#[derive(Clone, Copy)]
enum Kept {
    Unknown,
    Small {
        lo: i64,
        hi: i64,
        zeros: u32,
    },
    /// Index into the wide ranges.
    Wide(u32),
}

/// Ranges of all values of a program.
pub(super) struct Facts {
    ranges: Vec<Kept>,
    wide: Vec<Range>,
    /// `true` for each value whose result before wrapping is known to fit the type.
    fits: Vec<bool>,
    /// Linear combinations of atoms, for the values that are sums. A form is dropped after the last reader of its
    /// value.
    forms: Forms,
    trust: Trust,
}

impl Facts {
    /// Analyses a program, in linear time.
    pub(super) fn new(model: &Model, trust: Trust) -> Facts {
        Facts::analysed(model, trust, true)
    }

    /// Analyses a program without cancellation between sums, in half the time. The result suffices after the pass
    /// `ranges` has narrowed the types according to the whole analysis.
    pub(super) fn local(model: &Model, trust: Trust) -> Facts {
        Facts::analysed(model, trust, false)
    }

    fn analysed(model: &Model, trust: Trust, forms: bool) -> Facts {
        let n = model.nodes().len();
        let mut facts = Facts {
            ranges: Vec::with_capacity(n),
            wide: Vec::new(),
            fits: Vec::with_capacity(n),
            forms: Forms::default(),
            trust,
        };
        let mut readers = Vec::new();
        if forms {
            facts.forms = Forms::none(n);
            readers = vec![0u32; n];
            for node in model.nodes() {
                node.op.for_each_operand(|v| readers[v.index()] += 1);
            }
        }
        for id in model.ids() {
            let form = if forms { facts.sum(model, id) } else { None };
            let (range, exact) = facts.result(model, id, form.as_ref());
            let fits = exact.is_some_and(|e| e.fits(model.kif(id)));
            let range = facts.kept(range);
            facts.ranges.push(range);
            facts.fits.push(fits);
            if !forms {
                continue;
            }
            match form {
                Some(form) if fits && is_whole(model, id, &form) => facts.forms.set(id, form),
                Some(form) => facts.forms.spare(form),
                None => {}
            }
            // A form is dropped after its last reader, so that memory does not grow with the program.
            model.node(id).op.for_each_operand(|v| {
                readers[v.index()] -= 1;
                if readers[v.index()] == 0 {
                    facts.forms.drop(v);
                }
            });
        }
        facts.forms = Forms::default();
        facts
    }

    fn kept(&mut self, range: Option<Range>) -> Kept {
        let Some(range) = range else { return Kept::Unknown };
        match range.small() {
            Some((lo, hi)) => Kept::Small { lo, hi, zeros: range.zeros },
            None => {
                self.wide.push(range);
                Kept::Wide(self.wide.len() as u32 - 1)
            }
        }
    }

    /// Returns an operation's result before wrapping as a sum of atoms; `None` if it is not such a sum.
    fn sum(&mut self, model: &Model, id: ValueId) -> Option<Form> {
        let op = &model.node(id).op;
        if matches!(op, Op::Input { .. } | Op::Relu { .. } | Op::Mux { .. } | Op::Mul { .. } | Op::Lookup { .. }) {
            return None;
        }
        let room = self.forms.room();
        let facts = &*self;
        facts.sum_in(model, id, room)
    }

    fn sum_in(&self, model: &Model, id: ValueId, room: Vec<Multiple>) -> Option<Form> {
        let frac = |v: ValueId| i64::from(model.kif(v).frac);
        let nothing = |v| View::constant(0, frac(v));
        let add = |x: View<'_>, v: ValueId, shift, neg, room| {
            x.plus(self.view(v, frac(v), &[(v, 1)])?, shift, neg, room, |v| self.range(v))
        };
        match &model.node(id).op {
            Op::Const { value } => Some(View::constant(value.to_i128()?, frac(id))?.kept(room)),
            Op::Neg { x } => add(nothing(*x)?, *x, 0, true, room),
            Op::Quantise { x, shift } => Some(self.view(*x, frac(*x), &[(*x, 1)])?.shifted(*shift).kept(room)),
            Op::Add { a, b, shift } => add(self.view(*a, frac(*a), &[(*a, 1)])?, *b, *shift, false, room),
            Op::Sub { a, b, shift } => add(self.view(*a, frac(*a), &[(*a, 1)])?, *b, *shift, true, room),
            Op::AddConst { x, value, shift } => {
                add(View::constant(value.to_i128()?, i64::from(*shift))?, *x, 0, false, room)
            }
            Op::Sum { terms } => {
                let (first, rest) = terms.split_first()?;
                let mut sum = add(nothing(first.value)?, first.value, first.shift, first.neg, room)?;
                for t in rest {
                    sum = add(sum.view(), t.value, t.shift, t.neg, Vec::new())?;
                }
                Some(sum)
            }
            _ => None,
        }
    }

    /// Returns a value as a sum, or as the multiple `own` of an atom.
    fn view<'a>(&'a self, v: ValueId, frac: i64, own: &'a [Multiple; 1]) -> Option<View<'a>> {
        match self.forms.get(v) {
            Some(form) => Some(form.view()),
            None => Some(View::atom(own, frac, self.range(v)?)),
        }
    }

    /// Returns the range of an operation's result, and its range before wrapping, from the ranges of its operands and
    /// its form as a sum.
    fn result(&self, model: &Model, id: ValueId, form: Option<&Form>) -> (Option<Range>, Option<Range>) {
        let kif = model.kif(id);
        let mut exact = self.before_wrap(model, id);
        if let (Some(known), Some(form)) = (exact, form)
            && let Some(sum) = form.range().align(form.frac(), i64::from(kif.frac))
        {
            exact = Some(known.meet(sum));
        }
        let all = Range::from_kif(kif);
        let range = match (exact, all) {
            (Some(exact), Some(_)) if exact.fits(kif) => Some(exact),
            (Some(exact), Some(_)) if exact.constant().is_some() => {
                alir_core::num::wrap(&exact.lo.into(), kif).to_i128().map(Range::exactly)
            }
            // Trailing zeros remain after a wrap.
            (Some(exact), Some(all)) => Some(Range::new(all.lo, all.hi, exact.zeros.min(kif.width()))),
            (_, all) => all,
        };
        let range = match self.trust {
            Trust::Types => range,
            Trust::Intervals => range.map(|r| r.within(&model.node(id).interval)),
        };
        (range, exact)
    }

    /// Returns the value of the last operation of `cone` for each value in the range of `source`. `cone` contains the
    /// operations from `source` to this operation, in order; the result depends on no other values. Returns `None` if a
    /// value is not known exactly.
    pub(super) fn function(&mut self, model: &Model, source: ValueId, cone: &[ValueId]) -> Option<Vec<i128>> {
        let range = self.range(source)?;
        let last = *cone.last()?;
        let kept: Vec<_> = cone.iter().map(|v| self.ranges[v.index()]).collect();
        let (before, wide) = (self.ranges[source.index()], self.wide.len());
        let code = |code| {
            self.wide.truncate(wide);
            self.ranges[source.index()] = self.kept(Some(Range::exactly(code)));
            for &v in cone {
                let range = self.result(model, v, None).0;
                self.ranges[v.index()] = self.kept(range);
            }
            self.range(last)?.constant()
        };
        let codes = (range.lo..=range.hi).map(code).collect();
        self.wide.truncate(wide);
        self.ranges[source.index()] = before;
        for (v, range) in cone.iter().zip(kept) {
            self.ranges[v.index()] = range;
        }
        codes
    }

    /// Returns the range of a value; `None` if only its type is known, which exceeds 100 bits.
    pub(super) fn range(&self, id: ValueId) -> Option<Range> {
        match self.ranges[id.index()] {
            Kept::Unknown => None,
            Kept::Small { lo, hi, zeros } => Some(Range { lo: lo.into(), hi: hi.into(), zeros }),
            Kept::Wide(at) => Some(self.wide[at as usize]),
        }
    }

    /// Returns `true` if wrapping never changes the value.
    pub(super) fn never_wraps(&self, model: &Model, id: ValueId) -> bool {
        debug_assert!(id.index() < model.nodes().len());
        self.fits[id.index()]
    }

    /// Returns the tightest interval for a value, with the step of its declared interval.
    pub(super) fn interval(&self, model: &Model, id: ValueId) -> Interval {
        let declared = &model.node(id).interval;
        match self.range(id) {
            Some(r) => Interval::new(Code::from_i128(r.lo), Code::from_i128(r.hi), declared.frac),
            None => declared.clone(),
        }
    }

    fn aligned(&self, model: &Model, id: ValueId, shift: i32, to: i64) -> Option<Range> {
        self.range(id)?.align(i64::from(model.kif(id).frac) - i64::from(shift), to)
    }

    fn before_wrap(&self, model: &Model, id: ValueId) -> Option<Range> {
        let kif = model.kif(id);
        let out = i64::from(kif.frac);
        let frac = |v: &ValueId| i64::from(model.kif(*v).frac);
        match &model.node(id).op {
            Op::Input { input } => {
                let port = model.input_kifs()[*input as usize];
                Range::from_kif(port)?.align(i64::from(port.frac), out)
            }
            Op::Const { value } => value.to_i128().filter(|v| v.unsigned_abs() < 1 << 120).map(Range::exactly),
            Op::Neg { x } => Some(self.range(*x)?.neg().align(frac(x), out)?),
            Op::Add { a, b, shift } => {
                let common = frac(a).max(frac(b) - i64::from(*shift));
                self.aligned(model, *a, 0, common)?.add(self.aligned(model, *b, *shift, common)?)?.align(common, out)
            }
            Op::Sub { a, b, shift } => {
                let common = frac(a).max(frac(b) - i64::from(*shift));
                let b = self.aligned(model, *b, *shift, common)?.neg();
                self.aligned(model, *a, 0, common)?.add(b)?.align(common, out)
            }
            Op::Relu { x } => {
                let r = self.range(*x)?;
                let zeros = if r.hi <= 0 { 127 } else { r.zeros };
                Range::new(r.lo.max(0), r.hi.max(0), zeros).align(frac(x), out)
            }
            Op::Quantise { x, shift } => self.aligned(model, *x, *shift, out),
            Op::AddConst { x, value, shift } => {
                let value = Range::exactly(value.to_i128().filter(|v| v.unsigned_abs() < 1 << 120)?);
                let common = frac(x).max(i64::from(*shift));
                let value = value.align(i64::from(*shift), common)?;
                self.aligned(model, *x, 0, common)?.add(value)?.align(common, out)
            }
            Op::Mux { cond, on_true, on_false, shift } => {
                let chosen = |v: &ValueId, shift: i32, top: bool| {
                    self.under_sign(model, *cond, *v, top)?.align(frac(v) - i64::from(shift), out)
                };
                let (t, f) = (chosen(on_true, 0, true), chosen(on_false, *shift, false));
                match self.top_bit(model, *cond) {
                    Some(true) => t,
                    Some(false) => f,
                    None => Some(t?.join(f?)),
                }
            }
            Op::Mul { a, b } => {
                let product = if a == b {
                    let r = self.range(*a)?;
                    let all = r.mul(r)?;
                    // A square is never negative.
                    Range::new(if r.lo <= 0 && r.hi >= 0 { 0 } else { all.lo }, all.hi, all.zeros)
                } else {
                    self.range(*a)?.mul(self.range(*b)?)?
                };
                product.align(frac(a) + frac(b), out)
            }
            Op::Lookup { x, table, base } => self.lookup(model, *x, *table, base),
            Op::Unary { op: UnaryBits::Not, x } => {
                let r = self.range(*x)?;
                if kif.signed {
                    return Range::new(-r.hi - 1, -r.lo - 1, 0).align(frac(x), out);
                }
                let from = model.kif(*x);
                if from.signed || from.width() > 100 {
                    return None;
                }
                let ones = (1i128 << from.width()) - 1;
                Range::new(ones - r.hi, ones - r.lo, 0).align(frac(x), out)
            }
            Op::Unary { op: UnaryBits::Any, x } => {
                let r = self.range(*x)?;
                Some(match (r.constant(), r.lo > 0 || r.hi < 0) {
                    (Some(0), _) => Range::exactly(0),
                    (_, true) => Range::exactly(1),
                    _ => Range::new(0, 1, 0),
                })
            }
            Op::Unary { op: UnaryBits::All, x } => {
                let (r, from) = (self.range(*x)?, model.kif(*x));
                if from.is_zero() {
                    return Some(Range::exactly(1));
                }
                let ones = if from.signed { -1 } else { (1i128 << from.width()) - 1 };
                Some(match r.constant() {
                    Some(c) => Range::exactly(i128::from(c == ones)),
                    None if r.lo > ones || r.hi < ones || r.zeros > 0 => Range::exactly(0),
                    None => Range::new(0, 1, 0),
                })
            }
            Op::Binary { op, a, b, shift } => {
                let common = frac(a).max(frac(b) - i64::from(*shift));
                let (a, b) = (self.aligned(model, *a, 0, common)?, self.aligned(model, *b, *shift, common)?);
                bitwise(*op, a, b)?.align(common, out)
            }
            Op::Sum { terms } => {
                let common = terms.iter().map(|t| frac(&t.value) - i64::from(t.shift)).max()?;
                let mut sum = Range::exactly(0);
                for t in &terms[..] {
                    let term = self.aligned(model, t.value, t.shift, common)?;
                    sum = sum.add(if t.neg { term.neg() } else { term })?;
                }
                sum.align(common, out)
            }
        }
    }

    /// Returns the range of a value in the cases in which the condition bit is `top`. If the value is the signed
    /// condition itself, its sign is known; if the value is the negative of the condition (see [`is_negative`]), the
    /// sign of the condition is known.
    pub(super) fn under_sign(&self, model: &Model, cond: ValueId, value: ValueId, top: bool) -> Option<Range> {
        let (kif, own) = (model.kif(cond), model.kif(value));
        let is_same = value == cond;
        if !kif.signed || kif.frac != own.frac || !(is_same || is_negative(model, value, cond)) {
            return self.range(value);
        }
        // If the condition bit never has this value, the operand is never selected.
        let Some(r) = self.range(cond).filter(|r| if top { r.lo < 0 } else { r.hi >= 0 }) else {
            return self.range(value);
        };
        let with_sign =
            if top { Range::new(r.lo, r.hi.min(-1), r.zeros) } else { Range::new(r.lo.max(0), r.hi, r.zeros) };
        let found = if is_same { with_sign } else { with_sign.neg() };
        if found.fits(own) { Some(found) } else { self.range(value) }
    }

    /// Returns the condition bit of a mux if it is constant, otherwise `None`.
    pub(super) fn top_bit(&self, model: &Model, cond: ValueId) -> Option<bool> {
        let (kif, r) = (model.kif(cond), self.range(cond)?);
        if kif.is_zero() {
            return Some(false);
        }
        let (clear, set) = if kif.signed { (r.lo >= 0, r.hi < 0) } else { (r.hi < half(kif), r.lo >= half(kif)) };
        if clear {
            Some(false)
        } else if set {
            Some(true)
        } else {
            None
        }
    }

    fn lookup(
        &self,
        model: &Model,
        x: ValueId,
        table: alir_core::ir::TableId,
        base: &alir_core::num::Code,
    ) -> Option<Range> {
        let (r, base) = (self.range(x)?, base.to_i128()?);
        let entries = &model.table(table).entries;
        let (first, last) = (r.lo - base, r.hi - base);
        let reached = &entries[first.clamp(0, entries.len() as i128) as usize..]
            [..(last + 1).clamp(0, entries.len() as i128) as usize - first.clamp(0, entries.len() as i128) as usize];
        let step = 1usize.checked_shl(r.zeros).unwrap_or(usize::MAX).max(1);
        // Operand values are multiples of the step, counted from zero, not from the base.
        let offset = if step == 1 { 0 } else { (-(base + first.max(0))).rem_euclid(step as i128) as usize };
        let mut all: Option<Range> = None;
        let outside = first < 0 || last >= entries.len() as i128;
        let values = reached.iter().skip(offset).step_by(step).map(|&e| i128::from(e)).chain(outside.then_some(0));
        for v in values {
            let one = Range::exactly(v);
            all = Some(all.map_or(one, |r| Range { lo: r.lo.min(v), hi: r.hi.max(v), zeros: r.zeros.min(one.zeros) }));
        }
        all
    }
}

/// Returns `true` if `negative` is computed as the negative of `x`, apart from wrapping.
pub(super) fn is_negative(model: &Model, negative: ValueId, x: ValueId) -> bool {
    match (&model.node(negative).op, &model.node(x).op) {
        (Op::Neg { x: negated }, _) if *negated == x => true,
        (Op::Sub { a, b, shift: 0 }, Op::Sub { a: other_a, b: other_b, shift: 0 }) => a == other_b && b == other_a,
        _ => false,
    }
}

/// Facts of the current program, computed at the first request of a pass, and kept until a pass changes the program.
pub(super) struct Known {
    trust: Trust,
    whole: Option<Facts>,
    local: Option<Facts>,
}

impl Known {
    /// Returns an empty set of facts.
    pub(super) fn nothing(trust: Trust) -> Known {
        Known { trust, whole: None, local: None }
    }

    /// Returns [`Facts::new`] of the program.
    pub(super) fn whole(&mut self, model: &Model) -> &mut Facts {
        self.whole.get_or_insert_with(|| Facts::new(model, self.trust))
    }

    /// Returns [`Facts::local`] of the program.
    pub(super) fn local(&mut self, model: &Model) -> &Facts {
        self.local.get_or_insert_with(|| Facts::local(model, self.trust))
    }
}

/// Returns `true` if the result of an operation that does not wrap is exact: it drops no low bits.
fn is_whole(model: &Model, id: ValueId, form: &Form) -> bool {
    form.frac() - i64::from(form.range().zeros) <= i64::from(model.kif(id).frac)
}

fn half(kif: Kif) -> i128 {
    1i128 << (kif.width() - 1)
}

fn bitwise(op: BinaryBits, a: Range, b: Range) -> Option<Range> {
    if let (Some(a), Some(b)) = (a.constant(), b.constant()) {
        return Some(Range::exactly(match op {
            BinaryBits::And => a & b,
            BinaryBits::Or => a | b,
            BinaryBits::Xor => a ^ b,
        }));
    }
    // Number of bits of the ends without the sign; every value is in `-2^n ..= 2^n - 1`.
    let bits = |v: i128| 128 - if v < 0 { !v } else { v }.leading_zeros();
    let n = bits(a.lo).max(bits(a.hi)).max(bits(b.lo)).max(bits(b.hi));
    if n > 120 {
        return None;
    }
    let (a_pos, b_pos) = (a.lo >= 0, b.lo >= 0);
    let zeros = match op {
        BinaryBits::And => a.zeros.max(b.zeros),
        BinaryBits::Or | BinaryBits::Xor => a.zeros.min(b.zeros),
    };
    let (full_lo, full_hi) = (-(1i128 << n), (1i128 << n) - 1);
    let (lo, hi) = match op {
        BinaryBits::And => match (a_pos, b_pos) {
            (true, true) => (0, a.hi.min(b.hi)),
            (true, false) => (0, a.hi),
            (false, true) => (0, b.hi),
            (false, false) => (full_lo, a.hi.max(b.hi).max(0)),
        },
        BinaryBits::Or if a_pos && b_pos => (a.lo.max(b.lo), full_hi),
        BinaryBits::Xor if a_pos && b_pos => (0, full_hi),
        BinaryBits::Or | BinaryBits::Xor => (full_lo, full_hi),
    };
    Some(Range::new(lo, hi.max(lo), zeros))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_move_to_multiples_of_the_step() {
        let r = Range::new(-5, 9, 2);
        assert_eq!((r.lo, r.hi), (-4, 8));
    }

    #[test]
    fn floor_is_downwards() {
        let r = Range::new(-3, 3, 0).align(1, 0).unwrap();
        assert_eq!((r.lo, r.hi), (-2, 1));
    }
}
