//! Operators that become several steps: softmax and the norms whose root depends on the data, with a type for each
//! intermediate value, and Einsum as a product of matrices.

use super::kernel::{Binary, Codes, Dot, Element, Group, Kernel, Quant, Step, Unary, broadcast_elements, strides_of};
use super::tensor::Tensor;
use crate::exact::Rational;
use crate::function::Function;
use crate::graph::quant::{QuantFile, Setting};
use crate::quantise::Quantiser;
use num_bigint::BigInt;

/// A mask drops elements that are below this: -2^15.
const DROPPED: i64 = -(1 << 15);

/// Input of a stage.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// A tensor of the network.
    Tensor(usize),
    /// An earlier stage.
    Stage(usize),
}

/// Makes the kernel of a stage when the constants among its inputs are known.
pub(super) type BuildStage = Box<dyn FnOnce(&[Option<&Tensor>]) -> Result<Kernel, String>>;

/// One step of an operator.
pub(super) struct Stage {
    pub(super) shape: Vec<usize>,
    pub(super) inputs: Vec<Source>,
    /// A function that the next stage's table applies.
    pub(super) pending: Option<Function>,
    pub(super) build: BuildStage,
}

/// The stages of one operator, the last of which is its result.
#[derive(Default)]
pub(super) struct Stages(pub(super) Vec<Stage>);

impl Stages {
    fn push(
        &mut self,
        shape: &[usize],
        inputs: &[Source],
        build: impl FnOnce(&[Option<&Tensor>]) -> Result<Kernel, String> + 'static,
    ) -> Source {
        let (shape, inputs) = (shape.to_vec(), inputs.to_vec());
        self.0.push(Stage { shape, inputs, pending: None, build: Box::new(build) });
        Source::Stage(self.0.len() - 1)
    }

    /// A value of a type; of one that is exact, the value itself.
    fn quantised(&mut self, shape: &[usize], x: Source, quantiser: Option<Quantiser>) -> Source {
        let Some(quantiser) = quantiser else { return x };
        let count: usize = shape.iter().product();
        self.push(shape, &[x], move |_| {
            let step = Step { scale: Rational::one().shifted((-quantiser.kif.frac).into()), zero: BigInt::ZERO };
            let operand = (0..count as Element).collect();
            Ok(Kernel::Quant(Quant { operand, step: vec![0; count], steps: vec![step], codes: Codes::Type(quantiser) }))
        })
    }

    /// A function of each element, which the quantiser after it decides.
    fn table(&mut self, shape: &[usize], x: Source, function: Function, quantiser: Option<Quantiser>) -> Source {
        let y = self.push(shape, &[x], move |_| Ok(Kernel::Unary(Unary::Function(function))));
        let Source::Stage(index) = y else { return y };
        self.0[index].pending = Some(function);
        self.quantised(shape, y, quantiser)
    }
}

/// The records of a node.
pub(super) struct Records<'q> {
    pub(super) quant: &'q QuantFile,
    /// Keys of the node, the widest first.
    pub(super) keys: [String; 2],
}

impl Records<'_> {
    fn setting(&self, norm: bool, name: &str) -> Setting {
        self.quant.record_of(&self.keys, norm, name)
    }

    /// The types of these values; each that is missing is named.
    fn types(&self, norm: bool, names: &[&str], exact: &[&str]) -> Result<Vec<Option<Quantiser>>, String> {
        self.quant.check_keys(&self.keys, if norm { &["rstd"] } else { names })?;
        let missing: Vec<&str> = names.iter().copied().filter(|name| !self.setting(norm, name).is_given()).collect();
        let inside = if norm { ".rstd" } else { "" };
        if !missing.is_empty() {
            return Err(format!(
                "it needs records with types for {} in the quantisation file (--quant), under nodes.{}{inside}; \
                 missing: {}",
                names.join(", "),
                self.keys[0],
                missing.join(", ")
            ));
        }
        let quantiser = |name: &&str| match self.setting(norm, name).quantiser() {
            None if !exact.contains(name) => Err(format!("{name} cannot be exact: a table needs types")),
            found => Ok(found),
        };
        names.iter().map(quantiser).collect()
    }
}

/// A constant mask before a softmax: the elements that it drops.
#[derive(Clone, Debug)]
pub(super) enum Mask {
    /// Nothing is dropped.
    None,
    /// A tensor of this shape is added.
    Added { tensor: usize, shape: Vec<usize> },
    /// A condition chooses between two values; constants among these have their tensor.
    Chosen { condition: (usize, Vec<usize>), branches: [Option<(usize, Vec<usize>)>; 2] },
}

