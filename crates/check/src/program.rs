//! Programs as gates: parser and semantics of ALIR JSON, versions 2 to 4, implemented from `docs/alir.md` alone.

use crate::graph::{Graph, Lit};
use crate::sums::{Range, Sum, Value, both};
use crate::words::{add, all, any, choose, exact, multiply, negate, resize, subtract, table};
use crate::{ValueCallback, ensure};
use num_bigint::{BigInt, Sign};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::io::Read;

/// Largest width of a word in bits, and largest shift.
pub(crate) const MOST_BITS: i64 = 4096;
const MOST_ADDRESS: usize = 18;
/// Maximum length of a number in a file, in bytes: conversion from decimal takes quadratic time. The longest number
/// that a model within the limits needs has two words of [`MOST_BITS`] bits, which are 2,467 decimal digits.
const MAX_NUMBER_LENGTH: usize = 2500;
/// Largest size of an unpacked file in bytes.
const MOST_BYTES: u64 = 1 << 30;

/// Type of a value: signedness, width and number of fractional bits. A type without bits has no fractional bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Type {
    /// `true` if the top bit is the sign.
    pub signed: bool,
    /// Number of bits.
    pub width: usize,
    /// Number of fractional bits: the lowest bit has the weight `2^-frac`.
    pub frac: i64,
}

/// Bounds in units of the step, and the base-two logarithm of the step.
#[derive(Clone, Debug)]
struct Interval {
    min: BigInt,
    max: BigInt,
    step: i64,
}

/// An operation in the encoding of version 4; other versions are converted.
#[derive(Clone, Debug)]
pub struct Operation {
    opcode: i64,
    /// Indices of the values that the operation reads.
    pub operands: Vec<usize>,
    data: Vec<i64>,
    interval: Interval,
    /// Type of the result.
    pub kind: Type,
}

/// Terms (value, shift, `true` if subtracted), and a constant with its number of fractional bits.
type Terms = (Vec<(usize, i64, bool)>, Option<(i64, i64)>);

/// An ALIR program: operations, look-up tables, and types of the inputs and outputs.
#[derive(Clone, Debug)]
pub struct Program {
    /// Operations in order.
    pub operations: Vec<Operation>,
    tables: Vec<Vec<i32>>,
    /// Types of the input elements.
    pub inputs: Vec<Type>,
    /// Power of two by which each input element is multiplied.
    pub(crate) shifts: Vec<i64>,
    /// Source, `true` if negated, and type of each output element.
    outputs: Vec<(Option<usize>, bool, Type)>,
}

#[derive(Deserialize)]
struct File<'a> {
    meta: String,
    spec_version: i64,
    #[serde(borrow)]
    model: Vec<&'a RawValue>,
}

/// Parses a part of a file.
pub(crate) fn parsed<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, String> {
    serde_json::from_str(raw.get()).map_err(|why| format!("the model: {why}"))
}

/// Returns the content of a file, plain or gzip.
///
/// # Errors
/// If the file cannot be unpacked, or is too long.
pub(crate) fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut plain = Vec::new();
    let packed = bytes.starts_with(&[0x1f, 0x8b]);
    let source: Box<dyn Read> =
        if packed { Box::new(flate2::read::MultiGzDecoder::new(bytes)) } else { Box::new(bytes) };
    source.take(MOST_BYTES + 1).read_to_end(&mut plain).map_err(|why| format!("the model: {why}"))?;
    ensure(plain.len() as u64 <= MOST_BYTES, "the model has more bytes than the limit").map(|()| plain)
}

/// Returns a JSON number exactly, as an integer and a power of two.
pub(crate) fn number(raw: &str) -> Result<(BigInt, i64), String> {
    let raw = raw.trim();
    ensure(raw.len() <= MAX_NUMBER_LENGTH, "a number with more digits than the limit")?;
    if raw.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
        return Ok((raw.parse().map_err(|_| format!("{raw:?} is not a number"))?, 0));
    }
    let value: f64 = serde_json::from_str(raw).map_err(|_| format!("{raw:?} is not a number"))?;
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
    let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    let sign = if value < 0.0 { -1 } else { 1 };
    Ok((BigInt::from(mantissa) * sign, exponent.max(1) - 1075))
}

