//! Detection, reading and options of networks, which are lowered to programs.
//!
//! A new front end needs a variant of [`Kind`] (detection of its files) and an arm in [`SourceArgs::read`], which
//! returns the lowered program and its [`ReferenceSemantics`]. All sub-commands use the program; `run`, `verify` and
//! `prove` also check it against the reference semantics.

use super::paths::listed;
use super::{Failure, Global, report, say};
use crate::cmvm;
use crate::diag::{Diagnostic, Place};
use crate::ir::{Layers, Model};
use crate::network::graph::golden::Golden;
use crate::network::graph::quant::QuantFile;
use crate::network::graph::{self, Structure, lower};
use crate::network::json::Value;
use crate::network::onnx;
use crate::network::port::ReferenceSemantics;
use crate::network::quantise::Quantiser;
use crate::options::{OptionFault, OptionValue, invalid, path, paths, text, texts, unsigned, within};
use std::path::{Path, PathBuf};

/// Options about networks.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Networks and matrices")]
pub(super) struct SourceArgs {
    /// Read weights from safetensors, npz or npy files, or folders
    #[arg(long, value_name = "FILE")]
    weights: Vec<PathBuf>,
    /// Read types, rounding and constants of norms from this file
    #[arg(long, value_name = "FILE")]
    quant: Option<PathBuf>,
    /// Read names of tensors for buffers from this JSON file
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    weight_map: Option<PathBuf>,
    /// Select nodes: "layer=1,op=mlp_*;layer=0-2,op=swiglu,nth=1"
    #[arg(long, value_name = "SELECTION", hide_short_help = true)]
    nodes: Option<String>,
    /// Make these buffers outputs: NAME or LAYER:NAME
    #[arg(long, value_name = "NAME", value_delimiter = ',', hide_short_help = true)]
    output_buffer: Vec<String>,
    /// Take this number of tokens of an IR v2 graph [default: 1]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u64).range(1..=graph::MAX_TOKENS))]
    tokens: Option<u64>,
    /// Start at this position of an IR v2 graph, for rotary and position embeddings [default: 0]
    #[arg(long, value_name = "P", hide_short_help = true,
        value_parser = clap::value_parser!(u64).range(0..=graph::MAX_OFFSET))]
    position_offset: Option<u64>,
    /// Give inputs of a matrix or QONNX file this type: s16.10,RND,SAT
    #[arg(long, value_name = "TYPE", value_parser = Quantiser::parse)]
    input_type: Option<Quantiser>,
    /// Refuse networks with more expected adders
    #[arg(long, value_name = "N", default_value_t = SourceArgs::default().max_adders, hide_short_help = true)]
    max_adders: u64,
    /// Refuse tables with more input bits
    #[arg(long, value_name = "N", default_value_t = SourceArgs::default().max_table_bits, hide_short_help = true,
        value_parser = clap::value_parser!(u32).range(1..=24))]
    max_table_bits: u32,
}

impl Default for SourceArgs {
    fn default() -> SourceArgs {
        SourceArgs {
            weights: Vec::new(),
            quant: None,
            weight_map: None,
            nodes: None,
            output_buffer: Vec::new(),
            tokens: None,
            position_offset: None,
            input_type: None,
            max_adders: graph::Options::default().max_adders,
            max_table_bits: 16,
        }
    }
}

/// Format of a file whose contents are lowered to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An IR v2 graph.
    Graph,
    /// An ONNX file.
    Onnx,
}

/// Reference semantics and format of a network that was read.
pub(super) struct ReadNetwork {
    /// Reference semantics of the source.
    pub(super) meaning: Box<dyn ReferenceSemantics>,
    /// Format of the file for messages.
    pub(super) form: String,
}

impl Kind {
    /// Returns the format of a file by its contents; if these are inconclusive, a name that ends in `.onnx` decides.
    pub(super) fn detect_file(head: &[u8], path: &Path) -> Option<Kind> {
        let named = || path.extension().is_some_and(|e| e.eq_ignore_ascii_case("onnx")).then_some(Kind::Onnx);
        Kind::detect(head).or_else(named)
    }

    /// Returns the format that the first bytes of a file indicate; `None` for a program.
    pub(super) fn detect(head: &[u8]) -> Option<Kind> {
        let first = head.iter().find(|b| !b" \t\r\n".contains(b) && !b"\xef\xbb\xbf".contains(b));
        if first == Some(&b'{') && shows_graph(head) {
            return Some(Kind::Graph);
        }
        onnx::recognised(head).then_some(Kind::Onnx)
    }
}

