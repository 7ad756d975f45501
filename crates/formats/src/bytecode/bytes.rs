//! Byte code of versions 3 and 4: magic bytes, then fields of one to eight bytes.

use super::super::decode::op_v3;
use super::super::place::Field;
use super::{Assembly, AtRow, Row, binary_code, no_room, pad, unary_code, wide_constant};
use alir_core::diag::{Diagnostic, Diagnostics, Place};
use alir_core::ir::{Limits, Model, Node, Op, Output, Site, ValueId};
use alir_core::num::Code;
use std::io::{self, Write};

/// Magic bytes at the start of a file.
pub(in super::super) const MAGIC: &[u8; 4] = b"ALIR";

/// Number of bytes of an operation without operands and data.
const ROW: usize = 8;

/// Bytes of a file and the position of the next unread one.
struct Cursor<'b> {
    all: &'b [u8],
    pos: usize,
}

impl Cursor<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Diagnostics> {
        match self.all[self.pos..].first_chunk::<N>() {
            Some(bytes) => {
                self.pos += N;
                Ok(*bytes)
            }
            None => Err(self.ends_early()),
        }
    }

    fn ends_early(&self) -> Diagnostics {
        let place = Place::Byte(self.all.len() as u64);
        let message = format!("the file ends early: more was to follow at byte {}", self.pos);
        Diagnostic::error("E0150", place, message).with_help("the file is truncated: copy it again").into()
    }

    /// Reads the count of items of at least `size` bytes each, and checks that the items fit into the remaining bytes.
    fn count(&mut self, size: usize) -> Result<usize, Diagnostics> {
        let n = u32::from_le_bytes(self.take()?) as usize;
        if n.saturating_mul(size) > self.all.len() - self.pos {
            return Err(self.ends_early());
        }
        Ok(n)
    }

    fn i32s(&mut self, n: usize) -> Result<Vec<i32>, Diagnostics> {
        if n.saturating_mul(4) > self.all.len() - self.pos {
            return Err(self.ends_early());
        }
        (0..n).map(|_| self.take().map(i32::from_le_bytes)).collect()
    }
}

/// Byte offsets of the parts of an operation.
#[derive(Clone, Copy)]
struct Offsets {
    start: usize,
    n_addr: usize,
}

impl Offsets {
    fn byte_of(self, field: Field) -> u64 {
        let Offsets { start, n_addr } = self;
        (match field {
            Field::Interval => start + 1,
            Field::Addrs => start + 4,
            Field::Data => start + 6,
            Field::Addr(k) => start + ROW + 4 * k,
            Field::DataAt(k) => start + ROW + 4 * n_addr + 8 * k,
            _ => start,
        }) as u64
    }
}

