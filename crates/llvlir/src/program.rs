//! Checked LLVLIR program and its builder.
//!
//! A [`Program`] that exists is valid: only [`Builder::finish`] creates one, and the builder checks every item when it
//! is added. Operations refer to values by register file and number; the deltas of the byte format do not occur here.

use super::fault::{Fault, Field, Reason};
use super::rows::{Lane, Meaning, ROWS, Row, Sign, rows_of};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use std::collections::{HashMap, HashSet};

/// Largest width of a value in bits.
pub const MAX_WIDTH: u64 = 1024;

/// Largest number of lanes of a mask.
pub const MAX_MASK: u64 = 1024;

/// Limits on a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest number of operations.
    pub max_ops: u64,
    /// Largest number of elements of all tables together.
    pub max_table_elements: u64,
    /// Largest width of a division in bits.
    pub max_division: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { max_ops: 10_000_000, max_table_elements: 1 << 26, max_division: 256 }
    }
}

/// A register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum File {
    /// Integers.
    R,
    /// Vectors.
    X,
    /// Masks.
    M,
    /// Addresses.
    A,
}

impl File {
    /// Returns the register file of a template's operand letter; `None` for letters of other operands.
    pub fn from_letter(letter: u8) -> Option<File> {
        match letter {
            b'r' => Some(File::R),
            b'x' => Some(File::X),
            b'm' => Some(File::M),
            b'a' => Some(File::A),
            _ => None,
        }
    }

    /// Returns the prefix of register names in the text format.
    pub fn prefix(self) -> &'static str {
        match self {
            File::R => "%",
            File::X => "%x",
            File::M => "%m",
            File::A => "%a",
        }
    }
}

/// An integer type as spelt in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IntType {
    /// Width in bits.
    pub width: u16,
    /// `true` if the type has a short code (`i32`), `false` if it is spelt as `iv` and a width.
    pub coded: bool,
}

impl IntType {
    /// Placeholder for a missing type in rows without one.
    pub(super) const NONE: IntType = IntType { width: 0, coded: false };

    /// Widths with a short code; the codes count from 1.
    pub const CODED: [u16; 6] = [1, 8, 16, 32, 64, 128];

    /// Returns the type of `width` bits, with a short code if the width has one.
    pub fn new(width: u16) -> IntType {
        IntType { width, coded: IntType::CODED.contains(&width) }
    }
}

impl std::fmt::Display for IntType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", if self.coded { "i" } else { "iv" }, self.width)
    }
}

/// The type of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortType {
    /// An integer.
    R(IntType),
    /// Vector: number of lanes, and type of a lane.
    X(u16, IntType),
    /// Mask: number of lanes.
    M(u16),
}

impl PortType {
    /// Returns the register file of the type.
    pub fn file(self) -> File {
        match self {
            PortType::R(_) => File::R,
            PortType::X(..) => File::X,
            PortType::M(_) => File::M,
        }
    }
}

impl std::fmt::Display for PortType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PortType::R(ty) => ty.fmt(f),
            PortType::X(lanes, ty) => write!(f, "v{lanes}.{ty}"),
            PortType::M(lanes) => write!(f, "m{lanes}"),
        }
    }
}

/// Type of a value, used to check operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// Integer: width in bits.
    R(u16),
    /// Vector: number of lanes, and width of a lane in bits.
    X(u16, u16),
    /// Mask: number of lanes.
    M(u16),
    /// Address: index of the table that the address points into.
    A(u32),
}

impl ValueType {
    /// Returns the number of elements of a port of this type, and the width of each in bits.
    pub fn elements(self) -> (usize, u32) {
        match self {
            ValueType::R(width) => (1, width.into()),
            ValueType::X(lanes, width) => (lanes.into(), width.into()),
            ValueType::M(lanes) => (lanes.into(), 1),
            ValueType::A(_) => (0, 0),
        }
    }
}

impl std::fmt::Display for ValueType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ValueType::R(width) => write!(f, "{width} bits"),
            ValueType::X(lanes, width) => write!(f, "{lanes} lanes of {width} bits"),
            ValueType::M(lanes) => write!(f, "a mask of {lanes} lanes"),
            ValueType::A(_) => f.write_str("an address"),
        }
    }
}

/// An operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// Number of a value in the register file of the operand's letter.
    Value(u32),
    /// An immediate of at most 64 bits.
    Imm(i64),
    /// An immediate of more than 64 bits.
    Wide(Box<BigInt>),
    /// A comparison code.
    Cmp(u8),
    /// A memory order.
    Order(u8),
    /// A name, string or data.
    Bytes(Box<Box<[u8]>>),
}

impl Arg {
    /// Returns an immediate operand.
    pub fn imm(value: &BigInt) -> Arg {
        value.to_i64().map_or_else(|| Arg::Wide(Box::new(value.clone())), Arg::Imm)
    }

