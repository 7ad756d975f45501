//! Quantisers of integers as staircases with exact steps.
//!
//! A quantiser of `atom * unit + offset`, clamped or not, is a monotone function of the integer. Its thresholds define
//! it: the smallest integer for each further raw value. Every implementation with these thresholds is correct, so the
//! cheapest one is selected by its number of LUTs: a comparison, a shift, a table, a binary search, or a product with a
//! constant that is checked at every threshold. A staircase with very many steps is a division by a constant, without a
//! list of thresholds.

use super::atoms::Atoms;
use super::bits_of;
use super::elem::{Elem, Wire};
use crate::digits;
use crate::exact::Rational;
use crate::function::{Function, Functions};
use crate::onnx::golden;
use crate::onnx::kernel::{Codes, Step};
use crate::quantise::Round;
use crate::reciprocal::Division;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Maximum number of thresholds that are listed for one staircase; a staircase with more steps is a division.
const MAX_STEPS: u32 = 4096;
/// Largest width of the input of a table that implements thresholds.
const MAX_DIRECT: u32 = 12;

/// A quantiser with its operand.
pub(super) struct Stair<'a> {
    pub(super) wire: &'a Wire,
    pub(super) step: &'a Step,
    pub(super) codes: &'a Codes,
}

/// Key of a plan.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    /// `x/s + z` as a function of the integer: factor and summand, then the ends.
    gain: Rational,
    bias: Rational,
    ends: (Option<Rational>, Option<Rational>),
    codes: Codes,
    range: (BigInt, BigInt),
    function: Option<Function>,
}

/// Staircase over the integers of a range: raw value `from` at the lowest integer, then one raw value more (less if
/// `descending`) at each threshold.
struct Plan {
    from: BigInt,
    descending: bool,
    method: Method,
}

enum Method {
    Constant,
    /// 1 if the integer is at least the threshold, otherwise 0.
    Compare(BigInt),
    /// `floor(sum / 2^shift)`, clamped to 0 and `most`.
    Shift {
        sum: Sum,
        shift: u32,
        most: BigInt,
    },
    /// Like `Shift`; if the sum is a multiple of `2^shift`, the result is decremented to an even number (`to_even`) or
    /// to an odd number.
    Tie {
        sum: Sum,
        shift: u32,
        most: BigInt,
        to_even: bool,
    },
    /// Table with an entry for each integer, lowest integer first.
    Table(Vec<i32>),
    /// Number of thresholds that are not above the integer, by binary search.
    Search(Vec<BigInt>),
    /// `floor((v * factor + summand) / 2^shift)`, clamped to 0 and `most`.
    Product {
        factor: BigInt,
        summand: BigInt,
        shift: u32,
        most: BigInt,
    },
    /// `round((v * factor + summand) / divisor) - least`, clamped to 0 and `most`.
    Quotient {
        factor: BigInt,
        summand: BigInt,
        divisor: BigInt,
        round: Round,
        least: BigInt,
        most: BigInt,
    },
}

/// `v + summand`, or `summand - v`.
struct Sum {
    summand: BigInt,
    minus: bool,
}

impl Sum {
    fn build(&self, atoms: &mut Atoms, v: u32) -> Result<u32, String> {
        if self.minus { atoms.subtracted_from(&self.summand, v) } else { atoms.add_constant(v, &self.summand) }
    }
}

/// Builder of staircases. It caches their plans, because most elements of a tensor have the same quantiser.
#[derive(Default)]
pub(super) struct Stairs {
    plans: FxHashMap<Key, Rc<Plan>>,
}

impl Stairs {
    /// Returns the quantised value.
    ///
    /// # Errors
    /// If values are too wide.
    pub(super) fn apply(&mut self, atoms: &mut Atoms, stair: &Stair) -> Result<Elem, String> {
        let line = Line::new(stair, atoms);
        if let Some(clipped) = line.only_clips(stair) {
            return Ok(clipped);
        }
        let key = line.key(None);
        let plan = match self.plans.get(&key) {
            Some(plan) => plan.clone(),
            None => {
                let plan = Rc::new(line.plan()?);
                self.plans.insert(key, plan.clone());
                plan
            }
        };
        finish(atoms, stair, &plan)
    }

