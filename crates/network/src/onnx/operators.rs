//! Operators of ONNX and QONNX: attributes, shapes, and the kernel of each operator.
//!
//! Nodes are processed in two steps, because sizes are checked before any weight is read: [`resolve`] uses only
//! attributes, shapes and small constants, and returns the shape of the result and a [`Build`]; the latter creates the
//! kernel once all constants are known.

use super::kernel::{
    self, Axis, Binary, Codes, Dot, Group, Kernel, Quant, Step, Trunc, TruncStep, Unary, Windows, broadcast_elements,
    strided, strides_of,
};
use super::proto::{self, AttributeProto, NodeProto};
use super::tensor::{MAX_AXES, MAX_ELEMENTS, Tensor, elements};
use crate::exact::Rational;
use crate::function::Function;
use crate::quantise::Round;
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive};

/// Domains of the quantiser operators.
const QUANT_DOMAINS: [&str; 5] =
    ["qonnx.custom_op.general", "onnx.brevitas", "finn.custom_op.general", "qonnx", "finn"];
/// Maximum number of elements that the windows and sums of one node read in total.
const MAX_TAPS: usize = 1 << 26;

/// Input of a node: its shape and, if it is small and constant, its value.
pub(super) struct Operand<'a> {
    pub(super) shape: &'a [usize],
    pub(super) known: Option<&'a Tensor>,
}

/// Creates the kernel once the constants among the inputs are known.
pub(super) type Build = Box<dyn FnOnce(&[Option<&Tensor>]) -> Result<Kernel, String>>;

/// Result of `resolve` for a node.
pub(super) struct Resolved {
    /// Shape of the result.
    pub(super) shape: Vec<usize>,
    /// Indices of the node's inputs that the kernel reads, in the order of the kernel's operands.
    pub(super) inputs: Vec<usize>,
    /// Number of products of a matrix: `in * out * positions`.
    pub(super) products: u64,
    /// The kernel, or the value of a node that depends on shapes only.
    pub(super) result: Outcome,
}

/// Kernel or value of a node, see [`Resolved::result`].
pub(super) enum Outcome {
    Kernel(Build),
    Value(Tensor),
}

/// Returns `true` if the operator is supported.
pub(super) fn supported(node: &NodeProto) -> bool {
    let operator = node.op_type.as_deref().unwrap_or("");
    match operator {
        "Quant" | "IntQuant" | "BipolarQuant" | "Trunc" => {
            QUANT_DOMAINS.contains(&node.domain.as_deref().unwrap_or(""))
        }
        _ => is_standard(node) && STANDARD.contains(&operator),
    }
}

/// Returns `true` if the node's operator is in ONNX's own domain.
pub(super) fn is_standard(node: &NodeProto) -> bool {
    matches!(node.domain.as_deref().unwrap_or(""), "" | "ai.onnx")
}

/// Operators of ONNX that have a kernel; `Constant` is read with the initialisers.
const STANDARD: [&str; 47] = [
    "Add",
    "AveragePool",
    "BatchNormalization",
    "Cast",
    "Clip",
    "Concat",
    "Constant",
    "Conv",
    "Div",
    "Dropout",
    "Einsum",
    "Expand",
    "Flatten",
    "Gather",
    "Gelu",
    "Gemm",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "Identity",
    "LayerNormalization",
    "LeakyRelu",
    "MatMul",
    "Max",
    "MaxPool",
    "Min",
    "Mul",
    "Neg",
    "Pad",
    "Pow",
    "RMSNormalization",
    "ReduceMean",
    "ReduceSum",
    "Relu",
    "Reshape",
    "Shape",
    "Sigmoid",
    "Slice",
    "Softmax",
    "Split",
    "Sqrt",
    "Squeeze",
    "Sub",
    "Tanh",
    "Tile",
    "Transpose",
    "Unsqueeze",
    "Where",
];

/// A node with its inputs; `None` for an optional input that the node omits.
pub(super) struct Node<'a> {
    pub(super) proto: &'a NodeProto,
    pub(super) operands: Vec<Option<Operand<'a>>>,
}

/// Returns the shape and the kernel of a node.
///
/// # Errors
/// Returns the reason why the node is not supported.
pub(super) fn resolve(node: &Node) -> Result<Resolved, String> {
    match node.proto.op_type.as_deref().unwrap_or("") {
        "Quant" | "IntQuant" => quant(node),
        "BipolarQuant" => bipolar_quant(node),
        "Trunc" => trunc(node),
        "Add" => binary(node, Binary::Add),
        "Sub" => binary(node, Binary::Sub),
        "Mul" => binary(node, Binary::Mul),
        "Div" => binary(node, Binary::Div),
        "Max" => extreme(node, true),
        "Min" => extreme(node, false),
        "Neg" => unary(node, Unary::Neg),
        "Relu" => unary(node, Unary::Relu),
        "LeakyRelu" => unary(node, Unary::Leaky(float_attribute(node, "alpha", 0.01)?)),
        "Sigmoid" => unary(node, Unary::Function(Function::Sigmoid)),
        "Tanh" => unary(node, Unary::Function(Function::Tanh)),
        "Gelu" => gelu(node),
        "Clip" => clip(node),
        "Pow" => pow(node),
        "Sqrt" => sqrt(node),
        "BatchNormalization" => batch_normalization(node),
        "MatMul" => mat_mul(node),
        "Gemm" => gemm(node),
        "Conv" => conv(node),
        "MaxPool" => pool(node, Pool::Max),
        "AveragePool" => pool(node, Pool::Average),
        "GlobalMaxPool" => global_pool(node, true),
        "GlobalAveragePool" => global_pool(node, false),
        "ReduceMean" => reduce(node, true),
        "ReduceSum" => reduce(node, false),
        "Identity" => move_all(node, node.shape(0)?.to_vec()),
        "Dropout" => dropout(node),
        "Flatten" => flatten(node),
        "Reshape" => reshape(node),
        "Squeeze" => squeeze(node),
        "Unsqueeze" => unsqueeze(node),
        "Transpose" => transpose(node),
        "Concat" => concat(node),
        "Pad" => pad(node),
        "Gather" => gather(node),
        "Slice" => slice(node),
        "Split" => split(node),
        "Expand" => expand(node),
        "Tile" => tile(node),
        "Cast" => cast(node),
        "Shape" => shape(node),
        "Where" => choose(node),
        other => Err(format!("{other} is not supported")),
    }
}

