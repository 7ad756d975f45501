//! Files with an array for each port of a state machine, a row a cycle: an npz, a folder of npy files, or one file for a
//! machine with one port.

use super::Failure;
use crate::diag::{Diagnostic, Place};
use crate::files::{Batch, Protected, Scratch};
use crate::interp::batch::Fault;
use crate::interp::machine::Cell;
use crate::interp::samples::{Port, Reader, Values, Writer, write_npz};
use crate::ir::machine::{Machine, SignalId};
use crate::netlist::names::legalise;
use crate::verify::Rows;
use num_bigint::BigInt;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Rows that are read and written at a time.
const BLOCK: usize = 1024;

/// The name of a port in the names of files and arrays: the file's own where that is harmless.
fn file_names(machine: &Machine, ports: impl Iterator<Item = SignalId>) -> Vec<String> {
    let harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut names: Vec<String> = Vec::new();
    for port in ports {
        let own = &machine.signal(port).name;
        let plain = own.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && own.chars().all(harmless);
        let base =
            if plain && own.len() < 200 { own.clone() } else { legalise(&own.chars().take(80).collect::<String>()) };
        let taken = |name: &String| names.iter().any(|n| n.eq_ignore_ascii_case(name));
        let numbered = std::iter::once(base.clone()).chain((2u32..).map(|n| format!("{base}_{n}")));
        names.push(numbered.into_iter().find(|name| !taken(name)).expect("fewer names than numbers"));
    }
    names
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension))
}

fn types_of(machine: &Machine, port: SignalId) -> Vec<Port> {
    machine.signal(port).elements.iter().map(|&kif| Port { kif, frac: i64::from(kif.frac) }).collect()
}

/// What is applied to the input ports.
pub(super) struct Inputs {
    ports: Vec<InputPort>,
    codes: bool,
    cycle: u64,
}

struct InputPort {
    name: String,
    types: Vec<Port>,
    reader: Reader,
    block: Values,
    /// The file is not written while it is read.
    _protected: Protected,
    /// Rows of the block, and how many of them were taken.
    rows: usize,
    taken: usize,
}

impl Inputs {
    /// Opens the arrays of all input ports. `codes` says that they hold codes, not reals.
    ///
    /// # Errors
    /// If one is missing or not such an array (exit code 2).
    pub(super) fn open(machine: &Machine, path: &Path, codes: bool) -> Result<Inputs, Failure> {
        let ids: Vec<SignalId> = machine.inputs().collect();
        let names = file_names(machine, ids.iter().copied());
        let single = ids.len() == 1;
        let mut ports = Vec::with_capacity(ids.len());
        for (id, file_name) in ids.into_iter().zip(names) {
            let signal = machine.signal(id);
            let open = |path: &Path, array: Option<&str>| Reader::open(path, array, &signal.elements, codes);
            let candidates = [format!("{file_name}.npy"), format!("in.{file_name}.npy")].map(|n| path.join(n));
            let file = candidates.into_iter().find(|p| p.is_file());
            let reader = if path.is_dir() {
                match &file {
                    Some(file) => open(file, None),
                    None => {
                        let place = Place::Path(path.display().to_string());
                        let message = format!("there is no {file_name}.npy for input port {:?}", signal.name);
                        Err(Diagnostic::error("E0711", place, message)
                            .with_help("a folder has an npy for each input port"))
                    }
                }
            } else if single && !has_extension(path, "npz") {
                open(path, None)
            } else {
                open(path, Some(&signal.name)).or_else(|e| open(path, Some(&file_name)).map_err(|_| e))
            };
            let reader = reader.map_err(Failure::input)?;
            ports.push(InputPort {
                name: signal.name.clone(),
                types: types_of(machine, id),
                _protected: Protected::new(file.as_deref()),
                reader,
                block: Values::default(),
                rows: 0,
                taken: 0,
            });
        }
        Ok(Inputs { ports, codes, cycle: 0 })
    }

