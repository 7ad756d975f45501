//! Random sums of values, some of which a control bit negates: magnitudes, products with a sign, sums of absolute
//! differences.

use super::SplitMix;
use alir_core::ir::{Builder, Model, Op, Output, ValueId};
use alir_core::num::Interval;

/// Appends `|x|`, or `-|x|` if `inverted`. With a control value, `x` is negated if the top bit of the control is set,
/// or clear if `inverted`.
pub fn choice(builder: &mut Builder, x: ValueId, control: Option<ValueId>, inverted: bool) -> ValueId {
    let own = builder.nodes()[x.index()].interval.clone();
    let negated = builder.op(Op::Neg { x }, own.negated());
    let (on_true, on_false) = if inverted { (x, negated) } else { (negated, x) };
    let (lo, hi) = (own.min.to_big(), own.max.to_big());
    let most = hi.max(-lo);
    let interval = match (control, inverted) {
        (None, false) => Interval::new(0, most, own.frac),
        (None, true) => Interval::new(-most, 0, own.frac),
        (Some(_), _) => Interval::new(-&most, most, own.frac),
    };
    builder.op(Op::Mux { cond: control.unwrap_or(x), on_true, on_false, shift: 0 }, interval)
}

/// Appends `x + y * 2^shift`, or the difference if `neg`, with its exact interval.
pub fn sum(builder: &mut Builder, x: ValueId, y: ValueId, shift: i32, neg: bool) -> ValueId {
    let [p, q] = [x, y].map(|v| builder.nodes()[v.index()].interval.clone());
    let q = q.scaled(shift);
    let interval = p.plus(&if neg { q.negated() } else { q });
    let op = if neg { Op::Sub { a: x, b: y, shift } } else { Op::Add { a: x, b: y, shift } };
    builder.op(op, interval)
}

/// Returns the program of a seed: a random tree of sums of two to seven inputs of five to nine bits.
pub fn program(seed: u64) -> Model {
    let mut rng = SplitMix::new(seed ^ 0x6368_6f69_6365_7300);
    let count = 2 + rng.below(6) as usize;
    let mut builder = Builder::new(vec![0; count]);
    let inputs: Vec<ValueId> = (0..count as u32)
        .map(|input| {
            let frac = rng.below(5) as i32 - 2;
            let interval = Interval::from_width(rng.below(4) > 0, 5 + rng.below(5) as u32, frac);
            builder.op(Op::Input { input }, interval)
        })
        .collect();
    let mut layer: Vec<ValueId> = Vec::new();
    for &x in &inputs {
        let is_signed = builder.nodes()[x.index()].interval.min.is_negative();
        let control = (!is_signed || rng.below(2) == 0).then(|| inputs[rng.below(count as u64) as usize]);
        let is_choice = rng.below(5) > 0;
        layer.push(if is_choice { choice(&mut builder, x, control, rng.below(2) > 0) } else { x });
    }
    while layer.len() > 1 {
        let x = layer.swap_remove(rng.below(layer.len() as u64) as usize);
        let y = layer.swap_remove(rng.below(layer.len() as u64) as usize);
        let (shift, neg) = (rng.below(7) as i32 - 3, rng.below(3) == 0);
        layer.push(sum(&mut builder, x, y, shift, neg));
    }
    builder.output(Output { source: layer.pop(), shift: 0, neg: false });
    builder.finish().unwrap_or_else(|p| panic!("seed {seed}: {p:?}"))
}

/// Returns the sum of the magnitudes of `count` inputs of `width` bits, as a balanced tree.
pub fn magnitudes(count: u32, width: u32) -> Model {
    let mut builder = Builder::new(vec![0; count as usize]);
    let mut layer: Vec<ValueId> = (0..count)
        .map(|input| {
            let x = builder.op(Op::Input { input }, Interval::from_width(true, width, 0));
            choice(&mut builder, x, None, false)
        })
        .collect();
    while layer.len() > 1 {
        let pairs = layer.chunks(2);
        layer = pairs.map(|c| if let [x, y] = *c { sum(&mut builder, x, y, 0, false) } else { c[0] }).collect();
    }
    builder.output(Output { source: layer.pop(), shift: 0, neg: false });
    builder.finish().unwrap_or_else(|p| panic!("{p:?}"))
}
