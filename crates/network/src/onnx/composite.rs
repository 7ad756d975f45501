//! Operators that become several steps: softmax and the norms whose root depends on the data, with a type for each
//! intermediate value, and Einsum as a product of matrices.

use super::RecordType;
use super::kernel::{Binary, Codes, Dot, Element, Group, Kernel, Quant, Step, Unary, broadcast_elements, strides_of};
use super::tensor::Tensor;
use crate::exact::Rational;
use crate::function::Function;
use crate::graph::quant::{MAX_ENTRY_BITS, QuantFile, Setting, is_table};
use crate::quantise::{Overflow, Quantiser, Round};
use alir_core::num::Kif;
use num_bigint::BigInt;

/// Threshold of a mask: elements below this value (-2^15) are dropped.
const DROPPED: i64 = -(1 << 15);

/// Input of a stage.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// Index of a tensor of the network.
    Tensor(usize),
    /// Index of an earlier stage.
    Stage(usize),
}

/// Function that builds the kernel of a stage once the constants among its inputs are known.
pub(super) type BuildStage = Box<dyn FnOnce(&[Option<&Tensor>]) -> Result<Kernel, String>>;

/// One step of an operator.
pub(super) struct Stage {
    pub(super) shape: Vec<usize>,
    pub(super) inputs: Vec<Source>,
    /// Function that the table of the next stage applies.
    pub(super) pending: Option<Function>,
    /// Type of the arguments of the pending function.
    pub(super) record: Option<RecordType>,
    pub(super) build: BuildStage,
}

/// Stages of one operator; the last stage is the result.
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
        self.0.push(Stage { shape, inputs, pending: None, record: None, build: Box::new(build) });
        Source::Stage(self.0.len() - 1)
    }

    /// Returns a stage with the quantised value; without a quantiser (the value is exact), the source itself.
    fn quantised(&mut self, shape: &[usize], x: Source, quantiser: Option<Quantiser>) -> Source {
        let Some(quantiser) = quantiser else { return x };
        let count: usize = shape.iter().product();
        self.push(shape, &[x], move |_| {
            let step = Step { scale: Rational::one().shifted((-quantiser.kif.frac).into()), zero: BigInt::ZERO };
            let operand = (0..count as Element).collect();
            Ok(Kernel::Quant(Quant { operand, step: vec![0; count], steps: vec![step], codes: Codes::Type(quantiser) }))
        })
    }

    /// Returns a stage with a function of each element, quantised to `to`; the elements have the type `from`. The
    /// quantiser applies the function.
    fn table(
        &mut self,
        shape: &[usize],
        x: Source,
        function: Function,
        (from, to): (&TypedRecord, &TypedRecord),
    ) -> Source {
        let y = self.push(shape, &[x], move |_| Ok(Kernel::Unary(Unary::Function(function))));
        let Source::Stage(index) = y else { return y };
        self.0[index].pending = Some(function);
        self.0[index].record =
            from.quantiser.map(|quantiser| RecordType { place: from.place.clone(), kif: quantiser.kif });
        self.quantised(shape, y, to.quantiser)
    }
}

/// Names of the records of a softmax; records that may be exact are last.
const SOFTMAX: [&str; 5] = ["difference", "exp", "sum", "inverse", "probability"];
/// Names of the records in a norm's `rstd`.
const NORM: [&str; 2] = ["mean_square", "table"];

/// Returns the names of an operator's records; the flag is `true` if the records are inside `rstd`.
fn records_of(operator: &str) -> (bool, &'static [&'static str]) {
    match operator {
        "Softmax" => (false, &SOFTMAX),
        "LayerNormalization" | "RMSNormalization" => (true, &NORM),
        _ => (false, &[]),
    }
}

/// Returns the names in the entry of a node with this operator.
pub(super) fn keys_of(operator: &str) -> &'static [&'static str] {
    match records_of(operator) {
        (true, _) => &["rstd"],
        (false, names) => names,
    }
}

/// Records of a node in the quantisation file.
pub(super) struct Records<'q> {
    pub(super) quant: &'q QuantFile,
    /// Keys of the node, the most general key first.
    pub(super) keys: [String; 2],
    /// `true` if only the structure is checked: a placeholder replaces each missing type.
    pub(super) untyped: bool,
}

/// Type of an intermediate value, and its place in the quantisation file.
struct TypedRecord {
    quantiser: Option<Quantiser>,
    place: String,
}

