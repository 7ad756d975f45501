//! Functions that are represented by look-up tables.

use super::super::samples::{Derived, LANES, Samples};
use super::super::{Atom, AtomId, FormId, LinearForms, OrOverflow, Overflow, RuleSet, Sum, Table, add, mul};
use super::{gcd, residue};
use std::sync::Arc;

/// Largest number of arguments of a function that is represented by a table.
const MAX_TABLE: i128 = 1 << 20;
/// Largest number of arguments of a function of a table that becomes one table.
const SMALL_TABLE: i128 = 1 << 12;
/// Largest number of atoms in a function of one value.
const MAX_BASE: usize = 64;
/// A value, and atoms that are functions of this value although their definitions contain other values.
type Base = (AtomId, Vec<(AtomId, Derived)>);

impl LinearForms {
    /// Returns the argument, the table, a factor and an offset of an atom that is a table, or the name of one; `None`
    /// for other atoms.
    fn table_behind(&self, a: AtomId) -> Option<(FormId, Arc<Table>, i128, i128)> {
        match self.atom(a) {
            Atom::Table(x, t) => Some((*x, t.clone(), 1, 0)),
            Atom::Value(y) if self.rules() != RuleSet::Bits => {
                let (inner, factor) = self.only(*y)?;
                let Atom::Table(x, t) = self.atom(inner) else { return None };
                Some((*x, t.clone(), factor, self.constant_of(*y)))
            }
            _ => None,
        }
    }

    /// Merges several tables of one argument in a sum into one table.
    pub(super) fn join_tables(&mut self, sum: &mut Sum) -> OrOverflow<()> {
        loop {
            let mut arguments: Vec<(FormId, usize)> = Vec::new();
            let mut pair = None;
            for (i, &(a, _)) in sum.terms.iter().enumerate() {
                let Some((x, ..)) = self.table_behind(a) else { continue };
                // A sum has few tables, so a plain search over pairs is sufficient.
                if let Some(&(_, j)) = arguments.iter().find(|known| known.0 == x) {
                    pair = Some((j, i));
                    break;
                }
                arguments.push((x, i));
            }
            let Some((i, j)) = pair else { return self.join_signs(sum, &arguments) };
            let ((a, c), (b, d)) = (sum.terms[i], sum.terms[j]);
            let (Some((x, s, fs, ks)), Some((_, t, ft, kt))) = (self.table_behind(a), self.table_behind(b)) else {
                return Err(Overflow);
            };
            sum.terms.remove(j);
            sum.terms.remove(i);
            let first = s.first.max(t.first);
            let last = (s.first + s.values.len() as i128).min(t.first + t.values.len() as i128);
            let mut values = Vec::new();
            for at in first..last {
                let (u, v) = (s.values[(at - s.first) as usize], t.values[(at - t.first) as usize]);
                let (u, v) = (add(mul(fs, u)?, ks)?, add(mul(ft, v)?, kt)?);
                values.push(add(mul(c, u)?, mul(d, v)?)?);
            }
            self.work += values.len() as u64;
            let joined = self.table_of(x, first, values)?;
            self.put(sum, joined)?;
        }
    }

    /// Adds a form to a sum; both may have the same terms.
    pub(super) fn put(&self, sum: &mut Sum, f: FormId) -> OrOverflow<()> {
        sum.constant = add(sum.constant, self.constant_of(f))?;
        for (atom, factor) in self.terms(f) {
            match sum.terms.binary_search_by_key(&atom, |t| t.0) {
                Ok(at) => {
                    sum.terms[at].1 = add(sum.terms[at].1, factor)?;
                    if sum.terms[at].1 == 0 {
                        sum.terms.remove(at);
                    }
                }
                Err(at) => sum.terms.insert(at, (atom, factor)),
            }
        }
        Ok(())
    }

