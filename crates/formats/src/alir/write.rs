//! Writer of ALIR JSON, versions 2, 3 and 4.
//!
//! A file reads back as an equal program: intervals, latencies, costs, tables with their hashes, cost model. Floats are
//! formatted as by the reference library; integers that no double represents are written as integers.

use super::super::Target;
use super::super::bytecode::{binary_code, fields, unary_code};
use super::number::Dyadic;
use alir_core::diag::{Diagnostic, Place};
use alir_core::ir::{Model, Node, Op};
use alir_core::num::{Code, Interval};
use num_traits::ToPrimitive;
use std::fmt;
use std::io::{self, Write};

/// Writes a program that was prepared for `target`.
///
/// # Errors
/// Errors of `out`.
pub(in super::super) fn write(model: &Model, target: Target, out: &mut dyn Write) -> io::Result<()> {
    let out = &mut io::BufWriter::with_capacity(1 << 16, out);
    print(model, target, out)?;
    out.flush()
}

/// Exact decimal representation of a number in JSON.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) enum Spelling {
    Float(f64),
    /// An integer that no double represents.
    Integer(String),
}

impl fmt::Display for Spelling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spelling::Float(v) => write!(f, "{v:?}"),
            Spelling::Integer(text) => f.write_str(text),
        }
    }
}

/// Returns the exact representation of `code * 2^-frac`; `None` if the value is neither a double nor an integer.
pub(in super::super) fn spelling(code: &Code, frac: i32) -> Option<Spelling> {
    if code.is_zero() {
        return Some(Spelling::Float(0.0));
    }
    let (mantissa, exponent) = match code.to_i64() {
        Some(v) => (v >> v.trailing_zeros(), i64::from(v.trailing_zeros())),
        None => {
            let big = code.to_big();
            let zeros = big.trailing_zeros().unwrap_or(0);
            // A mantissa beyond 64 bits fits no double, so any other odd number that is too long for a double can
            // replace it.
            ((big >> zeros).to_i64().unwrap_or(i64::MAX), zeros as i64)
        }
    };
    let exponent = exponent - i64::from(frac);
    if let Ok(exponent) = i32::try_from(exponent)
        && mantissa.unsigned_abs() < 1 << 53
    {
        // Scales in two steps: both factors are in range if the result is.
        let half = exponent / 2;
        let value = mantissa as f64 * 2f64.powi(half) * 2f64.powi(exponent - half);
        if value.is_finite() && Dyadic::from_f64(value) == (Dyadic::Small { mantissa, exponent }) {
            return Some(Spelling::Float(value));
        }
    }
    if frac <= 0 {
        return Some(Spelling::Integer((code.to_big() << frac.unsigned_abs()).to_string()));
    }
    (exponent >= 0).then(|| Spelling::Integer((code.to_big() >> frac.unsigned_abs()).to_string()))
}

/// Returns an error for each number of the program that JSON cannot represent exactly, up to a limit.
pub(in super::super) fn unrepresentable(model: &Model) -> Vec<Diagnostic> {
    const MOST: usize = 50;
    let mut problems = Vec::new();
    for (i, node) in model.nodes().iter().enumerate() {
        if problems.len() >= MOST {
            break;
        }
        let place = || format!("ops[{i}]");
        problems.extend(unrepresentable_interval(&node.interval, &place));
        if let Op::Const { value } | Op::AddConst { value, .. } = &node.op
            && value.to_i64().is_none()
        {
            let message = format!("the constant has {} bits", value.bits());
            let help = "the format holds constants of 64 bits";
            problems.push(Diagnostic::error("E1102", Place::Path(place()), message).with_help(help));
        }
    }
    for (t, table) in model.tables().iter().enumerate() {
        problems.extend(unrepresentable_interval(&table.out, &|| format!("lookup_tables[{t}].spec.out_qint")));
    }
    problems
}

fn unrepresentable_interval(interval: &Interval, place: &dyn Fn() -> String) -> Option<Diagnostic> {
    let step = Code::from(1);
    let bad = [("min", &interval.min), ("max", &interval.max), ("step", &step)]
        .into_iter()
        .find(|(_, code)| spelling(code, interval.frac).is_none())?;
    let message = format!("{} of the interval is neither a double nor an integer", bad.0);
    Some(
        Diagnostic::error("E1101", Place::Path(place()), message)
            .with_help("JSON files hold bounds as doubles (53 bits) or as integers"),
    )
}

/// Prints the file as one line.
fn print(model: &Model, target: Target, out: &mut impl Write) -> io::Result<()> {
    let version = match target {
        Target::Alir2 => 2,
        Target::Alir3 => 3,
        _ => 4,
    };
    write!(out, "{{\"meta\":\"ALIRModel\",\"spec_version\":{version},\"model\":[")?;
    write!(out, "[{},{}],", model.n_inputs(), model.outputs().len())?;
    list(out, model.inp_shifts().iter())?;
    out.write_all(b",")?;
    list(out, model.outputs().iter().map(|o| o.source.map_or(-1, |v| i64::from(v.0))))?;
    out.write_all(b",")?;
    list(out, model.outputs().iter().map(|o| o.shift))?;
    out.write_all(b",")?;
    list(out, model.outputs().iter().map(|o| o.neg))?;
    out.write_all(b",[")?;
    for (i, node) in model.nodes().iter().enumerate() {
        if i > 0 {
            out.write_all(b",")?;
        }
        record(node, target, out)?;
    }
    write!(out, "],{},{},", model.carry_size(), model.adder_size())?;
    tables(model, out)?;
    out.write_all(b"]}\n")
}

