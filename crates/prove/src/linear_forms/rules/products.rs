//! Rules for products and for the bitwise AND.

use super::super::polynomial::product_range;
use super::super::{Atom, AtomId, FormId, LinearForms, OrOverflow, Range, mul, power};
use super::gcd;

/// Largest number of terms of a product that is multiplied out.
const MAX_EXPANDED: usize = 256;

impl LinearForms {
    /// Returns the product of two atoms, each of which may be a product.
    pub(super) fn monomial(&mut self, a: AtomId, b: AtomId) -> OrOverflow<FormId> {
        let mut factors: Vec<AtomId> = Vec::new();
        for atom in [a, b] {
            match self.atom(atom) {
                Atom::Monomial(more) => factors.extend(more.iter()),
                _ => factors.push(atom),
            }
        }
        factors.sort_unstable();
        // Values 0 and 1 equal their own squares.
        let mut kept: Vec<AtomId> = Vec::new();
        for f in factors {
            if kept.last() == Some(&f) && self.atom_range(f) == (0, 1) {
                continue;
            }
            kept.push(f);
        }
        if self.signs_exclude(&mut kept)? {
            return Ok(self.constant(0));
        }
        if let [only] = kept[..] {
            return self.single(only);
        }
        let mut range: Range = (1, 1);
        let mut at = 0;
        while at < kept.len() {
            let run = kept[at..].iter().take_while(|f| **f == kept[at]).count();
            let (lo, hi) = self.atom_range(kept[at]);
            let mut part = (1, 1);
            for _ in 0..run {
                part = product_range(part, (lo, hi))?;
            }
            if run % 2 == 0 {
                part.0 = part.0.max(0);
            }
            range = product_range(range, part)?;
            at += run;
        }
        let atom = self.intern(Atom::Monomial(kept.into()), range);
        self.made(atom)
    }

    /// Removes signs that other signs imply: `f < 0` implies `f - 1 < 0`, so the second one is removed. Returns `true`
    /// if two signs exclude each other.
    fn signs_exclude(&mut self, factors: &mut Vec<AtomId>) -> OrOverflow<bool> {
        let signs: Vec<(AtomId, FormId)> = factors
            .iter()
            .filter_map(|&a| match *self.behind(a) {
                Atom::Negative(f) => Some((a, f)),
                _ => None,
            })
            .collect();
        for (at, &(a, f)) in signs.iter().enumerate() {
            for &(b, g) in &signs[..at] {
                let (sum, difference) = (self.add(f, g)?, self.sub(f, g)?);
                if self.range(sum).0 >= 0 {
                    return Ok(true);
                }
                let (lo, hi) = self.range(difference);
                if hi <= 0 {
                    factors.retain(|&x| x != a);
                } else if lo >= 0 {
                    factors.retain(|&x| x != b);
                }
            }
        }
        Ok(false)
    }

    /// Returns `f * g`.
    pub fn times(&mut self, f: FormId, g: FormId) -> OrOverflow<FormId> {
        if let Some(c) = self.as_const(f) {
            return self.scale(g, c);
        }
        if let Some(c) = self.as_const(g) {
            return self.scale(f, c);
        }
        if self.range(f) == (0, 1) {
            return self.when(f, g);
        }
        if self.range(g) == (0, 1) {
            return self.when(g, f);
        }
        let range = product_range(self.range(f), self.range(g))?;
        let (a, b) = (self.sum_of(f), self.sum_of(g));
        let out = if (a.terms.len() + 1) * (b.terms.len() + 1) <= MAX_EXPANDED {
            let mut out = self.constant(mul(a.constant, b.constant)?);
            out = self.linear(out, a.constant, g)?;
            let mut without = a.clone();
            without.constant = 0;
            let without = self.form(&without)?;
            out = self.linear(out, b.constant, without)?;
            // The first two lines counted the product of the constants twice.
            out = self.offset(out, -mul(a.constant, b.constant)?)?;
            for &(x, c) in &a.terms {
                for &(y, d) in &b.terms {
                    let product = self.monomial(x, y)?;
                    out = self.linear(out, mul(c, d)?, product)?;
                }
            }
            out
        } else {
            let mut factor = 1;
            let mut pair = [f, g];
            for x in &mut pair {
                let content = gcd(self.content(*x), self.constant_of(*x));
                let content = if self.leads_negative(*x) { -content } else { content };
                let mut sum = self.sum_of(*x);
                sum.constant /= content;
                sum.terms.iter_mut().for_each(|t| t.1 /= content);
                *x = self.form(&sum)?;
                factor = mul(factor, content)?;
            }
            pair.sort_unstable();
            let range = product_range(self.range(pair[0]), self.range(pair[1]))?;
            let atom = self.intern(Atom::Product(pair[0], pair[1]), range);
            let single = self.made(atom)?;
            self.scale(single, factor)?
        };
        self.narrow(out, range);
        if f == g {
            self.narrow(out, (0, range.1));
        }
        Ok(out)
    }

