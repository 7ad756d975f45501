//! Designs with an initiation interval above one, whose control is a counter that no input affects.
//!
//! The counter is detected in the RTL: the registers with a power-on value whose next value depends only on such
//! registers. It is simulated from power-on until its state repeats; the number of cycles is the interval. At a known
//! phase all choices by phase are constant, and the rest is a function of the accepted sample, as in a pipeline.
//! Results are proved stable cycle by cycle: for any register values, an output at each of these phases equals its
//! value in the cycle before.

use super::aig::Lit;
use super::bit_vector;
use super::engine::{Engine, Outcome};
use super::port_roles::{ControlValues, PortRoles, stated};
use super::sat::Embedded;
use super::unroll::{Gates, Leaves, Unroll};
use alir_hdl::{Expr, NodeId, Rtl, SignalId, operands};
use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Longest interval that is detected.
const LONGEST: usize = 4096;

/// Values of some registers.
type State = FxHashMap<SignalId, BigUint>;

/// Phase counter, and the phase in which outputs are observed.
#[derive(Clone, Debug, Default)]
pub(super) struct Phases {
    /// Values of the counter's registers by phase; phase 0 is the state after power-on and reset.
    states: Arc<FxHashMap<SignalId, Vec<BigUint>>>,
    /// Number of phases.
    pub(super) interval: u32,
    /// Phase at whose end a sample is accepted.
    pub(super) accepts: u32,
    /// Phase in which outputs are observed.
    pub(super) now: u32,
}

impl Phases {
    /// Returns the value of a register of the counter `k` cycles before the outputs are observed; `None` for other
    /// signals.
    pub(super) fn at(&self, signal: SignalId, k: u32) -> Option<&BigUint> {
        let states = self.states.get(&signal)?;
        let n = self.interval;
        states.get(((self.now + n - k % n) % n) as usize)
    }

    /// Returns these phases with outputs observed `clocks` cycles after a sample was accepted.
    pub(super) fn seen_after(&self, clocks: u32) -> Phases {
        Phases { now: (self.accepts + clocks) % self.interval, ..self.clone() }
    }
}

/// Returns the interval in the header comment; `None` if it states none.
pub fn stated_interval(rtl: &Rtl) -> Option<u32> {
    stated(rtl, "initiation interval", &[])
}

/// Returns the number of cycles in which a sample must be stable on its ports, as the header comment states it; `None`
/// if it states none.
pub(super) fn stated_hold(rtl: &Rtl) -> Option<u32> {
    stated(rtl, "inputs must stay for", &[])
}

/// Returns the phase counter of a design.
///
/// # Errors
/// The reason why there is no usable counter.
pub(super) fn find(rtl: &Rtl, ports: &PortRoles) -> Result<Phases, String> {
    let ready = ports.ready.ok_or("there is no port that says when a sample is taken (`ready`)")?;
    let running = ControlValues::running(ports);
    let (closed, sequence) = cycle(rtl, running)?;
    let first = sequence[0].clone();
    if let Some((reset, idle)) = running.reset {
        let mut under = Constants::new(rtl, ControlValues { reset: Some((reset, !idle)), ..running });
        for &signal in &closed {
            // A register that the reset does not affect may get its power-on value in each phase.
            let mut is_first =
                |known: &State| Ok::<_, String>(under.next_value(known, signal)?.as_ref() == first.get(&signal));
            if !is_first(&State::default())?
                && !sequence.iter().try_fold(true, |all, state| Ok::<_, String>(all && is_first(state)?))?
            {
                let name = &rtl.signal(signal).name;
                return Err(format!("{name} counts phases, and the reset does not set it to its power-on value"));
            }
        }
    }
    let mut accepting = Vec::new();
    let mut while_running = Constants::new(rtl, running);
    for (phase, state) in (0..).zip(&sequence) {
        match while_running.value(state, rtl.read(ready))? {
            Some(value) if value == BigUint::ZERO => {}
            Some(_) => accepting.push(phase),
            None => return Err(format!("{} depends on more than the phase", rtl.signal(ready).name)),
        }
    }
    let [accepts] = accepting[..] else {
        let name = &rtl.signal(ready).name;
        return Err(format!("{name} is 1 in {} clocks of {}, not in one", accepting.len(), sequence.len()));
    };
    let states = closed.iter().map(|s| (*s, sequence.iter().map(|state| state[s].clone()).collect())).collect();
    Ok(Phases { states: Arc::new(states), interval: sequence.len() as u32, accepts, now: accepts })
}

