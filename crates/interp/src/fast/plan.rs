//! Execution plan of a program: memory places of registers, and kernels or machine code for instructions.

#[cfg(all(target_arch = "x86_64", unix))]
use super::jit::{self, Machine, MachineCode};
use super::kernels::{self, Kernels, NaryTerm, Step};
use super::lower::{self, Code, Ins, Lane, Reg, Term, Wrap};
use super::order;
use super::run::{Fault, Runner};
#[cfg(target_arch = "x86_64")]
use super::tiles::{self, InputTile, OutputTile};
use crate::LookupMiss;
use alir_core::ir::Model;
use alir_core::num::Kif;
use std::ops::Range;

/// Vector instruction sets of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstructionSet {
    /// Instructions that every processor of the target has (SSE2 on x86-64).
    Baseline,
    /// AVX2 with BMI2 and fused multiplication and addition.
    Avx2,
    /// AVX-512 with byte and word instructions.
    Avx512,
    /// Machine code for the given program, with AVX2 instructions; loops for unsupported instructions.
    CompiledAvx2,
    /// Machine code for the given program, with AVX-512 and GFNI instructions; loops for unsupported instructions.
    Compiled,
}

impl InstructionSet {
    /// All instruction sets, the simplest first.
    pub const ALL: [InstructionSet; 5] = [
        InstructionSet::Baseline,
        InstructionSet::Avx2,
        InstructionSet::Avx512,
        InstructionSet::CompiledAvx2,
        InstructionSet::Compiled,
    ];

    /// Returns `true` if this computer supports the instruction set.
    pub fn is_available(self) -> bool {
        match self {
            InstructionSet::Baseline => true,
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => {
                is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("fma")
            }
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => {
                InstructionSet::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
            }
            #[cfg(all(target_arch = "x86_64", unix))]
            InstructionSet::CompiledAvx2 => InstructionSet::Avx2.is_available(),
            #[cfg(all(target_arch = "x86_64", unix))]
            InstructionSet::Compiled => InstructionSet::Avx512.is_available() && is_x86_feature_detected!("gfni"),
            #[expect(unreachable_patterns, reason = "reachable on other machines")]
            _ => false,
        }
    }

    /// Returns the best instruction set that this computer supports.
    pub fn best() -> InstructionSet {
        InstructionSet::ALL.into_iter().rev().find(|s| s.is_available()).unwrap_or(InstructionSet::Baseline)
    }

    /// Returns the instruction set named `baseline`, `avx2`, `avx512`, `compiled-avx2` or `compiled`; `None` for other
    /// names.
    pub fn from_name(name: &str) -> Option<InstructionSet> {
        match name {
            "baseline" => Some(InstructionSet::Baseline),
            "avx2" => Some(InstructionSet::Avx2),
            "avx512" => Some(InstructionSet::Avx512),
            "compiled-avx2" => Some(InstructionSet::CompiledAvx2),
            "compiled" => Some(InstructionSet::Compiled),
            _ => None,
        }
    }

    /// Returns the instruction set named by the environment variable `ALIR2HDL_INSTRUCTION_SET`; `None` if the variable
    /// is unset or not a valid name.
    fn forced() -> Option<InstructionSet> {
        InstructionSet::from_name(std::env::var("ALIR2HDL_INSTRUCTION_SET").ok()?.as_str())
    }

    /// Returns the instruction set of the loops that evaluate instructions without machine code.
    fn loops(self) -> InstructionSet {
        match self {
            InstructionSet::CompiledAvx2 if !InstructionSet::Avx512.is_available() => InstructionSet::Avx2,
            InstructionSet::CompiledAvx2 | InstructionSet::Compiled => InstructionSet::Avx512,
            loops => loops,
        }
    }

    fn kernels(self) -> &'static Kernels {
        match self {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => &kernels::avx2::KERNELS,
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => &kernels::avx512::KERNELS,
            _ => &kernels::baseline::KERNELS,
        }
    }
}

