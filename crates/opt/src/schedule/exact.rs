//! Exact search, with a proof, for the fewest register bits for a given stage count and delay bound.
//!
//! Stages are labels under difference constraints (C. E. Leiserson, J. B. Saxe, *Retiming synchronous circuitry*,
//! 1991): an operation is not before its operands, and if a path from `u` to `v` is longer than the bound, `v` is at
//! least one stage after `u`. Register bits are linear in the labels and, for each class of bits, the label of the last
//! reader. Register bits remain linear if DSPs have internal registers: an edge of a DSP ([`super::Edge`]) is one more
//! label, bounded on both sides relative to the label of the multiplication, and no reader is before the root of its
//! bits. The dual problem is a flow ([`super::flow`]).
//!
//! The method is primal-dual (L. R. Ford, D. R. Fulkerson 1962). Labels start at the earliest schedule and are always
//! legal. Flow is sent along tight inequalities. When no more flow can be sent, all nodes that are reachable from
//! excess move one stage later, which lowers the cost by the amount of the excess and keeps every inequality with flow
//! tight. No label moves beyond its stage in the optimal schedule, so there are fewer rounds than stages. The flow sent
//! so far is a lower bound at any time, so the search can stop at any time with a known gap.
//!
//! There are many path inequalities, but few of them are tight, so a path inequality is added only when a move would
//! violate it. Finding the last violated paths takes most of the time. When the budget is exhausted, a move that would
//! violate paths is therefore repaired: the ends of these paths also move, even if that is not optimal, and flow on
//! arcs that are no longer tight is removed. The gap then states the possible cost.

use super::bounds::Labels;
use super::cost::{Cost, PORT};
use super::flow::{FlowNetwork, Saturated};
use super::graph::Graph;

/// Node of all labels whose stage is fixed.
const GROUND: u32 = 0;

/// Maximum number of attempts to repair one move before the move is abandoned.
const DETOURS: usize = 20;

/// Inequality that an arc of the network represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The second vertex depends on the first vertex, and therefore is not before the first vertex.
    Order(u32, u32),
    /// The path from the first vertex to the second is too long for one stage.
    Path(u32, u32),
    /// The reader is not after the last use of the class. Fields: class, reader.
    Use(u32, u32),
    /// The edge of a DSP is not before its earliest label (`false`), or not after its latest label (`true`).
    Edge(u32, bool),
    /// The reader is not before the root of the class; one of the two is an edge of a DSP. Fields: class, reader.
    Held(u32, u32),
    /// Bound of the windows: no schedule is earlier or later.
    Window,
}

/// Result of the search.
#[derive(Clone, Debug)]
pub(super) struct Solution {
    /// Stage of each vertex.
    pub(super) stage: Vec<u32>,
    /// Inequalities with their non-zero multipliers, without windows.
    pub(super) multipliers: Vec<(Reason, i64)>,
    /// Lower bound that the multipliers prove, in weighted register bits without input registers.
    pub(super) lower_bound: u64,
}

/// The network of a scheduling problem.
struct Problem<'a> {
    graph: &'a Graph,
    limit: i64,
    network: FlowNetwork,
    /// Node of each label, and the difference of the label and the node's label.
    node: Vec<(u32, i32)>,
    reasons: Vec<Reason>,
    /// Current value of each label: stages of vertices, then stages of edges of DSPs.
    stage: Vec<u32>,
    /// The fewest register bits so far, and the labels of that schedule.
    best: (u64, Vec<u32>),
    /// Arrival time of each point.
    path: Vec<i64>,
    cone: Cone,
}