/// Reads a program.
///
/// # Errors
/// Every problem of the file.
pub(in super::super) fn read(
    bytes: &[u8],
    limits: &Limits,
    form: &mut String,
) -> Result<(Model, Diagnostics), Diagnostics> {
    let mut cursor = Cursor { all: bytes, pos: 0 };
    if cursor.take::<4>()? != *MAGIC {
        let problem = Diagnostic::error("E0115", Place::Byte(0), "byte code of version 4 starts with ALIR");
        return Err(problem.with_help("leave out --format to detect the format").into());
    }
    let spec = u32::from_le_bytes(cursor.take()?);
    if !matches!(spec, 3 | 4) {
        let message = format!("unknown version {spec} in the header");
        return Err(Diagnostic::error("E0154", Place::Byte(4), message).with_help("known in bytes: 3 and 4").into());
    }
    *form = format!("byte code of ALIR {spec}");
    // The sizes come first; each is checked against the length of the file.
    let n_in = cursor.count(4)?;
    let n_out = cursor.count(9)?;
    let n_ops = cursor.count(ROW)?;
    let n_tables = cursor.count(4)?;
    if n_ops as u64 > limits.max_ops {
        let message = format!("more than {} operations", limits.max_ops);
        return Err(Diagnostic::error("E0201", Place::Byte(16), message).with_help("raise --max-ops").into());
    }
    let ports = cursor.pos;
    let inp_shifts = cursor.i32s(n_in)?;
    let out_idxs = cursor.i32s(n_out)?;
    let out_shifts = cursor.i32s(n_out)?;
    let out_negs = (0..n_out).map(|_| cursor.take::<1>().map(|[b]| b)).collect::<Result<Vec<u8>, _>>()?;

    // Tables are at the end of the file but are needed first, so the operations are skipped.
    let first_op = cursor.pos;
    let mut offsets = Vec::with_capacity(n_ops);
    for _ in 0..n_ops {
        let start = cursor.pos;
        let [_, _, _, _, a0, a1, d0, d1] = cursor.take::<ROW>()?;
        let (n_addr, n_data) = (u16::from_le_bytes([a0, a1]), u16::from_le_bytes([d0, d1]));
        cursor.pos += 4 * usize::from(n_addr) + 8 * usize::from(n_data);
        if cursor.pos > bytes.len() {
            cursor.pos = start;
            return Err(cursor.ends_early());
        }
        offsets.push(Offsets { start, n_addr: n_addr.into() });
    }
    let mut tables = Vec::with_capacity(n_tables);
    for _ in 0..n_tables {
        let n = cursor.count(4)?;
        tables.push(cursor.i32s(n)?);
    }
    if cursor.pos < bytes.len() {
        let message = format!("{} bytes after the last table", bytes.len() - cursor.pos);
        let problem = Diagnostic::error("E0151", Place::Byte(cursor.pos as u64), message);
        return Err(problem.with_help("remove what was appended").into());
    }

    let mut assembly = Assembly::new(limits, inp_shifts, tables)?;
    cursor.pos = first_op;
    let (mut addr, mut data) = (Vec::new(), Vec::new());
    for (index, &at) in offsets.iter().enumerate() {
        if assembly.is_full() {
            break;
        }
        let [opcode, signed, int, frac, _, _, d0, d1] = cursor.take::<ROW>()?;
        addr.clear();
        data.clear();
        for _ in 0..at.n_addr {
            addr.push(i64::from(u32::from_le_bytes(cursor.take()?)));
        }
        for _ in 0..u16::from_le_bytes([d0, d1]) {
            data.push(i64::from_le_bytes(cursor.take()?));
        }
        let byte_of = |field| at.byte_of(field);
        let place = Place::Byte(byte_of(Field::Interval));
        let [int, frac] = [int, frac].map(|b| i64::from(b.cast_signed()));
        let interval = assembly.interval(index, place, signed.into(), int, frac)?;
        let opcode = opcode.cast_signed();
        let wanted = match opcode {
            8 => Some(2),
            3 => Some(if spec == 3 { 0 } else { 1 }),
            _ => None,
        };
        let op = if let Some(wanted) = wanted
            && data.len() != wanted
        {
            let message = format!("operation {index}: opcode {opcode} has {} data entries here", data.len());
            let help = format!("it takes {wanted} in byte code of version {spec}");
            assembly.problem("E0131", Place::Byte(byte_of(Field::Data)), message, help);
            None
        } else {
            let entries = if opcode == 8 { &data[..1] } else { &data[..] };
            let mut report = AtRow { assembly: &mut assembly, index, byte_of };
            op_v3(&mut report, opcode.into(), &addr, entries)
        };
        let pad = if opcode == 8 { data.get(1).copied().unwrap_or(0) } else { 0 };
        assembly.push(Row { op, negated: 0, interval, pad }, byte_of)?;
    }

    let idx_byte = |j: usize| (ports + 4 * n_in + 4 * j) as u64;
    let shift_byte = |j: usize| (ports + 4 * (n_in + n_out) + 4 * j) as u64;
    let mut outputs = Vec::with_capacity(n_out);
    for j in 0..n_out {
        let (index, neg) = (out_idxs[j], out_negs[j]);
        if index < -1 {
            let message = format!("output {j}: operation {index} does not exist");
            let help = "use the index of an operation, or -1 for the constant zero";
            assembly.problem("E0217", Place::Byte(idx_byte(j)), message, help);
        }
        if neg > 1 {
            let place = Place::Byte((ports + 4 * (n_in + 2 * n_out) + j) as u64);
            assembly.problem("E0140", place, format!("output {j}: {neg} is not a flag"), "use 1 or 0");
        }
        outputs.push(Output { source: u32::try_from(index).ok().map(ValueId), shift: out_shifts[j], neg: neg == 1 });
    }
    let op_byte = |index: usize, field| offsets[index].byte_of(field);
    let port_byte = |site| match site {
        Site::InputShift(i) => Some((ports + 4 * i) as u64),
        Site::OutputSource(j) => Some(idx_byte(j)),
        Site::OutputShift(j) => Some(shift_byte(j)),
        _ => None,
    };
    assembly.finish(outputs, op_byte, port_byte).map(|model| (model, Diagnostics::default()))
}