/// Options of a [`Plan`]. Only tests of the engine need values other than the defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanOptions {
    /// Result of a lookup outside its table.
    pub lookup_miss: LookupMiss,
    /// Instruction set; `None` for the set named by the environment variable `ALIR2HDL_INSTRUCTION_SET` (see
    /// [`InstructionSet::from_name`]), or else the best set of this computer. The best set replaces an unavailable set.
    pub instruction_set: Option<InstructionSet>,
    /// Number of samples in a block; `None` selects a number for which the arena fits the cache.
    pub block: Option<usize>,
}

/// A program ready to run on many samples. Threads can share a plan.
///
/// ```
/// use alir2hdl::interp::{Plan, PlanOptions};
/// use alir2hdl::ir::{Builder, Op, Output};
/// use alir2hdl::num::Interval;
///
/// // y = x0 + 2 * x1, in steps of 1/4.
/// let mut b = Builder::new(vec![0, 0]);
/// let x0 = b.op(Op::Input { input: 0 }, Interval::new(-8, 7, 2));
/// let x1 = b.op(Op::Input { input: 1 }, Interval::new(-8, 7, 2));
/// let y = b.op(Op::Add { a: x0, b: x1, shift: 1 }, Interval::new(-24, 21, 2));
/// b.output(Output { source: Some(y), shift: 0, neg: false });
/// let model = b.finish().unwrap();
///
/// let plan = Plan::new(&model, PlanOptions::default());
/// // Three samples of two inputs, one row per sample; three rows of one output.
/// let inputs = [1.0, 0.25, -0.5, 1.75, 0.3, -2.0];
/// let mut outputs = [0.0; 3];
/// plan.run(&inputs, &mut outputs).unwrap();
/// assert_eq!(outputs, [1.5, 3.0, -3.75]);
/// ```
pub struct Plan {
    pub(super) n_inputs: usize,
    pub(super) n_outputs: usize,
    pub(super) inp_shifts: Vec<i32>,
    pub(super) input_kifs: Vec<Kif>,
    pub(super) code: Code,
    /// Instruction set of the loops and tiles.
    pub(super) set: InstructionSet,
    /// Indices of the inputs, inputs in tiles first.
    pub(super) input_order: Vec<u32>,
    pub(super) tiled_inputs: usize,
    pub(super) output_order: Vec<u32>,
    pub(super) tiled_outputs: usize,
    #[cfg(target_arch = "x86_64")]
    pub(super) input_tiles: Vec<InputTile>,
    #[cfg(target_arch = "x86_64")]
    pub(super) output_tiles: Vec<OutputTile>,
    pub(super) kernels: &'static Kernels,
    options: PlanOptions,
    /// Layout for few samples, and for computers without machine code.
    loops: Layout,
    #[cfg(all(target_arch = "x86_64", unix))]
    machine: Option<Machine>,
    /// Layout with machine code for many samples; compiled on first use.
    #[cfg(all(target_arch = "x86_64", unix))]
    compiled: std::sync::OnceLock<Option<Layout>>,
}

/// A program laid out in an arena.
pub(super) struct Layout {
    /// Number of samples in a block.
    pub(super) block: usize,
    /// Places of the registers in the arena.
    pub(super) offsets: Vec<u32>,
    pub(super) arena_bytes: usize,
    pub(super) steps: Vec<Step>,
    pub(super) nary: Vec<NaryTerm>,
    pub(super) stages: Vec<Stage>,
    /// Registers with a constant that the kernels read.
    pub(super) fixed: Vec<(Reg, i128)>,
    #[cfg(all(target_arch = "x86_64", unix))]
    pub(super) machine: Option<MachineCode>,
}

/// Part of the work on a block; stages run in order.
pub(super) enum Stage {
    /// Range of steps that kernels execute.
    Steps(Range<usize>),
    /// An instruction that is computed one sample at a time.
    Wide(Ins),
    /// A part of the machine code.
    #[cfg(all(target_arch = "x86_64", unix))]
    Machine(usize),
}

