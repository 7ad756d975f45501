//! Floors by powers of two, and the numbers represented by low bits.

use super::super::{
    Atom, AtomId, FormId, LinearForms, OrOverflow, Overflow, Range, RuleSet, Shape, Sum, add, mul, power,
};
use super::{MAX_MERGED, residue};

/// Maximum nesting of floors expressed by names, as a rule that merges floors may lead back to its start.
const MAX_NAMED: u32 = 3;
/// Maximum nesting of splits of values at a bit.
const MAX_SPLITS: u32 = 3;
/// Maximum nesting of halves.
const MAX_HALVES: u32 = 2;
/// Largest number of bits in a sum whose floor is multiplied out.
const MAX_CARRIES: usize = 3;

impl LinearForms {
    /// Returns the form of `floor(f / 2^m)`.
    pub fn floor(&mut self, f: FormId, m: u32) -> OrOverflow<FormId> {
        if m == 0 {
            return Ok(f);
        }
        let (lo, hi) = self.range(f);
        let shift = m.min(127);
        if lo >> shift == hi >> shift {
            return Ok(self.constant(lo >> shift));
        }
        if m >= 120 {
            return Err(Overflow);
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

    /// Returns `floor(f / 2^m)` expressed by a named lower floor of the same number; `None` if there is none.
    fn floor_named(&mut self, f: FormId, m: u32) -> OrOverflow<Option<FormId>> {
        if self.taking_apart || self.len(f) > MAX_MERGED || self.within_names >= MAX_NAMED {
            return Ok(None);
        }
        for i in (0..self.shifts.len()).rev() {
            let k = self.shifts[i];
            if k >= m {
                continue;
            }
            // The number modulo 2^k, like the argument of the named floor.
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

    fn floor_new(&mut self, f: FormId, m: u32) -> OrOverflow<FormId> {
        let size = power(m)?;
        // Multiples of 2^m are moved out of the floor.
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
        if let Some(out) = self.table_value(f, |v| Ok(v >> m))? {
            return Ok(out);
        }
        if let Some(moved) = self.rounded_before_rectifier(f)? {
            return self.floor(moved, m);
        }
        if let Some(out) = self.floor_of_bits(f, m)? {
            return Ok(out);
        }
        if let Some((atom, 1)) = self.only(f) {
            let constant = self.constant_of(f);
            // Rounding up: the floor of `(x + 1) / 2` is the floor of `x / 2` plus the lowest bit `x - 2 floor(x / 2)`.
            if (constant, m) == (1, 1) && self.is_bits(atom) {
                let value = self.single(atom)?;
                let half = self.floor(value, 1)?;
                return self.sub(value, half);
            }
            match self.atom(atom).clone() {
                Atom::Floor(x, k) => {
                    let whole = mul(constant, power(k)?).and_then(|c| self.offset(x, c))?;
                    return self.floor(whole, m + k);
                }
                // Bits below the floor can be removed before the rectifier.
                Atom::Positive(x) if constant == 0 => {
                    if let Some((high, k)) = self.without_low_part(x, m)? {
                        self.within_splits += 1;
                        let out = self.positive(high).and_then(|high| self.floor(high, m - k));
                        self.within_splits -= 1;
                        return out;
                    }
                }
                Atom::And(forms) if constant == 0 => {
                    let parts = forms.iter().map(|&x| self.floor(x, m)).collect::<OrOverflow<Vec<_>>>()?;
                    return self.and(&parts);
                }
                _ => {}
            }
        }
        if let Some((high, k)) = self.without_low_part(f, m)? {
            self.within_splits += 1;
            let out = self.floor(high, m - k);
            self.within_splits -= 1;
            return out;
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
        self.narrow_as_product(f)?;
        let out = self.floor_atom(f, m)?;
        // A choice between floors equals the floor of a choice; the floor is kept.
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

    /// Returns the floor of a sum of two or three bits and a constant, such as a carry, as a polynomial in the bits.
    /// Returns `None` for other forms.
    fn floor_of_bits(&mut self, f: FormId, m: u32) -> OrOverflow<Option<FormId>> {
        let is_small = (2..=MAX_CARRIES).contains(&self.len(f));
        if !is_small || !self.terms(f).all(|(a, _)| self.atom_range(a) == (0, 1)) {
            return Ok(None);
        }
        let Some((bit, factor)) = self.terms(f).last() else { return Ok(None) };
        let bit = self.single(bit)?;
        let clear = self.linear(f, -factor, bit)?;
        let set = self.offset(clear, factor)?;
        let (no, yes) = (self.floor(clear, m)?, self.floor(set, m)?);
        let difference = self.sub(yes, no)?;
        let chosen = self.when(bit, difference)?;
        self.add(no, chosen).map(Some)
    }

    /// Returns `max(x + c, 0)` for `f = max(x, 0) + c` with `c` between 0 and the divisor: for negative `x`, the floors
    /// of both are zero. Returns `None` for other forms.
    fn rounded_before_rectifier(&mut self, f: FormId) -> OrOverflow<Option<FormId>> {
        let constant = self.constant_of(f);
        if constant <= 0 || self.taking_apart || self.len(f) > 64 {
            return Ok(None);
        }
        let rest = self.offset(f, -constant)?;
        let Some(x) = self.before_rectifier(rest) else { return Ok(None) };
        let x = self.offset(x, constant)?;
        Ok(Some(self.positive(x)?))
    }

    /// Returns the form whose positive part a form is, also under a name; `None` for other forms.
    fn before_rectifier(&self, f: FormId) -> Option<FormId> {
        let mut f = f;
        loop {
            if let Some(&x) = self.rectified.get(&f) {
                return Some(x);
            }
            match self.only(f) {
                Some((atom, 1)) if self.constant_of(f) == 0 => match *self.atom(atom) {
                    Atom::Value(meaning) => f = meaning,
                    _ => return None,
                },
                _ => return None,
            }
        }
    }

    /// Replaces the floors of a sum that are halves of one number: in a sum with `floor(y / 2^m)`, the number rounded
    /// to nearest, `floor((y + 2^(m-1)) / 2^m)`, is `floor(y / 2^(m-1)) - floor(y / 2^m)`.
    pub(super) fn join_halves(&mut self, sum: &mut Sum) -> OrOverflow<()> {
        if self.within_halves >= MAX_HALVES || sum.terms.len() > MAX_MERGED {
            return Ok(());
        }
        let rounded: Vec<AtomId> = sum.terms.iter().map(|t| t.0).filter(|a| self.rounded.contains(a)).collect();
        for atom in rounded {
            self.within_halves += 1;
            let halves = self.halves(atom);
            self.within_halves -= 1;
            let (low, half) = halves?;
            let has = |sum: &Sum, b: AtomId| sum.terms.binary_search_by_key(&b, |t| t.0);
            if let Ok(at) = has(sum, atom)
                && self.terms(low).all(|(b, _)| has(sum, b).is_ok())
            {
                let factor = sum.terms.remove(at).1;
                // The replacements may contain halves of other numbers, and of this number again.
                self.within_halves += 1;
                let parts = self.sub(half, low).and_then(|parts| self.scale(parts, factor));
                self.within_halves -= 1;
                self.put(sum, parts?)?;
            }
        }
        Ok(())
    }

    /// Returns `floor(y / 2^m)` and `floor(y / 2^(m-1))` for an atom `floor((y + 2^(m-1)) / 2^m)`.
    fn halves(&mut self, atom: AtomId) -> OrOverflow<(FormId, FormId)> {
        if let Some(&known) = self.halves.get(&atom) {
            return Ok(known);
        }
        let Atom::Floor(x, m) = *self.atom(atom) else { return Err(Overflow) };
        let y = self.offset(x, -power(m - 1)?)?;
        let out = (self.floor(y, m)?, self.floor(y, m - 1)?);
        self.halves.insert(atom, out);
        Ok(out)
    }

    /// Returns `true` if an atom is the high bits of a form, and the rules treat lowest bits as atoms.
    fn is_bits(&self, a: AtomId) -> bool {
        self.rules().has_rows() && matches!(self.atom(a), Atom::Floor(..))
    }

    /// Returns `floor(f / 2^m)` for a choice `f` as a choice between floors; `None` for other forms.
    pub fn floors_chosen(&mut self, f: FormId, m: u32) -> OrOverflow<Option<FormId>> {
        let Some((cond, yes, no)) = self.one_choice(f)? else { return Ok(None) };
        let (yes, no) = (self.floor(yes, m)?, self.floor(no, m)?);
        Ok(Some(self.mux(cond, yes, no)?))
    }

    fn floor_atom(&mut self, f: FormId, m: u32) -> OrOverflow<FormId> {
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
        if self.constant_of(f) >= power(m - 1)? {
            self.rounded.insert(atom);
        }
        self.made(atom)
    }

    /// Returns `y + floor(x / 2^k)` and `k` for `f = 2^k y + x`, as only this number affects the bits from `k` up. The
    /// floor must be known, the top bit of one value, or a sign in `y`. Returns `None` otherwise.
    fn without_low_part(&mut self, f: FormId, m: u32) -> OrOverflow<Option<(FormId, u32)>> {
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
            // A table, whose floor is another table.
            if low.terms.len() == 1 {
                let low = self.form(&low)?;
                if let Some(part) = self.table_value(low, |v| Ok(v >> k))? {
                    let high = self.form(&high)?;
                    return Ok(Some((self.add(high, part)?, k)));
                }
            }
            // The lowest bit of a value, `a - 2 h`, if the other bits `h` are in the high part.
            if k == 1
                && let [(a, c)] = low.terms[..]
                && self.is_bits(a)
            {
                let value = self.single(a)?;
                let half = self.floor(value, 1)?;
                if let Some((h, 1)) = self.only(half)
                    && self.constant_of(half) == 0
                    && high.terms.iter().any(|t| t.0 == h)
                {
                    let (no, yes) = (low.constant >> 1, add(low.constant, c)? >> 1);
                    let bit = self.linear(value, -2, half)?;
                    let high = self.form(&high)?;
                    let high = self.linear(high, c, half)?;
                    let high = self.linear(high, yes - no, bit)?;
                    return Ok(Some((self.offset(high, no)?, k)));
                }
            }
            // A single bit.
            if let [(a, c)] = low.terms[..]
                && self.rules().has_names()
                && self.atom_range(a) == (0, 1)
            {
                let (no, yes) = (low.constant >> k, add(low.constant, c)? >> k);
                let (bit, high) = (self.single(a)?, self.form(&high)?);
                let part = self.scale(bit, yes - no)?;
                let part = self.offset(part, no)?;
                return Ok(Some((self.add(high, part)?, k)));
            }
            // A floor with two possible values: a sign that the high part may contain.
            if last == first + 1 {
                let (low, high) = (self.form(&low)?, self.form(&high)?);
                let part = self.floor(low, k)?;
                let is_split = self.len(low) == 1 && self.within_splits < MAX_SPLITS;
                if is_split || self.terms(part).all(|(a, _)| self.terms(high).any(|(b, _)| a == b)) {
                    return Ok(Some((self.add(high, part)?, k)));
                }
            }
        }
        Ok(None)
    }

    /// Returns `y + floor(x / 2^k)` and `k` for `f = 2^k y + x` if `y` contains a multiple of `floor(x / 2^k)`;
    /// otherwise `None`.
    fn without_low_bits(&mut self, f: FormId, m: u32) -> OrOverflow<Option<(FormId, u32)>> {
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
            // The floor of the low part must be the one in the high part.
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

    /// Returns a form without its only floor that is no value of the model, and `k`: `2^k` times the other terms, plus
    /// the argument of the floor. Returns `None` for other forms.
    pub(super) fn merged(&mut self, f: FormId, m: u32) -> OrOverflow<Option<(FormId, u32)>> {
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

    /// Returns `true` if a form is linear in inputs and names, plus a single floor.
    pub(super) fn is_plain_floor(&self, f: FormId) -> bool {
        if self.rules == RuleSet::Local {
            return false;
        }
        let mut open = self.terms(f).filter(|(a, _)| !matches!(self.atom(*a), Atom::Free(_) | Atom::Value(_)));
        let found = open.next().is_some_and(|(a, c)| c == 1 && matches!(self.atom(a), Atom::Floor(..)));
        found && open.next().is_none()
    }

    /// Returns the names of plain floors in a form and in the floors on which it depends.
    pub(super) fn plain_floors(&mut self, f: FormId) -> Vec<FormId> {
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

    /// Returns the number represented by the low `w` bits of a form, signed or unsigned.
    pub fn value(&mut self, f: FormId, w: u32, signed: bool) -> OrOverflow<FormId> {
        if w == 0 {
            return Ok(self.constant(0));
        }
        let size = power(w)?;
        let half = if signed { size / 2 } else { 0 };
        let target = (-half, size - half - 1);
        if let Some(moved) = self.moved_into_range(f, target, size)? {
            return Ok(moved);
        }
        // Before the reduction modulo `2^w`, as the removed terms may be part of a product.
        self.narrow_as_product(f)?;
        if let Some(moved) = self.moved_into_range(f, target, size)? {
            return Ok(moved);
        }
        if let Some(product) = self.product_within(f, w, target)? {
            return Ok(product);
        }
        if let Some(out) = self.table_value(f, |v| Ok(add(v, half)?.rem_euclid(size) - half))? {
            return Ok(out);
        }
        let r = self.reduced(f, w)?;
        if let Some(moved) = self.moved_into_range(r, target, size)? {
            return Ok(moved);
        }
        // The complement of a bit.
        if w == 1 && !signed && self.constant_of(r) % 2 != 0 {
            let bit = self.offset(r, -self.constant_of(r))?;
            let bit = self.value(bit, 1, false)?;
            return self.complement(bit);
        }
        // A number that wraps is replaced by the number before wrapping.
        if let Some(plain) = self.unwrapped(r, w)?
            && let Some(moved) = self.moved_into_range(plain, target, size)?
        {
            return Ok(moved);
        }
        let shifted = self.offset(r, half)?;
        let turns = self.floor(shifted, w)?;
        let out = self.linear(r, -size, turns)?;
        self.narrow(out, target);
        self.set_shape(out, Shape::Cut(f, w, signed));
        Ok(self.name_for(out))
    }

    fn moved_into_range(&mut self, f: FormId, target: Range, size: i128) -> OrOverflow<Option<FormId>> {
        let (lo, hi) = self.range(f);
        let turns = (lo - target.0).div_euclid(size);
        let back = mul(turns, size)?;
        if hi - back <= target.1 { Ok(Some(self.offset(f, -back)?)) } else { Ok(None) }
    }
}
