//! Elaboration of expressions, whose widths depend on their context (IEEE 1364-2001, section 4.4).

use super::super::ast::{Expr, ExprId, Op, Unary};
use super::{BitPosition, Bounds, Elab, Kind, Object, Process, Result, Slot, small};
use crate::{Binary, Compare, MAX_WIDTH, NodeId, Reduce, Shift};
use num_bigint::BigUint;

/// Largest width of a constant for which a select at a computed position becomes a table.
const MAX_TABLE: u32 = 1 << 10;

impl<'a> Elab<'a> {
    /// Returns width and sign of a self-determined expression: `true` for a signed one.
    pub(super) fn ty(&self, p: &Process, e: ExprId) -> Result<(u32, bool)> {
        let too_wide = |w: u64| {
            if w > u64::from(MAX_WIDTH) { self.fail(e, "more than 2^24 bits") } else { Ok(w as u32) }
        };
        Ok(match self.expr(e) {
            Expr::Number { width, signed, .. } => (*width, *signed),
            Expr::Name(_) | Expr::Path(..) => match self.object(p, e)? {
                Some(Object::Signal { bounds, signed, .. } | Object::Variable { bounds, signed, .. }) => {
                    (bounds.width(), signed)
                }
                Some(Object::Param { value, signed, .. }) => (self.rtl.width(value), signed),
                Some(Object::Memory { .. }) => return self.fail(e, "a memory is read and written word by word"),
                Some(Object::Function(_) | Object::Task(_) | Object::Genvar) | None => {
                    return self.fail(e, format!("{} is not declared as a value", self.shown(e)));
                }
            },
            Expr::Index(..) => match self.word_of(p, e)? {
                Some((_, bounds, signed, _)) => (bounds.width(), signed),
                None => (1, false),
            },
            Expr::Range(_, msb, lsb) => {
                let (msb, lsb) = (self.peek_int(p, *msb)?, self.peek_int(p, *lsb)?);
                (too_wide((msb - lsb).unsigned_abs() + 1)?, false)
            }
            Expr::Part(_, _, width, _) => {
                let width = self.peek_int(p, *width)?;
                if width < 1 {
                    return self.fail(e, "a part without bits");
                }
                (too_wide(width as u64)?, false)
            }
            Expr::Concat(parts) => {
                let mut total = 0u64;
                let mut empty = None;
                for &part in parts {
                    match self.is_empty_repetition(p, part)? {
                        true => empty = Some(part),
                        false => total += u64::from(self.ty(p, part)?.0),
                    }
                }
                if let (0, Some(part)) = (total, empty) {
                    return self.fail(part, "a repetition of zero or fewer times");
                }
                (too_wide(total)?, false)
            }
            Expr::Repeat(count, x) => {
                let count = self.peek_int(p, *count)?;
                if count < 1 {
                    return self.fail(e, "a repetition of zero or fewer times");
                }
                (too_wide((count as u64).saturating_mul(u64::from(self.ty(p, *x)?.0)))?, false)
            }
            Expr::Cast(width, x) => {
                let width = self.peek_int(p, *width)?;
                if width < 1 {
                    return self.fail(e, "a cast to zero bits");
                }
                (too_wide(width as u64)?, self.ty(p, *x)?.1)
            }
            Expr::Unary(Unary::Plus | Unary::Minus | Unary::Not, x) => self.ty(p, *x)?,
            Expr::Unary(..) => (1, false),
            Expr::Binary(op, a, b) => match op {
                Op::Mul | Op::Div | Op::Mod | Op::Add | Op::Sub | Op::And | Op::Xor | Op::Xnor | Op::Or => {
                    let ((wa, sa), (wb, sb)) = (self.ty(p, *a)?, self.ty(p, *b)?);
                    (wa.max(wb), sa && sb)
                }
                Op::Shl | Op::Shr | Op::Sshl | Op::Sshr => self.ty(p, *a)?,
                Op::Power => self.ty(p, *a)?,
                _ => (1, false),
            },
            Expr::Cond(_, a, b) => {
                let ((wa, sa), (wb, sb)) = (self.ty(p, *a)?, self.ty(p, *b)?);
                (wa.max(wb), sa && sb)
            }
            Expr::Call(sym, _) => match self.function(p.scope, *sym) {
                Some(f) if f.integer => (32, true),
                Some(f) => {
                    let width = match f.range {
                        None => 1,
                        Some((msb, lsb)) => {
                            too_wide((self.peek_int(p, msb)? - self.peek_int(p, lsb)?).unsigned_abs() + 1)?
                        }
                    };
                    (width, f.signed)
                }
                _ => return self.fail(e, format!("no function is called {}", self.name(*sym))),
            },
            Expr::System(sym, args) => match (self.name(*sym), &args[..]) {
                ("$signed", [x]) => (self.ty(p, *x)?.0, true),
                ("$unsigned", [x]) => (self.ty(p, *x)?.0, false),
                ("$clog2", [_]) => (32, true),
                (name, _) => return self.fail(e, format!("{name} is not supported")),
            },
        })
    }

