//! Facts proved so far: shared by all methods, kept from round to round.

use super::candidates::BitRun;
use alir_core::ir::ValueId;
use alir_hdl::SignalId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Proved value of a signal: runs of bits of `value + offset` or `-value + offset`, concatenated, low bits first. The
/// number has no end: bits above the value's type are copies of its sign.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    /// The value of the model.
    pub(super) op: ValueId,
    /// `true` if the value is negated.
    pub(super) negative: bool,
    /// Offset that is added afterwards.
    pub(super) offset: i128,
    /// Which bits of that.
    pub(super) runs: Vec<BitRun>,
    /// `true` if the signal's own form is more precise than this one.
    pub(super) keeps_form: bool,
}

impl Claim {
    /// The low `width` bits of a value.
    pub(super) fn whole(op: ValueId, width: u32) -> Claim {
        Claim::run(op, false, 0, width)
    }

    /// `width` bits of a value or its negative, from the bit `from` on.
    pub(super) fn run(op: ValueId, negative: bool, from: u32, width: u32) -> Claim {
        Claim { op, negative, offset: 0, runs: vec![(0, from, width)], keeps_form: false }
    }
}

/// Everything that is proved.
#[derive(Default)]
pub(super) struct Proved {
    /// Outputs.
    pub(super) outputs: FxHashSet<usize>,
    /// `true` if the valid flag is proved.
    pub(super) valid: bool,
    /// Signals at moments.
    pub(super) signals: FxHashMap<(SignalId, u32), Claim>,
    /// Operations with a signal named after them that shows them.
    pub(super) matched: FxHashSet<u32>,
    /// Operations with a signal named after them that was not seen to show them yet, and the first such signal.
    pub(super) unmatched: FxHashMap<u32, SignalId>,
}

impl Proved {
    /// Remembers what a signal is.
    pub(super) fn claim(&mut self, signal: SignalId, k: u32, claim: Claim) {
        self.signals.entry((signal, k)).or_insert(claim);
    }

    /// Operations whose signals were found but show something that is not known.
    pub(super) fn open_operations(&self) -> Vec<u32> {
        let mut open: Vec<u32> = self.unmatched.keys().copied().filter(|op| !self.matched.contains(op)).collect();
        open.sort_unstable();
        open
    }
}