impl Mask {
    fn sources(&self) -> Vec<Source> {
        match self {
            Mask::None => Vec::new(),
            Mask::Added { tensor, .. } => vec![Source::Tensor(*tensor)],
            Mask::Chosen { condition, branches } => {
                let all = std::iter::once(condition.0).chain(branches.iter().flatten().map(|(tensor, _)| *tensor));
                all.map(Source::Tensor).collect()
            }
        }
    }

    /// For each element of the shape whether it is dropped; the mask's tensors are the last of the constants.
    fn dropped(&self, constants: &[Option<&Tensor>], shape: &[usize]) -> Result<Vec<bool>, String> {
        let count: usize = shape.iter().product();
        let own = &constants[constants.len() - self.sources().len()..];
        let known = |k: usize| own[k].ok_or("the mask must be constant");
        let limit = Rational::from(DROPPED);
        match self {
            Mask::None => Ok(vec![false; count]),
            Mask::Added { shape: from, .. } => {
                let values = &known(0)?.values;
                Ok(broadcast_elements(from, shape).into_iter().map(|e| values[e as usize] < limit).collect())
            }
            Mask::Chosen { condition, branches } => {
                let holds = &known(0)?.values;
                let at = broadcast_elements(&condition.1, shape);
                let mut next = 1;
                let mut below = Vec::new();
                for branch in branches {
                    below.push(match branch {
                        None => vec![false; count],
                        Some((_, from)) => {
                            let values = &known(next)?.values;
                            next += 1;
                            broadcast_elements(from, shape).into_iter().map(|e| values[e as usize] < limit).collect()
                        }
                    });
                }
                Ok((0..count).map(|k| below[usize::from(holds[at[k] as usize].is_zero())][k]).collect())
            }
        }
    }
}

/// Elements of each row, and the row of each element.
fn rows(shape: &[usize], axes: std::ops::Range<usize>) -> (Vec<Vec<Element>>, Vec<Element>) {
    let (outer, size, inner): (usize, usize, usize) = (
        shape[..axes.start].iter().product(),
        shape[axes.clone()].iter().product(),
        shape[axes.end..].iter().product(),
    );
    let mut rows = Vec::new();
    let mut row_of = vec![0; outer * size * inner];
    for line in 0..outer {
        for column in 0..inner {
            let elements: Vec<Element> = (0..size).map(|k| ((line * size + k) * inner + column) as Element).collect();
            elements.iter().for_each(|&e| row_of[e as usize] = rows.len() as Element);
            rows.push(elements);
        }
    }
    (rows, row_of)
}

/// Softmax over these axes as one.
pub(super) fn softmax(
    x: usize,
    shape: &[usize],
    axes: std::ops::Range<usize>,
    mask: &Mask,
    records: &Records,
) -> Result<Stages, String> {
    let names = ["difference", "exp", "sum", "inverse", "probability"];
    let types = records.types(false, &names, &["probability"])?;
    let (rows, row_of) = rows(shape, axes);
    let by_row = [rows.len()];
    let x = Source::Tensor(x);
    let mut stages = Stages::default();
    let with_mask = |own: &[Source]| [own, mask.sources().as_slice()].concat();
    // What a mask drops is in no row; its difference is that of another element, so that it costs nothing.
    let kept = {
        let (mask, shape, rows) = (mask.clone(), shape.to_vec(), rows.clone());
        move |constants: &[Option<&Tensor>]| {
            let dropped = mask.dropped(constants, &shape)?;
            let left = |row: &Vec<Element>| row.iter().copied().filter(|&e| !dropped[e as usize]).collect::<Vec<_>>();
            let left: Vec<Vec<Element>> = rows.iter().map(left).collect();
            match left.iter().any(Vec::is_empty) {
                true => Err("the mask leaves nothing of a row".to_owned()),
                false => Ok((left, dropped)),
            }
        }
    };
    let own = kept.clone();
    let most = stages.push(&by_row, &with_mask(&[x]), move |c| Ok(Kernel::MaxOf(own(c)?.0)));
    let (own, row) = (kept.clone(), row_of.clone());
    let difference = stages.push(shape, &with_mask(&[x, most]), move |constants| {
        let (left, dropped) = own(constants)?;
        let instead = |e: usize| if dropped[e] { left[row[e] as usize][0] } else { e as Element };
        Ok(Kernel::Binary(Binary::Sub, (0..row.len()).map(instead).collect(), row))
    });
    let difference = stages.quantised(shape, difference, types[0]);
    let exp = stages.table(shape, difference, Function::Exp, types[1]);
    let own = kept.clone();
    let sum = stages.push(&by_row, &with_mask(&[exp]), move |constants| {
        Ok(Kernel::SumOf(own(constants)?.0.into_iter().map(|row| (row, Rational::one())).collect()))
    });
    let sum = stages.quantised(&by_row, sum, types[2]);
    let inverse = stages.table(&by_row, sum, Function::Inverse, types[3]);
    let all: Vec<Element> = (0..row_of.len() as Element).collect();
    let product = stages.push(shape, &[exp, inverse], move |_| Ok(Kernel::Binary(Binary::Mul, all, row_of)));
    let p = stages.quantised(shape, product, types[4]);
    stages.push(shape, &with_mask(&[p]), move |constants| {
        let (_, dropped) = kept(constants)?;
        let element = |(e, dropped): (usize, bool)| (!dropped).then_some((0, e as u32));
        Ok(Kernel::Move(dropped.into_iter().enumerate().map(element).collect()))
    });
    Ok(stages)
}

