//! Symbolic execution of a process, in both languages: bits that a path has not assigned, choices between paths, paths
//! that were left early.
//!
//! A process is executed once, along all of its paths. A state maps what it assigns to a value; where a branch ends,
//! the states of both sides are merged by choices. A bit without a value on some path holds an unassigned one: in a
//! process that waits for levels it is a latch if anything depends on it, and else it belongs to another process.

use super::design::{Binary, Expr, NodeId, Rtl, operands};
use num_bigint::BigUint;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// Values that stand for bits which a path has not assigned.
#[derive(Default)]
pub(super) struct Unassigned {
    nodes: FxHashSet<NodeId>,
}

impl Unassigned {
    /// A new word that has not been assigned.
    pub(super) fn fresh(&mut self, rtl: &mut Rtl, width: u32) -> NodeId {
        let node = rtl.free(width);
        self.nodes.insert(node);
        node
    }

    /// Returns `true` if the node as a whole is one of these values.
    pub(super) fn contains(&self, node: NodeId) -> bool {
        self.nodes.contains(&node)
    }

    /// Notes that `part` was cut out of `whole`: parts of what was not assigned are not either.
    pub(super) fn note_part(&mut self, rtl: &Rtl, whole: NodeId, part: NodeId) {
        if self.contains(whole) {
            self.nodes.insert(part);
            return;
        }
        let free = |n: NodeId| matches!(rtl.expr(n), Expr::Free);
        match rtl.expr(part) {
            Expr::Concat(parts) => self.nodes.extend(parts.iter().copied().filter(|&p| free(p))),
            _ if free(part) => {
                self.nodes.insert(part);
            }
            _ => {}
        }
    }

    /// The parts of a word that the process assigned, each with its lowest bit. The others belong to another process.
    pub(super) fn assigned_parts(&self, rtl: &Rtl, node: NodeId) -> Vec<(u32, NodeId)> {
        let parts = match rtl.expr(node) {
            Expr::Concat(parts) => parts.to_vec(),
            _ => vec![node],
        };
        let mut lo = 0;
        let placed = parts.into_iter().map(|part| {
            lo += rtl.width(part);
            (lo - rtl.width(part), part)
        });
        placed.filter(|&(_, part)| !self.contains(part)).collect()
    }

    /// Returns `true` if a value depends on one of these: a latch, in a process that waits for levels.
    pub(super) fn reached_from(&self, rtl: &Rtl, node: NodeId) -> bool {
        let mut stack = vec![node];
        let mut seen = FxHashSet::default();
        while let Some(n) = stack.pop() {
            if self.contains(n) {
                return true;
            }
            if !self.nodes.is_empty() && seen.insert(n) && !matches!(rtl.expr(n), Expr::Signal(_)) {
                operands(rtl.expr(n), &mut |&x| stack.push(x));
            }
        }
        false
    }
}

/// Returns the slots for which one of two states of paths has a value, in order.
pub(super) fn touched<S: Ord + Copy, V>(a: &BTreeMap<S, V>, b: &BTreeMap<S, V>) -> Vec<S> {
    let mut slots: Vec<S> = a.keys().chain(b.keys()).copied().collect();
    slots.sort_unstable();
    slots.dedup();
    slots
}

impl Rtl {
    /// Returns one bit that is set if any of `bits` is; some of them may be constants. The bits are the flags of paths
    /// that were left early.
    pub(super) fn any_set(&mut self, bits: impl IntoIterator<Item = NodeId>) -> NodeId {
        let mut any = self.number(0, 1);
        for bit in bits {
            let known = |n: NodeId| self.as_const(n).map(|v| *v != BigUint::ZERO);
            any = match (known(any), known(bit)) {
                (Some(true), _) | (_, Some(false)) => any,
                (Some(false), _) | (_, Some(true)) => bit,
                _ => self.binary(Binary::Or, any, bit),
            };
        }
        any
    }

    /// A choice between two words where what they have in common at the same place stays outside of it: the parts that
    /// a process leaves to others remain what they are. What is in `unassigned`, which grows by cuttings of its nodes,
    /// is all the same.
    pub(super) fn mux_by_parts(
        &mut self,
        cond: NodeId,
        yes: NodeId,
        no: NodeId,
        unassigned: &mut Unassigned,
    ) -> NodeId {
        let parts = |n: NodeId| match self.expr(n) {
            Expr::Concat(parts) => parts.to_vec(),
            _ => vec![n],
        };
        let sides = [parts(yes), parts(no)];
        // What both sides leave alone stays the same expression.
        if yes == no || sides.iter().all(|s| s.len() == 1) || self.as_const(cond).is_some() {
            return self.mux(cond, yes, no);
        }
        let width = self.width(yes);
        // The part that each side is in, and the bits of it that are done; what differs since the last common part.
        let mut at = [(0, 0); 2];
        let mut differing: [Vec<(NodeId, u32, u32)>; 2] = Default::default();
        let (mut out, mut done, mut common) = (Vec::new(), 0, false);
        while done < width {
            let here = [0, 1].map(|i| (sides[i][at[i].0], at[i].1));
            let count = here.iter().map(|&(n, lo)| self.width(n) - lo).min().unwrap_or(0);
            let same = self.origin(here[0]) == self.origin(here[1]) || here.iter().all(|h| unassigned.contains(h.0));
            if same {
                common = true;
                let new = self.choice(cond, &mut differing, unassigned);
                out.extend(new);
                out.push(self.cutting((here[0].0, here[0].1, count), unassigned));
            } else {
                for (list, (n, lo)) in differing.iter_mut().zip(here) {
                    match list.last_mut() {
                        Some(last) if last.0 == n && last.1 + last.2 == lo => last.2 += count,
                        _ => list.push((n, lo, count)),
                    }
                }
            }
            for (i, (n, lo)) in here.into_iter().enumerate() {
                at[i] = if lo + count == self.width(n) { (at[i].0 + 1, 0) } else { (at[i].0, lo + count) };
            }
            done += count;
        }
        if !common {
            return self.mux(cond, yes, no);
        }
        let new = self.choice(cond, &mut differing, unassigned);
        out.extend(new);
        self.concat(&out)
    }

    /// Bits from `lo` of a node as bits of what the node is a slice of.
    fn origin(&self, (n, lo): (NodeId, u32)) -> (NodeId, u32) {
        match self.expr(n) {
            Expr::Slice { x, lo: below } => (*x, lo + below),
            _ => (n, lo),
        }
    }

    /// A slice, unassigned where its node is.
    fn cutting(&mut self, (n, lo, width): (NodeId, u32, u32), unassigned: &mut Unassigned) -> NodeId {
        let part = self.slice(n, lo, width);
        if unassigned.contains(n) {
            unassigned.nodes.insert(part);
        }
        part
    }

    /// The choice between the lists of slices, which are emptied; nothing where there are none.
    fn choice(
        &mut self,
        cond: NodeId,
        lists: &mut [Vec<(NodeId, u32, u32)>; 2],
        unassigned: &mut Unassigned,
    ) -> Option<NodeId> {
        let words = lists.each_mut().map(|list| {
            let parts: Vec<NodeId> = list.drain(..).map(|part| self.cutting(part, unassigned)).collect();
            self.concat(&parts)
        });
        (self.width(words[0]) > 0).then(|| self.mux(cond, words[0], words[1]))
    }
}
