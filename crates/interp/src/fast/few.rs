//! Evaluation of a few samples by a program without building a plan.
//!
//! A plan saves time only from some dozens of samples on; for fewer samples, this module evaluates the program in one
//! pass. The module implements section 3 of the specification in `i64`, for programs whose values and intermediates
//! fit; [`run_few`] returns `None` for other programs.

use super::run::{Fault, FaultKind};
use crate::{LookupMiss, MissedEntry};
use alir_core::ir::{BinaryBits, Model, Op, UnaryBits, ValueId};
use alir_core::num::Kif;
use num_bigint::BigInt;
use num_traits::ToPrimitive;

/// Number of samples that are evaluated together.
const LANES: usize = 8;

/// Largest number of samples for which this module is faster than a plan.
pub(in super::super) const FEW: usize = 32;

/// Largest width of a value in bits.
const WIDEST: u32 = 62;

/// Raw integer values of one operation's result, one per sample.
type Lanes = [i64; LANES];

/// Evaluates raw integer values of the input port, one row per sample, as [`super::Runner::run_exact`] does. Returns
/// `None` if some value or intermediate is too wide for this module.
///
/// # Panics
/// If the rows do not have the lengths of the ports, or the numbers of rows differ.
pub(in super::super) fn run_few(
    model: &Model,
    miss: LookupMiss,
    inputs: &[BigInt],
    outputs: &mut [BigInt],
) -> Option<Vec<Fault>> {
    let (n_inputs, n_outputs) = (model.n_inputs(), model.outputs().len());
    let samples = inputs.len().checked_div(n_inputs).or(outputs.len().checked_div(n_outputs)).unwrap_or(0);
    assert_eq!((inputs.len(), outputs.len()), (samples * n_inputs, samples * n_outputs), "whole rows, one a sample");
    let kifs = || model.kifs().iter().chain(model.input_kifs()).copied();
    let widths = kifs().chain((0..n_outputs).map(|j| model.output_kif(j))).map(Kif::width);
    if widths.max() > Some(WIDEST) {
        return None;
    }
    let mut faults = Vec::new();
    let mut few = Few { model, values: Vec::with_capacity(model.nodes().len()), misses: Vec::new() };
    for first in (0..samples).step_by(LANES) {
        let count = LANES.min(samples - first);
        few.values.clear();
        let input = |k: usize| {
            let mut lanes = [0; LANES];
            for (lane, code) in lanes.iter_mut().zip(inputs[first * n_inputs + k..].iter().step_by(n_inputs)) {
                *lane = code.to_i64()?;
            }
            Some(lanes)
        };
        for id in model.ids() {
            let lanes = few.operation(id, input)?;
            few.values.push(lanes);
        }
        for j in 0..n_outputs {
            let lanes = few.output(j)?;
            for (row, code) in lanes.into_iter().take(count).enumerate() {
                outputs[(first + row) * n_outputs + j] = code.into();
            }
        }
        // Operations are in order, so the first miss of each sample is its fault.
        for lane in 0..count {
            let missed = few.misses.iter().find(|(l, _)| *l == lane).filter(|_| miss == LookupMiss::Error);
            faults.extend(missed.map(|(_, m)| Fault { sample: first + lane, kind: FaultKind::Miss(m.clone()) }));
        }
        few.misses.clear();
    }
    Some(faults)
}

struct Few<'m> {
    model: &'m Model,
    values: Vec<Lanes>,
    /// Lookups outside their tables, with their lanes.
    misses: Vec<(usize, MissedEntry)>,
}

/// An operand: raw integer values, width and number of fractional bits.
#[derive(Clone, Copy)]
struct Operand {
    lanes: Lanes,
    width: u32,
    frac: i64,
}

/// Returns `code * 2^by`, or its floor; bits above 64 are dropped.
fn shift(lanes: Lanes, by: i64) -> Lanes {
    match by {
        0 => lanes,
        64.. => [0; LANES],
        1.. => lanes.map(|v| v << by),
        _ => lanes.map(|v| v >> (-by).min(63)),
    }
}

fn wrap(lanes: Lanes, kif: Kif) -> Lanes {
    match kif.width() {
        0 => [0; LANES],
        width if kif.signed => lanes.map(|v| v << (64 - width) >> (64 - width)),
        width => lanes.map(|v| v & ones(width)),
    }
}