impl<'a> Node<'a> {
    fn operand(&self, input: usize) -> Result<&Operand<'a>, String> {
        self.optional(input).ok_or_else(|| format!("input {input} is missing"))
    }

    fn optional(&self, input: usize) -> Option<&Operand<'a>> {
        self.operands.get(input)?.as_ref()
    }

    fn shape(&self, input: usize) -> Result<&'a [usize], String> {
        Ok(self.operand(input)?.shape)
    }

    /// Returns a small constant input, such as a shape.
    fn constant(&self, input: usize, what: &str) -> Result<&'a Tensor, String> {
        self.operand(input)?.known.ok_or_else(|| format!("{what} must be constant"))
    }

    pub(super) fn count(&self, least: usize, most: usize) -> Result<(), String> {
        check_count(self.operands.len(), least, most)
    }

    fn attribute(&self, name: &str) -> Result<Option<&'a AttributeProto>, String> {
        let mut found = self.proto.attribute.iter().filter(|a| a.name.as_deref() == Some(name));
        let first = found.next();
        if found.next().is_some() {
            return Err(format!("the attribute {name} is given twice"));
        }
        if first.is_some_and(|a| a.ref_attr_name.as_deref().is_some_and(|r| !r.is_empty())) {
            return Err(format!("the attribute {name} is that of a function, which is not supported"));
        }
        Ok(first)
    }

    pub(super) fn integer(&self, name: &str, default: i64) -> Result<i64, String> {
        match self.attribute(name)? {
            None => Ok(default),
            Some(a) => {
                a.i.or((a.kind == Some(2)).then_some(0)).ok_or_else(|| format!("the attribute {name} is no integer"))
            }
        }
    }

    fn integers(&self, name: &str) -> Result<Option<Vec<i64>>, String> {
        match self.attribute(name)? {
            None => Ok(None),
            Some(a) if a.i.is_some() || a.f.is_some() || a.s.is_some() => {
                Err(format!("the attribute {name} is no list of integers"))
            }
            Some(a) => Ok(Some(a.ints.clone())),
        }
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, String> {
        let Some(a) = self.attribute(name)? else { return Ok(None) };
        let bytes = a.s.clone().ok_or_else(|| format!("the attribute {name} is no text"))?;
        String::from_utf8(bytes).map(Some).map_err(|_| format!("the attribute {name} is no text"))
    }

    /// Returns the axes, given as an attribute (older opsets) or as a constant input; `None` if they are omitted.
    fn axes(&self, input: usize) -> Result<Option<Vec<i64>>, String> {
        if let Some(axes) = self.integers("axes")? {
            return Ok(Some(axes));
        }
        if self.optional(input).is_none() {
            return Ok(None);
        }
        let axes = self.constant(input, "axes")?.integers().ok_or("axes must be whole numbers")?;
        Ok(Some(axes))
    }
}

/// Checks the number of inputs.
///
/// # Errors
/// Returns a message with the number, and with the `least` and `most` inputs of the operator.
pub(super) fn check_count(count: usize, least: usize, most: usize) -> Result<(), String> {
    if (least..=most).contains(&count) {
        return Ok(());
    }
    let expected = if least == most { least.to_string() } else { format!("{least} to {most}") };
    Err(format!("{count} inputs; it has {expected}"))
}

/// Returns a float attribute as the exact value of its float32; the default is a float32, too.
pub(super) fn float_attribute(node: &Node, name: &str, default: f32) -> Result<Rational, String> {
    let value = match node.attribute(name)? {
        None => default,
        Some(a) => {
            a.f.or((a.kind == Some(1)).then_some(0.0)).ok_or_else(|| format!("the attribute {name} is no float"))?
        }
    };
    Rational::from_f64(value.into()).ok_or_else(|| format!("the attribute {name} is NaN or infinite"))
}

pub(super) fn axis_of(axis: i64, rank: usize) -> Result<usize, String> {
    let from_front = if axis < 0 { axis.checked_add(rank as i64) } else { Some(axis) };
    from_front
        .and_then(|a| usize::try_from(a).ok())
        .filter(|&a| a < rank)
        .ok_or_else(|| format!("axis {axis} of a tensor with {rank} axes"))
}

/// Returns the shape to which shapes are broadcast.
fn broadcast(shapes: &[&[usize]]) -> Result<Vec<usize>, String> {
    let rank = shapes.iter().map(|s| s.len()).max().unwrap_or(0);
    let mut result = vec![1; rank];
    for shape in shapes {
        for (at, &size) in result[rank - shape.len()..].iter_mut().zip(*shape) {
            if *at == 1 {
                *at = size;
            } else if size != 1 && size != *at {
                let shown: Vec<_> = shapes.iter().map(|s| format!("{s:?}")).collect();
                return Err(format!("shapes {} do not go together", shown.join(" and ")));
            }
        }
    }
    Ok(result)
}

fn limited(shape: &[usize]) -> Result<usize, String> {
    if shape.len() > MAX_AXES {
        return Err(format!("{} axes; at most {MAX_AXES} are supported", shape.len()));
    }
    elements(shape).ok_or_else(|| format!("the result's shape {shape:?} has more than {MAX_ELEMENTS} elements"))
}

fn resolved(
    shape: Vec<usize>,
    inputs: Vec<usize>,
    build: impl FnOnce(&[Option<&Tensor>]) -> Result<Kernel, String> + 'static,
) -> Result<Resolved, String> {
    limited(&shape)?;
    Ok(Resolved { shape, inputs, products: 0, result: Outcome::Kernel(Box::new(build)) })
}

// Quantisers.

fn rounding(node: &Node, default: &str) -> Result<Round, String> {
    let name = node.text("rounding_mode")?.unwrap_or_else(|| default.to_owned());
    Ok(match name.to_ascii_uppercase().as_str() {
        "ROUND" | "HALF_EVEN" => Round::HalfEven,
        "CEIL" => Round::Ceil,
        "FLOOR" => Round::Floor,
        "UP" => Round::AwayFromZero,
        "DOWN" => Round::TowardZero,
        "HALF_UP" => Round::HalfAway,
        "HALF_DOWN" => Round::HalfTowardZero,
        _ => {
            return Err(format!(
                "the rounding mode {name} is not known; there are ROUND, HALF_EVEN, CEIL, FLOOR, UP, DOWN, HALF_UP, \
                 HALF_DOWN"
            ));
        }
    })
}

fn flag(node: &Node, name: &str, default: Option<i64>) -> Result<bool, String> {
    let value = match (node.attribute(name)?, default) {
        (None, None) => return Err(format!("the attribute {name} is missing")),
        (_, default) => node.integer(name, default.unwrap_or(0))?,
    };
    match value {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(format!("the attribute {name} is {other}, neither 0 nor 1")),
    }
}

fn bit_width(bits: &Tensor, what: &str) -> Result<u32, String> {
    let bits = bits.single().ok_or_else(|| format!("{what} must be one number"))?;
    let whole = bits.is_integer().then(|| bits.numerator().to_u32()).flatten().filter(|b| (1..=64).contains(b));
    whole.ok_or_else(|| format!("{what} is {}; it must be a whole number from 1 to 64", bits.to_f64()))
}

/// Returns the smallest and largest raw value of `bits` bits.
fn codes_of(bits: u32, signed: bool, narrow: bool) -> (BigInt, BigInt) {
    let narrow = i64::from(narrow);
    if signed {
        let half = BigInt::one() << (bits - 1);
        (narrow - &half, half - 1)
    } else {
        (BigInt::ZERO, (BigInt::one() << bits) - 1 - narrow)
    }
}

fn constant_input<'a>(constants: &[Option<&'a Tensor>], input: usize, what: &str) -> Result<&'a Tensor, String> {
    constants[input].ok_or_else(|| format!("{what} must be constant"))
}

fn scales<'a>(constants: &[Option<&'a Tensor>], input: usize, what: &str) -> Result<&'a Tensor, String> {
    let scale = constant_input(constants, input, what)?;
    if let Some(at) = scale.values.iter().position(|s| s.is_zero() || s.is_negative()) {
        let which = match scale.values.len() {
            1 => String::new(),
            _ => format!(" of channel {}", channel(&scale.shape, at)),
        };
        let pruned =
            if scale.values[at].is_zero() { " (a pruned channel: leave it out, or give it any scale)" } else { "" };
        return Err(format!("{what}{which} is {}; it must be positive{pruned}", scale.values[at].to_f64()));
    }
    Ok(scale)
}

/// Describes an element by its index in the axes that have more than one element.
fn channel(shape: &[usize], element: usize) -> String {
    let mut rest = element;
    let mut index = Vec::new();
    for &size in shape.iter().rev() {
        if size > 1 {
            index.push((rest % size).to_string());
        }
        rest /= size.max(1);
    }
    index.reverse();
    index.join(", ")
}