impl Interval {
    fn read(raw: &RawValue) -> Result<Interval, String> {
        let parts: Vec<&RawValue> = parsed(raw)?;
        let [min, max, step] = parts[..] else { return Err("an interval is three numbers".into()) };
        let (m, e) = number(step.get())?;
        let zeros = m.trailing_zeros().ok_or("a step that is zero")? as i64;
        ensure(m == BigInt::from(1) << zeros as usize, "a step that is not a power of two")?;
        let step = e + zeros;
        ensure(step.abs() <= MOST_BITS, "a step beyond the limit")?;
        let code = |raw: &RawValue| {
            let (m, e) = number(raw.get())?;
            let (up, down) = ((e - step).max(0) as usize, (step - e).max(0) as usize);
            let is_whole = m.trailing_zeros().is_none_or(|zeros| zeros as usize >= down);
            ensure(is_whole, "a bound that is not a multiple of its step").map(|()| m << up >> down)
        };
        let (min, max) = (code(min)?, code(max)?);
        ensure(min <= max, "a minimum above its maximum")?;
        Ok(Interval { min, max, step })
    }

    fn kind(&self) -> Result<Type, String> {
        let signed = self.min.sign() == Sign::Minus;
        let bits = |v: &BigInt| if v.sign() == Sign::Minus { (!v).bits() } else { v.bits() };
        let width = bits(&self.min).max(bits(&self.max)) as usize + usize::from(signed);
        ensure(width <= MOST_BITS as usize, "more bits than the limit")?;
        Ok(if width == 0 { Type::default() } else { Type { signed, width, frac: -self.step } })
    }
}

impl Operation {
    fn read(record: &[&RawValue], version: i64) -> Result<Operation, String> {
        let (operands, opcode, mut data): (Vec<i64>, i64, Vec<i64>) = match record {
            [id0, id1, opcode, data, _, _, _] => {
                let (id0, id1, opcode): (i64, i64, i64) = (parsed(id0)?, parsed(id1)?, parsed(opcode)?);
                let (whole, _) = number(data.get())?;
                let modulus = BigInt::from(1u128 << 64);
                let low = ((whole % &modulus) + &modulus) % &modulus;
                let word = u64::try_from(low).map_err(|_| "data")?.cast_signed();
                let (low, high) = (i64::from(word as i32), word >> 32);
                let (operands, data) = match opcode {
                    -1 => (vec![], vec![id0]),
                    0 | 1 => (vec![id0, id1], vec![low]),
                    3 => (vec![id0], vec![0]),
                    4 => (vec![id0], vec![low, high]),
                    5 => (vec![], vec![word]),
                    6 => (vec![id0, id1, low], vec![high]),
                    7 => (vec![id0, id1], vec![]),
                    8 | 9 => (vec![id0], vec![word]),
                    10 => (vec![id0, id1], vec![low, word >> 56 & 0xff]),
                    _ => (vec![id0], vec![]),
                };
                (operands, opcode, data)
            }
            [operands, opcode, data, _, _, _] => (parsed(operands)?, parsed(opcode)?, parsed(data)?),
            _ => return Err("a record of another length".into()),
        };
        if version < 4 && opcode == 3 && data.is_empty() {
            data.push(0);
        }
        let operands: Option<Vec<usize>> = operands.iter().map(|&v| usize::try_from(v).ok()).collect();
        let operands = operands.ok_or("a negative operand")?;
        let interval = Interval::read(record[record.len() - 3])?;
        let kind = interval.kind()?;
        Ok(Operation { opcode, operands, data, interval, kind })
    }

