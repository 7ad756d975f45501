//! Pass `products`: splits a long product of two values into a sum of shorter products, so that registers can be placed
//! within it.
//!
//! For the scheduler an operation is indivisible, and a stage cannot be shorter than its longest operation, usually a
//! product implemented in logic. With the bits of a factor in two runs, `y = h 2^k + l`, the product `x y` is `x l + x
//! h 2^k`, and the square of `y` is `l^2 + h^2 4^k + l h 2^(k+1)`, whose first sum takes no adder (the schoolbook
//! method, which is also the starting point of A. Karatsuba and Y. Ofman 1962).
//!
//! Each row of adders handles two bits of a factor (`netlist/rows.rs`), and an unsigned number needs one more bit for
//! its sign: a run with an odd number of bits fills its rows.

use super::facts::Known;
use super::rewrite::{Rewrite, rebuild};
use alir_core::ir::{Model, Op, ValueId};
use alir_core::num::{Interval, Kif};
use num_bigint::BigInt;

/// Largest number of rows of a product that is not split.
const FEW_ROWS: u32 = 4;
/// Largest width in bits of a number whose square is not split.
const FEW_BITS: u32 = 7;
/// Largest width in bits of a number whose square is split. The prover decides all of these on their own, but not all
/// wider ones, which therefore are not split.
const MANY_BITS: u32 = 12;

/// Splits every long product of two values; returns `None` if nothing changes.
pub(super) fn run(model: &Model, _: &mut Known) -> Option<Model> {
    rebuild(model, |rw, id| {
        let Op::Mul { a, b } = model.node(id).op else { return rw.keep(id) };
        let (x, y) = (rw.number(a), rw.number(b));
        let is_constant = |v: ValueId| matches!(rw.node(v).op, Op::Const { .. });
        if is_constant(x) || is_constant(y) || is_short(rw.kif(x), rw.kif(y), x == y) {
            return rw.keep(id);
        }
        let node = model.node(id);
        let cut =
            Cut { delay: model.own_delay(id), cost: node.cost, origin: node.origin, part_origin: model.node(b).origin };
        cut.product(rw, (x, y), Some(&node.interval), 0)
    })
}

/// Returns the number of rows of adders for a factor.
fn rows(factor: Kif) -> u32 {
    (factor.width() + u32::from(!factor.signed)).div_ceil(2)
}

fn is_short(x: Kif, y: Kif, is_square: bool) -> bool {
    if is_square { !(FEW_BITS + 1..=MANY_BITS).contains(&x.width()) } else { rows(x).min(rows(y)) <= FEW_ROWS }
}

/// Properties of a product that is being split.
struct Cut {
    /// Delay of the product.
    delay: f64,
    /// Cost of the product in the file, which is assigned to the sum.
    cost: f64,
    /// Origin of the sum.
    origin: u32,
    /// Origin of the parts: that of a factor, so that only the sum has the name of the product.
    part_origin: u32,
}

impl Cut {
    /// Appends the product of two values, with interval `result` or its full interval, at recursion depth `depth`.
    fn product(
        &self,
        rw: &mut Rewrite<'_>,
        (x, y): (ValueId, ValueId),
        result: Option<&Interval>,
        depth: i32,
    ) -> ValueId {
        let (kx, ky) = (rw.kif(x), rw.kif(y));
        // Half of the remaining delay is for the parts, half for their sum: the total never exceeds the delay of the
        // product.
        let delay = self.delay * 0.5f64.powi(depth);
        if is_short(kx, ky, x == y) {
            let result = result.cloned().unwrap_or_else(|| product_of(kx, ky, x == y));
            return rw.push(Op::Mul { a: x, b: y }, result, delay, 0.0, self.part_origin);
        }
        if x == y {
            let k = kx.width() / 2;
            let (low, high) = (self.run_of(rw, x, 0, k), self.run_of(rw, x, k, kx.width() - k));
            let [low_square, high_square, mixed] =
                [(low, low), (high, high), (low, high)].map(|pair| self.product(rw, pair, None, depth + 1));
            let squares = self.sum(rw, (low_square, high_square, 0), None, 0.0);
            return self.sum(rw, (squares, mixed, 1), result, delay / 2.0);
        }
        let (x, y) = if (rows(kx), kx.width()) < (rows(ky), ky.width()) { (y, x) } else { (x, y) };
        let factor = rw.kif(y);
        let count = rows(factor).div_ceil(FEW_ROWS);
        let mut parts = Vec::new();
        let mut at = 0;
        for left in (1..=count).rev() {
            let rest = factor.width() - at;
            let width = match left {
                1 => rest,
                // Equal numbers of rows for all parts; the last part may have one more row, and is split again if
                // necessary.
                _ => 2 * (rest + u32::from(!factor.signed)).div_ceil(2).div_ceil(left).min(FEW_ROWS) - 1,
            };
            let run = self.run_of(rw, y, at, width);
            parts.push(self.product(rw, (x, run), None, depth + 1));
            at += width;
        }
        // Adds the parts in a tree, lowest parts first.
        let adders = f64::from(count.next_power_of_two().trailing_zeros());
        while parts.len() > 1 {
            let last = parts.len() == 2;
            let sum_of = |pair: &[ValueId]| match *pair {
                [low, high] => self.sum(rw, (low, high, 0), result.filter(|_| last), delay / 2.0 / adders),
                _ => pair[0],
            };
            parts = parts.chunks(2).map(sum_of).collect();
        }
        parts[0]
    }

    /// Returns `width` bits of a value from bit `at` on, at their weight: wiring. The top bits include the sign.
    fn run_of(&self, rw: &mut Rewrite<'_>, x: ValueId, at: u32, width: u32) -> ValueId {
        let kif = rw.kif(x);
        let signed = kif.signed && at + width == kif.width();
        let interval = Interval::from_width(signed, width, kif.frac - at as i32);
        rw.push(Op::Quantise { x, shift: 0 }, interval, 0.0, 0.0, self.part_origin)
    }

    /// Appends `a + b 2^shift`.
    fn sum(
        &self,
        rw: &mut Rewrite<'_>,
        (a, b, shift): (ValueId, ValueId, i32),
        result: Option<&Interval>,
        delay: f64,
    ) -> ValueId {
        let (origin, cost) = if result.is_some() { (self.origin, self.cost) } else { (self.part_origin, 0.0) };
        let result = result.cloned().unwrap_or_else(|| {
            let (x, y) = (&rw.node(a).interval, &rw.node(b).interval.scaled(shift));
            let frac = x.frac.max(y.frac);
            let end = |x: BigInt, y_end: BigInt| (x << (frac - rw.node(a).interval.frac)) + (y_end << (frac - y.frac));
            Interval::new(end(x.min.to_big(), y.min.to_big()), end(x.max.to_big(), y.max.to_big()), frac)
        });
        rw.push(Op::Add { a, b, shift }, result, delay, cost, origin)
    }
}

/// Returns the interval of all products of two types' values.
fn product_of(x: Kif, y: Kif, is_square: bool) -> Interval {
    let pair = |x: Kif| [x.min_code(), x.max_code()];
    let mut ends: Vec<BigInt> = match is_square {
        true => pair(x).iter().map(|a| a * a).chain([BigInt::ZERO]).collect(),
        false => pair(x).iter().flat_map(|a| pair(y).map(|b| a * b)).collect(),
    };
    ends.sort_unstable();
    Interval::new(ends.remove(0), ends.pop().unwrap_or_default(), x.frac + y.frac)
}
