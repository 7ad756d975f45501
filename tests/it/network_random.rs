//! Mutated files of every form that a network comes in: nothing that a file holds makes a reader panic or take memory
//! without bound, and what is refused is refused with words.

use alir2hdl::interp::samples::array::Array;
use alir2hdl::network::graph::quant::QuantFile;
use alir2hdl::network::graph::{Graph, Options, Structure};
use alir2hdl::network::onnx;
use alir2hdl::network::onnx::front::front;
use alir2hdl::network::quantise::Quantiser;
use alir2hdl::network::weights::Weights;
use std::fs;
use std::path::{Path, PathBuf};

/// Resident memory, in KiB, that reading any of these files may take beyond what the test took before: the files have
/// at most some 30 kB.
const MOST_MEMORY: u64 = 1 << 20;

struct Random(u64);

impl Random {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 as usize
    }

    fn below(&mut self, n: usize) -> usize {
        self.next() % n.max(1)
    }

    /// Changes of single bytes and pieces, as they happen to any file.
    fn bytes(&mut self, file: &mut Vec<u8>, others: &[Vec<u8>]) {
        for _ in 0..1 + self.below(3) {
            let at = self.below(file.len());
            match self.below(7) {
                _ if file.is_empty() => file.push(self.next() as u8),
                0 => file[at] = self.next() as u8,
                1 => file[at] ^= 1 << self.below(8),
                2 => drop(file.remove(at)),
                3 => file.insert(at, self.next() as u8),
                4 => file.truncate(at),
                5 => {
                    // A length, a count or an offset that is huge, or negative.
                    let ends = [0, 1, 0x7f, 0x80, 0xff];
                    let value = ends[self.below(ends.len())];
                    let to = (at + 1 + self.below(8)).min(file.len());
                    file[at..to].fill(value);
                }
                _ => self.splice(file, others),
            }
        }
    }

    /// A piece of some file put in, or in the place of as much.
    fn splice(&mut self, file: &mut Vec<u8>, others: &[Vec<u8>]) {
        let other = &others[self.below(others.len())];
        let (at, from) = (self.below(file.len()), self.below(other.len()));
        let piece = other[from..(from + self.below(60)).min(other.len())].to_vec();
        let to = if self.next().is_multiple_of(2) { at } else { (at + piece.len()).min(file.len()) };
        file.splice(at..to, piece);
    }

    /// Changes that leave JSON JSON: numbers, words and whole values become others.
    fn json(&mut self, file: &mut Vec<u8>) {
        const VALUES: [&str; 22] = [
            "0",
            "1",
            "-1",
            "2",
            "16",
            "1e400",
            "1e-400",
            "0.1",
            "4294967296",
            "9223372036854775807",
            "18446744073709551616",
            "null",
            "true",
            "[]",
            "{}",
            "\"\"",
            "\"x\"",
            "[0]",
            "[-1, 1e9]",
            "\"exact\"",
            "\"s8.5\"",
            "[1, 0, 7]",
        ];
        for _ in 0..1 + self.below(3) {
            let from = self.below(file.len());
            let Some(start) = file[from..].iter().position(|b| b.is_ascii_alphanumeric()).map(|k| from + k) else {
                return;
            };
            let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'.' || *b == b'_';
            let end = file[start..].iter().position(|b| !word(b)).map_or(file.len(), |k| start + k);
            let quoted = start > 0 && file[start - 1] == b'"' && file.get(end) == Some(&b'"');
            let (start, end) =
                if quoted && self.next().is_multiple_of(2) { (start - 1, end + 1) } else { (start, end) };
            file.splice(start..end, VALUES[self.below(VALUES.len())].bytes());
        }
    }
}

fn data(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/network").join(folder)
}

/// All files of this name, or of names that end so, below a folder, at most so large; in order.
fn corpus(folder: &str, ending: &str, most: usize) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for case in fs::read_dir(data(folder)).unwrap() {
        let Ok(inside) = fs::read_dir(case.unwrap().path()) else { continue };
        files.extend(inside.map(|f| f.unwrap().path()).filter(|f| f.to_string_lossy().ends_with(ending)));
    }
    let mut all: Vec<Vec<u8>> = files.iter().map(|f| fs::read(f).unwrap()).filter(|f| f.len() <= most).collect();
    all.sort();
    assert!(!all.is_empty(), "{folder}: {ending}");
    all
}

/// The most memory that this process held so far, in KiB; nothing where the system does not tell.
fn memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Reads `count` mutated files; `read` says whether it accepts one, and `json` whether JSON is changed as such.
fn mutate(corpus: &[Vec<u8>], count: usize, json: bool, mut read: impl FnMut(&[u8]) -> bool) {
    let before = memory();
    for file in corpus {
        assert!(read(file), "a file is refused as it is");
    }
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut accepted = 0;
    for k in 0..count {
        let mut file = corpus[k % corpus.len()].clone();
        match json && k % 4 != 0 {
            true => random.json(&mut file),
            false => random.bytes(&mut file, corpus),
        }
        accepted += usize::from(read(&file));
    }
    assert!(accepted > count / 1000, "only {accepted} of {count} are accepted: the mutations are too wild");
    if let (Some(before), Some(after)) = (before, memory()) {
        assert!(after - before < MOST_MEMORY, "{after} KiB, {before} before");
    }
}

