//! Real functions for look-up tables, correctly rounded.
//!
//! [`Functions::enclose`] returns two rational numbers around a value, with a requested precision;
//! [`Functions::decide`] doubles the precision from 64 bits until a step function has the same result at both ends. At
//! a rational argument other than zero no value of these functions is rational (the exponential function of an
//! algebraic number is transcendental), so no tie exists and the search ends; if 16,384 bits do not decide, the result
//! is an error. No result depends on the floating-point functions of the computer.
//!
//! All functions are built from `exp` of an interval with small *relative* error (arguments reduced by multiples of ln
//! 2 and by halving, Taylor's series in integers with outward rounding), and exact rational arithmetic on the two ends.
//! Therefore `1/(1 + e^-x)` is below 1 for every `x`. The normal distribution function is its series of positive terms
//! (Abramowitz and Stegun 26.2.11), in the tails together with Mills' ratio `x/(1 + x^2) < Q/phi < 1/x` (26.2.12).

use super::exact::Rational;
use super::quantise::{Overflow, Quantiser};
use num_bigint::BigInt;
use num_traits::One;
use std::collections::{BTreeMap, HashMap};
use std::ops::Mul;

/// Largest precision in bits.
const MOST_BITS: u32 = 16_384;

/// A function of one real variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// `1 / (1 + e^-x)`.
    Sigmoid,
    /// Hyperbolic tangent.
    Tanh,
    /// `x * sigmoid(x)`.
    Silu,
    /// `e^x`.
    Exp,
    /// `x * Phi(x)`, where `Phi` is the normal distribution function.
    Gelu,
    /// `x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))`.
    GeluTanh,
    /// `1 / x`, whose raw values [`crate::reciprocal`] determines, because they can be ties.
    Inverse,
    /// `1 / sqrt(x)`, determined like [`Function::Inverse`].
    InverseRoot,
}

impl Function {
    /// All functions that have no rational values except at zero.
    pub const ALL: [Function; 6] =
        [Function::Sigmoid, Function::Tanh, Function::Silu, Function::Exp, Function::Gelu, Function::GeluTanh];

    /// Returns the name in the contract.
    pub fn name(self) -> &'static str {
        match self {
            Function::Sigmoid => "sigmoid",
            Function::Tanh => "tanh",
            Function::Silu => "silu",
            Function::Exp => "exp",
            Function::Gelu => "gelu",
            Function::GeluTanh => "gelu_tanh",
            Function::Inverse => "1/x",
            Function::InverseRoot => "1/sqrt(x)",
        }
    }

    /// Returns the value at zero, the only rational value; zero for functions that are undefined at zero.
    pub fn at_zero(self) -> Rational {
        match self {
            Function::Sigmoid => Rational::one().shifted(-1),
            Function::Exp => Rational::one(),
            Function::Tanh | Function::Silu | Function::Gelu | Function::GeluTanh => Rational::zero(),
            // The value does not exist; tables of these functions have the largest raw value there.
            Function::Inverse | Function::InverseRoot => Rational::zero(),
        }
    }

    /// Returns a floating-point approximation, for the floating-point network, which is only a reference for errors.
    pub fn approximate(self, x: f64) -> f64 {
        match self {
            Function::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Function::Tanh => x.tanh(),
            Function::Silu => x / (1.0 + (-x).exp()),
            Function::Exp => x.exp(),
            Function::Gelu => x * normal(x),
            Function::GeluTanh => {
                let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
                x / 2.0 * (1.0 + inner.tanh())
            }
            Function::Inverse => 1.0 / x,
            Function::InverseRoot => 1.0 / x.sqrt(),
        }
    }
}

/// Returns the normal distribution function, with an error of about 1e-15.
fn normal(x: f64) -> f64 {
    let density = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if x.abs() < 6.0 {
        let (mut term, mut sum, mut n) = (x, x, 1.0);
        while term.abs() > sum.abs() * 1e-18 {
            n += 2.0;
            term *= x * x / n;
            sum += term;
        }
        return 0.5 + density * sum;
    }
    let tail = density / x.abs() * (1.0 - 1.0 / (x * x) + 3.0 / x.powi(4) - 15.0 / x.powi(6));
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// An open interval that contains a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enclosure {
    /// Lower bound, less than the value.
    pub low: Rational,
    /// Upper bound; `None` if none is known (`exp` of a huge number).
    pub high: Option<Rational>,
}

