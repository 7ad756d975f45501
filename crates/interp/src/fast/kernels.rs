//! The loops: one instruction over one block of samples.
//!
//! Every kernel is a plain loop over slices that the compiler vectorises. [`body`] holds them once; the modules made by
//! `instruction_set!` compile them again for what the processor may have. All shifts and masks are the same for all
//! samples of a block, so that no kernel branches on them inside its loop.
//!
//! This is one of the two places of the engine with `unsafe` (the other makes machine code). The reason is the arena:
//! registers are byte ranges of one allocation that is used at several types. See [`Exec`] for what makes it sound.

use super::lower::{Entries, Lane};
use super::run::Miss;
use alir_core::ir::BinaryBits;

/// A machine integer used as a lane. All arithmetic is modulo two to its bits.
pub(super) trait Int: Copy + PartialEq + Ord + Send + Sync + 'static {
    const BITS: u32;
    const ZERO: Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn shl(self, by: u32) -> Self;
    /// Arithmetic shift.
    fn shr(self, by: u32) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn from_i128(value: i128) -> Self;
    fn from_i64(value: i64) -> Self;
    /// The value, sign-extended.
    fn signed(self) -> i128;
    /// The value, zero-extended.
    fn unsigned(self) -> i128;
    /// The value, sign-extended; cut off from 128 bits.
    fn signed64(self) -> i64;
    /// The value, zero-extended; cut off from 128 bits.
    fn unsigned64(self) -> i64;
}

macro_rules! int {
    ($($t:ty, $u:ty);*) => { $(
        impl Int for $t {
            const BITS: u32 = <$t>::BITS;
            const ZERO: Self = 0;
            #[inline(always)]
            fn add(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn sub(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline(always)]
            fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline(always)]
            fn shl(self, by: u32) -> Self { self.wrapping_shl(by) }
            #[inline(always)]
            fn shr(self, by: u32) -> Self { self.wrapping_shr(by) }
            #[inline(always)]
            fn and(self, other: Self) -> Self { self & other }
            #[inline(always)]
            fn or(self, other: Self) -> Self { self | other }
            #[inline(always)]
            fn xor(self, other: Self) -> Self { self ^ other }
            #[inline(always)]
            fn from_i128(value: i128) -> Self { value as $t }
            #[inline(always)]
            fn from_i64(value: i64) -> Self { value as $t }
            #[inline(always)]
            fn signed(self) -> i128 { self as i128 }
            #[inline(always)]
            fn unsigned(self) -> i128 { self as $u as i128 }
            #[inline(always)]
            fn signed64(self) -> i64 { self as i64 }
            #[inline(always)]
            fn unsigned64(self) -> i64 { self as $u as i64 }
        }
    )* };
}
int!(i8, u8; i16, u16; i32, u32; i64, u64; i128, u128);

/// One instruction with its registers as offsets into the arena.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) kernel: Kernel,
    pub(super) dst: u32,
    pub(super) a: u32,
    pub(super) b: u32,
    /// Third operand, or an index that the kernel knows about.
    pub(super) c: u32,
    /// Constant to add or to compare with: index into the program's constants.
    pub(super) constant: u32,
    pub(super) sa: u8,
    pub(super) sb: u8,
    /// See [`Finish`].
    pub(super) shr: u8,
    pub(super) relu: bool,
    /// `true` if the shift to the right shifts in zeros.
    pub(super) logical: bool,
    pub(super) sign_bits: u8,
    pub(super) zero_bits: u8,
    /// A flag or number that the kernel knows about.
    pub(super) extra: u8,
}

/// A kernel.
///
/// # Safety
/// The step must be one of the program that the [`Exec`] was made for, and the processor must have the features that
/// the kernel was compiled for.
pub(super) type Kernel = unsafe fn(&mut Exec<'_>, &Step);

/// One term of an n-ary sum.
#[derive(Clone, Copy)]
pub(super) struct NaryTerm {
    pub(super) offset: u32,
    pub(super) shl: u8,
    pub(super) neg: bool,
}

/// A table with its entries and the treatment of indices outside the table.
pub(super) struct Table<'a> {
    pub(super) entries: &'a Entries,
    pub(super) base: i64,
    pub(super) zero: bool,
    pub(super) faults: bool,
}

