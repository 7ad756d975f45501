//! Clock enable and reset: checks of a file's registers at single clock edges.

use super::aig::Lit;
use super::bit_vector;
use super::engine::{Engine, Outcome};
use super::equiv::{Report, Request, Verdict};
use super::phases::{Phases, initial};
use super::port_roles::{ControlValues, PortRoles};
use super::unroll::{Gates, Leaves, Unroll, bits_read, clock_of, live_signals};
use alir_hdl::{Expr, NodeId, Rtl, Signal, SignalId, operands};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Design and its ports.
type Side<'a> = (&'a Rtl, &'a PortRoles);

/// Values of registers by signal and lowest bit, usually after a reset.
type ResetState = FxHashMap<(SignalId, u32), Vec<Lit>>;

/// Values of registers after a reset (at power-on in a design without reset), until the first enabled edge.
#[derive(Default)]
pub(super) struct Start {
    state: ResetState,
    /// Registers that may change before the first enabled edge.
    unsettled: FxHashSet<SignalId>,
}

/// Outputs as gates, and the name of a register whose value before the sample the outputs read.
type Outputs = (Vec<Arc<[Lit]>>, Option<String>);

/// Checks enable and reset, register by register, for one clock edge. With the enable low no register changes. With the
/// reset active, every affected register becomes zero or gets its power-on value. Returns the register values at the
/// start; `None` if a check fails or is undecided, which the verdict of the report then states. `stages` is the number
/// of clock edges after which no output depends on a register's value.
///
/// Synthesis may store complements, or the entry of a table instead of its address. So registers of a netlist may be
/// reset to other constants if the outputs after a reset equal those of `hint`, the RTL with which the netlist is
/// compared.
pub(super) fn check_control(
    (rtl, ports): Side<'_>,
    hint: Option<Side<'_>>,
    request: &Request,
    stages: u32,
    report: &mut Report,
) -> Option<Start> {
    let mut start = Start::default();
    let outcome = checked((rtl, ports), hint, request, stages, report, &mut start);
    report.control_open = matches!(outcome, Ok(Some(_)));
    report.verdict = match outcome {
        Ok(None) => return Some(start),
        Ok(Some(reason)) => Verdict::Unknown { reason },
        Err(reason) => Verdict::Differs { reason, counterexample: None },
    };
    None
}

/// Returns `true` if a word differs from its expected value at one clock edge for a state and inputs; `None` if
/// undecided.
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

/// Checks every register, then the valid flags and the outputs after a reset. Returns the first undecided question.
fn checked(
    (rtl, ports): Side<'_>,
    hint: Option<Side<'_>>,
    request: &Request,
    stages: u32,
    report: &mut Report,
    start: &mut Start,
) -> Result<Option<String>, String> {
    if clock_of(rtl)?.is_some_and(|(_, rising)| !rising) {
        return Err("registers act on the falling edge of the clock".into());
    }
    let mut e = Engine::new(Box::new(super::sat::Embedded));
    e.limits = request.limits;
    check_asynchronous_resets((rtl, ports), &mut e)?;
    if ports.reset.is_none() {
        start.state = power_on(rtl);
    }
    if ports.enable.is_none() && ports.reset.is_none() {
        return Ok(None);
    }
    let edges = check_edges((rtl, ports), request.is_netlist, &mut e)?;
    if edges.open.is_some() {
        return Ok(edges.open);
    }
    if ports.reset.is_some() {
        start.state.clone_from(&edges.reset_state);
    }
    start.unsettled.clone_from(&edges.settles);
    start.settle((rtl, ports), &mut e)?;
    if ports.enable.is_some() {
        report
            .notes
            .push("every register holds while the clock enable is low; the latency counts enabled clocks".into());
    }
    let Some(reset) = ports.reset else { return Ok(None) };
    let name = &rtl.signal(reset).name;
    let is_asynchronous = rtl.signals().iter().flat_map(|s| &s.registers).any(|register| !register.resets.is_empty());
    let kind = if is_asynchronous { "an asynchronous" } else { "a synchronous" };
    let bits: usize = edges.reset_state.values().map(Vec::len).sum();
    report.notes.push(format!("{name} is {kind} reset that clears {bits} register bits; the proof starts after it"));
    if let Some(valid) = ports.valid {
        match check_valid_cleared(&mut e, rtl, (ports, valid), &start.state, stages) {
            Ok(None) => {}
            Err(reason) if !edges.settles.is_empty() => return Ok(Some(reason)),
            other => return other,
        }
        report.notes.push("the reset clears every valid flag".into());
    }
    match (hint, &edges.nonzero) {
        (Some(hint), _) => {
            let clocks = stages.max(report.interval);
            check_outputs_after_reset(&mut e, ((rtl, ports), &edges.reset_state), hint, clocks)
        }
        (None, Some(reason)) => Ok(Some(format!("{reason}; compare it with its RTL (--rtl)"))),
        (None, None) => Ok(None),
    }
}

