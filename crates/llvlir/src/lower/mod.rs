//! Lowering from LLVLIR to ALIR.
//!
//! A bit pattern of W bits is represented by an integer of at most W bits that is congruent to the pattern modulo
//! `2^W`. The integer may be unsigned or in two's complement, because the conversion is only wiring. `docs/llvlir.md`,
//! section 6, defines the semantics of each row; tests compare the lowering with the reference interpreter.

mod carry;
mod divide;
mod lanes;
mod logic;
mod shift;

use super::program::{File, Operation, Program, ValueType};
use super::rows::{Lane, Meaning, Sign};
use alir_core::diag::{Diagnostic, Diagnostics, Place};
use alir_core::ir::{self, Builder, Labels, Model, Op, Output, Table, TableId, ValueId};
use alir_core::num::{Interval, Kif};
use carry::Carries;
use logic::{Logic, Negative};
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive};
use rustc_hash::FxHashMap;

/// Largest width of a table's entries in bits: the format has signed entries of 32 bits.
const PART: u32 = 31;

/// Converts a program to ALIR, bit-exact for every pattern of the inputs.
///
/// # Errors
/// If the result exceeds the limits of ALIR.
pub fn lower(program: &Program, limits: &ir::Limits) -> Result<Model, Diagnostics> {
    labelled(program, limits).map(|(model, _)| model)
}

/// Like [`lower`]; also returns the names of ports, and the names that labels and ports give to values.
///
/// # Errors
/// As [`lower`].
pub fn labelled(program: &Program, limits: &ir::Limits) -> Result<(Model, Labels), Diagnostics> {
    let elements = program.input_elements();
    let mut builder = Builder::new(vec![0; elements.len()]);
    builder.limits(*limits);
    let mut lowering = Lowering {
        program,
        logic: Logic::new(builder),
        r: Vec::new(),
        x: Vec::new(),
        m: Vec::new(),
        a: Vec::new(),
        tables: FxHashMap::default(),
        counters: FxHashMap::default(),
        carries: Carries::new(program),
        labels: Labels {
            inputs: elements.into_iter().map(|element| element.name).collect(),
            outputs: program.output_elements().into_iter().map(|element| element.name).collect(),
            values: Vec::new(),
            ..Labels::default()
        },
        hints: program.hints().map(|(op, name)| (op, name.to_owned())).collect(),
        next_hint: 0,
    };
    lowering.inputs();
    for (at, op) in program.ops().iter().enumerate() {
        // The result may be much larger than the program; `finish` reports that it exceeds the limit.
        if lowering.logic.builder.nodes().len() as u64 > limits.max_ops {
            break;
        }
        lowering.operation(op);
        lowering.hint(at, op);
    }
    if lowering.logic.builder.nodes().len() as u64 <= limits.max_ops {
        lowering.outputs();
    }
    let labels = std::mem::take(&mut lowering.labels);
    let finished = lowering.logic.builder.finish().map(|model| (model, labels));
    finished.map_err(|problems| {
        let told = problems.into_iter().map(|problem| {
            Diagnostic::error(problem.code, Place::Whole, format!("lowered to ALIR: {}", problem.message))
                .with_help(problem.help)
        });
        Diagnostics(told.collect())
    })
}

/// Names a value. If the value is the low bits of another value, names that value as well, because optimisation may
/// remove the former.
fn name_value(labels: &mut Labels, logic: &Logic, value: ValueId, name: &str) {
    labels.name(value, name);
    if let Op::Quantise { x, shift: 0 } = logic.builder.nodes()[value.index()].op {
        labels.name(x, name);
    }
}

struct Lowering<'p> {
    program: &'p Program,
    logic: Logic,
    r: Vec<ValueId>,
    x: Vec<Box<[ValueId]>>,
    m: Vec<Box<[ValueId]>>,
    /// Values of file a: index of the table, and index of the element.
    a: Vec<(u32, ValueId)>,
    /// Parts of tables by index of the table, part, and number of entries.
    tables: FxHashMap<(u32, u32, usize), TableEntry>,
    /// Tables that count ones, by number of address bits.
    counters: FxHashMap<u32, TableId>,
    /// Sums and differences whose carry is used.
    carries: Carries,
    labels: Labels,
    /// Operations whose results have names, in order.
    hints: Vec<(usize, String)>,
    next_hint: usize,
}

