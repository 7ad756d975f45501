//! Parser and code generator of the byte format.
//!
//! Every number has exactly one encoding, so a program has exactly one, too: a parsed program is written to the same
//! bytes.

use super::fault::{Fault, Field, Problem, Reason};
use super::program::{
    Arg, Builder, File, IntType, Limits, MAX_WIDTH, Params, PortType, Program, check_mask_lanes, check_width, refused,
};
use super::rows::{ROWS, Row};
use alir_core::diag::{Place, counted};
use num_bigint::BigInt;

/// Magic bytes of the byte format.
pub const MAGIC: &[u8] = b"LLVLIR";

/// Maximum size of an immediate in bytes.
const MAX_IMMEDIATE: usize = 160;

/// Parses a program.
///
/// # Errors
/// Returns the first problem.
pub fn read(bytes: &[u8], limits: Limits) -> Result<Program, Problem> {
    Reader { bytes, at: 0, params_at: [0; 4], operands_at: [0; 5] }.program(limits)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Offsets of the parameters and operands of the current operation.
    params_at: [usize; 4],
    operands_at: [usize; 5],
}

fn problem(reason: Reason, at: usize, message: impl Into<String>) -> Problem {
    Problem { reason, place: Place::Byte(at as u64), message: message.into(), help: None, excerpt: None }
}

fn problem_at(fault: Fault, at: usize) -> Problem {
    Problem { help: fault.help, ..problem(fault.reason, at, fault.message) }
}

impl<'a> Reader<'a> {
    fn program(mut self, limits: Limits) -> Result<Program, Problem> {
        self.header()?;
        let mut builder = Builder::new(limits);
        for _ in 0..self.number()? {
            self.input(&mut builder)?;
        }
        let count_at = self.at;
        let count = self.number()?;
        if count > limits.max_ops {
            let message = format!("{count} operations; the limit is {}", limits.max_ops);
            let problem = problem(Reason::OpLimit, count_at, message);
            return Err(Problem { help: Some("raise --max-ops".into()), ..problem });
        }
        let mut args = Vec::with_capacity(5);
        for _ in 0..count {
            self.operation(&mut builder, &mut args)?;
        }
        let outputs_at = self.at;
        let outputs = self.number()?;
        if outputs > 0 {
            for _ in 0..outputs {
                self.output(&mut builder)?;
            }
            if self.at < self.bytes.len() {
                let rest = self.bytes.len() - self.at;
                return Err(problem(
                    Reason::Trailing,
                    self.at,
                    format!("the program ends before the last {}", counted(rest, "byte")),
                ));
            }
        }
        builder.finish().map_err(|fault| problem_at(fault, outputs_at))
    }

    fn header(&mut self) -> Result<(), Problem> {
        if self.bytes.len() < MAGIC.len() && MAGIC.starts_with(self.bytes) {
            return Err(self.truncated());
        }
        if !self.bytes.starts_with(MAGIC) {
            return Err(problem(Reason::Magic, 0, "the file does not start with LLVLIR"));
        }
        self.at = MAGIC.len();
        match self.byte()? {
            0 => {}
            1 => {
                let message = "edition 1, the later llvlir.md of 2022 and 2023, is not supported";
                return Err(problem(Reason::Edition, self.at - 1, message));
            }
            // A blank after the magic bytes: probably a text file whose header is in capital letters.
            b' ' => {
                let stop = problem(Reason::Edition, self.at - 1, "edition 32 is not known");
                return Err(Problem { help: Some("a text starts with `llvlir 0`, in small letters".into()), ..stop });
            }
            other => return Err(problem(Reason::Edition, self.at - 1, format!("edition {other} is not known"))),
        }
        match self.byte()? {
            0 => Ok(()),
            other => Err(problem(Reason::Flags, self.at - 1, format!("flags {other}; only 0 is defined"))),
        }
    }

    fn truncated(&self) -> Problem {
        problem(Reason::Truncated, self.bytes.len(), "the file ends inside the program")
    }

