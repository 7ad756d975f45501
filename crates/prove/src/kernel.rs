//! Reference design of an integer kernel: each row as section 6 of `docs/llvlir.md` defines it. Hardware is proved
//! against this design.
//!
//! This module shares no code with the lowering: words have the widths of the program, and operations are those of the
//! elaborated form. Signals are named after values of the lowered program that have the same samples; the proof checks
//! each name, which is only a hint.

use alir_core::ir::Model;
use alir_core::ir::draw_inputs;
use alir_core::num::SplitMix;
use alir_hdl::{Binary, Compare, NodeId, Reduce, Rtl, Shift};
use alir_interp::{LookupMiss, Step, golden_steps};
use alir_llvlir::Program;
use alir_llvlir::golden;
use alir_llvlir::program::{Arg, File, Operation, ValueType};
use alir_llvlir::rows::{Direction, Lane, Meaning, Sign};
use num_bigint::{BigInt, BigUint};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Number of samples by which values are recognised.
const SAMPLES: usize = 16;

/// Returns the kernel as a combinational design with the ports `model_inp` and `model_out`. Its signals are named after
/// operations of `like`.
pub fn rtl(program: &Program, like: &Model) -> Rtl {
    let mut w = Writer {
        program,
        rtl: Rtl::new("kernel".into(), vec!["latency: 0".into()]),
        r: Vec::new(),
        x: Vec::new(),
        m: Vec::new(),
        a: Vec::new(),
        names: Names::new(program, like),
    };
    w.inputs();
    for op in program.ops() {
        w.operation(op);
    }
    w.outputs();
    w.rtl
}

/// Sample values of each value, and the operations of the lowered program by their sample values.
struct Names {
    values: Vec<golden::Values>,
    shown: FxHashMap<Vec<BigInt>, u32>,
}

impl Names {
    fn new(program: &Program, like: &Model) -> Names {
        let mut rng = SplitMix::new(0x6b_65_72_6e);
        let mut values = Vec::new();
        let mut codes: Vec<Vec<BigInt>> = vec![Vec::with_capacity(SAMPLES); like.nodes().len()];
        for _ in 0..SAMPLES {
            let sample = draw_inputs(like, &mut rng);
            values.push(golden::values(program, &sample));
            // A lookup outside its table gives zero, so the evaluation cannot fail.
            let _ = golden_steps(like, &sample, LookupMiss::Zero, |step| {
                if let Step::Op { id, code, .. } = step {
                    codes[id.index()].push(code.clone());
                }
            });
        }
        let mut shown = FxHashMap::default();
        for (index, codes) in codes.into_iter().enumerate() {
            shown.entry(codes).or_insert(index as u32);
        }
        Names { values, shown }
    }

    /// Returns the signal name of a lane of a value, whose pattern has the width of `ty`.
    fn name(&self, file: File, value: u32, lane: usize, ty: ValueType) -> String {
        let (_, width) = ty.elements();
        let signed: Vec<BigInt> =
            self.values.iter().map(|values| golden::elements(values.get(file, value), ty).swap_remove(lane)).collect();
        let modulus = BigInt::from(1) << width;
        let natural =
            signed.iter().map(|v| if *v < BigInt::ZERO { v + &modulus } else { v.clone() }).collect::<Vec<_>>();
        match self.shown.get(&signed).or_else(|| self.shown.get(&natural)) {
            Some(index) => format!("v{index}"),
            None => format!("kernel_{}{value}_{lane}", file.prefix().trim_start_matches('%')),
        }
    }
}

struct Writer<'a> {
    program: &'a Program,
    rtl: Rtl,
    r: Vec<NodeId>,
    x: Vec<Vec<NodeId>>,
    m: Vec<Vec<NodeId>>,
    /// Table references: each a table, and its index in two's complement.
    a: Vec<(u32, NodeId)>,
    names: Names,
}

/// Operand of a lane.
type Word = NodeId;

