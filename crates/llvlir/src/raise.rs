//! From ALIR to LLVLIR: a program of integers, said in rows.
//!
//! Every value is held as the pattern of its own type, and what ALIR computes exactly before it wraps is computed
//! modulo just as many bits as the result needs: `w` bits, and as many more as the result drops below its step. Steps
//! inside a program may be fractions; the ports are integers, since LLVLIR has no others. The semantics of ALIR is
//! in `docs/alir.md`, section 3, and `interp::golden` checks this file.

use super::program::{Arg, Builder, File, IntType, Limits, MAX_WIDTH, Params, PortType, Program};
use super::rows::{self, ROWS};
use alir_core::ir::{BinaryBits, Model, Op, TableId, Term, UnaryBits, ValueId};
use alir_core::num::{Kif, wrap};
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive, Zero};
use rustc_hash::FxHashMap;

/// Why a program cannot be said: which part of it, and what LLVLIR has not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The program as LLVLIR: a port of file r for each element, `inp[0]`, `inp[1]`, ... and `out[0]`, ...; the same
/// patterns on all outputs for every pattern of the inputs, lookups outside their table reading 0.
///
/// # Errors
/// The first part that cannot be said: an element that is no integer or has no bits, an operation that needs more than
/// 1024 bits, more operations or table elements than the limits allow.
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

/// A pattern and how it is read. A value without bits is a zero of one bit.
#[derive(Clone, Copy)]
struct Value {
    reg: u32,
    width: u32,
    signed: bool,
}

/// A table as data.
#[derive(Clone, Copy)]
struct Data {
    address: u32,
    width: u32,
    signed: bool,
}

/// Conversion of an exact value to a raw value: it is computed in `width` bits, `right` of which are dropped at the low
/// end.
#[derive(Clone, Copy)]
struct Shape {
    width: u32,
    right: u32,
    left: u32,
}

struct Raising<'m> {
    model: &'m Model,
    builder: Builder,
    values: Vec<Value>,
    /// Registers of constants by width and pattern.
    constants: FxHashMap<(u32, BigInt), u32>,
    /// Rows of the table by their titles, for those that were used.
    rows: FxHashMap<&'static str, u16>,
    tables: FxHashMap<TableId, Data>,
    /// Name of the part that is being written.
    part: String,
}

type Raised<T> = Result<T, Refusal>;

