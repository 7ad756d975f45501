//! Stateful designs against the traces of the library that wrote them.

use alir_testing::random::machine::{MachineRecipe, stimulus};
use alir_testing::random::{Gene, SplitMix};
use alir2hdl::formats;
use alir2hdl::interp::LookupMiss;
use alir2hdl::interp::machine::Simulation;
use alir2hdl::ir::machine::{Machine, SignalId};
use alir2hdl::ir::{Limits, Model};
use alir2hdl::netlist::{Evaluator, Netlist, lower_machine};
use alir2hdl::passes;
use alir2hdl::retime::{Slack, retime};
use num_bigint::BigInt;
use proptest::prelude::*;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models/fsm")
}

/// A float64 or int64 npy file of one or two dimensions: rows.
fn npy(path: &Path) -> Vec<Vec<f64>> {
    let bytes = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let header_len = u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    let header = std::str::from_utf8(&bytes[10..10 + header_len]).unwrap();
    assert!(header.contains("'<f8'"), "{header}");
    let shape = header.split("'shape': (").nth(1).unwrap().split(')').next().unwrap();
    let shape: Vec<usize> = shape.split(',').filter_map(|n| n.trim().parse().ok()).collect();
    let columns = shape.get(1).copied().unwrap_or(1);
    let numbers: Vec<f64> =
        bytes[10 + header_len..].chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
    numbers.chunks(columns).map(<[f64]>::to_vec).collect()
}

fn code(value: f64, frac: i32) -> BigInt {
    let scaled = value * f64::from(frac).exp2();
    assert_eq!(scaled.fract(), 0.0, "the traces hold values of the ports' types");
    BigInt::from(scaled as i64)
}

fn compare(machine: &Machine, sim: &Simulation<'_>, port: SignalId, row: &[f64], what: &str) -> usize {
    let signal = machine.signal(port);
    let mut compared = 0;
    for (k, (cell, expected)) in sim.values(port).iter().zip(row).enumerate() {
        if expected.is_nan() {
            // What the library calls undefined may depend on a register that was never loaded.
            continue;
        }
        assert_eq!(cell.code, code(*expected, signal.elements[k].frac), "{what}: {}[{k}]", signal.name);
        compared += 1;
    }
    compared
}

/// The checked hardware of a machine, its blocks optimised and, if requested, its pipeline registers placed again.
fn hardware(machine: &Machine, level: u8, slack: Option<Slack>) -> Netlist {
    let optimise = |model: &Model| passes::run(model, passes::pipeline(level)).0;
    let optimised = machine.clone().with_blocks(optimise);
    let plain = lower_machine(&optimised, "machine");
    let netlist = match slack {
        None => plain,
        Some(slack) => {
            let retimed = lower_machine(&retime(&optimised, slack, &optimise).machine, "machine");
            assert!(retimed.register_bits() <= plain.register_bits());
            retimed
        }
    };
    netlist.check().unwrap_or_else(|found| panic!("{found:?}"));
    assert!(netlist.register_bits() <= machine.register_bits());
    netlist
}

fn codes_of(sim: &Simulation<'_>, signal: SignalId) -> Vec<BigInt> {
    sim.values(signal).iter().map(|cell| cell.code.clone()).collect()
}

/// Every output that is defined is what the simulator says.
fn same_outputs(machine: &Machine, sim: &Simulation<'_>, hardware: &Evaluator<'_>, what: &str) -> usize {
    let found = hardware.outputs();
    let elements = &hardware.netlist().interface.outputs;
    let expected: Vec<_> = machine.outputs().flat_map(|s| sim.values(s)).collect();
    assert_eq!(expected.len(), found.len());
    for ((cell, found), element) in expected.iter().zip(&found).zip(elements) {
        assert!(!cell.defined || cell.code == *found, "{what}: {} is {found}, not {}", element.name, cell.code);
    }
    expected.iter().filter(|cell| cell.defined && cell.code != BigInt::ZERO).count()
}

