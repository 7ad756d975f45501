//! Conversion from ALIR to LLVLIR.
//!
//! Every value is represented by the bit pattern of its own type. ALIR computes exactly and then wraps; the conversion
//! computes only the bits on which the result depends: the width of the result, plus the number of dropped bits below
//! its step. Values inside a program may have fractional bits; ports must be integers, because LLVLIR has only
//! integers. `docs/alir.md`, section 3, defines the semantics of ALIR; tests compare this conversion with
//! `interp::golden`.

use super::program::{Arg, Builder, File, IntType, Limits, MAX_WIDTH, Params, PortType, Program};
use super::rows::{self, ROWS};
use alir_core::ir::{BinaryBits, Model, Op, TableId, Term, UnaryBits, ValueId};
use alir_core::num::{Kif, wrap};
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive, Zero};
use rustc_hash::FxHashMap;

/// Error of a program that LLVLIR cannot represent: the part of the program, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Converts a program to LLVLIR. Each element becomes a port of file r: `inp[0]`, `inp[1]`, ... and `out[0]`, .... For
/// equal bit patterns of the inputs, both programs have equal bit patterns of the outputs; lookups outside their table
/// read 0.
///
/// # Errors
/// Returns the first part that LLVLIR cannot represent: a port element that is not an integer or has no bits, an
/// operation that needs more than 1024 bits, more operations or table elements than the limits allow.
pub fn raise(model: &Model, limits: Limits) -> Result<Program, Refusal> {
    let mut raising = Raising {
        model,
        builder: Builder::new(limits),
        values: Vec::with_capacity(model.nodes().len()),
        constants: FxHashMap::default(),
        rows: FxHashMap::default(),
        tables: FxHashMap::default(),
        part: String::new(),
    };
    for (at, kif) in model.input_kifs().iter().enumerate() {
        raising.part = format!("input element {at}");
        raising.port(*kif)?;
        let ty = PortType::R(IntType::new(kif.width() as u16));
        raising.builder.input(format!("inp[{at}]").as_bytes(), ty).map_err(|fault| raising.refused(&fault.message))?;
    }
    for id in model.ids() {
        if let Op::Lookup { table, .. } = model.node(id).op {
            raising.part = format!("table {}", table.0);
            raising.table(table)?;
        }
    }
    for id in model.ids() {
        raising.part = format!("operation {} ({})", id.0, model.node(id).op.name());
        let value = raising.operation(id)?;
        raising.values.push(value);
    }
    let mut outputs = Vec::with_capacity(model.outputs().len());
    for at in 0..model.outputs().len() {
        raising.part = format!("output element {at}");
        raising.port(model.output_kif(at))?;
        outputs.push(raising.output(at)?);
    }
    for (at, value) in outputs.into_iter().enumerate() {
        let name = format!("out[{at}]");
        raising.builder.output(name.as_bytes(), File::R, value.reg).map_err(|fault| raising.refused(&fault.message))?;
    }
    raising.part = "the program".into();
    let Raising { builder, part, .. } = raising;
    builder.finish().map_err(|fault| Refusal(format!("{part}: {}", fault.message)))
}

/// A register of file r with the width and sign of its value. A value without bits is a zero of one bit.
#[derive(Clone, Copy)]
struct Value {
    reg: u32,
    width: u32,
    signed: bool,
}

/// A table in the data of the program.
#[derive(Clone, Copy)]
struct Data {
    /// Register of file a.
    address: u32,
    /// Width and sign of an element.
    width: u32,
    signed: bool,
}

/// Alignment of a computed value to its result: the value has `width` bits, is shifted to the left by `left` and then
/// to the right by `right`, which drops the low bits.
#[derive(Clone, Copy)]
struct Alignment {
    width: u32,
    right: u32,
    left: u32,
}

/// State of the conversion.
struct Raising<'m> {
    model: &'m Model,
    builder: Builder,
    values: Vec<Value>,
    /// Registers of constants by width and pattern.
    constants: FxHashMap<(u32, BigInt), u32>,
    /// Indices of the rows used so far, by their titles.
    rows: FxHashMap<&'static str, u16>,
    tables: FxHashMap<TableId, Data>,
    /// Name of the current part, for messages.
    part: String,
}