impl Plan {
    /// Builds the plan of a program, in linear time.
    pub fn new(model: &Model, options: PlanOptions) -> Plan {
        let options =
            PlanOptions { instruction_set: options.instruction_set.or_else(InstructionSet::forced), ..options };
        let set = options.instruction_set.filter(|s| s.is_available()).unwrap_or_else(InstructionSet::best);
        let mut code = lower::lower(model, options.lookup_miss);
        #[cfg(all(target_arch = "x86_64", unix))]
        let machine = Machine::assemble(set, &code, options.block);
        #[cfg(all(target_arch = "x86_64", unix))]
        match machine {
            Some(machine) => order::improve(&mut code, machine.registers(), |code, ins| machine.knows(code, ins)),
            None => order::improve(&mut code, order::Registers::AVX512, |_, _| true),
        }
        #[cfg(not(all(target_arch = "x86_64", unix)))]
        order::improve(&mut code, order::Registers::AVX512, |_, _| true);
        let set = set.loops();
        let kernels = set.kernels();
        let everything = vec![true; code.lanes.len()];
        let places = Places::new(&code, &everything, &[]);
        let block = options.block.unwrap_or_else(|| places.good_block(64..=1024)).max(1);
        let mut loops = Layout::new(&code, &places, block, code.fixed.clone());
        for ins in &code.ins {
            loops.step(&code, kernels, ins);
        }
        #[cfg(target_arch = "x86_64")]
        let (input_tiles, input_order, tiled_inputs) = tiles::input_tiles(model, &code);
        #[cfg(target_arch = "x86_64")]
        let (output_tiles, output_order, tiled_outputs) = tiles::output_tiles(&code);
        #[cfg(not(target_arch = "x86_64"))]
        let (input_order, tiled_inputs, output_order, tiled_outputs) =
            ((0..code.inputs.len() as u32).collect(), 0, (0..code.outputs.len() as u32).collect(), 0);
        Plan {
            input_order,
            tiled_inputs,
            output_order,
            tiled_outputs,
            #[cfg(target_arch = "x86_64")]
            input_tiles,
            #[cfg(target_arch = "x86_64")]
            output_tiles,
            n_inputs: model.n_inputs(),
            n_outputs: model.outputs().len(),
            inp_shifts: model.inp_shifts().to_vec(),
            input_kifs: model.input_kifs().to_vec(),
            code,
            set,
            kernels,
            options,
            loops,
            #[cfg(all(target_arch = "x86_64", unix))]
            machine,
            #[cfg(all(target_arch = "x86_64", unix))]
            compiled: std::sync::OnceLock::new(),
        }
    }

    /// Returns the layout for a runner; `samples` is the number of samples evaluated so far plus those of this call.
    pub(super) fn layout(&self, samples: usize) -> &Layout {
        /// Minimum number of samples for which compilation saves time.
        const MANY: usize = 512;
        #[cfg(all(target_arch = "x86_64", unix))]
        if self.machine.is_some() && (samples >= MANY || self.options.instruction_set.is_some()) {
            return self.compiled.get_or_init(|| self.compile()).as_ref().unwrap_or(&self.loops);
        }
        let _ = (samples, MANY);
        &self.loops
    }

    #[cfg(all(target_arch = "x86_64", unix))]
    fn compile(&self) -> Option<Layout> {
        let (code, machine) = (&self.code, self.machine?);
        let straight = jit::straight_parts(code, machine);
        let in_arena = jit::in_arena(code, &straight);
        let mut kept = Vec::new();
        jit::watched(code, &straight).for_each(|ins| ins.for_each_source(code, |r| kept.push(r)));
        let places = Places::new(code, &in_arena, &kept);
        let block = self.options.block.unwrap_or_else(|| places.good_block(256..=2048)).max(1);
        let fixed = code.fixed.iter().copied().filter(|f| in_arena[f.0 as usize]).collect();
        let mut layout = Layout::new(code, &places, block, fixed);
        // Displacements are signed 32-bit numbers.
        if layout.arena_bytes > i32::MAX as usize {
            return None;
        }
        layout.machine = Some(machine.compile(code, &straight, &in_arena, &layout.offsets)?);
        let mut next = 0;
        for (n, range) in straight.iter().enumerate() {
            code.ins[next..range.start].iter().for_each(|ins| layout.step(code, self.kernels, ins));
            next = range.end;
            layout.stages.push(Stage::Machine(n));
        }
        code.ins[next..].iter().for_each(|ins| layout.step(code, self.kernels, ins));
        for ins in jit::watched(code, &straight) {
            let step = layout.kernel_step(code, self.kernels, ins);
            let kernel = self.kernels.misses(code.lanes[ins.dst() as usize]);
            layout.push(Step { kernel, ..step });
        }
        Some(layout)
    }

