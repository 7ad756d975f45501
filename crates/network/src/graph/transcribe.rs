//! A network as a plain program, for proofs: what the hardware is compared with.
//!
//! It is made straight from the network and calls nothing of the lowering: every row of a matrix is one sum over the
//! digits of its weights; rounding is the floor of a sum, as section 1 defines it; overflow is a comparison of whole
//! numbers with both ends. The golden evaluator holds it, as it holds the lowering.

use super::bind::{BoundNetwork, Constants, Operation, Step};
use crate::digits;
use crate::exact::Rational;
use crate::function::{Function, Functions};
use crate::quantise::{Overflow, Quantiser, Round};
use alir_core::ir::{BinaryBits, Builder, Model, Op, Output, Table, Term, UnaryBits, ValueId};
use alir_core::num::{Code, Interval};
use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// Bits of a table's input at most; whoever asks for a proof has lowered the network with a limit below.
const MAX_TABLE_BITS: u32 = 24;

/// A value: its operation, and the ends of its range as codes with so many fractional bits.
#[derive(Clone)]
struct Value {
    id: ValueId,
    low: BigInt,
    high: BigInt,
    frac: i32,
}

/// The program.
///
/// # Errors
/// What breaks a limit of programs, in words.
pub(super) fn transcribe(program: &BoundNetwork) -> Result<Model, String> {
    let inputs: usize = program.inputs.iter().map(|input| input.elements).sum();
    let mut writer = Writer { builder: Builder::new(vec![0; inputs]), functions: Functions::new() };
    let mut slots: Vec<Vec<Value>> = vec![Vec::new(); program.slots];
    let mut index = 0;
    for input in &program.inputs {
        let kif = input.quantiser.kif;
        for _ in 0..input.elements {
            let op = Op::Input { input: index };
            slots[input.slot].push(writer.value(op, kif.min_code(), kif.max_code(), kif.frac));
            index += 1;
        }
    }
    for step in &program.steps {
        slots[step.slot] = writer.step(step, &slots)?;
    }
    for &slot in &program.outputs {
        for value in &slots[slot] {
            writer.builder.output(Output { source: Some(value.id), shift: 0, neg: false });
        }
    }
    writer.builder.finish().map_err(|problems| format!("the network as a program: {:?}", problems.first()))
}

struct Writer {
    builder: Builder,
    functions: Functions,
}

impl Writer {
    fn value(&mut self, op: Op, low: BigInt, high: BigInt, frac: i32) -> Value {
        let id = self.builder.op(op, Interval::new(low.clone(), high.clone(), frac));
        Value { id, low, high, frac }
    }

    fn constant(&mut self, code: BigInt, frac: i32) -> Value {
        self.value(Op::Const { value: Code::from(&code) }, code.clone(), code, frac)
    }

    fn step(&mut self, step: &Step, slots: &[Vec<Value>]) -> Result<Vec<Value>, String> {
        let mut results = Vec::with_capacity(step.elements);
        for index in 0..step.elements {
            let bias = |bias: &Option<std::sync::Arc<Constants>>| {
                bias.as_ref().map_or_else(Rational::zero, |bias| bias.value(index))
            };
            let exact = match &step.operation {
                Operation::Product { x, matrix, bias: b } => {
                    let x = &slots[*x];
                    let factor = |k: usize| (x[k].clone(), matrix.codes[index * x.len() + k].to_big());
                    let terms: Vec<(Value, BigInt)> = (0..x.len()).map(factor).collect();
                    self.sum(&terms, matrix.frac, &bias(b), step.quantiser)
                }
                Operation::AddConstants { x, bias } => {
                    let terms = [(slots[*x][index].clone(), BigInt::one())];
                    self.sum(&terms, 0, &bias.value(index), step.quantiser)
                }
                Operation::Add { a, b } => {
                    let terms = [*a, *b].map(|slot| (slots[slot][index].clone(), BigInt::one()));
                    self.sum(&terms, 0, &Rational::zero(), step.quantiser)
                }
                Operation::Relu { x } => {
                    let x = &slots[*x][index];
                    if let Some(quantiser) = &step.quantiser {
                        results.push(self.rectified(x, quantiser));
                        continue;
                    }
                    self.relu(x)
                }
                Operation::Table { x, function } => {
                    let quantiser = step.quantiser.ok_or("a table without a type")?;
                    self.table(&slots[*x][index], *function, &quantiser)?
                }
                Operation::Swiglu { x, table } => {
                    let gate = self.table(&slots[*x][index], Function::Silu, table)?;
                    let up = &slots[*x][step.elements + index];
                    // As for every type, all its codes count.
                    let (first, last) = (table.kif.min_code(), table.kif.max_code());
                    let ends = [&first * &up.low, &first * &up.high, &last * &up.low, &last * &up.high];
                    let low = ends.iter().min().cloned().unwrap_or_default();
                    let high = ends.iter().max().cloned().unwrap_or_default();
                    self.value(Op::Mul { a: gate.id, b: up.id }, low, high, gate.frac + up.frac)
                }
                Operation::Norm { x, mean, factors, bias: b } => {
                    let constant = &bias(b) - &(mean * &factors.value(index));
                    let terms = [(slots[*x][index].clone(), factors.codes[index].to_big())];
                    self.sum(&terms, factors.frac, &constant, step.quantiser)
                }
            };
            results.push(match &step.quantiser {
                Some(quantiser) => self.quantise(&exact, quantiser),
                None => exact,
            });
        }
        Ok(results)
    }

