//! Evaluation of a plan on blocks of samples.

use super::convert;
use super::kernels::{Exec, Int, Table};
use super::lower::{InputConversion, Ins, Lane, OutputConversion, Reg, low_bits};
#[cfg(target_arch = "x86_64")]
use super::plan::InstructionSet;
use super::plan::{Layout, Plan, Stage};
use super::wide;
use crate::MissedEntry;
use alir_core::ir::ValueId;
use alir_core::num::{Kif, align, wrap};
use num_bigint::BigInt;
use std::fmt;
use std::ops::Range;

/// A sample that has no result.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Index of the sample in this call.
    pub sample: usize,
    /// Reason.
    pub kind: FaultKind,
}

/// Reason why a sample has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultKind {
    /// An input number is NaN or infinite.
    NotFinite {
        /// Index of the input element.
        input: u32,
        /// The NaN or infinity.
        value: f64,
    },
    /// A lookup outside its table.
    Miss(MissedEntry),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sample {}: ", self.sample)?;
        match &self.kind {
            FaultKind::NotFinite { input, value } => write!(f, "input {input} is {value}"),
            FaultKind::Miss(miss) => miss.fmt(f),
        }
    }
}

impl std::error::Error for Fault {}

/// A lookup outside its table, as recorded by a kernel.
pub(super) struct Miss {
    /// Index of the sample in the block.
    pub(super) sample: usize,
    pub(super) table: u32,
    pub(super) index: BigInt,
}

/// Sixty-four bytes, aligned to 64 bytes.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Calls `$f` with the integer type of a machine lane as `T`.
macro_rules! with_lane {
    ($lane:expr, $t:ident => $body:expr, $wide:expr) => {
        match $lane {
            Lane::B1 => {
                type $t = i8;
                { $body }
            }
            Lane::B2 => {
                type $t = i16;
                { $body }
            }
            Lane::B4 => {
                type $t = i32;
                { $body }
            }
            Lane::B8 => {
                type $t = i64;
                { $body }
            }
            Lane::B16 => {
                type $t = i128;
                { $body }
            }
            Lane::Wide => $wide,
        }
    };
}

/// Memory in which one thread runs a [`Plan`].
pub struct Runner<'p> {
    pub(super) plan: &'p Plan,
    pub(super) layout: &'p Layout,
    arena: Vec<Line>,
    /// Spill area of machine code.
    spill: Vec<Line>,
    tables: Vec<Table<'p>>,
    misses: Vec<Miss>,
    /// Number of samples run so far.
    done: usize,
}

impl<'p> Runner<'p> {
    pub(super) fn new(plan: &'p Plan) -> Runner<'p> {
        let tables = plan.code.tables.iter();
        let tables = tables.map(|t| Table { entries: &t.entries, base: t.base, zero: t.zero, faults: t.faults });
        Runner {
            plan,
            layout: plan.layout(0),
            arena: Vec::new(),
            spill: Vec::new(),
            tables: tables.collect(),
            misses: Vec::new(),
            done: 0,
        }
    }

    /// Selects the layout for `samples` more samples, and allocates its arena unless it exists.
    fn prepare(&mut self, samples: usize) {
        self.done = self.done.saturating_add(samples);
        let layout = self.plan.layout(self.done);
        if !self.arena.is_empty() && std::ptr::eq(layout, self.layout) {
            return;
        }
        self.layout = layout;
        self.arena = vec![Line([0; 64]); layout.arena_bytes.div_ceil(64).max(1)];
        #[cfg(all(target_arch = "x86_64", unix))]
        if let Some(machine) = &layout.machine {
            self.spill = vec![Line([0; 64]); machine.spill_bytes.div_ceil(64)];
        }
        let plan = self.plan;
        let exec = self.exec();
        for &(reg, value) in &layout.fixed {
            let offset = layout.offsets[reg as usize];
            with_lane!(plan.code.lanes[reg as usize], T => {
                // SAFETY: the register belongs to this lane, and no other code accesses the arena.
                unsafe { exec.slot_mut::<T>(offset) }.fill(T::from_i128(value))
            }, unreachable!("constants are in machine lanes"));
        }
    }

    /// Returns the number of samples that are computed for `n` requested samples: whole groups of machine code.
    pub(super) fn padded(&self, n: usize) -> usize {
        n.next_multiple_of(32).min(self.layout.block)
    }

    pub(super) fn exec(&mut self) -> Exec<'_> {
        self.exec_of(self.layout.block)
    }

