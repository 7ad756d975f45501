//! A program in columns.

use super::super::bytecode::{binary_code, unary_code};
use super::columns::Writer;
use super::predict::predict;
use super::{COLUMNS, Column, container, mode, start};
use alir_core::ir::{Model, Node, Op, Table, ValueId};
use alir_core::num::Interval;
use rustc_hash::FxHashMap;
use std::io::{self, Write};

/// Writes a program that was prepared for the form.
///
/// # Errors
/// Those of `out`.
pub(in super::super) fn write(model: &Model, out: &mut dyn Write) -> io::Result<()> {
    let mut columns: [Writer; COLUMNS] = Default::default();
    let mut writer = Columns { model, columns: &mut columns, input: 0, table: 0, interval: Interval::new(0, 0, 0) };
    for (index, node) in model.nodes().iter().enumerate() {
        writer.operation(index, node);
    }
    let relative = writer.times();
    writer.tables();
    writer.head(relative);
    out.write_all(&container::pack(&columns.map(|c| c.0)))
}

struct Columns<'m, 'c> {
    model: &'m Model,
    columns: &'c mut [Writer; COLUMNS],
    /// The input and table that come next if they come in order.
    input: i64,
    table: i64,
    /// The interval of the last input.
    interval: Interval,
}

impl Columns<'_, '_> {
    fn column(&mut self, column: Column) -> &mut Writer {
        &mut self.columns[column as usize]
    }

    fn head(&mut self, relative: u64) {
        let model = self.model;
        let n = model.nodes().len() as u64;
        let head = self.column(Column::Head);
        [model.n_inputs(), model.outputs().len(), model.tables().len()].iter().for_each(|&n| head.number(n as u64));
        head.number(relative);
        head.signed(model.carry_size());
        head.signed(model.adder_size());
        model.inp_shifts().iter().for_each(|&shift| head.signed(shift.into()));
        for out in model.outputs() {
            head.number(out.source.map_or(0, |v| n - u64::from(v.0)));
            head.number(zigzag(out.shift) << 1 | u64::from(out.neg));
        }
    }

    fn operation(&mut self, index: usize, node: &Node) {
        let from = |v: ValueId| (index - v.index() - 1) as u64;
        match &node.op {
            Op::Input { input } => {
                let step = i64::from(*input) - self.input;
                self.input = i64::from(*input) + 1;
                self.column(Column::Indices).signed(step);
            }
            Op::Const { value } => self.column(Column::Values).code(value),
            Op::Neg { x } | Op::Relu { x } => self.distance(Column::First, from(*x)),
            Op::Quantise { x, shift } => {
                self.distance(Column::First, from(*x));
                self.column(Column::Shifts).signed((*shift).into());
            }
            Op::AddConst { x, value, shift } => {
                self.distance(Column::First, from(*x));
                self.column(Column::Values).code(value);
                self.column(Column::Shifts).signed((*shift).into());
            }
            Op::Add { a, b, shift } | Op::Sub { a, b, shift } => {
                self.pair(from(*a), from(*b));
                self.column(Column::Shifts).signed((*shift).into());
            }
            Op::Mul { a, b } => self.pair(from(*a), from(*b)),
            Op::Binary { op, a, b, shift } => {
                self.pair(from(*a), from(*b));
                self.column(Column::Shifts).signed((*shift).into());
                self.column(Column::Indices).number(binary_code(*op) as u64);
            }
            Op::Mux { cond, on_true, on_false, shift } => {
                self.pair(from(*on_true), from(*on_false));
                self.distance(Column::Third, from(*cond));
                self.column(Column::Shifts).signed((*shift).into());
            }
            Op::Lookup { x, table, base } => {
                self.distance(Column::First, from(*x));
                let step = i64::from(table.0) - self.table;
                self.table = i64::from(table.0) + 1;
                self.column(Column::Indices).signed(step);
                // Mostly the operand's min: its distance from there.
                let low = &self.model.node(*x).interval.min;
                match (base.to_i64(), low.to_i64()) {
                    (Some(base), Some(low)) if base.checked_sub(low).is_some() => {
                        self.column(Column::Values).signed(base - low);
                    }
                    _ => self.column(Column::Values).big(&(base.to_big() - low.to_big())),
                }
            }
            Op::Unary { op, x } => {
                self.distance(Column::First, from(*x));
                self.column(Column::Indices).number(unary_code(*op) as u64);
            }
            Op::Sum { terms } => {
                self.column(Column::Indices).number(terms.len() as u64);
                for term in terms {
                    self.distance(Column::Third, from(term.value));
                    self.column(Column::Shifts).number(zigzag(term.shift) << 1 | u64::from(term.neg));
                }
            }
        }
        let how = self.interval(node);
        let code = (node.op.opcode() + 2).cast_unsigned() | how << 4;
        self.column(Column::Codes).byte(code);
    }

