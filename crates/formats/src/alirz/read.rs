//! A program out of its columns.

use super::brief::Briefs;
use super::columns::{Bad, Reader};
use super::predict::{predict_as, predict_wide};
use super::{COLUMNS, Column, container, mode, start};
use alir_core::diag::{Diagnostic, Diagnostics, Place};
use alir_core::ir::{BinaryBits, Builder, Limits, Model, Node, Op, Output, Table, TableId, Term, UnaryBits, ValueId};
use alir_core::num::{Code, Interval};

/// Reads a program.
///
/// # Errors
/// The first fault of the file, or every problem of its program.
pub(in super::super) fn read(file: &[u8], limits: &Limits) -> Result<(Model, Diagnostics), Diagnostics> {
    let (bytes, ends) = container::unpack(file, limits.max_bytes)?;
    let mut from = 0;
    let columns = ends.map(|end| {
        let column = Reader::new(&bytes[from..end]);
        from = end;
        column
    });
    // Bounds that follow from operands take no bytes of the file: they may take some of its size, and what a small file
    // needs.
    let wide = (64 * file.len() as u64 + (1 << 20)).min(limits.max_bytes);
    let mut builder = Builder::new(Vec::new());
    builder.limits(*limits);
    let mut columns = Columns {
        limits,
        columns,
        builder,
        wide,
        input: 0,
        table: 0,
        last_input: Interval::new(0, 0, 0),
        briefs: Briefs::default(),
    };
    columns.program().map_err(|fault| Diagnostics::from(*fault))?;
    columns.builder.finish().map(|model| (model, Diagnostics::default())).map_err(|problems| {
        let shown = |p: &alir_core::ir::Problem| {
            Diagnostic::error(p.code, Place::Path(p.site.to_string()), p.message.clone()).with_help(p.help.clone())
        };
        Diagnostics(problems.iter().map(shown).collect())
    })
}

type Stop = Box<Diagnostic>;

struct Columns<'l, 'b> {
    limits: &'l Limits,
    columns: [Reader<'b>; COLUMNS],
    builder: Builder,
    /// Bytes that bounds beyond 64 bits may still take.
    wide: u64,
    /// The input and table that come next if they come in order.
    input: i64,
    table: i64,
    /// The interval of the last input.
    last_input: Interval,
    briefs: Briefs,
}

/// The operation being read: its number, the encoding of its interval, all pairs of times and how many of these hold
/// delays.
#[derive(Clone, Copy)]
struct Here<'p> {
    index: usize,
    how: u8,
    pairs: &'p [(f64, f64)],
    relative: usize,
}

/// A fault that alir2hdl would not have written.
fn fault(place: impl std::fmt::Display, message: impl Into<String>) -> Stop {
    let problem = Diagnostic::error("E0163", Place::Path(place.to_string()), message);
    Box::new(problem.with_help("the file was not written by alir2hdl, or is damaged"))
}

fn bad(place: impl std::fmt::Display, what: Bad) -> Stop {
    fault(
        place,
        match what {
            Bad::Ends => "its column has no more bytes",
            Bad::Number => "a number of too many bits, or of groups that say nothing",
        },
    )
}

#[cold]
fn bad_op(index: usize, what: Bad) -> Stop {
    bad(format_args!("ops[{index}]"), what)
}

#[cold]
fn fault_op(index: usize, message: &str) -> Stop {
    fault(format_args!("ops[{index}]"), message)
}