    /// Returns the indices of input elements that are not converted, in order; NaN and infinities in them are not
    /// detected.
    pub fn unread_inputs(&self) -> Vec<usize> {
        let mut read = vec![false; self.n_inputs];
        self.code.inputs.iter().for_each(|c| read[c.input as usize] = true);
        (0..self.n_inputs).filter(|&k| !read[k]).collect()
    }

    /// Recommended number of samples in a call. With this number or a multiple of it, blocks are full, and the fixed
    /// cost of a call is negligible.
    pub const CHUNK: usize = 128;

    /// Runs the program on real numbers. For each sample, `inputs` has a row with one number per input element, and
    /// `outputs` a row with one number per output element. For many calls, create one [`Runner`].
    ///
    /// # Errors
    /// The first sample without a result; the outputs of all other samples are written.
    ///
    /// # Panics
    /// If the lengths are not multiples of the row lengths, or the numbers of rows differ.
    pub fn run(&self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), Fault> {
        match self.runner().run(inputs, outputs).into_iter().next() {
            None => Ok(()),
            Some(fault) => Err(fault),
        }
    }

    /// Returns a runner, which owns the memory that one thread needs.
    pub fn runner(&self) -> Runner<'_> {
        Runner::new(self)
    }
}

impl Layout {
    fn new(code: &Code, places: &Places, block: usize, fixed: Vec<(Reg, i128)>) -> Layout {
        let (offsets, arena_bytes) = places.offsets(code, block);
        Layout {
            block,
            offsets,
            arena_bytes,
            steps: Vec::new(),
            nary: Vec::new(),
            stages: Vec::new(),
            fixed,
            #[cfg(all(target_arch = "x86_64", unix))]
            machine: None,
        }
    }

    /// Appends an instruction as a step of a kernel or as a stage for wide numbers.
    fn step(&mut self, code: &Code, kernels: &Kernels, ins: &Ins) {
        if matches!(ins, Ins::Narrow { .. } | Ins::Wide { .. }) {
            self.stages.push(Stage::Wide(*ins));
            return;
        }
        let step = self.kernel_step(code, kernels, ins);
        self.push(step);
    }

    fn push(&mut self, step: Step) {
        self.steps.push(step);
        let end = self.steps.len();
        match self.stages.last_mut() {
            Some(Stage::Steps(range)) => range.end = end,
            _ => self.stages.push(Stage::Steps(end - 1..end)),
        }
    }

