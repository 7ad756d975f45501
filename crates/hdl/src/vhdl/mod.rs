//! A reader of synthesizable VHDL (1993 and 2008) with `ieee.numeric_std`, written against IEEE 1076 and 1076.3.
//!
//! Parsing and elaboration go together: an expression is parsed into a small tree, then typed from its context, as
//! overloading wants it: strings and aggregates take their type from the target or from the other operand. Types are
//! `std_logic`, vectors, `boolean`, integers, enumerations, records and arrays of these. Packages of the file, entities
//! with generics, instances, functions, procedures and operators, concurrent and selected assignments, processes, loops
//! and generate statements are in the subset (docs/readers.md); anything else is refused with its place.

mod elab;
mod syntax;

use super::{FindData, Rtl};
use alir_core::diag::Diagnostic;

/// Reads a file. Without `top`, the top entity is the one that no other instantiates.
///
/// # Errors
/// `E0903` with line and column where `text` is not VHDL, or not in the subset; `E0904` for a signal that has no driver
/// or several, or that depends on itself.
pub(crate) fn read(text: &str, top: Option<&str>, find: &FindData<'_>) -> Result<Rtl, Diagnostic> {
    let file = syntax::parse(text)?;
    let mut rtl = elab::elaborate(text, &file, top, find)?;
    super::loops::untangle(&mut rtl, |at| super::source::place(text, at))?;
    Ok(rtl)
}

/// Names of the entities of a source, in order.
///
/// # Errors
/// `E0903` where `text` is not VHDL.
pub(crate) fn entities(text: &str) -> Result<Vec<String>, Diagnostic> {
    Ok(syntax::parse(text)?.entities.into_iter().map(|entity| entity.shown).collect())
}
