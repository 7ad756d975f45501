//! Outline of the selected nodes, computed before any weight is read: the values that the nodes compute, the inputs and
//! outputs, and the size of the hardware.

use super::layout::Heads;
use super::quant::{Form, Purpose, QuantFile, RootSetting, Setting};
use super::read::{Arg, Buffer, Graph, Kind, Node, Product, Role};
use super::{MAX_PORT, MAX_WEIGHTS, Selection};
use crate::exact::Rational;
use crate::quantise::{Overflow, Round};
use crate::reciprocal::dyadic_inverse_root;
use alir_core::diag::{Diagnostic, Diagnostics, Place};
use alir_core::num::Kif;
use std::collections::{HashMap, HashSet};

/// Storage of a buffer in one layer: the layer (-1 for global buffers), and the index of the buffer at the end of the
/// chain of aliases.
pub type Instance = (i64, usize);

/// Expected size of the hardware in adders. Adders are counted in thirds, so that sums are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size {
    /// Number of weights of matrices.
    pub weights: u128,
    /// Number of thirds of adders.
    pub thirds: u128,
}

impl Size {
    /// Returns the expected number of adders, rounded to the nearest integer; thirds have no ties.
    pub fn adders(&self) -> u128 {
        (self.thirds + 1) / 3
    }
}

/// A value of the program: the result of one write of an instance, or an input.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Instance that the value belongs to.
    pub instance: Instance,
    /// Number of elements.
    pub elements: u64,
    /// Settings of the instance.
    pub setting: Setting,
}

/// A node that runs, with the slots that it reads and writes in the order of its arguments.
#[derive(Clone, Debug)]
pub struct Call {
    /// Index of the node.
    pub node: usize,
    /// Slots that the node reads.
    pub reads: Vec<usize>,
    /// Slots that the node writes.
    pub writes: Vec<usize>,
}

/// The selected part of a graph.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// All values.
    pub slots: Vec<Slot>,
    /// Slots of the inputs, in order.
    pub inputs: Vec<usize>,
    /// Slots of the outputs, in order.
    pub outputs: Vec<usize>,
    /// Nodes that run, in order.
    pub calls: Vec<Call>,
    /// Size of all matrices.
    pub size: Size,
    /// The node with the most expected adders, and its size.
    pub largest: Option<(usize, Size)>,
    /// Warnings about axes in another order, one for each pair of buffers.
    pub warnings: Vec<Diagnostic>,
}

/// Returns the name of an instance, `LAYER:NAME` or `NAME`.
pub fn title(graph: &Graph, (layer, buffer): Instance) -> String {
    let Some(buffer) = graph.buffers.get(buffer) else { return String::new() };
    if buffer.layered { format!("{layer}:{}", buffer.name) } else { buffer.name.clone() }
}

/// Returns the instance of a buffer for a node in a layer.
pub fn instance(graph: &Graph, layer: i64, buffer: usize) -> Instance {
    let root = graph.buffers[buffer].root;
    (if graph.buffers[root].layered { layer } else { -1 }, root)
}

fn at_node(node: &Node, message: impl Into<String>) -> Diagnostic {
    let message = format!("{}: {}", node.title(), message.into());
    Diagnostic::error("E2006", Place::Path(node.place()), message)
}

/// Returns the matrices of a node.
fn products(kind: &Kind) -> &[Product] {
    match kind {
        Kind::Products(all) => all,
        Kind::HeadProduct(product) => std::slice::from_ref(product),
        _ => &[],
    }
}

/// Assumed width in bits of a value whose type is unknown before weights are read.
const UNKNOWN_WIDTH: u32 = 8;

fn width(setting: &Setting) -> u32 {
    if let Form::Type(kif) = setting.form { kif.width() } else { UNKNOWN_WIDTH }
}

/// Multipliers of two variable values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multipliers {
    /// Name of the products for messages.
    pub name: &'static str,
    /// Number of multiplications.
    pub count: u128,
    /// Width of the first operand in bits.
    pub a: u32,
    /// Width of the second operand in bits.
    pub b: u32,
}

/// Look-up tables of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// Name of the table for messages.
    pub name: &'static str,
    /// Number of tables.
    pub count: u128,
    /// Width of the input in bits.
    pub address: u32,
    /// Width of an entry in bits.
    pub entry: u32,
}

/// Most expensive parts of a node, determined before any weight is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Multipliers of two variable values.
    pub multipliers: Vec<Multipliers>,
    /// Look-up tables.
    pub tables: Vec<Tables>,
    /// Number of constant factors of rotations, and the width of each in bits; `None` without rotations.
    pub rotations: Option<(u128, u32)>,
}

/// Returns the number of times that a node runs: once for each token of its activations.
pub fn times(graph: &Graph, node: &Node) -> u64 {
    let (reads, writes) = arguments(&node.kind);
    let has_axis = reads.iter().chain(&writes).any(|arg| !graph.buffers[arg.buffer].token_axes.is_empty());
    if has_axis { graph.window.tokens } else { 1 }
}

