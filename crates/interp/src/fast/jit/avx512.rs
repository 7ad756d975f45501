//! AVX-512 instructions (EVEX encoding) for straight-line code: vectors of 64 bytes, 31 registers, masks for selection.
//!
//! Lookups in small tables are permutations of bytes or words: the table is the vector that is permuted, and the
//! operands are the selectors (see [`permuted`]). Larger tables are permuted in pieces, and bits of the operand select
//! among the pieces.

use super::{
    AND, Assembler, CONSTANTS, Compiler, Finish, NO_REG, NONE, OR, Opcode, Operations, Rm, Shift, Target, XOR, add,
    extend, max, mul, shift, sub,
};
use crate::fast::lower::{Choice, Lane, LaneTable, Reg, Term, Wrap};
use alir_core::ir::BinaryBits;

/// Target for AVX-512 (F, BW, DQ, VL) with GFNI.
#[derive(Clone, Copy)]
pub(in crate::fast) struct Avx512 {
    /// `true` if the processor also supports AVX512-VBMI.
    vbmi: bool,
}

impl Avx512 {
    /// Returns the target for the processor of this computer.
    pub(super) fn detect() -> Avx512 {
        Avx512 { vbmi: is_x86_feature_detected!("avx512vbmi") }
    }
}

impl Target for Avx512 {
    const REGISTERS: u32 = (1 << 31) - 1;
    const VECTOR: u32 = 64;
    const SOON: u32 = 24;
    const SPILL_BIAS: i32 = 0;

    /// Returns 32: with this group size, a lane of 16 bits fills one register.
    fn group(self) -> u32 {
        32
    }

    fn knows_lookup(self, table: &LaneTable, lane: Lane) -> bool {
        permuted(table, lane, self.vbmi).is_some()
    }

    fn begin(self, asm: &mut Assembler) {
        asm.evex(XOR, 2, ZERO, ZERO, Rm::Reg(ZERO), 0, false, 0);
    }

    fn load(self, asm: &mut Assembler, lane: Lane, reg: u8, memory: (u8, i32)) {
        mov(asm, MOV_LOAD, lane, reg, memory);
    }

    fn store(self, asm: &mut Assembler, lane: Lane, reg: u8, memory: (u8, i32)) {
        mov(asm, MOV_STORE, lane, reg, memory);
    }
}

fn mov(asm: &mut Assembler, op: Opcode, lane: Lane, reg: u8, memory: (u8, i32)) {
    let rm = Rm::Mem { base: memory.0, disp: memory.1 };
    let scale = if lane == Lane::B1 { 32 } else { 64 };
    asm.evex(op, length(lane), reg, 0, rm, 0, false, scale);
}

/// Largest number of vectors of a table of words in machine code: for larger tables, the loop is as fast.
const MAX_VECTORS: usize = 32;