    /// Returns the terms of the exact sum before wrapping; `None` for operations that are not sums.
    fn terms(&self) -> Option<Terms> {
        Some(match (self.opcode, &self.operands[..], &self.data[..]) {
            (-2, &[x], _) => (vec![(x, 0, true)], None),
            (0 | 1, &[a, b], &[shift]) => (vec![(a, 0, false), (b, shift, self.opcode == 1)], None),
            (3, &[x], &[shift]) => (vec![(x, shift, false)], None),
            (4, &[x], &[value, point]) => (vec![(x, 0, false)], Some((value, point))),
            (5, [], &[value]) => (vec![], Some((value, -self.interval.step))),
            (11, values, data) if !values.is_empty() && data.len() == 2 * values.len() => {
                (values.iter().zip(data.chunks(2)).map(|(&v, d)| (v, d[1], d[0] == 0)).collect(), None)
            }
            _ => return None,
        })
    }

    /// Checks the operands and data that an opcode requires.
    fn check(&self, before: &[Operation], n_in: usize, n_tables: usize) -> Result<(), String> {
        ensure(self.operands.iter().all(|&v| v < before.len()), "an operand that is not an earlier value")?;
        let is_below = |number: i64, all: usize| usize::try_from(number).is_ok_and(|number| number < all);
        let near = |shift: i64| ensure(shift.unsigned_abs() <= MOST_BITS as u64, "a shift beyond the limit");
        match (self.opcode, &self.operands[..], &self.data[..]) {
            (-1, [], &[input]) => ensure(is_below(input, n_in), "an input that does not exist"),
            (2, [_], _) | (7, [_, _], _) | (9, [_], [1 | 2]) => Ok(()),
            (6, [_, _, _], &[shift]) | (10, [_, _], &[shift, 0..=2]) => near(shift),
            (8, &[x], &[table, ..]) => {
                ensure(is_below(table, n_tables), "a table that does not exist")?;
                let is_read = before[x].kind.width <= MOST_ADDRESS && self.kind.width <= 64;
                ensure(is_read, "a table with more addresses or wider words than the limit")
            }
            (9, &[x], [0]) => {
                let from = before[x].kind;
                ensure(
                    from.width * self.kind.width == 0 || from.frac == self.kind.frac,
                    "a NOT whose operand has another step",
                )
            }
            _ => {
                let (terms, constant) =
                    self.terms().ok_or_else(|| format!("opcode {} with these operands", self.opcode))?;
                terms.iter().map(|term| term.1).chain(constant.map(|c| c.1)).try_for_each(near)
            }
        }
    }

    /// Returns the result before wrapping as an exact sum of terms; `None` if the operation is not a sum, or if an
    /// operand has no known sum.
    fn sum(&self, known: &[Value]) -> Option<Sum> {
        let (terms, constant) = self.terms().filter(|(terms, _)| !terms.is_empty())?;
        let (value, point) = constant.unwrap_or((0, 0));
        terms.into_iter().try_fold(Sum::constant(value.into(), point)?, |total, (v, shift, minus)| {
            total.plus(known[v].sum.as_ref()?, shift, minus)
        })
    }
}

impl Program {
    /// Parses a program, plain or gzip.
    ///
    /// # Errors
    /// If the bytes are not valid ALIR JSON.
    pub fn read(bytes: &[u8]) -> Result<Program, String> {
        let plain = unpacked(bytes)?;
        let file: File<'_> = serde_json::from_slice(&plain).map_err(|why| format!("not ALIR JSON: {why}"))?;
        let known = matches!((file.meta.as_str(), file.spec_version), ("ALIRModel", 2..=4) | ("DAISModel", 2));
        if !known {
            return Err(format!("{} of version {} is not supported", file.meta, file.spec_version));
        }
        Program::from_parts(&file.model, file.spec_version)
    }

