//! Pass `signs`: moves a negation that depends on a control bit into the sum that reads the value.
//!
//! `|x|`, a product with a sign, and in general `s ? -x : x` need an adder for the negation, and a multiplexer. A sum
//! that reads the choice needs neither: with `m` as the repeated control bit, `s ? -x : x` is `(x ^ m) + s`, so `a + (s
//! ? -x : x)` is one carry chain with the control bit as its carry. The exclusive or fits the LUTs of the chain (the
//! adder-subtractor; J.-M. Muller et al., *Handbook of Floating-Point Arithmetic*, 2nd edition, 2018, chapter 8). A sum
//! of two choices is also a choice: `(s ? -x : x) + (r ? -y : y)` is `s ? -t : t` with `t = x + (s ^ r ? -y : y)`, so a
//! tree of choices needs only one negation.
//!
//! The carry is an additional bit below both operands: `{a, 1} + {x ^ m, s}` carries into the lowest bit of the sum
//! exactly if `s` is set. Synthesis tools implement it as one carry chain.
//!
//! Only sums that neither wrap nor drop bits are changed, and only choices with a single reader.

use super::facts::{Facts, Known, Range, is_negative};
use super::rewrite::{Rewrite, rebuild};
use alir_core::ir::{BinaryBits, Model, Op, UnaryBits, ValueId};
use alir_core::num::{Code, Interval};
use rustc_hash::FxHashMap;

/// Smallest width of a value in a choice: a narrower choice is cheaper as a function of its bits.
const FEWEST_BITS: u32 = 5;

/// Merges choices of signs into the sums that read them.
pub(super) fn run(model: &Model, known: &mut Known) -> Option<Model> {
    let plan = Plan::new(model, known.whole(model));
    if !plan.signed.contains(&true) {
        return None;
    }
    let mut controls = Controls::default();
    rebuild(model, |rw, id| plan.decide(rw, &mut controls, id))
}

/// Choice of a sign: `-x` if the top bit of `cond` is set, otherwise `x`; the reverse if `inverted`.
#[derive(Clone, Copy)]
struct Choice {
    cond: ValueId,
    x: ValueId,
    inverted: bool,
}

/// One operand of a sum: a value times `2^shift`, negated or not.
#[derive(Clone, Copy)]
struct Operand {
    value: ValueId,
    shift: i32,
    neg: bool,
}

/// Sign of a value: negative if an odd number of the control bits is set; the reverse if `inverted`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Sign {
    /// Values of the old program whose top bits are the control bits, ascending, each once.
    conds: Vec<ValueId>,
    inverted: bool,
}

impl Sign {
    fn times(&self, other: &Sign) -> Sign {
        let mut conds: Vec<ValueId> = self.conds.iter().chain(&other.conds).copied().collect();
        conds.sort_unstable();
        let mut once: Vec<ValueId> = Vec::with_capacity(conds.len());
        for cond in conds {
            if once.last() == Some(&cond) {
                once.pop();
            } else {
                once.push(cond);
            }
        }
        Sign { conds: once, inverted: self.inverted ^ other.inverted }
    }

    fn turned(mut self, neg: bool) -> Sign {
        self.inverted ^= neg;
        self
    }
}

struct Plan<'a> {
    model: &'a Model,
    facts: &'a Facts,
    /// Choices with a single reader.
    choices: Vec<Option<Choice>>,
    /// Operands of the sums that neither wrap nor drop bits; `None` for other operations.
    sums: Vec<Option<[Operand; 2]>>,
    /// `true` if the value is computed without its sign, which its only reader, a sum, applies.
    signed: Vec<bool>,
    /// For each such value, the choice with its sign: the value itself, or the choice of a sum's first operand.
    source: Vec<ValueId>,
}

