//! Values on a network's ports, and the conversions outside of them: encoders of real inputs, scales of outputs.
//!
//! Hardware ports carry codes. What a real input becomes is its [`Encoder`], done exactly by `run` and described in the
//! interface JSON; what a code means is `code * 2^-frac * scale + offset` ([`Unit`]).

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
    /// The number is quantised.
    Quantise(Quantiser),
    /// `round(min(max(gain * x + bias, low), high))`: scale, zero point and the operations before a quantiser.
    Affine {
        /// Factor.
        gain: Rational,
        /// Added to it.
        bias: Rational,
        /// Smallest result.
        low: BigInt,
        /// Largest result.
        high: BigInt,
        /// Rounding, after the ends are applied.
        round: Round,
        /// Subtracted from the result: the code is that of a value without its zero point.
        zero: BigInt,
    },
    /// 1 if `gain * x + bias >= 0`, else 0.
    Sign {
        /// Factor.
        gain: Rational,
        /// Added to it.
        bias: Rational,
    },
}

impl Encoder {
    /// The code of a real input.
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

/// The number at an index of a file of samples, exactly.
///
/// # Errors
/// If it is not finite, in words.
pub fn number(block: &Values, index: usize) -> Result<Rational, String> {
    match block {
        Values::Reals(v) => Rational::from_f64(v[index]).ok_or_else(|| format!("{} has no code", v[index])),
        Values::Integers(v) => Ok(Rational::from(v[index])),
        Values::Wide(v) => Ok(Rational::from(v[index].clone())),
        Values::Numbers(v) => Rational::from_number(&v[index]).ok_or_else(|| format!("{} has no code", v[index])),
    }
}

impl fmt::Display for Encoder {
    /// The formula, for people.
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

/// Unit of a port element's raw values: `code * 2^-frac * scale + offset`, `frac` being that of the element's type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    /// Factor; one where the type says it all.
    pub scale: Rational,
    /// Value of the code 0.
    pub offset: Rational,
}

impl Unit {
    /// Returns the unit of raw values that are scaled by their type only.
    pub fn plain() -> Unit {
        Unit { scale: Rational::one(), offset: Rational::zero() }
    }

    /// The value of a code with that many fractional bits.
    pub fn value(&self, code: &BigInt, frac: i64) -> Rational {
        &(&Rational::from_code(code, frac) * &self.scale) + &self.offset
    }

    /// The code of a value; `None` if it has none.
    pub fn code(&self, value: &Rational, frac: i64) -> Option<BigInt> {
        (value - &self.offset).checked_div(&self.scale)?.code(frac)
    }
}

/// One element of the input port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputElement {
    /// Its type.
    pub kif: Kif,
    /// Unit of its raw values.
    pub unit: Unit,
    /// Encoder of real numbers.
    pub encoder: Encoder,
}

/// Consecutive elements of one name, such as the buffer `0:input`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The name in the source; any characters.
    pub name: String,
    /// Number of elements.
    pub size: usize,
}

/// Reference semantics of a network, independent of its lowering: the golden evaluator, and the same in doubles.
///
/// `run` prints its results; `verify` checks simulators against it.
pub trait ReferenceSemantics: Send + Sync {
    /// Elements of the input port, in order.
    fn inputs(&self) -> &[InputElement];

    /// Names of the inputs: groups of consecutive elements.
    fn input_groups(&self) -> &[Group];

    /// Returns the units of the output elements' raw values.
    fn output_units(&self) -> &[Unit];

    /// Names of the outputs.
    fn output_groups(&self) -> &[Group];

    /// The exact real value of every output for the codes of the inputs.
    fn evaluate(&self, codes: &[BigInt]) -> Vec<Rational>;

    /// Returns the function as a plain program: its inputs are the raw values of the input port, each output has a
    /// value with the smallest number of bits that the network promises. For proofs: built directly from the network,
    /// by an implementation of its own that shares nothing with the lowering.
    ///
    /// # Errors
    /// Where a limit of programs is broken, in words.
    fn specification(&self) -> Result<Model, String>;

    /// The network without any quantisation, in binary64 arithmetic: only for comparison.
    fn evaluate_float(&self, reals: &[f64]) -> Vec<f64>;

    /// Names of the values between inputs and outputs, for comparisons; none where they are not known.
    fn inner_groups(&self) -> Vec<Group> {
        Vec::new()
    }

    /// Returns `true` if nodes have intermediate values with types of their own.
    fn has_records(&self) -> bool {
        false
    }

    /// The exact outputs, and the exact values of [`ReferenceSemantics::inner_groups`].
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
