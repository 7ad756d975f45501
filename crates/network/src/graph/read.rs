//! Parser of the graph file; it checks every rule of the contract that concerns the structure alone.

use super::layout::Layout;
use super::{MAX_AXES, MAX_RECORDS};
use crate::exact::Rational;
use crate::function::Function;
use crate::json::{self, Value};
use alir_core::diag::{Diagnostic, Diagnostics, Place};
use std::collections::{BTreeMap, HashMap};

/// Largest number of JSON values of a file; the graph of a language model has about 10,000.
const MAX_VALUES: usize = 1 << 23;

/// Names of the reserved dimensions by id.
const RESERVED: [&str; 11] = [
    "tokens",
    "embed",
    "aligned_embed",
    "head_dim",
    "aligned_head",
    "num_heads",
    "num_kv_heads",
    "aligned_ctx",
    "intermediate",
    "aligned_intermediate",
    "vocab",
];

/// Name of the dimension of tokens.
const TOKENS: &str = "tokens";

/// Padded dimensions, with the dimensions that they pad.
const PADDED: [(&str, &str); 4] = [
    ("aligned_embed", "embed"),
    ("aligned_head", "head_dim"),
    ("aligned_intermediate", "intermediate"),
    ("aligned_ctx", "context"),
];

/// Padded dimensions are multiples of this.
const ALIGNMENT: u64 = 16;

/// A named size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Identifier of the dimension; `None` if it has no identifier.
    pub id: Option<i64>,
    /// Name of the dimension.
    pub name: String,
    /// Size in elements.
    pub value: u64,
}

/// Purpose of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Constants.
    Weight,
    /// Values between nodes.
    Activation,
    /// A gradient, for training; treated as an activation.
    Grad,
    /// An input of the network.
    Input,
    /// An output of the network.
    Output,
    /// Temporary storage of kernels; never an output.
    Scratch,
}

/// One axis of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Number of consecutive blocks.
    pub blocks: u64,
    /// Elements of a block without padding.
    pub real: u64,
    /// Elements of a block with padding.
    pub padded: u64,
}

impl Axis {
    /// Returns the number of elements without padding.
    pub fn size(&self) -> u64 {
        self.blocks * self.real
    }

    /// Returns the number of elements with padding.
    pub fn padded_size(&self) -> u64 {
        self.blocks * self.padded
    }
}

/// A tensor of the network.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Name of the buffer.
    pub name: String,
    /// `true` if each layer has a separate instance of the buffer.
    pub layered: bool,
    /// Purpose of the buffer.
    pub role: Role,
    /// Element type in the graph file, which is not used.
    pub dtype: String,
    /// Sizes in the file, including tokens and padding.
    pub sizes: Vec<u64>,
    /// Name of the dimension of each entry of the shape; `embed` also where the file has `aligned_embed`.
    pub dimensions: Vec<String>,
    /// Axes for one token.
    pub axes: Vec<Axis>,
    /// For each entry of dimension tokens, the number of entries of `axes` before it.
    pub token_axes: Vec<usize>,
    /// `true` if an entry of dimension tokens has a `mult` or `div` other than 1.
    pub scales_tokens: bool,
    /// Index of the buffer that provides the storage: the end of the chain of aliases, or the buffer itself.
    pub root: usize,
    /// `true` if the buffer's condition holds.
    pub present: bool,
    /// Error of a condition that cannot be evaluated; nodes that use the buffer report the error.
    pub unclear: Option<Diagnostic>,
}

impl Buffer {
    /// Returns the number of elements for one token, without padding.
    pub fn elements(&self) -> u64 {
        self.axes.iter().map(Axis::size).product()
    }

    /// Returns the sizes for one token, without padding.
    pub fn shape(&self) -> Vec<u64> {
        self.axes.iter().map(Axis::size).collect()
    }

    /// Returns the dimensions and sizes of the axes with more than one element, for `tokens` tokens, without padding.
    pub fn long_axes(&self, tokens: u64) -> Vec<(&str, u64)> {
        let mut others = self.axes.iter().map(Axis::size);
        let size = |name: &String| match name == TOKENS && self.role != Role::Weight {
            true => tokens,
            false => others.next().unwrap_or(1),
        };
        let all: Vec<u64> = self.dimensions.iter().map(size).collect();
        self.dimensions.iter().map(String::as_str).zip(all).filter(|axis| axis.1 != 1).collect()
    }

    /// Returns `true` if the condition of the buffer holds or cannot be evaluated.
    pub fn may_be_used(&self) -> bool {
        self.present || self.unclear.is_some()
    }

    /// Returns the number of elements for `tokens` tokens, without padding; `None` if it exceeds 64 bits.
    pub fn elements_with(&self, tokens: u64) -> Option<u64> {
        if self.role == Role::Weight {
            return Some(self.elements());
        }
        let power = tokens.checked_pow(u32::try_from(self.token_axes.len()).ok()?)?;
        let sizes = self.axes.iter().map(Axis::size);
        sizes.chain([power]).try_fold(1u64, u64::checked_mul)
    }

    /// Returns the layout for `tokens` tokens, along the first tokens axis.
    pub fn layout(&self, tokens: u64) -> Layout {
        match self.token_axes.first() {
            Some(&before) if self.role != Role::Weight => {
                let inner: u64 = self.axes[before..].iter().map(Axis::size).product();
                Layout { tokens: tokens as usize, inner: (inner as usize).max(1) }
            }
            _ => Layout::FLAT,
        }
    }
}