/// Returns an error for each property of a program that the fields of byte code version 4 cannot represent.
pub(in super::super) fn unrepresentable(model: &Model) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (index, Node { op, .. }) in model.nodes().iter().enumerate() {
        problems.extend(wide_constant(index, op));
        let kif = model.kif(ValueId(index as u32));
        for (what, bits) in [("integer", kif.int), ("fractional", kif.frac)] {
            if i8::try_from(bits).is_err() {
                let help = "byte code of version 4 holds -128 to 127: write JSON or byte code of version 2";
                problems.push(no_room(index, op, format!("{bits} {what} bits"), help));
            }
        }
        match op {
            Op::Sum { terms } if 2 * terms.len() > usize::from(u16::MAX) => {
                let help = "byte code of version 4 holds sums of 32,767 terms: write JSON";
                problems.push(no_room(index, op, format!("{} terms", terms.len()), help));
            }
            Op::Lookup { x, base, .. } if pad(model, *x, base).is_none() => {
                let help = "the operand's type has too many codes below the table: quantise it first";
                problems.push(no_room(index, op, "the table's left pad is beyond 64 bits", help));
            }
            _ => {}
        }
    }
    problems
}

/// Writes a program that was prepared for byte code of version 4.
///
/// # Errors
/// Errors of `out`.
pub(in super::super) fn write(model: &Model, out: &mut dyn Write) -> io::Result<()> {
    let out = &mut io::BufWriter::with_capacity(1 << 16, out);
    out.write_all(MAGIC)?;
    let sizes = [4, model.n_inputs(), model.outputs().len(), model.nodes().len(), model.tables().len()];
    sizes.iter().try_for_each(|&n| out.write_all(&(n as u32).to_le_bytes()))?;
    let mut words: Vec<i32> = model.inp_shifts().to_vec();
    words.extend(model.outputs().iter().map(|o| o.source.map_or(-1, |v| v.0.cast_signed())));
    words.extend(model.outputs().iter().map(|o| o.shift));
    words.iter().try_for_each(|word| out.write_all(&word.to_le_bytes()))?;
    model.outputs().iter().try_for_each(|o| out.write_all(&[o.neg.into()]))?;
    let (mut addr, mut data) = (Vec::new(), Vec::new());
    for node in model.nodes() {
        addr.clear();
        data.clear();
        node.op.for_each_operand(|v| addr.push(v.0));
        data_of(model, &node.op, &mut data);
        let kif = node.interval.kif();
        let narrow = [node.op.opcode(), i8::from(kif.signed), kif.int as i8, kif.frac as i8];
        out.write_all(&narrow.map(i8::cast_unsigned))?;
        out.write_all(&(addr.len() as u16).to_le_bytes())?;
        out.write_all(&(data.len() as u16).to_le_bytes())?;
        addr.iter().try_for_each(|a| out.write_all(&a.to_le_bytes()))?;
        data.iter().try_for_each(|d| out.write_all(&d.to_le_bytes()))?;
    }
    for table in model.tables() {
        out.write_all(&(table.entries.len() as u32).to_le_bytes())?;
        table.entries.iter().try_for_each(|entry| out.write_all(&entry.to_le_bytes()))?;
    }
    out.flush()
}

fn data_of(model: &Model, op: &Op, data: &mut Vec<i64>) {
    let small = |value: &Code| value.to_i64().unwrap_or_default();
    match op {
        Op::Neg { .. } | Op::Relu { .. } | Op::Mul { .. } => {}
        Op::Input { input } => data.push(i64::from(*input)),
        Op::Add { shift, .. } | Op::Sub { shift, .. } | Op::Mux { shift, .. } | Op::Quantise { shift, .. } => {
            data.push(i64::from(*shift));
        }
        Op::AddConst { value, shift, .. } => data.extend([small(value), i64::from(*shift)]),
        Op::Const { value } => data.push(small(value)),
        Op::Lookup { x, table, base } => {
            data.extend([i64::from(table.0), pad(model, *x, base).unwrap_or_default()]);
        }
        Op::Unary { op, .. } => data.push(unary_code(*op)),
        Op::Binary { op, shift, .. } => data.extend([i64::from(*shift), binary_code(*op)]),
        Op::Sum { terms } => data.extend(terms.iter().flat_map(|t| [i64::from(!t.neg), i64::from(t.shift)])),
    }
}
