//! Proof that a file on disk computes the model, for every input.
//!
//! Both sides become gates: the model by section 3 of the specification, the RTL by the Verilog and VHDL front ends.
//! Names, comments and intermediate programs are checked hints.

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