    fn kernel_step(&mut self, code: &Code, kernels: &Kernels, ins: &Ins) -> Step {
        let lane = code.lanes[ins.dst() as usize];
        let at = |reg: Reg| self.offsets[reg as usize];
        let mut step = Step {
            kernel: kernels.linear1(Lane::B1),
            dst: at(ins.dst()),
            a: 0,
            b: 0,
            c: 0,
            constant: 0,
            sa: 0,
            sb: 0,
            shr: 0,
            relu: false,
            logical: false,
            sign_bits: 0,
            zero_bits: 0,
            extra: 0,
        };
        let mut finish = |wrap: Wrap| match wrap {
            Wrap::None => {}
            Wrap::Sign(bits) => step.sign_bits = bits,
            Wrap::Zero(bits) => step.zero_bits = bits,
        };
        match *ins {
            Ins::Linear { dst: _, first, count, c, shr, logical, relu, wrap } => {
                finish(wrap);
                (step.constant, step.shr, step.logical, step.relu) = (c, shr, logical, relu);
                let terms = &code.terms[first as usize..][..count as usize];
                match *terms {
                    [t] => {
                        step.kernel = kernels.linear1(lane);
                        (step.a, step.sa, step.extra) = (at(t.reg), t.shl, t.neg.into());
                    }
                    [a, b] if !(a.neg && b.neg) => {
                        let rest = c != 0 || shr != 0 || relu || wrap != Wrap::None;
                        let (a, b): (Term, Term) = if a.neg { (b, a) } else { (a, b) };
                        step.kernel = kernels.linear2(lane, b.neg, a.shl != 0 || b.shl != 0, rest);
                        (step.a, step.sa, step.b, step.sb) = (at(a.reg), a.shl, at(b.reg), b.shl);
                    }
                    _ => {
                        step.kernel = kernels.nary(lane);
                        (step.a, step.b) = (self.nary.len() as u32, count);
                        let offsets = &self.offsets;
                        self.nary.extend(terms.iter().map(|t| NaryTerm {
                            offset: offsets[t.reg as usize],
                            shl: t.shl,
                            neg: t.neg,
                        }));
                    }
                }
            }
            Ins::Mul { dst: _, a, b, shl, shr, logical, wrap } => {
                finish(wrap);
                step.kernel = kernels.mul(lane);
                (step.a, step.b, step.sa, step.shr, step.logical) = (at(a), at(b), shl, shr, logical);
            }
            Ins::Bits { dst: _, op, a, sa, b, sb, shr, logical, wrap } => {
                finish(wrap);
                step.kernel = kernels.bits(lane, op);
                (step.a, step.sa, step.b, step.sb) = (at(a), sa, at(b), sb);
                (step.shr, step.logical) = (shr, logical);
            }
            Ins::Mux { dst: _, cond, bit, on_true, on_false, wrap } => {
                finish(wrap);
                step.kernel = kernels.mux(lane);
                (step.a, step.b, step.c) = (at(on_true.reg), at(on_false.reg), at(cond));
                (step.extra, step.constant) = (bit, self.nary.len() as u32);
                for arm in [on_true, on_false] {
                    self.nary.push(NaryTerm { offset: arm.shr.into(), shl: arm.shl, neg: arm.logical });
                }
            }
            Ins::Compare { dst: _, x, than, eq, wrap } => {
                finish(wrap);
                step.kernel = kernels.compare(lane);
                (step.a, step.constant, step.extra) = (at(x), than, eq.into());
            }
            Ins::Lookup { dst: _, x, table } => {
                step.kernel = kernels.lookup(lane);
                (step.a, step.c) = (at(x), table);
            }
            Ins::Convert { dst: _, src, zero } => {
                step.kernel = kernels.convert(code.lanes[src as usize], lane);
                (step.a, step.extra) = (at(src), zero.into());
            }
            Ins::Narrow { .. } | Ins::Wide { .. } => unreachable!("wide instructions have no kernel"),
        }
        step
    }
}

/// Assignment of registers to places in the arena. Registers of a lane that are never live together share a place.
pub(super) struct Places {
    /// Place of each register, counted within its lane.
    pub(super) place: Vec<u32>,
    /// Number of places of each lane.
    pub(super) count: [u32; 6],
    /// Number of limbs of each wide place.
    pub(super) limbs: Vec<u32>,
}

