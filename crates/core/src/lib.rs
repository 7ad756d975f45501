//! Codes, intervals, types, diagnostics, files and the intermediate representation of ALIR.

pub mod diag;
pub mod files;
pub mod ir;
pub mod num;
