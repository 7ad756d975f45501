//! Tests of the rules against integer arithmetic: random chains of operations on forms, compared with their values.

use super::samples::{LANES, Samples};
use super::{FormId, LinearForms, OrOverflow, RuleSet, Shape};
use alir_core::num::SplitMix;

/// Widths of the inputs, each with `true` for a signed input.
const INPUTS: [(u32, bool); 3] = [(4, true), (4, false), (2, true)];
/// Number of assignments of all inputs.
const ALL: usize = 1 << 10;
/// Largest magnitude of the numbers in a chain.
const LARGEST: i128 = 1 << 24;
/// Number of operations in a chain.
const STEPS: u64 = 14;

/// Operation on earlier values.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// `x + c y`.
    Linear(usize, i128, usize),
    Offset(usize, i128),
    Floor(usize, u32),
    Value(usize, u32, bool),
    Negative(usize),
    Zero(usize),
    Positive(usize),
    Times(usize, usize),
    And(usize, usize),
    /// The second value if the first one is 1, otherwise the third.
    Mux(usize, usize, usize),
    Named(usize),
    Table(usize, i128),
}

/// Returns the raw integer value of an input under an assignment.
fn code(input: usize, at: usize) -> i128 {
    let lo: u32 = INPUTS[..input].iter().map(|i| i.0).sum();
    let (width, signed) = INPUTS[input];
    let v = (at >> lo & ((1 << width) - 1)) as i128;
    if signed && v >> (width - 1) == 1 { v - (1 << width) } else { v }
}

/// Returns the value of an arbitrary function of a number.
fn entry(v: i128, seed: i128) -> i128 {
    (v * v * seed + v * 3 + (v ^ seed) % 5) % 37
}

impl Step {
    fn random(rng: &mut SplitMix, count: usize, bits: &[usize]) -> Step {
        // Prefers late values.
        let any = |rng: &mut SplitMix| {
            let (x, y) = (rng.below(count as u64), rng.below(count as u64));
            x.max(y) as usize
        };
        let x = any(rng);
        match rng.below(16) {
            0..=3 => {
                let c = [1, -1, 2, -2, 3, 4, -8, 16][rng.below(8) as usize];
                Step::Linear(x, c, any(rng))
            }
            4 => Step::Offset(x, rng.below(33) as i128 - 16),
            5 | 6 => Step::Floor(x, rng.below(4) as u32 + 1),
            7 => Step::Value(x, rng.below(6) as u32 + 1, rng.below(2) == 0),
            8 => Step::Negative(x),
            9 => Step::Zero(x),
            10 => Step::Positive(x),
            11 => Step::Times(x, any(rng)),
            12 => Step::And(x, any(rng)),
            13 | 14 if !bits.is_empty() => Step::Mux(bits[rng.below(bits.len() as u64) as usize], x, any(rng)),
            15 if rng.below(2) == 0 => Step::Table(x, rng.below(7) as i128 + 1),
            _ => Step::Named(x),
        }
    }

    /// Returns the value of the operation from the earlier values.
    fn value(self, of: &[Vec<i128>], at: usize) -> i128 {
        let v = |x: usize| of[x][at];
        match self {
            Step::Linear(x, c, y) => v(x) + c * v(y),
            Step::Offset(x, c) => v(x) + c,
            Step::Floor(x, m) => v(x).div_euclid(1 << m),
            Step::Value(x, w, signed) => {
                let low = v(x).rem_euclid(1 << w);
                if signed && low >= 1 << (w - 1) { low - (1 << w) } else { low }
            }
            Step::Negative(x) => i128::from(v(x) < 0),
            Step::Zero(x) => i128::from(v(x) == 0),
            Step::Positive(x) => v(x).max(0),
            Step::Times(x, y) => v(x) * v(y),
            Step::And(x, y) => v(x) & v(y),
            Step::Mux(c, x, y) => {
                if v(c) == 1 {
                    v(x)
                } else {
                    v(y)
                }
            }
            Step::Named(x) => v(x),
            Step::Table(x, seed) => entry(v(x), seed),
        }
    }

