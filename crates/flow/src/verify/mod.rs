//! Simulation of the generated RTL: vectors, testbenches, simulators, and their results.
//!
//! Testbenches are derived only from the [`alir_hw::netlist::Interface`] and from samples with expected values of the
//! reference interpreter; no pass and no lowering influences them. The command `alir2hdl verify` and the tests in
//! `hdl_tests/` share this code.
//!
//! ```text
//! Model ─ Vectors::generate ─► Vectors ─ Cycles::plan ─► Cycles ─ Bench ─► rows, testbench
//!                                                                             │ Simulator::run
//!                                                                 Report ◄────┘
//! ```

pub mod arrays;
mod bench;
mod compare;
mod cycles;
pub mod foreign;
mod locate;
mod machine;
pub mod options;
pub mod own;
mod run;
pub mod runner;
mod sim;
pub mod solver;
mod stream;
mod vectors;
pub mod verification;
pub mod via;
mod watch;

pub(crate) use bench::in_quotes;
pub use bench::{Bench, SHOWN, Testbench};
pub use compare::{Difference, Mismatch, Report};
pub use cycles::{Bits, Cycle, Cycles, Field, Layout};
pub use locate::{DifferingSignal, first_difference};
pub use machine::{MachineRun, machine_stimulus};
pub use run::{BenchCheck, Check, Finding, Origin};
pub use sim::{
    Deadline, Ghdl, Icarus, Job, MISSING_TOOL, RunningTool, SIMULATORS, SimError, Simulator, Tools, Verilator, end_all,
};
pub use stream::{Beat, Streams};
pub use vectors::{Rows, Vectors};
pub use watch::share_read;