impl<'b> Columns<'_, 'b> {
    fn column(&mut self, column: Column) -> &mut Reader<'b> {
        &mut self.columns[column as usize]
    }

    fn program(&mut self) -> Result<(), Stop> {
        let n_ops = self.column(Column::Codes).left();
        if n_ops as u64 > self.limits.max_ops {
            let message = format!("more than {} operations", self.limits.max_ops);
            let problem = Diagnostic::error("E0201", Place::Whole, message);
            return Err(Box::new(problem.with_help("raise --max-ops")));
        }
        let (outputs, n_tables, relative) = self.head(n_ops)?;
        self.tables(n_tables)?;
        let pairs = self.pairs()?;
        if relative > pairs.len() {
            return Err(fault("pairs", format!("{relative} of {} pairs hold delays", pairs.len())));
        }
        self.builder.reserve(n_ops);
        self.briefs.reserve(n_ops);
        for index in 0..n_ops {
            self.operation(index, &pairs, relative)?;
        }
        for out in outputs {
            self.builder.output(out);
        }
        match self.columns.iter().position(|column| column.left() > 0) {
            Some(k) => Err(fault(format_args!("column {k}"), "bytes behind its last number")),
            None => Ok(()),
        }
    }

    /// Outputs, how many tables there are, and how many pairs hold delays.
    fn head(&mut self, n_ops: usize) -> Result<(Vec<Output>, usize, usize), Stop> {
        let ends = |e| bad("head", e);
        let limits = *self.limits;
        let head = self.column(Column::Head);
        let mut size = || head.number().map_err(ends).map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        let (n_in, n_out, n_tables, relative) = (size()?, size()?, size()?, size()?);
        let (carry_size, adder_size) = (head.signed().map_err(ends)?, head.signed().map_err(ends)?);
        let small = |value: i64| i32::try_from(value).map_err(|_| fault("head", format!("a shift of {value}")));
        // Nothing is reserved for what may not come.
        let mut shifts = Vec::new();
        for _ in 0..n_in {
            shifts.push(small(head.signed().map_err(ends)?)?);
        }
        let mut outputs = Vec::new();
        for _ in 0..n_out {
            let distance = head.number().map_err(ends)?;
            let source = match distance {
                0 => None,
                d => match (n_ops as u64).checked_sub(d) {
                    Some(index) => Some(ValueId(index as u32)),
                    None => return Err(fault("head", format!("an output {d} operations before the end"))),
                },
            };
            let packed = head.number().map_err(ends)?;
            outputs.push(Output { source, shift: small(unzigzag(packed >> 1))?, neg: packed & 1 == 1 });
        }
        self.builder = Builder::new(shifts);
        self.builder.limits(limits).cost_model(carry_size, adder_size);
        Ok((outputs, n_tables, relative))
    }

    fn pairs(&mut self) -> Result<Vec<(f64, f64)>, Stop> {
        let column = self.column(Column::Pairs);
        let mut pairs = Vec::with_capacity(column.left() / 4);
        while column.left() > 0 {
            let mut double =
                || column.number().map(|bits| f64::from_bits(bits.swap_bytes())).map_err(|e| bad("pairs", e));
            pairs.push((double()?, double()?));
        }
        Ok(pairs)
    }

    fn tables(&mut self, count: usize) -> Result<(), Stop> {
        let (max_width, limit) = (self.limits.max_width, self.limits.max_table_entries);
        let mut entries_left = limit;
        for t in 0..count {
            let place = format!("lookup_tables[{t}]");
            let ends = |e| bad(&place, e);
            let column = self.column(Column::Tables);
            let frac = column.signed().map_err(ends)?;
            let frac = i32::try_from(frac).map_err(|_| fault(&place, format!("{frac} fractional bits")))?;
            let (min, max) = (column.code(max_width + 2).map_err(ends)?, column.code(max_width + 2).map_err(ends)?);
            if min > max {
                return Err(fault(&place, format!("min {min} is above max {max}")));
            }
            let inp_width = column.signed().map_err(ends)?;
            let length = column.number().map_err(ends)?;
            let bytes = column.take(usize::try_from(length >> 1).unwrap_or(usize::MAX)).map_err(ends)?;
            let hash = if length & 1 == 1 {
                bytes
                    .iter()
                    .flat_map(|b| [b >> 4, b & 15])
                    .map(|d| char::from(b"0123456789abcdef"[usize::from(d)]))
                    .collect()
            } else {
                String::from_utf8(bytes.to_vec()).map_err(|_| fault(&place, "a hash that is no text"))?
            };
            let n = column.number().map_err(ends)?;
            if n > entries_left {
                let problem =
                    Diagnostic::error("E0202", Place::Path(place), format!("more than {limit} table entries in all"));
                return Err(Box::new(problem.with_help("raise --max-table-entries")));
            }
            entries_left -= n;
            let (mut entries, mut last) = (Vec::new(), 0i64);
            for _ in 0..n {
                last = last.saturating_add(column.signed().map_err(ends)?);
                entries.push(i32::try_from(last).map_err(|_| fault(&place, format!("an entry of {last}")))?);
            }
            let wide = [&min, &max].iter().map(|code| code.bits() / 8).sum();
            self.builder.table(Table { entries, out: Interval { min, max, frac }, hash, inp_width });
            self.take_wide(&format!("lookup_tables[{t}]"), wide)?;
        }
        Ok(())
    }

    /// Reads an operation. Where its kind is known, all that follows is made for that kind: the frequent ones take the
    /// way without questions.
    #[inline]
    fn operation(&mut self, index: usize, pairs: &[(f64, f64)], relative: usize) -> Result<(), Stop> {
        let code = self.column(Column::Codes).byte().map_err(|e| bad_op(index, e))?;
        let here = Here { index, how: code >> 4, pairs, relative };
        // The order of the reads is that of the file.
        match i8::try_from(code & 15).unwrap_or_default() - 2 {
            -1 => {
                let step = self.column(Column::Indices).signed().map_err(|e| bad_op(index, e))?;
                let input = in_order(&mut self.input, step).ok_or_else(|| fault_op(index, "no such input"))?;
                self.settle(here, Op::Input { input })
            }
            0 => {
                let (a, b) = self.pair(index)?;
                let shift = self.shift(index)?;
                self.settle(here, Op::Add { a, b, shift })
            }
            1 => {
                let (a, b) = self.pair(index)?;
                let shift = self.shift(index)?;
                self.settle(here, Op::Sub { a, b, shift })
            }
            2 => {
                let x = self.operand(index, Column::First)?;
                self.settle(here, Op::Relu { x })
            }
            3 => {
                let x = self.operand(index, Column::First)?;
                let shift = self.shift(index)?;
                self.settle(here, Op::Quantise { x, shift })
            }
            6 => {
                let (on_true, on_false) = self.pair(index)?;
                let cond = self.operand(index, Column::Third)?;
                let shift = self.shift(index)?;
                self.settle(here, Op::Mux { cond, on_true, on_false, shift })
            }
            7 => {
                let (a, b) = self.pair(index)?;
                self.settle(here, Op::Mul { a, b })
            }
            opcode => {
                let op = self.rare(index, opcode)?;
                self.settle_rare(here, op)
            }
        }
    }

    /// Reads the operands of an operation of one of the other kinds.
    fn rare(&mut self, index: usize, opcode: i8) -> Result<Op, Stop> {
        Ok(match opcode {
            -2 => Op::Neg { x: self.operand(index, Column::First)? },
            4 => {
                let x = self.operand(index, Column::First)?;
                let value = self.value(index)?;
                Op::AddConst { x, value, shift: self.shift(index)? }
            }
            5 => Op::Const { value: self.value(index)? },
            8 => {
                let x = self.operand(index, Column::First)?;
                let step = self.column(Column::Indices).signed().map_err(|e| bad_op(index, e))?;
                let n = self.builder.tables().len();
                let table = in_order(&mut self.table, step).filter(|&t| (t as usize) < n);
                let table = TableId(table.ok_or_else(|| fault_op(index, "no such table"))?);
                let above = self.value(index)?;
                let low = &self.builder.nodes()[x.index()].interval.min;
                let base = match (low.to_i64(), above.to_i64()) {
                    (Some(low), Some(above)) if low.checked_add(above).is_some() => Code::from(low + above),
                    _ => Code::from(low.to_big() + above.to_big()),
                };
                self.count_wide(index, &base)?;
                Op::Lookup { x, table, base }
            }
            9 => {
                let x = self.operand(index, Column::First)?;
                let op = match self.index(index)? {
                    0 => UnaryBits::Not,
                    1 => UnaryBits::Any,
                    2 => UnaryBits::All,
                    _ => return Err(fault_op(index, "no such unary bit operation")),
                };
                Op::Unary { op, x }
            }
            10 => {
                let (a, b) = self.pair(index)?;
                let shift = self.shift(index)?;
                let op = match self.index(index)? {
                    0 => BinaryBits::And,
                    1 => BinaryBits::Or,
                    2 => BinaryBits::Xor,
                    _ => return Err(fault_op(index, "no such binary bit operation")),
                };
                Op::Binary { op, a, b, shift }
            }
            11 => {
                let mut terms = Vec::new();
                for _ in 0..self.index(index)? {
                    let value = self.operand(index, Column::Third)?;
                    let packed = self.column(Column::Shifts).number().map_err(|e| bad_op(index, e))?;
                    let shift =
                        i32::try_from(unzigzag(packed >> 1)).map_err(|_| fault_op(index, "a shift beyond 32 bits"))?;
                    terms.push(Term { value, shift, neg: packed & 1 == 1 });
                }
                Op::Sum { terms: terms.into() }
            }
            _ => return Err(fault_op(index, "no such opcode")),
        })
    }

    #[inline(never)]
    fn settle_rare(&mut self, here: Here<'_>, op: Op) -> Result<(), Stop> {
        self.settle(here, op)
    }

    /// Reads interval and times of an operation and appends it. Inlined where the kind of the operation is known, so
    /// that nothing asks for it again.
    #[inline(always)]
    fn settle(&mut self, here: Here<'_>, op: Op) -> Result<(), Stop> {
        let Here { index, how, pairs, relative } = here;
        let (nodes, briefs) = (self.builder.nodes(), &self.briefs);
        let span = |v: &ValueId| briefs.span(*v, nodes);
        let predicted = predict_as::<i64>(&op, span, self.builder.tables(), &self.last_input);
        let interval = match predicted {
            Some(span) if how == mode::PREDICTED => span.into_interval(),
            Some(span) => self.interval(index, how, span.into_interval())?,
            None => {
                let predicted = predict_wide(&op, nodes, self.builder.tables(), &self.last_input);
                self.interval(index, how, predicted)?
            }
        };
        let number = self.column(Column::Times).number().map_err(|e| bad_op(index, e))?;
        let Some(&(first, cost)) = pairs.get(usize::try_from(number).unwrap_or(usize::MAX)) else {
            return Err(fault_op(index, "a pair of delay and cost that does not exist"));
        };
        let delayed = (number as usize) < relative;
        let known = |v: ValueId| self.briefs.latency(v, self.builder.nodes());
        let latency = if delayed { start(&op, known) + first } else { first };
        if let Op::Input { .. } = op {
            self.last_input = interval.clone();
        }
        let node = Node { op, interval, latency, cost, origin: index as u32 };
        self.briefs.push(&node);
        self.builder.push_checked(node);
        Ok(())
    }

    #[inline(always)]
    fn operand(&mut self, index: usize, column: Column) -> Result<ValueId, Stop> {
        let low = self.column(column).byte().map_err(|e| bad_op(index, e))?;
        let distance = if low < 0x80 { usize::from(low) } else { self.far(index, low)? };
        if distance < index {
            Ok(ValueId((index - 1 - distance) as u32))
        } else {
            Err(fault_op(index, "an operand before the first operation"))
        }
    }

    /// A distance of more than seven bits.
    fn far(&mut self, index: usize, low: u8) -> Result<usize, Stop> {
        match self.column(Column::Far).number().map_err(|e| bad_op(index, e))? {
            0 => Err(bad_op(index, Bad::Number)),
            high => Ok(usize::try_from(high.min(u64::MAX >> 7) << 7 | u64::from(low & 0x7f)).unwrap_or(usize::MAX)),
        }
    }

    #[inline(always)]
    fn pair(&mut self, index: usize) -> Result<(ValueId, ValueId), Stop> {
        Ok((self.operand(index, Column::First)?, self.operand(index, Column::Second)?))
    }

    #[inline(always)]
    fn shift(&mut self, index: usize) -> Result<i32, Stop> {
        let shift = self.column(Column::Shifts).signed().map_err(|e| bad_op(index, e))?;
        i32::try_from(shift).map_err(|_| fault_op(index, "a shift beyond 32 bits"))
    }

    fn index(&mut self, index: usize) -> Result<u64, Stop> {
        self.column(Column::Indices).number().map_err(|e| bad_op(index, e))
    }

    fn value(&mut self, index: usize) -> Result<Code, Stop> {
        let max_bits = self.limits.max_width + 2;
        let value = self.column(Column::Values).code(max_bits).map_err(|e| bad_op(index, e))?;
        self.count_wide(index, &value)?;
        Ok(value)
    }

    /// The interval that the code says, relative to the predicted one.
    #[inline(never)]
    fn interval(&mut self, index: usize, how: u8, predicted: Interval) -> Result<Interval, Stop> {
        let max_width = self.limits.max_width;
        let mut interval = predicted;
        if how != mode::PREDICTED {
            let column = self.column(Column::Intervals);
            let step = column.signed().map_err(|e| bad_op(index, e))?;
            let frac = step.checked_add(interval.frac.into()).and_then(|f| i32::try_from(f).ok());
            let frac = frac.ok_or_else(|| fault_op(index, "fractional bits beyond 32 bits"))?;
            interval = match how {
                mode::STEP => Interval { frac, ..interval },
                mode::UNSIGNED | mode::SIGNED => {
                    let width = column.number().map_err(|e| bad_op(index, e))?;
                    let width = u32::try_from(width).ok().filter(|&w| w <= max_width);
                    let width = width.ok_or_else(|| fault_op(index, "a type wider than --max-width"))?;
                    Interval::of_width(how == mode::SIGNED, width, frac)
                }
                mode::BOUNDS => {
                    let mut bound = || column.code(max_width + 2).map_err(|e| bad_op(index, e));
                    let (min, max) = (bound()?, bound()?);
                    if min > max {
                        return Err(fault_op(index, "an interval whose min is above its max"));
                    }
                    Interval { min, max, frac }
                }
                _ => return Err(fault_op(index, "no such way to say an interval")),
            };
        }
        self.count_wide(index, &interval.min)?;
        self.count_wide(index, &interval.max)?;
        Ok(interval)
    }

    /// Counts what a code beyond 64 bits takes, and refuses one of more bits than any value may have: what is derived
    /// from it would have even more.
    #[inline]
    fn count_wide(&mut self, index: usize, code: &Code) -> Result<(), Stop> {
        if code.to_i64().is_some() {
            return Ok(());
        }
        let (bits, limit) = (code.bits(), self.limits.max_width);
        if bits > u64::from(limit) + 1 {
            let place = Place::Path(format!("ops[{index}]"));
            let problem = Diagnostic::error("E0211", place, format!("needs {bits} bits, the limit is {limit}"));
            return Err(Box::new(problem.with_help("use a narrower type, or raise --max-width")));
        }
        self.take_wide(&format!("ops[{index}]"), 64 + bits / 8)
    }

    fn take_wide(&mut self, place: &str, bytes: u64) -> Result<(), Stop> {
        match self.wide.checked_sub(bytes) {
            Some(left) => {
                self.wide = left;
                Ok(())
            }
            None => {
                let message = "bounds beyond 64 bits take more memory than a file of this size may ask for";
                let problem = Diagnostic::error("E0104", Place::Path(place.to_owned()), message);
                Err(Box::new(problem.with_help("write the model as JSON: there every bound takes bytes of its own")))
            }
        }
    }
}

/// The number that is `step` away from the one that comes next; the following is next then.
fn in_order(next: &mut i64, step: i64) -> Option<u32> {
    let number = next.checked_add(step).and_then(|n| u32::try_from(n).ok())?;
    *next = i64::from(number) + 1;
    Some(number)
}

fn unzigzag(bits: u64) -> i64 {
    (bits >> 1).cast_signed() ^ -(bits & 1).cast_signed()
}
