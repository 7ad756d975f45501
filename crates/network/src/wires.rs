//! Lowering of fixed-point arithmetic to ALIR: exact sums, products, look-up tables, and every rounding and overflow
//! mode, bit-exact.
//!
//! Each [`Wire`] has the exact interval of its values, so that no operation wraps and no constant bit is computed.
//! Equal operations on equal operands are built once.

use super::digits;
use super::exact::Rational;
use super::quantise::{Overflow, Quantiser, Round};
use super::reciprocal::Division;
use super::solver::MatrixSolver;
use alir_cmvm::{self, Matrix, Weight};
use alir_core::ir::{BinaryBits, Builder, Model, Op, Output, Table, TableId, UnaryBits, ValueId};
use alir_core::num::{Code, Interval, Kif, align};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use rustc_hash::FxHashMap;

/// A value of the program with its range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Operation that computes the value.
    pub id: ValueId,
    /// Interval that contains all values.
    pub interval: Interval,
}

impl Wire {
    /// Returns the number of fractional bits.
    pub fn frac(&self) -> i32 {
        self.interval.frac
    }

    /// Returns the smallest raw integer value.
    pub fn min(&self) -> BigInt {
        self.interval.min.to_big()
    }

    /// Returns the largest raw integer value.
    pub fn max(&self) -> BigInt {
        self.interval.max.to_big()
    }

    /// Returns the range of the value after it is rounded to fewer fractional bits.
    fn rounded_interval(&self, frac: i32, round: Round) -> Interval {
        let end = |code: BigInt| Rational::from_code(&code, i64::from(self.frac()) - i64::from(frac)).round(round);
        Interval::new(end(self.min()), end(self.max()), frac)
    }

    /// Returns `true` if the value is always zero.
    pub fn is_zero(&self) -> bool {
        self.interval.min.is_zero() && self.interval.max.is_zero()
    }

    /// Returns `true` if the value may be negative.
    pub fn may_be_negative(&self) -> bool {
        self.interval.min.is_negative()
    }
}

/// A program under construction.
pub struct Wires {
    builder: Builder,
    inputs: u32,
    known: FxHashMap<(Op, Interval), ValueId>,
    tables: FxHashMap<(Vec<i32>, Interval), TableId>,
}

impl Wires {
    /// Returns an empty program with this number of input elements.
    pub fn new(inputs: usize) -> Wires {
        Wires {
            builder: Builder::new(vec![0; inputs]),
            inputs: inputs as u32,
            known: FxHashMap::default(),
            tables: FxHashMap::default(),
        }
    }

    /// Returns the number of operations so far.
    pub fn len(&self) -> usize {
        self.builder.nodes().len()
    }

    /// Returns `true` if the program has no operations.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of entries of all tables so far.
    pub fn table_entries(&self) -> usize {
        self.builder.tables().iter().map(|t| t.entries.len()).sum()
    }

    fn op(&mut self, op: Op, interval: Interval) -> Wire {
        let key = (op, interval);
        if let Some(&id) = self.known.get(&key) {
            return Wire { id, interval: key.1 };
        }
        let id = self.builder.op(key.0.clone(), key.1.clone());
        let wire = Wire { id, interval: key.1.clone() };
        self.known.insert(key, id);
        wire
    }

    /// Returns input element `index`, which may have any value of a type.
    pub fn input(&mut self, index: u32, kif: Kif) -> Wire {
        debug_assert!(index < self.inputs);
        self.op(Op::Input { input: index }, Interval::full(kif))
    }

    /// Returns the constant `code * 2^-frac`.
    pub fn constant(&mut self, code: &BigInt, frac: i32) -> Wire {
        let interval = Interval::new(code, code, frac);
        self.op(Op::Const { value: Code::from(code) }, interval)
    }