/// Kind of a normalisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// RMS norm, usually without a mean.
    Rms,
    /// Layer norm, with a mean.
    Layer,
}

/// Buffer that is bound to an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arg {
    /// Index of the buffer.
    pub buffer: usize,
    /// Index of the binding in the node; `usize::MAX` without a binding.
    pub binding: usize,
}

/// Product of a constant matrix and a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// The vector.
    pub x: Arg,
    /// The matrix, with one row per output.
    pub w: Arg,
    /// Optional summand.
    pub b: Option<Arg>,
    /// The result.
    pub y: Arg,
}

/// Operation of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Products of one vector with several matrices, each with a separate output.
    Products(Vec<Product>),
    /// `attn_proj`: the matrix as `[heads][embed][head_dim]`.
    HeadProduct(Product),
    /// `x + b`, `b` a weight.
    BiasAdd {
        /// The vector.
        x: Arg,
        /// The constants.
        b: Arg,
        /// The result.
        y: Arg,
    },
    /// `a + b`.
    Add {
        /// First.
        a: Arg,
        /// Second.
        b: Arg,
        /// The result.
        y: Arg,
    },
    /// `max(x, 0)`.
    Relu {
        /// The vector.
        x: Arg,
        /// The result.
        y: Arg,
    },
    /// A function that is applied to each element.
    Table {
        /// The function.
        function: Function,
        /// The vector.
        x: Arg,
        /// The result.
        y: Arg,
    },
    /// `silu(x[j]) * x[n + j]`.
    Swiglu {
        /// The vector of `2 n`.
        x: Arg,
        /// The result of `n`.
        y: Arg,
    },
    /// `(x - mean) * g + beta`.
    Norm {
        /// Kind of the norm.
        norm: Norm,
        /// The vector.
        x: Arg,
        /// Factors of the elements.
        gamma: Arg,
        /// Optional summand.
        beta: Option<Arg>,
        /// The result.
        y: Arg,
    },
    /// For each token, the row of a weight that the token's id selects.
    Embedding {
        /// The ids.
        ids: Arg,
        /// The rows.
        weight: Arg,
        /// Values that are added by position, if their condition holds and their tensor exists.
        positions: Option<Arg>,
        /// The result.
        y: Arg,
    },
    /// A rotation of pairs of elements by the position of the token, in place.
    Rope {
        /// Queries.
        q: Arg,
        /// Keys.
        k: Arg,
    },
    /// Softmax of scaled products of queries and keys, times values.
    Attention {
        /// Queries.
        q: Arg,
        /// Keys.
        k: Arg,
        /// Values.
        v: Arg,
        /// The result.
        y: Arg,
        /// `true` if a token attends only to itself and earlier tokens.
        causal: bool,
    },
    /// Softmax over the last axis.
    Softmax {
        /// The vector.
        x: Arg,
        /// The result.
        y: Arg,
    },
    /// An operation that is unknown or cannot be combinational logic, with the reason.
    Unsupported(String),
    /// A supported operation with invalid arguments, with the reason.
    Faulty(String),
}

/// A node of the graph.
#[derive(Clone, Debug)]
pub struct Node {
    /// Index of the node in the file.
    pub index: usize,
    /// Layer of the node; -1 if it belongs to no layer.
    pub layer: i64,
    /// Name of the operation.
    pub op: String,
    /// Name of the kernel.
    pub kernel: String,
    /// Number of earlier nodes of the same layer and operation.
    pub nth: usize,
    /// `true` if the node's condition holds.
    pub runs: bool,
    /// Error of a condition that cannot be evaluated; a selection with this node reports the error.
    pub unclear: Option<Diagnostic>,
    /// Arguments and buffers in the order of the file.
    pub bindings: Vec<(String, usize)>,
    /// Operation of the node.
    pub kind: Kind,
}

impl Node {
    /// Returns the place of the node in the file.
    pub fn place(&self) -> String {
        format!("nodes[{}]", self.index)
    }

    /// Returns a title of the node for messages: `mlp_up (layer 0)`.
    pub fn title(&self) -> String {
        if self.layer < 0 { self.op.clone() } else { format!("{} (layer {})", self.op, self.layer) }
    }
}

/// A checked graph.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Named sizes, in the order of the file.
    pub dimensions: Vec<Dimension>,
    /// Buffers, in the order of the file.
    pub buffers: Vec<Buffer>,
    /// Nodes, in the order of the file.
    pub nodes: Vec<Node>,
    /// Window of tokens that the graph is read for.
    pub window: Window,
    /// Base of rotary embeddings; zero if the file has none.
    pub rope_theta: Rational,
    /// Constant that is added to a mean square before its root is taken.
    pub epsilon: Rational,
}

/// Window of tokens that a graph is read for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Number of tokens.
    pub tokens: u64,
    /// Position of the first token.
    pub offset: u64,
    /// `true` if the weights have a tensor for the buffer `pos_emb`.
    pub has_positions: bool,
}

impl Default for Window {
    fn default() -> Window {
        Window { tokens: 1, offset: 0, has_positions: false }
    }
}

impl Graph {
    /// Reads and checks a graph for one token; `file` is its name for messages.
    ///
    /// # Errors
    /// Returns all problems of the records.
    pub fn read(bytes: &[u8], file: &str) -> Result<Graph, Diagnostics> {
        Graph::read_window(bytes, file, Window::default())
    }