impl<'a> Plan<'a> {
    fn new(model: &'a Model, facts: &'a Facts) -> Plan<'a> {
        let n = model.nodes().len();
        let mut plan = Plan {
            model,
            facts,
            choices: vec![None; n],
            sums: vec![None; n],
            signed: vec![false; n],
            source: model.ids().collect(),
        };
        let exact = super::exact_sums_by(model, facts);
        let readers = model.reader_counts();
        // `true` if a value can be computed without its sign.
        let mut can = vec![false; n];
        for id in model.ids() {
            let at = id.index();
            plan.choices[at] = plan.choice(id).filter(|_| readers[at] == 1);
            plan.sums[at] = operands(&model.node(id).op).filter(|_| exact[at]);
            can[at] = match (plan.choices[at], plan.sums[at]) {
                (Some(_), _) => true,
                (None, Some([a, b])) if readers[at] == 1 && a.value != b.value => {
                    can[a.value.index()] && (can[b.value.index()] || b.neg)
                }
                _ => false,
            };
        }
        for id in model.ids().rev() {
            let Some([a, b]) = plan.sums[id.index()].filter(|[a, b]| a.value != b.value) else { continue };
            let [first, second] = [a, b].map(|operand| can[operand.value.index()]);
            if plan.signed[id.index()] {
                plan.signed[a.value.index()] = first;
                plan.signed[b.value.index()] = second;
            } else if second && first && !b.neg && model.kif(b.value).width() < model.kif(a.value).width() {
                // One of the two operands needs a separate negation, which is cheaper for the narrower one.
                plan.signed[a.value.index()] = true;
            } else if second {
                plan.signed[b.value.index()] = true;
            } else if first && !b.neg {
                plan.signed[a.value.index()] = true;
            }
        }
        for at in 0..n {
            if let (true, None, Some([a, _])) = (plan.signed[at], plan.choices[at], plan.sums[at]) {
                plan.source[at] = plan.source[a.value.index()];
            }
        }
        plan
    }

    /// Returns the choice of a multiplexer between a value and its negative, if neither wraps where it is selected.
    fn choice(&self, id: ValueId) -> Option<Choice> {
        let Op::Mux { cond, on_true, on_false, shift: 0 } = self.model.node(id).op else { return None };
        let (x, negative, inverted) = if is_negative(self.model, on_true, on_false) {
            (on_false, on_true, false)
        } else if is_negative(self.model, on_false, on_true) {
            (on_true, on_false, true)
        } else {
            return None;
        };
        let (kif, own, of_negative) = (self.model.kif(x), self.model.kif(id), self.model.kif(negative));
        if kif.width() < FEWEST_BITS || kif.frac != own.frac || kif.frac != of_negative.frac {
            return None;
        }
        let plain = self.facts.under_sign(self.model, cond, x, inverted)?;
        let turned = {
            // The negative may wrap where it is not selected.
            let negated = self.facts.under_sign(self.model, cond, x, !inverted)?;
            Range::new(-negated.hi, -negated.lo, 0)
        };
        (plain.fits(own) && turned.fits(own) && turned.fits(of_negative)).then_some(Choice { cond, x, inverted })
    }

    /// Returns the factor between a value of the old program and its replacement.
    fn sign(&self, id: ValueId) -> Sign {
        if !self.signed[id.index()] {
            return Sign::default();
        }
        let Choice { cond, inverted, .. } = self.choices[self.source[id.index()].index()].expect("a choice");
        Sign { conds: vec![cond], inverted }
    }

    fn decide(&self, rw: &mut Rewrite<'_>, controls: &mut Controls, id: ValueId) -> ValueId {
        if self.signed[id.index()]
            && let Some(choice) = self.choices[id.index()]
        {
            return rw.number(choice.x);
        }
        let Some([a, b]) = self.sums[id.index()] else { return rw.keep(id) };
        if !self.signed[a.value.index()] && !self.signed[b.value.index()] {
            return rw.keep(id);
        }
        // The sum has the sign of its first operand, or none if its plain value is required.
        let (first, second) = if self.signed[id.index()] || !self.signed[a.value.index()] { (a, b) } else { (b, a) };
        let outer = self.sign(first.value).turned(first.neg);
        let sign = outer.times(&self.sign(second.value).turned(second.neg));
        debug_assert!(self.signed[id.index()] || outer == Sign::default());
        self.sum(rw, controls, id, [first, second], &sign)
    }

    /// Appends `first + second`, where the second operand has a sign.
    fn sum(
        &self,
        rw: &mut Rewrite<'_>,
        controls: &mut Controls,
        id: ValueId,
        [first, second]: [Operand; 2],
        sign: &Sign,
    ) -> ValueId {
        let origin = self.model.node(id).origin;
        let [p, q] = [first, second].map(|operand| rw.number(operand.value));
        let interval = self.interval(rw, id, [(p, first.shift), (q, second.shift)]);
        if sign.conds.is_empty() {
            let terms = [(p, first.shift, false), (q, second.shift, sign.inverted)];
            return rw.replace(id, two_terms(terms), interval);
        }
        let mask = controls.mask(rw, self.model, sign, origin);
        let wires = |rw: &mut Rewrite<'_>, op, interval| rw.push(op, interval, 0.0, 0.0, origin);
        // Positions of the lowest bits, as numbers of fractional bits.
        let q_frac = rw.kif(q).frac;
        let (low, p_low) = (q_frac - second.shift, rw.kif(p).frac - first.shift);
        let repeated = wires(rw, Op::Quantise { x: mask, shift: -q_frac }, Interval::new(-1, 0, q_frac));
        let turned = {
            let of_q = &rw.node(q).interval;
            let (lo, hi) = (of_q.min.to_big(), of_q.max.to_big());
            Interval::new((-&hi - 1u32).min(lo.clone()), hi.max(-lo - 1u32), q_frac)
        };
        let flipped = wires(rw, Op::Binary { op: BinaryBits::Xor, a: q, b: repeated, shift: 0 }, turned.clone());
        let bit =
            |rw: &mut Rewrite<'_>, at: i32| wires(rw, Op::Quantise { x: mask, shift: -at }, Interval::new(0, 1, at));
        let p_interval = rw.node(p).interval.scaled(first.shift);
        if low > p_low {
            // The first operand has no bit at the position of the carry bit.
            let carry = bit(rw, low);
            let with = p_interval.plus(&Interval::new(0, 1, low));
            let with = wires(rw, two_terms([(p, first.shift, false), (carry, 0, false)]), with);
            return rw.replace(id, two_terms([(with, 0, false), (flipped, second.shift, false)]), interval);
        }
        // Bits below the carry are not part of the sum.
        let below = (p_low > low).then(|| {
            let top = num_bigint::BigInt::from(1) << (p_low - low);
            let rest = Interval::new(0, top - 1u32, p_low);
            wires(rw, Op::Quantise { x: p, shift: first.shift }, rest)
        });
        let high = match below {
            Some(_) => {
                let down = p_low - low;
                let floor = |code: &Code| code.to_big() >> down;
                let floors = Interval::new(floor(&p_interval.min), floor(&p_interval.max), low);
                wires(rw, Op::Quantise { x: p, shift: first.shift }, floors)
            }
            None => p,
        };
        let high_shift = if below.is_some() { 0 } else { first.shift };
        let high_interval = rw.node(high).interval.scaled(high_shift);
        // {high, 1} + {flipped, control}
        let half = Interval::new(1, 1, low + 1);
        let one = wires(rw, Op::Const { value: Code::from(1) }, half.clone());
        let left = wires(rw, two_terms([(high, high_shift, false), (one, 0, false)]), high_interval.plus(&half));
        let control = bit(rw, low + 1);
        let with = turned.scaled(second.shift).plus(&Interval::new(0, 1, low + 1));
        let right = wires(rw, two_terms([(flipped, second.shift, false), (control, 0, false)]), with);
        let twice = {
            let down = (interval.frac - low).max(0);
            let up = (low - interval.frac).max(0);
            let floor = |code: &Code| (code.to_big() << up) >> down;
            Interval::new(floor(&interval.min) << 1, (floor(&interval.max) << 1) + 1u32, low + 1)
        };
        let sum = rw.replace(id, two_terms([(left, 0, false), (right, 0, false)]), twice.clone());
        let whole = Interval::new(twice.min.to_big() >> 1, twice.max.to_big() >> 1, low);
        match below {
            None => {
                let whole = if interval.frac == low { interval } else { whole };
                wires(rw, Op::Quantise { x: sum, shift: 0 }, whole)
            }
            Some(below) => {
                let whole = wires(rw, Op::Quantise { x: sum, shift: 0 }, whole);
                wires(rw, two_terms([(whole, 0, false), (below, 0, false)]), interval)
            }
        }
    }

    /// Returns the interval of a sum's replacement: its own interval, or the hull with its negative, bounded by the
    /// operands.
    fn interval(&self, rw: &Rewrite<'_>, id: ValueId, operands: [(ValueId, i32); 2]) -> Interval {
        let own = self.facts.interval(self.model, id);
        if !self.signed[id.index()] {
            return own;
        }
        let [p, q] = operands.map(|(value, shift)| rw.node(value).interval.scaled(shift));
        let both = |interval: &Interval| {
            let other = interval.negated();
            let (a, b) = (interval.min.to_big(), other.min.to_big());
            let (c, d) = (interval.max.to_big(), other.max.to_big());
            Interval::new(a.min(b), c.max(d), interval.frac)
        };
        let (own, sum) = (both(&own), p.plus(&both(&q)));
        let frac = own.frac.max(sum.frac);
        let at = |interval: &Interval, code: &Code| code.to_big() << (frac - interval.frac);
        let lo = at(&own, &own.min).max(at(&sum, &sum.min));
        let hi = at(&own, &own.max).min(at(&sum, &sum.max));
        Interval::new(lo, hi, frac)
    }
}