#[test]
fn every_trace_is_reproduced_cycle_by_cycle() {
    let mut designs = 0;
    let mut names: Vec<_> = fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path()).collect();
    names.sort();
    for dir in names {
        designs += 1;
        let machine = formats::read_machine(File::open(dir.join("fsm.json.gz")).unwrap(), &Limits::default());
        let machine = machine.unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
        let meta: serde_json::Value = serde_json::from_slice(&fs::read(dir.join("meta.json")).unwrap()).unwrap();
        assert_eq!(machine.register_bits(), meta["registers_bits"].as_u64().unwrap(), "{}", dir.display());
        let file = |kind: &str, s: SignalId| dir.join(format!("{kind}.{}.npy", machine.signal(s).name));
        let inputs: Vec<_> = machine.inputs().map(|s| (s, npy(&file("in", s)))).collect();
        let outputs: Vec<_> = machine.outputs().map(|s| (s, npy(&file("before", s)), npy(&file("out", s)))).collect();
        assert!(!outputs.is_empty());
        let mut sim = Simulation::new(&machine, LookupMiss::Error);
        let netlists = [(0, None), (2, None), (1, Some(Slack::Registers)), (2, Some(Slack::Delay))]
            .map(|(level, slack)| hardware(&machine, level, slack));
        let mut hardware = netlists.each_ref().map(Evaluator::new);
        let mut compared = 0;
        let steps = outputs[0].1.len();
        for t in 0..steps {
            for (port, rows) in &inputs {
                let kifs = machine.signal(*port).elements.iter();
                let codes: Vec<BigInt> = rows[t].iter().zip(kifs).map(|(v, kif)| code(*v, kif.frac)).collect();
                sim.apply(*port, &codes);
            }
            sim.settle().unwrap();
            let codes: Vec<BigInt> = machine.inputs().flat_map(|s| codes_of(&sim, s)).collect();
            for hardware in &mut hardware {
                hardware.set_inputs(&codes);
                hardware.settle();
                same_outputs(&machine, &sim, hardware, &format!("{} before edge {t}", dir.display()));
            }
            for (port, before, _) in &outputs {
                compared += compare(&machine, &sim, *port, &before[t], &format!("{} before edge {t}", dir.display()));
            }
            sim.clock();
            sim.settle().unwrap();
            for hardware in &mut hardware {
                hardware.tick();
                same_outputs(&machine, &sim, hardware, &format!("{} after edge {t}", dir.display()));
            }
            for (port, _, after) in &outputs {
                compared += compare(&machine, &sim, *port, &after[t], &format!("{} after edge {t}", dir.display()));
            }
        }
        for netlist in &netlists {
            eprintln!("{}: {} register bits of {}", dir.display(), netlist.register_bits(), machine.register_bits());
        }
        assert!(compared > steps, "{}: only {compared} values compared", dir.display());
    }
    assert_eq!(designs, 6);
}

/// Compares the outputs of a machine's hardware with the reference simulator, cycle by cycle. Returns the number of
/// defined nonzero values that were compared.
fn same_everywhere(machine: &Machine, level: u8, slack: Option<Slack>, seed: u64) -> usize {
    let netlist = hardware(machine, level, slack);
    let mut hardware = Evaluator::new(&netlist);
    let mut sim = Simulation::new(machine, LookupMiss::Zero);
    let mut rng = SplitMix::new(seed);
    let mut compared = 0;
    for t in 0..24 {
        for port in machine.inputs() {
            sim.apply(port, &stimulus(machine, port, &mut rng));
        }
        sim.settle().unwrap();
        let codes: Vec<BigInt> = machine.inputs().flat_map(|s| codes_of(&sim, s)).collect();
        hardware.set_inputs(&codes);
        hardware.settle();
        compared += same_outputs(machine, &sim, &hardware, &format!("before edge {t}"));
        sim.clock();
        hardware.tick();
    }
    compared
}

