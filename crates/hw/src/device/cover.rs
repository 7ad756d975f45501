//! Covers gates with LUTs: selects the sub-graph of each LUT and computes the number of LUT levels.
//!
//! Priority cuts (A. Mishchenko, S. Cho, S. Chatterjee, R. Brayton, *Combinational and sequential mapping with priority
//! cuts*, ICCAD 2007): each gate keeps a few cuts, first sorted by depth, then by area flow where the depth does not
//! increase. Synthesis tools also restructure logic; the factors of [`super::technology::Scale`] compensate for the
//! difference.

use super::gates::{Gates, Lit};
use super::technology::Technology;

/// Maximum number of inputs of a function.
const WIDEST: usize = 8;
/// Number of cuts kept for each gate.
const KEPT: usize = 5;
/// Number of area-oriented rounds after the depth-oriented one.
const ROUNDS: u32 = 2;

/// A function of the outputs of some gates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    leaves: [u32; WIDEST],
    len: u8,
    /// Number of LUT levels.
    depth: u16,
    /// Area flow: LUTs of the cut, plus a share of the LUTs of its leaves.
    flow: f32,
}

impl Cut {
    /// Returns the gates that the cut reads.
    pub(super) fn leaves(&self) -> &[u32] {
        &self.leaves[..self.len as usize]
    }

    fn only(gate: u32) -> Cut {
        let mut leaves = [u32::MAX; WIDEST];
        leaves[0] = gate;
        Cut { leaves, len: 1, depth: 0, flow: 0.0 }
    }

    /// Returns the union of two cuts, or `None` if it has more than `widest` leaves.
    fn with(&self, other: &Cut, widest: usize) -> Option<Cut> {
        let (a, b) = (self.leaves(), other.leaves());
        let mut leaves = [u32::MAX; WIDEST];
        let (mut i, mut j, mut n) = (0, 0, 0);
        while i < a.len() || j < b.len() {
            if n == widest {
                return None;
            }
            let next = match (a.get(i), b.get(j)) {
                (Some(x), Some(y)) => *x.min(y),
                (Some(x), None) | (None, Some(x)) => *x,
                (None, None) => break,
            };
            i += usize::from(a.get(i) == Some(&next));
            j += usize::from(b.get(j) == Some(&next));
            leaves[n] = next;
            n += 1;
        }
        Some(Cut { leaves, len: n as u8, depth: 0, flow: 0.0 })
    }

    /// Returns `true` if every leaf is a leaf of `other`.
    fn within(&self, other: &Cut) -> bool {
        self.len <= other.len && self.leaves().iter().all(|leaf| other.leaves().contains(leaf))
    }
}

/// A LUT cover of all gates.
#[derive(Debug)]
pub(super) struct Cover {
    /// Chosen cut of each gate; `None` for gates that LUTs cannot cover.
    chosen: Vec<Option<Cut>>,
    /// `true` for each gate that is the output of a LUT.
    pub(super) used: Vec<bool>,
}

impl Cover {
    /// Returns the chosen cut of a gate, or `None` if LUTs cannot cover the gate.
    pub(super) fn cut(&self, gate: usize) -> Option<&Cut> {
        self.chosen[gate].as_ref()
    }
}

/// Covers all logic in the fan-in of `roots`, which are all bits that are read by something other than a LUT.
pub(super) fn cover(gates: &Gates, roots: &[Lit], technology: &Technology) -> Cover {
    let count = gates.gates.len();
    let mut state = State {
        gates,
        technology,
        chosen: vec![None; count],
        depth: vec![0; count],
        flow: vec![0.0; count],
        share: fanout(gates, roots),
        first: vec![0; count + 1],
        cuts: Vec::new(),
    };
    state.enumerate();
    let mut required = state.requirements(roots, None);
    for _ in 0..ROUNDS {
        let used = state.used(roots);
        for (share, used) in state.share.iter_mut().zip(&used) {
            *share = (*share + 2.0 * (*used as f32).max(1.0)) / 3.0;
        }
        state.choose(&required);
        required = state.requirements(roots, Some(&required));
    }
    let readers = state.used(roots);
    let used = readers.into_iter().zip(&gates.gates).map(|(n, gate)| n > 0 && gate.is_logic()).collect();
    Cover { chosen: state.chosen, used }
}

