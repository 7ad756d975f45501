//! A testbench that shows a counterexample in a simulator: it applies the values, waits for the latency, and says
//! `MISMATCH` with both values, or `MATCH`.

use super::equiv::Counterexample;
use super::rtl::{Rtl, SignalId};
use super::text::Language;
use super::unroll::clock_of;
use crate::ir::Model;
use crate::num::Kif;
use num_bigint::BigInt;
use std::fmt::Write;

/// The bits of a code in a type, high bit first.
fn bits_of(code: &BigInt, width: u32) -> String {
    (0..u64::from(width)).rev().map(|i| if code.bit(i) { '1' } else { '0' }).collect()
}

/// Element codes side by side, element 0 at the low end.
fn packed(codes: &[BigInt], kifs: &[Kif]) -> String {
    codes.iter().zip(kifs).rev().map(|(c, k)| bits_of(c, k.width())).collect()
}

/// What is applied to each input port, from the earliest clock on; the last row is the one before the output is seen.
fn rows(model: &Model, latency: u32, c: &Counterexample) -> Vec<String> {
    let deepest = c.others.iter().map(|o| o.0).max().unwrap_or(0).max(latency);
    let rest: Vec<BigInt> = vec![BigInt::ZERO; c.inputs.len()];
    (0..=deepest)
        .rev()
        .map(|k| {
            let codes = match c.others.iter().find(|o| o.0 == k) {
                _ if k == latency => &c.inputs,
                Some((_, codes)) => codes,
                None => &rest,
            };
            packed(codes, model.input_kifs())
        })
        .collect()
}

/// The testbench.
pub fn testbench(language: Language, model: &Model, rtl: &Rtl, latency: u32, c: &Counterexample) -> String {
    let clock = clock_of(rtl).ok().flatten().map(|(s, _)| s);
    let data: Vec<SignalId> = rtl.inputs.iter().copied().filter(|&s| Some(s) != clock && is_data(rtl, s)).collect();
    let control: Vec<SignalId> =
        rtl.inputs.iter().copied().filter(|s| Some(*s) != clock && !data.contains(s)).collect();
    let outputs: Vec<SignalId> = rtl.outputs.iter().copied().filter(|&s| is_data(rtl, s)).collect();
    // The output element's port and lowest bit there.
    let lo: u32 = (0..c.output).map(|j| model.output_kif(j).width()).sum();
    let width = model.output_kif(c.output).width();
    let (port, lo) = match outputs[..] {
        [only] => (only, lo),
        _ => {
            let with_bits = (0..c.output).filter(|&j| model.output_kif(j).width() > 0).count();
            (outputs.get(with_bits).copied().unwrap_or(SignalId(0)), 0)
        }
    };
    let bench = Bench {
        rtl,
        clock,
        data: &data,
        control: &control,
        port,
        lo,
        width,
        rows: rows(model, latency, c),
        expected: bits_of(&c.expected, width),
    };
    match language {
        Language::Verilog => bench.verilog(),
        Language::Vhdl => bench.vhdl(),
    }
}

fn is_data(rtl: &Rtl, s: SignalId) -> bool {
    let name = rtl.signal(s).name.to_ascii_lowercase();
    !matches!(
        name.as_str(),
        "rst" | "reset" | "ce" | "enable" | "en" | "clk" | "valid_in" | "valid_out" | "in_valid" | "out_valid"
    )
}

struct Bench<'a> {
    rtl: &'a Rtl,
    clock: Option<SignalId>,
    data: &'a [SignalId],
    control: &'a [SignalId],
    port: SignalId,
    lo: u32,
    width: u32,
    rows: Vec<String>,
    expected: String,
}

