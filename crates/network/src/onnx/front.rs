//! Types of the input port.
//!
//! Without a type from the user, the port carries the raw values of the quantiser that the input reaches on every path;
//! all operations before this quantiser (moves, and sums and products with constants) become the encoder, exactly. With
//! a type, the hardware begins at the input of the network.

use super::kernel::{Binary, Codes, Kernel, Quant};
use super::{Network, Refusal, ValueSource};
use crate::exact::Rational;
use crate::port::{Encoder, InputElement, Unit};
use crate::quantise::Quantiser;
use alir_core::num::{Interval, Kif};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use std::collections::BTreeMap;

/// Start of the hardware: the input port, and the tensors that follow from its raw values.
#[derive(Clone, Debug)]
pub struct Front {
    /// Elements of the port, in the order of the network's input.
    pub inputs: Vec<InputElement>,
    /// Smallest and largest raw value of each element.
    pub ranges: Vec<(BigInt, BigInt)>,
    /// Tensors whose values follow from the raw values of the port, with the origin of each element.
    pub starts: BTreeMap<usize, Vec<Start>>,
}

/// Origin of an element of a tensor at which the hardware begins.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// Value of an element of the port.
    Port(u32),
    /// A constant.
    Constant(Rational),
}

/// Element before the first quantiser: `gain * x + bias` for an element `x` of the input, or a constant.
#[derive(Clone, PartialEq)]
enum Before {
    Of { input: u32, gain: Rational, bias: Rational },
    Constant(Rational),
}

impl Before {
    fn affine(&self, factor: &Rational, summand: &Rational) -> Before {
        match self {
            Before::Of { input, gain, bias } => {
                Before::Of { input: *input, gain: gain * factor, bias: &(bias * factor) + summand }
            }
            Before::Constant(value) => Before::Constant(&(value * factor) + summand),
        }
    }
}

/// Returns the start of the hardware, and the elements of its port.
///
/// # Errors
/// If there is no type, and the input does not reach the same quantiser on every path.
pub fn front(network: &Network, input_type: Option<Quantiser>) -> Result<Front, Refusal> {
    match input_type {
        Some(quantiser) => Ok(typed(network, quantiser)),
        None => Search::new(network).run(),
    }
}

fn typed(network: &Network, quantiser: Quantiser) -> Front {
    let element = InputElement { kif: quantiser.kif, unit: Unit::plain(), encoder: Encoder::Quantise(quantiser) };
    let count = network.input.elements();
    let starts = (0..count as u32).map(Start::Port).collect();
    Front {
        inputs: vec![element; count],
        ranges: vec![quantiser.codes(); count],
        starts: BTreeMap::from([(network.input.tensor, starts)]),
    }
}

struct Search<'a> {
    network: &'a Network,
    /// Tensors before the first quantiser.
    before: BTreeMap<usize, Vec<Before>>,
    /// For each element of the input, its element of the port and the range of its raw values.
    found: Vec<Option<(InputElement, (BigInt, BigInt))>>,
    starts: BTreeMap<usize, Vec<Start>>,
}