    /// Returns the bitwise and of two's complement numbers of unlimited width.
    pub fn and(&mut self, forms: &[FormId]) -> OrOverflow<FormId> {
        // Nested operations are merged; constants and common low zeros are moved out.
        let mut flat: Vec<FormId> = Vec::new();
        let mut mask: i128 = -1;
        for &f in forms {
            if let Some(c) = self.as_const(f) {
                mask &= c;
                continue;
            }
            match self.only(f) {
                Some((a, 1)) if self.constant_of(f) == 0 => match self.atom(a) {
                    Atom::And(more) => flat.extend(more.iter()),
                    _ => flat.push(f),
                },
                _ => flat.push(f),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        if mask == 0 {
            return Ok(self.constant(0));
        }
        if flat.is_empty() {
            return Ok(self.constant(mask));
        }
        if mask != -1 {
            // Each run of ones in the mask selects a bit field.
            let inner = self.and(&flat)?;
            let mut out = self.constant(0);
            let mut at = 0;
            while at < 120 {
                if mask >> at & 1 == 0 {
                    at += 1;
                    continue;
                }
                let length = (mask >> at).trailing_ones();
                let field = self.floor(inner, at)?;
                let field = if at + length >= 120 { field } else { self.value(field, length, false)? };
                out = self.linear(out, power(at)?, field)?;
                at += length;
            }
            return Ok(out);
        }
        if let [only] = flat[..] {
            return Ok(only);
        }
        let zeros = flat.iter().map(|&f| self.low_zeros(f)).max().unwrap_or(0).min(100);
        if zeros > 0 {
            let parts = flat.iter().map(|&f| self.floor(f, zeros)).collect::<OrOverflow<Vec<_>>>()?;
            let inner = self.and(&parts)?;
            return self.scale(inner, power(zeros)?);
        }
        // A condition repeated over all bits: -1 or 0.
        if let Some(at) = flat.iter().position(|&f| self.range(f) == (-1, 0)) {
            let cond = flat.remove(at);
            let cond = self.scale(cond, -1)?;
            let rest = self.and(&flat)?;
            return self.when(cond, rest);
        }
        // The and of single bits is their product.
        if let Some(at) = flat.iter().position(|&f| self.range(f) == (0, 1)) {
            let bit = flat.remove(at);
            let rest = self.and(&flat)?;
            let rest = self.value(rest, 1, false)?;
            return self.times(bit, rest);
        }
        let mut range: Option<Range> = None;
        let mut hull = (0, 0);
        for &f in &flat {
            let (lo, hi) = self.range(f);
            if lo >= 0 {
                range = Some((0, range.map_or(hi, |r: Range| r.1.min(hi))));
            }
            hull = (hull.0.min(lo), hull.1.max(hi));
        }
        let bits = 128 - hull.0.unsigned_abs().max(hull.1.unsigned_abs() + 1).leading_zeros();
        let range = match range {
            Some(r) => r,
            None => (-power(bits)?, power(bits)? - 1),
        };
        let atom = self.intern(Atom::And(flat.into()), range);
        self.made(atom)
    }

    fn low_zeros(&self, f: FormId) -> u32 {
        let c = self.constant_of(f);
        self.terms(f).map(|t| t.1.trailing_zeros()).min().unwrap_or(0).min(c.trailing_zeros())
    }
}
