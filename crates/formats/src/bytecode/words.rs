//! Byte code of 32-bit words: all versions of DAIS, and ALIR version 2.
//!
//! There are no magic bytes. A header of six words starts with the version, one of three words with the number of
//! inputs. Each header determines the exact length of the file, and the length selects the header.

use super::super::Target;
use super::super::decode::{Era, op_v2};
use super::super::place::Field;
use super::{Assembly, AtRow, Row, binary_code, no_room, pad, unary_code, wide_constant};
use alir_core::diag::{Diagnostic, Diagnostics, Place};
use alir_core::ir::{Limits, Model, Node, Op, Output, Site, ValueId};
use alir_core::num::Code;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use std::io::{self, Write};

/// Number of words of an operation.
const ROW: usize = 8;

/// Kind of a file's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Header {
    /// `n_in, n_out, n_ops`: da4ml 0.3 to 0.5 betas.
    Three,
    /// `spec, firmware, n_in, n_out, n_ops, n_tables`: DAIS 0 and 1, ALIR 2.
    Six,
}

/// Sizes that a header states.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    header: Header,
    spec: i32,
    n_in: usize,
    n_out: usize,
    n_ops: usize,
    n_tables: usize,
}

impl Sizes {
    /// Parses the words as a header of this kind, without checking the length of the file.
    fn new(words: &Words<'_>, header: Header) -> Result<Sizes, Diagnostic> {
        let (start, count) = match header {
            Header::Three => (0, 3),
            Header::Six => (2, 6),
        };
        if words.len() < count {
            let message = format!("{} words, but the header alone has {count}", words.len());
            return Err(truncated(words, message));
        }
        let spec = if header == Header::Six { words.at(0) } else { 0 };
        if !(0..=2).contains(&spec) {
            let message = format!("unknown version {spec} in the header");
            let help = "known in 32-bit words: 0 and 1 (DAIS), 2 (DAIS and ALIR)";
            return Err(Diagnostic::error("E0154", Place::Byte(0), message).with_help(help));
        }
        let size = |k: usize, what: &str| {
            let at = start + k;
            usize::try_from(words.at(at)).map_err(|_| {
                let message = format!("{} {what}", words.at(at));
                Diagnostic::error("E0153", Place::Byte(4 * at as u64), message).with_help("a number is 0 or more")
            })
        };
        Ok(Sizes {
            header,
            spec,
            n_in: size(0, "inputs")?,
            n_out: size(1, "outputs")?,
            n_ops: size(2, "operations")?,
            n_tables: if header == Header::Six { size(3, "tables")? } else { 0 },
        })
    }

    fn shifts(&self) -> usize {
        if self.header == Header::Three { 3 } else { 6 }
    }

    fn ops(&self) -> usize {
        self.shifts() + self.n_in + 3 * self.n_out
    }

    fn table_sizes(&self) -> usize {
        self.ops() + ROW * self.n_ops
    }

    /// Returns the number of words that the file must have.
    fn length(&self, words: &Words<'_>) -> Result<usize, Diagnostic> {
        let entries = self.table_sizes() + self.n_tables;
        if entries > words.len() {
            let message = format!("the header requires at least {entries} words, the file has {}", words.len());
            return Err(truncated(words, message));
        }
        let mut length = entries;
        for t in 0..self.n_tables {
            let at = self.table_sizes() + t;
            length += usize::try_from(words.at(at)).map_err(|_| {
                let message = format!("a table of {} entries", words.at(at));
                Diagnostic::error("E0153", Place::Byte(4 * at as u64), message).with_help("a number is 0 or more")
            })?;
        }
        if length > words.len() {
            let message = format!("the header requires {length} words, the file has {}", words.len());
            return Err(truncated(words, message));
        }
        if length < words.len() {
            let message = format!("the header requires {length} words, the file has {}", words.len());
            let help =
                "remove what was appended; if nothing was, the file is of another kind, or --format names another";
            return Err(Diagnostic::error("E0151", Place::Byte(4 * length as u64), message).with_help(help));
        }
        Ok(length)
    }

    /// Parses the header, and checks that the file has exactly the length that it determines.
    fn fitting(words: &Words<'_>, header: Header) -> Result<Sizes, Diagnostic> {
        let sizes = Sizes::new(words, header)?;
        sizes.length(words).map(|_| sizes)
    }
}

