//! Reference interpreter: sections 5 and 6 of `docs/llvlir.md`, line by line, in integers of any size.
//!
//! The interpreter depends neither on ALIR nor on the lowering. A value is a bit pattern, a natural number below `2^W`.

use super::program::{Arg, File, Operation, Program, ValueType};
use super::rows::{Direction, Lane, Meaning, Sign};
use num_bigint::{BigInt, BigUint};
use num_traits::{One, ToPrimitive, Zero};

/// A value of one of the four register files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Bit pattern of an integer.
    R(BigUint),
    /// Bit pattern of each lane of a vector.
    X(Vec<BigUint>),
    /// Bits of a mask.
    M(Vec<bool>),
    /// An address: a table, and an unbounded index into it.
    A(u32, BigInt),
}

/// All values of a run, by register file and number.
#[derive(Clone, Debug, Default)]
pub struct Values([Vec<Value>; 4]);

impl Values {
    /// Returns the value of a register.
    pub fn get(&self, file: File, value: u32) -> &Value {
        &self.0[file as usize][value as usize]
    }

    fn push(&mut self, file: File, value: Value) {
        self.0[file as usize].push(value);
    }

    fn r(&self, arg: &Arg) -> &BigUint {
        match self.get(File::R, arg.value()) {
            Value::R(pattern) => pattern,
            other => unreachable!("{other:?} in file r"),
        }
    }

    fn x(&self, arg: &Arg) -> &[BigUint] {
        match self.get(File::X, arg.value()) {
            Value::X(lanes) => lanes,
            other => unreachable!("{other:?} in file x"),
        }
    }

    fn m(&self, arg: &Arg) -> &[bool] {
        match self.get(File::M, arg.value()) {
            Value::M(bits) => bits,
            other => unreachable!("{other:?} in file m"),
        }
    }

    fn a(&self, arg: &Arg) -> (u32, &BigInt) {
        match self.get(File::A, arg.value()) {
            Value::A(table, index) => (*table, index),
            other => unreachable!("{other:?} in file a"),
        }
    }
}

/// Runs the program on one sample with an integer for each element of the input port; each integer is wrapped to the
/// type of its element. Returns an integer for each element of the output port, in two's complement; bits of masks are
/// 0 or 1.
///
/// # Panics
/// If there are not as many inputs as elements.
pub fn run(program: &Program, inputs: &[BigInt]) -> Vec<BigInt> {
    outputs(program, &values(program, inputs))
}

/// Runs the program on one sample, and returns all values.
///
/// # Panics
/// As [`run`].
pub fn values(program: &Program, inputs: &[BigInt]) -> Values {
    let mut values = Values::default();
    let mut elements = inputs.iter();
    for input in program.inputs() {
        let ty = program.input_type(input);
        let (count, width) = ty.elements();
        let mut patterns = elements.by_ref().take(count).map(|element| wrap(element, width)).collect::<Vec<_>>();
        assert_eq!(patterns.len(), count, "an input for each element");
        let value = match ty {
            ValueType::R(_) => Value::R(patterns.pop().unwrap_or_default()),
            ValueType::M(_) => Value::M(patterns.iter().map(|bit| !bit.is_zero()).collect()),
            ValueType::X(..) | ValueType::A(_) => Value::X(patterns),
        };
        values.push(input.ty.file(), value);
    }
    assert!(elements.next().is_none(), "an input for each element");
    for op in program.ops() {
        if let Some((file, _)) = op.result() {
            let value = result(program, op, &values);
            values.push(file, value);
        }
    }
    values
}

/// Returns the elements of the output port.
pub fn outputs(program: &Program, values: &Values) -> Vec<BigInt> {
    let mut all = Vec::new();
    for output in program.outputs() {
        all.extend(elements(values.get(output.file, output.value), program.output_type(output)));
    }
    all
}

