//! Facts proved so far, which all methods share in all rounds.

use super::candidates::BitRun;
use alir_core::ir::ValueId;
use alir_hdl::SignalId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Proved value of a signal: runs of bits of `value + offset` or `-value + offset`, concatenated, low bits first. The
/// number has unlimited width: bits above the value's type are copies of its sign.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    /// Value of the model.
    pub(super) op: ValueId,
    /// `true` if the value is negated.
    pub(super) negative: bool,
    /// Offset that is added afterwards.
    pub(super) offset: i128,
    /// Runs of bits of the resulting number.
    pub(super) runs: Vec<BitRun>,
    /// `true` if the signal's own form is more precise than the claim.
    pub(super) keeps_form: bool,
}

impl Claim {
    /// Returns the claim for the low `width` bits of a value.
    pub(super) fn whole(op: ValueId, width: u32) -> Claim {
        Claim::run(op, false, 0, width)
    }

    /// Returns the claim for `width` bits of a value or its negative, from bit `from` on.
    pub(super) fn run(op: ValueId, negative: bool, from: u32, width: u32) -> Claim {
        Claim { op, negative, offset: 0, runs: vec![(0, from, width)], keeps_form: false }
    }
}

/// All facts proved so far.
#[derive(Default)]
pub(super) struct Proved {
    /// Indices of proved outputs.
    pub(super) outputs: FxHashSet<usize>,
    /// `true` if the valid flag is proved.
    pub(super) valid: bool,
    /// Claims by signal and cycle.
    pub(super) signals: FxHashMap<(SignalId, u32), Claim>,
    /// Operations that are proved equal to a signal named after them.
    pub(super) matched: FxHashSet<u32>,
    /// Operations with a signal named after them that is not proved equal yet, and the first such signal.
    pub(super) unmatched: FxHashMap<u32, SignalId>,
}

impl Proved {
    /// Records the claim about a signal.
    pub(super) fn claim(&mut self, signal: SignalId, k: u32, claim: Claim) {
        self.signals.entry((signal, k)).or_insert(claim);
    }

    /// Returns the operations with signals named after them, none of which is proved equal.
    pub(super) fn open_operations(&self) -> Vec<u32> {
        let mut open: Vec<u32> = self.unmatched.keys().copied().filter(|op| !self.matched.contains(op)).collect();
        open.sort_unstable();
        open
    }
}
