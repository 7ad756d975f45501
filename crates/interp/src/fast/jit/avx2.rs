//! AVX2 instructions (VEX encoding) for straight-line code: vectors of 32 bytes, 16 registers.
//!
//! AVX2 has no mask registers: comparisons return lanes of ones, and blends read the top bit of bytes, doublewords or
//! quadwords. Bytes have no shifts (words are shifted, and bits that cross byte boundaries are cleared); quadwords have
//! no arithmetic shift, product or maximum. Each of these operations takes a few more instructions. Because registers
//! are few, a result is computed in the register of an operand without further readers if possible.
//!
//! Lookups permute bytes: a table is split into pieces of sixteen entries ([`pieces`]), the low four bits of the
//! operand select in each piece, and the bits above select among the pieces, two by two. Entries of two bytes are two
//! such tables.

use super::{
    AND, Assembler, CONSTANTS, Compiler, Finish, NO_REG, NONE, OR, Opcode, Operations, Rm, Shift, Target, XOR, add,
    extend, max, mul, shift, sub,
};
use crate::fast::lower::{Choice, Code, Entries, Ins, Lane, LaneTable, Reg, Term, Wrap};
use alir_core::ir::BinaryBits;

/// Target for AVX2.
#[derive(Clone, Copy)]
pub(in crate::fast) struct Avx2 {
    /// Number of samples: with 16, a lane of 16 bits fills one register, with 32, a lane of 8 bits.
    group: u32,
}

impl Avx2 {
    /// Chooses the group size that takes fewer instructions per sample, and for which the block is a whole number of
    /// groups.
    pub(super) fn new(code: &Code, block: Option<usize>) -> Avx2 {
        if block.is_some_and(|block| block.div_ceil(16) % 2 == 1) {
            return Avx2 { group: 16 };
        }
        let (mut bytes, mut all) = (0, 0);
        for ins in &code.ins {
            let lane = code.lanes[ins.dst() as usize];
            let weight = match ins {
                Ins::Lookup { table, .. } => 1 + code.tables[*table as usize].entries.len().div_ceil(8),
                _ => 1,
            };
            all += weight * lane.bytes().div_ceil(2) as usize;
            if lane == Lane::B1 || (lane == Lane::B2 && matches!(ins, Ins::Lookup { .. })) {
                bytes += weight;
            }
        }
        // More registers for words also have a benefit, so bytes must dominate.
        Avx2 { group: if 2 * bytes > all { 32 } else { 16 } }
    }

    /// Returns `true` if vectors of a lane have 32 bytes, `false` if 16.
    fn long(self, lane: Lane) -> bool {
        self.group * lane.bytes() >= 32
    }
}

impl Target for Avx2 {
    const REGISTERS: u32 = 0xffff;
    const VECTOR: u32 = 32;
    const SOON: u32 = 12;
    const SPILL_BIAS: i32 = 128;

    fn group(self) -> u32 {
        self.group
    }

    fn knows_lookup(self, table: &LaneTable, lane: Lane) -> bool {
        let len = table.entries.len();
        match lane {
            Lane::B1 => len > 0,
            Lane::B2 => {
                let least = if table.zero { 0 } else { i64::from(i16::MIN) };
                let codes = least..=least + i64::from(u16::MAX);
                let planes = if extension(table).is_some() { 1 } else { 2 };
                len > 0
                    && len.next_power_of_two() * planes <= MAX_BYTES
                    && codes.contains(&table.base)
                    && codes.contains(&(table.base + len as i64 - 1))
            }
            _ => false,
        }
    }

    fn begin(self, asm: &mut Assembler) {
        // sub rsi, -128
        asm.bytes.extend([0x48, 0x83, 0xee, 0x80]);
    }

    fn load(self, asm: &mut Assembler, lane: Lane, reg: u8, (base, disp): (u8, i32)) {
        asm.vex(MOV_LOAD, self.long(lane), reg, 0, Rm::Mem { base, disp });
    }

    fn store(self, asm: &mut Assembler, lane: Lane, reg: u8, (base, disp): (u8, i32)) {
        asm.vex(MOV_STORE, self.long(lane), reg, 0, Rm::Mem { base, disp });
    }
}

/// Largest size in bytes of a table of words in machine code: for larger tables, the loop is as fast.
const MAX_BYTES: usize = 1024;

/// Sixteen entries of a table; `None` if no operand selects the piece.
type Piece = Option<[u8; 16]>;

/// Returns the extension of one-byte entries to words: `true` for zero extension; `None` for wider entries.
fn extension(table: &LaneTable) -> Option<bool> {
    match table.entries {
        Entries::I8(_) => Some(false),
        Entries::U8(_) => Some(true),
        _ => None,
    }
}

