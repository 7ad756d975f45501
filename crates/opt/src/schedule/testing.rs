//! Small programs for the tests of this module.

use super::delay::{Delay, LatencyFields};
use super::graph::{Graph, Outside};
use super::paths::{Arc, From, Paths, Point};
use super::uses::Uses;
use alir_core::ir::{BinaryBits, Builder, Model, Node, Op, Output, UnaryBits, ValueId};
use alir_core::num::{Code, Interval, Kif, SplitMix};
use std::borrow::Cow;

/// A program under test.
pub(super) struct Case {
    pub(super) model: Model,
}

impl Case {
    /// Returns the timing graph with delays from latency fields.
    pub(super) fn graph(&self) -> Graph {
        Graph::new(&self.model, &LatencyFields as &dyn Delay, &Uses::whole_values(&self.model), Outside::default())
    }
}

/// Returns a chain of operations with these own delays.
pub(super) fn chain(delays: &[f64]) -> Case {
    let mut b = Builder::new(vec![0]);
    let interval = || Interval::new(-8, 7, 0);
    let mut last = b.op(Op::Input { input: 0 }, interval());
    let mut latency = 0.0;
    for (i, d) in delays.iter().enumerate() {
        latency += d;
        let op = Op::AddConst { x: last, value: Code::from(1), shift: 0 };
        last = b.push(Node { op, interval: interval(), latency, cost: 0.0, origin: i as u32 + 1 });
    }
    b.output(Output { source: Some(last), shift: 0, neg: false });
    Case { model: b.finish().unwrap() }
}

/// Returns a random program of `operations` operations after its inputs, of all kinds but lookups and sums, with
/// latencies in quarters; some outputs negated.
pub(super) fn random_model(seed: u64, operations: usize) -> Case {
    let mut rng = SplitMix::new(seed);
    let mut below = move |n: u64| rng.word() % n;
    let inputs = 1 + below(3) as usize;
    let mut b = Builder::new(vec![0; inputs]);
    let mut latencies: Vec<f64> = Vec::new();
    for i in 0..inputs + operations {
        let width = 1 + below(8) as i32;
        let signed = below(2) == 0;
        let mut kif = Kif { signed, int: width - below(4) as i32, frac: 0 };
        kif.frac = width - kif.int;
        let mut pick = || {
            // Mostly recent values, so that programs get deep.
            let back = if below(3) == 0 { below(i.max(1) as u64) } else { below(i.clamp(1, 4) as u64) };
            ValueId((i as u64 - 1 - back) as u32)
        };
        let op = if i < inputs {
            Op::Input { input: i as u32 }
        } else {
            let (a, b, c) = (pick(), pick(), pick());
            let shift = below(5) as i32 - 2;
            match below(12) {
                0 | 1 => Op::Add { a, b, shift },
                2 | 3 => Op::Sub { a, b, shift },
                4 => Op::Mul { a, b },
                5 => Op::Neg { x: a },
                6 => Op::Relu { x: a },
                7 => Op::Quantise { x: a, shift },
                8 => Op::AddConst { x: a, value: Code::from(below(9) as i64 - 4), shift },
                9 => Op::Mux { cond: c, on_true: a, on_false: b, shift },
                10 => Op::Binary { op: BinaryBits::Xor, a, b, shift },
                _ => Op::Unary { op: UnaryBits::Any, x: a },
            }
        };
        let mut latency = 0.0f64;
        op.for_each_operand(|v| latency = latency.max(latencies[v.index()]));
        if i >= inputs && below(4) > 0 {
            latency += 0.25 * below(9) as f64;
        }
        latencies.push(latency);
        b.push(Node { op, interval: Interval::full(kif), latency, cost: 0.0, origin: i as u32 });
    }
    let total = (inputs + operations) as u64;
    for _ in 0..1 + below(4) {
        let source = Some(ValueId((total - 1 - below(total.min(6))) as u32));
        b.output(Output { source, shift: 0, neg: below(4) == 0 });
    }
    Case { model: b.finish().unwrap() }
}

/// Random delays in which those of consecutive operations overlap: some points for each operation, with arcs from
/// points of operands and of operands' operands.
pub(super) struct Overlapping(Paths);

impl Overlapping {
    pub(super) fn new(model: &Model, seed: u64) -> Overlapping {
        let mut rng = SplitMix::new(seed ^ 0x5eed);
        let mut below = move |n: u64| rng.word() % n;
        let mut paths = Paths::default();
        for id in model.ids() {
            paths.begin();
            let op = &model.node(id).op;
            let mut near = Vec::new();
            op.for_each_operand(|v| {
                near.push(v);
                model.node(v).op.for_each_operand(|u| near.push(u));
            });
            let sources: Vec<u32> = near.iter().flat_map(|v| paths.points_of(v.index())).collect();
            for _ in 0..below(4) {
                let mut arcs: Vec<Arc> = Vec::new();
                for &source in &sources {
                    if below(3) > 0 {
                        arcs.push(Arc { from: From::Point(source), time: 0.25 * below(7) as f64 });
                    }
                }
                if matches!(op, Op::Input { .. }) {
                    arcs.push(Arc { from: From::Inputs, time: 0.25 * below(3) as f64 });
                }
                let longest = arcs.iter().map(|arc| arc.time).fold(0.25 * below(3) as f64, f64::max);
                paths.push(Point { alone: longest, behind: 0.25 * below(2) as f64 }, &arcs);
            }
        }
        for out in model.outputs() {
            paths.begin();
            let Some(v) = out.source else { continue };
            let sources = paths.points_of(v.index());
            if out.neg {
                let arcs: Vec<Arc> = sources.map(|p| Arc { from: From::Point(p), time: 0.5 }).collect();
                paths.push(Point { alone: 0.5, behind: 0.0 }, &arcs);
            } else {
                sources.for_each(|p| paths.show(p));
            }
        }
        Overlapping(paths)
    }
}

impl Delay for Overlapping {
    fn own_delay(&self, _model: &Model, id: ValueId) -> f64 {
        self.0.own_delay(id)
    }

    fn negation_delay(&self, model: &Model, j: usize) -> f64 {
        self.0.own(model.nodes().len() + j)
    }

    fn paths(&self, _model: &Model) -> Cow<'_, Paths> {
        Cow::Borrowed(&self.0)
    }
}
