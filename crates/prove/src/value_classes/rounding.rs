//! Values with dropped low bits, and rectified values, as functions of exact sums.
//!
//! Passes move the position of rounding: a sum is rounded before or after an addition, before or after a rectifier, or
//! its low bits are never computed. The result is still the same `max(floor(2^f s) / 2^f, 0)` of the same sum `s`,
//! without the `max` if nothing was rectified. These identities convert a value to that form:
//!
//! - `floor(y + floor(x)) = y + floor(x) = floor(y + x)`, with the same unit for each `floor`, if `y` is a multiple of
//!   the unit;
//! - `floor(floor(x)) = floor(x)`, if the outer `floor` keeps no bit that the inner one drops;
//! - `max(floor(x), 0) = floor(max(x, 0))`;
//! - `floor(max(x, 0) + c) = max(floor(x + c), 0)`, if `c` is at least zero and less than the unit;
//! - `floor(y + x) = y`, if `y` is a multiple of the unit, and `x` at least zero and less than it;
//! - `(y + x) mod m = x`, if `y` is a multiple of `m`, and `x` at least zero and less than it;
//! - `floor(x) + x mod m = x`, if `m` is the unit.
//!
//! All identities also hold modulo a power of two, if the bits that are read of the result are below it. Two values are
//! affine images of each other if their sums are equal except for a power of two and a multiple of their unit.

use super::numbering::{Class, Numbering, TERMS, modulus};
use super::range::{Affine, Cut, Form, Range};
use alir_core::num::Kif;
use num_bigint::BigInt;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Largest number of terms of one sum that are expanded.
const OPENED: usize = 32;

/// A value as a function of a sum: rounded down to a multiple of `2^-frac`, then zero if it is `rectified` and
/// negative, then plus `plus` units; modulo `2^lost`, if that is given.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rounded {
    pub(super) form: Rc<Form>,
    pub(super) frac: i64,
    pub(super) rectified: bool,
    pub(super) plus: i128,
    pub(super) lost: Option<i64>,
    /// `true` if the truncation at `lost` is to a signed type.
    pub(super) signed: bool,
    /// Range before truncation, if it is known.
    pub(super) range: Option<Range>,
}

/// Key that is equal for all values that are affine images of each other in units of their last place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct RoundedKey {
    form: Form,
    rectified: bool,
    /// Signedness and width of the type, and the added constant; only if bits are dropped at the top.
    wrapped: Option<(bool, i64, i128)>,
}

/// Key that is equal for all values that are rounded from one number to different binary places.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct FinerKey {
    form: Form,
    rectified: bool,
    wrapped: Option<(bool, i64)>,
}

/// Condition of a choice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Condition {
    /// A sum is negative (`true`) or not negative (`false`).
    Sign(Rc<Form>, bool),
    /// The top bit of a class in a type.
    TopBit(u32, Kif),
}

/// Description of a value in addition to its key.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    /// Equal rounded sum.
    pub(super) rounded: Option<Rounded>,
    /// The rounded sum before the rectifier, used to expand sums over it.
    pub(super) floor: Option<Rounded>,
    /// Keys for the search of the class: shape, fractional bits of the unit, and added constant.
    pub(super) keys: Vec<(RoundedKey, i64, i128)>,
    /// Range of the value, from the range of the sum.
    pub(super) range: Option<Range>,
    /// The exact sum, if the rounding drops nothing.
    pub(super) exact: Option<Form>,
}

impl Shape {
    /// Returns the number of terms of all sums.
    pub(super) fn terms(&self) -> usize {
        let keys = self.keys.iter().map(|(key, ..)| key.form.terms.len());
        let rounded = [&self.rounded, &self.floor].into_iter().flatten().map(|of| of.form.terms.len());
        keys.chain(rounded).sum()
    }
}

impl Form {
    fn times(&self, factor: i128) -> Option<Form> {
        let times = |count: i128| count.checked_mul(factor);
        let terms: Option<_> = self.terms.iter().map(|(class, count)| Some((*class, times(*count)?))).collect();
        Some(Form { terms: terms?, constant: times(self.constant)?, frac: self.frac })
    }