/// Returns byte `byte` of the entries for every operand: the entry for operand `v` is at position `v` modulo the number
/// of positions, a power of two. Bytes outside the table read zero; word operands are compared with the bounds of their
/// table.
fn pieces(table: &LaneTable, lane: Lane, byte: usize) -> Vec<Piece> {
    let len = table.entries.len();
    let by_low_bits = lane != Lane::B1 || table.inside;
    let positions = if by_low_bits { len.next_power_of_two().max(16) } else { 256 };
    let mut pieces: Vec<Piece> = vec![(!by_low_bits).then_some([0; 16]); positions / 16];
    let mut put = |code: i64, entry: i32| {
        let at = code.rem_euclid(positions as i64) as usize;
        pieces[at / 16].get_or_insert([0; 16])[at % 16] = entry.to_le_bytes()[byte];
    };
    if by_low_bits {
        (0..len).for_each(|k| put(table.base.wrapping_add(k as i64), table.entries.get(k).unwrap_or(0)));
    } else {
        for byte in 0..=u8::MAX {
            let code = if table.zero { i64::from(byte) } else { i64::from(byte as i8) };
            let entry = usize::try_from(code.wrapping_sub(table.base)).ok().and_then(|k| table.entries.get(k));
            put(code, entry.unwrap_or(0));
        }
    }
    pieces
}

const MOV_LOAD: Opcode = Opcode(1, 2, 0, 0x6f);
const MOV_STORE: Opcode = Opcode(1, 2, 0, 0x7f);
/// Bitwise and of the complement of the first operand with the second operand.
const AND_NOT: Opcode = Opcode(1, 1, 0, 0xdf);
/// Returns the instruction that applies the sign of the second operand to the first operand.
fn sign(lane: Lane) -> Opcode {
    Opcode(2, 1, 0, 0x08 + lane as u8)
}
const MUL_LOW_HALVES: Opcode = Opcode(1, 1, 0, 0xf4);
const MIN_UNSIGNED_WORDS: Opcode = Opcode(2, 1, 0, 0x3a);
/// Selects bytes of the first operand by the second operand, in each half; zero if the top bit of the selector is set.
const SHUFFLE: Opcode = Opcode(2, 1, 0, 0x00);
const UNPACK_LOW: Opcode = Opcode(1, 1, 0, 0x60);
const UNPACK_HIGH: Opcode = Opcode(1, 1, 0, 0x68);
/// Packs both operands with unsigned saturation, in each half.
const PACK_WORDS: Opcode = Opcode(1, 1, 0, 0x67);
const PACK_DOUBLEWORDS: Opcode = Opcode(2, 1, 0, 0x2b);
const SHUFFLE_DOUBLEWORDS: Opcode = Opcode(1, 0, 0, 0xc6);
const PERMUTE_QUADWORDS: Opcode = Opcode(3, 1, 1, 0x00);
/// Extracts a half of a register; the destination is the operand that may be memory.
const EXTRACT_HALF: Opcode = Opcode(3, 1, 0, 0x39);
const INSERT_HALF: Opcode = Opcode(3, 1, 0, 0x38);

fn equal(lane: Lane) -> Opcode {
    match lane {
        Lane::B1 => Opcode(1, 1, 0, 0x74),
        Lane::B2 => Opcode(1, 1, 0, 0x75),
        Lane::B4 => Opcode(1, 1, 0, 0x76),
        _ => Opcode(2, 1, 0, 0x29),
    }
}

/// Returns the signed comparison of bytes or quadwords.
fn greater(lane: Lane) -> Opcode {
    if lane == Lane::B1 { Opcode(1, 1, 0, 0x64) } else { Opcode(2, 1, 0, 0x37) }
}

/// Returns the blend by the top bits of a fourth register: the second operand for set bits, otherwise the first
/// operand. Words are blended as pairs of bytes.
fn blend(lane: Lane) -> Opcode {
    match lane {
        Lane::B1 | Lane::B2 => Opcode(3, 1, 0, 0x4c),
        Lane::B4 => Opcode(3, 1, 0, 0x4a),
        _ => Opcode(3, 1, 0, 0x4b),
    }
}

fn commutes(op: Opcode) -> bool {
    matches!(op, Opcode(1, 1, _, 0xdb | 0xeb | 0xef | 0xfc | 0xfd | 0xfe | 0xd4))
}