    fn byte(&mut self) -> Result<u8, Problem> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.truncated())?;
        self.at += 1;
        Ok(byte)
    }

    /// Parses a ULEB number of at most 64 bits.
    fn number(&mut self) -> Result<u64, Problem> {
        // Nearly all numbers have one byte.
        if let Some(&byte) = self.bytes.get(self.at)
            && byte < 0x80
        {
            self.at += 1;
            return Ok(byte.into());
        }
        let start = self.at;
        let mut value = 0u64;
        for k in 0..10 {
            let byte = self.byte()?;
            let low = u64::from(byte & 0x7f);
            if k == 9 && (byte > 1) {
                return Err(problem(Reason::Leb, start, "a number of more than 64 bits"));
            }
            value |= low << (7 * k);
            if byte < 0x80 {
                if byte == 0 && k > 0 {
                    return Err(problem(Reason::Leb, start, "a number that is longer than it need be"));
                }
                return Ok(value);
            }
        }
        Err(problem(Reason::Leb, start, "a number of more than 10 bytes"))
    }

    /// Parses an immediate: ULEB or SLEB of at most 160 bytes.
    fn immediate(&mut self, signed: bool) -> Result<Arg, Problem> {
        let start = self.at;
        let mut len = 0;
        loop {
            if len == MAX_IMMEDIATE {
                return Err(problem(Reason::Leb, start, format!("an immediate of more than {MAX_IMMEDIATE} bytes")));
            }
            len += 1;
            if self.byte()? < 0x80 {
                break;
            }
        }
        let groups = &self.bytes[start..self.at];
        let last = groups[len - 1];
        // The last group must not be redundant: it must not only repeat the sign or zeros that the previous group
        // implies.
        let is_spare = len > 1
            && if signed {
                let before = groups[len - 2] & 0x40;
                (last == 0 && before == 0) || (last == 0x7f && before != 0)
            } else {
                last == 0
            };
        if is_spare {
            return Err(problem(Reason::Leb, start, "a number that is longer than it need be"));
        }
        let negative = signed && last & 0x40 != 0;
        if len <= 9 {
            let magnitude = groups.iter().rev().fold(0i64, |value, group| value << 7 | i64::from(group & 0x7f));
            return Ok(Arg::Imm(if negative { magnitude.wrapping_sub(1i64 << (7 * len - 1) << 1) } else { magnitude }));
        }
        let mut value = BigInt::ZERO;
        for (k, group) in groups.iter().enumerate() {
            value += BigInt::from(group & 0x7f) << (7 * k);
        }
        if negative {
            value -= BigInt::from(1) << (7 * len);
        }
        Ok(Arg::imm(&value))
    }

    /// Parses a string: its length, then its bytes.
    fn string(&mut self) -> Result<&'a [u8], Problem> {
        let len = usize::try_from(self.number()?).map_err(|_| self.truncated())?;
        let end = self.at.checked_add(len).filter(|end| *end <= self.bytes.len()).ok_or_else(|| self.truncated())?;
        let bytes = &self.bytes[self.at..end];
        self.at = end;
        Ok(bytes)
    }

    /// Parses a name; its length is checked before its bytes.
    fn name(&mut self) -> Result<&'a [u8], Problem> {
        let start = self.at;
        let len = self.number()?;
        if len == 0 || len > 255 {
            return Err(problem(Reason::Name, start, format!("a name of {len} bytes; 1 to 255 are possible")));
        }
        self.at = start;
        self.string()
    }

    /// Parses an integer type.
    fn int_type(&mut self) -> Result<IntType, Problem> {
        let at = self.at;
        match self.number()? {
            0 => {
                let at = self.at;
                let width = self.number()?;
                check_width(width, Field::Row).map_err(|fault| problem_at(fault, at))?;
                debug_assert!(width <= MAX_WIDTH);
                Ok(IntType { width: width as u16, coded: false })
            }
            code @ 1..=6 => Ok(IntType { width: IntType::CODED[code as usize - 1], coded: true }),
            other => Err(problem(Reason::Type, at, format!("no type has the code {other}; 0 to 6 are possible"))),
        }
    }

    fn lanes(&mut self) -> Result<u16, Problem> {
        let at = self.at;
        match self.number()? {
            lanes @ (2 | 4 | 8 | 16 | 32 | 64 | 128) => Ok(lanes as u16),
            other => {
                let message = format!("{other} lanes; 2, 4, 8, 16, 32, 64 and 128 are possible");
                Err(problem(Reason::Lanes, at, message))
            }
        }
    }

    fn kind(&mut self) -> Result<File, Problem> {
        let at = self.at;
        match self.number()? {
            0 => Ok(File::R),
            1 => Ok(File::X),
            2 => Ok(File::M),
            other => {
                Err(problem(Reason::Kind, at, format!("no port is of register file {other}; 0 to 2 are possible")))
            }
        }
    }

    fn input(&mut self, builder: &mut Builder) -> Result<(), Problem> {
        let name_at = self.at;
        let name = self.name()?;
        let file = self.kind()?;
        let type_at = self.at;
        let ty = match file {
            File::X => {
                let lanes = self.lanes()?;
                PortType::X(lanes, self.int_type()?)
            }
            File::M => {
                let lanes = self.number()?;
                check_mask_lanes(lanes, Field::Row).map_err(|fault| problem_at(fault, type_at))?;
                PortType::M(lanes as u16)
            }
            File::R | File::A => PortType::R(self.int_type()?),
        };
        builder.input(name, ty).map_err(|fault| {
            let at = if fault.field == Field::Name { name_at } else { type_at };
            problem_at(fault, at)
        })
    }

    fn output(&mut self, builder: &mut Builder) -> Result<(), Problem> {
        let name_at = self.at;
        let name = self.name()?;
        let file = self.kind()?;
        let delta_at = self.at;
        let value = self.delta(file, builder)?;
        builder.output(name, file, value).map_err(|fault| {
            let at = if fault.field == Field::Name { name_at } else { delta_at };
            problem_at(fault, at)
        })
    }

    /// Parses a delta; returns the number of the value that it refers to.
    fn delta(&mut self, file: File, builder: &Builder) -> Result<u32, Problem> {
        let at = self.at;
        let delta = self.number()?;
        let count = builder.count(file) as u64;
        if delta == 0 || delta > count {
            let message = format!("delta {delta}; {count} values are there before");
            return Err(problem(Reason::Delta, at, message));
        }
        Ok((count - delta) as u32)
    }

    fn operation(&mut self, builder: &mut Builder, args: &mut Vec<Arg>) -> Result<(), Problem> {
        let row_at = self.at;
        let code = self.number()?;
        let Some(row) = usize::try_from(code).ok().and_then(|code| ROWS.get(code)) else {
            let message = format!("no operation has the code {code}; 0 to 280 are possible");
            return Err(problem(Reason::Row, row_at, message));
        };
        if row.is_refused() {
            return Err(problem_at(refused(row), row_at));
        }
        let params = self.params(row)?;
        args.clear();
        for (k, letter) in row.operands().iter().enumerate() {
            self.operands_at[k] = self.at;
            let arg = self.operand(row, *letter, builder)?;
            args.push(arg);
        }
        builder.operation(code as u16, params, args).map_err(|fault| {
            let at = match fault.field {
                Field::Param(k) => self.params_at[k],
                Field::Operand(k) => self.operands_at[k],
                Field::Row | Field::Name | Field::Value => row_at,
            };
            problem_at(fault, at)
        })
    }

    fn params(&mut self, row: &Row) -> Result<Params, Problem> {
        let mut params = Params::NONE;
        let mut types = 0;
        for (k, letter) in row.suffix.bytes().enumerate() {
            self.params_at[k] = self.at;
            match letter {
                b'I' => {
                    params.types[types] = self.int_type()?;
                    types += 1;
                }
                b'V' => params.lanes = self.lanes()?,
                b'L' => match self.number()? {
                    scope @ (0 | 1) => params.scope = scope as u8,
                    other => {
                        let message = format!("scope {other}; 0 is local, 1 is global");
                        return Err(problem(Reason::Scope, self.params_at[k], message));
                    }
                },
                b'N' => params.number = self.number()?,
                _ => {}
            }
        }
        Ok(params)
    }

    fn operand(&mut self, row: &Row, letter: u8, builder: &Builder) -> Result<Arg, Problem> {
        if let Some(file) = File::from_letter(letter) {
            return self.delta(file, builder).map(Arg::Value);
        }
        let at = self.at;
        match letter {
            b'i' => self.immediate(row.has_signed_immediate()),
            b'c' => {
                let code = self.number()?;
                let no_code = |_| problem(Reason::Cmp, at, format!("no comparison has the code {code}"));
                u8::try_from(code).map(Arg::Cmp).map_err(no_code)
            }
            b'o' => {
                let order = self.number()?;
                let above = |_| problem(Reason::Order, at, format!("memory order {order} is above 15"));
                u8::try_from(order).map(Arg::Order).map_err(above)
            }
            b'l' => self.name().map(Arg::bytes),
            _ => self.string().map(Arg::bytes),
        }
    }
}

