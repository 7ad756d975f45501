//! Pseudo-random words for samples and searches: a seed gives the same words on every computer.

use num_bigint::BigInt;

/// A small, seedable generator of pseudo-random words (SplitMix64: Steele, Lea, Flood 2014).
#[derive(Clone, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    /// Returns the generator for a seed.
    pub fn new(seed: u64) -> SplitMix {
        SplitMix(seed)
    }

    /// Returns the next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`; the bias of the simple method is below 2^-32 for the sizes used here.
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(n)) >> 64).try_into().unwrap_or(n - 1)
    }

    /// Returns `width` uniform bits as an unsigned number.
    pub fn bits(&mut self, width: u32) -> BigInt {
        let words: Vec<u32> = (0..width.div_ceil(32)).map(|_| self.word() as u32).collect();
        BigInt::from_slice(num_bigint::Sign::Plus, &words) >> (words.len() as u32 * 32 - width)
    }
}
