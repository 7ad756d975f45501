//! Registers of both languages: detection of the bits that a process drives, and of resets that keep the value.

use crate::{Expr, NodeId, Register, Rtl, SignalId};

impl Rtl {
    /// Returns `true` if a value consists of constants and of bits of `own` at their own positions.
    pub(crate) fn constant_or_held(&self, value: NodeId, own: NodeId) -> bool {
        let part = |node: NodeId, at: u32| match self.expr(node) {
            Expr::Const(_) => true,
            Expr::Slice { x, lo } => *x == own && *lo == at,
            _ => node == own,
        };
        match self.expr(value) {
            Expr::Concat(parts) => {
                let mut at = 0;
                parts.iter().all(|&p| {
                    at += self.width(p);
                    part(p, at - self.width(p))
                })
            }
            _ => part(value, 0),
        }
    }

    /// Returns for each bit of a value `true` if it is not the same bit of `own`.
    fn changed(&self, value: NodeId, own: NodeId) -> Vec<bool> {
        let mut changed = vec![value != own; self.width(own) as usize];
        if let Expr::Concat(parts) = self.expr(value) {
            let mut at = 0;
            for &part in parts.iter() {
                let width = self.width(part);
                if matches!(self.expr(part), Expr::Slice { x, lo } if *x == own && *lo == at) {
                    changed[at as usize..(at + width) as usize].fill(false);
                }
                at += width;
            }
        }
        changed
    }

    /// Adds registers with a clock and asynchronous resets, the highest priority first. With `whole` all bits of the
    /// signal get registers, otherwise only the bits that a value changes, as other processes drive the others.
    ///
    /// If the resets of lowest priority keep the value of the bits, these resets become clock enables: the bits do not
    /// change during such a reset.
    pub(crate) fn add_registers(
        &mut self,
        id: SignalId,
        next: NodeId,
        (clock, rising): (SignalId, bool),
        resets: &[(NodeId, NodeId)],
        whole: bool,
    ) {
        let own = self.read(id);
        let width = self.width(own);
        let by_clock = self.changed(next, own);
        let by_reset: Vec<Vec<bool>> = resets.iter().map(|r| self.changed(r.1, own)).collect();
        let kind = |bit: u32| {
            let i = bit as usize;
            let holding = by_reset.iter().rev().take_while(|changed| !changed[i]).count();
            (whole || by_clock[i] || holding < resets.len(), resets.len() - holding)
        };
        let mut lo = 0;
        while lo < width {
            let (mine, kept) = kind(lo);
            let end = (lo + 1..width).find(|&i| kind(i) != (mine, kept)).unwrap_or(width);
            if mine {
                let (mut next, held) = (self.slice(next, lo, end - lo), self.slice(own, lo, end - lo));
                for &(cond, _) in &resets[kept..] {
                    next = self.mux(cond, held, next);
                }
                let resets = resets[..kept].iter().map(|&(c, v)| (c, self.slice(v, lo, end - lo))).collect();
                self.signal_mut(id).registers.push(Register { lo, next, clock, rising, resets });
            }
            lo = end;
        }
    }
}