    /// The sum of values times `factor * 2^-frac`, and a constant. One that is no binary number is moved to where it is
    /// rounded alike: nothing else lies between it and there.
    fn sum(
        &mut self,
        terms: &[(Value, BigInt)],
        frac: i64,
        constant: &Rational,
        quantiser: Option<Quantiser>,
    ) -> Value {
        let mut sum: Vec<Term> = Vec::new();
        let (mut parts, mut finest) = (Vec::new(), i32::MIN);
        for (x, factor) in terms.iter().filter(|(x, f)| !(f.is_zero() || x.low.is_zero() && x.high.is_zero())) {
            let own = x.frac + frac as i32 - factor.trailing_zeros().unwrap_or(0) as i32;
            finest = finest.max(own);
            sum.extend(digits::terms(x.id, factor, -frac as i32));
            let ends = if factor.is_negative() {
                (&x.high * factor, &x.low * factor)
            } else {
                (&x.low * factor, &x.high * factor)
            };
            parts.push((ends, i64::from(x.frac) + frac));
        }
        let constant = match constant.is_dyadic() {
            true => constant.clone(),
            false => {
                let places = i64::from(finest.max(quantiser.map_or(0, |q| q.kif.frac))) + 2;
                let below = Rational::of_code(&constant.shifted(places).floor(), places);
                &below + &Rational::one().shifted(-places - 1)
            }
        };
        if sum.is_empty() {
            let frac = constant.frac().unwrap_or_default();
            return self.constant(constant.code(frac).unwrap_or_default(), frac as i32);
        }
        let mut out = i64::from(finest);
        if !constant.is_zero() {
            let frac = constant.frac().unwrap_or_default();
            out = out.max(frac);
            let value = self.constant(constant.code(frac).unwrap_or_default(), frac as i32);
            sum.push(Term { value: value.id, shift: 0, neg: false });
        }
        let total = |side: fn(&(BigInt, BigInt)) -> &BigInt| {
            parts.iter().fold(constant.clone(), |sum, (ends, frac)| &sum + &Rational::of_code(side(ends), *frac))
        };
        let (low, high) = (total(|e| &e.0), total(|e| &e.1));
        let (low, high) = (low.code(out).unwrap_or_default(), high.code(out).unwrap_or_default());
        self.value(Op::Sum { terms: sum.into() }, low, high, out as i32)
    }

