//! Programs as gates: ALIR JSON of versions 2 to 4, and what it means, written against `docs/alir.md` alone.

use crate::Made;
use crate::graph::{Graph, Lit};
use crate::sums::{Range, Sum, Sums, both};
use crate::words::{add, all, any, choose, multiply, negate, resize, subtract, table};
use num_bigint::{BigInt, Sign};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::io::Read;

/// Most bits of a word and of a shift, and of the address of a table.
const MOST_BITS: i64 = 4096;
const MOST_ADDRESS: usize = 18;
/// Most bytes of a file, unpacked.
const MOST_BYTES: u64 = 1 << 30;

/// `(signed, width, fractional bits)`. A type without bits has no fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    /// Whether the top bit is the sign.
    pub signed: bool,
    /// Number of bits.
    pub width: usize,
    /// Weight of the lowest bit: two to the power of minus this.
    pub frac: i64,
}

/// Bounds in units of the step, and the step as a power of two.
#[derive(Clone, Debug)]
struct Interval {
    min: BigInt,
    max: BigInt,
    step: i64,
}

#[derive(Clone, Debug)]
enum Op {
    Input(usize),
    Const(BigInt),
    /// Terms: value, shift, whether it is subtracted; and a constant with its fractional bits.
    Sum(Vec<(usize, i64, bool)>, Option<(BigInt, i64)>),
    Relu(usize),
    Quantise(usize, i64),
    /// Condition, value if set, value if clear, its shift.
    Mux(usize, usize, usize, i64),
    Mul(usize, usize),
    /// Operand, table, code of the operand at the first entry.
    Lookup(usize, usize, BigInt),
    Not(usize),
    Any(usize),
    All(usize),
    /// 0 and, 1 or, 2 xor; operands, shift of the second.
    Binary(i64, usize, usize, i64),
}

/// A program.
#[derive(Clone, Debug)]
pub struct Program {
    operations: Vec<(Op, Type)>,
    tables: Vec<Vec<i32>>,
    /// Types of the input elements.
    pub inputs: Vec<Type>,
    /// Source, whether it is negated, and the type, of the output elements.
    outputs: Vec<(Option<usize>, bool, Type)>,
}

#[derive(Deserialize)]
struct File<'a> {
    meta: String,
    spec_version: i64,
    #[serde(borrow)]
    model: Vec<&'a RawValue>,
}

type Record<'a> = Vec<&'a RawValue>;

fn parsed<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, String> {
    serde_json::from_str(raw.get()).map_err(|why| format!("the model: {why}"))
}

/// A JSON number as mantissa and power of two, exactly.
fn number(raw: &str) -> Result<(BigInt, i64), String> {
    let raw = raw.trim();
    if raw.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
        return Ok((raw.parse().map_err(|_| format!("{raw:?} is no number"))?, 0));
    }
    let value: f64 = serde_json::from_str(raw).map_err(|_| format!("{raw:?} is no number"))?;
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
    let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    let sign = if value < 0.0 { -1 } else { 1 };
    Ok((BigInt::from(mantissa) * sign, exponent.max(1) - 1075))
}

/// `v * 2^shift` as an integer.
fn scaled(v: &BigInt, shift: i64) -> Result<BigInt, String> {
    if v.sign() == Sign::NoSign {
        return Ok(BigInt::ZERO);
    }
    if shift.abs() > 2 * MOST_BITS + 1100 {
        return Err("a shift beyond the limit".into());
    }
    if shift >= 0 {
        return Ok(v << shift as usize);
    }
    let down: BigInt = v >> (-shift) as usize;
    if &(&down << (-shift) as usize) == v { Ok(down) } else { Err("a bound that is no multiple of its step".into()) }
}

impl Interval {
    fn read(raw: &RawValue) -> Result<Interval, String> {
        let parts: Vec<&RawValue> = parsed(raw)?;
        let [min, max, step] = parts[..] else { return Err("an interval is three numbers".into()) };
        let (m, e) = number(step.get())?;
        let zeros = m.trailing_zeros().ok_or("a step that is zero")? as i64;
        if m != BigInt::from(1) << zeros as usize {
            return Err("a step that is no power of two".into());
        }
        let step = e + zeros;
        if step.abs() > MOST_BITS {
            return Err("a step beyond the limit".into());
        }
        let code = |raw: &RawValue| number(raw.get()).and_then(|(m, e)| scaled(&m, e - step));
        let (min, max) = (code(min)?, code(max)?);
        if min > max { Err("a minimum above its maximum".into()) } else { Ok(Interval { min, max, step }) }
    }

