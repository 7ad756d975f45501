//! Gates of the model, built only from section 3 of `docs/alir.md`.
//!
//! Every operation's result before wrapping is an exact integer. Here it is a two's complement word wide enough for the
//! integer, which is then aligned to the result's binary point and truncated to its type. A lookup outside its table
//! gives zero, as in hardware. Bits that can only be copies of the sign, by interval arithmetic from the port types,
//! are replaced at once, so that both sides of a proof agree on them.

use super::aig::Lit;
use super::bit_vector::{Words, extension, resize};
use alir_core::ir::{BinaryBits, Model, Op, UnaryBits, ValueId};
use alir_core::num::{Kif, align, wrap};
use num_bigint::BigInt;
use num_traits::ToPrimitive;

/// Bits of every operation and output, low bits first, as wide as their types.
#[derive(Debug, Default)]
pub struct ModelBits {
    start: Vec<u32>,
    bits: Vec<Lit>,
    /// Bits of each output element.
    pub outputs: Vec<Vec<Lit>>,
}

impl ModelBits {
    /// Returns all bits, operation by operation, then output by output.
    pub(super) fn all(&self) -> impl Iterator<Item = Lit> {
        self.bits.iter().chain(self.outputs.iter().flatten()).copied()
    }

    /// Returns the bits of one operation.
    pub fn op(&self, id: ValueId) -> &[Lit] {
        &self.bits[self.start[id.index()] as usize..self.start[id.index() + 1] as usize]
    }
}

/// Exact number: two's complement bits (the last one is the sign), and the number of fractional bits.
struct Exact {
    bits: Vec<Lit>,
    frac: i64,
}

impl Exact {
    /// Returns the value of an operand times `2^shift`.
    fn new(bits: &[Lit], kif: Kif, shift: i64) -> Exact {
        let mut bits = bits.to_vec();
        if !kif.signed {
            bits.push(Lit::FALSE);
        }
        if bits.is_empty() {
            bits.push(Lit::FALSE);
        }
        Exact { bits, frac: i64::from(kif.frac) - shift }
    }

    fn constant(value: &BigInt, frac: i64) -> Exact {
        let width = value.bits() as usize + 1;
        Exact { bits: constant_bits(value, width), frac }
    }

    /// Returns the bits of `align(v, frac, to)`: appends zeros below, or rounds down.
    fn aligned(&self, to: i64) -> Vec<Lit> {
        if to >= self.frac {
            let mut bits = vec![Lit::FALSE; (to - self.frac) as usize];
            bits.extend_from_slice(&self.bits);
            bits
        } else {
            let drop = ((self.frac - to) as usize).min(self.bits.len() - 1);
            self.bits[drop..].to_vec()
        }
    }

    /// Returns the bits aligned and truncated to a type.
    fn wrapped(&self, kif: Kif) -> Vec<Lit> {
        resize(&self.aligned(i64::from(kif.frac)), true, kif.width() as usize)
    }
}

/// Returns a value of type `from`, times `2^shift`, in type `to`: aligned, then wrapped.
pub(super) fn converted(bits: &[Lit], from: Kif, shift: i64, to: Kif) -> Vec<Lit> {
    Exact::new(bits, from, shift).wrapped(to)
}

/// Returns the low `width` bits of an integer.
pub(super) fn constant_bits(value: &BigInt, width: usize) -> Vec<Lit> {
    (0..width as u64).map(|i| Lit::constant(value.bit(i))).collect()
}

/// Bounds of a raw integer value of up to 120 bits.
type Range = Option<(i128, i128)>;

/// Builds the gates of the model over these input words: one word for each port element, as wide as its type.
pub fn blast(w: &mut Words, model: &Model, inputs: &[Vec<Lit>]) -> ModelBits {
    blasted(w, model, inputs, tightened)
}

/// Like [`blast`], but keeps every bit that an operation computes, even if the range of the operands makes it a copy of
/// the sign. Used for bit-serial designs.
pub(super) fn blast_by_types(w: &mut Words, model: &Model, inputs: &[Vec<Lit>]) -> ModelBits {
    blasted(w, model, inputs, |bits, _, _| bits)
}

