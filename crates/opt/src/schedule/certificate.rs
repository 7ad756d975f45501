//! Certificates of lower bounds on the register bits of schedules, and their checker.
//!
//! A certificate is a solution of the dual linear program: non-negative multipliers of inequalities that every legal
//! schedule satisfies, for any use of DSP registers. The weighted sum of the inequalities is `cost >= constant + sum
//! r[j] * stage[j]`, and the earliest and latest stage of each operation bound this sum from below. The checker
//! ([`check_certificate`]) verifies each inequality separately, computes earliest and latest stages independently, and
//! adds in 128-bit integers. The checker shares no code with the search.

use super::delay::Delay;
use super::goal::Goal;
use super::paths::{From, Paths};
use super::uses::{Reader, Root, Uses};
use alir_core::diag::{Diagnostic, Diagnostics, Place, Severity};
use alir_core::ir::{Model, ValueId};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Multipliers of inequalities, and the lower bound that they prove.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// Order inequalities: the second operation is not before the first, on which it depends (perhaps through wiring).
    pub order: Vec<(ValueId, ValueId, i64)>,
    /// Path inequalities: the second operation is at least one stage after the first, as a path between them is too
    /// long.
    pub path: Vec<(ValueId, ValueId, i64)>,
    /// Use inequalities: the reader is not after the last use of the class with this index in [`Uses::classes`].
    pub last_use: Vec<(u32, Reader, i64)>,
    /// Edge inequalities: the [`super::Edge`] with this index is not too early (`false`) or not too late (`true`).
    pub edge: Vec<(u32, bool, i64)>,
    /// Root inequalities: the reader is not before the root of the class; one of the two is an edge of a DSP.
    pub held: Vec<(u32, Reader, i64)>,
    /// Lower bound of the weighted register bits of all legal schedules, including the registers of inputs and outputs
    /// that the goal requires.
    pub lower_bound: u64,
}

/// Relative slack of comparisons: section 3 of the specification, "Delays".
const SLACK: f64 = 1e-9;

/// Checks that a certificate proves its lower bound for every schedule with the goal's number of stages and bound on
/// delays, both of which are required.
///
/// # Errors
/// The defect of the certificate, with severity [`Severity::Bug`].
pub fn check_certificate(
    model: &Model,
    delay: &dyn Delay,
    goal: &Goal,
    uses: &Uses,
    certificate: &Certificate,
) -> Result<(), Diagnostics> {
    let wrong = |message: String| {
        Diagnostics::from(Diagnostic {
            severity: Severity::Bug,
            ..Diagnostic::error("E0591", Place::Whole, format!("the proof of the register bits is wrong: {message}"))
        })
    };
    let checker = Checker::new(model, delay, goal, uses).map_err(wrong)?;
    // An empty certificate proves a lower bound of zero; the registers of inputs and outputs are added to the bound.
    let mut edges = if goal.register_inputs { uses.input_bits() } else { 0 };
    if goal.register_outputs {
        let shown = uses.all_bits().iter().filter(|c| uses.readers(c).contains(&Reader::Port));
        edges += shown.map(|c| u64::from(c.bits)).sum::<u64>();
    }
    let proved =
        checker.proved(uses, certificate).map_err(wrong)?.max(0) + i128::from(edges) * i128::from(uses.weight());
    if i128::from(certificate.lower_bound) > proved {
        return Err(wrong(format!("it claims {} and proves {proved}", certificate.lower_bound)));
    }
    Ok(())
}

/// Earliest stage that reads a point, and the longest path from the point to the end of this stage.
#[derive(Clone, Copy, Default)]
struct FirstRead {
    stage: Option<i128>,
    way: f64,
}

impl FirstRead {
    fn note(&mut self, stage: i128, way: f64) {
        match self.stage {
            Some(known) if known < stage => {}
            Some(known) if known == stage => self.way = self.way.max(way),
            _ => *self = FirstRead { stage: Some(stage), way },
        }
    }
}

struct Checker<'a> {
    model: &'a Model,
    paths: Cow<'a, Paths>,
    bound: f64,
    stages: i128,
    /// Earliest and latest stage of each operation; `None` if no output depends on it.
    window: Vec<Option<(i128, i128)>>,
    /// Earliest and latest stage of each edge of a DSP.
    edges: Vec<(i128, i128)>,
    own: Vec<f64>,
    /// `true` for operations that generate or read bits; the others are wiring.
    gates: Vec<bool>,
}

