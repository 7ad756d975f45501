//! Parser and writer of ALIR JSON, spec versions 2, 3 and 4 (`docs/alir.md`, section 1), and parser of all versions of
//! DAIS JSON (`docs/dais.md`, section 1).
//!
//! The file is read in one pass, directly into [`alir_core::ir::Builder`], without a text or tree in memory. Keys may
//! come in any order, so properties that depend on the version are recorded during reading and checked at the end.
//! Reading continues after a problem, so that one run reports all problems. Invalid operations are replaced with the
//! constant zero, and problems that the model's own checks report because of this replacement are omitted.

mod number;
mod read;
mod record;
mod write;

pub(super) use read::{Frame, read};
pub(super) use write::{spelling, unrepresentable, write};
