//! Bound network: the selected part of a graph with its weights, in single-assignment form.

use super::MAX_WEIGHTS;
use super::layout::{Heads, Layout, Operand, Rows};
use super::outline::{Call, Instance, Outline, arguments, heads, instance, last_axis, title};
use super::quant::{Form, MAX_ENTRY_BITS, Purpose, QuantFile, RootSetting, Setting, node_keys};
use super::read::{Arg, Axis, Graph, Kind, Node, Norm, Product};
use crate::exact::Rational;
use crate::function::{Function, Functions};
use crate::json::{self, Value};
use crate::port::Group;
use crate::quantise::Quantiser;
use crate::reciprocal::{dyadic_inverse_root, inverse_code, inverse_root_code};
use crate::rotation::Angle;
use crate::weights::{Tensor, Weights};
use alir_core::diag::{Diagnostic, Diagnostics, Place};
use alir_core::num::{Code, Kif};
use alir_interp::samples::array::Numbers;
use num_bigint::BigInt;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Constants with a common step, and their values before quantisation.
#[derive(Clone, Debug, PartialEq)]
pub struct Constants {
    /// Raw integer values, row by row for a matrix.
    pub codes: Vec<Code>,
    /// Fractional bits of `codes`.
    pub frac: i64,
    /// The constants without quantisation, for the floating-point network.
    pub floats: Vec<f64>,
    /// Name of the buffer, `LAYER:NAME` or `NAME`.
    pub name: String,
}

impl Constants {
    /// Returns the exact value of a constant.
    pub fn value(&self, index: usize) -> Rational {
        Rational::from_code(&self.codes[index].to_big(), self.frac)
    }
}

/// An input of the program.
#[derive(Clone, Debug)]
pub struct Input {
    /// Slot that the input fills.
    pub slot: usize,
    /// Number of elements.
    pub elements: usize,
    /// Quantiser of real numbers.
    pub quantiser: Quantiser,
}

/// Function of a look-up table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TableFunction {
    /// A function without dyadic values except at zero.
    Real(Function),
    /// `1 / x`.
    Inverse,
    /// `1 / sqrt(x + epsilon)`.
    InverseRoot(Rational),
}

impl TableFunction {
    /// Returns the name for messages.
    pub fn name(&self) -> &'static str {
        match self {
            TableFunction::Real(function) => function.name(),
            TableFunction::Inverse => "1/x",
            TableFunction::InverseRoot(_) => "1/sqrt(x)",
        }
    }

    /// Returns the raw integer value of the quantised function at `x`.
    ///
    /// # Errors
    /// Returns a message if the value cannot be decided.
    pub fn code(&self, functions: &mut Functions, x: &Rational, quantiser: &Quantiser) -> Result<BigInt, String> {
        match self {
            TableFunction::Real(function) => functions.code(*function, x, quantiser),
            TableFunction::Inverse => Ok(inverse_code(x, quantiser)),
            TableFunction::InverseRoot(epsilon) => Ok(inverse_root_code(&(x + epsilon), quantiser)),
        }
    }

    /// Returns an approximation of the function at `x` in binary64.
    pub fn approximate(&self, x: f64) -> f64 {
        match self {
            TableFunction::Real(function) => function.approximate(x),
            TableFunction::Inverse => 1.0 / x,
            TableFunction::InverseRoot(epsilon) => 1.0 / (x + epsilon.to_f64()).sqrt(),
        }
    }
}

/// Constants of an embedding.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddingRows {
    /// Number of rows; an id beyond the last row selects a row of zeros.
    pub rows: usize,
    /// The rows, one after another.
    pub weight: Arc<Constants>,
    /// Constants that are added to the row, token by token.
    pub positions: Option<Arc<Constants>>,
}