fn blasted(
    w: &mut Words,
    model: &Model,
    inputs: &[Vec<Lit>],
    shown: impl Fn(Vec<Lit>, Kif, Range) -> Vec<Lit>,
) -> ModelBits {
    let mut out = ModelBits::default();
    let mut ranges: Vec<Range> = Vec::with_capacity(model.nodes().len());
    out.start.push(0);
    for id in model.ids() {
        let kif = model.kif(id);
        let (exact_range, bits) = operation(w, model, inputs, &out, &ranges, id);
        let range = clip(exact_range, kif);
        let bits = shown(bits, kif, range);
        ranges.push(range);
        out.bits.extend_from_slice(&bits);
        out.start.push(out.bits.len() as u32);
    }
    for (j, output) in model.outputs().iter().enumerate() {
        let kif = model.output_kif(j);
        let bits = match output.source {
            None => vec![Lit::FALSE; kif.width() as usize],
            Some(v) => {
                let from = Exact::new(out.op(v), model.kif(v), i64::from(output.shift));
                if output.neg { negated(w, &from).wrapped(kif) } else { from.wrapped(kif) }
            }
        };
        out.outputs.push(bits);
    }
    out
}

/// Returns an upper bound of the number of gates that [`blast`] builds, before sharing.
pub fn gates_at_most(model: &Model) -> u64 {
    let bits = |v: ValueId| u64::from(model.kif(v).width()) + 2;
    let outputs = (0..model.outputs().len()).map(|j| 16 * (u64::from(model.output_kif(j).width()) + 2));
    let operations = model.ids().map(|id| {
        let own = bits(id);
        let read = model.node(id).op.operands().into_iter().map(bits).fold(own, u64::saturating_add);
        match &model.node(id).op {
            Op::Mul { a, b } => bits(*a).saturating_mul(bits(*b)).saturating_mul(16),
            Op::Const { .. } => own,
            Op::AddConst { value, .. } => (read + value.to_big().bits()) * 16,
            Op::Lookup { x, table, .. } => {
                let addresses = match u64::from(model.kif(*x).width()) {
                    w if w <= TABLE_BITS as u64 => 1 << w,
                    _ => model.table(*table).entries.len().next_power_of_two() as u64,
                };
                addresses.saturating_mul(own * 4).saturating_add(read * 16)
            }
            _ => read * 16,
        }
    });
    operations.chain(outputs).fold(0, u64::saturating_add)
}

fn negated(w: &mut Words, x: &Exact) -> Exact {
    let wide = resize(&x.bits, true, x.bits.len() + 1);
    let zero = vec![Lit::FALSE; wide.len()];
    Exact { bits: w.sub(&zero, &wide, true), frac: x.frac }
}

/// Returns `a + b` or `a - b` at their common binary point.
fn sum(w: &mut Words, a: &Exact, b: &Exact, minus: bool) -> Exact {
    let frac = a.frac.max(b.frac);
    let (a, b) = (a.aligned(frac), b.aligned(frac));
    let width = a.len().max(b.len()) + 1;
    let (a, b) = (resize(&a, true, width), resize(&b, true, width));
    let bits = if minus { w.sub(&a, &b, true) } else { w.add(&a, &b, Lit::FALSE, true) };
    Exact { bits, frac }
}

