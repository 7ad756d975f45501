//! Passes `sums32` to `sums4`: split a sum with a long carry chain into one chain for each run of its bits, so that
//! registers can be placed between the chains.
//!
//! For the scheduler an operation is indivisible, and a stage cannot be shorter than its longest operation. The bits of
//! both operands are divided into runs. The lowest runs are added first; the next chain adds the next runs and the
//! carry of the first chain, and so on (a carry-skewed pipeline of adders). The concatenated results of the runs are
//! the sum, which is wiring. A comparison is a difference of which only the sign is read: for its lower runs only the
//! borrow is computed.
//!
//! A carry is an additional bit below both operands, `{a, 1} + {b, carry}` and `{a, 0} - {b, borrow}`, which synthesis
//! implements as one carry chain. Its gates are those of the whole sum, so that the prover recognises them at once.

use super::facts::Known;
use super::rewrite::{Rewrite, rebuild};
use alir_core::ir::{Model, Op, ValueId};
use alir_core::num::{Code, Interval, Kif};
use num_bigint::BigInt;

/// Splits each sum, difference and negation whose carry chain has more than `BITS` bits into chains of at most `BITS`
/// bits and about equal lengths; returns `None` if nothing changes.
pub(super) fn run<const BITS: u32>(model: &Model, _: &mut Known) -> Option<Model> {
    rebuild(model, |rw, id| {
        let parts = Operands::new(rw, model, id).and_then(|operands| Split::new(operands, model, id, BITS));
        match parts {
            Some(split) => split.build(rw),
            None => rw.keep(id),
        }
    })
}

/// An operand of a sum.
#[derive(Clone, Debug)]
enum Operand {
    /// A value of the new program times `2^shift`.
    Value { x: ValueId, kif: Kif, shift: i32 },
    /// A constant `code * 2^low`.
    Constant { code: BigInt, low: i64 },
}

impl Operand {
    fn new(rw: &Rewrite<'_>, x: ValueId, shift: i32) -> Operand {
        let kif = rw.kif(x);
        match &rw.node(x).op {
            Op::Const { value } => {
                let code = alir_core::num::wrap(&value.to_big(), kif);
                Operand::Constant { code, low: i64::from(shift) - i64::from(kif.frac) }
            }
            _ if kif.is_zero() => Operand::Constant { code: BigInt::ZERO, low: 0 },
            _ => Operand::Value { x, kif, shift },
        }
    }

    /// Returns the weights, as powers of two, of the lowest bit that may be set and of the first bit above the operand;
    /// `None` for zero.
    fn weights(&self) -> Option<(i64, i64)> {
        match self {
            Operand::Value { kif, shift, .. } => {
                let low = i64::from(*shift) - i64::from(kif.frac);
                Some((low, low + i64::from(kif.width())))
            }
            Operand::Constant { code, low } => {
                let zeros = code.trailing_zeros()?;
                let signed = u64::from(*code < BigInt::ZERO);
                Some((low + zeros as i64, low + (code.bits() + signed) as i64))
            }
        }
    }

    fn is_signed(&self) -> bool {
        match self {
            Operand::Value { kif, .. } => kif.signed,
            Operand::Constant { code, .. } => *code < BigInt::ZERO,
        }
    }
}

/// Operands of `a + b` or (`minus`) `a - b`.
struct Operands {
    a: Operand,
    b: Operand,
    minus: bool,
}

impl Operands {
    /// Returns the operands of a sum of two, a difference or a negation; `None` for other operations.
    fn new(rw: &Rewrite<'_>, model: &Model, id: ValueId) -> Option<Operands> {
        let operand = |v: ValueId, shift: i32| Operand::new(rw, rw.number(v), shift);
        let pair = |a, b, minus| Some(Operands { a, b, minus });
        match &model.node(id).op {
            Op::Add { a, b, shift } => pair(operand(*a, 0), operand(*b, *shift), false),
            Op::Sub { a, b, shift } => pair(operand(*a, 0), operand(*b, *shift), true),
            Op::Neg { x } => pair(Operand::Constant { code: BigInt::ZERO, low: 0 }, operand(*x, 0), true),
            Op::AddConst { x, value, shift } => {
                let constant = Operand::Constant { code: value.to_big(), low: -i64::from(*shift) };
                pair(operand(*x, 0), constant, false)
            }
            _ => None,
        }
    }
}

/// A sum to be split into runs of bits.
struct Split {
    operands: Operands,
    /// Weights of the lowest bits of the runs, at least two.
    starts: Vec<i64>,
    /// Interval of the sum.
    result: Interval,
    /// Delay of each run.
    delay: f64,
    /// Cost of the sum in the file, which is assigned to the result.
    cost: f64,
    origin: u32,
    /// Origin of the runs: that of an operand, so that only the result has the name of the sum.
    part_origin: u32,
}