/// Part of a table for an operand with a given range.
#[derive(Clone, Copy)]
enum TableEntry {
    Constant(i32),
    Table(TableId),
}

/// An operand of a lane: an integer and the width of its pattern.
#[derive(Clone, Copy)]
struct Operand {
    v: ValueId,
    width: u32,
}

impl Lowering<'_> {
    fn inputs(&mut self) {
        let mut next = 0;
        for input in self.program.inputs() {
            let ty = self.program.input_type(input);
            let (count, width) = ty.elements();
            let signed = !matches!(ty, ValueType::M(_));
            let lanes: Box<[ValueId]> = (0..count)
                .map(|_| {
                    let full = Interval::from_width(signed, width, 0);
                    let v = self.logic.push(Op::Input { input: next }, full.min.to_big(), full.max.to_big());
                    let name = self.labels.inputs[next as usize].clone();
                    self.labels.name(v, name);
                    next += 1;
                    v
                })
                .collect();
            match ty {
                ValueType::R(_) => self.r.push(lanes[0]),
                ValueType::X(..) => self.x.push(lanes),
                ValueType::M(_) => self.m.push(lanes),
                ValueType::A(_) => {}
            }
        }
    }

    /// Names the result of operation `at`, if a label precedes it.
    fn hint(&mut self, at: usize, op: &Operation) {
        while let Some((_, name)) = self.hints.get(self.next_hint).filter(|(hinted, _)| *hinted == at) {
            if let Some((file, value)) = op.result() {
                let lanes = match file {
                    File::R => std::slice::from_ref(&self.r[value as usize]),
                    File::X => &self.x[value as usize],
                    File::M => &self.m[value as usize],
                    File::A => &[],
                };
                for (k, lane) in lanes.iter().enumerate() {
                    match file {
                        File::R => name_value(&mut self.labels, &self.logic, *lane, name),
                        _ => name_value(&mut self.labels, &self.logic, *lane, &format!("{name}[{k}]")),
                    }
                }
            }
            self.next_hint += 1;
        }
    }

    fn outputs(&mut self) {
        for output in self.program.outputs() {
            let at = output.value as usize;
            let (_, width) = self.program.output_type(output).elements();
            let (lanes, signed) = match output.file {
                File::X => (self.x[at].to_vec(), true),
                File::M => (self.m[at].to_vec(), false),
                File::R | File::A => (vec![self.r[at]], true),
            };
            for v in lanes {
                // The port has its declared type, even if the value has a smaller range.
                let full = Interval::from_width(signed, width, 0);
                let is_full = self.logic.builder.nodes()[v.index()].interval.kif() == full.kif();
                let shown = match is_full {
                    true => v,
                    false => self.logic.push(Op::Quantise { x: v, shift: 0 }, full.min.to_big(), full.max.to_big()),
                };
                let element = self.logic.builder.outputs().len();
                let name = self.labels.outputs[element].clone();
                name_value(&mut self.labels, &self.logic, shown, &name);
                self.logic.builder.output(Output { source: Some(shown), shift: 0, neg: false });
            }
        }
    }

    fn operation(&mut self, op: &Operation) {
        let Some((file, value)) = op.result() else { return };
        let program = self.program;
        let args = program.args(op);
        let width = op.width();
        let lanes = usize::from(op.params().lanes);
        let row = op.row();
        let x = |this: &Self, k: usize| this.x[args[k].value() as usize].clone();
        let mask = |this: &Self, k: usize| this.m[args[k].value() as usize].clone();
        match row.meaning {
            Meaning::Lanes(lane) if row.suffix.starts_with('V') => self.lane_by_lane(op, lane),
            Meaning::Lanes(lane) => self.scalar(op, lane),
            Meaning::MaskFromBits => {
                let ValueType::R(bits) = program.value_type(File::R, args[0].value()) else { unreachable!("file r") };
                let v = self.r[args[0].value() as usize];
                let bits = (0..u32::from(bits)).map(|k| self.logic.bit(v, k)).collect();
                self.m.push(bits);
            }
            Meaning::FirstLane => {
                let mut all = vec![self.logic.zero(); lanes];
                all[0] = self.r[args[0].value() as usize];
                self.x.push(all.into());
            }
            Meaning::ReadFirstLane => self.r.push(x(self, 0)[0]),
            Meaning::WideMul(sign) => {
                let (a, b, mask) = (x(self, 0), x(self, 1), mask(self, 2));
                let products = (0..lanes).map(|k| {
                    let (a, b) = (self.read(a[k], width, sign), self.read(b[k], width, sign));
                    self.logic.mul(a, b)
                });
                let products: Vec<ValueId> = products.collect();
                self.push_masked(products, &mask);
            }
            Meaning::PermutePacked(bits) => {
                let (a, mask) = (x(self, 0), mask(self, 2));
                let indices = self.r[args[1].value() as usize];
                let chosen = (0..lanes).map(|k| {
                    let index = self.logic.slice(indices, k as u32 * bits, bits);
                    self.lane_at(&a, index, width)
                });
                let chosen: Vec<ValueId> = chosen.collect();
                self.push_masked(chosen, &mask);
            }
            Meaning::Permute => {
                let (a, b, mask) = (x(self, 0), x(self, 1), mask(self, 2));
                let second = op.params().types[1].width.into();
                let chosen = b.iter().map(|index| {
                    let index = self.logic.unsigned(*index, second);
                    self.lane_at(&a, index, width)
                });
                let chosen: Vec<ValueId> = chosen.collect();
                self.push_masked(chosen, &mask);
            }
            Meaning::LaneShift { towards_zero, round } => {
                let (a, b) = (x(self, 0), x(self, 1));
                let count = self.logic.unsigned(b[0], width);
                let moved = self.shifted_lanes(&a, count, width, (towards_zero, round));
                self.x.push(moved);
            }
            Meaning::Zip { step, at } => {
                let (a, b) = (x(self, 0), x(self, 1));
                let mut all = vec![self.logic.zero(); lanes * step];
                for k in 0..lanes {
                    all[step * k + at] = a[k];
                    all[step * k + at + 1] = b[k];
                }
                self.x.push(all.into());
            }
            Meaning::Unzip { step, at } => {
                let (a, b) = (x(self, 0), x(self, 1));
                self.x.push(a.iter().chain(&b).skip(at).step_by(step).copied().collect());
            }
            Meaning::PairSwap => {
                let (a, mask) = (x(self, 0), mask(self, 1));
                self.push_masked((0..lanes).map(|k| a[k ^ 1]).collect(), &mask);
            }
            Meaning::PairSum { subtract } => {
                let (a, mask) = (x(self, 0), mask(self, 1));
                let pairs = a.chunks_exact(2).map(|pair| {
                    let sum =
                        if subtract { self.logic.sub(pair[0], pair[1]) } else { self.logic.add(pair[0], pair[1]) };
                    self.logic.within(sum, width)
                });
                let pairs: Vec<ValueId> = pairs.collect();
                self.push_masked(pairs, &mask);
            }
            Meaning::RunningSum => {
                let (a, mask) = (x(self, 0), mask(self, 1));
                let mut sum = self.logic.zero();
                let sums = a.iter().map(|lane| {
                    sum = self.logic.add(sum, *lane);
                    sum = self.logic.within(sum, width);
                    sum
                });
                let sums: Vec<ValueId> = sums.collect();
                self.push_masked(sums, &mask);
            }
            Meaning::Pointer => {
                let ValueType::A(table) = program.value_type(file, value) else { unreachable!("file a") };
                let start = self.logic.zero();
                self.a.push((table, start));
            }
            Meaning::MovePointer { back } => {
                let (table, index) = self.a[args[0].value() as usize];
                let step = self.logic.signed(self.r[args[1].value() as usize], width);
                let index = if back { self.logic.sub(index, step) } else { self.logic.add(index, step) };
                self.a.push((table, index));
            }
            Meaning::Load => {
                let (table, index) = self.a[args[0].value() as usize];
                let offset = self.logic.constant(args[1].integer());
                let index = self.logic.add(index, offset);
                let element = self.element(table, index);
                self.r.push(element);
            }
            Meaning::Gather => {
                let (table, start) = self.a[args[0].value() as usize];
                let (offsets, mask) = (x(self, 1), mask(self, 3));
                let second = op.params().types[1].width.into();
                let loads = offsets.iter().map(|offset| {
                    let offset = self.logic.signed(*offset, second);
                    let index = self.logic.add(start, offset);
                    self.element(table, index)
                });
                let loads: Vec<ValueId> = loads.collect();
                self.push_masked(loads, &mask);
            }
            Meaning::Refused
            | Meaning::Section
            | Meaning::Label
            | Meaning::Text { .. }
            | Meaning::Word
            | Meaning::Array => unreachable!("{} has no result", row.title()),
        }
    }

    fn read(&mut self, v: ValueId, width: u32, sign: Sign) -> ValueId {
        match sign {
            Sign::Signed => self.logic.signed(v, width),
            Sign::Unsigned => self.logic.unsigned(v, width),
        }
    }

    /// Appends a vector whose lanes are 0 where the mask is clear.
    fn push_masked(&mut self, lanes: Vec<ValueId>, mask: &[ValueId]) {
        let zero = self.logic.zero();
        let masked = lanes.iter().zip(mask).map(|(lane, bit)| self.logic.mux(*bit, *lane, zero)).collect();
        self.x.push(masked);
    }

    fn scalar(&mut self, op: &Operation, lane: Lane) {
        let program = self.program;
        let mut operands = Vec::with_capacity(4);
        let mut comparison = 0;
        for (letter, arg) in op.row().operands().iter().zip(program.args(op)) {
            match letter {
                b'r' => {
                    let (_, width) = program.value_type(File::R, arg.value()).elements();
                    operands.push(Operand { v: self.r[arg.value() as usize], width });
                }
                b'c' => comparison = arg.comparison(),
                _ => operands.push(self.immediate(&arg.integer(), op.width())),
            }
        }
        let width = match op.result() {
            Some((file, value)) => program.value_type(file, value).elements().1,
            None => 0,
        };
        let v = match lane {
            Lane::Add | Lane::Sub => self.carrying(op, lane, width, &mut operands),
            Lane::Compare => match self.carry(op, width) {
                Some(bit) => bit,
                None => self.lane(lane, width, comparison, &operands),
            },
            _ => self.lane(lane, width, comparison, &operands),
        };
        self.r.push(v);
    }

    /// Returns an immediate as an operand: a negative number as its bit pattern.
    fn immediate(&mut self, value: &BigInt, width: u32) -> Operand {
        let v = self.logic.constant(value.clone());
        Operand { v, width: width.max(value.bits() as u32 + 1) }
    }

    fn lane_by_lane(&mut self, op: &Operation, lane: Lane) {
        let program = self.program;
        let lanes = usize::from(op.params().lanes);
        let width = op.width();
        let mut comparison = 0;
        let mut mask: Option<Box<[ValueId]>> = None;
        let mut columns: Vec<Vec<Operand>> = vec![Vec::with_capacity(4); lanes];
        for (letter, arg) in op.row().operands().iter().zip(program.args(op)) {
            match letter {
                b'x' => {
                    let (_, width) = program.value_type(File::X, arg.value()).elements();
                    for (column, &v) in columns.iter_mut().zip(&*self.x[arg.value() as usize]) {
                        column.push(Operand { v, width });
                    }
                }
                b'r' => {
                    let (_, width) = program.value_type(File::R, arg.value()).elements();
                    let v = self.r[arg.value() as usize];
                    columns.iter_mut().for_each(|column| column.push(Operand { v, width }));
                }
                b'i' => {
                    let operand = self.immediate(&arg.integer(), width);
                    columns.iter_mut().for_each(|column| column.push(operand));
                }
                b'c' => comparison = arg.comparison(),
                _ => mask = Some(self.m[arg.value() as usize].clone()),
            }
        }
        match (lane, mask) {
            // For these rows the mask is an operand, and all lanes are enabled.
            (Lane::AddCarry | Lane::SubBorrow, Some(mask)) => {
                for (column, bit) in columns.iter_mut().zip(&mask) {
                    column.push(Operand { v: *bit, width: 1 });
                }
                let results = columns.iter().map(|column| self.lane(lane, width, 0, column)).collect();
                self.x.push(results);
            }
            (Lane::Select, Some(mask)) => {
                let choose =
                    |(column, bit): (&Vec<Operand>, &ValueId)| self.logic.choose(*bit, column[0].v, column[1].v, width);
                let results = columns.iter().zip(&mask).map(choose).collect();
                self.x.push(results);
            }
            (Lane::Compare, Some(mask)) => {
                let zero = self.logic.zero();
                let compare = |(column, bit): (&Vec<Operand>, &ValueId)| {
                    let holds = self.lane(lane, width, comparison, column);
                    self.logic.mux(*bit, holds, zero)
                };
                let results = columns.iter().zip(&mask).map(compare).collect();
                self.m.push(results);
            }
            (_, mask) => {
                let results: Vec<ValueId> =
                    columns.iter().map(|column| self.lane(lane, width, comparison, column)).collect();
                match mask {
                    Some(mask) => self.push_masked(results, &mask),
                    None => self.x.push(results.into()),
                }
            }
        }
    }

    /// Returns element `index` of a table, or 0 outside of the table.
    fn element(&mut self, table: u32, index: ValueId) -> ValueId {
        let len = self.program.tables()[table as usize].len();
        let width = self.program.tables()[table as usize].width();
        let (low, high) = self.logic.range(index);
        if len == 0 || high.is_negative_number() || low >= BigInt::from(len) {
            return self.logic.zero();
        }
        let bits = usize::BITS - (len - 1).leading_zeros();
        let inside = !low.is_negative_number() && high < BigInt::one() << bits;
        let (address, outside) = match inside {
            true => (index, None),
            false => {
                let above = self.logic.shifted_right(index, bits);
                (self.logic.slice(index, 0, bits), Some(self.logic.any(above)))
            }
        };
        let parts: Vec<(ValueId, u32)> =
            (0..width.div_ceil(PART)).map(|k| (self.part(table, k, address), k * PART)).collect();
        let element = self.logic.concatenated(&parts);
        match outside {
            Some(outside) => {
                let zero = self.logic.zero();
                self.logic.mux(outside, zero, element)
            }
            None => element,
        }
    }

    /// Returns part `k` (bits from `PART * k` on) of the element at an unsigned address.
    fn part(&mut self, table: u32, k: u32, address: ValueId) -> ValueId {
        let count = self.logic.top(address).unwrap_or(0) + 1;
        let key = (table, k, count);
        let entry = match self.tables.get(&key) {
            Some(entry) => *entry,
            None => {
                let entry = self.table_part(table, k, count, address);
                self.tables.insert(key, entry);
                entry
            }
        };
        match entry {
            TableEntry::Constant(value) => self.logic.constant(value),
            TableEntry::Table(id) if self.logic.known(address).is_none() => self.logic.lookup(address, id),
            TableEntry::Table(id) => {
                let entry = self.logic.builder.tables()[id.index()].entries[count - 1];
                self.logic.constant(entry)
            }
        }
    }

    fn table_part(&mut self, table: u32, k: u32, count: usize, address: ValueId) -> TableEntry {
        let source = &self.program.tables()[table as usize];
        let entries: Vec<i32> = (0..count)
            .map(|index| {
                let element = source.element(index).map(BigInt::from_bytes_le_unsigned).unwrap_or_default();
                ((element >> (k * PART)) & BigInt::from((1u32 << PART) - 1)).to_i32().unwrap_or_default()
            })
            .collect();
        let (low, high) = (entries.iter().min().copied().unwrap_or(0), entries.iter().max().copied().unwrap_or(0));
        if low == high {
            return TableEntry::Constant(low);
        }
        let out = Interval::new(i64::from(low), i64::from(high), 0);
        let kif: Kif = self.logic.builder.nodes()[address.index()].interval.kif();
        let inp_width = i64::from(kif.width());
        TableEntry::Table(self.logic.builder.table(Table { entries, out, hash: String::new(), inp_width }))
    }
}

/// Little-endian bytes of a natural number.
trait FromBytes {
    fn from_bytes_le_unsigned(bytes: &[u8]) -> BigInt;
}

impl FromBytes for BigInt {
    fn from_bytes_le_unsigned(bytes: &[u8]) -> BigInt {
        BigInt::from_bytes_le(num_bigint::Sign::Plus, bytes)
    }
}
