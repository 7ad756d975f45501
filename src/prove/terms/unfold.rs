//! Named values taken apart again, where two forms name different ones.

use super::{Atom, AtomId, Beyond, Fit, FormId, Sum, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

/// How often names are replaced by what they mean.
const ROUNDS: u32 = 4;
/// Forms beyond this many atoms are not taken apart.
const MAX_ATOMS: usize = 2_000;
/// Depth of atoms within atoms.
const MAX_DEPTH: u32 = 200;

impl Terms {
    /// The named values that a form speaks of, without those that these stand for.
    fn spoken(&self, f: FormId) -> Fit<FxHashSet<AtomId>> {
        let mut values: FxHashSet<AtomId> = FxHashSet::default();
        let mut seen: FxHashSet<AtomId> = FxHashSet::default();
        let mut stack: Vec<AtomId> = self.terms(f).map(|t| t.0).collect();
        while let Some(a) = stack.pop() {
            if !seen.insert(a) {
                continue;
            }
            if seen.len() > MAX_ATOMS {
                return Err(Beyond);
            }
            if matches!(self.atom(a), Atom::Value(_)) {
                values.insert(a);
                continue;
            }
            let (forms, atoms) = self.parts(a);
            stack.extend(atoms);
            stack.extend(forms.iter().flat_map(|&f| self.terms(f).map(|t| t.0)));
        }
        Ok(values)
    }

    /// Whether two forms are equal modulo `2^width` once values that only one of them names are taken apart.
    pub fn same_unfolded(&mut self, f: FormId, g: FormId, width: u32) -> Fit<bool> {
        let (mut f, mut g) = (f, g);
        for _ in 0..ROUNDS {
            if self.difference(f, g, width)?.is_none() {
                return Ok(true);
            }
            let (in_f, in_g) = (self.spoken(f)?, self.spoken(g)?);
            let only: FxHashSet<AtomId> = in_f.symmetric_difference(&in_g).copied().collect();
            if only.is_empty() {
                return Ok(false);
            }
            let mut memo = FxHashMap::default();
            f = self.unfolded(f, &only, &mut memo, 0)?;
            g = self.unfolded(g, &only, &mut memo, 0)?;
        }
        Ok(self.difference(f, g, width)?.is_none())
    }

    /// The form with these names replaced by what they mean.
    fn unfolded(
        &mut self,
        f: FormId,
        names: &FxHashSet<AtomId>,
        memo: &mut FxHashMap<FormId, FormId>,
        depth: u32,
    ) -> Fit<FormId> {
        if let Some(&known) = memo.get(&f) {
            return Ok(known);
        }
        if depth > MAX_DEPTH {
            return Err(Beyond);
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
    ) -> Fit<FormId> {
        let mut inner = |t: &mut Terms, x: FormId| t.unfolded(x, names, memo, depth);
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
                let forms = forms.iter().map(|&x| inner(self, x)).collect::<Fit<Vec<_>>>()?;
                self.and(&forms)
            }
            Atom::Table(x, t) => {
                let y = inner(self, x)?;
                // The table covers the range that the argument had.
                self.narrow(y, self.range(x));
                self.table_of(y, t.first, t.values.clone())
            }
        }
    }
}
