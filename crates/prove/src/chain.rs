//! Proofs of the steps of a chain of programs, on several threads.
//!
//! Threads take the steps in order. Each step has a fixed budget, and results are added in the order of the chain up to
//! the first undecided step; so no result depends on the number of threads.

use super::engine::{Counts, Question};
use super::progress::{Cancelled, cancellable_by, flags};
use alir_core::ir::Model;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Stack size of a thread in bytes: twice that of the main thread on Linux.
const STACK: usize = 16 << 20;
/// Largest number of operations in programs that are compared at the same time, as a bound on memory.
const MOST_OPERATIONS: usize = 1_000_000;

/// Result of a step, or of all steps of a chain.
#[derive(Default)]
pub(super) struct StepResult {
    /// `true` if the programs are proved equal.
    pub(super) is_proved: bool,
    /// Ticks spent.
    pub(super) spent: u64,
    /// Number of bits proved, by method.
    pub(super) counts: Counts,
    /// SAT queries for a certificate.
    pub(super) questions: Vec<Question>,
}

/// Pairs of programs whose equality is to be proved.
pub(super) struct Chain<'a> {
    pairs: Vec<(&'a Model, &'a Model)>,
    /// Index of the next step that no thread has taken.
    next: AtomicUsize,
    /// Smallest index of an undecided step so far.
    open: AtomicUsize,
    results: Mutex<Vec<Option<StepResult>>>,
}

impl<'a> Chain<'a> {
    /// Returns the steps from a model over all programs; equal neighbours need no step.
    pub(super) fn new(model: &'a Model, programs: &'a [Model]) -> Chain<'a> {
        let before = std::iter::once(model).chain(programs);
        let pairs: Vec<_> = before.zip(programs).filter(|(before, program)| before != program).collect();
        let results = Mutex::new(pairs.iter().map(|_| None).collect());
        Chain { pairs, next: AtomicUsize::new(0), open: AtomicUsize::new(usize::MAX), results }
    }

    /// Returns the number of threads for the chain.
    fn threads(&self, wanted: Option<NonZeroUsize>) -> usize {
        let largest = self.pairs.iter().map(|(a, b)| a.nodes().len() + b.nodes().len()).max().unwrap_or(0);
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        let fitting = (MOST_OPERATIONS / largest.max(1)).max(1);
        wanted.map_or_else(cores, usize::from).min(self.pairs.len()).min(fitting)
    }

    /// Proves steps until none remains or one is undecided.
    fn work(&self, step: &(dyn Fn(&Model, &Model) -> StepResult + Sync)) {
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(&(before, program)) = self.pairs.get(at) else { return };
            if at > self.open.load(Ordering::Relaxed) {
                return;
            }
            let result = step(before, program);
            if !result.is_proved {
                self.open.fetch_min(at, Ordering::Relaxed);
            }
            self.results.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(result);
        }
    }

    /// Proves all steps on other threads while this thread runs `first`. If `first` returns `true`, this thread also
    /// proves steps; otherwise all steps are cancelled. Returns the result of `first`, and the result of the chain
    /// unless it was cancelled.
    pub(super) fn prove<T>(
        &self,
        threads: Option<NonZeroUsize>,
        step: &(dyn Fn(&Model, &Model) -> StepResult + Sync),
        first: impl FnOnce() -> (bool, T),
    ) -> (T, Option<StepResult>) {
        let stop = Arc::new(AtomicBool::new(false));
        let inherited = flags();
        let threads = self.threads(threads);
        let (goes_on, found) = thread::scope(|scope| {
            let spawn = |_| {
                let flags = inherited.iter().cloned().chain([Arc::clone(&stop)]).collect();
                let job = move || cancellable_by(flags, || self.work(step));
                // If no other thread can be started, this thread proves all steps.
                thread::Builder::new().stack_size(STACK).spawn_scoped(scope, job).ok()
            };
            let workers: Vec<_> = (1..threads).filter_map(spawn).collect();
            let (goes_on, found) = first();
            match goes_on {
                true => self.work(step),
                false => stop.store(true, Ordering::Relaxed),
            }
            for worker in workers {
                match worker.join() {
                    Err(payload) if goes_on || !payload.is::<Cancelled>() => std::panic::resume_unwind(payload),
                    _ => {}
                }
            }
            (goes_on, found)
        });
        (found, goes_on.then(|| self.sum()))
    }

    /// Returns the sum of the results in order, up to the first undecided one.
    fn sum(&self) -> StepResult {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sum = StepResult { is_proved: true, ..StepResult::default() };
        for result in results.iter_mut().map(|result| result.take().unwrap_or_default()) {
            sum.spent += result.spent;
            sum.counts.add(&result.counts);
            sum.questions.extend(result.questions);
            sum.is_proved = result.is_proved;
            if !sum.is_proved {
                break;
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alir_testing::random::{Profile, Recipe};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// Steps that take different times on the threads, some of them undecided.
        #[test]
        fn no_result_depends_on_the_number_of_threads(
            costs in prop::collection::vec((1..1000u64, prop::bool::weighted(0.9)), 1..12),
        ) {
            let models: Vec<Model> = (0..=costs.len() as u64)
                .map(|seed| Recipe::seeded(Profile::TINY, 2 + seed as usize, seed).build())
                .collect();
            let of_step = |program: &Model| {
                let at = models.iter().rposition(|m| m == program).unwrap() - 1;
                let (spent, is_proved) = costs[at];
                thread::sleep(std::time::Duration::from_micros(spent));
                StepResult { is_proved, spent, ..StepResult::default() }
            };
            let distinct = models.windows(2).all(|pair| pair[0] != pair[1]);
            prop_assume!(distinct);
            let proved = |threads: usize| {
                let chain = Chain::new(&models[0], &models[1..]);
                let step = |_: &Model, program: &Model| of_step(program);
                let (found, sum) = chain.prove(NonZeroUsize::new(threads), &step, || (true, 7));
                let sum = sum.expect("it goes on");
                (found, sum.is_proved, sum.spent)
            };
            let one = proved(1);
            let mut spent = 0;
            let expected = costs.iter().all(|&(cost, is_proved)| {
                spent += cost;
                is_proved
            });
            prop_assert_eq!(one, (7, expected, spent));
            for threads in 2..5 {
                prop_assert_eq!(proved(threads), one);
            }
        }
    }

    #[test]
    fn a_first_part_that_fails_ends_the_steps() {
        let models: Vec<Model> = (0..6).map(|seed| Recipe::seeded(Profile::TINY, 4 + seed, 1).build()).collect();
        let chain = Chain::new(&models[0], &models[1..]);
        // A step ends only by cancellation.
        let step = |_: &Model, _: &Model| loop {
            super::super::progress::check_cancelled();
            thread::yield_now();
        };
        let (found, sum) = chain.prove(NonZeroUsize::new(3), &step, || (false, "open"));
        assert_eq!((found, sum.is_none()), ("open", true));
    }
}
