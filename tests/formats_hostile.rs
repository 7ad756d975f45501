//! Damaged and hostile files: 10,000 mutations of the models with a fixed seed. Never a panic, never more memory than a
//! small multiple of the file, never an output file.
//!
//! What is still valid after a mutation goes on through the golden interpreter and the writer.

use alir2hdl::formats::{self, Target};
use alir2hdl::interp::{LookupMiss, golden};
use alir2hdl::ir::Limits;
use alir2hdl::random::{SplitMix, inputs};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::{Path, PathBuf};

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
fn most_held(work: impl FnOnce()) -> usize {
    let before = HELD.with(|held| {
        let (now, _) = held.get();
        held.set((now, now));
        now
    });
    work();
    HELD.with(|held| held.get().1 - before).max(0) as usize
}

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models")
}

/// What is mutated: small models as text and as gzip, and one of a real size.
fn originals() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for name in
        ["tiny_ops/model.json.gz", "edge_kif/model.json.gz", "edge_kif/model.v2.json.gz", "over64/model.v2.json.gz"]
    {
        let packed = std::fs::read(models().join(name)).unwrap();
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(packed.as_slice()), &mut text).unwrap();
        files.extend([packed, text]);
    }
    for name in ["001", "017", "042", "063", "099"] {
        files.push(std::fs::read(models().join("fuzz").join(name).join("model.json")).unwrap());
    }
    files.push(std::fs::read(models().join("jet_mlp/model.json.gz")).unwrap());
    files
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

fn mutated(original: &[u8], rng: &mut SplitMix) -> Vec<u8> {
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

#[test]
fn ten_thousand_mutations_are_read_or_refused() {
    let originals = originals();
    let mut rng = SplitMix::new(20_261_121);
    let (mut read, mut refused) = (0, 0);
    for round in 0..10_000u64 {
        // The last, larger one less often.
        let pick = rng.below(originals.len() as u64 * 4 - 3) / 4;
        let bytes = mutated(&originals[pick as usize], &mut rng);
        let mut outcome = None;
        let held = most_held(|| outcome = Some(formats::read(bytes.as_slice(), &Limits::default(), None)));
        // Decompression makes at most a thousand bytes of one; these files are small, and so is what they may take.
        assert!(held < 4 << 20, "round {round}: {held} bytes held for a file of {}", bytes.len());
        match outcome.unwrap() {
            Err(problems) => {
                refused += 1;
                assert!(problems.has_errors(), "round {round}");
                assert!(problems.0.len() <= Limits::default().max_problems + 4, "round {round}");
                assert!(problems.0.iter().all(|d| d.code != "E0000" && !d.message.is_empty()), "round {round}");
            }
            Ok((model, _)) => {
                read += 1;
                let codes = inputs(&model, &mut rng);
                golden(&model, &codes, LookupMiss::Zero).expect("a miss reads zero");
                let mut text = Vec::new();
                if let Ok(prepared) = formats::prepare(&model, Target::Alir4) {
                    prepared.write(&mut text).unwrap();
                    let back = formats::read(text.as_slice(), &Limits::default(), None);
                    let (back, _) = back.unwrap_or_else(|e| panic!("round {round}: {e}"));
                    assert_eq!(back, model, "round {round}");
                }
            }
        }
    }
    assert!(read > 200 && refused > 5000, "{read} read, {refused} refused: mutations of one kind only");
}

#[test]
fn limits_bound_memory_before_it_is_taken() {
    let limits = Limits { max_bytes: 1 << 20, ..Limits::default() };
    let header = r#"{"meta":"ALIRModel","spec_version":4,"model":[[0,0],[],[],[],[],["#;
    // Two thousand bits from eleven characters; every lookup copies them.
    let wide = format!("{header}{}", "[[],5,[0],[0,1e308,5e-324],0,0],".repeat(20_000));
    let base = "[[],5,[0],[1e308,1e308,5e-324],0,0]";
    let lookups = format!("{header}{base}{}", ",[[0],8,[0],[0,1,1],0,0]".repeat(20_000));
    let strings = format!("{{\"{}", "x".repeat(4 << 20));
    for text in [wide, lookups, strings] {
        let held = most_held(|| {
            let problems = formats::read(text.as_bytes(), &limits, None).unwrap_err();
            assert_eq!(problems.0[0].code, "E0104");
        });
        assert!(held < 12 << 20, "{held} bytes held");
    }
}

#[test]
fn a_refused_file_leaves_no_output() {
    let originals = originals();
    let mut rng = SplitMix::new(7);
    let dir = tempfile::tempdir().unwrap();
    let (input, output) = (dir.path().join("model"), dir.path().join("out.v"));
    let mut refused = 0;
    while refused < 25 {
        let bytes = mutated(&originals[rng.below(originals.len() as u64) as usize], &mut rng);
        if formats::read(bytes.as_slice(), &Limits::default(), None).is_ok() {
            continue;
        }
        refused += 1;
        std::fs::write(&input, &bytes).unwrap();
        let mut command = assert_cmd::Command::cargo_bin("alir2hdl").unwrap();
        let result = command.arg(&input).arg("--verilog").arg(&output).output().unwrap();
        assert_eq!(result.status.code(), Some(2), "{}", String::from_utf8_lossy(&result.stderr));
        assert!(result.stdout.is_empty());
        let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["model"]);
    }
}

#[test]
fn a_mutation_that_is_valid_goes_all_the_way() {
    let originals = originals();
    let mut rng = SplitMix::new(8);
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("model");
    let mut accepted = 0;
    while accepted < 25 {
        let bytes = mutated(&originals[rng.below(originals.len() as u64 - 1) as usize], &mut rng);
        if originals.contains(&bytes) || formats::read(bytes.as_slice(), &Limits::default(), None).is_err() {
            continue;
        }
        accepted += 1;
        std::fs::write(&input, &bytes).unwrap();
        let mut command = assert_cmd::Command::cargo_bin("alir2hdl").unwrap();
        let result = command.arg(&input).args(["--verilog", "-"]).output().unwrap();
        let said = String::from_utf8_lossy(&result.stderr);
        assert_eq!(result.status.code(), Some(0), "{said}\n{}", String::from_utf8_lossy(&bytes));
    }
}
