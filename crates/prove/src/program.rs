//! A program as a design, operation by operation as section 3 of `docs/alir.md` defines it. It represents an optimised
//! program in the proof that optimisation preserved the semantics.
//!
//! Values are words in two's complement, wide enough to be exact until the operation's own type truncates them. The
//! signal of an operation is named after an operation of the program with which it is compared: one with the same
//! samples, the same low bits, or a constant distance for some inputs. The proof checks each name, which is only a
//! hint.

use alir_core::ir::{BinaryBits, Model, Op, Term, UnaryBits, ValueId, draw_inputs};
use alir_core::num::{Kif, SplitMix, wrap};
use alir_hdl::{Binary, NodeId, Reduce, Rtl, SignalId};
use alir_interp::{LookupMiss, Step, golden_steps};
use num_bigint::{BigInt, BigUint};
use num_traits::ToPrimitive;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Number of bits below which equal low bits of values are often a coincidence.
const FEW_BITS: u32 = 3;
/// Number of samples by which operations are recognised.
const SAMPLES: usize = 48;

/// Exact number: a word, its signedness, and the binary point.
#[derive(Clone, Copy)]
struct Fixed {
    word: NodeId,
    signed: bool,
    frac: i64,
}

struct Writer<'a> {
    model: &'a Model,
    rtl: Rtl,
    inputs: Vec<Fixed>,
    done: Vec<Fixed>,
}

/// Returns the program as a combinational design with the ports `model_inp` and `model_out`. Its signals are named
/// after operations of `like`.
pub fn rtl(model: &Model, like: &Model) -> Rtl {
    let mut w = Writer {
        model,
        rtl: Rtl::new("program".into(), vec!["latency: 0".into()]),
        inputs: Vec::new(),
        done: Vec::new(),
    };
    let widths = model.input_kifs().iter().map(|k| k.width());
    let port = w.port("model_inp", widths.clone().sum());
    let mut at = 0;
    for (kif, width) in model.input_kifs().iter().zip(widths) {
        let word = match port {
            Some(port) => {
                w.rtl.signal_mut(port).input = true;
                let bits = w.rtl.read(port);
                w.rtl.slice(bits, at, width)
            }
            None => w.rtl.number(0, 0),
        };
        at += width;
        w.inputs.push(Fixed { word, signed: kif.signed, frac: i64::from(kif.frac) });
    }
    w.rtl.inputs.extend(port);
    let names = names(model, like);
    for (id, name) in model.ids().zip(names) {
        let kif = model.kif(id);
        let exact = w.operation(id);
        let cut = w.cut(exact, kif);
        let word = if kif.is_zero() {
            cut.word
        } else {
            let signal = w.rtl.add_signal(name, kif.width(), 0);
            w.rtl.signal_mut(signal).wires.push((0, cut.word));
            w.rtl.read(signal)
        };
        w.done.push(Fixed { word, ..cut });
    }
    let mut outputs = Vec::new();
    for (j, output) in model.outputs().iter().enumerate() {
        let kif = model.output_kif(j);
        let value = match output.source {
            None => w.zero(),
            Some(v) => {
                let mut x = w.done[v.index()];
                if output.neg {
                    x = w.negative(x);
                }
                Fixed { frac: x.frac - i64::from(output.shift), ..x }
            }
        };
        outputs.push(w.cut(value, kif).word);
    }
    let all = w.rtl.concat(&outputs);
    let width = w.rtl.width(all);
    if let Some(port) = w.port("model_out", width) {
        w.rtl.signal_mut(port).wires.push((0, all));
        w.rtl.outputs.push(port);
    }
    w.rtl
}