    /// Returns a quantiser of a real function as a table.
    ///
    /// # Errors
    /// If the integer has more bits than tables may have, or if an entry does not fit.
    pub(super) fn table(
        &mut self,
        atoms: &mut Atoms,
        stair: &Stair,
        function: Function,
        functions: &mut Functions,
        most_bits: u32,
    ) -> Result<Elem, String> {
        let width = atoms.width(stair.wire.atom);
        if width > most_bits {
            return Err(format!(
                "the table of {} would have {width} bits of input; at most {most_bits} are allowed (--max-table-bits): \
                 quantise to fewer before",
                function.name()
            ));
        }
        let line = Line::new(stair, atoms);
        let key = line.key(Some(function));
        let plan = match self.plans.get(&key) {
            Some(plan) => plan.clone(),
            None => {
                let plan = Rc::new(function_plan(stair, &line, function, functions)?);
                self.plans.insert(key, plan.clone());
                plan
            }
        };
        finish(atoms, stair, &plan)
    }
}

/// Returns the quantised value as an element.
fn finish(atoms: &mut Atoms, stair: &Stair, plan: &Plan) -> Result<Elem, String> {
    let from = stair.step.value(&plan.from);
    let steps = plan.method.build(atoms, stair.wire.atom)?;
    let Some(steps) = steps else { return Ok(Elem::Constant(from)) };
    // The two raw values of a sign, -1 and 1, differ by two.
    let gap = if matches!(stair.codes, Codes::Sign) { 1 } else { 0 };
    let unit = stair.step.scale.shifted(gap);
    Ok(Elem::new(atoms, steps, if plan.descending { -&unit } else { unit }, from))
}

/// Quantiser as a function of the integer: `t = gain * v + bias`, clamped, then converted to a raw value.
struct Line {
    gain: Rational,
    bias: Rational,
    ends: (Option<Rational>, Option<Rational>),
    codes: Codes,
    low: BigInt,
    high: BigInt,
}

impl Line {
    fn new(stair: &Stair, atoms: &Atoms) -> Line {
        let Wire { atom, unit, offset, low, high } = stair.wire;
        let zero = Rational::from(stair.step.zero.clone());
        let scaled = |x: &Rational| x.checked_div(&stair.step.scale).expect("scales are positive");
        let t = |x: &Rational| &scaled(x) + &zero;
        let range = atoms.range(*atom);
        Line {
            gain: scaled(unit),
            bias: t(offset),
            ends: (low.as_ref().map(t), high.as_ref().map(t)),
            codes: stair.codes.clone(),
            low: range.0.clone(),
            high: range.1.clone(),
        }
    }

    fn key(&self, function: Option<Function>) -> Key {
        Key {
            gain: self.gain.clone(),
            bias: self.bias.clone(),
            ends: self.ends.clone(),
            codes: self.codes.clone(),
            range: (self.low.clone(), self.high.clone()),
            function,
        }
    }

    /// Returns `t` at an integer.
    fn at(&self, v: &BigInt) -> Rational {
        let t = &(&self.gain * &v.clone().into()) + &self.bias;
        let t = self.ends.0.as_ref().map_or(t.clone(), |low| low.max(&t).clone());
        self.ends.1.as_ref().map_or(t.clone(), |high| high.min(&t).clone())
    }

    /// Returns the raw value at an integer; those of a bipolar quantiser are 0 and 1.
    fn code(&self, v: &BigInt) -> BigInt {
        let t = self.at(v);
        match &self.codes {
            Codes::Sign => BigInt::from(u8::from(!t.is_negative())),
            // A quantiser without a function is converted to [`Codes::Round`] before.
            Codes::Type(quantiser) => quantiser.overflow(t.round(quantiser.round)),
            Codes::Round { low, high, round } => t.max(low.clone().into()).min(high.clone().into()).round(*round),
        }
    }

    /// Returns the result for a quantiser that only clips, because all scaled inputs are integers; `None` for others.
    fn only_clips(&self, stair: &Stair) -> Option<Elem> {
        let Codes::Round { low, high, .. } = &self.codes else { return None };
        let whole = |end: &Option<Rational>| end.as_ref().is_none_or(Rational::is_integer);
        if !self.gain.is_integer() || !self.bias.is_integer() || !whole(&self.ends.0) || !whole(&self.ends.1) {
            return None;
        }
        let value = |code: &BigInt| stair.step.value(code);
        Some(Elem::Wire(stair.wire.clone()).clip(Some(&value(low)), Some(&value(high))))
    }

