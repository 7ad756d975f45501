//! How long a model takes to load as `.alirz` and as JSON, gzipped and plain, and how large the two are: `cargo bench
//! --bench load`.
//!
//! Prints a Markdown table. Times are CPU time (the last line: the wall's) of one call of `formats::read` on a file in
//! memory, the least of many runs in turn, so that other load on the machine does not decide. `ALIR2HDL_BENCH_MODELS`
//! names another folder of models.

use alir2hdl::formats::{self, Target};
use alir2hdl::ir::Limits;
use std::hint::black_box;
use std::io::Read;
use std::path::PathBuf;
use std::time::Instant;

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

/// The least CPU and wall time of loading a file, in seconds.
#[derive(Clone, Copy)]
struct Least {
    cpu: f64,
    wall: f64,
}

impl Least {
    const NONE: Least = Least { cpu: f64::MAX, wall: f64::MAX };

    fn load(&mut self, file: &[u8]) {
        let (start, clock) = (cpu(), Instant::now());
        let model = formats::read(black_box(file), &Limits::default(), None);
        *self = Least { cpu: self.cpu.min(cpu() - start), wall: self.wall.min(clock.elapsed().as_secs_f64()) };
        assert!(black_box(model).is_ok());
    }
}

fn main() {
    let own = || concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/models").into();
    let folder = std::env::var_os("ALIR2HDL_BENCH_MODELS").map_or_else(own, PathBuf::from);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    println!(
        "| model | operations | JSON.gz, bytes | .alirz, bytes | times smaller \
         | JSON.gz, ms | JSON, ms | .alirz, ms | times faster | than plain |"
    );
    println!("|{}", "---|".repeat(10));
    let (mut smaller, mut faster, mut than_plain, mut by_the_clock, mut count) = (0.0, 0.0, 0.0, 0.0, 0);
    for path in paths {
        let Ok(given) = std::fs::read(path.join("model.json.gz")) else { continue };
        let (model, _) = formats::read(given.as_slice(), &Limits::default(), None).expect("the model is valid");
        let mut compact = Vec::new();
        formats::prepare(&model, Target::Alirz).expect("it says everything").write(&mut compact).expect("into memory");
        let runs = (3_000_000 / model.nodes().len().max(1)).clamp(5, 300);
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(given.as_slice()).read_to_end(&mut text).expect("it was just read");
        let [mut json, mut plain, mut alirz] = [Least::NONE; 3];
        for _ in 0..runs {
            json.load(&given);
            plain.load(&text);
            alirz.load(&compact);
        }
        let size = given.len() as f64 / compact.len() as f64;
        let (time, time_plain) = (json.cpu / alirz.cpu, plain.cpu / alirz.cpu);
        println!(
            "| {} | {} | {} | {} | {size:.2} | {:.3} | {:.3} | {:.3} | {time:.1} | {time_plain:.1} |",
            path.file_name().unwrap_or_default().display(),
            model.nodes().len(),
            given.len(),
            compact.len(),
            json.cpu * 1e3,
            plain.cpu * 1e3,
            alirz.cpu * 1e3,
        );
        smaller += size.ln();
        faster += time.ln();
        than_plain += time_plain.ln();
        by_the_clock += (json.wall / alirz.wall).ln();
        count += 1;
    }
    let mean = |sum: f64| (sum / f64::from(count)).exp();
    println!("| geometric mean | | | | {:.2} | | | | {:.1} | {:.1} |", mean(smaller), mean(faster), mean(than_plain));
    println!("| by the clock | | | | | | | | {:.1} | |", mean(by_the_clock));
}