/// Operands of kernels: one block of samples.
///
/// Soundness: `base` points to the arena, which is as long as the allocator of offsets said and aligned to 64 bytes.
/// Every offset in a [`Step`] was given out by that allocator: it is a multiple of 64 with room for `len` integers of
/// the register's lane, and a destination never overlaps a source of the same step. An arena belongs to one thread
/// at a time. All lanes are plain integers, so any bytes are valid.
pub(super) struct Exec<'a> {
    pub(super) base: *mut u8,
    /// Samples in the block.
    pub(super) len: usize,
    /// The program's constants.
    pub(super) constants: &'a [i128],
    pub(super) nary: &'a [NaryTerm],
    pub(super) tables: &'a [Table<'a>],
    /// Lookups outside their tables.
    pub(super) misses: &'a mut Vec<Miss>,
}

impl Exec<'_> {
    /// # Safety
    /// `offset` belongs to a register of lane `T`, and no `slot_mut` of it is alive.
    #[inline(always)]
    pub(super) unsafe fn slot<'s, T: Int>(&self, offset: u32) -> &'s [T] {
        // SAFETY: see the type.
        unsafe { std::slice::from_raw_parts(self.base.add(offset as usize).cast(), self.len) }
    }

    /// # Safety
    /// `offset` belongs to a register of lane `T`, and no other slice of it is alive.
    #[inline(always)]
    pub(super) unsafe fn slot_mut<'s, T: Int>(&self, offset: u32) -> &'s mut [T] {
        // SAFETY: see the type.
        unsafe { std::slice::from_raw_parts_mut(self.base.add(offset as usize).cast(), self.len) }
    }
}

/// The end of a step, as operations that are the same for every sample: `max(v, floor)`, shift to the right, extension
/// of the sign by two shifts, mask.
#[derive(Clone, Copy)]
struct Finish<T> {
    floor: T,
    shr: u32,
    sign: u32,
    mask: T,
}

impl<T: Int> Finish<T> {
    #[inline(always)]
    fn new(step: &Step) -> Finish<T> {
        let (shr, mut sign) = (u32::from(step.shr), u32::from(step.sign_bits));
        let mut mask = T::from_i128(-1);
        if step.logical && shr > 0 {
            if sign > 0 && sign + shr <= T::BITS {
                // The sign bit to be extended is one of the operand's; what a shift brings in is overwritten.
            } else {
                // Zeros come in, and reach the sign bit if there is one.
                mask = T::from_i128(!(-1i128 << (T::BITS - shr)));
                sign = 0;
            }
        }
        if step.zero_bits > 0 {
            mask = mask.and(T::from_i128(!(-1i128 << step.zero_bits)));
        }
        let lowest = T::from_i128(-1).shl(T::BITS - 1);
        Finish {
            floor: if step.relu { T::ZERO } else { lowest },
            shr,
            sign: if sign > 0 { T::BITS - sign } else { 0 },
            mask,
        }
    }

    #[inline(always)]
    fn apply(self, v: T) -> T {
        v.max(self.floor).shr(self.shr).shl(self.sign).shr(self.sign).and(self.mask)
    }
}

/// Writes the finished `$value` of each sample `$i` to `$dst`. Operations that a step does not need are left out of the
/// loop: shifts of bytes take several instructions each. (Iterators of closures are not inlined everywhere, and then
/// nothing is vectorised.)
macro_rules! finished {
    ($f:expr, $dst:expr, $i:ident => $value:expr) => {{
        let (f, n) = ($f, $dst.len());
        if f.shr > 0 || f.sign > 0 {
            for $i in 0..n {
                $dst[$i] = f.apply($value);
            }
        } else if f.floor == T::ZERO || f.mask != T::from_i128(-1) {
            for $i in 0..n {
                let value: T = $value;
                $dst[$i] = value.max(f.floor).and(f.mask);
            }
        } else {
            for $i in 0..n {
                $dst[$i] = $value;
            }
        }
    }};
}

