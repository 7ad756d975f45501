//! The program: one block of combinational fixed-point operations in SSA form.
//!
//! A [`Model`] that exists is valid: only [`Builder::finish`] creates one, after checking every semantic rule of
//! `docs/alir.md`, section 4. Passes build their results with the same function. Data is stored in flat tables indexed
//! by [`ValueId`]; a million operations is a normal size.

mod alignment;
mod builder;
mod check;
mod draw;
mod labels;
mod layers;
pub mod machine;
mod model;
mod op;

pub use alignment::{AlignmentGraph, align, align_graphs};
pub use builder::{Builder, Limits};
pub use check::{Part, Problem, Site};
pub use draw::draw_inputs;
pub use labels::Labels;
pub use layers::Layers;
pub use model::{Model, Node, Output, Table};
pub use op::{BinaryBits, Op, TableId, Term, UnaryBits, ValueId};