/// The words of a file.
struct Words<'b>(&'b [u8]);

impl Words<'_> {
    fn len(&self) -> usize {
        self.0.len() / 4
    }

    fn at(&self, k: usize) -> i32 {
        let bytes = &self.0[4 * k..4 * k + 4];
        i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    fn range(&self, from: usize, count: usize) -> Vec<i32> {
        (from..from + count).map(|k| self.at(k)).collect()
    }
}

fn truncated(words: &Words<'_>, message: String) -> Diagnostic {
    let help = "the file is truncated, or of another kind: copy it again, or name its kind with --format";
    Diagnostic::error("E0150", Place::Byte(words.0.len() as u64), message).with_help(help)
}

/// Returns the header that the length of the file selects. If both headers fit, returns the one with which the file is
/// a valid program.
fn recognise(words: &Words<'_>, limits: &Limits) -> Result<Sizes, Diagnostic> {
    match (Sizes::fitting(words, Header::Six), Sizes::fitting(words, Header::Three)) {
        (Ok(sizes), Err(_)) | (Err(_), Ok(sizes)) => Ok(sizes),
        (Ok(six), Ok(three)) => {
            let is_program = |sizes| program(words, limits, sizes).is_ok();
            match (is_program(six), is_program(three)) {
                (true, false) => Ok(six),
                (false, true) => Ok(three),
                _ => {
                    let message = "a header of six words and one of three fit the file equally";
                    let help = "say which it is: --format words (six) or words3 (three)";
                    Err(Diagnostic::error("E0152", Place::Byte(0), message).with_help(help))
                }
            }
        }
        // Reports the error of the likelier header: six words if the file begins with a version.
        (Err(six), Err(three)) => Err(if (0..=2).contains(&words.at(0)) { six } else { three }),
    }
}

/// Reads a program; detects the header if none is given.
///
/// # Errors
/// Every problem of the file.
pub(in super::super) fn read(
    bytes: &[u8],
    limits: &Limits,
    header: Option<Header>,
    form: &mut String,
) -> Result<(Model, Diagnostics), Diagnostics> {
    let words = Words(bytes);
    if !bytes.len().is_multiple_of(4) || bytes.is_empty() {
        let message = format!("{} bytes are not a whole number of 32-bit words", bytes.len());
        return Err(truncated(&words, message).into());
    }
    let sizes = match header {
        Some(header) => Sizes::fitting(&words, header)?,
        None => recognise(&words, limits)?,
    };
    *form = match (sizes.header, sizes.spec) {
        (Header::Three, _) => "DAIS in 32-bit words, header of three".to_owned(),
        (Header::Six, 2) => "byte code of ALIR 2 in 32-bit words".to_owned(),
        (Header::Six, spec) => format!("DAIS in 32-bit words, version {spec}"),
    };
    program(&words, limits, sizes)
}

