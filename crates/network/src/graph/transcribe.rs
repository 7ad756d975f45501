//! Transcription of a network to a plain program, the specification in proofs of the hardware.
//!
//! The transcription does not use the lowering: every row of a matrix is one sum over the digits of its weights;
//! rounding is the floor of a sum, as section 1 of `docs/network.md` defines it; overflow is a comparison of integers
//! with both bounds. Tests compare the transcription, like the lowering, with the reference evaluator.

use super::bind::{BoundNetwork, Constants, EmbeddingRows, Operation, Step, TableFunction};
use crate::digits;
use crate::exact::Rational;
use crate::function::{Function, Functions};
use crate::quantise::{Overflow, Quantiser, Round};
use crate::reciprocal::Division;
use alir_core::ir::{BinaryBits, Builder, Model, Op, Output, Table, Term, UnaryBits, ValueId};
use alir_core::num::{Code, Interval};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// Maximum number of input bits of a table. A caller that needs a proof has lowered the network with a lower limit.
const MAX_TABLE_BITS: u32 = 24;

/// A value: its operation, and the bounds of its range as raw integer values with `frac` fractional bits.
#[derive(Clone)]
struct Value {
    id: ValueId,
    low: BigInt,
    high: BigInt,
    frac: i32,
}

/// Transcribes a network to a program.
///
/// # Errors
/// If the program exceeds a limit on programs.
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

/// State of a transcription.
struct Writer {
    builder: Builder,
    functions: Functions,
}

impl Writer {
    /// Appends an operation with this range.
    fn value(&mut self, op: Op, low: BigInt, high: BigInt, frac: i32) -> Value {
        let id = self.builder.op(op, Interval::new(low.clone(), high.clone(), frac));
        Value { id, low, high, frac }
    }

    fn constant(&mut self, code: BigInt, frac: i32) -> Value {
        self.value(Op::Const { value: Code::from(&code) }, code.clone(), code, frac)
    }

    /// Computes the results of a step for all tokens.
    fn step(&mut self, step: &Step, slots: &[Vec<Value>]) -> Result<Vec<Value>, String> {
        step.by_token(|token| self.token(step, slots, token))
    }

    /// Computes the quantised results of a step for one token.
    fn token(&mut self, step: &Step, slots: &[Vec<Value>], token: usize) -> Result<Vec<Value>, String> {
        match self.row_operation(step, slots, token)? {
            Some(results) => Ok(results),
            None => self.element_operation(step, slots, token),
        }
    }

    /// Computes a step that operates on whole rows; returns `None` for other steps.
    fn row_operation(&mut self, step: &Step, slots: &[Vec<Value>], token: usize) -> Result<Option<Vec<Value>>, String> {
        let mut results = Vec::with_capacity(step.per_token());
        match &step.operation {
            Operation::MeanSquare { x, centred } => {
                let quantiser = step.quantiser.ok_or("a mean square without a type")?;
                let (square, divisor) = self.mean_square(&x.token(slots, token), *centred);
                let quotient = self.divided(&square, divisor.clone(), &quantiser);
                results.push(self.narrowed_quotient(&square, &divisor, &quotient, &quantiser));
            }
            Operation::Scores { q, k, heads, scale } => {
                for head in 0..heads.heads {
                    for i in 0..heads.tokens {
                        for j in 0..heads.visible(i) {
                            let factor = |d: usize| {
                                let query = q.element(slots, i, head * heads.head_dim + d);
                                (query, k.element(slots, j, heads.group(head) * heads.head_dim + d))
                            };
                            let pairs: Vec<_> = (0..heads.head_dim).map(factor).collect();
                            let products: Vec<_> =
                                pairs.into_iter().map(|(a, b)| (self.product(a, b), scale.codes[0].to_big())).collect();
                            let score = self.sum(&products, scale.frac, &Rational::zero(), step.quantiser);
                            results.push(self.quantised(&score, step));
                        }
                    }
                }
            }
            Operation::Difference { x, rows } => {
                for row in 0..rows.count() {
                    let row = &slots[*x][rows.row(row)];
                    let most = self.maximum(row);
                    for x in row {
                        let difference = Op::Sub { a: x.id, b: most.id, shift: 0 };
                        let difference = self.value(difference, &x.low - &most.high, BigInt::ZERO, x.frac);
                        results.push(self.quantised(&difference, step));
                    }
                }
            }
            Operation::RowSum { x, rows } => {
                for row in 0..rows.count() {
                    let terms: Vec<_> = slots[*x][rows.row(row)].iter().map(|x| (x.clone(), BigInt::one())).collect();
                    let sum = self.sum(&terms, 0, &Rational::zero(), step.quantiser);
                    results.push(self.quantised(&sum, step));
                }
            }
            Operation::RowProduct { x, factor, rows } => {
                for row in 0..rows.count() {
                    for x in &slots[*x][rows.row(row)] {
                        let product = self.product(x, &slots[*factor][row]);
                        results.push(self.quantised(&product, step));
                    }
                }
            }
            _ => return Ok(None),
        }
        Ok(Some(results))
    }

