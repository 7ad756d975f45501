//! Timing graph of a program: operations with a stage, their order, and their delays.
//!
//! Vertices are the operations on which an output depends, except constants and wiring without a delay (which is in the
//! stage of its operand). Vertex 0 is the environment before the inputs, in stage 1. After the operations follow the
//! vertices that are pinned to the last stage: output negations, and the environment after the outputs. Times belong to
//! points ([`super::paths`]), each of which belongs to a vertex.
//!
//! This module represents delays as integers (*ticks*), so that sums do not depend on their order and every comparison
//! is exact. A tick is at most 2^-48 of the longest path, so that the relative slack of 1e-9, which the specification
//! allows in comparisons, covers the rounding.

use super::delay::Delay;
use super::paths::{From, Paths};
use super::uses::{Reader, Root, Uses, live};
use alir_core::ir::{Model, Op, ValueId};

/// Marks constants and operations on which no output depends, which have no vertex.
pub(super) const NONE: u32 = u32::MAX;

/// Part of the relative slack of 1e-9 that the scheduler uses; the rest covers the rounding of the checker.
const SLACK: f64 = 0.9e-9;

/// The timing graph of a program. Vertices are numbered in topological order.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    times: Times<i64>,
    /// Arcs out of each point: destination and length.
    out: Vec<(u32, i64)>,
    out_start: Vec<u32>,
    preds: Adjacency,
    succs: Adjacency,
    /// Vertex of each operation; for wiring, the vertex of its operand; or [`NONE`].
    pub(super) vertex: Vec<u32>,
    /// First vertex that is pinned to the last stage.
    pub(super) first_pinned: u32,
    /// Vertex of each negated output, ascending by output.
    negations: Vec<(u32, u32)>,
    /// Operation of each vertex between vertex 0 and the pinned vertices.
    op: Vec<ValueId>,
    /// Value of a tick in delay units.
    tick: f64,
}

/// Neighbours of each vertex in one direction.
#[derive(Clone, Debug, Default)]
struct Adjacency {
    start: Vec<u32>,
    to: Vec<u32>,
}

impl Adjacency {
    fn neighbours(&self, v: u32) -> &[u32] {
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
            for &t in self.neighbours(v) {
                to[next[t as usize] as usize] = v;
                next[t as usize] += 1;
            }
        }
        Adjacency { start, to }
    }
}

/// Delays outside of the pipeline, in the model's units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Outside {
    /// Time at which unregistered inputs arrive.
    pub(super) before: f64,
    /// Time that is required after the last operation.
    pub(super) after: f64,
}

/// Points of vertices, and arcs between points; in delay units (`f64`) or in ticks (`i64`).
#[derive(Clone, Debug)]
struct Times<T> {
    /// Index of the first point of each vertex, and the total number of points.
    first: Vec<u32>,
    /// Vertex of each point.
    vertex: Vec<u32>,
    alone: Vec<T>,
    behind: Vec<T>,
    /// Index of the first arc into each point, and the total number of arcs.
    start: Vec<u32>,
    arcs: Vec<(u32, T)>,
}

impl<T> Times<T> {
    fn new() -> Times<T> {
        let (first, start) = (vec![0], vec![0]);
        Times { first, vertex: Vec::new(), alone: Vec::new(), behind: Vec::new(), start, arcs: Vec::new() }
    }

    /// Adds a point of the current vertex, and returns its number.
    fn push(&mut self, alone: T, behind: T, arcs: impl IntoIterator<Item = (u32, T)>) -> u32 {
        self.vertex.push(self.first.len() as u32 - 1);
        self.alone.push(alone);
        self.behind.push(behind);
        self.arcs.extend(arcs);
        self.start.push(self.arcs.len() as u32);
        self.vertex.len() as u32 - 1
    }

    /// Finishes the points of the current vertex.
    fn end_vertex(&mut self) {
        self.first.push(self.vertex.len() as u32);
    }

    fn points_of(&self, v: u32) -> std::ops::Range<u32> {
        self.first[v as usize]..self.first[v as usize + 1]
    }

    fn arcs(&self, point: u32) -> &[(u32, T)] {
        &self.arcs[self.start[point as usize] as usize..self.start[point as usize + 1] as usize]
    }
}

