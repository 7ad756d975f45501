//! Clock enable and reset: what a file's registers do apart from the pipeline's flow.

use super::aig::Lit;
use super::engine::{Engine, Outcome};
use super::equiv::Report;
use super::ports::{Controls, Ports};
use super::rtl::{Rtl, SignalId};
use super::unroll::{Gates, Leaves, Unroll, alias, clock_of};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Enable and reset, register by register, at the level of one clock edge: with the enable low nothing changes; with
/// the reset active, what it touches becomes zero.
pub(super) fn check_control(rtl: &Rtl, ports: &Ports, report: &mut Report) -> Result<(), String> {
    if clock_of(rtl)?.is_some_and(|(_, rising)| !rising) {
        return Err("registers act on the falling edge of the clock".into());
    }
    let registers: Vec<_> = rtl.signals().iter().flat_map(|s| s.registers.iter().map(move |r| (s, r))).collect();
    for (signal, register) in &registers {
        for (cond, _) in &register.resets {
            let from = match rtl.expr(*cond) {
                super::rtl::Expr::Signal(s) => alias(rtl, *s),
                // `rst = '1'` of VHDL; which level it is shows in the check below.
                super::rtl::Expr::Compare(_, a, b) => [a, b].into_iter().find_map(|n| match rtl.expr(*n) {
                    super::rtl::Expr::Signal(s) => alias(rtl, *s),
                    _ => None,
                }),
                super::rtl::Expr::Not(n) => match rtl.expr(*n) {
                    super::rtl::Expr::Signal(s) => alias(rtl, *s),
                    _ => None,
                },
                _ => None,
            };
            if from.is_none() || from != ports.reset {
                return Err(format!("{} is reset asynchronously by something else than the reset port", signal.name));
            }
        }
    }
    if ports.enable.is_none() && ports.reset.is_none() {
        return Ok(());
    }
    let mut e = Engine::new(Box::new(super::sat::Embedded));
    let reset_high = !ports.reset_low;
    let mut cleared: FxHashSet<SignalId> = FxHashSet::default();
    let mut asynchronous = false;
    for (reset, enable) in [(false, Some(false)), (true, Some(true)), (true, Some(false))] {
        if (reset && ports.reset.is_none()) || (enable == Some(false) && ports.enable.is_none()) {
            continue;
        }
        let mut edge = OneEdge {
            rtl,
            controls: Controls {
                reset: ports.reset.map(|r| (r, reset == reset_high)),
                enable: ports.enable.zip(enable),
            },
            states: FxHashMap::default(),
            inputs: FxHashMap::default(),
        };
        // Registers are leaves here: one edge is looked at, from any state.
        let mut unroll: Unroll<'_, Arc<[Lit]>> = Unroll::new(rtl, 0);
        unroll.registers_are_leaves = true;
        for (i, signal) in rtl.signals().iter().enumerate() {
            let id = SignalId(i as u32);
            for register in &signal.registers {
                let before = unroll
                    .word(&mut Gates { e: &mut e, leaves: &mut edge }, rtl.read(id), 0)
                    .map_err(|_| format!("{} depends on itself without a register", signal.name))?;
                let width = rtl.width(register.next) as usize;
                let lo = register.lo as usize;
                let mut next = unroll
                    .word(&mut Gates { e: &mut e, leaves: &mut edge }, register.next, 0)
                    .map_err(|_| format!("{} depends on itself without a register", signal.name))?;
                for (cond, value) in register.resets.iter().rev() {
                    let fault = |_| format!("{} depends on itself without a register", signal.name);
                    let cond = unroll.word(&mut Gates { e: &mut e, leaves: &mut edge }, *cond, 0).map_err(fault)?;
                    let value = unroll.word(&mut Gates { e: &mut e, leaves: &mut edge }, *value, 0).map_err(fault)?;
                    next = e.words.mux(cond[0], &value, &next).into();
                    asynchronous = true;
                }
                let before = &before[lo..lo + width];
                let is_zero = next.iter().all(|l| *l == Lit::FALSE);
                if reset {
                    // A register that the reset does not touch behaves as with the reset low.
                    if is_zero || e.equal(&next, &vec![Lit::FALSE; width]) == Outcome::Equal {
                        cleared.insert(id);
                    } else if depends_on_reset(rtl, register, ports.reset) {
                        return Err(format!("{} is touched by the reset but does not become zero", signal.name));
                    }
                } else if *next != *before && e.equal(&next, before) != Outcome::Equal {
                    return Err(format!("{} changes although the clock enable is low", signal.name));
                }
            }
        }
    }
    if ports.enable.is_some() {
        report
            .notes
            .push("every register holds while the clock enable is low; the latency counts enabled clocks".into());
    }
    if let Some(reset) = ports.reset {
        let name = &rtl.signal(reset).name;
        let kind = if asynchronous { "an asynchronous" } else { "a synchronous" };
        let bits: u32 = cleared.iter().map(|&s| rtl.signal(s).width).sum();
        report
            .notes
            .push(format!("{name} is {kind} reset that clears {bits} register bits; the proof starts after it"));
        if let Some((_, valid_out)) = ports.valid {
            check_valid_cleared(rtl, valid_out, &cleared)?;
            report.notes.push("the reset clears every valid flag".into());
        }
    }
    Ok(())
}