    /// Returns the execution context for the first `len` samples of a block.
    fn exec_of(&mut self, len: usize) -> Exec<'_> {
        Exec {
            base: self.arena.as_mut_ptr().cast(),
            len,
            constants: &self.plan.code.constants,
            nary: &self.layout.nary,
            tables: &self.tables,
            misses: &mut self.misses,
        }
    }

    /// Runs the program on real numbers, like [`Plan::run`]. Returns the samples without a result, in order, each with
    /// its first fault; their outputs are those of the hardware with zero in place of invalid numbers.
    ///
    /// # Panics
    /// As [`Plan::run`].
    pub fn run(&mut self, inputs: &[f64], outputs: &mut [f64]) -> Vec<Fault> {
        self.blocks(Real(inputs), RealOut(outputs))
    }

    /// Runs the program on raw integer values of the input port ([`alir_core::ir::Model::input_kifs`]), and writes raw
    /// integer values of the output port, one row per sample as for [`Runner::run`]. Of values wider than `i64`, only
    /// the low 64 bits are kept; [`Runner::run_exact`] keeps all bits.
    ///
    /// # Panics
    /// As [`Plan::run`].
    pub fn run_codes(&mut self, inputs: &[i64], outputs: &mut [i64]) -> Vec<Fault> {
        self.blocks(Codes(inputs), CodesOut(outputs))
    }

    /// Like [`Runner::run_codes`], for codes of any width.
    ///
    /// # Panics
    /// As [`Plan::run`].
    pub fn run_exact(&mut self, inputs: &[BigInt], outputs: &mut [BigInt]) -> Vec<Fault> {
        self.blocks(Exact(inputs), ExactOut(outputs))
    }

    /// Like [`Runner::run`], but the outputs are raw integer values, as in [`Runner::run_codes`].
    ///
    /// # Panics
    /// As [`Plan::run`].
    pub(crate) fn run_reals_to_codes(&mut self, inputs: &[f64], outputs: &mut [i64]) -> Vec<Fault> {
        self.blocks(Real(inputs), CodesOut(outputs))
    }

    /// Like [`Runner::run`], but the outputs are raw integer values of any width.
    ///
    /// # Panics
    /// As [`Plan::run`].
    pub(crate) fn run_reals_exactly(&mut self, inputs: &[f64], outputs: &mut [BigInt]) -> Vec<Fault> {
        self.blocks(Real(inputs), ExactOut(outputs))
    }

    fn blocks<I: Source, O: Sink>(&mut self, inputs: I, mut outputs: O) -> Vec<Fault> {
        let plan = self.plan;
        let samples = rows(inputs.len(), plan.n_inputs, outputs.len(), plan.n_outputs);
        self.prepare(samples);
        let block = self.layout.block;
        let mut faults = Vec::new();
        for start in (0..samples).step_by(block) {
            let n = block.min(samples - start);
            let found = faults.len();
            let (mut inputs_done, mut outputs_done) = (0, 0);
            #[cfg(target_arch = "x86_64")]
            if plan.set >= InstructionSet::Avx2
                && let Some(rows) = inputs.reals()
            {
                self.load_tiles(rows, start, n, &mut faults);
                inputs_done = plan.tiled_inputs;
            }
            for &k in &plan.input_order[inputs_done..] {
                self.load(&inputs, &plan.code.inputs[k as usize], start, 0..n, &mut faults);
            }
            self.stages(n);
            #[cfg(target_arch = "x86_64")]
            if plan.set >= InstructionSet::Avx2
                && let Some(rows) = outputs.reals()
            {
                self.store_tiles(rows, start, n);
                outputs_done = plan.tiled_outputs;
            }
            for &j in &plan.output_order[outputs_done..] {
                self.store(&mut outputs, j as usize, &plan.code.outputs[j as usize], start, 0..n);
            }
            let misses = self.misses.drain(..).filter(|m| m.sample < n).map(|m| {
                let table = &plan.code.tables[m.table as usize];
                let miss = MissedEntry { op: ValueId(table.op), index: m.index, len: table.entries.len() };
                Fault { sample: start + m.sample, kind: FaultKind::Miss(miss) }
            });
            faults.extend(misses);
            // Keeps the first fault of each sample: inputs before lookups, earlier operations before later ones.
            // (Instructions are reordered, but the operands of an operation are always computed before it.)
            faults[found..].sort_by_key(|f| match &f.kind {
                FaultKind::NotFinite { input, .. } => (f.sample, false, *input),
                FaultKind::Miss(miss) => (f.sample, true, miss.op.0),
            });
            let mut kept = found;
            for k in found..faults.len() {
                if kept == found || faults[kept - 1].sample != faults[k].sample {
                    faults.swap(kept, k);
                    kept += 1;
                }
            }
            faults.truncate(kept);
        }
        faults
    }

    /// Runs all stages between inputs and outputs, for at least the first `n` samples of a block.
    fn stages(&mut self, n: usize) {
        let (layout, n) = (self.layout, self.padded(n));
        for stage in &layout.stages {
            match stage {
                Stage::Steps(range) => {
                    let mut exec = self.exec_of(n);
                    for step in &layout.steps[range.clone()] {
                        // SAFETY: the step belongs to the layout for which the arena was allocated, and the kernels
                        // were selected by the features of the processor.
                        unsafe { (step.kernel)(&mut exec, step) };
                    }
                }
                Stage::Wide(ins) => self.wide(ins, n),
                #[cfg(all(target_arch = "x86_64", unix))]
                Stage::Machine(part) => {
                    let Some(machine) = &layout.machine else { continue };
                    let groups = n.div_ceil(machine.group) as u64;
                    let (arena, spill) = (self.arena.as_mut_ptr().cast(), self.spill.as_mut_ptr().cast());
                    // SAFETY: the code was compiled for this layout, whose slots have room for whole groups; the
                    // instruction set was checked against the processor.
                    unsafe { machine.run(*part, arena, spill, groups) };
                }
            }
        }
    }

    /// Converts an input for the samples `range` of the block that begins at `start`; sets the padding samples after
    /// them to zero.
    pub(super) fn load<I: Source>(
        &mut self,
        inputs: &I,
        c: &InputConversion,
        start: usize,
        range: Range<usize>,
        faults: &mut Vec<Fault>,
    ) {
        let plan = self.plan;
        let lane = plan.code.lanes[c.dst as usize];
        let offset = self.layout.offsets[c.dst as usize];
        let port = Port {
            stride: plan.n_inputs,
            column: c.input as usize,
            shift: i64::from(plan.inp_shifts[c.input as usize]),
            port: plan.input_kifs[c.input as usize],
            kif: c.kif,
            start: start + range.start,
        };
        let padded = self.padded(range.end);
        let exec = self.exec_of(padded);
        with_lane!(lane, T => {
            // SAFETY: the register belongs to this lane, and no other code accesses the arena.
            let dst = unsafe { exec.slot_mut::<T>(offset) };
            let (dst, rest) = dst.split_at_mut(range.end);
            rest.fill(T::ZERO);
            inputs.load(plan, &port, &mut dst[range.start..], faults);
        }, {
            for sample in range.start..padded {
                let there = sample < range.end;
                let code =
                    if there { inputs.load_big(&port, sample - range.start, faults) } else { BigInt::ZERO };
                wide::to_limbs(&wrap(&code, c.kif), self.limbs(c.dst, sample));
            }
        });
    }

    /// Converts an output for the samples `range` of the block that begins at `start`.
    pub(super) fn store<O: Sink>(
        &mut self,
        outputs: &mut O,
        column: usize,
        out: &OutputConversion,
        start: usize,
        range: Range<usize>,
    ) {
        let plan = self.plan;
        let Some(reg) = out.src else {
            let column = (start + range.start) * plan.n_outputs + column;
            outputs.store_constant(column, plan.n_outputs, range.len(), &out.constant.into(), out.exponent);
            return;
        };
        let offset = self.layout.offsets[reg as usize];
        let exec = self.exec();
        with_lane!(plan.code.lanes[reg as usize], T => {
            // SAFETY: the register belongs to this lane, and no other code accesses the arena.
            let src = unsafe { exec.slot::<T>(offset) };
            outputs.store(plan, &src[range.clone()], out, start + range.start, column);
        }, {
            for sample in range {
                let code = wide::from_limbs(self.limbs(reg, sample));
                outputs.store_big((start + sample) * plan.n_outputs + column, &code, out.exponent);
            }
        });
    }

    /// Returns the limbs of one sample of a wide register.
    fn limbs(&mut self, reg: Reg, sample: usize) -> &mut [u64] {
        let plan = self.plan;
        let limbs = plan.code.limbs[&reg] as usize;
        let first = self.layout.offsets[reg as usize] as usize / 8 + sample * limbs;
        // SAFETY: a line is eight words without padding, and any bytes are valid words.
        let words =
            unsafe { std::slice::from_raw_parts_mut(self.arena.as_mut_ptr().cast::<u64>(), self.arena.len() * 8) };
        &mut words[first..first + limbs]
    }

    /// Returns the value of a register for one sample.
    fn value(&mut self, reg: Reg, zero: bool, sample: usize) -> BigInt {
        let plan = self.plan;
        let offset = self.layout.offsets[reg as usize];
        let exec = self.exec();
        with_lane!(plan.code.lanes[reg as usize], T => {
            // SAFETY: the register belongs to this lane, and no other code accesses the arena.
            let v = unsafe { exec.slot::<T>(offset) }[sample];
            if zero { BigInt::from(v.unsigned() as u128) } else { v.signed().into() }
        }, wide::from_limbs(self.limbs(reg, sample)))
    }

    /// Computes an instruction one sample at a time.
    fn wide(&mut self, ins: &Ins, samples: usize) {
        let plan = self.plan;
        for sample in 0..samples {
            let (dst, result) = match *ins {
                Ins::Narrow { dst, src } => (dst, self.value(src, false, sample)),
                Ins::Wide { dst, op } => {
                    let index = op;
                    let op = &plan.code.wide[index as usize];
                    let values: Vec<BigInt> = op.operands.iter().map(|o| self.value(o.reg, o.zero, sample)).collect();
                    let table = plan.code.tables.get(op.table as usize);
                    let entry = |i| table.and_then(|t| t.entries.get(i));
                    let result = wide::evaluate(op, entry, |k| values[k].clone()).unwrap_or_else(|index| {
                        if table.is_some_and(|t| t.faults) {
                            self.misses.push(Miss { sample, table: op.table, index });
                        }
                        BigInt::ZERO
                    });
                    (dst, result)
                }
                _ => unreachable!("all other instructions have kernels"),
            };
            let offset = self.layout.offsets[dst as usize];
            let exec = self.exec();
            with_lane!(plan.code.lanes[dst as usize], T => {
                // SAFETY: the register belongs to this lane, and no other code accesses the arena.
                let dst = unsafe { exec.slot_mut::<T>(offset) };
                dst[sample] = T::from_i128(low_bits(&result));
            }, wide::to_limbs(&result, self.limbs(dst, sample)));
        }
    }
}

