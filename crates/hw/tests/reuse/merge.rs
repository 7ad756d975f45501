//! Tests of `alir_hw::reuse::merge`.

use super::{is_built_and_proved, planned};
use alir_core::ir::{Builder, Limits, Model, Op, Output, ValueId};
use alir_core::num::{Interval, Kif};
use alir_flow::compile::Engine;
use alir_hw::reuse::{Engines, check};

/// Builds a model with `n` windows: sums of three neighbouring inputs, each followed by a rectifier. The outputs are
/// the values that `gives` computes from the windows and the inputs.
fn windows(n: usize, gives: impl Fn(&mut Builder, &[ValueId], &[ValueId]) -> Vec<ValueId>) -> Model {
    let mut b = Builder::new(vec![0; n + 2]);
    b.limits(Limits::derived());
    let kif = Kif { signed: true, int: 3, frac: 1 };
    let inputs: Vec<ValueId> = (0..n + 2).map(|k| b.op(Op::Input { input: k as u32 }, Interval::full(kif))).collect();
    let mut shown = Vec::new();
    for at in 0..n {
        let pair = b.op(Op::Add { a: inputs[at], b: inputs[at + 1], shift: 1 }, Interval::new(-48, 45, 1));
        let sum = b.op(Op::Sub { a: pair, b: inputs[at + 2], shift: 0 }, Interval::new(-63, 61, 1));
        shown.push(b.op(Op::Relu { x: sum }, Interval::new(0, 61, 1)));
    }
    for v in gives(&mut b, &shown, &inputs) {
        b.output(Output { source: Some(v), shift: 0, neg: false });
    }
    b.finish().unwrap()
}

fn greater(b: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
    let less = b.op(Op::Sub { a: x, b: y, shift: 0 }, Interval::new(-61, 61, 1));
    b.op(Op::Mux { cond: less, on_true: y, on_false: x, shift: 0 }, Interval::new(0, 61, 1))
}

/// Returns the number of instances and the number of operations per instance of each group of a plan.
fn groups(model: &Model, interval: u32) -> Vec<(usize, usize)> {
    let (model, plan) = planned(model, interval, &Engines::default());
    assert_eq!(check(&model, &plan), Ok(()));
    plan.groups.iter().map(|group| (group.instances.len(), group.template.nodes().len())).collect()
}

#[test]
fn windows_and_the_maxima_of_four_are_one_block() {
    let model = windows(32, |b, shown, _| {
        let pairs: Vec<ValueId> = shown.chunks(2).map(|pair| greater(b, pair[0], pair[1])).collect();
        pairs.chunks(2).map(|pair| greater(b, pair[0], pair[1])).collect()
    });
    // Each block has six inputs, four windows and three maxima.
    assert_eq!(groups(&model, 8), [(8, 6 + 4 * 3 + 3 * 2)]);
    // Two of the eight instances would leave a functional unit partly idle; they are planned as smaller blocks.
    assert!(groups(&model, 6).contains(&(6, 6 + 4 * 3 + 3 * 2)));
    for (seed, interval) in [(1, 8), (2, 6), (3, 4), (4, 3), (5, 16)] {
        assert!(is_built_and_proved(&model, interval, Engine::Fold, seed));
    }
}

#[test]
fn what_would_wait_for_itself_is_no_block() {
    // Every maximum reads a window and the sum of all windows.
    let model = windows(6, |b, shown, _| {
        let mut all = shown[0];
        for (k, &x) in shown.iter().enumerate().skip(1) {
            all = b.op(Op::Add { a: all, b: x, shift: 0 }, Interval::new(0, 61 * (k as i64 + 1), 1));
        }
        let kif = Interval::new(0, 61, 1).kif();
        let all = b.op(Op::Quantise { x: all, shift: 0 }, Interval::full(kif));
        shown
            .iter()
            .map(|&x| {
                let less = b.op(Op::Sub { a: x, b: all, shift: 0 }, Interval::new(-63, 61, 1));
                b.op(Op::Mux { cond: less, on_true: all, on_false: x, shift: 0 }, Interval::full(kif))
            })
            .collect()
    });
    for (seed, interval) in [(1, 2), (2, 3), (3, 6), (4, 8)] {
        groups(&model, interval);
        assert!(is_built_and_proved(&model, interval, Engine::Fold, seed));
    }
}

#[test]
fn chains_of_equal_blocks_stay_exact() {
    // The running maximum over all windows, and at each window its maximum with the adjacent input.
    let model = windows(9, |b, shown, inputs| {
        let mut most = shown[0];
        let mut all: Vec<ValueId> = Vec::new();
        for (&x, &beside) in shown.iter().zip(inputs) {
            most = greater(b, most, x);
            let less = b.op(Op::Sub { a: most, b: beside, shift: 0 }, Interval::new(-15, 77, 1));
            all.push(
                b.op(Op::Mux { cond: less, on_true: beside, on_false: most, shift: 0 }, Interval::new(-16, 61, 1)),
            );
        }
        all
    });
    for (seed, interval) in [(1, 2), (2, 3), (3, 5), (4, 9), (5, 20)] {
        groups(&model, interval);
        assert!(is_built_and_proved(&model, interval, Engine::Fold, seed));
    }
}

#[test]
fn wide_multiplexers_take_a_clock_of_their_own() {
    // Each window reads its three inputs only.
    let model = windows(24, |_, shown, _| shown.to_vec());
    let mut made = 0;
    for (seed, interval) in [(1, 24), (2, 32), (3, 20), (4, 17), (5, 25), (6, 40)] {
        groups(&model, interval);
        made += usize::from(is_built_and_proved(&model, interval, Engine::Fold, seed));
    }
    assert!(made >= 3, "{made}");
}
