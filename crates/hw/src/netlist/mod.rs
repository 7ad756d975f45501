//! The hardware, typed: nets of known width, made by cells, connected by explicit wiring.
//!
//! This is the only thing that text writers see. All shift, sign and width arithmetic of the program has
//! been done in lowering to it, so a template computes nothing. Its rules:
//!
//! - A net has at least one bit, and exactly one cell makes it. Values without bits do not exist here.
//! - A cell's operand is *wiring* ([`Wiring`]): a list of [`Piece`]s, low bits first, that names each bit
//!   explicitly. Slices, concatenations, zero and sign extensions and constants are pieces, never cells, and
//!   are normalised when made (neighbouring slices merge), so that equal wiring has one form.
//! - Operand widths are what the cell says, checked when it is made: nothing is extended implicitly.
//! - Only registers may refer to later nets; everything else is in topological order.
//!
//! [`Netlist`] knows nothing of models: whether a pipeline or a state machine was lowered, no reader can tell.

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
