//! Entry point for front ends: the source that a program was lowered from.
//!
//! A front end (networks, LLVLIR) lowers its own IR to a [`Model`] and hands both to [`lowered`](super::lowered). The
//! lowering is not trusted: `verify` compares hardware with what the source computes, and a proof begins with the
//! source's own theorem.

use alir_core::ir::Model;
use alir_core::num::Kif;
use alir_hdl::Rtl;
use alir_llvlir::{Program, golden};
use alir_network::port::ReferenceSemantics;
use alir_prove::kernel;
use num_bigint::BigInt;

/// A source that programs are lowered from, with semantics of its own.
pub trait Source: Sync {
    /// Returns the name of its kind for messages: `network`, `kernel`.
    fn kind(&self) -> &str;

    /// The codes on the output ports of the lowered program for codes on its input ports, by the source's own golden
    /// evaluator.
    ///
    /// # Errors
    /// Why there is no code on a port for what it computes, which is a mistake of the lowering.
    fn outputs(&self, inputs: &[BigInt]) -> Result<Vec<BigInt>, String>;

    /// Returns its semantics at bit level, built directly from the source on a path that shares no code with the
    /// lowering.
    ///
    /// # Errors
    /// A message if a limit is exceeded: then nothing is decided.
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

/// Semantics of a source, as an input of the prover.
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

/// A network with the types of the outputs of its lowered program.
pub struct NetworkSource<'a> {
    meaning: &'a dyn ReferenceSemantics,
    kind: &'a str,
    outputs: Vec<Kif>,
}

impl<'a> NetworkSource<'a> {
    /// A network, or a matrix as one; `kind` says which.
    pub fn new(meaning: &'a dyn ReferenceSemantics, kind: &'a str, lowered: &Model) -> NetworkSource<'a> {
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
            code.ok_or_else(|| format!("output {k} is {value}, which is not a value of its port ({kif})"))
        };
        values.iter().zip(ports).enumerate().map(code).collect()
    }

    fn theorem(&self, _: &Model) -> Result<Theorem, String> {
        self.meaning.specification().map(Theorem::Program)
    }
}
