//! Front end for synthesizable VHDL (1993 and 2008) with `ieee.numeric_std`, written against IEEE 1076 and 1076.3.
//!
//! Expressions are parsed to a tree without types. Elaboration resolves types and overloading from the context: strings
//! and aggregates get the type of the target or of the other operand. Types are `std_logic`, vectors, `boolean`,
//! integers, enumerations, and records and arrays of these. The subset (docs/readers.md) includes packages of the file,
//! entities with generics, instances, functions, procedures, operators, concurrent and selected assignments, processes,
//! loops and generate statements. Constructs outside of the subset are rejected with their position.

mod elab;
mod syntax;

use super::{FindData, Rtl};
use alir_core::diag::Diagnostic;

/// Reads a file. Without `top`, the top entity is the one that no other entity instantiates.
///
/// # Errors
/// `E0903` with line and column if `text` is not VHDL or outside of the subset; `E0904` for a signal without driver,
/// with several drivers, or with a combinational loop.
pub(crate) fn read(text: &str, top: Option<&str>, find: &FindData<'_>) -> Result<Rtl, Diagnostic> {
    let file = syntax::parse(text)?;
    let mut rtl = elab::elaborate(text, &file, top, find)?;
    super::loops::untangle(&mut rtl, |at| super::source::place(text, at))?;
    Ok(rtl)
}

/// Returns the names of the entities of a source, in order.
///
/// # Errors
/// `E0903` if `text` is not VHDL.
pub(crate) fn entities(text: &str) -> Result<Vec<String>, Diagnostic> {
    Ok(syntax::parse(text)?.entities.into_iter().map(|entity| entity.shown).collect())
}