/// Returns the registers of the counter, and their values cycle by cycle over one period from power-on. Registers that
/// no input reaches but that settle only after some cycles, such as a delay line of a constant, are excluded, and so
/// are their readers.
fn cycle(rtl: &Rtl, running: ControlValues) -> Result<(Vec<SignalId>, Vec<State>), String> {
    let none = || format!("no counter of at most {LONGEST} phases is found that nothing from outside reaches");
    let all = (0..rtl.signals().len() as u32).map(SignalId);
    let mut set: FxHashSet<SignalId> = all.filter(|&s| initial(rtl, s).is_some()).collect();
    let mut constants = Constants::new(rtl, running);
    loop {
        let closed = closed(rtl, running, set);
        let first: State = closed.iter().map(|&s| (s, initial(rtl, s).unwrap_or_default())).collect();
        let mut sequence = vec![first];
        let mut seen: FxHashMap<Vec<BigUint>, usize> = FxHashMap::default();
        let values = |state: &State| closed.iter().map(|s| state[s].clone()).collect::<Vec<BigUint>>();
        seen.insert(values(&sequence[0]), 0);
        let from = loop {
            let next = constants.next_state(&sequence[sequence.len() - 1])?;
            if let Some(&from) = seen.get(&values(&next)) {
                break from;
            }
            // Delay lines settle within that number of further cycles.
            if sequence.len() == 2 * LONGEST {
                return Err(none());
            }
            seen.insert(values(&next), sequence.len());
            sequence.push(next);
        };
        let period = sequence.len() - from;
        if from == 0 {
            return if period > LONGEST { Err(none()) } else { Ok((closed, sequence)) };
        }
        // The value of a register `k` cycles after power-on must return after a period.
        let returns = |s: &SignalId| {
            (0..from).all(|k| sequence[k][s] == sequence[from + (k + period - from % period) % period][s])
        };
        set = closed.iter().copied().filter(|s| returns(s)).collect();
        if set.len() == closed.len() {
            return Err("the counter of phases is not understood".into());
        }
    }
}

/// Returns the power-on value of a signal that is a single register; `None` for other signals, or if it is undefined.
pub(super) fn initial(rtl: &Rtl, id: SignalId) -> Option<BigUint> {
    let signal = rtl.signal(id);
    let [register] = &signal.registers[..] else { return None };
    let whole = register.lo == 0 && rtl.width(register.next) == signal.width && signal.wires.is_empty();
    signal.init.filter(|_| whole).and_then(|node| rtl.as_const(node)).cloned()
}

/// Returns the largest subset of a set of registers in which all next values depend only on the subset.
fn closed(rtl: &Rtl, controls: ControlValues, mut set: FxHashSet<SignalId>) -> Vec<SignalId> {
    loop {
        let leaves: Vec<SignalId> = set.iter().copied().filter(|&s| reaches_out(rtl, controls, s, &set)).collect();
        if leaves.is_empty() {
            break;
        }
        leaves.iter().for_each(|s| {
            set.remove(s);
        });
    }
    let mut closed: Vec<SignalId> = set.into_iter().collect();
    closed.sort_unstable();
    closed
}

