//! Parser from ONNX bytes to a [`Network`]: one input, one output, the nodes between them in topological order, with
//! folded constants.

use super::composite::{self, Mask, Parameter, Records, Source, Stage};
use super::external;
use super::golden;
use super::kernel::Kernel;
use super::operators::{self, Build, Operand, Outcome, Resolved};
use super::proto::{self, DimensionProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto};
use super::tensor::{self, Tensor};
use super::{Network, Options, Port, RecordType, Refusal, Size, Step, Value, ValueSource};
use crate::function::Functions;
use crate::graph::quant::QuantFile;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Maximum number of elements of a port.
const MAX_PORT: usize = 1 << 20;
/// Maximum number of elements of all tensors together.
const MAX_ALL_ELEMENTS: usize = 1 << 26;
/// Maximum number of elements of a constant (shape, axes, bit width) that is read before the network's size is checked.
const SMALL: usize = 256;

/// Parses a network.
///
/// # Errors
/// Returns the invalid or unsupported parts of the file with their places, including up to 50 nodes with unsupported
/// operators.
pub fn read(bytes: &[u8], options: &Options<'_>) -> Result<Network, Vec<Refusal>> {
    read_with(bytes, options, &QuantFile::default())
}

/// Parses a network, with the types of the intermediate values of softmax and norms.
///
/// # Errors
/// As [`read`]; also if records are missing, or if records belong to nodes that the file does not have.
pub fn read_with(bytes: &[u8], options: &Options<'_>, quant: &QuantFile) -> Result<Network, Vec<Refusal>> {
    let mut model = proto::decode(bytes).map_err(|e| vec![Refusal::new("", e)])?;
    external::load(&mut model, options.folder)?;
    let mut reader = Reader::new(&model)?;
    reader.use_records(quant)?;
    Ok(reader.network(options)?.0)
}

/// Facts about a network whose types of intermediate values may be missing.
#[derive(Clone, Debug)]
pub struct Structure {
    /// Number of nodes that the output needs.
    pub nodes: usize,
    /// Size of the matrices.
    pub size: Size,
    /// Nodes whose records in the quantisation file are missing or incomplete.
    pub missing: Vec<MissingRecords>,
}

/// A node whose records in the quantisation file are missing or incomplete.
#[derive(Clone, Debug)]
pub struct MissingRecords {
    /// Place of the node: `node NAME (OP)`.
    pub place: String,
    /// Message with the names of the missing records.
    pub message: String,
}

/// Checks a file, except for the types of the intermediate values of softmax and norms.
///
/// # Errors
/// As [`read_with`], except for missing records.
pub fn structure(bytes: &[u8], options: &Options<'_>, quant: &QuantFile) -> Result<Structure, Vec<Refusal>> {
    let mut model = proto::decode(bytes).map_err(|e| vec![Refusal::new("", e)])?;
    external::load(&mut model, options.folder)?;
    let mut reader = Reader::new(&model)?;
    reader.use_records(quant)?;
    reader.untyped = true;
    let nodes = reader.needed.len();
    let (network, missing) = reader.network(options)?;
    Ok(Structure { nodes, size: network.size, missing })
}

/// Facts about a file that `info` prints, even if the file is not supported.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Number of nodes of each operator, and `true` if all of these nodes are supported.
    pub operators: BTreeMap<String, (usize, bool)>,
    /// Nodes in the order of the file.
    pub nodes: Vec<NodeSummary>,
    /// Initialisers: name, shape, size in bytes.
    pub buffers: Vec<(String, Vec<i64>, u64)>,
    /// Inputs of the graph that are not initialisers.
    pub inputs: Vec<PortSummary>,
    /// Outputs of the graph.
    pub outputs: Vec<PortSummary>,
    /// Problems of the file as a whole.
    pub refusals: Vec<Refusal>,
}

/// Input or output of a graph.
#[derive(Clone, Debug)]
pub struct PortSummary {
    /// Name of the tensor.
    pub name: String,
    /// Dimensions in order: a number, a name, or `?` for a dimension that the file does not fix.
    pub shape: Vec<String>,
}

impl PortSummary {
    fn new(info: &ValueInfoProto) -> PortSummary {
        let shape = info.kind.as_ref().and_then(|kind| kind.tensor.as_ref()?.shape.as_ref());
        let dimension = |dimension: &DimensionProto| match (dimension.value, &dimension.parameter) {
            (Some(value), _) => value.to_string(),
            (None, Some(name)) if !name.is_empty() => name.clone(),
            (None, _) => "?".to_owned(),
        };
        PortSummary {
            name: info.name.clone().unwrap_or_default(),
            shape: shape.map(|shape| shape.dim.iter().map(dimension).collect()).unwrap_or_default(),
        }
    }
}

/// One line of a [`Summary`].
#[derive(Clone, Debug)]
pub struct NodeSummary {
    /// Place of the node: `node NAME (OP)`.
    pub place: String,
    /// `true` if the output of the graph depends on the node.
    pub needed: bool,
    /// `true` if the operator of the node is supported.
    pub supported: bool,
}

