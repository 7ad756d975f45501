//! Runs of stateful designs: the inputs of each cycle, and the outputs that the reference simulator expects.

use super::cycles::{Bits, Cycle, Cycles, Layout};
use super::vectors::Rows;
use alir_core::ir::machine::{Machine, SignalId};
use alir_core::num::SplitMix;
use alir_core::num::{Kif, wrap};
use alir_hw::netlist::Interface;
use alir_interp::LookupMiss;
use alir_interp::machine::Simulation;
use num_bigint::BigInt;

/// A run of a state machine: raw integer values of all input elements in each cycle, and of all output elements just
/// before the cycle's clock edge, with `true` for defined values.
#[derive(Clone, Debug)]
pub struct MachineRun {
    inputs: Rows,
    outputs: Rows,
    defined: Vec<Vec<bool>>,
}

impl MachineRun {
    /// Creates a run from recorded values: raw integer values of all input and output elements in each cycle, and
    /// `true` for each defined output.
    ///
    /// # Panics
    /// If the numbers of cycles differ.
    pub fn recorded(inputs: Rows, outputs: Rows, defined: Vec<Vec<bool>>) -> MachineRun {
        assert_eq!((inputs.len(), inputs.len()), (outputs.len(), defined.len()), "a row for each cycle");
        MachineRun { inputs, outputs, defined }
    }

    /// Simulates a state machine on these inputs from power-on. A lookup outside its table reads zero, as in the
    /// hardware.
    ///
    /// # Panics
    /// If a row does not have a raw integer value for each input element.
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
    /// If the number of rows differs from the number of cycles.
    pub fn expecting(self, outputs: Rows) -> MachineRun {
        MachineRun::recorded(self.inputs, outputs, self.defined)
    }

    /// Returns the raw integer values of all input elements in each cycle.
    pub fn inputs(&self) -> &Rows {
        &self.inputs
    }

    /// Returns the raw integer values of all output elements in each cycle.
    pub fn outputs(&self) -> &Rows {
        &self.outputs
    }

    /// Returns `true` for each defined output element, in each cycle.
    pub fn defined(&self) -> &[Vec<bool>] {
        &self.defined
    }

    /// Returns the cycles of the run on a module with this interface.
    ///
    /// # Panics
    /// If the interface does not belong to the state machine.
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

/// Returns random raw integer values of all input elements of a state machine in `cycles` cycles: small numbers, corner
/// values and uniform bits. Single bits, which are mostly conditions, change their probability from time to time, so
/// that the state machine is also idle for long periods.
pub fn machine_stimulus(machine: &Machine, cycles: usize, seed: u64) -> Rows {
    let mut random = SplitMix::new(seed ^ 0x6d61_6368_696e_6531);
    let kifs: Vec<Kif> = machine.inputs().flat_map(|s| machine.signal(s).elements.iter().copied()).collect();
    // Current probability of a 1 for each single bit, in sixteenths.
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