/// Returns the heads of an attention; `None` for other nodes, or if the shape of a buffer without tokens is not
/// `[heads][elements of a head]`.
pub fn heads(graph: &Graph, node: &Node) -> Option<Heads> {
    let Kind::Attention { q, k, v, y, causal } = &node.kind else { return None };
    let shape = |arg: &Arg| match graph.buffers[arg.buffer].shape()[..] {
        [heads, dim] => Some((usize::try_from(heads).ok()?, usize::try_from(dim).ok()?)),
        _ => None,
    };
    let ((heads, head_dim), (kv_heads, key_dim), values) = (shape(q)?, shape(k)?, shape(v)?);
    let value_dim = values.1;
    let tokens = usize::try_from(times(graph, node)).ok()?;
    let fits = head_dim == key_dim && values.0 == kv_heads && shape(y)? == (heads, value_dim);
    let is_empty = [heads, kv_heads, head_dim, value_dim].contains(&0);
    (fits && !is_empty).then_some(Heads { tokens, heads, kv_heads, head_dim, value_dim, causal: *causal })
}

/// Returns the multipliers and tables of a node; empty for operators without products of two values.
pub fn parts(graph: &Graph, node: &Node, quant: &QuantFile) -> Parts {
    let bits = |arg: &Arg| {
        let (layer, root) = instance(graph, node.layer, arg.buffer);
        width(&quant.buffer(layer, &graph.buffers[root].name, Purpose::Activation))
    };
    let record = |name: &str| width(&quant.record(node, name));
    let elements = |arg: &Arg| u128::from(graph.buffers[arg.buffer].elements());
    let times = u128::from(times(graph, node));
    let mut parts = Parts::default();
    let softmax = |scores: u128, rows: u128, parts: &mut Parts| {
        parts.tables.push(Tables { name: "exp", count: scores, address: record("difference"), entry: record("exp") });
        parts.tables.push(Tables { name: "inverse", count: rows, address: record("sum"), entry: record("inverse") });
        parts.multipliers.push(Multipliers {
            name: "exp x inverse",
            count: scores,
            a: record("exp"),
            b: record("inverse"),
        });
    };
    match &node.kind {
        Kind::Attention { q, k, v, .. } => {
            let Some(sizes) = heads(graph, node) else { return parts };
            let (pairs, rows) = (sizes.pairs(), (sizes.heads * sizes.tokens) as u128);
            let count = pairs * sizes.head_dim as u128;
            parts.multipliers.push(Multipliers { name: "q x k", count, a: bits(q), b: bits(k) });
            softmax(pairs, rows, &mut parts);
            let count = pairs * sizes.value_dim as u128;
            parts.multipliers.push(Multipliers { name: "p x v", count, a: record("probability"), b: bits(v) });
        }
        Kind::Softmax { x, .. } => {
            let buffer = &graph.buffers[x.buffer];
            let scores = u128::from(buffer.elements_with(graph.window.tokens).unwrap_or(u64::MAX));
            softmax(scores, scores / u128::from(last_axis(graph, x.buffer).max(1)), &mut parts);
        }
        Kind::Norm { x, .. } if quant.root(node) == RootSetting::Measured => {
            let count = times * elements(x);
            parts.multipliers.push(Multipliers { name: "x x x", count, a: bits(x), b: bits(x) });
            let (address, entry) = (record("mean_square"), record("table"));
            parts.tables.push(Tables { name: "rstd", count: times, address, entry });
            parts.multipliers.push(Multipliers { name: "x x rstd", count, a: bits(x), b: entry });
        }
        Kind::Rope { q, k } => parts.rotations = Some((times * 2 * (elements(q) + elements(k)), record("table"))),
        Kind::Embedding { weight, y, .. } => {
            let rows = graph.buffers[weight.buffer].shape().first().copied().unwrap_or(0);
            let count = times * elements(y);
            parts.tables.push(Tables { name: "embedding", count, address: id_bits(rows), entry: bits(y) });
        }
        Kind::Swiglu { x, y } => {
            let entry = record("table");
            parts.tables.push(Tables { name: "silu", count: times * elements(y), address: bits(x), entry });
        }
        Kind::Table { function, x, y } => {
            let count = times * elements(y);
            parts.tables.push(Tables { name: function.name(), count, address: bits(x), entry: bits(y) });
        }
        _ => {}
    }
    parts
}

/// Returns the width in bits of the id of one of `rows` rows.
pub fn id_bits(rows: u64) -> u32 {
    (u64::BITS - rows.saturating_sub(1).leading_zeros()).max(1)
}

/// Returns the size of the last axis of a buffer, which may be the tokens axis.
pub fn last_axis(graph: &Graph, buffer: usize) -> u64 {
    let buffer = &graph.buffers[buffer];
    let is_tokens = buffer.token_axes.last() == Some(&buffer.axes.len());
    if is_tokens { graph.window.tokens } else { buffer.axes.last().map_or(1, super::read::Axis::size) }
}

