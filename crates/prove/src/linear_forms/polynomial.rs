//! Multiplied out sums of products: polynomials with exact integer coefficients, modulo a power of two.
//!
//! Forms keep a choice `c x` and a long product as one atom each. If that does not decide a question, both sides are
//! multiplied out here, over atoms and over *bits*: conditions that are 0 or 1 for every input, so that each equals its
//! own square. Logic of bits is arithmetic (`a xor b = a + b - 2 a b`), and each function of bits has a unique
//! polynomial in which no monomial contains a bit twice. So if some bits of a word select a multiple of another word,
//! the polynomial of the selection equals that of the multiple, for any gates. An example is a row of a multiplier
//! recoded after A. D. Booth (1951): `(b1 + b0 - 2 b2) x`. A bit that remains alone in a monomial is replaced by its
//! definition from its word, `floor(y / 2^k) - 2 floor(y / 2^(k+1))`, and the sum of the rows telescopes to the
//! product. Rewriting to polynomials is as in A. Mahzoon, D. Große, R. Drechsler, *RevSCA*, DAC 2019, but over words
//! instead of gates.

use super::rules::gcd;
use super::{Atom, AtomId, FormId, LinearForms, OrOverflow, Overflow, Range, Table, add, mul, power};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Largest number of monomials of one polynomial.
const MAX_MONOMIALS: usize = 1 << 20;
/// Cost in ticks of one monomial.
pub const MONOMIAL: u64 = 10;
/// Largest number of factors of a monomial.
const MAX_DEGREE: usize = 24;
/// Largest number of terms of a sum that is recognised as a wrapped number or a choice.
const MAX_WRAPPED: usize = 8;
/// Largest number of monomials that are created to factor one form.
const MAX_FACTORED: u64 = 1 << 14;
/// Largest number of indeterminates whose cofactors are tried as factors.
const MAX_COFACTORS: usize = 4;
/// Largest number of monomials in which names of products are expanded, and of such expansions.
const MAX_NAMED: usize = 1000;
const MAX_RENAMED: usize = 4;
/// Largest nesting depth of atoms.
const MAX_DEPTH: u32 = 100;

/// Definition of a bit as a logic function of others.
#[derive(Clone, Copy, Debug)]
pub enum Logic {
    /// Conjunction.
    And(FormId, FormId),
    /// Disjunction.
    Or(FormId, FormId),
    /// Exclusive or.
    Xor(FormId, FormId),
    /// The second form if the first one is 1, otherwise the third.
    Mux(FormId, FormId, FormId),
}

/// Indeterminate of a polynomial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Unit {
    /// A form that is 0 or 1.
    Bit(FormId),
    /// Any integer.
    Atom(AtomId),
}

/// Product of indeterminates in ascending order.
type Monomial = Box<[Unit]>;

/// Polynomial: coefficients by monomial, modulo `2^128`; none is zero modulo the question's power of two.
#[derive(Clone, Debug, Default)]
struct Polynomial(FxHashMap<Monomial, u128>);

/// Expansion of the forms of one question.
struct Expansion<'t> {
    terms: &'t mut LinearForms,
    mask: u128,
    forms: FxHashMap<FormId, Rc<Polynomial>>,
    /// Bits whose definitions are being expanded.
    open: FxHashSet<FormId>,
    /// Number of monomials that can still be created.
    left: u64,
}

impl LinearForms {
    /// Records the definition of a bit by other bits.
    pub fn tell_logic(&mut self, bit: FormId, logic: Logic) {
        if self.as_const(bit).is_none() {
            self.logic.entry(bit).or_insert(logic);
        }
    }

