//! Origin of a wrong output: the first signal of a simulation that differs from the netlist.
//!
//! A short run of the module is simulated again with a value change dump of all signals, and the netlist's evaluator
//! computes the same run. Nets are matched by name. The first net in topological order, in the first cycle with a
//! difference, is the origin of the difference in the RTL. If no net differs, the netlist differs from the model, and
//! the RTL is correct.

use super::cycles::Cycles;
use alir_hw::netlist::{Evaluator, NetId, Netlist};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;
use std::fmt;
use std::io::{self, BufRead};

/// A signal that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferingSignal {
    /// Name of the signal in the RTL.
    pub name: String,
    /// Comment after the signal's declaration, which names its operation.
    pub comment: String,
    /// Cycle of the run, from 0.
    pub cycle: usize,
    /// Value in the netlist.
    pub expected: BigUint,
    /// Binary digits in the simulation.
    pub found: String,
}

impl fmt::Display for DifferingSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.found.len();
        write!(f, "{} = {}, not {:0>width$}", self.name, self.found, self.expected.to_str_radix(2))?;
        if !self.comment.is_empty() {
            write!(f, " ({})", self.comment)?;
        }
        Ok(())
    }
}

/// Returns the first signal in which a dump differs from the netlist; `None` if no signal differs.
///
/// `run` is the simulated run. The clock is low for one nanosecond and high for one nanosecond in each row, as in all
/// testbenches of this module. A signal is ignored until the pipeline is filled up to the signal's stage, as
/// the signal's value until then depends on cycles before the run.
///
/// # Errors
/// Errors of reading the dump.
pub fn first_difference(netlist: &Netlist, run: &Cycles, dump: impl BufRead) -> io::Result<Option<DifferingSignal>> {
    let mut evaluator = Evaluator::new(netlist);
    let mut dump = Dump::new(netlist, dump)?;
    let mut advances = 0;
    for (index, cycle) in run.cycles.iter().enumerate() {
        for field in &run.layout.stimulus {
            evaluator.set_port(&field.port, &cycle.stimulus.unsigned(field.lo, field.width));
        }
        evaluator.settle();
        // Reads up to just before the rising clock edge.
        dump.read_until(2 * index as u64 + 1)?;
        let stateful = netlist.interface.counts_clocks();
        let filled = |stage: u32| netlist.interface.clock.is_none() || stateful || stage < advances;
        if let Some(signal) = dump.first_difference(netlist, &evaluator, filled) {
            return Ok(Some(DifferingSignal { cycle: index, ..signal }));
        }
        advances += u32::from(run.advances(index));
        evaluator.tick();
    }
    Ok(None)
}

/// A value change dump that is read step by step.
struct Dump<R> {
    lines: io::Lines<R>,
    /// Number of ticks per nanosecond in the dump.
    ticks: u64,
    /// Nets by the identifier codes of the dump.
    nets: FxHashMap<String, Vec<usize>>,
    /// Digits of each net; `None` if the dump does not have the net or has not set it yet.
    values: Vec<Option<String>>,
    /// Next time stamp, if it has been read already.
    ahead: Option<u64>,
}

impl<R: BufRead> Dump<R> {
    /// Reads the declarations of a dump.
    fn new(netlist: &Netlist, dump: R) -> io::Result<Dump<R>> {
        // VHDL tools write names in lower case; net names are unique regardless of case.
        let by_name: FxHashMap<String, usize> =
            (0..netlist.nets().len()).map(|n| (netlist.name(NetId(n as u32)).to_ascii_lowercase(), n)).collect();
        let mut lines = dump.lines();
        let mut nets: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        let mut seen = vec![false; netlist.nets().len()];
        let mut ticks = 1;
        let mut scale: Option<String> = None;
        for line in &mut lines {
            let line = line?;
            let words: Vec<&str> = line.split_whitespace().collect();
            if let Some(text) = &mut scale {
                text.push(' ');
                text.push_str(&line);
            } else if words.first() == Some(&"$timescale") {
                scale = Some(line.clone());
            }
            if let Some(text) = scale.take_if(|t| t.contains("$end")) {
                ticks = ticks_of(&text);
            }
            match words[..] {
                ["$var", _, width, code, name, ..] => {
                    let name = name.split(['[', '(']).next().unwrap_or(name).to_ascii_lowercase();
                    let net = by_name.get(&name).filter(|n| Ok(netlist.nets()[**n].width) == width.parse());
                    // A net that passes through several modules is declared several times.
                    if let Some(&net) = net.filter(|n| !std::mem::replace(&mut seen[**n], true)) {
                        nets.entry(code.to_owned()).or_default().push(net);
                    }
                }
                ["$enddefinitions", ..] => break,
                _ => {}
            }
        }
        Ok(Dump { lines, ticks, nets, values: vec![None; netlist.nets().len()], ahead: None })
    }

