//! Values of a solution: exact linear forms, bit positions, arrival times.

use super::cost::{self, Measure, Span};
use num_traits::PrimInt;

/// Integer type for coefficients and ranges; each problem uses the narrowest type that fits.
pub(crate) trait Coefficient: PrimInt + Send + Sync + std::fmt::Debug + 'static {}

impl Coefficient for i64 {}
impl Coefficient for i128 {}

/// One of the two operands of a value: `value * 2^shift`, shift not negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) value: u32,
    pub(crate) shift: u32,
}

/// The sum `parts[0] + parts[1]`, or the difference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum {
    pub(crate) parts: [Part; 2],
    pub(crate) subtract: bool,
}

/// Values of a solution, indexed from 0: the inputs, then the sums.
#[derive(Clone)]
pub(crate) struct Values<C> {
    n_in: usize,
    measure: Measure,
    /// Lowest and highest raw integer value of each input.
    ends: Vec<(C, C)>,
    sums: Vec<Sum>,
    spans: Vec<Span>,
    ticks: Vec<u32>,
    /// Exact interval of each value.
    ranges: Vec<(C, C)>,
    /// Index in `terms` of the first term of each value's linear form (coefficients of the inputs' raw integer values).
    starts: Vec<u32>,
    terms: Vec<(u32, C)>,
}

/// An input: range of its raw integer values, exponent of their unit, and arrival time in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) lo: i128,
    pub(crate) hi: i128,
    pub(crate) exponent: u32,
    pub(crate) ticks: u32,
}

impl<C: Coefficient> Values<C> {
    pub(crate) fn new(sources: &[Source], measure: Measure) -> Values<C> {
        let mut values = Values {
            n_in: sources.len(),
            measure,
            ends: Vec::with_capacity(sources.len()),
            sums: Vec::new(),
            spans: Vec::with_capacity(4 * sources.len()),
            ticks: Vec::with_capacity(4 * sources.len()),
            ranges: Vec::with_capacity(4 * sources.len()),
            starts: vec![0],
            terms: Vec::new(),
        };
        let fitting = |v: i128| C::from(v).expect("the problem was measured");
        for (i, source) in sources.iter().enumerate() {
            let ends = (fitting(source.lo), fitting(source.hi));
            values.ends.push(ends);
            let range = (ends.0 << source.exponent as usize, ends.1 << source.exponent as usize);
            values.terms.push((i as u32, C::one() << source.exponent as usize));
            values.enter(range, source.exponent, source.ticks);
        }
        values
    }

    fn enter(&mut self, range: (C, C), low: u32, ticks: u32) -> u32 {
        self.spans.push(Span { low: low as i32, top: low as i32 + width(range, low) as i32 });
        self.ranges.push(range);
        self.ticks.push(ticks);
        self.starts.push(self.terms.len() as u32);
        self.spans.len() as u32 - 1
    }

    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    pub(crate) fn n_in(&self) -> usize {
        self.n_in
    }

    /// Returns the indices of the sums on which these values depend.
    fn used(&self, values: impl Iterator<Item = u32>) -> Vec<usize> {
        let mut is_used = vec![false; self.len()];
        values.for_each(|v| is_used[v as usize] = true);
        for v in (self.n_in..self.len()).rev() {
            if is_used[v] {
                self.sums[v - self.n_in].parts.iter().for_each(|p| is_used[p.value as usize] = true);
            }
        }
        (0..self.sums.len()).filter(|n| is_used[self.n_in + n]).collect()
    }

    /// Returns the adder bits of these values and of all sums on which they depend.
    pub(crate) fn cost_of(&self, values: impl Iterator<Item = u32>) -> u64 {
        let price = |n: usize| {
            let Sum { parts: [x, y], subtract } = self.sums[n];
            u64::from(self.price(x, y, subtract))
        };
        self.used(values).into_iter().map(price).sum()
    }

    /// Returns the adder bits of `x + y` or `x - y`.
    pub(crate) fn price(&self, x: Part, y: Part, subtract: bool) -> u32 {
        match self.measure {
            Measure::Contract => cost::adder(self.placed(x), self.placed(y)).0,
            Measure::Carries => {
                let operand = |part: Part| (self.placed(part), self.ranges[part.value as usize].0 < C::zero());
                cost::carries(operand(x), operand(y), subtract)
            }
        }
    }

    /// Returns the adder bits of the sum, or of the cheaper of the two differences.
    pub(crate) fn least_price(&self, x: Part, y: Part, subtract: bool) -> u32 {
        match (self.measure, subtract) {
            (Measure::Carries, true) => self.price(x, y, true).min(self.price(y, x, true)),
            _ => self.price(x, y, subtract),
        }
    }

    /// Returns the number of adders of these values and of all sums on which they depend.
    pub(crate) fn adders_of(&self, values: impl Iterator<Item = u32>) -> usize {
        self.used(values).len()
    }

    #[inline]
    pub(crate) fn span(&self, value: u32) -> Span {
        self.spans[value as usize]
    }

    #[inline]
    pub(crate) fn ticks(&self, value: u32) -> u32 {
        self.ticks[value as usize]
    }

    pub(crate) fn sums(&self) -> &[Sum] {
        &self.sums
    }