/// Returns the range of the result before wrapping, and its bits after wrapping.
fn operation(
    w: &mut Words,
    model: &Model,
    inputs: &[Vec<Lit>],
    done: &ModelBits,
    ranges: &[Range],
    id: ValueId,
) -> (Range, Vec<Lit>) {
    let kif = model.kif(id);
    let to = i64::from(kif.frac);
    let value = |v: ValueId, shift: i32| Exact::new(done.op(v), model.kif(v), i64::from(shift));
    let range = |v: ValueId| ranges[v.index()];
    let frac = |v: ValueId| i64::from(model.kif(v).frac);
    match &model.node(id).op {
        Op::Input { input } => {
            let port = model.input_kifs()[*input as usize];
            let x = Exact::new(&inputs[*input as usize], port, 0);
            (shifted(type_range(port), i64::from(port.frac), to), x.wrapped(kif))
        }
        Op::Const { value } => {
            let code = wrap(&value.to_big(), kif);
            let known = code.to_i128().filter(|c| c.unsigned_abs() < 1 << 120);
            (known.map(|c| (c, c)), constant_bits(&code, kif.width() as usize))
        }
        Op::Neg { x } => {
            let bits = negated(w, &value(*x, 0)).wrapped(kif);
            (shifted(range(*x).map(|(lo, hi)| (-hi, -lo)), frac(*x), to), bits)
        }
        Op::Add { a, b, shift } | Op::Sub { a, b, shift } => {
            let minus = matches!(model.node(id).op, Op::Sub { .. });
            let total = sum(w, &value(*a, 0), &value(*b, *shift), minus);
            let fb = frac(*b) - i64::from(*shift);
            let bounds = add_ranges(
                shifted(range(*a), frac(*a), total.frac),
                signed_range(shifted(range(*b), fb, total.frac), minus),
            );
            (shifted(bounds, total.frac, to), total.wrapped(kif))
        }
        Op::Sum { terms } => {
            let mut total: Option<(Exact, Range)> = None;
            // All terms are aligned to the finest of them before the single floor.
            let common = terms.iter().map(|t| frac(t.value) - i64::from(t.shift)).max().unwrap_or(0);
            let mut widest = 0;
            for (count, t) in terms.iter().enumerate() {
                let x = value(t.value, t.shift);
                let x = Exact { bits: x.aligned(common), frac: common };
                widest = widest.max(x.bits.len());
                let bounds = shifted(range(t.value), frac(t.value) - i64::from(t.shift), common);
                let bounds = signed_range(bounds, t.neg);
                total = Some(match total {
                    None if t.neg => (negated(w, &x), bounds),
                    None => (x, bounds),
                    Some((so_far, r)) => {
                        let mut partial = sum(w, &so_far, &x, t.neg);
                        // One more bit for each addition would make sums of many terms quadratic. The magnitude of
                        // `count + 1` terms of `widest` bits with sign is at most `(count + 1) * 2^(widest - 1)`.
                        let enough = widest + 1 + (count + 1).ilog2() as usize;
                        partial.bits.truncate(enough);
                        (partial, add_ranges(r, bounds))
                    }
                });
            }
            let (total, bounds) = total.unwrap_or((Exact::constant(&BigInt::ZERO, to), Some((0, 0))));
            (shifted(bounds, total.frac, to), total.wrapped(kif))
        }
        Op::AddConst { x, value: constant, shift } => {
            let c = Exact::constant(&constant.to_big(), i64::from(*shift));
            let total = sum(w, &value(*x, 0), &c, false);
            let c = constant.to_i128().filter(|c| c.unsigned_abs() < 1 << 100).map(|c| (c, c));
            let bounds =
                add_ranges(shifted(range(*x), frac(*x), total.frac), shifted(c, i64::from(*shift), total.frac));
            (shifted(bounds, total.frac, to), total.wrapped(kif))
        }
        Op::Relu { x } => {
            let mut v = value(*x, 0);
            let keep = !extension(&v.bits, true);
            v.bits.iter_mut().for_each(|l| *l = w.aig.and(*l, keep));
            (shifted(range(*x).map(|(lo, hi)| (lo.max(0), hi.max(0))), frac(*x), to), v.wrapped(kif))
        }
        Op::Quantise { x, shift } => {
            let v = value(*x, *shift);
            (shifted(range(*x), v.frac, to), v.wrapped(kif))
        }
        Op::Mux { cond, on_true, on_false, shift } => {
            // Signed or unsigned, the condition is the top bit; it is 0 for a value without bits.
            let sel = done.op(*cond).last().copied().unwrap_or(Lit::FALSE);
            let (yes, no) = (value(*on_true, 0), value(*on_false, *shift));
            let bounds = [(range(*on_true), yes.frac), (range(*on_false), no.frac)].map(|(r, f)| shifted(r, f, to));
            let bounds = match (sel.as_const(), bounds) {
                (Some(true), [yes, _]) => yes,
                (Some(false), [_, no]) => no,
                (None, [Some(a), Some(b)]) => Some((a.0.min(b.0), a.1.max(b.1))),
                (None, _) => None,
            };
            (bounds, w.mux(sel, &yes.wrapped(kif), &no.wrapped(kif)))
        }
        Op::Mul { a, b } => {
            let (x, y) = (value(*a, 0), value(*b, 0));
            let frac = x.frac + y.frac;
            // The product is limited to the bits that the result's type contains.
            let top = (i64::from(kif.width()) + frac - to).clamp(0, (x.bits.len() + y.bits.len()) as i64);
            let product = w.mul((&x.bits, true), (&y.bits, true), top as usize);
            let full = top == (x.bits.len() + y.bits.len()) as i64;
            let product = if full || top > 0 { product } else { vec![Lit::FALSE] };
            let bits = Exact { bits: product, frac }.wrapped(kif);
            (shifted(multiply_ranges(range(*a), range(*b)), frac, to), bits)
        }
        Op::Lookup { x, table, base } => {
            lookup(w, done.op(*x), model.kif(*x), &model.table(*table).entries, &base.to_big(), kif)
        }
        Op::Unary { op: UnaryBits::Not, x } => {
            let from = model.kif(*x);
            let mut v = value(*x, 0);
            let r = range(*x);
            let bounds = if kif.signed {
                v.bits.iter_mut().for_each(|l| *l = !*l);
                r.map(|(lo, hi)| (-hi - 1, -lo - 1))
            } else {
                let mut flipped: Vec<Lit> = done.op(*x).iter().map(|&l| !l).collect();
                flipped.push(Lit::FALSE);
                v.bits = flipped;
                type_range(Kif { signed: false, int: from.int + i32::from(from.signed), ..from })
            };
            (shifted(bounds, v.frac, to), v.wrapped(kif))
        }
        Op::Unary { op, x } => {
            let bit = if *op == UnaryBits::Any { w.any(done.op(*x)) } else { w.all(done.op(*x)) };
            (Some((0, 1)), resize(&[bit, Lit::FALSE], true, kif.width() as usize))
        }
        Op::Binary { op, a, b, shift } => {
            let (x, y) = (value(*a, 0), value(*b, *shift));
            let frac = x.frac.max(y.frac);
            let (x, y) = (x.aligned(frac), y.aligned(frac));
            let width = x.len().max(y.len());
            let (x, y) = (resize(&x, true, width), resize(&y, true, width));
            let bits = x
                .iter()
                .zip(&y)
                .map(|(&p, &q)| match op {
                    BinaryBits::And => w.aig.and(p, q),
                    BinaryBits::Or => w.aig.or(p, q),
                    BinaryBits::Xor => w.aig.xor(p, q),
                })
                .collect();
            (None, Exact { bits, frac }.wrapped(kif))
        }
    }
}