    /// Returns a name, string or data operand.
    pub fn bytes(bytes: &[u8]) -> Arg {
        Arg::Bytes(Box::new(bytes.into()))
    }

    /// Returns the number of a value, for operands of the letters r, x, m and a.
    pub fn value(&self) -> u32 {
        match self {
            Arg::Value(value) => *value,
            other => unreachable!("{other:?} is no value: the builder checks operands by their letters"),
        }
    }

    /// Returns the immediate, for operands of the letter i.
    pub fn integer(&self) -> BigInt {
        match self {
            Arg::Imm(value) => BigInt::from(*value),
            Arg::Wide(value) => (**value).clone(),
            other => unreachable!("{other:?} is no immediate: the builder checks operands by their letters"),
        }
    }

    /// Returns the bytes, for operands of the letters l, s and b.
    pub fn text(&self) -> &[u8] {
        match self {
            Arg::Bytes(bytes) => bytes,
            other => unreachable!("{other:?} is no string: the builder checks operands by their letters"),
        }
    }

    /// Returns the comparison code, for operands of the letter c.
    pub fn comparison(&self) -> u8 {
        match self {
            Arg::Cmp(code) => *code,
            other => unreachable!("{other:?} is no comparison: the builder checks operands by their letters"),
        }
    }
}

/// Parameters of an operation; parameters that the row's suffix does not have are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Number of lanes, for a suffix with V.
    pub lanes: u16,
    /// Integer types, in the order of the suffix.
    pub types: [IntType; 2],
    /// 1 for a global label.
    pub scope: u8,
    /// The number, for a suffix with N.
    pub number: u64,
}

impl Params {
    /// No parameters.
    pub(super) const NONE: Params = Params { lanes: 0, types: [IntType::NONE; 2], scope: 0, number: 0 };

    /// Returns only the parameters that the row has.
    fn with_row(self, row: &Row) -> Params {
        let has = |letter: u8| row.suffix.bytes().any(|own| own == letter);
        let types = row.suffix.bytes().filter(|letter| *letter == b'I').count();
        let [first, second] = self.types;
        Params {
            lanes: if has(b'V') { self.lanes } else { 0 },
            types: [if types > 0 { first } else { IntType::NONE }, if types > 1 { second } else { IntType::NONE }],
            scope: if has(b'L') { self.scope } else { 0 },
            number: if has(b'N') { self.number } else { 0 },
        }
    }
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    row: u16,
    params: Params,
    /// Index of the first operand in the operand list of the program.
    args: u32,
    /// Number of the result in its register file; 0 for rows without a result.
    result: u32,
}

impl Operation {
    /// Returns the row of the operation table.
    pub fn row(&self) -> &'static Row {
        &ROWS[usize::from(self.row)]
    }

    /// Returns the index of the row, which is the opcode.
    pub fn code(&self) -> u16 {
        self.row
    }

    /// Returns the parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Returns the width of the first integer type in bits.
    pub fn width(&self) -> u32 {
        self.params.types[0].width.into()
    }

    /// Returns the register file and number of the result; `None` for rows without a result.
    pub fn result(&self) -> Option<(File, u32)> {
        File::from_letter(self.row().result()).map(|file| (file, self.result))
    }
}

/// An input port. The number of its value is the number of earlier inputs of the same register file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Name of the port.
    pub name: String,
    /// Type of the port as spelt in the file.
    pub ty: PortType,
}

/// An output port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Name of the port.
    pub name: String,
    /// Register file of the value; never [`File::A`].
    pub file: File,
    /// Number of the value in its register file.
    pub value: u32,
}

/// A constant table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    width: u32,
    /// Elements one after another, each in `ceil(width / 8)` bytes, low byte first.
    bytes: Vec<u8>,
}

impl Table {
    /// Returns the width of an element in bits.
    pub fn width(&self) -> u32 {
        self.width
    }

    fn unit(&self) -> usize {
        self.width.div_ceil(8) as usize
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.unit()
    }

    /// Returns `true` if the table has no elements, as for an empty string.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the bytes of element `index`, low byte first; `None` outside of the table.
    pub fn element(&self, index: usize) -> Option<&[u8]> {
        let from = index.checked_mul(self.unit())?;
        self.bytes.get(from..from.checked_add(self.unit())?)
    }
}

/// A valid, immutable program; created by [`Builder::finish`] only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    inputs: Vec<Input>,
    ops: Vec<Operation>,
    args: Vec<Arg>,
    outputs: Vec<Output>,
    values: Values,
    tables: Vec<Table>,
    /// Names of results: index of the operation, and index of the label operation before it.
    hints: Vec<(u32, u32)>,
}

/// Types of all values, by register file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Values {
    r: Vec<u16>,
    x: Vec<(u16, u16)>,
    m: Vec<u16>,
    a: Vec<u32>,
}

impl Values {
    fn count(&self, file: File) -> usize {
        match file {
            File::R => self.r.len(),
            File::X => self.x.len(),
            File::M => self.m.len(),
            File::A => self.a.len(),
        }
    }

