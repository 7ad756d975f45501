//! Choices by conditions that are 0 or 1.

use super::super::{Atom, AtomId, FormId, LinearForms, OrOverflow, Shape, add, mul};
use super::{MAX_MERGED, gcd};

/// Factors and shifts of floors of one number, and a constant.
type Floors = (Vec<(i128, u32)>, i128);

impl LinearForms {
    /// Returns `yes` if the condition is 1, `no` if it is 0.
    pub fn mux(&mut self, cond: FormId, yes: FormId, no: FormId) -> OrOverflow<FormId> {
        if yes == no {
            return Ok(yes);
        }
        match self.as_const(cond) {
            Some(0) => return Ok(no),
            Some(1) => return Ok(yes),
            _ => {}
        }
        let d = self.sub(yes, no)?;
        let chosen = self.when(cond, d)?;
        let mut out = self.add(no, chosen)?;
        if let Some(&alias) = self.aliases.get(&out) {
            out = self.renewed(alias)?;
        }
        let (r, s) = (self.range(yes), self.range(no));
        let range = match self.sign_told(cond, d)? {
            Some(true) => (r.0.min(s.0), r.1.min(s.1)),
            Some(false) => (r.0.max(s.0), r.1.max(s.1)),
            None => (r.0.min(s.0), r.1.max(s.1)),
        };
        self.narrow(out, range);
        self.set_shape(out, Shape::Mux(cond, yes, no));
        Ok(out)
    }

    /// Returns `cond * x` for a condition that is 0 or 1.
    pub(super) fn when(&mut self, cond: FormId, x: FormId) -> OrOverflow<FormId> {
        match self.as_const(cond) {
            Some(0) => return Ok(self.constant(0)),
            Some(1) => return Ok(x),
            _ => {}
        }
        if let Some(c) = self.as_const(x) {
            return self.scale(cond, c);
        }
        if cond == x {
            return Ok(cond);
        }
        // The condition without a constant is preferred over its complement.
        if self.constant_of(cond) != 0 {
            let other = self.complement(cond)?;
            if self.constant_of(other) == 0 {
                let rest = self.when(other, x)?;
                return self.sub(x, rest);
            }
        }
        // If the condition is a single atom, that atom is 1 inside the product.
        let atom = self.only(cond).filter(|t| t.1 == 1 && self.constant_of(cond) == 0).map(|t| t.0);
        if let Some(atom) = atom {
            let inside = self.terms(x).find(|t| t.0 == atom).map(|t| t.1);
            if let Some(factor) = inside {
                let mut sum = self.sum_of(x);
                sum.terms.retain(|t| t.0 != atom);
                sum.constant = add(sum.constant, factor)?;
                let x = self.form(&sum)?;
                return self.when(cond, x);
            }
        }
        let content = gcd(self.content(x), self.constant_of(x));
        let content = if self.leads_negative(x) { -content } else { content };
        if content != 1 {
            let mut sum = self.sum_of(x);
            sum.constant /= content;
            sum.terms.iter_mut().for_each(|t| t.1 /= content);
            let small = self.form(&sum)?;
            let (lo, hi) = self.range(x);
            let ends = (lo / content, hi / content);
            self.narrow(small, (ends.0.min(ends.1), ends.0.max(ends.1)));
            let part = self.when(cond, small)?;
            return self.scale(part, content);
        }
        // If the condition is the sign of `x`, the choice is max(x, 0).
        let (lo, hi) = self.range(x);
        if lo < 0 && hi > 0 {
            let below = self.negative(x)?;
            let minus = self.scale(x, -1)?;
            let above = self.negative(minus)?;
            // x < 0 and x <= 0 are equivalent here, as are x > 0 and x >= 0, since the choice is 0 for x = 0.
            if below == cond || self.complement(above)? == cond {
                let p = self.positive(x)?;
                return self.sub(x, p);
            }
            if above == cond || self.complement(below)? == cond {
                return self.positive(x);
            }
        }
        if let Some(atom) = atom
            && let Some(out) = self.when_sign(atom, x)?
        {
            return Ok(out);
        }
        if let Some(out) = self.table_by_sign(cond, x)? {
            return Ok(out);
        }
        if let (Some(a), Some((b, factor))) = (atom, self.only(x)) {
            let product = self.monomial(a, b)?;
            let product = self.scale(product, factor)?;
            return self.linear(product, self.constant_of(x), cond);
        }
        let floors = self.terms(x).filter(|t| matches!(self.atom(t.0), Atom::Floor(..))).count();
        // Bits extracted from a value, which are a difference of two floors, are treated as one number.
        if floors < 2
            && let Some((whole, k)) = self.merged(x, 0)?
        {
            let chosen = self.when(cond, whole)?;
            return self.floor(chosen, k);
        }
        // Condition and value are tables of the same argument.
        if let (Some((y, first, conds)), Some((z, second, values))) = (self.as_table(cond), self.as_table(x))
            && y == z
            && first == second
        {
            let values = conds?.into_iter().zip(values?).map(|(u, v)| mul(u, v)).collect::<OrOverflow<Vec<_>>>()?;
            return self.table_of(y, first, values);
        }
        let atom = self.intern(Atom::If(cond, x), (lo.min(0), hi.max(0)));
        self.made(atom)
    }