    /// Parses a program from its parts.
    ///
    /// # Errors
    /// If a part is not valid.
    pub(crate) fn from_parts(parts: &[&RawValue], version: i64) -> Result<Program, String> {
        ensure(parts.len() >= 8, "a program without all of its parts")?;
        let part = |k: usize| parts[k];
        let [n_in, n_out]: [usize; 2] = parsed(part(0))?;
        let shifts: Vec<i64> = parsed(part(1))?;
        let out_idxs: Vec<i64> = parsed(part(2))?;
        let out_shifts: Vec<i64> = parsed(part(3))?;
        let flags: Vec<serde_json::Value> = parsed(part(4))?;
        let negated: Vec<bool> = flags.iter().map(|f| f.as_bool() == Some(true) || f.as_i64() == Some(1)).collect();
        let fits = [out_idxs.len(), out_shifts.len(), negated.len()] == [n_out; 3] && n_in <= 1 << 24;
        let is_near = |shift: &i64| shift.unsigned_abs() <= MOST_BITS as u64;
        let fits = fits && shifts.len() == n_in && shifts.iter().all(is_near);
        ensure(fits, "lists of inputs or outputs that do not match the shape, or a shift beyond the limit")?;
        let mut tables = Vec::new();
        if let Some(raw) = parts.get(8) {
            #[derive(Deserialize)]
            struct Table {
                table: Vec<i32>,
            }
            let read: Option<Vec<Table>> = parsed(raw)?;
            tables = read.unwrap_or_default().into_iter().map(|t| t.table).collect();
        }
        let records: Vec<Vec<&RawValue>> = parsed(part(5))?;
        let mut operations: Vec<Operation> = Vec::with_capacity(records.len());
        for record in &records {
            let read = Operation::read(record, version);
            let checked = read.and_then(|op| op.check(&operations, n_in, tables.len()).map(|()| op));
            operations.push(checked.map_err(|why| format!("operation {}: {why}", operations.len()))?);
        }
        let bits: usize = operations.iter().map(|op| op.kind.width).sum();
        ensure(bits <= 1 << 26, "more bits of values than the limit")?;
        let mut inputs = vec![Type::default(); n_in];
        let mut tops = vec![i64::MIN; n_in];
        for Operation { data, kind, .. } in operations.iter().filter(|op| op.opcode == -1 && op.kind.width > 0) {
            let (port, top) = (&mut inputs[data[0] as usize], &mut tops[data[0] as usize]);
            *top = (*top).max(kind.width as i64 - kind.frac);
            port.frac = if port.width == 0 { kind.frac } else { port.frac.max(kind.frac) };
            port.signed |= kind.signed;
            let width = *top + port.frac;
            ensure(width <= MOST_BITS, "a port with more bits than the limit")?;
            port.width = width as usize;
        }
        let mut outputs = Vec::new();
        for (j, &index) in out_idxs.iter().enumerate() {
            if index == -1 {
                outputs.push((None, false, Type::default()));
                continue;
            }
            let source = usize::try_from(index).ok().filter(|&i| i < operations.len());
            let source = source.ok_or_else(|| format!("the source of output {j} is not an operation"))?;
            ensure(is_near(&out_shifts[j]), "an output with a shift beyond the limit")?;
            let Interval { min, max, step } = operations[source].interval.clone();
            let (min, max) = if negated[j] { (-max, -min) } else { (min, max) };
            let kind = Interval { min, max, step: step + out_shifts[j] }.kind()?;
            outputs.push((Some(source), negated[j], kind));
        }
        Ok(Program { operations, tables, inputs, shifts, outputs })
    }

    /// Returns the types of the output elements.
    pub fn outputs(&self) -> Vec<Type> {
        self.outputs.iter().map(|output| output.2).collect()
    }

    /// Returns the sum that equals an operation, whose operands must be built; `None` if the result is not exact.
    pub fn sum(&self, g: &Graph, at: usize) -> Option<Sum> {
        let (op, kind) = (&self.operations[at], self.operations[at].kind);
        let sum = op.sum(g.sums.own()).filter(|sum| sum.is_multiple(kind.frac))?;
        is_within(g.sums.range(&sum, kind.frac), type_range(kind)).then_some(sum)
    }