    fn get(&self, file: File, value: u32) -> Option<ValueType> {
        let at = value as usize;
        match file {
            File::R => self.r.get(at).map(|w| ValueType::R(*w)),
            File::X => self.x.get(at).map(|(v, w)| ValueType::X(*v, *w)),
            File::M => self.m.get(at).map(|v| ValueType::M(*v)),
            File::A => self.a.get(at).map(|t| ValueType::A(*t)),
        }
    }

    fn push(&mut self, ty: ValueType) {
        match ty {
            ValueType::R(w) => self.r.push(w),
            ValueType::X(v, w) => self.x.push((v, w)),
            ValueType::M(v) => self.m.push(v),
            ValueType::A(t) => self.a.push(t),
        }
    }
}

impl Program {
    /// Returns the input ports.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Returns the operations, in order.
    pub fn ops(&self) -> &[Operation] {
        &self.ops
    }

    /// Returns the operands of an operation, in the order of the template.
    pub fn args(&self, op: &Operation) -> &[Arg] {
        let from = op.args as usize;
        &self.args[from..from + op.row().operands().len()]
    }

    /// Returns the output ports.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// Returns the type of an existing value.
    pub fn value_type(&self, file: File, value: u32) -> ValueType {
        self.values.get(file, value).unwrap_or_else(|| unreachable!("the builder checks the numbers of values"))
    }

    /// Returns the type of an output port.
    pub fn output_type(&self, output: &Output) -> ValueType {
        self.value_type(output.file, output.value)
    }

    /// Returns the type of an input port.
    pub fn input_type(&self, input: &Input) -> ValueType {
        value_type(input.ty)
    }

    /// Returns the constant tables.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// Returns the operations with the names that labels give to their results, in order.
    pub fn hints(&self) -> impl Iterator<Item = (usize, &str)> {
        self.hints.iter().map(|(op, label)| {
            let label = self.args(&self.ops[*label as usize])[0].text();
            (*op as usize, std::str::from_utf8(label).unwrap_or_default())
        })
    }

    /// Returns the elements of the input ports, in order.
    pub fn input_elements(&self) -> Vec<Element> {
        elements(self.inputs.iter().map(|input| (input.name.as_str(), value_type(input.ty))))
    }

    /// Returns the elements of the output ports, in order.
    pub fn output_elements(&self) -> Vec<Element> {
        elements(self.outputs.iter().map(|output| (output.name.as_str(), self.output_type(output))))
    }
}

/// One element of a hardware port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// Name of the element: `crc`, `data[0]`, `k[3]`.
    pub name: String,
    /// Width in bits.
    pub width: u32,
    /// `true` if the element is in two's complement; `false` for bits of masks.
    pub signed: bool,
}

fn elements<'a>(ports: impl Iterator<Item = (&'a str, ValueType)>) -> Vec<Element> {
    let mut all = Vec::new();
    for (name, ty) in ports {
        let (count, width) = ty.elements();
        let signed = !matches!(ty, ValueType::M(_));
        match ty {
            ValueType::R(_) => all.push(Element { name: name.to_owned(), width, signed }),
            _ => all.extend((0..count).map(|k| Element { name: format!("{name}[{k}]"), width, signed })),
        }
    }
    all
}

fn value_type(port: PortType) -> ValueType {
    match port {
        PortType::R(ty) => ValueType::R(ty.width),
        PortType::X(lanes, ty) => ValueType::X(lanes, ty.width),
        PortType::M(lanes) => ValueType::M(lanes),
    }
}

/// Facts about the item that a label names.
struct LabelFacts {
    scope: u8,
    table: Option<u32>,
}

/// Item directly before the next operation.
#[derive(Clone, Copy)]
enum Before {
    /// A label: index of its operation.
    Label(u32),
    /// Data of the last table.
    Data,
    /// Any other item.
    Other,
}

/// Builder that collects and checks the parts of a program.
pub struct Builder {
    limits: Limits,
    program: Program,
    input_names: HashSet<String>,
    output_names: HashSet<String>,
    labels: HashMap<Box<[u8]>, LabelFacts>,
    before: Before,
    table_elements: u64,
}

impl Builder {
    /// Returns a builder with an empty program.
    pub fn new(limits: Limits) -> Builder {
        Builder {
            limits,
            program: Program {
                inputs: Vec::new(),
                ops: Vec::new(),
                args: Vec::new(),
                outputs: Vec::new(),
                values: Values::default(),
                tables: Vec::new(),
                hints: Vec::new(),
            },
            input_names: HashSet::new(),
            output_names: HashSet::new(),
            labels: HashMap::new(),
            before: Before::Other,
            table_elements: 0,
        }
    }

    /// Returns the number of values in a register file so far.
    pub fn count(&self, file: File) -> usize {
        self.program.values.count(file)
    }

    /// Returns the type of a value; `None` if it does not exist.
    pub fn value_type(&self, file: File, value: u32) -> Option<ValueType> {
        self.program.values.get(file, value)
    }

