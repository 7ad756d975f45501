//! ALIR JSON, spec versions 2, 3 and 4 (`docs/alir.md`, section 1), and DAIS JSON of every age (`docs/dais.md`, section
//! 1).
//!
//! The file is read in one pass, straight into [`alir_core::ir::Builder`]: nothing of it is kept as text or as a tree.
//! Keys may come in any order, so what depends on the version is noted while reading and checked at the end. Reading
//! goes on after a problem, so that one run shows all of them; operations that could not be read are replaced by a
//! zero, and what the model's own checks say because of that is left out.

mod number;
mod read;
mod record;
mod write;

pub(super) use read::{Frame, read};
pub(super) use write::{spelling, unrepresentable, write};
