//! Random programs, with and without repetition, at random intervals: simulated and proved, in both languages.

use super::*;
use crate::compile::{self, Hardware, Passes, Spec};
use crate::emit::Language;
use crate::ir::{Builder, Limits, Node, Output};
use crate::netlist::{Evaluator, ResetOptions};
use crate::num::SplitMix;
use crate::prove::equiv::{self, Request, Verdict};
use crate::prove::sat::Embedded;
use crate::random::{Profile, Recipe};
use crate::rtl;
use crate::verify::{Cycles, Vectors};

/// Several copies of a program side by side, and of another one behind each.
fn repeated(first: &Model, times: u32) -> Model {
    let n = first.n_inputs() as u32;
    let mut b = Builder::new(first.inp_shifts().iter().copied().cycle().take((n * times) as usize).collect());
    b.limits(Limits::derived());
    for table in first.tables() {
        b.table(table.clone());
    }
    for time in 0..times {
        let base = b.nodes().len() as u32;
        for node in first.nodes() {
            let mut op = node.op.clone();
            op.map_operands(|v| ValueId(v.0 + base));
            if let Op::Input { input } = &mut op {
                *input += n * time;
            }
            b.push(Node { op, ..node.clone() });
        }
        for output in first.outputs() {
            b.output(Output { source: output.source.map(|v| ValueId(v.0 + base)), ..*output });
        }
    }
    b.finish().unwrap()
}

fn spec(interval: u32, rng: &mut SplitMix) -> Spec {
    let mut spec = Spec::default();
    spec.pipeline.interval = Some(interval);
    spec.optimisation.passes = Passes::Level(rng.below(3) as u8);
    spec.module.valid = rng.below(2) == 1;
    spec.module.enable = rng.below(2) == 1;
    if rng.below(2) == 1 {
        let mut bit = || rng.below(2) == 1;
        spec.module.reset = Some(ResetOptions { asynchronous: bit(), active_high: true, data: bit() });
    }
    if rng.below(2) == 1 {
        spec.pipeline.max_stage_delay = Some(4.0 + rng.below(8) as f64);
    }
    spec
}

/// Simulates the netlist as testbenches do.
fn simulated(model: &Model, hardware: &Hardware<'_>, seed: u64) {
    let netlist = &hardware.netlist;
    let vectors = Vectors::of(model, None, hardware.spec(), 6, seed).unwrap();
    let cycles = Cycles::of(netlist, &vectors, seed);
    let mut evaluator = Evaluator::new(netlist);
    let mut seen = vec![0; vectors.inputs.len()];
    for (at, cycle) in cycles.cycles.iter().enumerate() {
        for field in &cycles.layout.stimulus {
            evaluator.set_port(&field.port, &cycle.stimulus.unsigned(field.lo, field.width));
        }
        evaluator.settle();
        if let Some(sample) = cycle.sample.and_then(|row| cycles.sample_of(row)) {
            seen[sample] += 1;
            assert_eq!(evaluator.outputs(), vectors.outputs.row(sample), "cycle {at}, sample {sample}");
        }
        evaluator.tick();
    }
    // Each is there for a whole interval, unless a reset ends it.
    let least = if netlist.interface.reset.is_some() { 1 } else { netlist.interface.initiation_interval };
    assert!(seen.iter().all(|&n| n >= least), "{seen:?}");
}

fn proved(model: &Model, hardware: &Hardware<'_>, language: Language) {
    let text = hardware.text(language);
    let like = match language {
        Language::Verilog => rtl::Language::Verilog,
        Language::Vhdl => rtl::Language::Vhdl,
    };
    let rtl = rtl::read(like, &text, None).unwrap_or_else(|d| panic!("{d}\n{text}"));
    let interface = &hardware.netlist.interface;
    let request = Request {
        latency: Some(interface.latency),
        interval: Some(interface.initiation_interval),
        ..Request::default()
    };
    let report = equiv::prove(model, &rtl, &request, Box::new(Embedded)).0;
    assert_eq!(report.verdict, Verdict::Proved, "{:?}\n{text}", report.notes);
}