    /// Returns the number of operations so far.
    pub fn operations(&self) -> usize {
        self.program.ops.len()
    }

    /// Appends an input port. Inputs come before operations.
    ///
    /// # Errors
    /// `name`, `dup-name`, `width`, `lanes`.
    ///
    /// # Panics
    /// If there are operations already.
    pub fn input(&mut self, name: &[u8], ty: PortType) -> Result<(), Fault> {
        assert!(self.program.ops.is_empty(), "inputs come before operations");
        let name = port_name(name)?;
        match ty {
            PortType::R(ty) => check_type(ty, Field::Param(0))?,
            PortType::X(lanes, ty) => {
                check_lanes(lanes, Field::Param(0))?;
                check_type(ty, Field::Param(1))?;
            }
            PortType::M(lanes) => check_mask_lanes(lanes.into(), Field::Param(0))?,
        }
        if !self.input_names.insert(name.to_owned()) {
            return Err(Fault::new(Reason::DupName, Field::Name, format!("two inputs have the name {name:?}")));
        }
        self.program.values.push(value_type(ty));
        self.program.inputs.push(Input { name: name.to_owned(), ty });
        Ok(())
    }

    /// Appends an operation.
    ///
    /// # Errors
    /// Returns the first rule of `docs/llvlir.md` that the operation breaks, and the part that breaks the rule.
    ///
    /// # Panics
    /// If there are outputs already, or `row` is not an index of the table.
    pub fn operation(&mut self, row: u16, params: Params, args: &mut Vec<Arg>) -> Result<(), Fault> {
        assert!(self.program.outputs.is_empty(), "operations come before outputs");
        let entry = &ROWS[usize::from(row)];
        if entry.is_refused() {
            return Err(refused(entry));
        }
        if self.program.ops.len() as u64 >= self.limits.max_ops {
            let message = format!("more operations than the limit of {}", self.limits.max_ops);
            return Err(Fault::new(Reason::OpLimit, Field::Row, message).with_help("raise --max-ops"));
        }
        let params = params.with_row(entry);
        check_params(entry, &params)?;
        check_shape(entry, &params, &self.limits)?;
        check_letters(entry, args)?;
        let result = self.check_operands(entry, &params, args)?;
        let index = self.program.ops.len() as u32;
        let table = self.data(entry, &params, args)?;
        let result = match entry.meaning {
            Meaning::Pointer => {
                self.before = Before::Other;
                Some(ValueType::A(self.table_of(params.scope, args[0].text())?))
            }
            _ => result,
        };
        if let Before::Label(label) = self.before
            && result.is_some()
        {
            self.program.hints.push((index, label));
        }
        self.before = match entry.meaning {
            Meaning::Label => {
                self.label(params.scope, args[0].text())?;
                Before::Label(index)
            }
            _ if table => Before::Data,
            _ => Before::Other,
        };
        let number = File::from_letter(entry.result()).map_or(0, |file| self.count(file) as u32);
        self.program.ops.push(Operation { row, params, args: self.program.args.len() as u32, result: number });
        self.program.args.append(args);
        if let Some(ty) = result {
            self.program.values.push(ty);
        }
        Ok(())
    }

    /// Appends an output port.
    ///
    /// # Errors
    /// `name`, `dup-name`, `kind`, `delta`.
    pub fn output(&mut self, name: &[u8], file: File, value: u32) -> Result<(), Fault> {
        let name = port_name(name)?;
        if file == File::A {
            return Err(Fault::new(Reason::Kind, Field::Value, "an address cannot be an output"));
        }
        if value as usize >= self.count(file) {
            let message = format!("there is no value {}{value}", file.prefix());
            return Err(Fault::new(Reason::Delta, Field::Value, message));
        }
        if !self.output_names.insert(name.to_owned()) {
            return Err(Fault::new(Reason::DupName, Field::Name, format!("two outputs have the name {name:?}")));
        }
        self.program.outputs.push(Output { name: name.to_owned(), file, value });
        Ok(())
    }

    /// Checks the program as a whole and returns it.
    ///
    /// # Errors
    /// `no-output`.
    pub fn finish(self) -> Result<Program, Fault> {
        if self.program.outputs.is_empty() {
            return Err(Fault::new(Reason::NoOutput, Field::Name, "a program has at least one output"));
        }
        Ok(self.program)
    }

    fn label(&mut self, scope: u8, name: &[u8]) -> Result<(), Fault> {
        let facts = LabelFacts { scope, table: None };
        if self.labels.contains_key(name) {
            let message = format!("two labels have the name \"{}\"", name.escape_ascii());
            return Err(Fault::new(Reason::LabelDup, Field::Operand(0), message));
        }
        self.labels.insert(name.into(), facts);
        Ok(())
    }

