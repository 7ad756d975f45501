//! Path delays through consecutive operations: points in time, and arcs between them.
//!
//! A sum that reads another sum can begin with the low bits before the high bits are available, so both sums together
//! take less time than two separate sums. After a register, however, an operation begins with all its bits at once. So
//! the time of a result is not one number: each operation has *points*, a few bits each, and the time of each point is
//! the maximum over its *arcs*, which come from points of earlier operations or from the input ports. A value from
//! another stage is available when the stage begins; then only the arc's own time counts ([`Point::alone`] is the
//! longest of these times). [`Point::behind`] is the time from a point to the register after it.
//!
//! Arcs are fixed times, independent of the stage's other operations. So a stage is too long exactly if, for some
//! operations `u` and `v` of it, the longest path is too long that begins with an operand of `u` at the start of the
//! stage and ends in a register after `v`. Then every schedule has `v` at least one stage after `u`. Therefore the
//! search is exact, and its proof is a sum of inequalities.

use super::delay::Delay;
use alir_core::ir::{Model, Op, ValueId};

/// Origin of an arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The input ports.
    Inputs,
    /// The point with this index.
    Point(u32),
}

/// An arc into a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arc {
    /// Origin of the arc.
    pub from: From,
    /// Delay of the arc.
    pub time: f64,
}

/// A group of bits of a result with a common arrival time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Arrival time if everything that the operation reads is available when the stage begins.
    pub alone: f64,
    /// Time required from the point to a register.
    pub behind: f64,
}

/// Points and arcs of a program. Elements are the operations, followed by the negations of outputs.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// Index of the first point of each element added so far.
    first: Vec<u32>,
    points: Vec<Point>,
    /// Element of each point.
    element: Vec<u32>,
    /// Index of the first arc of each point, and the total number of arcs.
    start: Vec<u32>,
    arcs: Vec<Arc>,
    /// Points whose bits are connected to output ports without a negation.
    shown: Vec<u32>,
}

impl Paths {
    /// Builds paths with one point per operation, which is the operation's own delay after each operand.
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

    /// Adds a point of the last element, and returns its index. Arcs must come from points of earlier elements.
    pub fn push(&mut self, point: Point, arcs: &[Arc]) -> u32 {
        self.points.push(point);
        self.element.push(self.first.len() as u32 - 1);
        self.arcs.extend_from_slice(arcs);
        self.start.push(self.arcs.len() as u32);
        self.points.len() as u32 - 1
    }

    /// Records that bits of a point are connected to an output port without a negation.
    pub fn show(&mut self, point: u32) {
        self.shown.push(point);
    }

    /// Returns the number of points.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Returns `true` if there are no points.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Returns the points of an element: operation `i`, or, in a program of `n` operations, the negation of output `i -
    /// n`.
    pub fn points_of(&self, element: usize) -> std::ops::Range<u32> {
        let end = self.first.get(element + 1).copied().unwrap_or(self.points.len() as u32);
        self.first.get(element).map_or(0..0, |&first| first..end)
    }

    /// Returns a point.
    pub fn point(&self, point: u32) -> Point {
        self.points[point as usize]
    }

    /// Returns the element of a point.
    pub fn element(&self, point: u32) -> usize {
        self.element[point as usize] as usize
    }

    /// Returns the arcs into a point.
    pub fn arcs(&self, point: u32) -> &[Arc] {
        &self.arcs[self.start[point as usize] as usize..self.start[point as usize + 1] as usize]
    }

    /// Returns the number of arcs.
    pub(super) fn arc_count(&self) -> usize {
        self.arcs.len()
    }

    /// Returns the points whose bits are connected to output ports without a negation.
    pub fn shown(&self) -> &[u32] {
        &self.shown
    }

    /// Returns the arrival time of each point in a design without registers.
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

    /// Returns the longest path from inputs to outputs in a design without registers; the program has `operations`
    /// operations.
    pub fn longest(&self, operations: usize) -> f64 {
        let arrival = self.arrivals();
        let negated = (0..self.len() as u32).filter(|&p| self.element(p) >= operations);
        let ends = negated.chain(self.shown.iter().copied());
        ends.map(|p| arrival[p as usize] + self.point(p).behind).fold(0.0, f64::max)
    }

    /// Returns the delay of an element between registers if it is alone in its stage.
    pub fn own(&self, element: usize) -> f64 {
        let times = self.points_of(element).map(|p| self.point(p).alone + self.point(p).behind);
        times.fold(0.0, f64::max)
    }

    /// Returns the delay of an operation between registers if it is alone in its stage.
    pub fn own_delay(&self, id: ValueId) -> f64 {
        self.own(id.index())
    }
}
