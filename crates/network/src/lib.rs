//! Networks: graphs and matrices of numbers, which are converted to ALIR programs. The contract is `docs/network.md`.
//!
//! Modules that all front ends share:
//!
//! - [`exact`]: [`exact::Rational`], exact parsing of decimals, nearest doubles of rationals and of square roots.
//! - [`quantise`]: types and their syntax, all rounding and overflow modes ([`quantise::Quantiser`]).
//! - [`deviation`]: deviation of quantised values from floating-point values.
//! - [`function`]: sigmoid, tanh, silu, exp, gelu, correctly rounded ([`function::Functions`]).
//! - [`reciprocal`]: `1/x` and `1/sqrt(x)` in exact integers, divisions by constants.
//! - [`rotation`]: cosines and sines of rotary embeddings, correctly rounded.
//! - [`json`]: parser that preserves the spelling of decimals.
//! - `digits`: products with constants as sums of shifted values.
//! - [`solver`]: solver for all matrices of a network with a common latency limit.
//! - [`weights`]: parsers of safetensors, npz, npy, folders.
//! - [`wires`]: bit-exact sums, tables and quantisers in ALIR.
//! - [`port`]: encoders of real inputs, units of raw values, and [`port::ReferenceSemantics`], the interface of other
//!   crates to a network's reference evaluator.
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
