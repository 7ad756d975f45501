//! From a scheduled model to hardware: netlists, resource sharing, retiming, device models, code generators.

#![forbid(unsafe_code)]

pub mod device;
pub mod emit;
pub mod netlist;
pub mod retime;
pub mod reuse;
