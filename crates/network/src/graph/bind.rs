//! The selected part of a graph with its weights, in single-assignment form.

use super::MAX_WEIGHTS;
use super::outline::{Instance, Outline, instance, title};
use super::quant::{Form, Purpose, QuantFile, Setting};
use super::read::{Arg, Axis, Graph, Kind, Node, Product};
use crate::exact::Rational;
use crate::function::Function;
use crate::json::{self, Value};
use crate::port::Group;
use crate::quantise::Quantiser;
use crate::weights::{Tensor, Weights};
use alir_core::diag::{Diagnostic, Diagnostics, Place};
use alir_core::num::Code;
use alir_interp::samples::array::Numbers;
use num_bigint::BigInt;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Constants with a common step, and what they were before they were quantised.
#[derive(Clone, Debug, PartialEq)]
pub struct Constants {
    /// Codes, row by row where it is a matrix.
    pub codes: Vec<Code>,
    /// Their fractional bits.
    pub frac: i64,
    /// The same constants without quantisation, for the floating-point network.
    pub floats: Vec<f64>,
    /// The name of their buffer, `LAYER:NAME` or `NAME`.
    pub name: String,
}

impl Constants {
    /// The exact value of one.
    pub fn value(&self, index: usize) -> Rational {
        Rational::of_code(&self.codes[index].to_big(), self.frac)
    }
}

/// An input of the program.
#[derive(Clone, Debug)]
pub struct Input {
    /// The slot that it fills.
    pub slot: usize,
    /// Elements.
    pub elements: usize,
    /// What real numbers become.
    pub quantiser: Quantiser,
}

/// What a step computes, before it is quantised.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Matrix times vector, plus constants.
    Product {
        /// The vector.
        x: usize,
        /// A row an output.
        matrix: Arc<Constants>,
        /// One an output.
        bias: Option<Arc<Constants>>,
    },
    /// A vector plus constants.
    AddConstants {
        /// The vector.
        x: usize,
        /// One an element.
        bias: Arc<Constants>,
    },
    /// The sum of two vectors.
    Add {
        /// First.
        a: usize,
        /// Second.
        b: usize,
    },
    /// `max(x, 0)`.
    Relu {
        /// The vector.
        x: usize,
    },
    /// A function of each element, straight to the step's type.
    Table {
        /// The vector.
        x: usize,
        /// Which.
        function: Function,
    },
    /// `T(x[j]) * x[n + j]`.
    Swiglu {
        /// The vector.
        x: usize,
        /// The type of the table's entries.
        table: Quantiser,
    },
    /// `(x - mean) * factors + bias`.
    Norm {
        /// The vector.
        x: usize,
        /// Subtracted.
        mean: Rational,
        /// One an element.
        factors: Arc<Constants>,
        /// One an element.
        bias: Option<Arc<Constants>>,
    },
}

/// One operation and where its result goes.
#[derive(Clone, Debug)]
pub struct Step {
    /// Index of the node it stems from.
    pub node: usize,
    /// Where it is in the file: `nodes[3]`.
    pub place: String,
    /// The node, for people: `3. mlp_up (layer 1)`.
    pub title: String,
    /// The slot that it fills.
    pub slot: usize,
    /// Elements of the result.
    pub elements: usize,
    /// How the result is quantised; `None` keeps it.
    pub quantiser: Option<Quantiser>,
    /// What is computed.
    pub operation: Operation,
}

/// A network whose every number is known.
#[derive(Clone, Debug)]
pub struct BoundNetwork {
    /// Inputs in order.
    pub inputs: Vec<Input>,
    /// Steps in order; each reads only slots of inputs and of earlier steps.
    pub steps: Vec<Step>,
    /// Slots of the outputs in order.
    pub outputs: Vec<usize>,
    /// How many slots there are.
    pub slots: usize,
    /// The name of each slot's buffer, `LAYER:NAME` or `NAME`, and its elements.
    pub names: Vec<Group>,
}

