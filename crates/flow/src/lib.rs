//! Complete flows: compilation, verification by simulators, proofs, project folders, reports, views, exploration.
//!
//! - [`compile`]: from a design to [`compile::Hardware`] and its HDL source.
//! - [`options`]: options of hardware as typed values, for the command line, Python and header comments.
//! - [`verify`]: vectors, testbenches, simulators and their results.
//! - [`prove`]: the entry points of all proofs.
//! - [`project`]: project folders for the tool flows of FPGA vendors and open-source tools.
//! - [`report`]: reports of FPGA tools as rows of one table.
//! - [`explore`]: many variants as one workflow.
//! - [`view`]: HTML viewer of a program and its pipeline.
//!
//! ```
//! use alir_core::ir::Limits;
//! use alir_flow::compile::{self, Pipeline, Spec, Stages};
//! use alir_hw::emit::Language;
//!
//! let (model, _) = alir_formats::read_path("examples/jet_mlp.json.gz".as_ref(), &Limits::default(), None).unwrap();
//! let pipeline = Pipeline { stages: Some(Stages::Exactly(3)), ..Pipeline::default() };
//! let hardware = compile::model(&model, &Spec { pipeline, ..Spec::default() }).expect("three stages");
//! assert!(hardware.text(Language::Verilog).contains("endmodule"));
//! ```
//!
//! (`tests/it/crate_examples.rs` runs this example.)

#![forbid(unsafe_code)]

pub mod compile;
pub mod explore;
pub mod options;
pub mod project;
pub mod prove;
pub mod report;
pub mod verify;
pub mod view;
