//! Integer kernels (LLVLIR) on the command line: reading, running, and the description by `info`.
//!
//! Sub-commands that only need hardware use the lowered program. Results of a kernel come from its own interpreter.

use super::{ExitStatus, Failure, Global, print, report};
use crate::diag::{Diagnostic, Place};
use crate::interp::samples::{Port, Reader, Values, Writer};
use crate::llvlir::program::{Element, File, IntType, PortType, Table, ValueType};
use crate::llvlir::rows::ROWS;
use crate::llvlir::{Program, golden, text};
use crate::num::Kif;
use crate::verify::own;
use num_bigint::BigInt;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

/// Number of rows that are read at a time.
const BLOCK: usize = 1024;

/// Returns the types of a port's elements.
fn kifs(elements: &[Element]) -> Vec<Kif> {
    elements.iter().map(|e| Kif { signed: e.signed, int: e.width as i32 - i32::from(e.signed), frac: 0 }).collect()
}

/// Samples as integers, read row by row.
pub(super) struct Samples {
    reader: Option<Reader>,
    columns: usize,
    block: Values,
    rows: usize,
    next: usize,
    given: u64,
}

impl Samples {
    /// Opens a file of samples. A program without inputs has one empty row.
    ///
    /// # Errors
    /// `E0712` if the program has inputs and no file is given; errors in the file.
    pub(super) fn open(program: &Program, input: Option<&Path>, array: Option<&str>) -> Result<Samples, Failure> {
        let columns = kifs(&program.input_elements());
        let reader = match input {
            _ if columns.is_empty() => None,
            Some(path) => Some(Reader::open(path, array, &columns, true).map_err(Failure::input)?),
            None => {
                let error =
                    Diagnostic::error(own::NO_SAMPLES, Place::Flag("SAMPLES".into()), "there is nothing to run on");
                return Err(Failure::input(
                    error.with_help("name a file of samples after the kernel: alir2hdl run KERNEL SAMPLES.npy"),
                ));
            }
        };
        Ok(Samples { reader, columns: columns.len(), block: Values::default(), rows: 0, next: 0, given: 0 })
    }

    /// Returns the number of rows, if it is known.
    pub(super) fn rows(&self) -> Option<u64> {
        match &self.reader {
            Some(reader) => reader.rows(),
            None => Some(1),
        }
    }

    /// Reads the next row; `None` at the end. An integer outside of its type wraps later; a value that is not an
    /// integer is an error.
    pub(super) fn row(&mut self) -> Result<Option<Vec<BigInt>>, Failure> {
        let Some(reader) = &mut self.reader else {
            self.given += 1;
            return Ok((self.given == 1).then(Vec::new));
        };
        if self.next == self.rows {
            self.rows = reader.read(BLOCK, &mut self.block).map_err(Failure::input)?;
            self.next = 0;
            if self.rows == 0 {
                return Ok(None);
            }
        }
        // The type represents every integer, so any real number without a fraction is accepted.
        let port = Port { kif: Kif { signed: true, int: 1 << 20, frac: 0 }, frac: 0 };
        let mut row = Vec::with_capacity(self.columns);
        for column in 0..self.columns {
            let code = match &self.block {
                Values::Reals(_) | Values::Numbers(_) => self.block.code(self.next * self.columns + column, port, true),
                Values::Integers(v) => Ok(BigInt::from(v[self.next * self.columns + column])),
                Values::Wide(v) => Ok(v[self.next * self.columns + column].clone()),
            };
            row.push(code.map_err(|what| {
                let message = format!("sample {}, input {column}: {what}", self.given);
                let error = Diagnostic::error(own::NO_INTEGER, Place::Whole, message).in_file(reader.name().as_ref());
                Failure::input(error.with_help("integer programs take integers"))
            })?);
        }
        self.next += 1;
        self.given += 1;
        Ok(Some(row))
    }
}

/// Facts about a kernel that `info` prints: its ports, and the rows of the instruction table that it uses.
#[derive(Serialize)]
pub(super) struct KernelFacts {
    inputs: Vec<PortFacts>,
    outputs: Vec<PortFacts>,
    /// Number of operations, including those for names and tables.
    operations: usize,
    /// Number of elements of all tables.
    table_elements: usize,
    /// Rows of the instruction table that the kernel uses, the most frequent first.
    rows: Vec<RowFacts>,
}

#[derive(Serialize)]
struct PortFacts {
    name: String,
    #[serde(rename = "type")]
    ty: String,
}

#[derive(Serialize)]
struct RowFacts {
    row: u16,
    name: String,
    count: usize,
}