/// Reads the words after a valid header.
fn program(words: &Words<'_>, limits: &Limits, sizes: Sizes) -> Result<(Model, Diagnostics), Diagnostics> {
    if sizes.n_ops as u64 > limits.max_ops {
        let message = format!("more than {} operations", limits.max_ops);
        return Err(Diagnostic::error("E0201", Place::Whole, message).with_help("raise --max-ops").into());
    }
    let era = if sizes.spec == 2 { Era::Two } else { Era::Old };
    let mut from = sizes.table_sizes() + sizes.n_tables;
    let mut tables = Vec::with_capacity(sizes.n_tables);
    for t in 0..sizes.n_tables {
        let length = words.at(sizes.table_sizes() + t) as usize;
        tables.push(words.range(from, length));
        from += length;
    }
    let shifts = words.range(sizes.shifts(), sizes.n_in);
    let mut assembly = Assembly::new(limits, shifts, tables)?;
    let mut notes = Vec::new();
    for index in 0..sizes.n_ops {
        if assembly.is_full() {
            break;
        }
        let start = sizes.ops() + ROW * index;
        let word = |k: usize| words.at(start + k);
        let byte_of = |field| 4 * (start + column(field)) as u64;
        if word(0) == -2 && sizes.header == Header::Three && notes.is_empty() {
            let message = "the file does not state its version: opcode -2 is read as relu(-x), as before version 2";
            let note = Diagnostic::note("N0103", Place::Byte(byte_of(Field::Opcode)), message);
            notes.push(note.with_help("no file of version 2 is known to have a header of three words"));
        }
        let data = i64::from(word(4)) << 32 | i64::from(word(3).cast_unsigned());
        let [signed, int, frac] = [5, 6, 7].map(|k| i64::from(word(k)));
        let place = Place::Byte(byte_of(Field::Interval));
        let interval = assembly.interval(index, place, signed, int, frac)?;
        // In a lookup, the high half is the pad.
        let (pad, data) = if word(0) == 8 { (i64::from(word(4)), i64::from(word(3))) } else { (0, data) };
        let ids = [i64::from(word(1)), i64::from(word(2))];
        let mut at = AtRow { assembly: &mut assembly, index, byte_of };
        // A constant is in units of the result's step. A result without bits has no step, so any unit is correct.
        let unit = interval.as_ref().map_or(0, |interval| interval.frac);
        let read = op_v2(&mut at, era, word(0).into(), ids, data, unit);
        let (op, negated) = read.map_or((None, 0), |(op, negated)| (Some(op), negated));
        assembly.push(Row { op, negated, interval, pad }, byte_of)?;
    }
    let out = |j: usize, block: usize| sizes.shifts() + sizes.n_in + block * sizes.n_out + j;
    let mut outputs = Vec::with_capacity(sizes.n_out);
    for j in 0..sizes.n_out {
        let [index, shift, neg] = [0, 1, 2].map(|block| words.at(out(j, block)));
        if index < -1 {
            let message = format!("output {j}: operation {index} does not exist");
            let help = "use the index of an operation, or -1 for the constant zero";
            assembly.problem("E0217", Place::Byte(4 * out(j, 0) as u64), message, help);
        }
        if !matches!(neg, 0 | 1) {
            let message = format!("output {j}: {neg} is not a flag");
            assembly.problem("E0140", Place::Byte(4 * out(j, 2) as u64), message, "use 1 or 0");
        }
        outputs.push(Output { source: u32::try_from(index).ok().map(ValueId), shift, neg: neg == 1 });
    }
    let op_byte = |index: usize, field| 4 * (sizes.ops() + ROW * index + column(field)) as u64;
    let port_byte = |site| match site {
        Site::InputShift(i) => Some(4 * (sizes.shifts() + i) as u64),
        Site::OutputSource(j) => Some(4 * out(j, 0) as u64),
        Site::OutputShift(j) => Some(4 * out(j, 1) as u64),
        Site::Table(t) if t < sizes.n_tables => Some(4 * (sizes.table_sizes() + t) as u64),
        _ => None,
    };
    assembly.finish(outputs, op_byte, port_byte).map(|model| (model, Diagnostics(notes)))
}

/// Returns the index of the word of a row that contains a field.
fn column(field: Field) -> usize {
    match field {
        Field::Id0 | Field::Addr(0) => 1,
        Field::Id1 | Field::Addr(1) => 2,
        Field::Addr(_) | Field::Data | Field::DataAt(_) => 3,
        Field::Interval | Field::Min | Field::Max | Field::Step => 5,
        _ => 0,
    }
}

/// Returns the properties of a program in the target's operations that 32-bit words cannot represent.
pub(in super::super) fn unrepresentable(model: &Model) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (index, Node { op, .. }) in model.nodes().iter().enumerate() {
        problems.extend(wide_constant(index, op));
        if let Op::Lookup { x, base, .. } = op
            && pad(model, *x, base).is_none_or(|pad| i32::try_from(pad).is_err())
        {
            let help = "the operand's type has too many codes below the table: quantise it first";
            problems.push(no_room(index, op, "the table's left pad is beyond 32 bits", help));
        }
    }
    problems
}

