//! `products`: a long product of two values becomes a sum of shorter ones, so that registers can be placed within it.
//!
//! For the scheduler an operation is one piece, a stage can be no shorter than the longest, and a product made of logic
//! is by far the longest. With the bits of a factor in runs, `y = h 2^k + l`, the product `x y` is `x l + x h 2^k`, and
//! the square of `y` is `l^2 + h^2 4^k + l h 2^(k+1)`, whose first sum takes no adder (the schoolbook's division, from
//! which A. Karatsuba and Y. Ofman 1962 begin, too).
//!
//! Rows of adders take two bits of a factor each (`netlist/rows.rs`), and a number without sign needs a place for it: a
//! run of an odd number of bits fills its rows.

use super::facts::Known;
use super::rewrite::{Rewrite, rebuild};
use alir_core::ir::{Model, Op, ValueId};
use alir_core::num::{Interval, Kif};
use num_bigint::BigInt;

/// Most rows of a product that stays whole.
const FEW_ROWS: u32 = 4;
/// Most bits of a number whose square stays whole.
const FEW_BITS: u32 = 7;
/// Most bits of a number whose square is cut. By themselves all of them are proved; wider ones, of which some are not,
/// stay whole.
const MANY_BITS: u32 = 12;

/// Cuts every long product of two values.
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

/// Rows of adders for a factor.
fn rows(factor: Kif) -> u32 {
    (factor.width() + u32::from(!factor.signed)).div_ceil(2)
}

fn is_short(x: Kif, y: Kif, is_square: bool) -> bool {
    if is_square { !(FEW_BITS + 1..=MANY_BITS).contains(&x.width()) } else { rows(x).min(rows(y)) <= FEW_ROWS }
}

/// One product of the program, being cut.
struct Cut {
    /// Time of the product.
    delay: f64,
    /// Cost of the product in the file, which the sum gets.
    cost: f64,
    /// Whose the sum is.
    origin: u32,
    /// Whose the parts are: a factor's, so that nothing but the product has the product's name.
    part_origin: u32,
}

impl Cut {
    /// The product of two values, as `result` or whole, within `depth` products being cut.
    fn product(
        &self,
        rw: &mut Rewrite<'_>,
        (x, y): (ValueId, ValueId),
        result: Option<&Interval>,
        depth: i32,
    ) -> ValueId {
        let (kx, ky) = (rw.kif(x), rw.kif(y));
        // Half of the time that is left for the parts, half for their sum: never more than the product takes.
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
                // As many rows for each; what is left may have one more, and is cut again where that is too many.
                _ => 2 * (rest + u32::from(!factor.signed)).div_ceil(2).div_ceil(left).min(FEW_ROWS) - 1,
            };
            let run = self.run_of(rw, y, at, width);
            parts.push(self.product(rw, (x, run), None, depth + 1));
            at += width;
        }
        // In a tree, the lowest ones first.
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

    /// Returns `width` bits of a value from bit `at` on, at their weight: wires. The top bits have its sign.
    fn run_of(&self, rw: &mut Rewrite<'_>, x: ValueId, at: u32, width: u32) -> ValueId {
        let kif = rw.kif(x);
        let signed = kif.signed && at + width == kif.width();
        let interval = Interval::from_width(signed, width, kif.frac - at as i32);
        rw.push(Op::Quantise { x, shift: 0 }, interval, 0.0, 0.0, self.part_origin)
    }

    /// `a + b 2^shift`.
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

/// Every product of two types' values.
fn product_of(x: Kif, y: Kif, is_square: bool) -> Interval {
    let pair = |x: Kif| [x.min_code(), x.max_code()];
    let mut ends: Vec<BigInt> = match is_square {
        true => pair(x).iter().map(|a| a * a).chain([BigInt::ZERO]).collect(),
        false => pair(x).iter().flat_map(|a| pair(y).map(|b| a * b)).collect(),
    };
    ends.sort_unstable();
    Interval::new(ends.remove(0), ends.pop().unwrap_or_default(), x.frac + y.frac)
}