/// Returns the size of a node, even if it does not run: its matrices for every token, its rotations, and its products
/// of two values.
pub fn size_of(graph: &Graph, node: &Node, quant: &QuantFile) -> Size {
    let mut size = Size::default();
    let times = u128::from(times(graph, node));
    for product in products(&node.kind) {
        let (layer, root) = instance(graph, node.layer, product.w.buffer);
        let width = width(&quant.buffer(layer, &graph.buffers[root].name, Purpose::Weight));
        let weights = u128::from(graph.buffers[product.w.buffer].elements());
        size.weights += weights;
        size.thirds += times * weights * u128::from((width + 1).max(3));
    }
    let parts = parts(graph, node, quant);
    if let Some((factors, width)) = parts.rotations {
        size.thirds += factors * u128::from((width + 1).max(3));
    }
    for Multipliers { count, a, b, .. } in parts.multipliers {
        size.thirds += 3 * count * u128::from(a.min(b));
    }
    size
}

impl Outline {
    /// Builds the outline of the selected nodes. `wanted` are the buffers of `--output-buffer`.
    ///
    /// # Errors
    /// If selected nodes have unsupported properties, if sizes do not match, or if no node writes a requested name.
    pub fn new(
        graph: &Graph,
        selection: &Selection,
        wanted: &[String],
        quant: &QuantFile,
    ) -> Result<Outline, Diagnostics> {
        let mut maker = Maker::new(graph, quant);
        let mut problems = Vec::new();
        for node in graph.nodes.iter().filter(|n| (n.runs || n.unclear.is_some()) && selection.holds(n)) {
            if let Err(problem) = maker.call(node)
                && !problems.contains(&problem)
            {
                problems.push(problem);
                if problems.len() >= alir_core::diag::COUNTED {
                    break;
                }
            }
        }
        if !problems.is_empty() {
            return Err(Diagnostics(problems));
        }
        if maker.outline.calls.is_empty() {
            return Err(super::select::nothing_selected("no node of the selection runs").into());
        }
        maker.outputs(wanted)?;
        let mut outline = maker.outline;
        outline.measure(graph, quant);
        for (slots, what) in [(&outline.inputs, "inputs"), (&outline.outputs, "outputs")] {
            let total: u128 = slots.iter().map(|&slot| u128::from(outline.slots[slot].elements)).sum();
            if total > u128::from(MAX_PORT) {
                let message = format!("the {what} have {total} elements; a port has at most {MAX_PORT}");
                return Err(Diagnostic::error("E2007", Place::Path("nodes".into()), message).into());
            }
        }
        Ok(outline)
    }

    /// Computes the size with the types of a quantisation file.
    pub fn measure(&mut self, graph: &Graph, quant: &QuantFile) {
        (self.size, self.largest) = (Size::default(), None);
        for call in &self.calls {
            let size = size_of(graph, &graph.nodes[call.node], quant);
            self.size.weights += size.weights;
            self.size.thirds += size.thirds;
            if size.thirds > 0 && self.largest.is_none_or(|(_, largest)| size.thirds > largest.thirds) {
                self.largest = Some((call.node, size));
            }
        }
    }

    /// Returns an error if the design would need more than `max_adders` adders.
    ///
    /// # Errors
    /// Returns an error with the sizes and the largest node.
    pub fn check_size(&self, graph: &Graph, max_adders: u64) -> Result<(), Diagnostic> {
        let refused = |node: usize, message: String| {
            Err(Diagnostic::error("E2007", Place::Path(graph.nodes[node].place()), message)
                .with_help("cut out a smaller part with --nodes, or raise --max-adders"))
        };
        if let Some((node, size)) = self.largest
            && self.size.adders() > u128::from(max_adders)
        {
            let Size { weights, .. } = self.size;
            let (all, most) = (self.size.adders(), size.adders());
            let message = format!(
                "{weights} weights would need some {all} adders, and the limit is {max_adders}; the largest node is \
                 {} with {} weights and {most} adders",
                graph.nodes[node].title(),
                size.weights
            );
            return refused(node, message);
        }
        for call in &self.calls {
            let node = &graph.nodes[call.node];
            for weight in weights(&node.kind) {
                if matches!(&node.kind, Kind::Embedding { positions: Some(p), .. } if *p == weight) {
                    // A table of positions may be long, but only the rows of the window are used, and only if the table
                    // exists.
                    continue;
                }
                let (name, n) = (&graph.buffers[weight.buffer].name, graph.buffers[weight.buffer].elements());
                if n > MAX_WEIGHTS {
                    return refused(
                        call.node,
                        format!("{name:?} has {n} weights; one tensor has at most {MAX_WEIGHTS}"),
                    );
                }
            }
        }
        Ok(())
    }
}

/// Returns `true` if two buffers have the same axes in different orders; axes of one element are ignored.
fn is_reordered(a: &Buffer, b: &Buffer, tokens: u64) -> bool {
    let [mut first, mut second] = [a, b].map(|buffer| buffer.long_axes(tokens));
    let differ = first != second;
    first.sort_unstable();
    second.sort_unstable();
    differ && first == second
}

/// Returns the axes of more than one element as text: `axes tokens 4, embed 8`.
fn axes_text(buffer: &Buffer, tokens: u64) -> String {
    let axes: Vec<String> = buffer.long_axes(tokens).iter().map(|(name, size)| format!("{name} {size}")).collect();
    format!("axes {}", axes.join(", "))
}