/// Returns the contents of any ONNX file, even if it is not supported.
///
/// # Errors
/// If the bytes are not an ONNX file.
pub fn summary(bytes: &[u8]) -> Result<Summary, Refusal> {
    let model = proto::decode(bytes).map_err(|e| Refusal::new("", e))?;
    let mut summary = Summary::default();
    let Some(graph) = &model.graph else {
        return Err(Refusal::new("", "not an ONNX file: it has no graph"));
    };
    for tensor in &graph.initializer {
        let raw = tensor.raw_data.as_ref().map_or(0, Vec::len);
        let typed = 4 * (tensor.float_data.len() + tensor.int32_data.len())
            + 8 * (tensor.int64_data.len() + tensor.double_data.len() + tensor.uint64_data.len());
        summary.buffers.push((
            tensor.name.clone().unwrap_or_default(),
            tensor.dims.clone(),
            (raw + typed) as u64 + external::stated_length(tensor),
        ));
    }
    let constants: BTreeSet<&Option<String>> = graph.initializer.iter().map(|tensor| &tensor.name).collect();
    let inputs = graph.input.iter().filter(|info| !constants.contains(&info.name));
    summary.inputs = inputs.map(PortSummary::new).collect();
    summary.outputs = graph.output.iter().map(PortSummary::new).collect();
    let needed = match Reader::new(&model) {
        Ok(reader) => reader.needed.iter().copied().collect(),
        Err(refusals) => {
            summary.refusals = refusals;
            BTreeSet::new()
        }
    };
    for (index, node) in graph.node.iter().enumerate() {
        let supported = operators::supported(node);
        let operator = node.op_type.clone().unwrap_or_default();
        let entry = summary.operators.entry(operator).or_insert((0, supported));
        entry.0 += 1;
        entry.1 &= supported;
        summary.nodes.push(NodeSummary { place: place(index, node), needed: needed.contains(&index), supported });
    }
    Ok(summary)
}

/// Returns `node NAME (OP)`, with an index instead of the name for a node without a name.
fn place(index: usize, node: &NodeProto) -> String {
    let operator = node.op_type.as_deref().unwrap_or("");
    match node.name.as_deref() {
        None | Some("") => format!("node {index} ({operator})"),
        Some(name) => format!("node {name} ({operator})"),
    }
}

/// Origin of a named tensor.
#[derive(Clone, Copy)]
enum Origin<'a> {
    Input,
    Initialiser(&'a TensorProto),
    /// An output of a node: indices of the node and of the output.
    Node(usize, usize),
}

struct Reader<'a> {
    graph: &'a GraphProto,
    origins: BTreeMap<&'a str, Origin<'a>>,
    input: &'a str,
    input_shape: Vec<usize>,
    output: &'a str,
    cut: Option<String>,
    /// Nodes on which the output depends, in topological order.
    needed: Vec<usize>,
    /// Indices of tensors by name, for the tensors that are registered so far.
    names: BTreeMap<&'a str, usize>,
    tensors: Vec<Draft<'a>>,
    elements: usize,
    /// Types of intermediate values.
    quant: QuantFile,
    /// `true` if only the structure is checked, not the types of intermediate values.
    untyped: bool,
    missing: Vec<MissingRecords>,
    opset: i64,
}

/// A tensor while the network is being built.
struct Draft<'a> {
    name: &'a str,
    shape: Vec<usize>,
    state: State<'a>,
    /// Width of the elements in bits, if the tensor is the result of a quantiser of constants.
    bits: Option<u32>,
    pending: Option<crate::function::Function>,
    record: Option<RecordType>,
}

enum State<'a> {
    /// An initialiser that is not read yet.
    File(&'a TensorProto),
    Known(Tensor),
    /// Computed from constants by a node that is not evaluated yet.
    Constant,
    /// Differs between samples.
    Computed,
}

/// A node after the first of two steps: planned, but not built.
struct Planned {
    node: usize,
    resolved: Resolved,
    inputs: Vec<Option<usize>>,
    output: usize,
}

