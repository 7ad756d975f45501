//! Tests that start simulators.
//!
//! A tool that is not installed is reported as skipped, by name; `ALIR2HDL_REQUIRE` (set by `scripts/test.sh`) lists
//! those that must be there. Names of tests that take long begin with `sim_`: `.config/nextest.toml` limits how many
//! of them run at once.

mod assertions;
mod axis;
mod axis_proof;
mod bench;
mod board;
mod cells;
mod cpp;
mod cpp_names;
mod examples;
mod explore;
mod fuzz;
mod gates;
mod generations;
mod ghdl_synth;
mod golden;
mod harness;
mod kernels;
mod lint;
mod machines;
mod models;
mod mutants;
mod networks;
mod origin;
mod own;
mod peer;
mod projects;
mod python;
mod readers;
mod registers;
mod reuse;
#[path = "../tests/it/schema.rs"]
mod schema;
mod semantics;
mod tables;
mod via;
mod view;