    /// Merges a table and the sign of its argument in a sum into one table. `arguments` has the arguments of the sum's
    /// tables, and the positions of the tables.
    fn join_signs(&mut self, sum: &mut Sum, arguments: &[(FormId, usize)]) -> OrOverflow<()> {
        // The positions of tables change with the first replacement, so tables are searched by their atoms.
        let tables: Vec<(FormId, AtomId)> = arguments.iter().map(|&(x, i)| (x, sum.terms[i].0)).collect();
        for (x, table) in tables {
            let below = self.negative(x)?;
            let Some((sign, s)) = self.only(below) else { continue };
            let (Ok(i), Ok(j)) =
                (sum.terms.binary_search_by_key(&table, |t| t.0), sum.terms.binary_search_by_key(&sign, |t| t.0))
            else {
                continue;
            };
            let (c, d) = (sum.terms[i].1, sum.terms[j].1);
            if d % s != 0 {
                continue;
            }
            let Some((_, t, factor, offset)) = self.table_behind(table) else { continue };
            sum.terms.remove(i.max(j));
            sum.terms.remove(i.min(j));
            let mut values = Vec::with_capacity(t.values.len());
            for (at, &v) in (t.first..).zip(&t.values) {
                let v = mul(c, add(mul(factor, v)?, offset)?)?;
                let bit = i128::from(at < 0) - self.constant_of(below);
                values.push(add(v, mul(d / s, bit)?)?);
            }
            self.work += values.len() as u64;
            let joined = self.table_of(x, t.first, values)?;
            self.put(sum, joined)?;
        }
        Ok(())
    }

    /// Returns the argument, its first value, and the values of a form with one term that is a table or the name of a
    /// table; `None` for other forms.
    pub(super) fn as_table(&self, f: FormId) -> Option<(FormId, i128, OrOverflow<Vec<i128>>)> {
        let (atom, factor) = self.only(f)?;
        let (x, t, inside, offset) = self.table_behind(atom)?;
        let constant = self.constant_of(f);
        let value = |&v: &i128| add(mul(add(mul(v, inside)?, offset)?, factor)?, constant);
        Some((x, t.first, t.values.iter().map(value).collect()))
    }

    /// Returns a function of a form that is a table; `None` for other forms.
    pub(super) fn table_value(
        &mut self,
        f: FormId,
        function: impl Fn(i128) -> OrOverflow<i128>,
    ) -> OrOverflow<Option<FormId>> {
        let Some((x, first, values)) = self.as_table(f) else { return Ok(None) };
        let values = values?.into_iter().map(function).collect::<OrOverflow<Vec<_>>>()?;
        self.work += values.len() as u64;
        self.table_of(x, first, values).map(Some)
    }

    /// Returns the form of `function(x)`, from the values of the function for every value of a form `x`.
    pub fn table(&mut self, x: FormId, mut function: impl FnMut(i128) -> OrOverflow<i128>) -> OrOverflow<FormId> {
        let (lo, hi) = self.range(x);
        if hi - lo >= MAX_TABLE {
            return Err(Overflow);
        }
        let values = (lo..=hi).map(&mut function).collect::<OrOverflow<Vec<_>>>()?;
        self.work += values.len() as u64;
        self.table_of(x, lo, values)
    }

