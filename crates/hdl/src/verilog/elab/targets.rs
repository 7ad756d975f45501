//! Targets of assignments: vectors, their parts, words of memories.

use super::super::ast::{Expr, ExprId};
use super::{BitPosition, Elab, Kind, Object, Place, Process, Result, Slot, Target, small};
use crate::source::error;
use crate::{Binary, NodeId, Shift};
use num_bigint::BigUint;

impl<'a> Elab<'a> {
    pub(super) fn target_width(&self, p: &Process, e: ExprId) -> Result<u32> {
        match self.expr(e) {
            Expr::Concat(parts) => {
                let mut total = 0u32;
                for &part in parts {
                    total = total.saturating_add(self.target_width(p, part)?);
                }
                Ok(total)
            }
            _ => Ok(self.ty(p, e)?.0),
        }
    }

    /// Returns the targets that an expression denotes, each with its part of the value.
    pub(super) fn places(&mut self, p: &mut Process, e: ExprId, node: NodeId) -> Result<Vec<(Target, NodeId)>> {
        if let Expr::Concat(parts) = self.expr(e) {
            let mut out = Vec::new();
            let mut lo = 0;
            for &part in parts.iter().rev() {
                let width = self.target_width(p, part)?;
                let piece = self.rtl.slice(node, lo, width);
                out.extend(self.places(p, part, piece)?);
                lo += width;
            }
            return Ok(out);
        }
        let target = self.target(p, e)?;
        Ok(vec![(target, node)])
    }

    pub(super) fn target(&mut self, p: &mut Process, e: ExprId) -> Result<Target> {
        if let Some((id, bounds, _, addresses)) = self.word_of(p, e)? {
            return self.word_target(p, e, (id, bounds, &addresses), None);
        }
        let (base, select) = match self.expr(e) {
            Expr::Name(_) | Expr::Path(..) => (e, None),
            Expr::Index(base, _) | Expr::Range(base, ..) | Expr::Part(base, ..) => (*base, Some(e)),
            _ => return self.fail(e, "this cannot be assigned to"),
        };
        if let (Some(_), Some((id, bounds, _, addresses))) = (select, self.word_of(p, base)?) {
            return self.word_target(p, e, (id, bounds, &addresses), select);
        }
        let (what, bounds) = match self.object(p, base)? {
            Some(Object::Signal { id, bounds, .. }) => (Place::Signal(id), bounds),
            Some(Object::Variable { id, bounds, .. }) => (Place::Variable(id), bounds),
            _ => return self.fail(e, format!("{} cannot be assigned to", self.shown(base))),
        };
        let whole = bounds.width();
        let steps = Vec::new();
        let Some(select) = select else {
            return Ok(Target { what, width: whole, lo: Some(0), dynamic: None, whole, steps });
        };
        let (lo, width) = self.select(p, select, bounds)?;
        match lo {
            BitPosition::Constant(lo) => match u32::try_from(lo).ok().filter(|lo| lo + width <= whole) {
                Some(lo) => Ok(Target { what, width, lo: Some(lo), dynamic: None, whole, steps }),
                None => self.fail(e, "an assignment to bits outside the vector"),
            },
            BitPosition::Dynamic(node, negative) => {
                Ok(Target { what, width, lo: None, dynamic: Some((node, negative)), whole, steps })
            }
        }
    }

    /// Evaluates an expression to a number; `None` if it is not constant.
    pub(super) fn value_int(&mut self, p: &mut Process, e: ExprId) -> Result<Option<i64>> {
        let (width, signed) = self.ty(p, e)?;
        let node = self.eval(p, e, width, signed)?;
        Ok(self.rtl.as_const(node).and_then(|v| small(v, width, signed)))
    }

    pub(super) fn assign(
        &mut self,
        p: &mut Process,
        target: ExprId,
        value: ExprId,
        blocking: bool,
        at: u32,
    ) -> Result<()> {
        let width = self.target_width(p, target)?;
        let node = self.assigned(p, value, width)?;
        for (place, node) in self.places(p, target, node)? {
            self.store(p, place, node, blocking, at)?;
        }
        Ok(())
    }

    pub(super) fn store(&mut self, p: &mut Process, t: Target, node: NodeId, blocking: bool, at: u32) -> Result<()> {
        let slot = match t.what {
            Place::Word(memory, word) => {
                let constant = match p.kind {
                    Kind::Constant => self.rtl.as_const_with_undefined(node),
                    _ => None,
                };
                let Some((value, undefined)) = constant else {
                    return Err(error(self.text, at, "initial blocks fill memories with constants"));
                };
                self.fill(memory, word, value, undefined);
                return Ok(());
            }
            Place::Variable(id) => Slot::Variable(id),
            Place::Signal(id) if blocking => Slot::Signal(id),
            Place::Signal(id) => Slot::Next(id),
        };
        if let Slot::Signal(id) | Slot::Next(id) = slot {
            if self.nets.contains(&id) {
                let message = format!("{} is a net, and a process assigns variables only", self.rtl.signal(id).name);
                return Err(error(self.text, at, message).with_help("declare it as reg, or assign it with assign"));
            }
            let other = if blocking { Slot::Next(id) } else { Slot::Signal(id) };
            if p.state.values.contains_key(&other) {
                return Err(error(self.text, at, "blocking and nonblocking assignments to one signal"));
            }
        }
        let whole = t.steps.first().map_or(t.whole, |&(_, count, stride)| count * stride);
        let new = if t.steps.is_empty() && t.lo == Some(0) && t.width == whole {
            node
        } else {
            let before = match p.state.values.get(&slot) {
                Some(&v) => v,
                None => self.before(p, slot, whole),
            };
            self.rewritten(before, &t, &t.steps, node)
        };
        p.state.values.insert(slot, new);
        Ok(())
    }

    /// Returns a vector in which the bits of a target are replaced.
    pub(super) fn replaced(&mut self, before: NodeId, t: &Target, node: NodeId) -> NodeId {
        match (t.lo, t.dynamic) {
            (Some(lo), _) => {
                if t.width == t.whole {
                    return node;
                }
                let (end, after) = (lo + t.width, t.whole - lo - t.width);
                let (low, high) = (self.rtl.slice(before, 0, lo), self.rtl.slice(before, end, after));
                self.unassigned.note_part(&self.rtl, before, low);
                self.unassigned.note_part(&self.rtl, before, high);
                self.rtl.join(&[low, node, high])
            }
            (None, Some((shift, negative))) => {
                // Clear the field and insert the value; bits outside of the vector are dropped.
                let margin = if negative { t.width } else { 0 };
                let whole = t.whole + margin;
                let shift = if negative {
                    let back = self.rtl.number(u64::from(margin), self.rtl.width(shift));
                    self.rtl.binary(Binary::Add, shift, back)
                } else {
                    shift
                };
                let zeros = self.rtl.number(0, margin);
                let before = self.rtl.concat(&[zeros, before]);
                let ones = self.rtl.constant((BigUint::from(1u32) << t.width) - 1u32, whole);
                let field = self.rtl.shift(Shift::Left, ones, shift);
                let keep = self.rtl.not(field);
                let wide = self.rtl.resize(node, whole, false);
                let moved = self.rtl.shift(Shift::Left, wide, shift);
                let kept = self.rtl.binary(Binary::And, before, keep);
                let new = self.rtl.binary(Binary::Or, kept, moved);
                self.rtl.slice(new, margin, t.whole)
            }
            (None, None) => before,
        }
    }
}