/// Reads `--weight-map`: names of tensors by buffer.
///
/// # Errors
/// What is wrong, with its place.
pub fn read_map(bytes: &[u8], graph: &Graph) -> Result<WeightMap, Diagnostic> {
    let wrong = |place: String, message: String| Diagnostic::error("E2008", Place::Path(place), message);
    let value = json::parse(bytes, 1 << 20).map_err(|e| {
        let place = Place::Line { line: e.line, column: e.column };
        Diagnostic::error("E2008", place, format!("this is no JSON: {}", e.what))
    })?;
    let members = value.members().ok_or_else(|| wrong("map".into(), format!("{} is no weight map", value.kind())))?;
    let mut map = WeightMap::default();
    for (key, value) in members {
        let place = format!("map.{key}");
        let of_layer = key.split_once(':').filter(|(l, _)| l.parse::<i64>().is_ok()).map(|(_, name)| name);
        let known = graph.buffer(key).or_else(|| graph.buffer(of_layer?));
        if known.is_none() {
            return Err(wrong(place, "there is no such buffer".into()));
        }
        let names: Option<Vec<String>> = match value {
            Value::String(name) => Some(vec![name.clone()]),
            Value::Array(names) => names.iter().map(|name| name.text().map(str::to_string)).collect(),
            _ => None,
        };
        let names = names.filter(|names| !names.is_empty());
        let names = names.ok_or_else(|| wrong(place, "this is neither a tensor's name nor a list of them".into()))?;
        map.0.insert(key.clone(), names);
    }
    Ok(map)
}

/// Names of tensors by buffer, `LAYER:NAME` or `NAME`.
#[derive(Clone, Debug, Default)]
pub struct WeightMap(BTreeMap<String, Vec<String>>);

impl BoundNetwork {
    /// Binds weights to an outline of a graph.
    ///
    /// # Errors
    /// Weights that are missing, of another shape, not finite or without a type; settings that steps need.
    pub fn new(
        graph: &Graph,
        outline: &Outline,
        quant: &QuantFile,
        weights: &Weights,
        map: &WeightMap,
    ) -> Result<BoundNetwork, Diagnostics> {
        let mut binder = Binder { graph, quant, weights, map, tensors: HashMap::new(), constants: HashMap::new() };
        let mut steps = Vec::new();
        for call in &outline.calls {
            let node = &graph.nodes[call.node];
            for (operation, slot) in binder.operations(node, &call.reads, &call.writes)? {
                let value = &outline.slots[slot];
                let quantiser = value.setting.quantiser();
                let step = Step {
                    node: call.node,
                    place: node.place(),
                    title: format!("{}. {}", node.index, node.title()),
                    slot,
                    elements: value.elements as usize,
                    quantiser,
                    operation,
                };
                check_step(&step, node)?;
                steps.push(step);
            }
        }
        let inputs = outline.inputs.iter().map(|&slot| {
            let quantiser = outline.slots[slot].setting.quantiser().expect("inputs without a type are refused");
            Input { slot, elements: outline.slots[slot].elements as usize, quantiser }
        });
        let names = outline.slots.iter().map(|s| Group { name: title(graph, s.instance), size: s.elements as usize });
        Ok(BoundNetwork {
            inputs: inputs.collect(),
            steps,
            outputs: outline.outputs.clone(),
            slots: outline.slots.len(),
            names: names.collect(),
        })
    }
}

fn at(node: &Node, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("E2008", Place::Path(node.place()), format!("{}: {}", node.title(), message.into()))
}

/// Bits of a table's entry at most.
const MAX_ENTRY_BITS: u32 = 32;

fn check_step(step: &Step, node: &Node) -> Result<(), Diagnostic> {
    let table = match &step.operation {
        Operation::Table { .. } => Some(step.quantiser.ok_or_else(|| {
            at(node, "a table needs a type for its entries, and its output is exact")
                .with_help("give the output a type in the quantisation file")
        })?),
        Operation::Swiglu { table, .. } => Some(*table),
        _ => None,
    };
    if let Some(table) = table.filter(|t| t.kif.width() > MAX_ENTRY_BITS) {
        return Err(at(node, format!("entries of type {}; a table's have at most {MAX_ENTRY_BITS} bits", table.kif)));
    }
    if let Operation::Norm { mean, .. } = &step.operation
        && step.quantiser.is_none()
        && !mean.is_dyadic()
    {
        return Err(at(node, format!("with a mean of {mean} no binary number is the exact result"))
            .with_help("give the output a type in the quantisation file"));
    }
    Ok(())
}

struct Binder<'a> {
    graph: &'a Graph,
    quant: &'a QuantFile,
    weights: &'a Weights,
    map: &'a WeightMap,
    /// Tensors without their padding, by instance.
    tensors: HashMap<Instance, Option<Arc<Tensor>>>,
    /// Quantised tensors by instance and purpose; shared by the nodes that read them.
    constants: HashMap<(Instance, bool, bool), Arc<Constants>>,
}

