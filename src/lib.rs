//! Compiler from ALIR fixed-point programs to verified Verilog and VHDL.
//!
//! Generation of Verilog with three pipeline stages from a model:
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
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! (`tests/it/compile.rs` runs this example.)
//!
//! Data flows in one direction: file, [`ir::Model`], [`schedule::Schedule`], [`netlist::Netlist`], RTL. Each step
//! builds a new immutable value. `ARCHITECTURE.md` describes the modules and the invariants.

#![forbid(unsafe_code)]

pub mod cli;

pub use alir_cmvm as cmvm;
pub use alir_core::{diag, files, ir, num};
pub use alir_flow::{compile, explore, options, project, report, verify, view};
pub use alir_formats as formats;
pub use alir_hdl as rtl;
pub use alir_hw::{device, emit, netlist, retime, reuse};
pub use alir_interp as interp;
pub use alir_llvlir as llvlir;
pub use alir_network as network;
pub use alir_opt::{passes, schedule};

/// Prover, with entry points for all callers.
pub mod prove {
    pub use alir_flow::prove::*;
    pub use alir_prove::*;
}
