//! Values as sums of others, exactly: what cancels between two operands is not counted twice.
//!
//! Interval arithmetic takes `(a + b) + (a - b)` for something that may be as large as `2a + 2b`. An affine form (J.
//! Stolfi, L. H. de Figueiredo, *Self-Validated Numerical Methods*, 1997, chapter 3) remembers what a value is a sum
//! of: here an integer multiple of every *atom*, a value that is no exact sum itself (an input, a product, something
//! cut or wrapped). The forms are exact, there is no error term; a form of more than [`TERMS`] atoms is given up, and
//! its value is an atom from there on.

use super::facts::Range;
use alir_core::ir::ValueId;

/// The most atoms of one form: what a sum costs is bounded by it.
const TERMS: usize = 64;

/// A multiple of an atom's code.
pub(super) type Multiple = (ValueId, i64);

/// `(constant + sum of coefficient * code of atom) * 2^-frac`.
#[derive(Clone, Debug)]
pub(super) struct Form {
    head: Head,
    /// In order of the atoms, no coefficient is zero.
    terms: Vec<Multiple>,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    frac: i64,
    constant: i64,
    /// Range of the sum, from the ranges of its atoms.
    lo: i128,
    hi: i128,
    /// Low bits that are clear, by the coefficients.
    zeros: u32,
}

/// A form to be read: one that is kept, or an atom.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    head: Head,
    terms: &'a [Multiple],
}

impl<'a> View<'a> {
    /// The value itself, whose step is `2^-frac`: `own` says that it is there once.
    pub(super) fn atom(own: &'a [Multiple; 1], frac: i64, range: Range) -> View<'a> {
        View { head: Head { frac, constant: 0, lo: range.lo, hi: range.hi, zeros: 0 }, terms: own }
    }

    /// A number in steps of `2^-frac`; `None` if it is too large.
    pub(super) fn constant(value: i128, frac: i64) -> Option<View<'a>> {
        let zeros = value.trailing_zeros();
        let constant = i64::try_from(value).ok()?;
        Some(View { head: Head { frac, constant, lo: value, hi: value, zeros }, terms: &[] })
    }

    /// `2^shift` times this.
    pub(super) fn shifted(mut self, shift: i32) -> View<'a> {
        self.head.frac -= i64::from(shift);
        self
    }

    /// Kept, in the room that is given.
    pub(super) fn kept(self, mut room: Vec<Multiple>) -> Form {
        room.clear();
        room.extend_from_slice(self.terms);
        Form { head: self.head, terms: room }
    }

    /// This plus `other * 2^shift`, or minus it, in the room that is given; `None` if it has too many terms or numbers
    /// too large. `range` are those of the atoms: asked only for what both sides have, so that a sum of unlike things
    /// costs one merge.
    pub(super) fn plus(
        self,
        other: View<'_>,
        shift: i32,
        neg: bool,
        room: Vec<Multiple>,
        range: impl Fn(ValueId) -> Option<Range>,
    ) -> Option<Form> {
        let other_frac = other.head.frac - i64::from(shift);
        let frac = self.head.frac.max(other_frac);
        let (f, g) = (step(frac - self.head.frac)?, step(frac - other_frac)?);
        let g = if neg { -g } else { g };
        let constant = self.head.constant.checked_mul(f)?.checked_add(other.head.constant.checked_mul(g)?)?;
        let (mut lo, mut hi) = scaled(self.head.lo, self.head.hi, f)?;
        let (other_lo, other_hi) = scaled(other.head.lo, other.head.hi, g)?;
        (lo, hi) = (lo.checked_add(other_lo)?, hi.checked_add(other_hi)?);
        let mut terms = room;
        terms.clear();
        terms.reserve((self.terms.len() + other.terms.len()).min(TERMS));
        let mut set = constant;
        let (mut a, mut b) = (self.terms, other.terms);
        loop {
            let (id, c) = match (a, b) {
                ([(x, p), rest @ ..], [(y, _), ..]) if x < y => {
                    a = rest;
                    (*x, p.checked_mul(f)?)
                }
                ([(x, p), rest_a @ ..], [(y, q), rest_b @ ..]) if x == y => {
                    (a, b) = (rest_a, rest_b);
                    let (p, q) = (p.checked_mul(f)?, q.checked_mul(g)?);
                    let sum = p.checked_add(q)?;
                    // The ends count what the two have in common once for each.
                    let r = range(*x)?;
                    let [one, two, both] = [p, q, sum].map(|c| scaled(r.lo, r.hi, c));
                    let ((one_lo, one_hi), (two_lo, two_hi), (both_lo, both_hi)) = (one?, two?, both?);
                    lo = lo.checked_add(both_lo - one_lo - two_lo)?;
                    hi = hi.checked_add(both_hi - one_hi - two_hi)?;
                    (*x, sum)
                }
                (_, [(y, q), rest @ ..]) => {
                    b = rest;
                    (*y, q.checked_mul(g)?)
                }
                ([(x, p), rest @ ..], []) => {
                    a = rest;
                    (*x, p.checked_mul(f)?)
                }
                ([], []) => break,
            };
            if c != 0 {
                if terms.len() == TERMS {
                    return None;
                }
                set |= c;
                terms.push((id, c));
            }
        }
        let zeros = if set == 0 { 127 } else { set.trailing_zeros() };
        Some(Form { head: Head { frac, constant, lo, hi, zeros }, terms })
    }
}