type Raised<T> = Result<T, Refusal>;

impl Raising<'_> {
    /// Returns the error of the current part.
    fn refused(&self, why: &str) -> Refusal {
        Refusal(format!("{}: {why}", self.part))
    }

    /// Checks that LLVLIR has ports of this type.
    fn port(&self, kif: Kif) -> Raised<()> {
        match (kif.frac, kif.width()) {
            (_, 0) => Err(self.refused("it has no bits, a port of LLVLIR has at least one")),
            (0, width) => self.width(width.into()).map(|_| ()),
            (frac, _) => Err(self.refused(&format!("its step is 2^{}, LLVLIR has integers only", -i64::from(frac)))),
        }
    }

    /// Checks that LLVLIR has integers of this width.
    fn width(&self, bits: i64) -> Raised<u32> {
        match u64::try_from(bits) {
            Ok(bits) if (1..=MAX_WIDTH).contains(&bits) => Ok(bits as u32),
            _ => Err(self.refused(&format!("it takes {bits} bits, LLVLIR has at most {MAX_WIDTH}"))),
        }
    }

    /// Appends the operation with this title, with types of these widths.
    fn row(&mut self, title: &'static str, widths: [u32; 2], args: &[Arg]) -> Raised<()> {
        let row = *self.rows.entry(title).or_insert_with(|| {
            let name = title.split('.').next().unwrap_or(title);
            let row = rows::rows_of(name).iter().copied().find(|row| ROWS[usize::from(*row)].title() == title);
            row.unwrap_or_else(|| unreachable!("the table has {title}"))
        });
        self.row_with(row, widths, 0, args)
    }

    /// Appends the operation of a row.
    fn row_with(&mut self, row: u16, widths: [u32; 2], number: u64, args: &[Arg]) -> Raised<()> {
        let types = widths.map(|width| IntType::new(width as u16));
        let params = Params { lanes: 0, types, scope: 0, number };
        let mut args = args.to_vec();
        self.builder.operation(row, params, &mut args).map_err(|fault| self.refused(&fault.message))
    }

    /// Appends an operation whose result is in file r; returns the register of the result.
    fn result(&mut self, title: &'static str, widths: [u32; 2], args: &[Arg]) -> Raised<u32> {
        let reg = self.builder.count(File::R) as u32;
        self.row(title, widths, args)?;
        Ok(reg)
    }

    /// Returns the register of a constant modulo `2^width`.
    fn constant(&mut self, value: &BigInt, width: u32) -> Raised<u32> {
        let pattern = wrap(value, Kif { signed: true, int: width as i32 - 1, frac: 0 });
        if let Some(&reg) = self.constants.get(&(width, pattern.clone())) {
            return Ok(reg);
        }
        let reg = self.result("const.I", [width, 0], &[Arg::imm(&pattern)])?;
        self.constants.insert((width, pattern), reg);
        Ok(reg)
    }

    /// Returns a constant as a value.
    fn constant_value(&mut self, value: impl Into<BigInt>, width: u32, signed: bool) -> Raised<Value> {
        Ok(Value { reg: self.constant(&value.into(), width)?, width, signed })
    }

    /// Extends a value by its sign, or truncates it, to `width` bits.
    fn resized(&mut self, value: Value, width: u32) -> Raised<u32> {
        let title = match width.cmp(&value.width) {
            std::cmp::Ordering::Equal => return Ok(value.reg),
            std::cmp::Ordering::Less => "trunc.II",
            std::cmp::Ordering::Greater if value.signed => "sext.II",
            std::cmp::Ordering::Greater => "zext.II",
        };
        self.result(title, [width, value.width], &[Arg::Value(value.reg)])
    }

    /// Appends an operation with two operands.
    fn binary(&mut self, title: &'static str, width: u32, a: u32, b: u32) -> Raised<u32> {
        self.result(title, [width, 0], &[Arg::Value(a), Arg::Value(b)])
    }

    /// Appends an operation with one operand.
    fn unary(&mut self, title: &'static str, width: u32, a: u32) -> Raised<u32> {
        self.result(title, [width, 0], &[Arg::Value(a)])
    }

    /// Appends a shift by a constant; all counts from the width on have the same effect.
    fn shift(&mut self, title: &'static str, width: u32, a: u32, count: i64) -> Raised<u32> {
        match count {
            0 => Ok(a),
            _ => {
                let count = count.min(i64::from(width));
                self.result(title, [width, 0], &[Arg::Value(a), Arg::Imm(count)])
            }
        }
    }

    /// Returns the alignment of a value with `from` fractional bits to a result with `to` fractional bits in `width`
    /// bits.
    fn alignment(&self, from: i64, to: i64, width: u32) -> Raised<Alignment> {
        let right = (from - to).max(0);
        Ok(Alignment {
            width: self.width(i64::from(width) + right)?,
            right: right as u32,
            left: (to - from).max(0).min(i64::from(width)) as u32,
        })
    }

    /// Applies an alignment to a computed value; returns the register of the result.
    fn align(&mut self, exact: u32, alignment: Alignment) -> Raised<u32> {
        let shifted = self.shift("slli.I", alignment.width, exact, alignment.left.into())?;
        let shifted = self.shift("srli.I", alignment.width, shifted, alignment.right.into())?;
        self.resized(Value { reg: shifted, width: alignment.width, signed: false }, alignment.width - alignment.right)
    }

    /// Converts a value with `from` fractional bits to `to` fractional bits, rounded down, in `width` bits.
    fn aligned(&mut self, value: Value, from: i64, to: i64, width: u32) -> Raised<u32> {
        if from <= to {
            let wide = self.resized(value, width)?;
            return self.shift("slli.I", width, wide, to - from);
        }
        let title = if value.signed { "srai.I" } else { "srli.I" };
        let shifted = self.shift(title, value.width, value.reg, from - to)?;
        self.resized(Value { reg: shifted, ..value }, width)
    }

    fn frac(&self, id: ValueId) -> i64 {
        self.model.kif(id).frac.into()
    }

    fn value(&self, id: ValueId) -> Value {
        self.values[id.index()]
    }

    /// Computes the sum of terms and a constant `(value, fractional bits)`, with `to` fractional bits in `width` bits.
    fn sum(&mut self, terms: &[Term], constant: Option<(BigInt, i64)>, to: i64, width: u32) -> Raised<u32> {
        let weight = |term: &Term| i64::from(self.model.kif(term.value).frac) - i64::from(term.shift);
        let fracs = terms.iter().map(weight).chain(constant.iter().map(|(_, frac)| *frac));
        let common = fracs.max().unwrap_or(0);
        let weights: Vec<i64> = terms.iter().map(weight).collect();
        let alignment = self.alignment(common, to, width)?;
        let mut sum: Option<u32> = None;
        for (term, weight) in terms.iter().zip(weights) {
            let value = self.aligned(self.value(term.value), weight, common, alignment.width)?;
            sum = Some(match (sum, term.neg) {
                (None, false) => value,
                (None, true) => self.unary("neg.I", alignment.width, value)?,
                (Some(before), false) => self.binary("add.I", alignment.width, before, value)?,
                (Some(before), true) => self.binary("sub.I", alignment.width, before, value)?,
            });
        }
        if let Some((value, frac)) = constant {
            // Bits above the width have no effect, so the shift may be limited to it.
            let places = (common - frac).min(alignment.width.into()) as u32;
            let value = self.constant(&(value << places), alignment.width)?;
            sum = Some(match sum {
                Some(before) => self.binary("add.I", alignment.width, before, value)?,
                None => value,
            });
        }
        let sum = sum.unwrap_or_else(|| unreachable!("a sum has terms"));
        self.align(sum, alignment)
    }

    /// Converts an operation.
    fn operation(&mut self, id: ValueId) -> Raised<Value> {
        let model = self.model;
        let kif = model.kif(id);
        if kif.width() == 0 {
            return self.constant_value(0, 1, false);
        }
        let width = self.width(kif.width().into())?;
        let reg = self.computed(id, kif, width)?;
        Ok(Value { reg, width, signed: kif.signed })
    }

    /// Converts an operation whose type has bits; returns the register of the result.
    fn computed(&mut self, id: ValueId, kif: Kif, width: u32) -> Raised<u32> {
        let model = self.model;
        let to = i64::from(kif.frac);
        let term = |value: ValueId, shift: i32, neg: bool| Term { value, shift, neg };
        match &model.node(id).op {
            Op::Input { input } => {
                let port = model.input_kifs()[*input as usize];
                let value = Value { reg: *input, width: port.width(), signed: port.signed };
                self.aligned(value, port.frac.into(), to, width)
            }
            Op::Const { value } => self.constant(&value.to_big(), width),
            Op::Neg { x } => self.sum(&[term(*x, 0, true)], None, to, width),
            Op::Add { a, b, shift } => self.sum(&[term(*a, 0, false), term(*b, *shift, false)], None, to, width),
            Op::Sub { a, b, shift } => self.sum(&[term(*a, 0, false), term(*b, *shift, true)], None, to, width),
            Op::Sum { terms } => self.sum(terms, None, to, width),
            Op::AddConst { x, value, shift } => {
                self.sum(&[term(*x, 0, false)], Some((value.to_big(), (*shift).into())), to, width)
            }
            Op::Relu { x } => {
                let value = self.value(*x);
                let natural = match value.signed {
                    true => {
                        let zero = self.constant(&BigInt::ZERO, value.width)?;
                        self.binary("max.I", value.width, value.reg, zero)?
                    }
                    false => value.reg,
                };
                self.aligned(Value { reg: natural, ..value }, self.frac(*x), to, width)
            }
            Op::Quantise { x, shift } => self.aligned(self.value(*x), self.frac(*x) - i64::from(*shift), to, width),
            Op::Mux { cond, on_true, on_false, shift } => {
                let set = self.aligned(self.value(*on_true), self.frac(*on_true), to, width)?;
                let from = self.frac(*on_false) - i64::from(*shift);
                let clear = self.aligned(self.value(*on_false), from, to, width)?;
                let cond = self.value(*cond);
                let top = self.shift("srli.I", cond.width, cond.reg, i64::from(cond.width) - 1)?;
                self.result("select.I", [width, 0], &[Arg::Value(top), Arg::Value(set), Arg::Value(clear)])
            }
            Op::Mul { a, b } => {
                let alignment = self.alignment(self.frac(*a) + self.frac(*b), to, width)?;
                let (a, b) = (self.value(*a), self.value(*b));
                let (a, b) = (self.resized(a, alignment.width)?, self.resized(b, alignment.width)?);
                let product = self.binary("mul.I", alignment.width, a, b)?;
                self.align(product, alignment)
            }
            Op::Lookup { x, table, base } => {
                let offset = (-base.to_big()).to_i64();
                let offset = offset.ok_or_else(|| self.refused("its table begins beyond an immediate of 64 bits"))?;
                self.lookup(*x, *table, offset, width)
            }
            Op::Unary { op, x } => self.bit_operation(*op, *x, kif, width),
            Op::Binary { op, a, b, shift } => {
                let from = self.frac(*b) - i64::from(*shift);
                let common = self.frac(*a).max(from);
                let alignment = self.alignment(common, to, width)?;
                let a = self.aligned(self.value(*a), self.frac(*a), common, alignment.width)?;
                let b = self.aligned(self.value(*b), from, common, alignment.width)?;
                let title = match op {
                    BinaryBits::And => "and.I",
                    BinaryBits::Or => "or.I",
                    BinaryBits::Xor => "xor.I",
                };
                let both = self.binary(title, alignment.width, a, b)?;
                self.align(both, alignment)
            }
        }
    }

    fn bit_operation(&mut self, op: UnaryBits, x: ValueId, kif: Kif, width: u32) -> Raised<u32> {
        let (value, empty) = (self.value(x), self.model.kif(x).width() == 0);
        let (from, to) = (self.frac(x), i64::from(kif.frac));
        match op {
            UnaryBits::Not if kif.signed => {
                let alignment = self.alignment(from, to, width)?;
                let wide = self.resized(value, alignment.width)?;
                let flipped = self.unary("not.I", alignment.width, wide)?;
                self.align(flipped, alignment)
            }
            UnaryBits::Not if empty => self.constant(&BigInt::ZERO, width),
            UnaryBits::Not => {
                let flipped = self.unary("not.I", value.width, value.reg)?;
                self.aligned(Value { reg: flipped, signed: false, ..value }, from, to, width)
            }
            UnaryBits::All if empty => self.constant(&BigInt::one(), width),
            UnaryBits::Any | UnaryBits::All => {
                let (against, relation) = if op == UnaryBits::Any { (0, "ne") } else { (-1, "eq") };
                let against = self.constant(&against.into(), value.width)?;
                let code = (0..16).find(|code| super::program::comparison_name(*code) == Some(relation));
                let code = code.unwrap_or_else(|| unreachable!("there is a comparison {relation}"));
                let args = [Arg::Cmp(code), Arg::Value(value.reg), Arg::Value(against)];
                let holds = self.result("cmps.I", [value.width, 0], &args)?;
                self.resized(Value { reg: holds, width: value.width, signed: false }, width)
            }
        }
    }

    /// Converts a lookup; `offset` is added to the operand to get the index.
    fn lookup(&mut self, x: ValueId, table: TableId, offset: i64, width: u32) -> Raised<u32> {
        let value = self.value(x);
        let data = self.tables[&table];
        // LLVLIR reads an index as a signed number.
        let index = if value.signed { value.width } else { self.width(i64::from(value.width) + 1)? };
        let step = self.resized(value, index)?;
        let address = self.builder.count(File::A) as u32;
        self.row("addp.I", [index, 0], &[Arg::Value(data.address), Arg::Value(step)])?;
        let args = [Arg::Value(address), Arg::Imm(offset), Arg::Order(0)];
        let entry = self.result("ld.I", [data.width, 0], &args)?;
        self.resized(Value { reg: entry, width: data.width, signed: data.signed }, width)
    }

    /// Appends the data of a table, with elements as wide as its entries need, and loads its address.
    fn table(&mut self, id: TableId) -> Raised<()> {
        if self.tables.contains_key(&id) {
            return Ok(());
        }
        let entries = &self.model.table(id).entries;
        let (low, high) = (entries.iter().min().copied().unwrap_or(0), entries.iter().max().copied().unwrap_or(0));
        let signed = low < 0;
        let magnitude = |entry: i32| 64 - (i64::from(entry) ^ (i64::from(entry) >> 63)).leading_zeros();
        let width = (magnitude(low).max(magnitude(high)) + u32::from(signed)).max(1);
        let label = Arg::bytes(format!("table{}", id.0).as_bytes());
        self.row("label.L", [0, 0], std::slice::from_ref(&label))?;
        if entries.is_empty() {
            // Every index is outside of the table and reads 0.
            self.row("word.I", [width, 0], &[Arg::Imm(0)])?;
        } else {
            let mut bytes = Vec::with_capacity(entries.len() * width.div_ceil(8) as usize);
            for entry in entries {
                let pattern = (*entry as u32 as u64) & ((1u64 << width) - 1);
                bytes.extend_from_slice(&pattern.to_le_bytes()[..width.div_ceil(8) as usize]);
            }
            let row = rows::rows_of("array")[0];
            self.row_with(row, [width, 0], entries.len() as u64, &[Arg::bytes(&bytes)])?;
        }
        let address = self.builder.count(File::A) as u32;
        self.row("consta.L", [0, 0], &[label])?;
        self.tables.insert(id, Data { address, width, signed });
        Ok(())
    }

    /// Converts an output element.
    fn output(&mut self, at: usize) -> Raised<Value> {
        let kif = self.model.output_kif(at);
        let out = self.model.outputs()[at];
        let reg = match out.source {
            None => self.constant(&BigInt::zero(), kif.width())?,
            Some(v) => {
                let term = Term { value: v, shift: out.shift, neg: out.neg };
                match out.neg {
                    true => self.sum(&[term], None, kif.frac.into(), kif.width())?,
                    false => {
                        let from = self.frac(v) - i64::from(out.shift);
                        self.aligned(self.value(v), from, kif.frac.into(), kif.width())?
                    }
                }
            }
        };
        Ok(Value { reg, width: kif.width(), signed: kif.signed })
    }
}
