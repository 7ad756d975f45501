//! Analyses and optimisation passes over models, and the pipeline scheduler.

#![forbid(unsafe_code)]

pub mod passes;
pub mod schedule;