/// Computation of a step, before quantisation. Operations with an [`Operand`] compute each token in the same way.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Matrix times vector, plus constants.
    Product {
        /// The vector.
        x: Operand,
        /// The matrix, with one row per output.
        matrix: Arc<Constants>,
        /// Constants, one per output.
        bias: Option<Arc<Constants>>,
    },
    /// A vector plus constants.
    AddConstants {
        /// The vector.
        x: Operand,
        /// Constants, one per element.
        bias: Arc<Constants>,
    },
    /// The sum of two vectors.
    Add {
        /// First summand.
        a: Operand,
        /// Second summand.
        b: Operand,
    },
    /// `max(x, 0)`.
    Relu {
        /// The vector.
        x: Operand,
    },
    /// A function of each element; the table entries have the type of the step.
    Table {
        /// The vector.
        x: Operand,
        /// The function.
        function: TableFunction,
    },
    /// `T(x[j]) * x[n + j]`, where `T` is a look-up table.
    Swiglu {
        /// The vector.
        x: Operand,
        /// The type of the table's entries.
        table: Quantiser,
    },
    /// `(x - mean) * factors + bias`.
    Norm {
        /// The vector.
        x: Operand,
        /// Constant that is subtracted from each element.
        mean: Rational,
        /// Factors, one per element.
        factors: Arc<Constants>,
        /// Constants, one per element.
        bias: Option<Arc<Constants>>,
    },
    /// Mean of the squares of a token's elements; if centred, mean of the squared distances from the token's mean.
    MeanSquare {
        /// The vector.
        x: Operand,
        /// `true` if the mean is subtracted.
        centred: bool,
    },
    /// `(x - mean) * factors * rstd + bias`.
    Normalise {
        /// The vector.
        x: Operand,
        /// `true` if the mean is subtracted.
        centred: bool,
        /// Slot with one number per token.
        rstd: usize,
        /// Factors, one per element.
        factors: Arc<Constants>,
        /// Constants, one per element.
        bias: Option<Arc<Constants>>,
    },
    /// Row of constants that an id selects, plus constants by token.
    Embed {
        /// Ids.
        ids: Operand,
        /// The rows.
        rows: EmbeddingRows,
    },
    /// `x[i] c - x[i + half] s` and `x[i] s + x[i + half] c` for the pairs of each head.
    Rotate {
        /// Concatenated heads.
        x: Operand,
        /// Number of elements of a head.
        head_dim: usize,
        /// Cosine and sine of each pair, pair after pair, token after token.
        table: Arc<Constants>,
    },
    /// `scale * sum q k` for each token and each token visible to it, in the order `[head][token]`.
    Scores {
        /// Queries.
        q: Operand,
        /// Keys.
        k: Operand,
        /// Sizes of the heads.
        heads: Heads,
        /// The scale, a single number.
        scale: Arc<Constants>,
    },
    /// `x` minus the largest number of its row.
    Difference {
        /// Slot of the numbers.
        x: usize,
        /// Rows of `x`.
        rows: Arc<Rows>,
    },
    /// The sum of each row.
    RowSum {
        /// Slot of the numbers.
        x: usize,
        /// Rows of `x`.
        rows: Arc<Rows>,
    },
    /// Each number of `x` times the factor of its row.
    RowProduct {
        /// Slot of the numbers.
        x: usize,
        /// Slot with one factor per row.
        factor: usize,
        /// Rows of `x`.
        rows: Arc<Rows>,
    },
    /// Sums of values weighted by probabilities.
    Weighted {
        /// Slot of the probabilities, in the order of [`Operation::Scores`].
        p: usize,
        /// Values.
        v: Operand,
        /// Sizes of the heads.
        heads: Heads,
        /// Rows of the probabilities.
        rows: Arc<Rows>,
    },
    /// The value, unchanged.
    Copy {
        /// Slot of the value.
        x: usize,
    },
}

/// One operation and the slot of its result.
#[derive(Clone, Debug)]
pub struct Step {
    /// Index of the node that the step belongs to.
    pub node: usize,
    /// Place of the node in the graph file: `nodes[3]`.
    pub place: String,
    /// Title of the node for messages: `3. mlp_up (layer 1)`.
    pub title: String,
    /// Slot that the step fills.
    pub slot: usize,
    /// Number of elements of the result.
    pub elements: usize,
    /// Layout of the result.
    pub layout: Layout,
    /// Quantiser of the result; `None` keeps the exact result.
    pub quantiser: Option<Quantiser>,
    /// Name of an intermediate value in the quantisation file; `None` for a buffer.
    pub record: Option<&'static str>,
    /// Computation of the step.
    pub operation: Operation,
}

impl Step {
    /// Returns the number of elements of the result for one token.
    pub fn per_token(&self) -> usize {
        self.elements / self.layout.tokens
    }

    /// Calls `compute` for each token, and returns all elements in the order of the layout.
    ///
    /// # Errors
    /// Returns the first error of `compute`.
    pub fn by_token<V, E>(&self, mut compute: impl FnMut(usize) -> Result<Vec<V>, E>) -> Result<Vec<V>, E> {
        let mut all: Vec<Option<V>> = (0..self.elements).map(|_| None).collect();
        for token in 0..self.layout.tokens {
            for (element, value) in compute(token)?.into_iter().enumerate() {
                all[self.layout.index(token, element)] = Some(value);
            }
        }
        Ok(all.into_iter().flatten().collect())
    }
}

