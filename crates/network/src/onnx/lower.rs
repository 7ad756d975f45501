//! Lowering of a network to an ALIR program.
//!
//! Every element of every tensor is an [`Elem`]: an integer of the program times a unit plus an offset, both exact
//! rational numbers, optionally clamped. Sums with constants and products with constants change the unit and the
//! offset, and need no hardware; matrices become adders over the greatest common unit of their products ([`sums`]); a
//! quantiser of such an integer is a staircase ([`stairs`]). Sums of different units are computed exactly, over the
//! greatest common unit.

mod atoms;
mod elem;
mod stairs;
mod sums;

use super::front::{Front, Start, split_scale};
use super::kernel::{Binary, Codes, Dot, Group, Kernel, Quant, Step, Trunc, Unary};
use super::{Network, RecordType, Refusal, Value, ValueSource};
use crate::exact::Rational;
use crate::function::{Function, Functions};
use crate::port::Unit;
use crate::quantise::{Overflow, Quantiser, Round};
use crate::solver::Missed;
use alir_cmvm;
use alir_core::ir::Layers;
use alir_core::ir::{Limits, Model, Op, Output};
use alir_core::num::Interval;
use atoms::Atoms;
use elem::Elem;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use stairs::{Stair, Stairs};
use sums::Sums;

/// Options of the lowering.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Maximum width of a table's input in bits.
    pub max_table_bits: u32,
    /// Latency limit and budget for each matrix.
    pub cmvm: alir_cmvm::Options,
}

impl Default for Options {
    fn default() -> Self {
        Options { max_table_bits: 16, cmvm: alir_cmvm::Options::default() }
    }
}

/// Program of a network, and the units of its outputs.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The program; its input and output elements have the order of the network's input and output.
    pub model: Model,
    /// Units of the output elements' raw values.
    pub units: Vec<Unit>,
    /// Source node of each operation.
    pub layers: Layers,
}

/// Error of the lowering.
#[derive(Clone, Debug)]
pub enum Refused {
    /// An unsupported part.
    Network(Refusal),
    /// A latency that some matrix cannot meet.
    Latency(Missed),
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Refused {
        Refused::Network(refusal)
    }
}

/// Lowers a network to a program.
///
/// # Errors
/// Returns the part that cannot be hardware, with its node: values that are too wide, tables that are too large, a
/// latency that a matrix cannot meet.
pub fn lower(network: &Network, front: &Front, options: &Options) -> Result<Lowered, Refused> {
    let mut lowering = Lowering::new(network, front, options);
    let mut layers = Layers::default();
    layers.note("inputs", lowering.atoms.builder.nodes().len());
    for (number, step) in network.steps.iter().enumerate() {
        if lowering.elements[step.output].is_some() || lowering.before_front(&step.inputs) {
            continue;
        }
        let result = lowering.step(&step.kernel, &step.inputs);
        let elements = result.map_err(|message| Refusal::new(step.place.clone(), message))?;
        lowering.elements[step.output] = Some(elements);
        lowering.sums.solver().belongs_to(&step.place);
        layers.note(step.place.strip_prefix("node ").unwrap_or(&step.place), lowering.atoms.builder.nodes().len());
        for &read in &step.inputs {
            if network.last_use(read) == Some(number) {
                lowering.elements[read] = None;
            }
        }
    }
    if let Some(missed) = lowering.sums.solver().missed() {
        return Err(Refused::Latency(missed.clone()));
    }
    Ok(lowering.finish(layers)?)
}

struct Lowering<'a> {
    network: &'a Network,
    options: &'a Options,
    atoms: Atoms,
    sums: Sums,
    stairs: Stairs,
    functions: Functions,
    elements: Vec<Option<Vec<Elem>>>,
}