/// Returns a program in the byte format.
pub fn write(program: &Program) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend([0, 0]);
    put(&mut out, program.inputs().len() as u64);
    for input in program.inputs() {
        put_bytes(&mut out, input.name.as_bytes());
        match input.ty {
            PortType::R(ty) => {
                out.push(0);
                put_type(&mut out, ty);
            }
            PortType::X(lanes, ty) => {
                out.push(1);
                put(&mut out, lanes.into());
                put_type(&mut out, ty);
            }
            PortType::M(lanes) => {
                out.push(2);
                put(&mut out, lanes.into());
            }
        }
    }
    put(&mut out, program.ops().len() as u64);
    let mut counts = Counts::from_inputs(program);
    for op in program.ops() {
        put_operation(&mut out, program, op, &counts);
        if let Some((file, _)) = op.result() {
            *counts.count_mut(file) += 1;
        }
    }
    put(&mut out, program.outputs().len() as u64);
    for output in program.outputs() {
        put_bytes(&mut out, output.name.as_bytes());
        out.push(match output.file {
            File::X => 1,
            File::M => 2,
            File::R | File::A => 0,
        });
        put(&mut out, u64::from(*counts.count_mut(output.file) - output.value));
    }
    out
}

/// Number of values of each register file so far.
struct Counts([u32; 4]);

