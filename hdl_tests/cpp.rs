//! The C++ header computes what the reference interpreter computes: compiled without warnings, under the sanitizers,
//! and with several headers in one program.

use crate::harness::{optimised, read_model, read_model_at, skip};
use crate::machines::{DESIGNS, read};
use alir_testing::is_nightly;
use alir_testing::random::machine::{MachineRecipe, stimulus};
use alir_testing::random::{Profile, Recipe, SplitMix, inputs};
use alir2hdl::interp::machine::Simulation;
use alir2hdl::interp::{LookupMiss, Plan, PlanOptions, cpp_header, cpp_machine, golden};
use alir2hdl::ir::Model;
use alir2hdl::ir::machine::Machine;
use alir2hdl::num::Kif;
use num_bigint::BigInt;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

const STRICT: &[&str] = &["-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-Werror"];

/// Two's complement words of 64 bits, the lowest first, in which a code passes.
fn words(code: &BigInt, kif: Kif) -> Vec<i64> {
    (0..kif.width().div_ceil(64).max(1))
        .map(|k| {
            let word: BigInt = (code >> (64 * k)) & BigInt::from(u64::MAX);
            u64::try_from(word).unwrap().cast_signed()
        })
        .collect()
}

/// A program of all headers: reads the number of a model and of its samples, then codes as words, and writes words;
/// for negative numbers doubles, by `run` for the first half and by `run_batch` for all.
fn main_text(models: &[Model]) -> String {
    let mut text: String = (0..models.len()).map(|m| format!("#include \"m{m}.hpp\"\n")).collect();
    text += "#include <cstdio>\n#include <vector>\n\
             template <class T> bool take(T* p, std::size_t n) { return std::fread(p, sizeof(T), n, stdin) == n; }\n\
             template <class T> void give(const T* p, std::size_t n) { std::fwrite(p, sizeof(T), n, stdout); }\n\
             int main() \
             {\n  long long head[2];\n  while (take(head, 2)) {\n    \
             const std::size_t n = static_cast<std::size_t>(head[1]);\n    switch (head[0]) {\n";
    for m in 0..models.len() {
        text += &format!(
            "    case {m}: {{\n      std::vector<std::int64_t> x(m{m}::input_words + 1), y(m{m}::output_words + \
             1);\n      \
             for (std::size_t i = 0; i < n; ++i) {{ if (!take(x.data(), m{m}::input_words)) return 1; \
             m{m}::run_codes(x.data(), y.data()); give(y.data(), m{m}::output_words); }}\n      break;\n    }}\n    \
             case {back}: {{\n      std::vector<double> x(n * m{m}::inputs + 1), y(n * m{m}::outputs + 1);\n      \
             if (!take(x.data(), n * m{m}::inputs)) return 1;\n      for (std::size_t i = 0; i < n; ++i) \
             m{m}::run(x.data() + i * m{m}::inputs, y.data() + i * m{m}::outputs);\n      \
             give(y.data(), n * m{m}::outputs);\n      m{m}::run_batch(x.data(), y.data(), n);\n      give(y.data(), \
             n * m{m}::outputs);\n      break;\n    }}\n",
            back = -1 - i64::try_from(m).unwrap()
        );
    }
    text + "    default: return 2;\n    }\n  }\n  return 0;\n}\n"
}

/// Real inputs from all corners of a type and of binary64.
fn real(kif: Kif, shift: i32, rng: &mut SplitMix) -> f64 {
    match rng.below(8) {
        // Any double but those that are no number, which have no code.
        0 => Some(f64::from_bits(rng.word())).filter(|x| !x.is_nan()).unwrap_or(1e300).clamp(-1e300, 1e300),
        1 => 0.0,
        2 => -5e-324,
        _ => {
            let code = rng.below(1 << kif.width().clamp(1, 52)) as f64 - f64::from(kif.width().min(50)).exp2() / 2.0;
            let value = code * f64::from(-kif.frac - shift).exp2();
            if rng.below(2) == 0 { value } else { value * 1.000_000_1 }
        }
    }
}

