//! A reader of synthesizable VHDL (1993 and 2008) with `ieee.numeric_std`, written against IEEE 1076 and 1076.3.
//!
//! Parsing and elaboration go together: an expression is parsed into a small tree, then typed from its context, as
//! overloading wants it: strings and aggregates take their type from the target or from the other operand. Types are
//! `std_logic`, vectors, `boolean`, integers, enumerations, records and arrays of these. Packages of the file, entities
//! with generics, instances, functions, procedures and operators, concurrent and selected assignments, processes, loops
//! and generate statements are in the subset (docs/readers.md); anything else is refused with its place.

mod elab;
mod syntax;

use super::Rtl;
use alir_core::diag::Diagnostic;

/// Reads a file. Without `top`, the top entity is the one that no other instantiates.
///
/// # Errors
/// `E0903` with line and column where `text` is not VHDL, or not in the subset; `E0904` for a signal that has no driver
/// or several, or that depends on itself.
pub fn read(text: &str, top: Option<&str>) -> Result<Rtl, Diagnostic> {
    let file = syntax::parse(text)?;
    let mut rtl = elab::elaborate(text, &file, top)?;
    super::loops::untangle(&mut rtl, |at| super::source::place(text, at))?;
    Ok(rtl)
}