    /// Codes of all input elements in the next cycle; nothing at the end.
    ///
    /// # Errors
    /// If an array cannot be read, ends before another, or has a number without code (exit code 2).
    pub(super) fn next(&mut self) -> Result<Option<Vec<BigInt>>, Failure> {
        let mut row = Vec::new();
        let mut ended = 0;
        for port in &mut self.ports {
            if port.taken == port.rows {
                port.rows = port.reader.read(BLOCK, &mut port.block).map_err(Failure::input)?;
                port.taken = 0;
            }
            if port.rows == 0 {
                ended += 1;
                continue;
            }
            let first = port.taken * port.types.len();
            for (k, &kind) in port.types.iter().enumerate() {
                let code = port.block.code(first + k, kind, self.codes).map_err(|reason| {
                    let place = Place::Path(format!("{}, port {:?}", port.reader.name(), port.name));
                    Failure::input(Fault::Input { input: k, reason }.in_cycle(place, self.cycle))
                })?;
                row.push(code);
            }
            port.taken += 1;
        }
        if ended > 0 && ended < self.ports.len() {
            let short = self.ports.iter().find(|p| p.rows == 0).expect("one has ended");
            let place = Place::Path(short.reader.name().to_owned());
            let message = format!("{:?} has {} rows, other input ports have more", short.name, self.cycle);
            return Err(Failure::input(
                Diagnostic::error("E0711", place, message).with_help("every input port needs a row for each cycle"),
            ));
        }
        self.cycle += 1;
        Ok((ended == 0 && !self.ports.is_empty()).then_some(row))
    }

    /// All that is left.
    ///
    /// # Errors
    /// As [`Inputs::next`].
    pub(super) fn rows(mut self, machine: &Machine) -> Result<Rows, Failure> {
        let mut rows = Vec::new();
        while let Some(row) = self.next()? {
            rows.push(row);
        }
        Ok(Rows::new(machine.inputs().map(|s| machine.signal(s).elements.len()).sum(), rows))
    }
}

/// What the output ports show.
pub(super) struct Outputs {
    path: PathBuf,
    ports: Vec<OutputPort>,
    /// Everything is written here first, so that nothing is at its place before all is whole.
    folder: Scratch,
    codes: bool,
    /// Whether what is undefined is NaN; else it is what follows from registers that start as 0.
    nan: bool,
    /// Values that no cycle before defined.
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
    /// Begins the arrays of all output ports at `path`: an npz by that extension; npy, CSV or `-` (CSV on stdout) for a
    /// machine with one output port; else a folder. `codes` says that codes are written, not reals; `nan` that undefined
    /// reals are NaN.
    ///
    /// # Errors
    /// If the codes do not fit the form, or there is no room for temporary files (exit code 2).
    pub(super) fn create(machine: &Machine, path: &Path, codes: bool, nan: bool) -> Result<Outputs, Failure> {
        let ids: Vec<SignalId> = machine.outputs().collect();
        let is_file = ["npy", "csv", "txt"].iter().any(|e| has_extension(path, e)) || path.as_os_str() == "-";
        if is_file && ids.len() != 1 {
            let place = Place::Flag("--output".into());
            let message = format!("{} holds one output port, the machine has {}", path.display(), ids.len());
            return Err(Failure::input(
                Diagnostic::error("E0711", place, message).with_help("name a .npz file or a folder"),
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

    /// Appends what the output ports show in a cycle.
    ///
    /// # Errors
    /// If the files cannot be written (exit code 2).
    pub(super) fn write<'c>(&mut self, shown: impl Fn(SignalId) -> &'c [Cell]) -> Result<(), Failure> {
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

    /// Puts everything at its place. Returns how many values were undefined.
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
        if path.as_os_str() == "-" {
            batch.add_stdout(|out| copy(&files[0].1, out)).map_err(failed)?;
        } else if has_extension(&path, "npz") {
            batch.add_with(&path, |out| write_npz(out, &files)).map_err(failed)?;
        } else if ["npy", "csv", "txt"].iter().any(|e| has_extension(&path, e)) {
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
