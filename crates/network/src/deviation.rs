//! Deviation of quantised values from floating-point values.

/// Sums over pairs of a quantised value and the value without quantisation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Deviation {
    count: u64,
    error: f64,
    largest: f64,
    signal: f64,
    noise: f64,
}

impl Deviation {
    /// Adds a pair of a quantised value and the value without quantisation.
    pub fn add(&mut self, value: f64, exact: f64) {
        let error = (value - exact).abs();
        self.count += 1;
        self.error += error;
        self.largest = self.largest.max(error);
        self.signal += exact * exact;
        self.noise += error * error;
    }

    /// Returns the number of pairs so far; at least 1, so that it can be a divisor.
    pub fn count(&self) -> f64 {
        self.count.max(1) as f64
    }

    /// Returns the mean of the absolute errors.
    pub fn mean(&self) -> f64 {
        self.error / self.count()
    }

    /// Returns the largest absolute error.
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// Returns the signal-to-noise ratio in dB, minus infinity without a signal; `None` without an error.
    pub fn ratio(&self) -> Option<f64> {
        (self.noise > 0.0).then(|| 10.0 * (self.signal / self.noise).log10())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_summed_up() {
        let mut found = Deviation::default();
        assert_eq!((found.mean(), found.largest(), found.ratio()), (0.0, 0.0, None));
        found.add(3.0, 3.0);
        assert_eq!(found.ratio(), None);
        found.add(-1.5, -1.0);
        assert_eq!((found.count(), found.mean(), found.largest()), (2.0, 0.25, 0.5));
        // 10 dB per factor of ten: 10 against 0.25.
        assert_eq!(found.ratio(), Some(10.0 * 40f64.log10()));
        let mut silent = Deviation::default();
        silent.add(0.5, 0.0);
        assert_eq!(silent.ratio(), Some(f64::NEG_INFINITY));
    }
}
