//! Expansion of names for the comparison of two forms that contain different names.

use super::{Atom, AtomId, FormId, LinearForms, OrOverflow, Overflow, Sum};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of rounds that replace names by their definitions.
const ROUNDS: u32 = 4;
/// Maximum number of names that are replaced one by one.
const SINGLES: u32 = 8;
/// Largest number of atoms of a form that is expanded.
const MAX_ATOMS: usize = 2_000;
/// Largest nesting depth of atoms.
const MAX_DEPTH: u32 = 200;

/// Result of expanding the newest name of a form.
pub(super) enum Without {
    /// The form contains no name.
    NoName,
    /// The form is zero after the expansion.
    Nothing,
    /// The remaining form.
    Form(FormId),
}

impl LinearForms {
    /// Returns the free and named values that a form contains, without those in the definitions of the names.
    pub(super) fn spoken(&mut self, f: FormId) -> OrOverflow<FxHashSet<AtomId>> {
        let mut values: FxHashSet<AtomId> = FxHashSet::default();
        let mut seen: FxHashSet<AtomId> = FxHashSet::default();
        let mut stack: Vec<AtomId> = self.terms(f).map(|t| t.0).collect();
        while let Some(a) = stack.pop() {
            self.work += 1;
            if !seen.insert(a) {
                continue;
            }
            if seen.len() > MAX_ATOMS || self.is_spent() {
                return Err(Overflow);
            }
            if matches!(self.atom(a), Atom::Value(_) | Atom::Free(_)) {
                values.insert(a);
                continue;
            }
            let (forms, atoms) = self.parts(a);
            stack.extend(atoms);
            stack.extend(forms.iter().flat_map(|&f| self.terms(f).map(|t| t.0)));
        }
        Ok(values)
    }

    /// Returns `true` if a form is a function of a single name.
    pub fn speaks_of_one_name(&mut self, f: FormId) -> OrOverflow<bool> {
        let spoken = self.spoken(f)?;
        let mut names = spoken.iter();
        Ok(names.next().is_some_and(|&a| matches!(self.atom(a), Atom::Value(_))) && names.next().is_none())
    }

    /// Returns `true` if two forms are equal modulo `2^width` after the expansion of names that only one of them
    /// contains.
    pub fn same_unfolded(&mut self, f: FormId, g: FormId, width: u32) -> OrOverflow<bool> {
        self.apart(|t| t.same_apart(f, g, width))
    }