/// Returns `true` if a register's next value depends on signals other than the set and the control ports.
fn reaches_out(rtl: &Rtl, controls: ControlValues, id: SignalId, set: &FxHashSet<SignalId>) -> bool {
    let mut seen: FxHashSet<NodeId> = FxHashSet::default();
    let mut stack: Vec<NodeId> = rtl.signal(id).registers.iter().map(|r| r.next).collect();
    while let Some(node) = stack.pop() {
        if !seen.insert(node) {
            continue;
        }
        match rtl.expr(node) {
            Expr::Free => return true,
            Expr::Signal(s) if set.contains(s) => {}
            Expr::Signal(s) => {
                let signal = rtl.signal(*s);
                let control = signal.input && controls.level(*s).is_some();
                if !signal.registers.is_empty() || (signal.input && !control) {
                    return true;
                }
                stack.extend(signal.wires.iter().map(|w| w.1));
            }
            // A table with an entry for every address depends only on its address.
            Expr::Table(entries, address, _) if entries.len() as u64 >> rtl.width(*address).min(63) > 0 => {
                stack.push(*address);
            }
            expr => operands(expr, &mut |&n| stack.push(n)),
        }
    }
    false
}

/// Evaluation of expressions for known values of some registers.
struct Constants<'a> {
    rtl: &'a Rtl,
    controls: ControlValues,
    unroll: Unroll<'a, Arc<[Lit]>>,
}

impl<'a> Constants<'a> {
    fn new(rtl: &'a Rtl, controls: ControlValues) -> Constants<'a> {
        Constants { rtl, controls, unroll: Unroll::new(rtl, 0) }
    }

    /// Returns the values of expressions; `None` for each one that is not constant.
    fn values(&mut self, known: &State, nodes: &[NodeId]) -> Result<Vec<Option<BigUint>>, String> {
        self.unroll.clear();
        let mut e = Engine::new(Box::new(Embedded));
        let mut leaves = Known { rtl: self.rtl, controls: self.controls, known };
        let mut value = |&node: &NodeId| {
            let word = self
                .unroll
                .word(&mut Gates { e: &mut e, leaves: &mut leaves }, node, 0)
                .map_err(|_| "something depends on itself without a register".to_owned())?;
            let mut value = BigUint::ZERO;
            for (i, bit) in (0..).zip(word.iter()) {
                match bit.as_const() {
                    Some(one) => value.set_bit(i, one),
                    None => return Ok(None),
                }
            }
            Ok(Some(value))
        };
        nodes.iter().map(&mut value).collect()
    }

    fn value(&mut self, known: &State, node: NodeId) -> Result<Option<BigUint>, String> {
        Ok(self.values(known, &[node])?.swap_remove(0))
    }

    /// Returns the state of the counter in the next cycle.
    fn next_state(&mut self, state: &State) -> Result<State, String> {
        let signals: Vec<SignalId> = state.keys().copied().collect();
        let next: Vec<NodeId> = signals.iter().map(|&s| self.rtl.signal(s).registers[0].next).collect();
        let named = |(signal, value): (SignalId, Option<BigUint>)| match value {
            Some(value) => Ok((signal, value)),
            None => Err(format!("the next value of {} is not known", self.rtl.signal(signal).name)),
        };
        let values = self.values(state, &next)?;
        signals.into_iter().zip(values).map(named).collect()
    }

    /// Returns the next value of a register for known values of some registers; `None` if it is not constant.
    fn next_value(&mut self, known: &State, signal: SignalId) -> Result<Option<BigUint>, String> {
        let register = &self.rtl.signal(signal).registers[0];
        for &(condition, value) in &register.resets {
            match self.value(known, condition)? {
                Some(holds) if holds == BigUint::ZERO => {}
                Some(_) => return self.value(known, value),
                None => return Ok(None),
            }
        }
        self.value(known, register.next)
    }
}

/// Leaves for one cycle from known registers; other registers are free.
struct Known<'a> {
    rtl: &'a Rtl,
    controls: ControlValues,
    known: &'a FxHashMap<SignalId, BigUint>,
}