/// Searches for the fewest register bits until the optimum is proved or `effort` steps are done.
pub(super) fn fewest_registers(
    graph: &Graph,
    cost: &Cost,
    limit: i64,
    stages: u32,
    early: &Labels,
    late: &Labels,
    effort: u64,
) -> Solution {
    let (early, late) = cost.windows(&early.stage, &late.stage, stages);
    let windows = (&early[..], &late[..]);
    let mut problem = Problem::new(graph, cost, limit, stages, windows);
    problem.solve(cost, stages, effort / 5 * 4);
    let (mut multipliers, mut lower_bound) = problem.proof(cost, stages, windows);
    if lower_bound < problem.best.0 {
        problem.heuristic_phase(cost, stages, effort);
        let mut keep_if_better = |(others, bound)| {
            if bound > lower_bound {
                (multipliers, lower_bound) = (others, bound);
            }
            lower_bound
        };
        // The proof is weak if much excess is still on its way to a demand.
        if keep_if_better(problem.proof(cost, stages, windows)) < problem.best.0 / 2 {
            let reasons = &problem.reasons;
            problem.network.push_within_slack(|arc| reasons[arc] != Reason::Window, effort + effort / 5);
            keep_if_better(problem.proof(cost, stages, windows));
        }
    }
    let mut stage = problem.best.1;
    stage.truncate(graph.len());
    Solution { stage, multipliers, lower_bound }
}

/// Returns the classes, ordered by the labels of their roots.
fn by_root(labels: usize, cost: &Cost) -> Vec<u32> {
    let mut start = vec![0u32; labels + 1];
    for &root in &cost.root {
        start[root as usize + 1] += 1;
    }
    for v in 0..labels {
        start[v + 1] += start[v];
    }
    let mut sorted = vec![0; cost.len()];
    for (class, &root) in cost.root.iter().enumerate() {
        let at = &mut start[root as usize];
        sorted[*at as usize] = class as u32;
        *at += 1;
    }
    sorted
}

/// Earliest and latest values of all labels.
type Windows<'a> = (&'a [u32], &'a [u32]);

/// Returns the first and the last possible stage of the last of some readers, ignoring [`PORT`].
fn use_window(readers: &[u32], (early, late): Windows) -> (u32, u32) {
    readers.iter().fold((1, 1), |(first, last), &r| match r {
        PORT => (first, last),
        r => (first.max(early[r as usize]), last.max(late[r as usize])),
    })
}

/// Returns the lower bound that multipliers prove: after adding the inequalities to the cost, each label has some
/// remaining factor, and the window of the label bounds its contribution.
fn lower_bound(cost: &Cost, stages: u32, windows: Windows, multipliers: &[(Reason, i64)]) -> u64 {
    let (early, late) = windows;
    let mut total = 0i64;
    let mut rest = vec![0i64; early.len()];
    let first_edge = early.len() - cost.edges.len();
    let mut rest_of_use: Vec<i64> = cost.bits.iter().map(|&b| i64::from(b)).collect();
    for &(reason, m) in multipliers {
        match reason {
            Reason::Order(u, v) | Reason::Path(u, v) => {
                rest[u as usize] += m;
                rest[v as usize] -= m;
                total += if matches!(reason, Reason::Path(..)) { m } else { 0 };
            }
            Reason::Use(class, reader) => {
                rest[reader as usize] += m;
                rest_of_use[class as usize] -= m;
            }
            Reason::Edge(edge, is_latest) => {
                let span = cost.edges[edge as usize];
                let (u, v, gain) = span.inequality(first_edge as u32 + edge, is_latest);
                rest[u as usize] += m;
                rest[v as usize] -= m;
                total += m * i64::from(gain);
            }
            Reason::Held(class, reader) => {
                rest[cost.root[class as usize] as usize] += m;
                rest[reader as usize] -= m;
            }
            Reason::Window => {}
        }
    }
    let least = |r: i64, first: u32, last: u32| r * i64::from(if r > 0 { first } else { last });
    for class in 0..cost.len() {
        rest[cost.root[class] as usize] -= i64::from(cost.bits[class]);
        let r = rest_of_use[class];
        total += match cost.readers(class) {
            [PORT] => r * (i64::from(stages) + 1),
            [reader] => {
                rest[*reader as usize] += r;
                0
            }
            readers => {
                let (first, last) = use_window(readers, windows);
                least(r, first, last)
            }
        };
    }
    for ((&r, &first), &last) in rest.iter().zip(early).zip(late) {
        total += least(r, first, last);
    }
    total.max(0) as u64
}