/// Returns the elements of a value on a port; for an address, its index.
pub fn elements(value: &Value, ty: ValueType) -> Vec<BigInt> {
    let (_, width) = ty.elements();
    match value {
        Value::R(pattern) => vec![signed(pattern, width)],
        Value::X(lanes) => lanes.iter().map(|lane| signed(lane, width)).collect(),
        Value::M(bits) => bits.iter().map(|bit| BigInt::from(u8::from(*bit))).collect(),
        Value::A(_, index) => vec![index.clone()],
    }
}

/// Returns `2^width`.
fn modulus(width: u32) -> BigUint {
    BigUint::one() << width
}

/// Returns an integer modulo `2^width`.
fn wrap(value: &BigInt, width: u32) -> BigUint {
    let modulus = BigInt::from(modulus(width));
    let low = ((value % &modulus) + &modulus) % &modulus;
    low.to_biguint().unwrap_or_default()
}

/// Returns the value of a bit pattern in two's complement.
fn signed(pattern: &BigUint, width: u32) -> BigInt {
    let value = BigInt::from(pattern.clone());
    if pattern.bit(u64::from(width) - 1) { value - BigInt::from(modulus(width)) } else { value }
}

fn read(pattern: &BigUint, width: u32, sign: Sign) -> BigInt {
    match sign {
        Sign::Signed => signed(pattern, width),
        Sign::Unsigned => BigInt::from(pattern.clone()),
    }
}

/// Returns the result of an operation that has one.
fn result(program: &Program, op: &Operation, values: &Values) -> Value {
    let row = op.row();
    let args = program.args(op);
    let width = op.width();
    let lanes = usize::from(op.params().lanes);
    match row.meaning {
        Meaning::Lanes(lane) if row.suffix.starts_with('V') => lane_by_lane(op, lane, args, values),
        Meaning::Lanes(lane) => Value::R(scalar(program, op, lane, args, values)),
        Meaning::MaskFromBits => {
            let ValueType::R(bits) = program.value_type(File::R, args[0].value()) else { unreachable!("file r") };
            Value::M((0..u64::from(bits)).map(|k| values.r(&args[0]).bit(k)).collect())
        }
        Meaning::FirstLane => {
            let mut all = vec![BigUint::ZERO; lanes];
            all[0] = values.r(&args[0]).clone();
            Value::X(all)
        }
        Meaning::ReadFirstLane => Value::R(values.x(&args[0])[0].clone()),
        Meaning::WideMul(sign) => {
            let (a, b) = (values.x(&args[0]), values.x(&args[1]));
            let product = |k: usize| wrap(&(read(&a[k], width, sign) * read(&b[k], width, sign)), 2 * width);
            masked((0..lanes).map(product), values.m(&args[2]))
        }
        Meaning::PermutePacked(bits) => {
            let (a, indices) = (values.x(&args[0]), values.r(&args[1]));
            let index = |k: usize| (indices >> (k * bits as usize)) & (modulus(bits) - 1u32);
            masked((0..lanes).map(|k| lane_at(a, &index(k))), values.m(&args[2]))
        }
        Meaning::Permute => {
            let (a, b) = (values.x(&args[0]), values.x(&args[1]));
            masked((0..lanes).map(|k| lane_at(a, &b[k])), values.m(&args[2]))
        }
        Meaning::LaneShift { towards_zero, round } => {
            let a = values.x(&args[0]);
            let count = &values.x(&args[1])[0];
            Value::X((0..lanes).map(|k| shifted_lane(a, k, count, towards_zero, round)).collect())
        }
        Meaning::Zip { step, at } => {
            let (a, b) = (values.x(&args[0]), values.x(&args[1]));
            let mut all = vec![BigUint::ZERO; lanes * step];
            for k in 0..lanes {
                all[step * k + at] = a[k].clone();
                all[step * k + at + 1] = b[k].clone();
            }
            Value::X(all)
        }
        Meaning::Unzip { step, at } => {
            let both = values.x(&args[0]).iter().chain(values.x(&args[1]));
            Value::X(both.skip(at).step_by(step).cloned().collect())
        }
        Meaning::PairSwap => {
            let a = values.x(&args[0]);
            masked((0..lanes).map(|k| a[k ^ 1].clone()), values.m(&args[1]))
        }
        Meaning::PairSum { subtract } => {
            let a = values.x(&args[0]);
            let pair = |k: usize| {
                let (low, high) = (BigInt::from(a[2 * k].clone()), BigInt::from(a[2 * k + 1].clone()));
                wrap(&if subtract { low - high } else { low + high }, width)
            };
            masked((0..lanes / 2).map(pair), values.m(&args[1]))
        }
        Meaning::RunningSum => {
            let mut sum = BigUint::ZERO;
            let sums = values.x(&args[0]).iter().map(|lane| {
                sum = (&sum + lane) % modulus(width);
                sum.clone()
            });
            masked(sums.collect::<Vec<_>>().into_iter(), values.m(&args[1]))
        }
        Meaning::Pointer => {
            let ValueType::A(table) = program.value_type(File::A, op.result().map_or(0, |(_, value)| value)) else {
                unreachable!("file a")
            };
            Value::A(table, BigInt::ZERO)
        }
        Meaning::MovePointer { back } => {
            let (table, index) = values.a(&args[0]);
            let step = signed(values.r(&args[1]), width);
            Value::A(table, if back { index - step } else { index + step })
        }
        Meaning::Load => {
            let (table, index) = values.a(&args[0]);
            Value::R(element(program, table, &(index + args[1].integer())))
        }
        Meaning::Gather => {
            let (table, index) = values.a(&args[0]);
            let second = u32::from(op.params().types[1].width);
            let offsets = values.x(&args[1]);
            let load = |k: usize| element(program, table, &(index + signed(&offsets[k], second)));
            masked((0..lanes).map(load), values.m(&args[3]))
        }
        Meaning::Refused
        | Meaning::Section
        | Meaning::Label
        | Meaning::Text { .. }
        | Meaning::Word
        | Meaning::Array => unreachable!("{} has no result", row.title()),
    }
}