/// A folder with the program `main`: the headers `m0.hpp` and so on with `text`, compiled without a warning.
fn compiled(
    (compiler, flags): (&str, &[&str]),
    headers: impl Iterator<Item = String>,
    text: &str,
) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (m, header) in headers.enumerate() {
        std::fs::write(dir.path().join(format!("m{m}.hpp")), header).unwrap();
    }
    std::fs::write(dir.path().join("main.cpp"), text).unwrap();
    let mut compile = Command::new(compiler);
    compile.args(STRICT).args(flags).args(["-o", "main", "main.cpp"]).current_dir(&dir);
    let built = compile.output().unwrap();
    assert!(built.status.success(), "{compiler}: {}", String::from_utf8_lossy(&built.stderr));
    assert!(built.stderr.is_empty(), "{compiler}: {}", String::from_utf8_lossy(&built.stderr));
    dir
}

/// Compiles the headers together and compares every sample.
fn compare(compiler: &str, flags: &[&str], models: &[Model], samples: usize, seed: u64) {
    let header = |(m, model): (usize, &Model)| cpp_header(model, &format!("m{m}"), &[]);
    let dir = compiled((compiler, flags), models.iter().enumerate().map(header), &main_text(models));

    let mut rng = SplitMix::new(seed);
    let (mut sent, mut expected, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for (m, model) in models.iter().enumerate() {
        let head = |sent: &mut Vec<u8>, which: i64| {
            sent.extend([which, samples as i64].iter().flat_map(|v| v.to_le_bytes()));
        };
        head(&mut sent, m as i64);
        for _ in 0..samples {
            let codes = inputs(model, &mut rng);
            let outputs = golden(model, &codes, LookupMiss::Zero).unwrap();
            let kifs = model.input_kifs().iter().copied();
            sent.extend(codes.iter().zip(kifs).flat_map(|(c, k)| words(c, k)).flat_map(i64::to_le_bytes));
            let kifs = (0..outputs.len()).map(|j| model.output_kif(j));
            expected.extend(outputs.iter().zip(kifs).flat_map(|(c, k)| words(c, k)).flat_map(i64::to_le_bytes));
        }
        ends.push((expected.len(), format!("codes of model {m}")));
        head(&mut sent, -1 - m as i64);
        let kifs = model.input_kifs().iter().zip(model.inp_shifts());
        let kifs: Vec<(Kif, i32)> = kifs.map(|(&k, &s)| (k, s)).collect();
        let x: Vec<f64> = (0..samples).flat_map(|_| &kifs).map(|&(k, s)| real(k, s, &mut rng)).collect();
        let mut y = vec![0.0; samples * model.outputs().len()];
        let options = PlanOptions { lookup_miss: LookupMiss::Zero, ..PlanOptions::default() };
        let faults = Plan::new(model, options).runner().run(&x, &mut y);
        assert!(faults.is_empty(), "model {m}: {faults:?}");
        sent.extend(x.iter().flat_map(|v| v.to_le_bytes()));
        let y: Vec<u8> = y.iter().flat_map(|v| v.to_le_bytes()).collect();
        expected.extend(y.iter().chain(&y).copied());
        ends.push((expected.len(), format!("reals of model {m}")));
    }
    let mut child = Command::new(dir.path().join("main"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&sent));
    let ran = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(ran.status.success() && ran.stderr.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(ran.stdout.len(), expected.len());
    let first = ran.stdout.chunks(8).zip(expected.chunks(8)).position(|(a, b)| a != b);
    if let Some(word) = first {
        let of = ends.iter().find(|e| 8 * word < e.0).map(|e| &*e.1);
        let at = |bytes: &[u8]| u64::from_le_bytes(bytes[8 * word..][..8].try_into().unwrap());
        let (found, wanted) = (at(&ran.stdout), at(&expected));
        panic!(
            "{compiler} {flags:?}: {of:?}: {found:#x} for {wanted:#x} ({} for {})",
            f64::from_bits(found),
            f64::from_bits(wanted)
        );
    }
}

fn is_there(compiler: &str) -> bool {
    let found = Command::new(compiler).arg("--version").output().is_ok();
    if !found {
        skip(compiler, "not on the PATH");
    }
    found
}

/// Seeds of the random programs; the environment variable `ALIR2HDL_CPP_SEEDS` (`FROM..TO`) names others for a longer
/// run.
fn seeds() -> std::ops::Range<u64> {
    let asked = std::env::var("ALIR2HDL_CPP_SEEDS").ok();
    let ends = asked.as_deref().and_then(|s| s.split_once("..")).map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap()));
    ends.map_or(0..if is_nightly() { 24 } else { 14 }, |(a, b)| a..b)
}