/// Network with all weights and types bound.
#[derive(Clone, Debug)]
pub struct BoundNetwork {
    /// Inputs, in order.
    pub inputs: Vec<Input>,
    /// Steps, in order; each step reads only slots of inputs and of earlier steps.
    pub steps: Vec<Step>,
    /// Slots of the outputs, in order.
    pub outputs: Vec<usize>,
    /// Number of slots.
    pub slots: usize,
    /// For each slot, the name of its buffer (`LAYER:NAME` or `NAME`), and its number of elements.
    pub names: Vec<Group>,
}

/// Parses the file of `--weight-map`: names of tensors by buffer.
///
/// # Errors
/// Returns each problem with its place.
pub fn read_map(bytes: &[u8], graph: &Graph) -> Result<WeightMap, Diagnostic> {
    let wrong = |place: String, message: String| Diagnostic::error("E2008", Place::Path(place), message);
    let value = json::parse(bytes, 1 << 20).map_err(|e| {
        let place = Place::Line { line: e.line, column: e.column };
        Diagnostic::error("E2008", place, format!("this is not valid JSON: {}", e.what))
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

/// Names of the tensors that provide a weight, by buffer: `LAYER:NAME` or `NAME`.
#[derive(Clone, Debug, Default)]
pub struct WeightMap(BTreeMap<String, Vec<String>>);

impl WeightMap {
    /// Returns the possible names of a weight, in the order in which they are tried.
    fn candidates(&self, layer: i64, name: &str, is_layered: bool) -> Vec<Candidate> {
        let plain = |names: Vec<String>| Candidate { names, required: false };
        let mut all = Vec::new();
        for key in [format!("{layer}:{name}"), name.to_owned()] {
            if let Some(names) = self.0.get(&key) {
                // A tensor that the user declared has to exist.
                return vec![Candidate { names: names.clone(), required: true }];
            }
        }
        if is_layered {
            all.push(plain(vec![format!("layers.{layer}.{name}")]));
            all.push(plain(vec![format!("{layer}:{name}")]));
        }
        all.push(plain(vec![name.to_owned()]));
        all.extend(hugging_face(layer, name).map(plain));
        if name == "pos_emb" {
            all.push(plain(vec!["transformer.wpe.weight".into()]));
        }
        all
    }
}

/// Returns `true` if the weights contain a tensor for the global buffer `pos_emb`.
pub fn has_positions(weights: &Weights, map: &WeightMap) -> bool {
    map.candidates(-1, "pos_emb", false).iter().any(|candidate| candidate.names.iter().all(|name| weights.has(name)))
}

impl BoundNetwork {
    /// Binds weights to an outline of a graph.
    ///
    /// # Errors
    /// If weights are missing, of another shape, not finite or without a type; if a step lacks a required setting.
    pub fn new(
        graph: &Graph,
        outline: &Outline,
        quant: &QuantFile,
        weights: &Weights,
        map: &WeightMap,
    ) -> Result<BoundNetwork, Diagnostics> {
        let mut binder = Binder {
            graph,
            quant,
            weights,
            map,
            tensors: HashMap::new(),
            constants: HashMap::new(),
            functions: Functions::new(),
            angles: HashMap::new(),
        };
        let names = outline.slots.iter().map(|s| Group { name: title(graph, s.instance), size: s.elements as usize });
        let mut names: Vec<Group> = names.collect();
        let mut steps = Vec::new();
        for call in &outline.calls {
            let node = &graph.nodes[call.node];
            let mut maker = StepMaker { node, outline, names: &mut names, steps: Vec::new() };
            binder.node(node, call, &mut maker)?;
            for step in maker.steps {
                check_step(&step, node, &names)?;
                steps.push(step);
            }
        }
        let inputs = outline.inputs.iter().map(|&slot| {
            let quantiser = outline.slots[slot].setting.quantiser().expect("inputs without a type are refused");
            Input { slot, elements: outline.slots[slot].elements as usize, quantiser }
        });
        Ok(BoundNetwork {
            inputs: inputs.collect(),
            steps,
            outputs: outline.outputs.clone(),
            slots: names.len(),
            names,
        })
    }
}

/// Builder of the steps of one node.
struct StepMaker<'a> {
    node: &'a Node,
    outline: &'a Outline,
    /// Names of all slots; intermediate values append new slots.
    names: &'a mut Vec<Group>,
    steps: Vec<Step>,
}

impl StepMaker<'_> {
    fn push(
        &mut self,
        slot: usize,
        layout: Layout,
        quantiser: Option<Quantiser>,
        record: Option<&'static str>,
        operation: Operation,
    ) {
        self.steps.push(Step {
            node: self.node.index,
            place: self.node.place(),
            title: format!("{}. {}", self.node.index, self.node.title()),
            slot,
            elements: self.names[slot].size,
            layout,
            quantiser,
            record,
            operation,
        });
    }

    /// Appends a step that fills a buffer's slot.
    fn buffer(&mut self, (slot, layout): (usize, Layout), operation: Operation) {
        self.push(slot, layout, self.outline.slots[slot].setting.quantiser(), None, operation);
    }

    /// Appends a step that fills a new slot with an intermediate value, and returns the slot.
    fn hidden(&mut self, record: &'static str, size: usize, setting: &Setting, operation: Operation) -> usize {
        let [.., key] = node_keys(self.node);
        self.names.push(Group { name: format!("{key}.{record}"), size });
        let slot = self.names.len() - 1;
        let tokens = if let Operation::MeanSquare { x, .. } = &operation { x.layout.tokens } else { 1 };
        self.push(slot, Layout { tokens, inner: 1 }, setting.quantiser(), Some(record), operation);
        slot
    }
}

/// Number of elements up to which a tensor is read even if its buffer is smaller, so that a message can state both
/// shapes.
const READ_ANYWAY: u64 = 1 << 16;

fn at(node: &Node, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("E2008", Place::Path(node.place()), format!("{}: {}", node.title(), message.into()))
}

fn check_step(step: &Step, node: &Node, names: &[Group]) -> Result<(), Diagnostic> {
    let too_wide = |kif: Kif, name: &str| {
        let message = format!("the type {kif} of {name}; entries of a table have at most {MAX_ENTRY_BITS} bits");
        let help = format!("give {name} a narrower type in the quantisation file");
        at(node, message).with_help(help)
    };
    let table = match &step.operation {
        Operation::Table { .. } => Some(step.quantiser.ok_or_else(|| {
            at(node, "a table needs a type for its entries, and its output is exact")
                .with_help("give the output a type in the quantisation file")
        })?),
        Operation::Swiglu { table, .. } => Some(*table),
        _ => None,
    };
    if let Some(table) = table.filter(|t| t.kif.width() > MAX_ENTRY_BITS) {
        let name = match (&step.operation, step.record) {
            (Operation::Swiglu { .. }, _) => format!("the record table of {}", node.op),
            (_, Some(record)) => format!("the record {record} of {}", node.op),
            (_, None) => format!("the buffer {}", names[step.slot].name),
        };
        return Err(too_wide(table.kif, &name));
    }
    if let Operation::Normalise { centred: true, factors, .. } = &step.operation
        && step.quantiser.is_none()
        && !factors.codes.len().is_power_of_two()
    {
        let message = format!("a mean of {} elements makes no binary number the exact result", factors.codes.len());
        return Err(at(node, message).with_help("give the output a type in the quantisation file"));
    }
    if let Operation::Embed { .. } = &step.operation
        && let Some(quantiser) = step.quantiser.filter(|q| q.kif.width() > MAX_ENTRY_BITS)
    {
        return Err(too_wide(quantiser.kif, &format!("the buffer {}", names[step.slot].name)));
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
    /// Tensors without padding, by instance; `None` if the file lacks the tensor.
    tensors: HashMap<Instance, Option<Arc<Tensor>>>,
    /// Quantised tensors by instance and purpose; shared by the nodes that read them.
    constants: HashMap<(Instance, bool, bool), Arc<Constants>>,
    functions: Functions,
    /// Quantised cosines and sines by position, pair, number of elements of a head, and type.
    angles: HashMap<(u64, u64, usize, Quantiser), (BigInt, BigInt)>,
}

impl Binder<'_> {
    fn node(&mut self, node: &Node, call: &Call, maker: &mut StepMaker) -> Result<(), Diagnostic> {
        let (reads, writes) = arguments(&node.kind);
        let layout = |arg: &Arg| self.graph.buffers[arg.buffer].layout(self.graph.window.tokens);
        let operand = |k: usize| Operand { slot: call.reads[k], layout: layout(&reads[k]) };
        let out = |k: usize| (call.writes[k], layout(&writes[k]));
        match &node.kind {
            Kind::Products(all) => {
                for (k, product) in all.iter().enumerate() {
                    let matrix = self.need(node, product.w, false)?;
                    let bias = self.bias(node, product.b)?;
                    maker.buffer(out(k), Operation::Product { x: operand(0), matrix, bias });
                }
            }
            Kind::HeadProduct(Product { w, b, .. }) => {
                let (x, y) = (operand(0), out(0));
                let matrix = self.need(node, *w, true)?;
                maker.buffer(y, Operation::Product { x, matrix, bias: self.bias(node, *b)? });
            }
            Kind::BiasAdd { b, y, .. } => {
                let (x, out) = (operand(0), out(0));
                let bias = match self.bias(node, Some(*b))? {
                    Some(bias) => bias,
                    None => {
                        let elements = self.graph.buffers[y.buffer].elements() as usize;
                        let (codes, floats) = (vec![Code::ZERO; elements], vec![0.0; elements]);
                        let name = title(self.graph, instance(self.graph, node.layer, b.buffer));
                        Arc::new(Constants { codes, frac: 0, floats, name })
                    }
                };
                maker.buffer(out, Operation::AddConstants { x, bias });
            }
            Kind::Add { .. } => maker.buffer(out(0), Operation::Add { a: operand(0), b: operand(1) }),
            Kind::Relu { .. } => maker.buffer(out(0), Operation::Relu { x: operand(0) }),
            Kind::Table { function, .. } => {
                let function = TableFunction::Real(*function);
                maker.buffer(out(0), Operation::Table { x: operand(0), function });
            }
            Kind::Swiglu { .. } => {
                let table = self.quant.record(node, "table").quantiser().ok_or_else(|| {
                    at(node, "the table needs a type for its entries")
                        .with_help("give one in the quantisation file: nodes.swiglu.table, or default.table")
                })?;
                maker.buffer(out(0), Operation::Swiglu { x: operand(0), table });
            }
            Kind::Norm { norm, gamma, beta, .. } => {
                let (x, y) = (operand(0), out(0));
                match self.quant.root(node) {
                    RootSetting::Constant { rstd, mean } => {
                        let factors = self.factors(node, *gamma, &rstd)?;
                        let bias = self.bias(node, *beta)?;
                        maker.buffer(y, Operation::Norm { x, mean, factors, bias });
                    }
                    _ => {
                        let centred = *norm == Norm::Layer;
                        let factors = self.need(node, *gamma, false)?;
                        let bias = self.bias(node, *beta)?;
                        let [square, table] = ["mean_square", "table"].map(|name| self.quant.record(node, name));
                        let tokens = x.layout.tokens;
                        let square = maker.hidden("mean_square", tokens, &square, Operation::MeanSquare { x, centred });
                        let function = TableFunction::InverseRoot(self.graph.epsilon.clone());
                        let x_table = Operand::whole(square);
                        let rstd = maker.hidden("table", tokens, &table, Operation::Table { x: x_table, function });
                        maker.buffer(y, Operation::Normalise { x, centred, rstd, factors, bias });
                    }
                }
            }
            Kind::Embedding { weight, positions, .. } => {
                let (ids, y) = (operand(0), out(0));
                let rows = self.embedding(node, *weight, *positions, ids.layout.tokens)?;
                maker.buffer(y, Operation::Embed { ids, rows });
            }
            Kind::Rope { q, k } => {
                for (index, arg) in [q, k].into_iter().enumerate() {
                    let (x, y) = (operand(index), out(index));
                    let head_dim = self.graph.buffers[arg.buffer].shape().last().copied().unwrap_or(0) as usize;
                    let table = self.rotations(node, x.layout.tokens, head_dim)?;
                    maker.buffer(y, Operation::Rotate { x, head_dim, table });
                }
            }
            Kind::Attention { .. } => {
                let heads = heads(self.graph, node).expect("shapes are checked");
                let scale = self.scale(node, heads.head_dim)?;
                let rows = Arc::new(heads.rows());
                let scores = Operation::Scores { q: operand(0), k: operand(1), heads, scale };
                let score = maker.hidden("score", rows.elements(), &self.quant.record(node, "score"), scores);
                let p = self.softmax(node, score, &rows, maker);
                maker.buffer(out(0), Operation::Weighted { p, v: operand(2), heads, rows });
            }
            Kind::Softmax { x, .. } => {
                let (slot, row) = (call.reads[0], last_axis(self.graph, x.buffer) as usize);
                let rows = Rows::from_lengths((0..maker.names[slot].size / row).map(|_| row));
                let p = self.softmax(node, slot, &Arc::new(rows), maker);
                // Rows follow the order of the storage, wherever the tokens axis is.
                maker.buffer((call.writes[0], Layout::FLAT), Operation::Copy { x: p });
            }
            Kind::Unsupported(_) | Kind::Faulty(_) => {}
        }
        Ok(())
    }

    /// Appends the steps from scores to probabilities, and returns the slot of the probabilities.
    fn softmax(&self, node: &Node, score: usize, rows: &Arc<Rows>, maker: &mut StepMaker) -> usize {
        let record = |name: &str| self.quant.record(node, name);
        let (rows, size) = (rows.clone(), rows.elements());
        let difference = Operation::Difference { x: score, rows: rows.clone() };
        let difference = maker.hidden("difference", size, &record("difference"), difference);
        let function = TableFunction::Real(Function::Exp);
        let exp = Operation::Table { x: Operand::whole(difference), function };
        let exp = maker.hidden("exp", size, &record("exp"), exp);
        let sum = Operation::RowSum { x: exp, rows: rows.clone() };
        let sum = maker.hidden("sum", rows.count(), &record("sum"), sum);
        let inverse = Operation::Table { x: Operand::whole(sum), function: TableFunction::Inverse };
        let inverse = maker.hidden("inverse", rows.count(), &record("inverse"), inverse);
        let product = Operation::RowProduct { x: exp, factor: inverse, rows };
        maker.hidden("probability", size, &record("probability"), product)
    }

    /// Returns the quantised scale of scores, `1 / sqrt(head_dim)`.
    fn scale(&self, node: &Node, head_dim: usize) -> Result<Arc<Constants>, Diagnostic> {
        let setting = self.quant.record(node, "scale");
        let [.., key] = node_keys(node);
        let constants = |code: BigInt, frac: i64| {
            let floats = vec![1.0 / (head_dim as f64).sqrt()];
            Arc::new(Constants { codes: vec![Code::from(code)], frac, floats, name: format!("{key}.scale") })
        };
        if let Some(quantiser) = setting.quantiser() {
            let code = inverse_root_code(&Rational::from(BigInt::from(head_dim)), &quantiser);
            return Ok(constants(code, quantiser.kif.frac.into()));
        }
        let exact = dyadic_inverse_root(head_dim as u64).ok_or_else(|| at(node, "the scale needs a type"))?;
        let frac = exact.frac().unwrap_or_default();
        Ok(constants(exact.code(frac).unwrap_or_default(), frac))
    }

    /// Returns the quantised cosines and sines of each token's pairs.
    fn rotations(&mut self, node: &Node, tokens: usize, head_dim: usize) -> Result<Arc<Constants>, Diagnostic> {
        let quantiser = self.quant.record(node, "table").quantiser();
        let quantiser = quantiser.ok_or_else(|| at(node, "the table needs a type for its entries"))?;
        if quantiser.kif.width() > MAX_ENTRY_BITS {
            let kif = quantiser.kif;
            return Err(at(node, format!("entries of type {kif}; a table's have at most {MAX_ENTRY_BITS} bits")));
        }
        let [.., key] = node_keys(node);
        let (mut codes, mut floats) = (Vec::new(), Vec::new());
        for token in 0..tokens as u64 {
            for pair in 0..head_dim as u64 / 2 {
                let position = self.graph.window.offset + token;
                let theta = self.graph.rope_theta.clone();
                let angle = Angle { position, theta, pair, head_dim: head_dim as u64 };
                let found = match self.angles.get(&(position, pair, head_dim, quantiser)) {
                    Some(found) => found.clone(),
                    None => {
                        let found = angle.codes(&mut self.functions, &quantiser).map_err(|m| at(node, m))?;
                        self.angles.insert((position, pair, head_dim, quantiser), found.clone());
                        found
                    }
                };
                codes.extend([Code::from(found.0), Code::from(found.1)]);
                let angle = angle.approximate();
                floats.extend([angle.cos(), angle.sin()]);
            }
        }
        Ok(Arc::new(Constants { codes, frac: quantiser.kif.frac.into(), floats, name: format!("{key}.table") }))
    }

    /// Returns the rows of an embedding, and the rows of positions that belong to the window.
    fn embedding(
        &mut self,
        node: &Node,
        weight: Arg,
        positions: Option<Arg>,
        tokens: usize,
    ) -> Result<EmbeddingRows, Diagnostic> {
        let rows = self.graph.buffers[weight.buffer].shape().first().copied().unwrap_or(0) as usize;
        let weight = self.need(node, weight, false)?;
        let row = weight.codes.len() / rows.max(1);
        let Some(positions) = positions else { return Ok(EmbeddingRows { rows, weight, positions: None }) };
        if self.tensor(node, positions)?.is_none() {
            return Ok(EmbeddingRows { rows, weight, positions: None });
        }
        let all = self.need(node, positions, false)?;
        let first = self.graph.window.offset as usize;
        let (start, end) = (first * row, (first + tokens) * row);
        if end > all.codes.len() {
            let (name, most) = (&all.name, all.codes.len() / row.max(1));
            let message =
                format!("{name} has {most} rows, and the tokens have positions {first} to {}", first + tokens - 1);
            return Err(at(node, message).with_help("see --tokens and --position-offset"));
        }
        let positions = Constants {
            codes: all.codes[start..end].to_vec(),
            frac: all.frac,
            floats: all.floats[start..end].to_vec(),
            name: all.name.clone(),
        };
        Ok(EmbeddingRows { rows, weight, positions: Some(Arc::new(positions)) })
    }

    fn setting(&self, (layer, root): Instance, purpose: Purpose) -> Setting {
        self.quant.buffer(layer, &self.graph.buffers[root].name, purpose)
    }

    /// Returns a weight that the node requires; `heads` reorders `[heads][embed][head_dim]` to rows of outputs.
    fn need(&mut self, node: &Node, arg: Arg, heads: bool) -> Result<Arc<Constants>, Diagnostic> {
        let instance = instance(self.graph, node.layer, arg.buffer);
        if let Some(found) = self.constants.get(&(instance, false, heads)) {
            return Ok(found.clone());
        }
        let tensor = self.tensor(node, arg)?.ok_or_else(|| self.missing(node, instance))?;
        let setting = self.setting(instance, Purpose::Weight);
        let mut constants =
            quantised(&tensor, &setting, &Rational::one(), false).map_err(|m| self.about_weight(node, instance, &m))?;
        constants.name = title(self.graph, instance);
        if heads {
            constants = by_output(&constants, &self.graph.buffers[arg.buffer].shape());
        }
        let constants = Arc::new(constants);
        self.constants.insert((instance, false, heads), constants.clone());
        Ok(constants)
    }

    /// Returns a bias; `None` (a bias of zero) if the node or the file has no bias.
    fn bias(&mut self, node: &Node, arg: Option<Arg>) -> Result<Option<Arc<Constants>>, Diagnostic> {
        let Some(arg) = arg else { return Ok(None) };
        let instance = instance(self.graph, node.layer, arg.buffer);
        if let Some(found) = self.constants.get(&(instance, true, false)) {
            return Ok(Some(found.clone()));
        }
        let Some(tensor) = self.tensor(node, arg)? else { return Ok(None) };
        let setting = self.setting(instance, Purpose::Bias);
        let mut constants =
            quantised(&tensor, &setting, &Rational::one(), false).map_err(|m| self.about_weight(node, instance, &m))?;
        constants.name = title(self.graph, instance);
        let constants = Arc::new(constants);
        self.constants.insert((instance, true, false), constants.clone());
        Ok(Some(constants))
    }

    /// Returns the factors of a norm: gamma times a constant, quantised together.
    fn factors(&mut self, node: &Node, arg: Arg, rstd: &Rational) -> Result<Arc<Constants>, Diagnostic> {
        let instance = instance(self.graph, node.layer, arg.buffer);
        let tensor = self.tensor(node, arg)?.ok_or_else(|| self.missing(node, instance))?;
        let setting = self.setting(instance, Purpose::Weight);
        let name = title(self.graph, instance);
        quantised(&tensor, &setting, rstd, true)
            .map(|constants| Arc::new(Constants { name, ..constants }))
            .map_err(|m| self.about_weight(node, instance, &m))
    }

    fn about_weight(&self, node: &Node, instance: Instance, message: &str) -> Diagnostic {
        at(node, format!("{} {message}", title(self.graph, instance)))
    }

    fn missing(&self, node: &Node, instance: Instance) -> Diagnostic {
        let names: Vec<String> = self.candidates(instance).into_iter().map(|c| c.names.join(" + ")).collect();
        let message =
            format!("there are no weights for {}: looked for {}", title(self.graph, instance), names.join(", "));
        at(node, message).with_help("give the file with --weights, or the tensor's name with --weight-map")
    }

    fn candidates(&self, (layer, root): Instance) -> Vec<Candidate> {
        let buffer = &self.graph.buffers[root];
        self.map.candidates(layer, &buffer.name, buffer.layered)
    }

    /// Returns the tensor of an instance without padding; `None` if the file lacks the tensor.
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
            found = Some((self.joined(node, instance, &names)?, names.join(" + ")));
            break;
        }
        let found = match found {
            None => None,
            Some((tensor, names)) => {
                let buffer = &self.graph.buffers[instance.1];
                let tensor = without_padding(tensor, &buffer.axes).map_err(|m| {
                    let help = format!("the tensor {names} of --weights has to have the shape of the buffer");
                    self.about_weight(node, instance, &m).with_help(help)
                })?;
                if let Numbers::Floats(reals) = &tensor.numbers
                    && let Some(at) = reals.iter().position(|x| !x.is_finite())
                {
                    let message = format!("has {} at element {:?}", reals[at], coordinates(&tensor.shape, at));
                    let help = format!("the tensor {names} of --weights needs finite numbers");
                    return Err(self.about_weight(node, instance, &message).with_help(help));
                }
                Some(Arc::new(tensor))
            }
        };
        self.tensors.insert(instance, found.clone());
        Ok(found)
    }

    /// Returns the tensors with these names, joined along their first axis.
    fn joined(&self, node: &Node, instance: Instance, names: &[String]) -> Result<Tensor, Diagnostic> {
        let buffer = &self.graph.buffers[instance.1];
        let padded: u64 = buffer.axes.iter().map(Axis::padded_size).fold(1, u64::saturating_mul);
        let mut parts = Vec::new();
        for name in names {
            let tensor = self.weights.read(name, padded.clamp(READ_ANYWAY, MAX_WEIGHTS * 4))?;
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
                return Err(self.about_weight(node, instance, &message));
            }
            whole.shape[0] += part.shape[0];
            match (&mut whole.numbers, part.numbers) {
                (Numbers::Floats(a), Numbers::Floats(b)) => a.extend(b),
                (Numbers::Integers(a), Numbers::Integers(b)) => a.extend(b),
                (Numbers::Words(a), Numbers::Words(b)) => a.extend(b),
                _ => return Err(self.about_weight(node, instance, "is joined of integers and other numbers")),
            }
        }
        Ok(whole)
    }
}