impl Binder<'_> {
    fn operations(
        &mut self,
        node: &Node,
        reads: &[usize],
        writes: &[usize],
    ) -> Result<Vec<(Operation, usize)>, Diagnostic> {
        let y = writes.first().copied().unwrap_or_default();
        let x = reads.first().copied().unwrap_or_default();
        Ok(match &node.kind {
            Kind::Products(all) => {
                let mut operations = Vec::new();
                for (product, &slot) in all.iter().zip(writes) {
                    let matrix = self.need(node, product.w, false)?;
                    operations.push((Operation::Product { x, matrix, bias: self.bias(node, product.b)? }, slot));
                }
                operations
            }
            Kind::HeadProduct(Product { w, b, .. }) => {
                let matrix = self.need(node, *w, true)?;
                vec![(Operation::Product { x, matrix, bias: self.bias(node, *b)? }, y)]
            }
            Kind::BiasAdd { b, y: out, .. } => match self.bias(node, Some(*b))? {
                Some(bias) => vec![(Operation::AddConstants { x, bias }, y)],
                None => {
                    let elements = self.graph.buffers[out.buffer].elements() as usize;
                    let (codes, floats) = (vec![Code::ZERO; elements], vec![0.0; elements]);
                    let name = title(self.graph, instance(self.graph, node.layer, b.buffer));
                    let bias = Constants { codes, frac: 0, floats, name };
                    vec![(Operation::AddConstants { x, bias: Arc::new(bias) }, y)]
                }
            },
            Kind::Add { .. } => vec![(Operation::Add { a: x, b: reads[1] }, y)],
            Kind::Relu { .. } => vec![(Operation::Relu { x }, y)],
            Kind::Table { function, .. } => vec![(Operation::Table { x, function: *function }, y)],
            Kind::Swiglu { .. } => {
                let table = self.quant.node(node).table.quantiser().ok_or_else(|| {
                    at(node, "the table needs a type for its entries")
                        .with_help("give one in the quantisation file: nodes.swiglu.table, or default.table")
                })?;
                vec![(Operation::Swiglu { x, table }, y)]
            }
            Kind::Norm { gamma, beta, .. } => {
                let setting = self.quant.node(node);
                let rstd = setting.rstd.ok_or_else(|| {
                    at(node, "this divides by a root of its inputs").with_help(
                        "give a constant rstd in the quantisation file, under nodes, or cut it out with --nodes",
                    )
                })?;
                let factors = self.factors(node, *gamma, &rstd)?;
                let bias = self.bias(node, *beta)?;
                vec![(Operation::Norm { x, mean: setting.mean, factors, bias }, y)]
            }
            Kind::Unsupported(_) | Kind::Faulty(_) => Vec::new(),
        })
    }

    fn setting(&self, (layer, root): Instance, purpose: Purpose) -> Setting {
        self.quant.buffer(layer, &self.graph.buffers[root].name, purpose)
    }

    /// A weight that has to be there; `heads` brings `[heads][embed][head_dim]` to rows of outputs.
    fn need(&mut self, node: &Node, arg: Arg, heads: bool) -> Result<Arc<Constants>, Diagnostic> {
        let instance = instance(self.graph, node.layer, arg.buffer);
        if let Some(found) = self.constants.get(&(instance, false, heads)) {
            return Ok(found.clone());
        }
        let tensor = self.tensor(node, arg)?.ok_or_else(|| self.missing(node, instance))?;
        let setting = self.setting(instance, Purpose::Weight);
        let mut constants =
            quantised(&tensor, &setting, &Rational::one(), false).map_err(|m| self.of_weight(node, instance, &m))?;
        constants.name = title(self.graph, instance);
        if heads {
            constants = by_output(&constants, &self.graph.buffers[arg.buffer].shape());
        }
        let constants = Arc::new(constants);
        self.constants.insert((instance, false, heads), constants.clone());
        Ok(constants)
    }

    /// A bias; one that is not found is zero.
    fn bias(&mut self, node: &Node, arg: Option<Arg>) -> Result<Option<Arc<Constants>>, Diagnostic> {
        let Some(arg) = arg else { return Ok(None) };
        let instance = instance(self.graph, node.layer, arg.buffer);
        if let Some(found) = self.constants.get(&(instance, true, false)) {
            return Ok(Some(found.clone()));
        }
        let Some(tensor) = self.tensor(node, arg)? else { return Ok(None) };
        let setting = self.setting(instance, Purpose::Bias);
        let mut constants =
            quantised(&tensor, &setting, &Rational::one(), false).map_err(|m| self.of_weight(node, instance, &m))?;
        constants.name = title(self.graph, instance);
        let constants = Arc::new(constants);
        self.constants.insert((instance, true, false), constants.clone());
        Ok(Some(constants))
    }

    /// Factors of a norm: gamma times a constant, quantised together.
    fn factors(&mut self, node: &Node, arg: Arg, rstd: &Rational) -> Result<Arc<Constants>, Diagnostic> {
        let instance = instance(self.graph, node.layer, arg.buffer);
        let tensor = self.tensor(node, arg)?.ok_or_else(|| self.missing(node, instance))?;
        let setting = self.setting(instance, Purpose::Weight);
        let name = title(self.graph, instance);
        quantised(&tensor, &setting, rstd, true)
            .map(|constants| Arc::new(Constants { name, ..constants }))
            .map_err(|m| self.of_weight(node, instance, &m))
    }

    fn of_weight(&self, node: &Node, instance: Instance, message: &str) -> Diagnostic {
        at(node, format!("{} {message}", title(self.graph, instance)))
    }

    fn missing(&self, node: &Node, instance: Instance) -> Diagnostic {
        let names: Vec<String> = self.candidates(instance).into_iter().map(|c| c.names.join(" + ")).collect();
        let message =
            format!("there are no weights for {}: looked for {}", title(self.graph, instance), names.join(", "));
        at(node, message).with_help("give the file with --weights, or the tensor's name with --weight-map")
    }

    /// Names under which a weight may be, in order.
    fn candidates(&self, (layer, root): Instance) -> Vec<Candidate> {
        let name = &self.graph.buffers[root].name;
        let plain = |names: Vec<String>| Candidate { names, required: false };
        let mut all = Vec::new();
        for key in [format!("{layer}:{name}"), name.clone()] {
            if let Some(names) = self.map.0.get(&key) {
                // What is said to be there has to be there.
                return vec![Candidate { names: names.clone(), required: true }];
            }
        }
        if self.graph.buffers[root].layered {
            all.push(plain(vec![format!("layers.{layer}.{name}")]));
            all.push(plain(vec![format!("{layer}:{name}")]));
        }
        all.push(plain(vec![name.clone()]));
        all.extend(hugging_face(layer, name).map(plain));
        all
    }

    /// The tensor of an instance without its padding.
    fn tensor(&mut self, node: &Node, arg: Arg) -> Result<Option<Arc<Tensor>>, Diagnostic> {
        let instance = instance(self.graph, node.layer, arg.buffer);
        if let Some(found) = self.tensors.get(&instance) {
            return Ok(found.clone());
        }
        let mut found = None;
        for Candidate { names, required } in self.candidates(instance) {
            let there = names.iter().filter(|name| self.weights.has(name)).count();
            if there < names.len() {
                if required || there > 0 {
                    let lost: Vec<&str> = names.iter().filter(|n| !self.weights.has(n)).map(String::as_str).collect();
                    let name = title(self.graph, instance);
                    return Err(at(
                        node,
                        format!("{name} is to be {}, but there is no tensor {}", names.join(" + "), lost.join(", ")),
                    ));
                }
                continue;
            }
            found = Some(self.joined(node, instance, &names)?);
            break;
        }
        let found = match found {
            None => None,
            Some(tensor) => {
                let buffer = &self.graph.buffers[instance.1];
                let tensor = without_padding(tensor, &buffer.axes).map_err(|m| self.of_weight(node, instance, &m))?;
                if let Numbers::Floats(reals) = &tensor.numbers
                    && reals.iter().any(|x| !x.is_finite())
                {
                    return Err(self.of_weight(node, instance, "has NaN or infinity among its elements"));
                }
                Some(Arc::new(tensor))
            }
        };
        self.tensors.insert(instance, found.clone());
        Ok(found)
    }

    /// Tensors of these names joined along their first axis.
    fn joined(&self, node: &Node, instance: Instance, names: &[String]) -> Result<Tensor, Diagnostic> {
        let buffer = &self.graph.buffers[instance.1];
        let padded: u64 = buffer.axes.iter().map(Axis::padded_size).fold(1, u64::saturating_mul);
        let mut parts = Vec::new();
        for name in names {
            let tensor = self.weights.read(name, padded.clamp(1, MAX_WEIGHTS * 4))?;
            let tensor = tensor.ok_or_else(|| self.missing(node, instance))?;
            parts.push(in_our_shape(name, tensor, &buffer.shape()));
        }
        let mut parts = parts.into_iter();
        let mut whole = parts.next().ok_or_else(|| self.missing(node, instance))?;
        for part in parts {
            let fits = !whole.shape.is_empty() && !part.shape.is_empty() && whole.shape[1..] == part.shape[1..];
            if !fits {
                let message = format!(
                    "is joined of {:?} and {:?}, which have other axes behind the first",
                    whole.shape, part.shape
                );
                return Err(self.of_weight(node, instance, &message));
            }
            whole.shape[0] += part.shape[0];
            match (&mut whole.numbers, part.numbers) {
                (Numbers::Floats(a), Numbers::Floats(b)) => a.extend(b),
                (Numbers::Integers(a), Numbers::Integers(b)) => a.extend(b),
                (Numbers::Words(a), Numbers::Words(b)) => a.extend(b),
                _ => return Err(self.of_weight(node, instance, "is joined of integers and other numbers")),
            }
        }
        Ok(whole)
    }
}

