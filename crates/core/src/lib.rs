//! Codes, intervals, types, diagnostics, files and the intermediate representation of ALIR.

#![forbid(unsafe_code)]

pub mod diag;
pub mod files;
pub mod ir;
pub mod num;
pub mod parallel;
