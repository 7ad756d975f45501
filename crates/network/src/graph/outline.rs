//! Which values the selected nodes make, what comes in and goes out, and how large it would be: all before any weight
//! is read.

use super::quant::{Form, Purpose, QuantFile, Setting};
use super::read::{Arg, Graph, Kind, Node, Product, Role};
use super::{MAX_PORT, MAX_WEIGHTS, Selection};
use alir_core::diag::{Diagnostic, Diagnostics, Place};
use std::collections::HashMap;

/// A buffer's storage in one layer: layer (-1 for global ones) and index of the buffer, an end of aliases.
pub type Instance = (i64, usize);

/// Adders of hardware that are expected, in thirds: sums of them are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size {
    /// Weights of matrices.
    pub weights: u128,
    /// Thirds of adders.
    pub thirds: u128,
}

impl Size {
    /// Expected adders to the nearest whole number; thirds have no ties.
    pub fn adders(&self) -> u128 {
        (self.thirds + 1) / 3
    }
}

/// A value of the program: what one write of an instance made, or an input.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The instance.
    pub instance: Instance,
    /// Elements.
    pub elements: u64,
    /// Its settings.
    pub setting: Setting,
}

/// A node that runs, with the slots that it reads and writes in the order of its arguments.
#[derive(Clone, Debug)]
pub struct Call {
    /// Index of the node.
    pub node: usize,
    /// What it reads.
    pub reads: Vec<usize>,
    /// What it makes.
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
    /// Nodes in order.
    pub calls: Vec<Call>,
    /// Size of all matrices.
    pub size: Size,
    /// The node with the most expected adders, and its size.
    pub largest: Option<(usize, Size)>,
}

/// The name of an instance, `LAYER:NAME` or `NAME`.
pub fn title(graph: &Graph, (layer, buffer): Instance) -> String {
    let Some(buffer) = graph.buffers.get(buffer) else { return String::new() };
    if buffer.layered { format!("{layer}:{}", buffer.name) } else { buffer.name.clone() }
}

/// Where a buffer lies for a node of a layer.
pub fn instance(graph: &Graph, layer: i64, buffer: usize) -> Instance {
    let root = graph.buffers[buffer].root;
    (if graph.buffers[root].layered { layer } else { -1 }, root)
}

fn at_node(node: &Node, message: impl Into<String>) -> Diagnostic {
    let message = format!("{}: {}", node.title(), message.into());
    Diagnostic::error("E2006", Place::Path(node.place()), message)
}

/// The matrices of a node.
fn products(kind: &Kind) -> &[Product] {
    match kind {
        Kind::Products(all) => all,
        Kind::HeadProduct(product) => std::slice::from_ref(product),
        _ => &[],
    }
}

/// The size of a node's matrices, whether it runs or not.
pub fn size_of(graph: &Graph, node: &Node, quant: &QuantFile) -> Size {
    let mut size = Size::default();
    for product in products(&node.kind) {
        let (layer, root) = instance(graph, node.layer, product.w.buffer);
        let setting = quant.buffer(layer, &graph.buffers[root].name, Purpose::Weight);
        let width = if let Form::Type(kif) = setting.form { kif.width() } else { 8 };
        let weights = u128::from(graph.buffers[product.w.buffer].elements());
        size.weights += weights;
        size.thirds += weights * u128::from((width + 1).max(3));
    }
    size
}

impl Outline {
    /// Follows the selected nodes. `wanted` are the buffers of `--output-buffer`.
    ///
    /// # Errors
    /// What the selected nodes cannot do, sizes that do not match, names that are not written.
    pub fn new(
        graph: &Graph,
        selection: &Selection,
        wanted: &[String],
        quant: &QuantFile,
    ) -> Result<Outline, Diagnostics> {
        let mut maker = Maker::new(graph, quant);
        let mut problems = Vec::new();
        for node in graph.nodes.iter().filter(|node| node.runs && selection.holds(node)) {
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
            let message = "nothing is selected: no node of the selection runs";
            return Err(Diagnostic::error("E2003", Place::Path("nodes".into()), message)
                .with_help("info lists the nodes with their layers and conditions; see --nodes")
                .into());
        }
        maker.outputs(wanted)?;
        let outline = maker.outline;
        for (slots, what) in [(&outline.inputs, "inputs"), (&outline.outputs, "outputs")] {
            let total: u128 = slots.iter().map(|&slot| u128::from(outline.slots[slot].elements)).sum();
            if total > u128::from(MAX_PORT) {
                let message = format!("the {what} have {total} elements; a port has at most {MAX_PORT}");
                return Err(Diagnostic::error("E2007", Place::Path("nodes".into()), message).into());
            }
        }
        Ok(outline)
    }