fn zero_points<'a>(constants: &[Option<&'a Tensor>], input: usize) -> Result<&'a Tensor, String> {
    let zero = constant_input(constants, input, "the zero point")?;
    if let Some(bad) = zero.values.iter().find(|z| !z.is_integer()) {
        return Err(format!("the zero point is {}; it must be a whole number", bad.to_f64()));
    }
    Ok(zero)
}

fn quant(node: &Node) -> Result<Resolved, String> {
    node.count(4, 4)?;
    let round = rounding(node, "ROUND")?;
    let (signed, narrow) = (flag(node, "signed", None)?, flag(node, "narrow", None)?);
    let (x, scale, zero) = (node.shape(0)?, node.shape(1)?, node.shape(2)?);
    node.shape(3)?;
    let shape = broadcast(&[x, scale, zero])?;
    limited(&shape)?;
    let operand = broadcast_elements(x, &shape);
    resolved(shape.clone(), vec![0, 1, 2, 3], move |constants| {
        let (scale, zero) = (scales(constants, 1, "the scale")?, zero_points(constants, 2)?);
        let bits = bit_width(constant_input(constants, 3, "the bit width")?, "the bit width")?;
        let (low, high) = codes_of(bits, signed, narrow);
        let codes = if bits == 1 && signed { Codes::Sign } else { Codes::Round { low, high, round } };
        let (step, steps) = kernel::steps(scale, zero, &shape);
        Ok(Kernel::Quant(Quant { operand, step, steps, codes }))
    })
}

fn bipolar_quant(node: &Node) -> Result<Resolved, String> {
    node.count(2, 2)?;
    let (x, scale) = (node.shape(0)?, node.shape(1)?);
    let shape = broadcast(&[x, scale])?;
    limited(&shape)?;
    let operand = broadcast_elements(x, &shape);
    resolved(shape.clone(), vec![0, 1], move |constants| {
        let scale = scales(constants, 1, "the scale")?;
        let zero = Tensor { shape: Vec::new(), values: vec![Rational::zero()] };
        let (step, steps) = kernel::steps(scale, &zero, &shape);
        Ok(Kernel::Quant(Quant { operand, step, steps, codes: Codes::Sign }))
    })
}

fn trunc(node: &Node) -> Result<Resolved, String> {
    node.count(5, 6)?;
    let six = node.operands.len() == 6;
    let round = rounding(node, "FLOOR")?;
    let (signed, narrow) = (flag(node, "signed", Some(1))?, flag(node, "narrow", Some(0))?);
    let (x, scale, zero) = (node.shape(0)?, node.shape(1)?, node.shape(2)?);
    let out_scale = if six { node.shape(4)? } else { &[] };
    let shape = broadcast(&[x, scale, zero, out_scale])?;
    limited(&shape)?;
    let operand = broadcast_elements(x, &shape);
    let to_scale = broadcast_elements(out_scale, &shape);
    let inputs = (0..node.operands.len()).collect();
    resolved(shape.clone(), inputs, move |constants| {
        let (scale, zero) = (scales(constants, 1, "the scale")?, zero_points(constants, 2)?);
        let bits = |input, what| bit_width(constant_input(constants, input, what)?, what);
        let from_bits = bits(3, "the bit width of the input")?;
        let to_bits = bits(if six { 5 } else { 4 }, "the bit width of the output")?;
        let (step, from) = kernel::steps(scale, zero, &shape);
        if !six {
            let ratio = Rational::one().shifted(i64::from(from_bits) - i64::from(to_bits));
            let make = |from: Step| TruncStep {
                scale: from.scale.clone(),
                zero: from.zero.clone().into(),
                ratio: ratio.clone(),
                clamp: None,
                from,
            };
            return Ok(Kernel::Trunc(Trunc { operand, step, steps: from.into_iter().map(make).collect(), round }));
        }
        let out = scales(constants, 4, "the scale of the output")?;
        for k in 0..step.len() {
            let ratio = out.values[to_scale[k] as usize].checked_div(&from[step[k] as usize].scale);
            if ratio.as_ref().is_none_or(|ratio| ratio.log2().is_none()) {
                return Err("the scale of the output over that of the input is no power of two".to_owned());
            }
        }
        let (step, steps) = kernel::distinct(
            step.len(),
            |k| (step[k], to_scale[k]),
            |k| {
                let (from, scale) = (from[step[k] as usize].clone(), out.values[to_scale[k] as usize].clone());
                let ratio = scale.checked_div(&from.scale).expect("scales are positive");
                let zero = Rational::from(from.zero.clone()).checked_div(&ratio).expect("a power of two");
                TruncStep { from, ratio, clamp: Some(codes_of(to_bits, signed, narrow)), scale, zero }
            },
        );
        Ok(Kernel::Trunc(Trunc { operand, step, steps, round }))
    })
}

// Element by element.

fn binary(node: &Node, operation: Binary) -> Result<Resolved, String> {
    node.count(2, 2)?;
    let (a, b) = (node.shape(0)?, node.shape(1)?);
    let shape = broadcast(&[a, b])?;
    limited(&shape)?;
    let (a, b) = (broadcast_elements(a, &shape), broadcast_elements(b, &shape));
    resolved(shape, vec![0, 1], move |constants| {
        if operation == Binary::Div {
            let divisor = constant_input(constants, 1, "the divisor")?;
            if divisor.values.iter().any(Rational::is_zero) {
                return Err("division by zero".to_owned());
            }
        }
        Ok(Kernel::Binary(operation, a, b))
    })
}

fn extreme(node: &Node, max: bool) -> Result<Resolved, String> {
    node.count(1, 1024)?;
    let shapes = (0..node.operands.len()).map(|k| node.shape(k)).collect::<Result<Vec<_>, _>>()?;
    let shape = broadcast(&shapes)?;
    limited(&shape)?;
    let parts = shapes.iter().map(|s| broadcast_elements(s, &shape)).collect();
    resolved(shape, (0..shapes.len()).collect(), move |_| Ok(Kernel::Extreme { max, parts }))
}

fn unary(node: &Node, operation: Unary) -> Result<Resolved, String> {
    node.count(1, 1)?;
    resolved(node.shape(0)?.to_vec(), vec![0], move |_| Ok(Kernel::Unary(operation)))
}

fn gelu(node: &Node) -> Result<Resolved, String> {
    let function = match node.text("approximate")?.as_deref() {
        None | Some("none") => Function::Gelu,
        Some("tanh") => Function::GeluTanh,
        Some(other) => return Err(format!("approximate is {other}; there are none and tanh")),
    };
    unary(node, Unary::Function(function))
}

fn clip(node: &Node) -> Result<Resolved, String> {
    node.count(1, 3)?;
    let attribute = |name| {
        Ok::<_, String>(match node.attribute(name)? {
            None => None,
            Some(_) => Some(float_attribute(node, name, 0.0)?),
        })
    };
    let (low, high) = (attribute("min")?, attribute("max")?);
    let given: Vec<usize> = (1..3).filter(|&k| node.optional(k).is_some()).collect();
    let mut inputs = vec![0];
    inputs.extend(&given);
    resolved(node.shape(0)?.to_vec(), inputs, move |constants| {
        let bound = |input: usize, attribute: Option<Rational>| match given.iter().position(|&k| k == input) {
            None => Ok(attribute),
            Some(at) => {
                let bound = constant_input(constants, at + 1, "a bound")?;
                bound.single().cloned().map(Some).ok_or_else(|| "a bound must be one number".to_owned())
            }
        };
        Ok(Kernel::Unary(Unary::Clip(bound(1, low)?, bound(2, high)?)))
    })
}