impl KernelFacts {
    pub(super) fn new(program: &Program) -> KernelFacts {
        let mut counts = std::collections::BTreeMap::<u16, usize>::new();
        program.ops().iter().for_each(|op| *counts.entry(op.code()).or_default() += 1);
        let mut rows: Vec<RowFacts> = counts
            .into_iter()
            .map(|(row, count)| RowFacts { row, name: ROWS[usize::from(row)].title(), count })
            .collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.count), row.row));
        let inputs = program.inputs().iter().map(|port| PortFacts { name: port.name.clone(), ty: port.ty.to_string() });
        let outputs = program.outputs().iter().map(|port| {
            let ty = match program.output_type(port) {
                ValueType::R(width) => PortType::R(IntType::new(width)),
                ValueType::X(lanes, width) => PortType::X(lanes, IntType::new(width)),
                ValueType::M(lanes) => PortType::M(lanes),
                ValueType::A(_) => unreachable!("an address goes nowhere"),
            };
            PortFacts { name: port.name.clone(), ty: ty.to_string() }
        });
        KernelFacts {
            inputs: inputs.collect(),
            outputs: outputs.collect(),
            operations: program.ops().len(),
            table_elements: program.tables().iter().map(Table::len).sum(),
            rows,
        }
    }

    /// Appends a summary of a few lines.
    pub(super) fn to_text(&self, out: &mut String) {
        let port = |port: &PortFacts| format!("{}: {}", port.name.escape_default(), port.ty);
        list(out, "ports in", self.inputs.iter().map(port));
        list(out, "ports out", self.outputs.iter().map(port));
        let count = |row: &RowFacts| match row.count {
            1 => row.name.clone(),
            count => format!("{} x {count}", row.name),
        };
        list(out, "rows", self.rows.iter().map(count));
        let elements = match self.table_elements {
            0 => String::new(),
            elements => format!(", tables of {elements} elements"),
        };
        let _ = writeln!(
            out,
            "{:<12}{:>9}   of LLVLIR, {} different rows{elements}",
            "kernel",
            self.operations,
            self.rows.len()
        );
    }
}

/// Appends a title and at most four lines of items.
fn list(out: &mut String, title: &str, items: impl ExactSizeIterator<Item = String>) {
    const COLUMNS: usize = 100;
    let mut left = items.len();
    let mut lines = 1;
    let mut line = format!("{title:<15}");
    for item in items {
        if line.len() > 15 && line.len() + item.len() > COLUMNS {
            if lines == 4 {
                let _ = write!(line, "... ({left} more)");
                break;
            }
            let _ = writeln!(out, "{}", line.trim_end());
            line = " ".repeat(15);
            lines += 1;
        }
        left -= 1;
        let _ = write!(line, "{item}{}", if left > 0 { ", " } else { "" });
    }
    let _ = writeln!(out, "{}", line.trim_end());
}

/// Runs all samples and writes the outputs.
pub(super) fn run(
    program: &Program,
    mut samples: Samples,
    output: &Path,
    global: Global,
) -> Result<ExitStatus, Failure> {
    let columns = kifs(&program.output_elements());
    let fits = columns.iter().all(|kif| kif.width() <= 64);
    let mut writer = Writer::create_integers(output, &columns, samples.rows()).map_err(Failure::input)?;
    while let Some(row) = samples.row()? {
        let results = golden::run(program, &row);
        let block = match fits {
            true => Values::Integers(results.iter().map(|v| i64::try_from(v).unwrap_or_default()).collect()),
            false => Values::Wide(results),
        };
        writer.write(&block, &[]).map_err(Failure::input)?;
        if writer.is_closed() {
            break;
        }
    }
    writer.finish().map_err(Failure::input)?;
    if let Some(reader) = &mut samples.reader {
        report(&reader.take_notes(), global);
    }
    Ok(ExitStatus::Ok)
}

/// Prints each operation of one sample with its result.
pub(super) fn trace(program: &Program, mut samples: Samples, sample: u64) -> Result<ExitStatus, Failure> {
    let mut before = 0;
    let row = loop {
        match samples.row()? {
            Some(row) if before == sample => break row,
            Some(_) => before += 1,
            None => {
                let message = format!("there is no sample {sample}: the file has {before}, counted from 0");
                return Err(Failure::input(Diagnostic::error("E0710", Place::Flag("--trace".into()), message)));
            }
        }
    };
    let values = golden::values(program, &row);
    let mut out = format!("sample {sample}\n");
    let mut counts = [0u32; 4];
    let mut line = |what: &str, file: File, value: u32| {
        let shown: Vec<String> = golden::elements(values.get(file, value), program.value_type(file, value))
            .iter()
            .map(ToString::to_string)
            .collect();
        let _ = writeln!(out, "{what}    ; {}", shown.join(" "));
    };
    for input in program.inputs() {
        let file = input.ty.file();
        let number = counts[file as usize];
        counts[file as usize] += 1;
        line(&format!("in {}{number} \"{}\": {}", file.prefix(), input.name.escape_default(), input.ty), file, number);
    }
    for op in program.ops() {
        if let Some((file, value)) = op.result() {
            line(&text::operation(program, op), file, value);
        }
    }
    for output in program.outputs() {
        let what = format!("out \"{}\" = {}{}", output.name.escape_default(), output.file.prefix(), output.value);
        line(&what, output.file, output.value);
    }
    print(out.as_bytes())
}
