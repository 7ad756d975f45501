//! Running a program on samples.
//!
//! [`golden`] is the definition of what a program means: slow, plain and exact, any width. Everything else in this
//! tool is held to it.

mod fast;
mod golden;
pub mod machine;
pub mod samples;

pub use golden::{LookupMiss, MissedEntry, Step, golden, golden_steps};

pub use fast::{Fault, FaultKind, InstructionSet, Plan, PlanOptions, Runner};