impl<'a> Reader<'a> {
    fn new(model: &'a ModelProto) -> Result<Reader<'a>, Vec<Refusal>> {
        let refused = |place: &str, message: String| vec![Refusal::new(place, message)];
        let graph = model.graph.as_ref().ok_or_else(|| refused("", "not an ONNX file: it has no graph".into()))?;
        check_opset(model).map_err(|r| vec![r])?;
        if !graph.sparse_initializer.is_empty() {
            return Err(refused("graph.sparse_initializer", "sparse initialisers are not supported".into()));
        }
        let origins = origins(graph).map_err(|r| vec![r])?;
        let (input, input_shape) = the_input(graph, &origins).map_err(|r| vec![r])?;
        let [output] = graph.output.as_slice() else {
            return Err(refused(
                "graph.output",
                format!("{} outputs; networks of one output are supported", graph.output.len()),
            ));
        };
        let mut reader = Reader {
            graph,
            origins,
            input,
            input_shape,
            output: output.name.as_deref().unwrap_or(""),
            cut: None,
            needed: Vec::new(),
            names: BTreeMap::new(),
            tensors: Vec::new(),
            elements: 0,
            quant: QuantFile::default(),
            untyped: false,
            missing: Vec::new(),
            opset: opset(model).unwrap_or(0),
        };
        reader.cut_off();
        reader.needed = reader.order().map_err(|r| vec![r])?;
        Ok(reader)
    }

    /// Sets the types of intermediate values from a quantisation file.
    ///
    /// # Errors
    /// If an entry is for a node that does not exist, or has a key that the operator does not have.
    fn use_records(&mut self, quant: &QuantFile) -> Result<(), Vec<Refusal>> {
        for key in quant.node_entries() {
            let answers = |node: &NodeProto| node.name.as_deref() == Some(key) || node.op_type.as_deref() == Some(key);
            if !self.graph.node.iter().any(answers) {
                return Err(vec![
                    Refusal::new(format!("quant.nodes.{key}"), "there is no such node")
                        .with_help("keys are names of nodes, or operators"),
                ]);
            }
            for &index in self.needed.iter().filter(|&&index| answers(&self.graph.node[index])) {
                let node = &self.graph.node[index];
                let known = composite::keys_of(node.op_type.as_deref().unwrap_or(""));
                quant
                    .check_keys(key, &place(index, node), known)
                    .map_err(|problem| vec![Refusal::from_quant(problem)])?;
            }
        }
        self.quant = quant.clone();
        Ok(())
    }

    /// Removes Softmax, LogSoftmax, ArgMax and TopK nodes at the output. The first input of such a node becomes the
    /// output of the network.
    fn cut_off(&mut self) {
        let mut seen = BTreeSet::new();
        while let Some(&Origin::Node(index, _)) = self.origins.get(self.output) {
            let node = &self.graph.node[index];
            let operator = node.op_type.as_deref().unwrap_or("");
            let last = operators::is_standard(node) && ["Softmax", "LogSoftmax", "ArgMax", "TopK"].contains(&operator);
            let Some(input) = node.input.first().filter(|_| last && seen.insert(index)) else { return };
            self.output = input;
            self.cut.get_or_insert_with(|| operator.to_owned());
        }
    }

    /// Returns the nodes on which the output depends, in topological order; independent nodes keep the order of the
    /// file.
    fn order(&self) -> Result<Vec<usize>, Refusal> {
        let mut needed = BTreeSet::new();
        let mut readers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut open: BTreeMap<usize, usize> = BTreeMap::new();
        let mut stack = Vec::new();
        match self.origins.get(self.output) {
            None => return Err(Refusal::new("graph.output", format!("no node computes output {}", self.output))),
            Some(&Origin::Node(index, _)) => stack.push(index),
            Some(_) => {}
        }
        while let Some(index) = stack.pop() {
            if !needed.insert(index) {
                continue;
            }
            let node = &self.graph.node[index];
            for name in node.input.iter().filter(|name| !name.is_empty()) {
                match self.origins.get(name.as_str()) {
                    None => return Err(Refusal::new(place(index, node), format!("no node computes input {name}"))),
                    Some(&Origin::Node(made_by, output)) => {
                        if output > 0 {
                            let message = format!(
                                "input {name} is output {output} of {}; only the first output is \
                                                   supported",
                                place(made_by, &self.graph.node[made_by])
                            );
                            return Err(Refusal::new(place(index, node), message));
                        }
                        *open.entry(index).or_default() += 1;
                        readers.entry(made_by).or_default().push(index);
                        stack.push(made_by);
                    }
                    Some(_) => {}
                }
            }
        }
        if let Some(&Origin::Node(index, output)) = self.origins.get(self.output)
            && output > 0
        {
            let message = "the output is not the first one of this node, which is not supported";
            return Err(Refusal::new(place(index, &self.graph.node[index]), message));
        }
        let mut ready: BinaryHeap<_> =
            needed.iter().filter(|index| !open.contains_key(index)).map(|&index| Reverse(index)).collect();
        let mut order = Vec::with_capacity(needed.len());
        while let Some(Reverse(index)) = ready.pop() {
            order.push(index);
            needed.remove(&index);
            for &reader in readers.get(&index).into_iter().flatten() {
                let left = open.get_mut(&reader).expect("it reads something");
                *left -= 1;
                if *left == 0 {
                    ready.push(Reverse(reader));
                }
            }
        }
        match needed.first() {
            None => Ok(order),
            Some(&index) => Err(Refusal::new(place(index, &self.graph.node[index]), "it is part of a cycle of nodes")),
        }
    }

    fn network(mut self, options: &Options<'_>) -> Result<(Network, Vec<MissingRecords>), Vec<Refusal>> {
        self.refuse_operators()?;
        let input = self.tensor(self.input).map_err(|message| vec![Refusal::new("graph.input", message)])?;
        let mut size = Size::default();
        let mut planned = Vec::new();
        for index in std::mem::take(&mut self.needed) {
            let node = &self.graph.node[index];
            let at = |message| vec![Refusal::new(place(index, node), message)];
            planned.extend(self.plan(index, &mut size).map_err(at)?);
        }
        check_size(&size, options)?;
        let mut steps = Vec::new();
        let mut functions = Functions::new();
        for plan in planned {
            let place = place(plan.node, &self.graph.node[plan.node]);
            let built = self.build(plan, &mut functions);
            steps.extend(built.map_err(|message| vec![Refusal::new(place, message)])?);
        }
        let output = self.tensor(self.output).map_err(|message| vec![Refusal::new("graph.output", message)])?;
        if self.tensors[output].pending.is_some() {
            return Err(vec![Refusal::new("graph.output", "a real function needs a Quant or BipolarQuant after it")]);
        }
        if !matches!(self.tensors[output].state, State::Computed) {
            return Err(vec![Refusal::new("graph.output", "the output does not depend on the input")]);
        }
        if tensor::elements(&self.tensors[output].shape).is_none_or(|n| n > MAX_PORT || n == 0) {
            let message = format!(
                "the output has the shape {:?}; 1 to {MAX_PORT} elements are supported",
                self.tensors[output].shape
            );
            return Err(vec![Refusal::new("graph.output", message)]);
        }
        let missing = std::mem::take(&mut self.missing);
        Ok((self.finish(input, output, steps, size), missing))
    }

    fn finish(self, input: usize, output: usize, steps: Vec<Step>, size: Size) -> Network {
        let port = |tensor: usize| Port {
            name: self.tensors[tensor].name.to_owned(),
            tensor,
            shape: self.tensors[tensor].shape.clone(),
        };
        let (input, output) = (port(input), port(output));
        let empty = || Tensor { shape: Vec::new(), values: Vec::new() };
        let value = |draft: Draft| Value {
            name: draft.name.to_owned(),
            shape: draft.shape,
            source: match draft.state {
                State::Known(value) => ValueSource::Constant(value),
                State::Computed => ValueSource::Computed,
                // A constant that was folded into other constants has no reader.
                State::File(_) | State::Constant => ValueSource::Constant(empty()),
            },
            pending: draft.pending,
            record: draft.record,
            last_use: None,
        };
        let mut tensors: Vec<Value> = self.tensors.into_iter().map(value).collect();
        for (number, step) in steps.iter().enumerate() {
            for &read in &step.inputs {
                tensors[read].last_use = Some(number);
            }
        }
        // The data of folded constants is not needed any more.
        for tensor in &mut tensors {
            if tensor.last_use.is_none() && matches!(tensor.source, ValueSource::Constant(_)) {
                tensor.source = ValueSource::Constant(empty());
            }
        }
        Network { input, output, cut: self.cut, tensors, steps, size }
    }

    /// Returns an error that names the nodes with unsupported operators, at most 50 of them.
    fn refuse_operators(&self) -> Result<(), Vec<Refusal>> {
        let bad = self.needed.iter().filter(|&&index| !operators::supported(&self.graph.node[index]));
        let refusals: Vec<Refusal> =
            bad.take(50).map(|&index| refused_operator(index, &self.graph.node[index])).collect();
        if refusals.is_empty() { Ok(()) } else { Err(refusals) }
    }

    /// Returns the index of a tensor; an initialiser is registered at its first use.
    fn tensor(&mut self, name: &'a str) -> Result<usize, String> {
        if let Some(&known) = self.names.get(name) {
            return Ok(known);
        }
        let (shape, state) = match self.origins.get(name) {
            Some(Origin::Input) => (self.input_shape.clone(), State::Computed),
            Some(&Origin::Initialiser(proto)) => {
                let shape = tensor::shape_of(proto).map_err(|e| format!("initialiser {name}: {e}"))?;
                let small = tensor::elements(&shape).is_some_and(|count| count <= SMALL);
                (shape, if small { State::Known(read_tensor(name, proto)?) } else { State::File(proto) })
            }
            _ => return Err(format!("no node computes input {name}")),
        };
        self.enter(name, shape, state)
    }

    fn enter(&mut self, name: &'a str, shape: Vec<usize>, state: State<'a>) -> Result<usize, String> {
        let tensor = self.add(name, shape, state)?;
        self.names.insert(name, tensor);
        Ok(tensor)
    }

    /// Adds a tensor without registering its name.
    fn add(&mut self, name: &'a str, shape: Vec<usize>, state: State<'a>) -> Result<usize, String> {
        let count = tensor::elements(&shape).ok_or_else(|| format!("the shape {shape:?} is too large"))?;
        self.elements = self.elements.saturating_add(count);
        if self.elements > MAX_ALL_ELEMENTS {
            return Err(format!("all tensors together have more than {MAX_ALL_ELEMENTS} elements"));
        }
        self.tensors.push(Draft { name, shape, state, bits: None, pending: None, record: None });
        Ok(self.tensors.len() - 1)
    }

    /// Computes the shape of a node and the size of its matrix, as the first of two steps. Small constants are folded
    /// immediately.
    fn plan(&mut self, index: usize, size: &mut Size) -> Result<Vec<Planned>, String> {
        let node = &self.graph.node[index];
        let Some(name) = node.output.first().map(String::as_str).filter(|name| !name.is_empty()) else {
            return Err("it has no output".to_owned());
        };
        if node.op_type.as_deref() == Some("Constant") {
            let value = constant(node)?;
            let state = match value {
                Constant::Proto(proto) if tensor::elements(&tensor::shape_of(proto)?).is_none_or(|n| n > SMALL) => {
                    State::File(proto)
                }
                Constant::Proto(proto) => State::Known(tensor::read(proto)?),
                Constant::Value(value) => State::Known(value),
            };
            let shape = match &state {
                State::File(proto) => tensor::shape_of(proto)?,
                State::Known(value) => value.shape.clone(),
                State::Constant | State::Computed => unreachable!("made above"),
            };
            self.enter(name, shape, state)?;
            return Ok(Vec::new());
        }
        let mut inputs = Vec::with_capacity(node.input.len());
        for name in &node.input {
            inputs.push(if name.is_empty() { None } else { Some(self.tensor(name)?) });
        }
        while inputs.last() == Some(&None) {
            inputs.pop();
        }
        let operator = node.op_type.as_deref().unwrap_or("");
        if operators::is_standard(node)
            && ["Softmax", "LayerNormalization", "RMSNormalization", "Einsum"].contains(&operator)
        {
            return self.composite(index, name, &inputs, size);
        }
        let operand = |t: usize| Operand {
            shape: &self.tensors[t].shape,
            known: match &self.tensors[t].state {
                State::Known(value) => Some(value),
                _ => None,
            },
        };
        let operands = inputs.iter().map(|t| t.map(operand)).collect();
        let resolved = operators::resolve(&operators::Node { proto: node, operands })?;
        let varies = inputs.iter().flatten().any(|&t| matches!(self.tensors[t].state, State::Computed));
        let varies = varies && !matches!(resolved.result, Outcome::Value(_));
        if varies && resolved.products > 0 {
            size.matrices.push((place(index, node), resolved.products, self.weight_bits(&inputs)));
        }
        let pending = self.pending(node, &inputs)?;
        let bits = self.bits_of(node, &inputs);
        let small = tensor::elements(&resolved.shape).is_some_and(|n| n <= SMALL)
            && inputs.iter().flatten().all(|&t| matches!(self.tensors[t].state, State::Known(_)));
        let state = if varies { State::Computed } else { State::Constant };
        let output = self.enter(name, resolved.shape.clone(), state)?;
        self.tensors[output].pending = pending;
        self.tensors[output].bits = bits;
        let plan = Planned { node: index, resolved, inputs, output };
        if small && !varies || matches!(plan.resolved.result, Outcome::Value(_)) {
            // The shapes of later nodes may depend on this value, so it is computed in the first step.
            self.build(plan, &mut Functions::new())?;
            return Ok(Vec::new());
        }
        Ok(vec![plan])
    }

    /// Plans an operator that becomes several kernels.
    fn composite(
        &mut self,
        index: usize,
        name: &'a str,
        inputs: &[Option<usize>],
        size: &mut Size,
    ) -> Result<Vec<Planned>, String> {
        let node = &self.graph.node[index];
        let operator = node.op_type.as_deref().unwrap_or("");
        let call = operators::Node { proto: node, operands: Vec::new() };
        let x = inputs.first().copied().flatten().ok_or("input 0 is missing")?;
        let shape = self.tensors[x].shape.clone();
        if inputs.iter().flatten().any(|&t| self.tensors[t].pending.is_some()) {
            return Err("a real function needs a Quant or BipolarQuant after it".to_owned());
        }
        let quant = self.quant.clone();
        let keys = [operator.to_owned(), node.name.clone().unwrap_or_default()];
        let records = Records { quant: &quant, keys, untyped: self.untyped };
        if self.untyped
            && let Some(message) = records.missing()
        {
            self.missing.push(MissingRecords { place: place(index, node), message });
        }
        let mut products = 0;
        let stages = match operator {
            "Einsum" => {
                let text = call.text("equation")?.ok_or("the attribute equation is missing")?;
                let [Some(a), Some(b)] = *inputs else {
                    return Err(format!("{} operands; an Einsum of two is supported", inputs.len()));
                };
                let is_constant = |t: usize| !matches!(self.tensors[t].state, State::Computed);
                let vector = usize::from(is_constant(a) && !is_constant(b));
                let shapes = [self.tensors[a].shape.as_slice(), self.tensors[b].shape.as_slice()];
                let (stages, count) = composite::einsum(&text, [a, b], shapes, vector)?;
                products = count;
                stages
            }
            "Softmax" => {
                operators::check_count(inputs.len(), 1, 1)?;
                let axis = call.integer("axis", if self.opset < 13 { 1 } else { -1 })?;
                let axis = operators::axis_of(axis, shape.len())?;
                let axes = axis..if self.opset < 13 { shape.len() } else { axis + 1 };
                let mask = self.mask(&node.input[0])?;
                composite::softmax(x, &shape, axes, &mask, &records)?
            }
            _ => {
                if node.output.iter().skip(1).any(|name| !name.is_empty()) {
                    return Err("a second output is not supported: mean and deviation stay inside".to_owned());
                }
                let axis = operators::axis_of(call.integer("axis", -1)?, shape.len())?;
                let epsilon = operators::float_attribute(&call, "epsilon", 1e-5)?;
                let most = if operator == "LayerNormalization" { 3 } else { 2 };
                operators::check_count(inputs.len(), 2, most)?;
                let parameter = |k: usize, role: &str| {
                    let tensor = inputs.get(k).copied().flatten()?;
                    let Draft { name, shape, .. } = &self.tensors[tensor];
                    Some(Parameter { tensor, shape: shape.clone(), title: format!("{role} {name}") })
                };
                let parameters = [parameter(1, "the scale"), parameter(2, "the bias")];
                composite::norm(x, &shape, axis, most == 3, &epsilon, parameters, &records)?
            }
        };
        if inputs.iter().flatten().all(|&t| !matches!(self.tensors[t].state, State::Computed)) && operator != "Einsum" {
            return Err("it does not depend on the input".to_owned());
        }
        if products > 0 && inputs.iter().flatten().any(|&t| matches!(self.tensors[t].state, State::Computed)) {
            size.matrices.push((place(index, node), products, self.weight_bits(inputs)));
        }
        let count = stages.0.len();
        let mut made: Vec<usize> = Vec::with_capacity(count);
        let mut planned = Vec::with_capacity(count);
        for (k, Stage { shape, inputs, pending, record, build }) in stages.0.into_iter().enumerate() {
            let inputs: Vec<usize> = inputs
                .into_iter()
                .map(|source| match source {
                    Source::Tensor(tensor) => tensor,
                    Source::Stage(stage) => made[stage],
                })
                .collect();
            let varies = inputs.iter().any(|&t| matches!(self.tensors[t].state, State::Computed));
            let state = if varies { State::Computed } else { State::Constant };
            let output = match k + 1 == count {
                true => self.enter(name, shape.clone(), state)?,
                false => self.add("", shape.clone(), state)?,
            };
            self.tensors[output].pending = pending;
            self.tensors[output].record = record;
            made.push(output);
            let resolved =
                Resolved { shape, inputs: (0..inputs.len()).collect(), products: 0, result: Outcome::Kernel(build) };
            planned.push(Planned { node: index, resolved, inputs: inputs.into_iter().map(Some).collect(), output });
        }
        Ok(planned)
    }

    /// Returns the constant mask directly before a softmax; `Mask::None` without a mask.
    fn mask(&mut self, input: &'a str) -> Result<Mask, String> {
        let Some(&Origin::Node(index, 0)) = self.origins.get(input) else { return Ok(Mask::None) };
        let node = &self.graph.node[index];
        if !operators::is_standard(node) {
            return Ok(Mask::None);
        }
        let mut operands = Vec::new();
        for name in &node.input {
            let tensor = self.tensor(name)?;
            let constant = !matches!(self.tensors[tensor].state, State::Computed);
            operands.push(constant.then(|| (tensor, self.tensors[tensor].shape.clone())));
        }
        Ok(match (node.op_type.as_deref(), operands.as_slice()) {
            (Some("Add"), [Some((tensor, shape)), None] | [None, Some((tensor, shape))]) => {
                Mask::Added { tensor: *tensor, shape: shape.clone() }
            }
            (Some("Where"), [Some(condition), x, y]) => {
                Mask::Chosen { condition: condition.clone(), branches: [x.clone(), y.clone()] }
            }
            _ => Mask::None,
        })
    }

    /// Returns `true` if a node may read minus infinity: a Softmax, an Add or Where whose readers are all Softmax
    /// nodes, or a node that only moves constants.
    fn may_read_infinity(&self, index: usize) -> bool {
        let node = &self.graph.node[index];
        let moves = [
            "Reshape",
            "Squeeze",
            "Unsqueeze",
            "Slice",
            "Transpose",
            "Expand",
            "Gather",
            "Identity",
            "Cast",
            "Concat",
            "Where",
        ];
        match node.op_type.as_deref().unwrap_or("") {
            "Softmax" => true,
            "Add" | "Where" if self.feeds_softmax_only(node) => true,
            operator => {
                let constant = |name: &String| {
                    self.names.get(name.as_str()).is_none_or(|&t| !matches!(self.tensors[t].state, State::Computed))
                };
                moves.contains(&operator) && node.input.iter().all(constant)
            }
        }
    }

    fn feeds_softmax_only(&self, node: &NodeProto) -> bool {
        let Some(output) = node.output.first() else { return false };
        let mut readers = self.graph.node.iter().filter(|other| other.input.contains(output)).peekable();
        readers.peek().is_some() && readers.all(|other| other.op_type.as_deref() == Some("Softmax"))
    }

    /// Returns the width of a matrix's weights in bits, estimated without reading the matrix.
    fn weight_bits(&self, inputs: &[Option<usize>]) -> u32 {
        let constants = inputs.iter().take(2).flatten().filter(|&&t| !matches!(self.tensors[t].state, State::Computed));
        constants.filter_map(|&t| self.tensors[t].bits).next().unwrap_or(8)
    }

    /// Returns the width in bits that a quantiser gives to the elements of a constant. Nodes that only move elements
    /// preserve this width.
    fn bits_of(&self, node: &NodeProto, inputs: &[Option<usize>]) -> Option<u32> {
        let known = |input: usize| match &self.tensors[(*inputs.get(input)?)?].state {
            State::Known(value) => value.single().and_then(|v| u32::try_from(v.numerator()).ok()),
            _ => None,
        };
        match node.op_type.as_deref()? {
            "Quant" | "IntQuant" => known(3),
            "BipolarQuant" => Some(1),
            "Transpose" | "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "Identity" => {
                self.tensors[(*inputs.first()?)?].bits
            }
            _ => None,
        }
    }