fn list<T: fmt::Display>(out: &mut impl Write, items: impl Iterator<Item = T>) -> io::Result<()> {
    out.write_all(b"[")?;
    for (i, item) in items.enumerate() {
        if i > 0 {
            out.write_all(b",")?;
        }
        write!(out, "{item}")?;
    }
    out.write_all(b"]")
}

fn tables(model: &Model, out: &mut impl Write) -> io::Result<()> {
    if model.tables().is_empty() {
        return out.write_all(b"null");
    }
    out.write_all(b"[")?;
    for (t, table) in model.tables().iter().enumerate() {
        if t > 0 {
            out.write_all(b",")?;
        }
        let hash = serde_json::to_string(&table.hash)?;
        let [min, max, step] = numbers(&table.out);
        write!(out, "{{\"spec\":{{\"hash\":{hash},\"out_qint\":{{\"min\":{min},\"max\":{max},\"step\":{step}}},")?;
        write!(out, "\"inp_width\":{}}},\"table\":", table.inp_width)?;
        list(out, table.entries.iter())?;
        out.write_all(b"}")?;
    }
    out.write_all(b"]")
}

/// Returns min, max and step of an interval, all of which are known to be representable.
fn numbers(interval: &Interval) -> [Spelling; 3] {
    let number = |code: &Code| spelling(code, interval.frac).expect("checked before printing");
    [number(&interval.min), number(&interval.max), number(&Code::from(1))]
}

/// Prints the record of an operation.
fn record(node: &Node, target: Target, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"[")?;
    match target {
        Target::Alir2 => fields_v2(node, out)?,
        _ => fields_v3(node, target, out)?,
    }
    let [min, max, step] = numbers(&node.interval);
    write!(out, ",[{min},{max},{step}],{:?},{:?}]", node.latency, node.cost)
}

/// Prints the first fields of a record of version 3 or 4: `[addr], opcode, [data]`.
fn fields_v3(node: &Node, target: Target, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"[")?;
    let (mut first, mut outcome) = (true, Ok(()));
    node.op.for_each_operand(|v| {
        let comma = if std::mem::take(&mut first) { "" } else { "," };
        if outcome.is_ok() {
            outcome = write!(out, "{comma}{}", v.0);
        }
    });
    outcome?;
    write!(out, "],{},", node.op.opcode())?;
    match &node.op {
        Op::Neg { .. } | Op::Relu { .. } | Op::Mul { .. } => out.write_all(b"[]"),
        Op::Input { input } => write!(out, "[{input}]"),
        Op::Add { shift, .. } | Op::Sub { shift, .. } | Op::Mux { shift, .. } => write!(out, "[{shift}]"),
        Op::Quantise { shift, .. } if target.has_relative_shift() => write!(out, "[{shift}]"),
        Op::Quantise { .. } => out.write_all(b"[]"),
        Op::AddConst { value, shift, .. } => write!(out, "[{value},{shift}]"),
        Op::Const { value } => write!(out, "[{value}]"),
        Op::Lookup { table, .. } => write!(out, "[{}]", table.0),
        Op::Unary { op, .. } => write!(out, "[{}]", unary_code(*op)),
        Op::Binary { op, shift, .. } => write!(out, "[{shift},{}]", binary_code(*op)),
        Op::Sum { terms } => {
            let data = terms.iter().flat_map(|t| [i32::from(!t.neg), t.shift]);
            list(out, data)
        }
    }
}

/// Prints the first fields of a record of version 2: `id0, id1, opcode, data`.
fn fields_v2(node: &Node, out: &mut impl Write) -> io::Result<()> {
    let ([id0, id1], data) = fields(&node.op);
    write!(out, "{id0},{id1},{},{data}", node.op.opcode())
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;

    #[test]
    fn spellings_are_exact() {
        let float = |code: i64, frac: i32| spelling(&Code::from(code), frac).map(|s| s.to_string());
        assert_eq!(float(-31, 2).as_deref(), Some("-7.75"));
        assert_eq!(float(1, 30).as_deref(), Some("9.313225746154785e-10"));
        assert_eq!(float(1, -127).as_deref(), Some("1.7014118346046923e38"));
        assert_eq!(float((1 << 53) + 1, 0).as_deref(), Some("9007199254740993"));
        assert_eq!(float(i64::MIN, 0).as_deref(), Some("-9.223372036854776e18"));
        assert_eq!(float((1 << 53) + 1, 1), None);
        assert_eq!(float(1, 1074).as_deref(), Some("5e-324"));
        assert_eq!(float(1, 1075), None);
        let huge = Code::from(BigInt::from(1) << 1024u32);
        assert_eq!(spelling(&huge, 0).unwrap().to_string().len(), 309);
        assert_eq!(spelling(&huge, 1), Some(Spelling::Float(2f64.powi(1023))));
    }
}