    /// Computes a step element by element.
    fn element_operation(&mut self, step: &Step, slots: &[Vec<Value>], token: usize) -> Result<Vec<Value>, String> {
        let count = step.per_token();
        let mut results = Vec::with_capacity(count);
        let centre = if let Operation::Normalise { x, centred: true, .. } = &step.operation {
            let terms: Vec<_> = x.token(slots, token).into_iter().map(|x| (x, BigInt::one())).collect();
            Some(self.sum(&terms, 0, &Rational::zero(), None))
        } else {
            None
        };
        for index in 0..count {
            let bias = |bias: &Option<std::sync::Arc<Constants>>| {
                bias.as_ref().map_or_else(Rational::zero, |bias| bias.value(index))
            };
            let exact = match &step.operation {
                Operation::Product { x, matrix, bias: b } => {
                    let x = x.token(slots, token);
                    let factor = |k: usize| (x[k].clone(), matrix.codes[index * x.len() + k].to_big());
                    let terms: Vec<(Value, BigInt)> = (0..x.len()).map(factor).collect();
                    self.sum(&terms, matrix.frac, &bias(b), step.quantiser)
                }
                Operation::AddConstants { x, bias } => {
                    let terms = [(x.element(slots, token, index).clone(), BigInt::one())];
                    self.sum(&terms, 0, &bias.value(index), step.quantiser)
                }
                Operation::Add { a, b } => {
                    let terms = [a, b].map(|x| (x.element(slots, token, index).clone(), BigInt::one()));
                    self.sum(&terms, 0, &Rational::zero(), step.quantiser)
                }
                Operation::Relu { x } => {
                    let x = x.element(slots, token, index);
                    if let Some(quantiser) = &step.quantiser {
                        results.push(self.rectified(x, quantiser));
                        continue;
                    }
                    self.relu(x)
                }
                Operation::Table { x, function } => {
                    let quantiser = step.quantiser.ok_or("a table without a type")?;
                    self.table(x.element(slots, token, index), function, &quantiser)?
                }
                Operation::Swiglu { x, table } => {
                    let silu = TableFunction::Real(Function::Silu);
                    let gate = self.table(x.element(slots, token, index), &silu, table)?;
                    // The range is that of the whole type, as for every quantised value.
                    let gate = Value { low: table.kif.min_code(), high: table.kif.max_code(), ..gate };
                    self.product(&gate, x.element(slots, token, count + index))
                }
                Operation::Norm { x, mean, factors, bias: b } => {
                    let constant = &bias(b) - &(mean * &factors.value(index));
                    let terms = [(x.element(slots, token, index).clone(), factors.codes[index].to_big())];
                    self.sum(&terms, factors.frac, &constant, step.quantiser)
                }
                Operation::Normalise { x, rstd, factors, bias: b, .. } => {
                    let (value, factor) = (x.element(slots, token, index).clone(), factors.codes[index].to_big());
                    let n = BigInt::from(if centre.is_some() { count } else { 1 });
                    let mut terms = vec![(value, &n * &factor)];
                    terms.extend(centre.iter().map(|sum| (sum.clone(), -&factor)));
                    let scaled = self.sum(&terms, factors.frac, &Rational::zero(), None);
                    let product = self.product(&scaled, &slots[*rstd][token]);
                    let constant = &bias(b) * &Rational::from(n.clone());
                    let value = self.sum(&[(product, BigInt::one())], 0, &constant, None);
                    results.push(match &step.quantiser {
                        Some(quantiser) => self.divided(&value, n, quantiser),
                        None => self.shifted_down(&value, n.trailing_zeros().unwrap_or(0) as i32),
                    });
                    continue;
                }
                Operation::Embed { ids, rows } => {
                    let id = ids.element(slots, token, 0).clone();
                    self.embedded(&id, rows, step, token, index)?
                }
                Operation::Rotate { x, head_dim, table } => {
                    let (half, pair) = (head_dim / 2, index % (head_dim / 2));
                    let place = index / head_dim * head_dim + pair;
                    let [cos, sin] = [0, 1].map(|k| table.codes[2 * (token * half + pair) + k].to_big());
                    let factors = if index % head_dim < half { [cos, -sin] } else { [sin, cos] };
                    let x = [place, place + half].map(|place| x.element(slots, token, place).clone());
                    let terms: Vec<_> = x.into_iter().zip(factors).collect();
                    self.sum(&terms, table.frac, &Rational::zero(), step.quantiser)
                }
                Operation::Weighted { p, v, heads, rows } => {
                    let (head, d) = (index / heads.value_dim, index % heads.value_dim);
                    let row = &slots[*p][rows.row(head * heads.tokens + token)];
                    let mut terms = Vec::with_capacity(row.len());
                    for (j, p) in row.iter().enumerate() {
                        let value = v.element(slots, j, heads.group(head) * heads.value_dim + d);
                        terms.push((self.product(p, value), BigInt::one()));
                    }
                    self.sum(&terms, 0, &Rational::zero(), step.quantiser)
                }
                Operation::Copy { x } => slots[*x][index].clone(),
                Operation::MeanSquare { .. }
                | Operation::Scores { .. }
                | Operation::Difference { .. }
                | Operation::RowSum { .. }
                | Operation::RowProduct { .. } => return Err("a row operation has no elements".into()),
            };
            results.push(self.quantised(&exact, step));
        }
        Ok(results)
    }

