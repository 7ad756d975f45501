//! LLVLIR: straight-line code on integers of any width and on vectors, as byte code or text.
//!
//! The contract is `docs/llvlir.md`. [`read`] takes either form and gives a checked [`Program`]; [`golden`] says what
//! it means, in exact integers; [`lower`] makes an ALIR program of it, [`raise`] a program of an ALIR program. The
//! interpreter does not know ALIR, and nothing here trusts the lowering: simulation and proof compare hardware with the
//! interpreter's meaning or the prover's own.
//!
//! ```
//! use alir_core::ir;
//! use alir_llvlir::{Limits, lower::lower, read};
//!
//! let source = b"llvlir 0\nin %0 \"a\": i8\nin %1 \"b\": i8\n%2 = add.i8 %0, %1\nout \"sum\" = %2\n";
//! let program = read(source, Limits::default()).expect("a valid program");
//! let model = lower(&program, &ir::Limits::default()).expect("an ALIR model of it");
//! assert_eq!((model.n_inputs(), model.outputs().len()), (2, 1));
//! ```
//!
//! (`tests/it/crate_examples.rs` runs this example.)

#![forbid(unsafe_code)]

pub mod bytes;
pub mod fault;
pub mod golden;
mod hints;
pub mod lower;
pub mod program;
pub mod raise;
pub mod rows;
pub mod text;

pub use fault::{Problem, Reason};
pub use program::{Limits, Program};

/// Reads a program in the form that its first byte shows: `L` starts bytes, everything else is text.
///
/// # Errors
/// The first problem.
pub fn read(bytes: &[u8], limits: Limits) -> Result<Program, Problem> {
    let bytes = unmarked(bytes);
    match bytes.first() {
        Some(b'L') => bytes::read(bytes, limits),
        _ => text::read(bytes, limits),
    }
}

/// Returns `true` if the beginning of a file shows an LLVLIR program.
pub fn is_program(head: &[u8]) -> bool {
    let head = unmarked(head);
    // VHDL in capitals begins with an L as well.
    let is_vhdl = head.len() > 7 && head[..7].eq_ignore_ascii_case(b"library") && head[7].is_ascii_whitespace();
    (head.first() == Some(&b'L') && !is_vhdl) || text::is_text(head)
}

/// A string without the byte order mark of UTF-8.
fn unmarked(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}