/// Cache of constants, by precision.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    ln2: BTreeMap<u32, Fixed>,
    pi: BTreeMap<u32, Fixed>,
    /// `e^(digit * 2^place)` by precision, place and digit.
    powers: HashMap<(u32, i64, i64), Scaled>,
}

impl Functions {
    /// Returns an empty cache of constants.
    pub fn new() -> Functions {
        Functions::default()
    }

    /// Returns `step` of `function(x)`. `step` is a step function that is monotone in either direction, so that equal
    /// results at both ends of an interval are the result for the whole interval.
    ///
    /// # Errors
    /// Returns a message if 16,384 bits do not decide.
    pub fn decide<T: PartialEq>(
        &mut self,
        function: Function,
        x: &Rational,
        step: impl Fn(&Rational) -> T,
    ) -> Result<T, String> {
        self.decide_between(function, x, |low, high| {
            let value = step(low);
            (value == step(high?)).then_some(value)
        })
    }

    /// Returns the raw value of `quantise(function(x))`.
    ///
    /// # Errors
    /// As [`Functions::decide`].
    pub fn code(&mut self, function: Function, x: &Rational, quantiser: &Quantiser) -> Result<BigInt, String> {
        let code = self.decide_between(function, x, |low, high| {
            let low = quantiser.rounded(low);
            let (first, last) = (quantiser.kif.min_code(), quantiser.kif.max_code());
            let clipped = quantiser.overflow != Overflow::Wrap;
            // Beyond an end of a type without wrapping, all values have the same result, so the bound need not be
            // precise.
            match high {
                _ if clipped && low > last => Some(low),
                None => None,
                Some(high) => {
                    let high = quantiser.rounded(high);
                    (low == high || clipped && high < first).then_some(high)
                }
            }
        })?;
        Ok(quantiser.overflow(code))
    }

    fn decide_between<T>(
        &mut self,
        function: Function,
        x: &Rational,
        decide: impl Fn(&Rational, Option<&Rational>) -> Option<T>,
    ) -> Result<T, String> {
        if x.is_zero() {
            let value = function.at_zero();
            return Ok(decide(&value, Some(&value)).expect("both ends are one"));
        }
        let mut bits = 64;
        while bits <= MOST_BITS {
            let Enclosure { low, high } = self.enclose(function, x, bits);
            if let Some(value) = decide(&low, high.as_ref()) {
                return Ok(value);
            }
            bits *= 2;
        }
        let name = function.name();
        Err(format!("{name}({}) cannot be told from a rounding step with {MOST_BITS} bits", brief(x)))
    }

    /// Returns bounds of `function(x)` with about `bits` bits; `x` is not zero.
    pub fn enclose(&mut self, function: Function, x: &Rational, bits: u32) -> Enclosure {
        let own = Bounds { low: x.clone(), high: x.clone() };
        let bounds = match function {
            Function::Exp => {
                let limit = Rational::from(i64::from(LARGEST_ARGUMENT));
                if *x > limit {
                    return Enclosure { low: self.exp(&limit, bits).low, high: None };
                }
                self.exp(x, bits)
            }
            Function::Sigmoid => self.sigmoid(&own, bits),
            Function::Silu => self.sigmoid(&own, bits).times(x),
            Function::Tanh => {
                // 2 sigmoid(2x) - 1. The relative error is large only if x is small; then a higher precision decides.
                let s = self.sigmoid(&own.times(&Rational::from(2)), bits);
                let map = |v: &Rational| &v.shifted(1) - &Rational::one();
                Bounds { low: map(&s.low), high: map(&s.high) }
            }
            Function::GeluTanh => {
                let cubic = &Rational::new(44_715.into(), &1_000_000.into()).expect("not zero") * &(&(x * x) * x);
                let inner = self.root_of_eight_over_pi(bits).times(&(x + &cubic));
                self.sigmoid(&inner, bits).times(x)
            }
            Function::Gelu => self.normal(x, bits).times(x),
            Function::Inverse | Function::InverseRoot => {
                let one = Rational::one();
                let inverse = one.checked_div(x).unwrap_or_else(Rational::zero);
                if function == Function::Inverse {
                    Bounds { low: inverse.clone(), high: inverse }
                } else {
                    let scaled = inverse.shifted(2 * i64::from(bits)).floor();
                    let root = if scaled < BigInt::ZERO { BigInt::ZERO } else { scaled.sqrt() };
                    let end = |root: BigInt| Rational::from_code(&root, bits.into());
                    Bounds { high: end(&root + 1), low: end(root) }
                }
            }
        };
        Enclosure { low: bounds.low, high: Some(bounds.high) }
    }