/// Returns the two operands of a sum or difference; `None` for other operations.
fn operands(op: &Op) -> Option<[Operand; 2]> {
    let operand = |value, shift, neg| Operand { value, shift, neg };
    match *op {
        Op::Add { a, b, shift } => Some([operand(a, 0, false), operand(b, shift, false)]),
        Op::Sub { a, b, shift } => Some([operand(a, 0, false), operand(b, shift, true)]),
        _ => None,
    }
}

/// Returns a sum of two terms (value, shift, `true` if negated); the first one is not negated.
fn two_terms([a, b]: [(ValueId, i32, bool); 2]) -> Op {
    use alir_core::ir::Term;
    if a.1 == 0 {
        return match b.2 {
            false => Op::Add { a: a.0, b: b.0, shift: b.1 },
            true => Op::Sub { a: a.0, b: b.0, shift: b.1 },
        };
    }
    if b.1 == 0 && !b.2 {
        return Op::Add { a: b.0, b: a.0, shift: a.1 };
    }
    let term = |(value, shift, neg): (ValueId, i32, bool)| Term { value, shift, neg };
    Op::Sum { terms: Box::new([term(a), term(b)]) }
}

/// Control bits of the new program by sign: values of one signed bit, -1 if the sign is negative.
#[derive(Default)]
struct Controls {
    masks: FxHashMap<Sign, ValueId>,
}

