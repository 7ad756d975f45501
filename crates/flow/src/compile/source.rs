//! Interface for front ends: the source that a program was lowered from.
//!
//! A front end (networks, LLVLIR) lowers its own IR to a [`Model`] and passes both to [`lowered`](super::lowered). The
//! lowering is not trusted: `verify` compares the hardware with the outputs that the source computes, and a proof
//! starts from the semantics of the source.

use alir_core::ir::Model;
use alir_core::num::Kif;
use alir_hdl::Rtl;
use alir_llvlir::{Program, golden};
use alir_network::port::ReferenceSemantics;
use alir_prove::kernel;
use num_bigint::BigInt;

/// Source that a program is lowered from, with semantics of its own.
pub trait Source: Sync {
    /// Returns the name of the kind of source for messages: `network`, `kernel`.
    fn kind(&self) -> &str;

    /// Returns the raw integer values of the lowered program's output ports for values of its input ports, computed by
    /// the reference evaluator of the source.
    ///
    /// # Errors
    /// A message if a result has no raw integer value on its port, which is a bug of the lowering.
    fn outputs(&self, inputs: &[BigInt]) -> Result<Vec<BigInt>, String>;

    /// Returns the semantics of the source at bit level, built directly from the source by code that is independent of
    /// the lowering.
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
    /// A program with the ports of the lowered program.
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

/// A network, with the types of the outputs of its lowered program.
pub struct NetworkSource<'a> {
    meaning: &'a dyn ReferenceSemantics,
    kind: &'a str,
    outputs: Vec<Kif>,
}

impl<'a> NetworkSource<'a> {
    /// Creates the source from a network, or from a matrix in the form of a network; `kind` is the name for messages.
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