    /// Narrows the range of a form that is the product of two others once multiplied out, such as the sum of the rows
    /// of a multiplier. The terms of that sum may be negative, although a product of two unsigned numbers is not.
    pub(super) fn narrow_as_product(&mut self, f: FormId) -> OrOverflow<()> {
        if !self.selects(f) || !self.factored.insert(f) {
            return Ok(());
        }
        let mut run = Expansion::new(self, u128::MAX, MAX_FACTORED);
        // A truncated sum may have been offset by half its size to be unsigned.
        let moved = run.terms.constant_of(f);
        let factors = run.form(f, 0).and_then(|p| run.settled(&p)).and_then(|p| {
            let mut still = p.clone();
            still.add(Box::default(), (moved as u128).wrapping_neg(), u128::MAX);
            match run.factors(&still)? {
                Some(found) => Ok(Some((found, moved))),
                None if moved == 0 => Ok(None),
                None => Ok(run.factors(&p)?.map(|found| (found, 0))),
            }
        });
        let spent = MAX_FACTORED - run.left;
        self.work += MONOMIAL * spent;
        let Ok(Some(([a, b], moved))) = factors else { return Ok(()) };
        // If a bound overflows 127 bits, the range is not narrowed.
        let Ok(range) = product_range(self.range(a), self.range(b)) else { return Ok(()) };
        let (Ok(first), Ok(last)) = (add(range.0, moved), add(range.1, moved)) else { return Ok(()) };
        let (range, (lo, hi)) = ((first, last), self.range(f));
        // Form and product are equal modulo 2^128, and both have less than 127 bits.
        if lo <= range.1 && range.0 <= hi {
            self.narrow(f, range);
        }
        Ok(())
    }

    /// Returns `true` if a form is a short sum with a choice or a rectified number.
    fn chooses(&self, f: FormId) -> bool {
        let chooses = |(a, _)| matches!(self.atom(a), Atom::If(..) | Atom::Positive(_) | Atom::Monomial(_));
        self.len(f) <= MAX_WRAPPED && self.terms(f).any(chooses)
    }

    /// Returns `true` if a form is a sum of at least two choices or products.
    fn selects(&self, f: FormId) -> bool {
        let selects = |t: &(AtomId, i128)| matches!(self.atom(t.0), Atom::If(..) | Atom::Monomial(_));
        self.terms(f).filter(selects).nth(1).is_some()
    }

    /// Returns the product of two forms that equals a form modulo `2^width`, if its range is within `bounds`; otherwise
    /// `None`. The rows of a multiplier are truncated at the width of the product, so their sum equals the product only
    /// modulo that power of two.
    pub(super) fn product_within(&mut self, f: FormId, width: u32, bounds: Range) -> OrOverflow<Option<FormId>> {
        if width >= 126 || !self.selects(f) {
            return Ok(None);
        }
        if let Some(&known) = self.products.get(&(f, width, bounds)) {
            return Ok(known);
        }
        let mask = (1u128 << width) - 1;
        let mut run = Expansion::new(self, mask, MAX_FACTORED);
        let factors = run.form(f, 0).and_then(|p| run.settled(&p)).and_then(|mut p| {
            // Each coefficient becomes the residue of least magnitude.
            for c in p.0.values_mut() {
                *c = if *c > mask / 2 { c.wrapping_sub(mask + 1) } else { *c };
            }
            run.mask = u128::MAX;
            run.factors(&p)
        });
        let spent = MAX_FACTORED - run.left;
        self.work += MONOMIAL * spent;
        let mut out = None;
        if let Ok(Some([a, b])) = factors
            && let Ok(range) = product_range(self.range(a), self.range(b))
            && bounds.0 <= range.0
            && range.1 <= bounds.1
        {
            out = Some(self.times(a, b)?);
        }
        self.products.insert((f, width, bounds), out);
        Ok(out)
    }

    /// Narrows the range of `x - 2^k floor(x / 2^k)`.
    fn narrow_as_cut(&mut self, f: FormId) -> OrOverflow<()> {
        let parts: Vec<(AtomId, i128)> = self.terms(f).collect();
        let [one, other] = parts[..] else { return Ok(()) };
        for ((low, unit), (high, c)) in [(one, other), (other, one)] {
            let k = c.unsigned_abs().trailing_zeros();
            if unit != 1 || c >= 0 || c.unsigned_abs() != 1 << k || k == 0 || self.constant_of(f) != 0 {
                continue;
            }
            let low = self.single(low)?;
            if self.floor(low, k)? == self.single(high)? {
                self.narrow(f, (0, power(k)? - 1));
            }
        }
        Ok(())
    }

