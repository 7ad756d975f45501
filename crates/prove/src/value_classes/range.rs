//! Ranges of numbers, sums over classes, and affine images.

use alir_core::num::{Interval, Kif};
use num_bigint::BigInt;
use num_traits::Zero;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// Largest distance of two binary points that are aligned.
pub(super) const APART: i64 = 1 << 12;

/// All multiples of `2^-frac` from `lo` to `hi`, both in units of `2^-frac`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Range {
    pub(super) lo: BigInt,
    pub(super) hi: BigInt,
    pub(super) frac: i64,
}

impl Range {
    pub(super) fn from_kif(kif: Kif) -> Range {
        Range { lo: kif.min_code(), hi: kif.max_code(), frac: i64::from(kif.frac) }
    }

    /// Returns the range in other units, rounded down; `None` if the binary points are too far apart.
    pub(super) fn at(&self, frac: i64) -> Option<Range> {
        let up = frac.saturating_sub(self.frac);
        if up.unsigned_abs() > APART.unsigned_abs() {
            return None;
        }
        let moved = |v: &BigInt| if up >= 0 { v << up } else { v >> -up };
        Some(Range { lo: moved(&self.lo), hi: moved(&self.hi), frac })
    }

    pub(super) fn scaled(&self, shift: i32) -> Range {
        Range { frac: self.frac - i64::from(shift), ..self.clone() }
    }

    pub(super) fn negated(&self) -> Range {
        Range { lo: -&self.hi, hi: -&self.lo, frac: self.frac }
    }

    /// Returns the range times a power of two or its negative.
    pub(super) fn multiplied(&self, shift: i32, neg: bool) -> Range {
        let scaled = self.scaled(shift);
        if neg { scaled.negated() } else { scaled }
    }

    pub(super) fn plus(&self, other: &Range) -> Option<Range> {
        let frac = self.frac.max(other.frac);
        let (a, b) = (self.at(frac)?, other.at(frac)?);
        Some(Range { lo: a.lo + b.lo, hi: a.hi + b.hi, frac })
    }

    pub(super) fn times(&self, other: &Range) -> Range {
        let corners = [&self.lo * &other.lo, &self.lo * &other.hi, &self.hi * &other.lo, &self.hi * &other.hi];
        let frac = self.frac + other.frac;
        let (lo, hi) = (corners.iter().min().cloned(), corners.iter().max().cloned());
        Range { lo: lo.unwrap_or_default(), hi: hi.unwrap_or_default(), frac }
    }

    pub(super) fn hull(&self, other: &Range) -> Option<Range> {
        let frac = self.frac.max(other.frac);
        let (a, b) = (self.at(frac)?, other.at(frac)?);
        Some(Range { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi), frac })
    }

    /// Returns the intersection; `self` if it is empty.
    pub(super) fn meet(self, other: &Range) -> Range {
        let (fine, coarse) = (self.frac.max(other.frac), self.frac.min(other.frac));
        let (Some(a), Some(b)) = (self.at(fine), other.at(fine)) else { return self };
        let down = fine - coarse;
        let (lo, hi) = (-(-a.lo.max(b.lo) >> down), a.hi.min(b.hi) >> down);
        if lo > hi { self } else { Range { lo, hi, frac: coarse } }
    }

    /// Returns the part that is not above a number in the same units; only the minimum if that part is empty.
    pub(super) fn not_above(self, most: BigInt) -> Range {
        let hi = self.hi.min(most).max(self.lo.clone());
        Range { hi, ..self }
    }

    /// Returns the part that is not below a number in the same units; only the maximum if that part is empty.
    pub(super) fn not_below(self, least: BigInt) -> Range {
        let lo = self.lo.max(least).min(self.hi.clone());
        Range { lo, ..self }
    }

    /// Returns the range in units of its smallest type.
    pub(super) fn at_kif(&self) -> Option<Range> {
        self.at(i64::from(self.kif()?.frac))
    }

    /// Returns the smallest type that contains the range; `None` if it exceeds the limits.
    pub(super) fn kif(&self) -> Option<Kif> {
        let frac = i32::try_from(self.frac).ok()?;
        Some(Interval::new(self.lo.clone(), self.hi.clone(), frac).kif())
    }

    /// Returns the range of a value after wrapping to a type, and the bits that are cut off.
    pub(super) fn cut(&self, kif: Kif) -> (Range, Cut) {
        let frac = i64::from(kif.frac);
        let fits = self.at(frac).filter(|r| kif.holds(&r.lo) && kif.holds(&r.hi));
        match fits {
            Some(_) if self.frac <= frac => (self.clone(), Cut::None),
            Some(rounded) => (rounded, Cut::Below(frac)),
            None => (Range::from_kif(kif), Cut::To(kif)),
        }
    }
}

/// A sum of multiples of classes and a constant, all times `2^-frac`. Not all factors are even, so equal forms have
/// equal fields.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Form {
    /// Classes, ascending, with their factors.
    pub(super) terms: Vec<(u32, i128)>,
    pub(super) constant: i128,
    pub(super) frac: i64,
}

