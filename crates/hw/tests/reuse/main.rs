//! Simulation and proof of random models, with and without repeated parts, at random initiation intervals, in Verilog
//! and VHDL.

mod merge;
mod serial;
mod sums;

use alir_core::ir::{Builder, Limits, Model, Op, Output, ValueId, draw_inputs};
use alir_core::num::{Code, Interval, Kif, SplitMix};
use alir_flow::compile::{self, Arrival, Engine, Hardware, Passes, Products, SharedHardware, Spec};
use alir_flow::verify::{Cycles, Vectors};
use alir_hw::emit::Language;
use alir_hw::emit::axis::{AxisOptions, Flow, Packing, Stream};
use alir_hw::netlist::{Evaluator, Netlist, ResetOptions};
use alir_hw::reuse::*;
use alir_interp::{LookupMiss, golden};
use alir_prove::equiv::{Request, Verdict};
use alir_prove::sat::Embedded;
use alir_prove::steps::{self, Steps};
use alir_testing::random::{Profile, Recipe, side_by_side};
use std::collections::BTreeMap;
use std::rc::Rc;

fn spec(interval: u32, engine: Engine, rng: &mut SplitMix) -> Spec {
    let mut spec = Spec::default();
    spec.pipeline.interval = Some(interval);
    spec.pipeline.engine = engine;
    spec.optimisation.passes = Passes::Level(rng.below(3) as u8);
    spec.module.valid = rng.below(2) == 1;
    spec.module.enable = rng.below(2) == 1;
    if rng.below(2) == 1 {
        let mut bit = || rng.below(2) == 1;
        spec.module.reset = Some(ResetOptions { asynchronous: bit(), active_high: true, data: bit() });
    }
    spec.pipeline.register_inputs = rng.below(4) == 0;
    spec.pipeline.register_outputs = rng.below(4) == 0;
    spec.target.products = [Products::Auto, Products::Auto, Products::Logic, Products::Blocks][rng.below(4) as usize];
    if rng.below(2) == 1 {
        spec.pipeline.max_stage_delay = Some(4.0 + rng.below(8) as f64);
    }
    if !spec.pipeline.register_inputs && rng.below(3) == 0 {
        spec.pipeline.arrival = Arrival::Held;
    }
    spec
}

/// Simulates the netlist as testbenches do, and panics if it differs from the model.
fn simulated(model: &Model, spec: &Spec, netlist: &Netlist, seed: u64) {
    if let Err(why) = compared(model, spec, netlist, seed) {
        panic!("seed {seed}: {why}");
    }
}

/// Compares a netlist with the model in simulation. Returns an error that describes the first difference.
pub fn compared(model: &Model, spec: &Spec, netlist: &Netlist, seed: u64) -> Result<(), String> {
    let vectors = Vectors::random(model, None, spec, 6, seed).unwrap();
    let cycles = Cycles::new(netlist, &vectors, seed);
    let mut evaluator = Evaluator::new(netlist);
    let mut seen = vec![0; vectors.inputs.len()];
    for (at, cycle) in cycles.cycles.iter().enumerate() {
        for field in &cycles.layout.stimulus {
            evaluator.set_port(&field.port, &cycle.stimulus.unsigned(field.lo, field.width));
        }
        evaluator.settle();
        if let Some(sample) = cycle.sample.and_then(|row| cycles.sample_of(row)) {
            seen[sample] += 1;
            let (found, wanted) = (evaluator.outputs(), vectors.outputs.row(sample));
            if found != wanted {
                return Err(format!("cycle {at}, sample {sample}: {found:?}, not {wanted:?}"));
            }
        }
        evaluator.tick();
    }
    // Each result is stable for a whole interval, unless a reset ends it.
    let least = if netlist.interface.reset.is_some() { 1 } else { netlist.interface.initiation_interval };
    if seen.iter().all(|&n| n >= least) { Ok(()) } else { Err(format!("results are seen {seen:?} times")) }
}