    /// Reads and checks a graph for a window of tokens.
    ///
    /// # Errors
    /// Returns all problems of the records.
    pub fn read_window(bytes: &[u8], file: &str, window: Window) -> Result<Graph, Diagnostics> {
        let value = json::parse(bytes, MAX_VALUES).map_err(|e| {
            let place = Place::Line { line: e.line, column: e.column };
            let message = format!("this is not valid JSON file of a graph: {}", e.what);
            Diagnostic::error("E2001", place, message).in_file(file.as_ref())
        })?;
        Reader { window, ..Reader::default() }.graph(&value).map_err(|problems| problems.in_file(file.as_ref()))
    }

    /// Returns the layers that nodes belong to, in ascending order.
    pub fn layers(&self) -> Vec<i64> {
        let mut layers: Vec<i64> = self.nodes.iter().map(|n| n.layer).filter(|&l| l >= 0).collect();
        layers.sort_unstable();
        layers.dedup();
        layers
    }

    /// Returns warnings about conditions that cannot be evaluated. Nodes with such a condition are refused when they
    /// are selected.
    pub fn warnings(&self) -> Diagnostics {
        let nodes = self.nodes.iter().filter_map(|node| node.unclear.as_ref());
        let buffers = self.buffers.iter().filter_map(|buffer| buffer.unclear.as_ref());
        let warning = |error: &Diagnostic| {
            Diagnostic::warning("W2001", error.place.clone(), error.message.clone())
                .with_help("nothing that is selected depends on it")
        };
        Diagnostics(buffers.chain(nodes).map(warning).collect())
    }

    /// Returns the index of the buffer with a name; `None` if no buffer has this name.
    pub fn buffer(&self, name: &str) -> Option<usize> {
        self.buffers.iter().position(|b| b.name == name)
    }
}

fn wrong(place: impl Into<String>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("E2002", Place::Path(place.into()), message)
}

#[derive(Default)]
struct Reader {
    window: Window,
    config: BTreeMap<String, Rational>,
    dimensions: Vec<Dimension>,
    /// Values of all dimensions by name, including derived dimensions.
    values: HashMap<String, u64>,
    buffers: Vec<Buffer>,
    by_name: HashMap<String, usize>,
    nodes: Vec<Node>,
    problems: Vec<Diagnostic>,
}

/// Largest number of problems that are counted; more problems of an entirely invalid file add no information.
const MAX_PROBLEMS: usize = alir_core::diag::COUNTED;

impl Reader {
    fn graph(mut self, value: &Value) -> Result<Graph, Diagnostics> {
        let members = value.members().ok_or_else(|| wrong("version", format!("{} is no graph", value.kind())))?;
        match value.get("version") {
            Some(Value::Number(text)) if text == "2" => {}
            Some(other) => {
                return Err(
                    wrong("version", format!("version {} is not known; the integer 2 is", other.brief())).into()
                );
            }
            None => return Err(wrong("version", "there is no version; a graph has the integer 2").into()),
        }
        debug_assert!(!members.is_empty());
        self.config(value.get("config"))?;
        for (index, record) in records(value, "dimensions")?.iter().enumerate() {
            self.dimension(index, record)?;
        }
        self.derive_padded()?;
        let buffers = records(value, "buffers")?;
        let nodes = records(value, "nodes")?;
        if nodes.is_empty() {
            return Err(wrong("nodes", "a graph without nodes").into());
        }
        for (index, record) in buffers.iter().enumerate() {
            if let Err(problem) = self.buffer(index, record) {
                self.problems.push(problem);
            }
        }
        self.stop_if_wrong()?;
        self.aliases(buffers);
        self.stop_if_wrong()?;
        let mut seen: HashMap<(i64, String), usize> = HashMap::new();
        for (index, record) in nodes.iter().enumerate() {
            if let Err(problem) = self.node(index, record, &mut seen) {
                self.problems.push(problem);
            }
        }
        self.stop_if_wrong()?;
        let rope_theta = self.config.get("rope_theta").cloned().unwrap_or_else(Rational::zero);
        let epsilon = self.config.get("rms_norm_eps").cloned();
        let epsilon = epsilon.unwrap_or_else(|| Rational::parse_decimal("1e-6").expect("a decimal"));
        let Reader { dimensions, buffers, nodes, window, .. } = self;
        Ok(Graph { dimensions, buffers, nodes, window, rope_theta, epsilon })
    }

    fn stop_if_wrong(&mut self) -> Result<(), Diagnostics> {
        if self.problems.is_empty() {
            return Ok(());
        }
        self.problems.truncate(MAX_PROBLEMS);
        Err(Diagnostics(std::mem::take(&mut self.problems)))
    }

    fn config(&mut self, value: Option<&Value>) -> Result<(), Diagnostic> {
        let Some(value) = value else { return Ok(()) };
        if *value == Value::Null {
            return Ok(());
        }
        let members = value.members().ok_or_else(|| wrong("config", format!("{} is no object", value.kind())))?;
        for (name, value) in members {
            let number = value.number();
            let number = number.ok_or_else(|| {
                wrong(format!("config.{name}"), format!("{} is no number of moderate size", value.brief()))
            })?;
            self.config.insert(name.clone(), number);
        }
        Ok(())
    }