impl Records<'_> {
    fn setting(&self, norm: bool, name: &str) -> Setting {
        self.quant.record_of(&self.keys, norm, name)
    }

    /// Returns a message with the records that have no type; `None` if all have a type.
    pub(super) fn missing(&self) -> Option<String> {
        let (norm, names) = records_of(&self.keys[0]);
        let missing: Vec<&str> = names.iter().copied().filter(|name| !self.setting(norm, name).is_given()).collect();
        let inside = if norm { ".rstd" } else { "" };
        (!missing.is_empty()).then(|| {
            format!(
                "it needs records with types for {} in the quantisation file (--quant), under nodes.{}{inside}; \
                 missing: {}",
                names.join(", "),
                self.keys[0],
                missing.join(", ")
            )
        })
    }

    /// Returns the types of the records, or a message with the missing records.
    fn types(&self) -> Result<Vec<TypedRecord>, String> {
        if let Some(missing) = self.missing().filter(|_| !self.untyped) {
            return Err(missing);
        }
        let (norm, names) = records_of(&self.keys[0]);
        let typed = |name: &&str| {
            let (setting, place) = (self.setting(norm, name), self.quant.record_place(&self.keys, norm, name));
            let quantiser = match setting.quantiser() {
                None if !setting.is_given() => Some(any_type()),
                None if *name != "probability" => return Err(format!("{name} cannot be exact: a table needs types")),
                found => found,
            };
            match quantiser.filter(|q| is_table(name) && q.kif.width() > MAX_ENTRY_BITS) {
                Some(Quantiser { kif, .. }) => Err(format!(
                    "the record {place} ({kif}) has {} bits; entries of tables have at most {MAX_ENTRY_BITS}: give the \
                     record a narrower type",
                    kif.width()
                )),
                None => Ok(TypedRecord { quantiser, place }),
            }
        };
        names.iter().map(typed).collect()
    }
}

/// Returns a placeholder for a missing type.
fn any_type() -> Quantiser {
    Quantiser { kif: Kif { signed: true, int: 3, frac: 4 }, round: Round::Floor, overflow: Overflow::Saturate }
}

/// Constant mask before a softmax, which drops elements.
#[derive(Clone, Debug)]
pub(super) enum Mask {
    /// No element is dropped.
    None,
    /// A tensor of this shape is added.
    Added { tensor: usize, shape: Vec<usize> },
    /// A condition selects one of two values; each constant value has its tensor and shape.
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

