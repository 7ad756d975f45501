//! Symbolic execution of processes in both languages: unassigned bits, multiplexers between paths, and paths that exit
//! early.
//!
//! A process is executed once, along all of its paths. A state maps each assigned slot to its value; after a branch,
//! the states of both sides are merged with multiplexers. Bits that a path does not assign get an unassigned value. In
//! a level-sensitive process, a part that depends on such a value is a latch. A part that consists only of such a value
//! belongs to another process.

use super::design::{Binary, Expr, NodeId, Rtl, operands};
use num_bigint::BigUint;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// Free expressions that represent bits which a path has not assigned.
#[derive(Default)]
pub(super) struct Unassigned {
    nodes: FxHashSet<NodeId>,
}

impl Unassigned {
    /// Returns a new unassigned word.
    pub(super) fn fresh(&mut self, rtl: &mut Rtl, width: u32) -> NodeId {
        let node = rtl.free(width);
        self.nodes.insert(node);
        node
    }

    /// Returns `true` if the expression is an unassigned word.
    pub(super) fn contains(&self, node: NodeId) -> bool {
        self.nodes.contains(&node)
    }

    /// Marks parts of unassigned words as unassigned; `part` is a slice of `whole`.
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

    /// Returns the assigned parts of a word, each with its lowest bit. The other parts belong to other processes.
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

    /// Returns `true` if a value depends on unassigned bits. In a level-sensitive process this is a latch.
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

/// Returns the slots that have a value in at least one of two states, in order.
pub(super) fn touched<S: Ord + Copy, V>(a: &BTreeMap<S, V>, b: &BTreeMap<S, V>) -> Vec<S> {
    let mut slots: Vec<S> = a.keys().chain(b.keys()).copied().collect();
    slots.sort_unstable();
    slots.dedup();
    slots
}

impl Rtl {
    /// Returns one bit that is set if any of `bits` is set. The bits are the flags of early exits, and some may be
    /// constant.
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

    /// Builds a multiplexer of two words. Parts that are equal in both words stay outside of the multiplexer, so that
    /// parts which a process does not assign remain recognisable. Unassigned parts count as equal; slices of them are
    /// added to `unassigned`.
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
        // No part can be kept outside, or the multiplexer is trivial.
        if yes == no || sides.iter().all(|s| s.len() == 1) || self.as_const(cond).is_some() {
            return self.mux(cond, yes, no);
        }
        let width = self.width(yes);
        // For each side the current part and its number of processed bits; then the slices that differ since the last
        // common part.
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

    /// Returns the expression that a node is a slice of, and the position of bit `lo` of the node in it.
    fn origin(&self, (n, lo): (NodeId, u32)) -> (NodeId, u32) {
        match self.expr(n) {
            Expr::Slice { x, lo: below } => (*x, lo + below),
            _ => (n, lo),
        }
    }

    /// Returns a slice, which is unassigned if its node is unassigned.
    fn cutting(&mut self, (n, lo, width): (NodeId, u32, u32), unassigned: &mut Unassigned) -> NodeId {
        let part = self.slice(n, lo, width);
        if unassigned.contains(n) {
            unassigned.nodes.insert(part);
        }
        part
    }

    /// Builds the multiplexer of the concatenated slices, and clears both lists; `None` if they are empty.
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
