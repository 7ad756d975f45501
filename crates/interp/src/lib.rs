//! Running a program on samples.
//!
//! [`golden`] defines the semantics of a program: slow, plain and exact, any width. Everything else in this tool is
//! checked against it. [`Plan`] is the fast way to run many samples; [`samples`] reads and writes them, and [`batch`]
//! connects the two. [`arrays`] runs samples that are in memory.
//!
//! ```
//! use alir_core::ir::Limits;
//! use alir_interp::{LookupMiss, golden};
//! use num_bigint::BigInt;
//!
//! let (model, _) = alir_formats::read_path("examples/jet_mlp.json.gz".as_ref(), &Limits::default(), None).unwrap();
//! let sample = vec![BigInt::from(1); model.n_inputs()];
//! let outputs = golden(&model, &sample, LookupMiss::Error).expect("no table is read outside of its entries");
//! assert_eq!(outputs.len(), 5);
//! ```
//!
//! (`tests/it/crate_examples.rs` runs this example.)

pub mod arrays;
pub mod batch;
mod fast;
mod golden;
pub mod machine;
pub mod samples;
mod trace;

pub use fast::{Fault, FaultKind, InstructionSet, Plan, PlanOptions, Runner, cpp_header, cpp_machine, cpp_namespace};
pub use golden::{LookupMiss, MissedEntry, Step, golden, golden_steps};
pub use golden::{operation, output_code, top_bit};
pub use trace::{Trace, meaning};