/// Builder of the points of vertices from the points of a program's elements.
struct Points<'a> {
    paths: &'a Paths,
    times: Times<f64>,
    /// Point of the graph for each point of the program, or [`NONE`].
    of: Vec<u32>,
    arcs: Vec<(u32, f64)>,
}

impl Points<'_> {
    /// Collects the arcs into a point of the program.
    fn collect(&mut self, point: u32) {
        self.arcs.clear();
        for arc in self.paths.arcs(point) {
            let from = match arc.from {
                From::Inputs => 0,
                From::Point(p) => self.of[p as usize],
            };
            if from != NONE && !self.arcs.contains(&(from, arc.time)) {
                self.arcs.push((from, arc.time));
            }
        }
    }

    /// Returns `true` if an element has no delay, and maps its points to the points of its operands.
    fn are_others(&mut self, element: usize) -> bool {
        let points = self.paths.points_of(element);
        let mut others = Vec::with_capacity(points.len());
        for point in points.clone() {
            self.collect(point);
            match self.arcs[..] {
                [] => others.push(NONE),
                [(from, 0.0)] => others.push(from),
                _ => return false,
            }
        }
        for (point, other) in points.zip(others) {
            self.of[point as usize] = other;
        }
        true
    }

    /// Adds the points of an element to the current vertex; `after` is the delay of the following elements in the same
    /// stage.
    fn make(&mut self, element: usize, after: f64) {
        for point in self.paths.points_of(element) {
            self.collect(point);
            let known = self.paths.point(point);
            let made = self.times.push(known.alone, known.behind + after, self.arcs.drain(..));
            self.of[point as usize] = made;
        }
    }
}

