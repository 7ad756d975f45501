//! Delays of operations on a device, and of paths through several, for the scheduler.

use super::Device;
use super::paths::paths;
use crate::netlist::Fabric;
use alir_core::ir::{Model, ValueId};
use alir_opt::schedule::{Delay, Paths, Schedule};
use std::borrow::Cow;

/// Delays on a device in nanoseconds, without what registers take ([`super::Technology::register_time`]).
///
/// The own delay of an operation is its delay between registers. After another operation it takes less: carries of
/// successive sums run in parallel, and a gate that shares its table with the next one takes nothing. The points of
/// [`Delay::paths`] take that into account.
#[derive(Clone, Debug)]
pub struct Delays {
    paths: Paths,
}

impl Delays {
    /// Lowers `model` for `device` and times each operation by itself: logic within another operation's adder depends
    /// on the stages.
    pub fn new(model: &Model, device: Device, fabric: Fabric) -> Delays {
        Delays::near(model, device, fabric, &Schedule::combinational(model.nodes().len()))
    }

    /// Returns by how much each operation's last bit is later than those of its operands, in the program without
    /// registers: along its longest path these add up to the delay of the whole. Logic after a register takes longer,
    /// so they only serve as a first guess.
    pub fn in_a_row(&self, model: &Model) -> InARow {
        let points = self.paths.arrivals();
        let last = |element: usize| self.paths.points_of(element).map(|p| points[p as usize]).fold(0.0, f64::max);
        let mut arrival: Vec<f64> = Vec::with_capacity(model.nodes().len());
        let mut own = Vec::with_capacity(model.nodes().len() + model.outputs().len());
        for id in model.ids() {
            let mut before = 0.0f64;
            model.node(id).op.for_each_operand(|v| before = before.max(arrival[v.index()]));
            let at = before.max(last(id.index()));
            own.push(at - before);
            arrival.push(at);
        }
        own.extend((0..model.outputs().len()).map(|j| self.paths.own(model.nodes().len() + j)));
        InARow { own }
    }

    /// Like [`Delays::new`], but with tables and pins as they are under `schedule`: more accurate for similar
    /// schedules.
    pub fn near(model: &Model, device: Device, fabric: Fabric, schedule: &Schedule) -> Delays {
        Delays { paths: paths(model, device.technology(), fabric, schedule) }
    }
}

impl Delay for Delays {
    fn own_delay(&self, _model: &Model, id: ValueId) -> f64 {
        self.paths.own_delay(id)
    }

    fn negation_delay(&self, model: &Model, j: usize) -> f64 {
        self.paths.own(model.nodes().len() + j)
    }

    fn paths(&self, _model: &Model) -> Cow<'_, Paths> {
        Cow::Borrowed(&self.paths)
    }
}

/// Delays of operations in the program without registers: [`Delays::in_a_row`].
#[derive(Clone, Debug)]
pub struct InARow {
    /// Delays of operations and of the negations after them.
    own: Vec<f64>,
}

impl Delay for InARow {
    fn own_delay(&self, _model: &Model, id: ValueId) -> f64 {
        self.own[id.index()]
    }

    fn negation_delay(&self, model: &Model, j: usize) -> f64 {
        self.own[model.nodes().len() + j]
    }
}