    /// Builds the gates of all outputs. `on_value` is called for each operation before it is built, and then with its
    /// bits.
    pub(crate) fn build(
        &self,
        g: &mut Graph,
        inputs: &[Vec<Lit>],
        on_value: ValueCallback<'_>,
    ) -> Result<Vec<Vec<Lit>>, String> {
        let number = g.sums.programs.len();
        g.sums.programs.push(Vec::new());
        for (at, op) in self.operations.iter().enumerate() {
            on_value(g, at, None)?;
            let kind = op.kind;
            let (whole, mut range, sum) = self.operation(g, inputs, op);
            let bits = tightened(g, &whole, range);
            on_value(g, at, Some(&bits))?;
            // A value that is not a sum becomes a term, identified by its current gates.
            let sum = g.sums.term(g.normal(&bits, kind.signed), kind, range, sum);
            range = both(range, sum.as_ref().and_then(|sum| g.sums.range(sum, kind.frac)));
            g.sums.programs[number].push(Value { bits, kind, range, sum });
        }
        let outputs = self.outputs.iter().map(|&(source, is_negated, kind)| match source {
            None => Vec::new(),
            Some(source) => {
                let own = Exact::new(&g.sums.own()[source], 0);
                let bits = if is_negated { own.negated(g) } else { own.bits };
                resize(&bits, true, kind.width)
            }
        });
        Ok(outputs.collect())
    }
}

/// An affine image `±2^shift · v + c` of a value `v` that is not itself a value of a program. A later value with the
/// same sum, up to a power of two, shares the gates of the image, and is therefore a function of `v`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The value: index of its program (0 is the model), and index of the value in the program.
    pub of: (usize, usize),
    /// `true` if the value is subtracted.
    pub minus: bool,
    /// Shift of the value; 0 if the constant is zero.
    pub shift: i64,
    /// The constant, which is odd or zero.
    pub constant: i64,
}

impl Image {
    /// Returns the value, and the sum that equals the image.
    ///
    /// # Errors
    /// If the value does not exist, or if the sum exceeds the limits.
    pub fn sum<'a>(&self, g: &'a Graph) -> Result<(&'a Value, Sum), String> {
        let value = g.sums.value(self.of).ok_or("an image of a value that does not exist")?;
        ensure(self.shift.unsigned_abs() <= MOST_BITS as u64, "an image with a shift beyond the limit")?;
        let is_least = self.constant % 2 != 0 || (self.constant, self.shift) == (0, 0);
        ensure(is_least, "an image that is not in lowest terms")?;
        let sum = Sum::constant(self.constant.into(), 0).zip(value.sum.as_ref());
        let sum = sum.and_then(|(constant, own)| constant.plus(own, self.shift, self.minus));
        Ok((value, sum.ok_or("an image beyond the limits")?))
    }

    /// Builds the image: returns its bits, and the number of fractional bits.
    ///
    /// # Errors
    /// As [`Image::sum`]; if a value with this sum exists already.
    pub fn make(&self, g: &mut Graph) -> Result<(Vec<Lit>, i64), String> {
        let (value, sum) = self.sum(g)?;
        ensure(g.sums.known(&sum).is_none(), "an image whose value exists already")?;
        let parts = [(Exact::new(value, self.shift), self.minus), (Exact::constant((self.constant, 0)), false)];
        let Exact { bits, frac, range } = total(g, &parts, Some(&sum));
        let (kind, word) = (Type { signed: true, width: bits.len(), frac }, g.normal(&bits, true));
        g.sums.term(word.clone(), kind, range, Some(sum.clone()));
        g.sums.unused.push((Sum { frac: 0, ..sum }, word.0));
        Ok((bits, frac))
    }
}