/// Largest number of address bits of a single table; with more bits, a comparison and a smaller table are built.
const TABLE_BITS: usize = 18;

fn lookup(w: &mut Words, x: &[Lit], from: Kif, entries: &[i32], base: &BigInt, kif: Kif) -> (Range, Vec<Lit>) {
    let width = kif.width() as usize;
    let ends = entries.iter().fold((0, 0), |(lo, hi), &e| (e.min(lo), e.max(hi)));
    let bounds = Some((i128::from(ends.0), i128::from(ends.1)));
    let entry_bit = |entry: i32, bit: usize| entry >> bit.min(31) & 1 == 1;
    if x.len() <= TABLE_BITS {
        let codes: Vec<i32> = (0..1u64 << x.len())
            .map(|pattern| {
                let code = wrap(&BigInt::from(pattern), from);
                let index = (code - base).to_usize();
                index.and_then(|i| entries.get(i)).copied().unwrap_or(0)
            })
            .collect();
        return (bounds, w.table(x, width, |pattern, bit| entry_bit(codes[pattern], bit)));
    }
    let index = sum(w, &Exact::new(x, from, 0), &Exact::constant(base, 0), true).bits;
    let addr_bits = (usize::BITS - entries.len().saturating_sub(1).leading_zeros()) as usize;
    let low = resize(&index, true, addr_bits);
    let beyond = w.any(&index[addr_bits.min(index.len())..]);
    let word = w.table(&low, width, |i, bit| entries.get(i).is_some_and(|&entry| entry_bit(entry, bit)));
    (bounds, word.into_iter().map(|l| w.aig.and(l, !beyond)).collect())
}

fn type_range(kif: Kif) -> Range {
    match kif.width() {
        0 => Some((0, 0)),
        width if width > 120 => None,
        width => {
            let bits = width - u32::from(kif.signed);
            Some((if kif.signed { -(1i128 << bits) } else { 0 }, (1i128 << bits) - 1))
        }
    }
}

fn signed_range(r: Range, minus: bool) -> Range {
    if minus { r.map(|(lo, hi)| (-hi, -lo)) } else { r }
}

fn add_ranges(a: Range, b: Range) -> Range {
    let ((a0, a1), (b0, b1)) = (a?, b?);
    Some((a0.checked_add(b0)?, a1.checked_add(b1)?))
}

fn multiply_ranges(a: Range, b: Range) -> Range {
    let ((a0, a1), (b0, b1)) = (a?, b?);
    let ends = [a0.checked_mul(b0)?, a0.checked_mul(b1)?, a1.checked_mul(b0)?, a1.checked_mul(b1)?];
    Some((*ends.iter().min()?, *ends.iter().max()?))
}

fn shifted(r: Range, from: i64, to: i64) -> Range {
    let (lo, hi) = r?;
    let end = |v: i128| {
        let moved = align(&BigInt::from(v), from, to).to_i128()?;
        (moved.unsigned_abs() < 1 << 122).then_some(moved)
    };
    if (lo, hi) == (0, 0) {
        return Some((0, 0));
    }
    if (to - from).abs() > 4096 * 2 {
        return None;
    }
    Some((end(lo)?, end(hi)?))
}