fn pow(node: &Node) -> Result<Resolved, String> {
    node.count(2, 2)?;
    let (x, exponent) = (node.shape(0)?, node.shape(1)?);
    if broadcast(&[x, exponent])? != x {
        return Err("an exponent of more elements than its base is not supported".to_owned());
    }
    resolved(x.to_vec(), vec![0, 1], move |constants| {
        let exponents = &constant_input(constants, 1, "the exponent")?.values;
        let Some(exponent) = exponents.first().filter(|first| exponents.iter().all(|e| e == *first)) else {
            return Err("exponents that differ are not supported".to_owned());
        };
        if exponent.log2() == Some(-1) {
            let base = constant_input(constants, 0, "the base of a power of 1/2")?;
            return root_of(base);
        }
        let whole = exponent.is_integer().then(|| exponent.numerator().to_u32()).flatten();
        match whole.filter(|e| (1..=4).contains(e)) {
            Some(exponent) => Ok(Kernel::Unary(Unary::Power(exponent))),
            None => Err(format!("the exponent is {}; 1 to 4 are supported, 1/2 of constants", exponent.to_f64())),
        }
    })
}

fn root_of(base: &Tensor) -> Result<Kernel, String> {
    if base.values.iter().any(Rational::is_negative) {
        return Err("the root of a negative number".to_owned());
    }
    Ok(Kernel::Unary(Unary::Root))
}

fn sqrt(node: &Node) -> Result<Resolved, String> {
    node.count(1, 1)?;
    resolved(node.shape(0)?.to_vec(), vec![0], move |constants| {
        root_of(constant_input(constants, 0, "the operand of Sqrt")?)
    })
}

fn batch_normalization(node: &Node) -> Result<Resolved, String> {
    node.count(5, 5)?;
    if node.integer("training_mode", 0)? != 0 {
        return Err("training_mode is not supported".to_owned());
    }
    if node.integer("spatial", 1)? != 1 {
        return Err("spatial = 0 is not supported".to_owned());
    }
    let epsilon = float_attribute(node, "epsilon", 1e-5)?;
    let shape = node.shape(0)?.to_vec();
    let channels = *shape.get(1).ok_or("its input has no axis of channels")?;
    for (input, name) in ["scale", "B", "mean", "var"].iter().enumerate() {
        let found = node.shape(input + 1)?;
        if found != [channels] {
            return Err(format!("{name} has the shape {found:?}, its input {channels} channels"));
        }
    }
    let mut strides = vec![0; shape.len()];
    strides[1] = 1;
    limited(&shape)?;
    let channel = strided(&shape, &strides);
    resolved(shape, vec![0, 1, 2, 3, 4], move |constants| {
        let parameter = |k: usize, name: &str| Ok::<_, String>(&constant_input(constants, k, name)?.values);
        let (gamma, beta) = (parameter(1, "scale")?, parameter(2, "B")?);
        let (mean, variance) = (parameter(3, "mean")?, parameter(4, "var")?);
        let mut factor = Vec::with_capacity(channels);
        let mut summand = Vec::with_capacity(channels);
        for c in 0..channels {
            let a = normaliser(&gamma[c], &(&variance[c] + &epsilon))?;
            summand.push(&beta[c] - &(&a * &mean[c]));
            factor.push(a);
        }
        Ok(Kernel::Scale { channel, factor, summand })
    })
}

/// Returns the binary64 number nearest to `gamma / sqrt(variance)`. The root of the exact quotient is rounded only
/// once.
fn normaliser(gamma: &Rational, variance: &Rational) -> Result<Rational, String> {
    if variance.is_zero() || variance.is_negative() {
        return Err("var + epsilon is not positive".to_owned());
    }
    let squared = (gamma * gamma).checked_div(variance).expect("positive");
    let root =
        squared.sqrt_to_f64().and_then(Rational::from_f64).ok_or("scale / sqrt(var + epsilon) is beyond binary64")?;
    Ok(if gamma.is_negative() { -&root } else { root })
}

// Sums of products.

fn mat_mul(node: &Node) -> Result<Resolved, String> {
    node.count(2, 2)?;
    let (a, b) = (node.shape(0)?, node.shape(1)?);
    let wrong = || format!("shapes {a:?} and {b:?} do not go together");
    if a.is_empty() || b.is_empty() {
        return Err(wrong());
    }
    let (lead_a, rows) = if a.len() == 1 { (&a[..0], 1) } else { (&a[..a.len() - 2], a[a.len() - 2]) };
    let (lead_b, columns) = if b.len() == 1 { (&b[..0], 1) } else { (&b[..b.len() - 2], b[b.len() - 1]) };
    let inner = a[a.len() - 1];
    if inner != b[b.len().saturating_sub(2)] {
        return Err(wrong());
    }
    let lead = broadcast(&[lead_a, lead_b]).map_err(|_| wrong())?;
    let mut shape = lead.clone();
    shape.extend((a.len() > 1).then_some(rows));
    shape.extend((b.len() > 1).then_some(columns));
    let batches = limited(&lead)?;
    limited(&shape)?;
    let products = products(&[batches, rows, columns, inner])?;
    let (of_a, of_b) = (broadcast_elements(lead_a, &lead), broadcast_elements(lead_b, &lead));
    let build = move |constants: &[Option<&Tensor>]| {
        // The constant operand is the matrix.
        let vector = usize::from(constants[0].is_some() && constants[1].is_none());
        let mut groups = Vec::new();
        for batch in 0..batches {
            let (a, b) = (of_a[batch] as usize * rows * inner, of_b[batch] as usize * inner * columns);
            let outputs = batch * rows * columns;
            for line in 0..if vector == 0 { rows } else { columns } {
                let group = if vector == 0 {
                    Group {
                        taps: (0..inner).map(|k| (k as u32, (a + line * inner + k) as u32)).collect(),
                        outputs: (0..columns).map(|n| (outputs + line * columns + n) as u32).collect(),
                        start: b as u32,
                        row: columns as u32,
                        column: 1,
                    }
                } else {
                    Group {
                        taps: (0..inner).map(|k| (k as u32, (b + k * columns + line) as u32)).collect(),
                        outputs: (0..rows).map(|n| (outputs + n * columns + line) as u32).collect(),
                        start: a as u32,
                        row: 1,
                        column: inner as u32,
                    }
                };
                groups.push(group);
            }
        }
        Ok(Kernel::Dot(Dot { vector, groups, factor: Rational::one(), bias: None }))
    };
    let mut resolved = resolved(shape, vec![0, 1], build)?;
    resolved.products = products;
    Ok(resolved)
}

fn products(factors: &[usize]) -> Result<u64, String> {
    let product = factors.iter().try_fold(1u64, |product, &f| product.checked_mul(f as u64));
    product.ok_or_else(|| "the matrix is larger than any file can hold".to_owned())
}

