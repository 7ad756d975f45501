//! QONNX files: networks of ONNX operators with quantisers, in exact arithmetic. The contract is section 4 of
//! `docs/network.md`.
//!
//! - [`read`]: parser from bytes to a [`Network`]; every problem names its node, and files are untrusted.
//! - [`run`]: the reference evaluator, in exact rational numbers.
//! - [`lower`](lower::lower): lowering of the network to an ALIR program.
//! - [`front`]: types of the hardware's ports, and encoders from real numbers to raw values.
//! - `composite`: softmax, norms and Einsum as several steps.
//! - [`kernel`]: computation of a node, resolved to elements.

mod composite;
mod external;
pub mod front;
mod golden;
pub mod kernel;
pub mod lower;
mod meaning;
mod operators;
mod proto;
mod read;
pub mod tensor;
mod transcribe;

pub use golden::{run, run_codes};
pub use meaning::OnnxMeaning;
pub use proto::recognised;
pub use read::{MissingRecords, PortSummary, Structure, Summary, read, read_with, structure, summary};

use super::function::Function;
use alir_core::diag::{Diagnostic, Place};
use alir_core::num::Kif;
use kernel::Kernel;
use std::path::Path;
use tensor::Tensor;

/// Reason why a file, or an option for reading it, is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Place of the problem: `graph.input`, `node NAME (OP)`, `node INDEX (OP)`; empty for the file as a whole.
    pub place: String,
    /// Message, in one sentence.
    pub message: String,
    /// Suggested remedy, if there is one.
    pub help: Option<String>,
}

impl Refusal {
    /// Returns a refusal without a remedy.
    pub fn new(place: impl Into<String>, message: impl Into<String>) -> Refusal {
        Refusal { place: place.into(), message: message.into(), help: None }
    }

    /// Returns a refusal for a problem of the quantisation file; its place begins with `quant.`.
    fn from_quant(problem: Diagnostic) -> Refusal {
        let place = if let Place::Path(path) = problem.place { path } else { "quant".to_owned() };
        Refusal { place, message: problem.message, help: problem.help }
    }

    /// Returns `true` if the problem is in the quantisation file.
    pub fn is_of_quant(&self) -> bool {
        self.place.starts_with("quant.")
    }

    /// Returns the refusal with a remedy.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Refusal {
        self.help = Some(help.into());
        self
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.message)
    }
}

/// A checked network: all parts that its output needs, in the order of use, with every constant evaluated.
#[derive(Clone, Debug)]
pub struct Network {
    /// Input port.
    pub input: Port,
    /// Output port.
    pub output: Port,
    /// Operator that was removed after the output; `None` if none was removed.
    pub cut: Option<String>,
    /// All tensors.
    pub tensors: Vec<Value>,
    /// Steps in order, each after the steps whose results it reads.
    pub steps: Vec<Step>,
    /// Size of the matrices.
    pub size: Size,
}

/// Input or output port of a network.
#[derive(Clone, Debug)]
pub struct Port {
    /// Name in the file.
    pub name: String,
    /// Index of the port's tensor.
    pub tensor: usize,
    /// Shape; the batch size is 1.
    pub shape: Vec<usize>,
}

impl Port {
    /// Returns the number of elements.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }
}

/// A tensor of the network.
#[derive(Clone, Debug)]
pub struct Value {
    /// Name in the file.
    pub name: String,
    /// Sizes of the axes.
    pub shape: Vec<usize>,
    /// Origin of the elements.
    pub source: ValueSource,
    /// Function whose arguments are the elements: the quantiser that follows applies the function.
    pub pending: Option<Function>,
    /// Record of the quantisation file that defines the type of the elements.
    pub record: Option<RecordType>,
    /// Index of the last step that reads the tensor.
    last_use: Option<usize>,
}

/// The type of an intermediate value in the quantisation file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordType {
    /// Place of the record: `nodes.Softmax.difference`.
    pub place: String,
    /// Type of the intermediate value.
    pub kif: Kif,
}

/// Origin of a tensor's elements, see [`Value::source`].
#[derive(Clone, Debug)]
pub enum ValueSource {
    /// Elements that do not depend on the input.
    Constant(Tensor),
    /// Elements of the input, or of the result of a step.
    Computed,
}

/// A node of the file that is computed for every sample.
#[derive(Clone, Debug)]
pub struct Step {
    /// Place of the node: `node NAME (OP)` or `node INDEX (OP)`.
    pub place: String,
    /// Name of the operator.
    pub operator: String,
    /// Operation of the node.
    pub kernel: Kernel,
    /// Indices of the tensors that the step reads.
    pub inputs: Vec<usize>,
    /// Index of the tensor that the step computes.
    pub output: usize,
}

impl Network {
    /// Returns the last step that reads a tensor; `None` for the output.
    fn last_use(&self, tensor: usize) -> Option<usize> {
        (tensor != self.output.tensor).then_some(self.tensors[tensor].last_use).flatten()
    }

    /// Returns the value of a tensor if it is constant.
    pub fn constant(&self, tensor: usize) -> Option<&Tensor> {
        match &self.tensors[tensor].source {
            ValueSource::Constant(value) => Some(value),
            ValueSource::Computed => None,
        }
    }
}

/// Size of a network's matrices, checked before any weight is read.
#[derive(Clone, Debug, Default)]
pub struct Size {
    /// Matrices with products of weights: place, number of products (`in * out * positions`), width of a weight in
    /// bits.
    pub matrices: Vec<(String, u64, u32)>,
}

impl Size {
    /// Returns the number of weights; a weight is counted each time it is used.
    pub fn weights(&self) -> u64 {
        self.matrices.iter().fold(0, |sum, (_, weights, _)| sum.saturating_add(*weights))
    }

    /// Returns the expected number of adders, rounded to the nearest integer.
    /// A weight of `B` bits needs `max(1, (B + 1) / 3)` adders.
    pub fn adders(&self) -> u64 {
        let thirds: u128 = self.matrices.iter().map(|(_, weights, bits)| expected_thirds(*weights, *bits)).sum();
        // A multiple of 1/3 is never halfway between two integers.
        u64::try_from((thirds + 1) / 3).unwrap_or(u64::MAX)
    }

    /// Returns the matrix with the most expected adders.
    pub fn largest(&self) -> Option<&(String, u64, u32)> {
        self.matrices.iter().max_by_key(|(_, weights, bits)| expected_thirds(*weights, *bits))
    }
}

fn expected_thirds(weights: u64, bits: u32) -> u128 {
    u128::from(weights) * u128::from((bits + 1).max(3))
}

/// Options for reading a file.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Maximum number of expected adders.
    pub max_adders: u64,
    /// Folder of the file, which may contain external data of initialisers; `None` if the bytes are not from a file.
    pub folder: Option<&'a Path>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { max_adders: 2_000_000, folder: None }
    }
}

#[cfg(test)]
mod tests;
