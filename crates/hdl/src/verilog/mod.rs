//! Front end for synthesizable Verilog-2001, written against IEEE 1364-2001.
//!
//! [`read`] elaborates a file to [`Rtl`]. Operators have the widths, signs and precedence of the standard. The subset
//! includes selects, concatenations, functions, clocked and combinational processes, loops with constant bounds,
//! parameters, generate blocks, hierarchy, and memories that an `initial` block fills with constants or from files.
//! Constructs outside of the subset are rejected with their position, never guessed. The front end shares no code with
//! the Verilog code generator.

mod ast;
mod elab;
mod lexer;
mod parser;
pub(crate) mod preprocess;

use super::source::{error, place};
use super::{FindData, Rtl};
use alir_core::diag::Diagnostic;
use ast::{Expr, File};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;

/// Reads a file. Without `top`, the top module is the one that no other module instantiates.
///
/// # Errors
/// `E0903` with line and column if `text` is not Verilog or outside of the subset; `E0904` for a signal without driver,
/// with several drivers, or with a combinational loop.
pub(crate) fn read(text: &str, top: Option<&str>, find: &FindData<'_>) -> Result<Rtl, Diagnostic> {
    let text = &*preprocess::preprocess(text)?;
    let file = parser::parse(text)?;
    let mut rtl = elab::elaborate(text, &file, top, find)?;
    super::loops::untangle(&mut rtl, |at| place(text, at))?;
    Ok(rtl)
}

/// Returns the names of the modules of a source, in order.
///
/// # Errors
/// `E0903` if `text` is not Verilog.
pub(crate) fn modules(text: &str) -> Result<Vec<String>, Diagnostic> {
    let text = &*preprocess::preprocess(text)?;
    let file = parser::parse(text)?;
    Ok(file.modules.iter().map(|module| file.names[module.name as usize].clone()).collect())
}

/// Number literal of Verilog, as in connections of netlists.
#[derive(Clone, Debug)]
pub(super) struct Number {
    pub(super) value: BigUint,
    /// Mask of the bits that are `x`, `z` or `?`.
    pub(super) unknown: BigUint,
    pub(super) width: u32,
    pub(super) signed: bool,
}

impl Number {
    /// Parses a number.
    ///
    /// # Errors
    /// A message about the invalid number.
    pub(super) fn parse(text: &str) -> Result<Number, String> {
        let lexer::Number { value, unknown, width, signed, .. } = lexer::parse_number(text)?;
        Ok(Number { value, unknown, width, signed })
    }
}

/// Cell library, whose modules are elaborated one by one with parameters.
pub(super) struct Library {
    text: String,
    file: File,
    modules: FxHashMap<String, usize>,
}

impl Library {
    /// Parses a library.
    ///
    /// # Errors
    /// `E0903` if `text` is not Verilog.
    pub(super) fn parse(text: &str) -> Result<Library, Diagnostic> {
        let text = preprocess::preprocess(text)?.into_owned();
        let file = parser::parse(&text)?;
        let modules = file.modules.iter().enumerate();
        let modules = modules.map(|(i, m)| (file.names[m.name as usize].clone(), i)).collect();
        Ok(Library { text, file, modules })
    }

    /// Returns `true` if the library has a module with this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.modules.contains_key(name)
    }

    /// Returns the names of the modules.
    #[cfg(test)]
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.modules.keys().map(String::as_str)
    }

    /// Elaborates a module with parameter values as Verilog text. Values without a name are assigned in the order of
    /// the declarations.
    ///
    /// # Errors
    /// A message with a position in the library, or `E0903` for a value that is not constant.
    pub(super) fn elaborate(&mut self, name: &str, params: &[(Option<&str>, &str)]) -> Result<Rtl, Diagnostic> {
        let Some(&module) = self.modules.get(name) else {
            return Err(error(&self.text, 0, format!("no module is called {name}")));
        };
        let (exprs, names) = (self.file.exprs.len(), self.file.names.len());
        let mut given = Vec::with_capacity(params.len());
        for &(param, value) in params {
            let sym = param.map(|param| match self.file.names.iter().position(|n| n == param) {
                Some(known) => known as u32,
                None => {
                    self.file.names.push(param.to_owned());
                    self.file.names.len() as u32 - 1
                }
            });
            let parsed = match value.starts_with('"') {
                true => lexer::parse_text(value).map(|(value, width)| (value, BigUint::ZERO, width, false)),
                false => lexer::parse_number(value.strip_prefix('-').unwrap_or(value)).map(|n| {
                    let modulus = BigUint::from(1u8) << n.width;
                    let value = if value.starts_with('-') { (&modulus - n.value) % &modulus } else { n.value };
                    (value, n.unknown, n.width, n.signed)
                }),
            };
            let (value, unknown, width, signed) = parsed.map_err(|message| error(&self.text, 0, message))?;
            let open = BigUint::ZERO;
            self.file.exprs.push(Expr::Number { value, unknown, open, width, signed, sized: true });
            self.file.at.push(0);
            given.push((sym, self.file.exprs.len() as u32 - 1));
        }
        let result = elab::elaborate_module(&self.text, &self.file, module, &given).and_then(|mut rtl| {
            super::loops::untangle(&mut rtl, |at| place(&self.text, at))?;
            Ok(rtl)
        });
        self.file.exprs.truncate(exprs);
        self.file.at.truncate(exprs);
        self.file.names.truncate(names);
        result
    }
}
