//! Reference evaluator: the contract, line by line, in exact rational numbers. It is slow and plain; all other
//! implementations are checked against it.

use super::front::{Front, Start};
use super::kernel::{Binary, Codes, Dot, Kernel, Quant, Step, Trunc, TruncStep, Unary};
use super::tensor::Tensor;
use super::{Network, Refusal, ValueSource};
use crate::exact::Rational;
use crate::function::{Function, Functions};
use crate::quantise::Round;
use crate::reciprocal::{inverse_code, inverse_root_code};
use num_bigint::BigInt;
use num_traits::One;
use std::collections::BTreeMap;

/// Maximum width of a number in bits: products of activations double it with every layer.
const MAX_NUMBER: u64 = 65_536;

/// Returns the outputs of a network for the real values of its input's elements.
///
/// # Errors
/// If a value is too wide or a function cannot be decided; the error has the place of the node.
pub fn run(network: &Network, inputs: &[Rational]) -> Result<Vec<Rational>, Refusal> {
    run_from(network, [(network.input.tensor, inputs.to_vec())].into())
}

/// Returns the outputs of a network for the raw values at its port; operations before the port are not computed.
///
/// # Errors
/// As [`run`].
pub fn run_codes(network: &Network, front: &Front, codes: &[BigInt]) -> Result<Vec<Rational>, Refusal> {
    let value = |k: u32| {
        let element = &front.inputs[k as usize];
        element.unit.value(&codes[k as usize], element.kif.frac.into())
    };
    let of = |start: &Start| match start {
        Start::Port(k) => value(*k),
        Start::Constant(value) => value.clone(),
    };
    let starts = front.starts.iter().map(|(&tensor, starts)| (tensor, starts.iter().map(of).collect()));
    run_from(network, starts.collect())
}

/// Returns the outputs, where the values of some tensors are given.
fn run_from(network: &Network, given: BTreeMap<usize, Vec<Rational>>) -> Result<Vec<Rational>, Refusal> {
    let mut values: Vec<Option<Tensor>> = vec![None; network.tensors.len()];
    for (tensor, elements) in given {
        values[tensor] = Some(Tensor { shape: network.tensors[tensor].shape.clone(), values: elements });
    }
    let mut functions = Functions::new();
    for (number, step) in network.steps.iter().enumerate() {
        let known = |&t: &usize| values[t].is_some() || network.constant(t).is_some();
        // Steps before the port have no values.
        if values[step.output].is_some() || !step.inputs.iter().all(known) {
            continue;
        }
        let operands: Vec<&Tensor> = step.inputs.iter().map(|&t| network.value_of(t, &values)).collect();
        let pending = step.inputs.first().and_then(|&t| network.tensors[t].pending);
        let result = evaluate(&step.kernel, &operands, &network.tensors[step.output].shape, pending, &mut functions);
        values[step.output] = Some(result.map_err(|message| Refusal::new(step.place.clone(), message))?);
        for &read in &step.inputs {
            if network.last_use(read) == Some(number) {
                values[read] = None;
            }
        }
    }
    Ok(network.value_of(network.output.tensor, &values).values.clone())
}

impl Network {
    fn value_of<'a>(&'a self, tensor: usize, values: &'a [Option<Tensor>]) -> &'a Tensor {
        match &self.tensors[tensor].source {
            ValueSource::Constant(value) => value,
            ValueSource::Computed => values[tensor].as_ref().expect("steps are in order of their use"),
        }
    }
}

/// Returns the result of a node for the values of its operands. `pending` is a function that still has to be applied to
/// the first operand: a real function has no exact values, only its quantised result is exact.
///
/// # Errors
/// Returns a message if the node has no result.
pub(super) fn evaluate(
    kernel: &Kernel,
    operands: &[&Tensor],
    shape: &[usize],
    pending: Option<Function>,
    functions: &mut Functions,
) -> Result<Tensor, String> {
    let of = |input: usize, element: u32| &operands[input].values[element as usize];
    let values: Result<Vec<Rational>, String> = match kernel {
        Kernel::Move(sources) => Ok(sources
            .iter()
            .map(|source| source.map_or_else(Rational::zero, |(input, element)| of(input as usize, element).clone()))
            .collect()),
        Kernel::Binary(operation, a, b) => {
            a.iter().zip(b).map(|(&a, &b)| binary(*operation, of(0, a), of(1, b))).collect()
        }
        Kernel::Extreme { max, parts } => Ok((0..parts[0].len())
            .map(|k| {
                let all = parts.iter().enumerate().map(|(input, part)| of(input, part[k]));
                if *max { all.max() } else { all.min() }.expect("at least one operand").clone()
            })
            .collect()),
        Kernel::Unary(operation) => operands[0].values.iter().map(|x| unary(operation, x)).collect(),
        Kernel::Scale { channel, factor, summand } => Ok(operands[0]
            .values
            .iter()
            .zip(channel)
            .map(|(x, &c)| &(x * &factor[c as usize]) + &summand[c as usize])
            .collect()),
        Kernel::Dot(dot) => Ok(sums_of_products(dot, operands, shape.iter().product())),
        Kernel::MaxOf(windows) => Ok(windows
            .iter()
            .map(|window| window.iter().map(|&e| of(0, e)).max().expect("no window is empty").clone())
            .collect()),
        Kernel::SumOf(windows) => Ok(windows
            .iter()
            .map(|(window, factor)| &window.iter().fold(Rational::zero(), |sum, &e| &sum + of(0, e)) * factor)
            .collect()),
        Kernel::Quant(quant) => quantised(quant, operands[0], pending, functions),
        Kernel::Trunc(trunc) => Ok(truncated(trunc, operands[0])),
    };
    let values = values?;
    if let Some(wide) = values.iter().find(|v| v.numerator().bits() + v.denominator().bits() > MAX_NUMBER) {
        let bits = wide.numerator().bits() + wide.denominator().bits();
        return Err(format!("a value of {bits} bits; at most {MAX_NUMBER} are supported: quantise before"));
    }
    Ok(Tensor { shape: shape.to_vec(), values })
}