    /// Returns the smallest integer whose raw value is at least `j` (ascending) or below `j` (descending); `j` must be
    /// within the ends.
    fn threshold(&self, j: &BigInt) -> BigInt {
        let (boundary, included) = boundary(&self.codes, j);
        let v = (&boundary - &self.bias).checked_div(&self.gain).expect("not constant");
        if self.gain.is_negative() {
            // q >= j if v <= limit.
            let last = if included { v.floor() } else { v.ceil() - 1 };
            last + 1
        } else if included {
            v.ceil()
        } else {
            v.floor() + 1
        }
    }

    fn plan(&self) -> Result<Plan, String> {
        let (first, last) = (self.code(&self.low), self.code(&self.high));
        let descending = last < first;
        let count = (&last - &first).abs();
        let from = if matches!(self.codes, Codes::Sign) { &first * 2 - 1 } else { first.clone() };
        let plan = |method| Ok(Plan { from: from.clone(), descending, method });
        // The raw value at the i-th threshold (from 1) is `first + i`, or `first - i`.
        let threshold =
            |i: &BigInt| if descending { self.threshold(&(&first - i + 1)) } else { self.threshold(&(&first + i)) };
        if count.is_zero() {
            return plan(Method::Constant);
        }
        if count.is_one() {
            return plan(self.cheapest(vec![threshold(&count)]));
        }
        if let Some(method) = self.by_shift(&first, descending, &count, &threshold) {
            if matches!(method, Method::Tie { to_even: false, .. })
                && let Some(mirrored) = self.mirrored()
            {
                return Ok(mirrored);
            }
            let shift_cost = method.cost(&self.low, &self.high);
            // For few integers, a table may be cheaper than the shift.
            let bits = bits_of(&(&self.high - &self.low));
            let table = (bits <= 6).then(|| direct(&self.low, &self.high, &thresholds(&count, &threshold)));
            return plan(match table {
                Some(table) if table.cost(&self.low, &self.high) < shift_cost => table,
                _ => method,
            });
        }
        if count > BigInt::from(MAX_STEPS) {
            return self.quotient(first.min(last), count);
        }
        plan(self.cheapest(thresholds(&count, &threshold)))
    }

    /// Returns the plan of a division by a constant, for quantisers with too many thresholds for a list.
    fn quotient(&self, least: BigInt, most: BigInt) -> Result<Plan, String> {
        let Codes::Round { round, .. } = self.codes else { return Err(format!("a quantiser with {most} steps")) };
        let divisor = self.gain.denominator().lcm(&self.bias.denominator());
        let whole = |x: &Rational| (x * &divisor.clone().into()).numerator();
        let (factor, summand) = (whole(&self.gain), whole(&self.bias));
        let method = Method::Quotient { factor, summand, divisor, round, least: least.clone(), most };
        Ok(Plan { from: least, descending: false, method })
    }

    /// Returns the plan over `-v` if ties then go to even numbers of steps, because such a plan needs no further sums.
    fn mirrored(&self) -> Option<Plan> {
        let line = Line {
            gain: -&self.gain,
            bias: self.bias.clone(),
            ends: self.ends.clone(),
            codes: self.codes.clone(),
            low: -&self.high,
            high: -&self.low,
        };
        let (first, last) = (line.code(&line.low), line.code(&line.high));
        let descending = last < first;
        let count = (&last - &first).abs();
        let threshold =
            |i: &BigInt| if descending { line.threshold(&(&first - i + 1)) } else { line.threshold(&(&first + i)) };
        match line.by_shift(&first, descending, &count, &threshold)? {
            Method::Tie { sum, shift, most, to_even: true } => {
                let sum = Sum { summand: sum.summand, minus: true };
                Some(Plan { from: first, descending, method: Method::Tie { sum, shift, most, to_even: true } })
            }
            _ => None,
        }
    }