const SLACKS: [Option<Slack>; 3] = [None, Some(Slack::Registers), Some(Slack::Delay)];

proptest! {
    #[test]
    fn random_machines_become_the_hardware_that_they_are(
        genes in prop::collection::vec(any::<Gene>(), 0..24), level in 0..3u8, slack in 0..3usize, seed: u64
    ) {
        same_everywhere(&MachineRecipe(genes).build(), level, SLACKS[slack], seed);
    }
}

#[test]
fn many_random_machines_become_the_hardware_that_they_are() {
    let mut compared = 0;
    for seed in 0..600 {
        let recipe = MachineRecipe::seeded(1 + seed as usize % 30, seed);
        let result = std::panic::catch_unwind(|| {
            same_everywhere(&recipe.build(), (seed % 3) as u8, SLACKS[seed as usize / 3 % 3], seed)
        });
        compared += result.unwrap_or_else(|_| panic!("seed {seed}"));
    }
    assert!(compared > 10_000, "only {compared} values compared");
}

#[test]
fn pipelines_inside_random_machines_are_cut_anew() {
    let optimise = |model: &Model| passes::run(model, passes::pipeline(1)).0;
    let (mut moved, mut kept, mut bits, mut before, mut shorter, mut controlled) = (0, 0, 0, 0, 0, 0);
    for seed in 0..400 {
        let machine = MachineRecipe::seeded(4 + seed as usize % 24, seed).build().with_blocks(optimise);
        let retimed = retime(&machine, if seed % 2 == 0 { Slack::Registers } else { Slack::Delay }, &optimise);
        for pipeline in &retimed.pipelines {
            assert!(pipeline.stages >= 2 && !pipeline.blocks.is_empty() && !pipeline.registers.is_empty());
            assert!(pipeline.delay <= pipeline.delay_before * (1.0 + 1e-9), "seed {seed}: {pipeline:?}");
            *(if pipeline.moved { &mut moved } else { &mut kept }) += 1;
            shorter += usize::from(pipeline.delay < pipeline.delay_before);
            let first = machine.signals().iter().find(|s| s.name == pipeline.registers[0]).unwrap();
            controlled += usize::from(pipeline.moved && first.reset_to.is_some());
        }
        if retimed.pipelines.iter().any(|p| p.moved) {
            bits += lower_machine(&retimed.machine, "machine").register_bits();
            before += lower_machine(&machine, "machine").register_bits();
        }
        // The new machine is the old one from outside, for the simulator too.
        let mut sims = [&machine, &retimed.machine].map(|m| Simulation::new(m, LookupMiss::Zero));
        let mut rng = SplitMix::new(seed);
        for cycle in 0..24 {
            for port in machine.inputs() {
                let codes = stimulus(&machine, port, &mut rng);
                let name = &machine.signal(port).name;
                let other = retimed.machine.inputs().find(|&s| retimed.machine.signal(s).name == *name).unwrap();
                sims[0].apply(port, &codes);
                sims[1].apply(other, &codes);
            }
            sims.iter_mut().for_each(|sim| sim.settle().unwrap());
            for (a, b) in machine.outputs().zip(retimed.machine.outputs()) {
                assert_eq!(machine.signal(a).name, retimed.machine.signal(b).name);
                for (k, (expected, found)) in sims[0].values(a).iter().zip(sims[1].values(b)).enumerate() {
                    let same = !expected.defined || expected.code == found.code;
                    assert!(same, "seed {seed}, cycle {cycle}: {}[{k}]", machine.signal(a).name);
                }
            }
            sims.iter_mut().for_each(Simulation::clock);
        }
    }
    eprintln!(
        "{moved} pipelines moved, {kept} kept, {bits} bits of {before}, {shorter} shorter, {controlled} with first \
         values"
    );
    assert!(moved > 40 && shorter > 10 && controlled > 3 && bits < before);
}
