//! The batch engine: a program planned once, run over blocks of samples in lanes as narrow as its values.
//!
//! [`Plan`] promises the same codes as [`super::golden`] for every bit pattern of the inputs, at the speed of the
//! processor's vector unit. It knows nothing of files. Inside, one module a step:
//!
//! * [`form`]: operations as shifted sums and a few other shapes; which codes can occur;
//! * [`lower`]: which low bits matter, hence lanes, conversions, straight code;
//! * [`order`]: the instructions in an order that keeps few values alive;
//! * [`plan`]: registers to places of a small arena, instructions to kernels;
//! * [`kernels`]: the loops, compiled for each instruction set;
//! * `jit`: machine code in place of most loops, where the processor has AVX-512 or AVX2;
//! * [`run`]: blocks of samples through the kernels, real numbers in and out ([`convert`]), and what went wrong;
//! * [`wide`]: what does not fit 128 bits;
//! * [`few`]: samples too few to be worth a plan;
//! * [`cpp`]: the same plan as a C++ header; [`cpp_machine`]: stateful designs, of such blocks.

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
