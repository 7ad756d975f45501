//! Synthesis attributes, which do not affect behaviour: shift registers, tables, multipliers and names.
//!
//! Vivado and Quartus have different attributes, so the files contain both; each tool reads its own, and yosys reads
//! Vivado's `keep`. In VHDL an attribute has one type for all tools: Vivado's `keep` is a string, so Quartus gets
//! Synplify's boolean `syn_keep` and `syn_preserve` instead of its own boolean `keep`.

use super::Options;

/// Attributes requested from synthesis, except for tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Requests {
    /// `Some(true)` if chains of registers may become shift register primitives; `None` leaves the choice to the tool.
    pub(super) shreg_extract: Option<bool>,
    /// `true` if every net keeps its name through synthesis.
    pub(super) keep_names: bool,
    /// `true` if products use DSPs.
    use_dsp: bool,
}

/// Attribute requested from synthesis for one net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttributeRequest {
    /// A table that becomes logic.
    Logic,
    /// A table that becomes a BRAM.
    Block,
    /// A product that becomes a DSP.
    Dsp,
}

impl Requests {
    pub(super) fn from_options(options: &Options) -> Requests {
        Requests { shreg_extract: options.shreg_extract, keep_names: options.keep_names, use_dsp: options.use_dsp }
    }

    /// Returns the request for a net. `table` is the request of the table that the net reads, if any; `product` is
    /// `true` if the net is a product.
    pub(super) fn request(self, table: Option<AttributeRequest>, product: bool) -> Option<AttributeRequest> {
        table.or((product && self.use_dsp).then_some(AttributeRequest::Dsp))
    }

    /// Returns the values of Vivado's and Quartus' attributes for shift registers.
    fn shift_registers(self) -> Option<(&'static str, &'static str)> {
        self.shreg_extract.map(|yes| match yes {
            true => ("yes", "-name AUTO_SHIFT_REGISTER_RECOGNITION ALWAYS"),
            false => ("no", "-name AUTO_SHIFT_REGISTER_RECOGNITION OFF"),
        })
    }

    /// Returns the attribute line before a Verilog module with registers.
    pub(super) fn verilog_module(self) -> Option<String> {
        self.shift_registers()
            .map(|(vivado, quartus)| format!("(* shreg_extract = \"{vivado}\", altera_attribute = \"{quartus}\" *)"))
    }

    /// Returns the attributes before a Verilog wire.
    pub(super) fn verilog_net(self, request: Option<AttributeRequest>) -> &'static str {
        match (request, self.keep_names) {
            (None, false) => "",
            (Some(AttributeRequest::Dsp), false) => "(* use_dsp = \"yes\", multstyle = \"dsp\" *) ",
            (Some(AttributeRequest::Dsp), true) => {
                "(* use_dsp = \"yes\", multstyle = \"dsp\", keep = \"true\", syn_keep = 1 *)\n    "
            }
            (Some(AttributeRequest::Logic), false) => {
                "(* rom_style = \"distributed\", romstyle = \"logic\", syn_romstyle = \"logic\" *)\n    "
            }
            (Some(AttributeRequest::Block), false) => "(* rom_style = \"block\", syn_romstyle = \"block_rom\" *)\n    ",
            (Some(AttributeRequest::Block), true) => {
                "(* rom_style = \"block\", syn_romstyle = \"block_rom\", keep = \"true\", syn_keep = 1 *)\n    "
            }
            (None, true) => "(* keep = \"true\", syn_keep = 1 *) ",
            (Some(AttributeRequest::Logic), true) => {
                "(* rom_style = \"distributed\", romstyle = \"logic\", syn_romstyle = \"logic\", keep = \"true\", \
                 syn_keep = 1 *)\n    "
            }
        }
    }

    /// Returns the attributes before a Verilog register.
    pub(super) fn verilog_register(self) -> &'static str {
        if self.keep_names { "(* keep = \"true\", syn_preserve = 1 *) " } else { "" }
    }

    /// Returns the declarations and specifications at the beginning of a VHDL architecture.
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

    /// Returns names and values of the attributes that a VHDL signal has for a request.
    pub(super) fn vhdl_values(request: AttributeRequest) -> &'static [(&'static str, &'static str)] {
        match request {
            AttributeRequest::Logic => {
                &[("rom_style", "distributed"), ("romstyle", "logic"), ("syn_romstyle", "logic")]
            }
            AttributeRequest::Block => &[("rom_style", "block"), ("syn_romstyle", "block_rom")],
            AttributeRequest::Dsp => &[("use_dsp", "yes"), ("multstyle", "dsp")],
        }
    }

    /// Returns the attribute specifications that follow the declaration of a VHDL signal.
    pub(super) fn vhdl_signal(self, name: &str, register: bool, request: Option<AttributeRequest>) -> Vec<String> {
        let mut lines = Vec::new();
        if self.keep_names {
            let quartus = if register { "syn_preserve" } else { "syn_keep" };
            lines.push(format!("attribute keep of {name} : signal is \"true\";"));
            lines.push(format!("attribute {quartus} of {name} : signal is true;"));
        }
        let wanted = request.map_or(&[] as &[_], Requests::vhdl_values).iter();
        lines.extend(
            wanted.map(|(attribute, value)| format!("attribute {attribute} of {name} : signal is \"{value}\";")),
        );
        lines
    }
}
