//! The model's values as forms, built only from section 3 of `docs/alir.md`.

use super::{FormId, LinearForms, OrOverflow, Overflow, RuleSet, Shape, mul, power};
use alir_core::ir::{BinaryBits, Model, Op, UnaryBits, ValueId};
use alir_core::num::{Kif, wrap};
use num_bigint::BigInt;
use num_traits::ToPrimitive;

/// Forms of the raw integer values of a model.
#[derive(Clone, Debug, Default)]
pub struct ModelForms {
    /// Raw integer value of each input element.
    pub inputs: Vec<FormId>,
    /// Raw integer value of each operation.
    pub ops: Vec<FormId>,
    /// Raw integer value of each output element.
    pub outputs: Vec<FormId>,
}

/// A number with fractional bits.
#[derive(Clone, Copy)]
struct Fixed {
    code: FormId,
    frac: i64,
}

fn steps(n: i64) -> OrOverflow<u32> {
    u32::try_from(n).map_err(|_| Overflow)
}

/// Returns `align(v, frac, to)`.
fn aligned(t: &mut LinearForms, x: Fixed, to: i64) -> OrOverflow<FormId> {
    if to >= x.frac {
        if t.as_const(x.code) == Some(0) {
            return Ok(x.code);
        }
        t.scale(x.code, power(steps(to - x.frac)?)?)
    } else {
        t.floor(x.code, steps(x.frac - to)?)
    }
}

fn number(t: &mut LinearForms, value: &BigInt) -> OrOverflow<FormId> {
    let v = value.to_i128().filter(|v| v.unsigned_abs() >> 120 == 0).ok_or(Overflow)?;
    Ok(t.constant(v))
}

/// Builds the forms of all operations and outputs.
///
/// # Errors
/// [`Overflow`] if a value exceeds 127 bits.
pub fn forms(t: &mut LinearForms, model: &Model) -> OrOverflow<ModelForms> {
    let mut out = ModelForms::default();
    for kif in model.input_kifs() {
        let (lo, hi) = (kif.min_code(), kif.max_code());
        let (Some(lo), Some(hi)) = (lo.to_i128(), hi.to_i128()) else { return Err(Overflow) };
        let form = if kif.is_zero() { t.constant(0) } else { t.free((lo, hi))? };
        out.inputs.push(form);
    }
    for id in model.ids() {
        let kif = model.kif(id);
        let (exact, frac) = operation(t, model, &out, id)?;
        let moved = aligned(t, Fixed { code: exact, frac }, i64::from(kif.frac))?;
        if t.rules() == RuleSet::Local {
            t.expanded(moved)?;
        }
        let mut form = t.value(moved, kif.width(), kif.signed)?;
        if form != moved && (t.rules().has_names() || t.rules() == RuleSet::Local) {
            // The number before wrapping has its own name.
            let name = t.named(moved)?;
            form = t.value(name, kif.width(), kif.signed)?;
        }
        out.ops.push(t.named(form)?);
    }
    for (j, output) in model.outputs().iter().enumerate() {
        let kif = model.output_kif(j);
        let form = match output.source {
            None => t.constant(0),
            Some(v) => {
                let sign = if output.neg { -1 } else { 1 };
                let code = t.scale(out.ops[v.index()], sign)?;
                let frac = i64::from(model.kif(v).frac) - i64::from(output.shift);
                let moved = aligned(t, Fixed { code, frac }, i64::from(kif.frac))?;
                t.value(moved, kif.width(), kif.signed)?
            }
        };
        out.outputs.push(form);
    }
    Ok(out)
}

