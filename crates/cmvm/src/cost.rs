//! Cost and delay of an adder (`docs/cmvm.md`, "Cost and delay").

/// Cost measure of an adder. The delay of an adder does not depend on the measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Bits from the lowest to the highest of both operands; 0 if the operands do not overlap. `cmvm::check` reports
    /// this cost.
    #[default]
    Contract,
    /// Bits of the carry chain: low bits that only one operand has are free, and so are operands that are only
    /// concatenated. If the lower operand is signed, its sign extension needs a carry chain.
    Carries,
}

/// Ticks in one unit of the delay model. Every delay is a whole number of ticks.
pub(crate) const TICKS: f64 = 40.0;

/// Constant part of the delay of an adder, in ticks: 1.1 units.
const TICKS_OF_AN_ADDER: u32 = 44;

/// Bit positions of a value: from `low` to `top` (exclusive), including the sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) low: i32,
    pub(crate) top: i32,
}

impl Span {
    pub(crate) fn shifted(self, by: i32) -> Span {
        Span { low: self.low + by, top: self.top + by }
    }

    /// Returns `true` if the spans have no common bit position.
    pub(crate) fn is_apart(self, other: Span) -> bool {
        other.low >= self.top || self.low >= other.top
    }
}

/// Returns the cost (adder bits) and delay (ticks) of the sum of two values in the cheaper order; 0 if they do not
/// overlap.
#[inline]
pub(crate) fn adder(a: Span, b: Span) -> (u32, u32) {
    if a.is_apart(b) {
        return (0, 0);
    }
    adder_in_place(a, b)
}

/// Returns the bits of the carry chain of `a + b` or `a - b`. Each operand has a flag that is `true` if it may be
/// negative.
#[inline]
pub(crate) fn carries((a, a_signed): (Span, bool), (b, b_signed): (Span, bool), subtract: bool) -> u32 {
    let (lower, lower_signed, upper) = if a.low < b.low { (a, a_signed, b) } else { (b, b_signed, a) };
    if !subtract && !lower_signed && lower.top <= upper.low {
        return 0;
    }
    let start = if subtract { b.low } else { upper.low };
    (a.top.max(b.top) + 1 - start).max(1) as u32
}

/// Returns the cost and delay of an adder that is built even if the operands do not overlap.
#[inline]
pub(crate) fn adder_in_place(a: Span, b: Span) -> (u32, u32) {
    let n = (a.top.max(b.top) - a.low.min(b.low) - 1).max(0) as u32;
    (n.max(1), TICKS_OF_AN_ADDER + n)
}

/// Returns the arrival time of an input in ticks, rounded up.
pub(crate) fn ticks_of_arrival(arrival: f64) -> u32 {
    (arrival * TICKS - 1e-6).ceil().max(0.0) as u32
}

/// Returns a time limit in ticks, rounded down.
pub(crate) fn ticks_of_limit(limit: f64) -> u32 {
    (limit * TICKS + 1e-6).floor().max(0.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(low: i32, top: i32) -> Span {
        Span { low, top }
    }

    #[test]
    fn carries_are_those_of_hardware() {
        let (low, high) = (span(0, 4), span(4, 8));
        // Concatenation is wiring. A signed lower operand is sign-extended into the upper one, which needs an adder.
        assert_eq!(carries((low, false), (high, true), false), 0);
        assert_eq!(carries((high, true), (low, false), false), 0);
        assert_eq!(carries((low, true), (high, true), false), 5);
        // Subtracting the upper operand needs a chain of its width; subtracting the lower one borrows through all bits.
        assert_eq!(carries((low, false), (high, false), true), 5);
        assert_eq!(carries((high, false), (low, false), true), 9);
        // Low bits that only one operand has pass through.
        assert_eq!(carries((span(0, 8), true), (span(3, 11), true), false), 9);
        assert_eq!(adder(low, high), (0, 0));
    }
}
