//! What an adder costs and how long it takes (`docs/cmvm.md`, "Cost and delay").

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

    /// Whether no bit of one lies beside a bit of the other.
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
