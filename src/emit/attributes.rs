//! Requests to synthesis that leave no trace in behaviour: shift registers and names.
//!
//! Vivado and Quartus spell them differently, so both spellings are written side by side; each tool reads its own and
//! yosys reads Vivado's `keep`. In VHDL an attribute has one type for all tools: Vivado's `keep` is a string, and
//! Quartus takes Synplify's boolean `syn_keep` and `syn_preserve` instead of its own boolean `keep`.

use super::Options;

/// What is asked of synthesis, beside tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Requests {
    /// Whether chains of registers may become shift register primitives; nothing: the tool's choice.
    pub(super) shreg_extract: Option<bool>,
    /// Whether every net keeps its name through synthesis.
    pub(super) keep_names: bool,
}

impl Requests {
    pub(super) fn of(options: &Options) -> Requests {
        Requests { shreg_extract: options.shreg_extract, keep_names: options.keep_names }
    }

    /// Vivado's and Quartus' values for shift registers.
    fn shift_registers(self) -> Option<(&'static str, &'static str)> {
        self.shreg_extract.map(|yes| match yes {
            true => ("yes", "-name AUTO_SHIFT_REGISTER_RECOGNITION ALWAYS"),
            false => ("no", "-name AUTO_SHIFT_REGISTER_RECOGNITION OFF"),
        })
    }

    /// The line ahead of a Verilog module that has registers.
    pub(super) fn verilog_module(self) -> Option<String> {
        self.shift_registers()
            .map(|(vivado, quartus)| format!("(* shreg_extract = \"{vivado}\", altera_attribute = \"{quartus}\" *)"))
    }

    /// Ahead of a Verilog wire.
    pub(super) fn verilog_net(self, wants_logic: bool) -> &'static str {
        match (wants_logic, self.keep_names) {
            (false, false) => "",
            (true, false) => "(* rom_style = \"distributed\", romstyle = \"logic\", syn_romstyle = \"logic\" *)\n    ",
            (false, true) => "(* keep = \"true\", syn_keep = 1 *) ",
            (true, true) => {
                "(* rom_style = \"distributed\", romstyle = \"logic\", syn_romstyle = \"logic\", keep = \"true\", \
                 syn_keep = 1 *)\n    "
            }
        }
    }

    /// Ahead of a Verilog register.
    pub(super) fn verilog_register(self) -> &'static str {
        if self.keep_names { "(* keep = \"true\", syn_preserve = 1 *) " } else { "" }
    }

    /// Declarations and specifications at the head of a VHDL architecture.
    pub(super) fn vhdl_architecture(self, has_registers: bool) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some((vivado, quartus)) = self.shift_registers().filter(|_| has_registers) {
            lines.push("attribute shreg_extract : string;".to_owned());
            lines.push("attribute altera_attribute : string;".to_owned());
            lines.push(format!("attribute shreg_extract of rtl : architecture is \"{vivado}\";"));
            lines.push(format!("attribute altera_attribute of rtl : architecture is \"{quartus}\";"));
        }
        if self.keep_names {
            lines.push("attribute keep : string;".to_owned());
            lines.push("attribute syn_keep : boolean;".to_owned());
            lines.push("attribute syn_preserve : boolean;".to_owned());
        }
        lines
    }

    /// Behind the declaration of a VHDL signal.
    pub(super) fn vhdl_signal(self, name: &str, register: bool) -> Vec<String> {
        if !self.keep_names {
            return Vec::new();
        }
        let quartus = if register { "syn_preserve" } else { "syn_keep" };
        vec![
            format!("attribute keep of {name} : signal is \"true\";"),
            format!("attribute {quartus} of {name} : signal is true;"),
        ]
    }
}
