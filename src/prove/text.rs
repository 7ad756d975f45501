//! Which language a file is in, and reading it.

use super::rtl::Rtl;
use crate::diag::{Diagnostic, Place};
use std::path::Path;

/// A language that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Verilog-2001.
    Verilog,
    /// VHDL-93 and VHDL-2008 with `numeric_std`.
    Vhdl,
}

impl Language {
    /// By the file's name, or by its text where the name does not tell.
    pub fn of(path: &Path, text: &str) -> Language {
        match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("v" | "sv" | "vh") => Language::Verilog,
            Some("vhd" | "vhdl") => Language::Vhdl,
            _ if text.to_ascii_lowercase().contains("end architecture") => Language::Vhdl,
            _ => Language::Verilog,
        }
    }
}

/// Stack of the thread that reads: deep expressions of large files.
const STACK: usize = 1 << 30;

/// Reads a file.
///
/// # Errors
/// Where the text is not the language, or not in the subset that can be proved.
pub fn read(language: Language, text: &str, top: Option<&str>) -> Result<Rtl, Diagnostic> {
    // Readers recurse over expressions, within the bounds that their parsers set.
    std::thread::scope(|s| {
        let reader = std::thread::Builder::new().stack_size(STACK).spawn_scoped(s, || match language {
            Language::Verilog => super::verilog::read(text, top),
            Language::Vhdl => super::vhdl::read(text, top),
        });
        match reader {
            Ok(handle) => handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(e) => Err(Diagnostic::error("E0905", Place::Whole, format!("cannot start a thread to read with: {e}"))),
        }
    })
}