    fn dimension(&mut self, index: usize, record: &Value) -> Result<(), Diagnostic> {
        let place = format!("dimensions[{index}]");
        let name = text(record, "name", &place)?;
        let id = match record.get("id") {
            None | Some(Value::Null) => None,
            Some(id) => {
                Some(id.integer().ok_or_else(|| wrong(format!("{place}.id"), format!("{} is no id", id.brief())))?)
            }
        };
        let value = record.get("value").ok_or_else(|| wrong(&place, "a dimension without a value"))?;
        let value = value.integer().and_then(|v| u64::try_from(v).ok()).ok_or_else(|| {
            wrong(format!("{place}.value"), format!("{} is no whole number from 0 up", value.brief()))
        })?;
        if self.dimensions.iter().any(|d| d.name == name) {
            return Err(wrong(format!("{place}.name"), format!("the dimension {name:?} is given twice")));
        }
        if let Some(id) = id {
            if let Some(other) = self.dimensions.iter().find(|d| d.id == Some(id)) {
                let message = format!("the id {id} is given twice: it is {:?} too", other.name);
                return Err(wrong(format!("{place}.id"), message));
            }
            let reserved = usize::try_from(id).ok().and_then(|id| RESERVED.get(id));
            if let Some(reserved) = reserved.filter(|reserved| **reserved != name) {
                return Err(wrong(format!("{place}.id"), format!("the id {id} means {reserved:?}, not {name:?}")));
            }
            if id < 0 {
                return Err(wrong(format!("{place}.id"), format!("the id {id} is negative")));
            }
        }
        self.values.insert(name.clone(), value);
        self.dimensions.push(Dimension { id, name, value });
        Ok(())
    }