fn gemm(node: &Node) -> Result<Resolved, String> {
    node.count(2, 3)?;
    if node.integer("transA", 0)? != 0 {
        return Err("transA is not supported".to_owned());
    }
    let transposed = node.integer("transB", 0)? != 0;
    let (alpha, beta) = (float_attribute(node, "alpha", 1.0)?, float_attribute(node, "beta", 1.0)?);
    let (a, b) = (node.shape(0)?, node.shape(1)?);
    let (&[rows, inner], &[b0, b1]) = (a, b) else {
        return Err(format!("shapes {a:?} and {b:?}; both have two axes"));
    };
    let (b_inner, columns) = if transposed { (b1, b0) } else { (b0, b1) };
    if inner != b_inner {
        return Err(format!(
            "shapes {a:?} and {b:?}{} do not go together",
            if transposed { " transposed" } else { "" }
        ));
    }
    let shape = vec![rows, columns];
    limited(&shape)?;
    let products = products(&[rows, columns, inner])?;
    let bias = match node.optional(2) {
        None => None,
        Some(c) if broadcast(&[c.shape, &shape])? == shape => Some((broadcast_elements(c.shape, &shape), beta)),
        Some(c) => return Err(format!("C has the shape {:?}, the product {shape:?}", c.shape)),
    };
    let mut inputs = vec![0, 1];
    inputs.extend(bias.as_ref().map(|_| 2));
    let (row, column) = if transposed { (1, inner) } else { (columns, 1) };
    let build = move |_: &[Option<&Tensor>]| {
        let group = |line: usize| Group {
            taps: (0..inner).map(|k| (k as u32, (line * inner + k) as u32)).collect(),
            outputs: (0..columns).map(|n| (line * columns + n) as u32).collect(),
            start: 0,
            row: row as u32,
            column: column as u32,
        };
        Ok(Kernel::Dot(Dot { vector: 0, groups: (0..rows).map(group).collect(), factor: alpha, bias }))
    };
    let mut resolved = resolved(shape, inputs, build)?;
    resolved.products = products;
    Ok(resolved)
}

/// Returns the spatial axes of a convolution or a pool.
fn spatial_axes(node: &Node, sizes: &[usize], kernel: &[usize]) -> Result<(Vec<Axis>, Vec<usize>), String> {
    let rank = sizes.len();
    let list = |name: &str, default: i64, count: usize, least: i64| {
        let values = node.integers(name)?.unwrap_or_else(|| vec![default; count]);
        if values.len() != count || values.iter().any(|v| !(least..=1 << 24).contains(v)) {
            return Err(format!("{name} is {values:?}; {count} numbers from {least} up are expected"));
        }
        Ok(values.into_iter().map(|v| v as usize).collect::<Vec<_>>())
    };
    let strides = list("strides", 1, rank, 1)?;
    let dilations = list("dilations", 1, rank, 1)?;
    let pads = list("pads", 0, 2 * rank, 0)?;
    let auto = node.text("auto_pad")?.unwrap_or_else(|| "NOTSET".to_owned());
    if node.integer("ceil_mode", 0)? != 0 {
        return Err("ceil_mode is not supported".to_owned());
    }
    if kernel.contains(&0) {
        return Err("a kernel without elements".to_owned());
    }
    let mut axes = Vec::new();
    let mut after = Vec::new();
    for axis in 0..rank {
        let (size, kernel, stride, dilation) = (sizes[axis], kernel[axis], strides[axis], dilations[axis]);
        let reach = (kernel - 1).checked_mul(dilation).and_then(|r| r.checked_add(1)).ok_or("a kernel too large")?;
        let (before, behind, out) = match auto.as_str() {
            "NOTSET" | "VALID" => {
                let (before, behind) = if auto == "VALID" { (0, 0) } else { (pads[axis], pads[rank + axis]) };
                let room = (size + before + behind).checked_sub(reach);
                let room =
                    room.ok_or_else(|| format!("a kernel of {reach} over {} elements", size + before + behind))?;
                (before, behind, room / stride + 1)
            }
            "SAME_UPPER" | "SAME_LOWER" => {
                let out = size.div_ceil(stride);
                let total = (out.saturating_sub(1) * stride + reach).saturating_sub(size);
                let less = total / 2;
                let (before, behind) = if auto == "SAME_UPPER" { (less, total - less) } else { (total - less, less) };
                (before, behind, out)
            }
            other => return Err(format!("auto_pad is {other}")),
        };
        axes.push(Axis { size, kernel, stride, dilation, before, out });
        after.push(behind);
    }
    let positions = axes.iter().map(|a| a.out).chain(kernel.iter().copied()).try_fold(1usize, usize::checked_mul);
    if positions.is_none_or(|p| p > MAX_TAPS) {
        return Err(format!("its windows read more than {MAX_TAPS} elements"));
    }
    Ok((axes, after))
}

fn conv(node: &Node) -> Result<Resolved, String> {
    node.count(2, 3)?;
    let (x, w) = (node.shape(0)?, node.shape(1)?);
    if !(3..=4).contains(&x.len()) || w.len() != x.len() {
        return Err(format!("shapes {x:?} and {w:?}; convolutions in one or two dimensions are supported"));
    }
    let groups = usize::try_from(node.integer("group", 1)?).ok().filter(|&g| g > 0).ok_or("group must be positive")?;
    let (batch, channels, outputs, inner) = (x[0], x[1], w[0], w[1]);
    if channels != inner.saturating_mul(groups) || outputs % groups != 0 {
        return Err(format!("shapes {x:?} and {w:?} with {groups} groups do not go together"));
    }
    let kernel = &w[2..];
    if let Some(given) = node.integers("kernel_shape")?
        && given.iter().map(|&k| usize::try_from(k).ok()).ne(kernel.iter().map(|&k| Some(k)))
    {
        return Err(format!("kernel_shape is {given:?}, the weights have {kernel:?}"));
    }
    let (axes, _) = spatial_axes(node, &x[2..], kernel)?;
    let positions: usize = axes.iter().map(|a| a.out).product();
    let cells: usize = kernel.iter().product();
    let mut shape = vec![batch, outputs];
    shape.extend(axes.iter().map(|a| a.out));
    limited(&shape)?;
    let count = products(&[batch, positions, outputs, inner, cells])?;
    if let Some(bias) = node.optional(2)
        && bias.shape != [outputs]
    {
        return Err(format!("the bias has the shape {:?}, not [{outputs}]", bias.shape));
    }
    let bias = node.optional(2).map(|_| {
        let mut strides = vec![0; shape.len()];
        strides[1] = 1;
        (strided(&shape, &strides), Rational::one())
    });
    let mut inputs = vec![0, 1];
    inputs.extend(bias.as_ref().map(|_| 2));
    let plane: usize = x[2..].iter().product();
    let build = move |_: &[Option<&Tensor>]| {
        let windows = Windows::new(&axes);
        let share = outputs / groups;
        let mut all = Vec::new();
        for (image, group) in (0..batch).flat_map(|image| (0..groups).map(move |group| (image, group))) {
            for (position, window) in windows.taps.iter().enumerate() {
                let channels = (0..inner).flat_map(|channel| window.iter().map(move |&(cell, at)| (channel, cell, at)));
                let from = (image * groups + group) * inner;
                all.push(Group {
                    taps: channels
                        .map(|(channel, cell, at)| {
                            ((channel * cells) as u32 + cell, ((from + channel) * plane) as u32 + at)
                        })
                        .collect(),
                    outputs: (0..share)
                        .map(|n| ((image * outputs + group * share + n) * positions + position) as u32)
                        .collect(),
                    start: (group * share * inner * cells) as u32,
                    row: 1,
                    column: (inner * cells) as u32,
                });
            }
        }
        Ok(Kernel::Dot(Dot { vector: 0, groups: all, factor: Rational::one(), bias }))
    };
    let mut resolved = resolved(shape, inputs, build)?;
    resolved.products = count;
    Ok(resolved)
}

// Pools and reductions.

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pool {
    Max,
    Average,
}