    /// Returns `a + b * 2^shift`, or `a - b * 2^shift` if `subtract` is set; exact.
    pub fn add(&mut self, a: &Wire, b: &Wire, shift: i32, subtract: bool) -> Wire {
        let b_frac = b.frac() - shift;
        let frac = a.frac().max(b_frac);
        let up = |code: BigInt, from: i32| align(&code, from.into(), frac.into());
        let (a_min, a_max) = (up(a.min(), a.frac()), up(a.max(), a.frac()));
        let (b_min, b_max) = (up(b.min(), b_frac), up(b.max(), b_frac));
        let (min, max) = match subtract {
            false => (a_min + b_min, a_max + b_max),
            true => (a_min - b_max, a_max - b_min),
        };
        let op = match subtract {
            false => Op::Add { a: a.id, b: b.id, shift },
            true => Op::Sub { a: a.id, b: b.id, shift },
        };
        self.op(op, Interval::new(min, max, frac))
    }

    /// Returns `x + code * 2^-frac`; exact.
    pub fn add_constant(&mut self, x: &Wire, code: &BigInt, frac: i32) -> Wire {
        let Some(zeros) = code.trailing_zeros() else { return x.clone() };
        let (code, shift) = (code >> zeros, frac - zeros as i32);
        let to = x.frac().max(shift);
        let added = align(&code, shift.into(), to.into());
        let up = |c: BigInt| align(&c, x.frac().into(), to.into());
        let interval = Interval::new(up(x.min()) + &added, up(x.max()) + &added, to);
        self.op(Op::AddConst { x: x.id, value: Code::from(code), shift }, interval)
    }

    /// Returns `-x`.
    pub fn negated(&mut self, x: &Wire) -> Wire {
        if x.is_zero() {
            return x.clone();
        }
        self.op(Op::Neg { x: x.id }, x.interval.negated())
    }

    /// Returns `x * 2^shift`: the same bits with another binary point.
    pub fn shifted(&mut self, x: &Wire, shift: i32) -> Wire {
        if shift == 0 {
            return x.clone();
        }
        self.op(Op::Quantise { x: x.id, shift }, x.interval.scaled(shift))
    }

    /// Returns `max(x, 0)`.
    pub fn relu(&mut self, x: &Wire) -> Wire {
        if !x.may_be_negative() {
            return x.clone();
        }
        let interval = Interval::new(0, x.interval.max.clone().max(Code::ZERO), x.frac());
        self.op(Op::Relu { x: x.id }, interval)
    }

    /// Returns `a * b`.
    pub fn multiply(&mut self, a: &Wire, b: &Wire) -> Wire {
        let ends = [a.min() * b.min(), a.min() * b.max(), a.max() * b.min(), a.max() * b.max()];
        let square = a.id == b.id;
        let mut min = ends.iter().min().cloned().unwrap_or_default();
        if square && min.is_negative() {
            min = BigInt::ZERO;
        }
        let max = ends.iter().max().cloned().unwrap_or_default();
        self.op(Op::Mul { a: a.id, b: b.id }, Interval::new(min, max, a.frac() + b.frac()))
    }

    /// Returns `a * b`, by shifts and additions if one factor is constant.
    pub fn scaled_product(&mut self, a: &Wire, b: &Wire) -> Wire {
        let (factor, other) = match a.interval.min == a.interval.max {
            true => (a, b),
            false if b.interval.min == b.interval.max => (b, a),
            false => return self.multiply(a, b),
        };
        self.weighted_sum(&[(other.clone(), factor.min())], factor.frac(), &(BigInt::ZERO, 0))
    }

    /// Returns the exact sum of values.
    pub fn sum(&mut self, terms: &[Wire]) -> Wire {
        let terms: Vec<(Wire, BigInt)> = terms.iter().map(|x| (x.clone(), BigInt::one())).collect();
        self.weighted_sum(&terms, 0, &(BigInt::ZERO, 0))
    }

    /// Returns the largest of one or more values, as a tree of comparisons.
    pub fn maximum(&mut self, values: &[Wire]) -> Wire {
        let mut level = values.to_vec();
        while level.len() > 1 {
            level = level
                .chunks(2)
                .map(|pair| if let [a, b] = pair { self.larger(a, b) } else { pair[0].clone() })
                .collect();
        }
        level.pop().expect("at least one value")
    }