/// Whether the reset port is in the logic of a register's next value or in its asynchronous resets.
fn depends_on_reset(rtl: &Rtl, register: &super::rtl::Register, reset: Option<SignalId>) -> bool {
    let mut seen: FxHashSet<super::rtl::NodeId> = FxHashSet::default();
    let mut stack = vec![register.next];
    stack.extend(register.resets.iter().map(|r| r.0));
    while let Some(node) = stack.pop() {
        if !seen.insert(node) {
            continue;
        }
        if let super::rtl::Expr::Signal(s) = rtl.expr(node) {
            let signal = rtl.signal(*s);
            if Some(*s) == reset {
                return true;
            }
            // Only through wires: what another register does with the reset is its own affair.
            stack.extend(signal.wires.iter().map(|w| w.1));
        } else {
            super::rtl::operands(rtl.expr(node), &mut |&n| stack.push(n));
        }
    }
    false
}

/// Every register that the valid flag passes is cleared by the reset.
fn check_valid_cleared(rtl: &Rtl, valid_out: SignalId, cleared: &FxHashSet<SignalId>) -> Result<(), String> {
    let mut seen: FxHashSet<SignalId> = FxHashSet::default();
    let mut stack = vec![rtl.read(valid_out)];
    let mut nodes: FxHashSet<super::rtl::NodeId> = FxHashSet::default();
    while let Some(node) = stack.pop() {
        if !nodes.insert(node) {
            continue;
        }
        if let super::rtl::Expr::Signal(s) = rtl.expr(node) {
            if !seen.insert(*s) {
                continue;
            }
            let signal = rtl.signal(*s);
            if !signal.registers.is_empty() && !cleared.contains(s) {
                return Err(format!("the reset does not clear the valid flag {}", signal.name));
            }
            stack.extend(signal.wires.iter().map(|w| w.1));
            stack.extend(signal.registers.iter().map(|r| r.next));
        } else {
            super::rtl::operands(rtl.expr(node), &mut |&n| stack.push(n));
        }
    }
    Ok(())
}

/// Leaves for one clock edge: registers hold any state, inputs any value.
struct OneEdge<'a> {
    rtl: &'a Rtl,
    controls: Controls,
    states: FxHashMap<SignalId, Vec<Lit>>,
    inputs: FxHashMap<SignalId, Vec<Lit>>,
}

impl Leaves for OneEdge<'_> {
    fn input(&mut self, e: &mut Engine, signal: SignalId, _k: u32) -> Vec<Lit> {
        if let Some(level) = self.controls.level(signal) {
            return vec![Lit::constant(level)];
        }
        let width = self.rtl.signal(signal).width;
        self.inputs.entry(signal).or_insert_with(|| (0..width).map(|_| e.words.aig.input("input")).collect()).clone()
    }

    fn unknown(&mut self, e: &mut Engine, width: u32) -> Vec<Lit> {
        (0..width).map(|_| e.words.aig.input("undefined")).collect()
    }

    fn signal(&mut self, e: &mut Engine, signal: SignalId, _k: u32, bits: Vec<Lit>) -> Vec<Lit> {
        if self.rtl.signal(signal).registers.is_empty() {
            return bits;
        }
        let width = bits.len();
        self.states.entry(signal).or_insert_with(|| (0..width).map(|_| e.words.aig.input("state")).collect()).clone()
    }
}