struct Maker<'a> {
    graph: &'a Graph,
    quant: &'a QuantFile,
    outline: Outline,
    /// Slot of the last value of each instance.
    current: HashMap<Instance, usize>,
    /// Instances in the order of their first writing.
    written: Vec<Instance>,
    /// State of each written instance: slot of the last write, and `true` if a later node read it.
    state: HashMap<Instance, (usize, bool)>,
    /// For each slot, the buffer with whose shape the slot was written.
    shapes: Vec<usize>,
    /// Pairs of buffers with a warning about the order of their axes.
    reordered: HashSet<(usize, usize)>,
}

impl<'a> Maker<'a> {
    fn new(graph: &'a Graph, quant: &'a QuantFile) -> Maker<'a> {
        let outline = Outline::default();
        let (current, written, state) = (HashMap::new(), Vec::new(), HashMap::new());
        Maker { graph, quant, outline, current, written, state, shapes: Vec::new(), reordered: HashSet::new() }
    }

    fn call(&mut self, node: &Node) -> Result<(), Diagnostic> {
        if let Some(unclear) = &node.unclear {
            return Err(unclear.clone());
        }
        match &node.kind {
            Kind::Unsupported(why) => {
                return Err(at_node(node, format!("this cannot be combinational logic: {why}"))
                    .with_help("cut it out with --nodes, which selects the nodes that become hardware"));
            }
            Kind::Faulty(message) => {
                return Err(at_node(node, &**message).with_help("fix the node, or exclude it with --nodes"));
            }
            _ => {}
        }
        let (reads, writes) = arguments(&node.kind);
        for arg in reads.iter().chain(&writes).copied().chain(weights(&node.kind)) {
            let buffer = &self.graph.buffers[arg.buffer];
            if let Some(unclear) = &buffer.unclear {
                return Err(unclear.clone());
            }
            let is_bias = matches!(&node.kind, Kind::BiasAdd { b, .. } if *b == arg);
            if !buffer.present && !is_bias {
                let place = Place::Path(format!("{}.bindings[{}].buffer", node.place(), arg.binding));
                let message =
                    format!("the condition of {:?} does not hold, but {} needs it", buffer.name, node.title());
                return Err(Diagnostic::error("E2006", place, message));
            }
        }
        self.quant.check_node(node)?;
        self.check_tokens(node, &reads, &writes)?;
        self.check_sizes(node)?;
        if let Kind::Embedding { ids, weight, .. } = &node.kind {
            self.read_ids(node, *ids, *weight)?;
        }
        self.check_order(node, &reads, &writes);
        let reads = reads.into_iter().map(|arg| self.read(node, arg)).collect::<Result<Vec<_>, _>>()?;
        let writes = writes.into_iter().map(|arg| self.write(node, arg)).collect::<Result<_, _>>()?;
        self.outline.calls.push(Call { node: node.index, reads, writes });
        Ok(())
    }

    /// Checks the tokens axes of a node that runs for several tokens.
    fn check_tokens(&self, node: &Node, reads: &[Arg], writes: &[Arg]) -> Result<(), Diagnostic> {
        let tokens = self.graph.window.tokens;
        if tokens == 1 {
            return Ok(());
        }
        let buffer = |arg: &Arg| &self.graph.buffers[arg.buffer];
        let refuse = |arg: &Arg, what: &str| {
            let place = Place::Path(format!("buffer {}", buffer(arg).name));
            let message = format!("{:?} of {} {what}", buffer(arg).name, node.title());
            Err(Diagnostic::error("E2006", place, message).with_help("such a buffer is for --tokens 1"))
        };
        let is_softmax = matches!(node.kind, Kind::Softmax { .. });
        for arg in reads.iter().chain(writes) {
            if buffer(arg).scales_tokens {
                return refuse(arg, "has a tokens entry with a mult or div other than 1");
            }
            if buffer(arg).token_axes.len() > 1 && !is_softmax {
                return refuse(arg, "has a second tokens entry");
            }
        }
        let positions = if let Kind::Embedding { positions, .. } = &node.kind { *positions } else { None };
        for arg in weights(&node.kind) {
            if !buffer(&arg).token_axes.is_empty() && positions != Some(arg) {
                return refuse(&arg, "is a weight with a tokens entry, and only pos_emb may have one");
            }
        }
        let has_axis = |arg: &&Arg| !buffer(arg).token_axes.is_empty();
        let (with, without) =
            (reads.iter().chain(writes).find(has_axis), reads.iter().chain(writes).find(|arg| !has_axis(arg)));
        if let (Some(with), Some(without)) = (with, without) {
            let what = format!("has no tokens entry, but {:?} has one", buffer(with).name);
            return refuse(without, &what);
        }
        Ok(())
    }

    /// Converts the ids of an embedding to an input of the hardware.
    fn read_ids(&mut self, node: &Node, ids: Arg, weight: Arg) -> Result<(), Diagnostic> {
        let instance = instance(self.graph, node.layer, ids.buffer);
        let root = &self.graph.buffers[instance.1];
        let name = title(self.graph, instance);
        if self.quant.has_entry(instance.0, &root.name) {
            let place = Place::Path(format!("quant.buffers.{name}"));
            let message = format!("{name} holds ids of rows, whose type follows from the number of rows");
            return Err(Diagnostic::error("E2004", place, message).with_help("leave the entry out"));
        }
        let rows = self.graph.buffers[weight.buffer].shape().first().copied().unwrap_or(0);
        let kif = Kif { signed: false, int: id_bits(rows) as i32, frac: 0 };
        let setting =
            Setting { form: Form::Type(kif), round: Round::Floor, overflow: Overflow::Wrap, scale: Rational::one() };
        match self.current.get(&instance) {
            Some(slot) if self.outline.inputs.contains(slot) && self.outline.slots[*slot].setting == setting => Ok(()),
            Some(slot) if self.outline.inputs.contains(slot) => {
                let message = format!("{name} is an input of another type already; ids of {rows} rows have {kif}");
                Err(at_node(node, message))
            }
            Some(_) => Err(at_node(node, format!("{name} is written before; ids are an input of the hardware"))),
            None => {
                let elements = self.total(ids)?;
                let slot = self.push(Slot { instance, elements, setting }, instance.1);
                self.outline.inputs.push(slot);
                self.current.insert(instance, slot);
                Ok(())
            }
        }
    }

    /// Returns the number of elements of an argument for all tokens.
    fn total(&self, arg: Arg) -> Result<u64, Diagnostic> {
        let buffer = &self.graph.buffers[arg.buffer];
        let root = &self.graph.buffers[buffer.root];
        let (own, stored) =
            (buffer.elements_with(self.graph.window.tokens), root.elements_with(self.graph.window.tokens));
        let place = || Place::Path(format!("buffer {}", buffer.name));
        let limit = |n: &u64| *n <= 1 << 32;
        let own = own.filter(limit).ok_or_else(|| {
            Diagnostic::error(
                "E2007",
                place(),
                format!("{:?} has too many elements for this number of tokens", buffer.name),
            )
        })?;
        if Some(own) != stored {
            let message =
                format!("{:?} and {:?}, whose storage it is, differ in their tokens entries", buffer.name, root.name);
            return Err(Diagnostic::error("E2006", place(), message));
        }
        Ok(own)
    }

    fn elements(&self, arg: Arg) -> u64 {
        self.graph.buffers[arg.buffer].elements()
    }

    fn check_sizes(&self, node: &Node) -> Result<(), Diagnostic> {
        let name = |arg: Arg| &self.graph.buffers[arg.buffer].name;
        let same = |a: Arg, b: Arg| match self.elements(a) == self.elements(b) {
            true => Ok(()),
            false => Err(at_node(
                node,
                format!("{:?} has {} elements and {:?} {}", name(a), self.elements(a), name(b), self.elements(b)),
            )),
        };
        match &node.kind {
            Kind::Products(all) => {
                for Product { x, w, b, y } in all {
                    let shape = self.graph.buffers[w.buffer].shape();
                    let (rows, columns) = (self.elements(*y), self.elements(*x));
                    // The leading axes of the matrix are outputs, the other axes are inputs.
                    let fits = (0..=shape.len()).any(|k| {
                        shape[..k].iter().product::<u64>() == rows && shape[k..].iter().product::<u64>() == columns
                    });
                    if !fits {
                        let message = format!(
                            "{:?} of shape {shape:?} does not take {:?} of {columns} elements to {:?} of {rows}",
                            name(*w),
                            name(*x),
                            name(*y)
                        );
                        return Err(at_node(node, message));
                    }
                    b.map_or(Ok(()), |b| same(b, *y))?;
                }
                Ok(())
            }
            Kind::HeadProduct(Product { x, w, b, y }) => {
                let shape = self.graph.buffers[w.buffer].shape();
                let (rows, columns) = (self.elements(*y), self.elements(*x));
                if !matches!(
                    shape[..],
                    [heads, embed, head] if embed == rows && heads.checked_mul(head) == Some(columns)
                ) {
                    let message = format!(
                        "{:?} of shape {shape:?} is not [heads][embed][head_dim] between {:?} of {columns} elements \
                         and {:?} of {rows}",
                        name(*w),
                        name(*x),
                        name(*y)
                    );
                    return Err(at_node(node, message));
                }
                b.map_or(Ok(()), |b| same(b, *y))
            }
            Kind::BiasAdd { x, b, y } | Kind::Add { a: x, b, y } => same(*x, *b).and_then(|()| same(*x, *y)),
            Kind::Relu { x, y } | Kind::Table { function: _, x, y } => same(*x, *y),
            Kind::Swiglu { x, y } => match self.elements(*y).checked_mul(2) == Some(self.elements(*x)) {
                true => Ok(()),
                false => {
                    let (n, m) = (self.elements(*x), self.elements(*y));
                    Err(at_node(node, format!("{:?} has {n} elements, not twice the {m} of {:?}", name(*x), name(*y))))
                }
            },
            Kind::Norm { norm: _, x, gamma, beta, y } => {
                match self.quant.root(node) {
                    RootSetting::Missing => {
                        return Err(at_node(node, "this divides by a root of its inputs").with_help(
                            "give rstd in the quantisation file, under nodes: a constant, or \
                             {\"mean_square\": {...}, \"table\": {...}}; or cut it out with --nodes",
                        ));
                    }
                    RootSetting::Measured => self.quant.check_records(node, &[])?,
                    RootSetting::Constant { .. } => {}
                }
                if self.elements(*x) == 0 {
                    return Err(at_node(node, format!("{:?} has no elements", name(*x))));
                }
                same(*x, *gamma)?;
                same(*x, *y)?;
                beta.map_or(Ok(()), |b| same(b, *y))
            }
            Kind::Embedding { ids, weight, positions, y } => {
                if self.elements(*ids) != 1 {
                    let n = self.elements(*ids);
                    return Err(at_node(node, format!("{:?} has {n} elements for a token; an id is one", name(*ids))));
                }
                let shape = self.graph.buffers[weight.buffer].shape();
                let row: u64 = shape.iter().skip(1).product();
                if shape.is_empty() || shape[0] == 0 || row != self.elements(*y) {
                    let n = self.elements(*y);
                    let message = format!(
                        "{:?} of shape {shape:?} has no rows of the {n} elements of {:?}",
                        name(*weight),
                        name(*y)
                    );
                    return Err(at_node(node, message));
                }
                if let Some(positions) = positions {
                    let shape = self.graph.buffers[positions.buffer].shape();
                    if shape.is_empty() || shape.iter().skip(1).product::<u64>() != row {
                        let message =
                            format!("{:?} of shape {shape:?} has no rows of {row} elements", name(*positions));
                        return Err(at_node(node, message));
                    }
                }
                Ok(())
            }
            Kind::Rope { q, k } => {
                for arg in [q, k] {
                    let last = self.graph.buffers[arg.buffer].shape().last().copied().unwrap_or(0);
                    if last == 0 || last % 2 == 1 {
                        let message =
                            format!("{:?} has {last} elements on its last axis, which are no pairs", name(*arg));
                        return Err(at_node(node, message));
                    }
                }
                if self.graph.rope_theta <= Rational::zero() {
                    let message = "rope_theta of config is missing or not above zero";
                    return Err(
                        at_node(node, message).with_help("give config a rope_theta, or cut the node out with --nodes")
                    );
                }
                self.quant.check_records(node, &[])
            }
            Kind::Attention { q, k, v, y, .. } => {
                let Some(heads) = heads(self.graph, node) else {
                    let shapes: Vec<String> = [q, k, v, y]
                        .map(|arg| format!("{:?} {:?}", name(*arg), self.graph.buffers[arg.buffer].shape()))
                        .to_vec();
                    let message = format!(
                        "the shapes without tokens are {}; they are heads and head_dim: q and k agree in head_dim, k \
                         and v in heads, the result has q's heads and v's head_dim",
                        shapes.join(", ")
                    );
                    return Err(at_node(node, message));
                };
                let exact = dyadic_inverse_root(heads.head_dim as u64);
                self.quant.check_records(node, if exact.is_some() { &["scale"] } else { &[] })?;
                if exact.is_none() && self.quant.record(node, "scale").form == Form::Exact {
                    let message = format!("the scale 1/sqrt({}) is no binary number", heads.head_dim);
                    return Err(at_node(node, message).with_help("give nodes.attention.scale a type"));
                }
                Ok(())
            }
            Kind::Softmax { x, y } => {
                let (a, b) = (&self.graph.buffers[x.buffer], &self.graph.buffers[y.buffer]);
                let tokens_differ = self.graph.window.tokens > 1 && a.token_axes != b.token_axes;
                if a.shape() != b.shape() || tokens_differ || last_axis(self.graph, x.buffer) == 0 {
                    let message = format!(
                        "{:?} of shape {:?} and {:?} of shape {:?}; a softmax needs equal shapes",
                        a.name, a.sizes, b.name, b.sizes
                    );
                    return Err(at_node(node, message));
                }
                self.quant.check_records(node, &[])
            }
            Kind::Unsupported(_) | Kind::Faulty(_) => Ok(()),
        }
    }

    /// Adds a slot that is written with the shape of a buffer.
    fn push(&mut self, slot: Slot, buffer: usize) -> usize {
        self.outline.slots.push(slot);
        self.shapes.push(buffer);
        self.outline.slots.len() - 1
    }

    /// Warns if the buffer that reads a value has other axes than the buffer with which the value was written.
    fn check_link(&mut self, node: &Node, arg: Arg, slot: usize) {
        let tokens = self.graph.window.tokens;
        let [written, read] = [self.shapes[slot], arg.buffer].map(|buffer| &self.graph.buffers[buffer]);
        let have_tokens = !written.token_axes.is_empty() && !read.token_axes.is_empty();
        let moves_tokens = tokens > 1 && have_tokens && written.layout(tokens) != read.layout(tokens);
        if moves_tokens || is_reordered(written, read, tokens) {
            let name = &written.name;
            let message = format!("{name:?}, whose value it is, has {}", axes_text(written, tokens));
            self.warn_order(node, arg, self.shapes[slot], tokens, &message);
        }
    }

    /// Warns if the axes of a node's arguments have another order than the operator expects.
    fn check_order(&mut self, node: &Node, reads: &[Arg], writes: &[Arg]) {
        let paired: &[(Arg, Arg)] = match &node.kind {
            Kind::Relu { x, y } | Kind::Table { x, y, .. } | Kind::Softmax { x, y } => &[(*x, *y)],
            Kind::BiasAdd { x, b, y } | Kind::Add { a: x, b, y } => &[(*x, *b), (*x, *y)],
            Kind::Norm { x, gamma, beta, y, .. } => &[(*x, *gamma), (*x, beta.unwrap_or(*gamma)), (*x, *y)],
            _ => &[],
        };
        // Operators compute each token in the same way, so the position of the tokens axis does not matter.
        for &(first, other) in paired {
            let [a, b] = [first, other].map(|arg| &self.graph.buffers[arg.buffer]);
            if is_reordered(a, b, 1) {
                let message = format!("{:?}, with which it is paired, has {}", a.name, axes_text(a, 1));
                self.warn_order(node, other, first.buffer, 1, &message);
            }
        }
        if !matches!(node.kind, Kind::Attention { .. } | Kind::Rope { .. }) {
            return;
        }
        for &arg in reads.iter().chain(writes) {
            let axes = self.graph.buffers[arg.buffer].long_axes(1);
            let at = |names: &[&str]| axes.iter().position(|axis| names.contains(&axis.0));
            if let (Some(dim), Some(heads)) = (at(&["head_dim"]), at(&["num_heads", "num_kv_heads"]))
                && dim < heads
            {
                self.warn_order(node, arg, arg.buffer, 1, "the operator expects heads before head_dim");
            }
        }
    }

    /// Adds a warning about the order of a buffer's axes, unless the pair of buffers already has a warning.
    fn warn_order(&mut self, node: &Node, arg: Arg, other: usize, tokens: u64, reason: &str) {
        if self.outline.warnings.len() >= alir_core::diag::COUNTED || !self.reordered.insert((other, arg.buffer)) {
            return;
        }
        let buffer = &self.graph.buffers[arg.buffer];
        let place = Place::Path(format!("{}.bindings[{}].buffer", node.place(), arg.binding));
        let message = format!("{}: {:?} has {}, but {reason}", node.title(), buffer.name, axes_text(buffer, tokens));
        let help = "elements keep their row-major order and are not transposed; declare the axes in the same order";
        self.outline.warnings.push(Diagnostic::warning("W2002", place, message).with_help(help));
    }

    fn setting(&self, (layer, root): Instance) -> Setting {
        self.quant.buffer(layer, &self.graph.buffers[root].name, Purpose::Activation)
    }

    fn read(&mut self, node: &Node, arg: Arg) -> Result<usize, Diagnostic> {
        let instance = instance(self.graph, node.layer, arg.buffer);
        let elements = self.total(arg)?;
        let source = self.source(instance, elements)?;
        if let Some((_, read)) = self.state.get_mut(&source) {
            *read = true;
        }
        if let Some(&slot) = self.current.get(&source) {
            // An alias may have another shape, but not another size; the parser has checked the size.
            self.check_link(node, arg, slot);
            return Ok(slot);
        }
        let setting = self.setting(instance);
        let name = title(self.graph, instance);
        if setting.quantiser().is_none() {
            let place = Place::Path(format!("buffer {}", self.graph.buffers[instance.1].name));
            let message = format!("{name} has no type");
            return Err(Diagnostic::error("E2004", place, message).with_help(
                "--quant FILE gives types, under buffers or default.activation; `alir2hdl calibrate` proposes them",
            ));
        }
        let slot = self.push(Slot { instance, elements, setting }, instance.1);
        self.outline.inputs.push(slot);
        self.current.insert(instance, slot);
        self.check_link(node, arg, slot);
        Ok(slot)
    }

    /// Returns the instance that a node reads: the `input` of a layer may be the `output` of the previous layer.
    fn source(&self, instance: Instance, elements: u64) -> Result<Instance, Diagnostic> {
        let (layer, root) = instance;
        let buffer = &self.graph.buffers[root];
        if !buffer.layered || self.current.contains_key(&instance) {
            return Ok(instance);
        }
        let before = if layer < 0 {
            // A node without a layer reads the value that the last layer wrote.
            self.state.keys().copied().filter(|written| written.1 == root).max()
        } else if buffer.name != "input" {
            None
        } else if layer == 0 {
            let embedded = self.graph.buffer("embedded_input").filter(|&b| !self.graph.buffers[b].layered);
            embedded.map(|b| (-1, self.graph.buffers[b].root))
        } else {
            let output = self.graph.buffer("output").filter(|&b| self.graph.buffers[b].layered);
            output.map(|b| (layer - 1, self.graph.buffers[b].root))
        };
        let Some(before) = before.filter(|before| self.state.contains_key(before)) else { return Ok(instance) };
        let name = title(self.graph, instance);
        if self.quant.has_instance(layer, &buffer.name) {
            let place = Place::Path(format!("quant.buffers.{name}"));
            let message = format!("{name} is the value of {}, and has its type", title(self.graph, before));
            return Err(Diagnostic::error("E2004", place, message).with_help("give the type to that buffer"));
        }
        let made = self.outline.slots[self.state[&before].0].elements;
        if made != elements {
            let place = Place::Path(format!("buffer {name}"));
            let message =
                format!("{name} has {elements} elements, but {}, whose value it is, {made}", title(self.graph, before));
            return Err(Diagnostic::error("E2006", place, message));
        }
        Ok(before)
    }

    fn write(&mut self, node: &Node, arg: Arg) -> Result<usize, Diagnostic> {
        let instance = instance(self.graph, node.layer, arg.buffer);
        let setting = self.setting(instance);
        let elements = self.total(arg)?;
        let slot = self.push(Slot { instance, elements, setting }, arg.buffer);
        self.current.insert(instance, slot);
        if self.state.insert(instance, (slot, false)).is_none() {
            self.written.push(instance);
        }
        Ok(slot)
    }

    fn outputs(&mut self, wanted: &[String]) -> Result<(), Diagnostic> {
        if wanted.is_empty() {
            // Slot numbers increase, so that the order of slots is the order of the last writes.
            let left = self.written.iter().filter(|instance| self.graph.buffers[instance.1].role != Role::Scratch);
            let mut outputs: Vec<usize> =
                left.map(|i| self.state[i]).filter(|(_, read)| !read).map(|(s, _)| s).collect();
            outputs.sort_unstable();
            if outputs.is_empty() {
                let place = Place::Path("nodes".into());
                return Err(Diagnostic::error("E2003", place, "every value is read again, so that there is no output")
                    .with_help("name outputs with --output-buffer"));
            }
            self.outline.outputs = outputs;
            return Ok(());
        }
        let mut chosen = vec![false; self.written.len()];
        for name in wanted {
            let named = |instance: &Instance| {
                let matches = |layer: Option<i64>, text: &str| {
                    let found = self.graph.buffer(text).map(|b| self.graph.buffers[b].root);
                    found == Some(instance.1)
                        && layer.is_none_or(|l| l == instance.0 && self.graph.buffers[instance.1].layered)
                };
                let layered = name.split_once(':').and_then(|(l, rest)| Some((l.parse::<i64>().ok()?, rest)));
                matches(None, name) || layered.is_some_and(|(layer, rest)| matches(Some(layer), rest))
            };
            let mut found = false;
            for (k, instance) in self.written.iter().enumerate() {
                let hit = named(instance);
                chosen[k] |= hit;
                found |= hit;
            }
            if !found {
                let message = format!("{name:?} is written by no selected node");
                let all: Vec<String> = self.written.iter().take(12).map(|i| title(self.graph, *i)).collect();
                return Err(Diagnostic::error("E2003", Place::Flag("--output-buffer".into()), message)
                    .with_help(format!("written are {}", all.join(", "))));
            }
        }
        let chosen = self.written.iter().zip(chosen).filter(|(_, c)| *c).map(|(i, _)| self.state[i].0);
        self.outline.outputs = chosen.collect();
        Ok(())
    }
}

