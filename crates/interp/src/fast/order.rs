//! Instruction order with few live values and few switches between machine code and loops.
//!
//! Files are often ordered by layers with shared terms first, which keeps many values live. Depth-first order shortens
//! live ranges: each tree is finished before the next tree begins, and the operand that needs more registers is
//! computed first (R. Sethi, J. D. Ullman, *The generation of optimal code for arithmetic expressions*, Journal of the
//! ACM 1970). This order is optimal for trees and a heuristic for programs with shared values, so it is used only if it
//! has fewer reads of values that are no longer in a register.
//!
//! Machine code ends at instructions that it does not support ([`super::jit`]). So instructions of the two kinds are
//! grouped: first all that do not depend on the other kind, then all of the other kind that are ready, and so on.

use super::lower::{Code, Ins, Lane};

/// Vector registers that are available to a program.
#[derive(Clone, Copy)]
pub(super) struct Registers {
    pub(super) count: u32,
    /// Number of bytes of one register.
    pub(super) bytes: u32,
    /// Number of samples that are computed together.
    pub(super) group: u32,
}

impl Registers {
    /// Registers of AVX-512.
    pub(super) const AVX512: Registers = Registers { count: 28, bytes: 64, group: 32 };

    /// Returns the number of vectors of a group in a lane.
    fn vectors(self, lane: Lane) -> u32 {
        let bytes = if lane == Lane::Wide { 16 } else { lane.bytes() };
        (self.group * bytes).div_ceil(self.bytes)
    }
}

const NONE: u32 = u32::MAX;

/// Orders the instructions depth-first if that is better than the current order. `straight` returns the kind of an
/// instruction: `true` if it is supported in machine code. Takes linear time.
pub(super) fn improve(code: &mut Code, registers: Registers, straight: impl Fn(&Code, &Ins) -> bool) {
    if code.ins.len() < registers.count as usize {
        return;
    }
    let straight: Vec<bool> = code.ins.iter().map(|ins| straight(code, ins)).collect();
    let file: Vec<u32> = (0..code.ins.len() as u32).collect();
    let depth_first = Dag::new(code).depth_first(&straight);
    if far_reads(code, registers, &depth_first, &straight) < far_reads(code, registers, &file, &straight) {
        code.ins = depth_first.iter().map(|&k| code.ins[k as usize]).collect();
    }
}

/// Returns an estimate of the loads from memory under least-recently-used replacement: counts reads of vectors that
/// were evicted from the registers, or that another part wrote. A vector counts as evicted if, since its last use, more
/// vectors were written than there are registers.
fn far_reads(code: &Code, registers: Registers, order: &[u32], straight: &[bool]) -> u64 {
    // Last use of each register: number of vectors written before it, and the part.
    let mut at_hand = vec![(0u64, NONE); code.lanes.len()];
    let (mut written, mut part, mut far) = (0u64, 0, 0u64);
    let mut last_kind = true;
    for &k in order {
        let ins = &code.ins[k as usize];
        if straight[k as usize] != last_kind {
            (part, last_kind) = (part + 1, straight[k as usize]);
        }
        ins.for_each_source(code, |r| {
            let size = registers.vectors(code.lanes[r as usize]);
            let (when, where_) = at_hand[r as usize];
            if where_ != part || written - when > u64::from(registers.count) {
                far += u64::from(size);
                written += u64::from(size);
            }
            at_hand[r as usize] = (written, part);
        });
        let dst = ins.dst() as usize;
        written += u64::from(registers.vectors(code.lanes[dst]));
        at_hand[dst] = (written, part);
    }
    far
}

/// Dependencies between instructions.
struct Dag {
    /// `sources[first[k]..first[k + 1]]` are the instructions that instruction `k` reads.
    first: Vec<u32>,
    sources: Vec<u32>,
    /// `true` if the instruction's result is an output or has no reader (a lookup that is kept because it may fail).
    root: Vec<bool>,
}

impl Dag {
    fn new(code: &Code) -> Dag {
        let mut writer = vec![NONE; code.lanes.len()];
        let mut root = vec![true; code.ins.len()];
        let (mut first, mut sources) = (vec![0], Vec::with_capacity(2 * code.ins.len()));
        for (k, ins) in code.ins.iter().enumerate() {
            ins.for_each_source(code, |r| {
                let from = writer[r as usize];
                if from != NONE {
                    root[from as usize] = false;
                    sources.push(from);
                }
            });
            first.push(sources.len() as u32);
            writer[ins.dst() as usize] = k as u32;
        }
        for out in &code.outputs {
            if let Some(from) = out.src.map(|r| writer[r as usize]).filter(|&k| k != NONE) {
                root[from as usize] = true;
            }
        }
        Dag { first, sources, root }
    }

    fn sources(&self, k: u32) -> &[u32] {
        &self.sources[self.first[k as usize] as usize..self.first[k as usize + 1] as usize]
    }

