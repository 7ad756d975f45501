//! `alir2hdl convert` to gates: AIGER and Aignet files as a user makes them.

use alir_testing::random::{self, SplitMix};
use alir2hdl::formats;
use alir2hdl::interp::{LookupMiss, golden};
use alir2hdl::ir::{Builder, Limits, Model, Op, Output};
use alir2hdl::num::Interval;
use alir2hdl::prove::aig::{Aig, Gate, Lit, Simulation};
use alir2hdl::prove::{aiger, aignet};
use assert_cmd::Command;
use num_bigint::BigInt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models").join(name).join("model.json.gz")
}

fn model(name: &str) -> Model {
    formats::read_path(&path(name), &Limits::default(), None).unwrap_or_else(|e| panic!("{name}: {e}")).0
}

/// The exit code and what was said.
fn convert(dir: &TempDir, args: &[&str]) -> (i32, String) {
    let mut command = Command::cargo_bin("alir2hdl").unwrap();
    let output = command.current_dir(dir.path()).arg("convert").args(args).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[track_caller]
fn converted(dir: &TempDir, name: &str, out: &str, more: &[&str]) -> Vec<u8> {
    let from = path(name);
    let args: Vec<&str> = [from.to_str().unwrap(), out].into_iter().chain(more.iter().copied()).collect();
    let (code, err) = convert(dir, &args);
    assert_eq!(code, 0, "{args:?}: {err}");
    std::fs::read(dir.path().join(out)).unwrap()
}

/// Runs 64 samples through a graph, cycle by cycle, and checks the outputs `latency` cycles later.
fn check_graph(graph: &Aig, model: &Model, latency: u32, what: &str) {
    let mut rng = SplitMix::new(u64::from(latency));
    let samples: Vec<Vec<BigInt>> = (0..64).map(|_| random::inputs(model, &mut rng)).collect();
    let mut bits = Vec::new();
    for (i, kif) in model.input_kifs().iter().enumerate() {
        for bit in 0..u64::from(kif.width()) {
            bits.push((0..64).fold(0u64, |all, s| all | u64::from(samples[s][i].bit(bit)) << s));
        }
    }
    assert_eq!(bits.len(), graph.inputs().len(), "{what}");
    let mut state: Vec<u64> = vec![0; graph.latches().len()];
    let mut seen = Simulation::<1>::default();
    for clock in 0..=latency {
        // The sample is there in the first clock only.
        let applied: Vec<u64> = bits.iter().map(|&b| if clock == 0 { b } else { !b }).collect();
        seen = Simulation::default();
        seen.extend(graph, |gate| match gate {
            Gate::Input(n) => [applied[n as usize]],
            Gate::Latch(n) => [state[n as usize]],
            Gate::False | Gate::And(..) => [0],
        });
        state = graph.latches().iter().map(|l| seen.value(l.next.unwrap_or(Lit::FALSE))[0]).collect();
    }
    for (s, sample) in samples.iter().enumerate() {
        let mut at = 0;
        for (j, expected) in golden(model, sample, LookupMiss::Zero).unwrap().iter().enumerate() {
            for bit in 0..u64::from(model.output_kif(j).width()) {
                let found = seen.value(graph.outputs()[at].lit)[0] >> s & 1 == 1;
                assert_eq!(found, expected.bit(bit), "{what}: sample {s}, output {j}, bit {bit}");
                at += 1;
            }
        }
        assert_eq!(at, graph.outputs().len(), "{what}");
    }
}

#[test]
fn gates_compute_the_model_in_every_form() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["tiny_ops", "edge_kif", "bit_logic", "lut_heavy", "over64", "wide_acc"] {
        let model = model(name);
        for latency in [0, 3] {
            let more: &[&str] = if latency == 0 { &[] } else { &["--pipeline", "3"] };
            let binary = converted(&dir, name, "m.aig", more);
            let ascii = converted(&dir, name, "m.aag", more);
            let array = converted(&dir, name, "m.aignet", more);
            let graph = aiger::read(&binary).unwrap();
            check_graph(&graph, &model, latency, &format!("{name}.aig"));
            check_graph(&aiger::read(&ascii).unwrap(), &model, latency, &format!("{name}.aag"));
            let flag = aignet::GateFlag::Refuse;
            check_graph(&aignet::read(&array, flag).unwrap(), &model, latency, &format!("{name}.aignet"));
            assert_eq!(graph.inputs()[0].name, "model_inp[0]");
            assert_eq!(graph.outputs()[1].name, "model_out[1]");
            let theirs = flussab_aiger::binary::Parser::<u32>::from_read(&binary[..], Default::default());
            let theirs = theirs.unwrap().parse().unwrap();
            assert_eq!((theirs.and_gates.len(), theirs.outputs.len()), (graph.gates(), graph.outputs().len()));
            let theirs = flussab_aiger::ascii::Parser::<u32>::from_read(&ascii[..], Default::default());
            assert_eq!(theirs.unwrap().parse().unwrap().latches.len(), graph.latches().len());
        }
    }
}

