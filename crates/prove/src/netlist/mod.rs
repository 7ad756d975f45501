//! Comparison of a netlist with RTL, over gates that both share.
//!
//! Synthesis keeps most values: look-up tables and carry chains compute bits that the RTL also has. The gates of the
//! RTL are built first. Then the netlist's gates are built in topological order, and each bit of a net is compared with
//! gates of the RTL that have the same values in simulation. If such a gate is proved equal, it replaces the bit, so
//! that the readers of the bit are again built on gates of the RTL. Most proofs are over a window of a few gates
//! (`sweep`). Sums that synthesis associated in another way, with carries that the RTL does not have, are proved as
//! polynomials over bits (`sums`).
//!
//! Registers need no rule: both designs are unrolled from the outputs to the inputs, so that a register is the value of
//! its input one cycle before, for any placement of registers by synthesis.
//!
//! The RTL is a hint. The theorem about the model follows if the RTL itself was proved to compute the model.

mod gates;
mod polynomial;
mod sums;
mod sweep;

use super::aig::Lit;
use super::engine::Engine;
use super::equiv::{self, Report, Request, Verdict, Witness, explain};
use super::phases::{self, Phases};
use super::port_roles::{PortRoles, find_ports, stated_latency};
use super::rounds::Methods;
use super::sat::Solver;
use super::unroll::{Fault, Unroll, depth};
use alir_core::ir::Model;
use alir_core::num::{Kif, wrap};
use alir_hdl::{Rtl, SignalId};
pub(crate) use gates::{Leaves, Pins, Side, SideGates};
use num_bigint::BigInt;
use rustc_hash::FxHashSet;
use std::sync::Arc;
use sweep::PatternIndex;
pub(crate) use sweep::Sweep;

/// RTL that a netlist is compared with.
pub(super) struct Hint<'a> {
    rtl: &'a Rtl,
    ports: PortRoles,
    latency: u32,
    depth: u32,
    /// Phases of the RTL, with an initiation interval above one.
    phases: Option<Phases>,
}

impl<'a> Hint<'a> {
    /// Returns the design and its ports.
    pub(super) fn side(&self) -> (&'a Rtl, &PortRoles) {
        (self.rtl, &self.ports)
    }
}

/// Outcome of a comparison with RTL.
#[derive(Default)]
pub(super) struct HintOutcome {
    /// Outputs that are proved equal to those of the RTL.
    pub(super) outputs: FxHashSet<usize>,
    /// `true` if the valid flag is proved to be that of the sample.
    pub(super) valid: bool,
    /// Confirmed difference from the model, or an error about a combinational loop.
    pub(super) verdict: Option<Verdict>,
    /// Ticks spent.
    pub(super) spent: u64,
    /// Number of bits proved by each method.
    pub(super) counts: super::engine::Counts,
    pub(super) gates: usize,
}

/// Proves or refutes that `netlist` computes `model`, given RTL that has been proved to compute it.
pub fn prove_against_rtl(
    model: &Model,
    netlist: &Rtl,
    rtl: &Rtl,
    request: &Request,
    solver: Box<dyn Solver>,
) -> (Report, Engine) {
    let ports = match find_ports(model, rtl, &request.names, None) {
        Ok(ports) => ports,
        Err(reason) => return (equiv::undecided(reason), Engine::new(solver)),
    };
    let control: Vec<SignalId> = [ports.clock, ports.reset, ports.enable].into_iter().flatten().collect();
    let structure = depth(rtl, &control);
    let latency = stated_latency(rtl).unwrap_or(structure);
    let depth = ports.depth(latency, structure);
    let phases =
        phases::stated_interval(rtl).filter(|&interval| interval > 1).and_then(|_| phases::find(rtl, &ports).ok());
    let hint = Hint { rtl, ports, latency, depth, phases };
    equiv::prove_with(Methods { hint: Some(&hint), ..Methods::default() }, model, netlist, request, solver)
}

