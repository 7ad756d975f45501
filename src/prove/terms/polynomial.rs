//! Sums of products multiplied out: polynomials with exact integer coefficients, modulo a power of two.
//!
//! Forms keep a choice `c x` and a long product as one atom each. Where that is not enough, both sides of a question are
//! multiplied out here, over atoms and over *bits*: conditions that are 0 or 1 for every input, and so their own squares.
//! Logic of bits is arithmetic (`a xor b = a + b - 2 a b`), and a polynomial in bits of which none occurs twice in a
//! monomial is the only one for its function. So whatever selects a multiple of a word by some bits of another is the same
//! polynomial as the multiple that it selects: for a row of a multiplier recoded after A. D. Booth (1951),
//! `(b1 + b0 - 2 b2) x`, whichever gates make it. A bit that is left alone in a monomial is then what it is of its word,
//! `floor(y / 2^k) - 2 floor(y / 2^(k+1))`, and the rows' sum telescopes to the product (rewriting to polynomials as in A.
//! Mahzoon, D. Große, R. Drechsler, *RevSCA*, DAC 2019, but on words instead of gates).

use super::{Atom, AtomId, Beyond, Fit, FormId, Terms};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Most monomials of one polynomial.
const MAX_MONOMIALS: usize = 1 << 20;
/// Units of work of one.
pub const MONOMIAL: u64 = 10;
/// Most factors of a monomial.
const MAX_DEGREE: usize = 24;
/// Most terms of a number that wraps, which is looked at under its name.
const MAX_WRAPPED: usize = 8;
/// Depth of atoms within atoms.
const MAX_DEPTH: u32 = 100;

/// How a bit comes from others.
#[derive(Clone, Copy, Debug)]
pub enum Logic {
    /// Both.
    And(FormId, FormId),
    /// Either.
    Or(FormId, FormId),
    /// One of them.
    Xor(FormId, FormId),
    /// The second where the first is set, else the third.
    Mux(FormId, FormId, FormId),
}

/// An indeterminate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Unit {
    /// A form that is 0 or 1.
    Bit(FormId),
    /// Any integer.
    Atom(AtomId),
}

/// A product of indeterminates in order.
type Monomial = Box<[Unit]>;

/// Coefficients by monomial, modulo `2^128`; none is zero modulo the question's power of two.
#[derive(Clone, Debug, Default)]
struct Polynomial(FxHashMap<Monomial, u128>);

/// One question.
struct Expansion<'t> {
    terms: &'t mut Terms,
    mask: u128,
    forms: FxHashMap<FormId, Rc<Polynomial>>,
    /// Bits that are being said by others.
    open: FxHashSet<FormId>,
    /// Monomials that may still be made.
    left: u64,
}

impl Terms {
    /// Remembers how a bit comes from others.
    pub fn tell_logic(&mut self, bit: FormId, logic: Logic) {
        if self.as_const(bit).is_none() {
            self.logic.entry(bit).or_insert(logic);
        }
    }

    /// Whether two forms are equal modulo `2^width` once multiplied out, in at most `work` monomials. False says nothing.
    ///
    /// # Errors
    /// [`Beyond`] where that takes more, or the forms grow too large.
    pub fn same_multiplied(&mut self, f: FormId, g: FormId, width: u32, work: u64) -> Fit<bool> {
        let Some(d) = self.difference(f, g, width)? else { return Ok(true) };
        let mask = if width < 128 { (1 << width) - 1 } else { u128::MAX };
        let mut run =
            Expansion { terms: self, mask, forms: FxHashMap::default(), open: FxHashSet::default(), left: work };
        let out = run.form(d, 0).and_then(|p| run.settled(&p));
        let spent = work - run.left;
        self.work += MONOMIAL * spent;
        Ok(out?.0.is_empty())
    }
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

/// The product of two monomials: bits once.
fn joined(a: &[Unit], b: &[Unit]) -> Fit<Monomial> {
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
    if out.len() > MAX_DEGREE { Err(Beyond) } else { Ok(out.into()) }
}

impl Expansion<'_> {
    fn spend(&mut self, monomials: usize) -> Fit<()> {
        self.left = self.left.checked_sub(monomials as u64).ok_or(Beyond)?;
        Ok(())
    }