    fn table(&mut self, x: &Value, function: Function, quantiser: &Quantiser) -> Result<Value, String> {
        let kif = Interval::new(x.low.clone(), x.high.clone(), x.frac).kif();
        if kif.width() > MAX_TABLE_BITS {
            return Err(format!("a table for {} bits", kif.width()));
        }
        let mut codes: Vec<i64> = Vec::new();
        let mut code = x.low.clone();
        while code <= x.high {
            let entry = self.functions.code(function, &Rational::of_code(&code, x.frac.into()), quantiser)?;
            codes.push(entry.to_i64().ok_or("an entry beyond 64 bits")?);
            code += 1;
        }
        let frac = quantiser.kif.frac;
        let (min, max) = (codes.iter().copied().min().unwrap_or(0), codes.iter().copied().max().unwrap_or(0));
        if i32::try_from(max).is_ok() && i32::try_from(min).is_ok() {
            let entries = codes.iter().map(|&c| c as i32).collect();
            return Ok(self.lookup(x, entries, min, max, frac));
        }
        // Entries above 2^31: the upper and the lower 16 bits apart.
        let upper = self.lookup(x, codes.iter().map(|&c| (c >> 16) as i32).collect(), min >> 16, max >> 16, frac - 16);
        let lower = self.lookup(x, codes.iter().map(|&c| (c & 0xffff) as i32).collect(), 0, 0xffff, frac);
        let terms = [upper.id, lower.id].map(|value| Term { value, shift: 0, neg: false });
        Ok(self.value(Op::Sum { terms: terms.into() }, min.into(), max.into(), frac))
    }

    fn lookup(&mut self, x: &Value, entries: Vec<i32>, min: i64, max: i64, frac: i32) -> Value {
        let out = Interval::new(min, max, frac);
        let inp_width = Interval::new(x.low.clone(), x.high.clone(), x.frac).kif().width().into();
        let table = self.builder.table(Table { entries, out, hash: String::new(), inp_width });
        self.value(Op::Lookup { x: x.id, table, base: Code::from(&x.low) }, min.into(), max.into(), frac)
    }

    fn relu(&mut self, x: &Value) -> Value {
        let (low, high) = (x.low.clone().max(BigInt::ZERO), x.high.clone().max(BigInt::ZERO));
        self.value(Op::Relu { x: x.id }, low, high, x.frac)
    }

    /// `quantise` of `max(x, 0)`. Every mode rounds numbers from zero on by one rule, and by that rule no number below
    /// zero becomes positive: so what is rounded by that rule first, then limited to zero and more, is the same.
    fn rectified(&mut self, x: &Value, quantiser: &Quantiser) -> Value {
        let rounded = self.round(x, quantiser.kif.frac, quantiser.round.of_positive());
        let rectified = self.relu(&rounded);
        self.overflow(&rectified, quantiser)
    }

    /// `quantise`, with every code of the type as range.
    fn quantise(&mut self, x: &Value, quantiser: &Quantiser) -> Value {
        let rounded = self.round(x, quantiser.kif.frac, quantiser.round);
        self.overflow(&rounded, quantiser)
    }

    /// The floor of the value and what the mode adds to it: for values below zero, and from zero on.
    fn round(&mut self, x: &Value, frac: i32, round: Round) -> Value {
        if frac >= x.frac {
            return x.clone();
        }
        let dropped = (x.frac - frac) as u32;
        if round == Round::HalfEven {
            return self.round_to_even(x, frac, dropped);
        }
        let (negative, positive) = round.summands(dropped);
        let moved = match negative == positive || !x.low.is_negative() {
            true => self.plus(x, &positive),
            false => {
                let (on_negative, otherwise) =
                    (self.constant(negative.clone(), x.frac), self.constant(positive.clone(), x.frac));
                let op = Op::Mux { cond: x.id, on_true: on_negative.id, on_false: otherwise.id, shift: 0 };
                let (low, high) = (negative.clone().min(positive.clone()), negative.max(positive));
                let added = self.value(op, low.clone(), high.clone(), x.frac);
                self.value(Op::Add { a: x.id, b: added.id, shift: 0 }, &x.low + low, &x.high + high, x.frac)
            }
        };
        let end = |code: &BigInt| Rational::of_code(code, dropped.into()).round(round);
        self.value(Op::Quantise { x: moved.id, shift: 0 }, end(&x.low), end(&x.high), frac)
    }