/// Returns the number of samples for arrays of `inputs` and `outputs` numbers.
fn rows(inputs: usize, n_inputs: usize, outputs: usize, n_outputs: usize) -> usize {
    let rows = |len: usize, of: usize| len.checked_div(of);
    let samples = rows(inputs, n_inputs).or(rows(outputs, n_outputs)).unwrap_or(0);
    assert_eq!(inputs, samples * n_inputs, "inputs are whole rows");
    assert_eq!(outputs, samples * n_outputs, "one row of outputs for each row of inputs");
    samples
}

/// Properties of one input column.
pub(super) struct Port {
    stride: usize,
    column: usize,
    /// The input's shift.
    shift: i64,
    /// Type of the port.
    port: Kif,
    /// Type of the operation that reads the input.
    kif: Kif,
    /// First sample of the block.
    start: usize,
}

/// Array of input numbers.
pub(super) trait Source {
    fn len(&self) -> usize;
    /// Returns the rows if they are real numbers.
    fn reals(&self) -> Option<&[f64]> {
        None
    }
    /// Fills a register with the raw integer values of a column.
    fn load<T: LoadStore>(&self, plan: &Plan, port: &Port, dst: &mut [T], faults: &mut Vec<Fault>);
    /// Returns the code of one sample before wrapping.
    fn load_big(&self, port: &Port, sample: usize, faults: &mut Vec<Fault>) -> BigInt;
}

