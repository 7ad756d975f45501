//! Numbers, diagnostics, files and the intermediate representation of ALIR.
//!
//! - [`num`]: exact fixed-point numbers: raw integer values of any size, intervals, types, alignment, wrapping; random
//!   numbers.
//! - [`ir`]: [`ir::Model`], which is always valid, its operations, and [`ir::Builder`], which checks every rule.
//! - [`diag`]: messages with a code, a place and a suggested correction.
//! - [`files`]: files that are written completely or not at all.
//! - [`parallel`]: parallel work on all cores, with results in order.
//!
//! ```
//! use alir_core::ir::{Builder, Op, Output};
//! use alir_core::num::Interval;
//!
//! let mut builder = Builder::new(vec![0, 0]);
//! let [a, b] = [0, 1].map(|input| builder.op(Op::Input { input }, Interval::new(-8, 7, 0)));
//! let sum = builder.op(Op::Add { a, b, shift: 0 }, Interval::new(-16, 14, 0));
//! builder.output(Output { source: Some(sum), shift: 0, neg: false });
//! let model = builder.finish().expect("every rule of the specification holds");
//! assert_eq!(model.nodes().len(), 3);
//! ```
//!
//! (`tests/it/crate_examples.rs` runs this example.)

#![forbid(unsafe_code)]

pub mod diag;
pub mod files;
pub mod ir;
pub mod num;
pub mod parallel;