/// Checks that asynchronous resets depend only on the reset port. The check of edges determines the active level.
fn check_asynchronous_resets((rtl, ports): Side<'_>, e: &mut Engine) -> Result<(), String> {
    for level in [false, true] {
        let controls = ControlValues { reset: ports.reset.map(|reset| (reset, level)), enable: None };
        let mut edge = OneEdge { rtl, controls, states: FxHashMap::default(), inputs: FxHashMap::default() };
        let mut unroll: Unroll<'_, Arc<[Lit]>> = Unroll::new(rtl, 0);
        unroll.registers_are_leaves = true;
        for signal in rtl.signals() {
            for (cond, _) in signal.registers.iter().flat_map(|register| &register.resets) {
                let cond = unroll.word(&mut Gates { e, leaves: &mut edge }, *cond, 0).map_err(|_| loops(signal))?;
                if constants(e, &cond).is_none() {
                    return Err(format!(
                        "{} is reset asynchronously by something else than the reset port",
                        signal.name
                    ));
                }
            }
        }
    }
    Ok(())
}

fn loops(signal: &Signal) -> String {
    format!("{} depends on itself without a register", signal.name)
}

/// Returns the values of bits that are the same for every state and input; `None` if a bit is not constant.
fn constants(e: &mut Engine, word: &[Lit]) -> Option<Vec<Lit>> {
    word.iter()
        .map(|&bit| match bit.as_const() {
            Some(_) => Some(bit),
            None => [Lit::FALSE, Lit::TRUE].into_iter().find(|&value| e.equal(&[bit], &[value]) == Outcome::Equal),
        })
        .collect()
}

/// Result of the checks of single edges.
#[derive(Default)]
struct Edges {
    /// First undecided question.
    open: Option<String>,
    reset_state: ResetState,
    /// Reason with the first register of a netlist that the reset sets to a value other than zero.
    nonzero: Option<String>,
    /// Registers that keep their value with the enable low only after an enabled edge.
    settles: FxHashSet<SignalId>,
}