impl Raising<'_> {
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

    fn width(&self, bits: i64) -> Raised<u32> {
        match u64::try_from(bits) {
            Ok(bits) if (1..=MAX_WIDTH).contains(&bits) => Ok(bits as u32),
            _ => Err(self.refused(&format!("it takes {bits} bits, LLVLIR has at most {MAX_WIDTH}"))),
        }
    }

    /// Appends a row by its title, with types of these widths.
    fn row(&mut self, title: &'static str, widths: [u32; 2], args: &[Arg]) -> Raised<()> {
        let row = *self.rows.entry(title).or_insert_with(|| {
            let name = title.split('.').next().unwrap_or(title);
            let row = rows::rows_of(name).iter().copied().find(|row| ROWS[usize::from(*row)].title() == title);
            row.unwrap_or_else(|| unreachable!("the table has {title}"))
        });
        self.row_with(row, widths, 0, args)
    }

    fn row_with(&mut self, row: u16, widths: [u32; 2], number: u64, args: &[Arg]) -> Raised<()> {
        let types = widths.map(|width| IntType::new(width as u16));
        let params = Params { lanes: 0, types, scope: 0, number };
        let mut args = args.to_vec();
        self.builder.operation(row, params, &mut args).map_err(|fault| self.refused(&fault.message))
    }

    /// The result of a row, which is a value of file r.
    fn result(&mut self, title: &'static str, widths: [u32; 2], args: &[Arg]) -> Raised<u32> {
        let reg = self.builder.count(File::R) as u32;
        self.row(title, widths, args)?;
        Ok(reg)
    }

    fn constant(&mut self, value: &BigInt, width: u32) -> Raised<u32> {
        let pattern = wrap(value, Kif { signed: true, int: width as i32 - 1, frac: 0 });
        if let Some(&reg) = self.constants.get(&(width, pattern.clone())) {
            return Ok(reg);
        }
        let reg = self.result("const.I", [width, 0], &[Arg::imm(&pattern)])?;
        self.constants.insert((width, pattern), reg);
        Ok(reg)
    }

    fn fixed(&mut self, value: impl Into<BigInt>, width: u32, signed: bool) -> Raised<Value> {
        Ok(Value { reg: self.constant(&value.into(), width)?, width, signed })
    }

    /// The pattern in `width` bits: extended as it is read, or its low bits.
    fn fit(&mut self, value: Value, width: u32) -> Raised<u32> {
        let title = match width.cmp(&value.width) {
            std::cmp::Ordering::Equal => return Ok(value.reg),
            std::cmp::Ordering::Less => "trunc.II",
            std::cmp::Ordering::Greater if value.signed => "sext.II",
            std::cmp::Ordering::Greater => "zext.II",
        };
        self.result(title, [width, value.width], &[Arg::Value(value.reg)])
    }

    fn two(&mut self, title: &'static str, width: u32, a: u32, b: u32) -> Raised<u32> {
        self.result(title, [width, 0], &[Arg::Value(a), Arg::Value(b)])
    }

    fn one(&mut self, title: &'static str, width: u32, a: u32) -> Raised<u32> {
        self.result(title, [width, 0], &[Arg::Value(a)])
    }

    /// A shift by a constant; all counts from the width on mean the same.
    fn shift(&mut self, title: &'static str, width: u32, a: u32, count: i64) -> Raised<u32> {
        match count {
            0 => Ok(a),
            _ => {
                let count = count.min(i64::from(width));
                self.result(title, [width, 0], &[Arg::Value(a), Arg::Imm(count)])
            }
        }
    }

    /// Returns the conversion of a value with `from` fractional bits to a raw value with `to` of them in `width` bits.
    fn shape(&self, from: i64, to: i64, width: u32) -> Raised<Shape> {
        let right = (from - to).max(0);
        Ok(Shape {
            width: self.width(i64::from(width) + right)?,
            right: right as u32,
            left: (to - from).max(0).min(i64::from(width)) as u32,
        })
    }

    /// The code of an exact value that was computed in a shape.
    fn close(&mut self, exact: u32, shape: Shape) -> Raised<u32> {
        let shifted = self.shift("slli.I", shape.width, exact, shape.left.into())?;
        let shifted = self.shift("srli.I", shape.width, shifted, shape.right.into())?;
        self.fit(Value { reg: shifted, width: shape.width, signed: false }, shape.width - shape.right)
    }

    /// A value of `from` fractional bits as a code of `to` fractional bits, rounded down, in `width` bits.
    fn aligned(&mut self, value: Value, from: i64, to: i64, width: u32) -> Raised<u32> {
        if from <= to {
            let wide = self.fit(value, width)?;
            return self.shift("slli.I", width, wide, to - from);
        }
        let title = if value.signed { "srai.I" } else { "srli.I" };
        let shifted = self.shift(title, value.width, value.reg, from - to)?;
        self.fit(Value { reg: shifted, ..value }, width)
    }

    fn frac(&self, id: ValueId) -> i64 {
        self.model.kif(id).frac.into()
    }

    fn value(&self, id: ValueId) -> Value {
        self.values[id.index()]
    }

    /// The sum of terms and a constant `(value, fractional bits)`, as a code of `to` fractional bits.
    fn sum(&mut self, terms: &[Term], constant: Option<(BigInt, i64)>, to: i64, width: u32) -> Raised<u32> {
        let weight = |term: &Term| i64::from(self.model.kif(term.value).frac) - i64::from(term.shift);
        let fracs = terms.iter().map(weight).chain(constant.iter().map(|(_, frac)| *frac));
        let common = fracs.max().unwrap_or(0);
        let weights: Vec<i64> = terms.iter().map(weight).collect();
        let shape = self.shape(common, to, width)?;
        let mut sum: Option<u32> = None;
        for (term, weight) in terms.iter().zip(weights) {
            let value = self.aligned(self.value(term.value), weight, common, shape.width)?;
            sum = Some(match (sum, term.neg) {
                (None, false) => value,
                (None, true) => self.one("neg.I", shape.width, value)?,
                (Some(before), false) => self.two("add.I", shape.width, before, value)?,
                (Some(before), true) => self.two("sub.I", shape.width, before, value)?,
            });
        }
        if let Some((value, frac)) = constant {
            // Bits above the width change nothing, however far it is shifted.
            let places = (common - frac).min(shape.width.into()) as u32;
            let value = self.constant(&(value << places), shape.width)?;
            sum = Some(match sum {
                Some(before) => self.two("add.I", shape.width, before, value)?,
                None => value,
            });
        }
        let sum = sum.unwrap_or_else(|| unreachable!("a sum has terms"));
        self.close(sum, shape)
    }

    fn operation(&mut self, id: ValueId) -> Raised<Value> {
        let model = self.model;
        let kif = model.kif(id);
        if kif.width() == 0 {
            return self.fixed(0, 1, false);
        }
        let width = self.width(kif.width().into())?;
        let reg = self.computed(id, kif, width)?;
        Ok(Value { reg, width, signed: kif.signed })
    }

    /// The pattern of an operation whose type has bits.
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
                        self.two("max.I", value.width, value.reg, zero)?
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
                let shape = self.shape(self.frac(*a) + self.frac(*b), to, width)?;
                let (a, b) = (self.value(*a), self.value(*b));
                let (a, b) = (self.fit(a, shape.width)?, self.fit(b, shape.width)?);
                let product = self.two("mul.I", shape.width, a, b)?;
                self.close(product, shape)
            }
            Op::Lookup { x, table, base } => {
                let offset = (-base.to_big()).to_i64();
                let offset = offset.ok_or_else(|| self.refused("its table begins beyond an immediate of 64 bits"))?;
                self.lookup(*x, *table, offset, width)
            }
            Op::Unary { op, x } => self.unary(*op, *x, kif, width),
            Op::Binary { op, a, b, shift } => {
                let from = self.frac(*b) - i64::from(*shift);
                let common = self.frac(*a).max(from);
                let shape = self.shape(common, to, width)?;
                let a = self.aligned(self.value(*a), self.frac(*a), common, shape.width)?;
                let b = self.aligned(self.value(*b), from, common, shape.width)?;
                let title = match op {
                    BinaryBits::And => "and.I",
                    BinaryBits::Or => "or.I",
                    BinaryBits::Xor => "xor.I",
                };
                let both = self.two(title, shape.width, a, b)?;
                self.close(both, shape)
            }
        }
    }

    fn unary(&mut self, op: UnaryBits, x: ValueId, kif: Kif, width: u32) -> Raised<u32> {
        let (value, empty) = (self.value(x), self.model.kif(x).width() == 0);
        let (from, to) = (self.frac(x), i64::from(kif.frac));
        match op {
            UnaryBits::Not if kif.signed => {
                let shape = self.shape(from, to, width)?;
                let wide = self.fit(value, shape.width)?;
                let flipped = self.one("not.I", shape.width, wide)?;
                self.close(flipped, shape)
            }
            UnaryBits::Not if empty => self.constant(&BigInt::ZERO, width),
            UnaryBits::Not => {
                let flipped = self.one("not.I", value.width, value.reg)?;
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
                self.fit(Value { reg: holds, width: value.width, signed: false }, width)
            }
        }
    }

    fn lookup(&mut self, x: ValueId, table: TableId, offset: i64, width: u32) -> Raised<u32> {
        let value = self.value(x);
        let data = self.tables[&table];
        // An index is read as signed.
        let index = if value.signed { value.width } else { self.width(i64::from(value.width) + 1)? };
        let step = self.fit(value, index)?;
        let address = self.builder.count(File::A) as u32;
        self.row("addp.I", [index, 0], &[Arg::Value(data.address), Arg::Value(step)])?;
        let args = [Arg::Value(address), Arg::Imm(offset), Arg::Order(0)];
        let entry = self.result("ld.I", [data.width, 0], &args)?;
        self.fit(Value { reg: entry, width: data.width, signed: data.signed }, width)
    }

    /// The data of a table, as wide as its entries need, and its address.
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
            // All of it is outside, which reads 0.
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