impl Assembler {
    /// Emits one VEX instruction (Intel SDM volume 2, section 2.3): `reg` and `vvvv` are vector registers (or an opcode
    /// extension), `long` selects 256 bits.
    fn vex(&mut self, op: Opcode, long: bool, reg: u8, vvvv: u8, rm: Rm) {
        let Opcode(map, prefix, w, opcode) = op;
        // The short form can encode registers from 8 on in only two of its three operands.
        let (vvvv, rm) = match rm {
            Rm::Reg(r) if r >= 8 && vvvv < 8 && commutes(op) => (r, Rm::Reg(vvvv)),
            _ => (vvvv, rm),
        };
        let b = match rm {
            Rm::Reg(r) => r >> 3 & 1,
            Rm::Mem { base, .. } => base >> 3 & 1,
        };
        let r = (!reg >> 3 & 1) << 7;
        let last = (!vvvv & 15) << 3 | u8::from(long) << 2 | prefix;
        if map == 1 && w == 0 && b == 0 {
            self.bytes.extend([0xc5, r | last, opcode]);
        } else {
            self.bytes.extend([0xc4, r | 1 << 6 | (b ^ 1) << 5 | map, w << 7 | last, opcode]);
        }
        let low = (reg & 7) << 3;
        match rm {
            Rm::Reg(r) => self.bytes.push(0xc0 | low | (r & 7)),
            Rm::Mem { base, disp } => match i8::try_from(disp) {
                Ok(0) => self.bytes.push(low | (base & 7)),
                Ok(disp) => self.bytes.extend([0x40 | low | (base & 7), disp as u8]),
                Err(_) => {
                    self.bytes.push(0x80 | low | (base & 7));
                    self.bytes.extend(disp.to_le_bytes());
                }
            },
        }
    }
}

