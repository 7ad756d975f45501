//! A form that is zero for all values of a few others, shown box by box.
//!
//! A box gives each of these values an interval. On it every atom is a linear form of the values plus something between
//! two bounds: exact where a condition has one outcome, a choice takes one side, a floor does not step. A box on which
//! the form is not seen to be zero is halved; one value each is the smallest box, on which everything is known. So a
//! piecewise linear function of many bits, such as a rounding with its ends or a search among thresholds, takes as many
//! boxes as it has pieces.

use super::samples::TERM;
use super::{Atom, AtomId, FormId, LinearForms, OrOverflow, Overflow, Range, add, mul};
use rustc_hash::{FxHashMap, FxHashSet};

/// Most values that a box has.
const VALUES: usize = 4;
/// Units of work for one question of a proof.
pub(super) const WORK: u64 = 600_000;
/// Points tried before any box: values that are no functions of each other show here that they are not independent.
const POINTS: u64 = 24;
/// Names replaced by what they stand for, to find the values; most of them at a time, and most that are no bits.
const STEPS: usize = 4_000;
const MAX_SPOKEN: usize = 1_000;
const MAX_WIDE: usize = 20;
/// Entries of a table looked at for one argument.
const ENTRIES: i128 = 256;

/// `sum of slopes * values + something from low to high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    slopes: [i128; VALUES],
    low: i128,
    high: i128,
}

impl Part {
    fn between(low: i128, high: i128) -> Part {
        Part { slopes: [0; VALUES], low, high }
    }

    fn constant(value: i128) -> Part {
        Part::between(value, value)
    }

    fn as_const(&self) -> Option<i128> {
        (self.low == self.high && self.slopes == [0; VALUES]).then_some(self.low)
    }

    fn plus(&self, factor: i128, other: &Part) -> OrOverflow<Part> {
        let mut out = *self;
        for (slope, more) in out.slopes.iter_mut().zip(&other.slopes) {
            *slope = add(*slope, mul(factor, *more)?)?;
        }
        let (a, b) = (mul(factor, other.low)?, mul(factor, other.high)?);
        out.low = add(out.low, a.min(b))?;
        out.high = add(out.high, a.max(b))?;
        Ok(out)
    }

    /// Bounds on a box.
    fn range(&self, on: &[Range; VALUES]) -> OrOverflow<Range> {
        let mut out = (self.low, self.high);
        for (&slope, &(lo, hi)) in self.slopes.iter().zip(on) {
            let (a, b) = (mul(slope, lo)?, mul(slope, hi)?);
            out = (add(out.0, a.min(b))?, add(out.1, a.max(b))?);
        }
        Ok(out)
    }
}

/// The form and all that it is made of above some values, in order.
struct Pieces {
    values: Vec<AtomId>,
    atoms: Vec<AtomId>,
    place: FxHashMap<AtomId, usize>,
    /// Terms of one look at all of it.
    terms: u64,
}

impl Pieces {
    /// Nothing if the form speaks of something else too, or of a product of two numbers.
    fn above(t: &LinearForms, d: FormId, values: &[AtomId]) -> Option<Pieces> {
        let atoms = t.needed(&[d], |a| values.contains(&a));
        if atoms.iter().any(|&a| matches!(t.atom(a), Atom::Free(_)) || t.parts(a).0.iter().any(|&f| t.multiplies(f))) {
            return None;
        }
        let size = |f: &FormId| t.len(*f) as u64 + 1;
        let inside = |&a: &AtomId| t.parts(a).0.iter().map(size).sum::<u64>() + 1;
        let terms = atoms.iter().map(inside).sum::<u64>() + size(&d);
        let place = values.iter().chain(&atoms).enumerate().map(|(i, &a)| (a, i)).collect();
        Some(Pieces { values: values.to_vec(), atoms, place, terms })
    }

    fn sum(&self, t: &LinearForms, f: FormId, known: &[Part]) -> OrOverflow<Part> {
        let mut out = Part::constant(t.constant_of(f));
        for (a, factor) in t.terms(f) {
            out = out.plus(factor, &known[self.place[&a]])?;
        }
        Ok(out)
    }