    /// Returns `cond * x` as one table if `x` is a table and the condition is the sign of its argument; otherwise
    /// `None`.
    fn table_by_sign(&mut self, cond: FormId, x: FormId) -> OrOverflow<Option<FormId>> {
        let Some((y, first, values)) = self.as_table(x) else { return Ok(None) };
        let below = self.negative(y)?;
        let opposite = self.complement(below)?;
        if cond != below && cond != opposite {
            return Ok(None);
        }
        let holds = |v: i128| (v < 0) == (cond == below);
        let values = (first..).zip(values?).map(|(v, t)| if holds(v) { t } else { 0 }).collect::<Vec<_>>();
        self.work += values.len() as u64;
        self.table_of(y, first, values).map(Some)
    }

    /// Returns `cond * x` as floors of `max(s, 0)` if the condition is the sign of a number `s`, and `x` is a sum of
    /// floors of `s`, such as some of its bits. Returns `None` otherwise.
    fn when_sign(&mut self, cond: AtomId, x: FormId) -> OrOverflow<Option<FormId>> {
        let Atom::Negative(t) = *self.behind(cond) else { return Ok(None) };
        if self.len(x) > MAX_MERGED || !self.terms(x).any(|(a, _)| matches!(self.atom(a), Atom::Floor(..))) {
            return Ok(None);
        }
        // Numbers with the condition as sign, each with `true` if it is negative for condition 0, otherwise for
        // condition 1.
        let minus = self.scale(t, -1)?;
        let minus = self.offset(minus, -1)?;
        let mut numbers = vec![(t, false), (minus, true)];
        // A name for the number without its low bits, and a multiple of the number, have the same sign.
        let condition = self.single(cond)?;
        let opposite = self.complement(condition)?;
        let mut others = self.plain_floors(x);
        let mut floors: Vec<(u32, FormId)> = self
            .terms(x)
            .filter_map(|(a, _)| match self.atom(a) {
                Atom::Floor(y, m) => Some((*m, *y)),
                _ => None,
            })
            .collect();
        floors.sort_unstable();
        others.extend(floors.iter().rev().take(2).map(|f| f.1));
        for s in others {
            let below = self.negative(s)?;
            if below == condition || below == opposite {
                numbers.push((s, below == opposite));
            }
        }
        for (s, holds) in numbers {
            let Some((parts, rest)) = self.as_floors(x, s)? else { continue };
            let p = self.positive(s)?;
            let above = if holds { condition } else { self.complement(condition)? };
            let mut out = self.scale(above, rest)?;
            for (factor, m) in parts {
                let part = self.floor(p, m)?;
                out = self.linear(out, factor, part)?;
            }
            return Ok(Some(if holds { out } else { self.sub(x, out)? }));
        }
        Ok(None)
    }

    /// Returns `x` as a sum of factors times `floor(s / 2^m)`, and a constant; `None` if that is impossible.
    fn as_floors(&mut self, x: FormId, s: FormId) -> OrOverflow<Option<Floors>> {
        let mut rest = x;
        let mut parts: Vec<(i128, u32)> = Vec::new();
        while self.len(rest) > 0 && parts.len() < 6 {
            let newest = self.terms(rest).filter_map(|(a, c)| match self.atom(a) {
                Atom::Floor(_, m) => Some((a, c, *m)),
                _ => None,
            });
            let Some((atom, factor, m)) = newest.last().or_else(|| self.terms(rest).last().map(|(a, c)| (a, c, 0)))
            else {
                break;
            };
            let part = self.floor(s, m)?;
            let Some(inside) = self.terms(part).find(|t| t.0 == atom).map(|t| t.1) else { return Ok(None) };
            if factor % inside != 0 {
                return Ok(None);
            }
            rest = self.linear(rest, -(factor / inside), part)?;
            parts.push((factor / inside, m));
        }
        Ok((self.len(rest) == 0).then(|| (parts, self.constant_of(rest))))
    }
}