impl Bench<'_> {
    fn name(&self, s: SignalId) -> &str {
        &self.rtl.signal(s).name
    }

    fn width_of(&self, s: SignalId) -> u32 {
        self.rtl.signal(s).width
    }

    /// Each data port's share of a row, the first port at the low end.
    fn shares<'r>(&self, row: &'r str) -> Vec<&'r str> {
        let mut end = row.len();
        let mut out = Vec::new();
        for &s in self.data {
            let start = end.saturating_sub(self.width_of(s) as usize);
            out.push(&row[start..end]);
            end = start;
        }
        out
    }

    /// Resets are inactive, enables and valid flags active.
    fn level(&self, s: SignalId) -> u8 {
        u8::from(!self.name(s).to_ascii_lowercase().starts_with("r"))
    }

    fn verilog(&self) -> String {
        let mut t = String::from(
            "// Shows a difference between the model and the file that was proved against it.\nmodule tb;\n",
        );
        let range = |w: u32| if w == 1 { String::new() } else { format!("[{}:0] ", w - 1) };
        for &s in self.data.iter().chain(self.control).chain(&self.clock) {
            let _ = writeln!(t, "    reg {}{};", range(self.width_of(s)), self.name(s));
        }
        for &s in &self.rtl.outputs {
            let _ = writeln!(t, "    wire {}{};", range(self.width_of(s)), self.name(s));
        }
        let all: Vec<String> =
            self.rtl.inputs.iter().chain(&self.rtl.outputs).map(|&s| format!(".{0}({0})", self.name(s))).collect();
        let _ = writeln!(t, "    {} dut ({});", self.rtl.top, all.join(", "));
        t.push_str("    initial begin\n");
        for &s in self.control {
            let _ = writeln!(t, "        {} = {};", self.name(s), self.level(s));
        }
        if let Some(clock) = self.clock {
            let _ = writeln!(t, "        {} = 0;", self.name(clock));
        }
        for (i, row) in self.rows.iter().enumerate() {
            for (&s, share) in self.data.iter().zip(self.shares(row)) {
                let _ = writeln!(t, "        {} = {}'b{share};", self.name(s), self.width_of(s));
            }
            if let Some(clock) = self.clock
                && i + 1 < self.rows.len()
            {
                let _ = writeln!(t, "        #5 {0} = 1; #5 {0} = 0;", self.name(clock));
            }
        }
        let bits = if self.width_of(self.port) == 1 {
            self.name(self.port).to_owned()
        } else {
            format!("{}[{}:{}]", self.name(self.port), self.lo + self.width - 1, self.lo)
        };
        let _ = writeln!(t, "        #5 if ({bits} === {}'b{})", self.width, self.expected);
        let _ = writeln!(t, "            $display(\"MATCH\");");
        let _ = writeln!(t, "        else");
        let _ = writeln!(t, "            $display(\"MISMATCH: %b, expected {}\", {bits});", self.expected);
        t.push_str("        $finish;\n    end\nendmodule\n");
        t
    }

    fn vhdl(&self) -> String {
        let mut t = String::from(
            "-- Shows a difference between the model and the file that was proved against it.\nlibrary ieee;\nuse ieee.std_logic_1164.all;\n\nentity tb is\nend entity;\n\narchitecture sim of tb is\n",
        );
        let scalar = |s: &Self, id: SignalId| s.width_of(id) == 1 && !s.data.contains(&id) && id != s.port;
        for &s in self.rtl.inputs.iter().chain(&self.rtl.outputs) {
            let ty = if scalar(self, s) {
                "std_logic".to_owned()
            } else {
                format!("std_logic_vector({} downto 0)", self.width_of(s) - 1)
            };
            let _ = writeln!(t, "    signal {} : {ty};", self.name(s));
        }
        let all: Vec<String> =
            self.rtl.inputs.iter().chain(&self.rtl.outputs).map(|&s| format!("{0} => {0}", self.name(s))).collect();
        let _ = writeln!(t, "begin\n    dut : entity work.{} port map ({});", self.rtl.top, all.join(", "));
        t.push_str("    process\n    begin\n");
        for &s in self.control {
            let _ = writeln!(t, "        {} <= '{}';", self.name(s), self.level(s));
        }
        if let Some(clock) = self.clock {
            let _ = writeln!(t, "        {} <= '0';", self.name(clock));
        }
        for (i, row) in self.rows.iter().enumerate() {
            for (&s, share) in self.data.iter().zip(self.shares(row)) {
                let _ = writeln!(t, "        {} <= \"{share}\";", self.name(s));
            }
            if let Some(clock) = self.clock
                && i + 1 < self.rows.len()
            {
                let c = self.name(clock);
                let _ = writeln!(t, "        wait for 5 ns; {c} <= '1'; wait for 5 ns; {c} <= '0';");
            }
        }
        let bits = format!("{}({} downto {})", self.name(self.port), self.lo + self.width - 1, self.lo);
        let _ = writeln!(t, "        wait for 5 ns;\n        if {bits} = \"{}\" then", self.expected);
        t.push_str("            report \"MATCH\";\n        else\n            report \"MISMATCH\";\n        end if;\n        wait;\n    end process;\nend architecture;\n");
        t
    }
}