/// An exact number: two's complement bits (at least one), number of fractional bits, and range of its raw integer.
struct Exact {
    bits: Vec<Lit>,
    frac: i64,
    range: Range,
}

impl Exact {
    /// Returns a value times `2^shift`.
    fn new(value: &Value, shift: i64) -> Exact {
        Exact { bits: exact(&value.bits, value.kind.signed), frac: value.kind.frac - shift, range: value.range }
    }

    fn constant((value, frac): (i64, i64)) -> Exact {
        let width = 64 - value.unsigned_abs().leading_zeros() + 1;
        let bits = (0..width).map(|i| Lit::constant(i128::from(value) >> i & 1 == 1)).collect();
        Exact { bits, frac, range: Some((value.into(), value.into())) }
    }

    /// Returns the bits at another binary point: appends low zeros, or floors.
    fn aligned(&self, frac: i64) -> Vec<Lit> {
        let zeros = vec![Lit::FALSE; (frac - self.frac).max(0) as usize];
        let drop = ((self.frac - frac).max(0) as usize).min(self.bits.len() - 1);
        [&zeros, &self.bits[drop..]].concat()
    }

    fn negated(&self, g: &mut Graph) -> Vec<Lit> {
        negate(g, &resize(&self.bits, true, self.bits.len() + 1))
    }

    /// Returns the number aligned and wrapped to a type, and the range of its raw integer.
    fn wrapped(&self, kind: Type) -> (Vec<Lit>, Range) {
        (resize(&self.aligned(kind.frac), true, kind.width), moved(self.range, self.frac, kind.frac))
    }
}

/// Converts a value of one type, times `2^shift`, to another type: aligns binary points, then wraps.
pub(crate) fn converted(bits: &[Lit], from: Type, shift: i64, to: Type) -> Vec<Lit> {
    Exact { bits: exact(bits, from.signed), frac: from.frac - shift, range: None }.wrapped(to).0
}

/// Returns the sum or difference of two numbers at one binary point.
fn sum(g: &mut Graph, a: &[Lit], b: &[Lit], minus: bool) -> Vec<Lit> {
    let width = a.len().max(b.len()) + 1;
    let (a, b) = (resize(a, true, width), resize(b, true, width));
    if minus { subtract(g, &a, &b) } else { add(g, &a, &b, Lit::FALSE) }
}

