//! Machine code for the straight parts of a program: AVX-512 instructions, values in registers.
//!
//! The loops of [`super::kernels`] pay for every operation a call, two loads and a store a vector. Here a group of
//! [`GROUP`] samples goes through the whole program at once: one or two instructions an operation, operands in the 31
//! free vector registers, the rest spilled by the rule of L. A. Belady (*A study of replacement algorithms*, IBM
//! Systems Journal 1966): out goes what is needed last. Compiling is one pass, linear in the program, some hundred
//! nanoseconds an operation.
//!
//! Lookups in small tables are permutations of bytes or words: the table is the vector that is permuted, its operands
//! choose (see [`permuted`]). Larger tables are permuted piece by piece, and bits of the operand choose among the pieces.
//!
//! What it does not know (other lookups, lanes of 128 bits, wide integers) stays with the kernels: the program is cut there,
//! and values that cross a cut live in the arena as they do for kernels. So nothing is refused, and the kernels are the
//! plain twin that defines what is right.
//!
//! This is one of the two places of the engine with `unsafe`. The reasons: memory is made executable and called. What
//! makes it sound: the code is made from instructions of a checked [`Code`] only, it reads and writes the arena at
//! offsets of the same allocator as the kernels, its own spill area, and its own constants (see [`MachineCode::run`]).

use super::lower::{Choice, Code, Ins, Lane, LaneTable, Reg, Term, Wrap};
use crate::ir::BinaryBits;
use rustc_hash::FxHashMap;

/// Samples that go through the code together: lanes of 16 bits then fill one register.
pub(super) const GROUP: usize = 32;

/// Whether the instruction can be compiled.
pub(super) fn knows(code: &Code, ins: &Ins) -> bool {
    let machine = |reg: Reg| code.lanes[reg as usize] <= Lane::B8;
    let mut all = machine(ins.dst());
    ins.for_each_source(code, |r| all &= machine(r));
    all && match ins {
        Ins::Linear { .. } | Ins::Bits { .. } | Ins::Mux { .. } | Ins::Compare { .. } | Ins::Convert { .. } => true,
        Ins::Mul { dst, .. } => code.lanes[*dst as usize] > Lane::B1,
        Ins::Lookup { dst, table, .. } => permuted(&code.tables[*table as usize], code.lanes[*dst as usize]).is_some(),
        Ins::Narrow { .. } | Ins::Wide { .. } => false,
    }
}

/// Vectors of a lookup in words at most: beyond, the loop is as fast.
const MAX_VECTORS: usize = 32;