    fn larger(&mut self, a: &Wire, b: &Wire) -> Wire {
        let difference = self.add(a, b, 0, true);
        if a.id == b.id || !difference.may_be_negative() {
            return a.clone();
        }
        if difference.interval.max.is_negative() {
            return b.clone();
        }
        let frac = a.frac().max(b.frac());
        let up = |code: BigInt, x: &Wire| align(&code, x.frac().into(), frac.into());
        let (min, max) = (up(a.min(), a).max(up(b.min(), b)), up(a.max(), a).max(up(b.max(), b)));
        self.mux(&difference, b, a, min, max)
    }

    /// Returns the wire with a narrower declared range, which must contain every value.
    pub fn narrowed(&mut self, x: &Wire, min: BigInt, max: BigInt) -> Wire {
        let (min, max) = (min.max(x.min()), max.min(x.max()));
        if (&min, &max) == (&x.min(), &x.max()) {
            return x.clone();
        }
        self.op(Op::Quantise { x: x.id, shift: 0 }, Interval::new(min, max, x.frac()))
    }

    /// Returns the quantised quotient `x / n`; `n` is at least 1.
    pub fn quotient(&mut self, x: &Wire, n: &BigInt, quantiser: &Quantiser) -> Wire {
        let twos = n.trailing_zeros().unwrap_or(0);
        let (odd, x) = (n >> twos, self.shifted(x, -(twos as i32)));
        if odd.is_one() {
            return self.quantised(&x, quantiser);
        }
        let frac = quantiser.kif.frac;
        // The unit is the finer one of the steps of `x` and of the type; in this unit the divisor is odd * 2^dropped.
        let fine = x.frac().max(frac);
        let dropped = (fine - frac) as u64;
        let divisor = &odd << dropped;
        let (negative, positive) = quantiser.round.division_summands(&divisor);
        if quantiser.round == Round::HalfEven {
            let up = self.floored_quotient(&x, &(&divisor >> 1u32), &odd, frac);
            if dropped == 0 {
                return self.overflowed(&up, quantiser);
            }
            // The values rounded up and rounded down differ at a tie only, and one of them is even.
            let down = self.floored_quotient(&x, &positive, &odd, frac);
            let last = self.op(Op::Quantise { x: up.id, shift: 0 }, Interval::new(0, 1, frac));
            let (min, max) = (down.min(), up.max());
            let even = self.mux(&last, &down, &up, min, max);
            return self.overflowed(&even, quantiser);
        }
        let code = if negative == positive || !x.may_be_negative() {
            self.floored_quotient(&x, &positive, &odd, frac)
        } else {
            let (n, p) = (self.constant(&negative, fine), self.constant(&positive, fine));
            let (min, max) = (negative.clone().min(positive.clone()), negative.max(positive));
            let offset = self.mux(&x, &n, &p, min, max);
            let moved = self.add(&x, &offset, 0, false);
            self.floored_quotient(&moved, &BigInt::ZERO, &odd, frac)
        };
        self.overflowed(&code, quantiser)
    }

    /// Returns `floor((x + code) / odd)` in units of `2^-frac`; the unit of `code` is the finer one of the steps of `x`
    /// and of the result.
    fn floored_quotient(&mut self, x: &Wire, code: &BigInt, odd: &BigInt, frac: i32) -> Wire {
        // Floors can be nested, so the low bits are dropped first.
        let moved = self.add_constant(x, code, x.frac().max(frac));
        let whole = self.floor(&moved, frac);
        // All values in units of 2^-frac.
        let up = |c: BigInt| align(&c, whole.frac().into(), frac.into());
        let (low, high) = (up(whole.min()), up(whole.max()));
        let division = Division::new(odd, &low, &high);
        let offset = (division.offset.clone(), frac);
        let product = self.weighted_sum(&[(whole, division.factor.clone())], 0, &offset);
        let scaled = self.shifted(&product, -(division.shift as i32));
        let interval = Interval::new(low.div_floor(odd), high.div_floor(odd), frac);
        self.op(Op::Quantise { x: scaled.id, shift: 0 }, interval)
    }

