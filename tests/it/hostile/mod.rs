//! Damage to files, and what reading them holds.

use alir_testing::random::SplitMix;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts the bytes that this thread holds, and the most it held.
struct Counting;

thread_local! {
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(bytes: isize) {
    // A thread that is ending has no counter any more, and nothing to be told.
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        held.set((now + bytes, most.max(now + bytes)));
    });
}

#[expect(unsafe_code, reason = "an allocator is unsafe; this one only counts and hands on")]
// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above; the block came from `System`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes held at once while `work` ran, beyond those held before.
pub(crate) fn most_held(work: impl FnOnce()) -> usize {
    let before = HELD.with(|held| {
        let (now, _) = held.get();
        held.set((now, now));
        now
    });
    work();
    HELD.with(|held| held.get().1 - before).max(0) as usize
}

/// Tokens that break careless readers.
const HOSTILE: [&str; 34] = [
    "-1",
    "0",
    "1",
    "2",
    "-2",
    "11",
    "4096",
    "4097",
    "-4097",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "-1e308",
    "5e-324",
    "1e999",
    "1e-999",
    "0.1",
    "-0.0",
    "NaN",
    "-Infinity",
    "null",
    "true",
    "[]",
    "{}",
    "\"\\ud800\"",
    "[[[[[[[[]]]]]]]]",
    "99999999999999999999999999999999999999999999999999999999999999999999999999",
];

/// Where tokens that are numbers or words start and end.
fn tokens(bytes: &[u8]) -> Vec<(usize, usize)> {
    let is_part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.');
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        while at < bytes.len() && is_part(bytes[at]) {
            at += 1;
        }
        if at > start {
            found.push((start, at));
        }
        at += 1;
    }
    found
}

/// A file with one to three damages: cut, flipped, spliced, or a number replaced by a hostile one.
pub(crate) fn mutated(original: &[u8], rng: &mut SplitMix) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..1 + rng.below(3) {
        let len = bytes.len() as u64;
        if len < 4 {
            break;
        }
        let at = rng.below(len) as usize;
        match rng.below(8) {
            0 => bytes.truncate(at),
            1 => bytes[at] ^= 1 << rng.below(8),
            2 => bytes[at] = rng.below(256) as u8,
            3 => {
                // Splice: a piece of the file appears at another place.
                let from = rng.below(len) as usize;
                let to = (from + 1 + rng.below(200) as usize).min(bytes.len());
                let piece = bytes[from..to].to_vec();
                bytes.splice(at..at, piece);
            }
            4 => {
                let end = (at + 1 + rng.below(50) as usize).min(bytes.len());
                bytes.drain(at..end);
            }
            _ => {
                let found = tokens(&bytes);
                if found.is_empty() {
                    continue;
                }
                let (start, end) = found[rng.below(found.len() as u64) as usize];
                let token = HOSTILE[rng.below(HOSTILE.len() as u64) as usize];
                bytes.splice(start..end, token.bytes());
            }
        }
    }
    bytes
}