    /// Quantises a result to the type of its step, if it has one.
    fn quantised(&mut self, exact: &Value, step: &Step) -> Value {
        let Some(quantiser) = &step.quantiser else { return exact.clone() };
        let value = self.quantise(exact, quantiser);
        // Tables of intermediate values have entries only for values that can occur, not for all values of the type.
        match step.record {
            Some(_) => self.narrowed(exact, &value, quantiser),
            None => value,
        }
    }

    /// Like [`Writer::narrowed`], for the quotient `x / n`.
    fn narrowed_quotient(&mut self, x: &Value, n: &BigInt, value: &Value, quantiser: &Quantiser) -> Value {
        let rounded = |code: &BigInt| {
            let exact = Rational::from_code(code, x.frac.into());
            quantiser.rounded(&exact.checked_div(&Rational::from(n.clone())).unwrap_or_else(Rational::zero))
        };
        let ends = Value { low: rounded(&x.low), high: rounded(&x.high), frac: quantiser.kif.frac, ..x.clone() };
        self.narrowed(&ends, value, quantiser)
    }

    /// Returns a quantised value with the range that follows from the bounds of the exact value; unchanged if it may
    /// wrap.
    fn narrowed(&mut self, exact: &Value, value: &Value, quantiser: &Quantiser) -> Value {
        let rounded = |code: &BigInt| quantiser.rounded(&Rational::from_code(code, exact.frac.into()));
        let (low, high) = (rounded(&exact.low), rounded(&exact.high));
        let (first, last) = quantiser.codes();
        let clips = matches!(quantiser.overflow, Overflow::Saturate | Overflow::SaturateSymmetric);
        if !clips && (low < first || high > last) {
            return value.clone();
        }
        let (low, high) = (low.clamp(first.clone(), last.clone()), high.clamp(first, last));
        self.value(Op::Quantise { x: value.id, shift: 0 }, low, high, value.frac)
    }

    /// Computes the product of two values. Its range follows from their bounds; a square is never negative.
    fn product(&mut self, a: &Value, b: &Value) -> Value {
        let ends = [&a.low * &b.low, &a.low * &b.high, &a.high * &b.low, &a.high * &b.high];
        let mut low = ends.iter().min().cloned().unwrap_or_default();
        if a.id == b.id {
            low = low.max(BigInt::ZERO);
        }
        let high = ends.iter().max().cloned().unwrap_or_default();
        self.value(Op::Mul { a: a.id, b: b.id }, low, high, a.frac + b.frac)
    }