/// Largest absolute weight of a sum that is split: far below the limit on fractional bits of types.
const FAR: i64 = 1 << 24;

impl Split {
    /// Returns the split of a sum; `None` if the carry chain is short.
    fn new(operands: Operands, model: &Model, id: ValueId, most: u32) -> Option<Split> {
        let node = model.node(id);
        let kif = model.kif(id);
        let Operands { a, b, minus } = &operands;
        // A sum of two constants takes no hardware.
        let mut first = None;
        node.op.for_each_operand(|v| first = first.or(Some(v)));
        let is_constant = |x: &Operand| matches!(x, Operand::Constant { .. });
        if kif.is_zero() || (is_constant(a) && is_constant(b)) {
            return None;
        }
        let ((a_low, a_end), (b_low, b_end)) = match (a.weights(), b.weights()) {
            (Some(a), Some(b)) => (a, b),
            (None, Some(b)) if *minus => ((b.0, b.0), b),
            _ => return None,
        };
        let top = i64::from(kif.width()) - i64::from(kif.frac);
        let signed = a.is_signed() || b.is_signed() || *minus;
        // The chain extends from the lowest bit that is added to the highest bit that is read and may differ.
        let start = if *minus { b_low } else { a_low.max(b_low) };
        let end = (a_end.max(b_end) + 1 + i64::from(signed)).min(top);
        let is_apart = |low_end: i64, low_signed: bool| !low_signed && low_end <= start;
        let lower_is_apart = match (minus, a_low <= b_low) {
            (true, _) => a_low < b_low && is_apart(a_end, a.is_signed()),
            (false, true) => is_apart(a_end, a.is_signed()),
            (false, false) => is_apart(b_end, b.is_signed()),
        };
        if (lower_is_apart && !minus) || [start, end, a_low, b_low].iter().any(|weight| weight.abs() > FAR) {
            return None;
        }
        let length = end - start;
        let runs = (length + i64::from(most) - 1) / i64::from(most);
        if runs < 2 {
            return None;
        }
        let mut starts = vec![a_low.min(b_low)];
        starts.extend((1..runs).map(|run| start + length * run / runs));
        let part_origin = first.map_or(node.origin, |v| model.node(v).origin);
        let delay = model.own_delay(id) / runs as f64;
        let result = node.interval.clone();
        Some(Split { starts, result, delay, cost: node.cost, origin: node.origin, part_origin, operands })
    }

    fn build(&self, rw: &mut Rewrite<'_>) -> ValueId {
        let kif = self.result.kif();
        let bottom = -i64::from(kif.frac);
        let top = bottom + i64::from(kif.width());
        let minus = self.operands.minus;
        // Bits of all runs except the last, and the carry into the next run.
        let mut bits: Vec<ValueId> = Vec::new();
        let mut carry = None;
        for (&low, &end) in self.starts.iter().zip(&self.starts[1..]) {
            let (a, b) = (self.run_of(rw, &self.operands.a, (low, end)), self.run_of(rw, &self.operands.b, (low, end)));
            let (a, b) =
                (self.with_carry(rw, a, low, carry.map(|_| None)), self.with_carry(rw, b, low, carry.map(Some)));
            let width = (end - low) as u32;
            // If no reader needs the bits of the run, only the carry is computed.
            let is_read = bottom < end;
            let sum = match is_read {
                true => self.sum(rw, a, b, Interval::from_width(minus, width + 1, -low as i32)),
                false => self.sum(rw, a, b, Interval::from_width(minus, 1, -end as i32)),
            };
            carry = Some(self.wires(rw, sum, Interval::from_width(false, 1, -end as i32)));
            if is_read {
                let low = low.max(bottom);
                bits.push(self.wires(rw, sum, Interval::from_width(false, (end - low) as u32, -low as i32)));
            }
        }
        let low = self.starts[self.starts.len() - 1];
        let high = |x: &Operand| x.weights().map_or(low, |(_, end)| end).max(low + 1);
        let (a, b) = (&self.operands.a, &self.operands.b);
        let (a, b) = (self.top_of(rw, a, (low, high(a))), self.top_of(rw, b, (low, high(b))));
        let (a, b) = (self.with_carry(rw, a, low, carry.map(|_| None)), self.with_carry(rw, b, low, carry.map(Some)));
        if bits.is_empty() {
            return self.sum_as(rw, a, b, self.result.clone(), true);
        }
        let width = (top - low) as u32;
        let mut sum = self.sum(rw, a, b, Interval::from_width(kif.signed, width, -low as i32));
        for (place, part) in bits.into_iter().enumerate().rev() {
            let frac = rw.kif(part).frac.max(rw.kif(sum).frac);
            let whole = Interval::from_width(kif.signed, (top + i64::from(frac)) as u32, frac);
            sum = match place {
                0 => rw.push(Op::Add { a: sum, b: part, shift: 0 }, self.result.clone(), 0.0, self.cost, self.origin),
                _ => rw.push(Op::Add { a: sum, b: part, shift: 0 }, whole, 0.0, 0.0, self.part_origin),
            };
        }
        sum
    }