    fn kind(&self) -> Result<Type, String> {
        if self.min.sign() == Sign::NoSign && self.max.sign() == Sign::NoSign {
            return Ok(Type { signed: false, width: 0, frac: 0 });
        }
        let signed = self.min.sign() == Sign::Minus;
        let above: BigInt = &self.max + 1;
        let below: BigInt = -&self.min;
        let n = if signed { above.max(below) } else { above.max(self.min.clone()) };
        let bits = (n - 1u32).bits();
        let width = bits as i64 + i64::from(signed);
        if width > MOST_BITS {
            Err("more bits than the limit".into())
        } else {
            Ok(Type { signed, width: width as usize, frac: -self.step })
        }
    }
}

impl Program {
    /// Reads a program from bytes, plain or gzip.
    ///
    /// # Errors
    /// What is wrong with them, or that they are no ALIR JSON.
    pub fn read(bytes: &[u8]) -> Result<Program, String> {
        let mut plain = Vec::new();
        let packed = bytes.starts_with(&[0x1f, 0x8b]);
        let source: Box<dyn Read> =
            if packed { Box::new(flate2::read::MultiGzDecoder::new(bytes)) } else { Box::new(bytes) };
        source.take(MOST_BYTES + 1).read_to_end(&mut plain).map_err(|why| format!("the model: {why}"))?;
        if plain.len() as u64 > MOST_BYTES {
            return Err("the model has more bytes than the limit".into());
        }
        let file: File<'_> = serde_json::from_slice(&plain).map_err(|why| format!("not ALIR JSON: {why}"))?;
        let known = matches!((file.meta.as_str(), file.spec_version), ("ALIRModel", 2..=4) | ("DAISModel", 2));
        if !known || file.model.len() < 8 {
            return Err(format!("{} of version {} is not read here", file.meta, file.spec_version));
        }
        Program::of(&file)
    }

    fn of(file: &File<'_>) -> Result<Program, String> {
        let part = |k: usize| file.model[k];
        let [n_in, n_out]: [usize; 2] = parsed(part(0))?;
        let out_idxs: Vec<i64> = parsed(part(2))?;
        let out_shifts: Vec<i64> = parsed(part(3))?;
        let flags: Vec<serde_json::Value> = parsed(part(4))?;
        let negated: Vec<bool> = flags.iter().map(|f| f.as_bool() == Some(true) || f.as_i64() == Some(1)).collect();
        if [out_idxs.len(), out_shifts.len(), negated.len()] != [n_out; 3] || n_in > 1 << 24 {
            return Err("lists of outputs of other lengths than the shape says".into());
        }
        let mut tables = Vec::new();
        if let Some(raw) = file.model.get(8) {
            #[derive(Deserialize)]
            struct Table {
                table: Vec<i32>,
            }
            let read: Option<Vec<Table>> = parsed(raw)?;
            tables = read.unwrap_or_default().into_iter().map(|t| t.table).collect();
        }
        let records: Vec<Record<'_>> = parsed(part(5))?;
        let mut intervals: Vec<Interval> = Vec::with_capacity(records.len());
        let mut operations: Vec<(Op, Type)> = Vec::with_capacity(records.len());
        for (at, record) in records.iter().enumerate() {
            let wrong = |why: String| format!("operation {at}: {why}");
            let (op, interval) = read_operation(record, file.spec_version, &intervals).map_err(wrong)?;
            let kind = interval.kind().map_err(wrong)?;
            check_operation(&op, at, kind, &operations, n_in, &tables).map_err(wrong)?;
            operations.push((op, kind));
            intervals.push(interval);
        }
        if operations.iter().map(|(_, kind)| kind.width).sum::<usize>() > 1 << 26 {
            return Err("more bits of values than are read here".into());
        }
        let mut inputs = vec![Type { signed: false, width: 0, frac: 0 }; n_in];
        let mut tops = vec![i64::MIN; n_in];
        for (op, kind) in &operations {
            if let Op::Input(input) = *op
                && kind.width > 0
            {
                let port = &mut inputs[input];
                tops[input] = tops[input].max(kind.width as i64 - kind.frac);
                port.frac = if port.width == 0 { kind.frac } else { port.frac.max(kind.frac) };
                port.signed |= kind.signed;
                let width = tops[input] + port.frac;
                if width > MOST_BITS {
                    return Err("a port with more bits than the limit".into());
                }
                port.width = width as usize;
            }
        }
        let mut outputs = Vec::new();
        for (j, &index) in out_idxs.iter().enumerate() {
            if index == -1 {
                outputs.push((None, false, Type { signed: false, width: 0, frac: 0 }));
                continue;
            }
            let source = usize::try_from(index).ok().filter(|&i| i < operations.len());
            let source = source.ok_or_else(|| format!("output {j} is no operation"))?;
            let own = &intervals[source];
            let (min, max) = if negated[j] { (-&own.max, -&own.min) } else { (own.min.clone(), own.max.clone()) };
            let kind = Interval { min, max, step: own.step + out_shifts[j] }.kind()?;
            outputs.push((Some(source), negated[j], kind));
        }
        Ok(Program { operations, tables, inputs, outputs })
    }