    fn pair(&mut self, a: u64, b: u64) {
        self.distance(Column::First, a);
        self.distance(Column::Second, b);
    }

    /// The low seven bits, which say little, in the column; what is above, which says much about the next, in its own.
    fn distance(&mut self, column: Column, distance: u64) {
        let (low, high) = (distance as u8 & 0x7f, distance >> 7);
        if high == 0 {
            self.column(column).byte(low);
        } else {
            self.column(column).byte(low | 0x80);
            self.column(Column::Far).number(high);
        }
    }

    fn interval(&mut self, node: &Node) -> u8 {
        let own = &node.interval;
        let predicted = predict(&node.op, self.model.nodes(), self.model.tables(), &self.interval);
        if let Op::Input { .. } = node.op {
            self.interval = own.clone();
        }
        if *own == predicted {
            return mode::PREDICTED;
        }
        let frac = i64::from(own.frac) - i64::from(predicted.frac);
        let column = self.column(Column::Intervals);
        column.signed(frac);
        if own.min == predicted.min && own.max == predicted.max {
            return mode::STEP;
        }
        let kif = own.kif();
        if *own == Interval::of_width(kif.signed, kif.width(), own.frac) {
            column.number(kif.width().into());
            return if kif.signed { mode::SIGNED } else { mode::UNSIGNED };
        }
        column.code(&own.min);
        column.code(&own.max);
        mode::BOUNDS
    }

    /// Numbers each pair of delay and cost, the frequent ones first. A latency that start and delay do not give back
    /// bit for bit is stored itself in the pair. Returns how many pairs hold delays.
    fn times(&mut self) -> u64 {
        let nodes = self.model.nodes();
        let key = |node: &Node| {
            let start = start(&node.op, |v| nodes[v.index()].latency);
            let delay = node.latency - start;
            let relative = (start + delay).to_bits() == node.latency.to_bits();
            let first = if relative { delay } else { node.latency };
            (!relative, first.to_bits(), node.cost.to_bits())
        };
        let mut counts: FxHashMap<_, (u64, usize)> = FxHashMap::default();
        for (index, node) in nodes.iter().enumerate() {
            counts.entry(key(node)).or_insert((0, index)).0 += 1;
        }
        let mut order: Vec<_> = counts.into_iter().collect();
        // By the place where each comes first, too: one order, whatever the hash.
        order.sort_unstable_by_key(|&((absolute, _, _), (count, first))| (absolute, std::cmp::Reverse(count), first));
        let mut numbers: FxHashMap<_, u64> = FxHashMap::default();
        let mut relative = 0;
        for (number, (pair, _)) in order.iter().enumerate() {
            relative += u64::from(!pair.0);
            numbers.insert(*pair, number as u64);
            self.column(Column::Pairs).number(pair.1.swap_bytes());
            self.column(Column::Pairs).number(pair.2.swap_bytes());
        }
        for node in nodes {
            self.column(Column::Times).number(numbers[&key(node)]);
        }
        relative
    }

    fn tables(&mut self) {
        let mut written = Writer::default();
        self.model.tables().iter().for_each(|table| write_table(table, &mut written));
        *self.column(Column::Tables) = written;
    }
}

fn write_table(table: &Table, out: &mut Writer) {
    out.signed(table.out.frac.into());
    out.code(&table.out.min);
    out.code(&table.out.max);
    out.signed(table.inp_width);
    match packed_hex(&table.hash) {
        Some(bytes) => {
            out.number((bytes.len() as u64) << 1 | 1);
            out.0.extend(bytes);
        }
        None => {
            out.number((table.hash.len() as u64) << 1);
            out.0.extend(table.hash.bytes());
        }
    }
    out.number(table.entries.len() as u64);
    let mut last = 0;
    for &entry in &table.entries {
        out.signed(i64::from(entry) - last);
        last = i64::from(entry);
    }
}

/// The bytes of a string of lower-case hexadecimal pairs.
fn packed_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |b: u8| match b {
        b'0'..=b'9' => Some(b - b'0'),
        b'a'..=b'f' => Some(b - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect()
}

fn zigzag(value: i32) -> u64 {
    u64::from((value << 1 ^ value >> 31).cast_unsigned())
}