    /// Returns bounds of `e^x` with a relative error near `2^-bits`; `x` is at most 2^14 in magnitude.
    pub(crate) fn exp_bounds(&mut self, x: &Rational, bits: u32) -> (Rational, Rational) {
        let bounds = self.exp(x, bits);
        (bounds.low, bounds.high)
    }

    /// Returns bounds of ln 2 in units of `2^-work`.
    pub(crate) fn ln2_bounds(&mut self, work: u32) -> (BigInt, BigInt) {
        let ln2 = self.ln2(work);
        (ln2.low.clone(), ln2.high.clone())
    }

    /// Returns bounds of pi in units of `2^-work`.
    pub(crate) fn pi_bounds(&mut self, work: u32) -> (BigInt, BigInt) {
        let pi = self.pi(work);
        (pi.low.clone(), pi.high.clone())
    }

    /// Returns `e^x` with small relative error. `x` is at most [`LARGEST_ARGUMENT`]; a number below the negative limit
    /// is replaced by the negative limit.
    fn exp(&mut self, x: &Rational, bits: u32) -> Bounds {
        let limit = Rational::from(-i64::from(LARGEST_ARGUMENT));
        let x = if *x < limit { &limit } else { x };
        let product = if bits < PRODUCT_BITS { None } else { self.exp_by_digits(x, bits) };
        product.unwrap_or_else(|| self.exp_by_series(x, bits)).bounds()
    }

    /// Returns `e^x` as the product of the exponentials of the digits of `x`, which are cached for later arguments of a
    /// table; `None` if `x` has too many digits.
    fn exp_by_digits(&mut self, x: &Rational, bits: u32) -> Option<Scaled> {
        let frac = x.frac()?;
        let digits = x.abs().code(frac).filter(|code| code.bits() <= 64)?.magnitude().to_radix_le(1 << DIGIT);
        // At most 13 factors, each with a relative error below 2^-(bits + 15), rounding included.
        let precision = bits + 20;
        let mut product: Option<Scaled> = None;
        for (position, digit) in (0..).zip(digits).filter(|(_, digit)| *digit != 0) {
            let digit = if x.is_negative() { -i64::from(digit) } else { digit.into() };
            let place = i64::from(DIGIT) * position - frac;
            let key = (precision, place, digit);
            if !self.powers.contains_key(&key) {
                let power = self.exp_by_series(&Rational::from(digit).shifted(place), precision);
                self.powers.insert(key, power.rounded(precision));
            }
            let power = &self.powers[&key];
            product = Some(match product {
                Some(product) => product.times(power).rounded(precision),
                None => power.clone(),
            });
        }
        product
    }

    /// Returns `e^x` by the series; `x` is at most [`LARGEST_ARGUMENT`] in magnitude.
    fn exp_by_series(&mut self, x: &Rational, bits: u32) -> Scaled {
        // Number of halvings of the reduced argument; each needs a squaring afterwards.
        let halvings = 4 + bits.isqrt() / 2;
        let work = bits + 2 * halvings + 48;
        let ln2 = self.ln2(work).clone();
        let x = Fixed::new(x, work);
        let k = &x.low / &ln2.low;
        let reduced = x.minus(&ln2.by_integer(&k));
        // |reduced| is at most about 1, but the bounds are valid for any value.
        let mut value = reduced.halved(halvings).exp_by_taylor();
        for _ in 0..halvings {
            value = value.squared();
        }
        let k = i64::try_from(k).expect("the argument is limited");
        Scaled { low: value.low, high: value.high, shift: k - i64::from(work) }
    }

    /// Returns `1 / (1 + e^-x)` over an interval.
    fn sigmoid(&mut self, x: &Bounds, bits: u32) -> Bounds {
        let low = self.sigmoid_at(&x.low, bits).low;
        let high =
            if x.low == x.high { self.sigmoid_at(&x.low, bits).high } else { self.sigmoid_at(&x.high, bits).high };
        Bounds { low, high }
    }

