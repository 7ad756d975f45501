//! QONNX files: networks of ONNX operators with quantisers, in exact arithmetic. The contract is section 4 of
//! `docs/network.md`.
//!
//! - [`read`]: bytes to a [`Network`], every problem with its node; nothing of a file is trusted.
//! - [`run`]: the golden evaluator, in rational numbers.
//! - [`lower`](lower::lower): the network as an ALIR program.
//! - [`front`]: what the hardware's ports carry, and how a real number becomes a code.
//! - `composite`: softmax, norms and Einsum as several steps.
//! - [`kernel`]: what a node computes, resolved to elements.

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

/// Problem of a file, or of the request about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Where: `graph.input`, `node NAME (OP)`, `node INDEX (OP)`; empty for the file as a whole.
    pub place: String,
    /// Message, in one sentence.
    pub message: String,
    /// Suggested remedy, if there is one.
    pub help: Option<String>,
}

impl Refusal {
    /// A refusal without a remedy.
    pub fn new(place: impl Into<String>, message: impl Into<String>) -> Refusal {
        Refusal { place: place.into(), message: message.into(), help: None }
    }

    /// A problem of the quantisation file; its place begins with `quant.`.
    fn from_quant(problem: Diagnostic) -> Refusal {
        let place = if let Place::Path(path) = problem.place { path } else { "quant".to_owned() };
        Refusal { place, message: problem.message, help: problem.help }
    }

    /// Returns `true` if the problem is one of the quantisation file.
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

/// A checked network: all that its output needs, in the order of use, with every constant evaluated.
#[derive(Clone, Debug)]
pub struct Network {
    /// Input port.
    pub input: Port,
    /// Output port.
    pub output: Port,
    /// The operator that was removed after the output, if there was one.
    pub cut: Option<String>,
    /// All values.
    pub tensors: Vec<Value>,
    /// The computations, each after those it reads.
    pub steps: Vec<Step>,
    /// Size of the matrices.
    pub size: Size,
}

/// An end of a network.
#[derive(Clone, Debug)]
pub struct Port {
    /// Its name in the file.
    pub name: String,
    /// Index of its value.
    pub tensor: usize,
    /// Its shape, the batch being 1.
    pub shape: Vec<usize>,
}

impl Port {
    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }
}

/// A tensor of the network.
#[derive(Clone, Debug)]
pub struct Value {
    /// Its name in the file.
    pub name: String,
    /// Sizes of its axes.
    pub shape: Vec<usize>,
    /// Where its elements come from.
    pub source: ValueSource,
    /// The elements are arguments of this function: the quantiser after it applies it.
    pub pending: Option<Function>,
    /// Record of the quantisation file that types these arguments.
    pub record: Option<RecordType>,
    /// The last step that reads it.
    last_use: Option<usize>,
}

/// The type of an intermediate value in the quantisation file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordType {
    /// Place of the record: `nodes.Softmax.difference`.
    pub place: String,
    /// Its type.
    pub kif: Kif,
}

/// See [`Value::source`].
#[derive(Clone, Debug)]
pub enum ValueSource {
    /// Known before.
    Constant(Tensor),
    /// The input or the result of a step.
    Computed,
}

/// A node of the file that computes something for every sample.
#[derive(Clone, Debug)]
pub struct Step {
    /// `node NAME (OP)` or `node INDEX (OP)`.
    pub place: String,
    /// The operator's name.
    pub operator: String,
    /// Operation of the node.
    pub kernel: Kernel,
    /// Tensors that it reads.
    pub inputs: Vec<usize>,
    /// The tensor that it makes.
    pub output: usize,
}

impl Network {
    /// The last step that reads a tensor, the output's apart.
    fn last_use(&self, tensor: usize) -> Option<usize> {
        (tensor != self.output.tensor).then_some(self.tensors[tensor].last_use).flatten()
    }

    /// A tensor's value, if it is constant.
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
    /// Matrices with products of weights: place, `in * out * positions`, bits of a weight.
    pub matrices: Vec<(String, u64, u32)>,
}

impl Size {
    /// Weights, each as often as it is used.
    pub fn weights(&self) -> u64 {
        self.matrices.iter().fold(0, |sum, (_, weights, _)| sum.saturating_add(*weights))
    }

    /// Expected adders: a weight of `B` bits takes `max(1, (B + 1) / 3)`; to the nearest whole number, halves to even.
    pub fn adders(&self) -> u64 {
        let thirds: u128 = self.matrices.iter().map(|(_, weights, bits)| expected_thirds(*weights, *bits)).sum();
        // Thirds have no halves.
        u64::try_from((thirds + 1) / 3).unwrap_or(u64::MAX)
    }

    /// The matrix with the most expected adders.
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
    /// Expected adders at most.
    pub max_adders: u64,
    /// Folder of the file, in which data of initialisers may lie; `None` if the bytes are not those of a file.
    pub folder: Option<&'a Path>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { max_adders: 2_000_000, folder: None }
    }
}

#[cfg(test)]
mod tests;