/// Returns the verdict of `prove` about the RTL file.
fn verdict(model: &Model, hardware: &Hardware<'_>, language: Language) -> Verdict {
    let text = hardware.text(language);
    let like = match language {
        Language::Verilog | Language::SystemVerilog => alir_hdl::Language::Verilog,
        Language::Vhdl => alir_hdl::Language::Vhdl,
    };
    let interface = &hardware.netlist.interface;
    // If the file has a wrapper, the proof is about the core.
    let rtl = alir_hdl::read(like, &text, Some(&interface.top)).unwrap_or_else(|d| panic!("{d}\n{text}"));
    let request = Request {
        latency: Some(interface.latency),
        interval: Some(interface.initiation_interval),
        input_timing: compile::input_timing(interface),
        gates_only: compile::is_bit_serial(&rtl.head),
        ..Request::default()
    };
    let programs = || hardware.reused().map(|reused| Rc::new(reused.steps(hardware.spec())));
    let told: Option<&dyn Fn() -> Option<Rc<Steps>>> = Some(&programs);
    steps::prove(model, &rtl, told, &request, &|| Box::new(Embedded)).0.verdict
}

/// Returns the planned model and its plan, with blocks of one stage.
pub fn planned(model: &Model, interval: u32, engines: &Engines<'_>) -> (Model, Plan) {
    let stages = |t: &Model| Ok::<_, ()>(vec![0; t.nodes().len()]);
    let (anew, plan) = plan(model, interval, engines, stages).unwrap();
    (anew.unwrap_or_else(|| model.clone()), plan)
}

/// Builds hardware, simulates it and proves it exact. Returns `false` if no hardware can be built.
pub fn is_built_and_proved(model: &Model, interval: u32, engine: Engine, seed: u64) -> bool {
    let verdict = simulated_and_asked(model, interval, engine, seed);
    assert!(verdict.as_ref().is_none_or(|v| *v == Verdict::Proved), "seed {seed}: {verdict:?}");
    verdict.is_some()
}

/// Builds hardware and simulates it. Returns the verdict of `prove`, or `None` if no hardware can be built.
fn simulated_and_asked(model: &Model, interval: u32, engine: Engine, seed: u64) -> Option<Verdict> {
    let mut rng = SplitMix::new(seed);
    let spec = spec(interval, engine, &mut rng);
    let hardware = match compile::model(model, &spec) {
        Ok(hardware) => hardware,
        // A single operation may exceed the delay of a stage.
        Err(error) if error.kind == compile::ErrorKind::Request => return None,
        Err(error) => panic!("seed {seed}: {error}"),
    };
    let reused = hardware.reused()?;
    if let Some(plan) = reused.fold() {
        assert_eq!(check(&reused.program, plan), Ok(()));
    }
    assert_eq!(hardware.netlist.interface.initiation_interval, interval);
    // After each pass, the unrolled logic of all cycles of a sample is equal to the model.
    let unrolled = reused.unrolled(&spec);
    if let Some(plan) = reused.fold() {
        // Bit-serial results are not operations on whole values, so the plan may have no unrolled models.
        let is_said = plan.regions.is_empty();
        assert!(!unrolled.is_empty() || !is_said, "seed {seed}");
    }
    for _ in 0..4 {
        let codes = draw_inputs(model, &mut rng);
        let golden = |m: &Model| golden(m, &codes, LookupMiss::Zero).unwrap();
        let (wanted, found) = (golden(model), unrolled.iter().map(golden));
        found.enumerate().for_each(|(at, found)| assert_eq!(found, wanted, "seed {seed}, program {at}"));
    }
    simulated(model, &spec, &hardware.netlist, seed);
    let language = if seed.is_multiple_of(2) { Language::Verilog } else { Language::Vhdl };
    Some(verdict(model, &hardware, language))
}

/// Returns a random model and a random interval; half of the models have equal parts.
fn any(seed: u64) -> (Model, u32) {
    let mut rng = SplitMix::new(seed ^ 0x1155);
    let profile =
        [Profile::TINY, Profile::TINY, Profile::SMALL, Profile::ADDERS, Profile::LOGIC][rng.below(5) as usize];
    let model = Recipe::seeded(profile, 4 + rng.below(16) as usize, seed).build();
    let model = if rng.below(2) == 0 { side_by_side(&model, 2 + rng.below(7) as u32) } else { model };
    (model, 2 + rng.below(63) as u32)
}