impl<'a> Problem<'a> {
    fn new(graph: &'a Graph, cost: &Cost, limit: i64, stages: u32, windows: Windows) -> Problem<'a> {
        let (early, late) = windows;
        let mut label = vec![0];
        let mut node = Vec::with_capacity(early.len());
        let mut last_use = vec![GROUND; cost.len()];
        let mut classes = by_root(early.len(), cost).into_iter().peekable();
        for (v, (&first, &last)) in early.iter().zip(late).enumerate() {
            if first == last {
                node.push((GROUND, first as i32));
            } else {
                node.push((label.len() as u32, 0));
                label.push(first as i32);
            }
            // In addition, labels for the last uses of the vertex's bits, unless the last use is fixed.
            while let Some(class) = classes.next_if(|&class| cost.root[class as usize] as usize == v) {
                let readers = cost.readers(class as usize);
                let (first, last) = use_window(readers, windows);
                if readers.len() > 1 && first < last {
                    last_use[class as usize] = label.len() as u32;
                    label.push(first as i32);
                }
            }
        }
        let mut problem = Problem {
            graph,
            limit,
            network: FlowNetwork::new(label),
            node,
            reasons: Vec::new(),
            stage: early.to_vec(),
            best: (cost.bits(early, stages), early.to_vec()),
            path: vec![0; graph.points()],
            cone: Cone::new(graph.points()),
        };
        problem.add_order(windows);
        problem.add_edges(cost, windows);
        problem.add_uses(cost, &last_use, windows);
        problem.add_windows(windows);
        problem
    }

    /// Adds every order inequality that the windows do not imply.
    fn add_order(&mut self, (early, late): Windows) {
        for v in 0..self.graph.len() as u32 {
            for &u in self.graph.preds(v) {
                if late[u as usize] > early[v as usize] {
                    self.add(Reason::Order(u, v), u, v, 0);
                }
            }
        }
    }

    /// Adds the inequalities of the edges of DSPs that the windows do not imply.
    fn add_edges(&mut self, cost: &Cost, (early, late): Windows) {
        let first = self.graph.len() as u32;
        for (edge, span) in (0..).zip(&cost.edges) {
            for is_latest in [false, true] {
                let (u, v, gain) = span.inequality(first + edge, is_latest);
                if i64::from(late[u as usize]) + i64::from(gain) > i64::from(early[v as usize]) {
                    self.add(Reason::Edge(edge, is_latest), u, v, gain);
                }
            }
        }
        for &(class, root, reader) in &cost.beside_edges {
            if late[root as usize] > early[reader as usize] {
                self.add(Reason::Held(class, reader), root, reader, 0);
            }
        }
    }

    fn add_uses(&mut self, cost: &Cost, last_use: &[u32], windows: Windows) {
        for (class, &last_use) in last_use.iter().enumerate() {
            let bits = i64::from(cost.bits[class]);
            self.network.want[self.node[cost.root[class] as usize].0 as usize] -= bits;
            let last = match (cost.readers(class), last_use) {
                ([PORT], _) => GROUND,
                ([reader], _) => self.node[*reader as usize].0,
                (_, GROUND) => GROUND,
                (readers, last) => {
                    // A reader whose latest stage is at most `first` never determines the last use alone.
                    let (first, _) = use_window(readers, windows);
                    self.network.add(GROUND, last, first as i32);
                    self.reasons.push(Reason::Window);
                    for &reader in readers.iter().filter(|&&r| windows.1[r as usize] > first) {
                        let (node, offset) = self.node[reader as usize];
                        self.network.add(node, last, offset);
                        self.reasons.push(Reason::Use(class as u32, reader));
                    }
                    last
                }
            };
            self.network.want[last as usize] += bits;
        }
    }

    fn add_windows(&mut self, (early, late): Windows) {
        for v in 0..early.len() {
            let (node, _) = self.node[v];
            if node == GROUND {
                continue;
            }
            self.network.add(GROUND, node, early[v] as i32);
            self.network.add(node, GROUND, -(late[v] as i32));
            self.reasons.extend([Reason::Window; 2]);
        }
    }

    /// Adds the inequality `stage[v] - stage[u] >= gain`.
    fn add(&mut self, reason: Reason, u: u32, v: u32, gain: i32) {
        let ((from, before), (to, after)) = (self.node[u as usize], self.node[v as usize]);
        if from != to {
            self.network.add(from, to, gain + before - after);
            self.reasons.push(reason);
        }
    }

    /// Moves to the optimal labels, or as far as the effort allows.
    fn solve(&mut self, cost: &Cost, stages: u32, effort: u64) {
        let mut pairs = Vec::new();
        while self.network.saturate(effort) == Saturated::Stuck {
            if self.is_move_legal(&mut pairs) {
                self.network.sort();
                self.keep_if_better(cost, stages);
            }
        }
    }

    /// Makes moves that may be suboptimal, as far as the effort allows.
    fn heuristic_phase(&mut self, cost: &Cost, stages: u32, effort: u64) {
        let mut pairs = Vec::new();
        loop {
            let how = self.network.saturate(effort);
            match how {
                Saturated::Served => return,
                Saturated::Stuck => {}
                // Some of the remaining excess may still be routable; that is not decided here.
                Saturated::OutOfBudget => self.network.reach(),
            }
            let before = cost.bits(&self.stage, stages);
            if self.move_around(&mut pairs) {
                if cost.bits(&self.stage, stages) < before {
                    self.network.clear_inflow();
                    self.network.sort();
                    self.keep_if_better(cost, stages);
                } else {
                    self.move_reached(-1);
                }
            }
            if how == Saturated::OutOfBudget {
                return;
            }
        }
    }

    /// Moves the reached nodes, together with all nodes that must move so that no path is violated. Returns `false`,
    /// without any move, if `DETOURS` attempts do not suffice.
    fn move_around(&mut self, pairs: &mut Vec<(u32, u32)>) -> bool {
        for _ in 0..DETOURS {
            let known = self.reasons.len();
            if self.is_move_legal(pairs) {
                return true;
            }
            let ends: Vec<u32> = self.reasons[known..].iter().filter_map(|&r| self.end_of_path(r)).collect();
            self.network.reach_along(ends);
        }
        false
    }

    /// Returns the node at the end of a path, or `None` for other inequalities.
    fn end_of_path(&self, reason: Reason) -> Option<u32> {
        match reason {
            Reason::Path(_, v) => Some(self.node[v as usize].0),
            _ => None,
        }
    }

    /// Returns the inequalities with their multipliers, and the lower bound that they prove.
    fn proof(&self, cost: &Cost, stages: u32, windows: Windows) -> (Vec<(Reason, i64)>, u64) {
        let multipliers: Vec<(Reason, i64)> = (0..self.network.arcs())
            .map(|arc| (self.reasons[arc], self.network.flow(arc)))
            .filter(|&(reason, flow)| flow != 0 && reason != Reason::Window)
            .collect();
        let bound = lower_bound(cost, stages, windows, &multipliers);
        (multipliers, bound)
    }

    /// Moves the reached nodes. If that violates a path, moves them back, adds the path inequalities, and returns
    /// `false`.
    fn is_move_legal(&mut self, pairs: &mut Vec<(u32, u32)>) -> bool {
        self.move_reached(1);
        self.find_broken_paths(pairs);
        if pairs.is_empty() {
            return true;
        }
        // The labels before the move satisfy these inequalities tightly, so flow can use the new arcs.
        self.move_reached(-1);
        for (u, v) in pairs.drain(..) {
            self.add(Reason::Path(u, v), u, v, 1);
        }
        false
    }

    fn keep_if_better(&mut self, cost: &Cost, stages: u32) {
        let bits = cost.bits(&self.stage, stages);
        if bits < self.best.0 {
            self.best.0 = bits;
            self.best.1.copy_from_slice(&self.stage);
        }
    }

    /// Moves all reached nodes by `by` stages relative to the ground node.
    fn move_reached(&mut self, by: i32) {
        let with_ground = self.network.is_reached(GROUND);
        for node in 0..self.network.label.len() as u32 {
            match (with_ground, self.network.is_reached(node)) {
                (false, true) => self.network.label[node as usize] += by,
                (true, false) => self.network.label[node as usize] -= by,
                _ => {}
            }
        }
        for (stage, &(node, offset)) in self.stage.iter_mut().zip(&self.node) {
            *stage = (self.network.label[node as usize] + offset) as u32;
        }
    }

    /// Collects the ends of paths within one stage that are too long for a stage.
    fn find_broken_paths(&mut self, pairs: &mut Vec<(u32, u32)>) {
        let graph = self.graph;
        for v in 0..graph.len() as u32 {
            let s = self.stage[v as usize];
            if graph.arrive(v, s, &self.stage, &mut self.path) > self.limit {
                self.cone.too_far(graph, &self.stage, self.limit, v, pairs);
                // Later vertices are checked as if a register ended the path here.
                graph.sole_predecessor(v, &mut self.path);
            }
        }
        self.network.work += graph.work() + std::mem::take(&mut self.cone.work);
    }
}

/// Backward search within a stage.
struct Cone {
    /// Longest path from each point to the vertex of the search; negative if not reached.
    distance: Vec<i64>,
    open: std::collections::BinaryHeap<u32>,
    seen: Vec<u32>,
    work: u64,
}

impl Cone {
    fn new(points: usize) -> Cone {
        Cone { distance: vec![-1; points], open: std::collections::BinaryHeap::new(), seen: Vec::new(), work: 0 }
    }

