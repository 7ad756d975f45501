//! Comparison of two forms in a rule set that names every operation. Names are expanded one by one, the newest first,
//! until the forms are equal, or until all combinations of the few remaining values are tried.

use super::samples::{LANES, Lanes, Samples, TERM};
use super::unfold::Without;
use super::{AtomId, FormId, LinearForms, OrOverflow};
use rustc_hash::FxHashSet;

/// Largest number of names expanded for one query.
const STEPS: usize = 40;
/// Largest numbers of combinations of values: tried between two expansions, and tried at the end.
const TRIED: (u64, u64) = (1 << 11, 1 << 16);
/// Largest number of values whose combinations are tried.
const MAX_VALUES: usize = 8;
/// Divisor of a query's budget for the first attempt with boxes, and the smallest budget of this attempt in ticks.
const BOXES: (u64, u64) = (20, 50_000);
/// Largest number of terms of the remaining difference.
const MAX_LEFT: usize = 80;

impl LinearForms {
    /// Returns `true` if two forms are proved equal modulo `2^width` by expanding nearby names. Takes at most about
    /// `most` ticks.
    ///
    /// # Errors
    /// [`super::Overflow`] if numbers or forms grow too large.
    pub fn same_locally(&mut self, f: FormId, g: FormId, width: u32, most: u64) -> OrOverflow<bool> {
        self.apart(|t| t.same_nearby(f, g, width, most))
    }

    fn same_nearby(&mut self, f: FormId, g: FormId, width: u32, most: u64) -> OrOverflow<bool> {
        let Some(mut d) = self.difference(f, g, width)? else { return Ok(true) };
        // The cheapest method first.
        if self.is_zero_by_splitting(d, width, (most / BOXES.0).max(BOXES.1)).unwrap_or(false) {
            return Ok(true);
        }
        let whole = d;
        for _ in 0..STEPS {
            let values = self.spoken(d)?;
            if self.vanishes(d, width, &values, TRIED.0) {
                return Ok(true);
            }
            match self.without_newest(d, &values, width)? {
                Without::Nothing => return Ok(true),
                Without::Form(next) if self.len(next) <= MAX_LEFT => d = next,
                Without::Form(_) | Without::NoName => break,
            }
        }
        let values = self.spoken(d)?;
        if self.vanishes(d, width, &values, TRIED.1) {
            return Ok(true);
        }
        self.is_zero_by_splitting(whole, width, most)
    }

