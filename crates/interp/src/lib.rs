//! Evaluation of programs on samples.
//!
//! [`golden`] defines the semantics of a program: slow, simple and exact, for any width. All other implementations are
//! checked against it. [`Plan`] runs many samples fast, [`samples`] reads and writes them, and [`batch`] connects both.
//! [`arrays`] runs samples in memory.
//!
//! ```
//! use alir_core::ir::Limits;
//! use alir_interp::arrays::{ArrayEngine, ArrayRun, Numbers, Results};
//! use alir_interp::{Plan, PlanOptions};
//!
//! let (model, _) = alir_formats::read_path("examples/jet_mlp.json.gz".as_ref(), &Limits::default(), None).unwrap();
//! let plan = Plan::new(&model, PlanOptions::default());
//! let samples = [vec![0.5; model.n_inputs()], vec![-1.0; model.n_inputs()]].concat();
//! let mut outputs = vec![0.0; 2 * model.outputs().len()];
//! let options = ArrayRun { threads: 1, stop: &|| false, rounds: false, evaluator: None };
//! let engine = ArrayEngine::new(&model, &plan);
//! engine
//!     .run(&plan, 2, Numbers::F64(&samples), Results::Reals(&mut outputs), options)
//!     .expect("outputs of both samples");
//! assert_ne!(outputs[..5], outputs[5..]);
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