    fn form(self, t: &mut LinearForms, of: &[FormId]) -> OrOverflow<FormId> {
        match self {
            Step::Linear(x, c, y) => t.linear(of[x], c, of[y]),
            Step::Offset(x, c) => t.offset(of[x], c),
            Step::Floor(x, m) => t.floor(of[x], m),
            Step::Value(x, w, signed) => t.value(of[x], w, signed),
            Step::Negative(x) => t.negative(of[x]),
            Step::Zero(x) => t.zero(of[x]),
            Step::Positive(x) => t.positive(of[x]),
            Step::Times(x, y) => t.times(of[x], of[y]),
            Step::And(x, y) => {
                let out = t.and(&[of[x], of[y]])?;
                t.set_shape(out, Shape::And(of[x], of[y]));
                Ok(out)
            }
            Step::Mux(c, x, y) => t.mux(of[c], of[x], of[y]),
            Step::Named(x) => t.named(of[x]),
            Step::Table(x, seed) => t.table(of[x], |v| Ok(entry(v, seed))),
        }
    }
}

/// Builds the chain of a seed, and compares each form, its range and its definition with the values.
fn agrees(seed: u64, mut t: LinearForms) -> usize {
    let mut rng = SplitMix::new(seed);
    let mut numbers: Vec<Vec<i128>> = Vec::new();
    let mut forms: Vec<FormId> = Vec::new();
    let mut steps: Vec<Step> = Vec::new();
    for (i, &(width, signed)) in INPUTS.iter().enumerate() {
        numbers.push((0..ALL).map(|at| code(i, at)).collect());
        let half = if signed { 1 << (width - 1) } else { 0 };
        forms.push(t.free((-half, (1 << width) - 1 - half)).unwrap());
    }
    for _ in 0..STEPS {
        let bits: Vec<usize> = (0..numbers.len()).filter(|&i| t.range(forms[i]) == (0, 1)).collect();
        let step = Step::random(&mut rng, numbers.len(), &bits);
        let values: Vec<i128> = (0..ALL).map(|at| step.value(&numbers, at)).collect();
        if values.iter().any(|v| v.abs() > LARGEST) {
            continue;
        }
        let Ok(f) = step.form(&mut t, &forms) else { continue };
        numbers.push(values);
        forms.push(f);
        steps.push(step);
    }
    for from in (0..ALL).step_by(LANES) {
        let mut samples = Samples::given(&t, |input, lane| code(input, from + lane));
        for (i, &f) in forms.iter().enumerate() {
            let (lo, hi) = t.range(f);
            let meaning = t.meaning(f);
            let (found, meant) = (samples.lanes(&t, f), samples.lanes(&t, meaning));
            for lane in 0..LANES {
                let v = numbers[i][from + lane];
                let inputs: Vec<i128> = (0..INPUTS.len()).map(|j| code(j, from + lane)).collect();
                let what = || format!("seed {seed}, value {i} for {inputs:?}: {steps:?}");
                assert_eq!(found[lane], v, "{}", what());
                assert_eq!(meant[lane], v, "meaning, {}", what());
                assert!(lo <= v && v <= hi, "{v} outside {lo}..{hi}, {}", what());
            }
        }
    }
    steps.len()
}

#[test]
fn rules_hold_for_every_value() {
    let seeds = alir_testing::seeds(0..300);
    let count = seeds.end - seeds.start;
    let mut made = 0;
    for seed in seeds {
        for terms in [LinearForms::default(), LinearForms::with(RuleSet::All), LinearForms::with(RuleSet::Bits)] {
            made += agrees(seed, terms) as u64;
        }
    }
    assert!(made > count * STEPS, "only {made} operations in {count} chains");
}

/// Adds `-2^k` times the sign of a number that is rounded towards zero, as in a sum whose high part is computed
/// separately. The sign selects the number that is added, and thereby the bounds of the sum.
#[test]
fn bounds_of_both_cases_of_a_sign_are_those_of_its_number() {
    let mut t = LinearForms::with(RuleSet::All);
    let x = t.free((-16, 15)).unwrap();
    let below = t.negative(x).unwrap();
    let rounded = t.add(x, below).unwrap();
    let signs = |t: &mut LinearForms, c: i128| {
        let moved = t.offset(rounded, c).unwrap();
        let sign = t.negative(moved).unwrap();
        t.as_const(sign)
    };
    // x + 16 for negative x, x + 15 otherwise.
    assert_eq!(signs(&mut t, 15), Some(0));
    // -1 for x = -16.
    assert_eq!(signs(&mut t, 14), None);
    // x - 15 for x that is not negative; for x = 15 the result is 0.
    assert_eq!(signs(&mut t, -15), None);
    assert_eq!(signs(&mut t, -16), Some(1));
    // The same for a name, and for a multiple with another summand.
    let y = t.free((0, 3)).unwrap();
    let whole = t.linear(x, 16, y).unwrap();
    let high = t.floor(whole, 1).unwrap();
    let name = t.named(high).unwrap();
    let below = t.negative(name).unwrap();
    let sum = t.scale(name, -3).unwrap();
    let sum = t.linear(sum, 40, below).unwrap();
    let sum = t.linear(sum, 1, y).unwrap();
    let (_, most) = t.range(name);
    // -3 n + y <= 3 for n that is not negative; otherwise at least 40 + 3.
    let over = t.offset(sum, 3 * most).unwrap();
    let sign = t.negative(over).unwrap();
    assert_eq!(t.as_const(sign), Some(0));
}