fn graphs(count: usize) {
    // Small ones: what a file may ask for does not depend on its length.
    let corpus = corpus("ir", "net.json", 12_000);
    mutate(&corpus, count, true, |file| {
        let is_graph = Graph::read(file, "net.json").is_ok();
        // A sound graph may still lack its quantisation file or its weights: that is refused, with words.
        let structure = Structure::read(file, "net.json", &Options::default());
        assert!(is_graph || structure.is_err());
        let bound = structure.and_then(|structure| structure.bind(&Options::default()).map(drop));
        if let Err(problems) = bound {
            assert!(!problems.to_string().is_empty());
        }
        is_graph
    });
}

fn quantisations(count: usize) {
    let mut corpus = Vec::new();
    let mut graphs = Vec::new();
    for case in ["mlp_relu", "modes", "swiglu_padded", "tables", "two_blocks"] {
        let folder = data("ir").join(case);
        corpus.push(fs::read(folder.join("quant.json")).unwrap());
        graphs.push(Graph::read(&fs::read(folder.join("net.json")).unwrap(), "net.json").unwrap());
    }
    // Each mutated file is accepted if any graph does.
    mutate(&corpus, count, true, |file| graphs.iter().any(|graph| QuantFile::read(file, graph).is_ok()));
}

fn weights(count: usize, ending: &str) {
    let corpus = match ending {
        "npy" => corpus("ir/tables", "npy", 1 << 14),
        _ => corpus("ir", ending, 1 << 14),
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("w.{ending}"));
    mutate(&corpus, count, false, |file| {
        fs::write(&path, file).unwrap();
        let Ok(weights) = Weights::open(std::slice::from_ref(&path)) else { return false };
        let names: Vec<String> = weights.names().map(str::to_owned).collect();
        names.iter().fold(true, |all, name| match weights.read(name, 1 << 20) {
            Ok(tensor) => {
                let tensor = tensor.expect("it is named");
                assert_eq!(tensor.shape.iter().product::<u64>(), tensor.numbers.len() as u64);
                all
            }
            Err(_) => false,
        })
    });
}

fn onnx_files(count: usize) {
    let corpus = corpus("qonnx", "model.onnx", 5_000);
    let input_type = Quantiser::parse("s8.4,RND,SAT").unwrap();
    mutate(&corpus, count, false, |file| {
        let _ = onnx::summary(file);
        match onnx::read(file, &onnx::Options { max_adders: 20_000, ..Default::default() }) {
            Ok(network) => {
                if front(&network, None).is_err() {
                    let _ = front(&network, Some(input_type));
                }
                true
            }
            Err(refusals) => {
                assert!(!refusals.is_empty() && refusals.iter().all(|r| !r.message.is_empty()));
                false
            }
        }
    });
}

fn matrices(count: usize) {
    let corpus = corpus("matrix", ".npy", 1 << 14);
    mutate(&corpus, count, false, |file| Array::read(&mut &*file, 1 << 20, 32).is_ok());
}

#[test]
fn mutated_graphs_do_no_harm() {
    graphs(2_000);
}

#[test]
fn mutated_quantisation_files_do_no_harm() {
    quantisations(4_000);
}

#[test]
fn mutated_safetensors_files_do_no_harm() {
    weights(3_000, "safetensors");
}

#[test]
fn mutated_npz_files_do_no_harm() {
    weights(3_000, "npz");
}

#[test]
fn mutated_npy_files_do_no_harm() {
    weights(3_000, "npy");
    matrices(3_000);
}

#[test]
fn mutated_qonnx_files_do_no_harm() {
    onnx_files(2_000);
}

#[test]
#[ignore = "long: a million mutated IR v2 graphs"]
fn a_million_mutated_graphs_do_no_harm() {
    graphs(1_000_000);
}

#[test]
#[ignore = "long: a million mutated quantisation files"]
fn a_million_mutated_quantisation_files_do_no_harm() {
    quantisations(1_000_000);
}

#[test]
#[ignore = "long: a million mutated safetensors files"]
fn a_million_mutated_safetensors_files_do_no_harm() {
    weights(1_000_000, "safetensors");
}

#[test]
#[ignore = "long: a million mutated npz files"]
fn a_million_mutated_npz_files_do_no_harm() {
    weights(1_000_000, "npz");
}

#[test]
#[ignore = "long: a million mutated npy files, as weights and as matrices"]
fn a_million_mutated_npy_files_do_no_harm() {
    weights(1_000_000, "npy");
    matrices(1_000_000);
}

#[test]
#[ignore = "long: a million mutated QONNX files"]
fn a_million_mutated_qonnx_files_do_no_harm() {
    onnx_files(1_000_000);
}