    /// Returns `true` if a form is zero modulo `2^width` for all values within the ranges of its inputs and names.
    /// Returns `false` if they have more than `most` combinations. Some combinations may be impossible in the design,
    /// so `false` does not prove that the form is nonzero.
    fn vanishes(&mut self, d: FormId, width: u32, values: &FxHashSet<AtomId>, most: u64) -> bool {
        if values.len() > MAX_VALUES || width >= 126 {
            return false;
        }
        let mut values: Vec<(AtomId, i128, u64)> = values
            .iter()
            .map(|&a| (a, self.atom_range(a)))
            .try_fold(Vec::new(), |mut all, (a, (lo, hi))| {
                all.push((a, lo, u64::try_from(hi.checked_sub(lo)?).ok()?.checked_add(1)?));
                Some(all)
            })
            .unwrap_or_default();
        values.sort_unstable();
        let all = values.iter().try_fold(1u64, |all, v| all.checked_mul(v.2).filter(|&all| all <= most));
        let Some(all) = all.filter(|_| !values.is_empty()) else { return false };
        let mask = (1i128 << width) - 1;
        for start in (0..all).step_by(LANES) {
            // Lanes beyond the last combination repeat the first ones.
            let mut numbers: [u64; LANES] = std::array::from_fn(|lane| (start + lane as u64) % all);
            let assigned = values.iter().map(|&(a, lo, count)| {
                let lanes: Lanes = numbers.map(|n| lo + i128::from(n % count));
                numbers = numbers.map(|n| n / count);
                (a, lanes)
            });
            let mut samples = Samples::assigned(assigned);
            let found = samples.lanes(self, d);
            self.charge(samples.take_work() + TERM);
            if self.is_spent() || found.iter().any(|v| v & mask != 0) {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::RuleSet;
    use super::super::model::forms;
    use super::*;

    /// Budget in ticks, at least that of one query of a proof.
    const MOST: u64 = 2_000_000;

    #[test]
    fn what_is_the_same_nearby_is_the_same_for_random_inputs() {
        let (mut same, mut parts, mut other) = (0, 0, 0);
        for seed in 0..120 {
            let model = alir_testing::random::model(seed);
            let mut t = LinearForms::with(RuleSet::Local);
            let Ok(forms) = forms(&mut t, &model) else { continue };
            let mut samples = Samples::random(&t, seed);
            let mut rng = alir_core::num::SplitMix::new(seed);
            for id in model.ids().skip(1) {
                let f = forms.ops[id.index()];
                let meaning = t.meaning(f);
                let g = forms.ops[rng.below(id.index() as u64) as usize];
                let (m, width) = (rng.below(4) as u32, 1 + rng.below(8) as u32);
                let (Ok(low), Ok(cut), Ok(of_other)) = (t.floor(f, m), t.floor(meaning, m), t.floor(g, m)) else {
                    continue;
                };
                parts += 1;
                same += usize::from(t.same_locally(low, cut, width, MOST).unwrap_or(false));
                // Another value, and the same value with one inverted bit: equal only if all samples are.
                let turned = t.offset(cut, 1 << (width - 1)).unwrap();
                for wrong in [of_other, turned] {
                    if t.same_locally(low, wrong, width, MOST).unwrap_or(false) {
                        let (x, y) = (samples.lanes(&t, low), samples.lanes(&t, wrong));
                        assert!(x.iter().zip(&y).all(|(x, y)| (x - y) & ((1 << width) - 1) == 0), "seed {seed}, {id}");
                    } else {
                        other += 1;
                    }
                }
            }
        }
        assert!(same * 100 >= parts * 97, "{same} of {parts}");
        assert!(other > parts, "{other} are others, of {parts}");
    }

    #[test]
    fn few_values_are_all_tried() {
        let mut t = LinearForms::with(RuleSet::Local);
        let (x, y) = (t.free((0, 29)).unwrap(), t.free((-3, 3)).unwrap());
        // x - 8 floor(x / 8) is x & 7; with y added.
        let high = t.floor(x, 3).unwrap();
        let low = t.linear(x, -8, high).unwrap();
        let mask = t.constant(7);
        let both = t.and(&[x, mask]).unwrap();
        let (f, g) = (t.add(low, y).unwrap(), t.add(both, y).unwrap());
        assert_eq!(t.same_locally(f, g, 10, MOST), Ok(true));
        // Equal except for x = 29.
        let last = t.offset(x, -29).unwrap();
        let last = t.zero(last).unwrap();
        let wrong = t.linear(g, 4, last).unwrap();
        assert_eq!(t.same_locally(f, wrong, 10, MOST), Ok(false));
        assert_eq!(t.same_locally(f, wrong, 2, MOST), Ok(true));
    }

    #[test]
    fn equal_sums_have_one_name() {
        let mut t = LinearForms::with(RuleSet::Local);
        let [a, b, c] = [(); 3].map(|()| t.free((-8, 7)).unwrap());
        let sum = |t: &mut LinearForms, x, factor, y| {
            let sum = t.linear(x, factor, y).unwrap();
            t.named(sum).unwrap()
        };
        let ab = sum(&mut t, a, 1, b);
        let abc = sum(&mut t, ab, 2, c);
        let cb = sum(&mut t, b, 2, c);
        let other = sum(&mut t, cb, 1, a);
        assert_eq!(abc, other);
        // b - 2 (a + b + 2 c) and its double, with a constant.
        let less = sum(&mut t, b, -2, abc);
        let twice = t.linear(cb, -2, b).unwrap();
        let twice = t.named(twice).unwrap();
        let (ends, begins) = (t.scale(abc, -4).unwrap(), t.scale(b, 2).unwrap());
        let moved = t.offset(ends, 6).unwrap();
        let double = t.add(moved, begins).unwrap();
        let double = t.named(double).unwrap();
        let expected = t.scale(less, 2).and_then(|f| t.offset(f, 6)).unwrap();
        assert_eq!(double, expected);
        assert_ne!(twice, less);
        // The range of c alone, derived from a form in which b + 2 c is a name.
        assert_eq!(t.range(abc), (-32, 28));
    }
}