    /// The form on a box.
    fn on(&self, t: &LinearForms, d: FormId, on: &[Range; VALUES], known: &mut Vec<Part>) -> OrOverflow<Part> {
        known.clear();
        for (i, range) in on.iter().enumerate().take(self.values.len()) {
            known.push(if range.0 == range.1 {
                Part::constant(range.0)
            } else {
                let mut part = Part::constant(0);
                part.slopes[i] = 1;
                part
            });
        }
        for &a in &self.atoms {
            let part = self.atom(t, a, on, known)?;
            known.push(part);
        }
        self.sum(t, d, known)
    }

    fn atom(&self, t: &LinearForms, a: AtomId, on: &[Range; VALUES], known: &[Part]) -> OrOverflow<Part> {
        let form = |f: FormId| self.sum(t, f, known);
        let truth = |yes: bool| Part::constant(i128::from(yes));
        Ok(match t.atom(a) {
            Atom::Free(_) => return Err(Overflow),
            Atom::Value(x) => form(*x)?,
            Atom::Floor(x, m) => {
                let x = form(*x)?;
                let size = super::power(*m)?;
                if x.slopes.iter().all(|slope| slope % size == 0) {
                    Part { slopes: x.slopes.map(|slope| slope >> m), low: x.low >> m, high: x.high >> m }
                } else {
                    let (lo, hi) = x.range(on)?;
                    Part::between(lo >> m, hi >> m)
                }
            }
            Atom::Negative(x) => match form(*x)?.range(on)? {
                (0.., _) => truth(false),
                (_, ..0) => truth(true),
                _ => Part::between(0, 1),
            },
            Atom::Zero(x) => match form(*x)?.range(on)? {
                (0, 0) => truth(true),
                (lo, hi) if lo > 0 || hi < 0 => truth(false),
                _ => Part::between(0, 1),
            },
            Atom::Positive(x) => {
                let x = form(*x)?;
                match x.range(on)? {
                    (0.., _) => x,
                    (_, ..=0) => Part::constant(0),
                    (_, hi) => Part::between(0, hi),
                }
            }
            Atom::If(x, y) | Atom::Product(x, y) => product(&form(*x)?, &form(*y)?, on)?,
            Atom::Monomial(atoms) => {
                let mut out = Part::constant(1);
                for b in atoms.iter() {
                    out = product(&out, &known[self.place[b]], on)?;
                }
                out
            }
            Atom::And(forms) => {
                let parts = forms.iter().map(|&f| form(f)).collect::<OrOverflow<Vec<Part>>>()?;
                let mut both = Some(-1);
                let mut bounds = t.atom_range(a);
                for part in &parts {
                    both = both.zip(part.as_const()).map(|(x, y)| x & y);
                    let (lo, hi) = part.range(on)?;
                    if lo >= 0 {
                        bounds = (bounds.0.max(0), bounds.1.min(hi));
                    }
                }
                both.map_or(Part::between(bounds.0, bounds.1), Part::constant)
            }
            Atom::Table(x, table) => {
                let (lo, hi) = form(*x)?.range(on)?;
                let entry = |v: i128| {
                    let index = usize::try_from(v - table.first).ok();
                    index.and_then(|i| table.values.get(i)).copied().unwrap_or(0)
                };
                if hi - lo < ENTRIES {
                    let ends = (lo..=hi).map(entry).fold((i128::MAX, i128::MIN), |e, v| (e.0.min(v), e.1.max(v)));
                    Part::between(ends.0, ends.1)
                } else {
                    let (lo, hi) = t.atom_range(a);
                    Part::between(lo, hi)
                }
            }
        })
    }
}

fn product(x: &Part, y: &Part, on: &[Range; VALUES]) -> OrOverflow<Part> {
    let zero = Part::constant(0);
    match (x.as_const(), y.as_const()) {
        (Some(x), _) => zero.plus(x, y),
        (_, Some(y)) => zero.plus(y, x),
        _ => {
            let (x, y) = (x.range(on)?, y.range(on)?);
            let ends = [mul(x.0, y.0)?, mul(x.0, y.1)?, mul(x.1, y.0)?, mul(x.1, y.1)?];
            let low = ends.into_iter().fold(i128::MAX, i128::min);
            Ok(Part::between(low, ends.into_iter().fold(i128::MIN, i128::max)))
        }
    }
}

