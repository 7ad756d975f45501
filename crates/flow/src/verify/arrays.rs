//! Files with an array for each port of a state machine, one row per cycle: an npz file, a folder of npy files, or one
//! file for a state machine with one port.

use crate::verify::Rows;
use alir_core::diag::{Diagnostic, Diagnostics, Place};
use alir_core::files::Protected;
use alir_core::ir::machine::{Machine, SignalId};
use alir_hw::netlist::names::legalise;
use alir_interp::batch::SampleFault;
use alir_interp::samples::{Port, Reader, Values};
use num_bigint::BigInt;
use std::path::Path;

/// Error code for invalid files with an array for each port of a state machine.
pub const PORT_FILES: &str = "E0711";

/// Number of rows that are read at a time.
const BLOCK: usize = 1024;

/// Returns a unique name of each port for files and arrays: the name in the model if that is a valid file name,
/// otherwise a legalised name.
pub fn file_names(machine: &Machine, ports: impl Iterator<Item = SignalId>) -> Vec<String> {
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

/// Returns the types of the elements of a port in files.
pub fn types_of(machine: &Machine, port: SignalId) -> Vec<Port> {
    machine.signal(port).elements.iter().map(|&kif| Port { kif, frac: i64::from(kif.frac) }).collect()
}

/// Direction of the ports to which arrays belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The input ports.
    Inputs,
    /// The output ports.
    Outputs,
}

impl Side {
    /// Returns the name of a port of this side, for messages.
    fn name(self) -> &'static str {
        match self {
            Side::Inputs => "input port",
            Side::Outputs => "output port",
        }
    }

    /// Returns the prefix that file names of this side may have.
    fn prefix(self) -> &'static str {
        match self {
            Side::Inputs => "in",
            Side::Outputs => "out",
        }
    }
}

/// An array for each port of one side of a state machine, read row by row.
pub struct Arrays {
    ports: Vec<PortArray>,
    side: Side,
    codes: bool,
    cycle: u64,
}

struct PortArray {
    name: String,
    types: Vec<Port>,
    reader: Reader,
    block: Values,
    /// Prevents the file from being overwritten while it is read.
    _protected: Protected,
    /// Number of rows in the block.
    rows: usize,
    /// Number of rows of the block that were returned.
    taken: usize,
}

/// A single number in an array, with the number's position.
pub struct At<'a> {
    /// The block that contains the number.
    pub block: &'a Values,
    /// Index of the number in the block.
    pub index: usize,
    /// Type of the number's element.
    pub port: Port,
    /// Index of the element in its port.
    pub element: usize,
    /// The port.
    pub place: Place,
    /// The cycle.
    pub cycle: u64,
}

/// Returns `true` if a file begins like a zip archive.
fn is_npz(path: &Path) -> bool {
    let mut start = [0; 2];
    std::fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut start)).is_ok()
        && start == *b"PK"
}