fn pool(node: &Node, kind: Pool) -> Result<Resolved, String> {
    node.count(1, 1)?;
    let x = node.shape(0)?;
    if !(3..=4).contains(&x.len()) {
        return Err(format!("shape {x:?}; pools in one or two dimensions are supported"));
    }
    let given = node.integers("kernel_shape")?.ok_or("the attribute kernel_shape is missing")?;
    let kernel: Option<Vec<usize>> = given.iter().map(|&k| usize::try_from(k).ok().filter(|&k| k > 0)).collect();
    let kernel = kernel.filter(|k| k.len() == x.len() - 2).ok_or_else(|| format!("kernel_shape is {given:?}"))?;
    let include_padding = node.integer("count_include_pad", 0)? != 0;
    let (axes, _) = spatial_axes(node, &x[2..], &kernel)?;
    let planes = x[0] * x[1];
    let plane: usize = x[2..].iter().product();
    let mut shape = x[..2].to_vec();
    shape.extend(axes.iter().map(|a| a.out));
    let cells: usize = kernel.iter().product();
    if limited(&shape)?.checked_mul(cells).is_none_or(|taps| taps > MAX_TAPS) {
        return Err(format!("its windows read more than {MAX_TAPS} elements"));
    }
    resolved(shape, vec![0], move |_| {
        let windows = Windows::new(&axes);
        // If padding is included, the mean of a window in the padding is zero.
        let has_value = kind == Pool::Average && include_padding;
        if !has_value && windows.taps.iter().any(Vec::is_empty) {
            return Err("a window lies in the padding altogether".to_owned());
        }
        let all = (0..planes).flat_map(|p| windows.taps.iter().map(move |taps| (p * plane, taps)));
        let windows = all.map(|(from, taps)| taps.iter().map(|&(_, at)| from as u32 + at).collect::<Vec<_>>());
        Ok(match kind {
            Pool::Max => Kernel::MaxOf(windows.collect()),
            Pool::Average => {
                let divisor = |window: &Vec<u32>| if include_padding { cells } else { window.len() };
                Kernel::SumOf(windows.map(|w| (reciprocal(divisor(&w)), w)).map(|(factor, w)| (w, factor)).collect())
            }
        })
    })
}

fn reciprocal(n: usize) -> Rational {
    Rational::one().checked_div(&Rational::from(n as i64)).expect("no window is empty")
}

fn global_pool(node: &Node, max: bool) -> Result<Resolved, String> {
    node.count(1, 1)?;
    let x = node.shape(0)?;
    if x.len() < 3 {
        return Err(format!("shape {x:?}; it needs an axis to pool over"));
    }
    let axes: Vec<usize> = (2..x.len()).collect();
    let windows = reduced(x, &axes)?;
    let mut shape = x[..2].to_vec();
    shape.resize(x.len(), 1);
    resolved(shape, vec![0], move |_| {
        Ok(if max { Kernel::MaxOf(windows) } else { Kernel::SumOf(windows.into_iter().map(averaged).collect()) })
    })
}

fn averaged(window: Vec<u32>) -> (Vec<u32>, Rational) {
    let factor = reciprocal(window.len());
    (window, factor)
}

/// Returns, for each remaining element, the elements that the reduction combines.
fn reduced(shape: &[usize], axes: &[usize]) -> Result<Vec<Vec<u32>>, String> {
    let kept: Vec<usize> = (0..shape.len()).filter(|a| !axes.contains(a)).collect();
    let strides = strides_of(shape);
    let part = |axes: &[usize]| {
        let sizes: Vec<usize> = axes.iter().map(|&a| shape[a]).collect();
        let steps: Vec<usize> = axes.iter().map(|&a| strides[a]).collect();
        strided(&sizes, &steps)
    };
    let inner = part(axes);
    if inner.is_empty() {
        return Err(format!("nothing to reduce in the shape {shape:?}"));
    }
    Ok(part(&kept).into_iter().map(|from| inner.iter().map(|&e| from + e).collect()).collect())
}

fn reduce(node: &Node, mean: bool) -> Result<Resolved, String> {
    node.count(1, 2)?;
    let x = node.shape(0)?;
    let keep = node.integer("keepdims", 1)? != 0;
    let axes = match node.axes(1)?.filter(|axes| !axes.is_empty()) {
        Some(axes) => {
            let mut axes = axes.into_iter().map(|a| axis_of(a, x.len())).collect::<Result<Vec<_>, _>>()?;
            axes.sort_unstable();
            axes.dedup();
            axes
        }
        None if node.integer("noop_with_empty_axes", 0)? != 0 => return move_all(node, x.to_vec()),
        None => (0..x.len()).collect(),
    };
    let windows = reduced(x, &axes)?;
    let kept = x.iter().enumerate().filter(|(axis, _)| keep || !axes.contains(axis));
    let shape = kept.map(|(axis, &size)| if axes.contains(&axis) { 1 } else { size }).collect();
    resolved(shape, vec![0], move |_| {
        let one = |window| (window, Rational::one());
        Ok(Kernel::SumOf(windows.into_iter().map(|w| if mean { averaged(w) } else { one(w) }).collect()))
    })
}

// Moves.

/// Returns a move of all elements, in order, to another shape.
fn move_all(node: &Node, shape: Vec<usize>) -> Result<Resolved, String> {
    let count = limited(node.shape(0)?)? as u32;
    if limited(&shape)? != count as usize {
        return Err(format!("the shape {:?} cannot become {shape:?}", node.shape(0)?));
    }
    resolved(shape, vec![0], move |_| Ok(Kernel::Move((0..count).map(|e| Some((0, e))).collect())))
}

fn dropout(node: &Node) -> Result<Resolved, String> {
    node.count(1, 3)?;
    if node.optional(2).is_some() {
        let training = node.constant(2, "training_mode")?;
        if training.single().is_none_or(|t| !t.is_zero()) {
            return Err("training_mode is not supported".to_owned());
        }
    }
    move_all(node, node.shape(0)?.to_vec())
}

fn flatten(node: &Node) -> Result<Resolved, String> {
    node.count(1, 1)?;
    let x = node.shape(0)?;
    let axis = node.integer("axis", 1)?;
    // The axis may be one past the last axis.
    let axis = if axis == x.len() as i64 { x.len() } else { axis_of(axis, x.len())? };
    move_all(node, vec![x[..axis].iter().product(), x[axis..].iter().product()])
}

fn reshape(node: &Node) -> Result<Resolved, String> {
    let x = node.shape(0)?;
    let wanted = match node.integers("shape")? {
        Some(shape) => shape,
        None => {
            node.count(2, 2)?;
            node.constant(1, "the shape")?.integers().ok_or("the shape must be whole numbers")?
        }
    };
    if wanted.len() > MAX_AXES {
        return Err(format!("{} axes; at most {MAX_AXES} are supported", wanted.len()));
    }
    let zero_is_size = node.integer("allowzero", 0)? != 0;
    let mut shape = Vec::new();
    let mut open = None;
    for (axis, &size) in wanted.iter().enumerate() {
        shape.push(match size {
            -1 if open.is_none() => {
                open = Some(axis);
                1
            }
            0 if !zero_is_size => *x.get(axis).ok_or_else(|| format!("the shape {wanted:?} has a 0 beyond {x:?}"))?,
            -1 => return Err(format!("the shape {wanted:?} leaves more than one size open (-1)")),
            size => usize::try_from(size).map_err(|_| format!("the size {size} of the shape {wanted:?}"))?,
        });
    }
    if let Some(axis) = open {
        let (all, rest) = (limited(x)?, limited(&shape)?);
        if rest == 0 || all % rest != 0 {
            return Err(format!("the shape {x:?} cannot become {wanted:?}"));
        }
        shape[axis] = all / rest;
    }
    move_all(node, shape)
}

fn squeeze(node: &Node) -> Result<Resolved, String> {
    node.count(1, 2)?;
    let x = node.shape(0)?;
    let axes = match node.axes(1)? {
        Some(axes) => axes.into_iter().map(|a| axis_of(a, x.len())).collect::<Result<Vec<_>, _>>()?,
        None => (0..x.len()).filter(|&a| x[a] == 1).collect(),
    };
    if let Some(&axis) = axes.iter().find(|&&a| x[a] != 1) {
        return Err(format!("axis {axis} of {x:?} has not the size 1"));
    }
    let shape = (0..x.len()).filter(|a| !axes.contains(a)).map(|a| x[a]).collect();
    move_all(node, shape)
}