    fn depth_first(&self, straight: &[bool]) -> Vec<u32> {
        let n = straight.len();
        // Number of changes of the kind on the path to an instruction, and number of live values of its tree.
        let (mut level, mut hardness) = (vec![0u32; n], vec![0u32; n]);
        let mut operands: Vec<u32> = Vec::new();
        for k in 0..n as u32 {
            let mut deepest = u32::from(!straight[k as usize]);
            operands.clear();
            for &s in self.sources(k) {
                deepest = deepest.max(level[s as usize] + u32::from(straight[s as usize] != straight[k as usize]));
                operands.push(hardness[s as usize]);
            }
            operands.sort_unstable_by(|a, b| b.cmp(a));
            level[k as usize] = deepest;
            let needed = operands.iter().zip(0..).map(|(h, held)| h + held).max();
            hardness[k as usize] = needed.unwrap_or(0).max(1);
        }
        let levels = level.iter().max().map_or(0, |l| l + 1);
        // Roots of each level's trees: values that a later level or an output reads.
        let mut roots: Vec<Vec<u32>> = vec![Vec::new(); levels as usize];
        let mut is_root = self.root.clone();
        for k in 0..n as u32 {
            self.sources(k)
                .iter()
                .filter(|&&s| level[s as usize] != level[k as usize])
                .for_each(|&s| is_root[s as usize] = true);
        }
        (0..n).filter(|&k| is_root[k]).for_each(|k| roots[level[k] as usize].push(k as u32));
        let mut order = Vec::with_capacity(n);
        let mut state = vec![0u8; n];
        let mut stack: Vec<u32> = Vec::new();
        for root in roots.into_iter().flatten() {
            stack.push(root);
            while let Some(&k) = stack.last() {
                match state[k as usize] {
                    0 => {
                        state[k as usize] = 1;
                        let from = stack.len();
                        stack.extend(self.sources(k).iter().filter(|&&s| state[s as usize] == 0));
                        // The operand that is pushed last is computed first.
                        stack[from..].sort_by_key(|&s| hardness[s as usize]);
                    }
                    1 => {
                        state[k as usize] = 2;
                        order.push(k);
                        stack.pop();
                    }
                    _ => {
                        stack.pop();
                    }
                }
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LookupMiss;
    use crate::fast::lower;

    #[test]
    fn each_instruction_occurs_once_and_after_its_operands() {
        let mut moved = 0;
        for seed in 0..300 {
            let code = lower::lower(&alir_testing::random::model(seed), LookupMiss::Error);
            // An arbitrary division into two kinds.
            let straight: Vec<bool> = (0..code.ins.len()).map(|k| k as u64 * 7 % 5 != seed % 5).collect();
            let dag = Dag::new(&code);
            let order = dag.depth_first(&straight);
            let mut position = vec![NONE; code.ins.len()];
            for (at, &k) in order.iter().enumerate() {
                assert_eq!(position[k as usize], NONE, "seed {seed}: {k} comes twice");
                position[k as usize] = at as u32;
                for &s in dag.sources(k) {
                    assert!(position[s as usize] < at as u32, "seed {seed}: {k} comes before {s}, which it reads");
                }
            }
            assert_eq!(order.len(), code.ins.len(), "seed {seed}");
            moved += u32::from(order.iter().enumerate().any(|(at, &k)| at as u32 != k));
        }
        assert!(moved > 200, "only {moved} orders differ from the file's");
    }

    #[test]
    fn kinds_are_grouped() {
        // Alternating kinds of independent instructions become two runs.
        use alir_core::ir::{Builder, Op, Output};
        use alir_core::num::Interval;
        let mut b = Builder::new(vec![0; 9]);
        let x: Vec<_> = (0..9).map(|input| b.op(Op::Input { input }, Interval::new(-8, 7, 0))).collect();
        for (i, &one) in x.iter().enumerate() {
            for &other in &x[..i] {
                let sum = b.op(Op::Add { a: one, b: other, shift: 0 }, Interval::new(-16, 14, 0));
                b.output(Output { source: Some(sum), shift: 0, neg: false });
            }
        }
        let code = lower::lower(&b.finish().expect("a program"), LookupMiss::Error);
        assert_eq!(code.ins.len(), 36);
        let straight: Vec<bool> = (0..code.ins.len()).map(|k| k % 2 == 0).collect();
        let dag = Dag::new(&code);
        assert!(dag.sources.is_empty(), "no sum reads another");
        let order = dag.depth_first(&straight);
        let changes = order.windows(2).filter(|w| straight[w[0] as usize] != straight[w[1] as usize]).count();
        assert_eq!(changes, 1);
    }

    #[test]
    fn interleaved_sums_of_a_file_are_computed_one_after_the_other() {
        use alir_core::ir::{Builder, Op, Output};
        use alir_core::num::Interval;
        let mut b = Builder::new(vec![0; 16]);
        let x: Vec<_> = (0..16).map(|input| b.op(Op::Input { input }, Interval::new(-8, 7, 0))).collect();
        let mut sums: Vec<_> = (0..64).map(|j| x[j % 16]).collect();
        for round in 1..12 {
            for (j, sum) in sums.iter_mut().enumerate() {
                let other = x[(j * round + round) % 16];
                *sum = b.op(Op::Add { a: *sum, b: other, shift: 0 }, Interval::new(-4096, 4095, 0));
            }
        }
        for s in sums {
            b.output(Output { source: Some(s), shift: 0, neg: false });
        }
        let mut code = lower::lower(&b.finish().expect("a program"), LookupMiss::Error);
        let straight = vec![true; code.ins.len()];
        let file: Vec<u32> = (0..code.ins.len() as u32).collect();
        let before = far_reads(&code, Registers::AVX512, &file, &straight);
        improve(&mut code, Registers::AVX512, |_, _| true);
        let after = far_reads(&code, Registers::AVX512, &file, &straight);
        assert!(4 * after < before, "{before} reads from memory before, {after} after");
    }
}