fn held(model: &Model, interval: u32, seed: u64) {
    let mut rng = SplitMix::new(seed);
    let spec = spec(interval, &mut rng);
    let hardware = match compile::model(model, &spec) {
        Ok(hardware) => hardware,
        // An operation by itself may be longer than a stage.
        Err(error) if error.kind == compile::ErrorKind::Request => return,
        Err(error) => panic!("seed {seed}: {error}"),
    };
    let Some(reused) = hardware.reused() else { return };
    assert_eq!(check(&reused.program, &reused.plan), Ok(()));
    assert_eq!(hardware.netlist.interface.initiation_interval, interval);
    simulated(model, &hardware, seed);
    let language = if seed % 2 == 0 { Language::Verilog } else { Language::Vhdl };
    proved(model, &hardware, language);
}

#[test]
fn random_programs_are_computed_exactly_at_every_interval() {
    for seed in crate::prove::seeds(0..24) {
        let model = Recipe::seeded(Profile::TINY, 14, seed).build();
        let interval = [2, 3, 4, 5, 7, 8, 16, 25, 33, 64][(seed % 10) as usize];
        held(&model, interval, seed);
    }
}

#[test]
fn equal_parts_share_hardware_and_stay_exact() {
    let mut shared = 0;
    for seed in crate::prove::seeds(0..24) {
        let block = Recipe::seeded(Profile::TINY, 10, seed).build();
        let model = repeated(&block, 3 + (seed % 6) as u32);
        let interval = [2, 3, 4, 5, 8, 13][(seed % 6) as usize];
        held(&model, interval, seed);
        let mut spec = Spec::default();
        spec.pipeline.interval = Some(interval);
        let hardware = compile::model(&model, &spec).unwrap();
        shared += hardware.reused().map_or(0, |r| usize::from(r.plan.shared() > 0.0));
    }
    assert!(shared >= 5, "only {shared} share anything");
}

#[test]
fn the_judge_finds_what_is_wrong_with_a_plan() {
    let block = Recipe::seeded(Profile::TINY, 10, 5).build();
    let model = repeated(&block, 6);
    let (mut tried, mut found) = (0, 0);
    for interval in [2, 3, 4] {
        let stages = |t: &Model| Ok::<_, ()>(vec![0; t.nodes().len()]);
        let good = plan(&model, interval, stages).unwrap();
        assert_eq!(check(&model, &good), Ok(()));
        for seed in 0..200 {
            let mut rng = SplitMix::new(seed);
            let mut bad = good.clone();
            let group = rng.below(bad.groups.len() as u64) as usize;
            let at = rng.below(bad.groups[group].instances.len() as u64) as usize;
            let groups = &mut bad.groups;
            match rng.below(7) {
                0 => groups[group].instances[at].start += 1,
                1 => groups[group].instances[at].copy += groups[group].copies,
                2 => {
                    groups[group].instances[at].outputs.pop();
                }
                3 => {
                    let other = groups[group].instances[(at + 1) % groups[group].instances.len()].inputs.clone();
                    groups[group].instances[at].inputs = other;
                }
                4 => bad.latency += 1,
                5 => {
                    let n = bad.stores.len() as u64;
                    let store = bad.stores.values_mut().nth(rng.below(n) as usize).unwrap();
                    store.born += 1;
                }
                _ => {
                    let n = bad.stores.len() as u64;
                    let store = bad.stores.values_mut().nth(rng.below(n) as usize).unwrap();
                    store.storage = Storage::Held(0);
                }
            }
            if bad != good {
                tried += 1;
                found += usize::from(check(&model, &bad).is_err());
            }
        }
    }
    assert!(tried > 300);
    assert_eq!(found, tried);
}