impl<'a> Lowering<'a> {
    fn new(network: &'a Network, front: &Front, options: &'a Options) -> Lowering<'a> {
        let mut atoms = Atoms::new(front.inputs.len());
        let ports: Vec<Elem> = front
            .inputs
            .iter()
            .zip(&front.ranges)
            .enumerate()
            .map(|(k, (input, (low, high)))| {
                let atom = atoms.input(k as u32, low, high, input.kif.frac);
                let unit = input.unit.scale.shifted(-i64::from(input.kif.frac));
                Elem::new(&atoms, atom, unit, input.unit.offset.clone())
            })
            .collect();
        let mut elements = vec![None; network.tensors.len()];
        for (&tensor, starts) in &front.starts {
            let element = |start: &Start| match start {
                Start::Port(k) => ports[*k as usize].clone(),
                Start::Constant(value) => Elem::Constant(value.clone()),
            };
            elements[tensor] = Some(starts.iter().map(element).collect());
        }
        Lowering {
            network,
            options,
            atoms,
            sums: Sums::new(options.cmvm),
            stairs: Stairs::default(),
            functions: Functions::new(),
            elements,
        }
    }

    /// Returns `true` if a step precedes the hardware: an operand of the step has no elements in the program.
    fn before_front(&self, inputs: &[usize]) -> bool {
        inputs.iter().any(|&t| self.elements[t].is_none() && self.network.constant(t).is_none())
    }

    fn element(&self, tensor: usize, element: u32) -> Elem {
        match &self.network.tensors[tensor].source {
            ValueSource::Constant(value) => Elem::Constant(value.values[element as usize].clone()),
            ValueSource::Computed => {
                self.elements[tensor].as_ref().expect("steps are in order of their use")[element as usize].clone()
            }
        }
    }

    fn step(&mut self, kernel: &Kernel, inputs: &[usize]) -> Result<Vec<Elem>, String> {
        match kernel {
            Kernel::Move(sources) => Ok(sources
                .iter()
                .map(|source| match *source {
                    None => Elem::Constant(Rational::zero()),
                    Some((input, element)) => self.element(inputs[input as usize], element),
                })
                .collect()),
            Kernel::Binary(operation, a, b) => {
                let pairs = a.iter().zip(b);
                pairs
                    .map(|(&a, &b)| self.binary(*operation, &self.element(inputs[0], a), &self.element(inputs[1], b)))
                    .collect()
            }
            Kernel::Extreme { max, parts } => (0..parts[0].len())
                .map(|k| {
                    let all: Vec<Elem> = parts.iter().zip(inputs).map(|(part, &t)| self.element(t, part[k])).collect();
                    self.extreme(&all, *max)
                })
                .collect(),
            Kernel::Unary(operation) => {
                let count = self.network.tensors[inputs[0]].shape.iter().product::<usize>();
                (0..count as u32).map(|e| self.unary(operation, self.element(inputs[0], e))).collect()
            }
            Kernel::Scale { channel, factor, summand } => Ok(channel
                .iter()
                .enumerate()
                .map(|(e, &c)| self.element(inputs[0], e as u32).affine(&factor[c as usize], &summand[c as usize]))
                .collect()),
            Kernel::Dot(dot) => self.dot(dot, inputs),
            Kernel::MaxOf(windows) => windows
                .iter()
                .map(|window| {
                    let all: Vec<Elem> = window.iter().map(|&e| self.element(inputs[0], e)).collect();
                    self.extreme(&all, true)
                })
                .collect(),
            Kernel::SumOf(windows) => windows
                .iter()
                .map(|(window, factor)| {
                    let all = window.iter().map(|&e| (factor.clone(), self.element(inputs[0], e))).collect();
                    self.sum(all, Rational::zero())
                })
                .collect(),
            Kernel::Quant(quant) => self.quantised(quant, inputs[0]),
            Kernel::Trunc(trunc) => self.truncated(trunc, inputs[0]),
        }
    }

    fn binary(&mut self, operation: Binary, a: &Elem, b: &Elem) -> Result<Elem, String> {
        let (zero, one) = (Rational::zero(), Rational::one());
        match (operation, a, b) {
            (Binary::Add, x, Elem::Constant(c)) | (Binary::Add, Elem::Constant(c), x) => Ok(x.affine(&one, c)),
            (Binary::Sub, x, Elem::Constant(c)) => Ok(x.affine(&one, &-c)),
            (Binary::Sub, Elem::Constant(c), x) => Ok(x.affine(&-&one, c)),
            (Binary::Mul, x, Elem::Constant(c)) | (Binary::Mul, Elem::Constant(c), x) => Ok(x.affine(c, &zero)),
            (Binary::Div, x, Elem::Constant(c)) => Ok(x.affine(&one.checked_div(c).ok_or("division by zero")?, &zero)),
            (Binary::Div, ..) => Err("the divisor must be constant".to_owned()),
            (Binary::Add, a, b) => self.sum(vec![(one.clone(), a.clone()), (one, b.clone())], zero),
            (Binary::Sub, a, b) => self.sum(vec![(one.clone(), a.clone()), (-&one, b.clone())], zero),
            (Binary::Mul, a, b) => self.product(a, b),
        }
    }

    /// Returns the sum of multiples of elements and a constant.
    fn sum(&mut self, terms: Vec<(Rational, Elem)>, mut offset: Rational) -> Result<Elem, String> {
        let mut row = Vec::with_capacity(terms.len());
        for (factor, elem) in terms {
            match self.atoms.plain(&elem)? {
                Elem::Constant(value) => offset = &offset + &(&value * &factor),
                Elem::Wire(wire) => {
                    offset = &offset + &(&wire.offset * &factor);
                    row.push((wire.atom, &wire.unit * &factor));
                }
            }
        }
        let sums = self.sums.solve(&mut self.atoms, &[row])?;
        Ok(sums.into_iter().next().expect("one row").affine(&Rational::one(), &offset))
    }

    fn product(&mut self, a: &Elem, b: &Elem) -> Result<Elem, String> {
        let (a, b) = (self.atoms.whole(a)?, self.atoms.whole(b)?);
        match (a, b) {
            (Elem::Constant(c), x) | (x, Elem::Constant(c)) => Ok(x.affine(&c, &Rational::zero())),
            (Elem::Wire(a), Elem::Wire(b)) => {
                let atom = self.atoms.product(a.atom, b.atom)?;
                Ok(Elem::new(&self.atoms, atom, &a.unit * &b.unit, Rational::zero()))
            }
        }
    }

    fn unary(&mut self, operation: &Unary, x: Elem) -> Result<Elem, String> {
        let (zero, one) = (Rational::zero(), Rational::one());
        match operation {
            Unary::Neg => Ok(x.affine(&-&one, &zero)),
            Unary::Relu => Ok(x.clip(Some(&zero), None)),
            Unary::Clip(low, high) => Ok(x.clip(low.as_ref(), high.as_ref())),
            Unary::Leaky(factor) => self.leaky(&x, factor),
            Unary::Power(exponent) => {
                let mut power = x.clone();
                for _ in 1..*exponent {
                    power = self.product(&power, &x)?;
                }
                Ok(power)
            }
            Unary::Root => Err("roots of constants only are supported".to_owned()),
            // The quantiser that follows builds the table.
            Unary::Function(_) => Ok(x),
        }
    }

    /// Returns `x` if it is not negative, otherwise the factor times `x`.
    fn leaky(&mut self, x: &Elem, factor: &Rational) -> Result<Elem, String> {
        let wire = match self.atoms.whole(x)? {
            Elem::Constant(c) => return Ok(Elem::Constant(if c.is_negative() { &c * factor } else { c })),
            Elem::Wire(wire) => wire,
        };
        let whole = Elem::Wire(wire.clone());
        let scaled = whole.affine(factor, &Rational::zero());
        let (low, high) = self.atoms.range(wire.atom);
        // The unit may be negative.
        let positive = if wire.unit.is_negative() { !high.gt(&BigInt::ZERO) } else { !low.lt(&BigInt::ZERO) };
        let negative = if wire.unit.is_negative() { !low.lt(&BigInt::ZERO) } else { !high.gt(&BigInt::ZERO) };
        if positive {
            return Ok(whole);
        }
        if negative {
            return Ok(scaled);
        }
        let below = match wire.unit.is_negative() {
            false => self.atoms.is_negative(wire.atom),
            true => {
                let negated = self.atoms.negated(wire.atom)?;
                self.atoms.is_negative(negated)
            }
        };
        let chosen = self.common(&[scaled, whole])?;
        let atom = self.atoms.mux(below, chosen.atoms[0], chosen.atoms[1]);
        Ok(Elem::new(&self.atoms, atom, chosen.unit, chosen.offset))
    }

    /// Returns the largest or the smallest of several elements.
    fn extreme(&mut self, all: &[Elem], max: bool) -> Result<Elem, String> {
        let constants = all.iter().filter_map(|e| if let Elem::Constant(c) = e { Some(c) } else { None });
        let bound = if max { constants.max() } else { constants.min() }.cloned();
        let mut wires: Vec<Elem> = all.iter().filter(|e| matches!(e, Elem::Wire(_))).cloned().collect();
        while wires.len() > 1 {
            // A balanced tree.
            let mut next = Vec::with_capacity(wires.len().div_ceil(2));
            for pair in wires.chunks(2) {
                next.push(match pair {
                    [a, b] => self.extreme_of_two(a, b, max)?,
                    one => one[0].clone(),
                });
            }
            wires = next;
        }
        match (wires.pop(), bound) {
            (None, Some(bound)) => Ok(Elem::Constant(bound)),
            (Some(wire), None) => Ok(wire),
            (Some(wire), Some(bound)) => {
                Ok(if max { wire.clip(Some(&bound), None) } else { wire.clip(None, Some(&bound)) })
            }
            (None, None) => Err("nothing to choose from".to_owned()),
        }
    }

    fn extreme_of_two(&mut self, a: &Elem, b: &Elem, max: bool) -> Result<Elem, String> {
        if a == b {
            return Ok(a.clone());
        }
        // Clamps are monotone, so equal clamps of both elements can be applied to the result.
        let bounds = match (a, b) {
            (Elem::Wire(x), Elem::Wire(y)) if (&x.low, &x.high) == (&y.low, &y.high) => (x.low.clone(), x.high.clone()),
            _ => (None, None),
        };
        let (a, b) = match &bounds {
            (None, None) => (a.clone(), b.clone()),
            _ => (a.unclamped(), b.unclamped()),
        };
        let pair = self.common(&[a, b])?;
        let difference = self.atoms.difference(pair.atoms[0], pair.atoms[1])?;
        let a_is_less = self.atoms.is_negative(difference);
        let largest = max != pair.unit.is_negative();
        let (on_less, otherwise) =
            if largest { (pair.atoms[1], pair.atoms[0]) } else { (pair.atoms[0], pair.atoms[1]) };
        let atom = self.atoms.mux(a_is_less, on_less, otherwise);
        Ok(Elem::new(&self.atoms, atom, pair.unit, pair.offset).clip(bounds.0.as_ref(), bounds.1.as_ref()))
    }

    /// Returns elements as integers with one common unit and offset.
    fn common(&mut self, all: &[Elem]) -> Result<Common, String> {
        let mut unit = Rational::zero();
        let mut offset: Option<Rational> = None;
        let mut plain = Vec::new();
        for elem in all {
            let elem = self.atoms.plain(elem)?;
            let own = elem.offset();
            if let Elem::Wire(wire) = &elem {
                unit = elem::common_unit(&unit, &wire.unit);
            }
            match &offset {
                None => offset = Some(own),
                Some(first) => unit = elem::common_unit(&unit, &(&own - first)),
            }
            plain.push(elem);
        }
        let offset = offset.unwrap_or_else(Rational::zero);
        if unit.is_zero() {
            unit = Rational::one();
        }
        let atoms = plain.iter().map(|elem| self.atoms.over(elem, &unit, &offset)).collect::<Result<_, _>>()?;
        Ok(Common { atoms, unit, offset })
    }

    fn dot(&mut self, dot: &Dot, inputs: &[usize]) -> Result<Vec<Elem>, String> {
        let count = dot.groups.iter().map(|group| group.outputs.len()).sum();
        let mut outputs = vec![Elem::Constant(Rational::zero()); count];
        let (vector, matrix) = (inputs[dot.vector], inputs[1 - dot.vector]);
        for group in &dot.groups {
            let results = match &self.network.tensors[matrix].source {
                ValueSource::Constant(weights) => self.constant_group(group, vector, &weights.values)?,
                ValueSource::Computed => self.variable_group(group, vector, matrix)?,
            };
            for (&output, result) in group.outputs.iter().zip(results) {
                outputs[output as usize] = result.affine(&dot.factor, &Rational::zero());
            }
        }
        if let Some((elements, factor)) = &dot.bias {
            for (output, &element) in outputs.iter_mut().zip(elements) {
                let bias = self.element(inputs[2], element).affine(factor, &Rational::zero());
                *output = self.binary(Binary::Add, output, &bias)?;
            }
        }
        Ok(outputs)
    }

    /// Returns the sums of products with constants, as one matrix.
    fn constant_group(&mut self, group: &Group, vector: usize, weights: &[Rational]) -> Result<Vec<Elem>, String> {
        let mut taps = Vec::with_capacity(group.taps.len());
        for &(row, element) in &group.taps {
            let elem = self.element(vector, element);
            taps.push((row, self.atoms.plain(&elem)?));
        }
        let mut rows = Vec::with_capacity(group.outputs.len());
        let mut offsets = Vec::with_capacity(group.outputs.len());
        for n in 0..group.outputs.len() {
            let (mut row, mut offset) = (Vec::new(), Rational::zero());
            for (k, elem) in &taps {
                let weight = &weights[group.weight(*k, n)];
                if weight.is_zero() {
                    continue;
                }
                match elem {
                    Elem::Constant(value) => offset = &offset + &(value * weight),
                    Elem::Wire(wire) => {
                        if !wire.offset.is_zero() {
                            offset = &offset + &(&wire.offset * weight);
                        }
                        row.push((wire.atom, &wire.unit * weight));
                    }
                }
            }
            rows.push(row);
            offsets.push(offset);
        }
        let sums = self.sums.solve(&mut self.atoms, &rows)?;
        Ok(sums.into_iter().zip(&offsets).map(|(sum, offset)| sum.affine(&Rational::one(), offset)).collect())
    }

    /// Returns the sums of products of activations.
    fn variable_group(&mut self, group: &Group, vector: usize, matrix: usize) -> Result<Vec<Elem>, String> {
        let mut results = Vec::with_capacity(group.outputs.len());
        for n in 0..group.outputs.len() {
            let mut terms = Vec::with_capacity(group.taps.len());
            for &(k, element) in &group.taps {
                let (x, w) = (self.element(vector, element), self.element(matrix, group.weight(k, n) as u32));
                terms.push((Rational::one(), self.binary(Binary::Mul, &x, &w)?));
            }
            results.push(self.sum(terms, Rational::zero())?);
        }
        Ok(results)
    }

    fn quantised(&mut self, quant: &Quant, operand: usize) -> Result<Vec<Elem>, String> {
        let Value { pending, record, .. } = &self.network.tensors[operand];
        let (pending, most) = (*pending, self.options.max_table_bits);
        if let (Some(function), Some(RecordType { place, kif })) = (pending, record)
            && kif.width() > most
        {
            return Err(format!(
                "the record {place} ({kif}) has {} bits; the table of {} takes at most {most} (--max-table-bits): give \
                 the record a narrower type",
                kif.width(),
                function.name()
            ));
        }
        let elements = quant.operand.iter().zip(&quant.step);
        elements
            .map(|(&element, &step)| {
                let x = self.element(operand, element);
                self.rounded(&x, &quant.steps[step as usize], &quant.codes, pending)
            })
            .collect()
    }

    /// Returns the quantised value of `x`, or of a function of `x`.
    fn rounded(&mut self, x: &Elem, step: &Step, codes: &Codes, pending: Option<Function>) -> Result<Elem, String> {
        let address = if pending.is_some() { self.atoms.address(x)? } else { x.clone() };
        let x = &address;
        if let (Elem::Wire(_), None, Codes::Type(quantiser)) = (x, pending, codes) {
            return self.typed(x, step, quantiser);
        }
        match (x, pending) {
            (Elem::Constant(value), _) => {
                let code = super::golden::code_of(codes, step, value, pending, &mut self.functions)?;
                Ok(Elem::Constant(step.value(&code)))
            }
            (Elem::Wire(wire), None) => self.stairs.apply(&mut self.atoms, &Stair { wire, step, codes }),
            (Elem::Wire(wire), Some(function)) => {
                let stair = Stair { wire, step, codes };
                let most = self.options.max_table_bits;
                self.stairs.table(&mut self.atoms, &stair, function, &mut self.functions, most)
            }
        }
    }

    /// Returns the value quantised to a type.
    fn typed(&mut self, x: &Elem, step: &Step, quantiser: &Quantiser) -> Result<Elem, String> {
        let ((low, high), round) = (quantiser.codes(), quantiser.round);
        if matches!(quantiser.overflow, Overflow::Saturate | Overflow::SaturateSymmetric) {
            return self.rounded(x, step, &Codes::Round { low, high, round }, None);
        }
        let (zero, one) = (Rational::zero(), Rational::one());
        let t = x.affine(&one.checked_div(&step.scale).expect("positive"), &zero);
        let rounded = self.rounded(x, step, &self.unlimited(&t, round), None)?;
        if let Elem::Constant(_) = rounded {
            return Ok(rounded);
        }
        let plain = self.atoms.plain(&rounded)?;
        let code = self.atoms.over(&plain, &step.scale, &zero)?;
        let (least, most) = self.atoms.range(code);
        if low <= *least && *most <= high {
            return Ok(rounded);
        }
        let code = if quantiser.overflow == Overflow::Wrap {
            let width = quantiser.kif.width();
            let half = if quantiser.kif.signed { BigInt::from(1) << (width - 1) } else { BigInt::ZERO };
            let moved = self.atoms.add_constant(code, &half)?;
            let bits = self.atoms.bits(moved, 0, width)?;
            self.atoms.add_constant(bits, &-half)?
        } else {
            let nothing = self.atoms.constant(&BigInt::ZERO)?;
            let room = self.atoms.subtracted_from(&high, code)?;
            let above = self.atoms.is_negative(room);
            let room = self.atoms.add_constant(code, &-&low)?;
            let below = self.atoms.is_negative(room);
            let chosen = self.atoms.mux(above, nothing, code);
            let chosen = self.atoms.mux(below, nothing, chosen);
            self.atoms.narrowed(chosen, low, high)
        };
        Ok(Elem::new(&self.atoms, code, step.scale.clone(), zero))
    }

    fn truncated(&mut self, trunc: &Trunc, operand: usize) -> Result<Vec<Elem>, String> {
        let mut results = Vec::with_capacity(trunc.operand.len());
        for (&element, &step) in trunc.operand.iter().zip(&trunc.step) {
            let x = self.element(operand, element);
            let step = &trunc.steps[step as usize];
            // n = roundeven(x/s + z) without clamping; then n / ratio, rounded.
            let one = Rational::one();
            let t = x.affine(&one.checked_div(&step.from.scale).expect("positive"), &step.from.zero.clone().into());
            let whole = Step { scale: one.clone(), zero: BigInt::ZERO };
            let n = self.rounded(&t, &whole, &self.unlimited(&t, Round::HalfEven), None)?;
            let quotient = n.affine(&one.checked_div(&step.ratio).expect("positive"), &Rational::zero());
            let codes = match &step.clamp {
                Some((low, high)) => Codes::Round { low: low.clone(), high: high.clone(), round: trunc.round },
                None => self.unlimited(&quotient, trunc.round),
            };
            let y = self.rounded(&quotient, &whole, &codes, None)?;
            results.push(y.affine(&step.scale, &-&(&step.zero * &step.scale)));
        }
        Ok(results)
    }

    /// Returns a quantiser without effective clamping: no value of the element reaches its ends.
    fn unlimited(&self, x: &Elem, round: Round) -> Codes {
        let (low, high) = self.atoms.ends(x);
        Codes::Round { low: low.floor() - 1, high: high.ceil() + 1, round }
    }

    fn finish(mut self, mut layers: Layers) -> Result<Lowered, Refusal> {
        let output = self.network.output.tensor;
        let refused = |message: String| Refusal::new("graph.output", message);
        let count = self.network.output.elements() as u32;
        let mut units = Vec::new();
        let mut outputs = Vec::new();
        for e in 0..count {
            let elem = self.element(output, e);
            let (output, unit) = self.output(&elem).map_err(refused)?;
            outputs.push(output);
            units.push(unit);
        }
        let Atoms { mut builder, .. } = self.atoms;
        layers.note("outputs", builder.nodes().len());
        // Widths are limited by this lowering, element by element.
        builder.limits(Limits { max_ops: Limits::default().max_ops, ..Limits::derived() });
        for output in outputs {
            builder.output(output);
        }
        let model = builder.finish().map_err(|problems| {
            let shown = problems.first().map_or_else(String::new, ToString::to_string);
            refused(format!("the program that was made is not valid: {shown}"))
        })?;
        Ok(Lowered { model, units, layers })
    }

    /// Returns an output element. Its type includes the power of two of the unit, and an addition includes the offset
    /// if possible.
    fn output(&mut self, elem: &Elem) -> Result<(Output, Unit), String> {
        let none = Output { source: None, shift: 0, neg: false };
        let mut wire = match self.atoms.plain(elem)? {
            Elem::Constant(value) => return Ok((none, Unit { scale: Rational::one(), offset: value })),
            Elem::Wire(wire) => wire,
        };
        // The unit of an output is positive, like the scale of a quantiser at the output.
        if wire.unit.is_negative() {
            wire.atom = self.atoms.negated(wire.atom)?;
            wire.unit = -&wire.unit;
        }
        let whole = wire.offset.checked_div(&wire.unit).filter(Rational::is_integer);
        let dyadic = wire.unit.log2().is_some() && wire.offset.is_dyadic();
        if !wire.offset.is_zero() && (whole.is_some() || dyadic) {
            // With the offset included, the raw value of a typed output is its value.
            let Elem::Wire(with_offset) = self.atoms.whole(&Elem::Wire(wire))? else {
                return Err("a wire became constant".to_owned());
            };
            wire = with_offset;
        }
        let (frac, scale) = split_scale(&wire.unit);
        let own = self.atoms.frac(wire.atom);
        let shift = own.checked_sub(frac).ok_or("an output beyond all types")?;
        let offset = wire.offset;
        Ok((Output { source: Some(self.atoms.value(wire.atom)), shift, neg: false }, Unit { scale, offset }))
    }
}

/// Elements with a common unit and offset, see [`Lowering::common`].
struct Common {
    atoms: Vec<u32>,
    unit: Rational,
    offset: Rational,
}

/// Returns a constant of the program.
fn constant_op(value: &BigInt) -> (Op, Interval) {
    (Op::Const { value: value.into() }, Interval::new(value, value, 0))
}

/// Returns the number of bits of a non-negative number.
fn bits_of(value: &BigInt) -> u32 {
    value.bits().to_u32().unwrap_or(u32::MAX)
}