    /// Returns a shift if the distances of the thresholds are an equal power of two, except for ties.
    fn by_shift(
        &self,
        first: &BigInt,
        descending: bool,
        count: &BigInt,
        threshold: &dyn Fn(&BigInt) -> BigInt,
    ) -> Option<Method> {
        let exponent = self.gain.abs().log2()?;
        let shift = u32::try_from(-exponent).ok()?;
        let Codes::Round { round, .. } = &self.codes else { return None };
        // The position of the i-th threshold relative to i * 2^shift depends only on the sign and the parity of its raw
        // value.
        let beside = |i: &BigInt| threshold(i) - (i << shift);
        let zero_at = if descending { first + 1u32 } else { -first };
        let mut samples: Vec<BigInt> = vec![BigInt::one(), BigInt::from(2), count.clone(), count - 1];
        samples.extend((-2..=2).map(|d| &zero_at + d));
        samples.retain(|i| *i >= BigInt::one() && i <= count);
        let beside_of: Vec<(bool, BigInt)> = samples.iter().map(|i| (i.bit(0), beside(i))).collect();
        let of_parity = |odd: bool| beside_of.iter().filter(move |(o, _)| *o == odd).map(|(_, b)| b);
        let odd = of_parity(true).next()?;
        let even = of_parity(false).next()?;
        if of_parity(true).any(|b| b != odd) || of_parity(false).any(|b| b != even) {
            return None;
        }
        let most = count.clone();
        if odd == even {
            // floor((v - (T - i * 2^k)) / 2^k)
            return Some(Method::Shift { sum: Sum { summand: -odd, minus: false }, shift, most });
        }
        if *round != Round::HalfEven || (odd - even).abs() != BigInt::one() || shift == 0 {
            return None;
        }
        // The result is rounded up at ties, and decremented if it has the parity whose thresholds are one higher.
        let (lower, to_even) = if odd > even { (even, true) } else { (odd, false) };
        Some(Method::Tie { sum: Sum { summand: -lower, minus: false }, shift, most, to_even })
    }

    /// Returns the cheapest method to count the thresholds that are not above the integer.
    fn cheapest(&self, thresholds: Vec<BigInt>) -> Method {
        let bits = bits_of(&(&self.high - &self.low));
        let mut methods = Vec::new();
        if bits <= MAX_DIRECT {
            methods.push(direct(&self.low, &self.high, &thresholds));
        }
        if let [only] = thresholds.as_slice() {
            methods.push(Method::Compare(only.clone()));
        } else {
            methods.extend(product(&self.gain.abs(), &thresholds, bits));
            methods.push(Method::Search(thresholds));
        }
        let cost = |method: &Method| method.cost(&self.low, &self.high);
        let best = (0..methods.len()).min_by_key(|&k| cost(&methods[k])).expect("at least one way");
        methods.swap_remove(best)
    }
}

fn thresholds(count: &BigInt, threshold: &dyn Fn(&BigInt) -> BigInt) -> Vec<BigInt> {
    let count = count.to_u32().unwrap_or(0);
    (1..=count).map(|i| threshold(&BigInt::from(i))).collect()
}

/// Returns the number above which raw values are at least `j`, and `true` if the number itself is included.
fn boundary(codes: &Codes, j: &BigInt) -> (Rational, bool) {
    let Codes::Round { round, .. } = codes else { return (Rational::zero(), true) };
    let positive = j.is_positive();
    let whole = |j: &BigInt| Rational::from(j.clone());
    let half = &whole(j) - &Rational::one().shifted(-1);
    match round {
        Round::Floor => (whole(j), true),
        Round::Ceil => (whole(&(j - 1)), false),
        Round::TowardZero => {
            if positive {
                (whole(j), true)
            } else {
                (whole(&(j - 1)), false)
            }
        }
        Round::AwayFromZero => {
            if positive {
                (whole(&(j - 1)), false)
            } else {
                (whole(j), true)
            }
        }
        Round::HalfUp => (half, true),
        Round::HalfDown => (half, false),
        Round::HalfAway => (half, positive),
        Round::HalfTowardZero => (half, !positive),
        Round::HalfEven => (half, !j.bit(0)),
    }
}

/// Returns a table with an entry for each integer from `low` to `high`.
fn direct(low: &BigInt, high: &BigInt, thresholds: &[BigInt]) -> Method {
    let mut entries = Vec::new();
    let (mut v, mut passed) = (low.clone(), 0);
    while v <= *high {
        while passed < thresholds.len() && thresholds[passed] <= v {
            passed += 1;
        }
        entries.push(passed as i32);
        v += 1;
    }
    Method::Table(entries)
}