/// Checks every register at an edge with the enable low, and at edges with the reset active.
fn check_edges((rtl, ports): Side<'_>, is_netlist: bool, e: &mut Engine) -> Result<Edges, String> {
    let mut found = Edges::default();
    let live = live_signals(rtl);
    // Bits of a cell's word that nothing reads, as those of a block ROM, may have undefined reset values.
    let read = if is_netlist { bits_read(rtl) } else { Vec::new() };
    let reset_high = !ports.reset_low;
    let mut kept: FxHashSet<SignalId> = FxHashSet::default();
    let mut settled = AfterEdge::new(rtl, ports);
    let mut two_edges: Unroll<'_, Arc<[Lit]>> = Unroll::new(rtl, 2);
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
        // Registers are leaves here, as only one edge from any state is analysed.
        let mut unroll: Unroll<'_, Arc<[Lit]>> = Unroll::new(rtl, 0);
        unroll.registers_are_leaves = true;
        for &id in &live {
            let signal = rtl.signal(id);
            for register in &signal.registers {
                let mut word = |e: &mut Engine, node: NodeId| {
                    unroll.word(&mut Gates { e, leaves: &mut edge }, node, 0).map_err(|_| loops(signal))
                };
                let before = word(e, rtl.read(id))?;
                let lo = register.lo as usize;
                let mut next = word(e, register.next)?;
                for (cond, value) in register.resets.iter().rev() {
                    let (cond, value) = (word(e, *cond)?, word(e, *value)?);
                    next = e.words.mux(cond[0], &value, &next).into();
                }
                let bits = lo..lo + next.len();
                let name = &signal.name;
                if reset {
                    if let Some(Some(bits)) = read.get(id.0 as usize) {
                        let unread =
                            next.iter().zip(&bits[lo..]).map(|(&bit, &is_read)| if is_read { bit } else { Lit::FALSE });
                        next = unread.collect();
                    }
                    let zeros = vec![Lit::FALSE; next.len()];
                    // A register that the reset does not affect has the same next value as without the reset.
                    let is_other = if *next == *zeros { Some(false) } else { deviates(e, &next, &zeros) };
                    let value = match is_other {
                        Some(false) => Some(zeros),
                        Some(true) => {
                            let is_touched = depends_on_reset(rtl, register, ports.reset);
                            let value = if is_netlist && is_touched { constants(e, &next) } else { None };
                            // A bit that depends on the phase may start as 1, as it is no flag of a sample.
                            if is_touched && !is_power_on(rtl, id, &next) {
                                let reason = format!(
                                    "{name} is touched by the reset but becomes neither zero nor its power-on value"
                                );
                                if value.is_none() {
                                    return Err(reason);
                                }
                                found.nonzero.get_or_insert(reason);
                            }
                            value
                        }
                        None => {
                            let why = e.limit_reached();
                            found.open.get_or_insert(format!("{name} under reset was not decided: {why}"));
                            continue;
                        }
                    };
                    let is_kept = match value {
                        Some(value) => *found.reset_state.entry((id, register.lo)).or_insert(value.clone()) != value,
                        None => true,
                    };
                    if is_kept {
                        kept.insert(id);
                    }
                } else if *next != before[bits.clone()] {
                    let mut is_other = deviates(e, &next, &before[bits.clone()]);
                    if is_other != Some(false) {
                        // A register may be a function of others that keep their values; then it keeps its value after
                        // any enabled edge.
                        let mut word = |e: &mut Engine, k: u32| {
                            let mut gates = Gates { e, leaves: &mut settled };
                            two_edges.word(&mut gates, rtl.read(id), k).map_err(|_| loops(signal))
                        };
                        let (before, after) = (word(e, 1)?, word(e, 0)?);
                        is_other = deviates(e, &after[bits.clone()], &before[bits]);
                        found.settles.insert(id);
                    }
                    match is_other {
                        Some(false) => {}
                        Some(true) => return Err(format!("{name} changes although the clock enable is low")),
                        None => {
                            let why = e.limit_reached();
                            found
                                .open
                                .get_or_insert(format!("{name} with the clock enable low was not decided: {why}"));
                        }
                    }
                }
            }
        }
    }
    found.reset_state.retain(|(signal, _), _| !kept.contains(signal));
    Ok(found)
}