    /// Returns the function of `x` that has these values from `first` up, which cover the range of `x`.
    pub(in crate::linear_forms) fn table_of(
        &mut self,
        x: FormId,
        first: i128,
        values: Vec<i128>,
    ) -> OrOverflow<FormId> {
        let (lo, hi) = self.range(x);
        if lo < first || hi - first >= values.len() as i128 {
            return Err(Overflow);
        }
        let at = |v: i128| values[(v - first) as usize];
        if lo == hi {
            return Ok(self.constant(at(lo)));
        }
        // x = sign * g y + c.
        let (g, c) = (self.content(x), self.constant_of(x));
        let g = if self.leads_negative(x) { -g } else { g };
        if g != 1 || c != 0 {
            let mut sum = self.sum_of(x);
            sum.constant = 0;
            sum.terms.iter_mut().for_each(|t| t.1 /= g);
            let y = self.form(&sum)?;
            let ends = if g > 0 {
                ((lo - c + g - 1).div_euclid(g), (hi - c).div_euclid(g))
            } else {
                (-((hi - c).div_euclid(-g)), -((lo - c - g - 1).div_euclid(-g)))
            };
            self.narrow(y, ends);
            return self.table(y, |v| {
                let v = add(mul(g, v)?, c)?;
                Ok(at(v.clamp(lo, hi)))
            });
        }
        let step = at(lo + 1) - at(lo);
        if (lo..hi).all(|v| at(v + 1) - at(v) == step) {
            let start = add(at(lo), -mul(step, lo)?)?;
            let out = self.scale(x, step)?;
            return self.offset(out, start);
        }
        if let Some((base, derived)) = self.base_of(x)? {
            let (from, to) = self.atom_range(base);
            let mut values = Vec::with_capacity((to - from + 1) as usize);
            for start in (from..=to).step_by(LANES) {
                let found = Samples::consecutive(self, base, &derived, start).lanes(self, x);
                let block = found.iter().take((to - start + 1).min(LANES as i128) as usize);
                values.extend(block.map(|&v| at(v.clamp(lo, hi))));
            }
            self.work += values.len() as u64;
            let base = self.single(base)?;
            return self.table_of(base, from, values);
        }
        if let Some((a, 1)) = self.only(x) {
            match self.atom(a).clone() {
                Atom::Table(y, t) => {
                    let inner = t.values.iter().map(|&v| at(v.clamp(lo, hi))).collect();
                    return self.table_of(y, t.first, inner);
                }
                Atom::Floor(y, k) if self.is_small(y) => {
                    return self.table(y, |v| Ok(at((v >> k).clamp(lo, hi))));
                }
                Atom::Positive(y) if self.is_small(y) => return self.table(y, |v| Ok(at(v.max(0).clamp(lo, hi)))),
                _ => {}
            }
        }
        // Tables that differ only by a factor and an offset have one representative.
        let start = at(lo);
        let content = (lo..=hi).fold(0, |g, v| gcd(g, at(v) - start));
        let lead = (lo..=hi).map(|v| at(v) - start).find(|d| *d != 0).unwrap_or(1);
        let content = if lead < 0 { -content } else { content };
        let values: Vec<i128> = (lo..=hi).map(|v| (at(v) - start) / content).collect();
        let ends = values.iter().fold((0, 0), |(l, h), &v| (v.min(l), v.max(h)));
        let atom = self.intern(Atom::Table(x, Arc::new(Table { first: lo, values })), ends);
        let out = self.made(atom)?;
        let out = self.scale(out, content)?;
        self.offset(out, start)
    }