/// Returns the lanes, with 0 where the mask is clear.
fn masked(lanes: impl Iterator<Item = BigUint>, mask: &[bool]) -> Value {
    Value::X(lanes.zip(mask).map(|(lane, on)| if *on { lane } else { BigUint::ZERO }).collect())
}

/// Returns lane `index`, or 0 if it does not exist.
fn lane_at(lanes: &[BigUint], index: &BigUint) -> BigUint {
    index.to_usize().and_then(|index| lanes.get(index)).cloned().unwrap_or_default()
}

/// Returns lane `k` after a shift or rotation of the lanes by `count` places.
fn shifted_lane(a: &[BigUint], k: usize, count: &BigUint, towards_zero: bool, round: bool) -> BigUint {
    let lanes = a.len();
    if round {
        let places = (count % lanes).to_usize().unwrap_or_default();
        let from = if towards_zero { k + places } else { k + lanes - places };
        return a[from % lanes].clone();
    }
    let Some(places) = count.to_usize().filter(|places| *places < lanes) else { return BigUint::ZERO };
    let from = if towards_zero { Some(k + places) } else { k.checked_sub(places) };
    from.and_then(|from| a.get(from)).cloned().unwrap_or_default()
}

/// Returns an element of a table, or 0 for an index outside of it.
fn element(program: &Program, table: u32, index: &BigInt) -> BigUint {
    let bytes = index.to_usize().and_then(|index| program.tables()[table as usize].element(index));
    bytes.map(BigUint::from_bytes_le).unwrap_or_default()
}

/// Returns an immediate as a bit pattern.
fn immediate(arg: &Arg, width: u32) -> BigUint {
    let value = arg.integer();
    value.to_biguint().unwrap_or_else(|| wrap(&value, width))
}

