//! Machine code for a program: vector instructions with values in registers.
//!
//! The loops of [`super::kernels`] need a call for every operation, and two loads and a store for every vector. Machine
//! code evaluates the whole program for a group of samples, with one or two instructions for each operation and
//! operands in vector registers. Values that do not fit are spilled by the rule of L. A. Belady (*A study of
//! replacement algorithms*, IBM Systems Journal 1966), which evicts the value whose next use is last. Compilation is
//! one pass in linear time, some hundred nanoseconds for each operation.
//!
//! This file has the parts that are common to all processors: selection of straight parts, registers, spilling,
//! constants, the loop around a part. A [`Target`] provides the instructions: [`Avx512`] or [`Avx2`].
//!
//! Kernels compute the instructions that a target does not support (some lookups, lanes of 128 bits, wide integers).
//! These instructions split the program into straight parts, and the arena stores the values that more than one part
//! uses. So every program is supported, and the kernels are the reference that defines correct results.
//!
//! This module uses `unsafe` to make memory executable and to call the code. The call is sound because the code
//! consists only of instructions of a checked [`Code`], and accesses only the arena (at the register offsets that the
//! kernels use, too), its own spill area, and its own constants (see [`MachineCode::run`]).

mod avx2;
mod avx512;

use avx2::Avx2;
use avx512::Avx512;

use super::lower::{Choice, Code, Ins, Lane, LaneTable, Reg, Term, Wrap};
use super::order::Registers;
use super::plan::InstructionSet;
use alir_core::ir::BinaryBits;
use rustc_hash::FxHashMap;

/// Target of the machine code: an instruction set with its settings.
#[derive(Clone, Copy)]
pub(super) enum Machine {
    Avx2(Avx2),
    Avx512(Avx512),
}

impl Machine {
    /// Returns the target for a program on this computer, for blocks of `block` samples if given; `None` if there is no
    /// machine code for the instruction set.
    pub(super) fn assemble(set: InstructionSet, code: &Code, block: Option<usize>) -> Option<Machine> {
        match set {
            InstructionSet::CompiledAvx2 => Some(Machine::Avx2(Avx2::new(code, block))),
            InstructionSet::Compiled => Some(Machine::Avx512(Avx512::detect())),
            InstructionSet::Baseline | InstructionSet::Avx2 | InstructionSet::Avx512 => None,
        }
    }

    /// Returns `true` if the instruction can be compiled.
    pub(super) fn knows(self, code: &Code, ins: &Ins) -> bool {
        match self {
            Machine::Avx2(target) => target.knows(code, ins),
            Machine::Avx512(target) => target.knows(code, ins),
        }
    }

    pub(super) fn registers(self) -> Registers {
        match self {
            // A few registers are reserved for temporary values.
            Machine::Avx2(target) => Registers { count: 13, bytes: Avx2::VECTOR, group: target.group() },
            Machine::Avx512(_) => Registers::AVX512,
        }
    }

    /// Compiles the straight parts; returns `None` if the operating system does not allow executable memory.
    pub(super) fn compile(
        self,
        code: &Code,
        straight: &[std::ops::Range<usize>],
        in_arena: &[bool],
        offsets: &[u32],
    ) -> Option<MachineCode> {
        match self {
            Machine::Avx2(target) => MachineCode::compile(target, code, straight, in_arena, offsets),
            Machine::Avx512(target) => MachineCode::compile(target, code, straight, in_arena, offsets),
        }
    }
}

/// Vector registers and instructions of an instruction set.
trait Target: Copy {
    /// Vector registers that can contain values, as a bit mask.
    const REGISTERS: u32;
    /// Number of bytes of a vector register.
    const VECTOR: u32;
    /// Number of instructions within which the next use of an operand in memory justifies a register.
    const SOON: u32;
    /// Offset in bytes that is added to the pointer to the spill area, so that short displacements reach more of it.
    const SPILL_BIAS: i32;

