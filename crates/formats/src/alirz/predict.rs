//! The interval that an operation's operands suggest. Reader and writer share it: a file leaves out what it says.
//!
//! The rules are part of the format (`docs/alirz.md`, section 4) and never change within a version. They are written
//! once, for bounds of any kind: 64 bits, which give up where they are too few, and integers of any size, which never
//! do.

use alir_core::ir::{BinaryBits, Node, Op, Table, UnaryBits, ValueId};
use alir_core::num::{Code, Interval, Kif, bits_of_small};
use num_bigint::BigInt;

/// No prediction aligns an operand further than this.
const FARTHEST: i64 = 1 << 16;

/// A bound of an interval. Each operation gives nothing where its result is none of these.
pub(super) trait Bound: Clone + Ord {
    /// The bound that a code is.
    fn of(code: &Code) -> Option<Self>;
    /// A small one.
    fn small(value: i64) -> Self;
    /// Returns `true` if it is below zero.
    fn is_negative(&self) -> bool;
    /// `a * 2^up_a ± b * 2^up_b`.
    fn total(a: &Self, up_a: u32, b: &Self, up_b: u32, subtract: bool) -> Option<Self>;
    /// `self * 2^up`.
    fn up(&self, up: u32) -> Option<Self>;
    /// `-self`.
    fn negated(&self) -> Option<Self>;
    /// `-self - 1`.
    fn complement(&self) -> Option<Self>;
    /// `self * other`.
    fn times(&self, other: &Self) -> Option<Self>;
    /// `2^bits`, less one if asked.
    fn power(bits: u32, less: bool) -> Option<Self>;
    /// Bits that an interval needs without its sign.
    fn bits(min: &Self, max: &Self) -> u64;
}

impl Bound for i64 {
    #[inline]
    fn of(code: &Code) -> Option<i64> {
        code.to_i64()
    }

    #[inline]
    fn small(value: i64) -> i64 {
        value
    }

    #[inline]
    fn is_negative(&self) -> bool {
        *self < 0
    }

    #[inline]
    fn total(a: &i64, up_a: u32, b: &i64, up_b: u32, subtract: bool) -> Option<i64> {
        let (a, b) = (a.up(up_a)?, b.up(up_b)?);
        if subtract { a.checked_sub(b) } else { a.checked_add(b) }
    }

    #[inline]
    fn up(&self, up: u32) -> Option<i64> {
        let moved = self.wrapping_shl(up);
        (up < 64 && moved.wrapping_shr(up) == *self).then_some(moved)
    }

    #[inline]
    fn negated(&self) -> Option<i64> {
        self.checked_neg()
    }

    #[inline]
    fn complement(&self) -> Option<i64> {
        Some(!*self)
    }

    #[inline]
    fn times(&self, other: &i64) -> Option<i64> {
        self.checked_mul(*other)
    }

    #[inline]
    fn power(bits: u32, less: bool) -> Option<i64> {
        (bits < 63).then(|| (1 << bits) - i64::from(less))
    }

    #[inline]
    fn bits(min: &i64, max: &i64) -> u64 {
        bits_of_small(*min, *max)
    }
}

impl Bound for Code {
    fn of(code: &Code) -> Option<Code> {
        Some(code.clone())
    }

    fn small(value: i64) -> Code {
        Code::from(value)
    }

    fn is_negative(&self) -> bool {
        Code::is_negative(self)
    }

    fn total(a: &Code, up_a: u32, b: &Code, up_b: u32, subtract: bool) -> Option<Code> {
        let (a, b) = (a.to_big() << up_a, b.to_big() << up_b);
        Some(Code::from(if subtract { a - b } else { a + b }))
    }

    fn up(&self, up: u32) -> Option<Code> {
        Some(Code::from(self.to_big() << up))
    }

    fn negated(&self) -> Option<Code> {
        Some(Code::negated(self))
    }

    fn complement(&self) -> Option<Code> {
        Some(Code::from(-self.to_big() - 1))
    }

    fn times(&self, other: &Code) -> Option<Code> {
        Some(Code::from(self.to_big() * other.to_big()))
    }

