//! ALIR fixed-point programs in, verified Verilog and VHDL out.
//!
//! Data goes one way: bytes, [`ir::Model`], [`schedule::Schedule`], [`netlist::Netlist`], text. Each arrow makes a new
//! immutable value; `ARCHITECTURE.md` has the map and the invariants.

pub mod cli;
pub mod cmvm;
pub mod device;
pub mod diag;
pub mod emit;
pub mod files;
pub mod formats;
pub mod interp;
pub mod ir;
pub mod llvlir;
pub mod netlist;
pub mod network;
pub mod num;
pub mod passes;
pub mod project;
pub mod prove;
pub mod random;
pub mod report;
pub mod rtl;
pub mod schedule;
pub mod verify;
pub mod view;
