//! LLVLIR: straight-line code on integers of any width and on vectors, in a byte format or a text format.
//!
//! The contract is `docs/llvlir.md`. [`read`] parses both formats and returns a checked [`Program`]; [`golden`] defines
//! its semantics in exact integers; [`lower`] converts it to an ALIR program, [`raise`] converts an ALIR program to
//! LLVLIR. The interpreter is independent of ALIR, and simulation and proof do not trust the lowering: they compare
//! hardware with the interpreter or with the prover's independent semantics.
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

/// Parses a program in the format that its first byte indicates: `L` starts the byte format, any other byte starts
/// text.
///
/// # Errors
/// Returns the first problem.
pub fn read(bytes: &[u8], limits: Limits) -> Result<Program, Problem> {
    let bytes = unmarked(bytes);
    match bytes.first() {
        Some(b'L') => bytes::read(bytes, limits),
        _ => text::read(bytes, limits),
    }
}

/// Returns `true` if the beginning of a file is that of an LLVLIR program.
pub fn is_program(head: &[u8]) -> bool {
    let head = unmarked(head);
    // VHDL in capital letters begins with an L, too.
    let is_vhdl = head.len() > 7 && head[..7].eq_ignore_ascii_case(b"library") && head[7].is_ascii_whitespace();
    (head.first() == Some(&b'L') && !is_vhdl) || text::is_text(head)
}

/// Returns the bytes without the byte order mark of UTF-8.
fn unmarked(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}