/// Returns the range after wrapping: unchanged if it fits the type, otherwise all of the type.
fn clip(r: Range, kif: Kif) -> Range {
    let all = type_range(kif)?;
    match r {
        Some((lo, hi)) if all.0 <= lo && hi <= all.1 => r,
        _ => Some(all),
    }
}

/// Replaces the bits above those that the range needs by the sign, or by zero if no value is negative.
fn tightened(mut bits: Vec<Lit>, kif: Kif, range: Range) -> Vec<Lit> {
    let Some((lo, hi)) = range else { return bits };
    let magnitude = |v: i128| 128 - (if v < 0 { !v } else { v }).leading_zeros() as usize;
    let needed = magnitude(lo).max(magnitude(hi));
    let top = if lo >= 0 {
        Lit::FALSE
    } else if hi < 0 {
        Lit::TRUE
    } else {
        match bits.get(needed) {
            Some(&sign) => sign,
            None => return bits,
        }
    };
    let width = kif.width() as usize;
    bits.iter_mut().take(width).skip(needed).for_each(|l| *l = top);
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aig::{Gate, Simulation};
    use alir_core::ir::{Builder, Output, Term};
    use alir_core::num::{Interval, SplitMix};
    use alir_interp::{LookupMiss, Step, golden_steps};

    /// Compares every operation and output of the gates with the reference interpreter, for 64 random input patterns.
    fn agrees_with_golden(model: &Model, seed: u64) {
        let mut w = Words::new();
        let mut rng = SplitMix::new(seed);
        let inputs: Vec<Vec<Lit>> =
            model.input_kifs().iter().map(|k| (0..k.width()).map(|_| w.aig.input("")).collect()).collect();
        let bits = blast(&mut w, model, &inputs);
        let mut sim = Simulation::<1>::default();
        sim.extend(&w.aig, |gate| match gate {
            Gate::Input(_) => [rng.word()],
            _ => [0],
        });
        let read = |word: &[Lit], kif: Kif, t: u32| {
            let mut raw = BigInt::ZERO;
            for (i, &l) in word.iter().enumerate() {
                raw.set_bit(i as u64, sim.value(l)[0] >> t & 1 == 1);
            }
            wrap(&raw, kif)
        };
        for t in 0..64 {
            let codes: Vec<BigInt> =
                inputs.iter().zip(model.input_kifs()).map(|(word, &kif)| read(word, kif, t)).collect();
            golden_steps(model, &codes, LookupMiss::Zero, |step| match step {
                Step::Op { id, code, .. } => {
                    let op = &model.node(id).op;
                    assert_eq!(read(bits.op(id), model.kif(id), t), *code, "{id} {op:?} {}", model.kif(id));
                }
                Step::Output { index, code, .. } => {
                    assert_eq!(read(&bits.outputs[index], model.output_kif(index), t), *code, "output {index}");
                }
            })
            .unwrap();
        }
    }

    #[test]
    fn gates_agree_with_the_golden_interpreter() {
        for seed in 0..400 {
            agrees_with_golden(&alir_testing::random::model(seed), seed);
        }
    }

    /// Returns a sum of many terms; their number and signs determine the bound of its partial sums.
    fn long_sum(terms: usize, signed: bool) -> Model {
        let mut builder = Builder::new(vec![0]);
        let kif = Kif { signed, int: 3 - i32::from(signed), frac: 0 };
        let x = builder.op(Op::Input { input: 0 }, Interval::full(kif));
        let term = |k: usize| Term { value: x, shift: (k % 4) as i32, neg: k % 3 == 1 };
        let wide = Kif { signed: true, int: 30, frac: 0 };
        let sum = builder.op(Op::Sum { terms: (0..terms).map(term).collect() }, Interval::full(wide));
        builder.output(Output { source: Some(sum), shift: 0, neg: false });
        builder.finish().unwrap()
    }

    #[test]
    fn gates_of_a_sum_are_linear_in_its_terms() {
        let gates = |terms| {
            let model = long_sum(terms, true);
            let mut w = Words::new();
            let inputs = vec![(0..3).map(|_| w.aig.input("")).collect()];
            blast(&mut w, &model, &inputs);
            w.aig.len()
        };
        let (some, more) = (gates(300), gates(600));
        assert!(more < 3 * some, "{some} gates, {more} for twice the terms");
        for terms in [2, 3, 4, 5, 7, 8, 9, 31, 32, 33] {
            for signed in [false, true] {
                agrees_with_golden(&long_sum(terms, signed), terms as u64);
            }
        }
    }
}