    fn same_apart(&mut self, f: FormId, g: FormId, width: u32) -> OrOverflow<bool> {
        // First expands the names whose definitions contain only other names of the difference.
        let Some(d) = self.difference(f, g, width)? else { return Ok(true) };
        if self.related_unfolded(d, width)? {
            return Ok(true);
        }
        // Then expands the newest names in the difference, as terms of older names often cancel afterwards.
        let Some(mut d) = self.difference(f, g, width)? else { return Ok(true) };
        let most = 2 * self.len(d) + 20;
        for _ in 0..SINGLES {
            let spoken = self.spoken(d)?;
            match self.without_newest(d, &spoken, width)? {
                Without::Nothing => return Ok(true),
                Without::Form(next) if self.len(next) <= most => d = next,
                Without::Form(_) | Without::NoName => break,
            }
        }
        // Finally expands all names that only one of the forms contains.
        let (mut f, mut g) = (f, g);
        for _ in 0..ROUNDS {
            let (in_f, in_g) = (self.spoken(f)?, self.spoken(g)?);
            let only = in_f.symmetric_difference(&in_g).copied();
            let only: FxHashSet<AtomId> = only.filter(|&a| matches!(self.atom(a), Atom::Value(_))).collect();
            if only.is_empty() {
                return Ok(false);
            }
            let mut memo = FxHashMap::default();
            f = self.unfolded(f, &only, &mut memo, 0)?;
            g = self.unfolded(g, &only, &mut memo, 0)?;
            if self.difference(f, g, width)?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Expands the newest name that occurs in a form modulo `2^width`; `spoken` contains the inputs and names of the
    /// form.
    pub(super) fn without_newest(&mut self, d: FormId, spoken: &FxHashSet<AtomId>, width: u32) -> OrOverflow<Without> {
        let names = spoken.iter().copied().filter(|&a| matches!(self.atom(a), Atom::Value(_)));
        let Some(newest) = names.max() else { return Ok(Without::NoName) };
        let unfolded = self.unfolded(d, &FxHashSet::from_iter([newest]), &mut FxHashMap::default(), 0)?;
        let zero = self.constant(0);
        Ok(self.difference(unfolded, zero, width)?.map_or(Without::Nothing, Without::Form))
    }

    /// Returns `true` if a form is zero modulo `2^width` after the expansion of names whose definitions contain only
    /// other inputs and names of the form.
    fn related_unfolded(&mut self, mut d: FormId, width: u32) -> OrOverflow<bool> {
        let zero = self.constant(0);
        for _ in 0..ROUNDS {
            let spoken = self.spoken(d)?;
            let mut names: FxHashSet<AtomId> = FxHashSet::default();
            for &a in &spoken {
                if let Atom::Value(x) = *self.atom(a)
                    && self.spoken(x)?.iter().all(|b| spoken.contains(b))
                {
                    names.insert(a);
                }
            }
            if names.is_empty() {
                return Ok(false);
            }
            let unfolded = self.unfolded(d, &names, &mut FxHashMap::default(), 0)?;
            match self.difference(unfolded, zero, width)? {
                None => return Ok(true),
                Some(next) => d = next,
            }
        }
        Ok(false)
    }

    /// Returns the form with these names replaced by their definitions.
    pub(super) fn unfolded(
        &mut self,
        f: FormId,
        names: &FxHashSet<AtomId>,
        memo: &mut FxHashMap<FormId, FormId>,
        depth: u32,
    ) -> OrOverflow<FormId> {
        if let Some(&known) = memo.get(&f) {
            return Ok(known);
        }
        if depth > MAX_DEPTH {
            return Err(Overflow);
        }
        let Sum { terms, constant } = self.sum_of(f);
        let mut out = self.constant(constant);
        for (a, factor) in terms {
            let part = self.unfolded_atom(a, names, memo, depth + 1)?;
            out = self.linear(out, factor, part)?;
        }
        self.narrow(out, self.range(f));
        memo.insert(f, out);
        Ok(out)
    }

    fn unfolded_atom(
        &mut self,
        a: AtomId,
        names: &FxHashSet<AtomId>,
        memo: &mut FxHashMap<FormId, FormId>,
        depth: u32,
    ) -> OrOverflow<FormId> {
        let mut inner = |t: &mut LinearForms, x: FormId| t.unfolded(x, names, memo, depth);
        match self.atom(a).clone() {
            Atom::Value(x) if names.contains(&a) => Ok(x),
            Atom::Free(_) | Atom::Value(_) => self.single(a),
            Atom::Floor(x, m) => {
                let x = inner(self, x)?;
                self.floor(x, m)
            }
            Atom::Negative(x) => {
                let x = inner(self, x)?;
                self.negative(x)
            }
            Atom::Zero(x) => {
                let x = inner(self, x)?;
                self.zero(x)
            }
            Atom::Positive(x) => {
                let x = inner(self, x)?;
                self.positive(x)
            }
            Atom::If(cond, x) => {
                let (cond, x) = (inner(self, cond)?, inner(self, x)?);
                self.times(cond, x)
            }
            Atom::Product(x, y) => {
                let (x, y) = (inner(self, x)?, inner(self, y)?);
                self.times(x, y)
            }
            Atom::Monomial(atoms) => {
                let mut out = self.constant(1);
                for &b in atoms.iter() {
                    let part = self.unfolded_atom(b, names, memo, depth + 1)?;
                    out = self.times(out, part)?;
                }
                Ok(out)
            }
            Atom::And(forms) => {
                let forms = forms.iter().map(|&x| inner(self, x)).collect::<OrOverflow<Vec<_>>>()?;
                self.and(&forms)
            }
            Atom::Table(x, t) => {
                let y = inner(self, x)?;
                // The table covers the previous range of the argument.
                self.narrow(y, self.range(x));
                self.table_of(y, t.first, t.values.clone())
            }
        }
    }
}