fn binary(operation: Binary, a: &Rational, b: &Rational) -> Result<Rational, String> {
    Ok(match operation {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a.checked_div(b).ok_or("division by zero")?,
    })
}

fn unary(operation: &Unary, x: &Rational) -> Result<Rational, String> {
    Ok(match operation {
        Unary::Neg => -x,
        Unary::Relu => x.max(&Rational::zero()).clone(),
        Unary::Leaky(factor) => {
            if x.is_negative() {
                x * factor
            } else {
                x.clone()
            }
        }
        Unary::Clip(low, high) => {
            let above = low.as_ref().map_or(x, |low| x.max(low));
            high.as_ref().map_or(above, |high| above.min(high)).clone()
        }
        Unary::Power(exponent) => (1..*exponent).fold(x.clone(), |power, _| &power * x),
        Unary::Root => {
            let root = x.sqrt_to_f64().ok_or("the root of a negative number")?;
            Rational::from_f64(root).ok_or("a root beyond binary64")?
        }
        // The argument of the function is returned; the quantiser that follows applies the function.
        Unary::Function(_) => x.clone(),
    })
}

fn sums_of_products(dot: &Dot, operands: &[&Tensor], count: usize) -> Vec<Rational> {
    let (vector, matrix) = (&operands[dot.vector].values, &operands[1 - dot.vector].values);
    let mut sums = vec![Rational::zero(); count];
    for group in &dot.groups {
        for (n, &output) in group.outputs.iter().enumerate() {
            let sum = group.taps.iter().fold(Rational::zero(), |sum, &(row, element)| {
                let (x, w) = (&vector[element as usize], &matrix[group.weight(row, n)]);
                if x.is_zero() || w.is_zero() { sum } else { &sum + &(x * w) }
            });
            sums[output as usize] = &sum * &dot.factor;
        }
    }
    if let Some((elements, factor)) = &dot.bias {
        for (sum, &element) in sums.iter_mut().zip(elements) {
            *sum = &*sum + &(&operands[2].values[element as usize] * factor);
        }
    }
    sums
}

fn quantised(
    quant: &Quant,
    operand: &Tensor,
    pending: Option<Function>,
    functions: &mut Functions,
) -> Result<Vec<Rational>, String> {
    let elements = quant.operand.iter().zip(&quant.step);
    elements
        .map(|(&element, &step)| {
            let (x, step) = (&operand.values[element as usize], &quant.steps[step as usize]);
            let code = code_of(&quant.codes, step, x, pending, functions)?;
            Ok(step.value(&code))
        })
        .collect()
}

/// Returns the raw value `q` for `x`, or for a function of `x`.
///
/// # Errors
/// If the function cannot be decided.
pub(super) fn code_of(
    codes: &Codes,
    step: &Step,
    x: &Rational,
    pending: Option<Function>,
    functions: &mut Functions,
) -> Result<BigInt, String> {
    if let (Some(function), Codes::Type(quantiser)) = (pending, codes) {
        return match function {
            Function::Inverse => Ok(inverse_code(x, quantiser)),
            Function::InverseRoot => Ok(inverse_root_code(x, quantiser)),
            _ => functions.code(function, x, quantiser),
        };
    }
    match pending {
        None => Ok(codes.code(step, x)),
        Some(function) => functions.decide(function, x, |value| codes.code(step, value)),
    }
}

impl Codes {
    /// Returns the raw value `q` for `x`.
    pub fn code(&self, step: &Step, x: &Rational) -> BigInt {
        let t = &x.checked_div(&step.scale).expect("scales are positive") + &Rational::from(step.zero.clone());
        match self {
            Codes::Sign if t.is_negative() => -BigInt::one(),
            Codes::Sign => BigInt::one(),
            Codes::Type(quantiser) => quantiser.code(x),
            Codes::Round { low, high, round } => clamped(&t, low, high).round(*round),
        }
    }
}

impl Step {
    /// Returns the value of the raw value `q`.
    pub fn value(&self, code: &BigInt) -> Rational {
        &Rational::from(code - &self.zero) * &self.scale
    }
}

fn clamped(t: &Rational, low: &BigInt, high: &BigInt) -> Rational {
    t.max(&low.clone().into()).min(&high.clone().into()).clone()
}

fn truncated(trunc: &Trunc, operand: &Tensor) -> Vec<Rational> {
    let elements = trunc.operand.iter().zip(&trunc.step);
    elements
        .map(|(&element, &step)| trunc.steps[step as usize].value(&operand.values[element as usize], trunc.round))
        .collect()
}

impl TruncStep {
    /// Returns the truncated value of `x`.
    pub fn value(&self, x: &Rational, round: Round) -> Rational {
        let t = &x.checked_div(&self.from.scale).expect("scales are positive") + &self.from.zero.clone().into();
        let whole = Rational::from(t.round(Round::HalfEven));
        let quotient = whole.checked_div(&self.ratio).expect("a power of two");
        let quotient = match &self.clamp {
            Some((low, high)) => clamped(&quotient, low, high),
            None => quotient,
        };
        &(&Rational::from(quotient.round(round)) - &self.zero) * &self.scale
    }
}