/// The kernels. All are `unsafe` for the reason of [`Kernel`].
#[expect(
    clippy::needless_range_loop,
    reason = "iterator adaptors are not inlined into functions of an instruction set"
)]
mod body {
    use super::*;

    /// `± a << sa + c`; negative with `extra`.
    #[inline(always)]
    pub(super) unsafe fn linear1<T: Int>(e: &mut Exec<'_>, s: &Step) {
        // SAFETY: see `Exec`.
        let (dst, a) = unsafe { (e.slot_mut::<T>(s.dst), e.slot::<T>(s.a)) };
        let (c, f, sa) = (T::from_i128(e.constants[s.constant as usize]), Finish::new(s), s.sa.into());
        // -v is !v + 1.
        let (flip, c) = if s.extra != 0 { (T::from_i128(-1), c.add(T::from_i128(1))) } else { (T::ZERO, c) };
        let a = &a[..dst.len()];
        if sa == 0 && flip == T::ZERO {
            finished!(f, dst, i => a[i].add(c));
        } else {
            finished!(f, dst, i => a[i].shl(sa).xor(flip).add(c));
        }
    }

    /// `a + b` or `a - b`, shifted where `SHIFT`, and `+ c` and the rest where `REST`.
    #[inline(always)]
    pub(super) unsafe fn linear2<T: Int, const SUB: bool, const SHIFT: bool, const REST: bool>(
        e: &mut Exec<'_>,
        s: &Step,
    ) {
        // SAFETY: see `Exec`.
        let (dst, a, b) = unsafe { (e.slot_mut::<T>(s.dst), e.slot::<T>(s.a), e.slot::<T>(s.b)) };
        let (c, f) = (T::from_i128(e.constants[s.constant as usize]), Finish::new(s));
        let (sa, sb) = (s.sa.into(), s.sb.into());
        let (a, b) = (&a[..dst.len()], &b[..dst.len()]);
        let sum = |i: usize| {
            let (a, b) = if SHIFT { (a[i].shl(sa), b[i].shl(sb)) } else { (a[i], b[i]) };
            if SUB { a.sub(b) } else { a.add(b) }
        };
        if REST {
            finished!(f, dst, i => sum(i).add(c));
        } else {
            for i in 0..dst.len() {
                dst[i] = sum(i);
            }
        }
    }

    /// Samples that an n-ary sum keeps in registers.
    const CHUNK: usize = 64;

    /// The sum of the `b` terms from `a` on, `+ c`.
    #[inline(always)]
    pub(super) unsafe fn nary<T: Int>(e: &mut Exec<'_>, s: &Step) {
        let terms = &e.nary[s.a as usize..][..s.b as usize];
        // SAFETY: see `Exec`.
        let dst = unsafe { e.slot_mut::<T>(s.dst) };
        let (c, f) = (T::from_i128(e.constants[s.constant as usize]), Finish::new(s));
        for (k, dst) in dst.chunks_mut(CHUNK).enumerate() {
            let mut sum = [c; CHUNK];
            for t in terms {
                // SAFETY: see `Exec`.
                let x = unsafe { e.slot::<T>(t.offset) };
                let x = &x[k * CHUNK..][..dst.len()];
                let flip = if t.neg { T::from_i128(-1) } else { T::ZERO };
                let shl = t.shl.into();
                for (sum, &x) in sum.iter_mut().zip(x) {
                    *sum = sum.add(x.shl(shl).xor(flip).sub(flip));
                }
            }
            for (d, sum) in dst.iter_mut().zip(sum) {
                *d = f.apply(sum);
            }
        }
    }

    #[inline(always)]
    pub(super) unsafe fn mul<T: Int>(e: &mut Exec<'_>, s: &Step) {
        // SAFETY: see `Exec`.
        let (dst, a, b) = unsafe { (e.slot_mut::<T>(s.dst), e.slot::<T>(s.a), e.slot::<T>(s.b)) };
        let (f, sa) = (Finish::new(s), s.sa.into());
        let (a, b) = (&a[..dst.len()], &b[..dst.len()]);
        finished!(f, dst, i => a[i].mul(b[i]).shl(sa));
    }

