//! Analyses and optimisation passes over models, and the pipeline scheduler.
//!
//! - [`passes`]: functions from model to model that keep the semantics; [`passes::pipeline`] lists those of a level.
//! - [`schedule`]: stages for operations, with as few register bits as possible, and a certificate of optimality.
//!
//! ```
//! use alir_core::ir::Limits;
//! use alir_opt::passes;
//!
//! let (model, _) = alir_formats::read_path("examples/jet_mlp.json.gz".as_ref(), &Limits::default(), None).unwrap();
//! let (smaller, _statistics) = passes::run(&model, passes::pipeline(1));
//! assert!(smaller.nodes().len() < model.nodes().len());
//! ```
//!
//! (`tests/it/crate_examples.rs` runs this example.)

#![forbid(unsafe_code)]

pub mod passes;
pub mod schedule;