/// Returns the number of gates and roots that read each gate.
fn fanout(gates: &Gates, roots: &[Lit]) -> Vec<f32> {
    let mut fanout = vec![0.0f32; gates.gates.len()];
    gates.gates.iter().for_each(|gate| gate.for_each_operand(|x| fanout[x.gate()] += 1.0));
    roots.iter().for_each(|root| fanout[root.gate()] += 1.0);
    fanout.iter_mut().for_each(|n| *n = n.max(1.0));
    fanout
}

struct State<'a> {
    gates: &'a Gates,
    technology: &'a Technology,
    chosen: Vec<Option<Cut>>,
    /// LUT levels of the chosen cut of each gate.
    depth: Vec<u16>,
    flow: Vec<f32>,
    /// Estimated number of readers of each gate.
    share: Vec<f32>,
    /// Index of each gate's first cut in `cuts`.
    first: Vec<u32>,
    cuts: Vec<Cut>,
}

impl State<'_> {
    fn tables(&self, cut: &Cut) -> f32 {
        self.technology.tables[cut.len as usize - 1] as f32
    }

    /// Computes depth and flow of a cut from the current depth and flow of its leaves.
    fn rate(&self, cut: &mut Cut) {
        let (mut depth, mut flow) = (0, self.tables(cut));
        for &leaf in cut.leaves() {
            depth = depth.max(self.depth[leaf as usize]);
            flow += self.flow[leaf as usize];
        }
        (cut.depth, cut.flow) = (depth + 1, flow);
    }

    fn settle(&mut self, gate: usize, cut: Cut) {
        self.depth[gate] = cut.depth;
        self.flow[gate] = cut.flow / self.share[gate];
        self.chosen[gate] = Some(cut);
    }

    /// Enumerates the cuts of every gate, lowest depth first, and chooses the first cut.
    fn enumerate(&mut self) {
        let mut found: Vec<Cut> = Vec::new();
        for gate in 0..self.gates.gates.len() {
            self.first[gate] = u32::try_from(self.cuts.len()).expect("fewer than 2^32 cuts");
            if !self.gates.gates[gate].is_logic() {
                continue;
            }
            found.clear();
            self.merge(gate, &mut found);
            found.iter_mut().for_each(|cut| self.rate(cut));
            found.sort_by(|a, b| a.depth.cmp(&b.depth).then(a.flow.total_cmp(&b.flow)).then(a.len.cmp(&b.len)));
            let start = self.cuts.len();
            for cut in &found {
                if self.cuts.len() - start < KEPT && !self.cuts[start..].iter().any(|kept| kept.within(cut)) {
                    self.cuts.push(*cut);
                }
            }
            // Keep the cut with the smallest area flow, too.
            if let Some(least) = found.iter().min_by(|a, b| a.flow.total_cmp(&b.flow))
                && self.cuts.len() - start == KEPT
                && self.cuts[start..].iter().all(|kept| kept.flow > least.flow)
            {
                *self.cuts.last_mut().expect("there are some") = *least;
            }
            let best = self.cuts[start];
            self.settle(gate, best);
        }
        let last = self.gates.gates.len();
        self.first[last] = self.cuts.len() as u32;
    }

    /// Collects all unions of the operands' cuts that are narrow enough.
    fn merge(&self, gate: usize, found: &mut Vec<Cut>) {
        let widest = self.technology.tables.len();
        let mut sides: [Vec<Cut>; 3] = Default::default();
        let mut n = 0;
        self.gates.gates[gate].for_each_operand(|x| {
            let operand = x.gate();
            if x.is_constant() {
                return;
            }
            sides[n].extend_from_slice(&self.cuts[self.first[operand] as usize..self.first[operand + 1] as usize]);
            sides[n].push(Cut::only(operand as u32));
            n += 1;
        });
        let pairs = |left: &[Cut], right: &[Cut]| {
            let mut unions = Vec::with_capacity(left.len() * right.len());
            for a in left {
                unions.extend(right.iter().filter_map(|b| a.with(b, widest)));
            }
            unions
        };
        let two = if n > 1 { pairs(&sides[0], &sides[1]) } else { sides[0].clone() };
        found.extend(if n > 2 { pairs(&two, &sides[2]) } else { two });
    }

    /// Chooses the cut of smallest area flow that has at most the required depth.
    fn choose(&mut self, required: &[u16]) {
        for (gate, &required) in required.iter().enumerate() {
            let range = self.first[gate] as usize..self.first[gate + 1] as usize;
            let mut best: Option<Cut> = None;
            for at in range {
                let mut cut = self.cuts[at];
                self.rate(&mut cut);
                let late = |cut: &Cut| cut.depth.saturating_sub(required);
                let better = best.as_ref().is_none_or(|best| {
                    late(&cut).cmp(&late(best)).then(cut.flow.total_cmp(&best.flow)).then(cut.depth.cmp(&best.depth))
                        == std::cmp::Ordering::Less
                });
                if better {
                    best = Some(cut);
                }
            }
            if let Some(best) = best {
                self.settle(gate, best);
            }
        }
    }

    /// Returns the number of chosen LUTs and roots that read each gate; 0 for gates that are not needed.
    fn used(&self, roots: &[Lit]) -> Vec<u32> {
        let mut used = vec![0u32; self.gates.gates.len()];
        roots.iter().for_each(|root| used[root.gate()] += 1);
        for gate in (0..used.len()).rev() {
            if used[gate] > 0
                && let Some(cut) = &self.chosen[gate]
            {
                cut.leaves().iter().for_each(|&leaf| used[leaf as usize] += 1);
            }
        }
        used
    }

    /// Returns the maximum depth of each gate at which no root becomes deeper than in the first round. `before`
    /// contains the result of the previous round. Synthesis tools do not let a shallow root become as deep as the
    /// deepest one either.
    fn requirements(&self, roots: &[Lit], before: Option<&[u16]>) -> Vec<u16> {
        let mut required = vec![u16::MAX; self.gates.gates.len()];
        let mut deepest = 0;
        for root in roots {
            let depth = before.map_or(self.depth[root.gate()], |before| before[root.gate()]);
            required[root.gate()] = depth;
            deepest = deepest.max(depth);
        }
        for gate in (0..required.len()).rev() {
            if required[gate] < u16::MAX
                && let Some(cut) = &self.chosen[gate]
            {
                for &leaf in cut.leaves() {
                    required[leaf as usize] = required[leaf as usize].min(required[gate].saturating_sub(1));
                }
            }
        }
        // A gate that is not needed now may be needed later; its depth is limited by the deepest root only.
        required.iter_mut().for_each(|r| *r = (*r).min(deepest));
        required
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_are_sorted_and_no_wider_than_asked() {
        let cut = |leaves: &[u32]| {
            leaves.iter().skip(1).fold(Cut::only(leaves[0]), |cut, &leaf| cut.with(&Cut::only(leaf), 8).unwrap())
        };
        let (a, b) = (cut(&[1, 5, 9]), cut(&[2, 5]));
        assert_eq!(a.with(&b, 4).unwrap().leaves(), [1, 2, 5, 9]);
        assert!(a.with(&b, 3).is_none());
        assert!(b.within(&a.with(&b, 4).unwrap()) && !b.within(&a));
    }
}