    /// `OP`: 0 and, 1 or, 2 exclusive or.
    #[inline(always)]
    pub(super) unsafe fn bits<T: Int, const OP: u8>(e: &mut Exec<'_>, s: &Step) {
        // SAFETY: see `Exec`.
        let (dst, a, b) = unsafe { (e.slot_mut::<T>(s.dst), e.slot::<T>(s.a), e.slot::<T>(s.b)) };
        let (f, sa, sb) = (Finish::new(s), s.sa.into(), s.sb.into());
        let of = |a: T, b: T| match OP {
            0 => a.and(b),
            1 => a.or(b),
            _ => a.xor(b),
        };
        let (a, b) = (&a[..dst.len()], &b[..dst.len()]);
        if sa == 0 && sb == 0 {
            finished!(f, dst, i => of(a[i], b[i]));
        } else {
            finished!(f, dst, i => of(a[i].shl(sa), b[i].shl(sb)));
        }
    }

    /// Returns the shift of a mux operand to either side, which shifts in zeros or signs.
    #[inline(always)]
    fn shifter<T: Int>(shl: u8, shr: u8, logical: bool) -> impl Fn(T) -> T {
        let mask =
            if logical && shr > 0 { T::from_i128(!(-1i128 << (T::BITS - u32::from(shr)))) } else { T::from_i128(-1) };
        move |v| v.shl(shl.into()).shr(shr.into()).and(mask)
    }

    /// Condition `c`, its bit in `extra`; shift of `a` in `sa` and `sb`, of `b` in the step's entry of n-ary terms.
    #[inline(always)]
    pub(super) unsafe fn mux<T: Int>(e: &mut Exec<'_>, s: &Step) {
        let other = e.nary[s.constant as usize..][..2].as_ref();
        // SAFETY: see `Exec`.
        let (dst, a, b, c) = unsafe { (e.slot_mut::<T>(s.dst), e.slot::<T>(s.a), e.slot::<T>(s.b), e.slot::<T>(s.c)) };
        let on_true = shifter::<T>(other[0].shl, other[0].offset as u8, other[0].neg);
        let on_false = shifter::<T>(other[1].shl, other[1].offset as u8, other[1].neg);
        let bit = T::from_i128(1).shl(s.extra.into());
        let f = Finish::new(s);
        let shifted = other.iter().any(|shifts| shifts.shl > 0 || shifts.offset > 0);
        for (k, dst) in dst.chunks_mut(CHUNK).enumerate() {
            let from = k * CHUNK;
            let n = dst.len();
            let (a, b, c) = (&a[from..][..n], &b[from..][..n], &c[from..][..n]);
            // Masks in a loop of their own: in one loop they become branches, and nothing is vectorised.
            let mut masks = [T::ZERO; CHUNK];
            for i in 0..n {
                masks[i] = if c[i].and(bit) == T::ZERO { T::ZERO } else { T::from_i128(-1) };
            }
            if shifted {
                finished!(f, dst, i => {
                    let (a, b) = (on_true(a[i]), on_false(b[i]));
                    b.xor(a.xor(b).and(masks[i]))
                });
            } else {
                finished!(f, dst, i => b[i].xor(a[i].xor(b[i]).and(masks[i])));
            }
        }
    }

    /// Equal with `extra`, else different.
    #[inline(always)]
    pub(super) unsafe fn compare<T: Int>(e: &mut Exec<'_>, s: &Step) {
        // SAFETY: see `Exec`.
        let (dst, a) = unsafe { (e.slot_mut::<T>(s.dst), e.slot::<T>(s.a)) };
        let (than, f) = (T::from_i128(e.constants[s.constant as usize]), Finish::new(s));
        let eq = s.extra != 0;
        let a = &a[..dst.len()];
        finished!(f, dst, i => if (a[i] == than) == eq { T::from_i128(1) } else { T::ZERO });
    }

