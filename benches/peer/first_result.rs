//! Time from model file to first results inside a process: `first_result MODEL X.npy [REPEATS]`.
//!
//! Reads the model, runs the samples, and prints the least seconds of CPU time that this took. The other side of the
//! comparison in `compare.py` is a C++ function called in a running process; so neither pays for starting one.

use alir2hdl::formats;
use alir2hdl::interp::batch::{Settings, run};
use alir2hdl::interp::samples::Reader;
use alir2hdl::ir::Limits;
use anyhow::{Context, Result, bail, ensure};
use std::io::Cursor;
use std::path::Path;

/// Seconds of CPU time of this process so far.
fn cpu_seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists, and the place for its time is ours.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut now) }, 0);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, samples, rest @ ..] = arguments.as_slice() else { bail!("usage: first_result MODEL X.npy [REPEATS]") };
    let repeats: u32 = rest.first().map_or(Ok(20), |n| n.parse()).context("REPEATS is a number")?;
    let given = std::fs::read(samples).with_context(|| format!("reading {samples}"))?;
    let mut least = f64::INFINITY;
    for _ in 0..repeats {
        let before = cpu_seconds();
        let (model, _) = formats::read_path(Path::new(path), &Limits::default(), None)?;
        let mut reader = Reader::from_reader(Cursor::new(given.clone()), "samples", model.input_kifs(), false)
            .with_context(|| format!("{samples} for {path}"))?;
        let summary =
            run(&model, Settings::default(), 1, &mut reader, None, |_| true).context("running the samples")?;
        least = least.min(cpu_seconds() - before);
        ensure!(
            summary.samples > 0 && summary.failed == 0,
            "{} of {} samples have no result",
            summary.failed,
            summary.samples
        );
    }
    println!("{least}");
    Ok(())
}
