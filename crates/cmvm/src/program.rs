//! Arguments of the solver (matrix, inputs) and its result (an adder graph), independent of the method.

use alir_core::num::Interval;

/// A dyadic number: `mantissa * 2^exponent`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Weight {
    /// Any integer, odd or not.
    pub mantissa: i128,
    /// Power of two.
    pub exponent: i32,
}

impl Weight {
    /// Normalises to an odd mantissa; zero has exponent 0.
    pub fn new(mantissa: i128, exponent: i32) -> Weight {
        if mantissa == 0 {
            return Weight::default();
        }
        let zeros = mantissa.trailing_zeros();
        Weight { mantissa: mantissa >> zeros, exponent: exponent + zeros as i32 }
    }

    /// Returns the exact value of a float; `None` for infinities and NaN.
    pub fn from_float(x: f64) -> Option<Weight> {
        if !x.is_finite() {
            return None;
        }
        let bits = x.to_bits();
        let (biased, fraction) = ((bits >> 52 & 0x7ff) as i32, i128::from(bits & ((1 << 52) - 1)));
        let magnitude = if biased == 0 { fraction } else { fraction | 1 << 52 };
        Some(Weight::new(if x < 0.0 { -magnitude } else { magnitude }, biased.max(1) - 1075))
    }
}

/// A constant matrix of `n_in` rows and `n_out` columns. Output `o` is the sum over all `i` of input `i` times weight
/// `(i, o)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    n_in: usize,
    n_out: usize,
    /// Row after row.
    weights: Vec<Weight>,
}

impl Matrix {
    /// Builds a matrix from weights in row-major order; a row has the weights of one input.
    ///
    /// # Panics
    /// If there are not `n_in * n_out` weights.
    pub fn new(n_in: usize, n_out: usize, weights: Vec<Weight>) -> Matrix {
        assert_eq!(weights.len(), n_in * n_out, "a matrix of {n_in} times {n_out}");
        Matrix { n_in, n_out, weights }
    }

    /// Builds a matrix from integers in row-major order; a row has the weights of one input.
    ///
    /// # Panics
    /// If there are not `n_in * n_out` integers.
    pub fn from_integers(n_in: usize, n_out: usize, integers: &[i64]) -> Matrix {
        Matrix::new(n_in, n_out, integers.iter().map(|&v| Weight::new(v.into(), 0)).collect())
    }

    /// Returns the number of inputs.
    pub fn n_in(&self) -> usize {
        self.n_in
    }

    /// Returns the number of outputs.
    pub fn n_out(&self) -> usize {
        self.n_out
    }

    /// Returns the weight of input `i` in output `o`.
    pub fn weight(&self, i: usize, o: usize) -> Weight {
        self.weights[i * self.n_out + o]
    }
}

/// An input of an adder graph: its interval and its arrival time.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// All values that the input may take.
    pub interval: Interval,
    /// Arrival time in units of the delay model; not negative.
    pub arrival: f64,
}

impl Input {
    /// Returns an input that arrives at time 0.
    pub fn new(interval: Interval) -> Input {
        Input { interval, arrival: 0.0 }
    }
}

/// An adder: `a + b * 2^shift`, or `a - b * 2^shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Adder {
    /// First operand: index of an earlier value of the graph.
    pub a: u32,
    /// Second operand: index of an earlier value of the graph.
    pub b: u32,
    /// Power of two that `b` is multiplied with; may be negative.
    pub shift: i32,
    /// `true` if `b` is subtracted.
    pub subtract: bool,
}

/// An output of an adder graph: a value times a power of two, possibly negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Output {
    /// Index of the value in the graph.
    pub value: u32,
    /// Power of two.
    pub shift: i32,
    /// `true` if the value is negated.
    pub negative: bool,
}

/// A constant matrix as additions and shifts. Values are indexed from 0: first the inputs, then the adders.
#[derive(Clone, Debug, PartialEq)]
pub struct AdderGraph {
    /// The inputs as given to the solver.
    pub inputs: Vec<Input>,
    /// The adders, each after its operands.
    pub adders: Vec<Adder>,
    /// The outputs; `None` is constant zero.
    pub outputs: Vec<Option<Output>>,
}