#[test]
#[ignore = "long: 300 random programs by all engines, simulated and proved; minutes"]
fn hundreds_of_random_programs_by_all_engines() {
    let (mut made, mut open) = ([0; 3], Vec::new());
    let seeds = alir_testing::seeds(5000..5300);
    let programs = (seeds.end - seeds.start) as usize;
    for seed in seeds {
        let (model, interval) = any(seed);
        for (k, engine) in [Engine::Fold, Engine::Serial, Engine::Mixed].into_iter().enumerate() {
            let verdict = simulated_and_asked(&model, interval, engine, seed);
            made[k] += usize::from(verdict.is_some());
            if let Some(Verdict::Differs { reason, .. }) = &verdict {
                panic!("seed {seed}, {engine:?}, K = {interval}: {reason}");
            }
            if let Some(Verdict::Unknown { reason }) = verdict {
                println!("seed {seed}, {engine:?}, K = {interval}: {reason}");
                open.push((seed, engine));
            }
        }
    }
    println!("{made:?} made by fold, serial and both; open: {open:?}");
    assert!(open.is_empty(), "{open:?} are not proved");
    // The remaining models need a longer interval, or have nothing to compute.
    assert!(made.iter().all(|&n| n >= programs / 3), "{made:?} of {programs}");
}

#[test]
fn random_programs_are_computed_exactly_at_every_interval() {
    for seed in alir_testing::seeds(0..24) {
        let model = Recipe::seeded(Profile::TINY, 14, seed).build();
        let interval = [2, 3, 4, 5, 7, 8, 16, 25, 33, 64][(seed % 10) as usize];
        is_built_and_proved(&model, interval, Engine::Auto, seed);
    }
    // A model with wide types; only intervals show that some bits of the types are copies of the sign.
    let (model, interval) = any(5057);
    assert!(is_built_and_proved(&model, interval, Engine::Mixed, 5057));
}

/// Checks that testbenches keep a sample on the ports for `input_hold` cycles, and that a simulation with a shorter
/// `input_hold` differs from the model.
#[test]
fn held_inputs_must_stay() {
    let mut found = 0;
    for seed in alir_testing::seeds(0..12) {
        let model = side_by_side(&Recipe::seeded(Profile::TINY, 8, seed).build(), 4);
        let engine = if seed % 2 == 0 { Engine::Fold } else { Engine::Serial };
        let mut spec = Spec::default();
        spec.pipeline = compile::Pipeline { interval: Some(24), engine, arrival: Arrival::Held, ..spec.pipeline };
        let Ok(hardware) = compile::model(&model, &spec) else { continue };
        if hardware.reused().is_none() {
            continue;
        }
        simulated(&model, &spec, &hardware.netlist, seed);
        assert_eq!(hardware.netlist.interface.input_hold, 24);
        let mut short = hardware.netlist.clone();
        short.interface.input_hold = 1;
        found += u32::from(compared(&model, &spec, &short, seed).is_err());
    }
    assert!(found >= 6, "{found} need their samples for longer than a clock");
}

