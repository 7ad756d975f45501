//! The timing graph: what has a stage of its own, what must come before what, and how long each takes.
//!
//! Vertices are the operations that some output depends on, without those that are mere wiring in no time (they sit
//! wherever their operand does) and without constants. Vertex 0 is the outside world in front of the inputs, in
//! stage 1; after the operations come the pinned vertices of the last stage: output negations and the outside world
//! behind the outputs.
//!
//! Delays are integers here (*ticks*), so that sums do not depend on their order and every comparison is exact. A tick
//! is small enough (2^-48 of the longest path or less) that the relative slack of 1e-9, which the specification
//! grants to comparisons, hides the rounding.

use super::delay::Delay;
use super::uses::{Reader, Root, Uses, live};
use crate::ir::{Model, Op, ValueId};

/// No vertex: constants and what no output depends on.
pub(super) const NONE: u32 = u32::MAX;

/// Part of the relative slack of 1e-9 that the scheduler uses; the rest is left to the checker's rounding.
const SLACK: f64 = 0.9e-9;

/// The timing graph of a program. Vertices are numbered in topological order.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    /// Own delay of each vertex in ticks.
    pub(super) delay: Vec<i64>,
    preds: Adjacency,
    succs: Adjacency,
    /// Vertex of each operation, or of the operand that it is wiring of, or [`NONE`].
    pub(super) vertex: Vec<u32>,
    /// First of the vertices that are pinned to the last stage.
    pub(super) first_pinned: u32,
    /// Vertex of each negated output, ascending by output.
    negations: Vec<(u32, u32)>,
    /// Operation of each vertex between the world and the pinned ones.
    op: Vec<ValueId>,
    /// Delay units in a tick.
    tick: f64,
}

/// Neighbours of each vertex in one direction.
#[derive(Clone, Debug, Default)]
struct Adjacency {
    start: Vec<u32>,
    to: Vec<u32>,
}

impl Adjacency {
    fn of(&self, v: u32) -> &[u32] {
        &self.to[self.start[v as usize] as usize..self.start[v as usize + 1] as usize]
    }

    fn reversed(&self) -> Adjacency {
        let n = self.start.len() - 1;
        let mut start = vec![0u32; n + 1];
        for &t in &self.to {
            start[t as usize + 1] += 1;
        }
        for i in 0..n {
            start[i + 1] += start[i];
        }
        let mut next = start.clone();
        let mut to = vec![0u32; self.to.len()];
        for v in 0..n as u32 {
            for &t in self.of(v) {
                to[next[t as usize] as usize] = v;
                next[t as usize] += 1;
            }
        }
        Adjacency { start, to }
    }
}

/// Delay of what lies outside of the pipeline, in the model's units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Outside {
    /// Time at which unregistered inputs arrive.
    pub(super) before: f64,
    /// Time that is needed behind the last operation.
    pub(super) after: f64,
}

impl Graph {
    /// The graph of a program. `uses` says which operations make or read bits and so need a stage of their own.
    pub(super) fn new(model: &Model, delay: &dyn Delay, uses: &Uses, outside: Outside) -> Graph {
        let n = model.nodes().len();
        let mut live = live(model);
        let mut matters = vec![false; n];
        for class in uses.classes() {
            if let Root::Op(v) = class.root {
                matters[v.index()] = true;
            }
            for reader in uses.readers(class) {
                if let Reader::Op(v) = reader {
                    matters[v.index()] = true;
                }
            }
        }
        uses.edges().iter().for_each(|edge| matters[edge.op.index()] = true);
        let mut vertex = vec![NONE; n];
        let mut op = Vec::new();
        let mut delays = vec![outside.before];
        let mut preds = Adjacency { start: vec![0, 0], to: Vec::new() };
        for id in model.ids() {
            let i = id.index();
            if matches!(model.node(id).op, Op::Const { .. }) {
                live[i] = false;
            }
            if !live[i] {
                continue;
            }
            let from = preds.to.len();
            model.node(id).op.for_each_operand(|v| {
                let u = vertex[v.index()];
                if u != NONE && !preds.to[from..].contains(&u) {
                    preds.to.push(u);
                }
            });
            if matches!(model.node(id).op, Op::Input { .. }) {
                preds.to.push(0);
            }
            let own = delay.own_delay(model, id);
            if own == 0.0 && !matters[i] && preds.to.len() - from <= 1 {
                vertex[i] = preds.to.get(from).copied().unwrap_or(NONE);
                preds.to.truncate(from);
                continue;
            }
            if preds.to.len() == from {
                preds.to.push(0);
            }
            vertex[i] = delays.len() as u32;
            op.push(id);
            delays.push(own);
            preds.start.push(preds.to.len() as u32);
        }
        let first_pinned = delays.len() as u32;
        let mut negations = Vec::new();
        let mut shown = vec![false; delays.len()];
        for (j, out) in model.outputs().iter().enumerate() {
            let Some(v) = out.source else { continue };
            // A constant waits for nobody, like an input.
            let u = if vertex[v.index()] == NONE { 0 } else { vertex[v.index()] };
            if out.neg {
                negations.push((j as u32, delays.len() as u32));
                preds.to.push(u);
                preds.start.push(preds.to.len() as u32);
                // Pinned to the same stage as the world behind it, whose delay it takes along.
                delays.push(delay.negation_delay(model, j) + outside.after);
            } else {
                shown[u as usize] = true;
            }
        }
        preds.to.extend((0..first_pinned).filter(|&v| shown[v as usize]));
        preds.start.push(preds.to.len() as u32);
        delays.push(outside.after);
        let succs = preds.reversed();
        let (delay, tick) = ticks(&delays, &preds);
        Graph { delay, preds, succs, vertex, first_pinned, negations, op, tick }
    }