/// Checks that the outputs of a netlist after a reset, and until a sample arrives, equal the constant outputs of the
/// RTL. `ready` is constant, and determines the first phase. Returns the first undecided question.
fn check_outputs_after_reset(
    e: &mut Engine,
    ((rtl, ports), state): (Side<'_>, &ResetState),
    hint: Side<'_>,
    stages: u32,
) -> Result<Option<String>, String> {
    let expected_state = check_edges(hint, false, e)?.reset_state;
    let places = hint.1.outputs.iter().zip(&ports.outputs);
    let same =
        places.filter_map(|(&expected, &found)| expected.zip(found)).filter(|(expected, found)| expected.1 == found.1);
    let mut pairs: Vec<(SignalId, SignalId)> = same.map(|(expected, found)| (expected.0, found.0)).collect();
    pairs.extend(hint.1.ready.zip(ports.ready));
    pairs.extend(hint.1.valid.zip(ports.valid).map(|(expected, found)| (expected.1, found.1)));
    pairs.sort_unstable();
    pairs.dedup();
    for edges in 0..stages.max(1) {
        let mut sides = [(hint, &expected_state), ((rtl, ports), state)]
            .map(|((rtl, ports), state)| (Unroll::new(rtl, edges), AfterReset::new((rtl, ports), None, state)));
        for &(expected, found) in &pairs {
            let [expected_word, found_word] = {
                let [(unroll, leaves), (other_unroll, other_leaves)] = &mut sides;
                let mut word = |unroll: &mut Unroll<'_, Arc<[Lit]>>, leaves: &mut AfterReset<'_>, port| {
                    let node = leaves.rtl.read(port);
                    unroll.word(&mut Gates { e: &mut *e, leaves }, node, 0).map_err(|_| loops(rtl.signal(found)))
                };
                [word(unroll, leaves, expected)?, word(other_unroll, other_leaves, found)?]
            };
            for (bit, (&expected, &found_bit)) in expected_word.iter().zip(found_word.iter()).enumerate() {
                if expected.as_const().is_none() || expected == found_bit {
                    continue;
                }
                let place = format!("bit {bit} of {} {edges} clocks after the reset", rtl.signal(found).name);
                if found_bit == !expected {
                    return Err(format!("{place} is not that of the RTL"));
                }
                if deviates(e, &[found_bit], &[expected]) != Some(false) {
                    return Ok(Some(format!("{place} was not decided")));
                }
            }
        }
    }
    Ok(None)
}

/// Returns `true` if the next value of a register is its power-on value.
fn is_power_on(rtl: &Rtl, id: SignalId, next: &[Lit]) -> bool {
    let first = initial(rtl, id);
    first.is_some_and(|first| (0..).zip(next).all(|(bit, &lit)| lit == Lit::constant(first.bit(bit))))
}

/// Returns `true` if a register's next value or one of its asynchronous resets depends on the reset port.
fn depends_on_reset(rtl: &Rtl, register: &alir_hdl::Register, reset: Option<SignalId>) -> bool {
    let mut seen: FxHashSet<alir_hdl::NodeId> = FxHashSet::default();
    let mut stack = vec![register.next];
    stack.extend(register.resets.iter().map(|r| r.0));
    while let Some(node) = stack.pop() {
        if !seen.insert(node) {
            continue;
        }
        if let Expr::Signal(s) = rtl.expr(node) {
            let signal = rtl.signal(*s);
            if Some(*s) == reset {
                return true;
            }
            // Stops at other registers, which are checked separately.
            stack.extend(signal.wires.iter().map(|w| w.1));
        } else {
            operands(rtl.expr(node), &mut |&n| stack.push(n));
        }
    }
    false
}

/// Checks that a reset clears all valid flags: without `valid_in`, `valid_out` stays low while values from before the
/// reset could still arrive. Registers that the reset does not clear may have any value. Returns the undecided
/// question.
fn check_valid_cleared(
    e: &mut Engine,
    rtl: &Rtl,
    (ports, valid): (&PortRoles, (SignalId, SignalId)),
    state: &ResetState,
    stages: u32,
) -> Result<Option<String>, String> {
    for edges in 0..=stages {
        let mut later = AfterReset::new((rtl, ports), Some(valid.0), state);
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

/// Timing of outputs that were compared with the model.
pub(super) struct Compared {
    /// Number of cycles since the sample was accepted.
    pub(super) clocks: u32,
    /// Number of cycles back for which registers were followed.
    pub(super) depth: u32,
    pub(super) phases: Option<Phases>,
}

/// Checks that a comparison for samples after enough cycles also holds from the first sample after a reset on. In a
/// design without reset but with phases, the first sample after power-on is checked. Returns the verdict if the check
/// is undecided.
///
/// The comparison holds if no output reads a register from before the sample was accepted, except the phase counter.
/// Otherwise the outputs of the first samples are compared with those of any later sample.
pub(super) fn check_first_samples(
    (rtl, ports): Side<'_>,
    compared: &Compared,
    start: &Start,
    request: &Request,
) -> Option<Verdict> {
    let phases = compared.phases.as_ref();
    if ports.reset.is_none() && phases.is_none() {
        return None;
    }
    let unknown = |reason: String| Some(Verdict::Unknown { reason });
    let counts = |id: &&SignalId| phases.is_some_and(|phases| phases.at(**id, 0).is_some());
    if let Some(&id) = start.unsettled.iter().find(counts) {
        let name = &rtl.signal(id).name;
        return unknown(format!("{name} counts phases, and may change before the first clock with the enable high"));
    }
    let mut e = Engine::new(Box::new(super::sat::Embedded));
    e.limits = request.limits;
    let mut data: Vec<SignalId> = ports.outputs.iter().flatten().map(|place| place.0).collect();
    data.extend(ports.valid.map(|(_, valid_out)| valid_out));
    data.sort_unstable();
    data.dedup();
    let mut inputs = FxHashMap::default();
    let none = ResetState::default();
    let mut words = |e: &mut Engine, max_k: u32, state: &ResetState| -> Option<Outputs> {
        let controls = ControlValues::running(ports);
        let mut leaves = FirstSample { rtl, controls, phases, state, inputs: &mut inputs, read: None };
        let mut unroll: Unroll<'_, Arc<[Lit]>> = Unroll::new(rtl, max_k);
        let mut word = |&port| unroll.word(&mut Gates { e: &mut *e, leaves: &mut leaves }, rtl.read(port), 0).ok();
        let words: Option<Vec<_>> = data.iter().map(&mut word).collect();
        Some((words?, leaves.read.map(|signal| rtl.signal(signal).name.clone())))
    };
    let looped = || unknown("a signal depends on itself without a register".into());
    let Some((_, read)) = words(&mut e, compared.clocks, &none) else { return looped() };
    let read = read?;
    let Some((general, _)) = words(&mut e, compared.depth, &none) else { return looped() };
    for since in 0..compared.depth.saturating_sub(compared.clocks) {
        if phases.is_some_and(|phases| since % phases.interval != phases.accepts) {
            continue;
        }
        let Some((first, _)) = words(&mut e, since + compared.clocks, &start.state) else { return looped() };
        for ((general, first), &port) in general.iter().zip(&first).zip(&data) {
            if general != first && e.equal(general, first) != Outcome::Equal {
                let begin = if ports.reset.is_some() { "the reset" } else { "power-on" };
                return unknown(format!(
                    "{} was proved for later samples, not for one that is accepted {since} clocks after {begin}: it \
                     depends on what {read} holds then",
                    rtl.signal(port).name
                ));
            }
        }
    }
    None
}

/// Returns the values of registers at power-on.
fn power_on(rtl: &Rtl) -> ResetState {
    let all = (0..rtl.signals().len() as u32).map(SignalId);
    let first = |id| Some(((id, 0), bit_vector::constant(&initial(rtl, id)?, rtl.signal(id).width)));
    all.filter_map(first).collect()
}

impl Start {
    /// Removes the registers that change before the first enabled edge: those in `unsettled`, except registers that
    /// load their own value again.
    fn settle(&mut self, (rtl, ports): Side<'_>, e: &mut Engine) -> Result<(), String> {
        let mut held = std::mem::take(&mut self.unsettled);
        loop {
            let mut after = AfterReset::new((rtl, ports), None, &self.state);
            after.controls.enable = ports.enable.map(|enable| (enable, false));
            let mut unroll: Unroll<'_, Arc<[Lit]>> = Unroll::new(rtl, 1);
            let mut changed = Vec::new();
            for &id in &held {
                let signal = rtl.signal(id);
                let word = unroll.word(&mut Gates { e, leaves: &mut after }, rtl.read(id), 0);
                let word = word.map_err(|_| loops(signal))?;
                let keeps = signal.registers.iter().all(|register| {
                    let (lo, width) = (register.lo as usize, rtl.width(register.next) as usize);
                    let value = self.state.get(&(id, register.lo));
                    value.is_some_and(|value| e.equal(&word[lo..lo + width], value) == Outcome::Equal)
                });
                if !keeps {
                    changed.push(id);
                }
            }
            if changed.is_empty() {
                return Ok(());
            }
            self.state.retain(|(signal, _), _| !changed.contains(signal));
            held.retain(|id| !changed.contains(id));
            self.unsettled.extend(changed);
        }
    }
}

/// Leaves for the cycles of a sample: registers have a start value or any value, and inputs are shared.
struct FirstSample<'a> {
    rtl: &'a Rtl,
    controls: ControlValues,
    phases: Option<&'a Phases>,
    state: &'a ResetState,
    inputs: &'a mut FxHashMap<(SignalId, u32), Vec<Lit>>,
    /// First register whose value from before the sample was read.
    read: Option<SignalId>,
}

impl Leaves for FirstSample<'_> {
    fn input(&mut self, e: &mut Engine, signal: SignalId, k: u32) -> Vec<Lit> {
        if let Some(level) = self.controls.level(signal) {
            return vec![Lit::constant(level)];
        }
        let width = self.rtl.signal(signal).width;
        self.inputs.entry((signal, k)).or_insert_with(|| e.words.free("input", width)).clone()
    }

    fn before(&mut self, e: &mut Engine, signal: SignalId, lo: u32, width: u32) -> Vec<Lit> {
        self.read.get_or_insert(signal);
        self.state.get(&(signal, lo)).cloned().unwrap_or_else(|| self.unknown(e, width))
    }

    fn known(&mut self, _e: &mut Engine, signal: SignalId, k: u32) -> Option<Vec<Lit>> {
        let value = self.phases?.at(signal, k)?;
        Some(bit_vector::constant(value, self.rtl.signal(signal).width))
    }
}

/// Leaves for the cycles after a reset: registers that the reset sets have their value, other registers any value.
struct AfterReset<'a> {
    rtl: &'a Rtl,
    controls: ControlValues,
    valid_in: Option<SignalId>,
    state: &'a ResetState,
    inputs: FxHashMap<(SignalId, u32), Vec<Lit>>,
}

