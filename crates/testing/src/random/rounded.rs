//! Random programs that round the result of a ReLU: a few exact or wrapping operations before the ReLU, the addition of
//! a constant after the ReLU, and one or two quantisers of this sum.

use super::SplitMix;
use alir_core::ir::{Builder, Model, Op, Output, ValueId};
use alir_core::num::{Code, Interval, Kif};

/// Returns the program of a seed, with one input of up to eight bits.
pub fn program(seed: u64) -> Model {
    let mut rng = SplitMix::new(seed ^ 0x726f_756e_6465_6400);
    let width = 1 + rng.below(8) as u32;
    let frac = rng.below(6) as i32 - 2;
    let mut builder = Builder::new(vec![0]);
    let all = typed(rng.below(2) == 0, width, frac);
    let mut x = builder.op(Op::Input { input: 0 }, all);
    let mut readers = Vec::new();
    for _ in 0..rng.below(4) {
        let kif = builder.nodes()[x.index()].interval.kif();
        // In most programs the types are wide enough for all values.
        let (wider, finer) = if rng.below(5) > 0 { (3, 2) } else { (rng.below(4) as u32, rng.below(3) as i32 - 1) };
        let to = typed(true, kif.width() + wider + 2, kif.frac + finer);
        let op = match rng.below(4) {
            0 => Op::Neg { x },
            1 => Op::Quantise { x, shift: rng.below(3) as i32 - 1 },
            _ => constant(&mut rng, x, kif.frac + finer),
        };
        x = builder.op(op, to);
        if rng.below(6) == 0 {
            readers.push(x);
        }
    }
    let kif = builder.nodes()[x.index()].interval.kif();
    let loss = if rng.below(3) == 0 { rng.below(3) as i32 } else { 0 };
    let narrower = if rng.below(3) == 0 { rng.below(4) as u32 } else { 0 };
    let rectified = typed(rng.below(4) == 0, kif.width().saturating_sub(narrower).max(1), kif.frac - loss);
    let relu = builder.op(Op::Relu { x }, rectified);
    let kif = builder.nodes()[relu.index()].interval.kif();
    let sum = match rng.below(3) {
        // Half a step of a result with fewer fractional bits.
        0 | 1 => Op::AddConst { x: relu, value: Code::from(1), shift: kif.frac - rng.below(3) as i32 },
        _ => constant(&mut rng, relu, kif.frac),
    };
    let wider = if rng.below(3) == 0 { rng.below(3) as u32 } else { 1 };
    let sum = builder.op(sum, typed(rng.below(4) == 0, kif.width() + wider, kif.frac));
    for _ in 0..1 + rng.below(2) {
        let coarser = 1 + rng.below(4) as i32;
        let width = (kif.width() + 2).saturating_sub(rng.below(5) as u32).max(1);
        let shift = rng.below(3) as i32 - 1;
        let to = typed(rng.below(4) == 0, width, kif.frac - coarser - shift);
        readers.push(builder.op(Op::Quantise { x: sum, shift }, to));
    }
    if rng.below(8) == 0 {
        readers.push(sum);
    }
    for v in readers {
        builder.output(Output { source: Some(v), shift: 0, neg: false });
    }
    builder.finish().expect("a valid program")
}

fn typed(signed: bool, width: u32, frac: i32) -> Interval {
    let int = width as i32 - i32::from(signed) - frac;
    Interval::full(Kif { signed, int, frac })
}

fn constant(rng: &mut SplitMix, x: ValueId, frac: i32) -> Op {
    Op::AddConst { x, value: Code::from(rng.below(64) as i64 - 32), shift: frac + rng.below(3) as i32 - 1 }
}
