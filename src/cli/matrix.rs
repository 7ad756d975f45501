//! Constant matrices on the command line: options, reading, and the encoding of samples.

use super::Failure;
use crate::cmvm;
use crate::diag::{Diagnostic, Place};
use crate::interp::samples::{Number, RealEncoder};
use crate::ir::{Limits, Model};
use crate::network::exact::Rational;
use crate::network::matrix::{self, Product};
use crate::network::port::{Encoder, ReferenceSemantics as _};
use crate::network::quantise::{Overflow, Quantiser, Round};
use crate::options::{OptionFault, OptionValue, invalid, real, unsigned};
use num_bigint::BigInt;
use std::io::Read;

/// Options for the solver of constant matrices.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Networks and matrices")]
pub(super) struct MatrixArgs {
    /// Bound the path through the adders of each matrix
    #[arg(long, value_name = "L", hide_short_help = true)]
    cmvm_latency: Option<f64>,
    /// Search this long for fewer adders, in milliseconds a matrix
    #[arg(long, value_name = "N", default_value_t = 0, hide_short_help = true)]
    cmvm_budget: u64,
}

impl MatrixArgs {
    /// Sets an option by its name.
    ///
    /// # Errors
    /// If the option does not exist, or if the value is invalid.
    pub(super) fn set(&mut self, name: &str, value: &OptionValue) -> Result<(), OptionFault> {
        let result = match name {
            "cmvm_latency" => real(value).map(|latency| self.cmvm_latency = Some(latency)),
            "cmvm_budget" => unsigned(value).map(|budget| self.cmvm_budget = budget),
            _ => return Err(OptionFault::Unknown(None)),
        };
        result.map_err(|expected| invalid(name, value, expected))
    }

    /// Returns the constraints on the solver.
    ///
    /// # Errors
    /// If the latency is invalid (exit code 2).
    pub(super) fn options(&self) -> Result<cmvm::Options, Failure> {
        let wrong = |latency: f64| {
            let message = format!("{latency} is no latency; one is a number from 0 up");
            Failure::input(Diagnostic::error("E1508", Place::Flag("--cmvm-latency".into()), message))
        };
        match self.cmvm_latency {
            Some(latency) if !(0.0..=1e6).contains(&latency) => Err(wrong(latency)),
            latency => Ok(cmvm::Options { latency, budget: self.cmvm_budget, ..cmvm::Options::default() }),
        }
    }

    /// Copies the latency limit from another command line, unless there is a limit. Returns `true` if it was copied.
    pub(super) fn copy_latency(&mut self, command: &[&str]) -> bool {
        let Some(at) = command.iter().position(|word| *word == "--cmvm-latency") else { return false };
        if self.cmvm_latency.is_some() {
            return false;
        }
        self.cmvm_latency = command.get(at + 1).and_then(|value| value.parse().ok());
        self.cmvm_latency.is_some()
    }

    /// Returns an error if an option for matrices is given for a program.
    pub(super) fn refuse(&self) -> Result<(), Failure> {
        let given = [("--cmvm-latency", self.cmvm_latency.is_some()), ("--cmvm-budget", self.cmvm_budget > 0)];
        match given.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) => {
                let message = format!("{flag} is for a matrix or a network, and this is a program");
                Err(Failure::input(
                    Diagnostic::error("E1506", Place::Flag(flag.into()), message).with_help("leave it out"),
                ))
            }
            None => Ok(()),
        }
    }

    /// Reads a matrix. Returns the product with it as a program, and facts about the matrix.
    pub(super) fn read(
        &self,
        reader: &mut dyn Read,
        name: &str,
        limits: Limits,
        input_type: Option<Quantiser>,
        max_adders: u64,
    ) -> Result<(Model, MatrixFacts), Failure> {
        let Some(quantiser) = input_type else {
            let place = Place::Flag("--input-type".into());
            let error = Diagnostic::error("E1505", place, "a matrix does not say of which type its inputs are");
            return Err(Failure::input(
                error.with_help("add --input-type s8.5, say: width with sign, fractional bits"),
            ));
        };
        let options = self.options()?;
        let matrix = matrix::read(reader, name, max_adders).map_err(Failure::input)?;
        let product = Product::new(matrix, quantiser);
        let begun = thread_seconds();
        let program = product.solve(&options).map_err(|e| Failure::input(e.in_file(name.as_ref())))?;
        let seconds = thread_seconds() - begun;
        let model = product.model(&program, limits).map_err(Failure::input)?;
        Ok((model, MatrixFacts { product, solve_seconds: seconds }))
    }
}

/// Facts about a matrix in addition to its program.
#[derive(Clone, Debug)]
pub(super) struct MatrixFacts {
    /// Product that the matrix defines.
    pub(super) product: Product,
    /// Processor time that [`cmvm::solve`] took.
    pub(super) solve_seconds: f64,
}

impl MatrixFacts {
    /// Returns the type of all inputs; `None` if they have different types.
    pub(super) fn one_type(&self) -> Option<Quantiser> {
        let (first, others) = self.product.inputs().split_first()?;
        let Encoder::Quantise(quantiser) = first.encoder else { return None };
        others.iter().all(|other| other == first).then_some(quantiser)
    }

    /// Returns the encoder of real inputs; `None` if it is only floor and wrap, or if the inputs have different types.
    pub(super) fn encoder(&self) -> Option<RealEncoder> {
        let quantiser = self.one_type()?;
        let is_plain = quantiser.round == Round::Floor && quantiser.overflow == Overflow::Wrap;
        (!is_plain).then(|| -> RealEncoder {
            Box::new(move |x| {
                // A value that is not a number is rejected later, with its position.
                let Some(exact) = Rational::from_number(x) else { return x.clone() };
                let value = quantiser.value(&exact);
                let real = value.to_f64();
                if Rational::from_f64(real).as_ref() == Some(&value) {
                    return Number::Float(real);
                }
                let (code, frac) = (quantiser.code(&exact), quantiser.kif.frac);
                match u32::try_from(frac) {
                    Ok(frac) => Number::Decimal { digits: code * BigInt::from(5).pow(frac), exponent: -(frac as i32) },
                    Err(_) => (code << frac.unsigned_abs()).into(),
                }
            })
        })
    }
}

/// Returns the processor time of this thread in seconds.
fn thread_seconds() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}
