//! Values on a network's ports, and conversions at the ports: encoders of real inputs, units of outputs.
//!
//! Hardware ports carry raw integer values. An [`Encoder`] converts a real input to a raw value; `run` computes it
//! exactly, and the interface JSON describes it. A raw value represents `code * 2^-frac * scale + offset` ([`Unit`]).

use super::exact::Rational;
use super::quantise::{Quantiser, Round};
use alir_core::ir::Model;
use alir_core::num::Kif;
use alir_interp::samples::Values;
use num_bigint::BigInt;
use std::fmt;

/// Conversion from a real number to the raw value of an input element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Encoder {
    /// Quantisation to a type.
    Quantise(Quantiser),
    /// `round(min(max(gain * x + bias, low), high)) - zero`: scale, zero point and the operations before a quantiser.
    Affine {
        /// Factor of the input.
        gain: Rational,
        /// Summand after the factor.
        bias: Rational,
        /// Smallest result.
        low: BigInt,
        /// Largest result.
        high: BigInt,
        /// Rounding mode, which is applied after clamping.
        round: Round,
        /// Number that is subtracted from the result, so that the raw value is that of a value without zero point.
        zero: BigInt,
    },
    /// 1 if `gain * x + bias >= 0`, otherwise 0.
    Sign {
        /// Factor of the input.
        gain: Rational,
        /// Summand after the factor.
        bias: Rational,
    },
}

impl Encoder {
    /// Returns the raw value of a real input.
    pub fn code(&self, x: &Rational) -> BigInt {
        match self {
            Encoder::Quantise(quantiser) => quantiser.code(x),
            Encoder::Affine { gain, bias, low, high, round, zero } => {
                let t = &(gain * x) + bias;
                t.max(low.clone().into()).min(high.clone().into()).round(*round) - zero
            }
            Encoder::Sign { gain, bias } => BigInt::from(u8::from(!(&(gain * x) + bias).is_negative())),
        }
    }
}

/// Returns the number at an index of a file of samples, exactly.
///
/// # Errors
/// Returns a message if the number is not finite.
pub fn number(block: &Values, index: usize) -> Result<Rational, String> {
    match block {
        Values::Reals(v) => Rational::from_f64(v[index]).ok_or_else(|| format!("{} has no code", v[index])),
        Values::Integers(v) => Ok(Rational::from(v[index])),
        Values::Wide(v) => Ok(Rational::from(v[index].clone())),
        Values::Numbers(v) => Rational::from_number(&v[index]).ok_or_else(|| format!("{} has no code", v[index])),
    }
}

impl fmt::Display for Encoder {
    /// Writes the formula for messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Encoder::Quantise(Quantiser { kif, round, overflow }) => {
                write!(f, "quantise(x, {kif}, {}, {})", round.name(), overflow.name())
            }
            Encoder::Affine { gain, bias, low, high, round, zero } => {
                write!(f, "round(clamp({gain} * x + {bias}, {low}, {high}), {}) - {zero}", round.name())
            }
            Encoder::Sign { gain, bias } => write!(f, "{gain} * x + {bias} >= 0"),
        }
    }
}

/// Unit of a port element's raw values: `code * 2^-frac * scale + offset`, where `frac` is the number of fractional
/// bits of the element's type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    /// Factor; 1 if the type alone defines the scale.
    pub scale: Rational,
    /// Value of the raw value 0.
    pub offset: Rational,
}

impl Unit {
    /// Returns the unit of raw values that are scaled by their type only.
    pub fn plain() -> Unit {
        Unit { scale: Rational::one(), offset: Rational::zero() }
    }

    /// Returns the value of a raw value with `frac` fractional bits.
    pub fn value(&self, code: &BigInt, frac: i64) -> Rational {
        &(&Rational::from_code(code, frac) * &self.scale) + &self.offset
    }

    /// Returns the raw value of a value; `None` if no raw value represents it.
    pub fn code(&self, value: &Rational, frac: i64) -> Option<BigInt> {
        (value - &self.offset).checked_div(&self.scale)?.code(frac)
    }
}

