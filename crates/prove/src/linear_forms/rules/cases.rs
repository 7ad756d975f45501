//! Case distinctions by a bit of a form.

use super::super::{Atom, AtomId, FormId, LinearForms, OrOverflow, Range, Sum, add, mul};

/// Largest number of terms of a form that is analysed in both cases of a bit.
const MAX_CASES: usize = 12;

impl LinearForms {
    /// Returns a property of a form as a form over one bit, if the form contains a bit such that the property is
    /// constant in each case of the bit. `told` derives the property from a range. An example is the sign of a form in
    /// which a bit selects a summand. Returns `None` if there is no such bit.
    pub(super) fn by_cases(&mut self, f: FormId, told: impl Fn(Range) -> Option<i128>) -> OrOverflow<Option<FormId>> {
        if self.len(f) > MAX_CASES {
            return Ok(None);
        }
        let mut bits: Vec<FormId> = Vec::new();
        for (a, _) in self.terms(f).collect::<Vec<_>>() {
            let found = match self.atom(a).clone() {
                Atom::If(c, _) => vec![c],
                Atom::Monomial(factors) => {
                    let small = factors.iter().copied().filter(|&b| self.atom_range(b) == (0, 1)).collect::<Vec<_>>();
                    small.into_iter().map(|b| self.single(b)).collect::<OrOverflow<_>>()?
                }
                _ if self.atom_range(a) == (0, 1) => vec![self.single(a)?],
                _ => vec![],
            };
            for bit in found {
                if !bits.contains(&bit) {
                    bits.push(bit);
                }
            }
        }
        for bit in bits {
            let mut ends = [None; 2];
            for (value, end) in [false, true].into_iter().zip(&mut ends) {
                let case = self.in_case(f, bit, value)?;
                let range = self.bounds(case)?;
                *end = told(range);
                if end.is_none() {
                    *end = told(self.bounds_by_sign(case, bit, value, range)?);
                }
            }
            if let [Some(no), Some(yes)] = ends {
                let out = self.scale(bit, add(yes, -no)?)?;
                return self.offset(out, no).map(Some);
            }
        }
        Ok(None)
    }

    /// Returns the bounds of a form, also from its negative, and from both without their constant.
    fn bounds(&mut self, f: FormId) -> OrOverflow<Range> {
        let mut range = self.range(f);
        let constant = self.constant_of(f);
        let plain = self.offset(f, -constant)?;
        let minus = self.scale(plain, -1)?;
        let (lo, hi) = self.range(plain);
        range = (range.0.max(lo + constant), range.1.min(hi + constant));
        let (lo, hi) = self.range(minus);
        Ok((range.0.max(constant - hi), range.1.min(constant - lo)))
    }

    /// Returns bounds of a form in one case of a bit. They are narrower than `range` if the bit is the sign of a number
    /// that the form contains as a summand: the number is negative in one case only.
    fn bounds_by_sign(&mut self, f: FormId, bit: FormId, value: bool, range: Range) -> OrOverflow<Range> {
        let Some((a, sign)) = self.only(bit).filter(|t| t.1.abs() == 1) else { return Ok(range) };
        let Atom::Negative(y) = *self.behind(a) else { return Ok(range) };
        let is_negative = sign * (i128::from(value) - self.constant_of(bit)) == 1;
        let (lo, hi) = self.range(y);
        let number = if is_negative { (lo, hi.min(-1)) } else { (lo.max(0), hi) };
        // The factor of the number in the form is given by its newest atom.
        let Some((newest, inside)) = self.terms(y).last() else { return Ok(range) };
        let factor = self.terms(f).find(|t| t.0 == newest).map_or(0, |t| t.1);
        if factor == 0 || factor % inside != 0 || number.0 > number.1 {
            return Ok(range);
        }
        let factor = factor / inside;
        let rest = self.linear(f, -factor, y)?;
        let (lo, hi) = self.bounds(rest)?;
        let (x, y) = (mul(number.0, factor)?, mul(number.1, factor)?);
        Ok((range.0.max(add(lo, x.min(y))?), range.1.min(add(hi, x.max(y))?)))
    }