    /// Returns `true` if two forms are proved equal modulo `2^width` by multiplying out, with at most `work` monomials.
    /// `false` means undecided.
    ///
    /// # Errors
    /// [`Overflow`] if the expansion needs more monomials, or the forms grow too large.
    pub fn same_multiplied(&mut self, f: FormId, g: FormId, width: u32, work: u64) -> OrOverflow<bool> {
        let Some(d) = self.difference(f, g, width)? else { return Ok(true) };
        let mask = if width < 128 { (1 << width) - 1 } else { u128::MAX };
        let mut run = Expansion::new(self, mask, work);
        let mut out = run.form(d, 0).and_then(|p| run.settled(&p)).and_then(|p| run.without_squares(p));
        for _ in 0..MAX_RENAMED {
            match out {
                Ok(p) if run.names_product(&p) => out = run.without_names(&p).and_then(|p| run.without_squares(p)),
                _ => break,
            }
        }
        let spent = work - run.left;
        self.work += MONOMIAL * spent;
        Ok(out?.0.is_empty())
    }
}

/// Returns the bounds of the product of two numbers within the given ranges.
pub(super) fn product_range(a: Range, b: Range) -> OrOverflow<Range> {
    let all = [mul(a.0, b.0)?, mul(a.0, b.1)?, mul(a.1, b.0)?, mul(a.1, b.1)?];
    Ok((all.into_iter().fold(i128::MAX, i128::min), all.into_iter().fold(i128::MIN, i128::max)))
}

impl Polynomial {
    fn constant(value: i128, mask: u128) -> Polynomial {
        let mut out = Polynomial::default();
        out.add(Box::default(), value as u128, mask);
        out
    }

    fn unit(unit: Unit) -> Polynomial {
        Polynomial(FxHashMap::from_iter([(Box::from([unit]), 1)]))
    }

    fn add(&mut self, monomial: Monomial, factor: u128, mask: u128) {
        use std::collections::hash_map::Entry;
        match self.0.entry(monomial) {
            Entry::Occupied(mut there) => {
                let sum = there.get().wrapping_add(factor) & mask;
                if sum == 0 {
                    there.remove();
                } else {
                    *there.get_mut() = sum;
                }
            }
            Entry::Vacant(place) => {
                if factor & mask != 0 {
                    place.insert(factor & mask);
                }
            }
        }
    }
}

/// Returns the product of two monomials; a bit that both contain occurs once.
fn joined(a: &[Unit], b: &[Unit]) -> OrOverflow<Monomial> {
    let mut out: Vec<Unit> = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let from_a = j == b.len() || (i < a.len() && a[i] <= b[j]);
        let unit = if from_a { a[i] } else { b[j] };
        if from_a {
            i += 1;
        } else {
            j += 1;
        }
        if !(matches!(unit, Unit::Bit(_)) && out.last() == Some(&unit)) {
            out.push(unit);
        }
    }
    if out.len() > MAX_DEGREE { Err(Overflow) } else { Ok(out.into()) }
}