    /// Returns `true` for each element of the shape that is dropped. The tensors of the mask are the last constants.
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

/// Returns the elements of each row, and the index of each element's row.
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

/// Returns the position of an element's row as text: `[0, 2, :]` if the row extends along the last axis.
fn position(shape: &[usize], axes: &std::ops::Range<usize>, element: usize) -> String {
    let coordinate = |(axis, stride): (usize, usize)| match axes.contains(&axis) {
        true => ":".to_owned(),
        false => (element / stride % shape[axis]).to_string(),
    };
    let all: Vec<String> = strides_of(shape).into_iter().enumerate().map(coordinate).collect();
    format!("[{}]", all.join(", "))
}

/// Returns the stages of a softmax over all of these axes together.
pub(super) fn softmax(
    x: usize,
    shape: &[usize],
    axes: std::ops::Range<usize>,
    mask: &Mask,
    records: &Records,
) -> Result<Stages, String> {
    let types = records.types()?;
    let [difference_type, exp_type, sum_type, inverse_type, probability_type] = types.as_slice() else {
        return Err("a softmax without its records".to_owned());
    };
    let (rows, row_of) = rows(shape, axes.clone());
    let by_row = [rows.len()];
    let x = Source::Tensor(x);
    let mut stages = Stages::default();
    let with_mask = |own: &[Source]| [own, mask.sources().as_slice()].concat();
    // A dropped element is in no row; its difference is that of another element, so that it needs no hardware.
    let kept = {
        let (mask, shape, rows, axes) = (mask.clone(), shape.to_vec(), rows.clone(), axes.clone());
        move |constants: &[Option<&Tensor>]| {
            let dropped = mask.dropped(constants, &shape)?;
            let left = |row: &Vec<Element>| row.iter().copied().filter(|&e| !dropped[e as usize]).collect::<Vec<_>>();
            let left: Vec<Vec<Element>> = rows.iter().map(left).collect();
            match left.iter().position(Vec::is_empty) {
                Some(row) => {
                    let row = position(&shape, &axes, rows[row][0] as usize);
                    Err(format!("the mask leaves nothing of the row {row}: it needs an element that is kept"))
                }
                None => Ok((left, dropped)),
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
    let difference = stages.quantised(shape, difference, difference_type.quantiser);
    let exp = stages.table(shape, difference, Function::Exp, (difference_type, exp_type));
    let own = kept.clone();
    let sum = stages.push(&by_row, &with_mask(&[exp]), move |constants| {
        Ok(Kernel::SumOf(own(constants)?.0.into_iter().map(|row| (row, Rational::one())).collect()))
    });
    let sum = stages.quantised(&by_row, sum, sum_type.quantiser);
    let inverse = stages.table(&by_row, sum, Function::Inverse, (sum_type, inverse_type));
    let all: Vec<Element> = (0..row_of.len() as Element).collect();
    let product = stages.push(shape, &[exp, inverse], move |_| Ok(Kernel::Binary(Binary::Mul, all, row_of)));
    let p = stages.quantised(shape, product, probability_type.quantiser);
    stages.push(shape, &with_mask(&[p]), move |constants| {
        let (_, dropped) = kept(constants)?;
        let element = |(e, dropped): (usize, bool)| (!dropped).then_some((0, e as u32));
        Ok(Kernel::Move(dropped.into_iter().enumerate().map(element).collect()))
    });
    Ok(stages)
}

/// Factors or summands of a norm.
pub(super) struct Parameter {
    pub(super) tensor: usize,
    pub(super) shape: Vec<usize>,
    /// Role and name, for messages.
    pub(super) title: String,
}

/// Returns the stages of a norm over the axes from `axis` on.
pub(super) fn norm(
    x: usize,
    shape: &[usize],
    axis: usize,
    centred: bool,
    epsilon: &Rational,
    parameters: [Option<Parameter>; 2],
    records: &Records,
) -> Result<Stages, String> {
    let types = records.types()?;
    let [mean_square_type, table_type] = types.as_slice() else { return Err("a norm without its records".to_owned()) };
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
    let mean_square = stages.quantised(&by_row, mean_square, mean_square_type.quantiser);
    let (count, summand) = (rows.len(), vec![epsilon.clone()]);
    let moved = stages.push(&by_row, &[mean_square], move |_| {
        Ok(Kernel::Scale { channel: vec![0; count], factor: vec![Rational::one()], summand })
    });
    let rstd = stages.table(&by_row, moved, Function::InverseRoot, (mean_square_type, table_type));
    let own = all.clone();
    let mut result = stages.push(shape, &[value, rstd], move |_| Ok(Kernel::Binary(Binary::Mul, own, row_of)));
    for (parameter, operation) in parameters.into_iter().zip([Binary::Mul, Binary::Add]) {
        let Some(Parameter { tensor, shape: from, title }) = parameter else { continue };
        if from.len() > shape.len() || from.iter().rev().zip(shape.iter().rev()).any(|(&a, &b)| a != 1 && a != b) {
            return Err(format!(
                "{title} of shape {from:?} for an input of shape {shape:?}: it needs the last axes of the input, \
                 or sizes of 1"
            ));
        }
        let (own, other) = (all.clone(), broadcast_elements(&from, shape));
        let inputs = [result, Source::Tensor(tensor)];
        result = stages.push(shape, &inputs, move |_| Ok(Kernel::Binary(operation, own, other)));
    }
    Ok(stages)
}

/// Labels of an Einsum: those of each operand, and those of the result.
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
        let result: Vec<char> = match right {
            Some(right) => right.chars().collect(),
            None => {
                // Labels that occur once, in alphabetical order.
                let all = operands.concat();
                let mut once: Vec<char> =
                    all.iter().copied().filter(|c| all.iter().filter(|d| *d == c).count() == 1).collect();
                once.sort_unstable();
                once
            }
        };
        let parts = [("operand 0", &operands[0]), ("operand 1", &operands[1]), ("the result", &result)];
        for (part, labels) in parts {
            if let Some(other) = labels.iter().find(|label| !label.is_ascii_alphabetic()) {
                return Err(format!(
                    "the equation {text:?} has {other:?} in {part}; it is of the form \"ij,jk->ik\", with letters as \
                     labels"
                ));
            }
            let repeated = labels.iter().enumerate().find(|(k, label)| labels[..*k].contains(label));
            if let Some((_, label)) = repeated {
                return Err(format!(
                    "the equation {text:?} has the label {label} twice in {part}; that is not supported"
                ));
            }
        }
        let known = |label: &char| operands.iter().any(|labels| labels.contains(label));
        match result.iter().find(|label| !known(label)) {
            Some(label) => Err(format!("the equation {text:?} has the label {label} in the result and in no operand")),
            None => Ok(Equation { operands, result }),
        }
    }
}

/// Returns the stage of an Einsum as a sum of products, and the number of products. The operand `1 - vector` is the
/// matrix; it is reordered to `[both][summed][own]`.
pub(super) fn einsum(
    text: &str,
    tensors: [usize; 2],
    shapes: [&[usize]; 2],
    vector: usize,
) -> Result<(Stages, u64), String> {
    let equation = Equation::parse(text)?;
    let mut sizes: Vec<(char, usize)> = Vec::new();
    for (k, (labels, shape)) in equation.operands.iter().zip(shapes).enumerate() {
        if labels.len() != shape.len() {
            return Err(format!(
                "the equation {text:?} has {} labels for operand {k}, whose shape {shape:?} has {} axes",
                labels.len(),
                shape.len()
            ));
        }
        for (&label, &size) in labels.iter().zip(shape) {
            match sizes.iter().find(|(known, _)| *known == label) {
                Some(&(_, other)) if other != size => {
                    return Err(format!("the label {label} of the equation {text:?} has sizes {other} and {size}"));
                }
                Some(_) => {}
                None => sizes.push((label, size)),
            }
        }
    }
    let size = |label: &char| sizes.iter().find(|(known, _)| known == label).map_or(1, |(_, size)| *size);
    let [x, m] = [vector, 1 - vector].map(|k| &equation.operands[k]);
    // Labels that only the matrix has come last: rows of the matrix share the elements of the vector.
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
    // The matrix as [shared][summed][own]; the elements repeat along a summed label that the matrix does not have.
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