    /// The nearest, the upper one at halves; there, where all bits that go are zero once a half was added, the even number
    /// of the two: the one without its last bit.
    fn round_to_even(&mut self, x: &Value, frac: i32, dropped: u32) -> Value {
        let moved = self.plus(x, &(BigInt::one() << (dropped - 1)));
        let floor = |code: &BigInt, by: u32| code >> by;
        let quantise = |of: &Value| Op::Quantise { x: of.id, shift: 0 };
        let up = self.value(quantise(&moved), floor(&moved.low, dropped), floor(&moved.high, dropped), frac);
        let dropped_bits = self.value(quantise(&moved), BigInt::ZERO, (BigInt::one() << dropped) - 1, x.frac);
        let is_no_half = Op::Unary { op: UnaryBits::Any, x: dropped_bits.id };
        let is_no_half = self.value(is_no_half, BigInt::ZERO, BigInt::one(), 0);
        let in_place = Op::Quantise { x: is_no_half.id, shift: -frac };
        let in_place = self.value(in_place, BigInt::ZERO, BigInt::one(), frac);
        let last = self.value(quantise(&up), BigInt::ZERO, BigInt::one(), frac);
        let last = Op::Binary { op: BinaryBits::And, a: last.id, b: in_place.id, shift: 0 };
        let last = self.value(last, BigInt::ZERO, BigInt::one(), frac);
        let even = self.value(quantise(&up), floor(&up.low, 1), floor(&up.high, 1), frac - 1);
        let end = |code: &BigInt| Rational::of_code(code, dropped.into()).round(Round::HalfEven);
        self.value(Op::Add { a: even.id, b: last.id, shift: 0 }, end(&x.low), end(&x.high), frac)
    }

    /// `x + code * 2^-frac`, the code with as many fractional bits as `x`.
    fn plus(&mut self, x: &Value, code: &BigInt) -> Value {
        if code.is_zero() {
            return x.clone();
        }
        let op = Op::AddConst { x: x.id, value: Code::from(code), shift: x.frac };
        self.value(op, &x.low + code, &x.high + code, x.frac)
    }

    fn overflow(&mut self, x: &Value, quantiser: &Quantiser) -> Value {
        let kif = quantiser.kif;
        let (first, last) = (kif.min_code(), kif.max_code());
        if quantiser.overflow == Overflow::Wrap {
            return self.value(Op::Quantise { x: x.id, shift: 0 }, first, last, kif.frac);
        }
        let (low, high) = quantiser.codes();
        let zero = BigInt::ZERO;
        let (instead_low, instead_high) = match quantiser.overflow {
            Overflow::Zero => (zero.clone(), zero),
            _ => (low.clone(), high.clone()),
        };
        // All in the steps of the type.
        let up = (kif.frac - x.frac) as u32;
        let (min, max) = (&x.low << up, &x.high << up);
        let mut value = x.clone();
        if max > high {
            let limit = self.constant(high.clone(), kif.frac);
            let room = self.value(Op::Sub { a: limit.id, b: x.id, shift: 0 }, &high - &max, &high - &min, kif.frac);
            let over = self.is_negative(&room);
            let with = self.constant(instead_high.clone(), kif.frac);
            let op = Op::Mux { cond: over.id, on_true: with.id, on_false: x.id, shift: 0 };
            value = self.value(op, min.clone().min(instead_high), high.clone(), kif.frac);
        }
        if min < low {
            let limit = self.constant(low.clone(), kif.frac);
            // Of the number within the upper end already: what lies beyond that is not below the lower end.
            let own = (kif.frac - value.frac) as u32;
            let (least, most) = (&value.low << own, &value.high << own);
            let room = self.value(Op::Sub { a: value.id, b: limit.id, shift: 0 }, least - &low, most - &low, kif.frac);
            let under = self.is_negative(&room);
            let with = self.constant(instead_low.clone(), kif.frac);
            let op = Op::Mux { cond: under.id, on_true: with.id, on_false: value.id, shift: 0 };
            let top = (&value.high << (kif.frac - value.frac) as u32).max(instead_low);
            value = self.value(op, low, top, kif.frac);
        }
        self.value(Op::Quantise { x: value.id, shift: 0 }, first, last, kif.frac)
    }

    /// One bit: whether a value is below zero.
    fn is_negative(&mut self, x: &Value) -> Value {
        if !x.low.is_negative() {
            return self.constant(BigInt::ZERO, 0);
        }
        let (yes, no) = (self.constant(BigInt::one(), 0), self.constant(BigInt::ZERO, 0));
        let op = Op::Mux { cond: x.id, on_true: yes.id, on_false: no.id, shift: 0 };
        self.value(op, BigInt::ZERO, BigInt::one(), 0)
    }
}