impl Graph {
    /// Returns the graph of a program. `uses` determines the operations that generate or read bits, and so need a
    /// stage.
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
        let paths = delay.paths(model);
        let mut points = Points { paths: &paths, times: Times::new(), of: vec![NONE; paths.len()], arcs: Vec::new() };
        points.times.arcs.reserve(paths.arc_count());
        points.times.push(outside.before, 0.0, []);
        points.times.end_vertex();
        let mut vertex = vec![NONE; n];
        let mut op = Vec::new();
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
            let is_wiring = paths.own_delay(id) == 0.0 && !matters[i] && preds.to.len() - from <= 1;
            if is_wiring && points.are_others(i) {
                vertex[i] = preds.to.get(from).copied().unwrap_or(NONE);
                preds.to.truncate(from);
                continue;
            }
            if preds.to.len() == from {
                preds.to.push(0);
            }
            vertex[i] = op.len() as u32 + 1;
            op.push(id);
            points.make(i, 0.0);
            points.times.end_vertex();
            preds.start.push(preds.to.len() as u32);
        }
        let first_pinned = op.len() as u32 + 1;
        let mut negations = Vec::new();
        let mut shown = vec![false; first_pinned as usize];
        for (j, out) in model.outputs().iter().enumerate() {
            let Some(v) = out.source else { continue };
            // A constant is available from the beginning, like an input.
            let u = if vertex[v.index()] == NONE { 0 } else { vertex[v.index()] };
            if out.neg {
                negations.push((j as u32, first_pinned + negations.len() as u32));
                preds.to.push(u);
                preds.start.push(preds.to.len() as u32);
                // Pinned to the stage of the environment after the outputs, whose delay is included.
                points.make(n + j, outside.after);
                points.times.end_vertex();
            } else {
                shown[u as usize] = true;
            }
        }
        preds.to.extend((0..first_pinned).filter(|&v| shown[v as usize]));
        preds.start.push(preds.to.len() as u32);
        let mut at_ports: Vec<u32> = paths.shown().iter().map(|&p| points.of[p as usize]).collect();
        at_ports.retain(|&p| p != NONE);
        at_ports.sort_unstable();
        at_ports.dedup();
        let mut times = points.times;
        let after: Vec<_> = at_ports.iter().map(|&p| (p, times.behind[p as usize] + outside.after)).collect();
        times.push(outside.after, 0.0, after);
        times.end_vertex();
        let succs = preds.reversed();
        let (times, tick) = ticks(times);
        let (out_start, out) = out_of(&times);
        Graph { times, out, out_start, preds, succs, vertex, first_pinned, negations, op, tick }
    }

    /// Returns the number of vertices.
    pub(super) fn len(&self) -> usize {
        self.times.first.len() - 1
    }

    /// Returns the number of points.
    pub(super) fn points(&self) -> usize {
        self.times.vertex.len()
    }

    /// Returns the cost in steps of visiting all points.
    pub(super) fn work(&self) -> u64 {
        match self.points() == self.len() {
            true => self.len() as u64,
            false => (self.points() + self.times.arcs.len()) as u64,
        }
    }

    /// Returns the points of a vertex.
    pub(super) fn points_of(&self, v: u32) -> std::ops::Range<u32> {
        self.times.points_of(v)
    }

    /// Returns the vertex of a point.
    pub(super) fn vertex_of(&self, point: u32) -> u32 {
        self.times.vertex[point as usize]
    }

    /// Returns the arcs into a point: origin and length of each arc.
    pub(super) fn arcs(&self, point: u32) -> &[(u32, i64)] {
        self.times.arcs(point)
    }

    /// Returns the arrival time of a point if all operands of its vertex are available at the start of the stage.
    pub(super) fn alone(&self, point: u32) -> i64 {
        self.times.alone[point as usize]
    }

    /// Returns the time required between a point and the end of its stage, in ticks.
    pub(super) fn behind(&self, point: u32) -> i64 {
        self.times.behind[point as usize]
    }

    /// Computes the arrival times at the points of a vertex in this stage from the arrival times of its predecessors.
    /// Returns the longest path that ends with the vertex.
    pub(super) fn arrive(&self, v: u32, in_stage: u32, stage: &[u32], arrivals: &mut [i64]) -> i64 {
        let mut longest = 0;
        for point in self.points_of(v) {
            let mut at = self.alone(point);
            for &(from, time) in self.arcs(point) {
                if stage[self.vertex_of(from) as usize] == in_stage {
                    at = at.max(arrivals[from as usize] + time);
                }
            }
            arrivals[point as usize] = at;
            longest = longest.max(at + self.behind(point));
        }
        longest
    }

    /// Like [`Graph::arrive`], for a vertex without predecessors in its stage.
    pub(super) fn sole_predecessor(&self, v: u32, arrivals: &mut [i64]) -> i64 {
        let mut longest = 0;
        for point in self.points_of(v) {
            arrivals[point as usize] = self.alone(point);
            longest = longest.max(self.alone(point) + self.behind(point));
        }
        longest
    }

    /// Computes the longest paths from the points of a vertex to the end of this stage from the paths of its
    /// successors. Returns the longest path that begins with the vertex.
    pub(super) fn leave(&self, v: u32, in_stage: u32, stage: &[u32], ways: &mut [i64]) -> i64 {
        let mut longest = 0;
        for point in self.points_of(v) {
            let mut way = self.behind(point);
            let range = self.out_start[point as usize] as usize..self.out_start[point as usize + 1] as usize;
            for &(to, time) in &self.out[range] {
                if stage[self.vertex_of(to) as usize] == in_stage {
                    way = way.max(time + ways[to as usize]);
                }
            }
            ways[point as usize] = way;
            longest = longest.max(self.alone(point) + way);
        }
        longest
    }

    /// Like [`Graph::leave`], for a vertex without successors in its stage.
    pub(super) fn sole_successor(&self, v: u32, ways: &mut [i64]) {
        for point in self.points_of(v) {
            ways[point as usize] = self.behind(point);
        }
    }

    /// Returns the predecessors of a vertex.
    pub(super) fn preds(&self, v: u32) -> &[u32] {
        self.preds.neighbours(v)
    }

    /// Returns the successors of a vertex.
    pub(super) fn succs(&self, v: u32) -> &[u32] {
        self.succs.neighbours(v)
    }

    /// Returns `true` if a vertex is pinned to the last stage.
    #[cfg(test)]
    pub(super) fn is_pinned_last(&self, v: u32) -> bool {
        v >= self.first_pinned
    }

    /// Returns the operation of a vertex, or `None` if the vertex has no operation.
    pub(super) fn op(&self, v: u32) -> Option<ValueId> {
        (v > 0 && v < self.first_pinned).then(|| self.op[v as usize - 1])
    }

    /// Returns the operations of two vertices, or `None` if one of the vertices has no operation.
    pub(super) fn ops(&self, u: u32, v: u32) -> Option<(ValueId, ValueId)> {
        Some((self.op(u)?, self.op(v)?))
    }

    /// Returns the reader at a label after the inputs; edges of DSPs are numbered after the vertices.
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

    /// Returns the label of the origin of root bits.
    pub(super) fn root_node(&self, root: Root) -> u32 {
        match root {
            Root::Input(_) => 0,
            Root::Op(v) => self.vertex[v.index()],
            Root::Negation(j) => self.negation_node(j),
            Root::Edge(edge) => self.len() as u32 + edge,
        }
    }

    /// Returns the label of a reader; `None` for the output port, which reads after the last stage.
    pub(super) fn reader_node(&self, reader: Reader) -> Option<u32> {
        match reader {
            Reader::Op(v) => Some(self.vertex[v.index()]),
            Reader::Negation(j) => Some(self.negation_node(j)),
            Reader::Port => None,
            Reader::Edge(edge) => Some(self.len() as u32 + edge),
        }
    }

    /// Returns the vertex of a negated output.
    fn negation_node(&self, j: u32) -> u32 {
        let at = self.negations.binary_search_by_key(&j, |&(k, _)| k);
        at.map_or(NONE, |i| self.negations[i].1)
    }

    /// Returns the largest number of ticks within a bound on delays, including the slack of the specification.
    pub(super) fn limit(&self, delay: f64) -> i64 {
        // `as` saturates, and converts NaN to 0.
        (delay * (1.0 + SLACK) / self.tick).floor() as i64
    }

    /// Converts ticks to the model's units.
    pub(super) fn units(&self, ticks: i64) -> f64 {
        ticks as f64 * self.tick
    }

    /// Returns the vertex with the largest own delay, and this delay.
    pub(super) fn slowest(&self) -> (u32, i64) {
        let mut slowest = (0, 0);
        for point in 0..self.points() as u32 {
            let own = self.alone(point) + self.behind(point);
            if own > slowest.1 {
                slowest = (self.vertex_of(point), own);
            }
        }
        slowest
    }
}

