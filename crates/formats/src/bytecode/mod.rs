//! Byte code, the input format of interpreters: 32-bit words (DAIS and ALIR version 2) or bytes (versions 3 and 4). See
//! `docs/alir.md`, section 5, and `docs/dais.md`, section 2.
//!
//! Byte code has types, but no intervals, latencies or costs: the interval of an operation is the full range of its
//! type.

mod bytes;
mod words;

pub(super) use bytes::{MAGIC, read as read_bytes, unrepresentable as unrepresentable_bytes, write as write_bytes};
pub(super) use words::{
    Header, fields, in_own_step, read as read_words, unrepresentable as unrepresentable_words, write as write_words,
};

use super::decode::{Negated, Report};
use super::place::Field;
use super::upgrade::Negations;
use alir_core::diag::{Diagnostic, Diagnostics, Place};
use alir_core::ir::{
    BinaryBits, Builder, Limits, Model, Node, Op, Output, Part, Site, Table, TableId, UnaryBits, ValueId,
};
use alir_core::num::{Code, Interval, Kif};
use rustc_hash::FxHashMap;

/// A program being built from byte code.
struct Assembly<'l> {
    limits: &'l Limits,
    builder: Builder,
    problems: Vec<Diagnostic>,
    /// Indices of operations that replace invalid ones of the file, ascending.
    bad_ops: Vec<usize>,
    negations: Negations,
    tables: Vec<Entries>,
    /// Copies of tables for lookups with other steps, by the table of the file and the number of fractional bits.
    copies: FxHashMap<(usize, i32), TableId>,
    table_entries: u64,
    /// Memory in bytes of bounds beyond 64 bits, which are larger in memory than in the file.
    wide_bytes: u64,
}

/// A table of the file, with the properties that its first lookup determines.
struct Entries {
    entries: Vec<i32>,
    /// Number of fractional bits; `None` before the first lookup.
    frac: Option<i32>,
    /// Width of the operand of the first lookup in bits; 0 before.
    inp_width: u32,
}

/// A decoded row: an operation, whose invalid parts are `None`.
struct Row {
    op: Option<Op>,
    negated: Negated,
    interval: Option<Interval>,
    /// Number of values of the operand's type below the operand's value at the table's first entry; only for a lookup.
    pad: i64,
}

/// Reports the problems of one operation with their byte offsets.
struct AtRow<'a, 'l, F> {
    assembly: &'a mut Assembly<'l>,
    index: usize,
    /// Returns the byte offset of a field.
    byte_of: F,
}

impl<F: Fn(Field) -> u64> Report for AtRow<'_, '_, F> {
    fn problem(&mut self, field: Field, code: &'static str, message: String, help: String) {
        let place = Place::Byte((self.byte_of)(field));
        self.assembly.problem(code, place, format!("operation {}: {message}", self.index), help);
    }

    fn max_shift(&self) -> u32 {
        self.assembly.limits.max_shift
    }
}

