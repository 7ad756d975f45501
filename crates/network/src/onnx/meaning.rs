//! Implementation of [`ReferenceSemantics`] for QONNX networks.

use super::front::Front;
use super::kernel::{Binary, Kernel, Unary};
use super::transcribe::transcribe;
use super::{Network, run_codes};
use crate::exact::Rational;
use crate::port::{Group, InputElement, ReferenceSemantics, Unit};
use alir_core::ir::Model;
use alir_core::num::Interval;
use num_bigint::BigInt;

/// A network with the start of its hardware, and the units of its output raw values.
#[derive(Clone, Debug)]
pub struct OnnxMeaning {
    network: Network,
    front: Front,
    units: Vec<Unit>,
    types: Vec<Interval>,
    input_groups: Vec<Group>,
    output_groups: Vec<Group>,
}

impl OnnxMeaning {
    /// Returns the semantics of a network whose hardware begins at `front` and whose outputs have these units and
    /// intervals.
    pub fn new(network: Network, front: Front, units: Vec<Unit>, types: Vec<Interval>) -> OnnxMeaning {
        let group = |port: &super::Port| vec![Group { name: port.name.clone(), size: port.elements() }];
        let (input_groups, output_groups) = (group(&network.input), group(&network.output));
        OnnxMeaning { network, front, units, types, input_groups, output_groups }
    }

    /// Returns the start of the hardware.
    pub fn front(&self) -> &Front {
        &self.front
    }
}

impl ReferenceSemantics for OnnxMeaning {
    fn inputs(&self) -> &[InputElement] {
        &self.front.inputs
    }

    fn input_groups(&self) -> &[Group] {
        &self.input_groups
    }

    fn output_units(&self) -> &[Unit] {
        &self.units
    }

    fn output_groups(&self) -> &[Group] {
        &self.output_groups
    }

    /// # Panics
    /// If a value is too wide; the lowering refuses such networks before.
    fn evaluate(&self, codes: &[BigInt]) -> Vec<Rational> {
        run_codes(&self.network, &self.front, codes).unwrap_or_else(|e| panic!("{e}"))
    }

    fn specification(&self) -> Result<Model, String> {
        transcribe(&self.network, &self.front, &self.units, &self.types)
    }

    fn evaluate_float(&self, reals: &[f64]) -> Vec<f64> {
        float(&self.network, reals)
    }
}

/// Evaluates the network in binary64, without the quantisers after its input.
fn float(network: &Network, reals: &[f64]) -> Vec<f64> {
    let constants = |t: usize| network.constant(t).map(|c| c.values.iter().map(Rational::to_f64).collect::<Vec<f64>>());
    let mut values: Vec<Option<Vec<f64>>> = (0..network.tensors.len()).map(constants).collect();
    values[network.input.tensor] = Some(reals.to_vec());
    for step in &network.steps {
        let operands: Vec<&[f64]> =
            step.inputs.iter().map(|&t| values[t].as_deref().expect("steps are in order of their use")).collect();
        let count = network.tensors[step.output].shape.iter().product();
        let result = float_step(&step.kernel, &operands, count);
        values[step.output] = Some(result);
    }
    values[network.output.tensor].take().unwrap_or_default()
}

fn float_step(kernel: &Kernel, operands: &[&[f64]], count: usize) -> Vec<f64> {
    let of = |input: usize, element: u32| operands[input][element as usize];
    match kernel {
        Kernel::Move(sources) => {
            sources.iter().map(|source| source.map_or(0.0, |(input, element)| of(input as usize, element))).collect()
        }
        Kernel::Binary(operation, a, b) => {
            let pairs = a.iter().zip(b).map(|(&a, &b)| (of(0, a), of(1, b)));
            pairs
                .map(|(a, b)| match operation {
                    Binary::Add => a + b,
                    Binary::Sub => a - b,
                    Binary::Mul => a * b,
                    Binary::Div => a / b,
                })
                .collect()
        }
        Kernel::Extreme { max, parts } => {
            let choose = if *max { f64::max } else { f64::min };
            let all = |k: usize| parts.iter().enumerate().map(move |(input, part)| of(input, part[k]));
            (0..count).map(|k| all(k).reduce(choose).unwrap_or(0.0)).collect()
        }
        Kernel::Unary(operation) => operands[0].iter().map(|&x| float_unary(operation, x)).collect(),
        Kernel::Scale { channel, factor, summand } => {
            let scaled = |(&x, &c): (&f64, &u32)| x * factor[c as usize].to_f64() + summand[c as usize].to_f64();
            operands[0].iter().zip(channel).map(scaled).collect()
        }
        Kernel::Dot(dot) => {
            let mut sums = vec![0.0; count];
            let factor = dot.factor.to_f64();
            for group in &dot.groups {
                for (n, &output) in group.outputs.iter().enumerate() {
                    let product = |&(row, element): &(u32, u32)| {
                        of(dot.vector, element) * operands[1 - dot.vector][group.weight(row, n)]
                    };
                    sums[output as usize] = factor * group.taps.iter().map(product).sum::<f64>();
                }
            }
            if let Some((elements, factor)) = &dot.bias {
                let factor = factor.to_f64();
                sums.iter_mut().zip(elements).for_each(|(sum, &element)| *sum += factor * of(2, element));
            }
            sums
        }
        Kernel::MaxOf(windows) => {
            let largest = |window: &Vec<u32>| window.iter().map(|&e| of(0, e)).fold(f64::NEG_INFINITY, f64::max);
            windows.iter().map(largest).collect()
        }
        Kernel::SumOf(windows) => {
            let sum = |(window, factor): &(Vec<u32>, Rational)| {
                window.iter().map(|&e| of(0, e)).sum::<f64>() * factor.to_f64()
            };
            windows.iter().map(sum).collect()
        }
        Kernel::Quant(quant) => quant.operand.iter().map(|&e| of(0, e)).collect(),
        Kernel::Trunc(trunc) => trunc.operand.iter().map(|&e| of(0, e)).collect(),
    }
}

fn float_unary(operation: &Unary, x: f64) -> f64 {
    match operation {
        Unary::Neg => -x,
        Unary::Relu => x.max(0.0),
        Unary::Leaky(factor) => {
            if x < 0.0 {
                x * factor.to_f64()
            } else {
                x
            }
        }
        Unary::Clip(low, high) => {
            let above = low.as_ref().map_or(x, |low| x.max(low.to_f64()));
            high.as_ref().map_or(above, |high| above.min(high.to_f64()))
        }
        Unary::Power(exponent) => x.powi(exponent.cast_signed()),
        Unary::Root => x.sqrt(),
        Unary::Function(function) => function.approximate(x),
    }
}