/// Returns a product with a constant that steps exactly at the thresholds; `None` if no constant fits.
fn product(gain: &Rational, thresholds: &[BigInt], bits: u32) -> Option<Method> {
    let most = BigInt::from(thresholds.len());
    let mut best: Option<(u32, Method)> = None;
    for shift in 0..bits + 12 {
        let ideal = gain.shifted(shift.into());
        for factor in [ideal.floor(), ideal.ceil()] {
            if !factor.is_positive() {
                continue;
            }
            // i * 2^P <= T_i * C + D and (T_i - 1) * C + D < i * 2^P, for every i.
            let ends = thresholds.iter().enumerate().map(|(i, t)| {
                let reached: BigInt = (BigInt::from(i + 1) << shift) - t * &factor;
                let before: BigInt = &reached + &factor - 1;
                (reached, before)
            });
            let (mut least, mut largest): (Option<BigInt>, Option<BigInt>) = (None, None);
            for (reached, before) in ends {
                least = Some(least.map_or(reached.clone(), |l| l.max(reached)));
                largest = Some(largest.map_or(before.clone(), |l| l.min(before)));
            }
            if let (Some(least), Some(largest)) = (least, largest)
                && least <= largest
            {
                let digits = digits::signed(&factor).len() as u32;
                let summand = fewest_ones(&least, &largest);
                if best.as_ref().is_none_or(|(known, _)| digits < *known) {
                    best = Some((digits, Method::Product { factor, summand, shift, most: most.clone() }));
                }
            }
        }
        // With slightly more precision a factor may have fewer digits; with much more precision it does not.
        if best.as_ref().is_some_and(|(_, m)| matches!(m, Method::Product { shift: first, .. } if shift >= first + 4)) {
            break;
        }
    }
    best.map(|(_, method)| method)
}

/// Returns the number in a range with the most trailing zeros.
fn fewest_ones(least: &BigInt, largest: &BigInt) -> BigInt {
    let mut best = least.clone();
    for shift in 0..largest.bits().max(least.bits()) {
        let candidate = (largest >> shift) << shift;
        if candidate < *least {
            break;
        }
        best = candidate;
    }
    best
}

impl Method {
    /// Returns the approximate number of six-input LUTs.
    fn cost(&self, low: &BigInt, high: &BigInt) -> u64 {
        let width = u64::from(bits_of(&(high - low))).max(1);
        let clamp = |most: &BigInt| 2 * most.bits();
        match self {
            Method::Constant => 0,
            Method::Compare(_) => width,
            Method::Shift { most, .. } => width + clamp(most),
            Method::Tie { shift, most, .. } => width + clamp(most) + u64::from(*shift).div_ceil(5) + 1,
            Method::Table(entries) => {
                let bits = u64::from(32 - entries.last().copied().unwrap_or(0).leading_zeros());
                bits * if width <= 6 { 1 } else { 1 << (width - 6) }
            }
            Method::Search(thresholds) => {
                let bits = u64::from(usize::BITS - thresholds.len().leading_zeros());
                let tables: u64 = (1..bits).map(|level| width * if level <= 6 { 1 } else { 1 << (level - 6) }).sum();
                // Tables with few inputs share cells with the comparison.
                bits * width + tables * 2 / 3
            }
            Method::Product { factor, shift, most, .. } => {
                let digits = digits::signed(factor).len() as u64;
                (digits - 1) * (width + factor.bits() / 2) + width + u64::from(*shift) + clamp(most)
            }
            // About half of the digits of a reciprocal are not zero.
            Method::Quotient { divisor, most, .. } => (width + divisor.bits()) * width / 2 + clamp(most),
        }
    }

    /// Builds the number of steps up to the integer `v`; `None` if there are no steps.
    fn build(&self, atoms: &mut Atoms, v: u32) -> Result<Option<u32>, String> {
        match self {
            Method::Constant => Ok(None),
            Method::Compare(threshold) => {
                let below = atoms.add_constant(v, &-threshold)?;
                let below = atoms.is_negative(below);
                atoms.not(below).map(Some)
            }
            Method::Shift { sum, shift, most } => {
                let sum = sum.build(atoms, v)?;
                let steps = atoms.floor_shifted(sum, *shift)?;
                saturated(atoms, steps, most).map(Some)
            }
            Method::Tie { sum, shift, most, to_even } => {
                let sum = sum.build(atoms, v)?;
                let steps = atoms.floor_shifted(sum, *shift)?;
                let rest = atoms.bits(sum, 0, *shift)?;
                let no_tie = atoms.any(rest)?;
                let steps = if *to_even { odd_only(atoms, steps, no_tie)? } else { even_only(atoms, steps, no_tie)? };
                saturated(atoms, steps, most).map(Some)
            }
            Method::Table(entries) => atoms.lookup(v, entries.clone()).map(Some),
            Method::Search(thresholds) => search(atoms, v, thresholds).map(Some),
            Method::Product { factor, summand, shift, most } => {
                let product = atoms.times(v, factor)?;
                let sum = atoms.add_constant(product, summand)?;
                let steps = atoms.floor_shifted(sum, *shift)?;
                saturated(atoms, steps, most).map(Some)
            }
            Method::Quotient { factor, summand, divisor, round, least, most } => {
                let product = atoms.times(v, &factor.abs())?;
                let numerator = if factor.is_negative() {
                    atoms.subtracted_from(summand, product)?
                } else {
                    atoms.add_constant(product, summand)?
                };
                let code = quotient(atoms, numerator, divisor, *round)?;
                let steps = atoms.add_constant(code, &-least)?;
                saturated(atoms, steps, most).map(Some)
            }
        }
    }
}

