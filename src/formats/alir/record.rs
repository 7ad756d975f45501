//! Operation records: version 2 and versions 3 and 4, told apart by their length.
//!
//! This is the hot part of reading: nothing here allocates for an operation that is right, sums aside.

use super::super::json::Kind;
use super::super::source::Stop;
use super::place::{At, Field, Layout};
use super::read::Reader;
use crate::ir::{BinaryBits, Node, Op, TableId, Term, UnaryBits, ValueId};
use crate::num::{Code, Interval};
use std::io::Read;

/// What every record ends with.
struct Tail {
    interval: Option<Interval>,
    latency: Option<f64>,
    cost: Option<f64>,
}

/// Most operands that are kept apart; longer lists go to the heap.
const INLINE: usize = 8;

/// A list of integers that rarely allocates.
#[derive(Default)]
struct Ints {
    length: usize,
    inline: [i64; INLINE],
    more: Vec<i64>,
}

impl Ints {
    fn push(&mut self, value: i64) {
        if self.length < INLINE {
            self.inline[self.length] = value;
        } else {
            if self.length == INLINE {
                self.more.extend_from_slice(&self.inline);
            }
            self.more.push(value);
        }
        self.length += 1;
    }

    fn as_slice(&self) -> &[i64] {
        if self.length <= INLINE { &self.inline[..self.length] } else { &self.more }
    }
}

