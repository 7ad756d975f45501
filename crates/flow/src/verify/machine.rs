//! Runs of stateful designs: what is applied in each cycle, and what the golden simulator says must be seen.

use super::cycles::{Bits, Cycle, Cycles, Layout};
use super::vectors::Rows;
use alir_core::ir::machine::{Machine, SignalId};
use alir_core::num::SplitMix;
use alir_core::num::{Kif, wrap};
use alir_hw::netlist::Interface;
use alir_interp::LookupMiss;
use alir_interp::machine::Simulation;
use num_bigint::BigInt;

/// A machine's run: codes of all input elements in each cycle and of all output elements just before the cycle's clock
/// edge, with whether they are defined.
#[derive(Clone, Debug)]
pub struct MachineRun {
    inputs: Rows,
    outputs: Rows,
    defined: Vec<Vec<bool>>,
}

impl MachineRun {
    /// A run as somebody else recorded it: codes of all input and all output elements in each cycle, and which of the
    /// latter are defined.
    ///
    /// # Panics
    /// If these are runs of different length.
    pub fn recorded(inputs: Rows, outputs: Rows, defined: Vec<Vec<bool>>) -> MachineRun {
        assert_eq!((inputs.len(), inputs.len()), (outputs.len(), defined.len()), "a row for each cycle");
        MachineRun { inputs, outputs, defined }
    }

    /// Runs a machine on these inputs from power-on. A lookup outside its table reads zero, as in the hardware.
    ///
    /// # Panics
    /// If a row does not have a raw value for each input element.
    pub fn interpreted(machine: &Machine, inputs: Rows) -> MachineRun {
        let ports: Vec<SignalId> = machine.inputs().collect();
        let outputs: Vec<SignalId> = machine.outputs().collect();
        let mut sim = Simulation::new(machine, LookupMiss::Zero);
        let mut shown = Vec::with_capacity(inputs.len());
        let mut defined = Vec::with_capacity(inputs.len());
        for t in 0..inputs.len() {
            let mut row = inputs.row(t);
            for &port in &ports {
                let (own, rest) = row.split_at(machine.signal(port).elements.len());
                sim.apply(port, own);
                row = rest;
            }
            sim.settle().expect("a missed lookup reads zero");
            let cells = || outputs.iter().flat_map(|&s| sim.values(s));
            shown.push(cells().map(|cell| cell.code.clone()).collect());
            defined.push(cells().map(|cell| cell.defined).collect());
            sim.clock();
        }
        let width = outputs.iter().map(|&s| machine.signal(s).elements.len()).sum();
        MachineRun { inputs, outputs: Rows::new(width, shown), defined }
    }

    /// Replaces the expected outputs; undefined outputs stay undefined.
    ///
    /// # Panics
    /// If it is not a row for each cycle.
    pub fn expecting(self, outputs: Rows) -> MachineRun {
        MachineRun::recorded(self.inputs, outputs, self.defined)
    }

    /// Codes of all input elements in each cycle.
    pub fn inputs(&self) -> &Rows {
        &self.inputs
    }

    /// Codes of all output elements in each cycle.
    pub fn outputs(&self) -> &Rows {
        &self.outputs
    }

    /// Which output elements are defined in each cycle.
    pub fn defined(&self) -> &[Vec<bool>] {
        &self.defined
    }

    /// The run on a module with this interface.
    ///
    /// # Panics
    /// If it is not one of the machine's.
    pub fn cycles(self, interface: &Interface) -> Cycles {
        let layout = Layout::new(interface);
        let mut cycles = Vec::with_capacity(self.inputs.len());
        for (t, defined) in self.defined.iter().enumerate() {
            let mut stimulus = Bits::zero(layout.stimulus_width);
            layout.put_sample(&mut stimulus, interface, self.inputs.row(t));
            let all = defined.iter().all(|d| *d);
            let mask = (!all).then(|| {
                let mut mask = Bits::zero(layout.response_width);
                for (j, element) in interface.outputs.iter().enumerate().filter(|(j, _)| defined[*j]) {
                    let lo = layout.output_lo(j);
                    (lo..lo + element.width).for_each(|bit| mask.set(bit, true));
                }
                mask
            });
            cycles.push(Cycle { stimulus, sample: Some(t), valid: None, entered: Some(t), defined: mask });
        }
        let samples = self.outputs.len();
        let (inputs, elements) = (interface.inputs.clone(), interface.outputs.clone());
        Cycles { layout, inputs, elements, cycles, outputs: self.outputs, samples }
    }
}

/// Codes for all input elements of a machine in `cycles` cycles: small numbers, corners and anything else; single bits,
/// which mostly are conditions, change their habits from time to time, so that a machine is also left alone for long.
pub fn machine_stimulus(machine: &Machine, cycles: usize, seed: u64) -> Rows {
    let mut random = SplitMix::new(seed ^ 0x6d61_6368_696e_6531);
    let kifs: Vec<Kif> = machine.inputs().flat_map(|s| machine.signal(s).elements.iter().copied()).collect();
    // How often in sixteen each single bit is set at present.
    let mut habits = vec![8u64; kifs.len()];
    let rows: Vec<Vec<BigInt>> = (0..cycles)
        .map(|_| {
            for habit in &mut habits {
                if random.below(32) == 0 {
                    *habit = [0, 0, 1, 4, 8, 12, 15, 16][random.below(8) as usize];
                }
            }
            let code = |(kif, habit): (&Kif, &u64)| {
                if kif.width() == 1 {
                    return wrap(&BigInt::from(u8::from(random.below(16) < *habit)), *kif);
                }
                match random.below(8) {
                    0 => kif.min_code(),
                    1 => kif.max_code(),
                    2 => wrap(&BigInt::from(random.below(5)), *kif),
                    3 => wrap(&-BigInt::from(random.below(5)), *kif),
                    _ => wrap(&random.bits(kif.width()), *kif),
                }
            };
            kifs.iter().zip(&habits).map(code).collect()
        })
        .collect();
    Rows::new(kifs.len(), rows)
}
