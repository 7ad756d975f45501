//! Operations on forms. Each is an identity over the integers; together they are arranged so that the usual ways to
//! write the same hardware end in the same form.

use super::samples::{Derived, LANES, Samples};
use super::{Atom, AtomId, Beyond, Fit, FormId, MAX_ASKED, Range, Shape, Sum, Table, Terms, add, mul, power};
use std::sync::Arc;

/// Products of forms with up to this many terms are multiplied out.
const MAX_EXPANDED: usize = 256;
/// Floors taken apart make forms of up to this many terms.
const MAX_MERGED: usize = 2_000;
/// Floors by names within floors by names: a rule that merges floors may lead back to where it began.
const MAX_NAMED: u32 = 3;
/// A function is kept as a table for up to this many arguments.
const MAX_TABLE: i128 = 1 << 20;
/// A function of a function of a small argument becomes one table.
const SMALL_TABLE: i128 = 1 << 12;
/// Terms of a form that is looked at by the cases of a bit.
const MAX_CASES: usize = 12;
/// Atoms that a function of one value is made of at most.
const MAX_BASE: usize = 64;

/// A value, and atoms that are functions of it though they are made of other values.
type Base = (AtomId, Vec<(AtomId, Derived)>);
/// Factors and shifts of floors of one form, and a constant.
type Floors = (Vec<(i128, u32)>, i128);

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// `v` modulo `2^w` in `(-2^(w-1), 2^(w-1)]`.
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

impl Terms {
    /// `f + factor * g`.
    pub fn linear(&mut self, f: FormId, factor: i128, g: FormId) -> Fit<FormId> {
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
        let id = self.form(&out)?;
        let (r, s) = (self.range(f), self.range(g));
        let (x, y) = (mul(s.0, factor)?, mul(s.1, factor)?);
        self.narrow(id, (add(r.0, x.min(y))?, add(r.1, x.max(y))?));
        Ok(id)
    }

    /// `f + g`.
    pub fn add(&mut self, f: FormId, g: FormId) -> Fit<FormId> {
        self.linear(f, 1, g)
    }

    /// `f - g`.
    pub fn sub(&mut self, f: FormId, g: FormId) -> Fit<FormId> {
        self.linear(f, -1, g)
    }

    /// `f + c`.
    pub fn offset(&mut self, f: FormId, c: i128) -> Fit<FormId> {
        if c == 0 {
            return Ok(f);
        }
        let c = self.constant(c);
        self.linear(f, 1, c)
    }

    /// `factor * f`.
    pub fn scale(&mut self, f: FormId, factor: i128) -> Fit<FormId> {
        if factor == 1 {
            return Ok(f);
        }
        let zero = self.constant(0);
        self.linear(zero, factor, f)
    }

    /// An atom that is a table, or the name of one: the argument, the table, and which multiple of it and offset the atom is.
    fn table_behind(&self, a: AtomId) -> Option<(FormId, Arc<Table>, i128, i128)> {
        match self.atom(a) {
            Atom::Table(x, t) => Some((*x, t.clone(), 1, 0)),
            Atom::Value(y) if !self.by_bits => {
                let (inner, factor) = self.only(*y)?;
                let Atom::Table(x, t) = self.atom(inner) else { return None };
                Some((*x, t.clone(), factor, self.constant_of(*y)))
            }
            _ => None,
        }
    }

