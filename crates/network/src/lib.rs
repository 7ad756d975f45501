//! Networks: graphs and matrices of numbers that become ALIR programs. The contract is `docs/network.md`.
//!
//! What all front ends share:
//!
//! - [`exact`]: [`exact::Rational`], decimals as they are written, nearest doubles of rationals and of square roots.
//! - [`quantise`]: types and their texts, every rounding and overflow mode ([`quantise::Quantiser`]).
//! - [`deviation`]: how far quantised values lie from floating-point ones.
//! - [`function`]: sigmoid, tanh, silu, exp, gelu, decided correctly ([`function::Functions`]).
//! - [`reciprocal`]: `1/x` and `1/sqrt(x)` in exact integers, divisions by constants.
//! - [`rotation`]: cosines and sines of rotary embeddings, decided correctly.
//! - [`json`]: a reader that keeps decimals as they are written.
//! - `digits`: products with constants as sums of shifted values.
//! - [`solver`]: the matrices of a network under one limit of latency.
//! - [`weights`]: safetensors, npz, npy, folders.
//! - [`wires`]: sums, tables, quantisers as ALIR, bit for bit.
//! - [`port`]: encoders of real inputs, what codes mean, and [`port::ReferenceSemantics`], through which other
//!   crates see a network's golden evaluator.
//!
//! The front ends: [`graph`] (IR v2), [`onnx`] (QONNX).
//!
//! ```
//! use alir_network::onnx;
//!
//! let bytes = std::fs::read("examples/perceptron.onnx").unwrap();
//! let network = onnx::read(&bytes, &onnx::Options::default()).expect("every operator is known");
//! assert!(network.size.weights() > 0 && network.size.adders() > 0);
//! ```
//!
//! (`tests/it/crate_examples.rs` runs this example.)

#![forbid(unsafe_code)]

pub mod deviation;
pub(crate) mod digits;
pub mod exact;
pub mod function;
pub mod graph;
pub mod json;
pub mod matrix;
pub mod onnx;
pub mod port;
pub mod quantise;
pub mod reciprocal;
pub mod rotation;
pub mod solver;
pub mod weights;
pub mod wires;