    fn sigmoid_at(&mut self, x: &Rational, bits: u32) -> Bounds {
        let one = Rational::one();
        let e = self.exp(&-&x.abs(), bits);
        let over = |num: &Rational, e: &Rational| num.checked_div(&(&one + e)).expect("above one");
        if x.is_negative() {
            // e / (1 + e) rises with e.
            Bounds { low: over(&e.low, &e.low), high: over(&e.high, &e.high) }
        } else {
            Bounds { low: over(&one, &e.high), high: over(&one, &e.low) }
        }
    }

    /// Returns the normal distribution function.
    fn normal(&mut self, x: &Rational, bits: u32) -> Bounds {
        let one = Rational::one();
        let t = x.abs();
        let square = &t * &t;
        let density = self.exp(&-&square.shifted(-1), bits);
        let root = self.root_of_eight_over_pi(bits).times(&Rational::one().shifted(-2));
        // 1/sqrt(2 pi) = sqrt(8/pi) / 4.
        let density = Bounds { low: &density.low * &root.low, high: &density.high * &root.high };
        // Bounds of the tail by Mills' ratio.
        let mut tail = Bounds {
            low: &density.low * &t.checked_div(&(&one + &square)).expect("above one"),
            high: density.high.checked_div(&t).expect("the argument is not zero"),
        };
        // If the tail is below the precision, the series does not improve the bounds, and would need more than x^2
        // terms.
        if square < Rational::from(i64::from(bits) + 64) {
            let series = normal_series(&t, bits);
            let half = one.shifted(-1);
            let from_series =
                Bounds { low: &half - &(&density.high * &series.high), high: &half - &(&density.low * &series.low) };
            tail = Bounds { low: tail.low.max(from_series.low), high: tail.high.min(from_series.high) };
        }
        if x.is_negative() { tail } else { Bounds { low: &one - &tail.high, high: &one - &tail.low } }
    }

    /// Returns `sqrt(8 / pi)`, which is twice `sqrt(2 / pi)`.
    fn root_of_eight_over_pi(&mut self, bits: u32) -> Bounds {
        let work = bits + 32;
        let pi = self.pi(work);
        // sqrt(8 / pi) at scale 2^work is the integer root of 8 * 2^(3 work) / (pi 2^work).
        let eight = BigInt::from(8) << (3 * u64::from(work));
        let (low, high): (BigInt, BigInt) = (&eight / &pi.high, &eight / &pi.low + 1);
        Fixed { low: low.sqrt(), high: high.sqrt() + 1, work }.bounds()
    }

    /// Returns ln 2 = 18 artanh(1/26) - 2 artanh(1/4801) + 8 artanh(1/8749).
    fn ln2(&mut self, work: u32) -> &Fixed {
        self.ln2.entry(work).or_insert_with(|| {
            let part = |factor: i64, n: u32| inverse_series(n, work, false).by_integer(&factor.into());
            part(18, 26).minus(&part(2, 4801)).plus(&part(8, 8749))
        })
    }

    /// Returns pi = 16 arctan(1/5) - 4 arctan(1/239) (Machin).
    fn pi(&mut self, work: u32) -> &Fixed {
        self.pi.entry(work).or_insert_with(|| {
            let part = |factor: i64, n: u32| inverse_series(n, work, true).by_integer(&factor.into());
            part(16, 5).minus(&part(4, 239))
        })
    }
}

/// Largest magnitude of an argument of the exponential function. At the negative limit and below, a result is less than
/// 2^-23,000: a step at a number with a denominator of fewer bits does not distinguish these results.
const LARGEST_ARGUMENT: i32 = 1 << 14;

/// Precision in bits from which an exponential is the product of the exponentials of digits. Results beyond the range
/// of a wrapping type, of which overflow keeps the low bits, need such a precision.
const PRODUCT_BITS: u32 = 256;

/// Number of bits of a digit of an argument of the exponential function.
const DIGIT: u32 = 5;

fn brief(x: &Rational) -> String {
    let text = x.to_fraction();
    if text.len() <= 40 { text } else { format!("about {:e}", x.to_f64()) }
}