impl Compiler<'_, Avx2> {
    // ---- registers --------------------------------------------------------------------------------------------

    /// Returns the register for a value whose operands only the next instruction reads: the register of an operand
    /// without later readers, otherwise a new register.
    fn define_over(&mut self, dst: Reg, part: u32, operands: &[Reg]) -> u8 {
        for &value in operands {
            let reg = self.home(value, part).reg;
            if reg != NO_REG && self.next_use(value) == NONE {
                self.home(value, part).reg = NO_REG;
                return self.adopt(dst, part, reg);
            }
        }
        self.define(dst, part)
    }

    /// Assigns a pinned register to a value.
    fn adopt(&mut self, dst: Reg, part: u32, reg: u8) -> u8 {
        self.holds[reg as usize] = (dst, part);
        self.home(dst, part).reg = reg;
        reg
    }

    /// Frees a temporary register; a register with a value is only unpinned.
    fn give(&mut self, reg: u8) {
        self.pinned &= !(1 << reg);
        if self.holds[reg as usize].0 == NONE {
            self.free |= 1 << reg;
        }
    }

    // ---- operations -------------------------------------------------------------------------------------------

    fn op(&mut self, op: Opcode, lane: Lane, dst: u8, a: u8, b: Rm) {
        self.asm.vex(op, self.target.long(lane), dst, a, b);
    }

    fn splat(&mut self, lane: Lane, value: i64) -> Rm {
        Rm::Mem { base: CONSTANTS, disp: self.constants.splat(lane, value) }
    }

    /// Emits an operation whose second operand is a constant.
    fn op_splat(&mut self, op: Opcode, lane: Lane, dst: u8, a: u8, value: i64) {
        let value = self.splat(lane, value);
        self.op(op, lane, dst, a, value);
    }

    fn zero(&mut self, lane: Lane, dst: u8) {
        self.op(XOR, lane, dst, dst, Rm::Reg(dst));
    }

    /// Emits a shift of words or wider lanes; bytes are shifted as words.
    fn plain_shift(&mut self, long: bool, lane: Lane, kind: Shift, dst: u8, src: u8, by: u8) {
        let (op, digit) = shift(lane.max(Lane::B2), kind);
        self.asm.vex(op, long, digit, dst, Rm::Reg(src));
        self.asm.imm(by);
    }

    /// Emits code that sets lanes of bytes or quadwords to ones if `src` is negative, otherwise to zeros.
    fn negative(&mut self, lane: Lane, dst: u8, src: u8) {
        let zero = self.take();
        self.zero(lane, zero);
        self.op(greater(lane), lane, dst, zero, Rm::Reg(src));
        self.give(zero);
    }

    /// Emits a sign extension from `width` bits in bytes or quadwords whose higher bits are zero.
    fn extend_sign(&mut self, lane: Lane, at: u8, width: u8) {
        let sign = 1i64 << (width - 1);
        self.op_splat(XOR, lane, at, at, sign);
        self.op_splat(sub(lane), lane, at, at, sign);
    }

    /// Emits a shift by at least one.
    fn shifted(&mut self, lane: Lane, kind: Shift, dst: u8, src: u8, by: u8) {
        let (long, bits) = (self.target.long(lane), 8 * lane.bytes() as u8);
        match (lane, kind) {
            (_, Shift::Left) if by == 1 => self.op(add(lane), lane, dst, src, Rm::Reg(src)),
            (Lane::B1 | Lane::B8, Shift::Arithmetic) if by == bits - 1 => self.negative(lane, dst, src),
            (Lane::B1 | Lane::B8, Shift::Arithmetic) => {
                self.shifted(lane, Shift::Logical, dst, src, by);
                self.extend_sign(lane, dst, bits - by);
            }
            (Lane::B1, _) => {
                self.plain_shift(long, lane, kind, dst, src, by);
                let kept = if kind == Shift::Left { 0xff << by } else { 0xff >> by };
                self.op_splat(AND, lane, dst, dst, kept);
            }
            _ => self.plain_shift(long, lane, kind, dst, src, by),
        }
    }

    /// Returns an operand shifted left by `shl`, in memory or in a register; a shifted operand is in a temporary
    /// register.
    fn operand(&mut self, lane: Lane, value: Reg, part: u32, shl: u8) -> Rm {
        if shl == 0 {
            return self.anywhere(value, part);
        }
        Rm::Reg(self.operand_in_reg(lane, value, part, shl))
    }

    /// Returns an operand shifted left by `shl` in a register.
    fn operand_in_reg(&mut self, lane: Lane, value: Reg, part: u32, shl: u8) -> u8 {
        let src = self.in_reg(value, part);
        if shl == 0 {
            return src;
        }
        let dst = self.take();
        self.shifted(lane, Shift::Left, dst, src, shl);
        dst
    }

    /// Emits the final operations from `src` to `dst`, which may be equal. Returns `true` if an instruction was
    /// emitted.
    fn finish(&mut self, lane: Lane, dst: u8, src: u8, f: Finish) -> bool {
        let bits = 8 * lane.bytes() as u8;
        let slow = matches!(lane, Lane::B1 | Lane::B8);
        let mut at = src;
        if f.relu {
            if lane == Lane::B8 {
                let positive = self.take();
                self.op_splat(greater(lane), lane, positive, at, 0);
                self.op(AND, lane, dst, at, Rm::Reg(positive));
                self.give(positive);
            } else {
                self.op_splat(max(lane), lane, dst, at, 0);
            }
            at = dst;
        }
        let right = if f.logical || f.relu { Shift::Logical } else { Shift::Arithmetic };
        let mut step = |this: &mut Self, kind: Shift, by: u8| {
            if by > 0 {
                this.shifted(lane, kind, dst, at, by);
                at = dst;
            }
        };
        match f.wrap {
            Wrap::None => step(self, right, f.shr),
            // Few bits remain, so the sign bit is one of the bits that the shift inserted.
            Wrap::Sign(width) if width + f.shr > bits => step(self, right, f.shr),
            Wrap::Sign(width) if width + f.shr == bits => step(self, Shift::Arithmetic, f.shr),
            Wrap::Sign(width) if slow => {
                if f.shr > 0 {
                    self.plain_shift(self.target.long(lane), lane, Shift::Logical, dst, at, f.shr);
                    at = dst;
                }
                self.op_splat(AND, lane, dst, at, i64::MAX >> (63 - width));
                self.extend_sign(lane, dst, width);
            }
            Wrap::Sign(width) => {
                step(self, Shift::Left, bits - width - f.shr);
                step(self, Shift::Arithmetic, bits - width);
            }
            Wrap::Zero(width) if width + f.shr == bits => step(self, Shift::Logical, f.shr),
            Wrap::Zero(width) => {
                // The mask clears the bits that a logical shift would have cleared, unless the shift inserts sign bits
                // below the mask.
                let mut kept = width;
                if width + f.shr > bits && right == Shift::Arithmetic {
                    step(self, right, f.shr);
                } else {
                    kept = width.min(bits - f.shr);
                    if f.shr > 0 {
                        self.plain_shift(self.target.long(lane), lane, Shift::Logical, dst, at, f.shr);
                        at = dst;
                    }
                }
                self.op_splat(AND, lane, dst, at, i64::MAX >> (63 - kept));
            }
        }
        f.relu || f.shr > 0 || f.wrap != Wrap::None
    }

    /// Truncates vectors of a wider lane to one vector of lane `to`, in a temporary register.
    fn truncated(&mut self, src: Reg, from: Lane, to: Lane, index: u32) -> u8 {
        if from == to {
            return self.in_reg(src, index);
        }
        let wider = Lane::MACHINE[to as usize + 1];
        let long = self.target.long(to);
        if !long {
            let all = self.truncated(src, from, wider, index);
            let out = self.take();
            let mut even = [0x80; 32];
            (0..32).filter(|k| k % 16 < 8).for_each(|k| even[k] = 2 * (k as u8 % 16));
            let even = Rm::Mem { base: CONSTANTS, disp: self.constants.shared(&even) };
            self.asm.vex(SHUFFLE, true, out, all, even);
            self.asm.vex(PERMUTE_QUADWORDS, true, out, 0, Rm::Reg(out));
            self.asm.imm(0b1000);
            self.give(all);
            return out;
        }
        let low = self.truncated(src, from, wider, 2 * index);
        let high = self.truncated(src, from, wider, 2 * index + 1);
        let out = self.take();
        if wider == Lane::B8 {
            self.asm.vex(SHUFFLE_DOUBLEWORDS, true, out, low, Rm::Reg(high));
            self.asm.imm(0x88);
        } else {
            let (pack, kept) = if wider == Lane::B4 { (PACK_DOUBLEWORDS, 0xffff) } else { (PACK_WORDS, 0xff) };
            let other = self.take();
            self.op_splat(AND, wider, out, low, kept);
            self.op_splat(AND, wider, other, high, kept);
            self.asm.vex(pack, true, out, out, Rm::Reg(other));
            self.give(other);
        }
        self.give(low);
        self.give(high);
        self.asm.vex(PERMUTE_QUADWORDS, true, out, 0, Rm::Reg(out));
        self.asm.imm(0b11_01_10_00);
        out
    }

    // ---- lookups ----------------------------------------------------------------------------------------------

    /// Selects bytes from pieces by the bytes of an operand; returns a temporary register.
    fn chosen(&mut self, pieces: &[Piece], chooser: &mut Chooser) -> u8 {
        match *pieces {
            [piece] => {
                let piece = piece.unwrap_or_default();
                let out = self.take();
                let vector = [piece, piece].concat();
                let disp = self.constants.shared(&vector);
                self.asm.vex(MOV_LOAD, chooser.long, out, 0, Rm::Mem { base: CONSTANTS, disp });
                // Sixteen equal entries need no selection.
                if piece != [piece[0]; 16] {
                    self.asm.vex(SHUFFLE, chooser.long, out, out, Rm::Reg(chooser.index));
                }
                out
            }
            _ => {
                let (low, high) = pieces.split_at(pieces.len() / 2);
                if low == high || high.iter().all(Option::is_none) {
                    return self.chosen(low, chooser);
                }
                if low.iter().all(Option::is_none) {
                    return self.chosen(high, chooser);
                }
                let out = self.chosen(low, chooser);
                let other = self.chosen(high, chooser);
                let mask = self.choosing_bit(3 + pieces.len().ilog2() as usize, chooser);
                self.asm.vex(blend(Lane::B1), chooser.long, out, out, Rm::Reg(other));
                self.asm.imm(mask << 4);
                self.give(other);
                out
            }
        }
    }

    /// Returns a register with bit `bit` of the operand at the top of each byte.
    fn choosing_bit(&mut self, bit: usize, chooser: &mut Chooser) -> u8 {
        if let Some(reg) = chooser.bits[bit] {
            return reg;
        }
        let from = if bit < 8 { chooser.low } else { chooser.high };
        let reg = if bit % 8 == 7 {
            from
        } else {
            let reg = self.take();
            self.plain_shift(chooser.long, Lane::B2, Shift::Left, reg, from, 7 - bit as u8 % 8);
            reg
        };
        chooser.bits[bit] = Some(reg);
        reg
    }

    /// Returns a chooser for the bytes of operands; `high` has their upper bytes, if there are any.
    fn chooser(&mut self, table: &LaneTable, long: bool, low: u8, high: u8) -> Chooser {
        let below = table.inside && table.base >= 0 && table.base.saturating_add(table.entries.len() as i64) <= 128;
        let index = if below {
            low
        } else {
            let index = self.take();
            let kept = self.splat(Lane::B1, 0x0f);
            self.asm.vex(AND, long, index, low, kept);
            index
        };
        Chooser { long, index, low, high, bits: [None; 16] }
    }

    fn give_chooser(&mut self, chooser: &Chooser) {
        for reg in chooser.bits.into_iter().flatten().chain([chooser.index, chooser.low, chooser.high]) {
            self.give(reg);
        }
    }

    fn lookup_bytes(&mut self, dst: Reg, x: Reg, table: &LaneTable) {
        let index = self.in_reg(x, 0);
        let mut chooser = self.chooser(table, self.target.long(Lane::B1), index, index);
        let out = self.chosen(&pieces(table, Lane::B1, 0), &mut chooser);
        self.adopt(dst, 0, out);
        self.end_part(dst, 0);
    }

    /// Returns the lower or upper bytes of all words of a value, in a temporary register.
    fn bytes_of_words(&mut self, x: Reg, upper: bool) -> u8 {
        let both = self.target.group == 32;
        let out = self.take();
        let other = self.take();
        for (part, to) in [(0, out), (1, other)] {
            if part == 1 && !both {
                self.asm.vex(EXTRACT_HALF, true, out, 0, Rm::Reg(other));
                self.asm.imm(1);
                break;
            }
            let from = self.in_reg(x, part);
            if upper {
                self.plain_shift(true, Lane::B2, Shift::Logical, to, from, 8);
            } else {
                self.op_splat(AND, Lane::B2, to, from, 0xff);
            }
            self.give(from);
        }
        self.asm.vex(PACK_WORDS, both, out, out, Rm::Reg(other));
        self.give(other);
        out
    }

    fn lookup_words(&mut self, dst: Reg, x: Reg, table: &LaneTable) {
        let both = self.target.group == 32;
        let low = self.bytes_of_words(x, false);
        let lower = pieces(table, Lane::B2, 0);
        let high = if lower.len() > 16 { self.bytes_of_words(x, true) } else { low };
        let mut chooser = self.chooser(table, both, low, high);
        let entry = self.chosen(&lower, &mut chooser);
        let extension = extension(table);
        let upper = match extension {
            Some(_) => None,
            None => Some(self.chosen(&pieces(table, Lane::B2, 1), &mut chooser)),
        };
        self.give_chooser(&chooser);
        let halves = if both { 2 } else { 1 };
        for part in 0..halves {
            let out = self.define(dst, part);
            let unpack = if part == 0 { UNPACK_LOW } else { UNPACK_HIGH };
            match (upper, extension) {
                (Some(upper), _) if both => self.asm.vex(unpack, true, out, entry, Rm::Reg(upper)),
                (Some(upper), _) => {
                    let other = self.take();
                    self.asm.vex(UNPACK_LOW, false, out, entry, Rm::Reg(upper));
                    self.asm.vex(UNPACK_HIGH, false, other, entry, Rm::Reg(upper));
                    self.asm.vex(INSERT_HALF, true, out, out, Rm::Reg(other));
                    self.asm.imm(1);
                    self.give(other);
                }
                (None, zero) if both => {
                    self.asm.vex(unpack, true, out, entry, Rm::Reg(entry));
                    let kind = if zero == Some(true) { Shift::Logical } else { Shift::Arithmetic };
                    self.plain_shift(true, Lane::B2, kind, out, out, 8);
                }
                (None, zero) => {
                    let op = extend(Lane::B1, Lane::B2, zero == Some(true));
                    self.asm.vex(op, true, out, 0, Rm::Reg(entry));
                }
            }
            if !table.inside {
                let x = self.in_reg(x, part);
                let (index, least) = (self.take(), self.take());
                self.op_splat(sub(Lane::B2), Lane::B2, index, x, table.base);
                self.op_splat(MIN_UNSIGNED_WORDS, Lane::B2, least, index, table.entries.len() as i64 - 1);
                self.op(equal(Lane::B2), Lane::B2, least, least, Rm::Reg(index));
                self.op(AND, Lane::B2, out, out, Rm::Reg(least));
            }
            let kept = self.pinned & (1 << entry | upper.map_or(0, |r| 1 << r));
            self.pinned &= !kept;
            self.end_part(dst, part);
            self.pinned |= kept;
        }
        self.unpin();
    }
}