    /// Adds the padded dimensions that the file does not list.
    fn derive_padded(&mut self) -> Result<(), Diagnostic> {
        for (aligned, real) in PADDED {
            let Some(&value) = self.values.get(real) else { continue };
            match self.values.get(aligned) {
                None => {
                    let padded = value.checked_next_multiple_of(ALIGNMENT);
                    let padded =
                        padded.ok_or_else(|| wrong("dimensions", format!("{real} of {value} is too large")))?;
                    self.values.insert(aligned.into(), padded);
                }
                Some(&padded) if padded < value => {
                    return Err(wrong("dimensions", format!("{aligned} of {padded} is below {real} of {value}")));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Returns the name of the dimension with an id; `None` if no such dimension exists.
    fn name_of_id(&self, id: i64) -> Option<String> {
        if let Some(dimension) = self.dimensions.iter().find(|d| d.id == Some(id)) {
            return Some(dimension.name.clone());
        }
        let reserved = usize::try_from(id).ok().and_then(|id| RESERVED.get(id))?;
        // Only derived dimensions may be missing; and a dimension may exist without its id.
        self.values.contains_key(*reserved).then(|| (*reserved).to_string())
    }

    fn buffer(&mut self, index: usize, record: &Value) -> Result<(), Diagnostic> {
        let place = format!("buffers[{index}]");
        if record.members().is_none() {
            return Err(wrong(place, format!("{} is no buffer", record.kind())));
        }
        let name = text(record, "name", &place)?;
        if self.by_name.contains_key(&name) {
            return Err(wrong(format!("{place}.name"), format!("the buffer {name:?} is given twice")));
        }
        // Later records refer to names, so the name is registered even if the buffer has another error.
        self.by_name.insert(name.clone(), index);
        let layered = match text(record, "scope", &place)?.as_str() {
            "layer" => true,
            "global" => false,
            other => {
                let message = format!("the scope {other:?} is not supported; there are global and layer");
                return Err(wrong(format!("{place}.scope"), message));
            }
        };
        let role = match text(record, "role", &place)?.as_str() {
            "weight" => Role::Weight,
            "activation" => Role::Activation,
            "grad" => Role::Grad,
            "input" => Role::Input,
            "output" => Role::Output,
            "scratch" => Role::Scratch,
            other => {
                let known = "weight, activation, grad, input, output, scratch";
                return Err(wrong(
                    format!("{place}.role"),
                    format!("the role {other:?} is not known; there are {known}"),
                ));
            }
        };
        let dtype = match record.get("dtype") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => return Err(wrong(format!("{place}.dtype"), format!("{} is no dtype", other.kind()))),
        };
        match record.get("optional") {
            None | Some(Value::Null | Value::Bool(_)) => {}
            Some(Value::Number(text)) if text == "0" || text == "1" => {}
            Some(other) => {
                return Err(wrong(format!("{place}.optional"), format!("{} is neither 0 nor 1", other.brief())));
            }
        }
        let (present, unclear) = self.condition(record.get("condition"), &format!("{place}.condition"))?;
        let shape = record.get("shape").and_then(Value::elements);
        let shape = shape.ok_or_else(|| wrong(format!("{place}.shape"), "the shape is no list of dimensions"))?;
        if shape.len() > MAX_AXES {
            return Err(wrong(format!("{place}.shape"), format!("{} axes; at most {MAX_AXES} are read", shape.len())));
        }
        let (mut sizes, mut axes, mut token_axes, mut scales_tokens) = (Vec::new(), Vec::new(), Vec::new(), false);
        let mut dimensions = Vec::with_capacity(shape.len());
        for (k, entry) in shape.iter().enumerate() {
            let (name, size, axis) = self.axis(entry, &format!("{place}.shape[{k}]"))?;
            dimensions.push(name);
            sizes.push(size);
            if axis.is_none() {
                token_axes.push(axes.len());
                let is_one = |key| entry.get(key).and_then(Value::integer).is_none_or(|factor| factor == 1);
                scales_tokens |= !(is_one("mult") && is_one("div"));
            }
            axes.extend(axis.or((role == Role::Weight).then_some(Axis { blocks: 1, real: size, padded: size })));
        }
        let total = |sizes: Vec<u64>| sizes.iter().try_fold(1u64, |n, &size| n.checked_mul(size));
        // A file may list the buffers of a whole model, so sizes may be large; only computed buffers are limited.
        let count = total(sizes.clone()).and_then(|n| n.checked_mul(8)).map(|n| n / 8);
        let padded = total(axes.iter().map(Axis::padded_size).collect());
        let (Some(count), Some(_)) = (count, padded) else {
            return Err(wrong(format!("{place}.shape"), format!("the shape {sizes:?} has too many elements")));
        };
        if let Some(resolved) = record.get("resolved_shape") {
            check_resolved(resolved, &sizes, count, &dtype).map_err(|m| wrong(format!("{place}.resolved_shape"), m))?;
        }
        let buffer = Buffer {
            name,
            layered,
            role,
            dtype,
            sizes,
            dimensions,
            axes,
            token_axes,
            scales_tokens,
            root: index,
            present,
            unclear,
        };
        self.buffers.push(buffer);
        Ok(())
    }

    /// Returns the dimension of an entry, its size in the file, and its axis for one token (`None` for the tokens
    /// axis).
    fn axis(&self, entry: &Value, place: &str) -> Result<(String, u64, Option<Axis>), Diagnostic> {
        let by_id = |id: &Value| {
            let number = id.integer().ok_or_else(|| wrong(place, format!("{} is no id of a dimension", id.brief())))?;
            self.name_of_id(number).ok_or_else(|| wrong(place, format!("there is no dimension {number}")))
        };
        if entry.members().is_none() {
            return Err(wrong(place, format!("{} is no entry of a shape: {{dim, mult, div}}", entry.kind())));
        }
        let dim = match entry.get("dim") {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(name.clone()),
            Some(id) => Some(by_id(id)?),
        };
        let id = match entry.get("dim_id") {
            None | Some(Value::Null) => None,
            Some(id) => Some((id.brief(), by_id(id)?)),
        };
        let name = match (dim, id) {
            (Some(dim), Some((id, name))) if dim != name => {
                return Err(wrong(place, format!("dim is {dim:?}, but dim_id {id} is {name:?}")));
            }
            (Some(name), _) | (None, Some((_, name))) => name,
            (None, None) => return Err(wrong(place, "neither dim nor dim_id says which dimension this is")),
        };
        let value = *self.values.get(&name).ok_or_else(|| {
            wrong(place, format!("there is no dimension {name:?}")).with_help("dimensions lists those that there are")
        })?;
        let factor = |key: &str| match entry.get(key) {
            None | Some(Value::Null) => Ok(1),
            Some(v) => v
                .integer()
                .and_then(|v| u64::try_from(v).ok())
                .filter(|&v| v > 0)
                .ok_or_else(|| wrong(place, format!("{key} is {}; it is a whole number from 1 up", v.brief()))),
        };
        let (mult, div) = (factor("mult")?, factor("div")?);
        let size = u128::from(value) * u128::from(mult) / u128::from(div);
        let size = u64::try_from(size).map_err(|_| wrong(place, format!("the size {size} is too large")))?;
        if name == TOKENS {
            return Ok((name, size, None));
        }
        let real = PADDED.iter().find(|(aligned, _)| *aligned == name && div == 1);
        let real = real.and_then(|(_, real)| Some((*real, *self.values.get(*real)?)));
        Ok(match real {
            Some((name, real)) => (name.into(), size, Some(Axis { blocks: mult, real, padded: value })),
            None => (name, size, Some(Axis { blocks: 1, real: size, padded: size })),
        })
    }

    /// Returns `true` if a condition holds. If the condition contains an unknown name, the error is returned for the
    /// buffers and nodes that depend on the condition.
    fn condition(&self, value: Option<&Value>, place: &str) -> Result<(bool, Option<Diagnostic>), Diagnostic> {
        let text = match value {
            None | Some(Value::Null) => return Ok((true, None)),
            Some(Value::String(text)) => text.trim(),
            Some(other) => return Err(wrong(place, format!("{} is no condition", other.kind()))),
        };
        if text.is_empty() {
            return Ok((true, None));
        }
        // Operators of two characters come first, so that `>=` is not parsed as `>`.
        let found =
            [">=", "<=", "==", "!=", ">", "<"].iter().find_map(|op| text.split_once(op).map(|parts| (*op, parts)));
        let (op, name, number) = match found {
            Some((op, (name, number))) => (op, name.trim(), number.trim()),
            None => ("!=", text, "0"),
        };
        if !is_name(name) {
            return Err(wrong(place, format!("{text:?} is no condition; there are NAME and NAME op NUMBER")));
        }
        if name == "mode" && found.is_some() {
            return match op {
                "==" => Ok((number == "decode", None)),
                "!=" => Ok((number != "decode", None)),
                _ => Err(wrong(place, format!("{text:?}: a mode is compared by == or !="))),
            };
        }
        let number = Rational::parse_decimal(number)
            .ok_or_else(|| wrong(place, format!("{text:?}: {number:?} is no number")))?;
        let Some(value) = self.named_number(name, found.is_none()) else {
            return Ok((false, Some(wrong(place, format!("{name:?} is neither in config nor a dimension")))));
        };
        let holds = match op {
            ">=" => value >= number,
            "<=" => value <= number,
            "==" => value == number,
            "!=" => value != number,
            ">" => value > number,
            _ => value < number,
        };
        Ok((holds, None))
    }

    /// Returns the value of a name; `alone` is `true` if the name is the whole condition. `None` if the name is
    /// unknown.
    fn named_number(&self, name: &str, alone: bool) -> Option<Rational> {
        let truth = |holds: bool| Some(if holds { Rational::one() } else { Rational::zero() });
        let theta = || self.config.get("rope_theta").cloned().unwrap_or_else(Rational::zero);
        match name {
            // A model without rotary embeddings does not name their base.
            "rope_theta" if alone => return truth(theta() > Rational::zero()),
            "rope_theta" => return Some(theta()),
            "rope_disabled" => return truth(theta() <= Rational::zero()),
            "has_pos_emb" => return truth(self.window.has_positions),
            "training_enabled" | "backward_only" | "prefill_only" => return truth(false),
            "inference_only" | "decode_only" => return truth(true),
            _ => {}
        }
        let dimension = || self.values.get(name).map(|&value| Rational::from(num_bigint::BigInt::from(value)));
        self.config.get(name).cloned().or_else(dimension)
    }

    /// Resolves the chains of aliases.
    fn aliases(&mut self, records: &[Value]) {
        let mut next: Vec<Option<usize>> = vec![None; records.len()];
        for (index, record) in records.iter().enumerate() {
            let place = format!("buffers[{index}].alias_of");
            match record.get("alias_of") {
                None | Some(Value::Null) => {}
                Some(Value::String(name)) => match self.by_name.get(name) {
                    Some(&target) => next[index] = Some(target),
                    None => self.problems.push(wrong(place, format!("there is no buffer {name:?}"))),
                },
                Some(other) => self.problems.push(wrong(place, format!("{} is no name of a buffer", other.kind()))),
            }
        }
        for index in 0..records.len() {
            let (mut end, mut steps) = (index, 0);
            while let Some(target) = next[end].filter(|_| steps <= records.len()) {
                (end, steps) = (target, steps + 1);
            }
            let place = format!("buffers[{index}].alias_of");
            if steps > records.len() {
                self.problems.push(wrong(place, "the aliases form a ring"));
                if self.problems.len() >= MAX_PROBLEMS {
                    return;
                }
                continue;
            }
            if end == index {
                continue;
            }
            let (own, root) = (&self.buffers[index], &self.buffers[end]);
            let problem = if own.elements() != root.elements() {
                let (a, b) = (own.elements(), root.elements());
                Some(format!("{:?} has {a} elements, but {:?}, whose storage it is, has {b}", own.name, root.name))
            } else if (own.role == Role::Weight) != (root.role == Role::Weight) {
                Some(format!("of {:?} and {:?} only one is a weight", own.name, root.name))
            } else if !own.layered && root.layered {
                Some(format!("{:?} is global, but {:?} exists once per layer", own.name, root.name))
            } else {
                None
            };
            match problem {
                Some(message) => self.problems.push(wrong(place, message)),
                None => self.buffers[index].root = end,
            }
        }
    }

    fn node(
        &mut self,
        index: usize,
        record: &Value,
        seen: &mut HashMap<(i64, String), usize>,
    ) -> Result<(), Diagnostic> {
        let place = format!("nodes[{index}]");
        if record.members().is_none() {
            return Err(wrong(place, format!("{} is no node", record.kind())));
        }
        let layer = match record.get("layer") {
            None | Some(Value::Null) => -1,
            Some(value) => value.integer().filter(|&l| (-1..=i64::from(i32::MAX)).contains(&l)).ok_or_else(|| {
                wrong(
                    format!("{place}.layer"),
                    format!("{} is no layer; layers count from 0, -1 is none", value.brief()),
                )
            })?,
        };
        let op = text(record, "op", &place)?;
        let kernel = match record.get("kernel") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => return Err(wrong(format!("{place}.kernel"), format!("{} is no kernel", other.kind()))),
        };
        let count = seen.entry((layer, op.clone())).or_insert(0);
        let nth = *count;
        *count += 1;
        let (runs, unclear) = self.condition(record.get("condition"), &format!("{place}.condition"))?;
        let given = record.get("bindings").and_then(Value::elements);
        let given = given.ok_or_else(|| wrong(format!("{place}.bindings"), "the bindings are no list"))?;
        let mut bindings: Vec<(String, usize)> = Vec::new();
        for (k, binding) in given.iter().enumerate() {
            let at = format!("{place}.bindings[{k}]");
            let arg = text(binding, "arg", &at)?;
            let name = text(binding, "buffer", &at)?;
            let buffer = *self
                .by_name
                .get(&name)
                .ok_or_else(|| wrong(format!("{at}.buffer"), format!("there is no buffer {name:?}")))?;
            if bindings.iter().any(|(other, _)| *other == arg) {
                return Err(wrong(format!("{at}.arg"), format!("the argument {arg:?} is bound twice")));
            }
            bindings.push((arg, buffer));
        }
        let kind = Call { reader: self, op: &op, kernel: &kernel, bindings: &bindings }.kind();
        self.nodes.push(Node { index, layer, op, kernel, nth, runs, unclear, bindings, kind });
        Ok(())
    }
}

/// Names of the arguments in their search order.
const X: &[&str] = &["input", "x", "in", "A", "a", "data"];
const W: &[&str] = &["weight", "w", "W", "B", "gamma"];
const B: &[&str] = &["bias", "b", "beta"];
const Y: &[&str] = &["out", "output", "y", "C", "data"];

/// A node whose operation is being parsed.
struct Call<'a> {
    reader: &'a Reader,
    op: &'a str,
    kernel: &'a str,
    bindings: &'a [(String, usize)],
}

impl Call<'_> {
    fn kind(&self) -> Kind {
        match self.understood() {
            Ok(kind) => kind,
            Err(message) => Kind::Faulty(message),
        }
    }

