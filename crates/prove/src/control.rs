//! Clock enable and reset: what a file's registers do apart from the pipeline's flow.

use super::aig::Lit;
use super::engine::{Engine, Limits, Outcome};
use super::equiv::{Report, Verdict};
use super::phases::initial;
use super::port_roles::{ControlValues, PortRoles};
use super::unroll::{Gates, Leaves, Unroll, alias, clock_of};
use alir_hdl::{Rtl, SignalId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Enable and reset, register by register, at the level of one clock edge: with the enable low nothing changes; with
/// the reset active, what it touches becomes zero or what it is at power-on. What is wrong, or not decided, comes back
/// as the verdict.
/// `stages` is how many clock edges a register's content can live.
pub(super) fn check_control(
    rtl: &Rtl,
    ports: &PortRoles,
    limits: Limits,
    stages: u32,
    report: &mut Report,
) -> Option<Verdict> {
    match edges(rtl, ports, (limits, stages), report) {
        Ok(None) => None,
        Ok(Some(reason)) => Some(Verdict::Unknown { reason }),
        Err(reason) => Some(Verdict::Differs { reason, counterexample: None }),
    }
}

/// Returns `true` if a word differs from its expected value at one clock edge, for states and inputs that show it;
/// `None` if undecided.
fn deviates(e: &mut Engine, found: &[Lit], wanted: &[Lit]) -> Option<bool> {
    match e.equal(found, wanted) {
        Outcome::Equal => Some(false),
        Outcome::Unknown => None,
        Outcome::Differs(pattern) => {
            let values = e.evaluate(&pattern);
            let seen = |l: &Lit| values[l.node() as usize] != l.is_negated();
            found.iter().zip(wanted).any(|(x, y)| seen(x) != seen(y)).then_some(true)
        }
    }
}

/// Looks at every register; the answer names the first question that was left open.
fn edges(
    rtl: &Rtl,
    ports: &PortRoles,
    (limits, stages): (Limits, u32),
    report: &mut Report,
) -> Result<Option<String>, String> {
    if clock_of(rtl)?.is_some_and(|(_, rising)| !rising) {
        return Err("registers act on the falling edge of the clock".into());
    }
    let registers: Vec<_> = rtl.signals().iter().flat_map(|s| s.registers.iter().map(move |r| (s, r))).collect();
    for (signal, register) in &registers {
        for (cond, _) in &register.resets {
            let from = match rtl.expr(*cond) {
                alir_hdl::Expr::Signal(s) => alias(rtl, *s),
                // `rst = '1'` of VHDL; which level it is shows in the check below.
                alir_hdl::Expr::Compare(_, a, b) => [a, b].into_iter().find_map(|n| match rtl.expr(*n) {
                    alir_hdl::Expr::Signal(s) => alias(rtl, *s),
                    _ => None,
                }),
                alir_hdl::Expr::Not(n) => match rtl.expr(*n) {
                    alir_hdl::Expr::Signal(s) => alias(rtl, *s),
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
        return Ok(None);
    }
    let mut e = Engine::new(Box::new(super::sat::Embedded));
    e.limits = limits;
    let mut open: Option<String> = None;
    let reset_high = !ports.reset_low;
    let mut cleared: FxHashSet<SignalId> = FxHashSet::default();
    let mut kept: FxHashSet<SignalId> = FxHashSet::default();
    let mut asynchronous = false;
    for (reset, enable) in [(false, Some(false)), (true, Some(true)), (true, Some(false))] {
        if (reset && ports.reset.is_none()) || (enable == Some(false) && ports.enable.is_none()) {
            continue;
        }
        let mut edge = OneEdge {
            rtl,
            controls: ControlValues {
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
                let name = &signal.name;
                if reset {
                    // A register that the reset does not touch behaves as with the reset low.
                    let stays = if is_zero { Some(false) } else { deviates(&mut e, &next, &vec![Lit::FALSE; width]) };
                    match stays {
                        Some(false) => {
                            cleared.insert(id);
                        }
                        // A bit that follows the phase may begin as 1, which is no flag of a sample that is cleared.
                        Some(true) if is_power_on(rtl, id, &next) => {
                            kept.insert(id);
                        }
                        Some(true) if depends_on_reset(rtl, register, ports.reset) => {
                            return Err(format!(
                                "{name} is touched by the reset but becomes neither zero nor its power-on value"
                            ));
                        }
                        Some(true) => {
                            kept.insert(id);
                        }
                        None => {
                            let why = e.limit_reached();
                            open.get_or_insert(format!("{name} under reset was not decided: {why}"));
                        }
                    }
                } else if *next != *before {
                    match deviates(&mut e, &next, before) {
                        Some(false) => {}
                        Some(true) => return Err(format!("{name} changes although the clock enable is low")),
                        None => {
                            let why = e.limit_reached();
                            open.get_or_insert(format!("{name} with the clock enable low was not decided: {why}"));
                        }
                    }
                }
            }
        }
    }
    if open.is_some() {
        return Ok(open);
    }
    cleared.retain(|s| !kept.contains(s));
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
        if let Some(valid) = ports.valid {
            let open = check_valid_cleared(&mut e, rtl, (ports, valid), &cleared, stages)?;
            if open.is_some() {
                return Ok(open);
            }
            report.notes.push("the reset clears every valid flag".into());
        }
    }
    Ok(None)
}

/// Returns `true` if the next value of a register is its power-on value.
fn is_power_on(rtl: &Rtl, id: SignalId, next: &[Lit]) -> bool {
    let first = initial(rtl, id);
    first.is_some_and(|first| (0..).zip(next).all(|(bit, &lit)| lit == Lit::constant(first.bit(bit))))
}

/// Returns `true` if the reset port is in the logic of a register's next value or in its asynchronous resets.
fn depends_on_reset(rtl: &Rtl, register: &alir_hdl::Register, reset: Option<SignalId>) -> bool {
    let mut seen: FxHashSet<alir_hdl::NodeId> = FxHashSet::default();
    let mut stack = vec![register.next];
    stack.extend(register.resets.iter().map(|r| r.0));
    while let Some(node) = stack.pop() {
        if !seen.insert(node) {
            continue;
        }
        if let alir_hdl::Expr::Signal(s) = rtl.expr(node) {
            let signal = rtl.signal(*s);
            if Some(*s) == reset {
                return true;
            }
            // Only through wires: what another register does with the reset is its own affair.
            stack.extend(signal.wires.iter().map(|w| w.1));
        } else {
            alir_hdl::operands(rtl.expr(node), &mut |&n| stack.push(n));
        }
    }
    false
}

/// After a reset no valid flag is left: without `valid_in`, `valid_out` stays low for as long as anything from before
/// the reset could still arrive. What the reset does not clear may hold anything. The answer is the question left open.
fn check_valid_cleared(
    e: &mut Engine,
    rtl: &Rtl,
    (ports, valid): (&PortRoles, (SignalId, SignalId)),
    cleared: &FxHashSet<SignalId>,
    stages: u32,
) -> Result<Option<String>, String> {
    for edges in 0..=stages {
        let mut later = AfterReset {
            rtl,
            controls: ControlValues::running(ports),
            valid_in: valid.0,
            cleared,
            inputs: FxHashMap::default(),
        };
        let mut unroll: Unroll<'_, Arc<[Lit]>> = Unroll::new(rtl, edges);
        let flag = unroll
            .word(&mut Gates { e, leaves: &mut later }, rtl.read(valid.1), 0)
            .map_err(|_| "valid_out depends on itself without a register".to_owned())?;
        match deviates(e, &flag, &[Lit::FALSE]) {
            Some(false) => {}
            Some(true) => {
                return Err(format!(
                    "the reset does not clear every valid flag: valid_out can be 1 {edges} clocks after it without \
                     valid_in"
                ));
            }
            None => {
                let why = e.limit_reached();
                return Ok(Some(format!("valid_out {edges} clocks after the reset was not decided: {why}")));
            }
        }
    }
    Ok(None)
}

/// Leaves for the clocks after a reset: what it clears is zero, other registers hold any state.
struct AfterReset<'a> {
    rtl: &'a Rtl,
    controls: ControlValues,
    valid_in: SignalId,
    cleared: &'a FxHashSet<SignalId>,
    inputs: FxHashMap<(SignalId, u32), Vec<Lit>>,
}

impl Leaves for AfterReset<'_> {
    fn input(&mut self, e: &mut Engine, signal: SignalId, k: u32) -> Vec<Lit> {
        if let Some(level) = self.controls.level(signal) {
            return vec![Lit::constant(level)];
        }
        if signal == self.valid_in {
            return vec![Lit::FALSE];
        }
        let width = self.rtl.signal(signal).width;
        self.inputs
            .entry((signal, k))
            .or_insert_with(|| (0..width).map(|_| e.words.aig.input("input")).collect())
            .clone()
    }

    fn before(&mut self, e: &mut Engine, signal: SignalId, _lo: u32, width: u32) -> Vec<Lit> {
        if self.cleared.contains(&signal) {
            return vec![Lit::FALSE; width as usize];
        }
        self.unknown(e, width)
    }
}

/// Leaves for one clock edge: registers hold any state, inputs any value.
struct OneEdge<'a> {
    rtl: &'a Rtl,
    controls: ControlValues,
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

    fn signal(&mut self, e: &mut Engine, signal: SignalId, _k: u32, bits: Vec<Lit>) -> Vec<Lit> {
        if self.rtl.signal(signal).registers.is_empty() {
            return bits;
        }
        let width = bits.len();
        self.states.entry(signal).or_insert_with(|| (0..width).map(|_| e.words.aig.input("state")).collect()).clone()
    }
}