/// Returns a table as vectors to be permuted: the entry for operand `v` is at position `v` modulo the number of
/// positions, a power of two. Bytes outside the table read zero; word operands are compared with the bounds of their
/// table. Returns `None` for operands of more than 16 bits, for tables that are too large or have entries for operands
/// that do not fit the lane, and for bytes on a processor without AVX512-VBMI.
fn permuted(table: &LaneTable, lane: Lane, vbmi: bool) -> Option<Vec<[u8; 64]>> {
    let len = table.entries.len();
    let bytes = lane == Lane::B1;
    let suits = match lane {
        Lane::B1 => vbmi,
        Lane::B2 => {
            let least = if table.zero { 0 } else { i64::from(i16::MIN) };
            let codes = least..=least + i64::from(u16::MAX);
            len <= MAX_VECTORS * 32 && codes.contains(&table.base) && codes.contains(&(table.base + len as i64 - 1))
        }
        _ => false,
    };
    if !suits || len == 0 {
        return None;
    }
    // If a table has entries for all operands, their low bits distinguish the operands; otherwise all bits are used.
    let by_low_bits = !bytes || (table.inside && len <= 128);
    let positions = if by_low_bits { len.next_power_of_two().max(64 / lane.bytes() as usize) } else { 256 };
    let mut vectors = vec![[0; 64]; positions * lane.bytes() as usize / 64];
    let mut put = |code: i64, entry: i32| {
        let at = code.rem_euclid(positions as i64) as usize * lane.bytes() as usize;
        let place = &mut vectors[at / 64][at % 64..][..lane.bytes() as usize];
        place.copy_from_slice(&entry.to_le_bytes()[..lane.bytes() as usize]);
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
    Some(vectors)
}

/// Vector register that always contains zero.
const ZERO: u8 = 31;
/// Mask register of comparisons.
const K1: u8 = 1;

/// Returns the vector length for a lane in the encoding: 1 for 256 bits, 2 for 512.
fn length(lane: Lane) -> u8 {
    if lane == Lane::B1 { 1 } else { 2 }
}

const MOV_LOAD: Opcode = Opcode(1, 1, 0, 0x6f);
const MOV_STORE: Opcode = Opcode(1, 1, 0, 0x7f);
/// Multiplies every byte by an 8x8 bit matrix.
const AFFINE: Opcode = Opcode(3, 1, 1, 0xce);

/// Returns the comparison to a mask, with a predicate as immediate byte.
fn compare(lane: Lane) -> Opcode {
    match lane {
        Lane::B1 => Opcode(3, 1, 0, 0x3f),
        Lane::B2 => Opcode(3, 1, 1, 0x3f),
        Lane::B4 => Opcode(3, 1, 0, 0x1f),
        _ => Opcode(3, 1, 1, 0x1f),
    }
}

/// Comparison of unsigned words to a mask, with a predicate as immediate byte.
const BELOW: Opcode = Opcode(3, 1, 1, 0x3e);

/// Returns the test that sets the mask of lanes in which both operands have a common set bit.
fn test(lane: Lane) -> Opcode {
    match lane {
        Lane::B1 => Opcode(2, 1, 0, 0x26),
        Lane::B2 => Opcode(2, 1, 1, 0x26),
        Lane::B4 => Opcode(2, 1, 0, 0x27),
        _ => Opcode(2, 1, 1, 0x27),
    }
}

/// Returns the instruction that sets the mask of lanes whose top bit is set.
fn signs(lane: Lane) -> Opcode {
    match lane {
        Lane::B1 => Opcode(2, 2, 0, 0x29),
        Lane::B2 => Opcode(2, 2, 1, 0x29),
        Lane::B4 => Opcode(2, 2, 0, 0x39),
        _ => Opcode(2, 2, 1, 0x39),
    }
}

/// Returns the blend by a mask: the second operand for set bits, otherwise the first operand.
fn blend(lane: Lane) -> Opcode {
    match lane {
        Lane::B1 => Opcode(2, 1, 0, 0x66),
        Lane::B2 => Opcode(2, 1, 1, 0x66),
        Lane::B4 => Opcode(2, 1, 0, 0x64),
        _ => Opcode(2, 1, 1, 0x64),
    }
}

/// Returns the load whose unmasked lanes are set to zero.
fn masked_load(lane: Lane) -> Opcode {
    match lane {
        Lane::B1 => Opcode(1, 3, 0, 0x6f),
        Lane::B2 => Opcode(1, 3, 1, 0x6f),
        Lane::B4 => Opcode(1, 1, 0, 0x6f),
        _ => Opcode(1, 1, 1, 0x6f),
    }
}

/// Returns the permutation that selects elements of one vector (in memory) by the elements of another vector.
fn permute(lane: Lane) -> Opcode {
    Opcode(2, 1, u8::from(lane == Lane::B2), 0x8d)
}

/// Returns the permutation that selects elements of two vectors; the destination contains the first vector.
fn permute_two(lane: Lane) -> Opcode {
    Opcode(2, 1, u8::from(lane == Lane::B2), 0x7d)
}

/// Returns the truncation of a wider lane. The destination is the operand that may be memory.
fn truncate(from: Lane, to: Lane) -> Opcode {
    let code = match (from, to) {
        (Lane::B2, _) => 0x30,
        (Lane::B4, Lane::B1) => 0x31,
        (Lane::B8, Lane::B1) => 0x32,
        (Lane::B4, _) => 0x33,
        (Lane::B8, Lane::B2) => 0x34,
        _ => 0x35,
    };
    Opcode(2, 2, 0, code)
}

impl Assembler {
    /// Emits one EVEX instruction (Intel SDM volume 2, section 2.7): `reg` and `vvvv` are vector registers (or an
    /// opcode extension), `mask` is a mask register or 0. `scale` is the unit of an 8-bit displacement, 0 for no short
    /// displacement.
    #[expect(clippy::too_many_arguments, reason = "these are the fields of the encoding")]
    fn evex(&mut self, op: Opcode, length: u8, reg: u8, vvvv: u8, rm: Rm, mask: u8, zeroing: bool, scale: i32) {
        let Opcode(map, prefix, w, opcode) = op;
        let (x, b) = match rm {
            Rm::Reg(r) => (r >> 4 & 1, r >> 3 & 1),
            Rm::Mem { base, .. } => (0, base >> 3 & 1),
        };
        let p0 = (!reg >> 3 & 1) << 7 | (x ^ 1) << 6 | (b ^ 1) << 5 | (!reg >> 4 & 1) << 4 | map;
        let p1 = w << 7 | (!vvvv & 15) << 3 | 1 << 2 | prefix;
        let p2 = u8::from(zeroing) << 7 | length << 5 | (!vvvv >> 4 & 1) << 3 | mask;
        self.bytes.extend([0x62, p0, p1, p2, opcode]);
        let low = (reg & 7) << 3;
        match rm {
            Rm::Reg(r) => self.bytes.push(0xc0 | low | (r & 7)),
            Rm::Mem { base, disp } => {
                let short = (scale > 0 && disp % scale == 0).then(|| i8::try_from(disp / scale).ok()).flatten();
                match short {
                    Some(disp) => self.bytes.extend([0x40 | low | (base & 7), disp as u8]),
                    None => {
                        self.bytes.push(0x80 | low | (base & 7));
                        self.bytes.extend(disp.to_le_bytes());
                    }
                }
            }
        }
    }
}

/// Source bit of each bit of a byte; `None` for zero.
type BitMap = [Option<u8>; 8];

const IDENTITY: BitMap = [Some(0), Some(1), Some(2), Some(3), Some(4), Some(5), Some(6), Some(7)];

/// Returns the bit map of a byte after a shift.
fn shift_bits(map: BitMap, kind: Shift, by: u8) -> BitMap {
    std::array::from_fn(|i| match kind {
        Shift::Left => i.checked_sub(by.into()).and_then(|k| map[k]),
        Shift::Logical => map.get(i + usize::from(by)).copied().flatten(),
        Shift::Arithmetic => map[(i + usize::from(by)).min(7)],
    })
}

fn wrap_bits(map: BitMap, wrap: Wrap) -> BitMap {
    match wrap {
        Wrap::None => map,
        Wrap::Sign(bits) => std::array::from_fn(|i| map[i.min(usize::from(bits) - 1)]),
        Wrap::Zero(bits) => std::array::from_fn(|i| if i < bits.into() { map[i] } else { None }),
    }
}

/// Returns the matrix of a bit map in the instruction's format: the row for bit i is byte 7 - i.
fn matrix(map: BitMap) -> i64 {
    let rows: [u8; 8] = std::array::from_fn(|k| map[7 - k].map_or(0, |from| 1 << from));
    i64::from_le_bytes(rows)
}

impl Compiler<'_, Avx512> {
    fn op3(&mut self, op: Opcode, lane: Lane, dst: u8, a: u8, b: Rm) {
        let scale = if lane == Lane::B1 { 32 } else { 64 };
        self.asm.evex(op, length(lane), dst, a, b, 0, false, scale);
    }

    fn splat(&mut self, lane: Lane, value: i64) -> Rm {
        Rm::Mem { base: CONSTANTS, disp: self.constants.splat(lane, value) }
    }

    /// Emits the multiplication of bytes by the matrix of a bit map.
    fn affine(&mut self, dst: u8, src: u8, map: BitMap) {
        let matrix = self.splat(Lane::B8, matrix(map));
        self.asm.evex(AFFINE, length(Lane::B1), dst, src, matrix, 0, false, 32);
        self.asm.imm(0);
    }

    /// Emits a shift; for lanes of 8 bits, `src` must be a register.
    fn shifted(&mut self, lane: Lane, kind: Shift, dst: u8, src: Rm, by: u8) {
        match (src, kind, by) {
            (Rm::Reg(src), Shift::Left, 1) => self.op3(add(lane), lane, dst, src, Rm::Reg(src)),
            (Rm::Reg(src), ..) if lane == Lane::B1 => self.affine(dst, src, shift_bits(IDENTITY, kind, by)),
            _ => {
                let (op, digit) = shift(lane, kind);
                self.asm.evex(op, length(lane), digit, dst, src, 0, false, 64);
                self.asm.imm(by);
            }
        }
    }

    /// Emits a left shift of an operand by at least one into register `dst`.
    fn operand_into(&mut self, dst: u8, lane: Lane, value: Reg, part: u32, shl: u8) {
        let needs_reg = lane == Lane::B1 || shl == 1;
        let src = if needs_reg { Rm::Reg(self.in_reg(value, part)) } else { self.anywhere(value, part) };
        self.shifted(lane, Shift::Left, dst, src, shl);
    }

    /// Returns an operand shifted left by `shl`, in memory or in a register.
    fn operand(&mut self, lane: Lane, value: Reg, part: u32, shl: u8) -> Rm {
        if shl == 0 {
            return self.anywhere(value, part);
        }
        let dst = self.take();
        self.operand_into(dst, lane, value, part, shl);
        Rm::Reg(dst)
    }

    /// Returns an operand shifted left by `shl` in a register.
    fn operand_in_reg(&mut self, lane: Lane, value: Reg, part: u32, shl: u8) -> u8 {
        if shl == 0 {
            return self.in_reg(value, part);
        }
        let dst = self.take();
        self.operand_into(dst, lane, value, part, shl);
        dst
    }

    /// Emits the final operations from `src` to `dst`, which may be equal. Returns `true` if an instruction was
    /// emitted.
    fn finish(&mut self, lane: Lane, dst: u8, src: u8, f: Finish) -> bool {
        let mut at = src;
        if f.relu {
            self.op3(max(lane), lane, dst, at, Rm::Reg(ZERO));
            at = dst;
        }
        let right = if f.logical { Shift::Logical } else { Shift::Arithmetic };
        if lane == Lane::B1 {
            let map = wrap_bits(shift_bits(IDENTITY, right, f.shr), f.wrap);
            if map != IDENTITY {
                self.affine(dst, at, map);
                at = dst;
            }
            return at == dst && (f.relu || map != IDENTITY);
        }
        let bits = 8 * lane.bytes() as u8;
        let mut step = |this: &mut Self, kind: Shift, by: u8| {
            if by > 0 {
                this.shifted(lane, kind, dst, Rm::Reg(at), by);
                at = dst;
            }
        };
        match f.wrap {
            Wrap::None => step(self, right, f.shr),
            Wrap::Sign(width) if width + f.shr <= bits => {
                step(self, Shift::Left, bits - width - f.shr);
                step(self, Shift::Arithmetic, bits - width);
            }
            Wrap::Sign(width) => {
                step(self, right, f.shr);
                step(self, Shift::Left, bits - width);
                step(self, Shift::Arithmetic, bits - width);
            }
            Wrap::Zero(width) if width + f.shr == bits => step(self, Shift::Logical, f.shr),
            Wrap::Zero(width) => {
                step(self, right, f.shr);
                let mask = self.splat(lane, i64::MAX >> (63 - width));
                self.op3(AND, lane, dst, at, mask);
            }
        }
        f.relu || f.shr > 0 || f.wrap != Wrap::None
    }

    fn choice(&mut self, lane: Lane, choice: Choice, part: u32) -> u8 {
        let reg = self.operand_in_reg(lane, choice.reg, part, choice.shl);
        if choice.shr == 0 {
            return reg;
        }
        let kind = if choice.logical { Shift::Logical } else { Shift::Arithmetic };
        let dst = self.take();
        self.shifted(lane, kind, dst, Rm::Reg(reg), choice.shr);
        dst
    }

    /// Selects elements of constant vectors by the elements of `index`, into `out`. Bytes fill the lower half of a
    /// vector; the upper half is unused.
    fn chosen(&mut self, lane: Lane, out: u8, index: u8, vectors: &[i32]) {
        let constant = |disp| Rm::Mem { base: CONSTANTS, disp };
        match *vectors {
            [only] => self.asm.evex(permute(lane), 2, out, index, constant(only), 0, false, 64),
            [low, high] => {
                self.asm.evex(MOV_LOAD, 2, out, 0, constant(low), 0, false, 64);
                self.asm.evex(permute_two(lane), 2, out, index, constant(high), 0, false, 64);
            }
            _ => {
                let (low, high) = vectors.split_at(vectors.len() / 2);
                self.chosen(lane, out, index, low);
                let other = self.take();
                self.chosen(lane, other, index, high);
                let mask = vectors.len().ilog2() as u8 - 1;
                self.asm.evex(blend(lane), 2, out, out, Rm::Reg(other), mask, false, 0);
                self.pinned &= !(1 << other);
                self.free |= 1 << other;
            }
        }
    }
}