/// Array of output numbers.
pub(super) trait Sink {
    fn len(&self) -> usize;
    /// Returns the rows if they are real numbers.
    fn reals(&mut self) -> Option<&mut [f64]> {
        None
    }
    fn store<T: LoadStore>(&mut self, plan: &Plan, src: &[T], out: &OutputConversion, start: usize, column: usize);
    fn store_big(&mut self, index: usize, code: &BigInt, exponent: i32);
    /// Sets `count` elements, from index `first` on at distances of `stride`, to one code.
    fn store_constant(&mut self, first: usize, stride: usize, count: usize, code: &BigInt, exponent: i32);
}

/// Sets `count` elements, from index `first` on at distances of `stride`, to one value.
fn fill_column<T: Clone>(elements: &mut [T], first: usize, stride: usize, count: usize, value: &T) {
    let column = elements.iter_mut().skip(first).step_by(stride);
    column.take(count).for_each(|element| element.clone_from(value));
}

/// Lanes with vectorised conversions from and to real numbers.
pub(super) trait LoadStore: Int {
    fn load(plan: &Plan, dst: &mut [Self], rows: &[f64], stride: usize, column: usize, scale: f64, f: [u8; 2]) -> bool;
    fn store(plan: &Plan, src: &[Self], zero: bool, rows: &mut [f64], stride: usize, column: usize, scale: f64);
}

macro_rules! load_store {
    ($($t:ty, $index:tt);*) => { $(
        impl LoadStore for $t {
            fn load(
                plan: &Plan, dst: &mut [Self], rows: &[f64], stride: usize, column: usize, scale: f64, f: [u8; 2],
            ) -> bool {
                // SAFETY: the plan selected its kernels after checking the processor.
                unsafe { (plan.kernels.load.$index)(dst, rows, stride, column, scale, f) }
            }
            fn store(
                plan: &Plan, src: &[Self], zero: bool, rows: &mut [f64], stride: usize, column: usize, scale: f64,
            ) {
                // SAFETY: the plan selected its kernels after checking the processor.
                unsafe { (plan.kernels.store.$index)(src, zero, rows, stride, column, scale) }
            }
        }
    )* };
}
load_store!(i8, 0; i16, 1; i32, 2; i64, 3; i128, 4);

/// Wraps a code of at most 128 bits to its type.
fn wrap_low(code: i128, kif: Kif) -> i128 {
    match kif.width() {
        0 => 0,
        128.. => code,
        width if kif.signed => code << (128 - width) >> (128 - width),
        width => code & !(-1 << width),
    }
}

pub(super) struct Real<'a>(pub(super) &'a [f64]);

