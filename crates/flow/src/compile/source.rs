//! The door for front ends: what a program was lowered from.
//!
//! A front end (networks, LLVLIR) lowers its own form to a [`Model`] and hands both to [`lowered`](super::lowered).
//! Nobody trusts the lowering: `verify` compares hardware with what the source computes, and a proof begins with the
//! source's own theorem.

use alir_core::ir::Model;
use alir_core::num::Kif;
use alir_hdl::Rtl;
use alir_llvlir::{Program, golden};
use alir_network::port::Meaning;
use alir_prove::kernel;
use num_bigint::BigInt;

/// What a program was lowered from, and what it means by itself.
pub trait Source: Sync {
    /// What it is called in messages: `network`, `kernel`.
    fn kind(&self) -> &str;

    /// The codes on the output ports of the lowered program for codes on its input ports, by the source's own golden
    /// evaluator.
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

impl<S: Source + ?Sized> Source for &S {
    fn kind(&self) -> &str {
        (**self).kind()
    }

    fn outputs(&self, inputs: &[BigInt]) -> Result<Vec<BigInt>, String> {
        (**self).outputs(inputs)
    }

    fn theorem(&self, lowered: &Model) -> Result<Theorem, String> {
        (**self).theorem(lowered)
    }
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

/// A network beside the types of the outputs that its lowered program has.
pub struct NetworkSource<'a> {
    meaning: &'a dyn Meaning,
    kind: &'a str,
    outputs: Vec<Kif>,
}

impl<'a> NetworkSource<'a> {
    /// A network, or a matrix as one; `kind` says which.
    pub fn new(meaning: &'a dyn Meaning, kind: &'a str, lowered: &Model) -> NetworkSource<'a> {
        let outputs = (0..lowered.outputs().len()).map(|k| lowered.output_kif(k)).collect();
        NetworkSource { meaning, kind, outputs }
    }
}

impl Source for NetworkSource<'_> {
    fn kind(&self) -> &str {
        self.kind
    }

    fn outputs(&self, inputs: &[BigInt]) -> Result<Vec<BigInt>, String> {
        let values = self.meaning.evaluate(inputs);
        let ports = self.meaning.output_units().iter().zip(&self.outputs);
        let code = |(k, (value, (unit, kif))): (usize, (_, (&alir_network::port::Unit, &Kif)))| {
            let code = unit.code(value, kif.frac.into()).filter(|code| kif.holds(code));
            code.ok_or_else(|| format!("output {k} is {value}, which is no code of its port ({kif})"))
        };
        values.iter().zip(ports).enumerate().map(code).collect()
    }

    fn theorem(&self, _: &Model) -> Result<Theorem, String> {
        self.meaning.specification().map(Theorem::Program)
    }
}