    /// Returns the value of a constant expression that reads only literals, parameters and loop variables.
    pub(super) fn peek_int(&self, p: &Process, e: ExprId) -> Result<i64> {
        let bad = |s: &Self| s.fail(e, "a constant is needed here");
        let fold = |v: Option<i64>| match v {
            Some(v) if v.unsigned_abs() < 1 << 40 => Ok(v),
            _ => bad(self),
        };
        match self.expr(e) {
            Expr::Number { value, unknown, width, signed, .. } if *unknown == BigUint::ZERO => {
                fold(small(value, *width, *signed))
            }
            Expr::Name(_) | Expr::Path(..) => match self.object(p, e)? {
                Some(Object::Param { value, signed, .. }) => {
                    fold(self.rtl.as_const(value).and_then(|v| small(v, self.rtl.width(value), signed)))
                }
                Some(Object::Variable { id, signed, .. }) => {
                    let node = p.state.values.get(&Slot::Variable(id));
                    fold(node.and_then(|n| self.rtl.as_const(*n).and_then(|v| small(v, self.rtl.width(*n), signed))))
                }
                _ => bad(self),
            },
            Expr::Unary(Unary::Minus, x) => fold(self.peek_int(p, *x)?.checked_neg()),
            Expr::Unary(Unary::Plus, x) => self.peek_int(p, *x),
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.peek_int(p, *a)?, self.peek_int(p, *b)?);
                fold(match op {
                    Op::Add => a.checked_add(b),
                    Op::Sub => a.checked_sub(b),
                    Op::Mul => a.checked_mul(b),
                    Op::Div => a.checked_div(b),
                    Op::Mod => a.checked_rem(b),
                    Op::Shl | Op::Sshl if (0..40).contains(&b) => Some(a << b),
                    Op::Shr | Op::Sshr if (0..63).contains(&b) && a >= 0 => Some(a >> b),
                    Op::Power if (0..40).contains(&b) => a.checked_pow(b as u32),
                    Op::Less => Some(i64::from(a < b)),
                    Op::Greater => Some(i64::from(a > b)),
                    Op::LessEqual => Some(i64::from(a <= b)),
                    Op::GreaterEqual => Some(i64::from(a >= b)),
                    Op::Equal => Some(i64::from(a == b)),
                    Op::NotEqual => Some(i64::from(a != b)),
                    _ => None,
                })
            }
            Expr::Cond(c, a, b) => self.peek_int(p, if self.peek_int(p, *c)? != 0 { *a } else { *b }),
            Expr::System(sym, args) if self.name(*sym) == "$clog2" && args.len() == 1 => {
                let v = self.peek_int(p, args[0])?;
                fold(Some(if v <= 1 { 0 } else { i64::from(64 - (v - 1).leading_zeros()) }))
            }
            _ => bad(self),
        }
    }

    /// Evaluates an expression as the right side of an assignment to `width` bits.
    pub(super) fn assigned(&mut self, p: &mut Process, e: ExprId, width: u32) -> Result<NodeId> {
        let (own, signed) = self.ty(p, e)?;
        let node = self.eval(p, e, own.max(width), signed)?;
        Ok(self.rtl.resize(node, width, signed))
    }

    /// Evaluates a self-determined expression.
    pub(super) fn self_determined(&mut self, p: &mut Process, e: ExprId) -> Result<NodeId> {
        let (width, signed) = self.ty(p, e)?;
        self.eval(p, e, width, signed)
    }

    /// Returns one bit that is set if an expression is not zero.
    pub(super) fn truth(&mut self, p: &mut Process, e: ExprId) -> Result<NodeId> {
        let node = self.self_determined(p, e)?;
        Ok(self.rtl.reduce(Reduce::Any, node))
    }

    /// Evaluates an expression in a context of `width` bits; operands are sign-extended if `signed`.
    pub(super) fn eval(&mut self, p: &mut Process, e: ExprId, width: u32, signed: bool) -> Result<NodeId> {
        let bit = |s: &mut Self, node: NodeId| Ok(s.rtl.resize(node, width, false));
        self.budget(e)?;
        match self.expr(e) {
            Expr::Unary(op, x) => match op {
                Unary::Plus => self.eval(p, *x, width, signed),
                Unary::Minus => {
                    let x = self.eval(p, *x, width, signed)?;
                    let zero = self.rtl.number(0, width);
                    Ok(self.rtl.binary(Binary::Sub, zero, x))
                }
                Unary::Not => {
                    let x = self.eval(p, *x, width, signed)?;
                    Ok(self.rtl.not(x))
                }
                _ => {
                    let x = self.self_determined(p, *x)?;
                    let (reduce, negate) = match op {
                        Unary::And => (Reduce::All, false),
                        Unary::Nand => (Reduce::All, true),
                        Unary::Or => (Reduce::Any, false),
                        Unary::Xor => (Reduce::Parity, false),
                        Unary::Xnor => (Reduce::Parity, true),
                        _ => (Reduce::Any, true),
                    };
                    let node = self.rtl.reduce(reduce, x);
                    let node = if negate { self.rtl.not(node) } else { node };
                    bit(self, node)
                }
            },
            Expr::Binary(op, a, b) => self.binary(p, *op, (*a, *b), width, signed, e),
            Expr::Cond(c, a, b) => {
                let c = self.truth(p, *c)?;
                if let Some(v) = self.rtl.as_const(c) {
                    // Only the chosen branch is evaluated: the other may contain an endless recursion.
                    let chosen = if *v == BigUint::ZERO { *b } else { *a };
                    return self.eval(p, chosen, width, signed);
                }
                let (a, b) = (self.eval(p, *a, width, signed)?, self.eval(p, *b, width, signed)?);
                Ok(self.rtl.mux(c, a, b))
            }
            _ => {
                let node = self.leaf(p, e)?;
                if let Expr::Number { unknown, width: own, sized: false, .. } = self.expr(e)
                    && width > *own
                    && unknown.bit(u64::from(*own) - 1)
                {
                    // An unsized number whose top bit is unknown is extended with unknown bits.
                    let more = self.rtl.free(width - own);
                    return Ok(self.rtl.concat(&[node, more]));
                }
                Ok(self.rtl.resize(node, width, signed))
            }
        }
    }

    /// Evaluates a binary operation in a context of `width` bits.
    pub(super) fn binary(
        &mut self,
        p: &mut Process,
        op: Op,
        (a, b): (ExprId, ExprId),
        width: u32,
        signed: bool,
        e: ExprId,
    ) -> Result<NodeId> {
        let simple = match op {
            Op::Add => Some(Binary::Add),
            Op::Sub => Some(Binary::Sub),
            Op::Mul => Some(Binary::Mul),
            Op::And => Some(Binary::And),
            Op::Or => Some(Binary::Or),
            Op::Xor | Op::Xnor => Some(Binary::Xor),
            _ => None,
        };
        if let Some(simple) = simple {
            let (x, y) = (self.eval(p, a, width, signed)?, self.eval(p, b, width, signed)?);
            let node = self.rtl.binary(simple, x, y);
            return Ok(if op == Op::Xnor { self.rtl.not(node) } else { node });
        }
        match op {
            Op::Div | Op::Mod => {
                let (x, y) = (self.eval(p, a, width, signed)?, self.eval(p, b, width, signed)?);
                Ok(self.divide(x, y, op == Op::Div, signed))
            }
            Op::Shl | Op::Sshl | Op::Shr | Op::Sshr => {
                let x = self.eval(p, a, width, signed)?;
                let by = self.self_determined(p, b)?;
                let kind = match op {
                    Op::Shr => Shift::Right,
                    Op::Sshr if signed => Shift::SignedRight,
                    Op::Sshr => Shift::Right,
                    _ => Shift::Left,
                };
                Ok(self.rtl.shift(kind, x, by))
            }
            Op::Power => {
                let (by_width, by_signed) = self.ty(p, b)?;
                let by = self.eval(p, b, by_width, by_signed)?;
                let x = self.eval(p, a, width, signed)?;
                if self.rtl.as_const(by).is_none() && by_width > 64 {
                    return self.fail(e, "a power with an exponent of more than 64 bits");
                }
                Ok(self.power(x, signed, by, by_signed))
            }
            Op::LogicAnd | Op::LogicOr => {
                let (x, y) = (self.truth(p, a)?, self.truth(p, b)?);
                let node = self.rtl.binary(if op == Op::LogicAnd { Binary::And } else { Binary::Or }, x, y);
                Ok(self.rtl.resize(node, width, false))
            }
            _ => {
                // Comparisons: operands as wide as the wider one, signed if both are.
                let ((wa, sa), (wb, sb)) = (self.ty(p, a)?, self.ty(p, b)?);
                let (w, s) = (wa.max(wb), sa && sb);
                let (x, y) = (self.eval(p, a, w, s)?, self.eval(p, b, w, s)?);
                let less = if s { Compare::SignedLess } else { Compare::Less };
                let (kind, x, y, negate) = match op {
                    Op::Less => (less, x, y, false),
                    Op::Greater => (less, y, x, false),
                    Op::LessEqual => (less, y, x, true),
                    Op::GreaterEqual => (less, x, y, true),
                    Op::NotEqual | Op::CaseNotEqual => (Compare::Equal, x, y, true),
                    _ => (Compare::Equal, x, y, false),
                };
                let node = self.rtl.compare(kind, x, y);
                let node = if negate { self.rtl.not(node) } else { node };
                Ok(self.rtl.resize(node, width, false))
            }
        }
    }

    /// Returns `x ** by` (IEEE 1364-2005, table 5-6, as the edition of 2001 does not define all cases). With a negative
    /// exponent the result is 0, except for the bases 1 and -1; for base 0 it is undefined.
    pub(super) fn power(&mut self, x: NodeId, signed: bool, by: NodeId, by_signed: bool) -> NodeId {
        let (width, by_width) = (self.rtl.width(x), self.rtl.width(by));
        let one = self.rtl.number(1, width);
        let mut product = one;
        // Bits above the highest set bit of a constant exponent have no effect.
        let top = self.rtl.as_const(by).map_or(by_width, |v| v.bits() as u32);
        for i in (0..top).rev() {
            product = self.rtl.binary(Binary::Mul, product, product);
            let more = self.rtl.binary(Binary::Mul, product, x);
            let bit = self.rtl.slice(by, i, 1);
            product = self.rtl.mux(bit, more, product);
        }
        if !by_signed {
            return product;
        }
        let negative = self.rtl.slice(by, by_width - 1, 1);
        let (zero, free) = (self.rtl.number(0, width), self.rtl.free(width));
        let minus_one = self.rtl.not(zero);
        let odd = self.rtl.slice(by, 0, 1);
        let turned = self.rtl.mux(odd, minus_one, one);
        let mut below = zero;
        for (base, value) in [(zero, free), (minus_one, turned), (one, one)] {
            if base != minus_one || signed {
                let hit = self.rtl.compare(Compare::Equal, x, base);
                below = self.rtl.mux(hit, value, below);
            }
        }
        self.rtl.mux(negative, below, product)
    }

    /// Returns quotient or remainder. Signed quotients round towards zero, signed remainders have the dividend's sign;
    /// both are undefined for a divisor of zero.
    pub(super) fn divide(&mut self, x: NodeId, y: NodeId, quotient: bool, signed: bool) -> NodeId {
        let width = self.rtl.width(x);
        let zero = self.rtl.number(0, width);
        let negative = |s: &mut Self, n: NodeId| {
            if signed { s.rtl.slice(n, width - 1, 1) } else { s.rtl.number(0, 1) }
        };
        let (nx, ny) = (negative(self, x), negative(self, y));
        let absolute = |s: &mut Self, n: NodeId, neg: NodeId| {
            let minus = s.rtl.binary(Binary::Sub, zero, n);
            s.rtl.mux(neg, minus, n)
        };
        let (ax, ay) = (absolute(self, x, nx), absolute(self, y, ny));
        let raw = self.rtl.binary(if quotient { Binary::Div } else { Binary::Rem }, ax, ay);
        let flip = if quotient { self.rtl.binary(Binary::Xor, nx, ny) } else { nx };
        let result = absolute(self, raw, flip);
        let by_zero = self.rtl.compare(Compare::Equal, y, zero);
        let unknown = self.rtl.free(width);
        self.rtl.mux(by_zero, unknown, result)
    }

    /// Evaluates an operand whose width does not depend on its context.
    pub(super) fn leaf(&mut self, p: &mut Process, e: ExprId) -> Result<NodeId> {
        match self.expr(e) {
            Expr::Number { value, unknown, open, width, .. } => {
                if *open != BigUint::ZERO {
                    return self.fail(e, "z outside of casez and casex labels: tri-states are not supported");
                }
                // x and z bits may be anything.
                Ok(self.rtl.constant_with_undefined(value, unknown, *width))
            }
            Expr::Name(_) | Expr::Path(..) => match self.object(p, e)? {
                Some(Object::Param { value, .. }) => Ok(value),
                Some(Object::Signal { id, .. }) => {
                    let slot = Slot::Signal(id);
                    match p.state.values.get(&slot) {
                        Some(&v) => Ok(v),
                        None if p.kind == Kind::Constant => self.fail(e, "a constant is needed here"),
                        None if self.calls > 0 && p.kind != Kind::Edge => {
                            // The process that contains the call would not be sensitive to the signal.
                            self.fail(
                                e,
                                "a function or task that reads a signal of its module, outside a clocked process",
                            )
                        }
                        None => {
                            p.reads.push((id, 0, self.rtl.signal(id).width, e));
                            Ok(self.rtl.read(id))
                        }
                    }
                }
                Some(Object::Variable { id, bounds, .. }) => match p.state.values.get(&Slot::Variable(id)) {
                    Some(&v) => Ok(v),
                    None => Ok(self.rtl.free(bounds.width())),
                },
                _ => self.fail(e, format!("{} is not declared as a value", self.shown(e))),
            },
            Expr::Index(base, _) => match self.word_of(p, e)? {
                Some((id, _, _, addresses)) => self.word(p, e, id, &addresses),
                None => self.selected(p, e, *base),
            },
            Expr::Range(base, ..) | Expr::Part(base, ..) => self.selected(p, e, *base),
            Expr::Concat(parts) => {
                let mut nodes = Vec::with_capacity(parts.len());
                for &part in parts.iter().rev() {
                    if let Expr::Number { sized: false, .. } = self.expr(part) {
                        return self.fail(part, "a number without size in a concatenation");
                    }
                    if self.is_empty_repetition(p, part)? {
                        continue;
                    }
                    nodes.push(self.self_determined(p, part)?);
                }
                Ok(self.rtl.concat(&nodes))
            }
            Expr::Repeat(count, x) => {
                let count = self.peek_int(p, *count)?;
                if let Expr::Number { sized: false, .. } = self.expr(*x) {
                    return self.fail(*x, "a number without size in a concatenation");
                }
                let x = self.self_determined(p, *x)?;
                Ok(self.rtl.repeat(x, count as u32))
            }
            Expr::Cast(_, x) => {
                let (width, signed) = self.ty(p, e)?;
                let node = self.self_determined(p, *x)?;
                Ok(self.rtl.resize(node, width, signed))
            }
            Expr::Call(sym, args) => self.call(p, e, *sym, args),
            Expr::System(sym, args) => match (self.name(*sym), &args[..]) {
                ("$signed" | "$unsigned", [x]) => self.self_determined(p, *x),
                ("$clog2", [x]) => {
                    let Some(v) = self.value_int(p, *x)? else { return self.fail(e, "a constant is needed here") };
                    let bits = if v <= 1 { 0 } else { 64 - (v - 1).leading_zeros() };
                    Ok(self.rtl.number(u64::from(bits), 32))
                }
                (name, _) => self.fail(e, format!("{name} is not supported")),
            },
            Expr::Unary(..) | Expr::Binary(..) | Expr::Cond(..) => self.self_determined(p, e),
        }
    }

    /// Returns `true` for a repetition of zero times, which a concatenation ignores (IEEE 1364-2005, section 5.1.14).
    fn is_empty_repetition(&self, p: &Process, e: ExprId) -> Result<bool> {
        match self.expr(e) {
            Expr::Repeat(count, _) => Ok(self.peek_int(p, *count)? == 0),
            _ => Ok(false),
        }
    }

    /// Evaluates a bit select or part select. Its base is the name of a vector, or a word of a memory.
    pub(super) fn selected(&mut self, p: &mut Process, e: ExprId, base: ExprId) -> Result<NodeId> {
        // The base may be a word of a memory: mem[i][3:0].
        let bounds = match (self.object(p, base)?, self.word_of(p, base)?) {
            (_, Some((_, bounds, ..))) => bounds,
            (
                Some(Object::Signal { bounds, .. } | Object::Variable { bounds, .. } | Object::Param { bounds, .. }),
                _,
            ) => bounds,
            _ if matches!(self.expr(base), Expr::Name(_) | Expr::Path(..)) => {
                return self.fail(base, format!("{} is not declared as a value", self.shown(base)));
            }
            _ => return self.fail(e, "a select of a select"),
        };
        let node = self.leaf(p, base)?;
        let at = p.reads.last().filter(|r| node == self.rtl.read(r.0)).map(|_| p.reads.len() - 1);
        let (lo, width) = self.select(p, e, bounds)?;
        let whole = self.rtl.width(node);
        match lo {
            BitPosition::Constant(lo) => {
                // Bits past the ends are undefined.
                let end = lo.saturating_add(i64::from(width));
                let (from, to) = (lo.clamp(0, whole.into()), end.clamp(0, whole.into()));
                if let Some(read) = at.and_then(|at| p.reads.get_mut(at)) {
                    (read.1, read.2) = (from as u32, to as u32);
                }
                if from >= to {
                    return Ok(self.rtl.free(width));
                }
                let (before, after) = (self.rtl.free((from - lo) as u32), self.rtl.free((end - to) as u32));
                let inside = self.rtl.slice(node, from as u32, (to - from) as u32);
                Ok(self.rtl.concat(&[before, inside, after]))
            }
            // A bit of a constant is read from a table; LUT cells of netlists have this form.
            BitPosition::Dynamic(shift, false)
                if width == 1 && whole <= MAX_TABLE && self.rtl.as_const(node).is_some() =>
            {
                let value = self.rtl.as_const(node).cloned().unwrap_or_default();
                let entries = (0..u64::from(whole)).map(|bit| u32::from(value.bit(bit)).into()).collect();
                let beyond = self.rtl.free(1);
                Ok(self.rtl.table(std::sync::Arc::new(entries), shift, beyond))
            }
            BitPosition::Dynamic(shift, negative) => {
                // Bits past the ends are undefined.
                let beyond = self.rtl.free(width);
                let (padded, shift, whole) = if negative {
                    let before = self.rtl.free(width);
                    let reach = self.rtl.width(shift);
                    let back = self.rtl.number(u64::from(width), reach);
                    let shift = self.rtl.binary(Binary::Add, shift, back);
                    (self.rtl.concat(&[before, node, beyond]), shift, whole + width)
                } else {
                    (self.rtl.concat(&[node, beyond]), shift, whole)
                };
                let moved = self.rtl.shift(Shift::Right, padded, shift);
                let low = self.rtl.slice(moved, 0, width);
                // A shift beyond the padding would read zeros, but these bits are undefined too.
                let reach = self.rtl.width(shift);
                if reach < 32 && 1u64 << reach <= u64::from(whole) + 1 {
                    return Ok(low);
                }
                let limit = self.rtl.number(u64::from(whole), reach);
                let inside = self.rtl.compare(Compare::Less, shift, limit);
                let free = self.rtl.free(width);
                Ok(self.rtl.mux(inside, low, free))
            }
        }
    }

    /// Returns the lowest bit and the width of a select.
    pub(super) fn select(&mut self, p: &mut Process, e: ExprId, bounds: Bounds) -> Result<(BitPosition, u32)> {
        if bounds.scalar {
            return self.fail(e, "a part of a value that was declared without a range");
        }
        let descending = bounds.msb >= bounds.lsb;
        match self.expr(e) {
            Expr::Index(_, index) => {
                if let Some(i) = self.value_int(p, *index)? {
                    return Ok((BitPosition::Constant(bounds.position(i)), 1));
                }
                let (shift, negative) = self.dynamic(p, *index, bounds, 0)?;
                Ok((BitPosition::Dynamic(shift, negative), 1))
            }
            Expr::Range(_, msb, lsb) => {
                let (Some(msb), Some(lsb)) = (self.value_int(p, *msb)?, self.value_int(p, *lsb)?) else {
                    return self.fail(e, "the bounds of a part are constant");
                };
                let (high, low) = (bounds.position(msb), bounds.position(lsb));
                if high < low {
                    return self.fail(e, "a part select with bounds in the opposite order of the vector's");
                }
                match u32::try_from(high - low + 1) {
                    Ok(width) if width <= MAX_WIDTH => Ok((BitPosition::Constant(low), width)),
                    _ => self.fail(e, "more than 2^24 bits"),
                }
            }
            Expr::Part(_, start, width, up) => {
                let width = self.peek_int(p, *width)? as u32;
                // The indices are start ..= start + width - 1, or start - width + 1 ..= start.
                if let Some(s) = self.value_int(p, *start)? {
                    let (first, last) = if *up { (s, s + i64::from(width) - 1) } else { (s - i64::from(width) + 1, s) };
                    return Ok((BitPosition::Constant(bounds.position(first).min(bounds.position(last))), width));
                }
                // With ascending bounds the low end is at the largest index.
                let low_is_start = *up == descending;
                let back = if low_is_start { 0 } else { i64::from(width) - 1 };
                let (shift, negative) = self.dynamic(p, *start, bounds, back)?;
                Ok((BitPosition::Dynamic(shift, negative), width))
            }
            _ => self.fail(e, "this is not a select"),
        }
    }

    /// Returns the bit position of an index, minus `back`; and `true` if it may be negative.
    pub(super) fn dynamic(
        &mut self,
        p: &mut Process,
        index: ExprId,
        bounds: Bounds,
        back: i64,
    ) -> Result<(NodeId, bool)> {
        let (width, signed) = self.ty(p, index)?;
        let node = self.eval(p, index, width, signed)?;
        let wide = width.max(34) + 2;
        let node = self.rtl.resize(node, wide, signed);
        let number = |s: &mut Self, v: i64| {
            let full = BigUint::from(1u32) << wide;
            let value = if v < 0 { full - BigUint::from(v.unsigned_abs()) } else { BigUint::from(v as u64) };
            s.rtl.constant(value, wide)
        };
        let (x, y) = if bounds.msb >= bounds.lsb {
            (node, number(self, bounds.lsb + back))
        } else {
            (number(self, bounds.lsb - back), node)
        };
        if !signed && bounds.lsb == 0 && back == 0 && bounds.msb >= 0 {
            return Ok((self.rtl.slice(node, 0, width), false));
        }
        Ok((self.rtl.binary(Binary::Sub, x, y), true))
    }
}