fn scalar(program: &Program, op: &Operation, lane: Lane, args: &[Arg], values: &Values) -> BigUint {
    let mut operands = Vec::with_capacity(4);
    let mut comparison = 0;
    for (letter, arg) in op.row().operands().iter().zip(args) {
        match letter {
            b'r' => operands.push(values.r(arg).clone()),
            b'c' => comparison = arg.comparison(),
            _ => operands.push(immediate(arg, op.width())),
        }
    }
    let result = op.result().map_or(0, |(_, value)| value);
    let ValueType::R(width) = program.value_type(File::R, result) else { unreachable!("file r") };
    let from = u32::from(op.params().types[1].width);
    compute(lane, width.into(), from, comparison, &operands)
}

fn lane_by_lane(op: &Operation, lane: Lane, args: &[Arg], values: &Values) -> Value {
    let lanes = usize::from(op.params().lanes);
    let width = op.width();
    let from = u32::from(op.params().types[1].width);
    let letters = op.row().operands();
    let mut comparison = 0;
    // Without a mask all lanes are enabled.
    let mut mask = vec![true; lanes];
    let mut columns: Vec<Vec<BigUint>> = vec![Vec::with_capacity(4); lanes];
    for (letter, arg) in letters.iter().zip(args) {
        for (k, column) in columns.iter_mut().enumerate() {
            match letter {
                b'x' => column.push(values.x(arg)[k].clone()),
                b'r' => column.push(values.r(arg).clone()),
                b'i' => column.push(immediate(arg, width)),
                b'c' => comparison = arg.comparison(),
                _ => mask[k] = values.m(arg)[k],
            }
        }
    }
    match lane {
        // For these rows the mask is an operand, and all lanes are enabled.
        Lane::AddCarry | Lane::SubBorrow => {
            for (column, bit) in columns.iter_mut().zip(&mask) {
                column.push(BigUint::from(u8::from(*bit)));
            }
            Value::X(columns.iter().map(|column| compute(lane, width, from, 0, column)).collect())
        }
        Lane::Select => {
            let choose = |(column, bit): (&Vec<BigUint>, &bool)| column[usize::from(!*bit)].clone();
            Value::X(columns.iter().zip(&mask).map(choose).collect())
        }
        Lane::Compare => {
            let compare =
                |(column, on): (&Vec<BigUint>, &bool)| *on && compares(comparison, width, &column[0], &column[1]);
            Value::M(columns.iter().zip(&mask).map(compare).collect())
        }
        _ => masked(columns.iter().map(|column| compute(lane, width, from, comparison, column)), &mask),
    }
}

/// Returns `true` if a comparison holds. Bits 0 to 2 of `code` select the relations equal, less and greater; bit 3
/// selects unsigned operands.
fn compares(code: u8, width: u32, a: &BigUint, b: &BigUint) -> bool {
    let sign = if code & 8 == 0 { Sign::Signed } else { Sign::Unsigned };
    let relation = match read(a, width, sign).cmp(&read(b, width, sign)) {
        std::cmp::Ordering::Equal => 1,
        std::cmp::Ordering::Less => 2,
        std::cmp::Ordering::Greater => 4,
    };
    code & relation != 0
}

