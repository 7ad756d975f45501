//! Sums of a dense layer, a few digits of their operands at a time.
//!
//! What stands alone is hardware that is used once in K clocks. Where that is a matrix, `y = M x`, it can be used for
//! one *plane* after the other: the highest digits of all operands first, `y := 2^d y + M x_p`, with the same sums on
//! operands of `d` bits, so narrower ones. The planes are equal blocks of a program that computes the same as the
//! one that is handed in; like all equal blocks they share a copy, and what each adds to is what the one before has made.
//!
//! The new program has three things that blocks are cut by: a digit is a quantised operand, so wires behind it
//! ([`super::free`]); behind the sum of each plane stands a quantisation to the type that it has already, where a block
//! ends; and the first plane adds to bits of an operand that are always zero, so that it is a plane like the others.

use super::blocks::{CHOICE, Class, classes};
use super::free;
use super::serial::both;
use crate::ir::{Builder, Limits, Model, Node, Op, ValueId};
use crate::num::{Interval, Kif};
use crate::passes;
use rustc_hash::{FxHashMap, FxHashSet};

/// Bits of a digit at most.
const DIGITS: u32 = 4;

/// Estimated tables of sums from which on they are looked at.
const LEAST: f64 = 64.0;

/// What planes may take of what the sums take as they are.
const WORTH: f64 = 0.85;

/// The program with planes where these are estimated to take less at this interval; nothing if that is nowhere so.
pub fn planes(model: &Model, interval: u32) -> Option<Model> {
    let mut parts: Vec<Planes> = Vec::new();
    for class in classes(model, interval) {
        if let [(inputs, _)] = &class.instances[..] {
            parts.extend(Planes::of(model, &class, inputs, interval));
        }
    }
    if parts.is_empty() { None } else { rebuilt(model, &parts) }
}

/// Operations of a program as they are to be computed.
struct Planes {
    /// The sums, each after its operands.
    sums: Vec<ValueId>,
    /// Those that others read.
    shown: Vec<ValueId>,
    /// What the sums read.
    operands: Vec<ValueId>,
    /// Bits of a digit.
    digit: u32,
    /// Planes.
    count: u32,
}

fn full(signed: bool, width: u32, frac: i32) -> Interval {
    Interval::full(Kif { signed, int: width as i32 - i32::from(signed) - frac, frac })
}

/// The digit of an operand in a plane: the shift that brings it to the lowest bits of the operand, and its interval.
fn field(kif: Kif, digit: u32, plane: u32) -> (i32, Interval) {
    let below = digit * plane;
    let left = kif.width().saturating_sub(below);
    match left {
        // Zeros from below the operand.
        0 => (digit as i32, full(false, digit, kif.frac)),
        _ if kif.signed && left <= digit => (-(below as i32), full(true, left, kif.frac)),
        _ => (-(below as i32), full(false, digit, kif.frac)),
    }
}

/// An interval around two.
fn hull(a: &Interval, b: &Interval) -> Interval {
    let frac = a.frac.max(b.frac);
    let at = |x: &Interval| (x.min.to_big() << (frac - x.frac), x.max.to_big() << (frac - x.frac));
    let ((a, b), (c, d)) = (at(a), at(b));
    Interval::new(a.min(c), b.max(d), frac)
}

fn is_zero(x: &Interval) -> bool {
    x.kif().is_zero()
}

/// A sum without its constant, as an interval, and that constant.
type Summed = (Interval, Interval);

/// What an operation makes of its operands and of their constants; nothing if it is no sum.
fn summed<'s>(op: &Op, of: impl Fn(ValueId) -> Option<&'s Summed>) -> Option<Summed> {
    let two = |a: ValueId, b: ValueId, shift: i32, minus: bool| {
        let (a, b) = (of(a)?, of(b)?);
        Some((both(&a.0, (&b.0, shift), minus), both(&a.1, (&b.1, shift), minus)))
    };
    match op {
        Op::Add { a, b, shift } => two(*a, *b, *shift, false),
        Op::Sub { a, b, shift } => two(*a, *b, *shift, true),
        Op::Neg { x } => of(*x).map(|(x, constant)| (x.negated(), constant.negated())),
        Op::AddConst { x, value, shift } => {
            let (x, constant) = of(*x)?;
            let more = Interval::new(value.clone(), value.clone(), *shift);
            Some((x.clone(), both(constant, (&more, 0), false)))
        }
        _ => None,
    }
}