fn unsqueeze(node: &Node) -> Result<Resolved, String> {
    node.count(1, 2)?;
    let x = node.shape(0)?;
    let axes = node.axes(1)?.ok_or("axes are missing")?;
    if axes.len() > MAX_AXES {
        return Err(format!("{} axes; at most {MAX_AXES} are supported", axes.len()));
    }
    let rank = x.len() + axes.len();
    let mut new = axes.into_iter().map(|a| axis_of(a, rank)).collect::<Result<Vec<_>, _>>()?;
    new.sort_unstable();
    if new.windows(2).any(|w| w[0] == w[1]) {
        return Err("an axis is given twice".to_owned());
    }
    let mut old = x.iter();
    let shape = (0..rank).map(|a| if new.contains(&a) { 1 } else { *old.next().expect("as many as before") }).collect();
    move_all(node, shape)
}

fn transpose(node: &Node) -> Result<Resolved, String> {
    node.count(1, 1)?;
    let x = node.shape(0)?;
    let order = match node.integers("perm")? {
        None => (0..x.len()).rev().collect(),
        Some(given) => {
            let order = given.iter().map(|&a| axis_of(a, x.len())).collect::<Result<Vec<_>, _>>()?;
            let mut sorted = order.clone();
            sorted.sort_unstable();
            if sorted != (0..x.len()).collect::<Vec<_>>() {
                return Err(format!("perm is {given:?} for {} axes", x.len()));
            }
            order
        }
    };
    let strides = strides_of(x);
    let shape: Vec<usize> = order.iter().map(|&a| x[a]).collect();
    limited(&shape)?;
    let steps: Vec<usize> = order.iter().map(|&a| strides[a]).collect();
    let elements = strided(&shape, &steps);
    resolved(shape, vec![0], move |_| Ok(Kernel::Move(elements.into_iter().map(|e| Some((0, e))).collect())))
}

fn concat(node: &Node) -> Result<Resolved, String> {
    node.count(1, 65_536)?;
    let shapes = (0..node.operands.len()).map(|k| node.shape(k)).collect::<Result<Vec<_>, _>>()?;
    node.attribute("axis")?.ok_or("the attribute axis is missing")?;
    let axis = axis_of(node.integer("axis", 0)?, shapes[0].len())?;
    let mut shape = shapes[0].to_vec();
    for other in &shapes[1..] {
        let fits = other.len() == shape.len() && (0..shape.len()).all(|a| a == axis || other[a] == shape[a]);
        if !fits {
            return Err(format!("shapes {:?} and {other:?} do not go together along axis {axis}", shapes[0]));
        }
        shape[axis] = shape[axis].checked_add(other[axis]).ok_or("a shape too large")?;
    }
    let count = limited(&shape)?;
    let outer: usize = shape[..axis].iter().product();
    let blocks: Vec<usize> = shapes.iter().map(|s| s[axis..].iter().product()).collect();
    resolved(shape, (0..shapes.len()).collect(), move |_| {
        let mut elements = Vec::with_capacity(count);
        for line in 0..outer {
            for (input, &block) in blocks.iter().enumerate() {
                elements.extend((0..block).map(|k| Some((input as u32, (line * block + k) as u32))));
            }
        }
        Ok(Kernel::Move(elements))
    })
}

fn pad(node: &Node) -> Result<Resolved, String> {
    node.count(1, 4)?;
    let x = node.shape(0)?;
    match node.text("mode")?.as_deref() {
        None | Some("constant") => {}
        Some(mode) => return Err(format!("mode {mode} is not supported; constant is")),
    }
    let value = match node.optional(2) {
        Some(_) => node.constant(2, "the value")?.single().cloned().ok_or("the value must be one number")?,
        None => float_attribute(node, "value", 0.0)?,
    };
    if !value.is_zero() {
        return Err("padding with other numbers than zero is not supported".to_owned());
    }
    let pads = match node.integers("pads")? {
        Some(pads) => pads,
        None => node.constant(1, "pads")?.integers().ok_or("pads must be whole numbers")?,
    };
    let axes: Vec<usize> = match node.optional(3) {
        None => (0..x.len()).collect(),
        Some(_) => {
            let axes = node.constant(3, "axes")?.integers().ok_or("axes must be whole numbers")?;
            axes.into_iter().map(|a| axis_of(a, x.len())).collect::<Result<_, _>>()?
        }
    };
    if pads.len() != 2 * axes.len() || pads.iter().any(|p| p.abs() > 1 << 24) {
        return Err(format!("pads are {pads:?} for {} axes", axes.len()));
    }
    let mut before = vec![0i64; x.len()];
    let mut sizes: Vec<i64> = x.iter().map(|&s| s as i64).collect();
    for (k, &axis) in axes.iter().enumerate() {
        before[axis] += pads[k];
        sizes[axis] += pads[k] + pads[axes.len() + k];
    }
    let shape: Option<Vec<usize>> = sizes.iter().map(|&s| usize::try_from(s).ok()).collect();
    let shape = shape.ok_or_else(|| format!("pads {pads:?} take more than {x:?} has"))?;
    limited(&shape)?;
    let (x, out, strides) = (x.to_vec(), shape.clone(), strides_of(x));
    resolved(shape, vec![0], move |_| {
        let source = |at: Vec<usize>| {
            let mut element = 0;
            for axis in 0..x.len() {
                let from = usize::try_from(at[axis] as i64 - before[axis]).ok().filter(|&f| f < x[axis])?;
                element += from * strides[axis];
            }
            Some((0, element as u32))
        };
        Ok(Kernel::Move(kernel::coordinates(&out).map(source).collect()))
    })
}

fn gather(node: &Node) -> Result<Resolved, String> {
    node.count(2, 2)?;
    let (x, indices) = (node.shape(0)?, node.shape(1)?);
    let axis = axis_of(node.integer("axis", 0)?, x.len())?;
    let (outer, inner): (usize, usize) = (x[..axis].iter().product(), x[axis + 1..].iter().product());
    let size = x[axis];
    let mut shape = x[..axis].to_vec();
    shape.extend(indices);
    shape.extend(&x[axis + 1..]);
    resolved(shape, vec![0, 1], move |constants| {
        let indices =
            constant_input(constants, 1, "the indices")?.integers().ok_or("the indices must be whole numbers")?;
        let indices = indices
            .into_iter()
            .map(|k| axis_of(k, size).map_err(|_| format!("index {k} of {size}")))
            .collect::<Result<Vec<_>, _>>()?;
        let mut elements = Vec::new();
        for line in 0..outer {
            for &index in &indices {
                elements.extend((0..inner).map(|k| Some((0, ((line * size + index) * inner + k) as u32))));
            }
        }
        Ok(Kernel::Move(elements))
    })
}

/// Resolves a selection of one of two inputs element by element, by a constant condition.
fn choose(node: &Node) -> Result<Resolved, String> {
    node.count(3, 3)?;
    let (condition, x, y) = (node.shape(0)?, node.shape(1)?, node.shape(2)?);
    let shape = broadcast(&[condition, x, y])?;
    limited(&shape)?;
    let [condition, x, y] = [condition, x, y].map(|from| broadcast_elements(from, &shape));
    resolved(shape, vec![0, 1, 2], move |constants| {
        let holds = &constant_input(constants, 0, "the condition")?.values;
        let source = |k: usize| match holds[condition[k] as usize].is_zero() {
            false => Some((1, x[k])),
            true => Some((2, y[k])),
        };
        Ok(Kernel::Move((0..condition.len()).map(source).collect()))
    })
}

