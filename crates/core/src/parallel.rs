//! Parallel work on several threads; the results do not depend on the number of threads.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Returns the number of threads for `items`: one for each `per_thread` items, at most the number of cores.
pub fn threads(items: usize, per_thread: usize) -> usize {
    // Querying the number of cores reads files, so small work avoids it.
    match items / per_thread.max(1) {
        0 | 1 => 1,
        worthwhile => worthwhile.min(thread::available_parallelism().map_or(1, usize::from)),
    }
}

/// Returns the results of `work` for each item, in their order, computed by at most `threads` threads.
pub fn map<T: Sync, R: Send>(items: &[T], threads: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let some = || {
        let mine = || {
            let index = next.fetch_add(1, Ordering::Relaxed);
            items.get(index).map(|item| (index, item))
        };
        std::iter::from_fn(mine).map(|(index, item)| (index, work(item))).collect::<Vec<_>>()
    };
    let mut all = thread::scope(|scope| {
        let workers: Vec<_> = (1..threads.min(items.len())).map(|_| scope.spawn(some)).collect();
        let mut all = some();
        for worker in workers {
            all.extend(worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        all
    });
    all.sort_unstable_by_key(|&(index, _)| index);
    all.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..12).collect();
        let expected: Vec<u32> = items.iter().map(|item| item * item).collect();
        for threads in [0, 1, 2, 5, 20] {
            let squares = map(&items, threads, |item| {
                // The first items take longest, so that later items finish before them.
                thread::sleep(std::time::Duration::from_millis(u64::from(12 - item)));
                item * item
            });
            assert_eq!(squares, expected, "{threads} threads");
        }
        assert!(map(&[], 2, |item: &u32| *item).is_empty());
    }

    #[test]
    fn few_items_get_one_thread() {
        assert_eq!([threads(0, 10), threads(19, 10), threads(0, 0)], [1, 1, 1]);
        assert!(threads(20, 10) <= 2);
    }
}