impl Writer<'_> {
    fn inputs(&mut self) {
        let widths: Vec<u32> = self.program.input_elements().iter().map(|e| e.width).collect();
        let all: u32 = widths.iter().sum();
        if all == 0 {
            return;
        }
        let port = self.rtl.add_signal("model_inp".into(), all, 0);
        self.rtl.signal_mut(port).input = true;
        self.rtl.inputs.push(port);
        let bits = self.rtl.read(port);
        let mut at = 0;
        for input in self.program.inputs() {
            let ty = self.program.input_type(input);
            let (count, width) = ty.elements();
            let lanes: Vec<NodeId> = (0..count as u32).map(|k| self.rtl.slice(bits, at + k * width, width)).collect();
            at += count as u32 * width;
            match ty {
                ValueType::R(_) => self.r.push(lanes[0]),
                ValueType::X(..) => self.x.push(lanes),
                ValueType::M(_) => self.m.push(lanes),
                ValueType::A(_) => {}
            }
        }
    }

    fn outputs(&mut self) {
        let mut parts = Vec::new();
        for output in self.program.outputs() {
            let at = output.value as usize;
            match output.file {
                File::X => parts.extend_from_slice(&self.x[at]),
                File::M => parts.extend_from_slice(&self.m[at]),
                File::R | File::A => parts.push(self.r[at]),
            }
        }
        let all = self.rtl.concat(&parts);
        let port = self.rtl.add_signal("model_out".into(), self.rtl.width(all), 0);
        self.rtl.signal_mut(port).wires.push((0, all));
        self.rtl.outputs.push(port);
    }

    /// Turns a word into a named signal.
    fn named(&mut self, word: NodeId, file: File, value: u32, lane: usize) -> NodeId {
        let ty = self.program.value_type(file, value);
        let name = self.names.name(file, value, lane, ty);
        let width = self.rtl.width(word);
        let signal = self.rtl.add_signal(name, width, 0);
        self.rtl.signal_mut(signal).wires.push((0, word));
        self.rtl.read(signal)
    }

    fn zero(&mut self, width: u32) -> NodeId {
        self.rtl.number(0, width)
    }

    /// Returns an integer, reduced to the width.
    fn integer(&mut self, value: &BigInt, width: u32) -> NodeId {
        let modulus = BigInt::from(1) << width;
        let pattern = ((value % &modulus) + &modulus) % &modulus;
        self.rtl.constant(pattern.to_biguint().unwrap_or_default(), width)
    }

    fn operation(&mut self, op: &Operation) {
        let Some((file, value)) = op.result() else { return };
        let args = self.program.args(op);
        match file {
            File::A => {
                let address = self.address(op, args, value);
                self.a.push(address);
            }
            File::R => {
                let word = self.scalar(op, args, value);
                let word = self.named(word, file, value, 0);
                self.r.push(word);
            }
            File::M => {
                let bits = self.mask(op, args);
                let bits = bits.into_iter().enumerate().map(|(k, bit)| self.named(bit, file, value, k)).collect();
                self.m.push(bits);
            }
            File::X => {
                let lanes = self.vector(op, args);
                let lanes = lanes.into_iter().enumerate().map(|(k, lane)| self.named(lane, file, value, k)).collect();
                self.x.push(lanes);
            }
        }
    }

    fn address(&mut self, op: &Operation, args: &[Arg], value: u32) -> (u32, NodeId) {
        let Meaning::MovePointer { back } = op.row().meaning else {
            let ValueType::A(table) = self.program.value_type(File::A, value) else { unreachable!("file a") };
            return (table, self.zero(1));
        };
        let (table, index) = self.a[args[0].value() as usize];
        let step = self.r[args[1].value() as usize];
        (table, self.exact(if back { Binary::Sub } else { Binary::Add }, index, step))
    }

    /// Returns the sum or difference of two's complement numbers, one bit wider than both.
    fn exact(&mut self, op: Binary, a: NodeId, b: NodeId) -> NodeId {
        let width = self.rtl.width(a).max(self.rtl.width(b)) + 1;
        let (a, b) = (self.rtl.resize(a, width, true), self.rtl.resize(b, width, true));
        self.rtl.binary(op, a, b)
    }

    /// Returns the element of a table at an index in two's complement.
    fn element(&mut self, table: u32, index: NodeId) -> NodeId {
        let table = &self.program.tables()[table as usize];
        let bits = usize::BITS - table.len().leading_zeros();
        // With this width a negative index, as an unsigned address, is beyond the table.
        let width = self.rtl.width(index).max(bits) + 1;
        let address = self.rtl.resize(index, width, true);
        let entries = (0..table.len()).filter_map(|k| table.element(k)).map(BigUint::from_bytes_le).collect();
        let missing = self.zero(table.width());
        self.rtl.table(Arc::new(entries), address, missing)
    }

    fn scalar(&mut self, op: &Operation, args: &[Arg], value: u32) -> NodeId {
        let ValueType::R(width) = self.program.value_type(File::R, value) else { unreachable!("file r") };
        match op.row().meaning {
            Meaning::ReadFirstLane => self.x[args[0].value() as usize][0],
            Meaning::Load => {
                let (table, index) = self.a[args[0].value() as usize];
                let offset = self.integer(&args[1].integer(), 65);
                let index = self.exact(Binary::Add, index, offset);
                self.element(table, index)
            }
            Meaning::Lanes(lane) => {
                let mut comparison = 0;
                let mut words = Vec::with_capacity(4);
                for (letter, arg) in op.row().operands().iter().zip(args) {
                    match letter {
                        b'r' => words.push(self.r[arg.value() as usize]),
                        b'c' => comparison = arg.comparison(),
                        _ => {
                            let word = self.immediate(arg, op.width());
                            words.push(word);
                        }
                    }
                }
                self.lane(lane, width.into(), comparison, &words)
            }
            other => unreachable!("{other:?} gives no integer"),
        }
    }

    /// Returns an immediate with the given width, but at least the 16 bits of a count.
    fn immediate(&mut self, arg: &Arg, width: u32) -> NodeId {
        let value = arg.integer();
        self.integer(&value, width.max(16))
    }

    fn mask(&mut self, op: &Operation, args: &[Arg]) -> Vec<NodeId> {
        if op.row().meaning == Meaning::MaskFromBits {
            let word = self.r[args[0].value() as usize];
            return (0..self.rtl.width(word)).map(|k| self.rtl.slice(word, k, 1)).collect();
        }
        // cmps.VI
        let code = args[0].comparison();
        let (a, b) = (self.x[args[1].value() as usize].clone(), self.x[args[2].value() as usize].clone());
        let mask = self.m[args[3].value() as usize].clone();
        (0..a.len())
            .map(|k| {
                let holds = self.holds(code, a[k], b[k]);
                self.rtl.binary(Binary::And, holds, mask[k])
            })
            .collect()
    }

    fn masked(&mut self, lanes: Vec<NodeId>, mask: &Arg) -> Vec<NodeId> {
        let mask = self.m[mask.value() as usize].clone();
        lanes
            .into_iter()
            .zip(mask)
            .map(|(lane, on)| {
                let zero = self.zero(self.rtl.width(lane));
                self.rtl.mux(on, lane, zero)
            })
            .collect()
    }

    fn vector(&mut self, op: &Operation, args: &[Arg]) -> Vec<NodeId> {
        let count = usize::from(op.params().lanes);
        let width = op.width();
        let x = |this: &Self, k: usize| this.x[args[k].value() as usize].clone();
        match op.row().meaning {
            Meaning::Lanes(lane) => self.lanes(op, lane, args),
            Meaning::FirstLane => {
                let mut all = vec![self.zero(width); count];
                all[0] = self.r[args[0].value() as usize];
                all
            }
            Meaning::WideMul(sign) => {
                let (a, b) = (x(self, 0), x(self, 1));
                let products = (0..count).map(|k| self.product(a[k], b[k], sign)).collect();
                self.masked(products, &args[2])
            }
            Meaning::PermutePacked(bits) => {
                let (a, indices) = (x(self, 0), self.r[args[1].value() as usize]);
                let chosen = (0..count as u32)
                    .map(|k| {
                        let index = self.rtl.slice(indices, k * bits, bits);
                        self.chosen(&a, index)
                    })
                    .collect();
                self.masked(chosen, &args[2])
            }
            Meaning::Permute => {
                let (a, b) = (x(self, 0), x(self, 1));
                let chosen = b.iter().map(|index| self.chosen(&a, *index)).collect();
                self.masked(chosen, &args[2])
            }
            Meaning::LaneShift { towards_zero, round } => {
                let (a, b) = (x(self, 0), x(self, 1));
                let bits = (count as u32).trailing_zeros();
                let places = match round {
                    true => self.rtl.slice(b[0], 0, bits.min(width)),
                    false => b[0],
                };
                (0..count)
                    .map(|lane| {
                        // For each place, the lane that moves to it.
                        let from = |places: usize| match (towards_zero, round) {
                            (true, true) => Some((lane + places) % count),
                            (false, true) => Some((lane + count - places) % count),
                            (true, false) => Some(lane + places).filter(|from| *from < count),
                            (false, false) => lane.checked_sub(places),
                        };
                        let zero = self.zero(width);
                        let comes: Vec<NodeId> = (0..count).map(|places| from(places).map_or(zero, |k| a[k])).collect();
                        self.chosen(&comes, places)
                    })
                    .collect()
            }
            Meaning::Zip { step, at } => {
                let (a, b) = (x(self, 0), x(self, 1));
                let mut all = vec![self.zero(width); count * step];
                for k in 0..count {
                    all[step * k + at] = a[k];
                    all[step * k + at + 1] = b[k];
                }
                all
            }
            Meaning::Unzip { step, at } => {
                let both = [x(self, 0), x(self, 1)].concat();
                both.into_iter().skip(at).step_by(step).collect()
            }
            Meaning::PairSwap => {
                let a = x(self, 0);
                self.masked((0..count).map(|k| a[k ^ 1]).collect(), &args[1])
            }
            Meaning::PairSum { subtract } => {
                let op = if subtract { Binary::Sub } else { Binary::Add };
                let pairs = x(self, 0).chunks_exact(2).map(|pair| self.rtl.binary(op, pair[0], pair[1])).collect();
                self.masked(pairs, &args[1])
            }
            Meaning::RunningSum => {
                let mut sum = self.zero(width);
                let mut sums = Vec::with_capacity(count);
                for lane in x(self, 0) {
                    sum = self.rtl.binary(Binary::Add, sum, lane);
                    sums.push(sum);
                }
                self.masked(sums, &args[1])
            }
            Meaning::Gather => {
                let (table, start) = self.a[args[0].value() as usize];
                let loads = x(self, 1)
                    .into_iter()
                    .map(|offset| {
                        let index = self.exact(Binary::Add, start, offset);
                        self.element(table, index)
                    })
                    .collect();
                self.masked(loads, &args[3])
            }
            other => unreachable!("{other:?} gives no vector"),
        }
    }

    fn lanes(&mut self, op: &Operation, lane: Lane, args: &[Arg]) -> Vec<NodeId> {
        let letters = op.row().operands();
        let count = usize::from(op.params().lanes);
        let mask = letters.iter().position(|letter| *letter == b'm');
        let is_operand = matches!(lane, Lane::AddCarry | Lane::SubBorrow | Lane::Select);
        let mut results = Vec::with_capacity(count);
        for k in 0..count {
            let mut words = Vec::with_capacity(4);
            for (letter, arg) in letters.iter().zip(args) {
                let word = match letter {
                    b'x' => self.x[arg.value() as usize][k],
                    b'r' => self.r[arg.value() as usize],
                    b'm' if is_operand => self.m[arg.value() as usize][k],
                    b'm' => continue,
                    _ => self.immediate(arg, op.width()),
                };
                words.push(word);
            }
            // For vectors the condition is the last operand.
            if lane == Lane::Select {
                words.rotate_right(1);
            }
            results.push(self.lane(lane, op.width(), 0, &words));
        }
        match mask {
            Some(mask) if !is_operand => self.masked(results, &args[mask]),
            _ => results,
        }
    }

    /// Returns the word with index `index`; 0 if there is no such word.
    fn chosen(&mut self, words: &[NodeId], index: NodeId) -> NodeId {
        let bits = self.rtl.width(index);
        let mut chosen = self.zero(self.rtl.width(words[0]));
        for (k, word) in words.iter().enumerate() {
            if bits < usize::BITS && k >> bits != 0 {
                break;
            }
            let number = self.rtl.number(k as u64, bits);
            let here = self.rtl.compare(Compare::Equal, index, number);
            chosen = self.rtl.mux(here, *word, chosen);
        }
        chosen
    }

    /// Returns the whole product.
    fn product(&mut self, a: NodeId, b: NodeId, sign: Sign) -> NodeId {
        let width = 2 * self.rtl.width(a);
        let signed = sign == Sign::Signed;
        let (a, b) = (self.rtl.resize(a, width, signed), self.rtl.resize(b, width, signed));
        self.rtl.binary(Binary::Mul, a, b)
    }

    /// Returns the node that is 1 if a comparison holds.
    fn holds(&mut self, code: u8, a: NodeId, b: NodeId) -> NodeId {
        let less = if code & 8 == 0 { Compare::SignedLess } else { Compare::Less };
        let mut holds = self.zero(1);
        for (bit, relation, x, y) in [(1, Compare::Equal, a, b), (2, less, a, b), (4, less, b, a)] {
            if code & bit != 0 {
                let this = self.rtl.compare(relation, x, y);
                holds = self.rtl.binary(Binary::Or, holds, this);
            }
        }
        holds
    }

    fn lane(&mut self, lane: Lane, width: u32, comparison: u8, words: &[Word]) -> NodeId {
        let a = words[0];
        let b = words.get(1).copied().unwrap_or(a);
        let c = words.get(2).copied().unwrap_or(a);
        let plain = |this: &mut Self, op, x: NodeId, y: NodeId| {
            let y = this.rtl.resize(y, width, false);
            this.rtl.binary(op, x, y)
        };
        match lane {
            Lane::Move | Lane::Truncate | Lane::Extend(Sign::Unsigned) => self.rtl.resize(a, width, false),
            Lane::Extend(Sign::Signed) => self.rtl.resize(a, width, true),
            Lane::Add => plain(self, Binary::Add, a, b),
            Lane::Sub => plain(self, Binary::Sub, a, b),
            Lane::AddCarry | Lane::SubBorrow => {
                let op = if lane == Lane::AddCarry { Binary::Add } else { Binary::Sub };
                let carry = self.rtl.slice(c, 0, 1);
                let first = plain(self, op, a, b);
                plain(self, op, first, carry)
            }
            Lane::And => plain(self, Binary::And, a, b),
            Lane::Or => plain(self, Binary::Or, a, b),
            Lane::Xor => plain(self, Binary::Xor, a, b),
            Lane::Nand | Lane::Nor | Lane::Xnor => {
                let op = match lane {
                    Lane::Nand => Binary::And,
                    Lane::Nor => Binary::Or,
                    _ => Binary::Xor,
                };
                let v = plain(self, op, a, b);
                self.rtl.not(v)
            }
            Lane::AndNot | Lane::OrNot => {
                let op = if lane == Lane::AndNot { Binary::And } else { Binary::Or };
                let not = self.rtl.not(b);
                plain(self, op, a, not)
            }
            Lane::Neg => self.negative(a),
            Lane::Not => self.rtl.not(a),
            Lane::Min(sign) | Lane::Max(sign) => {
                let less = if sign == Sign::Signed { Compare::SignedLess } else { Compare::Less };
                let (x, y) = if matches!(lane, Lane::Min(_)) { (b, a) } else { (a, b) };
                let takes_b = self.rtl.compare(less, x, y);
                self.rtl.mux(takes_b, b, a)
            }
            Lane::Mul => plain(self, Binary::Mul, a, b),
            Lane::MulHigh(sign) => {
                let product = self.product(a, b, sign);
                self.rtl.slice(product, width, width)
            }
            Lane::Div(sign) | Lane::Rem(sign) => self.divided(lane, sign, a, b, width),
            Lane::Shift(direction) => self.shifted(direction, a, b),
            Lane::Funnel(direction) => {
                let both = self.rtl.concat(&[b, a]);
                let moved = self.shifted(direction, both, c);
                self.rtl.slice(moved, if direction == Direction::Left { width } else { 0 }, width)
            }
            Lane::Compare => {
                let holds = self.holds(comparison, a, b);
                self.rtl.resize(holds, width, false)
            }
            Lane::Select => {
                let set = self.rtl.reduce(Reduce::Any, a);
                self.rtl.mux(set, b, c)
            }
            Lane::ByteSwap | Lane::BitReverse => {
                let unit = if lane == Lane::ByteSwap { 8 } else { 1 };
                let parts: Vec<NodeId> = (0..width / unit).rev().map(|k| self.rtl.slice(a, k * unit, unit)).collect();
                self.rtl.concat(&parts)
            }
            Lane::TrailingZeros | Lane::LeadingZeros => {
                let mut count = self.rtl.number(width.into(), width);
                for k in 0..width {
                    // Later lanes override earlier ones, so the order is from the far end to the near end.
                    let (at, zeros) = match lane {
                        Lane::LeadingZeros => (k, width - 1 - k),
                        _ => (width - 1 - k, width - 1 - k),
                    };
                    let bit = self.rtl.slice(a, at, 1);
                    let number = self.rtl.number(zeros.into(), width);
                    count = self.rtl.mux(bit, number, count);
                }
                count
            }
            Lane::Ones => {
                let bits: Vec<NodeId> = (0..width).map(|k| self.rtl.slice(a, k, 1)).collect();
                let bits: Vec<NodeId> = bits.into_iter().map(|bit| self.rtl.resize(bit, width, false)).collect();
                // Groups of six bits first: six inputs are few enough for all assignments wherever the group occurs.
                let mut level: Vec<NodeId> = Vec::new();
                for six in bits.chunks(6) {
                    let sum = six.iter().skip(1).fold(six[0], |sum, bit| self.rtl.binary(Binary::Add, sum, *bit));
                    level.push(sum);
                }
                while level.len() > 1 {
                    level = level
                        .chunks(2)
                        .map(|pair| match pair {
                            [a, b] => self.rtl.binary(Binary::Add, *a, *b),
                            _ => pair[0],
                        })
                        .collect();
                }
                level[0]
            }
            Lane::Rotate(direction) => self.rotated(a, width, b, direction),
            Lane::Extract | Lane::Deposit => {
                let number = |this: &Self, word: NodeId| {
                    let value = this.rtl.as_const(word).and_then(|value| u32::try_from(value).ok());
                    value.unwrap_or_else(|| unreachable!("offset and count are immediates")).min(width)
                };
                let (offset, count) = (number(self, b), number(self, c).min(width - number(self, b)));
                if count == 0 {
                    return self.zero(width);
                }
                if lane == Lane::Extract {
                    let bits = self.rtl.slice(a, offset, count);
                    return self.rtl.resize(bits, width, false);
                }
                let (below, bits) = (self.zero(offset), self.rtl.slice(a, 0, count));
                let moved = self.rtl.concat(&[below, bits]);
                self.rtl.resize(moved, width, false)
            }
        }
    }

    fn negative(&mut self, v: NodeId) -> NodeId {
        let zero = self.zero(self.rtl.width(v));
        self.rtl.binary(Binary::Sub, zero, v)
    }

    fn negative_if(&mut self, set: NodeId, v: NodeId) -> NodeId {
        let negative = self.negative(v);
        self.rtl.mux(set, negative, v)
    }

    /// Returns quotient or remainder. For unsigned numbers and a divisor of zero, they are all ones and the dividend.
    fn divided(&mut self, lane: Lane, sign: Sign, a: NodeId, b: NodeId, width: u32) -> NodeId {
        let quotient = matches!(lane, Lane::Div(_));
        if sign == Sign::Unsigned {
            return self.long_division(quotient, a, b, width);
        }
        let (a_neg, b_neg) = (self.rtl.slice(a, width - 1, 1), self.rtl.slice(b, width - 1, 1));
        let (x, y) = (self.negative_if(a_neg, a), self.negative_if(b_neg, b));
        let result = self.long_division(quotient, x, y, width);
        if !quotient {
            return self.negative_if(a_neg, result);
        }
        let differ = self.rtl.binary(Binary::Xor, a_neg, b_neg);
        let divides = self.rtl.reduce(Reduce::Any, b);
        let negate = self.rtl.binary(Binary::And, differ, divides);
        self.negative_if(negate, result)
    }

    /// Returns quotient or remainder of unsigned numbers by long division. Bits of the dividend are taken from the top;
    /// the divisor is subtracted from the partial remainder if it is not larger, and the bit of the quotient records
    /// the subtraction. A divisor of zero is never subtracted.
    ///
    /// Each step is as wide as the partial remainder, so that its gates are those of a hardware divider with the same
    /// number of steps. For another divider, a proof of all steps at once is infeasible beyond some twenty bits.
    fn long_division(&mut self, quotient: bool, a: NodeId, b: NodeId, width: u32) -> NodeId {
        let mut left = self.zero(0);
        let mut bits = Vec::with_capacity(width as usize);
        for taken in 1..=width {
            let bit = self.rtl.slice(a, width - taken, 1);
            let dividend = self.rtl.concat(&[bit, left]);
            let low = self.rtl.slice(b, 0, taken);
            let difference = self.difference(dividend, low);
            let mut larger = self.rtl.slice(difference, taken, 1);
            if taken < width {
                let high = self.rtl.slice(b, taken, width - taken);
                let beyond = self.rtl.reduce(Reduce::Any, high);
                larger = self.rtl.binary(Binary::Or, larger, beyond);
            }
            bits.push(self.rtl.not(larger));
            let reduced = self.rtl.slice(difference, 0, taken);
            left = self.rtl.mux(larger, dividend, reduced);
        }
        bits.reverse();
        if quotient { self.rtl.concat(&bits) } else { left }
    }

    /// Returns the difference of unsigned numbers of the same width in two's complement, one bit wider.
    fn difference(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let width = self.rtl.width(a) + 1;
        let (a, b) = (self.rtl.resize(a, width, false), self.rtl.resize(b, width, false));
        self.rtl.binary(Binary::Sub, a, b)
    }

    fn rotated(&mut self, a: NodeId, width: u32, count: NodeId, direction: Direction) -> NodeId {
        let has = self.rtl.width(count);
        if width.is_power_of_two() {
            // A choice for each relevant bit of the count, as in a barrel shifter.
            let mut v = a;
            for k in 0..width.trailing_zeros().min(has) {
                let places = if direction == Direction::Left { 1 << k } else { width - (1 << k) };
                let (low, high) = (self.rtl.slice(v, width - places, places), self.rtl.slice(v, 0, width - places));
                let (moved, bit) = (self.rtl.concat(&[low, high]), self.rtl.slice(count, k, 1));
                v = self.rtl.mux(bit, moved, v);
            }
            return v;
        }
        let wide = has.max(u32::BITS - width.leading_zeros());
        let (count, modulus) = (self.rtl.resize(count, wide, false), self.rtl.number(width.into(), wide));
        let count = self.rtl.binary(Binary::Rem, count, modulus);
        let twice = self.rtl.concat(&[a, a]);
        let moved = self.rtl.shift(shift(direction), twice, count);
        self.rtl.slice(moved, if direction == Direction::Left { width } else { 0 }, width)
    }

    /// Returns a shift by any count. Bits of the count beyond the width are tested separately, so that the shifter is
    /// as narrow as in the hardware.
    fn shifted(&mut self, direction: Direction, v: NodeId, count: NodeId) -> NodeId {
        let (width, has) = (self.rtl.width(v), self.rtl.width(count));
        let bits = u32::BITS - (width - 1).leading_zeros();
        if has <= bits {
            return self.rtl.shift(shift(direction), v, count);
        }
        let above = self.rtl.slice(count, bits, has - bits);
        let beyond = self.rtl.reduce(Reduce::Any, above);
        let moved = match bits {
            0 => v,
            _ => {
                let low = self.rtl.slice(count, 0, bits);
                self.rtl.shift(shift(direction), v, low)
            }
        };
        let fill = match direction {
            Direction::RightSigned => {
                let sign = self.rtl.slice(v, width - 1, 1);
                self.rtl.repeat(sign, width)
            }
            Direction::Right | Direction::Left => self.zero(width),
        };
        self.rtl.mux(beyond, fill, moved)
    }
}