    fn table_of(&self, scope: u8, name: &[u8]) -> Result<u32, Fault> {
        let shown = name.escape_ascii();
        let unknown = |message: String| Fault::new(Reason::LabelUnknown, Field::Operand(0), message);
        let Some(facts) = self.labels.get(name) else {
            return Err(unknown(format!("no label \"{shown}\" stands before this operation")));
        };
        if facts.scope != scope {
            let is = if facts.scope == 0 { "local" } else { "global" };
            return Err(unknown(format!("the label \"{shown}\" is {is}")));
        }
        facts.table.ok_or_else(|| {
            let message = format!("no data stands directly behind the label \"{shown}\"");
            Fault::new(Reason::LabelEmpty, Field::Operand(0), message)
        })
    }

    /// Checks the types of operands, and returns the type of the result; `None` for rows without a result.
    fn check_operands(&self, row: &Row, params: &Params, args: &[Arg]) -> Result<Option<ValueType>, Fault> {
        let result = self.result_type(row, params, args)?;
        let lanes = match result {
            Some(ValueType::X(lanes, _) | ValueType::M(lanes)) => lanes,
            _ => 0,
        };
        let width = params.types[0].width;
        for (k, (&letter, arg)) in row.operands().iter().zip(args).enumerate() {
            let Some(file) = File::from_letter(letter) else {
                check_plain(row, params, k, letter, arg)?;
                continue;
            };
            let found = self.value(file, arg, k)?;
            let wrong = |needed: String| {
                let message = format!("{}{} has {found}, {} takes {needed}", file.prefix(), arg.value(), row.title());
                Fault::new(Reason::OperandType, Field::Operand(k), message)
            };
            match found {
                ValueType::M(has) if has < lanes => {
                    let message = format!("the mask has {has} lanes, the result {lanes}");
                    return Err(Fault::new(Reason::Mask, Field::Operand(k), message));
                }
                ValueType::R(has) => match scalar_operand(row, params, k) {
                    Some(needed) if needed != has => {
                        let help = conversion("", has, needed, &format!("%{}", arg.value()));
                        return Err(wrong(format!("{needed} bits")).with_help(help));
                    }
                    _ => {}
                },
                ValueType::X(v, w) => {
                    let needed = (params.lanes, vector_operand(row, params, k));
                    if (v, w) != needed {
                        let fault = wrong(format!("{} lanes of {} bits", needed.0, needed.1));
                        if v != needed.0 {
                            return Err(fault);
                        }
                        let operands = format!("%x{}, MASK", arg.value());
                        return Err(fault.with_help(conversion(&format!("v{v}."), w, needed.1, &operands)));
                    }
                }
                ValueType::A(table) => {
                    let has = self.program.tables[table as usize].width;
                    let at = if row.suffix.starts_with('V') { 1 } else { 0 };
                    let loads = matches!(row.meaning, Meaning::Load | Meaning::Gather);
                    if loads && has != u32::from(width) {
                        let message = format!("the table's elements have {has} bits, the operation loads {width}");
                        return Err(Fault::new(Reason::LoadType, Field::Param(at), message));
                    }
                }
                ValueType::M(_) => {}
            }
        }
        Ok(result)
    }

    fn value(&self, file: File, arg: &Arg, k: usize) -> Result<ValueType, Fault> {
        self.program.values.get(file, arg.value()).ok_or_else(|| {
            let message = format!("there is no value {}{}", file.prefix(), arg.value());
            Fault::new(Reason::Delta, Field::Operand(k), message)
        })
    }

    fn result_type(&self, row: &Row, params: &Params, args: &[Arg]) -> Result<Option<ValueType>, Fault> {
        let (lanes, width) = (params.lanes, params.types[0].width);
        let x = |lanes: u16, width: u16| {
            if !(2..=128).contains(&lanes) {
                let message = format!("the result would have {lanes} lanes; 2 to 128 are possible");
                return Err(Fault::new(Reason::Result, Field::Param(0), message));
            }
            if u64::from(width) > MAX_WIDTH {
                let message = format!("the result's lanes would have {width} bits; at most {MAX_WIDTH} are possible");
                return Err(Fault::new(Reason::Result, Field::Param(1), message));
            }
            Ok(Some(ValueType::X(lanes, width)))
        };
        match (row.meaning, row.result()) {
            (Meaning::Pointer, _) => Ok(None),
            (Meaning::MovePointer { .. }, _) => Ok(Some(self.value(File::A, &args[0], 0)?)),
            (Meaning::MaskFromBits, _) => match self.value(File::R, &args[0], 0)? {
                ValueType::R(bits) => Ok(Some(ValueType::M(bits))),
                _ => Ok(None),
            },
            (Meaning::WideMul(_), _) => x(lanes, width * 2),
            (Meaning::Zip { step, .. }, _) => x(lanes * step as u16, width),
            (Meaning::Unzip { step, .. }, _) => x(lanes * 2 / step as u16, width),
            (Meaning::PairSum { .. }, _) => x(lanes / 2, width),
            // Row 37, `mv`: operand of any type.
            (_, b'r') if row.suffix.is_empty() => Ok(Some(self.value(File::R, &args[0], 0)?)),
            (_, b'r') => Ok(Some(ValueType::R(width))),
            (_, b'x') => x(lanes, width),
            (_, b'm') => Ok(Some(ValueType::M(lanes))),
            _ => Ok(None),
        }
    }