/// Tables that a sum takes: bits of the one operand that the other does not reach go through.
fn cost(op: &Op, of: impl Fn(ValueId) -> Interval, made: &Interval) -> f64 {
    let (a, b, shift, minus) = match op {
        Op::Add { a, b, shift } => (of(*a), of(*b), *shift, false),
        Op::Sub { a, b, shift } => (of(*a), of(*b), *shift, true),
        Op::Neg { .. } => return f64::from(made.kif().width()),
        _ => return 0.0,
    };
    let (a, b) = (a.kif(), b.kif());
    let ends = |kif: Kif, shift: i32| (-kif.frac + shift, kif.int + i32::from(kif.signed) + shift);
    let ((low_a, high_a), (low_b, high_b)) = (ends(a, 0), ends(b, shift));
    let top = made.kif().int + i32::from(made.kif().signed);
    let apart = (high_a <= low_b && !a.signed) || (high_b <= low_a && !b.signed);
    if minus {
        f64::from((top - low_b).max(0))
    } else if apart {
        0.0
    } else {
        f64::from((top - low_a.max(low_b)).max(0))
    }
}

impl Planes {
    /// The sums of a block that stands alone, if planes of them take less.
    fn of(model: &Model, class: &Class, inputs: &[ValueId], interval: u32) -> Option<Planes> {
        let exact = passes::exact_sums(model);
        let free = free(model);
        // The block's operations: from what it gives down to what it reads.
        let mut inside: Vec<ValueId> = Vec::new();
        let mut seen: FxHashMap<ValueId, bool> = inputs.iter().map(|&v| (v, false)).collect();
        let mut stack: Vec<ValueId> = class.instances[0].1.clone();
        while let Some(v) = stack.pop() {
            if free[v.index()] || seen.insert(v, true).is_some() {
                continue;
            }
            inside.push(v);
            stack.extend(model.node(v).op.operands());
        }
        inside.sort_unstable();
        // Sums of what is read, alone.
        let mut known: FxHashMap<ValueId, Summed> = FxHashMap::default();
        for &v in inputs {
            let zero = Interval::new(0, 0, model.kif(v).frac);
            known.insert(v, (Interval::full(model.kif(v)), zero));
        }
        let mut sums: Vec<ValueId> = Vec::new();
        let mut before = 0.0;
        for &v in &inside {
            let op = &model.node(v).op;
            let is_exact = exact[v.index()] || matches!(op, Op::Neg { .. });
            let Some(made) = summed(op, |x| known.get(&x)).filter(|_| is_exact) else { continue };
            if is_zero(&made.0) {
                return None;
            }
            before += cost(op, |x| known[&x].0.clone(), &made.0);
            known.insert(v, made);
            sums.push(v);
        }
        if before < LEAST {
            return None;
        }
        let is_sum: FxHashSet<ValueId> = sums.iter().copied().collect();
        let mut operands: Vec<ValueId> = Vec::new();
        for &v in &sums {
            operands.extend(model.node(v).op.operands().into_iter().filter(|x| !is_sum.contains(x)));
        }
        operands.sort_unstable();
        operands.dedup();
        // What others read of them.
        let mut read: FxHashSet<ValueId> = model.outputs().iter().filter_map(|o| o.source).collect();
        for id in model.ids().filter(|id| !is_sum.contains(id)) {
            read.extend(model.node(id).op.operands());
        }
        let shown: Vec<ValueId> = sums.iter().copied().filter(|v| read.contains(v)).collect();
        let widest = operands.iter().map(|&v| model.kif(v).width()).max()?;
        let mut best: Option<(f64, Planes)> = None;
        for digit in 1..=DIGITS.min(widest / 2) {
            let count = widest.div_ceil(digit);
            if count > interval {
                continue;
            }
            let planes = Planes { sums: sums.clone(), shown: shown.clone(), operands: operands.clone(), digit, count };
            let taken = planes.taken(model)?;
            if best.as_ref().is_none_or(|(least, _)| taken < *least) {
                best = Some((taken, planes));
            }
        }
        best.filter(|(taken, _)| *taken < WORTH * before).map(|(_, planes)| planes)
    }

    /// The sums of all planes together: intervals that hold those of each.
    fn widest(&self, model: &Model) -> Option<FxHashMap<ValueId, Summed>> {
        let mut known: FxHashMap<ValueId, Summed> = FxHashMap::default();
        for &v in &self.operands {
            let kif = model.kif(v);
            let all = (0..self.count).map(|plane| field(kif, self.digit, plane).1).reduce(|a, b| hull(&a, &b))?;
            known.insert(v, (all, Interval::new(0, 0, kif.frac)));
        }
        for &v in &self.sums {
            let made = summed(&model.node(v).op, |x| known.get(&x))?;
            known.insert(v, made);
        }
        Some(known)
    }