    fn understood(&self) -> Result<Kind, String> {
        if self.op == "kv_cache" {
            return Ok(Kind::Unsupported("it keeps state from one token to the next".into()));
        }
        if let Some(kind) = self.by_op()? {
            return Ok(kind);
        }
        let starts = |prefix: &str| self.kernel.starts_with(prefix);
        if starts("gemm_") || starts("fc_") || starts("linear") {
            return self.linear();
        }
        if starts("relu_") {
            return self.relu();
        }
        if starts("attention_") {
            return self.attention();
        }
        if starts("rope_") {
            return self.rope();
        }
        if starts("softmax_") {
            return self.softmax();
        }
        if starts("embedding_") {
            return self.embedding();
        }
        for function in [Function::Gelu, Function::Silu, Function::Sigmoid, Function::Tanh, Function::Exp] {
            if starts(&format!("{}_", function.name())) {
                return self.table(function);
            }
        }
        Ok(Kind::Unsupported("it is not known".into()))
    }

    fn by_op(&self) -> Result<Option<Kind>, String> {
        Ok(Some(match self.op {
            "linear" | "fc" | "dense" | "gemm" | "matmul" | "lm_head" | "logits" => self.linear()?,
            "mlp_up" => self.product(X, "w1", "b1", "fc1_out")?,
            "mlp_down" => self.product(&["swiglu_out"], "w2", "b2", "mlp_out")?,
            "qkv_project" => {
                let x = self.need(X)?;
                let mut all = Vec::new();
                for (w, b, y) in [("wq", "bq", "q"), ("wk", "bk", "k"), ("wv", "bv", "v")] {
                    all.push(Product { x, w: self.need_weight(&[w])?, b: self.bias(&[b])?, y: self.result(&[y])? });
                }
                Kind::Products(all)
            }
            "attn_proj" => {
                let (x, w) = (self.need(&["attn_out"])?, self.need_weight(&["wo"])?);
                Kind::HeadProduct(Product { x, w, b: self.bias(&["bo"])?, y: self.result(&["proj_tmp"])? })
            }
            "bias_add" => Kind::BiasAdd { x: self.need(X)?, b: self.need_weight(B)?, y: self.result(Y)? },
            "residual_add" => Kind::Add { a: self.need(&["a"])?, b: self.need(&["b"])?, y: self.result(Y)? },
            "relu" => self.relu()?,
            "gelu" => self.table(Function::Gelu)?,
            "silu" => self.table(Function::Silu)?,
            "sigmoid" => self.table(Function::Sigmoid)?,
            "tanh" => self.table(Function::Tanh)?,
            "exp" => self.table(Function::Exp)?,
            "swiglu" => Kind::Swiglu { x: self.need(&["fc1_out"])?, y: self.result(&["swiglu_out"])? },
            "rmsnorm" => self.norm(Norm::Rms)?,
            "layernorm" => self.norm(Norm::Layer)?,
            "embedding" => self.embedding()?,
            "rope" => self.rope()?,
            "attention" => self.attention()?,
            "softmax" => self.softmax()?,
            _ => return Ok(None),
        }))
    }