impl<'a> AfterReset<'a> {
    fn new((rtl, ports): Side<'a>, valid_in: Option<SignalId>, state: &'a ResetState) -> AfterReset<'a> {
        AfterReset { rtl, controls: ControlValues::running(ports), valid_in, state, inputs: FxHashMap::default() }
    }
}

impl Leaves for AfterReset<'_> {
    fn input(&mut self, e: &mut Engine, signal: SignalId, k: u32) -> Vec<Lit> {
        if let Some(level) = self.controls.level(signal) {
            return vec![Lit::constant(level)];
        }
        if Some(signal) == self.valid_in {
            return vec![Lit::FALSE];
        }
        let width = self.rtl.signal(signal).width;
        self.inputs.entry((signal, k)).or_insert_with(|| e.words.free("input", width)).clone()
    }

    fn before(&mut self, e: &mut Engine, signal: SignalId, lo: u32, width: u32) -> Vec<Lit> {
        self.state.get(&(signal, lo)).cloned().unwrap_or_else(|| self.unknown(e, width))
    }
}

/// Leaves for one clock edge: registers and inputs have any value.
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
        self.inputs.entry(signal).or_insert_with(|| e.words.free("input", width)).clone()
    }

    fn signal(&mut self, e: &mut Engine, signal: SignalId, _k: u32, bits: Vec<Lit>) -> Vec<Lit> {
        if self.rtl.signal(signal).registers.is_empty() {
            return bits;
        }
        self.states.entry(signal).or_insert_with(|| e.words.free("state", bits.len() as u32)).clone()
    }
}