impl Arrays {
    /// Opens the arrays of all ports of a side, which contain raw integer values with `codes`, otherwise real numbers.
    ///
    /// # Errors
    /// If an array is missing or invalid.
    pub fn open(machine: &Machine, side: Side, path: &Path, codes: bool) -> Result<Arrays, Diagnostic> {
        let ids: Vec<SignalId> = match side {
            Side::Inputs => machine.inputs().collect(),
            Side::Outputs => machine.outputs().collect(),
        };
        let names = file_names(machine, ids.iter().copied());
        let single = ids.len() == 1;
        let is_archive = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npz"));
        let mut ports = Vec::with_capacity(ids.len());
        for (id, file_name) in ids.into_iter().zip(names) {
            let signal = machine.signal(id);
            let open = |path: &Path, array: Option<&str>| Reader::open(path, array, &signal.elements, codes);
            let candidates =
                [format!("{file_name}.npy"), format!("{}.{file_name}.npy", side.prefix())].map(|n| path.join(n));
            let file = candidates.into_iter().find(|p| p.is_file());
            let reader = if path.is_dir() {
                match &file {
                    Some(file) => open(file, None),
                    None => {
                        let port = side.name();
                        let message = format!("there is no {file_name}.npy for {port} {:?}", signal.name);
                        Err(Diagnostic::error(PORT_FILES, Place::Whole, message)
                            .in_file(path)
                            .with_help(format!("a folder has an npy for each {port}")))
                    }
                }
            } else if single && !is_archive {
                open(path, None)
            } else if !is_archive && path.is_file() && !is_npz(path) {
                let message = format!("one array, and the state machine has several {} ports", side.name());
                let help = "name an npz file with an array for each port, or a folder with one npy file for each";
                Err(Diagnostic::error(PORT_FILES, Place::Whole, message).in_file(path).with_help(help))
            } else {
                open(path, Some(&signal.name)).or_else(|e| open(path, Some(&file_name)).map_err(|_| e))
            };
            let (mut reader, types) = (reader?, types_of(machine, id));
            if side == Side::Inputs && !codes {
                reader = reader.counting_wraps_of_port(&signal.name, &types);
            }
            ports.push(PortArray {
                name: signal.name.clone(),
                types,
                _protected: Protected::new(file.as_deref()),
                reader,
                block: Values::default(),
                rows: 0,
                taken: 0,
            });
        }
        Ok(Arrays { ports, side, codes, cycle: 0 })
    }

    /// Returns the raw integer values of all elements in the next cycle; `None` at the end.
    ///
    /// # Errors
    /// If an array cannot be read, ends before another, or has a number that its type cannot represent.
    pub fn next_codes(&mut self) -> Result<Option<Vec<BigInt>>, Diagnostic> {
        let codes = self.codes;
        self.next_row(|at| {
            let code = at.block.code(at.index, at.port, codes);
            code.map_err(|reason| SampleFault::Input { input: at.element, reason }.in_cycle(at.place, at.cycle))
        })
    }

    /// Returns the results of `take` for each number of the next row; `None` at the end.
    ///
    /// # Errors
    /// If an array cannot be read, ends before another, or `take` rejects a number.
    pub fn next_row<T>(
        &mut self,
        mut take: impl FnMut(At<'_>) -> Result<T, Diagnostic>,
    ) -> Result<Option<Vec<T>>, Diagnostic> {
        let mut row = Vec::new();
        let mut ended = 0;
        for port in &mut self.ports {
            if port.taken == port.rows {
                port.rows = port.reader.read(BLOCK, &mut port.block)?;
                port.taken = 0;
            }
            if port.rows == 0 {
                ended += 1;
                continue;
            }
            let first = port.taken * port.types.len();
            for (element, &kind) in port.types.iter().enumerate() {
                let place = Place::Path(format!("port {:?}", port.name));
                let (block, index) = (&port.block, first + element);
                let at = At { block, index, port: kind, element, place, cycle: self.cycle };
                row.push(take(at).map_err(|e| e.in_file(port.reader.name().as_ref()))?);
            }
            port.taken += 1;
        }
        if ended > 0 && ended < self.ports.len() {
            let short = self.ports.iter().find(|p| p.rows == 0).expect("one has ended");
            let port = self.side.name();
            let message = format!("{:?} has {} rows, other {port}s have more", short.name, self.cycle);
            return Err(Diagnostic::error(PORT_FILES, Place::Whole, message)
                .in_file(short.reader.name().as_ref())
                .with_help(format!("every {port} needs a row for each cycle")));
        }
        self.cycle += 1;
        Ok((ended == 0 && !self.ports.is_empty()).then_some(row))
    }

    /// Removes and returns the notes about the files so far.
    pub fn take_notes(&mut self) -> Diagnostics {
        Diagnostics(self.ports.iter_mut().flat_map(|port| port.reader.take_notes().0).collect())
    }

    /// Returns the raw integer values of all remaining rows.
    ///
    /// # Errors
    /// As [`Arrays::next_codes`].
    pub fn rows(&mut self) -> Result<Rows, Diagnostic> {
        let mut rows = Rows::new(self.ports.iter().map(|port| port.types.len()).sum(), []);
        while let Some(row) = self.next_codes()? {
            rows.push(row);
        }
        Ok(rows)
    }
}