/// Returns the arcs out of each point.
fn out_of(times: &Times<i64>) -> (Vec<u32>, Vec<(u32, i64)>) {
    let points = times.vertex.len();
    let mut start = vec![0u32; points + 1];
    for &(from, _) in &times.arcs {
        start[from as usize + 1] += 1;
    }
    for i in 0..points {
        start[i + 1] += start[i];
    }
    let mut next = start.clone();
    let mut out = vec![(0, 0); times.arcs.len()];
    for point in 0..points as u32 {
        for &(from, time) in times.arcs(point) {
            out[next[from as usize] as usize] = (point, time);
            next[from as usize] += 1;
        }
    }
    (start, out)
}

/// Converts delays to ticks; returns also the value of a tick, a power of two, so that the usual dyadic latencies are
/// exact.
fn ticks(times: Times<f64>) -> (Times<i64>, f64) {
    let own = times.alone.iter().zip(&times.behind).map(|(alone, behind)| alone + behind);
    let largest = own.chain(times.arcs.iter().map(|arc| arc.1)).fold(0.0, f64::max);
    let (scale, per_scale) = match largest {
        0.0 => (1.0, 1.0),
        _ => {
            let scale = power_of_two_above(largest);
            let mut arrival = vec![0.0f64; times.vertex.len()];
            let mut longest = 1.0f64;
            for point in 0..arrival.len() {
                let arcs = times.arcs(point as u32).iter();
                let at = arcs.map(|&(from, time)| arrival[from as usize] + time / scale).fold(0.0, f64::max);
                arrival[point] = at.max(times.alone[point] / scale);
                longest = longest.max(arrival[point] + times.behind[point] / scale);
            }
            (scale, (1u64 << 50) as f64 / power_of_two_above(longest))
        }
    };
    let to_ticks = |delay: f64| (delay / scale * per_scale).round() as i64;
    let Times { first, vertex, alone, behind, start, arcs } = times;
    // `into_iter` lets each new vector reuse the memory of the old vector; most memory of a graph is for arcs.
    let ticks = Times {
        first,
        vertex,
        alone: alone.into_iter().map(to_ticks).collect(),
        behind: behind.into_iter().map(to_ticks).collect(),
        start,
        arcs: arcs.into_iter().map(|(from, time)| (from, to_ticks(time))).collect(),
    };
    (ticks, scale / per_scale)
}

/// Returns the smallest power of two above a positive finite number, limited to the largest representable power.
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
