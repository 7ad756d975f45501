//! The door for front ends: what a program was lowered from.
//!
//! A front end (networks, LLVLIR) lowers its own form to a [`Model`] and hands both to [`lowered`](super::lowered). Nobody trusts
//! the lowering: `verify` compares hardware with what the source computes, and a proof begins with the source's own theorem.

use crate::ir::Model;
use crate::llvlir::{Program, golden};
use crate::prove::kernel;
use crate::rtl::Rtl;
use num_bigint::BigInt;

/// What a program was lowered from, and what it means by itself.
pub trait Source: Sync {
    /// What it is called in messages: `network`, `kernel`.
    fn kind(&self) -> &str;

    /// The codes on the output ports of the lowered program for codes on its input ports, by the source's own golden evaluator.
    ///
    /// # Errors
    /// Why there is no code on a port for what it computes, which is a mistake of the lowering.
    fn outputs(&self, inputs: &[BigInt]) -> Result<Vec<BigInt>, String>;

    /// What it means bit by bit, made straight from the source by a road that shares nothing with the lowering.
    ///
    /// # Errors
    /// Where a limit is broken, in words: then nothing is decided.
    fn theorem(&self, lowered: &Model) -> Result<Theorem, String>;
}

/// What a source means, for the prover.
#[derive(Clone, Debug)]
pub enum Theorem {
    /// A program with the ports of the lowered one.
    Program(Model),
    /// A combinational design with the ports `model_inp` and `model_out`.
    Design(Rtl),
}

impl Source for Program {
    fn kind(&self) -> &str {
        "kernel"
    }

    fn outputs(&self, inputs: &[BigInt]) -> Result<Vec<BigInt>, String> {
        Ok(golden::run(self, inputs))
    }

    fn theorem(&self, lowered: &Model) -> Result<Theorem, String> {
        Ok(Theorem::Design(kernel::rtl(self, lowered)))
    }
}