/// A table as the vectors that are permuted: entry for operand code `v` at position `v` modulo their length, which is a
/// power of two. A byte outside the table finds zero there; words are compared with the ends of theirs. `None` where that
/// cannot be: operands of more than 16 bits, tables that are too large or have entries for codes that the lane does not
/// hold, and bytes on a processor without AVX512-VBMI.
fn permuted(table: &LaneTable, lane: Lane) -> Option<Vec<[u8; 64]>> {
    let len = table.entries.len();
    let bytes = lane == Lane::B1;
    let suits = match lane {
        Lane::B1 => is_x86_feature_detected!("avx512vbmi"),
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
    // Operands of a table that holds them all are told apart by their low bits, others by all their bits.
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

/// General registers, by their numbers.
const RAX: u8 = 0;
const RDX: u8 = 2;
const RSI: u8 = 6;
const RDI: u8 = 7;
const R8: u8 = 8;
const R9: u8 = 9;
/// Where the spill area begins.
const SPILL: u8 = RSI;
/// Where the constants begin.
const CONSTANTS: u8 = RDX;
/// The vector register that holds zero.
const ZERO: u8 = 31;
/// Mask register of comparisons.
const K1: u8 = 1;

/// The register that points to the group's samples in slots of a lane.
fn pointer(lane: Lane) -> u8 {
    match lane {
        Lane::B1 => RDI,
        Lane::B2 => RAX,
        Lane::B4 => R8,
        _ => R9,
    }
}

/// Vectors of a group in a lane.
fn parts(lane: Lane) -> u32 {
    (GROUP as u32 * lane.bytes()).div_ceil(64)
}

/// Length of these vectors as the encoding has it: 1 for 256 bits, 2 for 512.
fn length(lane: Lane) -> u8 {
    if lane == Lane::B1 { 1 } else { 2 }
}

/// A register or a place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rm {
    Reg(u8),
    Mem { base: u8, disp: i32 },
}

/// An instruction of the EVEX encoding, without operands: opcode map, prefix, W bit, opcode.
#[derive(Clone, Copy)]
struct Opcode(u8, u8, u8, u8);

const MOV_LOAD: Opcode = Opcode(1, 1, 0, 0x6f);
const MOV_STORE: Opcode = Opcode(1, 1, 0, 0x7f);
const AND: Opcode = Opcode(1, 1, 0, 0xdb);
const OR: Opcode = Opcode(1, 1, 0, 0xeb);
const XOR: Opcode = Opcode(1, 1, 0, 0xef);
/// Every byte times an 8x8 matrix of bits.
const AFFINE: Opcode = Opcode(3, 1, 1, 0xce);

fn add(lane: Lane) -> Opcode {
    match lane {
        Lane::B1 => Opcode(1, 1, 0, 0xfc),
        Lane::B2 => Opcode(1, 1, 0, 0xfd),
        Lane::B4 => Opcode(1, 1, 0, 0xfe),
        _ => Opcode(1, 1, 1, 0xd4),
    }
}

fn sub(lane: Lane) -> Opcode {
    match lane {
        Lane::B1 => Opcode(1, 1, 0, 0xf8),
        Lane::B2 => Opcode(1, 1, 0, 0xf9),
        Lane::B4 => Opcode(1, 1, 0, 0xfa),
        _ => Opcode(1, 1, 1, 0xfb),
    }
}

fn mul(lane: Lane) -> Opcode {
    match lane {
        Lane::B2 => Opcode(1, 1, 0, 0xd5),
        Lane::B4 => Opcode(2, 1, 0, 0x40),
        _ => Opcode(2, 1, 1, 0x40),
    }
}

fn max(lane: Lane) -> Opcode {
    match lane {
        Lane::B1 => Opcode(2, 1, 0, 0x3c),
        Lane::B2 => Opcode(1, 1, 0, 0xee),
        Lane::B4 => Opcode(2, 1, 0, 0x3d),
        _ => Opcode(2, 1, 1, 0x3d),
    }
}

/// Comparison to a mask, with a predicate as immediate byte.
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

/// Mask of lanes that have a bit in common.
fn test(lane: Lane) -> Opcode {
    match lane {
        Lane::B1 => Opcode(2, 1, 0, 0x26),
        Lane::B2 => Opcode(2, 1, 1, 0x26),
        Lane::B4 => Opcode(2, 1, 0, 0x27),
        _ => Opcode(2, 1, 1, 0x27),
    }
}

/// Mask of lanes whose top bit is set.
fn signs(lane: Lane) -> Opcode {
    match lane {
        Lane::B1 => Opcode(2, 2, 0, 0x29),
        Lane::B2 => Opcode(2, 2, 1, 0x29),
        Lane::B4 => Opcode(2, 2, 0, 0x39),
        _ => Opcode(2, 2, 1, 0x39),
    }
}

/// By a mask, the second operand where it is set, else the first.
fn blend(lane: Lane) -> Opcode {
    match lane {
        Lane::B1 => Opcode(2, 1, 0, 0x66),
        Lane::B2 => Opcode(2, 1, 1, 0x66),
        Lane::B4 => Opcode(2, 1, 0, 0x64),
        _ => Opcode(2, 1, 1, 0x64),
    }
}

/// A load that a mask can fill with zeros.
fn masked_load(lane: Lane) -> Opcode {
    match lane {
        Lane::B1 => Opcode(1, 3, 0, 0x6f),
        Lane::B2 => Opcode(1, 3, 1, 0x6f),
        Lane::B4 => Opcode(1, 1, 0, 0x6f),
        _ => Opcode(1, 1, 1, 0x6f),
    }
}

/// The elements of one vector (an operand in memory) that the elements of another choose.
fn permute(lane: Lane) -> Opcode {
    Opcode(2, 1, u8::from(lane == Lane::B2), 0x8d)
}

/// The same for two vectors one after the other, the first being what the destination holds.
fn permute_two(lane: Lane) -> Opcode {
    Opcode(2, 1, u8::from(lane == Lane::B2), 0x7d)
}

/// Shift by an immediate byte: opcode and its extension. No lanes of 8 bits.
fn shift(lane: Lane, kind: Shift) -> (Opcode, u8) {
    let digit = match kind {
        Shift::Left => 6,
        Shift::Logical => 2,
        Shift::Arithmetic => 4,
    };
    let opcode = match (lane, kind) {
        (Lane::B2, _) => Opcode(1, 1, 0, 0x71),
        (Lane::B4, _) => Opcode(1, 1, 0, 0x72),
        (_, Shift::Arithmetic) => Opcode(1, 1, 1, 0x72),
        _ => Opcode(1, 1, 1, 0x73),
    };
    (opcode, digit)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shift {
    Left,
    Logical,
    Arithmetic,
}

/// Extension from a narrower lane.
fn extend(from: Lane, to: Lane, zero: bool) -> Opcode {
    let code = match (from, to) {
        (Lane::B1, Lane::B2) => 0x20,
        (Lane::B1, Lane::B4) => 0x21,
        (Lane::B1, _) => 0x22,
        (Lane::B2, Lane::B4) => 0x23,
        (Lane::B2, _) => 0x24,
        _ => 0x25,
    };
    Opcode(2, 1, 0, code + if zero { 0x10 } else { 0 })
}

/// The low part of a wider lane. The destination is the operand that may be memory.
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

/// Bytes of code.
struct Assembler {
    bytes: Vec<u8>,
}

impl Assembler {
    /// One EVEX instruction (Intel SDM volume 2, section 2.7): `reg` and `vvvv` are vector registers (or an opcode
    /// extension), `mask` a mask register or 0. `scale` is what an 8-bit displacement counts in, 0 for none.
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

    fn imm(&mut self, byte: u8) {
        self.bytes.push(byte);
    }
}

const NONE: u32 = u32::MAX;
const NO_REG: u8 = 0xff;

/// Where one vector of a value is.
#[derive(Clone, Copy)]
struct Home {
    reg: u8,
    memory: Option<(u8, i32)>,
    /// Spill slot that `memory` is, or [`NONE`].
    slot: u32,
}

const NOWHERE: Home = Home { reg: NO_REG, memory: None, slot: NONE };

/// Code for one straight part of a program.
struct Compiler<'a> {
    code: &'a Code,
    asm: Assembler,
    /// Arena offsets of the registers that live there.
    offsets: &'a [u32],
    in_arena: &'a [bool],
    /// By register: index of its first vector in `homes`.
    first: Vec<u32>,
    homes: Vec<Home>,
    /// Positions that read a register: `uses[start[r] + cursor[r]..start[r + 1]]` are those to come.
    start: Vec<u32>,
    cursor: Vec<u32>,
    uses: Vec<u32>,
    /// What each vector register holds: value and vector, or [`NONE`].
    holds: [(u32, u32); 32],
    /// Bits of vector registers that must stay during this instruction.
    pinned: u32,
    free: u32,
    free_slots: Vec<u32>,
    slots: u32,
    constants: Constants,
    position: u32,
}

/// Vectors of 64 bytes, each once.
#[derive(Default)]
struct Constants {
    bytes: Vec<u8>,
    splats: FxHashMap<(Lane, i64), i32>,
}

impl Constants {
    /// Offset of the vector with `value` in each lane.
    fn splat(&mut self, lane: Lane, value: i64) -> i32 {
        let bits = 8 * lane.bytes();
        let value = value << (64 - bits) >> (64 - bits);
        *self.splats.entry((lane, value)).or_insert_with(|| {
            let offset = self.bytes.len() as i32;
            let one = &value.to_le_bytes()[..lane.bytes() as usize];
            (0..64 / one.len()).for_each(|_| self.bytes.extend(one));
            offset
        })
    }
}

impl Constants {
    /// Offset of a vector.
    fn vector(&mut self, vector: &[u8; 64]) -> i32 {
        let offset = self.bytes.len() as i32;
        self.bytes.extend(vector);
        offset
    }
}

/// For each bit of a byte the bit that it comes from.
type BitMap = [Option<u8>; 8];

const IDENTITY: BitMap = [Some(0), Some(1), Some(2), Some(3), Some(4), Some(5), Some(6), Some(7)];

/// A shift of a byte as the places its bits come from.
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

/// The matrix of a bit map, as the instruction wants it: row for bit i in byte 7 - i.
fn matrix(map: BitMap) -> i64 {
    let rows: [u8; 8] = std::array::from_fn(|k| map[7 - k].map_or(0, |from| 1 << from));
    i64::from_le_bytes(rows)
}

/// What an instruction does after its own operation.
#[derive(Clone, Copy)]
struct Finish {
    relu: bool,
    shr: u8,
    logical: bool,
    wrap: Wrap,
}

impl Compiler<'_> {
    // ---- registers --------------------------------------------------------------------------------------------

    fn next_use(&self, value: Reg) -> u32 {
        let at = self.start[value as usize] + self.cursor[value as usize];
        if at < self.start[value as usize + 1] { self.uses[at as usize] } else { NONE }
    }

    fn home(&mut self, value: Reg, part: u32) -> &mut Home {
        &mut self.homes[(self.first[value as usize] + part) as usize]
    }

    fn mov(&mut self, op: Opcode, lane: Lane, reg: u8, memory: (u8, i32)) {
        let rm = Rm::Mem { base: memory.0, disp: memory.1 };
        let scale = if lane == Lane::B1 { 32 } else { 64 };
        self.asm.evex(op, length(lane), reg, 0, rm, 0, false, scale);
    }

    /// A vector register for something new; it is pinned.
    fn take(&mut self) -> u8 {
        let reg = if self.free != 0 {
            self.free.trailing_zeros() as u8
        } else {
            let victim = (0..31u8)
                .filter(|&r| self.pinned >> r & 1 == 0)
                .max_by_key(|&r| self.next_use(self.holds[r as usize].0))
                .expect("an instruction pins a few registers only");
            self.evict(victim);
            victim
        };
        self.free &= !(1 << reg);
        self.pinned |= 1 << reg;
        self.holds[reg as usize] = (NONE, 0);
        reg
    }

    fn evict(&mut self, reg: u8) {
        let (value, part) = self.holds[reg as usize];
        self.save(value, part);
        self.home(value, part).reg = NO_REG;
    }

    /// Makes sure that a vector is in memory too.
    fn save(&mut self, value: Reg, part: u32) -> (u8, i32) {
        let home = *self.home(value, part);
        if let Some(memory) = home.memory {
            return memory;
        }
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        });
        let memory = (SPILL, slot as i32 * 64);
        let lane = self.code.lanes[value as usize];
        self.mov(MOV_STORE, lane, home.reg, memory);
        *self.home(value, part) = Home { memory: Some(memory), slot, ..home };
        memory
    }

    /// A vector in a register, pinned.
    fn in_reg(&mut self, value: Reg, part: u32) -> u8 {
        let home = *self.home(value, part);
        if home.reg != NO_REG {
            self.pinned |= 1 << home.reg;
            return home.reg;
        }
        let reg = self.take();
        let memory = home.memory.expect("a value is in a register or in memory");
        self.mov(MOV_LOAD, self.code.lanes[value as usize], reg, memory);
        self.holds[reg as usize] = (value, part);
        self.home(value, part).reg = reg;
        reg
    }

    /// A vector wherever it is; brought into a register if it is needed again soon.
    fn anywhere(&mut self, value: Reg, part: u32) -> Rm {
        let home = *self.home(value, part);
        let again = self.next_use(value);
        match home.memory {
            Some((base, disp)) if home.reg == NO_REG && (again == NONE || again > self.position + 24) => {
                Rm::Mem { base, disp }
            }
            _ => Rm::Reg(self.in_reg(value, part)),
        }
    }

    /// The register that `value` is to be computed in.
    fn define(&mut self, value: Reg, part: u32) -> u8 {
        let reg = self.take();
        self.holds[reg as usize] = (value, part);
        self.home(value, part).reg = reg;
        reg
    }

    /// After an instruction: operands that are not needed any more give back what they have.
    fn release(&mut self, value: Reg) {
        if self.next_use(value) != NONE {
            return;
        }
        for part in 0..parts(self.code.lanes[value as usize]) {
            let home = *self.home(value, part);
            if home.reg != NO_REG {
                self.free |= 1 << home.reg;
            }
            if home.slot != NONE {
                self.free_slots.push(home.slot);
            }
            *self.home(value, part) = Home { reg: NO_REG, slot: NONE, ..home };
        }
    }

    /// Unpins everything, and gives temporary registers back.
    fn unpin(&mut self) {
        let mut pinned = std::mem::take(&mut self.pinned);
        while pinned != 0 {
            let reg = pinned.trailing_zeros();
            pinned &= pinned - 1;
            if self.holds[reg as usize].0 == NONE {
                self.free |= 1 << reg;
            }
        }
    }

    // ---- operations -------------------------------------------------------------------------------------------

    fn op3(&mut self, op: Opcode, lane: Lane, dst: u8, a: u8, b: Rm) {
        let scale = if lane == Lane::B1 { 32 } else { 64 };
        self.asm.evex(op, length(lane), dst, a, b, 0, false, scale);
    }

    fn splat(&mut self, lane: Lane, value: i64) -> Rm {
        Rm::Mem { base: CONSTANTS, disp: self.constants.splat(lane, value) }
    }

    /// Bytes through a matrix of bits.
    fn affine(&mut self, dst: u8, src: u8, map: BitMap) {
        let matrix = self.splat(Lane::B8, matrix(map));
        self.asm.evex(AFFINE, length(Lane::B1), dst, src, matrix, 0, false, 32);
        self.asm.imm(0);
    }

    /// A shift; `src` is a register for lanes of 8 bits.
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

    /// An operand shifted to the left by at least one, in register `dst`.
    fn operand_into(&mut self, dst: u8, lane: Lane, value: Reg, part: u32, shl: u8) {
        let needs_reg = lane == Lane::B1 || shl == 1;
        let src = if needs_reg { Rm::Reg(self.in_reg(value, part)) } else { self.anywhere(value, part) };
        self.shifted(lane, Shift::Left, dst, src, shl);
    }

    /// An operand shifted to the left.
    fn operand(&mut self, lane: Lane, value: Reg, part: u32, shl: u8) -> Rm {
        if shl == 0 {
            return self.anywhere(value, part);
        }
        let dst = self.take();
        self.operand_into(dst, lane, value, part, shl);
        Rm::Reg(dst)
    }

    /// The same in a register.
    fn operand_in_reg(&mut self, lane: Lane, value: Reg, part: u32, shl: u8) -> u8 {
        if shl == 0 {
            return self.in_reg(value, part);
        }
        let dst = self.take();
        self.operand_into(dst, lane, value, part, shl);
        dst
    }

    /// Finishes `src` into `dst` (they may be the same). Returns whether anything was emitted.
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

    fn linear(&mut self, dst: Reg, terms: &[Term], c: i64, f: Finish) {
        let lane = self.code.lanes[dst as usize];
        for part in 0..parts(lane) {
            // Bytes go through one matrix for both shifts and the wrap.
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
            // A term to begin with; a sum of subtracted terms only begins with the constant.
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
                    self.mov(MOV_LOAD, lane, out, memory);
                    out
                }
            };
            for (k, t) in terms.iter().enumerate() {
                if Some(k) != begin {
                    let op = if t.neg { sub(lane) } else { add(lane) };
                    let term = self.operand(lane, t.reg, part, t.shl);
                    self.op3(op, lane, out, sum, term);
                    sum = out;
                    // Sums may have more terms than there are registers.
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
        for part in 0..parts(lane) {
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
        for part in 0..parts(lane) {
            let out = self.define(dst, part);
            let a = self.operand_in_reg(lane, a.0, part, a.1);
            let b = self.operand(lane, b.0, part, b.1);
            self.op3(op, lane, out, a, b);
            self.finish(lane, out, out, f);
            self.end_part(dst, part);
        }
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

    fn mux(&mut self, dst: Reg, cond: Reg, bit: u8, on_true: Choice, on_false: Choice, f: Finish) {
        let lane = self.code.lanes[dst as usize];
        for part in 0..parts(lane) {
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
        for part in 0..parts(lane) {
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
        if parts(from) == 1 && parts(to) == 1 {
            let out = self.define(dst, 0);
            if from < to {
                let src = self.anywhere(src, 0);
                // The operand in memory is half as long.
                self.asm.evex(extend(from, to, zero), length(to), out, 0, src, 0, false, 32);
            } else {
                let src = self.in_reg(src, 0);
                self.asm.evex(truncate(from, to), length(from), src, 0, Rm::Reg(out), 0, false, 0);
            }
            self.end_part(dst, 0);
            return;
        }
        // Several vectors against one: through memory, where they lie side by side.
        let ratio = (from.bytes().max(to.bytes()) / from.bytes().min(to.bytes())) as i32;
        if from < to {
            for part in 0..parts(to) {
                let at = part as i32 * 64 / ratio;
                let (base, disp) = self.save(src, at as u32 / 64);
                let out = self.define(dst, part);
                let rm = Rm::Mem { base, disp: disp + at % 64 };
                self.asm.evex(extend(from, to, zero), length(to), out, 0, rm, 0, false, 64 / ratio);
                self.end_part(dst, part);
            }
            return;
        }
        for part in 0..parts(to) {
            // A register is taken for the moment, for a slot to be found as for any other value.
            let out = self.define(dst, part);
            let (base, disp) = match self.home(dst, part).memory {
                Some(memory) => memory,
                None => self.save(dst, part),
            };
            let of_part = (parts(from) / parts(to)) as i32;
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

    /// A lookup that [`permuted`] knows.
    fn lookup(&mut self, dst: Reg, x: Reg, table: u32) {
        let lane = self.code.lanes[dst as usize];
        let table = &self.code.tables[table as usize];
        let (base, len, compared) = (table.base, table.entries.len() as i64, lane == Lane::B2 && !table.inside);
        let table = permuted(table, lane).expect("asked by `knows`");
        let vectors: Vec<i32> = table.iter().map(|vector| self.constants.vector(vector)).collect();
        let index = self.in_reg(x, 0);
        // A permutation of two vectors takes the low bits of an operand; those above choose, each by a mask.
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

    /// What the elements of `index` choose from constant vectors, to `out`. Bytes fill the lower half of a vector; what
    /// the upper one becomes nobody reads.
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

    /// The vector of a destination is there: to the arena with it, if it lives there.
    fn end_part(&mut self, dst: Reg, part: u32) {
        let home = *self.home(dst, part);
        if let Some(memory) = home.memory {
            self.mov(MOV_STORE, self.code.lanes[dst as usize], home.reg, memory);
        }
        self.unpin();
    }

    fn instruction(&mut self, ins: &Ins) {
        let code = self.code;
        // This instruction is no longer a use to come.
        ins.for_each_source(code, |r| self.cursor[r as usize] += 1);
        let dst = ins.dst();
        if self.in_arena[dst as usize] {
            self.place(dst);
        }
        let finish = |shr, logical, relu, wrap| Finish { relu, shr, logical, wrap };
        match *ins {
            Ins::Linear { dst, first, count, c, shr, logical, relu, wrap } => {
                let terms = &code.terms[first as usize..][..count as usize];
                let c = code.constants[c as usize] as i64;
                self.linear(dst, terms, c, finish(shr, logical, relu, wrap));
            }
            Ins::Mul { dst, a, b, shl, shr, logical, wrap } => {
                self.mul(dst, a, b, shl, finish(shr, logical, false, wrap));
            }
            Ins::Bits { dst, op, a, sa, b, sb, shr, logical, wrap } => {
                self.bits(dst, op, (a, sa), (b, sb), finish(shr, logical, false, wrap));
            }
            Ins::Mux { dst, cond, bit, on_true, on_false, wrap } => {
                self.mux(dst, cond, bit, on_true, on_false, finish(0, false, false, wrap));
            }
            Ins::Compare { dst, x, than, eq, wrap } => {
                let than = code.constants[than as usize] as i64;
                self.compare(dst, x, than, eq, finish(0, false, false, wrap));
            }
            Ins::Convert { dst, src, zero } => self.convert(dst, src, zero),
            Ins::Lookup { dst, x, table } => self.lookup(dst, x, table),
            Ins::Narrow { .. } | Ins::Wide { .. } => unreachable!("these are left to kernels"),
        }
        ins.for_each_source(code, |r| self.release(r));
        self.release(dst);
    }

    /// Gives a value its place in the arena.
    fn place(&mut self, value: Reg) {
        let lane = self.code.lanes[value as usize];
        let offset = self.offsets[value as usize] as i32;
        for part in 0..parts(lane) {
            let memory = Some((pointer(lane), offset + part as i32 * 64));
            *self.home(value, part) = Home { memory, ..NOWHERE };
        }
    }

    /// One straight part as a function: a loop over groups around its instructions.
    fn part(&mut self, range: std::ops::Range<usize>) -> usize {
        let entry = self.asm.bytes.len();
        // Nothing stays in a register from one part to the next: each is a loop of its own.
        for (value, part) in std::mem::replace(&mut self.holds, [(NONE, 0); 32]) {
            if value != NONE {
                self.home(value, part).reg = NO_REG;
            }
        }
        self.free = (1 << 31) - 1;
        // mov rax, rdi; mov r8, rdi; mov r9, rdi
        self.asm.bytes.extend([0x48, 0x89, 0xf8, 0x49, 0x89, 0xf8, 0x49, 0x89, 0xf9]);
        self.asm.evex(XOR, 2, ZERO, ZERO, Rm::Reg(ZERO), 0, false, 0);
        let head = self.asm.bytes.len();
        for k in range {
            self.position = k as u32;
            let ins = self.code.ins[k];
            self.instruction(&ins);
        }
        // Values that nobody in this part reads any more have no register; those of other parts are in the arena.
        let group = GROUP as u32;
        for (prefix, modrm, size) in
            [([0x48, 0x81], 0xc7, 1), ([0x48, 0x81], 0xc0, 2), ([0x49, 0x81], 0xc0, 4), ([0x49, 0x81], 0xc1, 8)]
        {
            // add pointer, samples of the group in its lane
            self.asm.bytes.extend(prefix);
            self.asm.bytes.push(modrm);
            self.asm.bytes.extend((group * size).to_le_bytes());
        }
        // dec rcx; jnz head; vzeroupper; ret
        self.asm.bytes.extend([0x48, 0xff, 0xc9, 0x0f, 0x85]);
        let back = head as i64 - (self.asm.bytes.len() as i64 + 4);
        self.asm.bytes.extend((back as i32).to_le_bytes());
        self.asm.bytes.extend([0xc5, 0xf8, 0x77, 0xc3]);
        entry
    }
}

/// Which instructions are compiled: maximal straight parts.
pub(super) fn straight_parts(code: &Code) -> Vec<std::ops::Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (k, ins) in code.ins.iter().enumerate() {
        if !knows(code, ins) {
            if start < k {
                parts.push(start..k);
            }
            start = k + 1;
        }
    }
    if start < code.ins.len() {
        parts.push(start..code.ins.len());
    }
    parts
}

/// Lookups of the straight parts that can miss what is to be reported: the loops look at their operands afterwards.
pub(super) fn watched<'c>(code: &'c Code, straight: &'c [std::ops::Range<usize>]) -> impl Iterator<Item = &'c Ins> {
    let all = straight.iter().flat_map(|range| &code.ins[range.clone()]);
    all.filter(|ins| matches!(ins, Ins::Lookup { table, .. } if code.tables[*table as usize].faults))
}

/// Which registers live in the arena because somebody outside their own part reads or writes them.
pub(super) fn in_arena(code: &Code, straight: &[std::ops::Range<usize>]) -> Vec<bool> {
    // Part that defines a register; 0 is none. Constants are at hand in every part.
    const FIXED: u32 = u32::MAX;
    let mut part_of = vec![0u32; code.lanes.len()];
    code.fixed.iter().for_each(|f| part_of[f.0 as usize] = FIXED);
    let mut needed = vec![false; code.lanes.len()];
    let mut visit = |k: usize, part: u32| {
        let ins = &code.ins[k];
        ins.for_each_source(code, |r| {
            needed[r as usize] |= part == 0 || (part_of[r as usize] != part && part_of[r as usize] != FIXED);
        });
        part_of[ins.dst() as usize] = part;
        needed[ins.dst() as usize] |= part == 0;
    };
    let mut next = 0;
    for (n, range) in straight.iter().enumerate() {
        (next..range.start).for_each(|k| visit(k, 0));
        range.clone().for_each(|k| visit(k, n as u32 + 1));
        next = range.end;
    }
    (next..code.ins.len()).for_each(|k| visit(k, 0));
    code.outputs.iter().filter_map(|o| o.src).for_each(|r| needed[r as usize] = true);
    code.inputs.iter().for_each(|i| needed[i.dst as usize] = true);
    watched(code, straight).for_each(|ins| ins.for_each_source(code, |r| needed[r as usize] = true));
    needed
}

/// Code that can be called, and what it needs.
pub(super) struct MachineCode {
    memory: Executable,
    entries: Vec<usize>,
    constants: Vec<u8>,
    pub(super) spill_bytes: usize,
}

impl MachineCode {
    /// Compiles the straight parts; `None` where the system does not let us.
    pub(super) fn compile(
        code: &Code,
        straight: &[std::ops::Range<usize>],
        in_arena: &[bool],
        offsets: &[u32],
    ) -> Option<MachineCode> {
        let n = code.lanes.len();
        let mut first = Vec::with_capacity(n);
        let mut vectors = 0;
        for &lane in &code.lanes {
            first.push(vectors);
            vectors += parts(lane);
        }
        let mut compiler = Compiler {
            code,
            asm: Assembler { bytes: Vec::with_capacity(16 * code.ins.len() + 256) },
            offsets,
            in_arena,
            first,
            homes: vec![NOWHERE; vectors as usize],
            start: vec![0; n + 1],
            cursor: vec![0; n],
            uses: Vec::new(),
            holds: [(NONE, 0); 32],
            pinned: 0,
            free: 0,
            free_slots: Vec::new(),
            slots: 0,
            constants: Constants::default(),
            position: 0,
        };
        compiler.list_uses(straight);
        for &(reg, value) in &code.fixed {
            let lane = code.lanes[reg as usize];
            if lane <= Lane::B8 {
                let memory = Some((CONSTANTS, compiler.constants.splat(lane, value as i64)));
                for part in 0..parts(lane) {
                    *compiler.home(reg, part) = Home { memory, ..NOWHERE };
                }
            }
        }
        for input in &code.inputs {
            if code.lanes[input.dst as usize] <= Lane::B8 {
                compiler.place(input.dst);
            }
        }
        let mut entries = Vec::with_capacity(straight.len());
        let mut next = 0;
        for range in straight {
            // What a kernel before this part has made is in the arena.
            for ins in &code.ins[next..range.start] {
                if code.lanes[ins.dst() as usize] <= Lane::B8 {
                    compiler.place(ins.dst());
                }
            }
            next = range.end;
            entries.push(compiler.part(range.clone()));
        }
        let spill_bytes = compiler.slots as usize * 64;
        let memory = Executable::new(&compiler.asm.bytes)?;
        // Vectors are read at multiples of their length.
        let bytes = compiler.constants.bytes;
        let mut constants = vec![0; bytes.len() + 64];
        let skip = constants.as_ptr().align_offset(64);
        constants[skip..skip + bytes.len()].copy_from_slice(&bytes);
        Some(MachineCode { memory, entries, constants, spill_bytes })
    }

    /// Runs straight part `part` over `groups` groups of samples.
    ///
    /// # Safety
    /// `arena` has the layout that the code was compiled for with room for that many groups, `spill` has
    /// [`MachineCode::spill_bytes`]; both begin at a multiple of 64 and belong to this thread. The processor has
    /// AVX-512 (F, BW, DQ, VL) and GFNI, and where [`knows`] found it VBMI.
    pub(super) unsafe fn run(&self, part: usize, arena: *mut u8, spill: *mut u8, groups: u64) {
        if groups == 0 {
            return;
        }
        let constants = self.constants.as_ptr();
        // SAFETY: `align_offset` of a byte pointer stays within the 64 bytes of room.
        let constants = unsafe { constants.add(constants.align_offset(64)) };
        // SAFETY: the entry is the beginning of a function of this signature in executable memory.
        unsafe {
            let function: extern "sysv64" fn(*mut u8, *mut u8, *const u8, u64) =
                std::mem::transmute(self.memory.start.add(self.entries[part]));
            function(arena, spill, constants, groups);
        }
    }
}

impl Compiler<'_> {
    /// Lists, for each register, the instructions of straight parts that read it, in order.
    fn list_uses(&mut self, straight: &[std::ops::Range<usize>]) {
        let code = self.code;
        let all = || straight.iter().flat_map(|r| r.clone());
        for k in all() {
            code.ins[k].for_each_source(code, |r| self.start[r as usize + 1] += 1);
        }
        for r in 0..code.lanes.len() {
            self.start[r + 1] += self.start[r];
        }
        self.uses = vec![0; self.start[code.lanes.len()] as usize];
        let mut fill = self.start.clone();
        for k in all() {
            code.ins[k].for_each_source(code, |r| {
                self.uses[fill[r as usize] as usize] = k as u32;
                fill[r as usize] += 1;
            });
        }
    }
}

/// Memory that holds code.
struct Executable {
    start: *const u8,
    length: usize,
}

// SAFETY: it is never written again.
unsafe impl Send for Executable {}
// SAFETY: as above.
unsafe impl Sync for Executable {}

impl Executable {
    /// Copies code into memory of its own, which then is executable and no longer writable. `None` where the system
    /// forbids it.
    fn new(code: &[u8]) -> Option<Executable> {
        let length = code.len().max(1);
        // SAFETY: a new private mapping; it is written before it is made executable, and within its length.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let start = libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            if start == libc::MAP_FAILED {
                return None;
            }
            std::ptr::copy_nonoverlapping(code.as_ptr(), start.cast::<u8>(), code.len());
            let memory = Executable { start: start.cast(), length };
            (libc::mprotect(start, length, libc::PROT_READ | libc::PROT_EXEC) == 0).then_some(memory)
        }
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing runs in it: whoever runs code borrows it.
        unsafe {
            libc::munmap(self.start.cast_mut().cast(), self.length);
        }
    }
}