    /// Types of the output elements.
    pub fn outputs(&self) -> Vec<Type> {
        self.outputs.iter().map(|output| output.2).collect()
    }

    /// The gates of all outputs. `made` is told the bits of each operation when they are there.
    pub(crate) fn build(
        &self,
        g: &mut Graph,
        sums: &mut Sums,
        inputs: &[Vec<Lit>],
        made: Made<'_>,
    ) -> Result<Vec<Vec<Lit>>, String> {
        let mut bits: Vec<Vec<Lit>> = Vec::with_capacity(self.operations.len());
        let mut ranges: Vec<Range> = Vec::with_capacity(self.operations.len());
        let mut known: Vec<Option<Sum>> = Vec::with_capacity(self.operations.len());
        for (at, &(ref op, kind)) in self.operations.iter().enumerate() {
            let builder = Builder { program: self, inputs, bits: &bits, ranges: &ranges };
            let (word, mut range) = builder.operation(g, op, kind);
            // A sum of which nothing is cut off at either end.
            let is_whole = |sum: &Sum| {
                let own = sums.range(sum, kind.frac);
                let fits = own.zip(of_type(kind)).filter(|(own, all)| all.0 <= own.0 && own.1 <= all.1);
                fits.filter(|_| sum.is_multiple(kind.frac)).map(|(own, _)| own)
            };
            let sum = op.sum(&known).and_then(|sum| is_whole(&sum).map(|own| (sum, own)));
            range = both(range, sum.as_ref().map(|(_, own)| *own));
            let whole = word;
            let mut word = tightened(&whole, range);
            whole.iter().zip(&word).for_each(|(&a, &b)| g.merge(a, b));
            if let Some((sum, _)) = &sum
                && let Some(same) = sums.same(sum, &word, kind)
            {
                word.iter().zip(&same).for_each(|(&a, &b)| g.merge(a, b));
                word.iter_mut().for_each(|bit| *bit = g.root(*bit));
            }
            made(g, at, &word)?;
            // What is no sum is a term, by the gates that it is known to be now.
            let sum = sum.map(|(sum, _)| sum).or_else(|| sums.term(g, &word, kind, range));
            range = both(range, sum.as_ref().and_then(|sum| sums.range(sum, kind.frac)));
            known.push(sum);
            bits.push(word);
            ranges.push(range);
        }
        let outputs = self.outputs.iter().map(|&(source, is_negated, kind)| match source {
            None => Vec::new(),
            Some(source) => {
                let of = Exact::of(&bits[source], Type { frac: 0, ..self.operations[source].1 }, 0);
                let word = if is_negated { of.negated(g) } else { of };
                resize(&word.bits, true, kind.width)
            }
        });
        Ok(outputs.collect())
    }
}

impl Op {
    /// The sum of its operands' sums that it is before anything is cut off; nothing if it is no sum.
    fn sum(&self, known: &[Option<Sum>]) -> Option<Sum> {
        let zero = Sum::constant(0, 0)?;
        match self {
            Op::Sum(terms, constant) => {
                let mut total = match constant {
                    Some((value, frac)) => Sum::constant(i128::try_from(value.clone()).ok()?, *frac)?,
                    None => zero,
                };
                for &(value, shift, minus) in terms {
                    total = total.plus(known[value].as_ref()?, shift, minus)?;
                }
                Some(total)
            }
            Op::Quantise(x, shift) => zero.plus(known[*x].as_ref()?, *shift, false),
            _ => None,
        }
    }
}