/// A box that is yet to be looked at.
type Open = [Range; VALUES];

impl LinearForms {
    /// Whether a form is zero modulo `2^width` by the values of a few names or inputs from which all of it follows;
    /// names are replaced by what they stand for, the newest first, until such are found. It never says that a form is
    /// not zero. It takes about `units` of work at most.
    ///
    /// # Errors
    /// [`Overflow`] where numbers grow too large.
    pub(super) fn vanishes_on_boxes(&mut self, d: FormId, width: u32, units: u64) -> OrOverflow<bool> {
        // A product of two numbers is linear on no box but the smallest ones: these questions would only take time.
        if self.multiplies(d) {
            return Ok(false);
        }
        let mut values = self.spoken(d)?;
        let most = self.work().saturating_add(units);
        for _ in 0..STEPS {
            if values.len() <= VALUES && self.on_boxes(d, width, &values, most)? {
                return Ok(true);
            }
            let names = values.iter().copied().filter(|&a| matches!(self.atom(a), Atom::Value(_)));
            let Some(newest) = names.max() else { return Ok(false) };
            let Atom::Value(x) = *self.atom(newest) else { return Ok(false) };
            if self.multiplies(x) {
                return Ok(false);
            }
            values.remove(&newest);
            values.extend(self.spoken(x)?);
            self.charge(values.len() as u64);
            let wide = values.iter().filter(|&&a| self.atom_range(a) != (0, 1)).count();
            if values.len() > MAX_SPOKEN || wide > MAX_WIDE || self.work() > most || self.is_spent() {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// The same for these values, until so many units of work were done.
    fn on_boxes(&mut self, d: FormId, width: u32, values: &FxHashSet<AtomId>, most: u64) -> OrOverflow<bool> {
        let mut values: Vec<AtomId> = values.iter().copied().collect();
        values.sort_unstable();
        let Some(pieces) = Pieces::above(self, d, &values) else { return Ok(false) };
        let modulus = super::power(width)?;
        let mut whole: Open = [(0, 0); VALUES];
        for (range, &a) in whole.iter_mut().zip(&values) {
            *range = self.atom_range(a);
        }
        let mut known = Vec::with_capacity(pieces.atoms.len() + values.len());
        let price = 2 * TERM + pieces.terms;
        let mut rng = crate::num::SplitMix::new(0x62_6f_78);
        for _ in 0..POINTS {
            let point = whole.map(|(lo, hi)| {
                let at = lo + (u128::from(rng.word()) % ((hi - lo) as u128 + 1)) as i128;
                (at, at)
            });
            self.charge(price);
            let found = pieces.on(self, d, &point, &mut known)?;
            if found.as_const().is_none_or(|v| v % modulus != 0) {
                return Ok(false);
            }
        }
        let mut open = vec![whole];
        while let Some(on) = open.pop() {
            self.charge(price);
            if self.work() > most || self.is_spent() {
                return Ok(false);
            }
            let found = pieces.on(self, d, &on, &mut known)?;
            let (lo, hi) = found.range(&on)?;
            let same = found.slopes.iter().all(|slope| slope % modulus == 0);
            if found.low == found.high && found.low % modulus == 0 && same {
                continue;
            }
            // No multiple of the modulus between the ends.
            let none = lo.div_euclid(modulus) == hi.div_euclid(modulus) && lo.rem_euclid(modulus) != 0;
            let widest = (0..VALUES).max_by_key(|&i| on[i].1 - on[i].0).unwrap_or(0);
            if none || on[widest].0 == on[widest].1 {
                return Ok(false);
            }
            let (lo, hi) = on[widest];
            let middle = lo + (hi - lo) / 2;
            for half in [(middle + 1, hi), (lo, middle)] {
                let mut part = on;
                part[widest] = half;
                open.push(part);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With more work than a proof gives one question: what the rule sees, not how soon.
    fn equal(t: &mut LinearForms, f: FormId, g: FormId) -> bool {
        let d = t.sub(f, g).unwrap();
        t.vanishes_on_boxes(d, 20, 100 * WORK).unwrap()
    }

    /// A number of 25 bits.
    fn wide() -> (LinearForms, FormId) {
        let mut t = LinearForms::default();
        let x = t.free((-(1 << 24), (1 << 24) - 1)).unwrap();
        (t, x)
    }

    #[test]
    fn the_larger_of_two_is_one_value_and_what_it_is_beyond_the_other() {
        let mut t = LinearForms::default();
        let [x, y] = [(); 2].map(|()| t.free((-60, 60)).unwrap());
        let d = t.sub(x, y).unwrap();
        let less = t.negative(d).unwrap();
        let chosen = t.mux(less, y, x).unwrap();
        let more = t.positive(d).unwrap();
        let sum = t.add(y, more).unwrap();
        assert!(equal(&mut t, chosen, sum));
        assert!(!equal(&mut t, chosen, x));
    }

    /// How many of the thresholds are not above.
    fn passed(t: &mut LinearForms, x: FormId, thresholds: impl Iterator<Item = i128>) -> FormId {
        let mut count = t.constant(0);
        for threshold in thresholds {
            let room = t.offset(x, -threshold).unwrap();
            let below = t.negative(room).unwrap();
            count = t.linear(count, -1, below).and_then(|c| t.offset(c, 1)).unwrap();
        }
        count
    }

    /// `min(max(x, 0), most)`.
    fn within(t: &mut LinearForms, x: FormId, most: i128) -> FormId {
        let above = t.positive(x).unwrap();
        let room = t.offset(above, -most).unwrap();
        let fits = t.negative(room).unwrap();
        let top = t.constant(most);
        t.mux(fits, above, top).unwrap()
    }

    #[test]
    fn a_product_with_a_constant_counts_thresholds() {
        let (mut t, x) = wide();
        // Steps of about 1024.6.
        let product = t.scale(x, 2).and_then(|p| t.scale(p, 67_075_177)).and_then(|p| t.floor(p, 37)).unwrap();
        let by_product = within(&mut t, product, 4);
        let steps = |i: i128| ((1i128 << 36) * i + 67_075_176) / 67_075_177;
        let by_thresholds = passed(&mut t, x, (1..=4).map(steps));
        assert!(equal(&mut t, by_product, by_thresholds));
        // One of them is another.
        let wrong = passed(&mut t, x, (1..=4).map(|i| steps(i) + i128::from(i == 3)));
        assert!(!equal(&mut t, by_product, wrong));
    }

    #[test]
    fn halves_go_to_even_numbers_in_two_ways() {
        let (mut t, x) = wide();
        // floor((x + 2^14 - 1 + odd) / 2^15), odd the bit behind the point; and rounded up, one taken away where that met a half.
        let whole = t.floor(x, 15).unwrap();
        let odd = |t: &mut LinearForms, y: FormId| {
            let half = t.floor(y, 1).unwrap();
            t.linear(y, -2, half).unwrap()
        };
        let bit = odd(&mut t, whole);
        let moved = t.add(x, bit).and_then(|m| t.offset(m, (1 << 14) - 1)).unwrap();
        let first = t.floor(moved, 15).unwrap();
        let up = t.offset(x, 1 << 14).unwrap();
        let count = t.floor(up, 15).unwrap();
        let rest = t.linear(up, -(1 << 15), count).unwrap();
        let tie = t.zero(rest).unwrap();
        let last = odd(&mut t, count);
        let less = t.times(tie, last).unwrap();
        let second = t.sub(count, less).unwrap();
        let (first, second) = (within(&mut t, first, 100), within(&mut t, second, 100));
        assert!(equal(&mut t, first, second));
        let wrong = within(&mut t, count, 100);
        assert!(!equal(&mut t, first, wrong));
    }
}
