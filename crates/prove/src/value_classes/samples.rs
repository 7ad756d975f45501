//! Values of both programs for sampled inputs.

use super::numbering::Numbering;
use super::range::{Affine, Range};
use alir_core::ir::{Model, ValueId, draw_inputs};
use alir_core::num::{Kif, SplitMix};
use alir_interp::{LookupMiss, Step, golden_steps};
use num_bigint::BigInt;
use num_traits::Zero;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Smallest and largest number of sampled inputs by which values are recognised, and the number of operations evaluated
/// for them if that allows more than the smallest number.
const SAMPLES: (usize, usize, usize) = (32, 256, 2_000_000);
/// Number of steps of the probabilities that are drawn for a whole sample.
const EIGHTHS: u64 = 8;
/// Largest number of values of the first program that are kept for one signature.
const SAME: usize = 256;

/// Sample values of a value, summarised for affine comparison.
pub(super) struct Shown {
    /// Hash of these numbers that is equal for all affine images.
    pub(super) direction: u64,
    /// First number, and the difference between the first number and the next other one, in units of the binary point.
    pub(super) first: BigInt,
    pub(super) step: BigInt,
    pub(super) frac: i64,
    /// `true` if there were more than two different numbers.
    pub(super) many: bool,
    pub(super) hash: FxHasher,
}

impl Shown {
    pub(super) fn new(first: BigInt, kif: Kif) -> Shown {
        let (frac, hash) = (i64::from(kif.frac), FxHasher::default());
        Shown { direction: 0, first, step: BigInt::ZERO, frac, many: false, hash }
    }

    pub(super) fn add(&mut self, code: &BigInt) {
        let more = code - &self.first;
        let Some(zeros) = more.trailing_zeros() else {
            0.hash(&mut self.hash);
            return;
        };
        if self.step.is_zero() {
            self.step.clone_from(&more);
        }
        self.many |= more != self.step;
        let steps = self.step.trailing_zeros().unwrap_or(0);
        let odd = more >> zeros;
        let odd = if self.step < BigInt::ZERO { -odd } else { odd };
        (odd, zeros as i64 - steps as i64).hash(&mut self.hash);
    }

    /// Completes the signature after all numbers were added.
    pub(super) fn finish(&mut self) {
        self.direction = self.hash.finish();
    }

    /// Returns the affine map from another value with the same signature to this value; `None` if there is none.
    pub(super) fn as_image_of(&self, other: &Shown) -> Option<Affine> {
        let (own, its) = (self.step.trailing_zeros()? as i64, other.step.trailing_zeros()? as i64);
        let neg = (self.step < BigInt::ZERO) != (other.step < BigInt::ZERO);
        let shift = i32::try_from((own - self.frac) - (its - other.frac)).ok()?;
        let first = |shown: &Shown| Range { lo: shown.first.clone(), hi: shown.first.clone(), frac: shown.frac };
        let plus = first(self).plus(&first(other).multiplied(shift, !neg))?;
        let zeros = plus.lo.trailing_zeros().unwrap_or(0);
        let (lo, frac) = (&plus.lo >> zeros, if plus.lo.is_zero() { 0 } else { plus.frac - zeros as i64 });
        let affine = Affine { neg, shift, plus: Range { hi: lo.clone(), lo, frac } };
        (affine.is_identity() || (self.many && other.many) || shift == 0).then_some(affine)
    }
}

/// Returns the sample values of each value for some inputs.
pub(super) fn shown(model: &Model, inputs: &[Vec<BigInt>]) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::with_capacity(model.nodes().len());
    for codes in inputs {
        // A failed lookup gives zero, so every operation has a value.
        let _ = golden_steps(model, codes, LookupMiss::Zero, |step| {
            if let Step::Op { id, code, .. } = step {
                match all.get_mut(id.index()) {
                    Some(shown) => shown.add(code),
                    None => all.push(Shown::new(code.clone(), model.kif(id))),
                }
            }
        });
    }
    all.iter_mut().for_each(Shown::finish);
    all
}

/// Returns input values with varied distributions, as sums of many independent inputs are never near the ends of their
/// ranges.
fn varied_inputs(model: &Model, sample: usize, rng: &mut SplitMix) -> Vec<BigInt> {
    let mut codes = draw_inputs(model, rng);
    // Every second sample is as drawn; in the others an input is drawn, near a common level, or at one of two ends.
    let (level, share) = (rng.below(EIGHTHS + 1), rng.below(EIGHTHS + 1));
    for (code, kif) in codes.iter_mut().zip(model.input_kifs()) {
        let (lo, hi) = (kif.min_code(), kif.max_code());
        let (chance, is_high) = (rng.below(EIGHTHS), rng.below(EIGHTHS) < level);
        match sample % 4 {
            1 if chance < share => *code = if is_high { hi } else { lo },
            3 => *code = (&*code + (lo + (hi - kif.min_code()) * level / EIGHTHS) * 3u32) >> 2,
            _ => {}
        }
    }
    codes
}

/// Sample values of two programs, for the search of equal values.
pub(super) struct Samples {
    /// Sample values of both programs.
    pub(super) shown: [Vec<Shown>; 2],
    /// Values of the first program by signature hash, one of each class.
    pub(super) first: FxHashMap<u64, Vec<ValueId>>,
}

impl Samples {
    pub(super) fn new(numbering: &Numbering<'_>) -> Samples {
        let [a, b] = numbering.programs;
        let mut rng = SplitMix::new(0x76_61_6c_75);
        let count = SAMPLES.2 / (a.nodes().len() + b.nodes().len()).max(1);
        let inputs: Vec<_> =
            (0..count.clamp(SAMPLES.0, SAMPLES.1)).map(|sample| varied_inputs(a, sample, &mut rng)).collect();
        let shown = [shown(a, &inputs), shown(b, &inputs)];
        let mut first: FxHashMap<u64, Vec<ValueId>> = FxHashMap::default();
        for ((shown, id), &class) in shown[0].iter().zip(a.ids()).zip(&numbering.of[0]) {
            if !shown.step.is_zero() {
                let same = first.entry(shown.direction).or_default();
                if same.len() < SAME && !same.iter().any(|known| numbering.of[0][known.index()] == class) {
                    same.push(id);
                }
            }
        }
        Samples { shown, first }
    }

    /// Returns the classes of the first program of which a value of the second may be an affine image, equal values
    /// first.
    pub(super) fn like(&self, id: ValueId, numbering: &Numbering<'_>) -> Vec<(u32, Affine)> {
        let Some(own) = self.shown[1].get(id.index()) else { return Vec::new() };
        let same = self.first.get(&own.direction).map_or(&[][..], Vec::as_slice);
        let of = |id: &ValueId| Some((numbering.of[0][id.index()], own.as_image_of(&self.shown[0][id.index()])?));
        let mut all: Vec<(u32, Affine)> = same.iter().filter_map(of).collect();
        all.sort_by_key(|(_, affine)| !affine.is_identity());
        all
    }
}
