//! IR v2 graphs: JSON files of buffers and nodes (section 2 of `docs/network.md`).
//!
//! - [`read`]: parser from the file to a checked [`Graph`]: dimensions, sizes, aliases, conditions, kinds of nodes.
//! - [`select`]: selection of the nodes that run ([`Selection`]).
//! - [`quant`]: the quantisation file ([`quant::QuantFile`]).
//! - [`outline`]: inputs, outputs and expected size of the hardware.
//! - [`bind`]: combines graph, selection, quantisation and weights to a [`BoundNetwork`] in single-assignment form;
//!   sizes are checked first.
//! - [`calibrate`]: derives types from samples.
//! - [`golden`]: reference semantics of a [`BoundNetwork`], line by line in exact rational numbers.
//! - [`layout`]: positions of elements in buffers with a tokens axis.
//! - [`lower`]: lowering of the network to ALIR.
//! - [`transcribe`]: independent, plain translation of the network to ALIR, as the specification in proofs.

pub mod bind;
pub mod calibrate;
pub mod golden;
pub mod layout;
pub mod lower;
pub mod outline;
pub mod quant;
mod read;
mod select;
pub mod transcribe;

pub use bind::BoundNetwork;
pub use read::{Arg, Buffer, Dimension, Graph, Kind, Node, Norm, Role, Window};
pub use select::Selection;

/// Maximum number of nodes, and of buffers, of a graph.
pub const MAX_RECORDS: usize = 65_536;

/// Maximum number of axes of a buffer.
pub const MAX_AXES: usize = 32;

/// Maximum number of elements of a port.
pub const MAX_PORT: u64 = 1 << 20;

/// Maximum number of weights of one tensor.
pub const MAX_WEIGHTS: u64 = 1 << 24;

use crate::json::{self, Value};
use alir_core::diag::{Diagnostic, Diagnostics, Place};
use bind::WeightMap;
use golden::Golden;
use outline::Outline;
use quant::QuantFile;
use std::path::{Path, PathBuf};

/// Maximum size of a graph, a quantisation file or a weight map in bytes.
const MAX_BYTES: u64 = 1 << 28;

/// Options for reading a graph, in addition to the file.
#[derive(Clone, Debug)]
pub struct Options {
    /// Files and folders of weights.
    pub weights: Vec<PathBuf>,
    /// The quantisation file.
    pub quant: Option<PathBuf>,
    /// Names of tensors.
    pub weight_map: Option<PathBuf>,
    /// Selection of the nodes that run; `None` for all nodes.
    pub nodes: Option<String>,
    /// Names of the buffers that are outputs.
    pub output_buffers: Vec<String>,
    /// Maximum number of expected adders.
    pub max_adders: u64,
    /// Number of tokens.
    pub tokens: u64,
    /// Position of the first token.
    pub position_offset: u64,
}

/// Maximum number of tokens.
pub const MAX_TOKENS: u64 = 4096;

/// Maximum position of the first token.
pub const MAX_OFFSET: u64 = 1 << 24;

impl Options {
    /// Returns the selected nodes; all nodes without the option `nodes`.
    ///
    /// # Errors
    /// Returns an error if the syntax of the option is invalid.
    fn selection(&self) -> Result<Selection, Diagnostic> {
        self.nodes.as_deref().map_or_else(|| Ok(Selection::default()), Selection::parse)
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            weights: Vec::new(),
            quant: None,
            weight_map: None,
            nodes: None,
            output_buffers: Vec::new(),
            max_adders: 2_000_000,
            tokens: 1,
            position_offset: 0,
        }
    }
}

/// A graph with its quantisation and its selected part: everything except weights.
pub struct Structure {
    /// The graph.
    pub graph: Graph,
    /// Quantisation of the graph.
    pub quant: QuantFile,
    /// Selected part of the graph.
    pub outline: Outline,
}

impl Structure {
    /// Checks a graph's bytes with its options; `file` is the graph's name. The size is not checked.
    ///
    /// # Errors
    /// If the graph, the quantisation file or the selection is invalid.
    pub fn read(bytes: &[u8], file: &str, options: &Options) -> Result<Structure, Diagnostics> {
        let (graph, quant) = Structure::read_graph(bytes, file, options)?;
        Structure::new(graph, quant, options)
    }

    /// Checks a graph without a quantisation file: everything except types.
    ///
    /// # Errors
    /// If the graph or the selection is invalid.
    pub fn read_untyped(bytes: &[u8], file: &str, options: &Options) -> Result<Structure, Diagnostics> {
        let (graph, mut quant) = Structure::read_graph(bytes, file, options)?;
        quant.set_floating();
        let mut structure = Structure::new(graph, quant, options)?;
        // The placeholder types must not affect the size.
        structure.quant = QuantFile::default();
        structure.outline.measure(&structure.graph, &structure.quant);
        Ok(structure)
    }