impl<'t> Expansion<'t> {
    fn new(terms: &'t mut LinearForms, mask: u128, left: u64) -> Expansion<'t> {
        Expansion { terms, mask, forms: FxHashMap::default(), open: FxHashSet::default(), left }
    }

    fn spend(&mut self, monomials: usize) -> OrOverflow<()> {
        self.left = self.left.checked_sub(monomials as u64).ok_or(Overflow)?;
        Ok(())
    }

    /// Adds `factor * p` to `to`.
    fn add(&mut self, to: &mut Polynomial, factor: i128, p: &Polynomial) -> OrOverflow<()> {
        self.spend(p.0.len())?;
        for (monomial, &c) in &p.0 {
            to.add(monomial.clone(), c.wrapping_mul(factor as u128), self.mask);
        }
        if to.0.len() > MAX_MONOMIALS { Err(Overflow) } else { Ok(()) }
    }

    fn times(&mut self, p: &Polynomial, q: &Polynomial) -> OrOverflow<Polynomial> {
        self.spend(p.0.len().saturating_mul(q.0.len()))?;
        let mut out = Polynomial::default();
        for (a, &c) in &p.0 {
            for (b, &d) in &q.0 {
                out.add(joined(a, b)?, c.wrapping_mul(d), self.mask);
            }
            if out.0.len() > MAX_MONOMIALS {
                return Err(Overflow);
            }
        }
        Ok(out)
    }

    /// Returns `true` if a form is 0 or 1 for every input.
    fn is_bit(&self, f: FormId) -> bool {
        let (lo, hi) = self.terms.range(f);
        lo >= 0 && hi <= 1
    }

    /// Returns `true` if a form is a sum of inputs, names, and terms that wrap the sum: even multiples of its sign or
    /// its high bits.
    fn is_wrapped(&self, f: FormId) -> bool {
        let is_turn = |a| matches!(self.terms.atom(a), Atom::Negative(_) | Atom::Floor(..));
        let plain = |a| matches!(self.terms.atom(a), Atom::Free(_) | Atom::Value(_));
        self.terms.len(f) <= MAX_WRAPPED
            && self.terms.terms(f).all(|(a, c)| plain(a) || (is_turn(a) && c % 2 == 0))
            && self.terms.terms(f).any(|(a, _)| plain(a))
    }

    fn form(&mut self, f: FormId, depth: u32) -> OrOverflow<Rc<Polynomial>> {
        if let Some(known) = self.forms.get(&f) {
            return Ok(known.clone());
        }
        if depth > MAX_DEPTH {
            return Err(Overflow);
        }
        let out = if let Some(c) = self.terms.as_const(f) {
            Polynomial::constant(c, self.mask)
        } else if self.is_bit(f) {
            self.bit(f, depth)?
        } else {
            let parts = self.terms.sum_of(f);
            let mut out = Polynomial::constant(parts.constant, self.mask);
            for (a, c) in parts.terms {
                if c as u128 & self.mask == 0 {
                    continue;
                }
                let part = self.atom(a, depth + 1)?;
                self.add(&mut out, c, &part)?;
            }
            out
        };
        let out = Rc::new(out);
        self.forms.insert(f, out.clone());
        Ok(out)
    }

    /// Returns the polynomial of a form that is 0 or 1.
    fn bit(&mut self, f: FormId, depth: u32) -> OrOverflow<Polynomial> {
        let other = self.terms.complement(f)?;
        // Definitions of bits may be cyclic, so a bit whose definition is being expanded is an indeterminate.
        if self.open.insert(f.min(other)) {
            let out = self.defined(f, other, depth + 1);
            self.open.remove(&f.min(other));
            if let Some(out) = out? {
                return Ok(out);
            }
        }
        let p = Polynomial::unit(Unit::Bit(f.min(other)));
        if f < other { Ok(p) } else { self.complement(&p) }
    }

    /// Returns the polynomial of a bit by its definition; `None` if no definition is known. `other` is the complement
    /// of the bit.
    fn defined(&mut self, f: FormId, other: FormId, depth: u32) -> OrOverflow<Option<Polynomial>> {
        if let Some(&logic) = self.terms.logic.get(&f) {
            return self.logic(logic, depth).map(Some);
        }
        if let Some(&logic) = self.terms.logic.get(&other) {
            let p = self.logic(logic, depth)?;
            return self.complement(&p).map(Some);
        }
        if let Some((a, factor)) = self.terms.only(f)
            && matches!(self.terms.atom(a), Atom::If(..) | Atom::Monomial(_) | Atom::Product(..))
        {
            let p = self.product(a, depth)?;
            let mut out = Polynomial::constant(self.terms.constant_of(f), self.mask);
            self.add(&mut out, factor, &p)?;
            return Ok(Some(out));
        }
        Ok(None)
    }

    /// Returns `1 - p`.
    fn complement(&mut self, p: &Polynomial) -> OrOverflow<Polynomial> {
        let mut out = Polynomial::constant(1, self.mask);
        self.add(&mut out, -1, p)?;
        Ok(out)
    }

    fn logic(&mut self, logic: Logic, depth: u32) -> OrOverflow<Polynomial> {
        let (x, y, none) = match logic {
            Logic::And(x, y) | Logic::Or(x, y) | Logic::Xor(x, y) => (x, y, None),
            Logic::Mux(c, x, y) => (c, x, Some(y)),
        };
        let (p, q) = (self.form(x, depth)?, self.form(y, depth)?);
        let both = self.times(&p, &q)?;
        let mut out = Polynomial::default();
        let more = match logic {
            Logic::And(..) => return Ok(both),
            Logic::Or(..) => -1,
            Logic::Xor(..) => -2,
            Logic::Mux(..) => {
                // c x + y - c y
                let no = self.form(none.ok_or(Overflow)?, depth)?;
                let held = self.times(&p, &no)?;
                self.add(&mut out, 1, &both)?;
                self.add(&mut out, 1, &no)?;
                self.add(&mut out, -1, &held)?;
                return Ok(out);
            }
        };
        self.add(&mut out, 1, &p)?;
        self.add(&mut out, 1, &q)?;
        self.add(&mut out, more, &both)?;
        Ok(out)
    }

    /// Returns the polynomial of an atom that is a product.
    fn product(&mut self, a: AtomId, depth: u32) -> OrOverflow<Polynomial> {
        match self.terms.atom(a).clone() {
            Atom::If(x, y) | Atom::Product(x, y) => {
                let (p, q) = (self.form(x, depth)?, self.form(y, depth)?);
                self.times(&p, &q)
            }
            Atom::Monomial(atoms) => {
                let mut out = Polynomial::constant(1, self.mask);
                for &b in atoms.iter() {
                    let part = self.atom(b, depth)?;
                    out = self.times(&out, &part)?;
                }
                Ok(out)
            }
            _ => Err(Overflow),
        }
    }

    fn atom(&mut self, a: AtomId, depth: u32) -> OrOverflow<Polynomial> {
        if self.terms.atom_range(a) == (0, 1) {
            let f = self.terms.single(a)?;
            return Ok((*self.form(f, depth)?).clone());
        }
        match *self.terms.atom(a) {
            Atom::If(..) | Atom::Monomial(_) | Atom::Product(..) => self.product(a, depth),
            Atom::Positive(x) => self.positive(x, x, depth),
            Atom::Table(x, ref table) => {
                let table = table.clone();
                match self.quadratic(x, &table, depth)? {
                    Some(out) => Ok(out),
                    None => Ok(Polynomial::unit(Unit::Atom(a))),
                }
            }
            // The name of a number that wraps is expanded, as the question may contain the number without its name.
            Atom::Value(x) if self.is_wrapped(x) => Ok((*self.form(x, depth)?).clone()),
            Atom::Floor(x, m) => {
                // The floor of a choice is the choice of the floors.
                let rest = self.terms.constant_of(x);
                match self.terms.only(x).map(|t| (self.terms.atom(t.0).clone(), t.1)) {
                    Some((Atom::If(c, y), factor)) => self.floors(c, (factor, y), rest, m, depth),
                    Some((Atom::Positive(y), factor)) => {
                        let below = self.terms.negative(y)?;
                        let above = self.terms.complement(below)?;
                        self.floors(above, (factor, y), rest, m, depth)
                    }
                    _ => Ok(Polynomial::unit(Unit::Atom(a))),
                }
            }
            _ => Ok(Polynomial::unit(Unit::Atom(a))),
        }
    }

    /// Returns the polynomial of `floor((c factor y + rest) / 2^m)`.
    fn floors(
        &mut self,
        c: FormId,
        (factor, y): (i128, FormId),
        rest: i128,
        m: u32,
        depth: u32,
    ) -> OrOverflow<Polynomial> {
        let chosen = self.terms.scale(y, factor)?;
        let chosen = self.terms.offset(chosen, rest)?;
        let yes = self.terms.floor(chosen, m)?;
        let no = rest.checked_shr(m).unwrap_or(rest >> 127);
        let difference = self.terms.offset(yes, -no)?;
        let (p, q) = (self.form(c, depth)?, self.form(difference, depth)?);
        let mut out = self.times(&p, &q)?;
        out.add(Box::default(), no as u128, self.mask);
        Ok(out)
    }

    /// Returns the polynomial of `part` if `x` is not negative, otherwise 0.
    fn positive(&mut self, x: FormId, part: FormId, depth: u32) -> OrOverflow<Polynomial> {
        let below = self.terms.negative(x)?;
        let (p, q) = (self.form(below, depth)?, self.form(part, depth)?);
        let without = self.times(&p, &q)?;
        let mut out = (*q).clone();
        self.add(&mut out, -1, &without)?;
        Ok(out)
    }

    /// Returns the polynomial of a table that is quadratic in its argument and the argument's high bits, such as a
    /// table of squares. Returns `None` for other tables.
    fn quadratic(&mut self, x: FormId, table: &Table, depth: u32) -> OrOverflow<Option<Polynomial>> {
        let size = table.values.len();
        self.terms.charge(size as u64);
        let mut found = Quadratic::interpolate(&table.values, table.first).map(|q| (x, q));
        if found.is_none() && size.is_power_of_two() {
            // Either the low bits of the argument or those of its negative may be the index of a table.
            let bits = size.trailing_zeros();
            for sign in [1, -1] {
                let at = |low: usize| (sign * low as i128 - table.first).rem_euclid(size as i128) as usize;
                let values: Vec<i128> = (0..size).map(|low| table.values[at(low)]).collect();
                if let Some(quadratic) = Quadratic::interpolate(&values, 0) {
                    let low = self.terms.scale(x, sign)?;
                    found = Some((self.terms.value(low, bits, false)?, quadratic));
                    break;
                }
            }
        }
        let Some((x, Quadratic { bit, factors: [xx, xh, hh, x1, h1, one] })) = found else { return Ok(None) };
        let high = self.terms.floor(x, bit)?;
        let (p, h) = (self.form(x, depth)?, self.form(high, depth)?);
        let mut out = Polynomial::constant(one, self.mask);
        self.add(&mut out, x1, &p)?;
        self.add(&mut out, h1, &h)?;
        for (factor, a, b) in [(xx, &p, &p), (xh, &p, &h), (hh, &h, &h)] {
            if factor != 0 {
                let product = self.times(a, b)?;
                self.add(&mut out, factor, &product)?;
            }
        }
        Ok(Some(out))
    }

    /// Replaces each bit of a word that is alone in its monomial, except for signs, by its definition from the word.
    fn settled(&mut self, p: &Polynomial) -> OrOverflow<Polynomial> {
        let mut out = Polynomial::default();
        for (monomial, &factor) in &p.0 {
            // Single terms such as signs are not bits of a larger word.
            let mut bits = monomial.iter().enumerate().filter_map(|(i, u)| match u {
                Unit::Bit(f) if self.terms.len(*f) > 1 => Some((i, *f)),
                _ => None,
            });
            let (Some((at, f)), None) = (bits.next(), bits.next()) else {
                out.add(monomial.clone(), factor, self.mask);
                continue;
            };
            let rest: Vec<Unit> = monomial.iter().enumerate().filter(|u| u.0 != at).map(|u| *u.1).collect();
            let parts = self.terms.sum_of(f);
            self.spend(parts.terms.len() + 1)?;
            out.add(rest.clone().into(), factor.wrapping_mul(parts.constant as u128), self.mask);
            for (a, c) in parts.terms {
                if let Atom::Value(x) = *self.terms.atom(a)
                    && self.is_wrapped(x)
                {
                    let number = self.form(x, 0)?;
                    self.spend(number.0.len())?;
                    for (part, &d) in &number.0 {
                        out.add(joined(&rest, part)?, factor.wrapping_mul(c as u128).wrapping_mul(d), self.mask);
                    }
                    continue;
                }
                let unit =
                    if self.terms.atom_range(a) == (0, 1) { Unit::Bit(self.terms.single(a)?) } else { Unit::Atom(a) };
                out.add(joined(&rest, &[unit])?, factor.wrapping_mul(c as u128), self.mask);
            }
        }
        Ok(out)
    }

    /// Replaces the squares of words. With the bit `b = f - 2 g` below `g = floor(f / 2)`, `b^2 = b`, and so `f^2 = 4 f
    /// g - 4 g^2 + f - 2 g`. A square computed by rows has a row for each bit, and has this form.
    fn without_squares(&mut self, p: Polynomial) -> OrOverflow<Polynomial> {
        let mut rest = p;
        let mut out = Polynomial::default();
        while !rest.0.is_empty() {
            let mut next = Polynomial::default();
            for (monomial, &c) in &rest.0 {
                let twice = monomial.windows(2).position(|w| w[0] == w[1]);
                let Some(at) = twice else {
                    out.add(monomial.clone(), c, self.mask);
                    continue;
                };
                let Unit::Atom(f) = monomial[at] else { return Err(Overflow) };
                let others: Monomial =
                    monomial.iter().enumerate().filter(|u| u.0 != at && u.0 != at + 1).map(|u| *u.1).collect();
                let f = self.terms.single(f)?;
                let g = self.terms.floor(f, 1)?;
                let (p, q) = (self.form(f, 0)?, self.form(g, 0)?);
                let (both, square) = (self.times(&p, &q)?, self.times(&q, &q)?);
                let mut sum = Polynomial::default();
                for (factor, part) in [(4, &both), (-4, &square), (1, &*p), (-2, &*q)] {
                    self.add(&mut sum, factor, part)?;
                }
                let mut with = Polynomial::default();
                with.add(others, c, self.mask);
                let more = self.times(&with, &sum)?;
                self.add(&mut next, 1, &more)?;
            }
            rest = next;
        }
        Ok(out)
    }

    /// Returns `true` if a polynomial has few monomials and one of them contains the name of a product.
    fn names_product(&self, p: &Polynomial) -> bool {
        p.0.len() <= MAX_NAMED && p.0.keys().any(|m| m.iter().any(|&u| self.named_product(u).is_some()))
    }

    /// Returns the definition of a name of a product; `None` for other indeterminates.
    fn named_product(&self, unit: Unit) -> Option<FormId> {
        match unit {
            Unit::Atom(a) => match *self.terms.atom(a) {
                Atom::Value(x) if self.terms.multiplies(x) || self.terms.chooses(x) => Some(x),
                _ => None,
            },
            Unit::Bit(_) => None,
        }
    }

    /// Replaces the names of products by their definitions.
    fn without_names(&mut self, p: &Polynomial) -> OrOverflow<Polynomial> {
        let mut out = Polynomial::default();
        for (monomial, &c) in &p.0 {
            let (named, others): (Vec<Unit>, Vec<Unit>) =
                monomial.iter().partition(|&&u| self.named_product(u).is_some());
            let mut all = Polynomial::default();
            all.add(others.into(), c, self.mask);
            for unit in named {
                let number = self.form(self.named_product(unit).ok_or(Overflow)?, 0)?;
                all = self.times(&all, &number)?;
            }
            self.add(&mut out, 1, &all)?;
        }
        Ok(out)
    }

    /// Returns two nonconstant forms with the product `p`; `None` if there are none.
    fn factors(&mut self, p: &Polynomial) -> OrOverflow<Option<[FormId; 2]>> {
        if p.0.keys().any(|m| m.len() > 2) {
            return Ok(None);
        }
        let mut units: Vec<Unit> = p.0.keys().flat_map(|m| m.iter().copied()).collect();
        units.sort_unstable();
        units.dedup();
        // If x occurs in only one of two factors, its cofactor is the other factor.
        let mut left = MAX_COFACTORS;
        for x in units {
            if left == 0 {
                break;
            }
            let Some(cofactor) = cofactor(p, x) else { continue };
            left -= 1;
            if let Some(quotient) = self.quotient(p, &cofactor)? {
                let factors = [self.linear(&cofactor)?, self.linear(&quotient)?];
                for factor in factors {
                    self.terms.narrow_as_cut(factor)?;
                }
                return Ok(Some(factors));
            }
        }
        Ok(None)
    }

    /// Returns `p / by` if the quotient is a linear form, for a linear form `by` that contains an indeterminate with
    /// coefficient 1 or -1.
    fn quotient(&mut self, p: &Polynomial, by: &Polynomial) -> OrOverflow<Option<Polynomial>> {
        let once = |(m, &c): (&Monomial, &u128)| match m[..] {
            [x] if c == 1 || c == u128::MAX => Some((x, c)),
            _ => None,
        };
        let Some((lead, sign)) = by.0.iter().filter_map(once).min() else { return Ok(None) };
        let (mut rest, mut out) = (p.clone(), Polynomial::default());
        for power in [2, 1] {
            let count = |m: &Monomial| m.iter().filter(|&&x| x == lead).count();
            let mut found: Vec<(Monomial, u128)> =
                rest.0.iter().filter(|(m, _)| count(m) == power).map(|(m, &c)| (m.clone(), c)).collect();
            found.sort_unstable();
            for (monomial, c) in found {
                let at = monomial.iter().position(|&x| x == lead).ok_or(Overflow)?;
                let part: Monomial = monomial.iter().enumerate().filter(|u| u.0 != at).map(|u| *u.1).collect();
                let factor = c.wrapping_mul(sign);
                self.spend(by.0.len())?;
                for (other, &d) in &by.0 {
                    rest.add(joined(&part, other)?, factor.wrapping_mul(d).wrapping_neg(), self.mask);
                }
                out.add(part, factor, self.mask);
            }
        }
        let linear = out.0.keys().all(|m| m.len() < 2) && out.0.keys().any(|m| m.len() == 1);
        Ok((rest.0.is_empty() && linear).then_some(out))
    }

    /// Returns a linear polynomial as a form.
    fn linear(&mut self, p: &Polynomial) -> OrOverflow<FormId> {
        let mut out = self.terms.constant(0);
        // Sorted, because forms are numbered in the order of their creation.
        let mut parts: Vec<(&Monomial, i128)> = p.0.iter().map(|(m, &c)| (m, c as i128)).collect();
        parts.sort_unstable();
        for (monomial, c) in parts {
            let part = match monomial[..] {
                [] => self.terms.constant(1),
                [Unit::Bit(f)] => f,
                [Unit::Atom(a)] => self.terms.single(a)?,
                _ => return Err(Overflow),
            };
            out = self.terms.linear(out, c, part)?;
        }
        Ok(out)
    }
}

/// A function that is quadratic in `x` and `h = floor(x / 2^bit)`.
struct Quadratic {
    bit: u32,
    /// Coefficients of `x^2`, `x h`, `h^2`, `x`, `h` and 1.
    factors: [i128; 6],
}

impl Quadratic {
    /// Returns the quadratic function with the given values from `first` up; `None` if there is none, or if the values
    /// lie on a straight line.
    fn interpolate(values: &[i128], first: i128) -> Option<Quadratic> {
        // With these bounds no number below exceeds 127 bits.
        let fits = |v: &i128| v.unsigned_abs() < 1 << 40;
        let size = values.len() as i128;
        if !(8..=1 << 16).contains(&size) || first.unsigned_abs() > 1 << 16 || !values.iter().all(fits) {
            return None;
        }
        let at = |x: i128| usize::try_from(x - first).ok().and_then(|i| values.get(i)).copied();
        let bits = values.len().next_power_of_two().trailing_zeros();
        // Tries widths in descending order: first without high bits, then with more and more of them.
        (2..=bits).rev().find_map(|bit| {
            let step = 1i128 << bit;
            // First of at least three arguments with the same h.
            let start = if first.rem_euclid(step) + 3 <= step { first } else { (first.div_euclid(step) + 1) * step };
            let (u, v, w) = (at(start)?, at(start + 1)?, at(start + 2)?);
            let twice = w - 2 * v + u;
            if twice % 2 != 0 || twice == 0 {
                return None;
            }
            let xx = twice / 2;
            // From the values `u` at `start` and `v` at the next argument.
            let slope = v - u - xx * (2 * start + 1);
            let h = start.div_euclid(step);
            let rest = u - xx * start * start - slope * start;
            // Slopes and constants of the next two runs.
            let next = |k: i128| {
                let from = (h + k) * step;
                let (u, v) = (at(from)?, at(from + 1)?);
                let slope = v - u - xx * (2 * from + 1);
                Some((slope, u - xx * from * from - slope * from))
            };
            let (slope1, rest1) = next(1).unwrap_or((slope, rest));
            let xh = slope1 - slope;
            let (first_step, second) = (rest1 - rest, next(2).map_or(0, |(_, rest2)| rest2 - 2 * rest1 + rest));
            if second % 2 != 0 {
                return None;
            }
            // rest = hh h^2 + h1 h + one for h, h + 1 and h + 2.
            let hh = second / 2;
            let h1 = first_step - hh * (2 * h + 1);
            let (x1, one) = (slope - xh * h, rest - hh * h * h - h1 * h);
            let is_so = (first..first + size).zip(values).all(|(x, &value)| {
                let h = x >> bit;
                xx * x * x + xh * x * h + hh * h * h + x1 * x + h1 * h + one == value
            });
            is_so.then_some(Quadratic { bit, factors: [xx, xh, hh, x1, h1, one] })
        })
    }
}

/// Returns the cofactor of `x` in a polynomial of monomials with at most two indeterminates, divided by its content.
/// Returns `None` if the cofactor is constant, or if `x` is squared.
fn cofactor(p: &Polynomial, x: Unit) -> Option<Polynomial> {
    let mut out = Polynomial::default();
    for (monomial, &c) in p.0.iter().filter(|(m, _)| m.contains(&x)) {
        let rest: Monomial = match monomial[..] {
            [a, b] if a == b => return None,
            [a, b] => Box::from([if a == x { b } else { a }]),
            _ => Box::default(),
        };
        out.add(rest, c, u128::MAX);
    }
    let content = out.0.values().fold(0, |g, &c| gcd(g, c as i128));
    if out.0.keys().all(|m| m.is_empty()) {
        return None;
    }
    out.0.values_mut().for_each(|c| *c = (*c as i128 / content) as u128);
    Some(out)
}