    /// Returns the real function that a later quantiser applies to the result of the node; `None` without one. Between
    /// the function and its quantiser, only nodes that move elements are allowed.
    fn pending(&self, node: &NodeProto, inputs: &[Option<usize>]) -> Result<Option<crate::function::Function>, String> {
        use crate::function::Function;
        let before: Vec<_> = inputs.iter().flatten().map(|&t| self.tensors[t].pending).collect();
        let waiting = before.iter().flatten().next().copied();
        let operator = node.op_type.as_deref().unwrap_or("");
        let own = match operator {
            "Sigmoid" => Some(Function::Sigmoid),
            "Tanh" => Some(Function::Tanh),
            "Gelu" => Some(match node.attribute.iter().find(|a| a.name.as_deref() == Some("approximate")) {
                Some(a) if a.s.as_deref() == Some(b"tanh") => Function::GeluTanh,
                _ => Function::Gelu,
            }),
            _ => None,
        };
        let Some(function) = waiting else { return Ok(own) };
        match operator {
            "Quant" | "IntQuant" | "BipolarQuant" if before[1..].iter().all(Option::is_none) => Ok(None),
            "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "Transpose" | "Identity" | "Dropout" | "Slice"
            | "Split" | "Expand" | "Tile" | "Cast" => Ok(waiting),
            "Concat" if before.iter().all(|&b| b == waiting) => Ok(waiting),
            "Shape" => Ok(None),
            _ => Err(format!("{} needs a Quant or BipolarQuant after it", function.name())),
        }
    }