impl Form {
    /// To be read.
    pub(super) fn view(&self) -> View<'_> {
        View { head: self.head, terms: &self.terms }
    }

    /// Its step is `2^-frac`.
    pub(super) fn frac(&self) -> i64 {
        self.head.frac
    }

    /// Returns the range of the sum in its steps, from the ranges of its atoms.
    pub(super) fn range(&self) -> Range {
        Range::new(self.head.lo, self.head.hi, self.head.zeros)
    }
}

/// The forms of values, in as much room as those take that live at one time.
#[derive(Default)]
pub(super) struct Forms {
    /// Where the form of a value is; [`Forms::NONE`] if it has none.
    at: Vec<u32>,
    forms: Vec<Form>,
    free: Vec<u32>,
    /// Terms of forms that are gone.
    rooms: Vec<Vec<Multiple>>,
}

impl Forms {
    const NONE: u32 = u32::MAX;

    /// For that many values, none of which has a form yet.
    pub(super) fn none(n: usize) -> Forms {
        Forms { at: vec![Forms::NONE; n], ..Forms::default() }
    }

    /// The form of a value.
    pub(super) fn get(&self, v: ValueId) -> Option<&Form> {
        self.forms.get(self.at[v.index()] as usize)
    }

    /// Room for the terms of a form.
    pub(super) fn room(&mut self) -> Vec<Multiple> {
        self.rooms.pop().unwrap_or_default()
    }

    /// Says that a form is of no use.
    pub(super) fn spare(&mut self, form: Form) {
        self.rooms.push(form.terms);
    }

    /// Gives a value its form.
    pub(super) fn set(&mut self, v: ValueId, form: Form) {
        let at = self.free.pop().unwrap_or(self.forms.len() as u32);
        match self.forms.get_mut(at as usize) {
            Some(place) => *place = form,
            None => self.forms.push(form),
        }
        self.at[v.index()] = at;
    }

    /// Forgets the form of a value.
    pub(super) fn drop(&mut self, v: ValueId) {
        let at = std::mem::replace(&mut self.at[v.index()], Forms::NONE);
        if let Some(form) = self.forms.get_mut(at as usize) {
            self.rooms.push(std::mem::take(&mut form.terms));
            self.free.push(at);
        }
    }
}

/// `2^by`.
fn step(by: i64) -> Option<i64> {
    u32::try_from(by).ok().filter(|&by| by < 62).map(|by| 1i64 << by)
}

/// Bounds of `c` times what lies between these; `None` where that may be large enough for three of them to overflow.
fn scaled(lo: i128, hi: i128, c: i64) -> Option<(i128, i128)> {
    const BOUND: i128 = 1 << 122;
    if let (Ok(lo), Ok(hi)) = (i64::try_from(lo), i64::try_from(hi)) {
        let (a, b) = (i128::from(lo) * i128::from(c), i128::from(hi) * i128::from(c));
        let (lo, hi) = if c < 0 { (b, a) } else { (a, b) };
        return (lo > -BOUND && hi < BOUND).then_some((lo, hi));
    }
    let (a, b) = (lo.checked_mul(c.into())?, hi.checked_mul(c.into())?);
    let (lo, hi) = if c < 0 { (b, a) } else { (a, b) };
    (lo > -BOUND && hi < BOUND).then_some((lo, hi))
}
