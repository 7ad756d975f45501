//! ALIR fixed-point programs in, verified Verilog and VHDL out.
//!
//! From a model to Verilog of three stages:
//!
//! ```
//! use alir2hdl::compile::{self, Pipeline, Spec, Stages};
//! use alir2hdl::{emit::Language, formats, ir::Limits};
//!
//! let (model, _notes) = formats::read_path("examples/jet_mlp.json.gz".as_ref(), &Limits::default(), None)?;
//! let pipeline = Pipeline { stages: Some(Stages::Exactly(3)), ..Pipeline::default() };
//! let hardware = compile::model(&model, &Spec { pipeline, ..Spec::default() })?;
//! println!("{}", hardware.summary());
//! println!("{}", hardware.text(Language::Verilog));
//! # assert_eq!(hardware.netlist.interface.latency, 3);
//! # assert!(hardware.text(Language::Verilog).contains("module model"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Data goes one way: bytes, [`ir::Model`], [`schedule::Schedule`], [`netlist::Netlist`], text. Each arrow makes a new
//! immutable value; `ARCHITECTURE.md` has the map and the invariants.

pub mod cli;
pub mod cmvm;
pub mod compile;
pub mod device;
pub mod diag;
pub mod emit;
pub mod explore;
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
pub mod retime;
pub mod reuse;
pub mod rtl;
pub mod schedule;
pub mod verify;
pub mod view;