    /// Builds the kernel of a node, or evaluates a constant, as the second of two steps.
    fn build(&mut self, plan: Planned, functions: &mut Functions) -> Result<Option<Step>, String> {
        let build: Build = match plan.resolved.result {
            Outcome::Value(value) => {
                self.tensors[plan.output].state = State::Known(value);
                return Ok(None);
            }
            Outcome::Kernel(build) => build,
        };
        for &t in plan.inputs.iter().flatten() {
            if let State::File(proto) = self.tensors[t].state {
                self.tensors[t].state = State::Known(read_tensor(self.tensors[t].name, proto)?);
            }
        }
        let inputs: Option<Vec<usize>> =
            plan.resolved.inputs.iter().map(|&k| plan.inputs.get(k).copied().flatten()).collect();
        let inputs = inputs.expect("a resolved node has the inputs that it names");
        let values: Vec<Option<&Tensor>> = inputs
            .iter()
            .map(|&t| match &self.tensors[t].state {
                State::Known(value) => Some(value),
                _ => None,
            })
            .collect();
        if values.iter().flatten().any(|value| value.has_infinity()) {
            if let Some(cut) = self.cut.as_ref().filter(|_| self.tensors[plan.output].name == self.output) {
                return Err(format!(
                    "its mask holds minus infinity, and its result is the output, as the {cut} at the end is cut off: \
                     put a node after the {cut} (Identity), or give the mask finite numbers"
                ));
            }
            if !self.may_read_infinity(plan.node) {
                return Err("NaN or infinity: minus infinity is for masks directly before a Softmax".to_owned());
            }
        }
        let kernel = build(&values)?;
        let constants: Option<Vec<&Tensor>> = values.into_iter().collect();
        if let Some(constants) = constants {
            let pending = inputs.first().and_then(|&t| self.tensors[t].pending);
            let value = golden::evaluate(&kernel, &constants, &plan.resolved.shape, pending, functions)?;
            self.tensors[plan.output].state = State::Known(value);
            return Ok(None);
        }
        if matches!(kernel, Kernel::Unary(super::kernel::Unary::Root)) {
            return Err("roots of constants only are supported".to_owned());
        }
        let node = &self.graph.node[plan.node];
        let operator = node.op_type.clone().unwrap_or_default();
        Ok(Some(Step { place: place(plan.node, node), operator, kernel, inputs, output: plan.output }))
    }
}