impl Leaves for Known<'_> {
    fn input(&mut self, e: &mut Engine, signal: SignalId, _k: u32) -> Vec<Lit> {
        match self.controls.level(signal) {
            Some(level) => vec![Lit::constant(level)],
            None => self.unknown(e, self.rtl.signal(signal).width),
        }
    }

    fn known(&mut self, _e: &mut Engine, signal: SignalId, _k: u32) -> Option<Vec<Lit>> {
        self.known.get(&signal).map(|value| bit_vector::constant(value, self.rtl.signal(signal).width))
    }
}

/// Leaves for one clock edge at a known phase; registers have any value.
struct Edge<'a> {
    rtl: &'a Rtl,
    controls: ControlValues,
    phases: &'a Phases,
    inputs: FxHashMap<(SignalId, u32), Vec<Lit>>,
}

impl Leaves for Edge<'_> {
    fn input(&mut self, e: &mut Engine, signal: SignalId, k: u32) -> Vec<Lit> {
        if let Some(level) = self.controls.level(signal) {
            return vec![Lit::constant(level)];
        }
        let width = self.rtl.signal(signal).width;
        self.inputs.entry((signal, k)).or_insert_with(|| e.words.free("input", width)).clone()
    }

    fn known(&mut self, _e: &mut Engine, signal: SignalId, k: u32) -> Option<Vec<Lit>> {
        self.phases.at(signal, k).map(|value| bit_vector::constant(value, self.rtl.signal(signal).width))
    }
}

