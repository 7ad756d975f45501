//! Targets of assignments: names, parts, fields, and elements with computed indices.

use super::super::syntax::{Arg, Expr, Kind};
use super::types::{ArrayOf, storage};
use super::{Bounds, Elab, Named, Place, Result, Run, Slot, Step, Type, TypeOf, Typed};
use crate::{Compare, NodeId};
use num_bigint::BigUint;
use std::sync::Arc;

impl<'a> Elab<'a> {
    pub(super) fn target_type(&mut self, run: &mut Run<'a>, e: &'a Expr) -> Result<(Type, Option<Bounds>)> {
        let p = self.place(run, e)?;
        Ok((p.ty, p.bounds))
    }

    pub(super) fn place(&mut self, run: &mut Run<'a>, e: &'a Expr) -> Result<Place> {
        match &e.kind {
            Kind::Name(n) => match self.find(run.scope, n).cloned() {
                Some(Named::Signal { id, ty, bounds }) => {
                    let whole = storage(&ty, bounds);
                    Ok(Place { slot: Slot::Signal(id), lo: 0, whole, steps: Vec::new(), ty, bounds })
                }
                Some(Named::Variable { slot, ty, bounds }) => {
                    let whole = storage(&ty, bounds);
                    Ok(Place { slot: Slot::Variable(slot), lo: 0, whole, steps: Vec::new(), ty, bounds })
                }
                Some(Named::Alias { of, scope, ty }) => {
                    self.follow(e.at)?;
                    let outer = std::mem::replace(&mut run.scope, scope);
                    let p = self.place(run, of);
                    run.scope = outer;
                    self.aliases -= 1;
                    let (p, (ty, bounds)) = self.seen_as(p?, ty, e.at)?;
                    Ok(Place { ty, bounds, ..p })
                }
                _ => self.fail(e.at, format!("{n} cannot be assigned to")),
            },
            Kind::Field(base, name) => {
                let p = self.place(run, base)?;
                let (lo, ty, bounds) = self.field(&p.ty, name, e.at)?;
                Ok(p.part(lo, ty, bounds))
            }
            Kind::Call(base, args) => {
                let p = self.place(run, base)?;
                self.place_in(run, p, args, e)
            }
            _ => self.fail(e.at, "this cannot be assigned to"),
        }
    }

    /// Returns the place of an element, a bit or a part of a place.
    fn place_in(&mut self, run: &mut Run<'a>, p: Place, args: &'a [Arg], e: &'a Expr) -> Result<Place> {
        let Some((Arg { choices, others: false, value }, rest)) = args.split_first() else {
            return self.fail(e.at, "this cannot be assigned to");
        };
        let dimensions = matches!(&p.ty, Type::Array(a) if a.more);
        if !choices.is_empty() || rest.is_empty() == dimensions {
            return self.fail(e.at, "one index or range is expected for each dimension");
        }
        if let Type::Array(a) = &p.ty {
            let a = a.clone();
            let stride = storage(&a.element, a.inner);
            if self.is_range(value) {
                let part = self.bounds_in(run, value)?;
                let Some(lo) = self.elements(a.bounds, part, value.at)?.filter(|_| !a.more) else {
                    return self.fail(value.at, "no elements to assign to");
                };
                let ty = Type::Array(Arc::new(ArrayOf { bounds: part, ..(*a).clone() }));
                return Ok(p.part(lo * stride, ty, None));
            }
            let element = match self.distance(run, value, a.bounds)? {
                Ok(i) => p.part(i * stride, a.element.clone(), a.inner),
                Err(addr) => {
                    let step = Step { lo: p.lo, addr, count: a.bounds.len(), stride, flip: false };
                    p.step(step, a.element.clone(), a.inner)
                }
            };
            return if rest.is_empty() { Ok(element) } else { self.place_in(run, element, rest, e) };
        }
        let (Type::Vector(v, _), Some(b)) = (p.ty.clone(), p.bounds) else {
            return self.fail(e.at, "this cannot be assigned to");
        };
        if self.is_range(value) {
            let part = self.bounds_in(run, value)?;
            let Some(lo) = self.part(b, part, value.at)? else {
                return self.fail(value.at, "no bits to assign to");
            };
            return Ok(p.part(lo, Type::Vector(v, part.len()), Some(part)));
        }
        match self.distance(run, value, b)? {
            Ok(i) => {
                let lo = if b.down { i } else { b.len() - 1 - i };
                Ok(p.part(lo, Type::Bit, None))
            }
            Err(addr) => {
                let step = Step { lo: p.lo, addr, count: b.len(), stride: 1, flip: !b.down };
                Ok(p.step(step, Type::Bit, None))
            }
        }
    }