    fn product(&self, x: &[&str], w: &str, b: &str, y: &str) -> Result<Kind, String> {
        let (x, w) = (self.need(x)?, self.need_weight(&[w])?);
        Ok(Kind::Products(vec![Product { x, w, b: self.bias(&[b])?, y: self.result(&[y])? }]))
    }

    fn linear(&self) -> Result<Kind, String> {
        let (x, w) = (self.need(X)?, self.need_weight(W)?);
        Ok(Kind::Products(vec![Product { x, w, b: self.bias(B)?, y: self.result(Y)? }]))
    }

    fn relu(&self) -> Result<Kind, String> {
        Ok(Kind::Relu { x: self.need(X)?, y: self.result(Y)? })
    }

    fn table(&self, function: Function) -> Result<Kind, String> {
        let fast = function == Function::Gelu && self.kernel.contains("fast");
        let function = if fast { Function::GeluTanh } else { function };
        Ok(Kind::Table { function, x: self.need(X)?, y: self.result(Y)? })
    }

    fn norm(&self, norm: Norm) -> Result<Kind, String> {
        let (x, gamma) = (self.need(X)?, self.need_weight(&["gamma", "weight", "w", "W"])?);
        Ok(Kind::Norm { norm, x, gamma, beta: self.bias(&["beta", "bias", "b"])?, y: self.result(Y)? })
    }

    fn embedding(&self) -> Result<Kind, String> {
        let (ids, weight) = (self.need(&["tokens"])?, self.need_weight(&["weight"])?);
        let positions = self.bias(&["pos_emb"])?.or_else(|| {
            // Without a binding, positions are the weight buffer of that name.
            let bound = self.find(&["pos_emb"]).is_some();
            let buffer = *self.reader.by_name.get("pos_emb").filter(|_| !bound)?;
            let is_used = self.reader.buffers[buffer].role == Role::Weight && self.reader.buffers[buffer].may_be_used();
            is_used.then_some(Arg { buffer, binding: usize::MAX })
        });
        Ok(Kind::Embedding { ids, weight, positions, y: self.result(&["out"])? })
    }

    fn rope(&self) -> Result<Kind, String> {
        let (q, k) = (self.need(&["q"])?, self.need(&["k"])?);
        Ok(Kind::Rope { q, k })
    }

    fn attention(&self) -> Result<Kind, String> {
        if let Some(kind) = self.windowed() {
            return Ok(kind);
        }
        let [q, k, v] = [self.need(&["q"])?, self.need(&["k"])?, self.need(&["v"])?];
        Ok(Kind::Attention { q, k, v, y: self.result(&["attn_out"])?, causal: self.is_causal() })
    }