    /// Computes the maximum of values with equal fractional bits, as a tree of pairs.
    fn maximum(&mut self, values: &[Value]) -> Value {
        let mut left = values.to_vec();
        while left.len() > 1 {
            let mut next = Vec::with_capacity(left.len().div_ceil(2));
            for pair in left.chunks(2) {
                let [a, b] = pair else {
                    next.extend(pair.iter().cloned());
                    continue;
                };
                let less = Op::Sub { a: a.id, b: b.id, shift: 0 };
                let less = self.value(less, &a.low - &b.high, &a.high - &b.low, a.frac);
                let op = Op::Mux { cond: less.id, on_true: b.id, on_false: a.id, shift: 0 };
                let (low, high) = (a.low.clone().max(b.low.clone()), a.high.clone().max(b.high.clone()));
                // A condition that is never negative has no sign bit.
                next.push(match less.low.is_negative() {
                    true => self.value(op, low, high, a.frac),
                    false => a.clone(),
                });
            }
            left = next;
        }
        left.pop().expect("a row has elements")
    }

    /// Computes the mean of the squares as a value and a divisor by which the caller still has to divide the value.
    fn mean_square(&mut self, x: &[Value], centred: bool) -> (Value, BigInt) {
        let n = BigInt::from(x.len());
        let factor = if centred { n.clone() } else { BigInt::one() };
        let mut terms: Vec<(Value, BigInt)> = x.iter().map(|x| (self.product(x, x), factor.clone())).collect();
        if !centred {
            return (self.sum(&terms, 0, &Rational::zero(), None), n);
        }
        let ones: Vec<_> = x.iter().map(|x| (x.clone(), BigInt::one())).collect();
        let sum = self.sum(&ones, 0, &Rational::zero(), None);
        terms.push((self.product(&sum, &sum), BigInt::from(-1)));
        let variance = self.sum(&terms, 0, &Rational::zero(), None);
        let (low, high) = (BigInt::ZERO, variance.high.clone());
        let op = Op::Quantise { x: variance.id, shift: 0 };
        (self.value(op, low, high, variance.frac), &n * &n)
    }

    /// Computes `x * 2^-by`.
    fn shifted_down(&mut self, x: &Value, by: i32) -> Value {
        if by == 0 {
            return x.clone();
        }
        self.value(Op::Quantise { x: x.id, shift: -by }, x.low.clone(), x.high.clone(), x.frac + by)
    }

    /// Computes `x / n`, quantised.
    fn divided(&mut self, x: &Value, n: BigInt, quantiser: &Quantiser) -> Value {
        let twos = n.trailing_zeros().unwrap_or(0);
        let (odd, x) = (&n >> twos, self.shifted_down(x, twos as i32));
        if odd.is_one() {
            return self.quantise(&x, quantiser);
        }
        let frac = quantiser.kif.frac;
        // Use the step of the type or a finer one: a step of the quotient is `odd << dropped` steps of `x`.
        let x = if frac > x.frac {
            let up = (frac - x.frac) as u32;
            self.value(Op::Quantise { x: x.id, shift: 0 }, &x.low << up, &x.high << up, frac)
        } else {
            x
        };
        let dropped = (x.frac - frac) as u32;
        let step = &odd << dropped;
        // No tie exists for an odd divisor, so the summands are also correct for such a divisor.
        let summand = |round: Round| match round {
            Round::Floor => BigInt::ZERO,
            Round::Ceil => &step - 1,
            Round::HalfUp => &step >> 1u32,
            _ => (&step - 1) >> 1u32,
        };
        let (negative, positive) = match quantiser.round {
            Round::TowardZero => (Round::Ceil, Round::Floor),
            Round::AwayFromZero => (Round::Floor, Round::Ceil),
            Round::HalfAway => (Round::HalfDown, Round::HalfUp),
            Round::HalfTowardZero => (Round::HalfUp, Round::HalfDown),
            Round::HalfEven => {
                let up = self.floor_of_quotient(&x, &summand(Round::HalfUp), &odd, frac);
                let down = self.floor_of_quotient(&x, &summand(Round::HalfDown), &odd, frac);
                let last = self.value(Op::Quantise { x: up.id, shift: 0 }, BigInt::ZERO, BigInt::one(), frac);
                let op = Op::Mux { cond: last.id, on_true: down.id, on_false: up.id, shift: 0 };
                let even = self.value(op, down.low.clone(), up.high.clone(), frac);
                return self.overflow(&even, quantiser);
            }
            other => (other, other),
        };
        let [negative, positive] = [negative, positive].map(summand);
        let rounded = if negative == positive || !x.low.is_negative() {
            self.floor_of_quotient(&x, &positive, &odd, frac)
        } else {
            let [n, p] = [&negative, &positive].map(|code| self.constant(code.clone(), x.frac));
            let op = Op::Mux { cond: x.id, on_true: n.id, on_false: p.id, shift: 0 };
            let (low, high) = (negative.clone().min(positive.clone()), negative.max(positive));
            let added = self.value(op, low.clone(), high.clone(), x.frac);
            let op = Op::Add { a: x.id, b: added.id, shift: 0 };
            let moved = self.value(op, &x.low + low, &x.high + high, x.frac);
            self.floor_of_quotient(&moved, &BigInt::ZERO, &odd, frac)
        };
        self.overflow(&rounded, quantiser)
    }

