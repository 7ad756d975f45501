//! Computation of a node, resolved to elements: for each element of the output, the input elements that determine it.
//!
//! Strides, padding, broadcasting, axes and reshaping are resolved here, once, to indices of elements. Consumers of a
//! network (the reference evaluator, the lowering, the specification program for proofs) only compute arithmetic.

use super::tensor::Tensor;
use crate::exact::Rational;
use crate::function::Function;
use crate::quantise::{Quantiser, Round};
use num_bigint::BigInt;

/// Index of an element within its tensor.
pub type Element = u32;

/// Computation of one node. Input indices refer to the inputs of the node's [`super::Step`]; every list has an entry
/// for each element of the output.
#[derive(Clone, Debug)]
pub enum Kernel {
    /// Copies of elements: index of the input and of the element, or `None` for zero.
    Move(Vec<Option<(u32, Element)>>),
    /// Operation of two operands, with the element of each operand.
    Binary(Binary, Vec<Element>, Vec<Element>),
    /// The smallest or largest element of all operands.
    Extreme {
        /// `true` for the largest, `false` for the smallest.
        max: bool,
        /// For each input, its elements.
        parts: Vec<Vec<Element>>,
    },
    /// Operation of one operand, element by element.
    Unary(Unary),
    /// `factor * x + summand` by channel.
    Scale {
        /// The channel of each element.
        channel: Vec<u32>,
        /// Factor of each channel.
        factor: Vec<Rational>,
        /// Summand of each channel.
        summand: Vec<Rational>,
    },
    /// Sums of products.
    Dot(Dot),
    /// The largest of several elements.
    MaxOf(Vec<Vec<Element>>),
    /// The sum of several elements, times a factor.
    SumOf(Vec<(Vec<Element>, Rational)>),
    /// Quantisation to raw integer values.
    Quant(Quant),
    /// Rounding of raw integer values to fewer bits.
    Trunc(Trunc),
}

/// Operation of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// `a / b`; `b` is a constant without zeros.
    Div,
}

/// Operation of one operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Unary {
    /// `-x`.
    Neg,
    /// `max(x, 0)`.
    Relu,
    /// `x` if `x` is positive, otherwise the factor times `x`.
    Leaky(Rational),
    /// `min(max(x, low), high)`.
    Clip(Option<Rational>, Option<Rational>),
    /// `x` to the power of this exponent, from one to four.
    Power(u32),
    /// The binary64 number nearest to the square root, for constants only.
    Root,
    /// A real function, whose result the following quantiser rounds.
    Function(Function),
}

/// Sums of products of elements of inputs 0 and 1.
#[derive(Clone, Debug)]
pub struct Dot {
    /// Index of the input that is the vector, 0 or 1; the other input is the matrix.
    pub vector: usize,
    /// Sums over the same elements of the vector.
    pub groups: Vec<Group>,
    /// Factor of all sums.
    pub factor: Rational,
    /// Summands from input 2: the element for each element of the output, and a common factor.
    pub bias: Option<(Vec<Element>, Rational)>,
}

/// Outputs that are sums over the same elements.
#[derive(Clone, Debug)]
pub struct Group {
    /// Elements of the vector, each with the index of its row in the matrix.
    pub taps: Vec<(u32, Element)>,
    /// Elements of the output.
    pub outputs: Vec<Element>,
    /// The matrix element of row `k` and output `n` is `start + k * row + n * column`.
    pub start: u32,
    /// Stride of a row, as in `start`.
    pub row: u32,
    /// Stride of a column, as in `start`.
    pub column: u32,
}

impl Group {
    /// Returns the index of the matrix element for a row and the n-th output.
    pub fn weight(&self, row: u32, n: usize) -> usize {
        self.start as usize + row as usize * self.row as usize + n * self.column as usize
    }
}

/// Quantiser to raw values `q` from `low` to `high`, with the value `(q - z) * s`.
#[derive(Clone, Debug)]
pub struct Quant {
    /// Elements of the operand.
    pub operand: Vec<Element>,
    /// For each element, the index of its entry in `steps`.
    pub step: Vec<u32>,
    /// All different pairs of scale and zero point.
    pub steps: Vec<Step>,
    /// Conversion of `x/s + z` to a raw value.
    pub codes: Codes,
}

/// Scale and zero point.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// Scale, a positive number.
    pub scale: Rational,
    /// Raw value of zero.
    pub zero: BigInt,
}

/// Rule that converts a number to a raw value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Codes {
    /// 1 if the number is not negative, otherwise -1.
    Sign,
    /// Raw value of a type, with its overflow mode; the scale is that of the type, and zero has the raw value 0.
    Type(Quantiser),
    /// Clamped, then rounded.
    Round {
        /// Smallest raw value.
        low: BigInt,
        /// Largest raw value.
        high: BigInt,
        /// Rounding mode.
        round: Round,
    },
}

/// Truncation to `y = round(clamp(roundeven(x/s + z) / ratio))`, with the value `(y - zero) * scale`.
#[derive(Clone, Debug)]
pub struct Trunc {
    /// Elements of the operand.
    pub operand: Vec<Element>,
    /// For each element, the index of its entry in `steps`.
    pub step: Vec<u32>,
    /// All different parameters.
    pub steps: Vec<TruncStep>,
    /// Rounding mode.
    pub round: Round,
}