    /// Returns the number of samples that the code evaluates together: 16 or 32.
    fn group(self) -> u32;
    /// Returns `true` if a lookup in a lane can be compiled.
    fn knows_lookup(self, table: &LaneTable, lane: Lane) -> bool;
    /// Emits the code before the loop.
    fn begin(self, asm: &mut Assembler);
    /// Loads a vector of a lane from memory (base register and displacement).
    fn load(self, asm: &mut Assembler, lane: Lane, reg: u8, memory: (u8, i32));
    /// Stores a vector of a lane to memory.
    fn store(self, asm: &mut Assembler, lane: Lane, reg: u8, memory: (u8, i32));

    /// Returns the number of vectors of a group in a lane.
    fn parts(self, lane: Lane) -> u32 {
        (self.group() * lane.bytes()).div_ceil(Self::VECTOR)
    }

    /// Returns `true` if the instruction can be compiled.
    fn knows(self, code: &Code, ins: &Ins) -> bool {
        let machine = |reg: Reg| code.lanes[reg as usize] <= Lane::B8;
        let mut all = machine(ins.dst());
        ins.for_each_source(code, |r| all &= machine(r));
        all && match ins {
            Ins::Linear { .. } | Ins::Bits { .. } | Ins::Mux { .. } | Ins::Compare { .. } | Ins::Convert { .. } => true,
            Ins::Mul { dst, .. } => code.lanes[*dst as usize] > Lane::B1,
            Ins::Lookup { dst, table, .. } => {
                self.knows_lookup(&code.tables[*table as usize], code.lanes[*dst as usize])
            }
            Ins::Narrow { .. } | Ins::Wide { .. } => false,
        }
    }
}

/// Emits the instructions of a [`Code`] for a target; each method leaves its result in the place that
/// [`Compiler::end_part`] expects.
trait Operations {
    fn linear(&mut self, dst: Reg, terms: &[Term], c: i64, f: Finish);
    fn mul(&mut self, dst: Reg, a: Reg, b: Reg, shl: u8, f: Finish);
    /// Emits a bit operation; the operands have left shifts.
    fn bits(&mut self, dst: Reg, op: BinaryBits, a: (Reg, u8), b: (Reg, u8), f: Finish);
    fn mux(&mut self, dst: Reg, cond: Reg, bit: u8, on_true: Choice, on_false: Choice, f: Finish);
    fn compare(&mut self, dst: Reg, x: Reg, than: i64, eq: bool, f: Finish);
    fn convert(&mut self, dst: Reg, src: Reg, zero: bool);
    fn lookup(&mut self, dst: Reg, x: Reg, table: u32);
}

/// Numbers of general registers.
const RAX: u8 = 0;
const RDX: u8 = 2;
const RSI: u8 = 6;
const RDI: u8 = 7;
const R8: u8 = 8;
const R9: u8 = 9;
/// Register with the address of the spill area.
const SPILL: u8 = RSI;
/// Register with the address of the constants.
const CONSTANTS: u8 = RDX;

/// Returns the register that points to the group's samples in slots of a lane.
fn pointer(lane: Lane) -> u8 {
    match lane {
        Lane::B1 => RDI,
        Lane::B2 => RAX,
        Lane::B4 => R8,
        _ => R9,
    }
}

/// Operand of an instruction: a register or an address in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rm {
    Reg(u8),
    Mem { base: u8, disp: i32 },
}

/// An instruction without operands: opcode map, prefix, W bit, opcode. The VEX and EVEX encodings of the opcodes in
/// this file are equal, except that VEX arithmetic ignores the W bit.
#[derive(Clone, Copy)]
struct Opcode(u8, u8, u8, u8);

const AND: Opcode = Opcode(1, 1, 0, 0xdb);
const OR: Opcode = Opcode(1, 1, 0, 0xeb);
const XOR: Opcode = Opcode(1, 1, 0, 0xef);
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

/// Returns opcode and extension of a shift by an immediate byte, for lanes of more than 8 bits.
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

/// Returns the opcode of an extension from a narrower lane.
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

/// Buffer for machine code.
struct Assembler {
    bytes: Vec<u8>,
}

impl Assembler {
    fn imm(&mut self, byte: u8) {
        self.bytes.push(byte);
    }
}

const NONE: u32 = u32::MAX;
const NO_REG: u8 = 0xff;