/// Registers that select the entry in a lookup.
struct Chooser {
    /// `true` if vectors have 32 bytes.
    long: bool,
    /// Bytes with a clear top bit, whose low four bits select in a piece.
    index: u8,
    /// Low bytes of the operands.
    low: u8,
    /// Upper bytes of the operands.
    high: u8,
    /// Registers with a bit of the operand at the top of each byte.
    bits: [Option<u8>; 16],
}

impl Operations for Compiler<'_, Avx2> {
    fn linear(&mut self, dst: Reg, terms: &[Term], c: i64, f: Finish) {
        let lane = self.code.lanes[dst as usize];
        // The first term of the sum. A shifted term already has a temporary register.
        let plain = |t: &Term| !t.neg && t.shl == 0;
        let begin = terms
            .iter()
            .position(|t| !t.neg && t.shl > 0)
            .or_else(|| {
                terms.iter().position(|t| plain(t) && self.homes[self.first[t.reg as usize] as usize].reg != NO_REG)
            })
            .or_else(|| terms.iter().position(plain));
        // Returns `true` if no other term reads the register of a term.
        let once = |reg: Reg| terms.iter().filter(|t| t.reg == reg).count() == 1;
        for part in 0..self.parts(lane) {
            let mut out = None;
            let mut sum;
            let mut sole = None;
            let negated = matches!(terms, [t] if t.neg && t.shl == 0 && c == 0 && lane != Lane::B8);
            match begin.map(|k| terms[k]) {
                Some(t) if t.shl > 0 => {
                    let src = self.in_reg(t.reg, part);
                    let to = if once(t.reg) { self.define_over(dst, part, &[t.reg]) } else { self.define(dst, part) };
                    self.shifted(lane, Shift::Left, to, src, t.shl);
                    (out, sum) = (Some(to), to);
                }
                Some(t) => {
                    sum = self.in_reg(t.reg, part);
                    sole = once(t.reg).then_some(t.reg);
                }
                // A sum of subtracted terms only starts with the constant.
                None if negated => {
                    let src = self.in_reg(terms[0].reg, part);
                    let to = self.define_over(dst, part, &[terms[0].reg]);
                    self.op_splat(sign(lane), lane, to, src, -1);
                    (out, sum) = (Some(to), to);
                }
                None => {
                    let to = self.define(dst, part);
                    if c == 0 {
                        self.zero(lane, to);
                    } else {
                        let memory = (CONSTANTS, self.constants.splat(lane, c));
                        self.load(lane, to, memory);
                    }
                    (out, sum) = (Some(to), to);
                }
            }
            for (k, t) in terms.iter().enumerate() {
                if Some(k) == begin || negated {
                    continue;
                }
                let op = if t.neg { sub(lane) } else { add(lane) };
                let term = self.operand(lane, t.reg, part, t.shl);
                let to = match out {
                    Some(to) => to,
                    None => {
                        let other = once(t.reg).then_some(t.reg);
                        match term {
                            // The shifted operand is in a temporary register of this instruction.
                            Rm::Reg(r) if t.shl > 0 => self.adopt(dst, part, r),
                            _ => match (sole, other) {
                                (Some(a), Some(b)) => self.define_over(dst, part, &[a, b]),
                                (a, b) => self.define_over(dst, part, a.or(b).as_slice()),
                            },
                        }
                    }
                };
                self.op(op, lane, to, sum, term);
                (out, sum) = (Some(to), to);
                // A sum may have more terms than there are registers.
                if let Rm::Reg(r) = term
                    && r != to
                {
                    self.give(r);
                }
            }
            if begin.is_some() && c != 0 {
                let to = match out {
                    Some(to) => to,
                    None => self.define_over(dst, part, sole.as_slice()),
                };
                self.op_splat(add(lane), lane, to, sum, c);
                (out, sum) = (Some(to), to);
            }
            let to = match out {
                Some(to) => to,
                None => self.define_over(dst, part, sole.as_slice()),
            };
            if !self.finish(lane, to, sum, f) && sum != to {
                self.asm.vex(MOV_LOAD, self.target.long(lane), to, 0, Rm::Reg(sum));
            }
            self.end_part(dst, part);
        }
    }

    fn mul(&mut self, dst: Reg, a: Reg, b: Reg, shl: u8, f: Finish) {
        let lane = self.code.lanes[dst as usize];
        for part in 0..self.parts(lane) {
            let out;
            if lane == Lane::B8 {
                // Sum of products of the halves: low by low, and twice low by high, of which only the low half counts.
                let (a, b) = (self.in_reg(a, part), self.in_reg(b, part));
                out = self.define(dst, part);
                let (first, second) = (self.take(), self.take());
                self.plain_shift(true, lane, Shift::Logical, first, a, 32);
                self.op(MUL_LOW_HALVES, lane, first, first, Rm::Reg(b));
                self.plain_shift(true, lane, Shift::Logical, second, b, 32);
                self.op(MUL_LOW_HALVES, lane, second, second, Rm::Reg(a));
                self.op(add(lane), lane, first, first, Rm::Reg(second));
                self.plain_shift(true, lane, Shift::Left, first, first, 32);
                self.op(MUL_LOW_HALVES, lane, out, a, Rm::Reg(b));
                self.op(add(lane), lane, out, out, Rm::Reg(first));
            } else {
                let (x, y) = (self.in_reg(a, part), self.anywhere(b, part));
                out = self.define_over(dst, part, &[a, b]);
                self.op(mul(lane), lane, out, x, y);
            }
            if shl > 0 {
                self.shifted(lane, Shift::Left, out, out, shl);
            }
            self.finish(lane, out, out, f);
            self.end_part(dst, part);
        }
    }

    fn bits(&mut self, dst: Reg, op: BinaryBits, a: (Reg, u8), b: (Reg, u8), f: Finish) {
        let lane = self.code.lanes[dst as usize];
        let op = match op {
            BinaryBits::And => AND,
            BinaryBits::Or => OR,
            BinaryBits::Xor => XOR,
        };
        for part in 0..self.parts(lane) {
            let x = self.operand_in_reg(lane, a.0, part, a.1);
            let y = self.operand(lane, b.0, part, b.1);
            let out = self.define_over(dst, part, &[a.0, b.0]);
            self.op(op, lane, out, x, y);
            self.finish(lane, out, out, f);
            self.end_part(dst, part);
        }
    }

    fn mux(&mut self, dst: Reg, cond: Reg, bit: u8, on_true: Choice, on_false: Choice, f: Finish) {
        let lane = self.code.lanes[dst as usize];
        let (long, up) = (self.target.long(lane), 8 * lane.bytes() as u8 - 1 - bit);
        for part in 0..self.parts(lane) {
            let mut mask = self.in_reg(cond, part);
            if up > 0 || lane == Lane::B2 {
                let from = mask;
                mask = self.take();
                if up > 0 {
                    self.plain_shift(long, lane, Shift::Left, mask, from, up);
                }
                if lane == Lane::B2 {
                    self.plain_shift(long, lane, Shift::Arithmetic, mask, if up > 0 { mask } else { from }, 15);
                }
            }
            let choice = |this: &mut Self, choice: Choice| {
                let reg = this.operand_in_reg(lane, choice.reg, part, choice.shl);
                if choice.shr == 0 {
                    return reg;
                }
                let kind = if choice.logical { Shift::Logical } else { Shift::Arithmetic };
                let dst = if choice.shl > 0 { reg } else { this.take() };
                this.shifted(lane, kind, dst, reg, choice.shr);
                dst
            };
            let first = choice(self, on_false);
            let second = match on_true {
                Choice { reg, shl: 0, shr: 0, .. } => self.anywhere(reg, part),
                _ => Rm::Reg(choice(self, on_true)),
            };
            let out = self.define_over(dst, part, &[on_false.reg, on_true.reg, cond]);
            self.asm.vex(blend(lane), long, out, first, second);
            self.asm.imm(mask << 4);
            self.finish(lane, out, out, f);
            self.end_part(dst, part);
        }
    }

    fn compare(&mut self, dst: Reg, x: Reg, than: i64, eq: bool, f: Finish) {
        let lane = self.code.lanes[dst as usize];
        for part in 0..self.parts(lane) {
            let from = self.in_reg(x, part);
            let out = self.define_over(dst, part, &[x]);
            self.op_splat(equal(lane), lane, out, from, than);
            self.op_splat(if eq { AND } else { AND_NOT }, lane, out, out, 1);
            self.finish(lane, out, out, f);
            self.end_part(dst, part);
        }
    }

    fn convert(&mut self, dst: Reg, src: Reg, zero: bool) {
        let (from, to) = (self.code.lanes[src as usize], self.code.lanes[dst as usize]);
        if from > to {
            for part in 0..self.parts(to) {
                let out = self.truncated(src, from, to, part);
                self.adopt(dst, part, out);
                self.end_part(dst, part);
            }
            return;
        }
        let ratio = to.bytes() / from.bytes();
        for part in 0..self.parts(to) {
            let byte = part * 32 / ratio;
            let (of, at) = (byte / 32, byte % 32);
            let home = *self.home(src, of);
            let source = match (home.reg, at) {
                (NO_REG, _) => None,
                (reg, 0) => {
                    self.pinned |= 1 << reg;
                    Some(reg)
                }
                (reg, 16) if home.memory.is_none() => {
                    self.pinned |= 1 << reg;
                    let half = self.take();
                    self.asm.vex(EXTRACT_HALF, true, reg, 0, Rm::Reg(half));
                    self.asm.imm(1);
                    Some(half)
                }
                _ => None,
            };
            let source = match source {
                Some(reg) => Rm::Reg(reg),
                None => {
                    let (base, disp) = self.save(src, of);
                    Rm::Mem { base, disp: disp + at as i32 }
                }
            };
            let out = if self.parts(to) == 1 { self.define_over(dst, part, &[src]) } else { self.define(dst, part) };
            self.asm.vex(extend(from, to, zero), true, out, 0, source);
            self.end_part(dst, part);
        }
    }

    fn lookup(&mut self, dst: Reg, x: Reg, table: u32) {
        let code = self.code;
        let table = &code.tables[table as usize];
        match code.lanes[dst as usize] {
            Lane::B1 => self.lookup_bytes(dst, x, table),
            _ => self.lookup_words(dst, x, table),
        }
    }
}
