//! How long each operation takes on a device, for the scheduler.

use super::Device;
use super::estimate::{Mapped, Resources};
use crate::ir::{Model, ValueId};
use crate::netlist::{self, Fabric, Options};
use crate::schedule::{Delay, Schedule};

/// Own delays on a device in nanoseconds: by how much later an operation's last bit is there than those of its
/// operands, in the combinational module.
///
/// Carries of successive sums run side by side, so a sum of sums takes less than both alone; and a gate that shares its
/// table with the next one takes nothing. Along the longest path the delays add up to its time.
#[derive(Clone, Debug)]
pub struct Delays {
    own: Vec<f64>,
    /// Of a negated output: a carry chain over its bits.
    device: Device,
}

impl Delays {
    /// Lowers `model` for `device` and times it, each operation by itself: what two of them are together depends on the
    /// stages.
    pub fn of(model: &Model, device: Device, fabric: Fabric) -> Delays {
        let options = Options { fabric: fabric.by_operation(), ..Options::default() };
        let netlist = netlist::lower(model, &Schedule::combinational(model.nodes().len()), &options);
        let resources = Resources { multiplier_blocks: true, ..Resources::default() };
        let mapped = Mapped::of(&netlist, device.technology(), resources, 0.0);
        let mut there = vec![None; model.nodes().len()];
        for (index, net) in netlist.nets().iter().enumerate() {
            if let Some(operation) = net.operation {
                let bits = mapped.gates.net(index, net.width).iter().copied();
                let at = f64::from(mapped.timing.latest(bits).at);
                let slot: &mut Option<f64> = &mut there[operation as usize];
                *slot = Some(slot.map_or(at, |before| before.max(at)));
            }
        }
        let mut own = Vec::with_capacity(there.len());
        let mut arrival: Vec<f64> = Vec::with_capacity(there.len());
        for id in model.ids() {
            let mut before = 0.0f64;
            model.node(id).op.for_each_operand(|v| before = before.max(arrival[v.index()]));
            let at = there[id.index()].unwrap_or(before);
            own.push((at - before).max(0.0));
            arrival.push(at.max(before));
        }
        Delays { own, device }
    }
}

impl Delay for Delays {
    fn own_delay(&self, _model: &Model, id: ValueId) -> f64 {
        self.own[id.index()]
    }

    fn negation_delay(&self, model: &Model, j: usize) -> f64 {
        match model.output_kif(j).width() {
            0 => 0.0,
            width => self.device.technology().chain_time(width),
        }
    }
}