fn index(raw: i64) -> Result<usize, String> {
    usize::try_from(raw).map_err(|_| "a negative operand".to_owned())
}

/// An operation by its record.
fn read_operation(record: &[&RawValue], version: i64, before: &[Interval]) -> Result<(Op, Interval), String> {
    let (addr, opcode, data, interval): (Vec<i64>, i64, Vec<i64>, &RawValue) = match record {
        [id0, id1, opcode, data, interval, _, _] => {
            let (id0, id1, opcode): (i64, i64, i64) = (parsed(id0)?, parsed(id1)?, parsed(opcode)?);
            let (whole, _) = number(data.get())?;
            let modulus = BigInt::from(1u128 << 64);
            let low = ((whole % &modulus) + &modulus) % &modulus;
            let word = i64::from_ne_bytes(u64::try_from(low).map_err(|_| "data")?.to_ne_bytes());
            let (low, high) = (i64::from(word as i32), word >> 32);
            let (addr, data) = match opcode {
                -1 => (vec![], vec![id0]),
                0 | 1 => (vec![id0, id1], vec![low]),
                4 => (vec![id0], vec![low, high]),
                5 => (vec![], vec![word]),
                6 => (vec![id0, id1, low], vec![high]),
                7 => (vec![id0, id1], vec![]),
                3 => (vec![id0], vec![0]),
                8 | 9 => (vec![id0], vec![word]),
                10 => (vec![id0, id1], vec![low, word >> 56 & 0xff]),
                _ => (vec![id0], vec![]),
            };
            (addr, opcode, data, interval)
        }
        [addr, opcode, data, interval, _, _] => {
            let opcode: i64 = parsed(opcode)?;
            let mut data: Vec<i64> = parsed(data)?;
            if version < 4 && opcode == 3 && data.is_empty() {
                data.push(0);
            }
            (parsed(addr)?, opcode, data, interval)
        }
        _ => return Err("a record of another length".into()),
    };
    let interval = Interval::read(interval)?;
    let places: Vec<usize> = addr.iter().map(|&a| index(a)).collect::<Result<_, _>>()?;
    let op = match (opcode, &places[..], &data[..]) {
        (-2, &[x], _) => Op::Sum(vec![(x, 0, true)], None),
        (-1, [], &[input]) => Op::Input(index(input)?),
        (0 | 1, &[a, b], &[shift]) => Op::Sum(vec![(a, 0, false), (b, shift, opcode == 1)], None),
        (2, &[x], _) => Op::Relu(x),
        (3, &[x], &[shift]) => Op::Quantise(x, shift),
        (4, &[x], &[value, shift]) => Op::Sum(vec![(x, 0, false)], Some((value.into(), shift))),
        (5, [], &[value]) => Op::Const(value.into()),
        (6, &[yes, no, condition], &[shift]) => Op::Mux(condition, yes, no, shift),
        (7, &[a, b], _) => Op::Mul(a, b),
        (8, &[x], &[table, ..]) => {
            let base = before.get(x).ok_or("an operand that comes later")?.min.clone();
            Op::Lookup(x, index(table)?, base)
        }
        (9, &[x], &[0]) => Op::Not(x),
        (9, &[x], &[1]) => Op::Any(x),
        (9, &[x], &[2]) => Op::All(x),
        (10, &[a, b], &[shift, sub @ 0..=2]) => Op::Binary(sub, a, b, shift),
        (11, values, data) if !values.is_empty() && data.len() == 2 * values.len() => {
            Op::Sum(values.iter().zip(data.chunks(2)).map(|(&v, d)| (v, d[1], d[0] == 0)).collect(), None)
        }
        _ => return Err(format!("opcode {opcode} with these operands")),
    };
    Ok((op, interval))
}