impl Writer<'_> {
    fn port(&mut self, name: &str, width: u32) -> Option<SignalId> {
        (width > 0).then(|| self.rtl.add_signal(name.into(), width, 0))
    }

    fn zero(&mut self) -> Fixed {
        Fixed { word: self.rtl.number(0, 1), signed: false, frac: 0 }
    }

    fn number(&mut self, value: &BigInt, frac: i64) -> Fixed {
        let width = value.bits() as u32 + 1;
        let raw = wrap(value, Kif { signed: false, int: width as i32, frac: 0 });
        let word = self.rtl.constant(raw.to_biguint().unwrap_or_default(), width);
        Fixed { word, signed: true, frac }
    }

    /// Returns the number of bits of a number with a sign.
    fn signed_width(&self, x: Fixed) -> u32 {
        self.rtl.width(x.word) + u32::from(!x.signed)
    }

    fn widened(&mut self, x: Fixed, width: u32) -> NodeId {
        self.rtl.resize(x.word, width, x.signed)
    }

    /// Returns `align(v, frac, to)`.
    fn aligned(&mut self, x: Fixed, to: i64) -> Fixed {
        let width = self.rtl.width(x.word);
        if width == 0 || to == x.frac {
            return Fixed { frac: to, ..x };
        }
        let word = match u32::try_from(to - x.frac) {
            Ok(up) => {
                let zeros = self.rtl.number(0, up);
                self.rtl.concat(&[zeros, x.word])
            }
            Err(_) => {
                let down = u32::try_from(x.frac - to).unwrap_or(u32::MAX);
                match (down < width, x.signed) {
                    (true, _) => self.rtl.slice(x.word, down, width - down),
                    (false, true) => self.rtl.slice(x.word, width - 1, 1),
                    (false, false) => self.rtl.number(0, 1),
                }
            }
        };
        Fixed { word, signed: x.signed, frac: to }
    }

    /// Aligns a number and wraps it to a type.
    fn cut(&mut self, x: Fixed, kif: Kif) -> Fixed {
        let moved = self.aligned(x, i64::from(kif.frac));
        let word = self.widened(moved, kif.width());
        Fixed { word, signed: kif.signed, frac: i64::from(kif.frac) }
    }

    fn fixed(&self, v: ValueId, shift: i32) -> Fixed {
        let x = self.done[v.index()];
        Fixed { frac: x.frac - i64::from(shift), ..x }
    }

    fn negative(&mut self, x: Fixed) -> Fixed {
        self.sum(&[(x, true)])
    }

    /// Returns the exact sum of terms; `true` marks a subtracted term.
    fn sum(&mut self, terms: &[(Fixed, bool)]) -> Fixed {
        let frac = terms.iter().map(|x| x.0.frac).max().unwrap_or(0);
        let moved: Vec<(Fixed, bool)> = terms.iter().map(|&(x, minus)| (self.aligned(x, frac), minus)).collect();
        let widest = moved.iter().map(|x| self.signed_width(x.0)).max().unwrap_or(1);
        let width = widest + usize::BITS - terms.len().leading_zeros();
        let mut total = self.rtl.number(0, width);
        for (i, (x, minus)) in moved.into_iter().enumerate() {
            let word = self.widened(x, width);
            total = match (i, minus) {
                (0, false) => word,
                (_, false) => self.rtl.binary(Binary::Add, total, word),
                (_, true) => self.rtl.binary(Binary::Sub, total, word),
            };
        }
        Fixed { word: total, signed: true, frac }
    }

    /// Returns the bit on which a choice depends.
    fn top_bit(&mut self, v: ValueId) -> NodeId {
        let word = self.done[v.index()].word;
        match self.rtl.width(word) {
            0 => self.rtl.number(0, 1),
            width => self.rtl.slice(word, width - 1, 1),
        }
    }

    /// Returns the result before alignment and wrapping.
    fn operation(&mut self, id: ValueId) -> Fixed {
        let model = self.model;
        let kif = model.kif(id);
        let to = i64::from(kif.frac);
        match &model.node(id).op {
            Op::Input { input } => self.inputs[*input as usize],
            Op::Const { value } => self.number(&value.to_big(), to),
            Op::Neg { x } => {
                let x = self.fixed(*x, 0);
                self.negative(x)
            }
            Op::Add { a, b, shift } => self.sum(&[(self.fixed(*a, 0), false), (self.fixed(*b, *shift), false)]),
            Op::Sub { a, b, shift } => self.sum(&[(self.fixed(*a, 0), false), (self.fixed(*b, *shift), true)]),
            Op::Sum { terms } => {
                let term = |t: &Term| (self.fixed(t.value, t.shift), t.neg);
                let terms: Vec<_> = terms.iter().map(term).collect();
                self.sum(&terms)
            }
            Op::AddConst { x, value, shift } => {
                let constant = self.number(&value.to_big(), i64::from(*shift));
                self.sum(&[(self.fixed(*x, 0), false), (constant, false)])
            }
            Op::Relu { x } => {
                let value = self.fixed(*x, 0);
                if !value.signed || self.rtl.width(value.word) == 0 {
                    return value;
                }
                let (sign, zero) = (self.top_bit(*x), self.rtl.number(0, self.rtl.width(value.word)));
                Fixed { word: self.rtl.mux(sign, zero, value.word), ..value }
            }
            Op::Quantise { x, shift } => self.fixed(*x, *shift),
            Op::Mux { cond, on_true, on_false, shift } => {
                let cond = self.top_bit(*cond);
                let yes = self.aligned(self.fixed(*on_true, 0), to);
                let no = self.aligned(self.fixed(*on_false, *shift), to);
                let width = self.signed_width(yes).max(self.signed_width(no));
                let (yes, no) = (self.widened(yes, width), self.widened(no, width));
                Fixed { word: self.rtl.mux(cond, yes, no), signed: true, frac: to }
            }
            Op::Mul { a, b } => {
                let (a, b) = (self.fixed(*a, 0), self.fixed(*b, 0));
                let width = self.signed_width(a) + self.signed_width(b);
                let (x, y) = (self.widened(a, width), self.widened(b, width));
                Fixed { word: self.rtl.binary(Binary::Mul, x, y), signed: true, frac: a.frac + b.frac }
            }
            Op::Lookup { x, table, base } => {
                let entries = &model.table(*table).entries;
                let first = self.number(&base.to_big(), 0);
                let code = Fixed { frac: 0, ..self.fixed(*x, 0) };
                // The index has a sign: a negative index, read as unsigned, is beyond every table.
                let at = self.sum(&[(code, false), (first, true)]);
                let width = self.rtl.width(at.word).max(usize::BITS - entries.len().leading_zeros() + 1);
                let at = self.widened(at, width);
                let bits = |&e: &i32| {
                    let raw = wrap(&BigInt::from(e), Kif { signed: false, int: 32, frac: 0 });
                    raw.to_biguint().unwrap_or_default()
                };
                let entries: Vec<BigUint> = entries.iter().map(bits).collect();
                let missing = self.rtl.number(0, 32);
                Fixed { word: self.rtl.table(Arc::new(entries), at, missing), signed: true, frac: to }
            }
            Op::Unary { op, x } => {
                let value = self.fixed(*x, 0);
                let width = self.rtl.width(value.word);
                let word = match op {
                    UnaryBits::Not => {
                        // The value -a-1 of a signed number, or the complement of all bits.
                        let wide = if kif.signed { self.widened(value, self.signed_width(value)) } else { value.word };
                        return Fixed { word: self.rtl.not(wide), signed: kif.signed, ..value };
                    }
                    UnaryBits::Any if width == 0 => self.rtl.number(0, 1),
                    UnaryBits::All if width == 0 => self.rtl.number(1, 1),
                    UnaryBits::Any => self.rtl.reduce(Reduce::Any, value.word),
                    UnaryBits::All => self.rtl.reduce(Reduce::All, value.word),
                };
                // The raw integer value is 0 or 1 for any binary point.
                Fixed { word, signed: false, frac: to }
            }
            Op::Binary { op, a, b, shift } => {
                let (a, b) = (self.fixed(*a, 0), self.fixed(*b, *shift));
                let frac = a.frac.max(b.frac);
                let (a, b) = (self.aligned(a, frac), self.aligned(b, frac));
                let width = self.signed_width(a).max(self.signed_width(b));
                let (x, y) = (self.widened(a, width), self.widened(b, width));
                let op = match op {
                    BinaryBits::And => Binary::And,
                    BinaryBits::Or => Binary::Or,
                    BinaryBits::Xor => Binary::Xor,
                };
                Fixed { word: self.rtl.binary(op, x, y), signed: true, frac }
            }
        }
    }
}