impl Counts {
    fn from_inputs(program: &Program) -> Counts {
        let mut counts = Counts([0; 4]);
        for input in program.inputs() {
            *counts.count_mut(input.ty.file()) += 1;
        }
        counts
    }

    fn count_mut(&mut self, file: File) -> &mut u32 {
        &mut self.0[file as usize]
    }
}

fn put_operation(out: &mut Vec<u8>, program: &Program, op: &super::program::Operation, counts: &Counts) {
    let row = op.row();
    put(out, op.code().into());
    let params = op.params();
    let mut types = params.types.iter();
    for letter in row.suffix.bytes() {
        match letter {
            b'I' => put_type(out, *types.next().unwrap_or(&params.types[0])),
            b'V' => put(out, params.lanes.into()),
            b'L' => put(out, params.scope.into()),
            b'N' => put(out, params.number),
            _ => {}
        }
    }
    for (letter, arg) in row.operands().iter().zip(program.args(op)) {
        match arg {
            Arg::Value(value) => {
                let file = File::from_letter(*letter).unwrap_or(File::R);
                put(out, u64::from(counts.0[file as usize] - value));
            }
            Arg::Imm(_) | Arg::Wide(_) if row.has_signed_immediate() => put_signed(out, &arg.integer()),
            Arg::Imm(_) | Arg::Wide(_) => put_unsigned(out, &arg.integer()),
            Arg::Cmp(code) | Arg::Order(code) => out.push(*code),
            Arg::Bytes(bytes) => put_bytes(out, bytes),
        }
    }
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn put_type(out: &mut Vec<u8>, ty: IntType) {
    match IntType::CODED.iter().position(|width| ty.coded && *width == ty.width) {
        Some(code) => out.push(code as u8 + 1),
        None => {
            out.push(0);
            put(out, ty.width.into());
        }
    }
}

fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_unsigned(out: &mut Vec<u8>, value: &BigInt) {
    let groups = value.magnitude().to_radix_le(128);
    put_groups(out, groups);
}

fn put_signed(out: &mut Vec<u8>, value: &BigInt) {
    // Width of the value in two's complement, including the sign bit.
    let bits = if value.sign() == num_bigint::Sign::Minus { (-value - 1u32).bits() } else { value.bits() } + 1;
    let len = bits.div_ceil(7);
    let modulus = BigInt::from(1) << (7 * len);
    let pattern = if value.sign() == num_bigint::Sign::Minus { value + modulus } else { value.clone() };
    let mut groups = pattern.magnitude().to_radix_le(128);
    groups.resize(len as usize, 0);
    put_groups(out, groups);
}

fn put_groups(out: &mut Vec<u8>, mut groups: Vec<u8>) {
    let last = groups.len() - 1;
    for group in &mut groups[..last] {
        *group |= 0x80;
    }
    out.extend(groups);
}
