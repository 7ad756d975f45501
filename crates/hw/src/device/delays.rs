//! Delays of operations on a device, and of paths through several, for the scheduler.

use super::Device;
use super::paths::paths;
use crate::netlist::Fabric;
use alir_core::ir::{Model, ValueId};
use alir_opt::schedule::{Delay, Paths, Schedule};
use std::borrow::Cow;

/// Delays of operations on a device in nanoseconds, without the delay of registers
/// ([`super::Technology::register_time`]).
///
/// The own delay of an operation is its delay between registers. After another operation the delay is smaller: carries
/// of successive sums propagate in parallel, and a gate that shares its LUT with the next gate adds no delay. The
/// points of [`Delay::paths`] take this into account.
#[derive(Clone, Debug)]
pub struct Delays {
    paths: Paths,
}

impl Delays {
    /// Lowers `model` for `device` and times each operation separately, because the stages determine which logic the
    /// adder of another operation can absorb.
    pub fn new(model: &Model, device: Device, fabric: Fabric) -> Delays {
        Delays::near(model, device, fabric, &Schedule::combinational(model.nodes().len()))
    }

    /// Returns the delay from the latest operand of each operation to its latest bit, in a model without registers.
    /// These delays add up to the delay of the whole along its longest path. Logic after a register has a larger delay,
    /// so these delays are only a first estimate.
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

    /// Like [`Delays::new`], but with the LUTs and pins of `schedule`: more accurate for similar schedules.
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

/// Delays of operations in a model without registers, computed by [`Delays::in_a_row`].
#[derive(Clone, Debug)]
pub struct InARow {
    /// Delays of operations, followed by the delays of the negations at outputs.
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