    /// Computes `floor((x + code) / odd)` in steps of `2^-frac`, as a product with a reciprocal of proved precision.
    fn floor_of_quotient(&mut self, x: &Value, code: &BigInt, odd: &BigInt, frac: i32) -> Value {
        let moved = self.plus(x, code);
        let dropped = (moved.frac - frac) as u32;
        let op = Op::Quantise { x: moved.id, shift: 0 };
        let whole = self.value(op, &moved.low >> dropped, &moved.high >> dropped, frac);
        let division = Division::new(odd, &whole.low, &whole.high);
        let constant = Rational::from_code(&division.offset, frac.into());
        let product = self.sum(&[(whole.clone(), division.factor)], 0, &constant, None);
        let op = Op::Quantise { x: product.id, shift: -(division.shift as i32) };
        self.value(op, whole.low.div_floor(odd), whole.high.div_floor(odd), frac)
    }

    /// Computes one element of the embedding row that `id` selects.
    fn embedded(
        &mut self,
        id: &Value,
        rows: &EmbeddingRows,
        step: &Step,
        token: usize,
        element: usize,
    ) -> Result<Value, String> {
        let count = step.per_token();
        let position = rows.positions.as_ref().map_or_else(Rational::zero, |p| p.value(token * count + element));
        let mut values = Vec::new();
        let last = id.high.to_usize().ok_or("too many ids")?;
        for id in 0..=last {
            let row = if id < rows.rows { rows.weight.value(id * count + element) } else { Rational::zero() };
            values.push(&row + &position);
        }
        let frac = match &step.quantiser {
            Some(quantiser) => i64::from(quantiser.kif.frac),
            None => rows.weight.frac.max(rows.positions.as_ref().map_or(rows.weight.frac, |p| p.frac)),
        };
        let code = |value: &Rational| match &step.quantiser {
            Some(quantiser) => Some(quantiser.code(value)),
            None => value.code(frac),
        };
        let codes: Option<Vec<i64>> = values.iter().map(|value| code(value)?.to_i64()).collect();
        let codes = codes.ok_or("an entry beyond 64 bits")?;
        Ok(self.entries(id, &codes, frac as i32))
    }