    /// Returns the lowest index of a part of an array, relative to the array's lowest index; `None` for a part without
    /// elements.
    pub(super) fn elements(&self, whole: Bounds, part: Bounds, at: u32) -> Result<Option<u32>> {
        if part.len() > 1 && part.down != whole.down {
            return self.fail(at, "a part against the direction of the array");
        }
        let low = whole.left.min(whole.right);
        let (from, to) = (part.left.min(part.right) - low, part.left.max(part.right) - low);
        if part.len() == 0 {
            return Ok(None);
        }
        if from < 0 || to >= i64::from(whole.len()) {
            return self.fail(at, "a part outside the array");
        }
        Ok(Some(from as u32))
    }

    /// Returns a place or value, with the type and bounds of an alias.
    pub(super) fn seen_as<T: Typed>(&self, x: T, ty: Option<TypeOf>, at: u32) -> Result<(T, (Type, Option<Bounds>))> {
        let (own, bounds) = x.typed();
        let seen = match ty {
            None => (own, bounds),
            Some(TypeOf::Unconstrained(_) | TypeOf::Open(..)) => (own, bounds),
            Some(TypeOf::Whole(t, b)) => {
                self.same(at, &t, &own)?;
                (t, b.or(bounds))
            }
        };
        Ok((x, seen))
    }

    /// Replaces the bits that the steps select with `node`; `before` is the word from bit `base` on.
    pub(super) fn rewritten(&mut self, before: NodeId, base: u32, steps: &[Step], p: &Place, node: NodeId) -> NodeId {
        let Some((step, rest)) = steps.split_first() else {
            let lo = p.lo - base;
            let end = lo + self.rtl.width(node);
            let after = self.rtl.width(before) - end;
            let (low, high) = (self.rtl.slice(before, 0, lo), self.rtl.slice(before, end, after));
            return self.rtl.join(&[low, node, high]);
        };
        let from = step.lo - base;
        let end = from + step.count * step.stride;
        let after = self.rtl.width(before) - end;
        let mut parts = vec![self.rtl.slice(before, 0, from)];
        let reach = self.rtl.width(step.addr);
        let all = self.rtl.slice(before, from, end - from);
        let pieces = self.rtl.split(all, step.stride, step.count);
        for (k, old) in (0..step.count).zip(pieces) {
            let index = if step.flip { step.count - 1 - k } else { k };
            let hit = if reach < 32 && index >= 1 << reach {
                self.rtl.number(0, 1)
            } else {
                let number = self.rtl.number(index.into(), reach);
                self.rtl.compare(Compare::Equal, step.addr, number)
            };
            let never = self.rtl.as_const(hit).is_some_and(|v| *v == BigUint::ZERO);
            let new = if never { old } else { self.rewritten(old, step.lo, rest, p, node) };
            parts.push(self.rtl.mux(hit, new, old));
        }
        parts.push(self.rtl.slice(before, end, after));
        self.rtl.join(&parts)
    }

    /// Returns the part of a word that the steps select.
    pub(super) fn chosen(&mut self, word: NodeId, base: u32, steps: &[Step], p: &Place, width: u32) -> NodeId {
        let Some((step, rest)) = steps.split_first() else { return self.rtl.slice(word, p.lo - base, width) };
        let mut words: Vec<NodeId> = Vec::with_capacity(step.count as usize);
        let all = self.rtl.slice(word, step.lo - base, step.count * step.stride);
        let mut pieces = self.rtl.split(all, step.stride, step.count);
        if step.flip {
            pieces.reverse();
        }
        for part in pieces {
            words.push(self.chosen(part, step.lo, rest, p, width));
        }
        self.rtl.choose(words, step.addr)
    }

    pub(super) fn is_range(&self, e: &'a Expr) -> bool {
        match &e.kind {
            Kind::Range(..) => true,
            Kind::Attribute(_, n) => n == "range" || n == "reverse_range",
            Kind::Call(base, _) => matches!(&base.kind, Kind::Attribute(..)) && self.is_range(base),
            _ => false,
        }
    }

    /// Returns the lowest bit of a part; `None` for a null range.
    pub(super) fn part(&self, whole: Bounds, part: Bounds, at: u32) -> Result<Option<u32>> {
        if part.len() == 0 {
            return Ok(None);
        }
        if part.down != whole.down && part.len() > 1 {
            return self.fail(at, "a part select with bounds in the opposite order of the vector's");
        }
        match (whole.offset(part.left), whole.offset(part.right)) {
            (Some(_), Some(lo)) => Ok(Some(lo)),
            _ => self.fail(at, "bits outside the vector"),
        }
    }
}
