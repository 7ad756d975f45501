//! The interval that an operation's operands suggest. Reader and writer share it: a file leaves out what it says.
//!
//! The rules are part of the format (`docs/alirz.md`, section 4) and never change within a version.

use crate::ir::{BinaryBits, Node, Op, Table, UnaryBits, ValueId};
use crate::num::{Code, Interval};

/// No prediction aligns an operand further than this.
const FARTHEST: i64 = 1 << 16;

/// Predicts the interval of `op`, whose operands are among `nodes` and whose table is among `tables`; `input` is the
/// interval of the input before.
pub(super) fn predict(op: &Op, nodes: &[Node], tables: &[Table], input: &Interval) -> Interval {
    let of = |v: &ValueId| &nodes[v.index()].interval;
    let frac = |x: &Interval, shift: i32| clamp(i64::from(x.frac) - i64::from(shift));
    let scaled = |x: &Interval, shift: i32| Interval { frac: frac(x, shift), ..x.clone() };
    match op {
        Op::Input { .. } => input.clone(),
        Op::Const { value } => Interval { min: value.clone(), max: value.clone(), frac: 0 },
        Op::Neg { x } => of(x).negated(),
        Op::Add { a, b, shift } => total(of(a), of(b), frac(of(b), *shift), false),
        Op::Sub { a, b, shift } => total(of(a), of(b), frac(of(b), *shift), true),
        Op::Relu { x } => {
            let x = of(x);
            let zero = |code: &Code| if code.is_negative() { Code::ZERO } else { code.clone() };
            Interval { min: zero(&x.min), max: zero(&x.max), frac: x.frac }
        }
        Op::Quantise { x, shift } => scaled(of(x), *shift),
        Op::AddConst { x, value, shift } => {
            let constant = Interval { min: value.clone(), max: value.clone(), frac: *shift };
            total(of(x), &constant, constant.frac, false)
        }
        Op::Mux { on_true, on_false, shift, cond: _ } => hull(of(on_true), &scaled(of(on_false), *shift)),
        Op::Mul { a, b } => product(of(a), of(b)),
        Op::Lookup { table, .. } => tables[table.index()].out.clone(),
        Op::Unary { op: UnaryBits::Any | UnaryBits::All, .. } => Interval::new(0, 1, 0),
        Op::Unary { op: UnaryBits::Not, x } => {
            let x = of(x);
            if x.min.is_negative() {
                let less_one = |code: &Code| sum(&code.negated(), 0, &Code::from(-1), 0, false);
                return Interval { min: less_one(&x.max), max: less_one(&x.min), frac: x.frac };
            }
            Interval::of_width(false, x.kif().width(), x.frac)
        }
        Op::Binary { a, b, shift, op } => bits(*op, of(a), &scaled(of(b), *shift)),
        Op::Sum { terms } => {
            let mut all: Option<Interval> = None;
            for term in terms {
                let next = scaled(of(&term.value), term.shift);
                all = Some(match all {
                    None if term.neg => next.negated(),
                    None => next,
                    Some(so_far) => total(&so_far, &next, next.frac, term.neg),
                });
            }
            all.unwrap_or_else(unknown)
        }
    }
}

/// What is predicted where nothing can be.
fn unknown() -> Interval {
    Interval::new(0, 0, 0)
}

fn clamp(frac: i64) -> i32 {
    frac.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

/// Distances that bring two steps to the finer of them, and that step.
fn aligned(a: i32, b: i32) -> Option<(u32, u32, i32)> {
    let frac = a.max(b);
    let up = |x: i32| u32::try_from(i64::from(frac) - i64::from(x)).ok().filter(|&u| i64::from(u) < FARTHEST);
    Some((up(a)?, up(b)?, frac))
}

/// `a + b` or `a - b`, where the codes of `b` have `frac_b` fractional bits.
fn total(a: &Interval, b: &Interval, frac_b: i32, subtract: bool) -> Interval {
    let Some((up_a, up_b, frac)) = aligned(a.frac, frac_b) else { return unknown() };
    let (low, high) = if subtract { (&b.max, &b.min) } else { (&b.min, &b.max) };
    Interval { min: sum(&a.min, up_a, low, up_b, subtract), max: sum(&a.max, up_a, high, up_b, subtract), frac }
}

/// `a * 2^up_a ± b * 2^up_b`.
#[inline]
fn sum(a: &Code, up_a: u32, b: &Code, up_b: u32, subtract: bool) -> Code {
    // Nearly all are small: 32 bits each, moved by at most 31, add up within 64.
    let small = |code: &Code, up: u32| {
        let value = code.to_i64()?;
        (up < 32 && i64::from(value as i32) == value).then(|| value << up)
    };
    if let (Some(a), Some(b)) = (small(a, up_a), small(b, up_b)) {
        return Code::from(if subtract { a - b } else { a + b });
    }
    let (a, b) = (a.to_big() << up_a, b.to_big() << up_b);
    Code::from(if subtract { a - b } else { a + b })
}

/// The smallest interval with the values of both.
fn hull(a: &Interval, b: &Interval) -> Interval {
    let Some((up_a, up_b, frac)) = aligned(a.frac, b.frac) else { return unknown() };
    let moved = |code: &Code, up: u32| sum(code, up, &Code::ZERO, 0, false);
    let (a, b) = ((moved(&a.min, up_a), moved(&a.max, up_a)), (moved(&b.min, up_b), moved(&b.max, up_b)));
    Interval { min: a.0.min(b.0), max: a.1.max(b.1), frac }
}

fn product(a: &Interval, b: &Interval) -> Interval {
    let frac = clamp(i64::from(a.frac) + i64::from(b.frac));
    let times = |x: &Code, y: &Code| match (x.to_i64(), y.to_i64()) {
        (Some(x), Some(y)) if x.checked_mul(y).is_some() => Code::from(x.wrapping_mul(y)),
        _ => Code::from(x.to_big() * y.to_big()),
    };
    let corners = [times(&a.min, &b.min), times(&a.min, &b.max), times(&a.max, &b.min), times(&a.max, &b.max)];
    let [first, rest @ ..] = corners;
    let (mut min, mut max) = (first.clone(), first);
    for corner in rest {
        if corner < min {
            min = corner;
        } else if corner > max {
            max = corner;
        }
    }
    Interval { min, max, frac }
}

/// The type that both operands of a bit operation fit into; without its sign where the result has none.
fn bits(op: BinaryBits, a: &Interval, b: &Interval) -> Interval {
    let (ka, kb) = (a.kif(), b.kif());
    let frac = a.frac.max(b.frac);
    let signed = match op {
        BinaryBits::And => ka.signed && kb.signed,
        BinaryBits::Or | BinaryBits::Xor => ka.signed || kb.signed,
    };
    let bits = i64::from(ka.int.max(kb.int)) + i64::from(frac);
    match u32::try_from(bits + i64::from(signed)) {
        Ok(width) if i64::from(width) < FARTHEST => Interval::of_width(signed, width, frac),
        _ => unknown(),
    }
}