    /// Refuses what would need more adders than that.
    ///
    /// # Errors
    /// The figures and the largest node.
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
                "{weights} weights would need some {all} adders, and the limit is {max_adders}; the largest node is {} with {} weights and {most} adders",
                graph.nodes[node].title(),
                size.weights
            );
            return refused(node, message);
        }
        for call in &self.calls {
            let node = &graph.nodes[call.node];
            for product in products(&node.kind) {
                let (name, n) = (&graph.buffers[product.w.buffer].name, graph.buffers[product.w.buffer].elements());
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

struct Maker<'a> {
    graph: &'a Graph,
    quant: &'a QuantFile,
    outline: Outline,
    /// The last value of each instance.
    current: HashMap<Instance, usize>,
    /// Instances in the order of their first writing.
    written: Vec<Instance>,
    /// Of each instance that was written: when last, and whether it was read since.
    state: HashMap<Instance, (usize, bool)>,
}

impl<'a> Maker<'a> {
    fn new(graph: &'a Graph, quant: &'a QuantFile) -> Maker<'a> {
        let outline = Outline::default();
        Maker { graph, quant, outline, current: HashMap::new(), written: Vec::new(), state: HashMap::new() }
    }

    fn call(&mut self, node: &Node) -> Result<(), Diagnostic> {
        match &node.kind {
            Kind::Unsupported(why) => {
                return Err(at_node(node, format!("this cannot be combinational logic: {why}"))
                    .with_help("cut it out with --nodes, which selects the nodes that become hardware"));
            }
            Kind::Faulty(message) => return Err(at_node(node, &**message)),
            _ => {}
        }
        for (k, (arg, buffer)) in node.bindings.iter().enumerate() {
            let buffer = &self.graph.buffers[*buffer];
            let bias = buffer.role == Role::Weight && is_bias(arg);
            if !buffer.present && !bias {
                let place = Place::Path(format!("{}.bindings[{k}].buffer", node.place()));
                let message =
                    format!("the condition of {:?} does not hold, but {} needs it", buffer.name, node.title());
                return Err(Diagnostic::error("E2006", place, message));
            }
        }
        self.check_sizes(node)?;
        let (reads, writes) = arguments(&node.kind);
        let reads = reads.into_iter().map(|arg| self.read(node, arg)).collect::<Result<Vec<_>, _>>()?;
        let writes = writes.into_iter().map(|arg| self.write(node, arg)).collect();
        let size = size_of(self.graph, node, self.quant);
        self.outline.size.weights += size.weights;
        self.outline.size.thirds += size.thirds;
        if size.weights > 0 && self.outline.largest.is_none_or(|(_, largest)| size.thirds > largest.thirds) {
            self.outline.largest = Some((node.index, size));
        }
        self.outline.calls.push(Call { node: node.index, reads, writes });
        Ok(())
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
                    // Leading axes make the outputs, the others the inputs.
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
                if !matches!(shape[..], [heads, embed, head] if embed == rows && heads.checked_mul(head) == Some(columns))
                {
                    let message = format!(
                        "{:?} of shape {shape:?} is not [heads][embed][head_dim] between {:?} of {columns} elements and {:?} of {rows}",
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
                if self.quant.node(node).rstd.is_none() {
                    return Err(at_node(node, "this divides by a root of its inputs").with_help(
                        "give a constant rstd in the quantisation file, under nodes, or cut it out with --nodes",
                    ));
                }
                same(*x, *gamma)?;
                same(*x, *y)?;
                beta.map_or(Ok(()), |b| same(b, *y))
            }
            Kind::Unsupported(_) | Kind::Faulty(_) => Ok(()),
        }
    }

    fn setting(&self, (layer, root): Instance) -> Setting {
        self.quant.buffer(layer, &self.graph.buffers[root].name, Purpose::Activation)
    }

    fn read(&mut self, node: &Node, arg: Arg) -> Result<usize, Diagnostic> {
        let instance = instance(self.graph, node.layer, arg.buffer);
        let elements = self.elements(arg);
        let source = self.source(instance, elements)?;
        if let Some((_, read)) = self.state.get_mut(&source) {
            *read = true;
        }
        if let Some(&slot) = self.current.get(&source) {
            // An alias may have another shape, but not another size: that was checked when it was read.
            return Ok(slot);
        }
        let setting = self.setting(instance);
        let name = title(self.graph, instance);
        if setting.quantiser().is_none() {
            let place = Place::Path(format!("buffer {}", self.graph.buffers[instance.1].name));
            let message = format!("{name} is an input of the hardware and has no type");
            return Err(Diagnostic::error("E2004", place, message)
                .with_help("give it a type in the quantisation file, under buffers or default.activation"));
        }
        self.outline.slots.push(Slot { instance, elements, setting });
        let slot = self.outline.slots.len() - 1;
        self.outline.inputs.push(slot);
        self.current.insert(instance, slot);
        Ok(slot)
    }

    /// The instance that is read: a layer's `input` may be the `output` of the layer before.
    fn source(&self, instance: Instance, elements: u64) -> Result<Instance, Diagnostic> {
        let (layer, root) = instance;
        let buffer = &self.graph.buffers[root];
        if buffer.name != "input" || !buffer.layered || self.current.contains_key(&instance) {
            return Ok(instance);
        }
        let Some(output) = self.graph.buffer("output").filter(|&b| self.graph.buffers[b].layered) else {
            return Ok(instance);
        };
        let before = (layer - 1, self.graph.buffers[output].root);
        if !self.state.contains_key(&before) {
            return Ok(instance);
        }
        let name = title(self.graph, instance);
        if self.quant.has_instance(layer, &buffer.name) {
            let place = Place::Path(format!("quant.buffers.{name}"));
            let message = format!("{name} is the value of {}, and has its type", title(self.graph, before));
            return Err(Diagnostic::error("E2004", place, message).with_help("give the type to that buffer"));
        }
        let made = self.graph.buffers[before.1].elements();
        if made != elements {
            let place = Place::Path(format!("buffer {name}"));
            let message =
                format!("{name} has {elements} elements, but {}, whose value it is, {made}", title(self.graph, before));
            return Err(Diagnostic::error("E2006", place, message));
        }
        Ok(before)
    }

    fn write(&mut self, node: &Node, arg: Arg) -> usize {
        let instance = instance(self.graph, node.layer, arg.buffer);
        let setting = self.setting(instance);
        self.outline.slots.push(Slot { instance, elements: self.elements(arg), setting });
        let slot = self.outline.slots.len() - 1;
        self.current.insert(instance, slot);
        if self.state.insert(instance, (slot, false)).is_none() {
            self.written.push(instance);
        }
        slot
    }

    fn outputs(&mut self, wanted: &[String]) -> Result<(), Diagnostic> {
        if wanted.is_empty() {
            // Slots count up, so that the order of slots is that of last writing.
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

fn is_bias(arg: &str) -> bool {
    matches!(arg, "b" | "bias" | "beta" | "b1" | "b2" | "bq" | "bk" | "bv" | "bo")
}

/// What a node reads and writes, in the order of its arguments.
pub fn arguments(kind: &Kind) -> (Vec<Arg>, Vec<Arg>) {
    match kind {
        Kind::Products(all) => (vec![all[0].x], all.iter().map(|p| p.y).collect()),
        Kind::HeadProduct(p) => (vec![p.x], vec![p.y]),
        Kind::BiasAdd { x, y, .. } | Kind::Relu { x, y } | Kind::Table { x, y, .. } | Kind::Swiglu { x, y } => {
            (vec![*x], vec![*y])
        }
        Kind::Norm { x, y, .. } => (vec![*x], vec![*y]),
        Kind::Add { a, b, y } => (vec![*a, *b], vec![*y]),
        Kind::Unsupported(_) | Kind::Faulty(_) => (Vec::new(), Vec::new()),
    }
}