impl Controls {
    fn mask(&mut self, rw: &mut Rewrite<'_>, model: &Model, sign: &Sign, origin: u32) -> ValueId {
        if let Some(&known) = self.masks.get(sign) {
            return known;
        }
        let bit = Interval::new(-1, 0, 0);
        let made = if sign.inverted {
            let x = self.mask(rw, model, &sign.clone().turned(true), origin);
            rw.push(Op::Unary { op: UnaryBits::Not, x }, bit, 0.0, 0.0, origin)
        } else {
            let (&last, others) = sign.conds.split_last().expect("a control bit");
            let kif = model.kif(last);
            let x = rw.typed(last);
            // The top bit, shifted to weight one, in a signed type of one bit.
            let shift = kif.frac - (kif.width() as i32 - 1);
            let mask = rw.push(Op::Quantise { x, shift }, bit.clone(), 0.0, 0.0, origin);
            if others.is_empty() {
                mask
            } else {
                let a = self.mask(rw, model, &Sign { conds: others.to_vec(), inverted: false }, origin);
                rw.push(Op::Binary { op: BinaryBits::Xor, a, b: mask, shift: 0 }, bit, 0.0, 0.0, origin)
            }
        };
        self.masks.insert(sign.clone(), made);
        made
    }
}

#[cfg(test)]
mod tests {
    use crate::passes;
    use alir_core::ir::{Builder, Model, Op, Output, ValueId};
    use alir_core::num::{Interval, SplitMix, wrap};
    use alir_interp::{LookupMiss, golden};
    use alir_testing::random::choices::{self, choice, sum};
    use num_bigint::BigInt;