    /// Returns `true` if a form is zero modulo `2^w` for every value of the only value with a small range on which it
    /// depends: a form of tables of that value and of its sign. Returns `false` also if no such value exists.
    pub fn vanishes_by_value(&mut self, f: FormId, w: u32) -> OrOverflow<bool> {
        let f = self.reduced(f, w)?;
        let Some((base, derived)) = self.base_of(f)? else { return Ok(false) };
        let (from, to) = self.atom_range(base);
        for start in (from..=to).step_by(LANES) {
            self.work += LANES as u64;
            // Lanes beyond the last value repeat it.
            let found = Samples::consecutive(self, base, &derived, start).lanes(self, f);
            if found.iter().any(|&v| residue(v, w) != 0) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns `true` if a form is a single table, not a sum.
    pub fn is_table(&self, f: FormId) -> bool {
        self.as_table(f).is_some()
    }

    /// Returns the only value with a small range on which a form depends, if the value is not the form itself: an
    /// input, otherwise a name. For a name, also returns its sign and its bits if positive, in case they are atoms of
    /// other values, such as those of a number without its low bits. Returns `None` if there is no such value.
    fn base_of(&mut self, x: FormId) -> OrOverflow<Option<Base>> {
        let itself = self.only(x).map(|t| t.0);
        let start: Vec<AtomId> = self.terms(x).map(|t| t.0).collect();
        for through_names in [true, false] {
            let Some((base, open)) = self.only_leaf(start.clone(), itself, through_names) else { continue };
            let (lo, hi) = self.atom_range(base);
            if hi - lo >= SMALL_TABLE || Some(base) == itself {
                continue;
            }
            let derived = if open.is_empty() { Vec::new() } else { self.derived(base, &open)? };
            // All other atoms must be functions of the base.
            let others = open.iter().filter(|&&a| !derived.iter().any(|d| d.0 == a));
            if others.into_iter().all(|&a| {
                let inside = self.parts(a).0.iter().flat_map(|&f| self.terms(f).map(|t| t.0)).collect();
                self.only_leaf(inside, itself, false).is_some_and(|(b, more)| b == base && more.is_empty())
            }) {
                return Ok(Some((base, derived)));
            }
        }
        Ok(None)
    }

    /// Returns the given atoms that are the sign of a name, or bits of the name if it is positive.
    fn derived(&mut self, name: AtomId, open: &[AtomId]) -> OrOverflow<Vec<(AtomId, Derived)>> {
        let name = self.single(name)?;
        let below = self.negative(name)?;
        let above = self.positive(name)?;
        let mut out = Vec::new();
        match (self.only(below), self.constant_of(below)) {
            (Some((a, 1)), 0) => out.push((a, Derived::Sign)),
            (Some((a, -1)), 1) => out.push((a, Derived::Opposite)),
            _ => {}
        }
        if let Some((a, 1)) = self.only(above)
            && self.constant_of(above) == 0
            && let Atom::Floor(whole, k) = *self.atom(a)
        {
            for &b in open {
                if let Atom::Floor(x, m) = *self.atom(b)
                    && x == whole
                    && m >= k
                {
                    out.push((b, Derived::Above(m - k)));
                }
            }
        }
        Ok(out)
    }

    /// Returns the only input or name on which some atoms depend, with names expanded or not. Also returns the visited
    /// atoms that may be its sign, or its bits if it is positive.
    fn only_leaf(
        &self,
        mut seen: Vec<AtomId>,
        itself: Option<AtomId>,
        through_names: bool,
    ) -> Option<(AtomId, Vec<AtomId>)> {
        let mut base = None;
        let mut open = Vec::new();
        let mut at = 0;
        while at < seen.len() {
            if seen.len() >= MAX_BASE {
                return None;
            }
            let a = seen[at];
            at += 1;
            match self.atom(a) {
                Atom::Value(_) if through_names || Some(a) == itself => {}
                Atom::Free(_) | Atom::Value(_) => {
                    if base.is_some_and(|b| b != a) {
                        return None;
                    }
                    base = Some(a);
                    continue;
                }
                Atom::Negative(_) if !through_names => {
                    open.push(a);
                    continue;
                }
                Atom::Floor(x, _)
                    if !through_names && self.terms(*x).any(|(b, _)| matches!(self.atom(b), Atom::Positive(_))) =>
                {
                    open.push(a);
                    continue;
                }
                _ => {}
            }
            let (forms, atoms) = self.parts(a);
            let inside = forms.iter().flat_map(|&f| self.terms(f).map(|t| t.0)).chain(atoms);
            for b in inside {
                if !seen.contains(&b) {
                    seen.push(b);
                }
            }
        }
        base.map(|b| (b, open))
    }

    fn is_small(&self, f: FormId) -> bool {
        let (lo, hi) = self.range(f);
        self.len(f) == 1 && hi - lo < SMALL_TABLE
    }
}