impl Form {
    pub(super) fn from_class(class: u32) -> Form {
        Form { terms: vec![(class, 1)], constant: 0, frac: 0 }
    }

    pub(super) fn from_number(number: &Range) -> Option<Form> {
        Some(Form { terms: Vec::new(), constant: i128::try_from(&number.lo).ok()?, frac: number.frac }.reduced())
    }

    /// Returns the form with the smallest factors.
    pub(super) fn reduced(mut self) -> Form {
        let all = self.terms.iter().fold(self.constant, |all, term| all | term.1);
        if all == 0 {
            self.frac = 0;
            return self;
        }
        let zeros = all.trailing_zeros();
        self.frac -= i64::from(zeros);
        self.constant >>= zeros;
        self.terms.iter_mut().for_each(|term| term.1 >>= zeros);
        self
    }

    /// Returns the sum of scaled forms, subtracted where marked; `None` if a number is too large.
    pub(super) fn sum(parts: &[(&Form, i32, bool)]) -> Option<Form> {
        let frac = parts.iter().map(|(form, shift, _)| form.frac - i64::from(*shift)).max().unwrap_or(0);
        let mut sum = Form { terms: Vec::new(), constant: 0, frac };
        for (form, shift, neg) in parts {
            let up = u32::try_from(frac - (form.frac - i64::from(*shift))).ok().filter(|up| *up < 120)?;
            let moved = |v: i128| {
                let v = v.checked_mul(1 << up)?;
                if *neg { v.checked_neg() } else { Some(v) }
            };
            sum.constant = sum.constant.checked_add(moved(form.constant)?)?;
            for &(class, count) in &form.terms {
                sum.terms.push((class, moved(count)?));
            }
        }
        sum.terms.sort_unstable_by_key(|term| term.0);
        let mut all: Vec<(u32, i128)> = Vec::with_capacity(sum.terms.len());
        for (class, count) in sum.terms {
            match all.last_mut().filter(|last| last.0 == class) {
                Some(last) => last.1 = last.1.checked_add(count)?,
                None => all.push((class, count)),
            }
        }
        all.retain(|term| term.1 != 0);
        sum.terms = all;
        Some(sum.reduced())
    }

    /// Returns the affine function (`±2^shift` times a number plus a constant) that maps `other` to this form; `None`
    /// if no such function exists.
    pub(super) fn as_image_of(&self, other: &Form) -> Option<Affine> {
        let scale = |form: &Form| (form.zeros(), form.frac - i64::from(form.zeros()));
        let (&(_, first), &(_, second)) = (self.terms.first()?, other.terms.first()?);
        let ((own, frac), (its, its_frac)) = (scale(self), scale(other));
        let neg = (first < 0) != (second < 0);
        let same = |(a, b): (&(u32, i128), &(u32, i128))| {
            a.0 == b.0 && (a.1 >> own) == if neg { -(b.1 >> its) } else { b.1 >> its }
        };
        if self.terms.len() != other.terms.len() || !self.terms.iter().zip(&other.terms).all(same) {
            return None;
        }
        let shift = i32::try_from(its_frac - frac).ok()?;
        let constant = |form: &Form| Form { terms: Vec::new(), constant: form.constant, frac: form.frac }.reduced();
        let plus = Form::sum(&[(&constant(self), 0, false), (&constant(other), shift, !neg)])?;
        Some(Affine { neg, shift, plus: Range { lo: plus.constant.into(), hi: plus.constant.into(), frac: plus.frac } })
    }

    /// Returns the exponent of the largest power of two that divides all factors.
    fn zeros(&self) -> u32 {
        self.terms.iter().fold(0, |all, term| all | term.1).trailing_zeros()
    }

    /// Returns a hash that is equal for all images of a form.
    pub(super) fn direction(&self) -> Option<u64> {
        let &(_, first) = self.terms.first()?;
        let zeros = self.zeros();
        let mut hash = FxHasher::default();
        for (class, count) in &self.terms {
            (*class, if first < 0 { -(count >> zeros) } else { count >> zeros }).hash(&mut hash);
        }
        Some(hash.finish())
    }
}

/// Affine function: `±2^shift` times a number, plus a constant.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Affine {
    pub(super) neg: bool,
    pub(super) shift: i32,
    pub(super) plus: Range,
}

impl Affine {
    pub(super) fn is_identity(&self) -> bool {
        !self.neg && self.shift == 0 && self.plus.lo.is_zero()
    }

    /// Returns the range of numbers whose image is in a range.
    pub(super) fn before(&self, range: &Range) -> Option<Range> {
        Some(range.plus(&self.plus.negated())?.multiplied(-self.shift, self.neg))
    }

    pub(super) fn apply(&self, range: &Range) -> Option<Range> {
        range.multiplied(self.shift, self.neg).plus(&self.plus)
    }
}

/// Bits that are cut off a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cut {
    /// No bits.
    None,
    /// Bits below this number of fractional bits.
    Below(i64),
    /// Bits outside of a type.
    To(Kif),
}