/// Names of tensors that together are a weight.
struct Candidate {
    names: Vec<String>,
    required: bool,
}

/// The names that the Hugging Face libraries give.
fn hugging_face(layer: i64, name: &str) -> Option<Vec<String>> {
    let of_layer = |parts: &[&str], kind: &str| {
        Some(parts.iter().map(|part| format!("model.layers.{layer}.{part}.{kind}")).collect())
    };
    let one = |name: &str| Some(vec![name.to_string()]);
    match name {
        "w1" => of_layer(&["mlp.gate_proj", "mlp.up_proj"], "weight"),
        "b1" => of_layer(&["mlp.gate_proj", "mlp.up_proj"], "bias"),
        "w2" => of_layer(&["mlp.down_proj"], "weight"),
        "b2" => of_layer(&["mlp.down_proj"], "bias"),
        "wq" => of_layer(&["self_attn.q_proj"], "weight"),
        "wk" => of_layer(&["self_attn.k_proj"], "weight"),
        "wv" => of_layer(&["self_attn.v_proj"], "weight"),
        "wo" => of_layer(&["self_attn.o_proj"], "weight"),
        "bq" => of_layer(&["self_attn.q_proj"], "bias"),
        "bk" => of_layer(&["self_attn.k_proj"], "bias"),
        "bv" => of_layer(&["self_attn.v_proj"], "bias"),
        "bo" => of_layer(&["self_attn.o_proj"], "bias"),
        "ln1_gamma" => of_layer(&["input_layernorm"], "weight"),
        "ln2_gamma" => of_layer(&["post_attention_layernorm"], "weight"),
        "token_emb" => one("model.embed_tokens.weight"),
        "final_ln_weight" => one("model.norm.weight"),
        "lm_head_weight" => one("lm_head.weight"),
        _ => None,
    }
}