/// Checks samples that arrive in beats of random widths, with both packings, at full throughput and slower.
#[test]
fn samples_may_come_beat_by_beat() {
    let (mut made, mut passing) = (0, 0);
    let programs = if alir_testing::is_nightly() { 40 } else { 28 };
    for seed in alir_testing::seeds(0..programs) {
        let mut rng = SplitMix::new(seed ^ 0xbea7);
        let profile = [Profile::TINY, Profile::ADDERS, Profile::LOGIC][rng.below(3) as usize];
        let block = Recipe::seeded(profile, 4 + rng.below(8) as usize, seed).build();
        let model = side_by_side(&block, 2 + rng.below(7) as u32);
        let wrapper = AxisOptions {
            packing: [Packing::Auto, Packing::Dense][rng.below(2) as usize],
            width: Some([8, 16, 32][rng.below(3) as usize]),
            flow: [Flow::Fifo(None), Flow::Stall][rng.below(2) as usize],
            ..AxisOptions::default()
        };
        let widths: Vec<u32> = model.input_kifs().iter().map(|kif| kif.width()).collect();
        let Ok(stream) = Stream::from_inputs(&widths, &wrapper) else { continue };
        let mut spec = Spec { wrapper: Some(wrapper), ..Spec::default() };
        spec.pipeline.interval = Some((stream.beats + rng.below(6) as u32).max(2));
        spec.pipeline.engine = [Engine::Fold, Engine::Mixed, Engine::Auto][rng.below(3) as usize];
        spec.pipeline.arrival = Arrival::Beats;
        spec.pipeline.register_outputs = rng.below(4) == 0;
        let hardware = match compile::model(&model, &spec) {
            Ok(hardware) => hardware,
            // Not supported: the sample fits into one beat, or an element spans two beats.
            Err(error) if error.kind == compile::ErrorKind::Request => continue,
            Err(error) => panic!("seed {seed}: {error}"),
        };
        let Some(plan) = hardware.reused().and_then(SharedHardware::fold) else { continue };
        assert_eq!(hardware.netlist.interface.input_beats, stream.beats, "seed {seed}");
        let lanes = plan.stores.values().filter(|store| matches!(store.storage, Storage::Passing(OutputPort::Lane(_))));
        passing += u32::from(lanes.count() > 0);
        simulated(&model, &spec, &hardware.netlist, seed);
        let language = if seed.is_multiple_of(2) { Language::Verilog } else { Language::Vhdl };
        assert_eq!(verdict(&model, &hardware, language), Verdict::Proved, "seed {seed}");
        made += 1;
    }
    assert!(made >= 12 && passing >= 4, "{made} made, in {passing} beats pass through plain registers");
}

#[test]
fn equal_parts_share_hardware_and_stay_exact() {
    let mut shared = 0;
    for seed in alir_testing::seeds(0..24) {
        let block = Recipe::seeded(Profile::TINY, 10, seed).build();
        let model = side_by_side(&block, 3 + (seed % 6) as u32);
        let interval = [2, 3, 4, 5, 8, 13][(seed % 6) as usize];
        is_built_and_proved(&model, interval, Engine::Fold, seed);
        let mut spec = Spec::default();
        spec.pipeline.interval = Some(interval);
        spec.pipeline.engine = Engine::Fold;
        let hardware = compile::model(&model, &spec).unwrap();
        shared += hardware.reused().map_or(0, |r| usize::from(r.fold().is_some_and(|plan| plan.shared() > 0.0)));
    }
    assert!(shared >= 5, "only {shared} share anything");
}

/// Returns a builder with the operations of a model, without outputs.
pub fn without_outputs(model: &Model) -> Builder {
    let mut b = Builder::new(vec![0; model.n_inputs()]);
    b.limits(Limits::derived());
    for table in model.tables() {
        b.table(table.clone());
    }
    for node in model.nodes() {
        b.push(node.clone());
    }
    b
}

/// Returns a model with additional random sums, differences and rectifiers of its outputs.
fn with_a_tail(model: &Model, rng: &mut SplitMix) -> Model {
    let mut b = without_outputs(model);
    let mut values: Vec<ValueId> = model.outputs().iter().filter_map(|o| o.source).collect();
    for _ in 0..4 + rng.below(20) {
        let mut any = || values[rng.below(values.len() as u64) as usize];
        let (x, y) = (any(), any());
        let kif = |v: ValueId| b.nodes()[v.index()].interval.kif();
        let (p, q) = (kif(x), kif(y));
        let wide = Kif { signed: true, int: p.int.max(q.int) + 2, frac: p.frac.max(q.frac) };
        let made = match rng.below(4) {
            _ if wide.width() > 24 => continue,
            0 => b.op(Op::Sub { a: x, b: y, shift: 0 }, Interval::full(wide)),
            1 => b.op(Op::Relu { x }, Interval::full(Kif { signed: false, ..p })),
            _ => b.op(Op::Add { a: x, b: y, shift: 0 }, Interval::full(wide)),
        };
        values.push(made);
    }
    for v in values.into_iter().rev().take(3) {
        b.output(Output { source: Some(v), shift: 0, neg: false });
    }
    b.finish().expect("a program")
}