/// Parameters of a truncation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TruncStep {
    /// Scale and zero point of the operand.
    pub from: Step,
    /// Divisor of the raw value, a power of two.
    pub ratio: Rational,
    /// Smallest and largest quotient, if the quotient is clamped.
    pub clamp: Option<(BigInt, BigInt)>,
    /// Scale of the result.
    pub scale: Rational,
    /// Zero point of the result, which need not be an integer.
    pub zero: Rational,
}

/// Returns, for each element of `shape`, the index of the element of a tensor of shape `from` that is broadcast to it.
pub(super) fn broadcast_elements(from: &[usize], shape: &[usize]) -> Vec<Element> {
    let lead = shape.len() - from.len();
    let mut strides = vec![0usize; shape.len()];
    let mut stride = 1;
    for axis in (0..from.len()).rev() {
        if from[axis] != 1 {
            strides[lead + axis] = stride;
        }
        stride *= from[axis];
    }
    strided(shape, &strides)
}

/// Returns, for each element of `shape` in order, the sum of its coordinates times the strides.
pub(super) fn strided(shape: &[usize], strides: &[usize]) -> Vec<Element> {
    let count = shape.iter().product();
    let mut result = Vec::with_capacity(count);
    if count == 0 {
        return result;
    }
    let mut coordinates = vec![0usize; shape.len()];
    let mut at = 0usize;
    loop {
        result.push(at as Element);
        let mut axis = shape.len();
        loop {
            if axis == 0 {
                return result;
            }
            axis -= 1;
            coordinates[axis] += 1;
            at += strides[axis];
            if coordinates[axis] < shape[axis] {
                break;
            }
            at -= strides[axis] * shape[axis];
            coordinates[axis] = 0;
        }
    }
}

/// Returns the row-major strides of a shape.
pub(super) fn strides_of(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1usize; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// Windows over the spatial axes: for each output position the taps, each with the index of the cell within the kernel
/// and the input position; taps in the padding are omitted.
pub(super) struct Windows {
    /// Taps of each output position.
    pub(super) taps: Vec<Vec<(u32, u32)>>,
}

/// Geometry of one spatial axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) size: usize,
    pub(super) kernel: usize,
    pub(super) stride: usize,
    pub(super) dilation: usize,
    pub(super) before: usize,
    pub(super) out: usize,
}

impl Windows {
    pub(super) fn new(axes: &[Axis]) -> Windows {
        let sizes: Vec<usize> = axes.iter().map(|a| a.out).collect();
        let kernel: Vec<usize> = axes.iter().map(|a| a.kernel).collect();
        let mut taps = Vec::new();
        for position in coordinates(&sizes) {
            let mut here = Vec::new();
            for (cell, offset) in coordinates(&kernel).enumerate() {
                let mut at = Some(0usize);
                for (axis, (&p, &o)) in axes.iter().zip(position.iter().zip(&offset)) {
                    let read =
                        (p * axis.stride + o * axis.dilation).checked_sub(axis.before).filter(|&r| r < axis.size);
                    at = at.zip(read).map(|(at, read)| at * axis.size + read);
                }
                here.extend(at.map(|at| (cell as u32, at as u32)));
            }
            taps.push(here);
        }
        Windows { taps }
    }
}

/// Returns all coordinates within a shape, in row-major order.
pub(super) fn coordinates(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<'_> {
    let count: usize = shape.iter().product();
    let strides = strides_of(shape);
    (0..count).map(move |at| shape.iter().zip(&strides).map(|(&size, &stride)| at / stride % size).collect())
}

/// Returns the distinct entries of parameter tensors, and for each element the index of its entry.
pub(super) fn distinct<T: Eq + std::hash::Hash + Clone>(
    count: usize,
    key_of: impl Fn(usize) -> (u32, u32),
    make: impl Fn(usize) -> T,
) -> (Vec<u32>, Vec<T>) {
    // Two levels of maps, so that numbers are compared once for each combination of entries, not for each element.
    let mut by_key = rustc_hash::FxHashMap::default();
    let mut by_value = rustc_hash::FxHashMap::default();
    let mut all: Vec<T> = Vec::new();
    let numbers = (0..count).map(|k| {
        *by_key.entry(key_of(k)).or_insert_with(|| {
            let value = make(k);
            *by_value.entry(value.clone()).or_insert_with(|| {
                all.push(value);
                all.len() as u32 - 1
            })
        })
    });
    let numbers = numbers.collect();
    (numbers, all)
}

/// Returns the distinct steps, and the index of each element's step, from scales and zero points broadcast to `shape`.
pub(super) fn steps(scale: &Tensor, zero: &Tensor, shape: &[usize]) -> (Vec<u32>, Vec<Step>) {
    let of_scale = broadcast_elements(&scale.shape, shape);
    let of_zero = broadcast_elements(&zero.shape, shape);
    distinct(
        of_scale.len(),
        |k| (of_scale[k], of_zero[k]),
        |k| Step {
            scale: scale.values[of_scale[k] as usize].clone(),
            zero: zero.values[of_zero[k] as usize].numerator(),
        },
    )
}