impl Operations for Compiler<'_, Avx512> {
    fn linear(&mut self, dst: Reg, terms: &[Term], c: i64, f: Finish) {
        let lane = self.code.lanes[dst as usize];
        for part in 0..self.parts(lane) {
            // For bytes, one matrix performs both shifts and the wrap.
            if let ([t], 0, Lane::B1, false, false) = (terms, c, lane, f.relu, terms[0].neg) {
                let src = self.in_reg(t.reg, part);
                let right = if f.logical { Shift::Logical } else { Shift::Arithmetic };
                let map = wrap_bits(shift_bits(shift_bits(IDENTITY, Shift::Left, t.shl), right, f.shr), f.wrap);
                let out = self.define(dst, part);
                self.affine(out, src, map);
                self.end_part(dst, part);
                continue;
            }
            let out = self.define(dst, part);
            // The first term of the sum; a sum of subtracted terms only starts with the constant.
            let begin = terms.iter().position(|t| !t.neg);
            let mut sum = match begin {
                Some(k) if terms[k].shl == 0 => self.in_reg(terms[k].reg, part),
                Some(k) => {
                    let Term { reg, shl, .. } = terms[k];
                    self.operand_into(out, lane, reg, part, shl);
                    out
                }
                None if c == 0 => ZERO,
                None => {
                    let memory = (CONSTANTS, self.constants.splat(lane, c));
                    self.load(lane, out, memory);
                    out
                }
            };
            for (k, t) in terms.iter().enumerate() {
                if Some(k) != begin {
                    let op = if t.neg { sub(lane) } else { add(lane) };
                    let term = self.operand(lane, t.reg, part, t.shl);
                    self.op3(op, lane, out, sum, term);
                    sum = out;
                    // A sum may have more terms than there are registers.
                    if let Rm::Reg(r) = term {
                        self.pinned &= !(1 << r);
                        if t.shl > 0 {
                            self.free |= 1 << r;
                        }
                    }
                }
            }
            if begin.is_some() && c != 0 {
                let c = self.splat(lane, c);
                self.op3(add(lane), lane, out, sum, c);
                sum = out;
            }
            if !self.finish(lane, out, sum, f) && sum != out {
                self.asm.evex(MOV_LOAD, length(lane), out, 0, Rm::Reg(sum), 0, false, 0);
            }
            self.end_part(dst, part);
        }
    }

    fn mul(&mut self, dst: Reg, a: Reg, b: Reg, shl: u8, f: Finish) {
        let lane = self.code.lanes[dst as usize];
        for part in 0..self.parts(lane) {
            let out = self.define(dst, part);
            let (a, b) = (self.in_reg(a, part), self.anywhere(b, part));
            self.op3(mul(lane), lane, out, a, b);
            if shl > 0 {
                self.shifted(lane, Shift::Left, out, Rm::Reg(out), shl);
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
            let out = self.define(dst, part);
            let a = self.operand_in_reg(lane, a.0, part, a.1);
            let b = self.operand(lane, b.0, part, b.1);
            self.op3(op, lane, out, a, b);
            self.finish(lane, out, out, f);
            self.end_part(dst, part);
        }
    }

    fn mux(&mut self, dst: Reg, cond: Reg, bit: u8, on_true: Choice, on_false: Choice, f: Finish) {
        let lane = self.code.lanes[dst as usize];
        for part in 0..self.parts(lane) {
            let out = self.define(dst, part);
            let cond = self.in_reg(cond, part);
            let (on_true, on_false) = (self.choice(lane, on_true, part), self.choice(lane, on_false, part));
            if u32::from(bit) == 8 * lane.bytes() - 1 {
                self.asm.evex(signs(lane), length(lane), K1, 0, Rm::Reg(cond), 0, false, 0);
            } else {
                let mask = self.splat(lane, 1i64 << bit);
                self.op3(test(lane), lane, K1, cond, mask);
            }
            self.asm.evex(blend(lane), length(lane), out, on_false, Rm::Reg(on_true), K1, false, 0);
            self.finish(lane, out, out, f);
            self.end_part(dst, part);
        }
    }

    fn compare(&mut self, dst: Reg, x: Reg, than: i64, eq: bool, f: Finish) {
        let lane = self.code.lanes[dst as usize];
        for part in 0..self.parts(lane) {
            let out = self.define(dst, part);
            let x = self.in_reg(x, part);
            let than = self.splat(lane, than);
            self.op3(compare(lane), lane, K1, x, than);
            self.asm.imm(if eq { 0 } else { 4 });
            let one = self.splat(lane, 1);
            let scale = if lane == Lane::B1 { 32 } else { 64 };
            self.asm.evex(masked_load(lane), length(lane), out, 0, one, K1, true, scale);
            self.finish(lane, out, out, f);
            self.end_part(dst, part);
        }
    }

    fn convert(&mut self, dst: Reg, src: Reg, zero: bool) {
        let (from, to) = (self.code.lanes[src as usize], self.code.lanes[dst as usize]);
        if self.parts(from) == 1 && self.parts(to) == 1 {
            let out = self.define(dst, 0);
            if from < to {
                let src = self.anywhere(src, 0);
                // The operand in memory has half the size.
                self.asm.evex(extend(from, to, zero), length(to), out, 0, src, 0, false, 32);
            } else {
                let src = self.in_reg(src, 0);
                self.asm.evex(truncate(from, to), length(from), src, 0, Rm::Reg(out), 0, false, 0);
            }
            self.end_part(dst, 0);
            return;
        }
        // Several vectors correspond to one vector, so the conversion uses memory, where they are adjacent.
        let ratio = (from.bytes().max(to.bytes()) / from.bytes().min(to.bytes())) as i32;
        if from < to {
            for part in 0..self.parts(to) {
                let at = part as i32 * 64 / ratio;
                let (base, disp) = self.save(src, at as u32 / 64);
                let out = self.define(dst, part);
                let rm = Rm::Mem { base, disp: disp + at % 64 };
                self.asm.evex(extend(from, to, zero), length(to), out, 0, rm, 0, false, 64 / ratio);
                self.end_part(dst, part);
            }
            return;
        }
        for part in 0..self.parts(to) {
            // A temporary register is assigned so that a spill slot is allocated as for any other value.
            let out = self.define(dst, part);
            let (base, disp) = match self.home(dst, part).memory {
                Some(memory) => memory,
                None => self.save(dst, part),
            };
            let of_part = (self.parts(from) / self.parts(to)) as i32;
            for k in 0..of_part {
                let src = self.in_reg(src, part * of_part as u32 + k as u32);
                let rm = Rm::Mem { base, disp: disp + k * 64 / ratio };
                self.asm.evex(truncate(from, to), length(from), src, 0, rm, 0, false, 64 / ratio);
                self.pinned &= !(1 << src);
            }
            self.home(dst, part).reg = NO_REG;
            self.holds[out as usize] = (NONE, 0);
            self.unpin();
        }
    }

    /// Emits a lookup that [`permuted`] supports.
    fn lookup(&mut self, dst: Reg, x: Reg, table: u32) {
        let lane = self.code.lanes[dst as usize];
        let table = &self.code.tables[table as usize];
        let (base, len, compared) = (table.base, table.entries.len() as i64, lane == Lane::B2 && !table.inside);
        let table = permuted(table, lane, self.target.vbmi).expect("asked by `knows`");
        let vectors: Vec<i32> = table.iter().map(|vector| self.constants.vector(vector)).collect();
        let index = self.in_reg(x, 0);
        // A permutation of two vectors reads the low bits of an operand; each higher bit selects by a mask.
        let taken = if lane == Lane::B1 { 7 } else { 6 };
        for level in 1..vectors.len().ilog2() {
            let mask = self.splat(lane, 1i64 << (taken + level - 1));
            self.op3(test(lane), lane, level as u8, index, mask);
        }
        let out = self.define(dst, 0);
        self.chosen(lane, out, index, &vectors);
        if compared {
            let (base, len) = (self.splat(lane, base), self.splat(lane, len));
            let entry = self.take();
            self.op3(sub(lane), lane, entry, index, base);
            self.op3(BELOW, lane, K1, entry, len);
            self.asm.imm(1);
            self.asm.evex(masked_load(lane), length(lane), out, 0, Rm::Reg(out), K1, true, 0);
        }
        self.end_part(dst, 0);
    }
}
