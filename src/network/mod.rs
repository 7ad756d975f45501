//! Networks: graphs and matrices of numbers that become ALIR programs. The contract is `docs/network.md`.
//!
//! What all front ends share:
//!
//! - [`exact`]: [`exact::Rational`], decimals as they are written, nearest doubles of rationals and of square roots.
//! - [`quantise`]: types and their texts, every rounding and overflow mode ([`quantise::Quantiser`]).
//! - [`function`]: sigmoid, tanh, silu, exp, gelu, decided correctly ([`function::Functions`]).
//! - [`port`]: encoders of real inputs, what codes mean, and [`port::Meaning`], through which others see a network's golden
//!   evaluator.

pub mod exact;
pub mod function;
pub mod onnx;
pub mod port;
pub mod quantise;