/// Returns a signal name for each operation: that of the operation of `like` with the same samples, if there is one.
fn names(model: &Model, like: &Model) -> Vec<String> {
    let mut rng = SplitMix::new(0x70_61_73_73);
    let (mut ours, mut theirs): (Vec<Vec<i128>>, Vec<Vec<i128>>) = (Vec::new(), Vec::new());
    for _ in 0..SAMPLES {
        let codes = draw_inputs(like, &mut rng);
        for (model, seen) in [(model, &mut ours), (like, &mut theirs)] {
            let mut at = 0;
            let done = golden_steps(model, &codes, LookupMiss::Zero, |step| {
                if let Step::Op { code, .. } = step {
                    if seen.len() == at {
                        seen.push(Vec::with_capacity(SAMPLES));
                    }
                    seen[at].push(low_bits(code));
                    at += 1;
                }
            });
            if done.is_err() {
                break;
            }
        }
    }
    // Compares all bits, up to a power of two and the sign; then low bits, for each width that is read; then the
    // distance to a constant.
    let is_constant = |i: usize| matches!(like.nodes()[i].op, Op::Const { .. });
    let variable = || theirs.iter().enumerate().filter(|(i, _)| !is_constant(*i));
    let mut whole: FxHashMap<Vec<i128>, Vec<u32>> = FxHashMap::default();
    for (i, codes) in variable() {
        whole.entry(normal(codes)).or_default().push(i as u32);
    }
    let mut shifted: FxHashMap<Vec<i128>, Vec<u32>> = FxHashMap::default();
    for (i, codes) in variable() {
        if let Some(key) = moved(codes) {
            shifted.entry(key).or_default().push(i as u32);
        }
    }
    let mut low: FxHashMap<u32, FxHashMap<Vec<i128>, Vec<u32>>> = FxHashMap::default();
    let (mut last, mut used) = (0u32, vec![false; theirs.len()]);
    let mut out = Vec::with_capacity(ours.len());
    for (i, (codes, id)) in ours.iter().zip(model.ids()).enumerate() {
        let width = model.kif(id).width();
        // Several values may have equal samples, such as a number before and after clamping. Prefers a value with the
        // same raw integer value and type, and among these the next one without a signal name.
        let kif = model.kif(id);
        let near = |found: &Vec<u32>| {
            found.iter().copied().min_by_key(|&at| {
                let like_this = theirs[at as usize] == *codes;
                (!like_this, like.kif(ValueId(at)) != kif, used[at as usize], at.abs_diff(last))
            })
        };
        let mut found = whole.get(&normal(codes)).and_then(near);
        if found.is_none() && width > FEW_BITS {
            let mask = 1i128.checked_shl(width).map_or(-1, |top| top.wrapping_sub(1));
            let cut = |codes: &[i128]| codes.iter().map(|c| c & mask).collect::<Vec<_>>();
            let of_width = low.entry(width).or_insert_with(|| {
                let mut map: FxHashMap<Vec<i128>, Vec<u32>> = FxHashMap::default();
                for (i, codes) in variable() {
                    map.entry(cut(codes)).or_default().push(i as u32);
                }
                map
            });
            found = of_width.get(&cut(codes)).and_then(near);
        }
        if found.is_none()
            && let Some(key) = moved(codes)
        {
            found = shifted.get(&key).and_then(near);
        }
        if let Some(at) = found {
            last = at;
            used[at as usize] = true;
        }
        out.push(found.map_or_else(|| format!("new{i}"), |at| format!("v{at}")));
    }
    out
}

