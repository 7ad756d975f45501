//! The batch engine: plans a program once, and runs it on blocks of samples in lanes as narrow as the values allow.
//!
//! [`Plan`] returns the codes of [`super::golden`] for every bit pattern of the inputs, at the speed of the processor's
//! vector unit. The engine does not depend on files. The modules, by step:
//!
//! * [`form`]: operations as shifted sums and a few other forms, and bounds on their values;
//! * [`lower`]: the required low bits of each value, and so its lane; conversions; straight-line code;
//! * [`order`]: an order of the instructions with few live values;
//! * [`plan`]: assignment of registers to places of a small arena, and of instructions to kernels;
//! * [`kernels`]: the loops, compiled for each instruction set;
//! * `jit`: machine code instead of most loops, on processors with AVX-512 or AVX2;
//! * [`run`]: evaluation of blocks of samples, conversion of real numbers ([`convert`]), and faults;
//! * [`wide`]: operations that do not fit 128 bits;
//! * [`few`]: evaluation of too few samples for a plan;
//! * [`cpp`]: the plan as a C++ header; [`cpp_machine`]: stateful designs made of such blocks.

mod convert;
mod cpp;
mod cpp_machine;
pub mod cpp_namespace;
mod few;
mod form;
#[cfg(all(target_arch = "x86_64", unix))]
mod jit;
mod kernels;
mod lower;
mod order;
mod plan;
mod run;
#[cfg(target_arch = "x86_64")]
mod tiles;
#[cfg(target_arch = "x86_64")]
mod tiles_avx2;
mod wide;

pub use cpp::cpp_header;
pub use cpp_machine::cpp_machine;
pub(super) use few::{FEW, run_few};
pub use plan::{InstructionSet, Plan, PlanOptions};
pub use run::{Fault, FaultKind, Runner};
