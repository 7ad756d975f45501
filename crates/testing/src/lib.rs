//! Random valid models, machines and samples for tests.

pub mod random;