    /// Collects the nearest vertices of the same stage from which the path to `v` exceeds the limit.
    fn too_far(&mut self, graph: &Graph, stage: &[u32], limit: i64, v: u32, pairs: &mut Vec<(u32, u32)>) {
        for point in graph.points_of(v) {
            self.distance[point as usize] = graph.behind(point);
            self.seen.push(point);
        }
        self.open.push(v);
        // Vertices are numbered in topological order, so the distance of the highest open vertex is final.
        while let Some(w) = self.open.pop() {
            while self.open.peek() == Some(&w) {
                self.open.pop();
            }
            let reached = || graph.points_of(w).filter(|&p| self.distance[p as usize] >= 0);
            if reached().any(|p| graph.alone(p) + self.distance[p as usize] > limit) {
                pairs.push((w, v));
                continue;
            }
            for point in graph.points_of(w) {
                let distance = self.distance[point as usize];
                if distance < 0 {
                    continue;
                }
                for &(from, time) in graph.arcs(point) {
                    self.work += 1;
                    let u = graph.vertex_of(from);
                    if stage[u as usize] != stage[v as usize] {
                        continue;
                    }
                    let known = &mut self.distance[from as usize];
                    if *known < 0 {
                        self.open.push(u);
                        self.seen.push(from);
                    }
                    *known = (*known).max(distance + time);
                }
            }
        }
        for &point in &self.seen {
            self.distance[point as usize] = -1;
        }
        self.seen.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::bounds::{earliest, latest};
    use super::super::goal::frame;
    use super::super::testing::random_model;
    use super::super::{Goal, LatencyFields, Uses, certificate, check_certificate, pin, schedule};
    use super::*;

    #[test]
    fn a_search_that_is_cut_short_still_proves_what_it_says() {
        for seed in 0..200 {
            let case = random_model(seed, 80);
            let goal = Goal::stages(4);
            let (graph, uses) = (case.graph(), Uses::whole_values(&case.model));
            let best = schedule(&case.model, &LatencyFields, &goal, &uses).unwrap();
            let frame = frame(&graph, &goal).unwrap();
            let cost = Cost::new(&graph, &uses);
            let (mut early, mut late) = (Labels::default(), Labels::default());
            earliest(&graph, frame.limit, &mut early);
            pin(&graph, 4, &mut early.stage);
            latest(&graph, frame.limit, 4, &mut late);
            for effort in [0, 200, 1000, 3000] {
                let found = fewest_registers(&graph, &cost, frame.limit, 4, &early, &late, effort);
                assert!(found.lower_bound <= best.register_bits, "seed {seed}");
                assert!(cost.bits(&found.stage, 4) >= best.register_bits, "seed {seed}");
                let certificate = certificate(&graph, &found.multipliers, found.lower_bound);
                let goal = Goal { max_stage_delay: Some(frame.bound), ..goal };
                check_certificate(&case.model, &LatencyFields, &goal, &uses, &certificate).unwrap();
            }
        }
    }
}
