//! Files with an array for each output port of a state machine and a row for each cycle: an npz file, a folder of npy
//! files, or a single file if the machine has one port. (`verify::arrays` reads such files.)

use super::Failure;
use crate::diag::{Diagnostic, Place};
use crate::files::{Batch, Scratch};
use crate::interp::machine::ElementValue;
use crate::interp::samples::{Port, Values, Writer, write_npz};
use crate::ir::machine::{Machine, SignalId};
use crate::verify::arrays::{PORT_FILES, file_names, types_of};
use num_bigint::BigInt;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Number of rows that are written at a time.
const BLOCK: usize = 1024;

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension))
}

/// Writer for the values of output ports.
pub(super) struct Outputs {
    path: PathBuf,
    ports: Vec<OutputPort>,
    /// Temporary folder. Files are moved to their targets only when all of them are complete.
    folder: Scratch,
    codes: bool,
    /// `true` if undefined values are NaN; `false` if undefined registers start as 0.
    nan: bool,
    /// Number of undefined values so far.
    undefined: u64,
}

struct OutputPort {
    id: SignalId,
    file: String,
    types: Vec<Port>,
    writer: Writer,
    reals: Vec<f64>,
    wide: Vec<BigInt>,
}

impl Outputs {
    /// Starts the arrays of all output ports. `path` is an npz file; an npy file, a CSV file or `-` (CSV on stdout) for
    /// a machine with one output port; otherwise a folder. `codes` selects raw integer values instead of real numbers,
    /// and `nan` selects NaN for undefined real numbers.
    ///
    /// # Errors
    /// If the file format does not support the port types, or if temporary files cannot be written (exit code 2).
    pub(super) fn create(machine: &Machine, path: &Path, codes: bool, nan: bool) -> Result<Outputs, Failure> {
        let ids: Vec<SignalId> = machine.outputs().collect();
        let is_file = ["npy", "csv", "txt"].iter().any(|e| has_extension(path, e)) || path.as_os_str() == "-";
        if is_file && ids.len() != 1 {
            let place = Place::Flag("--output".into());
            let shown = if path.as_os_str() == "-" { "stdout".into() } else { path.display().to_string() };
            let message = format!("{shown} holds one output port, the machine has {}", ids.len());
            return Err(Failure::input(
                Diagnostic::error(PORT_FILES, place, message).with_help("name a .npz file or a folder: -o out.npz"),
            ));
        }
        let folder = Scratch::new().map_err(|e| Failure::io(&std::env::temp_dir(), "write", &e))?;
        let extension = match path.extension().and_then(OsStr::to_str) {
            Some(extension) if is_file && path.as_os_str() != "-" => extension.to_owned(),
            _ if is_file => "csv".to_owned(),
            _ => "npy".to_owned(),
        };
        let mut ports = Vec::with_capacity(ids.len());
        for (id, name) in ids.iter().zip(file_names(machine, ids.iter().copied())) {
            let file = format!("{name}.{extension}");
            let writer = Writer::create(&folder.path().join(&file), &machine.signal(*id).elements, codes, None);
            let (reals, wide) = (Vec::new(), Vec::new());
            let types = types_of(machine, *id);
            ports.push(OutputPort { id: *id, file, types, writer: writer.map_err(Failure::input)?, reals, wide });
        }
        Ok(Outputs { path: path.to_owned(), ports, folder, codes, nan, undefined: 0 })
    }

    /// Appends the values of the output ports in a cycle.
    ///
    /// # Errors
    /// If the files cannot be written (exit code 2).
    pub(super) fn write<'c>(&mut self, shown: impl Fn(SignalId) -> &'c [ElementValue]) -> Result<(), Failure> {
        for port in &mut self.ports {
            for (cell, kind) in shown(port.id).iter().zip(&port.types) {
                self.undefined += u64::from(!cell.defined);
                if self.codes {
                    port.wide.push(cell.code.clone());
                } else if cell.defined || !self.nan {
                    port.reals.push(kind.real_of_code(&cell.code).0);
                } else {
                    port.reals.push(f64::NAN);
                }
            }
            if port.wide.len().max(port.reals.len()) >= BLOCK * port.types.len() {
                port.flush()?;
            }
        }
        Ok(())
    }

    /// Writes the files to their targets. Returns the number of undefined values.
    ///
    /// # Errors
    /// If the files cannot be written (exit code 2).
    pub(super) fn finish(self) -> Result<u64, Failure> {
        let Outputs { path, ports, folder, undefined, .. } = self;
        let failed = |e: io::Error| Failure::io(&path, "write", &e);
        let mut files: Vec<(String, PathBuf)> = Vec::new();
        for mut port in ports {
            port.flush()?;
            port.writer.finish().map_err(Failure::input)?;
            let temporary = folder.path().join(&port.file);
            files.push((port.file, temporary));
        }
        let copy = |from: &Path, out: &mut dyn io::Write| io::copy(&mut File::open(from)?, out).map(|_| ());
        let mut batch = Batch::default();
        if has_extension(&path, "npz") {
            batch.add_with(&path, |out| write_npz(out, &files)).map_err(failed)?;
        } else if path.as_os_str() == "-" || ["npy", "csv", "txt"].iter().any(|e| has_extension(&path, e)) {
            batch.add_with(&path, |out| copy(&files[0].1, out)).map_err(failed)?;
        } else {
            std::fs::create_dir_all(&path).map_err(failed)?;
            for (name, from) in &files {
                batch.add_with(&path.join(name), |out| copy(from, out)).map_err(failed)?;
            }
        }
        batch.commit().map_err(failed)?;
        Ok(undefined)
    }
}

impl OutputPort {
    fn flush(&mut self) -> Result<(), Failure> {
        let block = match self.wide.is_empty() {
            true => Values::Reals(std::mem::take(&mut self.reals)),
            false => Values::Wide(std::mem::take(&mut self.wide)),
        };
        if block.is_empty() { Ok(()) } else { self.writer.write(&block, &[]).map_err(Failure::input) }
    }
}
