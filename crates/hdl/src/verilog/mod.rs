//! A reader of synthesizable Verilog-2001, written against IEEE 1364-2001.
//!
//! [`read`] takes a file to [`Rtl`]: every operator with the widths, signs and precedence of the standard, selects,
//! concatenations, functions, clocked and combinational processes, loops with constant bounds, parameters, generate
//! blocks, hierarchy, and memories that an `initial` block fills with constants. What is outside the subset is refused
//! with its place; nothing is guessed. It shares no code with the writer of Verilog.

mod ast;
mod elab;
mod lexer;
mod parser;
mod preprocess;

use super::Rtl;
use super::source::place;
use alir_core::diag::Diagnostic;

/// Reads a file. Without `top`, the top module is the one that no other instantiates.
///
/// # Errors
/// `E0903` with line and column where the text is not Verilog, or not in the subset; `E0904` for a signal that has no
/// driver or several, or that depends on itself.
pub fn read(text: &str, top: Option<&str>) -> Result<Rtl, Diagnostic> {
    let text = &*preprocess::preprocess(text)?;
    let file = parser::parse(text)?;
    let mut rtl = elab::elaborate(text, &file, top)?;
    super::loops::untangle(&mut rtl, |at| place(text, at))?;
    Ok(rtl)
}
