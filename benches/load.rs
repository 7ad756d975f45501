//! How long a model takes to load as `.alirz` and as gzipped JSON, and how large both are: `cargo bench --bench load`.
//!
//! Prints a Markdown table. Times are CPU time of one call of `formats::read` on a file in memory, the least of many runs in
//! turn, so that other load on the machine does not decide. `ALIR2HDL_BENCH_MODELS` names another folder of models.

use alir2hdl::formats::{self, Target};
use alir2hdl::ir::Limits;
use std::hint::black_box;
use std::path::PathBuf;

/// CPU time of this thread, in seconds.
#[cfg(unix)]
fn cpu() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid pointer to a timespec, which the call fills.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

#[cfg(not(unix))]
fn cpu() -> f64 {
    use std::time::{SystemTime, UNIX_EPOCH};
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64())
}

fn load(file: &[u8]) -> f64 {
    let start = cpu();
    let model = formats::read(black_box(file), &Limits::default(), None);
    let time = cpu() - start;
    assert!(black_box(model).is_ok());
    time
}

fn main() {
    let own = || concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/models").into();
    let folder = std::env::var_os("ALIR2HDL_BENCH_MODELS").map_or_else(own, PathBuf::from);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    println!(
        "| model | operations | JSON.gz, bytes | .alirz, bytes | times smaller | JSON.gz, ms | .alirz, ms | times faster |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let (mut smaller, mut faster, mut count) = (0.0, 0.0, 0);
    for path in paths {
        let Ok(given) = std::fs::read(path.join("model.json.gz")) else { continue };
        let (model, _) = formats::read(given.as_slice(), &Limits::default(), None).expect("the model is valid");
        let mut compact = Vec::new();
        formats::prepare(&model, Target::Alirz).expect("it says everything").write(&mut compact).expect("into memory");
        let runs = (3_000_000 / model.nodes().len().max(1)).clamp(5, 300);
        let (mut json, mut alirz) = (f64::MAX, f64::MAX);
        for _ in 0..runs {
            json = json.min(load(&given));
            alirz = alirz.min(load(&compact));
        }
        let (size, time) = (given.len() as f64 / compact.len() as f64, json / alirz);
        println!(
            "| {} | {} | {} | {} | {size:.2} | {:.3} | {:.3} | {time:.1} |",
            path.file_name().unwrap_or_default().display(),
            model.nodes().len(),
            given.len(),
            compact.len(),
            json * 1e3,
            alirz * 1e3,
        );
        smaller += size.ln();
        faster += time.ln();
        count += 1;
    }
    let mean = |sum: f64| (sum / f64::from(count)).exp();
    println!("| geometric mean | | | | {:.2} | | | {:.1} |", mean(smaller), mean(faster));
}