impl Source for Real<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn reals(&self) -> Option<&[f64]> {
        Some(self.0)
    }

    fn load<T: LoadStore>(&self, plan: &Plan, port: &Port, dst: &mut [T], faults: &mut Vec<Fault>) {
        let scale = port.shift + i64::from(port.kif.frac);
        let rows = &self.0[port.start * port.stride..];
        // Wrap to the type, omitted if the lane has the same width.
        let width = port.kif.width();
        let bits = if width < T::BITS { width as u8 } else { 0 };
        let finish = if port.kif.signed { [bits, 0] } else { [0, bits] };
        let odd = match convert::power(scale) {
            // The fast path computes 51 correct bits of the sum.
            Some(factor) if width <= 51 => T::load(plan, dst, rows, port.stride, port.column, factor, finish),
            _ => true,
        };
        if !odd {
            return;
        }
        for (i, d) in dst.iter_mut().enumerate() {
            let x = rows[i * port.stride + port.column];
            *d = if x.is_finite() {
                T::from_i128(wrap_low(convert::floor_low(x, scale), port.kif))
            } else {
                let kind = FaultKind::NotFinite { input: port.column as u32, value: x };
                faults.push(Fault { sample: port.start + i, kind });
                T::ZERO
            };
        }
    }

    fn load_big(&self, port: &Port, sample: usize, faults: &mut Vec<Fault>) -> BigInt {
        let x = self.0[(port.start + sample) * port.stride + port.column];
        if x.is_finite() {
            return convert::floor_big(x, port.shift + i64::from(port.kif.frac));
        }
        let kind = FaultKind::NotFinite { input: port.column as u32, value: x };
        faults.push(Fault { sample: port.start + sample, kind });
        BigInt::ZERO
    }
}

pub(super) struct RealOut<'a>(pub(super) &'a mut [f64]);

impl Sink for RealOut<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn reals(&mut self) -> Option<&mut [f64]> {
        Some(self.0)
    }

    fn store<T: LoadStore>(&mut self, plan: &Plan, src: &[T], out: &OutputConversion, start: usize, column: usize) {
        let rows = &mut self.0[start * plan.n_outputs..];
        match convert::power(out.exponent.into()) {
            Some(scale) if OutputConversion::EXACT_SCALES.contains(&out.exponent) => {
                T::store(plan, src, out.zero, rows, plan.n_outputs, column, scale);
            }
            _ => {
                for (i, v) in src.iter().enumerate() {
                    let code = if out.zero { BigInt::from(v.unsigned() as u128) } else { v.signed().into() };
                    rows[i * plan.n_outputs + column] = convert::nearest(&code, out.exponent);
                }
            }
        }
    }

    fn store_big(&mut self, index: usize, code: &BigInt, exponent: i32) {
        self.0[index] = convert::nearest(code, exponent);
    }

    fn store_constant(&mut self, first: usize, stride: usize, count: usize, code: &BigInt, exponent: i32) {
        fill_column(self.0, first, stride, count, &convert::nearest(code, exponent));
    }
}

struct Codes<'a>(&'a [i64]);

impl Source for Codes<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn load<T: LoadStore>(&self, _: &Plan, port: &Port, dst: &mut [T], _: &mut Vec<Fault>) {
        let shift = i64::from(port.kif.frac) - i64::from(port.port.frac);
        for (i, d) in dst.iter_mut().enumerate() {
            let code = i128::from(self.0[(port.start + i) * port.stride + port.column]);
            let aligned = match shift {
                128.. => 0,
                0..128 => code << shift,
                _ => code >> (-shift).min(127),
            };
            *d = T::from_i128(wrap_low(aligned, port.kif));
        }
    }

    fn load_big(&self, port: &Port, sample: usize, _: &mut Vec<Fault>) -> BigInt {
        let code = self.0[(port.start + sample) * port.stride + port.column].into();
        align(&code, port.port.frac.into(), port.kif.frac.into())
    }
}

struct CodesOut<'a>(&'a mut [i64]);

impl Sink for CodesOut<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn store<T: LoadStore>(&mut self, plan: &Plan, src: &[T], out: &OutputConversion, start: usize, column: usize) {
        for (i, v) in src.iter().enumerate() {
            self.0[(start + i) * plan.n_outputs + column] = if out.zero { v.unsigned64() } else { v.signed64() };
        }
    }

    fn store_big(&mut self, index: usize, code: &BigInt, _: i32) {
        self.0[index] = low_bits(code) as i64;
    }

    fn store_constant(&mut self, first: usize, stride: usize, count: usize, code: &BigInt, _: i32) {
        fill_column(self.0, first, stride, count, &(low_bits(code) as i64));
    }
}

struct Exact<'a>(&'a [BigInt]);

impl Source for Exact<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn load<T: LoadStore>(&self, _: &Plan, port: &Port, dst: &mut [T], faults: &mut Vec<Fault>) {
        for (i, d) in dst.iter_mut().enumerate() {
            *d = T::from_i128(low_bits(&wrap(&self.load_big(port, i, faults), port.kif)));
        }
    }

    fn load_big(&self, port: &Port, sample: usize, _: &mut Vec<Fault>) -> BigInt {
        let code = &self.0[(port.start + sample) * port.stride + port.column];
        align(code, port.port.frac.into(), port.kif.frac.into())
    }
}