impl<'a> Checker<'a> {
    fn new(model: &'a Model, delay: &'a dyn Delay, goal: &Goal, uses: &Uses) -> Result<Checker<'a>, String> {
        let (Some(stages), Some(bound)) = (goal.stages, goal.max_stage_delay) else {
            return Err("the goal has no number of stages or no bound".to_owned());
        };
        let paths = delay.paths(model);
        let own = model.ids().map(|id| paths.own_delay(id)).collect();
        let mut checker = Checker {
            model,
            paths,
            bound,
            stages: i128::from(stages),
            window: Vec::new(),
            edges: Vec::new(),
            own,
            gates: gates(model, uses),
        };
        checker.window = checker.windows(goal);
        checker.edges = checker.edge_windows(uses)?;
        Ok(checker)
    }

    /// Returns the earliest and latest stages of edges, derived from those of their operations. A product leaves no
    /// later than the latest stage of any reader, a factor enters no earlier than the earliest stage of its origins.
    fn edge_windows(&self, uses: &Uses) -> Result<Vec<(i128, i128)>, String> {
        let mut edges = Vec::with_capacity(uses.edges().len());
        for edge in uses.edges() {
            let (first, last) = self.window(edge.op)?;
            edges.push(((first + i128::from(edge.from)).max(1), last + i128::from(edge.to)));
        }
        let alone = edges.clone();
        for class in uses.classes() {
            for &reader in uses.readers(class) {
                if let Root::Edge(e) = class.root {
                    let last = match reader {
                        Reader::Op(v) => self.window(v)?.1,
                        Reader::Negation(_) => self.stages,
                        Reader::Port => self.stages + 1,
                        Reader::Edge(other) => alone[other as usize].1,
                    };
                    edges[e as usize].1 = edges[e as usize].1.min(last);
                }
                if let Reader::Edge(e) = reader {
                    let first = match class.root {
                        Root::Op(v) => self.window(v)?.0,
                        Root::Input(_) => 1,
                        Root::Negation(_) => self.stages,
                        Root::Edge(other) => alone[other as usize].0,
                    };
                    edges[e as usize].0 = edges[e as usize].0.max(first);
                }
            }
        }
        Ok(edges)
    }

    fn is_too_long(&self, path: f64) -> bool {
        path > self.bound * (1.0 + SLACK)
    }

    /// Returns earliest and latest stages, by the greedy argument of the module `bounds`, implemented independently.
    fn windows(&self, goal: &Goal) -> Vec<Option<(i128, i128)>> {
        let n = self.model.nodes().len();
        let outside = if goal.register_inputs { 0.0 } else { goal.input_delay };
        let after_ports = if goal.register_outputs { 0.0 } else { goal.output_delay };
        let mut first = vec![1i128; n];
        let mut arrival = vec![0.0f64; self.paths.len()];
        for id in self.model.ids() {
            let mut stage = 1;
            self.model.node(id).op.for_each_operand(|v| stage = stage.max(first[v.index()]));
            let mut is_cut = false;
            for p in self.paths.points_of(id.index()) {
                let point = self.paths.point(p);
                arrival[p as usize] = self.paths.arcs(p).iter().fold(point.alone, |at, arc| match arc.from {
                    From::Inputs if stage == 1 => at.max(outside + arc.time),
                    From::Point(q) if first[self.paths.element(q)] == stage => at.max(arrival[q as usize] + arc.time),
                    From::Inputs | From::Point(_) => at,
                });
                is_cut |= self.is_too_long(arrival[p as usize] + point.behind);
            }
            first[id.index()] = stage + i128::from(is_cut);
            if is_cut {
                self.paths.points_of(id.index()).for_each(|p| arrival[p as usize] = self.paths.point(p).alone);
            }
        }
        // Visits operations in reverse order, so that all reads of a point are recorded before the point is visited.
        let mut last: Vec<Option<i128>> = vec![None; n];
        let sooner = |slot: &mut Option<i128>, stage: i128| *slot = Some(slot.map_or(stage, |old| old.min(stage)));
        for v in self.model.outputs().iter().filter_map(|out| out.source) {
            sooner(&mut last[v.index()], self.stages);
        }
        let mut reads = vec![FirstRead::default(); self.paths.len()];
        for element in n..n + self.model.outputs().len() {
            for p in self.paths.points_of(element) {
                // Negations of outputs are in the last stage.
                self.read(p, self.stages, self.paths.point(p).behind + after_ports, &mut reads);
            }
        }
        for &p in self.paths.shown() {
            reads[p as usize].note(self.stages, self.paths.point(p).behind + after_ports);
        }
        for id in self.model.ids().rev() {
            // Operations on which no output depends have no stage.
            let Some(mut stage) = last[id.index()] else { continue };
            let points = self.paths.points_of(id.index());
            let way = |p: u32, stage: i128, reads: &[FirstRead]| {
                let (alone, read) = (self.paths.point(p).behind, reads[p as usize]);
                if read.stage == Some(stage) { read.way.max(alone) } else { alone }
            };
            if points.clone().any(|p| self.is_too_long(self.paths.point(p).alone + way(p, stage, &reads))) {
                stage -= 1;
            }
            for p in points {
                self.read(p, stage, way(p, stage, &reads), &mut reads);
            }
            last[id.index()] = Some(stage);
            self.model.node(id).op.for_each_operand(|v| sooner(&mut last[v.index()], stage));
        }
        first.iter().zip(&last).map(|(first, last)| last.map(|last| (*first, last))).collect()
    }

    /// Records a read in this stage at every origin of a point's arcs; `way` is the longest path from the point to the
    /// end of the stage.
    fn read(&self, point: u32, stage: i128, way: f64, reads: &mut [FirstRead]) {
        for arc in self.paths.arcs(point) {
            if let From::Point(q) = arc.from {
                reads[q as usize].note(stage, arc.time + way);
            }
        }
    }

    fn window(&self, id: ValueId) -> Result<(i128, i128), String> {
        let window = self.window.get(id.index()).copied().flatten();
        window.ok_or_else(|| format!("operation {} has no stage", id.0))
    }

    /// Returns the lower bound that follows from the multipliers.
    fn proved(&self, uses: &Uses, certificate: &Certificate) -> Result<i128, String> {
        let mut total = 0i128;
        // Coefficients of the stage of each operation, and of the last use of each class, in the sum of the
        // inequalities.
        let mut rest = vec![0i128; self.model.nodes().len()];
        let mut rest_of_use = vec![0i128; uses.classes().len()];
        let mut rest_of_edge = vec![0i128; uses.edges().len()];
        let multiplier = |m: i64| if m > 0 { Ok(i128::from(m)) } else { Err(format!("a multiplier of {m}")) };
        for &(u, v, m) in &certificate.order {
            let m = multiplier(m)?;
            if !self.uses_through_wiring(u, v) {
                return Err(format!("operation {} does not use operation {}", v.0, u.0));
            }
            rest[u.index()] += m;
            rest[v.index()] -= m;
        }
        self.check_paths(&certificate.path)?;
        for &(u, v, m) in &certificate.path {
            let m = multiplier(m)?;
            rest[u.index()] += m;
            rest[v.index()] -= m;
            total += m;
        }
        for &(class, reader, m) in &certificate.last_use {
            let m = multiplier(m)?;
            let known = uses.classes().get(class as usize).is_some_and(|c| uses.readers(c).contains(&reader));
            if !known {
                return Err(format!("{reader:?} does not read class {class}"));
            }
            rest_of_use[class as usize] -= m;
            match reader {
                Reader::Op(v) => rest[v.index()] += m,
                Reader::Negation(_) => total += m * self.stages,
                Reader::Port => total += m * (self.stages + 1),
                Reader::Edge(edge) => rest_of_edge[edge as usize] += m,
            }
        }
        for &(edge, is_latest, m) in &certificate.edge {
            let m = multiplier(m)?;
            let known = uses.edges().get(edge as usize).ok_or_else(|| format!("there is no edge {edge}"))?;
            // The stage of the edge relative to that of its operation is between `from` and `to`.
            let (sign, bound) = if is_latest { (-1, -known.to) } else { (1, known.from) };
            rest_of_edge[edge as usize] -= sign * m;
            rest[known.op.index()] += sign * m;
            total += m * i128::from(bound);
        }
        for &(class, reader, m) in &certificate.held {
            let m = multiplier(m)?;
            let known = uses.classes().get(class as usize).filter(|c| uses.readers(c).contains(&reader));
            let Some(class) = known else { return Err(format!("{reader:?} does not read class {class}")) };
            if !matches!((class.root, reader), (Root::Edge(_), _) | (_, Reader::Edge(_))) {
                return Err(format!("no edge is between {:?} and {reader:?}", class.root));
            }
            match class.root {
                Root::Op(v) => rest[v.index()] += m,
                Root::Input(_) => total += m,
                Root::Negation(_) => total += m * self.stages,
                Root::Edge(edge) => rest_of_edge[edge as usize] += m,
            }
            match reader {
                Reader::Op(v) => rest[v.index()] -= m,
                Reader::Negation(_) => total -= m * self.stages,
                Reader::Port => total -= m * (self.stages + 1),
                Reader::Edge(edge) => rest_of_edge[edge as usize] -= m,
            }
        }
        for (k, class) in uses.classes().iter().enumerate() {
            let bits = i128::from(class.bits);
            match class.root {
                Root::Op(v) => rest[v.index()] -= bits,
                Root::Input(_) => total -= bits,
                Root::Negation(_) => total -= bits * self.stages,
                Root::Edge(edge) => rest_of_edge[edge as usize] -= bits,
            }
            let readers = uses.readers(class);
            // A single reader is the last use.
            match readers {
                [Reader::Op(v)] => {
                    rest[v.index()] += bits + rest_of_use[k];
                    continue;
                }
                [Reader::Edge(edge)] => {
                    rest_of_edge[*edge as usize] += bits + rest_of_use[k];
                    continue;
                }
                _ => {}
            }
            let mut window = (0, 0);
            for &reader in readers {
                let (first, last) = match reader {
                    Reader::Op(v) => self.window(v)?,
                    Reader::Negation(_) => (self.stages, self.stages),
                    Reader::Port => (self.stages + 1, self.stages + 1),
                    Reader::Edge(edge) => self.edges[edge as usize],
                };
                window = (window.0.max(first), window.1.max(last));
            }
            total += least(bits + rest_of_use[k], window);
        }
        for id in self.model.ids() {
            let r = rest[id.index()];
            if r != 0 {
                total += least(r, self.window(id)?);
            }
        }
        total += rest_of_edge.iter().zip(&self.edges).map(|(&r, &window)| least(r, window)).sum::<i128>();
        Ok(total)
    }

    /// Returns `true` if `v` uses `u`, directly or through operations without a delay.
    fn uses_through_wiring(&self, u: ValueId, v: ValueId) -> bool {
        let mut open = vec![v];
        let mut seen = BTreeSet::new();
        while let Some(w) = open.pop() {
            let mut found = false;
            self.model.node(w).op.for_each_operand(|x| {
                found |= x == u;
                if x > u && self.own[x.index()] == 0.0 && !self.gates[x.index()] && seen.insert(x) {
                    open.push(x);
                }
            });
            if found {
                return true;
            }
        }
        false
    }

    /// Checks that each pair is connected by a path that is too long for a stage.
    fn check_paths(&self, paths: &[(ValueId, ValueId, i64)]) -> Result<(), String> {
        let mut by_end: FxHashMap<ValueId, Vec<ValueId>> = FxHashMap::default();
        let mut ends = Vec::new();
        for &(u, v, _) in paths {
            let starts = by_end.entry(v).or_default();
            if starts.is_empty() {
                ends.push(v);
            }
            starts.push(u);
        }
        for v in ends {
            let starts = &by_end[&v];
            let least = starts.iter().copied().min().unwrap_or(v);
            let longest = self.longest_to(v, least);
            for u in starts {
                match longest.get(u) {
                    Some(&path) if self.is_too_long(path) => {}
                    found => {
                        let path = found.copied().unwrap_or(0.0);
                        return Err(format!(
                            "the path from operation {} to {} takes {path}, which fits a stage",
                            u.0, v.0
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the longest path from the operands of each operation to a register after `v`, over operations not before
    /// `first`. The search does not extend paths that are already too long.
    fn longest_to(&self, v: ValueId, first: ValueId) -> FxHashMap<ValueId, f64> {
        let mut longest = FxHashMap::default();
        // Longest path from each point.
        let mut ways: FxHashMap<u32, f64> = FxHashMap::default();
        ways.extend(self.paths.points_of(v.index()).map(|p| (p, self.paths.point(p).behind)));
        let mut open = BTreeSet::from([v]);
        while let Some(w) = open.pop_last() {
            if w.index() >= self.own.len() {
                continue;
            }
            let reached = || self.paths.points_of(w.index()).filter_map(|p| Some((p, *ways.get(&p)?)));
            let path = reached().map(|(p, way)| self.paths.point(p).alone + way).fold(0.0, f64::max);
            longest.insert(w, path);
            if self.is_too_long(path) {
                continue;
            }
            for (p, way) in reached().collect::<Vec<_>>() {
                for arc in self.paths.arcs(p) {
                    let From::Point(q) = arc.from else { continue };
                    let u = ValueId(self.paths.element(q) as u32);
                    if u >= first {
                        let known = ways.entry(q).or_insert(0.0);
                        *known = known.max(way + arc.time);
                        open.insert(u);
                    }
                }
            }
        }
        longest
    }
}

fn gates(model: &Model, uses: &Uses) -> Vec<bool> {
    let mut gates = vec![false; model.nodes().len()];
    for class in uses.classes() {
        if let Root::Op(v) = class.root {
            gates[v.index()] = true;
        }
        for reader in uses.readers(class) {
            if let Reader::Op(v) = reader {
                gates[v.index()] = true;
            }
        }
    }
    uses.edges().iter().for_each(|edge| gates[edge.op.index()] = true);
    gates
}

/// Returns the minimum of `r * x` in a window.
fn least(r: i128, window: (i128, i128)) -> i128 {
    r * if r > 0 { window.0 } else { window.1 }
}