/// Names of tensors that together provide a weight.
struct Candidate {
    names: Vec<String>,
    required: bool,
}

/// Returns the names that the Hugging Face libraries use for a weight; `None` for other weights.
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
        "pos_emb" => one("model.embed_positions.weight"),
        _ => None,
    }
}

/// Returns a tensor with a Hugging Face name in the shape of the graph, and other tensors unchanged.
fn in_our_shape(name: &str, tensor: Tensor, shape: &[u64]) -> Tensor {
    let Some(part) = name.split_once("self_attn.").map(|(_, part)| part) else { return tensor };
    let (Some((projection, kind)), count) = (part.split_once('.'), tensor.numbers.len() as u64) else { return tensor };
    if tensor.shape == shape || shape.iter().product::<u64>() != count {
        return tensor;
    }
    match (projection, kind, shape) {
        // [heads * head_dim][embed] and [heads * head_dim]: the elements have the same order in both shapes.
        ("q_proj" | "k_proj" | "v_proj", "weight", [heads, head, embed]) if tensor.shape == [heads * head, *embed] => {
            Tensor { shape: shape.to_vec(), ..tensor }
        }
        ("q_proj" | "k_proj" | "v_proj", "bias", [heads, head]) if tensor.shape == [heads * head] => {
            Tensor { shape: shape.to_vec(), ..tensor }
        }
        ("o_proj", "weight", [heads, embed, head]) if tensor.shape == [*embed, heads * head] => {
            let [heads, embed, head] = [*heads, *embed, *head].map(|n| n as usize);
            let mut order = Vec::with_capacity(tensor.numbers.len());
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

/// Returns the coordinates of an element in row-major order.
fn coordinates(shape: &[u64], element: usize) -> Vec<u64> {
    let mut rest = element as u64;
    let mut all: Vec<u64> = Vec::with_capacity(shape.len());
    for &size in shape.iter().rev() {
        all.push(rest % size.max(1));
        rest /= size.max(1);
    }
    all.reverse();
    all
}

/// Returns the elements of a tensor that are not padding.
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
    let mut kept = vec![false; tensor.numbers.len()];
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

/// Returns the raw integer values of a tensor times `scale` and `factor`; `typed` requires a type even for integers.
fn quantised(tensor: &Tensor, setting: &Setting, factor: &Rational, typed: bool) -> Result<Constants, String> {
    let scale = &setting.scale * factor;
    let value = |k: usize| {
        let number = match &tensor.numbers {
            Numbers::Floats(v) => Rational::from_f64(v[k]).unwrap_or_else(Rational::zero),
            Numbers::Integers(v) => Rational::from(v[k]),
            Numbers::Words(v) => Rational::from(BigInt::from(v[k])),
        };
        &number * &scale
    };
    let float_scale = scale.to_f64();
    let floats = (0..tensor.numbers.len()).map(|k| match &tensor.numbers {
        Numbers::Floats(v) => v[k] * float_scale,
        Numbers::Integers(v) => v[k] as f64 * float_scale,
        Numbers::Words(v) => v[k] as f64 * float_scale,
    });
    let floats: Vec<f64> = floats.collect();
    if let Some(quantiser) = setting.quantiser() {
        let codes = (0..tensor.numbers.len()).map(|k| Code::from(quantiser.code(&value(k)))).collect();
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
    let codes =
        (0..tensor.numbers.len()).map(|k| Code::from(value(k).code(frac).expect("a multiple of the scale's step")));
    Ok(Constants { codes: codes.collect(), frac, floats, name: String::new() })
}

/// Reorders `[heads][embed][head_dim]` to rows of outputs: `[embed][heads * head_dim]`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_coordinates() {
        assert_eq!(coordinates(&[3, 4], 7), [1, 3]);
        assert_eq!(coordinates(&[2, 1, 3], 5), [1, 0, 2]);
        assert!(coordinates(&[], 0).is_empty());
    }
}
