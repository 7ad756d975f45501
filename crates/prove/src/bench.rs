//! Testbench for a counterexample in a simulator: it applies the values, waits for the latency, and prints `MISMATCH`
//! with both values, or `MATCH`.

use super::equiv::{ControlNames, Counterexample};
use super::port_roles::{PortRoles, find_ports};
use alir_core::ir::Model;
use alir_hdl::Language;
use alir_hdl::{Rtl, SignalId};
use num_bigint::BigInt;
use std::fmt::Write;

/// Returns the bits of a raw integer value, high bit first.
fn bits_of(code: &BigInt, width: u32) -> String {
    (0..u64::from(width)).rev().map(|i| if code.bit(i) { '1' } else { '0' }).collect()
}

/// Returns Verilog that compares bits of a port with the expected ones and ends the simulation. With `MISMATCH` Icarus
/// exits with 1, and other simulators stop.
pub(crate) fn verilog_verdict(bits: &str, width: u32, expected: &str) -> String {
    format!(
        "        if ({bits} === {width}'b{expected}) begin
            $display(\"MATCH\");
            $finish;
        end
        else begin
            $display(\"MISMATCH: %b, expected {expected}\", {bits});
`ifdef __ICARUS__
            $finish_and_return(1);
`else
            $stop;
`endif
        end
"
    )
}

/// Returns the end of a VHDL testbench, which compares bits of a port with the expected ones: `MISMATCH` is a failure.
pub(crate) fn vhdl_verdict(bits: &str, expected: &str) -> String {
    format!(
        "        if {bits} = \"{expected}\" then
            report \"MATCH\";
        else
            report \"MISMATCH\" severity failure;
        end if;
        wait;
    end process;
end architecture;
"
    )
}

/// Returns the values for each data port, from the earliest cycle on; the last row is the cycle before the output is
/// observed.
fn rows(
    model: &Model,
    rtl: &Rtl,
    ports: &PortRoles,
    data: &[SignalId],
    latency: u32,
    c: &Counterexample,
) -> Vec<Vec<String>> {
    let deepest = c.others.iter().map(|o| o.0).max().unwrap_or(0).max(latency);
    let rest: Vec<BigInt> = vec![BigInt::ZERO; c.inputs.len()];
    let row = |codes: &[BigInt]| {
        let on_port = |&port: &SignalId| {
            let mut bits = vec!['0'; rtl.signal(port).width as usize];
            for ((place, code), kif) in ports.inputs.iter().zip(codes).zip(model.input_kifs()) {
                let Some((_, lo)) = place.filter(|p| p.0 == port) else { continue };
                for (i, bit) in bits_of(code, kif.width()).chars().rev().enumerate() {
                    let at = bits.len() - 1 - (lo as usize + i);
                    bits[at] = bit;
                }
            }
            bits.into_iter().collect()
        };
        data.iter().map(on_port).collect()
    };
    (0..=deepest)
        .rev()
        .map(|k| match c.others.iter().find(|o| o.0 == k) {
            _ if k == latency => row(&c.inputs),
            Some((_, codes)) => row(codes),
            None => row(&rest),
        })
        .collect()
}

/// Returns the testbench; `None` if the ports are not the model's, or the output has no bits.
pub fn testbench(
    language: Language,
    model: &Model,
    rtl: &Rtl,
    names: &ControlNames,
    latency: u32,
    c: &Counterexample,
) -> Option<String> {
    let ports = find_ports(model, rtl, names, None).ok()?;
    let (port, lo) = ports.outputs[c.output]?;
    let data: Vec<SignalId> =
        rtl.inputs.iter().copied().filter(|&s| ports.inputs.iter().flatten().any(|p| p.0 == s)).collect();
    let control: Vec<SignalId> =
        rtl.inputs.iter().copied().filter(|s| Some(*s) != ports.clock && !data.contains(s)).collect();
    let width = model.output_kif(c.output).width();
    let bench = Bench {
        rtl,
        clock: ports.clock,
        data: &data,
        control: &control,
        idle: ports.reset.map(|r| (r, ports.reset_low)),
        port,
        lo,
        width,
        rows: rows(model, rtl, &ports, &data, latency, c),
        expected: bits_of(&c.expected, width),
    };
    Some(match language {
        Language::Verilog | Language::SystemVerilog => bench.verilog(),
        Language::Vhdl => bench.vhdl(),
    })
}

struct Bench<'a> {
    rtl: &'a Rtl,
    clock: Option<SignalId>,
    data: &'a [SignalId],
    control: &'a [SignalId],
    port: SignalId,
    lo: u32,
    width: u32,
    /// Reset port, and its inactive level.
    idle: Option<(SignalId, bool)>,
    rows: Vec<Vec<String>>,
    expected: String,
}

impl Bench<'_> {
    fn name(&self, s: SignalId) -> &str {
        &self.rtl.signal(s).name
    }

    fn width_of(&self, s: SignalId) -> u32 {
        self.rtl.signal(s).width
    }

    /// Returns the level of a control port: resets are inactive, enables and valid flags active.
    fn level(&self, s: SignalId) -> u8 {
        u8::from(self.idle.is_none_or(|(reset, level)| reset != s || level))
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
            for (&s, share) in self.data.iter().zip(row) {
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
        t.push_str("        #5;\n");
        t.push_str(&verilog_verdict(&bits, self.width, &self.expected));
        t.push_str("    end\nendmodule\n");
        t
    }

    fn vhdl(&self) -> String {
        let mut t = String::from(
            "-- Shows a difference between the model and the file that was proved against it.\nlibrary ieee;\nuse \
             ieee.std_logic_1164.all;\n\nentity tb is\nend entity;\n\narchitecture sim of tb is\n",
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
            for (&s, share) in self.data.iter().zip(row) {
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
        t.push_str("        wait for 5 ns;\n");
        t.push_str(&vhdl_verdict(&bits, &self.expected));
        t
    }
}