    /// Returns `codes[x - x.min]`; the entries are raw integer values with `frac` fractional bits and at most 33 bits.
    pub fn lookup(&mut self, x: &Wire, codes: &[i64], frac: i32) -> Wire {
        let (min, max) = (codes.iter().copied().min().unwrap_or(0), codes.iter().copied().max().unwrap_or(0));
        if min == max {
            return self.constant(&BigInt::from(min), frac);
        }
        // Table entries are signed 32-bit numbers: an offset moves larger unsigned entries into this range.
        let offset = if i32::try_from(max).is_err() { 1i64 << 31 } else { 0 };
        let entries: Vec<i32> = codes.iter().map(|&code| (code - offset) as i32).collect();
        let out = Interval::new(min - offset, max - offset, frac);
        let key = (entries, out);
        let table = match self.tables.get(&key) {
            Some(&table) => table,
            None => {
                let (entries, out) = key.clone();
                let inp_width = x.interval.kif().width().into();
                let table = self.builder.table(Table { entries, out, hash: String::new(), inp_width });
                self.tables.insert(key.clone(), table);
                table
            }
        };
        let wire = self.op(Op::Lookup { x: x.id, table, base: x.interval.min.clone() }, key.1);
        self.add_constant(&wire, &BigInt::from(offset), frac)
    }

    /// Returns `on_true` if the top bit of `cond` is set, otherwise `on_false`. The caller guarantees that the result
    /// is between the raw values `min` and `max`, with the larger number of fractional bits of both operands.
    fn mux(&mut self, cond: &Wire, on_true: &Wire, on_false: &Wire, min: BigInt, max: BigInt) -> Wire {
        let frac = on_true.frac().max(on_false.frac());
        let op = Op::Mux { cond: cond.id, on_true: on_true.id, on_false: on_false.id, shift: 0 };
        self.op(op, Interval::new(min, max, frac))
    }

    /// Returns `x` rounded down to at most `frac` fractional bits.
    fn floor(&mut self, x: &Wire, frac: i32) -> Wire {
        if frac >= x.frac() {
            return x.clone();
        }
        let down = |c: BigInt| align(&c, x.frac().into(), frac.into());
        let interval = Interval::new(down(x.min()), down(x.max()), frac);
        self.op(Op::Quantise { x: x.id, shift: 0 }, interval)
    }

    /// Returns the quantised value.
    pub fn quantised(&mut self, x: &Wire, quantiser: &Quantiser) -> Wire {
        let rounded = self.rounded(x, quantiser.kif.frac, quantiser.round);
        self.overflowed(&rounded, quantiser)
    }

    /// Returns `x` rounded to at most `frac` fractional bits.
    pub fn rounded(&mut self, x: &Wire, frac: i32, round: Round) -> Wire {
        if frac >= x.frac() || x.is_zero() {
            return x.clone();
        }
        let dropped = (x.frac() - frac) as u64;
        // Summand before the floor, in raw values of x: zero, half a step less a bit, half a step, a step less a bit.
        let half = BigInt::one() << (dropped - 1);
        let below_half = &half - 1;
        let below_one = (BigInt::one() << dropped) - 1;
        let by_sign = |positive: &BigInt, negative: &BigInt| (positive.clone(), negative.clone());
        let (positive, negative) = match round {
            Round::Floor => by_sign(&BigInt::ZERO, &BigInt::ZERO),
            Round::Ceil => by_sign(&below_one, &below_one),
            Round::TowardZero => by_sign(&BigInt::ZERO, &below_one),
            Round::AwayFromZero => by_sign(&below_one, &BigInt::ZERO),
            Round::HalfUp => by_sign(&half, &half),
            Round::HalfDown => by_sign(&below_half, &below_half),
            Round::HalfAway => by_sign(&half, &below_half),
            Round::HalfTowardZero => by_sign(&below_half, &half),
            Round::HalfEven => return self.rounded_to_even(x, frac),
        };
        let moved = if positive == negative || !x.may_be_negative() {
            self.add_constant(x, &positive, x.frac())
        } else if x.interval.max.is_negative() {
            self.add_constant(x, &negative, x.frac())
        } else {
            let (n, p) = (self.constant(&negative, x.frac()), self.constant(&positive, x.frac()));
            let (min, max) = if negative < positive { (negative, positive) } else { (positive, negative) };
            let offset = self.mux(x, &n, &p, min, max);
            self.add(x, &offset, 0, false)
        };
        self.floor_of_rounded(x, &moved, frac, round)
    }