    /// Returns the last binary place of a sum, from the last places of its terms.
    fn grain(&self, of: impl Fn(u32) -> i64) -> i64 {
        let constant =
            if self.constant == 0 { i64::MIN } else { self.frac - i64::from(self.constant.trailing_zeros()) };
        self.terms.iter().map(|term| term_grain(self, *term, &of)).fold(constant, i64::max)
    }
}

/// Returns the last binary place of a term.
fn term_grain(form: &Form, (class, count): (u32, i128), of: &impl Fn(u32) -> i64) -> i64 {
    of(class) + form.frac - i64::from(count.trailing_zeros())
}

/// Returns `count` in units of `2^-frac` rounded down to a multiple of `2^-to`; `None` if the units are too far apart.
fn floored(count: i128, frac: i64, to: i64) -> Option<i128> {
    match frac.saturating_sub(to) {
        ..=0 => Some(count),
        down @ 1..127 => Some(count >> down << down),
        _ => (count >= 0).then_some(0),
    }
}

/// Converts a multiple of `2^-to` from units of `2^-frac` to units of `2^-to`; returns `None` if that is impossible.
fn units(count: i128, frac: i64, to: i64) -> Option<i128> {
    match to - frac {
        _ if count == 0 => Some(0),
        up @ 0..120 => count.checked_mul(1 << up),
        down @ -126..0 => Some(count >> -down),
        _ => None,
    }
}

/// Returns the binary place to which a value is rounded down, the power of two modulo which it is kept, and `true` for
/// a signed type.
fn places(cut: Cut) -> (i64, Option<i64>, bool) {
    match cut {
        Cut::None => (i64::MAX, None, false),
        Cut::Below(frac) => (frac, None, false),
        Cut::To(kif) => (i64::from(kif.frac), Some(modulus(kif)), kif.signed),
    }
}

impl Rounded {
    /// Returns a key that is equal for all values that are rounded from one number, except for a power of two, and this
    /// power.
    fn direction(&self, is_wrapped: bool) -> (FinerKey, i64) {
        let form = (*self.form).clone().reduced();
        let scale = form.frac;
        let wrapped = self.lost.filter(|_| is_wrapped).map(|lost| (self.signed, lost + scale));
        (FinerKey { form: Form { frac: 0, ..form }, rectified: self.rectified, wrapped }, scale)
    }

    fn key(&self, cut: Cut) -> Option<(RoundedKey, i64, i128)> {
        let scale = i32::try_from(self.frac).ok()?;
        let mut form = Form::sum(&[(&self.form, scale, false)])?;
        let mut plus = self.plus;
        if !self.rectified {
            // Whole units are moved out of the floor.
            let whole = floored(form.constant, form.frac, 0)?;
            form.constant -= whole;
            plus = plus.checked_add(units(whole, form.frac, 0)?)?;
            form = form.reduced();
        }
        let wrapped = match cut {
            Cut::To(kif) => {
                let width = modulus(kif) + self.frac;
                let all = u32::try_from(width).ok().filter(|width| *width < 120)?;
                Some((kif.signed, width, plus.rem_euclid(1 << all)))
            }
            _ => None,
        };
        let plus = if wrapped.is_some() { 0 } else { plus };
        Some((RoundedKey { form, rectified: self.rectified, wrapped }, self.frac, plus))
    }
}

/// A sum that is rounded down, whose rounded terms were replaced by the sums before rounding where that is possible.
struct Opened {
    form: Form,
    /// The sum is rounded down to a multiple of `2^-frac`.
    frac: i64,
    range: Option<Range>,
    /// `true` if a term was replaced.
    is_opened: bool,
}