    /// Appends the data of a data operation to its table; returns `false` for other operations.
    fn data(&mut self, row: &Row, params: &Params, args: &[Arg]) -> Result<bool, Fault> {
        if !row.is_data() {
            return Ok(false);
        }
        let (width, bytes) = data_bytes(row, params, args)?;
        let count = (bytes.len() / width.div_ceil(8) as usize) as u64;
        let fits = self.table_elements.checked_add(count).is_some_and(|all| all <= self.limits.max_table_elements);
        if !fits {
            let message = format!("more table elements than the limit of {}", self.limits.max_table_elements);
            return Err(Fault::new(Reason::TableLimit, Field::Row, message).with_help("raise --max-table-entries"));
        }
        match self.before {
            Before::Data => {}
            before => {
                let table = self.program.tables.len() as u32;
                if let Before::Label(label) = before {
                    let op = self.program.ops[label as usize];
                    let name = self.program.args(&op)[0].text();
                    if let Some(facts) = self.labels.get_mut(name) {
                        facts.table = Some(table);
                    }
                }
                self.program.tables.push(Table { width, bytes: Vec::new() });
            }
        }
        let Some(table) = self.program.tables.last_mut() else { return Ok(true) };
        if table.width != width {
            let message = format!("elements of {width} bits in a table whose elements have {} bits", table.width);
            return Err(Fault::new(Reason::TableMixed, Field::Row, message)
                .with_help("a label or section before it starts another table"));
        }
        self.table_elements += count;
        table.bytes.extend_from_slice(&bytes);
        Ok(true)
    }
}

/// Returns the error for a row that exists and is not supported.
pub(super) fn refused(row: &Row) -> Fault {
    let message = format!("{} is not straight-line integer logic", row.title());
    Fault::new(Reason::Refused, Field::Row, message)
        .with_help("memory, jumps, calls, atomic operations and floating point are not read")
}

fn port_name(name: &[u8]) -> Result<&str, Fault> {
    check_name(name, Field::Name)
}

/// Checks a name: 1 to 255 bytes of UTF-8 without control characters.
fn check_name(name: &[u8], field: Field) -> Result<&str, Fault> {
    let wrong = |message: &str| Fault::new(Reason::Name, field, message);
    if name.is_empty() || name.len() > 255 {
        return Err(wrong("a name has 1 to 255 bytes"));
    }
    let text = std::str::from_utf8(name).map_err(|_| wrong("a name is UTF-8"))?;
    if text.bytes().any(|b| b < 0x20 || b == 0x7f) {
        return Err(wrong("a name has no control characters"));
    }
    Ok(text)
}

fn check_type(ty: IntType, field: Field) -> Result<(), Fault> {
    let known = if ty.coded { IntType::CODED.contains(&ty.width) } else { true };
    if !known {
        return Err(Fault::new(Reason::Type, field, format!("there is no type i{}", ty.width))
            .with_help("i1, i8, i16, i32, i64, i128, or iv and any width"));
    }
    check_width(ty.width.into(), field)
}

/// Checks a width: 1 to 1024 bits.
pub(super) fn check_width(width: u64, field: Field) -> Result<(), Fault> {
    if (1..=MAX_WIDTH).contains(&width) {
        return Ok(());
    }
    Err(Fault::new(Reason::Width, field, format!("a width of {width} bits; 1 to {MAX_WIDTH} are possible")))
}

fn check_lanes(lanes: u16, field: Field) -> Result<(), Fault> {
    if matches!(lanes, 2 | 4 | 8 | 16 | 32 | 64 | 128) {
        return Ok(());
    }
    Err(Fault::new(Reason::Lanes, field, format!("{lanes} lanes; 2, 4, 8, 16, 32, 64 and 128 are possible")))
}

/// Checks the lanes of a mask: 1 to 1024.
pub(super) fn check_mask_lanes(lanes: u64, field: Field) -> Result<(), Fault> {
    if (1..=MAX_MASK).contains(&lanes) {
        return Ok(());
    }
    Err(Fault::new(Reason::Lanes, field, format!("a mask of {lanes} lanes; 1 to {MAX_MASK} are possible")))
}