/// Leaves for two edges: an enabled one, then one with the enable low. Registers have any value before both.
struct AfterEdge<'a> {
    rtl: &'a Rtl,
    running: ControlValues,
    enable: Option<SignalId>,
    states: FxHashMap<SignalId, Vec<Lit>>,
    inputs: FxHashMap<(SignalId, u32), Vec<Lit>>,
}

impl<'a> AfterEdge<'a> {
    fn new(rtl: &'a Rtl, ports: &PortRoles) -> AfterEdge<'a> {
        let (states, inputs) = (FxHashMap::default(), FxHashMap::default());
        AfterEdge { rtl, running: ControlValues::running(ports), enable: ports.enable, states, inputs }
    }
}

impl Leaves for AfterEdge<'_> {
    fn input(&mut self, e: &mut Engine, signal: SignalId, k: u32) -> Vec<Lit> {
        if let Some(level) = self.running.level(signal) {
            return vec![Lit::constant(level && !(k == 1 && Some(signal) == self.enable))];
        }
        let width = self.rtl.signal(signal).width;
        self.inputs.entry((signal, k)).or_insert_with(|| e.words.free("input", width)).clone()
    }

    fn known(&mut self, e: &mut Engine, signal: SignalId, k: u32) -> Option<Vec<Lit>> {
        let Signal { width, registers, .. } = self.rtl.signal(signal);
        let is_state = k == 2 && !registers.is_empty();
        is_state.then(|| self.states.entry(signal).or_insert_with(|| e.words.free("state", *width)).clone())
    }
}
