//! Random samples of a program's inputs, for searches by simulation (differences, candidates for equal values).

use super::{Model, Op};
use crate::num::{Kif, SplitMix, align, wrap};
use num_bigint::BigInt;

/// Returns one input sample as raw integer values of the port types: often corners and interval ends, otherwise uniform
/// bit patterns.
pub fn draw_inputs(model: &Model, rng: &mut SplitMix) -> Vec<BigInt> {
    // In some samples all elements are drawn by one rule; in the others each element has its own.
    let common = rng.below(16);
    let ends = input_ends(model);
    let mut choose = |kif: Kif, ends: &[BigInt]| {
        let kind = if common < 6 { common } else { rng.below(12) };
        match kind {
            0 => BigInt::ZERO,
            1 => wrap(&BigInt::from(-1), kif),
            2 => kif.min_code(),
            3 => kif.max_code(),
            4 if !ends.is_empty() => ends[rng.below(ends.len() as u64) as usize].clone(),
            5 => wrap(&(BigInt::from(1) << rng.below(u64::from(kif.width().max(1)))), kif),
            _ => wrap(&rng.bits(kif.width()), kif),
        }
    };
    model.input_kifs().iter().zip(&ends).map(|(kif, ends)| choose(*kif, ends)).collect()
}

/// Returns the ends of the intervals of each input's readers, as raw integer values of the port.
fn input_ends(model: &Model) -> Vec<Vec<BigInt>> {
    let mut ends = vec![Vec::new(); model.n_inputs()];
    for node in model.nodes() {
        let Op::Input { input } = node.op else { continue };
        let port = model.input_kifs()[input as usize];
        for end in [&node.interval.min, &node.interval.max] {
            let code = align(&end.to_big(), i64::from(node.interval.frac), i64::from(port.frac));
            ends[input as usize].push(wrap(&code, port));
        }
    }
    ends
}