/// Returns the rounded quotient of a value and a constant.
fn quotient(atoms: &mut Atoms, x: u32, divisor: &BigInt, round: Round) -> Result<u32, String> {
    let (low, high) = atoms.range(x);
    let is_negative = (low.is_negative(), high.is_negative());
    let end = |x: &BigInt| Rational::new(x.clone(), divisor).expect("divisors are not zero").round(round);
    let (low, high) = (end(low), end(high));
    let (negative, positive) = round.division_summands(divisor);
    let code = if round == Round::HalfEven && divisor.is_even() {
        // The values rounded up and rounded down differ at a tie only, and one of them is even.
        let up = floored_quotient(atoms, x, &(divisor >> 1u32), divisor)?;
        let down = floored_quotient(atoms, x, &positive, divisor)?;
        let last = atoms.bits(up, 0, 1)?;
        atoms.mux(last, down, up)
    } else if negative == positive || is_negative == (false, false) {
        floored_quotient(atoms, x, &positive, divisor)?
    } else if is_negative == (true, true) {
        floored_quotient(atoms, x, &negative, divisor)?
    } else {
        let sign = atoms.is_negative(x);
        let (negative, positive) = (atoms.constant(&negative)?, atoms.constant(&positive)?);
        let summand = atoms.mux(sign, negative, positive);
        let moved = atoms.add((x, 0), (summand, 0), false)?;
        floored_quotient(atoms, moved, &BigInt::ZERO, divisor)?
    };
    Ok(if atoms.range(code) == (&low, &high) { code } else { atoms.narrowed(code, low, high) })
}

/// Returns `floor((x + summand) / divisor)`.
fn floored_quotient(atoms: &mut Atoms, x: u32, summand: &BigInt, divisor: &BigInt) -> Result<u32, String> {
    // Floors can be nested, so the low bits are dropped first.
    let zeros = divisor.trailing_zeros().unwrap_or(0);
    let moved = atoms.add_constant(x, summand)?;
    let whole = atoms.floor_shifted(moved, zeros as u32)?;
    let odd = divisor >> zeros;
    if odd.is_one() {
        return Ok(whole);
    }
    let (low, high) = atoms.range(whole);
    let division = Division::new(&odd, low, high);
    let product = atoms.times(whole, &division.factor)?;
    let sum = atoms.add_constant(product, &division.offset)?;
    atoms.floor_shifted(sum, division.shift)
}

/// Returns the number of steps, clamped to 0 and `most`.
fn saturated(atoms: &mut Atoms, steps: u32, most: &BigInt) -> Result<u32, String> {
    let steps = atoms.relu(steps)?;
    atoms.at_most(steps, most)
}

/// Returns the number, decremented if it is odd and the bit `keep` is clear.
fn odd_only(atoms: &mut Atoms, steps: u32, keep: u32) -> Result<u32, String> {
    let above = atoms.floor_shifted(steps, 1)?;
    let last = atoms.bits(steps, 0, 1)?;
    let last = atoms.and(last, keep)?;
    atoms.add((above, 1), (last, 0), false)
}

/// Returns the number, decremented if it is even and the bit `keep` is clear.
fn even_only(atoms: &mut Atoms, steps: u32, keep: u32) -> Result<u32, String> {
    // An even number minus one is the next lower odd number: `x + 1`, rounded down to even, minus one.
    let more = atoms.add_constant(steps, &BigInt::one())?;
    let even = odd_only(atoms, more, keep)?;
    atoms.add_constant(even, &BigInt::from(-1))
}