/// A tensor with a Hugging Face name in the shape that the graph has; others as they are.
fn in_our_shape(name: &str, tensor: Tensor, shape: &[u64]) -> Tensor {
    let Some(part) = name.split_once("self_attn.").map(|(_, part)| part) else { return tensor };
    let (Some((projection, kind)), count) = (part.split_once('.'), tensor.len() as u64) else { return tensor };
    if tensor.shape == shape || shape.iter().product::<u64>() != count {
        return tensor;
    }
    match (projection, kind, shape) {
        // [heads * head_dim][embed] and [heads * head_dim]: another shape of the same order.
        ("q_proj" | "k_proj" | "v_proj", "weight", [heads, head, embed]) if tensor.shape == [heads * head, *embed] => {
            Tensor { shape: shape.to_vec(), ..tensor }
        }
        ("q_proj" | "k_proj" | "v_proj", "bias", [heads, head]) if tensor.shape == [heads * head] => {
            Tensor { shape: shape.to_vec(), ..tensor }
        }
        ("o_proj", "weight", [heads, embed, head]) if tensor.shape == [*embed, heads * head] => {
            let [heads, embed, head] = [*heads, *embed, *head].map(|n| n as usize);
            let mut order = Vec::with_capacity(tensor.len());
            for h in 0..heads {
                for e in 0..embed {
                    order.extend((0..head).map(|d| e * heads * head + h * head + d));
                }
            }
            Tensor { shape: shape.to_vec(), numbers: picked(&tensor.numbers, &order) }
        }
        _ => tensor,
    }
}