impl<R: Read> Reader<'_, R> {
    /// Reads the record of operation `index`. The layout is known as soon as the record has a first element; the
    /// node is `None` where a problem was noted.
    pub(super) fn record(&mut self, index: usize) -> Result<(Option<Layout>, Option<Node>), Stop> {
        let whole = At::Op(index, Field::Whole);
        if !self.expect(whole, Kind::Array)? {
            return Ok((None, None));
        }
        self.json.begin_array()?;
        let mut first = true;
        if !self.json.element(&mut first)? {
            self.wrong_length::<Node>(index, 0);
            return Ok((None, None));
        }
        match self.json.kind()? {
            Kind::Array => Ok((Some(Layout::V3), self.record_v3(index, &mut first)?)),
            Kind::Number => Ok((Some(Layout::V2), self.record_v2(index, &mut first)?)),
            kind => {
                let help = "version 2 records start with an index, those of versions 3 and 4 with the array addr";
                self.problem("E0120", whole, format!("the record starts with {}", kind.name()), help);
                self.json.skip()?;
                self.rest(&mut first)?;
                Ok((None, None))
            }
        }
    }

    fn record_v3(&mut self, index: usize, first: &mut bool) -> Result<Option<Node>, Stop> {
        let addr = self.ints(index, Field::Addrs, Field::Addr)?;
        if !self.json.element(first)? {
            return Ok(self.wrong_length(index, 1));
        }
        let opcode = self.i64(At::Op(index, Field::Opcode))?;
        if !self.json.element(first)? {
            return Ok(self.wrong_length(index, 2));
        }
        let data = self.ints(index, Field::Data, Field::DataAt)?;
        let Some(tail) = self.tail(index, 3, first)? else { return Ok(None) };
        let (Some(addr), Some(opcode), Some(data)) = (addr, opcode, data) else { return Ok(None) };
        let op = self.op_v3(index, opcode, addr.as_slice(), data.as_slice());
        Ok(node(index, op, tail))
    }

    fn record_v2(&mut self, index: usize, first: &mut bool) -> Result<Option<Node>, Stop> {
        let id0 = self.i64(At::Op(index, Field::Id0))?;
        if !self.json.element(first)? {
            return Ok(self.wrong_length(index, 1));
        }
        let id1 = self.i64(At::Op(index, Field::Id1))?;
        if !self.json.element(first)? {
            return Ok(self.wrong_length(index, 2));
        }
        let opcode = self.i64(At::Op(index, Field::Opcode))?;
        if !self.json.element(first)? {
            return Ok(self.wrong_length(index, 3));
        }
        let data = self.data_of_v2(At::Op(index, Field::Data))?;
        let Some(tail) = self.tail(index, 4, first)? else { return Ok(None) };
        let (Some(id0), Some(id1), Some(opcode), Some(data)) = (id0, id1, opcode, data) else { return Ok(None) };
        let op = self.op_v2(index, opcode, [id0, id1], data);
        Ok(node(index, op, tail))
    }

    /// Reads interval, latency and cost behind the first `k` elements, and the end of the record.
    fn tail(&mut self, index: usize, k: usize, first: &mut bool) -> Result<Option<Tail>, Stop> {
        let mut tail = Tail { interval: None, latency: None, cost: None };
        for part in 0..3 {
            if !self.json.element(first)? {
                return Ok(self.wrong_length(index, k + part));
            }
            match part {
                0 => tail.interval = self.interval(index)?,
                1 => tail.latency = self.f64(At::Op(index, Field::Latency))?,
                _ => tail.cost = self.f64(At::Op(index, Field::Cost))?,
            }
        }
        match self.rest(first)? {
            0 => Ok(Some(tail)),
            more => Ok(self.wrong_length(index, k + 3 + more)),
        }
    }

    /// Passes over what is left of an array; how many elements that were.
    fn rest(&mut self, first: &mut bool) -> Result<usize, Stop> {
        let mut count = 0;
        while self.json.element(first)? {
            self.json.skip()?;
            count += 1;
        }
        Ok(count)
    }

    fn wrong_length<T>(&mut self, index: usize, length: usize) -> Option<T> {
        self.problem(
            "E0127",
            At::Op(index, Field::Whole),
            format!("a record of {length} elements"),
            "version 2 has 7: [id0, id1, opcode, data, qint, latency, cost]; \
             versions 3 and 4 have 6: [addr, opcode, data, qint, latency, cost]",
        );
        None
    }

    fn ints(&mut self, index: usize, whole: Field, entry: impl Fn(usize) -> Field) -> Result<Option<Ints>, Stop> {
        if !self.expect(At::Op(index, whole), Kind::Array)? {
            return Ok(None);
        }
        self.json.begin_array()?;
        let mut list = Ints::default();
        let (mut first, mut good, mut k) = (true, true, 0);
        while self.json.element(&mut first)? {
            match self.i64(At::Op(index, entry(k)))? {
                Some(value) => list.push(value),
                None => good = false,
            }
            k += 1;
        }
        Ok(good.then_some(list))
    }

    fn op_v3(&mut self, i: usize, opcode: i64, addr: &[i64], data: &[i64]) -> Option<Op> {
        let (operands, entries) = match opcode {
            -2 | 2 => (1, 0),
            -1 | 5 => (0, 1),
            0 | 1 => (2, 1),
            // Version 3 has none, version 4 one; which it is may be known only at the end.
            3 => (1, data.len().min(1)),
            4 => (1, 2),
            6 => (3, 1),
            7 => (2, 0),
            8 | 9 => (1, 1),
            10 => (2, 2),
            11 => (addr.len().max(1), 2 * addr.len()),
            _ => return self.unknown_opcode(i, opcode),
        };
        if addr.len() != operands {
            let message = format!("opcode {opcode} has {} operands here", addr.len());
            let help = if opcode == 11 { "it takes at least one".into() } else { format!("it takes {operands}") };
            self.problem("E0130", At::Op(i, Field::Addrs), message, help);
            return None;
        }
        if data.len() != entries {
            let message = format!("opcode {opcode} has {} data entries here", data.len());
            let help = match opcode {
                11 => format!("it takes a sign and a shift for each of its {operands} operands: {entries}"),
                3 => "it takes one, the relative shift (none in version 3)".into(),
                _ => format!("it takes {entries}"),
            };
            self.problem("E0131", At::Op(i, Field::Data), message, help);
            return None;
        }
        let a = |r: &mut Self, k: usize| r.operand(At::Op(i, Field::Addr(k)), addr[k]);
        let shift = |r: &mut Self, k: usize| r.shift(At::Op(i, Field::DataAt(k)), data[k]);
        let sub = At::Op(i, Field::DataAt(entries.saturating_sub(1)));
        Some(match opcode {
            -2 => Op::Neg { x: a(self, 0)? },
            -1 => Op::Input { input: self.index(At::Op(i, Field::DataAt(0)), data[0], "E0208", "input")? },
            0 => Op::Add { a: a(self, 0)?, b: a(self, 1)?, shift: shift(self, 0)? },
            1 => Op::Sub { a: a(self, 0)?, b: a(self, 1)?, shift: shift(self, 0)? },
            2 => Op::Relu { x: a(self, 0)? },
            3 => {
                let noted = match entries {
                    0 => &mut self.draft.quantise_without_shift,
                    _ => &mut self.draft.quantise_with_shift,
                };
                // As many as anyone will be shown.
                if noted.len() < MAX_NOTED {
                    noted.push(i);
                }
                Op::Quantise { x: a(self, 0)?, shift: if entries == 0 { 0 } else { shift(self, 0)? } }
            }
            4 => Op::AddConst { x: a(self, 0)?, value: Code::from(data[0]), shift: shift(self, 1)? },
            5 => Op::Const { value: Code::from(data[0]) },
            6 => {
                let (on_true, on_false, cond) = (a(self, 0)?, a(self, 1)?, a(self, 2)?);
                Op::Mux { cond, on_true, on_false, shift: shift(self, 0)? }
            }
            7 => Op::Mul { a: a(self, 0)?, b: a(self, 1)? },
            8 => {
                let x = a(self, 0)?;
                let table = self.index(At::Op(i, Field::DataAt(0)), data[0], "E0209", "table")?;
                self.lookup(x, table)
            }
            9 => Op::Unary { op: self.unary(sub, data[0])?, x: a(self, 0)? },
            10 => {
                let (op, a, b) = (self.binary(sub, data[1])?, a(self, 0)?, a(self, 1)?);
                Op::Binary { op, a, b, shift: shift(self, 0)? }
            }
            _ => self.sum(i, addr, data)?,
        })
    }

    fn sum(&mut self, i: usize, addr: &[i64], data: &[i64]) -> Option<Op> {
        let mut terms = Vec::with_capacity(addr.len());
        for (k, &index) in addr.iter().enumerate() {
            let value = self.operand(At::Op(i, Field::Addr(k)), index);
            let (sign, shift) = (data[2 * k], data[2 * k + 1]);
            if !matches!(sign, 0 | 1) {
                let at = At::Op(i, Field::DataAt(2 * k));
                self.problem("E0132", at, format!("{sign} is not a sign"), "1 is plus, 0 is minus");
            }
            let shift = self.shift(At::Op(i, Field::DataAt(2 * k + 1)), shift);
            if let (Some(value), Some(shift), 0 | 1) = (value, shift, sign) {
                terms.push(Term { value, shift, neg: sign == 0 });
            }
        }
        (terms.len() == addr.len()).then(|| Op::Sum { terms: terms.into() })
    }

    fn op_v2(&mut self, i: usize, opcode: i64, ids: [i64; 2], data: i64) -> Option<Op> {
        let at_data = At::Op(i, Field::Data);
        // The two halves, each signed.
        let (low, high) = (data as i32, (data >> 32) as i32);
        let a = |r: &mut Self| r.operand(At::Op(i, Field::Id0), ids[0]);
        let b = |r: &mut Self| r.operand(At::Op(i, Field::Id1), ids[1]);
        Some(match opcode {
            -2 => Op::Neg { x: a(self)? },
            -1 => Op::Input { input: self.index(At::Op(i, Field::Id0), ids[0], "E0208", "input")? },
            0 => Op::Add { a: a(self)?, b: b(self)?, shift: low },
            1 => Op::Sub { a: a(self)?, b: b(self)?, shift: low },
            2 => Op::Relu { x: a(self)? },
            3 => Op::Quantise { x: a(self)?, shift: 0 },
            4 => Op::AddConst { x: a(self)?, value: Code::from(i64::from(low)), shift: high },
            5 => Op::Const { value: Code::from(data) },
            6 => {
                let (on_true, on_false) = (a(self)?, b(self)?);
                Op::Mux { cond: self.operand(at_data, i64::from(low))?, on_true, on_false, shift: high }
            }
            7 => Op::Mul { a: a(self)?, b: b(self)? },
            8 => {
                let x = a(self)?;
                let table = self.index(at_data, data, "E0209", "table")?;
                self.lookup(x, table)
            }
            9 => Op::Unary { op: self.unary(at_data, data)?, x: a(self)? },
            10 => {
                if data.cast_unsigned() >> 32 & 0xff_ffff != 0 {
                    let message = format!("bits 32 to 55 of {data} are not zero");
                    self.problem(
                        "E0138",
                        at_data,
                        message,
                        "they are reserved: shift in bits 0 to 31, sub in 56 to 63",
                    );
                    return None;
                }
                let op = self.binary(at_data, data >> 56 & 0xff)?;
                Op::Binary { op, a: a(self)?, b: b(self)?, shift: low }
            }
            11 => {
                let help = "sums of several terms exist since version 3";
                self.problem("E0128", At::Op(i, Field::Opcode), "opcode 11 in a record of version 2", help);
                return None;
            }
            _ => return self.unknown_opcode(i, opcode),
        })
    }

    fn unknown_opcode(&mut self, i: usize, opcode: i64) -> Option<Op> {
        self.problem("E0128", At::Op(i, Field::Opcode), format!("unknown opcode {opcode}"), "opcodes are -2 to 11");
        None
    }

    /// The operand at an index; that it is earlier is left to the model's own checks.
    fn operand(&mut self, at: At, index: i64) -> Option<ValueId> {
        if index < 0 {
            let message = format!("operand {index} is negative");
            self.problem("E0139", at, message, "give the index of an earlier operation");
            return None;
        }
        let id = u32::try_from(index).ok().map(ValueId);
        if id.is_none() {
            let message = format!("operand {index} does not exist");
            self.problem("E0207", at, message, "operations may only use earlier values");
        }
        id
    }

    /// An index of an input or table; that it exists is left to the model's own checks.
    fn index(&mut self, at: At, index: i64, code: &'static str, what: &str) -> Option<u32> {
        let found = u32::try_from(index).ok();
        if found.is_none() {
            self.problem(code, at, format!("{what} {index} does not exist"), format!("{what}s are counted from 0"));
        }
        found
    }

    /// Entry 0 belongs to the smallest value of the operand's interval in the file.
    fn lookup(&mut self, x: ValueId, table: u32) -> Op {
        let operand = self.draft.builder.nodes().get(x.index());
        let base = operand.map_or(Code::ZERO, |node| node.interval.min.clone());
        Op::Lookup { x, table: TableId(table), base }
    }

    fn unary(&mut self, at: At, sub: i64) -> Option<UnaryBits> {
        match sub {
            0 => Some(UnaryBits::Not),
            1 => Some(UnaryBits::Any),
            2 => Some(UnaryBits::All),
            _ => {
                self.problem("E0129", at, format!("unknown unary bit operation {sub}"), "0 is not, 1 any, 2 all");
                None
            }
        }
    }

    fn binary(&mut self, at: At, sub: i64) -> Option<BinaryBits> {
        match sub {
            0 => Some(BinaryBits::And),
            1 => Some(BinaryBits::Or),
            2 => Some(BinaryBits::Xor),
            _ => {
                self.problem("E0129", at, format!("unknown binary bit operation {sub}"), "0 is and, 1 or, 2 xor");
                None
            }
        }
    }
}

/// Quantise operations that are remembered until the version is known.
const MAX_NOTED: usize = 1000;

fn node(index: usize, op: Option<Op>, tail: Tail) -> Option<Node> {
    let Tail { interval, latency, cost } = tail;
    Some(Node { op: op?, interval: interval?, latency: latency?, cost: cost?, origin: index as u32 })
}
