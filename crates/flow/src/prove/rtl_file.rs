//! RTL as the prover reads it, and the files that it rejects.

use crate::compile::ASSUMPTION;
use alir_core::diag::{Diagnostic, Diagnostics, Place};
use alir_formats as formats;
use alir_hdl::{self as rtl, Language, Rtl};
use std::sync::Arc;

/// Parsed RTL.
pub struct RtlFile {
    /// The design.
    pub rtl: Rtl,
    /// Language of the source.
    pub language: Language,
    /// The source; `None` if the design was not read from one source.
    pub source: Option<Arc<str>>,
}

impl RtlFile {
    /// Parses a source.
    ///
    /// # Errors
    /// If the source is a model (`E0911`), assumes input intervals (`E0907`), or cannot be parsed.
    pub fn read(source: &str, language: Language, top: Option<&str>) -> Result<RtlFile, Diagnostics> {
        RtlFile::check(source)?;
        let rtl = rtl::read(language, source, top)?;
        Ok(RtlFile { rtl, language, source: Some(source.into()) })
    }

    /// Rejects a source about which nothing can be proved for every input.
    ///
    /// # Errors
    /// If the source is a model (`E0911`) or assumes input intervals (`E0907`).
    pub fn check(source: &str) -> Result<(), Diagnostic> {
        if formats::shows_model(source.as_bytes()) && !rtl::netlist::is_json(source.as_bytes()) {
            let message = "this is a model, not Verilog or VHDL";
            let help = "the order is `alir2hdl prove MODEL FILE`; `alir2hdl diff A B` compares two models";
            return Err(Diagnostic::error("E0911", Place::Whole, message).with_help(help));
        }
        let header = source.lines().take_while(|line| line.starts_with("//") || line.starts_with("--"));
        if header.into_iter().any(|line| line.ends_with(ASSUMPTION)) {
            let message = "the header comment states that inputs are assumed to stay in declared intervals";
            let help = "a proof is about every input: write the file without --assume-intervals, or run \
                        `verify --assume-intervals`";
            return Err(Diagnostic::error("E0907", Place::Whole, message).with_help(help));
        }
        Ok(())
    }
}

/// Suffix of a port name of an AXI4-Stream wrapper, with the following space.
const STREAM_PORT: &str = "_tdata ";

/// Returns the error that a file has other ports than the design, so that it belongs to another design.
pub fn other_ports(reason: &str) -> Diagnostic {
    let help = match reason.contains(STREAM_PORT) {
        true => "these are the ports of an AXI4-Stream wrapper: --top takes the module in it, such as --top NAME_core",
        false => "give the file of this model; --port names control ports, --top takes another module",
    };
    Diagnostic::error("E0930", Place::Whole, reason).with_help(help)
}