    /// Rounds to the nearest, halves to even: rounds halves up, and clears the last bit after a half (if all dropped
    /// bits are zero). The summand may be merged with another constant, and needs no gate.
    fn rounded_to_even(&mut self, x: &Wire, frac: i32) -> Wire {
        let dropped = (x.frac() - frac) as u64;
        let moved = self.add_constant(x, &(BigInt::one() << (dropped - 1)), x.frac());
        let up = self.floor_of_rounded(x, &moved, frac, Round::HalfUp);
        let dropped_bits = Interval::new(0, (BigInt::one() << dropped) - 1, x.frac());
        let dropped_bits = self.op(Op::Quantise { x: moved.id, shift: 0 }, dropped_bits);
        let is_no_tie = self.any(&dropped_bits);
        let is_no_tie = self.shifted(&is_no_tie, -frac);
        let last = self.op(Op::Quantise { x: up.id, shift: 0 }, Interval::new(0, 1, frac));
        let last = Op::Binary { op: BinaryBits::And, a: last.id, b: is_no_tie.id, shift: 0 };
        let last = self.op(last, Interval::new(0, 1, frac));
        let even = self.floor(&up, frac - 1);
        // The last bit is below all other bits, so this addition is a concatenation.
        let op = Op::Add { a: even.id, b: last.id, shift: 0 };
        self.op(op, x.rounded_interval(frac, Round::HalfEven))
    }

    /// Returns the quantised value of `max(x, 0)`. Rounding modes are monotone and preserve zero, so the number can be
    /// rounded before its sign is tested: then the summand of the rounding merges with the bias, and the multiplexer is
    /// narrower. For a negative number any result that is not positive is correct, so the mode of positive numbers is
    /// used for all numbers.
    pub fn rectified(&mut self, x: &Wire, quantiser: &Quantiser) -> Wire {
        let rounded = match x.interval.max.is_negative() {
            true => x.clone(),
            false => self.rounded(x, quantiser.kif.frac, quantiser.round.for_positive()),
        };
        let rectified = self.relu(&rounded);
        self.overflowed(&rectified, quantiser)
    }

    /// Returns the floor of `moved`, which is `x` plus the summand of a rounding mode. Rounding is monotone, so the
    /// ends of `x` determine the ends of the result.
    fn floor_of_rounded(&mut self, x: &Wire, moved: &Wire, frac: i32, round: Round) -> Wire {
        self.op(Op::Quantise { x: moved.id, shift: 0 }, x.rounded_interval(frac, round))
    }

    /// Converts a value with at most the fractional bits of the type to the type, with its overflow mode.
    fn overflowed(&mut self, x: &Wire, quantiser: &Quantiser) -> Wire {
        let kif = quantiser.kif;
        let (low, high) = quantiser.codes();
        let up = |code: BigInt| align(&code, x.frac().into(), kif.frac.into());
        let (min, max) = (up(x.min()), up(x.max()));
        if low <= min && max <= high {
            return x.clone();
        }
        match quantiser.overflow {
            Overflow::Wrap => self.op(Op::Quantise { x: x.id, shift: 0 }, Interval::full(kif)),
            Overflow::Saturate | Overflow::SaturateSymmetric => {
                let below = if max > high { self.clipped_above(x, kif, &high, &high) } else { x.clone() };
                if min >= low {
                    return below;
                }
                self.clipped_below(x, &below, kif, &low, &low)
            }
            Overflow::Zero => {
                let below = if max > high { self.clipped_above(x, kif, &high, &BigInt::ZERO) } else { x.clone() };
                if min >= low {
                    return below;
                }
                self.clipped_below(x, &below, kif, &low, &BigInt::ZERO)
            }
        }
    }