    fn power(bits: u32, less: bool) -> Option<Code> {
        Some(Code::from((BigInt::from(1) << bits) - i32::from(less)))
    }

    fn bits(min: &Code, max: &Code) -> u64 {
        Code::bits_of_interval(min, max)
    }
}

/// An interval with bounds of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span<B> {
    pub(super) min: B,
    pub(super) max: B,
    pub(super) frac: i32,
}

impl<B: Bound> Span<B> {
    /// The interval, if its bounds are of this kind.
    #[inline]
    pub(super) fn of(interval: &Interval) -> Option<Span<B>> {
        Some(Span { min: B::of(&interval.min)?, max: B::of(&interval.max)?, frac: interval.frac })
    }

    #[inline]
    fn point(value: B, frac: i32) -> Span<B> {
        Span { min: value.clone(), max: value, frac }
    }

    /// Returns the prediction where none is possible.
    #[inline]
    fn unknown() -> Span<B> {
        Span::point(B::small(0), 0)
    }

    /// All codes of `width` bits.
    #[inline]
    pub(super) fn of_width(signed: bool, width: u32, frac: i32) -> Option<Span<B>> {
        if width == 0 {
            return Some(Span::point(B::small(0), frac));
        }
        let bits = width - u32::from(signed);
        let min = if signed { B::power(bits, false)?.negated()? } else { B::small(0) };
        Some(Span { min, max: B::power(bits, true)?, frac })
    }

    /// The interval of the values times `2^shift`.
    #[inline]
    fn scaled(self, shift: i32) -> Span<B> {
        Span { frac: clamp(i64::from(self.frac) - i64::from(shift)), ..self }
    }

    #[inline]
    fn negated(&self) -> Option<Span<B>> {
        Some(Span { min: self.max.negated()?, max: self.min.negated()?, frac: self.frac })
    }

    fn kif(&self) -> Kif {
        let zero = B::small(0);
        if self.min == zero && self.max == zero {
            return Kif::ZERO;
        }
        Kif::of_bits(self.min.is_negative(), B::bits(&self.min, &self.max), self.frac)
    }
}

impl<B> Span<B>
where
    Code: From<B>,
{
    #[inline]
    pub(super) fn into_interval(self) -> Interval {
        Interval { min: self.min.into(), max: self.max.into(), frac: self.frac }
    }
}

/// Predicts the interval of `op`, whose operands are among `nodes` and whose table is among `tables`; `input` is the
/// interval of the input before.
pub(super) fn predict(op: &Op, nodes: &[Node], tables: &[Table], input: &Interval) -> Interval {
    if let Some(span) = predict_as::<i64>(op, |v| Span::of(&nodes[v.index()].interval), tables, input) {
        return span.into_interval();
    }
    predict_wide(op, nodes, tables, input)
}

/// [`predict`] of what may not be within 64 bits.
#[cold]
pub(super) fn predict_wide(op: &Op, nodes: &[Node], tables: &[Table], input: &Interval) -> Interval {
    let of = |v: &ValueId| Span::of(&nodes[v.index()].interval);
    predict_as::<Code>(op, of, tables, input).expect("integers of any size hold every bound").into_interval()
}

