//! Proof that a file on disk computes the model, for every input.
//!
//! Both sides become gates: the model by section 3 of the specification, the RTL by the Verilog and VHDL front ends.
//! Names, comments and intermediate programs are checked hints.
//!
//! - [`equiv`], [`pair`], [`machine`], [`netlist`]: RTL against a program, two programs, state machines, netlists of
//!   synthesis.
//! - [`aig`], [`blast`]: gates, and the gates of operations; [`engine`], [`sat`]: simulation, sweeping and the solver.
//! - [`value_classes`], [`linear_forms`], [`affine`], [`steps`]: equality of values as numbers, decided before the
//!   gates are swept.
//! - [`certify`], [`lrat`]: the certificate that `alir2hdl-check` checks.
//!
//! ```
//! use alir_core::ir::Limits;
//! use alir_opt::passes;
//! use alir_prove::equiv::{Request, Verdict};
//! use alir_prove::{pair, sat::Embedded};
//!
//! let (model, _) = alir_formats::read_path("examples/jet_mlp.json.gz".as_ref(), &Limits::default(), None).unwrap();
//! let (smaller, _) = passes::run(&model, passes::pipeline(1));
//! let (report, difference) = pair::prove(&model, &smaller, &Request::default(), &|| Box::new(Embedded));
//! assert!(matches!(report.verdict, Verdict::Proved) && difference.is_none());
//! ```
//!
//! (`tests/it/crate_examples.rs` runs this example.)

#![forbid(unsafe_code)]

pub mod affine;
pub mod aig;
pub mod aiger;
pub mod aignet;
pub mod bench;
mod bit_level;
pub mod bit_vector;
pub mod blast;
mod candidates;
pub mod certify;
mod chain;
pub mod circuit;
mod control;
pub mod design_forms;
pub mod engine;
pub mod equiv;
pub mod kernel;
pub mod linear_forms;
pub mod lrat;
pub mod machine;
pub mod netlist;
pub mod pair;
mod parity;
pub mod phases;
mod port_roles;
pub mod program;
pub mod progress;
mod proved;
mod rounds;
pub mod sat;
pub mod steps;
mod text_gates;
pub mod unroll;
pub mod value_classes;
mod word_level;