impl Places {
    /// Assigns places by a linear scan in the order of the code (M. Poletto, V. Sarkar, *Linear scan register
    /// allocation*, TOPLAS 1999). The place that was released last is used first, as it is likely to be in the
    /// first-level cache.
    ///
    /// Only registers in `needed` get a place; places of registers in `kept` are never reused.
    pub(super) fn new(code: &Code, needed: &[bool], kept: &[Reg]) -> Places {
        const FOREVER: u32 = u32::MAX;
        let n = code.lanes.len();
        let mut last = vec![0u32; n];
        for (k, ins) in code.ins.iter().enumerate() {
            ins.for_each_source(code, |r| last[r as usize] = k as u32);
        }
        for out in &code.outputs {
            if let Some(reg) = out.src {
                last[reg as usize] = FOREVER;
            }
        }
        for reg in code.fixed.iter().map(|f| f.0).chain(kept.iter().copied()) {
            last[reg as usize] = FOREVER;
        }
        let mut places = Places { place: vec![0; n], count: [0; 6], limbs: Vec::new() };
        let mut free: [Vec<u32>; 5] = Default::default();
        let take = |places: &mut Places, free: &mut [Vec<u32>; 5], reg: Reg| {
            if !needed[reg as usize] {
                return;
            }
            let lane = code.lanes[reg as usize];
            let place = match free.get_mut(lane as usize).and_then(Vec::pop) {
                Some(place) => place,
                None => {
                    if lane == Lane::Wide {
                        places.limbs.push(code.limbs[&reg]);
                    }
                    places.count[lane as usize] += 1;
                    places.count[lane as usize] - 1
                }
            };
            places.place[reg as usize] = place;
        };
        for reg in code.fixed.iter().map(|f| f.0).chain(code.inputs.iter().map(|i| i.dst)) {
            take(&mut places, &mut free, reg);
        }
        for (k, ins) in code.ins.iter().enumerate() {
            // Places of sources are released after the destination has a place: kernels require distinct places.
            take(&mut places, &mut free, ins.dst());
            // A lookup without a reader is kept because it may report a fault; its place is released at once.
            let dst = ins.dst();
            if last[dst as usize] == 0 {
                last[dst as usize] = k as u32;
            }
            let mut give_back = |reg: Reg| {
                let lane = code.lanes[reg as usize] as usize;
                if last[reg as usize] == k as u32 && lane < free.len() && needed[reg as usize] {
                    free[lane].push(places.place[reg as usize]);
                    // A source may occur twice.
                    last[reg as usize] = FOREVER;
                }
            };
            ins.for_each_source(code, &mut give_back);
            give_back(dst);
        }
        places
    }

    /// Returns the size of one sample in the arena, in bytes.
    pub(super) fn bytes_per_sample(&self) -> usize {
        let machine: usize = Lane::MACHINE.iter().map(|&l| (self.count[l as usize] * l.bytes()) as usize).sum();
        machine + self.limbs.iter().map(|&l| 8 * l as usize).sum::<usize>()
    }

    /// Returns the number of samples per block for which the arena fits a large part of the second-level cache.
    fn good_block(&self, range: std::ops::RangeInclusive<usize>) -> usize {
        const ARENA: usize = 384 << 10;
        let most = (ARENA / self.bytes_per_sample().max(1)).clamp(*range.start(), *range.end());
        // A power of two, so that [`Plan::CHUNK`] is a multiple or a divisor of the block.
        1 << most.ilog2()
    }

    /// Returns the byte offsets of the registers for blocks of `block` samples, and the size of the arena in bytes.
    fn offsets(&self, code: &Code, block: usize) -> (Vec<u32>, usize) {
        // Machine code evaluates whole groups of 32 samples.
        let block = block.next_multiple_of(32);
        let round = |bytes: usize| bytes.next_multiple_of(64);
        let mut start = [0usize; 6];
        let mut end = 0;
        for lane in Lane::MACHINE {
            start[lane as usize] = end;
            end += self.count[lane as usize] as usize * round(block * lane.bytes() as usize);
        }
        let mut wide = Vec::with_capacity(self.limbs.len());
        for &limbs in &self.limbs {
            wide.push(end);
            end += round(block * 8 * limbs as usize);
        }
        assert!(u32::try_from(end).is_ok(), "the arena of a block has at most 4 GiB");
        let offset = |(reg, &place): (usize, &u32)| match code.lanes[reg] {
            Lane::Wide => wide[place as usize] as u32,
            lane => (start[lane as usize] + place as usize * round(block * lane.bytes() as usize)) as u32,
        };
        (self.place.iter().enumerate().map(offset).collect(), end)
    }
}