impl<'l> Assembly<'l> {
    /// Starts a program with these inputs and tables.
    ///
    /// # Errors
    /// `E0202` if the tables are longer than the limit.
    fn new(limits: &'l Limits, inp_shifts: Vec<i32>, tables: Vec<Vec<i32>>) -> Result<Assembly<'l>, Diagnostics> {
        let mut builder = Builder::new(inp_shifts);
        builder.limits(*limits);
        let table_entries = tables.iter().map(|t| t.len() as u64).sum();
        let whole = |entries| Entries { entries, frac: None, inp_width: 0 };
        let assembly = Assembly {
            limits,
            builder,
            problems: Vec::new(),
            bad_ops: Vec::new(),
            negations: Negations::default(),
            tables: tables.into_iter().map(whole).collect(),
            copies: FxHashMap::default(),
            table_entries,
            wide_bytes: 0,
        };
        assembly.check_entries()?;
        Ok(assembly)
    }

    fn check_entries(&self) -> Result<(), Diagnostics> {
        let limit = self.limits.max_table_entries;
        if self.table_entries <= limit {
            return Ok(());
        }
        let problem = Diagnostic::error("E0202", Place::Whole, format!("more than {limit} table entries in all"));
        Err(problem.with_help("raise --max-table-entries").into())
    }

    fn is_full(&self) -> bool {
        self.problems.len() >= self.limits.max_problems
    }

    fn problem(&mut self, code: &'static str, place: Place, message: impl Into<String>, help: impl Into<String>) {
        if !self.is_full() {
            self.problems.push(Diagnostic::error(code, place, message).with_help(help));
        }
    }

    /// Returns the full range of a type; `None` if the type is invalid, which is reported.
    ///
    /// # Errors
    /// `E0104` if bounds beyond 64 bits take more memory than the limit.
    fn interval(
        &mut self,
        index: usize,
        place: Place,
        signed: i64,
        int: i64,
        frac: i64,
    ) -> Result<Option<Interval>, Diagnostics> {
        let limits = self.limits;
        if !matches!(signed, 0 | 1) {
            let message = format!("operation {index}: {signed} is not a sign");
            self.problem("E0155", place, message, "1 is signed, 0 unsigned");
            return Ok(None);
        }
        let width = signed + int + frac;
        if width < 0 {
            let message = format!("operation {index}: a type of {int} integer and {frac} fractional bits");
            self.problem("E0155", place, message, "sign, integer and fractional bits together are at least 0");
            return Ok(None);
        }
        if width > i64::from(limits.max_width) {
            let message = format!("operation {index}: {width} bits, the limit is {}", limits.max_width);
            self.problem("E0211", place, message, "use a narrower type, or raise --max-width");
            return Ok(None);
        }
        if frac.unsigned_abs() > u64::from(limits.max_shift) {
            let (limit, message) = (limits.max_shift, format!("operation {index}: {frac} fractional bits"));
            self.problem("E0206", place, message, format!("use -{limit} to {limit}, or raise --max-shift"));
            return Ok(None);
        }
        if width > 63 {
            self.wide_bytes += 2 * (64 + width as u64 / 8);
            if self.wide_bytes > limits.max_bytes {
                let message = format!("bounds beyond 64 bits take more than {} bytes", limits.max_bytes);
                return Err(Diagnostic::error("E0104", place, message).with_help("raise --max-bytes").into());
            }
        }
        Ok(Some(Interval::from_width(signed == 1, width as u32, frac as i32)))
    }

    /// Appends an operation. An invalid one is replaced with the constant zero.
    ///
    /// # Errors
    /// `E0202` if copies of tables exceed the limit.
    fn push(&mut self, row: Row, byte_of: impl Fn(Field) -> u64) -> Result<(), Diagnostics> {
        let index = self.builder.nodes().len();
        let (Some(mut op), Some(interval)) = (row.op, row.interval) else {
            self.bad_ops.push(index);
            self.builder.op(Op::Const { value: Code::ZERO }, Interval::new(0, 0, 0));
            return Ok(());
        };
        if let Op::Lookup { x, table, base } = &mut op {
            let operand = self.builder.nodes().get(x.index()).map(|n| n.interval.clone());
            if row.pad < 0 {
                let message = format!("operation {index}: a left pad of {}", row.pad);
                self.problem("E0156", Place::Byte(byte_of(Field::Data)), message, "a pad is 0 or more");
                self.bad_ops.push(index);
            } else if let Some(operand) = operand {
                *base = match operand.min.to_i64().and_then(|min| min.checked_add(row.pad)) {
                    Some(small) => small.into(),
                    None => (operand.min.to_big() + row.pad).into(),
                };
                let width = operand.kif().width();
                *table = self.table_for_type(*table, interval.kif(), width)?;
            }
        }
        self.negations.note(index, row.negated);
        self.builder.op(op, interval);
        Ok(())
    }

    /// Returns the table for a lookup of type `kif`. Byte code does not state the step of a table: the first lookup
    /// determines it, and lookups with another step get a copy.
    ///
    /// # Errors
    /// `E0202` if copies of tables exceed the limit.
    fn table_for_type(&mut self, table: TableId, kif: Kif, operand_width: u32) -> Result<TableId, Diagnostics> {
        let Some(found) = self.tables.get_mut(table.index()) else { return Ok(table) };
        if kif.is_zero() {
            return Ok(table);
        }
        match found.frac {
            None => {
                (found.frac, found.inp_width) = (Some(kif.frac), operand_width);
                Ok(table)
            }
            Some(frac) if frac == kif.frac => Ok(table),
            Some(_) => {
                if let Some(&copy) = self.copies.get(&(table.index(), kif.frac)) {
                    return Ok(copy);
                }
                self.table_entries += found.entries.len() as u64;
                self.check_entries()?;
                let copy = TableId(self.tables.len() as u32);
                let entries = self.tables[table.index()].entries.clone();
                self.tables.push(Entries { entries, frac: Some(kif.frac), inp_width: operand_width });
                self.copies.insert((table.index(), kif.frac), copy);
                Ok(copy)
            }
        }
    }

    /// Checks the whole program and returns it; `byte_of` returns the byte offset of a field of an operation.
    fn finish(
        mut self,
        outputs: Vec<Output>,
        byte_of: impl Fn(usize, Field) -> u64,
        output_byte: impl Fn(Site) -> Option<u64>,
    ) -> Result<Model, Diagnostics> {
        for table in std::mem::take(&mut self.tables) {
            let min = table.entries.iter().min().copied().unwrap_or(0);
            let max = table.entries.iter().max().copied().unwrap_or(0);
            let out = Interval::new(i64::from(min), i64::from(max), table.frac.unwrap_or(0));
            let inp_width = i64::from(table.inp_width);
            self.builder.table(Table { entries: table.entries, out, hash: String::new(), inp_width });
        }
        for out in outputs {
            self.builder.output(out);
        }
        let place = |site: Site| match site {
            Site::Op(index, part) => Place::Byte(byte_of(index, field(part))),
            other => output_byte(other).map_or(Place::Whole, Place::Byte),
        };
        if !self.problems.is_empty() {
            for problem in self.builder.check() {
                if self.is_from_file(problem.site) {
                    self.problem(problem.code, place(problem.site), message_with_place(&problem), problem.help);
                }
            }
            return Err(Diagnostics(self.problems));
        }
        let model = self.builder.finish().map_err(|problems| {
            let shown = |p: &alir_core::ir::Problem| {
                Diagnostic::error(p.code, place(p.site), message_with_place(p)).with_help(p.help.clone())
            };
            Diagnostics(problems.iter().map(shown).collect())
        })?;
        self.negations.expand(model, self.limits).ok_or_else(|| {
            let message = format!("more than {} operations", self.limits.max_ops);
            Diagnostic::error("E0201", Place::Whole, message).with_help("raise --max-ops").into()
        })
    }

    /// Returns `true` if a problem at this site concerns the file itself, not an operation that replaces an invalid
    /// one.
    fn is_from_file(&self, site: Site) -> bool {
        let Site::Op(index, _) = site else { return true };
        let bad = |i: usize| self.bad_ops.binary_search(&i).is_ok();
        let mut good = !bad(index);
        self.builder.nodes()[index].op.for_each_operand(|v| good &= !bad(v.index()));
        good
    }
}

/// Returns the message of a problem with the name of the operation, output or input.
fn message_with_place(problem: &alir_core::ir::Problem) -> String {
    match problem.site {
        Site::Op(index, _) => format!("operation {index}: {}", problem.message),
        Site::OutputSource(j) | Site::OutputShift(j) => format!("output {j}: {}", problem.message),
        Site::InputShift(i) => format!("input {i}: {}", problem.message),
        _ => problem.message.clone(),
    }
}

/// Returns the field of a row that contains a part of an operation.
fn field(part: Part) -> Field {
    match part {
        Part::Operand(k) => Field::Addr(k),
        Part::Input => Field::DataAt(0),
        Part::Data(k) => Field::DataAt(k),
        Part::Interval => Field::Interval,
        Part::Whole | Part::Latency | Part::Cost => Field::Whole,
    }
}

/// Returns the part of a program that byte code can represent: full range of each type, no latencies, no costs.
pub(super) fn widened(model: &Model) -> Model {
    let mut builder = Builder::like(model);
    for node in model.nodes() {
        let kif = node.interval.kif();
        let interval = Interval::full(kif);
        builder.push(Node { interval, latency: 0.0, cost: 0.0, ..node.clone() });
    }
    for out in model.outputs() {
        builder.output(*out);
    }
    builder.finish().expect("the full ranges of a valid program's types are valid")
}

/// Returns the number of values of the operand's type below `base`, the operand's value at the table's first entry.
fn pad(model: &Model, x: ValueId, base: &Code) -> Option<i64> {
    let min = model.kif(x).min_code();
    i64::try_from(base.to_big() - min).ok()
}

/// Returns the number of a unary bit operation in the data field.
pub(super) fn unary_code(op: UnaryBits) -> i64 {
    match op {
        UnaryBits::Not => 0,
        UnaryBits::Any => 1,
        UnaryBits::All => 2,
    }
}

/// Returns the number of a binary bit operation in the data field.
pub(super) fn binary_code(op: BinaryBits) -> i64 {
    match op {
        BinaryBits::And => 0,
        BinaryBits::Or => 1,
        BinaryBits::Xor => 2,
    }
}

/// Returns the error for an operation whose fields are too small in the format.
fn no_room(index: usize, op: &Op, message: impl std::fmt::Display, help: &str) -> Diagnostic {
    let place = Place::Path(format!("ops[{index}]"));
    Diagnostic::error("E1105", place, format!("{} of operation {index}: {message}", op.name())).with_help(help)
}

/// Returns an error for a constant beyond 64 bits, which no format can represent.
fn wide_constant(index: usize, op: &Op) -> Option<Diagnostic> {
    let (Op::Const { value } | Op::AddConst { value, .. }) = op else { return None };
    if value.to_i64().is_some() {
        return None;
    }
    let place = Place::Path(format!("ops[{index}]"));
    let message = format!("the constant of operation {index} has {} bits", value.bits());
    Some(Diagnostic::error("E1102", place, message).with_help("the format holds constants of 64 bits"))
}
