//! Registers of both languages: which bits a process owns, and resets that only hold.

use crate::{Expr, NodeId, Register, Rtl, SignalId};

impl Rtl {
    /// Returns `true` if a value consists of constants and of bits of `own` at their places.
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

    /// Which bits of a value are something else than the same bits of `own`.
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

    /// Adds registers for a signal, clocked and with asynchronous resets (the strongest first): for its bits that some
    /// value changes, as the others belong to somebody else, or for all of them (`whole`).
    ///
    /// Where the weakest resets hold what the bits are, these do not change without a clock: they are registers that
    /// are not enabled while such a reset is there.
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