/// Returns `true` if at the phase of `phases` every output equals its value in the cycle before, and the valid flag is
/// low, for any values of registers and inputs.
pub(super) fn output_is_stable(rtl: &Rtl, ports: &PortRoles, phases: &Phases, e: &mut Engine) -> Result<bool, String> {
    let mut unroll: Unroll<'_, Arc<[Lit]>> = Unroll::new(rtl, 1);
    let controls = ControlValues::running(ports);
    let mut edge = Edge { rtl, controls, phases, inputs: FxHashMap::default() };
    let mut word = |e: &mut Engine, signal: SignalId, k: u32| {
        unroll
            .word(&mut Gates { e, leaves: &mut edge }, rtl.read(signal), k)
            .map_err(|_| format!("{} depends on itself without a register", rtl.signal(signal).name))
    };
    if let Some((_, valid_out)) = ports.valid {
        let flag = word(e, valid_out, 0)?;
        if e.equal(&flag, &[Lit::FALSE]) != Outcome::Equal {
            return Err("valid_out is not low in every clock of a result but the first".into());
        }
    }
    let mut data: Vec<SignalId> = ports.outputs.iter().flatten().map(|place| place.0).collect();
    data.sort_unstable();
    data.dedup();
    for port in data {
        let before = word(e, port, 1)?;
        let after = word(e, port, 0)?;
        if before != after && e.equal(&before, &after) != Outcome::Equal {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alir_hdl::{self, Language};

    /// Returns a counter whose next value is read from a table of `words` words.
    fn counter(words: usize) -> Rtl {
        let table = ["\"01\"", "\"10\"", "\"11\"", "\"00\""][..words].join(", ");
        let text = format!(
            "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;\n\
             entity top is port (clk : in std_logic; ready : out std_logic); end entity;\n\
             architecture rtl of top is\n\
             type words is array (0 to {}) of std_logic_vector(1 downto 0);\n\
             constant rom : words := ({table});\n\
             signal phase : unsigned(1 downto 0) := \"00\";\n\
             signal following : unsigned(1 downto 0);\n\
             begin\n\
             following <= unsigned(rom(to_integer(phase)));\n\
             process (clk) begin if rising_edge(clk) then phase <= following; end if; end process;\n\
             ready <= '1' when phase = \"00\" else '0';\n\
             end architecture;\n",
            words - 1
        );
        alir_hdl::read(Language::Vhdl, &text, None).unwrap()
    }

    #[test]
    fn a_table_counts_if_it_has_a_word_for_every_phase() {
        let controls = ControlValues { reset: None, enable: None };
        let names = |rtl: &Rtl| -> Vec<String> {
            cycle(rtl, controls).unwrap().0.into_iter().map(|s| rtl.signal(s).name.clone()).collect()
        };
        assert_eq!(names(&counter(4)), ["phase"]);
        // The fourth address has no word, so the next value is undefined.
        assert_eq!(names(&counter(3)), [""; 0]);
    }

    /// Returns a counter of four phases with further registers that read only these registers: each of `extra` is a
    /// power-on value and a next value.
    fn beside(extra: &[(&str, &str)], ready: &str, reset: bool) -> Rtl {
        let mut registers = String::new();
        let mut takes = String::new();
        for (k, (first, next)) in extra.iter().enumerate() {
            registers.push_str(&format!("reg r{k} = {first};\n"));
            takes.push_str(&format!("r{k} <= rst ? {first} : ({next});\n"));
        }
        let rst = if reset { "input wire rst, " } else { "" };
        let takes = if reset { takes } else { takes.replace("rst", "1'b0") };
        let phase = if reset { "rst ? 2'd0 : phase + 2'd1" } else { "phase + 2'd1" };
        let text = format!(
            "module top (input wire clk, {rst}input wire x, output wire ready);\nreg [1:0] phase = 2'd0;\n{registers}\
             assign ready = {ready};\nalways @(posedge clk) begin\nphase <= {phase};\n{takes}end\nendmodule\n"
        );
        alir_hdl::read(Language::Verilog, &text, None).unwrap_or_else(|d| panic!("{d}\n{text}"))
    }

    fn found(rtl: &Rtl) -> Result<Phases, String> {
        let named = |list: &[SignalId], name: &str| list.iter().copied().find(|&s| rtl.signal(s).name == name);
        let ports = PortRoles {
            inputs: Vec::new(),
            outputs: Vec::new(),
            clock: named(&rtl.inputs, "clk"),
            reset: named(&rtl.inputs, "rst"),
            reset_low: false,
            enable: None,
            valid: None,
            ready: named(&rtl.outputs, "ready"),
            phases: None,
            beats: Vec::new(),
            hold: 1,
            moments: None,
        };
        find(rtl, &ports)
    }

    /// Registers in a delay line of a constant have other values at first; only registers with periodic values are the
    /// counter.
    #[test]
    fn registers_on_their_way_are_no_part_of_the_counter() {
        let ready = "phase == 2'd0";
        // Three registers in a delay line of a one; a register that is 1 at first, a register that the phase sets,
        // both, and a register that an input sets.
        let constant = [("1'b0", "1'b1"), ("1'b0", "r0"), ("1'b0", "r1")];
        for reset in [false, true] {
            let phases = found(&beside(&constant, ready, reset)).unwrap();
            assert_eq!((phases.interval, phases.accepts), (4, 0));
            assert_eq!(phases.states.len(), 1, "{:?}", phases.states);
            let set = [("1'b1", "1'b0"), ("1'b0", "phase == 2'd2"), ("1'b0", "r0 | r1"), ("1'b0", "x")];
            let phases = found(&beside(&set, ready, reset)).unwrap();
            assert_eq!((phases.interval, phases.accepts), (4, 0));
            // The counter and r1; r2 was 1 only after the first cycle, when r0 was.
            assert_eq!(phases.states.len(), 2, "{:?}", phases.states);
            // A signal that depends on such a register is not known from the start.
            assert!(found(&beside(&[("1'b0", "1'b1")], "(phase == 2'd0) & r0", reset)).is_err());
        }
        // With two counters, the interval is that of both together.
        assert!(found(&beside(&[("1'b0", "~r0"), ("1'b0", "r0 ^ r1")], ready, false)).is_ok());
        let twice = beside(&[("1'b0", "r0 ^ (phase == 2'd3)")], ready, false);
        assert!(found(&twice).unwrap_err().contains("2 clocks of 8"), "ready is 1 twice in eight clocks");
    }
}