impl Program {
    /// Builds an operation: returns its bits, the range of its raw integer, and its sum if the result is exact.
    fn operation(&self, g: &mut Graph, inputs: &[Vec<Lit>], op: &Operation) -> (Vec<Lit>, Range, Option<Sum>) {
        let (kind, mut sum) = (op.kind, None);
        let value = |g: &Graph, v: usize, shift: i64| Exact::new(&g.sums.own()[v], shift);
        let (word, range) = match (op.opcode, &op.operands[..], &op.data[..]) {
            (-1, _, &[input]) => {
                let (bits, port) = (&inputs[input as usize], self.inputs[input as usize]);
                Exact { bits: exact(bits, port.signed), frac: port.frac, range: type_range(port) }.wrapped(kind)
            }
            (2, &[x], _) => {
                let mut v = value(g, x, 0);
                let keep = !v.bits[v.bits.len() - 1];
                v.bits.iter_mut().for_each(|lit| *lit = g.and(*lit, keep));
                v.range = v.range.map(|(lo, hi)| (lo.max(0), hi.max(0)));
                v.wrapped(kind)
            }
            (6, &[yes, no, condition], &[shift]) => {
                let select = g.sums.own()[condition].bits.last().copied().unwrap_or(Lit::FALSE);
                let ((p, of_yes), (q, of_no)) = (value(g, yes, 0).wrapped(kind), value(g, no, shift).wrapped(kind));
                let range = of_yes.zip(of_no).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)));
                (choose(g, select, &p, &q), range)
            }
            (7, &[a, b], _) => {
                let (a, b) = (value(g, a, 0), value(g, b, 0));
                product(g, &a, &b, kind)
            }
            (8, &[x], &[number, ..]) => {
                let (from, entries) = (self.operations[x].kind, &self.tables[number as usize]);
                let first = &self.operations[x].interval.min;
                let place = |pattern: usize| {
                    let sign = from.signed && from.width > 0 && pattern >> (from.width - 1) & 1 == 1;
                    let code = BigInt::from(pattern) - if sign { BigInt::from(1) << from.width } else { BigInt::ZERO };
                    usize::try_from(code - first).ok()
                };
                let places: Vec<Option<usize>> = (0..1usize << from.width).map(place).collect();
                let address = g.sums.own()[x].bits.clone();
                let word = table(g, &address, kind.width, |pattern, bit| {
                    places[pattern].and_then(|i| entries.get(i)).is_some_and(|entry| entry >> bit.min(31) & 1 == 1)
                });
                let ends = entries.iter().fold((0, 0), |(lo, hi), &e| (e.min(lo), e.max(hi)));
                (word, Some((ends.0.into(), ends.1.into())))
            }
            (9, &[x], &[0]) => {
                let from = self.operations[x].kind;
                let mut bits: Vec<Lit> = g.sums.own()[x].bits.iter().map(|&lit| !lit).collect();
                match kind.signed {
                    // The bits of -a - 1; the sign of an unsigned operand is zero.
                    true if !from.signed || bits.is_empty() => bits.push(Lit::TRUE),
                    true => {}
                    false => bits.push(Lit::FALSE),
                }
                let frac = if from.width == 0 { kind.frac } else { from.frac };
                Exact { bits, frac, range: None }.wrapped(kind)
            }
            (9, &[x], &[which]) => {
                let bits = g.sums.own()[x].bits.clone();
                let bit = if which == 1 { any(g, &bits) } else { all(g, &bits) };
                (resize(&[bit], false, kind.width), Some((0, 1)))
            }
            (10, &[a, b], &[shift, which]) => {
                let (x, y) = (value(g, a, 0), value(g, b, shift));
                let frac = x.frac.max(y.frac);
                let (x, y) = (x.aligned(frac), y.aligned(frac));
                let width = x.len().max(y.len());
                let pairs = resize(&x, true, width).into_iter().zip(resize(&y, true, width));
                let bits = pairs
                    .map(|(p, q)| match which {
                        0 => g.and(p, q),
                        1 => g.or(p, q),
                        _ => g.xor(p, q),
                    })
                    .collect();
                Exact { bits, frac, range: None }.wrapped(kind)
            }
            _ => {
                let (terms, constant) = op.terms().unwrap_or_default();
                let own = terms.iter().map(|&(v, shift, minus)| (value(g, v, shift), minus));
                let all: Vec<(Exact, bool)> = own.chain(constant.map(|c| (Exact::constant(c), false))).collect();
                sum = op.sum(g.sums.own());
                total(g, &all, sum.as_ref()).wrapped(kind)
            }
        };
        // Wrapping has no effect if the exact result fits the type.
        let fits = is_within(range, type_range(kind));
        (word, if fits { range } else { type_range(kind) }, sum.filter(|sum| fits && sum.is_multiple(kind.frac)))
    }
}

