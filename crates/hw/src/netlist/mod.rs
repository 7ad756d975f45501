//! Typed netlist of a module: nets of known width, driven by cells, connected by explicit wiring.
//!
//! The netlist is the only input of the HDL code generators. Lowering to the netlist does all shift, sign and width
//! arithmetic of the program, so a template computes nothing. Invariants:
//!
//! - A net has at least one bit, and exactly one cell drives it. Values without bits have no net.
//! - A cell's operand is *wiring* ([`Wiring`]): a list of [`Piece`]s, low bits first, that names each bit explicitly.
//!   Slices, concatenations, zero and sign extensions and constants are pieces, never cells. The pool normalises pieces
//!   when they are written (neighbouring slices merge), so equal wiring has one form.
//! - Operands have the widths that the documentation of [`Cell`] states, checked when a cell is created: no operand is
//!   extended implicitly.
//! - Only registers may refer to later nets; all other cells are in topological order.
//!
//! [`Netlist`] is independent of models: pipelines and state machines have the same representation.

mod arith;
mod body;
mod builder;
mod cell;
mod check;
mod constants;
mod demand;
mod describe;
pub mod elaborated;
mod eval;
pub mod keywords;
mod lower;
mod machine;
pub mod names;
mod options;
pub(crate) mod pieces;
mod pipeline;
mod rows;
mod ternary;
mod tiles;
mod uses;
mod wiring;

pub use cell::{
    Cell, Direction, Element, Interface, Net, NetId, Netlist, OperationLayers, Piece, Port, PortId, Reset, Rom, RomId,
    Wiring,
};
pub use describe::{stems, stems_in};
pub use eval::Evaluator;
pub use keywords::{Languages, NameKind};
pub use lower::lower;
pub(crate) use machine::SHARED_LOGIC;
pub use machine::{AtPorts, lower_machine, lower_reused};
pub use options::{Adders, BlockRegisters, Fabric, Multipliers, Options, PortNames, Ports, ResetOptions};
pub(crate) use options::{TOP, check_names, taken_name};
pub use options::{check_machine_top, why_not};
pub use uses::{uses, uses_with, uses_with_blocks};