fn check_params(row: &Row, params: &Params) -> Result<(), Fault> {
    let mut types = params.types.iter();
    for (k, letter) in row.suffix.bytes().enumerate() {
        match letter {
            b'V' => check_lanes(params.lanes, Field::Param(k))?,
            b'I' => check_type(*types.next().unwrap_or(&IntType::NONE), Field::Param(k))?,
            b'L' if params.scope > 1 => {
                return Err(Fault::new(Reason::Scope, Field::Param(k), "a label is local (0) or global (1)"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks that each operand has the kind of its letter, as parsers guarantee.
fn check_letters(row: &Row, args: &[Arg]) -> Result<(), Fault> {
    if args.len() != row.operands().len() {
        return Err(Fault::new(Reason::Count, Field::Row, format!("{} operands", args.len())));
    }
    for (k, (letter, arg)) in row.operands().iter().zip(args).enumerate() {
        let fits = match letter {
            b'i' => matches!(arg, Arg::Imm(_) | Arg::Wide(_)),
            b'c' => matches!(arg, Arg::Cmp(_)),
            b'o' => matches!(arg, Arg::Order(_)),
            b'l' | b's' | b'b' => matches!(arg, Arg::Bytes(_)),
            _ => matches!(arg, Arg::Value(_)),
        };
        if !fits {
            return Err(Fault::new(Reason::OperandType, Field::Operand(k), "an operand of another kind"));
        }
    }
    Ok(())
}

/// Returns the required width of scalar operand `k` in bits; `None` if any width is valid.
fn scalar_operand(row: &Row, params: &Params, k: usize) -> Option<u16> {
    let [first, second] = params.types.map(|ty| ty.width);
    let is_vector = row.suffix.starts_with('V');
    match row.meaning {
        Meaning::MaskFromBits => None,
        Meaning::PermutePacked(_) => Some(64),
        Meaning::Lanes(lane) => match lane {
            Lane::Move if row.suffix.is_empty() => None,
            Lane::Move => Some(first),
            Lane::Extend(_) | Lane::Truncate => Some(second),
            Lane::AddCarry | Lane::SubBorrow => (k < 2).then_some(first),
            Lane::Select => (k > 0).then_some(first),
            Lane::Shift(_) | Lane::Rotate(_) => (k == 0 && !is_vector).then_some(first),
            Lane::Funnel(_) => (k < 2 && !is_vector).then_some(first),
            _ => Some(first),
        },
        _ => Some(first),
    }
}

/// Returns an operation in text format that converts a value of `has` bits to `needed` bits.
fn conversion(lanes: &str, has: u16, needed: u16, operands: &str) -> String {
    let parameters = format!("{lanes}{}.{} {operands}", IntType::new(needed), IntType::new(has));
    if has < needed {
        format!("`zext.{parameters}` widens it with zeros, `sext.{parameters}` with its sign")
    } else {
        format!("`trunc.{parameters}` narrows it")
    }
}

/// Returns the required width of the lanes of vector operand `k` in bits.
fn vector_operand(row: &Row, params: &Params, k: usize) -> u16 {
    let [first, second] = params.types.map(|ty| ty.width);
    match row.meaning {
        Meaning::Lanes(Lane::Extend(_) | Lane::Truncate) | Meaning::Gather => second,
        Meaning::Permute if k == 1 => second,
        _ => first,
    }
}

/// Checks an operand that is not a value, and the requirements of the row on its types.
fn check_plain(row: &Row, params: &Params, k: usize, letter: u8, arg: &Arg) -> Result<(), Fault> {
    let field = Field::Operand(k);
    match (letter, arg) {
        (b'i', Arg::Imm(_) | Arg::Wide(_)) => {
            let (low, high) = immediate_range(row, params.types[0].width);
            let value = arg.integer();
            if value < low || value > high {
                let message = format!("the immediate {} is outside {low} ... {high}", shortened(&value));
                let fault = Fault::new(Reason::Imm, field, message);
                // The other row of the pair (signed or unsigned) may be able to represent the immediate.
                let other = match row.name {
                    "const" if value > high => "constu",
                    "constu" if value < low => "const",
                    "splati" if value > high => "splatui",
                    "splatui" if value < low => "splati",
                    _ => return Err(fault),
                };
                let (low, high) = rows_of(other)
                    .iter()
                    .map(|code| &ROWS[usize::from(*code)])
                    .find(|row| !row.is_refused())
                    .map_or((low, high), |row| immediate_range(row, params.types[0].width));
                let fits = value >= low && value <= high;
                return Err(if fits { fault.with_help(format!("`{other}` takes {low} ... {high}")) } else { fault });
            }
        }
        (b'c', Arg::Cmp(code)) if comparison_name(*code).is_none() => {
            return Err(Fault::new(Reason::Cmp, field, format!("no comparison has the code {code}")));
        }
        (b'o', Arg::Order(order)) if *order > 15 => {
            return Err(Fault::new(Reason::Order, field, format!("memory order {order} is above 15")));
        }
        (b'l', Arg::Bytes(name)) => {
            check_name(name, field)?;
        }
        _ => {}
    }
    Ok(())
}

/// Returns an integer as text for a message; for an integer of more than 128 bits, only its width.
fn shortened(value: &BigInt) -> String {
    if value.bits() > 128 { format!("of {} bits", value.bits()) } else { value.to_string() }
}

/// Returns the smallest and the largest immediate of a row whose first type has `width` bits.
pub fn immediate_range(row: &Row, width: u16) -> (BigInt, BigInt) {
    let one = BigInt::from(1);
    match row.name {
        "const" | "addi" | "subi" | "splati" | "word" => {
            let half = &one << width.saturating_sub(1);
            (-&half, half - 1)
        }
        "constu" | "splatui" => (BigInt::ZERO, (one << width) - 1),
        "ld" | "ldu" => (i64::MIN.into(), i64::MAX.into()),
        _ => (BigInt::ZERO, 65535.into()),
    }
}

/// Returns the name of a comparison code; `None` if it is reserved.
pub fn comparison_name(code: u8) -> Option<&'static str> {
    Some(match code {
        0 => "fa",
        1 => "eq",
        2 => "lt",
        3 => "le",
        4 => "gt",
        5 => "ge",
        6 => "ne",
        7 => "tr",
        10 => "ltu",
        11 => "leu",
        12 => "gtu",
        13 => "geu",
        _ => return None,
    })
}

/// Returns the width of the elements of a data operation in bits, and their bytes.
fn data_bytes(row: &Row, params: &Params, args: &[Arg]) -> Result<(u32, Vec<u8>), Fault> {
    let width = u32::from(params.types[0].width);
    let unit = width.div_ceil(8) as usize;
    match row.meaning {
        Meaning::Word => {
            let mut bytes = args[0].integer().to_signed_bytes_le();
            let fill = if args[0].integer().sign() == num_bigint::Sign::Minus { 0xff } else { 0 };
            bytes.resize(unit, fill);
            if !width.is_multiple_of(8) {
                bytes[unit - 1] &= (1 << (width % 8)) - 1;
            }
            Ok((width, bytes))
        }
        Meaning::Array => {
            let data = args[0].text();
            if params.number == 0 {
                return Err(Fault::new(Reason::Array, Field::Param(0), "an array has at least one element"));
            }
            let needed = params.number.checked_mul(unit as u64);
            if needed != Some(data.len() as u64) {
                let message = format!("{} bytes for {} elements of {unit} bytes", data.len(), params.number);
                return Err(Fault::new(Reason::Array, Field::Operand(0), message));
            }
            let spare = if width.is_multiple_of(8) { 0 } else { 0xff << (width % 8) };
            if data.chunks_exact(unit).any(|element| element[unit - 1] & spare as u8 != 0) {
                let message = format!("an element has bits above its {width}");
                return Err(Fault::new(Reason::Array, Field::Operand(0), message));
            }
            Ok((width, data.to_vec()))
        }
        Meaning::Text { unit, zero } => {
            let text = args[0].text();
            let is_utf8 = row.name.starts_with(['u', 'w']);
            let not_utf8 = |_| Fault::new(Reason::Utf8, Field::Operand(0), "the string is not UTF-8");
            let checked = if is_utf8 { Some(std::str::from_utf8(text).map_err(not_utf8)?) } else { None };
            let mut bytes = match (unit, checked) {
                (2, Some(text)) => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
                _ => text.to_vec(),
            };
            bytes.resize(bytes.len() + if zero { unit } else { 0 }, 0);
            Ok((unit as u32 * 8, bytes))
        }
        _ => Ok((8, Vec::new())),
    }
}

/// Checks a row's constraints between its types; the builder calls it after the parameters and before the operands.
fn check_shape(row: &Row, params: &Params, limits: &Limits) -> Result<(), Fault> {
    let [first, second] = params.types.map(|ty| ty.width);
    let at = usize::from(row.suffix.starts_with('V'));
    let wrong = |reason, message: String| Err(Fault::new(reason, Field::Param(at), message));
    match row.meaning {
        Meaning::Lanes(Lane::ByteSwap) if !first.is_multiple_of(8) => {
            wrong(Reason::Bswap, format!("{first} bits are no whole number of bytes"))
        }
        Meaning::Lanes(Lane::Extend(Sign::Signed | Sign::Unsigned)) if first < second => {
            wrong(Reason::Widen, format!("{} from {second} to {first} bits", row.name))
        }
        Meaning::Lanes(Lane::Truncate) if first > second => {
            wrong(Reason::Narrow, format!("trunc from {second} to {first} bits"))
        }
        Meaning::Lanes(Lane::Div(_) | Lane::Rem(_)) if u32::from(first) > limits.max_division => {
            let message = format!("a division of {first} bits; the limit is {}", limits.max_division);
            Err(Fault::new(Reason::DivLimit, Field::Param(at), message).with_help("raise --max-division"))
        }
        Meaning::PermutePacked(bits) if u32::from(params.lanes) > 64 / bits => {
            let message = format!("{} lanes; {} indices are there", params.lanes, 64 / bits);
            Err(Fault::new(Reason::Permute, Field::Param(0), message))
        }
        _ => Ok(()),
    }
}