/// What a record must keep to beyond its form.
fn check_operation(
    op: &Op,
    at: usize,
    kind: Type,
    before: &[(Op, Type)],
    n_in: usize,
    tables: &[Vec<i32>],
) -> Result<(), String> {
    let (operands, shifts): (Vec<usize>, Vec<i64>) = match op {
        Op::Input(input) if *input >= n_in => return Err("an input that is not there".into()),
        Op::Input(_) | Op::Const(_) => (vec![], vec![]),
        Op::Sum(terms, constant) => (
            terms.iter().map(|t| t.0).collect(),
            terms.iter().map(|t| t.1).chain(constant.iter().map(|c| c.1)).collect(),
        ),
        Op::Relu(x) | Op::Not(x) | Op::Any(x) | Op::All(x) => (vec![*x], vec![]),
        Op::Quantise(x, shift) => (vec![*x], vec![*shift]),
        Op::Mux(c, a, b, shift) => (vec![*c, *a, *b], vec![*shift]),
        Op::Mul(a, b) => (vec![*a, *b], vec![]),
        Op::Lookup(x, table, _) => {
            if *table >= tables.len() {
                return Err("a table that is not there".into());
            }
            (vec![*x], vec![])
        }
        Op::Binary(_, a, b, shift) => (vec![*a, *b], vec![*shift]),
    };
    if operands.iter().any(|&v| v >= at) {
        return Err("an operand that is not earlier".into());
    }
    if shifts.iter().any(|s| s.abs() > MOST_BITS) {
        return Err("a shift beyond the limit".into());
    }
    match *op {
        Op::Lookup(x, ..) if before[x].1.width > MOST_ADDRESS || kind.width > 64 => {
            Err("a table with more addresses or wider words than are read here".into())
        }
        Op::Not(x) if before[x].1.width > 0 && before[x].1.frac != kind.frac => Err("a not of another step".into()),
        _ => Ok(()),
    }
}

/// An exact number: two's complement bits, at least one, with fractional bits.
struct Exact {
    bits: Vec<Lit>,
    frac: i64,
}

impl Exact {
    /// A value of a type, times `2^shift`.
    fn of(bits: &[Lit], kind: Type, shift: i64) -> Exact {
        let mut bits = bits.to_vec();
        if !kind.signed || bits.is_empty() {
            bits.push(Lit::FALSE);
        }
        Exact { bits, frac: kind.frac - shift }
    }

    fn constant(value: &BigInt, frac: i64) -> Exact {
        let bits = (0..value.bits() + 1).map(|i| Lit::constant(value.bit(i))).collect();
        Exact { bits, frac }
    }

    /// Zeros below, or floor.
    fn aligned(&self, frac: i64) -> Vec<Lit> {
        let zeros = vec![Lit::FALSE; (frac - self.frac).max(0) as usize];
        let drop = ((self.frac - frac).max(0) as usize).min(self.bits.len() - 1);
        [&zeros, &self.bits[drop..]].concat()
    }

    fn negated(&self, g: &mut Graph) -> Exact {
        Exact { bits: negate(g, &resize(&self.bits, true, self.bits.len() + 1)), frac: self.frac }
    }

    /// Aligned and cut to a type.
    fn wrapped(&self, kind: Type) -> Vec<Lit> {
        resize(&self.aligned(kind.frac), true, kind.width)
    }
}

/// The sum or difference of numbers at one binary point.
fn sum(g: &mut Graph, a: &[Lit], b: &[Lit], minus: bool) -> Vec<Lit> {
    let width = a.len().max(b.len()) + 1;
    let (a, b) = (resize(a, true, width), resize(b, true, width));
    if minus { subtract(g, &a, &b) } else { add(g, &a, &b, Lit::FALSE) }
}

struct Builder<'a> {
    program: &'a Program,
    inputs: &'a [Vec<Lit>],
    bits: &'a [Vec<Lit>],
    ranges: &'a [Range],
}

