//! Cost and delay of an adder (`docs/cmvm.md`, "Cost and delay").

/// Cost measure of an adder. Delays are those of the contract in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Bits from the lowest of either operand to the highest, nothing where the operands lie apart: the count that
    /// `cmvm::check` reports.
    #[default]
    Contract,
    /// Bits of the carry chain: low bits that pass through are free, and so are numbers that are only put side by side;
    /// a lower number with a sign is not.
    Carries,
}

/// Ticks of the delay model in its unit: every delay is a whole number of them.
pub(crate) const TICKS: f64 = 40.0;

/// Delay of an adder before its width counts: 1.1.
const TICKS_OF_AN_ADDER: u32 = 44;

/// Where the bits of a value lie: from `2^low` up to, but not including, `2^top`, the sign among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) low: i32,
    pub(crate) top: i32,
}

impl Span {
    pub(crate) fn shifted(self, by: i32) -> Span {
        Span { low: self.low + by, top: self.top + by }
    }

    /// Returns `true` if no bit position is in both.
    pub(crate) fn is_apart(self, other: Span) -> bool {
        other.low >= self.top || self.low >= other.top
    }
}

/// Cost (adder bits) and delay (ticks) of adding two values in the better order: nothing if they lie apart.
#[inline]
pub(crate) fn adder(a: Span, b: Span) -> (u32, u32) {
    if a.is_apart(b) {
        return (0, 0);
    }
    adder_in_place(a, b)
}

/// Bits of the carry chain of `a + b`, or of `a - b`; whether each may be negative comes with it.
#[inline]
pub(crate) fn carries((a, a_signed): (Span, bool), (b, b_signed): (Span, bool), subtract: bool) -> u32 {
    let (lower, lower_signed, upper) = if a.low < b.low { (a, a_signed, b) } else { (b, b_signed, a) };
    if !subtract && !lower_signed && lower.top <= upper.low {
        return 0;
    }
    let start = if subtract { b.low } else { upper.low };
    (a.top.max(b.top) + 1 - start).max(1) as u32
}

/// Cost and delay where the adder is really built.
#[inline]
pub(crate) fn adder_in_place(a: Span, b: Span) -> (u32, u32) {
    let n = (a.top.max(b.top) - a.low.min(b.low) - 1).max(0) as u32;
    (n.max(1), TICKS_OF_AN_ADDER + n)
}

/// Ticks until an input is there, never too early.
pub(crate) fn ticks_of_arrival(arrival: f64) -> u32 {
    (arrival * TICKS - 1e-6).ceil().max(0.0) as u32
}

/// Ticks within a limit, never too many.
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
        // Side by side: wires. With a sign below, its copies are added to the upper number.
        assert_eq!(carries((low, false), (high, true), false), 0);
        assert_eq!(carries((high, true), (low, false), false), 0);
        assert_eq!(carries((low, true), (high, true), false), 5);
        // The upper number taken away needs its own chain; the lower one taken away borrows through all.
        assert_eq!(carries((low, false), (high, false), true), 5);
        assert_eq!(carries((high, false), (low, false), true), 9);
        // What one number alone has at the low end passes through.
        assert_eq!(carries((span(0, 8), true), (span(3, 11), true), false), 9);
        assert_eq!(adder(low, high), (0, 0));
    }
}