    /// Lookup in table `c`.
    #[inline(always)]
    pub(super) unsafe fn lookup<T: Int>(e: &mut Exec<'_>, s: &Step) {
        let table = &e.tables[s.c as usize];
        // SAFETY: see `Exec`.
        let (dst, a) = unsafe { (e.slot_mut::<T>(s.dst), e.slot::<T>(s.a)) };
        let index = |a: T| (if table.zero { a.unsigned64() } else { a.signed64() }).wrapping_sub(table.base);
        macro_rules! entries {
            ($entries:expr) => {{
                let mut missed = false;
                for (d, &a) in dst.iter_mut().zip(a) {
                    let entry = $entries.get(index(a) as usize);
                    missed |= entry.is_none();
                    *d = T::from_i64(entry.map_or(0, |&v| v.into()));
                }
                missed
            }};
        }
        let missed = match table.entries {
            Entries::I8(entries) => entries!(entries),
            Entries::U8(entries) => entries!(entries),
            Entries::I16(entries) => entries!(entries),
            Entries::I32(entries) => entries!(entries),
        };
        if missed && table.faults {
            // SAFETY: the caller's promise.
            unsafe { misses::<T>(e, s) };
        }
    }

    /// Finds the operands outside table `c`.
    #[inline(always)]
    pub(super) unsafe fn misses<T: Int>(e: &mut Exec<'_>, s: &Step) {
        let table = &e.tables[s.c as usize];
        // SAFETY: see `Exec`.
        let a = unsafe { e.slot::<T>(s.a) };
        let index = |a: T| (if table.zero { a.unsigned64() } else { a.signed64() }).wrapping_sub(table.base);
        let len = table.entries.len() as u64;
        let is_outside = |a: T| index(a) as u64 >= len;
        if a.iter().fold(false, |any, &a| any | is_outside(a)) {
            for (sample, &a) in a.iter().enumerate().filter(|(_, a)| is_outside(**a)) {
                e.misses.push(Miss { sample, table: s.c, index: index(a).into() });
            }
        }
    }

    /// From lane `S` to lane `D`, extended by zeros with `extra`.
    #[inline(always)]
    pub(super) unsafe fn convert<S: Int, D: Int>(e: &mut Exec<'_>, s: &Step) {
        // SAFETY: see `Exec`.
        let (dst, a) = unsafe { (e.slot_mut::<D>(s.dst), e.slot::<S>(s.a)) };
        if S::BITS > 64 || D::BITS > 64 {
            for (d, &a) in dst.iter_mut().zip(a) {
                *d = D::from_i128(if s.extra != 0 { a.unsigned() } else { a.signed() });
            }
        } else if s.extra != 0 {
            for (d, &a) in dst.iter_mut().zip(a) {
                *d = D::from_i64(a.unsigned64());
            }
        } else {
            for (d, &a) in dst.iter_mut().zip(a) {
                *d = D::from_i64(a.signed64());
            }
        }
    }

    /// `real`: `floor(x * scale)` of column `column` of rows of `stride` numbers, its low bits. Returns `true` if some
    /// number was not finite, too large or too small for this path; its result is meaningless then.
    ///
    /// Adding 1.5 * 2^52 rounds a number below 2^51 to an integer and leaves that in the low bits of the sum; one is
    /// taken off where it was rounded up. The scale is a power of two, so the product is exact unless it gets too
    /// small, and then the only floor that can change is that of a product that becomes zero.
    #[inline(always)]
    pub(super) fn load<T: Int>(
        dst: &mut [T],
        rows: &[f64],
        stride: usize,
        column: usize,
        scale: f64,
        f: [u8; 2],
    ) -> bool {
        const MAGIC: f64 = 6_755_399_441_055_744.0;
        const LIMIT: f64 = 2_251_799_813_685_248.0;
        let sign = if f[0] > 0 { T::BITS - u32::from(f[0]) } else { 0 };
        let mask = if f[1] > 0 { T::from_i128(!(-1i128 << f[1])) } else { T::from_i128(-1) };
        assert!(rows.len() >= dst.len() * stride && column < stride);
        let mut bad = 0u64;
        for (i, d) in dst.iter_mut().enumerate() {
            // SAFETY: `column + i * stride < dst.len() * stride`, checked above.
            let x = unsafe { *rows.get_unchecked(column + i * stride) };
            let y = x * scale;
            let sum = y + MAGIC;
            let nearest = sum - MAGIC;
            let code = (sum.to_bits() as i64).wrapping_sub(i64::from(nearest > y));
            // Not a number is neither below nor above; its exponent is the largest.
            let magnitude = y.to_bits() & (u64::MAX >> 1);
            bad |= u64::from(magnitude >= LIMIT.to_bits()) | u64::from((y == 0.0) & (x != 0.0));
            *d = T::from_i64(code).shl(sign).shr(sign).and(mask);
        }
        bad != 0
    }