/// Location of one vector of a value.
#[derive(Clone, Copy)]
struct Home {
    reg: u8,
    memory: Option<(u8, i32)>,
    /// Index of the spill slot at `memory`, or [`NONE`].
    slot: u32,
}

const NOWHERE: Home = Home { reg: NO_REG, memory: None, slot: NONE };

/// Compiler of the straight parts of a program.
struct Compiler<'a, T> {
    code: &'a Code,
    target: T,
    asm: Assembler,
    /// Arena offset of each register.
    offsets: &'a [u32],
    in_arena: &'a [bool],
    /// Index in `homes` of the first vector of each register.
    first: Vec<u32>,
    homes: Vec<Home>,
    /// Positions of the instructions that read a register: `uses[start[r] + cursor[r]..start[r + 1]]` are the future
    /// reads.
    start: Vec<u32>,
    cursor: Vec<u32>,
    uses: Vec<u32>,
    /// Content of each vector register: value and index of the vector, or [`NONE`].
    holds: [(u32, u32); 32],
    /// Bit mask of the vector registers that must not be evicted during the current instruction.
    pinned: u32,
    free: u32,
    free_slots: Vec<u32>,
    slots: u32,
    constants: Constants,
    position: u32,
}

/// Pool of constant vectors of the target's vector length.
#[derive(Default)]
struct Constants {
    length: usize,
    bytes: Vec<u8>,
    splats: FxHashMap<(Lane, i64), i32>,
    vectors: FxHashMap<Vec<u8>, i32>,
}

impl Constants {
    /// Returns the offset of the constant vector with `value` in each lane.
    fn splat(&mut self, lane: Lane, value: i64) -> i32 {
        let bits = 8 * lane.bytes();
        let value = value << (64 - bits) >> (64 - bits);
        *self.splats.entry((lane, value)).or_insert_with(|| {
            let offset = self.bytes.len() as i32;
            let one = &value.to_le_bytes()[..lane.bytes() as usize];
            (0..self.length / one.len()).for_each(|_| self.bytes.extend(one));
            offset
        })
    }

    /// Returns the offset of a constant vector.
    fn vector(&mut self, vector: &[u8]) -> i32 {
        debug_assert_eq!(vector.len(), self.length);
        let offset = self.bytes.len() as i32;
        self.bytes.extend(vector);
        offset
    }

    /// Adds a vector unless an equal one exists, and returns its offset.
    fn shared(&mut self, vector: &[u8]) -> i32 {
        if let Some(&offset) = self.vectors.get(vector) {
            return offset;
        }
        let offset = self.vector(vector);
        self.vectors.insert(vector.to_vec(), offset);
        offset
    }
}

/// Operations that follow the main operation of an instruction.
#[derive(Clone, Copy)]
struct Finish {
    relu: bool,
    shr: u8,
    logical: bool,
    wrap: Wrap,
}

