//! Pass `mirror`: replaces a table with equal or opposite values for `x` and `-x` by a table of `|x|`.
//!
//! Sines, sigmoids and hyperbolic tangents are odd about some centre; squares and cosines are even. So half of such a
//! table follows from the other half (the argument reduction of every function generator; J.-M. Muller, *Elementary
//! Functions*, 3rd edition, 2016, section 11). The pass checks four cases, exactly, over all reachable operand values:
//! `f(x) = f(-x)`, `f(x) + f(-x) = c`, and both with `-1 - x` instead of `-x`, whose magnitude needs no carry. With `m`
//! as the repeated sign bit and `s` as the sign bit,
//!
//! - the magnitude is `(x ^ m) + s`, or `x ^ m`;
//! - an odd table's word is `(h ^ m) + q + s` with `h = f - q`, `c = 2 q`, or `(h ^ m) + q` with `c = 2 q - 1`.
//!
//! The table is kept unless a tenth of its LUTs is saved, according to the estimate of [`super::split`] and including
//! adders. All new operations together have the delay of the lookup.

use super::facts::Known;
use super::rewrite::{Rewrite, rebuild};
use super::split::{self, fits};
use super::tables::Reached;
use alir_core::ir::{BinaryBits, Model, Op, Table, TableId, ValueId};
use alir_core::num::{Code, Interval};
use num_bigint::BigInt;
use rustc_hash::FxHashMap;

/// Smallest number of operand values on the shorter side of zero.
const FEWEST_CODES: i128 = 8;
/// Fraction of the lookup's delay for each of the two arithmetic parts: magnitude, and word.
const ARITHMETIC_SHARE: f64 = 0.25;

/// Replaces every table whose LUTs decrease by it; returns `None` if nothing changes.
pub(super) fn run(model: &Model, known: &mut Known) -> Option<Model> {
    let facts = known.whole(model);
    let mut found: FxHashMap<(i128, Vec<i32>), Option<Mirror>> = FxHashMap::default();
    let mut pool: FxHashMap<(Vec<i32>, i32), TableId> = FxHashMap::default();
    rebuild(model, |rw, id| {
        let Op::Lookup { x, table, base } = &model.node(id).op else { return rw.keep(id) };
        if !model.kif(*x).signed || !fits(model, id, *x) {
            return rw.keep(id);
        }
        let Some(reached) = Reached::new(model, facts, *x, *table, base) else { return rw.keep(id) };
        let key = (reached.first, reached.values.clone());
        let mirror = found.entry(key).or_insert_with(|| Mirror::best(&reached, model.kif(*x).width()));
        match mirror {
            Some(mirror) => mirror.apply(model, rw, &mut pool, id, *x, *table),
            None => rw.keep(id),
        }
    })
}

/// Half of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mirror {
    /// `true` if the table pairs `x` with `-1 - x`, `false` if with `-x`.
    complement: bool,
    /// Constant that is added after the sign; `None` for an even table.
    odd: Option<Centre>,
    /// Values by magnitude, from 0.
    values: Vec<i32>,
}

/// Centre of an odd table: `q`, and `true` if `s` is also added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Centre {
    q: i32,
    carry: bool,
}

impl Mirror {
    /// Returns the cheapest half if it saves a tenth of the table's LUTs; otherwise `None`.
    fn best(reached: &Reached, operand_bits: u32) -> Option<Mirror> {
        let last = reached.first + reached.values.len() as i128 - 1;
        if reached.first > -FEWEST_CODES || last < FEWEST_CODES {
            return None;
        }
        let halves: Vec<Mirror> =
            [false, true].into_iter().flat_map(|complement| Mirror::find(reached, complement)).collect();
        if halves.is_empty() {
            return None;
        }
        let whole = split::cheapest(reached);
        let mut best = (whole - whole / 10, None);
        for half in halves {
            let (lo, hi) = split::ends(&half.values);
            let magnitude = operand_bits - 1 + u32::from(!half.complement);
            let word = if half.odd.is_some() { split::bits(lo, hi).max(1) + 1 } else { 0 };
            let cost = magnitude + word + split::cheapest(&Reached { first: 0, values: half.values.clone() });
            if cost < best.0 {
                best = (cost, Some(half));
            }
        }
        best.1
    }

    /// Returns the halves for which the table is even or odd.
    fn find(reached: &Reached, complement: bool) -> Vec<Mirror> {
        let at = |code: i128| usize::try_from(code - reached.first).ok().and_then(|i| reached.values.get(i)).copied();
        let opposite = |code: i128| if complement { !code } else { -code };
        let last = reached.first + reached.values.len() as i128 - 1;
        let most = last.max(opposite(reached.first));
        // Zero is its own opposite, and its sign bit is clear.
        let pairs = (i128::from(!complement)..=most).filter_map(|y| at(y).zip(at(opposite(y))));
        let sums = pairs.clone().map(|(a, b)| i64::from(a) + i64::from(b));
        let mut found = Vec::new();
        if pairs.clone().all(|(a, b)| a == b) {
            let values = (0..=most).map(|y| at(y).or_else(|| at(opposite(y))).unwrap_or(0)).collect();
            found.push(Mirror { complement, odd: None, values });
        }
        let Some(sum) = sums.clone().next() else { return found };
        if sums.clone().all(|s| s == sum) {
            let q = (sum + 1).div_euclid(2);
            let half = |y: i128| match (at(y), at(opposite(y))) {
                (Some(value), _) => i64::from(value) - q,
                (None, Some(value)) => sum - i64::from(value) - q,
                (None, None) => 0,
            };
            let values = (0..=most).map(|y| i32::try_from(half(y)).ok()).collect::<Option<Vec<i32>>>();
            let centre = i32::try_from(q).map(|q| Centre { q, carry: sum == 2 * i64::from(q) });
            if let (Some(values), Ok(centre)) = (values, centre) {
                found.push(Mirror { complement, odd: Some(centre), values });
            }
        }
        found
    }