fn picked(numbers: &Numbers, order: &[usize]) -> Numbers {
    match numbers {
        Numbers::Floats(v) => Numbers::Floats(order.iter().map(|&k| v[k]).collect()),
        Numbers::Integers(v) => Numbers::Integers(order.iter().map(|&k| v[k]).collect()),
        Numbers::Words(v) => Numbers::Words(order.iter().map(|&k| v[k]).collect()),
    }
}

/// The elements that mean something, of a tensor with or without padding.
fn without_padding(tensor: Tensor, axes: &[Axis]) -> Result<Tensor, String> {
    let real: Vec<u64> = axes.iter().map(Axis::size).collect();
    let padded: Vec<u64> = axes.iter().map(Axis::padded_size).collect();
    if tensor.shape == real {
        return Ok(tensor);
    }
    if tensor.shape != padded {
        let also = if padded == real { String::new() } else { format!(", nor {padded:?} with padding") };
        return Err(format!("is of shape {:?} in the file, not {real:?}{also}", tensor.shape));
    }
    let mut order = vec![0usize];
    for axis in axes {
        let mut next = Vec::with_capacity(order.len() * axis.size() as usize);
        for base in order {
            for block in 0..axis.blocks {
                for k in 0..axis.real {
                    next.push(base * axis.padded_size() as usize + (block * axis.padded + k) as usize);
                }
            }
        }
        order = next;
    }
    let mut kept = vec![false; tensor.len()];
    order.iter().for_each(|&k| kept[k] = true);
    let zero = |k: usize| match &tensor.numbers {
        Numbers::Floats(v) => v[k] == 0.0,
        Numbers::Integers(v) => v[k] == 0,
        Numbers::Words(v) => v[k] == 0,
    };
    if let Some(k) = (0..kept.len()).find(|&k| !kept[k] && !zero(k)) {
        return Err(format!("is padded to {padded:?}, but element {k} of the padding is not zero"));
    }
    Ok(Tensor { shape: real, numbers: picked(&tensor.numbers, &order) })
}

/// A tensor times `scale` and `factor` as codes; `typed` demands a type even of integers.
fn quantised(tensor: &Tensor, setting: &Setting, factor: &Rational, typed: bool) -> Result<Constants, String> {
    let scale = &setting.scale * factor;
    let value = |k: usize| {
        let number = match &tensor.numbers {
            Numbers::Floats(v) => Rational::of_f64(v[k]).unwrap_or_else(Rational::zero),
            Numbers::Integers(v) => Rational::from(v[k]),
            Numbers::Words(v) => Rational::from(BigInt::from(v[k])),
        };
        &number * &scale
    };
    let float_scale = scale.to_f64();
    let floats = (0..tensor.len()).map(|k| match &tensor.numbers {
        Numbers::Floats(v) => v[k] * float_scale,
        Numbers::Integers(v) => v[k] as f64 * float_scale,
        Numbers::Words(v) => v[k] as f64 * float_scale,
    });
    let floats: Vec<f64> = floats.collect();
    if let Some(quantiser) = setting.quantiser() {
        let codes = (0..tensor.len()).map(|k| Code::from(quantiser.code(&value(k)))).collect();
        return Ok(Constants { codes, frac: quantiser.kif.frac.into(), floats, name: String::new() });
    }
    if !tensor.is_integer() || typed {
        let what = if setting.form == Form::Exact { "is exact, but" } else { "" };
        return Err(format!("{what} needs a type in the quantisation file").trim_start().into());
    }
    if !scale.is_dyadic() {
        return Err(format!("times the scale {scale} is no binary number, and needs a type in the quantisation file"));
    }
    let frac = scale.frac().unwrap_or_default();
    let codes = (0..tensor.len()).map(|k| Code::from(value(k).code(frac).expect("a multiple of the scale's step")));
    Ok(Constants { codes: codes.collect(), frac, floats, name: String::new() })
}

/// `[heads][embed][head_dim]` as rows of outputs: `[embed][heads * head_dim]`.
fn by_output(constants: &Constants, shape: &[u64]) -> Constants {
    let [heads, embed, head] = [0, 1, 2].map(|k| shape.get(k).copied().unwrap_or(1) as usize);
    let mut order = Vec::with_capacity(constants.codes.len());
    for e in 0..embed {
        for h in 0..heads {
            order.extend((0..head).map(|d| (h * embed + e) * head + d));
        }
    }
    Constants {
        codes: order.iter().map(|&k| constants.codes[k].clone()).collect(),
        frac: constants.frac,
        floats: order.iter().map(|&k| constants.floats[k]).collect(),
        name: constants.name.clone(),
    }
}