/// Computes one lane of `width` bits; `from` is the width of the second type.
fn compute(lane: Lane, width: u32, from: u32, comparison: u8, operands: &[BigUint]) -> BigUint {
    let a = operands.first().cloned().unwrap_or_default();
    let b = operands.get(1).cloned().unwrap_or_default();
    let c = operands.get(2).cloned().unwrap_or_default();
    let natural = |value: &BigUint| BigInt::from(value.clone());
    let ones = modulus(width) - 1u32;
    let not = |value: &BigUint| &ones ^ value;
    let carry = BigInt::from(u8::from(c.bit(0)));
    match lane {
        Lane::Move => a % modulus(width),
        Lane::Add => wrap(&(natural(&a) + natural(&b)), width),
        Lane::Sub => wrap(&(natural(&a) - natural(&b)), width),
        Lane::AddCarry => wrap(&(natural(&a) + natural(&b) + carry), width),
        Lane::SubBorrow => wrap(&(natural(&a) - natural(&b) - carry), width),
        Lane::And => a & b,
        Lane::Nand => not(&(a & b)),
        Lane::AndNot => a & not(&b),
        Lane::Or => a | b,
        Lane::Nor => not(&(a | b)),
        Lane::OrNot => a | not(&b),
        Lane::Xor => a ^ b,
        Lane::Xnor => not(&(a ^ b)),
        Lane::Neg => wrap(&-natural(&a), width),
        Lane::Not => not(&a),
        Lane::Min(sign) => {
            if read(&b, width, sign) < read(&a, width, sign) {
                b
            } else {
                a
            }
        }
        Lane::Max(sign) => {
            if read(&b, width, sign) > read(&a, width, sign) {
                b
            } else {
                a
            }
        }
        Lane::Mul => (a * b) % modulus(width),
        Lane::MulHigh(sign) => wrap(&((read(&a, width, sign) * read(&b, width, sign)) >> width), width),
        Lane::Div(sign) => divide(&read(&a, width, sign), &read(&b, width, sign), width).0,
        Lane::Rem(sign) => divide(&read(&a, width, sign), &read(&b, width, sign), width).1,
        Lane::Shift(direction) => shift(&a, width, &b, direction),
        Lane::Funnel(direction) => {
            let both = shift(&((a << width) | b), 2 * width, &c, direction);
            if direction == Direction::Left { both >> width } else { both % modulus(width) }
        }
        Lane::Compare => BigUint::from(u8::from(compares(comparison, width, &a, &b))),
        Lane::Select => {
            if a.is_zero() {
                c
            } else {
                b
            }
        }
        Lane::ByteSwap => {
            let mut bytes = a.to_bytes_le();
            bytes.resize(width as usize / 8, 0);
            BigUint::from_bytes_be(&bytes)
        }
        Lane::TrailingZeros => BigUint::from(a.trailing_zeros().unwrap_or(width.into())) % modulus(width),
        Lane::LeadingZeros => BigUint::from(u64::from(width) - a.bits()) % modulus(width),
        Lane::Ones => BigUint::from(a.count_ones()) % modulus(width),
        Lane::BitReverse => {
            let mut reversed = BigUint::ZERO;
            for k in 0..u64::from(width) {
                reversed.set_bit(u64::from(width) - 1 - k, a.bit(k));
            }
            reversed
        }
        Lane::Rotate(direction) => {
            let places = (&b % width).to_u32().unwrap_or_default();
            let left = if direction == Direction::Left { places } else { (width - places) % width };
            ((&a << left) | (&a >> (width - left))) % modulus(width)
        }
        Lane::Extract => {
            let count = c.to_u32().unwrap_or(u32::MAX).min(width);
            (a >> b.to_u32().unwrap_or(u32::MAX)) % modulus(count)
        }
        Lane::Deposit => {
            let count = c.to_u32().unwrap_or(u32::MAX).min(width);
            ((a % modulus(count)) << b.to_u32().unwrap_or(u32::MAX).min(width)) % modulus(width)
        }
        Lane::Extend(Sign::Signed) => wrap(&signed(&a, from), width),
        Lane::Extend(Sign::Unsigned) => a,
        Lane::Truncate => a % modulus(width),
    }
}

/// Returns the quotient, truncated towards zero, and the remainder; for divisor 0 all ones and the dividend.
fn divide(a: &BigInt, b: &BigInt, width: u32) -> (BigUint, BigUint) {
    if b.is_zero() {
        return (modulus(width) - 1u32, wrap(a, width));
    }
    (wrap(&(a / b), width), wrap(&(a % b), width))
}

/// Shifts a bit pattern by a count of any size.
fn shift(a: &BigUint, width: u32, count: &BigUint, direction: Direction) -> BigUint {
    let places = count.to_u32().unwrap_or(u32::MAX).min(width);
    match direction {
        Direction::Right => a >> places,
        Direction::RightSigned => wrap(&(signed(a, width) >> places), width),
        Direction::Left => (a << places) % modulus(width),
    }
}