    /// Column `column` of rows of `stride` numbers: `code * scale`.
    #[inline(always)]
    pub(super) fn store<T: Int>(src: &[T], zero: bool, rows: &mut [f64], stride: usize, column: usize, scale: f64) {
        assert!(rows.len() >= src.len() * stride && column < stride);
        let one = |v: T| {
            if T::BITS > 64 {
                if zero { v.unsigned() as u128 as f64 } else { v.signed() as f64 }
            } else if zero {
                v.unsigned64() as u64 as f64
            } else if T::BITS <= 32 {
                f64::from(v.signed64() as i32)
            } else {
                v.signed64() as f64
            }
        };
        for (i, &v) in src.iter().enumerate() {
            // SAFETY: `column + i * stride < src.len() * stride`, checked above.
            unsafe { *rows.get_unchecked_mut(column + i * stride) = one(v) * scale };
        }
    }
}

/// Kernels of one instruction set.
pub(super) struct Kernels {
    linear1: [Kernel; 5],
    /// By lane, subtraction, shifts, rest.
    linear2: [[Kernel; 8]; 5],
    nary: [Kernel; 5],
    mul: [Kernel; 5],
    bits: [[Kernel; 3]; 5],
    mux: [Kernel; 5],
    compare: [Kernel; 5],
    lookup: [Kernel; 5],
    misses: [Kernel; 5],
    /// From, to.
    convert: [[Kernel; 5]; 5],
    /// See `body::load`.
    pub(super) load: Loads,
    /// See `body::store`.
    pub(super) store: Stores,
}

type Load<T> = unsafe fn(&mut [T], &[f64], usize, usize, f64, [u8; 2]) -> bool;
type Store<T> = unsafe fn(&[T], bool, &mut [f64], usize, usize, f64);
/// One for each lane.
pub(super) type Loads = (Load<i8>, Load<i16>, Load<i32>, Load<i64>, Load<i128>);
/// One for each lane.
pub(super) type Stores = (Store<i8>, Store<i16>, Store<i32>, Store<i64>, Store<i128>);

impl Kernels {
    pub(super) fn linear1(&self, lane: Lane) -> Kernel {
        self.linear1[lane as usize]
    }

    pub(super) fn linear2(&self, lane: Lane, sub: bool, shift: bool, rest: bool) -> Kernel {
        self.linear2[lane as usize][usize::from(sub) * 4 + usize::from(shift) * 2 + usize::from(rest)]
    }

    pub(super) fn nary(&self, lane: Lane) -> Kernel {
        self.nary[lane as usize]
    }

    pub(super) fn mul(&self, lane: Lane) -> Kernel {
        self.mul[lane as usize]
    }

    pub(super) fn bits(&self, lane: Lane, op: BinaryBits) -> Kernel {
        self.bits[lane as usize][match op {
            BinaryBits::And => 0,
            BinaryBits::Or => 1,
            BinaryBits::Xor => 2,
        }]
    }

    pub(super) fn mux(&self, lane: Lane) -> Kernel {
        self.mux[lane as usize]
    }

    pub(super) fn compare(&self, lane: Lane) -> Kernel {
        self.compare[lane as usize]
    }

    pub(super) fn lookup(&self, lane: Lane) -> Kernel {
        self.lookup[lane as usize]
    }

    pub(super) fn misses(&self, lane: Lane) -> Kernel {
        self.misses[lane as usize]
    }

    pub(super) fn convert(&self, from: Lane, to: Lane) -> Kernel {
        self.convert[from as usize][to as usize]
    }
}