#[test]
fn single_parts_are_bit_serial_and_equal_parts_are_shared() {
    let (mut made, mut both, mut by_passes) = (0, 0, 0);
    // The last seed builds a model whose types are wider than its values.
    for seed in alir_testing::seeds(0..32).chain([1013]) {
        let mut rng = SplitMix::new(seed ^ 0x3141);
        let profile = [Profile::TINY, Profile::ADDERS][rng.below(2) as usize];
        let block = Recipe::seeded(profile, 5 + rng.below(8) as usize, seed).build();
        let model = side_by_side(&block, 2 + rng.below(6) as u32);
        // By default products are not bit-serial, because not all of them can be proved.
        let multiplies = model.nodes().iter().any(|node| matches!(node.op, Op::Mul { .. }));
        if multiplies || model.outputs().iter().all(|o| o.source.is_none()) {
            continue;
        }
        let model = with_a_tail(&model, &mut rng);
        let interval = [4, 5, 8, 13, 21, 64][(seed % 6) as usize];
        made += u32::from(is_built_and_proved(&model, interval, Engine::Mixed, seed));
        let mut spec = Spec::default();
        spec.pipeline.interval = Some(interval);
        spec.pipeline.engine = Engine::Mixed;
        let hardware = compile::model(&model, &spec).unwrap();
        let Some(reused) = hardware.reused() else { continue };
        let Some(plan) = reused.fold() else { continue };
        // All intermediate models compute the same function.
        let programs = reused.steps(&spec).programs;
        for _ in 0..8 {
            let codes = draw_inputs(&model, &mut rng);
            let wanted = golden(&model, &codes, LookupMiss::Zero).unwrap();
            let same = |program: &Model| golden(program, &codes, LookupMiss::Zero).unwrap() == wanted;
            assert!(programs.iter().all(same), "seed {seed}");
        }
        by_passes += u32::from(programs.len() > 2);
        let shares = plan.groups.iter().any(|group| (group.units as usize) < group.instances.len());
        both += u32::from(shares && !plan.regions.is_empty());
    }
    assert!(made >= 12, "{made} were made");
    assert!(both >= 4, "{both} have both");
    assert!(by_passes >= 4, "{by_passes} are optimised in steps");
}

/// Checks that the checker detects every change of a bit-serial region.
#[test]
fn the_checker_detects_changed_regions() {
    let (mut tried, mut found) = (0, 0);
    for seed in 0..24 {
        let mut rng = SplitMix::new(seed);
        let block = Recipe::seeded(Profile::ADDERS, 6, seed).build();
        let model = with_a_tail(&side_by_side(&block, 4), &mut rng);
        let model = alir_opt::passes::run(&model, &["dce"]).0;
        let as_it_is = |model: &Model| model.clone();
        let engines = Engines {
            inputs: if seed % 3 == 0 { &Inputs::Held } else { &Inputs::Captured },
            optimise: Some(&as_it_is),
            bit_by_bit: true,
            ..Engines::default()
        };
        let (model, good) = planned(&model, 16, &engines);
        assert_eq!(check(&model, &good), Ok(()));
        for at in 0..good.regions.len() {
            for kind in 0..8 {
                let mut bad = good.clone();
                let region = &mut bad.regions[at];
                match kind {
                    0 => region.inputs.reverse(),
                    1 => drop(region.outputs.pop()),
                    2 => region.plan.arrivals.iter_mut().for_each(|clock| *clock += 1),
                    3 => region.plan.latency += 1,
                    4 => region.plan.interval += 1,
                    5 => region.plan.streams.iter_mut().flatten().for_each(|stream| stream.time -= 99),
                    6 => region.graph.nodes.iter_mut().for_each(|node| {
                        if let alir_hw::reuse::serial::Kind::Sum { minus, .. } = &mut node.kind {
                            *minus = !*minus;
                        }
                    }),
                    _ => {
                        let Some(Base::Value(v)) =
                            region.inputs.iter().find_map(|&v| origin(&model, &free(&model), v).base)
                        else {
                            continue;
                        };
                        bad.stores.remove(&Base::Value(v));
                    }
                }
                if bad != good {
                    tried += 1;
                    found += usize::from(check(&model, &bad).is_err());
                }
            }
        }
    }
    assert!(tried > 60, "{tried}");
    assert_eq!(found, tried);
}