/// An odd and an even function as tables of the magnitude, as optimisation generates them, equal tables of the number
/// itself: for an input, and for a name whose sign and magnitude are atoms of other values.
#[test]
fn tables_of_the_magnitude_are_tables_of_the_number() {
    for is_name in [false, true] {
        let mut t = LinearForms::with(RuleSet::All);
        let mut x = t.free((-64, 63)).unwrap();
        if is_name {
            let y = t.free((0, 15)).unwrap();
            let sum = t.linear(y, 3, x).unwrap();
            let high = t.floor(sum, 2).unwrap();
            x = t.named(high).unwrap();
        }
        let odd = |v: i128| v.signum() * (v * v % 23 + v.abs());
        let whole = t.table(x, |v| Ok(odd(v) + 7)).unwrap();
        let sign = t.negative(x).unwrap();
        let repeated = t.scale(sign, -1).unwrap();
        let flipped = |t: &mut LinearForms, v: FormId| {
            let (sum, both) = (t.add(v, repeated).unwrap(), t.and(&[v, repeated]).unwrap());
            t.linear(sum, -2, both).unwrap()
        };
        let magnitude = flipped(&mut t, x);
        let magnitude = t.add(magnitude, sign).unwrap();
        for wrong in [0, 1] {
            let half = t.table(magnitude, |v| Ok(odd(v) + wrong * i128::from(v == 5))).unwrap();
            let word = flipped(&mut t, half);
            let word = t.add(word, sign).unwrap();
            let word = t.offset(word, 7).unwrap();
            assert_eq!(t.same(word, whole, 12).unwrap(), wrong == 0, "name {is_name}");
            // The sign must not be added twice.
            let more = t.add(word, sign).unwrap();
            assert!(!t.same(more, whole, 12).unwrap(), "name {is_name}");
        }
    }
}

#[test]
fn two_halves_of_a_number_are_the_number() {
    let mut t = LinearForms::default();
    let (x, y) = (t.free((-8, 7)).unwrap(), t.free((0, 15)).unwrap());
    let sum = t.linear(x, 3, y).unwrap();
    for m in 1..4 {
        let (low, half) = (t.floor(sum, m).unwrap(), t.floor(sum, m - 1).unwrap());
        for offset in 1..1 << m {
            let moved = t.offset(sum, offset).unwrap();
            let rounded = t.floor(moved, m).unwrap();
            let both = t.add(low, rounded).unwrap();
            assert_eq!(both == half, offset == 1 << (m - 1), "floors by 2^{m} of a number and of it and {offset}");
        }
    }
}

#[test]
fn a_value_below_a_floor_is_left_out_but_for_its_top_bit() {
    let mut t = LinearForms::default();
    let (x, y, z) = (t.free((0, 3)).unwrap(), t.free((0, 7)).unwrap(), t.free((-16, 15)).unwrap());
    let top = t.floor(x, 1).unwrap();
    let (whole, high) = (t.linear(x, 2, y).unwrap(), t.add(y, top).unwrap());
    assert_eq!(t.floor(whole, 3), t.floor(high, 2));
    // The same before a rectifier; false for another bit.
    let (whole, high) = (t.linear(x, 2, z).unwrap(), t.add(z, top).unwrap());
    let [whole, high, other] = [whole, high, z].map(|f| t.positive(f).unwrap());
    assert_eq!(t.floor(whole, 3), t.floor(high, 2));
    assert_ne!(t.floor(whole, 3), t.floor(other, 2));
}