    /// Applies every change before `nanosecond`.
    fn read_until(&mut self, nanosecond: u64) -> io::Result<()> {
        let end = nanosecond.saturating_mul(self.ticks);
        if self.ahead.is_some_and(|time| time >= end) {
            return Ok(());
        }
        for line in &mut self.lines {
            let line = line?;
            if let Some(time) = line.strip_prefix('#').and_then(|t| t.trim().parse().ok()) {
                if time >= end {
                    self.ahead = Some(time);
                    return Ok(());
                }
            } else if let Some((digits, code)) = change(&line) {
                for net in self.nets.get(code).into_iter().flatten() {
                    self.values[*net] = Some(digits.to_owned());
                }
            }
        }
        Ok(())
    }

    fn first_difference(
        &self,
        netlist: &Netlist,
        evaluator: &Evaluator<'_>,
        filled: impl Fn(u32) -> bool,
    ) -> Option<DifferingSignal> {
        for (index, net) in netlist.nets().iter().enumerate() {
            let Some(digits) = self.values[index].as_ref().filter(|_| filled(net.stage)) else { continue };
            let id = NetId(index as u32);
            let expected = evaluator.value(id);
            let found = padded(digits, net.width as usize);
            // A state machine's register that has not been loaded yet may have any value.
            if netlist.interface.counts_clocks() && found.contains(|c| !matches!(c, '0' | '1')) {
                continue;
            }
            if BigUint::parse_bytes(found.as_bytes(), 2).as_ref() != Some(&expected) {
                let (name, comment) = (netlist.name(id).to_owned(), netlist.comment(id).to_owned());
                return Some(DifferingSignal { name, comment, cycle: 0, expected, found });
            }
        }
        None
    }
}

/// Returns the number of ticks per nanosecond of a time scale such as `$timescale 1ps $end`.
fn ticks_of(text: &str) -> u64 {
    let compact: String = text.split_whitespace().filter(|w| !w.starts_with('$')).collect();
    let number = compact.find(|c: char| !c.is_ascii_digit()).unwrap_or(compact.len());
    let count: u64 = compact[..number].parse().unwrap_or(1);
    let per_nanosecond = match &compact[number..] {
        "fs" => 1_000_000,
        "ps" => 1000,
        _ => 1,
    };
    (per_nanosecond / count.max(1)).max(1)
}

/// Returns the digits and the identifier code of a change: `b0101 !` or `1!`.
fn change(line: &str) -> Option<(&str, &str)> {
    if let Some(vector) = line.strip_prefix(['b', 'B']) {
        return vector.split_once(' ').map(|(digits, code)| (digits, code.trim()));
    }
    line.starts_with(['0', '1', 'x', 'X', 'z', 'Z', 'u', 'U', '-', 'w', 'W']).then(|| (&line[..1], line[1..].trim()))
}

