//! Testbench for a counterexample: it applies the inputs cycle by cycle, and prints `MISMATCH` with the observed value,
//! or `MATCH`.

use super::CounterexampleTrace;
use super::port_pairs::{self, PortPairs};
use crate::bench::{verilog_verdict, vhdl_verdict};
use crate::unroll::clock_of;
use alir_core::ir::machine::{Machine, SignalId};
use alir_hdl::Language;
use alir_hdl::{self, Rtl};
use num_bigint::BigInt;
use std::fmt::Write;

/// Returns the testbench; `None` if the ports of machine and file do not match.
pub fn testbench(language: Language, machine: &Machine, rtl: &Rtl, c: &CounterexampleTrace) -> Option<String> {
    let ports = port_pairs::find(machine, rtl).ok()?;
    let output = machine.outputs().find(|&id| machine.signal(id).name == c.output)?;
    let port = *ports.outputs.get(&output)?;
    let elements = &machine.signal(output).elements;
    let lo: u32 = elements[..c.element].iter().map(|kif| kif.width()).sum();
    let width = elements[c.element].width();
    let clock = clock_of(rtl).ok().flatten().map(|(s, _)| s);
    let bench = Bench { machine, rtl, ports: &ports, clock, c, port, lo, width };
    Some(match language {
        Language::Verilog | Language::SystemVerilog => bench.verilog(),
        Language::Vhdl => bench.vhdl(),
    })
}

struct Bench<'a> {
    machine: &'a Machine,
    rtl: &'a Rtl,
    ports: &'a PortPairs,
    clock: Option<alir_hdl::SignalId>,
    c: &'a CounterexampleTrace,
    port: alir_hdl::SignalId,
    lo: u32,
    width: u32,
}

/// Returns the bits of a raw integer value, high bit first.
fn bits_of(code: &BigInt, width: u32) -> String {
    (0..u64::from(width)).rev().map(|i| if code.bit(i) { '1' } else { '0' }).collect()
}

impl Bench<'_> {
    fn name(&self, s: alir_hdl::SignalId) -> &str {
        &self.rtl.signal(s).name
    }

    fn width_of(&self, s: alir_hdl::SignalId) -> u32 {
        self.rtl.signal(s).width
    }

    /// Returns the values of the file's input ports in one cycle.
    fn applied(&self, row: &[BigInt]) -> Vec<(alir_hdl::SignalId, String)> {
        let mut row = row.iter();
        let mut words: Vec<(SignalId, String)> = Vec::new();
        for id in self.machine.inputs() {
            let codes = self.machine.signal(id).elements.iter().zip(row.by_ref());
            let parts: Vec<String> = codes.map(|(kif, code)| bits_of(code, kif.width())).collect();
            // Element 0 is in the low bits.
            words.push((id, parts.into_iter().rev().collect()));
        }
        let word = |id: SignalId| words.iter().find(|w| w.0 == id).map(|w| w.1.clone()).unwrap_or_default();
        let inputs = self.rtl.inputs.iter().filter_map(|&s| Some((s, word(*self.ports.inputs.get(&s)?))));
        inputs.collect()
    }

    fn expected(&self) -> String {
        bits_of(&self.c.expected, self.width)
    }

    fn verilog(&self) -> String {
        let mut t = String::from(
            "// Shows a difference between the machine and the file that was compared with it.\nmodule tb;\n",
        );
        let range = |s| format!("[{}:0] ", self.width_of(s) - 1);
        for &s in &self.rtl.inputs {
            let _ = writeln!(t, "    reg {}{};", range(s), self.name(s));
        }
        for &s in &self.rtl.outputs {
            let _ = writeln!(t, "    wire {}{};", range(s), self.name(s));
        }
        let all: Vec<String> =
            self.rtl.inputs.iter().chain(&self.rtl.outputs).map(|&s| format!(".{0}({0})", self.name(s))).collect();
        let _ = writeln!(t, "    {} dut ({});\n    initial begin", self.rtl.top, all.join(", "));
        if let Some(clock) = self.clock {
            let _ = writeln!(t, "        {} = 0;", self.name(clock));
        }
        for (cycle, row) in self.c.inputs.iter().enumerate() {
            let _ = writeln!(t, "        // cycle {cycle}");
            for (s, word) in self.applied(row) {
                let _ = writeln!(t, "        {} = {}'b{word};", self.name(s), self.width_of(s));
            }
            match self.clock {
                Some(clock) if cycle < self.c.cycle => {
                    let _ = writeln!(t, "        #5 {0} = 1; #5 {0} = 0;", self.name(clock));
                }
                _ => t.push_str("        #5;\n"),
            }
        }
        let bits = format!("{}[{}:{}]", self.name(self.port), self.lo + self.width - 1, self.lo);
        t.push_str(&verilog_verdict(&bits, self.width, &self.expected()));
        t.push_str("    end\nendmodule\n");
        t
    }

    fn vhdl(&self) -> String {
        let mut t = String::from(
            "-- Shows a difference between the machine and the file that was compared with it.\nlibrary ieee;\n\
             use ieee.std_logic_1164.all;\n\nentity tb is\nend entity;\n\narchitecture sim of tb is\n",
        );
        for &s in self.rtl.inputs.iter().chain(&self.rtl.outputs) {
            let vector = format!("std_logic_vector({} downto 0)", self.width_of(s) - 1);
            let ty = if Some(s) == self.clock { "std_logic" } else { &vector };
            let _ = writeln!(t, "    signal {} : {ty};", self.name(s));
        }
        let all: Vec<String> =
            self.rtl.inputs.iter().chain(&self.rtl.outputs).map(|&s| format!("{0} => {0}", self.name(s))).collect();
        let _ = writeln!(t, "begin\n    dut : entity work.{} port map ({});", self.rtl.top, all.join(", "));
        t.push_str("    process\n    begin\n");
        if let Some(clock) = self.clock {
            let _ = writeln!(t, "        {} <= '0';", self.name(clock));
        }
        for (cycle, row) in self.c.inputs.iter().enumerate() {
            let _ = writeln!(t, "        -- cycle {cycle}");
            for (s, word) in self.applied(row) {
                let _ = writeln!(t, "        {} <= \"{word}\";", self.name(s));
            }
            match self.clock {
                Some(clock) if cycle < self.c.cycle => {
                    let c = self.name(clock);
                    let _ = writeln!(t, "        wait for 5 ns; {c} <= '1'; wait for 5 ns; {c} <= '0';");
                }
                _ => t.push_str("        wait for 5 ns;\n"),
            }
        }
        let bits = format!("{}({} downto {})", self.name(self.port), self.lo + self.width - 1, self.lo);
        t.push_str(&vhdl_verdict(&bits, &self.expected()));
        t
    }
}