/// [`predict`] with bounds of one kind; nothing if one of them, on the way too, is none of these. `of` knows the
/// operands.
#[inline(always)]
pub(super) fn predict_as<B: Bound>(
    op: &Op,
    of: impl Fn(&ValueId) -> Option<Span<B>>,
    tables: &[Table],
    input: &Interval,
) -> Option<Span<B>> {
    match op {
        Op::Input { .. } => Span::of(input),
        Op::Const { value } => Some(Span::point(B::of(value)?, 0)),
        Op::Neg { x } => of(x)?.negated(),
        Op::Add { a, b, shift } => total(&of(a)?, &of(b)?.scaled(*shift), false),
        Op::Sub { a, b, shift } => total(&of(a)?, &of(b)?.scaled(*shift), true),
        Op::Relu { x } => {
            let x = of(x)?;
            let zero = |bound: B| if bound.is_negative() { B::small(0) } else { bound };
            Some(Span { min: zero(x.min), max: zero(x.max), frac: x.frac })
        }
        Op::Quantise { x, shift } => Some(of(x)?.scaled(*shift)),
        Op::AddConst { x, value, shift } => total(&of(x)?, &Span::point(B::of(value)?, *shift), false),
        Op::Mux { on_true, on_false, shift, cond: _ } => hull(&of(on_true)?, &of(on_false)?.scaled(*shift)),
        Op::Mul { a, b } => product(&of(a)?, &of(b)?),
        Op::Lookup { table, .. } => Span::of(&tables[table.index()].out),
        Op::Unary { op: UnaryBits::Any | UnaryBits::All, .. } => {
            Some(Span { min: B::small(0), max: B::small(1), frac: 0 })
        }
        Op::Unary { op: UnaryBits::Not, x } => {
            let x = of(x)?;
            if x.min.is_negative() {
                return Some(Span { min: x.max.complement()?, max: x.min.complement()?, frac: x.frac });
            }
            Span::of_width(false, x.kif().width(), x.frac)
        }
        Op::Binary { a, b, shift, op } => bits(*op, &of(a)?, &of(b)?.scaled(*shift)),
        Op::Sum { terms } => {
            let mut all: Option<Span<B>> = None;
            for term in terms {
                let next = of(&term.value)?.scaled(term.shift);
                all = Some(match all {
                    None if term.neg => next.negated()?,
                    None => next,
                    Some(so_far) => total(&so_far, &next, term.neg)?,
                });
            }
            Some(all.unwrap_or_else(Span::unknown))
        }
    }
}