/// Compares the outputs of a netlist with those of RTL.
pub(super) fn compare(
    hint: &Hint<'_>,
    (model, netlist, ports): (&Model, &Rtl, &PortRoles),
    (latency, structure): (u32, u32),
    e: &mut Engine,
) -> HintOutcome {
    let widths: Vec<usize> = model.input_kifs().iter().map(|kif| kif.width() as usize).collect();
    let mut sweep = Sweep::new(&widths, e.limits, e.left).with_progress(e.progress.clone(), e.spent);
    let mut outcome = HintOutcome::default();
    // With an initiation interval, results are stable: the RTL was proved for each of these cycles.
    let mut hint_ports = hint.ports.clone();
    let (mut hint_latency, mut hint_depth) = (hint.latency, hint.depth);
    if ports.phases.is_some() {
        let Some(phases) = &hint.phases else { return outcome };
        if !(hint.latency..hint.latency + phases.interval).contains(&latency) {
            return outcome;
        }
        hint_ports.phases = Some(phases.seen_after(latency));
        hint_ports.hold = ports.hold;
        (hint_latency, hint_depth) = (latency, hint_ports.depth(latency, latency));
    }
    // The RTL is first, as the netlist's bits are searched among its gates.
    let mut pins = Pins::default();
    let mut unroll: Unroll<'_, Arc<[Lit]>> = Unroll::new(hint.rtl, hint_depth);
    let mut expected: Vec<Option<Vec<Lit>>> = vec![None; ports.outputs.len()];
    for (j, place) in hint.ports.outputs.iter().enumerate() {
        let Some((port, lo)) = *place else { continue };
        let side = Side { rtl: hint.rtl, leaves: Leaves::Ports(&hint_ports, hint_latency) };
        let mut gates = SideGates::new(&mut sweep, side, &mut pins);
        let Ok(word) = unroll.word(&mut gates, hint.rtl.read(port), 0) else { return outcome };
        let width = model.output_kif(j).width() as usize;
        expected[j] = Some(word[lo as usize..][..width].to_vec());
    }
    drop(unroll);
    sweep.begin_netlist();
    let mut pins = Pins::default();
    let mut unroll: Unroll<'_, Arc<[Lit]>> = Unroll::new(netlist, ports.depth(latency, structure));
    let side = Side { rtl: netlist, leaves: Leaves::Ports(ports, latency) };
    for (j, place) in ports.outputs.iter().enumerate() {
        let Some((port, lo)) = *place else { continue };
        let mut gates = SideGates::new(&mut sweep, side, &mut pins);
        let word = match unroll.word(&mut gates, netlist.read(port), 0) {
            Ok(word) => word,
            Err(Fault::Loop(s)) => {
                let reason = format!("{} depends on itself without a register", netlist.signal(s).name);
                outcome.verdict = Some(Verdict::Differs { reason, counterexample: None });
                return outcome;
            }
            Err(Fault::Overflow) => continue,
        };
        let Some(expected) = &expected[j] else { continue };
        let found = word[lo as usize..][..expected.len()].to_vec();
        if sweep.are_equal(&found, expected) {
            outcome.outputs.insert(j);
        } else if let Some(pattern) = sweep.difference(&found, expected) {
            let witness = witness(model, &sweep, j, &found, pattern);
            let verdict = explain(model, latency, j, witness);
            if matches!(verdict, Verdict::Differs { .. }) {
                outcome.verdict = Some(verdict);
                break;
            }
        }
        e.show_proved(outcome.outputs.len());
    }
    if let (Some((valid_in, valid_out)), None) = (ports.valid, &outcome.verdict) {
        let mut gates = SideGates::new(&mut sweep, side, &mut pins);
        let found = unroll.word(&mut gates, netlist.read(valid_out), 0);
        let wanted = gates.pin(valid_in, latency);
        outcome.valid = found.is_ok_and(|found| sweep.are_equal(&found, &wanted));
    }
    (outcome.spent, outcome.counts, outcome.gates) = (sweep.spent(), sweep.counts, sweep.gates());
    outcome
}

/// Returns the inputs and the output of a simulated pattern.
fn witness(model: &Model, sweep: &Sweep, output: usize, found: &[Lit], pattern: PatternIndex) -> Witness {
    let code = |word: &[Lit], kif: Kif| {
        let mut raw = BigInt::ZERO;
        for (i, lit) in word.iter().enumerate() {
            raw.set_bit(i as u64, sweep.simulated(*lit, pattern));
        }
        wrap(&raw, kif)
    };
    let inputs = sweep.inputs.iter().zip(model.input_kifs()).map(|(word, &kif)| code(word, kif)).collect();
    Witness {
        inputs,
        others: Vec::new(),
        unbalanced: sweep.reads_other_moments(found),
        found: code(found, model.output_kif(output)),
        seen: Vec::new(),
    }
}