/// Returns the constant of an addition in units of the result's step, as before version 2; `None` if the constant is
/// not an integer of at most 64 bits in these units.
pub(in super::super) fn in_own_step(value: &Code, shift: i32, node: &Node) -> Option<i64> {
    let kif = node.interval.kif();
    if kif.is_zero() {
        return Some(0);
    }
    let up = i64::from(kif.frac) - i64::from(shift);
    let (value, distance) = (value.to_big(), up.unsigned_abs());
    if up >= 0 {
        // A larger shift never fits.
        return if distance > 64 && value != BigInt::ZERO { None } else { (value << distance.min(64)).to_i64() };
    }
    let exact = value.trailing_zeros().is_none_or(|zeros| zeros >= distance);
    exact.then(|| value >> distance).and_then(|v| v.to_i64())
}

/// Writes a program that was prepared for `target`.
///
/// # Errors
/// Errors of `out`.
pub(in super::super) fn write(model: &Model, target: Target, out: &mut dyn Write) -> io::Result<()> {
    let out = &mut io::BufWriter::with_capacity(1 << 16, out);
    let old = target == Target::Dais1;
    let mut put = |word: i32| out.write_all(&word.to_le_bytes());
    let sizes = [model.n_inputs(), model.outputs().len(), model.nodes().len(), model.tables().len()];
    put(if old { 1 } else { 2 })?;
    put(0)?;
    sizes.iter().try_for_each(|&n| put(n as i32))?;
    model.inp_shifts().iter().try_for_each(|&shift| put(shift))?;
    model.outputs().iter().try_for_each(|o| put(o.source.map_or(-1, |v| v.0.cast_signed())))?;
    model.outputs().iter().try_for_each(|o| put(o.shift))?;
    model.outputs().iter().try_for_each(|o| put(o.neg.into()))?;
    for node in model.nodes() {
        let (opcode, ids, data) = match &node.op {
            Op::Neg { x } if old => (-3, [i64::from(x.0), -1], 0),
            Op::AddConst { x, value, shift } if old => {
                let data = in_own_step(value, *shift, node).unwrap_or_default();
                (4, [i64::from(x.0), -1], data)
            }
            Op::Lookup { x, table, base } => {
                let pad = pad(model, *x, base).unwrap_or_default();
                (8, [i64::from(x.0), -1], pad << 32 | i64::from(table.0))
            }
            op => {
                let (ids, data) = fields(op);
                (op.opcode(), ids, data)
            }
        };
        let kif = node.interval.kif();
        for word in [i64::from(opcode), ids[0], ids[1], data, data >> 32] {
            put(word as i32)?;
        }
        for word in [i32::from(kif.signed), kif.int, kif.frac] {
            put(word)?;
        }
    }
    model.tables().iter().try_for_each(|t| put(t.entries.len() as i32))?;
    model.tables().iter().flat_map(|t| &t.entries).try_for_each(|&entry| put(entry))?;
    out.flush()
}

/// Returns `[id0, id1]` and `data` of a record of version 2, for a lookup without the pad.
pub(in super::super) fn fields(op: &Op) -> ([i64; 2], i64) {
    let halves = |low: i64, high: i32| (i64::from(high) << 32) | (low & 0xffff_ffff);
    let id = |v: ValueId| i64::from(v.0);
    let small = |value: &Code| value.to_i64().unwrap_or_default();
    match op {
        Op::Input { input } => ([i64::from(*input), -1], 0),
        Op::Const { value } => ([-1, -1], small(value)),
        Op::Neg { x } | Op::Relu { x } | Op::Quantise { x, shift: _ } => ([id(*x), -1], 0),
        Op::Add { a, b, shift } | Op::Sub { a, b, shift } => ([id(*a), id(*b)], i64::from(*shift)),
        Op::Mul { a, b } => ([id(*a), id(*b)], 0),
        Op::AddConst { x, value, shift } => ([id(*x), -1], halves(small(value), *shift)),
        Op::Mux { cond, on_true, on_false, shift } => ([id(*on_true), id(*on_false)], halves(id(*cond), *shift)),
        Op::Lookup { x, table, base: _ } => ([id(*x), -1], i64::from(table.0)),
        Op::Unary { op, x } => ([id(*x), -1], unary_code(*op)),
        Op::Binary { op, a, b, shift } => {
            let low = i64::from(shift.cast_unsigned());
            ([id(*a), id(*b)], (binary_code(*op) << 56) | low)
        }
        Op::Sum { .. } => unreachable!("rewriting splits sums for version 2"),
    }
}