    /// The type in which the planes of a sum are added up.
    fn total(&self, plane: &Interval) -> Option<Kif> {
        let mut all = plane.clone();
        for _ in 1..self.count {
            all = hull(plane, &both(plane, (&all, self.digit as i32), false));
        }
        let kif = all.kif();
        (!kif.is_zero()).then_some(kif)
    }

    /// Tables that the planes are estimated to take.
    fn taken(&self, model: &Model) -> Option<f64> {
        let known = self.widest(model)?;
        let mut tables = 0.0;
        for &v in &self.sums {
            tables += cost(&model.node(v).op, |x| known[&x].0.clone(), &known[&v].0);
        }
        for &v in &self.shown {
            // The sum of planes, and whether there was one before.
            tables += 1.5 * f64::from(self.total(&known[&v].0)?.width());
            if !is_zero(&known[&v].1) {
                tables += f64::from(model.kif(v).width());
            }
        }
        let digits = self.operands.iter().map(|v| known[v].0.kif().width()).sum::<u32>();
        Some(tables + CHOICE * f64::from(self.count - 1) * f64::from(digits))
    }

    /// The planes behind operands that are there already; what each sum that is shown has become.
    fn push(
        &self,
        model: &Model,
        b: &mut Builder,
        of: &FxHashMap<ValueId, ValueId>,
    ) -> Option<Vec<(ValueId, ValueId)>> {
        let origin = |v: ValueId| model.node(v).origin;
        let add = |b: &mut Builder, op: Op, interval: Interval, origin: u32| {
            b.push(Node { op, interval, latency: 0.0, cost: 0.0, origin })
        };
        let widest = self.widest(model)?;
        let digit = self.digit as i32;
        let totals: Vec<Kif> = self.shown.iter().map(|v| self.total(&widest[v].0)).collect::<Option<_>>()?;
        // Bits that are always zero: those below an operand.
        let first = *self.operands.first()?;
        let mut before: Vec<ValueId> = Vec::with_capacity(totals.len());
        for (kif, &v) in totals.iter().zip(&self.shown) {
            let shift = (model.kif(first).frac - kif.frac + 1).max(1);
            let op = Op::Quantise { x: of[&first], shift };
            before.push(add(b, op, full(false, 1, kif.frac), origin(v)));
        }
        for plane in (0..self.count).rev() {
            let mut made: FxHashMap<ValueId, (ValueId, Summed)> = FxHashMap::default();
            for &v in &self.operands {
                let (shift, interval) = field(model.kif(v), self.digit, plane);
                let wires = add(b, Op::Quantise { x: of[&v], shift }, interval.clone(), origin(v));
                made.insert(v, (wires, (interval, Interval::new(0, 0, model.kif(v).frac))));
            }
            for &v in &self.sums {
                let mut op = model.node(v).op.clone();
                let sum = summed(&op, |x| made.get(&x).map(|(_, sum)| sum))?;
                let value = match op {
                    // Constants are added once.
                    Op::AddConst { x, .. } => made[&x].0,
                    _ => {
                        op.map_operands(|x| made[&x].0);
                        add(b, op, sum.0.clone(), origin(v))
                    }
                };
                made.insert(v, (value, sum));
            }
            for ((&v, kif), before) in self.shown.iter().zip(&totals).zip(&mut before) {
                let op = Op::Add { a: made[&v].0, b: *before, shift: digit };
                let sum = add(b, op, Interval::full(*kif), origin(v));
                *before = add(b, Op::Quantise { x: sum, shift: 0 }, Interval::full(*kif), origin(v));
            }
        }
        let mut given = Vec::with_capacity(self.shown.len());
        for ((&v, kif), mut value) in self.shown.iter().zip(&totals).zip(before) {
            let constant = &widest[&v].1;
            if !is_zero(constant) {
                let op = Op::AddConst { x: value, value: constant.min.clone(), shift: constant.frac };
                value = add(b, op, both(&Interval::full(*kif), (constant, 0), false), origin(v));
            }
            given.push((v, add(b, Op::Quantise { x: value, shift: 0 }, model.node(v).interval.clone(), origin(v))));
        }
        Some(given)
    }
}