/// Returns artanh(1/n) = sum of 1/(n^(2k+1) (2k+1)), or with alternating signs arctan(1/n).
fn inverse_series(n: u32, work: u32, alternating: bool) -> Fixed {
    let mut power = (BigInt::one() << work) / n;
    let (mut sum, mut k, square) = (BigInt::ZERO, 0u32, BigInt::from(n) * n);
    while power != BigInt::ZERO {
        let term = &power / (2 * k + 1);
        if alternating && k % 2 == 1 {
            sum -= term
        } else {
            sum += term
        };
        power /= &square;
        k += 1;
    }
    // Each power is too small by less than 2 (n >= 2), and therefore each term by less than 3; the remaining terms sum
    // to less than 1.
    let slack = BigInt::from(3 * k + 3);
    Fixed { low: &sum - &slack, high: sum + slack, work }
}

/// Returns `t + t^3/3 + t^5/(3*5) + ...`. The sum times the density at `t >= 0` is `Phi(t) - 1/2`.
fn normal_series(t: &Rational, bits: u32) -> Bounds {
    // The sum is as large as e^(t^2/2), which needs additional bits before the binary point only.
    let square = t * t;
    let work = bits + 32;
    let (fixed, square) = (Fixed::new(t, work), Fixed::new(&square, work));
    let mut term = fixed;
    let mut sum = term.clone();
    let mut n = 1u32;
    loop {
        n += 2;
        term = term.times(&square).over(n);
        sum = sum.plus(&term);
        // From here on each term is less than half of the previous term, so the remaining sum is below the last term.
        if square.high < BigInt::from(n / 2) << work && term.high <= BigInt::one() {
            sum.high += &term.high + 1;
            return sum.bounds();
        }
    }
}

/// A closed interval of rationals.
#[derive(Clone, Debug)]
struct Bounds {
    low: Rational,
    high: Rational,
}

impl Bounds {
    /// Returns the interval times a number of either sign.
    fn times(&self, x: &Rational) -> Bounds {
        let (a, b) = (&self.low * x, &self.high * x);
        if x.is_negative() { Bounds { low: b, high: a } } else { Bounds { low: a, high: b } }
    }
}

/// A closed interval of multiples of `2^-work`; every operation rounds outward.
#[derive(Clone, Debug)]
struct Fixed {
    low: BigInt,
    high: BigInt,
    work: u32,
}

impl Fixed {
    fn new(x: &Rational, work: u32) -> Fixed {
        let scaled = x.shifted(work.into());
        Fixed { low: scaled.floor(), high: scaled.ceil(), work }
    }

    fn bounds(&self) -> Bounds {
        let of = |code| Rational::from_code(code, self.work.into());
        Bounds { low: of(&self.low), high: of(&self.high) }
    }

    fn plus(&self, other: &Fixed) -> Fixed {
        Fixed { low: &self.low + &other.low, high: &self.high + &other.high, work: self.work }
    }

    fn minus(&self, other: &Fixed) -> Fixed {
        Fixed { low: &self.low - &other.high, high: &self.high - &other.low, work: self.work }
    }

    fn by_integer(&self, factor: &BigInt) -> Fixed {
        let (a, b) = (&self.low * factor, &self.high * factor);
        let (low, high) = if a <= b { (a, b) } else { (b, a) };
        Fixed { low, high, work: self.work }
    }

    fn halved(&self, times: u32) -> Fixed {
        Fixed { low: &self.low >> times, high: shifted_up(&self.high, times), work: self.work }
    }

    /// Returns the product of non-negative intervals.
    fn times(&self, other: &Fixed) -> Fixed {
        debug_assert!(self.low >= BigInt::ZERO && other.low >= BigInt::ZERO);
        let low = (&self.low).mul(&other.low) >> self.work;
        Fixed { low, high: shifted_up(&(&self.high * &other.high), self.work), work: self.work }
    }

    fn squared(&self) -> Fixed {
        self.times(self)
    }

    /// Returns a non-negative interval divided by a number.
    fn over(&self, n: u32) -> Fixed {
        Fixed { low: &self.low / n, high: (&self.high + (n - 1)) / n, work: self.work }
    }

    /// Returns the exponential function by Taylor's series, of an argument between -1 and 1. It is monotone, so each
    /// end is computed separately.
    fn exp_by_taylor(&self) -> Fixed {
        let (low, _) = exp_at(&self.low, self.work);
        let (_, high) = exp_at(&self.high, self.work);
        Fixed { low, high, work: self.work }
    }
}