/// One element of the input port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputElement {
    /// Type of the element.
    pub kif: Kif,
    /// Unit of its raw values.
    pub unit: Unit,
    /// Encoder of real numbers.
    pub encoder: Encoder,
}

/// Consecutive elements with one name, such as the buffer `0:input`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Name in the source file; it may contain any characters.
    pub name: String,
    /// Number of elements.
    pub size: usize,
}

/// Reference semantics of a network, independent of its lowering: the exact evaluation, and an evaluation in binary64.
///
/// `run` prints its results; `verify` checks simulators against it.
pub trait ReferenceSemantics: Send + Sync {
    /// Returns the elements of the input port, in order.
    fn inputs(&self) -> &[InputElement];

    /// Returns the names of the inputs: groups of consecutive elements.
    fn input_groups(&self) -> &[Group];

    /// Returns the units of the output elements' raw values.
    fn output_units(&self) -> &[Unit];

    /// Returns the names of the outputs.
    fn output_groups(&self) -> &[Group];

    /// Returns the exact real value of every output for the raw values of the inputs.
    fn evaluate(&self, codes: &[BigInt]) -> Vec<Rational>;

    /// Returns the function as a program: its inputs are the raw values of the input port, and each output has the
    /// smallest number of bits that the network promises. The program is the specification in proofs: it is built
    /// directly from the network, by an implementation that shares nothing with the lowering.
    ///
    /// # Errors
    /// Returns a message if the program exceeds a limit.
    fn specification(&self) -> Result<Model, String>;

    /// Evaluates the network without any quantisation in binary64 arithmetic, for comparison only.
    fn evaluate_float(&self, reals: &[f64]) -> Vec<f64>;

    /// Returns the names of the values between inputs and outputs, for comparisons; empty if they are unknown.
    fn inner_groups(&self) -> Vec<Group> {
        Vec::new()
    }

    /// Returns `true` if nodes have intermediate values with separate types.
    fn has_records(&self) -> bool {
        false
    }

    /// Returns the exact outputs, and the exact values of [`ReferenceSemantics::inner_groups`].
    fn evaluate_all(&self, codes: &[BigInt]) -> (Vec<Rational>, Vec<Rational>) {
        (self.evaluate(codes), Vec::new())
    }

    /// Like [`ReferenceSemantics::evaluate_all`], without any quantisation.
    fn evaluate_all_float(&self, reals: &[f64]) -> (Vec<f64>, Vec<f64>) {
        (self.evaluate_float(reals), Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn r(text: &str) -> Rational {
        Rational::parse(text).unwrap()
    }

    #[test]
    fn ends_are_applied_before_rounding_and_the_zero_point_after() {
        let (low, high, zero) = (BigInt::from(-8), BigInt::from(7), BigInt::from(3));
        let round = Round::HalfEven;
        let encoder = Encoder::Affine { gain: r("1/3"), bias: r("3"), low, high, round, zero };
        let codes = ["-100", "-1", "0", "1.5", "4.5", "100"].map(|x| encoder.code(&r(x)));
        assert_eq!(codes, [-11, 0, 0, 1, 1, 4].map(BigInt::from));
        assert_eq!(encoder.to_string(), "round(clamp(1/3 * x + 3, -8, 7), RND_CONV) - 3");
    }

    #[test]
    fn a_unit_turns_codes_into_values_and_back() {
        let unit = Unit { scale: r("3/1024"), offset: r("-1/7") };
        let value = unit.value(&BigInt::from(-5), 2);
        assert_eq!(value, &r("-15/4096") - &r("1/7"));
        assert_eq!(unit.code(&value, 2), Some(BigInt::from(-5)));
        assert_eq!(unit.code(&r("0"), 2), None);
    }

    #[test]
    fn zero_is_the_upper_of_two() {
        let encoder = Encoder::Sign { gain: r("-2"), bias: r("1") };
        assert_eq!(["0.5", "0.51", "-9"].map(|x| encoder.code(&r(x))), [1, 0, 1].map(BigInt::from));
    }
}
