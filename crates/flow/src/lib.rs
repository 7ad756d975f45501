//! Complete flows: compilation, verification by simulators, proofs, project folders, reports, views, exploration.

#![forbid(unsafe_code)]

pub mod compile;
pub mod explore;
pub mod options;
pub mod project;
pub mod prove;
pub mod report;
pub mod verify;
pub mod view;