    /// Computes the sum of values times `factor * 2^-frac` and a constant. A constant that is not dyadic is replaced
    /// with a dyadic constant that gives the same rounded results, because no sum is between the two constants.
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
                let below = Rational::from_code(&constant.shifted(places).floor(), places);
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
            parts.iter().fold(constant.clone(), |sum, (ends, frac)| &sum + &Rational::from_code(side(ends), *frac))
        };
        let (low, high) = (total(|e| &e.0), total(|e| &e.1));
        let (low, high) = (low.code(out).unwrap_or_default(), high.code(out).unwrap_or_default());
        self.value(Op::Sum { terms: sum.into() }, low, high, out as i32)
    }

    /// Computes a quantised function of a value as a table.
    fn table(&mut self, x: &Value, function: &TableFunction, quantiser: &Quantiser) -> Result<Value, String> {
        let kif = Interval::new(x.low.clone(), x.high.clone(), x.frac).kif();
        if kif.width() > MAX_TABLE_BITS {
            return Err(format!("a table for {} bits", kif.width()));
        }
        let mut codes: Vec<i64> = Vec::new();
        let mut code = x.low.clone();
        while code <= x.high {
            let argument = Rational::from_code(&code, x.frac.into());
            let entry = function.code(&mut self.functions, &argument, quantiser)?;
            codes.push(entry.to_i64().ok_or("an entry beyond 64 bits")?);
            code += 1;
        }
        Ok(self.entries(x, &codes, quantiser.kif.frac))
    }

    /// Computes a look-up in these entries; the first entry belongs to the lowest value of `x`.
    fn entries(&mut self, x: &Value, codes: &[i64], frac: i32) -> Value {
        let (min, max) = (codes.iter().copied().min().unwrap_or(0), codes.iter().copied().max().unwrap_or(0));
        if i32::try_from(max).is_ok() && i32::try_from(min).is_ok() {
            let entries = codes.iter().map(|&c| c as i32).collect();
            return self.lookup(x, entries, min, max, frac);
        }
        // Entries beyond 32 bits: separate tables for the upper bits and for the lower 16 bits.
        let upper = self.lookup(x, codes.iter().map(|&c| (c >> 16) as i32).collect(), min >> 16, max >> 16, frac - 16);
        let lower = self.lookup(x, codes.iter().map(|&c| (c & 0xffff) as i32).collect(), 0, 0xffff, frac);
        let terms = [upper.id, lower.id].map(|value| Term { value, shift: 0, neg: false });
        self.value(Op::Sum { terms: terms.into() }, min.into(), max.into(), frac)
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

    /// Quantises `max(x, 0)`. A mode rounds all non-negative numbers by one rule, and this rule rounds no negative
    /// number to a positive one, so rounding by this rule before the ReLU gives the same result.
    fn rectified(&mut self, x: &Value, quantiser: &Quantiser) -> Value {
        let rounded = self.round(x, quantiser.kif.frac, quantiser.round.for_positive());
        let rectified = self.relu(&rounded);
        self.overflow(&rectified, quantiser)
    }

    /// Quantises a value; the range is that of the whole type.
    fn quantise(&mut self, x: &Value, quantiser: &Quantiser) -> Value {
        let rounded = self.round(x, quantiser.kif.frac, quantiser.round);
        self.overflow(&rounded, quantiser)
    }

    /// Rounds a value to `frac` fractional bits: the floor of the value plus the summand of the mode for its sign.
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
        let end = |code: &BigInt| Rational::from_code(code, dropped.into()).round(round);
        self.value(Op::Quantise { x: moved.id, shift: 0 }, end(&x.low), end(&x.high), frac)
    }

    /// Rounds to the nearest value, ties to even: adds a half and takes the floor. At a tie all dropped bits are then
    /// zero, and the last bit of the result is cleared.
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
        let end = |code: &BigInt| Rational::from_code(code, dropped.into()).round(Round::HalfEven);
        self.value(Op::Add { a: even.id, b: last.id, shift: 0 }, end(&x.low), end(&x.high), frac)
    }

    /// Computes `x` plus a constant, given as a raw integer value with the fractional bits of `x`.
    fn plus(&mut self, x: &Value, code: &BigInt) -> Value {
        if code.is_zero() {
            return x.clone();
        }
        let op = Op::AddConst { x: x.id, value: Code::from(code), shift: x.frac };
        self.value(op, &x.low + code, &x.high + code, x.frac)
    }

    /// Applies the overflow mode to a rounded value.
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
        // Bounds in steps of the type.
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
            // The value is already limited by the upper bound; larger values are not below the lower bound either.
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

    /// Computes one bit that is set if a value is negative.
    fn is_negative(&mut self, x: &Value) -> Value {
        if !x.low.is_negative() {
            return self.constant(BigInt::ZERO, 0);
        }
        let (yes, no) = (self.constant(BigInt::one(), 0), self.constant(BigInt::ZERO, 0));
        let op = Op::Mux { cond: x.id, on_true: yes.id, on_false: no.id, shift: 0 };
        self.value(op, BigInt::ZERO, BigInt::one(), 0)
    }
}