/// Returns dense layers with one weight matrix for several groups of inputs. Each layer has a different order of
/// addition and shares some sums with another layer; the operations after the sums are equal. With `holes`, layers from
/// the third on lack some inputs.
fn same_rows_other_sums(places: u32, holes: bool, rng: &mut SplitMix) -> Model {
    let (reads, gives) = (2 + rng.below(4) as u32, 1 + rng.below(4) as u32);
    let step = 1 + rng.below(u64::from(reads)) as u32;
    let n = step * (places - 1) + reads;
    let weight = |rng: &mut SplitMix| [1, 1, 2, 3, 4, 5, 7, -1, -2, -3, -6][rng.below(11) as usize];
    let mut weights: Vec<Vec<i64>> = (0..gives).map(|_| (0..reads).map(|_| weight(rng)).collect()).collect();
    // The first weight of each row is odd and positive, so that each row has a first term.
    weights.iter_mut().for_each(|row| row[0] = [1, 3, 5, 7][rng.below(4) as usize]);
    let mut b = Builder::new(vec![0; n as usize]);
    b.limits(Limits::derived());
    let inputs: Vec<ValueId> =
        (0..n).map(|k| b.op(Op::Input { input: k }, Interval::full(Kif { signed: true, int: 3, frac: 1 }))).collect();
    let ends = |b: &Builder, v: ValueId| {
        let interval = b.nodes()[v.index()].interval.clone();
        (interval.min.to_big(), interval.max.to_big())
    };
    // Partial sums by their operands, so that several layers share them.
    let mut shared: BTreeMap<(ValueId, ValueId, i32), ValueId> = BTreeMap::new();
    for place in 0..places {
        let missing: Vec<bool> = (0..reads).map(|k| holes && place > 1 && k > 0 && rng.below(3) == 0).collect();
        for row in &weights {
            let mut terms: Vec<(ValueId, i32, bool)> = Vec::new();
            for (k, &w) in row.iter().enumerate().filter(|(k, _)| !missing[*k]) {
                let x = inputs[(place * step) as usize + k];
                let bits = (0..3).filter(|bit| (w.unsigned_abs() >> bit) & 1 == 1);
                terms.extend(bits.map(|bit| (x, bit, w < 0)));
            }
            // A different order in each layer.
            for at in (1..terms.len()).rev() {
                terms.swap(at, rng.below(at as u64 + 1) as usize);
            }
            let first = terms.iter().position(|&(_, shift, neg)| shift == 0 && !neg).expect("an odd weight");
            terms.swap(0, first);
            let mut sum = terms[0].0;
            for &(x, shift, neg) in &terms[1..] {
                let known = shared.get(&(sum, x, if neg { -1 - shift } else { shift })).copied();
                sum = known.unwrap_or_else(|| {
                    let ((a, c), (d, e)) = (ends(&b, sum), ends(&b, x));
                    let (d, e) = (d << shift as u32, e << shift as u32);
                    let (op, min, max) = match neg {
                        false => (Op::Add { a: sum, b: x, shift }, a + d, c + e),
                        true => (Op::Sub { a: sum, b: x, shift }, a - e, c - d),
                    };
                    b.op(op, Interval::new(min, max, 1))
                });
                shared.insert((sum, x, if neg { -1 - shift } else { shift }), sum);
            }
            let sum = b.op(Op::AddConst { x: sum, value: Code::from(3), shift: 1 }, {
                let (min, max) = ends(&b, sum);
                Interval::new(min + 3, max + 3, 1)
            });
            let relu = b.op(Op::Relu { x: sum }, Interval::new(0, 63, 1));
            b.output(Output { source: Some(relu), shift: 0, neg: false });
        }
    }
    b.finish().unwrap()
}