    /// `to + factor * p`.
    fn add(&mut self, to: &mut Polynomial, factor: i128, p: &Polynomial) -> Fit<()> {
        self.spend(p.0.len())?;
        for (monomial, &c) in &p.0 {
            to.add(monomial.clone(), c.wrapping_mul(factor as u128), self.mask);
        }
        if to.0.len() > MAX_MONOMIALS { Err(Beyond) } else { Ok(()) }
    }

    fn times(&mut self, p: &Polynomial, q: &Polynomial) -> Fit<Polynomial> {
        self.spend(p.0.len().saturating_mul(q.0.len()))?;
        let mut out = Polynomial::default();
        for (a, &c) in &p.0 {
            for (b, &d) in &q.0 {
                out.add(joined(a, b)?, c.wrapping_mul(d), self.mask);
            }
            if out.0.len() > MAX_MONOMIALS {
                return Err(Beyond);
            }
        }
        Ok(out)
    }

    /// Whether a form is 0 or 1 for every input.
    fn is_bit(&self, f: FormId) -> bool {
        let (lo, hi) = self.terms.range(f);
        lo >= 0 && hi <= 1
    }

    /// Whether a form is a sum of inputs and names, and turns of it: even multiples of its sign or its high bits.
    fn is_wrapped(&self, f: FormId) -> bool {
        let is_turn = |a| matches!(self.terms.atom(a), Atom::Negative(_) | Atom::Floor(..));
        let plain = |a| matches!(self.terms.atom(a), Atom::Free(_) | Atom::Value(_));
        self.terms.len(f) <= MAX_WRAPPED
            && self.terms.terms(f).all(|(a, c)| plain(a) || (is_turn(a) && c % 2 == 0))
            && self.terms.terms(f).any(|(a, _)| plain(a))
    }

    fn form(&mut self, f: FormId, depth: u32) -> Fit<Rc<Polynomial>> {
        if let Some(known) = self.forms.get(&f) {
            return Ok(known.clone());
        }
        if depth > MAX_DEPTH {
            return Err(Beyond);
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

    /// A form that is 0 or 1.
    fn bit(&mut self, f: FormId, depth: u32) -> Fit<Polynomial> {
        let other = self.terms.complement(f)?;
        // Bits may be said by each other, and in the end by themselves: then they are indeterminates.
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

    /// A bit by others, if it is known how; and the form that is 1 where it is 0.
    fn defined(&mut self, f: FormId, other: FormId, depth: u32) -> Fit<Option<Polynomial>> {
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

    /// `1 - p`.
    fn complement(&mut self, p: &Polynomial) -> Fit<Polynomial> {
        let mut out = Polynomial::constant(1, self.mask);
        self.add(&mut out, -1, p)?;
        Ok(out)
    }

    fn logic(&mut self, logic: Logic, depth: u32) -> Fit<Polynomial> {
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
                let no = self.form(none.ok_or(Beyond)?, depth)?;
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

    /// An atom that is a product.
    fn product(&mut self, a: AtomId, depth: u32) -> Fit<Polynomial> {
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
            _ => Err(Beyond),
        }
    }

    fn atom(&mut self, a: AtomId, depth: u32) -> Fit<Polynomial> {
        if self.terms.atom_range(a) == (0, 1) {
            let f = self.terms.single(a)?;
            return Ok((*self.form(f, depth)?).clone());
        }
        match *self.terms.atom(a) {
            Atom::If(..) | Atom::Monomial(_) | Atom::Product(..) => self.product(a, depth),
            Atom::Positive(x) => self.positive(x, x, depth),
            // The name of a number that wraps: the number may be in the question under its own.
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

    /// `floor((c factor y + rest) / 2^m)`.
    fn floors(&mut self, c: FormId, (factor, y): (i128, FormId), rest: i128, m: u32, depth: u32) -> Fit<Polynomial> {
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

    /// `part` where `x` is not negative, else 0.
    fn positive(&mut self, x: FormId, part: FormId, depth: u32) -> Fit<Polynomial> {
        let below = self.terms.negative(x)?;
        let (p, q) = (self.form(below, depth)?, self.form(part, depth)?);
        let without = self.times(&p, &q)?;
        let mut out = (*q).clone();
        self.add(&mut out, -1, &without)?;
        Ok(out)
    }

    /// Bits of words that are alone in their monomial, but for signs, as what they are of their words.
    fn settled(&mut self, p: &Polynomial) -> Fit<Polynomial> {
        let mut out = Polynomial::default();
        for (monomial, &factor) in &p.0 {
            // Signs and the like are words of their own.
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
}
