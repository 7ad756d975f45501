//! File of `--witness`: untrusted hints from the code generator to the prover.
//!
//! ```json
//! {"schema": "alir2hdl.witness/1", "programs": [ALIR, ...], "operations": ["v0", ...],
//!  "signals": [["v3_s1", 3, "_s1", "add v1 + v2, s9.4 [-16, 15]"], ...]}
//! ```
//!
//! `programs` are the intermediate programs of the optimisation. `operations` has the signal name of each operation of
//! the last program (without programs, of the model); `null` for an operation that only the file format needs. A signal
//! consists of its name in the RTL, its operation, the suffix after the operation's name, and its value as a comment. A
//! tool that renames signals of the RTL must rename the first member too.

use super::Failure;
use crate::compile::{SignalOrigin, Witness};
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::formats::{self, Format, Target};
use crate::ir::{Limits, Model, ValueId};
use crate::prove::steps::Steps;
use crate::rtl::Rtl;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::io::{self, Write};
use std::path::Path;

/// Name of the format.
const SCHEMA: &str = "alir2hdl.witness/1";

/// Writes a witness. Programs that the format cannot represent are omitted.
///
/// # Errors
/// Errors of `out`.
pub(super) fn write(witness: &Witness, out: &mut dyn Write) -> io::Result<()> {
    let said: Vec<_> = witness.programs.iter().filter_map(|p| formats::prepare(p, Target::Alir4).ok()).collect();
    write!(out, "{{\"schema\": \"{SCHEMA}\", \"programs\": [")?;
    for (k, program) in said.iter().enumerate() {
        out.write_all(if k == 0 { b"\n" } else { b",\n" })?;
        program.write(out)?;
    }
    // The names refer to the last program, so they are omitted without it.
    let last = witness.programs.last().map(|last| formats::prepare(last, Target::Alir4));
    let (count, place): (usize, Box<dyn Fn(u32) -> u32>) = match &last {
        None => (witness.names.len(), Box::new(|operation| operation)),
        Some(Ok(last)) => (last.model().nodes().len(), Box::new(|operation| last.place_of(ValueId(operation)).0)),
        Some(Err(_)) => return out.write_all(b"],\n\"operations\": [], \"signals\": []}\n"),
    };
    let mut names: Vec<Option<&str>> = vec![None; count];
    for (operation, name) in (0..).zip(&witness.names) {
        names[place(operation) as usize] = Some(name);
    }
    write!(out, "],\n\"operations\": {},\n\"signals\": [", serde_json::to_string(&names)?)?;
    for (k, SignalOrigin { signal, operation, part, shows }) in witness.signals.iter().enumerate() {
        let line = serde_json::to_string(&(signal, place(*operation), part, shows))?;
        write!(out, "{}{line}", if k == 0 { "\n" } else { ",\n" })?;
    }
    out.write_all(b"]}\n")
}

/// Content of the file.
#[derive(Deserialize)]
struct Form<'a> {
    schema: String,
    #[serde(borrow)]
    programs: Vec<&'a RawValue>,
    operations: Vec<Option<String>>,
    signals: Vec<(String, u32, String, String)>,
}

/// A parsed witness.
#[derive(Debug)]
pub(super) struct ParsedWitness {
    programs: Vec<Model>,
    /// Operations of the last program by signal name.
    names: FxHashMap<String, u32>,
    /// Expected name of each signal, and its value.
    signals: FxHashMap<String, (String, String)>,
}

/// Reads a witness, plain or gzip. The limits apply to each program of the witness.
///
/// # Errors
/// `E0912` and the errors of its programs (exit code 2).
pub(super) fn read(path: &Path, limits: Limits) -> Result<ParsedWitness, Failure> {
    let wrong = |found: Diagnostics| Failure::input(found.in_file(path));
    let file = formats::open(path).map_err(Failure::input)?;
    let (bytes, _) = formats::read_bytes(file, limits.max_bytes).map_err(wrong)?;
    parse(&bytes, &limits).map_err(wrong)
}

/// Reads the bytes of a witness.
fn parse(bytes: &[u8], limits: &Limits) -> Result<ParsedWitness, Diagnostics> {
    let no_witness = |what: String| {
        let help = "`alir2hdl MODEL --verilog FILE --witness WITNESS` writes one";
        Diagnostics::from(Diagnostic::error("E0912", Place::Whole, what).with_help(help))
    };
    let form: Form<'_> = serde_json::from_slice(bytes).map_err(|why| no_witness(format!("not a witness: {why}")))?;
    if form.schema != SCHEMA {
        return Err(no_witness(format!("a witness of the format {:?}; {SCHEMA} is supported", form.schema)));
    }
    let mut programs = Vec::new();
    for program in &form.programs {
        programs.push(formats::read(program.get().as_bytes(), limits, Some(Format::Alir))?.0);
    }
    // Only names that occur in generated RTL are valid.
    let legal = |name: &str| name.starts_with('v') && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let mut names = FxHashMap::default();
    for (operation, name) in (0..).zip(&form.operations) {
        if let Some(name) = name.as_ref().filter(|name| legal(name)) {
            names.insert(name.to_ascii_lowercase(), operation);
        }
    }
    let mut signals = FxHashMap::default();
    for (signal, operation, part, shows) in form.signals {
        let Some(Some(stem)) = form.operations.get(operation as usize) else {
            return Err(no_witness(format!("signal {signal:?} refers to operation {operation}, which has no name")));
        };
        let name = format!("{stem}{part}");
        if legal(&name) {
            signals.insert(signal.to_ascii_lowercase(), (name, shows));
        }
    }
    Ok(ParsedWitness { programs, names, signals })
}

impl ParsedWitness {
    /// Returns the RTL with signals renamed to the names of the code generator, and with the comments of the witness.
    pub(super) fn annotated(&self, rtl: &Rtl) -> Rtl {
        rtl.annotated(|name| self.signals.get(&name.to_ascii_lowercase()).cloned())
    }

    /// Returns the intermediate programs.
    pub(super) fn steps(&self) -> Steps {
        Steps { programs: self.programs.clone(), names: self.names.clone(), are_proved: false }
    }
}