fn random_models(seeds: std::ops::Range<u64>) -> Vec<Model> {
    let profiles = [Profile::TINY, Profile::WIDE];
    seeds
        .map(|seed| {
            let profile = profiles[(seed % 2) as usize];
            Recipe::seeded(profile, 6 + (seed % 20) as usize, seed).build()
        })
        .collect()
}

#[test]
fn sim_cpp_headers_of_random_programs_are_the_programs() {
    for (compiler, flags) in
        [("g++", &["-O1", "-fsanitize=undefined,address", "-fno-sanitize-recover=all"][..]), ("clang++", &["-O2"][..])]
    {
        if is_there(compiler) {
            compare(compiler, flags, &random_models(seeds()), 40, 7);
        }
    }
}

#[test]
fn sim_cpp_headers_of_models_are_the_models() {
    let names = ["tiny_ops", "edge_kif", "over64", "wide_acc", "bit_logic", "lut_heavy", "var_mul", "jet_mlp"];
    let models: Vec<Model> = names.iter().map(|n| optimised(&read_model(n), 1)).collect();
    if is_there("g++") {
        compare("g++", &["-O2"], &models, 150, 3);
        // Subnormal numbers count as 0 in the arithmetic of such a program.
        compare("g++", &["-O2", "-ffast-math"], &models[..3], 150, 4);
    }
}

#[test]
fn sim_cpp_header_names_the_standard_that_it_needs() {
    if !is_there("g++") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("m.hpp"), cpp_header(&read_model("tiny_ops"), "m", &[])).unwrap();
    std::fs::write(dir.path().join("main.cpp"), "#include \"m.hpp\"\n").unwrap();
    for standard in ["-std=c++11", "-std=c++14"] {
        let compile =
            Command::new("g++").args([standard, "-fsyntax-only", "main.cpp"]).current_dir(&dir).output().unwrap();
        let message = String::from_utf8_lossy(&compile.stderr);
        assert!(!compile.status.success() && message.contains("-std=c++17"), "{message}");
        assert_eq!(message.matches("error: ").count(), 1, "{message}");
    }
}

#[test]
#[ignore = "minutes: every model of ALIR2HDL_LARGE_MODELS, the header compiled with both compilers"]
fn sim_cpp_headers_of_all_models_are_the_models() {
    let root = std::env::var("ALIR2HDL_LARGE_MODELS").expect("ALIR2HDL_LARGE_MODELS names the folder of models");
    let mut files = Vec::new();
    for folder in ["", "published", "fuzz"] {
        let entries = std::fs::read_dir(Path::new(&root).join(folder)).unwrap();
        let inside = entries.map(|e| e.unwrap().path());
        files.extend(inside.flat_map(|f| ["model.json.gz", "model.json"].map(|n| f.join(n))).filter(|f| f.is_file()));
    }
    files.sort();
    let mut compared = 0;
    for part in files.chunks(8) {
        let models = part.iter().map(|file| read_model_at(file));
        let models: Vec<Model> = models.filter(|m| m.nodes().len() <= 50_000).collect();
        for compiler in ["g++", "clang++"].into_iter().filter(|c| is_there(c)) {
            compare(compiler, &["-O1"], &models, 40, 11);
        }
        compared += models.len();
    }
    assert!(compared > 20, "{compared} models");
    println!("{compared} models");
}