#[inline(always)]
fn clamp(frac: i64) -> i32 {
    frac.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

/// Distances that bring two steps to the finer of them, and that step.
#[inline(always)]
fn aligned(a: i32, b: i32) -> Option<(u32, u32, i32)> {
    let frac = a.max(b);
    let up = |x: i32| u32::try_from(i64::from(frac) - i64::from(x)).ok().filter(|&u| i64::from(u) < FARTHEST);
    Some((up(a)?, up(b)?, frac))
}

/// `a + b` or `a - b`.
#[inline(always)]
fn total<B: Bound>(a: &Span<B>, b: &Span<B>, subtract: bool) -> Option<Span<B>> {
    let Some((up_a, up_b, frac)) = aligned(a.frac, b.frac) else { return Some(Span::unknown()) };
    let (low, high) = if subtract { (&b.max, &b.min) } else { (&b.min, &b.max) };
    let min = B::total(&a.min, up_a, low, up_b, subtract)?;
    Some(Span { min, max: B::total(&a.max, up_a, high, up_b, subtract)?, frac })
}

/// The smallest interval with the values of both.
#[inline(always)]
fn hull<B: Bound>(a: &Span<B>, b: &Span<B>) -> Option<Span<B>> {
    let Some((up_a, up_b, frac)) = aligned(a.frac, b.frac) else { return Some(Span::unknown()) };
    let (min_a, min_b) = (a.min.up(up_a)?, b.min.up(up_b)?);
    Some(Span { min: min_a.min(min_b), max: a.max.up(up_a)?.max(b.max.up(up_b)?), frac })
}

#[inline]
fn product<B: Bound>(a: &Span<B>, b: &Span<B>) -> Option<Span<B>> {
    let frac = clamp(i64::from(a.frac) + i64::from(b.frac));
    let corners = [a.min.times(&b.min)?, a.min.times(&b.max)?, a.max.times(&b.min)?, a.max.times(&b.max)?];
    let [first, rest @ ..] = corners;
    let (mut min, mut max) = (first.clone(), first);
    for corner in rest {
        if corner < min {
            min = corner;
        } else if corner > max {
            max = corner;
        }
    }
    Some(Span { min, max, frac })
}

/// The type that both operands of a bit operation fit into; without its sign where the result has none.
fn bits<B: Bound>(op: BinaryBits, a: &Span<B>, b: &Span<B>) -> Option<Span<B>> {
    let (ka, kb) = (a.kif(), b.kif());
    let frac = a.frac.max(b.frac);
    let signed = match op {
        BinaryBits::And => ka.signed && kb.signed,
        BinaryBits::Or | BinaryBits::Xor => ka.signed || kb.signed,
    };
    let bits = i64::from(ka.int.max(kb.int)) + i64::from(frac);
    match u32::try_from(bits + i64::from(signed)) {
        Ok(width) if i64::from(width) < FARTHEST => Span::of_width(signed, width, frac),
        _ => Some(Span::unknown()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alir_core::ir::{TableId, Term};
    use alir_core::num::SplitMix;

    /// A code of any size up to a little more than 64 bits.
    fn code(rng: &mut SplitMix) -> Code {
        let bits = rng.below(70) as u32;
        let magnitude = (BigInt::from(rng.word()) << 6u32 >> (70 - bits)) + BigInt::from(rng.below(2));
        Code::from(if rng.below(2) == 0 { magnitude } else { -magnitude })
    }

    fn interval(rng: &mut SplitMix) -> Interval {
        let (a, b) = (code(rng), code(rng));
        let frac = [0, 1, 7, -3, 40, -70, 4096, i32::MAX, i32::MIN][rng.below(9) as usize];
        Interval { min: a.clone().min(b.clone()), max: a.max(b), frac: if rng.below(3) == 0 { frac } else { 2 } }
    }

    #[test]
    fn sixty_four_bits_give_up_or_say_the_same() {
        let mut rng = SplitMix::new(7);
        let (mut same, mut gave_up) = ([0; 14], [0; 14]);
        let tables =
            |rng: &mut SplitMix| [Table { entries: vec![0], out: interval(rng), hash: String::new(), inp_width: 1 }];
        for round in 0..40_000u32 {
            let nodes: Vec<Node> = (0..3)
                .map(|origin| Node {
                    op: Op::Input { input: 0 },
                    interval: interval(&mut rng),
                    latency: 0.0,
                    cost: 0.0,
                    origin,
                })
                .collect();
            let (x, a, b, cond) = (ValueId(0), ValueId(0), ValueId(1), ValueId(2));
            let shift = [0, 1, -1, 5, -40, 62, 63, 64, 70_000, i32::MIN, i32::MAX][rng.below(11) as usize];
            let shift = if round % 2 == 0 { rng.below(6) as i32 - 3 } else { shift };
            let unary = [UnaryBits::Not, UnaryBits::Any, UnaryBits::All][rng.below(3) as usize];
            let binary = [BinaryBits::And, BinaryBits::Or, BinaryBits::Xor][rng.below(3) as usize];
            let term = |value, neg| Term { value, shift, neg };
            let op = match round % 14 {
                0 => Op::Neg { x },
                1 => Op::Input { input: 0 },
                2 => Op::Add { a, b, shift },
                3 => Op::Sub { a, b, shift },
                4 => Op::Relu { x },
                5 => Op::Quantise { x, shift },
                6 => Op::AddConst { x, value: code(&mut rng), shift },
                7 => Op::Const { value: code(&mut rng) },
                8 => Op::Mux { cond, on_true: a, on_false: b, shift },
                9 => Op::Mul { a, b },
                10 => Op::Lookup { x, table: TableId(0), base: Code::ZERO },
                11 => Op::Unary { op: unary, x },
                12 => Op::Binary { op: binary, a, b, shift },
                _ => Op::Sum { terms: [term(a, round % 3 == 0), term(b, round % 5 == 0), term(x, true)].into() },
            };
            let (tables, input) = (tables(&mut rng), interval(&mut rng));
            let small = predict_as::<i64>(&op, |v| Span::of(&nodes[v.index()].interval), &tables, &input);
            let wide = predict_wide(&op, &nodes, &tables, &input);
            assert!(wide.min <= wide.max, "{op:?}");
            match small {
                Some(small) => {
                    assert_eq!(small.into_interval(), wide, "{op:?} of {nodes:?}");
                    same[(round % 14) as usize] += 1;
                }
                None => gave_up[(round % 14) as usize] += 1,
            }
        }
        assert!(same.iter().all(|&n| n > 300), "{same:?}");
        assert!(gave_up.iter().all(|&n| n > 50), "{gave_up:?}");
    }
}