/// Returns the low 128 bits of a raw integer value, which are sufficient for a hint.
fn low_bits(code: &BigInt) -> i128 {
    code.to_i128().unwrap_or_else(|| (code & BigInt::from(u128::MAX)).to_u128().unwrap_or_default() as i128)
}

/// Returns the result of [`normal`] for the distances to the first value; `None` if these are merely those of a bit.
fn moved(codes: &[i128]) -> Option<Vec<i128>> {
    let (first, rest) = codes.split_first()?;
    let distances = normal(&rest.iter().map(|code| code.wrapping_sub(*first)).collect::<Vec<_>>());
    distances.iter().any(|d| d.unsigned_abs() > 1).then_some(distances)
}

/// Returns the values without their common power of two, and with a positive first value.
fn normal(codes: &[i128]) -> Vec<i128> {
    let shared = codes.iter().filter(|c| **c != 0).map(|c| c.trailing_zeros()).min().unwrap_or(0);
    let minus = codes.iter().find(|c| **c != 0).is_some_and(|c| *c < 0);
    codes.iter().map(|c| if minus { (c >> shared).wrapping_neg() } else { c >> shared }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::equiv::{Request, Verdict, prove};
    use crate::sat::Embedded;

    fn verdict_of(model: &Model, like: &Model) -> Verdict {
        let request = Request { latency: Some(0), ..Request::default() };
        prove(like, &rtl(model, like), &request, Box::new(Embedded)).0.verdict
    }

    #[test]
    fn a_program_as_a_design_is_the_program() {
        for seed in 0..60 {
            let model = alir_testing::random::Recipe::seeded(alir_testing::random::Profile::TINY, 14, seed).build();
            assert_eq!(verdict_of(&model, &model), Verdict::Proved, "seed {seed}");
        }
    }

    #[test]
    fn a_program_is_not_another_one() {
        // The other program has outputs of the same types, but one of its operations has another operand.
        let mut differ = 0;
        for seed in 0..60 {
            let model = alir_testing::random::Recipe::seeded(alir_testing::random::Profile::TINY, 14, seed).build();
            let Some(other) = alir_testing::random::with_a_sum_for_a_difference(&model) else { continue };
            match verdict_of(&other, &model) {
                Verdict::Differs { counterexample: Some(c), .. } => {
                    let golden = |m: &Model| alir_interp::golden(m, &c.inputs, LookupMiss::Zero).unwrap();
                    assert_eq!((&golden(&model)[c.output], &golden(&other)[c.output]), (&c.expected, &c.found));
                    differ += 1;
                }
                Verdict::Proved => {
                    let mut rng = SplitMix::new(seed);
                    for _ in 0..100 {
                        let codes = draw_inputs(&model, &mut rng);
                        let golden = |m: &Model| alir_interp::golden(m, &codes, LookupMiss::Zero).unwrap();
                        assert_eq!(golden(&model), golden(&other), "seed {seed}");
                    }
                }
                other => panic!("seed {seed}: {other:?}"),
            }
        }
        assert!(differ >= 10, "only {differ} differ");
    }
}