impl<'a> Search<'a> {
    fn new(network: &'a Network) -> Search<'a> {
        let count = network.input.elements();
        let own = |input| Before::Of { input, gain: Rational::one(), bias: Rational::zero() };
        Search {
            network,
            before: BTreeMap::from([(network.input.tensor, (0..count as u32).map(own).collect())]),
            found: vec![None; count],
            starts: BTreeMap::new(),
        }
    }

    fn run(mut self) -> Result<Front, Refusal> {
        for step in &self.network.steps {
            if !step.inputs.iter().any(|t| self.before.contains_key(t)) {
                continue;
            }
            if let Kernel::Quant(quant) = &step.kernel
                && self.network.tensors[step.inputs[0]].pending.is_none()
            {
                let elements = self.quantised(quant, step.inputs[0]);
                let elements = elements.map_err(|()| self.refusal("meets quantisers that differ"))?;
                self.starts.insert(step.output, elements);
                continue;
            }
            let elements = self.passed(&step.kernel, &step.inputs);
            let elements = elements.ok_or_else(|| self.refusal(&format!("reaches {} without a Quant", step.place)))?;
            self.before.insert(step.output, elements);
        }
        if self.before.contains_key(&self.network.output.tensor) {
            return Err(self.refusal("reaches the output without a Quant"));
        }
        // An element that no operation reads needs no wire.
        let unread = || {
            let quantiser = Quantiser {
                kif: Kif::ZERO,
                round: crate::quantise::Round::Floor,
                overflow: crate::quantise::Overflow::Saturate,
            };
            let element = InputElement { kif: Kif::ZERO, unit: Unit::plain(), encoder: Encoder::Quantise(quantiser) };
            (element, (BigInt::ZERO, BigInt::ZERO))
        };
        let (inputs, _): (Vec<InputElement>, Vec<_>) =
            self.found.into_iter().map(|found| found.unwrap_or_else(unread)).unzip();
        // All raw values of the type: a proof covers every pattern of the port's bits, including patterns that no
        // encoder generates.
        let ranges = inputs.iter().map(|input| (input.kif.min_code(), input.kif.max_code())).collect();
        Ok(Front { inputs, ranges, starts: self.starts })
    }

    fn refusal(&self, what: &str) -> Refusal {
        Refusal::new("graph.input", format!("{} {what}", self.network.input.name))
            .with_help("give the type of the input: --input-type s16.10[,ROUND][,OVERFLOW]")
    }

    /// Returns the elements after a step that only moves elements or combines them with constants; `None` for other
    /// steps.
    fn passed(&self, kernel: &Kernel, inputs: &[usize]) -> Option<Vec<Before>> {
        let operand = |input: usize| -> Option<Vec<Before>> {
            if let Some(before) = self.before.get(&inputs[input]) {
                return Some(before.clone());
            }
            match &self.network.tensors[inputs[input]].source {
                ValueSource::Constant(value) => Some(value.values.iter().cloned().map(Before::Constant).collect()),
                ValueSource::Computed => None,
            }
        };
        match kernel {
            Kernel::Move(sources) => {
                let operands: Vec<Vec<Before>> = (0..inputs.len()).map(operand).collect::<Option<_>>()?;
                let moved = |source: &Option<(u32, u32)>| match *source {
                    None => Before::Constant(Rational::zero()),
                    Some((input, element)) => operands[input as usize][element as usize].clone(),
                };
                Some(sources.iter().map(moved).collect())
            }
            Kernel::Scale { channel, factor, summand } => {
                let elements = operand(0)?;
                let scaled = |(x, &c): (&Before, &u32)| x.affine(&factor[c as usize], &summand[c as usize]);
                Some(elements.iter().zip(channel).map(scaled).collect())
            }
            Kernel::Unary(super::kernel::Unary::Neg) => None,
            Kernel::Binary(operation, a, b) => {
                let (left, right) = (operand(0)?, operand(1)?);
                let pairs = a.iter().zip(b).map(|(&a, &b)| (&left[a as usize], &right[b as usize]));
                pairs.map(|(a, b)| combined(*operation, a, b)).collect()
            }
            _ => None,
        }
    }

    /// Applies a quantiser to elements of the input: each of these elements of the port gets an encoder.
    fn quantised(&mut self, quant: &Quant, operand: usize) -> Result<Vec<Start>, ()> {
        let elements = &self.before[&operand];
        let mut starts = Vec::with_capacity(quant.operand.len());
        for (&element, &step) in quant.operand.iter().zip(&quant.step) {
            let step = &quant.steps[step as usize];
            let (input, gain, bias) = match &elements[element as usize] {
                Before::Constant(value) => {
                    starts.push(Start::Constant(step.value(&quant.codes.code(step, value))));
                    continue;
                }
                Before::Of { input, gain, bias } => (*input, gain, bias),
            };
            let gain = gain.checked_div(&step.scale).expect("scales are positive");
            let bias = &bias.checked_div(&step.scale).expect("scales are positive") + &step.zero.clone().into();
            let (encoder, range, factor, offset) = match &quant.codes {
                Codes::Round { low, high, round } => {
                    let range = (low - &step.zero, high - &step.zero);
                    let (low, high, zero) = (low.clone(), high.clone(), step.zero.clone());
                    let encoder = Encoder::Affine { gain, bias, low, high, round: *round, zero };
                    (encoder, range, step.scale.clone(), Rational::zero())
                }
                // A generated quantiser follows a difference or a sum, never the input.
                Codes::Type(_) => return Err(()),
                Codes::Sign => {
                    let lower = step.value(&BigInt::from(-1));
                    (Encoder::Sign { gain, bias }, (BigInt::ZERO, BigInt::from(1)), step.scale.shifted(1), lower)
                }
            };
            let (frac, scale) = split_scale(&factor);
            let kif = Interval::new(range.0.clone(), range.1.clone(), frac).kif();
            // An interval that contains only zero has the type without bits.
            let unit = Unit { scale, offset };
            let made = (InputElement { kif, unit, encoder }, range);
            let known = &mut self.found[input as usize];
            match known {
                Some(known) if *known != made => return Err(()),
                _ => *known = Some(made),
            }
            starts.push(Start::Port(input));
        }
        Ok(starts)
    }
}

fn combined(operation: Binary, a: &Before, b: &Before) -> Option<Before> {
    let one = Rational::one();
    match (operation, a, b) {
        (Binary::Add, x, Before::Constant(c)) | (Binary::Add, Before::Constant(c), x) => Some(x.affine(&one, c)),
        (Binary::Sub, x, Before::Constant(c)) => Some(x.affine(&one, &-c)),
        (Binary::Sub, Before::Constant(c), x) => Some(x.affine(&-&one, c)),
        (Binary::Mul, x, Before::Constant(c)) | (Binary::Mul, Before::Constant(c), x) => {
            Some(x.affine(c, &Rational::zero()))
        }
        (Binary::Div, x, Before::Constant(c)) => Some(x.affine(&one.checked_div(c)?, &Rational::zero())),
        _ => None,
    }
}

/// Returns a factor as fractional bits of a type and a remaining factor: a power of two becomes part of the type.
pub(super) fn split_scale(factor: &Rational) -> (i32, Rational) {
    match factor.log2().and_then(|exponent| exponent.to_i32()).filter(|e| e.abs() <= 4096) {
        Some(exponent) => (-exponent, Rational::one()),
        None => (0, factor.clone()),
    }
}