/// Returns `true` if a top-level key of the JSON object occurs in graphs and not in programs.
fn shows_graph(text: &[u8]) -> bool {
    let (mut depth, mut at) = (0u32, 0);
    while at < text.len() {
        match text[at] {
            b'"' => {
                let start = at + 1;
                at = start;
                while at < text.len() && text[at] != b'"' {
                    at += if text[at] == b'\\' { 2 } else { 1 };
                }
                let word = text.get(start..at.min(text.len())).unwrap_or_default();
                let follows = text.get(at + 1..).unwrap_or_default().iter().find(|b| !b" \t\r\n".contains(b));
                if depth == 1 && follows == Some(&b':') {
                    match word {
                        b"version" | b"notes" | b"config" | b"dimensions" | b"buffers" | b"nodes" => return true,
                        b"spec_version" | b"model" => return false,
                        _ => {}
                    }
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    false
}

impl SourceArgs {
    /// Sets an option by its name.
    ///
    /// # Errors
    /// If the option does not exist, or if the value is invalid.
    pub(super) fn set(&mut self, name: &str, value: &OptionValue) -> Result<(), OptionFault> {
        let at_most = |most: u64| match unsigned(value) {
            Ok(number) if number <= most => Ok(number),
            _ => Err(format!("a number up to {most}")),
        };
        let result = match name {
            "weights" => paths(value).map(|files| self.weights = files),
            "quant" => path(value).map(|file| self.quant = Some(file)),
            "weight_map" => path(value).map(|file| self.weight_map = Some(file)),
            "nodes" => text(value).map(|selection| self.nodes = Some(selection)),
            "output_buffer" => texts(value).map(|names| self.output_buffer = names),
            "tokens" => match at_most(graph::MAX_TOKENS) {
                Ok(0) => Err("a number of tokens from 1 up".to_owned()),
                number => number.map(|number| self.tokens = Some(number)),
            },
            "position_offset" => at_most(graph::MAX_OFFSET).map(|number| self.position_offset = Some(number)),
            "input_type" => {
                text(value).and_then(|name| Quantiser::parse(&name)).map(|quantiser| self.input_type = Some(quantiser))
            }
            "max_adders" => unsigned(value).map(|number| self.max_adders = number),
            "max_table_bits" => within(value, 1..=24).map(|bits| self.max_table_bits = bits),
            _ => return Err(OptionFault::Unknown(None)),
        };
        result.map_err(|expected| invalid(name, value, expected))
    }

    fn graph_options(&self) -> graph::Options {
        graph::Options {
            weights: self.weights.iter().flat_map(|path| listed(path, Path::exists)).collect(),
            quant: self.quant.clone(),
            weight_map: self.weight_map.clone(),
            nodes: self.nodes.clone(),
            output_buffers: self.output_buffer.clone(),
            max_adders: self.max_adders,
            tokens: self.tokens.unwrap_or(1),
            position_offset: self.position_offset.unwrap_or(0),
        }
    }

    /// Returns `true` if weights are given. Without weights only the structure is available.
    pub(super) fn has_weights(&self) -> bool {
        !self.weights.is_empty()
    }

    /// Reads the structure of a graph and the selected nodes, without weights.
    ///
    /// # Errors
    /// Problems in the graph (exit code 2).
    pub(super) fn structure(&self, bytes: &[u8], file: &str) -> Result<Structure, Failure> {
        Structure::read(bytes, file, &self.graph_options()).map_err(|e| Failure::input(e.in_file(file.as_ref())))
    }

    /// Reads the structure of a graph for which no weights are given. Types are ignored without a quantisation file.
    ///
    /// # Errors
    /// Problems in the graph (exit code 2).
    pub(super) fn structure_without_weights(&self, bytes: &[u8], file: &str) -> Result<Structure, Failure> {
        if self.has_quant() {
            return self.structure(bytes, file);
        }
        let structure = Structure::read_untyped(bytes, file, &self.graph_options());
        structure.map_err(|e| Failure::input(e.in_file(file.as_ref())))
    }

    /// Returns `true` if a quantisation file is given.
    pub(super) fn has_quant(&self) -> bool {
        self.quant.is_some()
    }

    /// Reads a graph with its weights for calibration, which ignores the types of the graph. Also returns the settings
    /// of nodes in the quantisation file, which calibration keeps.
    ///
    /// # Errors
    /// Problems in the graph (exit code 2).
    pub(super) fn floating(&self, bytes: &[u8], file: &str) -> Result<(Structure, Golden, Option<Value>), Failure> {
        Structure::floating(bytes, file, &self.graph_options()).map_err(Failure::input)
    }

    /// Reads the whole graph of a file with its quantisation, without weights; the selection of nodes is ignored.
    ///
    /// # Errors
    /// Problems in the graph (exit code 2).
    pub(super) fn graph(&self, bytes: &[u8], file: &str) -> Result<(graph::Graph, graph::quant::QuantFile), Failure> {
        Structure::read_selected(bytes, file, &self.graph_options())
            .map_err(|e| Failure::input(e.in_file(file.as_ref())))
    }

    /// Reads the records for a QONNX network in the quantisation file; empty without such a file.
    ///
    /// # Errors
    /// The problem in the file (exit code 2).
    fn records(&self) -> Result<QuantFile, Failure> {
        let Some(path) = &self.quant else { return Ok(QuantFile::default()) };
        let bytes = graph::read_file(path).map_err(Failure::input)?;
        QuantFile::read_records(&bytes).map_err(|e| Failure::input(e.in_file(path)))
    }

    /// Returns the structure of a QONNX file if records of intermediate values are missing or incomplete; otherwise
    /// `None`.
    ///
    /// # Errors
    /// The problem in the quantisation file (exit code 2).
    pub(super) fn incomplete_onnx(&self, bytes: &[u8], file: &str) -> Result<Option<onnx::Structure>, Failure> {
        Ok(super::onnx::incomplete(bytes, file, self.max_adders, &self.records()?))
    }

    /// Reads a network. Returns the lowered program, whose matrices are solved with the `cmvm` options, its layers, and
    /// the reference semantics.
    ///
    /// # Errors
    /// Problems in the network (exit code 2).
    pub(super) fn read(
        &self,
        kind: Kind,
        bytes: &[u8],
        file: &str,
        cmvm: cmvm::Options,
        global: Global,
    ) -> Result<(Model, Layers, ReadNetwork), Failure> {
        match kind {
            Kind::Onnx => {
                self.refuse_token_options()?;
                let options = super::onnx::Options {
                    quant_file: self.quant.as_deref(),
                    input_type: self.input_type,
                    max_adders: self.max_adders,
                    max_table_bits: self.max_table_bits,
                    cmvm,
                };
                let quant = self.records()?;
                super::onnx::read(bytes, file, &options, &quant, global)
            }
            Kind::Graph => {
                let structure = self.structure(bytes, file)?;
                let size = structure.outline.size;
                if global.verbose {
                    say(&format!("{} weights, some {} adders expected", size.weights, size.adders()), global);
                }
                report(&structure.warnings().in_file(file.as_ref()), global);
                let golden = structure.bind(&self.graph_options()).map_err(Failure::input)?;
                let limits = lower::Limits { max_table_bits: self.max_table_bits, cmvm, ..lower::Limits::default() };
                let (model, layers) = lower::with_layers(golden.program(), &limits).map_err(Failure::input)?;
                let form = format!("IR v2 graph, {} weights", size.weights);
                Ok((model, layers, ReadNetwork { meaning: Box::new(golden), form }))
            }
        }
    }

    /// Returns the type of the inputs, if it is given.
    pub(super) fn input_type(&self) -> Option<Quantiser> {
        self.input_type
    }

    /// Returns the maximum number of expected adders.
    pub(super) fn max_adders(&self) -> u64 {
        self.max_adders
    }

    /// Returns the options for tokens, each with `true` if it was given.
    fn token_options(&self) -> [(&'static str, bool); 2] {
        [("--tokens", self.tokens.is_some()), ("--position-offset", self.position_offset.is_some())]
    }

    /// Returns an error if options for tokens are given for a QONNX network.
    ///
    /// # Errors
    /// The first option that was given (exit code 2).
    pub(super) fn refuse_token_options(&self) -> Result<(), Failure> {
        let Some((flag, _)) = self.token_options().into_iter().find(|(_, given)| *given) else { return Ok(()) };
        let message = format!("{flag} is about IR v2 graphs, and this file is a QONNX network");
        Err(Failure::input(Diagnostic::error("E0811", Place::Flag(flag.into()), message)))
    }

    /// Returns an error if options for networks are given for a program.
    ///
    /// # Errors
    /// The first option that was given (exit code 2).
    pub(super) fn refuse(&self) -> Result<(), Failure> {
        self.refuse_graph_options("a program")?;
        match self.input_type {
            Some(_) => Err(unused("--input-type", "a program")),
            None => Ok(()),
        }
    }

    /// Returns an error if options that only networks support are given for a file that contains `what`.
    ///
    /// # Errors
    /// The first option that was given (exit code 2).
    pub(super) fn refuse_graph_options(&self, what: &str) -> Result<(), Failure> {
        let given = [
            ("--weights", self.has_weights()),
            ("--quant", self.quant.is_some()),
            ("--weight-map", self.weight_map.is_some()),
            ("--nodes", self.nodes.is_some()),
            ("--output-buffer", !self.output_buffer.is_empty()),
        ];
        let given = given.into_iter().chain(self.token_options()).find(|(_, given)| *given);
        let Some((flag, _)) = given else { return Ok(()) };
        Err(unused(flag, what))
    }
}

/// Builds the error for an option that has no effect on files of this kind.
fn unused(flag: &'static str, what: &str) -> Failure {
    let message = format!("{flag} is about networks, and this file holds {what}");
    Failure::input(Diagnostic::error("E0811", Place::Flag(flag.into()), message))
}

/// Returns the name of a source for messages.
pub(super) fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_are_known_by_their_keys() {
        for text in [
            "{\"version\": 2, \"notes\": []",
            "\n {\"meta\": {\"model\": 1, \"spec_version\": 3}, \"dimensions\": []",
            "\u{feff}{\"nodes\":",
            "{\"note \\\" {\": 1, \"config\" : {",
        ] {
            assert_eq!(Kind::detect(text.as_bytes()), Some(Kind::Graph), "{text}");
        }
        for text in [
            "{\"meta\": \"ALIRModel\", \"spec_version\": 4, \"model\": []}",
            "[1, 2]",
            "",
            "{\"x\": \"version\"}",
            "{\"x\": {\"version\": 2}}",
            "{\"a\\",
        ] {
            assert_eq!(Kind::detect(text.as_bytes()), None, "{text}");
        }
    }
}
