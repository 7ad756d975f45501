//! Analyses and optimisation passes over models, and the pipeline scheduler.

pub mod passes;
pub mod schedule;