/// A norm over the axes from `axis` on; factors and summands have their tensors and shapes.
pub(super) fn norm(
    x: usize,
    shape: &[usize],
    axis: usize,
    centred: bool,
    epsilon: &Rational,
    parameters: [Option<(usize, Vec<usize>)>; 2],
    records: &Records,
) -> Result<Stages, String> {
    let types = records.types(true, &["mean_square", "table"], &[])?;
    let (rows, row_of) = rows(shape, axis..shape.len());
    let size = rows.first().map_or(0, Vec::len);
    let share = Rational::new(BigInt::from(1), &BigInt::from(size)).ok_or("a norm over no elements")?;
    let windows: Vec<(Vec<Element>, Rational)> = rows.iter().map(|row| (row.clone(), share.clone())).collect();
    let (by_row, all): ([usize; 1], Vec<Element>) = ([rows.len()], (0..row_of.len() as Element).collect());
    let mut stages = Stages::default();
    let mut value = Source::Tensor(x);
    if centred {
        let own = windows.clone();
        let mean = stages.push(&by_row, &[value], move |_| Ok(Kernel::SumOf(own)));
        let (all, row) = (all.clone(), row_of.clone());
        value = stages.push(shape, &[value, mean], move |_| Ok(Kernel::Binary(Binary::Sub, all, row)));
    }
    let square = stages.push(shape, &[value], |_| Ok(Kernel::Unary(Unary::Power(2))));
    let mean_square = stages.push(&by_row, &[square], move |_| Ok(Kernel::SumOf(windows)));
    let mean_square = stages.quantised(&by_row, mean_square, types[0]);
    let (count, summand) = (rows.len(), vec![epsilon.clone()]);
    let moved = stages.push(&by_row, &[mean_square], move |_| {
        Ok(Kernel::Scale { channel: vec![0; count], factor: vec![Rational::one()], summand })
    });
    let rstd = stages.table(&by_row, moved, Function::InverseRoot, types[1]);
    let own = all.clone();
    let mut result = stages.push(shape, &[value, rstd], move |_| Ok(Kernel::Binary(Binary::Mul, own, row_of)));
    for (parameter, operation) in parameters.into_iter().zip([Binary::Mul, Binary::Add]) {
        let Some((tensor, from)) = parameter else { continue };
        if from.len() > shape.len() || from.iter().rev().zip(shape.iter().rev()).any(|(&a, &b)| a != 1 && a != b) {
            return Err(format!("a parameter of shape {from:?} for a value of shape {shape:?}"));
        }
        let (own, other) = (all.clone(), broadcast_elements(&from, shape));
        let inputs = [result, Source::Tensor(tensor)];
        result = stages.push(shape, &inputs, move |_| Ok(Kernel::Binary(operation, own, other)));
    }
    Ok(stages)
}

/// The labels of an Einsum: of each operand and of the result.
struct Equation {
    operands: [Vec<char>; 2],
    result: Vec<char>,
}

impl Equation {
    fn parse(text: &str) -> Result<Equation, String> {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        if text.contains('.') {
            return Err(format!("the equation {text:?} has an ellipsis, which is not supported"));
        }
        let (left, right) = match text.split_once("->") {
            Some((left, right)) => (left, Some(right)),
            None => (text.as_str(), None),
        };
        let parts: Vec<Vec<char>> = left.split(',').map(|part| part.chars().collect()).collect();
        let operands = <[Vec<char>; 2]>::try_from(parts)
            .map_err(|parts| format!("the equation {text:?} has {} operands; two are supported", parts.len()))?;
        let is_unique = |labels: &[char]| labels.iter().enumerate().all(|(k, label)| !labels[..k].contains(label));
        let valid = |labels: &[char]| labels.iter().all(char::is_ascii_alphabetic) && is_unique(labels);
        let result = match right {
            Some(right) => right.chars().collect(),
            None => {
                // Labels that occur once, in order of the alphabet.
                let all = operands.concat();
                let mut once: Vec<char> =
                    all.iter().copied().filter(|c| all.iter().filter(|d| *d == c).count() == 1).collect();
                once.sort_unstable();
                once
            }
        };
        let known = |label: &char| operands.iter().any(|labels| labels.contains(label));
        if !operands.iter().all(|labels| valid(labels)) || !valid(&result) || !result.iter().all(known) {
            return Err(format!("the equation {text:?} has a label twice in one operand, or one that no operand has"));
        }
        Ok(Equation { operands, result })
    }
}