/// Returns a mask of the low `width` bits; `width` is at most 63.
fn ones(width: u32) -> i64 {
    (1 << width) - 1
}

fn zip(a: Lanes, b: Lanes, f: impl Fn(i64, i64) -> i64) -> Lanes {
    std::array::from_fn(|k| f(a[k], b[k]))
}

/// Returns the operands aligned to the largest number of fractional bits, and this number. Returns `None` if the
/// alignment drops bits that are needed after the final shift to `out` fractional bits, including the additional bits
/// of a sum of several aligned operands.
fn common<const N: usize>(operands: [Operand; N], out: i64, spare: u32) -> Option<([Lanes; N], i64)> {
    let finest = operands.iter().map(|o| o.frac).max()?;
    let fits = |o: &Operand| finest - o.frac <= i64::from(WIDEST.saturating_sub(o.width + spare));
    // If the final shift is to the left, alignment may drop high bits: arithmetic is modulo 2^64, and each result type
    // has fewer than 64 bits.
    (finest <= out || operands.iter().all(fits)).then(|| (operands.map(|o| shift(o.lanes, finest - o.frac)), finest))
}

impl Few<'_> {
    fn operand(&self, v: ValueId, up: i32) -> Operand {
        let kif = self.model.kif(v);
        Operand { lanes: self.values[v.index()], width: kif.width(), frac: i64::from(kif.frac) - i64::from(up) }
    }

    fn operation(&mut self, id: ValueId, input: impl Fn(usize) -> Option<Lanes>) -> Option<Lanes> {
        let model = self.model;
        let kif = model.kif(id);
        let out = i64::from(kif.frac);
        let constant = |code: i64, frac: i64| Operand {
            lanes: [code; LANES],
            width: 65 - (code ^ code >> 63).leading_zeros(),
            frac,
        };
        let exact = match &model.node(id).op {
            Op::Input { input: k } => shift(input(*k as usize)?, out - i64::from(model.input_kifs()[*k as usize].frac)),
            Op::Const { value } => [value.to_i64()?; LANES],
            Op::Neg { x } => {
                let x = self.operand(*x, 0);
                shift(x.lanes.map(|v| -v), out - x.frac)
            }
            Op::Add { a, b, shift: by } => {
                let ([a, b], frac) = common([self.operand(*a, 0), self.operand(*b, *by)], out, 1)?;
                shift(zip(a, b, i64::wrapping_add), out - frac)
            }
            Op::Sub { a, b, shift: by } => {
                let ([a, b], frac) = common([self.operand(*a, 0), self.operand(*b, *by)], out, 1)?;
                shift(zip(a, b, i64::wrapping_sub), out - frac)
            }
            Op::Relu { x } => {
                let x = self.operand(*x, 0);
                shift(x.lanes.map(|v| v.max(0)), out - x.frac)
            }
            Op::Quantise { x, shift: by } => {
                let x = self.operand(*x, *by);
                shift(x.lanes, out - x.frac)
            }
            Op::AddConst { x, value, shift: by } => {
                let value = constant(value.to_i64()?, i64::from(*by));
                let ([x, value], frac) = common([self.operand(*x, 0), value], out, 1)?;
                shift(zip(x, value, i64::wrapping_add), out - frac)
            }
            Op::Sum { terms } => {
                let spare = usize::BITS - terms.len().leading_zeros();
                let operand = |t: &alir_core::ir::Term| self.operand(t.value, t.shift);
                let finest = terms.iter().map(|t| operand(t).frac).max()?;
                let mut sum = [0; LANES];
                for t in terms {
                    let term = operand(t);
                    if finest > out && finest - term.frac > i64::from(WIDEST.saturating_sub(term.width + spare)) {
                        return None;
                    }
                    let lanes = shift(term.lanes, finest - term.frac);
                    sum = zip(sum, lanes, if t.neg { i64::wrapping_sub } else { i64::wrapping_add });
                }
                shift(sum, out - finest)
            }
            Op::Mux { cond, on_true, on_false, shift: by } => {
                let (t, f) = (self.operand(*on_true, 0), self.operand(*on_false, *by));
                let (t, f) = (shift(t.lanes, out - t.frac), shift(f.lanes, out - f.frac));
                let cond_kif = model.kif(*cond);
                let cond = self.values[cond.index()];
                let bit = if cond_kif.signed { 63 } else { cond_kif.width().saturating_sub(1) };
                std::array::from_fn(|k| if cond[k] >> bit & 1 == 1 { t[k] } else { f[k] })
            }
            Op::Mul { a, b } => {
                let (a, b) = (self.operand(*a, 0), self.operand(*b, 0));
                let frac = a.frac + b.frac;
                if frac > out && a.width + b.width > WIDEST {
                    return None;
                }
                shift(zip(a.lanes, b.lanes, i64::wrapping_mul), out - frac)
            }
            Op::Lookup { x, table, base } => {
                let (entries, base) = (&model.table(*table).entries, base.to_i64()?);
                let x = self.values[x.index()];
                std::array::from_fn(|lane| {
                    let index = i128::from(x[lane]) - i128::from(base);
                    match usize::try_from(index).ok().and_then(|i| entries.get(i)) {
                        Some(&entry) => entry.into(),
                        None => {
                            let miss = MissedEntry { op: id, index: index.into(), len: entries.len() };
                            self.misses.push((lane, miss));
                            0
                        }
                    }
                })
            }
            Op::Unary { op: UnaryBits::Not, x } => {
                let ones = ones(model.kif(*x).width());
                let x = self.operand(*x, 0);
                let code = x.lanes.map(|v| if kif.signed { !v } else { ones - (v & ones) });
                shift(code, out - x.frac)
            }
            Op::Unary { op: UnaryBits::Any, x } => self.values[x.index()].map(|v| i64::from(v != 0)),
            Op::Unary { op: UnaryBits::All, x } => {
                let ones = ones(model.kif(*x).width());
                self.values[x.index()].map(|v| i64::from(v & ones == ones))
            }
            Op::Binary { op, a, b, shift: by } => {
                let ([a, b], frac) = common([self.operand(*a, 0), self.operand(*b, *by)], out, 0)?;
                let both = match op {
                    BinaryBits::And => zip(a, b, |a, b| a & b),
                    BinaryBits::Or => zip(a, b, |a, b| a | b),
                    BinaryBits::Xor => zip(a, b, |a, b| a ^ b),
                };
                shift(both, out - frac)
            }
        };
        Some(wrap(exact, kif))
    }

    fn output(&self, j: usize) -> Option<Lanes> {
        let (out, kif) = (&self.model.outputs()[j], self.model.output_kif(j));
        let Some(source) = out.source else { return Some([0; LANES]) };
        let x = self.operand(source, out.shift);
        let signed = if out.neg { x.lanes.map(|v| -v) } else { x.lanes };
        Some(wrap(shift(signed, i64::from(kif.frac) - x.frac), kif))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden;
    use alir_testing::random::{self, SplitMix};

    #[test]
    fn a_few_samples_agree_with_the_golden_interpreter() {
        let (mut ran, mut missed) = (0, 0);
        for seed in 0..2000 {
            let model = random::model(seed);
            let mut rng = SplitMix::new(seed);
            let samples = 1 + rng.below(2 * LANES as u64 + 1) as usize;
            let inputs: Vec<BigInt> = (0..samples).flat_map(|_| random::inputs(&model, &mut rng)).collect();
            for miss in [LookupMiss::Error, LookupMiss::Zero] {
                let n = model.outputs().len();
                let mut outputs = vec![BigInt::ZERO; samples * n];
                let Some(faults) = run_few(&model, miss, &inputs, &mut outputs) else { continue };
                ran += 1;
                for sample in 0..samples {
                    let row = &inputs[sample * model.n_inputs()..][..model.n_inputs()];
                    let fault = faults.iter().find(|f| f.sample == sample).map(|f| &f.kind);
                    match golden(&model, row, miss) {
                        Ok(codes) => {
                            assert_eq!(fault, None, "seed {seed}");
                            assert_eq!(outputs[sample * n..][..n], codes, "seed {seed} sample {sample}");
                        }
                        Err(expected) => {
                            missed += 1;
                            assert_eq!(fault, Some(&FaultKind::Miss(expected)), "seed {seed}");
                        }
                    }
                }
            }
        }
        // Most programs are narrow enough, and some lookups miss their tables.
        assert!(ran > 1000 && missed > 0, "{ran} {missed}");
    }
}