    /// Returns the form in one case of a bit, as far as its terms contain the bit.
    fn in_case(&mut self, f: FormId, bit: FormId, value: bool) -> OrOverflow<FormId> {
        // The bit may be an atom, an atom plus a constant, or the negative of an atom.
        let itself = self.only(bit).filter(|t| t.1.abs() == 1);
        let known = itself.map(|(a, factor)| (a, factor * (i128::from(value) - self.constant_of(bit))));
        let atom = itself.filter(|t| t.1 == 1 && self.constant_of(bit) == 0).map(|t| t.0);
        // A bit of several terms that is a summand of the form.
        let mut f = f;
        let newest = self.terms(bit).last().filter(|_| itself.is_none());
        let times = newest.and_then(|(newest, inside)| {
            let factor = self.terms(f).find(|t| t.0 == newest)?.1;
            (factor % inside == 0).then_some(factor / inside)
        });
        if let Some(factor) = times {
            let rest = self.linear(f, -factor, bit)?;
            f = self.offset(rest, mul(factor, i128::from(value))?)?;
        }
        let Sum { terms, constant } = self.sum_of(f);
        let mut out = self.constant(constant);
        for (a, factor) in terms {
            let part = match self.atom(a).clone() {
                _ if known.is_some_and(|k| k.0 == a) => self.constant(known.map_or(0, |k| k.1)),
                Atom::If(c, x) if c == bit => {
                    if value {
                        x
                    } else {
                        self.constant(0)
                    }
                }
                Atom::Monomial(factors) if atom.is_some_and(|b| factors.contains(&b)) => {
                    let mut part = self.constant(i128::from(value));
                    if value {
                        for &b in factors.iter().filter(|&&b| Some(b) != atom) {
                            let b = self.single(b)?;
                            part = self.times(part, b)?;
                        }
                    }
                    part
                }
                _ => self.single(a)?,
            };
            out = self.linear(out, factor, part)?;
        }
        Ok(out)
    }

    /// Returns the condition of the only choice among the terms, and the form in both cases; `None` if there is not
    /// exactly one.
    pub(super) fn one_choice(&mut self, f: FormId) -> OrOverflow<Option<(FormId, FormId, FormId)>> {
        if self.len(f) > 16 {
            return Ok(None);
        }
        let mut found = None;
        for (a, c) in self.terms(f) {
            if matches!(self.atom(a), Atom::If(..) | Atom::Positive(_)) {
                if found.is_some() {
                    return Ok(None);
                }
                found = Some((a, c));
            }
        }
        let Some((a, c)) = found else { return Ok(None) };
        let mut rest = self.sum_of(f);
        rest.terms.retain(|t| t.0 != a);
        let rest = self.form(&rest)?;
        match self.atom(a).clone() {
            Atom::If(cond, x) => Ok(Some((cond, self.linear(rest, c, x)?, rest))),
            Atom::Positive(x) => {
                let cond = self.negative(x)?;
                let other = self.linear(rest, c, x)?;
                Ok(Some((cond, rest, other)))
            }
            _ => Ok(None),
        }
    }

    /// Returns the bit, and the form in both cases, if a term is a bit times a choice, such as a conditional complement
    /// of a selected word. Returns `None` otherwise.
    pub(super) fn by_factor(&mut self, f: FormId) -> OrOverflow<Option<(FormId, FormId, FormId)>> {
        if self.len(f) > MAX_CASES || !self.rules().has_names() {
            return Ok(None);
        }
        let is_choice = |a: &AtomId| matches!(self.atom(*a), Atom::If(..) | Atom::Positive(_));
        let bit = self.terms(f).find_map(|(a, _)| match self.atom(a) {
            Atom::Monomial(factors) if factors.iter().any(is_choice) => {
                factors.iter().copied().find(|&b| self.atom_range(b) == (0, 1) && !is_choice(&b))
            }
            _ => None,
        });
        let Some(bit) = bit else { return Ok(None) };
        let cond = self.single(bit)?;
        let (yes, no) = (self.in_case(f, cond, true)?, self.in_case(f, cond, false)?);
        Ok(Some((cond, yes, no)))
    }
}