    /// Returns a program on `inputs`; `make` returns its output.
    fn program(inputs: &[Interval], make: impl FnOnce(&mut Builder, &[ValueId]) -> ValueId) -> Model {
        let mut b = Builder::new(vec![0; inputs.len()]);
        let ids: Vec<_> =
            inputs.iter().enumerate().map(|(i, q)| b.op(Op::Input { input: i as u32 }, q.clone())).collect();
        let source = Some(make(&mut b, &ids));
        b.output(Output { source, shift: 0, neg: false });
        b.finish().unwrap_or_else(|p| panic!("{p:?}"))
    }

    /// Applies the pass, and compares with the reference interpreter on random inputs and on extreme inputs.
    fn applied(model: &Model) -> Model {
        let (after, _) = passes::run(model, &["signs", "dce"]);
        let mut rng = SplitMix::new(7);
        for round in 0..400 {
            let codes: Vec<BigInt> = model
                .input_kifs()
                .iter()
                .map(|&kif| match (round < 200, rng.below(4)) {
                    (true, 0) => kif.min_code(),
                    (true, 1) => kif.max_code(),
                    (true, 2) => BigInt::ZERO,
                    _ => wrap(&rng.bits(kif.width()), kif),
                })
                .collect();
            let [got, expected] = [&after, model].map(|m| golden(m, &codes, LookupMiss::Zero).unwrap());
            assert_eq!(got, expected, "{codes:?}\n{model:#?}\n{after:#?}");
        }
        after
    }

    fn count(model: &Model, name: &str) -> usize {
        model.nodes().iter().filter(|node| node.op.name() == name).count()
    }

    #[test]
    fn a_tree_of_magnitudes_keeps_one_negation() {
        let after = applied(&choices::magnitudes(12, 8));
        assert_eq!((count(&after, "neg"), count(&after, "mux")), (1, 1));
    }

    /// Checks that a sum has the sign of its first choice, at any depth.
    #[test]
    fn a_chain_of_magnitudes_keeps_one_negation() {
        let model = program(&vec![Interval::new(-16, 15, 0); 300], |b, v| {
            let mut all: Vec<ValueId> = v.iter().map(|&x| choice(b, x, None, false)).collect();
            all.drain(1..).collect::<Vec<_>>().into_iter().fold(all[0], |total, x| sum(b, total, x, 0, false))
        });
        let after = applied(&model);
        assert_eq!((count(&after, "neg"), count(&after, "mux")), (1, 1));
    }

    #[test]
    fn random_trees_of_choices_and_plain_values() {
        let (mut before, mut left) = (0, 0);
        for seed in 0..300 {
            let model = choices::program(seed);
            before += count(&model, "neg");
            left += count(&applied(&model), "neg");
        }
        assert!(left * 6 < before, "{left} of {before} negations remain");
    }

    #[test]
    fn differences_both_ways_are_a_choice() {
        // Sums of absolute differences, as in motion estimation.
        let model = program(&vec![Interval::new(0, 255, 0); 8], |b, v| {
            let magnitudes: Vec<ValueId> = v
                .chunks(2)
                .map(|c| {
                    let [d, e] = [(0, 1), (1, 0)].map(|(i, j)| sum(b, c[i], c[j], 0, true));
                    b.op(Op::Mux { cond: d, on_true: e, on_false: d, shift: 0 }, Interval::new(0, 255, 0))
                })
                .collect();
            let [p, q] = [(0, 1), (2, 3)].map(|(i, j)| sum(b, magnitudes[i], magnitudes[j], 0, false));
            sum(b, p, q, 0, false)
        });
        let after = applied(&model);
        assert_eq!((count(&after, "mux"), count(&after, "sub")), (1, 5));
    }

    #[test]
    fn a_choice_with_other_readers_stays() {
        let model = program(&[Interval::new(-16, 15, 0), Interval::new(-16, 15, 0)], |b, v| {
            let magnitude = choice(b, v[0], None, false);
            let first = sum(b, v[1], magnitude, 0, false);
            sum(b, first, magnitude, 3, false)
        });
        assert_eq!(applied(&model), model);
    }
}
