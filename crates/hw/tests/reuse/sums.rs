//! Tests of `alir_hw::reuse::sums`.

use super::{is_built_and_proved, planned, without_outputs};
use alir_core::ir::{Builder, Limits, Model, Op, Output, ValueId, draw_inputs};
use alir_core::num::{Interval, Kif, SplitMix};
use alir_flow::compile::Engine;
use alir_hw::reuse::*;
use alir_hw::reuse::{Base, Engines, Figures, Storage, check};
use alir_interp::{LookupMiss, golden};
use alir_testing::random::{Profile, Recipe, side_by_side};

/// Builds a model with `n` copies of `block` and, for each output of a block, a sum over the copies: over all of them,
/// or over all but the first `part`. A constant addition and a rectifier follow each sum; no two of them are equal.
fn summed(block: &Model, n: u32, part: usize, rng: &mut SplitMix) -> Model {
    let model = side_by_side(block, n);
    let mut b = without_outputs(&model);
    let outputs: Vec<Option<ValueId>> = model.outputs().iter().map(|o| o.source).collect();
    let each = outputs.len() / n as usize;
    for k in 0..each {
        let mut terms: Vec<ValueId> = outputs.iter().skip(k).step_by(each).filter_map(|v| *v).collect();
        terms.drain(..part.min(terms.len()));
        let Some(&first) = terms.first() else { continue };
        let of = b.nodes()[first.index()].interval.kif();
        if of.is_zero() {
            continue;
        }
        // A rectifier ends a block.
        for term in &mut terms {
            *term = b.op(Op::Relu { x: *term }, Interval::full(Kif { signed: false, ..of }));
        }
        let wide = Interval::full(Kif { signed: true, int: of.int + 7, frac: of.frac });
        while terms.len() > 1 {
            let at = rng.below(terms.len() as u64) as usize;
            let x = terms.swap_remove(at);
            let other = rng.below(terms.len() as u64) as usize;
            terms[other] = b.op(Op::Add { a: x, b: terms[other], shift: 0 }, wide.clone());
        }
        let x = b.op(Op::AddConst { x: terms[0], value: (-3 - k as i64).into(), shift: 0 }, wide.clone());
        let v = b.op(Op::Relu { x }, Interval::full(Kif { signed: false, ..wide.kif() }));
        b.output(Output { source: Some(v), shift: 0, neg: k % 2 == 1 });
    }
    b.finish().expect("a program")
}

/// Returns `true` if a plan accumulates sums cycle by cycle: such groups have constant zeros as inputs.
fn accumulates(model: &Model, plan: &Plan) -> bool {
    let zero = |v: &ValueId| matches!(model.node(*v).op, Op::Const { .. });
    plan.groups.iter().flat_map(|group| &group.instances).any(|i| i.inputs.iter().any(zero))
}

#[test]
fn nothing_is_held_for_a_sum_over_the_blocks_of_a_group() {
    let block = Recipe::seeded(Profile::ADDERS, 12, 3).build();
    for (n, interval) in [(24, 8), (7, 8), (64, 16), (9, 3)] {
        let model = summed(&block, n, 0, &mut SplitMix::new(u64::from(n)));
        let (anew, plan) = planned(&model, interval, &Engines::default());
        assert_eq!(check(&anew, &plan), Ok(()));
        assert!(accumulates(&anew, &plan), "{n} every {interval}");
        // The outputs of functional units are not stored.
        let shared = plan.groups.iter().filter(|group| (group.units as usize) < group.instances.len());
        for v in shared.flat_map(|group| &group.instances).flat_map(|instance| &instance.outputs) {
            let storage = &plan.stores[&Base::Value(*v)].storage;
            assert!(matches!(storage, Storage::Passing(_)), "{v} is held, {n} every {interval}");
        }
        let figures = Figures::new(&anew, &plan);
        let units: u64 = plan.groups.iter().map(|group| u64::from(group.units)).sum();
        assert!(figures.register_bits() < 60 * units + figures.captured_bits, "{figures:?}");
    }
}

#[test]
fn values_beyond_the_intervals_that_are_declared_are_added_up_too() {
    // In addition to the outputs of blocks, the sum has two terms of seven and six bits that the model limits to at
    // most 65 and 62. A sum of these two terms in seven bits would wrap.
    let mut b = Builder::new(vec![0; 10]);
    b.limits(Limits::derived());
    let signed = |int| Interval::full(Kif { signed: true, int, frac: 0 });
    let inputs: Vec<ValueId> = (0..10).map(|input| b.op(Op::Input { input }, signed(7))).collect();
    let mut terms: Vec<ValueId> = Vec::new();
    for &x in &inputs[..8] {
        let more = b.op(Op::AddConst { x, value: 3.into(), shift: 0 }, signed(8));
        terms.push(b.op(Op::Relu { x: more }, Interval::new(0, 127, 0)));
    }
    terms.push(b.op(Op::Relu { x: inputs[8] }, Interval::new(0, 65, 0)));
    terms.push(b.op(Op::Relu { x: inputs[9] }, Interval::new(0, 62, 0)));
    let mut sum = terms[9];
    for &x in terms[..9].iter().rev() {
        sum = b.op(Op::Add { a: x, b: sum, shift: 0 }, Interval::new(0, 2047, 0));
    }
    let shown = b.op(Op::Relu { x: sum }, Interval::new(0, 2047, 0));
    b.output(Output { source: Some(shown), shift: 0, neg: false });
    let model = b.finish().expect("a program");
    let (anew, plan) = planned(&model, 4, &Engines::default());
    assert_eq!(check(&anew, &plan), Ok(()));
    let mut rng = SplitMix::new(1);
    for _ in 0..200 {
        let inputs = draw_inputs(&model, &mut rng);
        let outputs = |model: &Model| golden(model, &inputs, LookupMiss::Zero);
        assert_eq!(outputs(&anew), outputs(&model), "{inputs:?}");
    }
}

#[test]
fn sums_over_blocks_stay_exact() {
    let (mut made, mut accumulated) = (0, 0);
    for seed in alir_testing::seeds(0..28) {
        let mut rng = SplitMix::new(seed ^ 0x5077);
        let profile = [Profile::TINY, Profile::ADDERS, Profile::SMALL][rng.below(3) as usize];
        let block = Recipe::seeded(profile, 4 + rng.below(8) as usize, seed).build();
        let n = 3 + rng.below(20) as u32;
        let model = summed(&block, n, rng.below(3) as usize, &mut rng);
        if model.outputs().is_empty() {
            continue;
        }
        let interval = [2, 3, 4, 5, 8, 13, 32][rng.below(7) as usize];
        // Proofs of bit-serial designs with many operations take long.
        let engine = if profile == Profile::ADDERS && n < 8 { Engine::Mixed } else { Engine::Fold };
        made += u32::from(is_built_and_proved(&model, interval, engine, seed));
        let (anew, plan) = planned(&model, interval, &Engines::default());
        assert_eq!(check(&anew, &plan), Ok(()), "seed {seed}");
        accumulated += u32::from(accumulates(&anew, &plan));
    }
    assert!(made >= 16, "{made} were made");
    assert!(accumulated >= 6, "{accumulated} accumulate");
}