/// Returns the result before alignment and wrapping, and its number of fractional bits.
fn operation(t: &mut LinearForms, model: &Model, done: &ModelForms, id: ValueId) -> OrOverflow<(FormId, i64)> {
    let kif = model.kif(id);
    let to = i64::from(kif.frac);
    let fixed = |v: ValueId, shift: i32| Fixed {
        code: done.ops[v.index()],
        frac: i64::from(model.kif(v).frac) - i64::from(shift),
    };
    Ok(match &model.node(id).op {
        Op::Input { input } => (done.inputs[*input as usize], i64::from(model.input_kifs()[*input as usize].frac)),
        Op::Const { value } => (number(t, &wrap(&value.to_big(), kif))?, to),
        Op::Neg { x } => {
            let x = fixed(*x, 0);
            (t.scale(x.code, -1)?, x.frac)
        }
        Op::Add { a, b, shift } => sum(t, &[(fixed(*a, 0), false), (fixed(*b, *shift), false)])?,
        Op::Sub { a, b, shift } => sum(t, &[(fixed(*a, 0), false), (fixed(*b, *shift), true)])?,
        Op::Sum { terms } => {
            let terms: Vec<_> = terms.iter().map(|x| (fixed(x.value, x.shift), x.neg)).collect();
            sum(t, &terms)?
        }
        Op::AddConst { x, value, shift } => {
            let c = Fixed { code: number(t, &value.to_big())?, frac: i64::from(*shift) };
            sum(t, &[(fixed(*x, 0), false), (c, false)])?
        }
        Op::Relu { x } => {
            let x = fixed(*x, 0);
            (t.positive(x.code)?, x.frac)
        }
        Op::Quantise { x, shift } => {
            let x = fixed(*x, *shift);
            (x.code, x.frac)
        }
        Op::Mux { cond, on_true, on_false, shift } => {
            let bit = top_bit(t, done.ops[cond.index()], model.kif(*cond))?;
            let yes = aligned(t, fixed(*on_true, 0), to)?;
            let no = aligned(t, fixed(*on_false, *shift), to)?;
            (t.mux(bit, yes, no)?, to)
        }
        Op::Mul { a, b } => {
            let (x, y) = (fixed(*a, 0), fixed(*b, 0));
            (t.times(x.code, y.code)?, x.frac + y.frac)
        }
        Op::Lookup { x, table, base } => {
            let entries = &model.table(*table).entries;
            let base = base.to_i128().filter(|b| b.unsigned_abs() >> 120 == 0).ok_or(Overflow)?;
            let found = t.table(done.ops[x.index()], |code| {
                let index = usize::try_from(code - base).ok();
                Ok(index.and_then(|i| entries.get(i)).map_or(0, |&e| i128::from(e)))
            })?;
            (found, to)
        }
        Op::Unary { op: UnaryBits::Not, x } => {
            let from = model.kif(*x);
            let v = fixed(*x, 0);
            let minus = t.scale(v.code, -1)?;
            if kif.signed {
                return Ok((t.offset(minus, -1)?, v.frac));
            }
            let all = power(from.width())? - 1;
            let bits = t.value(v.code, from.width(), false)?;
            let minus = t.scale(bits, -1)?;
            (t.offset(minus, all)?, v.frac)
        }
        Op::Unary { op, x } => {
            let from = model.kif(*x);
            let code = done.ops[x.index()];
            let bit = match (op, from.signed) {
                (UnaryBits::Any, _) => {
                    let none = t.zero(code)?;
                    t.complement(none)?
                }
                (_, _) if from.is_zero() => t.constant(1),
                (_, true) => {
                    let x = t.offset(code, 1)?;
                    t.zero(x)?
                }
                (_, false) => {
                    let x = t.offset(code, 1 - power(from.width())?)?;
                    t.zero(x)?
                }
            };
            // The raw integer value is 0 or 1 for any binary point.
            (bit, to)
        }
        Op::Binary { op, a, b, shift } => {
            let (x, y) = (fixed(*a, 0), fixed(*b, *shift));
            let frac = x.frac.max(y.frac);
            let (x, y) = (aligned(t, x, frac)?, aligned(t, y, frac)?);
            (bitwise(t, *op, x, y)?, frac)
        }
    })
}

/// Returns a bitwise operation, expressed by the bitwise and, which is an atom.
fn bitwise(t: &mut LinearForms, op: BinaryBits, x: FormId, y: FormId) -> OrOverflow<FormId> {
    let both = t.and(&[x, y])?;
    let (out, shape) = match op {
        BinaryBits::And => (both, Shape::And(x, y)),
        BinaryBits::Or => {
            let sum = t.add(x, y)?;
            (t.sub(sum, both)?, Shape::Or(x, y))
        }
        BinaryBits::Xor => {
            let sum = t.add(x, y)?;
            (t.linear(sum, -2, both)?, Shape::Xor(x, y))
        }
    };
    t.set_shape(out, shape);
    Ok(out)
}

/// Returns the top bit: the sign bit if signed, otherwise bit `width - 1`; 0 for a value without bits.
fn top_bit(t: &mut LinearForms, code: FormId, kif: Kif) -> OrOverflow<FormId> {
    if kif.is_zero() {
        return Ok(t.constant(0));
    }
    if kif.signed {
        return t.negative(code);
    }
    t.floor(code, kif.width() - 1)
}

