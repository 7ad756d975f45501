//! From a scheduled model to hardware: netlists, resource sharing, retiming, device models, code generators.
//!
//! - [`netlist`]: nets of known width, each driven by a cell; [`netlist::lower`] builds a netlist from a scheduled
//!   model.
//! - [`emit`]: code generators for Verilog, SystemVerilog and VHDL, and AXI4-Stream wrappers.
//! - [`device`]: estimated LUTs, carry cells, BRAMs, DSPs and clock frequency of a netlist on a device.
//! - [`reuse`]: resource sharing for initiation intervals above one.
//! - [`retime`]: retiming of the pipelines in stateful designs within the slack of their schedule.
//!
//! ```
//! use alir_core::ir::Limits;
//! use alir_hw::{emit, netlist};
//! use alir_opt::schedule::{Goal, LatencyFields, schedule};
//!
//! let (model, _) = alir_formats::read_path("examples/jet_mlp.json.gz".as_ref(), &Limits::default(), None).unwrap();
//! let found = schedule(&model, &LatencyFields, &Goal::stages(3), &netlist::uses(&model)).expect("some schedule");
//! let netlist = netlist::lower(&model, &found.schedule, &netlist::Options::default());
//! let verilog = emit::text(&netlist, emit::Language::Verilog, &emit::Options::default());
//! assert!(verilog.contains("endmodule"));
//! ```
//!
//! (`tests/it/crate_examples.rs` runs this example.)

#![forbid(unsafe_code)]

pub mod device;
pub mod emit;
pub mod netlist;
pub mod retime;
pub mod reuse;
