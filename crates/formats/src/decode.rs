//! Decoding of the operation records of all formats: opcode, operands and data, of versions up to 2 and of versions 3
//! and 4.
//!
//! This is a hot path: a valid operation causes no allocation, except for sums.

use super::place::Field;
use alir_core::ir::{BinaryBits, Op, TableId, Term, UnaryBits, ValueId};
use alir_core::num::Code;

/// Semantics of the opcodes of the version 2 layout (`docs/dais.md`, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// Before spec version 2: opcodes -2, -3, -6, -9 and the flags of opcode 10 negate an operand first; opcode 4 adds
    /// its data in units of the result's step.
    Old,
    /// Spec version 2.
    Two,
}

/// Bit mask of the operands, in the order of [`Op::for_each_operand`], that an old opcode negates before it uses them.
pub(super) type Negated = u8;

/// Receiver of the problems of a record.
pub(super) trait Report {
    /// Reports a problem in a field of the current operation.
    fn problem(&mut self, field: Field, code: &'static str, message: String, help: String);

    /// Returns the limit of shifts, for messages.
    fn max_shift(&self) -> u32;
}

/// Decodes a record of version 3 or 4. The base of a lookup is set to zero; the caller computes it.
pub(super) fn op_v3(r: &mut impl Report, opcode: i64, addr: &[i64], data: &[i64]) -> Option<Op> {
    let (operands, entries) = match opcode {
        -2 | 2 => (1, 0),
        -1 | 5 => (0, 1),
        0 | 1 => (2, 1),
        // Version 3 has no entry, version 4 has one; the version may be the last key of the file.
        3 => (1, data.len().min(1)),
        4 => (1, 2),
        6 => (3, 1),
        7 => (2, 0),
        8 | 9 => (1, 1),
        10 => (2, 2),
        11 => (addr.len().max(1), 2 * addr.len()),
        _ => return unknown_opcode(r, opcode, "opcodes are -2 to 11"),
    };
    if addr.len() != operands {
        let message = format!("opcode {opcode} has {} operands here", addr.len());
        let help = if opcode == 11 { "it takes at least one".into() } else { format!("it takes {operands}") };
        r.problem(Field::Addrs, "E0130", message, help);
        return None;
    }
    if data.len() != entries {
        let message = format!("opcode {opcode} has {} data entries here", data.len());
        let help = match opcode {
            11 => format!("it takes a sign and a shift for each of its {operands} operands: {entries}"),
            3 => "it takes one, the relative shift (none in version 3)".into(),
            _ => format!("it takes {entries}"),
        };
        r.problem(Field::Data, "E0131", message, help);
        return None;
    }
    let a = |r: &mut _, k: usize| operand(r, Field::Addr(k), addr[k]);
    let by = |r: &mut _, k: usize| shift(r, Field::DataAt(k), data[k]);
    let sub = Field::DataAt(entries.saturating_sub(1));
    Some(match opcode {
        -2 => Op::Neg { x: a(r, 0)? },
        -1 => Op::Input { input: index(r, Field::DataAt(0), data[0], "E0208", "input")? },
        0 => Op::Add { a: a(r, 0)?, b: a(r, 1)?, shift: by(r, 0)? },
        1 => Op::Sub { a: a(r, 0)?, b: a(r, 1)?, shift: by(r, 0)? },
        2 => Op::Relu { x: a(r, 0)? },
        3 => Op::Quantise { x: a(r, 0)?, shift: if entries == 0 { 0 } else { by(r, 0)? } },
        4 => Op::AddConst { x: a(r, 0)?, value: Code::from(data[0]), shift: by(r, 1)? },
        5 => Op::Const { value: Code::from(data[0]) },
        6 => {
            let (on_true, on_false, cond) = (a(r, 0)?, a(r, 1)?, a(r, 2)?);
            Op::Mux { cond, on_true, on_false, shift: by(r, 0)? }
        }
        7 => Op::Mul { a: a(r, 0)?, b: a(r, 1)? },
        8 => {
            let x = a(r, 0)?;
            Op::Lookup { x, table: table(r, Field::DataAt(0), data[0])?, base: Code::ZERO }
        }
        9 => Op::Unary { op: unary(r, sub, data[0])?, x: a(r, 0)? },
        10 => {
            let (op, a, b) = (binary(r, sub, data[1])?, a(r, 0)?, a(r, 1)?);
            Op::Binary { op, a, b, shift: by(r, 0)? }
        }
        _ => sum(r, addr, data)?,
    })
}

fn sum(r: &mut impl Report, addr: &[i64], data: &[i64]) -> Option<Op> {
    let mut terms = Vec::with_capacity(addr.len());
    for (k, &index) in addr.iter().enumerate() {
        let value = operand(r, Field::Addr(k), index);
        let (sign, distance) = (data[2 * k], data[2 * k + 1]);
        if !matches!(sign, 0 | 1) {
            r.problem(Field::DataAt(2 * k), "E0132", format!("{sign} is not a sign"), "1 is plus, 0 is minus".into());
        }
        let shift = shift(r, Field::DataAt(2 * k + 1), distance);
        if let (Some(value), Some(shift), 0 | 1) = (value, shift, sign) {
            terms.push(Term { value, shift, neg: sign == 0 });
        }
    }
    (terms.len() == addr.len()).then(|| Op::Sum { terms: terms.into() })
}

/// Decodes a record of version 2 or older. Returns the operation (with a base of zero for a lookup) and the operands
/// that the operation negates first. `frac` is the number of fractional bits of the result, which determines the unit
/// of an old constant.
pub(super) fn op_v2(
    r: &mut impl Report,
    era: Era,
    opcode: i64,
    ids: [i64; 2],
    data: i64,
    frac: i32,
) -> Option<(Op, Negated)> {
    // The low and the high half, each signed.
    let (low, high) = (data as i32, (data >> 32) as i32);
    let a = |r: &mut _| operand(r, Field::Id0, ids[0]);
    let b = |r: &mut _| operand(r, Field::Id1, ids[1]);
    let old = era == Era::Old;
    let mut negated: Negated = 0;
    let op = match opcode {
        -2 if old => {
            negated = 1;
            Op::Relu { x: a(r)? }
        }
        -2 => Op::Neg { x: a(r)? },
        -1 => Op::Input { input: index(r, Field::Id0, ids[0], "E0208", "input")? },
        0 => Op::Add { a: a(r)?, b: b(r)?, shift: low },
        1 => Op::Sub { a: a(r)?, b: b(r)?, shift: low },
        2 => Op::Relu { x: a(r)? },
        3 | -3 if old || opcode == 3 => {
            negated = Negated::from(opcode < 0);
            Op::Quantise { x: a(r)?, shift: 0 }
        }
        4 if old => Op::AddConst { x: a(r)?, value: Code::from(data), shift: frac },
        4 => Op::AddConst { x: a(r)?, value: Code::from(i64::from(low)), shift: high },
        5 => Op::Const { value: Code::from(data) },
        6 | -6 if old || opcode == 6 => {
            negated = if opcode < 0 { 0b010 } else { 0 };
            let (on_true, on_false) = (a(r)?, b(r)?);
            Op::Mux { cond: operand(r, Field::Data, i64::from(low))?, on_true, on_false, shift: high }
        }
        7 => Op::Mul { a: a(r)?, b: b(r)? },
        8 => {
            let x = a(r)?;
            Op::Lookup { x, table: table(r, Field::Data, data)?, base: Code::ZERO }
        }
        9 | -9 if old || opcode == 9 => {
            negated = Negated::from(opcode < 0);
            Op::Unary { op: unary(r, Field::Data, data)?, x: a(r)? }
        }
        10 => {
            let reserved = data.cast_unsigned() >> 32 & 0xff_ffff;
            let flags = if old { reserved & 3 } else { 0 };
            if reserved != flags {
                let message = format!("bits {} to 55 of {data} are not zero", if old { 34 } else { 32 });
                let help = "they are reserved: shift in bits 0 to 31, sub in 56 to 63".into();
                r.problem(Field::Data, "E0138", message, help);
                return None;
            }
            negated = flags as Negated;
            let op = binary(r, Field::Data, data >> 56 & 0xff)?;
            Op::Binary { op, a: a(r)?, b: b(r)?, shift: low }
        }
        11 => {
            let help = "sums of several terms exist since version 3".into();
            r.problem(Field::Opcode, "E0128", "opcode 11 in a record of version 2".into(), help);
            return None;
        }
        -3 | -6 | -9 => {
            let help = "opcodes -3, -6 and -9 were removed in version 2: negate with opcode -2 first";
            return unknown_opcode(r, opcode, help);
        }
        _ if old => return unknown_opcode(r, opcode, "opcodes are -3 to 10, -6 and -9 in a file without a header"),
        _ => return unknown_opcode(r, opcode, "opcodes are -2 to 10 in version 2"),
    };
    Some((op, negated))
}

fn unknown_opcode<T>(r: &mut impl Report, opcode: i64, help: &str) -> Option<T> {
    r.problem(Field::Opcode, "E0128", format!("unknown opcode {opcode}"), help.into());
    None
}

/// Converts an index to an operand. The checks of the model ensure that it refers to an earlier operation.
fn operand(r: &mut impl Report, at: Field, index: i64) -> Option<ValueId> {
    if index < 0 {
        let help = "give the index of an earlier operation".into();
        r.problem(at, "E0139", format!("operand {index} is negative"), help);
        return None;
    }
    let id = u32::try_from(index).ok().map(ValueId);
    if id.is_none() {
        let help = "operations may only use earlier values".into();
        r.problem(at, "E0207", format!("operand {index} does not exist"), help);
    }
    id
}

/// Converts an index of an input or table. The checks of the model ensure that it exists.
fn index(r: &mut impl Report, at: Field, index: i64, code: &'static str, what: &str) -> Option<u32> {
    let found = u32::try_from(index).ok();
    if found.is_none() {
        r.problem(at, code, format!("{what} {index} does not exist"), format!("{what}s are counted from 0"));
    }
    found
}

fn table(r: &mut impl Report, at: Field, table: i64) -> Option<TableId> {
    index(r, at, table, "E0209", "table").map(TableId)
}

/// Converts a shift. The checks of the model enforce its limit.
fn shift(r: &mut impl Report, at: Field, shift: i64) -> Option<i32> {
    let small = i32::try_from(shift).ok();
    if small.is_none() {
        let (message, help) = shift_refused(shift, r.max_shift());
        r.problem(at, "E0203", message, help);
    }
    small
}

/// Returns the message and help for a shift outside 32 bits.
pub(super) fn shift_refused(shift: i64, limit: u32) -> (String, String) {
    let message = format!("shift {shift} is beyond the limit of {limit}");
    (message, format!("use -{limit} to {limit}, or raise --max-shift"))
}

fn unary(r: &mut impl Report, at: Field, sub: i64) -> Option<UnaryBits> {
    match sub {
        0 => Some(UnaryBits::Not),
        1 => Some(UnaryBits::Any),
        2 => Some(UnaryBits::All),
        _ => {
            let message = format!("unknown unary bit operation {sub}");
            r.problem(at, "E0129", message, "0 is not, 1 any, 2 all".into());
            None
        }
    }
}

fn binary(r: &mut impl Report, at: Field, sub: i64) -> Option<BinaryBits> {
    match sub {
        0 => Some(BinaryBits::And),
        1 => Some(BinaryBits::Or),
        2 => Some(BinaryBits::Xor),
        _ => {
            let message = format!("unknown binary bit operation {sub}");
            r.problem(at, "E0129", message, "0 is and, 1 or, 2 xor".into());
            None
        }
    }
}