/// A program of all headers of stateful designs: `cycles` rows of codes through each, from standard input to standard
/// output, twice with a reset between, then the same inputs as doubles.
fn machines_text(machines: &[Machine]) -> String {
    let mut text: String = (0..machines.len()).map(|m| format!("#include \"m{m}.hpp\"\n")).collect();
    text += "#include <cstdio>\n#include <vector>\n\
             template <class T> bool take(T* p, std::size_t n) { return std::fread(p, sizeof(T), n, stdin) == n; }\n\
             template <class T> void give(const T* p, std::size_t n) { std::fwrite(p, sizeof(T), n, stdout); }\n\
             int main() {\n  std::int64_t cycles = 0;\n";
    for m in 0..machines.len() {
        text += &format!(
            "  if (!take(&cycles, 1)) return 1;\n  {{\n    m{m}::design d, other;\n    \
             std::vector<std::int64_t> x(m{m}::input_words + 1), y(m{m}::output_words + 1);\n    \
             for (std::int64_t i = 0; i < cycles; ++i) {{ if (!take(x.data(), m{m}::input_words)) return 1; \
             d.step_codes(x.data(), y.data()); give(y.data(), m{m}::output_words); }}\n    \
             d.reset();\n    std::vector<double> u(m{m}::inputs + 1), v(m{m}::outputs + 1);\n    \
             for (std::int64_t i = 0; i < cycles; ++i) {{ if (!take(u.data(), m{m}::inputs)) return 1; \
             d.step(u.data(), v.data()); give(v.data(), m{m}::outputs); }}\n    (void)other;\n  }}\n"
        );
    }
    text + "  return 0;\n}\n"
}

/// Compiles the headers together and compares every cycle with the golden simulator.
fn compare_machines(compiler: &str, flags: &[&str], machines: &[Machine], cycles: usize, seed: u64) {
    let header = |(m, machine): (usize, &Machine)| cpp_machine(machine, &format!("m{m}"), &[]);
    let dir = compiled((compiler, flags), machines.iter().enumerate().map(header), &machines_text(machines));

    let mut rng = SplitMix::new(seed);
    let (mut sent, mut expected, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for (m, machine) in machines.iter().enumerate() {
        sent.extend((cycles as i64).to_le_bytes());
        for reals in [false, true] {
            let mut simulation = Simulation::new(machine, LookupMiss::Zero);
            for _ in 0..cycles {
                for id in machine.inputs() {
                    let elements = &machine.signal(id).elements;
                    let mut codes = stimulus(machine, id, &mut rng);
                    for (code, &kif) in codes.iter_mut().zip(elements) {
                        if reals {
                            // Doubles hold 53 bits; larger codes are for the other round.
                            *code %= BigInt::from(1i64 << 50);
                            let x = i64::try_from(&*code).unwrap() as f64 * f64::from(-kif.frac).exp2();
                            sent.extend(x.to_le_bytes());
                        } else {
                            sent.extend(words(code, kif).into_iter().flat_map(i64::to_le_bytes));
                        }
                    }
                    simulation.apply(id, &codes);
                }
                simulation.settle().unwrap();
                for id in machine.outputs() {
                    for (cell, &kif) in simulation.values(id).iter().zip(&machine.signal(id).elements) {
                        if reals {
                            let code: f64 = cell.code.to_string().parse().unwrap();
                            expected.extend((code * f64::from(-kif.frac).exp2()).to_le_bytes());
                        } else {
                            expected.extend(words(&cell.code, kif).into_iter().flat_map(i64::to_le_bytes));
                        }
                    }
                }
                simulation.clock();
            }
            ends.push((expected.len(), format!("machine {m}, reals: {reals}")));
        }
    }
    let input = dir.path().join("input");
    std::fs::write(&input, &sent).unwrap();
    let mut run = Command::new(dir.path().join("main"));
    let ran = run.stdin(std::fs::File::open(&input).unwrap()).output().unwrap();
    assert!(ran.status.success() && ran.stderr.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(ran.stdout.len(), expected.len());
    let first = ran.stdout.chunks(8).zip(expected.chunks(8)).position(|(a, b)| a != b);
    let of = first.map(|word| ends.iter().find(|e| 8 * word < e.0).map(|e| &*e.1));
    assert_eq!(of, None, "{compiler} {flags:?}");
}

/// All designs of the tests, which have indices, resets, enables, alternatives; and random ones, some of wide values.
#[test]
fn sim_cpp_headers_of_stateful_designs_are_the_designs() {
    let mut machines: Vec<Machine> = DESIGNS.iter().map(|name| read(name)).collect();
    machines.extend(
        seeds()
            .take(if is_nightly() { 12 } else { 6 })
            .map(|seed| MachineRecipe::seeded(10 + (seed % 30) as usize, seed).build()),
    );
    let flags = ["-O1", "-fsanitize=undefined,address", "-fno-sanitize-recover=all"];
    if is_there("g++") {
        compare_machines("g++", &flags, &machines, 60, 5);
    }
    if is_there("clang++") {
        compare_machines("clang++", &[], &machines[..8], 60, 6);
    }
}