    /// Returns the bit positions of an operand.
    #[inline]
    pub(crate) fn placed(&self, part: Part) -> Span {
        self.span(part.value).shifted(part.shift as i32)
    }

    /// Appends `x + y` or `x - y`. A difference is negated if that is cheaper; returns the value, and `true` if it is
    /// negated.
    pub(crate) fn push(&mut self, x: Part, y: Part, subtract: bool) -> (u32, bool) {
        let start = self.terms.len();
        let is_disjoint = self.push_form(x, y, subtract);
        let (span_x, span_y) = (self.placed(x), self.placed(y));
        let (mut range, low) = if is_disjoint {
            let (a, b) = (self.ranges[x.value as usize], self.ranges[y.value as usize]);
            let (up_x, up_y) = (x.shift as usize, y.shift as usize);
            let (a, b) = ((a.0 << up_x, a.1 << up_x), (b.0 << up_y, b.1 << up_y));
            let range = if subtract { (a.0 - b.1, a.1 - b.0) } else { (a.0 + b.0, a.1 + b.1) };
            (range, span_x.low.min(span_y.low) as u32)
        } else {
            self.range_of_terms(start)
        };
        let mirrored = (C::zero() - range.1, C::zero() - range.0);
        let narrower = width(mirrored, low) < width(range, low);
        let by_price = (self.measure == Measure::Carries).then(|| self.price(y, x, true).cmp(&self.price(x, y, true)));
        let turned = subtract
            && match by_price {
                Some(order) => order.is_lt() || order.is_eq() && narrower,
                None => match span_x.is_apart(span_y) {
                    // Without an overlap, "lower minus higher" needs no adder.
                    true => span_x.low > span_y.low,
                    // -128..127 needs one bit less than -127..128.
                    false => narrower,
                },
            };
        let mut sum = Sum { parts: [x, y], subtract };
        if turned {
            sum.parts.swap(0, 1);
            range = mirrored;
            self.terms[start..].iter_mut().for_each(|(_, c)| *c = C::zero() - *c);
        }
        let (_, ticks) = cost::adder(span_x, span_y);
        self.sums.push(sum);
        let ticks = self.ticks(x.value).max(self.ticks(y.value)) + ticks;
        (self.enter(range, low, ticks), turned)
    }

    /// Appends the terms of the sum; returns `true` if the operands have no input in common.
    fn push_form(&mut self, x: Part, y: Part, subtract: bool) -> bool {
        let (mut i, mut j) = (self.starts[x.value as usize] as usize, self.starts[y.value as usize] as usize);
        let (end_i, end_j) = (self.starts[x.value as usize + 1] as usize, self.starts[y.value as usize + 1] as usize);
        let first = |(n, c): (u32, C)| (n, c << x.shift as usize);
        let second =
            |(n, c): (u32, C)| (n, if subtract { C::zero() - (c << y.shift as usize) } else { c << y.shift as usize });
        self.terms.reserve(end_i - i + end_j - j);
        let mut is_disjoint = true;
        while i < end_i && j < end_j {
            let (a, b) = (self.terms[i], self.terms[j]);
            if a.0 < b.0 {
                self.terms.push(first(a));
                i += 1;
            } else if b.0 < a.0 {
                self.terms.push(second(b));
                j += 1;
            } else {
                is_disjoint = false;
                let sum = first(a).1 + second(b).1;
                if sum != C::zero() {
                    self.terms.push((a.0, sum));
                }
                (i, j) = (i + 1, j + 1);
            }
        }
        for k in i..end_i {
            self.terms.push(first(self.terms[k]));
        }
        for k in j..end_j {
            self.terms.push(second(self.terms[k]));
        }
        is_disjoint
    }

    /// Returns the exact interval of the last form in `terms`, and the position of its lowest bit.
    fn range_of_terms(&self, start: usize) -> ((C, C), u32) {
        let (mut lo, mut hi, mut low) = (C::zero(), C::zero(), u32::MAX);
        for &(input, c) in &self.terms[start..] {
            let (min, max) = self.ends[input as usize];
            let (min, max) = if c < C::zero() { (max, min) } else { (min, max) };
            (lo, hi) = (lo + c * min, hi + c * max);
            low = low.min(c.trailing_zeros());
        }
        ((lo, hi), if low == u32::MAX { 0 } else { low })
    }
}

/// Returns the width in bits of an interval whose values are multiples of `2^low`.
fn width<C: Coefficient>((lo, hi): (C, C), low: u32) -> u32 {
    let (lo, hi) = (lo >> low as usize, hi >> low as usize);
    let bits = |v: C| C::zero().leading_zeros() - v.leading_zeros();
    // ceil(log2(max(|lo|, hi + 1))): -2^n and 2^n - 1 need the same bits.
    let below = if lo < C::zero() { bits(!lo) } else { bits(lo) };
    let above = if hi < C::zero() { 0 } else { bits(hi) };
    let signed = lo < C::zero();
    // |lo| = -lo: ceil(log2(-lo)) is the bit length of -lo - 1 = !lo. A positive lo has no effect, as lo < hi + 1.
    u32::from(signed) + below.max(above)
}