fn refused_operator(index: usize, node: &NodeProto) -> Refusal {
    let operator = node.op_type.as_deref().unwrap_or("");
    let domain = node.domain.as_deref().unwrap_or("");
    let message = match operator {
        "LogSoftmax" | "ArgMax" | "TopK" if operators::is_standard(node) => {
            format!("{operator} is supported at the end of a network only, where it is cut off")
        }
        "Quant" | "IntQuant" | "BipolarQuant" | "Trunc" => {
            format!("{operator} of the domain {domain:?} is not supported; that of qonnx.custom_op.general is")
        }
        _ if operators::is_standard(node) => format!("{operator} is not supported"),
        _ => format!("{operator} of the domain {domain:?} is not supported"),
    };
    Refusal::new(place(index, node), message)
}

fn read_tensor(name: &str, proto: &TensorProto) -> Result<Tensor, String> {
    tensor::read(proto).map_err(|e| format!("initialiser {name}: {e}"))
}

enum Constant<'a> {
    Proto(&'a TensorProto),
    Value(Tensor),
}

/// Returns the value of a `Constant` node.
fn constant(node: &NodeProto) -> Result<Constant<'_>, String> {
    let [attribute] = node.attribute.as_slice() else {
        return Err("a constant has one attribute".to_owned());
    };
    let scalar = |value| Constant::Value(Tensor { shape: Vec::new(), values: vec![value] });
    let float = |x: f32| tensor::finite_or_mask(x.into()).ok_or("NaN or infinity");
    Ok(match attribute.name.as_deref().unwrap_or("") {
        "value" => Constant::Proto(attribute.t.as_ref().ok_or("its value is not a tensor")?),
        "value_float" => scalar(float(attribute.f.unwrap_or(0.0))?),
        "value_int" => scalar(attribute.i.unwrap_or(0).into()),
        "value_ints" => Constant::Value(Tensor::from_integers(attribute.ints.iter().copied())),
        "value_floats" => {
            let values = attribute.floats.iter().map(|&x| float(x)).collect::<Result<Vec<_>, _>>()?;
            Constant::Value(Tensor { shape: vec![values.len()], values })
        }
        other => return Err(format!("the attribute {other} is not supported")),
    })
}

