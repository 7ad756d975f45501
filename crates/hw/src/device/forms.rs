//! The forms that lookup tables can have. Which one a table gets is decided in [`super::tables`].

use crate::netlist::pieces::Pieces;

/// The form of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A function; the synthesiser decides.
    Function,
    /// A function; readers carry attributes that ask for logic.
    LogicFunction,
    /// An array with attributes that request BRAM.
    Memory,
    /// A module that holds it in pieces.
    Pieces,
}

/// The forms of a netlist's tables.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    /// The form of each.
    pub(crate) forms: Vec<Form>,
    /// Decompositions of the tables that are in pieces.
    pub(crate) pieces: Vec<Option<Pieces>>,
}