/// Returns the weights that a node uses.
pub fn weights(kind: &Kind) -> Vec<Arg> {
    match kind {
        Kind::Products(all) => all.iter().flat_map(|p| [Some(p.w), p.b]).flatten().collect(),
        Kind::HeadProduct(p) => [Some(p.w), p.b].into_iter().flatten().collect(),
        Kind::BiasAdd { b, .. } => vec![*b],
        Kind::Norm { gamma, beta, .. } => [Some(*gamma), *beta].into_iter().flatten().collect(),
        Kind::Embedding { weight, positions, .. } => [Some(*weight), *positions].into_iter().flatten().collect(),
        _ => Vec::new(),
    }
}

/// Returns the arguments that a node reads and those that it writes, in order.
pub fn arguments(kind: &Kind) -> (Vec<Arg>, Vec<Arg>) {
    match kind {
        Kind::Products(all) => (vec![all[0].x], all.iter().map(|p| p.y).collect()),
        Kind::HeadProduct(p) => (vec![p.x], vec![p.y]),
        Kind::BiasAdd { x, y, .. } | Kind::Relu { x, y } | Kind::Table { x, y, .. } | Kind::Swiglu { x, y } => {
            (vec![*x], vec![*y])
        }
        Kind::Norm { x, y, .. } | Kind::Softmax { x, y } => (vec![*x], vec![*y]),
        Kind::Embedding { ids, y, .. } => (vec![*ids], vec![*y]),
        Kind::Rope { q, k } => (vec![*q, *k], vec![*q, *k]),
        Kind::Attention { q, k, v, y, .. } => (vec![*q, *k, *v], vec![*y]),
        Kind::Add { a, b, y } => (vec![*a, *b], vec![*y]),
        Kind::Unsupported(_) | Kind::Faulty(_) => (Vec::new(), Vec::new()),
    }
}
