//! Exact linear forms of values, so that equal terms of two operands cancel in range analysis.
//!
//! Interval arithmetic bounds `(a + b) + (a - b)` as if it could be as large as `2a + 2b`. An affine form (J. Stolfi,
//! L. H. de Figueiredo, *Self-Validated Numerical Methods*, 1997, chapter 3) records the terms of a sum: here an
//! integer multiple of every *atom*, a value that is not an exact sum (an input, a product, a truncated or wrapped
//! value). The forms are exact, without error term. A form of more than [`TERMS`] atoms is dropped, and its value
//! becomes an atom.

use super::facts::Range;
use alir_core::ir::ValueId;

/// Maximum number of atoms of one form, which bounds the work for a sum.
const TERMS: usize = 64;

/// An atom, and the factor of its raw integer value.
pub(super) type Multiple = (ValueId, i64);

/// Linear form `(constant + sum of coefficient * raw integer value of atom) * 2^-frac`.
#[derive(Clone, Debug)]
pub(super) struct Form {
    head: Head,
    /// Terms in the order of the atoms; no coefficient is zero.
    terms: Vec<Multiple>,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    frac: i64,
    constant: i64,
    /// Range of the sum, from the ranges of its atoms.
    lo: i128,
    hi: i128,
    /// Number of low bits that are clear because of the coefficients.
    zeros: u32,
}

/// A form that is read: a stored form, or a single atom.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    head: Head,
    terms: &'a [Multiple],
}

impl<'a> View<'a> {
    /// Returns the view of a value as an atom whose step is `2^-frac`; `own` is the value with the factor one.
    pub(super) fn atom(own: &'a [Multiple; 1], frac: i64, range: Range) -> View<'a> {
        View { head: Head { frac, constant: 0, lo: range.lo, hi: range.hi, zeros: 0 }, terms: own }
    }

    /// Returns the view of a constant in steps of `2^-frac`; `None` if the constant is too large.
    pub(super) fn constant(value: i128, frac: i64) -> Option<View<'a>> {
        let zeros = value.trailing_zeros();
        let constant = i64::try_from(value).ok()?;
        Some(View { head: Head { frac, constant, lo: value, hi: value, zeros }, terms: &[] })
    }

    /// Returns the view multiplied by `2^shift`.
    pub(super) fn shifted(mut self, shift: i32) -> View<'a> {
        self.head.frac -= i64::from(shift);
        self
    }

    /// Returns the view as a form, whose terms are stored in the memory of `room`.
    pub(super) fn kept(self, mut room: Vec<Multiple>) -> Form {
        room.clear();
        room.extend_from_slice(self.terms);
        Form { head: self.head, terms: room }
    }

    /// Returns this view plus or minus `other * 2^shift`, stored in the memory of `room`; `None` if there are too many
    /// terms or numbers are too large. `range` returns the ranges of atoms; it is called only for atoms of both views,
    /// so that a sum without common atoms costs one merge.
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
                    // The sum of the ends includes a common atom once for each operand.
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
    /// Returns a view of the form.
    pub(super) fn view(&self) -> View<'_> {
        View { head: self.head, terms: &self.terms }
    }

    /// Returns the number of fractional bits: the step of the form is `2^-frac`.
    pub(super) fn frac(&self) -> i64 {
        self.head.frac
    }

    /// Returns the range of the sum in its steps, from the ranges of its atoms.
    pub(super) fn range(&self) -> Range {
        Range::new(self.head.lo, self.head.hi, self.head.zeros)
    }
}

/// Forms of values, in memory for the largest number of forms that exist at one time.
#[derive(Default)]
pub(super) struct Forms {
    /// Index of the form of each value; [`Forms::NONE`] if the value has none.
    at: Vec<u32>,
    forms: Vec<Form>,
    free: Vec<u32>,
    /// Memory of dropped forms, to be reused for terms.
    rooms: Vec<Vec<Multiple>>,
}

impl Forms {
    const NONE: u32 = u32::MAX;

    /// Returns an empty store for `n` values.
    pub(super) fn none(n: usize) -> Forms {
        Forms { at: vec![Forms::NONE; n], ..Forms::default() }
    }

    /// Returns the form of a value, or `None`.
    pub(super) fn get(&self, v: ValueId) -> Option<&Form> {
        self.forms.get(self.at[v.index()] as usize)
    }

    /// Returns memory for the terms of a form.
    pub(super) fn room(&mut self) -> Vec<Multiple> {
        self.rooms.pop().unwrap_or_default()
    }

    /// Drops an unused form, and keeps its memory.
    pub(super) fn spare(&mut self, form: Form) {
        self.rooms.push(form.terms);
    }

    /// Sets the form of a value.
    pub(super) fn set(&mut self, v: ValueId, form: Form) {
        let at = self.free.pop().unwrap_or(self.forms.len() as u32);
        match self.forms.get_mut(at as usize) {
            Some(place) => *place = form,
            None => self.forms.push(form),
        }
        self.at[v.index()] = at;
    }

    /// Drops the form of a value, and keeps its memory.
    pub(super) fn drop(&mut self, v: ValueId) {
        let at = std::mem::replace(&mut self.at[v.index()], Forms::NONE);
        if let Some(form) = self.forms.get_mut(at as usize) {
            self.rooms.push(std::mem::take(&mut form.terms));
            self.free.push(at);
        }
    }
}

/// Returns `2^by`, or `None` if it is too large.
fn step(by: i64) -> Option<i64> {
    u32::try_from(by).ok().filter(|&by| by < 62).map(|by| 1i64 << by)
}

/// Returns the bounds of `c` times a value between `lo` and `hi`; `None` if the sum of three such bounds could
/// overflow.
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