impl<T: Target> Compiler<'_, T> {
    // ---- registers --------------------------------------------------------------------------------------------

    fn next_use(&self, value: Reg) -> u32 {
        let at = self.start[value as usize] + self.cursor[value as usize];
        if at < self.start[value as usize + 1] { self.uses[at as usize] } else { NONE }
    }

    fn home(&mut self, value: Reg, part: u32) -> &mut Home {
        &mut self.homes[(self.first[value as usize] + part) as usize]
    }

    fn parts(&self, lane: Lane) -> u32 {
        self.target.parts(lane)
    }

    fn load(&mut self, lane: Lane, reg: u8, memory: (u8, i32)) {
        self.target.load(&mut self.asm, lane, reg, memory);
    }

    /// Returns a free vector register and pins it; evicts a value if necessary.
    fn take(&mut self) -> u8 {
        let reg = if self.free != 0 {
            self.free.trailing_zeros() as u8
        } else {
            let victim = (0..32u8)
                .filter(|&r| T::REGISTERS & !self.pinned & 1 << r != 0)
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

    /// Ensures that a vector is also in memory; returns its address.
    fn save(&mut self, value: Reg, part: u32) -> (u8, i32) {
        let home = *self.home(value, part);
        if let Some(memory) = home.memory {
            return memory;
        }
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        });
        let memory = (SPILL, (slot * T::VECTOR) as i32 - T::SPILL_BIAS);
        let lane = self.code.lanes[value as usize];
        self.target.store(&mut self.asm, lane, home.reg, memory);
        *self.home(value, part) = Home { memory: Some(memory), slot, ..home };
        memory
    }

    /// Returns the register of a vector and pins it; loads the vector if necessary.
    fn in_reg(&mut self, value: Reg, part: u32) -> u8 {
        let home = *self.home(value, part);
        if home.reg != NO_REG {
            self.pinned |= 1 << home.reg;
            return home.reg;
        }
        let reg = self.take();
        let memory = home.memory.expect("a value is in a register or in memory");
        self.load(self.code.lanes[value as usize], reg, memory);
        self.holds[reg as usize] = (value, part);
        self.home(value, part).reg = reg;
        reg
    }

    /// Returns the location of a vector, a register or memory; loads the vector if its next use is near.
    fn anywhere(&mut self, value: Reg, part: u32) -> Rm {
        let home = *self.home(value, part);
        let again = self.next_use(value);
        match home.memory {
            Some((base, disp)) if home.reg == NO_REG && (again == NONE || again > self.position + T::SOON) => {
                Rm::Mem { base, disp }
            }
            _ => Rm::Reg(self.in_reg(value, part)),
        }
    }

    /// Returns a register for a vector of the result `value`.
    fn define(&mut self, value: Reg, part: u32) -> u8 {
        let reg = self.take();
        self.holds[reg as usize] = (value, part);
        self.home(value, part).reg = reg;
        reg
    }

    /// Releases the registers and spill slots of an operand that has no further uses, after an instruction.
    fn release(&mut self, value: Reg) {
        if self.next_use(value) != NONE {
            return;
        }
        for part in 0..self.parts(self.code.lanes[value as usize]) {
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

    /// Unpins all registers, and releases temporary ones.
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

    /// Finishes a vector of a destination: stores it to the arena if another part reads it.
    fn end_part(&mut self, dst: Reg, part: u32) {
        let home = *self.home(dst, part);
        if let Some(memory) = home.memory {
            self.target.store(&mut self.asm, self.code.lanes[dst as usize], home.reg, memory);
        }
        self.unpin();
    }

    fn instruction(&mut self, ins: &Ins)
    where
        Self: Operations,
    {
        let code = self.code;
        // Removes this instruction from the future uses.
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

    /// Sets the arena as the location of a value.
    fn place(&mut self, value: Reg) {
        let lane = self.code.lanes[value as usize];
        let offset = self.offsets[value as usize] as i32;
        for part in 0..self.parts(lane) {
            let memory = Some((pointer(lane), offset + (part * T::VECTOR) as i32));
            *self.home(value, part) = Home { memory, ..NOWHERE };
        }
    }

    /// Emits a straight part as a function: a loop over groups around its instructions.
    fn part(&mut self, range: std::ops::Range<usize>) -> usize
    where
        Self: Operations,
    {
        let entry = self.asm.bytes.len();
        // No value stays in a register from one part to the next, as each part is a separate loop.
        for (value, part) in std::mem::replace(&mut self.holds, [(NONE, 0); 32]) {
            if value != NONE {
                self.home(value, part).reg = NO_REG;
            }
        }
        self.free = T::REGISTERS;
        // mov rax, rdi; mov r8, rdi; mov r9, rdi
        self.asm.bytes.extend([0x48, 0x89, 0xf8, 0x49, 0x89, 0xf8, 0x49, 0x89, 0xf9]);
        self.target.begin(&mut self.asm);
        let head = self.asm.bytes.len();
        for k in range {
            self.position = k as u32;
            let ins = self.code.ins[k];
            self.instruction(&ins);
        }
        // Only values with further readers in this part have registers; values for other parts are in the arena.
        let group = self.target.group();
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

/// Returns the maximal ranges of consecutive instructions that the target supports.
pub(super) fn straight_parts(code: &Code, machine: Machine) -> Vec<std::ops::Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (k, ins) in code.ins.iter().enumerate() {
        if !machine.knows(code, ins) {
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

/// Returns the lookups of the straight parts whose misses must be reported; their operands are checked after the parts.
pub(super) fn watched<'c>(code: &'c Code, straight: &'c [std::ops::Range<usize>]) -> impl Iterator<Item = &'c Ins> {
    let all = straight.iter().flat_map(|range| &code.ins[range.clone()]);
    all.filter(|ins| matches!(ins, Ins::Lookup { table, .. } if code.tables[*table as usize].faults))
}

/// Returns `true` for each register in the arena: an input, an output, an operand of a watched lookup, or a register
/// that a kernel or more than one part uses.
pub(super) fn in_arena(code: &Code, straight: &[std::ops::Range<usize>]) -> Vec<bool> {
    // Index of the part that defines a register, plus one; 0 if undefined. Constants are available in every part.
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

/// Executable code, with its constants.
pub(super) struct MachineCode {
    memory: Executable,
    entries: Vec<usize>,
    constants: Vec<u8>,
    pub(super) spill_bytes: usize,
    /// Number of samples that the code evaluates together.
    pub(super) group: usize,
}

impl MachineCode {
    /// Compiles the straight parts; returns `None` if the operating system does not allow executable memory.
    fn compile<'a, T: Target>(
        target: T,
        code: &'a Code,
        straight: &[std::ops::Range<usize>],
        in_arena: &'a [bool],
        offsets: &'a [u32],
    ) -> Option<MachineCode>
    where
        Compiler<'a, T>: Operations,
    {
        let n = code.lanes.len();
        let mut first = Vec::with_capacity(n);
        let mut vectors = 0;
        for &lane in &code.lanes {
            first.push(vectors);
            vectors += target.parts(lane);
        }
        let mut compiler = Compiler {
            code,
            target,
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
            constants: Constants { length: T::VECTOR as usize, ..Constants::default() },
            position: 0,
        };
        compiler.list_uses(straight);
        for &(reg, value) in &code.fixed {
            let lane = code.lanes[reg as usize];
            if lane <= Lane::B8 {
                let memory = Some((CONSTANTS, compiler.constants.splat(lane, value as i64)));
                for part in 0..target.parts(lane) {
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
            // Results of kernels before this part are in the arena.
            for ins in &code.ins[next..range.start] {
                if code.lanes[ins.dst() as usize] <= Lane::B8 {
                    compiler.place(ins.dst());
                }
            }
            next = range.end;
            entries.push(compiler.part(range.clone()));
        }
        let spill_bytes = (compiler.slots * T::VECTOR) as usize;
        let memory = Executable::new(&compiler.asm.bytes)?;
        // The code reads vectors at addresses that are multiples of their length.
        let bytes = compiler.constants.bytes;
        let mut constants = vec![0; bytes.len() + 64];
        let skip = constants.as_ptr().align_offset(64);
        constants[skip..skip + bytes.len()].copy_from_slice(&bytes);
        Some(MachineCode { memory, entries, constants, spill_bytes, group: target.group() as usize })
    }

    /// Runs straight part `part` over `groups` groups of samples.
    ///
    /// # Safety
    /// `arena` has the layout for which the code was compiled, with room for `groups` groups; `spill` has
    /// [`MachineCode::spill_bytes`] bytes. Both begin at a multiple of 64 and belong to this thread. The processor has
    /// the instruction set of the target.
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

impl<T: Target> Compiler<'_, T> {
    /// Lists the instructions of straight parts that read each register, in order.
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

/// Executable memory.
struct Executable {
    start: *const u8,
    length: usize,
}

// SAFETY: the memory is never written again.
unsafe impl Send for Executable {}
// SAFETY: as above.
unsafe impl Sync for Executable {}

impl Executable {
    /// Copies code into new memory, and makes the memory executable and read-only. Returns `None` if the operating
    /// system forbids that.
    fn new(code: &[u8]) -> Option<Executable> {
        let length = code.len().max(1);
        // SAFETY: a new private mapping, which is written within its length before it is made executable.
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
        // SAFETY: the mapping is owned, and no code runs in it, as a caller that runs code borrows it.
        unsafe {
            libc::munmap(self.start.cast_mut().cast(), self.length);
        }
    }
}