    /// Returns `replacement` if `x` is above the largest raw value of a type, otherwise `x`. The limit is a power of
    /// two, so only the bits above the type are tested.
    fn clipped_above(&mut self, x: &Wire, kif: Kif, high: &BigInt, replacement: &BigInt) -> Wire {
        let top = self.floor(x, -kif.int);
        // x > high if and only if floor(x / 2^int) >= 1.
        let above = if top.may_be_negative() { self.negated(&top) } else { self.any(&top) };
        let with = self.constant(replacement, kif.frac);
        let min = align(&x.min(), x.frac().into(), kif.frac.into());
        let (min, max) = (min.min(replacement.clone()), high.clone());
        self.mux(&above, &with, x, min, max)
    }

    /// Returns `replacement` if `x` is below `low`, otherwise `rest`, which is `x` with its upper end clipped.
    fn clipped_below(&mut self, x: &Wire, rest: &Wire, kif: Kif, low: &BigInt, replacement: &BigInt) -> Wire {
        let below = if low.is_zero() {
            x.clone()
        } else if *low == kif.min_code() {
            // x < -2^int if and only if floor(x / 2^int) + 1 < 0.
            let top = self.floor(x, -kif.int);
            self.add_constant(&top, &BigInt::one(), -kif.int)
        } else {
            self.add_constant(x, &-low, kif.frac)
        };
        let with = self.constant(replacement, kif.frac);
        let max = align(&rest.max(), rest.frac().into(), kif.frac.into());
        let (min, max) = (low.clone(), max.max(replacement.clone()));
        self.mux(&below, &with, rest, min, max)
    }

    /// Returns one bit, 1 if a value that is never negative is above zero.
    fn any(&mut self, x: &Wire) -> Wire {
        self.op(Op::Unary { op: UnaryBits::Any, x: x.id }, Interval::new(0, 1, 0))
    }

    /// Returns the sum of values times integers, and a constant: a tree of adders over the signed digits of the
    /// factors.
    ///
    /// Factors and the constant are `code * 2^-frac`.
    pub fn weighted_sum(&mut self, terms: &[(Wire, BigInt)], frac: i32, constant: &(BigInt, i32)) -> Wire {
        let mut parts: Vec<(Wire, i32, bool)> = Vec::new();
        for (x, factor) in terms.iter().filter(|(x, _)| !x.is_zero()) {
            for (place, negative) in digits::signed(factor) {
                parts.push((x.clone(), place as i32 - frac, negative));
            }
        }
        if parts.is_empty() {
            return self.constant(&constant.0, constant.1);
        }
        // Terms with the lowest top bits are added first, so that wide adders come late.
        while parts.len() > 1 {
            parts.sort_by_key(|(x, shift, negative)| {
                let kif = x.interval.kif();
                (kif.int + i32::from(kif.signed) + shift, *negative, *shift, x.id)
            });
            let mut next = Vec::with_capacity(parts.len() / 2 + 1);
            let mut rest = parts.into_iter();
            while let Some(a) = rest.next() {
                let Some(b) = rest.next() else {
                    next.push(a);
                    break;
                };
                // The positive term comes first, so that a difference needs no negation.
                let (a, b) = if a.2 && !b.2 { (b, a) } else { (a, b) };
                let sum = self.add(&a.0, &b.0, b.1 - a.1, a.2 != b.2);
                next.push((sum, a.1, a.2));
            }
            parts = next;
        }
        let (sum, shift, negative) = parts.pop().expect("one is left");
        let sum = self.shifted(&sum, shift);
        let sum = if negative { self.negated(&sum) } else { sum };
        self.add_constant(&sum, &constant.0, constant.1)
    }