    /// Returns the floating-point network of a graph: every value has a placeholder type, and the weights are bound. Of
    /// the quantisation file only the settings of nodes are used; they are returned, too.
    ///
    /// # Errors
    /// As [`Structure::read`] and [`Structure::bind`].
    pub fn floating(
        bytes: &[u8],
        file: &str,
        options: &Options,
    ) -> Result<(Structure, Golden, Option<Value>), Diagnostics> {
        let (graph, mut quant) = Structure::read_graph(bytes, file, options)?;
        let mut nodes = None;
        if let Some(path) = &options.quant {
            // The file was parsed before, so it is valid.
            nodes = json::parse(&read_file(path)?, quant::MAX_VALUES).ok().and_then(|all| all.get("nodes").cloned());
        }
        quant.set_floating();
        let structure = Structure::new(graph, quant, options)?;
        let golden = structure.bind(options)?;
        Ok((structure, golden, nodes))
    }

    /// Returns the graph with only the selected nodes, and its quantisation; unsupported nodes are included.
    ///
    /// # Errors
    /// If the graph, the quantisation file or the selection is invalid, or if no node is selected.
    pub fn read_selected(bytes: &[u8], file: &str, options: &Options) -> Result<(Graph, QuantFile), Diagnostics> {
        let (mut graph, quant) = Structure::read_graph(bytes, file, options)?;
        let selection = options.selection()?;
        graph.nodes.retain(|node| selection.holds(node));
        if graph.nodes.is_empty() && options.nodes.is_some() {
            return Err(select::nothing_selected("no node of the graph is of this selection").into());
        }
        Ok((graph, quant))
    }

    fn new(graph: Graph, quant: QuantFile, options: &Options) -> Result<Structure, Diagnostics> {
        let selection = options.selection()?;
        let outline = Outline::new(&graph, &selection, &options.output_buffers, &quant)?;
        Ok(Structure { graph, quant, outline })
    }

    /// Returns the graph and its quantisation; unsupported nodes are included.
    ///
    /// # Errors
    /// If the graph or the quantisation file is invalid.
    pub fn read_graph(bytes: &[u8], file: &str, options: &Options) -> Result<(Graph, QuantFile), Diagnostics> {
        let mut window = Window { tokens: options.tokens, offset: options.position_offset, has_positions: false };
        // Only one condition of the structure depends on the weights. If no record has this condition, the weights are
        // opened after the size is checked.
        if !options.weights.is_empty() && bytes.windows(CONDITION.len()).any(|word| word == CONDITION) {
            let graph = Graph::read_window(bytes, file, window.clone())?;
            let weights = super::weights::Weights::open(&options.weights)?;
            window.has_positions = bind::has_positions(&weights, &weight_map(&graph, options)?);
        }
        let graph = Graph::read_window(bytes, file, window)?;
        let quant = match &options.quant {
            Some(path) => QuantFile::read(&read_file(path)?, &graph).map_err(|e| e.in_file(path))?,
            None => QuantFile::default(),
        };
        Ok((graph, quant))
    }

    /// Returns warnings about conditions that cannot be evaluated, and about axes in another order.
    pub fn warnings(&self) -> Diagnostics {
        let mut all = self.graph.warnings();
        all.0.extend(self.outline.warnings.iter().cloned());
        all
    }

    /// Reads the weights and returns the complete network. The size is checked before.
    ///
    /// # Errors
    /// If the size exceeds the limit, or if the weights are invalid.
    pub fn bind(&self, options: &Options) -> Result<Golden, Diagnostics> {
        self.outline.check_size(&self.graph, options.max_adders)?;
        let map = weight_map(&self.graph, options)?;
        let weights = super::weights::Weights::open(&options.weights)?;
        let program = BoundNetwork::new(&self.graph, &self.outline, &self.quant, &weights, &map)?;
        Ok(Golden::new(program))
    }
}

/// Condition that depends on the weights.
const CONDITION: &[u8] = b"has_pos_emb";

fn weight_map(graph: &Graph, options: &Options) -> Result<WeightMap, Diagnostic> {
    match &options.weight_map {
        Some(path) => bind::read_map(&read_file(path)?, graph).map_err(|e| e.in_file(path)),
        None => Ok(WeightMap::default()),
    }
}

/// Returns the content of a file of limited size.
///
/// # Errors
/// If the file cannot be read or is too large.
pub fn read_file(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    let wrong = |code, message: String| Diagnostic::error(code, Place::Whole, message).in_file(path);
    let failed = |e: std::io::Error| wrong("E0001", format!("cannot read: {e}"));
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    let read = std::io::Read::read_to_end(&mut std::io::Read::take(file, MAX_BYTES + 1), &mut bytes).map_err(failed)?;
    if read as u64 > MAX_BYTES {
        return Err(wrong("E2001", format!("more than {MAX_BYTES} bytes")));
    }
    Ok(bytes)
}