/// Returns the sum of terms at their finest binary point, and its number of fractional bits; `true` marks a subtracted
/// term.
fn sum(t: &mut LinearForms, terms: &[(Fixed, bool)]) -> OrOverflow<(FormId, i64)> {
    let frac = terms.iter().map(|x| x.0.frac).max().unwrap_or(0);
    let mut total = t.constant(0);
    for &(x, minus) in terms {
        if t.as_const(x.code) == Some(0) {
            continue;
        }
        let factor = mul(power(steps(frac - x.frac)?)?, if minus { -1 } else { 1 })?;
        total = t.linear(total, factor, x.code)?;
    }
    Ok((total, frac))
}

#[cfg(test)]
mod tests {
    use super::super::bits::Bits;
    use super::super::samples::{LANES, Samples};
    use super::*;
    use crate::aig::Gate;
    use crate::engine::Engine;
    use crate::sat::Embedded;
    use alir_interp::{LookupMiss, Step, golden_steps};

    /// Compares every operation and output of a random program with the reference interpreter, for random inputs:
    /// forms, their ranges, the definitions of values, and the gates of the outputs.
    fn agrees_with_golden(model: &Model, seed: u64, mut t: LinearForms) -> bool {
        let Ok(forms) = forms(&mut t, model) else { return false };
        let mut samples = Samples::random(&t, seed);
        let mut e = Engine::new(Box::new(Embedded));
        let mut bits = Bits::default();
        let gates: Vec<_> = forms
            .outputs
            .iter()
            .enumerate()
            .map(|(j, &f)| bits.word(&t, &mut e, f, model.output_kif(j).width() as usize).ok())
            .collect();
        for lane in (0..LANES).step_by(5) {
            let inputs: Vec<BigInt> = forms.inputs.iter().map(|&f| BigInt::from(samples.lanes(&t, f)[lane])).collect();
            let mut check = |f: FormId, code: &BigInt, what: String| {
                let v = samples.lanes(&t, f)[lane];
                assert_eq!(BigInt::from(v), *code, "{what}");
                let (lo, hi) = t.range(f);
                assert!(lo <= v && v <= hi, "{what}: {v} is outside {lo}..{hi}");
                let meaning = t.meaning(f);
                assert_eq!(samples.lanes(&t, meaning)[lane], v, "{what}");
            };
            let outputs = golden_steps(model, &inputs, LookupMiss::Zero, |step| {
                if let Step::Op { id, code, .. } = step {
                    check(forms.ops[id.index()], code, format!("seed {seed}, {id} {:?}", model.node(id).op));
                }
            })
            .unwrap();
            for (j, code) in outputs.iter().enumerate() {
                check(forms.outputs[j], code, format!("seed {seed}, output {j}"));
            }
            // The inputs' gates get the values of the lane.
            let mut pattern = vec![false; e.words.aig.inputs().len()];
            for &f in &forms.inputs {
                for (a, _) in t.terms(f) {
                    let value = samples.lanes(&t, f)[lane];
                    for (i, l) in bits.atom(a).unwrap_or_default().iter().enumerate() {
                        if let Gate::Input(n) = e.words.aig.gate(l.node()) {
                            pattern[n as usize] = value >> i.min(127) & 1 == 1;
                        }
                    }
                }
            }
            let values = e.evaluate(&pattern);
            for (j, word) in gates.iter().enumerate() {
                for (i, l) in word.iter().flatten().enumerate() {
                    let seen = values[l.node() as usize] != l.is_negated();
                    assert_eq!(seen, outputs[j].bit(i as u64), "seed {seed}, output {j}, bit {i}");
                }
            }
        }
        true
    }

    #[test]
    fn forms_agree_with_the_golden_interpreter() {
        // The normal test run uses one set of rules for each seed, a longer run both sets.
        let seeds = alir_testing::seeds(0..250);
        let count = (seeds.end - seeds.start) as usize;
        let both = seeds.start > 0;
        let mut said = 0;
        for seed in seeds {
            for terms in [LinearForms::default(), LinearForms::with(RuleSet::All), LinearForms::with(RuleSet::Local)] {
                if both || terms.rules() == RuleSet::Local || seed.is_multiple_of(2) != terms.rules().has_names() {
                    said += usize::from(agrees_with_golden(&alir_testing::random::model(seed), seed, terms));
                }
            }
        }
        // Rounding after a ReLU equals a form of rounding before it.
        for seed in 0..300 {
            let model = alir_testing::random::rounded::program(seed);
            for rules in [RuleSet::Rows, RuleSet::All, RuleSet::Local] {
                assert!(agrees_with_golden(&model, seed, LinearForms::with(rules)), "seed {seed}");
            }
        }
        eprintln!("forms said {said} programs");
        assert!(said > count - 10, "forms said only {said} of {count} programs");
    }
}