    /// Number of vertices.
    pub(super) fn len(&self) -> usize {
        self.delay.len()
    }

    /// What a vertex needs.
    pub(super) fn preds(&self, v: u32) -> &[u32] {
        self.preds.of(v)
    }

    /// What needs a vertex.
    pub(super) fn succs(&self, v: u32) -> &[u32] {
        self.succs.of(v)
    }

    /// Whether a vertex has its place in the last stage.
    #[cfg(test)]
    pub(super) fn is_pinned_last(&self, v: u32) -> bool {
        v >= self.first_pinned
    }

    /// The operation of a vertex, if it has one.
    pub(super) fn op(&self, v: u32) -> Option<ValueId> {
        (v > 0 && v < self.first_pinned).then(|| self.op[v as usize - 1])
    }

    /// The operations of two vertices, if both have one.
    pub(super) fn ops(&self, u: u32, v: u32) -> Option<(ValueId, ValueId)> {
        Some((self.op(u)?, self.op(v)?))
    }

    /// The reader at a label behind the inputs; edges of multiplier blocks are numbered behind the vertices.
    pub(super) fn reader(&self, v: u32) -> Reader {
        match self.op(v) {
            None if v as usize >= self.len() => Reader::Edge(v - self.len() as u32),
            Some(id) => Reader::Op(id),
            None => {
                let at = self.negations.binary_search_by_key(&v, |&(_, vertex)| vertex);
                at.map_or(Reader::Port, |i| Reader::Negation(self.negations[i].0))
            }
        }
    }

    /// The label of what makes root bits.
    pub(super) fn of_root(&self, root: Root) -> u32 {
        match root {
            Root::Input(_) => 0,
            Root::Op(v) => self.vertex[v.index()],
            Root::Negation(j) => self.of_negation(j),
            Root::Edge(edge) => self.len() as u32 + edge,
        }
    }

    /// The label of a reader; `None` for the output port, which reads behind the last stage.
    pub(super) fn of_reader(&self, reader: Reader) -> Option<u32> {
        match reader {
            Reader::Op(v) => Some(self.vertex[v.index()]),
            Reader::Negation(j) => Some(self.of_negation(j)),
            Reader::Port => None,
            Reader::Edge(edge) => Some(self.len() as u32 + edge),
        }
    }

    /// The vertex of a negated output.
    fn of_negation(&self, j: u32) -> u32 {
        let at = self.negations.binary_search_by_key(&j, |&(k, _)| k);
        at.map_or(NONE, |i| self.negations[i].1)
    }

    /// The largest sum of ticks that a bound on delays allows; sums are compared with the specification's slack.
    pub(super) fn limit(&self, delay: f64) -> i64 {
        // `as` saturates, and takes NaN to 0.
        (delay * (1.0 + SLACK) / self.tick).floor() as i64
    }

    /// Ticks in the model's units.
    pub(super) fn units(&self, ticks: i64) -> f64 {
        ticks as f64 * self.tick
    }

    /// The largest own delay and the vertex that has it.
    pub(super) fn slowest(&self) -> (u32, i64) {
        let mut slowest = (0, 0);
        for (v, &d) in self.delay.iter().enumerate() {
            if d > slowest.1 {
                slowest = (v as u32, d);
            }
        }
        slowest
    }
}

/// Delays as integers, and what one of them is worth: a power of two, so that the usual dyadic latencies are exact.
fn ticks(delays: &[f64], preds: &Adjacency) -> (Vec<i64>, f64) {
    let largest = delays.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return (vec![0; delays.len()], 1.0);
    }
    let scale = power_of_two_above(largest);
    let mut arrival = vec![0.0f64; delays.len()];
    let mut longest = 1.0f64;
    for v in 0..delays.len() {
        let before = preds.of(v as u32).iter().map(|&u| arrival[u as usize]).fold(0.0, f64::max);
        arrival[v] = before + delays[v] / scale;
        longest = longest.max(arrival[v]);
    }
    let per_scale = (1u64 << 50) as f64 / power_of_two_above(longest);
    let delay = delays.iter().map(|d| (d / scale * per_scale).round() as i64).collect();
    (delay, scale / per_scale)
}

/// The smallest power of two above a positive finite number (or the largest there is).
fn power_of_two_above(x: f64) -> f64 {
    let mut p = 1.0f64;
    while p <= x && p < f64::MAX / 4.0 {
        p *= 2.0;
    }
    while p > 2.0 * x && p > f64::MIN_POSITIVE * 1e20 {
        p /= 2.0;
    }
    p
}