impl Builder<'_> {
    fn kind(&self, v: usize) -> Type {
        self.program.operations[v].1
    }

    fn value(&self, v: usize, shift: i64) -> Exact {
        Exact::of(&self.bits[v], self.kind(v), shift)
    }

    /// The range of a value times `2^shift` at a binary point.
    fn range(&self, v: usize, shift: i64, frac: i64) -> Range {
        moved(self.ranges[v], self.kind(v).frac - shift, frac)
    }

    /// The bits of an operation, and what its code can be.
    fn operation(&self, g: &mut Graph, op: &Op, kind: Type) -> (Vec<Lit>, Range) {
        let (word, range) = match op {
            Op::Input(input) => {
                let port = self.program.inputs[*input];
                let x = Exact::of(&self.inputs[*input], port, 0);
                (x.wrapped(kind), moved(of_type(port), port.frac, kind.frac))
            }
            Op::Const(value) => {
                let code = i128::try_from(value.clone()).ok();
                (resize(&Exact::constant(value, 0).bits, true, kind.width), code.map(|c| (c, c)))
            }
            Op::Sum(terms, constant) => self.sum(g, terms, constant.as_ref(), kind),
            Op::Relu(x) => {
                let mut v = self.value(*x, 0);
                let keep = !v.bits[v.bits.len() - 1];
                v.bits.iter_mut().for_each(|lit| *lit = g.and(*lit, keep));
                let range = self.ranges[*x].map(|(lo, hi)| (lo.max(0), hi.max(0)));
                (v.wrapped(kind), moved(range, v.frac, kind.frac))
            }
            Op::Quantise(x, shift) => (self.value(*x, *shift).wrapped(kind), self.range(*x, *shift, kind.frac)),
            Op::Mux(condition, yes, no, shift) => {
                let select = self.bits[*condition].last().copied().unwrap_or(Lit::FALSE);
                let (p, q) = (self.value(*yes, 0).wrapped(kind), self.value(*no, *shift).wrapped(kind));
                let both = (self.range(*yes, 0, kind.frac), self.range(*no, *shift, kind.frac));
                let range = match both {
                    (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
                    _ => None,
                };
                (choose(g, select, &p, &q), range)
            }
            Op::Mul(a, b) => self.product(g, *a, *b, kind),
            Op::Lookup(x, number, base) => {
                let (from, entries) = (self.kind(*x), &self.program.tables[*number]);
                let place = |pattern: usize| {
                    let sign = from.signed && from.width > 0 && pattern >> (from.width - 1) & 1 == 1;
                    let code = BigInt::from(pattern) - if sign { BigInt::from(1) << from.width } else { BigInt::ZERO };
                    usize::try_from(code - base).ok()
                };
                let places: Vec<Option<usize>> = (0..1usize << from.width).map(place).collect();
                let word = table(g, &self.bits[*x], kind.width, |pattern, bit| {
                    places[pattern].and_then(|i| entries.get(i)).is_some_and(|entry| entry >> bit.min(31) & 1 == 1)
                });
                let ends = entries.iter().fold((0, 0), |(lo, hi), &e| (e.min(lo), e.max(hi)));
                (word, Some((ends.0.into(), ends.1.into())))
            }
            Op::Not(x) => {
                let from = self.kind(*x);
                let mut word: Vec<Lit> = self.bits[*x].iter().map(|&lit| !lit).collect();
                match kind.signed {
                    // -a - 1: also of an unsigned operand, whose sign is zero.
                    true if !from.signed || word.is_empty() => word.push(Lit::TRUE),
                    true => {}
                    false => word.push(Lit::FALSE),
                }
                let frac = if from.width == 0 { kind.frac } else { from.frac };
                (Exact { bits: word, frac }.wrapped(kind), None)
            }
            Op::Any(x) => (resize(&[any(g, &self.bits[*x])], false, kind.width), Some((0, 1))),
            Op::All(x) => (resize(&[all(g, &self.bits[*x])], false, kind.width), Some((0, 1))),
            Op::Binary(sub, a, b, shift) => {
                let (x, y) = (self.value(*a, 0), self.value(*b, *shift));
                let frac = x.frac.max(y.frac);
                let (x, y) = (x.aligned(frac), y.aligned(frac));
                let width = x.len().max(y.len());
                let pairs = resize(&x, true, width).into_iter().zip(resize(&y, true, width));
                let bits = pairs
                    .map(|(p, q)| match sub {
                        0 => g.and(p, q),
                        1 => g.or(p, q),
                        _ => g.xor(p, q),
                    })
                    .collect();
                (Exact { bits, frac }.wrapped(kind), None)
            }
        };
        // Wrapping changes nothing where the exact result fits the type.
        let range = match (range, of_type(kind)) {
            (Some((lo, hi)), Some((least, most))) if least <= lo && hi <= most => Some((lo, hi)),
            (_, all) => all,
        };
        (word, range)
    }

    /// Terms at their finest binary point, added in pairs of neighbours, as long as there are two.
    fn sum(
        &self,
        g: &mut Graph,
        terms: &[(usize, i64, bool)],
        constant: Option<&(BigInt, i64)>,
        kind: Type,
    ) -> (Vec<Lit>, Range) {
        let points = terms.iter().map(|&(v, shift, _)| self.kind(v).frac - shift);
        let frac = points.chain(constant.map(|c| c.1)).max().unwrap_or(0);
        let mut range: Range = Some((0, 0));
        let mut parts: Vec<(Vec<Lit>, bool)> = Vec::new();
        for &(v, shift, minus) in terms {
            parts.push((self.value(v, shift).aligned(frac), minus));
            let own = self.range(v, shift, frac);
            range = plus(range, if minus { own.map(|(lo, hi)| (-hi, -lo)) } else { own });
        }
        if let Some((value, point)) = constant {
            parts.push((Exact::constant(value, *point).aligned(frac), false));
            let own = i128::try_from(value.clone()).ok().filter(|v| v.unsigned_abs() < 1 << 100);
            range = plus(range, moved(own.map(|v| (v, v)), *point, frac));
        }
        while parts.len() > 1 {
            let mut next = Vec::with_capacity(parts.len().div_ceil(2));
            for pair in parts.chunks(2) {
                next.push(match pair {
                    [(a, false), (b, minus)] => (sum(g, a, b, *minus), false),
                    [(a, true), (b, false)] => (sum(g, b, a, true), false),
                    [(a, true), (b, true)] => (sum(g, a, b, false), true),
                    rest => rest[0].clone(),
                });
            }
            parts = next;
        }
        let total = match parts.pop() {
            None => Exact { bits: vec![Lit::FALSE], frac },
            Some((bits, false)) => Exact { bits, frac },
            Some((bits, true)) => Exact { bits, frac }.negated(g),
        };
        (total.wrapped(kind), moved(range, frac, kind.frac))
    }

    fn product(&self, g: &mut Graph, a: usize, b: usize, kind: Type) -> (Vec<Lit>, Range) {
        let (x, y) = (self.value(a, 0), self.value(b, 0));
        let frac = x.frac + y.frac;
        // No more bits than the result's type reaches, or the product has.
        let reach = kind.width as i64 + frac - kind.frac;
        let width = reach.clamp(1, (x.bits.len() + y.bits.len()) as i64) as usize;
        let bits = multiply(g, &resize(&x.bits, true, width), &resize(&y.bits, true, width));
        let range = match (self.ranges[a], self.ranges[b]) {
            (Some((p, q)), Some((r, s))) => {
                let ends: Option<Vec<i128>> =
                    [(p, r), (p, s), (q, r), (q, s)].iter().map(|(u, v)| u.checked_mul(*v)).collect();
                ends.map(|e| (e.iter().copied().min().unwrap_or(0), e.iter().copied().max().unwrap_or(0)))
            }
            _ => None,
        };
        if reach < 1 {
            // Whatever it is, only the sign is left.
            let full = x.bits.len() + y.bits.len();
            let bits = multiply(g, &resize(&x.bits, true, full), &resize(&y.bits, true, full));
            return (Exact { bits, frac }.wrapped(kind), None);
        }
        (Exact { bits, frac }.wrapped(kind), moved(range, frac, kind.frac))
    }
}

fn of_type(kind: Type) -> Range {
    match kind.width {
        0 => Some((0, 0)),
        width if width > 100 => None,
        width if kind.signed => Some((-(1 << (width - 1)), (1 << (width - 1)) - 1)),
        width => Some((0, (1 << width) - 1)),
    }
}

fn plus(a: Range, b: Range) -> Range {
    let ((a, b), (c, d)) = (a?, b?);
    Some((a.checked_add(c)?, b.checked_add(d)?))
}

/// A range at another binary point: floored where that is coarser.
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

/// Bits above what the range needs are copies of the sign, or constants.
fn tightened(bits: &[Lit], range: Range) -> Vec<Lit> {
    let mut bits = bits.to_vec();
    let Some((lo, hi)) = range else { return bits };
    let magnitude = |v: i128| 128 - (if v < 0 { !v } else { v }).leading_zeros() as usize;
    let needed = magnitude(lo).max(magnitude(hi));
    let top = match (lo >= 0, hi < 0) {
        (true, _) => Lit::FALSE,
        (_, true) => Lit::TRUE,
        _ => match bits.get(needed) {
            Some(&sign) => sign,
            None => return bits,
        },
    };
    bits.iter_mut().skip(needed).for_each(|lit| *lit = top);
    bits
}
