//! Test utilities: random valid models and state machines, external tools, files of the repository.
//!
//! A development dependency of the other crates; no released program contains it.

#![forbid(unsafe_code)]

pub mod random;
pub mod tools;

use std::ops::Range;
use std::path::PathBuf;

/// Returns the root folder of the repository, where `tests/data` and the examples are.
pub fn repository() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Returns the seeds of a test on random models: `suite`, or `FROM..TO` of the environment variable `PROVE_SEEDS` for a
/// longer run.
///
/// # Panics
/// If the variable does not contain two numbers.
pub fn seeds(suite: Range<u64>) -> Range<u64> {
    let requested = std::env::var("PROVE_SEEDS").ok();
    let ends =
        requested.as_deref().and_then(|s| s.split_once("..")).map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap()));
    ends.map_or(suite, |(a, b)| a..b)
}

/// Returns `true` in the nightly run (`scripts/nightly.sh`), which uses the large models and all combinations.
pub fn is_nightly() -> bool {
    std::env::var_os("ALIR2HDL_NIGHTLY").is_some_and(|value| !value.is_empty())
}

/// Returns the first `count` elements of `all`, or all in the nightly run. The first elements of `all` are those that
/// suffice outside the nightly run.
pub fn first_or_all<T>(all: &[T], count: usize) -> &[T] {
    if is_nightly() { all } else { &all[..count.min(all.len())] }
}