#[test]
fn equal_rows_share_hardware_though_their_sums_differ() {
    let mut by_rows = 0;
    for seed in alir_testing::seeds(0..24) {
        let mut rng = SplitMix::new(seed);
        let places = 3 + rng.below(9) as u32;
        let model = same_rows_other_sums(places, false, &mut rng);
        let interval = [2, 3, 4, 5, 8, 13, 64][(seed % 7) as usize];
        is_built_and_proved(&model, interval, Engine::Fold, seed);
        let mut spec = Spec::default();
        spec.pipeline.interval = Some(interval);
        spec.pipeline.engine = Engine::Fold;
        let hardware = compile::model(&model, &spec).unwrap();
        let groups = &hardware.reused().unwrap().fold().unwrap().groups;
        by_rows += usize::from(groups.iter().any(|group| group.by_rows && group.instances.len() > 1));
    }
    assert!(by_rows >= 5, "only {by_rows} share by rows");
}

#[test]
fn rows_may_have_holes() {
    let (mut with_holes, mut changed, mut found) = (0, 0, 0);
    for seed in alir_testing::seeds(0..32) {
        let mut rng = SplitMix::new(seed ^ 0x401e);
        let model = same_rows_other_sums(4 + rng.below(9) as u32, true, &mut rng);
        let interval = [2, 3, 4, 5, 8, 13, 64][(seed % 7) as usize];
        is_built_and_proved(&model, interval, Engine::Fold, seed);
        let (model, good) = planned(&model, interval, &Engines::default());
        assert_eq!(check(&model, &good), Ok(()));
        let is_zero = |v: &ValueId| model.kif(*v).is_zero();
        for (at, group) in good.groups.iter().enumerate() {
            let hole = |i: &Instance| i.inputs.iter().position(is_zero);
            let Some((which, k)) = group.instances.iter().enumerate().find_map(|(n, i)| Some((n, hole(i)?))) else {
                continue;
            };
            with_holes += 1;
            // The checker detects an operand at a position where the plan has none.
            let mut bad = good.clone();
            let inputs = &mut bad.groups[at].instances[which].inputs;
            inputs[k] = *inputs.iter().find(|v| !is_zero(v)).expect("something is read");
            changed += 1;
            found += u32::from(check(&model, &bad).is_err());
        }
    }
    assert!(with_holes >= 8, "only {with_holes} groups with holes");
    assert_eq!(found, changed);
}

/// Checks that the checker rejects a sum that wraps if it is computed at another width.
#[test]
fn the_checker_detects_sums_that_wrap_at_another_width() {
    let mut b = Builder::new(vec![0; 8]);
    b.limits(Limits::derived());
    let full = |int| Interval::full(Kif { signed: false, int, frac: 0 });
    let inputs: Vec<ValueId> = (0..8).map(|input| b.op(Op::Input { input }, full(4))).collect();
    for pair in inputs.chunks(2) {
        let sum = b.op(Op::Add { a: pair[0], b: pair[1], shift: 0 }, full(4));
        let v = b.op(Op::Quantise { x: sum, shift: -1 }, full(4));
        b.output(Output { source: Some(v), shift: 0, neg: false });
    }
    let model = b.finish().expect("a program");
    let (model, good) = planned(&model, 4, &Engines::default());
    assert_eq!(check(&model, &good), Ok(()));
    let mut bad = good;
    let mut widened = 0;
    for group in &mut bad.groups {
        let mut b = Builder::like(&group.template);
        for node in group.template.nodes() {
            let mut node = node.clone();
            if matches!(node.op, Op::Add { .. }) {
                node.interval = full(5);
                widened += 1;
            }
            b.push(node);
        }
        for output in group.template.outputs() {
            b.output(*output);
        }
        group.template = b.finish().expect("a template");
    }
    assert!(widened > 0);
    let why = check(&model, &bad).expect_err("other numbers");
    assert!(why.contains("is made as u5.0"), "{why}");
}