    /// Returns a constant matrix times a vector, plus constants, as shifts and additions that the rows share.
    ///
    /// `codes` has the raw values of the matrix in row-major order, one row for each output, with `frac` fractional
    /// bits; each constant has its own number of fractional bits.
    ///
    /// # Errors
    /// Returns an internal error of the solver.
    pub fn product(
        &mut self,
        x: &[Wire],
        codes: &[Code],
        frac: i32,
        constants: &[(BigInt, i32)],
        solver: &mut MatrixSolver,
    ) -> Result<Vec<Wire>, String> {
        let weight = |k: usize, row: usize| {
            let code = codes[row * x.len() + k].to_i128()?;
            Some(Weight::new(code, -frac))
        };
        let rows = constants.len();
        let weights = (0..x.len()).flat_map(|k| (0..rows).map(move |row| (k, row)));
        let weights: Option<Vec<Weight>> = weights.map(|(k, row)| weight(k, row)).collect();
        let inputs: Vec<alir_cmvm::Input> = x.iter().map(|x| alir_cmvm::Input::new(x.interval.clone())).collect();
        let solved = match weights {
            None => None,
            Some(weights) => {
                let matrix = Matrix::new(x.len(), rows, weights);
                solver.solve(&matrix, &inputs)?
            }
        };
        let Some((program, report)) = solved else {
            let row = |row: usize| {
                let terms = x.iter().enumerate().map(|(k, wire)| (wire.clone(), codes[row * x.len() + k].to_big()));
                let terms: Vec<(Wire, BigInt)> = terms.filter(|(_, factor)| !factor.is_zero()).collect();
                self.weighted_sum(&terms, frac, &constants[row])
            };
            return Ok((0..rows).map(row).collect());
        };
        let mut values: Vec<Wire> = x.to_vec();
        for (adder, interval) in program.adders.iter().zip(&report.intervals[x.len()..]) {
            let (a, b) = (values[adder.a as usize].id, values[adder.b as usize].id);
            let op = match adder.subtract {
                false => Op::Add { a, b, shift: adder.shift },
                true => Op::Sub { a, b, shift: adder.shift },
            };
            values.push(self.op(op, interval.clone()));
        }
        let mut outputs = Vec::with_capacity(rows);
        for (output, (code, frac)) in program.outputs.iter().zip(constants) {
            outputs.push(match output {
                None => self.constant(code, *frac),
                Some(output) => {
                    let value = self.shifted(&values[output.value as usize].clone(), output.shift);
                    let value = if output.negative { self.negated(&value) } else { value };
                    self.add_constant(&value, code, *frac)
                }
            });
        }
        Ok(outputs)
    }

    /// Appends an output element with this port, whose interval must contain all values.
    pub fn output(&mut self, x: &Wire, port: &Interval) {
        let x = match *port == x.interval {
            false => self.op(Op::Quantise { x: x.id, shift: 0 }, port.clone()),
            true => x.clone(),
        };
        self.builder.output(Output { source: Some(x.id), shift: 0, neg: false });
    }