/// Returns a move of a part of the input: index `k` of an axis is index `start + k * step` of the input's axis.
fn part(node: &Node, shape: Vec<usize>, from: &[(i64, i64)]) -> Result<Resolved, String> {
    limited(&shape)?;
    let strides = strides_of(node.shape(0)?);
    let element = |at: Vec<usize>| {
        let steps = at.iter().zip(from).zip(&strides);
        let offset: i64 = steps.map(|((&k, &(start, step)), &stride)| (start + k as i64 * step) * stride as i64).sum();
        Some((0, offset as u32))
    };
    let elements: Vec<_> = kernel::coordinates(&shape).map(element).collect();
    resolved(shape, vec![0], move |_| Ok(Kernel::Move(elements)))
}

fn slice(node: &Node) -> Result<Resolved, String> {
    node.count(1, 5)?;
    let x = node.shape(0)?;
    let list = |input: usize, name: &str| match node.integers(name)? {
        Some(list) => Ok(Some(list)),
        None if node.optional(input).is_none() => Ok(None),
        None => node.constant(input, name)?.integers().map(Some).ok_or_else(|| format!("{name} must be whole numbers")),
    };
    let starts = list(1, "starts")?.ok_or("starts are missing")?;
    let ends = list(2, "ends")?.ok_or("ends are missing")?;
    let axes = list(3, "axes")?.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = list(4, "steps")?.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return Err("starts, ends, axes and steps differ in number".to_owned());
    }
    let mut shape = x.to_vec();
    let mut from = vec![(0, 1); x.len()];
    for (k, &axis) in axes.iter().enumerate() {
        let (axis, step) = (axis_of(axis, x.len())?, steps[k]);
        if step == 0 || step.unsigned_abs() > 1 << 32 {
            return Err(format!("the step {step}"));
        }
        let size = x[axis] as i64;
        let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
        let bound = |at: i64, least: i64| if at < 0 { at.saturating_add(size) } else { at }.clamp(least, high);
        let (start, end) = (bound(starts[k], low.max(0)), bound(ends[k], low));
        let span = if step > 0 { end - start } else { start - end };
        let step_size = step.unsigned_abs() as i64;
        shape[axis] = ((span.max(0) + step_size - 1) / step_size) as usize;
        from[axis] = (start, step);
    }
    part(node, shape, &from)
}

/// Resolves one output of a Split: a node with several outputs is replaced with one node per output, and an internal
/// attribute has the index of the output.
fn split(node: &Node) -> Result<Resolved, String> {
    node.count(1, 2)?;
    let x = node.shape(0)?;
    let axis = axis_of(node.integer("axis", 0)?, x.len())?;
    let (at, parts) = (node.integer(proto::PART, 0)? as usize, node.integer(proto::PARTS, 1)? as usize);
    let given = match node.integers("split")? {
        Some(sizes) => Some(sizes),
        None if node.optional(1).is_none() => None,
        None => Some(node.constant(1, "split")?.integers().ok_or("split must be whole numbers")?),
    };
    let sizes: Vec<usize> = match given {
        Some(sizes) => sizes.iter().map(|&size| usize::try_from(size).ok()).collect::<Option<_>>().unwrap_or_default(),
        None => {
            let named = node.integer("num_outputs", 0)?;
            if named != 0 && named != parts as i64 {
                return Err(format!("num_outputs is {named}, and there are {parts} outputs"));
            }
            if named == 0 && x[axis] % parts != 0 {
                return Err(format!("axis {axis} of {x:?} has no {parts} equal parts"));
            }
            let chunk = x[axis].div_ceil(parts);
            (0..parts).map(|k| chunk.min(x[axis].saturating_sub(k * chunk))).collect()
        }
    };
    if sizes.len() != parts || sizes.iter().try_fold(0usize, |sum, &size| sum.checked_add(size)) != Some(x[axis]) {
        return Err(format!("parts of {sizes:?} for {parts} outputs of {} along axis {axis}", x[axis]));
    }
    let mut shape = x.to_vec();
    shape[axis] = sizes[at];
    let mut from = vec![(0, 1); x.len()];
    from[axis].0 = sizes[..at].iter().sum::<usize>() as i64;
    part(node, shape, &from)
}

/// Returns the sizes that a constant input lists.
fn sizes(node: &Node, input: usize, what: &str) -> Result<Vec<usize>, String> {
    let given = node.constant(input, what)?.integers().ok_or_else(|| format!("{what} must be whole numbers"))?;
    let sizes: Option<Vec<usize>> = given.iter().map(|&size| usize::try_from(size).ok()).collect();
    let sizes = sizes.ok_or_else(|| format!("{what} is {given:?}"))?;
    if sizes.len() > MAX_AXES {
        return Err(format!("{} axes; at most {MAX_AXES} are supported", sizes.len()));
    }
    Ok(sizes)
}

fn expand(node: &Node) -> Result<Resolved, String> {
    node.count(2, 2)?;
    let x = node.shape(0)?;
    let wanted = sizes(node, 1, "the shape")?;
    let shape = broadcast(&[x, &wanted])?;
    limited(&shape)?;
    let elements = broadcast_elements(x, &shape);
    resolved(shape, vec![0], move |_| Ok(Kernel::Move(elements.into_iter().map(|e| Some((0, e))).collect())))
}

fn tile(node: &Node) -> Result<Resolved, String> {
    node.count(2, 2)?;
    let x = node.shape(0)?;
    let repeats = sizes(node, 1, "repeats")?;
    if repeats.len() != x.len() {
        return Err(format!("repeats are {repeats:?} for {} axes", x.len()));
    }
    let shape: Option<Vec<usize>> = x.iter().zip(&repeats).map(|(&size, &times)| size.checked_mul(times)).collect();
    let shape = shape.ok_or("a shape too large")?;
    limited(&shape)?;
    let strides = strides_of(x);
    let element =
        |at: Vec<usize>| at.iter().zip(x).zip(&strides).map(|((k, size), stride)| k % size * stride).sum::<usize>();
    let elements: Vec<_> = kernel::coordinates(&shape).map(|at| Some((0, element(at) as u32))).collect();
    resolved(shape, vec![0], move |_| Ok(Kernel::Move(elements)))
}

/// Resolves a change of type: constants are converted by [`Tensor::cast`]; other values may be converted to float and
/// double only, which changes no value.
fn cast(node: &Node) -> Result<Resolved, String> {
    node.count(1, 1)?;
    let to = i32::try_from(node.integer("to", 0)?).unwrap_or(0);
    match node.operand(0)?.known {
        Some(known) => constant(known.cast(to)?),
        None if super::tensor::is_float(to) => move_all(node, node.shape(0)?.to_vec()),
        None => Err(super::tensor::may_round(to)),
    }
}

/// Returns a node whose result is constant.
fn constant(value: Tensor) -> Result<Resolved, String> {
    Ok(Resolved { shape: value.shape.clone(), inputs: Vec::new(), products: 0, result: Outcome::Value(value) })
}

fn shape(node: &Node) -> Result<Resolved, String> {
    node.count(1, 1)?;
    let x = node.shape(0)?;
    let rank = x.len() as i64;
    let bound = |name: &str, default: i64| {
        let at = node.integer(name, default)?;
        Ok::<_, String>(if at < 0 { at.saturating_add(rank) } else { at }.clamp(0, rank) as usize)
    };
    let (start, end) = (bound("start", 0)?, bound("end", rank)?);
    let sizes = x[start..end.max(start)].iter().map(|&s| s as i64);
    constant(Tensor::from_integers(sizes))
}