/// Returns the result of a binary search, in which the previous comparisons select the threshold of each comparison.
fn search(atoms: &mut Atoms, v: u32, thresholds: &[BigInt]) -> Result<u32, String> {
    let bits = usize::BITS - thresholds.len().leading_zeros();
    let beyond = atoms.range(v).1 + 1u32;
    let mut passed: Option<u32> = None;
    for level in 0..bits {
        let bit = bits - 1 - level;
        let candidates: Vec<BigInt> = (0..1usize << level)
            .map(|prefix| {
                let steps = (prefix << (bit + 1)) | (1 << bit);
                thresholds.get(steps - 1).unwrap_or(&beyond).clone()
            })
            .collect();
        let below = match passed {
            None => atoms.add_constant(v, &-&candidates[0])?,
            Some(prefix) => {
                let threshold = chosen(atoms, prefix, &candidates)?;
                atoms.difference(v, threshold)?
            }
        };
        let below = atoms.is_negative(below);
        let reached = atoms.not(below)?;
        passed = Some(match passed {
            None => reached,
            Some(prefix) => atoms.add((prefix, 1), (reached, 0), false)?,
        });
    }
    let passed = passed.expect("at least one threshold");
    Ok(passed)
}

/// Returns the entry at an index; entries of more than 31 bits are composed from several tables.
fn chosen(atoms: &mut Atoms, number: u32, entries: &[BigInt]) -> Result<u32, String> {
    const PART: u32 = 30;
    // An earlier comparison may have only one possible outcome, so that fewer entries can be selected.
    let (low, high) = atoms.range(number);
    let (low, high) = (low.to_usize().unwrap_or(0), high.to_usize().unwrap_or(0));
    let entries = &entries[low..=high.min(entries.len() - 1)];
    if entries.len() == 1 {
        return atoms.constant(&entries[0]);
    }
    let least = entries.iter().min().expect("at least one").clone();
    let mut rest: Vec<BigInt> = entries.iter().map(|e| e - &least).collect();
    let mut sum = atoms.constant(&BigInt::ZERO)?;
    let mut shift = 0;
    while rest.iter().any(|r| !r.is_zero()) {
        let mask = (BigInt::one() << PART) - 1;
        let part: Vec<i32> = rest.iter().map(|r| (r & &mask).to_i32().unwrap_or(0)).collect();
        let part = atoms.lookup(number, part)?;
        let part = atoms.shifted(part, shift);
        sum = if shift == 0 { part } else { atoms.add((sum, 0), (part, 0), false)? };
        rest.iter_mut().for_each(|r| *r >>= PART);
        shift += PART;
    }
    atoms.add_constant(sum, &least)
}

/// Returns the plan of a table with the raw values of a function.
fn function_plan(stair: &Stair, line: &Line, function: Function, functions: &mut Functions) -> Result<Plan, String> {
    let gap = if matches!(stair.codes, Codes::Sign) { 2 } else { 1 };
    let Wire { unit, offset, low, high, .. } = stair.wire;
    let mut codes = Vec::new();
    let mut v = line.low.clone();
    while v <= line.high {
        let x = &(&Rational::from(v.clone()) * unit) + offset;
        let x = low.as_ref().map_or(x.clone(), |low| low.max(&x).clone());
        let x = high.as_ref().map_or(x.clone(), |high| high.min(&x).clone());
        codes.push(golden::code_of(stair.codes, stair.step, &x, Some(function), functions)?);
        v += 1;
    }
    let mut from = codes.iter().min().expect("a range is not empty").clone();
    // Table entries are signed 32-bit integers: an offset moves larger unsigned entries into this range.
    let steps = |code: &BigInt, from: &BigInt| -> BigInt { (code - from) / gap };
    if codes.iter().any(|code| steps(code, &from).to_i32().is_none()) {
        from += BigInt::from(gap) << 31u32;
    }
    let entry = |code: &BigInt| {
        steps(code, &from)
            .to_i32()
            .ok_or_else(|| format!("an entry of the table of {} has more than 32 bits", function.name()))
    };
    let entries = codes.iter().map(entry).collect::<Result<Vec<i32>, _>>()?;
    let method = if entries.iter().all(|&e| e == 0) { Method::Constant } else { Method::Table(entries) };
    Ok(Plan { from, descending: false, method })
}
