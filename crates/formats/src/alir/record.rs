//! Parser of operation records: version 2, and versions 3 and 4, distinguished by their length.
//!
//! [`super::super::decode`] implements the semantics. Like that module, this one is a hot path: a valid operation
//! causes no allocation, except for sums.

use super::super::decode::{Report, op_v2, op_v3};
use super::super::json::{Kind, Short, short_number};
use super::super::place::{At, Field, Layout};
use super::super::source::Stop;
use super::number::{Dyadic, f64_of_short};
use super::read::Reader;
use alir_core::ir::{Node, Op};
use alir_core::num::{Code, Interval};
use std::io::Read;

/// Fields at the end of every record.
struct Tail {
    interval: Option<Interval>,
    latency: Option<f64>,
    cost: Option<f64>,
}

/// Number of operands that are stored inline; longer lists are allocated on the heap.
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

/// A record of versions 3 and 4 in the usual layout: contiguous in the buffer, without line breaks, with short numbers.
/// Any other record is parsed token by token, which gives the same result and reports problems.
struct Plain {
    addr: Ints,
    opcode: i64,
    data: Ints,
    bounds: [Dyadic; 3],
    latency: f64,
    cost: f64,
}

impl Plain {
    /// Returns the record at the start of `bytes`, and its length; `None` if it does not have the usual layout.
    fn read(bytes: &[u8]) -> Option<(Plain, usize)> {
        let mut cursor = Cursor { bytes, at: 0 };
        cursor.skip(b'[')?;
        let addr = cursor.ints()?;
        cursor.skip(b',')?;
        let opcode = cursor.int()?;
        cursor.skip(b',')?;
        let data = cursor.ints()?;
        cursor.skip(b',')?;
        cursor.skip(b'[')?;
        let min = cursor.dyadic()?;
        cursor.skip(b',')?;
        let max = cursor.dyadic()?;
        cursor.skip(b',')?;
        let step = cursor.dyadic()?;
        cursor.skip(b']')?;
        cursor.skip(b',')?;
        let latency = f64_of_short(cursor.number()?.1)?;
        cursor.skip(b',')?;
        let cost = f64_of_short(cursor.number()?.1)?;
        cursor.skip(b']')?;
        Some((Plain { addr, opcode, data, bounds: [min, max, step], latency, cost }, cursor.at))
    }
}

/// A position in bytes that may be a plain record.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    /// Skips blanks, and the byte `byte` after them; `None` if another byte follows.
    #[inline]
    fn skip(&mut self, byte: u8) -> Option<()> {
        while *self.bytes.get(self.at)? == b' ' {
            self.at += 1;
        }
        (self.bytes[self.at] == byte).then(|| self.at += 1)
    }

    #[inline]
    fn number(&mut self) -> Option<(bool, Short)> {
        while *self.bytes.get(self.at)? == b' ' {
            self.at += 1;
        }
        let (length, is_integer, short) = short_number(&self.bytes[self.at..])?;
        self.at += length;
        Some((is_integer, short))
    }

    #[inline]
    fn int(&mut self) -> Option<i64> {
        let (is_integer, short) = self.number()?;
        is_integer.then(|| short.integer())
    }

    #[inline]
    fn dyadic(&mut self) -> Option<Dyadic> {
        let (is_integer, short) = self.number()?;
        Dyadic::from_short(short, is_integer)
    }

    #[inline]
    fn ints(&mut self) -> Option<Ints> {
        self.skip(b'[')?;
        let mut list = Ints::default();
        if *self.bytes.get(self.at)? == b']' {
            self.at += 1;
            return Some(list);
        }
        loop {
            list.push(self.int()?);
            if self.skip(b',').is_none() {
                self.skip(b']')?;
                return Some(list);
            }
        }
    }
}

impl<R: Read> Reader<'_, R> {
    /// Parses the record of operation `index`. The first element of the record determines the layout; the node is
    /// `None` if a problem was reported.
    pub(super) fn record(&mut self, index: usize) -> Result<(Option<Layout>, Option<Node>), Stop> {
        if let Some((plain, length)) = Plain::read(self.json.ahead()) {
            self.json.advance(length);
            return Ok((Some(Layout::V3), self.plain(index, &plain)?));
        }
        self.any_record(index)
    }

    /// Decodes a plain record with the checks of [`Reader::record_v3`], in the same order.
    fn plain(&mut self, index: usize, plain: &Plain) -> Result<Option<Node>, Stop> {
        let Plain { addr, opcode, data, bounds, latency, cost } = plain;
        let interval = self.interval_from_parts(index, bounds)?;
        let tail = Tail { interval, latency: Some(*latency), cost: Some(*cost) };
        Ok(self.node_v3(index, *opcode, addr.as_slice(), data.as_slice(), tail))
    }

    /// Parses a record of any layout.
    fn any_record(&mut self, index: usize) -> Result<(Option<Layout>, Option<Node>), Stop> {
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
        Ok(self.node_v3(index, opcode, addr.as_slice(), data.as_slice(), tail))
    }

    fn node_v3(&mut self, index: usize, opcode: i64, addr: &[i64], data: &[i64], tail: Tail) -> Option<Node> {
        let op = op_v3(&mut AtOp { reader: self, index }, opcode, addr, data);
        if opcode == 3 && op.is_some() {
            let noted = match data {
                [] => &mut self.draft.quantise_without_shift,
                _ => &mut self.draft.quantise_with_shift,
            };
            // Limits the list to the number of operations that are reported.
            if noted.len() < MAX_NOTED {
                noted.push(index);
            }
        }
        self.node(index, op, tail)
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
        // Without an interval there is no node, so the constant does not matter.
        let frac = tail.interval.as_ref().map_or(0, |interval| interval.frac);
        let era = self.era();
        // Opcode 4 changed while pipelines were still written without a header; single models already had a header
        // then.
        if !self.has_header() && self.ambiguous_opcode.is_none() && (opcode == -2 || opcode == 4 && self.in_pipeline())
        {
            self.ambiguous_opcode = Some((index, opcode));
        }
        let mut at = AtOp { reader: self, index };
        let Some((op, negated)) = op_v2(&mut at, era, opcode, [id0, id1], data, frac) else { return Ok(None) };
        let node = self.node(index, Some(op), tail);
        if node.is_some() {
            self.draft.negations.note(index, negated);
        }
        Ok(node)
    }

    /// Reads interval, latency and cost after the first `k` elements, and the end of the record.
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

    /// Skips the remaining elements of an array; returns their number.
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

    fn node(&self, index: usize, op: Option<Op>, tail: Tail) -> Option<Node> {
        let Tail { interval, latency, cost } = tail;
        let mut op = op?;
        if let Op::Lookup { x, base, .. } = &mut op {
            // Entry 0 belongs to the smallest value of the operand's interval in the file.
            let operand = self.draft.builder.nodes().get(x.index());
            *base = operand.map_or(Code::ZERO, |node| node.interval.min.clone());
        }
        Some(Node { op, interval: interval?, latency: latency?, cost: cost?, origin: index as u32 })
    }
}

/// Receiver of the problems of one operation.
struct AtOp<'r, 'l, R: Read> {
    reader: &'r mut Reader<'l, R>,
    index: usize,
}

impl<R: Read> Report for AtOp<'_, '_, R> {
    fn problem(&mut self, field: Field, code: &'static str, message: String, help: String) {
        self.reader.problem(code, At::Op(self.index, field), message, help);
    }

    fn max_shift(&self) -> u32 {
        self.reader.max_shift()
    }
}

/// Maximum number of quantise operations that are recorded until the version is known.
const MAX_NOTED: usize = 1000;
