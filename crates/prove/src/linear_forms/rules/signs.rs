//! Comparisons with zero.

use super::super::{Atom, FormId, LinearForms, MAX_ASKED, OrOverflow, Overflow, mul, power};

impl LinearForms {
    /// Returns 1 if the form is negative, otherwise 0.
    pub fn negative(&mut self, f: FormId) -> OrOverflow<FormId> {
        let (lo, hi) = self.range(f);
        if lo >= 0 || hi < 0 {
            return Ok(self.constant(i128::from(hi < 0)));
        }
        if let Some(&known) = self.negatives.get(&f) {
            return Ok(known);
        }
        if self.asked.len() >= MAX_ASKED || self.asked.contains(&f) {
            let atom = self.intern(Atom::Negative(f), (0, 1));
            return self.made(atom);
        }
        self.asked.push(f);
        let out = self.negative_new(f);
        self.asked.pop();
        let out = out?;
        self.narrow(out, (0, 1));
        self.negatives.insert(f, out);
        Ok(out)
    }

    fn negative_new(&mut self, f: FormId) -> OrOverflow<FormId> {
        if self.range(f) == (-1, 0) {
            return self.scale(f, -1);
        }
        let g = self.content(f);
        if g > 1 {
            let f = self.divided(f, g)?;
            return self.negative(f);
        }
        if self.leads_negative(f) {
            let minus = self.scale(f, -1)?;
            let other = self.offset(minus, -1)?;
            let other = self.negative(other)?;
            return self.complement(other);
        }
        if let Some(out) = self.table_value(f, |v| Ok(i128::from(v < 0)))? {
            return Ok(out);
        }
        if let Some((atom, 1)) = self.only(f) {
            let constant = self.constant_of(f);
            let (lo, hi) = self.range(f);
            if hi == lo + 1 {
                // The form is -1 or 0.
                return self.scale(f, -1);
            }
            match self.atom(atom).clone() {
                // A number without its low bits has the sign of the number.
                Atom::Value(x) if !self.taking_apart && self.is_plain_floor(x) => {
                    let x = self.offset(x, constant)?;
                    if let Some((whole, _)) = self.merged(x, 0)? {
                        return self.negative(whole);
                    }
                }
                Atom::Floor(x, k) => {
                    if let Ok(c) = power(k).and_then(|p| mul(constant, p)) {
                        let whole = self.offset(x, c)?;
                        return self.negative(whole);
                    }
                }
                Atom::Positive(x) if constant < 0 => {
                    let x = self.offset(x, constant)?;
                    return self.negative(x);
                }
                Atom::And(forms) if constant == 0 => {
                    let mut all = self.constant(1);
                    for &x in forms.iter() {
                        let n = self.negative(x)?;
                        all = self.times(all, n)?;
                    }
                    return Ok(all);
                }
                _ => {}
            }
        }
        if let Some(out) = self.by_cases(f, |r| (r.0 >= 0 || r.1 < 0).then_some(i128::from(r.1 < 0)))? {
            return Ok(out);
        }
        if let Some((whole, _)) = self.merged(f, 0)? {
            return self.negative(whole);
        }
        let minus = self.scale(f, -1)?;
        let minus = self.offset(minus, -1)?;
        if let Some((whole, _)) = self.merged(minus, 0)? {
            let other = self.negative(whole)?;
            return self.complement(other);
        }
        if let Some((cond, yes, no)) = self.by_factor(f)? {
            let (yes, no) = (self.negative(yes)?, self.negative(no)?);
            return self.mux(cond, yes, no);
        }
        if let Some((cond, yes, no)) = self.one_choice(f)? {
            let (yes, no) = (self.negative(yes)?, self.negative(no)?);
            return self.mux(cond, yes, no);
        }
        let atom = self.intern(Atom::Negative(f), (0, 1));
        self.made(atom)
    }

    /// Returns `1 - f`.
    pub fn complement(&mut self, f: FormId) -> OrOverflow<FormId> {
        let one = self.constant(1);
        self.sub(one, f)
    }

