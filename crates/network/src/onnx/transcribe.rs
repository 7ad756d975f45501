//! Specification program of a network for proofs, with which the hardware is compared.
//!
//! The program is built directly from the kernels, without code of the lowering. Every sum is one operation over the
//! digits of its weights. A quantiser is a table of the reference evaluator's results for all integers, a count of
//! comparisons with thresholds that the reference evaluator determines, or the floor of a sum or quotient, as section 1
//! of `docs/network.md` defines rounding. Tests compare the reference evaluator with this program and with the
//! lowering.

use super::front::{Front, Start};
use super::golden::code_of;
use super::kernel::{Binary, Codes, Dot, Kernel, Quant, Step, Trunc, Unary};
use super::{Network, ValueSource};
use crate::digits;
use crate::exact::Rational;
use crate::function::{Function, Functions};
use crate::port::Unit;
use crate::quantise::{Overflow, Quantiser, Round};
use crate::reciprocal::Division;
use alir_core::ir::{BinaryBits, Builder, Limits, Model, Op, Output, Table, Term, UnaryBits, ValueId};
use alir_core::num::{Code, Interval};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// Largest width of an integer for which a quantiser is a table.
const TABLE_BITS: u64 = 10;
/// Number of steps up to which a quantiser is a count of comparisons, even if a shift is possible.
const FEW_STEPS: u32 = 8;
/// Maximum number of comparisons of a quantiser; with more steps it is a division.
const MAX_COMPARISONS: u32 = 4096;
/// Maximum number of entries of a function's table. A caller that needs a proof has lowered the network with a lower
/// limit.
const MAX_ENTRIES: u64 = 1 << 24;
/// Maximum width of a value in bits.
const MAX_WIDTH: u64 = 4096;

/// Value of the program read as an integer: the real value times `2^frac`, with the bounds of the integer.
#[derive(Clone)]
struct Whole {
    id: ValueId,
    frac: i32,
    low: BigInt,
    high: BigInt,
}

/// Affine function of an integer, optionally clamped (`min(max(whole * unit + offset, ends.0), ends.1)`), or a
/// constant.
#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "nearly all numbers are of the large variant")]
enum Number {
    Known(Rational),
    Of { whole: Whole, unit: Rational, offset: Rational, ends: (Option<Rational>, Option<Rational>) },
}

/// Builds the specification program of a network. Inputs are raw integer values of the ports, outputs are raw integer
/// values in `units` within the intervals `types`.
///
/// # Errors
/// If a value exceeds the limits of programs.
pub(super) fn transcribe(
    network: &Network,
    front: &Front,
    units: &[Unit],
    types: &[Interval],
) -> Result<Model, String> {
    let mut builder = Builder::new(vec![0; front.inputs.len()]);
    builder.limits(Limits::derived());
    let mut writer =
        Writer { network, builder, functions: Functions::new(), values: vec![None; network.tensors.len()] };
    writer.inputs(front);
    for step in &network.steps {
        let known = |&t: &usize| writer.values[t].is_some() || network.constant(t).is_some();
        if writer.values[step.output].is_some() || !step.inputs.iter().all(known) {
            continue;
        }
        let result = writer.step(&step.kernel, &step.inputs, network.tensors[step.output].shape.iter().product());
        writer.values[step.output] = Some(result.map_err(|e| format!("{}: {e}", step.place))?);
    }
    for (e, (unit, interval)) in units.iter().zip(types).enumerate() {
        let number = writer.element(network.output.tensor, e as u32);
        writer.output(&number, unit, interval)?;
    }
    writer.builder.finish().map_err(|problems| format!("the network as a program: {:?}", problems.first()))
}

struct Writer<'a> {
    network: &'a Network,
    builder: Builder,
    functions: Functions,
    values: Vec<Option<Vec<Number>>>,
}

fn ratio(a: &Rational, b: &Rational) -> Rational {
    a.checked_div(b).expect("units and scales are not zero")
}

/// Returns the largest number of which all given numbers are integer multiples.
fn measure<'a>(numbers: impl Iterator<Item = &'a Rational>) -> Rational {
    let (mut num, mut den) = (BigInt::ZERO, BigInt::one());
    for number in numbers.filter(|n| !n.is_zero()) {
        num = num.gcd(&number.numerator());
        den = den.lcm(&number.denominator());
    }
    // For fractions n/d and m/e in lowest terms, the result is gcd(n, m) / lcm(d, e).
    if num.is_zero() { Rational::one() } else { Rational::new(num, &den).expect("not zero") }
}

impl Number {
    fn affine(&self, factor: &Rational, summand: &Rational) -> Number {
        let map = |x: &Rational| &(x * factor) + summand;
        match self {
            Number::Known(x) => Number::Known(map(x)),
            Number::Of { .. } if factor.is_zero() => Number::Known(summand.clone()),
            Number::Of { whole, unit, offset, ends } => {
                let mut ends = (ends.0.as_ref().map(map), ends.1.as_ref().map(map));
                if factor.is_negative() {
                    ends = (ends.1, ends.0);
                }
                Number::Of { whole: whole.clone(), unit: unit * factor, offset: map(offset), ends }
            }
        }
    }

    fn at(&self, v: &BigInt) -> Rational {
        match self {
            Number::Known(x) => x.clone(),
            Number::Of { unit, offset, ends, .. } => {
                let x = &(&Rational::from(v.clone()) * unit) + offset;
                let x = if ends.0.as_ref().is_some_and(|low| *low > x) { ends.0.clone().expect("some") } else { x };
                if ends.1.as_ref().is_some_and(|high| *high < x) { ends.1.clone().expect("some") } else { x }
            }
        }
    }

    /// Returns the number without clamping to its ends.
    fn bare(&self) -> Number {
        match self.clone() {
            Number::Of { whole, unit, offset, .. } => Number::Of { whole, unit, offset, ends: (None, None) },
            known => known,
        }
    }

