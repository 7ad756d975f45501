//! How far a proof is, for somebody who waits: figures beside the proof that nothing in it reads.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Written by the proof, read by whoever shows it.
#[derive(Debug, Default)]
pub struct Gauge {
    outputs: AtomicUsize,
    proved: AtomicUsize,
    work: AtomicU64,
    spent: AtomicU64,
}

/// How far a proof is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Outputs that are compared.
    pub outputs: usize,
    /// Outputs that are proved.
    pub proved: usize,
    /// Units of work that the run may take.
    pub work: u64,
    /// Units of work that it has taken.
    pub spent: u64,
}

impl Gauge {
    /// How far it is now.
    pub fn read(&self) -> Standing {
        Standing {
            outputs: self.outputs.load(Ordering::Relaxed),
            proved: self.proved.load(Ordering::Relaxed),
            work: self.work.load(Ordering::Relaxed),
            spent: self.spent.load(Ordering::Relaxed),
        }
    }

    /// A run begins that may take `work` units.
    pub(super) fn begin(&self, work: u64) {
        self.work.store(work, Ordering::Relaxed);
    }

    /// So much was taken of it.
    pub(super) fn spend(&self, spent: u64) {
        self.spent.store(spent, Ordering::Relaxed);
    }

    /// So many outputs are compared.
    pub(super) fn compare(&self, outputs: usize) {
        self.outputs.store(outputs, Ordering::Relaxed);
    }

    /// So many of them are proved.
    pub(super) fn prove(&self, outputs: usize) {
        self.proved.store(outputs, Ordering::Relaxed);
    }
}
