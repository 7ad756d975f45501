//! Pseudo-random numbers that are the same on every machine, for vectors and stalls.

use num_bigint::BigInt;

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014): every seed is good.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The sequence of a seed; `stream` separates independent uses of one seed.
    pub(crate) fn new(seed: u64, stream: u64) -> Random {
        let mut random = Random(seed ^ stream.wrapping_mul(0xd1b5_4a32_d192_ed03));
        random.next();
        random
    }

    /// 64 random bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is at least 1. The bias is below 2^-32 for the small bounds used here.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// True with a probability of `percent` in a hundred.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A number of `width` random bits.
    pub(crate) fn bits(&mut self, width: u32) -> BigInt {
        if width <= 64 {
            let all = self.next();
            return BigInt::from(if width == 0 { 0 } else { all >> (64 - width) });
        }
        let mut value = BigInt::ZERO;
        let mut left = width;
        while left > 0 {
            let chunk = left.min(64);
            value = (value << chunk) + BigInt::from(self.next() >> (64 - chunk));
            left -= chunk;
        }
        value
    }

    /// A number from `min` to `max`, both included.
    pub(crate) fn between(&mut self, min: &BigInt, max: &BigInt) -> BigInt {
        let span: BigInt = max - min + 1;
        // 64 bits more than needed make the bias invisible.
        let width = u32::try_from(span.bits()).unwrap_or(u32::MAX - 64) + 64;
        min + self.bits(width) % span
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_in_their_range_and_reach_its_ends() {
        let mut random = Random::new(1, 0);
        let (min, max) = (BigInt::from(-2), BigInt::from(1));
        let drawn: Vec<BigInt> = (0..200).map(|_| random.between(&min, &max)).collect();
        assert!(drawn.iter().all(|v| (&min..=&max).contains(&v)));
        assert!(drawn.contains(&min) && drawn.contains(&max));
        assert!((0..100).all(|_| random.bits(100).bits() <= 100));
        assert!((0..100).any(|_| random.bits(100).bits() == 100));
    }

    #[test]
    fn streams_of_a_seed_differ() {
        assert_ne!(Random::new(7, 0).next(), Random::new(7, 1).next());
        assert_eq!(Random::new(7, 0).next(), Random::new(7, 0).next());
    }
}