/// Returns all digits of a value: a dump omits leading digits that repeat (zeros, or the first digit if it is unknown).
fn padded(digits: &str, width: usize) -> String {
    let first = digits.chars().next().filter(|c| *c != '1').unwrap_or('0');
    let missing = width.saturating_sub(digits.len());
    std::iter::repeat_n(first, missing).chain(digits.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::{Rows, Vectors};
    use alir_core::ir::{Builder, Node, Op, Output};
    use alir_core::num::Interval;
    use alir_hw::netlist::{Options, lower};
    use alir_opt::schedule::Schedule;
    use num_bigint::BigInt;

    /// Returns the netlist of `(x + y) + x` with four-bit inputs, without registers or with a register at the end of
    /// each of two stages.
    fn netlist(stages: u32) -> Netlist {
        let mut b = Builder::new(vec![0, 0]);
        let node =
            |op, max: i64, origin| Node { op, interval: Interval::new(0, max, 0), latency: 0.0, cost: 0.0, origin };
        let x = b.push(node(Op::Input { input: 0 }, 15, 0));
        let y = b.push(node(Op::Input { input: 1 }, 15, 1));
        let s = b.push(node(Op::Add { a: x, b: y, shift: 0 }, 30, 2));
        let t = b.push(node(Op::Add { a: s, b: x, shift: 0 }, 45, 3));
        b.output(Output { source: Some(t), shift: 0, neg: false });
        let schedule =
            Schedule { stages, register_inputs: false, register_outputs: false, stage: vec![1, 1, 1, stages.max(1)] };
        lower(&b.finish().unwrap(), &schedule, &Options::default())
    }

    fn run(netlist: &Netlist) -> Cycles {
        let inputs = Rows::new(2, [[3, 4], [5, 6]].map(|r| r.map(BigInt::from).to_vec()));
        let outputs = Rows::new(1, [[10], [16]].map(|r| r.map(BigInt::from).to_vec()));
        Cycles::plan(&netlist.interface, &Vectors { inputs, outputs }, 1)
    }

    #[test]
    fn the_first_wrong_net_is_named() {
        let netlist = netlist(0);
        // In the second row v2 is 9 instead of 11, and v3, which depends on v2, is wrong too.
        let dump = "$timescale\n\t1ps\n$end\n$scope module dut $end\n$var wire 5 ! v2 [4:0] $end\n\
                    $var wire 6 \" V3[5:0] $end\n$upscope $end\n$enddefinitions $end\n\
                    #0\nb111 !\nb1010 \"\n#2000\nb1001 !\nb1110 \"\n#3000\nb0 !\n";
        let signal = first_difference(&netlist, &run(&netlist), dump.as_bytes()).unwrap().unwrap();
        assert_eq!((signal.name.as_str(), signal.cycle, signal.found.as_str()), ("v2", 1, "01001"));
        assert!(signal.to_string().starts_with("v2 = 01001, not 01011"), "{signal}");
        let right = dump.replace("b1001", "b1011").replace("b1110", "b10000");
        assert_eq!(first_difference(&netlist, &run(&netlist), right.as_bytes()).unwrap(), None);
    }

    #[test]
    fn unknown_bits_differ_and_scalars_are_read() {
        assert_eq!(padded("x1", 4), "xxx1");
        assert_eq!(padded("11", 4), "0011");
        assert_eq!(change("1!"), Some(("1", "!")));
        assert_eq!(change("b0x1 #a"), Some(("0x1", "#a")));
        assert_eq!((ticks_of("$timescale 1 fs $end"), ticks_of("$timescale 10ps $end")), (1_000_000, 100));
    }

    #[test]
    fn what_the_pipeline_held_before_the_run_does_not_count() {
        let netlist = netlist(2);
        // All signals are unknown at first, as in a simulator.
        let dump =
            "$timescale 1ns $end\n$var wire 5 ! v2_s1 $end\n$enddefinitions $end\n#0\nbx !\n#1\nb111 !\n#3\nb1011 !\n";
        let filling = run(&netlist).window(&netlist.interface, 2);
        assert_eq!(first_difference(&netlist, &filling, dump.as_bytes()).unwrap(), None);
        let wrong = dump.replace("b1011", "b1010");
        let signal = first_difference(&netlist, &filling, wrong.as_bytes()).unwrap().unwrap();
        assert_eq!((signal.name.as_str(), signal.cycle), ("v2_s1", 2));
    }
}
