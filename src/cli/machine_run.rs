//! Runs of state machines over arrays in memory, with a row for each cycle.

use crate::interp::LookupMiss;
use crate::interp::arrays::{ArrayFault, CodeType, Numbers, Results};
use crate::interp::batch::SampleFault;
use crate::interp::machine::Simulation;
use crate::interp::samples::Port;
use crate::ir::machine::{Machine, SignalId, SignalKind};
use crate::network::exact::Rational;
use crate::num::Kif;
use num_bigint::BigInt;

/// Number of cycles between two calls of the stop function.
const CYCLES: usize = 256;

/// Raw integer values of the registers, by name.
pub type MachineState = Vec<(String, Vec<BigInt>)>;

/// Request to run a state machine: resets and initial state.
#[derive(Clone, Debug, Default)]
pub struct MachineRunRequest {
    /// `true` for cycles before which all registers get their power-on values; if empty, there is no reset.
    pub resets: Vec<bool>,
    /// State before the first cycle; `None` for the power-on values.
    pub state: Option<MachineState>,
}

fn types(machine: &Machine, signals: impl Iterator<Item = SignalId>) -> Vec<Kif> {
    signals.flat_map(|id| machine.signal(id).elements.iter().copied()).collect()
}

/// Returns the types of the input elements, port by port.
pub fn input_types(machine: &Machine) -> Vec<Kif> {
    types(machine, machine.inputs())
}

/// Returns the types of the output elements, port by port.
pub fn output_types(machine: &Machine) -> Vec<Kif> {
    types(machine, machine.outputs())
}

/// Returns the integer type that can represent the raw integer values of all outputs.
pub fn code_type(machine: &Machine) -> CodeType {
    let types = output_types(machine);
    let fits = |most: u32| types.iter().all(|kif| kif.width() + u32::from(!kif.signed) <= most);
    if fits(i64::BITS) {
        CodeType::Signed
    } else if types.iter().all(|kif| !kif.signed && kif.width() <= u64::BITS) {
        CodeType::Unsigned
    } else {
        CodeType::Wide
    }
}

/// Runs a machine with a row for each cycle. Outputs are the values just before the clock edge of the cycle. Returns
/// the state after the last cycle.
///
/// # Errors
/// The first cycle without a result, or with a result that float64 cannot represent; or an invalid state.
///
/// # Panics
/// If the lengths of the arrays do not match.
pub fn run(
    machine: &Machine,
    numbers: Numbers<'_>,
    mut results: Results<'_>,
    request: &MachineRunRequest,
    stop: &dyn Fn() -> bool,
) -> Result<MachineState, ArrayFault> {
    let (inputs, outputs): (Vec<SignalId>, Vec<SignalId>) = (machine.inputs().collect(), machine.outputs().collect());
    let (reads, writes) = (input_types(machine), output_types(machine));
    let cycles = if writes.is_empty() { numbers.len() / reads.len().max(1) } else { results.len() / writes.len() };
    let mut simulation = Simulation::new(machine, LookupMiss::Error);
    if let Some(state) = &request.state {
        load(machine, &mut simulation, state)?;
    }
    let values = numbers.to_values();
    let as_codes = results.are_codes();
    let code = |cycle: usize, input: usize| {
        let port = Port { kif: reads[input], frac: reads[input].frac.into() };
        let code = values.code(cycle * reads.len() + input, port, as_codes);
        code.map_err(|reason| ArrayFault::Sample { sample: cycle, fault: SampleFault::Input { input, reason } })
    };
    for cycle in 0..cycles {
        if cycle % CYCLES == 0 && stop() {
            return Err(ArrayFault::Interrupted);
        }
        if request.resets.get(cycle) == Some(&true) {
            simulation = Simulation::new(machine, LookupMiss::Error);
        }
        let row = (0..reads.len()).map(|input| code(cycle, input)).collect::<Result<Vec<_>, _>>()?;
        let mut row = row.as_slice();
        for &port in &inputs {
            let (own, rest) = row.split_at(machine.signal(port).elements.len());
            simulation.apply(port, own);
            row = rest;
        }
        let missed = |miss: crate::interp::machine::BlockMiss| ArrayFault::Sample {
            sample: cycle,
            fault: SampleFault::Miss(miss.miss),
        };
        simulation.settle().map_err(missed)?;
        for (output, cell) in outputs.iter().flat_map(|&signal| simulation.values(signal)).enumerate() {
            let (at, frac) = (cycle * writes.len() + output, writes[output].frac);
            match &mut results {
                Results::Reals(out) => {
                    let value = Rational::from_code(&cell.code, frac.into());
                    out[at] = value.to_f64();
                    if Rational::from_f64(out[at]).is_none_or(|real| real != value) {
                        return Err(ArrayFault::Inexact { sample: cycle, output, code: cell.code.clone(), frac });
                    }
                }
                codes => codes.set_code(at, &cell.code),
            }
        }
        simulation.clock();
    }
    let registers = machine.signal_ids().filter(|&id| machine.signal(id).kind == SignalKind::Register);
    let value = |id: SignalId| simulation.values(id).iter().map(|cell| cell.code.clone()).collect();
    Ok(registers.map(|id| (machine.signal(id).name.clone(), value(id))).collect())
}

/// Stores a state in the registers.
fn load(machine: &Machine, simulation: &mut Simulation<'_>, state: &MachineState) -> Result<(), ArrayFault> {
    let refused = |reason: String| ArrayFault::Refused { sample: 0, reason };
    for (name, codes) in state {
        let is_it = |id: &SignalId| {
            let signal = machine.signal(*id);
            signal.kind == SignalKind::Register && signal.name == *name
        };
        let id = machine.signal_ids().find(is_it).ok_or_else(|| refused(format!("no register is called {name:?}")))?;
        let elements = &machine.signal(id).elements;
        if elements.len() != codes.len() {
            let message = format!("register {name:?} has {} elements, not {}", elements.len(), codes.len());
            return Err(refused(message));
        }
        for (code, kif) in codes.iter().zip(elements) {
            if *code < kif.min_code() || *code > kif.max_code() {
                return Err(refused(format!("register {name:?}: {code} is outside of its type {kif}")));
            }
        }
        simulation.load(id, codes);
    }
    Ok(())
}