/// Returns the version of the standard operator set.
fn opset(model: &ModelProto) -> Option<i64> {
    let standard = model.opset_import.iter().filter(|o| matches!(o.domain.as_deref().unwrap_or(""), "" | "ai.onnx"));
    standard.map(|o| o.version.unwrap_or(0)).max()
}

fn check_opset(model: &ModelProto) -> Result<(), Refusal> {
    match opset(model) {
        Some(7..) => Ok(()),
        Some(old) => Err(Refusal::new("opset_import", format!("opset {old}; 7 and up are supported"))),
        None => Err(Refusal::new("opset_import", "the version of ONNX's own operators is missing")),
    }
}

fn origins(graph: &GraphProto) -> Result<BTreeMap<&str, Origin<'_>>, Refusal> {
    let mut origins = BTreeMap::new();
    for tensor in &graph.initializer {
        let name = tensor.name.as_deref().unwrap_or("");
        if origins.insert(name, Origin::Initialiser(tensor)).is_some() {
            return Err(Refusal::new("graph.initializer", format!("{name} is given twice")));
        }
    }
    let mut inputs = BTreeSet::new();
    for input in &graph.input {
        let name = input.name.as_deref().unwrap_or("");
        if !inputs.insert(name) {
            return Err(Refusal::new("graph.input", format!("{name} is given twice")));
        }
        // Older files list the initialisers as inputs too.
        origins.entry(name).or_insert(Origin::Input);
    }
    for (index, node) in graph.node.iter().enumerate() {
        for (output, name) in node.output.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            if origins.insert(name, Origin::Node(index, output)).is_some() {
                return Err(Refusal::new(place(index, node), format!("two nodes compute {name}")));
            }
        }
    }
    Ok(origins)
}