    /// Returns 1 if the form is zero, otherwise 0.
    pub fn zero(&mut self, f: FormId) -> OrOverflow<FormId> {
        let (lo, hi) = self.range(f);
        if lo > 0 || hi < 0 || lo == hi {
            return Ok(self.constant(i128::from(lo == 0 && hi == 0)));
        }
        let g = self.content(f);
        if g > 1 {
            if self.constant_of(f) % g != 0 {
                return Ok(self.constant(0));
            }
            let f = self.divided(f, g)?;
            return self.zero(f);
        }
        if lo == 0 {
            let below = self.offset(f, -1)?;
            return self.negative(below);
        }
        if self.leads_negative(f) || hi == 0 {
            let f = self.scale(f, -1)?;
            return if hi == 0 || !self.leads_negative(f) { self.zero(f) } else { Err(Overflow) };
        }
        if let Some(out) = self.table_value(f, |v| Ok(i128::from(v == 0)))? {
            return Ok(out);
        }
        let atom = self.intern(Atom::Zero(f), (0, 1));
        self.made(atom)
    }

    /// Returns `max(f, 0)`.
    pub fn positive(&mut self, f: FormId) -> OrOverflow<FormId> {
        let (lo, hi) = self.range(f);
        if lo >= 0 {
            return Ok(f);
        }
        if hi <= 0 {
            return Ok(self.constant(0));
        }
        let out = self.positive_new(f, hi)?;
        self.rectified.entry(out).or_insert(f);
        Ok(out)
    }

    fn positive_new(&mut self, f: FormId, hi: i128) -> OrOverflow<FormId> {
        let g = self.content(f);
        if g > 1 {
            // f = g y + r with 0 <= r < g: f is negative if and only if y is.
            let r = self.constant_of(f).rem_euclid(g);
            let y = self.divided(f, g)?;
            let p = self.positive(y)?;
            let p = self.scale(p, g)?;
            let below = self.negative(y)?;
            let above = self.complement(below)?;
            let out = self.linear(p, r, above)?;
            self.narrow(out, (0, hi));
            return Ok(out);
        }
        if self.leads_negative(f) {
            // max(f, 0) = f + max(-f, 0).
            let minus = self.scale(f, -1)?;
            let p = self.positive(minus)?;
            let out = self.add(f, p)?;
            self.narrow(out, (0, hi));
            return Ok(out);
        }
        if let Some(out) = self.table_value(f, |v| Ok(v.max(0)))? {
            return Ok(out);
        }
        if let Some((a, 1)) = self.only(f) {
            let constant = self.constant_of(f);
            match self.atom(a).clone() {
                Atom::Value(x) if !self.taking_apart && self.is_plain_floor(x) => {
                    let x = self.offset(x, constant)?;
                    if let Some((whole, k)) = self.merged(x, 0)? {
                        let above = self.positive(whole)?;
                        return self.floor(above, k);
                    }
                }
                _ => {}
            }
        }
        if let Some((whole, k)) = self.merged(f, 0)? {
            let above = self.positive(whole)?;
            return self.floor(above, k);
        }
        let minus = self.scale(f, -1)?;
        if let Some((whole, k)) = self.merged(minus, 0)? {
            let above = self.positive(whole)?;
            let above = self.floor(above, k)?;
            return self.add(f, above);
        }
        let atom = self.intern(Atom::Positive(f), (0, hi));
        self.made(atom)
    }

    /// Returns `Some(true)` if a condition implies that `f` is negative, `Some(false)` if it implies the opposite; zero
    /// counts as either.
    pub(super) fn sign_told(&mut self, cond: FormId, f: FormId) -> OrOverflow<Option<bool>> {
        let below = self.negative(f)?;
        if below == cond {
            return Ok(Some(true));
        }
        let minus = self.scale(f, -1)?;
        let above = self.negative(minus)?;
        if above == cond {
            return Ok(Some(false));
        }
        let other = self.complement(cond)?;
        Ok(if below == other {
            Some(false)
        } else if above == other {
            Some(true)
        } else {
            None
        })
    }
}