/// A sum of products: the operand `1 - vector` is brought to `[both][summed][own]` and is the matrix. The number of
/// products comes with it.
pub(super) fn einsum(
    text: &str,
    tensors: [usize; 2],
    shapes: [&[usize]; 2],
    vector: usize,
) -> Result<(Stages, u64), String> {
    let equation = Equation::parse(text)?;
    let mut sizes: Vec<(char, usize)> = Vec::new();
    for (labels, shape) in equation.operands.iter().zip(shapes) {
        if labels.len() != shape.len() {
            return Err(format!("the equation {text:?} for an operand of shape {shape:?}"));
        }
        for (&label, &size) in labels.iter().zip(shape) {
            match sizes.iter().find(|(known, _)| *known == label) {
                Some(&(_, other)) if other != size => {
                    return Err(format!("the label {label} has sizes {other} and {size}"));
                }
                Some(_) => {}
                None => sizes.push((label, size)),
            }
        }
    }
    let size = |label: &char| sizes.iter().find(|(known, _)| known == label).map_or(1, |(_, size)| *size);
    let [x, m] = [vector, 1 - vector].map(|k| &equation.operands[k]);
    // Labels of the matrix alone come last: rows of it share the elements of the vector.
    let own: Vec<char> = equation.result.iter().copied().filter(|l| !x.contains(l)).collect();
    let outer: Vec<char> = equation.result.iter().copied().filter(|l| x.contains(l)).collect();
    let summed: Vec<char> = sizes.iter().map(|(l, _)| *l).filter(|l| !equation.result.contains(l)).collect();
    let shared: Vec<char> = outer.iter().copied().filter(|l| m.contains(l)).collect();
    let of = |labels: &[char]| labels.iter().map(size).collect::<Vec<usize>>();
    let count = |labels: &[char]| {
        let product = labels.iter().map(size).try_fold(1usize, usize::checked_mul).filter(|n| *n <= 1 << 24);
        product.ok_or_else(|| "an Einsum of more than 2^24 terms".to_owned())
    };
    let (n_outer, n_own, n_summed, n_shared) = (count(&outer)?, count(&own)?, count(&summed)?, count(&shared)?);
    let products = [n_outer, n_own, n_summed].iter().try_fold(1u64, |n, &k| n.checked_mul(k as u64));
    let products = products.filter(|n| *n <= 1 << 26).ok_or("an Einsum of more than 2^26 products")?;
    let coordinates = |labels: &[char], index: usize| {
        let strides = strides_of(&of(labels));
        labels.iter().zip(strides).map(|(l, stride)| (*l, index / stride.max(1) % size(l).max(1))).collect::<Vec<_>>()
    };
    let element = |labels: &[char], at: &[(char, usize)]| {
        let strides = strides_of(&of(labels));
        let index = |l: &char| at.iter().find(|(label, _)| label == l).map_or(0, |(_, k)| *k);
        labels.iter().zip(strides).map(|(l, stride)| index(l) * stride).sum::<usize>() as Element
    };
    let mut stages = Stages::default();
    // The matrix as [shared][summed][own]; a summed label that it lacks repeats its elements.
    let mut moved = Vec::with_capacity(n_shared * n_summed * n_own);
    for batch in 0..n_shared {
        for k in 0..n_summed {
            for n in 0..n_own {
                let at = [coordinates(&shared, batch), coordinates(&summed, k), coordinates(&own, n)].concat();
                moved.push(Some((0, element(m, &at))));
            }
        }
    }
    let matrix = Source::Tensor(tensors[1 - vector]);
    let matrix = stages.push(&[n_shared, n_summed, n_own], &[matrix], move |_| Ok(Kernel::Move(moved)));
    let mut groups = Vec::with_capacity(n_outer);
    for line in 0..n_outer {
        let outer_at = coordinates(&outer, line);
        let tap = |k: usize| (k as u32, element(x, &[outer_at.clone(), coordinates(&summed, k)].concat()));
        let output = |n: usize| element(&equation.result, &[outer_at.clone(), coordinates(&own, n)].concat());
        let batch = element(&shared, &outer_at) as usize;
        groups.push(Group {
            taps: (0..n_summed).map(tap).collect(),
            outputs: (0..n_own).map(output).collect(),
            start: (batch * n_summed * n_own) as u32,
            row: n_own as u32,
            column: 1,
        });
    }
    let inputs = [Source::Tensor(tensors[vector]), matrix];
    stages.push(&of(&equation.result), &inputs, move |_| {
        Ok(Kernel::Dot(Dot { vector: 0, groups, factor: Rational::one(), bias: None }))
    });
    Ok((stages, products))
}
