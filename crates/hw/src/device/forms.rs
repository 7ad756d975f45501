//! Possible implementations of look-up tables. [`super::tables`] selects one for each table.

use crate::netlist::pieces::Pieces;

/// Implementation of a look-up table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A function; the synthesis tool decides on logic or BRAM.
    Function,
    /// A function; nets that read the table have attributes that request logic.
    LogicFunction,
    /// An array with attributes that request BRAM.
    Memory,
    /// A module that contains the pieces of the table.
    Pieces,
}

/// Implementations of all look-up tables of a netlist.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    /// Implementation of each look-up table.
    pub(crate) forms: Vec<Form>,
    /// Decomposition of each table in pieces; `None` for other tables.
    pub(crate) pieces: Vec<Option<Pieces>>,
}