    /// Several tables of one argument in a sum are one table.
    fn join_tables(&mut self, sum: &mut Sum) -> Fit<()> {
        loop {
            let mut arguments: Vec<(FormId, usize)> = Vec::new();
            let mut pair = None;
            for (i, &(a, _)) in sum.terms.iter().enumerate() {
                let Some((x, ..)) = self.table_behind(a) else { continue };
                // Few terms are tables: a plain search over pairs.
                if let Some(&(_, j)) = arguments.iter().find(|known| known.0 == x) {
                    pair = Some((j, i));
                    break;
                }
                arguments.push((x, i));
            }
            let Some((i, j)) = pair else { return self.join_signs(sum, &arguments) };
            let ((a, c), (b, d)) = (sum.terms[i], sum.terms[j]);
            let (Some((x, s, fs, ks)), Some((_, t, ft, kt))) = (self.table_behind(a), self.table_behind(b)) else {
                return Err(Beyond);
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

    /// Adds a form to a sum: either may have terms of the other.
    fn put(&self, sum: &mut Sum, f: FormId) -> Fit<()> {
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

    /// A table and the sign of its argument in a sum are one table; `arguments` has those of the sum's tables, and where
    /// the tables are.
    fn join_signs(&mut self, sum: &mut Sum, arguments: &[(FormId, usize)]) -> Fit<()> {
        // The places of tables hold until the first is replaced: they are looked for by their atoms.
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

    /// The only term of a form, if it has one.
    pub(super) fn only(&self, f: FormId) -> Option<(AtomId, i128)> {
        if self.len(f) == 1 { self.terms(f).next() } else { None }
    }

    /// Greatest common divisor of the factors; 0 for a constant.
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

    /// Whether the factor of the newest atom is negative.
    fn leads_negative(&self, f: FormId) -> bool {
        self.terms(f).last().is_some_and(|(_, c)| c < 0)
    }

    /// The form with every factor divided by `g`, which divides them, and the constant rounded down.
    pub(super) fn divided(&mut self, f: FormId, g: i128) -> Fit<FormId> {
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

    // ---- Bits

    /// `floor(f / 2^m)`.
    pub fn floor(&mut self, f: FormId, m: u32) -> Fit<FormId> {
        if m == 0 {
            return Ok(f);
        }
        let (lo, hi) = self.range(f);
        let shift = m.min(127);
        if lo >> shift == hi >> shift {
            return Ok(self.constant(lo >> shift));
        }
        if m >= 120 {
            return Err(Beyond);
        }
        if let Some(&known) = self.floors.get(&(f, m)) {
            return Ok(known);
        }
        let out = match self.floor_named(f, m)? {
            Some(out) => out,
            None => self.floor_new(f, m)?,
        };
        self.narrow(out, (lo >> m, hi >> m));
        self.floors.insert((f, m), out);
        Ok(out)
    }

    /// `floor(f / 2^m)` by a lower floor of the same number that has a name.
    fn floor_named(&mut self, f: FormId, m: u32) -> Fit<Option<FormId>> {
        if self.taking_apart || self.len(f) > MAX_MERGED || self.within_names >= MAX_NAMED {
            return Ok(None);
        }
        for i in (0..self.shifts.len()).rev() {
            let k = self.shifts[i];
            if k >= m {
                continue;
            }
            // The number reduced modulo 2^k, as the floor's argument is.
            let mut inner = Sum { terms: Vec::new(), constant: self.constant_of(f) & (power(k)? - 1) };
            for (a, c) in self.terms(f) {
                let r = residue(c, k);
                if r != 0 {
                    inner.terms.push((a, r));
                }
            }
            self.work += self.len(f) as u64;
            let Ok(inner) = self.find(&inner) else { continue };
            if self.shifted.get(&(inner, k)).is_some_and(|&end| m < end) {
                self.within_names += 1;
                let out = self.floor(f, k).and_then(|low| self.floor(low, m - k));
                self.within_names -= 1;
                return Ok(Some(out?));
            }
        }
        Ok(None)
    }

    fn floor_new(&mut self, f: FormId, m: u32) -> Fit<FormId> {
        let size = power(m)?;
        // Multiples of 2^m come out.
        let mut outer = Sum::default();
        let mut inner = Sum { terms: Vec::new(), constant: self.constant_of(f) & (size - 1) };
        outer.constant = self.constant_of(f) >> m;
        for (a, c) in self.terms(f) {
            let r = residue(c, m);
            if r != 0 {
                inner.terms.push((a, r));
            }
            if c != r {
                outer.terms.push((a, (c - r) >> m));
            }
        }
        if !outer.terms.is_empty() || outer.constant != 0 {
            let outer = self.form(&outer)?;
            let inner = self.form(&inner)?;
            let rest = self.floor(inner, m)?;
            return self.add(outer, rest);
        }
        let zeros = inner.terms.iter().map(|t| t.1.trailing_zeros()).min().unwrap_or(m);
        if zeros > 0 {
            let half = self.divided(f, 1 << zeros)?;
            return self.floor(half, m - zeros);
        }
        if let Some(out) = self.of_table(f, |v| Ok(v >> m))? {
            return Ok(out);
        }
        if let Some((atom, 1)) = self.only(f) {
            let constant = self.constant_of(f);
            match self.atom(atom).clone() {
                Atom::Floor(x, k) => {
                    let whole = mul(constant, power(k)?).and_then(|c| self.offset(x, c))?;
                    return self.floor(whole, m + k);
                }
                Atom::And(forms) if constant == 0 => {
                    let parts = forms.iter().map(|&x| self.floor(x, m)).collect::<Fit<Vec<_>>>()?;
                    return self.and(&parts);
                }
                _ => {}
            }
        }
        if let Some((high, k)) = self.without_low_part(f, m)? {
            return self.floor(high, m - k);
        }
        if let Some((part, k)) = self.without_low_bits(f, m)? {
            return self.floor(part, m - k);
        }
        if let Some(out) = self.by_cases(f, |r| (r.0 >> m == r.1 >> m).then_some(r.0 >> m))? {
            return Ok(out);
        }
        // floor(y + floor(x / 2^k)) = floor((2^k y + x) / 2^k).
        if let Some(merged) = self.merged(f, m)? {
            let (whole, k) = merged;
            if m + k < 120 {
                return self.floor(whole, m + k);
            }
        }
        let out = self.floor_atom(f, m)?;
        // A choice between floors is the floor of the choice; the latter is kept.
        if let Some((cond, yes, no)) = self.one_choice(f)?
            && self.aliased.insert(f)
        {
            let (yes, no) = (self.floor(yes, m)?, self.floor(no, m)?);
            let pushed = self.mux(cond, yes, no)?;
            if pushed != out && self.as_const(pushed).is_none() {
                self.aliases.entry(pushed).or_insert(out);
            }
        }
        Ok(out)
    }

    /// `floor(f / 2^m)` with the floor inside the choice that `f` is.
    pub fn floors_chosen(&mut self, f: FormId, m: u32) -> Fit<Option<FormId>> {
        let Some((cond, yes, no)) = self.one_choice(f)? else { return Ok(None) };
        let (yes, no) = (self.floor(yes, m)?, self.floor(no, m)?);
        Ok(Some(self.mux(cond, yes, no)?))
    }

    /// The value of something that is constant in both cases of a bit which the form speaks of, such as a sign whose bit
    /// decides what else is added.
    fn by_cases(&mut self, f: FormId, told: impl Fn(Range) -> Option<i128>) -> Fit<Option<FormId>> {
        if self.len(f) > MAX_CASES {
            return Ok(None);
        }
        let mut bits: Vec<FormId> = Vec::new();
        for (a, _) in self.terms(f).collect::<Vec<_>>() {
            let found = match self.atom(a).clone() {
                Atom::If(c, _) => vec![c],
                Atom::Monomial(factors) => {
                    let small = factors.iter().copied().filter(|&b| self.atom_range(b) == (0, 1)).collect::<Vec<_>>();
                    small.into_iter().map(|b| self.single(b)).collect::<Fit<_>>()?
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

    /// Bounds of a form by what is known of it, of its negative, and of both without their constant.
    fn bounds(&mut self, f: FormId) -> Fit<Range> {
        let mut range = self.range(f);
        let constant = self.constant_of(f);
        let plain = self.offset(f, -constant)?;
        let minus = self.scale(plain, -1)?;
        let (lo, hi) = self.range(plain);
        range = (range.0.max(lo + constant), range.1.min(hi + constant));
        let (lo, hi) = self.range(minus);
        Ok((range.0.max(constant - hi), range.1.min(constant - lo)))
    }

    /// Bounds of a form, narrower than the given ones where the bit is the sign of a number that the form adds: in the one
    /// case it is negative, in the other it is not.
    fn bounds_by_sign(&mut self, f: FormId, bit: FormId, value: bool, range: Range) -> Fit<Range> {
        let Some((a, sign)) = self.only(bit).filter(|t| t.1.abs() == 1) else { return Ok(range) };
        let Atom::Negative(y) = *self.behind(a) else { return Ok(range) };
        let is_negative = sign * (i128::from(value) - self.constant_of(bit)) == 1;
        let (lo, hi) = self.range(y);
        let number = if is_negative { (lo, hi.min(-1)) } else { (lo.max(0), hi) };
        // The number is added as often as its newest atom is.
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

    /// The form where a bit has this value, as far as its terms say it.
    fn in_case(&mut self, f: FormId, bit: FormId, value: bool) -> Fit<FormId> {
        // The atom that the bit is, or is one less, or the negative of.
        let itself = self.only(bit).filter(|t| t.1.abs() == 1);
        let known = itself.map(|(a, factor)| (a, factor * (i128::from(value) - self.constant_of(bit))));
        let atom = itself.filter(|t| t.1 == 1 && self.constant_of(bit) == 0).map(|t| t.0);
        // A bit of several terms, added as it is.
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

    fn floor_atom(&mut self, f: FormId, m: u32) -> Fit<FormId> {
        let (lo, hi) = self.range(f);
        let (low, high) = (lo >> m, hi >> m);
        if low == high {
            return Ok(self.constant(low));
        }
        if high == low + 1 {
            let limit = mul(high, power(m)?)?;
            let below = self.offset(f, -limit)?;
            let below = self.negative(below)?;
            let top = self.constant(high);
            return self.sub(top, below);
        }
        let atom = self.intern(Atom::Floor(f, m), (low, high));
        self.made(atom)
    }

    /// `2^k y + x`: only `y + floor(x / 2^k)` matters above bit `k`. That, and `k`, where the floor is known, or a sign that
    /// is in `y`.
    fn without_low_part(&mut self, f: FormId, m: u32) -> Fit<Option<(FormId, u32)>> {
        if self.len(f) > 64 {
            return Ok(None);
        }
        let mut zeros: Vec<u32> = self.terms(f).map(|t| t.1.trailing_zeros()).filter(|&k| k > 0 && k < m).collect();
        zeros.sort_unstable();
        zeros.dedup();
        for k in zeros {
            let mut low = Sum { terms: Vec::new(), constant: self.constant_of(f) & (power(k)? - 1) };
            let mut high = Sum { terms: Vec::new(), constant: self.constant_of(f) >> k };
            let mut range = (low.constant, low.constant);
            for (a, c) in self.terms(f) {
                if c.trailing_zeros() >= k {
                    high.terms.push((a, c >> k));
                    continue;
                }
                low.terms.push((a, c));
                let (lo, hi) = self.atom_range(a);
                let (x, y) = (mul(lo, c)?, mul(hi, c)?);
                range = (add(range.0, x.min(y))?, add(range.1, x.max(y))?);
            }
            if let Ok(known) = self.find(&low) {
                let proved = self.range(known);
                range = (range.0.max(proved.0), range.1.min(proved.1));
            }
            let (first, last) = (range.0 >> k, range.1 >> k);
            if first == last {
                high.constant = add(high.constant, first)?;
                return Ok(Some((self.form(&high)?, k)));
            }
            // A table, whose floor is another one.
            if low.terms.len() == 1 {
                let low = self.form(&low)?;
                if let Some(part) = self.of_table(low, |v| Ok(v >> k))? {
                    let high = self.form(&high)?;
                    return Ok(Some((self.add(high, part)?, k)));
                }
            }
            // A bit.
            if let [(a, c)] = low.terms[..]
                && self.is_anew()
                && self.atom_range(a) == (0, 1)
            {
                let (no, yes) = (low.constant >> k, add(low.constant, c)? >> k);
                let (bit, high) = (self.single(a)?, self.form(&high)?);
                let part = self.scale(bit, yes - no)?;
                let part = self.offset(part, no)?;
                return Ok(Some((self.add(high, part)?, k)));
            }
            // One of two: the sign of something, which the high part may speak of.
            if last == first + 1 {
                let (low, high) = (self.form(&low)?, self.form(&high)?);
                let part = self.floor(low, k)?;
                if self.terms(part).all(|(a, _)| self.terms(high).any(|(b, _)| a == b)) {
                    return Ok(Some((self.add(high, part)?, k)));
                }
            }
        }
        Ok(None)
    }

    /// `2^k y + x` with `y` a multiple of `floor(x / 2^k)` and more: only `y + floor(x / 2^k)` matters above bit `k`.
    fn without_low_bits(&mut self, f: FormId, m: u32) -> Fit<Option<(FormId, u32)>> {
        if self.len(f) > 64 {
            return Ok(None);
        }
        let floors: Vec<(AtomId, FormId, u32)> = self
            .terms(f)
            .filter_map(|(a, c)| match self.atom(a) {
                Atom::Floor(x, k) if *k < m && c.trailing_zeros() >= *k => Some((a, *x, *k)),
                _ => None,
            })
            .collect();
        for (a, x, k) in floors {
            let size = power(k)?;
            let mut low = Sum { terms: Vec::new(), constant: self.constant_of(f) & (size - 1) };
            let mut high = Sum { terms: Vec::new(), constant: self.constant_of(f) >> k };
            for (b, c) in self.terms(f) {
                let r = residue(c, k);
                if r != 0 {
                    low.terms.push((b, r));
                }
                if c != r {
                    high.terms.push((b, (c - r) >> k));
                }
            }
            // The low part's floor is to be the one that is there.
            if low.terms.len() != self.len(x) {
                continue;
            }
            let (low, high) = (self.form(&low)?, self.form(&high)?);
            let part = self.floor(low, k)?;
            if self.terms(part).any(|t| t.0 == a) {
                return Ok(Some((self.add(high, part)?, k)));
            }
        }
        Ok(None)
    }

    /// The form without the one floor in it that is no value of the model: `2^k` times the rest, plus what the floor is
    /// of; and `k`.
    fn merged(&mut self, f: FormId, m: u32) -> Fit<Option<(FormId, u32)>> {
        let mut found = None;
        for (a, c) in self.terms(f) {
            if let Atom::Floor(x, k) = self.atom(a)
                && c == 1
            {
                found = Some((a, *x, *k));
            }
        }
        let Some((a, x, k)) = found else { return Ok(None) };
        if m + k >= 100 || self.len(f) + self.len(x) > MAX_MERGED {
            return Ok(None);
        }
        let mut rest = self.sum_of(f);
        rest.terms.retain(|t| t.0 != a);
        let rest = self.form(&rest)?;
        Ok(Some((self.linear(x, power(k)?, rest)?, k)))
    }

    /// Whether a form is linear in inputs and names, and one floor once.
    fn is_plain_floor(&self, f: FormId) -> bool {
        let mut open = self.terms(f).filter(|(a, _)| !matches!(self.atom(*a), Atom::Free(_) | Atom::Value(_)));
        let found = open.next().is_some_and(|(a, c)| c == 1 && matches!(self.atom(a), Atom::Floor(..)));
        found && open.next().is_none()
    }

    /// Names of plain floors in a form and in the floors that it is made of.
    fn plain_floors(&mut self, f: FormId) -> Vec<FormId> {
        let mut names: Vec<AtomId> = Vec::new();
        for (a, _) in self.terms(f) {
            let inside = match self.atom(a) {
                Atom::Floor(y, _) => self.terms(*y).map(|t| t.0).collect(),
                _ => vec![a],
            };
            for b in inside {
                if matches!(self.atom(b), Atom::Value(x) if self.is_plain_floor(*x)) && !names.contains(&b) {
                    names.push(b);
                }
            }
        }
        names.into_iter().take(4).filter_map(|a| self.single(a).ok()).collect()
    }

    /// If exactly one term is a choice: its condition, and the form in both cases.
    fn one_choice(&mut self, f: FormId) -> Fit<Option<(FormId, FormId, FormId)>> {
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

    /// If a term is a bit times a choice, as where a chosen word is complemented or not: the bit, and the form in both
    /// cases.
    fn by_factor(&mut self, f: FormId) -> Fit<Option<(FormId, FormId, FormId)>> {
        if self.len(f) > MAX_CASES || !self.is_anew() {
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

    /// Factors reduced modulo `2^w` to small ones.
    pub fn reduced(&mut self, f: FormId, w: u32) -> Fit<FormId> {
        if w >= 120 {
            return Ok(f);
        }
        let mut sum = self.sum_of(f);
        sum.terms.iter_mut().for_each(|t| t.1 = residue(t.1, w));
        sum.terms.retain(|t| t.1 != 0);
        self.form(&sum)
    }

    /// Whether two forms are equal modulo `2^w` term by term.
    pub fn same(&mut self, f: FormId, g: FormId, w: u32) -> Fit<bool> {
        Ok(f == g || self.difference(f, g, w)?.is_none())
    }

    /// `f - g` modulo `2^w`, reduced; none if it is zero.
    pub fn difference(&mut self, f: FormId, g: FormId, w: u32) -> Fit<Option<FormId>> {
        if f == g || w == 0 {
            return Ok(None);
        }
        let d = self.sub(f, g)?;
        let r = self.reduced(d, w)?;
        let zero = self.terms(r).len() == 0 && residue(self.constant_of(r), w) == 0;
        Ok((!zero).then_some(r))
    }

    /// The number that the low `w` bits of a form are, signed or not.
    pub fn value(&mut self, f: FormId, w: u32, signed: bool) -> Fit<FormId> {
        if w == 0 {
            return Ok(self.constant(0));
        }
        let size = power(w)?;
        let half = if signed { size / 2 } else { 0 };
        let target = (-half, size - half - 1);
        if let Some(moved) = self.moved_into_range(f, target, size)? {
            return Ok(moved);
        }
        if let Some(out) = self.of_table(f, |v| Ok(add(v, half)?.rem_euclid(size) - half))? {
            return Ok(out);
        }
        let r = self.reduced(f, w)?;
        if let Some(moved) = self.moved_into_range(r, target, size)? {
            return Ok(moved);
        }
        // A number that wraps, cut where it does not.
        if let Some(plain) = self.unwrapped(r, w)?
            && let Some(moved) = self.moved_into_range(plain, target, size)?
        {
            return Ok(moved);
        }
        let shifted = self.offset(r, half)?;
        let turns = self.floor(shifted, w)?;
        let out = self.linear(r, -size, turns)?;
        self.narrow(out, target);
        self.tell_shape(out, Shape::Cut(f, w, signed));
        Ok(self.name_for(out))
    }

    fn moved_into_range(&mut self, f: FormId, target: Range, size: i128) -> Fit<Option<FormId>> {
        let (lo, hi) = self.range(f);
        let turns = (lo - target.0).div_euclid(size);
        let back = mul(turns, size)?;
        if hi - back <= target.1 { Ok(Some(self.offset(f, -back)?)) } else { Ok(None) }
    }

    // ---- Comparisons with zero

    /// 1 if negative, else 0.
    pub fn negative(&mut self, f: FormId) -> Fit<FormId> {
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

    fn negative_new(&mut self, f: FormId) -> Fit<FormId> {
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
        if let Some(out) = self.of_table(f, |v| Ok(i128::from(v < 0)))? {
            return Ok(out);
        }
        if let Some((atom, 1)) = self.only(f) {
            let constant = self.constant_of(f);
            let (lo, hi) = self.range(f);
            if hi == lo + 1 {
                // -1 or 0.
                return self.scale(f, -1);
            }
            match self.atom(atom).clone() {
                // The sign of a number without its low bits is the number's own.
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

    /// `1 - f`.
    pub fn complement(&mut self, f: FormId) -> Fit<FormId> {
        let one = self.constant(1);
        self.sub(one, f)
    }

    /// 1 if zero, else 0.
    pub fn zero(&mut self, f: FormId) -> Fit<FormId> {
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
            return if hi == 0 || !self.leads_negative(f) { self.zero(f) } else { Err(Beyond) };
        }
        if let Some(out) = self.of_table(f, |v| Ok(i128::from(v == 0)))? {
            return Ok(out);
        }
        let atom = self.intern(Atom::Zero(f), (0, 1));
        self.made(atom)
    }

    /// `max(f, 0)`.
    pub fn positive(&mut self, f: FormId) -> Fit<FormId> {
        let (lo, hi) = self.range(f);
        if lo >= 0 {
            return Ok(f);
        }
        if hi <= 0 {
            return Ok(self.constant(0));
        }
        let g = self.content(f);
        if g > 1 {
            // f = g y + r with 0 <= r < g: it is negative where y is.
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
        if let Some(out) = self.of_table(f, |v| Ok(v.max(0)))? {
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

    /// Whether a condition says that `f` is negative (true) or that it is not (false), zero being either.
    fn sign_told(&mut self, cond: FormId, f: FormId) -> Fit<Option<bool>> {
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

    // ---- Choices and products

    /// `yes` where the condition (0 or 1) is 1, else `no`.
    pub fn mux(&mut self, cond: FormId, yes: FormId, no: FormId) -> Fit<FormId> {
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
        self.tell_shape(out, Shape::Mux(cond, yes, no));
        Ok(out)
    }

    /// `cond * x` for a condition that is 0 or 1.
    fn when(&mut self, cond: FormId, x: FormId) -> Fit<FormId> {
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
        // One polarity of the condition.
        if self.constant_of(cond) != 0 {
            let other = self.complement(cond)?;
            if self.constant_of(other) == 0 {
                let rest = self.when(other, x)?;
                return self.sub(x, rest);
            }
        }
        // Where the condition is one atom, that atom is 1 in the product.
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
        // The sign of what is chosen as condition: max(x, 0) in disguise.
        let (lo, hi) = self.range(x);
        if lo < 0 && hi > 0 {
            let below = self.negative(x)?;
            let minus = self.scale(x, -1)?;
            let above = self.negative(minus)?;
            // x < 0 and x <= 0, x > 0 and x >= 0: zero adds nothing.
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
        if let Some((whole, k)) = self.merged(x, 0)? {
            let chosen = self.when(cond, whole)?;
            return self.floor(chosen, k);
        }
        // Tables of one argument.
        if let (Some((y, first, conds)), Some((z, second, values))) = (self.as_table(cond), self.as_table(x))
            && y == z
            && first == second
        {
            let values = conds?.into_iter().zip(values?).map(|(u, v)| mul(u, v)).collect::<Fit<Vec<_>>>()?;
            return self.table_of(y, first, values);
        }
        let atom = self.intern(Atom::If(cond, x), (lo.min(0), hi.max(0)));
        self.made(atom)
    }

    /// `cond * x` where `x` is a table and the condition the sign of its argument: one table.
    fn table_by_sign(&mut self, cond: FormId, x: FormId) -> Fit<Option<FormId>> {
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

    /// `cond * x` where the condition is the sign of a number `s`, and `x` a sum of floors of `s`, such as some of its
    /// bits: the same floors of `max(s, 0)`.
    fn when_sign(&mut self, cond: AtomId, x: FormId) -> Fit<Option<FormId>> {
        let Atom::Negative(t) = *self.behind(cond) else { return Ok(None) };
        if self.len(x) > MAX_MERGED || !self.terms(x).any(|(a, _)| matches!(self.atom(a), Atom::Floor(..))) {
            return Ok(None);
        }
        // s >= 0 where the condition is 0, or where it is 1.
        let minus = self.scale(t, -1)?;
        let minus = self.offset(minus, -1)?;
        let mut numbers = vec![(t, false), (minus, true)];
        // The same sign is that of a name for the number without its low bits, and of a multiple of the number.
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

    /// `x` as a sum of factors times `floor(s / 2^m)`, and a constant.
    fn as_floors(&mut self, x: FormId, s: FormId) -> Fit<Option<Floors>> {
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

    /// The product of two atoms, either of which may be a product.
    fn monomial(&mut self, a: AtomId, b: AtomId) -> Fit<FormId> {
        let mut factors: Vec<AtomId> = Vec::new();
        for atom in [a, b] {
            match self.atom(atom) {
                Atom::Monomial(more) => factors.extend(more.iter()),
                _ => factors.push(atom),
            }
        }
        factors.sort_unstable();
        // 0 and 1 are their own squares.
        let mut kept: Vec<AtomId> = Vec::new();
        for f in factors {
            if kept.last() == Some(&f) && self.atom_range(f) == (0, 1) {
                continue;
            }
            kept.push(f);
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
                part = products(part, (lo, hi))?;
            }
            if run % 2 == 0 {
                part.0 = part.0.max(0);
            }
            range = products(range, part)?;
            at += run;
        }
        let atom = self.intern(Atom::Monomial(kept.into()), range);
        self.made(atom)
    }

    /// `f * g`.
    pub fn times(&mut self, f: FormId, g: FormId) -> Fit<FormId> {
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
        let range = products(self.range(f), self.range(g))?;
        let (a, b) = (self.sum_of(f), self.sum_of(g));
        let out = if (a.terms.len() + 1) * (b.terms.len() + 1) <= MAX_EXPANDED {
            let mut out = self.constant(mul(a.constant, b.constant)?);
            out = self.linear(out, a.constant, g)?;
            let mut without = a.clone();
            without.constant = 0;
            let without = self.form(&without)?;
            out = self.linear(out, b.constant, without)?;
            // g's constant times f's constant was counted by the first two lines twice.
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
            let range = products(self.range(pair[0]), self.range(pair[1]))?;
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

    /// Bitwise and of endless two's complement numbers.
    pub fn and(&mut self, forms: &[FormId]) -> Fit<FormId> {
        // Nested ones are one, constants come out, common zeros below too.
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
            // Runs of ones of the mask, each a field.
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
            let parts = flat.iter().map(|&f| self.floor(f, zeros)).collect::<Fit<Vec<_>>>()?;
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
        // Single bits multiply.
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

    // ---- Tables

    /// A form of one term that is a table, or the name of one: the argument, the first of its values, and the form's values.
    fn as_table(&self, f: FormId) -> Option<(FormId, i128, Fit<Vec<i128>>)> {
        let (atom, factor) = self.only(f)?;
        let (x, t, inside, offset) = self.table_behind(atom)?;
        let constant = self.constant_of(f);
        let value = |&v: &i128| add(mul(add(mul(v, inside)?, offset)?, factor)?, constant);
        Some((x, t.first, t.values.iter().map(value).collect()))
    }

    /// A function of a form that is a table.
    fn of_table(&mut self, f: FormId, function: impl Fn(i128) -> Fit<i128>) -> Fit<Option<FormId>> {
        let Some((x, first, values)) = self.as_table(f) else { return Ok(None) };
        let values = values?.into_iter().map(function).collect::<Fit<Vec<_>>>()?;
        self.work += values.len() as u64;
        self.table_of(x, first, values).map(Some)
    }

    /// `function` of every value that a form can have.
    pub fn table(&mut self, x: FormId, mut function: impl FnMut(i128) -> Fit<i128>) -> Fit<FormId> {
        let (lo, hi) = self.range(x);
        if hi - lo >= MAX_TABLE {
            return Err(Beyond);
        }
        let values = (lo..=hi).map(&mut function).collect::<Fit<Vec<_>>>()?;
        self.work += values.len() as u64;
        self.table_of(x, lo, values)
    }

    /// The function that has these values from `first` up, which cover the range of `x`.
    pub(super) fn table_of(&mut self, x: FormId, first: i128, values: Vec<i128>) -> Fit<FormId> {
        let (lo, hi) = self.range(x);
        if lo < first || hi - first >= values.len() as i128 {
            return Err(Beyond);
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
                let found = Samples::consecutive(self, base, &derived, start).of(self, x);
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
        // One representative of the tables that differ by a factor and an offset.
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

    /// Whether a form is zero modulo `2^w` for each value of the one value of few that it is a function of: tables of that beside
    /// its sign. False also where there is none such.
    pub fn vanishes_by_value(&mut self, f: FormId, w: u32) -> Fit<bool> {
        let f = self.reduced(f, w)?;
        let Some((base, derived)) = self.base_of(f)? else { return Ok(false) };
        let (from, to) = self.atom_range(base);
        for start in (from..=to).step_by(LANES) {
            self.work += LANES as u64;
            // Lanes beyond the last value repeat it.
            let found = Samples::consecutive(self, base, &derived, start).of(self, f);
            if found.iter().any(|&v| residue(v, w) != 0) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a form is a table and no sum.
    pub fn is_table(&self, f: FormId) -> bool {
        self.as_table(f).is_some()
    }

    /// The one value of few that a form is a function of, and that is not the form itself: an input, or else a name. With
    /// a name its sign and what is above zero, where those are atoms of other values, as those of a number without its low
    /// bits.
    fn base_of(&mut self, x: FormId) -> Fit<Option<Base>> {
        let itself = self.only(x).map(|t| t.0);
        let start: Vec<AtomId> = self.terms(x).map(|t| t.0).collect();
        for through_names in [true, false] {
            let Some((base, open)) = self.only_leaf(start.clone(), itself, through_names) else { continue };
            let (lo, hi) = self.atom_range(base);
            if hi - lo >= SMALL_TABLE || Some(base) == itself {
                continue;
            }
            let derived = if open.is_empty() { Vec::new() } else { self.derived(base, &open)? };
            // Others are to be functions of the base by themselves.
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

    /// Those of some atoms that are the sign of a name, or bits of the name where it is above zero.
    fn derived(&mut self, name: AtomId, open: &[AtomId]) -> Fit<Vec<(AtomId, Derived)>> {
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

    /// The one input or name that some atoms are made of, names being taken apart or not, and what on the way may be its
    /// sign, or bits of it where it is above zero.
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

fn products(a: Range, b: Range) -> Fit<Range> {
    let all = [mul(a.0, b.0)?, mul(a.0, b.1)?, mul(a.1, b.0)?, mul(a.1, b.1)?];
    Ok((all.into_iter().fold(i128::MAX, i128::min), all.into_iter().fold(i128::MIN, i128::max)))
}