/// Returns the input that is not an initialiser, and its shape.
fn the_input<'a>(graph: &'a GraphProto, origins: &BTreeMap<&str, Origin>) -> Result<(&'a str, Vec<usize>), Refusal> {
    let refused = |message: String| Refusal::new("graph.input", message);
    let real: Vec<&ValueInfoProto> = graph
        .input
        .iter()
        .filter(|input| matches!(origins.get(input.name.as_deref().unwrap_or("")), Some(Origin::Input)))
        .collect();
    let [input] = real.as_slice() else {
        return Err(refused(format!("{} inputs; networks of one input are supported", real.len())));
    };
    let name = input.name.as_deref().unwrap_or("");
    let kind = input.kind.as_ref().and_then(|kind| kind.tensor.as_ref());
    let kind = kind.ok_or_else(|| refused(format!("{name} is not a tensor")))?;
    let element = kind.elem_type.unwrap_or(0);
    if element != 1 {
        return Err(refused(format!("{name} has the type {}; it must be FLOAT", tensor::type_name(element))));
    }
    let dims = &kind.shape.as_ref().ok_or_else(|| refused(format!("{name} has no shape")))?.dim;
    if dims.is_empty() || dims.len() > tensor::MAX_AXES {
        return Err(refused(format!(
            "{name} has {} axes; 1 to {} are supported, the first of them the batch",
            dims.len(),
            tensor::MAX_AXES
        )));
    }
    let mut shape = Vec::new();
    for (axis, dim) in dims.iter().enumerate() {
        let size = dim.value.filter(|_| dim.parameter.as_deref().unwrap_or("").is_empty());
        shape.push(match (axis, size) {
            (0, None) => 1,
            (0, Some(1)) => 1,
            (0, Some(batch)) => {
                return Err(refused(format!("{name} has a batch of {batch}"))
                    .with_help("hardware takes one sample at a time: export the model with a batch of 1"));
            }
            (_, Some(size)) if (1..=MAX_PORT as i64).contains(&size) => size as usize,
            (_, Some(size)) => return Err(refused(format!("{name} has the size {size} along axis {axis}"))),
            (_, None) => return Err(refused(format!("{name} has no fixed size along axis {axis}"))),
        });
    }
    if tensor::elements(&shape).is_none_or(|count| count > MAX_PORT) {
        return Err(refused(format!("{name} has the shape {shape:?}; at most {MAX_PORT} elements are supported")));
    }
    Ok((name, shape))
}

fn check_size(size: &Size, options: &Options<'_>) -> Result<(), Vec<Refusal>> {
    if size.adders() <= options.max_adders {
        return Ok(());
    }
    let (place, weights, _) = size.largest().expect("a size above the limit has a matrix");
    let message = format!(
        "{} weights, {} expected adders: above the limit of {}; this is the largest node, with {weights} weights",
        size.weights(),
        size.adders(),
        options.max_adders
    );
    Err(vec![Refusal::new(place.clone(), message).with_help("a higher limit can be given: --max-adders N")])
}