struct ExactOut<'a>(&'a mut [BigInt]);

impl Sink for ExactOut<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn store<T: LoadStore>(&mut self, plan: &Plan, src: &[T], out: &OutputConversion, start: usize, column: usize) {
        for (i, v) in src.iter().enumerate() {
            let code = if out.zero { BigInt::from(v.unsigned() as u128) } else { v.signed().into() };
            self.0[(start + i) * plan.n_outputs + column] = code;
        }
    }

    fn store_big(&mut self, index: usize, code: &BigInt, _: i32) {
        self.0[index].clone_from(code);
    }

    fn store_constant(&mut self, first: usize, stride: usize, count: usize, code: &BigInt, _: i32) {
        fill_column(self.0, first, stride, count, code);
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plan of {} instructions for {:?}", self.code.ins.len(), self.set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{input_ports, output_ports};
    use crate::{LookupMiss, PlanOptions, fast::InstructionSet, golden};
    use alir_core::ir::{Builder, Model, Op, Output, Table};
    use alir_core::num::Interval;
    use alir_testing::random::{self, Gene, Profile, Recipe, SplitMix};
    use proptest::prelude::*;

    /// Checks that `samples` random samples agree between a plan and the reference interpreter.
    fn agree(model: &Model, options: PlanOptions, samples: usize, rng: &mut SplitMix) {
        let rows: Vec<Vec<BigInt>> = (0..samples).map(|_| random::inputs(model, rng)).collect();
        let plan = Plan::new(model, options);
        let mut outputs = vec![BigInt::ZERO; samples * plan.n_outputs];
        let faults = plan.runner().run_exact(&rows.concat(), &mut outputs);
        for (s, row) in rows.iter().enumerate() {
            let fault = faults.iter().find(|f| f.sample == s);
            match golden(model, row, options.lookup_miss) {
                Err(miss) => assert_eq!(fault.map(|f| &f.kind), Some(&FaultKind::Miss(miss)), "sample {s}"),
                Ok(expected) => {
                    assert_eq!(fault, None, "sample {s}");
                    let got = &outputs[s * plan.n_outputs..][..plan.n_outputs];
                    assert_eq!(got, expected, "sample {s} {row:?}");
                }
            }
        }
    }

    /// Returns a random real number: usually within the size of the port, sometimes an extreme float64.
    fn real(kif: Kif, shift: i32, rng: &mut SplitMix) -> f64 {
        const EDGES: [f64; 12] = [
            0.0,
            -0.0,
            5e-324,
            -5e-324,
            f64::MAX,
            f64::MIN,
            -f64::MIN_POSITIVE,
            9_007_199_254_740_993.0,
            -4_503_599_627_370_495.5,
            f64::NAN,
            f64::INFINITY,
            -1e-300,
        ];
        match rng.below(40) {
            0 => EDGES[rng.below(12) as usize],
            1 => f64::from_bits(rng.word()),
            _ => {
                let unit = rng.word() as i64 as f64 / i64::MAX as f64;
                // A number of up to twice the range of the port, with bits below the step of the port.
                unit * 2f64.powi((kif.int + 1).saturating_sub(shift).clamp(-1000, 1000))
            }
        }
    }

    #[test]
    fn real_numbers_are_converted_exactly() {
        for seed in 0..1500 {
            let model = random::model(seed);
            let mut rng = SplitMix::new(seed);
            let set = InstructionSet::ALL[seed as usize % InstructionSet::ALL.len()];
            let samples = 1 + rng.below(90) as usize;
            let block = [32, 40, 256][rng.below(3) as usize];
            let options = PlanOptions { lookup_miss: LookupMiss::Zero, instruction_set: Some(set), block: Some(block) };
            let plan = Plan::new(&model, options);
            let (ins, outs) = (input_ports(&model), output_ports(&model));
            let shift = |i: usize| model.inp_shifts()[i];
            let inputs: Vec<f64> = (0..samples)
                .flat_map(|_| ins.iter().enumerate().map(|(i, p)| real(p.kif, shift(i), &mut rng)).collect::<Vec<_>>())
                .collect();
            let mut outputs = vec![0.0; samples * outs.len()];
            let faults = plan.runner().run(&inputs, &mut outputs);
            for s in 0..samples {
                let row = &inputs[s * ins.len()..][..ins.len()];
                let read = |i: usize| plan.code.inputs.iter().any(|c| c.input as usize == i);
                let bad = row.iter().enumerate().position(|(i, x)| !x.is_finite() && read(i));
                let fault = faults.iter().find(|f| f.sample == s);
                assert_eq!(fault.is_some(), bad.is_some(), "seed {seed} {options:?} sample {s} {row:?} {fault:?}");
                if bad.is_some() {
                    continue;
                }
                let codes: Vec<BigInt> =
                    row.iter().zip(&ins).map(|(x, port)| port.code_of_real(*x).unwrap_or_default()).collect();
                let expected = golden(&model, &codes, LookupMiss::Zero).unwrap();
                let expected: Vec<f64> = expected.iter().zip(&outs).map(|(c, p)| p.real_of_code(c).0).collect();
                let got = &outputs[s * outs.len()..][..outs.len()];
                assert_eq!(got, expected, "seed {seed} {options:?} sample {s} {row:?}");
            }
        }
    }

    #[test]
    fn samples_in_pieces_have_the_results_of_all_at_once() {
        let pieces = [1, 31, 33, 128, 200, 300, 512, 7, 2048];
        for seed in 0..150 {
            let model = random::model(seed);
            let mut rng = SplitMix::new(seed);
            let plan = Plan::new(&model, PlanOptions { lookup_miss: LookupMiss::Zero, ..PlanOptions::default() });
            if plan.n_inputs == 0 || plan.n_outputs == 0 {
                continue;
            }
            let ports = input_ports(&model);
            let samples: usize = pieces.iter().sum();
            let inputs: Vec<f64> = (0..samples)
                .flat_map(|_| {
                    ports
                        .iter()
                        .enumerate()
                        .map(|(i, p)| real(p.kif, model.inp_shifts()[i], &mut rng))
                        .collect::<Vec<_>>()
                })
                .collect();
            let mut whole = vec![0.0; samples * plan.n_outputs];
            let faults = plan.runner().run(&inputs, &mut whole);
            let (mut runner, mut first, mut found) = (plan.runner(), 0, Vec::new());
            let mut outputs = vec![0.0; whole.len()];
            for piece in pieces {
                let rows = &inputs[first * plan.n_inputs..][..piece * plan.n_inputs];
                let results = &mut outputs[first * plan.n_outputs..][..piece * plan.n_outputs];
                let own = runner.run(rows, results);
                found.extend(own.into_iter().map(|f| Fault { sample: first + f.sample, ..f }));
                first += piece;
            }
            // A NaN in a fault is not equal to itself, so `Debug` output is compared.
            assert_eq!(format!("{found:?}"), format!("{faults:?}"), "seed {seed}");
            assert_eq!(outputs, whole, "seed {seed}");
        }
    }

    #[test]
    fn a_logical_shift_keeps_the_sign_that_is_extended_after_it() {
        // Regression found by the random test of real numbers: the zeros of the shift were inserted after the sign.
        agree(
            &random::model(376),
            PlanOptions {
                lookup_miss: LookupMiss::Zero,
                instruction_set: Some(InstructionSet::Baseline),
                block: Some(256),
            },
            200,
            &mut SplitMix::new(376),
        );
    }

    #[test]
    fn shifts_and_wraps_of_every_lane_agree_with_the_golden_interpreter() {
        let mut rng = SplitMix::new(8);
        for (case, lane) in [8, 16, 32, 64].into_iter().enumerate() {
            let ends = [0, 1, 3, lane / 2 - 1, lane / 2, lane - 3, lane - 2, lane - 1];
            let mut b = Builder::new(vec![0, 0]);
            for (input, signed) in [false, true].into_iter().enumerate() {
                let kif = |signed: bool, width: i32, frac: i32| {
                    Interval::full(Kif { signed, int: width - i32::from(signed) - frac, frac })
                };
                let x = b.op(Op::Input { input: input as u32 }, kif(signed, lane, 0));
                for shr in ends {
                    for width in ends.into_iter().chain([lane - shr]).filter(|&w| w > 0) {
                        for to in [false, true] {
                            for op in [Op::Quantise { x, shift: 0 }, Op::Relu { x }] {
                                let y = b.op(op, kif(to, width, -shr));
                                b.output(Output { source: Some(y), shift: 0, neg: false });
                            }
                        }
                    }
                }
            }
            let model = b.finish().expect("a program");
            for (set, block) in
                InstructionSet::ALL.map(|set| (set, 64)).into_iter().chain([(InstructionSet::CompiledAvx2, 48)])
            {
                let options =
                    PlanOptions { lookup_miss: LookupMiss::Zero, instruction_set: Some(set), block: Some(block) };
                agree(&model, options, 60 + case, &mut rng);
            }
        }
    }

    /// Returns a model with the sum of two table look-ups, and the sum of an entry and an operand.
    fn lookup(width: i32, signed: bool, base: i64, entries: Vec<i32>) -> Model {
        let codes = if signed { -1i64 << (width - 1)..1 << (width - 1) } else { 0..1 << width };
        let half = Interval::new(codes.start / 2, (codes.end - 1) / 2, 0);
        let (least, most) = (*entries.iter().min().unwrap(), *entries.iter().max().unwrap());
        let mut b = Builder::new(vec![0, 0]);
        let x = b.op(Op::Input { input: 0 }, half.clone());
        let y = b.op(Op::Input { input: 1 }, half);
        let sum = b.op(Op::Add { a: x, b: y, shift: 0 }, Interval::new(codes.start, codes.end - 1, 0));
        let out = Interval::new(i64::from(least), i64::from(most), 0);
        let table = b.table(Table { entries, out: out.clone(), hash: String::new(), inp_width: i64::from(width) });
        let entry = b.op(Op::Lookup { x: sum, table, base: base.into() }, out);
        let last = Interval::new(i64::from(least) + codes.start, i64::from(most) + codes.end, 0);
        let last = b.op(Op::Add { a: entry, b: x, shift: 0 }, last);
        for source in [entry, last] {
            b.output(Output { source: Some(source), shift: 0, neg: false });
        }
        b.finish().expect("a program")
    }

    #[test]
    fn lookups_in_tables_of_every_size_agree_with_the_golden_interpreter() {
        let mut rng = SplitMix::new(27);
        for (case, len) in
            [1, 2, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 200, 255, 256, 257, 512, 700, 1023, 1024, 1025, 2048]
                .into_iter()
                .enumerate()
        {
            let fits = (usize::BITS - (len - 1usize).leading_zeros()).max(2) as i32;
            for (width, signed, bits) in [(fits, false, 7), (fits, true, 8), (fits + 1, false, 12), (fits + 1, true, 3)]
            {
                let least = if signed { -1i64 << (width - 1) } else { 0 };
                // At the lowest raw integer value, and at the highest base for which the table fits the type.
                for base in [least, least + (1i64 << width) - len as i64] {
                    let entries = (0..len).map(|_| rng.below(1 << bits) as i32 - (1 << (bits - 1))).collect();
                    let model = lookup(width, signed, base, entries);
                    for (set, miss, block) in [
                        (InstructionSet::Compiled, LookupMiss::Error, 64),
                        (InstructionSet::Compiled, LookupMiss::Zero, 64),
                        (InstructionSet::CompiledAvx2, LookupMiss::Error, 64),
                        (InstructionSet::CompiledAvx2, LookupMiss::Zero, 48),
                        (InstructionSet::ALL[case % InstructionSet::ALL.len()], LookupMiss::Error, 64),
                    ] {
                        let options = PlanOptions { lookup_miss: miss, instruction_set: Some(set), block: Some(block) };
                        agree(&model, options, 150, &mut rng);
                    }
                }
            }
        }
    }

    #[test]
    fn machine_code_of_programs_with_more_values_than_registers_agrees_with_the_golden_interpreter() {
        for seed in 0..60 {
            let model = Recipe::seeded(Profile::ALL[seed as usize % Profile::ALL.len()].1, 500, seed).build();
            for (set, block) in
                [(InstructionSet::CompiledAvx2, 16), (InstructionSet::CompiledAvx2, 64), (InstructionSet::Compiled, 64)]
            {
                let options =
                    PlanOptions { lookup_miss: LookupMiss::Zero, instruction_set: Some(set), block: Some(block) };
                agree(&model, options, 40, &mut SplitMix::new(seed));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        /// Like the random programs below, but proptest shrinks a failing program.
        #[test]
        fn machine_code_agrees_with_the_golden_interpreter(
            genes in proptest::collection::vec(any::<Gene>(), 1..60),
            which in 0..Profile::ALL.len(),
            zero: bool,
            seed: u64,
        ) {
            let model = Recipe::new(Profile::ALL[which].1, genes).build();
            let lookup_miss = if zero { LookupMiss::Zero } else { LookupMiss::Error };
            for (set, block) in [
                (InstructionSet::CompiledAvx2, 16),
                (InstructionSet::CompiledAvx2, 64),
                (InstructionSet::Compiled, 64),
            ] {
                let options = PlanOptions { lookup_miss, instruction_set: Some(set), block: Some(block) };
                agree(&model, options, 40, &mut SplitMix::new(seed));
            }
        }
    }

    #[test]
    fn random_programs_agree_with_the_golden_interpreter() {
        // ALIR2HDL_ENGINE_PROGRAMS=100000 selects the long test, with 200 samples for each program;
        // ALIR2HDL_ENGINE_FIRST is the first seed.
        let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
        let programs = number("ALIR2HDL_ENGINE_PROGRAMS");
        let first = number("ALIR2HDL_ENGINE_FIRST").unwrap_or(0);
        let samples = if programs.is_some() { 200 } else { 20 };
        let mut failed = Vec::new();
        for seed in first..first + programs.unwrap_or(3000) {
            let model = random::model(seed);
            let mut rng = SplitMix::new(seed);
            let set = InstructionSet::ALL[seed as usize % InstructionSet::ALL.len()];
            let miss = if seed / 8 % 2 == 0 { LookupMiss::Error } else { LookupMiss::Zero };
            let block = [1, 3, 7, 64, 65, 200][rng.below(6) as usize];
            let options = PlanOptions { lookup_miss: miss, instruction_set: Some(set), block: Some(block) };
            let ran =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| agree(&model, options, samples, &mut rng)));
            if ran.is_err() {
                eprintln!("seed {seed} {options:?}");
                failed.push(seed);
            }
        }
        assert!(failed.is_empty(), "seeds {failed:?}");
    }
}