fn shift(direction: Direction) -> Shift {
    match direction {
        Direction::Right => Shift::Right,
        Direction::RightSigned => Shift::SignedRight,
        Direction::Left => Shift::Left,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::equiv::{Request, Verdict, prove};
    use crate::sat::Embedded;
    use alir_llvlir::{Limits, lower, text};

    fn verdict_of(text: &str, like: &str) -> Verdict {
        let read = |text: &str| text::read(text.as_bytes(), Limits::default()).unwrap();
        let model = lower::lower(&read(like), &alir_core::ir::Limits::default()).unwrap();
        let request = Request { latency: Some(0), ..Request::default() };
        prove(&model, &rtl(&read(text), &model), &request, Box::new(Embedded)).0.verdict
    }

    /// Returns a program of one operation on operands of `width` bits.
    fn row(word: &str, operands: &str, width: u32) -> String {
        let ports = ["p", "q", "s"].iter().enumerate();
        let ports: String = ports.map(|(k, name)| format!("in %{k} \"{name}\": iv{width}\n")).collect();
        format!("llvlir 0\n{ports}%3 = {word}.iv{width} {operands}\nout \"y\" = %3\n")
    }

    #[test]
    fn lowered_rows_are_proved() {
        for word in [
            "add", "sub", "mul", "mulh", "mulhu", "div", "rem", "divu", "remu", "srl", "sra", "sll", "ror", "rol",
            "min", "maxu", "xnor", "orc",
        ] {
            let program = row(word, "%0, %1", 4);
            assert!(matches!(verdict_of(&program, &program), Verdict::Proved), "{word}");
        }
        for (word, operands) in [
            ("fsrl", "%0, %1, %2"),
            ("fsra", "%0, %1, %2"),
            ("select", "%0, %1, %2"),
            ("addc", "%0, %1, %2"),
            ("clz", "%0"),
            ("ctz", "%0"),
            ("popc", "%0"),
            ("brev", "%0"),
            ("cmps", "leu, %0, %1"),
            ("cmps", "ge, %0, %1"),
            ("extract", "%0, 1, 2"),
            ("deposit", "%0, 2, 3"),
        ] {
            let program = row(word, operands, 5);
            assert!(matches!(verdict_of(&program, &program), Verdict::Proved), "{word} {operands}");
        }
    }

    #[test]
    fn wide_divisions_are_proved() {
        for (word, width) in [("divu", 32), ("remu", 33), ("div", 32), ("rem", 64), ("div", 1), ("rem", 2)] {
            let program = row(word, "%0, %1", width);
            assert!(matches!(verdict_of(&program, &program), Verdict::Proved), "{word} {width}");
        }
    }

    #[test]
    fn high_halves_of_wide_squares_are_proved() {
        for (word, width) in [("mulh", 64), ("mulhu", 64), ("mulh", 7)] {
            let program = row(word, "%0, %0", width);
            assert!(matches!(verdict_of(&program, &program), Verdict::Proved), "{word} {width}");
        }
    }

    #[test]
    fn a_lowering_of_another_row_is_refuted() {
        for (word, other) in [("srl", "sra"), ("min", "minu"), ("div", "divu"), ("mulh", "mulhu"), ("ror", "rol")] {
            let (kernel, like) = (row(word, "%0, %1", 4), row(other, "%0, %1", 4));
            assert!(matches!(verdict_of(&kernel, &like), Verdict::Differs { .. }), "{word} is not {other}");
        }
    }
}
