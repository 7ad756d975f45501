//! Values as sums of others, exactly: what cancels between two operands is not counted twice.
//!
//! Interval arithmetic takes `(a + b) + (a - b)` for something that may be as large as `2a + 2b`. An affine form (J. Stolfi,
//! L. H. de Figueiredo, *Self-Validated Numerical Methods*, 1997, chapter 3) remembers what a value is a sum of: here an integer
//! multiple of every *atom*, a value that is no exact sum itself (an input, a product, something cut or wrapped). The forms are exact,
//! there is no error term; a form of more than [`TERMS`] atoms is given up, and its value is an atom from there on.

use super::facts::Range;
use crate::ir::ValueId;

/// The most atoms of one form: what a sum costs is bounded by it.
const TERMS: usize = 64;

/// `(constant + sum of coefficient * code of atom) * 2^-frac`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Form {
    frac: i64,
    constant: i64,
    /// In order of the atoms, no coefficient is zero.
    terms: Box<[(ValueId, i64)]>,
}

impl Form {
    /// Below this many fractional bits nothing of it is left, whatever the atoms are.
    pub(super) fn frac(&self) -> i64 {
        self.frac
    }

    /// The value itself, whose step is `2^-frac`.
    pub(super) fn atom(id: ValueId, frac: i64) -> Form {
        Form { frac, constant: 0, terms: Box::new([(id, 1)]) }
    }

    /// A number in steps of `2^-frac`; `None` if it is too large.
    pub(super) fn constant(value: i128, frac: i64) -> Option<Form> {
        Some(Form { frac, constant: i64::try_from(value).ok()?, terms: Box::new([]) })
    }

    /// `2^shift` times this.
    pub(super) fn shifted(mut self, shift: i32) -> Form {
        self.frac -= i64::from(shift);
        self
    }

    /// Minus this.
    pub(super) fn negated(mut self) -> Option<Form> {
        self.constant = self.constant.checked_neg()?;
        for (_, c) in &mut self.terms {
            *c = c.checked_neg()?;
        }
        Some(self)
    }

    /// What it can be, in steps of `2^-frac`, by what its atoms can be; `None` if an atom's range is not known.
    pub(super) fn range(&self, atom: impl Fn(ValueId) -> Option<Range>) -> Option<Range> {
        let mut sum = Range::exactly(self.constant.into());
        for &(id, c) in &self.terms {
            sum = sum.add(atom(id)?.mul(Range::exactly(c.into()))?)?;
        }
        Some(sum)
    }

    /// This in smaller steps.
    fn refined(&self, frac: i64) -> Option<i64> {
        let by = u32::try_from(frac - self.frac).ok().filter(|&by| by < 62)?;
        Some(1i64 << by)
    }

    /// This plus `other * 2^shift`, or minus it. `None` if it has too many terms or coefficients too large.
    pub(super) fn plus(&self, other: &Form, shift: i32, neg: bool) -> Option<Form> {
        let other_frac = other.frac - i64::from(shift);
        let frac = self.frac.max(other_frac);
        let by = u32::try_from(frac - other_frac).ok().filter(|&by| by < 62)?;
        let (f, g) = (self.refined(frac)?, (1i64 << by) * if neg { -1 } else { 1 });
        let constant = self.constant.checked_mul(f)?.checked_add(other.constant.checked_mul(g)?)?;
        let mut terms = Vec::with_capacity((self.terms.len() + other.terms.len()).min(TERMS));
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let id = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) => x.0.min(y.0),
                (Some(x), None) | (None, Some(x)) => x.0,
                (None, None) => break,
            };
            let mut c = 0i64;
            if let Some(&(_, p)) = a.next_if(|t| t.0 == id) {
                c = p.checked_mul(f)?;
            }
            if let Some(&(_, q)) = b.next_if(|t| t.0 == id) {
                c = c.checked_add(q.checked_mul(g)?)?;
            }
            if c != 0 {
                if terms.len() == TERMS {
                    return None;
                }
                terms.push((id, c));
            }
        }
        Some(Form { frac, constant, terms: terms.into() })
    }
}