    fn apply(
        &self,
        model: &Model,
        rw: &mut Rewrite<'_>,
        pool: &mut FxHashMap<(Vec<i32>, i32), TableId>,
        id: ValueId,
        x: ValueId,
        table: TableId,
    ) -> ValueId {
        let (node, kif, old) = (model.node(id), model.kif(x), model.table(table));
        let own = model.own_delay(id);
        let (origin, frac) = (node.origin, node.interval.frac);
        let x = rw.typed(x);
        let top = kif.width() as i32 - 1;
        // The sign bit as a number with `at` fractional bits: -1 or 1 if set.
        let sign = |rw: &mut Rewrite<'_>, at: i32, lo: i64, hi: i64| {
            let shift = kif.frac - at - top;
            rw.push(Op::Quantise { x, shift }, Interval::new(lo, hi, at), 0.0, 0.0, origin)
        };
        let mask = sign(rw, kif.frac, -1, 0);
        let highest = BigInt::from(self.values.len() - 1);
        let flipped = Interval::new(BigInt::from(0), (BigInt::from(1) << top) - 1, kif.frac);
        let xor = Op::Binary { op: BinaryBits::Xor, a: x, b: mask, shift: 0 };
        let magnitude = if self.complement {
            let interval = Interval::new(BigInt::from(0), highest, kif.frac);
            rw.push(xor, interval, ARITHMETIC_SHARE * own, 0.0, origin)
        } else {
            let flipped = rw.push(xor, flipped, 0.0, 0.0, origin);
            let carry = sign(rw, kif.frac, 0, 1);
            let interval = Interval::new(BigInt::from(0), highest, kif.frac);
            rw.push(Op::Add { a: flipped, b: carry, shift: 0 }, interval, ARITHMETIC_SHARE * own, 0.0, origin)
        };
        let (lo, hi) = split::ends(&self.values);
        let out = Interval::new(i64::from(lo), i64::from(hi), frac);
        let half =
            Table { entries: self.values.clone(), out: out.clone(), hash: old.hash.clone(), inp_width: old.inp_width };
        let half = *pool.entry((self.values.clone(), frac)).or_insert_with(|| rw.table(half));
        let lookup = Op::Lookup { x: magnitude, table: half, base: Code::from(0) };
        let Some(Centre { q, carry }) = self.odd else {
            return rw.push(lookup, node.interval.clone(), (1.0 - ARITHMETIC_SHARE) * own, node.cost, origin);
        };
        let word = rw.push(lookup, out, (1.0 - 2.0 * ARITHMETIC_SHARE) * own, node.cost, origin);
        let mask = sign(rw, frac, -1, 0);
        let (lo, hi) = (lo.min(!hi), hi.max(!lo));
        let xor = Op::Binary { op: BinaryBits::Xor, a: word, b: mask, shift: 0 };
        if q == 0 && !carry {
            return rw.push(xor, node.interval.clone(), ARITHMETIC_SHARE * own, 0.0, origin);
        }
        let turned = rw.push(xor, Interval::new(i64::from(lo), i64::from(hi), frac), 0.0, 0.0, origin);
        let constant = (q != 0).then(|| {
            let interval = Interval::new(i64::from(q), i64::from(q), frac);
            rw.push(Op::Const { value: Code::from(i64::from(q)) }, interval, 0.0, 0.0, origin)
        });
        let carry = carry.then(|| sign(rw, frac, 0, 1));
        let added = match (constant, carry) {
            (Some(q_value), Some(s)) => {
                let interval = Interval::new(i64::from(q), i64::from(q) + 1, frac);
                rw.push(Op::Add { a: q_value, b: s, shift: 0 }, interval, 0.0, 0.0, origin)
            }
            (one, other) => one.or(other).expect("one of the two"),
        };
        let sum = Op::Add { a: turned, b: added, shift: 0 };
        rw.push(sum, node.interval.clone(), ARITHMETIC_SHARE * own, 0.0, origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(first: i128, last: i128, f: impl Fn(f64) -> f64) -> Reached {
        Reached { first, values: (first..=last).map(|x| f(x as f64).round() as i32).collect() }
    }

    #[test]
    fn odd_and_even_tables_are_seen() {
        let sine = reached(-500, 500, |x| 255.0 * (x / 200.0).sin());
        let half = Mirror::best(&sine, 10).expect("odd");
        assert_eq!((half.complement, half.odd), (false, Some(Centre { q: 0, carry: true })));
        assert_eq!(half.values.len(), 501);
        let square = reached(-300, 300, |x| x * x / 7.0);
        assert_eq!(Mirror::best(&square, 10).expect("even").odd, None);
        // Odd about -1/2 with centre -1/2: no carries.
        let tanh = reached(-512, 511, |x| (511.5 * ((x + 0.5) / 150.0).tanh() - 0.5).round());
        let half = Mirror::best(&tanh, 10).expect("odd about -1/2");
        assert_eq!((half.complement, half.odd), (true, Some(Centre { q: 0, carry: false })));
        assert_eq!(half.values.len(), 512);
        // One word violates the symmetry.
        let mut broken = sine;
        broken.values[3] += 1;
        assert_eq!(Mirror::best(&broken, 10), None);
    }
}