impl Numbering<'_> {
    fn place(&self, class: u32) -> i64 {
        self.classes[class as usize].range.frac
    }

    fn grain(&self, form: &Form) -> i64 {
        form.grain(|class| self.place(class))
    }

    /// Returns the coarser of `frac` and the last place of a sum; `frac` for a sum that is zero.
    fn coarsest(&self, form: &Form, frac: i64) -> i64 {
        if form.terms.is_empty() && form.constant == 0 { frac } else { frac.min(self.grain(form)) }
    }

    /// Expands the terms of a sum that is rounded down to a multiple of `2^-frac`. The value is preserved only modulo
    /// `2^modulus`, if that is given. Only terms for which `opens` is `true` are expanded.
    fn opened(
        &self,
        terms: &[(u32, i32, bool)],
        mut frac: i64,
        modulus: Option<i64>,
        opens: impl Fn(u32) -> bool,
    ) -> Option<Opened> {
        let forms: Vec<(Rc<Form>, i32, bool)> = terms
            .iter()
            .map(|&(class, shift, neg)| {
                (if self.is_constant(class) { self.form(class) } else { Rc::new(Form::from_class(class)) }, shift, neg)
            })
            .collect();
        let parts: Vec<(&Form, i32, bool)> = forms.iter().map(|(form, shift, neg)| (&**form, *shift, *neg)).collect();
        let mut form = Form::sum(&parts)?;
        let mut is_written_out = false;
        let of = |class: u32| self.place(class);
        let (given, mut are_terms) = (form.clone(), true);
        // Ranges before truncation of terms of the given sum.
        let mut wider: FxHashMap<u32, Range> = FxHashMap::default();
        let mut is_opened = false;
        for _ in 0..OPENED {
            // No term has bits below this place, so the constant's bits below it cause no carry.
            let finest = form.terms.iter().map(|term| term_grain(&form, *term, &of)).fold(frac, i64::max);
            form.constant = floored(form.constant, form.frac, finest)?;
            let mut terms = form.terms.iter().copied().enumerate().filter(|(_, (class, _))| opens(*class));
            let found = terms.find_map(|(at, (class, count))| {
                let inner = self.classes[class as usize].floor.as_ref()?;
                let zeros = count.trailing_zeros();
                let scale = i64::from(zeros) - form.frac;
                let is_kept = inner.lost.is_none_or(|lost| modulus.is_some_and(|read| read <= lost + scale));
                let place = inner.frac - scale;
                let is_exact = self.grain(&inner.form) <= inner.frac;
                let others = || {
                    let constant = form.constant == 0 || form.frac - i64::from(form.constant.trailing_zeros()) <= place;
                    let terms = form.terms.iter().enumerate();
                    constant && terms.filter(|(k, _)| *k != at).all(|(_, term)| term_grain(&form, *term, &of) <= place)
                };
                let fits = is_kept && (is_exact || (count == 1 << zeros && others()));
                fits.then_some((at, inner.form.clone(), scale, count >> zeros, (!is_exact).then_some(place)))
            });
            let Some((at, inner, scale, odd, place)) = found else {
                if is_written_out {
                    break;
                }
                // An operand as a whole gives more information about its last place than its terms do, so it is
                // expanded last.
                form = self.written_out(&form)?;
                is_written_out = true;
                continue;
            };
            let (class, count) = form.terms[at];
            is_opened = true;
            if let Some(of) = self.classes[class as usize].floor.as_ref().filter(|of| of.lost.is_some()) {
                let is_given = form.frac == given.frac && given.terms.binary_search(&(class, count)).is_ok();
                match of.range.clone().filter(|_| is_given) {
                    Some(range) => _ = wider.insert(class, range),
                    None => are_terms = false,
                }
            }
            let mut rest = form.clone();
            rest.terms.remove(at);
            let inner = inner.times(odd)?;
            form = Form::sum(&[(&rest, 0, false), (&inner, i32::try_from(scale).ok()?, false)])?;
            frac = place.map_or(frac, |place| frac.min(place));
            if form.terms.len() > TERMS.0 {
                return None;
            }
        }
        let finest = form.terms.iter().map(|term| term_grain(&form, *term, &of)).fold(frac, i64::max);
        form.constant = floored(form.constant, form.frac, finest)?;
        let form = self.without_small(form, frac)?.reduced();
        let frac = self.coarsest(&form, frac);
        let down = |range: Range| if range.frac > frac { range.at(frac) } else { Some(range) };
        let mut range = self.range_of(&form).and_then(down);
        if are_terms {
            // The given sum has other terms than the expanded one, and may have a smaller range.
            let sum = if wider.is_empty() { self.range_of(&given) } else { self.range_where(&given, &wider) };
            let own = sum.and_then(down);
            range = match (range, own) {
                (Some(range), Some(own)) => Some(range.meet(&own)),
                (range, own) => range.or(own),
            };
        }
        Some(Opened { form, frac, range, is_opened })
    }

    /// Returns the range of a sum, from these ranges of some terms and the ranges of the other ones.
    fn range_where(&self, form: &Form, ranges: &FxHashMap<u32, Range>) -> Option<Range> {
        let number = Range { lo: form.constant.into(), hi: form.constant.into(), frac: form.frac };
        form.terms.iter().try_fold(number, |sum, &(class, count)| {
            let of = ranges.get(&class).unwrap_or(&self.classes[class as usize].range);
            let (lo, hi) = (&of.lo * count, &of.hi * count);
            let (lo, hi) = if count < 0 { (hi, lo) } else { (lo, hi) };
            sum.plus(&Range { lo, hi, frac: of.frac + form.frac })
        })
    }

    /// Returns a sum that is rounded down to a multiple of `2^-frac`, without terms whose total is too small to carry
    /// out of the last places of the others.
    fn without_small(&self, mut form: Form, frac: i64) -> Option<Form> {
        let of = |class: u32| self.place(class);
        let mut places: Vec<i64> = form.terms.iter().map(|term| term_grain(&form, *term, &of)).collect();
        places.push(frac);
        places.retain(|place| *place >= frac);
        places.sort_unstable();
        places.dedup();
        // Bits of the constant below all places cause no carry.
        form.constant = floored(form.constant, form.frac, places.pop()?)?;
        for place in places {
            let (small, large) = form.terms.iter().partition(|term| term_grain(&form, **term, &of) > place);
            let whole = floored(form.constant, form.frac, place)?;
            let small = Form { terms: small, constant: form.constant - whole, frac: form.frac };
            let Some(range) = self.range_of(&small).filter(|range| range.frac >= place).and_then(|r| r.at(place))
            else {
                continue;
            };
            if range.lo == range.hi {
                let rest = Form { terms: large, constant: whole, frac: form.frac };
                let number = Form::from_number(&range)?;
                form = Form::sum(&[(&rest, 0, false), (&number, 0, false)])?;
                break;
            }
        }
        Some(form)
    }

    /// Returns a sum that equals the given one after wrapping to a type, without terms that wrapping removes, and its
    /// range. Returns `None` unless the type contains all its numbers.
    pub(super) fn last_places(&self, form: &Form, kif: Kif) -> Option<(Form, Range)> {
        let kept = |term: &(u32, i128)| term_grain(form, *term, &|class| self.place(class)) > -modulus(kif);
        let terms: Vec<(u32, i128)> = form.terms.iter().copied().filter(kept).collect();
        if terms.len() == form.terms.len() {
            return None;
        }
        let form = Form { terms, ..form.clone() }.reduced();
        let (range, cut) = self.range_of(&form)?.cut(kif);
        (cut == Cut::None).then_some((form, range))
    }

    /// Returns the sum with `x - x mod m` and `x mod m` joined to `x` wherever both have the same factor.
    pub(super) fn with_joined_parts(&self, mut form: Form) -> Form {
        let joined = |form: &Form| {
            form.terms.iter().enumerate().find_map(|(at, &(low, count))| {
                let low = &self.classes[low as usize];
                let (whole, modulus) = low.wrapped.as_ref()?;
                let end = Range { lo: 1.into(), hi: 1.into(), frac: -modulus };
                let below_end = end.plus(&low.range.negated())?;
                if low.range.lo < BigInt::ZERO || below_end.lo <= BigInt::ZERO {
                    return None;
                }
                let high = form.terms.iter().position(|&(high, other)| {
                    let floor = self.classes[high as usize].floor.as_ref();
                    let is_rest = |floor: &Rounded| {
                        (floor.frac, floor.plus, floor.rectified, floor.lost) == (-modulus, 0, false, None)
                            && floor.form == *whole
                    };
                    other == count && floor.is_some_and(is_rest)
                })?;
                let kept = form.terms.iter().enumerate().filter(|(k, _)| *k != at && *k != high);
                let rest = Form { terms: kept.map(|(_, term)| *term).collect(), ..form.clone() };
                let scale = i32::try_from(-form.frac).ok()?;
                let sum = Form::sum(&[(&rest, 0, false), (&whole.times(count)?, scale, false)]);
                sum.filter(|sum| sum.terms.len() <= TERMS.0)
            })
        };
        while let Some(less) = joined(&form) {
            form = less;
        }
        form
    }

    /// Returns a sum with each term replaced by the exact sum that defines the term.
    fn written_out(&self, form: &Form) -> Option<Form> {
        let mut parts = Vec::with_capacity(form.terms.len() + 1);
        for &(class, count) in &form.terms {
            let of = self.form(class);
            let zeros = count.trailing_zeros();
            let scale = i32::try_from(i64::from(zeros) - form.frac).ok()?;
            parts.push((of.times(count >> zeros)?, scale));
        }
        let constant = Form { terms: Vec::new(), constant: form.constant, frac: form.frac };
        let mut all: Vec<(&Form, i32, bool)> = parts.iter().map(|(form, scale)| (form, *scale, false)).collect();
        all.push((&constant, 0, false));
        let is_short = parts.iter().map(|(form, _)| form.terms.len()).sum::<usize>() <= TERMS.2;
        is_short.then(|| Form::sum(&all)).flatten().filter(|form| form.terms.len() <= TERMS.0)
    }

    /// Describes a sum that is truncated to a type.
    pub(super) fn shape_of_sum(&self, terms: &[(u32, i32, bool)], cut: Cut) -> Option<Shape> {
        // Values that the first program also has stay unexpanded, as in that program. If the result is no known sum,
        // all values are expanded.
        let of = |own: bool| self.shape_over(terms, cut, |class| !own || self.is_own(class));
        let far = of(false);
        if let Some((far, false)) = far {
            return Some(far);
        }
        let (near, far) = (of(true).map(|(shape, _)| shape), far.map(|(shape, _)| shape));
        match (near, far) {
            (Some(near), Some(far)) if near.exact.is_some() => Some(Shape { exact: near.exact, ..far }),
            (Some(near), Some(far)) if far.exact.is_some() => Some(Shape { exact: far.exact, ..near }),
            (Some(mut near), Some(far)) => {
                near.keys.extend(far.keys.into_iter().filter(|key| near.keys.first() != Some(key)).collect::<Vec<_>>());
                near.range = match (near.range, far.range) {
                    (Some(near), Some(far)) => Some(near.meet(&far)),
                    (near, far) => near.or(far),
                };
                Some(near)
            }
            (near, far) => near.or(far),
        }
    }

    /// Describes a sum that is truncated to a type, with the terms for which `opens` is `true` expanded. The second
    /// result is `true` if there are such terms.
    fn shape_over(&self, terms: &[(u32, i32, bool)], cut: Cut, opens: impl Fn(u32) -> bool) -> Option<(Shape, bool)> {
        let (frac, lost, signed) = places(cut);
        let Opened { form, frac, range, is_opened } = self.opened(terms, frac, lost, opens)?;
        // A sum with overflow in its operands may still fit the type.
        let fits = |range: &Range, kif: Kif| {
            range.frac <= i64::from(kif.frac)
                && range.at(i64::from(kif.frac)).is_some_and(|r| kif.holds(&r.lo) && kif.holds(&r.hi))
        };
        let (cut, lost) = match (cut, &range) {
            (Cut::To(kif), Some(range)) if fits(range, kif) => (Cut::None, None),
            _ => (cut, lost),
        };
        // Exact sums have keys of their own.
        if lost.is_none() && self.grain(&form) <= frac {
            return Some((Shape { exact: Some(form), range, ..Shape::default() }, is_opened));
        }
        let floor =
            Rounded { form: Rc::new(form), frac, rectified: false, plus: 0, lost, signed, range: range.clone() };
        let rounded = self.rectified_before(&floor).unwrap_or_else(|| floor.clone());
        let keys = rounded.key(cut).into_iter().collect();
        let range = range.filter(|_| lost.is_none());
        let below = lost.and_then(|_| {
            self.below(&floor).or_else(|| Some(&rounded).filter(|of| of.plus == 0).and_then(|of| self.below(of)))
        });
        let floor = below.unwrap_or(floor);
        Some((Shape { rounded: Some(rounded), floor: Some(floor), keys, range, exact: None }, is_opened))
    }

    /// Moves an addend of less than a unit from after a rectifier to before the rectifier; the result is rounded
    /// afterwards.
    fn rectified_before(&self, floor: &Rounded) -> Option<Rounded> {
        let [(class, count)] = floor.form.terms[..] else { return None };
        let inner = self.classes[class as usize].rounded.as_ref().filter(|inner| inner.rectified)?;
        let zeros = count.trailing_zeros();
        if count != 1 << zeros || inner.plus != 0 {
            return None;
        }
        let scale = i64::from(zeros) - floor.form.frac;
        if inner.lost.is_some_and(|lost| floor.lost.is_none_or(|read| read > lost + scale)) {
            return None;
        }
        let whole = floored(floor.form.constant, floor.form.frac, floor.frac)?;
        if floor.frac > inner.frac - scale {
            return None;
        }
        // Bits below the last place of the rectified value cause no carry there, but might before that value was
        // rounded.
        let part = floored(floor.form.constant - whole, floor.form.frac, inner.frac - scale)?;
        let part = Form { terms: Vec::new(), constant: part, frac: floor.form.frac }.reduced();
        let plus = units(whole, floor.form.frac, floor.frac)?;
        let form = Form::sum(&[(&inner.form, i32::try_from(scale).ok()?, false), (&part, 0, false)])?;
        let form = self.without_small(form, floor.frac)?.reduced();
        let (rectified, form, plus) = match self.is_positive(&form, floor.frac) {
            // The value is never negative, so the rectifier changes nothing.
            true => {
                let plus = Form { terms: Vec::new(), constant: plus, frac: floor.frac };
                (false, Form::sum(&[(&form, 0, false), (&plus, 0, false)])?, 0)
            }
            false => (true, form, plus),
        };
        let frac = self.coarsest(&form, floor.frac);
        let (lost, signed) = (floor.lost, floor.signed);
        Some(Rounded { form: Rc::new(form), frac, rectified, plus, lost, signed, range: None })
    }

    /// Returns `true` if a sum that is rounded down to a multiple of `2^-frac` is never negative.
    fn is_positive(&self, form: &Form, frac: i64) -> bool {
        let range = self.range_of(form).and_then(|range| if range.frac > frac { range.at(frac) } else { Some(range) });
        range.is_some_and(|range| range.lo >= BigInt::ZERO)
    }

    /// Describes a rectified value that is truncated to a type.
    pub(super) fn shape_of_rectified(&self, class: u32, cut: Cut) -> Option<Shape> {
        let (form, frac) = self.before_cut(class);
        if form.terms.is_empty() {
            return None;
        }
        let place = places(cut).0;
        let frac = frac.min(place);
        let form = self.without_small((*form).clone(), frac)?.reduced();
        if form.terms.is_empty() {
            return None;
        }
        let grain = self.grain(&form);
        let (_, lost, signed) = places(cut);
        let frac = frac.min(grain);
        let rectified = !self.is_positive(&form, frac);
        let rounded = Rounded { form: Rc::new(form), frac, rectified, plus: 0, lost, signed, range: None };
        // Relation to a value with fewer dropped bits, if a program has such a value.
        let is_cut = frac < grain || lost.is_some();
        let floor = is_cut.then(|| self.below(&rounded)).flatten();
        let keys = rounded.key(cut).into_iter().collect();
        Some(Shape { rounded: Some(rounded), floor, keys, range: None, exact: None })
    }

    /// Expresses a value by one with fewer dropped low bits; returns `None` if no program has such a value.
    fn below(&self, of: &Rounded) -> Option<Rounded> {
        // Within a signed type, rounding to a unit above half of the type's size is not possible.
        let is_within = of.lost.is_none_or(|lost| !of.signed || lost > -of.frac);
        let (finer, lost) = match self.finer(of, true).filter(|_| is_within) {
            Some(finer) => (finer, None),
            None => (self.finer(of, false).filter(|_| of.rectified && of.lost.is_some())?, of.lost),
        };
        let form = Form::sum(&[(&self.form(finer.0), finer.1, false)])?;
        Some(Rounded { form: Rc::new(form), rectified: false, lost, range: None, ..of.clone() })
    }

    /// Returns the class that equals a value up to a power of two before the low bits (or low and high bits) are
    /// dropped, and that power of two. Returns `None` if there is no such class.
    fn finer(&self, of: &Rounded, is_wrapped: bool) -> Option<(u32, i32)> {
        let (key, scale) = of.direction(is_wrapped);
        let all = self.finer.get(&key)?;
        let fits = |(_, its, frac): &&(u32, i64, i64)| of.frac + its - scale <= *frac;
        let (class, its, _) = all.iter().filter(fits).max_by_key(|(_, its, frac)| frac - its)?;
        Some((*class, i32::try_from(its - scale).ok()?))
    }

    /// Returns the sum and the rounding place of a value. If a value of the second program alone was truncated, the sum
    /// is the one before the truncation.
    fn before_cut(&self, class: u32) -> (Rc<Form>, i64) {
        let form = self.form(class);
        let is_own = |&(class, _): &(u32, i128)| self.is_own(class) || form.terms[..] == [(class, 1)];
        match &self.classes[class as usize].floor {
            Some(Rounded { form: inner, frac, rectified: false, plus: 0, lost: None, .. })
                if form.terms.iter().any(is_own) =>
            {
                (inner.clone(), *frac)
            }
            _ => (form, i64::MAX),
        }
    }

    /// Returns `true` if only the second program has the class.
    fn is_own(&self, class: u32) -> bool {
        let found = &self.classes[class as usize];
        !found.shared && found.def.is_some_and(|(side, _)| side == 1)
    }

    /// Returns the class of which a value of this shape is an affine image, and the affine map; `None` if no class is
    /// known.
    pub(super) fn image_of_shape(&self, (key, frac, plus): &(RoundedKey, i64, i128)) -> Option<(u32, Affine)> {
        let &(class, its_frac, its_plus) = self.rounded.get(key)?;
        let shift = i32::try_from(its_frac - frac).ok()?;
        let more = BigInt::from(plus.checked_sub(its_plus)?);
        let zeros = more.trailing_zeros();
        let lo = &more >> zeros.unwrap_or(0);
        let frac = zeros.map_or(0, |zeros| frac - zeros as i64);
        Some((class, Affine { neg: false, shift, plus: Range { hi: lo.clone(), lo, frac } }))
    }

    /// Returns the condition that a class represents: the sign of a sum, otherwise its top bit.
    pub(super) fn condition(&self, class: u32, kif: Kif) -> Condition {
        let top = i64::from(kif.int) - 1;
        let form = match self.before_cut(class) {
            (form, frac) if kif.signed || frac >= -top => form,
            _ => self.form(class),
        };
        // The top bit of an unsigned type is set if the value is not less than the weight of that bit.
        let least = Form { terms: Vec::new(), constant: i128::from(!kif.signed), frac: -top };
        match Form::sum(&[(&form, 0, false), (&least, 0, true)]) {
            Some(form) => Condition::Sign(Rc::new(Form { frac: 0, ..form }), kif.signed),
            None => Condition::TopBit(class, kif),
        }
    }

    /// Adds a shape to the description of a class.
    pub(super) fn shape(&mut self, class: u32, shape: Shape) {
        if let Some(rounded) = shape.rounded.as_ref().filter(|of| of.plus == 0 && (of.rectified || of.lost.is_some())) {
            let (key, scale) = rounded.direction(true);
            self.finer.entry(key).or_default().push((class, scale, rounded.frac));
        }
        let found: &mut Class = &mut self.classes[class as usize];
        if found.rounded.is_none() {
            found.rounded = shape.rounded;
        }
        if found.floor.is_none() {
            found.floor = shape.floor;
        }
        for (key, frac, plus) in shape.keys {
            self.rounded.entry(key).or_insert((class, frac, plus));
        }
    }
}
