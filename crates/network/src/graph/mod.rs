//! IR v2 graphs: JSON files of buffers and nodes (section 2 of `docs/network.md`).
//!
//! - [`read`]: the file to a checked [`Graph`]: dimensions, sizes, aliases, conditions, what each node is.
//! - [`select`]: which nodes run ([`Selection`]).
//! - [`quant`]: the quantisation file ([`quant::QuantFile`]).
//! - [`outline`]: what comes in, what goes out, how large it would be.
//! - [`bind`]: graph, selection, quantisation and weights to a [`BoundNetwork`] in single-assignment form; sizes first.
//! - [`calibrate`]: types from samples.
//! - [`golden`]: what a [`BoundNetwork`] means, line by line in exact rational numbers.
//! - [`layout`]: places of elements in buffers with a tokens axis.
//! - [`lower`]: the program as ALIR.
//! - [`transcribe`]: the program as ALIR once more, plainly and by other means, for proofs.

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

/// Nodes or buffers of a graph at most.
pub const MAX_RECORDS: usize = 65_536;

/// Axes of a buffer at most.
pub const MAX_AXES: usize = 32;

/// Elements of a port at most.
pub const MAX_PORT: u64 = 1 << 20;

/// Weights of one tensor at most.
pub const MAX_WEIGHTS: u64 = 1 << 24;

use crate::json::{self, Value};
use alir_core::diag::{Diagnostic, Diagnostics, Place};
use bind::WeightMap;
use golden::Golden;
use outline::Outline;
use quant::QuantFile;
use std::path::{Path, PathBuf};

/// Bytes of a graph, a quantisation file or a weight map at most.
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
    /// Which nodes run.
    pub nodes: Option<String>,
    /// Which buffers are outputs.
    pub output_buffers: Vec<String>,
    /// Expected adders at most.
    pub max_adders: u64,
    /// Number of tokens.
    pub tokens: u64,
    /// Position of the first token.
    pub position_offset: u64,
}

/// Tokens at most.
pub const MAX_TOKENS: u64 = 4096;

/// Position of the first token at most.
pub const MAX_OFFSET: u64 = 1 << 24;

impl Options {
    /// Returns the selected nodes; all without `nodes`.
    ///
    /// # Errors
    /// Returns an error if its syntax is invalid.
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

/// A graph with its quantisation and the part of it that is selected: everything but weights.
pub struct Structure {
    /// The graph.
    pub graph: Graph,
    /// Its quantisation.
    pub quant: QuantFile,
    /// The selected part.
    pub outline: Outline,
}

impl Structure {
    /// Checks a graph's bytes with its options; `file` is the graph's name. The size is not checked.
    ///
    /// # Errors
    /// What is wrong with the graph, the quantisation file, the selection.
    pub fn read(bytes: &[u8], file: &str, options: &Options) -> Result<Structure, Diagnostics> {
        let (graph, quant) = Structure::read_graph(bytes, file, options)?;
        Structure::new(graph, quant, options)
    }

    /// Checks a graph without a quantisation file: everything but types.
    ///
    /// # Errors
    /// What is wrong with the graph or the selection.
    pub fn read_untyped(bytes: &[u8], file: &str, options: &Options) -> Result<Structure, Diagnostics> {
        let (graph, mut quant) = Structure::read_graph(bytes, file, options)?;
        quant.set_floating();
        let mut structure = Structure::new(graph, quant, options)?;
        // The types of no meaning have no part in the size.
        structure.quant = QuantFile::default();
        structure.outline.measure(&structure.graph, &structure.quant);
        Ok(structure)
    }

    /// A graph with a type of no meaning for everything, and its weights: what is left of it is the floating-point
    /// network. Of a quantisation file the settings of nodes are taken, which are returned too.
    ///
    /// # Errors
    /// What is wrong with the files, as by [`Structure::read`] and [`Structure::bind`].
    pub fn floating(
        bytes: &[u8],
        file: &str,
        options: &Options,
    ) -> Result<(Structure, Golden, Option<Value>), Diagnostics> {
        let (graph, mut quant) = Structure::read_graph(bytes, file, options)?;
        let mut nodes = None;
        if let Some(path) = &options.quant {
            // It was read, and is sound.
            nodes = json::parse(&read_file(path)?, quant::MAX_VALUES).ok().and_then(|all| all.get("nodes").cloned());
        }
        quant.set_floating();
        let structure = Structure::new(graph, quant, options)?;
        let golden = structure.bind(options)?;
        Ok((structure, golden, nodes))
    }

    /// The graph and its quantisation with the selected nodes only, whatever is supported.
    ///
    /// # Errors
    /// What is wrong with the graph, the quantisation file or the selection; no node is selected.
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

    /// The graph and its quantisation alone, whatever is supported.
    ///
    /// # Errors
    /// What is wrong with the graph or the quantisation file.
    pub fn read_graph(bytes: &[u8], file: &str, options: &Options) -> Result<(Graph, QuantFile), Diagnostics> {
        let mut window = Window { tokens: options.tokens, offset: options.position_offset, has_positions: false };
        // The weights matter to the structure by one condition only: without it they are opened after the size is
        // checked.
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

    /// Warnings about conditions that cannot be evaluated, and about axes in another order.
    pub fn warnings(&self) -> Diagnostics {
        let mut all = self.graph.warnings();
        all.0.extend(self.outline.warnings.iter().cloned());
        all
    }

    /// Reads the weights: the network as a whole. The size is checked before.
    ///
    /// # Errors
    /// A size beyond the limit; what is wrong with the weights.
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

/// The bytes of a file of moderate size.
///
/// # Errors
/// If it cannot be read or is too large.
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