    fn softmax(&self) -> Result<Kind, String> {
        if let Some(kind) = self.windowed() {
            return Ok(kind);
        }
        if self.is_causal() {
            let why = format!("the kernel {:?} is causal, and a softmax alone has no positions", self.kernel);
            return Ok(Kind::Unsupported(why));
        }
        Ok(Kind::Softmax { x: self.need(X)?, y: self.result(Y)? })
    }

    /// Returns the refusal of a kernel that attends to a part of the tokens; `None` for other kernels.
    fn windowed(&self) -> Option<Kind> {
        let found = ["sliding", "window"].into_iter().find(|word| self.kernel.contains(word))?;
        Some(Kind::Unsupported(format!(
            "the kernel {:?} has {found:?} in its name, and windows are not supported",
            self.kernel
        )))
    }

    fn is_causal(&self) -> bool {
        self.kernel.contains("causal") && !self.kernel.contains("noncausal") && !self.kernel.contains("non_causal")
    }

    fn find(&self, names: &[&str]) -> Option<Arg> {
        names.iter().find_map(|name| {
            let binding = self.bindings.iter().position(|(arg, _)| arg == name)?;
            Some(Arg { buffer: self.bindings[binding].1, binding })
        })
    }

    fn any(&self, names: &[&str]) -> Result<Arg, String> {
        let one = if names.len() == 1 { "" } else { "one of " };
        self.find(names).ok_or_else(|| format!("{} needs {one}{}", self.op, names.join(", ")))
    }

    fn buffer(&self, arg: Arg) -> &Buffer {
        &self.reader.buffers[arg.buffer]
    }

    /// Returns an argument that is not a weight.
    fn need(&self, names: &[&str]) -> Result<Arg, String> {
        let arg = self.any(names)?;
        if self.buffer(arg).role == Role::Weight {
            return Err(format!("{:?} is a weight, where a value that changes is needed", self.buffer(arg).name));
        }
        Ok(arg)
    }

    fn need_weight(&self, names: &[&str]) -> Result<Arg, String> {
        let arg = self.any(names)?;
        self.constant(arg)
    }

    fn constant(&self, arg: Arg) -> Result<Arg, String> {
        if self.buffer(arg).role != Role::Weight {
            return Err(format!("{:?} is no weight, and only constants multiply or shift here", self.buffer(arg).name));
        }
        Ok(arg)
    }

    /// Returns the bias if it is bound and its condition may hold.
    fn bias(&self, names: &[&str]) -> Result<Option<Arg>, String> {
        let Some(arg) = self.find(names) else { return Ok(None) };
        let arg = self.constant(arg)?;
        Ok(self.buffer(arg).may_be_used().then_some(arg))
    }

    fn result(&self, names: &[&str]) -> Result<Arg, String> {
        let arg = self.any(names)?;
        if self.buffer(arg).role == Role::Weight {
            return Err(format!("it writes {:?}, which is a weight", self.buffer(arg).name));
        }
        Ok(arg)
    }
}

/// Returns `true` if the string is a valid name in conditions.
fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    starts && chars.all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
}

/// Returns the list of records under a key.
fn records<'a>(value: &'a Value, key: &str) -> Result<&'a [Value], Diagnostic> {
    let Some(list) = value.get(key) else { return Err(wrong(key, format!("there are no {key}"))) };
    let elements = list.elements().ok_or_else(|| wrong(key, format!("{} is no list of {key}", list.kind())))?;
    if elements.len() > MAX_RECORDS {
        return Err(wrong(key, format!("{} {key}; at most {MAX_RECORDS} are read", elements.len())));
    }
    Ok(elements)
}

/// Returns a string member of a record.
fn text(record: &Value, key: &str, place: &str) -> Result<String, Diagnostic> {
    match record.get(key) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(wrong(format!("{place}.{key}"), format!("{} is no text", other.brief()))),
        None => Err(wrong(place, format!("there is no {key}"))),
    }
}

/// Checks the sizes that the producer of the file resolved against the shape.
fn check_resolved(resolved: &Value, sizes: &[u64], count: u64, dtype: &str) -> Result<(), String> {
    let whole = |value: &Value| {
        let size = value.integer().and_then(|v| u64::try_from(v).ok());
        size.ok_or_else(|| format!("{} is no size", value.brief()))
    };
    let single = match resolved {
        Value::Null => return Ok(()),
        Value::Number(_) => whole(resolved)?,
        Value::Array(list) if list.len() == 1 && sizes.len() != 1 => whole(&list[0])?,
        Value::Array(list) if list.len() == 1 => {
            // For a single axis, the list of sizes equals the list with the number of elements.
            whole(&list[0])?
        }
        Value::Array(list) => {
            let found: Vec<u64> = list.iter().map(whole).collect::<Result<_, _>>()?;
            if found != sizes {
                return Err(format!("{found:?}, but the shape gives {sizes:?}"));
            }
            return Ok(());
        }
        other => return Err(format!("{} is neither a size nor a list of them", other.kind())),
    };
    let bytes = match dtype {
        "fp32" => 4,
        "bf16" | "fp16" => 2,
        "int8" => 1,
        // Packed formats have sizes that do not follow from the shape.
        _ => return Ok(()),
    };
    if single != count && Some(single) != count.checked_mul(bytes) {
        return Err(format!("{single}, but the shape gives {sizes:?}, {count} elements of {bytes} bytes"));
    }
    Ok(())
}