macro_rules! by_lane {
    ($f:ident) => {
        [$f::<i8>, $f::<i16>, $f::<i32>, $f::<i64>, $f::<i128>]
    };
}

macro_rules! linear2 {
    ($t:ty) => {
        [
            linear2::<$t, false, false, false>,
            linear2::<$t, false, false, true>,
            linear2::<$t, false, true, false>,
            linear2::<$t, false, true, true>,
            linear2::<$t, true, false, false>,
            linear2::<$t, true, false, true>,
            linear2::<$t, true, true, false>,
            linear2::<$t, true, true, true>,
        ]
    };
}

macro_rules! bits {
    ($t:ty) => {
        [bits::<$t, 0>, bits::<$t, 1>, bits::<$t, 2>]
    };
}

macro_rules! convert {
    ($t:ty) => {
        [convert::<$t, i8>, convert::<$t, i16>, convert::<$t, i32>, convert::<$t, i64>, convert::<$t, i128>]
    };
}

/// Compiles the kernels for an instruction set.
macro_rules! instruction_set {
    ($module:ident, $doc:literal $(, $features:literal)?) => {
        #[doc = $doc]
        pub(super) mod $module {
            use super::*;

            instruction_set!(@kernel linear1 [T: Int] [T] $($features)?);
            instruction_set!(@kernel linear2 [T: Int, const SUB: bool, const SHIFT: bool, const REST: bool]
                [T, SUB, SHIFT, REST] $($features)?);
            instruction_set!(@kernel nary [T: Int] [T] $($features)?);
            instruction_set!(@kernel mul [T: Int] [T] $($features)?);
            instruction_set!(@kernel bits [T: Int, const OP: u8] [T, OP] $($features)?);
            instruction_set!(@kernel mux [T: Int] [T] $($features)?);
            instruction_set!(@kernel compare [T: Int] [T] $($features)?);
            instruction_set!(@kernel lookup [T: Int] [T] $($features)?);
            instruction_set!(@kernel misses [T: Int] [T] $($features)?);
            instruction_set!(@kernel convert [S: Int, D: Int] [S, D] $($features)?);

            $(#[target_feature(enable = $features)])?
            unsafe fn load<T: Int>(
                dst: &mut [T], rows: &[f64], stride: usize, column: usize, scale: f64, finish: [u8; 2],
            ) -> bool {
                body::load(dst, rows, stride, column, scale, finish)
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn store<T: Int>(
                src: &[T], zero: bool, rows: &mut [f64], stride: usize, column: usize, scale: f64,
            ) {
                body::store(src, zero, rows, stride, column, scale);
            }

            pub(in super::super) static KERNELS: Kernels = Kernels {
                linear1: by_lane!(linear1),
                linear2: [linear2!(i8), linear2!(i16), linear2!(i32), linear2!(i64), linear2!(i128)],
                nary: by_lane!(nary),
                mul: by_lane!(mul),
                bits: [bits!(i8), bits!(i16), bits!(i32), bits!(i64), bits!(i128)],
                mux: by_lane!(mux),
                compare: by_lane!(compare),
                lookup: by_lane!(lookup),
                misses: by_lane!(misses),
                convert: [convert!(i8), convert!(i16), convert!(i32), convert!(i64), convert!(i128)],
                load: (load::<i8>, load::<i16>, load::<i32>, load::<i64>, load::<i128>),
                store: (store::<i8>, store::<i16>, store::<i32>, store::<i64>, store::<i128>),
            };
        }
    };
    (@kernel $name:ident [$($params:tt)*] [$($args:tt)*] $($features:literal)?) => {
        $(#[target_feature(enable = $features)])?
        unsafe fn $name<$($params)*>(e: &mut Exec<'_>, s: &Step) {
            // SAFETY: the caller's promise is passed on.
            unsafe { body::$name::<$($args)*>(e, s) }
        }
    };
}

instruction_set!(baseline, "What every processor of the target has.");
#[cfg(target_arch = "x86_64")]
instruction_set!(avx2, "AVX2.", "avx2,bmi2");
#[cfg(target_arch = "x86_64")]
instruction_set!(avx512, "AVX-512 with byte and word instructions.", "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi2");
