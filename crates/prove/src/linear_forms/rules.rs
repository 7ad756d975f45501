//! Operations on forms. Each operation is an identity over the integers; the rules convert the usual implementations of
//! the same hardware to the same form.

mod cases;
mod choices;
mod floors;
mod products;
mod signs;
mod tables;

use super::{AtomId, FormId, LinearForms, OrOverflow, Sum, add, mul};

/// Largest number of terms of a form built by expanding floors.
const MAX_MERGED: usize = 2_000;

/// Returns the greatest common divisor of the magnitudes; if one number is 0, the magnitude of the other one.
pub(super) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Returns `v` modulo `2^w` in `(-2^(w-1), 2^(w-1)]`.
fn residue(v: i128, w: u32) -> i128 {
    if w == 0 {
        return 0;
    }
    if w >= 126 {
        return v;
    }
    let low = v & ((1 << w) - 1);
    if low > 1 << (w - 1) { low - (1 << w) } else { low }
}

impl LinearForms {
    /// Returns `f + factor * g`.
    pub fn linear(&mut self, f: FormId, factor: i128, g: FormId) -> OrOverflow<FormId> {
        if factor == 0 {
            return Ok(f);
        }
        let mut out = Sum {
            terms: Vec::with_capacity(self.len(f) + self.len(g)),
            constant: add(self.constant_of(f), mul(factor, self.constant_of(g))?)?,
        };
        {
            let (mut a, mut b) = (self.terms(f).peekable(), self.terms(g).peekable());
            loop {
                match (a.peek().copied(), b.peek().copied()) {
                    (Some((x, c)), Some((y, d))) if x == y => {
                        let sum = add(c, mul(factor, d)?)?;
                        if sum != 0 {
                            out.terms.push((x, sum));
                        }
                        a.next();
                        b.next();
                    }
                    (Some((x, c)), other) if other.is_none_or(|(y, _)| x < y) => {
                        out.terms.push((x, c));
                        a.next();
                    }
                    (_, Some((y, d))) => {
                        out.terms.push((y, mul(factor, d)?));
                        b.next();
                    }
                    _ => break,
                }
            }
        }
        if self.tables > 1 {
            self.join_tables(&mut out)?;
        }
        if !self.rounded.is_empty() {
            self.join_halves(&mut out)?;
        }
        let id = self.form(&out)?;
        let (r, s) = (self.range(f), self.range(g));
        let (x, y) = (mul(s.0, factor)?, mul(s.1, factor)?);
        self.narrow(id, (add(r.0, x.min(y))?, add(r.1, x.max(y))?));
        Ok(id)
    }

    /// Returns `f + g`.
    pub fn add(&mut self, f: FormId, g: FormId) -> OrOverflow<FormId> {
        self.linear(f, 1, g)
    }

    /// Returns `f - g`.
    pub fn sub(&mut self, f: FormId, g: FormId) -> OrOverflow<FormId> {
        self.linear(f, -1, g)
    }

    /// Returns `f + c`.
    pub fn offset(&mut self, f: FormId, c: i128) -> OrOverflow<FormId> {
        if c == 0 {
            return Ok(f);
        }
        let c = self.constant(c);
        self.linear(f, 1, c)
    }

    /// Returns `factor * f`.
    pub fn scale(&mut self, f: FormId, factor: i128) -> OrOverflow<FormId> {
        if factor == 1 {
            return Ok(f);
        }
        let zero = self.constant(0);
        self.linear(zero, factor, f)
    }

    /// Returns the only term of a form; `None` if the number of terms is not one.
    pub(super) fn only(&self, f: FormId) -> Option<(AtomId, i128)> {
        if self.len(f) == 1 { self.terms(f).next() } else { None }
    }

    /// Returns the greatest common divisor of the factors; 0 for a constant.
    pub(super) fn content(&self, f: FormId) -> i128 {
        let mut g = 0;
        for (_, c) in self.terms(f) {
            g = gcd(g, c);
            if g == 1 {
                break;
            }
        }
        g
    }

    /// Returns `true` if the factor of the newest atom is negative.
    fn leads_negative(&self, f: FormId) -> bool {
        self.terms(f).last().is_some_and(|(_, c)| c < 0)
    }

    /// Returns the form with every factor divided by the common divisor `g`, and the constant divided and rounded down.
    pub(super) fn divided(&mut self, f: FormId, g: i128) -> OrOverflow<FormId> {
        if g == 1 {
            return Ok(f);
        }
        let mut sum = self.sum_of(f);
        sum.constant = sum.constant.div_euclid(g);
        sum.terms.iter_mut().for_each(|t| t.1 /= g);
        let id = self.form(&sum)?;
        // x = g y + r with 0 <= r < g: y = floor(x / g).
        let (lo, hi) = self.range(f);
        self.narrow(id, (lo.div_euclid(g), hi.div_euclid(g)));
        Ok(id)
    }

    /// Returns the form with its factors reduced modulo `2^w` to least magnitude.
    pub fn reduced(&mut self, f: FormId, w: u32) -> OrOverflow<FormId> {
        if w >= 120 {
            return Ok(f);
        }
        let mut sum = self.sum_of(f);
        sum.terms.iter_mut().for_each(|t| t.1 = residue(t.1, w));
        sum.terms.retain(|t| t.1 != 0);
        self.form(&sum)
    }

    /// Returns `true` if two forms are equal modulo `2^w` term by term.
    pub fn same(&mut self, f: FormId, g: FormId, w: u32) -> OrOverflow<bool> {
        Ok(f == g || self.difference(f, g, w)?.is_none())
    }

    /// Returns `f - g` modulo `2^w`, reduced; `None` if it is zero.
    pub fn difference(&mut self, f: FormId, g: FormId, w: u32) -> OrOverflow<Option<FormId>> {
        if f == g || w == 0 {
            return Ok(None);
        }
        let d = self.sub(f, g)?;
        let r = self.reduced(d, w)?;
        let zero = self.terms(r).len() == 0 && residue(self.constant_of(r), w) == 0;
        Ok((!zero).then_some(r))
    }
}