/// The program with planes.
fn rebuilt(model: &Model, parts: &[Planes]) -> Option<Model> {
    let part_of: FxHashMap<ValueId, usize> =
        parts.iter().enumerate().flat_map(|(k, part)| part.shown.iter().map(move |&v| (v, k))).collect();
    let mut b = Builder::like(model);
    b.limits(Limits::derived());
    let mut of: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    let inputs = model.ids().filter(|&id| matches!(model.node(id).op, Op::Input { .. }));
    let mut stack: Vec<(ValueId, bool)> = model.outputs().iter().filter_map(|o| o.source).map(|v| (v, false)).collect();
    stack.reverse();
    stack.extend(inputs.map(|v| (v, false)).collect::<Vec<_>>().into_iter().rev());
    while let Some((v, entered)) = stack.pop() {
        if of.contains_key(&v) {
            continue;
        }
        let part = part_of.get(&v).map(|&k| &parts[k]);
        if !entered {
            stack.push((v, true));
            let below = part.map_or_else(|| model.node(v).op.operands(), |part| part.operands.clone());
            stack.extend(below.into_iter().rev().map(|x| (x, false)));
            continue;
        }
        match part {
            Some(part) => of.extend(part.push(model, &mut b, &of)?),
            None => {
                let mut node = model.node(v).clone();
                node.op.map_operands(|x| of[&x]);
                of.insert(v, b.push(node));
            }
        }
    }
    for output in model.outputs() {
        b.output(crate::ir::Output { source: output.source.map(|v| of[&v]), ..*output });
    }
    b.finish().ok()
}

#[cfg(test)]
mod tests {
    use super::super::{check, plan};
    use super::*;
    use crate::interp::golden;
    use crate::ir::Output;
    use crate::num::SplitMix;
    use num_bigint::BigInt;
    use std::convert::Infallible;

    /// A dense layer of values that are cut off below 0 or not, with biases or not, in sums of random order.
    fn dense(reads: usize, gives: usize, seed: u64) -> Model {
        let mut rng = SplitMix::new(seed);
        let mut b = Builder::new(vec![0; reads]);
        b.limits(Limits::derived());
        let (width, signed) = (3 + rng.below(6) as u32, rng.below(2) == 1);
        let mut operands = Vec::new();
        for k in 0..reads {
            let x = b.op(Op::Input { input: k as u32 }, full(true, width, 2));
            operands.push(if signed { x } else { b.op(Op::Relu { x }, full(false, width - 1, 2)) });
        }
        for _ in 0..gives {
            let first = operands[rng.below(reads as u64) as usize];
            let mut sum = (first, b.nodes()[first.index()].interval.clone());
            for &x in &operands {
                let (shift, minus) = (rng.below(4) as i32 - 1, rng.below(2) == 1);
                let interval = both(&sum.1, (&b.nodes()[x.index()].interval, shift), minus);
                let op = match minus {
                    true => Op::Sub { a: sum.0, b: x, shift },
                    false => Op::Add { a: sum.0, b: x, shift },
                };
                sum = (b.op(op, interval.clone()), interval);
            }
            if rng.below(2) == 1 {
                let value = 1 + rng.below(40) as i64;
                let more = Interval::new(value, value, 3);
                let interval = both(&sum.1, (&more, 0), false);
                sum = (b.op(Op::AddConst { x: sum.0, value: value.into(), shift: 3 }, interval.clone()), interval);
            }
            let source = match rng.below(3) {
                0 => sum.0,
                1 => b.op(Op::Relu { x: sum.0 }, full(false, 6, 1)),
                _ => b.op(Op::Quantise { x: sum.0, shift: -1 }, full(true, 7, 0)),
            };
            b.output(Output { source: Some(source), shift: 0, neg: false });
        }
        b.finish().unwrap()
    }

    #[test]
    fn planes_compute_what_the_sums_do() {
        let mut made = 0;
        for seed in crate::prove::seeds(0..150) {
            let mut rng = SplitMix::new(seed ^ 0x71a5);
            let model = dense(4 + rng.below(10) as usize, 1 + rng.below(8) as usize, seed);
            let interval = [2, 3, 4, 6, 8, 9, 16][rng.below(7) as usize];
            let Some(planes) = planes(&model, interval) else { continue };
            made += 1;
            for _ in 0..50 {
                let codes: Vec<BigInt> = model
                    .input_kifs()
                    .iter()
                    .map(|kif| match rng.below(4) {
                        0 => kif.min_code(),
                        1 => kif.max_code(),
                        _ => kif.min_code() + BigInt::from(rng.below(1 << kif.width())),
                    })
                    .collect();
                let run = |model: &Model| golden(model, &codes, crate::interp::LookupMiss::Error).unwrap();
                assert_eq!(run(&model), run(&planes), "seed {seed}");
            }
            let plan = plan(&planes, interval, |block| Ok::<_, Infallible>(vec![0; block.nodes().len()])).unwrap();
            assert_eq!(check(&planes, &plan), Ok(()), "seed {seed}");
            // All planes of the largest block are instances of one.
            let most = plan.groups.iter().map(|group| group.instances.len()).max().unwrap();
            assert!(most >= 2, "seed {seed}: {most}");
        }
        assert!(made >= 12, "only {made} have planes");
    }
}
