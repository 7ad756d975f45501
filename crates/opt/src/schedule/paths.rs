//! Delays of paths through consecutive operations: points in time, and arcs between them.
//!
//! A sum that follows a sum begins with the low bits while the high ones are still on their way, so both together take
//! less than the two alone; and an operation after a register begins with all its bits at once. So the time of a result
//! is not one number but some: each operation has *points*, a few bits each, and each point is as late as the latest of
//! its *arcs*, which come from points of earlier operations or from the input ports. A value from another stage is
//! available when the stage begins; then the arc's own time is all there is ([`Point::alone`] is the longest of these).
//! After a point a register needs [`Point::behind`].
//!
//! Arcs are fixed times, whatever else is in the stage. So a stage is too long just if, for some operation `u` of it
//! and some `v` of it, the longest path is that begins with an operand of `u` at the stage's begin and ends in a
//! register after `v`; and then every schedule has `v` after a boundary that follows `u`. That is what keeps the search
//! exact and its proof a sum of inequalities.

use super::delay::Delay;
use alir_core::ir::{Model, Op, ValueId};

/// Where an arc comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The input ports.
    Inputs,
    /// A point by its number.
    Point(u32),
}

/// An arc into a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arc {
    /// Where it comes from.
    pub from: From,
    /// Delay of the arc.
    pub time: f64,
}

/// Some bits of a result that are timed as one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// When it is there if everything that its operation reads is there when the stage begins.
    pub alone: f64,
    /// Time that a register still needs after it.
    pub behind: f64,
}

/// Points and arcs of a program. Its elements are the operations and, numbered after them, the negations of outputs.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// First point of each element that was begun so far.
    first: Vec<u32>,
    points: Vec<Point>,
    /// Element of each point.
    element: Vec<u32>,
    /// First arc of each point, and the end.
    start: Vec<u32>,
    arcs: Vec<Arc>,
    /// Points whose bits output ports show as they are.
    shown: Vec<u32>,
}

impl Paths {
    /// Creates one point for each operation, which takes its own delay after each operand.
    pub fn by_operation(model: &Model, delay: &(impl Delay + ?Sized)) -> Paths {
        let mut paths = Paths::default();
        let mut arcs = Vec::new();
        for id in model.ids() {
            let own = delay.own_delay(model, id);
            arcs.clear();
            model.node(id).op.for_each_operand(|v| arcs.push(Arc { from: From::Point(v.0), time: own }));
            if matches!(model.node(id).op, Op::Input { .. }) {
                arcs.push(Arc { from: From::Inputs, time: own });
            }
            paths.begin();
            paths.push(Point { alone: own, behind: 0.0 }, &arcs);
        }
        for (j, out) in model.outputs().iter().enumerate() {
            paths.begin();
            match out.source {
                Some(v) if out.neg => {
                    let own = delay.negation_delay(model, j);
                    paths.push(Point { alone: own, behind: 0.0 }, &[Arc { from: From::Point(v.0), time: own }]);
                }
                Some(v) => paths.show(v.0),
                None => {}
            }
        }
        paths
    }

    /// Begins the next element: operations first, then one for each output.
    pub fn begin(&mut self) {
        self.first.push(self.points.len() as u32);
        if self.start.is_empty() {
            self.start.push(0);
        }
    }

    /// Adds a point of the element that was begun last, and returns its number. Arcs come from points of earlier
    /// elements.
    pub fn push(&mut self, point: Point, arcs: &[Arc]) -> u32 {
        self.points.push(point);
        self.element.push(self.first.len() as u32 - 1);
        self.arcs.extend_from_slice(arcs);
        self.start.push(self.arcs.len() as u32);
        self.points.len() as u32 - 1
    }

    /// Notes that an output port shows bits of a point as they are.
    pub fn show(&mut self, point: u32) {
        self.shown.push(point);
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Returns `true` if there are no points.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The points of an element: operation `i`, or for a program of `n` operations the negation of output `i - n`.
    pub fn points_of(&self, element: usize) -> std::ops::Range<u32> {
        let end = self.first.get(element + 1).copied().unwrap_or(self.points.len() as u32);
        self.first.get(element).map_or(0..0, |&first| first..end)
    }

    /// A point.
    pub fn point(&self, point: u32) -> Point {
        self.points[point as usize]
    }

    /// The element that a point is of.
    pub fn element(&self, point: u32) -> usize {
        self.element[point as usize] as usize
    }

    /// The arcs into a point.
    pub fn arcs(&self, point: u32) -> &[Arc] {
        &self.arcs[self.start[point as usize] as usize..self.start[point as usize + 1] as usize]
    }

    /// Number of arcs.
    pub(super) fn arc_count(&self) -> usize {
        self.arcs.len()
    }

    /// Points whose bits output ports show as they are.
    pub fn shown(&self) -> &[u32] {
        &self.shown
    }

    /// When each point is there, without registers.
    pub fn arrivals(&self) -> Vec<f64> {
        let mut arrival = vec![0.0f64; self.len()];
        for p in 0..self.len() as u32 {
            let arcs = self.arcs(p).iter().map(|arc| match arc.from {
                From::Inputs => arc.time,
                From::Point(q) => arrival[q as usize] + arc.time,
            });
            arrival[p as usize] = arcs.fold(self.point(p).alone, f64::max);
        }
        arrival
    }

    /// Returns the longest path from inputs to outputs, without registers, in a program of `operations` operations.
    pub fn longest(&self, operations: usize) -> f64 {
        let arrival = self.arrivals();
        let negated = (0..self.len() as u32).filter(|&p| self.element(p) >= operations);
        let ends = negated.chain(self.shown.iter().copied());
        ends.map(|p| arrival[p as usize] + self.point(p).behind).fold(0.0, f64::max)
    }

    /// Returns the delay of an element between registers, with nothing else in its stage.
    pub fn own(&self, element: usize) -> f64 {
        let times = self.points_of(element).map(|p| self.point(p).alone + self.point(p).behind);
        times.fold(0.0, f64::max)
    }

    /// Returns the delay of an operation between registers.
    pub fn own_delay(&self, id: ValueId) -> f64 {
        self.own(id.index())
    }
}