    fn clip(&self, low: Option<&Rational>, high: Option<&Rational>) -> Number {
        let mut number = self.clone();
        if let Some(low) = low {
            number = number.not_below(low);
        }
        if let Some(high) = high {
            // min(x, h) = -max(-x, -h)
            let (zero, minus) = (Rational::zero(), -&Rational::one());
            number = number.affine(&minus, &zero).not_below(&-high).affine(&minus, &zero);
        }
        number
    }

    fn not_below(&self, least: &Rational) -> Number {
        let raised = |x: &Rational| if x < least { least.clone() } else { x.clone() };
        match self {
            Number::Known(x) => Number::Known(raised(x)),
            Number::Of { whole, unit, offset, ends } => {
                let low = ends.0.as_ref().map_or(least.clone(), raised);
                let ends = (Some(low), ends.1.as_ref().map(raised));
                Number::Of { whole: whole.clone(), unit: unit.clone(), offset: offset.clone(), ends }
            }
        }
    }
}

impl Writer<'_> {
    fn inputs(&mut self, front: &Front) {
        let mut ports = Vec::new();
        for (k, (input, (low, high))) in front.inputs.iter().zip(&front.ranges).enumerate() {
            let frac = input.kif.frac;
            let whole = self.op(Op::Input { input: k as u32 }, low.clone(), high.clone(), frac);
            let unit = input.unit.scale.shifted(-i64::from(frac));
            ports.push(if low == high {
                Number::Known(input.unit.value(low, frac.into()))
            } else {
                Number::Of { whole, unit, offset: input.unit.offset.clone(), ends: (None, None) }
            });
        }
        for (&tensor, starts) in &front.starts {
            let number = |start: &Start| match start {
                Start::Port(k) => ports[*k as usize].clone(),
                Start::Constant(value) => Number::Known(value.clone()),
            };
            self.values[tensor] = Some(starts.iter().map(number).collect());
        }
    }

    fn op(&mut self, op: Op, low: BigInt, high: BigInt, frac: i32) -> Whole {
        let id = self.builder.op(op, Interval::new(low.clone(), high.clone(), frac));
        Whole { id, frac, low, high }
    }

    fn constant(&mut self, value: &BigInt) -> Whole {
        self.op(Op::Const { value: Code::from(value) }, value.clone(), value.clone(), 0)
    }

    fn element(&self, tensor: usize, element: u32) -> Number {
        match &self.network.tensors[tensor].source {
            ValueSource::Constant(value) => Number::Known(value.values[element as usize].clone()),
            ValueSource::Computed => self.values[tensor].as_ref().expect("made before")[element as usize].clone(),
        }
    }

    fn step(&mut self, kernel: &Kernel, inputs: &[usize], count: usize) -> Result<Vec<Number>, String> {
        let zero = Rational::zero();
        let mut results = Vec::with_capacity(count);
        if let Kernel::Dot(dot) = kernel {
            return self.dot(dot, inputs, count);
        }
        for k in 0..count {
            let own = |writer: &Writer| writer.element(inputs[0], k as u32);
            results.push(match kernel {
                Kernel::Move(sources) => match sources[k] {
                    None => Number::Known(zero.clone()),
                    Some((input, element)) => self.element(inputs[input as usize], element),
                },
                Kernel::Binary(operation, a, b) => {
                    let (a, b) = (self.element(inputs[0], a[k]), self.element(inputs[1], b[k]));
                    self.binary(*operation, &a, &b)?
                }
                Kernel::Extreme { max, parts } => {
                    let all = parts.iter().zip(inputs).map(|(part, &t)| self.element(t, part[k])).collect();
                    self.extreme(all, *max)?
                }
                Kernel::MaxOf(windows) => {
                    let all = windows[k].iter().map(|&e| self.element(inputs[0], e)).collect();
                    self.extreme(all, true)?
                }
                Kernel::SumOf(windows) => {
                    let (window, factor) = &windows[k];
                    let terms = window.iter().map(|&e| (factor.clone(), self.element(inputs[0], e))).collect();
                    self.sum(terms)?
                }
                Kernel::Scale { channel, factor, summand } => {
                    let c = channel[k] as usize;
                    own(self).affine(&factor[c], &summand[c])
                }
                Kernel::Unary(operation) => {
                    let x = own(self);
                    self.unary(operation, x)?
                }
                Kernel::Quant(quant) => self.quant(quant, inputs[0], k)?,
                Kernel::Trunc(trunc) => self.trunc(trunc, inputs[0], k)?,
                Kernel::Dot(_) => return Err("a matrix is not made element by element".to_owned()),
            });
        }
        Ok(results)
    }

    fn dot(&mut self, dot: &Dot, inputs: &[usize], count: usize) -> Result<Vec<Number>, String> {
        let mut results = vec![Number::Known(Rational::zero()); count];
        let (vector, matrix) = (inputs[dot.vector], inputs[1 - dot.vector]);
        for group in &dot.groups {
            for (n, &output) in group.outputs.iter().enumerate() {
                let mut terms = Vec::new();
                for &(row, element) in &group.taps {
                    let weight = self.element(matrix, group.weight(row, n) as u32);
                    let x = self.element(vector, element);
                    terms.push((Rational::one(), self.binary(Binary::Mul, &x, &weight)?));
                }
                results[output as usize] = self.sum(terms)?.affine(&dot.factor, &Rational::zero());
            }
        }
        if let Some((elements, factor)) = &dot.bias {
            for (result, &element) in results.iter_mut().zip(elements) {
                let bias = self.element(inputs[2], element).affine(factor, &Rational::zero());
                *result = self.binary(Binary::Add, result, &bias)?;
            }
        }
        Ok(results)
    }

    fn binary(&mut self, operation: Binary, a: &Number, b: &Number) -> Result<Number, String> {
        let (zero, one) = (Rational::zero(), Rational::one());
        let minus = -&one;
        match (operation, a, b) {
            (Binary::Add, _, Number::Known(c)) => Ok(a.affine(&one, c)),
            (Binary::Add, Number::Known(c), _) => Ok(b.affine(&one, c)),
            (Binary::Add, ..) => self.sum(vec![(one.clone(), a.clone()), (one, b.clone())]),
            (Binary::Sub, ..) => {
                let b = b.affine(&minus, &zero);
                self.binary(Binary::Add, a, &b)
            }
            (Binary::Mul, _, Number::Known(c)) => Ok(a.affine(c, &zero)),
            (Binary::Mul, Number::Known(c), _) => Ok(b.affine(c, &zero)),
            (Binary::Mul, ..) => self.product(a, b),
            (Binary::Div, _, Number::Known(c)) => Ok(a.affine(&ratio(&one, c), &zero)),
            (Binary::Div, ..) => Err("the divisor must be constant".to_owned()),
        }
    }

    fn unary(&mut self, operation: &Unary, x: Number) -> Result<Number, String> {
        let zero = Rational::zero();
        match operation {
            Unary::Neg => Ok(x.affine(&-&Rational::one(), &zero)),
            Unary::Relu => Ok(x.clip(Some(&zero), None)),
            Unary::Clip(low, high) => Ok(x.clip(low.as_ref(), high.as_ref())),
            Unary::Leaky(factor) => {
                // max(x, 0) + factor * min(x, 0)
                let (above, below) = (x.clip(Some(&zero), None), x.clip(None, Some(&zero)));
                self.sum(vec![(Rational::one(), above), (factor.clone(), below)])
            }
            Unary::Power(exponent) => {
                let x = self.unclipped(&x)?;
                let mut power = x.clone();
                for _ in 1..*exponent {
                    power = self.product(&power, &x)?;
                }
                Ok(power)
            }
            Unary::Root => Err("roots of constants only are supported".to_owned()),
            Unary::Function(_) => Ok(x),
        }
    }

    /// Returns the sum of `factor * number` over all terms. The factors become integer multiples of a common unit.
    fn sum(&mut self, terms: Vec<(Rational, Number)>) -> Result<Number, String> {
        let mut offset = Rational::zero();
        let mut parts: Vec<(Whole, Rational)> = Vec::new();
        for (factor, number) in terms {
            match self.unclipped(&number)? {
                Number::Known(x) => offset = &offset + &(&x * &factor),
                Number::Of { whole, unit, offset: own, .. } => {
                    offset = &offset + &(&own * &factor);
                    let factor = &unit * &factor;
                    match parts.iter_mut().find(|(other, _)| other.id == whole.id && other.frac == whole.frac) {
                        Some((_, sum)) => *sum = &*sum + &factor,
                        None => parts.push((whole, factor)),
                    }
                }
            }
        }
        parts.retain(|(_, factor)| !factor.is_zero());
        let unit = measure(parts.iter().map(|(_, factor)| factor));
        let integers: Vec<(Whole, BigInt)> =
            parts.into_iter().map(|(whole, factor)| (whole, ratio(&factor, &unit).numerator())).collect();
        let whole = self.whole_sum(&integers, &BigInt::ZERO)?;
        Ok(numbered(whole, unit, offset))
    }

    /// Returns the sum of integer multiples and a constant integer.
    fn whole_sum(&mut self, terms: &[(Whole, BigInt)], summand: &BigInt) -> Result<Whole, String> {
        if let [(whole, factor)] = terms
            && factor.is_one()
            && summand.is_zero()
        {
            return Ok(whole.clone());
        }
        let mut sum = Vec::new();
        let (mut low, mut high) = (summand.clone(), summand.clone());
        for (whole, factor) in terms {
            sum.extend(digits::terms(whole.id, factor, whole.frac));
            let (a, b) = (&whole.low * factor, &whole.high * factor);
            low += (&a).min(&b);
            high += (&a).max(&b);
        }
        if low.bits().max(high.bits()) > MAX_WIDTH {
            return Err(format!("a value of more than {MAX_WIDTH} bits"));
        }
        if !summand.is_zero() {
            let constant = self.constant(summand);
            sum.push(Term { value: constant.id, shift: 0, neg: false });
        }
        if sum.is_empty() {
            return Ok(self.constant(&BigInt::ZERO));
        }
        Ok(self.op(Op::Sum { terms: sum.into() }, low, high, 0))
    }

    /// Returns `whole * factor + summand` for integers.
    fn line(&mut self, whole: &Whole, factor: &BigInt, summand: &BigInt) -> Result<Whole, String> {
        self.whole_sum(&[(whole.clone(), factor.clone())], summand)
    }

    fn product(&mut self, a: &Number, b: &Number) -> Result<Number, String> {
        let (a, b) = (self.unclipped(a)?, self.unclipped(b)?);
        let (
            Number::Of { whole: whole_a, unit: unit_a, offset: offset_a, .. },
            Number::Of { whole: whole_b, unit: unit_b, offset: offset_b, .. },
        ) = (&a, &b)
        else {
            return self.binary(Binary::Mul, &a, &b);
        };
        let is_square = (whole_a.id, whole_a.frac, unit_a, offset_a) == (whole_b.id, whole_b.frac, unit_b, offset_b);
        let (unit_x, unit_y) = (measure([unit_a, offset_a].into_iter()), measure([unit_b, offset_b].into_iter()));
        let x = self.over(&a, &unit_x, &Rational::zero())?;
        let y = if is_square { x.clone() } else { self.over(&b, &unit_y, &Rational::zero())? };
        let corners = [&x.low * &y.low, &x.low * &y.high, &x.high * &y.low, &x.high * &y.high];
        let mut low = corners.iter().min().expect("four").clone();
        let high = corners.iter().max().expect("four").clone();
        if is_square {
            low = low.max(BigInt::ZERO);
        }
        let product = self.op(Op::Mul { a: x.id, b: y.id }, low, high, x.frac + y.frac);
        Ok(numbered(product, &unit_x * &unit_y, Rational::zero()))
    }

    /// Returns the integer of a number without ends, relative to a unit and an offset.
    fn over(&mut self, number: &Number, unit: &Rational, offset: &Rational) -> Result<Whole, String> {
        match number {
            Number::Known(x) => {
                let code = ratio(&(x - offset), unit);
                if !code.is_integer() {
                    return Err(format!("{x} is not a multiple of the unit {unit}"));
                }
                Ok(self.constant(&code.numerator()))
            }
            Number::Of { whole, unit: own, offset: start, .. } => {
                let (factor, summand) = (ratio(own, unit), ratio(&(start - offset), unit));
                if !factor.is_integer() || !summand.is_integer() {
                    return Err(format!("the unit {own} is not a multiple of {unit}"));
                }
                self.line(whole, &factor.numerator(), &summand.numerator())
            }
        }
    }

    /// Returns a bit that is 1 if the integer is at least the threshold.
    fn reaches(&mut self, whole: &Whole, threshold: &BigInt) -> Result<Whole, String> {
        let (zero, one) = (BigInt::ZERO, BigInt::one());
        if whole.low >= *threshold {
            return Ok(self.constant(&one));
        }
        if whole.high < *threshold {
            return Ok(self.constant(&zero));
        }
        let room = self.line(whole, &one, &-threshold)?;
        let (no, yes) = (self.constant(&zero), self.constant(&one));
        Ok(self.op(Op::Mux { cond: room.id, on_true: no.id, on_false: yes.id, shift: 0 }, zero, one, 0))
    }

    /// Returns `on_true` if the bit is 1, otherwise `on_false`.
    fn choose(&mut self, bit: &Whole, on_true: &Whole, on_false: &Whole) -> Whole {
        if bit.low == bit.high {
            return if bit.low.is_zero() { on_false.clone() } else { on_true.clone() };
        }
        let (low, high) =
            (on_true.low.clone().min(on_false.low.clone()), on_true.high.clone().max(on_false.high.clone()));
        let shift = on_false.frac - on_true.frac;
        let op = Op::Mux { cond: bit.id, on_true: on_true.id, on_false: on_false.id, shift };
        self.op(op, low, high, on_true.frac)
    }

    /// Returns the number without ends, after the ends are applied by operations.
    fn unclipped(&mut self, number: &Number) -> Result<Number, String> {
        let Number::Of { whole, unit, offset, ends } = number else { return Ok(number.clone()) };
        if ends.0.is_none() && ends.1.is_none() {
            return Ok(number.clone());
        }
        let bare = number.bare();
        let (first, last) = (bare.at(&whole.low), bare.at(&whole.high));
        let (least, most) = if first < last { (first, last) } else { (last, first) };
        let low = ends.0.clone().filter(|low| *low > least);
        let high = ends.1.clone().filter(|high| *high < most);
        let distances: Vec<Rational> = [&low, &high].into_iter().flatten().map(|end| end - offset).collect();
        let step = measure(distances.iter().chain([unit]));
        // The integer increases with the number, or decreases if the unit is negative.
        let step = if unit.is_negative() { -&step } else { step };
        let result = self.over(&bare, &step, offset)?;
        let end = |end: &Rational| ratio(&(end - offset), &step).numerator();
        let ends = (low.as_ref().map(end), high.as_ref().map(end));
        let (least, most) = if unit.is_negative() { (ends.1, ends.0) } else { ends };
        let (from, down, count) = match (least, most) {
            (None, None) => return Ok(bare),
            (Some(least), most) => {
                let above = self.line(&result, &BigInt::one(), &-&least)?;
                let above = self.not_negative(&above);
                let count = most.map_or(Ok(above.clone()), |most| self.limited(&above, &(most - &least)))?;
                (least, false, count)
            }
            (None, Some(most)) => {
                let below = self.line(&result, &-BigInt::one(), &most)?;
                (most, true, self.not_negative(&below))
            }
        };
        let offset = offset + &(&Rational::from(from) * &step);
        Ok(numbered(count, if down { -&step } else { step }, offset))
    }

    /// Returns `max(whole, 0)`.
    fn not_negative(&mut self, whole: &Whole) -> Whole {
        if !whole.low.is_negative() {
            return whole.clone();
        }
        self.op(Op::Relu { x: whole.id }, BigInt::ZERO, whole.high.clone().max(BigInt::ZERO), whole.frac)
    }

    /// Returns `min(whole, most)` for an integer that is not negative.
    fn limited(&mut self, whole: &Whole, most: &BigInt) -> Result<Whole, String> {
        if whole.high <= *most {
            return Ok(whole.clone());
        }
        let reached = self.reaches(whole, most)?;
        let top = self.constant(most);
        let chosen = self.choose(&reached, &top, whole);
        let op = Op::Quantise { x: chosen.id, shift: chosen.frac };
        Ok(self.op(op, BigInt::ZERO, most.clone(), 0))
    }

    /// Returns the minimum, or the maximum if `max` is set. Variable numbers are combined in pairs first, and constants
    /// last.
    fn extreme(&mut self, all: Vec<Number>, max: bool) -> Result<Number, String> {
        let (known, mut open): (Vec<Number>, Vec<Number>) =
            all.into_iter().partition(|n| matches!(n, Number::Known(_)));
        while open.len() > 1 {
            let mut next = Vec::new();
            for pair in open.chunks(2) {
                next.push(match pair {
                    [a, b] => self.extreme_of_two(a, b, max)?,
                    _ => pair[0].clone(),
                });
            }
            open = next;
        }
        let mut best = open.pop();
        for number in known {
            best = Some(match best {
                None => number,
                Some(best) => self.extreme_of_two(&best, &number, max)?,
            });
        }
        best.ok_or_else(|| "nothing to choose from".to_owned())
    }

    fn extreme_of_two(&mut self, a: &Number, b: &Number, max: bool) -> Result<Number, String> {
        match (a, b) {
            (x, Number::Known(c)) | (Number::Known(c), x) => {
                return Ok(if max { x.clip(Some(c), None) } else { x.clip(None, Some(c)) });
            }
            (Number::Of { ends, .. }, Number::Of { ends: same, .. }) if ends == same && *ends != (None, None) => {
                // Common ends of both numbers are applied to the result.
                let chosen = self.extreme_of_two(&a.bare(), &b.bare(), max)?;
                return Ok(chosen.clip(ends.0.as_ref(), ends.1.as_ref()));
            }
            _ => {}
        }
        let (a, b) = (self.unclipped(a)?, self.unclipped(b)?);
        let (Number::Of { unit: unit_a, offset: offset_a, .. }, Number::Of { unit: unit_b, offset: offset_b, .. }) =
            (&a, &b)
        else {
            return self.extreme_of_two(&a, &b, max);
        };
        let unit = measure([unit_a, unit_b, &(offset_a - offset_b)].into_iter());
        let offset = offset_a.clone();
        let (x, y) = (self.over(&a, &unit, &offset)?, self.over(&b, &unit, &offset)?);
        let difference = self.whole_sum(&[(x.clone(), BigInt::one()), (y.clone(), -BigInt::one())], &BigInt::ZERO)?;
        let x_is_larger = self.reaches(&difference, &BigInt::ZERO)?;
        let whole = if max { self.choose(&x_is_larger, &x, &y) } else { self.choose(&x_is_larger, &y, &x) };
        Ok(numbered(whole, unit, offset))
    }

    fn quant(&mut self, quant: &Quant, operand: usize, k: usize) -> Result<Number, String> {
        let x = self.element(operand, quant.operand[k]);
        let pending = self.network.tensors[operand].pending;
        self.rounded(&x, &quant.steps[quant.step[k] as usize], &quant.codes, pending)
    }

    fn trunc(&mut self, trunc: &Trunc, operand: usize, k: usize) -> Result<Number, String> {
        let x = self.element(operand, trunc.operand[k]);
        let step = &trunc.steps[trunc.step[k] as usize];
        let ones = Step { scale: Rational::one(), zero: BigInt::ZERO };
        let t = x.affine(&ratio(&Rational::one(), &step.from.scale), &step.from.zero.clone().into());
        let n = self.rounded(&t, &ones, &endless(&t, Round::HalfEven), None)?;
        let quotient = n.affine(&ratio(&Rational::one(), &step.ratio), &Rational::zero());
        let codes = match &step.clamp {
            Some((low, high)) => Codes::Round { low: low.clone(), high: high.clone(), round: trunc.round },
            None => endless(&quotient, trunc.round),
        };
        let y = self.rounded(&quotient, &ones, &codes, None)?;
        Ok(y.affine(&step.scale, &-&(&step.zero * &step.scale)))
    }

    /// Returns the quantised value of a number, or of a function of the number. The program computes the distance of
    /// the raw value from the raw value of the lowest integer.
    fn rounded(&mut self, x: &Number, step: &Step, codes: &Codes, pending: Option<Function>) -> Result<Number, String> {
        let Number::Of { whole, .. } = x else {
            let code = code_of(codes, step, &x.at(&BigInt::ZERO), pending, &mut self.functions)?;
            return Ok(Number::Known(step.value(&code)));
        };
        if let (Codes::Type(quantiser), None) = (codes, pending) {
            return self.typed(x, step, quantiser);
        }
        if pending.is_none()
            && let Some(whole) = x.all_whole(step, codes)
        {
            return Ok(whole);
        }
        let of_count = |count: Whole, from: &BigInt, down: bool| {
            // The raw values of a bipolar quantiser are -1 and 1; a bit selects one of them.
            let (unit, from) = match codes {
                Codes::Sign => (step.scale.shifted(1), from * 2 - 1),
                Codes::Round { .. } | Codes::Type(_) => (step.scale.clone(), from.clone()),
            };
            numbered(count, if down { -&unit } else { unit }, step.value(&from))
        };
        if let Some(function) = pending {
            if x.ends_drop_bits() {
                // The ends are applied by operations, so that the table has fewer entries.
                let x = self.unclipped(x)?;
                return self.rounded(&x, step, codes, pending);
            }
            let mut all = self.codes_of_all(x, whole, step, codes, Some(function))?;
            let mut least = all.iter().min().expect("a range is not empty").clone();
            // Entries are signed 32-bit numbers.
            if all.iter().any(|code| (code - &least).to_i32().is_none()) {
                least += BigInt::one() << 31u32;
            }
            all.iter_mut().for_each(|code| *code -= &least);
            return Ok(of_count(self.table(whole, &all)?, &least, false));
        }
        let at = |v: &BigInt| counted(codes, codes.code(step, &x.at(v)));
        let (first, last) = (at(&whole.low), at(&whole.high));
        let down = last < first;
        let span: BigInt = &whole.high - &whole.low;
        if span.bits() <= TABLE_BITS {
            let mut all = self.codes_of_all(x, whole, step, codes, None)?;
            all.iter_mut().for_each(|code| *code = (&*code - &first).abs());
            return Ok(of_count(self.table(whole, &all)?, &first, down));
        }
        if let Some((count, from_last)) = self.by_shift(x, whole, step, codes, (&first, &last))? {
            return Ok(if from_last { of_count(count, &last, !down) } else { of_count(count, &first, down) });
        }
        if (&last - &first).abs() > BigInt::from(MAX_COMPARISONS)
            && let Codes::Round { round, .. } = codes
        {
            return self.divided(x, step, *round, (first.min(last.clone()), last.max(at(&whole.low))));
        }
        let count = self.comparisons(whole, &at, (&first, &last))?;
        Ok(of_count(count, &first, down))
    }

    /// Returns the value quantised to a type.
    fn typed(&mut self, x: &Number, step: &Step, quantiser: &Quantiser) -> Result<Number, String> {
        let ((low, high), round) = (quantiser.codes(), quantiser.round);
        if matches!(quantiser.overflow, Overflow::Saturate | Overflow::SaturateSymmetric) {
            return self.rounded(x, step, &Codes::Round { low, high, round }, None);
        }
        let t = x.affine(&ratio(&Rational::one(), &step.scale), &Rational::zero());
        let rounded = self.rounded(x, step, &endless(&t, round), None)?;
        let rounded = self.unclipped(&rounded)?;
        let code = self.over(&rounded, &step.scale, &Rational::zero())?;
        if low <= code.low && code.high <= high {
            return Ok(rounded);
        }
        let code = if quantiser.overflow == Overflow::Wrap {
            self.op(Op::Quantise { x: code.id, shift: code.frac }, low, high, 0)
        } else {
            let nothing = self.constant(&BigInt::ZERO);
            let above = self.reaches(&code, &(&high + 1))?;
            let inside = self.reaches(&code, &low)?;
            let chosen = self.choose(&above, &nothing, &code);
            let chosen = self.choose(&inside, &chosen, &nothing);
            self.op(Op::Quantise { x: chosen.id, shift: chosen.frac }, low, high, 0)
        };
        Ok(numbered(code, step.scale.clone(), Rational::zero()))
    }

    /// Returns the raw value for each integer of the range, lowest integer first.
    fn codes_of_all(
        &mut self,
        x: &Number,
        whole: &Whole,
        step: &Step,
        codes: &Codes,
        pending: Option<Function>,
    ) -> Result<Vec<BigInt>, String> {
        let span = (&whole.high - &whole.low).to_u64().filter(|&s| s < MAX_ENTRIES).ok_or("a table too large")?;
        let code = |k| {
            let code = code_of(codes, step, &x.at(&(&whole.low + k)), pending, &mut self.functions)?;
            Ok(counted(codes, code))
        };
        (0..=span).map(code).collect()
    }

    /// Returns a table with a non-negative entry for each integer of the range, lowest integer first.
    fn table(&mut self, whole: &Whole, all: &[BigInt]) -> Result<Whole, String> {
        let entries: Option<Vec<i32>> = all.iter().map(ToPrimitive::to_i32).collect();
        let entries = entries.ok_or("an entry of a table of more than 32 bits")?;
        let most = entries.iter().copied().max().unwrap_or(0);
        let least = entries.iter().copied().min().unwrap_or(0);
        if most == least {
            return Ok(self.constant(&most.into()));
        }
        let out = Interval::new(i64::from(least), i64::from(most), 0);
        // The table is indexed by the raw value of the operand minus the lowest raw value.
        let table = self.builder.table(Table { entries, out, hash: String::new(), inp_width: 0 });
        let op = Op::Lookup { x: whole.id, table, base: Code::from(&whole.low) };
        Ok(self.op(op, least.into(), most.into(), 0))
    }

    /// Returns the value whose raw value is the rounded quotient of an integer and a constant, clamped to `least` and
    /// `most`.
    fn divided(
        &mut self,
        x: &Number,
        step: &Step,
        round: Round,
        (least, most): (BigInt, BigInt),
    ) -> Result<Number, String> {
        let Number::Of { whole, unit, offset, .. } = x else { return Err("the dividend is constant".to_owned()) };
        let (gain, bias) = (ratio(unit, &step.scale), &ratio(offset, &step.scale) + &Rational::from(step.zero.clone()));
        let divisor = gain.denominator().lcm(&bias.denominator());
        let numerator_of = |x: &Rational| (x * &Rational::from(divisor.clone())).numerator();
        let numerator = self.line(whole, &numerator_of(&gain), &numerator_of(&bias))?;
        let code = self.rounded_quotient(&numerator, &divisor, round)?;
        let count = self.line(&code, &BigInt::one(), &-&least)?;
        let count = self.within(&count, &(&most - &least))?;
        Ok(numbered(count, step.scale.clone(), step.value(&least)))
    }

    /// Returns the rounded quotient of an integer and a constant.
    fn rounded_quotient(&mut self, x: &Whole, divisor: &BigInt, round: Round) -> Result<Whole, String> {
        let (negative, positive) = match round {
            Round::HalfEven => {
                let up = self.floor_of_quotient(x, &Round::HalfUp.division_summands(divisor).1, divisor)?;
                let down = self.floor_of_quotient(x, &Round::HalfDown.division_summands(divisor).1, divisor)?;
                let odd = self.bit(&up, 0);
                return Ok(self.choose(&odd, &down, &up));
            }
            other => other.division_summands(divisor),
        };
        if negative == positive {
            return self.floor_of_quotient(x, &positive, divisor);
        }
        let from_zero_on = self.reaches(x, &BigInt::ZERO)?;
        let (on_negative, otherwise) = (self.constant(&negative), self.constant(&positive));
        let summand = self.choose(&from_zero_on, &otherwise, &on_negative);
        let moved = self.whole_sum(&[(x.clone(), BigInt::one()), (summand, BigInt::one())], &BigInt::ZERO)?;
        self.floor_of_quotient(&moved, &BigInt::ZERO, divisor)
    }

    /// Computes `floor((x + summand) / divisor)` as a product with a reciprocal of proved precision.
    fn floor_of_quotient(&mut self, x: &Whole, summand: &BigInt, divisor: &BigInt) -> Result<Whole, String> {
        let zeros = divisor.trailing_zeros().unwrap_or(0) as u32;
        let odd: BigInt = divisor >> zeros;
        let moved = self.line(x, &BigInt::one(), summand)?;
        let floor = Op::Quantise { x: moved.id, shift: moved.frac - zeros as i32 };
        let whole = self.op(floor, &moved.low >> zeros, &moved.high >> zeros, 0);
        let division = Division::new(&odd, &whole.low, &whole.high);
        let product = self.line(&whole, &division.factor, &division.offset)?;
        let floor = Op::Quantise { x: product.id, shift: product.frac - division.shift as i32 };
        Ok(self.op(floor, whole.low.div_floor(&odd), whole.high.div_floor(&odd), 0))
    }

    /// Returns the distance in raw values from `first` to the raw value of the integer. The distance grows by one or
    /// more at each threshold.
    fn comparisons(
        &mut self,
        whole: &Whole,
        at: &dyn Fn(&BigInt) -> BigInt,
        (first, last): (&BigInt, &BigInt),
    ) -> Result<Whole, String> {
        let steps = (last - first).abs();
        if steps > BigInt::from(MAX_COMPARISONS) {
            return Err(format!("a quantiser with {steps} steps, above the limit"));
        }
        let count = |v: &BigInt| (at(v) - first).abs();
        let mut bits = Vec::new();
        let mut passed = BigInt::ZERO;
        while passed != steps {
            // Bisects for the first integer beyond this raw value, as raw values are monotone.
            let (mut below, mut beyond) = (whole.low.clone(), whole.high.clone());
            while &beyond - &below > BigInt::one() {
                let middle: BigInt = (&below + &beyond) >> 1;
                if count(&middle) > passed { beyond = middle } else { below = middle }
            }
            let jump = count(&beyond) - &passed;
            bits.push((self.reaches(whole, &beyond)?, jump.clone()));
            passed += jump;
        }
        self.whole_sum(&bits, &BigInt::ZERO)
    }

    /// Returns the distance in raw values as a clamped floor; `None` if the scaled input has no fixed number of
    /// fractional bits, or if the quantiser has few steps. The flag is `true` if the distance is counted down from the
    /// last raw value. If halves are rounded to even values, the count starts at an even end if one exists: relative to
    /// an even value the rule is the same as relative to zero.
    fn by_shift(
        &mut self,
        x: &Number,
        whole: &Whole,
        step: &Step,
        codes: &Codes,
        (first, last): (&BigInt, &BigInt),
    ) -> Result<Option<(Whole, bool)>, String> {
        let Codes::Round { round, .. } = codes else { return Ok(None) };
        let Number::Of { unit, offset, .. } = x else { return Ok(None) };
        let (gain, bias) = (ratio(unit, &step.scale), &ratio(offset, &step.scale) + &Rational::from(step.zero.clone()));
        let (Some(gain_frac), Some(bias_frac)) = (gain.frac(), bias.frac()) else { return Ok(None) };
        let most = (last - first).abs();
        if most <= BigInt::from(FEW_STEPS) {
            return Ok(None);
        }
        let frac = gain_frac.max(bias_frac).max(0);
        let (Some(mut factor), Some(mut summand)) = (gain.code(frac), bias.code(frac)) else { return Ok(None) };
        let from_last = *round == Round::HalfEven && first.is_odd() && last.is_even();
        let mut start = if from_last { last } else { first }.clone();
        let (mut round, dropped) = (*round, frac as u32);
        // The distance is `round((whole * factor + summand) / 2^dropped) - start`. If it would be negative, factor,
        // summand and start are negated, and the rounding mode is mirrored.
        if factor.is_negative() != from_last {
            (factor, summand, start, round) = (-factor, -summand, -start, round.mirrored());
        }
        let below = factor.trailing_zeros().unwrap_or(0).min(dropped.into()) as u32;
        let kept = dropped - below;
        let depends = |round: Round| {
            let (negative, positive) = round.summands(dropped);
            negative != positive
        };
        if kept == 0 || depends(round) {
            let sum = self.line(whole, &factor, &summand)?;
            let rounded = self.round(&sum, dropped, round)?;
            let count = self.line(&rounded, &BigInt::one(), &-start)?;
            return Ok(Some((self.within(&count, &most)?, from_last)));
        }
        // A tie is possible only if the low `below` bits of the summand are zero, because those of the factor are zero.
        let mask: BigInt = (BigInt::one() << below) - 1;
        let ties = round == Round::HalfEven && (&summand & mask).is_zero();
        let moved = match round {
            Round::HalfEven => BigInt::one() << (dropped - 1),
            _ => round.summands(dropped).0,
        };
        let summand: BigInt = (summand + moved - (&start << dropped)) >> below;
        let sum = self.line(whole, &(factor >> below), &summand)?;
        let floor = Op::Quantise { x: sum.id, shift: sum.frac - kept as i32 };
        let mut count = self.op(floor, &sum.low >> kept, &sum.high >> kept, 0);
        if ties {
            count = self.without_ties(&sum, count, kept, start.is_odd())?;
        }
        Ok(Some((self.within(&count, &most)?, from_last)))
    }

    /// Corrects `count`, which is `sum / 2^dropped` rounded half up, to round half to even (to odd with `odd`): after a
    /// tie with the wrong parity it is decremented.
    fn without_ties(&mut self, sum: &Whole, count: Whole, dropped: u32, odd: bool) -> Result<Whole, String> {
        let (zero, one) = (BigInt::ZERO, BigInt::one());
        let most = (&one << dropped) - 1;
        let rest = self.op(Op::Quantise { x: sum.id, shift: sum.frac }, zero.clone(), most, 0);
        let no_tie = self.op(Op::Unary { op: UnaryBits::Any, x: rest.id }, zero.clone(), one.clone(), 0);
        let count = if odd { self.line(&count, &one, &one)? } else { count };
        let half = Op::Quantise { x: count.id, shift: count.frac - 1 };
        let half = self.op(half, &count.low >> 1, &count.high >> 1, 0);
        let last = self.bit(&count, 0);
        let kept = Op::Binary { op: BinaryBits::And, a: last.id, b: no_tie.id, shift: 0 };
        let kept = self.op(kept, zero, one.clone(), 0);
        let even = self.whole_sum(&[(half, BigInt::from(2)), (kept, one)], &BigInt::ZERO)?;
        if odd { self.line(&even, &BigInt::one(), &-BigInt::one()) } else { Ok(even) }
    }

    /// Returns the integer clamped to 0 and `most`.
    fn within(&mut self, whole: &Whole, most: &BigInt) -> Result<Whole, String> {
        let above = self.not_negative(whole);
        self.limited(&above, most)
    }

    /// Returns the integer rounded by dropping bits: the floor of its sum with the mode's summand, which may differ for
    /// negative integers.
    fn round(&mut self, x: &Whole, dropped: u32, round: Round) -> Result<Whole, String> {
        if dropped == 0 {
            return Ok(x.clone());
        }
        let one = BigInt::one();
        let (negative, positive) = round.summands(dropped);
        let mut moved = if negative == positive || !x.low.is_negative() {
            self.line(x, &one, &positive)?
        } else {
            let from_zero_on = self.reaches(x, &BigInt::ZERO)?;
            let (on_negative, otherwise) = (self.constant(&negative), self.constant(&positive));
            let added = self.choose(&from_zero_on, &otherwise, &on_negative);
            self.whole_sum(&[(x.clone(), one.clone()), (added, one.clone())], &BigInt::ZERO)?
        };
        if round == Round::HalfEven {
            // A tie rounds up if the floor is odd.
            let odd = self.bit(x, dropped);
            moved = self.whole_sum(&[(moved, one.clone()), (odd, one)], &BigInt::ZERO)?;
        }
        let end = |code: &BigInt| Rational::from_code(code, dropped.into()).round(round);
        let floor = Op::Quantise { x: moved.id, shift: moved.frac - dropped as i32 };
        Ok(self.op(floor, end(&x.low), end(&x.high), 0))
    }

    fn bit(&mut self, x: &Whole, position: u32) -> Whole {
        self.op(Op::Quantise { x: x.id, shift: x.frac - position as i32 }, BigInt::ZERO, BigInt::one(), 0)
    }

    /// Appends an output as a raw value in the interval of the port, which may be narrower than the range derived here.
    fn output(&mut self, number: &Number, unit: &Unit, interval: &Interval) -> Result<(), String> {
        let number = self.unclipped(number)?;
        let step = unit.scale.shifted((-interval.frac).into());
        let whole = self.over(&number, &step, &unit.offset)?;
        let output = if interval.kif().is_zero() {
            Output { source: None, shift: 0, neg: false }
        } else {
            let op = Op::Quantise { x: whole.id, shift: whole.frac - interval.frac };
            let typed = self.builder.op(op, interval.clone());
            Output { source: Some(typed), shift: 0, neg: false }
        };
        self.builder.output(output);
        Ok(())
    }
}