/// Checks that the checker detects every change of a template that is shared by rows.
#[test]
fn the_checker_detects_changed_rows() {
    let (mut tried, mut found) = (0, 0);
    for seed in 0..24 {
        let mut rng = SplitMix::new(seed);
        let model = same_rows_other_sums(6, false, &mut rng);
        let (model, good) = planned(&model, 3, &Engines::default());
        assert_eq!(check(&model, &good), Ok(()));
        for (at, group) in good.groups.iter().enumerate().filter(|(_, group)| group.by_rows) {
            for id in group.template.ids() {
                let mut b = Builder::like(&group.template);
                for k in group.template.ids() {
                    let mut node = group.template.node(k).clone();
                    if k == id {
                        match &mut node.op {
                            Op::Add { shift, .. } | Op::Sub { shift, .. } => *shift += 1,
                            Op::AddConst { value, .. } => *value = Code::from(5),
                            Op::Relu { x } => node.op = Op::Quantise { x: *x, shift: 0 },
                            _ => {}
                        }
                    }
                    b.push(node);
                }
                for output in group.template.outputs() {
                    b.output(*output);
                }
                let Ok(template) = b.finish() else { continue };
                if template == group.template {
                    continue;
                }
                let mut bad = good.clone();
                bad.groups[at].template = template;
                tried += 1;
                found += usize::from(check(&model, &bad).is_err());
            }
        }
    }
    assert!(tried > 20, "{tried}");
    assert_eq!(found, tried);
}

#[test]
fn figures_are_within_their_bounds() {
    let (mut least, mut plans) = (0, 0);
    for seed in alir_testing::seeds(0..12) {
        let block = Recipe::seeded(Profile::TINY, 10, seed).build();
        let model = side_by_side(&block, 2 + (seed % 7) as u32);
        let interval = [2, 3, 4, 8][(seed % 4) as usize];
        let (model, plan) = planned(&model, interval, &Engines::default());
        for plan in [plan.clone(), plan.with_registered_outputs()] {
            assert_eq!(check(&model, &plan), Ok(()));
            let figures = Figures::new(&model, &plan);
            assert!(figures.latency_at_least <= plan.latency, "seed {seed}");
            assert!(figures.register_bits_at_least <= figures.register_bits(), "seed {seed}: {figures:?}");
            assert!(figures.held_bits_at_least <= figures.held_bits, "seed {seed}: {figures:?}");
            least += u32::from(figures.held_bits_at_least == figures.held_bits);
            plans += 1;
            for (group, seen) in plan.groups.iter().zip(&figures.groups) {
                assert!(seen.phases as usize * group.units as usize >= group.instances.len());
            }
            let placed = placements(&model, &plan);
            assert!(placed.iter().flatten().all(|p| p.clock() >= 1 && p.clock() < plan.latency.max(2)));
        }
    }
    // Most plans have the start times with the fewest registers; others avoid larger multiplexers.
    assert!(2 * least > plans, "{least} of {plans}");
}

#[test]
fn the_checker_detects_invalid_plans() {
    let block = Recipe::seeded(Profile::TINY, 10, 5).build();
    let model = side_by_side(&block, 6);
    let (mut tried, mut found) = (0, 0);
    for interval in [2, 3, 4] {
        let (model, good) = planned(&model, interval, &Engines::default());
        assert_eq!(check(&model, &good), Ok(()));
        for seed in 0..200 {
            let mut rng = SplitMix::new(seed);
            let mut bad = good.clone();
            let group = rng.below(bad.groups.len() as u64) as usize;
            let at = rng.below(bad.groups[group].instances.len() as u64) as usize;
            let groups = &mut bad.groups;
            match rng.below(7) {
                0 => groups[group].instances[at].start += 1,
                1 => groups[group].instances[at].unit += groups[group].units,
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