    /// Appends `a + b` or `a - b` as a part of the sum.
    fn sum(&self, rw: &mut Rewrite<'_>, a: ValueId, b: ValueId, interval: Interval) -> ValueId {
        self.sum_as(rw, a, b, interval, false)
    }

    fn sum_as(&self, rw: &mut Rewrite<'_>, a: ValueId, b: ValueId, interval: Interval, is_result: bool) -> ValueId {
        let op = match self.operands.minus {
            true => Op::Sub { a, b, shift: 0 },
            false => Op::Add { a, b, shift: 0 },
        };
        let (cost, origin) = if is_result { (self.cost, self.origin) } else { (0.0, self.part_origin) };
        rw.push(op, interval, self.delay, cost, origin)
    }

    fn wires(&self, rw: &mut Rewrite<'_>, x: ValueId, interval: Interval) -> ValueId {
        rw.push(Op::Quantise { x, shift: 0 }, interval, 0.0, 0.0, self.part_origin)
    }

    /// Returns the bits of an operand between two weights, as an unsigned number.
    fn run_of(&self, rw: &mut Rewrite<'_>, x: &Operand, range: (i64, i64)) -> ValueId {
        self.bits_of(rw, x, range, false)
    }

    /// Returns the bits of an operand from a weight to its end, with its sign.
    fn top_of(&self, rw: &mut Rewrite<'_>, x: &Operand, range: (i64, i64)) -> ValueId {
        self.bits_of(rw, x, range, x.is_signed())
    }

    fn bits_of(&self, rw: &mut Rewrite<'_>, x: &Operand, (low, end): (i64, i64), signed: bool) -> ValueId {
        let interval = Interval::from_width(signed, (end - low) as u32, -low as i32);
        let zero = |rw: &mut Rewrite<'_>| self.constant(rw, BigInt::ZERO, low, &interval);
        match x {
            Operand::Value { x: value, shift, .. } => match x.weights() {
                Some((from, to)) if from < end && (to > low || x.is_signed()) => {
                    rw.push(Op::Quantise { x: *value, shift: *shift }, interval, 0.0, 0.0, self.part_origin)
                }
                _ => zero(rw),
            },
            Operand::Constant { code, low: place } => {
                // Bits below the run are dropped, and bits above it wrap.
                let moved = place - low;
                let code = if moved < 0 { code >> moved.unsigned_abs() } else { code << moved.unsigned_abs() };
                let code = alir_core::num::wrap(&code, interval.kif());
                self.constant(rw, code, low, &interval)
            }
        }
    }

    fn constant(&self, rw: &mut Rewrite<'_>, code: BigInt, low: i64, interval: &Interval) -> ValueId {
        let exact = Interval::new(code.clone(), code.clone(), -low as i32);
        debug_assert!(exact.min.is_zero() || interval.contains(&code));
        rw.push(Op::Const { value: Code::from(code) }, exact, 0.0, 0.0, self.part_origin)
    }

    /// Returns a run with one more bit below it: a carry, or, for the other operand, the bit that adds the carry.
    /// `carry` is `None` for the lowest run, which has no carry.
    fn with_carry(&self, rw: &mut Rewrite<'_>, x: ValueId, low: i64, carry: Option<Option<ValueId>>) -> ValueId {
        let Some(carry) = carry else { return x };
        let kif = rw.kif(x);
        let frac = (1 - low) as i32;
        // Zero has no width.
        let width = if kif.is_zero() { 1 } else { kif.width() + 1 };
        let interval = Interval::from_width(kif.signed, width, frac);
        let op = match (carry, self.operands.minus) {
            (Some(carry), _) => Op::Add { a: x, b: carry, shift: -1 },
            (None, true) => return x,
            (None, false) => Op::AddConst { x, value: Code::from(1), shift: frac },
        };
        rw.push(op, interval, 0.0, 0.0, self.part_origin)
    }
}