/// Returns the sum of terms (subtracted if marked) at their finest binary point, as a balanced tree of neighbouring
/// pairs. If a known number has the same sum, its bits are returned.
fn total(g: &mut Graph, all: &[(Exact, bool)], known: Option<&Sum>) -> Exact {
    let frac = all.iter().map(|(part, _)| part.frac).max().unwrap_or(0);
    let range = all.iter().try_fold((0i128, 0i128), |total, (part, minus)| {
        let (lo, hi) = moved(part.range, part.frac, frac)?;
        let (lo, hi) = if *minus { (-hi, -lo) } else { (lo, hi) };
        Some((total.0.checked_add(lo)?, total.1.checked_add(hi)?))
    });
    let mut parts: Vec<(Vec<Lit>, bool)> = all.iter().map(|(part, minus)| (part.aligned(frac), *minus)).collect();
    while parts.len() > 1 {
        let pairs = parts.chunks(2).map(|pair| match pair {
            [(a, false), (b, minus)] => (sum(g, a, b, *minus), false),
            [(a, true), (b, false)] => (sum(g, b, a, true), false),
            [(a, true), (b, true)] => (sum(g, a, b, false), true),
            rest => rest[0].clone(),
        });
        parts = pairs.collect();
    }
    let (bits, is_negated) = parts.pop().unwrap_or((vec![Lit::FALSE], false));
    let mut total = Exact { bits, frac, range };
    if is_negated {
        total.bits = total.negated(g);
    }
    if let Some(sum) = known {
        total.range = both(total.range, g.sums.range(sum, frac));
        total.bits = tightened(g, &total.bits, total.range);
        let kind = Type { signed: true, width: total.bits.len(), frac };
        g.place(sum, &mut total.bits, kind);
    }
    total
}

fn product(g: &mut Graph, x: &Exact, y: &Exact, kind: Type) -> (Vec<Lit>, Range) {
    let frac = x.frac + y.frac;
    // Builds only those bits of the product that the type of the result reads. If the type reads no bit, only the sign
    // remains.
    let (reach, full) = (kind.width as i64 + frac - kind.frac, x.bits.len() + y.bits.len());
    let width = if reach < 1 { full } else { full.min(reach as usize) };
    let bits = multiply(g, &resize(&x.bits, true, width), &resize(&y.bits, true, width));
    let ends = x.range.zip(y.range).and_then(|((p, q), (r, s))| {
        let ends = [(p, r), (p, s), (q, r), (q, s)].map(|(u, v)| u.checked_mul(v));
        // `None` is less than any number, so the minimum is `None` if any end is.
        Some((ends.into_iter().min()??, ends.into_iter().max()??))
    });
    Exact { bits, frac, range: ends.filter(|_| reach >= 1) }.wrapped(kind)
}

fn is_within(range: Range, all: Range) -> bool {
    range.zip(all).is_some_and(|(range, all)| all.0 <= range.0 && range.1 <= all.1)
}

fn type_range(kind: Type) -> Range {
    match kind.width {
        0 => Some((0, 0)),
        width if width > 100 => None,
        width if kind.signed => Some((-(1 << (width - 1)), (1 << (width - 1)) - 1)),
        width => Some((0, (1 << width) - 1)),
    }
}

/// Returns a range at another binary point, rounded down if that binary point is coarser.
fn moved(range: Range, from: i64, to: i64) -> Range {
    let (lo, hi) = range?;
    let end = |v: i128| match to - from {
        _ if v == 0 => Some(0),
        up @ 0..100 => v.checked_mul(1 << up).filter(|m| m.unsigned_abs() < 1 << 120),
        down @ -126..0 => Some(v >> -down),
        _ => None,
    };
    Some((end(lo)?, end(hi)?))
}

/// Replaces the bits above those that the range needs by copies of the sign, or by constants.
fn tightened(g: &mut Graph, bits: &[Lit], range: Range) -> Vec<Lit> {
    let Some((lo, hi)) = range else { return bits.to_vec() };
    let magnitude = |v: i128| 128 - (if v < 0 { !v } else { v }).leading_zeros() as usize;
    let needed = magnitude(lo).max(magnitude(hi));
    let Some(&sign) = bits.get(needed) else { return bits.to_vec() };
    let top = match (lo >= 0, hi < 0) {
        (true, _) => Lit::FALSE,
        (_, true) => Lit::TRUE,
        _ => sign,
    };
    bits[needed..].iter().for_each(|&bit| g.merge(bit, top));
    [&bits[..needed], &vec![top; bits.len() - needed]].concat()
}