/// A closed interval of numbers above zero, `low * 2^shift` to `high * 2^shift`; every operation rounds outward.
#[derive(Clone, Debug)]
struct Scaled {
    low: BigInt,
    high: BigInt,
    shift: i64,
}

impl Scaled {
    fn times(&self, other: &Scaled) -> Scaled {
        let [low, high] = [&self.low * &other.low, &self.high * &other.high];
        Scaled { low, high, shift: self.shift + other.shift }
    }

    /// Returns a wider interval, whose ends have at most `bits` bits, or one more after rounding.
    fn rounded(self, bits: u32) -> Scaled {
        let excess = self.low.bits().saturating_sub(bits.into());
        let by = u32::try_from(excess).expect("numbers of few bits");
        Scaled { low: self.low >> by, high: shifted_up(&self.high, by), shift: self.shift + i64::from(by) }
    }

    fn bounds(&self) -> Bounds {
        let end = |code| Rational::from_code(code, -self.shift);
        Bounds { low: end(&self.low), high: end(&self.high) }
    }
}

fn shifted_up(x: &BigInt, by: u32) -> BigInt {
    -((-x) >> by)
}

/// Returns bounds of `e^x` for one number of magnitude below 1.
fn exp_at(x: &BigInt, work: u32) -> (BigInt, BigInt) {
    debug_assert!(x.magnitude().bits() <= u64::from(work), "the argument is reduced");
    let one = BigInt::one() << work;
    let (mut sum, mut term, mut k) = (one.clone(), one, 0u32);
    while term != BigInt::ZERO && term != BigInt::from(-1) {
        k += 1;
        term = ((&term * x) >> work) / k;
        sum += &term;
    }
    // |x| < 1: the errors of the terms are below 3 each (at most 2 new and that of the previous term, over k), and the
    // rest of the series is below twice the last term, which is at most 1 and its error.
    let slack = BigInt::from(4 * k + 12);
    (&sum - &slack, sum + slack)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantise::Round;
    use proptest::prelude::*;

    fn r(text: &str) -> Rational {
        Rational::parse(text).unwrap()
    }

    /// Compares with twenty digits from published tables (Abramowitz and Stegun; e, pi and the error function),
    /// truncated.
    #[test]
    fn known_values_lie_inside() {
        let known = [
            (Function::Exp, "1", "2.71828182845904523536"),
            (Function::Exp, "-1", "0.36787944117144232159"),
            (Function::Sigmoid, "1", "0.73105857863000487925"),
            (Function::Tanh, "1", "0.76159415595576488811"),
            (Function::Silu, "-1", "-0.26894142136999512075"),
            // Phi(1), and twice Phi(2).
            (Function::Gelu, "1", "0.84134474606854294858"),
            (Function::Gelu, "2", "1.95449973610364158560"),
        ];
        let mut functions = Functions::new();
        for (function, x, value) in known {
            let Enclosure { low, high } = functions.enclose(function, &r(x), 128);
            let (low, high) = (&low - &r("1e-20"), &high.unwrap() + &r("1e-20"));
            assert!(low < r(value) && r(value) < high, "{function:?}({x})");
            assert!(&high - &low < r("3e-20"), "{function:?}({x}) is enclosed closely");
        }
    }

    #[test]
    fn limits_are_never_reached() {
        let mut functions = Functions::new();
        let floor = |text: &str| Quantiser::parse(text).unwrap();
        for x in ["20", "100", "1000", "100000", "1000000000000"] {
            assert_eq!(functions.code(Function::Sigmoid, &r(x), &floor("u11.10")).unwrap(), 1023.into(), "{x}");
            assert_eq!(functions.code(Function::Silu, &-&r(x), &floor("s11.5")).unwrap(), (-1).into(), "{x}");
            assert_eq!(functions.code(Function::Exp, &-&r(x), &floor("u11.5")).unwrap(), 0.into(), "{x}");
            let tanh = functions.code(Function::Tanh, &-&r(x), &floor("s11.5"));
            assert_eq!(tanh.unwrap(), (-32).into(), "{x}");
        }
        for x in ["20", "100"] {
            assert_eq!(functions.code(Function::Gelu, &-&r(x), &floor("s11.5")).unwrap(), (-1).into(), "{x}");
            assert_eq!(functions.code(Function::GeluTanh, &-&r(x), &floor("s11.5")).unwrap(), (-1).into(), "{x}");
        }
    }

    #[test]
    fn huge_exponentials_saturate_and_do_not_wrap() {
        let mut functions = Functions::new();
        for x in ["40", "30000", "1e30"] {
            let code = functions.code(Function::Exp, &r(x), &Quantiser::parse("s12.4,RND,SAT").unwrap());
            assert_eq!(code.unwrap(), 2047.into(), "{x}");
        }
        let wrapped = functions.code(Function::Exp, &r("1e30"), &Quantiser::parse("s12.4").unwrap());
        assert!(wrapped.unwrap_err().contains("16384 bits"));
        // e^20 = 485165195.4097902779..., rounded down, and its low 8 bits.
        let code = functions.code(Function::Exp, &r("20"), &Quantiser::parse("u8.0").unwrap()).unwrap();
        assert_eq!(code, (485_165_195i64 % 256).into());
    }

    #[test]
    fn products_of_digits_lie_within_the_series() {
        let mut functions = Functions::new();
        for (code, frac) in [(1, 0), (-1, 3), (4095, 2), (-8191, 2), (16_383, 0), (12_345, 7), (-77_777, 3), (5, -2)] {
            let x = Rational::from_code(&BigInt::from(code), frac);
            for bits in [PRODUCT_BITS, 1024, 4096] {
                let product = functions.exp_by_digits(&x, bits).unwrap().bounds();
                let series = functions.exp_by_series(&x, 2 * bits).bounds();
                assert!(product.low < series.low && series.high < product.high, "e^({x:?}) with {bits} bits");
                let width = &product.high - &product.low;
                assert!(width.shifted(i64::from(bits)) < series.low, "e^({x:?}) with {bits} bits");
            }
        }
        assert!(functions.exp_by_digits(&r("1/3"), 256).is_none());
    }

    #[test]
    fn at_zero_the_values_are_rational() {
        let mut functions = Functions::new();
        let q = Quantiser::parse("s8.5").unwrap();
        let codes = Function::ALL.map(|f| functions.code(f, &Rational::zero(), &q).unwrap());
        assert_eq!(codes, [16, 0, 0, 32, 0, 0].map(BigInt::from));
    }

    proptest! {
        /// Enclosures of increasing precision are nested, and contain the result of the computer's functions.
        #[test]
        fn enclosures_are_nested(code in -4096i64..4096, frac in 0i64..14, which in 0usize..6) {
            prop_assume!(code != 0);
            let (function, x) = (Function::ALL[which], Rational::from_code(&code.into(), frac));
            prop_assume!(x.abs() < Rational::from(40));
            let mut functions = Functions::new();
            let rough = functions.enclose(function, &x, 64);
            let fine = functions.enclose(function, &x, 512);
            let (high, fine_high) = (rough.high.unwrap(), fine.high.unwrap());
            prop_assert!(rough.low <= fine.low && fine.low < fine_high && fine_high <= high);
            let width = (&fine_high - &fine.low).to_f64() / fine.low.to_f64().abs().max(1.0);
            prop_assert!(width < 1e-100, "{width}");
            let machine = function.approximate(x.to_f64());
            prop_assert!(
                (machine - fine.low.to_f64()).abs() <= 1e-13 * machine.abs().max(1.0),
                "{machine} {:?}",
                fine.low.to_f64()
            );
        }

        /// Rounding to the nearest agrees with the computer's functions, except near ties.
        #[test]
        fn codes_agree_with_the_machine(code in -2048i64..2048, which in 0usize..6) {
            let x = Rational::from_code(&code.into(), 9);
            let kif = alir_core::num::Kif { signed: true, int: 10, frac: 12 };
            let q = Quantiser { kif, round: Round::HalfEven, overflow: Overflow::Saturate };
            let exact = Functions::new().code(Function::ALL[which], &x, &q).unwrap();
            let machine = Function::ALL[which].approximate(x.to_f64()) * 4096.0;
            prop_assert!(
                BigInt::from(machine.round_ties_even() as i64) == exact || (machine.fract().abs() - 0.5).abs() < 1e-6
            );
        }
    }
}
