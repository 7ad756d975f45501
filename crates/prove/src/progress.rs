//! Progress of a proof, for display; no result depends on it.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Cancellation flags; each of them ends a job.
pub(super) type Flags = Vec<Arc<AtomicBool>>;

thread_local! {
    /// Flags that end the proofs of this thread.
    static CANCEL: RefCell<Flags> = const { RefCell::new(Vec::new()) };
}

/// Payload of the panic that ends a cancelled proof. No message is printed for it.
#[derive(Clone, Copy, Debug)]
pub struct Cancelled;

/// Runs a job whose proofs end with a panic of [`Cancelled`] soon after the flag is set. Without a flag no result
/// depends on time.
pub fn cancellable<T>(flag: Arc<AtomicBool>, job: impl FnOnce() -> T) -> T {
    cancellable_by(vec![flag], job)
}

/// Runs a job that each of several flags ends, in addition to the flags of the enclosing job.
pub(super) fn cancellable_by<T>(flags: Flags, job: impl FnOnce() -> T) -> T {
    /// Guard that removes the flags when the job ends or panics.
    struct Reset(usize);
    impl Drop for Reset {
        fn drop(&mut self) {
            CANCEL.with_borrow_mut(|cancel| cancel.truncate(self.0));
        }
    }
    let _reset = CANCEL.with_borrow_mut(|cancel| {
        let reset = Reset(cancel.len());
        cancel.extend(flags);
        reset
    });
    job()
}

/// Returns the flags that end the job of this thread, for threads that run a part of it.
pub(super) fn flags() -> Flags {
    CANCEL.with_borrow(Flags::clone)
}

/// Returns `true` if the thread's job is cancelled.
pub(super) fn is_cancelled() -> bool {
    CANCEL.with_borrow(|cancel| cancel.iter().any(|flag| flag.load(Ordering::Relaxed)))
}

/// Panics with [`Cancelled`] if the thread's job is cancelled.
pub(super) fn check_cancelled() {
    if is_cancelled() {
        std::panic::resume_unwind(Box::new(Cancelled));
    }
}

/// Environment variable that makes the prover print its methods on stderr: name, result, ticks and seconds.
const TRACE: &str = "ALIR2HDL_TRACE_PROOF";

/// Runs a method of a proof, and prints its result and cost if [`TRACE`] is set. `result` returns `true` if the method
/// succeeded, and the ticks spent.
pub(super) fn traced<T>(method: &str, result: impl Fn(&T) -> (bool, u64), run: impl FnOnce() -> T) -> T {
    if std::env::var_os(TRACE).is_none() {
        return run();
    }
    let start = std::time::Instant::now();
    let found = run();
    let (is_proved, ticks) = result(&found);
    let outcome = if is_proved { "proved" } else { "open" };
    eprintln!("trace {method}: {outcome}, {ticks} ticks, {:.2} s", start.elapsed().as_secs_f64());
    found
}

/// Progress counter: written by the proof, read by the caller.
#[derive(Debug, Default)]
pub struct ProgressCounter {
    outputs: AtomicUsize,
    proved: AtomicUsize,
    work: AtomicU64,
    spent: AtomicU64,
}

/// Progress of a proof.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Number of outputs to compare.
    pub outputs: usize,
    /// Number of proved outputs.
    pub proved: usize,
    /// Budget of the run in ticks.
    pub work: u64,
    /// Ticks spent so far.
    pub spent: u64,
}

impl ProgressCounter {
    /// Returns the current progress.
    pub fn read(&self) -> Standing {
        Standing {
            outputs: self.outputs.load(Ordering::Relaxed),
            proved: self.proved.load(Ordering::Relaxed),
            work: self.work.load(Ordering::Relaxed),
            spent: self.spent.load(Ordering::Relaxed),
        }
    }

    /// Sets the budget of a run in ticks.
    pub(super) fn begin(&self, work: u64) {
        self.work.store(work, Ordering::Relaxed);
    }

    /// Sets the number of ticks spent.
    pub(super) fn spend(&self, spent: u64) {
        self.spent.store(spent, Ordering::Relaxed);
    }

    /// Sets the number of outputs to compare.
    pub(super) fn compare(&self, outputs: usize) {
        self.outputs.store(outputs, Ordering::Relaxed);
    }

    /// Sets the number of outputs proved.
    pub(super) fn prove(&self, outputs: usize) {
        self.proved.store(outputs, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_job_ends_and_leaves_its_thread_usable() {
        let flag = Arc::new(AtomicBool::new(false));
        let job = || {
            check_cancelled();
            flag.store(true, Ordering::Relaxed);
            check_cancelled();
        };
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| cancellable(Arc::clone(&flag), job)));
        assert!(ended.unwrap_err().is::<Cancelled>());
        check_cancelled();
    }
}