impl Number {
    /// Returns `true` if applying the ends by operations reduces the width of the table input.
    fn ends_drop_bits(&self) -> bool {
        let Number::Of { whole, unit, offset, ends } = self else { return false };
        let span: BigInt = &whole.high - &whole.low;
        if span.bits() <= TABLE_BITS || *ends == (None, None) {
            return false;
        }
        let (first, last) = (self.at(&whole.low), self.at(&whole.high));
        let distances: Vec<Rational> = [&ends.0, &ends.1].into_iter().flatten().map(|end| end - offset).collect();
        let step = measure(distances.iter().chain([unit]));
        ratio(&(&last - &first), &step).numerator().bits() < span.bits()
    }

    /// Returns the result for a quantiser whose scaled inputs are all integers: the clamped input; `None` for others.
    fn all_whole(&self, step: &Step, codes: &Codes) -> Option<Number> {
        let (Number::Of { unit, offset, ends, .. }, Codes::Round { low, high, .. }) = (self, codes) else {
            return None;
        };
        let whole = |y: &Rational| ratio(y, &step.scale).is_integer();
        let ends_too = [&ends.0, &ends.1].into_iter().flatten().all(whole);
        (whole(unit) && whole(offset) && ends_too).then(|| self.clip(Some(&step.value(low)), Some(&step.value(high))))
    }
}

/// Returns a raw value; for a bipolar quantiser, 0 for -1 and 1 for 1.
fn counted(codes: &Codes, code: BigInt) -> BigInt {
    if matches!(codes, Codes::Sign) { (code + 1) / 2 } else { code }
}

fn numbered(whole: Whole, unit: Rational, offset: Rational) -> Number {
    if whole.low == whole.high {
        return Number::Known(&(&Rational::from(whole.low) * &unit) + &offset);
    }
    Number::Of { whole, unit, offset, ends: (None, None) }
}

/// Returns a quantiser that does not clamp: its ends are beyond every value of the number.
fn endless(x: &Number, round: Round) -> Codes {
    let (a, b) = match x {
        Number::Known(x) => (x.clone(), x.clone()),
        Number::Of { whole, .. } => (x.at(&whole.low), x.at(&whole.high)),
    };
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    Codes::Round { low: low.floor() - 2, high: high.ceil() + 2, round }
}