    /// Checks the program and returns it.
    ///
    /// # Errors
    /// If the program exceeds a limit.
    pub fn finish(self) -> Result<Model, String> {
        self.builder.finish().map_err(|problems| problems.first().map(|p| format!("{p:?}")).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alir_interp::{LookupMiss, golden};
    use proptest::prelude::*;

    const ROUNDS: [Round; 9] = [
        Round::Floor,
        Round::Ceil,
        Round::TowardZero,
        Round::AwayFromZero,
        Round::HalfUp,
        Round::HalfDown,
        Round::HalfAway,
        Round::HalfTowardZero,
        Round::HalfEven,
    ];

    /// Returns the value of the only output for a raw value of the only input.
    fn run(model: &Model, code: i64) -> Rational {
        let out = golden(model, &[BigInt::from(code)], LookupMiss::Error).unwrap();
        Rational::from_code(&out[0], model.output_kif(0).frac.into())
    }

    /// Compares every mode with its definition, for every value of every small type.
    #[test]
    fn every_mode_on_every_code() {
        for (signed, width, frac) in [(true, 6, 4), (false, 5, 4), (true, 6, 0), (true, 1, 2)] {
            let source = Kif { signed, int: width - frac - i32::from(signed), frac };
            for (to_signed, to_width, to_frac) in [
                (true, 3, 1),
                (false, 3, 2),
                (true, 1, 0),
                (false, 1, 0),
                (true, 4, -1),
                (true, 9, 6),
                (false, 2, 4),
                (true, 2, 6),
            ] {
                let kif = Kif { signed: to_signed, int: to_width - to_frac - i32::from(to_signed), frac: to_frac };
                for round in ROUNDS {
                    for (_, overflow) in Overflow::NAMED {
                        let quantiser = Quantiser { kif, round, overflow };
                        let mut wires = Wires::new(1);
                        let x = wires.input(0, source);
                        let y = wires.quantised(&x, &quantiser);
                        wires.output(&y, &Interval::full(kif));
                        let model = wires.finish().unwrap();
                        assert_eq!(model.output_kif(0), kif);
                        let (first, last) = (source.min_code(), source.max_code());
                        for code in i64::try_from(first).unwrap()..=i64::try_from(last).unwrap() {
                            let expected = quantiser.value(&Rational::from_code(&code.into(), frac.into()));
                            assert_eq!(run(&model, code), expected, "{source} {code} to {quantiser:?}");
                        }
                    }
                }
            }
        }
    }

    /// Compares quotients by numbers that are not powers of two, for every mode and value.
    #[test]
    fn quotients_in_every_mode() {
        let source = Kif { signed: true, int: 4, frac: 3 };
        for n in [1, 3, 6, 7, 12, 25] {
            for (to_signed, to_width, to_frac) in
                [(true, 4, 1), (false, 3, 2), (true, 3, 3), (true, 9, 6), (true, 5, -1)]
            {
                let kif = Kif { signed: to_signed, int: to_width - to_frac - i32::from(to_signed), frac: to_frac };
                for round in ROUNDS {
                    let quantiser = Quantiser { kif, round, overflow: Overflow::Saturate };
                    let mut wires = Wires::new(1);
                    let x = wires.input(0, source);
                    let y = wires.quotient(&x, &BigInt::from(n), &quantiser);
                    wires.output(&y, &Interval::full(kif));
                    let model = wires.finish().unwrap();
                    for code in -128i64..128 {
                        let exact = Rational::from_code(&code.into(), 3).checked_div(&Rational::from(n)).unwrap();
                        assert_eq!(run(&model, code), quantiser.value(&exact), "{code} / {n} to {quantiser:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_largest_of_values_of_several_types() {
        let mut wires = Wires::new(3);
        let kifs = [(true, 2, 1), (false, 1, 2), (true, 3, 0)].map(|(signed, int, frac)| Kif { signed, int, frac });
        let all: Vec<Wire> = kifs.iter().enumerate().map(|(k, kif)| wires.input(k as u32, *kif)).collect();
        let most = wires.maximum(&all);
        wires.output(&most, &most.interval);
        let model = wires.finish().unwrap();
        for a in -8i64..8 {
            for b in 0i64..8 {
                for c in -8i64..8 {
                    let out = golden(&model, &[a.into(), b.into(), c.into()], LookupMiss::Error).unwrap();
                    let found = Rational::from_code(&out[0], model.output_kif(0).frac.into());
                    assert_eq!(found, Rational::from_code(&(2 * a).max(b).max(4 * c).into(), 2));
                }
            }
        }
    }

    proptest! {
        /// Sums of weighted inputs are exact, and have the types of their exact ranges.
        #[test]
        fn weighted_sums(
            factors in prop::collection::vec(-300i64..300, 1..6),
            codes in prop::collection::vec(-8i64..8, 6),
            constant in -1000i64..1000,
            frac in -3i32..6,
        ) {
            let mut wires = Wires::new(factors.len());
            let kif = Kif { signed: true, int: 2, frac: 1 };
            let terms: Vec<_> =
                factors.iter().enumerate().map(|(k, f)| (wires.input(k as u32, kif), BigInt::from(*f))).collect();
            let sum = wires.weighted_sum(&terms, frac, &(constant.into(), 2));
            wires.output(&sum, &sum.interval);
            let model = wires.finish().unwrap();
            let codes: Vec<BigInt> = codes[..factors.len()].iter().map(|&c| BigInt::from(c)).collect();
            let out = golden(&model, &codes, LookupMiss::Error).unwrap();
            let found = Rational::from_code(&out[0], model.output_kif(0).frac.into());
            let mut expected = Rational::from_code(&constant.into(), 2);
            for (f, c) in factors.iter().zip(&codes) {
                expected = &expected + &Rational::from_code(&(c * *f), i64::from(frac) + 1);
            }
            prop_assert_eq!(found, expected);
        }
    }
}