#[test]
fn gates_go_from_form_to_form() {
    let dir = tempfile::tempdir().unwrap();
    let array = converted(&dir, "tiny_ops", "a.aignet", &["--pipeline", "2"]);
    for (from, to) in [("a.aignet", "b.aig.gz"), ("b.aig.gz", "c.aag"), ("c.aag", "d.aignet")] {
        assert_eq!(convert(&dir, &[from, to]), (0, String::new()));
    }
    assert!(std::fs::read(dir.path().join("b.aig.gz")).unwrap().starts_with(&[0x1f, 0x8b]));
    let back = std::fs::read(dir.path().join("d.aignet")).unwrap();
    let read = |bytes: &[u8]| aignet::read(bytes, aignet::GateFlag::Refuse).unwrap();
    check_graph(&read(&back), &model("tiny_ops"), 2, "from form to form");
    assert_eq!(read(&back).gates(), read(&array).gates());
}

#[test]
fn a_flagged_gate_is_read_as_exclusive_or_only_if_asked() {
    let dir = tempfile::tempdir().unwrap();
    // Two inputs, a flagged gate of both, an output of it.
    let words = [0u32, 0, 2, 0, 2, 1 << 2, 2 << 2 | 1, 4 << 2 | 1, 6 << 2 | 3, 0];
    std::fs::write(dir.path().join("x.aignet"), words.map(u32::to_le_bytes).concat()).unwrap();
    let (code, err) = convert(&dir, &["x.aignet", "x.aig"]);
    assert!(code == 2 && err.contains("--aignet-xor") && err.contains("E0902"), "{err}");
    assert!(!dir.path().join("x.aig").exists());
    assert_eq!(convert(&dir, &["x.aignet", "x.aig", "--aignet-xor"]), (0, String::new()));
    let graph = aiger::read(&std::fs::read(dir.path().join("x.aig")).unwrap()).unwrap();
    let mut seen = Simulation::<1>::default();
    seen.extend(&graph, |gate| match gate {
        Gate::Input(n) => [[0b1010, 0b1100][n as usize]],
        _ => [0],
    });
    assert_eq!(seen.value(graph.outputs()[0].lit)[0] & 15, 0b0110);
}

#[test]
fn what_cannot_be_said_is_refused_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let tiny = path("tiny_ops");
    let tiny = tiny.to_str().unwrap();
    std::fs::write(dir.path().join("one.aag"), "aag 2 1 1 1 0\n2\n4 2 1\n4\n").unwrap();
    std::fs::write(dir.path().join("bad.aag"), "aag 2 1 0 1 1\n2\n4\n4 5 2\n").unwrap();
    std::fs::write(dir.path().join("good.aag"), "aag 1 1 0 1 0\n2\n2\n").unwrap();
    for (args, code, says) in [
        (&["good.aag", "o.json"][..], "E1107", "gates cannot be made into a program"),
        (&["good.aag", "o.aig", "--pipeline", "2"], "E1107", "behind a model's outputs"),
        (&[tiny, "o.json", "--pipeline", "2"], "E1107", "a program has no registers"),
        (&[tiny, "o.aig", "--aignet-xor"], "E1107", "about reading"),
        (&["one.aag", "o.aignet"], "E1107", "0 at power-on"),
        (&["bad.aag", "o.aig"], "E0901", "depends on itself"),
        (&["none.aag", "o.aig"], "E0001", "cannot read"),
    ] {
        let (exit, err) = convert(&dir, args);
        assert!(exit == 2 && err.contains(code) && err.contains(says), "{args:?}: {err}");
    }
    for file in ["o.json", "o.aig", "o.aignet"] {
        assert!(!dir.path().join(file).exists(), "{file}");
    }
}

#[test]
fn a_program_that_becomes_too_many_gates_is_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    // A product far wider than gates can be made of.
    let wide = Interval::from_width(true, 6_000, 0);
    let mut builder = Builder::new(vec![0]);
    let x = builder.op(Op::Input { input: 0 }, wide.clone());
    let y = builder.op(Op::Mul { a: x, b: x }, wide);
    builder.output(Output { source: Some(y), shift: 0, neg: false });
    let model = builder.finish().unwrap();
    let mut text = Vec::new();
    formats::prepare(&model, formats::Target::Alir4).unwrap().write(&mut text).unwrap();
    std::fs::write(dir.path().join("wide.json"), text).unwrap();
    let (code, err) = convert(&dir, &["wide.json", "o.aig"]);
    assert!(code == 2 && err.contains("E1108"), "{err}");
    assert!(!dir.path().join("o.aig").exists());
}
